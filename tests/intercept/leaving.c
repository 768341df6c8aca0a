/* The process ends while other threads are in calls; exit status 7. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

enum { n = 300, threads = 4 };
static double a[n * n], b[n * n], c[threads][n * n];

static void *work(void *place)
{
    const int order = n;
    const double one = 1, zero = 0;
    for (;;) {
        dgemm_("N", "N", &order, &order, &order, &one, a, &order, b, &order, &zero, place, &order, 1, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread, NULL, work, c[i]) != 0) {
            return 1;
        }
    }
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    return 7;
}
