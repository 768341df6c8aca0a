/* Values of references to intrinsic functions: inquiry and numbers.  Text and arrays are meaning_fold_array.c's.
 *
 * Entry point: ofl_value_intrinsic.  Real functions are evaluated in real(16) and rounded to their
 * kind, which gives what gfortran's MPFR gives except where the exact result lies within 2^-50 units in the last place
 * of a rounding boundary.  What is not in the switch has no value. */
#include "fortran/meaning_private.h"

#include <math.h>
#include <string.h>

struct fold {
    struct ofl_modules *modules;
    enum ofl_intrinsic_id id;
    struct ofl_value_type type;
    struct ofl_value_type first; /* of the first argument */
};

/* ---- Inquiry ---------------------------------------------------------------------------------------------------- */

struct model {
    int kind, digits, least, most, decimal, range; /* F2018 16.4 */
};

static const struct model *model_of(int kind)
{
    static const struct model models[] = {{4, 24, -125, 128, 6, 37},
                                          {8, 53, -1021, 1024, 15, 307},
                                          {10, 64, -16381, 16384, 18, 4931},
                                          {16, 113, -16381, 16384, 33, 4931}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (models[i].kind == kind) {
            return &models[i];
        }
    }
    return NULL;
}

static int integer_range(int kind)
{
    return kind == 1 ? 2 : kind == 2 ? 4 : kind == 4 ? 9 : kind == 8 ? 18 : 38;
}

static ofl_integer integer_huge(int kind)
{
    return kind == 16 ? (ofl_integer)(~(unsigned __int128)0 >> 1) : ((ofl_integer)1 << (kind * 8 - 1)) - 1;
}

/* What a type alone answers; *number is an integer answer, the result a real one. */
static const struct ofl_constant *type_inquiry(const struct fold *fold, bool *integer, ofl_integer *number)
{
    const struct model *model = fold->first.base == OFL_TYPE_INTEGER ? NULL : model_of(fold->first.kind);
    int kind = fold->first.kind;
    *integer = true;
    switch (fold->id) {
    case OFL_INTRINSIC_KIND:
        *number = kind;
        return NULL;
    case OFL_INTRINSIC_BIT_SIZE:
        *number = kind * 8;
        return NULL;
    case OFL_INTRINSIC_RADIX:
        *number = 2;
        return NULL;
    case OFL_INTRINSIC_DIGITS:
        *number = model != NULL ? model->digits : kind * 8 - 1;
        return NULL;
    case OFL_INTRINSIC_RANGE:
        *number = model != NULL ? model->range : integer_range(kind);
        return NULL;
    default:
        break;
    }
    if (fold->id == OFL_INTRINSIC_HUGE && fold->first.base == OFL_TYPE_INTEGER) {
        *number = integer_huge(kind);
        return NULL;
    }
    *integer = model != NULL;
    if (model == NULL) {
        return NULL;
    }
    switch (fold->id) {
    case OFL_INTRINSIC_MAXEXPONENT:
        *number = model->most;
        return NULL;
    case OFL_INTRINSIC_MINEXPONENT:
        *number = model->least;
        return NULL;
    case OFL_INTRINSIC_PRECISION:
        *number = model->decimal;
        return NULL;
    default:
        break;
    }
    *integer = false;
    switch (fold->id) {
    case OFL_INTRINSIC_HUGE:
        return ofl_value_real(fold->modules, kind, scalbnf128(1 - scalbnf128(1, -model->digits), model->most));
    case OFL_INTRINSIC_TINY:
        return ofl_value_real(fold->modules, kind, scalbnf128(1, model->least - 1));
    case OFL_INTRINSIC_EPSILON:
        return ofl_value_real(fold->modules, kind, scalbnf128(1, 1 - model->digits));
    default:
        return NULL;
    }
}

static int64_t storage_bits(struct ofl_value_type type)
{
    int64_t bytes = type.base == OFL_TYPE_CHARACTER ? type.characters * type.kind
                    : type.base == OFL_TYPE_COMPLEX ? 2 * type.kind
                                                    : type.kind;
    return 8 * (type.kind == 10 ? bytes / 10 * 16 : bytes);
}

