/* Running the device's work with enough stack.
 *
 * Programs make threads with stacks as small as 64 KiB and call BLAS from them.
 * Drivers, their compilers and the dynamic linker need more.  The main thread is
 * not asked: its stack grows, and asking costs a look into /proc.  Where no thread
 * can be made the work is done here, as the program's own library would do it. */
#include "device/stack.h"
#include "base/signals.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

static const size_t enough = (size_t)256 << 10;
static const size_t large = (size_t)8 << 20;

static void (*thread_mark)(void); /* written before the first start */

struct errand {
    void (*function)(void *);
    void *argument;
};

void ofl_stack_set_mark(void (*mark)(void))
{
    thread_mark = mark;
}

void ofl_stack_mark_thread(void)
{
    if (thread_mark != NULL) {
        thread_mark();
    }
}

static void *run_errand(void *argument)
{
    const struct errand *errand = argument;
    ofl_stack_mark_thread();
    errand->function(errand->argument);
    return NULL;
}

static bool has_room(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (getpid() == gettid()) {
        return true;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return true;
    }
    bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
    pthread_attr_destroy(&attributes);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    /* A coroutine's stack lies elsewhere; nothing is known about it. */
    if (!known || here < (uintptr_t)low || here >= (uintptr_t)low + size) {
        return true;
    }
    return here - (uintptr_t)low >= enough;
}

void ofl_with_large_stack(void (*function)(void *), void *argument)
{
    struct errand errand = {function, argument};
    pthread_attr_t attributes;
    pthread_t thread;
    bool made = false;
    if (!has_room() && pthread_attr_init(&attributes) == 0) {
        sigset_t before;
        pthread_attr_setstacksize(&attributes, large);
        /* The program's handlers run in the program's threads. */
        ofl_signals_block(&before);
        made = pthread_create(&thread, &attributes, run_errand, &errand) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (made) {
        pthread_join(thread, NULL);
    } else {
        function(argument);
    }
}
