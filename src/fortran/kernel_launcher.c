/* The launcher: the subroutine that hands a loop to the run-time library, and the kernels' image.
 *
 * It stands behind the last program unit and is called in the loop's place (kernel_launch.c).  It hands each argument
 * to the library (see <gpu-offload/loops.h>); objects go through both calls as descriptors, without copies.  Where an
 * iteration ended the program, it does so by the host compiler's own statement, so that code, message and what is
 * flushed are those of the CPU.
 *
 * The image is a constant of another subroutine, which also starts the run: packed, and in pieces of at most PIECE
 * words, since compilers limit the length of a statement. */
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
    /* recursive: nothing of it is saved, whatever -fno-automatic says. */
    ofl_text_print(&head, "pure recursive subroutine ofl_launch_%u_%s(", kernel->number, suffix);
    for (unsigned i = 1; i <= kernel->index_count; i++) {
        ofl_text_print(&head, "%sf%u, l%u, t%u", i == 1 ? "" : ", ", i, i, i);
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
    /* bind(c): gfortran 12 loses the strides of components of arrays in other procedures. */
    ofl_line_add(lines, "%s) bind(c)", head.bytes);
}

static void add_object_declarations(struct ofl_lines *lines, const struct ofl_kernel *kernel,
                                    enum ofl_launcher_view view)
{
    unsigned number = 0;
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            continue;
        }
        if (view == OFL_ADDRESSES) {
            ofl_line_add(lines, "type(c_ptr), value :: a%u", number);
        } else {
            ofl_line_add(lines, "type(*),%s target, intent(%s) :: a%u(..)", may_be_absent(object) ? " optional," : "",
                         object->written ? "inout" : "in", number);
        }
        if (object->rank > 0) {
            ofl_line_add(lines, "integer(c_int64_t), intent(in) :: b%u(%u)", number, object->rank);
        }
        if (object->element_bytes == 0) {
            ofl_line_add(lines, "integer(c_int64_t), intent(in) :: e%u", number);
        }
    }
}

void ofl_launcher_head(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix,
                       enum ofl_launcher_view view)
{
    unsigned number = 0;
    add_names(lines, kernel, suffix);
    ofl_line_add(lines,
                 "use, intrinsic :: iso_c_binding, only: c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_float, "
                 "c_double, c_float_complex, c_double_complex%s",
                 view == OFL_ADDRESSES ? ", c_ptr, c_associated" : "");
    ofl_line_add(lines, "implicit none");
    for (unsigned i = 1; i <= kernel->index_count; i++) {
        ofl_line_add(lines, "integer(c_int64_t), intent(in) :: f%u, l%u, t%u", i, i, i);
    }
    add_object_declarations(lines, kernel, view);
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

/* ---- The body ---- */

/* `read` or `write` of the library. */
static void add_object_interface(struct ofl_lines *lines, const char *name, enum ofl_launcher_view view)
{
    ofl_line_add(lines, "pure subroutine ofl_loops_%s(loop, object, lower, bytes, offset, form, name) bind(c)", name);
    ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_int64_t, c_char, c_ptr");
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
    if (view == OFL_ADDRESSES) {
        ofl_line_add(lines, "type(c_ptr), value :: object");
    } else {
        ofl_line_add(lines, "type(*), target, intent(%s) :: object(..)", strcmp(name, "read") == 0 ? "in" : "inout");
    }
    ofl_line_add(lines, "integer(c_int64_t), intent(in) :: lower(*), bytes, offset, form");
    ofl_line_add(lines, "character(kind=c_char), intent(in) :: name(*)");
    ofl_line_add(lines, "end subroutine");
}

static void add_library_interface(struct ofl_lines *lines, enum ofl_launcher_view view)
{
    static const char *const text[] = {
        "pure subroutine ofl_loops_begin(loop, version, where, kernel, device) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: version, device",
        "character(kind=c_char), intent(in) :: where(*), kernel(*)",
        "end subroutine",
        "pure subroutine ofl_loops_index(loop, first, last, step) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: first, last, step",
        "end subroutine",
        "pure subroutine ofl_loops_absent(loop, rank, form) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: rank, form",
        "end subroutine",
        "pure subroutine ofl_loops_whole(loop, subscripts) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: subscripts(*)",
        "end subroutine",
        "pure subroutine ofl_loops_component(loop, offset, rank, bytes, written) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: offset, rank, bytes, written",
        "end subroutine",
        "pure subroutine ofl_loops_scalar(loop, value, bytes) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "type(*), target, intent(in) :: value",
        "integer(c_int64_t), intent(in) :: bytes",
        "end subroutine",
        "pure subroutine ofl_loops_reduction(loop, object, bytes, elements) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: object, bytes, elements",
        "end subroutine",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        ofl_line_add(lines, "%s", text[i]);
    }
    add_object_interface(lines, "read", view);
    add_object_interface(lines, "write", view);
}

/* The image's subroutine, between `interface` and `end interface`, or where it is defined. */
static void add_image_head(struct ofl_lines *lines, const char *suffix)
{
    ofl_line_add(lines, "pure recursive subroutine ofl_run_%s(loop, needs, stop, text)", suffix);
    ofl_line_add(lines, "implicit none");
    ofl_line_add(lines, "integer(8), intent(inout) :: loop, stop(%d)", OFL_LOOPS_STOP_WORDS);
    ofl_line_add(lines, "integer(8), intent(in) :: needs");
    ofl_line_add(lines, "character(%d), intent(inout) :: text", OFL_LOOPS_STOP_TEXT);
}

static void add_hidden_interface(struct ofl_lines *lines, const char *name)
{
    ofl_line_add(lines, "pure subroutine %s(loop) bind(c, name='%s')", name, name);
    ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_int64_t");
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
    ofl_line_add(lines, "end subroutine");
}

static void add_hidden_interfaces(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix)
{
    unsigned number = 0;
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            add_hidden_interface(lines, ofl_hidden_name(lines->arena, kernel, suffix, 'a', number));
        }
    }
    number = 0;
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        number++;
        if (scalar->host == NULL) {
            add_hidden_interface(lines, ofl_hidden_name(lines->arena, kernel, suffix, 's', number));
        }
    }
}