/* ---- One number ------------------------------------------------------------------------------------------------- */

static ofl_integer wrap(ofl_integer value, int kind)
{
    switch (kind) {
    case 1:
        return (int8_t)value;
    case 2:
        return (int16_t)value;
    case 4:
        return (int32_t)value;
    case 8:
        return (int64_t)value;
    default:
        return value;
    }
}

static unsigned __int128 low_bits(ofl_integer value, int kind)
{
    return kind == 16 ? (unsigned __int128)value
                      : (unsigned __int128)value & (((unsigned __int128)1 << (8 * (unsigned)kind)) - 1);
}

static const struct ofl_constant *shift(const struct fold *fold, ofl_integer value, ofl_integer by)
{
    int kind = fold->first.kind, bits = 8 * kind;
    if (by > bits || by < -bits) {
        return NULL;
    }
    unsigned __int128 word = low_bits(value, kind);
    unsigned up = by > 0 ? (unsigned)by : 0, down = by < 0 ? (unsigned)-by : 0;
    word = up >= 128 || down >= 128 ? 0 : word << up >> down;
    return ofl_value_integer(fold->modules, kind, wrap((ofl_integer)word, kind));
}

static const struct ofl_constant *bits(const struct fold *fold, const struct ofl_constant *const *args)
{
    int kind = fold->type.kind;
    ofl_integer a = args[0]->integer, b = args[1] != NULL ? args[1]->integer : 0;
    unsigned size = 8 * (unsigned)fold->first.kind;
    bool position = b >= 0 && b < size;
    unsigned at = position ? (unsigned)b : 0;
    switch (fold->id) {
    case OFL_INTRINSIC_IAND:
    case OFL_INTRINSIC_AND:
        return ofl_value_integer(fold->modules, kind, wrap(a & b, kind));
    case OFL_INTRINSIC_IOR:
    case OFL_INTRINSIC_OR:
        return ofl_value_integer(fold->modules, kind, wrap(a | b, kind));
    case OFL_INTRINSIC_IEOR:
    case OFL_INTRINSIC_XOR:
        return ofl_value_integer(fold->modules, kind, wrap(a ^ b, kind));
    case OFL_INTRINSIC_NOT:
        return ofl_value_integer(fold->modules, kind, ~a);
    case OFL_INTRINSIC_IBSET:
        return position ? ofl_value_integer(fold->modules, kind, wrap(a | (ofl_integer)1 << at, kind)) : NULL;
    case OFL_INTRINSIC_IBCLR:
        return position ? ofl_value_integer(fold->modules, kind, wrap(a & ~((ofl_integer)1 << at), kind)) : NULL;
    case OFL_INTRINSIC_BTEST:
        return position ? ofl_value_logical(fold->modules, kind, (low_bits(a, fold->first.kind) >> at & 1) != 0) : NULL;
    case OFL_INTRINSIC_ISHFT:
        return shift(fold, a, b);
    case OFL_INTRINSIC_SHIFTL:
    case OFL_INTRINSIC_LSHIFT:
        return b >= 0 ? shift(fold, a, b) : NULL;
    case OFL_INTRINSIC_SHIFTR:
        return b >= 0 ? shift(fold, a, -b) : NULL;
    case OFL_INTRINSIC_SHIFTA:
    case OFL_INTRINSIC_RSHIFT:
        return b >= 0 && b <= size ? ofl_value_integer(fold->modules, kind, b == size ? (a < 0 ? -1 : 0) : a >> at)
                                   : NULL;
    case OFL_INTRINSIC_POPCNT: {
        unsigned __int128 word = low_bits(a, fold->first.kind);
        return ofl_value_integer(fold->modules, kind,
                                 __builtin_popcountll((uint64_t)word) + __builtin_popcountll((uint64_t)(word >> 64)));
    }
    default:
        return NULL;
    }
}

