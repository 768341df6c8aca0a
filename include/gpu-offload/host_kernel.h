/* Generated CUDA source for the host device.
 *
 * A kernel's source is CUDA C++ that NVRTC compiles for a GPU.  Compiled with this
 * header by a C or C++ compiler (GNU dialect) into a shared object, the same source
 * is a kernel image for the host backend:
 *
 *     #ifndef __CUDACC__
 *     #include <gpu-offload/host_kernel.h>
 *     #endif
 *     OFL_KERNEL void saxpy(int64_t n, float a, const float *x, float *y)
 *     {
 *         for (int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t) gridDim.x *
 * blockDim.x) y[i] = a * x[i] + y[i];
 *     }
 *     #ifndef __CUDACC__
 *     OFL_HOST_ENTRY(saxpy, saxpy(OFL_ARGUMENT(0, int64_t), OFL_ARGUMENT(1, float),
 *                                 OFL_ARGUMENT(2, const float *), OFL_ARGUMENT(3, float *)))
 *     #endif
 *
 *     cc -O2 -ffp-contract=off -shared -fPIC -o image.so saxpy.c       (for NVRTC: #define OFL_KERNEL extern "C"
 * __global__)
 *
 * The convention: image.so exports for each kernel NAME a function
 * OFL_HOST_BLOCK_PREFIX NAME of type ofl_host_block, which runs all threads of one
 * block, one after the other, x fastest.  The backend calls it for each block, on
 * any thread and in any order.  `arguments` holds one pointer for each parameter
 * (struct ofl_launch).
 *
 * ofl_exit_thread() ends the thread that calls it (NVRTC: asm volatile("exit;")).
 *
 * Not there: barriers, warps, shared memory (kernels of gpu-offload use none), and
 * blocks of more than 1024 threads.
 */
#ifndef GPU_OFFLOAD_HOST_KERNEL_H
#define GPU_OFFLOAD_HOST_KERNEL_H

#include <math.h>
#include <setjmp.h>
#include <stdint.h>

struct ofl_host_dim3 {
    uint32_t x, y, z;
};

struct ofl_host_grid {
    struct ofl_host_dim3 blocks, threads;
};

typedef void ofl_host_block(const struct ofl_host_grid *grid, const struct ofl_host_dim3 *block, void **arguments);

#define OFL_HOST_BLOCK_PREFIX "ofl_block_"

#ifndef OFL_BACKENDS_HOST_H /* what follows is for kernels, not for the backend */

/* Set for each thread of a block by OFL_HOST_ENTRY. */
static __thread struct ofl_host_dim3 threadIdx __attribute__((unused));
static __thread struct ofl_host_dim3 blockIdx __attribute__((unused));
static __thread struct ofl_host_dim3 blockDim __attribute__((unused));
static __thread struct ofl_host_dim3 gridDim __attribute__((unused));

#define __global__ static inline
#define __device__ static inline
#define __host__
#define __constant__    static const
#define __forceinline__ __attribute__((always_inline))
#define __launch_bounds__(...)
#define OFL_KERNEL __global__

#ifdef __cplusplus
#define OFL_HOST_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define OFL_HOST_EXPORT __attribute__((visibility("default")))
#endif

/* Parameter number `index`, inside OFL_HOST_ENTRY. */
#define OFL_ARGUMENT(index, ...) (*(__VA_ARGS__ *)ofl_arguments[index])

/* Where ofl_exit_thread goes; set for each block. */
static __thread jmp_buf ofl_thread_end __attribute__((unused));

/* Ends this thread of the kernel, from any depth of calls. */
static inline void ofl_exit_thread(void) __attribute__((noreturn, unused));
static inline void ofl_exit_thread(void)
{
    longjmp(ofl_thread_end, 1);
}

