/* Input and output statements.
 *
 * A control list `(unit, fmt, iostat=i)` and an item list become lists of arguments; what they mean is not the
 * parser's.  Nothing here reaches a kernel, so positions are not checked. */
#include "fortran/parser.h"

/* One control: [keyword =] value, where * and labels are values, and a unit may be followed by ' and a record (DEC). */
static struct ofl_arg *control(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_ident keyword = ofl_accept_arg_keyword(p);
    struct ofl_expr *value = NULL;
    if (ofl_accept(p, OFL_TOKEN_STAR)) {
        value = ofl_new_expr(p, OFL_EXPR_STAR, ofl_since(p, begin));
    } else if (keyword.name == NULL && (ofl_at(p, OFL_TOKEN_COMMA) || ofl_at(p, OFL_TOKEN_RPAREN))) {
        ofl_fail_expected(p, "a unit, a format or a specifier");
    } else {
        value = ofl_parse_expr(p);
    }
    return ofl_new_arg(p, keyword, value, begin);
}

/* R1213 io-control-spec-list, R1205 connect-spec-list and the like: from behind ( to and with ). */
static struct ofl_arg *controls(struct ofl_parser *p)
{
    struct ofl_arg *first = NULL, **link = &first;
    do {
        *link = control(p);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
    return first;
}

static void items(struct ofl_parser *p, struct ofl_stmt *stmt)
{
    if (!ofl_at(p, OFL_TOKEN_END)) {
        stmt->as.args.items = ofl_parse_items(p);
    }
}

/* R1215 format is default-char-expr or label or *; then [ , item-list ] */
static void format_and_items(struct ofl_parser *p, struct ofl_stmt *stmt)
{
    stmt->as.args.controls = control(p);
    if (ofl_accept(p, OFL_TOKEN_COMMA)) {
        items(p, stmt);
    }
}

/* Is the parenthesis at hand that of READ (controls) rather than the first operand of a format, as in READ ('(') //
 * 'A)'? */
static bool at_controls(const struct ofl_parser *p)
{
    if (!ofl_at(p, OFL_TOKEN_LPAREN)) {
        return false;
    }
    uint32_t end = ofl_lex_matching(&p->item, p->token.begin);
    return end == 0 || ofl_lex(&p->item, end).kind != OFL_TOKEN_CONCAT;
}

/* R1210 read-stmt is READ ( io-control-spec-list ) [ input-item-list ] or READ format [ , input-item-list ] */
bool ofl_parse_read(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_READ);
    if (at_controls(p)) {
        ofl_next(p);
        stmt->as.args.controls = controls(p);
        ofl_accept(p, OFL_TOKEN_COMMA); /* READ (format), items; also an old extension */
        items(p, stmt);
    } else {
        format_and_items(p, stmt);
    }
    ofl_append(p, stmt);
    return true;
}

/* R1211 write-stmt is WRITE ( io-control-spec-list ) [ output-item-list ] */
bool ofl_parse_write(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_WRITE);
    ofl_expect(p, OFL_TOKEN_LPAREN);
    stmt->as.args.controls = controls(p);
    ofl_accept(p, OFL_TOKEN_COMMA); /* an old extension of many compilers */
    items(p, stmt);
    ofl_append(p, stmt);
    return true;
}

/* R1212 print-stmt is PRINT format [ , output-item-list ]; DEC's TYPE and ACCEPT */
bool ofl_parse_print(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    format_and_items(p, stmt);
    ofl_append(p, stmt);
    return true;
}

/* R1204 open-stmt, R1208 close-stmt, R1222 wait-stmt, R1230 inquire-stmt: INQUIRE ( IOLENGTH = v ) items too */
bool ofl_parse_file(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    ofl_expect(p, OFL_TOKEN_LPAREN);
    stmt->as.args.controls = controls(p);
    if (stmt->kind == OFL_STMT_INQUIRE) {
        items(p, stmt);
    }
    ofl_append(p, stmt);
    return true;
}

/* R1224 backspace-stmt, R1225 endfile-stmt, R1226 rewind-stmt, R1228 flush-stmt: unit or ( position-spec-list ) */
bool ofl_parse_position(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    uint32_t end = ofl_at(p, OFL_TOKEN_LPAREN) ? ofl_lex_matching(&p->item, p->token.begin) : 0;
    if (end != 0 && ofl_lex(&p->item, end).kind == OFL_TOKEN_END) {
        ofl_next(p);
        stmt->as.args.controls = controls(p);
    } else if (!ofl_at(p, OFL_TOKEN_END)) {
        stmt->as.args.controls = control(p);
    } else if (stmt->kind != OFL_STMT_FLUSH) {
        ofl_fail_expected(p, "a unit");
    }
    ofl_append(p, stmt);
    return true;
}
