/* Procedures of the program as functions of the kernel; see lower.h.
 *
 * Entry point: ofl_procedure_function.  A function takes for each dummy argument: a number by value, where nothing can
 * change it; an address (and a length, for len=*); for assumed-shape arrays also extents and strides, so that no copy
 * is made.  A result that is no number is written where the caller says.  Polymorphic dummies have one type in one
 * function: that of the actual argument. */
#include "fortran/lower.h"
#include "fortran/meaning_private.h"

const struct ofl_procedure *ofl_procedure_of_binding(struct ofl_modules *modules, const struct ofl_symbol *type,
                                                     const struct ofl_name *name)
{
    struct ofl_symbol *binding = ofl_component_find(type, name);
    return binding == NULL ? NULL : ofl_binding_procedure(modules, binding);
}

/* ---- Dummy arguments ---- */

enum ofl_passing ofl_passing_of(const struct ofl_dummy *dummy, const struct ofl_symbol *symbol)
{
    bool deferred = OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER);
    bool number = symbol->type.kind_of == OFL_TYPE_INTEGER || symbol->type.kind_of == OFL_TYPE_REAL ||
                  symbol->type.kind_of == OFL_TYPE_COMPLEX || symbol->type.kind_of == OFL_TYPE_LOGICAL;
    if (symbol->rank == 0) {
        bool kept = dummy->value || dummy->intent == OFL_INTENT_IN;
        return number && kept && !dummy->optional && !deferred ? OFL_BY_VALUE : OFL_BY_ADDRESS;
    }
    bool shape = symbol->bounds == NULL || symbol->bounds->form == OFL_BOUND_SHAPE;
    return deferred || shape ? OFL_BY_DESCRIPTOR : OFL_BY_PACKED_ADDRESS;
}

static struct ofl_symbol *own_symbol(struct ofl_scope *scope, const struct ofl_name *name)
{
    for (struct ofl_symbol *symbol = scope == NULL ? NULL : scope->first; symbol != NULL; symbol = symbol->next) {
        if (symbol->name == name && symbol->scope == scope) {
            return symbol;
        }
    }
    return NULL;
}

struct ofl_symbol *ofl_dummy_symbol(const struct ofl_procedure *procedure, unsigned index)
{
    struct ofl_symbol *symbol =
        procedure->body == NULL ? NULL : own_symbol(procedure->body->scope, procedure->dummies[index].name);
    return symbol != NULL ? symbol : procedure->dummies[index].symbol;
}

struct ofl_symbol *ofl_result_symbol(const struct ofl_procedure *procedure)
{
    struct ofl_symbol *symbol = procedure->body == NULL || procedure->result == NULL
                                    ? NULL
                                    : own_symbol(procedure->body->scope, procedure->result->name);
    return symbol != NULL && symbol->class == OFL_SYMBOL_VARIABLE ? symbol : procedure->result;
}