static const struct ofl_constant *integer_pair(const struct fold *fold, ofl_integer a, ofl_integer b)
{
    ofl_integer result;
    switch (fold->id) {
    case OFL_INTRINSIC_MOD:
    case OFL_INTRINSIC_MODULO:
        if (b == 0) {
            return NULL;
        }
        result = b == -1 ? 0 : a % b;
        result += fold->id == OFL_INTRINSIC_MODULO && result != 0 && (result < 0) != (b < 0) ? b : 0;
        break;
    case OFL_INTRINSIC_SIGN:
        result = (a < 0 ? -a : a) * (b < 0 ? -1 : 1);
        break;
    case OFL_INTRINSIC_DIM:
        result = a > b ? a - b : 0;
        break;
    default:
        return NULL;
    }
    return ofl_value_integer(fold->modules, fold->type.kind, result);
}

static const struct ofl_constant *real_pair(const struct fold *fold, ofl_real a, ofl_real b)
{
    ofl_real result;
    switch (fold->id) {
    case OFL_INTRINSIC_MOD:
    case OFL_INTRINSIC_MODULO:
        if (b == 0) {
            return NULL;
        }
        result = fmodf128(a, b); /* a zero has the sign of a, in modulo that of b */
        if (fold->id == OFL_INTRINSIC_MODULO) {
            result = result == 0 ? copysignf128(result, b) : (result < 0) != (b < 0) ? result + b : result;
        }
        break;
    case OFL_INTRINSIC_SIGN:
        result = copysignf128(a, b);
        break;
    case OFL_INTRINSIC_DIM:
        result = a > b ? a - b : 0;
        break;
    case OFL_INTRINSIC_ATAN2:
    case OFL_INTRINSIC_ATAN:
        result = atan2f128(a, b);
        break;
    case OFL_INTRINSIC_HYPOT:
        result = hypotf128(a, b);
        break;
    case OFL_INTRINSIC_DPROD:
        result = a * b;
        break;
    default:
        return NULL;
    }
    return isfinite(result) ? ofl_value_real(fold->modules, fold->type.kind, result) : NULL;
}

static bool real_function(enum ofl_intrinsic_id id, ofl_real x, ofl_real *y)
{
    static const struct {
        enum ofl_intrinsic_id id;
        ofl_real (*function)(ofl_real);
    } functions[] = {
        {OFL_INTRINSIC_SQRT, sqrtf128},    {OFL_INTRINSIC_EXP, expf128},      {OFL_INTRINSIC_LOG, logf128},
        {OFL_INTRINSIC_LOG10, log10f128},  {OFL_INTRINSIC_SIN, sinf128},      {OFL_INTRINSIC_COS, cosf128},
        {OFL_INTRINSIC_TAN, tanf128},      {OFL_INTRINSIC_ASIN, asinf128},    {OFL_INTRINSIC_ACOS, acosf128},
        {OFL_INTRINSIC_ATAN, atanf128},    {OFL_INTRINSIC_SINH, sinhf128},    {OFL_INTRINSIC_COSH, coshf128},
        {OFL_INTRINSIC_TANH, tanhf128},    {OFL_INTRINSIC_ASINH, asinhf128},  {OFL_INTRINSIC_ACOSH, acoshf128},
        {OFL_INTRINSIC_ATANH, atanhf128},  {OFL_INTRINSIC_GAMMA, tgammaf128}, {OFL_INTRINSIC_LOG_GAMMA, lgammaf128},
        {OFL_INTRINSIC_ERF, erff128},      {OFL_INTRINSIC_ERFC, erfcf128},    {OFL_INTRINSIC_ABS, fabsf128},
        {OFL_INTRINSIC_AINT, truncf128},   {OFL_INTRINSIC_BESSEL_J0, j0f128}, {OFL_INTRINSIC_BESSEL_J1, j1f128},
        {OFL_INTRINSIC_BESSEL_Y0, y0f128}, {OFL_INTRINSIC_BESSEL_Y1, y1f128},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (functions[i].id == id) {
            *y = functions[i].function(x);
            return isfinite(*y);
        }
    }
    return false;
}

