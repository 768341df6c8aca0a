/* Powers and intrinsic functions in kernels; see kernel.h and kernel_intrinsics.def.
 *
 * Powers with a constant integer exponent are the chains of products that gfortran -O2 makes, of GCC's table (measured
 * with gfortran 12 for each exponent of the table); with a variable exponent, the loops of libgcc (exponents up to
 * integer(4)) and libgfortran (integer(8), and integer bases). */
#include "fortran/kernel.h"

#include <string.h>

static const struct ofl_c_value nothing;

/* ---- Powers ---- */

enum { MAX_CHAIN = 32 };

/* x**n is x**chain[n] * x**(n - chain[n]). */
static const unsigned char chain[MAX_CHAIN + 1] = {0,  1, 1,  2,  2,  3,  3,  4,  4,  6,  5,  6,  6,  10, 7,  9, 8,
                                                   16, 9, 16, 10, 12, 11, 13, 12, 17, 13, 18, 14, 24, 15, 26, 16};

static bool constant_exponent(struct ofl_kernel_builder *builder, const struct ofl_expr *expr, int64_t *value)
{
    return ofl_constant_integer(builder->rewriter->modules, builder->scope, expr, value);
}

/* Declares the powers that the chain needs, each once; returns the name of x**n. */
static void add_products(struct ofl_text *text, unsigned n, uint64_t *made)
{
    if (n == 1 || (*made >> n & 1) != 0) {
        return;
    }
    *made |= (uint64_t)1 << n;
    unsigned one = chain[n], other = n - one;
    add_products(text, one, made);
    add_products(text, other, made);
    ofl_text_print(text, "const T x%u = x%u * x%u; ", n, other, one);
}

static struct ofl_c_value constant_power(struct ofl_kernel_builder *builder, const struct ofl_expr *expr,
                                         struct ofl_c_value base, int64_t n)
{
    uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
    if (base.type == OFL_TYPE_REAL && size > MAX_CHAIN) {
        return ofl_kernel_refuse(builder, expr->span, "a real power with a constant exponent above %d", MAX_CHAIN);
    }
    if (n == 0) {
        return ofl_kernel_convert(builder, (struct ofl_c_value){OFL_TYPE_INTEGER, 4, "1"}, base.type, base.kind);
    }
    if (base.type == OFL_TYPE_INTEGER) {
        base.text = ofl_arena_format(builder->arena, "ofl_power_i%d(%s, %lldLL)", base.kind, base.text, (long long)n);
    } else if (size > 1) {
        base.text = ofl_arena_format(builder->arena, "ofl_power%d_%u(%s)", base.kind, (unsigned)size, base.text);
    }
    if (base.type == OFL_TYPE_REAL && n < 0) {
        base.text = ofl_arena_format(builder->arena, "(%s / %s)", base.kind == 8 ? "1.0" : "1.0f", base.text);
    }
    return base;
}

struct ofl_c_value ofl_kernel_power(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    struct ofl_c_value base = ofl_kernel_expr(builder, expr->as.operation.left);
    int64_t n;
    if (base.text == NULL) {
        return nothing;
    }
    if (constant_exponent(builder, expr->as.operation.right, &n)) {
        return constant_power(builder, expr, base, n);
    }
    struct ofl_c_value exponent = ofl_kernel_expr(builder, expr->as.operation.right);
    if (exponent.text == NULL) {
        return nothing;
    }
    if (exponent.type == OFL_TYPE_REAL) {
        int kind = base.type == OFL_TYPE_REAL && base.kind > exponent.kind ? base.kind : exponent.kind;
        base = ofl_kernel_convert(builder, base, OFL_TYPE_REAL, kind);
        exponent = ofl_kernel_convert(builder, exponent, OFL_TYPE_REAL, kind);
        base.text =
            ofl_arena_format(builder->arena, "%s(%s, %s)", kind == 8 ? "pow" : "powf", base.text, exponent.text);
        return base;
    }
    if (base.type == OFL_TYPE_INTEGER) {
        int kind = base.kind > exponent.kind ? base.kind : exponent.kind;
        base = ofl_kernel_convert(builder, base, OFL_TYPE_INTEGER, kind);
        base.text = ofl_arena_format(builder->arena, "ofl_power_i%d(%s, %s)", kind, base.text, exponent.text);
        return base;
    }
    base.text = ofl_arena_format(builder->arena, "ofl_power%d_%s(%s, %s)", base.kind,
                                 exponent.kind == 8 ? "long" : "int", base.text, exponent.text);
    return base;
}

