/* Running a kernel on memory of the program; see kernel.h.
 *
 * A region that the kernel may write goes to the device by way of a copy in host memory, and its result comes back to
 * a second one: where the two differ, the kernel has written.  (The program's memory itself may be changed by other
 * threads meanwhile, outside the elements that the kernel works on.)
 *
 * One kernel runs at a time; ofl_in_turn guards everything that is static here. */
#include "device/kernel.h"
#include "base/clock.h"
#include "device/internal.h"
#include "device/scratch.h"

#include <stdlib.h>
#include <string.h>

enum { alignment = 256, page = 4096 };

/* Kernels that have been loaded; for the life of the process. */
struct loaded {
    uint64_t identity;
    char *name;
    struct ofl_kernel *kernel;
    struct loaded *next;
};

static struct loaded *kernels;
static struct ofl_scratch scratch;

struct job {
    const struct ofl_kernel_work *work;
    struct ofl_device_times *times;
    const struct ofl_started *started;
    unsigned char *before, *after; /* the written regions, one behind the other, as they were and as they came back */
};

static size_t aligned(size_t bytes)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

static enum ofl_reason find_kernel(const struct job *job, struct ofl_kernel **out)
{
    const struct ofl_kernel_work *work = job->work;
    for (struct loaded *item = kernels; item != NULL; item = item->next) {
        if (item->identity == work->identity && strcmp(item->name, work->name) == 0) {
            *out = item->kernel;
            return OFL_OK;
        }
    }
    struct loaded *item = malloc(sizeof *item);
    char *name = strdup(work->name);
    if (item == NULL || name == NULL) {
        free(item);
        free(name);
        return OFL_HOST_MEMORY;
    }
    *item = (struct loaded){.identity = work->identity, .name = name, .next = kernels};
    enum ofl_reason reason = job->started->backend->kernel_load(job->started->device, work->image, work->image_bytes,
                                                                work->name, &item->kernel);
    if (reason != OFL_OK) {
        free(name);
        free(item);
        return reason;
    }
    kernels = item;
    *out = item->kernel;
    return OFL_OK;
}

/* Finds room for the regions on the device, and in host memory for those that are written. */
static enum ofl_reason make_room(struct job *job)
{
    const struct ofl_kernel_work *work = job->work;
    size_t device_bytes = 0, host_bytes = 0;
    for (size_t i = 0; i < work->region_count; i++) {
        device_bytes += aligned(work->regions[i].bytes);
        host_bytes += work->regions[i].written ? aligned(work->regions[i].bytes) : 0;
    }
    enum ofl_reason reason = ofl_scratch_device(&scratch, job->started, device_bytes);
    if (reason == OFL_OK) {
        reason = ofl_scratch_host(&scratch, job->started, 2 * host_bytes);
    }
    if (reason != OFL_OK) {
        return reason;
    }
    unsigned char *device = scratch.device;
    for (size_t i = 0; i < work->region_count; i++) {
        work->regions[i].device = device;
        device += aligned(work->regions[i].bytes);
    }
    job->before = scratch.host;
    job->after = job->before + host_bytes;
    return OFL_OK;
}

static enum ofl_reason copy_in(const struct job *job)
{
    const struct ofl_started *started = job->started;
    unsigned char *before = job->before;
    for (size_t i = 0; i < job->work->region_count; i++) {
        const struct ofl_kernel_region *region = &job->work->regions[i];
        const void *from = region->address;
        if (region->written) {
            from = memcpy(before, region->address, region->bytes);
            before += aligned(region->bytes);
        }
        enum ofl_reason reason = started->backend->copy_in(started->device, started->stream, region->device,
                                                           region->bytes, from, region->bytes, region->bytes, 1);
        if (reason != OFL_OK) {
            return reason;
        }
        job->times->bytes_in += region->bytes;
    }
    return started->backend->stream_wait(started->device, started->stream);
}

