/* An operation by the BLAS library, as any program has it: product OPERATION N [TIMES [fresh]]
 *
 * The operands lie in ordinary memory and are new for each call, so nothing can be kept from one call to the next. With
 * `fresh` the result's pages do not exist yet.  Output: the median time of a call in milliseconds (the first, which may
 * start a device, is left out), a checksum of rounds 1 to TIMES and the size of what it sums. */
#include "operands.h"

void sgemm_(const char *, const char *, const int *, const int *, const int *, const void *, const void *, const int *,
            const void *, const int *, const void *, void *, const int *, size_t, size_t);
void dgemm_(const char *, const char *, const int *, const int *, const int *, const void *, const void *, const int *,
            const void *, const int *, const void *, void *, const int *, size_t, size_t);
void zgemm_(const char *, const char *, const int *, const int *, const int *, const void *, const void *, const int *,
            const void *, const int *, const void *, void *, const int *, size_t, size_t);
void dsyrk_(const char *, const char *, const int *, const int *, const void *, const void *, const int *, const void *,
            void *, const int *, size_t, size_t);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *, const void *,
            const void *, const int *, void *, const int *, size_t, size_t, size_t, size_t);

static void run(enum operation operation, const struct operands *o)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    static const float one_single = 1, zero_single = 0;
    const int *n = &o->n;
    switch (operation) {
    case SGEMM:
        sgemm_("N", "N", n, n, n, &one_single, o->a, n, o->b, n, &zero_single, o->c, n, 1, 1);
        break;
    case DGEMM:
        dgemm_("N", "N", n, n, n, one, o->a, n, o->b, n, zero, o->c, n, 1, 1);
        break;
    case ZGEMM:
        zgemm_("N", "N", n, n, n, one, o->a, n, o->b, n, zero, o->c, n, 1, 1);
        break;
    case DSYRK:
        dsyrk_("U", "N", n, n, one, o->a, n, zero, o->c, n, 1, 1);
        break;
    case DTRSM:
        dtrsm_("L", "U", "N", "N", n, n, one, o->a, n, o->b, n, 1, 1, 1, 1);
        break;
    case OPERATIONS:
        break;
    }
}

int main(int argc, char **argv)
{
    const enum operation operation = argc > 1 ? operation_named(argv[1]) : OPERATIONS;
    const int n = argc > 2 ? atoi(argv[2]) : 0, times = argc > 3 ? atoi(argv[3]) : 5;
    const bool fresh = argc > 4 && strcmp(argv[4], "fresh") == 0;
    double *seconds = calloc((size_t)(times > 0 ? times : 0) + 1, sizeof *seconds), sum = 0, size = 0;
    if (operation == OPERATIONS || n < 1 || times < 1 || seconds == NULL) {
        fprintf(stderr, "usage: product OPERATION N [TIMES [fresh]]\n");
        return 2;
    }
    for (int i = 0; i <= times; i++) {
        struct operands operands = make_operands(operation, n, i, fresh);
        double start = now();
        run(operation, &operands);
        seconds[i] = now() - start;
        if (i > 0) {
            add_checksum(operation, &operands, &sum, &size);
        }
        free_operands(&operands);
    }
    printf("%.3f %.10e %.10e\n", 1e3 * median(seconds + 1, times), sum, size);
    free(seconds);
    return 0;
}
