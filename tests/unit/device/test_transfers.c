/* The transfer pipeline: cutting, gathering and scattering of pieces; helpers in the life of a process; page-locked
 * memory that cannot be had.  Tests that start a device are processes of their own. */
#include "tests.h"
#include "device/host_memory.h"
#include "device/pieces.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Every stored element is gathered and scattered exactly once, and nothing else is touched. */
static void check_pieces(int64_t rows, int64_t columns, int64_t ld, enum ofl_region region, size_t bytes)
{
    enum { most = 4096 };
    static uint16_t from[most], to[most], packed[most];
    struct ofl_buffer source = {from, rows, columns, ld, sizeof *from, OFL_READ, region};
    struct ofl_buffer result = {to, rows, columns, ld, sizeof *to, OFL_WRITE, region};
    struct ofl_cut cut = ofl_cut_buffer(&source, bytes);
    for (int i = 0; i < most; i++) {
        from[i] = (uint16_t)(i + 1);
        to[i] = 0;
    }
    for (int64_t at = 0; at < cut.count; at++) {
        struct ofl_piece piece = ofl_piece_at(&source, &cut, at);
        size_t pitch = (size_t)piece.rows * sizeof *from, size = ofl_piece_bytes(&source, &piece);
        assert_true(size <= (bytes > sizeof *from ? bytes : sizeof *from));
        assert_true(piece.columns > 0 && (piece.rows == 0 || (piece.rows > 0 && piece.row + piece.rows <= rows)));
        memset(packed, 0xff, sizeof packed);
        if (piece.rows > 0) {
            ofl_piece_gather(&source, &piece, (char *)packed, pitch);
            ofl_piece_scatter(&result, &piece, (const char *)packed, pitch);
        }
        assert_true(packed[size / sizeof *packed] == 0xffff);
    }
    for (int i = 0; i < most; i++) {
        int64_t row = i % ld, column = i / ld;
        bool stored = row < rows && column < columns && (region != OFL_UPPER || row <= column) &&
                      (region != OFL_LOWER || row >= column);
        assert_int_equal(to[i], stored ? from[i] : 0);
    }
}

void test_pieces(void **state)
{
    static const int64_t shapes[][3] = {{7, 9, 7},    {7, 9, 8},    {1, 40, 3},  {40, 1, 50},
                                        {23, 23, 23}, {23, 11, 30}, {11, 23, 12}};
    static const size_t sizes[] = {1, 2, 6, 14, 16, 32, 100, 1000, 8000};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            for (int region = OFL_GENERAL; region <= OFL_LOWER; region++) {
                check_pieces(shapes[i][0], shapes[i][1], shapes[i][2], (enum ofl_region)region, sizes[j]);
            }
        }
    }
    struct ofl_buffer empty = {NULL, 0, 5, 1, 8, OFL_READ, OFL_GENERAL};
    assert_int_equal(ofl_cut_buffer(&empty, 100).count, 0);
    /* Neither counts nor sizes of huge operands overflow. */
    struct ofl_buffer huge = {NULL, INT64_C(1) << 30, INT64_C(1) << 30, INT64_C(1) << 30, 8, OFL_READ, OFL_GENERAL};
    struct ofl_cut cut = ofl_cut_buffer(&huge, 2 << 20);
    assert_true(cut.down == 4096 && cut.count == cut.down << 30);
    struct ofl_piece last = ofl_piece_at(&huge, &cut, cut.count - 1);
    assert_true(last.column == huge.columns - 1 && last.row + last.rows == huge.rows);
}

enum { size = 48, helpers = 3 };

struct product {
    double a[size * size], b[size * size], c[size * size];
};

