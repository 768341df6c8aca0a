/* Compiling the kernels' source for the device.
 *
 * GCC 12 forgets the rounding of (double) (float) x where it vectorizes several of them in a row: found by random
 * loops. So kernels for the CPU are compiled without that pass.
 *
 * cuda: NVRTC, loaded when it is first needed, makes PTX that the driver of any GPU from ARCHITECTURE on compiles
 * further.  cuda_cpu: the C compiler makes a shared object, of many kernels in parts side by side.  In both, a*b+c is
 * not contracted unless --fast says so.
 *
 * The source comes out of the generator, so an error in it is a fault of ours, and is reported as one at the loop.  A C
 * compiler that fails for another reason (no room for its files, killed, not installed) is the user's to mend. */
#include "fortran/driver_process.h"
#include "fortran/launch.h"
#include "fortran/locate.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The oldest GPUs that current toolkits compile for. */
#define ARCHITECTURE "compute_75"

/* ---- Errors ---- */

static unsigned line_of(const char *text, const char *at)
{
    unsigned line = 1;
    for (; text < at; text++) {
        line += *text == '\n';
    }
    return line;
}

/* The loop whose kernel has the first error in a compiler's log: `kernels.cu(12): error` or `kernels.c:12:3: error`. */
static const struct ofl_kernel *guilty(const struct ofl_kernel *kernels, const char *source, const char *log)
{
    const char *name = strstr(log, "kernels.c");
    const char *digits = name == NULL ? NULL : strpbrk(name, "(:");
    unsigned long line = digits == NULL ? 0 : strtoul(digits + 1, NULL, 10);
    for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        const char *begin = strstr(source, kernel->text);
        if (begin != NULL && line >= line_of(source, begin) && line < line_of(source, begin + strlen(kernel->text))) {
            return kernel;
        }
    }
    return kernels;
}

static void report(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernels, const char *source, const char *log)
{
    ofl_diag_bug(rewriter->diagnostics, guilty(kernels, source, log)->stmt->span,
                 "the kernel of this loop could not be compiled for the device; please report it\n%s", log);
}

/* ---- The CPU ---- */

/* More kernels than KERNELS_A_PART are compiled in parts side by side, as many as there are processors. */
enum { KERNELS_A_PART = 16, MOST_PARTS = 8 };

struct part {
    const struct ofl_kernel *kernels;
    const char *source, *input, *output, *log;
};

static unsigned part_count(const struct ofl_kernel *kernels)
{
    cpu_set_t processors;
    unsigned count = 0, most = MOST_PARTS;
    for (; kernels != NULL; kernels = kernels->next) {
        count++;
    }
    if (sched_getaffinity(0, sizeof processors, &processors) == 0 && (unsigned)CPU_COUNT(&processors) < most) {
        most = (unsigned)CPU_COUNT(&processors);
    }
    count /= KERNELS_A_PART;
    return count < 1 ? 1 : count < most ? count : most;
}

/* Writes the sources.  With one part, its output is the image. */
static bool write_parts(struct ofl_arena *arena, const struct ofl_kernel *kernels, const char *source,
                        struct part *parts, unsigned count)
{
    const char *folder = ofl_scratch_open();
    unsigned kernel_count = 0;
    for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        kernel_count++;
    }
    for (unsigned i = 0; folder != NULL && i < count; i++) {
        const struct ofl_kernel *end = kernels;
        for (unsigned k = kernel_count * i / count; end != NULL && k < kernel_count * (i + 1) / count; k++) {
            end = end->next;
        }
        const char *own = ofl_arena_format(arena, "%s/part%u", folder, i + 1);
        parts[i].kernels = kernels;
        parts[i].source = count == 1 ? source : ofl_lowered_source(kernels, end, arena);
        parts[i].input = ofl_arena_format(arena, "%s/kernels.c", own);
        parts[i].output = ofl_arena_format(arena, "%s/kernels.%s", own, count == 1 ? "so" : "o");
        parts[i].log = ofl_arena_format(arena, "%s/kernels.log", own);
        mkdir(own, 0700);
        if (!ofl_file_write(parts[i].input, parts[i].source, strlen(parts[i].source))) {
            return false;
        }
        kernels = end;
    }
    return folder != NULL;
}

static struct ofl_words words_of(struct ofl_arena *arena, const char *const *fixed, size_t count)
{
    struct ofl_words words = {.arena = arena};
    for (size_t i = 0; i < count; i++) {
        ofl_words_add(&words, fixed[i]);
    }
    return words;
}

