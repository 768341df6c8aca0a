/* One pass of the calibration: the client under `gpu-offload run`, and what it says.
 *
 * Entry point: ofl_calibration_run.  The client is another process because a CPU library may crash or hang in a
 * routine that it offers: then the routine is left out, with a line, and a new client goes on behind it.  What was
 * measured before is in the trace, which is whole to its last call.  The time that the pass may take is bounded
 * whatever the client does. */
#include "cli/calibrate/calibrate.h"
#include "base/clock.h"
#include "base/message.h"
#include "cli/capture.h"
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENT "gpu-offload-calibrate-client"

enum { MOST_CLIENTS = 20, LINE = PATH_MAX + 32 };

/* A client that is running, and the pass so far. */
struct client {
    const struct ofl_calibration_effort *effort;
    struct ofl_calibration_pass *pass;
    pid_t process;
    int said; /* what it says */
    char text[LINE];
    size_t length;
    double began, deadline; /* of the pass */
    unsigned long plan, done;
    char trying[32]; /* the routine that it measures */
    bool ended;      /* it has said so */
};

/* ---- Starting ---- */

static bool start(struct client *client)
{
    const struct ofl_calibration_effort *effort = client->effort;
    char path[PATH_MAX], seconds[32], largest[32], from[32], sweeps[32];
    int ends[2];
    snprintf(seconds, sizeof seconds, "%g", effort->seconds - (ofl_clock() - client->began));
    snprintf(largest, sizeof largest, "%d", effort->largest);
    snprintf(from, sizeof from, "%lu", client->done);
    snprintf(sweeps, sizeof sweeps, "%d", effort->sweeps);
    if (!ofl_cli_library(CLIENT, path, sizeof path) || access(path, X_OK) != 0) {
        ofl_message("calibrate: %s is not where it belongs, at %s; install gpu-offload again", CLIENT, path);
        return false;
    }
    char *arguments[] = {"run",
                         "--trace",
                         client->pass->folder,
                         "--device",
                         effort->device != NULL ? (char *)effort->device : "none",
                         effort->device != NULL ? "--force" : "--no-force",
                         "--no-summary",
                         "--residency", /* it repeats its calls: each is to copy everything */
                         "off",
                         "--",
                         path,
                         seconds,
                         largest,
                         "--sweeps",
                         sweeps,
                         "--from",
                         from,
                         "--skip",
                         client->pass->skip,
                         NULL, /* ... the options below */
                         NULL,
                         NULL};
    int count = 0;
    while (arguments[count] != NULL) {
        count++;
    }
    if (effort->coarse) {
        arguments[count++] = "--coarse";
    }
    if (effort->device != NULL) {
        arguments[count++] = "--device";
    }
    if (pipe(ends) != 0) {
        ofl_message("calibrate: no pipe: %s", strerror(errno));
        return false;
    }
    fflush(NULL);
    client->process = fork();
    if (client->process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        unsetenv("GPU_OFFLOAD_SUMMARY");
        _exit(ofl_cli_run(count, arguments));
    }
    close(ends[1]);
    client->said = ends[0];
    client->length = 0;
    client->ended = false;
    client->trying[0] = '\0';
    if (client->process < 0) {
        close(ends[0]);
        ofl_message("calibrate: no process for the workload: %s", strerror(errno));
    }
    return client->process > 0;
}

/* ---- Listening ---- */

/* The next line, without its end.  False at the end of what the client says, at the deadline, or after a signal. */
static bool next_line(struct client *client, char line[LINE])
{
    for (;;) {
        char *end = memchr(client->text, '\n', client->length);
        if (end != NULL) {
            size_t length = (size_t)(end - client->text);
            memcpy(line, client->text, length);
            line[length] = '\0';
            client->length -= length + 1;
            memmove(client->text, end + 1, client->length);
            return true;
        }
        struct pollfd wait = {.fd = client->said, .events = POLLIN};
        double left = client->deadline - ofl_clock();
        if (client->length >= sizeof client->text || left <= 0 || ofl_cli_interrupted) {
            return false;
        }
        size_t room = sizeof client->text - client->length;
        /* A signal that comes just before poll is noticed at the next turn. */
        int ready = poll(&wait, 1, left < 0.5 ? (int)(left * 1000) + 1 : 500);
        ssize_t n = ready > 0 ? read(client->said, client->text + client->length, room) : -1;
        if (ready > 0 && n <= 0 && !(n < 0 && errno == EINTR)) {
            return false;
        }
        client->length += n > 0 ? (size_t)n : 0;
    }
}

