/* Loops, where and forall inside an iteration; see lower.h.
 *
 * A do loop's trip count is computed once, before the loop (F2018 11.1.7.4.1), and its variable has its value after the
 * loop.  A do concurrent inside the loop is a loop in the order of its indices; its mask is evaluated for all its
 * iterations first, unless nothing in the body can change it.  where and forall evaluate each right side for all
 * elements before they write any. */
#include "fortran/lower.h"

#include <assert.h>

/* ---- do ---- */

static struct ofl_k_var *counter(struct ofl_lower *l, const char *name, enum ofl_k_type type)
{
    struct ofl_k_var *var = ofl_new_var(l, ofl_arena_format(l->arena, "%s%u", name, ++l->names), type);
    var->name = ofl_arena_format(l->arena, "%s%u", name, l->names);
    return var;
}

static void add_step(struct ofl_lower *l, struct ofl_k_stmt *loop, struct ofl_k_var *var, struct ofl_k_expr *value)
{
    struct ofl_k_stmt *step = ofl_k_add(l->arena, &loop->step, OFL_K_SET);
    step->var = var;
    step->value = value;
}

/* Lowers a body as the passes of a loop. */
static void lower_passes(struct ofl_lower *l, struct ofl_stmt *stmt, struct ofl_k_stmt *loop,
                         struct ofl_k_stmt *next_pass)
{
    struct ofl_around around = {.stmt = stmt, .leave = loop, .next_pass = next_pass, .outer = l->around};
    const struct ofl_stmt *last = stmt->as.loop.body.last;
    l->around = &around;
    struct ofl_mark mark = ofl_mark_workspace(l);
    ofl_lower_block(l, &stmt->as.loop.body);
    if (stmt->end_label.value != 0 && (last == NULL || last->label.value != stmt->end_label.value)) {
        ofl_add_stmt(l, OFL_K_LABEL)->number = stmt->end_label.value;
    }
    ofl_release_workspace(l, &mark);
    l->around = around.outer;
}

static struct ofl_k_expr *trip_count(struct ofl_lower *l, struct ofl_k_expr *first, struct ofl_k_expr *last,
                                     struct ofl_k_expr *step)
{
    int64_t one;
    struct ofl_k_expr *range =
        ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_SUB, ofl_to(l, OFL_K_I8, last), ofl_to(l, OFL_K_I8, first)),
               ofl_to(l, OFL_K_I8, step));
    return ofl_k_is_constant(step, &one) && one == 1 ? range : ofl_op(l, OFL_K_DIV, range, ofl_to(l, OFL_K_I8, step));
}

static void lower_counted(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    const struct ofl_loop *loop = &stmt->as.loop;
    struct ofl_view view = ofl_lower_view(l, loop->variable);
    enum ofl_k_type type = ofl_k_of(l, view.type, loop->variable->span);
    if (!ofl_k_is_integer(type) || view.type.base != OFL_TYPE_INTEGER) {
        ofl_lower_refuse(l, loop->variable->span, "a do variable that is no integer");
    }
    struct ofl_value_type integer = view.type;
    struct ofl_k_expr *first = ofl_value_as(l, ofl_lower_value(l, loop->first), integer, stmt->span).x;
    struct ofl_k_expr *last = ofl_value_as(l, ofl_lower_value(l, loop->last), integer, stmt->span).x;
    struct ofl_k_expr *step = loop->step == NULL
                                  ? ofl_k_integer(l->arena, type, 1)
                                  : ofl_value_as(l, ofl_lower_value(l, loop->step), integer, stmt->span).x;
    step = ofl_keep(l, step, "step");
    first = ofl_keep(l, first, "first");
    bool direct = view.address->op == OFL_K_ADDRESS_OF && view.address->var->storage == OFL_K_LOCAL &&
                  view.address->var->bytes == 0 && view.address->var->type == type;
    struct ofl_k_var *index = direct ? view.address->var : counter(l, "ofl_i", type);
    struct ofl_k_var *left = counter(l, "ofl_left", OFL_K_I8);
    ofl_note_assigned(l, &view, stmt->span);
    ofl_set(l, left, trip_count(l, first, last, step));
    ofl_set(l, index, first);
    struct ofl_k_stmt *passes = ofl_add_stmt(l, OFL_K_LOOP);
    passes->value = ofl_op(l, OFL_K_GT, ofl_get(l, left), ofl_i8(l, 0));
    add_step(l, passes, left, ofl_op(l, OFL_K_SUB, ofl_get(l, left), ofl_i8(l, 1)));
    add_step(l, passes, index, ofl_op(l, OFL_K_ADD, ofl_get(l, index), step));
    struct ofl_k_block *outer = l->block;
    l->block = &passes->body;
    if (!direct) {
        ofl_store(l, view.address, ofl_get(l, index));
    }
    lower_passes(l, stmt, passes, passes);
    l->block = outer;
    if (!direct) {
        ofl_store(l, view.address, ofl_get(l, index));
    }
}

