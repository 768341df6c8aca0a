/* Finding and opening backend libraries: the only place that loads one.
 *
 * A backend is loaded with its own scope (RTLD_LOCAL), all its symbols bound at
 * once, so that what is missing shows here and not in the middle of a call.  It is
 * never unloaded once it has been accepted: device drivers do not survive it. */
#include "device/loader.h"
#include "base/settings.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The folder of the library that holds this function, or the setting. */
static bool backend_folder(char *folder, size_t size)
{
    const char *set = ofl_settings()->backend_dir;
    Dl_info info;
    if (*set != '\0') {
        return (size_t)snprintf(folder, size, "%s", set) < size;
    }
    if (dladdr((void *)ofl_backend_load, &info) == 0 || info.dli_fname == NULL) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash == NULL) {
        return (size_t)snprintf(folder, size, ".") < size;
    }
    return (size_t)snprintf(folder, size, "%.*s", (int)(slash - info.dli_fname), info.dli_fname) < size;
}

static enum ofl_reason check(const struct ofl_backend *backend, const char *path, char *explanation, size_t size)
{
    if (backend == NULL) {
        snprintf(explanation, size, "%s is not a gpu-offload backend; reinstall gpu-offload", path);
        return OFL_NO_BACKEND;
    }
    if (backend->abi != OFL_DEVICE_ABI) {
        snprintf(explanation, size,
                 "%s was built for device interface %u, but this gpu-offload has %u; install both from one version",
                 path, (unsigned)backend->abi, (unsigned)OFL_DEVICE_ABI);
        return OFL_BACKEND_ABI;
    }
    if (backend->size != sizeof(struct ofl_backend)) {
        snprintf(explanation, size,
                 "%s has a device interface of %u bytes, but this gpu-offload has %zu; install both from one version",
                 path, (unsigned)backend->size, sizeof(struct ofl_backend));
        return OFL_BACKEND_ABI;
    }
    return OFL_OK;
}

/* The path of a backend's library, which exists. */
static enum ofl_reason find(const char *name, char *path, size_t size, char *explanation, size_t explanation_size)
{
    char file[64];
    if (!backend_folder(path, size - sizeof file)) {
        snprintf(explanation, explanation_size,
                 "the folder of libgpuoffload-core.so is not known; set GPU_OFFLOAD_BACKEND_DIR to it");
        return OFL_NO_BACKEND;
    }
    snprintf(file, sizeof file, "libgpuoffload-%s.so", name);
    size_t length = strlen(path);
    snprintf(path + length, size - length, "/%s", file);
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) { /* a pipe would keep dlopen waiting */
        snprintf(explanation, explanation_size,
                 "%s was not found in %.*s; install gpu-offload's %s backend there or set GPU_OFFLOAD_BACKEND_DIR to "
                 "its folder",
                 file, (int)length, path, name);
        return OFL_NO_BACKEND;
    }
    return OFL_OK;
}

enum ofl_reason ofl_backend_look(const char *name, char *explanation, size_t size)
{
    char path[PATH_MAX];
    return find(name, path, sizeof path, explanation, size);
}

enum ofl_reason ofl_backend_load(const char *name, const struct ofl_backend **out, char *explanation, size_t size)
{
    static char path[PATH_MAX]; /* one thread starts the device; small stacks have no room for it */
    enum ofl_reason reason = find(name, path, sizeof path, explanation, size);
    if (reason != OFL_OK) {
        return reason;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *error = dlerror();
        snprintf(explanation, size, "%s could not be loaded (%s); reinstall gpu-offload", path,
                 error != NULL ? error : "no reason given");
        return OFL_NO_BACKEND;
    }
    *out = dlsym(library, OFL_BACKEND_SYMBOL);
    reason = check(*out, path, explanation, size);
    if (reason != OFL_OK) {
        dlclose(library);
    }
    return reason;
}
