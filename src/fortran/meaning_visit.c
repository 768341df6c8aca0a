/* Walking over what code evaluates: statements, their expressions, and the calls in them.
 *
 * Entry points: ofl_visit_block, ofl_visit_stmt, ofl_visit_expr.  Everything that is evaluated when the statements are
 * executed is visited, with the scope it stands in; what is below a constant expression or an unknown one is not. */
#include "fortran/meaning_private.h"

struct visit {
    struct ofl_modules *modules;
    const struct ofl_unit *unit;
    const struct ofl_visitor *visitor;
};

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

static void visit_expr(const struct visit *visit, struct ofl_scope *scope, const struct ofl_expr *expr);

static void visit_args(const struct visit *visit, struct ofl_scope *scope, const struct ofl_arg *arg)
{
    for (; arg != NULL; arg = arg->next) {
        visit_expr(visit, scope, arg->value);
    }
}

static void visit_implied_do(const struct visit *visit, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    visit_expr(visit, scope, expr->as.implied_do.first);
    visit_expr(visit, scope, expr->as.implied_do.last);
    visit_expr(visit, scope, expr->as.implied_do.step);
    visit_args(visit, ofl_implied_do_scope(visit->modules, scope, expr), expr->as.implied_do.items);
}

/* The object of base%name in a call, whether it is passed or not. */
static void visit_object(const struct visit *visit, struct ofl_scope *scope, const struct ofl_expr *designator)
{
    if (designator->kind == OFL_EXPR_COMPONENT) {
        visit_expr(visit, scope, designator->as.component.base);
    }
}

static void visit_operands(const struct visit *visit, struct ofl_scope *scope, const struct ofl_expr *expr,
                           const struct ofl_meaning *meaning)
{
    switch (expr->kind) {
    case OFL_EXPR_CALL:
        if (meaning->kind == OFL_MEANS_FUNCTION) {
            visit_object(visit, scope, expr->as.call.base);
        } else if (meaning->kind != OFL_MEANS_STRUCTURE && meaning->kind != OFL_MEANS_TYPELESS) {
            visit_expr(visit, scope, expr->as.call.base);
        }
        visit_args(visit, scope, expr->as.call.args);
        break;
    case OFL_EXPR_COMPONENT:
        visit_expr(visit, scope, expr->as.component.base);
        break;
    case OFL_EXPR_BINARY:
        visit_expr(visit, scope, expr->as.operation.left);
        visit_expr(visit, scope, expr->as.operation.right);
        break;
    case OFL_EXPR_UNARY:
    case OFL_EXPR_PAREN:
        visit_expr(visit, scope, expr->as.operation.right);
        break;
    case OFL_EXPR_COMPLEX:
        visit_expr(visit, scope, expr->as.complex.re);
        visit_expr(visit, scope, expr->as.complex.im);
        break;
    case OFL_EXPR_ARRAY:
        visit_args(visit, scope, expr->as.array.items);
        break;
    case OFL_EXPR_RANGE:
        visit_expr(visit, scope, expr->as.range.lower);
        visit_expr(visit, scope, expr->as.range.upper);
        visit_expr(visit, scope, expr->as.range.step);
        break;
    case OFL_EXPR_PERCENT:
        visit_expr(visit, scope, expr->as.percent.value);
        break;
    default:
        break;
    }
}

static void visit_expr(const struct visit *visit, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    if (expr == NULL) {
        return;
    }
    if (expr->kind == OFL_EXPR_IMPLIED_DO) {
        visit_implied_do(visit, scope, expr);
        return;
    }
    const struct ofl_meaning *meaning = ofl_meaning_of(visit->modules, scope, expr);
    bool below = visit->visitor->expr == NULL || visit->visitor->expr(expr, meaning, scope, visit->visitor->context);
    if (!below || meaning->kind == OFL_MEANS_UNKNOWN || (meaning->constant && meaning->kind != OFL_MEANS_RANGE)) {
        return;
    }
    visit_operands(visit, scope, expr, meaning);
    if (meaning->call != NULL && visit->visitor->call != NULL) {
        visit->visitor->call(meaning->call, expr->span, scope, visit->visitor->context);
    }
}

void ofl_visit_expr(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr,
                    const struct ofl_visitor *visitor)
{
    const struct visit visit = {modules, NULL, visitor};
    visit_expr(&visit, scope, expr);
}

/* ---- Declarations ----------------------------------------------------------------------------------------------- */

static void visit_bounds(const struct visit *visit, struct ofl_scope *scope, const struct ofl_bound *bound)
{
    for (; bound != NULL; bound = bound->next) {
        visit_expr(visit, scope, bound->lower);
        visit_expr(visit, scope, bound->upper);
    }
}

static void visit_length(const struct visit *visit, struct ofl_scope *scope, const struct ofl_expr *length)
{
    if (length != NULL && length->kind != OFL_EXPR_STAR && length->kind != OFL_EXPR_DEFERRED) {
        visit_expr(visit, scope, length);
    }
}

/* Specification expressions: evaluated when the procedure or block is entered. */
static void visit_declaration(const struct visit *visit, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    if (stmt->as.decl.type != NULL) {
        visit_length(visit, scope, stmt->as.decl.type->length);
    }
    for (const struct ofl_attr *attr = stmt->as.decl.attrs; attr != NULL; attr = attr->next) {
        visit_bounds(visit, scope, attr->bounds);
    }
    for (const struct ofl_entity *entity = stmt->as.decl.entities; entity != NULL; entity = entity->next) {
        visit_bounds(visit, scope, entity->bounds);
        visit_length(visit, scope, entity->length);
    }
}