void ofl_lower_do(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    if (stmt->as.loop.form == OFL_LOOP_COUNT) {
        lower_counted(l, stmt);
        return;
    }
    struct ofl_k_stmt *loop = ofl_add_stmt(l, OFL_K_LOOP);
    struct ofl_k_block *outer = l->block;
    l->block = &loop->body;
    if (stmt->as.loop.form == OFL_LOOP_WHILE) {
        struct ofl_mark mark = ofl_mark_workspace(l);
        struct ofl_k_expr *condition = ofl_lower_condition(l, stmt->as.loop.condition);
        if (loop->body.first == NULL) {
            loop->value = condition;
        } else {
            condition = ofl_keep(l, ofl_not(l, condition), "c");
            ofl_release_workspace(l, &mark);
            struct ofl_k_block *body = ofl_begin_if(l, condition);
            ofl_leave(l, loop);
            ofl_end(l, body);
        }
    }
    lower_passes(l, stmt, loop, loop);
    l->block = outer;
}

/* ---- Indices of do concurrent and forall ---- */

enum { MAX_INDICES = OFL_MAX_RANK };

struct indices {
    unsigned count;
    struct ofl_k_var *var[MAX_INDICES];
    struct ofl_k_expr *first[MAX_INDICES], *step[MAX_INDICES], *extent[MAX_INDICES];
};

/* Evaluates the limits and binds the indices. */
static struct indices begin_indices(struct ofl_lower *l, const struct ofl_loop *loop)
{
    struct indices indices = {0};
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        struct ofl_k_expr *first = ofl_keep(l, ofl_lower_integer(l, index->lower), "first");
        struct ofl_k_expr *last = ofl_lower_integer(l, index->upper);
        struct ofl_k_expr *step =
            index->step == NULL ? ofl_i8(l, 1) : ofl_keep(l, ofl_lower_integer(l, index->step), "step");
        if (indices.count == MAX_INDICES) {
            ofl_lower_refuse(l, index->span, "so many indices");
        }
        indices.first[indices.count] = first;
        indices.step[indices.count] = step;
        indices.extent[indices.count++] = ofl_keep(l, trip_count(l, first, last, step), "n");
    }
    unsigned d = 0;
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next, d++) {
        struct ofl_symbol *symbol = ofl_scope_find(loop->scope, index->ident.name);
        struct ofl_value_type type;
        if (!ofl_symbol_type(l->modules, symbol, &type, NULL) || type.base != OFL_TYPE_INTEGER) {
            ofl_lower_refuse(l, index->span, "an index whose kind is not known");
        }
        indices.var[d] = ofl_new_var(l, index->ident.name->text, ofl_k_of(l, type, index->span));
        struct ofl_binding *binding = ofl_bind(l, symbol);
        binding->view.type = type;
        binding->view.address = ofl_k_address_of(l->arena, indices.var[d]);
        binding->view.root = binding;
        binding->private = true;
    }
    return indices;
}

/* The loops over the indices; inside, they have their values. */
static struct ofl_element_loops begin_index_loops(struct ofl_lower *l, const struct indices *indices)
{
    struct ofl_element_loops loops = ofl_begin_elements(l, indices->count, indices->extent);
    for (unsigned d = 0; d < indices->count; d++) {
        struct ofl_k_expr *value =
            ofl_op(l, OFL_K_ADD, indices->first[d], ofl_op(l, OFL_K_MUL, loops.subscript[d], indices->step[d]));
        ofl_set(l, indices->var[d], ofl_to(l, indices->var[d]->type, value));
    }
    return loops;
}

