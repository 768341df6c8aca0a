/* Array values: views, and operations whose elements are computed when they are asked for; see lower.h.
 *
 * Entry points: ofl_lower_array; ofl_array_element for one element; ofl_materialize to have all of them in memory.
 * Preparing an array evaluates what does not depend on the element (scalar operands, bounds, array-valued functions);
 * elements are computed inside the loops that the consumer makes. */
#include "fortran/lower.h"

#include <string.h>

struct ofl_array *ofl_array_of_view(struct ofl_lower *l, const struct ofl_view *view)
{
    struct ofl_array *array = OFL_NEW(l->arena, struct ofl_array);
    array->kind = OFL_ARRAY_VIEW;
    array->type = view->type;
    array->rank = view->rank;
    array->view = *view;
    array->view.address = ofl_keep(l, view->address, "p");
    for (unsigned d = 0; d < view->rank; d++) {
        array->extent[d] = view->dim[d].extent;
    }
    return array;
}

struct ofl_array *ofl_array_of_value(struct ofl_lower *l, struct ofl_value value)
{
    struct ofl_array *array = OFL_NEW(l->arena, struct ofl_array);
    array->kind = OFL_ARRAY_SCALAR;
    array->type = value.type;
    value.x = ofl_keep(l, value.x, "v");
    array->scalar = value;
    return array;
}

/* ---- Constant arrays ---- */

static void add_number(struct ofl_lower *l, struct ofl_text *text, const struct ofl_constant *constant,
                       enum ofl_k_type memory)
{
    if (ofl_k_is_complex(memory)) {
        enum ofl_k_type part = ofl_k_part(memory);
        ofl_text_print(text, "{%s, %s}", ofl_k_expr_text(ofl_k_real(l->arena, part, (double)constant->re), l->arena),
                       ofl_k_expr_text(ofl_k_real(l->arena, part, (double)constant->im), l->arena));
    } else if (ofl_k_is_real(memory)) {
        ofl_text_print(text, "%s", ofl_k_expr_text(ofl_k_real(l->arena, memory, (double)constant->re), l->arena));
    } else {
        ofl_text_print(text, "%s",
                       ofl_k_expr_text(ofl_k_integer(l->arena, memory == OFL_K_I8 ? OFL_K_I8 : OFL_K_I4,
                                                     (int64_t)constant->integer),
                                       l->arena));
    }
}

/* A constant array of a derived type, made in temporary memory. */
static struct ofl_array *constant_structures(struct ofl_lower *l, const struct ofl_constant *constant,
                                             struct ofl_value_type type, struct ofl_span span)
{
    struct ofl_k_expr *count = ofl_i8(l, (int64_t)constant->count), *extent[OFL_MAX_RANK];
    struct ofl_view line = ofl_temporary_view(l, type, NULL, 1, &count, span), view = line;
    for (size_t i = 0; i < constant->count; i++) {
        struct ofl_k_expr *at = ofl_i8(l, (int64_t)i);
        struct ofl_view element = ofl_element_view(l, &line, &at);
        ofl_assign_value(l, &element, ofl_constant_value(l, constant->elements[i], type, span), span);
    }
    view.rank = constant->rank;
    for (unsigned d = 0; d < view.rank; d++) {
        extent[d] = ofl_i8(l, constant->extent[d]);
        view.dim[d] = (struct ofl_view_dim){.extent = extent[d], .lower = ofl_i8(l, 1)};
    }
    ofl_pack_strides(l, &view, span);
    return ofl_array_of_view(l, &view);
}

