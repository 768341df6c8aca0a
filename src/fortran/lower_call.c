/* Calls; see lower.h and, for how arguments are passed, lower_procedure.c.
 *
 * An actual argument that is data in memory is passed as it lies there.  It goes through a copy where the procedure
 * wants its elements next to each other and they may not be, and where a vector subscript scatters them; if the
 * procedure may change it, the copy is copied back. */
#include "fortran/lower.h"

/* A copy that has to go back after the call. */
struct copied {
    struct ofl_view from, to;
    struct copied *next;
};

struct calling {
    const struct ofl_call *call;
    const struct ofl_procedure *procedure;
    struct ofl_passed *passed;
    struct copied *copies;
    struct ofl_span span;
};

/* ---- Actual arguments ---- */

/* The value in a variable or temporary of its own: its address. */
static struct ofl_k_expr *address_of_value(struct ofl_lower *l, struct ofl_value value, struct ofl_span span)
{
    if (!ofl_is_number(value.type)) {
        return value.x;
    }
    enum ofl_k_type memory = ofl_k_of(l, value.type, span);
    struct ofl_k_var *var = ofl_new_var(l, "ofl_a", memory);
    var->name = ofl_arena_format(l->arena, "ofl_a%u", ++l->names);
    ofl_set(l, var, ofl_to(l, memory, value.x));
    return ofl_k_address_of(l->arena, var);
}

/* 0 where an optional argument of ours, passed on, is absent. */
static struct ofl_k_expr *if_present(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning, struct ofl_k_expr *address)
{
    if (meaning->kind != OFL_MEANS_VARIABLE) {
        return address;
    }
    const struct ofl_binding *binding = ofl_binding_of(l, meaning->symbol, expr->span);
    if (!binding->optional || binding->view.rank == 0) {
        return address;
    }
    struct ofl_k_expr *none = ofl_k_integer(l->arena, OFL_K_ADDRESS, 0);
    return ofl_k_select(l->arena, ofl_op(l, OFL_K_EQ, binding->view.address, none), none, address);
}

static void pass_scalar(struct ofl_lower *l, struct calling *calling, const struct ofl_dummy *dummy,
                        const struct ofl_symbol *symbol, const struct ofl_expr *expr, struct ofl_passed *passed)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    enum ofl_passing passing = ofl_passing_of(dummy, symbol);
    if (passing == OFL_BY_ADDRESS && meaning->designator && meaning->value == NULL && !dummy->value) {
        struct ofl_view view = ofl_lower_view(l, expr);
        passed->address = view.address;
        passed->length = view.length;
        passed->dynamic = view.type.derived;
        if (dummy->intent != OFL_INTENT_IN) {
            ofl_note_assigned(l, &view, expr->span);
        }
        return;
    }
    struct ofl_value value = ofl_lower_value(l, expr);
    struct ofl_value_type type;
    if (ofl_is_number(value.type) && ofl_symbol_type(l->modules, (struct ofl_symbol *)symbol, &type, NULL) &&
        ofl_is_number(type)) {
        value = ofl_value_as(l, value, type, expr->span);
    }
    passed->dynamic = value.type.derived;
    passed->length = value.length;
    if (passing == OFL_BY_VALUE) {
        passed->value = value.x->type == OFL_K_BOOL ? ofl_to(l, ofl_k_of(l, value.type, expr->span), value.x) : value.x;
        return;
    }
    if (dummy->value && !ofl_is_number(value.type)) { /* a copy of its own */
        struct ofl_array *array = ofl_array_of_value(l, value);
        value.x = ofl_materialize(l, array, expr->span).address;
    }
    passed->address = address_of_value(l, value, expr->span);
    (void)calling;
}

/* The variable that is passed on, if it is an optional argument of ours; else NULL. */
static const struct ofl_binding *passed_on(struct ofl_lower *l, const struct ofl_expr *expr)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    const struct ofl_binding *binding =
        meaning->kind == OFL_MEANS_VARIABLE ? ofl_binding_of(l, meaning->symbol, expr->span) : NULL;
    return binding != NULL && binding->optional ? binding : NULL;
}

