/* The host's side of a kernel: a call in the loop's place, and what it calls.
 *
 * In the loop's place stands a block with the interface of a pure subroutine and its call: the limits, the arrays with
 * their lower bounds, the scalars.  Through the interface the host compiler knows what the loop reads and writes.  The
 * subroutine itself, behind the last program unit, hands each argument to the run-time library (see
 * <gpu-offload/loops.h>); arrays go through both calls as descriptors, without copies.
 *
 * The image is a constant of a third subroutine, which also starts the run, in pieces of at most PIECE words, since
 * compilers limit the length of a statement. */
#include "fortran/kernel.h"

#include <gpu-offload/loops.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 100 };

#define USE_KINDS "use, intrinsic :: iso_c_binding, only: c_int64_t, c_char"

/* A Fortran constant whose value ends with a NUL. */
static const char *text_constant(const char *text, struct ofl_arena *arena)
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

static const char *place_text(const struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel)
{
    struct ofl_place place = ofl_place_of(rewriter->sources, kernel->stmt->span.begin);
    return ofl_arena_format(rewriter->arena, "%s:%u", place.file, place.line);
}

static const char *fortran_type(const struct ofl_kernel_variable *variable, struct ofl_arena *arena)
{
    return ofl_arena_format(arena, "%s(%d)", variable->type == OFL_TYPE_REAL ? "real" : "integer", variable->kind);
}

/* The subroutine's first statement.  Arguments have names of their own: a1, b1 (bounds of a1), s1. */
static void add_head(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix)
{
    struct ofl_text head = {.arena = lines->arena};
    unsigned number = 0;
    ofl_text_print(&head, "pure subroutine ofl_launch_%u_%s(first, last, step", kernel->number, suffix);
    for (const struct ofl_kernel_variable *array = kernel->arrays; array != NULL; array = array->next) {
        number++;
        ofl_text_print(&head, ", a%u, b%u", number, number);
    }
    number = 0;
    for (const struct ofl_kernel_variable *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        ofl_text_print(&head, ", s%u", ++number);
    }
    ofl_line_add(lines, "%s)", head.bytes);
}

static void add_arguments(struct ofl_lines *lines, const struct ofl_kernel *kernel)
{
    unsigned number = 0;
    ofl_line_add(lines, "integer(8), intent(in) :: first, last, step");
    for (const struct ofl_kernel_variable *array = kernel->arrays; array != NULL; array = array->next) {
        number++;
        ofl_line_add(lines, "type(*), target, intent(%s) :: a%u(..)", array->written ? "inout" : "in", number);
        ofl_line_add(lines, "integer(8), intent(in) :: b%u(%u)", number, array->symbol->rank);
    }
    number = 0;
    for (const struct ofl_kernel_variable *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        ofl_line_add(lines, "%s, intent(in) :: s%u", fortran_type(scalar, lines->arena), ++number);
    }
}

/* ---- In the loop's place ---- */

static void add_call(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix, const char *p)
{
    struct ofl_text call = {.arena = lines->arena};
    ofl_text_print(&call, "call ofl_launch_%u_%s(%sfirst, %slast, %sstep", kernel->number, suffix, p, p, p);
    for (const struct ofl_kernel_variable *array = kernel->arrays; array != NULL; array = array->next) {
        ofl_text_print(&call, ", %s, lbound(%s, kind=8)", array->name->text, array->name->text);
    }
    for (const struct ofl_kernel_variable *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        ofl_text_print(&call, ", %s", scalar->name->text);
    }
    ofl_line_add(lines, "%s)", call.bytes);
}

/* The descriptor of an array that is not allocated is undefined and cannot be passed. */
static void add_presence_tests(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *where)
{
    for (const struct ofl_kernel_variable *array = kernel->arrays; array != NULL; array = array->next) {
        bool pointer = OFL_HAS(array->symbol, POINTER);
        if (pointer || OFL_HAS(array->symbol, ALLOCATABLE)) {
            ofl_line_add(lines, "if (.not. %s(%s)) call ofl_loops_missing(%s, %s)",
                         pointer ? "associated" : "allocated", array->name->text, where,
                         text_constant(array->name->text, lines->arena));
        }
    }
}

