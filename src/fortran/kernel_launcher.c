/* What a launch gives to the run-time library, and the kernels' image.
 *
 * The call in the loop's place (kernel_launch.c) goes straight to ofl_loops_launch, which takes any number of
 * arguments: each loop has an interface of its own to it (ofl_launcher_head), and a table that tells the library what
 * the arguments are (ofl_launcher_table; its form is in <gpu-offload/loops.h>).  So the host compiler has one call to
 * compile, and descriptors are converted once.
 *
 * Behind the file's last program unit stand two subroutines for all of its loops.  One begins a launch and has the
 * image as a constant: packed, and in pieces of at most PIECE words, since compilers limit the length of a statement.
 * The other one ends the program where an iteration did, by the host compiler's own statement, so that code, message
 * and what is flushed are those of the CPU.
 * Both are recursive, since -fno-automatic makes everything else static. */
#include "base/pack.h"
#include "fortran/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 3000, PART = 50 };

#define USE_KINDS "use, intrinsic :: iso_c_binding, only: c_int64_t, c_char"

const char *ofl_launch_text(const char *text, struct ofl_arena *arena)
{
    struct ofl_text out = {.arena = arena};
    ofl_text_print(&out, "'");
    for (; *text != '\0'; text++) {
        ofl_text_add(&out, text, 1);
        if (*text == '\'') {
            ofl_text_add(&out, text, 1);
        }
    }
    ofl_text_print(&out, "'//achar(0)");
    return out.bytes;
}

const char *ofl_launch_place(const struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel)
{
    struct ofl_place place = ofl_place_of(rewriter->sources, kernel->stmt->span.begin);
    return ofl_arena_format(rewriter->arena, "%s:%u", place.file, place.line);
}

/* ---- The head ---- */

/* The type of a value, by a name of iso_c_binding where there is one: gfortran warns of kinds by number.  A logical
 * value is a number here. */
static const char *fortran_type(const struct ofl_kernel_scalar *scalar, struct ofl_arena *arena)
{
    static const struct {
        enum ofl_type_kind type;
        int kind;
        const char *text;
    } table[] = {
        {OFL_TYPE_INTEGER, 1, "integer(c_int8_t)"},
        {OFL_TYPE_INTEGER, 2, "integer(c_int16_t)"},
        {OFL_TYPE_INTEGER, 4, "integer(c_int32_t)"},
        {OFL_TYPE_INTEGER, 8, "integer(c_int64_t)"},
        {OFL_TYPE_REAL, 4, "real(c_float)"},
        {OFL_TYPE_REAL, 8, "real(c_double)"},
        {OFL_TYPE_COMPLEX, 4, "complex(c_float_complex)"},
        {OFL_TYPE_COMPLEX, 8, "complex(c_double_complex)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (scalar->type == table[i].type && scalar->kind == table[i].kind) {
            return table[i].text;
        }
    }
    if (scalar->type == OFL_TYPE_LOGICAL) {
        return "integer(c_int32_t)";
    }
    return ofl_arena_format(arena, "%s(%d)",
                            scalar->type == OFL_TYPE_REAL      ? "real"
                            : scalar->type == OFL_TYPE_COMPLEX ? "complex"
                                                               : "integer",
                            scalar->kind);
}

static bool may_be_absent(const struct ofl_kernel_object *object)
{
    return object->optional || object->may_be_missing;
}

static void add_names(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix)
{
    struct ofl_text head = {.arena = lines->arena};
    unsigned number = 0;
    ofl_text_print(&head, "pure subroutine ofl_launch_%u_%s(loop, table", kernel->number, suffix);
    for (unsigned i = 1; i <= kernel->index_count; i++) {
        ofl_text_print(&head, ", f%u, l%u, t%u", i, i, i);
    }
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            continue;
        }
        ofl_text_print(&head, ", a%u", number);
        if (object->rank > 0) {
            ofl_text_print(&head, ", b%u", number);
        }
        if (object->element_bytes == 0) {
            ofl_text_print(&head, ", e%u", number);
        }
    }
    number = 0;
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        number++;
        if (scalar->host != NULL) {
            ofl_text_print(&head, ", s%u", number);
        }
    }
    number = 0;
    for (const struct ofl_kernel_reduction *item = kernel->reductions; item != NULL; item = item->next) {
        number++;
        if (item->elements != NULL) {
            ofl_text_print(&head, ", n%u", number);
        }
    }
    ofl_line_add(lines, "%s) bind(c, name='ofl_loops_launch')", head.bytes);
}

static void add_object_declarations(struct ofl_lines *lines, const struct ofl_kernel *kernel)
{
    unsigned number = 0;
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            continue;
        }
        ofl_line_add(lines, "type(*),%s target, intent(%s) :: a%u(..)", may_be_absent(object) ? " optional," : "",
                     object->written ? "inout" : "in", number);
        if (object->rank > 0) {
            ofl_line_add(lines, "integer(c_int64_t), intent(in) :: b%u(%u)", number, object->rank);
        }
        if (object->element_bytes == 0) {
            ofl_line_add(lines, "integer(c_int64_t), intent(in) :: e%u", number);
        }
    }
}