/* The mask of all iterations, in temporary memory; address NULL if there is none. */
static struct ofl_view mask_values(struct ofl_lower *l, const struct ofl_loop *loop, const struct indices *indices)
{
    struct ofl_view view = {0};
    if (loop->condition == NULL) {
        return view;
    }
    view = ofl_temporary_view(l, ofl_kind_type(OFL_TYPE_LOGICAL, 1), NULL, indices->count, indices->extent,
                              loop->condition->span);
    struct ofl_element_loops loops = begin_index_loops(l, indices);
    struct ofl_view element = ofl_element_view(l, &view, loops.subscript);
    ofl_store(l, element.address, ofl_to(l, OFL_K_I1, ofl_lower_condition(l, loop->condition)));
    ofl_end_elements(l, &loops);
    return view;
}

static struct ofl_k_expr *is_set(struct ofl_lower *l, const struct ofl_view *mask,
                                 const struct ofl_element_loops *loops, struct ofl_span span)
{
    struct ofl_view element = ofl_element_view(l, mask, loops->subscript);
    return ofl_load_view(l, &element, span).x;
}

/* ---- do concurrent ---- */

static void bind_local(struct ofl_lower *l, const struct ofl_locality *clause, struct ofl_scope *scope)
{
    for (const struct ofl_ident_list *name = clause->names; name != NULL; name = name->next) {
        struct ofl_symbol *symbol = ofl_scope_find(scope, name->ident.name);
        if (symbol == NULL) {
            ofl_lower_refuse(l, name->ident.span, "'%s'", name->ident.name->text);
        }
        struct ofl_binding *outside = ofl_binding_of(l, symbol, name->ident.span);
        struct ofl_view from = ofl_view_of_binding(l, outside, name->ident.span);
        struct ofl_binding *inside = ofl_declare_local(l, symbol, name->ident.span);
        if (clause->kind == OFL_LOCALITY_LOCAL_INIT) {
            ofl_assign_array(l, &inside->view, ofl_array_of_view(l, &from), name->ident.span);
        }
    }
}

void ofl_lower_concurrent(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    const struct ofl_loop *loop = &stmt->as.loop;
    struct ofl_binding *bindings = l->frame->bindings;
    struct indices indices = begin_indices(l, loop);
    struct ofl_scope *scope = l->scope;
    l->scope = loop->scope;
    bool stable = loop->condition == NULL || ofl_mask_is_stable(loop, scope);
    struct ofl_view mask = {0};
    if (!stable) {
        mask = mask_values(l, loop, &indices);
    }
    struct ofl_element_loops loops = begin_index_loops(l, &indices);
    struct ofl_k_stmt *pass = ofl_add_stmt(l, OFL_K_BLOCK);
    l->block = &pass->body;
    if (loop->condition != NULL) {
        struct ofl_k_expr *selected =
            stable ? ofl_lower_condition(l, loop->condition) : is_set(l, &mask, &loops, loop->condition->span);
        struct ofl_k_block *outer = ofl_begin_if(l, ofl_not(l, selected));
        ofl_leave(l, pass);
        ofl_end(l, outer);
    }
    for (const struct ofl_locality *clause = loop->localities; clause != NULL; clause = clause->next) {
        if (clause->kind == OFL_LOCALITY_LOCAL || clause->kind == OFL_LOCALITY_LOCAL_INIT) {
            bind_local(l, clause, scope);
        }
    }
    lower_passes(l, stmt, NULL, pass);
    ofl_end_elements(l, &loops);
    l->scope = scope;
    l->frame->bindings = bindings;
}

/* ---- where ---- */

