/* How much of an assumed-size array a loop touches.
 *
 * The last upper bound of such an array is known to nobody, and nothing behind its last element may be touched.  So it
 * is taken from the loop: the largest last subscript, where each subscript is a constant, or an index of the loop or of
 * a counting loop in it, plus or minus a constant.  Where every iteration comes to it whatever happens, the element is
 * there; else the run-time library looks how far the memory can be read (what is not the array's is
 * neither changed by the kernel nor written back).  With other subscripts the loop is refused.
 *
 * The bound is a text that the host evaluates when there are iterations, with the limits of the loop in its variables.
 */
#include "fortran/launch.h"

#include <inttypes.h>
#include <string.h>

enum { most_subscripts = 32 };

struct search {
    struct ofl_rewriter *rewriter;
    const struct ofl_kernel *kernel;
    const struct ofl_kernel_object *object;
    struct ofl_scope *scope;
    const char *upper[most_subscripts]; /* texts of the largest values of last subscripts */
    bool always[most_subscripts];       /* every iteration comes to it */
    unsigned count;
    const struct ofl_stmt *stmt; /* that is looked at */
    bool early;                  /* an iteration may have ended before it */
    bool failed;
    struct ofl_span span; /* what failed */
};

static void fail(struct search *search, struct ofl_span span)
{
    if (!search->failed) {
        search->span = span;
    }
    search->failed = true;
}

/* ---- The largest value of a subscript ---- */

static bool is_constant(const struct search *search, const struct ofl_expr *expr, int64_t *value)
{
    return ofl_constant_integer(search->rewriter->modules, search->scope, expr, value);
}

/* Plain variables that the loop does not write, and constants: what has one value before and during the loop. */
static bool is_invariant(const struct search *search, const struct ofl_expr *expr)
{
    int64_t value;
    if (expr == NULL || is_constant(search, expr, &value)) {
        return expr != NULL;
    }
    if (expr->kind == OFL_EXPR_NAME) {
        for (const struct ofl_kernel_scalar *scalar = search->kernel->scalars; scalar != NULL; scalar = scalar->next) {
            if (scalar->symbol != NULL && scalar->symbol->name == expr->as.name.name && scalar->host != NULL) {
                return true;
            }
        }
    }
    if (expr->kind == OFL_EXPR_BINARY && expr->as.operation.op != OFL_OPERATOR_DEFINED) {
        return is_invariant(search, expr->as.operation.left) && is_invariant(search, expr->as.operation.right);
    }
    return expr->kind == OFL_EXPR_PAREN && is_invariant(search, expr->as.operation.right);
}

/* The largest value of a counting loop's variable, if the loop runs. */
static const char *largest_of_do(const struct search *search, const struct ofl_loop *loop)
{
    int64_t step = 1;
    if (loop->step != NULL && !is_constant(search, loop->step, &step)) {
        return NULL;
    }
    const char *first = ofl_rewrite_flat(search->rewriter, loop->first->span);
    const char *last = ofl_rewrite_flat(search->rewriter, loop->last->span);
    struct ofl_arena *arena = search->rewriter->arena;
    return step < 0 ? ofl_arena_format(arena, "int(%s, 8)", first)
           : step == 1
               ? ofl_arena_format(arena, "int(%s, 8)", last)
               : ofl_arena_format(arena, "int((%s) - mod((%s) - (%s), %" PRId64 "), 8)", last, last, first, step);
}

/* Whether the counting loops around the statement run: a condition, "" where there are none, NULL if it is not known.
 */
static const char *loops_run(const struct search *search)
{
    struct ofl_text text = {.arena = search->rewriter->arena};
    ofl_text_add(&text, "", 0);
    for (const struct ofl_stmt *stmt = search->stmt; stmt != NULL && stmt != search->kernel->stmt;
         stmt = stmt->parent) {
        const struct ofl_loop *loop = &stmt->as.loop;
        int64_t step = 1;
        if (stmt->kind != OFL_STMT_DO || (stmt == search->stmt && loop->form == OFL_LOOP_COUNT)) {
            continue; /* its own limits are evaluated in any case */
        }
        if (loop->form != OFL_LOOP_COUNT || !is_invariant(search, loop->first) || !is_invariant(search, loop->last) ||
            (loop->step != NULL && !is_constant(search, loop->step, &step))) {
            return NULL;
        }
        ofl_text_print(&text, "%s(%s) %s (%s)", text.length == 0 ? "" : " .and. ",
                       ofl_rewrite_flat(search->rewriter, loop->first->span),
                       step < 0 ? ">=" : "<=", ofl_rewrite_flat(search->rewriter, loop->last->span));
    }
    return text.bytes;
}

