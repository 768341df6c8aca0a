/* The CUDA backend over a stand-in for the driver and cuBLAS (fake_cuda.c): the reasons and explanations
 * of a start that fails, contexts, copies and their limits, errors. */
#include "backend.h"

#include <cuda.h>

static const char *pretence, *driver_folder;

/* The driver is found as always: by its name.  The fakes are opened first and have that name. */
static const struct ofl_backend *backend_with_driver(void)
{
    char path[600];
    setenv("FAKE_CUDA", pretence, 1);
    setenv("CUDA_HOME", FAKES "/home", 1);
    snprintf(path, sizeof path, "%s/libcuda.so.1", driver_folder);
    CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL);
    return open_backend(BACKEND);
}

static const struct ofl_backend *open_device(void)
{
    char explanation[512] = "";
    int devices;
    const struct ofl_backend *cuda = backend_with_driver();
    CHECK(cuda->start(&devices, explanation, sizeof explanation) == OFL_OK && devices == 1);
    CHECK(cuda->open(0, explanation, sizeof explanation) == OFL_OK);
    return cuda;
}

static const struct start {
    const char *pretence;
    enum ofl_reason reason;
    const char *words[2]; /* in the explanation: what is wrong, what to do */
} starts[] = {
    {"version=11080", OFL_DRIVER_TOO_OLD, {"supports CUDA 11.8", "update the NVIDIA driver"}},
    {"devices=0", OFL_NO_DEVICE, {"found no GPU", "CUDA_VISIBLE_DEVICES"}},
    {"init=100", OFL_NO_DEVICE, {"found no GPU", "nvidia-smi"}},
    {"init=34", OFL_NO_DRIVER, {"stub", "install the NVIDIA driver"}},
    {"init=803", OFL_NO_DRIVER, {"different versions", "reboot"}},
    {"init=802", OFL_NO_DEVICE, {"not ready", "fabric manager"}},
    {"init=999", OFL_NO_DEVICE, {"error 999", "kernel's log"}},
};
static const struct start *current_start;

static void check_start(void)
{
    char explanation[512] = "";
    int devices = 9;
    pretence = current_start->pretence;
    const struct ofl_backend *cuda = backend_with_driver();
    CHECK(cuda->start(&devices, explanation, sizeof explanation) == current_start->reason);
    CHECK(strstr(explanation, current_start->words[0]) != NULL);
    CHECK(strstr(explanation, current_start->words[1]) != NULL);
    CHECK(strchr(explanation, '\n') == NULL);
}

static void test_starts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        current_start = &starts[i];
        in_child(check_start);
    }
}

static void busy_device(void)
{
    char explanation[512] = "";
    int devices;
    pretence = "context=46";
    const struct ofl_backend *cuda = backend_with_driver();
    CHECK(cuda->start(&devices, explanation, sizeof explanation) == OFL_OK);
    CHECK(cuda->open(0, explanation, sizeof explanation) == OFL_DEVICE_BUSY);
    CHECK(strstr(explanation, "exclusively") != NULL);
    CHECK(cuda->open(7, explanation, sizeof explanation) == OFL_NO_DEVICE);
}

static void test_busy(void **state)
{
    (void)state;
    in_child(busy_device);
}

/* The program's own context is current before and after whatever we do. */
static void contexts_are_restored(void)
{
    pretence = "";
    const struct ofl_backend *cuda = open_device();
    CUcontext own = (CUcontext)(void *)"the program's", now = NULL;
    CUresult (*push)(CUcontext) = (CUresult(*)(CUcontext))dlsym(RTLD_DEFAULT, "cuCtxPushCurrent_v2");
    CUresult (*get)(CUcontext *) = (CUresult(*)(CUcontext *))dlsym(RTLD_DEFAULT, "cuCtxGetCurrent");
    char explanation[512] = "", bytes[8] = {0};
    struct ofl_device_properties properties;
    struct ofl_device_load load;
    struct ofl_stream *stream;
    struct ofl_event *event;
    void *memory;
    CHECK(push != NULL && get != NULL && push(own) == CUDA_SUCCESS);
    CHECK(cuda->stream_create(0, &stream) == OFL_OK && cuda->event_create(0, &event) == OFL_OK);
    CHECK(cuda->allocate(0, 8, &memory) == OFL_OK);
    CHECK(cuda->copy_in(0, stream, memory, 8, bytes, 8, 8, 1) == OFL_OK);
    bool done = false;
    CHECK(cuda->event_record(0, stream, event) == OFL_OK && cuda->stream_wait(0, stream) == OFL_OK);
    CHECK(cuda->event_done(0, event, &done) == OFL_OK && done);
    CHECK(cuda->properties(0, &properties) == OFL_OK && properties.flops_double > 6e13);
    CHECK(cuda->load(0, &load) == OFL_OK);
    CHECK(cuda->operation_prepare(0, OFL_OP_gemm, explanation, sizeof explanation) == OFL_OK);
    CHECK(cuda->release(0, memory) == OFL_OK);
    CHECK(cuda->allocate(0, (size_t)1 << 40, &memory) == OFL_DEVICE_MEMORY); /* also after failures */
    CHECK(cuda->copy_in(0, NULL, memory, 8, bytes, 8, 8, 1) == OFL_COPY_FAILED);
    CHECK(cuda->event_destroy(0, event) == OFL_OK && cuda->stream_destroy(0, stream) == OFL_OK);
    CHECK(get(&now) == CUDA_SUCCESS && now == own);
}

