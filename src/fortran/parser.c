/* The parser's tools: tokens, keywords, names, labels, spans, failure. */
#include "fortran/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ofl_goto(struct ofl_parser *p, uint32_t offset)
{
    p->behind = offset;
    p->token = ofl_lex(&p->item, offset);
}

void ofl_next(struct ofl_parser *p)
{
    ofl_goto(p, p->token.end);
}

struct ofl_token ofl_peek(const struct ofl_parser *p)
{
    return ofl_lex(&p->item, p->token.end);
}

bool ofl_at(const struct ofl_parser *p, enum ofl_token_kind kind)
{
    return p->token.kind == kind;
}

bool ofl_accept(struct ofl_parser *p, enum ofl_token_kind kind)
{
    if (p->token.kind != kind) {
        return false;
    }
    ofl_next(p);
    return true;
}

void ofl_expect(struct ofl_parser *p, enum ofl_token_kind kind)
{
    if (!ofl_accept(p, kind)) {
        ofl_fail_expected(p, ofl_token_text(kind));
    }
}

void ofl_expect_end(struct ofl_parser *p)
{
    if (p->token.kind != OFL_TOKEN_END) {
        ofl_fail_expected(p, "the end of the statement");
    }
}

bool ofl_at_keyword(const struct ofl_parser *p, const char *pattern)
{
    return ofl_lex_keyword(&p->item, p->token.begin, pattern) != 0;
}

bool ofl_keyword(struct ofl_parser *p, const char *pattern)
{
    uint32_t end = ofl_lex_keyword(&p->item, p->token.begin, pattern);
    if (end == 0) {
        return false;
    }
    ofl_goto(p, end);
    return true;
}

void ofl_expect_keyword(struct ofl_parser *p, const char *pattern)
{
    if (!ofl_keyword(p, pattern)) {
        char what[64];
        snprintf(what, sizeof what, "'%s'", pattern);
        ofl_fail_expected(p, what);
    }
}

char ofl_char(const struct ofl_parser *p, uint32_t offset)
{
    return offset < p->item.length ? p->item.text[offset] : '\0';
}

struct ofl_span ofl_span_at(const struct ofl_parser *p, uint32_t begin, uint32_t end)
{
    const ofl_pos *where = p->item.where;
    if (end <= begin) {
        return (struct ofl_span){where[begin], where[begin]};
    }
    return (struct ofl_span){where[begin], where[end - 1] + 1};
}

struct ofl_span ofl_token_span(const struct ofl_parser *p)
{
    return ofl_span_at(p, p->token.begin, p->token.end);
}

struct ofl_span ofl_since(const struct ofl_parser *p, uint32_t begin)
{
    return ofl_span_at(p, begin, p->behind);
}

static _Noreturn void leave(struct ofl_parser *p, struct ofl_span span, const char *text)
{
    ofl_diag_error(p->diagnostics, span, "%s", text);
    longjmp(p->recovery, 1);
}

void ofl_fail_at(struct ofl_parser *p, struct ofl_span span, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    leave(p, span, text);
}

void ofl_fail(struct ofl_parser *p, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    leave(p, ofl_token_span(p), text);
}

void ofl_fail_expected(struct ofl_parser *p, const char *what)
{
    const struct ofl_token *token = &p->token;
    enum { SHOWN = 40 };
    uint32_t length = token->end - token->begin;
    switch (token->kind) {
    case OFL_TOKEN_END:
        ofl_fail(p, "expected %s, found the end of the statement", what);
    case OFL_TOKEN_QUOTE:
        ofl_fail(p, "the character constant that begins here does not end");
    default:
        ofl_fail(p, "expected %s, found '%.*s%s'", what, (int)(length < SHOWN ? length : SHOWN),
                 p->item.text + token->begin, length > SHOWN ? "..." : "");
    }
}

bool ofl_name_is(const struct ofl_name *name, const char *text)
{
    return name != NULL && strcmp(name->text, text) == 0;
}

struct ofl_ident ofl_accept_ident(struct ofl_parser *p)
{
    struct ofl_ident ident = {NULL, {0, 0}};
    if (p->token.kind == OFL_TOKEN_NAME) {
        ident.name = ofl_name_of(p->arena, p->item.text + p->token.begin, p->token.end - p->token.begin);
        ident.span = ofl_token_span(p);
        ofl_next(p);
    } else if (p->token.kind == OFL_TOKEN_BOZ) { /* never: a name is not followed by a quote */
        ofl_fail_expected(p, "a name");
    }
    return ident;
}