/* anint: the nearest whole number that has no more digits; of two that are as near, the one away from zero. */
static ofl_real nearest_whole(ofl_real x, int digits)
{
    int exponent = 0;
    frexpf128(x, &exponent);
    int spacing = exponent > digits ? exponent - digits : 0;
    return scalbnf128(roundf128(scalbnf128(x, -spacing)), spacing);
}

static const struct ofl_constant *real_one(const struct fold *fold, ofl_real x)
{
    ofl_real y = 0;
    switch (fold->id) {
    case OFL_INTRINSIC_FLOOR:
    case OFL_INTRINSIC_CEILING:
    case OFL_INTRINSIC_NINT:
        y = fold->id == OFL_INTRINSIC_FLOOR     ? floorf128(x)
            : fold->id == OFL_INTRINSIC_CEILING ? ceilf128(x)
                                                : roundf128(x);
        return fabsf128(y) < (ofl_real)1e30 ? ofl_value_integer(fold->modules, fold->type.kind, (ofl_integer)y) : NULL;
    case OFL_INTRINSIC_ANINT: {
        const struct model *model = model_of(fold->type.kind);
        return model != NULL ? ofl_value_real(fold->modules, fold->type.kind, nearest_whole(x, model->digits)) : NULL;
    }
    default:
        return real_function(fold->id, x, &y) ? ofl_value_real(fold->modules, fold->type.kind, y) : NULL;
    }
}

static const struct ofl_constant *complex_one(const struct fold *fold, const struct ofl_constant *z)
{
    struct ofl_constant *result = ofl_constant_new(fold->modules, OFL_TYPE_COMPLEX, fold->type.kind);
    switch (fold->id) {
    case OFL_INTRINSIC_AIMAG:
        return ofl_value_real(fold->modules, fold->type.kind, z->im);
    case OFL_INTRINSIC_REALPART:
        return ofl_value_real(fold->modules, fold->type.kind, z->re);
    case OFL_INTRINSIC_ABS:
        return ofl_value_real(fold->modules, fold->type.kind, hypotf128(z->re, z->im));
    case OFL_INTRINSIC_CONJG:
        result->re = z->re;
        result->im = -z->im;
        return result;
    case OFL_INTRINSIC_EXP:
        result->re = ofl_real_round(expf128(z->re) * cosf128(z->im), fold->type.kind);
        result->im = ofl_real_round(expf128(z->re) * sinf128(z->im), fold->type.kind);
        return isfinite(result->re) && isfinite(result->im) ? result : NULL;
    default:
        return NULL;
    }
}

/* cmplx(x, y), complex(real, imag), dcmplx: parts of any numeric type. */
static const struct ofl_constant *compose(const struct fold *fold, const struct ofl_constant *const *args)
{
    struct ofl_value_type part = ofl_type_of_kind(OFL_TYPE_REAL, fold->type.kind);
    struct ofl_constant *result = ofl_constant_new(fold->modules, OFL_TYPE_COMPLEX, fold->type.kind);
    const struct ofl_constant *re = ofl_value_convert(fold->modules, args[0], part);
    const struct ofl_constant *im = args[1] != NULL ? ofl_value_convert(fold->modules, args[1], part) : NULL;
    if (re == NULL || (args[1] != NULL && im == NULL)) {
        return NULL;
    }
    result->re = re->re;
    result->im = im != NULL                          ? im->re
                 : args[0]->base == OFL_TYPE_COMPLEX ? ofl_real_round(args[0]->im, fold->type.kind)
                                                     : 0;
    return result;
}

static const struct ofl_constant *extreme(const struct fold *fold, const struct ofl_constant *a,
                                          const struct ofl_constant *b)
{
    bool max = fold->id == OFL_INTRINSIC_MAX;
    int order = a->base == OFL_TYPE_CHARACTER ? ofl_text_compare(a, b)
                : a->base == OFL_TYPE_INTEGER ? (a->integer > b->integer) - (a->integer < b->integer)
                                              : (a->re > b->re) - (a->re < b->re);
    return order == 0 || (order > 0) == max ? a : b; /* of zeros of both signs the first */
}