/* The elements that a where assigns: logical(1), or NULL for all. */
static struct ofl_view where_mask(struct ofl_lower *l, const struct ofl_expr *condition, const struct ofl_view *outer)
{
    struct ofl_array *array = ofl_lower_array(l, condition);
    if (array->rank == 0) {
        ofl_lower_refuse(l, condition->span, "'where' with a scalar");
    }
    struct ofl_view view =
        ofl_temporary_view(l, ofl_kind_type(OFL_TYPE_LOGICAL, 1), NULL, array->rank, array->extent, condition->span);
    struct ofl_element_loops loops = ofl_begin_elements(l, array->rank, array->extent);
    struct ofl_view element = ofl_element_view(l, &view, loops.subscript);
    ofl_store(l, element.address, ofl_k_integer(l->arena, OFL_K_I1, 0));
    struct ofl_k_block *inside = NULL;
    if (outer != NULL) {
        inside = ofl_begin_if(l, is_set(l, outer, &loops, condition->span));
    }
    struct ofl_value value = ofl_array_element(l, array, loops.subscript, condition->span);
    ofl_store(l, element.address, ofl_to(l, OFL_K_I1, value.x));
    if (inside != NULL) {
        ofl_end(l, inside);
    }
    ofl_end_elements(l, &loops);
    return view;
}

/* mask and not other */
static struct ofl_view without(struct ofl_lower *l, const struct ofl_view *mask, const struct ofl_view *other,
                               struct ofl_span span)
{
    struct ofl_k_expr *extent[OFL_MAX_RANK];
    for (unsigned d = 0; d < other->rank; d++) {
        extent[d] = other->dim[d].extent;
    }
    struct ofl_view view = ofl_temporary_view(l, ofl_kind_type(OFL_TYPE_LOGICAL, 1), NULL, other->rank, extent, span);
    struct ofl_element_loops loops = ofl_begin_elements(l, other->rank, extent);
    struct ofl_view element = ofl_element_view(l, &view, loops.subscript);
    struct ofl_k_expr *value = ofl_not(l, is_set(l, other, &loops, span));
    if (mask != NULL) {
        value = ofl_op(l, OFL_K_AND, is_set(l, mask, &loops, span), value);
    }
    ofl_store(l, element.address, ofl_to(l, OFL_K_I1, value));
    ofl_end_elements(l, &loops);
    return view;
}

static void where_assignment(struct ofl_lower *l, struct ofl_stmt *stmt, const struct ofl_view *mask)
{
    const struct ofl_action *action = ofl_action_of(l->modules, l->scope, stmt);
    if (action->why != NULL || action->call != NULL || action->components) {
        ofl_lower_refuse(l, stmt->span, "this assignment in a where");
    }
    assert(mask != NULL); /* of the where construct or statement */
    struct ofl_view target = ofl_lower_view(l, stmt->as.assign.target);
    struct ofl_array *value = ofl_lower_array(l, stmt->as.assign.value);
    struct ofl_k_expr *extent[OFL_MAX_RANK];
    target.address = ofl_keep(l, target.address, "p");
    for (unsigned d = 0; d < target.rank; d++) {
        extent[d] = mask->dim[d].extent;
    }
    bool copied = ofl_may_overlap(l, &target, stmt->as.assign.value);
    struct ofl_view copy = {0};
    if (copied) {
        copy = ofl_temporary_view(l, target.type, target.length, target.rank, extent, stmt->span);
    }
    for (int pass = copied ? 0 : 1; pass < 2; pass++) {
        const struct ofl_view *to = pass == 0 ? &copy : &target;
        struct ofl_element_loops loops = ofl_begin_elements(l, target.rank, extent);
        struct ofl_k_block *inside = ofl_begin_if(l, is_set(l, mask, &loops, stmt->span));
        struct ofl_view from = pass == 1 && copied ? ofl_element_view(l, &copy, loops.subscript) : copy;
        struct ofl_value element = pass == 1 && copied ? ofl_load_view(l, &from, stmt->span)
                                                       : ofl_array_element(l, value, loops.subscript, stmt->span);
        struct ofl_view place = ofl_element_view(l, to, loops.subscript);
        ofl_assign_value(l, &place, element, stmt->span);
        ofl_end(l, inside);
        ofl_end_elements(l, &loops);
    }
    ofl_note_assigned(l, &target, stmt->span);
}

static void where_construct(struct ofl_lower *l, struct ofl_stmt *stmt, const struct ofl_view *outer);

