/* Designators: where data lies; see lower.h.
 *
 * Entry point: ofl_lower_view.  A designator is followed from its variable outwards: each component, subscript,
 * substring or part moves the address and changes the dimensions.  Allocatable and pointer components lead to memory
 * that the device does not have, and are refused. */
#include "fortran/lower.h"

/* ---- Elements ---- */

struct ofl_view ofl_element_view(struct ofl_lower *l, const struct ofl_view *view, struct ofl_k_expr *const *subscript)
{
    struct ofl_view element = *view;
    struct ofl_k_expr *offset = ofl_i8(l, 0);
    for (unsigned d = 0; d < view->rank; d++) {
        const struct ofl_view_dim *dim = &view->dim[d];
        struct ofl_k_expr *index = subscript[d];
        if (dim->vector != NULL) {
            struct ofl_value value = ofl_array_element(l, dim->vector, &subscript[d], l->loop->span);
            index = ofl_op(l, OFL_K_SUB, ofl_to(l, OFL_K_I8, value.x), dim->origin);
        }
        offset = ofl_op(l, OFL_K_ADD, offset, ofl_op(l, OFL_K_MUL, index, dim->stride));
    }
    element.address = ofl_k_offset(l->arena, view->address, offset);
    element.rank = element.outer = 0;
    return element;
}

struct ofl_value ofl_load_view(struct ofl_lower *l, const struct ofl_view *view, struct ofl_span span)
{
    struct ofl_value value = {.type = view->type};
    enum ofl_k_type memory = ofl_k_of(l, view->type, span);
    if (!ofl_is_number(view->type)) {
        value.x = view->address;
        value.length = view->length;
        return value;
    }
    value.x = ofl_k_load(l->arena, memory, view->address);
    if (view->type.base == OFL_TYPE_LOGICAL) {
        value.x = ofl_to(l, OFL_K_BOOL, value.x);
    }
    return value;
}

/* The whole variable; the address becomes that of its first element. */
struct ofl_view ofl_view_of_binding(struct ofl_lower *l, const struct ofl_binding *binding, struct ofl_span span)
{
    struct ofl_view view = binding->view;
    (void)span;
    if (binding->based_on_zero) {
        struct ofl_k_expr *offset = ofl_i8(l, 0);
        for (unsigned d = 0; d < view.rank; d++) {
            offset = ofl_op(l, OFL_K_ADD, offset, ofl_op(l, OFL_K_MUL, view.dim[d].lower, view.dim[d].stride));
        }
        view.address = ofl_k_offset(l->arena, view.address, offset);
    }
    return view;
}

/* ---- Subscripts ---- */

static struct ofl_k_expr *upper_of(struct ofl_lower *l, const struct ofl_view_dim *dim, struct ofl_span span)
{
    if (dim->extent == NULL) {
        ofl_lower_refuse(l, span, "the end of an assumed-size array");
    }
    return ofl_op(l, OFL_K_SUB, ofl_op(l, OFL_K_ADD, dim->lower, dim->extent), ofl_i8(l, 1));
}

/* (last - first + step) / step, or 0. */
static struct ofl_k_expr *range_extent(struct ofl_lower *l, struct ofl_k_expr *first, struct ofl_k_expr *last,
                                       struct ofl_k_expr *step)
{
    struct ofl_k_expr *size = ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_SUB, last, first), step);
    int64_t n, s;
    if (ofl_k_is_constant(size, &n) && ofl_k_is_constant(step, &s) && s != 0) {
        return ofl_i8(l, n / s > 0 ? n / s : 0);
    }
    if (!ofl_k_is_constant(step, &s) || s != 1) {
        size = ofl_op(l, OFL_K_DIV, size, step);
    }
    size = ofl_keep(l, size, "n");
    return ofl_keep(l, ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, size, ofl_i8(l, 0)), size, ofl_i8(l, 0)), "n");
}

