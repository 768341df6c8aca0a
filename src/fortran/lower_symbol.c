/* What a variable of the program is in the function that is being made; see lower.h.
 *
 * Entry point: ofl_binding_of.  Variables that the function declares have been bound before: dummies, locals, what is
 * private to an iteration.  All others are the program's: scalars that nothing in the loop changes come by value, the
 * rest through memory.  Bounds that the declaration makes constant are constants in the kernel. */
#include "fortran/lower.h"

#include <string.h>

enum { MAX_LOCAL_BYTES = 8192 };

struct ofl_usage *ofl_usage_of(struct ofl_lower *l, const struct ofl_symbol *symbol)
{
    for (struct ofl_usage *usage = l->usage; usage != NULL; usage = usage->next) {
        if (usage->symbol == symbol) {
            return usage;
        }
    }
    return NULL;
}

static struct ofl_value_type type_of(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span)
{
    struct ofl_value_type type;
    const struct ofl_meaning *why = NULL;
    if (!ofl_symbol_type(l->modules, (struct ofl_symbol *)symbol, &type, &why)) {
        if (why != NULL && why->reason != NULL) {
            ofl_lower_refuse(l, span, "'%s' (%s)", symbol->name->text, why->reason);
        }
        ofl_lower_refuse(l, span, "'%s', whose type is not known,", symbol->name->text);
    }
    return type;
}

struct ofl_binding *ofl_bind(struct ofl_lower *l, const struct ofl_symbol *symbol)
{
    struct ofl_binding *binding = OFL_NEW(l->arena, struct ofl_binding);
    binding->symbol = symbol;
    binding->next = l->frame->bindings;
    l->frame->bindings = binding;
    return binding;
}

/* ---- Shapes ---- */

void ofl_pack_strides(struct ofl_lower *l, struct ofl_view *view, struct ofl_span span)
{
    struct ofl_k_expr *stride = ofl_element_bytes(l, view->type, view->length, span);
    for (unsigned d = 0; d < view->rank; d++) {
        view->dim[d].stride = ofl_keep(l, stride, "s");
        if (view->dim[d].extent != NULL) {
            stride = ofl_op(l, OFL_K_MUL, view->dim[d].stride, view->dim[d].extent);
        }
    }
    view->contiguous = true;
}

/* max(0, upper - lower + 1) */
static struct ofl_k_expr *extent_of(struct ofl_lower *l, struct ofl_k_expr *lower, struct ofl_k_expr *upper)
{
    int64_t size;
    struct ofl_k_expr *extent = ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_SUB, upper, lower), ofl_i8(l, 1));
    if (ofl_k_is_constant(extent, &size)) {
        return ofl_i8(l, size < 0 ? 0 : size);
    }
    extent = ofl_keep(l, extent, "n");
    return ofl_keep(l, ofl_k_select(l->arena, ofl_op(l, OFL_K_LT, extent, ofl_i8(l, 0)), ofl_i8(l, 0), extent), "n");
}

static struct ofl_k_expr *bound_value(struct ofl_lower *l, const struct ofl_expr *expr)
{
    return ofl_keep(l, ofl_lower_integer(l, expr), "b");
}

void ofl_declared_shape(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_view *view,
                        struct ofl_span span)
{
    struct ofl_scope *scope = l->scope;
    unsigned d = 0;
    l->scope = symbol->scope;
    for (const struct ofl_bound *bound = symbol->bounds; bound != NULL; bound = bound->next, d++) {
        view->dim[d].lower = bound->lower == NULL ? ofl_i8(l, 1) : bound_value(l, bound->lower);
        if (bound->form == OFL_BOUND_EXPLICIT) {
            view->dim[d].extent = extent_of(l, view->dim[d].lower, bound_value(l, bound->upper));
        } else if (bound->form != OFL_BOUND_STAR) {
            ofl_lower_refuse(l, span, "'%s', whose shape is not declared,", symbol->name->text);
        }
    }
    view->rank = d;
    if (view->type.base == OFL_TYPE_CHARACTER && view->length == NULL) {
        if (view->type.length_form == OFL_LENGTH_KNOWN) {
            view->length = ofl_i8(l, view->type.characters);
        } else if (view->type.length_form == OFL_LENGTH_EXPR) {
            l->scope = view->type.length_scope;
            struct ofl_k_expr *length = ofl_keep(l, ofl_lower_integer(l, view->type.length), "len");
            view->length = ofl_keep(
                l, ofl_k_select(l->arena, ofl_op(l, OFL_K_LT, length, ofl_i8(l, 0)), ofl_i8(l, 0), length), "len");
        } else {
            ofl_lower_refuse(l, span, "'%s', whose length is not declared,", symbol->name->text);
        }
    }
    l->scope = scope;
}

