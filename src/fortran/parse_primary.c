/* Operands: names and what follows them, literals, brackets, array constructors, implied do loops.
 *
 * Entry point: ofl_parse_primary.  What an opening parenthesis begins (an expression in parentheses, a complex
 * constant, an implied do) is known only behind its first comma, so all three are read by one function, without going
 * back. */
#include "fortran/parser.h"

#include <string.h>

struct ofl_expr *ofl_name_expr(struct ofl_parser *p, struct ofl_ident ident)
{
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_NAME, ident.span);
    expr->as.name.name = ident.name;
    return expr;
}

struct ofl_arg *ofl_new_arg(struct ofl_parser *p, struct ofl_ident keyword, struct ofl_expr *value, uint32_t begin)
{
    struct ofl_arg *arg = OFL_NEW(p->arena, struct ofl_arg);
    arg->keyword = keyword;
    arg->value = value;
    arg->span = ofl_since(p, begin);
    return arg;
}

/* ---- Literals --------------------------------------------------------------------------------------------------- */

/* `_kind` behind a number or logical constant: R708, R714, R725. */
static void accept_kind(struct ofl_parser *p, struct ofl_literal *literal)
{
    uint32_t at = p->behind;
    if (ofl_char(p, at) != '_' || ofl_char(p, at + 1) == '\'' || ofl_char(p, at + 1) == '"') {
        return;
    }
    uint32_t begin = ++at;
    while (ofl_is_digit(ofl_char(p, at))) {
        at++;
    }
    if (at > begin && at - begin < 9) {
        for (uint32_t i = begin; i < at; i++) {
            literal->kind = literal->kind * 10 + (p->item.text[i] - '0');
        }
    } else {
        while (ofl_is_name_character(ofl_char(p, at))) {
            at++;
        }
        if (at == begin) {
            ofl_fail_expected(p, "a kind behind '_'");
        }
        literal->kind_name.name = ofl_name_of(p->arena, p->item.text + begin, at - begin);
        literal->kind_name.span = ofl_span_at(p, begin, at);
    }
    ofl_goto(p, at);
}

static struct ofl_expr *literal(struct ofl_parser *p, enum ofl_expr_kind kind)
{
    struct ofl_expr *expr = ofl_new_expr(p, kind, ofl_token_span(p));
    expr->as.literal.length = p->token.end - p->token.begin;
    expr->as.literal.text = ofl_arena_text(p->arena, p->item.text + p->token.begin, expr->as.literal.length);
    return expr;
}

/* R708 int-literal-constant is digit-string [ _ kind-param ]
 * R714 real-literal-constant.  A digit string before _ and a quote is the kind of a character constant. */
static struct ofl_expr *number(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_expr *expr = literal(p, ofl_at(p, OFL_TOKEN_REAL) ? OFL_EXPR_REAL : OFL_EXPR_INTEGER);
    if (expr->kind == OFL_EXPR_INTEGER) {
        uint64_t value = 0;
        for (const char *digit = expr->as.literal.text; *digit != '\0'; digit++) {
            uint64_t more = (uint64_t)(*digit - '0');
            value = value > (UINT64_MAX - more) / 10 ? UINT64_MAX : value * 10 + more;
        }
        expr->as.literal.value = value;
    }
    ofl_next(p);
    accept_kind(p, &expr->as.literal);
    expr->span = ofl_since(p, begin);
    return expr;
}

/* Is the character constant at hand followed directly by the letter of a BOZ constant, as in '7f'x? */
static bool boz_suffix(const struct ofl_parser *p)
{
    char letter = (char)(ofl_char(p, p->token.end) | 0x20);
    if ((letter != 'b' && letter != 'o' && letter != 'z' && letter != 'x') ||
        ofl_is_name_character(ofl_char(p, p->token.end + 1)) || p->token.end - p->token.begin < 3) {
        return false;
    }
    for (uint32_t i = p->token.begin + 1; i < p->token.end - 1; i++) {
        char c = p->item.text[i];
        if (!ofl_is_digit(c) && c != ' ' && !((c | 0x20) >= 'a' && (c | 0x20) <= 'f')) {
            return false;
        }
    }
    return true;
}

/* R724 char-literal-constant is [ kind-param _ ] quoted; the prefix, if any, has been taken. */
static struct ofl_expr *character(struct ofl_parser *p)
{
    if (boz_suffix(p)) {
        p->token.end++;
        struct ofl_expr *boz = literal(p, OFL_EXPR_BOZ);
        ofl_next(p);
        return boz;
    }
    struct ofl_expr *expr = literal(p, OFL_EXPR_CHARACTER);
    ofl_next(p);
    return expr;
}

