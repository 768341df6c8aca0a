/* Array and structure constructors; see lower.h.
 *
 * An array constructor is made in temporary memory: first the number of its elements, then the elements one behind
 * another. */
#include "fortran/lower.h"
#include "fortran/meaning_private.h"

/* ---- The number of elements ---- */

static struct ofl_k_expr *count_items(struct ofl_lower *l, const struct ofl_arg *items);

/* The index of an implied do, bound; its first value, step and number of passes. */
struct passes {
    struct ofl_k_var *index;
    struct ofl_k_expr *first, *step, *count;
    struct ofl_scope *scope;
};

static struct passes begin_passes(struct ofl_lower *l, const struct ofl_expr *expr)
{
    struct passes passes = {.scope = l->scope};
    passes.first = ofl_keep(l, ofl_lower_integer(l, expr->as.implied_do.first), "first");
    struct ofl_k_expr *last = ofl_lower_integer(l, expr->as.implied_do.last);
    passes.step = expr->as.implied_do.step == NULL
                      ? ofl_i8(l, 1)
                      : ofl_keep(l, ofl_lower_integer(l, expr->as.implied_do.step), "step");
    struct ofl_k_expr *range = ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_SUB, last, passes.first), passes.step);
    int64_t step = 0, size;
    if (ofl_k_is_constant(passes.step, &step) && step != 0 && ofl_k_is_constant(range, &size)) {
        passes.count = ofl_i8(l, size / step > 0 ? size / step : 0);
    } else {
        struct ofl_k_expr *count = ofl_keep(l, step == 1 ? range : ofl_op(l, OFL_K_DIV, range, passes.step), "n");
        passes.count =
            ofl_keep(l, ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, count, ofl_i8(l, 0)), count, ofl_i8(l, 0)), "n");
    }
    l->scope = ofl_implied_do_scope(l->modules, l->scope, expr);
    struct ofl_symbol *symbol = ofl_scope_find(l->scope, expr->as.implied_do.index.name);
    struct ofl_value_type type;
    if (symbol == NULL || !ofl_symbol_type(l->modules, symbol, &type, NULL)) {
        ofl_lower_refuse(l, expr->span, "this implied do");
    }
    passes.index = ofl_new_var(l, symbol->name->text, ofl_k_of(l, type, expr->span));
    struct ofl_binding *binding = ofl_bind(l, symbol);
    binding->view.type = type;
    binding->view.address = ofl_k_address_of(l->arena, passes.index);
    binding->view.root = binding;
    binding->private = true;
    return passes;
}

static struct ofl_element_loops begin_pass(struct ofl_lower *l, const struct passes *passes)
{
    struct ofl_element_loops loops = ofl_begin_elements(l, 1, &passes->count);
    struct ofl_k_expr *value =
        ofl_op(l, OFL_K_ADD, passes->first, ofl_op(l, OFL_K_MUL, loops.subscript[0], passes->step));
    ofl_set(l, passes->index, ofl_to(l, passes->index->type, value));
    return loops;
}

static bool are_scalars(struct ofl_lower *l, const struct ofl_arg *items)
{
    for (const struct ofl_arg *item = items; item != NULL; item = item->next) {
        if (item->value->kind == OFL_EXPR_IMPLIED_DO || ofl_lower_meaning(l, item->value)->rank > 0) {
            return false;
        }
    }
    return true;
}

static struct ofl_k_expr *count_passes(struct ofl_lower *l, const struct ofl_expr *expr)
{
    struct passes passes = begin_passes(l, expr);
    struct ofl_k_expr *count;
    if (are_scalars(l, expr->as.implied_do.items)) {
        count = ofl_op(l, OFL_K_MUL, passes.count, count_items(l, expr->as.implied_do.items));
    } else {
        struct ofl_k_var *sum = ofl_new_var(l, "ofl_sum", OFL_K_I8);
        sum->name = ofl_arena_format(l->arena, "ofl_sum%u", ++l->names);
        ofl_set(l, sum, ofl_i8(l, 0));
        struct ofl_element_loops loops = begin_pass(l, &passes);
        ofl_set(l, sum, ofl_op(l, OFL_K_ADD, ofl_get(l, sum), count_items(l, expr->as.implied_do.items)));
        ofl_end_elements(l, &loops);
        count = ofl_get(l, sum);
    }
    l->scope = passes.scope;
    return count;
}

static struct ofl_k_expr *count_items(struct ofl_lower *l, const struct ofl_arg *items)
{
    struct ofl_k_expr *count = ofl_i8(l, 0);
    for (const struct ofl_arg *item = items; item != NULL; item = item->next) {
        struct ofl_k_expr *here = ofl_i8(l, 1);
        if (item->value->kind == OFL_EXPR_IMPLIED_DO) {
            here = count_passes(l, item->value);
        } else if (ofl_lower_meaning(l, item->value)->rank > 0) {
            struct ofl_array *array = ofl_lower_array(l, item->value);
            here = ofl_count(l, array->rank, array->extent);
        }
        count = ofl_op(l, OFL_K_ADD, count, here);
    }
    return count;
}

/* ---- The elements ---- */

