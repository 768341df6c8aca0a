/* Keeping the program's signals away from threads that are not the program's. */
#ifndef OFL_BASE_SIGNALS_H
#define OFL_BASE_SIGNALS_H
#include <signal.h>

/* Blocks all signals in this thread except those that a fault raises in the thread that made it, and
 * gives what was blocked before.  Threads inherit what is blocked where they are made: around the making of a
 * thread, and around calls of libraries that make some.  Restore with pthread_sigmask(SIG_SETMASK, before, NULL);
 * signals that arrived meanwhile are delivered then. */
void ofl_signals_block(sigset_t *before);

/* After ofl_signals_block(&before): those that end or stop the program, since it has no handler for them, are delivered
 * all the same.  The others wait: while locks are held a handler must not leave by siglongjmp, or end the process,
 * which takes locks. */
void ofl_signals_admit_endings(const sigset_t *before);

/* Around writes of ours to files that the user named or opened: a reader that has left (SIGPIPE) and a file that may
 * not grow (SIGXFSZ) are errors for us to report, not signals for the program to die of. */
struct ofl_quiet_writes {
    sigset_t before, pending;
};
void ofl_quiet_writes_begin(struct ofl_quiet_writes *quiet);
void ofl_quiet_writes_end(const struct ofl_quiet_writes *quiet);
#endif
