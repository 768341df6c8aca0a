/* Running the device's work with enough stack.
 *
 * Programs make threads with stacks as small as 16 KiB, and coroutines (ucontext, fibers of all kinds) with stacks of
 * their own, and call BLAS from them.  Drivers, their compilers and the dynamic linker need more.  So where the stack
 * that the caller is on has no room, or is not the one that its thread was made with, the work is done in the same
 * thread on a stack of ours.  Nothing but the stack differs: thread-local storage, signals and locks are the thread's.
 *
 * A stack that is not used waits in `spares` for the next call.  No lock: a fork or a signal may come at any time. */
#include "device/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { spare_count = 8 };
static const size_t enough = (size_t)256 << 10;
static const size_t large = (size_t)8 << 20;

static void (*thread_mark)(void); /* written before the first start */
static void *_Atomic spares[spare_count];

struct bounds {
    uintptr_t low, high;
};
struct errand {
    void (*function)(void *);
    void *argument;
    ucontext_t caller, borrowed;
};

static _Thread_local struct {
    struct bounds own;       /* of the stack that the thread was made with, once it has been asked for */
    struct bounds lent;      /* of the stack of ours that it is on */
    struct errand *starting; /* for run_errand */
} local __attribute__((tls_model("initial-exec")));

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

/* Of the main thread's stack, which grows, the answer is what its limit allows. */
static struct bounds find_own(void)
{
    struct bounds bounds = {0, 0};
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            bounds = (struct bounds){(uintptr_t)low, (uintptr_t)low + size};
        }
        pthread_attr_destroy(&attributes);
    }
    return bounds;
}

static bool has_room_in(const struct bounds *bounds, uintptr_t here)
{
    return here > bounds->low && here < bounds->high && here - bounds->low >= enough;
}

static bool has_room(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (local.own.high == 0) {
        local.own = find_own();
    }
    return has_room_in(&local.own, here) || has_room_in(&local.lent, here);
}

/* The lowest page of a stack is a guard. */
static void *borrow(void)
{
    for (int i = 0; i < spare_count; i++) {
        void *stack = atomic_exchange(&spares[i], NULL);
        if (stack != NULL) {
            return stack;
        }
    }
    void *stack =
        mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        return NULL;
    }
    if (mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) != 0) {
        munmap(stack, large);
        return NULL;
    }
    return stack;
}

static void give_back(void *stack)
{
    for (int i = 0; i < spare_count; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&spares[i], &none, stack)) {
            return;
        }
    }
    munmap(stack, large);
}

static void run_errand(void)
{
    const struct errand *errand = local.starting;
    errand->function(errand->argument);
}

static bool run_on(void *stack, struct errand *errand)
{
    struct bounds before = local.lent;
    if (getcontext(&errand->borrowed) != 0) {
        return false;
    }
    errand->borrowed.uc_stack.ss_sp = stack;
    errand->borrowed.uc_stack.ss_size = (uintptr_t)errand - (uintptr_t)stack;
    errand->borrowed.uc_link = &errand->caller;
    makecontext(&errand->borrowed, run_errand, 0);
    local.lent = (struct bounds){(uintptr_t)stack, (uintptr_t)stack + large};
    local.starting = errand;
    bool done = swapcontext(&errand->caller, &errand->borrowed) == 0;
    local.lent = before;
    return done;
}

bool ofl_with_large_stack(void (*function)(void *), void *argument)
{
    int saved = errno;
    if (has_room()) {
        errno = saved;
        function(argument);
        return true;
    }
    void *stack = borrow();
    bool done = false;
    if (stack != NULL) {
        /* At its high end, so as to take nothing of the caller's: it may have little left. */
        struct errand *errand = (struct errand *)((char *)stack + large) - 1;
        *errand = (struct errand){.function = function, .argument = argument};
        done = run_on(stack, errand);
        give_back(stack);
    }
    errno = saved;
    return done;
}
