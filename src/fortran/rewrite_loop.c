/* One do concurrent as nested do loops on the CPU.
 *
 *     do concurrent (i = f(1):n, j = 1:m, mask(i, j)) local(t)      block
 *        ...                                                          integer, parameter :: ofl_k1 = kind(i), ...
 *     end do                                                          integer(ofl_k1) :: ofl_first1, ofl_last1
 *                                                                     ofl_first1 = f(1); ...
 *                                                                     block
 *                                                                       integer(ofl_k1) :: i; ...; real(ofl_kt) :: t
 *                                                                       do j = 1, ofl_last2
 *                                                                       do i = ofl_first1, ofl_last1
 *                                                                       if (.not. (mask(i, j))) cycle
 *                                                                       ...
 *                                                                     end do; end do; end block; end block
 *
 * The outer block still sees the names as they are outside: limits, bounds and lengths are evaluated there, once and
 * in this order.  The inner block declares what belongs to the construct.  The construct's name goes to the innermost
 * loop, so that `cycle` means an iteration.  The first index runs fastest.
 *
 * A mask is evaluated for all iterations before the first of them starts (Fortran 2018, 11.1.7.4.2), in an array of
 * one byte an iteration; where the body cannot change what the mask reads, it is evaluated at each iteration instead.
 *
 * Inserted statements ask for kinds, lengths and bounds with `kind`, `len`, `lbound` and `ubound`, and in other ways
 * where the program has given these names a meaning of its own. */
#include "fortran/rewrite.h"

#include <string.h>
#include <strings.h>

/* How one index runs: the texts of its limits, `i = first, last, step`, and what has to follow the loop statement. */
struct control {
    const char *first, *last, *step, *text, *then;
};

struct loop {
    struct ofl_rewriter *rewriter;
    const struct ofl_stmt *stmt;
    const struct ofl_loop *loop;
    struct ofl_scope *scope;
    const char *p; /* the prefix */
    bool stored_mask;
    bool inner_block; /* a local of derived type: default initialisation in each iteration */
    struct ofl_lines outer, set, inner,
        start;              /* declarations, their values, inner declarations, start of an iteration */
    struct ofl_lines fresh; /* declarations in a block of the iteration */
};

static const char *flat(const struct loop *loop, struct ofl_span span)
{
    return ofl_rewrite_flat(loop->rewriter, span);
}

/* ---- What may be written as it is ---- */

static bool is_literal(const struct ofl_expr *expr)
{
    if (expr->kind == OFL_EXPR_UNARY) {
        expr = expr->as.operation.right;
    }
    return expr->kind == OFL_EXPR_INTEGER;
}

/* Whether an intrinsic function's name means that function around the loop. */
static bool means_itself(const struct loop *loop, const char *name)
{
    const struct ofl_name *interned = ofl_name_of(loop->rewriter->arena, name, strlen(name));
    const struct ofl_symbol *symbol = ofl_scope_find(loop->scope, interned);
    return symbol == NULL || OFL_HAS(symbol, INTRINSIC);
}

/* The kind of a variable as the outer block writes it. */
static const char *kind_text(const struct loop *loop, const char *variable)
{
    return ofl_arena_format(loop->rewriter->arena, means_itself(loop, "kind") ? "kind(%s)" : "%s%%kind", variable);
}

/* ---- Indices ---- */

/* The limit as the loop statement names it: a literal itself, else a variable that gets its value in the outer block.
 */
static const char *limit_name(struct loop *loop, const struct ofl_expr *expr, const char *what, unsigned number)
{
    if (is_literal(expr)) {
        return flat(loop, expr->span);
    }
    const char *name = ofl_arena_format(loop->rewriter->arena, "%s%s%u", loop->p, what, number);
    loop->outer.at = loop->set.at = expr->span.begin;
    ofl_line_add(&loop->outer, "integer(%sk%u) :: %s", loop->p, number, name);
    ofl_line_add(&loop->set, "%s = %s", name, flat(loop, expr->span));
    return name;
}

