/* Our own work inside a call leaves no trace in the thread; see aside.h.
 *
 * BLAS takes no locks that a handler could meet, is no place where threads are cancelled, and sets neither errno nor,
 * for exact sums, the inexact flag.  Our work takes locks and opens files.  A handler that left it by siglongjmp would
 * leave a lock behind, one that calls exit would wait for it; so handlers wait until it is done. */
#include "intercept/aside.h"
#include "base/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#if defined __SSE__
#include <xmmintrin.h>

/* The register itself: programs also set it by the compiler's intrinsics, of which fegetround does not know.
 * Flushing to zero is no matter: devices keep the small numbers. */
static bool is_ordinary(void)
{
    return (_mm_getcsr() & (_MM_MASK_MASK | _MM_ROUND_MASK)) == (_MM_MASK_MASK | _MM_ROUND_NEAREST);
}
#else
static bool is_ordinary(void)
{
    return fegetround() == FE_TONEAREST && fegetexcept() == 0;
}
#endif

void ofl_aside_begin(struct ofl_aside *aside)
{
    aside->error = errno;
    aside->ordinary = is_ordinary();
    ofl_signals_block(&aside->signals);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &aside->cancellable);
    feholdexcept(&aside->arithmetic);
}

void ofl_aside_at_length(const struct ofl_aside *aside)
{
    sigset_t handled, blocked;
    ofl_signals_handled(&handled);
    sigorset(&blocked, &aside->signals, &handled);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void ofl_aside_end(const struct ofl_aside *aside)
{
    fesetenv(&aside->arithmetic);
    pthread_setcancelstate(aside->cancellable, NULL);
    errno = aside->error;
    pthread_sigmask(SIG_SETMASK, &aside->signals, NULL);
}
