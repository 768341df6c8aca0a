/* What the files of src/loops share: a loop on its way to the device. */
#ifndef OFL_LOOPS_INTERNAL_H
#define OFL_LOOPS_INTERNAL_H
#include "device/kernel.h"

#include <gpu-offload/loops.h>

/* An array as the kernel takes it. */
struct ofl_loop_array {
    uintptr_t zero;               /* address of the element with all subscripts 0, in the program's memory */
    uintptr_t begin, end;         /* the bytes from its first element to behind its last one; equal if it is empty */
    uintptr_t origin;             /* parameter of the kernel: `zero` in the device's copy */
    int64_t stride[CFI_MAX_RANK]; /* parameters of the kernel: in elements */
    int rank;
    unsigned element_bytes;
    bool written;
};

/* Finds the regions of memory that the arrays occupy: arrays that share bytes share a region, so that each
 * byte is on the device once.  `regions` has room for `count`; returns how many there are. */
size_t ofl_loops_regions(const struct ofl_loop_array *arrays, size_t count, struct ofl_kernel_region *regions);

/* The array's `origin`, when the regions are on the device. */
void ofl_loops_place(struct ofl_loop_array *array, const struct ofl_kernel_region *regions, size_t count);

/* Counts a launch of `kernel` for the file that GPU_OFFLOAD_SUMMARY names. */
void ofl_summary_count(const char *kernel, const char *device);
#endif
