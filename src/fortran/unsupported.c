/* Looking for what no kernel will do; see unsupported.h. */
#include "fortran/unsupported.h"

enum unsupported {
#define OFL_UNSUPPORTED(id, name, why) id,
#include "fortran/unsupported.def"
#undef OFL_UNSUPPORTED
};

static const struct {
    const char *name, *why;
} rows[] = {
#define OFL_UNSUPPORTED(id, name, why) [id] = {name, why},
#include "fortran/unsupported.def"
#undef OFL_UNSUPPORTED
};

struct search {
    const struct ofl_unit *unit;
    struct ofl_arena *arena;
    struct ofl_blocker found;
};

static void found(struct search *search, enum unsupported what, struct ofl_span span, const char *name)
{
    if (search->found.what == NULL) {
        const char *text =
            name == NULL ? rows[what].name : ofl_arena_format(search->arena, "%s ('%s')", rows[what].name, name);
        search->found = (struct ofl_blocker){text, rows[what].why, span};
    }
}

static void look_at_name(struct search *search, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    const struct ofl_symbol *symbol = ofl_scope_find(scope, expr->as.name.name);
    bool real = symbol != NULL && symbol->typed &&
                (symbol->type.kind_of == OFL_TYPE_REAL || symbol->type.kind_of == OFL_TYPE_COMPLEX);
    if (real && (symbol->type.kind == 10 || symbol->type.kind == 16)) {
        found(search, symbol->type.kind == 10 ? REAL_10 : REAL_16, expr->span, symbol->name->text);
    }
}

static void look_at(struct search *search, struct ofl_scope *scope, const struct ofl_expr *expr);

static void look_at_args(struct search *search, struct ofl_scope *scope, const struct ofl_arg *arg)
{
    for (; arg != NULL; arg = arg->next) {
        look_at(search, scope, arg->value);
    }
}

static void look_at(struct search *search, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    if (expr == NULL || search->found.what != NULL) {
        return;
    }
    switch (expr->kind) {
    case OFL_EXPR_NAME:
        look_at_name(search, scope, expr);
        break;
    case OFL_EXPR_CALL:
    case OFL_EXPR_COINDEX:
        look_at(search, scope, expr->as.call.base);
        look_at_args(search, scope, expr->as.call.args);
        break;
    case OFL_EXPR_COMPONENT:
        look_at(search, scope, expr->as.component.base);
        break;
    case OFL_EXPR_UNARY:
    case OFL_EXPR_PAREN:
        look_at(search, scope, expr->as.operation.right);
        break;
    case OFL_EXPR_BINARY:
        look_at(search, scope, expr->as.operation.left);
        look_at(search, scope, expr->as.operation.right);
        break;
    case OFL_EXPR_ARRAY:
        look_at_args(search, scope, expr->as.array.items);
        break;
    case OFL_EXPR_RANGE:
        look_at(search, scope, expr->as.range.lower);
        look_at(search, scope, expr->as.range.upper);
        look_at(search, scope, expr->as.range.step);
        break;
    default:
        break;
    }
}

static bool look_at_statement(struct ofl_stmt *stmt, void *context)
{
    struct search *search = context;
    struct ofl_scope *scope = ofl_scope_of(stmt, search->unit);
    switch (stmt->kind) {
    case OFL_STMT_READ:
    case OFL_STMT_WRITE:
    case OFL_STMT_PRINT:
    case OFL_STMT_TYPE_OUTPUT:
    case OFL_STMT_ACCEPT:
    case OFL_STMT_OPEN:
    case OFL_STMT_CLOSE:
    case OFL_STMT_INQUIRE:
    case OFL_STMT_BACKSPACE:
    case OFL_STMT_REWIND:
    case OFL_STMT_ENDFILE:
    case OFL_STMT_FLUSH:
    case OFL_STMT_WAIT:
        found(search, INPUT_OUTPUT, stmt->span, ofl_stmt_text(stmt->kind));
        break;
    case OFL_STMT_ASSIGN:
    case OFL_STMT_POINTER_ASSIGN:
        look_at(search, scope, stmt->as.assign.target);
        look_at(search, scope, stmt->as.assign.value);
        break;
    case OFL_STMT_CALL:
        look_at(search, scope, stmt->as.call.designator);
        look_at_args(search, scope, stmt->as.call.args);
        break;
    case OFL_STMT_IF_STMT:
    case OFL_STMT_WHERE_STMT:
        look_at(search, scope, stmt->as.guarded.condition);
        break;
    case OFL_STMT_IF:
    case OFL_STMT_WHERE:
    case OFL_STMT_SELECT_CASE:
        look_at(search, scope, stmt->as.arms.selector.selector);
        for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
            look_at(search, scope, arm->condition);
        }
        break;
    default:
        break;
    }
    return search->found.what == NULL;
}

struct ofl_blocker ofl_unsupported_find(const struct ofl_stmt *loop, const struct ofl_unit *unit,
                                        struct ofl_arena *arena)
{
    struct search search = {.unit = unit, .arena = arena};
    ofl_walk_stmts(&loop->as.loop.body, look_at_statement, &search);
    return search.found;
}
