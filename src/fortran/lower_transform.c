/* Array functions that move elements: transpose, reshape, spread, pack, cshift, matmul, ...; see lower.h.
 *
 * Where the result is the argument seen in another way (transpose, spread, reshape of adjacent elements) it is a view
 * of it; else it is made in temporary memory. */
#include "fortran/lower.h"

/* An argument as a view, its elements computed if it is none. */
static struct ofl_view view_of(struct ofl_lower *l, const struct ofl_expr *expr, bool adjacent)
{
    struct ofl_array *array = ofl_lower_array(l, expr);
    bool plain = array->kind == OFL_ARRAY_VIEW && (!adjacent || array->view.contiguous);
    for (unsigned d = 0; d < array->view.rank && plain; d++) {
        plain = array->view.dim[d].vector == NULL;
    }
    return plain ? array->view : ofl_materialize(l, array, expr->span);
}

static struct ofl_array *transposed(struct ofl_lower *l, const struct ofl_meaning *meaning)
{
    struct ofl_view view = view_of(l, meaning->call->args[0], false);
    struct ofl_view_dim first = view.dim[0];
    view.dim[0] = view.dim[1];
    view.dim[1] = first;
    view.contiguous = false;
    return ofl_array_of_view(l, &view);
}

static int64_t constant_dimension(struct ofl_lower *l, const struct ofl_expr *expr, unsigned rank)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    if (meaning->value == NULL || meaning->value->integer < 1 || meaning->value->integer > rank) {
        ofl_lower_refuse(l, expr->span, "a dimension that is not constant");
    }
    return (int64_t)meaning->value->integer;
}

static struct ofl_array *spread(struct ofl_lower *l, const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    struct ofl_array *source = ofl_lower_array(l, call->args[0]);
    struct ofl_view view =
        source->kind == OFL_ARRAY_VIEW ? source->view : ofl_materialize(l, source, call->args[0]->span);
    unsigned at = (unsigned)constant_dimension(l, call->args[1], meaning->rank) - 1;
    struct ofl_k_expr *count = ofl_keep(l, ofl_lower_integer(l, call->args[2]), "n");
    int64_t known;
    if (!ofl_k_is_constant(count, &known)) {
        count = ofl_keep(l, ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, count, ofl_i8(l, 0)), count, ofl_i8(l, 0)), "n");
    }
    for (unsigned d = view.rank; d > at; d--) {
        view.dim[d] = view.dim[d - 1];
    }
    view.dim[at] = (struct ofl_view_dim){.extent = count, .stride = ofl_i8(l, 0), .lower = ofl_i8(l, 1)};
    view.rank++;
    view.contiguous = false;
    return ofl_array_of_view(l, &view);
}

static struct ofl_array *reshaped(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    if ((call->arg_count > 2 && call->args[2] != NULL) || (call->arg_count > 3 && call->args[3] != NULL)) {
        ofl_lower_refuse(l, expr->span, "'reshape' with padding or another order");
    }
    struct ofl_view view = view_of(l, call->args[0], true);
    struct ofl_array *shape = ofl_lower_array(l, call->args[1]);
    const struct ofl_constant *constant = ofl_lower_meaning(l, call->args[1])->value;
    view.rank = meaning->rank;
    for (unsigned d = 0; d < view.rank; d++) {
        struct ofl_k_expr *at = ofl_i8(l, d);
        struct ofl_k_expr *extent = constant != NULL
                                        ? ofl_i8(l, (int64_t)constant->elements[d]->integer)
                                        : ofl_to(l, OFL_K_I8, ofl_array_element(l, shape, &at, expr->span).x);
        view.dim[d] = (struct ofl_view_dim){.extent = ofl_keep(l, extent, "n"), .lower = ofl_i8(l, 1)};
    }
    ofl_pack_strides(l, &view, expr->span);
    return ofl_array_of_view(l, &view);
}

static struct ofl_k_var *counter(struct ofl_lower *l)
{
    struct ofl_k_var *var = ofl_new_var(l, "ofl_at", OFL_K_I8);
    var->name = ofl_arena_format(l->arena, "ofl_at%u", ++l->names);
    ofl_set(l, var, ofl_i8(l, 0));
    return var;
}

static void put(struct ofl_lower *l, const struct ofl_view *to, struct ofl_k_var *at, struct ofl_value value,
                struct ofl_span span)
{
    struct ofl_k_expr *index = ofl_get(l, at);
    struct ofl_view element = ofl_element_view(l, to, &index);
    ofl_assign_value(l, &element, value, span);
    ofl_set(l, at, ofl_op(l, OFL_K_ADD, ofl_get(l, at), ofl_i8(l, 1)));
}

