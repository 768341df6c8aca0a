/* Reductions over the iterations; see lower.h and struct ofl_kernel_reduction in lowered.h.
 *
 * Each partial begins with the operator's neutral value, and its iterations change it as the body says.  The combining
 * kernel makes fewer partials of many, always in the same order; the last step puts them into the variable.  Array
 * variables have their partials element by element in memory. */
#include "fortran/lower.h"

#include <math.h>
#include <string.h>

struct ofl_reduction {
    const struct ofl_usage *usage;
    struct ofl_object *object;
    enum ofl_reduction_operator op;
    struct ofl_view view; /* the accumulator while the body is lowered */
    enum ofl_k_type memory;
    struct ofl_k_var *partials; /* parameter of the kernel */
    struct ofl_k_var *accumulator;
    struct ofl_k_expr *place, *elements; /* of this partial; of the variable */
    struct ofl_k_var *from, *to;         /* parameters of the combining kernel */
    struct ofl_reduction *next;
};

static enum ofl_reduction_operator operator_of(struct ofl_lower *l, const struct ofl_locality *clause)
{
    static const struct {
        const char *name;
        enum ofl_reduction_operator op;
    } names[] = {{"max", OFL_REDUCE_MAX},
                 {"min", OFL_REDUCE_MIN},
                 {"iand", OFL_REDUCE_IAND},
                 {"ior", OFL_REDUCE_IOR},
                 {"ieor", OFL_REDUCE_IEOR}};
    for (size_t i = 0; clause->reduce_by_name && i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, clause->reduce_name->text) == 0) {
            return names[i].op;
        }
    }
    if (!clause->reduce_by_name) {
        switch (clause->reduce_op) {
        case OFL_OPERATOR_ADD:
            return OFL_REDUCE_ADD;
        case OFL_OPERATOR_MUL:
            return OFL_REDUCE_MUL;
        case OFL_OPERATOR_AND:
            return OFL_REDUCE_AND;
        case OFL_OPERATOR_OR:
            return OFL_REDUCE_OR;
        case OFL_OPERATOR_EQV:
            return OFL_REDUCE_EQV;
        case OFL_OPERATOR_NEQV:
            return OFL_REDUCE_NEQV;
        default:
            break;
        }
    }
    ofl_lower_refuse(l, clause->span, "this reduction");
}

static struct ofl_k_var *address_parameter(struct ofl_lower *l, const char *name)
{
    struct ofl_k_var *var = OFL_NEW(l->arena, struct ofl_k_var);
    var->name = name;
    var->type = OFL_K_ADDRESS;
    var->storage = OFL_K_GLOBAL;
    return var;
}

void ofl_find_reductions(struct ofl_lower *l)
{
    struct ofl_reduction **last = &l->reductions;
    for (const struct ofl_usage *usage = l->usage; usage != NULL; usage = usage->next) {
        struct ofl_value_type type;
        if (!usage->listed || usage->locality != OFL_LOCALITY_REDUCE) {
            continue;
        }
        if (!ofl_symbol_type(l->modules, (struct ofl_symbol *)usage->symbol, &type, NULL) || !ofl_is_number(type) ||
            usage->called) {
            ofl_lower_refuse(l, usage->clause->span, "this reduction of '%s'", usage->symbol->name->text);
        }
        struct ofl_reduction *reduction = *last = OFL_NEW(l->arena, struct ofl_reduction);
        const char *name = usage->symbol->name->text;
        reduction->usage = usage;
        reduction->op = operator_of(l, usage->clause);
        reduction->memory = ofl_k_of(l, type, usage->clause->span);
        reduction->object = ofl_object_of(l, usage->symbol, usage->clause->span);
        reduction->object->public.written = true;
        reduction->partials = address_parameter(l, ofl_arena_format(l->arena, "ofl_partials_%s", name));
        reduction->from = address_parameter(l, ofl_arena_format(l->arena, "ofl_from_%s", name));
        reduction->to = address_parameter(l, ofl_arena_format(l->arena, "ofl_to_%s", name));
        last = &reduction->next;
    }
}

