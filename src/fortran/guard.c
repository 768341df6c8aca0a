/* Guards in the host's source; see guard.h. */
#include "fortran/guard.h"

#include <string.h>

static bool has_option(const struct ofl_fc_command *command, const char *option)
{
    for (size_t i = 0; i < command->all.count; i++) {
        if (strcmp(command->all.items[i], option) == 0) {
            return true;
        }
    }
    return false;
}

const char *ofl_guard_plain_suffix(const struct ofl_fc_command *command)
{
    return !has_option(command, "-std=f95")             ? NULL
           : has_option(command, "-fno-underscoring")   ? ""
           : has_option(command, "-fsecond-underscore") ? "__"
                                                        : "_";
}

bool ofl_guards_has_unit(const struct ofl_file *file, const struct ofl_unit *unit)
{
    const struct ofl_unit *own = file->units;
    while (own != NULL && own != unit) {
        own = own->next;
    }
    return own != NULL;
}

void ofl_guards_add(struct ofl_guards *guards, const struct ofl_module_guard *guard, struct ofl_arena *arena)
{
    struct ofl_guard_item **link = &guards->first;
    if (guard->symbol == NULL) {
        return;
    }
    while (*link != NULL && (*link)->guard != guard) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        *link = OFL_NEW(arena, struct ofl_guard_item);
        **link = (struct ofl_guard_item){guard, NULL};
    }
}

/* The argument keeps the host compiler from dropping calls of a pure subroutine that does nothing. */
static void define(struct ofl_lines *lines, const struct ofl_module_guard *guard, bool plain)
{
    if (plain) {
        ofl_line_add(lines, "pure subroutine %s(loop)", guard->name);
        ofl_line_add(lines, "implicit none");
        ofl_line_add(lines, "integer(8), intent(inout) :: loop");
    } else {
        ofl_line_add(lines, "pure subroutine %s(loop) bind(c, name='%s')", guard->name, guard->symbol);
        ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_int64_t");
        ofl_line_add(lines, "implicit none");
        ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
    }
    ofl_line_add(lines, "loop = loop");
    ofl_line_add(lines, "end subroutine");
}

/* gfortran takes `end module &` at the end of a file: what is appended must not continue it. */
static void cut_continuation(struct ofl_rewriter *rewriter, const struct ofl_file *file)
{
    const struct ofl_unit *last = file->units;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    const struct ofl_source *source = file->source;
    if (last == NULL || last->whole.end < source->base || last->whole.end >= source->base + source->length) {
        return; /* it ends in an included file */
    }
    const char *rest = source->text + (last->whole.end - source->base);
    rest += strspn(rest, " \t");
    if (*rest == '&') {
        const struct ofl_lines none = {.arena = rewriter->arena};
        ofl_rewrite_edit(rewriter, last->whole.end, source->base + source->length, &none);
    }
}

bool ofl_guards_define(struct ofl_rewriter *rewriter, const struct ofl_file *file, struct ofl_module_files *files)
{
    struct ofl_lines *lines = &rewriter->appended;
    bool any = false;
    lines->at = 0; /* no line of the user's */
    for (const struct ofl_unit *unit = file->units; unit != NULL; unit = unit->next) {
        const struct ofl_module_guard *guard = ofl_module_guard_of(files, unit);
        if (guard != NULL && guard->name != NULL) {
            define(lines, guard, files->plain_suffix != NULL);
            any = true;
        }
    }
    if (any) {
        cut_continuation(rewriter, file);
    }
    return any;
}

void ofl_guards_add_interfaces(struct ofl_lines *lines, const struct ofl_guards *guards)
{
    unsigned number = 0;
    for (const struct ofl_guard_item *item = guards->first; item != NULL; item = item->next) {
        ofl_line_add(lines, "pure subroutine ofl_guard_%u(loop) bind(c, name='%s')", ++number, item->guard->symbol);
        ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_int64_t");
        ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
        ofl_line_add(lines, "end subroutine");
    }
}

void ofl_guards_add_calls(struct ofl_lines *lines, const struct ofl_guards *guards)
{
    unsigned number = 0;
    for (const struct ofl_guard_item *item = guards->first; item != NULL; item = item->next) {
        ofl_line_add(lines, "call ofl_guard_%u(loop)", ++number);
    }
}
