/* The call in a loop's place.
 *
 *     do concurrent (i = f(1):n, j = 1:m)          block
 *        a(i, j) = b*c(i)                            integer, parameter :: ofl_k1 = kind(i), ...
 *     end do                                         integer(ofl_k1) :: ofl_i1; integer(8) :: ofl_f1, ofl_l1, ofl_t1
 *                                                    ... this loop's interface to ofl_loops_launch
 *                                                    ofl_i1 = f(1); ofl_f1 = ofl_i1; ...
 *                                                    if (there are iterations) then
 *                                                      if (.not. allocated(a)) call ofl_loops_missing(...)
 *                                                      call ofl_begin_HASH(ofl_h)
 *                                                      call ofl_launch_1_HASH(ofl_h, TABLE, ofl_f1, ..., a, ...)
 *                                                      if (ofl_h /= 0) call ofl_stop_HASH(ofl_h)
 *                                                    end if
 *                                                  end block
 *
 * The limits are evaluated once, in the kind of their index, in the order of the header, before anything else.  Through
 * the interface the host compiler knows what the loop reads and writes.  What may be missing (not allocated) must
 * not be passed, since its descriptor is undefined: there is a call for each case, with the missing arguments left
 * out.
 *
 * Inserted statements use intrinsic functions: a file that gives their names another meaning around the loop is
 * refused. */
#include "fortran/launch.h"

#include <string.h>

/* An argument that may be left out doubles the number of calls. */
enum { most_missing = 4 };

struct place {
    struct ofl_rewriter *rewriter;
    const struct ofl_kernel *kernel;
    struct ofl_scope *scope;
    const char *suffix, *p;
    struct ofl_lines *lines;
};

/* An intrinsic function that is used must mean itself. */
static void require_intrinsic(struct place *place, const char *name)
{
    const struct ofl_name *interned = ofl_name_of(place->rewriter->arena, name, strlen(name));
    const struct ofl_symbol *symbol = ofl_scope_find(place->scope, interned);
    if (symbol != NULL && !OFL_HAS(symbol, INTRINSIC)) {
        ofl_diag_unsupported(place->rewriter->diagnostics, place->kernel->stmt->span,
                             "a parallel loop where '%s' is not the intrinsic function", name);
    }
}

static bool is_missing_test(const struct ofl_kernel_object *object)
{
    return object->may_be_missing && (OFL_HAS(object->symbol, POINTER) || OFL_HAS(object->symbol, ALLOCATABLE));
}

/* "allocated" or "associated", or NULL if the object is always there. */
static const char *presence_function(const struct ofl_kernel_object *object)
{
    return OFL_HAS(object->symbol, POINTER) ? "associated" : OFL_HAS(object->symbol, ALLOCATABLE) ? "allocated" : NULL;
}

/* ---- Limits ---- */

static void add_index_declarations(struct place *place, const struct ofl_kernel_index *item, unsigned number)
{
    const char *p = place->p;
    if (place->kernel->stmt->as.loop.index_type == NULL) { /* so, the program's variable does not look unused */
        require_intrinsic(place, "kind");
        ofl_line_add(place->lines, "integer, parameter :: %sk%u = kind(%s)", p, number, item->index->ident.name->text);
        ofl_line_add(place->lines, "integer(%sk%u) :: %si%u", p, number, p, number);
    } else {
        ofl_line_add(place->lines, "integer(%d) :: %si%u", item->kind, p, number);
    }
    ofl_line_add(place->lines, "integer(8) :: %sf%u, %sl%u, %st%u", p, number, p, number, p, number);
}

static void add_limit(struct place *place, const struct ofl_expr *expr, char what, unsigned number)
{
    const char *p = place->p;
    if (expr == NULL) {
        ofl_line_add(place->lines, "%s%c%u = 1", p, what, number);
        return;
    }
    ofl_line_add(place->lines, "%si%u = %s", p, number, ofl_rewrite_flat(place->rewriter, expr->span));
    ofl_line_add(place->lines, "%s%c%u = %si%u", p, what, number, p, number);
}

