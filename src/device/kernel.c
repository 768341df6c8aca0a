/* Running kernels on memory of the program; see kernel.h.
 *
 * A kernel is loaded at its first launch and stays for the life of the process.
 *
 * One piece of work runs at a time; ofl_in_turn guards everything that is static here. */
#include "device/kernel.h"
#include "base/clock.h"
#include "device/internal.h"
#include "device/kernel_copy.h"
#include "device/scratch.h"

#include <stdlib.h>
#include <string.h>

/* Kernels that have been loaded. */
struct loaded {
    uint64_t identity;
    char *name;
    struct ofl_kernel *kernel;
    struct loaded *next;
};

enum { buckets = 256 };

static struct loaded *kernels[buckets];
static struct ofl_scratch scratch;
static const unsigned char zeros[1024];

struct job {
    struct ofl_kernel_work *work;
    struct ofl_device_times *times;
    const struct ofl_started *started;
    struct ofl_kernel_copies copies;
};

static size_t aligned(size_t bytes)
{
    return (bytes + OFL_KERNEL_ALIGNMENT - 1) / OFL_KERNEL_ALIGNMENT * OFL_KERNEL_ALIGNMENT;
}

static struct loaded **bucket_of(uint64_t identity, const char *name)
{
    for (; *name != '\0'; name++) {
        identity = (identity ^ (unsigned char)*name) * 1099511628211u;
    }
    return &kernels[(identity ^ identity >> 32) % buckets];
}

static enum ofl_reason load_kernel(const struct job *job, const char *name, struct ofl_kernel **out)
{
    const void *image;
    size_t bytes;
    enum ofl_reason reason = job->work->image(job->work->context, &image, &bytes);
    return reason != OFL_OK ? reason
                            : job->started->backend->kernel_load(job->started->device, image, bytes, name, out);
}

static enum ofl_reason find_kernel(const struct job *job, const char *name, struct ofl_kernel **out)
{
    struct ofl_kernel_work *work = job->work;
    struct loaded **bucket = bucket_of(work->identity, name);
    for (struct loaded *item = *bucket; item != NULL; item = item->next) {
        if (item->identity == work->identity && strcmp(item->name, name) == 0) {
            *out = item->kernel;
            return OFL_OK;
        }
    }
    struct loaded *item = malloc(sizeof *item);
    char *copy = strdup(name);
    enum ofl_reason reason = item == NULL || copy == NULL ? OFL_HOST_MEMORY : OFL_OK;
    if (reason == OFL_OK) {
        double begin = ofl_clock();
        *item = (struct loaded){.identity = work->identity, .name = copy, .next = *bucket};
        reason = load_kernel(job, name, &item->kernel);
        work->loading += ofl_clock() - begin;
    }
    if (reason != OFL_OK) {
        free(copy);
        free(item);
        return reason;
    }
    *bucket = item;
    *out = item->kernel;
    return OFL_OK;
}

/* All kernels are there before anything is copied. */
static enum ofl_reason load_kernels(const struct job *job)
{
    enum ofl_reason reason = OFL_OK;
    struct ofl_kernel *kernel;
    for (size_t i = 0; i < job->work->stage_count && reason == OFL_OK; i++) {
        reason = find_kernel(job, job->work->stages[i].name, &kernel);
    }
    return reason;
}

/* Finds room for the regions and the scratch on the device, and in host memory for the regions that are compared. */
static enum ofl_reason make_room(struct job *job)
{
    struct ofl_kernel_work *work = job->work;
    size_t device_bytes = aligned(work->scratch_bytes), host_bytes = ofl_kernel_compared_bytes(work);
    for (size_t i = 0; i < work->region_count; i++) {
        if (__builtin_add_overflow(device_bytes, aligned(work->regions[i].bytes) + OFL_KERNEL_ALIGNMENT,
                                   &device_bytes)) {
            return OFL_DEVICE_MEMORY;
        }
    }
    enum ofl_reason reason = ofl_scratch_device(&scratch, job->started, device_bytes);
    if (reason == OFL_OK && host_bytes > 0) {
        reason = ofl_scratch_host(&scratch, job->started, 2 * host_bytes);
    }
    if (reason != OFL_OK) {
        return reason;
    }
    unsigned char *device = scratch.device;
    work->scratch = device;
    device += aligned(work->scratch_bytes);
    for (size_t i = 0; i < work->region_count; i++) {
        work->regions[i].device = device + (uintptr_t)work->regions[i].address % OFL_KERNEL_ALIGNMENT;
        device += aligned(work->regions[i].bytes) + OFL_KERNEL_ALIGNMENT;
    }
    unsigned char *host = scratch.host;
    job->copies = (struct ofl_kernel_copies){host, host == NULL ? NULL : host + host_bytes, scratch.host_is_locked};
    return OFL_OK;
}