/* C = A * identity, or C += it. */
static struct ofl_call product_call(struct product *product, double beta)
{
    struct ofl_call call = {.operation = OFL_OP_gemm,
                            .precision = OFL_D,
                            .transa = 'N',
                            .transb = 'N',
                            .m = size,
                            .n = size,
                            .k = size,
                            .alpha.d = 1,
                            .beta.d = beta,
                            .operands = 3};
    double *const matrices[] = {product->a, product->b, product->c};
    for (int i = 0; i < 3; i++) {
        call.operand[i] =
            (struct ofl_buffer){matrices[i], size, size, size, sizeof(double), i < 2 ? OFL_READ : OFL_ADD, OFL_GENERAL};
    }
    for (int i = 0; i < size * size; i++) {
        product->a[i] = i % 13;
        product->b[i] = i % size == i / size;
        product->c[i] = 0;
    }
    return call;
}

static bool is_product(const struct product *product, int factor)
{
    bool same = true;
    for (int i = 0; i < size * size; i++) {
        same = same && product->c[i] == factor * product->a[i];
    }
    return same;
}

static _Thread_local bool is_helper;
static atomic_int marked, handled_by_helper;

static void mark_thread(void)
{
    is_helper = true;
    marked++;
}

static void start_host(void)
{
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("GPU_OFFLOAD_SMALL_PIECES", "1", 1);
    setenv("GPU_OFFLOAD_STAGING_THREADS", "3", 1);
    ofl_device_on_thread(mark_thread);
    CHECK(ofl_device_start() == OFL_OK);
}

static void handle(int number)
{
    (void)number;
    handled_by_helper += is_helper;
}

static int threads_of_this_process(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder != NULL);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

/* Helpers come with the first call, carry the mark, are no more than asked for, and get no signals. */
static void use_helpers(void)
{
    static struct product product;
    sigset_t set, pending;
    int before;
    start_host();
    signal(SIGUSR1, handle);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    struct ofl_call call = product_call(&product, 1);
    CHECK(ofl_device_run(&call, NULL) == OFL_OK);
    before = threads_of_this_process();
    for (int i = 0; marked < helpers && i < 5000; i++) {
        usleep(1000);
    }
    CHECK(marked == helpers && before >= 1 + helpers); /* a sanitizer may have threads, too */
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    for (int i = 2; i <= 100; i++) {
        CHECK(ofl_device_run(&call, NULL) == OFL_OK && is_product(&product, i));
    }
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1 && handled_by_helper == 0);
    CHECK(marked == helpers && threads_of_this_process() == before);
}

void test_helpers(void **state)
{
    (void)state;
    in_child(use_helpers);
}

static atomic_bool done;

static void *run_until_done(void *argument)
{
    struct ofl_call call = product_call(argument, 0);
    while (!done) {
        CHECK(ofl_device_run(&call, NULL) == OFL_OK && is_product(argument, 1));
    }
    return NULL;
}

/* Children made in the middle of calls are without a device, do not hang, and leave the parent's calls alone. */
static void fork_during_calls(void)
{
    static struct product products[2], mine;
    pthread_t threads[2];
    start_host();
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_until_done, &products[i]) == 0);
    }
    for (int i = 0; i < 40; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            struct ofl_call call = product_call(&mine, 0);
            alarm(20);
            ofl_device_after_fork_in_child();
            _exit(ofl_device_run(&call, NULL) == OFL_FORKED ? 0 : 1);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    done = true;
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

void test_fork_during_calls(void **state)
{
    (void)state;
    in_child(fork_during_calls);
}

/* Without page-locked memory, from the start or later, copies go straight. */
static void go_without(void)
{
    static struct product product;
    start_host();
    for (int i = 0; i < 20; i++) {
        struct ofl_call call = product_call(&product, i % 2);
        CHECK(ofl_device_run(&call, NULL) == OFL_OK && is_product(&product, 1));
    }
}

void test_without_locked_memory(void **state)
{
    static const char *const faults[] = {"allocate:2+", "allocate:3+", "allocate:5+"};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        setenv("GPU_OFFLOAD_HOST_FAULTS", faults[i], 1);
        in_child(go_without);
    }
    unsetenv("GPU_OFFLOAD_HOST_FAULTS");
}

/* What no machine has is not asked for. */
void test_host_memory(void **state)
{
    (void)state;
    assert_true(ofl_host_memory_suffices(1 << 20));
    assert_false(ofl_host_memory_suffices(SIZE_MAX / 4));
}
