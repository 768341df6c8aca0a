/* Arithmetic on values of constants: the operators.
 *
 * Operations are done in real(16) and rounded to the kind, which is what rounding the exact result gives for reals, and
 * for complex products, quotients and powers but for results that are within 2^-50 units in the last place of a tie.
 * Integers that overflow their kind, division by zero and real results that are not finite have no value. */
#include "fortran/meaning_private.h"

#include <math.h>
#include <string.h>

struct operation {
    enum ofl_operator op;
    struct ofl_value_type type;    /* of the result */
    struct ofl_value_type operand; /* what operands are converted to; powers keep their integer exponent */
};

/* ---- Integers --------------------------------------------------------------------------------------------------- */

static bool integer_power(ofl_integer base, ofl_integer exponent, ofl_integer *result)
{
    *result = 1;
    if (exponent < 0) {
        *result = base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
        return base != 0;
    }
    while (exponent > 0) {
        if (exponent % 2 != 0 && __builtin_mul_overflow(*result, base, result)) {
            return false;
        }
        exponent /= 2;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
            return false;
        }
    }
    return true;
}

static bool integer_op(enum ofl_operator op, ofl_integer a, ofl_integer b, ofl_integer *result)
{
    switch (op) {
    case OFL_OPERATOR_ADD:
        return !__builtin_add_overflow(a, b, result);
    case OFL_OPERATOR_SUB:
        return !__builtin_sub_overflow(a, b, result);
    case OFL_OPERATOR_MUL:
        return !__builtin_mul_overflow(a, b, result);
    case OFL_OPERATOR_DIV:
        if (b == 0 || b == -1) {
            return b == -1 && !__builtin_sub_overflow((ofl_integer)0, a, result);
        }
        *result = a / b;
        return true;
    case OFL_OPERATOR_POWER:
        return integer_power(a, b, result);
    default:
        return false;
    }
}

/* ---- Reals ------------------------------------------------------------------------------------------------------ */

#define REAL_OP(op, x, y)                                                                                              \
    ((op) == OFL_OPERATOR_ADD   ? (x) + (y)                                                                            \
     : (op) == OFL_OPERATOR_SUB ? (x) - (y)                                                                            \
     : (op) == OFL_OPERATOR_MUL ? (x) * (y)                                                                            \
                                : (x) / (y))

/* 113 digits are enough for a second rounding to 24 or 53 to change nothing, but not for one to 64. */
static ofl_real real_op(enum ofl_operator op, ofl_real a, ofl_real b, int kind)
{
    return kind == 10 ? (ofl_real)REAL_OP(op, (long double)a, (long double)b) : ofl_real_round(REAL_OP(op, a, b), kind);
}

static const struct ofl_constant *finite_real(struct ofl_modules *modules, int kind, ofl_real value)
{
    value = ofl_real_round(value, kind);
    return isfinite(value) ? ofl_value_real(modules, kind, value) : NULL;
}

static const struct ofl_constant *complex_op(struct ofl_modules *modules, const struct operation *operation,
                                             const struct ofl_constant *a, const struct ofl_constant *b)
{
    ofl_real re = 0, im = 0, size = b->re * b->re + b->im * b->im;
    int kind = operation->type.kind;
    switch (operation->op) {
    case OFL_OPERATOR_ADD:
    case OFL_OPERATOR_SUB:
        re = real_op(operation->op, a->re, b->re, kind);
        im = real_op(operation->op, a->im, b->im, kind);
        break;
    case OFL_OPERATOR_MUL:
        re = a->re * b->re - a->im * b->im;
        im = a->re * b->im + a->im * b->re;
        break;
    case OFL_OPERATOR_DIV:
        if (size == 0) {
            return NULL;
        }
        re = (a->re * b->re + a->im * b->im) / size;
        im = (a->im * b->re - a->re * b->im) / size;
        break;
    default:
        return NULL;
    }
    struct ofl_constant *result = ofl_constant_new(modules, OFL_TYPE_COMPLEX, kind);
    result->re = ofl_real_round(re, kind);
    result->im = ofl_real_round(im, kind);
    return isfinite(result->re) && isfinite(result->im) ? result : NULL;
}

