/* Kernels with the parameters that src/fortran/lowered.h says, for the tests of the launch. */
#include <gpu-offload/host_kernel.h>
#include <gpu-offload/loops.h>

#define FOR_EACH_TRIP                                                                                                  \
    for (long long trip = (long long)blockIdx.x * blockDim.x + threadIdx.x; trip < trips;                              \
         trip += (long long)gridDim.x * blockDim.x)

/* x(i) = 2*i, one index. */
OFL_KERNEL void fill(long long trips, long long first, long long step, long long count, char *x, long long stride)
{
    (void)count;
    FOR_EACH_TRIP
    {
        long long i = first + trip * step;
        *(double *)(x + i * stride) = 2.0 * (double)i;
    }
}
OFL_HOST_ENTRY(fill, fill(OFL_ARGUMENT(0, long long), OFL_ARGUMENT(1, long long), OFL_ARGUMENT(2, long long),
                          OFL_ARGUMENT(3, long long), OFL_ARGUMENT(4, char *), OFL_ARGUMENT(5, long long)))

/* do concurrent (i = ..., x(i) > 0) reduce(+: s): s = s + x(i); x(i) = -x(i), with the mask evaluated before. */
OFL_KERNEL void sum_mask(long long trips, long long first, long long step, char *x, long long stride,
                         unsigned char *selected)
{
    FOR_EACH_TRIP
    {
        selected[trip] = *(double *)(x + (first + trip * step) * stride) > 0;
    }
}
OFL_HOST_ENTRY(sum_mask,
               sum_mask(OFL_ARGUMENT(0, long long), OFL_ARGUMENT(1, long long), OFL_ARGUMENT(2, long long),
                        OFL_ARGUMENT(4, char *), OFL_ARGUMENT(5, long long), OFL_ARGUMENT(7, unsigned char *)))

OFL_KERNEL void sum(long long trips, long long first, long long step, char *x, long long stride,
                    const unsigned char *selected, double *partials, long long partial_count)
{
    for (long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x; p < partial_count;
         p += (long long)gridDim.x * blockDim.x) {
        double partial = 0;
        for (long long trip = p; trip < trips; trip += partial_count) {
            double *at = (double *)(x + (first + trip * step) * stride);
            if (selected[trip]) {
                partial += *at;
                *at = -*at;
            }
        }
        partials[p] = partial;
    }
}
OFL_HOST_ENTRY(sum, sum(OFL_ARGUMENT(0, long long), OFL_ARGUMENT(1, long long), OFL_ARGUMENT(2, long long),
                        OFL_ARGUMENT(4, char *), OFL_ARGUMENT(5, long long), OFL_ARGUMENT(7, unsigned char *),
                        OFL_ARGUMENT(8, double *), OFL_ARGUMENT(9, long long)))

OFL_KERNEL void sum_combine(long long in, long long out, long long finish, const double *from, double *to, double *s)
{
    for (long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x; p < out;
         p += (long long)gridDim.x * blockDim.x) {
        double partial = from[p];
        for (long long q = p + out; q < in; q += out) {
            partial += from[q];
        }
        if (finish) {
            *s += partial;
        } else {
            to[p] = partial;
        }
    }
}
OFL_HOST_ENTRY(sum_combine,
               sum_combine(OFL_ARGUMENT(0, long long), OFL_ARGUMENT(1, long long), OFL_ARGUMENT(2, long long),
                           OFL_ARGUMENT(3, const double *), OFL_ARGUMENT(4, double *), OFL_ARGUMENT(5, double *)))

/* Trips from `limit` on end the program with their number; the others write. */
static void stop_at(long long *status, long long trip, long long code)
{
    while (atomicCAS(&status[OFL_STATUS_LOCK], 0, 1) != 0)
        ;
    if (!status[OFL_STATUS_STOPPED] || trip < status[OFL_STATUS_TRIP]) {
        status[OFL_STATUS_STOPPED] = 1;
        status[OFL_STATUS_TRIP] = trip;
        status[OFL_STATUS_CODE] = code;
        status[OFL_STATUS_KIND] = 1;
    }
    __threadfence();
    atomicExch(&status[OFL_STATUS_LOCK], 0);
    ofl_exit_thread();
}

OFL_KERNEL void stops(long long trips, char *x, int limit, long long *status)
{
    FOR_EACH_TRIP
    {
        if (trip >= limit) {
            stop_at(status, trip, trip + 1000);
        }
        ((int *)x)[trip + 1] = 7;
    }
}
OFL_HOST_ENTRY(stops, stops(OFL_ARGUMENT(0, long long), OFL_ARGUMENT(4, char *), OFL_ARGUMENT(6, int),
                            OFL_ARGUMENT(7, long long *)))

/* Each iteration needs `need` bytes of its own. */
OFL_KERNEL void works(long long trips, char *x, long long need, long long *status, char *workspace, long long bytes)
{
    FOR_EACH_TRIP
    {
        if (need > bytes) {
            atomicExch(&status[OFL_STATUS_WORKSPACE], need); /* several threads say the same */
            ofl_exit_thread();
        }
        char *mine = workspace + ((long long)blockIdx.x * blockDim.x + threadIdx.x) * bytes;
        for (long long i = 0; i < need; i++) {
            mine[i] = (char)(trip + i);
        }
        int *at = (int *)x + trip + 1;
        for (long long i = 0; i < need; i++) {
            *at += mine[i] == (char)(trip + i);
        }
    }
}
OFL_HOST_ENTRY(works, works(OFL_ARGUMENT(0, long long), OFL_ARGUMENT(4, char *), OFL_ARGUMENT(6, long long),
                            OFL_ARGUMENT(7, long long *), OFL_ARGUMENT(8, char *), OFL_ARGUMENT(9, long long)))
