/* A parallel loop becomes a kernel: header, mask, iterations; see lower.h.
 *
 * Entry point: ofl_lower_loop.  Each thread takes every n-th iteration, n being the number of threads; with reductions
 * it takes every n-th partial, and a partial takes iterations at a distance that depends on the number of iterations
 * only.  An iteration computes its indices from its number, tests the mask, has its own copies of private variables,
 * runs the body as a block that `cycle` leaves, and writes back what is to go back. */
#include "fortran/lower.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Refusing ---- */

_Noreturn void ofl_lower_refuse(struct ofl_lower *l, struct ofl_span span, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ofl_diag_unsupported(l->rewriter->diagnostics, span, "%s in a loop on the device", text);
    if (span.begin < l->loop->span.begin || span.begin >= l->loop->span.end) {
        ofl_diag_note(l->rewriter->diagnostics, l->loop->span, "the loop begins here");
    }
    longjmp(l->refused, 1);
}

const struct ofl_meaning *ofl_lower_meaning(struct ofl_lower *l, const struct ofl_expr *expr)
{
    const struct ofl_meaning *meaning = ofl_meaning_of(l->modules, l->scope, expr);
    if (meaning->kind == OFL_MEANS_UNKNOWN) {
        ofl_meaning_report(l->rewriter->diagnostics, meaning);
        ofl_diag_note(l->rewriter->diagnostics, l->loop->span, "the loop begins here");
        longjmp(l->refused, 1);
    }
    return meaning;
}

/* ---- Indices ---- */

/* The kernel's own parameters. */
struct control {
    struct ofl_k_var *trips, *first[OFL_MAX_RANK], *step[OFL_MAX_RANK], *count[OFL_MAX_RANK];
    struct ofl_k_var *index[OFL_MAX_RANK];
    struct ofl_k_var *selected, *partial_count, *status, *workspace, *workspace_bytes;
};

static struct ofl_k_var *parameter(struct ofl_lower *l, const char *name, enum ofl_k_type type)
{
    struct ofl_k_var *var = OFL_NEW(l->arena, struct ofl_k_var);
    var->name = name;
    var->type = type;
    var->storage = OFL_K_GLOBAL;
    return var;
}

static void find_indices(struct ofl_lower *l, struct control *control)
{
    const struct ofl_loop *loop = &l->loop->as.loop;
    struct ofl_kernel *kernel = l->kernel;
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        kernel->index_count++;
    }
    if (kernel->index_count > OFL_MAX_RANK) {
        ofl_lower_refuse(l, loop->header, "so many indices");
    }
    kernel->indices = ofl_arena_alloc(l->arena, kernel->index_count * sizeof *kernel->indices);
    unsigned d = 0;
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next, d++) {
        struct ofl_symbol *symbol = ofl_scope_find(loop->scope, index->ident.name);
        struct ofl_value_type type;
        const struct ofl_meaning *why = NULL;
        if (symbol == NULL || !ofl_symbol_type(l->modules, symbol, &type, &why) || type.base != OFL_TYPE_INTEGER) {
            ofl_lower_refuse(l, index->span, "an index whose kind is not known");
        }
        ofl_k_of(l, type, index->span);
        kernel->indices[d] = (struct ofl_kernel_index){.index = index, .symbol = symbol, .kind = type.kind};
        control->first[d] = parameter(l, ofl_arena_format(l->arena, "ofl_first_%u", d + 1), OFL_K_I8);
        control->step[d] = parameter(l, ofl_arena_format(l->arena, "ofl_step_%u", d + 1), OFL_K_I8);
        control->count[d] = parameter(l, ofl_arena_format(l->arena, "ofl_count_%u", d + 1), OFL_K_I8);
    }
    control->trips = parameter(l, "ofl_trips", OFL_K_I8);
    control->selected = parameter(l, "ofl_selected", OFL_K_ADDRESS);
    control->partial_count = parameter(l, "ofl_partials", OFL_K_I8);
    control->status = parameter(l, "ofl_status", OFL_K_ADDRESS);
    control->workspace = parameter(l, "ofl_workspace", OFL_K_ADDRESS);
    control->workspace_bytes = parameter(l, "ofl_workspace_bytes", OFL_K_I8);
}