/* kind_'text' and 1_'text' */
static struct ofl_expr *prefixed_character(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_literal prefix = {0};
    if (p->token.kind == OFL_TOKEN_NAME) {
        prefix.kind_name.name = ofl_name_of(p->arena, p->item.text + begin, p->token.end - begin - 1);
        prefix.kind_name.span = ofl_span_at(p, begin, p->token.end - 1);
        ofl_next(p);
    } else {
        struct ofl_expr *kind = number(p);
        prefix.kind = kind->as.literal.value < 1000 ? (int32_t)kind->as.literal.value : 0;
        ofl_goto(p, p->behind + 1);
    }
    if (!ofl_at(p, OFL_TOKEN_CHARACTER)) {
        ofl_fail_expected(p, "a character constant");
    }
    struct ofl_expr *expr = literal(p, OFL_EXPR_CHARACTER);
    ofl_next(p);
    expr->as.literal.kind_name = prefix.kind_name;
    expr->as.literal.kind = prefix.kind;
    expr->span = ofl_since(p, begin);
    return expr;
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

/* R725 logical-literal-constant */
static struct ofl_expr *logical(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    if (ofl_lex_keyword(&p->item, begin, ".true.") == 0 && ofl_lex_keyword(&p->item, begin, ".false.") == 0) {
        ofl_fail_expected(p, "an operand");
    }
    struct ofl_expr *expr = literal(p, OFL_EXPR_LOGICAL);
    expr->as.literal.value = (ofl_char(p, begin + 1) | 0x20) == 't';
    ofl_next(p);
    accept_kind(p, &expr->as.literal);
    expr->span = ofl_since(p, begin);
    return expr;
}

/* ---- Arguments and designators ---------------------------------------------------------------------------------- */

struct ofl_ident ofl_accept_arg_keyword(struct ofl_parser *p)
{
    struct ofl_ident none = {NULL, {0, 0}};
    if (p->token.kind != OFL_TOKEN_NAME || ofl_peek(p).kind != OFL_TOKEN_EQUALS) {
        return none;
    }
    struct ofl_ident keyword = ofl_accept_ident(p);
    ofl_next(p);
    return keyword;
}

bool ofl_at_range_end(const struct ofl_parser *p)
{
    return p->token.kind == OFL_TOKEN_RPAREN || p->token.kind == OFL_TOKEN_COMMA ||
           p->token.kind == OFL_TOKEN_RBRACKET || p->token.kind == OFL_TOKEN_RARRAY || p->token.kind == OFL_TOKEN_COLON;
}

/* R921 subscript-triplet is [ subscript ] : [ subscript ] [ : stride ]
 * R910 substring-range; `lower` has been read. */
static struct ofl_expr *range(struct ofl_parser *p, struct ofl_expr *lower, uint32_t begin)
{
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_RANGE, ofl_token_span(p));
    expr->as.range.lower = lower;
    if (ofl_accept(p, OFL_TOKEN_DOUBLE_COLON)) {
        expr->as.range.has_step = true;
    } else {
        ofl_expect(p, OFL_TOKEN_COLON);
        if (ofl_at(p, OFL_TOKEN_STAR)) { /* allocate (a[2:*]) */
            expr->as.range.upper = ofl_new_expr(p, OFL_EXPR_STAR, ofl_token_span(p));
            ofl_next(p);
        } else if (!ofl_at_range_end(p)) {
            expr->as.range.upper = ofl_parse_expr(p);
        }
        expr->as.range.has_step = ofl_accept(p, OFL_TOKEN_COLON);
    }
    if (expr->as.range.has_step) {
        expr->as.range.step = ofl_parse_expr(p);
    }
    expr->span = ofl_since(p, begin);
    ofl_set_depth(p, expr, lower);
    ofl_set_depth(p, expr, expr->as.range.upper);
    ofl_set_depth(p, expr, expr->as.range.step);
    return expr;
}

/* R1525 alt-return-spec is * label; gfortran takes & label too. */
static struct ofl_expr *star_or_label(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    bool star = ofl_at(p, OFL_TOKEN_STAR);
    ofl_next(p);
    struct ofl_label label;
    struct ofl_expr *expr = NULL;
    if (ofl_accept_label(p, &label)) {
        expr = ofl_new_expr(p, OFL_EXPR_LABEL, ofl_since(p, begin));
        expr->as.literal.value = label.value;
    } else if (star) {
        expr = ofl_new_expr(p, OFL_EXPR_STAR, ofl_since(p, begin));
    } else {
        ofl_fail_expected(p, "a label");
    }
    return expr;
}

