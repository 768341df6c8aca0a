/* What Fortran forbids in a do concurrent, and the host compiler no longer sees after rewriting.
 *
 * Checked here, on every device and without one, because no types are needed: leaving the loop (exit, return, go to and
 * alternate returns to labels outside, cycle of an outer loop), image control and stop, assignment to an index, and
 * names in localities that are indices or appear twice.  Each is an error at its place, with a note at the loop. */
#ifndef OFL_FORTRAN_LOOP_CHECK_H
#define OFL_FORTRAN_LOOP_CHECK_H

#include "fortran/diagnostic.h"
#include "fortran/tree.h"

/* Checks one do concurrent; those in its body are checked by calls of their own. */
void ofl_loop_check(const struct ofl_stmt *stmt, struct ofl_diagnostics *diagnostics);
#endif
