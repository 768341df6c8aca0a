/* Expressions: operators by precedence.
 *
 * Entry point: ofl_parse_expr.  Fortran's levels from tight to loose: defined unary, **, * and /, + and - (also unary),
 * //, relations, .not., .and., .or., .eqv. and .neqv., defined binary.  A sign directly behind an operator, as in 2**-1
 * or a*-b, is gfortran's extension: it binds as tightly as that operator's operand.
 *
 * What must hold: recursion is counted (ofl_descend), and a tree deeper than OFL_MAX_EXPR_DEPTH is refused, so that
 * neither this file nor a consumer can run out of stack. */
#include "fortran/parser.h"

#include <string.h>

enum precedence {
    LOOSEST = 1,
    DEFINED_BINARY = 1,
    EQUIVALENCE,
    OR,
    AND,
    NOT,
    RELATION,
    CONCAT,
    ADD,
    MULTIPLY,
    POWER,
    DEFINED_UNARY
};

struct ofl_expr *ofl_new_expr(struct ofl_parser *p, enum ofl_expr_kind kind, struct ofl_span span)
{
    struct ofl_expr *expr = OFL_NEW(p->arena, struct ofl_expr);
    expr->kind = kind;
    expr->span = span;
    expr->depth = 1;
    return expr;
}

void ofl_set_depth(struct ofl_parser *p, struct ofl_expr *expr, const struct ofl_expr *child)
{
    if (child != NULL && child->depth >= expr->depth) {
        expr->depth = child->depth + 1;
        if (expr->depth > OFL_MAX_EXPR_DEPTH) {
            ofl_fail_at(p, expr->span, "this expression is too complicated: more than %d operators and brackets deep",
                        OFL_MAX_EXPR_DEPTH);
        }
    }
}

void ofl_descend(struct ofl_parser *p)
{
    if (++p->recursion > OFL_MAX_RECURSION) {
        ofl_fail(p, "brackets are nested too deeply: more than %d deep", OFL_MAX_PARENS);
    }
}

void ofl_ascend(struct ofl_parser *p)
{
    p->recursion--;
}

static const struct {
    const char *text;
    enum ofl_operator op;
    unsigned precedence;
} dot_operators[] = {
    {".eq.", OFL_OPERATOR_EQ, RELATION},      {".ne.", OFL_OPERATOR_NE, RELATION},
    {".lt.", OFL_OPERATOR_LT, RELATION},      {".le.", OFL_OPERATOR_LE, RELATION},
    {".gt.", OFL_OPERATOR_GT, RELATION},      {".ge.", OFL_OPERATOR_GE, RELATION},
    {".and.", OFL_OPERATOR_AND, AND},         {".or.", OFL_OPERATOR_OR, OR},
    {".eqv.", OFL_OPERATOR_EQV, EQUIVALENCE}, {".neqv.", OFL_OPERATOR_NEQV, EQUIVALENCE},
    {".xor.", OFL_OPERATOR_XOR, EQUIVALENCE}, {".not.", OFL_OPERATOR_NOT, NOT},
};

static bool spells(const struct ofl_parser *p, const char *text)
{
    uint32_t at = p->token.begin;
    for (; *text != '\0'; text++, at++) {
        char c = ofl_char(p, at);
        if ((*text == '.' ? c : (char)(c | 0x20)) != *text) {
            return false;
        }
    }
    return at == p->token.end;
}

static enum ofl_operator dot_operator(const struct ofl_parser *p, unsigned *precedence)
{
    for (size_t i = 0; i < sizeof dot_operators / sizeof dot_operators[0]; i++) {
        if (spells(p, dot_operators[i].text)) {
            *precedence = dot_operators[i].precedence;
            return dot_operators[i].op;
        }
    }
    *precedence = DEFINED_BINARY;
    return OFL_OPERATOR_DEFINED;
}

bool ofl_at_operator(const struct ofl_parser *p, enum ofl_operator *op, unsigned *precedence)
{
    static const struct {
        unsigned char op, precedence;
    } table[] = {
        [OFL_TOKEN_PLUS] = {OFL_OPERATOR_ADD, ADD},
        [OFL_TOKEN_MINUS] = {OFL_OPERATOR_SUB, ADD},
        [OFL_TOKEN_STAR] = {OFL_OPERATOR_MUL, MULTIPLY},
        [OFL_TOKEN_SLASH] = {OFL_OPERATOR_DIV, MULTIPLY},
        [OFL_TOKEN_POWER] = {OFL_OPERATOR_POWER, POWER},
        [OFL_TOKEN_CONCAT] = {OFL_OPERATOR_CONCAT, CONCAT},
        [OFL_TOKEN_EQ] = {OFL_OPERATOR_EQ, RELATION},
        [OFL_TOKEN_NE] = {OFL_OPERATOR_NE, RELATION},
        [OFL_TOKEN_LT] = {OFL_OPERATOR_LT, RELATION},
        [OFL_TOKEN_LE] = {OFL_OPERATOR_LE, RELATION},
        [OFL_TOKEN_GT] = {OFL_OPERATOR_GT, RELATION},
        [OFL_TOKEN_GE] = {OFL_OPERATOR_GE, RELATION},
        [OFL_TOKEN_OTHER] = {0, 0},
    };
    if (p->token.kind == OFL_TOKEN_DOT_NAME) {
        *op = dot_operator(p, precedence);
        return *op != OFL_OPERATOR_NOT && !spells(p, ".true.") && !spells(p, ".false.");
    }
    *op = table[p->token.kind].op;
    *precedence = table[p->token.kind].precedence;
    return *precedence != 0;
}