/* ---- Variables of procedures, blocks and iterations ---- */

struct ofl_binding *ofl_declare_local(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span)
{
    struct ofl_value_type type = type_of(l, symbol, span);
    if (OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER) || type.base == OFL_TYPE_CLASS) {
        ofl_lower_refuse(l, span, "'%s', which is allocatable, a pointer or polymorphic,", symbol->name->text);
    }
    struct ofl_view view = {.type = type};
    int64_t bytes;
    ofl_declared_shape(l, symbol, &view, span);
    if (view.rank == 0 && ofl_is_number(type)) {
        struct ofl_k_var *var = ofl_new_var(l, symbol->name->text, ofl_k_of(l, type, span));
        view.address = ofl_k_address_of(l->arena, var);
    } else {
        struct ofl_k_expr *extent[OFL_MAX_RANK], *size = ofl_element_bytes(l, type, view.length, span);
        for (unsigned d = 0; d < view.rank; d++) {
            if (view.dim[d].extent == NULL) {
                ofl_lower_refuse(l, span, "'%s'", symbol->name->text);
            }
            extent[d] = view.dim[d].extent;
        }
        size = ofl_op(l, OFL_K_MUL, size, ofl_count(l, view.rank, extent));
        if (ofl_k_is_constant(size, &bytes) && bytes <= MAX_LOCAL_BYTES) {
            enum ofl_k_type element = ofl_k_of(l, type, span);
            view.address = ofl_k_address_of(l->arena, ofl_new_memory(l, symbol->name->text, element, bytes));
        } else {
            view.address = ofl_temporary(l, size, ofl_k_of(l, type, span));
        }
        ofl_pack_strides(l, &view, span);
    }
    struct ofl_binding *binding = ofl_bind(l, symbol);
    binding->view = view;
    binding->view.root = binding;
    binding->private = true;
    return binding;
}

/* Default initialization of the components of one element. */
static bool has_initial(struct ofl_lower *l, const struct ofl_symbol *type)
{
    size_t count;
    struct ofl_symbol **components = ofl_type_components(l->modules, type, &count);
    for (size_t i = 0; i < count; i++) {
        const struct ofl_symbol *derived = components[i]->type.derived;
        bool plain = !OFL_HAS(components[i], POINTER) && !OFL_HAS(components[i], ALLOCATABLE);
        if (components[i]->value != NULL || (plain && derived != NULL && has_initial(l, derived))) {
            return true;
        }
    }
    return false;
}

static void initialize_element(struct ofl_lower *l, const struct ofl_view *whole, const struct ofl_symbol *type,
                               struct ofl_span span)
{
    size_t count;
    struct ofl_symbol **components = ofl_type_components(l->modules, type, &count);
    for (size_t i = 0; i < count; i++) {
        struct ofl_component part = ofl_component_place(l, type, components[i], span);
        if (!part.plain) {
            if (components[i]->value != NULL) {
                ofl_lower_refuse(l, span, "the default value of the component '%s'", components[i]->name->text);
            }
            continue;
        }
        struct ofl_view view = ofl_component_view(l, whole, &part, span);
        if (components[i]->value != NULL) {
            struct ofl_scope *scope = l->scope;
            l->scope = components[i]->scope;
            ofl_assign_array(l, &view, ofl_lower_array(l, components[i]->value), span);
            l->scope = scope;
        } else {
            ofl_initialize(l, &view, span);
        }
    }
}

void ofl_initialize(struct ofl_lower *l, const struct ofl_view *view, struct ofl_span span)
{
    if (view->type.base != OFL_TYPE_DERIVED || !has_initial(l, view->type.derived)) {
        return;
    }
    struct ofl_k_expr *extent[OFL_MAX_RANK];
    for (unsigned d = 0; d < view->rank; d++) {
        extent[d] = view->dim[d].extent;
    }
    struct ofl_element_loops loops = ofl_begin_elements(l, view->rank, extent);
    struct ofl_view element = ofl_element_view(l, view, loops.subscript);
    element.address = ofl_keep(l, element.address, "p");
    initialize_element(l, &element, view->type.derived, span);
    ofl_end_elements(l, &loops);
}