static const struct ofl_constant *one(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                      unsigned count, const void *context)
{
    const struct fold *fold = context;
    const struct ofl_constant *a = args[0], *b = count > 1 ? args[1] : NULL;
    switch (fold->id) {
    case OFL_INTRINSIC_INT:
    case OFL_INTRINSIC_INT2:
    case OFL_INTRINSIC_INT8:
    case OFL_INTRINSIC_REAL:
    case OFL_INTRINSIC_DBLE:
    case OFL_INTRINSIC_LOGICAL:
        return ofl_value_convert(modules, a, fold->type);
    case OFL_INTRINSIC_CMPLX:
    case OFL_INTRINSIC_DCMPLX:
    case OFL_INTRINSIC_COMPLEX:
        return compose(fold, args);
    case OFL_INTRINSIC_MERGE:
        return args[2]->integer != 0 ? a : b;
    case OFL_INTRINSIC_MAX:
    case OFL_INTRINSIC_MIN:
        a = ofl_value_convert(modules, a, fold->type);
        b = ofl_value_convert(modules, b, fold->type);
        return a == NULL || b == NULL ? NULL : extreme(fold, a, b);
    default:
        break;
    }
    const struct ofl_constant *text = ofl_value_text_function(modules, fold->id, args, count, fold->type);
    if (text != NULL || a->base == OFL_TYPE_CHARACTER) {
        return text;
    }
    if (a->base == OFL_TYPE_COMPLEX) {
        return complex_one(fold, a);
    }
    if (a->base == OFL_TYPE_REAL) {
        return b != NULL && b->base == OFL_TYPE_REAL      ? real_pair(fold, a->re, b->re)
               : b == NULL || b->base == OFL_TYPE_INTEGER ? real_one(fold, a->re)
                                                          : NULL;
    }
    if (fold->id == OFL_INTRINSIC_ABS) {
        return ofl_value_integer(modules, fold->type.kind, a->integer < 0 ? -a->integer : a->integer);
    }
    const struct ofl_constant *result = b != NULL ? integer_pair(fold, a->integer, b->integer) : NULL;
    return result != NULL ? result : bits(fold, args);
}

/* ---- References ------------------------------------------------------------------------------------------------- */

/* The value of an elemental function whose arguments have values; `kind` is no argument of the computation. */
static const struct ofl_constant *elemental(const struct fold *fold, const struct ofl_constant *const *values,
                                            unsigned count, unsigned dummies)
{
    if (fold->id == OFL_INTRINSIC_MAX || fold->id == OFL_INTRINSIC_MIN) {
        const struct ofl_constant *result = values[0];
        for (unsigned i = 1; i < count && result != NULL; i++) {
            const struct ofl_constant *pair[] = {result, values[i]};
            result = values[i] != NULL ? ofl_value_map(fold->modules, pair, 2, fold->type, one, fold) : NULL;
        }
        return result;
    }
    return count <= OFL_MAX_FORMALS && count <= dummies
               ? ofl_value_map(fold->modules, values, count, fold->type, one, fold)
               : NULL;
}

