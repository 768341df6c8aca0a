/* Records, threads and fingerprints. */
#include "trace.h"
#include "trace/fingerprint.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>

/* --- One thread --- */

static void write_one(const char *folder)
{
    start(folder);
    REQUIRE(ofl_trace_active());
    write_number(7);
    ofl_trace_stop();
    REQUIRE(!ofl_trace_active());
    write_number(8); /* not traced, and no failure */
}

void test_round_trip(void **state)
{
    (void)state;
    char folder[64], path[256], explanation[512];
    make_folder(folder);
    assert_int_equal(in_child(write_one, folder), 0);
    only_trace(folder, path, sizeof path);
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    assert_non_null(reader);
    const struct ofl_trace_header *header = ofl_trace_reader_header(reader);
    assert_int_equal(header->finished, 1);
    assert_int_equal(header->dropped, 0);
    assert_int_equal(header->level, 5);
    assert_int_equal(header->parent, getpid());
    assert_non_null(strstr(header->program, "test_trace"));
    assert_non_null(strstr(header->command, "test_trace"));
    assert_true(header->cores > 0);
    struct ofl_trace_record record;
    assert_true(ofl_trace_next(reader, &record));
    assert_int_equal(record.start, 7);
    assert_int_equal(record.thread, header->process);
    assert_int_equal(record.operation, OFL_OP_gemm);
    assert_false(ofl_trace_next(reader, &record));
    ofl_trace_close(reader);
    remove_folder(folder);
}

static uint64_t amount; /* set before in_child */

static void write_amount(const char *folder)
{
    start(folder);
    write_numbers(amount);
    ofl_trace_stop();
}

void test_many_records(void **state)
{
    (void)state;
    /* Around the number of records that a window holds, and many windows. */
    static const uint64_t amounts[] = {1, 254, 255, 256, 257, 509, 510, 511, 512, 20000};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        char folder[64];
        make_folder(folder);
        amount = amounts[i];
        assert_int_equal(in_child(write_amount, folder), 0);
        assert_numbers(folder, amount);
        remove_folder(folder);
    }
}

static void write_texts(const char *folder)
{
    char text[400];
    start(folder);
    memset(text, 'x', sizeof text - 1);
    memcpy(text + sizeof text - 9, "/the.end", 9);
    ofl_trace_module((void *)0x1000, (void *)0x2000, text);
    ofl_trace_device("a device", 0.25);
    ofl_trace_kernel(3, "kernel");
    ofl_trace_stop();
}

void test_texts(void **state)
{
    (void)state;
    char folder[64], path[256], explanation[512];
    struct ofl_trace_record record;
    struct ofl_trace_text text;
    make_folder(folder);
    assert_int_equal(in_child(write_texts, folder), 0);
    only_trace(folder, path, sizeof path);
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    assert_true(ofl_trace_next(reader, &record) && ofl_trace_text_of(&record, &text));
    assert_int_equal(text.kind, OFL_TRACE_MODULE);
    assert_int_equal(text.first, 0x1000);
    assert_int_equal(text.last, 0x2000);
    assert_int_equal(strlen(text.text), sizeof text.text - 1);
    assert_string_equal(text.text + strlen(text.text) - 8, "/the.end");
    assert_true(ofl_trace_next(reader, &record) && ofl_trace_text_of(&record, &text));
    assert_int_equal(text.kind, OFL_TRACE_DEVICE);
    assert_int_equal(text.duration, 250000000);
    assert_string_equal(text.text, "a device");
    assert_true(ofl_trace_next(reader, &record) && ofl_trace_text_of(&record, &text));
    assert_int_equal(text.first, 3);
    assert_false(ofl_trace_next(reader, &record));
    ofl_trace_close(reader);
    remove_folder(folder);
}

static void write_buffers(const char *folder)
{
    struct ofl_trace_buffer buffers[11] = {{0}};
    for (int i = 0; i < 11; i++) {
        buffers[i].address = (uint64_t)i;
    }
    start(folder);
    struct ofl_trace_record work = {.kind = OFL_TRACE_LOOP, .start = 99, .buffers = OFL_TRACE_BUFFERS};
    memcpy(work.buffer, buffers, sizeof work.buffer);
    ofl_trace_write(&work);
    ofl_trace_write_buffers(&work, buffers + OFL_TRACE_BUFFERS, 11 - OFL_TRACE_BUFFERS);
    ofl_trace_stop();
}