/* The indices' variables in the function that is being made, bound to their symbols. */
static void bind_indices(struct ofl_lower *l, struct control *control)
{
    for (unsigned d = 0; d < l->kernel->index_count; d++) {
        struct ofl_value_type type = ofl_kind_type(OFL_TYPE_INTEGER, l->kernel->indices[d].kind);
        const struct ofl_symbol *symbol = l->kernel->indices[d].symbol;
        control->index[d] = ofl_new_var(l, symbol->name->text, ofl_k_of(l, type, l->loop->span));
        struct ofl_binding *binding = ofl_bind(l, symbol);
        binding->view.type = type;
        binding->view.address = ofl_k_address_of(l->arena, control->index[d]);
        binding->view.root = binding;
        binding->private = true;
    }
}

/* The indices of iteration number `trip`: the first one is the fastest. */
static void set_indices(struct ofl_lower *l, const struct control *control, struct ofl_k_var *trip)
{
    struct ofl_k_expr *rest = ofl_get(l, trip);
    for (unsigned d = 0; d < l->kernel->index_count; d++) {
        struct ofl_k_expr *number = rest;
        if (d + 1 < l->kernel->index_count) {
            struct ofl_k_expr *count = ofl_get(l, control->count[d]);
            struct ofl_k_expr *quotient =
                ofl_keep(l, ofl_k_support(l->arena, OFL_K_I8, "ofl_quotient", rest, count, NULL), "rest");
            number = ofl_op(l, OFL_K_SUB, rest, ofl_op(l, OFL_K_MUL, quotient, count));
            rest = quotient;
        }
        struct ofl_k_expr *value = ofl_op(l, OFL_K_ADD, ofl_get(l, control->first[d]),
                                          ofl_op(l, OFL_K_MUL, number, ofl_get(l, control->step[d])));
        assert(control->index[d] != NULL); /* made with the kernel's indices */
        ofl_set(l, control->index[d], ofl_to(l, control->index[d]->type, value));
    }
}

/* for (var = this thread's number; var < count; var += number of threads); returns the loop. */
static struct ofl_k_stmt *begin_grid(struct ofl_lower *l, struct ofl_k_var *var, struct ofl_k_expr *first,
                                     struct ofl_k_expr *count, struct ofl_k_expr *step)
{
    ofl_set(l, var, first);
    struct ofl_k_stmt *loop = ofl_add_stmt(l, OFL_K_LOOP);
    loop->value = ofl_op(l, OFL_K_LT, ofl_get(l, var), count);
    struct ofl_k_stmt *next = ofl_k_add(l->arena, &loop->step, OFL_K_SET);
    next->var = var;
    next->value = ofl_op(l, OFL_K_ADD, ofl_get(l, var), step);
    l->block = &loop->body;
    return loop;
}

static struct ofl_k_var *named(struct ofl_lower *l, const char *name, enum ofl_k_type type)
{
    struct ofl_k_var *var = ofl_new_var(l, name, type);
    var->name = name;
    return var;
}

static struct ofl_k_expr *thread_number(struct ofl_lower *l)
{
    return ofl_k_support(l->arena, OFL_K_I8, "ofl_grid_thread", NULL);
}

static struct ofl_k_expr *thread_count(struct ofl_lower *l)
{
    return ofl_k_support(l->arena, OFL_K_I8, "ofl_grid_threads", NULL);
}

/* ---- One iteration ---- */

static void lower_iteration(struct ofl_lower *l, struct control *control, struct ofl_k_stmt *loop)
{
    const struct ofl_loop *header = &l->loop->as.loop;
    bool two_kernels = l->kernel->mask_kernel;
    set_indices(l, control, l->trip);
    l->scope = header->scope;
    if (header->condition != NULL) {
        struct ofl_mark mark = ofl_mark_workspace(l);
        struct ofl_k_expr *selected =
            two_kernels ? ofl_to(l, OFL_K_BOOL,
                                 ofl_k_load(l->arena, OFL_K_I1,
                                            ofl_k_offset(l->arena, ofl_get(l, control->selected), ofl_get(l, l->trip))))
                        : ofl_lower_condition(l, header->condition);
        if (l->allocations != mark.allocations) {
            selected = ofl_keep(l, selected, "c");
            ofl_release_workspace(l, &mark);
        }
        struct ofl_k_block *outer = ofl_begin_if(l, ofl_not(l, selected));
        ofl_add_stmt(l, OFL_K_NEXT)->loop = loop;
        ofl_end(l, outer);
    }
    struct ofl_writeback *back = ofl_bind_privates(l);
    struct ofl_k_stmt *pass = ofl_add_stmt(l, OFL_K_BLOCK);
    struct ofl_around around = {.stmt = l->loop, .next_pass = pass};
    struct ofl_k_block *outer = l->block;
    l->block = &pass->body;
    l->around = &around;
    ofl_lower_block(l, &header->body);
    if (l->loop->end_label.value != 0) {
        const struct ofl_stmt *last = header->body.last;
        if (last == NULL || last->label.value != l->loop->end_label.value) {
            ofl_add_stmt(l, OFL_K_LABEL)->number = l->loop->end_label.value;
        }
    }
    l->around = NULL;
    l->block = outer;
    ofl_write_back(l, back);
}

