/* From lines to logical statements.
 *
 * The reader hands out one statement after the other: continuations joined, comments gone, split at `;`, include files
 * entered.  The joined text keeps, for each character, its position in the original.  In free form blanks are kept; in
 * fixed form they are removed outside of character and Hollerith constants, because there they mean nothing.
 * Directives (`!$omp`, `!$acc`, `!dir$`) and include lines are handed out as items of their own.
 *
 * What must hold: memory for the current statement only, time linear in the text; end of file always comes. */
#ifndef OFL_FORTRAN_STATEMENT_H
#define OFL_FORTRAN_STATEMENT_H

#include "fortran/diagnostic.h"
#include "fortran/parse.h"
#include "fortran/source.h"

enum { OFL_MAX_INCLUDE_DEPTH = 100 };

enum ofl_item_kind {
    OFL_ITEM_STATEMENT,
    OFL_ITEM_DIRECTIVE, /* text: behind the sentinel, lower case */
    OFL_ITEM_INCLUDE,   /* `included` has been entered */
    OFL_ITEM_END
};

/* What ofl_reader_next found; valid until the next call. */
struct ofl_item {
    enum ofl_item_kind kind;
    const char *text; /* NUL-terminated */
    uint32_t length;
    const ofl_pos *where; /* of each character; where[length] is behind the last one */
    struct ofl_span span; /* statement without label, directive with its sentinel, include line */
    struct ofl_label label;
    bool glued; /* blanks were removed */
    bool dec;   /* -fdec */
    bool split; /* free form: a line that was joined begins in column 1, without `&` (parse_split.c) */
    const struct ofl_name *sentinel;
    const struct ofl_source *included;
};

struct ofl_reader {
    struct ofl_arena *arena;
    struct ofl_sources *sources;
    struct ofl_diagnostics *diagnostics;
    const struct ofl_parse_options *options;

    const struct ofl_source *source;
    uint32_t at;   /* the next byte to read in source */
    bool mid_line; /* `at` is behind a `;` */
    uint32_t mid_line_end,
        mid_line_pad;    /* fixed form: the end of that line's statement part; blanks to its last column */
    bool split;          /* of the item that is being read */
    bool conditional;    /* that line begins with `!$ ` */
    uint32_t line_start; /* where the line that holds `at` begins */
    struct {
        const struct ofl_source *source;
        uint32_t at;
    } stack[OFL_MAX_INCLUDE_DEPTH];
    unsigned depth;

    char *text; /* malloc'ed: reused from statement to statement */
    ofl_pos *where;
    uint32_t length, capacity;
    ofl_pos behind;    /* behind the last character that was put */
    ofl_pos long_line; /* start of the line that was last reported as too long */
};

void ofl_reader_start(struct ofl_reader *reader, const struct ofl_source *source,
                      const struct ofl_parse_options *options, struct ofl_sources *sources,
                      struct ofl_diagnostics *diagnostics);
void ofl_reader_finish(struct ofl_reader *reader); /* frees the buffers */
void ofl_reader_next(struct ofl_reader *reader, struct ofl_item *item);

/* ---- Between the reader's files --------------------------------------------------------------------------------- */

/* Appends a character and its position to the joined text. */
void ofl_reader_put(struct ofl_reader *reader, char c, ofl_pos position);

/* Moves to the next line: false at the end of everything.  Leaves include files that have ended. */
bool ofl_reader_line(struct ofl_reader *reader);
void ofl_reader_skip_line(struct ofl_reader *reader); /* to behind the line end */

/* Is the line that begins at `at` an include line? */
bool ofl_at_include(const struct ofl_source *source, uint32_t at);

/* Is there an include line at the reader's line?  Then enters it and fills the item (unless it cannot be opened, which
 * is reported: then the line is skipped and *item has kind OFL_ITEM_END). */
bool ofl_reader_include(struct ofl_reader *reader, struct ofl_item *item);

/* The sentinel that begins at `at` ("omp" for !$omp), NULL if it is a plain comment; *length is the sentinel's. */
const char *ofl_sentinel_at(const struct ofl_source *source, uint32_t at, uint32_t *length);

/* The statement read so far ends with an H: the number of characters of the Hollerith constant that begins with it, or
 * 0. `format`: the statement is a format, where one may follow anything. */
uint32_t ofl_hollerith_length(const struct ofl_reader *reader, bool format);

bool ofl_reader_is_format(const struct ofl_reader *reader);

void ofl_reader_too_long(struct ofl_reader *reader, uint32_t line_start, uint32_t at, unsigned limit);

bool ofl_read_free(struct ofl_reader *reader, struct ofl_item *item);
bool ofl_read_fixed(struct ofl_reader *reader, struct ofl_item *item);
void ofl_read_directive_free(struct ofl_reader *reader, uint32_t at, const char *sentinel, uint32_t length,
                             struct ofl_item *item);
void ofl_read_directive_fixed(struct ofl_reader *reader, uint32_t at, const char *sentinel, uint32_t length,
                              struct ofl_item *item);
#endif
