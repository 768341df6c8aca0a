/* Keeping the program's signals away from threads that are not the program's. */
#include "base/signals.h"

#include <stddef.h>

void ofl_signals_block(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}