static struct ofl_array *packed(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    struct ofl_array *array = ofl_lower_array(l, call->args[0]), *mask = ofl_lower_array(l, call->args[1]);
    if (call->arg_count > 2 && call->args[2] != NULL) {
        ofl_lower_refuse(l, expr->span, "'pack' with a vector");
    }
    struct ofl_k_expr *length = array->kind == OFL_ARRAY_VIEW ? array->view.length : NULL;
    if (array->type.base == OFL_TYPE_CHARACTER && length == NULL) {
        ofl_lower_refuse(l, expr->span, "'pack' of a character expression");
    }
    struct ofl_k_expr *most = ofl_keep(l, ofl_count(l, array->rank, array->extent), "n");
    struct ofl_view view = ofl_temporary_view(l, array->type, length, 1, &most, expr->span);
    struct ofl_k_var *at = counter(l);
    struct ofl_element_loops loops = ofl_begin_elements(l, array->rank, array->extent);
    struct ofl_k_block *inside = ofl_begin_if(l, ofl_array_element(l, mask, loops.subscript, expr->span).x);
    put(l, &view, at, ofl_array_element(l, array, loops.subscript, expr->span), expr->span);
    ofl_end(l, inside);
    ofl_end_elements(l, &loops);
    view.dim[0].extent = ofl_get(l, at);
    return ofl_array_of_view(l, &view);
}

static struct ofl_array *unpacked(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    struct ofl_view vector = view_of(l, call->args[0], false);
    struct ofl_array *mask = ofl_lower_array(l, call->args[1]), *field = ofl_lower_array(l, call->args[2]);
    struct ofl_view view = ofl_temporary_view(l, vector.type, vector.length, mask->rank, mask->extent, expr->span);
    struct ofl_k_var *at = counter(l);
    struct ofl_k_expr *index = ofl_get(l, at);
    struct ofl_element_loops loops = ofl_begin_elements(l, mask->rank, mask->extent);
    struct ofl_view to = ofl_element_view(l, &view, loops.subscript);
    struct ofl_k_block *inside = ofl_begin_if(l, ofl_array_element(l, mask, loops.subscript, expr->span).x);
    struct ofl_view from = ofl_element_view(l, &vector, &index);
    ofl_assign_value(l, &to, ofl_load_view(l, &from, expr->span), expr->span);
    ofl_set(l, at, ofl_op(l, OFL_K_ADD, ofl_get(l, at), ofl_i8(l, 1)));
    ofl_begin_else(l, inside);
    ofl_assign_value(l, &to, ofl_array_element(l, field, loops.subscript, expr->span), expr->span);
    ofl_end(l, inside);
    ofl_end_elements(l, &loops);
    return ofl_array_of_view(l, &view);
}

/* cshift with one shift for all. */
static struct ofl_array *shifted(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    struct ofl_view from = view_of(l, call->args[0], false);
    unsigned along = 0;
    if (call->arg_count > 2 && call->args[2] != NULL) {
        along = (unsigned)constant_dimension(l, call->args[2], from.rank) - 1;
    }
    if (ofl_lower_meaning(l, call->args[1])->rank > 0) {
        ofl_lower_refuse(l, expr->span, "'cshift' with several shifts");
    }
    struct ofl_k_expr *extent[OFL_MAX_RANK] = {NULL}, *index[OFL_MAX_RANK] = {NULL};
    for (unsigned d = 0; d < from.rank; d++) {
        extent[d] = from.dim[d].extent;
    }
    struct ofl_k_expr *shift = ofl_keep(l, ofl_lower_integer(l, call->args[1]), "shift");
    struct ofl_view view = ofl_temporary_view(l, from.type, from.length, from.rank, extent, expr->span);
    struct ofl_element_loops loops = ofl_begin_elements(l, from.rank, extent);
    for (unsigned d = 0; d < from.rank; d++) {
        index[d] = loops.subscript[d];
    }
    index[along] = ofl_k_support(l->arena, OFL_K_I8, "ofl_modulo_i8", ofl_op(l, OFL_K_ADD, index[along], shift),
                                 extent[along], NULL);
    struct ofl_view source = ofl_element_view(l, &from, index), to = ofl_element_view(l, &view, loops.subscript);
    ofl_assign_value(l, &to, ofl_load_view(l, &source, expr->span), expr->span);
    ofl_end_elements(l, &loops);
    return ofl_array_of_view(l, &view);
}

