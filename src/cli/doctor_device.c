/* doctor: the GPU, its driver, CUDA's libraries, the backends and the profile.
 *
 * Entry point: ofl_doctor_device.  A backend is judged by starting it, through the same functions of
 * libgpuoffload-core.so that a program uses, in a child process: what the core says of it (no backend, another
 * ABI, no driver, ...) is what a program would meet.  The core is opened here and not linked, so that `run`
 * starts without it and a broken installation is a finding. */
#include "cli/doctor.h"
#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/linker_cache.h"
#include "base/reason.h"
#include "device/device.h"
#include "profile/facts.h"
#include "profile/store.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- GPU and driver ---- */

static void report_driver(void)
{
    char line[256], version[64] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (file != NULL && fgets(line, sizeof line, file) != NULL) {
        /* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  ...": the first word with a dot. */
        for (char *rest = line, *word; (word = strsep(&rest, " \t\n")) != NULL;) {
            if (strchr(word, '.') != NULL && strspn(word, "0123456789.") == strlen(word)) {
                snprintf(version, sizeof version, "%s", word);
                break;
            }
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    if (*version != '\0') {
        ofl_doctor_line("NVIDIA driver", "%s", version);
    } else if (access("/dev/nvidiactl", F_OK) == 0) {
        ofl_doctor_line("NVIDIA driver", "there (its version is not shown by /proc)");
    } else {
        ofl_doctor_line("NVIDIA driver", "not loaded");
        ofl_doctor_advice(
            "with an NVIDIA GPU in this machine: install its driver; in a container: start it with the GPU");
    }
}

/* ---- CUDA's libraries ---- */

static const struct {
    const char *name, *purpose;
} cuda_libraries[] = {
    {"libcuda.so", "driver"},     {"libnvidia-ml.so", "load of the GPU"}, {"libcublas.so", "BLAS"},
    {"libcusolver.so", "LAPACK"}, {"libnvrtc.so", "compiling kernels"},
};
enum { CUDA_LIBRARIES = sizeof cuda_libraries / sizeof *cuda_libraries };

struct cuda_places {
    char path[CUDA_LIBRARIES][PATH_MAX];
};

static void keep_cuda(const char *name, const char *path, void *context)
{
    struct cuda_places *places = context;
    for (int i = 0; i < CUDA_LIBRARIES; i++) {
        size_t length = strlen(cuda_libraries[i].name);
        /* "libcuda.so.1"; a bare "libcuda.so" may be a stub for linking. */
        if (places->path[i][0] == '\0' && strncmp(name, cuda_libraries[i].name, length) == 0 && name[length] == '.' &&
            realpath(path, places->path[i]) == NULL) {
            places->path[i][0] = '\0';
        }
    }
}

static void look_in(struct cuda_places *places, const char *pattern)
{
    glob_t files;
    if (glob(pattern, 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++) {
            keep_cuda(strrchr(files.gl_pathv[i], '/') + 1, files.gl_pathv[i], places);
        }
        globfree(&files);
    }
}

/* CUDA_HOME, the linker's cache, /usr/local/cuda*, NVIDIA's wheels: the order of the backend. */
static void report_cuda(void)
{
    struct cuda_places *places = calloc(1, sizeof *places);
    char pattern[PATH_MAX];
    const char *home = getenv("CUDA_HOME"), *environment = getenv("VIRTUAL_ENV");
    if (places == NULL) {
        return;
    }
    static const char *const folders[] = {"lib64", "lib"};
    for (int i = 0; home != NULL && i < 2; i++) {
        snprintf(pattern, sizeof pattern, "%s/%s/lib*.so.*", home, folders[i]);
        look_in(places, pattern);
    }
    ofl_cli_linker_cache(keep_cuda, places);
    look_in(places, "/usr/local/cuda*/lib64/lib*.so.*");
    if (environment != NULL) {
        snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/nvidia/*/lib/lib*.so.*", environment);
        look_in(places, pattern);
    }
    for (int i = 0; i < CUDA_LIBRARIES; i++) {
        ofl_doctor_line(cuda_libraries[i].name, "%s: %s", cuda_libraries[i].purpose,
                        places->path[i][0] != '\0' ? places->path[i] : "not found");
    }
    free(places);
}

/* ---- Backends ---- */

/* Starts the device in a child process and prints "ok TEXT" or "REASON TEXT". */
static void start_device(int output, void *context)
{
    char path[PATH_MAX];
    setenv("GPU_OFFLOAD_DEVICE", context, 1);
    void *core =
        ofl_cli_library("libgpuoffload-core.so", path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    enum ofl_reason (*start)(void) = core != NULL ? (enum ofl_reason(*)(void))dlsym(core, "ofl_device_start") : NULL;
    const char *(*explanation)(void) =
        core != NULL ? (const char *(*)(void))dlsym(core, "ofl_device_explanation") : NULL;
    enum ofl_reason (*ask)(struct ofl_device_properties *) =
        core != NULL ? (enum ofl_reason(*)(struct ofl_device_properties *))dlsym(core, "ofl_device_properties") : NULL;
    if (start == NULL || explanation == NULL || ask == NULL) {
        dprintf(output, "core %s", core == NULL ? dlerror() : "libgpuoffload-core.so belongs to another version");
        return;
    }
    enum ofl_reason reason = start();
    struct ofl_device_properties properties;
    if (reason != OFL_OK) {
        dprintf(output, "%s %s", ofl_reason_name(reason), explanation());
    } else if (ask(&properties) == OFL_OK) {
        dprintf(output, "ok %s, %.1f GiB of memory%s%s", properties.name,
                (double)properties.memory_bytes / (double)(1 << 30), properties.driver[0] != '\0' ? ", driver " : "",
                properties.driver);
    } else {
        dprintf(output, "ok ");
    }
}

static bool report_backend(const char *name)
{
    char argument[32];
    snprintf(argument, sizeof argument, "%s", name);
    char *text = ofl_cli_capture_call(start_device, argument, 60);
    if (text == NULL) {
        ofl_doctor_line(name, "starting it crashed or took longer than a minute");
        return false;
    }
    bool ready = strncmp(text, "ok ", 3) == 0;
    const char *detail = text + strcspn(text, " ");
    detail += *detail == ' ';
    if (ready) {
        ofl_doctor_line(name, "ready, device ABI %d: %s", OFL_DEVICE_ABI, detail);
    } else {
        ofl_doctor_line(name, "not usable: %s", detail);
    }
    if (strcmp(name, "cuda") == 0 && strncmp(text, ofl_reason_name(OFL_NO_BACKEND), strcspn(text, " ")) == 0) {
        ofl_doctor_advice("it is built where CUDA's headers are (CUDA_HOME or /usr/local/cuda)");
    }
    free(text);
    return ready;
}

/* ---- Profile ---- */

static void report_profile(const char *kind)
{
    static struct ofl_profile profile;
    struct ofl_profile_key here;
    char path[PATH_MAX], explanation[512];
    ofl_facts_key(strcmp(kind, "cuda") == 0, &here);
    if (!ofl_profile_path(&here, kind, path, sizeof path)) {
        ofl_doctor_line("profile", "none, and there is no home folder to keep one in");
        return;
    }
    switch (ofl_profile_load(path, &here, &profile, explanation, sizeof explanation)) {
    case OFL_PROFILE_USED:
        ofl_doctor_line("profile", "of %s: %s", profile.date, path);
        break;
    case OFL_PROFILE_NONE:
        ofl_doctor_line("profile",
                        "none for this machine; decisions begin with a built-in estimate (%s does not exist)", path);
        break;
    case OFL_PROFILE_REFUSED:
        ofl_doctor_line("profile", "not used, %s: %s", explanation, path);
        break;
    }
}

bool ofl_doctor_device(const char *device)
{
    ofl_doctor_heading("GPU");
    report_driver();
    report_cuda();
    ofl_doctor_heading("Devices");
    bool cuda = report_backend("cuda"), host = report_backend("host");
    if (strcmp(device, "auto") != 0) {
        ofl_doctor_line("chosen", "--device %s", device);
    } else if (cuda) {
        ofl_doctor_line("chosen", "--device auto: cuda");
    } else {
        ofl_doctor_line("chosen", "--device auto: none, everything stays on the CPU");
        ofl_doctor_advice("to try the tool without a GPU: --device host (slower than the CPU, same results)");
    }
    report_profile(strcmp(device, "host") == 0 ? "host" : "cuda");
    return strcmp(device, "host") == 0 ? host : strcmp(device, "none") == 0 ? false : cuda;
}
