/* Reductions of arrays inside an iteration: sum, maxval, maxloc, dot_product, ...; see lower.h.
 *
 * Elements are taken one by one in array element order, as gfortran's code does, so that sums have the same bits.  What
 * happens with NaN and with no elements is also gfortran's. */
#include "fortran/lower.h"

#include <float.h>
#include <math.h>

struct reduction {
    enum ofl_intrinsic_id id;
    struct ofl_value_type type; /* of the elements */
    enum ofl_k_type k;          /* of a value of the elements */
    struct ofl_k_var *result, *found, *any;
    struct ofl_k_stmt *all; /* the outermost loop, which any and all leave early */
    struct ofl_span span;
};

static struct ofl_k_var *variable(struct ofl_lower *l, const char *name, enum ofl_k_type type, struct ofl_k_expr *value)
{
    struct ofl_k_var *var = ofl_new_var(l, name, type);
    var->name = ofl_arena_format(l->arena, "ofl_%s%u", name, ++l->names);
    ofl_set(l, var, value);
    return var;
}

static struct ofl_k_expr *number(struct ofl_lower *l, enum ofl_k_type type, int value)
{
    if (ofl_k_is_complex(type)) {
        enum ofl_k_type part = ofl_k_part(type);
        return ofl_k_complex(l->arena, ofl_k_real(l->arena, part, value), ofl_k_real(l->arena, part, 0));
    }
    return ofl_k_is_real(type) ? ofl_k_real(l->arena, type, value) : ofl_k_integer(l->arena, type, value);
}

/* The value that every other one is larger (or smaller) than. */
static struct ofl_k_expr *extreme(struct ofl_lower *l, enum ofl_k_type type, bool largest)
{
    if (ofl_k_is_real(type)) {
        return ofl_k_real(l->arena, type, largest ? INFINITY : -INFINITY);
    }
    int64_t most = INT64_MAX >> (64 - 8 * ofl_k_bytes(type));
    return ofl_k_integer(l->arena, type, largest ? most : -most - 1);
}

static bool is_extreme(enum ofl_intrinsic_id id)
{
    return id == OFL_INTRINSIC_MAXVAL || id == OFL_INTRINSIC_MINVAL;
}

static void begin_reduction(struct ofl_lower *l, struct reduction *reduction)
{
    struct ofl_k_expr *first;
    enum ofl_k_type type = reduction->k;
    switch (reduction->id) {
    case OFL_INTRINSIC_PRODUCT:
        first = number(l, type, 1);
        break;
    case OFL_INTRINSIC_ALL:
        first = ofl_k_integer(l->arena, OFL_K_BOOL, 1);
        break;
    case OFL_INTRINSIC_IALL:
        first = ofl_k_integer(l->arena, type, -1);
        break;
    case OFL_INTRINSIC_MAXVAL:
    case OFL_INTRINSIC_MINVAL:
        first = extreme(l, type, reduction->id == OFL_INTRINSIC_MINVAL);
        break;
    case OFL_INTRINSIC_COUNT:
        type = OFL_K_I8;
        first = ofl_i8(l, 0);
        break;
    default:
        first = type == OFL_K_BOOL ? ofl_k_integer(l->arena, type, 0) : number(l, type, 0);
        break;
    }
    reduction->result = variable(l, "r", type, first);
    if (is_extreme(reduction->id) && ofl_k_is_real(type)) {
        reduction->found = variable(l, "found", OFL_K_BOOL, ofl_k_integer(l->arena, OFL_K_BOOL, 0));
        reduction->any = variable(l, "any", OFL_K_BOOL, ofl_k_integer(l->arena, OFL_K_BOOL, 0));
    }
}

static void set_if(struct ofl_lower *l, struct ofl_k_expr *condition, struct ofl_k_var *var, struct ofl_k_expr *value)
{
    struct ofl_k_block *outer = ofl_begin_if(l, condition);
    ofl_set(l, var, value);
    ofl_end(l, outer);
}

static void extreme_step(struct ofl_lower *l, struct reduction *reduction, struct ofl_k_expr *x)
{
    bool largest = reduction->id == OFL_INTRINSIC_MAXVAL;
    struct ofl_k_expr *yes = ofl_k_integer(l->arena, OFL_K_BOOL, 1);
    x = ofl_keep(l, x, "x");
    if (reduction->found != NULL) {
        ofl_set(l, reduction->any, yes);
        set_if(l, ofl_op(l, OFL_K_EQ, x, x), reduction->found, yes);
    }
    set_if(l, ofl_op(l, largest ? OFL_K_GT : OFL_K_LT, x, ofl_get(l, reduction->result)), reduction->result, x);
}