/* Puts a call that prepares the thread's record at the beginning of a block. */
static void begin_record(struct ofl_lower *l, struct ofl_k_block *body, struct ofl_k_expr *call)
{
    struct ofl_k_stmt *stmt = OFL_NEW(l->arena, struct ofl_k_stmt);
    stmt->kind = OFL_K_DO;
    stmt->value = call;
    stmt->next = body->first;
    body->first = stmt;
    body->last = body->last == NULL ? stmt : body->last;
}

static struct ofl_k_function *begin_kernel(struct ofl_lower *l, const char *name)
{
    struct ofl_k_function *function = OFL_NEW(l->arena, struct ofl_k_function);
    struct ofl_frame *frame = OFL_NEW(l->arena, struct ofl_frame);
    function->name = name;
    function->kernel = true;
    frame->function = function;
    frame->unit = l->unit;
    l->frame = frame;
    l->block = &function->body;
    return function;
}

/* Which is needed when functions are called, the program may end, or workspace is taken. */
static bool needs_record(const struct ofl_lower *l)
{
    return l->kernel->status || l->functions != NULL;
}

static void prepare_thread(struct ofl_lower *l, const struct control *control, struct ofl_k_block *pass)
{
    struct ofl_k_expr *none = ofl_k_integer(l->arena, OFL_K_ADDRESS, 0);
    if (!needs_record(l)) {
        return;
    }
    struct ofl_k_expr *status = l->kernel->status ? ofl_get(l, control->status) : none;
    struct ofl_k_expr *memory = l->kernel->workspace ? ofl_get(l, control->workspace) : none;
    struct ofl_k_expr *bytes = l->kernel->workspace ? ofl_get(l, control->workspace_bytes) : ofl_i8(l, 0);
    begin_record(
        l, pass,
        ofl_k_support(l->arena, OFL_K_VOID, "ofl_thread_begin", ofl_get(l, l->trip), status, memory, bytes, NULL));
}

static struct ofl_k_function *lower_body(struct ofl_lower *l, struct control *control)
{
    struct ofl_k_function *function = begin_kernel(l, l->kernel->name);
    struct ofl_k_expr *step = thread_count(l), *first = thread_number(l);
    l->trip = named(l, "ofl_trip", OFL_K_I8);
    bind_indices(l, control);
    if (l->reductions != NULL) {
        struct ofl_k_var *partial = named(l, "ofl_partial", OFL_K_I8);
        begin_grid(l, partial, first, ofl_get(l, control->partial_count), step);
        ofl_begin_partials(l, partial);
        first = ofl_get(l, partial);
        step = ofl_get(l, control->partial_count);
    }
    struct ofl_k_block *outer = l->block;
    struct ofl_k_stmt *loop = begin_grid(l, l->trip, first, ofl_get(l, control->trips), step);
    lower_iteration(l, control, loop);
    prepare_thread(l, control, &loop->body);
    l->block = outer;
    if (l->reductions != NULL) {
        ofl_end_partials(l);
    }
    return function;
}

static struct ofl_k_function *lower_mask(struct ofl_lower *l, struct control *control)
{
    struct ofl_k_function *function = begin_kernel(l, ofl_arena_format(l->arena, "%s_mask", l->kernel->name));
    l->trip = named(l, "ofl_trip", OFL_K_I8);
    bind_indices(l, control);
    struct ofl_k_stmt *loop = begin_grid(l, l->trip, thread_number(l), ofl_get(l, control->trips), thread_count(l));
    set_indices(l, control, l->trip);
    l->scope = l->loop->as.loop.scope;
    struct ofl_mark mark = ofl_mark_workspace(l);
    ofl_store(l, ofl_k_offset(l->arena, ofl_get(l, control->selected), ofl_get(l, l->trip)),
              ofl_to(l, OFL_K_I1, ofl_lower_condition(l, l->loop->as.loop.condition)));
    ofl_release_workspace(l, &mark);
    prepare_thread(l, control, &loop->body);
    return function;
}

