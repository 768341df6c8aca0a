/* Source texts, and what a position in them means to the user.
 *
 * Every text that takes part in a compilation (the file, what it includes, or the output of the preprocessor) is
 * loaded into one address space: a position is a number below 2^32, and the text that holds it has a base, so that
 * position - base is the byte offset in the text exactly as it was read.  A span is a pair of positions.  The bytes are
 * never changed, so that a rewriter can copy them and replace single spans.
 *
 * A file that is included twice is two sources (with one copy of the bytes): its lines mean different things in the
 * two places.  Line markers (`# 12 "solver.F90"`, `#line 12 "solver.F90"`) in a text say which user's line follows;
 * ofl_place_of honours them.
 *
 * Everything is owned by the arena.  What this does not do: look inside the text, except for line ends and markers. */
#ifndef OFL_FORTRAN_SOURCE_H
#define OFL_FORTRAN_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ofl_arena;

typedef uint32_t ofl_pos; /* 0 is no position */

struct ofl_span {
    ofl_pos begin, end; /* the bytes [begin, end); both in one source unless an include lies between */
};

struct ofl_marker; /* a line marker; private to source.c */

struct ofl_source {
    const char *path; /* as it was opened, or as the caller named it */
    const char *text; /* `length` bytes, then a NUL */
    uint32_t length;
    ofl_pos base;                    /* position of text[0]; base + length is the position of its end */
    const struct ofl_source *parent; /* the source with the include line, or NULL */
    struct ofl_span include_line;    /* the include line in the parent, without its line end */
    unsigned depth;                  /* number of parents */

    /* Private to source.c. */
    uint32_t *line_starts; /* offsets; made when first asked for */
    uint32_t line_count;
    struct ofl_marker *markers;
    uint32_t marker_count;
};

/* All sources of a compilation, in the order of their bases. */
struct ofl_sources {
    struct ofl_arena *arena;
    struct ofl_source **items;
    size_t count, capacity;
    ofl_pos next_base;
    struct ofl_source **included; /* private to source.c: hash table by path of what was included */
    size_t included_count, included_capacity;
};

struct ofl_place {
    const char *file; /* the user's file: after line markers */
    uint32_t line;    /* from 1 */
    uint32_t column;  /* from 1, in bytes of the text */
};

enum ofl_load_error {
    OFL_LOAD_OK,
    OFL_LOAD_SYSTEM,    /* errno says why */
    OFL_LOAD_DIRECTORY, /* it is a folder */
    OFL_LOAD_TOO_LARGE  /* more than OFL_MAX_SOURCE_BYTES or OFL_MAX_SOURCES in all */
};

/* All texts of one compilation together.  With the number of sources it protects against include files that include
 * each other exponentially. */
#define OFL_MAX_SOURCE_BYTES ((uint32_t)1 << 30)
#define OFL_MAX_SOURCES      200000

void ofl_sources_start(struct ofl_sources *sources, struct ofl_arena *arena);

/* Reads a file ("-" is standard input).  NULL with *error set if that fails. */
struct ofl_source *ofl_source_load(struct ofl_sources *sources, const char *path, enum ofl_load_error *error);

/* Adds a text that is in memory, e.g. the preprocessor's output; `path` names it where no marker does.  The bytes are
 * copied into the arena.  NULL if it is too large. */
struct ofl_source *ofl_source_add(struct ofl_sources *sources, const char *path, const char *text, size_t length);

/* Loads `path` as included by `line` of `parent`; shares the bytes if the same path is loaded already. */
struct ofl_source *ofl_source_include(struct ofl_sources *sources, const char *path, const struct ofl_source *parent,
                                      struct ofl_span line, enum ofl_load_error *error);

/* The source that holds a position (its end included), or NULL for 0. */
const struct ofl_source *ofl_source_at(const struct ofl_sources *sources, ofl_pos position);

/* Whether one position comes before another in the text with included files in the places of their include lines.
 * (Positions alone say so only within a source.) */
bool ofl_comes_before(const struct ofl_sources *sources, ofl_pos one, ofl_pos other);

/* The user's file, line and column of a position. */
struct ofl_place ofl_place_of(const struct ofl_sources *sources, ofl_pos position);

/* The line of text that holds the position, without its line end. */
struct ofl_span ofl_line_of(const struct ofl_sources *sources, ofl_pos position);

/* Line number (from 1) in the text itself, markers not honoured; and the offset where a line starts. */
uint32_t ofl_source_line(const struct ofl_sources *sources, const struct ofl_source *source, uint32_t offset);
uint32_t ofl_source_line_start(const struct ofl_sources *sources, const struct ofl_source *source, uint32_t line);

/* The bytes of a span; both ends must lie in one source (else NULL).  *length may be NULL. */
const char *ofl_span_text(const struct ofl_sources *sources, struct ofl_span span, size_t *length);

static inline struct ofl_span ofl_span_join(struct ofl_span first, struct ofl_span last)
{
    return (struct ofl_span){first.begin, last.end};
}
#endif
