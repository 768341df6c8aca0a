/* What the tests of the reader share: texts in memory are parsed, trees and messages come back as strings. */
#ifndef OFL_TEST_READING_H
#define OFL_TEST_READING_H

#include "fortran/arena.h"
#include "fortran/parse.h"
#include "fortran/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct reading {
    struct ofl_arena *arena;
    struct ofl_sources sources;
    struct ofl_diagnostics diagnostics;
    struct ofl_modules modules;
    struct ofl_parse_options options;
    struct ofl_file *file;
};

/* Parses `text`; options for the form are gfortran's unless set in reading->options before (form is set here). */
void reading_start(struct reading *reading, enum ofl_form form);
void reading_parse(struct reading *reading, const char *text, size_t length);
void reading_end(struct reading *reading);

char *reading_tree(const struct reading *reading);     /* free it */
char *reading_messages(const struct reading *reading); /* free it */

/* The tree of a text, which must have no errors. */
void assert_tree(enum ofl_form form, const char *text, const char *expected);
/* The first message's first line of a text. */
void assert_error(enum ofl_form form, const char *text, const char *expected);
#endif
