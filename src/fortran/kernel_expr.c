/* Fortran expressions as C expressions of exactly the same value; see kernel.h.
 *
 * Each operation is written with its operands converted as Fortran converts them, in brackets, and with the result cast
 * to its type, so that C's own promotions do not matter.  Types are C's own (`long long` has 64 bits wherever CUDA
 * runs), since NVRTC has no <stdint.h>. */
#include "fortran/kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ofl_c_value nothing;

struct ofl_c_value ofl_kernel_refuse(struct ofl_kernel_builder *builder, struct ofl_span span, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!builder->failed) {
        ofl_diag_unsupported(builder->rewriter->diagnostics, span, "%s in a loop on the device", text);
        if (span.begin < builder->kernel->stmt->span.begin || span.begin >= builder->kernel->stmt->span.end) {
            ofl_diag_note(builder->rewriter->diagnostics, builder->kernel->stmt->span, "the loop begins here");
        }
    }
    builder->failed = true;
    return nothing;
}

const char *ofl_c_type(enum ofl_type_kind type, int kind)
{
    if (type == OFL_TYPE_INTEGER) {
        return kind == 1 ? "signed char" : kind == 2 ? "short" : kind == 4 ? "int" : kind == 8 ? "long long" : NULL;
    }
    if (type == OFL_TYPE_REAL) {
        return kind == 4 ? "float" : kind == 8 ? "double" : NULL;
    }
    return NULL;
}

struct ofl_c_value ofl_kernel_convert(struct ofl_kernel_builder *builder, struct ofl_c_value value,
                                      enum ofl_type_kind type, int kind)
{
    if (value.text != NULL && (value.type != type || value.kind != kind)) {
        value.text = ofl_arena_format(builder->arena, "(%s) %s", ofl_c_type(type, kind), value.text);
        value.text = ofl_arena_format(builder->arena, "(%s)", value.text);
        value.type = type;
        value.kind = kind;
    }
    return value;
}

/* ---- Constants ---- */

/* The kind of a literal; 0 after an error. */
static int literal_kind(struct ofl_kernel_builder *builder, const struct ofl_expr *expr, int otherwise)
{
    const struct ofl_literal *literal = &expr->as.literal;
    int64_t value = literal->kind;
    if (literal->kind_name.name != NULL) {
        struct ofl_symbol *symbol = ofl_scope_find(builder->scope, literal->kind_name.name);
        if (symbol != NULL && symbol->has_integer) {
            value = symbol->integer;
        } else if (symbol == NULL || symbol->value == NULL ||
                   !ofl_constant_integer(builder->rewriter->modules, symbol->scope, symbol->value, &value)) {
            ofl_kernel_refuse(builder, literal->kind_name.span, "a kind whose value is not known in this file, '%s',",
                              literal->kind_name.name->text);
            return 0;
        }
    }
    return value == 0 ? otherwise : (int)value;
}

static struct ofl_c_value integer_value(struct ofl_kernel_builder *builder, int64_t value, int kind)
{
    const char *text = kind == 8 ? ofl_arena_format(builder->arena, "%lldLL", (long long)value)
                                 : ofl_arena_format(builder->arena, "%lld", (long long)value);
    struct ofl_c_value result = {OFL_TYPE_INTEGER, kind, text};
    if (kind < 4) {
        result.text = ofl_arena_format(builder->arena, "((%s) %s)", ofl_c_type(OFL_TYPE_INTEGER, kind), text);
    } else if (value < 0) {
        result.text = ofl_arena_format(builder->arena, "(%s)", text);
    }
    return result;
}

static struct ofl_c_value integer_literal(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    int kind = literal_kind(builder, expr, 4);
    if (kind == 0) {
        return nothing;
    }
    if (ofl_c_type(OFL_TYPE_INTEGER, kind) == NULL || expr->as.literal.value > INT64_MAX) {
        return ofl_kernel_refuse(builder, expr->span, "an integer constant of kind %d", kind);
    }
    return integer_value(builder, (int64_t)expr->as.literal.value, kind);
}

