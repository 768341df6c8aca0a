/* The copies around a kernel: regions to the device, and what was written in them back. */
#ifndef OFL_DEVICE_KERNEL_COPY_H
#define OFL_DEVICE_KERNEL_COPY_H
#include "device/internal.h"
#include "device/kernel.h"

/* Bytes of host memory that the compared regions take, twice. */
size_t ofl_kernel_compared_bytes(const struct ofl_kernel_work *work);

/* Copies what the kernels read to the device.  `before` gets the compared regions, one behind the other.  With OFL_OK
 * everything has arrived. */
enum ofl_reason ofl_kernel_copy_in(const struct ofl_started *started, const struct ofl_kernel_work *work,
                                   unsigned char *before, struct ofl_device_times *times);

/* Copies the compared regions to `after`, and the sections to their places; then writes the elements that differ. */
enum ofl_reason ofl_kernel_copy_out(const struct ofl_started *started, const struct ofl_kernel_work *work,
                                    const unsigned char *before, unsigned char *after, struct ofl_device_times *times);
#endif
