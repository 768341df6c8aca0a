/* Whatever a trace file holds, reading it ends with safe records or with a line that says why not. */
#include "trace.h"

#include <sys/stat.h>

static void write_some(const char *folder)
{
    start(folder);
    write_numbers(600);
    ofl_trace_kernel(1, "kernel");
    ofl_trace_stop();
}

/* The bytes of a good trace of 600 records. */
static char *good_trace(size_t *length)
{
    char folder[64], path[256];
    struct stat status;
    make_folder(folder);
    assert_int_equal(in_child(write_some, folder), 0);
    only_trace(folder, path, sizeof path);
    assert_int_equal(stat(path, &status), 0);
    *length = (size_t)status.st_size;
    char *data = malloc(*length);
    FILE *file = fopen(path, "rb");
    if (file == NULL || data == NULL) {
        abort();
    }
    assert_int_equal(fread(data, 1, *length, file), *length);
    fclose(file);
    remove_folder(folder);
    return data;
}

/* Reads data to its end; how many records, or -1 if it was refused. */
static long count_records(const char *data, size_t length)
{
    char explanation[256] = "";
    struct ofl_trace_record record;
    long count = 0;
    FILE *stream = length > 0 ? fmemopen((void *)data, length, "rb") : fopen("/dev/null", "rb");
    struct ofl_trace_reader *reader = ofl_trace_open_stream(stream, explanation, sizeof explanation);
    if (reader == NULL) {
        assert_true(explanation[0] != '\0');
        return -1;
    }
    while (ofl_trace_next(reader, &record)) {
        assert_true(record.operation <= OFL_OPERATION_COUNT && record.reason < OFL_REASON_COUNT);
        assert_true(record.buffers <= OFL_TRACE_BUFFERS && record.precision < OFL_PRECISION_COUNT);
        count++;
    }
    ofl_trace_close(reader);
    return count;
}

void test_truncated(void **state)
{
    (void)state;
    size_t length;
    char *data = good_trace(&length);
    assert_int_equal(count_records(data, length), 601);
    long last = -1;
    /* Every byte of the header's fields and of some records, and every 97th elsewhere. */
    for (size_t cut = 0; cut < length; cut += cut < 6000 || (cut > 65000 && cut < 67000) ? 1 : 97) {
        long count = count_records(data, cut);
        assert_true(count <= 601 && (cut < sizeof(struct ofl_trace_header)) == (count < 0));
        /* A cut-off copy of a window loses records, never invents them. */
        assert_true(count >= -1);
        last = count > last ? count : last;
    }
    assert_true(last >= 600);
    free(data);
}

void test_random_damage(void **state)
{
    (void)state;
    size_t length;
    char *data = good_trace(&length), *damaged = malloc(length);
    unsigned seed = 12345;
    for (int round = 0; round < 300; round++) {
        memcpy(damaged, data, length);
        for (int i = 0; i < 1 + round % 50; i++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = seed % length;
            /* Half of the damage where the fields are. */
            at = i % 2 == 0 ? at % 6000 : OFL_TRACE_HEADER_SIZE + at % (length - OFL_TRACE_HEADER_SIZE);
            seed = seed * 1664525u + 1013904223u;
            damaged[at] = (char)(seed >> 24);
        }
        assert_true(count_records(damaged, length) <= 601);
    }
    free(damaged);
    free(data);
}

void test_header_damage(void **state)
{
    (void)state;
    size_t length;
    char *data = good_trace(&length);
    struct ofl_trace_header *header = (struct ofl_trace_header *)data, good = *header;
    header->magic[0] = 'X';
    assert_int_equal(count_records(data, length), -1);
    *header = good;
    header->version++;
    assert_int_equal(count_records(data, length), -1);
    *header = good;
    header->byte_order = 0x04030201;
    assert_int_equal(count_records(data, length), -1);
    *header = good;
    header->record_size = 0;
    assert_int_equal(count_records(data, length), -1);
    *header = good;
    header->header_size = 0;
    assert_int_equal(count_records(data, length), -1);
    *header = good;
    /* Texts without an end, and operations that this version does not know. */
    memset(header->operations, 'q', sizeof header->operations);
    memset(header->command, 'q', sizeof header->command);
    assert_int_equal(count_records(data, length), 601);
    *header = good;
    memset(header->operations, 0, sizeof header->operations);
    assert_int_equal(count_records(data, length), 601);
    free(data);
}

/* A program killed between copying a window and clearing it: what is in both counts once. */
void test_interrupted_copy(void **state)
{
    (void)state;
    size_t length;
    char *data = good_trace(&length);
    struct ofl_trace_record *window = (struct ofl_trace_record *)(data + OFL_TRACE_HEADER_SIZE);
    struct ofl_trace_record *copy = window + 2 * OFL_TRACE_BLOCK_SLOTS;
    assert_int_equal(copy[5].start, 255 + 4);
    /* As it was while the second copy was being made. */
    memcpy(window, copy, OFL_TRACE_BLOCK_SIZE);
    assert_int_equal(window->call_site, OFL_TRACE_HEADER_SIZE + 2 * OFL_TRACE_BLOCK_SIZE);
    assert_int_equal(count_records(data, length), 2 * 255);
    /* Only half of it had arrived. */
    memset(copy + 100, 0, 156 * sizeof *copy);
    assert_int_equal(count_records(data, length), 2 * 255);
    /* Nothing had. */
    assert_int_equal(count_records(data, OFL_TRACE_HEADER_SIZE + 2 * OFL_TRACE_BLOCK_SIZE), 2 * 255);
    free(data);
}

void test_folder(void **state)
{
    (void)state;
    char folder[64], path[256], explanation[512] = "";
    size_t count = 99;
    make_folder(folder);
    assert_null(ofl_trace_list(folder, &count, explanation, sizeof explanation));
    assert_non_null(strstr(explanation, "no traces"));
    snprintf(path, sizeof path, "%s/x.trace", folder);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        abort();
    }
    fputs("something else", file);
    fclose(file);
    char **paths = ofl_trace_list(folder, &count, explanation, sizeof explanation);
    assert_non_null(paths);
    assert_int_equal(count, 1);
    assert_null(ofl_trace_open(paths[0], explanation, sizeof explanation));
    assert_non_null(strstr(explanation, "not a gpu-offload trace"));
    ofl_trace_free_list(paths, count);
    remove_folder(folder);
    assert_null(ofl_trace_list(folder, &count, explanation, sizeof explanation));
    assert_null(ofl_trace_open("/proc/self", explanation, sizeof explanation));
}