/* Whether a do loop would step beyond the largest or smallest number of its index, as the constants tell: compilers
 * rely on it that this does not happen.  Iterations of do concurrent have no next one.  *kind: of a wider index. */
static bool is_extreme(const struct loop *loop, const struct ofl_index *index, int *kind)
{
    const struct ofl_modules *modules = loop->rewriter->modules;
    int64_t last, step = 1;
    if (!ofl_constant_integer(modules, loop->scope, index->upper, &last)) {
        return false;
    }
    bool known = index->step == NULL || ofl_constant_integer(modules, loop->scope, index->step, &step);
    for (int bits = 8; bits <= 64; bits *= 2) {
        int64_t largest = INT64_MAX >> (64 - bits);
        bool up = last <= largest && (!known || step > 0) && last > largest - (known ? step : 1);
        bool down = last >= -largest - 1 && (!known || step < 0) && last < -largest - 1 - (known ? step : -1);
        if (up || down) {
            *kind = bits < 64 ? 8 : 16;
            return true;
        }
    }
    return false;
}

static struct control index_control(struct loop *loop, const struct ofl_index *index, unsigned number)
{
    struct ofl_arena *arena = loop->rewriter->arena;
    const char *name = index->ident.name->text;
    struct control control = {.step = "1"};
    loop->outer.at = loop->inner.at = index->span.begin;
    if (loop->loop->index_type != NULL) {
        const char *type = flat(loop, loop->loop->index_type->span);
        const char *sample = ofl_arena_format(arena, "%sz%u", loop->p, number);
        ofl_line_add(&loop->outer, "%s, parameter :: %s = 0", type, sample);
        ofl_line_add(&loop->outer, "integer, parameter :: %sk%u = %s", loop->p, number, kind_text(loop, sample));
    } else {
        ofl_line_add(&loop->outer, "integer, parameter :: %sk%u = %s", loop->p, number, kind_text(loop, name));
    }
    ofl_line_add(&loop->inner, "integer(%sk%u) :: %s", loop->p, number, name);
    control.first = limit_name(loop, index->lower, "first", number);
    control.last = limit_name(loop, index->upper, "last", number);
    const char *runs = name;
    int kind;
    if (is_extreme(loop, index, &kind)) {
        runs = ofl_arena_format(arena, "%sw%u", loop->p, number);
        ofl_line_add(&loop->inner, "integer(%d) :: %s", kind, runs);
        control.then = ofl_arena_format(arena, "%s = %s", name, runs);
    }
    control.text = ofl_arena_format(arena, "%s = %s, %s", runs, control.first, control.last);
    if (index->step != NULL) {
        control.step = limit_name(loop, index->step, "step", number);
        control.text = ofl_arena_format(arena, "%s, %s", control.text, control.step);
    }
    return control;
}

/* ---- Locality ---- */

static const char *type_word(enum ofl_type_kind kind)
{
    switch (kind) {
    case OFL_TYPE_INTEGER:
        return "integer";
    case OFL_TYPE_REAL:
        return "real";
    case OFL_TYPE_COMPLEX:
        return "complex";
    case OFL_TYPE_LOGICAL:
        return "logical";
    case OFL_TYPE_CHARACTER:
        return "character";
    default:
        return NULL;
    }
}

/* The type of a construct entity as a declaration writes it; what it depends on is computed in the outer block. */
static const char *type_text(struct loop *loop, const struct ofl_symbol *symbol)
{
    struct ofl_arena *arena = loop->rewriter->arena;
    const char *name = symbol->name->text, *p = loop->p;
    const struct ofl_type *type = &symbol->type;
    if (type_word(type->kind_of) == NULL) {
        return type->spec == NULL ? NULL : flat(loop, type->spec->span);
    }
    ofl_line_add(&loop->outer, "integer, parameter :: %sk_%s = %s", p, name, kind_text(loop, name));
    if (type->kind_of != OFL_TYPE_CHARACTER) {
        return ofl_arena_format(arena, "%s(%sk_%s)", type_word(type->kind_of), p, name);
    }
    if (type->length == NULL || type->length->kind == OFL_EXPR_INTEGER) {
        return ofl_arena_format(arena, "character(kind=%sk_%s, len=%s)", p, name,
                                type->length == NULL ? "1" : flat(loop, type->length->span));
    }
    if (type->length->kind == OFL_EXPR_DEFERRED) {
        return ofl_arena_format(arena, "character(kind=%sk_%s, len=:)", p, name);
    }
    ofl_line_add(&loop->outer, "integer :: %sl_%s", p, name);
    ofl_line_add(&loop->set, means_itself(loop, "len") ? "%sl_%s = len(%s)" : "%sl_%s = %s%%len", p, name, name);
    return ofl_arena_format(arena, "character(kind=%sk_%s, len=%sl_%s)", p, name, p, name);
}

