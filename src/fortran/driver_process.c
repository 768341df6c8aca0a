/* Child processes and the private folder; see driver_process.h. */
#include "fortran/driver_process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Written by the main thread with the signals below blocked; read by the handler. */
static char scratch[PATH_MAX];
static volatile sig_atomic_t children[OFL_MOST_JOBS + 1]; /* pids; 0 where none runs */
enum { STARTED = OFL_MOST_JOBS };                         /* the place of ofl_start's */
/* What standard input held, once it is kept. */
static const char *input_text;
static size_t input_length;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    remove(path);
    return 0;
}

void ofl_scratch_close(void)
{
    if (scratch[0] != '\0') {
        nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        scratch[0] = '\0';
    }
}

/* The handler does more than POSIX promises to be safe (nftw allocates), but the process only waits for children when
 * the signals are not blocked: see wait_for. */
static void end_by_signal(int number)
{
    for (size_t i = 0; i <= OFL_MOST_JOBS; i++) {
        if (children[i] > 0) {
            kill((pid_t)children[i], number);
        }
    }
    for (size_t i = 0; i <= OFL_MOST_JOBS; i++) {
        if (children[i] > 0) {
            waitpid((pid_t)children[i], NULL, 0);
        }
    }
    ofl_scratch_close();
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static void block_signals(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigaddset(&set, ending_signals[i]);
    }
    sigprocmask(how, &set, NULL);
}

/* From here on the signals are only let in while the process waits, and end its child and the folder too. */
static void handle_signals(void)
{
    static bool handled;
    if (handled) {
        return;
    }
    handled = true;
    block_signals(SIG_BLOCK);
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        struct sigaction old, new = {.sa_handler = end_by_signal};
        sigfillset(&new.sa_mask);
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(ending_signals[i], &new, NULL);
        }
    }
}

const char *ofl_scratch_open(void)
{
    if (scratch[0] != '\0') {
        return scratch;
    }
    const char *base = getenv("TMPDIR");
    if (base == NULL || *base == '\0') {
        base = "/tmp";
    }
    handle_signals();
    if (snprintf(scratch, sizeof scratch, "%s/gpu-offload-XXXXXX", base) >= (int)sizeof scratch ||
        mkdtemp(scratch) == NULL) {
        ofl_fc_error("cannot make a folder for temporary files below %s: %s (TMPDIR names another place)", base,
                     strerror(errno));
        scratch[0] = '\0';
        return NULL;
    }
    atexit(ofl_scratch_close);
    return scratch;
}

bool ofl_file_write(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && fwrite(text, 1, length, file) == length;
    if (file != NULL && fclose(file) != 0) {
        written = false;
    }
    if (!written) {
        ofl_fc_error("cannot write %s: %s", path, strerror(errno));
    }
    return written;
}

char *ofl_file_read(struct ofl_arena *arena, const char *path, size_t *length)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not waiting for the other end of a pipe */
    struct stat status;
    char *text = NULL;
    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        size_t size = (size_t)status.st_size, used = 0;
        text = ofl_arena_alloc(arena, size + 1);
        while (used < size) {
            ssize_t got = read(file, text + used, size - used);
            if (got <= 0) {
                break;
            }
            used += (size_t)got;
        }
        text[used] = '\0';
        *length = used;
    } else {
        errno = EINVAL;
    }
    close(file);
    return text;
}

/* Copies standard input to a file without a name that takes its place. */
static bool replace_stdin(void)
{
    static char piece[65536];
    int file = memfd_create("gpu-offload fc: standard input", MFD_CLOEXEC);
    ssize_t got = -1;
    while (file >= 0 && (got = read(STDIN_FILENO, piece, sizeof piece)) != 0) {
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 || write(file, piece, (size_t)got) != got) {
            got = -1;
            break;
        }
        input_length += (size_t)got;
    }
    bool replaced = got == 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO;
    if (file >= 0) {
        close(file);
    }
    return replaced;
}

