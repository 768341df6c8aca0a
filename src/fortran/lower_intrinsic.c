/* Elemental intrinsic functions of computed arguments; see lower.h.
 *
 * Entry point: ofl_apply_intrinsic.  Functions of mathematics are rows of lower_functions.def; what has rules of its
 * own is here, and becomes operations of the form or calls of support functions (kernel_support.c), which say what
 * gfortran computes. */
#include "fortran/lower.h"

#include <string.h>

/* ---- Powers ---- */

enum { MAX_CHAIN = 255 };

/* A constant exponent: the chain of products that gfortran -O2 makes. */
static struct ofl_value constant_power(struct ofl_lower *l, const struct ofl_expr *expr, struct ofl_value base,
                                       int64_t n)
{
    uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
    enum ofl_k_type type = base.x->type;
    struct ofl_value one = ofl_value_as(
        l, (struct ofl_value){.type = ofl_kind_type(OFL_TYPE_INTEGER, 4), .x = ofl_k_integer(l->arena, OFL_K_I4, 1)},
        base.type, expr->span);
    if (n == 0) {
        return one;
    }
    if (ofl_k_is_complex(type)) { /* libgfortran's, but for a square */
        base.x = ofl_keep(l, base.x, "z");
        base.x = n == 1 ? base.x
                 : n == 2
                     ? ofl_op(l, OFL_K_MUL, base.x, base.x)
                     : ofl_k_support(l->arena, type, ofl_arena_format(l->arena, "ofl_power_%s_int", ofl_k_suffix(type)),
                                     base.x, ofl_k_integer(l->arena, OFL_K_I4, n), NULL);
        return base;
    }
    if (size > MAX_CHAIN) {
        ofl_lower_refuse(l, expr->span, "a power with a constant exponent above %d", MAX_CHAIN);
    }
    if (size > 1) {
        base.x = ofl_k_support(l->arena, type,
                               ofl_arena_format(l->arena, "ofl_power_%s_%u", ofl_k_suffix(type), (unsigned)size),
                               base.x, NULL);
    }
    if (n < 0) {
        base.x = ofl_op(l, OFL_K_DIV, one.x, base.x);
    }
    return base;
}

/* pow(x, 2.0) and the like, which GCC makes products. */
static bool simple_real_power(struct ofl_lower *l, struct ofl_value *base, struct ofl_k_expr *exponent)
{
    if (exponent->op != OFL_K_CONST || !ofl_k_is_real(exponent->type)) {
        return false;
    }
    struct ofl_k_expr *one = ofl_k_real(l->arena, base->x->type, 1);
    if (exponent->real == 2) {
        struct ofl_k_expr *x = ofl_keep(l, base->x, "v");
        base->x = ofl_op(l, OFL_K_MUL, x, x);
    } else if (exponent->real == -1) {
        base->x = ofl_op(l, OFL_K_DIV, one, base->x);
    } else if (exponent->real == 0) {
        base->x = one;
    } else if (exponent->real != 1) {
        return false;
    }
    return true;
}

struct ofl_value ofl_apply_power(struct ofl_lower *l, const struct ofl_expr *expr, struct ofl_value_type type,
                                 struct ofl_value base, struct ofl_value exponent)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr->as.operation.right);
    base = ofl_value_as(l, base, type, expr->span);
    enum ofl_k_type k = base.x->type;
    if (exponent.type.base == OFL_TYPE_INTEGER) {
        int64_t n = meaning->value != NULL && meaning->rank == 0 ? (int64_t)meaning->value->integer : INT64_MAX;
        if (type.base != OFL_TYPE_INTEGER && n != INT64_MAX) {
            return constant_power(l, expr, base, n);
        }
        bool wide = exponent.type.kind == 8 || type.base == OFL_TYPE_INTEGER;
        const char *name = type.base == OFL_TYPE_INTEGER
                               ? ofl_arena_format(l->arena, "ofl_power_%s", ofl_k_suffix(k))
                               : ofl_arena_format(l->arena, "ofl_power_%s_%s", ofl_k_suffix(k), wide ? "long" : "int");
        base.x = ofl_k_support(l->arena, k, name, base.x, ofl_to(l, wide ? OFL_K_I8 : OFL_K_I4, exponent.x), NULL);
        return base;
    }
    exponent = ofl_value_as(l, exponent, type, expr->span);
    if (ofl_k_is_complex(k)) {
        base.x =
            ofl_k_support(l->arena, k, ofl_arena_format(l->arena, "ofl_power_%s_%s", ofl_k_suffix(k), ofl_k_suffix(k)),
                          base.x, exponent.x, NULL);
    } else if (!simple_real_power(l, &base, exponent.x)) {
        base.x = ofl_k_support(l->arena, k, k == OFL_K_R8 ? "pow" : "powf", base.x, exponent.x, NULL);
    }
    return base;
}

