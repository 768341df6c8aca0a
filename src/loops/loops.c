/* Launching compiled loops; see <gpu-offload/loops.h>.
 *
 * A loop is gathered in a struct of its own, allocated by ofl_loops_begin and freed by ofl_loops_run, so that threads
 * do not meet before they wait for the device. */
#include "internal.h"

#include "base/message.h"
#include "base/reason.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 65535, THREADS = 256 };

struct scalar {
    const void *value;
};

struct loop {
    char *where, *kernel;
    int64_t device;
    struct ofl_loop_array *arrays;
    size_t array_count, array_capacity;
    struct scalar *scalars;
    size_t scalar_count, scalar_capacity;
    const void *image;
    size_t image_bytes;
    uint64_t identity;
    struct ofl_kernel_region *regions;
    size_t region_count;
};

/* The program cannot go on: its results would be wrong. */
static _Noreturn void stop(const struct loop *loop, const char *format, ...)
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

static void *need(const struct loop *loop, void *memory)
{
    if (memory == NULL) {
        stop(loop, "there is no memory to prepare the loop");
    }
    return memory;
}

void ofl_loops_begin(int64_t *handle, const int64_t *version, const char *where, const char *kernel,
                     const int64_t *device)
{
    struct loop *loop = calloc(1, sizeof *loop);
    const struct loop place = {.where = (char *)where};
    need(&place, loop);
    loop->where = need(&place, strdup(where));
    loop->kernel = need(&place, strdup(kernel));
    loop->device = *device;
    if (*version != OFL_LOOPS_ABI) {
        stop(loop, "the program was compiled by another version of gpu-offload than its library has; compile it again");
    }
    *handle = (int64_t)(intptr_t)loop;
}

static struct loop *loop_of(const int64_t *handle)
{
    return (struct loop *)(intptr_t)*handle;
}

/* The next free element of a list that grows. */
static void *grow(const struct loop *loop, void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return list;
    }
    *capacity = *capacity == 0 ? 8 : 2 * *capacity;
    return need(loop, realloc(list, *capacity * size));
}

static void add_array(struct loop *loop, const CFI_cdesc_t *descriptor, const int64_t *lower, bool written,
                      const int64_t *element_bytes, const char *name)
{
    loop->arrays = grow(loop, loop->arrays, loop->array_count, &loop->array_capacity, sizeof *loop->arrays);
    struct ofl_loop_array *array = &loop->arrays[loop->array_count++];
    *array = (struct ofl_loop_array){
        .rank = descriptor->rank, .element_bytes = (unsigned)*element_bytes, .written = written};
    uintptr_t base = (uintptr_t)descriptor->base_addr;
    array->begin = array->zero = base;
    array->end = base + (uintptr_t)*element_bytes;
    bool empty = false;
    for (int d = 0; d < array->rank; d++) {
        int64_t extent = descriptor->dim[d].extent, bytes = descriptor->dim[d].sm;
        if (bytes % *element_bytes != 0) {
            stop(loop, "the elements of '%s' do not lie a multiple of their size apart: not yet implemented", name);
        }
        array->stride[d] = bytes / *element_bytes;
        array->zero -= (uintptr_t)(lower[d] * bytes);
        empty |= extent <= 0;
        array->begin += bytes < 0 && extent > 0 ? (uintptr_t)((extent - 1) * bytes) : 0;
        array->end += bytes > 0 && extent > 0 ? (uintptr_t)((extent - 1) * bytes) : 0;
    }
    if (base == 0 && !empty) {
        ofl_loops_missing(loop->where, name);
    }
    if (base == 0 || empty) {
        array->begin = array->end = 0;
    }
}

void ofl_loops_missing(const char *where, const char *name)
{
    const struct loop loop = {.where = (char *)where};
    stop(&loop, "Array '%s' is not allocated", name);
}

void ofl_loops_array_read(int64_t *handle, CFI_cdesc_t *array, const int64_t *lower, const int64_t *element_bytes,
                          const char *name)
{
    add_array(loop_of(handle), array, lower, false, element_bytes, name);
}

void ofl_loops_array_write(int64_t *handle, CFI_cdesc_t *array, const int64_t *lower, const int64_t *element_bytes,
                           const char *name)
{
    add_array(loop_of(handle), array, lower, true, element_bytes, name);
}

