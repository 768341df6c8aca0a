/* The host backend through its table: memory, copies, kernels, failures on demand. */
#include "backend.h"

#include <math.h>

static const struct ofl_backend *start_with(const char *variable, const char *value)
{
    char explanation[256] = "";
    int devices = 0;
    setenv(variable, value, 1);
    const struct ofl_backend *backend = open_backend(BACKEND);
    CHECK(backend->abi == OFL_DEVICE_ABI && backend->size == sizeof *backend);
    CHECK(backend->start(&devices, explanation, sizeof explanation) == OFL_OK && devices == 1);
    CHECK(backend->open(0, explanation, sizeof explanation) == OFL_OK);
    return backend;
}

static void memory_is_bounded_and_poisoned(void)
{
    const struct ofl_backend *host = start_with("GPU_OFFLOAD_HOST_MEMORY", "10000");
    struct ofl_device_load load;
    void *first, *second;
    double value;
    CHECK(host->allocate(0, 6000, &first) == OFL_OK);
    CHECK(host->allocate(0, 6000, &second) == OFL_DEVICE_MEMORY && second == NULL);
    CHECK(host->load(0, &load) == OFL_OK && load.memory_total == 10000 && load.memory_free == 4000);
    CHECK(host->allocate(0, SIZE_MAX, &second) == OFL_DEVICE_MEMORY);
    CHECK(host->copy_out(0, NULL, &value, 8, first, 8, 8, 1) == OFL_OK && isnan(value));
    CHECK(host->release(0, first) == OFL_OK && host->release(0, first) == OFL_INVALID_ARGUMENT);
    CHECK(host->allocate(0, 10000, &first) == OFL_OK && host->release(0, first) == OFL_OK);
    CHECK(host->host_allocate(0, 20000, &first) == OFL_OK && host->release(0, first) == OFL_INVALID_ARGUMENT);
    CHECK(host->host_release(0, first) == OFL_OK);
    CHECK(host->allocate(1, 8, &first) == OFL_NO_DEVICE);
}

static void test_memory(void **state)
{
    (void)state;
    in_child(memory_is_bounded_and_poisoned);
}

static void copies_are_exact(void)
{
    const struct ofl_backend *host = start_with("GPU_OFFLOAD_HOST_FAULTS", "copy:5");
    char in[40], out[40];
    void *memory;
    for (int i = 0; i < 40; i++) {
        in[i] = (char)i;
    }
    CHECK(host->allocate(0, 12, &memory) == OFL_OK);
    /* three columns of four bytes, ten bytes apart */
    CHECK(host->copy_in(0, NULL, memory, 4, in + 5, 10, 4, 3) == OFL_OK);
    memset(out, 99, sizeof out);
    CHECK(host->copy_out(0, NULL, out, 11, memory, 4, 4, 3) == OFL_OK);
    for (int i = 0; i < 40; i++) {
        int column = i / 11, row = i % 11;
        CHECK(out[i] == (column < 3 && row < 4 ? in[5 + 10 * column + row] : 99));
    }
    /* what does not lie in device memory */
    CHECK(host->copy_in(0, NULL, memory, 4, in, 4, 4, 4) == OFL_COPY_FAILED);
    CHECK(host->copy_in(0, NULL, (char *)memory - 1, 4, in, 4, 4, 1) == OFL_COPY_FAILED);
    CHECK(host->copy_in(0, NULL, in, 4, memory, 4, 4, 1) == OFL_COPY_FAILED);
    CHECK(host->copy_in(0, NULL, memory, SIZE_MAX / 2, in, 4, 4, 3) == OFL_COPY_FAILED);
    CHECK(host->copy_in(0, NULL, memory, 0, in, 0, 0, 3) == OFL_OK);
    CHECK(host->copy_within(0, NULL, memory, 4, (char *)memory + 8, 4, 4, 1) == OFL_OK);
    CHECK(host->copy_out(0, NULL, out, 4, memory, 4, 4, 1) == OFL_OK && memcmp(out, in + 25, 4) == 0);
    /* the fifth that could succeed: half of the columns have arrived */
    memset(out, 99, sizeof out);
    CHECK(host->copy_out(0, NULL, out, 6, memory, 6, 6, 2) == OFL_COPY_FAILED);
    CHECK(memcmp(out, in + 25, 4) == 0 && out[6] == 99);
}

