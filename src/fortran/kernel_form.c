/* Making the kernel form; see kernel_form.h.
 *
 * Nothing is checked here: the validator does that.  What is folded is integer arithmetic on constants, and their
 * conversion,, so that what the printer shows can be read. */
#include "fortran/kernel_form.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *text, *suffix;
    int bytes;
} types[] = {
    [OFL_K_VOID] = {"void", "", 0},     [OFL_K_I1] = {"signed char", "i1", 1},      [OFL_K_I2] = {"short", "i2", 2},
    [OFL_K_I4] = {"int", "i4", 4},      [OFL_K_I8] = {"long long", "i8", 8},        [OFL_K_R4] = {"float", "r4", 4},
    [OFL_K_R8] = {"double", "r8", 8},   [OFL_K_C4] = {"ofl_c4", "c4", 8},           [OFL_K_C8] = {"ofl_c8", "c8", 16},
    [OFL_K_BOOL] = {"bool", "bool", 0}, [OFL_K_ADDRESS] = {"char *", "address", 8},
};

bool ofl_k_is_integer(enum ofl_k_type type)
{
    return type >= OFL_K_I1 && type <= OFL_K_I8;
}

bool ofl_k_is_real(enum ofl_k_type type)
{
    return type == OFL_K_R4 || type == OFL_K_R8;
}

bool ofl_k_is_complex(enum ofl_k_type type)
{
    return type == OFL_K_C4 || type == OFL_K_C8;
}

int ofl_k_bytes(enum ofl_k_type type)
{
    return types[type].bytes;
}

const char *ofl_k_type_text(enum ofl_k_type type)
{
    return types[type].text;
}

const char *ofl_k_suffix(enum ofl_k_type type)
{
    return types[type].suffix;
}

enum ofl_k_type ofl_k_part(enum ofl_k_type complex)
{
    return complex == OFL_K_C8 ? OFL_K_R8 : OFL_K_R4;
}

/* ---- Expressions ---- */

static struct ofl_k_expr *make(struct ofl_arena *arena, enum ofl_k_op op, enum ofl_k_type type)
{
    struct ofl_k_expr *expr = OFL_NEW(arena, struct ofl_k_expr);
    expr->op = op;
    expr->type = type;
    return expr;
}

struct ofl_k_expr *ofl_k_integer(struct ofl_arena *arena, enum ofl_k_type type, int64_t value)
{
    struct ofl_k_expr *expr = make(arena, OFL_K_CONST, type);
    expr->integer = value;
    return expr;
}

struct ofl_k_expr *ofl_k_real(struct ofl_arena *arena, enum ofl_k_type type, double value)
{
    struct ofl_k_expr *expr = make(arena, OFL_K_CONST, type);
    expr->real = value;
    return expr;
}

struct ofl_k_expr *ofl_k_address_of(struct ofl_arena *arena, struct ofl_k_var *var)
{
    struct ofl_k_expr *expr = make(arena, OFL_K_ADDRESS_OF, OFL_K_ADDRESS);
    expr->var = var;
    return expr;
}

struct ofl_k_expr *ofl_k_var_value(struct ofl_arena *arena, struct ofl_k_var *var)
{
    if (var->bytes > 0) {
        return ofl_k_address_of(arena, var);
    }
    struct ofl_k_expr *expr = make(arena, OFL_K_VAR, var->type);
    expr->var = var;
    return expr;
}

struct ofl_k_expr *ofl_k_load(struct ofl_arena *arena, enum ofl_k_type type, struct ofl_k_expr *address)
{
    if (address->op == OFL_K_ADDRESS_OF && address->var->bytes == 0 && address->var->type == type) {
        return ofl_k_var_value(arena, address->var);
    }
    struct ofl_k_expr *expr = make(arena, OFL_K_LOAD, type);
    expr->operand[0] = address;
    return expr;
}

bool ofl_k_is_constant(const struct ofl_k_expr *expr, int64_t *value)
{
    if (expr->op != OFL_K_CONST || !ofl_k_is_integer(expr->type)) {
        return false;
    }
    *value = expr->integer;
    return true;
}

bool ofl_k_is_simple(const struct ofl_k_expr *expr)
{
    return expr->op == OFL_K_CONST || expr->op == OFL_K_VAR || expr->op == OFL_K_ADDRESS_OF;
}

struct ofl_k_expr *ofl_k_convert(struct ofl_arena *arena, enum ofl_k_type type, struct ofl_k_expr *value)
{
    int64_t constant;
    if (value->type == type) {
        return value;
    }
    if ((type == OFL_K_I8 || type == OFL_K_I4) && ofl_k_is_constant(value, &constant)) {
        return ofl_k_integer(arena, type, type == OFL_K_I4 ? (int32_t)constant : constant);
    }
    if (ofl_k_is_real(type) && ofl_k_is_constant(value, &constant) && constant >= -(1 << 24) && constant <= 1 << 24) {
        return ofl_k_real(arena, type, (double)constant); /* exact in both kinds */
    }
    struct ofl_k_expr *expr = make(arena, OFL_K_CONVERT, type);
    expr->operand[0] = value;
    return expr;
}

