/* Memory and copies of the CUDA backend.
 *
 * A copy whose columns touch on both sides is one linear copy.  Others are the
 * driver's strided copies, unless a pitch exceeds what the driver takes
 * (CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2 GB): then each column is a copy.  Nothing beyond
 * the last column's last byte is touched on either side. */
#include "driver.h"
#include "parts.h"

enum ofl_reason ofl_cuda_allocate(int device, size_t bytes, void **out)
{
    CUdeviceptr address = 0;
    enum ofl_reason reason = ofl_cuda_enter(device);
    *out = NULL;
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuMemAlloc(&address, bytes);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_DEVICE_MEMORY);
        *out = reason == OFL_OK ? (void *)(uintptr_t)address : NULL;
    }
    return reason;
}

enum ofl_reason ofl_cuda_release(int device, void *address)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuMemFree((CUdeviceptr)(uintptr_t)address);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_INVALID_ARGUMENT);
    }
    return reason;
}

enum ofl_reason ofl_cuda_host_allocate(int device, size_t bytes, void **out)
{
    void *address = NULL;
    enum ofl_reason reason = ofl_cuda_enter(device);
    *out = NULL;
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuMemHostAlloc(&address, bytes, CU_MEMHOSTALLOC_PORTABLE);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_HOST_MEMORY);
        *out = reason == OFL_OK ? address : NULL;
    }
    return reason;
}

enum ofl_reason ofl_cuda_host_release(int device, void *address)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuMemFreeHost(address);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_INVALID_ARGUMENT);
    }
    return reason;
}

enum ofl_reason ofl_cuda_host_register(int device, void *address, size_t bytes)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuMemHostRegister(address, bytes, CU_MEMHOSTREGISTER_PORTABLE);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_HOST_MEMORY);
    }
    return reason;
}

enum ofl_reason ofl_cuda_host_unregister(int device, void *address)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuMemHostUnregister(address);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_INVALID_ARGUMENT);
    }
    return reason;
}

bool ofl_cuda_host_is_locked(int device, const void *address)
{
    CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
    if (ofl_cuda_enter(device) != OFL_OK) {
        return true;
    }
    CUresult result =
        ofl_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)address);
    ofl_cuda_leave();
    return result != CUDA_ERROR_INVALID_VALUE; /* what the driver does not know is ordinary memory */
}

enum direction { in, out, within };

struct copy {
    enum direction direction;
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, columns;
    CUstream stream;
};

static CUdeviceptr device_address(const void *address)
{
    return (CUdeviceptr)(uintptr_t)address;
}

static CUresult copy_run(const struct copy *copy, char *to, const char *from, size_t bytes)
{
    switch (copy->direction) {
    case in:
        return ofl_cuda.cuMemcpyHtoDAsync(device_address(to), from, bytes, copy->stream);
    case out:
        return ofl_cuda.cuMemcpyDtoHAsync(to, device_address(from), bytes, copy->stream);
    case within:
        return ofl_cuda.cuMemcpyDtoDAsync(device_address(to), device_address(from), bytes, copy->stream);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy_strided(const struct copy *copy)
{
    CUDA_MEMCPY2D how = {
        .srcMemoryType = copy->direction == in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcPitch = copy->from_pitch,
        .dstMemoryType = copy->direction == out ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstPitch = copy->to_pitch,
        .WidthInBytes = copy->width,
        .Height = copy->columns,
    };
    if (copy->direction == in) {
        how.srcHost = copy->from;
    } else {
        how.srcDevice = device_address(copy->from);
    }
    if (copy->direction == out) {
        how.dstHost = copy->to;
    } else {
        how.dstDevice = device_address(copy->to);
    }
    return ofl_cuda.cuMemcpy2DAsync(&how, copy->stream);
}

static CUresult copy_columns(const struct copy *copy)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t j = 0; j < copy->columns && result == CUDA_SUCCESS; j++) {
        result = copy_run(copy, copy->to + j * copy->to_pitch, copy->from + j * copy->from_pitch, copy->width);
    }
    return result;
}

static enum ofl_reason run_copy(int device, const struct copy *copy)
{
    size_t longest = copy->to_pitch > copy->from_pitch ? copy->to_pitch : copy->from_pitch;
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason != OFL_OK) {
        return reason;
    }
    CUresult result = CUDA_SUCCESS;
    if (copy->width == 0 || copy->columns == 0) {
        result = CUDA_SUCCESS;
    } else if (copy->columns == 1 || (copy->to_pitch == copy->width && copy->from_pitch == copy->width)) {
        result = copy_run(copy, copy->to, copy->from, copy->width * copy->columns);
    } else if (longest <= ofl_cuda_device(device)->max_pitch) {
        result = copy_strided(copy);
    } else {
        result = copy_columns(copy);
    }
    ofl_cuda_leave();
    return ofl_cuda_reason(device, result, OFL_COPY_FAILED);
}

enum ofl_reason ofl_cuda_copy_in(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t columns)
{
    return run_copy(device,
                    &(struct copy){in, to, from, to_pitch, from_pitch, width, columns, (CUstream)(void *)stream});
}

enum ofl_reason ofl_cuda_copy_out(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t width, size_t columns)
{
    return run_copy(device,
                    &(struct copy){out, to, from, to_pitch, from_pitch, width, columns, (CUstream)(void *)stream});
}

enum ofl_reason ofl_cuda_copy_within(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                     size_t from_pitch, size_t width, size_t columns)
{
    return run_copy(device,
                    &(struct copy){within, to, from, to_pitch, from_pitch, width, columns, (CUstream)(void *)stream});
}