static void add_components(struct ofl_lines *lines, const struct ofl_kernel_object *object)
{
    for (const struct ofl_kernel_component *part = object->components; part != NULL; part = part->next) {
        ofl_line_add(lines, "call ofl_loops_component(loop, %" PRId64 "_8, %u_8, %" PRId64 "_8, %d_8)", part->offset,
                     part->rank, part->bytes, part->written);
    }
}

static void add_object(struct ofl_lines *lines, struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel,
                       const char *suffix, const struct ofl_kernel_object *object, unsigned number)
{
    struct ofl_arena *arena = lines->arena;
    if (object->host == NULL) {
        ofl_line_add(lines, "call %s(loop)", ofl_hidden_name(arena, kernel, suffix, 'a', number));
        add_components(lines, object);
        return;
    }
    struct ofl_coverage coverage = ofl_kernel_coverage(rewriter, kernel, object);
    int form = (object->bounds ? OFL_LOOPS_BOUNDS : 0) | (coverage.unread ? OFL_LOOPS_UNREAD : 0);
    bool certain = true;
    if (ofl_is_assumed_size(object) && ofl_kernel_last_upper(rewriter, kernel, object, &certain) != NULL && !certain) {
        form |= OFL_LOOPS_READABLE;
    }
    const char *lower = object->rank > 0 ? ofl_arena_format(arena, "b%u", number) : "[0_8]";
    const char *bytes = object->element_bytes > 0 ? ofl_arena_format(arena, "%" PRId64 "_8", object->element_bytes)
                                                  : ofl_arena_format(arena, "e%u", number);
    if (may_be_absent(object)) {
        bool address = ofl_launcher_view(rewriter) == OFL_ADDRESSES;
        ofl_line_add(lines, "if (.not. %s(a%u)) then", address ? "c_associated" : "present", number);
        ofl_line_add(lines, "call ofl_loops_absent(loop, %u_8, %d_8)", object->rank, form);
        ofl_line_add(lines, "else");
    }
    ofl_line_add(lines, "call ofl_loops_%s(loop, a%u, %s, %s, %" PRId64 "_8, %d_8, %s)",
                 object->written ? "write" : "read", number, lower, bytes, object->leaf_offset, form,
                 ofl_launch_text(object->host == NULL ? object->c_name : object->host, arena));
    if (coverage.whole) {
        ofl_line_add(lines, "call ofl_loops_whole(loop, %s)", coverage.subscripts);
    }
    add_components(lines, object);
    if (may_be_absent(object)) {
        ofl_line_add(lines, "end if");
    }
}

static void add_reductions(struct ofl_lines *lines, const struct ofl_kernel *kernel)
{
    unsigned number = 0;
    for (const struct ofl_kernel_reduction *item = kernel->reductions; item != NULL; item = item->next) {
        unsigned place = 0;
        number++;
        for (const struct ofl_kernel_object *object = kernel->objects; object != item->object; object = object->next) {
            place++;
        }
        ofl_line_add(lines, "call ofl_loops_reduction(loop, %u_8, %" PRId64 "_8, %s)", place, item->element_bytes,
                     item->elements == NULL ? "1_8" : ofl_arena_format(lines->arena, "n%u", number));
    }
}

/* The program ends as by error stop in the loop. */
static void add_stop(struct ofl_lines *lines)
{
    ofl_line_add(lines, "if (stop(%d) == 0) return", OFL_LOOPS_STOP_KIND + 1);
    ofl_line_add(lines, "if (stop(%d) == 1) error stop", OFL_LOOPS_STOP_KIND + 1);
    ofl_line_add(lines, "if (stop(%d) == 3) error stop text(1:stop(%d))", OFL_LOOPS_STOP_KIND + 1,
                 OFL_LOOPS_STOP_LENGTH + 1);
    ofl_line_add(lines, "code = int(stop(%d))", OFL_LOOPS_STOP_CODE + 1);
    ofl_line_add(lines, "error stop code");
}