static void reduction_step(struct ofl_lower *l, struct reduction *reduction, struct ofl_k_expr *x)
{
    struct ofl_k_expr *result = ofl_get(l, reduction->result);
    struct ofl_k_block *outer;
    switch (reduction->id) {
    case OFL_INTRINSIC_SUM:
        ofl_set(l, reduction->result, ofl_op(l, OFL_K_ADD, x, result));
        break;
    case OFL_INTRINSIC_PRODUCT:
        ofl_set(l, reduction->result, ofl_op(l, OFL_K_MUL, x, result));
        break;
    case OFL_INTRINSIC_ANY:
    case OFL_INTRINSIC_ALL:
        outer = ofl_begin_if(l, reduction->id == OFL_INTRINSIC_ANY ? x : ofl_not(l, x));
        ofl_set(l, reduction->result, ofl_k_integer(l->arena, OFL_K_BOOL, reduction->id == OFL_INTRINSIC_ANY));
        ofl_leave(l, reduction->all);
        ofl_end(l, outer);
        break;
    case OFL_INTRINSIC_COUNT:
        set_if(l, x, reduction->result, ofl_op(l, OFL_K_ADD, result, ofl_i8(l, 1)));
        break;
    case OFL_INTRINSIC_PARITY:
        ofl_set(l, reduction->result, ofl_op(l, OFL_K_NE, ofl_to(l, OFL_K_I4, result), ofl_to(l, OFL_K_I4, x)));
        break;
    case OFL_INTRINSIC_IALL:
        ofl_set(l, reduction->result, ofl_op(l, OFL_K_BIT_AND, result, x));
        break;
    case OFL_INTRINSIC_IANY:
        ofl_set(l, reduction->result, ofl_op(l, OFL_K_BIT_OR, result, x));
        break;
    case OFL_INTRINSIC_IPARITY:
        ofl_set(l, reduction->result, ofl_op(l, OFL_K_BIT_XOR, result, x));
        break;
    default:
        extreme_step(l, reduction, x);
        break;
    }
}

static struct ofl_k_expr *reduction_result(struct ofl_lower *l, const struct reduction *reduction)
{
    struct ofl_k_expr *result = ofl_get(l, reduction->result);
    if (reduction->found == NULL) {
        return result;
    }
    /* Only NaN: NaN.  No element: the finite number that every other one is larger (or smaller) than. */
    double most = reduction->k == OFL_K_R4 ? FLT_MAX : DBL_MAX;
    struct ofl_k_expr *nan = ofl_k_real(l->arena, reduction->k, NAN);
    struct ofl_k_expr *none = ofl_k_real(l->arena, reduction->k, reduction->id == OFL_INTRINSIC_MAXVAL ? -most : most);
    struct ofl_k_expr *otherwise = ofl_k_select(l->arena, ofl_get(l, reduction->any), nan, none);
    return ofl_keep(l, ofl_k_select(l->arena, ofl_get(l, reduction->found), result, otherwise), "r");
}

/* ---- Over all elements, or along one dimension ---- */

struct reduced {
    struct ofl_array *array, *mask; /* mask NULL: all elements */
    int64_t dim;                    /* from 1; 0: all elements */
};

/* The arguments: array[, dim][, mask]; any, all and count have a mask as their array. */
static struct reduced arguments(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    struct reduced reduced = {0};
    const struct ofl_expr *dim = call->arg_count > 1 ? call->args[1] : NULL;
    enum ofl_intrinsic_id id = call->procedure->intrinsic->id;
    bool masked =
        id != OFL_INTRINSIC_ANY && id != OFL_INTRINSIC_ALL && id != OFL_INTRINSIC_COUNT && id != OFL_INTRINSIC_PARITY;
    reduced.array = ofl_lower_array(l, call->args[0]);
    if (dim != NULL) {
        const struct ofl_meaning *constant = ofl_lower_meaning(l, dim);
        if (constant->value == NULL || constant->value->integer < 1 || constant->value->integer > reduced.array->rank) {
            ofl_lower_refuse(l, dim->span, "a dimension that is not constant");
        }
        reduced.dim = (int64_t)constant->value->integer;
    }
    if (masked && call->arg_count > 2 && call->args[2] != NULL) {
        reduced.mask = ofl_lower_array(l, call->args[2]);
    }
    for (unsigned d = 0; d < reduced.array->rank; d++) {
        if (reduced.array->extent[d] == NULL) {
            ofl_lower_refuse(l, expr->span, "the whole of an assumed-size array");
        }
    }
    return reduced;
}

