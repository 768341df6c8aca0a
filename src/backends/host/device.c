/* The host backend: the reference device.
 *
 * A device with memory of its own, in ordinary memory, whose operations are done by
 * a CPU library and whose kernels are shared objects.  It is for tests, demos and
 * machines without a GPU, and only used when asked for.  What it is told to be
 * (settings host_*): of little memory, slow at copying, busy, failing at a given
 * step.  Its streams are synchronous: work is done when the call returns. */
#include "host.h"
#include "base/settings.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct ofl_stream {
    int device;
};

struct ofl_event {
    double time; /* when it was recorded */
    bool recorded;
};

static atomic_bool lost;

enum ofl_reason ofl_host_usable(int device)
{
    if (device != 0) {
        return OFL_NO_DEVICE;
    }
    return atomic_load(&lost) ? OFL_DEVICE_LOST : OFL_OK;
}

enum ofl_reason ofl_host_step(int device, enum ofl_host_step step, enum ofl_reason failure)
{
    bool loses;
    enum ofl_reason reason = ofl_host_usable(device);
    if (reason != OFL_OK || !ofl_host_step_fails(step, &loses)) {
        return reason;
    }
    if (loses) {
        atomic_store(&lost, true);
        return OFL_DEVICE_LOST;
    }
    return failure;
}

static uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)1 << 30;
}

static enum ofl_reason start(int *devices, char *explanation, size_t size)
{
    const struct ofl_settings *settings = ofl_settings();
    *devices = 1;
    if (!ofl_host_faults_start(settings->host_faults, explanation, size)) {
        return OFL_NO_DEVICE;
    }
    ofl_host_memory_start(settings->host_memory > 0 ? (uint64_t)settings->host_memory : machine_memory() / 2,
                          (uint64_t)settings->host_copy_rate);
    return OFL_OK;
}

static void stop(void)
{
    ofl_host_pool_stop();
}

static enum ofl_reason open_device(int device, char *explanation, size_t size)
{
    enum ofl_reason reason = ofl_host_usable(device);
    if (reason != OFL_OK) {
        snprintf(explanation, size, "the host backend has one device, number 0");
    }
    return reason;
}

static void close_device(int device)
{
    (void)device; /* nothing was opened */
}

static enum ofl_reason properties(int device, struct ofl_device_properties *out)
{
    const struct ofl_settings *settings = ofl_settings();
    uint64_t used;
    if (device != 0) {
        return OFL_NO_DEVICE;
    }
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "host CPU (reference device)");
    snprintf(out->driver, sizeof out->driver, "host");
    ofl_host_memory_use(&used, &out->memory_bytes);
    out->flops_double = (double)settings->host_flops;
    out->flops_single = 2 * out->flops_double;
    out->link_bandwidth = (double)settings->host_copy_rate;
    out->multiprocessors = ofl_host_pool_threads();
    out->max_threads_per_block = 1024;
    return OFL_OK;
}

static enum ofl_reason load(int device, struct ofl_device_load *out)
{
    uint64_t used;
    enum ofl_reason reason = ofl_host_usable(device);
    if (reason != OFL_OK) {
        return reason;
    }
    ofl_host_memory_use(&used, &out->memory_total);
    out->memory_free = out->memory_total - used;
    out->utilisation = (double)ofl_settings()->host_utilisation / 100;
    return OFL_OK;
}

static enum ofl_reason stream_create(int device, struct ofl_stream **out)
{
    enum ofl_reason reason = ofl_host_usable(device);
    *out = NULL;
    if (reason == OFL_OK && (*out = malloc(sizeof **out)) == NULL) {
        reason = OFL_HOST_MEMORY;
    }
    if (reason == OFL_OK) {
        (*out)->device = device;
    }
    return reason;
}

static enum ofl_reason stream_destroy(int device, struct ofl_stream *stream)
{
    free(stream);
    return ofl_host_usable(device);
}

static enum ofl_reason stream_wait(int device, struct ofl_stream *stream)
{
    (void)stream; /* synchronous: there is nothing to wait for */
    return ofl_host_usable(device);
}

static enum ofl_reason event_create(int device, struct ofl_event **out)
{
    enum ofl_reason reason = ofl_host_usable(device);
    *out = NULL;
    if (reason == OFL_OK && (*out = calloc(1, sizeof **out)) == NULL) {
        reason = OFL_HOST_MEMORY;
    }
    return reason;
}

static enum ofl_reason event_destroy(int device, struct ofl_event *event)
{
    free(event);
    return ofl_host_usable(device);
}

static enum ofl_reason event_record(int device, struct ofl_stream *stream, struct ofl_event *event)
{
    struct timespec now;
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    event->recorded = true;
    return ofl_host_usable(device);
}

static enum ofl_reason event_wait(int device, struct ofl_event *event)
{
    (void)event;
    return ofl_host_usable(device);
}

static enum ofl_reason event_done(int device, struct ofl_event *event, bool *done)
{
    (void)event;
    *done = true;
    return ofl_host_usable(device);
}

static enum ofl_reason stream_wait_event(int device, struct ofl_stream *stream, struct ofl_event *event)
{
    (void)stream, (void)event;
    return ofl_host_usable(device);
}

static enum ofl_reason event_elapsed(int device, struct ofl_event *begin, struct ofl_event *end, double *seconds)
{
    if (!begin->recorded || !end->recorded) {
        return OFL_INVALID_ARGUMENT;
    }
    *seconds = end->time - begin->time;
    return ofl_host_usable(device);
}

__attribute__((visibility("default"))) extern const struct ofl_backend ofl_backend;

const struct ofl_backend ofl_backend = {
    .abi = OFL_DEVICE_ABI,
    .size = sizeof(struct ofl_backend),
    .name = "host",
    .start = start,
    .stop = stop,
    .open = open_device,
    .close = close_device,
    .properties = properties,
    .load = load,
    .allocate = ofl_host_allocate,
    .release = ofl_host_release,
    .host_allocate = ofl_host_locked_allocate,
    .host_release = ofl_host_locked_release,
    .host_register = ofl_host_register,
    .host_unregister = ofl_host_unregister,
    .host_is_locked = ofl_host_is_locked,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_done = event_done,
    .stream_wait_event = stream_wait_event,
    .event_elapsed = event_elapsed,
    .copy_in = ofl_host_copy_in,
    .copy_out = ofl_host_copy_out,
    .copy_within = ofl_host_copy_within,
    .operation_prepare = ofl_host_operation_prepare,
    .operation_supports = ofl_host_operation_supports,
    .operation_workspace = ofl_host_operation_workspace,
    .operation_run = ofl_host_operation_run,
    .kernel_load = ofl_host_kernel_load,
    .kernel_unload = ofl_host_kernel_unload,
    .kernel_launch = ofl_host_kernel_launch,
};