static void pass_view(struct ofl_passed *passed, const struct ofl_view *view)
{
    passed->address = view->address;
    passed->length = view->length;
    passed->dynamic = view->type.derived;
    for (unsigned d = 0; d < view->rank; d++) {
        passed->extent[d] = view->dim[d].extent;
        passed->stride[d] = view->dim[d].stride;
        passed->lower[d] = view->dim[d].lower;
    }
}

static void pass_array(struct ofl_lower *l, struct calling *calling, const struct ofl_dummy *dummy,
                       const struct ofl_symbol *symbol, const struct ofl_expr *expr, struct ofl_passed *passed)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    enum ofl_passing passing = ofl_passing_of(dummy, symbol);
    if (meaning->rank == 0) { /* the elements from this one on */
        struct ofl_view element = ofl_lower_view(l, expr);
        pass_view(passed, &element);
        if (dummy->intent != OFL_INTENT_IN) {
            ofl_note_assigned(l, &element, expr->span);
        }
        return;
    }
    struct ofl_array *array = ofl_lower_array(l, expr);
    struct ofl_view view = array->view;
    bool scattered = false;
    for (unsigned d = 0; d < view.rank && array->kind == OFL_ARRAY_VIEW; d++) {
        scattered |= view.dim[d].vector != NULL;
        if (view.dim[d].extent == NULL && passing == OFL_BY_DESCRIPTOR) {
            ofl_lower_refuse(l, expr->span, "an assumed-size array as this argument");
        }
    }
    if (array->kind != OFL_ARRAY_VIEW) {
        view = ofl_materialize(l, array, expr->span);
    } else if (scattered || (passing == OFL_BY_PACKED_ADDRESS && !view.contiguous)) {
        struct ofl_binding *binding =
            meaning->kind == OFL_MEANS_VARIABLE ? ofl_binding_of(l, meaning->symbol, expr->span) : NULL;
        if (binding != NULL && binding->optional) {
            ofl_lower_refuse(l, expr->span, "an optional array as this argument");
        }
        struct copied *copy = OFL_NEW(l->arena, struct copied);
        copy->to = view;
        copy->from = view = ofl_materialize(l, array, expr->span);
        view.root = copy->to.root;
        if (dummy->intent != OFL_INTENT_IN) {
            copy->next = calling->copies;
            calling->copies = copy;
        }
    }
    if (dummy->intent != OFL_INTENT_IN && meaning->designator) {
        ofl_note_assigned(l, &view, expr->span);
    }
    pass_view(passed, &view);
    passed->address = if_present(l, expr, meaning, passed->address);
}

static void copy_back(struct ofl_lower *l, const struct calling *calling)
{
    for (const struct copied *copy = calling->copies; copy != NULL; copy = copy->next) {
        ofl_assign_array(l, &copy->to, ofl_array_of_view(l, &copy->from), calling->span);
    }
}

/* The procedure that a call reaches: an overriding one where the type of the passed object says so. */
static const struct ofl_procedure *target_of(struct ofl_lower *l, const struct ofl_call *call,
                                             const struct ofl_expr *designator, struct ofl_span span)
{
    const struct ofl_expr *object = call->passed;
    if (!call->dynamic) {
        return call->procedure;
    }
    if (object == NULL && designator != NULL && designator->kind == OFL_EXPR_COMPONENT) {
        object = designator->as.component.base;
    }
    if (object == NULL || call->binding == NULL) {
        ofl_lower_refuse(l, span, "this call of '%s'", call->procedure->name->text);
    }
    struct ofl_view view = ofl_lower_view(l, object);
    if (view.type.derived == NULL) {
        ofl_lower_refuse(l, span, "this call of '%s'", call->procedure->name->text);
    }
    const struct ofl_procedure *procedure =
        ofl_procedure_of_binding(l->modules, view.type.derived, call->binding->name);
    if (procedure == NULL) {
        ofl_lower_refuse(l, span, "this call of '%s'", call->procedure->name->text);
    }
    return procedure;
}