/* ---- Smallest and largest ---- */

/* min and max as gfortran 12 has them: min(a, b) is a < b ? a : b, max(a, b) a >= b ? a : b. */
struct ofl_k_expr *ofl_smaller(struct ofl_lower *l, struct ofl_k_expr *a, struct ofl_k_expr *b, bool larger)
{
    return ofl_k_support(l->arena, a->type,
                         ofl_arena_format(l->arena, "ofl_%s_%s", larger ? "max" : "min", ofl_k_suffix(a->type)), a, b,
                         NULL);
}

static struct ofl_value smallest(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                 struct ofl_value *args, unsigned count)
{
    bool larger = meaning->call->procedure->intrinsic->id == OFL_INTRINSIC_MAX;
    struct ofl_value value = {.type = meaning->type};
    struct ofl_value_type type = meaning->type;
    if (args[0].type.base == OFL_TYPE_CHARACTER) {
        ofl_lower_refuse(l, expr->span, "'%s' of characters", larger ? "max" : "min");
    }
    if (meaning->call->procedure->intrinsic->specific) { /* amax0, max1: computed in the arguments' type */
        type = args[0].type;
    }
    for (unsigned i = 0; i < count; i++) {
        if (args[i].x != NULL) {
            struct ofl_k_expr *x = ofl_value_as(l, args[i], type, expr->span).x;
            value.x = value.x == NULL ? x : ofl_smaller(l, value.x, x, larger);
        }
    }
    value.type = type;
    return ofl_value_as(l, value, meaning->type, expr->span);
}

/* ---- Conversions ---- */

static struct ofl_value rounded(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                struct ofl_value value, const char *function)
{
    if (value.type.base == OFL_TYPE_REAL) {
        bool wide = value.type.kind == 8;
        value.x = ofl_k_support(l->arena, value.x->type, wide ? function : ofl_arena_format(l->arena, "%sf", function),
                                value.x, NULL);
    }
    return ofl_value_as(l, value, meaning->type, expr->span);
}

static struct ofl_value make_complex(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning, struct ofl_value *args, unsigned count)
{
    struct ofl_value_type part = ofl_kind_type(OFL_TYPE_REAL, meaning->type.kind);
    if (args[0].type.base == OFL_TYPE_COMPLEX || count < 2 || args[1].x == NULL) {
        return ofl_value_as(l, args[0], meaning->type, expr->span);
    }
    struct ofl_k_expr *re = ofl_value_as(l, args[0], part, expr->span).x;
    struct ofl_k_expr *im = ofl_value_as(l, args[1], part, expr->span).x;
    return (struct ofl_value){.type = meaning->type, .x = ofl_k_complex(l->arena, re, im)};
}

/* ---- Functions of one type ---- */

static const struct {
    const char *real4, *real8, *complex;
} functions[OFL_INTRINSIC_COUNT] = {
#define OFL_FUNCTION(id, real4, real8, complex) [OFL_INTRINSIC_##id] = {real4, real8, complex},
#include "fortran/lower_functions.def"
#undef OFL_FUNCTION
};

