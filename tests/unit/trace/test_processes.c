/* What programs do to themselves and to their disk while they are traced. */
#include "trace.h"
#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* --- Killed --- */

static int progress[2]; /* a pipe */

static void write_for_ever(const char *folder)
{
    start(folder);
    for (uint64_t i = 0;; i++) {
        write_number(i);
        if (i == 5000) {
            REQUIRE(write(progress[1], "x", 1) == 1);
        }
    }
}

/* Killed at a random moment: what was written is there, in order, without holes and once. */
void test_killed(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        char folder[64], byte;
        make_folder(folder);
        assert_int_equal(pipe(progress), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            write_for_ever(folder);
        }
        assert_int_equal(read(progress[0], &byte, 1), 1);
        usleep((unsigned)round * 1371);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(progress[0]);
        close(progress[1]);
        size_t count, files;
        struct ofl_trace_record *records = read_folder(folder, &count, &files);
        assert_true(count > 5000);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(records[i].start, i);
        }
        free(records);
        remove_folder(folder);
    }
}

/* --- Children --- */

static void finish(pid_t child)
{
    int status;
    REQUIRE(child > 0);
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void write_and_fork(const char *folder)
{
    start(folder);
    write_number(0);
    pid_t child = fork();
    if (child == 0) {
        ofl_trace_after_fork_in_child();
        write_number(1);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            ofl_trace_after_fork_in_child();
            write_number(2);
            ofl_trace_stop();
            _exit(0);
        }
        finish(grandchild);
        write_number(3);
        ofl_trace_stop();
        _exit(0);
    }
    finish(child);
    /* A child that traces nothing leaves no file. */
    child = fork();
    if (child == 0) {
        ofl_trace_after_fork_in_child();
        ofl_trace_stop();
        _exit(0);
    }
    finish(child);
    write_number(4);
    ofl_trace_stop();
}

void test_fork(void **state)
{
    (void)state;
    char folder[64];
    size_t count, files;
    make_folder(folder);
    assert_int_equal(in_child(write_and_fork, folder), 0);
    assert_numbers(folder, 5);
    free(read_folder(folder, &count, &files));
    assert_int_equal(files, 3);
    remove_folder(folder);
}

/* A child that no handler of fork knows of. */
static void write_and_clone(const char *folder)
{
    start(folder);
    write_number(0);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        write_number(1);
        ofl_trace_stop();
        _exit(0);
    }
    finish(child);
    write_number(2);
    ofl_trace_stop();
}

void test_raw_clone(void **state)
{
    (void)state;
    char folder[64];
    size_t count, files;
    make_folder(folder);
    assert_int_equal(in_child(write_and_clone, folder), 0);
    assert_numbers(folder, 3);
    free(read_folder(folder, &count, &files));
    assert_int_equal(files, 2);
    remove_folder(folder);
}

/* --- Descriptors --- */

static void write_without_descriptors(const char *folder)
{
    char name[256];
    start(folder);
    write_numbers(10);
    REQUIRE(close_range(0, ~0u, 0) == 0);
    /* The program's own files get the numbers that were ours for a moment. */
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "%s/own-%d", folder, i);
        if (open(name, O_RDWR | O_CREAT, 0666) != i) {
            _exit(2);
        }
    }
    for (uint64_t i = 10; i < 3000; i++) {
        write_number(i);
    }
    ofl_trace_stop();
    for (int i = 0; i < 8; i++) {
        struct stat status;
        if (fstat(i, &status) != 0 || status.st_size != 0) {
            _exit(3);
        }
    }
    if (fcntl(8, F_GETFD) != -1) {
        _exit(4); /* we left one open */
    }
}

void test_closed_descriptors(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    assert_int_equal(in_child(write_without_descriptors, folder), 0);
    assert_numbers(folder, 3000);
    remove_folder(folder);
}

/* --- Disks --- */

/* Descriptor 2 becomes a file, so that the test can read what was said. */
static void catch_messages(const char *folder)
{
    char name[256];
    snprintf(name, sizeof name, "%s/messages", folder);
    int file = open(name, O_RDWR | O_CREAT | O_APPEND, 0666);
    dup2(file, 2);
    close(file);
    ofl_message_start();
}

/* The number of lines that were said; they must be about tracing. */
static int count_messages(const char *folder)
{
    char name[256], line[1200];
    int lines = 0;
    snprintf(name, sizeof name, "%s/messages", folder);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        assert_non_null(strstr(line, "gpu-offload: tracing stopped: "));
        lines++;
    }
    fclose(file);
    return lines;
}