void test_continuation(void **state)
{
    (void)state;
    char folder[64], path[256], explanation[512];
    size_t count;
    make_folder(folder);
    assert_int_equal(in_child(write_buffers, folder), 0);
    only_trace(folder, path, sizeof path);
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    struct ofl_trace_record *records = ofl_trace_read_all(reader, &count);
    assert_int_equal(count, 3);
    assert_int_equal(records[0].kind, OFL_TRACE_LOOP);
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(records[i].start, 99);
        for (int j = 0; j < records[i].buffers; j++) {
            assert_int_equal(records[i].buffer[j].address, next++);
        }
    }
    assert_int_equal(next, 11);
    free(records);
    ofl_trace_close(reader);
    remove_folder(folder);
}

void test_describe(void **state)
{
    (void)state;
    double a[12], c[16];
    struct ofl_call call = {.operation = OFL_OP_syrk, .precision = OFL_D, .uplo = 'L', .trans = 'T', .n = 4, .k = 3};
    struct ofl_trace_record record;
    memset(a, 1, sizeof a);
    memset(c, 2, sizeof c);
    call.operands = 2;
    call.operand[0] = (struct ofl_buffer){a, 3, 4, 3, 8, OFL_READ, OFL_GENERAL};
    call.operand[1] = (struct ofl_buffer){c, 4, 4, 4, 8, OFL_ADD, OFL_LOWER};
    ofl_trace_describe(&call, &record);
    assert_int_equal(record.kind, OFL_TRACE_CALL);
    assert_int_equal(record.operation, OFL_OP_syrk);
    assert_int_equal(record.precision, OFL_D);
    assert_int_equal(record.transa, 'T');
    assert_int_equal(record.uplo, 'L');
    assert_int_equal(record.n, 4);
    assert_int_equal(record.buffers, 2);
    assert_int_equal(record.buffer[0].bytes, 12 * 8);
    assert_int_equal(record.buffer[1].bytes, 10 * 8);
    assert_true(record.buffer[0].fingerprint != 0 && record.buffer[0].address == (uintptr_t)a);
    assert_true(record.predicted_cpu < 0 && record.predicted_device < 0);
}

/* --- Threads and signals --- */

enum { THREADS = 32, EACH = 3000 };
static pthread_barrier_t together;

static void *write_share(void *number)
{
    uint64_t from = (uint64_t)(uintptr_t)number * EACH;
    pthread_barrier_wait(&together);
    for (uint64_t i = 0; i < EACH; i++) {
        write_number(from + i);
    }
    return NULL;
}

static void write_from_threads(const char *folder)
{
    pthread_t thread[THREADS];
    start(folder);
    pthread_barrier_init(&together, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++) {
        REQUIRE(pthread_create(&thread[i], NULL, write_share, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    ofl_trace_stop();
}

void test_threads(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    assert_int_equal(in_child(write_from_threads, folder), 0);
    assert_numbers(folder, (uint64_t)THREADS * EACH);
    remove_folder(folder);
}

static void *write_ten(void *number)
{
    for (uint64_t i = 0; i < 10; i++) {
        write_number((uint64_t)(uintptr_t)number * 10 + i);
    }
    return NULL;
}

static void write_from_short_threads(const char *folder)
{
    start(folder);
    for (uintptr_t i = 0; i < 500; i++) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, write_ten, (void *)i) == 0);
        pthread_join(thread, NULL);
    }
    ofl_trace_stop();
}

/* Threads that end leave their window to the next: the file does not grow by one each. */
void test_short_threads(void **state)
{
    (void)state;
    char folder[64], path[256];
    struct stat status;
    make_folder(folder);
    assert_int_equal(in_child(write_from_short_threads, folder), 0);
    assert_numbers(folder, 5000);
    only_trace(folder, path, sizeof path);
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size <= OFL_TRACE_HEADER_SIZE + 24 * OFL_TRACE_BLOCK_SIZE);
    remove_folder(folder);
}

static volatile sig_atomic_t interruptions;

static void write_in_handler(int signal)
{
    (void)signal;
    interruptions++;
    write_number(1000000);
}

