/* Data that a kernel reads and that no name reaches where its loop stands: variables of modules and common blocks that
 * only a called procedure sees.
 *
 * For each of them there is a subroutine that hands it to the run-time library, called before the launch: the library
 * takes them in this order where the launch's table says so.  It stands behind the file and uses the module, or
 * declares the common block again; for what a module keeps private, it stands in the module, which has to be in the
 * file.
 *
 * Procedures that loops call are pure, so this data is only read. */
#include "fortran/launch.h"

#include <inttypes.h>
#include <string.h>

#define USE_KINDS "use, intrinsic :: iso_c_binding, only: c_int64_t, c_char"

struct hidden {
    struct ofl_rewriter *rewriter;
    const struct ofl_kernel *kernel;
    const struct ofl_symbol *symbol;
    const struct ofl_kernel_object *object; /* or */
    const struct ofl_kernel_scalar *scalar;
    const char *name; /* of the subroutine */
};

/* What a submodule has, no other unit can use. */
static bool is_private(const struct ofl_symbol *symbol)
{
    return symbol->scope->unit->kind == OFL_UNIT_SUBMODULE || OFL_HAS(symbol, PRIVATE) ||
           (symbol->scope->default_private && !OFL_HAS(symbol, PUBLIC));
}

static const struct ofl_unit *module_of(const struct ofl_symbol *symbol)
{
    const struct ofl_unit *unit = symbol->scope->unit;
    return unit != NULL && (unit->kind == OFL_UNIT_MODULE || unit->kind == OFL_UNIT_SUBMODULE) ? unit : NULL;
}

static bool is_in_file(const struct ofl_rewriter *rewriter, const struct ofl_unit *module)
{
    for (const struct ofl_unit *unit = rewriter->file->units; unit != NULL; unit = unit->next) {
        if (unit == module) {
            return true;
        }
    }
    return false;
}

/* ---- Common blocks ---- */

/* The name of the block that a variable is in. */
static const struct ofl_group *common_group(const struct ofl_symbol *symbol)
{
    for (const struct ofl_stmt *stmt = symbol->scope->unit->body.first; stmt != NULL; stmt = stmt->next) {
        for (const struct ofl_group *group = stmt->kind == OFL_STMT_COMMON ? stmt->as.groups.groups : NULL;
             group != NULL; group = group->next) {
            for (const struct ofl_entity *entity = group->entities; entity != NULL; entity = entity->next) {
                if (entity->ident.name == symbol->name) {
                    return group;
                }
            }
        }
    }
    return NULL;
}

static const char *type_word(const struct ofl_symbol *symbol)
{
    switch (symbol->type.kind_of) {
    case OFL_TYPE_INTEGER:
        return "integer";
    case OFL_TYPE_REAL:
        return "real";
    case OFL_TYPE_COMPLEX:
        return "complex";
    case OFL_TYPE_LOGICAL:
        return "logical";
    default:
        return NULL;
    }
}

/* `integer(4) :: v(1:6)`, or NULL if the type or the bounds are not known. */
static const char *declaration(const struct hidden *hidden, const struct ofl_symbol *symbol)
{
    struct ofl_text text = {.arena = hidden->rewriter->arena};
    int64_t lower, upper;
    if (symbol == NULL || !symbol->typed || type_word(symbol) == NULL || symbol->type.kind == 0) {
        return NULL;
    }
    ofl_text_print(&text, "%s(%d) :: %s", type_word(symbol), symbol->type.kind, symbol->name->text);
    for (const struct ofl_bound *bound = symbol->bounds; bound != NULL; bound = bound->next) {
        lower = 1;
        bool known = bound->form == OFL_BOUND_EXPLICIT &&
                     ofl_constant_integer(hidden->rewriter->modules, symbol->scope, bound->upper, &upper) &&
                     (bound->lower == NULL ||
                      ofl_constant_integer(hidden->rewriter->modules, symbol->scope, bound->lower, &lower));
        if (!known) {
            return NULL;
        }
        ofl_text_print(&text, "%s%" PRId64 ":%" PRId64, bound == symbol->bounds ? "(" : ", ", lower, upper);
    }
    ofl_text_print(&text, symbol->bounds != NULL ? ")" : "");
    return text.bytes;
}

