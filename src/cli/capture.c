/* Runs something in a child process and reads what it prints, with a time limit.
 *
 * Entry points: ofl_cli_capture (another program) and ofl_cli_capture_call (a function of ours, for
 * libraries that one does not want in one's own process).  The child gets a process group of
 * its own, so that the limit also ends what it started. */
#include "cli/capture.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPTURE_MAX = 4 << 20 };

volatile sig_atomic_t ofl_cli_interrupted;

/* Reads until the end or the deadline.  Returns false at the deadline or when the command was interrupted; a signal
 * that comes just before poll is noticed at the next turn. */
static bool read_all(int input, char *text, size_t *length, double deadline)
{
    for (;;) {
        struct pollfd wait = {.fd = input, .events = POLLIN};
        double left = deadline - ofl_clock();
        if (left <= 0 || ofl_cli_interrupted) {
            return false;
        }
        if (poll(&wait, 1, left < 0.5 ? (int)(left * 1000) + 1 : 500) <= 0) {
            continue;
        }
        char discarded[4096];
        bool full = *length == CAPTURE_MAX;
        ssize_t n =
            full ? read(input, discarded, sizeof discarded) : read(input, text + *length, CAPTURE_MAX - *length);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return true;
        }
        *length += full ? 0 : (size_t)n;
    }
}

static void become_quiet_child(int output)
{
    setpgid(0, 0);
    unsetenv("LD_PRELOAD");
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

char *ofl_cli_capture_call(void (*work)(int output, void *context), void *context, int seconds)
{
    int ends[2];
    char *text = malloc(CAPTURE_MAX + 1);
    if (text == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        free(text);
        return NULL;
    }
    pid_t child = fork();
    if (child == 0) {
        become_quiet_child(ends[1]);
        work(STDOUT_FILENO, context);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    bool ended = child > 0 && read_all(ends[0], text, &length, ofl_clock() + seconds);
    close(ends[0]);
    int status = -1;
    if (child > 0) {
        if (!ended) {
            kill(-child, SIGKILL);
            kill(child, SIGKILL); /* it may not have made its group yet */
        }
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    }
    if (!ended || status != 0) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

static void execute(int output, void *context)
{
    (void)output;
    char *const *argv = context;
    execvp(argv[0], argv);
    _exit(127);
}

char *ofl_cli_capture(char *const argv[], int seconds)
{
    return ofl_cli_capture_call(execute, (void *)argv, seconds);
}