/* One dummy bound to what is passed for it. */
static void bind_dummy(struct ofl_lower *l, const struct ofl_dummy *dummy, struct ofl_symbol *symbol,
                       const struct ofl_passed *passed, struct ofl_span span)
{
    struct ofl_value_type type;
    if (!ofl_symbol_type(l->modules, symbol, &type, NULL)) {
        ofl_lower_refuse(l, span, "the argument '%s', whose type is not known,", symbol->name->text);
    }
    struct ofl_binding *binding = ofl_bind(l, symbol);
    struct ofl_view *view = &binding->view;
    binding->private = true;
    binding->optional = dummy->optional;
    view->root = binding;
    view->type = type;
    view->rank = symbol->rank;
    view->address = passed->address;
    if (type.base == OFL_TYPE_CLASS) {
        view->type = (struct ofl_value_type){.base = OFL_TYPE_DERIVED, .derived = passed->dynamic};
    }
    if (type.base == OFL_TYPE_CHARACTER && type.length_form == OFL_LENGTH_ASSUMED) {
        view->length = passed->length;
    }
    if (ofl_passing_of(dummy, symbol) != OFL_BY_DESCRIPTOR) {
        if (view->rank > 0 || type.base == OFL_TYPE_CHARACTER) {
            ofl_declared_shape(l, symbol, view, span);
            ofl_pack_strides(l, view, span);
        }
        return;
    }
    bool deferred = OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER);
    struct ofl_scope *scope = l->scope;
    const struct ofl_bound *bound = symbol->bounds;
    l->scope = symbol->scope;
    for (unsigned d = 0; d < view->rank; d++) {
        view->dim[d].extent = passed->extent[d];
        view->dim[d].stride = passed->stride[d];
        view->dim[d].lower = deferred ? passed->lower[d] : ofl_i8(l, 1);
        if (!deferred && bound != NULL && bound->lower != NULL) {
            view->dim[d].lower = ofl_keep(l, ofl_lower_integer(l, bound->lower), "b");
        }
        bound = bound == NULL ? NULL : bound->next;
    }
    l->scope = scope;
    if (type.base == OFL_TYPE_CHARACTER && view->length == NULL) {
        unsigned rank = view->rank;
        struct ofl_symbol scalar = *symbol;
        scalar.bounds = NULL;
        ofl_declared_shape(l, &scalar, view, span);
        view->rank = rank;
    }
}

void ofl_bind_dummies(struct ofl_lower *l, const struct ofl_procedure *procedure, const struct ofl_passed *passed,
                      struct ofl_span span)
{
    for (int arrays = 0; arrays < 2; arrays++) { /* bounds of arrays may name any scalar */
        for (unsigned i = 0; i < procedure->dummy_count; i++) {
            struct ofl_symbol *symbol = ofl_dummy_symbol(procedure, i);
            if ((symbol->rank > 0) == (arrays != 0)) {
                bind_dummy(l, &procedure->dummies[i], symbol, &passed[i], span);
            }
        }
    }
}

/* ---- Making the function ---- */

/* The parameters of one dummy, in the order in which lower_call.c passes them. */
static struct ofl_passed add_parameters(struct ofl_lower *l, const struct ofl_dummy *dummy, struct ofl_symbol *symbol,
                                        struct ofl_symbol *dynamic, struct ofl_span span)
{
    struct ofl_passed passed = {.dynamic = dynamic};
    const char *name = symbol->name->text;
    struct ofl_value_type type = {0};
    enum ofl_passing passing = ofl_passing_of(dummy, symbol);
    if (!ofl_symbol_type(l->modules, symbol, &type, NULL)) {
        ofl_lower_refuse(l, span, "the argument '%s', whose type is not known,", name);
    }
    if (passing == OFL_BY_VALUE) {
        struct ofl_k_var *var = ofl_new_parameter(l, name, ofl_k_of(l, type, span));
        passed.address = ofl_k_address_of(l->arena, var);
        return passed;
    }
    passed.address = ofl_get(l, ofl_new_parameter(l, name, OFL_K_ADDRESS));
    if (type.base == OFL_TYPE_CHARACTER && type.length_form == OFL_LENGTH_ASSUMED) {
        passed.length = ofl_get(l, ofl_new_parameter(l, ofl_arena_format(l->arena, "%s_len", name), OFL_K_I8));
    }
    for (unsigned d = 0; d < symbol->rank && passing == OFL_BY_DESCRIPTOR; d++) {
        passed.extent[d] =
            ofl_get(l, ofl_new_parameter(l, ofl_arena_format(l->arena, "%s_n%u", name, d + 1), OFL_K_I8));
        passed.stride[d] =
            ofl_get(l, ofl_new_parameter(l, ofl_arena_format(l->arena, "%s_s%u", name, d + 1), OFL_K_I8));
        if (OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER)) {
            passed.lower[d] =
                ofl_get(l, ofl_new_parameter(l, ofl_arena_format(l->arena, "%s_l%u", name, d + 1), OFL_K_I8));
        }
    }
    return passed;
}

