/* A pool of threads on which kernels run, one for each processor that the process may use.
 *
 * Made at the first launch.  One launch runs at a time; the indices of its blocks
 * are handed out one by one by an atomic counter.  The caller only waits: its stack
 * may be too small for a kernel.  Where no thread can be made, the caller works. */
#include "host.h"
#include "base/signals.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { stack_bytes = 8 << 20, most_threads = 256 };

struct work {
    void (*function)(void *argument, uint64_t index);
    void *argument;
    uint64_t count;
    atomic_ullong next;
};

static pthread_mutex_t launch_lock = PTHREAD_MUTEX_INITIALIZER; /* one launch at a time */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
/* Under `lock`. */
static struct work *work;
static unsigned long long round_number;
static int busy;
static bool stopping;
/* Under `launch_lock`. */
static pthread_t threads[most_threads];
static int thread_count;
static bool made;

int ofl_host_pool_threads(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < most_threads ? count : most_threads;
}

static void do_work(struct work *now)
{
    for (;;) {
        uint64_t index = atomic_fetch_add(&now->next, 1);
        if (index >= now->count) {
            return;
        }
        now->function(now->argument, index);
    }
}

static void *worker(void *argument)
{
    unsigned long long seen = 0;
    (void)argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!stopping && (work == NULL || round_number == seen)) {
            pthread_cond_wait(&arrived, &lock);
        }
        if (stopping) {
            break;
        }
        struct work *now = work;
        seen = round_number;
        busy++;
        pthread_mutex_unlock(&lock);
        do_work(now);
        pthread_mutex_lock(&lock);
        busy--;
        pthread_cond_signal(&finished);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void make_threads(void)
{
    pthread_attr_t attributes;
    sigset_t before;
    int wanted = ofl_host_pool_threads();
    if (made || pthread_attr_init(&attributes) != 0) {
        return;
    }
    made = true;
    pthread_attr_setstacksize(&attributes, stack_bytes);
    ofl_signals_block(&before); /* they are for the program's own threads */
    while (thread_count < wanted && pthread_create(&threads[thread_count], &attributes, worker, NULL) == 0) {
        thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

enum ofl_reason ofl_host_pool_run(void (*function)(void *argument, uint64_t index), void *argument, uint64_t count)
{
    struct work now = {.function = function, .argument = argument, .count = count};
    pthread_mutex_lock(&launch_lock);
    make_threads();
    if (thread_count == 0) {
        do_work(&now);
    } else {
        pthread_mutex_lock(&lock);
        work = &now;
        round_number++;
        pthread_cond_broadcast(&arrived);
        /* All indices handed out and nobody at work: a thread that wakes later finds no work. */
        while (busy > 0 || atomic_load(&now.next) < count) {
            pthread_cond_wait(&finished, &lock);
        }
        work = NULL;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&launch_lock);
    return OFL_OK;
}

void ofl_host_pool_stop(void)
{
    pthread_mutex_lock(&launch_lock);
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_broadcast(&arrived);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < thread_count; i++) {
        pthread_join(threads[i], NULL);
    }
    thread_count = 0;
    made = stopping = false;
    pthread_mutex_unlock(&launch_lock);
}