static struct ofl_value mathematics(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                    struct ofl_value *args, unsigned count)
{
    enum ofl_intrinsic_id id = meaning->call->procedure->intrinsic->id;
    struct ofl_value value = ofl_value_as(l, args[0], meaning->type, expr->span);
    enum ofl_k_type type = value.x->type;
    bool two = count > 1 && args[1].x != NULL;
    const char *name = type == OFL_K_R8 ? functions[id].real8 : functions[id].real4;
    if (ofl_k_is_complex(type)) {
        if (functions[id].complex == NULL) {
            ofl_lower_refuse(l, expr->span, "'%s' of a complex number", meaning->call->procedure->name->text);
        }
        name = ofl_arena_format(l->arena, "ofl_%s_%s", functions[id].complex, ofl_k_suffix(type));
    } else if (id == OFL_INTRINSIC_ATAN && two) {
        name = type == OFL_K_R8 ? "atan2" : "atan2f";
    }
    value.x = ofl_k_support(l->arena, type, name, value.x,
                            two ? ofl_value_as(l, args[1], meaning->type, expr->span).x : NULL, NULL);
    return value;
}

/* A support function ofl_NAME_TYPE of arguments that all have the type of the result, or of the first one. */
static struct ofl_value support(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                const char *name, struct ofl_value *args, unsigned count)
{
    struct ofl_value value = {.type = meaning->type};
    struct ofl_k_expr *x[3] = {NULL, NULL, NULL};
    struct ofl_value_type type =
        ofl_is_number(args[0].type) && args[0].type.base == meaning->type.base ? meaning->type : args[0].type;
    for (unsigned i = 0; i < count && i < 3; i++) {
        if (args[i].x != NULL) {
            x[i] = ofl_value_as(l, args[i], type, expr->span).x;
        }
    }
    enum ofl_k_type k = ofl_k_value_of(l, type, expr->span), result = ofl_k_value_of(l, meaning->type, expr->span);
    name = ofl_arena_format(l->arena, "ofl_%s_%s", name, ofl_k_suffix(k));
    value.x = ofl_k_support(l->arena, result, name, x[0], x[1], x[1] == NULL ? NULL : x[2], NULL);
    return value;
}

/* Functions of an integer and bit positions: the positions are integer(4). */
static struct ofl_value bits(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                             const char *name, struct ofl_value *args, unsigned count)
{
    struct ofl_k_expr *x[3] = {NULL, NULL, NULL};
    enum ofl_k_type k = args[0].x->type, result = ofl_k_value_of(l, meaning->type, expr->span);
    struct ofl_value value = {.type = meaning->type};
    x[0] = args[0].x;
    for (unsigned i = 1; i < count && i < 3; i++) {
        x[i] = args[i].x == NULL ? NULL : ofl_to(l, OFL_K_I4, args[i].x);
    }
    value.x = ofl_k_support(l->arena, result, ofl_arena_format(l->arena, "ofl_%s_%s", name, ofl_k_suffix(k)), x[0],
                            x[1], x[1] == NULL ? NULL : x[2], NULL);
    return value;
}

static struct ofl_value bit_operation(struct ofl_lower *l, const struct ofl_expr *expr,
                                      const struct ofl_meaning *meaning, enum ofl_k_op op, struct ofl_value *args)
{
    if (meaning->type.base != OFL_TYPE_INTEGER) {
        ofl_lower_refuse(l, expr->span, "bit functions of logicals");
    }
    struct ofl_k_expr *a = ofl_value_as(l, args[0], meaning->type, expr->span).x;
    return (struct ofl_value){.type = meaning->type,
                              .x = ofl_op(l, op, a, ofl_value_as(l, args[1], meaning->type, expr->span).x)};
}

static struct ofl_value merged(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                               struct ofl_value *args)
{
    struct ofl_value a = args[0], b = args[1];
    if (ofl_is_number(meaning->type)) {
        a = ofl_value_as(l, a, meaning->type, expr->span);
        b = ofl_value_as(l, b, meaning->type, expr->span);
    }
    struct ofl_value value = {.type = meaning->type, .length = a.length};
    value.x = ofl_k_select(l->arena, args[2].x, a.x, b.x);
    return value;
}