static bool is_literal_bound(const struct ofl_bound *bound)
{
    return bound->form == OFL_BOUND_EXPLICIT && is_literal(bound->upper) &&
           (bound->lower == NULL || is_literal(bound->lower));
}

/* Declares two variables of the outer block and gives them a dimension's bounds.  Where the program has names of its
 * own for the inquiry functions, an inner block makes them intrinsic, and the variable, which could have such a name,
 * gets another one. */
static void add_bounds(struct loop *loop, const char *name, unsigned dimension)
{
    const char *p = loop->p, *variable = name;
    bool own = !means_itself(loop, "lbound") || !means_itself(loop, "ubound");
    ofl_line_add(&loop->outer, "integer(8) :: %sb%u_%s, %se%u_%s", p, dimension, name, p, dimension, name);
    if (own) {
        variable = ofl_arena_format(loop->rewriter->arena, "%sv_%s", p, name);
        ofl_line_add(&loop->set, "associate (%s => %s)", variable, name);
        ofl_line_add(&loop->set, "block");
        ofl_line_add(&loop->set, "intrinsic :: lbound, ubound");
    }
    ofl_line_add(&loop->set, "%sb%u_%s = lbound(%s, %u)", p, dimension, name, variable, dimension);
    ofl_line_add(&loop->set, "%se%u_%s = ubound(%s, %u)", p, dimension, name, variable, dimension);
    if (own) {
        ofl_line_add(&loop->set, "end block");
        ofl_line_add(&loop->set, "end associate");
    }
}

/* `(1:n, 0:m)` of a construct entity, or "". */
static const char *bounds_text(struct loop *loop, const struct ofl_symbol *symbol)
{
    struct ofl_text text = {.arena = loop->rewriter->arena};
    const char *name = symbol->name->text, *p = loop->p;
    const struct ofl_bound *bound = symbol->bounds;
    ofl_text_add(&text, "", 0);
    for (unsigned dimension = 1; dimension <= symbol->rank; dimension++, bound = bound == NULL ? NULL : bound->next) {
        ofl_text_print(&text, dimension == 1 ? "(" : ", ");
        if (OFL_HAS(symbol, POINTER)) {
            ofl_text_print(&text, ":");
        } else if (bound != NULL && is_literal_bound(bound)) {
            ofl_text_print(&text, "%s", flat(loop, bound->span));
        } else {
            add_bounds(loop, name, dimension);
            ofl_text_print(&text, "%sb%u_%s:%se%u_%s", p, dimension, name, p, dimension, name);
        }
    }
    ofl_text_print(&text, symbol->rank > 0 ? ")" : "");
    return text.bytes;
}

/* Attributes that a construct entity shares with the variable outside. */
static const char *attributes_text(const struct ofl_symbol *symbol, struct ofl_arena *arena)
{
    struct ofl_text text = {.arena = arena};
    ofl_text_add(&text, "", 0);
    if (OFL_HAS(symbol, POINTER)) {
        ofl_text_print(&text, ", pointer");
    }
    if (OFL_HAS(symbol, TARGET)) {
        ofl_text_print(&text, ", target");
    }
    if (OFL_HAS(symbol, VOLATILE)) {
        ofl_text_print(&text, ", volatile");
    }
    if (OFL_HAS(symbol, ASYNCHRONOUS)) {
        ofl_text_print(&text, ", asynchronous");
    }
    if (OFL_HAS(symbol, CONTIGUOUS) && OFL_HAS(symbol, POINTER)) {
        ofl_text_print(&text, ", contiguous");
    }
    return text.bytes;
}

