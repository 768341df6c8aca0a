/* verdict: two factorisations, the second of which fails; exit status 42 if info says so. */
#include <stddef.h>

enum { n = 200 };

void dpotrf_(const char *uplo, const int *order, double *a, const int *lda, int *info, size_t);

int main(void)
{
    static double a[n * n];
    const int order = n;
    int info = -1;
    a[0] = 1;
    dpotrf_("U", &order, a, &order, &info, 1);
    if (info != 0) {
        return 1;
    }
    a[0] = -1;
    dpotrf_("U", &order, a, &order, &info, 1);
    return info == 1 ? 42 : 1;
}