/* The value x with x OP y = y for every y. */
static struct ofl_k_expr *neutral(struct ofl_lower *l, const struct ofl_reduction *reduction)
{
    enum ofl_k_type type = reduction->memory;
    int64_t most = ofl_k_is_integer(type) ? INT64_MAX >> (64 - 8 * ofl_k_bytes(type)) : 0;
    double real = 0;
    int64_t integer = 0;
    switch (reduction->op) {
    case OFL_REDUCE_ADD:
        real = -0.0; /* -0 + x is x also for x = -0 */
        break;
    case OFL_REDUCE_MUL:
        real = integer = 1;
        break;
    case OFL_REDUCE_MAX:
        real = -INFINITY;
        integer = -most - 1;
        break;
    case OFL_REDUCE_MIN:
        real = INFINITY;
        integer = most;
        break;
    case OFL_REDUCE_IAND:
        integer = -1;
        break;
    case OFL_REDUCE_AND:
    case OFL_REDUCE_EQV:
        integer = 1;
        break;
    default:
        break;
    }
    if (ofl_k_is_complex(type)) {
        enum ofl_k_type part = ofl_k_part(type);
        return ofl_k_complex(l->arena, ofl_k_real(l->arena, part, real),
                             ofl_k_real(l->arena, part, reduction->op == OFL_REDUCE_ADD ? -0.0 : 0.0));
    }
    return ofl_k_is_real(type) ? ofl_k_real(l->arena, type, real) : ofl_k_integer(l->arena, type, integer);
}

/* x OP y of values as they are in memory. */
static struct ofl_k_expr *combined(struct ofl_lower *l, const struct ofl_reduction *reduction, struct ofl_k_expr *x,
                                   struct ofl_k_expr *y)
{
    enum ofl_k_type type = reduction->memory;
    struct ofl_k_expr *zero = ofl_k_is_integer(type) ? ofl_k_integer(l->arena, type, 0) : NULL;
    switch (reduction->op) {
    case OFL_REDUCE_ADD:
        return ofl_op(l, OFL_K_ADD, x, y);
    case OFL_REDUCE_MUL:
        return ofl_op(l, OFL_K_MUL, x, y);
    case OFL_REDUCE_MAX:
    case OFL_REDUCE_MIN:
        return ofl_smaller(l, x, y, reduction->op == OFL_REDUCE_MAX);
    case OFL_REDUCE_IAND:
    case OFL_REDUCE_AND:
        return ofl_op(l, OFL_K_BIT_AND, x, y);
    case OFL_REDUCE_IOR:
    case OFL_REDUCE_OR:
        return ofl_op(l, OFL_K_BIT_OR, x, y);
    case OFL_REDUCE_IEOR:
    case OFL_REDUCE_NEQV:
        return ofl_op(l, OFL_K_BIT_XOR, x, y);
    case OFL_REDUCE_EQV:
        return ofl_to(l, type, ofl_op(l, OFL_K_EQ, ofl_op(l, OFL_K_BIT_XOR, x, y), zero));
    }
    return x;
}

/* ---- In the kernel ---- */

void ofl_begin_partials(struct ofl_lower *l, struct ofl_k_var *partial)
{
    for (struct ofl_reduction *reduction = l->reductions; reduction != NULL; reduction = reduction->next) {
        const struct ofl_symbol *symbol = reduction->usage->symbol;
        struct ofl_view whole =
            ofl_view_of_binding(l, ofl_binding_of(l, symbol, reduction->usage->clause->span), l->loop->span);
        struct ofl_k_expr *extent[OFL_MAX_RANK], *bytes = ofl_i8(l, ofl_k_bytes(reduction->memory));
        for (unsigned d = 0; d < whole.rank; d++) {
            extent[d] = whole.dim[d].extent;
            if (extent[d] == NULL) {
                ofl_lower_refuse(l, l->loop->span, "a reduction of an assumed-size array");
            }
        }
        reduction->elements = ofl_keep(l, ofl_count(l, whole.rank, extent), "n");
        reduction->place = ofl_keep(
            l,
            ofl_k_offset(l->arena, ofl_get(l, reduction->partials),
                         ofl_op(l, OFL_K_MUL, ofl_get(l, partial), ofl_op(l, OFL_K_MUL, reduction->elements, bytes))),
            "p");
        struct ofl_binding *binding = ofl_bind(l, symbol);
        binding->view = whole;
        binding->view.root = binding;
        binding->private = true;
        if (whole.rank == 0) {
            reduction->accumulator = ofl_new_var(l, symbol->name->text, reduction->memory);
            binding->view.address = ofl_k_address_of(l->arena, reduction->accumulator);
            ofl_set(l, reduction->accumulator, neutral(l, reduction));
        } else {
            binding->view.address = reduction->place;
            ofl_pack_strides(l, &binding->view, l->loop->span);
            struct ofl_element_loops loops = ofl_begin_elements(l, whole.rank, extent);
            struct ofl_view element = ofl_element_view(l, &binding->view, loops.subscript);
            ofl_store(l, element.address, neutral(l, reduction));
            ofl_end_elements(l, &loops);
        }
    }
}

