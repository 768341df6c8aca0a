/* Which memory a loop's objects occupy, and which of it the loop fills; see internal.h.
 *
 * What comes back from the device is found by comparing, unless the compiler has seen that every iteration writes its
 * own element of a section: then the section is copied as it is, and what it held before need not go to the device.  A
 * section is taken only if it lies within the object's bounds and consists of few, long runs; a region with an object
 * that is written in another way is compared as a whole. */
#include "internal.h"

#include <stdlib.h>

enum { shortest_run = 64, most_parts = 256 };

/* ---- Sections ---- */

/* Steps of a section: `count` places, `stride` bytes apart. */
struct axis {
    uintptr_t stride;
    size_t count;
};

/* Parts of one form: runs of `width` bytes in columns; one part for each combination of the outer axes. */
struct section {
    uintptr_t begin;
    size_t width, pitch, columns;
    struct axis outer[CFI_MAX_RANK];
    int outer_count;
    size_t parts;
};

/* The axes with more than one place, the shortest steps first.  False if a subscript is out of bounds. */
static bool find_axes(const struct ofl_loop *loop, const struct ofl_loop_object *object, uintptr_t *begin,
                      struct axis *axes, int *count)
{
    *begin = object->zero;
    *count = 0;
    for (int d = 0; d < object->rank; d++) {
        const struct ofl_loop_subscript *subscript = &object->subscript[d];
        struct ofl_loop_index index = {0, 1, 1};
        if (subscript->index >= 0) {
            index = loop->index[subscript->index];
        }
        __int128 first = (__int128)index.first + subscript->offset;
        __int128 last = first + (__int128)(index.count - 1) * index.step;
        __int128 low = first < last ? first : last, high = first < last ? last : first;
        if (low < object->lower[d] || high > (__int128)object->lower[d] + object->extent[d] - 1) {
            return false;
        }
        int64_t stride = object->stride[d];
        *begin += (uintptr_t)((stride < 0 ? (int64_t)high : (int64_t)low) * stride);
        if (index.count > 1) {
            uintptr_t step = (uintptr_t)((stride < 0 ? -stride : stride) * (index.step < 0 ? -index.step : index.step));
            int at = (*count)++;
            for (; at > 0 && axes[at - 1].stride > step; at--) {
                axes[at] = axes[at - 1];
            }
            axes[at] = (struct axis){step, (size_t)index.count};
        }
    }
    return true;
}

/* The section that the loop fills.  False if it is to be compared instead. */
static bool find_section(const struct ofl_loop *loop, const struct ofl_loop_object *object, struct section *section)
{
    struct axis axes[CFI_MAX_RANK];
    int count, at = 0;
    if (!object->whole || !find_axes(loop, object, &section->begin, axes, &count)) {
        return false;
    }
    section->width = object->element_bytes;
    for (; at < count && axes[at].stride == section->width; at++) {
        section->width *= axes[at].count;
    }
    section->pitch = section->width;
    section->columns = 1;
    if (at < count) {
        section->pitch = axes[at].stride;
        section->columns = axes[at++].count;
    }
    for (; at < count && axes[at].stride == section->pitch * section->columns; at++) {
        section->columns *= axes[at].count;
    }
    section->outer_count = 0;
    section->parts = 1;
    for (; at < count; at++) {
        section->outer[section->outer_count++] = axes[at];
        if (__builtin_mul_overflow(section->parts, axes[at].count, &section->parts)) {
            return false;
        }
    }
    return section->parts <= most_parts && section->pitch >= section->width &&
           (section->width >= shortest_run || section->columns * section->parts == 1);
}

/* The region that an address lies in; `count` if in none. */
static size_t region_of(uintptr_t address, const struct ofl_kernel_region *regions, size_t count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uintptr_t begin = (uintptr_t)regions[middle].address;
        if (address < begin) {
            high = middle;
        } else if (address >= begin + regions[middle].bytes) {
            low = middle + 1;
        } else {
            return middle;
        }
    }
    return count;
}

