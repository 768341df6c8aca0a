/* gpu-offload calibrate: measures this machine and writes its profile.
 *
 * Entry point: ofl_cli_calibrate.  It runs the workload (calibrate/client.c) twice under `gpu-offload run`, once
 * with everything on the CPU and once with everything on the device, fits a machine to the two traces
 * (calibrate/fit.c) and replaces the old profile in one step.  Interrupted at any moment it leaves the
 * old profile as it was and no files behind. */
#include "cli/calibrate/calibrate.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "base/message.h"
#include "profile/facts.h"
#include "profile/store.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENT "gpu-offload-calibrate-client"

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    interrupted = signal;
}

struct options {
    const char *device, *output;
    bool quick;
};

/* How long each pass may take and how large it may get. */
struct effort {
    double cpu_seconds, device_seconds;
    int cpu_largest, device_largest;
};
static const struct effort quick = {11, 9, 1536, 3072}, full = {160, 140, 6144, 6144};

static void print_help(void)
{
    puts("usage: gpu-offload calibrate [--quick] [--device cuda|host] [--output FILE]\n\n"
         "Measures how fast this machine's CPU library and GPU compute and how fast data\n"
         "moves between them, and writes that as the machine's profile, which decisions are\n"
         "made from.  Run it while the machine does nothing else.\n\n"
         "  --quick        half a minute instead of five: fewer sizes and shapes\n"
         "  --device KIND  the device to measure (default: cuda)\n"
         "  --output FILE  write the profile to FILE instead of where gpu-offload finds it\n"
         "  --help         print this\n");
}

/* ---- A pass ---- */

/* Starts the workload; returns its process and the stream of what it says. */
static pid_t start_client(const struct options *options, bool on_device, const struct ofl_calibration_pass *pass,
                          const struct effort *effort, FILE **said)
{
    char client[PATH_MAX], seconds[32], largest[32];
    int ends[2];
    snprintf(seconds, sizeof seconds, "%g", on_device ? effort->device_seconds : effort->cpu_seconds);
    snprintf(largest, sizeof largest, "%d", on_device ? effort->device_largest : effort->cpu_largest);
    if (!ofl_cli_library(CLIENT, client, sizeof client) || access(client, X_OK) != 0) {
        ofl_message("calibrate: %s is not where it belongs, at %s; install gpu-offload again", CLIENT, client);
        return -1;
    }
    char *arguments[] = {"run",
                         "--trace",
                         (char *)pass->folder,
                         "--device",
                         on_device ? (char *)options->device : "none",
                         on_device ? "--force" : "--no-force",
                         "--",
                         client,
                         seconds,
                         largest,
                         NULL};
    if (pipe(ends) != 0) {
        return -1;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(ofl_cli_run((int)(sizeof arguments / sizeof *arguments) - 1, arguments));
    }
    close(ends[1]);
    *said = child > 0 ? fdopen(ends[0], "r") : NULL;
    return child;
}

static bool add_point(struct ofl_calibration_pass *pass, const char *line)
{
    char routine[32];
    int quiet;
    struct ofl_calibration_point point = {.quiet = false};
    if (sscanf(line, "point %31s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64 " %d", routine, &point.m,
               &point.n, &point.k, &point.begin, &point.end, &quiet) != 7) {
        return true;
    }
    const char *letter = strchr("sdcz", routine[0]);
    point.operation = ofl_operation_find(routine + 1, strlen(routine + 1));
    point.precision = letter != NULL ? (enum ofl_precision)(letter - "sdcz") : OFL_PRECISION_COUNT;
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

/* On a terminal: one line that is written over, with the time that is left. */
static void show_progress(const char *what, double started, double allowed, unsigned long done, unsigned long plan)
{
    if (isatty(STDERR_FILENO) && plan > 0) {
        double left = allowed - (ofl_clock() - started);
        char line[128];
        int length = snprintf(line, sizeof line, "\r%-28s %3lu%%, at most %3.0f s left ", what, 100 * done / plan,
                              left > 0 ? left : 0);
        if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) {
            return;
        }
    }
}