/* The elements of a constant as a table in the kernel's text. */
struct ofl_array *ofl_array_constant(struct ofl_lower *l, const struct ofl_constant *constant,
                                     struct ofl_value_type type, const char *name, struct ofl_span span)
{
    struct ofl_view view = {.type = type, .rank = constant->rank, .contiguous = true};
    struct ofl_text text = {.arena = l->arena};
    enum ofl_k_type memory = ofl_k_of(l, view.type, span);
    int64_t bytes = ofl_k_bytes(memory), length = 0;
    if (!ofl_is_number(view.type) && view.type.base != OFL_TYPE_CHARACTER) {
        return constant_structures(l, constant, type, span);
    }
    ofl_text_print(&text, "{");
    for (size_t i = 0; i < constant->count; i++) {
        const struct ofl_constant *element = constant->elements[i];
        ofl_text_print(&text, "%s", i == 0 ? "" : i % 16 == 0 ? ",\n    " : ", ");
        if (view.type.base != OFL_TYPE_CHARACTER) {
            add_number(l, &text, element, memory);
            continue;
        }
        length = (int64_t)element->length;
        for (size_t c = 0; c < element->length; c++) {
            ofl_text_print(&text, "%s%d", c == 0 ? "" : ", ", (int)(signed char)element->text[c]);
        }
    }
    ofl_text_print(&text, "}");
    if (view.type.base == OFL_TYPE_CHARACTER) {
        view.length = ofl_i8(l, length);
        bytes = length;
    }
    bytes *= (int64_t)constant->count;
    name = name != NULL ? name : ofl_arena_format(l->arena, "table_%u", ++l->names);
    if (bytes == 0) {
        bytes = 1;
        text.bytes = (char *)"{0}";
        memory = OFL_K_I1;
    }
    struct ofl_k_var *table = NULL;
    for (struct ofl_k_var *var = l->tables; var != NULL && table == NULL; var = var->next) {
        table = var->bytes == bytes && var->type == memory && strcmp(var->initial, text.bytes) == 0 ? var : NULL;
    }
    table = table != NULL ? table : ofl_new_table(l, name, memory, bytes, text.bytes);
    view.address = ofl_k_address_of(l->arena, table);
    for (unsigned d = 0; d < view.rank; d++) {
        view.dim[d].extent = ofl_i8(l, constant->extent[d]);
        view.dim[d].lower = ofl_i8(l, 1);
    }
    ofl_pack_strides(l, &view, span);
    return ofl_array_of_view(l, &view);
}

/* ---- Operations ---- */

static struct ofl_array *operation(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                   const struct ofl_expr *const *operands, unsigned count)
{
    struct ofl_array *array = OFL_NEW(l->arena, struct ofl_array);
    array->kind = OFL_ARRAY_OPERATION;
    array->type = meaning->type;
    array->rank = meaning->rank;
    array->expr = expr;
    array->meaning = meaning;
    array->count = count;
    array->operands = ofl_arena_alloc(l->arena, (count + 1) * sizeof(struct ofl_array *));
    const struct ofl_array *shape = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (operands[i] == NULL) {
            continue;
        }
        struct ofl_array *operand =
            meaning->call != NULL ? ofl_elemental_argument(l, meaning->call, i) : ofl_lower_array(l, operands[i]);
        array->operands[i] = operand;
        bool better = shape == NULL || (shape->may_be_absent && !operand->may_be_absent);
        shape = operand->rank > 0 && better ? operand : shape;
    }
    if (shape != NULL) {
        memcpy(array->extent, shape->extent, sizeof array->extent);
    }
    return array;
}

static struct ofl_array *function_array(struct ofl_lower *l, const struct ofl_expr *expr,
                                        const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    const struct ofl_intrinsic *intrinsic = call->procedure->intrinsic;
    if (intrinsic != NULL && intrinsic->class == OFL_INTRINSIC_INQUIRY) {
        return ofl_lower_inquiry_array(l, expr, meaning);
    }
    if (intrinsic != NULL && intrinsic->class != OFL_INTRINSIC_ELEMENTAL) {
        return ofl_lower_transformational_array(l, expr, meaning);
    }
    if (intrinsic != NULL || call->elemental) {
        return operation(l, expr, meaning, call->args, call->arg_count);
    }
    struct ofl_view view =
        ofl_lower_call_array(l, call, meaning->kind == OFL_MEANS_FUNCTION ? expr->as.call.base : NULL, expr->span);
    return ofl_array_of_view(l, &view);
}

struct ofl_array *ofl_lower_array(struct ofl_lower *l, const struct ofl_expr *expr)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    if (meaning->rank == 0) {
        return ofl_array_of_value(l, ofl_lower_value(l, expr));
    }
    if (meaning->rank == OFL_ASSUMED_RANK) {
        ofl_lower_refuse(l, expr->span, "an array of assumed rank");
    }
    if (meaning->value != NULL && meaning->value->rank == meaning->rank) {
        return ofl_array_constant(l, meaning->value, meaning->type,
                                  meaning->symbol != NULL ? meaning->symbol->name->text : NULL, expr->span);
    }
    if (meaning->designator || meaning->kind == OFL_MEANS_CONSTANT || meaning->kind == OFL_MEANS_COMPONENT) {
        struct ofl_view view = ofl_lower_view(l, expr);
        return ofl_array_of_view(l, &view);
    }
    switch (meaning->kind) {
    case OFL_MEANS_OPERATION: {
        const struct ofl_expr *operands[2] = {expr->as.operation.left, expr->as.operation.right};
        bool binary = expr->kind == OFL_EXPR_BINARY;
        return operation(l, expr, meaning, binary ? operands : operands + 1, binary ? 2 : 1);
    }
    case OFL_MEANS_FUNCTION:
    case OFL_MEANS_DEFINED:
        return function_array(l, expr, meaning);
    case OFL_MEANS_ARRAY:
        return ofl_lower_constructor(l, expr, meaning);
    case OFL_MEANS_ELEMENT: /* of a constant */
    case OFL_MEANS_SECTION: {
        struct ofl_view view = ofl_lower_view(l, expr);
        return ofl_array_of_view(l, &view);
    }
    default:
        ofl_lower_refuse(l, expr->span, "this array expression");
    }
}