void ofl_launcher_head(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix)
{
    unsigned number = 0;
    add_names(lines, kernel, suffix);
    ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_int64_t, c_char%s",
                 kernel->scalars == NULL
                     ? ""
                     : ", c_int8_t, c_int16_t, c_int32_t, c_float, c_double, c_float_complex, c_double_complex");
    ofl_line_add(lines, "implicit none");
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
    ofl_line_add(lines, "character(kind=c_char), intent(in) :: table(*)");
    for (unsigned i = 1; i <= kernel->index_count; i++) {
        ofl_line_add(lines, "integer(c_int64_t), intent(in) :: f%u, l%u, t%u", i, i, i);
    }
    add_object_declarations(lines, kernel);
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        number++;
        if (scalar->host != NULL) {
            ofl_line_add(lines, "%s, intent(in) :: s%u", fortran_type(scalar, lines->arena), number);
        }
    }
    number = 0;
    for (const struct ofl_kernel_reduction *item = kernel->reductions; item != NULL; item = item->next) {
        number++;
        if (item->elements != NULL) {
            ofl_line_add(lines, "integer(c_int64_t), intent(in) :: n%u", number);
        }
    }
}

/* ---- The table ---- */

static void add_object(struct ofl_text *table, struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel,
                       const struct ofl_kernel_object *object)
{
    struct ofl_coverage coverage = {.subscripts = NULL};
    if (object->host == NULL) {
        ofl_text_print(table, " o");
    } else {
        coverage = ofl_kernel_coverage(rewriter, kernel, object);
        int form = (object->bounds ? OFL_LOOPS_BOUNDS : 0) | (coverage.unread ? OFL_LOOPS_UNREAD : 0);
        bool certain = true;
        if (ofl_is_assumed_size(object) && ofl_kernel_last_upper(rewriter, kernel, object, &certain) != NULL &&
            !certain) {
            form |= OFL_LOOPS_READABLE;
        }
        ofl_text_print(table, " %c%d,%u,%" PRId64 ",%" PRId64, object->written ? 'w' : 'r', form, object->rank,
                       object->element_bytes, object->leaf_offset);
    }
    if (coverage.whole) {
        ofl_text_print(table, " h%s", coverage.subscripts);
    }
    for (const struct ofl_kernel_component *part = object->components; part != NULL; part = part->next) {
        ofl_text_print(table, " c%" PRId64 ",%u,%" PRId64 ",%d", part->offset, part->rank, part->bytes, part->written);
    }
}

static void add_scalars(struct ofl_text *table, const struct ofl_kernel *kernel)
{
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        if (scalar->host == NULL) {
            ofl_text_print(table, " v");
        } else {
            ofl_text_print(table, " s%d",
                           scalar->type == OFL_TYPE_LOGICAL   ? 4 /* the caller makes a number of it */
                           : scalar->type == OFL_TYPE_COMPLEX ? 2 * scalar->kind
                                                              : scalar->kind);
        }
    }
}

static void add_reductions(struct ofl_text *table, const struct ofl_kernel *kernel)
{
    for (const struct ofl_kernel_reduction *item = kernel->reductions; item != NULL; item = item->next) {
        unsigned place = 0;
        for (const struct ofl_kernel_object *object = kernel->objects; object != NULL && object != item->object;
             object = object->next) {
            place++;
        }
        ofl_text_print(table, " %c%u,%" PRId64, item->elements == NULL ? 'x' : 'y', place, item->element_bytes);
    }
}

const char *ofl_launcher_table(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel)
{
    struct ofl_arena *arena = rewriter->arena;
    struct ofl_text table = {.arena = arena}, all = {.arena = arena};
    int needs = (kernel->mask_kernel ? OFL_LOOPS_MASK : 0) | (kernel->status ? OFL_LOOPS_STATUS : 0) |
                (kernel->workspace ? OFL_LOOPS_WORKSPACE : 0);
    ofl_text_print(&table, "n%d i%u", needs, kernel->index_count);
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        add_object(&table, rewriter, kernel, object);
    }
    add_scalars(&table, kernel);
    add_reductions(&table, kernel);
    ofl_text_print(&all, "%s//%s//%s", ofl_launch_text(ofl_launch_place(rewriter, kernel), arena),
                   ofl_launch_text(kernel->name, arena), ofl_launch_text(table.bytes, arena));
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        if (object->host != NULL) {
            ofl_text_print(&all, "//%s", ofl_launch_text(object->host, arena));
        }
    }
    return all.bytes;
}

/* ---- The subroutines of the file ---- */

void ofl_launcher_add_begin_interface(struct ofl_lines *lines, const char *suffix)
{
    ofl_line_add(lines, "pure recursive subroutine ofl_begin_%s(loop)", suffix);
    ofl_line_add(lines, "integer(8), intent(inout) :: loop");
    ofl_line_add(lines, "end subroutine");
}