static struct ofl_k_block *begin_mask(struct ofl_lower *l, const struct ofl_array *mask,
                                      struct ofl_k_expr *const *subscript, struct ofl_span span)
{
    return mask == NULL ? NULL : ofl_begin_if(l, ofl_array_element(l, mask, subscript, span).x);
}

static struct ofl_k_expr *reduce_all(struct ofl_lower *l, struct reduction *reduction, const struct reduced *reduced)
{
    begin_reduction(l, reduction);
    struct ofl_element_loops loops = ofl_begin_elements(l, reduced->array->rank, reduced->array->extent);
    reduction->all = loops.outermost;
    struct ofl_k_block *inside = begin_mask(l, reduced->mask, loops.subscript, reduction->span);
    reduction_step(l, reduction, ofl_array_element(l, reduced->array, loops.subscript, reduction->span).x);
    if (inside != NULL) {
        ofl_end(l, inside);
    }
    ofl_end_elements(l, &loops);
    return reduction_result(l, reduction);
}

static struct reduction make_reduction(struct ofl_lower *l, const struct ofl_expr *expr,
                                       const struct ofl_meaning *meaning, const struct ofl_array *array)
{
    struct reduction reduction = {.id = meaning->call->procedure->intrinsic->id, .span = expr->span};
    if (!ofl_is_number(array->type)) {
        ofl_lower_refuse(l, expr->span, "'%s' of characters", meaning->call->procedure->name->text);
    }
    reduction.type = array->type;
    reduction.k = ofl_k_value_of(l, array->type, expr->span);
    return reduction;
}

static struct ofl_value lower_reduction(struct ofl_lower *l, const struct ofl_expr *expr,
                                        const struct ofl_meaning *meaning)
{
    struct reduced reduced = arguments(l, expr, meaning);
    struct reduction reduction = make_reduction(l, expr, meaning, reduced.array);
    struct ofl_k_expr *result = reduce_all(l, &reduction, &reduced);
    struct ofl_value value = {.type = meaning->type, .x = result};
    if (reduction.id == OFL_INTRINSIC_COUNT) {
        value.x = ofl_to(l, ofl_k_of(l, meaning->type, expr->span), result);
    }
    return value;
}

struct ofl_array *ofl_reduce_dimension(struct ofl_lower *l, const struct ofl_expr *expr,
                                       const struct ofl_meaning *meaning)
{
    struct reduced reduced = arguments(l, expr, meaning);
    struct ofl_k_expr *extent[OFL_MAX_RANK], *all[OFL_MAX_RANK];
    unsigned along = (unsigned)reduced.dim - 1, rank = 0;
    for (unsigned d = 0; d < reduced.array->rank; d++) {
        if (d != along) {
            extent[rank++] = reduced.array->extent[d];
        }
    }
    struct ofl_view view = ofl_temporary_view(l, meaning->type, NULL, rank, extent, expr->span);
    struct ofl_element_loops outer = ofl_begin_elements(l, rank, extent);
    struct reduction reduction = make_reduction(l, expr, meaning, reduced.array);
    begin_reduction(l, &reduction);
    struct ofl_element_loops inner = ofl_begin_elements(l, 1, &reduced.array->extent[along]);
    reduction.all = inner.outermost;
    for (unsigned d = 0, k = 0; d < reduced.array->rank; d++) {
        all[d] = d == along ? inner.subscript[0] : outer.subscript[k++];
    }
    struct ofl_k_block *inside = begin_mask(l, reduced.mask, all, expr->span);
    reduction_step(l, &reduction, ofl_array_element(l, reduced.array, all, expr->span).x);
    if (inside != NULL) {
        ofl_end(l, inside);
    }
    ofl_end_elements(l, &inner);
    struct ofl_view element = ofl_element_view(l, &view, outer.subscript);
    struct ofl_value value = {.type = meaning->type, .x = reduction_result(l, &reduction)};
    if (reduction.id == OFL_INTRINSIC_COUNT) {
        value.type = ofl_kind_type(OFL_TYPE_INTEGER, 8);
    }
    ofl_assign_value(l, &element, value, expr->span);
    ofl_end_elements(l, &outer);
    return ofl_array_of_view(l, &view);
}

