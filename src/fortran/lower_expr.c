/* Scalar expressions: exactly the values that gfortran -O2 -ffp-contract=off computes; see lower.h.
 *
 * Entry points: ofl_lower_value; ofl_apply_operation for an operation whose operands have been computed, which array
 * expressions use element by element.  Operands are converted as Fortran converts them, each operation is one of the
 * form's. */
#include "fortran/lower.h"

#include <string.h>

/* ---- Conversions ---- */

/* To a number's type; between types of one base and between numbers. */
struct ofl_value ofl_value_as(struct ofl_lower *l, struct ofl_value value, struct ofl_value_type type,
                              struct ofl_span span)
{
    enum ofl_k_type wanted = ofl_k_value_of(l, type, span);
    bool same = value.type.base == type.base && value.type.kind == type.kind;
    if (!ofl_is_number(type) || !ofl_is_number(value.type)) {
        bool texts = type.base == OFL_TYPE_CHARACTER && value.type.base == type.base;
        bool derived = value.type.derived != NULL && type.derived != NULL;
        if (!texts && !derived) {
            ofl_lower_refuse(l, span, "a conversion of %s to %s", ofl_type_text(l->modules, value.type),
                             ofl_type_text(l->modules, type));
        }
        return value;
    }
    value.type = type;
    if (same) {
        return value;
    }
    if (wanted == OFL_K_BOOL || value.x->type == OFL_K_BOOL) {
        value.x = wanted == value.x->type ? value.x : ofl_to(l, wanted, value.x);
        return value;
    }
    if (ofl_k_is_complex(value.x->type) && ofl_k_is_complex(wanted)) {
        struct ofl_k_expr *z = ofl_keep(l, value.x, "z");
        value.x = ofl_k_complex(l->arena, ofl_to(l, ofl_k_part(wanted), ofl_k_unary(l->arena, OFL_K_RE, z)),
                                ofl_to(l, ofl_k_part(wanted), ofl_k_unary(l->arena, OFL_K_IM, z)));
    } else if (ofl_k_is_complex(value.x->type)) {
        value.x = ofl_to(l, wanted, ofl_k_unary(l->arena, OFL_K_RE, value.x));
    } else if (ofl_k_is_complex(wanted)) {
        enum ofl_k_type part = ofl_k_part(wanted);
        value.x = ofl_k_complex(l->arena, ofl_to(l, part, value.x), ofl_k_real(l->arena, part, 0));
    } else {
        value.x = ofl_to(l, wanted, value.x);
    }
    return value;
}

/* The type in which an operation on two numbers is computed. */
static struct ofl_value_type wider(struct ofl_value_type a, struct ofl_value_type b)
{
    static const int ranks[] = {[OFL_TYPE_INTEGER] = 1, [OFL_TYPE_REAL] = 2, [OFL_TYPE_COMPLEX] = 3};
    if (a.base == b.base) {
        return a.kind >= b.kind ? a : b;
    }
    struct ofl_value_type type = ranks[a.base] > ranks[b.base] ? a : b, other = ranks[a.base] > ranks[b.base] ? b : a;
    if (other.base != OFL_TYPE_INTEGER && other.kind > type.kind) {
        type.kind = other.kind;
    }
    return type;
}

/* ---- Constants ---- */

struct ofl_value ofl_constant_text(struct ofl_lower *l, const char *text, size_t length)
{
    struct ofl_value value = {.type = {.base = OFL_TYPE_CHARACTER, .kind = 1}};
    struct ofl_text initial = {.arena = l->arena};
    struct ofl_k_var *table = NULL;
    ofl_text_print(&initial, "{");
    for (size_t i = 0; i < length; i++) {
        ofl_text_print(&initial, "%s%d", i == 0 ? "" : ", ", (int)(signed char)text[i]);
    }
    ofl_text_print(&initial, length == 0 ? "0}" : "}");
    int64_t bytes = length == 0 ? 1 : (int64_t)length;
    for (struct ofl_k_var *var = l->tables; var != NULL && table == NULL; var = var->next) {
        table = var->bytes == bytes && var->type == OFL_K_I1 && strcmp(var->initial, initial.bytes) == 0 ? var : NULL;
    }
    if (table == NULL) {
        table = ofl_new_table(l, ofl_arena_format(l->arena, "text_%u", ++l->names), OFL_K_I1, bytes, initial.bytes);
    }
    value.x = ofl_k_address_of(l->arena, table);
    value.length = ofl_i8(l, (int64_t)length);
    return value;
}