bool ofl_calibration_add_point(struct ofl_calibration_pass *pass, const char *values)
{
    char routine[32];
    int quiet, end = 0;
    struct ofl_calibration_point point = {.quiet = false};
    sscanf(values, "%31s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64 " %d%n", routine, &point.m, &point.n,
           &point.k, &point.begin, &point.end, &quiet, &end);
    const char *letter = end > 0 && values[end] == '\0' ? strchr("sdcz", routine[0]) : NULL;
    point.operation = letter != NULL ? ofl_operation_find(routine + 1, strlen(routine + 1)) : OFL_OPERATION_COUNT;
    if (point.operation == OFL_OPERATION_COUNT || *letter == '\0') {
        return false;
    }
    point.precision = (enum ofl_precision)(letter - "sdcz");
    point.quiet = quiet != 0;
    struct ofl_calibration_point *more = realloc(pass->point, (pass->points + 1) * sizeof *more);
    if (more == NULL) {
        return false;
    }
    pass->point = more;
    pass->point[pass->points++] = point;
    pass->disturbed += !point.quiet;
    return true;
}

static void leave_out(struct ofl_calibration_pass *pass, const char *routine)
{
    size_t length = strlen(pass->skip);
    snprintf(pass->skip + length, sizeof pass->skip - length, "%s%s", length > 0 ? "," : "", routine);
}

/* On a terminal: one line that is written over, with the time that is left. */
static void show_progress(const struct client *client)
{
    const struct ofl_calibration_effort *effort = client->effort;
    if (isatty(STDERR_FILENO) && client->plan > 0) {
        double left = effort->seconds + effort->later - (ofl_clock() - client->began);
        char line[128];
        int length = snprintf(line, sizeof line, "\r%-28s %3lu%%, at most %3.0f s left ",
                              effort->device != NULL ? "measuring the device" : "measuring the CPU library",
                              100 * client->done / client->plan, left > 0 ? left : 0);
        if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) {
            return;
        }
    }
}

static void clear_progress(void)
{
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}

/* False without memory. */
static bool take_line(struct client *client, const char *line)
{
    struct ofl_calibration_pass *pass = client->pass;
    if (strncmp(line, "point ", 6) == 0) {
        return ofl_calibration_add_point(pass, line + 6);
    }
    if (strncmp(line, "library /", 9) == 0) {
        snprintf(pass->library, sizeof pass->library, "%.*s", OFL_PROFILE_KEY_SIZE - 1, strrchr(line, '/') + 1);
    } else if (strncmp(line, "try ", 4) == 0) {
        snprintf(client->trying, sizeof client->trying, "%.*s", (int)sizeof client->trying - 1, line + 4);
    } else if (strncmp(line, "stop ", 5) == 0) {
        leave_out(pass, line + 5);
    } else if (strcmp(line, "done") == 0 || strcmp(line, "skip") == 0) {
        client->done++;
        client->trying[0] = '\0';
    } else if (strcmp(line, "end") == 0) {
        client->ended = true;
    } else {
        sscanf(line, "plan %lu", &client->plan);
    }
    return true;
}

/* ---- Ending ---- */

/* Ends the client if it has not ended; its status. */
static int stop(struct client *client, bool in_time)
{
    int status = 0;
    close(client->said);
    if (!in_time) {
        kill(client->process, SIGKILL);
    } else if (ofl_cli_interrupted) {
        kill(client->process, SIGTERM);
    }
    while (waitpid(client->process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static void tell_crash(const struct client *client, int status)
{
    char how[64];
    if (WIFSIGNALED(status)) {
        snprintf(how, sizeof how, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(how, sizeof how, "status %d", WEXITSTATUS(status));
    }
    ofl_message("calibrate: %s ended the workload with %s and is left out", client->trying, how);
}

/* Runs one client to its end.  Returns whether another one is to go on; *good: whether the pass can be used. */
static bool run_client(struct client *client, bool *good)
{
    char line[LINE];
    *good = false;
    if (!start(client)) {
        return false;
    }
    bool memory = true;
    while (memory && next_line(client, line)) {
        memory = take_line(client, line);
        show_progress(client);
    }
    bool in_time = ofl_clock() < client->deadline && memory;
    int status = stop(client, in_time);
    clear_progress();
    if (ofl_cli_interrupted || !memory) {
        return false;
    }
    *good = client->pass->points > 0;
    if (!in_time) {
        ofl_message("calibrate: %s did not come back and is left out",
                    client->trying[0] != '\0' ? client->trying : "the workload");
        return false;
    }
    if (client->ended && status == 0) {
        *good = true;
        return false;
    }
    if (client->trying[0] == '\0') {
        *good = false;
        ofl_message("calibrate: the workload ended with %s %d; no profile was written",
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        return false;
    }
    tell_crash(client, status);
    leave_out(client->pass, client->trying);
    client->done++;
    return true;
}

bool ofl_calibration_run(const struct ofl_calibration_effort *effort, struct ofl_calibration_pass *pass)
{
    struct client client = {.effort = effort, .pass = pass, .began = ofl_clock()};
    client.deadline = client.began + 1.25 * effort->seconds + 20;
    bool good = false;
    for (int i = 0; i < MOST_CLIENTS && run_client(&client, &good); i++) {
        if (ofl_clock() - client.began > effort->seconds) {
            break;
        }
    }
    return good;
}
