/* The same routine by hand: cudaMemcpy in, cuSOLVER, cudaMemcpy out.  plain_cuda ROUTINE N [TIMES]
 *
 * What somebody who knows CUDA writes first; device memory and workspaces are allocated once, the host's memory is
 * ordinary.  Output, times in milliseconds: the median of a whole call; the median of what the device takes when
 * everything is there already; what copying in and out once takes at 46 GB/s, matrices counted whole; how far the
 * results are off, see problem.h. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include "problem.h"

static const double wire = 46e9; /* bytes a second, each way */

static void must(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "plain_cuda: %s failed (%d)\n", what, status);
        exit(1);
    }
}

static struct {
    cusolverDnHandle_t handle;
    cusolverDnParams_t params;
    cublasHandle_t blas;
    cudaDataType type;
    void *a, *kept_a, *b, *kept_b, *tau;
    int64_t *pivots;
    void *work, *host_work;
    size_t work_bytes, host_bytes;
    int lwork; /* elements, for ormqr */
    int *info;
} gpu;

static void *get_device(size_t bytes)
{
    void *memory = NULL;
    must(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "cudaMalloc");
    return memory;
}

/* The older functions have one name for each precision. */
static int ormqr_elements(const struct problem *p)
{
    int count = 0, status = CUSOLVER_STATUS_NOT_SUPPORTED;
#define ASK(name, type, adjoint)                                                                                       \
    name(gpu.handle, CUBLAS_SIDE_LEFT, adjoint, p->m, p->nrhs, p->n, (const type *)gpu.a, p->m, (const type *)gpu.tau, \
         (const type *)gpu.b, p->m, &count)
    switch (p->precision) {
    case 's':
        status = ASK(cusolverDnSormqr_bufferSize, float, CUBLAS_OP_T);
        break;
    case 'd':
        status = ASK(cusolverDnDormqr_bufferSize, double, CUBLAS_OP_T);
        break;
    case 'c':
        status = ASK(cusolverDnCunmqr_bufferSize, cuComplex, CUBLAS_OP_C);
        break;
    case 'z':
        status = ASK(cusolverDnZunmqr_bufferSize, cuDoubleComplex, CUBLAS_OP_C);
        break;
    }
    must(status, "ormqr_bufferSize");
    return count;
}

/* B becomes Q' B, then R \ B. */
static void solve_qr(const struct problem *p)
{
    int status = CUSOLVER_STATUS_NOT_SUPPORTED, solved = CUBLAS_STATUS_NOT_SUPPORTED;
#define APPLY(multiply, solve, type, adjoint, one)                                                                     \
    do {                                                                                                               \
        const type unit = one;                                                                                         \
        status = multiply(gpu.handle, CUBLAS_SIDE_LEFT, adjoint, p->m, p->nrhs, p->n, (const type *)gpu.a, p->m,       \
                          (const type *)gpu.tau, (type *)gpu.b, p->m, (type *)gpu.work, gpu.lwork, gpu.info);          \
        solved = solve(gpu.blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, p->n,    \
                       p->nrhs, &unit, (const type *)gpu.a, p->m, (type *)gpu.b, p->m);                                \
    } while (0)
    switch (p->precision) {
    case 's':
        APPLY(cusolverDnSormqr, cublasStrsm, float, CUBLAS_OP_T, 1);
        break;
    case 'd':
        APPLY(cusolverDnDormqr, cublasDtrsm, double, CUBLAS_OP_T, 1);
        break;
    case 'c':
        APPLY(cusolverDnCunmqr, cublasCtrsm, cuComplex, CUBLAS_OP_C, make_cuComplex(1, 0));
        break;
    case 'z':
        APPLY(cusolverDnZunmqr, cublasZtrsm, cuDoubleComplex, CUBLAS_OP_C, make_cuDoubleComplex(1, 0));
        break;
    }
    must(status, "ormqr");
    must(solved, "trsm");
}

static void run_getrf(const struct problem *p)
{
    must(cusolverDnXgetrf(gpu.handle, gpu.params, p->m, p->n, gpu.type, gpu.a, p->m, gpu.pivots, gpu.type, gpu.work,
                          gpu.work_bytes, gpu.host_work, gpu.host_bytes, gpu.info),
         "cusolverDnXgetrf");
}

