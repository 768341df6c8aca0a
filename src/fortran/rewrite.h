/* The host's source: the user's text with every parallel loop replaced, everything else byte for byte as it was.
 *
 * The parts: a list of edits (a range of the text, and the lines that take its place), made loop by loop, and one pass
 * that copies the text, applies them and puts line markers around them, so that the host compiler's messages and a
 * debugger point at the user's lines.  An included file that holds a loop is copied into the text.
 *
 * Inserted lines are whole statements of their own lines, in the file's form, wrapped at its line length.  An edit
 * takes care of statements that share a line with what it replaces (`;`).
 *
 * What must hold: the tree was parsed without errors; edits do not overlap. */
#ifndef OFL_FORTRAN_REWRITE_H
#define OFL_FORTRAN_REWRITE_H

#include "fortran/diagnostic.h"
#include "fortran/parse.h"
#include "fortran/scope.h"
#include "fortran/tree.h"

/* A text that grows; NUL-terminated. */
struct ofl_text {
    struct ofl_arena *arena;
    char *bytes;
    size_t length, capacity;
};

void ofl_text_add(struct ofl_text *text, const char *bytes, size_t length);
void ofl_text_print(struct ofl_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Statements that are inserted, in order. */
struct ofl_line {
    const char *text;
    ofl_pos at; /* the user's line that it stands for */
    struct ofl_line *next;
};

struct ofl_lines {
    struct ofl_arena *arena;
    ofl_pos at; /* of lines added from now on */
    struct ofl_line *first, *last;
};

void ofl_line_add(struct ofl_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces the range [begin, end) of one source by lines; an empty range inserts. */
struct ofl_edit {
    ofl_pos begin, end;
    unsigned order; /* of edits that begin at the same place */
    bool resumes;   /* a statement goes on at `end`; else the rest of the line is a comment at most */
    struct ofl_line *lines;
};

/* Where statements begin and end, in the order of positions; to know who shares a line with whom. */
struct ofl_boundaries {
    ofl_pos *begins, *ends;
    size_t begin_count, end_count, begin_capacity, end_capacity;
};

struct ofl_rewriter {
    struct ofl_arena *arena;
    const struct ofl_sources *sources;
    struct ofl_diagnostics *diagnostics;
    const struct ofl_file *file;
    struct ofl_modules *modules;
    const struct ofl_parse_options *options;
    const char *prefix; /* of inserted names; does not occur in the file */
    struct ofl_edit *edits;
    size_t edit_count, edit_capacity;
    struct ofl_boundaries boundaries;
    unsigned loops;            /* parallel loops seen */
    bool realloc_lhs;          /* --realloc-lhs-arrays */
    bool flang;                /* the host compiler is flang */
    struct ofl_lines appended; /* program units behind the last one */
};

void ofl_rewrite_start(struct ofl_rewriter *rewriter, const struct ofl_file *file, const struct ofl_sources *sources,
                       struct ofl_modules *modules, const struct ofl_parse_options *options,
                       struct ofl_diagnostics *diagnostics, struct ofl_arena *arena);

/* Adds an edit.  Statements before and behind that share a line with it keep their places. */
void ofl_rewrite_edit(struct ofl_rewriter *rewriter, ofl_pos begin, ofl_pos end, const struct ofl_lines *lines);

/* The same where a statement or an include line begins at `end`; `begin` and `end` may be one place. */
void ofl_rewrite_until(struct ofl_rewriter *rewriter, ofl_pos begin, ofl_pos end, const struct ofl_lines *lines);

/* The same as ofl_rewrite_edit for a construct that may begin in one source and end in another (rewrite_across.c). */
void ofl_rewrite_across(struct ofl_rewriter *rewriter, ofl_pos begin, ofl_pos end, const struct ofl_lines *lines);

/* The text of a span as one line: comments, continuations and line markers taken out. */
const char *ofl_rewrite_flat(const struct ofl_rewriter *rewriter, struct ofl_span span);

/* Where a statement begins, its label and construct name included. */
ofl_pos ofl_stmt_begin(const struct ofl_stmt *stmt);

/* Replaces one do concurrent by nested do loops on the CPU (rewrite_loop.c).  Loops in its body are not touched.
 * `directives` is the first of the `!GCC$` directives right before it, or NULL; the innermost loop
 * gets them. */
void ofl_rewrite_on_host(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt, const struct ofl_unit *unit,
                         const struct ofl_stmt *directives);

/* Gives loops that end at the same labelled statement as a parallel loop ends of their own (rewrite_terminal.c): the
 * ordinary ones inside it, before its own end is edited, and those around it, after that. */
void ofl_rewrite_terminal_inside(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt);
void ofl_rewrite_terminal_around(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt);

/* Whether the body of a do concurrent cannot change what its mask reads in another iteration, so that the mask may be
 * evaluated at each iteration (rewrite_mask.c). */
bool ofl_mask_is_stable(const struct ofl_loop *loop, struct ofl_scope *scope);

/* The whole text for the host compiler.  `name_first`: begin with markers that name the file, for -fpreprocessed. */
const char *ofl_rewrite_text(struct ofl_rewriter *rewriter, bool name_first, size_t *length);
#endif
