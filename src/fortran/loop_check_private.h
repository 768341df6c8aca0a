/* What the parts of the check of do concurrent share. */
#ifndef OFL_FORTRAN_LOOP_CHECK_PRIVATE_H
#define OFL_FORTRAN_LOOP_CHECK_PRIVATE_H

#include "fortran/loop_check.h"

struct ofl_loop_check {
    struct ofl_modules *modules;
    const struct ofl_stmt *stmt; /* the do concurrent */
    const struct ofl_unit *unit;
    struct ofl_diagnostics *diagnostics;
};

/* "the loop begins here" */
void ofl_loop_note(const struct ofl_loop_check *check);

/* The value that a statement's control list gives a keyword, or NULL. */
const struct ofl_expr *ofl_control_value(const struct ofl_arg *controls, const char *keyword);

bool ofl_is_index(const struct ofl_loop *loop, const struct ofl_name *name);

void ofl_loop_check_header(const struct ofl_loop_check *check);
void ofl_loop_check_localities(const struct ofl_loop_check *check);
void ofl_loop_check_references(const struct ofl_loop_check *check);
#endif
