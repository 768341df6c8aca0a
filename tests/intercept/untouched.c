/* A call leaves alone what BLAS leaves alone: errno, the floating-point environment, which signals are blocked, and a
 * cancellation that waits for the thread to come to a place for it.
 *
 * Prints how many calls were made with the floating-point environment that every program starts with. */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stddef.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

enum { n = 150 };
static double a[n * n], b[n * n], c[n * n];
static int ordinary, failures;

static void check(int good, const char *what, const char *when)
{
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, when);
        failures++;
    }
}

static void multiply(const char *when)
{
    const int order = n;
    const double one = 1, zero = 0;
    sigset_t before, after;
    int rounding = fegetround(), traps = fegetexcept();
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    errno = 0;
    dgemm_("N", "N", &order, &order, &order, &one, a, &order, b, &order, &zero, c, &order, 1, 1);
    check(errno == 0, "errno", when);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number <= SIGRTMAX; number++) {
        check(sigismember(&before, number) == sigismember(&after, number), "signals", when);
    }
    check(fegetround() == rounding && fegetexcept() == traps && fetestexcept(FE_ALL_EXCEPT) == 0, "arithmetic", when);
    check(c[0] == n && c[n * n - 1] == n, "result", when);
    ordinary += rounding == FE_TONEAREST && traps == 0;
}

static int came_back;
static void *cancelled(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    multiply("cancelled");
    came_back = 1;
    pthread_testcancel();
    return NULL;
}

int main(void)
{
    static const int roundings[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
    pthread_t thread;
    for (int i = 0; i < n * n; i++) {
        a[i] = b[i] = 1;
    }
    /* Everything exact: no flag may be raised, and nothing trap. */
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
    multiply("first, with traps");
    fedisableexcept(FE_ALL_EXCEPT);
    multiply("second");
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++) {
        fesetround(roundings[i]);
        multiply("rounding");
    }
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    multiply("traps");
    fedisableexcept(FE_ALL_EXCEPT);
    if (pthread_create(&thread, NULL, cancelled, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        return 2;
    }
    check(came_back, "cancelled inside", "cancelled");
    printf("%d\n", ordinary);
    return failures != 0;
}
