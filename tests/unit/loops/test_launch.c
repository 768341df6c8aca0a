/* Launches through <gpu-offload/loops.h>, on the host device. */
#include "base/pack.h"

#include <gpu-offload/loops.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *image;
static int64_t image_length;

/* As the compiler writes it. */
static int read_image(void **state)
{
    (void)state;
    FILE *file = fopen(KERNELS, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char *plain = malloc(bytes), *packed = malloc(ofl_pack_room(bytes));
    assert_int_equal(fread(plain, 1, bytes, file), bytes);
    fclose(file);
    bytes = ofl_pack(plain, bytes, packed);
    image = malloc(2 * bytes);
    image_length = (int64_t)ofl_encode64(packed, bytes, image);
    free(plain);
    free(packed);
    return 0;
}

/* ---- Calls as the launcher makes them ---- */

static int64_t begin(const char *kernel, int64_t first, int64_t last, int64_t step)
{
    int64_t loop, version = OFL_LOOPS_ABI, device = OFL_LOOPS_CUDA_CPU;
    ofl_loops_begin(&loop, &version, "here.f90:1", kernel, &device);
    ofl_loops_index(&loop, &first, &last, &step);
    return loop;
}

/* One dimension, lower bound 1. */
static void object(int64_t *loop, bool write, void *address, int64_t elements, int64_t bytes, int64_t stride,
                   int64_t form)
{
    CFI_CDESC_T(1) storage = {.base_addr = address, .elem_len = (size_t)bytes, .rank = 1};
    const int64_t lower = 1, offset = 0;
    storage.dim[0] = (CFI_dim_t){0, elements, stride};
    (write ? ofl_loops_write : ofl_loops_read)(loop, (CFI_cdesc_t *)&storage, &lower, &bytes, &offset, &form, "x");
}

static void variable(int64_t *loop, void *address, int64_t bytes)
{
    CFI_CDESC_T(0) storage = {.base_addr = address, .elem_len = (size_t)bytes};
    const int64_t lower = 0, offset = 0, form = 0;
    ofl_loops_write(loop, (CFI_cdesc_t *)&storage, &lower, &bytes, &offset, &form, "s");
}

static void run(int64_t *loop, int64_t needs, int64_t stop[OFL_LOOPS_STOP_WORDS])
{
    static const int64_t identity = 7;
    char text[OFL_LOOPS_STOP_TEXT];
    ofl_loops_run(loop, &needs, image, &image_length, &identity, stop, text);
    assert_int_equal(*loop, 0);
}

/* ---- Tests ---- */

static void fill(double *x, int64_t first, int64_t last, int64_t step, bool whole, int64_t form)
{
    static const int64_t subscript[] = {1, 0};
    int64_t stop[OFL_LOOPS_STOP_WORDS], loop = begin("fill", first, last, step);
    object(&loop, true, x, 1000, 8, 8, form);
    if (whole) {
        ofl_loops_whole(&loop, subscript);
    }
    run(&loop, 0, stop);
    assert_int_equal(stop[OFL_LOOPS_STOP_KIND], 0);
}

static void writes_its_section_only(void **state)
{
    static const int64_t limits[][3] = {{1, 1000, 1}, {1000, 1, -1},  {17, 18, 1}, {3, 999, 4},
                                        {10, 9, 1},   {900, 100, -7}, {5, 5, 1}};
    double x[1002];
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (int form = 0; form < 3; form++) {
            for (int k = 0; k < 1002; k++) {
                x[k] = -1;
            }
            fill(x + 1, limits[i][0], limits[i][1], limits[i][2], form > 0, form == 2 ? OFL_LOOPS_UNREAD : 0);
            double expected[1002];
            for (int k = 0; k < 1002; k++) {
                expected[k] = -1;
            }
            for (int64_t k = limits[i][0]; limits[i][2] > 0 ? k <= limits[i][1] : k >= limits[i][1];
                 k += limits[i][2]) {
                expected[k] = 2 * (double)k;
            }
            assert_memory_equal(x, expected, sizeof x);
        }
    }
}

