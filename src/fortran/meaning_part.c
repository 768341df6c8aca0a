/* Values of parts of constants: elements, sections, substrings, components, parts of complex numbers. */
#include "fortran/meaning_private.h"

#include <string.h>

static const struct ofl_constant *complex_part(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                               unsigned count, const void *context)
{
    const struct ofl_meaning *meaning = context;
    (void)count;
    return ofl_value_real(modules, meaning->type.kind, meaning->imaginary ? args[0]->im : args[0]->re);
}

static const struct ofl_constant *component(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                            unsigned count, const void *context)
{
    const struct ofl_meaning *meaning = context;
    const struct ofl_constant *value = args[0];
    size_t number;
    (void)count;
    if (meaning->symbol == NULL) { /* the parent component: its components are the first ones */
        ofl_type_components(modules, meaning->type.derived, &number);
        struct ofl_constant *parent = ofl_constant_new(modules, OFL_TYPE_DERIVED, 0);
        parent->count = number < value->count ? number : value->count;
        parent->elements = value->elements;
        parent->derived = meaning->type.derived;
        return parent;
    }
    const struct ofl_symbol *type = value->derived;
    struct ofl_symbol **components = ofl_type_components(modules, type, &number);
    for (size_t i = 0; i < number && i < value->count; i++) {
        if (components[i] == meaning->symbol) {
            return value->elements[i];
        }
    }
    return NULL;
}

struct window {
    int64_t first, last;
};

static const struct ofl_constant *window(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                         unsigned count, const void *context)
{
    const struct window *range = context;
    int64_t last = range->last < 0 ? (int64_t)args[0]->length : range->last;
    (void)count;
    if (range->first > last) {
        return ofl_value_text(modules, args[0]->kind, "", 0);
    }
    if (range->first < 1 || last > (int64_t)args[0]->length) {
        return NULL;
    }
    return ofl_value_text(modules, args[0]->kind, args[0]->text + range->first - 1, (size_t)(last - range->first + 1));
}

static const struct ofl_constant *substring(struct ofl_modules *modules, struct ofl_scope *scope,
                                            const struct ofl_meaning *meaning, const struct ofl_constant *base)
{
    const struct ofl_expr *lower = meaning->range->as.range.lower, *upper = meaning->range->as.range.upper;
    struct window range = {1, -1};
    if ((lower != NULL && !ofl_value_int64(ofl_meaning_of(modules, scope, lower)->value, &range.first)) ||
        (upper != NULL && !ofl_value_int64(ofl_meaning_of(modules, scope, upper)->value, &range.last))) {
        return NULL;
    }
    range.last = upper != NULL && range.last < 0 ? 0 : range.last;
    return ofl_value_map(modules, &base, 1, meaning->type, window, &range);
}

/* ---- Elements and sections -------------------------------------------------------------------------------------- */

struct axis {
    bool kept;                         /* a dimension of the result */
    int64_t first, step, count;        /* offsets from 0 */
    const struct ofl_constant *chosen; /* a vector subscript */
    int64_t lower, stride;
};

static bool set_range(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *range,
                      int64_t extent, struct axis *axis)
{
    int64_t first = axis->lower, last = axis->lower + extent - 1, step = 1;
    const struct ofl_expr *lower = range->as.range.lower, *upper = range->as.range.upper;
    if (range->as.range.step != NULL &&
        (!ofl_value_int64(ofl_meaning_of(modules, scope, range->as.range.step)->value, &step) || step == 0 ||
         step > OFL_MAX_FOLDED || step < -OFL_MAX_FOLDED)) {
        return false;
    }
    if ((lower != NULL && !ofl_value_int64(ofl_meaning_of(modules, scope, lower)->value, &first)) ||
        (upper != NULL && !ofl_value_int64(ofl_meaning_of(modules, scope, upper)->value, &last))) {
        return false;
    }
    int64_t length;
    if (__builtin_sub_overflow(last, first, &length) || length > OFL_MAX_FOLDED || length < -OFL_MAX_FOLDED) {
        return false;
    }
    axis->kept = true;
    axis->step = step;
    axis->count = (length + step) / step < 0 ? 0 : (length + step) / step;
    axis->first = first - axis->lower;
    return axis->count == 0 ||
           (axis->first >= 0 && axis->first < extent && axis->first + (axis->count - 1) * step >= 0 &&
            axis->first + (axis->count - 1) * step < extent);
}