static const char *largest_of_index(const struct search *search, const struct ofl_name *name)
{
    const char *p = search->rewriter->prefix;
    for (unsigned i = 0; i < search->kernel->index_count; i++) {
        if (search->kernel->indices[i].index->ident.name == name) {
            return ofl_arena_format(search->rewriter->arena, "max(%sf%u, %sl%u - mod(%sl%u - %sf%u, %st%u))", p, i + 1,
                                    p, i + 1, p, i + 1, p, i + 1, p, i + 1);
        }
    }
    for (const struct ofl_stmt *stmt = search->stmt; stmt != NULL && stmt != search->kernel->stmt;
         stmt = stmt->parent) {
        if (stmt->kind == OFL_STMT_DO && stmt->as.loop.form == OFL_LOOP_COUNT &&
            stmt->as.loop.variable->kind == OFL_EXPR_NAME && stmt->as.loop.variable->as.name.name == name) {
            return largest_of_do(search, &stmt->as.loop);
        }
    }
    return NULL;
}

/* subscript = constant | index | index ("+" | "-") constant | constant "+" index */
static const char *largest(const struct search *search, const struct ofl_expr *expr)
{
    struct ofl_arena *arena = search->rewriter->arena;
    int64_t value;
    if (is_constant(search, expr, &value)) {
        return ofl_arena_format(arena, "%" PRId64 "_8", value);
    }
    if (expr->kind == OFL_EXPR_NAME) {
        return largest_of_index(search, expr->as.name.name);
    }
    if (expr->kind != OFL_EXPR_BINARY ||
        (expr->as.operation.op != OFL_OPERATOR_ADD && expr->as.operation.op != OFL_OPERATOR_SUB)) {
        return NULL;
    }
    const struct ofl_expr *left = expr->as.operation.left, *right = expr->as.operation.right;
    bool minus = expr->as.operation.op == OFL_OPERATOR_SUB;
    if (!minus && is_constant(search, left, &value)) {
        left = expr->as.operation.right;
    } else if (!is_constant(search, right, &value)) {
        return NULL;
    }
    const char *index = left->kind == OFL_EXPR_NAME ? largest_of_index(search, left->as.name.name) : NULL;
    return index == NULL ? NULL : ofl_arena_format(arena, "%s + (%" PRId64 "_8)", index, minus ? -value : value);
}

/* ---- Where the array is ---- */

static bool has_logical_operation(const struct ofl_expr *expr)
{
    if (expr->kind == OFL_EXPR_BINARY || expr->kind == OFL_EXPR_UNARY || expr->kind == OFL_EXPR_PAREN) {
        enum ofl_operator op = expr->as.operation.op;
        bool logical = expr->kind == OFL_EXPR_BINARY && (op == OFL_OPERATOR_AND || op == OFL_OPERATOR_OR);
        return logical || (expr->kind == OFL_EXPR_BINARY && has_logical_operation(expr->as.operation.left)) ||
               has_logical_operation(expr->as.operation.right);
    }
    return false;
}

/* Whether the expression is evaluated whenever the statement is: of a branch, the first condition. */
static bool is_evaluated(const struct search *search, const struct ofl_expr *expr)
{
    const struct ofl_stmt *stmt = search->stmt;
    const struct ofl_expr *condition = stmt->kind == OFL_STMT_IF        ? stmt->as.arms.arms->condition
                                       : stmt->kind == OFL_STMT_IF_STMT ? stmt->as.guarded.condition
                                                                        : NULL;
    if (stmt->kind == OFL_STMT_IF || stmt->kind == OFL_STMT_IF_STMT) {
        return condition != NULL && expr->span.begin >= condition->span.begin &&
               expr->span.end <= condition->span.end && !has_logical_operation(condition);
    }
    return stmt->kind == OFL_STMT_ASSIGN || stmt->kind == OFL_STMT_CALL;
}

/* Whether every iteration comes to the expression if the counting loops around it run. */
static bool is_always(const struct search *search, const struct ofl_expr *expr)
{
    const struct ofl_stmt *stmt = search->stmt->parent;
    while (stmt != search->kernel->stmt && stmt != NULL && stmt->kind == OFL_STMT_DO &&
           stmt->as.loop.form == OFL_LOOP_COUNT) {
        stmt = stmt->parent;
    }
    return stmt == search->kernel->stmt && !search->early && is_evaluated(search, expr);
}

static void look_at_element(struct search *search, const struct ofl_expr *element)
{
    const struct ofl_arg *last = element->as.call.args;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    const char *upper = last == NULL || last->value == NULL ? NULL : largest(search, last->value);
    const char *guard = loops_run(search);
    if (upper == NULL || guard == NULL || search->count == most_subscripts) {
        fail(search, element->span);
        return;
    }
    if (*guard != '\0') {
        upper = ofl_arena_format(search->rewriter->arena, "merge(%s, -9223372036854775807_8, %s)", upper, guard);
    }
    for (unsigned i = 0; i < search->count; i++) {
        if (strcmp(search->upper[i], upper) == 0) {
            search->always[i] |= is_always(search, element);
            return;
        }
    }
    search->always[search->count] = is_always(search, element);
    search->upper[search->count++] = upper;
}

