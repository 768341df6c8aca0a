/* The CUDA backend: NVIDIA GPUs through the driver and cuBLAS.
 *
 * Nothing of CUDA is linked: the driver (driver.c), cuBLAS (blas.c, libraries.c)
 * and NVML (nvml.c) are opened when they are first needed.  Work is done in the
 * device's primary context, which every function makes current for itself only.  No
 * function here runs at the end of the process: the driver takes itself down, and
 * calls that come later fail and mean OFL_DEVICE_LOST. */
#include "driver.h"
#include "parts.h"

#include <stdio.h>
#include <string.h>

static void stop(void)
{
    /* Drivers stay loaded: they do not survive being unloaded. */
}

static int attribute(const struct ofl_cuda_device *it, CUdevice_attribute which)
{
    int value = 0;
    return ofl_cuda.cuDeviceGetAttribute(&value, which, it->number) == CUDA_SUCCESS ? value : 0;
}

/* Multiplications with addition that a multiprocessor begins in a cycle, by compute capability; in double
 * precision with the matrix units, which cuBLAS uses.  A later capability of the same line counts like
 * the last one listed before it. */
static const struct {
    int capability, single_lanes, double_lanes;
} lanes[] = {
    {50, 128, 4}, {60, 64, 32},   {61, 128, 4},   {70, 64, 32},  {75, 64, 2},   {80, 64, 64},
    {86, 128, 2}, {90, 128, 128}, {100, 128, 64}, {103, 128, 2}, {110, 128, 2}, {120, 128, 2},
};

static void peaks(const struct ofl_cuda_device *it, struct ofl_device_properties *out)
{
    int capability = 10 * attribute(it, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                     attribute(it, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    /* kHz; a fused operation counts twice */
    double rate = 2e3 * (double)attribute(it, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * (double)out->multiprocessors;
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes && lanes[i].capability <= capability; i++) {
        out->flops_single = rate * lanes[i].single_lanes;
        out->flops_double = rate * lanes[i].double_lanes;
    }
    /* kHz, bits, and two transfers a cycle */
    out->memory_bandwidth = 2e3 * (double)attribute(it, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                            (double)attribute(it, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
}

static enum ofl_reason properties(int device, struct ofl_device_properties *out)
{
    struct ofl_cuda_device *it = ofl_cuda_device(device);
    char bus[32] = "";
    size_t bytes = 0;
    memset(out, 0, sizeof *out);
    if (it == NULL) {
        return OFL_NO_DEVICE;
    }
    CUresult result = ofl_cuda.cuDeviceGetName(out->name, (int)sizeof out->name, it->number);
    if (result == CUDA_SUCCESS) {
        result = ofl_cuda.cuDeviceTotalMem(&bytes, it->number);
    }
    if (result != CUDA_SUCCESS) {
        return ofl_cuda_reason(device, result, OFL_NO_DEVICE);
    }
    out->memory_bytes = bytes;
    out->multiprocessors = attribute(it, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    out->max_threads_per_block = attribute(it, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    peaks(it, out);
    if (!ofl_cuda_driver_name(out->driver, sizeof out->driver)) {
        snprintf(out->driver, sizeof out->driver, "CUDA %d.%d", ofl_cuda_version / 1000, ofl_cuda_version % 1000 / 10);
    }
    if (ofl_cuda.cuDeviceGetPCIBusId(bus, (int)sizeof bus, it->number) == CUDA_SUCCESS) {
        out->link_bandwidth = ofl_cuda_link(bus);
    }
    return OFL_OK;
}

static enum ofl_reason load(int device, struct ofl_device_load *out)
{
    char bus[32] = "";
    size_t free_bytes = 0, total = 0;
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason != OFL_OK) {
        return reason;
    }
    CUresult result = ofl_cuda.cuMemGetInfo(&free_bytes, &total);
    ofl_cuda_leave();
    reason = ofl_cuda_reason(device, result, OFL_DEVICE_LOST);
    out->memory_free = free_bytes;
    out->memory_total = total;
    out->utilisation = -1;
    if (ofl_cuda.cuDeviceGetPCIBusId(bus, (int)sizeof bus, ofl_cuda_device(device)->number) == CUDA_SUCCESS) {
        out->utilisation = ofl_cuda_utilisation(bus);
    }
    return reason;
}

__attribute__((visibility("default"))) extern const struct ofl_backend ofl_backend;

const struct ofl_backend ofl_backend = {
    .abi = OFL_DEVICE_ABI,
    .size = sizeof(struct ofl_backend),
    .name = "cuda",
    .start = ofl_cuda_driver_start,
    .stop = stop,
    .open = ofl_cuda_open,
    .close = ofl_cuda_close,
    .properties = properties,
    .load = load,
    .allocate = ofl_cuda_allocate,
    .release = ofl_cuda_release,
    .host_allocate = ofl_cuda_host_allocate,
    .host_release = ofl_cuda_host_release,
    .host_register = ofl_cuda_host_register,
    .host_unregister = ofl_cuda_host_unregister,
    .host_is_locked = ofl_cuda_host_is_locked,
    .stream_create = ofl_cuda_stream_create,
    .stream_destroy = ofl_cuda_stream_destroy,
    .stream_wait = ofl_cuda_stream_wait,
    .event_create = ofl_cuda_event_create,
    .event_destroy = ofl_cuda_event_destroy,
    .event_record = ofl_cuda_event_record,
    .event_wait = ofl_cuda_event_wait,
    .event_done = ofl_cuda_event_done,
    .stream_wait_event = ofl_cuda_stream_wait_event,
    .event_elapsed = ofl_cuda_event_elapsed,
    .copy_in = ofl_cuda_copy_in,
    .copy_out = ofl_cuda_copy_out,
    .copy_within = ofl_cuda_copy_within,
    .operation_prepare = ofl_cuda_operation_prepare,
    .operation_supports = ofl_cuda_operation_supports,
    .operation_workspace = ofl_cuda_operation_workspace,
    .operation_run = ofl_cuda_operation_run,
    .kernel_load = ofl_cuda_kernel_load,
    .kernel_unload = ofl_cuda_kernel_unload,
    .kernel_launch = ofl_cuda_kernel_launch,
};