static void add_scalars(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix)
{
    unsigned number = 0;
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        number++;
        if (scalar->host == NULL) {
            ofl_line_add(lines, "call %s(loop)", ofl_hidden_name(lines->arena, kernel, suffix, 's', number));
        } else {
            int bytes = scalar->type == OFL_TYPE_LOGICAL   ? 4 /* the caller makes a number of it */
                        : scalar->type == OFL_TYPE_COMPLEX ? 2 * scalar->kind
                                                           : scalar->kind;
            ofl_line_add(lines, "call ofl_loops_scalar(loop, s%u, %d_8)", number, bytes);
        }
    }
}

void ofl_launcher_append(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix, bool cuda)
{
    struct ofl_lines *lines = &rewriter->appended;
    struct ofl_arena *arena = rewriter->arena;
    unsigned number = 0;
    int needs = (kernel->mask_kernel ? OFL_LOOPS_MASK : 0) | (kernel->status ? OFL_LOOPS_STATUS : 0) |
                (kernel->workspace ? OFL_LOOPS_WORKSPACE : 0);
    lines->at = kernel->stmt->span.begin;
    ofl_launcher_head(lines, kernel, suffix, ofl_launcher_view(rewriter));
    ofl_line_add(lines, "interface");
    add_library_interface(lines, ofl_launcher_view(rewriter));
    add_image_head(lines, suffix);
    ofl_line_add(lines, "end subroutine");
    add_hidden_interfaces(lines, kernel, suffix);
    ofl_line_add(lines, "end interface");
    ofl_line_add(lines, "integer(8) :: loop, stop(%d)", OFL_LOOPS_STOP_WORDS);
    if (kernel->status) {
        ofl_line_add(lines, "integer :: code");
    }
    ofl_line_add(lines, "character(%d) :: text", OFL_LOOPS_STOP_TEXT);
    ofl_line_add(lines, "call ofl_loops_begin(loop, %d_8, %s, %s, %d_8)", OFL_LOOPS_ABI,
                 ofl_launch_text(ofl_launch_place(rewriter, kernel), arena), ofl_launch_text(kernel->name, arena),
                 cuda ? OFL_LOOPS_CUDA : OFL_LOOPS_CUDA_CPU);
    for (unsigned i = 1; i <= kernel->index_count; i++) {
        ofl_line_add(lines, "call ofl_loops_index(loop, f%u, l%u, t%u)", i, i, i);
    }
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        add_object(lines, rewriter, kernel, suffix, object, ++number);
    }
    add_scalars(lines, kernel, suffix);
    add_reductions(lines, kernel);
    ofl_line_add(lines, "call ofl_run_%s(loop, %d_8, stop, text)", suffix, needs);
    if (kernel->status) {
        add_stop(lines);
    }
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

void ofl_kernel_append_image(struct ofl_rewriter *rewriter, const char *suffix, const void *image, size_t bytes)
{
    struct ofl_lines *lines = &rewriter->appended;
    unsigned char *packed = ofl_arena_alloc(rewriter->arena, ofl_pack_room(bytes));
    size_t packed_bytes = ofl_pack(image, bytes, packed);
    char *text = ofl_arena_alloc(rewriter->arena, (4 * packed_bytes + 2) / 3 + 1);
    size_t length = ofl_encode64(packed, packed_bytes, text), pieces = (length + PIECE - 1) / PIECE;
    struct ofl_text names = {.arena = lines->arena};
    lines->at = 0; /* no line of the user's */
    add_image_head(lines, suffix);
    ofl_line_add(lines, "interface");
    ofl_line_add(lines, "pure subroutine ofl_loops_run(loop, needs, image, length, identity, stop, text) bind(c)");
    ofl_line_add(lines, USE_KINDS);
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop, stop(*)");
    ofl_line_add(lines, "integer(c_int64_t), intent(in) :: needs, length, identity");
    ofl_line_add(lines, "character(kind=c_char), intent(in) :: image(*)");
    ofl_line_add(lines, "character(kind=c_char), intent(inout) :: text(*)");
    ofl_line_add(lines, "end subroutine");
    ofl_line_add(lines, "end interface");
    for (size_t piece = 0; piece < pieces; piece++) {
        size_t rest = length - piece * PIECE;
        add_piece(lines, text + piece * PIECE, rest < PIECE ? rest : PIECE, piece);
        ofl_text_print(&names, "%sw%zu", piece == 0 ? "" : ",", piece);
    }
    ofl_line_add(lines, "character(%d), parameter :: image(%zu) = [%s]", PIECE, pieces, names.bytes);
    /* A positive number of 63 bits out of the name's 64. */
    ofl_line_add(lines, "call ofl_loops_run(loop, needs, image, %zu_8, %" PRIu64 "_8, stop, text)", length,
                 (uint64_t)strtoull(suffix, NULL, 16) >> 1);
    ofl_line_add(lines, "end subroutine");
}
