/* Operands that stay on the device: what is kept when, what is copied again, what is given up; and selections of
 * pieces.  That nothing is ever stale is tests/residency's business.  Each test that starts a device is a process. */
#include "tests.h"
#include "device/pieces.h"

#include <sys/mman.h>
#include <sys/wait.h>

/* Everything that a run of bytes touches is selected, in pieces that are not too long. */
static void check_selection(int64_t rows, int64_t columns, int64_t ld, uintptr_t begin, uintptr_t end)
{
    enum { base = 1 << 20, size = 8 };
    struct ofl_buffer buffer = {(void *)base, rows, columns, ld, size, OFL_READ, OFL_GENERAL};
    struct ofl_selection selection = ofl_selection_of(&buffer);
    int64_t view_rows = selection.view.rows;
    uintptr_t middle = begin + (end - begin) / 2;
    assert_true(ofl_selection_add(&selection, base + begin, base + middle));
    assert_true(ofl_selection_add(&selection, base + middle, base + end));
    char *selected = calloc((size_t)(rows * columns), 1);
    for (int64_t i = 0; i < selection.count; i++) {
        const struct ofl_piece *piece = &selection.piece[i];
        assert_true(piece->rows > 0 && piece->columns > 0);
        assert_true(ofl_piece_bytes(&selection.view, piece) <= OFL_SELECTED_BYTES);
        for (int64_t j = piece->column; j < piece->column + piece->columns; j++) {
            for (int64_t k = piece->row; k < piece->row + piece->rows; k++) {
                assert_true(k < view_rows && j < selection.view.columns);
                selected[j * (selection.view.columns == 1 ? 0 : rows) + k] = 1;
            }
        }
    }
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            uintptr_t first = (uintptr_t)(i + j * ld) * size;
            assert_true(selected[j * rows + i] || begin == end || first >= end || first + size <= begin);
        }
    }
    free(selected);
    ofl_selection_free(&selection);
}

void test_selections(void **state)
{
    static const int64_t shapes[][3] = {{10, 7, 10}, {10, 7, 13}, {1, 30, 5}, {40, 1, 60}, {70000, 2, 70001}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *shape = shapes[i];
        uintptr_t all = (uintptr_t)((shape[1] - 1) * shape[2] + shape[0]) * 8;
        for (int j = 0; j < 40; j++) {
            uintptr_t begin = all * (uintptr_t)(j % 7) / 9 + (uintptr_t)j;
            check_selection(shape[0], shape[1], shape[2], begin, begin + (uintptr_t)(j * j * 3));
        }
        check_selection(shape[0], shape[1], shape[2], 0, all);
    }
}

enum { side = 128, square = side * side, page = 4096 };

struct matrices {
    double a[square], b[square], c[square];
};

static struct matrices *m; /* on pages of its own */