/* a complex base to an integer power, by squaring */
static const struct ofl_constant *complex_power(struct ofl_modules *modules, const struct ofl_constant *a,
                                                ofl_integer exponent, int kind)
{
    const struct operation multiply = {OFL_OPERATOR_MUL, ofl_type_of_kind(OFL_TYPE_COMPLEX, 16), {0}};
    const struct operation divide = {OFL_OPERATOR_DIV, ofl_type_of_kind(OFL_TYPE_COMPLEX, 16), {0}};
    struct ofl_constant *one = ofl_constant_new(modules, OFL_TYPE_COMPLEX, 16);
    one->re = 1;
    if (exponent == 1 && (a->re != 0 || a->im != 0)) {
        return a; /* with the sign of a zero part */
    }
    const struct ofl_constant *result = one, *base = a;
    for (ofl_integer n = exponent < 0 ? -exponent : exponent; n > 0 && result != NULL && base != NULL; n /= 2) {
        result = n % 2 != 0 ? complex_op(modules, &multiply, result, base) : result;
        base = complex_op(modules, &multiply, base, base);
    }
    if (exponent < 0 && result != NULL) {
        result = complex_op(modules, &divide, one, result);
    }
    return result == NULL ? NULL : ofl_value_convert(modules, result, ofl_type_of_kind(OFL_TYPE_COMPLEX, kind));
}

static const struct ofl_constant *power(struct ofl_modules *modules, const struct operation *operation,
                                        const struct ofl_constant *a, const struct ofl_constant *b)
{
    int kind = operation->type.kind;
    if (operation->type.base == OFL_TYPE_COMPLEX) {
        bool small = b->base == OFL_TYPE_INTEGER && b->integer < 100000 && b->integer > -100000;
        return small ? complex_power(modules, a, b->integer, kind) : NULL;
    }
    ofl_real exponent = b->base == OFL_TYPE_INTEGER ? (ofl_real)b->integer : b->re;
    if (a->re < 0 && b->base != OFL_TYPE_INTEGER) {
        return NULL;
    }
    return finite_real(modules, kind, powf128(a->re, exponent));
}

/* ---- Comparison ------------------------------------------------------------------------------------------------- */

