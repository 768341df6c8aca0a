/* The values of constant integer expressions: kinds, bounds, case values, parameters.
 *
 * Entry point: ofl_constant_integer.  Named constants are followed through their scopes, with a bound on the depth
 * because wrong programs define them by each other.  Arithmetic that overflows has no value. */
#include "fortran/scope.h"

#include <limits.h>
#include <string.h>

enum { MAX_DEPTH = 200 };

struct evaluation {
    const struct ofl_modules *modules;
    struct ofl_scope *scope;
    unsigned depth;
};

static bool evaluate(struct evaluation *e, const struct ofl_expr *expr, int64_t *value);

/* ---- Kinds ------------------------------------------------------------------------------------------------------ */

static bool literal_kind(struct evaluation *e, const struct ofl_literal *literal, int standard, int64_t *kind)
{
    if (literal->kind_name.name != NULL) {
        struct ofl_expr name = {.kind = OFL_EXPR_NAME};
        name.as.name.name = literal->kind_name.name;
        return evaluate(e, &name, kind);
    }
    *kind = literal->kind != 0 ? literal->kind : standard;
    return true;
}

/* The kind of an expression's value: literals, variables, elements, and operations on them. */
static bool kind_of(struct evaluation *e, const struct ofl_expr *expr, int64_t *kind)
{
    int64_t left = 0, right = 0;
    if (++e->depth > MAX_DEPTH) {
        return false;
    }
    switch (expr->kind) {
    case OFL_EXPR_INTEGER:
        return literal_kind(e, &expr->as.literal, e->modules->default_integer, kind);
    case OFL_EXPR_REAL:
        if (strpbrk(expr->as.literal.text, "dD") != NULL) {
            *kind = e->modules->default_double;
            return true;
        }
        if (strpbrk(expr->as.literal.text, "qQ") != NULL) {
            *kind = 16;
            return true;
        }
        return literal_kind(e, &expr->as.literal, e->modules->default_real, kind);
    case OFL_EXPR_LOGICAL:
        return literal_kind(e, &expr->as.literal, e->modules->default_logical, kind);
    case OFL_EXPR_CHARACTER:
        return literal_kind(e, &expr->as.literal, 1, kind);
    case OFL_EXPR_COMPLEX:
        if (!kind_of(e, expr->as.complex.re, &left) || !kind_of(e, expr->as.complex.im, &right)) {
            return false;
        }
        *kind = left > right ? left : right;
        return true;
    case OFL_EXPR_NAME: {
        const struct ofl_symbol *symbol = ofl_scope_find(e->scope, expr->as.name.name);
        if (symbol == NULL || !symbol->typed || symbol->type.kind == 0) {
            return false;
        }
        *kind = symbol->type.kind;
        return true;
    }
    case OFL_EXPR_CALL:
        return kind_of(e, expr->as.call.base, kind);
    case OFL_EXPR_UNARY:
    case OFL_EXPR_PAREN:
        return kind_of(e, expr->as.operation.right, kind);
    case OFL_EXPR_BINARY:
        if (!kind_of(e, expr->as.operation.left, &left) || !kind_of(e, expr->as.operation.right, &right)) {
            return false;
        }
        *kind = left > right ? left : right;
        return true;
    default:
        return false;
    }
}

/* F2018 16.9.169 SELECTED_INT_KIND: the smallest kind with at least `range` decimal digits. */
static int64_t selected_int_kind(int64_t range)
{
    static const struct {
        int range, kind;
    } kinds[] = {{2, 1}, {4, 2}, {9, 4}, {18, 8}, {38, 16}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (range <= kinds[i].range) {
            return kinds[i].kind;
        }
    }
    return -1;
}

/* F2018 16.9.170 SELECTED_REAL_KIND on x86-64, as gfortran has it: kinds 4, 8, 10 and 16. */
static int64_t selected_real_kind(int64_t precision, int64_t range)
{
    static const struct {
        int precision, range, kind;
    } kinds[] = {{6, 37, 4}, {15, 307, 8}, {18, 4931, 10}, {33, 4931, 16}};
    bool precise = false, wide = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        precise |= precision <= kinds[i].precision;
        wide |= range <= kinds[i].range;
        if (precision <= kinds[i].precision && range <= kinds[i].range) {
            return kinds[i].kind;
        }
    }
    return precise ? -2 : wide ? -1 : -3;
}

/* ---- Intrinsic functions ---------------------------------------------------------------------------------------- */

enum { MAX_ARGS = 8 };

