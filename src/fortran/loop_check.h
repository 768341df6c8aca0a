/* What Fortran forbids in a do concurrent, and the host compiler no longer sees after rewriting.
 *
 * Checked on every device and without one: leaving the loop (exit, return, go to labels outside, cycle of an outer
 * loop), image control and stop, assignment to an index, names in localities that are indices or appear twice,
 * variables that default(none) wants in a clause, and references of procedures whose declaration is in this file and
 * not pure.  Each is an error at its place, with a note at the loop.  Not checked: procedures of other files,
 * type-bound procedures, defined operators. */
#ifndef OFL_FORTRAN_LOOP_CHECK_H
#define OFL_FORTRAN_LOOP_CHECK_H

#include "fortran/diagnostic.h"
#include "fortran/scope.h"

/* Checks one do concurrent; those in its body are checked by calls of their own. */
void ofl_loop_check(const struct ofl_stmt *stmt, const struct ofl_unit *unit, struct ofl_diagnostics *diagnostics);
#endif
