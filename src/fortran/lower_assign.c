/* Assignments; see lower.h.
 *
 * Entry point: ofl_lower_assignment.  The right side of an array assignment goes through a temporary array where it
 * may read, at another place, what the assignment writes; ofl_may_overlap decides, and says yes when in doubt. */
#include "fortran/lower.h"

#include <string.h>

/* ---- One element ---- */

void ofl_note_assigned(struct ofl_lower *l, const struct ofl_view *target, struct ofl_span span)
{
    const struct ofl_binding *root = target->root;
    if (root == NULL) {
        return;
    }
    if (target->component != NULL) {
        target->component->written = true; /* the variable that has it counts as written: see ofl_components_in */
        return;
    }
    if (root->touched != NULL) {
        ofl_set(l, root->touched, ofl_k_integer(l->arena, OFL_K_BOOL, 1));
    }
    if (root->object != NULL) {
        root->object->public.written = true;
    } else if (!root->private) {
        ofl_lower_refuse(l, span, "an assignment to '%s' at this place", root->symbol->name->text);
    }
}

void ofl_assign_value(struct ofl_lower *l, const struct ofl_view *target, struct ofl_value value, struct ofl_span span)
{
    enum ofl_k_type memory = ofl_k_of(l, target->type, span);
    if (ofl_is_number(target->type)) {
        value = ofl_value_as(l, value, target->type, span);
        ofl_store(l, target->address, value.x->type == OFL_K_BOOL ? ofl_to(l, memory, value.x) : value.x);
        return;
    }
    if (target->type.base == OFL_TYPE_CHARACTER) {
        if (value.type.base != OFL_TYPE_CHARACTER) {
            ofl_lower_refuse(l, span, "this assignment to characters");
        }
        ofl_do(l, ofl_k_support(l->arena, OFL_K_VOID, "ofl_text_assign", target->address, target->length, value.x,
                                value.length, NULL));
        return;
    }
    if (value.type.derived == NULL || ofl_has_descriptors(l, target->type.derived, span)) {
        ofl_lower_refuse(l, span, "an assignment of a type with allocatable or pointer components");
    }
    ofl_copy(l, target->address, value.x, ofl_element_bytes(l, target->type, NULL, span));
}

/* ---- Overlap ---- */

struct overlap {
    struct ofl_lower *l;
    const struct ofl_view *target;
    const char *text; /* of the target's designator, or NULL */
    bool found;
};

static bool shares_memory(const struct ofl_symbol *a, const struct ofl_symbol *b)
{
    bool pointer_a = OFL_HAS(a, POINTER) || OFL_HAS(a, TARGET), pointer_b = OFL_HAS(b, POINTER) || OFL_HAS(b, TARGET);
    bool common = a->storage == OFL_STORAGE_COMMON && b->storage == OFL_STORAGE_COMMON && a->scope != b->scope;
    return a == b || (pointer_a && pointer_b) || a->equivalenced || b->equivalenced || common;
}

static void look_at_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context);

static bool look_at(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                    void *context)
{
    struct overlap *overlap = context;
    struct ofl_lower *l = overlap->l;
    if (overlap->found || meaning->value != NULL) {
        return false;
    }
    if (meaning->designator && meaning->rank == 0 && ofl_is_number(meaning->type)) {
        return false; /* read once, before anything is written */
    }
    if (overlap->text != NULL && meaning->designator &&
        strcmp(ofl_rewrite_flat(l->rewriter, expr->span), overlap->text) == 0) {
        return false; /* the same element, read before it is written */
    }
    const struct ofl_intrinsic *intrinsic = meaning->call == NULL ? NULL : meaning->call->procedure->intrinsic;
    if (overlap->text != NULL && intrinsic != NULL && meaning->rank > 0 &&
        intrinsic->class != OFL_INTRINSIC_ELEMENTAL) { /* its elements come from other places of its argument */
        const char *text = overlap->text;
        overlap->text = NULL;
        const struct ofl_visitor visitor = {.expr = look_at, .call = look_at_call, .context = overlap};
        for (unsigned i = 0; i < meaning->call->arg_count; i++) {
            if (meaning->call->args[i] != NULL) {
                ofl_visit_expr(l->modules, scope, meaning->call->args[i], &visitor);
            }
        }
        overlap->text = text;
        return false;
    }
    if (meaning->kind == OFL_MEANS_VARIABLE) {
        const struct ofl_binding *binding = ofl_binding_of(l, meaning->symbol, expr->span);
        const struct ofl_binding *root = binding->view.root == NULL ? binding : binding->view.root;
        const struct ofl_binding *target = overlap->target->root;
        overlap->found |= target == NULL || shares_memory(root->symbol, target->symbol);
    }
    return !overlap->found;
}

/* A procedure of the program may read the target itself. */
static void look_at_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context)
{
    struct overlap *overlap = context;
    const struct ofl_binding *root = overlap->target->root;
    (void)span;
    (void)scope;
    if (call->procedure->intrinsic == NULL && call->elemental && (root == NULL || !root->private)) {
        bool reads = true;
        for (const struct ofl_lowered_procedure *made = overlap->l->procedures; made != NULL; made = made->next) {
            if (made->procedure == call->procedure) {
                reads = made->reads_objects;
            }
        }
        overlap->found |= reads;
    }
}

