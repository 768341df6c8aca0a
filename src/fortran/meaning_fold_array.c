/* Values of references to intrinsic functions: text, arrays, kinds.  See meaning_fold.c. */
#include "fortran/meaning_private.h"

#include <string.h>
#include <strings.h>

/* ---- BOZ -------------------------------------------------------------------------------------------------------- */

/* A typeless constant where a type is given: its low bits. */
const struct ofl_constant *ofl_value_boz(struct ofl_modules *modules, const struct ofl_constant *value,
                                         struct ofl_value_type type)
{
    uint64_t bits = (uint64_t)value->integer;
    if (type.base == OFL_TYPE_INTEGER && type.kind > 0 && type.kind <= 16) {
        unsigned shift = type.kind < 16 ? 128 - 8 * (unsigned)type.kind : 0;
        return ofl_value_integer(modules, type.kind,
                                 (ofl_integer)((unsigned __int128)value->integer << shift) >> shift);
    }
    if ((type.base == OFL_TYPE_REAL || type.base == OFL_TYPE_COMPLEX) && (type.kind == 4 || type.kind == 8)) {
        float single;
        double wide;
        memcpy(&single, &bits, sizeof single);
        memcpy(&wide, &bits, sizeof wide);
        return ofl_value_real(modules, type.kind, type.kind == 4 ? (ofl_real)single : (ofl_real)wide);
    }
    return NULL;
}

/* ---- Text ------------------------------------------------------------------------------------------------------- */

static size_t trimmed(const struct ofl_constant *text)
{
    size_t length = text->length;
    while (length > 0 && text->text[length - 1] == ' ') {
        length--;
    }
    return length;
}

static const struct ofl_constant *adjust(struct ofl_modules *modules, const struct ofl_constant *text, bool left)
{
    size_t begin = 0, end = trimmed(text);
    while (left && begin < text->length && text->text[begin] == ' ') {
        begin++;
    }
    char *copy = ofl_arena_alloc(modules->arena, text->length + 1);
    memset(copy, ' ', text->length);
    if (left) {
        memcpy(copy, text->text + begin, text->length - begin);
    } else {
        memcpy(copy + text->length - end, text->text, end);
    }
    return ofl_value_text(modules, text->kind, copy, text->length);
}

static int64_t index_of(const struct ofl_constant *text, const struct ofl_constant *part, bool back)
{
    int64_t found = 0;
    for (size_t i = 0; i + part->length <= text->length; i++) {
        if (memcmp(text->text + i, part->text, part->length) == 0) {
            found = (int64_t)i + 1;
            if (!back) {
                break;
            }
        }
    }
    return found;
}

static int64_t scan(const struct ofl_constant *text, const struct ofl_constant *set, bool back, bool in)
{
    int64_t found = 0;
    for (size_t i = 0; i < text->length; i++) {
        bool member = set->length > 0 && memchr(set->text, text->text[i], set->length) != NULL;
        if (member == in) {
            found = (int64_t)i + 1;
            if (!back) {
                break;
            }
        }
    }
    return found;
}

const struct ofl_constant *ofl_value_text_function(struct ofl_modules *modules, enum ofl_intrinsic_id id,
                                                   const struct ofl_constant *const *args, unsigned count,
                                                   struct ofl_value_type type)
{
    const struct ofl_constant *a = args[0], *b = count > 1 ? args[1] : NULL;
    bool back = count > 2 && args[2] != NULL && args[2]->integer != 0;
    switch (id) {
    case OFL_INTRINSIC_CHAR:
    case OFL_INTRINSIC_ACHAR: {
        const char letter = (char)a->integer;
        return a->integer >= 0 && a->integer < 256
                   ? ofl_value_text(modules, 1, ofl_arena_text(modules->arena, &letter, 1), 1)
                   : NULL;
    }
    case OFL_INTRINSIC_ICHAR:
    case OFL_INTRINSIC_IACHAR:
        return a->length == 1 ? ofl_value_integer(modules, type.kind, (unsigned char)a->text[0]) : NULL;
    case OFL_INTRINSIC_LEN_TRIM:
        return ofl_value_integer(modules, type.kind, (ofl_integer)trimmed(a));
    case OFL_INTRINSIC_ADJUSTL:
    case OFL_INTRINSIC_ADJUSTR:
        return adjust(modules, a, id == OFL_INTRINSIC_ADJUSTL);
    case OFL_INTRINSIC_INDEX:
        return a == NULL || b == NULL ? NULL : ofl_value_integer(modules, type.kind, index_of(a, b, back));
    case OFL_INTRINSIC_SCAN:
    case OFL_INTRINSIC_VERIFY:
        return a == NULL || b == NULL
                   ? NULL
                   : ofl_value_integer(modules, type.kind, scan(a, b, back, id == OFL_INTRINSIC_SCAN));
    case OFL_INTRINSIC_LGE:
        return ofl_value_logical(modules, type.kind, ofl_text_compare(a, b) >= 0);
    case OFL_INTRINSIC_LGT:
        return ofl_value_logical(modules, type.kind, ofl_text_compare(a, b) > 0);
    case OFL_INTRINSIC_LLE:
        return ofl_value_logical(modules, type.kind, ofl_text_compare(a, b) <= 0);
    case OFL_INTRINSIC_LLT:
        return ofl_value_logical(modules, type.kind, ofl_text_compare(a, b) < 0);
    default:
        return NULL;
    }
}

