/* The tree as S-expressions: one statement a line, indented by nesting.
 *
 * For tests and for people: compact, complete for what a statement contains, stable.  Names are as interned; a label
 * stands before its statement as 10:, spans are not shown. */
#include "fortran/dump.h"

#include <inttypes.h>

static const char *text_of(const struct ofl_name *name)
{
    return name != NULL ? name->text : "";
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

static void dump_optional(const char *label, const struct ofl_expr *expr, FILE *stream)
{
    if (expr != NULL) {
        fprintf(stream, " %s", label);
        ofl_dump_expr(expr, stream);
    }
}

void ofl_dump_type(const struct ofl_type_spec *type, FILE *stream)
{
    static const char *const names[] = {
        [OFL_TYPE_INTEGER] = "integer",
        [OFL_TYPE_REAL] = "real",
        [OFL_TYPE_DOUBLE_PRECISION] = "double",
        [OFL_TYPE_COMPLEX] = "complex",
        [OFL_TYPE_DOUBLE_COMPLEX] = "double-complex",
        [OFL_TYPE_LOGICAL] = "logical",
        [OFL_TYPE_CHARACTER] = "character",
        [OFL_TYPE_BYTE] = "byte",
        [OFL_TYPE_DERIVED] = "type",
        [OFL_TYPE_CLASS] = "class",
        [OFL_TYPE_CLASS_STAR] = "class-star",
        [OFL_TYPE_ASSUMED] = "type-star",
        [OFL_TYPE_RECORD] = "record",
        [OFL_TYPE_VECTOR] = "vector",
    };
    fprintf(stream, "<%s", names[type->kind]);
    if (type->name.name != NULL) {
        fprintf(stream, " %s", type->name.name->text);
    }
    if (type->parameters != NULL) {
        ofl_dump_args(type->parameters, stream);
    }
    dump_optional(type->by_bytes ? "*" : "kind=", type->kind_value, stream);
    dump_optional("len=", type->length, stream);
    if (type->element != NULL) {
        ofl_dump_type(type->element, stream);
    }
    fputc('>', stream);
}

static void dump_bounds(const struct ofl_bound *bounds, const char *brackets, FILE *stream)
{
    if (bounds == NULL) {
        return;
    }
    fputc(brackets[0], stream);
    for (const struct ofl_bound *bound = bounds; bound != NULL; bound = bound->next) {
        if (bound->lower != NULL) {
            ofl_dump_expr(bound->lower, stream);
            fputc(':', stream);
        }
        switch (bound->form) {
        case OFL_BOUND_EXPLICIT:
            ofl_dump_expr(bound->upper, stream);
            break;
        case OFL_BOUND_SHAPE:
            fputs(bound->lower == NULL ? ":" : "", stream);
            break;
        case OFL_BOUND_STAR:
            fputc('*', stream);
            break;
        case OFL_BOUND_RANK:
            fputs("..", stream);
            break;
        }
        fputs(bound->next != NULL ? "," : "", stream);
    }
    fputc(brackets[1], stream);
}

void ofl_dump_attrs(const struct ofl_attr *attrs, FILE *stream)
{
    for (; attrs != NULL; attrs = attrs->next) {
        fprintf(stream, " %s", ofl_attr_text(attrs->kind));
        dump_bounds(attrs->bounds, attrs->kind == OFL_ATTR_CODIMENSION ? "[]" : "()", stream);
        if (attrs->name.name != NULL) {
            fprintf(stream, "(%s)", attrs->name.name->text);
        }
        if (attrs->args != NULL) {
            ofl_dump_args(attrs->args, stream);
        }
    }
}

void ofl_dump_generic(const struct ofl_generic *generic, FILE *stream)
{
    switch (generic->kind) {
    case OFL_GENERIC_NAME:
        fputs(text_of(generic->ident.name), stream);
        break;
    case OFL_GENERIC_OPERATOR:
        if (generic->op == OFL_OPERATOR_DEFINED) {
            fprintf(stream, "operator(.%s.)", text_of(generic->ident.name));
        } else {
            fprintf(stream, "operator(%s)", ofl_operator_text(generic->op));
        }
        break;
    case OFL_GENERIC_ASSIGNMENT:
        fputs("assignment(=)", stream);
        break;
    case OFL_GENERIC_IO:
        fprintf(stream, "%s(%s)", text_of(generic->ident.name), text_of(generic->io_form.name));
        break;
    }
}

void ofl_dump_entities(const struct ofl_entity *entities, FILE *stream)
{
    for (; entities != NULL; entities = entities->next) {
        fputc(' ', stream);
        if (entities->generic != NULL) {
            ofl_dump_generic(entities->generic, stream);
        } else {
            fprintf(stream, entities->common_block ? "/%s/" : "%s", text_of(entities->ident.name));
        }
        dump_bounds(entities->bounds, "()", stream);
        dump_bounds(entities->cobounds, "[]", stream);
        if (entities->length != NULL) {
            fputc('*', stream);
            ofl_dump_expr(entities->length, stream);
        }
        if (entities->value != NULL) {
            fputs(entities->pointer_value ? "=>" : "=", stream);
            ofl_dump_expr(entities->value, stream);
        }
        if (entities->old_values != NULL) {
            fputc('/', stream);
            ofl_dump_args(entities->old_values, stream);
            fputc('/', stream);
        }
    }
}

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

void ofl_dump_args(const struct ofl_arg *args, FILE *stream)
{
    fputc('(', stream);
    for (; args != NULL; args = args->next) {
        if (args->keyword.name != NULL) {
            fprintf(stream, "%s=", args->keyword.name->text);
        }
        if (args->value != NULL) {
            ofl_dump_expr(args->value, stream);
        }
        fputs(args->next != NULL ? " " : "", stream);
    }
    fputc(')', stream);
}

static void dump_literal(const struct ofl_literal *literal, FILE *stream)
{
    fwrite(literal->text, 1, literal->length, stream);
    if (literal->kind_name.name != NULL) {
        fprintf(stream, "_%s", literal->kind_name.name->text);
    } else if (literal->kind != 0) {
        fprintf(stream, "_%" PRId32, literal->kind);
    }
}

static void dump_range(const struct ofl_expr *expr, FILE *stream)
{
    fputs("(:", stream);
    const struct ofl_expr *parts[] = {expr->as.range.lower, expr->as.range.upper, expr->as.range.step};
    for (int i = 0; i < (expr->as.range.has_step ? 3 : 2); i++) {
        fputc(' ', stream);
        if (parts[i] != NULL) {
            ofl_dump_expr(parts[i], stream);
        } else {
            fputc('_', stream);
        }
    }
    fputc(')', stream);
}

static void dump_operation(const struct ofl_expr *expr, FILE *stream)
{
    if (expr->as.operation.op == OFL_OPERATOR_DEFINED) {
        fprintf(stream, "(.%s.", text_of(expr->as.operation.defined));
    } else {
        fprintf(stream, "(%s", ofl_operator_text(expr->as.operation.op));
    }
    if (expr->kind == OFL_EXPR_BINARY) {
        fputc(' ', stream);
        ofl_dump_expr(expr->as.operation.left, stream);
    }
    fputc(' ', stream);
    ofl_dump_expr(expr->as.operation.right, stream);
    fputc(')', stream);
}

static void dump_implied_do(const struct ofl_expr *expr, FILE *stream)
{
    fputs("(do ", stream);
    ofl_dump_args(expr->as.implied_do.items, stream);
    fputc(' ', stream);
    if (expr->as.implied_do.type != NULL) {
        ofl_dump_type(expr->as.implied_do.type, stream);
    }
    fprintf(stream, "%s=", text_of(expr->as.implied_do.index.name));
    ofl_dump_expr(expr->as.implied_do.first, stream);
    dump_optional("", expr->as.implied_do.last, stream);
    dump_optional("", expr->as.implied_do.step, stream);
    fputc(')', stream);
}

void ofl_dump_expr(const struct ofl_expr *expr, FILE *stream)
{
    switch (expr->kind) {
    case OFL_EXPR_NAME:
        fputs(text_of(expr->as.name.name), stream);
        break;
    case OFL_EXPR_INTEGER:
    case OFL_EXPR_REAL:
    case OFL_EXPR_LOGICAL:
    case OFL_EXPR_CHARACTER:
    case OFL_EXPR_HOLLERITH:
    case OFL_EXPR_BOZ:
        dump_literal(&expr->as.literal, stream);
        break;
    case OFL_EXPR_COMPLEX:
        fputs("(complex ", stream);
        ofl_dump_expr(expr->as.complex.re, stream);
        fputc(' ', stream);
        ofl_dump_expr(expr->as.complex.im, stream);
        fputc(')', stream);
        break;
    case OFL_EXPR_CALL:
    case OFL_EXPR_COINDEX:
        ofl_dump_expr(expr->as.call.base, stream);
        fputs(expr->kind == OFL_EXPR_COINDEX ? "@" : "", stream);
        ofl_dump_args(expr->as.call.args, stream);
        break;
    case OFL_EXPR_COMPONENT:
        ofl_dump_expr(expr->as.component.base, stream);
        fprintf(stream, "%%%s", text_of(expr->as.component.name.name));
        break;
    case OFL_EXPR_UNARY:
    case OFL_EXPR_BINARY:
        dump_operation(expr, stream);
        break;
    case OFL_EXPR_PAREN:
        fputs("(paren ", stream);
        ofl_dump_expr(expr->as.operation.right, stream);
        fputc(')', stream);
        break;
    case OFL_EXPR_ARRAY:
        fputc('[', stream);
        if (expr->as.array.type != NULL) {
            ofl_dump_type(expr->as.array.type, stream);
        }
        ofl_dump_args(expr->as.array.items, stream);
        fputc(']', stream);
        break;
    case OFL_EXPR_IMPLIED_DO:
        dump_implied_do(expr, stream);
        break;
    case OFL_EXPR_RANGE:
        dump_range(expr, stream);
        break;
    case OFL_EXPR_STAR:
        fputc('*', stream);
        break;
    case OFL_EXPR_DEFERRED:
        fputc(':', stream);
        break;
    case OFL_EXPR_LABEL:
        fprintf(stream, "*%" PRIu64, expr->as.literal.value);
        break;
    case OFL_EXPR_PERCENT:
        fprintf(stream, "(%%%s ", text_of(expr->as.percent.function));
        ofl_dump_expr(expr->as.percent.value, stream);
        fputc(')', stream);
        break;
    case OFL_EXPR_REPEAT:
        fputs("(repeat ", stream);
        ofl_dump_expr(expr->as.operation.left, stream);
        fputc(' ', stream);
        ofl_dump_expr(expr->as.operation.right, stream);
        fputc(')', stream);
        break;
    case OFL_EXPR_DOTDOT:
        fputs("..", stream);
        break;
    }
}
