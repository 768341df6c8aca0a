/* Gathering a loop; see <gpu-offload/loops.h>.
 *
 * A loop is gathered in a struct of its own, allocated by ofl_loops_begin and freed by ofl_loops_run, so that threads
 * do not meet before they wait for the device.  What can only be wrong by a fault of the compiler is not looked at. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ofl_loop_stop(const struct ofl_loop *loop, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "%s: Error: %s\n", loop->where, text);
    exit(1);
}

void *ofl_loop_need(const struct ofl_loop *loop, void *memory)
{
    if (memory == NULL) {
        ofl_loop_stop(loop, "there is no memory to prepare the loop");
    }
    return memory;
}

void ofl_loops_begin(int64_t *handle, const int64_t *version, const char *where, const char *kernel,
                     const int64_t *device)
{
    struct ofl_loop *loop = calloc(1, sizeof *loop);
    const struct ofl_loop place = {.where = (char *)where};
    ofl_loop_need(&place, loop);
    loop->where = ofl_loop_need(&place, strdup(where));
    loop->kernel = ofl_loop_need(&place, strdup(kernel));
    loop->device = *device;
    loop->trips = 1;
    if (*version != OFL_LOOPS_ABI) {
        ofl_loop_stop(loop,
                      "the program was compiled by another version of gpu-offload than its library has; compile it "
                      "again");
    }
    *handle = (int64_t)(intptr_t)loop;
}

static struct ofl_loop *loop_of(const int64_t *handle)
{
    return (struct ofl_loop *)(intptr_t)*handle;
}

void *ofl_loop_grow(const struct ofl_loop *loop, void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return list;
    }
    *capacity = *capacity == 0 ? 8 : 2 * *capacity;
    return ofl_loop_need(loop, realloc(list, *capacity * size));
}

void ofl_loops_index(int64_t *handle, const int64_t *first, const int64_t *last, const int64_t *step)
{
    struct ofl_loop *loop = loop_of(handle);
    if (*step == 0) {
        ofl_loop_stop(loop, "the step of the loop is zero");
    }
    int64_t count = ofl_loop_count(*first, *last, *step);
    if (count < 0 || __builtin_mul_overflow(loop->trips, count, &loop->trips)) {
        ofl_loop_stop(loop, "the loop has more iterations than can be counted");
    }
    loop->index[loop->index_count++] = (struct ofl_loop_index){*first, *step, count};
}

/* ---- Objects ---- */

static struct ofl_loop_object *add_object(struct ofl_loop *loop)
{
    loop->objects =
        ofl_loop_grow(loop, loop->objects, loop->object_count, &loop->object_capacity, sizeof *loop->objects);
    struct ofl_loop_object *object = &loop->objects[loop->object_count++];
    memset(object, 0, sizeof *object);
    return object;
}

static void describe(struct ofl_loop *loop, const CFI_cdesc_t *descriptor, const int64_t *lower,
                     const int64_t *element_bytes, int64_t offset, int64_t form, bool written, const char *name)
{
    struct ofl_loop_object *object = add_object(loop);
    uintptr_t base = (uintptr_t)descriptor->base_addr;
    object->rank = (unsigned char)descriptor->rank;
    object->element_bytes = (size_t)*element_bytes;
    object->written = written;
    object->read = (form & OFL_LOOPS_UNREAD) == 0;
    object->bounds = (form & OFL_LOOPS_BOUNDS) != 0;
    bool empty = *element_bytes == 0;
    if (base != 0) {
        base -= (uintptr_t)offset;
    }
    object->begin = object->zero = base;
    object->end = base + object->element_bytes;
    for (int d = 0; d < object->rank; d++) {
        int64_t extent = descriptor->dim[d].extent, bytes = descriptor->dim[d].sm;
        object->stride[d] = bytes;
        object->lower[d] = lower[d];
        object->extent[d] = extent < 0 ? 0 : extent;
        object->zero -= (uintptr_t)(lower[d] * bytes);
        empty |= extent <= 0;
        object->begin += bytes < 0 && extent > 0 ? (uintptr_t)((extent - 1) * bytes) : 0;
        object->end += bytes > 0 && extent > 0 ? (uintptr_t)((extent - 1) * bytes) : 0;
    }
    if (base == 0 && !empty) {
        ofl_loops_missing(loop->where, name);
    }
    if (base == 0 || empty) {
        object->begin = object->end = 0;
    } else if ((form & OFL_LOOPS_READABLE) != 0) {
        object->end = ofl_loop_readable(loop, object->begin, object->end);
    }
}