static void test_contexts(void **state)
{
    (void)state;
    in_child(contexts_are_restored);
}

/* The fake driver takes pitches up to 65536 bytes. */
static void long_pitches(void)
{
    enum { pitch = 70000, columns = 5, width = 24 };
    static char in[columns * pitch], out[columns * pitch];
    struct ofl_stream *stream;
    void *memory;
    pretence = "";
    const struct ofl_backend *cuda = open_device();
    CHECK(cuda->stream_create(0, &stream) == OFL_OK && cuda->allocate(0, columns * width, &memory) == OFL_OK);
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (char)(i % 251);
    }
    memset(out, 99, sizeof out);
    CHECK(cuda->copy_in(0, stream, memory, width, in, pitch, width, columns) == OFL_OK);
    CHECK(cuda->copy_out(0, stream, out, pitch, memory, width, width, columns) == OFL_OK);
    CHECK(cuda->stream_wait(0, stream) == OFL_OK);
    for (size_t i = 0; i < sizeof out; i++) {
        CHECK(out[i] == (i % pitch < width ? in[i] : 99));
    }
    CHECK(cuda->release(0, memory) == OFL_OK && cuda->stream_destroy(0, stream) == OFL_OK);
}

static void test_long_pitches(void **state)
{
    (void)state;
    in_child(long_pitches);
}

static void errors_that_are_final(void)
{
    static struct ofl_stream *stream; /* a lost device takes nothing back */
    static void *memory;
    struct ofl_device_load load;
    char bytes[8] = {0};
    pretence = "fail=2:700"; /* an illegal address, as after a kernel that went wrong */
    const struct ofl_backend *cuda = open_device();
    CHECK(cuda->stream_create(0, &stream) == OFL_OK && cuda->allocate(0, 8, &memory) == OFL_OK);
    CHECK(cuda->copy_in(0, stream, memory, 8, bytes, 8, 8, 1) == OFL_OK);
    CHECK(cuda->copy_in(0, stream, memory, 8, bytes, 8, 8, 1) == OFL_DEVICE_LOST);
    CHECK(cuda->copy_in(0, stream, memory, 8, bytes, 8, 8, 1) == OFL_DEVICE_LOST);
    CHECK(cuda->load(0, &load) == OFL_DEVICE_LOST && cuda->stream_wait(0, stream) == OFL_DEVICE_LOST);
}

static void errors_that_are_not(void)
{
    struct ofl_stream *stream;
    char bytes[8] = {0};
    void *memory;
    pretence = "fail=1:1";
    const struct ofl_backend *cuda = open_device();
    CHECK(cuda->stream_create(0, &stream) == OFL_OK && cuda->allocate(0, 8, &memory) == OFL_OK);
    CHECK(cuda->copy_in(0, stream, memory, 8, bytes, 8, 8, 1) == OFL_COPY_FAILED);
    CHECK(cuda->copy_in(0, stream, memory, 8, bytes, 8, 8, 1) == OFL_OK);
    CHECK(cuda->release(0, memory) == OFL_OK && cuda->stream_destroy(0, stream) == OFL_OK);
    cuda->close(0);
    CHECK(cuda->allocate(0, 8, &memory) == OFL_NO_DEVICE);
}

static void test_errors(void **state)
{
    (void)state;
    in_child(errors_that_are_final);
    in_child(errors_that_are_not);
}

