/* Inquiry functions: what a variable is, not what it contains; see lower.h.
 *
 * What the declaration alone tells (kind, huge, constant bounds) has a constant value and does not come here. */
#include "fortran/lower.h"

static const struct ofl_expr *argument(const struct ofl_meaning *meaning, unsigned i)
{
    return i < meaning->call->arg_count ? meaning->call->args[i] : NULL;
}

/* Bounds of what an inquiry is about: of a whole variable or component its own, else from 1. */
static struct ofl_view bounds_of(struct ofl_lower *l, const struct ofl_expr *expr)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    bool whole = meaning->kind == OFL_MEANS_VARIABLE || (meaning->kind == OFL_MEANS_COMPONENT && meaning->designator);
    struct ofl_view view = {.type = meaning->type};
    if ((whole && meaning->value == NULL) || meaning->kind == OFL_MEANS_CONSTANT) {
        return ofl_lower_view(l, expr);
    }
    const struct ofl_array *array = ofl_lower_array(l, expr);
    view.rank = array->rank;
    for (unsigned d = 0; d < view.rank; d++) {
        view.dim[d].extent = array->extent[d];
        view.dim[d].lower = ofl_i8(l, 1);
    }
    return view;
}

static struct ofl_k_expr *extent_of(struct ofl_lower *l, const struct ofl_view *view, unsigned d, struct ofl_span span)
{
    if (view->dim[d].extent == NULL) {
        ofl_lower_refuse(l, span, "the extent of an assumed-size array");
    }
    return view->dim[d].extent;
}

/* An empty dimension has the bounds 1 and 0. */
static struct ofl_k_expr *lower_bound(struct ofl_lower *l, const struct ofl_view *view, unsigned d)
{
    const struct ofl_view_dim *dim = &view->dim[d];
    int64_t value, extent = 0;
    if (ofl_k_is_constant(dim->lower, &value) && value == 1) {
        return dim->lower;
    }
    if (dim->extent == NULL || (ofl_k_is_constant(dim->extent, &extent) && extent > 0)) {
        return dim->lower;
    }
    return ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, dim->extent, ofl_i8(l, 0)), dim->lower, ofl_i8(l, 1));
}

static struct ofl_k_expr *upper_bound(struct ofl_lower *l, const struct ofl_view *view, unsigned d,
                                      struct ofl_span span)
{
    struct ofl_k_expr *extent = extent_of(l, view, d, span);
    return ofl_op(l, OFL_K_SUB, ofl_op(l, OFL_K_ADD, lower_bound(l, view, d), extent), ofl_i8(l, 1));
}

static struct ofl_k_expr *one_bound(struct ofl_lower *l, enum ofl_intrinsic_id id, const struct ofl_view *view,
                                    unsigned d, struct ofl_span span)
{
    return id == OFL_INTRINSIC_LBOUND   ? lower_bound(l, view, d)
           : id == OFL_INTRINSIC_UBOUND ? upper_bound(l, view, d, span)
                                        : extent_of(l, view, d, span);
}

/* lbound, ubound, size with a dimension; size of all. */
static struct ofl_k_expr *bound_value(struct ofl_lower *l, const struct ofl_expr *expr,
                                      const struct ofl_meaning *meaning)
{
    enum ofl_intrinsic_id id = meaning->call->procedure->intrinsic->id;
    const struct ofl_expr *dim = argument(meaning, 1);
    struct ofl_view view = bounds_of(l, argument(meaning, 0));
    if (dim == NULL) {
        struct ofl_k_expr *size = ofl_i8(l, 1);
        for (unsigned d = 0; d < view.rank; d++) {
            size = ofl_op(l, OFL_K_MUL, size, extent_of(l, &view, d, expr->span));
        }
        return size;
    }
    const struct ofl_meaning *constant = ofl_lower_meaning(l, dim);
    if (constant->value != NULL) {
        int64_t d = (int64_t)constant->value->integer;
        if (d < 1 || d > view.rank) {
            ofl_lower_refuse(l, dim->span, "this dimension");
        }
        return one_bound(l, id, &view, (unsigned)d - 1, expr->span);
    }
    struct ofl_k_expr *which = ofl_keep(l, ofl_lower_integer(l, dim), "dim"), *value = NULL;
    for (unsigned d = view.rank; d-- > 0;) {
        struct ofl_k_expr *here = one_bound(l, id, &view, d, expr->span);
        value =
            value == NULL ? here : ofl_k_select(l->arena, ofl_op(l, OFL_K_EQ, which, ofl_i8(l, d + 1)), here, value);
    }
    return value;
}

