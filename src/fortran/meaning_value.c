/* Values: of literals, named constants, array constructors and parts of constants.
 *
 * A value is worked out where an expression's meaning is, from those of its operands.  What is too large (more than
 * OFL_MAX_FOLDED elements), overflows or needs what is not here has no value, which is no error: the expression may be
 * constant all the same. */
#include "fortran/meaning_private.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making values ---------------------------------------------------------------------------------------------- */

struct ofl_constant *ofl_constant_new(struct ofl_modules *modules, enum ofl_type_kind base, int kind)
{
    struct ofl_constant *value = OFL_NEW(modules->arena, struct ofl_constant);
    value->base = base;
    value->kind = kind;
    return value;
}

struct ofl_constant *ofl_value_array_new(struct ofl_modules *modules, struct ofl_value_type type, unsigned rank,
                                         const int64_t *extents, size_t count)
{
    if (count > OFL_MAX_FOLDED || modules->elements + count > OFL_MAX_ELEMENTS || rank > OFL_MAX_RANK) {
        return NULL;
    }
    struct ofl_constant *array = ofl_constant_new(modules, type.base, type.kind);
    int64_t *copy = ofl_arena_alloc(modules->arena, (rank + 1) * sizeof *copy);
    memcpy(copy, extents, rank * sizeof *copy);
    modules->elements += count;
    array->rank = rank;
    array->extent = copy;
    array->count = count;
    array->elements = ofl_arena_alloc(modules->arena, (count + 1) * sizeof(void *));
    return array;
}

const struct ofl_constant *ofl_value_integer(struct ofl_modules *modules, int kind, ofl_integer number)
{
    if (!ofl_integer_fits(number, kind)) {
        return NULL;
    }
    struct ofl_constant *value = ofl_constant_new(modules, OFL_TYPE_INTEGER, kind);
    value->integer = number;
    return value;
}

const struct ofl_constant *ofl_value_logical(struct ofl_modules *modules, int kind, bool truth)
{
    struct ofl_constant *value = ofl_constant_new(modules, OFL_TYPE_LOGICAL, kind);
    value->integer = truth;
    return value;
}

const struct ofl_constant *ofl_value_real(struct ofl_modules *modules, int kind, ofl_real number)
{
    struct ofl_constant *value = ofl_constant_new(modules, OFL_TYPE_REAL, kind);
    value->re = ofl_real_round(number, kind);
    return value;
}

const struct ofl_constant *ofl_value_text(struct ofl_modules *modules, int kind, const char *text, size_t length)
{
    struct ofl_constant *value = ofl_constant_new(modules, OFL_TYPE_CHARACTER, kind);
    value->text = text;
    value->length = length;
    return value;
}

bool ofl_integer_fits(ofl_integer number, int kind)
{
    if (kind < 1 || kind > 8) {
        return kind == 16;
    }
    ofl_integer limit = (ofl_integer)1 << (kind * CHAR_BIT - 1);
    return number >= -limit && number < limit;
}

bool ofl_value_int64(const struct ofl_constant *value, int64_t *number)
{
    if (value == NULL || value->base != OFL_TYPE_INTEGER || value->rank > 0 || !ofl_integer_fits(value->integer, 8)) {
        return false;
    }
    *number = (int64_t)value->integer;
    return true;
}

static ofl_real nearest(ofl_real value, int kind)
{
    return kind == 4    ? (ofl_real)(float)value
           : kind == 8  ? (ofl_real)(double)value
           : kind == 10 ? (ofl_real)(long double)value
                        : value;
}

/* Small numbers as gfortran has them in constants: rounded twice where they are subnormal, first to all digits of the
 * kind, then to those that are left; and what is then less than the least of them is zero, without its sign. */