struct ofl_ident ofl_expect_ident(struct ofl_parser *p, const char *what)
{
    if (p->token.kind != OFL_TOKEN_NAME) {
        ofl_fail_expected(p, what);
    }
    return ofl_accept_ident(p);
}

struct ofl_ident_list *ofl_parse_ident_list(struct ofl_parser *p, const char *what)
{
    struct ofl_ident_list *first = NULL, **link = &first;
    do {
        struct ofl_ident_list *item = OFL_NEW(p->arena, struct ofl_ident_list);
        item->ident = ofl_expect_ident(p, what);
        *link = item;
        link = &item->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    return first;
}

/* R611 label; read digit by digit, because in `DO 10 E1 = ...` without blanks 10E1 is no number. */
bool ofl_accept_label(struct ofl_parser *p, struct ofl_label *label)
{
    uint32_t begin = p->token.begin, end = begin, value = 0;
    while (ofl_is_digit(ofl_char(p, end)) && end - begin < 9) {
        value = value * 10 + (uint32_t)(p->item.text[end] - '0');
        end++;
    }
    if (end == begin) {
        return false;
    }
    *label = (struct ofl_label){value, ofl_span_at(p, begin, end)};
    if (value == 0 || value > 99999) {
        ofl_fail(p, "a statement label is a number from 1 to 99999");
    }
    ofl_goto(p, end);
    return true;
}

struct ofl_label ofl_expect_label(struct ofl_parser *p)
{
    struct ofl_label label;
    if (!ofl_accept_label(p, &label)) {
        ofl_fail_expected(p, "a statement label");
    }
    return label;
}

struct ofl_label_list *ofl_parse_labels(struct ofl_parser *p)
{
    struct ofl_label_list *first = NULL, **link = &first;
    do {
        struct ofl_label_list *item = OFL_NEW(p->arena, struct ofl_label_list);
        item->label = ofl_expect_label(p);
        *link = item;
        link = &item->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    return first;
}

const char *ofl_token_text(enum ofl_token_kind kind)
{
    static const char *const texts[] = {
        [OFL_TOKEN_END] = "the end of the statement",
        [OFL_TOKEN_NAME] = "a name",
        [OFL_TOKEN_INTEGER] = "an integer",
        [OFL_TOKEN_REAL] = "a real constant",
        [OFL_TOKEN_CHARACTER] = "a character constant",
        [OFL_TOKEN_HOLLERITH] = "a Hollerith constant",
        [OFL_TOKEN_BOZ] = "a BOZ constant",
        [OFL_TOKEN_DOT_NAME] = "an operator",
        [OFL_TOKEN_LPAREN] = "'('",
        [OFL_TOKEN_RPAREN] = "')'",
        [OFL_TOKEN_LBRACKET] = "'['",
        [OFL_TOKEN_RBRACKET] = "']'",
        [OFL_TOKEN_LARRAY] = "'(/'",
        [OFL_TOKEN_RARRAY] = "'/)'",
        [OFL_TOKEN_COMMA] = "','",
        [OFL_TOKEN_COLON] = "':'",
        [OFL_TOKEN_DOUBLE_COLON] = "'::'",
        [OFL_TOKEN_SEMICOLON] = "';'",
        [OFL_TOKEN_EQUALS] = "'='",
        [OFL_TOKEN_ARROW] = "'=>'",
        [OFL_TOKEN_PERCENT] = "'%'",
        [OFL_TOKEN_DOT] = "'.'",
        [OFL_TOKEN_PLUS] = "'+'",
        [OFL_TOKEN_MINUS] = "'-'",
        [OFL_TOKEN_STAR] = "'*'",
        [OFL_TOKEN_POWER] = "'**'",
        [OFL_TOKEN_SLASH] = "'/'",
        [OFL_TOKEN_CONCAT] = "'//'",
        [OFL_TOKEN_EQ] = "'=='",
        [OFL_TOKEN_NE] = "'/='",
        [OFL_TOKEN_LT] = "'<'",
        [OFL_TOKEN_LE] = "'<='",
        [OFL_TOKEN_GT] = "'>'",
        [OFL_TOKEN_GE] = "'>='",
        [OFL_TOKEN_QUESTION] = "'?'",
        [OFL_TOKEN_AMPERSAND] = "'&'",
        [OFL_TOKEN_AT] = "'@'",
        [OFL_TOKEN_QUOTE] = "a quote",
        [OFL_TOKEN_OTHER] = "a character",
    };
    return texts[kind];
}