/* The functions ofl_power4_3 and so on, for the kernel's prelude. */
void ofl_kernel_power_functions(struct ofl_text *text)
{
    static const char *const types[] = {"float", "double"};
    for (unsigned t = 0; t < 2; t++) {
        ofl_text_print(text, "#define T %s\n", types[t]);
        for (unsigned n = 2; n <= MAX_CHAIN; n++) {
            uint64_t made = 0;
            ofl_text_print(text, "__device__ __forceinline__ T ofl_power%u_%u(T x1) { ", t == 0 ? 4 : 8, n);
            add_products(text, n, &made);
            ofl_text_print(text, "return x%u; }\n", n);
        }
        ofl_text_print(text, "#undef T\n");
    }
}

/* ---- Functions ---- */

enum { MAX_ARGUMENTS = 64 };

static const struct intrinsic {
    const char *name;
    int arguments;
    const char *integer, *real4, *real8;
} intrinsics[] = {
#define OFL_INTRINSIC(name, arguments, integer, real4, real8) {name, arguments, integer, real4, real8},
#include "fortran/kernel_intrinsics.def"
#undef OFL_INTRINSIC
};

static const struct intrinsic *find_intrinsic(const char *name)
{
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++) {
        if (strcmp(intrinsics[i].name, name) == 0) {
            return &intrinsics[i];
        }
    }
    return NULL;
}

/* Conversions: int, real, dble, nint, floor, ceiling, aint, anint.  `real` results take their argument's kind for aint
 * and anint, the default kind for real. */
static const struct conversion {
    const char *name;
    enum ofl_type_kind type;   /* of the result */
    const char *real4, *real8; /* applied to a real argument before the conversion; NULL: nothing */
    bool keeps_kind;
    int kind;
} conversions[] = {
    {"int", OFL_TYPE_INTEGER, NULL, NULL, false, 4},
    {"nint", OFL_TYPE_INTEGER, "roundf", "round", false, 4},
    {"floor", OFL_TYPE_INTEGER, "floorf", "floor", false, 4},
    {"ceiling", OFL_TYPE_INTEGER, "ceilf", "ceil", false, 4},
    {"real", OFL_TYPE_REAL, NULL, NULL, false, 4},
    {"float", OFL_TYPE_REAL, NULL, NULL, false, 4},
    {"sngl", OFL_TYPE_REAL, NULL, NULL, false, 4},
    {"dble", OFL_TYPE_REAL, NULL, NULL, false, 8},
    {"aint", OFL_TYPE_REAL, "truncf", "trunc", true, 0},
    {"anint", OFL_TYPE_REAL, "roundf", "round", true, 0},
};

/* Options can change what the default kinds are. */
static int default_kind(const struct ofl_kernel_builder *builder, const struct conversion *conversion)
{
    const struct ofl_modules *modules = builder->rewriter->modules;
    return conversion->type == OFL_TYPE_INTEGER ? modules->default_integer
           : conversion->kind == 8              ? modules->default_double
                                                : modules->default_real;
}

