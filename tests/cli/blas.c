/* A BLAS library with two routines, so that these tests need none to be installed. */
#include <stddef.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);
int isamax_(const int *n, const float *x, const int *increment);

/* Only what the client below asks for: no transposition. */
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc)
{
    (void)transa, (void)transb;
    for (int j = 0; j < *n; j++) {
        for (int i = 0; i < *m; i++) {
            double sum = 0;
            for (int l = 0; l < *k; l++) {
                sum += a[i + l * *lda] * b[l + j * *ldb];
            }
            c[i + j * *ldc] = *alpha * sum + (*beta != 0 ? *beta * c[i + j * *ldc] : 0);
        }
    }
}

/* gpu-offload finds the width of the integers with it. */
int isamax_(const int *n, const float *x, const int *increment)
{
    int largest = *n > 0 ? 1 : 0;
    for (int i = 1; i < *n; i++) {
        float value = x[i * *increment], before = x[(largest - 1) * *increment];
        largest = (value < 0 ? -value : value) > (before < 0 ? -before : before) ? i + 1 : largest;
    }
    return largest;
}