/* ---- Statements ------------------------------------------------------------------------------------------------- */

static void visit_loop(const struct visit *visit, struct ofl_scope *scope, const struct ofl_loop *loop)
{
    visit_expr(visit, scope, loop->variable);
    visit_expr(visit, scope, loop->first);
    visit_expr(visit, scope, loop->last);
    visit_expr(visit, scope, loop->step);
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        visit_expr(visit, scope, index->lower);
        visit_expr(visit, scope, index->upper);
        visit_expr(visit, scope, index->step);
    }
    visit_expr(visit, loop->scope != NULL ? loop->scope : scope, loop->condition);
}

static void visit_arms(const struct visit *visit, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    visit_expr(visit, scope, stmt->as.arms.selector.selector);
    for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
        if (arm->condition != NULL && arm->condition->kind != OFL_EXPR_STAR) {
            visit_expr(visit, scope, arm->condition);
        }
        visit_args(visit, scope, arm->values);
    }
}

static void visit_action(const struct visit *visit, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    const struct ofl_action *action = ofl_action_of(visit->modules, scope, stmt);
    if (action->call != NULL && visit->visitor->call != NULL) {
        visit->visitor->call(action->call, stmt->span, scope, visit->visitor->context);
    }
}

static void visit_own(const struct visit *visit, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
        visit_expr(visit, scope, stmt->as.assign.target);
        visit_expr(visit, scope, stmt->as.assign.value);
        visit_action(visit, scope, stmt);
        break;
    case OFL_STMT_POINTER_ASSIGN:
        visit_expr(visit, scope, stmt->as.assign.target);
        visit_expr(visit, scope, stmt->as.assign.value);
        break;
    case OFL_STMT_CALL:
        visit_object(visit, scope, stmt->as.call.designator);
        visit_args(visit, scope, stmt->as.call.args);
        visit_action(visit, scope, stmt);
        break;
    case OFL_STMT_IF_STMT:
    case OFL_STMT_WHERE_STMT:
        visit_expr(visit, scope, stmt->as.guarded.condition);
        break;
    case OFL_STMT_IF:
    case OFL_STMT_WHERE:
    case OFL_STMT_SELECT_CASE:
    case OFL_STMT_SELECT_TYPE:
    case OFL_STMT_SELECT_RANK:
        visit_arms(visit, scope, stmt);
        break;
    case OFL_STMT_DO:
    case OFL_STMT_FORALL:
    case OFL_STMT_FORALL_STMT:
        visit_loop(visit, scope, &stmt->as.loop);
        break;
    case OFL_STMT_ASSOCIATE:
        for (const struct ofl_association *item = stmt->as.block.associations; item != NULL; item = item->next) {
            visit_expr(visit, scope, item->selector);
        }
        break;
    case OFL_STMT_COMPUTED_GOTO:
    case OFL_STMT_ARITHMETIC_IF:
        visit_expr(visit, scope, stmt->as.jump.selector);
        break;
    case OFL_STMT_STOP:
    case OFL_STMT_ERROR_STOP:
    case OFL_STMT_RETURN:
        visit_expr(visit, scope, stmt->as.stop.code);
        visit_expr(visit, scope, stmt->as.stop.quiet);
        break;
    case OFL_STMT_ALLOCATE:
        visit_length(visit, scope, stmt->as.args.type != NULL ? stmt->as.args.type->length : NULL);
        visit_args(visit, scope, stmt->as.args.controls);
        visit_args(visit, scope, stmt->as.args.items);
        break;
    case OFL_STMT_DEALLOCATE:
    case OFL_STMT_NULLIFY:
    case OFL_STMT_READ:
    case OFL_STMT_WRITE:
    case OFL_STMT_PRINT:
        visit_args(visit, scope, stmt->as.args.controls);
        visit_args(visit, scope, stmt->as.args.items);
        break;
    case OFL_STMT_TYPE_DECL:
    case OFL_STMT_ATTRIBUTE:
        visit_declaration(visit, scope, stmt);
        break;
    default:
        break;
    }
}

void ofl_visit_own(struct ofl_modules *modules, struct ofl_scope *scope, struct ofl_stmt *stmt,
                   const struct ofl_visitor *visitor)
{
    const struct visit visit = {modules, NULL, visitor};
    visit_own(&visit, scope, stmt);
}

static bool visit_stmt(struct ofl_stmt *stmt, void *context)
{
    const struct visit *visit = context;
    struct ofl_scope *scope = ofl_scope_of(stmt, visit->unit);
    if (visit->visitor->stmt != NULL) {
        visit->visitor->stmt(stmt, scope, visit->visitor->context);
    }
    visit_own(visit, scope, stmt);
    return stmt->kind != OFL_STMT_DERIVED_TYPE && stmt->kind != OFL_STMT_STRUCTURE &&
           stmt->kind != OFL_STMT_INTERFACE && stmt->kind != OFL_STMT_ENUM;
}

void ofl_visit_block(struct ofl_modules *modules, const struct ofl_unit *unit, const struct ofl_block *block,
                     const struct ofl_visitor *visitor)
{
    struct visit visit = {modules, unit, visitor};
    ofl_walk_stmts(block, visit_stmt, &visit);
}

void ofl_visit_stmt(struct ofl_modules *modules, const struct ofl_unit *unit, struct ofl_stmt *stmt,
                    const struct ofl_visitor *visitor)
{
    struct visit visit = {modules, unit, visitor};
    ofl_walk_stmt(stmt, visit_stmt, &visit);
}