/* The variable outside that a clause names, or NULL after an error. */
static const struct ofl_symbol *local_symbol(struct loop *loop, const struct ofl_ident *ident, const char *clause)
{
    struct ofl_diagnostics *diagnostics = loop->rewriter->diagnostics;
    const struct ofl_symbol *symbol = ofl_scope_find_or_implicit(loop->rewriter->modules, loop->scope, ident);
    if (symbol == NULL || !symbol->typed) {
        ofl_diag_unsupported(diagnostics, ident->span,
                             "%s of '%s', whose declaration is not in this file: the loop needs its type", clause,
                             ident->name->text);
        return NULL;
    }
    return symbol;
}

static void add_local(struct loop *loop, const struct ofl_ident *ident, bool initialised)
{
    const struct ofl_symbol *symbol = local_symbol(loop, ident, initialised ? "local_init" : "local");
    if (symbol == NULL) {
        return;
    }
    const char *name = ident->name->text;
    loop->outer.at = loop->set.at = loop->inner.at = loop->start.at = loop->fresh.at = ident->span.begin;
    const char *type = type_text(loop, symbol);
    if (type == NULL) {
        ofl_diag_unsupported(loop->rewriter->diagnostics, ident->span, "a local variable of this type");
        return;
    }
    const char *attributes = attributes_text(symbol, loop->rewriter->arena);
    const char *bounds = bounds_text(loop, symbol);
    bool derived = type_word(symbol->type.kind_of) == NULL && !OFL_HAS(symbol, POINTER);
    loop->inner_block |= derived;
    ofl_line_add(derived ? &loop->fresh : &loop->inner, "%s%s :: %s%s", type, attributes, name, bounds);
    if (initialised) {
        const char *assign = OFL_HAS(symbol, POINTER) ? "=>" : "=";
        /* The inner block hides the variable outside: a second name for it, see initial_values. */
        ofl_line_add(&loop->start, "%s %s %si_%s", name, assign, loop->p, name);
        if (OFL_HAS(symbol, POINTER)) {
            ofl_line_add(&loop->outer, "%s%s :: %si_%s%s", type, attributes, loop->p, name, bounds);
            ofl_line_add(&loop->set, "%si_%s => %s", loop->p, name, name);
        }
    }
}

static void add_localities(struct loop *loop)
{
    for (const struct ofl_locality *clause = loop->loop->localities; clause != NULL; clause = clause->next) {
        if (clause->kind == OFL_LOCALITY_LOCAL || clause->kind == OFL_LOCALITY_LOCAL_INIT) {
            for (const struct ofl_ident_list *name = clause->names; name != NULL; name = name->next) {
                add_local(loop, &name->ident, clause->kind == OFL_LOCALITY_LOCAL_INIT);
            }
        }
    }
}

/* `ofl_i_x => x, ...`: the values of local_init variables that are not pointers, or "". */
static const char *initial_values(const struct loop *loop)
{
    struct ofl_text text = {.arena = loop->rewriter->arena};
    ofl_text_add(&text, "", 0);
    for (const struct ofl_locality *clause = loop->loop->localities; clause != NULL; clause = clause->next) {
        if (clause->kind != OFL_LOCALITY_LOCAL_INIT) {
            continue;
        }
        for (const struct ofl_ident_list *name = clause->names; name != NULL; name = name->next) {
            const struct ofl_symbol *symbol =
                ofl_scope_find_or_implicit(loop->rewriter->modules, loop->scope, &name->ident);
            if (symbol != NULL && !OFL_HAS(symbol, POINTER)) {
                ofl_text_print(&text, "%s%si_%s => %s", text.length > 0 ? ", " : "", loop->p, name->ident.name->text,
                               name->ident.name->text);
            }
        }
    }
    return text.bytes;
}

