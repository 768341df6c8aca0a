/* The copies around a kernel: regions to the device, and what was written in them back. */
#ifndef OFL_DEVICE_KERNEL_COPY_H
#define OFL_DEVICE_KERNEL_COPY_H
#include "device/internal.h"
#include "device/kernel.h"

/* Bytes of host memory that the compared regions take, twice. */
size_t ofl_kernel_compared_bytes(const struct ofl_kernel_work *work);

/* Host memory for the compared regions, one behind the other: as they were, and as they came back. */
struct ofl_kernel_copies {
    unsigned char *before, *after;
    bool locked; /* it is page-locked */
};

/* Copies what the kernels read to the device, the compared regions by way of `before`.  With OFL_OK everything has
 * arrived. */
enum ofl_reason ofl_kernel_copy_in(const struct ofl_started *started, const struct ofl_kernel_work *work,
                                   const struct ofl_kernel_copies *copies, struct ofl_device_times *times);

/* Copies the compared regions to `after`, and the sections to their places; then writes the elements that differ. */
enum ofl_reason ofl_kernel_copy_out(const struct ofl_started *started, const struct ofl_kernel_work *work,
                                    const struct ofl_kernel_copies *copies, struct ofl_device_times *times);
#endif
