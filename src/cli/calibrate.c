/* gpu-offload calibrate: measures this machine and writes its profile.
 *
 * Entry point: ofl_cli_calibrate.  It runs the workload (calibrate/client.c) twice under `gpu-offload run`, once
 * with everything on the CPU and once with everything on the device (calibrate/pass.c), times copies of page-locked
 * memory (calibrate/copies.c), fits a machine to the two traces (calibrate/fit.c) and replaces the old profile in one
 * step.  Interrupted at any moment it leaves the old profile as it was and no files behind. */
#include "cli/calibrate/calibrate.h"
#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/device_check.h"
#include "base/message.h"
#include "profile/facts.h"
#include "profile/store.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void interrupt(int signal)
{
    ofl_cli_interrupted = signal;
}

enum { QUICK_SECONDS = 20, FINE_SECONDS = 200, FULL_SECONDS = 300, LEAST_SECONDS = 10, MOST_SECONDS = 3600 };

struct options {
    const char *device, *output;
    int seconds; /* that both passes may take */
};

/* A calibration this short is one of few sizes and shapes. */
static bool is_quick(const struct options *options)
{
    return options->seconds < 60;
}

static void print_help(void)
{
    puts("usage: gpu-offload calibrate [--quick] [--seconds N] [--device cuda|host] [--output FILE]\n\n"
         "Measures how fast this machine's CPU library and GPU compute and how fast data\n"
         "moves between them, and writes that as the machine's profile, which decisions are\n"
         "made from.  Run it while the machine does nothing else.\n\n"
         "  --quick        half a minute instead of five: fewer sizes and shapes\n"
         "  --seconds N    take about N seconds, 10 to 3600: the more, the larger the sizes\n"
         "  --device KIND  the device to measure (default: cuda)\n"
         "  --output FILE  write the profile to FILE instead of where gpu-offload finds it\n"
         "  --help         print this\n");
}

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

static const char *backend_folder(void)
{
    const char *folder = getenv("GPU_OFFLOAD_BACKEND_DIR");
    return folder != NULL ? folder : "";
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

/* Where the profile will be; false after a message if it cannot be written there. */
static bool find_output(const struct options *options, const struct ofl_profile_key *here, char path[PATH_MAX])
{
    char explanation[PATH_MAX + 128];
    if (options->output != NULL) {
        snprintf(path, PATH_MAX, "%s", options->output);
    } else if (!ofl_profile_path(here, options->device, path, PATH_MAX)) {
        ofl_message("calibrate: there is no home folder to keep the profile in; name a file with --output");
        return false;
    }
    if (!ofl_profile_can_save(path, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; name another file with --output", explanation);
        return false;
    }
    return true;
}

static bool save(const struct options *options, const struct ofl_calibration_pass *cpu, struct ofl_profile *profile,
                 const char *path)
{
    char explanation[PATH_MAX + 128];
    time_t seconds = time(NULL);
    struct tm date;
    snprintf(profile->key.library, sizeof profile->key.library, "%s", cpu->library);
    profile->quick = is_quick(options);
    if (localtime_r(&seconds, &date) != NULL) {
        strftime(profile->date, sizeof profile->date, "%Y-%m-%d %H:%M", &date);
    }
    if (!ofl_profile_save(path, profile, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s", explanation);
        return false;
    }
    printf("wrote %s\n", path);
    return true;
}

/* Both passes; the device's copies have been measured. */
static bool measure(const struct options *options, const struct ofl_calibration_copies *copies, const char *path,
                    struct ofl_profile *profile)
{
    struct ofl_calibration_pass cpu = {.points = 0}, device = {.points = 0};
    const bool coarse = options->seconds < FINE_SECONDS;
    struct ofl_calibration_effort on_cpu = {NULL, 0.55 * options->seconds, is_quick(options) ? 1536 : 6144, coarse, 0};
    struct ofl_calibration_effort on_device = {options->device, options->seconds - on_cpu.seconds,
                                               is_quick(options) ? 3072 : 12288, coarse, 0};
    on_cpu.later = on_device.seconds;
    char explanation[512] = "";
    bool done = false;
    if (make_folder(&cpu) && make_folder(&device) && ofl_calibration_run(&on_cpu, &cpu) &&
        ofl_calibration_run(&on_device, &device)) {
        if (!ofl_calibration_fit(&cpu, &device, copies, &profile->machine, explanation, sizeof explanation)) {
            ofl_message("calibrate: %s; no profile was written", explanation);
        } else {
            done = !ofl_cli_interrupted && save(options, &cpu, profile, path);
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
    return done;
}

/* What can be known in the first seconds comes first: whether there is a device, and a place for the profile. */
static int calibrate(const struct options *options)
{
    static struct ofl_profile profile;
    struct ofl_calibration_copies copies;
    char path[PATH_MAX], explanation[PATH_MAX + 512];
    bool done = false;
    ofl_facts_key(strcmp(options->device, "cuda") == 0, &profile.key);
    if (!ofl_cli_check_device(options->device, backend_folder(), explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; nothing was measured", explanation);
    } else if (find_output(options, &profile.key, path) && ofl_calibration_copies(options->device, &copies)) {
        done = measure(options, &copies, path, &profile);
    }
    if (!done && ofl_cli_interrupted) {
        ofl_message("calibrate: interrupted; the profile is as it was");
        return 128 + ofl_cli_interrupted;
    }
    return done ? 0 : OFL_EXIT_FAILED;
}

static bool read_seconds(const char *text, int *out)
{
    char *end;
    long seconds = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || seconds < LEAST_SECONDS || seconds > MOST_SECONDS) {
        ofl_message("calibrate: '%s' is not a number of seconds from %d to %d", text, LEAST_SECONDS, MOST_SECONDS);
        return false;
    }
    *out = (int)seconds;
    return true;
}

/* Returns -1 to go on, or an exit status. */
static int read_options(int argc, char **argv, struct options *out)
{
    static const struct option options[] = {
        {"quick", no_argument, NULL, 'q'},        {"seconds", required_argument, NULL, 's'},
        {"device", required_argument, NULL, 'd'}, {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},         {0}};
    optind = 1;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        switch (option) {
        case 'q':
            out->seconds = QUICK_SECONDS;
            break;
        case 's':
            if (!read_seconds(optarg, &out->seconds)) {
                return OFL_EXIT_USAGE;
            }
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
    struct options options = {.device = "cuda", .seconds = FULL_SECONDS};
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