static bool integer_args(struct evaluation *e, const struct ofl_arg *args, int64_t *values, unsigned *count)
{
    for (*count = 0; args != NULL; args = args->next) {
        if (*count == MAX_ARGS || args->value == NULL || !evaluate(e, args->value, &values[*count])) {
            return false;
        }
        (*count)++;
    }
    return true;
}

static const struct ofl_expr *arg_named(const struct ofl_arg *args, const char *keyword, unsigned position)
{
    for (unsigned i = 0; args != NULL; args = args->next, i++) {
        if (args->keyword.name != NULL ? strcmp(args->keyword.name->text, keyword) == 0 : i == position) {
            return args->value;
        }
    }
    return NULL;
}

static bool real_kind(struct evaluation *e, const struct ofl_arg *args, int64_t *value)
{
    const struct ofl_expr *precision = arg_named(args, "p", 0), *range = arg_named(args, "r", 1);
    int64_t digits = 0, exponent = 0;
    if ((precision != NULL && !evaluate(e, precision, &digits)) || (range != NULL && !evaluate(e, range, &exponent))) {
        return false;
    }
    *value = selected_real_kind(digits, exponent);
    return true;
}

static bool modulus(int64_t a, int64_t b, bool floored, int64_t *value)
{
    if (b == 0 || b == -1) {
        *value = 0;
        return b != 0;
    }
    *value = a % b;
    if (floored && *value != 0 && (*value < 0) != (b < 0)) {
        *value += b;
    }
    return true;
}

/* Functions of integers: those that kinds and bounds are made of. */
static bool integer_function(const char *name, const int64_t *a, unsigned count, int64_t *value)
{
    *value = a[0];
    if (strcmp(name, "int") == 0 || strcmp(name, "nint") == 0) {
        return true;
    }
    if (strcmp(name, "abs") == 0) {
        *value = a[0] < 0 ? -a[0] : a[0];
        return a[0] != INT64_MIN;
    }
    if (strcmp(name, "selected_int_kind") == 0) {
        *value = selected_int_kind(a[0]);
        return true;
    }
    if (strcmp(name, "not") == 0) {
        *value = ~a[0];
        return true;
    }
    bool max = strcmp(name, "max") == 0 || strcmp(name, "max0") == 0;
    if (count >= 2 && (max || strcmp(name, "min") == 0 || strcmp(name, "min0") == 0)) {
        for (unsigned i = 1; i < count; i++) {
            *value = max == (a[i] > *value) ? a[i] : *value;
        }
        return true;
    }
    if (count < 2) {
        return false;
    }
    if (strcmp(name, "mod") == 0 || strcmp(name, "modulo") == 0) {
        return modulus(a[0], a[1], name[3] == 'u', value);
    }
    if (strcmp(name, "iand") == 0) {
        *value = a[0] & a[1];
    } else if (strcmp(name, "ior") == 0) {
        *value = a[0] | a[1];
    } else if (strcmp(name, "ieor") == 0) {
        *value = a[0] ^ a[1];
    } else if (strcmp(name, "ishft") == 0 || strcmp(name, "shiftl") == 0) {
        if (a[1] < 0 || a[1] > 62 || a[0] < 0 || a[0] > INT64_MAX >> a[1]) {
            return false;
        }
        *value = a[0] << a[1];
    } else {
        return false;
    }
    return true;
}

/* A reference to an intrinsic function; the name must not be declared otherwise. */
static bool function(struct evaluation *e, const struct ofl_expr *expr, int64_t *value)
{
    const struct ofl_expr *base = expr->as.call.base;
    const struct ofl_arg *args = expr->as.call.args;
    if (base->kind != OFL_EXPR_NAME || args == NULL || args->value == NULL) {
        return false;
    }
    const struct ofl_symbol *symbol = ofl_scope_find(e->scope, base->as.name.name);
    if (symbol != NULL && !OFL_HAS(symbol, INTRINSIC)) {
        return false;
    }
    const char *name = base->as.name.name->text;
    int64_t values[MAX_ARGS] = {0};
    unsigned count = 0;
    if (strcmp(name, "kind") == 0) {
        return kind_of(e, args->value, value);
    }
    if (strcmp(name, "selected_real_kind") == 0) {
        return real_kind(e, args, value);
    }
    if (strcmp(name, "selected_char_kind") == 0) {
        *value = 1;
        return args->value->kind == OFL_EXPR_CHARACTER && strstr(args->value->as.literal.text, "10646") == NULL;
    }
    if (strcmp(name, "bit_size") == 0 || strcmp(name, "storage_size") == 0) {
        bool known = kind_of(e, args->value, value);
        *value *= CHAR_BIT;
        return known && strcmp(name, "bit_size") == 0;
    }
    if (strcmp(name, "huge") == 0) {
        if (args->value->kind != OFL_EXPR_INTEGER || !kind_of(e, args->value, value) || *value < 1 || *value > 8) {
            return false;
        }
        *value = *value == 8 ? INT64_MAX : ((int64_t)1 << (*value * CHAR_BIT - 1)) - 1;
        return true;
    }
    return integer_args(e, args, values, &count) && integer_function(name, values, count, value);
}

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

