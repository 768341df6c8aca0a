/* Kernels as the Fortran compiler generates them, for the host device's tests. */
#include <gpu-offload/host_kernel.h>

OFL_KERNEL void saxpy(int64_t n, float a, const float *x, float *y)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        y[i] = a * x[i] + y[i];
    }
}

OFL_HOST_ENTRY(saxpy, saxpy(OFL_ARGUMENT(0, int64_t), OFL_ARGUMENT(1, float), OFL_ARGUMENT(2, const float *),
                            OFL_ARGUMENT(3, float *)))

/* Every thread of the grid counts itself in a cell of its own. */
OFL_KERNEL void count(int32_t *cells)
{
    uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    uint32_t z = blockIdx.z * blockDim.z + threadIdx.z;
    uint32_t width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    cells[(z * height + y) * width + x] += 1;
}

OFL_HOST_ENTRY(count, count(OFL_ARGUMENT(0, int32_t *)))

OFL_KERNEL void atomics(int32_t *sum, unsigned long long *least, int32_t *once)
{
    atomicAdd(sum, 1);
    atomicMin(least, (unsigned long long)blockIdx.x + 7);
    atomicCAS(once, 0, (int32_t)blockIdx.x + 1);
}

OFL_HOST_ENTRY(atomics,
               atomics(OFL_ARGUMENT(0, int32_t *), OFL_ARGUMENT(1, unsigned long long *), OFL_ARGUMENT(2, int32_t *)))

OFL_KERNEL void version(int32_t *out)
{
    *out = KERNEL_VERSION;
}

OFL_HOST_ENTRY(version, version(OFL_ARGUMENT(0, int32_t *)))
