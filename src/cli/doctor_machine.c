/* doctor: the CPU, the kernel and the BLAS libraries of the dynamic linker.
 *
 * A BLAS library is asked for its integer width in a child process, by a harmless call: isamax_ of one element
 * with n = 0xFFFFFFFF00000001 is 1 where integers have 32 bits and 0 where they have 64, since n is then
 * negative.  The kernel's features are asked for by using them, not by its version. */
#include "cli/doctor.h"
#include "cli/capture.h"
#include "cli/linker_cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- CPU ---- */

static void report_cpu(void)
{
    char line[512], model[256] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "model name : %255[^\n]", model) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    cpu_set_t allowed;
    int usable = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    ofl_doctor_line("CPU", "%s, %d of %ld cores usable", model, usable, sysconf(_SC_NPROCESSORS_ONLN));
}

/* ---- Kernel ---- */

/* From linux/userfaultfd.h and linux/fs.h of Linux 6.7; the headers of older systems lack them. */
#define USER_MODE_ONLY       1
#define WP_ASYNC             (1ULL << 15)
#define UFFDIO_API_REQUEST   _IOWR(0xAA, 0x3F, struct userfault_api)
#define PAGEMAP_SCAN_REQUEST _IOWR('f', 16, struct pagemap_scan)
#define PAGEMAP_SCAN_PRESENT (1ULL << 3)

struct userfault_api {
    uint64_t api, features, ioctls;
};

struct pagemap_scan {
    uint64_t size, flags, start, end, walk_end, vector, vector_length, max_pages, category_inverted, category_mask,
        category_anyof_mask, return_mask;
};

static bool has_async_write_protect(void)
{
    int descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | USER_MODE_ONLY);
    if (descriptor < 0) {
        return false;
    }
    struct userfault_api api = {.api = 0xAA, .features = WP_ASYNC};
    bool has = ioctl(descriptor, UFFDIO_API_REQUEST, &api) == 0;
    close(descriptor);
    return has;
}

static bool has_pagemap_scan(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int descriptor = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool has = false;
    if (descriptor >= 0 && memory != MAP_FAILED) {
        uint64_t region[3];
        struct pagemap_scan scan = {.size = sizeof scan,
                                    .start = (uintptr_t)memory,
                                    .end = (uintptr_t)memory + page,
                                    .vector = (uintptr_t)region,
                                    .vector_length = 1,
                                    .category_anyof_mask = PAGEMAP_SCAN_PRESENT,
                                    .return_mask = PAGEMAP_SCAN_PRESENT};
        has = ioctl(descriptor, PAGEMAP_SCAN_REQUEST, &scan) >= 0;
    }
    if (memory != MAP_FAILED) {
        munmap(memory, page);
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return has;
}

static void report_kernel(void)
{
    struct utsname names;
    uname(&names);
    bool protect = has_async_write_protect(), scan = has_pagemap_scan();
    ofl_doctor_line("kernel", "%s %s; userfaultfd WP_ASYNC: %s; PAGEMAP_SCAN: %s", names.sysname, names.release,
                    protect ? "yes" : "no", scan ? "yes" : "no");
    if (!protect || !scan) {
        ofl_doctor_advice(
            "both are needed to prove that data on the GPU is still current (Linux 6.7 and later); without "
            "them every operand is copied for every call");
    }
}

/* ---- BLAS libraries ---- */

enum { LIBRARIES_MAX = 64 };

struct libraries {
    char *path[LIBRARIES_MAX];
    int count;
};

/* Where dlsym found the symbol: the file, without links. */
static const char *defining_file(void *symbol, char *path)
{
    Dl_info info;
    return dladdr(symbol, &info) != 0 && info.dli_fname != NULL && realpath(info.dli_fname, path) != NULL ? path : "";
}

/* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": the first two words and ", ". */
static void read_version(const char *configuration, char *version, size_t size)
{
    size_t name = strcspn(configuration, " ");
    size_t number = strcspn(configuration + name + (configuration[name] == ' '), " ");
    snprintf(version, size, "%.*s, ", (int)(name + 1 + number), configuration);
}

/* Prints one line about the library, or nothing if it is not one of BLAS or LAPACK. */
static void probe_library(int output, void *context)
{
    const char *path = context;
    char file[PATH_MAX], version[128] = "";
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        return;
    }
    static const char *const names[] = {"isamax_", "isamax_64_", "scipy_isamax_", "scipy_isamax_64_"};
    void *symbol = NULL;
    for (size_t i = 0; symbol == NULL && i < sizeof names / sizeof *names; i++) {
        symbol = dlsym(handle, names[i]);
    }
    void *lapack = dlsym(handle, "dgetrf_");
    bool own = symbol != NULL && strcmp(defining_file(symbol, file), path) == 0;
    if (!own) {
        if (lapack != NULL && strcmp(defining_file(lapack, file), path) == 0) {
            dprintf(output, "LAPACK only");
        }
        return;
    }
    char *(*configuration)(void) = (char *(*)(void))dlsym(handle, "openblas_get_config");
    if (configuration != NULL) {
        read_version(configuration(), version, sizeof version);
    }
    int64_t n = (int64_t)0xFFFFFFFF00000001, increment = 1;
    float element = 1;
    int64_t (*isamax)(const int64_t *, const float *, const int64_t *) =
        (int64_t(*)(const int64_t *, const float *, const int64_t *))symbol;
    bool wide = (int32_t)isamax(&n, &element, &increment) == 0;
    dprintf(output, "%s%s-bit integers%s", version, wide ? "64" : "32",
            lapack != NULL && strcmp(defining_file(lapack, file), path) == 0 ? ", with LAPACK" : "");
}

static void keep_library(const char *name, const char *path, void *context)
{
    struct libraries *libraries = context;
    static const char *const words[] = {"blas", "lapack", "mkl_rt", "blis", "armpl", "essl"};
    char real[PATH_MAX];
    bool wanted = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        wanted = wanted || strstr(name, words[i]) != NULL;
    }
    /* CUDA's own libraries are no BLAS libraries of programs. */
    if (!wanted || strncmp(name, "libcu", 5) == 0 || strncmp(name, "libnv", 5) == 0 || realpath(path, real) == NULL) {
        return;
    }
    for (int i = 0; i < libraries->count; i++) {
        if (strcmp(libraries->path[i], real) == 0) {
            return;
        }
    }
    if (libraries->count < LIBRARIES_MAX && (libraries->path[libraries->count] = strdup(real)) != NULL) {
        libraries->count++;
    }
}

static void report_libraries(void)
{
    struct libraries libraries = {.count = 0};
    int shown = 0;
    ofl_doctor_heading("BLAS libraries in the dynamic linker's cache");
    ofl_cli_linker_cache(keep_library, &libraries);
    for (int i = 0; i < libraries.count; i++) {
        char *text = ofl_cli_capture_call(probe_library, libraries.path[i], 20);
        const char *slash = strrchr(libraries.path[i], '/');
        if (text != NULL && *text != '\0') {
            ofl_doctor_line(slash + 1, "%s: %s", text, libraries.path[i]);
            shown++;
        }
        free(text);
        free(libraries.path[i]);
    }
    if (shown == 0) {
        ofl_doctor_line("none", "programs that bring their own, such as NumPy's wheels, need none");
    }
}

void ofl_doctor_machine(void)
{
    ofl_doctor_heading("Machine");
    report_cpu();
    report_kernel();
    report_libraries();
}