/* %VAL(x), %LOC(x), %REF(x) */
static struct ofl_expr *percent(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    ofl_next(p);
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_PERCENT, ofl_token_span(p));
    expr->as.percent.function = ofl_expect_ident(p, "val, loc or ref").name;
    ofl_expect(p, OFL_TOKEN_LPAREN);
    expr->as.percent.value = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    expr->span = ofl_since(p, begin);
    ofl_set_depth(p, expr, expr->as.percent.value);
    return expr;
}

/* R1523 actual-arg-spec, R920 section-subscript */
static struct ofl_expr *argument(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    switch (p->token.kind) {
    case OFL_TOKEN_COLON:
    case OFL_TOKEN_DOUBLE_COLON:
        return range(p, NULL, begin);
    case OFL_TOKEN_STAR:
    case OFL_TOKEN_AMPERSAND:
        return star_or_label(p);
    case OFL_TOKEN_PERCENT:
        return percent(p);
    case OFL_TOKEN_DOT: { /* .. */
        if (ofl_char(p, p->token.end) == '.') {
            ofl_goto(p, p->token.end + 1);
            return ofl_new_expr(p, OFL_EXPR_DOTDOT, ofl_since(p, begin));
        }
        break;
    }
    default:
        break;
    }
    struct ofl_expr *value = ofl_parse_expr(p);
    if (ofl_at(p, OFL_TOKEN_COLON) || ofl_at(p, OFL_TOKEN_DOUBLE_COLON)) {
        return range(p, value, begin);
    }
    return value;
}

static struct ofl_arg *args_until(struct ofl_parser *p, enum ofl_token_kind close)
{
    struct ofl_arg *first = NULL, **link = &first;
    if (ofl_accept(p, close)) {
        return NULL;
    }
    do {
        uint32_t begin = p->token.begin;
        struct ofl_ident keyword = ofl_accept_arg_keyword(p);
        struct ofl_expr *value = argument(p);
        *link = ofl_new_arg(p, keyword, value, begin);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, close);
    return first;
}

struct ofl_arg *ofl_parse_args(struct ofl_parser *p)
{
    return args_until(p, OFL_TOKEN_RPAREN);
}

static void deepen(struct ofl_parser *p, struct ofl_expr *expr, const struct ofl_arg *args)
{
    for (; args != NULL; args = args->next) {
        ofl_set_depth(p, expr, args->value);
    }
}

/* base ( args ) or base [ args ] */
static struct ofl_expr *call(struct ofl_parser *p, struct ofl_expr *base, uint32_t begin)
{
    bool paren = ofl_at(p, OFL_TOKEN_LPAREN);
    struct ofl_expr *expr = ofl_new_expr(p, paren ? OFL_EXPR_CALL : OFL_EXPR_COINDEX, base->span);
    ofl_next(p);
    expr->as.call.base = base;
    expr->as.call.args = args_until(p, paren ? OFL_TOKEN_RPAREN : OFL_TOKEN_RBRACKET);
    expr->span = ofl_since(p, begin);
    ofl_set_depth(p, expr, base);
    deepen(p, expr, expr->as.call.args);
    return expr;
}

/* base % name, or base . name (DEC); the current token is the name. */
static struct ofl_expr *component(struct ofl_parser *p, struct ofl_expr *base, uint32_t begin)
{
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_COMPONENT, base->span);
    expr->as.component.base = base;
    expr->as.component.name = ofl_expect_ident(p, "a component's name");
    expr->span = ofl_since(p, begin);
    ofl_set_depth(p, expr, base);
    return expr;
}

/* With -fdec: is the dot behind a designator the one of a component reference?  .eq. and friends are not; nor is a
 * defined operator, which is told by the blanks that people write around it. */
static bool dec_component(const struct ofl_parser *p)
{
    enum ofl_operator op;
    unsigned precedence;
    if (!p->dec || p->token.begin == 0 || ofl_char(p, p->token.begin - 1) == ' ') {
        return false;
    }
    if (p->token.kind == OFL_TOKEN_DOT) {
        return ofl_is_letter(ofl_char(p, p->token.end));
    }
    return p->token.kind == OFL_TOKEN_DOT_NAME && ofl_at_operator(p, &op, &precedence) && op == OFL_OPERATOR_DEFINED;
}

/* R901 designator, R1520 function-reference: what may follow a base, in any order.
 * part-ref is name [ ( section-subscript-list ) ] [ image-selector ] */