static struct ofl_value constant_structure(struct ofl_lower *l, const struct ofl_constant *constant,
                                           struct ofl_value_type type, struct ofl_span span)
{
    struct ofl_view whole = ofl_temporary_view(l, type, NULL, 0, NULL, span);
    size_t count;
    struct ofl_symbol **components = ofl_type_components(l->modules, type.derived, &count);
    for (size_t i = 0; i < count && i < constant->count; i++) {
        struct ofl_component part = ofl_component_place(l, type.derived, components[i], span);
        if (constant->elements[i] == NULL || !part.plain) {
            ofl_lower_refuse(l, span, "this constant of type '%s'", type.derived->name->text);
        }
        struct ofl_view view = ofl_component_view(l, &whole, &part, span);
        const struct ofl_constant *element = constant->elements[i];
        struct ofl_array *value = element->rank > 0
                                      ? ofl_array_constant(l, element, part.type, NULL, span)
                                      : ofl_array_of_value(l, ofl_constant_value(l, element, part.type, span));
        ofl_assign_array(l, &view, value, span);
    }
    return ofl_load_view(l, &whole, span);
}

struct ofl_value ofl_constant_value(struct ofl_lower *l, const struct ofl_constant *constant,
                                    struct ofl_value_type type, struct ofl_span span)
{
    struct ofl_value value = {.type = type};
    if (constant->base == OFL_TYPE_DERIVED) {
        return constant_structure(l, constant, type, span);
    }
    if (constant->base == OFL_TYPE_CHARACTER) {
        ofl_k_of(l, type, span);
        value = ofl_constant_text(l, constant->text, constant->length);
        value.type = type;
        return value;
    }
    value.type = ofl_kind_type(constant->base, constant->kind);
    enum ofl_k_type k = ofl_k_value_of(l, value.type, span);
    if (ofl_k_is_complex(k)) {
        enum ofl_k_type part = ofl_k_part(k);
        value.x = ofl_k_complex(l->arena, ofl_k_real(l->arena, part, (double)constant->re),
                                ofl_k_real(l->arena, part, (double)constant->im));
    } else if (ofl_k_is_real(k)) {
        value.x = ofl_k_real(l->arena, k, (double)constant->re);
    } else {
        value.x = ofl_k_integer(l->arena, k, (int64_t)constant->integer);
    }
    return value;
}

/* ---- Operations ---- */

/* For numbers and characters, and logicals under .eqv. */
struct ofl_k_expr *ofl_equal(struct ofl_lower *l, enum ofl_operator op, struct ofl_value a, struct ofl_value b,
                             struct ofl_span span)
{
    static const enum ofl_k_op ops[OFL_OPERATOR_COUNT] = {
        [OFL_OPERATOR_EQ] = OFL_K_EQ, [OFL_OPERATOR_NE] = OFL_K_NE, [OFL_OPERATOR_LT] = OFL_K_LT,
        [OFL_OPERATOR_LE] = OFL_K_LE, [OFL_OPERATOR_GT] = OFL_K_GT, [OFL_OPERATOR_GE] = OFL_K_GE};
    if (a.type.base == OFL_TYPE_CHARACTER && b.type.base == OFL_TYPE_CHARACTER) {
        ofl_k_of(l, a.type, span);
        return ofl_op(l, ops[op], ofl_compare_text(l, a, b), ofl_k_integer(l->arena, OFL_K_I4, 0));
    }
    bool numbers = ofl_is_number(a.type) && ofl_is_number(b.type) && a.type.base != OFL_TYPE_LOGICAL &&
                   b.type.base != OFL_TYPE_LOGICAL;
    if (!numbers) {
        ofl_lower_refuse(l, span, "this comparison");
    }
    struct ofl_value_type type = wider(a.type, b.type);
    return ofl_op(l, ops[op], ofl_value_as(l, a, type, span).x, ofl_value_as(l, b, type, span).x);
}

static struct ofl_k_expr *logical_operation(struct ofl_lower *l, enum ofl_operator op, struct ofl_k_expr *a,
                                            struct ofl_k_expr *b)
{
    switch (op) {
    case OFL_OPERATOR_AND:
        return ofl_op(l, OFL_K_AND, a, b);
    case OFL_OPERATOR_OR:
        return ofl_op(l, OFL_K_OR, a, b);
    case OFL_OPERATOR_EQV:
        return ofl_op(l, OFL_K_EQ, ofl_to(l, OFL_K_I4, a), ofl_to(l, OFL_K_I4, b));
    default: /* .neqv., .xor. */
        return ofl_op(l, OFL_K_NE, ofl_to(l, OFL_K_I4, a), ofl_to(l, OFL_K_I4, b));
    }
}