static enum ofl_reason copy_out(const struct job *job)
{
    const struct ofl_started *started = job->started;
    unsigned char *after = job->after;
    for (size_t i = 0; i < job->work->region_count; i++) {
        const struct ofl_kernel_region *region = &job->work->regions[i];
        if (region->written) {
            enum ofl_reason reason = started->backend->copy_out(started->device, started->stream, after, region->bytes,
                                                                region->device, region->bytes, region->bytes, 1);
            if (reason != OFL_OK) {
                return reason;
            }
            job->times->bytes_out += region->bytes;
            after += aligned(region->bytes);
        }
    }
    return started->backend->stream_wait(started->device, started->stream);
}

/* Writes the elements that differ. */
static void commit_piece(unsigned char *to, const unsigned char *before, const unsigned char *after, size_t bytes,
                         unsigned unit)
{
    if (memcmp(before, after, bytes) == 0) {
        return;
    }
    if (unit == 8) {
        for (size_t i = 0; i < bytes; i += 8) {
            if (memcmp(before + i, after + i, 8) != 0) {
                memcpy(to + i, after + i, 8);
            }
        }
    } else if (unit == 4) {
        for (size_t i = 0; i < bytes; i += 4) {
            if (memcmp(before + i, after + i, 4) != 0) {
                memcpy(to + i, after + i, 4);
            }
        }
    } else {
        for (size_t i = 0; i < bytes; i++) {
            if (before[i] != after[i]) {
                to[i] = after[i];
            }
        }
    }
}

static void commit(const struct job *job)
{
    const unsigned char *before = job->before, *after = job->after;
    for (size_t i = 0; i < job->work->region_count; i++) {
        const struct ofl_kernel_region *region = &job->work->regions[i];
        if (!region->written) {
            continue;
        }
        for (size_t offset = 0; offset < region->bytes; offset += page) {
            size_t bytes = region->bytes - offset < page ? region->bytes - offset : page;
            commit_piece((unsigned char *)region->address + offset, before + offset, after + offset, bytes,
                         region->unit);
        }
        before += aligned(region->bytes);
        after += aligned(region->bytes);
    }
}

static enum ofl_reason launch(const struct job *job, struct ofl_kernel *kernel)
{
    const struct ofl_started *started = job->started;
    const struct ofl_kernel_work *work = job->work;
    struct ofl_launch shape = {
        .blocks = {work->blocks, 1, 1}, .threads = {work->threads, 1, 1}, .arguments = work->arguments};
    work->bind(work->context);
    enum ofl_reason reason = started->backend->kernel_launch(started->device, started->stream, kernel, &shape);
    return reason == OFL_OK ? started->backend->stream_wait(started->device, started->stream) : reason;
}

static enum ofl_reason run(const struct ofl_started *started, void *argument)
{
    struct job *job = argument;
    struct ofl_kernel *kernel;
    job->started = started;
    enum ofl_reason reason = find_kernel(job, &kernel);
    if (reason == OFL_OK) {
        reason = make_room(job);
    }
    double begin = ofl_clock();
    if (reason == OFL_OK) {
        reason = copy_in(job);
    }
    double copied = ofl_clock();
    if (reason == OFL_OK) {
        reason = launch(job, kernel);
    }
    double computed = ofl_clock();
    if (reason == OFL_OK) {
        reason = copy_out(job);
    }
    if (reason == OFL_OK) {
        commit(job);
    } else if (reason != OFL_DEVICE_LOST) {
        /* Nothing may still be using the memory when it is used again. */
        enum ofl_reason drained = started->backend->stream_wait(started->device, started->stream);
        reason = drained == OFL_DEVICE_LOST ? drained : reason;
    }
    job->times->copy_in = copied - begin;
    job->times->compute = computed - copied;
    job->times->copy_out = ofl_clock() - computed;
    if (reason != OFL_DEVICE_LOST) {
        ofl_scratch_trim(&scratch, started);
    }
    return reason;
}

enum ofl_reason ofl_device_run_kernel(const struct ofl_kernel_work *work, struct ofl_device_times *times)
{
    struct ofl_device_times unwanted;
    struct job job = {.work = work, .times = times != NULL ? times : &unwanted};
    memset(job.times, 0, sizeof *job.times);
    return ofl_in_turn(run, &job, &job.times->wait);
}