static void check_procedure(struct ofl_lower *l, const struct ofl_procedure *procedure, struct ofl_span span)
{
    if (procedure->body == NULL || procedure->kind == OFL_PROCEDURE_DUMMY || procedure->kind == OFL_PROCEDURE_POINTER ||
        procedure->kind == OFL_PROCEDURE_DEFERRED) {
        ofl_lower_refuse(l, span, "a call of '%s', whose body is not at hand,", procedure->name->text);
    }
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        const struct ofl_dummy *dummy = &procedure->dummies[i];
        const struct ofl_symbol *symbol = dummy->alternate ? NULL : ofl_dummy_symbol(procedure, i);
        if (symbol == NULL || dummy->procedure || symbol->rank == OFL_ASSUMED_RANK || symbol->cobounds != NULL ||
            symbol->class != OFL_SYMBOL_VARIABLE) {
            ofl_lower_refuse(l, span, "a call of '%s' with its argument '%s'", procedure->name->text,
                             dummy->name->text);
        }
        bool deferred = OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER);
        if (deferred && (dummy->intent != OFL_INTENT_IN || symbol->rank == 0)) {
            ofl_lower_refuse(l, span, "a call of '%s', whose argument '%s' is allocatable or a pointer,",
                             procedure->name->text, dummy->name->text);
        }
    }
    const struct ofl_symbol *result = ofl_result_symbol(procedure);
    if (procedure->function && (result == NULL || OFL_HAS(result, ALLOCATABLE) || OFL_HAS(result, POINTER))) {
        ofl_lower_refuse(l, span, "a call of '%s', whose result is allocatable or a pointer,", procedure->name->text);
    }
}

/* The result variable; returns what the function gives back, NULL if the caller's memory has it. */
static struct ofl_binding *bind_result(struct ofl_lower *l, const struct ofl_procedure *procedure,
                                       struct ofl_k_var *place, struct ofl_span span)
{
    struct ofl_symbol *symbol = ofl_result_symbol(procedure);
    if (symbol == NULL) {
        return NULL;
    }
    if (place == NULL) {
        return ofl_declare_local(l, symbol, span);
    }
    struct ofl_binding *binding = ofl_bind(l, symbol);
    ofl_symbol_type(l->modules, symbol, &binding->view.type, NULL);
    binding->view.address = ofl_get(l, place);
    binding->view.root = binding;
    binding->private = true;
    ofl_declared_shape(l, symbol, &binding->view, span);
    ofl_pack_strides(l, &binding->view, span);
    ofl_initialize(l, &binding->view, span);
    return NULL;
}

static void lower_body(struct ofl_lower *l, const struct ofl_procedure *procedure, const struct ofl_passed *given,
                       struct ofl_span span)
{
    const struct ofl_symbol *result = ofl_result_symbol(procedure);
    struct ofl_k_function *function = l->frame->function;
    struct ofl_passed *passed = ofl_arena_alloc(l->arena, (procedure->dummy_count + 1) * sizeof *passed);
    struct ofl_k_var *place = NULL;
    struct ofl_value_type type = {0};
    if (result != NULL) {
        if (!ofl_symbol_type(l->modules, (struct ofl_symbol *)result, &type, NULL)) {
            ofl_lower_refuse(l, span, "a call of '%s', whose result's type is not known,", procedure->name->text);
        }
        if (result->rank == 0 && ofl_is_number(type)) {
            function->result = ofl_k_of(l, type, span);
        } else {
            place = ofl_new_parameter(l, "ofl_result", OFL_K_ADDRESS);
            place->name = "ofl_result";
        }
    }
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        passed[i] = add_parameters(l, &procedure->dummies[i], ofl_dummy_symbol(procedure, i), given[i].dynamic, span);
    }
    struct ofl_k_block *outer = l->block;
    struct ofl_mark mark = ofl_mark_workspace(l);
    l->frame->body = ofl_add_stmt(l, OFL_K_BLOCK);
    l->block = &l->frame->body->body;
    ofl_bind_dummies(l, procedure, passed, span);
    struct ofl_binding *value = bind_result(l, procedure, place, span);
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        const struct ofl_binding *dummy = ofl_binding_of(l, ofl_dummy_symbol(procedure, i), span);
        if (procedure->dummies[i].intent == OFL_INTENT_OUT && !procedure->dummies[i].optional &&
            dummy->view.type.base == OFL_TYPE_DERIVED) {
            ofl_initialize(l, &dummy->view, span);
        }
    }
    ofl_declare_scope(l, procedure->body->scope, span);
    ofl_lower_block(l, &procedure->body->body);
    l->block = outer;
    ofl_release_workspace(l, &mark);
    ofl_add_stmt(l, OFL_K_RETURN)->value =
        value == NULL ? NULL : ofl_k_load(l->arena, function->result, value->view.address);
}

