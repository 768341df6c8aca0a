/* Keeping the program's signals away from threads that are not the program's. */
#ifndef OFL_BASE_SIGNALS_H
#define OFL_BASE_SIGNALS_H
#include <signal.h>

/* Blocks all signals in this thread except those that a fault raises in the thread that made it, and
 * gives what was blocked before.  Threads inherit what is blocked where they are made: around the making of a
 * thread, and around calls of libraries that make some.  Restore with pthread_sigmask(SIG_SETMASK, before, NULL);
 * signals that arrived meanwhile are delivered then. */
void ofl_signals_block(sigset_t *before);
#endif