const char *ofl_stdin_keep(struct ofl_arena *arena, size_t *length)
{
    if (input_text == NULL) {
        char *text = NULL;
        if (replace_stdin()) {
            text = ofl_arena_alloc(arena, input_length + 1);
            text[input_length] = '\0';
        }
        if (text == NULL || pread(STDIN_FILENO, text, input_length, 0) != (ssize_t)input_length) {
            ofl_fc_error("cannot read standard input: %s", strerror(errno));
            return NULL;
        }
        input_text = text;
    }
    *length = input_length;
    return input_text;
}

static void rewind_stdin(void)
{
    if (input_text != NULL) {
        lseek(STDIN_FILENO, 0, SEEK_SET);
    }
}

static void not_started(const char *program)
{
    if (errno == ENOENT) {
        ofl_fc_error("'%s' was not found; install it%s", program,
                     strcmp(program, "cc") == 0 ? ": kernels for the CPU are compiled by it"
                                                : ", or name another Fortran compiler with --host-compiler=");
    } else {
        ofl_fc_error("cannot start '%s': %s", program, strerror(errno));
    }
}

int ofl_exec(const struct ofl_words *words)
{
    block_signals(SIG_UNBLOCK);
    rewind_stdin();
    execvp(words->items[0], words->items);
    not_started(words->items[0]);
    return 1;
}

/* Starts a program with the signals that this process was started with, its output going to `log` if that is a
 * descriptor.  (Handlers are nobody's behind exec.)  No copy of this process is made.  0, or an errno. */
static int start(const struct ofl_words *words, int log, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigdelset(&mask, ending_signals[i]);
    }
    int failure = posix_spawnattr_init(&attributes);
    if (failure != 0) {
        return failure;
    }
    failure = posix_spawn_file_actions_init(&actions);
    if (failure == 0) {
        posix_spawnattr_setsigmask(&attributes, &mask);
        failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (failure == 0 && log >= 0) {
            failure = posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
            failure = failure != 0 ? failure : posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
        }
        failure =
            failure != 0 ? failure : posix_spawnp(pid, words->items[0], &actions, &attributes, words->items, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* Starts a program as a child; false after an error, which has been printed. */
static bool start_child(const struct ofl_words *words, int log, size_t number)
{
    pid_t pid;
    handle_signals();
    fflush(NULL);
    rewind_stdin();
    errno = start(words, log, &pid);
    if (errno != 0) {
        not_started(words->items[0]);
        return false;
    }
    children[number] = pid;
    return true;
}

static int wait_for(size_t number, const char *program)
{
    int status = 0;
    block_signals(SIG_UNBLOCK); /* the handler may run here, and only here */
    while (waitpid((pid_t)children[number], &status, 0) < 0 && errno == EINTR) {
    }
    block_signals(SIG_BLOCK);
    children[number] = 0;
    if (WIFSIGNALED(status)) {
        ofl_fc_error("'%s' was ended by signal %d (%s)", program, WTERMSIG(status), strsignal(WTERMSIG(status)));
        return 1;
    }
    return WEXITSTATUS(status);
}

static int run(const struct ofl_words *words, int log)
{
    return start_child(words, log, 0) ? wait_for(0, words->items[0]) : 1;
}

int ofl_run(const struct ofl_words *words)
{
    return run(words, -1);
}

bool ofl_start(const struct ofl_words *words)
{
    return start_child(words, -1, STARTED);
}

int ofl_finish(const struct ofl_words *words)
{
    return wait_for(STARTED, words->items[0]);
}

static int open_log(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        ofl_fc_error("cannot write %s: %s", path, strerror(errno));
    }
    return file;
}

void ofl_run_together(struct ofl_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int log = open_log(jobs[i].log);
        jobs[i].started = log >= 0 && start_child(&jobs[i].words, log, i);
        jobs[i].status = jobs[i].started ? 0 : 1;
        if (log >= 0) {
            close(log);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].started) {
            jobs[i].status = wait_for(i, jobs[i].words.items[0]);
        }
    }
}

int ofl_run_logged(const struct ofl_words *words, const char *log)
{
    struct ofl_job job = {.words = *words, .log = log};
    ofl_run_together(&job, 1);
    return job.status;
}