static enum ofl_reason clear_status(const struct job *job)
{
    const struct ofl_started *started = job->started;
    enum ofl_reason reason = OFL_OK;
    for (size_t offset = 0; offset < job->work->status_bytes && reason == OFL_OK; offset += sizeof zeros) {
        size_t rest = job->work->status_bytes - offset, bytes = rest < sizeof zeros ? rest : sizeof zeros;
        reason = started->backend->copy_in(started->device, started->stream, (char *)job->work->scratch + offset, bytes,
                                           zeros, bytes, bytes, 1);
    }
    return reason;
}

static enum ofl_reason launch(const struct job *job)
{
    const struct ofl_started *started = job->started;
    const struct ofl_kernel_work *work = job->work;
    enum ofl_reason reason = OFL_OK;
    for (size_t i = 0; i < work->stage_count && reason == OFL_OK; i++) {
        struct ofl_kernel *kernel;
        struct ofl_launch shape = {.blocks = {work->stages[i].blocks, 1, 1},
                                   .threads = {work->threads, 1, 1},
                                   .arguments = work->stages[i].arguments};
        reason = find_kernel(job, work->stages[i].name, &kernel);
        if (reason == OFL_OK) {
            reason = started->backend->kernel_launch(started->device, started->stream, kernel, &shape);
        }
    }
    if (reason == OFL_OK && work->status_bytes > 0) {
        reason = started->backend->copy_out(started->device, started->stream, work->status, work->status_bytes,
                                            work->scratch, work->status_bytes, work->status_bytes, 1);
    }
    return reason == OFL_OK ? started->backend->stream_wait(started->device, started->stream) : reason;
}

static enum ofl_reason compute(struct job *job)
{
    struct ofl_kernel_work *work = job->work;
    double begin = ofl_clock();
    enum ofl_reason reason = clear_status(job);
    if (reason == OFL_OK) {
        reason = ofl_kernel_copy_in(job->started, work, &job->copies, job->times);
    }
    double copied = ofl_clock();
    if (reason == OFL_OK) {
        work->bind(work->context);
        reason = launch(job);
    }
    double computed = ofl_clock();
    if (reason == OFL_OK && (work->accept == NULL || work->accept(work->context))) {
        reason = ofl_kernel_copy_out(job->started, work, &job->copies, job->times);
    }
    job->times->copy_in = copied - begin;
    job->times->compute = computed - copied;
    job->times->copy_out = ofl_clock() - computed;
    return reason;
}

static enum ofl_reason run(const struct ofl_started *started, void *argument)
{
    struct job *job = argument;
    job->started = started;
    job->work->loading = 0;
    enum ofl_reason reason = load_kernels(job);
    if (reason == OFL_OK) {
        reason = make_room(job);
    }
    if (reason == OFL_OK) {
        reason = compute(job);
    }
    if (reason != OFL_OK && reason != OFL_DEVICE_LOST) {
        /* Nothing may still be using the memory when it is used again. */
        enum ofl_reason drained = started->backend->stream_wait(started->device, started->stream);
        reason = drained == OFL_DEVICE_LOST ? drained : reason;
    }
    if (reason != OFL_DEVICE_LOST) {
        ofl_scratch_trim(&scratch, started);
    }
    return reason;
}

enum ofl_reason ofl_device_run_kernel(struct ofl_kernel_work *work, struct ofl_device_times *times)
{
    struct ofl_device_times unwanted;
    struct job job = {.work = work, .times = times != NULL ? times : &unwanted};
    memset(job.times, 0, sizeof *job.times);
    return ofl_in_turn(run, &job, &job.times->wait);
}