static void write_under_signals(const char *folder)
{
    struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    start(folder);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    uint64_t count = 0;
    while (interruptions < 200) {
        write_number(count++);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    ofl_trace_stop();
    /* Every record is there or counted as dropped: see the test. */
    FILE *total = fopen("/dev/shm/gpu-offload-trace-total", "w");
    REQUIRE(total != NULL);
    fprintf(total, "%llu", (unsigned long long)count + (unsigned long long)interruptions);
    fclose(total);
}

void test_signals(void **state)
{
    (void)state;
    char folder[64], path[256], explanation[512];
    unsigned long long total;
    size_t count, files;
    make_folder(folder);
    assert_int_equal(in_child(write_under_signals, folder), 0);
    FILE *file = fopen("/dev/shm/gpu-offload-trace-total", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu", &total), 1);
    fclose(file);
    unlink("/dev/shm/gpu-offload-trace-total");
    only_trace(folder, path, sizeof path);
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    uint64_t dropped = ofl_trace_reader_header(reader)->dropped;
    ofl_trace_close(reader);
    free(read_folder(folder, &count, &files));
    assert_int_equal(count + dropped, total);
    remove_folder(folder);
}

/* --- Fingerprints --- */

/* A matrix that ends where its memory does. */
static char *at_the_edge(size_t bytes, char **map, size_t *mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *mapped = (bytes + 2 * page - 1) / page * page + page;
    *map = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(*map != MAP_FAILED);
    assert_int_equal(mprotect(*map + *mapped - page, page, PROT_NONE), 0);
    return *map + *mapped - page - bytes;
}

static bool stored(enum ofl_region region, int64_t i, int64_t j)
{
    return region == OFL_GENERAL || (region == OFL_UPPER ? i <= j : i >= j);
}

/* Elements that are not stored do not matter, and nothing behind the last element is touched. */
void test_fingerprint_reads_stored_elements(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 64};
    static const uint32_t elements[] = {4, 8, 16};
    for (int region = OFL_GENERAL; region <= OFL_LOWER; region++) {
        for (int r = 0; r < 7; r++) {
            for (int c = 0; c < 7; c++) {
                for (int e = 0; e < 3; e++) {
                    int64_t rows = sizes[r], columns = sizes[c], ld = rows + 3;
                    size_t bytes = (size_t)((columns - 1) * ld + rows) * elements[e], mapped;
                    if (region != OFL_GENERAL && rows != columns) {
                        continue;
                    }
                    char *map, *matrix = at_the_edge(bytes, &map, &mapped);
                    struct ofl_buffer buffer = {matrix, rows, columns, ld, elements[e], OFL_READ, region};
                    memset(matrix, 0x5a, bytes);
                    uint64_t before = ofl_fingerprint(&buffer);
                    assert_true(before != 0);
                    for (int64_t i = 0; i < (int64_t)(bytes / elements[e]); i++) {
                        if (i % ld >= rows || !stored((enum ofl_region)region, i % ld, i / ld)) {
                            memset(matrix + i * elements[e], 0x11, elements[e]);
                        }
                    }
                    assert_int_equal(ofl_fingerprint(&buffer), before);
                    munmap(map, mapped);
                }
            }
        }
    }
}

void test_fingerprint_notices(void **state)
{
    (void)state;
    double matrix[100 * 100];
    for (int i = 0; i < 100 * 100; i++) {
        matrix[i] = i;
    }
    struct ofl_buffer buffer = {matrix, 100, 100, 100, 8, OFL_READ, OFL_GENERAL};
    uint64_t before = ofl_fingerprint(&buffer);
    assert_int_equal(ofl_fingerprint(&buffer), before);
    matrix[0] = -1;
    assert_true(ofl_fingerprint(&buffer) != before);
    matrix[0] = 0;
    matrix[100 * 100 - 1] = -1;
    assert_true(ofl_fingerprint(&buffer) != before);
    buffer.rows = 0;
    assert_int_equal(ofl_fingerprint(&buffer), 0);
    buffer = (struct ofl_buffer){NULL, 3, 3, 3, 8, OFL_READ, OFL_GENERAL};
    assert_int_equal(ofl_fingerprint(&buffer), 0);
}