/* The name of a defined operator, between its dots. */
static const struct ofl_name *defined_name(const struct ofl_parser *p)
{
    return ofl_name_of(p->arena, p->item.text + p->token.begin + 1, p->token.end - p->token.begin - 2);
}

static struct ofl_expr *parse_binary(struct ofl_parser *p, unsigned least, bool item);

/* Operand with the prefix operators that may stand before it.
 * R1002 level-1-expr, R1006 add-operand with its sign, R1014 and-operand with .not. */
static struct ofl_expr *parse_unary(struct ofl_parser *p, unsigned least, bool item)
{
    enum ofl_operator op;
    unsigned precedence;
    if (p->token.kind == OFL_TOKEN_PLUS || p->token.kind == OFL_TOKEN_MINUS) {
        op = p->token.kind == OFL_TOKEN_PLUS ? OFL_OPERATOR_ADD : OFL_OPERATOR_SUB;
        precedence = least > MULTIPLY ? least : MULTIPLY;
    } else if (p->token.kind == OFL_TOKEN_DOT_NAME && !spells(p, ".true.") && !spells(p, ".false.")) {
        op = dot_operator(p, &precedence);
        if (op == OFL_OPERATOR_DEFINED) {
            precedence = DEFINED_UNARY;
        } else if (op != OFL_OPERATOR_NOT) {
            ofl_fail_expected(p, "an operand");
        }
    } else {
        return ofl_parse_primary(p, item);
    }
    uint32_t begin = p->token.begin;
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_UNARY, ofl_token_span(p));
    expr->as.operation.op = op;
    expr->as.operation.op_span = expr->span;
    if (op == OFL_OPERATOR_DEFINED) {
        expr->as.operation.defined = defined_name(p);
    }
    ofl_next(p);
    expr->as.operation.right = parse_binary(p, precedence, false);
    expr->span = ofl_since(p, begin);
    ofl_set_depth(p, expr, expr->as.operation.right);
    return expr;
}

/* Operators that bind at least as tightly as `least`, left to right; ** right to left.
 * R1004 mult-operand to R1022 expr. */
static struct ofl_expr *parse_binary(struct ofl_parser *p, unsigned least, bool item)
{
    uint32_t begin = p->token.begin;
    ofl_descend(p);
    struct ofl_expr *left = parse_unary(p, least, item);
    enum ofl_operator op;
    unsigned precedence;
    while (ofl_at_operator(p, &op, &precedence) && precedence >= least) {
        struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_BINARY, ofl_token_span(p));
        expr->as.operation.op = op;
        expr->as.operation.op_span = expr->span;
        if (op == OFL_OPERATOR_DEFINED) {
            expr->as.operation.defined = defined_name(p);
        }
        ofl_next(p);
        expr->as.operation.left = left;
        expr->as.operation.right = parse_binary(p, precedence == POWER ? POWER : precedence + 1, false);
        expr->span = ofl_since(p, begin);
        ofl_set_depth(p, expr, left);
        ofl_set_depth(p, expr, expr->as.operation.right);
        left = expr;
    }
    ofl_ascend(p);
    return left;
}

struct ofl_expr *ofl_parse_expr(struct ofl_parser *p)
{
    return parse_binary(p, LOOSEST, false);
}

struct ofl_expr *ofl_parse_operand(struct ofl_parser *p)
{
    return parse_binary(p, DEFINED_UNARY, false);
}

struct ofl_expr *ofl_parse_item(struct ofl_parser *p)
{
    return parse_binary(p, LOOSEST, true);
}

const char *ofl_operator_text(enum ofl_operator op)
{
    static const char *const texts[] = {
        [OFL_OPERATOR_POWER] = "**",  [OFL_OPERATOR_MUL] = "*",     [OFL_OPERATOR_DIV] = "/",
        [OFL_OPERATOR_ADD] = "+",     [OFL_OPERATOR_SUB] = "-",     [OFL_OPERATOR_CONCAT] = "//",
        [OFL_OPERATOR_EQ] = "==",     [OFL_OPERATOR_NE] = "/=",     [OFL_OPERATOR_LT] = "<",
        [OFL_OPERATOR_LE] = "<=",     [OFL_OPERATOR_GT] = ">",      [OFL_OPERATOR_GE] = ">=",
        [OFL_OPERATOR_NOT] = ".not.", [OFL_OPERATOR_AND] = ".and.", [OFL_OPERATOR_OR] = ".or.",
        [OFL_OPERATOR_XOR] = ".xor.", [OFL_OPERATOR_EQV] = ".eqv.", [OFL_OPERATOR_NEQV] = ".neqv.",
        [OFL_OPERATOR_DEFINED] = ".",
    };
    return texts[op];
}