ofl_real ofl_real_round(ofl_real value, int kind)
{
    ofl_real normal = kind == 4 ? FLT_MIN : DBL_MIN, least = kind == 4 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
    ofl_real size = value < 0 ? -value : value;
    if ((kind == 4 || kind == 8) && size > 0 && size < normal) {
        int exponent = 0;
        ofl_real digits = frexpf128(value, &exponent);
        value = scalbnf128(nearest(digits, kind), exponent);
        value = value > -least && value < least ? 0 : value;
    }
    return nearest(value, kind);
}

uint64_t ofl_constant_bits(ofl_real value, int kind)
{
    uint64_t bits = 0;
    float single = (float)value;
    double wide = (double)value;
    if (kind == 4) {
        memcpy(&bits, &single, sizeof single); /* little-endian, as all machines that this is built for */
    } else {
        memcpy(&bits, &wide, sizeof wide);
    }
    return bits;
}

/* ---- Literals --------------------------------------------------------------------------------------------------- */

static ofl_real real_of_text(struct ofl_modules *modules, const char *text, int kind)
{
    char *copy = ofl_arena_text(modules->arena, text, strlen(text));
    for (char *c = copy; *c != '\0'; c++) {
        *c = strchr("dDqQeE", *c) != NULL ? 'e' : *c;
    }
    ofl_real value = kind == 4 ? (ofl_real)strtof(copy, NULL) : (ofl_real)strtod(copy, NULL);
    bool small = value < (kind == 4 ? (ofl_real)FLT_MIN : (ofl_real)DBL_MIN);
    switch (kind) {
    case 4:
    case 8:
        return small ? strtof128(copy, NULL) : value; /* ofl_real_round has its own way with small numbers */
    case 10:
        return strtold(copy, NULL);
    default:
        return strtof128(copy, NULL);
    }
}

static const struct ofl_constant *integer_literal(struct ofl_modules *modules, const char *text, int kind)
{
    ofl_integer number = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number)) {
            return NULL;
        }
    }
    return ofl_value_integer(modules, kind, number);
}

/* R764 boz-literal-constant, also with the letter behind. */
static const struct ofl_constant *boz_literal(struct ofl_modules *modules, const char *text)
{
    const char *begin = strpbrk(text, "'\""), *end = begin != NULL ? strchr(begin + 1, *begin) : NULL;
    if (end == NULL) {
        return NULL;
    }
    char letter = (char)(begin > text ? text[0] | 0x20 : end[1] | 0x20);
    unsigned bits = letter == 'b' ? 1 : letter == 'o' ? 3 : 4;
    unsigned __int128 number = 0;
    for (const char *c = begin + 1; c < end; c++) {
        unsigned digit = *c <= '9' ? (unsigned)(*c - '0') : (unsigned)((*c | 0x20) - 'a') + 10;
        if (number >> (128 - bits) != 0) {
            return NULL;
        }
        number = number << bits | digit;
    }
    return ofl_value_integer(modules, 16, (ofl_integer)number);
}

const struct ofl_constant *ofl_value_literal(struct ofl_modules *modules, const struct ofl_expr *expr,
                                             struct ofl_value_type type)
{
    size_t length = 0;
    switch (expr->kind) {
    case OFL_EXPR_INTEGER:
        return integer_literal(modules, expr->as.literal.text, type.kind);
    case OFL_EXPR_REAL:
        return ofl_value_real(modules, type.kind, real_of_text(modules, expr->as.literal.text, type.kind));
    case OFL_EXPR_LOGICAL:
        return ofl_value_logical(modules, type.kind, expr->as.literal.value != 0);
    case OFL_EXPR_CHARACTER:
        if (type.kind == 1) {
            const char *text = ofl_literal_text(modules->arena, expr, modules->backslash, &length);
            return ofl_value_text(modules, 1, text, length);
        }
        return NULL;
    case OFL_EXPR_BOZ:
        return boz_literal(modules, expr->as.literal.text);
    default:
        return NULL;
    }
}

/* ---- Conversion ------------------------------------------------------------------------------------------------- */

