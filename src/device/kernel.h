/* Running a kernel on memory of the program: copy in, launch, copy out.
 *
 * A kernel comes as an image (the backend's business) and works on regions of host memory, each of which has a copy on
 * the device while it runs.  Only elements that the kernel changed are written back, so that other threads of the
 * program may use the rest of a region at the same time.
 *
 * Nothing here prints or ends the process; after any answer but OFL_OK the program's memory is as it was. */
#ifndef OFL_DEVICE_KERNEL_H
#define OFL_DEVICE_KERNEL_H
#include "device/device.h"

#include <stddef.h>

struct ofl_kernel_region {
    void *address;
    size_t bytes;
    bool written;
    unsigned unit; /* bytes of the smallest element in it: a power of two; the region is a multiple */
    void *device;  /* its copy, while the kernel runs */
};

struct ofl_kernel_work {
    const void *image;
    size_t image_bytes;
    uint64_t identity;                 /* the same for the same image only */
    const char *name;                  /* of the kernel in the image */
    struct ofl_kernel_region *regions; /* that do not overlap */
    size_t region_count;
    uint32_t blocks, threads; /* in one dimension */
    void **arguments;         /* as in struct ofl_launch */
    /* Called when the regions' device addresses are known, to fill in what `arguments` points to. */
    void (*bind)(void *context);
    void *context;
};

/* Runs it on the device that has been started.  `times` may be NULL.  One piece of work at a time; others wait. */
enum ofl_reason ofl_device_run_kernel(const struct ofl_kernel_work *work, struct ofl_device_times *times);
#endif