static bool power(int64_t base, int64_t exponent, int64_t *value)
{
    if (exponent < 0) {
        *value = base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
        return base != 0;
    }
    *value = 1;
    if (base == 0 || base == 1 || base == -1) {
        *value = exponent == 0 || base == 1 ? 1 : base == 0 ? 0 : exponent % 2 == 0 ? 1 : -1;
        return true;
    }
    for (; exponent > 0; exponent--) {
        if (__builtin_mul_overflow(*value, base, value)) {
            return false;
        }
    }
    return true;
}

static bool operation(enum ofl_operator op, int64_t left, int64_t right, int64_t *value)
{
    switch (op) {
    case OFL_OPERATOR_ADD:
        return !__builtin_add_overflow(left, right, value);
    case OFL_OPERATOR_SUB:
        return !__builtin_sub_overflow(left, right, value);
    case OFL_OPERATOR_MUL:
        return !__builtin_mul_overflow(left, right, value);
    case OFL_OPERATOR_DIV:
        if (right == 0 || (left == INT64_MIN && right == -1)) {
            return false;
        }
        *value = left / right;
        return true;
    case OFL_OPERATOR_POWER:
        return power(left, right, value);
    default:
        return false;
    }
}

static bool named_constant(struct evaluation *e, const struct ofl_expr *expr, int64_t *value)
{
    struct ofl_symbol *symbol = ofl_scope_find(e->scope, expr->as.name.name);
    if (symbol == NULL || symbol->class != OFL_SYMBOL_CONSTANT) {
        return false;
    }
    if (symbol->has_integer) {
        *value = symbol->integer;
        return true;
    }
    if (symbol->value == NULL || symbol->rank > 0 || (symbol->typed && symbol->type.kind_of != OFL_TYPE_INTEGER)) {
        return false;
    }
    struct ofl_scope *scope = e->scope;
    e->scope = symbol->scope;
    bool known = evaluate(e, symbol->value, value);
    e->scope = scope;
    return known;
}

static bool evaluate(struct evaluation *e, const struct ofl_expr *expr, int64_t *value)
{
    int64_t left = 0, right = 0;
    bool known = false;
    if (e->depth >= MAX_DEPTH) {
        return false;
    }
    unsigned depth = e->depth++;
    switch (expr->kind) {
    case OFL_EXPR_INTEGER:
        known = expr->as.literal.value <= INT64_MAX;
        *value = known ? (int64_t)expr->as.literal.value : 0;
        break;
    case OFL_EXPR_NAME:
        known = named_constant(e, expr, value);
        break;
    case OFL_EXPR_PAREN:
        known = evaluate(e, expr->as.operation.right, value);
        break;
    case OFL_EXPR_UNARY:
        known = evaluate(e, expr->as.operation.right, &right) &&
                (expr->as.operation.op == OFL_OPERATOR_ADD || expr->as.operation.op == OFL_OPERATOR_SUB) &&
                operation(expr->as.operation.op, 0, right, value);
        break;
    case OFL_EXPR_BINARY:
        known = evaluate(e, expr->as.operation.left, &left) && evaluate(e, expr->as.operation.right, &right) &&
                operation(expr->as.operation.op, left, right, value);
        break;
    case OFL_EXPR_CALL:
        known = function(e, expr, value);
        break;
    case OFL_EXPR_COMPONENT: /* x%kind */
        known = strcmp(expr->as.component.name.name->text, "kind") == 0 && kind_of(e, expr->as.component.base, value);
        break;
    default:
        break;
    }
    e->depth = depth;
    return known;
}

bool ofl_constant_integer(const struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr,
                          int64_t *value)
{
    struct evaluation evaluation = {modules, scope, 0};
    return evaluate(&evaluation, expr, value);
}