static const struct ofl_constant *pad(struct ofl_modules *modules, const struct ofl_constant *value,
                                      struct ofl_value_type type)
{
    if (type.length_form != OFL_LENGTH_KNOWN || (size_t)type.characters == value->length ||
        type.characters > OFL_MAX_FOLDED) {
        return type.characters > OFL_MAX_FOLDED && type.length_form == OFL_LENGTH_KNOWN ? NULL : value;
    }
    char *text = ofl_arena_alloc(modules->arena, (size_t)type.characters + 1);
    memset(text, ' ', (size_t)type.characters);
    memcpy(text, value->text, value->length < (size_t)type.characters ? value->length : (size_t)type.characters);
    return ofl_value_text(modules, value->kind, text, (size_t)type.characters);
}

static const struct ofl_constant *to_integer(struct ofl_modules *modules, const struct ofl_constant *value, int kind)
{
    if (value->base == OFL_TYPE_INTEGER || value->base == OFL_TYPE_LOGICAL) {
        return ofl_value_integer(modules, kind, value->integer);
    }
    const ofl_real limit = (ofl_real)((ofl_integer)1 << 120);
    if (!(value->re > -limit && value->re < limit)) {
        return NULL;
    }
    return ofl_value_integer(modules, kind, (ofl_integer)value->re);
}

static const struct ofl_constant *to_real(struct ofl_modules *modules, const struct ofl_constant *value,
                                          struct ofl_value_type type)
{
    bool integer = value->base == OFL_TYPE_INTEGER || value->base == OFL_TYPE_LOGICAL;
    struct ofl_constant *result = ofl_constant_new(modules, type.base, type.kind);
    result->re = ofl_real_round(integer ? (ofl_real)value->integer : value->re, type.kind);
    result->im =
        type.base == OFL_TYPE_COMPLEX && value->base == OFL_TYPE_COMPLEX ? ofl_real_round(value->im, type.kind) : 0;
    return result;
}

static const struct ofl_constant *convert(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                          unsigned count, const void *context)
{
    const struct ofl_constant *value = args[0];
    const struct ofl_value_type *type = context;
    bool text = value->base == OFL_TYPE_CHARACTER, derived = value->base == OFL_TYPE_DERIVED;
    (void)count;
    switch (type->base) {
    case OFL_TYPE_CHARACTER:
        return text ? pad(modules, value, *type) : NULL;
    case OFL_TYPE_INTEGER:
        return text || derived ? NULL : to_integer(modules, value, type->kind);
    case OFL_TYPE_REAL:
    case OFL_TYPE_COMPLEX:
        return text || derived ? NULL : to_real(modules, value, *type);
    case OFL_TYPE_LOGICAL:
        return value->base == OFL_TYPE_LOGICAL || value->base == OFL_TYPE_INTEGER
                   ? ofl_value_logical(modules, type->kind, value->integer != 0)
                   : NULL;
    case OFL_TYPE_DERIVED:
        return derived ? value : NULL;
    default:
        return NULL;
    }
}

const struct ofl_constant *ofl_value_map(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                         unsigned count, struct ofl_value_type type, ofl_elementwise *f,
                                         const void *context)
{
    enum { MOST = OFL_MAX_FORMALS };
    const struct ofl_constant *shape = NULL, *scalars[MOST];
    if (count > MOST) {
        return NULL;
    }
    for (unsigned i = 0; i < count; i++) {
        if (args[i] != NULL && args[i]->rank > 0) {
            if (shape != NULL && shape->count != args[i]->count) {
                return NULL;
            }
            shape = args[i];
        }
    }
    if (shape == NULL) {
        return f(modules, args, count, context);
    }
    struct ofl_constant *result = ofl_value_array_new(modules, type, shape->rank, shape->extent, shape->count);
    for (size_t k = 0; result != NULL && k < shape->count; k++) {
        for (unsigned i = 0; i < count; i++) {
            scalars[i] = args[i] != NULL && args[i]->rank > 0 ? args[i]->elements[k] : args[i];
            if (scalars[i] == NULL && args[i] != NULL) {
                return NULL;
            }
        }
        result->elements[k] = f(modules, scalars, count, context);
        if (result->elements[k] == NULL) {
            return NULL;
        }
    }
    return result;
}

