/* Kernels of the CUDA backend: PTX or cubin images, loaded and launched by the driver. */
#include "driver.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

struct ofl_kernel {
    CUmodule module;
    CUfunction function;
};

static CUresult load(struct ofl_kernel *kernel, const char *image, const char *name)
{
    CUresult result = ofl_cuda.cuModuleLoadDataEx(&kernel->module, image, 0, NULL, NULL);
    if (result == CUDA_SUCCESS) {
        result = ofl_cuda.cuModuleGetFunction(&kernel->function, kernel->module, name);
        if (result != CUDA_SUCCESS) {
            ofl_cuda.cuModuleUnload(kernel->module);
        }
    }
    return result;
}

enum ofl_reason ofl_cuda_kernel_load(int device, const void *image, size_t bytes, const char *name,
                                     struct ofl_kernel **out)
{
    *out = NULL;
    struct ofl_kernel *kernel = calloc(1, sizeof *kernel);
    /* PTX is a text, which the driver wants to end with a zero. */
    char *copy = bytes < SIZE_MAX ? malloc(bytes + 1) : NULL;
    enum ofl_reason reason = kernel != NULL && copy != NULL ? ofl_cuda_enter(device) : OFL_HOST_MEMORY;
    if (reason == OFL_OK) {
        memcpy(copy, image, bytes);
        copy[bytes] = '\0';
        CUresult result = load(kernel, copy, name);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_KERNEL_FAILED);
    }
    free(copy);
    if (reason != OFL_OK) {
        free(kernel);
        return reason;
    }
    *out = kernel;
    return OFL_OK;
}

enum ofl_reason ofl_cuda_kernel_unload(int device, struct ofl_kernel *kernel)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuModuleUnload(kernel->module);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_INVALID_ARGUMENT);
    }
    free(kernel);
    return reason;
}

enum ofl_reason ofl_cuda_kernel_launch(int device, struct ofl_stream *stream, struct ofl_kernel *kernel,
                                       const struct ofl_launch *launch)
{
    const uint32_t *b = launch->blocks, *t = launch->threads;
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason == OFL_OK) {
        CUresult result =
            ofl_cuda.cuLaunchKernel(kernel->function, b[0], b[1], b[2], t[0], t[1], t[2], launch->shared_bytes,
                                    (CUstream)(void *)stream, launch->arguments, NULL);
        ofl_cuda_leave();
        reason = ofl_cuda_reason(device, result, OFL_KERNEL_FAILED);
    }
    return reason;
}
