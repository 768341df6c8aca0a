/* Regions, sections and the number of iterations: pure functions of src/loops. */
#include "loops/internal.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void counts_iterations(void **state)
{
    static const int64_t cases[][4] = {
        {1, 10, 1, 10},
        {1, 10, 3, 4},
        {10, 1, -3, 4},
        {1, 0, 1, 0},
        {0, 1, -1, 0},
        {5, 5, -9, 1},
        {1, INT64_MAX, 1, INT64_MAX},
        {0, INT64_MAX, 1, -1},
        {INT64_MIN, INT64_MAX, 1, -1},
        {INT64_MIN, INT64_MAX, INT64_MAX, 3},
        {INT64_MAX, INT64_MIN, INT64_MIN, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ofl_loop_count(cases[i][0], cases[i][1], cases[i][2]), cases[i][3]);
    }
}

static void partials_end(void **state)
{
    static const int64_t trips[] = {1, 2, 63, 64, 65, 4096, 262144, 262145, (int64_t)1 << 40};
    (void)state;
    for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
        int64_t count = ofl_loop_partials(trips[i], 8);
        int steps = 0;
        assert_true(count >= 1 && count <= trips[i]);
        for (; count > 1; steps++) {
            int64_t fewer = ofl_loop_fewer_partials(count);
            assert_true(fewer >= 1 && fewer < count);
            count = fewer;
        }
        assert_true(steps <= 3);
    }
    assert_int_equal(ofl_loop_partials(1000, (uint64_t)1 << 40), 1);
}

/* A matrix of 8-byte elements, lower bounds 1. */
static struct ofl_loop_object matrix(uintptr_t address, int64_t rows, int64_t columns, int64_t ld, bool written)
{
    struct ofl_loop_object object = {.rank = 2,
                                     .element_bytes = 8,
                                     .begin = address,
                                     .end = address + (uintptr_t)(8 * (ld * (columns - 1) + rows)),
                                     .zero = address - 8 - (uintptr_t)(8 * ld),
                                     .stride = {8, 8 * ld},
                                     .lower = {1, 1},
                                     .extent = {rows, columns},
                                     .read = true,
                                     .written = written};
    return object;
}

static void finds_regions(void **state)
{
    struct ofl_loop_object objects[] = {matrix(0x9000, 4, 4, 4, false), matrix(0x1000, 10, 10, 10, true),
                                        matrix(0x1008, 9, 3, 10, false), matrix(0x8000, 4, 4, 4, false)};
    struct ofl_loop loop = {.objects = objects, .object_count = 4};
    struct ofl_kernel_region regions[4];
    (void)state;
    assert_int_equal(ofl_loop_regions(&loop, regions), 3);
    assert_int_equal((uintptr_t)regions[0].address, 0x1000);
    assert_int_equal(regions[0].bytes, 800);
    assert_true(regions[0].compared && regions[0].read);
    assert_int_equal(regions[0].unit, 8);
    assert_false(regions[1].compared);
    assert_int_equal((uintptr_t)regions[2].address, 0x9000);
    regions[0].device = (void *)0x70000;
    ofl_loop_place(&objects[2], regions, 3);
    assert_int_equal(objects[2].origin, 0x70008 - 8 - 80);
}

/* A loop over i = 2, 9 and j = 1, 10 that fills x(i, j). */
static struct ofl_loop_object whole_matrix(uintptr_t address)
{
    struct ofl_loop_object object = matrix(address, 10, 10, 12, true);
    object.whole = true;
    object.read = false;
    object.subscript[0] = (struct ofl_loop_subscript){0, 0};
    object.subscript[1] = (struct ofl_loop_subscript){1, 0};
    return object;
}

static void finds_sections(void **state)
{
    struct ofl_loop_object object = whole_matrix(0x1000);
    struct ofl_loop loop = {
        .objects = &object, .object_count = 1, .index = {{9, -1, 8}, {1, 1, 10}}, .index_count = 2, .trips = 80};
    struct ofl_kernel_region region;
    size_t count;
    (void)state;
    assert_int_equal(ofl_loop_regions(&loop, &region), 1);
    assert_true(!region.compared && !region.read);
    struct ofl_kernel_section *list = ofl_loop_sections(&loop, &region, 1, &count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].offset, 8);
    assert_int_equal(list[0].width, 64);
    assert_int_equal(list[0].pitch, 96);
    assert_int_equal(list[0].columns, 10);
    free(list);

    object.extent[0] = 8; /* i = 9 is out of bounds: nothing is known then */
    assert_int_equal(ofl_loop_regions(&loop, &region), 1);
    assert_true(region.compared && region.read);

    object = whole_matrix(0x1000);
    loop.index[0] = (struct ofl_loop_index){1, 2, 4}; /* short runs are compared */
    assert_int_equal(ofl_loop_regions(&loop, &region), 1);
    assert_true(region.compared);
    list = ofl_loop_sections(&loop, &region, 1, &count);
    assert_int_equal(count, 0);
    free(list);
}

/* What is written in an unknown way makes the region that it shares compared. */
static void comparing_spreads(void **state)
{
    struct ofl_loop_object objects[] = {whole_matrix(0x1000), matrix(0x1010, 2, 2, 12, true)};
    struct ofl_loop loop = {
        .objects = objects, .object_count = 2, .index = {{1, 1, 10}, {1, 1, 10}}, .index_count = 2, .trips = 100};
    struct ofl_kernel_region regions[2];
    size_t count;
    (void)state;
    assert_int_equal(ofl_loop_regions(&loop, regions), 1);
    assert_true(regions[0].compared && regions[0].read);
    struct ofl_kernel_section *list = ofl_loop_sections(&loop, regions, 1, &count);
    assert_int_equal(count, 0);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_iterations), cmocka_unit_test(partials_end),
                                       cmocka_unit_test(finds_regions), cmocka_unit_test(finds_sections),
                                       cmocka_unit_test(comparing_spreads)};
    return cmocka_run_group_tests_name("loops.regions", tests, NULL, NULL);
}