static struct ofl_c_value convert(struct ofl_kernel_builder *builder, const struct ofl_expr *call,
                                  const struct conversion *conversion)
{
    const struct ofl_arg *arg = call->as.call.args;
    int64_t kind = 0;
    if (arg == NULL || arg->value == NULL || (arg->next != NULL && arg->next->next != NULL)) {
        return ofl_kernel_refuse(builder, call->span, "these arguments of '%s'", conversion->name);
    }
    struct ofl_c_value value = ofl_kernel_expr(builder, arg->value);
    if (value.text == NULL) {
        return nothing;
    }
    if (arg->next != NULL &&
        !ofl_constant_integer(builder->rewriter->modules, builder->scope, arg->next->value, &kind)) {
        return ofl_kernel_refuse(builder, arg->next->span, "a kind whose value is not known in this file");
    }
    const char *function = value.kind == 8 ? conversion->real8 : conversion->real4;
    if (value.type == OFL_TYPE_REAL && function != NULL) {
        value.text = ofl_arena_format(builder->arena, "%s(%s)", function, value.text);
    }
    int wanted = kind != 0 ? (int)kind : conversion->keeps_kind ? value.kind : default_kind(builder, conversion);
    if (ofl_c_type(conversion->type, wanted) == NULL) {
        return ofl_kernel_refuse(builder, call->span, "a result of kind %d", wanted);
    }
    return ofl_kernel_convert(builder, value, conversion->type, wanted);
}

static const char *function_of(const struct intrinsic *intrinsic, struct ofl_c_value value)
{
    return value.type == OFL_TYPE_INTEGER ? intrinsic->integer : value.kind == 8 ? intrinsic->real8 : intrinsic->real4;
}

struct ofl_c_value ofl_kernel_intrinsic(struct ofl_kernel_builder *builder, const struct ofl_expr *call)
{
    const char *name = call->as.call.base->as.name.name->text;
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        if (strcmp(conversions[i].name, name) == 0) {
            return convert(builder, call, &conversions[i]);
        }
    }
    const struct intrinsic *intrinsic = find_intrinsic(name);
    if (intrinsic == NULL) {
        return ofl_kernel_refuse(builder, call->span, "a call of '%s'", name);
    }
    struct ofl_c_value result = nothing;
    int count = 0;
    for (const struct ofl_arg *arg = call->as.call.args; arg != NULL; arg = arg->next, count++) {
        struct ofl_c_value value = arg->value == NULL || arg->keyword.name != NULL
                                       ? ofl_kernel_refuse(builder, arg->span, "an argument by keyword of '%s'", name)
                                       : ofl_kernel_expr(builder, arg->value);
        if (value.text == NULL) {
            return nothing;
        }
        if (count == 0) {
            result = value;
            continue;
        }
        const char *function = function_of(intrinsic, result);
        bool many = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
        if (function == NULL || value.type != result.type || value.kind != result.kind ||
            (count >= intrinsic->arguments && !many)) {
            return ofl_kernel_refuse(builder, arg->span, "these arguments of '%s'", name);
        }
        /* min and max take the arguments from the left, two at a time. */
        result.text = ofl_arena_format(builder->arena, "%s%s(%s, %s)", function,
                                       function == intrinsic->integer || many ? ofl_kernel_suffix(result) : "",
                                       result.text, value.text);
    }
    if (count < intrinsic->arguments || function_of(intrinsic, result) == NULL) {
        return ofl_kernel_refuse(builder, call->span, "these arguments of '%s'", name);
    }
    if (intrinsic->arguments == 1) {
        const char *function = function_of(intrinsic, result);
        result.text = ofl_arena_format(builder->arena, "%s%s(%s)", function,
                                       function == intrinsic->integer ? ofl_kernel_suffix(result) : "", result.text);
    }
    return result;
}

/* "_i4", "_r8": the end of the names of functions that exist for several types. */
const char *ofl_kernel_suffix(struct ofl_c_value value)
{
    static const char *const integer[] = {"_i1", "_i2", "_i4", "_i8"};
    if (value.type == OFL_TYPE_REAL) {
        return value.kind == 8 ? "_r8" : "_r4";
    }
    return integer[value.kind == 1 ? 0 : value.kind == 2 ? 1 : value.kind == 4 ? 2 : 3];
}