void ofl_loops_read(int64_t *handle, CFI_cdesc_t *object, const int64_t *lower, const int64_t *element_bytes,
                    const int64_t *offset, const int64_t *form, const char *name)
{
    describe(loop_of(handle), object, lower, element_bytes, *offset, *form, false, name);
}

void ofl_loops_write(int64_t *handle, CFI_cdesc_t *object, const int64_t *lower, const int64_t *element_bytes,
                     const int64_t *offset, const int64_t *form, const char *name)
{
    describe(loop_of(handle), object, lower, element_bytes, *offset, *form, true, name);
}

void ofl_loops_absent(int64_t *handle, const int64_t *rank, const int64_t *form)
{
    struct ofl_loop_object *object = add_object(loop_of(handle));
    object->absent = true;
    object->rank = (int)*rank;
    object->bounds = (*form & OFL_LOOPS_BOUNDS) != 0;
}

void ofl_loops_whole(int64_t *handle, const int64_t *subscripts)
{
    struct ofl_loop *loop = loop_of(handle);
    struct ofl_loop_object *object = &loop->objects[loop->object_count - 1];
    object->whole = true;
    for (int d = 0; d < object->rank; d++) {
        object->subscript[d] = (struct ofl_loop_subscript){(int)subscripts[2 * d] - 1, subscripts[2 * d + 1]};
    }
}

void ofl_loops_missing(const char *where, const char *name)
{
    const struct ofl_loop loop = {.where = (char *)where};
    ofl_loop_stop(&loop, "Array '%s' is not allocated", name);
}

/* ---- The rest ---- */

void ofl_loops_scalar(int64_t *handle, const void *value, const int64_t *bytes)
{
    struct ofl_loop *loop = loop_of(handle);
    loop->scalars =
        ofl_loop_grow(loop, loop->scalars, loop->scalar_count, &loop->scalar_capacity, sizeof *loop->scalars);
    memcpy(loop->scalars[loop->scalar_count++].words, value, (size_t)*bytes);
}

void ofl_loops_reduction(int64_t *handle, const int64_t *object, const int64_t *element_bytes, const int64_t *elements)
{
    struct ofl_loop *loop = loop_of(handle);
    loop->reductions = ofl_loop_grow(loop, loop->reductions, loop->reduction_count, &loop->reduction_capacity,
                                     sizeof *loop->reductions);
    loop->reductions[loop->reduction_count++] = (struct ofl_loop_reduction){
        .object = (size_t)*object, .element_bytes = (size_t)*element_bytes, .elements = *elements};
}

void ofl_loops_run(int64_t *handle, const int64_t *needs, const char *image, const int64_t *length,
                   const int64_t *identity, int64_t *stop, char *text)
{
    struct ofl_loop *loop = loop_of(handle);
    loop->mask = (*needs & OFL_LOOPS_MASK) != 0;
    loop->status = (*needs & (OFL_LOOPS_STATUS | OFL_LOOPS_WORKSPACE)) != 0;
    loop->workspace = (*needs & OFL_LOOPS_WORKSPACE) != 0;
    loop->image = image;
    loop->image_length = (size_t)*length;
    loop->identity = (uint64_t)*identity;
    stop[OFL_LOOPS_STOP_KIND] = 0;
    if (loop->trips > 0) {
        ofl_loop_launch(loop, stop, text);
    }
    free(loop->objects);
    free(loop->parts);
    free(loop->pointers);
    free(loop->scalars);
    free(loop->reductions);
    free(loop->where);
    free(loop->kernel);
    free(loop);
    *handle = 0;
}