static void replace_loop(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix)
{
    const struct ofl_stmt *stmt = kernel->stmt;
    const struct ofl_index *index = stmt->as.loop.indices;
    const char *p = rewriter->prefix;
    struct ofl_lines lines = {.arena = rewriter->arena, .at = stmt->span.begin};
    if (stmt->label.value != 0) {
        ofl_line_add(&lines, "%u continue", stmt->label.value);
    }
    ofl_line_add(&lines, "block");
    if (stmt->as.loop.index_type == NULL) { /* so, the program's variable does not look unused */
        ofl_line_add(&lines, "integer, parameter :: %sk = kind(%s)", p, index->ident.name->text);
        ofl_line_add(&lines, "integer(%sk) :: %slimit", p, p);
    } else {
        ofl_line_add(&lines, "integer(%d) :: %slimit", kernel->index_kind, p);
    }
    ofl_line_add(&lines, "integer(8) :: %sfirst, %slast, %sstep", p, p, p);
    ofl_line_add(&lines, "interface");
    add_head(&lines, kernel, suffix);
    add_arguments(&lines, kernel);
    ofl_line_add(&lines, "end subroutine");
    ofl_line_add(&lines, "pure subroutine ofl_loops_missing(where, name) bind(c)");
    ofl_line_add(&lines, USE_KINDS);
    ofl_line_add(&lines, "character(kind=c_char), intent(in) :: where(*), name(*)");
    ofl_line_add(&lines, "end subroutine");
    ofl_line_add(&lines, "end interface");
    ofl_line_add(&lines, "%slimit = %s", p, ofl_rewrite_flat(rewriter, index->lower->span));
    ofl_line_add(&lines, "%sfirst = %slimit", p, p);
    ofl_line_add(&lines, "%slimit = %s", p, ofl_rewrite_flat(rewriter, index->upper->span));
    ofl_line_add(&lines, "%slast = %slimit", p, p);
    ofl_line_add(&lines, "%slimit = %s", p, index->step == NULL ? "1" : ofl_rewrite_flat(rewriter, index->step->span));
    ofl_line_add(&lines, "%sstep = %slimit", p, p);
    ofl_line_add(&lines, "if ((%slast - %sfirst + %sstep)/%sstep > 0) then", p, p, p, p);
    add_presence_tests(&lines, kernel, text_constant(place_text(rewriter, kernel), rewriter->arena));
    add_call(&lines, kernel, suffix, p);
    ofl_line_add(&lines, "end if");
    ofl_line_add(&lines, "end block");
    if (stmt->end_label.value != 0) {
        ofl_line_add(&lines, "%u continue", stmt->end_label.value);
    }
    ofl_rewrite_edit(rewriter, ofl_stmt_begin(stmt), stmt->whole.end, &lines);
}

/* ---- Behind the file ---- */

static void add_library_interface(struct ofl_lines *lines)
{
    static const char *const text[] = {
        "interface",
        "pure subroutine ofl_loops_begin(loop, version, where, kernel, device) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "integer(c_int64_t), intent(in) :: version, device",
        "character(kind=c_char), intent(in) :: where(*), kernel(*)",
        "end subroutine",
        "pure subroutine ofl_loops_array_read(loop, array, lower, bytes, name) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "type(*), target, intent(in) :: array(..)",
        "integer(c_int64_t), intent(in) :: lower(*), bytes",
        "character(kind=c_char), intent(in) :: name(*)",
        "end subroutine",
        "pure subroutine ofl_loops_array_write(loop, array, lower, bytes, name) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "type(*), target, intent(inout) :: array(..)",
        "integer(c_int64_t), intent(in) :: lower(*), bytes",
        "character(kind=c_char), intent(in) :: name(*)",
        "end subroutine",
        "pure subroutine ofl_loops_scalar(loop, value, bytes) bind(c)",
        USE_KINDS,
        "integer(c_int64_t), intent(inout) :: loop",
        "type(*), target, intent(in) :: value",
        "integer(c_int64_t), intent(in) :: bytes",
        "end subroutine",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        ofl_line_add(lines, "%s", text[i]);
    }
}

static void add_image_interface(struct ofl_lines *lines, const char *suffix)
{
    ofl_line_add(lines, "pure subroutine ofl_run_%s(loop, first, step, trips)", suffix);
    ofl_line_add(lines, "integer(8), intent(inout) :: loop");
    ofl_line_add(lines, "integer(8), intent(in) :: first, step, trips");
    ofl_line_add(lines, "end subroutine");
    ofl_line_add(lines, "end interface");
}