static struct ofl_words compiler_words(struct ofl_arena *arena, const struct part *part, bool links, bool fast,
                                       const char *include)
{
    const char *const fixed[] = {"cc",
                                 "-std=gnu17",
                                 "-O2",
                                 "-w",
                                 "-fPIC",
                                 "-fwrapv",
                                 "-fno-strict-aliasing",
                                 "-fno-tree-slp-vectorize",
                                 "-fno-math-errno",
                                 fast ? "-ffp-contract=fast" : "-ffp-contract=off",
                                 "-I",
                                 include,
                                 "-o",
                                 part->output,
                                 part->input};
    struct ofl_words words = words_of(arena, fixed, sizeof fixed / sizeof *fixed);
    ofl_words_add(&words, links ? "-shared" : "-c");
    if (links) {
        ofl_words_add(&words, "-Wl,-s");
        ofl_words_add(&words, "-lm");
    }
    return words;
}

/* Whether the compiler's log has an error of the source: `kernels.c:12:3: error: ...`, neither "fatal error" (a file
 * that cannot be read or written) nor "internal compiler error". */
static bool blames_source(const char *log)
{
    const char *name = strstr(log, "kernels.c:");
    return name != NULL && strstr(name, ": error: ") != NULL;
}

static void report_failure(struct ofl_rewriter *rewriter, const struct part *part, const struct ofl_job *job)
{
    size_t length = 0;
    const char *text = ofl_file_read(rewriter->arena, job->log, &length);
    if (!job->started) {
        rewriter->diagnostics->errors++; /* which has been printed */
    } else if (text != NULL && blames_source(text)) {
        report(rewriter, part->kernels, part->source, text);
    } else if (part->kernels != NULL) {
        ofl_diag_error(rewriter->diagnostics, part->kernels->stmt->span,
                       "the kernel of this loop could not be compiled: 'cc' ended with status %d\n%s", job->status,
                       length > 0 ? text : "It says nothing; is there room for temporary files (TMPDIR)?");
    }
}

/* One shared object out of the parts' objects; its path, or NULL after an error. */
static const char *link_parts(struct ofl_rewriter *rewriter, const struct part *parts, unsigned count)
{
    struct ofl_arena *arena = rewriter->arena;
    const char *output = ofl_arena_format(arena, "%s/kernels.so", ofl_scratch_open());
    const char *log = ofl_arena_format(arena, "%s/kernels.log", ofl_scratch_open());
    const char *const fixed[] = {"cc", "-shared", "-Wl,-s", "-o", output};
    struct ofl_words words = words_of(arena, fixed, sizeof fixed / sizeof *fixed);
    for (unsigned i = 0; i < count; i++) {
        ofl_words_add(&words, parts[i].output);
    }
    ofl_words_add(&words, "-lm");
    struct ofl_job job = {.words = words, .log = log};
    ofl_run_together(&job, 1);
    if (job.status != 0) {
        report_failure(rewriter, &parts[0], &job);
        return NULL;
    }
    return output;
}

static const void *compile_for_cpu(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernels, const char *source,
                                   bool fast, size_t *bytes)
{
    struct ofl_arena *arena = rewriter->arena;
    struct part parts[MOST_PARTS] = {{0}};
    struct ofl_job jobs[MOST_PARTS];
    unsigned count = part_count(kernels);
    const char *include = ofl_locate_header(arena);
    if (include == NULL || !write_parts(arena, kernels, source, parts, count)) {
        rewriter->diagnostics->errors++;
        return NULL;
    }
    for (unsigned i = 0; i < count; i++) {
        jobs[i] =
            (struct ofl_job){.words = compiler_words(arena, &parts[i], count == 1, fast, include), .log = parts[i].log};
    }
    ofl_run_together(jobs, count);
    for (unsigned i = 0; i < count; i++) {
        if (jobs[i].status != 0) {
            report_failure(rewriter, &parts[i], &jobs[i]);
            return NULL;
        }
    }
    const char *output = count == 1 ? parts[0].output : link_parts(rewriter, parts, count);
    const void *image = output == NULL ? NULL : ofl_file_read(arena, output, bytes);
    if (image == NULL && output != NULL) {
        report(rewriter, kernels, source, "the C compiler has not written an object");
    }
    return image;
}

/* ---- NVRTC ---- */

typedef void *nvrtc_program;