static void add_limits(struct place *place)
{
    const struct ofl_kernel *kernel = place->kernel;
    for (unsigned i = 0; i < kernel->index_count; i++) {
        const struct ofl_index *index = kernel->indices[i].index;
        place->lines->at = index->span.begin;
        add_limit(place, index->lower, 'f', i + 1);
        add_limit(place, index->upper, 'l', i + 1);
        add_limit(place, index->step, 't', i + 1);
    }
    place->lines->at = kernel->stmt->span.begin;
}

/* A step of zero is left to the library, which says so. */
static const char *iterations_test(struct place *place)
{
    struct ofl_text text = {.arena = place->rewriter->arena};
    const char *p = place->p;
    for (unsigned i = 1; i <= place->kernel->index_count; i++) {
        ofl_text_print(&text, "%s(%st%u > 0 .and. %sf%u > %sl%u .or. %st%u < 0 .and. %sf%u < %sl%u)",
                       i == 1 ? "" : " .or. ", p, i, p, i, p, i, p, i, p, i, p, i);
    }
    return text.bytes;
}

/* ---- Objects ---- */

/* What the launch gets for an object: its name, a component of its elements, or a section of known size. */
static const char *actual(const struct place *place, const struct ofl_kernel_object *object)
{
    struct ofl_arena *arena = place->rewriter->arena;
    struct ofl_text text = {.arena = arena};
    ofl_text_print(&text, "%s", object->host);
    bool certain;
    if (ofl_is_assumed_size(object)) {
        for (unsigned dimension = 1; dimension < object->rank; dimension++) {
            ofl_text_print(&text, "%s:", dimension == 1 ? "(" : ", ");
        }
        const char *upper = ofl_kernel_last_upper(place->rewriter, place->kernel, object, &certain);
        ofl_text_print(&text, "%s:%s)", object->rank == 1 ? "(" : ", ", upper == NULL ? "" : upper);
    }
    if (object->leaf != NULL) {
        ofl_text_print(&text, "%%%s", object->leaf);
    }
    return text.bytes;
}

static void add_object_declarations(struct place *place)
{
    unsigned number = 0;
    for (const struct ofl_kernel_object *object = place->kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            continue;
        }
        if (object->rank > 0) {
            ofl_line_add(place->lines, "integer(8) :: %sb%u(%u)", place->p, number, object->rank);
        }
        if (object->element_bytes == 0) {
            ofl_line_add(place->lines, "integer(8) :: %se%u", place->p, number);
        }
        if (is_missing_test(object)) {
            ofl_line_add(place->lines, "logical :: %sm%u", place->p, number);
        }
    }
    number = 0;
    for (const struct ofl_kernel_reduction *item = place->kernel->reductions; item != NULL; item = item->next) {
        number++;
        if (item->elements != NULL) {
            ofl_line_add(place->lines, "integer(8) :: %sn%u", place->p, number);
        }
    }
}

/* Whether it is there, or a stop; and if so, its bounds and the length of its elements. */
static void add_object_tests(struct place *place, const struct ofl_kernel_object *object, unsigned number)
{
    struct ofl_lines *lines = place->lines;
    const char *function = presence_function(object), *p = place->p;
    unsigned open = 0;
    if (object->host == NULL) {
        return;
    }
    if (is_missing_test(object)) {
        ofl_line_add(lines, "%sm%u = .false.", p, number);
    }
    if (object->optional) {
        require_intrinsic(place, "present");
        ofl_line_add(lines, "if (present(%s)) then", object->host);
        open++;
    }
    if (function != NULL) {
        require_intrinsic(place, function);
    }
    if (is_missing_test(object)) {
        ofl_line_add(lines, "%sm%u = %s(%s)", p, number, function, object->host);
        ofl_line_add(lines, "if (%sm%u) then", p, number);
        open++;
    } else if (function != NULL) {
        ofl_line_add(lines, "if (.not. %s(%s)) call ofl_loops_missing(%s, %s)", function, object->host,
                     ofl_launch_text(ofl_launch_place(place->rewriter, place->kernel), lines->arena),
                     ofl_launch_text(object->host, lines->arena));
    }
    if (object->rank > 0) {
        require_intrinsic(place, "lbound");
        ofl_line_add(lines, "%sb%u = lbound(%s, kind=8)", p, number, object->host);
    }
    if (object->element_bytes == 0) {
        require_intrinsic(place, "len");
        ofl_line_add(lines, "%se%u = len(%s, kind=8)", p, number, object->host);
    }
    while (open-- > 0) {
        ofl_line_add(lines, "end if");
    }
}