static void test_copies(void **state)
{
    (void)state;
    in_child(copies_are_exact);
}

static void lost_device_stays_lost(void)
{
    const struct ofl_backend *host = start_with("GPU_OFFLOAD_HOST_FAULTS", "lost:2");
    struct ofl_device_load load;
    struct ofl_stream *stream;
    void *memory, *more;
    CHECK(host->stream_create(0, &stream) == OFL_OK);
    CHECK(host->allocate(0, 8, &memory) == OFL_OK);
    CHECK(host->allocate(0, 8, &more) == OFL_DEVICE_LOST);
    CHECK(host->allocate(0, 8, &more) == OFL_DEVICE_LOST);
    CHECK(host->load(0, &load) == OFL_DEVICE_LOST);
    CHECK(host->stream_wait(0, stream) == OFL_DEVICE_LOST);
    CHECK(host->release(0, memory) == OFL_DEVICE_LOST);
    CHECK(host->stream_destroy(0, stream) == OFL_DEVICE_LOST);
}

static void test_lost(void **state)
{
    (void)state;
    in_child(lost_device_stays_lost);
}

static const char *fault_text;
static bool fault_valid;

static void check_fault_text(void)
{
    char explanation[512] = "";
    int devices;
    setenv("GPU_OFFLOAD_HOST_FAULTS", fault_text, 1);
    enum ofl_reason reason = open_backend(BACKEND)->start(&devices, explanation, sizeof explanation);
    CHECK((reason == OFL_OK) == fault_valid);
    CHECK(fault_valid ? *explanation == '\0' : strstr(explanation, fault_text) != NULL);
}

static void test_fault_syntax(void **state)
{
    static const char *const valid[] = {"copy:1", "allocate:12+", "any:1,operation:3+,launch:2", "lost:7"};
    static const char *const invalid[] = {
        "copy", "copy:",    "copy:0", "copy:-1", "copies:1", "copy:1++", "copy:1,",
        ":1",   "copy:1;2", "copy:x", "copy: 1", ",copy:1",  "copy:1 ",  "copy:99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
        fault_text = valid[i], fault_valid = true;
        in_child(check_fault_text);
    }
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        fault_text = invalid[i], fault_valid = false;
        in_child(check_fault_text);
    }
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *size = (size_t)ftell(file);
    char *bytes = malloc(*size);
    rewind(file);
    CHECK(bytes != NULL && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static void *device_copy(const struct ofl_backend *host, const void *from, size_t bytes)
{
    void *memory;
    CHECK(host->allocate(0, bytes, &memory) == OFL_OK);
    CHECK(host->copy_in(0, NULL, memory, bytes, from, bytes, bytes, 1) == OFL_OK);
    return memory;
}

static void launch_saxpy(const struct ofl_backend *host, const void *image, size_t bytes)
{
    enum { n = 10007 };
    static float x[n], y[n];
    struct ofl_kernel *kernel;
    for (int i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    float *on_device[] = {device_copy(host, x, sizeof x), device_copy(host, y, sizeof y)}, a = 2;
    int64_t count = n;
    void *arguments[] = {&count, &a, &on_device[0], &on_device[1]};
    struct ofl_launch launch = {{13, 1, 1}, {64, 1, 1}, 0, arguments};
    CHECK(host->kernel_load(0, image, bytes, "saxpy", &kernel) == OFL_OK);
    for (int round = 0; round < 50; round++) {
        CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_OK);
    }
    CHECK(host->copy_out(0, NULL, y, sizeof y, on_device[1], sizeof y, sizeof y, 1) == OFL_OK);
    for (int i = 0; i < n; i++) {
        CHECK(y[i] == 1 + 100 * (float)i);
    }
    CHECK(host->kernel_unload(0, kernel) == OFL_OK);
    CHECK(host->release(0, on_device[0]) == OFL_OK && host->release(0, on_device[1]) == OFL_OK);
}

static void launch_grid(const struct ofl_backend *host, const void *image, size_t bytes)
{
    enum { cells = 5 * 4 * 3 * 2 * 3 * 4 };
    int32_t counts[cells] = {0}, *memory = device_copy(host, counts, sizeof counts);
    void *arguments[] = {&memory};
    struct ofl_launch launch = {{5, 4, 3}, {2, 3, 4}, 0, arguments};
    struct ofl_kernel *kernel;
    CHECK(host->kernel_load(0, image, bytes, "count", &kernel) == OFL_OK);
    CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_OK);
    CHECK(host->copy_out(0, NULL, counts, sizeof counts, memory, sizeof counts, sizeof counts, 1) == OFL_OK);
    for (int i = 0; i < cells; i++) {
        CHECK(counts[i] == 1);
    }
    launch.threads[0] = 1025;
    CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_KERNEL_FAILED);
    launch.threads[0] = 2, launch.blocks[2] = 0;
    CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_KERNEL_FAILED);
    CHECK(host->kernel_unload(0, kernel) == OFL_OK && host->release(0, memory) == OFL_OK);
}

