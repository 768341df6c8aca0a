/* The canary of the calibration; see canary.h.
 *
 * The job runs on all cores at once, because the CPU library does: one core that others take slows every
 * multithreaded routine.  Its time is that of the slowest core. */
#include "cli/calibrate/canary.h"
#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_CORES = 256, STEPS = 400000 };

static int cores = 1;
static double usual; /* seconds */

/* A chain of dependent multiplications and additions: about a millisecond. */
static void *job(void *seconds)
{
    volatile double sink;
    double x = 0.5, started = ofl_clock();
    for (int i = 0; i < STEPS; i++) {
        x = x * 0.999 + 0.001;
    }
    sink = x;
    (void)sink;
    *(double *)seconds = ofl_clock() - started;
    return NULL;
}

static double run(void)
{
    pthread_t thread[MAX_CORES];
    double seconds[MAX_CORES], slowest = 0;
    bool started[MAX_CORES] = {false};
    for (int i = 1; i < cores; i++) {
        started[i] = pthread_create(&thread[i], NULL, job, &seconds[i]) == 0;
    }
    job(&seconds[0]);
    for (int i = 0; i < cores; i++) {
        if (i > 0 && started[i]) {
            pthread_join(thread[i], NULL);
        }
        if (i == 0 || started[i]) {
            slowest = seconds[i] > slowest ? seconds[i] : slowest;
        }
    }
    return slowest;
}

void ofl_canary_start(void)
{
    cpu_set_t allowed;
    cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    cores = cores > MAX_CORES ? MAX_CORES : cores;
    usual = run();
    for (int i = 0; i < 50; i++) {
        double seconds = run();
        usual = seconds < usual ? seconds : usual;
    }
}

bool ofl_canary_quiet(void)
{
    double seconds = run();
    usual = seconds < usual ? seconds : usual;
    return seconds <= 1.25 * usual;
}

bool ofl_canary_wait(double seconds)
{
    double until = ofl_clock() + seconds;
    /* The CPU library's own threads may still be waiting for work, at full speed, for some milliseconds. */
    for (long nap = 2; !ofl_canary_quiet(); nap = nap < 50 ? 2 * nap : nap) {
        if (ofl_clock() > until) {
            return false;
        }
        nanosleep(&(struct timespec){0, nap * 1000000}, NULL);
    }
    return true;
}
