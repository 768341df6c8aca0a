/* Messages about the user's source: collected, then printed in order.
 *
 *     solver.f90:12:8: error: 'n' is not a variable
 *        12 |   n = 3
 *           |   ^
 *     solver.f90:4:26: note: declared here as a named constant
 *
 * Three things are kept apart: an error of the user's (ofl_diag_error), a construct that is right but that we cannot do
 * yet (ofl_diag_unsupported), and a fault of ours (ofl_diag_bug).  All three make the compilation fail.  A note belongs
 * to the message before it.  Nothing is printed before ofl_diag_print, so that a caller can decide that a file goes to
 * the host compiler untouched and drop what was found.
 *
 * A message at the same position with the same text is kept once.  After `limit` errors (default 100) further ones are
 * counted only. */
#ifndef OFL_FORTRAN_DIAGNOSTIC_H
#define OFL_FORTRAN_DIAGNOSTIC_H

#include "fortran/source.h"

#include <stdio.h>

enum ofl_severity {
    OFL_DIAG_ERROR,
    OFL_DIAG_UNSUPPORTED, /* "not yet implemented: ..." */
    OFL_DIAG_BUG,         /* "compiler bug: ..." */
    OFL_DIAG_WARNING,
    OFL_DIAG_NOTE
};

struct ofl_diagnostic {
    enum ofl_severity severity;
    struct ofl_span span; /* begin 0: about no place */
    const char *text;
    struct ofl_diagnostic *next;
};

struct ofl_diagnostics {
    const struct ofl_sources *sources;
    struct ofl_arena *arena;
    struct ofl_diagnostic *first, *last;
    unsigned errors; /* all that make the compilation fail, also those beyond the limit */
    unsigned warnings;
    unsigned limit;
    bool drop_notes; /* the last message was not kept, so neither are its notes */
};

void ofl_diag_start(struct ofl_diagnostics *diagnostics, const struct ofl_sources *sources, struct ofl_arena *arena);

#define OFL_PRINTF_3 __attribute__((format(printf, 3, 4)))
void ofl_diag_error(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...) OFL_PRINTF_3;
void ofl_diag_unsupported(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format,
                          ...) OFL_PRINTF_3;
void ofl_diag_bug(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...) OFL_PRINTF_3;
void ofl_diag_warning(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...) OFL_PRINTF_3;
void ofl_diag_note(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...) OFL_PRINTF_3;

/* Prints all messages in the order they were found. */
void ofl_diag_print(const struct ofl_diagnostics *diagnostics, FILE *stream, bool colour);

/* Whether to colour messages on a stream: it is a terminal, and neither NO_COLOR nor TERM=dumb says otherwise. */
bool ofl_diag_wants_colour(FILE *stream);
#endif