/* Declares the block as the symbol's unit does.  False if that cannot be done. */
static bool add_common(const struct hidden *hidden, struct ofl_lines *lines)
{
    const struct ofl_symbol *symbol = hidden->symbol;
    const struct ofl_group *first = common_group(symbol);
    const char *name = first == NULL || first->name.name == NULL ? "" : first->name.name->text;
    struct ofl_text list = {.arena = lines->arena};
    ofl_text_print(&list, "common /%s/ ", name);
    bool any = false;
    for (const struct ofl_stmt *stmt = symbol->scope->unit->body.first; stmt != NULL; stmt = stmt->next) {
        for (const struct ofl_group *group = stmt->kind == OFL_STMT_COMMON ? stmt->as.groups.groups : NULL;
             group != NULL; group = group->next) {
            if (first == NULL || group->name.name != first->name.name) {
                continue;
            }
            for (const struct ofl_entity *entity = group->entities; entity != NULL; entity = entity->next) {
                const char *text = declaration(hidden, ofl_scope_find(symbol->scope, entity->ident.name));
                if (text == NULL) {
                    return false;
                }
                ofl_line_add(lines, "%s", text);
                ofl_text_print(&list, "%s%s", any ? ", " : "", entity->ident.name->text);
                any = true;
            }
        }
    }
    ofl_line_add(lines, "%s", list.bytes);
    return any;
}

/* ---- The subroutine ---- */

static void add_interface(struct ofl_lines *lines)
{
    static const char *const text[] = {
        "interface",
        "pure subroutine ofl_loops_read(loop, object, lower, bytes, offset, form, name) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "type(*), target, intent(in) :: object(..)",
        "integer(c_int64_t), intent(in) :: lower(*), bytes, offset, form",
        "character(kind=c_char), intent(in) :: name(*)",
        "end subroutine",
        "pure subroutine ofl_loops_scalar(loop, value, bytes) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "type(*), target, intent(in) :: value",
        "integer(c_int64_t), intent(in) :: bytes",
        "end subroutine",
        "pure subroutine ofl_loops_absent(loop, rank, form) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: rank, form",
        "end subroutine",
        "pure subroutine ofl_loops_missing(where, name) bind(c)",
        "use, intrinsic :: iso_c_binding, only: c_char",
        "character(kind=c_char), intent(in) :: where(*), name(*)",
        "end subroutine",
        "end interface",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        ofl_line_add(lines, "%s", text[i]);
    }
}

static void add_scalar(const struct hidden *hidden, struct ofl_lines *lines)
{
    const struct ofl_kernel_scalar *scalar = hidden->scalar;
    const char *name = hidden->symbol->name->text;
    if (scalar->type == OFL_TYPE_LOGICAL) {
        ofl_line_add(lines, "call ofl_loops_scalar(ofl_loop, merge(1_4, 0_4, %s), 4_8)", name);
    } else {
        ofl_line_add(lines, "call ofl_loops_scalar(ofl_loop, %s, %d_8)", name,
                     scalar->type == OFL_TYPE_COMPLEX ? 2 * scalar->kind : scalar->kind);
    }
}

static void add_object(const struct hidden *hidden, struct ofl_lines *lines)
{
    const struct ofl_kernel_object *object = hidden->object;
    const char *name = hidden->symbol->name->text;
    const char *test = OFL_HAS(hidden->symbol, POINTER)       ? "associated"
                       : OFL_HAS(hidden->symbol, ALLOCATABLE) ? "allocated"
                                                              : NULL;
    int form = object->bounds ? OFL_LOOPS_BOUNDS : 0;
    if (test != NULL) {
        ofl_line_add(lines, "if (.not. %s(%s)) then", test, name);
        if (object->may_be_missing) {
            ofl_line_add(lines, "call ofl_loops_absent(ofl_loop, %u_8, %d_8)", object->rank, form);
            ofl_line_add(lines, "return");
        } else {
            ofl_line_add(lines, "call ofl_loops_missing(%s, %s)",
                         ofl_launch_text(ofl_launch_place(hidden->rewriter, hidden->kernel), lines->arena),
                         ofl_launch_text(name, lines->arena));
        }
        ofl_line_add(lines, "end if");
    }
    const char *lower = object->rank == 0 ? "[0_8]" : ofl_arena_format(lines->arena, "lbound(%s, kind=8)", name);
    const char *bytes = object->element_bytes > 0
                            ? ofl_arena_format(lines->arena, "%" PRId64 "_8", object->element_bytes)
                            : ofl_arena_format(lines->arena, "len(%s, kind=8)", name);
    ofl_line_add(lines, "call ofl_loops_read(ofl_loop, %s%s%s, %s, %s, %" PRId64 "_8, %d_8, %s)", name,
                 object->leaf == NULL ? "" : "%", object->leaf == NULL ? "" : object->leaf, lower, bytes,
                 object->leaf_offset, form, ofl_launch_text(name, lines->arena));
}