const struct ofl_constant *ofl_value_convert(struct ofl_modules *modules, const struct ofl_constant *value,
                                             struct ofl_value_type type)
{
    return value == NULL ? NULL : ofl_value_map(modules, &value, 1, type, convert, &type);
}

/* ---- Named constants -------------------------------------------------------------------------------------------- */

/* The bounds of one dimension of a declared array, if they are constant. */
static bool constant_bound(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_bound *bound,
                           int64_t *lower, int64_t *upper)
{
    *lower = 1;
    *upper = 0;
    if (bound->lower != NULL && !ofl_value_int64(ofl_meaning_of(modules, scope, bound->lower)->value, lower)) {
        return false;
    }
    return bound->form == OFL_BOUND_STAR ||
           (bound->form == OFL_BOUND_EXPLICIT && bound->upper != NULL &&
            ofl_value_int64(ofl_meaning_of(modules, scope, bound->upper)->value, upper));
}

bool ofl_symbol_bounds(struct ofl_modules *modules, const struct ofl_symbol *symbol, int64_t *lowers, int64_t *extents)
{
    unsigned i = 0;
    for (const struct ofl_bound *bound = symbol->bounds; bound != NULL; bound = bound->next, i++) {
        int64_t lower, upper;
        if (i == OFL_MAX_RANK || !constant_bound(modules, symbol->scope, bound, &lower, &upper)) {
            return false;
        }
        lowers[i] = lower;
        extents[i] = bound->form == OFL_BOUND_STAR                      ? -1
                     : upper < lower                                    ? 0
                     : __builtin_sub_overflow(upper, lower - 1, &upper) ? OFL_MAX_FOLDED + 1
                                                                        : upper;
    }
    return true;
}

const struct ofl_constant *ofl_value_shaped(struct ofl_modules *modules, struct ofl_symbol *symbol,
                                            struct ofl_value_type type, const struct ofl_constant *value)
{
    int64_t lowers[OFL_MAX_RANK] = {0}, extents[OFL_MAX_RANK] = {0};
    value = ofl_value_convert(modules, value, type);
    if (value == NULL || symbol->rank == 0 || symbol->rank > OFL_MAX_RANK) {
        return value != NULL && value->rank == symbol->rank ? value : NULL;
    }
    if (!ofl_symbol_bounds(modules, symbol, lowers, extents)) {
        return value->rank == symbol->rank ? value : NULL; /* an allocatable component */
    }
    int64_t count = 1;
    for (unsigned i = 0; i < symbol->rank; i++) {
        if (extents[i] < 0) { /* implied shape */
            if (value->rank != symbol->rank) {
                return NULL;
            }
            extents[i] = value->extent[i];
        }
        count *= extents[i];
        if (count > OFL_MAX_FOLDED) {
            return NULL;
        }
    }
    if (value->rank > 0) {
        return value->rank == symbol->rank && (int64_t)value->count == count ? value : NULL;
    }
    struct ofl_constant *array = ofl_value_array_new(modules, type, symbol->rank, extents, (size_t)count);
    for (size_t i = 0; array != NULL && i < array->count; i++) {
        array->elements[i] = value;
    }
    return array;
}

const struct ofl_constant *ofl_value_of_symbol(struct ofl_modules *modules, struct ofl_symbol *symbol)
{
    struct ofl_value_type type;
    if (symbol->constant != NULL || symbol->valued == modules->generation || symbol->busy ||
        !ofl_symbol_type(modules, symbol, &type, NULL)) {
        return symbol->constant;
    }
    symbol->busy = true;
    const struct ofl_constant *value = NULL;
    if (symbol->has_integer) {
        value = ofl_value_integer(modules, type.kind, symbol->integer);
    } else if (symbol->value != NULL) {
        value = ofl_meaning_of(modules, symbol->scope, symbol->value)->value;
    }
    symbol->busy = false;
    if (value != NULL) {
        symbol->constant = ofl_value_shaped(modules, symbol, type, value);
    }
    symbol->valued = modules->generation;
    return symbol->constant;
}