static void run_getrs(const struct problem *p, int nrhs)
{
    must(cusolverDnXgetrs(gpu.handle, gpu.params, CUBLAS_OP_N, p->n, nrhs, gpu.type, gpu.a, p->m, gpu.pivots, gpu.type,
                          gpu.b, p->m, gpu.info),
         "cusolverDnXgetrs");
}

static void run_geqrf(const struct problem *p)
{
    must(cusolverDnXgeqrf(gpu.handle, gpu.params, p->m, p->n, gpu.type, gpu.a, p->m, gpu.type, gpu.tau, gpu.type,
                          gpu.work, gpu.work_bytes, gpu.host_work, gpu.host_bytes, gpu.info),
         "cusolverDnXgeqrf");
}

static void run(const struct problem *p)
{
    switch (p->routine) {
    case GETRF:
        run_getrf(p);
        break;
    case POTRF:
        must(cusolverDnXpotrf(gpu.handle, gpu.params, CUBLAS_FILL_MODE_LOWER, p->n, gpu.type, gpu.a, p->m, gpu.type,
                              gpu.work, gpu.work_bytes, gpu.host_work, gpu.host_bytes, gpu.info),
             "cusolverDnXpotrf");
        break;
    case GEQRF:
        run_geqrf(p);
        break;
    case GESV:
        run_getrf(p);
        run_getrs(p, p->nrhs);
        break;
    case GETRS:
        run_getrs(p, p->nrhs);
        break;
    case POTRS:
        must(cusolverDnXpotrs(gpu.handle, gpu.params, CUBLAS_FILL_MODE_LOWER, p->n, p->nrhs, gpu.type, gpu.a, p->m,
                              gpu.type, gpu.b, p->m, gpu.info),
             "cusolverDnXpotrs");
        break;
    case GELS:
        run_geqrf(p);
        solve_qr(p);
        break;
    case GETRI: /* B is the identity, and then the inverse */
        run_getrs(p, p->n);
        break;
    case ROUTINES:
        break;
    }
}

static void find_workspace(const struct problem *p)
{
    size_t device = 0, host = 0;
    if (p->routine == GETRF || p->routine == GESV) {
        must(cusolverDnXgetrf_bufferSize(gpu.handle, gpu.params, p->m, p->n, gpu.type, gpu.a, p->m, gpu.type, &device,
                                         &host),
             "bufferSize");
    } else if (p->routine == POTRF) {
        must(cusolverDnXpotrf_bufferSize(gpu.handle, gpu.params, CUBLAS_FILL_MODE_LOWER, p->n, gpu.type, gpu.a, p->m,
                                         gpu.type, &device, &host),
             "bufferSize");
    } else if (p->routine == GEQRF || p->routine == GELS) {
        must(cusolverDnXgeqrf_bufferSize(gpu.handle, gpu.params, p->m, p->n, gpu.type, gpu.a, p->m, gpu.type, gpu.tau,
                                         gpu.type, &device, &host),
             "bufferSize");
    }
    if (p->routine == GELS) {
        gpu.lwork = ormqr_elements(p);
        device = (size_t)gpu.lwork * p->size > device ? (size_t)gpu.lwork * p->size : device;
    }
    gpu.work_bytes = device;
    gpu.host_bytes = host;
    gpu.work = get_device(device);
    gpu.host_work = get_memory(host);
}

static void prepare(const struct problem *p)
{
    const size_t b = p->routine == GETRI ? a_bytes(p) : b_bytes(p), n = (size_t)p->n;
    gpu.type = p->precision == 's'   ? CUDA_R_32F
               : p->precision == 'd' ? CUDA_R_64F
               : p->precision == 'c' ? CUDA_C_32F
                                     : CUDA_C_64F;
    must(cusolverDnCreate(&gpu.handle), "cusolverDnCreate");
    must(cusolverDnCreateParams(&gpu.params), "cusolverDnCreateParams");
    must(cublasCreate(&gpu.blas), "cublasCreate");
    gpu.a = get_device(a_bytes(p));
    gpu.kept_a = get_device(a_bytes(p));
    gpu.b = get_device(b);
    gpu.kept_b = get_device(b);
    gpu.tau = get_device(n * p->size);
    gpu.pivots = get_device(n * sizeof *gpu.pivots);
    gpu.info = get_device(sizeof *gpu.info);
    find_workspace(p);
}

static void copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    must(cudaMemcpy(to, from, bytes, kind), "cudaMemcpy");
}

