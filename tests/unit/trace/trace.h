/* What the tests of traces share.
 *
 * A process has one trace, so each test writes in a child of its own and reads in the parent.  Checks in the
 * child end it with the line that failed. */
#ifndef TESTS_TRACE_H
#define TESTS_TRACE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/reader.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child: ends it with status 1 and says where. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            dprintf(2, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                         \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* A new empty folder, and removing it with what is in it. */
void make_folder(char path[64]);
void remove_folder(const char *path);

/* Runs `work` in a child; returns its wait status. */
int in_child(void (*work)(const char *folder), const char *folder);

/* In a child: starts tracing into the folder. */
void start(const char *folder);
/* Writes a record that carries `number` as its start and 3 * number as its flops. */
void write_number(uint64_t number);
/* Writes count of them, from 0. */
void write_numbers(uint64_t count);

/* All records of all traces in the folder, by start.  Fails the test if a record is damaged or is not as
 * write_number wrote it. */
struct ofl_trace_record *read_folder(const char *folder, size_t *count, size_t *files);

/* The path of the only trace in the folder. */
void only_trace(const char *folder, char *path, size_t size);

/* Fails unless the folder's records are the numbers 0 to count - 1, each once. */
void assert_numbers(const char *folder, uint64_t count);

/* The tests of each file. */
void test_round_trip(void **state);
void test_many_records(void **state);
void test_texts(void **state);
void test_continuation(void **state);
void test_describe(void **state);
void test_fingerprint_reads_stored_elements(void **state);
void test_fingerprint_notices(void **state);
void test_threads(void **state);
void test_short_threads(void **state);
void test_signals(void **state);
void test_truncated(void **state);
void test_random_damage(void **state);
void test_header_damage(void **state);
void test_interrupted_copy(void **state);
void test_folder(void **state);
void test_killed(void **state);
void test_fork(void **state);
void test_raw_clone(void **state);
void test_closed_descriptors(void **state);
void test_file_size_limit(void **state);
void test_full_disk(void **state);
void test_replaced_file(void **state);
void test_bad_folder(void **state);
#endif