/* ---- The call ---- */

/* `missing`: bit k is set if the kth of the objects that may be missing is to be left out. */
static void add_call(struct place *place, unsigned missing)
{
    const struct ofl_kernel *kernel = place->kernel;
    struct ofl_text call = {.arena = place->rewriter->arena};
    const char *p = place->p;
    unsigned number = 0, test = 0;
    ofl_text_print(&call, "call ofl_launch_%u_%s(loop=%sh, table=%s", kernel->number, place->suffix, p,
                   ofl_launcher_table(place->rewriter, kernel));
    for (unsigned i = 1; i <= kernel->index_count; i++) {
        ofl_text_print(&call, ", f%u=%sf%u, l%u=%sl%u, t%u=%st%u", i, p, i, i, p, i, i, p, i);
    }
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        number++;
        if (object->host == NULL) {
            continue;
        }
        bool left_out = is_missing_test(object) && (missing >> test++ & 1) != 0;
        if (!left_out) {
            ofl_text_print(&call, ", a%u=%s", number, actual(place, object));
        }
        if (object->rank > 0) {
            ofl_text_print(&call, ", b%u=%sb%u", number, p, number);
        }
        if (object->element_bytes == 0) {
            ofl_text_print(&call, ", e%u=%se%u", number, p, number);
        }
    }
    number = 0;
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        number++;
        if (scalar->host != NULL && scalar->type == OFL_TYPE_LOGICAL) {
            require_intrinsic(place, "merge");
            ofl_text_print(&call, ", s%u=merge(1_4, 0_4, %s)", number, scalar->host);
        } else if (scalar->host != NULL) {
            ofl_text_print(&call, ", s%u=%s", number, scalar->host);
        }
    }
    number = 0;
    for (const struct ofl_kernel_reduction *item = kernel->reductions; item != NULL; item = item->next) {
        number++;
        if (item->elements != NULL) {
            ofl_text_print(&call, ", n%u=%sn%u", number, p, number);
        }
    }
    ofl_line_add(place->lines, "%s)", call.bytes);
}

/* One call for each combination of what is missing. */
static void add_calls(struct place *place)
{
    const struct ofl_kernel *kernel = place->kernel;
    unsigned tests = 0;
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        tests += is_missing_test(object);
    }
    if (tests > most_missing) {
        ofl_diag_unsupported(place->rewriter->diagnostics, kernel->stmt->span,
                             "a loop on the device with more than %d arrays that may not be allocated", most_missing);
        return;
    }
    for (unsigned missing = 0; missing < 1u << tests; missing++) {
        struct ofl_text test = {.arena = place->rewriter->arena};
        unsigned number = 0, bit = 0;
        for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
            number++;
            if (is_missing_test(object)) {
                bool left_out = (missing >> bit & 1) != 0;
                ofl_text_print(&test, "%s%s%sm%u", bit++ == 0 ? "" : " .and. ", left_out ? ".not. " : "", place->p,
                               number);
            }
        }
        if (tests > 0) {
            ofl_line_add(place->lines, "%sif (%s) then", missing == 0 ? "" : "else ", test.bytes);
        }
        add_call(place, missing);
    }
    if (tests > 0) {
        ofl_line_add(place->lines, "end if");
    }
}

/* Whether one of its objects has to be there and may not be. */
static bool stops_where_missing(const struct ofl_kernel *kernel)
{
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        if (object->host != NULL && presence_function(object) != NULL && !is_missing_test(object)) {
            return true;
        }
    }
    return false;
}

