/* The same operation by hand: cudaMemcpy in, cuBLAS, cudaMemcpy out.  plain_cuda OPERATION N [TIMES [fresh|floor]]
 *
 * What somebody who knows CUDA writes first; device memory is allocated once, the host's is ordinary.  Output as
 * product.c.  With `floor`: the time in milliseconds that the machine's own limits allow, the longest of bytes in by
 * the rate of copies in, operations by the rate of a large product of the precision, bytes out by the rate of copies
 * out; and the three.  All rates are measured here, the copies' from page-locked memory. */
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "operands.h"

static void must(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "plain_cuda: %s failed (%d)\n", what, status);
        exit(1);
    }
}

static void run(cublasHandle_t handle, enum operation operation, int n, void *a, void *b, void *c)
{
    static const double one = 1, zero = 0;
    static const float one_single = 1, zero_single = 0;
    static const cuDoubleComplex one_complex = {1, 0}, zero_complex = {0, 0};
    switch (operation) {
    case SGEMM:
        must(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one_single, a, n, b, n, &zero_single, c, n),
             "cublasSgemm");
        break;
    case DGEMM:
        must(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n), "cublasDgemm");
        break;
    case ZGEMM:
        must(cublasZgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one_complex, a, n, b, n, &zero_complex, c, n),
             "cublasZgemm");
        break;
    case DSYRK:
        must(cublasDsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, n, &one, a, n, &zero, c, n), "cublasDsyrk");
        break;
    case DTRSM:
        must(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, n,
                         &one, a, n, b, n),
             "cublasDtrsm");
        break;
    case OPERATIONS:
        break;
    }
}

/* Best of a few. */
static double copy_rate(enum cudaMemcpyKind kind)
{
    const size_t bytes = (size_t)256 << 20;
    void *host, *device;
    double best = 1e9;
    must(cudaMallocHost(&host, bytes), "cudaMallocHost");
    must(cudaMalloc(&device, bytes), "cudaMalloc");
    for (int i = 0; i < 5; i++) {
        double start = now();
        bool in = kind == cudaMemcpyHostToDevice;
        must(cudaMemcpy(in ? device : host, in ? host : device, bytes, kind), "cudaMemcpy");
        best = now() - start < best ? now() - start : best;
    }
    must(cudaFree(device), "cudaFree");
    must(cudaFreeHost(host), "cudaFreeHost");
    return (double)bytes / best;
}

/* Operations a second of a large product. */
static double compute_rate(cublasHandle_t handle, const struct row *row)
{
    enum { n = 8192 };
    enum operation product = row->single ? SGEMM : row->complex_numbers ? ZGEMM : DGEMM;
    void *m[3];
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        must(cudaMalloc(&m[i], bytes_of(product, n)), "cudaMalloc");
        must(cudaMemset(m[i], 0, bytes_of(product, n)), "cudaMemset");
    }
    for (int i = 0; i < 4; i++) {
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        double start = now();
        run(handle, product, n, m[0], m[1], m[2]);
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        best = now() - start < best ? now() - start : best;
    }
    for (int i = 0; i < 3; i++) {
        must(cudaFree(m[i]), "cudaFree");
    }
    return rows[product].flops * (double)n * n * n / best;
}

static void print_floor(cublasHandle_t handle, enum operation operation, double n)
{
    const struct row *row = &rows[operation];
    double size = (double)size_of(operation);
    double in = row->read * n * n * size / copy_rate(cudaMemcpyHostToDevice);
    double compute = row->flops * n * n * n / compute_rate(handle, row);
    double out = row->written * n * n * size / copy_rate(cudaMemcpyDeviceToHost);
    double longest = in > compute ? in : compute;
    longest = longest > out ? longest : out;
    printf("%.3f %.3f %.3f %.3f\n", 1e3 * longest, 1e3 * in, 1e3 * compute, 1e3 * out);
}

static void one_round(cublasHandle_t handle, enum operation operation, const struct operands *o, void *const device[3])
{
    const struct row *row = &rows[operation];
    size_t bytes = bytes_of(operation, o->n);
    must(cudaMemcpy(device[0], o->a, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    if (o->b != NULL) {
        must(cudaMemcpy(device[1], o->b, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    run(handle, operation, o->n, device[0], device[1], device[2]);
    must(cudaMemcpy(row->updates_b ? o->b : o->c, device[row->updates_b ? 1 : 2], bytes, cudaMemcpyDeviceToHost),
         "cudaMemcpy");
}

int main(int argc, char **argv)
{
    const enum operation operation = argc > 1 ? operation_named(argv[1]) : OPERATIONS;
    const int n = argc > 2 ? atoi(argv[2]) : 0, times = argc > 3 ? atoi(argv[3]) : 5;
    const char *mode = argc > 4 ? argv[4] : "";
    double *seconds = calloc((size_t)(times > 0 ? times : 0) + 1, sizeof *seconds), sum = 0, size = 0;
    void *device[3];
    cublasHandle_t handle;
    if (operation == OPERATIONS || n < 1 || times < 1 || seconds == NULL) {
        fprintf(stderr, "usage: plain_cuda OPERATION N [TIMES [fresh|floor]]\n");
        return 2;
    }
    must(cublasCreate(&handle), "cublasCreate");
    if (strcmp(mode, "floor") == 0) {
        print_floor(handle, operation, n);
        free(seconds);
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        must(cudaMalloc(&device[i], bytes_of(operation, n)), "cudaMalloc");
        must(cudaMemset(device[i], 0, bytes_of(operation, n)), "cudaMemset");
    }
    for (int i = 0; i <= times; i++) {
        struct operands operands = make_operands(operation, n, i, strcmp(mode, "fresh") == 0);
        double start = now();
        one_round(handle, operation, &operands, device);
        seconds[i] = now() - start;
        if (i > 0) {
            add_checksum(operation, &operands, &sum, &size);
        }
        free_operands(&operands);
    }
    printf("%.3f %.10e %.10e\n", 1e3 * median(seconds + 1, times), sum, size);
    free(seconds);
    return 0;
}
