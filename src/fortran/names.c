/* Walking over names; see names.h. */
#include "fortran/names.h"

struct walk {
    void (*visit)(const struct ofl_expr *name, void *context);
    void *context;
};

static void walk_expr(const struct walk *walk, const struct ofl_expr *expr);

static void walk_args(const struct walk *walk, const struct ofl_arg *arg)
{
    for (; arg != NULL; arg = arg->next) {
        walk_expr(walk, arg->value);
    }
}

static void walk_expr(const struct walk *walk, const struct ofl_expr *expr)
{
    if (expr == NULL) {
        return;
    }
    switch (expr->kind) {
    case OFL_EXPR_NAME:
        walk->visit(expr, walk->context);
        break;
    case OFL_EXPR_CALL:
    case OFL_EXPR_COINDEX:
        walk_expr(walk, expr->as.call.base);
        walk_args(walk, expr->as.call.args);
        break;
    case OFL_EXPR_COMPONENT:
        walk_expr(walk, expr->as.component.base);
        break;
    case OFL_EXPR_COMPLEX:
        walk_expr(walk, expr->as.complex.re);
        walk_expr(walk, expr->as.complex.im);
        break;
    case OFL_EXPR_UNARY:
    case OFL_EXPR_PAREN:
        walk_expr(walk, expr->as.operation.right);
        break;
    case OFL_EXPR_BINARY:
    case OFL_EXPR_REPEAT:
        walk_expr(walk, expr->as.operation.left);
        walk_expr(walk, expr->as.operation.right);
        break;
    case OFL_EXPR_ARRAY:
        walk_args(walk, expr->as.array.items);
        break;
    case OFL_EXPR_RANGE:
        walk_expr(walk, expr->as.range.lower);
        walk_expr(walk, expr->as.range.upper);
        walk_expr(walk, expr->as.range.step);
        break;
    case OFL_EXPR_PERCENT:
        walk_expr(walk, expr->as.percent.value);
        break;
    default: /* constants; an implied do has an index of its own */
        break;
    }
}

static void walk_loop(const struct walk *walk, const struct ofl_loop *loop)
{
    walk_expr(walk, loop->variable);
    walk_expr(walk, loop->first);
    walk_expr(walk, loop->last);
    walk_expr(walk, loop->step);
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        walk_expr(walk, index->lower);
        walk_expr(walk, index->upper);
        walk_expr(walk, index->step);
    }
    if (loop->indices == NULL) {
        walk_expr(walk, loop->condition); /* a mask belongs to the scope of the indices */
    }
}

static void walk_bounds(const struct walk *walk, const struct ofl_bound *bound)
{
    for (; bound != NULL; bound = bound->next) {
        walk_expr(walk, bound->lower);
        walk_expr(walk, bound->upper);
    }
}

static void walk_declaration(const struct walk *walk, const struct ofl_stmt *stmt)
{
    const struct ofl_type_spec *type = stmt->as.decl.type;
    if (type != NULL) {
        walk_expr(walk, type->kind_value);
        walk_expr(walk, type->length);
        walk_args(walk, type->parameters);
    }
    for (const struct ofl_attr *attr = stmt->as.decl.attrs; attr != NULL; attr = attr->next) {
        walk_bounds(walk, attr->bounds);
    }
    for (const struct ofl_entity *entity = stmt->as.decl.entities; entity != NULL; entity = entity->next) {
        walk_bounds(walk, entity->bounds);
        walk_expr(walk, entity->length);
        walk_expr(walk, entity->value);
    }
}

void ofl_stmt_names(const struct ofl_stmt *stmt, void (*visit)(const struct ofl_expr *name, void *context),
                    void *context)
{
    const struct walk walk = {visit, context};
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
    case OFL_STMT_POINTER_ASSIGN:
        walk_expr(&walk, stmt->as.assign.target);
        walk_expr(&walk, stmt->as.assign.value);
        break;
    case OFL_STMT_TYPE_DECL:
        walk_declaration(&walk, stmt);
        break;
    case OFL_STMT_CALL:
        walk_expr(&walk, stmt->as.call.designator);
        walk_args(&walk, stmt->as.call.args);
        break;
    case OFL_STMT_IF_STMT:
    case OFL_STMT_WHERE_STMT:
        walk_expr(&walk, stmt->as.guarded.condition);
        break;
    case OFL_STMT_IF:
    case OFL_STMT_WHERE:
    case OFL_STMT_SELECT_CASE:
    case OFL_STMT_SELECT_TYPE:
    case OFL_STMT_SELECT_RANK:
        walk_expr(&walk, stmt->as.arms.selector.selector);
        for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
            walk_expr(&walk, arm->condition);
            walk_args(&walk, arm->values);
        }
        break;
    case OFL_STMT_DO:
    case OFL_STMT_FORALL:
    case OFL_STMT_FORALL_STMT:
        walk_loop(&walk, &stmt->as.loop);
        break;
    case OFL_STMT_ASSOCIATE:
        for (const struct ofl_association *item = stmt->as.block.associations; item != NULL; item = item->next) {
            walk_expr(&walk, item->selector);
        }
        break;
    case OFL_STMT_COMPUTED_GOTO:
    case OFL_STMT_ARITHMETIC_IF:
        walk_expr(&walk, stmt->as.jump.selector);
        break;
    case OFL_STMT_ALLOCATE:
    case OFL_STMT_DEALLOCATE:
    case OFL_STMT_NULLIFY:
    case OFL_STMT_READ:
    case OFL_STMT_WRITE:
    case OFL_STMT_PRINT:
    case OFL_STMT_OPEN:
    case OFL_STMT_CLOSE:
    case OFL_STMT_INQUIRE:
    case OFL_STMT_BACKSPACE:
    case OFL_STMT_REWIND:
    case OFL_STMT_ENDFILE:
    case OFL_STMT_FLUSH:
    case OFL_STMT_WAIT:
        walk_args(&walk, stmt->as.args.controls);
        walk_args(&walk, stmt->as.args.items);
        break;
    default:
        break;
    }
}

void ofl_expr_names(const struct ofl_expr *expr, void (*visit)(const struct ofl_expr *name, void *context),
                    void *context)
{
    const struct walk walk = {visit, context};
    walk_expr(&walk, expr);
}
