/* A stand-in for NVIDIA's driver, libcuda.so.1, so that the CUDA backend can be
 * tested without a GPU: device memory is ordinary memory and streams are
 * synchronous.  It is stricter than the driver about what a caller must do: memory,
 * copies, streams and events need a current context, strided copies have a small
 * limit, and what was allocated must be released once.
 *
 * FAKE_CUDA says what it pretends: a list of "version=N", "devices=N", "init=ERROR",
 * "context=ERROR", "fail=N:ERROR" (the Nth copy), separated by commas. */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* cuda.h's macros lead to the versioned names, as in the driver; this one has an older name as well. */
#undef cuEventElapsedTime

enum { max_pitch = 1 << 16 };

static int setting(const char *name, int otherwise)
{
    const char *list = getenv("FAKE_CUDA"), *at = list != NULL ? strstr(list, name) : NULL;
    return at != NULL ? atoi(at + strlen(name)) : otherwise;
}

struct CUctx_st {
    int retained;
};
static struct CUctx_st primary;
static _Thread_local CUcontext stack[8];
static _Thread_local int depth;

static CUresult current(void)
{
    return depth > 0 && stack[depth - 1] == &primary ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

EXPORT CUresult cuInit(unsigned flags)
{
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : (CUresult)setting("init=", CUDA_SUCCESS);
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
    *version = setting("version=", 12040);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = error == CUDA_SUCCESS ? "no error" : "an error of the fake driver";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count)
{
    *count = setting("devices=", 1);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int number)
{
    *device = number;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    *bytes = (size_t)(device + 1) << 30;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
        *value = max_pitch;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = 1980000;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        return CUDA_SUCCESS;
    default:
        *value = 1;
        return CUDA_SUCCESS;
    }
}

EXPORT CUresult cuDeviceGetPCIBusId(char *bus, int length, CUdevice device)
{
    snprintf(bus, (size_t)length, "0000:%02x:00.0", device);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    CUresult result = (CUresult)setting("context=", CUDA_SUCCESS);
    primary.retained += result == CUDA_SUCCESS;
    *context = &primary;
    return result;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    return primary.retained-- > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

EXPORT CUresult cuCtxPushCurrent(CUcontext context)
{
    if (depth == sizeof stack / sizeof *stack) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPopCurrent(CUcontext *context)
{
    if (depth == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = (size_t)1 << 30;
    return current();
}

EXPORT CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    if (current() != CUDA_SUCCESS || bytes == 0) {
        return current() != CUDA_SUCCESS ? current() : CUDA_ERROR_INVALID_VALUE;
    }
    void *memory = bytes < (size_t)1 << 30 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
    if (memory == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memset(memory, 0xff, bytes);
    *address = (CUdeviceptr)memory;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFree(CUdeviceptr address)
{
    free((void *)address);
    return current();
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    *address = malloc(bytes);
    return *address == NULL ? CUDA_ERROR_OUT_OF_MEMORY : current();
}

EXPORT CUresult cuMemFreeHost(void *address)
{
    free(address);
    return current();
}

static const void *registered;

EXPORT CUresult cuMemHostRegister(void *address, size_t bytes, unsigned flags)
{
    (void)flags;
    registered = address;
    return address == NULL || bytes == 0 ? CUDA_ERROR_INVALID_VALUE : current();
}

/* Whatever a program registers: all of the pages that its memory is in would be known. */
EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    if (attribute != CU_POINTER_ATTRIBUTE_MEMORY_TYPE || pointer == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *(CUmemorytype *)data = CU_MEMORYTYPE_HOST;
    return pointer == (CUdeviceptr)(uintptr_t)registered ? current() : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemHostUnregister(void *address)
{
    registered = NULL;
    return address == NULL ? CUDA_ERROR_INVALID_VALUE : current();
}

/* The result that a copy was told to have. */
static CUresult next_copy(void)
{
    static int copies;
    const char *list = getenv("FAKE_CUDA"), *at = list != NULL ? strstr(list, "fail=") : NULL;
    int number, error;
    copies++;
    if (at != NULL && sscanf(at, "fail=%d:%d", &number, &error) == 2 && number == copies) {
        return (CUresult)error;
    }
    return current();
}

static CUresult copy(void *to, const void *from, size_t bytes, CUstream stream)
{
    CUresult result = stream != NULL ? next_copy() : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) {
        memcpy(to, from, bytes);
    }
    return result;
}

EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return copy((void *)to, from, bytes, stream);
}

EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy(to, (const void *)from, bytes, stream);
}

EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy((void *)to, (const void *)from, bytes, stream);
}

EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                                   CUstream stream)
{
    for (size_t j = 0; j < height; j++) {
        for (size_t i = 0; i < width; i++) {
            ((unsigned *)(to + j * pitch))[i] = value;
        }
    }
    return stream == NULL || (height > 1 && pitch < 4 * width) ? CUDA_ERROR_INVALID_VALUE : current();
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
    memset((void *)to, value, bytes);
    return stream == NULL ? CUDA_ERROR_INVALID_VALUE : current();
}

EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *how, CUstream stream)
{
    if (how->srcPitch > max_pitch || how->dstPitch > max_pitch || how->srcPitch < how->WidthInBytes ||
        how->dstPitch < how->WidthInBytes || stream == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = next_copy();
    char *to = how->dstMemoryType == CU_MEMORYTYPE_HOST ? how->dstHost : (void *)how->dstDevice;
    const char *from = how->srcMemoryType == CU_MEMORYTYPE_HOST ? how->srcHost : (const void *)how->srcDevice;
    for (size_t j = 0; j < how->Height && result == CUDA_SUCCESS; j++) {
        memcpy(to + j * how->dstPitch, from + j * how->srcPitch, how->WidthInBytes);
    }
    return result;
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    *stream = malloc(1);
    return flags != CU_STREAM_NON_BLOCKING ? CUDA_ERROR_INVALID_VALUE : current();
}

EXPORT CUresult cuStreamDestroy(CUstream stream)
{
    free(stream);
    return current();
}

EXPORT CUresult cuStreamSynchronize(CUstream stream)
{
    return stream == NULL ? CUDA_ERROR_INVALID_HANDLE : current();
}

EXPORT CUresult cuStreamQuery(CUstream stream)
{
    return cuStreamSynchronize(stream);
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    return stream == NULL || event == NULL || flags != 0 ? CUDA_ERROR_INVALID_HANDLE : current();
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = malloc(1);
    return current();
}

EXPORT CUresult cuEventDestroy(CUevent event)
{
    free(event);
    return current();
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return stream == NULL || event == NULL ? CUDA_ERROR_INVALID_HANDLE : current();
}

EXPORT CUresult cuEventQuery(CUevent event)
{
    return event == NULL ? CUDA_ERROR_INVALID_HANDLE : current();
}

EXPORT CUresult cuEventSynchronize(CUevent event)
{
    return event == NULL ? CUDA_ERROR_INVALID_HANDLE : current();
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end)
{
    *milliseconds = 1;
    return begin == NULL || end == NULL ? CUDA_ERROR_INVALID_HANDLE : current();
}

/* A module is any text that ends with a zero; its kernels store what they are given: one pointer to int, one int. */
EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, CUjit_option *names,
                                   void **values)
{
    (void)options, (void)names, (void)values;
    *module = (CUmodule)(void *)strdup(image);
    return *module == NULL ? CUDA_ERROR_OUT_OF_MEMORY : current();
}

EXPORT CUresult cuModuleUnload(CUmodule module)
{
    free(module);
    return current();
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    *function = (CUfunction)(void *)module;
    return strstr((const char *)(void *)module, name) == NULL ? CUDA_ERROR_NOT_FOUND : current();
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                               unsigned tz, unsigned shared, CUstream stream, void **arguments, void **extra)
{
    (void)shared, (void)extra;
    if (function == NULL || stream == NULL || bx * by * bz * tx * ty * tz == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    **(int **)arguments[0] = *(int *)arguments[1];
    return current();
}