static struct ofl_value apply_unary(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                    struct ofl_value a)
{
    if (expr->kind == OFL_EXPR_PAREN || expr->as.operation.op == OFL_OPERATOR_ADD) {
        return a;
    }
    a.type = meaning->type;
    if (expr->as.operation.op == OFL_OPERATOR_NOT && a.x->type == OFL_K_BOOL) {
        a.x = ofl_not(l, a.x);
    } else if (expr->as.operation.op == OFL_OPERATOR_SUB && ofl_is_number(a.type)) {
        a.x = ofl_k_unary(l->arena, OFL_K_NEG, a.x);
    } else {
        ofl_lower_refuse(l, expr->span, "the operator '%s' on %s", ofl_operator_text(expr->as.operation.op),
                         ofl_type_text(l->modules, a.type));
    }
    return a;
}

struct ofl_value ofl_apply_operation(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning, struct ofl_value a, struct ofl_value b)
{
    static const enum ofl_k_op ops[OFL_OPERATOR_COUNT] = {[OFL_OPERATOR_ADD] = OFL_K_ADD,
                                                          [OFL_OPERATOR_SUB] = OFL_K_SUB,
                                                          [OFL_OPERATOR_MUL] = OFL_K_MUL,
                                                          [OFL_OPERATOR_DIV] = OFL_K_DIV};
    enum ofl_operator op = expr->as.operation.op;
    struct ofl_value value = {.type = meaning->type};
    if (expr->kind != OFL_EXPR_BINARY) {
        return apply_unary(l, expr, meaning, a);
    }
    switch (op) {
    case OFL_OPERATOR_ADD:
    case OFL_OPERATOR_SUB:
    case OFL_OPERATOR_MUL:
    case OFL_OPERATOR_DIV: {
        struct ofl_k_expr *x = ofl_value_as(l, a, meaning->type, expr->span).x;
        value.x = ofl_op(l, ops[op], x, ofl_value_as(l, b, meaning->type, expr->span).x);
        break;
    }
    case OFL_OPERATOR_POWER:
        return ofl_apply_power(l, expr, meaning->type, a, b);
    case OFL_OPERATOR_CONCAT:
        ofl_k_of(l, meaning->type, expr->span);
        return ofl_concatenate(l, a, b);
    case OFL_OPERATOR_EQ:
    case OFL_OPERATOR_NE:
    case OFL_OPERATOR_LT:
    case OFL_OPERATOR_LE:
    case OFL_OPERATOR_GT:
    case OFL_OPERATOR_GE:
        value.x = ofl_equal(l, op, a, b, expr->span);
        break;
    case OFL_OPERATOR_AND:
    case OFL_OPERATOR_OR:
    case OFL_OPERATOR_EQV:
    case OFL_OPERATOR_NEQV:
    case OFL_OPERATOR_XOR:
        if (a.x->type != OFL_K_BOOL || b.x->type != OFL_K_BOOL) {
            ofl_lower_refuse(l, expr->span, "the operator '%s' on integers", ofl_operator_text(op));
        }
        value.x = logical_operation(l, op, a.x, b.x);
        break;
    default:
        ofl_lower_refuse(l, expr->span, "the operator '%s'", ofl_operator_text(op));
    }
    return value;
}

/* a .and. b: what b needs computed first is computed only where a is true, so that b may rely on a. */
static struct ofl_value short_circuit(struct ofl_lower *l, const struct ofl_expr *expr,
                                      const struct ofl_meaning *meaning)
{
    bool and = expr->as.operation.op == OFL_OPERATOR_AND;
    struct ofl_value a = ofl_lower_value(l, expr->as.operation.left);
    struct ofl_k_block first = {0}, *outer = l->block;
    l->block = &first;
    struct ofl_value b = ofl_lower_value(l, expr->as.operation.right);
    l->block = outer;
    if (a.x->type != OFL_K_BOOL || b.x->type != OFL_K_BOOL) {
        ofl_lower_refuse(l, expr->span, "the operator '%s' on integers", ofl_operator_text(expr->as.operation.op));
    }
    if (first.first == NULL) {
        struct ofl_value value = {.type = meaning->type, .x = ofl_op(l, and? OFL_K_AND : OFL_K_OR, a.x, b.x)};
        return value;
    }
    struct ofl_k_var *var = ofl_new_var(l, "ofl_b", OFL_K_BOOL);
    var->name = ofl_arena_format(l->arena, "ofl_b%u", ++l->names);
    ofl_set(l, var, a.x);
    struct ofl_k_block *around = ofl_begin_if(l, and? ofl_get(l, var) : ofl_not(l, ofl_get(l, var)));
    *l->block = first;
    ofl_set(l, var, b.x);
    ofl_end(l, around);
    return (struct ofl_value){.type = meaning->type, .x = ofl_get(l, var)};
}