static void add_declarations(struct place *place)
{
    struct ofl_lines *lines = place->lines;
    for (unsigned i = 0; i < place->kernel->index_count; i++) {
        add_index_declarations(place, &place->kernel->indices[i], i + 1);
    }
    add_object_declarations(place);
    ofl_line_add(lines, "integer(8) :: %sh", place->p);
    ofl_line_add(lines, "interface");
    ofl_launcher_add_begin_interface(lines, place->suffix);
    ofl_launcher_head(lines, place->kernel, place->suffix);
    ofl_line_add(lines, "end subroutine");
    ofl_hidden_add_interfaces(lines, place->kernel, place->suffix);
    if (place->kernel->status) {
        ofl_launcher_add_stop_interface(lines, place->suffix);
    }
    if (stops_where_missing(place->kernel)) {
        ofl_line_add(lines, "pure subroutine ofl_loops_missing(where, name) bind(c)");
        ofl_line_add(lines, "use, intrinsic :: iso_c_binding, only: c_char");
        ofl_line_add(lines, "character(kind=c_char), intent(in) :: where(*), name(*)");
        ofl_line_add(lines, "end subroutine");
    }
    ofl_line_add(lines, "end interface");
}

static void add_launch(struct place *place)
{
    const struct ofl_kernel *kernel = place->kernel;
    unsigned number = 0;
    ofl_line_add(place->lines, "block");
    add_declarations(place);
    add_limits(place);
    ofl_line_add(place->lines, "if (.not. (%s)) then", iterations_test(place));
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        add_object_tests(place, object, ++number);
    }
    number = 0;
    for (const struct ofl_kernel_reduction *item = kernel->reductions; item != NULL; item = item->next) {
        number++;
        if (item->elements != NULL) {
            ofl_line_add(place->lines, "%sn%u = %s", place->p, number, item->elements);
        }
    }
    require_intrinsic(place, "achar");
    ofl_line_add(place->lines, "call ofl_begin_%s(%sh)", place->suffix, place->p);
    ofl_hidden_add_calls(place->lines, kernel, place->suffix, ofl_arena_format(place->lines->arena, "%sh", place->p));
    add_calls(place);
    if (kernel->status) {
        ofl_line_add(place->lines, "if (%sh /= 0) call ofl_stop_%s(%sh)", place->p, place->suffix, place->p);
    }
    ofl_line_add(place->lines, "end if");
    ofl_line_add(place->lines, "end block");
}

/* CUDA has room for so many bytes of parameters (since version 12.1; 4096 before, which its compiler tells). */
enum { most_parameter_bytes = 32764 };

/* False after an error. */
static bool check_parameters(struct place *place)
{
    const struct ofl_kernel *kernel = place->kernel;
    size_t words = 8 + 3 * (size_t)kernel->index_count;
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        words += 1 + (object->bounds ? 3 : 1) * (size_t)object->rank;
    }
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        words += 2;
    }
    for (const struct ofl_kernel_reduction *item = kernel->reductions; item != NULL; item = item->next) {
        words++;
    }
    if (8 * words > most_parameter_bytes) {
        ofl_diag_unsupported(place->rewriter->diagnostics, kernel->stmt->span,
                             "a loop on the device with so many arrays and variables");
    }
    return 8 * words <= most_parameter_bytes;
}

/* Kernels and the run-time library know how gfortran describes an allocatable or pointer component.  False after an
 * error. */
static bool check_components(const struct place *place)
{
    bool good = true;
    for (const struct ofl_kernel_object *object = place->kernel->objects; object != NULL && good;
         object = object->next) {
        good = !place->rewriter->flang || object->components == NULL;
    }
    if (!good) {
        ofl_diag_unsupported(place->rewriter->diagnostics, place->kernel->stmt->span,
                             "a loop on the device that uses an allocatable or pointer component, compiled by flang");
    }
    return good;
}

void ofl_kernel_launch(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix)
{
    const struct ofl_stmt *stmt = kernel->stmt;
    struct ofl_lines lines = {.arena = rewriter->arena, .at = stmt->span.begin};
    struct place place = {rewriter, kernel, ofl_scope_of(stmt, kernel->unit), suffix, rewriter->prefix, &lines};
    if (!check_parameters(&place) || !check_components(&place)) {
        return;
    }
    if (stmt->label.value != 0) {
        ofl_line_add(&lines, "%u continue", stmt->label.value);
    }
    add_launch(&place);
    if (stmt->end_label.value != 0) {
        ofl_line_add(&lines, "%u continue", stmt->end_label.value);
    }
    ofl_rewrite_across(rewriter, ofl_stmt_begin(stmt), stmt->whole.end, &lines);
    ofl_hidden_append(rewriter, kernel, suffix);
}