/* ---- The whole ---- */

/* `solve_line12_1`: where the loop is. */
static const char *kernel_name(struct ofl_lower *l)
{
    struct ofl_place place = ofl_place_of(l->rewriter->sources, l->loop->span.begin);
    unsigned number = l->kernel->number = ++l->rewriter->loops;
    return ofl_arena_format(l->arena, "%s_line%u_%u", l->unit->name.name == NULL ? "main" : l->unit->name.name->text,
                            place.line, number);
}

static void append(struct ofl_k_function *function, struct ofl_k_var *var)
{
    struct ofl_k_var *copy = var; /* a variable is in the list of one kernel: others print the same names */
    if (function->last_parameter == NULL) {
        function->parameters = copy;
    } else {
        function->last_parameter->next = copy;
    }
    function->last_parameter = copy;
}

/* The parameters in the order that lowered.h says. */
static void add_parameters(struct ofl_lower *l, const struct control *control, struct ofl_k_function *function)
{
    append(function, control->trips);
    for (unsigned d = 0; d < l->kernel->index_count; d++) {
        append(function, control->first[d]);
        append(function, control->step[d]);
        append(function, control->count[d]);
    }
    for (struct ofl_object *object = l->objects; object != NULL; object = object->next) {
        append(function, object->base);
        for (unsigned d = 0; d < object->public.rank; d++) {
            append(function, object->stride[d]);
        }
        for (unsigned d = 0; d < object->public.rank && object->public.bounds; d++) {
            append(function, object->lower[d]);
            append(function, object->extent[d]);
        }
    }
    for (struct ofl_value_parameter *scalar = l->scalars; scalar != NULL; scalar = scalar->next) {
        append(function, scalar->var);
    }
    if (l->kernel->mask_kernel) {
        append(function, control->selected);
    }
    ofl_add_partial_parameters(l, function);
    if (l->reductions != NULL) {
        append(function, control->partial_count);
    }
    if (l->kernel->status) {
        append(function, control->status);
    }
    if (l->kernel->workspace) {
        append(function, control->workspace);
        append(function, control->workspace_bytes);
    }
}

static bool uses_var(const struct ofl_k_expr *expr, const struct ofl_k_var *var)
{
    if (expr == NULL) {
        return false;
    }
    for (unsigned i = 0; i < OFL_K_MAX_OPERANDS; i++) {
        if (uses_var(expr->operand[i], var)) {
            return true;
        }
    }
    for (const struct ofl_k_args *arg = expr->args; arg != NULL; arg = arg->next) {
        if (uses_var(arg->value, var)) {
            return true;
        }
    }
    return expr->var == var;
}

static bool block_uses(const struct ofl_k_block *block, const struct ofl_k_var *var)
{
    for (const struct ofl_k_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        if (uses_var(stmt->value, var) || uses_var(stmt->address, var) || uses_var(stmt->bytes, var) ||
            block_uses(&stmt->body, var) || block_uses(&stmt->other, var) || block_uses(&stmt->step, var)) {
            return true;
        }
    }
    return false;
}

/* Objects whose bounds are used take them. */
static void find_bounds(struct ofl_lower *l, struct ofl_k_function *const *functions, unsigned count)
{
    for (struct ofl_object *object = l->objects; object != NULL; object = object->next) {
        for (unsigned d = 0; d < object->public.rank && !object->public.bounds; d++) {
            for (unsigned f = 0; f < count && !object->public.bounds; f++) {
                object->public.bounds = block_uses(&functions[f]->body, object->lower[d]) ||
                                        block_uses(&functions[f]->body, object->extent[d]);
            }
        }
    }
}

