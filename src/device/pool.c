/* Threads that help with copies.
 *
 * One thread cannot move data as fast as the wires to a device.  The helpers are
 * made at the first work that is worth it, look out for more for a moment after it, and then sleep; they are detached
 * and nobody waits for them at exit.  They carry the mark of ofl_device_on_thread,
 * block all signals, and may run where the process was allowed to run, not only where
 * the thread that made them is bound.  A quarter of the processors are left to others,
 * and no more are taken than what saturates the wires.
 * Entry point: ofl_pool_run.  Where no thread can be made, the caller works alone. */
#include "device/pool.h"
#include "device/internal.h"
#include "device/rest.h"
#include "device/stack.h"
#include "base/settings.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { stack_bytes = 1 << 20, enough_helpers = 12 };

/* Seconds: how long a helper looks out for more work before it sleeps; for how long at most it looks away then, and
 * while it waits for the rest of a work. */
static const double lingering = 4e-3, nap_between = 60e-6, nap_within = 200e-6;

/* What is to be done, for several callers at the same time.  `turn` is odd while helpers may come; what follows is
 * constant then. */
static struct work {
    _Atomic unsigned turn;
    bool (*help)(void *argument);
    void *argument;
    int wanted;
    atomic_int members; /* helpers that have come in this turn */
    atomic_int inside;  /* helpers that work, or look whether they may */
    atomic_bool taken;  /* a caller has it */
} works[OFL_MOST_LANES];
static _Atomic unsigned news; /* counts what was opened: a futex, on which helpers sleep */
static atomic_int sleeping;   /* helpers that have to be woken */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
/* Under `making`; constant once tried. */
static atomic_int threads;
static atomic_bool tried;

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
    size_t most = bytes / OFL_ALONE_BYTES;
    int helpers = ofl_pool_helpers();
    return most < (size_t)helpers ? (int)most : helpers;
}

/* Until somebody wakes helpers for news after `seen`.  A futex, since one call of the kernel wakes as many as are
 * wanted, and none has to take a lock then. */
static void sleep_after(unsigned seen)
{
    atomic_fetch_add(&sleeping, 1);
    syscall(SYS_futex, &news, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&sleeping, 1);
}

static void wake(int helpers)
{
    int missing = helpers - (atomic_load(&threads) - atomic_load(&sleeping));
    if (missing > 0) {
        syscall(SYS_futex, &news, FUTEX_WAKE_PRIVATE, missing, NULL, NULL, 0);
    }
}

/* What a helper is to a work: of this turn, and whether it was admitted. */
struct membership {
    unsigned turn;
    bool admitted;
};

/* Takes part in the work of that turn, if it is not over.  Who counts as inside before looking at the turn is either
 * waited for or sees that it is over.  Whether there was anything to do. */
static bool take_part(struct work *work, unsigned seen, struct membership *membership)
{
    bool busy = false;
    atomic_fetch_add(&work->inside, 1);
    if (atomic_load(&work->turn) == seen) {
        if (membership->turn != seen) {
            membership->turn = seen;
            membership->admitted = atomic_fetch_add(&work->members, 1) < work->wanted;
        }
        busy = membership->admitted && work->help(work->argument);
    }
    atomic_fetch_sub(&work->inside, 1);
    return busy;
}

/* Takes part in all works.  *open: whether any of them may have more for this helper. */
static bool take_part_in_all(struct membership *memberships, bool *open)
{
    bool busy = false;
    *open = false;
    for (int i = 0; i < OFL_MOST_LANES; i++) {
        unsigned now = atomic_load(&works[i].turn);
        if (now % 2 == 1 && (memberships[i].turn != now || memberships[i].admitted)) {
            busy = take_part(&works[i], now, &memberships[i]) || busy;
            *open = *open || memberships[i].admitted;
        }
    }
    return busy;
}

static void *help(void *unused)
{
    struct membership memberships[OFL_MOST_LANES] = {{0, false}};
    struct ofl_rest rest;
    bool open;
    (void)unused;
    ofl_stack_mark_thread();
    pthread_setname_np(pthread_self(), "gpu-offload");
    prctl(PR_SET_TIMERSLACK, 1000UL); /* nanoseconds: naps end in time */
    ofl_rest_begin(&rest);
    for (;;) {
        unsigned seen = atomic_load(&news);
        if (take_part_in_all(memberships, &open)) {
            ofl_rest_begin(&rest);
        } else if (ofl_rest_a_little(&rest, open ? nap_within : nap_between) > lingering && !open) {
            sleep_after(seen);
            ofl_rest_begin(&rest);
        }
    }
    return NULL;
}

/* `making` is held. */
static void make_threads(void)
{
    pthread_attr_t attributes;
    cpu_set_t processors;
    sigset_t all, before;
    int wanted = ofl_pool_helpers();
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
    while (atomic_load(&threads) < wanted && pthread_create(&thread, &attributes, help, NULL) == 0) {
        atomic_fetch_add(&threads, 1);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static int available(void)
{
    if (!atomic_load(&tried)) {
        pthread_mutex_lock(&making);
        if (!atomic_load(&tried)) {
            make_threads();
        }
        atomic_store(&tried, true);
        pthread_mutex_unlock(&making);
    }
    return atomic_load(&threads);
}

static struct work *take_work(void)
{
    for (int i = 0; i < OFL_MOST_LANES; i++) {
        if (!atomic_load(&works[i].taken) && !atomic_exchange(&works[i].taken, true)) {
            return &works[i];
        }
    }
    return NULL;
}

void ofl_pool_run(void (*lead)(void *argument), bool (*help_with)(void *argument), void *argument, int helpers)
{
    int most = helpers > 0 ? available() : 0;
    struct work *work = most > 0 ? take_work() : NULL;
    if (work == NULL) {
        lead(argument);
        return;
    }
    work->help = help_with;
    work->argument = argument;
    work->wanted = helpers < most ? helpers : most;
    atomic_store(&work->members, 0);
    atomic_fetch_add(&work->turn, 1);
    atomic_fetch_add(&news, 1);
    wake(work->wanted);
    lead(argument);
    atomic_fetch_add(&work->turn, 1);
    struct ofl_rest rest;
    ofl_rest_begin(&rest);
    while (atomic_load(&work->inside) > 0) { /* they are about to end */
        ofl_rest_a_little(&rest, 0);
    }
    atomic_store(&work->taken, false);
}

/* Work of which everybody does the same. */
struct shared_work {
    bool (*help)(void *argument);
    void *argument;
};

static bool help_shared(void *argument)
{
    const struct shared_work *shared = argument;
    return shared->help(shared->argument);
}

static void lead_shared(void *argument)
{
    while (help_shared(argument)) {
    }
}

void ofl_pool_share(bool (*help_with)(void *argument), void *argument, int helpers)
{
    struct shared_work shared = {help_with, argument};
    ofl_pool_run(lead_shared, help_shared, &shared, helpers);
}

void ofl_pool_after_fork(void)
{
    for (int i = 0; i < OFL_MOST_LANES; i++) {
        atomic_store(&works[i].turn, 0);
        atomic_store(&works[i].inside, 0);
        atomic_store(&works[i].taken, false);
    }
    atomic_store(&sleeping, 0);
    making = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&threads, 0);
    atomic_store(&tried, false);
}
