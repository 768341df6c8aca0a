/* The lexer: one token at an offset of the joined statement.
 *
 * What is decided here from what follows: `1.eq.2` is 1 .eq. 2 and `1.e2` a real; `(/` and `/)` are brackets of an
 * array constructor (the parser reads operator(/) itself); digits before H are a Hollerith constant under the same rule
 * by which the reader kept its characters together.  Keywords, BOZ suffixes and kinds are the parser's. */
#include "fortran/lexer.h"
#include "fortran/statement.h"

#include <string.h>
#include <strings.h>

enum { LETTER = 1, DIGIT = 2, MORE = 4 }; /* MORE: _ and $ inside a name */

static const unsigned char classes[256] = {
    ['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,  ['4'] = DIGIT,  ['5'] = DIGIT,  ['6'] = DIGIT,
    ['7'] = DIGIT,  ['8'] = DIGIT,  ['9'] = DIGIT,  ['_'] = MORE,   ['$'] = MORE,
#define BOTH(upper, lower) [upper] = LETTER, [lower] = LETTER
    BOTH('A', 'a'), BOTH('B', 'b'), BOTH('C', 'c'), BOTH('D', 'd'), BOTH('E', 'e'), BOTH('F', 'f'), BOTH('G', 'g'),
    BOTH('H', 'h'), BOTH('I', 'i'), BOTH('J', 'j'), BOTH('K', 'k'), BOTH('L', 'l'), BOTH('M', 'm'), BOTH('N', 'n'),
    BOTH('O', 'o'), BOTH('P', 'p'), BOTH('Q', 'q'), BOTH('R', 'r'), BOTH('S', 's'), BOTH('T', 't'), BOTH('U', 'u'),
    BOTH('V', 'v'), BOTH('W', 'w'), BOTH('X', 'x'), BOTH('Y', 'y'), BOTH('Z', 'z'),
#undef BOTH
};

bool ofl_is_letter(char c)
{
    return classes[(unsigned char)c] == LETTER;
}

bool ofl_is_digit(char c)
{
    return classes[(unsigned char)c] == DIGIT;
}

bool ofl_is_name_character(char c)
{
    return classes[(unsigned char)c] != 0;
}

static uint32_t skip_name(const char *text, uint32_t at)
{
    while (ofl_is_name_character(text[at])) {
        at++;
    }
    return at;
}

static uint32_t skip_digits(const char *text, uint32_t at)
{
    while (ofl_is_digit(text[at])) {
        at++;
    }
    return at;
}

static uint32_t skip_letters(const char *text, uint32_t at)
{
    while (ofl_is_letter(text[at])) {
        at++;
    }
    return at;
}

/* Behind an exponent at `at`, or `at` if there is none. */
static uint32_t skip_exponent(const struct ofl_item *item, uint32_t at)
{
    const char *text = item->text;
    char letter = (char)(text[at] | 0x20);
    if (letter != 'e' && letter != 'd' && letter != 'q') {
        return at;
    }
    uint32_t digits = at + 1;
    if (text[digits] == '+' || text[digits] == '-') {
        digits++;
    }
    if (ofl_is_digit(text[digits])) {
        return skip_digits(text, digits);
    }
    return item->dec && !ofl_is_name_character(text[digits]) ? digits : at; /* DEC: 8E is 8E0 */
}

/* Behind a name, 4H is part of something else; behind .eq. it is not. */
bool ofl_hollerith_may_follow(const char *text, uint32_t begin)
{
    if (begin == 0) {
        return false;
    }
    char before = text[begin - 1];
    if (before == '.') {
        return begin > 1 && ofl_is_letter(text[begin - 2]);
    }
    if (before == '*') { /* DATA X /3*4HABCD/, but REAL*8 HEIGHT */
        return begin > 4 && strncasecmp(text, "data", 4) == 0;
    }
    return !ofl_is_name_character(before) && before != ')' && before != '\'' && before != '"';
}

/* A Hollerith constant whose digits end at `at`: the offset behind it, or 0. */
static uint32_t hollerith_end(const struct ofl_item *item, uint32_t begin, uint32_t at)
{
    const char *text = item->text;
    if ((text[at] | 0x20) != 'h' || at - begin > 9) {
        return 0;
    }
    if (!ofl_hollerith_may_follow(text, begin)) {
        return 0;
    }
    uint32_t value = 0;
    for (uint32_t i = begin; i < at; i++) {
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    return value > 0 && value <= item->length - at - 1 ? at + 1 + value : 0;
}

static struct ofl_token number(const struct ofl_item *item, uint32_t begin)
{
    const char *text = item->text;
    uint32_t at = skip_digits(text, begin);
    uint32_t hollerith = hollerith_end(item, begin, at);
    if (hollerith != 0) {
        return (struct ofl_token){OFL_TOKEN_HOLLERITH, begin, hollerith};
    }
    if (text[at] == '.') {
        uint32_t letters = skip_letters(text, at + 1);
        if (letters > at + 1 && text[letters] == '.') { /* 1.eq.2 */
            return (struct ofl_token){OFL_TOKEN_INTEGER, begin, at};
        }
        at = skip_exponent(item, skip_digits(text, at + 1));
        return (struct ofl_token){OFL_TOKEN_REAL, begin, at};
    }
    uint32_t exponent = skip_exponent(item, at);
    return exponent > at ? (struct ofl_token){OFL_TOKEN_REAL, begin, exponent}
                         : (struct ofl_token){OFL_TOKEN_INTEGER, begin, at};
}

/* Behind the closing quote, or 0 if there is none. */
static uint32_t constant_end(const struct ofl_item *item, uint32_t at)
{
    char quote = item->text[at];
    for (;;) {
        const char *close = memchr(item->text + at + 1, quote, item->length - at - 1);
        if (close == NULL) {
            return 0;
        }
        at = (uint32_t)(close - item->text) + 1;
        if (item->text[at] != quote) {
            return at;
        }
    }
}

static struct ofl_token quoted(const struct ofl_item *item, uint32_t begin)
{
    uint32_t end = constant_end(item, begin);
    return end == 0 ? (struct ofl_token){OFL_TOKEN_QUOTE, begin, begin + 1}
                    : (struct ofl_token){OFL_TOKEN_CHARACTER, begin, end};
}

static struct ofl_token name(const struct ofl_item *item, uint32_t begin)
{
    const char *text = item->text;
    char next = text[begin + 1];
    if (next == '\'' || next == '"') {
        char letter = (char)(text[begin] | 0x20);
        if (letter == 'b' || letter == 'o' || letter == 'z' || letter == 'x') {
            uint32_t end = constant_end(item, begin + 1);
            if (end != 0) {
                return (struct ofl_token){OFL_TOKEN_BOZ, begin, end};
            }
        }
    }
    return (struct ofl_token){OFL_TOKEN_NAME, begin, skip_name(text, begin)};
}

static struct ofl_token dot(const struct ofl_item *item, uint32_t begin)
{
    const char *text = item->text;
    if (ofl_is_digit(text[begin + 1])) {
        return (struct ofl_token){OFL_TOKEN_REAL, begin, skip_exponent(item, skip_digits(text, begin + 1))};
    }
    uint32_t letters = skip_letters(text, begin + 1);
    if (letters > begin + 1 && text[letters] == '.') {
        return (struct ofl_token){OFL_TOKEN_DOT_NAME, begin, letters + 1};
    }
    return (struct ofl_token){OFL_TOKEN_DOT, begin, begin + 1};
}

struct ofl_token ofl_lex(const struct ofl_item *item, uint32_t at)
{
    const char *text = item->text;
    while (text[at] == ' ') {
        at++;
    }
    if (at >= item->length) {
        return (struct ofl_token){OFL_TOKEN_END, item->length, item->length};
    }
    char c = text[at], next = text[at + 1];
    if (ofl_is_letter(c)) {
        return name(item, at);
    }
    if (ofl_is_digit(c)) {
        return number(item, at);
    }
#define ONE(kind) ((struct ofl_token){OFL_TOKEN_##kind, at, at + 1})
#define TWO(kind) ((struct ofl_token){OFL_TOKEN_##kind, at, at + 2})
    switch (c) {
    case '\'':
    case '"':
        return quoted(item, at);
    case '.':
        return dot(item, at);
    case '(':
        return next == '/' ? TWO(LARRAY) : ONE(LPAREN);
    case ')':
        return ONE(RPAREN);
    case '[':
        return ONE(LBRACKET);
    case ']':
        return ONE(RBRACKET);
    case ',':
        return ONE(COMMA);
    case ':':
        return next == ':' ? TWO(DOUBLE_COLON) : ONE(COLON);
    case '=':
        return next == '=' ? TWO(EQ) : next == '>' ? TWO(ARROW) : ONE(EQUALS);
    case '/':
        return next == ')' ? TWO(RARRAY) : next == '/' ? TWO(CONCAT) : next == '=' ? TWO(NE) : ONE(SLASH);
    case '*':
        return next == '*' ? TWO(POWER) : ONE(STAR);
    case '<':
        return next == '=' ? TWO(LE) : next == '>' ? TWO(NE) : ONE(LT);
    case '>':
        return next == '=' ? TWO(GE) : ONE(GT);
    case '%':
        return ONE(PERCENT);
    case '+':
        return ONE(PLUS);
    case '-':
        return ONE(MINUS);
    case '?':
        return ONE(QUESTION);
    case '&':
        return ONE(AMPERSAND);
    case '@':
        return ONE(AT);
    case '_': /* gfortran: a name may begin with it under -fallow-leading-underscore */
        return (struct ofl_token){OFL_TOKEN_NAME, at, skip_name(text, at)};
    default:
        return ONE(OTHER);
    }
#undef ONE
#undef TWO
}

uint32_t ofl_lex_keyword(const struct ofl_item *item, uint32_t at, const char *pattern)
{
    const char *text = item->text;
    while (text[at] == ' ') {
        at++;
    }
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == ' ') {
            while (text[at] == ' ') {
                at++;
            }
        } else if (ofl_is_letter(*pattern) ? (text[at] | 0x20) == *pattern && ofl_is_letter(text[at])
                                           : text[at] == *pattern) {
            at++;
        } else {
            return 0;
        }
    }
    bool word = ofl_is_letter(pattern[-1]);
    return word && !item->glued && ofl_is_name_character(text[at]) ? 0 : at;
}

