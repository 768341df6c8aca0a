/* The things that declarations list: entities with bounds and initial values, generic specifications, DATA values. */
#include "fortran/parser.h"

/* ---- Values between slashes ------------------------------------------------------------------------------------- */

/* R843 data-stmt-value is [ data-stmt-repeat * ] data-stmt-constant */
static struct ofl_expr *data_value(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_expr *value = ofl_parse_constant(p);
    if (!ofl_accept(p, OFL_TOKEN_STAR)) {
        return value;
    }
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_REPEAT, value->span);
    expr->as.operation.left = value;
    expr->as.operation.right = ofl_parse_constant(p);
    expr->span = ofl_since(p, begin);
    ofl_set_depth(p, expr, value);
    ofl_set_depth(p, expr, expr->as.operation.right);
    return expr;
}

struct ofl_arg *ofl_parse_data_values(struct ofl_parser *p)
{
    static const struct ofl_ident no_keyword;
    struct ofl_arg *first = NULL, **link = &first;
    if (ofl_accept(p, OFL_TOKEN_SLASH)) {
        return NULL;
    }
    do {
        uint32_t begin = p->token.begin;
        struct ofl_expr *value = data_value(p);
        *link = ofl_new_arg(p, no_keyword, value, begin);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_SLASH);
    return first;
}

/* ---- Entities --------------------------------------------------------------------------------------------------- */

/* * char-length behind a name: R723 */
static struct ofl_expr *entity_length(struct ofl_parser *p)
{
    struct ofl_expr *length = NULL;
    uint32_t begin = p->token.begin;
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        if (ofl_accept(p, OFL_TOKEN_STAR)) {
            length = ofl_new_expr(p, OFL_EXPR_STAR, ofl_since(p, begin));
        } else if (ofl_accept(p, OFL_TOKEN_COLON)) {
            length = ofl_new_expr(p, OFL_EXPR_DEFERRED, ofl_since(p, begin));
        } else {
            length = ofl_parse_expr(p);
        }
        ofl_expect(p, OFL_TOKEN_RPAREN);
        return length;
    }
    uint32_t end = begin;
    while (ofl_is_digit(ofl_char(p, end))) {
        end++;
    }
    if (end == begin) {
        ofl_fail_expected(p, "a length");
    }
    length = ofl_new_expr(p, OFL_EXPR_INTEGER, ofl_span_at(p, begin, end));
    length->as.literal.text = ofl_arena_text(p->arena, p->item.text + begin, end - begin);
    length->as.literal.length = end - begin;
    for (uint32_t i = begin; i < end && i - begin < 10; i++) {
        length->as.literal.value = length->as.literal.value * 10 + (uint64_t)(p->item.text[i] - '0');
    }
    ofl_goto(p, end);
    return length;
}

/* R805 initialization is = constant-expr or => null-init or => initial-data-target; also / values / */
static void initialization(struct ofl_parser *p, struct ofl_entity *entity)
{
    if (ofl_accept(p, OFL_TOKEN_EQUALS)) {
        entity->value = ofl_parse_expr(p);
    } else if (ofl_accept(p, OFL_TOKEN_ARROW)) {
        entity->value = ofl_parse_expr(p);
        entity->pointer_value = true;
    } else if (ofl_accept(p, OFL_TOKEN_SLASH)) {
        entity->old_values = ofl_parse_data_values(p);
    }
}

/* What may follow a name: [ ( array-spec ) ] [ [ coarray-spec ] ] [ * char-length ] */
static void entity_shape(struct ofl_parser *p, struct ofl_entity *entity)
{
    if (ofl_accept(p, OFL_TOKEN_STAR)) { /* gfortran also takes the length first */
        entity->length = entity_length(p);
    }
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        entity->bounds = ofl_parse_bounds(p, OFL_TOKEN_RPAREN);
    }
    if (ofl_accept(p, OFL_TOKEN_LBRACKET)) {
        entity->cobounds = ofl_parse_bounds(p, OFL_TOKEN_RBRACKET);
    }
    if (entity->length == NULL && ofl_accept(p, OFL_TOKEN_STAR)) {
        entity->length = entity_length(p);
    }
}

