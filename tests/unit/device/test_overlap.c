/* ofl_buffers_overlap against a map of the bytes. */
#include "tests.h"

enum { bytes = 4096 };

static unsigned random_state = 7;

static int random_below(int limit)
{
    random_state = random_state * 1103515245u + 12345u;
    return (int)((random_state >> 16) % (unsigned)limit);
}

static struct ofl_buffer random_buffer(char *memory, int64_t ld, uint32_t element_size)
{
    struct ofl_buffer buffer = {
        .rows = 1 + random_below((int)ld), .columns = 1 + random_below(5), .ld = ld, .element_size = element_size};
    buffer.address = memory + random_below(600) / (int)element_size * (int)element_size;
    return buffer;
}

static void mark(const struct ofl_buffer *buffer, const char *memory, char *map)
{
    for (int64_t j = 0; j < buffer->columns; j++) {
        size_t at = (size_t)((const char *)buffer->address - memory) + (size_t)(j * buffer->ld) * buffer->element_size;
        for (size_t i = 0; i < (size_t)buffer->rows * buffer->element_size; i++) {
            map[at + i]++;
        }
    }
}

static bool really_overlap(const struct ofl_buffer *a, const struct ofl_buffer *b, const char *memory)
{
    char map[bytes] = {0};
    mark(a, memory, map);
    mark(b, memory, map);
    return memchr(map, 2, sizeof map) != NULL;
}

void test_overlap(void **state)
{
    static char memory[bytes];
    long overlapping = 0, disjoint = 0;
    (void)state;
    for (int round = 0; round < 200000; round++) {
        int64_t ld = 1 + random_below(20);
        struct ofl_buffer a = random_buffer(memory, ld, 4), b = random_buffer(memory, ld, 4);
        bool real = really_overlap(&a, &b, memory);
        assert_int_equal(ofl_buffers_overlap(&a, &b), real);
        assert_int_equal(ofl_buffers_overlap(&b, &a), real);
        overlapping += real;
        disjoint += !real;
        /* other leading dimensions: never a false "disjoint", exact where one is contiguous */
        b = random_buffer(memory, 1 + random_below(20), 4);
        real = really_overlap(&a, &b, memory);
        if (a.columns == 1 || b.columns == 1 || a.ld == a.rows || b.ld == b.rows) {
            assert_int_equal(ofl_buffers_overlap(&a, &b), real);
        } else {
            assert_true(!real || ofl_buffers_overlap(&a, &b));
        }
    }
    assert_true(overlapping > 1000 && disjoint > 1000);
}

/* Sizes whose products exceed 64 bits, and nothing at all. */
void test_overlap_extremes(void **state)
{
    (void)state;
    struct ofl_buffer a = {(void *)4096, 8, INT64_C(1) << 40, INT64_C(1) << 40, 16, OFL_READ, OFL_GENERAL}, b = a;
    b.address = (char *)a.address + 8 * 16;
    assert_false(ofl_buffers_overlap(&a, &b));
    b.address = (char *)a.address + 7 * 16;
    assert_true(ofl_buffers_overlap(&a, &b));
    b.rows = 0;
    assert_false(ofl_buffers_overlap(&a, &b));
}