static void kernels_run(void)
{
    static const char image[] = {'.', 'v', ' ', 's', 't', 'o', 'r', 'e'}; /* no zero at its end */
    struct ofl_stream *stream;
    struct ofl_kernel *kernel;
    int value = 42, out = 0;
    void *memory;
    pretence = "";
    const struct ofl_backend *cuda = open_device();
    CHECK(cuda->stream_create(0, &stream) == OFL_OK && cuda->allocate(0, sizeof value, &memory) == OFL_OK);
    CHECK(cuda->kernel_load(0, image, sizeof image, "other", &kernel) == OFL_KERNEL_FAILED && kernel == NULL);
    CHECK(cuda->kernel_load(0, image, sizeof image, "store", &kernel) == OFL_OK);
    void *arguments[] = {&memory, &value};
    struct ofl_launch launch = {{1, 1, 1}, {1, 1, 1}, 0, arguments};
    CHECK(cuda->kernel_launch(0, stream, kernel, &launch) == OFL_OK);
    CHECK(cuda->copy_out(0, stream, &out, 4, memory, 4, 4, 1) == OFL_OK && out == 42);
    launch.blocks[1] = 0;
    CHECK(cuda->kernel_launch(0, stream, kernel, &launch) == OFL_KERNEL_FAILED);
    CHECK(cuda->kernel_unload(0, kernel) == OFL_OK);
    CHECK(cuda->release(0, memory) == OFL_OK && cuda->stream_destroy(0, stream) == OFL_OK);
}

static void test_kernels(void **state)
{
    (void)state;
    in_child(kernels_run);
}

/* cuBLAS and cuSOLVER, which counts differently, are there for CUDA 12 and 13 (test_cuda_libraries.c has the search for
 * it). */
static void release_13(void)
{
    char explanation[512] = "";
    pretence = "version=13010";
    const struct ofl_backend *cuda = open_device();
    CHECK(cuda->operation_prepare(0, OFL_OP_trsm, explanation, sizeof explanation) == OFL_OK);
    CHECK(cuda->operation_prepare(0, OFL_OP_getrf, explanation, sizeof explanation) == OFL_OK);
}

static void release_12(void)
{
    char explanation[512] = "";
    pretence = "version=12000";
    const struct ofl_backend *cuda = open_device();
    CHECK(cuda->operation_prepare(0, OFL_OP_trsm, explanation, sizeof explanation) == OFL_OK);
    CHECK(cuda->operation_prepare(0, OFL_OP_getrf, explanation, sizeof explanation) == OFL_OK);
}

static void test_releases(void **state)
{
    (void)state;
    in_child(release_13);
    in_child(release_12);
}

/* A call on square matrices, by sizes alone: nothing is there. */
static enum ofl_reason supports(const struct ofl_backend *cuda, enum ofl_operation operation, int64_t m, int64_t n)
{
    struct ofl_call call = {.operation = operation, .precision = OFL_D, .m = m, .n = n, .k = n, .nrhs = n};
    call.side = 'L', call.uplo = 'U', call.trans = 'N', call.diag = 'N';
    call.operands = 3;
    for (int i = 0; i < call.operands; i++) {
        call.operand[i] = (struct ofl_buffer){NULL, m, n, m, 8, OFL_UPDATE, OFL_GENERAL};
    }
    return cuda->operation_supports(0, &call);
}

/* What cuSOLVER indexes with 32 bits is refused beyond them; the rest is not. */
static void sizes_are_refused(void)
{
    static const enum ofl_operation narrow[] = {OFL_OP_potri, OFL_OP_orgqr, OFL_OP_ungqr,
                                                OFL_OP_ormqr, OFL_OP_unmqr, OFL_OP_gels};
    static const enum ofl_operation wide[] = {OFL_OP_getrf, OFL_OP_getrs, OFL_OP_gesv,  OFL_OP_getri, OFL_OP_potrf,
                                              OFL_OP_potrs, OFL_OP_posv,  OFL_OP_trtri, OFL_OP_geqrf};
    const int64_t most = 46340, huge = INT64_C(1) << 33; /* most * most is just below 2^31 */
    char explanation[512] = "";
    pretence = "version=13010";
    const struct ofl_backend *cuda = open_device();
    CHECK(cuda->operation_prepare(0, OFL_OP_getrf, explanation, sizeof explanation) == OFL_OK);
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        CHECK(supports(cuda, narrow[i], most, most) == OFL_OK);
        CHECK(supports(cuda, narrow[i], most + 1, most + 1) == OFL_TOO_LARGE);
        CHECK(supports(cuda, narrow[i], huge, huge) == OFL_TOO_LARGE); /* the product overflows 64 bits, too */
        CHECK(supports(cuda, narrow[i], huge, 1) == OFL_TOO_LARGE);
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        CHECK(supports(cuda, wide[i], most + 1, most + 1) == OFL_OK);
        CHECK(supports(cuda, wide[i], huge, 1) == OFL_OK);
    }
    CHECK(supports(cuda, OFL_OP_gels, 10, 11) == OFL_UNSUPPORTED); /* there is no LQ */
}

static void test_sizes(void **state)
{
    (void)state;
    in_child(sizes_are_refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts),       cmocka_unit_test(test_busy),   cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_long_pitches), cmocka_unit_test(test_errors), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_releases),     cmocka_unit_test(test_sizes),
    };
    driver_folder = FAKES "/driver";
    return cmocka_run_group_tests_name("cuda backend", tests, NULL, NULL);
}