void ofl_end_partials(struct ofl_lower *l)
{
    for (struct ofl_reduction *reduction = l->reductions; reduction != NULL; reduction = reduction->next) {
        if (reduction->accumulator != NULL) {
            ofl_store(l, reduction->place, ofl_get(l, reduction->accumulator));
        }
    }
}

static void append(struct ofl_k_function *function, struct ofl_k_var *var)
{
    if (function->last_parameter == NULL) {
        function->parameters = var;
    } else {
        function->last_parameter->next = var;
    }
    function->last_parameter = var;
}

void ofl_add_partial_parameters(struct ofl_lower *l, struct ofl_k_function *function)
{
    for (struct ofl_reduction *reduction = l->reductions; reduction != NULL; reduction = reduction->next) {
        append(function, reduction->partials);
    }
}

/* ---- The combining kernel ---- */

struct combining {
    struct ofl_k_var *in, *out, *finish, *number;
};

/* One element of one variable: `offset` bytes into each partial, `elements` partial by partial. */
static void combine_one(struct ofl_lower *l, const struct combining *combining, const struct ofl_reduction *reduction,
                        struct ofl_k_expr *offset, struct ofl_k_expr *size, struct ofl_k_expr *object)
{
    struct ofl_k_var *sum = ofl_new_var(l, reduction->usage->symbol->name->text, reduction->memory);
    struct ofl_k_var *k = ofl_new_var(l, "ofl_k", OFL_K_I8);
    k->name = ofl_arena_format(l->arena, "ofl_k%u", ++l->names);
    struct ofl_k_expr *number = ofl_get(l, combining->number), *from = ofl_get(l, reduction->from);
    struct ofl_k_expr *at = ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_MUL, number, size), offset);
    ofl_set(l, sum, ofl_k_load(l->arena, reduction->memory, ofl_k_offset(l->arena, from, at)));
    ofl_set(l, k, ofl_op(l, OFL_K_ADD, number, ofl_get(l, combining->out)));
    struct ofl_k_stmt *loop = ofl_add_stmt(l, OFL_K_LOOP);
    loop->value = ofl_op(l, OFL_K_LT, ofl_get(l, k), ofl_get(l, combining->in));
    struct ofl_k_stmt *step = ofl_k_add(l->arena, &loop->step, OFL_K_SET);
    step->var = k;
    step->value = ofl_op(l, OFL_K_ADD, ofl_get(l, k), ofl_get(l, combining->out));
    struct ofl_k_block *outer = l->block;
    l->block = &loop->body;
    struct ofl_k_expr *there = ofl_op(l, OFL_K_ADD, ofl_op(l, OFL_K_MUL, ofl_get(l, k), size), offset);
    struct ofl_k_expr *other = ofl_k_load(l->arena, reduction->memory, ofl_k_offset(l->arena, from, there));
    ofl_set(l, sum, combined(l, reduction, ofl_get(l, sum), other));
    l->block = outer;
    struct ofl_k_block *branch = ofl_begin_if(l, ofl_op(l, OFL_K_NE, ofl_get(l, combining->finish), ofl_i8(l, 0)));
    ofl_store(l, object, combined(l, reduction, ofl_k_load(l->arena, reduction->memory, object), ofl_get(l, sum)));
    ofl_begin_else(l, branch);
    ofl_store(l, ofl_k_offset(l->arena, ofl_get(l, reduction->to), at), ofl_get(l, sum));
    ofl_end(l, branch);
}

static struct ofl_k_var *number_parameter(struct ofl_lower *l, const char *name)
{
    struct ofl_k_var *var = address_parameter(l, name);
    var->type = OFL_K_I8;
    return var;
}

