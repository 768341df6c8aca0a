/* What a considered call must find as it left it, around our own work: errno, the floating-point environment, signals
 * and cancellation. */
#ifndef OFL_INTERCEPT_ASIDE_H
#define OFL_INTERCEPT_ASIDE_H
#include <fenv.h>
#include <signal.h>
#include <stdbool.h>

struct ofl_aside {
    int error, cancellable;
    bool
        ordinary; /* the program computes as devices do: rounds to nearest, and floating-point exceptions do not trap */
    bool closed;
    unsigned control; /* of the floating-point unit that our own arithmetic uses, where it is a register */
    fenv_t arithmetic;
    sigset_t signals;
};

/* From here on nothing traps in our own arithmetic: enough for a decision, and costs some nanoseconds. */
void ofl_aside_begin(struct ofl_aside *aside);
/* From here on, for what takes locks, opens files or calls libraries: the thread is not cancelled, and no handler runs.
 * Once is enough. */
void ofl_aside_close(struct ofl_aside *aside);
/* From here on signals without a handler are delivered again: those that end the program must not wait for a device. */
void ofl_aside_at_length(const struct ofl_aside *aside);
void ofl_aside_end(const struct ofl_aside *aside);
#endif