/* R803 entity-decl, R739 component-decl; in attribute statements also / common-name / and R1508 generic-spec.
 * `any`: the latter two may stand here. */
static struct ofl_entity *entity(struct ofl_parser *p, bool any)
{
    uint32_t begin = p->token.begin;
    struct ofl_entity *item = OFL_NEW(p->arena, struct ofl_entity);
    if (any && ofl_accept(p, OFL_TOKEN_SLASH)) {
        item->common_block = true;
        item->ident = ofl_expect_ident(p, "a common block's name");
        ofl_expect(p, OFL_TOKEN_SLASH);
    } else if (any && (ofl_at_keyword(p, "operator (") || ofl_at_keyword(p, "assignment (") ||
                       ofl_at_keyword(p, "read (") || ofl_at_keyword(p, "write ("))) {
        item->generic = ofl_parse_generic_spec(p);
        item->ident.span = item->generic->span;
    } else if (!any && ofl_at(p, OFL_TOKEN_PERCENT)) { /* DEC: %FILL fields of a structure */
        ofl_next(p);
        item->ident = ofl_expect_ident(p, "fill");
        entity_shape(p, item);
    } else {
        item->ident = ofl_expect_ident(p, "a name");
        entity_shape(p, item);
        initialization(p, item);
    }
    item->span = ofl_since(p, begin);
    return item;
}

struct ofl_entity *ofl_parse_entities(struct ofl_parser *p, bool any)
{
    struct ofl_entity *first = NULL, **link = &first;
    do {
        *link = entity(p, any);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    return first;
}

/* ---- Generic specifications ------------------------------------------------------------------------------------- */

/* What stands in OPERATOR ( ... ), from behind its parenthesis.  `/)` is one token, so it is taken apart here. */
static void operator_in_parentheses(struct ofl_parser *p, struct ofl_generic *generic)
{
    unsigned precedence;
    if (ofl_at(p, OFL_TOKEN_RARRAY)) {
        generic->op = OFL_OPERATOR_DIV;
        ofl_goto(p, p->token.begin + 1);
    } else if (ofl_at_keyword(p, ".not.")) {
        generic->op = OFL_OPERATOR_NOT;
        ofl_next(p);
    } else if (ofl_at_operator(p, &generic->op, &precedence)) {
        if (generic->op == OFL_OPERATOR_DEFINED) {
            generic->ident.name =
                ofl_name_of(p->arena, p->item.text + p->token.begin + 1, p->token.end - p->token.begin - 2);
            generic->ident.span = ofl_token_span(p);
        }
        ofl_next(p);
    } else {
        ofl_fail_expected(p, "an operator");
    }
    ofl_expect(p, OFL_TOKEN_RPAREN);
}

/* R1508 generic-spec is generic-name or OPERATOR ( op ) or ASSIGNMENT ( = ) or defined-io-generic-spec */
struct ofl_generic *ofl_parse_generic_spec(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_generic *generic = OFL_NEW(p->arena, struct ofl_generic);
    uint32_t end = ofl_lex_keyword(&p->item, begin, "operator (");
    if (end != 0) {
        generic->kind = OFL_GENERIC_OPERATOR;
        ofl_goto(p, end);
        operator_in_parentheses(p, generic);
    } else if (ofl_keyword(p, "assignment ( = )")) {
        generic->kind = OFL_GENERIC_ASSIGNMENT;
    } else if (ofl_at_keyword(p, "read (") || ofl_at_keyword(p, "write (")) {
        generic->kind = OFL_GENERIC_IO;
        generic->ident = ofl_expect_ident(p, "read or write");
        ofl_expect(p, OFL_TOKEN_LPAREN);
        generic->io_form = ofl_expect_ident(p, "formatted or unformatted");
        ofl_expect(p, OFL_TOKEN_RPAREN);
    } else {
        generic->kind = OFL_GENERIC_NAME;
        generic->ident = ofl_expect_ident(p, "a name, operator(...) or assignment(=)");
    }
    generic->span = ofl_since(p, begin);
    return generic;
}