static void write_to_limit(const char *folder)
{
    struct rlimit limit = {300000, 300000};
    start(folder);
    catch_messages(folder);
    setrlimit(RLIMIT_FSIZE, &limit);
    write_numbers(5000);
    REQUIRE(!ofl_trace_active());
    ofl_trace_stop();
}

/* Records up to where the file could not grow are there; how many were not is told. */
static void check_stopped_trace(const char *folder)
{
    char path[256], explanation[512];
    size_t count, files;
    struct ofl_trace_record *records = read_folder(folder, &count, &files);
    assert_true(count >= 255 && count < 5000);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(records[i].start, i);
    }
    free(records);
    only_trace(folder, path, sizeof path);
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    assert_int_equal(ofl_trace_reader_header(reader)->finished, 2);
    assert_int_equal(ofl_trace_reader_header(reader)->dropped, 5000 - count);
    ofl_trace_close(reader);
}

void test_file_size_limit(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    assert_int_equal(in_child(write_to_limit, folder), 0);
    assert_int_equal(count_messages(folder), 1);
    check_stopped_trace(folder);
    remove_folder(folder);
}

/* On a disk of 600 KiB: 77 is "cannot mount here". */
static void write_to_small_disk(const char *folder)
{
    char disk[256], command[1024];
    snprintf(disk, sizeof disk, "%s/disk", folder);
    REQUIRE(mkdir(disk, 0777) == 0);
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        _exit(77);
    }
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("disk", disk, "tmpfs", 0, "size=600k") != 0) {
        _exit(77);
    }
    catch_messages(folder);
    start(disk);
    write_numbers(5000);
    REQUIRE(!ofl_trace_active());
    ofl_trace_stop();
    /* Where a header does not fit, tracing does not start. */
    char explanation[512] = "";
    snprintf(command, sizeof command, "%s/other", disk);
    REQUIRE(!ofl_trace_start(command, 5, explanation, sizeof explanation));
    REQUIRE(explanation[0] != '\0');
    /* Out of the disk, which ends with this process. */
    snprintf(command, sizeof command, "cp %s/*.trace %s", disk, folder);
    REQUIRE(system(command) == 0);
    umount(disk);
}

void test_full_disk(void **state)
{
    (void)state;
    char folder[64], disk[256];
    make_folder(folder);
    int status = in_child(write_to_small_disk, folder);
    snprintf(disk, sizeof disk, "%s/disk", folder);
    rmdir(disk);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        remove_folder(folder);
        skip();
    }
    assert_int_equal(status, 0);
    assert_int_equal(count_messages(folder), 1);
    check_stopped_trace(folder);
    remove_folder(folder);
}

static void write_while_replaced(const char *folder)
{
    char path[256], explanation[512];
    size_t files;
    start(folder);
    catch_messages(folder);
    write_number(0);
    char **paths = ofl_trace_list(folder, &files, explanation, sizeof explanation);
    snprintf(path, sizeof path, "%s", paths[0]);
    ofl_trace_free_list(paths, files);
    REQUIRE(unlink(path) == 0);
    close(open(path, O_RDWR | O_CREAT, 0666));
    write_numbers(1000);
    REQUIRE(!ofl_trace_active());
    struct stat status;
    REQUIRE(stat(path, &status) == 0 && status.st_size == 0);
}

/* Somebody else's file under our name is not written to. */
void test_replaced_file(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    assert_int_equal(in_child(write_while_replaced, folder), 0);
    assert_int_equal(count_messages(folder), 1);
    remove_folder(folder);
}

static void start_nowhere(const char *folder)
{
    char path[PATH_MAX * 2], explanation[512] = "";
    snprintf(path, sizeof path, "%s/file", folder);
    close(open(path, O_RDWR | O_CREAT, 0666));
    REQUIRE(!ofl_trace_start(path, 5, explanation, sizeof explanation) && explanation[0] != '\0');
    REQUIRE(!ofl_trace_start("/proc/nowhere/at/all", 5, explanation, sizeof explanation));
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    REQUIRE(!ofl_trace_start(path, 5, explanation, sizeof explanation));
    REQUIRE(!ofl_trace_active());
    write_number(0);
}

void test_bad_folder(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder);
    assert_int_equal(in_child(start_nowhere, folder), 0);
    remove_folder(folder);
}
