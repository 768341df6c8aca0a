/* Threads that help with copies.
 *
 * One thread cannot move data as fast as the wires to a device.  The helpers are
 * made at the first work that is worth it and sleep between calls; they are detached
 * and nobody waits for them at exit.  Without work for a second they end: a process whose last thread ends
 * (main may have left by pthread_exit) is over, and must not live on for the sake of helpers.  They carry the mark of
 * ofl_device_on_thread, block all signals, and may run where the process was allowed to run, not only where the thread
 * that made them is bound.  A quarter of the processors are left to others, and no more are taken than what saturates
 * the wires. Entry point: ofl_pool_run.  Where no thread can be made, the caller works alone. */
#include "device/pool.h"
#include "device/lanes.h"
#include "device/slots.h"
#include "device/stack.h"
#include "base/clock.h"
#include "base/settings.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* Helpers start operations too, and three nested frames of OpenBLAS's LU, on the host device, take 1.6 MB. */
enum { stack_bytes = 8 << 20, enough_helpers = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, left = PTHREAD_COND_INITIALIZER;
/* Under `lock`. */
static struct work {
    void (*function)(void *argument, int participant); /* NULL: there is nothing to do */
    void *argument;
    int wanted, joined, inside;
} work;
static atomic_bool taken;             /* somebody has the helpers */
static atomic_int inside;             /* work.inside, to look at without the lock while waiting for 0 */
static const double patience = 30e-6; /* seconds: waking a thread takes as long */
static int threads;
static bool tried; /* as many as can be made have been made */

int ofl_pool_helpers(void)
{
    int64_t set = ofl_settings()->staging_threads;
    cpu_set_t processors;
    if (set >= 0) {
        return set < OFL_MOST_HELPERS ? (int)set : OFL_MOST_HELPERS;
    }
    int count = sched_getaffinity(getpid(), sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
    count -= count > 2 ? (count + 3) / 4 : 1; /* some stay for others */
    return count < enough_helpers ? count : enough_helpers;
}

int ofl_pool_helpers_for(size_t bytes)
{
    if (ofl_settings()->small_pieces) {
        return ofl_pool_helpers();
    }
    size_t most = bytes < OFL_ALONE_BYTES || ofl_lanes_crowded() ? 0 : bytes / OFL_ALONE_BYTES;
    int helpers = most > 0 ? ofl_pool_helpers() : 0;
    return most < (size_t)helpers ? (int)most : helpers;
}

/* Wakes as many as are still wanted, at most `most`.  Waking is slow, so those who were woken wake others.  `lock` is
 * held. */
static void wake(int most)
{
    int missing = work.wanted - work.joined;
    for (int i = 0; i < most && i < missing; i++) {
        pthread_cond_signal(&arrived);
    }
}

/* Waits until there is something to do; false: there was nothing for too long.  `lock` is held. */
static bool wait_for_work(void)
{
    enum { idle_seconds = 1 };
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += idle_seconds;
    int result = 0;
    while (result == 0 && (work.function == NULL || work.joined == work.wanted)) {
        result = pthread_cond_clockwait(&arrived, &lock, CLOCK_MONOTONIC, &until);
    }
    return work.function != NULL && work.joined < work.wanted;
}

static void *help(void *unused)
{
    (void)unused;
    ofl_stack_mark_thread();
    pthread_setname_np(pthread_self(), "gpu-offload");
    pthread_mutex_lock(&lock);
    while (wait_for_work()) {
        struct work mine = work;
        work.joined++;
        work.inside++;
        wake(2);
        pthread_mutex_unlock(&lock);
        mine.function(mine.argument, mine.joined + 1);
        pthread_mutex_lock(&lock);
        if (--work.inside == 0) {
            pthread_cond_signal(&left);
        }
        atomic_store_explicit(&inside, work.inside, memory_order_release);
    }
    threads--;
    tried = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* `lock` is held. */
static void make_threads(void)
{
    pthread_attr_t attributes;
    cpu_set_t processors;
    sigset_t all, before;
    int wanted = ofl_pool_helpers();
    tried = true;
    if (wanted == 0 || pthread_attr_init(&attributes) != 0) {
        return;
    }
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (sched_getaffinity(getpid(), sizeof processors, &processors) == 0) {
        pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's handlers run in the program's threads */
    pthread_t thread;
    while (threads < wanted && pthread_create(&thread, &attributes, help, NULL) == 0) {
        threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void run_with_helpers(void (*function)(void *argument, int participant), void *argument, int helpers)
{
    pthread_mutex_lock(&lock);
    if (!tried) {
        make_threads();
    }
    helpers = helpers < threads ? helpers : threads;
    if (helpers < 1) {
        pthread_mutex_unlock(&lock);
        function(argument, 0);
        return;
    }
    work = (struct work){function, argument, helpers, 0, 0};
    wake(2);
    pthread_mutex_unlock(&lock);
    function(argument, 0);
    pthread_mutex_lock(&lock);
    work.function = NULL;
    if (work.inside > 0) { /* they are about to end */
        atomic_store_explicit(&inside, work.inside, memory_order_relaxed);
        pthread_mutex_unlock(&lock);
        double begin = ofl_clock();
        while (atomic_load_explicit(&inside, memory_order_acquire) > 0 && ofl_clock() - begin < patience) {
        }
        pthread_mutex_lock(&lock);
    }
    while (work.inside > 0) {
        pthread_cond_wait(&left, &lock);
    }
    pthread_mutex_unlock(&lock);
}

void ofl_pool_run(void (*function)(void *argument, int participant), void *argument, int helpers)
{
    if (helpers < 1 || atomic_exchange(&taken, true)) {
        function(argument, 0);
        return;
    }
    run_with_helpers(function, argument, helpers);
    atomic_store(&taken, false);
}

void ofl_pool_after_fork(void)
{
    atomic_store(&taken, false);
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    arrived = left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    work = (struct work){0};
    threads = 0;
    tried = false;
}