/* Rounded to its kind here and written with as many digits as bring back the same value. */
static struct ofl_c_value real_literal(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    char *text = ofl_arena_text(builder->arena, expr->as.literal.text, expr->as.literal.length);
    bool twice = false;
    for (char *c = text; *c != '\0'; c++) {
        if (strchr("dDqQ", *c) != NULL) {
            twice = *c == 'd' || *c == 'D';
            *c = 'e';
        }
    }
    int kind = literal_kind(builder, expr, twice ? 8 : 4);
    if (kind == 0) {
        return nothing;
    }
    if (ofl_c_type(OFL_TYPE_REAL, kind) == NULL) {
        return ofl_kernel_refuse(builder, expr->span, "a real constant of kind %d", kind);
    }
    struct ofl_c_value result = {OFL_TYPE_REAL, kind, NULL};
    char decimal[64];
    snprintf(decimal, sizeof decimal, kind == 8 ? "%.17g" : "%.9g",
             kind == 8 ? strtod(text, NULL) : (double)strtof(text, NULL));
    bool plain = strpbrk(decimal, ".en") == NULL;
    result.text = ofl_arena_format(builder->arena, "%s%s%s", decimal, plain ? ".0" : "", kind == 8 ? "" : "f");
    return strchr(decimal, 'n') != NULL ? ofl_kernel_refuse(builder, expr->span, "a real constant out of range")
                                        : result;
}

/* ---- Names and elements ---- */

static int index_number(const struct ofl_kernel_builder *builder, const struct ofl_name *name)
{
    for (unsigned i = 0; i < builder->kernel->index_count; i++) {
        if (builder->kernel->indices[i].index->ident.name == name) {
            return (int)i;
        }
    }
    return -1;
}

static bool is_index(const struct ofl_kernel_builder *builder, const struct ofl_name *name)
{
    return index_number(builder, name) >= 0;
}

static struct ofl_c_value named_constant(struct ofl_kernel_builder *builder, const struct ofl_expr *expr,
                                         const struct ofl_symbol *symbol)
{
    int64_t value = symbol->integer;
    bool integer =
        symbol->has_integer || (symbol->rank == 0 && symbol->type.kind_of == OFL_TYPE_INTEGER &&
                                ofl_constant_integer(builder->rewriter->modules, builder->scope, expr, &value));
    if (!integer) {
        return nothing; /* passed as a scalar: the host compiler knows its value */
    }
    return integer_value(builder, value, symbol->type.kind == 0 ? 4 : symbol->type.kind);
}

struct ofl_kernel_variable *ofl_kernel_variable(struct ofl_kernel_builder *builder, const struct ofl_expr *use,
                                                bool element, bool written)
{
    const struct ofl_name *name = use->as.name.name;
    struct ofl_kernel_variable **list = element ? &builder->arrays : &builder->scalars;
    for (; *list != NULL; list = &(*list)->next) {
        if ((*list)->name == name) {
            (*list)->written |= written;
            return *list;
        }
    }
    struct ofl_ident ident = {name, use->span};
    const struct ofl_symbol *symbol = ofl_scope_find_or_implicit(builder->rewriter->modules, builder->scope, &ident);
    if (symbol == NULL || !symbol->typed) {
        ofl_kernel_refuse(builder, use->span, "'%s', whose declaration is not in this file,", name->text);
        return NULL;
    }
    bool data = symbol->class == OFL_SYMBOL_VARIABLE || symbol->class == OFL_SYMBOL_CONSTANT;
    if (!data || (symbol->rank > 0) != element || symbol->rank == OFL_ASSUMED_RANK) {
        ofl_kernel_refuse(builder, use->span, data ? "the whole array '%s'" : "'%s', which is not a variable,",
                          name->text);
        return NULL;
    }
    bool number = symbol->type.kind_of == OFL_TYPE_INTEGER || symbol->type.kind_of == OFL_TYPE_REAL;
    if (number && symbol->type.kind == 0) {
        ofl_kernel_refuse(builder, use->span, "'%s', whose kind comes from a module that is not in this command,",
                          name->text);
        return NULL;
    }
    if (ofl_c_type(symbol->type.kind_of, symbol->type.kind) == NULL) {
        ofl_kernel_refuse(builder, use->span, "'%s', which is neither integer nor real(4) or real(8),", name->text);
        return NULL;
    }
    if (OFL_HAS(symbol, OPTIONAL) || OFL_HAS(symbol, VOLATILE) || symbol->cobounds != NULL) {
        ofl_kernel_refuse(builder, use->span, "'%s', which is optional, volatile or a coarray,", name->text);
        return NULL;
    }
    for (const struct ofl_bound *bound = symbol->bounds; bound != NULL; bound = bound->next) {
        if (bound->form == OFL_BOUND_STAR) {
            ofl_kernel_refuse(builder, use->span, "'%s', whose size is assumed,", name->text);
            return NULL;
        }
    }
    *list = OFL_NEW(builder->arena, struct ofl_kernel_variable);
    **list = (struct ofl_kernel_variable){.name = name,
                                          .symbol = symbol,
                                          .c_name = ofl_kernel_c_name(builder->arena, name->text),
                                          .type = symbol->type.kind_of,
                                          .kind = symbol->type.kind,
                                          .written = written};
    return *list;
}