/* F2018 10.1.5.5.1: the shorter one is extended with blanks. */
int ofl_text_compare(const struct ofl_constant *a, const struct ofl_constant *b)
{
    size_t length = a->length > b->length ? a->length : b->length;
    for (size_t i = 0; i < length; i++) {
        int x = i < a->length ? (unsigned char)a->text[i] : ' ', y = i < b->length ? (unsigned char)b->text[i] : ' ';
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

static const struct ofl_constant *compare(struct ofl_modules *modules, const struct operation *operation,
                                          const struct ofl_constant *a, const struct ofl_constant *b)
{
    bool less, equal;
    if (a->base == OFL_TYPE_CHARACTER) {
        int order = ofl_text_compare(a, b);
        less = order < 0;
        equal = order == 0;
    } else if (a->base == OFL_TYPE_INTEGER) {
        less = a->integer < b->integer;
        equal = a->integer == b->integer;
    } else {
        less = a->re < b->re;
        equal = a->re == b->re && a->im == b->im;
    }
    bool truth = false;
    switch (operation->op) {
    case OFL_OPERATOR_EQ:
        truth = equal;
        break;
    case OFL_OPERATOR_NE:
        truth = !equal;
        break;
    case OFL_OPERATOR_LT:
        truth = less;
        break;
    case OFL_OPERATOR_LE:
        truth = less || equal;
        break;
    case OFL_OPERATOR_GT:
        truth = !less && !equal;
        break;
    default:
        truth = !less;
        break;
    }
    return ofl_value_logical(modules, operation->type.kind, truth);
}

static const struct ofl_constant *logical_op(struct ofl_modules *modules, const struct operation *operation,
                                             const struct ofl_constant *a, const struct ofl_constant *b)
{
    bool x = a->integer != 0, y = b->integer != 0, truth = false;
    switch (operation->op) {
    case OFL_OPERATOR_AND:
        truth = x && y;
        break;
    case OFL_OPERATOR_OR:
        truth = x || y;
        break;
    case OFL_OPERATOR_EQV:
        truth = x == y;
        break;
    default:
        truth = x != y;
        break;
    }
    return ofl_value_logical(modules, operation->type.kind, truth);
}

/* ---- Operators -------------------------------------------------------------------------------------------------- */

static const struct ofl_constant *concatenate(struct ofl_modules *modules, const struct ofl_constant *a,
                                              const struct ofl_constant *b)
{
    if (a->length + b->length > OFL_MAX_FOLDED) {
        return NULL;
    }
    char *text = ofl_arena_alloc(modules->arena, a->length + b->length + 1);
    memcpy(text, a->text, a->length);
    memcpy(text + a->length, b->text, b->length);
    return ofl_value_text(modules, a->kind, text, a->length + b->length);
}

static const struct ofl_constant *apply(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                        unsigned count, const void *context)
{
    const struct operation *operation = context;
    const struct ofl_constant *a = args[0], *b = args[1];
    ofl_integer result;
    (void)count;
    if (operation->op == OFL_OPERATOR_CONCAT) {
        return concatenate(modules, a, b);
    }
    if (operation->op >= OFL_OPERATOR_AND) {
        return logical_op(modules, operation, a, b);
    }
    if (operation->operand.base != OFL_TYPE_CHARACTER) {
        bool integer_exponent = operation->op == OFL_OPERATOR_POWER && b->base == OFL_TYPE_INTEGER;
        a = ofl_value_convert(modules, a, operation->operand);
        b = integer_exponent ? b : ofl_value_convert(modules, b, operation->operand);
        if (a == NULL || b == NULL) {
            return NULL;
        }
    }
    if (operation->op >= OFL_OPERATOR_EQ && operation->op <= OFL_OPERATOR_GE) {
        return compare(modules, operation, a, b);
    }
    if (operation->type.base == OFL_TYPE_INTEGER) {
        return integer_op(operation->op, a->integer, b->integer, &result)
                   ? ofl_value_integer(modules, operation->type.kind, result)
                   : NULL;
    }
    if (operation->op == OFL_OPERATOR_POWER) {
        return power(modules, operation, a, b);
    }
    return operation->type.base == OFL_TYPE_COMPLEX
               ? complex_op(modules, operation, a, b)
               : finite_real(modules, operation->type.kind, real_op(operation->op, a->re, b->re, operation->type.kind));
}

const struct ofl_constant *ofl_value_binary(struct ofl_modules *modules, enum ofl_operator op,
                                            const struct ofl_constant *left, const struct ofl_constant *right,
                                            struct ofl_value_type type)
{
    const struct ofl_constant *args[] = {left, right};
    struct operation operation = {op, type, type};
    if (op >= OFL_OPERATOR_EQ && op <= OFL_OPERATOR_GE) {
        struct ofl_value_type a = ofl_type_of_kind(left->base, left->kind);
        operation.operand =
            left->base == OFL_TYPE_CHARACTER ? a : ofl_type_promoted(a, ofl_type_of_kind(right->base, right->kind));
    }
    return ofl_value_map(modules, args, 2, type, apply, &operation);
}

static const struct ofl_constant *apply_unary(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                              unsigned count, const void *context)
{
    const struct operation *operation = context;
    const struct ofl_constant *value = args[0];
    ofl_integer result;
    (void)count;
    if (operation->op == OFL_OPERATOR_NOT) {
        return ofl_value_logical(modules, value->kind, value->integer == 0);
    }
    if (operation->op != OFL_OPERATOR_SUB) {
        return value;
    }
    if (value->base == OFL_TYPE_INTEGER) {
        return integer_op(OFL_OPERATOR_SUB, 0, value->integer, &result)
                   ? ofl_value_integer(modules, value->kind, result)
                   : NULL;
    }
    struct ofl_constant *negative = ofl_constant_new(modules, value->base, value->kind);
    negative->re = -value->re;
    negative->im = value->base == OFL_TYPE_COMPLEX ? -value->im : 0;
    return negative;
}

const struct ofl_constant *ofl_value_unary(struct ofl_modules *modules, enum ofl_operator op,
                                           const struct ofl_constant *value, struct ofl_value_type type)
{
    const struct operation operation = {op, type, type};
    return ofl_value_map(modules, &value, 1, type, apply_unary, &operation);
}
