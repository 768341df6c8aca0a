/* A BLAS of one routine, in the integer width INT, that counts its calls; isamax_ lets its width be found out. */
#include <stdint.h>
static long calls;
long marked_calls(void);
long marked_calls(void)
{
    return calls;
}
INT isamax_(const INT *n, const float *x, const INT *increment);
INT isamax_(const INT *n, const float *x, const INT *increment)
{
    INT largest = 0;
    for (INT i = 0; i < *n; i++) {
        largest = i == 0 || x[i * *increment] > x[(largest - 1) * *increment] ? i + 1 : largest;
    }
    return largest;
}
void dgemm_(const char *ta, const char *tb, const INT *m, const INT *n, const INT *k, const double *alpha,
            const double *a, const INT *lda, const double *b, const INT *ldb, const double *beta, double *c,
            const INT *ldc);
void dgemm_(const char *ta, const char *tb, const INT *m, const INT *n, const INT *k, const double *alpha,
            const double *a, const INT *lda, const double *b, const INT *ldb, const double *beta, double *c,
            const INT *ldc)
{
    calls++;
    for (INT j = 0; *ta == 'N' && *tb == 'N' && j < *n; j++) {
        for (INT i = 0; i < *m; i++) {
            double sum = 0;
            for (INT l = 0; l < *k; l++) {
                sum += a[i + l * *lda] * b[l + j * *ldb];
            }
            c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
        }
    }
}