/* first:last:step of one dimension; `base` is the subscript at the view's address. */
static void take_range(struct ofl_lower *l, struct ofl_view *view, const struct ofl_view_dim *dim,
                       const struct ofl_expr *range, struct ofl_k_expr *base)
{
    struct ofl_k_expr *step = ofl_i8(l, 1), *first, *last;
    int64_t sign = 1;
    if (range->as.range.step != NULL) {
        step = ofl_keep(l, ofl_lower_integer(l, range->as.range.step), "s");
    }
    bool known = ofl_k_is_constant(step, &sign);
    if (range->as.range.lower != NULL) {
        first = ofl_lower_integer(l, range->as.range.lower);
    } else if (known) {
        first = sign > 0 ? dim->lower : upper_of(l, dim, range->span);
    } else {
        first =
            ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, step, ofl_i8(l, 0)), dim->lower, upper_of(l, dim, range->span));
    }
    if (range->as.range.upper != NULL) {
        last = ofl_lower_integer(l, range->as.range.upper);
    } else if (known) {
        last = sign > 0 ? upper_of(l, dim, range->span) : dim->lower;
    } else {
        last =
            ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, step, ofl_i8(l, 0)), upper_of(l, dim, range->span), dim->lower);
    }
    bool whole = range->as.range.lower == NULL && range->as.range.upper == NULL && known && sign == 1;
    if (!whole) {
        first = ofl_keep(l, first, "f");
        view->contiguous &= known && sign == 1 && view->rank == 0;
    }
    struct ofl_k_expr *offset = ofl_op(l, OFL_K_MUL, ofl_op(l, OFL_K_SUB, first, base), dim->stride);
    view->address = ofl_k_offset(l->arena, view->address, offset);
    view->dim[view->rank] = (struct ofl_view_dim){
        .extent = whole ? dim->extent : range_extent(l, first, last, step),
        .stride = ofl_keep(l, ofl_op(l, OFL_K_MUL, dim->stride, step), "s"),
        .lower = ofl_i8(l, 1),
    };
    view->rank++;
}

static void take_vector(struct ofl_lower *l, struct ofl_view *view, const struct ofl_view_dim *dim,
                        const struct ofl_expr *expr, struct ofl_k_expr *base)
{
    struct ofl_array *vector = ofl_lower_array(l, expr);
    if (vector->kind != OFL_ARRAY_VIEW) {
        struct ofl_view values = ofl_materialize(l, vector, expr->span);
        vector = ofl_array_of_view(l, &values);
    }
    view->dim[view->rank] = (struct ofl_view_dim){
        .extent = vector->extent[0],
        .stride = dim->stride,
        .lower = ofl_i8(l, 1),
        .vector = vector,
        .origin = ofl_keep(l, base, "o"),
    };
    view->rank++;
    view->contiguous = false;
}

/* Applies subscripts to a view whose address is that of the element with lower bounds, or of the one with zeros. */
static struct ofl_view subscripted(struct ofl_lower *l, const struct ofl_view *whole, bool based_on_zero,
                                   const struct ofl_arg *subscripts, struct ofl_span span)
{
    struct ofl_view view = *whole;
    unsigned d = 0, inner = whole->rank - whole->outer;
    view.rank = 0;
    for (const struct ofl_arg *arg = subscripts; arg != NULL; arg = arg->next, d++) {
        const struct ofl_view_dim *dim = &whole->dim[d];
        if (d >= inner || dim->vector != NULL || arg->value == NULL) {
            ofl_lower_refuse(l, span, "this designator");
        }
        struct ofl_k_expr *base = based_on_zero ? ofl_i8(l, 0) : dim->lower;
        const struct ofl_meaning *meaning =
            arg->value->kind == OFL_EXPR_RANGE ? NULL : ofl_lower_meaning(l, arg->value);
        if (meaning == NULL) {
            take_range(l, &view, dim, arg->value, base);
        } else if (meaning->rank > 0) {
            take_vector(l, &view, dim, arg->value, base);
        } else {
            struct ofl_k_expr *index = ofl_op(l, OFL_K_SUB, ofl_lower_integer(l, arg->value), base);
            view.address = ofl_k_offset(l->arena, view.address, ofl_op(l, OFL_K_MUL, index, dim->stride));
            view.contiguous &= view.rank == 0 || true;
        }
    }
    for (; d < whole->rank; d++) {
        view.dim[view.rank++] = whole->dim[d];
        view.contiguous = false;
    }
    view.outer = whole->outer;
    return view;
}

static struct ofl_view subscripted_of(struct ofl_lower *l, const struct ofl_expr *expr,
                                      const struct ofl_meaning *meaning)
{
    const struct ofl_meaning *base = ofl_lower_meaning(l, meaning->base);
    if (base->kind == OFL_MEANS_VARIABLE && base->value == NULL) {
        struct ofl_binding *binding = ofl_binding_of(l, base->symbol, meaning->base->span);
        struct ofl_view view = subscripted(l, &binding->view, binding->based_on_zero, meaning->subscripts, expr->span);
        /* A section is contiguous if only the last of its dimensions is not whole: known here for one dimension. */
        view.contiguous &= view.rank <= 1 && (view.rank == 0 || binding->view.rank == 1 ||
                                              meaning->subscripts->value->kind == OFL_EXPR_RANGE);
        return view;
    }
    struct ofl_view whole = ofl_lower_view(l, meaning->base);
    struct ofl_view view = subscripted(l, &whole, false, meaning->subscripts, expr->span);
    view.contiguous &=
        view.rank <= 1 && (view.rank == 0 || whole.rank == 1 || meaning->subscripts->value->kind == OFL_EXPR_RANGE);
    return view;
}

