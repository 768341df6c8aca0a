/* Profiles as files: found, replaced in one step, refused with a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/facts.h"
#include "profile/store.h"

#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static struct ofl_profile profile, found;
static const struct ofl_profile_key here = {.cpu = "a cpu", .cores = 4};

static int make_home(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/gpu-offload-profile-XXXXXX");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_CACHE_HOME");
    return mkdtemp(folder) == NULL || setenv("HOME", folder, 1) != 0;
}

static int remove_home(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void fill_profile(void)
{
    struct ofl_cpu_properties cpu = {4, 3e9, 32, 2e10};
    memset(&profile, 0, sizeof profile);
    profile.key = here;
    ofl_machine_estimate(&cpu, NULL, &profile.machine);
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            if (!ofl_operation_has((enum ofl_operation)operation, (enum ofl_precision)p)) {
                profile.machine.curve[0][operation][p].points = profile.machine.curve[1][operation][p].points = 0;
            }
        }
    }
}

static void test_paths(void **state)
{
    (void)state;
    char path[256], other[256];
    assert_true(ofl_profile_path(&here, "cuda", path, sizeof path));
    assert_memory_equal(path, folder, strlen(folder));
    assert_non_null(strstr(path, "/.config/gpu-offload/profile-"));
    /* Another machine or device has another file, the same one the same. */
    struct ofl_profile_key more = here;
    assert_true(ofl_profile_path(&more, "cuda", other, sizeof other));
    assert_string_equal(path, other);
    more.cores = 8;
    assert_true(ofl_profile_path(&more, "cuda", other, sizeof other));
    assert_string_not_equal(path, other);
    assert_true(ofl_profile_path(&here, "host", other, sizeof other));
    assert_string_not_equal(path, other);
    assert_false(ofl_profile_path(&here, "cuda", path, 20));
    setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    assert_true(ofl_profile_path(&here, "cuda", path, sizeof path));
    assert_memory_equal(path, "/somewhere/gpu-offload/", 23);
    setenv("XDG_CONFIG_HOME", "not/absolute", 1);
    unsetenv("HOME");
    assert_false(ofl_profile_path(&here, "cuda", path, sizeof path));
    setenv("HOME", folder, 1);
    unsetenv("XDG_CONFIG_HOME");
}

static void test_save_and_load(void **state)
{
    (void)state;
    char path[256], why[512] = "";
    fill_profile();
    assert_true(ofl_profile_path(&here, "cuda", path, sizeof path));
    assert_int_equal(ofl_profile_load(path, &here, &found, why, sizeof why), OFL_PROFILE_NONE);
    assert_true(ofl_profile_save(path, &profile, why, sizeof why));
    assert_int_equal(ofl_profile_load(path, &here, &found, why, sizeof why), OFL_PROFILE_USED);
    assert_string_equal(found.key.cpu, "a cpu");
    struct ofl_profile_key other = {.cpu = "another", .cores = 4};
    assert_int_equal(ofl_profile_load(path, &other, &found, why, sizeof why), OFL_PROFILE_REFUSED);
    assert_non_null(strstr(why, "here is 'another'"));
    assert_non_null(strstr(why, path));
}

static void test_unusable_files(void **state)
{
    (void)state;
    char path[256], why[512];
    static const char *const texts[] = {"", "something\n", "gpu-offload profile 9\nend\n", "gpu-offload profile 2\n"};
    snprintf(path, sizeof path, "%s/x", folder);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "w");
        if (file == NULL) {
            abort();
        }
        fputs(texts[i], file);
        fclose(file);
        assert_int_equal(ofl_profile_load(path, &here, &found, why, sizeof why), OFL_PROFILE_REFUSED);
        assert_non_null(strstr(why, "is not used: line"));
    }
    assert_int_equal(ofl_profile_load(folder, &here, &found, why, sizeof why), OFL_PROFILE_REFUSED);
    assert_int_equal(ofl_profile_load("/dev/zero", &here, &found, why, sizeof why), OFL_PROFILE_REFUSED);
    /* A pipe that nobody writes to must not make anybody wait. */
    unlink(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(ofl_profile_load(path, &here, &found, why, sizeof why), OFL_PROFILE_REFUSED);
    unlink(path);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        abort();
    }
    assert_int_equal(ftruncate(fileno(file), 1 << 30), 0);
    fclose(file);
    assert_int_equal(ofl_profile_load(path, &here, &found, why, sizeof why), OFL_PROFILE_REFUSED);
    unlink(path);
    snprintf(path, sizeof path, "%s/x/y", folder);
    assert_int_equal(ofl_profile_load(path, &here, &found, why, sizeof why), OFL_PROFILE_NONE);
}

/* A disk that fills up while the new profile is written: the old one stays, and nothing beside it. */
static void test_failed_save(void **state)
{
    (void)state;
    char path[256], why[512] = "", command[600];
    fill_profile();
    snprintf(path, sizeof path, "%s/kept/profile", folder);
    assert_true(ofl_profile_save(path, &profile, why, sizeof why));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {100, 100};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        profile.key.cores = 99;
        _exit(ofl_profile_save(path, &profile, why, sizeof why) ? 1 : why[0] == '\0' ? 2 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(ofl_profile_load(path, &here, &found, why, sizeof why), OFL_PROFILE_USED);
    assert_int_equal(found.key.cores, 4);
    snprintf(command, sizeof command, "[ $(ls %s/kept | wc -l) = 1 ]", folder);
    assert_int_equal(system(command), 0);
    assert_false(ofl_profile_save("/proc/no/such/place", &profile, why, sizeof why));
}

static void test_recommended_once(void **state)
{
    (void)state;
    assert_true(ofl_profile_recommend_once(&here, "cuda"));
    assert_false(ofl_profile_recommend_once(&here, "cuda"));
    assert_true(ofl_profile_recommend_once(&here, "host"));
    struct ofl_profile_key other = {.cpu = "b", .cores = 4};
    assert_true(ofl_profile_recommend_once(&other, "cuda"));
    /* Where nothing can be remembered, rather never than at every start. */
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    assert_false(ofl_profile_recommend_once(&here, "cuda"));
    unsetenv("XDG_CACHE_HOME");
}

static void test_facts(void **state)
{
    (void)state;
    struct ofl_profile_key first, second;
    struct ofl_cpu_properties cpu;
    ofl_facts_key(true, &first);
    ofl_facts_key(true, &second);
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(first.cores > 0);
    ofl_facts_cpu(&cpu);
    assert_true(cpu.cores > 0 && cpu.cores <= first.cores);
    assert_true(cpu.vector_bytes >= 16 && cpu.vector_bytes <= 64);
    assert_true(cpu.frequency == 0 || (cpu.frequency > 1e8 && cpu.frequency < 1e11));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_unusable_files),
        cmocka_unit_test(test_failed_save),
        cmocka_unit_test(test_recommended_once),
        cmocka_unit_test(test_facts),
    };
    return cmocka_run_group_tests_name("profile", tests, make_home, remove_home);
}
