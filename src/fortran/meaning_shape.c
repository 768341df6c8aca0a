/* Shapes of array expressions that are known when the program is compiled.
 *
 * Entry point: ofl_constant_shape.  Declared arrays with constant bounds, sections of them, operations, constructors
 * and constants have one; what is allocated, assumed or returned by a function has none here. */
#include "fortran/meaning_private.h"

#include <string.h>

static bool section_shape(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_meaning *meaning,
                          int64_t *extents)
{
    const struct ofl_meaning *base = ofl_meaning_of(modules, scope, meaning->base);
    int64_t whole[OFL_MAX_RANK] = {0};
    unsigned kept = 0, i = 0;
    if (base->kind == OFL_MEANS_ARRAYS) { /* a(:)%v(2): as many as there are structures */
        return ofl_constant_shape(modules, scope, base->base, extents);
    }
    bool known = ofl_constant_shape(modules, scope, meaning->base, whole);
    for (const struct ofl_arg *arg = meaning->subscripts; arg != NULL; arg = arg->next, i++) {
        const struct ofl_meaning *subscript = ofl_meaning_of(modules, scope, arg->value);
        if (arg->value->kind == OFL_EXPR_RANGE) {
            const struct ofl_expr *lower = arg->value->as.range.lower, *upper = arg->value->as.range.upper;
            int64_t first, last, step = 1;
            bool all = lower == NULL && upper == NULL;
            if (arg->value->as.range.step != NULL &&
                (!ofl_value_int64(ofl_meaning_of(modules, scope, arg->value->as.range.step)->value, &step) ||
                 step == 0)) {
                return false;
            }
            first = 1;
            last = known && i < OFL_MAX_RANK ? whole[i] : 0;
            if ((all && (!known || whole[i] < 0)) ||
                (!all && (lower == NULL || upper == NULL ||
                          !ofl_value_int64(ofl_meaning_of(modules, scope, lower)->value, &first) ||
                          !ofl_value_int64(ofl_meaning_of(modules, scope, upper)->value, &last)))) {
                return false;
            }
            __int128 count = ((__int128)last - first + step) / step;
            extents[kept++] = count < 0 ? 0 : count > OFL_MAX_FOLDED ? OFL_MAX_FOLDED + 1 : (int64_t)count;
        } else if (subscript->rank == 1) {
            if (!ofl_constant_shape(modules, scope, arg->value, &extents[kept++])) {
                return false;
            }
        }
    }
    return true;
}

bool ofl_constant_shape(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr,
                        int64_t *extents)
{
    const struct ofl_meaning *meaning = ofl_meaning_of(modules, scope, expr);
    int64_t lowers[OFL_MAX_RANK];
    if (meaning->kind == OFL_MEANS_UNKNOWN || meaning->rank > OFL_MAX_RANK || modules->depth > OFL_MAX_QUESTIONS) {
        return false;
    }
    if (meaning->rank == 0) {
        return true;
    }
    if (meaning->value != NULL) {
        bool same = meaning->value->rank == meaning->rank;
        if (same) {
            memcpy(extents, meaning->value->extent, meaning->rank * sizeof *extents);
        }
        return same;
    }
    bool known = false;
    modules->depth++;
    switch (meaning->kind) {
    case OFL_MEANS_VARIABLE:
    case OFL_MEANS_COMPONENT: {
        const struct ofl_symbol *symbol = meaning->symbol;
        bool whole = symbol != NULL && symbol->rank == meaning->rank && symbol->bounds != NULL;
        known =
            whole && !meaning->allocatable && !meaning->pointer && ofl_symbol_bounds(modules, symbol, lowers, extents);
        for (unsigned i = 0; known && i < meaning->rank; i++) {
            known = extents[i] >= 0;
        }
        if (meaning->kind == OFL_MEANS_COMPONENT && !known && (symbol == NULL || symbol->rank == 0)) {
            known = ofl_constant_shape(modules, scope, meaning->base, extents);
        }
        break;
    }
    case OFL_MEANS_SECTION:
        known = section_shape(modules, scope, meaning, extents);
        break;
    case OFL_MEANS_PART:
    case OFL_MEANS_SUBSTRING:
        known = ofl_constant_shape(modules, scope, meaning->base, extents);
        break;
    case OFL_MEANS_OPERATION: {
        const struct ofl_expr *left = expr->kind == OFL_EXPR_BINARY ? expr->as.operation.left : NULL;
        const struct ofl_expr *right = expr->as.operation.right;
        bool by_left = left != NULL && ofl_meaning_of(modules, scope, left)->rank > 0;
        known = ofl_constant_shape(modules, scope, by_left ? left : right, extents);
        break;
    }
    case OFL_MEANS_ARRAY: {
        int64_t total = 0, inner[OFL_MAX_RANK] = {0};
        known = true;
        for (const struct ofl_arg *item = expr->as.array.items; item != NULL && known; item = item->next) {
            if (item->value == NULL || item->value->kind == OFL_EXPR_IMPLIED_DO) {
                known = item->value == NULL;
                continue;
            }
            int64_t count = 1;
            unsigned rank = ofl_meaning_of(modules, scope, item->value)->rank;
            known = ofl_constant_shape(modules, scope, item->value, inner);
            for (unsigned i = 0; known && i < rank; i++) {
                count = inner[i] > OFL_MAX_FOLDED || count > OFL_MAX_FOLDED ? OFL_MAX_FOLDED + 1 : count * inner[i];
            }
            total += count;
        }
        extents[0] = total;
        break;
    }
    default:
        break;
    }
    modules->depth--;
    return known;
}
