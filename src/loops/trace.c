/* Loops in the trace: one record for each launch, the kernel's name in a text record before its first one.
 *
 * Where the preload library is in the process, it has started the trace; else the first loop does.  The list of names
 * is guarded by `lock`; nothing is ever removed. */
#include "internal.h"
#include "base/message.h"
#include "base/settings.h"
#include "trace/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct named {
    char *kernel;
    uint32_t number;
    struct named *next;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct named *list;

static void start(void)
{
    const struct ofl_settings *settings = ofl_settings();
    char explanation[1024];
    if (settings->trace[0] == '\0' || ofl_trace_active()) {
        return;
    }
    if (!ofl_trace_start(settings->trace, (int)settings->level, explanation, sizeof explanation)) {
        ofl_message("no trace is written: %s", explanation);
        return;
    }
    pthread_atfork(NULL, NULL, ofl_trace_after_fork_in_child);
    atexit(ofl_trace_stop);
}

bool ofl_loop_is_traced(void)
{
    pthread_once(&once, start);
    return ofl_trace_active();
}

/* The kernel's number, from 1; 0 if there is no memory for it. */
static uint32_t number_of(const char *kernel)
{
    pthread_mutex_lock(&lock);
    struct named *item = list;
    while (item != NULL && strcmp(item->kernel, kernel) != 0) {
        item = item->next;
    }
    if (item == NULL && (item = calloc(1, sizeof *item)) != NULL) {
        item->kernel = strdup(kernel);
        if (item->kernel == NULL) {
            free(item);
            item = NULL;
        } else {
            item->number = list == NULL ? 1 : list->number + 1;
            item->next = list;
            list = item;
            ofl_trace_kernel(item->number, kernel);
        }
    }
    uint32_t number = item == NULL ? 0 : item->number;
    pthread_mutex_unlock(&lock);
    return number;
}

static struct ofl_trace_buffer buffer_of(const struct ofl_kernel_region *region, bool written)
{
    return (struct ofl_trace_buffer){
        .address = (uintptr_t)region->address,
        .bytes = region->bytes,
        .access = !written       ? OFL_READ
                  : region->read ? OFL_UPDATE
                                 : OFL_WRITE,
        .element_size = (uint8_t)region->unit,
    };
}

/* Whether an object in the region is written. */
static bool is_written(const struct ofl_loop *loop, const struct ofl_kernel_region *region)
{
    uintptr_t begin = (uintptr_t)region->address, end = begin + region->bytes;
    for (size_t i = 0; i < loop->object_count; i++) {
        const struct ofl_loop_object *object = &loop->objects[i];
        if (object->written && object->begin != object->end && object->begin >= begin && object->begin < end) {
            return true;
        }
    }
    return false;
}

void ofl_loop_trace(const struct ofl_loop *loop, const struct ofl_kernel_work *work,
                    const struct ofl_device_times *times, uint64_t begin)
{
    const struct ofl_kernel_region *regions = work->regions;
    size_t count = work->region_count;
    struct ofl_trace_record record = {
        .kind = OFL_TRACE_LOOP,
        .start = begin,
        .duration = ofl_trace_now() - begin,
        .predicted_cpu = -1,
        .predicted_device = -1,
        .wait = (float)times->wait,
        .copy_in = (float)times->copy_in,
        .compute = (float)times->compute,
        .copy_out = (float)times->copy_out,
        .bytes_in = times->bytes_in,
        .bytes_out = times->bytes_out,
        .m = loop->trips,
        .reason = OFL_OK,
        .flags = work->loading > 0 ? OFL_TRACE_FIRST : 0,
        .loop = number_of(loop->kernel),
    };
    struct ofl_trace_buffer *more =
        count > OFL_TRACE_BUFFERS ? malloc((count - OFL_TRACE_BUFFERS) * sizeof *more) : NULL;
    for (size_t i = 0; i < count; i++) {
        struct ofl_trace_buffer buffer = buffer_of(&regions[i], is_written(loop, &regions[i]));
        if (i < OFL_TRACE_BUFFERS) {
            record.buffer[record.buffers++] = buffer;
        } else if (more != NULL) {
            more[i - OFL_TRACE_BUFFERS] = buffer;
        }
    }
    ofl_trace_write(&record);
    if (more != NULL) {
        ofl_trace_write_buffers(&record, more, (int)(count - OFL_TRACE_BUFFERS));
    }
    free(more);
}
