/* Tokens of the current statement, made one at a time.
 *
 * Entry point: ofl_lex.  It is a function of the text and an offset only, so looking ahead is calling it again.
 * Offsets are in the joined text of the statement. */
#ifndef OFL_FORTRAN_LEXER_H
#define OFL_FORTRAN_LEXER_H

#include "fortran/token.h"

#include <stdbool.h>

struct ofl_item;

/* The token at or behind `at`. */
struct ofl_token ofl_lex(const struct ofl_item *item, uint32_t at);

/* Character classes of ASCII; independent of the locale. */
bool ofl_is_letter(char c);
bool ofl_is_digit(char c);
bool ofl_is_name_character(char c); /* letter, digit, _, $, or a byte of a UTF-8 sequence is not */

/* If the text at `at` (blanks skipped) spells `pattern`, the offset behind it, else 0.  A space in the pattern stands
 * for optional blanks.  Where blanks count, a pattern that ends in a letter must not be followed by a name character.
 */
uint32_t ofl_lex_keyword(const struct ofl_item *item, uint32_t at, const char *pattern);

/* May a Hollerith constant begin at this offset of a statement that is no format? */
bool ofl_hollerith_may_follow(const char *text, uint32_t begin);

/* The offset behind the bracket that closes the one at `at`, or 0 if there is none. */
uint32_t ofl_lex_matching(const struct ofl_item *item, uint32_t at);

/* What stands at parenthesis depth 0 of the statement from `from` on; an offset is the text's length where there is
 * none. */
struct ofl_outline {
    uint32_t equals;       /* the first `=` that is not part of ==, /=, <=, >=, => */
    uint32_t arrow;        /* the first `=>` */
    uint32_t double_colon; /* the first `::` */
    uint32_t comma;        /* the first comma */
    uint32_t comma_after_equals;
};
struct ofl_outline ofl_lex_outline(const struct ofl_item *item, uint32_t from);
#endif