void ofl_declare_scope(struct ofl_lower *l, struct ofl_scope *scope, struct ofl_span span)
{
    for (const struct ofl_symbol *symbol = scope->first; symbol != NULL; symbol = symbol->next) {
        bool data = symbol->class == OFL_SYMBOL_VARIABLE && symbol->cray_pointer == NULL &&
                    (symbol->storage == OFL_STORAGE_LOCAL || symbol->storage == OFL_STORAGE_RESULT);
        bool bound = false;
        for (const struct ofl_binding *binding = l->frame->bindings; binding != NULL && !bound;
             binding = binding->next) {
            bound = binding->symbol == symbol && scope->kind == OFL_SCOPE_UNIT;
        }
        if (!data || bound || symbol->scope != scope) {
            continue;
        }
        if (symbol->value != NULL || OFL_HAS(symbol, SAVE)) {
            ofl_lower_refuse(l, span, "'%s', a saved variable of a procedure or block,", symbol->name->text);
        }
        if (symbol->equivalenced) {
            ofl_lower_refuse(l, span, "'%s', which shares its memory with others,", symbol->name->text);
        }
        if (scope->kind == OFL_SCOPE_UNIT && (OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER))) {
            ofl_lower_refuse(l, span, "'%s', an allocatable or pointer of a procedure,", symbol->name->text);
        }
        struct ofl_binding *binding = ofl_declare_local(l, symbol, span);
        ofl_initialize(l, &binding->view, span);
    }
}

/* ---- The program's variables ---- */

static struct ofl_k_var *global_var(struct ofl_lower *l, const char *name, enum ofl_k_type type)
{
    struct ofl_k_var *var = OFL_NEW(l->arena, struct ofl_k_var);
    var->name = name;
    var->type = type;
    var->storage = OFL_K_GLOBAL;
    return var;
}

/* The name by which the variable is known where the loop stands, or NULL. */
static const char *host_name(struct ofl_lower *l, const struct ofl_symbol *symbol)
{
    if (ofl_scope_find(l->loop_scope, symbol->name) == symbol) {
        return symbol->name->text;
    }
    return NULL;
}

struct ofl_k_expr *ofl_host_value(struct ofl_lower *l, const char *text, const struct ofl_symbol *symbol,
                                  enum ofl_type_kind type, int kind)
{
    for (struct ofl_value_parameter *scalar = l->scalars; scalar != NULL; scalar = scalar->next) {
        bool same = symbol != NULL ? scalar->public.symbol == symbol
                                   : scalar->public.symbol == NULL && strcmp(scalar->public.host, text) == 0;
        if (same) {
            if (scalar->public.host == NULL) {
                scalar->public.host = text;
            }
            return ofl_get(l, scalar->var);
        }
    }
    struct ofl_value_parameter *scalar = OFL_NEW(l->arena, struct ofl_value_parameter);
    const char *name =
        symbol != NULL ? ofl_c_name(l, symbol->name->text) : ofl_arena_format(l->arena, "ofl_host%u", ++l->names);
    struct ofl_value_type value = ofl_kind_type(type, type == OFL_TYPE_LOGICAL ? 4 : kind);
    scalar->public =
        (struct ofl_kernel_scalar){.c_name = name, .host = text, .symbol = symbol, .type = type, .kind = kind};
    scalar->var = global_var(l, name, ofl_k_of(l, value, l->loop->span));
    if (l->last_scalar == NULL) {
        l->scalars = scalar;
    } else {
        l->last_scalar->next = scalar;
    }
    l->last_scalar = scalar;
    return ofl_get(l, scalar->var);
}

/* An object's bounds: constant where the declaration says so. */
static void object_bounds(struct ofl_lower *l, struct ofl_object *object, const struct ofl_symbol *symbol,
                          unsigned rank)
{
    const char *name = object->public.c_name;
    const struct ofl_bound *bound = symbol->bounds;
    for (unsigned d = 0; d < rank; d++) {
        object->stride[d] = global_var(l, ofl_arena_format(l->arena, "%s_s%u", name, d + 1), OFL_K_I8);
        object->lower[d] = global_var(l, ofl_arena_format(l->arena, "%s_l%u", name, d + 1), OFL_K_I8);
        object->extent[d] = global_var(l, ofl_arena_format(l->arena, "%s_n%u", name, d + 1), OFL_K_I8);
        bound = bound == NULL ? NULL : bound->next;
    }
}

