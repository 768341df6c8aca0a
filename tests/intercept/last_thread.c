/* The process ends with its last thread, after main has left by pthread_exit: no helper of ours keeps it. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

enum { n = 600 };
static double a[n * n], b[n * n], c[n * n];

static void *work(void *unused)
{
    const int order = n;
    const double one = 1, zero = 0;
    dgemm_("N", "N", &order, &order, &order, &one, a, &order, b, &order, &zero, c, &order, 1, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}