static struct calling begin_call(struct ofl_lower *l, const struct ofl_call *call, const struct ofl_expr *designator,
                                 struct ofl_span span)
{
    struct calling calling = {.call = call, .procedure = target_of(l, call, designator, span), .span = span};
    const struct ofl_procedure *procedure = calling.procedure;
    calling.passed = ofl_arena_alloc(l->arena, (procedure->dummy_count + 1) * sizeof *calling.passed);
    if (procedure->kind == OFL_PROCEDURE_STATEMENT) {
        ofl_lower_refuse(l, span, "the statement function '%s'", procedure->name->text);
    }
    if (procedure->body == NULL || call->target != NULL || call->arg_count != procedure->dummy_count) {
        ofl_lower_refuse(l, span, "a call of '%s', whose body is not at hand,", procedure->name->text);
    }
    return calling;
}

/* Only class dummies have a type of their own per call. */
static void settle_types(struct ofl_lower *l, struct calling *calling)
{
    for (unsigned i = 0; i < calling->procedure->dummy_count; i++) {
        const struct ofl_symbol *symbol = ofl_dummy_symbol(calling->procedure, i);
        struct ofl_passed *passed = &calling->passed[i];
        if (symbol->type.kind_of == OFL_TYPE_CLASS && passed->absent) {
            passed->dynamic = symbol->type.derived;
        } else if (symbol->type.kind_of != OFL_TYPE_CLASS) {
            passed->dynamic = NULL;
        }
        if (symbol->type.kind_of == OFL_TYPE_CLASS && passed->dynamic == NULL) {
            ofl_lower_refuse(l, calling->span, "this argument for '%s'", symbol->name->text);
        }
    }
}

static void pass_absent(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_passed *passed)
{
    passed->absent = true;
    passed->address = ofl_k_integer(l->arena, OFL_K_ADDRESS, 0);
    passed->length = ofl_i8(l, 0);
    for (unsigned d = 0; d < symbol->rank && d < OFL_MAX_RANK; d++) {
        passed->extent[d] = passed->stride[d] = ofl_i8(l, 0);
        passed->lower[d] = ofl_i8(l, 1);
    }
}

static void pass_all(struct ofl_lower *l, struct calling *calling)
{
    for (unsigned i = 0; i < calling->procedure->dummy_count; i++) {
        const struct ofl_dummy *dummy = &calling->procedure->dummies[i];
        const struct ofl_symbol *symbol = dummy->alternate ? NULL : ofl_dummy_symbol(calling->procedure, i);
        const struct ofl_expr *expr = calling->call->args[i];
        if (symbol == NULL || dummy->procedure) {
            ofl_lower_refuse(l, calling->span, "a call of '%s' with its argument '%s'", calling->procedure->name->text,
                             dummy->name->text);
        }
        if (expr == NULL) {
            pass_absent(l, symbol, &calling->passed[i]);
        } else if (symbol->rank > 0) {
            pass_array(l, calling, dummy, symbol, expr, &calling->passed[i]);
        } else {
            pass_scalar(l, calling, dummy, symbol, expr, &calling->passed[i]);
        }
    }
    settle_types(l, calling);
}

/* ---- The call ---- */