static void start(const char *residency)
{
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
    setenv("GPU_OFFLOAD_SMALL_PIECES", "1", 1); /* small operands count */
    setenv("GPU_OFFLOAD_RESIDENCY", residency, 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(m != MAP_FAILED);
    for (int i = 0; i < square; i++) {
        m->a[i] = i % 13;
        m->b[i] = i % side == i / side;
    }
    CHECK(ofl_device_start() == OFL_OK);
}

/* C = A B. */
static struct ofl_call product(double *a, double *b, double *c)
{
    struct ofl_call call = {.operation = OFL_OP_gemm,
                            .precision = OFL_D,
                            .transa = 'N',
                            .transb = 'N',
                            .m = side,
                            .n = side,
                            .k = side,
                            .alpha.d = 1,
                            .operands = 3};
    double *const matrices[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        call.operand[i] =
            (struct ofl_buffer){matrices[i], side, side, side, sizeof(double), i < 2 ? OFL_READ : OFL_ADD, OFL_GENERAL};
    }
    return call;
}

/* C = A B, with a new B each time: only A repeats.  Returns the bytes that were copied in. */
static uint64_t multiply(void)
{
    static int calls;
    struct ofl_device_times times;
    struct ofl_call call = product(m->a, m->b, m->c);
    calls++;
    for (int i = 0; i < side; i++) {
        m->b[i * side + i] = calls;
    }
    CHECK(ofl_device_run(&call, &times) == OFL_OK);
    for (int i = 0; i < square; i++) {
        CHECK(m->c[i] == calls * m->a[i]);
    }
    return times.bytes_in;
}

static struct ofl_residency_counts counts(void)
{
    struct ofl_residency_counts now;
    ofl_device_residency_counts(&now);
    return now;
}

static bool works(void)
{
    if (!counts().works) {
        puts("this kernel cannot tell what was written: not tested");
    }
    return counts().works;
}

/* Seen, tried, kept, used; one written page is one page copied; rewritten, it is given up and left alone. */
static void keep_what_repeats(void)
{
    const uint64_t one = square * sizeof(double);
    start("auto");
    if (!works()) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        CHECK(multiply() == 2 * one);
    }
    CHECK(counts().kept == 1 && counts().uses == 0 && counts().bytes_now == one);
    CHECK(multiply() == one && counts().uses == 1 && counts().bytes_spared == one);
    m->a[page / sizeof(double) * 3 + 5] = 7;
    CHECK(multiply() == one + page);
    CHECK(multiply() == one);
    for (int i = 0; i < square; i++) {
        m->a[i] += 1;
    }
    CHECK(multiply() == 2 * one && counts().bytes_now == 0);
    /* Now it repeats again, but not at once. */
    CHECK(multiply() == 2 * one && multiply() == 2 * one && multiply() == 2 * one);
    for (int i = 0; i < 10; i++) {
        multiply();
    }
    CHECK(multiply() == one && counts().kept == 2);
    /* The program's mapping is one still: it may be moved. */
    struct matrices *moved = mremap(m, sizeof *m, sizeof *m + 64 * sizeof *m, MREMAP_MAYMOVE);
    CHECK(moved != MAP_FAILED);
    m = moved;
    multiply();
}

/* The same values written again and again look like repetition: tried less and less. */
static void leave_what_is_rewritten(void)
{
    start("auto");
    for (int i = 0; i < 60; i++) {
        for (int j = 0; j < square; j++) {
            m->a[j] = j % 13;
        }
        multiply();
    }
    CHECK(counts().kept == 0);
}

static void keep_nothing(void)
{
    start("off");
    for (int i = 0; i < 6; i++) {
        CHECK(multiply() == 2 * square * sizeof(double));
    }
    CHECK(!counts().works && counts().kept == 0);
}

/* Results stay too, and copies make room for each other and for calls. */
static void keep_all(void)
{
    const uint64_t one = square * sizeof(double);
    setenv("GPU_OFFLOAD_HOST_MEMORY", "1500000", 1); /* for eleven matrices: copies take five */
    start("always");
    if (!works()) {
        return;
    }
    multiply();
    CHECK(counts().bytes_now == 3 * one);
    double *others = mmap(NULL, 8 * one, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(others != MAP_FAILED);
    memcpy(others, m->b, one);
    for (int i = 0; i < 7; i++) { /* each result is read next, as it was computed */
        struct ofl_call call = product(m->a, others + i * square, others + (i + 1) * square);
        struct ofl_device_times times;
        CHECK(ofl_device_run(&call, &times) == OFL_OK);
        CHECK(times.bytes_in == (i == 0 ? one : 0));
        CHECK(counts().bytes_now <= 5 * one);
    }
}

/* A child that had no device of its parent's starts afresh; one that had stays on the CPU, without descriptors. */
static void fork_children(void)
{
    start("always");
    ofl_device_before_fork();
    multiply();
    pid_t child = fork();
    if (child == 0) {
        ofl_device_after_fork_in_child();
        _exit(counts().kept == 0 && counts().bytes_now == 0 && ofl_device_state() == OFL_FORKED ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    ofl_device_after_fork_in_parent();
    multiply();
}

void test_residency(void **state)
{
    (void)state;
    in_child(keep_what_repeats);
    in_child(leave_what_is_rewritten);
    in_child(keep_nothing);
    in_child(keep_all);
    in_child(fork_children);
}