/* ---- Putting it together ---- */

/* The loop statements from the last index, which runs slowest, to the first; the name goes to the innermost. */
static void add_do_statements(struct ofl_lines *lines, const struct control *controls, unsigned count, const char *name)
{
    for (unsigned number = count; number > 0; number--) {
        bool named = number == 1 && name != NULL;
        ofl_line_add(lines, "%s%sdo %s", named ? name : "", named ? ": " : "", controls[number - 1].text);
        if (controls[number - 1].then != NULL) {
            ofl_line_add(lines, "%s", controls[number - 1].then);
        }
    }
}

/* Evaluates the mask for all iterations. */
static void add_mask_pass(struct loop *loop, struct ofl_lines *lines, const struct control *controls, unsigned count)
{
    const char *p = loop->p;
    ofl_line_add(lines, "%sat = 0", p);
    add_do_statements(lines, controls, count, NULL);
    ofl_line_add(lines, "%sat = %sat + 1", p, p);
    ofl_line_add(lines, "%smask(%sat) = %s", p, p, flat(loop, loop->loop->condition->span));
    for (unsigned number = 0; number < count; number++) {
        ofl_line_add(lines, "end do");
    }
    ofl_line_add(lines, "%sat = 0", p);
}

/* The number of iterations, without functions that the program could have renamed. */
static void add_mask_allocation(struct loop *loop, const struct control *controls, unsigned count)
{
    const char *p = loop->p;
    loop->outer.at = loop->set.at = loop->loop->condition->span.begin;
    ofl_line_add(&loop->outer, "integer(8) :: %sat, %scount, %strips", p, p, p);
    ofl_line_add(&loop->outer, "logical(1), allocatable :: %smask(:)", p);
    ofl_line_add(&loop->set, "%scount = 1", p);
    for (unsigned number = 0; number < count; number++) {
        const struct control *control = &controls[number];
        ofl_line_add(&loop->set, "%strips = %s", p, control->last);
        ofl_line_add(&loop->set, "%strips = (%strips - (%s) + (%s))/(%s)", p, p, control->first, control->step,
                     control->step);
        ofl_line_add(&loop->set, "if (%strips < 0) %strips = 0", p, p);
        ofl_line_add(&loop->set, "%scount = %scount*%strips", p, p, p);
    }
    ofl_line_add(&loop->set, "allocate(%smask(%scount))", p, p);
}

static void append(struct ofl_lines *to, const struct ofl_lines *from)
{
    if (from->first == NULL) {
        return;
    }
    if (to->last == NULL) {
        to->first = from->first;
    } else {
        to->last->next = from->first;
    }
    to->last = from->last;
}

static bool is_end_do(const struct loop *loop)
{
    const char *text = flat(loop, loop->stmt->end);
    for (const char *letter = "enddo"; *letter != '\0'; letter++) {
        text += strspn(text, " \t"); /* which may be anywhere in fixed form */
        if ((*text++ | 0x20) != *letter) {
            return false;
        }
    }
    return strchr(text, '=') == NULL;
}

static void add_end(struct loop *loop, unsigned count, bool associates)
{
    const struct ofl_stmt *stmt = loop->stmt;
    struct ofl_lines lines = {.arena = loop->rewriter->arena, .at = stmt->end.begin};
    bool closed = is_end_do(loop);
    if (loop->inner_block && !closed) {
        ofl_line_add(&lines, "end block");
    }
    if (!closed) {
        ofl_line_add(&lines, "end do");
    }
    for (unsigned number = 1; number < count; number++) {
        ofl_line_add(&lines, "end do");
    }
    if (loop->stored_mask) {
        ofl_line_add(&lines, "deallocate(%smask)", loop->p);
    }
    ofl_line_add(&lines, "end block");
    if (associates) {
        ofl_line_add(&lines, "end associate");
    }
    ofl_line_add(&lines, "end block");
    if (loop->inner_block && closed) {
        struct ofl_lines before = {.arena = loop->rewriter->arena, .at = stmt->end.begin};
        ofl_pos begin = stmt->end_label.value != 0 ? stmt->end_label.span.begin : stmt->end.begin;
        ofl_line_add(&before, "end block");
        ofl_rewrite_until(loop->rewriter, begin, begin, &before);
    }
    ofl_rewrite_edit(loop->rewriter, stmt->end.end, stmt->end.end, &lines);
}

