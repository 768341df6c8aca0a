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
static void begin_arithmetic(struct ofl_aside *aside)
{
    aside->control = _mm_getcsr();
    aside->ordinary = (aside->control & (_MM_MASK_MASK | _MM_ROUND_MASK)) == (_MM_MASK_MASK | _MM_ROUND_NEAREST);
    if (!aside->ordinary) {
        _mm_setcsr(aside->control | _MM_MASK_MASK);
    }
}

static void end_arithmetic(const struct ofl_aside *aside)
{
    _mm_setcsr(aside->control);
}
#else
static void begin_arithmetic(struct ofl_aside *aside)
{
    aside->ordinary = fegetround() == FE_TONEAREST && fegetexcept() == 0;
    feholdexcept(&aside->arithmetic);
}

static void end_arithmetic(const struct ofl_aside *aside)
{
    fesetenv(&aside->arithmetic);
}
#endif

void ofl_aside_begin(struct ofl_aside *aside)
{
    aside->error = errno;
    aside->closed = false;
    begin_arithmetic(aside);
}

void ofl_aside_close(struct ofl_aside *aside)
{
    if (!aside->closed) {
        aside->closed = true;
        ofl_signals_block(&aside->signals);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &aside->cancellable);
        end_arithmetic(aside);
        feholdexcept(&aside->arithmetic);
    }
}

void ofl_aside_at_length(const struct ofl_aside *aside)
{
    ofl_signals_admit_endings(&aside->signals);
}

void ofl_aside_end(const struct ofl_aside *aside)
{
    if (!aside->closed) {
        end_arithmetic(aside);
        errno = aside->error;
        return;
    }
    fesetenv(&aside->arithmetic);
    pthread_setcancelstate(aside->cancellable, NULL);
    errno = aside->error;
    pthread_sigmask(SIG_SETMASK, &aside->signals, NULL);
}