static struct ofl_expr *parts(struct ofl_parser *p, struct ofl_expr *base, uint32_t begin)
{
    for (;;) {
        switch (p->token.kind) {
        case OFL_TOKEN_LPAREN:
        case OFL_TOKEN_LBRACKET:
            base = call(p, base, begin);
            continue;
        case OFL_TOKEN_PERCENT:
            ofl_next(p);
            base = component(p, base, begin);
            continue;
        case OFL_TOKEN_DOT:
        case OFL_TOKEN_DOT_NAME:
            if (dec_component(p)) {
                ofl_goto(p, p->token.begin + 1);
                base = component(p, base, begin);
                continue;
            }
            return base;
        default:
            return base;
        }
    }
}

struct ofl_expr *ofl_parse_designator(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    ofl_descend(p);
    struct ofl_expr *base = ofl_name_expr(p, ofl_expect_ident(p, "a name"));
    base = parts(p, base, begin);
    ofl_ascend(p);
    return base;
}

/* ---- Brackets --------------------------------------------------------------------------------------------------- */

/* integer-type-spec :: in front of an index, or NULL. */
static struct ofl_type_spec *accept_index_type(struct ofl_parser *p)
{
    return p->has_double_colon ? ofl_accept_allocate_type(p) : NULL;
}

/* Is `name =` or `integer :: name =` next: the control of an implied do? */
static bool at_loop_control(const struct ofl_parser *p)
{
    if (p->token.kind != OFL_TOKEN_NAME) {
        return false;
    }
    if (ofl_peek(p).kind == OFL_TOKEN_EQUALS) {
        return true;
    }
    if (!p->has_double_colon || !ofl_at_keyword(p, "integer")) {
        return false;
    }
    struct ofl_token token = ofl_peek(p);
    if (token.kind == OFL_TOKEN_LPAREN) {
        uint32_t end = ofl_lex_matching(&p->item, token.begin);
        return end != 0 && ofl_lex(&p->item, end).kind == OFL_TOKEN_DOUBLE_COLON;
    }
    if (token.kind == OFL_TOKEN_STAR) {
        token = ofl_lex(&p->item, ofl_lex(&p->item, token.end).end);
    }
    return token.kind == OFL_TOKEN_DOUBLE_COLON;
}

/* R775 ac-implied-do, R837 data-implied-do, R1218 io-implied-do, from behind the items:
 * [ integer-type-spec :: ] do-variable = first, last [, step] ) */
static struct ofl_expr *implied_do(struct ofl_parser *p, struct ofl_arg *items, uint32_t begin)
{
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_IMPLIED_DO, ofl_token_span(p));
    expr->as.implied_do.items = items;
    expr->as.implied_do.type = accept_index_type(p);
    expr->as.implied_do.index = ofl_expect_ident(p, "the index of an implied do");
    ofl_expect(p, OFL_TOKEN_EQUALS);
    expr->as.implied_do.first = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_COMMA);
    expr->as.implied_do.last = ofl_parse_expr(p);
    if (ofl_accept(p, OFL_TOKEN_COMMA)) {
        expr->as.implied_do.step = ofl_parse_expr(p);
    }
    ofl_expect(p, OFL_TOKEN_RPAREN);
    expr->span = ofl_since(p, begin);
    deepen(p, expr, items);
    ofl_set_depth(p, expr, expr->as.implied_do.first);
    ofl_set_depth(p, expr, expr->as.implied_do.last);
    ofl_set_depth(p, expr, expr->as.implied_do.step);
    return expr;
}

