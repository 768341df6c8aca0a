/* Running calls on the host device: several threads, small stacks, refusals, memory.  Each test is a
 * process of its own. */
#include "tests.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>

static void start_host(void)
{
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    CHECK(ofl_device_start() == OFL_OK);
}

enum { size = 40 };

struct product {
    double a[size * size], b[size * size], c[size * size];
};

static struct ofl_call product_call(struct product *product)
{
    struct ofl_call call = {.operation = OFL_OP_gemm,
                            .precision = OFL_D,
                            .transa = 'N',
                            .transb = 'N',
                            .m = size,
                            .n = size,
                            .k = size,
                            .alpha.d = 1,
                            .beta.d = 1,
                            .operands = 3};
    double *const matrices[] = {product->a, product->b, product->c};
    for (int i = 0; i < 3; i++) {
        call.operand[i] =
            (struct ofl_buffer){matrices[i], size, size, size, sizeof(double), i < 2 ? OFL_READ : OFL_ADD, OFL_GENERAL};
    }
    for (int i = 0; i < size * size; i++) { /* C += A * identity */
        product->a[i] = i % 13;
        product->b[i] = i % size == i / size;
        product->c[i] = 0;
    }
    return call;
}

static bool is_multiple(const struct product *product, int factor)
{
    bool same = true;
    for (int i = 0; i < size * size; i++) {
        same = same && product->c[i] == factor * product->a[i];
    }
    return same;
}

static atomic_int marked;

static void mark_thread(void)
{
    marked++;
}

static void *run_many(void *unused)
{
    enum { rounds = 50 };
    (void)unused;
    struct product *product = malloc(sizeof *product);
    CHECK(product != NULL);
    struct ofl_call call = product_call(product);
    struct ofl_device_times times;
    for (int i = 0; i < rounds; i++) {
        errno = 12345;
        CHECK(ofl_device_run(&call, &times) == OFL_OK && errno == 12345);
        CHECK(times.bytes_in == 3 * sizeof product->a && times.bytes_out == sizeof product->c);
        CHECK(times.wait >= 0 && times.copy_in >= 0 && times.compute >= 0 && times.copy_out >= 0);
    }
    CHECK(is_multiple(product, rounds));
    free(product);
    return NULL;
}

static void run_at_once(void)
{
    enum { count = 6 };
    pthread_t threads[count];
    start_host();
    for (int i = 0; i < count; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_many, NULL) == 0);
    }
    for (int i = 0; i < count; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

void test_calls_at_once(void **state)
{
    (void)state;
    in_child(run_at_once);
}

/* Threads of 64 KiB, the first of which starts the device: the work is done on stacks that are lent. */
static void *start_and_run(void *unused)
{
    CHECK(ofl_device_start() == OFL_OK);
    return run_many(unused);
}

static void run_on_small_stacks(void)
{
    pthread_attr_t attributes;
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    ofl_device_on_thread(mark_thread);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 << 10) == 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, &attributes, start_and_run, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(marked == 0); /* each thread does its own work */
}

static void *run_without_memory(void *result)
{
    static struct product product;
    struct ofl_call call = product_call(&product);
    struct rlimit before, none;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    none = (struct rlimit){.rlim_cur = 1, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    *(enum ofl_reason *)result = ofl_device_run(&call, NULL);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    return NULL;
}

/* The call is the CPU library's rather than done where there is no room. */
static void run_without_a_stack(void)
{
    enum ofl_reason reason = OFL_OK;
    pthread_attr_t attributes;
    pthread_t thread;
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    start_and_run(NULL);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 << 10) == 0);
    CHECK(pthread_create(&thread, &attributes, run_without_memory, &reason) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(reason == OFL_HOST_MEMORY);
}

void test_small_stacks(void **state)
{
    (void)state;
    in_child(run_on_small_stacks);
#ifndef __SANITIZE_THREAD__ /* which needs memory of its own */
    in_child(run_without_a_stack);
#else
    (void)run_without_a_stack;
#endif
}

static void refuse(void)
{
    static struct product product;
    struct ofl_call call = product_call(&product);
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
    CHECK(ofl_device_run(&call, NULL) == OFL_NOT_STARTED && ofl_device_state() == OFL_NOT_STARTED);
    CHECK(ofl_device_supports(&call) == OFL_OK && ofl_device_state() == OFL_OK); /* starts it */
    CHECK(ofl_device_run(&call, NULL) == OFL_OK);
    call.alpha.d = 0;
    CHECK(ofl_device_run(&call, NULL) == OFL_NOTHING_TO_DO);
    call.alpha.d = 1;
    call.operand[1].columns = 0;
    CHECK(ofl_device_run(&call, NULL) == OFL_NOTHING_TO_DO);
    call.operand[1].columns = call.operand[2].columns = call.n = INT64_C(1) << 31;
    CHECK(ofl_device_supports(&call) == OFL_TOO_LARGE);
    call.operand[1].columns = call.operand[2].columns = call.n = INT64_MAX;
    CHECK(ofl_device_supports(&call) == OFL_TOO_LARGE);
    call.operand[1].columns = call.operand[2].columns = call.n = INT32_MAX; /* 640 GB */
    call.operand[2].rows = call.operand[2].ld = call.m = INT32_MAX;
    CHECK(ofl_device_supports(&call) != OFL_OK);
}