static bool overlaps(struct ofl_lower *l, const struct ofl_view *target, const struct ofl_expr *value, const char *text)
{
    struct overlap overlap = {.l = l, .target = target, .text = text};
    const struct ofl_visitor visitor = {.expr = look_at, .call = look_at_call, .context = &overlap};
    for (unsigned d = 0; d < target->rank; d++) {
        if (target->dim[d].vector != NULL) {
            overlap.text = NULL;
        }
    }
    ofl_visit_expr(l->modules, l->scope, value, &visitor);
    return overlap.found;
}

bool ofl_may_overlap(struct ofl_lower *l, const struct ofl_view *target, const struct ofl_expr *value)
{
    return overlaps(l, target, value, NULL);
}

/* ---- Arrays ---- */

void ofl_assign_array(struct ofl_lower *l, const struct ofl_view *target, const struct ofl_array *value,
                      struct ofl_span span)
{
    struct ofl_k_expr *extent[OFL_MAX_RANK];
    struct ofl_view kept = *target;
    kept.address = ofl_keep(l, target->address, "p");
    for (unsigned d = 0; d < target->rank; d++) {
        extent[d] = target->dim[d].extent != NULL ? target->dim[d].extent : value->extent[d];
        if (extent[d] == NULL) {
            ofl_lower_refuse(l, span, "the whole of an assumed-size array");
        }
    }
    struct ofl_element_loops loops = ofl_begin_elements(l, target->rank, extent);
    struct ofl_value element = ofl_array_element(l, value, loops.subscript, span);
    struct ofl_view to = ofl_element_view(l, &kept, loops.subscript);
    ofl_assign_value(l, &to, element, span);
    ofl_end_elements(l, &loops);
}

/* Ends the program if `condition` holds, with a message that names the place of the assignment. */
static void stop_if(struct ofl_lower *l, struct ofl_k_expr *condition, const struct ofl_stmt *stmt, const char *message)
{
    struct ofl_place place = ofl_place_of(l->rewriter->sources, stmt->span.begin);
    const char *text = ofl_arena_format(l->arena, "%s:%u: Error: %s", place.file, place.line, message);
    struct ofl_k_block *outer = ofl_begin_if(l, condition);
    struct ofl_value value = ofl_constant_text(l, text, strlen(text));
    l->kernel->status = true;
    ofl_do(l, ofl_k_support(l->arena, OFL_K_VOID, "ofl_thread_stop", ofl_k_integer(l->arena, OFL_K_I4, 2), ofl_i8(l, 1),
                            value.x, value.length, ofl_k_integer(l->arena, OFL_K_BOOL, 0), NULL));
    ofl_add_stmt(l, OFL_K_EXIT);
    ofl_end(l, outer);
}

/* A kernel cannot allocate: a component has to have the right size. */
static void check_component(struct ofl_lower *l, const struct ofl_stmt *stmt, const struct ofl_view *target,
                            const struct ofl_array *value)
{
    const char *name = ofl_rewrite_flat(l->rewriter, stmt->as.assign.target->span);
    struct ofl_k_expr *none = ofl_k_integer(l->arena, OFL_K_ADDRESS, 0);
    stop_if(l, ofl_op(l, OFL_K_EQ, target->address, none), stmt,
            ofl_arena_format(l->arena, "Array '%s' is not allocated", name));
    for (unsigned d = 0; d < target->rank && value->rank > 0; d++) {
        stop_if(l, ofl_op(l, OFL_K_NE, target->dim[d].extent, value->extent[d]), stmt,
                ofl_arena_format(l->arena, "Array shape mismatch in assignment to '%s'", name));
    }
}

static void assign_whole(struct ofl_lower *l, struct ofl_stmt *stmt, const struct ofl_view *target, bool component)
{
    const struct ofl_expr *expr = stmt->as.assign.value;
    const char *text = ofl_rewrite_flat(l->rewriter, stmt->as.assign.target->span);
    struct ofl_array *value = ofl_lower_array(l, expr);
    if (component) {
        check_component(l, stmt, target, value);
    }
    bool in_place = value->kind == OFL_ARRAY_SCALAR && ofl_is_number(value->type);
    if (!in_place && overlaps(l, target, expr, text)) {
        struct ofl_view copy = ofl_materialize(l, value, expr->span);
        value = value->rank == 0 ? value : ofl_array_of_view(l, &copy);
        if (value->rank == 0) {
            value->scalar = ofl_load_view(l, &copy, expr->span);
        }
    }
    ofl_assign_array(l, target, value, stmt->span);
}

void ofl_lower_assignment(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    const struct ofl_action *action = ofl_action_of(l->modules, l->scope, stmt);
    if (action->why != NULL) {
        ofl_meaning_report(l->rewriter->diagnostics, action->why);
        longjmp(l->refused, 1);
    }
    if (action->call != NULL) {
        ofl_lower_subroutine(l, action->call, NULL, stmt->span);
        return;
    }
    if (action->components) {
        ofl_lower_refuse(l, stmt->span, "an assignment that assigns components by procedures");
    }
    struct ofl_view target = ofl_lower_view(l, stmt->as.assign.target);
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, stmt->as.assign.target);
    bool component = meaning->allocatable && meaning->kind == OFL_MEANS_COMPONENT;
    if (meaning->allocatable && (meaning->rank == 0 || (component && l->rewriter->realloc_lhs))) {
        ofl_lower_refuse(l, stmt->span, "an assignment that may have to allocate '%s'",
                         ofl_rewrite_flat(l->rewriter, stmt->as.assign.target->span));
    }
    if (target.rank > 0) {
        assign_whole(l, stmt, &target, component);
    } else {
        ofl_assign_value(l, &target, ofl_lower_value(l, stmt->as.assign.value), stmt->span);
    }
    ofl_note_assigned(l, &target, stmt->span);
}