/* ---- matmul ---- */

static struct ofl_value zero_of(struct ofl_lower *l, struct ofl_value_type type, struct ofl_span span)
{
    struct ofl_value zero = {.type = ofl_kind_type(OFL_TYPE_INTEGER, 4), .x = ofl_k_integer(l->arena, OFL_K_I4, 0)};
    if (type.base == OFL_TYPE_LOGICAL) {
        return (struct ofl_value){.type = type, .x = ofl_k_integer(l->arena, OFL_K_BOOL, 0)};
    }
    return ofl_value_as(l, zero, type, span);
}

static struct ofl_array *multiplied(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    struct ofl_view a = view_of(l, meaning->call->args[0], false), b = view_of(l, meaning->call->args[1], false);
    struct ofl_k_expr *extent[2], *left[2], *right[2];
    unsigned rank = 0;
    if (a.rank == 2) {
        extent[rank++] = a.dim[0].extent;
    }
    if (b.rank == 2) {
        extent[rank++] = b.dim[1].extent;
    }
    struct ofl_view view = ofl_temporary_view(l, meaning->type, NULL, rank, extent, expr->span);
    struct ofl_element_loops loops = ofl_begin_elements(l, rank, extent);
    enum ofl_k_type type = ofl_k_value_of(l, meaning->type, expr->span);
    struct ofl_k_var *sum = ofl_new_var(l, "ofl_sum", type);
    sum->name = ofl_arena_format(l->arena, "ofl_sum%u", ++l->names);
    ofl_set(l, sum, zero_of(l, meaning->type, expr->span).x);
    struct ofl_element_loops inner = ofl_begin_elements(l, 1, &b.dim[0].extent);
    left[0] = a.rank == 2 ? loops.subscript[0] : inner.subscript[0];
    left[1] = inner.subscript[0];
    right[0] = inner.subscript[0];
    right[1] = b.rank == 2 ? loops.subscript[rank - 1] : NULL;
    struct ofl_view x = ofl_element_view(l, &a, left), y = ofl_element_view(l, &b, right);
    ofl_set(l, sum,
            ofl_add_product(l, ofl_get(l, sum), ofl_load_view(l, &x, expr->span), ofl_load_view(l, &y, expr->span),
                            meaning->type, expr->span));
    ofl_end_elements(l, &inner);
    struct ofl_view to = ofl_element_view(l, &view, loops.subscript);
    ofl_assign_value(l, &to, (struct ofl_value){.type = meaning->type, .x = ofl_get(l, sum)}, expr->span);
    ofl_end_elements(l, &loops);
    return ofl_array_of_view(l, &view);
}

struct ofl_array *ofl_lower_transformational_array(struct ofl_lower *l, const struct ofl_expr *expr,
                                                   const struct ofl_meaning *meaning)
{
    switch (meaning->call->procedure->intrinsic->id) {
    case OFL_INTRINSIC_TRANSPOSE:
        return transposed(l, meaning);
    case OFL_INTRINSIC_SPREAD:
        return spread(l, meaning);
    case OFL_INTRINSIC_RESHAPE:
        return reshaped(l, expr, meaning);
    case OFL_INTRINSIC_PACK:
        return packed(l, expr, meaning);
    case OFL_INTRINSIC_UNPACK:
        return unpacked(l, expr, meaning);
    case OFL_INTRINSIC_CSHIFT:
        return shifted(l, expr, meaning);
    case OFL_INTRINSIC_MATMUL:
        return multiplied(l, expr, meaning);
    case OFL_INTRINSIC_MAXLOC:
    case OFL_INTRINSIC_MINLOC:
        return ofl_reduce_places(l, expr, meaning);
    case OFL_INTRINSIC_SUM:
    case OFL_INTRINSIC_PRODUCT:
    case OFL_INTRINSIC_MAXVAL:
    case OFL_INTRINSIC_MINVAL:
    case OFL_INTRINSIC_ANY:
    case OFL_INTRINSIC_ALL:
    case OFL_INTRINSIC_COUNT:
    case OFL_INTRINSIC_PARITY:
    case OFL_INTRINSIC_IALL:
    case OFL_INTRINSIC_IANY:
    case OFL_INTRINSIC_IPARITY:
        return ofl_reduce_dimension(l, expr, meaning);
    default:
        ofl_lower_refuse(l, expr->span, "a call of '%s'", meaning->call->procedure->name->text);
    }
}