void test_refusals(void **state)
{
    (void)state;
    in_child(refuse);
}

static void set_order(struct ofl_call *call, int64_t order)
{
    call->m = call->n = call->k = order;
    for (int i = 0; i < call->operands; i++) {
        call->operand[i].rows = call->operand[i].columns = call->operand[i].ld = order;
    }
}

/* What the pipeline would do, for predictions: known without a device, and without looking at any operand. */
static void look_out(void)
{
    struct ofl_call call = {.operation = OFL_OP_gemm, .precision = OFL_D, .transa = 'N', .transb = 'N', .operands = 3};
    struct ofl_device_outlook outlook;
    call.alpha.d = 1;
    for (int i = 0; i < 3; i++) {
        call.operand[i] = (struct ofl_buffer){(void *)(uintptr_t)(4096 * (i + 1)), 2048,       2048, 2048, 8,
                                              i < 2 ? OFL_READ : OFL_ADD,          OFL_GENERAL};
    }
    call.m = call.n = call.k = 2048;
    ofl_device_outlook(&call, &outlook);
    CHECK(outlook.pieces == 8 && outlook.shared == 0 && !outlook.staged[2]); /* 100 MB, 256 columns at least */
    call.beta.d = 1;
    ofl_device_outlook(&call, &outlook);
    CHECK(outlook.pieces == 8 && !outlook.staged[2] && !outlook.staged[0]); /* tile by tile */
    call.m = call.operand[0].rows = call.operand[2].rows = call.operand[0].ld = call.operand[2].ld = 8192;
    ofl_device_outlook(&call, &outlook);
    CHECK(outlook.pieces > 4 && outlook.shared == 1); /* rows are cut, and all of them need B */
    set_order(&call, 8192);
    ofl_device_outlook(&call, &outlook);
    CHECK(outlook.pieces == 16 && outlook.shared == -1); /* computing takes longest: it begins with some of both */
    set_order(&call, 512);
    ofl_device_outlook(&call, &outlook);
    CHECK(outlook.pieces == 1 && outlook.shared == -1 && !outlook.staged[2]);
    /* LAPACK is never cut, and all of its results are looked at first. */
    struct ofl_call lu = {.operation = OFL_OP_getrf, .precision = OFL_D, .m = 4096, .n = 4096, .operands = 2};
    lu.operand[0] = (struct ofl_buffer){(void *)4096, 4096, 4096, 4096, 8, OFL_UPDATE, OFL_GENERAL};
    lu.operand[1] = (struct ofl_buffer){(void *)8192, 4096, 1, 4096, 4, OFL_WRITE, OFL_PIVOTS};
    ofl_device_outlook(&lu, &outlook);
    CHECK(outlook.pieces == 1 && outlook.staged[0] && outlook.staged[1]);
    call.alpha.d = 0;
    ofl_device_outlook(&call, &outlook);
    CHECK(outlook.pieces == 1);
    CHECK(ofl_device_state() == OFL_NOT_STARTED);
}

void test_outlook(void **state)
{
    (void)state;
    in_child(look_out);
}

/* The memory that a call takes: its operands', and workspace. */
static void look_at_needs(void)
{
    static struct product product;
    struct ofl_call call = product_call(&product);
    uint64_t bytes = 1;
    start_host();
    CHECK(ofl_device_needs(&call, &bytes) == OFL_OK);
    CHECK(bytes >= 3 * size * size * sizeof(double) && bytes < 1 << 20);
    call.operand[1].columns = call.operand[2].columns = call.n = INT64_MAX;
    CHECK(ofl_device_needs(&call, &bytes) == OFL_TOO_LARGE);
}

void test_needs(void **state)
{
    (void)state;
    in_child(look_at_needs);
}