static struct ofl_k_expr *call_expr(struct ofl_lower *l, struct calling *calling, struct ofl_k_expr *place)
{
    const struct ofl_procedure *procedure = calling->procedure;
    struct ofl_lowered_procedure *made = ofl_procedure_function(l, procedure, calling->passed, calling->span);
    struct ofl_k_expr *call = ofl_k_call(l->arena, made->function);
    if (place != NULL) {
        ofl_k_add_arg(l->arena, call, place);
    }
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        const struct ofl_symbol *symbol = ofl_dummy_symbol(procedure, i);
        const struct ofl_passed *passed = &calling->passed[i];
        enum ofl_passing passing = ofl_passing_of(&procedure->dummies[i], symbol);
        struct ofl_value_type type = {0};
        ofl_symbol_type(l->modules, (struct ofl_symbol *)symbol, &type, NULL);
        ofl_k_add_arg(l->arena, call, passing == OFL_BY_VALUE ? passed->value : passed->address);
        if (type.base == OFL_TYPE_CHARACTER && type.length_form == OFL_LENGTH_ASSUMED) {
            ofl_k_add_arg(l->arena, call, passed->length);
        }
        for (unsigned d = 0; d < symbol->rank && passing == OFL_BY_DESCRIPTOR; d++) {
            ofl_k_add_arg(l->arena, call, passed->extent[d]);
            ofl_k_add_arg(l->arena, call, passed->stride[d]);
            if (OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER)) {
                ofl_k_add_arg(l->arena, call, passed->lower[d]);
            }
        }
    }
    return call;
}

/* The shape and length of a result, which the arguments tell: evaluated here with the dummies bound to them. */
static struct ofl_view result_view(struct ofl_lower *l, struct calling *calling)
{
    struct ofl_symbol *symbol = ofl_result_symbol(calling->procedure);
    struct ofl_frame frame = *l->frame, *outer = l->frame;
    struct ofl_view shape = {0};
    struct ofl_k_expr *extent[OFL_MAX_RANK];
    struct ofl_scope *scope = l->scope;
    if (symbol == NULL || !ofl_symbol_type(l->modules, symbol, &shape.type, NULL) || OFL_HAS(symbol, ALLOCATABLE) ||
        OFL_HAS(symbol, POINTER)) {
        ofl_lower_refuse(l, calling->span, "a call of '%s', whose result is allocatable, a pointer or not known,",
                         calling->procedure->name->text);
    }
    for (unsigned i = 0; i < calling->procedure->dummy_count; i++) {
        struct ofl_passed *passed = &calling->passed[i];
        if (passed->value != NULL && passed->address == NULL) {
            struct ofl_k_expr *kept = ofl_keep(l, passed->value, "v");
            if (kept->op != OFL_K_VAR) {
                struct ofl_k_var *var = ofl_new_var(l, "ofl_a", kept->type);
                var->name = ofl_arena_format(l->arena, "ofl_a%u", ++l->names);
                ofl_set(l, var, kept);
                kept = ofl_get(l, var);
            }
            passed->value = kept;
            passed->address = ofl_k_address_of(l->arena, kept->var);
        }
    }
    frame.bindings = NULL;
    l->frame = &frame;
    l->scope = calling->procedure->body->scope;
    ofl_bind_dummies(l, calling->procedure, calling->passed, calling->span);
    ofl_declared_shape(l, symbol, &shape, calling->span);
    l->frame = outer;
    l->scope = scope;
    for (unsigned d = 0; d < shape.rank; d++) {
        extent[d] = shape.dim[d].extent;
    }
    return ofl_temporary_view(l, shape.type, shape.length, shape.rank, extent, calling->span);
}

static bool gives_number(struct ofl_lower *l, const struct calling *calling, struct ofl_value_type *type)
{
    struct ofl_symbol *symbol = ofl_result_symbol(calling->procedure);
    return symbol != NULL && symbol->rank == 0 && ofl_symbol_type(l->modules, symbol, type, NULL) &&
           ofl_is_number(*type);
}

static struct ofl_value finish_function(struct ofl_lower *l, struct calling *calling)
{
    struct ofl_value value = {0};
    if (gives_number(l, calling, &value.type)) {
        value.x = call_expr(l, calling, NULL);
        if (value.type.base == OFL_TYPE_LOGICAL) {
            value.x = ofl_to(l, OFL_K_BOOL, value.x);
        }
        value.x = ofl_keep(l, value.x, "r");
    } else {
        struct ofl_view view = result_view(l, calling);
        ofl_do(l, call_expr(l, calling, view.address));
        value = ofl_load_view(l, &view, calling->span);
    }
    copy_back(l, calling);
    return value;
}

