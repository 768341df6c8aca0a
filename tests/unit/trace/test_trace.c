/* Tests of src/trace: the table of tests, and what they share. */
#include "trace.h"

#include <dirent.h>

void make_folder(char path[64])
{
    strcpy(path, "/tmp/gpu-offload-trace-XXXXXX");
    assert_non_null(mkdtemp(path));
}

void remove_folder(const char *path)
{
    DIR *entries = opendir(path);
    if (entries == NULL) {
        abort();
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        unlink(file);
    }
    closedir(entries);
    assert_int_equal(rmdir(path), 0);
}

int in_child(void (*work)(const char *folder), const char *folder)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        work(folder);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

void start(const char *folder)
{
    char explanation[512] = "";
    if (!ofl_trace_start(folder, 5, explanation, sizeof explanation)) {
        dprintf(2, "%s\n", explanation);
        _exit(1);
    }
}

void write_number(uint64_t number)
{
    struct ofl_trace_record record = {.kind = OFL_TRACE_CALL, .start = number, .flops = 3.0 * (double)number};
    ofl_trace_write(&record);
}

void write_numbers(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        write_number(i);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct ofl_trace_record *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

struct ofl_trace_record *read_folder(const char *folder, size_t *count, size_t *files)
{
    char explanation[512];
    char **paths = ofl_trace_list(folder, files, explanation, sizeof explanation);
    struct ofl_trace_record *all = NULL;
    *count = 0;
    assert_non_null(paths);
    for (size_t i = 0; i < *files; i++) {
        size_t more;
        struct ofl_trace_reader *reader = ofl_trace_open(paths[i], explanation, sizeof explanation);
        assert_non_null(reader);
        struct ofl_trace_record *records = ofl_trace_read_all(reader, &more);
        assert_non_null(records);
        assert_int_equal(ofl_trace_damaged(reader), 0);
        struct ofl_trace_record *both = realloc(all, (*count + more + 1) * sizeof *all);
        if (both == NULL) {
            abort();
        }
        all = both;
        memcpy(all + *count, records, more * sizeof *all);
        *count += more;
        free(records);
        ofl_trace_close(reader);
    }
    ofl_trace_free_list(paths, *files);
    if (all == NULL) {
        abort(); /* the folder has at least one trace */
    }
    qsort(all, *count, sizeof *all, by_start);
    for (size_t i = 0; i < *count; i++) {
        assert_true(all[i].kind == OFL_TRACE_CALL && all[i].flops == 3.0 * (double)all[i].start);
    }
    return all;
}

void only_trace(const char *folder, char *path, size_t size)
{
    char explanation[512];
    size_t files;
    char **paths = ofl_trace_list(folder, &files, explanation, sizeof explanation);
    assert_non_null(paths);
    assert_int_equal(files, 1);
    snprintf(path, size, "%s", paths[0]);
    ofl_trace_free_list(paths, files);
}

void assert_numbers(const char *folder, uint64_t count)
{
    size_t found, files;
    struct ofl_trace_record *records = read_folder(folder, &found, &files);
    assert_int_equal(found, count);
    for (size_t i = 0; i < found; i++) {
        assert_int_equal(records[i].start, i);
    }
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_many_records),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_continuation),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_fingerprint_reads_stored_elements),
        cmocka_unit_test(test_fingerprint_notices),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_short_threads),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_header_damage),
        cmocka_unit_test(test_interrupted_copy),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_raw_clone),
        cmocka_unit_test(test_closed_descriptors),
        cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_replaced_file),
        cmocka_unit_test(test_bad_folder),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
