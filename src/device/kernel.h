/* Running kernels on memory of the program: copy in, launch, copy out.
 *
 * Kernels come as an image (the backend's business) and work on regions of host memory, each of which has a copy on the
 * device while they run.  Only what the kernels wrote is written back, so that other threads of the program may
 * use the rest of a region at the same time: what is listed as a section is written by them in any case, elsewhere the
 * elements that differ afterwards.
 *
 * Nothing here prints or ends the process; after any answer but OFL_OK the program's memory is as it was, sections
 * excepted, which may hold anything. */
#ifndef OFL_DEVICE_KERNEL_H
#define OFL_DEVICE_KERNEL_H
#include "device/device.h"

#include <stddef.h>

struct ofl_kernel_region {
    void *address;
    size_t bytes;
    bool read;     /* the kernels need what it holds */
    bool compared; /* written, and what was written has to be found out; only with `read` */
    unsigned unit; /* bytes of the smallest element in it: a power of two; the region is a multiple */
    void *device;  /* its copy, while the kernels run; as aligned as `address`, up to OFL_KERNEL_ALIGNMENT */
};

enum { OFL_KERNEL_ALIGNMENT = 256 };

/* What the kernels write in a region whatever it held: `columns` runs of `width` bytes. */
struct ofl_kernel_section {
    size_t region, offset, width, pitch, columns;
};

/* A word of a compared region that holds the address of what is at target_offset in another one: on the device, that of
 * its copy.  Kernels do not write it. */
struct ofl_kernel_pointer {
    size_t region, offset, target, target_offset;
};

/* One launch. */
struct ofl_kernel_stage {
    const char *name; /* of the kernel in the image */
    uint32_t blocks;  /* in one dimension */
    void **arguments; /* as in struct ofl_launch */
};

struct ofl_kernel_work {
    uint64_t identity; /* the same for the same image only */
    /* Called when a kernel is not loaded yet: the image, which stays there until the run is over. */
    enum ofl_reason (*image)(void *context, const void **image, size_t *bytes);
    const struct ofl_kernel_stage *stages;
    size_t stage_count;
    uint32_t threads;                  /* of a block */
    struct ofl_kernel_region *regions; /* that do not overlap */
    size_t region_count;
    const struct ofl_kernel_section *sections; /* in regions that are not `compared` */
    size_t section_count;
    const struct ofl_kernel_pointer *pointers; /* sorted by region */
    size_t pointer_count;
    /* Memory on the device.  Its first `status_bytes` are zero before the first launch, and are in `status` after
     * the last one. */
    size_t scratch_bytes, status_bytes;
    void *scratch, *status;
    /* Called when the device's addresses are known, to fill in what the arguments point to... */
    void (*bind)(void *context);
    /* ... and when `status` has arrived: false if nothing must be copied back.  NULL: always true. */
    bool (*accept)(void *context);
    void *context;
    double loading; /* set: seconds that kernels took which were not loaded yet; 0 if all were */
};

/* Runs it on the device that has been started.  `times` may be NULL.  One piece of work at a time; others wait. */
enum ofl_reason ofl_device_run_kernel(struct ofl_kernel_work *work, struct ofl_device_times *times);
#endif
