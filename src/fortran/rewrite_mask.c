/* Whether a mask may be evaluated iteration by iteration.
 *
 * The standard evaluates a mask for all iterations before the first one runs.  Doing it one by one gives the same where
 * no iteration changes what the mask of another one reads.  That is so when the mask reads only indices, constants and
 * plain variables of the program unit through intrinsic functions, and each variable that the body may write is
 * not read by the mask, or is read and written only as the same element x(i, j, ...), which names every index and so
 * belongs to one iteration.
 *
 * The answer "no" is always safe.  What is not looked into, and answers no: pointers, targets, components, calls, user
 * functions, equivalence. */
#include "fortran/rewrite.h"

#include <string.h>

struct mask {
    const struct ofl_loop *loop;
    struct ofl_scope *scope;
    bool stable;
    unsigned depth;
};

static bool is_index(const struct ofl_loop *loop, const struct ofl_name *name)
{
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        if (index->ident.name == name) {
            return true;
        }
    }
    return false;
}

/* Intrinsic functions that read nothing but their arguments and depend on nothing else. */
static bool is_plain_intrinsic(const struct ofl_name *name)
{
    static const char *const names[] = {"abs",    "all", "any",    "btest",  "count", "exp",   "iand",   "ieor",
                                        "int",    "ior", "ishft",  "kind",   "log",   "max",   "maxval", "min",
                                        "minval", "mod", "modulo", "not",    "real",  "dble",  "sign",   "size",
                                        "sqrt",   "sum", "ubound", "lbound", "nint",  "floor", "ceiling"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name->text) == 0) {
            return true;
        }
    }
    return false;
}

/* `x(i, j, k)` with each index of the loop exactly as itself. */
static bool names_every_index(const struct ofl_loop *loop, const struct ofl_expr *element)
{
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        bool found = false;
        for (const struct ofl_arg *arg = element->as.call.args; arg != NULL; arg = arg->next) {
            found |= arg->value != NULL && arg->value->kind == OFL_EXPR_NAME &&
                     arg->value->as.name.name == index->ident.name;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool same_subscripts(const struct ofl_expr *one, const struct ofl_expr *other)
{
    const struct ofl_arg *a = one->as.call.args, *b = other->as.call.args;
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        if (a->value == NULL || b->value == NULL || a->value->kind != OFL_EXPR_NAME ||
            b->value->kind != OFL_EXPR_NAME || a->value->as.name.name != b->value->as.name.name) {
            return false;
        }
    }
    return a == NULL && b == NULL;
}

/* ---- The body: what may it write that the mask reads as `read`? ---- */

struct writes {
    const struct ofl_loop *loop;
    const struct ofl_name *name;
    const struct ofl_expr *read; /* the element that the mask reads; NULL: the whole variable, or several elements */
    bool harmless;
};

static const struct ofl_expr *base_of(const struct ofl_expr *target)
{
    while (target->kind == OFL_EXPR_CALL || target->kind == OFL_EXPR_COMPONENT) {
        target = target->kind == OFL_EXPR_CALL ? target->as.call.base : target->as.component.base;
    }
    return target;
}

static bool check_write(struct ofl_stmt *stmt, void *context)
{
    struct writes *writes = context;
    const struct ofl_expr *target = NULL;
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
        target = stmt->as.assign.target;
        break;
    case OFL_STMT_DO:
        target = stmt->as.loop.form == OFL_LOOP_COUNT ? stmt->as.loop.variable : NULL;
        writes->harmless &= stmt->as.loop.form != OFL_LOOP_CONCURRENT;
        break;
    case OFL_STMT_IF:
    case OFL_STMT_IF_STMT:
    case OFL_STMT_SELECT_CASE:
    case OFL_STMT_CONTINUE:
    case OFL_STMT_CYCLE:
        break;
    default:
        writes->harmless = false;
        break;
    }
    if (target != NULL && writes->harmless) {
        const struct ofl_expr *base = base_of(target);
        if (base->kind != OFL_EXPR_NAME) {
            writes->harmless = false;
        } else if (base->as.name.name == writes->name) {
            writes->harmless = writes->read != NULL && target->kind == OFL_EXPR_CALL && target->as.call.base == base &&
                               same_subscripts(target, writes->read) && names_every_index(writes->loop, target);
        }
    }
    return writes->harmless;
}