static void where_body(struct ofl_lower *l, const struct ofl_block *body, const struct ofl_view *mask)
{
    for (struct ofl_stmt *stmt = body->first; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == OFL_STMT_ASSIGN) {
            ofl_add_comment(l, stmt->span);
            where_assignment(l, stmt, mask);
        } else if (stmt->kind == OFL_STMT_WHERE || stmt->kind == OFL_STMT_WHERE_STMT) {
            ofl_add_comment(l, stmt->span);
            where_construct(l, stmt, mask);
        } else if (ofl_stmt_is_executable(stmt->kind) && stmt->kind != OFL_STMT_CONTINUE) {
            ofl_lower_refuse(l, stmt->span, "this statement in a where");
        }
    }
}

static void where_construct(struct ofl_lower *l, struct ofl_stmt *stmt, const struct ofl_view *outer)
{
    struct ofl_view left, mask;
    const struct ofl_view *pending = outer; /* elements that no arm has taken yet */
    if (stmt->kind == OFL_STMT_WHERE_STMT) {
        struct ofl_block body = {stmt->as.guarded.body, stmt->as.guarded.body};
        mask = where_mask(l, stmt->as.guarded.condition, outer);
        where_body(l, &body, &mask);
        return;
    }
    for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
        if (arm->kind == OFL_GUARD_CONDITION) {
            mask = where_mask(l, arm->condition, pending);
            struct ofl_view rest = without(l, pending, &mask, stmt->span);
            where_body(l, &arm->body, &mask);
            left = rest;
            pending = &left;
        } else {
            where_body(l, &arm->body, pending);
        }
    }
}

void ofl_lower_where(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    struct ofl_mark mark = ofl_mark_workspace(l);
    where_construct(l, stmt, NULL);
    ofl_release_workspace(l, &mark);
}

/* ---- forall ---- */

static void forall_assignment(struct ofl_lower *l, struct ofl_stmt *stmt, const struct indices *indices,
                              const struct ofl_view *mask)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, stmt->as.assign.target);
    const struct ofl_action *action = ofl_action_of(l->modules, l->scope, stmt);
    if (meaning->rank > 0 || action->why != NULL || action->call != NULL || action->components ||
        meaning->type.base == OFL_TYPE_CHARACTER) {
        ofl_lower_refuse(l, stmt->span, "this assignment in a forall");
    }
    struct ofl_view values = ofl_temporary_view(l, meaning->type, NULL, indices->count, indices->extent, stmt->span);
    struct ofl_view target = {0};
    for (int pass = 0; pass < 2; pass++) {
        struct ofl_element_loops loops = begin_index_loops(l, indices);
        struct ofl_k_block *inside = mask == NULL ? NULL : ofl_begin_if(l, is_set(l, mask, &loops, stmt->span));
        struct ofl_view element = ofl_element_view(l, &values, loops.subscript);
        if (pass == 0) {
            ofl_assign_value(l, &element, ofl_lower_value(l, stmt->as.assign.value), stmt->span);
        } else {
            target = ofl_lower_view(l, stmt->as.assign.target);
            ofl_assign_value(l, &target, ofl_load_view(l, &element, stmt->span), stmt->span);
        }
        if (inside != NULL) {
            ofl_end(l, inside);
        }
        ofl_end_elements(l, &loops);
    }
    ofl_note_assigned(l, &target, stmt->span);
}

void ofl_lower_forall(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    const struct ofl_loop *loop = &stmt->as.loop;
    struct ofl_binding *bindings = l->frame->bindings;
    struct ofl_mark mark = ofl_mark_workspace(l);
    struct indices indices = begin_indices(l, loop);
    struct ofl_scope *scope = l->scope;
    l->scope = loop->scope;
    struct ofl_view mask = mask_values(l, loop, &indices);
    for (struct ofl_stmt *inner = loop->body.first; inner != NULL; inner = inner->next) {
        if (inner->kind == OFL_STMT_ASSIGN) {
            forall_assignment(l, inner, &indices, mask.address == NULL ? NULL : &mask);
        } else if (ofl_stmt_is_executable(inner->kind)) {
            ofl_lower_refuse(l, inner->span, "this statement in a forall");
        }
    }
    l->scope = scope;
    l->frame->bindings = bindings;
    ofl_release_workspace(l, &mark);
}
