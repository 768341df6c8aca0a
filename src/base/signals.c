/* Keeping the program's signals away from threads that are not the program's. */
#include "base/signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

/* Those that a fault raises in the thread that made it. */
static void spare_faults(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sigdelset(set, faults[i]);
    }
}

void ofl_signals_block(sigset_t *before)
{
    sigset_t blocked;
    sigfillset(&blocked);
    spare_faults(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

void ofl_signals_admit_endings(const sigset_t *before)
{
    /* What people and systems send to end or stop a program; asking for all would take 64 calls of the kernel. */
    static const int endings[] = {SIGINT,  SIGTERM, SIGQUIT, SIGHUP,  SIGTSTP,   SIGPIPE, SIGXCPU,
                                  SIGALRM, SIGUSR1, SIGUSR2, SIGPROF, SIGVTALRM, SIGTTIN, SIGTTOU};
    sigset_t admitted;
    sigemptyset(&admitted);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct sigaction now;
        if (sigismember(before, endings[i]) == 0 && sigaction(endings[i], NULL, &now) == 0 &&
            now.sa_handler == SIG_DFL) {
            sigaddset(&admitted, endings[i]);
        }
    }
    pthread_sigmask(SIG_UNBLOCK, &admitted, NULL);
}

static void write_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGPIPE);
    sigaddset(set, SIGXFSZ);
}

void ofl_quiet_writes_begin(struct ofl_quiet_writes *quiet)
{
    sigset_t ours;
    write_signals(&ours);
    sigpending(&quiet->pending);
    pthread_sigmask(SIG_BLOCK, &ours, &quiet->before);
}

/* Both signals are sent to the thread that writes: what is pending now and was not before is ours to take. */
void ofl_quiet_writes_end(const struct ofl_quiet_writes *quiet)
{
    static const int numbers[] = {SIGPIPE, SIGXFSZ};
    const struct timespec at_once = {0, 0};
    int saved = errno;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigset_t one, now;
        sigemptyset(&one);
        sigaddset(&one, numbers[i]);
        sigpending(&now);
        if (sigismember(&now, numbers[i]) == 1 && sigismember(&quiet->pending, numbers[i]) == 0) {
            sigtimedwait(&one, NULL, &at_once);
        }
    }
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
    errno = saved;
}