/* ---- Parts ---- */

static struct ofl_view substring_of(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    struct ofl_view view = ofl_lower_view(l, meaning->base);
    const struct ofl_expr *range = meaning->range;
    struct ofl_k_expr *first = ofl_i8(l, 1), *last = view.length;
    int64_t size;
    if (range->as.range.lower != NULL) {
        first = ofl_keep(l, ofl_lower_integer(l, range->as.range.lower), "f");
    }
    if (range->as.range.upper != NULL) {
        last = ofl_lower_integer(l, range->as.range.upper);
    }
    ofl_k_of(l, view.type, expr->span);
    struct ofl_k_expr *length = ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_SUB, last, first), ofl_i8(l, 1));
    if (ofl_k_is_constant(length, &size)) {
        length = ofl_i8(l, size < 0 ? 0 : size);
    } else {
        length = ofl_keep(l, length, "len");
        length =
            ofl_keep(l, ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, length, ofl_i8(l, 0)), length, ofl_i8(l, 0)), "len");
    }
    view.address = ofl_k_offset(l->arena, view.address, ofl_op(l, OFL_K_SUB, first, ofl_i8(l, 1)));
    view.length = length;
    view.type = meaning->type;
    view.contiguous &= view.rank == 0;
    return view;
}

struct ofl_view ofl_component_view(struct ofl_lower *l, const struct ofl_view *base, const struct ofl_component *part,
                                   struct ofl_span span)
{
    struct ofl_view view = {.type = part->type, .root = base->root, .component = base->component, .rank = part->rank};
    int64_t count = 1;
    view.address = ofl_k_offset(l->arena, base->address, ofl_i8(l, part->offset));
    for (unsigned d = 0; d < part->rank; d++) {
        view.dim[d].extent = ofl_i8(l, part->extent[d]);
        view.dim[d].lower = ofl_i8(l, part->lower[d]);
        count *= part->extent[d];
    }
    if (part->type.base == OFL_TYPE_CHARACTER) {
        view.length = ofl_i8(l, count == 0 ? 0 : part->bytes / count);
    }
    ofl_pack_strides(l, &view, span);
    return view;
}

static struct ofl_used_component *use_component(struct ofl_lower *l, const struct ofl_symbol *symbol)
{
    struct ofl_used_component *used = l->components;
    while (used != NULL && used->symbol != symbol) {
        used = used->next;
    }
    if (used == NULL) {
        used = OFL_NEW(l->arena, struct ofl_used_component);
        used->symbol = symbol;
        used->next = l->components;
        l->components = used;
    }
    return used;
}

/* gfortran's descriptor: base address, ..., span at 32, and from 40 on stride, lower and upper bound. */
enum { SPAN = 32, DIMENSIONS = 40, DIMENSION = 24 };

static struct ofl_k_expr *word_at(struct ofl_lower *l, struct ofl_k_expr *address, int64_t offset)
{
    return ofl_k_load(l->arena, OFL_K_I8, ofl_k_offset(l->arena, address, ofl_i8(l, offset)));
}