static bool set_axis(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *subscript,
                     int64_t extent, struct axis *axis)
{
    if (subscript->kind == OFL_EXPR_RANGE) {
        return set_range(modules, scope, subscript, extent, axis);
    }
    const struct ofl_constant *value = ofl_meaning_of(modules, scope, subscript)->value;
    if (value == NULL || value->base != OFL_TYPE_INTEGER) {
        return false;
    }
    axis->count = 1;
    if (value->rank == 1) {
        axis->kept = true;
        axis->chosen = value;
        axis->count = (int64_t)value->count;
        return true;
    }
    int64_t first;
    if (!ofl_value_int64(value, &first)) {
        return false;
    }
    return !__builtin_sub_overflow(first, axis->lower, &axis->first) && axis->first >= 0 && axis->first < extent;
}

/* Copies the elements that the axes pick, in array element order. */
static bool pick(const struct ofl_constant *base, const struct axis *axes, unsigned rank, struct ofl_constant *result)
{
    for (size_t k = 0; k < result->count; k++) {
        size_t left = k;
        int64_t at = 0;
        for (unsigned i = 0; i < rank; i++) {
            int64_t position = (int64_t)(left % (size_t)axes[i].count),
                    offset = axes[i].first + position * axes[i].step;
            left /= (size_t)axes[i].count;
            if (axes[i].chosen != NULL && !ofl_value_int64(axes[i].chosen->elements[position], &offset)) {
                return false;
            }
            offset -= axes[i].chosen != NULL ? axes[i].lower : 0;
            if (offset < 0 || offset >= base->extent[i]) {
                return false;
            }
            at += offset * axes[i].stride;
        }
        result->elements[k] = base->elements[at];
    }
    return true;
}

static const struct ofl_constant *elements(struct ofl_modules *modules, struct ofl_scope *scope,
                                           const struct ofl_meaning *meaning, const struct ofl_meaning *base)
{
    int64_t lowers[OFL_MAX_RANK], extents[OFL_MAX_RANK], stride = 1, count = 1;
    const struct ofl_constant *value = base->value;
    struct axis axes[OFL_MAX_RANK] = {0};
    unsigned rank = 0;
    if (base->symbol == NULL || value->rank == 0 || !ofl_symbol_bounds(modules, base->symbol, lowers, extents)) {
        return NULL;
    }
    unsigned kept = 0;
    int64_t counts[OFL_MAX_RANK];
    for (const struct ofl_arg *arg = meaning->subscripts; arg != NULL; arg = arg->next, rank++) {
        if (rank >= value->rank) {
            return NULL;
        }
        axes[rank].lower = lowers[rank];
        axes[rank].stride = stride;
        if (!set_axis(modules, scope, arg->value, value->extent[rank], &axes[rank])) {
            return NULL;
        }
        if (axes[rank].kept) {
            counts[kept++] = axes[rank].count;
        }
        stride *= value->extent[rank];
        count *= axes[rank].count;
        if (count > OFL_MAX_FOLDED) {
            return NULL;
        }
    }
    struct ofl_constant *result =
        ofl_value_array_new(modules, ofl_type_of_kind(value->base, value->kind), kept, counts, (size_t)count);
    if (rank != value->rank || result == NULL || !pick(value, axes, rank, result)) {
        return NULL;
    }
    return result->rank == 0 ? result->elements[0] : result;
}

const struct ofl_constant *ofl_value_part(struct ofl_modules *modules, struct ofl_scope *scope,
                                          const struct ofl_meaning *meaning)
{
    const struct ofl_meaning *base = ofl_meaning_of(modules, scope, meaning->base);
    if (base->value == NULL) {
        return NULL;
    }
    switch (meaning->kind) {
    case OFL_MEANS_PART:
        return ofl_value_map(modules, &base->value, 1, meaning->type, complex_part, meaning);
    case OFL_MEANS_COMPONENT:
        return base->rank > 0 && meaning->symbol != NULL && meaning->symbol->rank > 0
                   ? NULL
                   : ofl_value_map(modules, &base->value, 1, meaning->type, component, meaning);
    case OFL_MEANS_SUBSTRING:
        return substring(modules, scope, meaning, base->value);
    case OFL_MEANS_ELEMENT:
    case OFL_MEANS_SECTION:
        return elements(modules, scope, meaning, base);
    default:
        return NULL;
    }
}
