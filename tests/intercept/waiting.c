/* A library whose constructor starts a thread that calls BLAS, and waits for it; without -DLIBRARY, a program that
 * loads such libraries. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LIBRARY
extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                   const int *, const double *, const int *, const double *, double *, const int *);

static void *run(void *unused)
{
    static const int n = 2;
    static const double one = 1, a[4] = {1, 2, 3, 4};
    double c[4] = {0};
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &one, c, &n);
    if (c[0] != 7) {
        abort();
    }
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) {
        abort();
    }
    pthread_join(thread, NULL);
}
#else
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (dlopen(argv[i], RTLD_NOW | RTLD_LOCAL) == NULL) {
            puts(dlerror());
            return 1;
        }
    }
    return 0;
}
#endif