/* ---- Inquiry of arrays ------------------------------------------------------------------------------------------ */

static const struct ofl_constant *vector(struct ofl_modules *modules, struct ofl_value_type type, unsigned count,
                                         const int64_t *numbers)
{
    const int64_t extent = count;
    struct ofl_constant *array = ofl_value_array_new(modules, type, 1, &extent, count);
    for (unsigned i = 0; array != NULL && i < count; i++) {
        array->elements[i] = ofl_value_integer(modules, type.kind, numbers[i]);
        if (array->elements[i] == NULL) {
            return NULL;
        }
    }
    return array;
}

/* The lower bounds of an array: those of a declared one, else 1. */
static bool lower_bounds(struct ofl_modules *modules, const struct ofl_meaning *array, int64_t *lowers)
{
    int64_t extents[OFL_MAX_RANK];
    bool whole = (array->kind == OFL_MEANS_VARIABLE || array->kind == OFL_MEANS_CONSTANT ||
                  array->kind == OFL_MEANS_COMPONENT) &&
                 array->symbol != NULL && array->symbol->rank > 0;
    for (unsigned i = 0; i < array->rank; i++) {
        lowers[i] = 1;
    }
    if (!whole) {
        return array->kind != OFL_MEANS_VARIABLE; /* an associate name's are its selector's */
    }
    return !array->allocatable && !array->pointer && ofl_symbol_bounds(modules, array->symbol, lowers, extents);
}

const struct ofl_constant *ofl_value_array_inquiry(struct ofl_modules *modules, const struct ofl_call *call,
                                                   struct ofl_scope *scope, struct ofl_value_type type)
{
    int64_t extents[OFL_MAX_RANK], lowers[OFL_MAX_RANK], dim = 0, size = 1;
    enum ofl_intrinsic_id id = call->procedure->intrinsic->id;
    const struct ofl_meaning *array = ofl_meaning_of(modules, scope, call->args[0]);
    const struct ofl_expr *by = ofl_call_arg(call, "dim");
    bool asks = id == OFL_INTRINSIC_SIZE || id == OFL_INTRINSIC_SHAPE || id == OFL_INTRINSIC_LBOUND ||
                id == OFL_INTRINSIC_UBOUND;
    if (!asks || array->rank > OFL_MAX_RANK || !ofl_constant_shape(modules, scope, call->args[0], extents)) {
        return NULL;
    }
    if (by != NULL &&
        (!ofl_value_int64(ofl_meaning_of(modules, scope, by)->value, &dim) || dim < 1 || dim > (int64_t)array->rank)) {
        return NULL;
    }
    for (unsigned i = 0; i < array->rank; i++) {
        if (__builtin_mul_overflow(size, extents[i], &size)) {
            return NULL;
        }
    }
    if (id == OFL_INTRINSIC_SIZE) {
        return ofl_value_integer(modules, type.kind, dim > 0 ? extents[dim - 1] : size);
    }
    if (id == OFL_INTRINSIC_SHAPE) {
        return vector(modules, type, array->rank, extents);
    }
    if (!lower_bounds(modules, array, lowers)) {
        return NULL;
    }
    for (unsigned i = 0; i < array->rank; i++) {
        lowers[i] = extents[i] == 0 ? 1 : lowers[i]; /* F2018 16.9.109: 1 where the extent is zero */
        lowers[i] += id == OFL_INTRINSIC_UBOUND ? extents[i] - 1 : 0;
    }
    return dim > 0 ? ofl_value_integer(modules, type.kind, lowers[dim - 1])
                   : vector(modules, type, array->rank, lowers);
}

