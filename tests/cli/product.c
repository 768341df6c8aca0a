/* A program that makes one call of BLAS and checks it; exit status 42 if it is right. */
#include <stddef.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

int main(void)
{
    const int n = 2;
    const double one = 1, zero = 0, a[4] = {1, 2, 3, 4};
    double c[4] = {0};
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
    return c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22 ? 42 : 1;
}