static bool run_pass(const struct options *options, bool on_device, const struct effort *effort,
                     struct ofl_calibration_pass *pass)
{
    const char *what = on_device ? "measuring the device" : "measuring the CPU library";
    double started = ofl_clock(), allowed = on_device ? effort->device_seconds : effort->cpu_seconds;
    double rest = on_device ? 0 : effort->device_seconds;
    unsigned long plan = 0, done = 0;
    FILE *said = NULL;
    char line[PATH_MAX + 32];
    pid_t child = start_client(options, on_device, pass, effort, &said);
    if (child < 0 || said == NULL) {
        return false;
    }
    while (!interrupted && fgets(line, sizeof line, said) != NULL) {
        if (sscanf(line, "plan %lu", &plan) != 1 && strncmp(line, "point ", 6) == 0 && !add_point(pass, line)) {
            break;
        }
        if (strncmp(line, "library ", 8) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(pass->library, sizeof pass->library, "%.*s", OFL_PROFILE_KEY_SIZE - 1, strrchr(line, '/') + 1);
        }
        done += strcmp(line, "done\n") == 0 || strcmp(line, "skip\n") == 0;
        show_progress(what, started, allowed + rest, done, plan);
    }
    if (interrupted) {
        kill(child, SIGTERM);
    }
    fclose(said);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
    if (interrupted) {
        return false;
    }
    if (status != 0) {
        ofl_message("calibrate: the workload ended with %s %d; no profile was written",
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        return false;
    }
    return true;
}

/* ---- The whole ---- */

static void remove_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[2 * NAME_MAX + 2];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(entries);
    rmdir(folder);
}

static bool make_folder(struct ofl_calibration_pass *pass)
{
    const char *base = getenv("TMPDIR");
    base = base != NULL && base[0] == '/' && strlen(base) < sizeof pass->folder - 40 ? base : "/tmp";
    snprintf(pass->folder, sizeof pass->folder, "%s/gpu-offload-calibrate-XXXXXX", base);
    if (mkdtemp(pass->folder) == NULL) {
        ofl_message("calibrate: cannot make a folder in %s: %s", base, strerror(errno));
        pass->folder[0] = '\0';
        return false;
    }
    return true;
}

static bool save(const struct options *options, const struct ofl_calibration_pass *cpu, struct ofl_profile *profile)
{
    char path[PATH_MAX], explanation[512];
    time_t seconds = time(NULL);
    struct tm date;
    ofl_facts_key(strcmp(options->device, "cuda") == 0, &profile->key);
    snprintf(profile->key.library, sizeof profile->key.library, "%s", cpu->library);
    profile->quick = options->quick;
    if (localtime_r(&seconds, &date) != NULL) {
        strftime(profile->date, sizeof profile->date, "%Y-%m-%d %H:%M", &date);
    }
    if (options->output != NULL) {
        snprintf(path, sizeof path, "%s", options->output);
    } else if (!ofl_profile_path(&profile->key, options->device, path, sizeof path)) {
        ofl_message("calibrate: there is no home folder to keep the profile in; name a file with --output");
        return false;
    }
    if (!ofl_profile_save(path, profile, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s", explanation);
        return false;
    }
    printf("wrote %s\n", path);
    return true;
}

static int calibrate(const struct options *options)
{
    static struct ofl_profile profile;
    struct ofl_calibration_pass cpu = {.points = 0}, device = {.points = 0};
    const struct effort *effort = options->quick ? &quick : &full;
    char explanation[512] = "";
    int status = OFL_EXIT_FAILED;
    if (make_folder(&cpu) && make_folder(&device) && run_pass(options, false, effort, &cpu) &&
        run_pass(options, true, effort, &device)) {
        if (!ofl_calibration_fit(&cpu, &device, &profile.machine, explanation, sizeof explanation)) {
            ofl_message("calibrate: %s; no profile was written", explanation);
        } else if (!interrupted && save(options, &cpu, &profile)) {
            status = 0;
        }
        size_t disturbed = cpu.disturbed + device.disturbed, points = cpu.points + device.points;
        if (disturbed > 0) {
            printf("%zu of %zu points were measured while other programs used the CPU; if that is not usual here, "
                   "calibrate again when it is quiet\n",
                   disturbed, points);
        }
    }
    remove_folder(cpu.folder);
    remove_folder(device.folder);
    free(cpu.point);
    free(device.point);
    if (interrupted) {
        ofl_message("calibrate: interrupted; the profile is as it was");
        return 128 + interrupted;
    }
    return status;
}

/* Returns -1 to go on, or an exit status. */
static int read_options(int argc, char **argv, struct options *out)
{
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    optind = 1;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        switch (option) {
        case 'q':
            out->quick = true;
            break;
        case 'd':
            out->device = optarg;
            break;
        case 'o':
            out->output = optarg;
            break;
        case 'h':
            print_help();
            return 0;
        default:
            ofl_message("calibrate: '%s' is not an option or needs a value; 'gpu-offload calibrate --help' explains",
                        argv[optind - 1]);
            return OFL_EXIT_USAGE;
        }
    }
    if (optind < argc || (strcmp(out->device, "cuda") != 0 && strcmp(out->device, "host") != 0)) {
        ofl_message("calibrate: '%s' is not expected; 'gpu-offload calibrate --help' explains",
                    optind < argc ? argv[optind] : out->device);
        return OFL_EXIT_USAGE;
    }
    return -1;
}

int ofl_cli_calibrate(int argc, char **argv)
{
    struct options options = {.device = "cuda"};
    int status = read_options(argc, argv, &options);
    if (status >= 0) {
        return status;
    }
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    return calibrate(&options);
}