/* ---- Array constructors ----------------------------------------------------------------------------------------- */

struct building {
    struct ofl_modules *modules;
    const struct ofl_constant **elements;
    size_t count, capacity, steps;
};

static bool push(struct building *building, const struct ofl_constant *element)
{
    if (element == NULL || building->count >= OFL_MAX_FOLDED) {
        return false;
    }
    if (building->count == building->capacity) {
        size_t capacity = building->capacity == 0 ? 16 : 4 * building->capacity;
        const struct ofl_constant **elements = ofl_arena_alloc(building->modules->arena, capacity * sizeof(void *));
        if (building->count > 0) {
            memcpy(elements, building->elements, building->count * sizeof(void *));
        }
        building->elements = elements;
        building->capacity = capacity;
    }
    building->elements[building->count++] = element;
    return true;
}

static bool push_items(struct building *building, struct ofl_scope *scope, const struct ofl_arg *item);

static bool push_implied_do(struct building *building, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    struct ofl_modules *modules = building->modules;
    struct ofl_scope *inner = ofl_implied_do_scope(modules, scope, expr);
    struct ofl_symbol *index =
        expr->as.implied_do.index.name != NULL ? ofl_scope_own(inner, expr->as.implied_do.index.name) : NULL;
    int64_t first, last, step = 1;
    if (index == NULL || index->has_integer ||
        !ofl_value_int64(ofl_meaning_of(modules, scope, expr->as.implied_do.first)->value, &first) ||
        !ofl_value_int64(ofl_meaning_of(modules, scope, expr->as.implied_do.last)->value, &last) ||
        (expr->as.implied_do.step != NULL &&
         !ofl_value_int64(ofl_meaning_of(modules, scope, expr->as.implied_do.step)->value, &step)) ||
        step == 0) {
        return false;
    }
    bool good = true;
    unsigned outer = modules->generation;
    modules->binding++;
    index->has_integer = true;
    for (int64_t i = first; good && (step > 0 ? i <= last : i >= last); i += step) {
        index->integer = i;
        modules->generation = --modules->iterations;
        good = push_items(building, inner, expr->as.implied_do.items) && ++building->steps < OFL_MAX_FOLDED &&
               i < INT64_MAX / 2 && i > INT64_MIN / 2;
    }
    index->has_integer = false;
    modules->binding--;
    modules->generation = outer;
    return good;
}

static bool push_items(struct building *building, struct ofl_scope *scope, const struct ofl_arg *item)
{
    bool good = true;
    for (; item != NULL && good; item = item->next) {
        if (item->value == NULL) {
            continue;
        }
        if (item->value->kind == OFL_EXPR_IMPLIED_DO) {
            good = push_implied_do(building, scope, item->value);
            continue;
        }
        const struct ofl_constant *value = ofl_meaning_of(building->modules, scope, item->value)->value;
        if (value == NULL || value->rank == 0) {
            good = push(building, value);
            continue;
        }
        for (size_t i = 0; i < value->count && good; i++) {
            good = push(building, value->elements[i]);
        }
    }
    return good;
}

const struct ofl_constant *ofl_value_array(struct ofl_modules *modules, struct ofl_scope *scope,
                                           const struct ofl_expr *expr, struct ofl_value_type type)
{
    struct building building = {.modules = modules};
    if (!push_items(&building, scope, expr->as.array.items)) {
        return NULL;
    }
    const int64_t extent = (int64_t)building.count;
    struct ofl_constant *array = ofl_value_array_new(modules, type, 1, &extent, building.count);
    if (array == NULL) {
        return NULL;
    }
    array->elements = building.elements;
    return ofl_value_convert(modules, array, type);
}