static void append_launcher(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix,
                            bool cuda)
{
    struct ofl_lines *lines = &rewriter->appended;
    struct ofl_arena *arena = rewriter->arena;
    const char *where = place_text(rewriter, kernel);
    unsigned number = 0;
    lines->at = kernel->stmt->span.begin;
    add_head(lines, kernel, suffix);
    ofl_line_add(lines, "implicit none");
    add_arguments(lines, kernel);
    add_library_interface(lines);
    add_image_interface(lines, suffix);
    ofl_line_add(lines, "integer(8) :: loop, trips");
    ofl_line_add(lines, "trips = (last - first + step)/step");
    ofl_line_add(lines, "call ofl_loops_begin(loop, %d_8, %s, %s, %d_8)", OFL_LOOPS_ABI, text_constant(where, arena),
                 text_constant(kernel->name, arena), cuda ? OFL_LOOPS_CUDA : OFL_LOOPS_CUDA_CPU);
    for (const struct ofl_kernel_variable *array = kernel->arrays; array != NULL; array = array->next) {
        number++;
        ofl_line_add(lines, "call ofl_loops_array_%s(loop, a%u, b%u, %d_8, %s)", array->written ? "write" : "read",
                     number, number, array->kind, text_constant(array->name->text, arena));
    }
    number = 0;
    for (const struct ofl_kernel_variable *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        ofl_line_add(lines, "call ofl_loops_scalar(loop, s%u, %d_8)", ++number, scalar->kind);
    }
    ofl_line_add(lines, "call ofl_run_%s(loop, first, step, trips)", suffix);
    ofl_line_add(lines, "end subroutine");
}

void ofl_kernel_launch(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix, bool cuda)
{
    replace_loop(rewriter, kernel, suffix);
    append_launcher(rewriter, kernel, suffix, cuda);
}

static void add_words(struct ofl_lines *lines, const unsigned char *image, size_t bytes, size_t piece)
{
    struct ofl_text text = {.arena = lines->arena};
    size_t count = 0;
    for (size_t offset = piece * PIECE * 8; offset < bytes && count < PIECE; offset += 8, count++) {
        int64_t word = 0;
        memcpy(&word, image + offset, bytes - offset < 8 ? bytes - offset : 8);
        if (word == INT64_MIN) {
            ofl_text_print(&text, "%s-9223372036854775807_8-1_8", count == 0 ? "" : ",");
        } else {
            ofl_text_print(&text, "%s%" PRId64 "_8", count == 0 ? "" : ",", word);
        }
    }
    ofl_line_add(lines, "integer(8), parameter :: w%zu(%zu) = [%s]", piece, count, text.bytes);
}

void ofl_kernel_append_image(struct ofl_rewriter *rewriter, const char *suffix, const void *image, size_t bytes)
{
    struct ofl_lines *lines = &rewriter->appended;
    size_t words = (bytes + 7) / 8, pieces = (words + PIECE - 1) / PIECE;
    struct ofl_text names = {.arena = lines->arena};
    lines->at = 0; /* no line of the user's */
    ofl_line_add(lines, "pure subroutine ofl_run_%s(loop, first, step, trips)", suffix);
    ofl_line_add(lines, "implicit none");
    ofl_line_add(lines, "integer(8), intent(inout) :: loop");
    ofl_line_add(lines, "integer(8), intent(in) :: first, step, trips");
    ofl_line_add(lines, "interface");
    ofl_line_add(lines, "pure subroutine ofl_loops_run(loop, first, step, trips, image, bytes, identity) bind(c)");
    ofl_line_add(lines, USE_KINDS);
    ofl_line_add(lines, "integer(c_int64_t), intent(inout) :: loop");
    ofl_line_add(lines, "integer(c_int64_t), intent(in) :: first, step, trips, image(*), bytes, identity");
    ofl_line_add(lines, "end subroutine");
    ofl_line_add(lines, "end interface");
    for (size_t piece = 0; piece < pieces; piece++) {
        add_words(lines, image, bytes, piece);
        ofl_text_print(&names, "%sw%zu", piece == 0 ? "" : ",", piece);
    }
    ofl_line_add(lines, "integer(8), parameter :: image(%zu) = [%s]", words, names.bytes);
    /* A positive number of 63 bits out of the name's 64. */
    ofl_line_add(lines, "call ofl_loops_run(loop, first, step, trips, image, %zu_8, %" PRIu64 "_8)", bytes,
                 (uint64_t)strtoull(suffix, NULL, 16) >> 1);
    ofl_line_add(lines, "end subroutine");
}