/* Whether the dummy argument that gets an element might reach behind it. */
static bool may_reach_further(const struct ofl_call *call, const struct ofl_expr *element)
{
    if (call == NULL || call->procedure == NULL || call->procedure->intrinsic != NULL) {
        return call == NULL;
    }
    for (unsigned i = 0; i < call->arg_count; i++) {
        if (call->args[i] == element) {
            const struct ofl_symbol *dummy =
                i < call->procedure->dummy_count ? call->procedure->dummies[i].symbol : NULL;
            return dummy == NULL || dummy->rank > 0;
        }
    }
    return false;
}

static bool names_object(const struct search *search, const struct ofl_expr *expr)
{
    return expr->kind == OFL_EXPR_NAME && expr->as.name.name == search->object->symbol->name;
}

static bool visit_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                       void *context)
{
    struct search *search = context;
    (void)scope;
    if (expr->kind == OFL_EXPR_CALL && names_object(search, expr->as.call.base)) {
        look_at_element(search, expr);
        for (const struct ofl_arg *arg = expr->as.call.args; arg != NULL; arg = arg->next) {
            const struct ofl_visitor visitor = {.expr = visit_expr, .context = search};
            if (arg->value != NULL) {
                ofl_visit_expr(search->rewriter->modules, search->scope, arg->value, &visitor);
            }
        }
        return false;
    }
    if (names_object(search, expr)) {
        fail(search, expr->span);
    }
    const struct ofl_call *call = meaning->call;
    for (unsigned i = 0; call != NULL && i < call->arg_count; i++) {
        const struct ofl_expr *arg = call->args[i];
        if (arg != NULL && arg->kind == OFL_EXPR_CALL && names_object(search, arg->as.call.base) &&
            may_reach_further(call, arg)) {
            fail(search, arg->span);
        }
    }
    return true;
}

static void visit_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context)
{
    struct search *search = context;
    (void)scope;
    for (unsigned i = 0; i < call->arg_count; i++) {
        const struct ofl_expr *arg = call->args[i];
        if (arg != NULL && arg->kind == OFL_EXPR_CALL && names_object(search, arg->as.call.base) &&
            may_reach_further(call, arg)) {
            fail(search, span);
        }
    }
}

static void visit_stmt(struct ofl_stmt *stmt, struct ofl_scope *scope, void *context)
{
    struct search *search = context;
    search->stmt = stmt;
    search->scope = scope;
}

/* A jump: what stands around it may be left out in an iteration. */
static bool find_jump(struct ofl_stmt *stmt, void *context)
{
    struct search *search = context;
    search->early |= stmt->kind == OFL_STMT_CYCLE || stmt->kind == OFL_STMT_EXIT || stmt->kind == OFL_STMT_GOTO ||
                     stmt->kind == OFL_STMT_COMPUTED_GOTO || stmt->kind == OFL_STMT_ARITHMETIC_IF;
    return true;
}

/* Whether a called procedure knows the array from its host. */
static void look_at_procedures(struct search *search)
{
    const struct ofl_reached *item =
        ofl_reached_from(search->rewriter->modules, search->kernel->unit, (struct ofl_stmt *)search->kernel->stmt);
    for (; item != NULL; item = item->next) {
        const struct ofl_unit *body = item->procedure->body;
        if (body != NULL && body->scope != NULL &&
            ofl_scope_find(body->scope, search->object->symbol->name) == search->object->symbol) {
            fail(search, item->reference);
        }
    }
}

bool ofl_is_assumed_size(const struct ofl_kernel_object *object)
{
    const struct ofl_bound *bound = object->symbol->bounds;
    while (bound != NULL && bound->next != NULL) {
        bound = bound->next;
    }
    return bound != NULL && bound->form == OFL_BOUND_STAR && object->symbol->storage == OFL_STORAGE_DUMMY;
}

const char *ofl_kernel_last_upper(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel,
                                  const struct ofl_kernel_object *object, bool *certain)
{
    struct search search = {.rewriter = rewriter,
                            .kernel = kernel,
                            .object = object,
                            .scope = ofl_scope_of(kernel->stmt, kernel->unit),
                            .stmt = kernel->stmt,
                            .early = kernel->stmt->as.loop.condition != NULL};
    const struct ofl_visitor visitor = {.expr = visit_expr, .call = visit_call, .stmt = visit_stmt, .context = &search};
    ofl_walk_stmts(&kernel->stmt->as.loop.body, find_jump, &search);
    ofl_visit_block(rewriter->modules, kernel->unit, &kernel->stmt->as.loop.body, &visitor);
    look_at_procedures(&search);
    struct ofl_text text = {.arena = rewriter->arena};
    *certain = true;
    for (unsigned i = 0; i < search.count; i++) {
        *certain &= search.always[i];
        ofl_text_print(&text, "%s%s", i == 0 ? "" : ", ", search.upper[i]);
    }
    if (search.failed || search.count == 0) {
        ofl_diag_unsupported(rewriter->diagnostics, search.failed ? search.span : kernel->stmt->span,
                             "'%s' in a loop on the device: its size is assumed, and how much of it the loop touches "
                             "cannot be told before",
                             object->symbol->name->text);
        return NULL;
    }
    return search.count == 1 ? text.bytes : ofl_arena_format(rewriter->arena, "max(%s)", text.bytes);
}