/* Adds the section's parts to the list. */
static size_t add_parts(const struct section *section, size_t region, uintptr_t region_begin,
                        struct ofl_kernel_section *list)
{
    for (size_t part = 0; part < section->parts; part++) {
        uintptr_t begin = section->begin;
        size_t rest = part;
        for (int d = 0; d < section->outer_count; d++) {
            begin += rest % section->outer[d].count * section->outer[d].stride;
            rest /= section->outer[d].count;
        }
        list[part] =
            (struct ofl_kernel_section){region, begin - region_begin, section->width, section->pitch, section->columns};
    }
    return section->parts;
}

struct ofl_kernel_section *ofl_loop_sections(const struct ofl_loop *loop, const struct ofl_kernel_region *regions,
                                             size_t region_count, size_t *count)
{
    struct ofl_kernel_section *list = malloc((loop->object_count * most_parts + 1) * sizeof *list);
    *count = 0;
    for (size_t i = 0; i < loop->object_count && list != NULL; i++) {
        const struct ofl_loop_object *object = &loop->objects[i];
        struct section section;
        if (!object->written || object->begin == object->end) {
            continue;
        }
        size_t region = region_of(object->begin, regions, region_count);
        if (!regions[region].compared && find_section(loop, object, &section)) {
            *count += add_parts(&section, region, (uintptr_t)regions[region].address, list + *count);
        }
    }
    return list;
}

/* ---- Regions ---- */

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

static struct ofl_kernel_region region_for(const struct ofl_loop *loop, const struct ofl_loop_object *object)
{
    struct section section;
    size_t bytes = object->end - object->begin;
    unsigned unit = (unsigned)(object->element_bytes == 16 ? 8 : object->element_bytes);
    /* What holds addresses goes by way of a copy, in which they are the device's. */
    bool compared = object->holds || (object->written && !find_section(loop, object, &section));
    if ((unit != 4 && unit != 8) || bytes % unit != 0) {
        unit = 1;
    }
    return (struct ofl_kernel_region){.address = (void *)object->begin,
                                      .bytes = bytes,
                                      .read = object->read || compared,
                                      .compared = compared,
                                      .unit = unit};
}

size_t ofl_loop_regions(const struct ofl_loop *loop, struct ofl_kernel_region *regions)
{
    size_t used = 0, merged = 0;
    for (size_t i = 0; i < loop->object_count; i++) {
        if (loop->objects[i].begin != loop->objects[i].end) {
            regions[used++] = region_for(loop, &loop->objects[i]);
        }
    }
    for (size_t i = 0; i < loop->part_count; i++) {
        regions[used++] = region_for(loop, &loop->parts[i]);
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
        last->read |= regions[i].read;
        last->compared |= regions[i].compared;
        last->bytes = (other_end > end ? other_end : end) - (uintptr_t)last->address;
        if (last->bytes % last->unit != 0) {
            last->unit = 1;
        }
    }
    return merged + 1;
}

static int compare_pointers(const void *left, const void *right)
{
    const struct ofl_kernel_pointer *a = left, *b = right;
    return (a->region > b->region) - (a->region < b->region);
}

struct ofl_kernel_pointer *ofl_loop_pointers(const struct ofl_loop *loop, const struct ofl_kernel_region *regions,
                                             size_t region_count)
{
    struct ofl_kernel_pointer *list = malloc((loop->pointer_count + 1) * sizeof *list);
    for (size_t i = 0; i < loop->pointer_count && list != NULL; i++) {
        const struct ofl_loop_pointer *pointer = &loop->pointers[i];
        size_t region = region_of(pointer->place, regions, region_count);
        size_t target = region_of(pointer->target, regions, region_count);
        list[i] = (struct ofl_kernel_pointer){.region = region,
                                              .offset = pointer->place - (uintptr_t)regions[region].address,
                                              .target = target,
                                              .target_offset = pointer->target - (uintptr_t)regions[target].address};
    }
    if (list != NULL) {
        qsort(list, loop->pointer_count, sizeof *list, compare_pointers);
    }
    return list;
}

void ofl_loop_place(struct ofl_loop_object *object, const struct ofl_kernel_region *regions, size_t count)
{
    size_t region = object->begin == object->end ? count : region_of(object->begin, regions, count);
    /* What is empty but there has an address, which nobody looks behind. */
    object->origin = object->absent ? 0 : OFL_KERNEL_ALIGNMENT;
    if (region < count) {
        object->origin = object->zero - (uintptr_t)regions[region].address + (uintptr_t)regions[region].device;
    }
}