static struct ofl_value absolute(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                 struct ofl_value *args)
{
    enum ofl_k_type type = args[0].x->type;
    struct ofl_value value = {.type = meaning->type};
    if (ofl_k_is_integer(type)) {
        return support(l, expr, meaning, "abs", args, 1);
    }
    if (ofl_k_is_real(type)) {
        value.x = ofl_k_support(l->arena, type, type == OFL_K_R8 ? "fabs" : "fabsf", args[0].x, NULL);
    } else {
        struct ofl_k_expr *z = ofl_keep(l, args[0].x, "z");
        value.x = ofl_k_support(l->arena, ofl_k_part(type), type == OFL_K_C8 ? "hypot" : "hypotf",
                                ofl_k_unary(l->arena, OFL_K_RE, z), ofl_k_unary(l->arena, OFL_K_IM, z), NULL);
    }
    return value;
}

/* Rows of functions that only differ in the name of their support function. */
static const struct {
    enum ofl_intrinsic_id id;
    const char *name;
    bool positions;
} named[] = {
    {OFL_INTRINSIC_MOD, "mod", false},
    {OFL_INTRINSIC_MODULO, "modulo", false},
    {OFL_INTRINSIC_SIGN, "sign", false},
    {OFL_INTRINSIC_DIM, "dim", false},
    {OFL_INTRINSIC_NEAREST, "nearest", false},
    {OFL_INTRINSIC_SPACING, "spacing", false},
    {OFL_INTRINSIC_RRSPACING, "rrspacing", false},
    {OFL_INTRINSIC_FRACTION, "fraction", false},
    {OFL_INTRINSIC_EXPONENT, "exponent", false},
    {OFL_INTRINSIC_ISNAN, "isnan", false},
    {OFL_INTRINSIC_MERGE_BITS, "merge_bits", false},
    {OFL_INTRINSIC_SCALE, "scale", true},
    {OFL_INTRINSIC_SET_EXPONENT, "set_exponent", true},
    {OFL_INTRINSIC_ISHFT, "ishft", true},
    {OFL_INTRINSIC_LSHIFT, "shiftl", true},
    {OFL_INTRINSIC_RSHIFT, "shifta", true},
    {OFL_INTRINSIC_SHIFTL, "shiftl", true},
    {OFL_INTRINSIC_SHIFTA, "shifta", true},
    {OFL_INTRINSIC_SHIFTR, "shiftr", true},
    {OFL_INTRINSIC_IBSET, "ibset", true},
    {OFL_INTRINSIC_IBCLR, "ibclr", true},
    {OFL_INTRINSIC_IBITS, "ibits", true},
    {OFL_INTRINSIC_BTEST, "btest", true},
    {OFL_INTRINSIC_LEADZ, "leadz", true},
    {OFL_INTRINSIC_TRAILZ, "trailz", true},
    {OFL_INTRINSIC_POPCNT, "popcnt", true},
    {OFL_INTRINSIC_POPPAR, "poppar", true},
};

static struct ofl_value named_function(struct ofl_lower *l, const struct ofl_expr *expr,
                                       const struct ofl_meaning *meaning, struct ofl_value *args, unsigned count)
{
    enum ofl_intrinsic_id id = meaning->call->procedure->intrinsic->id;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (named[i].id == id) {
            return named[i].positions ? bits(l, expr, meaning, named[i].name, args, count)
                                      : support(l, expr, meaning, named[i].name, args, count);
        }
    }
    if (id == OFL_INTRINSIC_ISHFTC) {
        struct ofl_value size = {.x = ofl_k_integer(l->arena, OFL_K_I4, 8 * ofl_k_bytes(args[0].x->type))};
        struct ofl_value all[3] = {args[0], args[1], count > 2 && args[2].x != NULL ? args[2] : size};
        return bits(l, expr, meaning, "ishftc", all, 3);
    }
    ofl_lower_refuse(l, expr->span, "a call of '%s'", meaning->call->procedure->name->text);
}

