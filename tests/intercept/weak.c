/* Weak references to BLAS routines: weak [PLUGIN].  A name that no library has is not there, one that the program's
 * library has is called.  As a library (-DLIBRARY) the same from a plugin, in whose scope they may be. */
#include <dlfcn.h>
#include <stdio.h>

extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                   const int *, const double *, const int *, const double *, double *, const int *)
    __attribute__((weak));
extern void dgemm_64_(void) __attribute__((weak));
extern void scipy_cblas_dgemm64_(void) __attribute__((weak));

int check(int expected);
int check(int expected)
{
    static const int n = 2;
    static const double one = 1, a[4] = {1, 2, 3, 4};
    double c[4] = {0};
    if (dgemm_64_ != NULL || scipy_cblas_dgemm64_ != NULL || (dgemm_ != NULL) != expected) {
        printf("dgemm_: %d, expected %d; dgemm_64_: %d\n", dgemm_ != NULL, expected, dgemm_64_ != NULL);
        return 1;
    }
    if (dgemm_ != NULL) {
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &one, c, &n);
    }
    return expected && c[0] != 7;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
    int failed = check(EXPECTED);
    for (int i = 1; i < argc; i++) {
        void *handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        int (*function)(int);
        *(void **)&function = handle != NULL ? dlsym(handle, "check") : NULL;
        failed |= function == NULL || function(i == 1) != 0;
    }
    return failed;
}
#endif