static struct ofl_object *make_object(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span)
{
    struct ofl_object *object = OFL_NEW(l->arena, struct ofl_object);
    struct ofl_value_type type = type_of(l, symbol, span);
    unsigned rank = ofl_symbol_rank(l->modules, (struct ofl_symbol *)symbol);
    int64_t bytes = 0;
    if (rank == OFL_ASSUMED_RANK || symbol->cobounds != NULL || symbol->cray_pointer != NULL ||
        type.base == OFL_TYPE_CLASS_STAR || type.base == OFL_TYPE_ASSUMED || OFL_HAS(symbol, VOLATILE)) {
        ofl_lower_refuse(l, span, "'%s', which is volatile, a coarray, of assumed rank or of any type,",
                         symbol->name->text);
    }
    object->public = (struct ofl_kernel_object){.symbol = symbol,
                                                .c_name = ofl_c_name(l, symbol->name->text),
                                                .host = host_name(l, symbol),
                                                .rank = rank,
                                                .optional = OFL_HAS(symbol, OPTIONAL)};
    object->base = global_var(l, object->public.c_name, OFL_K_ADDRESS);
    object_bounds(l, object, symbol, rank);
    if (type.base == OFL_TYPE_CHARACTER) {
        bytes = type.length_form == OFL_LENGTH_KNOWN ? type.characters : 0;
        ofl_k_of(l, type, span);
    } else if (ofl_is_number(type)) {
        bytes = ofl_k_bytes(ofl_k_of(l, type, span));
    } else {
        bytes = ofl_type_bytes(l, type.derived, span);
        if (type.base == OFL_TYPE_CLASS) {
            ofl_lower_refuse(l, span, "'%s', which is polymorphic,", symbol->name->text);
        }
        object->public.leaf = ofl_leaf_of(l, type.derived, &object->public.leaf_offset, span);
    }
    object->public.element_bytes = bytes;
    const struct ofl_usage *usage = ofl_usage_of(l, symbol);
    object->public.written = usage != NULL && usage->written && !(usage->listed && ofl_is_private(usage));
    return object;
}

struct ofl_object *ofl_object_of(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span)
{
    for (struct ofl_object *object = l->objects; object != NULL; object = object->next) {
        if (object->public.symbol == symbol) {
            return object;
        }
    }
    struct ofl_object *object = make_object(l, symbol, span);
    if (l->last_object == NULL) {
        l->objects = object;
    } else {
        l->last_object->next = object;
    }
    l->last_object = object;
    return object;
}

/* Where an object lies and what is known of its bounds. */
static void object_view(struct ofl_lower *l, struct ofl_binding *binding, struct ofl_object *object,
                        struct ofl_span span)
{
    const struct ofl_symbol *symbol = object->public.symbol;
    struct ofl_view *view = &binding->view;
    const struct ofl_bound *bound = symbol->bounds;
    bool deferred = OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, POINTER);
    bool known = !deferred && symbol->class != OFL_SYMBOL_ASSOCIATE;
    struct ofl_k_expr *packed = NULL;
    view->type = type_of(l, symbol, span);
    view->rank = object->public.rank;
    view->address = ofl_get(l, object->base);
    if (view->type.base == OFL_TYPE_CHARACTER) {
        view->length = view->type.length_form == OFL_LENGTH_KNOWN
                           ? ofl_i8(l, view->type.characters)
                           : ofl_host_value(l, ofl_arena_format(l->arena, "len(%s, kind=8)", symbol->name->text), NULL,
                                            OFL_TYPE_INTEGER, 8);
    }
    bool element_known = view->type.base != OFL_TYPE_CHARACTER || view->type.length_form == OFL_LENGTH_KNOWN;
    if (element_known && (known || OFL_HAS(symbol, ALLOCATABLE) || OFL_HAS(symbol, CONTIGUOUS))) {
        packed = ofl_element_bytes(l, view->type, view->length, span);
    }
    for (unsigned d = 0; d < view->rank; d++, bound = bound == NULL ? NULL : bound->next) {
        int64_t lower = 1, upper = 0;
        bool explicit = known && bound != NULL && bound->form == OFL_BOUND_EXPLICIT;
        bool assumed = known && bound != NULL && bound->form == OFL_BOUND_SHAPE;
        bool low = known && bound != NULL &&
                   (bound->lower == NULL || ofl_constant_integer(l->modules, symbol->scope, bound->lower, &lower));
        bool high = explicit && ofl_constant_integer(l->modules, symbol->scope, bound->upper, &upper);
        packed = assumed && !OFL_HAS(symbol, CONTIGUOUS) ? NULL : packed;
        view->dim[d].lower = low ? ofl_i8(l, lower) : ofl_get(l, object->lower[d]);
        view->dim[d].extent =
            low && high ? ofl_i8(l, upper < lower ? 0 : upper - lower + 1) : ofl_get(l, object->extent[d]);
        if (bound != NULL && bound->form == OFL_BOUND_STAR) {
            view->dim[d].extent = NULL;
        }
        view->dim[d].stride = packed != NULL ? packed : ofl_get(l, object->stride[d]);
        packed = packed != NULL && low && high ? ofl_op(l, OFL_K_MUL, packed, view->dim[d].extent) : NULL;
    }
    binding->based_on_zero = true;
    view->contiguous =
        (known || OFL_HAS(symbol, ALLOCATABLE)) &&
        (symbol->bounds == NULL || symbol->bounds->form != OFL_BOUND_SHAPE || OFL_HAS(symbol, ALLOCATABLE));
    view->contiguous |= OFL_HAS(symbol, CONTIGUOUS);
}