/* A function of C's <math.h>, which the check has let pass: the device has it too.  Its arguments are values. */
static bool is_of_c(const struct ofl_call *call)
{
    const struct ofl_procedure *procedure = call->procedure;
    bool values = procedure->binding != NULL && procedure->body == NULL && call->arg_count == procedure->dummy_count;
    for (unsigned i = 0; i < procedure->dummy_count && values; i++) {
        const struct ofl_symbol *symbol = procedure->dummies[i].symbol;
        values = procedure->dummies[i].value && symbol != NULL && call->args[i] != NULL &&
                 ofl_passing_of(&procedure->dummies[i], symbol) == OFL_BY_VALUE;
    }
    return values && procedure->function && procedure->kind == OFL_PROCEDURE_EXTERNAL;
}

static struct ofl_value call_c(struct ofl_lower *l, const struct ofl_call *call, struct ofl_span span)
{
    struct ofl_value value = {0};
    if (call->procedure->result == NULL || !ofl_symbol_type(l->modules, call->procedure->result, &value.type, NULL) ||
        !ofl_is_number(value.type)) {
        ofl_lower_refuse(l, span, "a call of '%s', whose result is no number,", call->procedure->name->text);
    }
    value.x = ofl_k_support(l->arena, ofl_k_value_of(l, value.type, span), call->procedure->binding, NULL);
    for (unsigned i = 0; i < call->arg_count; i++) {
        struct ofl_value_type type;
        ofl_symbol_type(l->modules, call->procedure->dummies[i].symbol, &type, NULL);
        ofl_k_add_arg(l->arena, value.x, ofl_value_as(l, ofl_lower_value(l, call->args[i]), type, span).x);
    }
    return value;
}

struct ofl_value ofl_lower_call(struct ofl_lower *l, const struct ofl_call *call, const struct ofl_expr *designator,
                                struct ofl_span span)
{
    if (is_of_c(call)) {
        return call_c(l, call, span);
    }
    struct calling calling = begin_call(l, call, designator, span);
    pass_all(l, &calling);
    return finish_function(l, &calling);
}

struct ofl_view ofl_lower_call_array(struct ofl_lower *l, const struct ofl_call *call,
                                     const struct ofl_expr *designator, struct ofl_span span)
{
    struct calling calling = begin_call(l, call, designator, span);
    pass_all(l, &calling);
    struct ofl_view view = result_view(l, &calling);
    ofl_do(l, call_expr(l, &calling, view.address));
    copy_back(l, &calling);
    return view;
}

/* ---- Element by element ---- */

static struct calling pass_elements(struct ofl_lower *l, const struct ofl_call *call, struct ofl_array **args,
                                    struct ofl_k_expr *const *subscript, struct ofl_span span)
{
    struct calling calling = begin_call(l, call, NULL, span);
    for (unsigned i = 0; i < calling.procedure->dummy_count; i++) {
        const struct ofl_dummy *dummy = &calling.procedure->dummies[i];
        const struct ofl_symbol *symbol = ofl_dummy_symbol(calling.procedure, i);
        struct ofl_passed *passed = &calling.passed[i];
        if (args[i] == NULL) {
            pass_absent(l, symbol, passed);
            continue;
        }
        if (args[i]->kind == OFL_ARRAY_VIEW && ofl_passing_of(dummy, symbol) == OFL_BY_ADDRESS) {
            struct ofl_view element = ofl_element_view(l, &args[i]->view, subscript);
            pass_view(passed, &element);
            if (args[i]->may_be_absent) {
                struct ofl_k_expr *none = ofl_k_integer(l->arena, OFL_K_ADDRESS, 0);
                passed->address =
                    ofl_k_select(l->arena, ofl_op(l, OFL_K_EQ, args[i]->view.address, none), none, passed->address);
            }
            continue;
        }
        struct ofl_value value = ofl_array_element(l, args[i], subscript, span);
        passed->dynamic = value.type.derived;
        passed->length = value.length;
        if (ofl_passing_of(dummy, symbol) == OFL_BY_VALUE) {
            struct ofl_value_type type;
            ofl_symbol_type(l->modules, (struct ofl_symbol *)symbol, &type, NULL);
            value = ofl_value_as(l, value, type, span);
            passed->value = ofl_to(l, ofl_k_of(l, type, span), value.x);
        } else {
            passed->address = address_of_value(l, value, span);
        }
    }
    settle_types(l, &calling);
    return calling;
}