static struct ofl_value operation_value(struct ofl_lower *l, const struct ofl_expr *expr,
                                        const struct ofl_meaning *meaning)
{
    enum ofl_operator op = expr->as.operation.op;
    struct ofl_value none = {0};
    if (expr->kind != OFL_EXPR_BINARY) {
        return ofl_apply_operation(l, expr, meaning, ofl_lower_value(l, expr->as.operation.right), none);
    }
    if (op == OFL_OPERATOR_AND || op == OFL_OPERATOR_OR) {
        return short_circuit(l, expr, meaning);
    }
    struct ofl_value a = ofl_lower_value(l, expr->as.operation.left);
    return ofl_apply_operation(l, expr, meaning, a, ofl_lower_value(l, expr->as.operation.right));
}

/* ---- Functions and the rest ---- */

static struct ofl_value function_value(struct ofl_lower *l, const struct ofl_expr *expr,
                                       const struct ofl_meaning *meaning)
{
    const struct ofl_call *call = meaning->call;
    const struct ofl_intrinsic *intrinsic = call->procedure->intrinsic;
    if (intrinsic == NULL) {
        return ofl_lower_call(l, call, expr->as.call.base, expr->span);
    }
    if (intrinsic->class == OFL_INTRINSIC_INQUIRY) {
        return ofl_lower_inquiry(l, expr, meaning);
    }
    if (intrinsic->class == OFL_INTRINSIC_TRANSFORMATIONAL) {
        return ofl_lower_transformational(l, expr, meaning);
    }
    struct ofl_value *args = ofl_arena_alloc(l->arena, (call->arg_count + 1) * sizeof *args);
    for (unsigned i = 0; i < call->arg_count; i++) {
        if (call->args[i] != NULL) {
            args[i] = ofl_lower_value(l, call->args[i]);
        }
    }
    return ofl_apply_intrinsic(l, expr, meaning, args, call->arg_count);
}

static struct ofl_value complex_value(struct ofl_lower *l, const struct ofl_expr *expr,
                                      const struct ofl_meaning *meaning)
{
    struct ofl_value_type part = ofl_kind_type(OFL_TYPE_REAL, meaning->type.kind);
    struct ofl_k_expr *re = ofl_value_as(l, ofl_lower_value(l, expr->as.complex.re), part, expr->span).x;
    struct ofl_k_expr *im = ofl_value_as(l, ofl_lower_value(l, expr->as.complex.im), part, expr->span).x;
    return (struct ofl_value){.type = meaning->type, .x = ofl_k_complex(l->arena, re, im)};
}

struct ofl_value ofl_lower_value(struct ofl_lower *l, const struct ofl_expr *expr)
{
    const struct ofl_meaning *meaning = ofl_lower_meaning(l, expr);
    if (meaning->rank != 0) {
        ofl_lower_refuse(l, expr->span, "an array here");
    }
    if (meaning->value != NULL) {
        return ofl_constant_value(l, meaning->value, meaning->type, expr->span);
    }
    switch (meaning->kind) {
    case OFL_MEANS_VARIABLE:
    case OFL_MEANS_CONSTANT:
    case OFL_MEANS_ELEMENT:
    case OFL_MEANS_SUBSTRING:
    case OFL_MEANS_COMPONENT:
    case OFL_MEANS_PART: {
        struct ofl_view view = ofl_lower_view(l, expr);
        struct ofl_value value = ofl_load_view(l, &view, expr->span);
        return value;
    }
    case OFL_MEANS_FUNCTION:
        return function_value(l, expr, meaning);
    case OFL_MEANS_DEFINED:
        return ofl_lower_call(l, meaning->call, NULL, expr->span);
    case OFL_MEANS_STRUCTURE:
        return ofl_lower_structure(l, expr, meaning);
    case OFL_MEANS_OPERATION:
        return operation_value(l, expr, meaning);
    case OFL_MEANS_COMPLEX:
        return complex_value(l, expr, meaning);
    case OFL_MEANS_PARAMETER: {
        struct ofl_view view = ofl_lower_view(l, meaning->base);
        if (view.length != NULL) {
            return (struct ofl_value){.type = meaning->type, .x = ofl_to(l, OFL_K_I4, view.length)};
        }
        break;
    }
    default:
        break;
    }
    ofl_lower_refuse(l, expr->span, "this kind of expression");
}

struct ofl_k_expr *ofl_lower_integer(struct ofl_lower *l, const struct ofl_expr *expr)
{
    struct ofl_value value = ofl_lower_value(l, expr);
    if (value.type.base != OFL_TYPE_INTEGER) {
        ofl_lower_refuse(l, expr->span, "an expression here that is no integer");
    }
    return ofl_to(l, OFL_K_I8, value.x);
}

struct ofl_k_expr *ofl_lower_condition(struct ofl_lower *l, const struct ofl_expr *expr)
{
    struct ofl_value value = ofl_lower_value(l, expr);
    if (value.x->type != OFL_K_BOOL) {
        ofl_lower_refuse(l, expr->span, "a condition that is no logical");
    }
    return value.x;
}
