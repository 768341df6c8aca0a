/* Kernels of the CUDA backend: PTX or cubin images, loaded and launched by the driver.
 *
 * An image often holds many kernels, and the driver compiles all of its PTX when it is loaded: so an image is loaded
 * once for all of them and stays until its last kernel is unloaded.  What the driver has compiled it keeps on disk,
 * by the image's text, the device and its own version, for all processes of the user (CUDA_CACHE_PATH); we need no
 * cache of our own. */
#include "driver.h"
#include "parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct module {
    CUmodule module;
    int device;
    char *image; /* a copy, to know it again */
    size_t bytes;
    unsigned kernels;
    struct module *next;
};

struct ofl_kernel {
    struct module *module;
    CUfunction function;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and its counts */
static struct module *modules;

static struct module *find_module(int device, const void *image, size_t bytes)
{
    struct module *module = modules;
    while (module != NULL &&
           (module->device != device || module->bytes != bytes || memcmp(module->image, image, bytes) != 0)) {
        module = module->next;
    }
    return module;
}

/* Loads an image that is not loaded yet.  `lock` is held. */
static enum ofl_reason load_module(int device, const void *image, size_t bytes, struct module **out)
{
    struct module *module = calloc(1, sizeof *module);
    /* PTX is a text, which the driver wants to end with a zero. */
    char *copy = bytes < SIZE_MAX ? malloc(bytes + 1) : NULL;
    enum ofl_reason reason = module != NULL && copy != NULL ? OFL_OK : OFL_HOST_MEMORY;
    if (reason == OFL_OK) {
        memcpy(copy, image, bytes);
        copy[bytes] = '\0';
        *module = (struct module){.device = device, .image = copy, .bytes = bytes};
        CUresult result = ofl_cuda.cuModuleLoadDataEx(&module->module, copy, 0, NULL, NULL);
        reason = result == CUDA_SUCCESS ? OFL_OK : ofl_cuda_reason(device, result, OFL_KERNEL_FAILED);
    }
    if (reason != OFL_OK) {
        free(copy);
        free(module);
        return reason;
    }
    module->next = modules;
    modules = module;
    *out = module;
    return OFL_OK;
}

/* A kernel of the module is gone.  `lock` is held. */
static CUresult release_module(struct module *module)
{
    if (--module->kernels > 0) {
        return CUDA_SUCCESS;
    }
    struct module **at = &modules;
    while (*at != module) {
        at = &(*at)->next;
    }
    *at = module->next;
    CUresult result = ofl_cuda.cuModuleUnload(module->module);
    free(module->image);
    free(module);
    return result;
}

static enum ofl_reason load(int device, const void *image, size_t bytes, const char *name, struct ofl_kernel *kernel)
{
    enum ofl_reason reason = OFL_OK;
    kernel->module = find_module(device, image, bytes);
    if (kernel->module == NULL) {
        reason = load_module(device, image, bytes, &kernel->module);
    }
    if (reason == OFL_OK) {
        kernel->module->kernels++;
        CUresult result = ofl_cuda.cuModuleGetFunction(&kernel->function, kernel->module->module, name);
        if (result != CUDA_SUCCESS) {
            release_module(kernel->module);
            reason = ofl_cuda_reason(device, result, OFL_KERNEL_FAILED);
        }
    }
    return reason;
}

enum ofl_reason ofl_cuda_kernel_load(int device, const void *image, size_t bytes, const char *name,
                                     struct ofl_kernel **out)
{
    *out = NULL;
    struct ofl_kernel *kernel = calloc(1, sizeof *kernel);
    enum ofl_reason reason = kernel != NULL ? ofl_cuda_enter(device) : OFL_HOST_MEMORY;
    if (reason == OFL_OK) {
        pthread_mutex_lock(&lock);
        reason = load(device, image, bytes, name, kernel);
        pthread_mutex_unlock(&lock);
        ofl_cuda_leave();
    }
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
        pthread_mutex_lock(&lock);
        CUresult result = release_module(kernel->module);
        pthread_mutex_unlock(&lock);
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
