/* A dense product by the BLAS library, as any program has it: product N TIMES.
 *
 * The operands lie in ordinary memory and are new for each call, so nothing can be kept from one call to the next.
 * Output: the median time of a call in milliseconds (the first, which may start a device, is left
 * out) and a checksum. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "operands.h"

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 0, times = argc > 2 ? atoi(argv[2]) : 5;
    const double one = 1, zero = 0;
    double *seconds = calloc((size_t)times + 1, sizeof *seconds), sum = 0;
    if (n < 1 || times < 1 || seconds == NULL) {
        fprintf(stderr, "usage: product N [TIMES]\n");
        return 2;
    }
    for (int i = 0; i <= times; i++) {
        struct operands operands = make_operands(n, i);
        double start = now();
        dgemm_("N", "N", &n, &n, &n, &one, operands.a, &n, operands.b, &n, &zero, operands.c, &n, 1, 1);
        seconds[i] = now() - start;
        sum += checksum(&operands);
        free_operands(&operands);
    }
    printf("%.2f %.10e\n", 1e3 * median(seconds + 1, times), sum);
    free(seconds);
    return 0;
}
