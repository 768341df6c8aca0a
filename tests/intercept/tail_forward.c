/* A plugin that forwards by a tail call: the BLAS sees the return address of the plugin's caller.  With -DKEEP it
 * also calls by a pointer that it has kept since it was loaded. */
#include <stddef.h>
#include <stdlib.h>
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
#ifdef KEEP
static __typeof(dgemm_) **kept;
void keep_pointer(void);
void keep_pointer(void)
{
    kept = kept != NULL ? kept : malloc(sizeof *kept);
    *kept = dgemm_;
}
void call_kept(const char *ta, const char *tb, const void *m, const void *n, const void *k, const double *alpha,
               const double *a, const void *lda, const double *b, const void *ldb, const double *beta, double *c,
               const void *ldc, size_t one, size_t two);
void call_kept(const char *ta, const char *tb, const void *m, const void *n, const void *k, const double *alpha,
               const double *a, const void *lda, const double *b, const void *ldb, const double *beta, double *c,
               const void *ldc, size_t one, size_t two)
{
    (*kept)(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, one, two);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
#endif