static struct ofl_c_value name_value(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    const struct ofl_name *name = expr->as.name.name;
    if (is_index(builder, name)) {
        return (struct ofl_c_value){OFL_TYPE_INTEGER, builder->kernel->indices[index_number(builder, name)].kind,
                                    ofl_kernel_c_name(builder->arena, name->text)};
    }
    const struct ofl_symbol *symbol = ofl_scope_find(builder->scope, name);
    if (symbol != NULL && symbol->class == OFL_SYMBOL_CONSTANT) {
        struct ofl_c_value value = named_constant(builder, expr, symbol);
        if (value.text != NULL) {
            return value;
        }
    }
    const struct ofl_kernel_variable *variable = ofl_kernel_variable(builder, expr, false, false);
    if (variable == NULL) {
        return nothing;
    }
    return (struct ofl_c_value){variable->type, variable->kind, variable->c_name};
}

/* `*(T *)((char *)x + i * ofl_x_1 + j * ofl_x_2)`: strides are parameters, lower bounds are in the pointer. */
static struct ofl_c_value element_value(struct ofl_kernel_builder *builder, const struct ofl_expr *expr, bool written)
{
    struct ofl_kernel_variable *array = ofl_kernel_variable(builder, expr->as.call.base, true, written);
    struct ofl_text text = {.arena = builder->arena};
    unsigned dimension = 0;
    if (array == NULL) {
        return nothing;
    }
    ofl_text_print(&text, "(*(%s *)((char *)%s + ", ofl_c_type(array->type, array->kind), array->c_name);
    for (const struct ofl_arg *arg = expr->as.call.args; arg != NULL; arg = arg->next) {
        if (arg->value == NULL || arg->keyword.name != NULL || arg->value->kind == OFL_EXPR_RANGE) {
            return ofl_kernel_refuse(builder, expr->span, "an array section");
        }
        struct ofl_c_value subscript = ofl_kernel_expr(builder, arg->value);
        if (subscript.text == NULL) {
            return nothing;
        }
        if (subscript.type != OFL_TYPE_INTEGER) {
            return ofl_kernel_refuse(builder, arg->value->span, "a subscript that is not an integer");
        }
        subscript = ofl_kernel_convert(builder, subscript, OFL_TYPE_INTEGER, 8);
        ofl_text_print(&text, "%s%s * ofl_%s_%u", dimension == 0 ? "" : " + ", subscript.text, array->c_name,
                       dimension + 1);
        dimension++;
    }
    if (dimension != array->symbol->rank) {
        return ofl_kernel_refuse(builder, expr->span, "a wrong number of subscripts");
    }
    ofl_text_print(&text, "))");
    return (struct ofl_c_value){array->type, array->kind, text.bytes};
}

struct ofl_c_value ofl_kernel_target(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    if (expr->kind != OFL_EXPR_CALL || expr->as.call.base->kind != OFL_EXPR_NAME) {
        return ofl_kernel_refuse(builder, expr->span, "an assignment to anything but an array element");
    }
    return element_value(builder, expr, true);
}

