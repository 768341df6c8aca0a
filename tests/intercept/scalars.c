/* A product whose alpha lies in C, and one whose beta does: prints what the CPU library makes of them. */
#include <stddef.h>
#include <stdio.h>

enum { N = 100 };
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

int main(void)
{
    static double a[N * N], b[N * N], c[2 * N * N];
    const int n = N;
    const double two = 2;
    for (int i = 0; i < N * N; i++) {
        a[i] = i * 7 % 13 - 6;
        b[i] = i * 11 % 17 - 8;
        c[i] = c[N * N + i] = i % 5 + 1;
    }
    dgemm_("N", "N", &n, &n, &n, &c[7], a, &n, b, &n, &two, c, &n, 1, 1);
    dgemm_("N", "T", &n, &n, &n, &two, a, &n, b, &n, &c[N * N], c + N * N, &n, 1, 1);
    for (int i = 0; i < 2 * N * N; i++) {
        printf("%.17g\n", c[i]);
    }
    return 0;
}