/* ---- Places of extreme values ---- */

/* Sets at[d] to the place, from 1, or 0. */
static void find_place(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                       struct ofl_array *array, struct ofl_array *mask, struct ofl_k_var **at)
{
    const struct ofl_call *call = meaning->call;
    bool largest = call->procedure->intrinsic->id == OFL_INTRINSIC_MAXLOC;
    struct ofl_k_expr *back = call->arg_count > 4 && call->args[4] != NULL
                                  ? ofl_keep(l, ofl_lower_condition(l, call->args[4]), "back")
                                  : NULL;
    enum ofl_k_type type = ofl_k_value_of(l, array->type, expr->span);
    struct ofl_k_expr *yes = ofl_k_integer(l->arena, OFL_K_BOOL, 1);
    struct ofl_k_var *best = variable(l, "best", type, extreme(l, type, !largest));
    struct ofl_k_var *found = variable(l, "found", OFL_K_BOOL, ofl_k_integer(l->arena, OFL_K_BOOL, 0));
    for (unsigned d = 0; d < array->rank; d++) {
        at[d] = variable(l, "at", OFL_K_I8, ofl_i8(l, 0));
    }
    struct ofl_element_loops loops = ofl_begin_elements(l, array->rank, array->extent);
    struct ofl_k_block *inside = begin_mask(l, mask, loops.subscript, expr->span);
    struct ofl_k_expr *x = ofl_keep(l, ofl_array_element(l, array, loops.subscript, expr->span).x, "x");
    struct ofl_k_expr *first = ofl_op(l, OFL_K_EQ, ofl_get(l, at[0]), ofl_i8(l, 0)); /* all NaN: the first one */
    struct ofl_k_expr *not_nan = ofl_op(l, OFL_K_EQ, x, x), *better;
    better = ofl_op(l, largest ? OFL_K_GT : OFL_K_LT, x, ofl_get(l, best));
    if (back != NULL) {
        better = ofl_op(l, OFL_K_OR, better, ofl_op(l, OFL_K_AND, back, ofl_op(l, OFL_K_EQ, x, ofl_get(l, best))));
    }
    struct ofl_k_expr *take = ofl_keep(l, ofl_k_select(l->arena, ofl_get(l, found), better, not_nan), "take");
    struct ofl_k_block *outer = ofl_begin_if(l, ofl_op(l, OFL_K_OR, take, first));
    for (unsigned d = 0; d < array->rank; d++) {
        ofl_set(l, at[d], ofl_op(l, OFL_K_ADD, loops.subscript[d], ofl_i8(l, 1)));
    }
    struct ofl_k_block *taken = ofl_begin_if(l, take);
    ofl_set(l, found, yes);
    ofl_set(l, best, x);
    ofl_end(l, taken);
    ofl_end(l, outer);
    if (inside != NULL) {
        ofl_end(l, inside);
    }
    ofl_end_elements(l, &loops);
}

static struct ofl_array *place_arguments(struct ofl_lower *l, const struct ofl_expr *expr,
                                         const struct ofl_meaning *meaning, struct ofl_array **mask)
{
    const struct ofl_call *call = meaning->call;
    struct ofl_array *array = ofl_lower_array(l, call->args[0]);
    *mask = call->arg_count > 2 && call->args[2] != NULL ? ofl_lower_array(l, call->args[2]) : NULL;
    if (array->type.base != OFL_TYPE_INTEGER && array->type.base != OFL_TYPE_REAL) {
        ofl_lower_refuse(l, expr->span, "'%s' of characters", call->procedure->name->text);
    }
    return array;
}

static struct ofl_value lower_place(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    struct ofl_array *mask, *array = place_arguments(l, expr, meaning, &mask);
    struct ofl_k_var *at[OFL_MAX_RANK] = {NULL};
    find_place(l, expr, meaning, array, mask, at);
    return (struct ofl_value){.type = meaning->type,
                              .x = ofl_to(l, ofl_k_of(l, meaning->type, expr->span), ofl_get(l, at[0]))};
}

