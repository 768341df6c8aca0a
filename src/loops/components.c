/* The memory of allocatable and pointer components; see internal.h.
 *
 * A component is a descriptor of gfortran's in each element of an object (libgfortran.h, the same since gfortran 9).
 * What it points to becomes a part of the loop's data; the device's copy of the element then points to the device's
 * copy of the part.  The kernel reads bounds and strides from the descriptor. */
#include "internal.h"

#include <string.h>

struct descriptor {
    char *base;
    intptr_t offset;
    size_t element_bytes;
    int version;
    signed char rank, type;
    short attribute;
    intptr_t span;
    struct {
        intptr_t stride, lower, upper;
    } dim[CFI_MAX_RANK];
};

/* Adds what one descriptor points to. */
static void add_part(struct ofl_loop *loop, uintptr_t place, int rank, int64_t bytes, bool written)
{
    struct descriptor descriptor;
    size_t size =
        rank == 0 ? sizeof descriptor.base : offsetof(struct descriptor, dim) + (size_t)rank * sizeof descriptor.dim[0];
    memcpy(&descriptor, (const void *)place, size);
    if (descriptor.base == NULL) {
        return;
    }
    struct ofl_loop_object part = {.element_bytes = (size_t)bytes, .read = true, .written = written};
    part.begin = (uintptr_t)descriptor.base;
    part.end = part.begin + (uintptr_t)bytes;
    bool empty = bytes == 0;
    for (int d = 0; d < rank; d++) {
        int64_t extent = descriptor.dim[d].upper - descriptor.dim[d].lower + 1;
        int64_t unit = descriptor.span > 0 ? descriptor.span : bytes, stride = descriptor.dim[d].stride * unit;
        empty |= extent <= 0;
        part.begin += stride < 0 && extent > 0 ? (uintptr_t)((extent - 1) * stride) : 0;
        part.end += stride > 0 && extent > 0 ? (uintptr_t)((extent - 1) * stride) : 0;
    }
    if (empty) {
        return;
    }
    loop->parts = ofl_loop_grow(loop, loop->parts, loop->part_count, &loop->part_capacity, sizeof *loop->parts);
    loop->parts[loop->part_count++] = part;
    loop->pointers =
        ofl_loop_grow(loop, loop->pointers, loop->pointer_count, &loop->pointer_capacity, sizeof *loop->pointers);
    loop->pointers[loop->pointer_count++] =
        (struct ofl_loop_pointer){.place = place, .target = (uintptr_t)descriptor.base};
}

void ofl_loops_component(int64_t *handle, const int64_t *offset, const int64_t *rank, const int64_t *bytes,
                         const int64_t *written)
{
    struct ofl_loop *loop = (struct ofl_loop *)(intptr_t)*handle;
    struct ofl_loop_object *object = &loop->objects[loop->object_count - 1];
    int64_t at[CFI_MAX_RANK] = {0};
    if (object->absent || object->begin == object->end) {
        return;
    }
    object->holds = true;
    for (int d = 0; d >= 0;) { /* over all elements */
        uintptr_t element = object->zero;
        for (int k = 0; k < object->rank; k++) {
            element += (uintptr_t)((object->lower[k] + at[k]) * object->stride[k]);
        }
        add_part(loop, element + (uintptr_t)*offset, (int)*rank, *bytes, *written != 0);
        for (d = 0; d < object->rank && ++at[d] >= object->extent[d]; d++) {
            at[d] = 0;
        }
        d = d == object->rank ? -1 : d;
    }
}