/* Repeats the directives before the innermost loop. */
static void add_directives(const struct loop *loop, struct ofl_lines *lines, const struct ofl_stmt *directives)
{
    const struct ofl_rewriter *rewriter = loop->rewriter;
    for (const struct ofl_stmt *stmt = directives; stmt != NULL && stmt != loop->stmt; stmt = stmt->next) {
        size_t length;
        const char *text = ofl_span_text(rewriter->sources, stmt->span, &length);
        lines->at = stmt->span.begin;
        ofl_line_add(lines, "!%.*s", (int)length - 1, text + 1);
    }
    lines->at = loop->stmt->span.begin;
}

void ofl_rewrite_on_host(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt, const struct ofl_unit *unit,
                         const struct ofl_stmt *directives)
{
    const struct ofl_loop *do_loop = &stmt->as.loop;
    struct loop loop = {.rewriter = rewriter, .stmt = stmt, .loop = do_loop, .p = rewriter->prefix};
    loop.scope = ofl_scope_of(stmt, unit);
    loop.outer.arena = loop.set.arena = loop.inner.arena = loop.start.arena = loop.fresh.arena = rewriter->arena;
    loop.stored_mask = do_loop->condition != NULL && !ofl_mask_is_stable(do_loop, loop.scope);

    unsigned count = 0;
    for (const struct ofl_index *index = do_loop->indices; index != NULL; index = index->next) {
        count++;
    }
    struct control *controls = ofl_arena_alloc(rewriter->arena, count * sizeof *controls);
    unsigned number = 0;
    for (const struct ofl_index *index = do_loop->indices; index != NULL; index = index->next, number++) {
        controls[number] = index_control(&loop, index, number + 1);
    }
    add_localities(&loop);
    if (loop.stored_mask) {
        add_mask_allocation(&loop, controls, count);
    }
    const char *associations = initial_values(&loop);

    struct ofl_lines lines = {.arena = rewriter->arena, .at = stmt->span.begin};
    if (stmt->label.value != 0) {
        ofl_line_add(&lines, "%u continue", stmt->label.value);
    }
    ofl_line_add(&lines, "block");
    append(&lines, &loop.outer);
    append(&lines, &loop.set);
    lines.at = stmt->span.begin;
    if (*associations != '\0') {
        ofl_line_add(&lines, "associate (%s)", associations);
    }
    ofl_line_add(&lines, "block");
    append(&lines, &loop.inner);
    if (loop.stored_mask) {
        add_mask_pass(&loop, &lines, controls, count);
    }
    add_do_statements(&lines, controls + 1, count - 1, NULL);
    add_directives(&loop, &lines, directives);
    add_do_statements(&lines, controls, 1, stmt->construct.name == NULL ? NULL : stmt->construct.name->text);
    if (loop.stored_mask) {
        ofl_line_add(&lines, "%sat = %sat + 1", loop.p, loop.p);
        ofl_line_add(&lines, "if (.not. %smask(%sat)) cycle", loop.p, loop.p);
    } else if (do_loop->condition != NULL) {
        ofl_line_add(&lines, "if (.not. (%s)) cycle", flat(&loop, do_loop->condition->span));
    }
    if (loop.inner_block) {
        ofl_line_add(&lines, "block");
        append(&lines, &loop.fresh);
    }
    append(&lines, &loop.start);
    ofl_rewrite_edit(rewriter, ofl_stmt_begin(stmt), stmt->span.end, &lines);
    ofl_rewrite_terminal_inside(rewriter, stmt);
    add_end(&loop, count, *associations != '\0');
    ofl_rewrite_terminal_around(rewriter, stmt);
}