/* The thread behind threadIdx; false if it was the block's last one. */
static inline int ofl_next_thread(void)
{
    threadIdx.x++;
    if (threadIdx.x == blockDim.x) {
        threadIdx.x = 0;
        threadIdx.y++;
    }
    if (threadIdx.y == blockDim.y) {
        threadIdx.y = 0;
        threadIdx.z++;
    }
    return threadIdx.z < blockDim.z;
}

/* All threads from threadIdx on.  A row is done by a function of the kernel's own, which gets there with threadIdx.x
 * below blockDim.x and leaves it there. */
static void __attribute__((noinline, unused)) ofl_host_rows(void **arguments, void (*row)(void **))
{
    for (; threadIdx.z < blockDim.z; threadIdx.z++, threadIdx.y = 0)
        for (; threadIdx.y < blockDim.y; threadIdx.y++, threadIdx.x = 0)
            row(arguments);
}

/* The threads of one block.  (The loops are in a function of their own, since setjmp spoils the one that it is in.) */
static void __attribute__((noinline, unused))
ofl_host_run(const struct ofl_host_grid *grid, const struct ofl_host_dim3 *block, void **arguments,
             void (*row)(void **))
{
    gridDim = grid->blocks;
    blockDim = grid->threads;
    blockIdx = *block;
    threadIdx.x = threadIdx.y = threadIdx.z = 0;
    if (_setjmp(ofl_thread_end) == 0 || ofl_next_thread())
        ofl_host_rows(arguments, row);
}

/* Exports a kernel; what follows its name calls it for one thread.  (The name goes through one more macro so that it
 * may be one.)  What is not the kernel's own is in the functions above: a program may have hundreds of kernels. */
#define OFL_HOST_ENTRY(name, ...) OFL_HOST_ENTRY_1(name, __VA_ARGS__)
#define OFL_HOST_ENTRY_1(name, ...)                                                                                    \
    static void ofl_threads_##name(void **ofl_arguments)                                                               \
    {                                                                                                                  \
        (void)ofl_arguments;                                                                                           \
        do {                                                                                                           \
            __VA_ARGS__;                                                                                               \
        } while (++threadIdx.x < blockDim.x);                                                                          \
    }                                                                                                                  \
    OFL_HOST_EXPORT void ofl_block_##name(const struct ofl_host_grid *ofl_grid, const struct ofl_host_dim3 *ofl_block, \
                                          void **ofl_arguments);                                                       \
    OFL_HOST_EXPORT void ofl_block_##name(const struct ofl_host_grid *ofl_grid, const struct ofl_host_dim3 *ofl_block, \
                                          void **ofl_arguments)                                                        \
    {                                                                                                                  \
        ofl_host_run(ofl_grid, ofl_block, ofl_arguments, ofl_threads_##name);                                          \
    }

/* CUDA's atomic functions on global memory: each returns the old value.  Locks are made of atomicCAS and atomicExch, so
 * these order what is between them; on a GPU __threadfence does. */
#define atomicAdd(address, value)  __atomic_fetch_add((address), (value), __ATOMIC_RELAXED)
#define atomicExch(address, value) __atomic_exchange_n((address), (value), __ATOMIC_ACQ_REL)
#define atomicCAS(address, compare, value)                                                                             \
    __extension__({                                                                                                    \
        __typeof__(*(address) + 0) ofl_old = (compare);                                                                \
        __atomic_compare_exchange_n((address), &ofl_old, (value), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);              \
        ofl_old;                                                                                                       \
    })
#define atomicMin(address, value)                                                                                      \
    __extension__({                                                                                                    \
        __typeof__(*(address) + 0) ofl_new = (value), ofl_old = __atomic_load_n((address), __ATOMIC_RELAXED);          \
        while (ofl_new < ofl_old &&                                                                                    \
               !__atomic_compare_exchange_n((address), &ofl_old, ofl_new, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))      \
            ;                                                                                                          \
        ofl_old;                                                                                                       \
    })
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif /* OFL_BACKENDS_HOST_H */
#endif