struct ofl_k_expr *ofl_k_unary(struct ofl_arena *arena, enum ofl_k_op op, struct ofl_k_expr *a)
{
    enum ofl_k_type type = op == OFL_K_RE || op == OFL_K_IM ? ofl_k_part(a->type) : a->type;
    if ((op == OFL_K_RE || op == OFL_K_IM) && a->op == OFL_K_COMPLEX) {
        return a->operand[op == OFL_K_RE ? 0 : 1];
    }
    struct ofl_k_expr *expr = make(arena, op, type);
    expr->operand[0] = a;
    return expr;
}

static bool is_comparison(enum ofl_k_op op)
{
    return op >= OFL_K_EQ && op <= OFL_K_GE;
}

/* x op y of integer(8) where that is known or plainly one of the operands; else NULL. */
static struct ofl_k_expr *fold(struct ofl_arena *arena, enum ofl_k_op op, struct ofl_k_expr *a, struct ofl_k_expr *b)
{
    int64_t x = 0, y = 0, result;
    bool left = ofl_k_is_constant(a, &x), right = ofl_k_is_constant(b, &y);
    if (a->type != OFL_K_I8 || b->type != OFL_K_I8) {
        return NULL;
    }
    if (left && right) {
        bool overflow = op == OFL_K_ADD   ? __builtin_add_overflow(x, y, &result)
                        : op == OFL_K_SUB ? __builtin_sub_overflow(x, y, &result)
                        : op == OFL_K_MUL ? __builtin_mul_overflow(x, y, &result)
                                          : true;
        return overflow ? NULL : ofl_k_integer(arena, OFL_K_I8, result);
    }
    if ((op == OFL_K_ADD && right && y == 0) || (op == OFL_K_SUB && right && y == 0) ||
        (op == OFL_K_MUL && right && y == 1)) {
        return a;
    }
    if ((op == OFL_K_ADD && left && x == 0) || (op == OFL_K_MUL && left && x == 1)) {
        return b;
    }
    if (op == OFL_K_MUL && ((left && x == 0) || (right && y == 0))) {
        return ofl_k_integer(arena, OFL_K_I8, 0);
    }
    return NULL;
}

struct ofl_k_expr *ofl_k_binary(struct ofl_arena *arena, enum ofl_k_op op, struct ofl_k_expr *a, struct ofl_k_expr *b)
{
    struct ofl_k_expr *folded = fold(arena, op, a, b);
    if (folded != NULL) {
        return folded;
    }
    struct ofl_k_expr *expr = make(arena, op, is_comparison(op) ? OFL_K_BOOL : a->type);
    expr->operand[0] = a;
    expr->operand[1] = b;
    return expr;
}

struct ofl_k_expr *ofl_k_offset(struct ofl_arena *arena, struct ofl_k_expr *address, struct ofl_k_expr *bytes)
{
    int64_t value;
    if (ofl_k_is_constant(bytes, &value) && value == 0) {
        return address;
    }
    if (address->op == OFL_K_OFFSET) { /* (p + a) + b is p + (a + b) */
        bytes = ofl_k_binary(arena, OFL_K_ADD, address->operand[1], bytes);
        address = address->operand[0];
    }
    struct ofl_k_expr *expr = make(arena, OFL_K_OFFSET, OFL_K_ADDRESS);
    expr->operand[0] = address;
    expr->operand[1] = bytes;
    return expr;
}

struct ofl_k_expr *ofl_k_select(struct ofl_arena *arena, struct ofl_k_expr *condition, struct ofl_k_expr *a,
                                struct ofl_k_expr *b)
{
    struct ofl_k_expr *expr = make(arena, OFL_K_SELECT, a->type);
    expr->operand[0] = condition;
    expr->operand[1] = a;
    expr->operand[2] = b;
    return expr;
}

struct ofl_k_expr *ofl_k_complex(struct ofl_arena *arena, struct ofl_k_expr *re, struct ofl_k_expr *im)
{
    struct ofl_k_expr *expr = make(arena, OFL_K_COMPLEX, re->type == OFL_K_R8 ? OFL_K_C8 : OFL_K_C4);
    expr->operand[0] = re;
    expr->operand[1] = im;
    return expr;
}

void ofl_k_add_arg(struct ofl_arena *arena, struct ofl_k_expr *call, struct ofl_k_expr *value)
{
    struct ofl_k_args **last = &call->args;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = OFL_NEW(arena, struct ofl_k_args);
    (*last)->value = value;
}

struct ofl_k_expr *ofl_k_support(struct ofl_arena *arena, enum ofl_k_type result, const char *name, ...)
{
    struct ofl_k_expr *expr = make(arena, OFL_K_CALL, result), *value;
    expr->support = name;
    va_list arguments;
    va_start(arguments, name);
    while ((value = va_arg(arguments, struct ofl_k_expr *)) != NULL) {
        ofl_k_add_arg(arena, expr, value);
    }
    va_end(arguments);
    return expr;
}

struct ofl_k_expr *ofl_k_call(struct ofl_arena *arena, const struct ofl_k_function *function)
{
    struct ofl_k_expr *expr = make(arena, OFL_K_CALL, function->result);
    expr->function = function;
    return expr;
}

/* ---- Statements ---- */

struct ofl_k_stmt *ofl_k_add(struct ofl_arena *arena, struct ofl_k_block *block, enum ofl_k_stmt_kind kind)
{
    struct ofl_k_stmt *stmt = OFL_NEW(arena, struct ofl_k_stmt);
    stmt->kind = kind;
    if (block->last == NULL) {
        block->first = stmt;
    } else {
        block->last->next = stmt;
    }
    block->last = stmt;
    return stmt;
}