static void launch_atomics(const struct ofl_backend *host, const void *image, size_t bytes)
{
    int32_t zero = 0, sum, once;
    unsigned long long largest = ~0ULL, least;
    void *memory[] = {device_copy(host, &zero, 4), device_copy(host, &largest, 8), device_copy(host, &zero, 4)};
    void *arguments[] = {&memory[0], &memory[1], &memory[2]};
    struct ofl_launch launch = {{300, 1, 1}, {7, 1, 1}, 0, arguments};
    struct ofl_kernel *kernel;
    CHECK(host->kernel_load(0, image, bytes, "atomics", &kernel) == OFL_OK);
    CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_OK);
    CHECK(host->copy_out(0, NULL, &sum, 4, memory[0], 4, 4, 1) == OFL_OK && sum == 2100);
    CHECK(host->copy_out(0, NULL, &least, 8, memory[1], 8, 8, 1) == OFL_OK && least == 7);
    CHECK(host->copy_out(0, NULL, &once, 4, memory[2], 4, 4, 1) == OFL_OK && once >= 1 && once <= 300);
    CHECK(host->kernel_unload(0, kernel) == OFL_OK);
    for (int i = 0; i < 3; i++) {
        CHECK(host->release(0, memory[i]) == OFL_OK);
    }
}

/* Two images whose kernels have one name, loaded at the same time and one after the other. */
static void load_versions(const struct ofl_backend *host)
{
    static const char *const files[] = {KERNELS_1, KERNELS_2};
    struct ofl_kernel *kernels[4];
    int32_t zero = 0, *memory = device_copy(host, &zero, sizeof zero);
    void *arguments[] = {&memory};
    struct ofl_launch launch = {{1, 1, 1}, {1, 1, 1}, 0, arguments};
    for (int i = 0; i < 4; i++) {
        size_t bytes;
        char *image = read_file(files[i % 2], &bytes);
        CHECK(host->kernel_load(0, image, bytes, "version", &kernels[i]) == OFL_OK);
        memset(image, 0, bytes); /* the kernel keeps nothing of it */
        free(image);
        if (i == 1) {
            CHECK(host->kernel_unload(0, kernels[0]) == OFL_OK);
        }
    }
    for (int i = 1; i < 4; i++) {
        int32_t version;
        CHECK(host->kernel_launch(0, NULL, kernels[i], &launch) == OFL_OK);
        CHECK(host->copy_out(0, NULL, &version, 4, memory, 4, 4, 1) == OFL_OK && version == i % 2 + 1);
        CHECK(host->kernel_unload(0, kernels[i]) == OFL_OK);
    }
    CHECK(host->release(0, memory) == OFL_OK);
}