struct ofl_k_function *ofl_combine_kernel(struct ofl_lower *l)
{
    struct ofl_k_function *function = OFL_NEW(l->arena, struct ofl_k_function);
    struct ofl_frame *frame = OFL_NEW(l->arena, struct ofl_frame);
    struct combining combining;
    function->name = ofl_arena_format(l->arena, "%s_combine", l->kernel->name);
    function->kernel = true;
    frame->function = function;
    frame->unit = l->unit;
    l->frame = frame;
    l->block = &function->body;
    combining.in = number_parameter(l, "ofl_in");
    combining.out = number_parameter(l, "ofl_out");
    combining.finish = number_parameter(l, "ofl_finish");
    append(function, combining.in);
    append(function, combining.out);
    append(function, combining.finish);
    combining.number = ofl_new_var(l, "ofl_partial", OFL_K_I8);
    combining.number->name = "ofl_partial";
    ofl_set(l, combining.number, ofl_k_support(l->arena, OFL_K_I8, "ofl_grid_thread", NULL));
    struct ofl_k_stmt *loop = ofl_add_stmt(l, OFL_K_LOOP);
    loop->value = ofl_op(l, OFL_K_LT, ofl_get(l, combining.number), ofl_get(l, combining.out));
    struct ofl_k_stmt *step = ofl_k_add(l->arena, &loop->step, OFL_K_SET);
    step->var = combining.number;
    step->value =
        ofl_op(l, OFL_K_ADD, ofl_get(l, combining.number), ofl_k_support(l->arena, OFL_K_I8, "ofl_grid_threads", NULL));
    l->block = &loop->body;
    for (struct ofl_reduction *reduction = l->reductions; reduction != NULL; reduction = reduction->next) {
        struct ofl_view whole =
            ofl_view_of_binding(l, ofl_binding_of(l, reduction->usage->symbol, l->loop->span), l->loop->span);
        struct ofl_k_expr *extent[OFL_MAX_RANK], *bytes = ofl_i8(l, ofl_k_bytes(reduction->memory));
        struct ofl_k_expr *offset = ofl_i8(l, 0), *size;
        for (unsigned d = 0; d < whole.rank; d++) {
            extent[d] = whole.dim[d].extent;
        }
        size = ofl_keep(l, ofl_op(l, OFL_K_MUL, bytes, ofl_count(l, whole.rank, extent)), "size");
        struct ofl_element_loops loops = ofl_begin_elements(l, whole.rank, extent);
        struct ofl_k_expr *stride = bytes;
        for (unsigned d = 0; d < whole.rank; d++) {
            offset = ofl_op(l, OFL_K_ADD, offset, ofl_op(l, OFL_K_MUL, loops.subscript[d], stride));
            stride = ofl_op(l, OFL_K_MUL, stride, extent[d]);
        }
        struct ofl_view element = ofl_element_view(l, &whole, loops.subscript);
        combine_one(l, &combining, reduction, whole.rank == 0 ? offset : ofl_keep(l, offset, "o"), size,
                    whole.rank == 0 ? element.address : ofl_keep(l, element.address, "p"));
        ofl_end_elements(l, &loops);
    }
    l->block = &function->body;
    return function;
}

/* An object's parameter is in the lists of two kernels: the second has copies. */
static void append_copy(struct ofl_lower *l, struct ofl_k_function *function, const struct ofl_k_var *var)
{
    struct ofl_k_var *copy = OFL_NEW(l->arena, struct ofl_k_var);
    *copy = *var;
    copy->next = NULL;
    append(function, copy);
}

void ofl_add_combine_parameters(struct ofl_lower *l, struct ofl_k_function *function)
{
    for (struct ofl_reduction *reduction = l->reductions; reduction != NULL; reduction = reduction->next) {
        append(function, reduction->from);
        append(function, reduction->to);
    }
    for (struct ofl_reduction *reduction = l->reductions; reduction != NULL; reduction = reduction->next) {
        const struct ofl_object *object = reduction->object;
        append_copy(l, function, object->base);
        for (unsigned d = 0; d < object->public.rank; d++) {
            append_copy(l, function, object->stride[d]);
        }
        for (unsigned d = 0; d < object->public.rank && object->public.bounds; d++) {
            append_copy(l, function, object->lower[d]);
            append_copy(l, function, object->extent[d]);
        }
    }
}

void ofl_publish_reductions(struct ofl_lower *l)
{
    struct ofl_kernel_reduction **last = &l->kernel->reductions;
    for (struct ofl_reduction *reduction = l->reductions; reduction != NULL; reduction = reduction->next) {
        struct ofl_value_type type;
        ofl_symbol_type(l->modules, (struct ofl_symbol *)reduction->usage->symbol, &type, NULL);
        *last = OFL_NEW(l->arena, struct ofl_kernel_reduction);
        **last = (struct ofl_kernel_reduction){
            .object = &reduction->object->public,
            .op = reduction->op,
            .type = type.base,
            .kind = type.kind,
            .element_bytes = ofl_k_bytes(reduction->memory),
            .elements = reduction->object->public.rank == 0
                            ? NULL
                            : ofl_arena_format(l->arena, "size(%s, kind=8)", reduction->usage->symbol->name->text)};
        last = &(*last)->next;
    }
}
