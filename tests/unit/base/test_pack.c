/* Packing: what is unpacked is what was packed, and damage does no harm. */
#include "base/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Bytes that repeat themselves more or less. */
static unsigned char *make(size_t bytes, unsigned letters)
{
    unsigned char *made = malloc(bytes + 1);
    assert_non_null(made);
    for (size_t i = 0; i < bytes;) {
        size_t run = 1 + next() % 40, from = i > 0 ? next() % i : 0;
        bool repeat = i > 0 && next() % 3 == 0;
        for (size_t k = 0; k < run && i < bytes; k++, i++) {
            made[i] = repeat ? made[from + k] : (unsigned char)(next() % letters);
        }
    }
    return made;
}

static size_t pack_and_compare(const unsigned char *bytes, size_t size)
{
    unsigned char *packed = malloc(ofl_pack_room(size)), *back = malloc(size + 1);
    size_t stored = 0, length = ofl_pack(bytes, size, packed);
    assert_true(length <= ofl_pack_room(size));
    assert_true(ofl_is_packed(packed, length, &stored));
    assert_int_equal(stored, size);
    assert_true(ofl_unpack(packed, length, back, size));
    assert_memory_equal(back, bytes, size);
    free(packed);
    free(back);
    return length;
}

static void comes_back(void **unused)
{
    (void)unused;
    for (size_t size = 0; size < 300; size++) {
        unsigned char *bytes = make(size, 2 + (unsigned)size % 7);
        pack_and_compare(bytes, size);
        free(bytes);
    }
    for (int i = 0; i < 20; i++) {
        size_t size = 1000 + next() % 200000;
        unsigned char *bytes = make(size, 1 + next() % 256);
        pack_and_compare(bytes, size);
        free(bytes);
    }
}

static void gets_smaller(void **unused)
{
    enum { size = 100000 };
    unsigned char *bytes = malloc(size);
    (void)unused;
    memset(bytes, 'a', size);
    assert_true(pack_and_compare(bytes, size) < size / 200);
    for (int i = 0; i < size; i++) {
        bytes[i] = "ld.global.f64 %fd12, [%rd34+56];\n"[i % 33];
    }
    assert_true(pack_and_compare(bytes, size) < size / 100);
    free(bytes);
}

static void damage_is_noticed_or_harmless(void **unused)
{
    enum { size = 5000 };
    unsigned char *bytes = make(size, 5), *packed = malloc(ofl_pack_room(size));
    size_t length = ofl_pack(bytes, size, packed), stored;
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        unsigned char *copy = malloc(length),
                      *back = malloc(size); /* exact, so that a sanitizer sees what is outside */
        size_t cut = i % 3 == 0 ? next() % (length + 1) : length;
        memcpy(copy, packed, length);
        for (unsigned k = next() % 4; k > 0; k--) {
            copy[OFL_PACK_HEADER + next() % (length - OFL_PACK_HEADER)] ^= (unsigned char)(1u << next() % 8);
        }
        if (ofl_is_packed(copy, cut, &stored)) {
            ofl_unpack(copy, cut, back, size);
        }
        free(copy);
        free(back);
    }
    assert_false(ofl_is_packed("\177ELF and so on ..", 16, &stored));
    free(bytes);
    free(packed);
}

static void texts_come_back(void **unused)
{
    (void)unused;
    for (size_t size = 0; size < 200; size++) {
        unsigned char *bytes = make(size, 256), *back = malloc(size + 1);
        char *text = malloc((4 * size + 2) / 3 + 1);
        size_t length = ofl_encode64(bytes, size, text);
        assert_int_equal(length, (4 * size + 2) / 3);
        assert_true(ofl_decode64(text, length, back));
        assert_memory_equal(back, bytes, size);
        if (length > 0) {
            text[next() % length] = "'& \n"[size % 4];
            assert_false(ofl_decode64(text, length, back));
        }
        free(bytes);
        free(back);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(gets_smaller),
                                       cmocka_unit_test(damage_is_noticed_or_harmless),
                                       cmocka_unit_test(texts_come_back)};
    return cmocka_run_group_tests_name("base.pack", tests, NULL, NULL);
}