/* Whether an optional argument is there, or an allocatable or pointer has data. */
static struct ofl_k_expr *exists(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    const struct ofl_expr *what = argument(meaning, 0);
    const struct ofl_meaning *variable = ofl_lower_meaning(l, what);
    if (variable->kind == OFL_MEANS_COMPONENT && argument(meaning, 1) == NULL &&
        meaning->call->procedure->intrinsic->id != OFL_INTRINSIC_PRESENT) {
        struct ofl_view view = ofl_lower_view(l, what);
        return ofl_op(l, OFL_K_NE, view.address, ofl_k_integer(l->arena, OFL_K_ADDRESS, 0));
    }
    if (variable->kind != OFL_MEANS_VARIABLE || argument(meaning, 1) != NULL) {
        ofl_lower_refuse(l, expr->span, "this '%s'", meaning->call->procedure->name->text);
    }
    struct ofl_binding *binding = ofl_binding_of(l, variable->symbol, expr->span);
    bool deferred = OFL_HAS(variable->symbol, ALLOCATABLE) || OFL_HAS(variable->symbol, POINTER);
    bool asked = meaning->call->procedure->intrinsic->id == OFL_INTRINSIC_PRESENT ? binding->optional : deferred;
    if (!asked || (binding->object == NULL && binding->view.address->op == OFL_K_ADDRESS_OF)) {
        ofl_lower_refuse(l, expr->span, "this '%s'", meaning->call->procedure->name->text);
    }
    if (binding->object != NULL && deferred) {
        binding->object->public.may_be_missing = true;
    }
    return ofl_op(l, OFL_K_NE, binding->view.address, ofl_k_integer(l->arena, OFL_K_ADDRESS, 0));
}

struct ofl_value ofl_lower_inquiry(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    struct ofl_value value = {.type = meaning->type};
    enum ofl_k_type type = ofl_k_value_of(l, meaning->type, expr->span);
    switch (meaning->call->procedure->intrinsic->id) {
    case OFL_INTRINSIC_SIZE:
    case OFL_INTRINSIC_LBOUND:
    case OFL_INTRINSIC_UBOUND:
        value.x = ofl_to(l, type, bound_value(l, expr, meaning));
        return value;
    case OFL_INTRINSIC_LEN: {
        const struct ofl_expr *text = argument(meaning, 0);
        struct ofl_k_expr *length =
            ofl_lower_meaning(l, text)->designator ? ofl_lower_view(l, text).length : ofl_lower_value(l, text).length;
        value.x = ofl_to(l, type, length);
        return value;
    }
    case OFL_INTRINSIC_PRESENT:
    case OFL_INTRINSIC_ALLOCATED:
    case OFL_INTRINSIC_ASSOCIATED:
        value.x = exists(l, expr, meaning);
        return value;
    default:
        ofl_lower_refuse(l, expr->span, "a call of '%s'", meaning->call->procedure->name->text);
    }
}

struct ofl_array *ofl_lower_inquiry_array(struct ofl_lower *l, const struct ofl_expr *expr,
                                          const struct ofl_meaning *meaning)
{
    enum ofl_intrinsic_id id = meaning->call->procedure->intrinsic->id;
    if (id != OFL_INTRINSIC_SHAPE && id != OFL_INTRINSIC_LBOUND && id != OFL_INTRINSIC_UBOUND) {
        ofl_lower_refuse(l, expr->span, "a call of '%s'", meaning->call->procedure->name->text);
    }
    struct ofl_view bounds = bounds_of(l, argument(meaning, 0));
    struct ofl_k_expr *rank = ofl_i8(l, bounds.rank);
    struct ofl_view view = ofl_temporary_view(l, meaning->type, NULL, 1, &rank, expr->span);
    struct ofl_value_type wide = ofl_kind_type(OFL_TYPE_INTEGER, 8);
    for (unsigned d = 0; d < bounds.rank; d++) {
        struct ofl_k_expr *at = ofl_i8(l, d);
        struct ofl_view element = ofl_element_view(l, &view, &at);
        struct ofl_value value = {.type = wide, .x = one_bound(l, id, &bounds, d, expr->span)};
        ofl_assign_value(l, &element, value, expr->span);
    }
    return ofl_array_of_view(l, &view);
}