static struct ofl_c_value call_value(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    const struct ofl_expr *base = expr->as.call.base;
    if (base->kind != OFL_EXPR_NAME) {
        return ofl_kernel_refuse(builder, expr->span, "a component or substring");
    }
    const struct ofl_symbol *symbol = ofl_scope_find(builder->scope, base->as.name.name);
    if (symbol != NULL && symbol->rank > 0) {
        return element_value(builder, expr, false);
    }
    if (symbol != NULL && !OFL_HAS(symbol, INTRINSIC)) {
        return ofl_kernel_refuse(builder, expr->span, "a call of '%s'", base->as.name.name->text);
    }
    if (symbol == NULL && builder->scope->open) {
        return ofl_kernel_refuse(builder, expr->span, "'%s', which may be from a module that is not in this file,",
                                 base->as.name.name->text);
    }
    return ofl_kernel_intrinsic(builder, expr);
}

/* ---- Operations ---- */

/* The common type of two operands (Fortran 2018, table 10.2). */
static void promote(struct ofl_kernel_builder *builder, struct ofl_c_value *a, struct ofl_c_value *b)
{
    enum ofl_type_kind type = a->type;
    int kind = a->kind;
    if (a->type == b->type) {
        kind = a->kind > b->kind ? a->kind : b->kind;
    } else if (b->type == OFL_TYPE_REAL) {
        type = b->type;
        kind = b->kind;
    }
    *a = ofl_kernel_convert(builder, *a, type, kind);
    *b = ofl_kernel_convert(builder, *b, type, kind);
}

static struct ofl_c_value with_type(struct ofl_kernel_builder *builder, struct ofl_c_value value)
{
    /* C computes int8_t and int16_t as int. */
    if (value.type == OFL_TYPE_INTEGER && value.kind < 4) {
        value.text = ofl_arena_format(builder->arena, "((%s) %s)", ofl_c_type(value.type, value.kind), value.text);
    }
    return value;
}

static struct ofl_c_value binary_value(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    const char *op;
    switch (expr->as.operation.op) {
    case OFL_OPERATOR_ADD:
        op = "+";
        break;
    case OFL_OPERATOR_SUB:
        op = "-";
        break;
    case OFL_OPERATOR_MUL:
        op = "*";
        break;
    case OFL_OPERATOR_DIV:
        op = "/";
        break;
    case OFL_OPERATOR_POWER:
        return ofl_kernel_power(builder, expr);
    default:
        return ofl_kernel_refuse(builder, expr->span, "the operator '%s'", ofl_operator_text(expr->as.operation.op));
    }
    struct ofl_c_value a = ofl_kernel_expr(builder, expr->as.operation.left);
    struct ofl_c_value b = a.text == NULL ? nothing : ofl_kernel_expr(builder, expr->as.operation.right);
    if (b.text == NULL) {
        return nothing;
    }
    promote(builder, &a, &b);
    a.text = ofl_arena_format(builder->arena, "(%s %s %s)", a.text, op, b.text);
    return with_type(builder, a);
}

struct ofl_c_value ofl_kernel_expr(struct ofl_kernel_builder *builder, const struct ofl_expr *expr)
{
    struct ofl_c_value value;
    switch (expr->kind) {
    case OFL_EXPR_NAME:
        return name_value(builder, expr);
    case OFL_EXPR_INTEGER:
        return integer_literal(builder, expr);
    case OFL_EXPR_REAL:
        return real_literal(builder, expr);
    case OFL_EXPR_CALL:
        return call_value(builder, expr);
    case OFL_EXPR_PAREN:
        return ofl_kernel_expr(builder, expr->as.operation.right);
    case OFL_EXPR_UNARY:
        if (expr->as.operation.op != OFL_OPERATOR_SUB && expr->as.operation.op != OFL_OPERATOR_ADD) {
            break;
        }
        value = ofl_kernel_expr(builder, expr->as.operation.right);
        if (value.text != NULL && expr->as.operation.op == OFL_OPERATOR_SUB) {
            value.text = ofl_arena_format(builder->arena, "(-%s)", value.text);
            value = with_type(builder, value);
        }
        return value;
    case OFL_EXPR_BINARY:
        return binary_value(builder, expr);
    default:
        break;
    }
    return ofl_kernel_refuse(builder, expr->span, "this kind of expression");
}