/* R1001 ( expr ), R718 complex-literal-constant is ( real-part , imag-part ), or an implied do. */
static struct ofl_expr *parenthesis(struct ofl_parser *p, bool item)
{
    static const struct ofl_ident no_keyword;
    uint32_t begin = p->token.begin;
    unsigned count = 0;
    struct ofl_arg *items = NULL, **link = &items;
    ofl_expect(p, OFL_TOKEN_LPAREN);
    do {
        if (count > 0 && item && at_loop_control(p)) {
            return implied_do(p, items, begin);
        }
        uint32_t item_begin = p->token.begin;
        struct ofl_expr *value = item ? ofl_parse_item(p) : ofl_parse_expr(p);
        *link = ofl_new_arg(p, no_keyword, value, item_begin);
        link = &(*link)->next;
        count++;
    } while (ofl_at(p, OFL_TOKEN_COMMA) && (item || count < 2) && ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
    if (count > 2) {
        ofl_fail_at(p, ofl_since(p, begin), "an implied do needs 'index = first, last' before its ')'");
    }
    struct ofl_expr *expr = ofl_new_expr(p, count == 1 ? OFL_EXPR_PAREN : OFL_EXPR_COMPLEX, ofl_since(p, begin));
    if (count == 1) {
        expr->as.operation.right = items->value;
    } else {
        expr->as.complex.re = items->value;
        expr->as.complex.im = items->next->value;
        ofl_set_depth(p, expr, items->next->value);
    }
    ofl_set_depth(p, expr, items->value);
    return expr;
}

struct ofl_arg *ofl_parse_items(struct ofl_parser *p)
{
    static const struct ofl_ident no_keyword;
    struct ofl_arg *first = NULL, **link = &first;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_expr *value = ofl_parse_item(p);
        if (ofl_at(p, OFL_TOKEN_COLON)) { /* [1:3] of some compilers, flang among them */
            value = range(p, value, begin);
        }
        *link = ofl_new_arg(p, no_keyword, value, begin);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    return first;
}

/* R769 array-constructor is (/ ac-spec /) or [ ac-spec ]
 * R770 ac-spec is type-spec :: or [type-spec ::] ac-value-list */
static struct ofl_expr *array_constructor(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_ARRAY, ofl_token_span(p));
    enum ofl_token_kind close = ofl_at(p, OFL_TOKEN_LBRACKET) ? OFL_TOKEN_RBRACKET : OFL_TOKEN_RARRAY;
    ofl_next(p);
    if (p->has_double_colon) {
        expr->as.array.type = ofl_accept_allocate_type(p);
    }
    if (!ofl_at(p, close)) {
        expr->as.array.items = ofl_parse_items(p);
    }
    ofl_expect(p, close);
    expr->span = ofl_since(p, begin);
    deepen(p, expr, expr->as.array.items);
    return expr;
}

/* R1001 primary */
struct ofl_expr *ofl_parse_primary(struct ofl_parser *p, bool item)
{
    uint32_t begin = p->token.begin;
    struct ofl_expr *expr = NULL;
    ofl_descend(p);
    switch (p->token.kind) {
    case OFL_TOKEN_NAME:
        if (is_quote(ofl_char(p, p->token.end)) && ofl_char(p, p->token.end - 1) == '_') {
            expr = parts(p, prefixed_character(p), begin);
        } else {
            expr = parts(p, ofl_name_expr(p, ofl_accept_ident(p)), begin);
        }
        break;
    case OFL_TOKEN_INTEGER:
        if (ofl_char(p, p->token.end) == '_' && is_quote(ofl_char(p, p->token.end + 1))) {
            expr = parts(p, prefixed_character(p), begin);
            break;
        }
        expr = number(p);
        break;
    case OFL_TOKEN_REAL:
        expr = number(p);
        break;
    case OFL_TOKEN_CHARACTER:
        expr = parts(p, character(p), begin); /* 'abc'(1:2), 'abc'%len */
        break;
    case OFL_TOKEN_HOLLERITH:
    case OFL_TOKEN_BOZ:
        expr = literal(p, ofl_at(p, OFL_TOKEN_BOZ) ? OFL_EXPR_BOZ : OFL_EXPR_HOLLERITH);
        ofl_next(p);
        break;
    case OFL_TOKEN_DOT_NAME:
        expr = logical(p);
        break;
    case OFL_TOKEN_LPAREN:
        expr = parenthesis(p, item);
        break;
    case OFL_TOKEN_LBRACKET:
    case OFL_TOKEN_LARRAY:
        expr = array_constructor(p);
        break;
    case OFL_TOKEN_PERCENT: /* %loc(x) is an expression of DEC's */
        expr = percent(p);
        break;
    default:
        ofl_fail_expected(p, "an expression");
    }
    ofl_ascend(p);
    return expr;
}

/* R845 data-stmt-constant and the like: [sign] literal, named constant, structure constructor, array constructor. */
struct ofl_expr *ofl_parse_constant(struct ofl_parser *p)
{
    if (!ofl_at(p, OFL_TOKEN_PLUS) && !ofl_at(p, OFL_TOKEN_MINUS)) {
        return ofl_parse_primary(p, false);
    }
    uint32_t begin = p->token.begin;
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_UNARY, ofl_token_span(p));
    expr->as.operation.op = ofl_at(p, OFL_TOKEN_PLUS) ? OFL_OPERATOR_ADD : OFL_OPERATOR_SUB;
    expr->as.operation.op_span = expr->span;
    ofl_next(p);
    expr->as.operation.right = ofl_parse_primary(p, false);
    expr->span = ofl_since(p, begin);
    ofl_set_depth(p, expr, expr->as.operation.right);
    return expr;
}