static void check_read(struct mask *mask, const struct ofl_name *name, const struct ofl_expr *element)
{
    struct writes writes = {.loop = mask->loop, .name = name, .read = element, .harmless = true};
    ofl_walk_stmts(&mask->loop->body, check_write, &writes);
    mask->stable &= writes.harmless;
}

/* ---- The mask ---- */

static void check_expr(struct mask *mask, const struct ofl_expr *expr);

static void check_arguments(struct mask *mask, const struct ofl_arg *arg)
{
    for (; arg != NULL; arg = arg->next) {
        check_expr(mask, arg->value);
    }
}

static void check_name(struct mask *mask, const struct ofl_name *name, const struct ofl_expr *element)
{
    const struct ofl_symbol *symbol = ofl_scope_find(mask->scope, name);
    if (symbol == NULL || symbol->class == OFL_SYMBOL_CONSTANT) {
        mask->stable &= symbol != NULL;
    } else if (symbol->class != OFL_SYMBOL_VARIABLE || OFL_HAS(symbol, POINTER) || OFL_HAS(symbol, TARGET) ||
               OFL_HAS(symbol, VOLATILE) || symbol->equivalenced || symbol->cray_pointer != NULL) {
        mask->stable = false;
    } else {
        check_read(mask, name, element);
    }
}

static void check_call(struct mask *mask, const struct ofl_expr *call)
{
    const struct ofl_expr *base = call->as.call.base;
    check_arguments(mask, call->as.call.args);
    if (base->kind != OFL_EXPR_NAME) {
        mask->stable = false;
        return;
    }
    const struct ofl_symbol *symbol = ofl_scope_find(mask->scope, base->as.name.name);
    if (symbol == NULL) {
        mask->stable &= !mask->scope->open && is_plain_intrinsic(base->as.name.name);
    } else {
        mask->stable &= symbol->rank > 0;
        check_name(mask, base->as.name.name, call);
    }
}

static void check_expr(struct mask *mask, const struct ofl_expr *expr)
{
    if (expr == NULL || !mask->stable) {
        return;
    }
    if (++mask->depth > 200) {
        mask->stable = false;
        return;
    }
    switch (expr->kind) {
    case OFL_EXPR_NAME:
        if (!is_index(mask->loop, expr->as.name.name)) {
            check_name(mask, expr->as.name.name, NULL);
        }
        break;
    case OFL_EXPR_INTEGER:
    case OFL_EXPR_REAL:
    case OFL_EXPR_LOGICAL:
    case OFL_EXPR_CHARACTER:
        break;
    case OFL_EXPR_CALL:
        check_call(mask, expr);
        break;
    case OFL_EXPR_UNARY:
    case OFL_EXPR_BINARY:
    case OFL_EXPR_PAREN:
        mask->stable &= expr->kind == OFL_EXPR_PAREN || expr->as.operation.op != OFL_OPERATOR_DEFINED;
        check_expr(mask, expr->kind == OFL_EXPR_BINARY ? expr->as.operation.left : NULL);
        check_expr(mask, expr->as.operation.right);
        break;
    case OFL_EXPR_RANGE:
        check_expr(mask, expr->as.range.lower);
        check_expr(mask, expr->as.range.upper);
        check_expr(mask, expr->as.range.step);
        break;
    default:
        mask->stable = false;
        break;
    }
    mask->depth--;
}

bool ofl_mask_is_stable(const struct ofl_loop *loop, struct ofl_scope *scope)
{
    struct mask mask = {.loop = loop, .scope = scope, .stable = true};
    check_expr(&mask, loop->condition);
    return mask.stable;
}