struct ofl_value ofl_apply_intrinsic(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning, struct ofl_value *args, unsigned count)
{
    enum ofl_intrinsic_id id = meaning->call->procedure->intrinsic->id;
    bool done;
    if (count == 0 || args[0].x == NULL) {
        ofl_lower_refuse(l, expr->span, "these arguments of '%s'", meaning->call->procedure->name->text);
    }
    struct ofl_value value = ofl_text_intrinsic(l, expr, meaning, args, count, &done);
    if (done) {
        return value;
    }
    if (functions[id].real8 != NULL) {
        return mathematics(l, expr, meaning, args, count);
    }
    value.type = meaning->type;
    switch (id) {
    case OFL_INTRINSIC_MIN:
    case OFL_INTRINSIC_MAX:
        return smallest(l, expr, meaning, args, count);
    case OFL_INTRINSIC_ABS:
        return absolute(l, expr, meaning, args);
    case OFL_INTRINSIC_INT:
    case OFL_INTRINSIC_INT2:
    case OFL_INTRINSIC_INT8:
    case OFL_INTRINSIC_REAL:
    case OFL_INTRINSIC_DBLE:
    case OFL_INTRINSIC_LOGICAL:
        return ofl_value_as(l, args[0], meaning->type, expr->span);
    case OFL_INTRINSIC_NINT:
    case OFL_INTRINSIC_ANINT:
        return rounded(l, expr, meaning, args[0], "round");
    case OFL_INTRINSIC_AINT:
        return rounded(l, expr, meaning, args[0], "trunc");
    case OFL_INTRINSIC_FLOOR:
        return rounded(l, expr, meaning, args[0], "floor");
    case OFL_INTRINSIC_CEILING:
        return rounded(l, expr, meaning, args[0], "ceil");
    case OFL_INTRINSIC_CMPLX:
    case OFL_INTRINSIC_COMPLEX:
    case OFL_INTRINSIC_DCMPLX:
        return make_complex(l, expr, meaning, args, count);
    case OFL_INTRINSIC_REALPART:
        value.x = ofl_k_unary(l->arena, OFL_K_RE, args[0].x);
        return value;
    case OFL_INTRINSIC_AIMAG:
        value.x = ofl_k_unary(l->arena, OFL_K_IM, args[0].x);
        return value;
    case OFL_INTRINSIC_CONJG: {
        struct ofl_k_expr *z = ofl_keep(l, args[0].x, "z");
        value.x = ofl_k_complex(l->arena, ofl_k_unary(l->arena, OFL_K_RE, z),
                                ofl_k_unary(l->arena, OFL_K_NEG, ofl_k_unary(l->arena, OFL_K_IM, z)));
        return value;
    }
    case OFL_INTRINSIC_DPROD:
        value.x = ofl_op(l, OFL_K_MUL, ofl_to(l, OFL_K_R8, args[0].x), ofl_to(l, OFL_K_R8, args[1].x));
        return value;
    case OFL_INTRINSIC_NOT:
        value.x = ofl_k_unary(l->arena, OFL_K_BIT_NOT, args[0].x);
        return value;
    case OFL_INTRINSIC_IAND:
    case OFL_INTRINSIC_AND:
        return bit_operation(l, expr, meaning, OFL_K_BIT_AND, args);
    case OFL_INTRINSIC_IOR:
    case OFL_INTRINSIC_OR:
        return bit_operation(l, expr, meaning, OFL_K_BIT_OR, args);
    case OFL_INTRINSIC_IEOR:
    case OFL_INTRINSIC_XOR:
        return bit_operation(l, expr, meaning, OFL_K_BIT_XOR, args);
    case OFL_INTRINSIC_MERGE:
        return merged(l, expr, meaning, args);
    default:
        return named_function(l, expr, meaning, args, count);
    }
}