static void kernels_run(void)
{
    const struct ofl_backend *host = start_with("GPU_OFFLOAD_HOST_MEMORY", "0");
    struct ofl_kernel *kernel;
    size_t bytes;
    char *image = read_file(KERNELS_1, &bytes);
    launch_saxpy(host, image, bytes);
    launch_grid(host, image, bytes);
    launch_atomics(host, image, bytes);
    load_versions(host);
    CHECK(host->kernel_load(0, image, bytes, "nothing", &kernel) == OFL_KERNEL_FAILED && kernel == NULL);
    CHECK(host->kernel_load(0, "nonsense", 8, "saxpy", &kernel) == OFL_KERNEL_FAILED);
    CHECK(host->kernel_load(0, "", 0, "saxpy", &kernel) == OFL_KERNEL_FAILED);
    free(image);
    host->stop();
}

static void test_kernels(void **state)
{
    (void)state;
    in_child(kernels_run);
}

static void launches_fail_on_demand(void)
{
    const struct ofl_backend *host = start_with("GPU_OFFLOAD_HOST_FAULTS", "launch:2");
    struct ofl_kernel *kernel;
    size_t bytes;
    char *image = read_file(KERNELS_1, &bytes);
    int32_t zero = 0, *memory = device_copy(host, &zero, sizeof zero);
    void *arguments[] = {&memory};
    struct ofl_launch launch = {{1, 1, 1}, {1, 1, 1}, 0, arguments};
    CHECK(host->kernel_load(0, image, bytes, "version", &kernel) == OFL_OK);
    CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_OK);
    CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_KERNEL_FAILED);
    CHECK(host->kernel_launch(0, NULL, kernel, &launch) == OFL_OK);
    CHECK(host->kernel_unload(0, kernel) == OFL_OK && host->release(0, memory) == OFL_OK);
    free(image);
    host->stop();
}

static void test_launch_faults(void **state)
{
    (void)state;
    in_child(launches_fail_on_demand);
}

static const char *library_name, *library_word;

static void check_library(void)
{
    char explanation[512] = "";
    const struct ofl_backend *host = start_with("GPU_OFFLOAD_HOST_LIBRARY", library_name);
    enum ofl_reason reason = host->operation_prepare(0, OFL_OP_gemm, explanation, sizeof explanation);
    if (library_word == NULL) {
        CHECK(reason == OFL_OK);
        struct ofl_call call = {.operation = OFL_OP_gemm, .precision = OFL_D, .m = 4, .n = 4, .k = 4};
        CHECK(host->operation_supports(0, &call) == OFL_OK);
        call.n = INT64_C(1) << 31;
        CHECK(host->operation_supports(0, &call) == OFL_TOO_LARGE);
    } else {
        CHECK(reason == OFL_LIBRARY_MISSING && strstr(explanation, library_word) != NULL);
    }
}

static void test_libraries(void **state)
{
    static const char *const names[][2] = {
        {"libopenblas.so.0", NULL},
        {"libblas.so.3", NULL},
        {"libblas64.so.3", "64-bit"},
        {"libm.so.6", "isamax_"},
        {"libnothing.so.9", "libnothing.so.9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        library_name = names[i][0], library_word = names[i][1];
        void *there = i < 3 ? dlopen(library_name, RTLD_LAZY) : NULL; /* not every machine has all of them */
        if (i >= 3 || there != NULL) {
            in_child(check_library);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_copies),  cmocka_unit_test(test_lost),
        cmocka_unit_test(test_fault_syntax), cmocka_unit_test(test_kernels), cmocka_unit_test(test_launch_faults),
        cmocka_unit_test(test_libraries),
    };
    return cmocka_run_group_tests_name("host backend", tests, NULL, NULL);
}
