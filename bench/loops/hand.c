/* Times the kernels written by hand: hand SOURCE [fast]
 *
 * They are compiled by NVRTC, so no nvcc is needed, without contraction to fused multiply-add, or with it if `fast`.
 * Output: a line `NAME SECONDS` for each, the best of ten launches by events; for `empty`, the mean of launching and
 * waiting; for `copy`, device to device, the bytes a second, each counted as read and written. */
#define _POSIX_C_SOURCE 200809L
#include <cuda.h>
#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rounds = 10 };

static CUmodule module;

static void must(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "hand: %s failed (%d)\n", what, status);
        exit(1);
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    must(file == NULL, path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    must(text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size, path);
    fclose(file);
    return text;
}

static void compile(const char *source, int fast)
{
    nvrtcProgram program;
    CUdevice device;
    char architecture[64];
    int major, minor;
    size_t size;
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "cuDeviceGetAttribute");
    must(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "cuDeviceGetAttribute");
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
    const char *const options[] = {architecture, fast ? "--fmad=true" : "--fmad=false"};
    must(nvrtcCreateProgram(&program, source, "hand.cu", 0, NULL, NULL), "nvrtcCreateProgram");
    must(nvrtcCompileProgram(program, 2, options), "nvrtcCompileProgram");
    must(nvrtcGetCUBINSize(program, &size), "nvrtcGetCUBINSize");
    char *image = malloc(size);
    must(nvrtcGetCUBIN(program, image), "nvrtcGetCUBIN");
    must(cuModuleLoadData(&module, image), "cuModuleLoadData");
    free(image);
    nvrtcDestroyProgram(&program);
}

static CUdeviceptr room(size_t bytes)
{
    CUdeviceptr address;
    must(cuMemAlloc(&address, bytes), "cuMemAlloc");
    must(cuMemsetD8(address, 0, bytes), "cuMemsetD8");
    return address;
}

/* One or two kernels after each other. */
struct launch {
    const char *name;
    unsigned grid[2], block[2];
    void **arguments;
};

static double best_of(const struct launch *launches, int count)
{
    CUevent begin, end;
    double best = 1e9;
    must(cuEventCreate(&begin, 0), "cuEventCreate");
    must(cuEventCreate(&end, 0), "cuEventCreate");
    for (int round = 0; round < rounds; round++) {
        float milliseconds;
        must(cuEventRecord(begin, NULL), "cuEventRecord");
        for (int i = 0; i < count; i++) {
            CUfunction function;
            const struct launch *l = &launches[i];
            must(cuModuleGetFunction(&function, module, l->name), l->name);
            must(cuLaunchKernel(function, l->grid[0], l->grid[1], 1, l->block[0], l->block[1], 1, 0, NULL, l->arguments,
                                NULL),
                 l->name);
        }
        must(cuEventRecord(end, NULL), "cuEventRecord");
        must(cuEventSynchronize(end), "cuEventSynchronize");
        must(cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
        best = milliseconds / 1e3 < best ? milliseconds / 1e3 : best;
    }
    return best;
}

static void time_vectors(void)
{
    long long n = 1ll << 27;
    size_t bytes = 8 * (size_t)n;
    CUdeviceptr a = room(bytes), b = room(bytes), c = room(bytes), partial = room(8 * 4096), result = room(8);
    double s = 0.5, best = 1e9;
    int partials = 2048;
    void *triad[] = {&a, &b, &c, &s, &n}, *dot[] = {&a, &b, &partial, &n}, *end[] = {&partial, &result, &partials};
    struct launch one = {"triad", {(unsigned)(n / 256), 1}, {256, 1}, triad};
    printf("triad %.9f\n", best_of(&one, 1));
    struct launch two[] = {{"dot", {2048, 1}, {256, 1}, dot}, {"dot_end", {1, 1}, {256, 1}, end}};
    printf("dot %.9f\n", best_of(two, 2));
    for (int round = 0; round < rounds; round++) {
        CUevent from, to;
        float milliseconds;
        must(cuEventCreate(&from, 0), "cuEventCreate");
        must(cuEventCreate(&to, 0), "cuEventCreate");
        must(cuEventRecord(from, NULL), "cuEventRecord");
        must(cuMemcpyDtoDAsync(a, b, bytes, NULL), "cuMemcpyDtoDAsync");
        must(cuEventRecord(to, NULL), "cuEventRecord");
        must(cuEventSynchronize(to), "cuEventSynchronize");
        must(cuEventElapsedTime(&milliseconds, from, to), "cuEventElapsedTime");
        best = milliseconds / 1e3 < best ? milliseconds / 1e3 : best;
    }
    printf("copy %.6e\n", 2 * (double)bytes / best);
    cuMemFree(a);
    cuMemFree(b);
    cuMemFree(c);
}

static void time_mandelbrot(void)
{
    int n = 4096;
    CUdeviceptr count = room(4 * (size_t)n * (size_t)n);
    void *arguments[] = {&count, &n};
    struct launch launch = {"mandelbrot", {(unsigned)n / 32, (unsigned)n / 8}, {32, 8}, arguments};
    printf("mandelbrot %.9f\n", best_of(&launch, 1));
    cuMemFree(count);
}

/* Positions do not matter for the time. */
static void time_nbody(void)
{
    int n = 65536;
    CUdeviceptr v[7];
    for (int i = 0; i < 7; i++) {
        v[i] = room(8 * (size_t)n);
    }
    void *arguments[] = {&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &n};
    struct launch launch = {"nbody", {(unsigned)n / 256, 1}, {256, 1}, arguments};
    printf("nbody %.9f\n", best_of(&launch, 1));
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void time_empty(void)
{
    enum { times = 2000 };
    CUdeviceptr a = room(8);
    CUfunction function;
    void *arguments[] = {&a};
    double begin = 0;
    must(cuModuleGetFunction(&function, module, "empty"), "empty");
    for (int i = -100; i < times; i++) {
        begin = i == 0 ? now() : begin;
        must(cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL), "empty");
        must(cuStreamSynchronize(NULL), "cuStreamSynchronize");
    }
    printf("empty %.9f\n", (now() - begin) / times);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    must(argc < 2, "reading the command");
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    compile(read_text(argv[1]), argc > 2 && strcmp(argv[2], "fast") == 0);
    time_vectors();
    time_mandelbrot();
    time_nbody();
    time_empty();
    return 0;
}
