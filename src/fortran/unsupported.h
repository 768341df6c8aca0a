/* The check that decides whether a loop uses something that its device will never do: the table unsupported.def.
 *
 * It looks at the loop as it was written, at its body only; what called procedures do is not looked at yet, and does
 * not have to be: kernels call none. */
#ifndef OFL_FORTRAN_UNSUPPORTED_H
#define OFL_FORTRAN_UNSUPPORTED_H

#include "fortran/scope.h"
#include "fortran/tree.h"

/* The first construct found; `what` is NULL if there is none. */
struct ofl_blocker {
    const char *what; /* "real(16) ('quad')" */
    const char *why;
    struct ofl_span span;
};

struct ofl_blocker ofl_unsupported_find(const struct ofl_stmt *loop, const struct ofl_unit *unit,
                                        struct ofl_arena *arena);
#endif
