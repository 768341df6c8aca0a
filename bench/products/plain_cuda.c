/* The same product by hand: cudaMemcpy in, cuBLAS, cudaMemcpy out.  plain_cuda N TIMES
 *
 * What somebody who knows CUDA writes first; device memory is allocated once, the host's is ordinary.  Output as
 * product.c. */
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

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 0, times = argc > 2 ? atoi(argv[2]) : 5;
    const double one = 1, zero = 0;
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    double *seconds = calloc((size_t)times + 1, sizeof *seconds), *a, *b, *c, sum = 0;
    cublasHandle_t handle;
    if (n < 1 || times < 1 || seconds == NULL) {
        fprintf(stderr, "usage: plain_cuda N [TIMES]\n");
        return 2;
    }
    must(cudaMalloc((void **)&a, bytes), "cudaMalloc");
    must(cudaMalloc((void **)&b, bytes), "cudaMalloc");
    must(cudaMalloc((void **)&c, bytes), "cudaMalloc");
    must(cublasCreate(&handle), "cublasCreate");
    for (int i = 0; i <= times; i++) {
        struct operands operands = make_operands(n, i);
        double start = now();
        must(cudaMemcpy(a, operands.a, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        must(cudaMemcpy(b, operands.b, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        must(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n), "cublasDgemm");
        must(cudaMemcpy(operands.c, c, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        seconds[i] = now() - start;
        sum += checksum(&operands);
        free_operands(&operands);
    }
    printf("%.2f %.10e\n", 1e3 * median(seconds + 1, times), sum);
    free(seconds);
    return 0;
}