void ofl_launcher_add_stop_interface(struct ofl_lines *lines, const char *suffix)
{
    ofl_line_add(lines, "pure recursive subroutine ofl_stop_%s(loop)", suffix);
    ofl_line_add(lines, "integer(8), intent(inout) :: loop");
    ofl_line_add(lines, "end subroutine");
}

/* The program ends as by error stop in the loop. */
static void add_stop(struct ofl_lines *lines, const char *suffix)
{
    ofl_line_add(lines, "pure recursive subroutine ofl_stop_%s(loop)", suffix);
    ofl_line_add(lines, "implicit none");
    ofl_line_add(lines, "integer(8), intent(inout) :: loop");
    ofl_line_add(lines, "interface");
    ofl_line_add(lines, "pure subroutine ofl_loops_end(loop, stop, text) bind(c)");
    ofl_line_add(lines, USE_KINDS);
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop, stop(*)");
    ofl_line_add(lines, "character(kind=c_char), intent(inout) :: text(*)");
    ofl_line_add(lines, "end subroutine");
    ofl_line_add(lines, "end interface");
    ofl_line_add(lines, "integer(8) :: stop(%d)", OFL_LOOPS_STOP_WORDS);
    ofl_line_add(lines, "integer :: code");
    ofl_line_add(lines, "character(%d) :: text", OFL_LOOPS_STOP_TEXT);
    ofl_line_add(lines, "call ofl_loops_end(loop, stop, text)");
    ofl_line_add(lines, "if (stop(%d) == 1) error stop", OFL_LOOPS_STOP_KIND + 1);
    ofl_line_add(lines, "if (stop(%d) == 3) error stop text(1:stop(%d))", OFL_LOOPS_STOP_KIND + 1,
                 OFL_LOOPS_STOP_LENGTH + 1);
    ofl_line_add(lines, "code = int(stop(%d))", OFL_LOOPS_STOP_CODE + 1);
    ofl_line_add(lines, "error stop code");
    ofl_line_add(lines, "end subroutine");
}

/* ---- The image ---- */

/* One element of the text's array, made of short constants. */
static void add_piece(struct ofl_lines *lines, const char *text, size_t length, size_t piece)
{
    struct ofl_text out = {.arena = lines->arena};
    for (size_t offset = 0; offset < length; offset += PART) {
        size_t rest = length - offset;
        ofl_text_print(&out, "%s'%.*s'", offset == 0 ? "" : "//", (int)(rest < PART ? rest : PART), text + offset);
    }
    ofl_line_add(lines, "character(%d), parameter :: w%zu = %s", PIECE, piece, out.bytes);
}

void ofl_kernel_append_image(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernels,
                             const struct ofl_guards *guards, const char *suffix, bool cuda, const void *image,
                             size_t bytes)
{
    struct ofl_lines *lines = &rewriter->appended;
    unsigned char *packed = ofl_arena_alloc(rewriter->arena, ofl_pack_room(bytes));
    size_t packed_bytes = ofl_pack(image, bytes, packed);
    char *text = ofl_arena_alloc(rewriter->arena, (4 * packed_bytes + 2) / 3 + 1);
    size_t length = ofl_encode64(packed, packed_bytes, text), pieces = (length + PIECE - 1) / PIECE;
    struct ofl_text names = {.arena = lines->arena};
    bool stops = false;
    for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        stops |= kernel->status;
    }
    lines->at = 0; /* no line of the user's */
    if (stops) {
        add_stop(lines, suffix);
    }
    ofl_line_add(lines, "pure recursive subroutine ofl_begin_%s(loop)", suffix);
    ofl_line_add(lines, "implicit none");
    ofl_line_add(lines, "integer(8), intent(inout) :: loop");
    ofl_line_add(lines, "interface");
    ofl_line_add(lines, "pure subroutine ofl_loops_image(loop, version, device, image, length, identity) bind(c)");
    ofl_line_add(lines, USE_KINDS);
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
    ofl_line_add(lines, "integer(c_int64_t), intent(in) :: version, device, length, identity");
    ofl_line_add(lines, "character(kind=c_char), intent(in) :: image(*)");
    ofl_line_add(lines, "end subroutine");
    ofl_guards_add_interfaces(lines, guards);
    ofl_line_add(lines, "end interface");
    for (size_t piece = 0; piece < pieces; piece++) {
        size_t rest = length - piece * PIECE;
        add_piece(lines, text + piece * PIECE, rest < PIECE ? rest : PIECE, piece);
        ofl_text_print(&names, "%sw%zu", piece == 0 ? "" : ",", piece);
    }
    ofl_line_add(lines, "character(%d), parameter :: image(%zu) = [%s]", PIECE, pieces, names.bytes);
    /* A positive number of 63 bits out of the name's 64. */
    ofl_line_add(lines, "call ofl_loops_image(loop, %d_8, %d_8, image, %zu_8, %" PRIu64 "_8)", OFL_LOOPS_ABI,
                 cuda ? OFL_LOOPS_CUDA : OFL_LOOPS_CUDA_CPU, length, (uint64_t)strtoull(suffix, NULL, 16) >> 1);
    ofl_guards_add_calls(lines, guards);
    ofl_line_add(lines, "end subroutine");
}
