/* Whether a function of the kernel form is well formed; see kernel_form.h.
 *
 * Entry point: ofl_k_validate.  What does not hold is a fault of lowering or of a pass, never of the user's program.
 * It looks at types of operands, at who declares the variables that are used, at assignments to what cannot be
 * assigned, and at where leaving statements and labels lead. */
#include "fortran/kernel_form.h"

#include <stdarg.h>
#include <stdio.h>

enum rule { SAME, INTEGER, COMPARE, LOGICAL, SHIFT, FREE };

static const struct {
    const char *name;
    unsigned operands;
    enum rule rule;
} ops[] = {
#define OFL_K_OP(name, text, operands, rule) [OFL_K_##name] = {#name, operands, rule},
#include "fortran/kernel_ops.def"
#undef OFL_K_OP
};

/* What a BREAK or NEXT may name. */
struct around {
    const struct ofl_k_stmt *stmt;
    const struct around *outer;
};

struct validator {
    const struct ofl_k_function *function;
    struct ofl_arena *arena;
    const char *why;
};

static void wrong(struct validator *validator, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void wrong(struct validator *validator, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (validator->why == NULL) {
        validator->why = ofl_arena_format(validator->arena, "in %s: %s", validator->function->name, text);
    }
}

static bool is_in(const struct ofl_k_var *list, const struct ofl_k_var *var)
{
    for (; list != NULL; list = list->next) {
        if (list == var) {
            return true;
        }
    }
    return false;
}

static void check_var(struct validator *validator, const struct ofl_k_var *var)
{
    bool own = var != NULL && (var->storage == OFL_K_LOCAL       ? is_in(validator->function->variables, var)
                               : var->storage == OFL_K_PARAMETER ? is_in(validator->function->parameters, var)
                                                                 : true); /* of the kernel, or a table */
    if (!own) {
        wrong(validator, "'%s' is not a variable of this function", var == NULL ? "(none)" : var->name);
    }
}

/* ---- Expressions ---- */

static bool is_number(enum ofl_k_type type)
{
    return type >= OFL_K_I1 && type <= OFL_K_C8;
}

static bool is_plain(enum ofl_k_type type)
{
    return ofl_k_is_integer(type) || ofl_k_is_real(type);
}

static void check_expr(struct validator *validator, const struct ofl_k_expr *expr);

static void check_call(struct validator *validator, const struct ofl_k_expr *expr)
{
    const struct ofl_k_var *parameter = expr->function == NULL ? NULL : expr->function->parameters;
    for (const struct ofl_k_args *arg = expr->args; arg != NULL; arg = arg->next) {
        check_expr(validator, arg->value);
        if (expr->function == NULL || validator->why != NULL) {
            continue;
        }
        if (parameter == NULL || parameter->type != arg->value->type) {
            wrong(validator, "an argument of %s has the wrong type", expr->function->name);
            return;
        }
        parameter = parameter->next;
    }
    if (parameter != NULL) {
        wrong(validator, "a call of %s lacks '%s'", expr->function->name, parameter->name);
    }
    if ((expr->function == NULL) == (expr->support == NULL)) {
        wrong(validator, "a call calls nothing, or two things");
    } else if (expr->function != NULL && expr->function->result != expr->type) {
        wrong(validator, "a call of %s has another type than its result", expr->function->name);
    }
}

/* The operations that have rules of their own. */
static bool free_holds(const struct ofl_k_expr *expr)
{
    const struct ofl_k_expr *const *x = (const struct ofl_k_expr *const *)expr->operand;
    switch (expr->op) {
    case OFL_K_CONST:
        return !ofl_k_is_complex(expr->type) && expr->type != OFL_K_VOID;
    case OFL_K_VAR:
        return expr->var->bytes == 0 && expr->var->type == expr->type;
    case OFL_K_ADDRESS_OF:
        return expr->type == OFL_K_ADDRESS && expr->var->type != OFL_K_BOOL;
    case OFL_K_LOAD:
        return x[0]->type == OFL_K_ADDRESS && (is_number(expr->type) || expr->type == OFL_K_ADDRESS);
    case OFL_K_OFFSET:
        return expr->type == OFL_K_ADDRESS && x[0]->type == OFL_K_ADDRESS && x[1]->type == OFL_K_I8;
    case OFL_K_CONVERT:
        if (expr->type == OFL_K_BOOL || x[0]->type == OFL_K_BOOL) {
            return expr->type != x[0]->type && (ofl_k_is_integer(expr->type) || ofl_k_is_integer(x[0]->type));
        }
        return is_plain(expr->type) && is_plain(x[0]->type);
    case OFL_K_SELECT:
        return x[0]->type == OFL_K_BOOL && x[1]->type == expr->type && x[2]->type == expr->type;
    case OFL_K_COMPLEX:
        return ofl_k_is_complex(expr->type) && x[0]->type == ofl_k_part(expr->type) && x[1]->type == x[0]->type;
    case OFL_K_RE:
    case OFL_K_IM:
        return ofl_k_is_complex(x[0]->type) && expr->type == ofl_k_part(x[0]->type);
    default:
        return true;
    }
}

static bool rule_holds(const struct ofl_k_expr *expr)
{
    enum ofl_k_type first = expr->operand[0] == NULL ? OFL_K_VOID : expr->operand[0]->type;
    enum ofl_k_type second = expr->operand[1] == NULL ? first : expr->operand[1]->type;
    switch (ops[expr->op].rule) {
    case SAME:
        return is_number(first) && second == first && expr->type == first;
    case INTEGER:
        return ofl_k_is_integer(first) && second == first && expr->type == first;
    case COMPARE:
        return (is_number(first) || first == OFL_K_ADDRESS) && second == first && expr->type == OFL_K_BOOL &&
               (!ofl_k_is_complex(first) || expr->op == OFL_K_EQ || expr->op == OFL_K_NE);
    case LOGICAL:
        return first == OFL_K_BOOL && second == first && expr->type == first;
    case SHIFT:
        return ofl_k_is_integer(first) && second == OFL_K_I4 && expr->type == first;
    default:
        return free_holds(expr);
    }
}

static void check_expr(struct validator *validator, const struct ofl_k_expr *expr)
{
    if (expr == NULL || validator->why != NULL) {
        wrong(validator, "an expression is missing");
        return;
    }
    for (unsigned i = 0; i < OFL_K_MAX_OPERANDS; i++) {
        if ((expr->operand[i] != NULL) != (i < ops[expr->op].operands)) {
            wrong(validator, "%s has the wrong number of operands", ops[expr->op].name);
            return;
        }
        if (expr->operand[i] != NULL) {
            check_expr(validator, expr->operand[i]);
        }
    }
    if (expr->op == OFL_K_VAR || expr->op == OFL_K_ADDRESS_OF) {
        check_var(validator, expr->var);
    }
    if (expr->op == OFL_K_CALL) {
        check_call(validator, expr);
    }
    if (validator->why == NULL && !rule_holds(expr)) {
        wrong(validator, "the types of %s do not fit: %s", ops[expr->op].name, ofl_k_expr_text(expr, validator->arena));
    }
}

static void check_type(struct validator *validator, const struct ofl_k_expr *expr, enum ofl_k_type type)
{
    check_expr(validator, expr);
    if (validator->why == NULL && expr->type != type) {
        wrong(validator, "%s is expected, not %s", ofl_k_type_text(type), ofl_k_expr_text(expr, validator->arena));
    }
}

/* ---- Statements ---- */

static bool has_label(const struct ofl_k_block *block, unsigned number)
{
    for (const struct ofl_k_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        if ((stmt->kind == OFL_K_LABEL && stmt->number == number) || has_label(&stmt->body, number) ||
            has_label(&stmt->other, number)) {
            return true;
        }
    }
    return false;
}

static void check_leaving(struct validator *validator, const struct ofl_k_stmt *stmt, const struct around *around)
{
    while (around != NULL && around->stmt != stmt->loop) {
        around = around->outer;
    }
    if (around == NULL || (stmt->kind == OFL_K_NEXT && around->stmt->kind != OFL_K_LOOP)) {
        wrong(validator, "a statement leaves what is not around it");
    }
}

static void check_set(struct validator *validator, const struct ofl_k_stmt *stmt)
{
    check_var(validator, stmt->var);
    if (validator->why != NULL) {
        return;
    }
    if (stmt->var->bytes > 0 || stmt->var->storage == OFL_K_GLOBAL || stmt->var->storage == OFL_K_TABLE) {
        wrong(validator, "'%s' cannot be set", stmt->var->name);
        return;
    }
    check_type(validator, stmt->value, stmt->var->type);
}

static void check_block(struct validator *validator, const struct ofl_k_block *block, const struct around *around);

static void check_stmt(struct validator *validator, const struct ofl_k_stmt *stmt, const struct around *around)
{
    const struct around here = {stmt, around};
    switch (stmt->kind) {
    case OFL_K_SET:
        check_set(validator, stmt);
        break;
    case OFL_K_STORE:
        check_type(validator, stmt->address, OFL_K_ADDRESS);
        check_expr(validator, stmt->value);
        if (validator->why == NULL && !is_number(stmt->value->type) && stmt->value->type != OFL_K_ADDRESS) {
            wrong(validator, "what is stored is no number");
        }
        break;
    case OFL_K_COPY:
        check_type(validator, stmt->address, OFL_K_ADDRESS);
        check_type(validator, stmt->value, OFL_K_ADDRESS);
        check_type(validator, stmt->bytes, OFL_K_I8);
        break;
    case OFL_K_DO:
        check_type(validator, stmt->value, OFL_K_VOID);
        break;
    case OFL_K_IF:
        check_type(validator, stmt->value, OFL_K_BOOL);
        check_block(validator, &stmt->body, around);
        check_block(validator, &stmt->other, around);
        break;
    case OFL_K_LOOP:
        if (stmt->value != NULL) {
            check_type(validator, stmt->value, OFL_K_BOOL);
        }
        check_block(validator, &stmt->body, &here);
        for (const struct ofl_k_stmt *step = stmt->step.first; step != NULL; step = step->next) {
            if (step->kind != OFL_K_SET) {
                wrong(validator, "a loop's step does more than set variables");
            } else {
                check_set(validator, step);
            }
        }
        break;
    case OFL_K_BLOCK:
        check_block(validator, &stmt->body, &here);
        break;
    case OFL_K_BREAK:
    case OFL_K_NEXT:
        check_leaving(validator, stmt, around);
        break;
    case OFL_K_GOTO:
        if (!has_label(&validator->function->body, stmt->number)) {
            wrong(validator, "label %u is missing", stmt->number);
        }
        break;
    case OFL_K_RETURN:
        if (validator->function->result != OFL_K_VOID) {
            check_type(validator, stmt->value, validator->function->result);
        } else if (stmt->value != NULL) {
            wrong(validator, "a value is returned where there is none");
        }
        break;
    case OFL_K_LABEL:
    case OFL_K_EXIT:
    case OFL_K_COMMENT:
        break;
    }
}

static void check_block(struct validator *validator, const struct ofl_k_block *block, const struct around *around)
{
    for (const struct ofl_k_stmt *stmt = block->first; stmt != NULL && validator->why == NULL; stmt = stmt->next) {
        check_stmt(validator, stmt, around);
    }
}

bool ofl_k_validate(const struct ofl_k_function *function, struct ofl_arena *arena, const char **why)
{
    struct validator validator = {.function = function, .arena = arena};
    for (const struct ofl_k_var *var = function->parameters; var != NULL; var = var->next) {
        if (var->storage != (function->kernel ? OFL_K_GLOBAL : OFL_K_PARAMETER) || var->bytes != 0) {
            wrong(&validator, "'%s' is no parameter", var->name);
        }
    }
    check_block(&validator, &function->body, NULL);
    *why = validator.why;
    return validator.why == NULL;
}