/* ---- Transformational functions --------------------------------------------------------------------------------- */

/* F2018 16.9.169, 16.9.170, 16.9.168. */
static int64_t integer_kind(ofl_integer range)
{
    return range <= 2 ? 1 : range <= 4 ? 2 : range <= 9 ? 4 : range <= 18 ? 8 : range <= 38 ? 16 : -1;
}

static int64_t real_kind(ofl_integer precision, ofl_integer range)
{
    if (precision > 33 || range > 4931) {
        return precision > 33 && range > 4931 ? -3 : precision > 33 ? -1 : -2;
    }
    return precision <= 6 && range <= 37 ? 4 : precision <= 15 && range <= 307 ? 8 : precision <= 18 ? 10 : 16;
}

/* The folding of all elements by an operator; with a mask only those that it picks. */
static const struct ofl_constant *reduce(struct ofl_modules *modules, enum ofl_operator op,
                                         const struct ofl_constant *array, const struct ofl_constant *mask,
                                         const struct ofl_constant *start, struct ofl_value_type type)
{
    const struct ofl_constant *result = start;
    for (size_t i = 0; i < array->count && result != NULL; i++) {
        const struct ofl_constant *chosen = mask == NULL || mask->rank == 0 ? mask : mask->elements[i];
        if (chosen == NULL || chosen->integer != 0) {
            result = ofl_value_binary(modules, op, result, array->elements[i], type);
        }
    }
    return result;
}

/* Of zeros of both signs the last one, as gfortran has it. */
static const struct ofl_constant *extreme(struct ofl_modules *modules, bool max, const struct ofl_constant *array)
{
    const struct ofl_constant *result = array->count > 0 ? array->elements[0] : NULL;
    for (size_t i = 1; i < array->count; i++) {
        struct ofl_value_type logical = ofl_type_of_kind(OFL_TYPE_LOGICAL, 4);
        const struct ofl_constant *more =
            ofl_value_binary(modules, max ? OFL_OPERATOR_GE : OFL_OPERATOR_LE, array->elements[i], result, logical);
        if (more == NULL) {
            return NULL;
        }
        result = more->integer != 0 ? array->elements[i] : result;
    }
    return result;
}

static const struct ofl_constant *reshape(struct ofl_modules *modules, const struct ofl_constant *source,
                                          const struct ofl_constant *shape, const struct ofl_constant *padding)
{
    int64_t count = 1, extents[OFL_MAX_RANK];
    if (shape->count > OFL_MAX_RANK) {
        return NULL;
    }
    for (size_t i = 0; i < shape->count; i++) {
        if (!ofl_value_int64(shape->elements[i], &extents[i]) || extents[i] < 0) {
            return NULL;
        }
        count = extents[i] > OFL_MAX_FOLDED ? OFL_MAX_FOLDED + 1 : count * extents[i];
        if (count > OFL_MAX_FOLDED) {
            return NULL;
        }
    }
    struct ofl_constant *array = ofl_value_array_new(modules, ofl_type_of_kind(source->base, source->kind),
                                                     (unsigned)shape->count, extents, (size_t)count);
    if (array == NULL) {
        return NULL;
    }
    if (array->count > source->count && (padding == NULL || padding->count == 0)) {
        return NULL;
    }
    for (size_t i = 0; i < array->count; i++) {
        array->elements[i] =
            i < source->count ? source->elements[i] : padding->elements[(i - source->count) % padding->count];
    }
    return array;
}

static const struct ofl_constant *repeat(struct ofl_modules *modules, const struct ofl_constant *text,
                                         ofl_integer times)
{
    if (times < 0 || times > OFL_MAX_FOLDED || (size_t)times * text->length > OFL_MAX_FOLDED) {
        return NULL;
    }
    size_t length = (size_t)times * text->length;
    char *copy = ofl_arena_alloc(modules->arena, length + 1);
    for (size_t i = 0; i < length; i++) {
        copy[i] = text->text[i % text->length];
    }
    return ofl_value_text(modules, text->kind, copy, length);
}