/* Objects whose elements have components that the loop reaches. */
static void find_components(struct ofl_lower *l)
{
    for (struct ofl_object *object = l->objects; object != NULL; object = object->next) {
        struct ofl_value_type type;
        if (!ofl_symbol_type(l->modules, (struct ofl_symbol *)object->public.symbol, &type, NULL) ||
            type.derived == NULL) {
            continue;
        }
        object->public.components = ofl_components_in(l, type.derived, l->loop->span);
        for (const struct ofl_kernel_component *part = object->public.components; part != NULL; part = part->next) {
            /* Only targets of pointers are written through what has intent(in), which the host compiler expects. */
            object->public.written |= part->written && !OFL_HAS(object->public.symbol, INTENT_IN);
        }
    }
}

static void publish(struct ofl_lower *l)
{
    struct ofl_kernel_object **objects = &l->kernel->objects;
    struct ofl_kernel_scalar **scalars = &l->kernel->scalars;
    for (struct ofl_object *object = l->objects; object != NULL; object = object->next) {
        *objects = &object->public;
        objects = &(*objects)->next;
    }
    for (struct ofl_value_parameter *scalar = l->scalars; scalar != NULL; scalar = scalar->next) {
        *scalars = &scalar->public;
        scalars = &(*scalars)->next;
    }
    ofl_publish_reductions(l);
}

/* Validates all functions and makes the text. */
static bool finish(struct ofl_lower *l, const struct control *control, struct ofl_k_function *body,
                   struct ofl_k_function *mask)
{
    struct ofl_k_function *kernels[3];
    unsigned count = 0, all = 0;
    const char *why = NULL;
    if (mask != NULL) {
        kernels[count++] = mask;
    }
    kernels[count++] = body;
    struct ofl_k_function *combine = l->reductions == NULL ? NULL : ofl_combine_kernel(l);
    for (struct ofl_k_function *function = l->functions; function != NULL; function = function->next) {
        all++;
    }
    struct ofl_k_function **functions = ofl_arena_alloc(l->arena, (all + 4) * sizeof(struct ofl_k_function *));
    all = 0;
    for (struct ofl_k_function *function = l->functions; function != NULL; function = function->next) {
        functions[all++] = function;
    }
    for (unsigned i = 0; i < count; i++) {
        functions[all++] = kernels[i];
    }
    if (combine != NULL) {
        functions[all++] = combine;
    }
    find_bounds(l, functions, all);
    for (unsigned i = 0; i < count; i++) {
        add_parameters(l, control, kernels[i]);
    }
    if (combine != NULL) {
        ofl_add_combine_parameters(l, combine);
    }
    for (unsigned i = 0; i < all; i++) {
        if (!ofl_k_validate(functions[i], l->arena, &why)) {
            ofl_diag_bug(l->rewriter->diagnostics, l->loop->span, "this loop was lowered wrongly (%s)", why);
            return false;
        }
    }
    find_components(l);
    publish(l);
    ofl_kernel_text(l, kernels, count, combine, needs_record(l));
    return true;
}

static void lower_all(struct ofl_lower *l)
{
    struct control control = {0};
    struct ofl_k_function *mask = NULL, *body;
    const struct ofl_loop *loop = &l->loop->as.loop;
    find_indices(l, &control);
    ofl_find_usage(l);
    l->scope = loop->scope;
    if (loop->condition != NULL && !ofl_mask_is_stable(loop, l->loop_scope)) {
        l->kernel->mask_kernel = true;
        mask = lower_mask(l, &control);
    }
    ofl_find_reductions(l);
    body = lower_body(l, &control);
    if (mask != NULL && needs_record(l)) { /* what the body needs, the mask's kernel takes too */
        mask = lower_mask(l, &control);
    }
    if (!finish(l, &control, body, mask)) {
        longjmp(l->refused, 1);
    }
}

struct ofl_kernel *ofl_lower_loop(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt,
                                  const struct ofl_unit *unit)
{
    struct ofl_lower *l = OFL_NEW(rewriter->arena, struct ofl_lower);
    l->rewriter = rewriter;
    l->arena = rewriter->arena;
    l->modules = rewriter->modules;
    l->loop = stmt;
    l->unit = unit;
    l->loop_scope = l->scope = ofl_scope_of(stmt, unit);
    l->kernel = OFL_NEW(rewriter->arena, struct ofl_kernel);
    l->kernel->stmt = stmt;
    l->kernel->unit = unit;
    l->kernel->name = kernel_name(l);
    if (setjmp(l->refused) != 0) {
        return NULL;
    }
    lower_all(l);
    return l->kernel;
}