uint32_t ofl_lex_matching(const struct ofl_item *item, uint32_t at)
{
    unsigned depth = 0;
    for (;;) {
        struct ofl_token token = ofl_lex(item, at);
        switch (token.kind) {
        case OFL_TOKEN_END:
            return 0;
        case OFL_TOKEN_LPAREN:
        case OFL_TOKEN_LBRACKET:
        case OFL_TOKEN_LARRAY:
            depth++;
            break;
        case OFL_TOKEN_RPAREN:
        case OFL_TOKEN_RBRACKET:
        case OFL_TOKEN_RARRAY:
            if (depth <= 1) {
                return token.end;
            }
            depth--;
            break;
        default:
            break;
        }
        at = token.end;
    }
}

static void note(uint32_t *slot, uint32_t at, uint32_t none)
{
    if (*slot == none) {
        *slot = at;
    }
}

struct ofl_outline ofl_lex_outline(const struct ofl_item *item, uint32_t from)
{
    uint32_t none = item->length, at = from;
    struct ofl_outline outline = {none, none, none, none, none};
    const char *text = item->text;
    unsigned depth = 0;
    while (at < item->length) {
        char c = text[at];
        switch (c) {
        case '\'':
        case '"': {
            uint32_t end = constant_end(item, at);
            at = end == 0 ? at + 1 : end;
            continue;
        }
        case '(':
        case '[':
            depth++;
            break;
        case ')':
        case ']':
            depth -= depth > 0;
            break;
        case ',':
            if (depth == 0) {
                note(&outline.comma, at, none);
                if (outline.equals != none) {
                    note(&outline.comma_after_equals, at, none);
                }
            }
            break;
        case ':':
            if (depth == 0 && text[at + 1] == ':') {
                note(&outline.double_colon, at, none);
            }
            break;
        case '=':
            if (text[at + 1] == '=') {
                at++;
            } else if (depth == 0 && text[at + 1] == '>') {
                note(&outline.arrow, at, none);
                at++;
            } else if (depth == 0 &&
                       (at == from || (text[at - 1] != '/' && text[at - 1] != '<' && text[at - 1] != '>'))) {
                note(&outline.equals, at, none);
            }
            break;
        default:
            if (ofl_is_digit(c) && (at == from || !ofl_is_name_character(text[at - 1]))) {
                uint32_t digits = skip_digits(text, at), end = hollerith_end(item, at, digits);
                at = end != 0 ? end : digits;
                continue;
            }
            break;
        }
        at++;
    }
    return outline;
}