/* An allocatable or pointer component: where its descriptor says.  The device's copy has the device's address. */
static struct ofl_view deferred_component(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_view *base,
                                          const struct ofl_component *part, const struct ofl_symbol *symbol)
{
    bool pointer = OFL_HAS(symbol, POINTER);
    bool inner = part->type.derived != NULL && ofl_has_descriptors(l, part->type.derived, expr->span);
    bool known = ofl_is_number(part->type) || part->type.base == OFL_TYPE_DERIVED ||
                 (part->type.base == OFL_TYPE_CHARACTER && part->type.length_form == OFL_LENGTH_KNOWN);
    if (base->rank > 0 || inner || !known || part->type.base == OFL_TYPE_CLASS || base->root == NULL) {
        ofl_lower_refuse(l, expr->span, "the %s component '%s'", pointer ? "pointer" : "allocatable",
                         symbol->name->text);
    }
    struct ofl_view view = {.type = part->type, .root = base->root, .rank = part->rank, .contiguous = !pointer};
    struct ofl_k_expr *place = ofl_keep(l, ofl_k_offset(l->arena, base->address, ofl_i8(l, part->offset)), "p"), *unit;
    view.component = use_component(l, symbol);
    view.length = part->type.base == OFL_TYPE_CHARACTER ? ofl_i8(l, part->type.characters) : NULL;
    view.address = ofl_keep(l, ofl_k_load(l->arena, OFL_K_ADDRESS, place), "p");
    unit = ofl_element_bytes(l, part->type, view.length, expr->span);
    if (pointer) {
        unit = ofl_keep(l, word_at(l, place, SPAN), "s");
    }
    for (unsigned d = 0; d < view.rank; d++) {
        int64_t at = DIMENSIONS + DIMENSION * (int64_t)d;
        struct ofl_k_expr *lower = ofl_keep(l, word_at(l, place, at + 8), "l");
        struct ofl_k_expr *extent =
            ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_SUB, word_at(l, place, at + 16), lower), ofl_i8(l, 1));
        struct ofl_k_expr *stride = ofl_op(l, OFL_K_MUL, word_at(l, place, at), unit);
        extent = ofl_keep(l, extent, "n");
        view.dim[d].lower = lower;
        view.dim[d].stride = d == 0 && !pointer ? unit : ofl_keep(l, stride, "s");
        view.dim[d].extent =
            ofl_keep(l, ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, extent, ofl_i8(l, 0)), extent, ofl_i8(l, 0)), "n");
    }
    return view;
}

static struct ofl_view component_of(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    struct ofl_view base = ofl_lower_view(l, meaning->base);
    if (meaning->symbol == NULL) { /* the parent, which lies at the beginning */
        base.type = meaning->type;
        base.contiguous &= base.rank == 0;
        return base;
    }
    if (base.type.derived == NULL) {
        ofl_lower_refuse(l, expr->span, "this component");
    }
    struct ofl_component part = ofl_component_place(l, base.type.derived, meaning->symbol, expr->span);
    if (!part.plain) {
        return deferred_component(l, expr, &base, &part, meaning->symbol);
    }
    struct ofl_view view = ofl_component_view(l, &base, &part, expr->span);
    for (unsigned d = 0; d < base.rank; d++) {
        view.dim[view.rank++] = base.dim[d];
        view.contiguous = false;
    }
    view.outer = base.rank;
    return view;
}

static struct ofl_view part_of(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    struct ofl_view view = ofl_lower_view(l, meaning->base);
    ofl_k_of(l, view.type, expr->span);
    view.address = ofl_k_offset(l->arena, view.address, ofl_i8(l, meaning->imaginary ? view.type.kind : 0));
    view.type = meaning->type;
    view.contiguous &= view.rank == 0;
    return view;
}

/* The lower bounds of a named constant. */
static void constant_bounds(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_view *view)
{
    const struct ofl_bound *bound = symbol->bounds;
    for (unsigned d = 0; d < view->rank && bound != NULL; d++, bound = bound->next) {
        int64_t lower = 1;
        if (bound->lower != NULL && ofl_constant_integer(l->modules, symbol->scope, bound->lower, &lower)) {
            view->dim[d].lower = ofl_i8(l, lower);
        }
    }
}

struct ofl_view ofl_lower_view(struct ofl_lower *l, const struct ofl_expr *expr)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    struct ofl_array *array;
    struct ofl_view view;
    switch (meaning->kind) {
    case OFL_MEANS_VARIABLE:
        return ofl_view_of_binding(l, ofl_binding_of(l, meaning->symbol, expr->span), expr->span);
    case OFL_MEANS_CONSTANT:
        if (meaning->value == NULL) {
            return ofl_view_of_binding(l, ofl_binding_of(l, meaning->symbol, expr->span), expr->span);
        }
        break;
    case OFL_MEANS_ELEMENT:
    case OFL_MEANS_SECTION:
        return subscripted_of(l, expr, meaning);
    case OFL_MEANS_SUBSTRING:
        return substring_of(l, expr, meaning);
    case OFL_MEANS_COMPONENT:
    case OFL_MEANS_ARRAYS: /* of which subscripts take the inner dimensions */
        return component_of(l, expr, meaning);
    case OFL_MEANS_PART:
        return part_of(l, expr, meaning);
    default:
        break;
    }
    array = ofl_lower_array(l, expr); /* not a variable: its value in memory */
    view = array->kind == OFL_ARRAY_VIEW && meaning->kind == OFL_MEANS_CONSTANT ? array->view
                                                                                : ofl_materialize(l, array, expr->span);
    if (meaning->kind == OFL_MEANS_CONSTANT) {
        constant_bounds(l, meaning->symbol, &view);
    }
    view.root = NULL;
    return view;
}
