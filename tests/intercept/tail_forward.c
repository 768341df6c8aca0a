/* A plugin whose only function is a tail call: the BLAS sees the return address of the plugin's caller. */
#include <stddef.h>
void dgemm_(const char *, const char *, const void *, const void *, const void *, const double *, const double *,
            const void *, const double *, const void *, const double *, double *, const void *, size_t, size_t);
void forward_dgemm(const char *ta, const char *tb, const void *m, const void *n, const void *k, const double *alpha,
                   const double *a, const void *lda, const double *b, const void *ldb, const double *beta, double *c,
                   const void *ldc, size_t one, size_t two);
__attribute__((optimize("O2"))) void forward_dgemm(const char *ta, const char *tb, const void *m, const void *n,
                                                   const void *k, const double *alpha, const double *a, const void *lda,
                                                   const double *b, const void *ldb, const double *beta, double *c,
                                                   const void *ldc, size_t one, size_t two)
{
    dgemm_(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, one, two);
}