struct ofl_value ofl_apply_procedure(struct ofl_lower *l, const struct ofl_call *call, struct ofl_array **args,
                                     struct ofl_k_expr *const *subscript, struct ofl_span span)
{
    struct calling calling = pass_elements(l, call, args, subscript, span);
    return finish_function(l, &calling);
}

struct ofl_array *ofl_elemental_argument(struct ofl_lower *l, const struct ofl_call *call, unsigned index)
{
    const struct ofl_expr *expr = call->args[index];
    bool ours = call->procedure->intrinsic == NULL && call->procedure->dummies[index].optional;
    if (!ours || passed_on(l, expr) == NULL) {
        return ofl_lower_array(l, expr);
    }
    struct ofl_view view = ofl_lower_view(l, expr);
    struct ofl_array *array = ofl_array_of_view(l, &view);
    array->may_be_absent = true;
    return array;
}

static void call_elementally(struct ofl_lower *l, const struct ofl_call *call, struct ofl_span span)
{
    struct ofl_array **args = ofl_arena_alloc(l->arena, (call->arg_count + 1) * sizeof(struct ofl_array *)),
                     *shape = NULL;
    for (unsigned i = 0; i < call->arg_count; i++) {
        if (call->args[i] == NULL) {
            continue;
        }
        const struct ofl_meaning *meaning = ofl_lower_meaning(l, call->args[i]);
        bool read = call->procedure->dummies[i].intent == OFL_INTENT_IN;
        if (!read && meaning->designator) {
            struct ofl_view view = ofl_lower_view(l, call->args[i]);
            args[i] = ofl_array_of_view(l, &view);
            args[i]->may_be_absent = passed_on(l, call->args[i]) != NULL;
            ofl_note_assigned(l, &view, span);
        } else {
            args[i] = ofl_elemental_argument(l, call, i);
        }
        bool better = shape == NULL || (shape->may_be_absent && !args[i]->may_be_absent);
        shape = args[i]->rank > 0 && better ? args[i] : shape;
    }
    if (shape == NULL) {
        ofl_lower_refuse(l, span, "an elemental call without an array");
    }
    struct ofl_element_loops loops = ofl_begin_elements(l, shape->rank, shape->extent);
    struct calling calling = pass_elements(l, call, args, loops.subscript, span);
    ofl_do(l, call_expr(l, &calling, NULL));
    ofl_end_elements(l, &loops);
}

void ofl_lower_subroutine(struct ofl_lower *l, const struct ofl_call *call, const struct ofl_expr *designator,
                          struct ofl_span span)
{
    if (call->procedure->intrinsic != NULL) {
        ofl_lower_refuse(l, span, "a call of '%s'", call->procedure->name->text);
    }
    if (call->elemental) {
        call_elementally(l, call, span);
        return;
    }
    struct calling calling = begin_call(l, call, designator, span);
    pass_all(l, &calling);
    ofl_do(l, call_expr(l, &calling, NULL));
    copy_back(l, &calling);
}

void ofl_lower_call_stmt(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    const struct ofl_action *action = ofl_action_of(l->modules, l->scope, stmt);
    if (action->why != NULL || action->call == NULL) {
        if (action->why != NULL) {
            ofl_meaning_report(l->rewriter->diagnostics, action->why);
        }
        longjmp(l->refused, 1);
    }
    ofl_lower_subroutine(l, action->call, stmt->as.call.designator, stmt->span);
}