/* False if the declarations cannot be written. */
static bool add_subroutine(const struct hidden *hidden, struct ofl_lines *lines, bool in_module)
{
    const struct ofl_symbol *symbol = hidden->symbol;
    ofl_line_add(lines, "pure subroutine %s(ofl_loop) bind(c, name='%s')", hidden->name, hidden->name);
    ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_int64_t");
    if (!in_module && symbol->storage == OFL_STORAGE_MODULE) {
        ofl_line_add(lines, "use %s, only: %s", module_of(symbol)->name.name->text, symbol->name->text);
    }
    if (!in_module) {
        ofl_line_add(lines, "implicit none");
    }
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: ofl_loop");
    if (symbol->storage == OFL_STORAGE_COMMON && !add_common(hidden, lines)) {
        return false;
    }
    add_interface(lines);
    if (hidden->scalar != NULL) {
        add_scalar(hidden, lines);
    } else {
        add_object(hidden, lines);
    }
    ofl_line_add(lines, "end subroutine");
    return true;
}

/* Whether something was inserted at the end of the module already, so that it has its `contains`. */
static bool is_opened(const struct ofl_rewriter *rewriter, const struct ofl_unit *module)
{
    for (size_t i = 0; i < rewriter->edit_count; i++) {
        if (rewriter->edits[i].begin == module->end.begin) {
            return true;
        }
    }
    return module->contains.begin != 0;
}

static void refuse(const struct hidden *hidden)
{
    ofl_diag_unsupported(hidden->rewriter->diagnostics, hidden->kernel->stmt->span,
                         "'%s', which a procedure reads and which is not visible at the loop, on the device",
                         hidden->symbol->name->text);
    ofl_diag_note(hidden->rewriter->diagnostics, hidden->symbol->declared, "'%s' is declared here",
                  hidden->symbol->name->text);
}

static void append(struct hidden *hidden)
{
    struct ofl_rewriter *rewriter = hidden->rewriter;
    const struct ofl_symbol *symbol = hidden->symbol;
    const struct ofl_unit *module = symbol->storage == OFL_STORAGE_MODULE ? module_of(symbol) : NULL;
    bool written = hidden->object != NULL && hidden->object->written;
    struct ofl_lines lines = {.arena = rewriter->arena, .at = 0};
    if (written || (symbol->storage != OFL_STORAGE_COMMON && module == NULL)) {
        refuse(hidden);
        return;
    }
    if (module == NULL || !is_private(symbol)) {
        lines = rewriter->appended;
        lines.at = 0;
        if (add_subroutine(hidden, &lines, false)) {
            rewriter->appended = lines;
        } else {
            refuse(hidden);
        }
        return;
    }
    if (!is_in_file(rewriter, module)) {
        refuse(hidden);
        return;
    }
    if (!is_opened(rewriter, module)) {
        ofl_line_add(&lines, "contains");
    }
    add_subroutine(hidden, &lines, true);
    ofl_rewrite_until(rewriter, module->end.begin, module->end.begin, &lines);
}

static const char *subroutine_name(struct ofl_arena *arena, const struct ofl_kernel *kernel, const char *suffix,
                                   char what, unsigned number)
{
    return ofl_arena_format(arena, "ofl_%c%u_%u_%s", what, number, kernel->number, suffix);
}

void ofl_hidden_append(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix)
{
    unsigned number = 0;
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            struct hidden hidden = {.rewriter = rewriter,
                                    .kernel = kernel,
                                    .symbol = object->symbol,
                                    .object = object,
                                    .name = subroutine_name(rewriter->arena, kernel, suffix, 'a', number)};
            append(&hidden);
        }
    }
    number = 0;
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        number++;
        if (scalar->host == NULL) {
            struct hidden hidden = {.rewriter = rewriter,
                                    .kernel = kernel,
                                    .symbol = scalar->symbol,
                                    .scalar = scalar,
                                    .name = subroutine_name(rewriter->arena, kernel, suffix, 's', number)};
            append(&hidden);
        }
    }
}

static void add_one(struct ofl_lines *lines, const char *name, const char *loop)
{
    if (loop != NULL) {
        ofl_line_add(lines, "call %s(%s)", name, loop);
        return;
    }
    ofl_line_add(lines, "pure subroutine %s(loop) bind(c, name='%s')", name, name);
    ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_int64_t");
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
    ofl_line_add(lines, "end subroutine");
}

/* The interfaces, or with `loop` the calls. */
static void add_each(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix, const char *loop)
{
    unsigned number = 0;
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            add_one(lines, subroutine_name(lines->arena, kernel, suffix, 'a', number), loop);
        }
    }
    number = 0;
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        number++;
        if (scalar->host == NULL) {
            add_one(lines, subroutine_name(lines->arena, kernel, suffix, 's', number), loop);
        }
    }
}

void ofl_hidden_add_interfaces(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix)
{
    add_each(lines, kernel, suffix, NULL);
}

void ofl_hidden_add_calls(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix,
                          const char *loop)
{
    add_each(lines, kernel, suffix, loop);
}
