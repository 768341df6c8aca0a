/* Tokens of a statement.
 *
 * The lexer works on one logical statement at a time (continuations joined, see statement.h) and makes tokens when the
 * parser asks: what `(/`, `4Habcd` or `/=` mean depends on where they stand.  Keywords are not reserved, so a keyword
 * is a name until the parser asks for it; where blanks do not count (fixed form) the parser may take a keyword off the
 * front of a longer name. */
#ifndef OFL_FORTRAN_TOKEN_H
#define OFL_FORTRAN_TOKEN_H

#include "fortran/source.h"

enum ofl_token_kind {
    OFL_TOKEN_END, /* of the statement */
    OFL_TOKEN_NAME,
    OFL_TOKEN_INTEGER,   /* digits, without kind */
    OFL_TOKEN_REAL,      /* with exponent, without kind */
    OFL_TOKEN_CHARACTER, /* '...' or "...", quotes included */
    OFL_TOKEN_HOLLERITH, /* 4Habcd */
    OFL_TOKEN_BOZ,       /* z'ff' or 'ff'z */
    OFL_TOKEN_DOT_NAME,  /* .and. .true. .myop. */
    OFL_TOKEN_LPAREN,
    OFL_TOKEN_RPAREN,
    OFL_TOKEN_LBRACKET,
    OFL_TOKEN_RBRACKET,
    OFL_TOKEN_LARRAY, /* (/ */
    OFL_TOKEN_RARRAY, /* /) */
    OFL_TOKEN_COMMA,
    OFL_TOKEN_COLON,
    OFL_TOKEN_DOUBLE_COLON,
    OFL_TOKEN_SEMICOLON,
    OFL_TOKEN_EQUALS,
    OFL_TOKEN_ARROW, /* => */
    OFL_TOKEN_PERCENT,
    OFL_TOKEN_DOT, /* a lone dot: DEC component reference */
    OFL_TOKEN_PLUS,
    OFL_TOKEN_MINUS,
    OFL_TOKEN_STAR,
    OFL_TOKEN_POWER, /* ** */
    OFL_TOKEN_SLASH,
    OFL_TOKEN_CONCAT, /* // */
    OFL_TOKEN_EQ,     /* == */
    OFL_TOKEN_NE,     /* /= */
    OFL_TOKEN_LT,
    OFL_TOKEN_LE,
    OFL_TOKEN_GT,
    OFL_TOKEN_GE,
    OFL_TOKEN_QUESTION,
    OFL_TOKEN_AMPERSAND,
    OFL_TOKEN_AT,
    OFL_TOKEN_QUOTE, /* a quote that begins no constant: READ(1'7) */
    OFL_TOKEN_OTHER  /* a character that no Fortran token begins with */
};

struct ofl_token {
    enum ofl_token_kind kind;
    uint32_t begin, end; /* offsets in the joined text of the statement */
};

/* The text of a token kind as messages name it, e.g. "','". */
const char *ofl_token_text(enum ofl_token_kind kind);
#endif