/* ---- Elements ---- */

struct ofl_value ofl_array_element(struct ofl_lower *l, const struct ofl_array *array,
                                   struct ofl_k_expr *const *subscript, struct ofl_span span)
{
    if (array->kind == OFL_ARRAY_SCALAR) {
        return array->scalar;
    }
    if (array->kind == OFL_ARRAY_VIEW) {
        struct ofl_view element = ofl_element_view(l, &array->view, subscript);
        return ofl_load_view(l, &element, span);
    }
    const struct ofl_meaning *meaning = array->meaning;
    if (meaning->call != NULL && meaning->call->procedure->intrinsic == NULL) {
        return ofl_apply_procedure(l, meaning->call, array->operands, subscript, array->expr->span);
    }
    struct ofl_value *values = ofl_arena_alloc(l->arena, (array->count + 2) * sizeof *values);
    for (unsigned i = 0; i < array->count; i++) {
        if (array->operands[i] != NULL) {
            values[i] = ofl_array_element(l, array->operands[i], subscript, span);
        }
    }
    if (meaning->kind == OFL_MEANS_OPERATION) {
        return ofl_apply_operation(l, array->expr, meaning, values[0], values[1]);
    }
    return ofl_apply_intrinsic(l, array->expr, meaning, values, array->count);
}

/* The length of its elements, without computing one. */
static struct ofl_k_expr *length_of(struct ofl_lower *l, const struct ofl_array *array, struct ofl_span span)
{
    if (array->type.base != OFL_TYPE_CHARACTER) {
        return NULL;
    }
    if (array->kind == OFL_ARRAY_SCALAR) {
        return array->scalar.length;
    }
    if (array->kind == OFL_ARRAY_VIEW) {
        return array->view.length;
    }
    if (array->type.length_form == OFL_LENGTH_KNOWN) {
        return ofl_i8(l, array->type.characters);
    }
    bool concat =
        array->meaning->kind == OFL_MEANS_OPERATION && array->expr->kind == OFL_EXPR_BINARY && array->count == 2;
    if (concat) {
        return ofl_op(l, OFL_K_ADD, length_of(l, array->operands[0], span), length_of(l, array->operands[1], span));
    }
    bool plain = array->meaning->kind == OFL_MEANS_OPERATION;
    if (array->meaning->call != NULL && array->meaning->call->procedure->intrinsic != NULL) {
        enum ofl_intrinsic_id id = array->meaning->call->procedure->intrinsic->id;
        plain = id == OFL_INTRINSIC_ADJUSTL || id == OFL_INTRINSIC_ADJUSTR || id == OFL_INTRINSIC_MERGE;
    }
    if (!plain) {
        ofl_lower_refuse(l, span, "a character array whose length only its elements tell");
    }
    return length_of(l, array->operands[0], span);
}

struct ofl_view ofl_temporary_view(struct ofl_lower *l, struct ofl_value_type type, struct ofl_k_expr *length,
                                   unsigned rank, struct ofl_k_expr *const *extent, struct ofl_span span)
{
    struct ofl_view view = {.type = type, .length = length, .rank = rank};
    for (unsigned d = 0; d < rank; d++) {
        view.dim[d].extent = extent[d];
        view.dim[d].lower = ofl_i8(l, 1);
    }
    if (type.base == OFL_TYPE_CLASS) {
        view.type.base = OFL_TYPE_DERIVED;
    }
    struct ofl_k_expr *bytes = ofl_element_bytes(l, type, length, span);
    bytes = ofl_op(l, OFL_K_MUL, bytes, ofl_count(l, rank, extent));
    view.address = ofl_temporary(l, bytes, ofl_k_of(l, type, span));
    ofl_pack_strides(l, &view, span);
    return view;
}

struct ofl_view ofl_materialize(struct ofl_lower *l, const struct ofl_array *array, struct ofl_span span)
{
    struct ofl_k_expr *length = length_of(l, array, span);
    length = length == NULL ? NULL : ofl_keep(l, length, "len");
    struct ofl_view view = ofl_temporary_view(l, array->type, length, array->rank, array->extent, span);
    struct ofl_element_loops loops = ofl_begin_elements(l, array->rank, array->extent);
    struct ofl_view element = ofl_element_view(l, &view, loops.subscript);
    ofl_assign_value(l, &element, ofl_array_element(l, array, loops.subscript, span), span);
    ofl_end_elements(l, &loops);
    return view;
}