/* LAPACK's pivots have 32 bits here, cuSOLVER's 64. */
static void copy_pivots(const struct problem *p, bool in, int64_t *wide)
{
    size_t bytes = (size_t)p->n * sizeof *wide;
    for (int i = 0; in && i < p->n; i++) {
        wide[i] = p->pivots[i];
    }
    copy(in ? (void *)gpu.pivots : wide, in ? (void *)wide : gpu.pivots, bytes,
         in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    for (int i = 0; !in && i < p->n; i++) {
        p->pivots[i] = (int)wide[i];
    }
}

static void call(const struct problem *p, int64_t *wide, const void *identity)
{
    const struct row *row = &rows[p->routine];
    copy(gpu.a, p->a, a_bytes(p), cudaMemcpyHostToDevice);
    if (row->lu && row->factored) {
        copy_pivots(p, true, wide);
    }
    if (p->routine == GETRI) {
        copy(gpu.b, identity, a_bytes(p), cudaMemcpyHostToDevice);
    } else if (row->has_b) {
        copy(gpu.b, p->b, b_bytes(p), cudaMemcpyHostToDevice);
    }
    run(p);
    if (row->changes_a) {
        copy(p->a, p->routine == GETRI ? gpu.b : gpu.a, a_bytes(p), cudaMemcpyDeviceToHost);
    }
    if (row->has_b) {
        copy(p->b, gpu.b, b_bytes(p), cudaMemcpyDeviceToHost);
    }
    if (p->routine == GEQRF) {
        copy(p->tau, gpu.tau, (size_t)p->n * p->size, cudaMemcpyDeviceToHost);
    }
    if (row->lu && !row->factored) {
        copy_pivots(p, false, wide);
    }
}

/* With everything on the device. */
static double device_time(const struct problem *p, int64_t *wide, const void *identity, int times)
{
    double *seconds = get_memory(((size_t)times + 1) * sizeof *seconds);
    const size_t b = p->routine == GETRI ? a_bytes(p) : b_bytes(p);
    copy(gpu.kept_a, p->a, a_bytes(p), cudaMemcpyHostToDevice);
    copy(gpu.kept_b, p->routine == GETRI ? identity : p->b, b, cudaMemcpyHostToDevice);
    copy_pivots(p, true, wide);
    for (int i = 0; i <= times; i++) {
        copy(gpu.a, gpu.kept_a, a_bytes(p), cudaMemcpyDeviceToDevice);
        copy(gpu.b, gpu.kept_b, b, cudaMemcpyDeviceToDevice);
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        double start = now();
        run(p);
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        seconds[i] = now() - start;
    }
    double result = median(seconds + 1, times);
    free(seconds);
    return result;
}

static double wire_time(const struct problem *p)
{
    const struct row *row = &rows[p->routine];
    double bytes = (double)a_bytes(p) * (row->changes_a ? 2 : 1) + 2 * (double)b_bytes(p);
    return bytes / wire;
}

int main(int argc, char **argv)
{
    const int n = argc > 2 ? atoi(argv[2]) : 0, times = argc > 3 ? atoi(argv[3]) : 5;
    struct problem p;
    if (argc < 3 || !problem_named(argv[1], n, &p) || times < 1) {
        fprintf(stderr, "usage: plain_cuda ROUTINE N [TIMES]\n");
        return 2;
    }
    double *seconds = get_memory(((size_t)times + 1) * sizeof *seconds), error = 0, device = 0;
    int64_t *wide = get_memory((size_t)n * sizeof *wide);
    void *identity = calloc(p.routine == GETRI ? a_bytes(&p) : 1, 1);
    if (identity == NULL) {
        return 1;
    }
    for (int i = 0; p.routine == GETRI && i < n; i++) {
        set_real(&p, identity, i, 1);
    }
    prepare(&p);
    for (int i = 0; i <= times; i++) {
        make_operands(&p, (uint64_t)i);
        if (i == 0) {
            device = device_time(&p, wide, identity, times);
        }
        double start = now();
        call(&p, wide, identity);
        seconds[i] = now() - start;
        error = i == times ? error_of(&p, (uint64_t)i) : 0;
        free_operands(&p);
    }
    printf("%.3f %.3f %.3f %.3f\n", 1e3 * median(seconds + 1, times), 1e3 * device, 1e3 * wire_time(&p), error);
    free(identity);
    free(wide);
    free(seconds);
    return 0;
}
