/* The unsupported-construct check: whether a parallel loop uses something that its device does not run, by the table
 * unsupported.def.
 *
 * It decides from the program as it is written, before any lowering, and does not depend on how far lowering would get.
 * It looks at the loop's body and mask and at every procedure that they reach: statements, the declared types of
 * dummies, results, locals and variables of blocks, and the type of every expression that is evaluated.  (The limits
 * are evaluated by the host.)  What is below a constant expression is not looked at.
 *
 * Derived types: a component reference s%m is judged by the type of m alone, since only that component reaches the
 * device.  A value used as a whole, and a variable that a reached procedure or a block of the loop declares, is judged
 * by all components, recursively.
 *
 * Purity is not relied on.  What cannot be resolved is no answer: a call of a procedure whose body is not at hand, a
 * name from a module that is not. */
#ifndef OFL_FORTRAN_UNSUPPORTED_H
#define OFL_FORTRAN_UNSUPPORTED_H

#include "fortran/meaning.h"

/* Devices as the table has them; cuda_cpu counts as cuda. */
enum { OFL_UNSUPPORTED_METAL = 1, OFL_UNSUPPORTED_CUDA = 2, OFL_UNSUPPORTED_ALL = 3 };

enum ofl_verdict {
    OFL_VERDICT_DEVICE,  /* nothing was found */
    OFL_VERDICT_LISTED,  /* it uses something on the list */
    OFL_VERDICT_UNKNOWN, /* nothing on the list was found, but not everything could be resolved */
};

/* The first construct found. */
struct ofl_finding {
    enum ofl_verdict verdict;
    const char *what; /* LISTED: "real(16) ('quad')"; UNKNOWN: the whole message */
    const char *why;  /* LISTED */
    struct ofl_span span;
    struct ofl_span declared;         /* begin 0 if it says nothing more */
    const struct ofl_reached *within; /* the procedure that has the construct; NULL: the loop itself */
    bool not_yet;                     /* UNKNOWN: right, but not yet implemented */
};

/* `loop` is a do concurrent, or the do statement behind an `!$omp parallel do`. */
struct ofl_finding ofl_unsupported_find(struct ofl_modules *modules, const struct ofl_unit *unit,
                                        const struct ofl_stmt *loop, unsigned device);

/* Points at the calls that lead from the loop to where something was found, and at the loop. */
void ofl_unsupported_notes(struct ofl_diagnostics *diagnostics, const struct ofl_finding *finding,
                           const struct ofl_stmt *loop);
#endif
