/* What Fortran forbids in a do concurrent, and the host compiler no longer sees after rewriting.
 *
 * Checked on every device and without one:
 *   loop_check.c      leaving the loop (exit, return, branches of all kinds, cycle of an outer loop), image control and
 *                     stop, advance=
 *   loop_header.c     types of indices, limits and mask; limits that name an index
 *   loop_locality.c   what may be in a locality clause, default(none)
 *   loop_reference.c  references of procedures that are not pure (by name, generic, binding, operator, assignment or
 *                     finalization), the index in a place where it would get a value, deallocation of what is
 *                     polymorphic
 * Each is an error at its place, with a note at the loop.  A procedure whose declaration is not at hand is not judged
 * here: on a device it is an error of its own (unsupported.h). */
#ifndef OFL_FORTRAN_LOOP_CHECK_H
#define OFL_FORTRAN_LOOP_CHECK_H

#include "fortran/meaning.h"

/* Checks one do concurrent; those in its body are checked by calls of their own. */
void ofl_loop_check(struct ofl_modules *modules, const struct ofl_stmt *stmt, const struct ofl_unit *unit,
                    struct ofl_diagnostics *diagnostics);
#endif