void ofl_loops_scalar(int64_t *handle, const void *value, const int64_t *bytes)
{
    struct loop *loop = loop_of(handle);
    (void)bytes; /* the kernel knows */
    loop->scalars = grow(loop, loop->scalars, loop->scalar_count, &loop->scalar_capacity, sizeof *loop->scalars);
    loop->scalars[loop->scalar_count++] = (struct scalar){value};
}

/* ---- The device ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare_process(void)
{
    ofl_message_start();
    pthread_atfork(ofl_device_before_fork, ofl_device_after_fork_in_parent, ofl_device_after_fork_in_child);
}

static const char *backend_of(const struct loop *loop)
{
    return loop->device == OFL_LOOPS_CUDA ? "cuda" : "host";
}

static const char *option_of(const struct loop *loop)
{
    return loop->device == OFL_LOOPS_CUDA ? "cuda" : "cuda_cpu";
}

/* Starts the device that the loop was compiled for, or stops. */
static void start_device(const struct loop *loop)
{
    pthread_once(&once, prepare_process);
    if (ofl_device_state() != OFL_OK) {
        ofl_device_prefer(backend_of(loop));
    }
    enum ofl_reason reason = ofl_device_start();
    if (reason != OFL_OK) {
        const char *more = ofl_device_explanation();
        stop(loop, "this loop was compiled for a device (--gpu=%s) and cannot run: %s", option_of(loop),
             *more != '\0' ? more : ofl_reason_text(reason));
    }
    if (strcmp(ofl_device_name(), backend_of(loop)) != 0) {
        stop(loop, "this loop was compiled with --gpu=%s, but the program already uses another device (%s)",
             option_of(loop), ofl_device_name());
    }
}

/* ---- The launch ---- */

/* The kernel's parameters: three numbers, the arrays, the scalars. */
static void **parameters(struct loop *loop, const int64_t *const *control)
{
    size_t count = 3 + loop->array_count * (1 + CFI_MAX_RANK) + loop->scalar_count, used = 0;
    void **list = need(loop, malloc(count * sizeof *list));
    for (int i = 0; i < 3; i++) {
        list[used++] = (void *)control[i];
    }
    for (size_t i = 0; i < loop->array_count; i++) {
        list[used++] = &loop->arrays[i].origin;
        for (int d = 0; d < loop->arrays[i].rank; d++) {
            list[used++] = &loop->arrays[i].stride[d];
        }
    }
    for (size_t i = 0; i < loop->scalar_count; i++) {
        list[used++] = (void *)loop->scalars[i].value;
    }
    return list;
}

static void place_arrays(void *context)
{
    struct loop *loop = context;
    for (size_t i = 0; i < loop->array_count; i++) {
        ofl_loops_place(&loop->arrays[i], loop->regions, loop->region_count);
    }
}

static void launch(struct loop *loop, const int64_t *const *control)
{
    uint64_t blocks = ((uint64_t)*control[2] + THREADS - 1) / THREADS;
    loop->regions = need(loop, malloc((loop->array_count + 1) * sizeof *loop->regions));
    loop->region_count = ofl_loops_regions(loop->arrays, loop->array_count, loop->regions);
    struct ofl_kernel_work work = {
        .image = loop->image,
        .image_bytes = loop->image_bytes,
        .identity = loop->identity,
        .name = loop->kernel,
        .regions = loop->regions,
        .region_count = loop->region_count,
        .blocks = (uint32_t)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS),
        .threads = THREADS,
        .arguments = parameters(loop, control),
        .bind = place_arrays,
        .context = loop,
    };
    enum ofl_reason reason = ofl_device_run_kernel(&work, NULL);
    free(work.arguments);
    if (reason != OFL_OK) {
        stop(loop, "the loop failed on the device (%s): %s", ofl_device_name() != NULL ? ofl_device_name() : "none",
             ofl_reason_text(reason));
    }
    ofl_summary_count(loop->kernel, ofl_device_name());
}

void ofl_loops_run(int64_t *handle, const int64_t *first, const int64_t *step, const int64_t *trips,
                   const int64_t *image, const int64_t *bytes, const int64_t *identity)
{
    struct loop *loop = loop_of(handle);
    loop->image = image;
    loop->image_bytes = (size_t)*bytes;
    loop->identity = (uint64_t)*identity;
    const int64_t *const control[] = {first, step, trips};
    if (*trips > 0) {
        start_device(loop);
        launch(loop, control);
    }
    free(loop->arrays);
    free(loop->scalars);
    free(loop->regions);
    free(loop->where);
    free(loop->kernel);
    free(loop);
    *handle = 0;
}