static struct nvrtc {
    void *library;
    int (*create)(nvrtc_program *program, const char *source, const char *name, int headers, const char *const *texts,
                  const char *const *names);
    int (*compile)(nvrtc_program program, int options, const char *const *texts);
    int (*log_size)(nvrtc_program program, size_t *size);
    int (*log)(nvrtc_program program, char *text);
    int (*ptx_size)(nvrtc_program program, size_t *size);
    int (*ptx)(nvrtc_program program, char *text);
    int (*destroy)(nvrtc_program *program);
} nvrtc;

static bool open_nvrtc_at(const char *path)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
        {"nvrtcCreateProgram", offsetof(struct nvrtc, create)},
        {"nvrtcCompileProgram", offsetof(struct nvrtc, compile)},
        {"nvrtcGetProgramLogSize", offsetof(struct nvrtc, log_size)},
        {"nvrtcGetProgramLog", offsetof(struct nvrtc, log)},
        {"nvrtcGetPTXSize", offsetof(struct nvrtc, ptx_size)},
        {"nvrtcGetPTX", offsetof(struct nvrtc, ptx)},
        {"nvrtcDestroyProgram", offsetof(struct nvrtc, destroy)},
    };
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        if (function == NULL) {
            dlclose(library);
            return false;
        }
        memcpy((char *)&nvrtc + functions[i].offset, &function, sizeof function);
    }
    nvrtc.library = library;
    return true;
}

/* Looks in CUDA_HOME, the linker's cache, /usr/local/cuda*, and NVIDIA's wheels in the Python environment. */
static bool open_nvrtc(struct ofl_arena *arena)
{
    const char *home = getenv("CUDA_HOME"), *environment = getenv("VIRTUAL_ENV");
    const char *patterns[] = {
        home == NULL ? "" : ofl_arena_format(arena, "%s/lib64/libnvrtc.so*", home),
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so",
        "/usr/local/cuda/lib64/libnvrtc.so*",
        "/usr/local/cuda*/lib64/libnvrtc.so*",
        environment == NULL
            ? ""
            : ofl_arena_format(arena, "%s/lib/python3*/site-packages/nvidia/c*/lib/libnvrtc.so*", environment),
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        if (strchr(patterns[i], '/') == NULL) {
            if (*patterns[i] != '\0' && open_nvrtc_at(patterns[i])) {
                return true;
            }
            continue;
        }
        bool opened = false;
        if (glob(patterns[i], 0, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc && !opened; k++) {
                opened = open_nvrtc_at(found.gl_pathv[k]);
            }
            globfree(&found);
        }
        if (opened) {
            return true;
        }
    }
    return false;
}

static const void *compile_with_nvrtc(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernels,
                                      const char *source, bool fast, size_t *bytes)
{
    struct ofl_arena *arena = rewriter->arena;
    const char *const options[] = {"--gpu-architecture=" ARCHITECTURE, fast ? "--fmad=true" : "--fmad=false", "-w"};
    nvrtc_program program = NULL;
    size_t size = 0;
    if (nvrtc.library == NULL && !open_nvrtc(arena)) {
        ofl_diag_error(rewriter->diagnostics, kernels->stmt->span,
                       "--gpu=cuda needs NVIDIA's run-time compiler (libnvrtc), which was not found; install the CUDA "
                       "toolkit, or set CUDA_HOME to where it is");
        return NULL;
    }
    if (nvrtc.create(&program, source, "kernels.cu", 0, NULL, NULL) != 0) {
        report(rewriter, kernels, source, "NVRTC cannot be used");
        return NULL;
    }
    char *ptx = NULL;
    if (nvrtc.compile(program, (int)(sizeof options / sizeof *options), options) == 0) {
        if (nvrtc.ptx_size(program, &size) == 0) {
            ptx = ofl_arena_alloc(arena, size);
            ptx = nvrtc.ptx(program, ptx) == 0 ? ptx : NULL;
            *bytes = size;
        }
    }
    if (ptx == NULL) {
        char *log = nvrtc.log_size(program, &size) == 0 ? ofl_arena_alloc(arena, size + 1) : NULL;
        bool logged = log != NULL && nvrtc.log(program, log) == 0;
        report(rewriter, kernels, source, logged ? log : "NVRTC does not say why");
    }
    nvrtc.destroy(&program);
    return ptx;
}

const void *ofl_kernel_compile(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernels, const char *source,
                               bool cuda, bool fast, size_t *bytes)
{
    return cuda ? compile_with_nvrtc(rewriter, kernels, source, fast, bytes)
                : compile_for_cpu(rewriter, kernels, source, fast, bytes);
}