/* What declarations answer. */
static const struct ofl_constant *inquiry(const struct fold *fold, const struct ofl_call *call, struct ofl_scope *scope,
                                          const struct ofl_meaning *first)
{
    bool integer = false;
    ofl_integer number = 0;
    if (fold->id == OFL_INTRINSIC_LEN) {
        return fold->first.length_form == OFL_LENGTH_KNOWN
                   ? ofl_value_integer(fold->modules, fold->type.kind, fold->first.characters)
                   : NULL;
    }
    if (fold->id == OFL_INTRINSIC_RANK) {
        return first->rank != OFL_ASSUMED_RANK ? ofl_value_integer(fold->modules, fold->type.kind, first->rank) : NULL;
    }
    if (fold->id == OFL_INTRINSIC_STORAGE_SIZE || fold->id == OFL_INTRINSIC_SIZEOF ||
        fold->id == OFL_INTRINSIC_C_SIZEOF) {
        bool plain = fold->first.kind > 0 &&
                     (fold->first.base != OFL_TYPE_CHARACTER || fold->first.length_form == OFL_LENGTH_KNOWN);
        bool storage = fold->id == OFL_INTRINSIC_STORAGE_SIZE;
        return plain && (storage || first->rank == 0)
                   ? ofl_value_integer(fold->modules, fold->type.kind, storage_bits(fold->first) / (storage ? 1 : 8))
                   : NULL;
    }
    if (fold->first.base == OFL_TYPE_INTEGER || fold->first.base == OFL_TYPE_REAL ||
        fold->first.base == OFL_TYPE_COMPLEX || fold->id == OFL_INTRINSIC_KIND) {
        const struct ofl_constant *real = type_inquiry(fold, &integer, &number);
        if (real != NULL) {
            return real;
        }
        if (integer && fold->id != OFL_INTRINSIC_SIZE && ofl_is_type_inquiry(fold->id)) {
            return ofl_value_integer(fold->modules, fold->type.kind, number);
        }
    }
    return ofl_value_array_inquiry(fold->modules, call, scope, fold->type);
}

bool ofl_is_type_inquiry(enum ofl_intrinsic_id id)
{
    switch (id) {
    case OFL_INTRINSIC_KIND:
    case OFL_INTRINSIC_BIT_SIZE:
    case OFL_INTRINSIC_RADIX:
    case OFL_INTRINSIC_DIGITS:
    case OFL_INTRINSIC_RANGE:
    case OFL_INTRINSIC_HUGE:
    case OFL_INTRINSIC_MAXEXPONENT:
    case OFL_INTRINSIC_MINEXPONENT:
    case OFL_INTRINSIC_PRECISION:
        return true;
    default:
        return false;
    }
}

const struct ofl_constant *ofl_value_intrinsic(struct ofl_modules *modules, const struct ofl_call *call,
                                               struct ofl_scope *scope, const struct ofl_meaning *meaning)
{
    const struct ofl_intrinsic *intrinsic = call->procedure->intrinsic;
    const struct ofl_meaning *first =
        call->arg_count > 0 && call->args[0] != NULL ? ofl_meaning_of(modules, scope, call->args[0]) : NULL;
    struct fold fold = {modules, intrinsic->id, meaning->type, {0}};
    if (first != NULL) {
        fold.first = first->type;
        if (first->kind == OFL_MEANS_TYPELESS) {
            fold.first = fold.type;
        }
    }
    if (intrinsic->class == OFL_INTRINSIC_INQUIRY) {
        return first != NULL ? inquiry(&fold, call, scope, first) : NULL;
    }
    enum { MOST = 64 };
    const struct ofl_constant *values[MOST] = {NULL};
    unsigned count = call->arg_count;
    if (count > MOST || !ofl_intrinsic_is_pure(intrinsic)) {
        return NULL;
    }
    for (unsigned i = 0; i < count; i++) {
        bool kind = i < call->procedure->dummy_count && strcmp(call->procedure->dummies[i].name->text, "kind") == 0;
        if (call->args[i] == NULL || kind) {
            continue;
        }
        const struct ofl_meaning *actual = ofl_meaning_of(modules, scope, call->args[i]);
        values[i] = actual->value;
        if (values[i] != NULL && actual->kind == OFL_MEANS_TYPELESS) {
            values[i] = ofl_value_boz(modules, values[i], meaning->type);
        }
        if (values[i] == NULL) {
            return NULL;
        }
    }
    return intrinsic->class == OFL_INTRINSIC_ELEMENTAL ? elemental(&fold, values, count, call->procedure->dummy_count)
                                                       : ofl_value_transformed(modules, call, values, meaning->type);
}
