/* repeat CALLS N [MS]: makes CALLS products of N x N matrices, MS milliseconds apart, and checks each; exit status 42
 * if all are right. */
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

int main(int argc, char **argv)
{
    int calls = argc > 2 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : 2;
    int pause = argc > 3 ? atoi(argv[3]) : 0;
    size_t elements = (size_t)n * (size_t)n;
    const double one = 1, zero = 0;
    double *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b), *c = malloc(elements * sizeof *c);
    if (a == NULL || b == NULL || c == NULL) {
        return 1;
    }
    for (int call = 0; call < calls; call++) {
        if (call > 0 && pause > 0) {
            nanosleep(&(struct timespec){pause / 1000, pause % 1000 * 1000000L}, NULL);
        }
        for (size_t i = 0; i < elements; i++) {
            a[i] = call + 1;
            b[i] = 2;
            c[i] = -1;
        }
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
        for (size_t i = 0; i < elements; i++) {
            if (c[i] != 2.0 * n * (call + 1)) {
                return 1;
            }
        }
    }
    free(a);
    free(b);
    free(c);
    return 42;
}
