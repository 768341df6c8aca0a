/* What can be told of NVIDIA's driver without loading it.
 *
 * Entry point: ofl_driver_look.  It looks at files: the driver's libcuda.so.1 and its version, the kernel's part.
 * It takes well under a millisecond and may run inside somebody else's program.  Whether a device really works shows
 * when it is started. */
#include "profile/driver.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVER_LIBRARY "libcuda.so.1"

/* The first driver with CUDA 12.0, which src/backends/cuda/driver.c asks for. */
enum { OLDEST_DRIVER = 525 };

static bool exists_in(const char *folder, size_t length, const char *file, char *path)
{
    return length > 0 && snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, file) < PATH_MAX &&
           access(path, F_OK) == 0;
}

/* Along a list of folders with colons between them. */
static bool exists_along(const char *list, const char *file, char *path)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        if (exists_in(list, length, file, path)) {
            return true;
        }
        list += length + (list[length] == ':');
    }
    return false;
}

/* The path that the dynamic linker's cache has for a library.  All of the file's formats keep names and
 * paths as texts that end in a zero byte. */
static bool is_cached(const char *file, char *path)
{
    struct stat status;
    char wanted[64];
    bool found = false;
    int descriptor = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    size_t size = fstat(descriptor, &status) == 0 ? (size_t)status.st_size : 0;
    const char *cache = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    close(descriptor);
    if (cache == MAP_FAILED) {
        return false;
    }
    snprintf(wanted, sizeof wanted, "/%s", file);
    size_t length = strlen(wanted) + 1; /* with its zero */
    for (const char *at = cache, *end = cache + size; !found && at != NULL && at < end; at++) {
        at = memmem(at, (size_t)(end - at), wanted, length);
        if (at == NULL) {
            break;
        }
        const char *start = at;
        while (start > cache && start[-1] != '\0') {
            start--;
        }
        found = *start == '/' && (size_t)(at - start) < PATH_MAX - length &&
                snprintf(path, PATH_MAX, "%s", start) < PATH_MAX && access(path, F_OK) == 0;
    }
    munmap((void *)cache, size);
    return found;
}

static bool find_driver_library(char *path)
{
    static const char folders[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
                                  "/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:/usr/lib/wsl/lib";
    return exists_along(getenv("LD_LIBRARY_PATH"), DRIVER_LIBRARY, path) || is_cached(DRIVER_LIBRARY, path) ||
           exists_along(folders, DRIVER_LIBRARY, path);
}

/* "libcuda.so.580.65.06", which libcuda.so.1 leads to: 580; 0 where the name does not tell. */
static long driver_version(const char *path)
{
    static const char prefix[] = "libcuda.so.";
    char real[PATH_MAX];
    const char *name = realpath(path, real) != NULL ? strrchr(real, '/') : NULL;
    char *end = NULL;
    long version =
        name != NULL && strncmp(name + 1, prefix, sizeof prefix - 1) == 0 ? strtol(name + sizeof prefix, &end, 10) : 0;
    return end != NULL && *end == '.' ? version : 0;
}

/* Whether there is a sign of the kernel's part, or of something that loads it when it is needed. */
static bool has_kernel_driver(void)
{
    static const char *const signs[] = {"/proc/driver/nvidia/version",
                                        "/dev/nvidiactl",
                                        "/dev/nvidia0",
                                        "/dev/dxg",
                                        "/dev/nvmap",
                                        "/dev/nvhost-gpu",
                                        "/usr/bin/nvidia-modprobe",
                                        "/usr/sbin/nvidia-modprobe"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (access(signs[i], F_OK) == 0) {
            return true;
        }
    }
    return false;
}

enum ofl_reason ofl_driver_look(char *explanation, size_t size)
{
    char path[PATH_MAX];
    if (!find_driver_library(path)) {
        snprintf(explanation, size,
                 "the NVIDIA driver's " DRIVER_LIBRARY
                 " was not found; install the NVIDIA driver, or in a container start it with access to the GPU");
        return OFL_NO_DRIVER;
    }
    long version = driver_version(path);
    if (version > 0 && version < OLDEST_DRIVER) {
        snprintf(
            explanation, size,
            "the NVIDIA driver is too old (%s is of version %ld, gpu-offload needs %d or later); update the NVIDIA "
            "driver",
            path, version, OLDEST_DRIVER);
        return OFL_DRIVER_TOO_OLD;
    }
    if (!has_kernel_driver()) {
        snprintf(
            explanation, size,
            "the NVIDIA driver is installed (%s) but the kernel has not loaded it; load it with 'modprobe nvidia', "
            "or in a container start it with access to the GPU",
            path);
        return OFL_NO_DRIVER;
    }
    return OFL_OK;
}