static void put(struct ofl_lower *l, const struct ofl_view *to, struct ofl_k_var *position, struct ofl_value value,
                struct ofl_span span)
{
    struct ofl_k_expr *at = ofl_get(l, position);
    struct ofl_view element = ofl_element_view(l, to, &at);
    ofl_assign_value(l, &element, value, span);
    ofl_set(l, position, ofl_op(l, OFL_K_ADD, ofl_get(l, position), ofl_i8(l, 1)));
}

void ofl_lower_items(struct ofl_lower *l, const struct ofl_arg *items, const struct ofl_view *to,
                     struct ofl_k_var *position)
{
    for (const struct ofl_arg *item = items; item != NULL; item = item->next) {
        const struct ofl_expr *expr = item->value;
        if (expr->kind == OFL_EXPR_IMPLIED_DO) {
            struct passes passes = begin_passes(l, expr);
            struct ofl_element_loops loops = begin_pass(l, &passes);
            ofl_lower_items(l, expr->as.implied_do.items, to, position);
            ofl_end_elements(l, &loops);
            l->scope = passes.scope;
        } else if (ofl_lower_meaning(l, expr)->rank > 0) {
            struct ofl_array *array = ofl_lower_array(l, expr);
            struct ofl_element_loops loops = ofl_begin_elements(l, array->rank, array->extent);
            put(l, to, position, ofl_array_element(l, array, loops.subscript, expr->span), expr->span);
            ofl_end_elements(l, &loops);
        } else {
            put(l, to, position, ofl_lower_value(l, expr), expr->span);
        }
    }
}

static struct ofl_k_expr *length_of(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning)
{
    const struct ofl_arg *first = expr->as.array.items;
    if (meaning->type.base != OFL_TYPE_CHARACTER) {
        return NULL;
    }
    if (meaning->type.length_form == OFL_LENGTH_KNOWN) {
        return ofl_i8(l, meaning->type.characters);
    }
    if (meaning->type.length_form == OFL_LENGTH_EXPR && expr->as.array.type != NULL) {
        return ofl_keep(l, ofl_lower_integer(l, meaning->type.length), "len");
    }
    if (first == NULL || first->value->kind == OFL_EXPR_IMPLIED_DO || ofl_lower_meaning(l, first->value)->rank > 0) {
        ofl_lower_refuse(l, expr->span, "an array constructor of characters whose length is not plain");
    }
    return ofl_keep(l, ofl_lower_value(l, first->value).length, "len");
}

struct ofl_array *ofl_lower_constructor(struct ofl_lower *l, const struct ofl_expr *expr,
                                        const struct ofl_meaning *meaning)
{
    struct ofl_k_expr *length = length_of(l, expr, meaning);
    struct ofl_k_expr *count = ofl_keep(l, count_items(l, expr->as.array.items), "n");
    struct ofl_view view = ofl_temporary_view(l, meaning->type, length, 1, &count, expr->span);
    if (are_scalars(l, expr->as.array.items)) {
        int64_t i = 0;
        for (const struct ofl_arg *item = expr->as.array.items; item != NULL; item = item->next, i++) {
            struct ofl_k_expr *at = ofl_i8(l, i);
            struct ofl_view element = ofl_element_view(l, &view, &at);
            ofl_assign_value(l, &element, ofl_lower_value(l, item->value), item->span);
        }
    } else {
        struct ofl_k_var *position = ofl_new_var(l, "ofl_at", OFL_K_I8);
        position->name = ofl_arena_format(l->arena, "ofl_at%u", ++l->names);
        ofl_set(l, position, ofl_i8(l, 0));
        ofl_lower_items(l, expr->as.array.items, &view, position);
    }
    return ofl_array_of_view(l, &view);
}

/* ---- Structures ---- */

static void give_component(struct ofl_lower *l, const struct ofl_view *whole, const struct ofl_component_value *given,
                           struct ofl_span span)
{
    struct ofl_component part = ofl_component_place(l, whole->type.derived, given->component, span);
    struct ofl_scope *scope = l->scope;
    const struct ofl_expr *value = given->value;
    if (!part.plain) {
        ofl_lower_refuse(l, span, "the %s component '%s'",
                         OFL_HAS(given->component, POINTER) ? "pointer" : "allocatable", given->component->name->text);
    }
    struct ofl_view view = ofl_component_view(l, whole, &part, span);
    if (value == NULL && given->component->value == NULL) {
        ofl_initialize(l, &view, span);
        return;
    }
    if (value == NULL) {
        value = given->component->value;
        l->scope = given->component->scope;
    }
    ofl_assign_array(l, &view, ofl_lower_array(l, value), span);
    l->scope = scope;
}

struct ofl_value ofl_lower_structure(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning)
{
    struct ofl_view whole = ofl_temporary_view(l, meaning->type, NULL, 0, NULL, expr->span);
    const struct ofl_expr *parent = NULL;
    for (size_t i = 0; i < meaning->component_count; i++) {
        const struct ofl_component_value *given = &meaning->components[i];
        if (given->whole == NULL) {
            give_component(l, &whole, given, expr->span);
        } else if (given->whole != parent) {
            parent = given->whole;
            struct ofl_value value = ofl_lower_value(l, parent);
            ofl_copy(l, whole.address, value.x, ofl_element_bytes(l, value.type, NULL, expr->span));
        }
    }
    return ofl_load_view(l, &whole, expr->span);
}