static void masks_and_reduces(void **state)
{
    enum { elements = 300000 };
    double *x = malloc(elements * sizeof *x), s = 0.5, expected = 0;
    (void)state;
    for (int i = 0; i < elements; i++) {
        x[i] = i % 3 == 0 ? -1 : 2;
        expected += i % 3 == 0 ? 0 : 2;
    }
    const int64_t reduced = 1, bytes = 8, one = 1;
    int64_t stop[OFL_LOOPS_STOP_WORDS], loop = begin("sum", 1, elements, 1);
    object(&loop, true, x, elements, 8, 8, 0);
    variable(&loop, &s, 8);
    ofl_loops_reduction(&loop, &reduced, &bytes, &one);
    run(&loop, OFL_LOOPS_MASK, stop);
    assert_true(s == expected + 0.5);
    for (int i = 0; i < elements; i++) {
        assert_true(x[i] == (i % 3 == 0 ? -1 : -2));
    }
    free(x);
}

static void stops_like_the_first_iteration(void **state)
{
    int x[1000] = {0}, limit = 123;
    const int64_t bytes = 4;
    int64_t stop[OFL_LOOPS_STOP_WORDS], loop = begin("stops", 1, 1000, 1);
    (void)state;
    object(&loop, true, x, 1000, 4, 4, 0);
    ofl_loops_scalar(&loop, &limit, &bytes);
    run(&loop, OFL_LOOPS_STATUS, stop);
    assert_int_equal(stop[OFL_LOOPS_STOP_KIND], 2);
    assert_int_equal(stop[OFL_LOOPS_STOP_CODE], 1123);
    assert_int_equal(x[0], 0); /* the program ends */
}

static void gets_the_workspace_it_needs(void **state)
{
    static const int64_t needs[] = {100, 5000, 100000};
    const int64_t bytes = 8;
    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        int x[300] = {0};
        int64_t stop[OFL_LOOPS_STOP_WORDS], loop = begin("works", 1, 300, 1);
        object(&loop, true, x, 300, 4, 4, 0);
        ofl_loops_scalar(&loop, &needs[i], &bytes);
        run(&loop, OFL_LOOPS_WORKSPACE, stop);
        assert_int_equal(stop[OFL_LOOPS_STOP_KIND], 0);
        for (int k = 0; k < 300; k++) {
            assert_int_equal(x[k], needs[i]);
        }
    }
}

enum { columns = 4, rounds = 50 };
static double matrix[1000 * columns];

/* Fills a row that interleaves with those of the others. */
static void *fill_row(void *argument)
{
    int64_t row = *(int64_t *)argument;
    for (int i = 0; i < rounds; i++) {
        int64_t stop[OFL_LOOPS_STOP_WORDS], loop = begin("fill", 1, 1000, 1);
        object(&loop, true, matrix + row, 1000, 8, 8 * columns, 0);
        run(&loop, 0, stop);
        for (int k = 0; k < 1000; k++) {
            if (matrix[row + k * columns] != 2.0 * (k + 1)) {
                return "wrong";
            }
            matrix[row + k * columns] = -1;
        }
    }
    return NULL;
}

static void threads_share_an_array(void **state)
{
    pthread_t threads[columns];
    int64_t rows[columns];
    (void)state;
    for (int i = 0; i < columns; i++) {
        rows[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, fill_row, &rows[i]), 0);
    }
    for (int i = 0; i < columns; i++) {
        void *why;
        pthread_join(threads[i], &why);
        assert_null(why);
    }
}

/* How a child that launches a loop ends, and what it says. */
static int child_status(char *text, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        double x[1000];
        dup2(ends[1], 2);
        fill(x, 1, 1000, 1, true, 0);
        _exit(x[999] == 2000 ? 0 : 9);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], text, size - 1);
    text[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* First: this process has not started the device. */
static void child_starts_its_own_device(void **state)
{
    char text[1000];
    (void)state;
    assert_int_equal(child_status(text, sizeof text), 0);
}

/* Last: it has. */
static void child_cannot_use_its_parents_device(void **state)
{
    char text[1000];
    (void)state;
    assert_int_equal(child_status(text, sizeof text), 1);
    assert_non_null(strstr(text, "here.f90:1: Error: "));
    assert_non_null(strstr(text, "a child of the process that started it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(child_starts_its_own_device),
                                       cmocka_unit_test(writes_its_section_only),
                                       cmocka_unit_test(masks_and_reduces),
                                       cmocka_unit_test(stops_like_the_first_iteration),
                                       cmocka_unit_test(gets_the_workspace_it_needs),
                                       cmocka_unit_test(threads_share_an_array),
                                       cmocka_unit_test(child_cannot_use_its_parents_device)};
    setenv("GPU_OFFLOAD_SMALL_PIECES", "1", 1);
    return cmocka_run_group_tests_name("loops.launch", tests, read_image, NULL);
}
