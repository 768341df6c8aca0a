/* The ways in which a process ends, as far as it can be seen: exit runs the destructor, quick_exit a handler of its
 * own, and _exit and _Exit come here.  Children of Python's multiprocessing end by _exit.
 *
 * Whichever comes first writes the summary and ends the trace.  _exit may be called where nearly nothing is allowed: in
 * a signal handler on a tiny stack, in a child of vfork, which is in its parent's memory.  So it has a stack of its
 * own here, and does nothing in a process other than the one that these counts are of. */
#include "intercept/ending.h"
#include "intercept/summary.h"
#include "intercept/wrapper.h"
#include "trace/writer.h"

#include <dlfcn.h>
#include <fenv.h>
#include <stdlib.h>
#include <unistd.h>

static pid_t owner;         /* of the counts; written by its only thread at the start, and in a child of fork */
static _Atomic bool ending; /* whoever sets it writes */

static void write_counts(void)
{
    fenv_t arithmetic;
    feholdexcept(&arithmetic); /* the figures are rounded, which the program may have let trap */
    ofl_summary_write();
    ofl_trace_stop();
    fesetenv(&arithmetic);
}

void ofl_ending(void)
{
    if (!atomic_exchange(&ending, true)) {
        write_counts();
    }
}

void ofl_ending_forked(void)
{
    owner = getpid();
    atomic_store(&ending, false);
}

#if defined __x86_64__
static void *exit_next, *exit_next_c99; /* written at the start */

static __attribute__((aligned(64))) char stack[64 * 1024];

static void prepare(void)
{
    if (owner != 0 && getpid() == owner && !atomic_exchange(&ending, true)) {
        __asm__ volatile("movq %%rsp, %%r12\n"
                         "movq %0, %%rsp\n"
                         "call *%1\n"
                         "movq %%r12, %%rsp\n"
                         :
                         : "r"(stack + sizeof stack), "r"(write_counts)
                         : "r12", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0",
                           "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                           "xmm12", "xmm13", "xmm14", "xmm15");
    }
}

/* Before the start, in another library's constructor, there is nothing to write. */
static void *next(void *found, const char *name)
{
    prepare();
    return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

void *ofl_prepare_exit(void) __attribute__((visibility("hidden")));
void *ofl_prepare_exit(void)
{
    return next(exit_next, "_exit");
}

void *ofl_prepare_exit_c99(void) __attribute__((visibility("hidden")));
void *ofl_prepare_exit_c99(void)
{
    return next(exit_next_c99, "_Exit");
}

OFL_TAIL_HOOK(_exit, ofl_prepare_exit);
OFL_TAIL_HOOK(_Exit, ofl_prepare_exit_c99);
#endif

void ofl_ending_start(void)
{
#if defined __x86_64__
    exit_next = dlsym(RTLD_NEXT, "_exit");
    exit_next_c99 = dlsym(RTLD_NEXT, "_Exit");
#endif
    owner = getpid();
    (void)at_quick_exit(ofl_ending); /* fails only where memory is exhausted */
}