/* Whether a scalar can come by value: nothing in the loop can change it. */
static bool comes_by_value(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_value_type type)
{
    const struct ofl_usage *usage = ofl_usage_of(l, symbol);
    return ofl_is_number(type) && ofl_symbol_rank(l->modules, (struct ofl_symbol *)symbol) == 0 &&
           !(usage != NULL && usage->written) && !OFL_HAS(symbol, OPTIONAL) && !OFL_HAS(symbol, ALLOCATABLE) &&
           !OFL_HAS(symbol, POINTER) && !OFL_HAS(symbol, VOLATILE) && !OFL_HAS(symbol, TARGET) && !symbol->equivalenced;
}

/* Whether the loop's own unit, or one around it, or a module, has the variable; what another procedure declares
 * cannot be reached. */
static bool is_reachable(struct ofl_lower *l, const struct ofl_symbol *symbol)
{
    if (symbol->storage == OFL_STORAGE_MODULE || symbol->storage == OFL_STORAGE_COMMON) {
        return true;
    }
    for (const struct ofl_scope *scope = l->loop_scope; scope != NULL; scope = scope->parent) {
        if (scope == symbol->scope) {
            return true;
        }
    }
    return symbol->scope != NULL && symbol->scope->unit != NULL &&
           (symbol->scope->unit->kind == OFL_UNIT_MODULE || symbol->scope->unit->kind == OFL_UNIT_SUBMODULE);
}

struct ofl_binding *ofl_binding_of(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span)
{
    for (struct ofl_binding *binding = l->frame->bindings; binding != NULL; binding = binding->next) {
        if (binding->symbol == symbol) {
            return binding;
        }
    }
    bool data = symbol->class == OFL_SYMBOL_VARIABLE || symbol->class == OFL_SYMBOL_CONSTANT ||
                symbol->class == OFL_SYMBOL_ASSOCIATE || symbol->class == OFL_SYMBOL_INDEX;
    if (!data || !is_reachable(l, symbol)) {
        ofl_lower_refuse(l, span, "'%s', which the loop cannot reach,", symbol->name->text);
    }
    struct ofl_value_type type = type_of(l, symbol, span);
    struct ofl_binding *binding = ofl_bind(l, symbol);
    binding->optional = OFL_HAS(symbol, OPTIONAL);
    l->reads_objects = true;
    if (comes_by_value(l, symbol, type)) {
        struct ofl_k_expr *value = ofl_host_value(l, host_name(l, symbol), symbol, type.base, type.kind);
        binding->view.type = type.base == OFL_TYPE_LOGICAL ? ofl_kind_type(OFL_TYPE_LOGICAL, 4) : type;
        binding->view.address = ofl_k_address_of(l->arena, value->var);
    } else {
        binding->object = ofl_object_of(l, symbol, span);
        object_view(l, binding, binding->object, span);
    }
    binding->view.root = binding;
    return binding;
}
