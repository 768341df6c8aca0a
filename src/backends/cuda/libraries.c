/* Finding NVIDIA's libraries, which are installed in many ways.
 *
 * In this order: what the process has loaded already (a second copy would cost
 * hundreds of megabytes), CUDA_HOME, what the dynamic linker finds,
 * /usr/local/cuda*, and the wheels of a Python environment
 * (site-packages/nvidia/.../lib): the one that a loaded Python module lies in, then
 * VIRTUAL_ENV and CONDA_PREFIX.  A library whose CUDA release is newer than the
 * driver is not tried, because it fails when it is used, not when it is loaded. */
#include "libraries.h"
#include "driver.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#define TARGET_FOLDER "targets/sbsa-linux/lib"
#else
#define TARGET_FOLDER "targets/x86_64-linux/lib"
#endif

enum { newer_releases = 3 }; /* how far to look for a library that the driver is too old for */

/* A library to be opened: its file and that of its companion. */
struct wanted {
    char file[64], companion[64];
};

static void *open_in(const char *folder, const struct wanted *wanted)
{
    char path[PATH_MAX];
    if (wanted->companion[0] != '\0' &&
        (size_t)snprintf(path, sizeof path, "%s/%s", folder, wanted->companion) < sizeof path) {
        /* By path, so that the library finds it by its name whatever its own search path is. */
        // cppcheck-suppress leakReturnValNotUsed ; libraries stay loaded
        if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL) {
            dlerror(); /* it is not needed everywhere */
        }
    }
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, wanted->file) >= sizeof path) {
        return NULL;
    }
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Opens it in the last of the folders that match and have it: of several releases the newest. */
static void *open_in_pattern(const char *pattern, const struct wanted *wanted)
{
    char with_file[PATH_MAX];
    glob_t found;
    void *library = NULL;
    if ((size_t)snprintf(with_file, sizeof with_file, "%s/%s", pattern, wanted->file) >= sizeof with_file ||
        glob(with_file, 0, NULL, &found) != 0) {
        return NULL;
    }
    for (size_t i = found.gl_pathc; i > 0 && library == NULL; i--) {
        char *slash = strrchr(found.gl_pathv[i - 1], '/');
        *slash = '\0';
        library = open_in(found.gl_pathv[i - 1], wanted);
    }
    globfree(&found);
    return library;
}

static void *open_below(const char *variable, const char *const *folders, const struct wanted *wanted)
{
    const char *root = getenv(variable);
    void *library = NULL;
    char pattern[PATH_MAX];
    for (size_t i = 0; root != NULL && *root != '\0' && folders[i] != NULL && library == NULL; i++) {
        if ((size_t)snprintf(pattern, sizeof pattern, "%s/%s", root, folders[i]) < sizeof pattern) {
            library = open_in_pattern(pattern, wanted);
        }
    }
    return library;
}

/* The packages folder of the Python modules that are loaded. */
static int find_packages(struct dl_phdr_info *info, size_t size, void *argument)
{
    static const char *const marks[] = {"/site-packages/", "/dist-packages/"};
    char *folder = argument;
    (void)size;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = info->dlpi_name != NULL ? strstr(info->dlpi_name, marks[i]) : NULL;
        if (at != NULL) {
            size_t length = (size_t)(at - info->dlpi_name) + strlen(marks[i]) - 1;
            return length < PATH_MAX && snprintf(folder, PATH_MAX, "%.*s", (int)length, info->dlpi_name) > 0;
        }
    }
    return 0;
}

static void *open_in_wheels(const struct wanted *wanted)
{
    static const char *const environment[] = {"lib/python3*/site-packages/nvidia/*/lib", NULL};
    static const char *const conda[] = {"lib", "lib/python3*/site-packages/nvidia/*/lib", NULL};
    char folder[PATH_MAX], pattern[PATH_MAX];
    void *library = NULL;
    if (dl_iterate_phdr(find_packages, folder) != 0 &&
        (size_t)snprintf(pattern, sizeof pattern, "%s/nvidia/*/lib", folder) < sizeof pattern) {
        library = open_in_pattern(pattern, wanted);
    }
    if (library == NULL) {
        library = open_below("VIRTUAL_ENV", environment, wanted);
    }
    return library != NULL ? library : open_below("CONDA_PREFIX", conda, wanted);
}

static void *open_anywhere(const struct wanted *wanted)
{
    static const char *const home[] = {"lib64", "lib", TARGET_FOLDER, NULL};
    static const char *const usual[] = {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64",
                                        "/usr/local/cuda-*/" TARGET_FOLDER};
    void *library = dlopen(wanted->file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == NULL) {
        library = open_below("CUDA_HOME", home, wanted);
    }
    if (library == NULL) {
        library = dlopen(wanted->file, RTLD_NOW | RTLD_LOCAL);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual && library == NULL; i++) {
        library = open_in_pattern(usual[i], wanted);
    }
    return library != NULL ? library : open_in_wheels(wanted);
}

/* Libraries whose number lies behind the release of CUDA that they belong to. */
static const struct {
    const char *name;
    int behind;
} numbers[] = {{"libcusolver", 1}};

static int number_of(const char *name, int release)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            return release - numbers[i].behind;
        }
    }
    return release;
}

static struct wanted want(const char *name, const char *companion, int release)
{
    struct wanted wanted = {"", ""};
    snprintf(wanted.file, sizeof wanted.file, "%s.so.%d", name, number_of(name, release));
    if (companion != NULL) {
        snprintf(wanted.companion, sizeof wanted.companion, "%s.so.%d", companion, number_of(companion, release));
    }
    return wanted;
}

void *ofl_cuda_library_open(const char *name, const char *companion, int oldest, enum ofl_reason *reason,
                            char *explanation, size_t size)
{
    int supported = ofl_cuda_version / 1000;
    for (int release = supported; release >= oldest; release--) {
        struct wanted wanted = want(name, companion, release);
        void *library = open_anywhere(&wanted);
        if (library != NULL) {
            *reason = OFL_OK;
            return library;
        }
    }
    for (int release = supported + 1; release <= supported + newer_releases; release++) {
        struct wanted wanted = want(name, companion, release);
        void *library = open_anywhere(&wanted);
        if (library != NULL) {
            dlclose(library);
            snprintf(explanation, size,
                     "%s needs a driver for CUDA %d, but the NVIDIA driver supports CUDA %d.%d; update the driver, or "
                     "install the library of CUDA %d",
                     wanted.file, release, supported, ofl_cuda_version % 1000 / 10, supported);
            *reason = OFL_DRIVER_TOO_OLD;
            return NULL;
        }
    }
    snprintf(explanation, size,
             "%s.so.%d (or down to .%d) was not found in CUDA_HOME, the linker's paths, /usr/local/cuda* or a Python "
             "environment; install it with CUDA, or as NVIDIA's wheel, or set CUDA_HOME",
             name, number_of(name, supported), number_of(name, oldest));
    *reason = OFL_LIBRARY_MISSING;
    return NULL;
}
