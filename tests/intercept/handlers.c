/* Signal handlers that leave calls by siglongjmp, as programs with a time limit for each step do.
 *
 * The next calls must work as ever.  Prints how many calls were completed and how many were begun; those that reached
 * the device are at least the former and at most the latter. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

enum { n = 200, alarms = 100, calls_after = 20 };
static double a[n * n], b[n * n], c[n * n];
static sigjmp_buf out;
static volatile sig_atomic_t armed;
static volatile long begun, completed, left;

static void leave(int number)
{
    (void)number;
    if (armed) {
        armed = 0;
        left++;
        siglongjmp(out, 1);
    }
}

static void multiply(void)
{
    const int order = n;
    const double one = 1, zero = 0;
    begun++;
    dgemm_("N", "N", &order, &order, &order, &one, a, &order, b, &order, &zero, c, &order, 1, 1);
    completed++;
}

int main(void)
{
    struct sigaction action = {.sa_handler = leave};
    for (int i = 0; i < n * n; i++) {
        a[i] = b[i] = 1;
    }
    multiply();
    sigaction(SIGALRM, &action, NULL);
    for (volatile int i = 0; i < alarms; i++) {
        struct itimerval soon = {.it_value = {0, 1 + rand() % 2000}};
        if (sigsetjmp(out, 1) == 0) {
            armed = 1;
            setitimer(ITIMER_REAL, &soon, NULL);
            while (armed) {
                multiply();
            }
        }
    }
    for (int i = 0; i < calls_after; i++) {
        multiply();
    }
    printf("%ld %ld\n", completed, begun);
    return left > 0 && c[0] == n && c[n * n - 1] == n ? 0 : 1;
}