struct ofl_array *ofl_reduce_places(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    if (meaning->call->arg_count > 1 && meaning->call->args[1] != NULL) {
        ofl_lower_refuse(l, expr->span, "'%s' along a dimension", meaning->call->procedure->name->text);
    }
    struct ofl_array *mask, *array = place_arguments(l, expr, meaning, &mask);
    struct ofl_k_var *at[OFL_MAX_RANK] = {NULL};
    struct ofl_k_expr *rank = ofl_i8(l, array->rank);
    find_place(l, expr, meaning, array, mask, at);
    struct ofl_view view = ofl_temporary_view(l, meaning->type, NULL, 1, &rank, expr->span);
    for (unsigned d = 0; d < array->rank; d++) {
        struct ofl_k_expr *index = ofl_i8(l, d);
        struct ofl_view element = ofl_element_view(l, &view, &index);
        struct ofl_value value = {.type = ofl_kind_type(OFL_TYPE_INTEGER, 8), .x = ofl_get(l, at[d])};
        ofl_assign_value(l, &element, value, expr->span);
    }
    return ofl_array_of_view(l, &view);
}

/* ---- dot_product ---- */

/* The product of two elements as dot_product and matmul add it. */
struct ofl_k_expr *ofl_add_product(struct ofl_lower *l, struct ofl_k_expr *sum, struct ofl_value a, struct ofl_value b,
                                   struct ofl_value_type type, struct ofl_span span)
{
    if (type.base == OFL_TYPE_LOGICAL) {
        return ofl_op(l, OFL_K_OR, sum, ofl_op(l, OFL_K_AND, a.x, b.x));
    }
    struct ofl_k_expr *x = ofl_value_as(l, a, type, span).x;
    return ofl_op(l, OFL_K_ADD, sum, ofl_op(l, OFL_K_MUL, x, ofl_value_as(l, b, type, span).x));
}

static struct ofl_value lower_dot(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    struct ofl_array *a = ofl_lower_array(l, meaning->call->args[0]);
    struct ofl_array *b = ofl_lower_array(l, meaning->call->args[1]);
    enum ofl_k_type type = ofl_k_value_of(l, meaning->type, expr->span);
    struct ofl_k_var *sum =
        variable(l, "dot", type, type == OFL_K_BOOL ? ofl_k_integer(l->arena, type, 0) : number(l, type, 0));
    struct ofl_element_loops loops = ofl_begin_elements(l, 1, a->extent);
    struct ofl_value x = ofl_array_element(l, a, loops.subscript, expr->span);
    struct ofl_value y = ofl_array_element(l, b, loops.subscript, expr->span);
    if (x.type.base == OFL_TYPE_COMPLEX) {
        struct ofl_k_expr *z = ofl_keep(l, x.x, "z");
        x.x = ofl_k_complex(l->arena, ofl_k_unary(l->arena, OFL_K_RE, z),
                            ofl_k_unary(l->arena, OFL_K_NEG, ofl_k_unary(l->arena, OFL_K_IM, z)));
    }
    ofl_set(l, sum, ofl_add_product(l, ofl_get(l, sum), x, y, meaning->type, expr->span));
    ofl_end_elements(l, &loops);
    return (struct ofl_value){.type = meaning->type, .x = ofl_get(l, sum)};
}

struct ofl_value ofl_lower_transformational(struct ofl_lower *l, const struct ofl_expr *expr,
                                            const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    switch (call->procedure->intrinsic->id) {
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
        return lower_reduction(l, expr, meaning);
    case OFL_INTRINSIC_MAXLOC:
    case OFL_INTRINSIC_MINLOC:
        return lower_place(l, expr, meaning);
    case OFL_INTRINSIC_DOT_PRODUCT:
        return lower_dot(l, expr, meaning);
    case OFL_INTRINSIC_TRIM:
    case OFL_INTRINSIC_REPEAT: {
        struct ofl_value args[2] = {{.x = NULL}};
        bool done;
        args[0] = ofl_lower_value(l, call->args[0]);
        if (call->arg_count > 1) {
            args[1] = ofl_lower_value(l, call->args[1]);
        }
        return ofl_text_intrinsic(l, expr, meaning, args, call->arg_count, &done);
    }
    default:
        ofl_lower_refuse(l, expr->span, "a call of '%s'", call->procedure->name->text);
    }
}