static struct ofl_lowered_procedure *find(struct ofl_lower *l, const struct ofl_procedure *procedure,
                                          const struct ofl_passed *passed)
{
    for (struct ofl_lowered_procedure *made = l->procedures; made != NULL; made = made->next) {
        bool same = made->procedure == procedure;
        for (unsigned i = 0; i < procedure->dummy_count && same; i++) {
            same = made->dynamic[i] == passed[i].dynamic;
        }
        if (same) {
            return made;
        }
    }
    return NULL;
}

static struct ofl_k_function *new_function(struct ofl_lower *l, const struct ofl_procedure *procedure)
{
    struct ofl_k_function *function = OFL_NEW(l->arena, struct ofl_k_function);
    struct ofl_place place = ofl_place_of(l->rewriter->sources, procedure->body->span.begin);
    function->name = ofl_arena_format(l->arena, "%s_%u_%u", procedure->name->text, l->kernel->number, ++l->names);
    function->comment = ofl_arena_format(l->arena, "%s:%u: %s", place.file, place.line,
                                         ofl_rewrite_flat(l->rewriter, procedure->body->span));
    if (l->last_function == NULL) {
        l->functions = function;
    } else {
        l->last_function->next = function;
    }
    l->last_function = function;
    return function;
}

struct ofl_lowered_procedure *ofl_procedure_function(struct ofl_lower *l, const struct ofl_procedure *procedure,
                                                     const struct ofl_passed *passed, struct ofl_span span)
{
    struct ofl_lowered_procedure *made = find(l, procedure, passed);
    if (made != NULL) {
        l->reads_objects |= made->reads_objects;
        return made;
    }
    check_procedure(l, procedure, span);
    made = OFL_NEW(l->arena, struct ofl_lowered_procedure);
    made->procedure = procedure;
    made->dynamic = ofl_arena_alloc(l->arena, (procedure->dummy_count + 1) * sizeof(struct ofl_symbol *));
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        made->dynamic[i] = passed[i].dynamic;
    }
    made->function = new_function(l, procedure);
    made->reads_objects = true; /* until it is known */
    made->next = l->procedures;
    l->procedures = made;

    struct ofl_frame frame = {
        .function = made->function, .unit = procedure->body, .procedure = made, .outer = l->frame};
    const struct ofl_around *around = l->around;
    struct ofl_scope *scope = l->scope;
    struct ofl_k_block *block = l->block;
    bool reads = l->reads_objects;
    l->frame = &frame;
    l->around = NULL;
    l->scope = procedure->body->scope;
    l->block = &made->function->body;
    l->reads_objects = false;
    lower_body(l, procedure, passed, span);
    made->reads_objects = l->reads_objects;
    l->reads_objects |= reads;
    l->frame = frame.outer;
    l->around = around;
    l->scope = scope;
    l->block = block;
    return made;
}
