/* Loading and starting a device: what can be wrong with a backend, several threads, fork, exit,
 * descriptors.  Each test is a process of its own. */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

static const struct wrong {
    const char *folder; /* below STAND_INS */
    enum ofl_reason reason;
    const char *words[2]; /* in the explanation: what was found, what to do */
} wrong_ones[] = {
    {"nowhere", OFL_NO_BACKEND, {"libgpuoffload-host.so was not found", "GPU_OFFLOAD_BACKEND_DIR"}},
    {"abi", OFL_BACKEND_ABI, {"device interface 77", "install both from one version"}},
    {"size", OFL_BACKEND_ABI, {"device interface of 8 bytes", "install both from one version"}},
    {"other", OFL_NO_BACKEND, {"not a gpu-offload backend", "reinstall"}},
    {"damaged", OFL_NO_BACKEND, {"could not be loaded", "reinstall"}},
};
static const struct wrong *wrong_one;

static void use_stand_in(const char *folder)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", STAND_INS, folder);
    setenv("GPU_OFFLOAD_BACKEND_DIR", path, 1);
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
}

static void start_wrong_one(void)
{
    use_stand_in(wrong_one->folder);
    CHECK(ofl_device_state() == OFL_NOT_STARTED && ofl_device_name() == NULL);
    CHECK(*ofl_device_explanation() == '\0');
    CHECK(ofl_device_start() == wrong_one->reason);
    CHECK(ofl_device_start() == wrong_one->reason && ofl_device_state() == wrong_one->reason);
    CHECK(strstr(ofl_device_explanation(), wrong_one->words[0]) != NULL);
    CHECK(strstr(ofl_device_explanation(), wrong_one->words[1]) != NULL);
    CHECK(strchr(ofl_device_explanation(), '\n') == NULL);
    CHECK(ofl_device_name() == NULL);
    /* a child of a process whose start failed has the same answer */
    ofl_device_before_fork();
    ofl_device_after_fork_in_child();
    CHECK(ofl_device_state() == wrong_one->reason);
}

static void start_none(void)
{
    setenv("GPU_OFFLOAD_DEVICE", "none", 1);
    CHECK(ofl_device_start() == OFL_DISABLED);
}

/* Automatic choice never takes the host device. */
static void start_automatically(void)
{
    use_stand_in("good");
    setenv("GPU_OFFLOAD_DEVICE", "auto", 1);
    CHECK(ofl_device_start() == OFL_NO_BACKEND && strstr(ofl_device_explanation(), "libgpuoffload-cuda.so") != NULL);
}

static void start_failing(void)
{
    use_stand_in("good");
    setenv("STAND_IN_FAIL", "1", 1);
    CHECK(ofl_device_start() == OFL_NO_DEVICE && strcmp(ofl_device_explanation(), "told to fail") == 0);
}

void test_loader(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_ones / sizeof *wrong_ones; i++) {
        wrong_one = &wrong_ones[i];
        in_child(start_wrong_one);
    }
    in_child(start_none);
    in_child(start_automatically);
    in_child(start_failing);
}

static void *start_it(void *unused)
{
    (void)unused;
    return ofl_device_start() == OFL_OK ? (void *)1 : NULL;
}

static void threads_start(void)
{
    enum { count = 8 };
    pthread_t threads[count];
    use_stand_in("good"); /* fails a second start */
    for (int i = 0; i < count; i++) {
        CHECK(pthread_create(&threads[i], NULL, start_it, NULL) == 0);
    }
    for (int i = 0; i < count; i++) {
        void *good;
        CHECK(pthread_join(threads[i], &good) == 0 && good != NULL);
    }
    CHECK(strcmp(ofl_device_name(), "host") == 0);
}

