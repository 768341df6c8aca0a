/* Which memory a loop's arrays occupy; see internal.h. */
#include "internal.h"

#include <stdlib.h>

static int compare_regions(const void *left, const void *right)
{
    const struct ofl_kernel_region *a = left, *b = right;
    uintptr_t x = (uintptr_t)a->address, y = (uintptr_t)b->address;
    return (x > y) - (x < y);
}

/* The largest unit in which both can be compared and written: see struct ofl_kernel_region. */
static unsigned common_unit(const struct ofl_kernel_region *a, const struct ofl_kernel_region *b)
{
    unsigned unit = a->unit < b->unit ? a->unit : b->unit;
    return ((uintptr_t)a->address - (uintptr_t)b->address) % unit == 0 ? unit : 1;
}

size_t ofl_loops_regions(const struct ofl_loop_array *arrays, size_t count, struct ofl_kernel_region *regions)
{
    size_t used = 0, merged = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ofl_loop_array *array = &arrays[i];
        if (array->begin == array->end) {
            continue;
        }
        unsigned unit = array->element_bytes;
        if ((unit != 4 && unit != 8) || (array->end - array->begin) % unit != 0) {
            unit = 1;
        }
        regions[used++] = (struct ofl_kernel_region){.address = (void *)array->begin,
                                                     .bytes = array->end - array->begin,
                                                     .written = array->written,
                                                     .unit = unit};
    }
    if (used == 0) {
        return 0;
    }
    qsort(regions, used, sizeof *regions, compare_regions);
    for (size_t i = 1; i < used; i++) {
        struct ofl_kernel_region *last = &regions[merged];
        uintptr_t end = (uintptr_t)last->address + last->bytes, begin = (uintptr_t)regions[i].address;
        if (begin >= end) {
            regions[++merged] = regions[i];
            continue;
        }
        uintptr_t other_end = begin + regions[i].bytes;
        last->unit = common_unit(last, &regions[i]);
        last->written |= regions[i].written;
        last->bytes = (other_end > end ? other_end : end) - (uintptr_t)last->address;
        if (last->bytes % last->unit != 0) {
            last->unit = 1;
        }
    }
    return merged + 1;
}

void ofl_loops_place(struct ofl_loop_array *array, const struct ofl_kernel_region *regions, size_t count)
{
    array->origin = 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t begin = (uintptr_t)regions[i].address;
        if (array->begin != array->end && array->begin >= begin && array->begin < begin + regions[i].bytes) {
            array->origin = array->zero - begin + (uintptr_t)regions[i].device;
        }
    }
}
