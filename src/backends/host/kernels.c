/* The host device's kernels: shared objects made from generated CUDA source by a C
 * compiler and <gpu-offload/host_kernel.h>.
 *
 * An image arrives as bytes and is opened through a descriptor of anonymous memory.
 * The dynamic linker takes two files of one name for the same, and descriptor
 * numbers come back, so each image gets a name of its own: the path of the
 * descriptor with redundant "/" and "/." that are the bits of a running number. */
#include "host.h"
#include <gpu-offload/host_kernel.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct ofl_kernel {
    void *library;
    ofl_host_block *block;
};

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static void unique_name(int file, char *name, size_t size)
{
    static atomic_uint images;
    size_t length = (size_t)snprintf(name, size, "/proc/self/fd");
    for (unsigned number = atomic_fetch_add(&images, 1); number > 0; number /= 2) {
        length += (size_t)snprintf(name + length, size - length, number % 2 == 1 ? "/." : "/");
    }
    snprintf(name + length, size - length, "/%d", file);
}

static void *open_image(const void *image, size_t bytes)
{
    char name[192];
    void *library = NULL;
    int file = memfd_create("gpu-offload-kernel", MFD_CLOEXEC);
    if (file >= 0 && file < 3) { /* the program's standard streams are closed: leave their numbers free */
        int moved = fcntl(file, F_DUPFD_CLOEXEC, 3);
        close(file);
        file = moved;
    }
    if (file < 0) {
        return NULL;
    }
    if (write_all(file, image, bytes)) {
        unique_name(file, name, sizeof name);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            dlerror(); /* it is ours, nobody else should read it */
        }
    }
    close(file);
    return library;
}

enum ofl_reason ofl_host_kernel_load(int device, const void *image, size_t bytes, const char *name,
                                     struct ofl_kernel **out)
{
    char symbol[256];
    *out = NULL;
    enum ofl_reason reason = ofl_host_usable(device);
    if (reason != OFL_OK) {
        return reason;
    }
    if ((size_t)snprintf(symbol, sizeof symbol, "%s%s", OFL_HOST_BLOCK_PREFIX, name) >= sizeof symbol) {
        return OFL_KERNEL_FAILED;
    }
    struct ofl_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) {
        return OFL_HOST_MEMORY;
    }
    kernel->library = open_image(image, bytes);
    kernel->block = kernel->library != NULL ? (ofl_host_block *)dlsym(kernel->library, symbol) : NULL;
    if (kernel->block == NULL) {
        if (kernel->library != NULL) {
            dlclose(kernel->library);
        }
        free(kernel);
        return OFL_KERNEL_FAILED;
    }
    *out = kernel;
    return OFL_OK;
}

enum ofl_reason ofl_host_kernel_unload(int device, struct ofl_kernel *kernel)
{
    dlclose(kernel->library);
    free(kernel);
    return ofl_host_usable(device);
}

struct launch {
    ofl_host_block *block;
    struct ofl_host_grid grid;
    void **arguments;
};

static void run_block(void *argument, uint64_t index)
{
    const struct launch *launch = argument;
    const struct ofl_host_dim3 *blocks = &launch->grid.blocks;
    struct ofl_host_dim3 block = {(uint32_t)(index % blocks->x), (uint32_t)(index / blocks->x % blocks->y),
                                  (uint32_t)(index / blocks->x / blocks->y)};
    launch->block(&launch->grid, &block, launch->arguments);
}

enum ofl_reason ofl_host_kernel_launch(int device, struct ofl_stream *stream, struct ofl_kernel *kernel,
                                       const struct ofl_launch *launch)
{
    const uint32_t *b = launch->blocks, *t = launch->threads;
    struct launch now = {kernel->block, {{b[0], b[1], b[2]}, {t[0], t[1], t[2]}}, launch->arguments};
    (void)stream;
    /* The limits of CUDA devices, so that what runs here can run there. */
    bool valid = b[0] >= 1 && b[0] <= INT32_MAX && b[1] >= 1 && b[1] <= 65535 && b[2] >= 1 && b[2] <= 65535 &&
                 t[0] >= 1 && t[1] >= 1 && t[2] >= 1 && t[2] <= 64 && t[0] <= 1024 && t[1] <= 1024 &&
                 (uint64_t)t[0] * t[1] * t[2] <= 1024 && launch->shared_bytes == 0;
    enum ofl_reason reason = ofl_host_step(device, OFL_HOST_LAUNCH, OFL_KERNEL_FAILED);
    if (reason != OFL_OK || !valid) {
        return reason != OFL_OK ? reason : OFL_KERNEL_FAILED;
    }
    return ofl_host_pool_run(run_block, &now, (uint64_t)b[0] * b[1] * b[2]);
}