/* The stand-in fails where signals are not blocked during the start; afterwards they are as before. */
static void signal_mask_stays(void)
{
    sigset_t before, after;
    use_stand_in("good");
    CHECK(sigemptyset(&before) == 0 && sigaddset(&before, SIGUSR1) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    CHECK(ofl_device_start() == OFL_OK && pthread_sigmask(SIG_SETMASK, NULL, &after) == 0);
    for (int signal = 1; signal < 32; signal++) {
        CHECK(sigismember(&before, signal) == sigismember(&after, signal));
    }
}

void test_start_once(void **state)
{
    (void)state;
    in_child(threads_start);
    in_child(signal_mask_stays);
}

static void exit_after_start(void)
{
    use_stand_in("good");
    CHECK(ofl_device_start() == OFL_OK);
    ofl_device_exit();
    CHECK(ofl_device_state() == OFL_EXITING && ofl_device_start() == OFL_EXITING);
    CHECK(strcmp(ofl_device_name(), "host") == 0); /* for the summary */
}

static void exit_before_start(void)
{
    use_stand_in("good");
    ofl_device_exit();
    CHECK(ofl_device_start() == OFL_EXITING);
}

void test_exit(void **state)
{
    (void)state;
    in_child(exit_after_start);
    in_child(exit_before_start);
}

/* Forks as the preload library does; the status of the child, which runs `function`. */
static int fork_with(void (*function)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        ofl_device_after_fork_in_child();
        function();
        _exit(0);
    }
    ofl_device_after_fork_in_parent();
    CHECK(child > 0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static void must_start(void)
{
    CHECK(ofl_device_state() == OFL_NOT_STARTED && ofl_device_start() == OFL_OK);
}

static void must_stay_on_the_cpu(void)
{
    struct ofl_call call = {.operation = OFL_OP_gemm};
    CHECK(ofl_device_state() == OFL_FORKED && ofl_device_start() == OFL_FORKED && ofl_device_name() == NULL);
    CHECK(ofl_device_run(&call, NULL) == OFL_FORKED && ofl_device_supports(&call) == OFL_FORKED);
}

static void fork_around_start(void)
{
    use_stand_in("good");
    ofl_device_before_fork();
    CHECK(fork_with(must_start) == 0);
    CHECK(ofl_device_start() == OFL_OK);
    ofl_device_before_fork();
    CHECK(fork_with(must_stay_on_the_cpu) == 0);
    CHECK(ofl_device_state() == OFL_OK);
}

void test_fork(void **state)
{
    (void)state;
    in_child(fork_around_start);
}

/* Forks while another thread is in the middle of the start, and while one waits for it. */
static void fork_during_start(void)
{
    int begun[2], go_on[2];
    char text[32], byte;
    pthread_t starter, waiter;
    void *good;
    use_stand_in("good");
    CHECK(pipe(begun) == 0 && pipe(go_on) == 0);
    snprintf(text, sizeof text, "%d,%d", begun[1], go_on[0]);
    setenv("STAND_IN_WAIT", text, 1);
    CHECK(pthread_create(&starter, NULL, start_it, NULL) == 0 && read(begun[0], &byte, 1) == 1);
    CHECK(ofl_device_state() == OFL_NOT_STARTED);
    CHECK(pthread_create(&waiter, NULL, start_it, NULL) == 0);
    CHECK(fork_with(must_stay_on_the_cpu) == 0);
    CHECK(write(go_on[1], &byte, 1) == 1);
    CHECK(pthread_join(starter, &good) == 0 && good != NULL);
    CHECK(pthread_join(waiter, &good) == 0 && good != NULL);
}

void test_fork_while_starting(void **state)
{
    (void)state;
    in_child(fork_during_start);
}

static void closed_descriptors(void)
{
    use_stand_in("good"); /* opens a file that stays open */
    for (int i = 0; i < 3; i++) {
        close(i);
    }
    enum ofl_reason reason = ofl_device_start();
    for (int i = 0; i < 3; i++) {
        if (reason != OFL_OK || open("/dev/null", O_RDWR) != i) {
            _exit(10 + i); /* there is nothing to print to */
        }
    }
    _exit(0);
}

static void open_descriptors(void)
{
    use_stand_in("good");
    CHECK(ofl_device_start() == OFL_OK);
    CHECK(fcntl(0, F_GETFD) != -1 && fcntl(1, F_GETFD) != -1 && fcntl(2, F_GETFD) != -1);
}

void test_descriptors(void **state)
{
    (void)state;
    in_child(closed_descriptors);
    in_child(open_descriptors);
}
