/* What an intercepted call costs beyond a direct one.
 *
 * Run under `gpu-offload run`.  The same routine is called in two ways in turn, in blocks: by its name, which
 * the dynamic linker bound to the wrapper, and through the address in the BLAS library itself. A block's
 * figure is its time per call; the difference of neighbouring blocks is free of slow drifts, and
 * the median over many pairs of blocks free of interruptions.  Without the preload both ways are the same, and
 * the difference shows how exact the figures are.
 *
 * Output: a line per routine, `ROUTINE DIRECT NAMED DIFFERENCE` in nanoseconds. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void gemm_function(const char *, const char *, const int *, const int *, const int *, const double *,
                           const double *, const int *, const double *, const int *, const double *, double *,
                           const int *, size_t, size_t);
typedef void trsm_function(const char *, const char *, const char *, const char *, const int *, const int *,
                           const double *, const double *, const int *, double *, const int *, size_t, size_t, size_t,
                           size_t);
typedef void cblas_gemm_function(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                                 double *, int);
gemm_function dgemm_;
trsm_function dtrsm_;
cblas_gemm_function cblas_dgemm;

enum { N = 2, CALLS = 500, PAIRS = 4001 };
static double a[N * N] = {2, 1, 0, 2}, b[N * N] = {1, 2, 3, 4}, c[N * N];

static void call_gemm(void *function)
{
    const int n = N;
    const double one = 1, zero = 0;
    ((gemm_function *)function)("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

static void call_trsm(void *function)
{
    const int n = N;
    const double one = 1;
    ((trsm_function *)function)("L", "U", "N", "U", &n, &n, &one, a, &n, c, &n, 1, 1, 1, 1);
}

static void call_cblas_gemm(void *function)
{
    ((cblas_gemm_function *)function)(102, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Both loops are this one, so that they differ in the function's address only. */
static __attribute__((noinline)) double block(void (*call)(void *), void *function)
{
    double start = now();
    for (int i = 0; i < CALLS; i++) {
        call(function);
    }
    return (now() - start) / CALLS;
}

static int compare(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static double median(double *values)
{
    qsort(values, PAIRS, sizeof *values, compare);
    return values[PAIRS / 2];
}

static void measure(const char *name, void (*call)(void *), void *named)
{
    static double direct_times[PAIRS], named_times[PAIRS], differences[PAIRS];
    void *library = dlopen("libblas.so.3", RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) {
        library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    }
    void *direct = library != NULL ? dlsym(library, name) : NULL;
    if (direct == NULL) {
        fprintf(stderr, "calls: no BLAS library with %s is loaded\n", name);
        exit(1);
    }
    for (int i = 0; i < PAIRS; i++) {
        /* In both orders, since the second block finds warmer caches. */
        if (i % 2 == 0) {
            direct_times[i] = block(call, direct);
            named_times[i] = block(call, named);
        } else {
            named_times[i] = block(call, named);
            direct_times[i] = block(call, direct);
        }
        differences[i] = named_times[i] - direct_times[i];
    }
    double difference = median(differences);
    printf("%s %.1f %.1f %.1f\n", name, median(direct_times), median(named_times), difference);
}

int main(void)
{
    measure("dgemm_", call_gemm, (void *)dgemm_);
    measure("dtrsm_", call_trsm, (void *)dtrsm_);
    measure("cblas_dgemm", call_cblas_gemm, (void *)cblas_dgemm);
    return 0;
}
