/* What the files of src/loops share: a loop on its way to the device. */
#ifndef OFL_LOOPS_INTERNAL_H
#define OFL_LOOPS_INTERNAL_H
#include "device/kernel.h"

#include <gpu-offload/loops.h>

enum { OFL_LOOP_INDICES = 15, OFL_LOOP_THREADS = 256 };

struct ofl_loop_index {
    int64_t first, step, count; /* parameters of the kernel */
};

/* The subscript of a section that the loop fills: index + offset, or offset where `index` is negative. */
struct ofl_loop_subscript {
    int index;
    int64_t offset;
};

/* An array, or a scalar in memory, as the kernel takes it. */
struct ofl_loop_object {
    uintptr_t zero;       /* address of the element with all subscripts 0, in the program's memory */
    uintptr_t begin, end; /* the bytes from its first element to behind its last one; equal if it is empty */
    uintptr_t origin;     /* parameter of the kernel: `zero` in the device's copy */
    /* More of them, for each dimension; the distance in bytes, and the bounds if `bounds`. */
    int64_t stride[CFI_MAX_RANK], lower[CFI_MAX_RANK], extent[CFI_MAX_RANK];
    int rank;
    size_t element_bytes;
    bool read, written, bounds, absent;
    bool holds; /* addresses of parts */
    bool whole; /* the loop writes the section that `subscript` tells, all of it, and nothing else of the object */
    struct ofl_loop_subscript subscript[CFI_MAX_RANK];
};

/* Where the program's memory holds an address, and what that is. */
struct ofl_loop_pointer {
    uintptr_t place, target;
};

struct ofl_loop_scalar {
    uint64_t words[2]; /* a copy of the value */
};

struct ofl_loop_reduction {
    size_t object;
    size_t element_bytes;
    int64_t elements;
    uintptr_t partials[2]; /* parameters of the kernels */
};

struct ofl_loop {
    char *where, *kernel;
    int64_t device;
    struct ofl_loop_index index[OFL_LOOP_INDICES];
    unsigned index_count;
    int64_t trips; /* of all indices together */
    struct ofl_loop_object *objects;
    size_t object_count, object_capacity;
    struct ofl_loop_object *parts; /* memory of components: no parameters of the kernel */
    size_t part_count, part_capacity;
    struct ofl_loop_pointer *pointers;
    size_t pointer_count, pointer_capacity;
    struct ofl_loop_scalar *scalars;
    size_t scalar_count, scalar_capacity;
    struct ofl_loop_reduction *reductions;
    size_t reduction_count, reduction_capacity;
    bool mask, status, workspace;
    const char *image; /* a text, see ofl_loops_run */
    size_t image_length;
    uint64_t identity;
};

/* loops.c: the program cannot go on, its results would be wrong. */
_Noreturn void ofl_loop_stop(const struct ofl_loop *loop, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next free element of a list that grows. */
void *ofl_loop_grow(const struct ofl_loop *loop, void *list, size_t count, size_t *capacity, size_t size);

/* The memory, or a stop. */
void *ofl_loop_need(const struct ofl_loop *loop, void *memory);

/* space.c: how many iterations there are from first to last; -1 if more than INT64_MAX. */
int64_t ofl_loop_count(int64_t first, int64_t last, int64_t step);

/* The number of partial results of a reduction whose variables have so many bytes together.  It decides the order of
 * summation, so it depends on nothing else. */
int64_t ofl_loop_partials(int64_t trips, uint64_t bytes);

/* How many partials the next step of combining leaves of `count` > 1. */
int64_t ofl_loop_fewer_partials(int64_t count);

/* readable.c: where the memory from `begin` on ends that can be read, at most `end`. */
uintptr_t ofl_loop_readable(const struct ofl_loop *loop, uintptr_t begin, uintptr_t end);

/* regions.c: finds the regions of memory that the objects occupy: objects that share bytes share a region, so that each
 * byte is on the device once.  `regions` has room for one for each object; returns how many there are. */
size_t ofl_loop_regions(const struct ofl_loop *loop, struct ofl_kernel_region *regions);

/* The sections that are filled, of the regions that are not compared.  In *count their number; freed by the caller;
 * NULL if there is no memory. */
struct ofl_kernel_section *ofl_loop_sections(const struct ofl_loop *loop, const struct ofl_kernel_region *regions,
                                             size_t region_count, size_t *count);

/* The pointers of the loop, sorted by region.  Freed by the caller; NULL if there is no memory. */
struct ofl_kernel_pointer *ofl_loop_pointers(const struct ofl_loop *loop, const struct ofl_kernel_region *regions,
                                             size_t region_count);

/* The object's `origin`, when the regions are on the device. */
void ofl_loop_place(struct ofl_loop_object *object, const struct ofl_kernel_region *regions, size_t count);

/* launch.c: runs it.  `stop` and `text` as in ofl_loops_run. */
void ofl_loop_launch(struct ofl_loop *loop, int64_t *stop, char *text);

/* trace.c: the loop's record, if a trace is being written. */
bool ofl_loop_is_traced(void);
void ofl_loop_trace(const struct ofl_loop *loop, const struct ofl_kernel_work *work,
                    const struct ofl_device_times *times, uint64_t start);

/* summary.c: counts a launch of `kernel` for the file that GPU_OFFLOAD_SUMMARY names. */
void ofl_summary_count(const char *kernel, const char *device);
#endif