static const struct ofl_constant *dot_product(struct ofl_modules *modules, const struct ofl_constant *a,
                                              const struct ofl_constant *b, struct ofl_value_type type)
{
    const struct ofl_constant *sum = ofl_value_convert(modules, ofl_value_integer(modules, 4, 0), type);
    for (size_t i = 0; i < a->count && sum != NULL; i++) {
        const struct ofl_constant *factor = a->elements[i];
        if (a->base == OFL_TYPE_COMPLEX) {
            struct ofl_constant *conjugate = ofl_constant_new(modules, OFL_TYPE_COMPLEX, factor->kind);
            conjugate->re = factor->re;
            conjugate->im = -factor->im;
            factor = conjugate;
        }
        const struct ofl_constant *term =
            a->count == b->count ? ofl_value_binary(modules, OFL_OPERATOR_MUL, factor, b->elements[i], type) : NULL;
        sum = term != NULL ? ofl_value_binary(modules, OFL_OPERATOR_ADD, sum, term, type) : NULL;
    }
    return sum;
}

const struct ofl_constant *ofl_value_transformed(struct ofl_modules *modules, const struct ofl_call *call,
                                                 const struct ofl_constant *const *values, struct ofl_value_type type)
{
    const struct ofl_constant *first = call->arg_count > 0 ? values[0] : NULL;
    const struct ofl_constant *zero = ofl_value_integer(modules, 4, 0), *truth;
    bool dim = ofl_call_arg(call, "dim") != NULL;
    enum ofl_intrinsic_id id = call->procedure->intrinsic->id;
    if (first == NULL && id != OFL_INTRINSIC_SELECTED_REAL_KIND && id != OFL_INTRINSIC_IEEE_SELECTED_REAL_KIND) {
        return NULL;
    }
    switch (id) {
    case OFL_INTRINSIC_SELECTED_INT_KIND:
        return ofl_value_integer(modules, type.kind, integer_kind(first->integer));
    case OFL_INTRINSIC_SELECTED_REAL_KIND:
    case OFL_INTRINSIC_IEEE_SELECTED_REAL_KIND:
        return ofl_value_integer(
            modules, type.kind,
            real_kind(first != NULL ? first->integer : 0, values[1] != NULL ? values[1]->integer : 0));
    case OFL_INTRINSIC_SELECTED_CHAR_KIND:
        return ofl_value_integer(modules, type.kind,
                                 first->length >= 9 && strncasecmp(first->text, "iso_10646", 9) == 0 ? 4
                                 : first->length >= 5 && (strncasecmp(first->text, "ascii", 5) == 0 ||
                                                          strncasecmp(first->text, "default", 7) == 0)
                                     ? 1
                                     : -1);
    case OFL_INTRINSIC_TRIM:
        return ofl_value_text(modules, first->kind, first->text, trimmed(first));
    case OFL_INTRINSIC_REPEAT:
        return repeat(modules, first, values[1]->integer);
    case OFL_INTRINSIC_RESHAPE:
        return values[3] == NULL && first->rank > 0 ? reshape(modules, first, values[1], values[2]) : NULL;
    case OFL_INTRINSIC_SUM:
        return dim ? NULL
                   : reduce(modules, OFL_OPERATOR_ADD, first, values[2], ofl_value_convert(modules, zero, type), type);
    case OFL_INTRINSIC_PRODUCT:
        return dim ? NULL
                   : reduce(modules, OFL_OPERATOR_MUL, first, values[2],
                            ofl_value_convert(modules, ofl_value_integer(modules, 4, 1), type), type);
    case OFL_INTRINSIC_ANY:
        truth = ofl_value_logical(modules, type.kind, false);
        return dim ? NULL : reduce(modules, OFL_OPERATOR_OR, first, NULL, truth, type);
    case OFL_INTRINSIC_ALL:
        truth = ofl_value_logical(modules, type.kind, true);
        return dim ? NULL : reduce(modules, OFL_OPERATOR_AND, first, NULL, truth, type);
    case OFL_INTRINSIC_COUNT: {
        ofl_integer count = 0;
        for (size_t i = 0; i < first->count; i++) {
            count += first->elements[i] != NULL && first->elements[i]->integer != 0;
        }
        return dim ? NULL : ofl_value_integer(modules, type.kind, count);
    }
    case OFL_INTRINSIC_MAXVAL:
    case OFL_INTRINSIC_MINVAL:
        return dim || values[2] != NULL ? NULL : extreme(modules, id == OFL_INTRINSIC_MAXVAL, first);
    case OFL_INTRINSIC_DOT_PRODUCT:
        return ofl_type_is_numeric(type) ? dot_product(modules, first, values[1], type) : NULL;
    default:
        return NULL;
    }
}