/* Copies of page-locked memory can be timed, and leave nothing behind. */
static void time_copies(void)
{
    double seconds = -1;
    setenv("GPU_OFFLOAD_HOST_COPY_RATE", "1000000000", 1);
    CHECK(ofl_device_time_copy(true, 1 << 20, &seconds) == OFL_NOT_STARTED);
    start_host();
    for (int in = 0; in < 2; in++) {
        CHECK(ofl_device_time_copy(in != 0, 1 << 20, &seconds) == OFL_OK);
        CHECK(seconds >= (1 << 20) / 1.01e9);
    }
    struct ofl_device_load before, after;
    CHECK(ofl_device_load(&before) == OFL_OK);
    CHECK(ofl_device_time_copy(true, (size_t)1 << 60, &seconds) != OFL_OK);
    CHECK(ofl_device_load(&after) == OFL_OK && after.memory_free == before.memory_free);
}

void test_copy_times(void **state)
{
    (void)state;
    in_child(time_copies);
}

/* A device without room for the call, and one with room: what is kept between calls counts as free. */
static void too_little_memory(void)
{
    static struct product product;
    struct ofl_call call = product_call(&product);
    setenv("GPU_OFFLOAD_HOST_MEMORY", "3000", 1);
    start_host();
    CHECK(ofl_device_supports(&call) == OFL_DEVICE_MEMORY);
    CHECK(ofl_device_run(&call, NULL) == OFL_DEVICE_MEMORY && is_multiple(&product, 0));
}

static void enough_memory(void)
{
    static struct product product;
    struct ofl_call call = product_call(&product);
    struct ofl_device_load before, after;
    struct ofl_device_properties properties;
    setenv("GPU_OFFLOAD_HOST_MEMORY", "50000", 1);
    setenv("GPU_OFFLOAD_HOST_UTILISATION", "40", 1);
    setenv("GPU_OFFLOAD_HOST_FLOPS", "1000000", 1);
    start_host();
    CHECK(ofl_device_load(&before) == OFL_OK && before.memory_free == 50000 && before.utilisation == 0.4);
    for (int i = 0; i < 20; i++) {
        CHECK(ofl_device_run(&call, NULL) == OFL_OK);
    }
    CHECK(is_multiple(&product, 20));
    CHECK(ofl_device_load(&after) == OFL_OK && after.memory_free == 50000);
    CHECK(ofl_device_properties(&properties) == OFL_OK && properties.memory_bytes == 50000);
    CHECK(properties.flops_double == 1e6 && properties.flops_single == 2e6);
}

void test_memory(void **state)
{
    (void)state;
    in_child(too_little_memory);
    in_child(enough_memory);
}

/* A signal handler that calls while its thread's own call runs is sent away. */
static atomic_int nested, others;
static volatile bool in_call;

static void call_from_handler(int number)
{
    static struct product product;
    (void)number;
    if (in_call) {
        struct ofl_call call = product_call(&product);
        enum ofl_reason reason = ofl_device_run(&call, NULL);
        nested += reason == OFL_NESTED;
        others += reason != OFL_NESTED && reason != OFL_OK; /* OFL_OK where the call had not begun */
    }
}

static void run_with_handler(void)
{
    static struct product product;
    struct ofl_call call = product_call(&product);
    struct sigaction action = {.sa_handler = call_from_handler};
    struct itimerval interval = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
    int rounds = 0;
    setenv("GPU_OFFLOAD_HOST_COPY_RATE", "20000000", 1); /* the thread is mostly in copies */
    start_host();
    CHECK(ofl_device_run(&call, NULL) == OFL_OK); /* the handler needs no memory any more */
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &interval, NULL) == 0);
    for (; nested < 3; rounds++) {
        in_call = true;
        enum ofl_reason reason = ofl_device_run(&call, NULL);
        in_call = false;
        CHECK(reason == OFL_OK);
    }
    CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0 && others == 0);
    CHECK(is_multiple(&product, rounds + 1));
}

void test_signals(void **state)
{
    (void)state;
    in_child(run_with_handler);
}

/* A thread that is cancelled during its calls leaves the device usable. */
static atomic_bool running;

static void *run_for_ever(void *argument)
{
    struct ofl_call call = product_call(argument);
    for (;;) {
        CHECK(ofl_device_run(&call, NULL) == OFL_OK);
        running = true;
        pthread_testcancel();
    }
}

static void cancel_runs(void)
{
    static struct product product;
    setenv("GPU_OFFLOAD_HOST_COPY_RATE", "20000000", 1); /* so that it is cancelled in a copy */
    start_host();
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        running = false;
        CHECK(pthread_create(&thread, NULL, run_for_ever, &product) == 0);
        while (!running) {
            usleep(1000);
        }
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    struct ofl_call call = product_call(&product);
    CHECK(ofl_device_run(&call, NULL) == OFL_OK && is_multiple(&product, 1));
}

void test_cancelled(void **state)
{
    (void)state;
    in_child(cancel_runs);
}
