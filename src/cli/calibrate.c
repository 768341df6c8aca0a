/* gpu-offload calibrate: measures this machine and writes its profile.
 *
 * Entry point: ofl_cli_calibrate.  It runs the workload (calibrate/client.c) twice under `gpu-offload run`, once
 * with everything on the CPU and once with everything on the device (calibrate/pass.c), times copies of page-locked
 * memory (calibrate/copies.c), fits a machine to the two traces (calibrate/fit.c) and replaces the old profile in one
 * step.  Interrupted at any moment it leaves the old profile as it was and no files behind.  What was measured can be
 * kept (calibrate/measurements.c) and fitted again, without measuring. */
#include "cli/calibrate/measurements.h"
#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/device_check.h"
#include "base/message.h"
#include "profile/facts.h"
#include "profile/store.h"

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
    const char *keep; /* a folder for what is measured, or NULL */
    const char *from; /* a folder with measurements to fit, or NULL */
    int seconds;      /* that both passes may take */
    bool measuring;   /* an option was given that has to do with measuring */
};

/* A calibration this short is one of few sizes and shapes. */
static bool is_quick(const struct options *options)
{
    return options->seconds < 60;
}

static void print_help(void)
{
    puts("usage: gpu-offload calibrate [--quick] [--seconds N] [--device cuda|host] [--output FILE]\n"
         "                             [--keep DIR]\n"
         "       gpu-offload calibrate --from DIR [--output FILE]\n\n"
         "Measures how fast this machine's CPU library and GPU compute and how fast data\n"
         "moves between them, and writes that as the machine's profile, which decisions are\n"
         "made from.  Run it while the machine does nothing else.\n\n"
         "  --quick        half a minute instead of five: fewer sizes and shapes\n"
         "  --seconds N    take about N seconds, 10 to 3600: the more, the larger the sizes\n"
         "  --device KIND  the device to measure (default: cuda)\n"
         "  --output FILE  write the profile to FILE instead of where gpu-offload finds it\n"
         "  --keep DIR     keep what was measured in DIR\n"
         "  --from DIR     measure nothing: make the profile from what --keep kept in DIR\n"
         "  --help         print this\n");
}

static const char *backend_folder(void)
{
    const char *folder = getenv("GPU_OFFLOAD_BACKEND_DIR");
    return folder != NULL ? folder : "";
}

/* A folder for the measurements: the one that is to be kept, or one of our own. */
static bool make_folder(const struct options *options, char folder[PATH_MAX], struct ofl_measurements *measurements)
{
    char explanation[2 * PATH_MAX];
    const char *base = getenv("TMPDIR");
    base = base != NULL && base[0] == '/' && strlen(base) < PATH_MAX / 2 ? base : "/tmp";
    if (options->keep != NULL) {
        snprintf(folder, PATH_MAX, "%s", options->keep);
    } else {
        snprintf(folder, PATH_MAX, "%s/gpu-offload-calibrate-XXXXXX", base);
        if (mkdtemp(folder) == NULL) {
            ofl_message("calibrate: cannot make a folder in %s: %s", base, strerror(errno));
            return false;
        }
    }
    if (!ofl_measurements_prepare(measurements, folder, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; nothing was measured", explanation);
        return false;
    }
    return true;
}

/* Where the profile will be; false after a message if it cannot be written there. */
static bool find_output(const struct options *options, const struct ofl_profile_key *machine, const char *kind,
                        char path[PATH_MAX])
{
    char explanation[PATH_MAX + 128];
    if (options->output != NULL) {
        snprintf(path, PATH_MAX, "%s", options->output);
    } else if (!ofl_profile_path(machine, kind, path, PATH_MAX)) {
        ofl_message("calibrate: there is no home folder to keep the profile in; name a file with --output");
        return false;
    }
    if (!ofl_profile_can_save(path, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; name another file with --output", explanation);
        return false;
    }
    return true;
}

/* From measurements to the profile in its place. */
static bool fit(const struct ofl_measurements *measurements, const char *path)
{
    static struct ofl_profile profile;
    char explanation[PATH_MAX + 128] = "";
    profile.key = measurements->key;
    profile.quick = measurements->quick;
    memcpy(profile.date, measurements->date, sizeof profile.date);
    if (!ofl_calibration_fit(&measurements->pass[OFL_ON_CPU], &measurements->pass[OFL_ON_DEVICE], &measurements->copies,
                             &profile.machine, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; no profile was written", explanation);
        return false;
    }
    if (ofl_cli_interrupted) {
        return false;
    }
    if (!ofl_profile_save(path, &profile, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s", explanation);
        return false;
    }
    printf("wrote %s\n", path);
    return true;
}

/* Both passes; the device's copies have been measured. */
static bool measure(const struct options *options, struct ofl_measurements *out)
{
    const bool coarse = options->seconds < FINE_SECONDS;
    const int sweeps = is_quick(options) ? 1 : 3;
    struct ofl_calibration_effort on_cpu = {
        NULL, 0.55 * options->seconds, is_quick(options) ? 1536 : 6144, coarse, sweeps, 0};
    struct ofl_calibration_effort on_device = {
        options->device, options->seconds - on_cpu.seconds, is_quick(options) ? 3072 : 12288, coarse, sweeps, 0};
    time_t seconds = time(NULL);
    struct tm date;
    on_cpu.later = on_device.seconds;
    out->quick = is_quick(options);
    if (localtime_r(&seconds, &date) != NULL) {
        strftime(out->date, sizeof out->date, "%Y-%m-%d %H:%M", &date);
    }
    struct ofl_calibration_pass *cpu = &out->pass[OFL_ON_CPU], *device = &out->pass[OFL_ON_DEVICE];
    if (!ofl_calibration_run(&on_cpu, cpu) || !ofl_calibration_run(&on_device, device)) {
        return false;
    }
    memcpy(out->key.library, cpu->library, sizeof out->key.library);
    size_t disturbed = cpu->disturbed + device->disturbed;
    if (disturbed > 0) {
        printf("%zu of %zu points were measured while other programs used the CPU; if that is not usual here, "
               "calibrate again when it is quiet\n",
               disturbed, cpu->points + device->points);
    }
    return true;
}

static bool keep(const struct ofl_measurements *measurements, const char *folder)
{
    char explanation[2 * PATH_MAX];
    if (!ofl_measurements_save(measurements, folder, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; the measurements were not kept", explanation);
        return false;
    }
    printf("kept the measurements in %s\n", folder);
    return true;
}

/* The device is there, and a place for the profile. */
static bool measure_and_fit(const struct options *options, struct ofl_measurements *measurements, const char *path)
{
    char folder[PATH_MAX];
    bool done = false, kept = false;
    if (!make_folder(options, folder, measurements)) {
        ofl_measurements_remove(measurements, folder);
        return false;
    }
    if (measure(options, measurements) && !ofl_cli_interrupted) {
        kept = options->keep != NULL && keep(measurements, folder);
        done = fit(measurements, path) && kept == (options->keep != NULL);
    }
    if (!kept) {
        ofl_measurements_remove(measurements, folder);
    }
    return done;
}

/* What can be known in the first seconds comes first: whether there is a device, and a place for the profile. */
static bool calibrate(const struct options *options, struct ofl_measurements *measurements)
{
    char path[PATH_MAX], explanation[PATH_MAX + 512];
    snprintf(measurements->kind, sizeof measurements->kind, "%s", options->device);
    ofl_facts_key(strcmp(options->device, "cuda") == 0, &measurements->key);
    if (!ofl_cli_check_device(options->device, backend_folder(), explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; nothing was measured", explanation);
        return false;
    }
    return find_output(options, &measurements->key, options->device, path) &&
           ofl_calibration_copies(options->device, &measurements->copies) &&
           measure_and_fit(options, measurements, path);
}

static bool fit_again(const struct options *options, struct ofl_measurements *measurements)
{
    char path[PATH_MAX], explanation[3 * PATH_MAX];
    if (!ofl_measurements_load(options->from, measurements, explanation, sizeof explanation)) {
        ofl_message("calibrate: %s; no profile was written", explanation);
        return false;
    }
    return find_output(options, &measurements->key, measurements->kind, path) && fit(measurements, path);
}

static int run(const struct options *options)
{
    static struct ofl_measurements measurements;
    bool done = options->from != NULL ? fit_again(options, &measurements) : calibrate(options, &measurements);
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        free(measurements.pass[place].point);
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
        {"keep", required_argument, NULL, 'k'},   {"from", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},         {0}};
    optind = 1;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        out->measuring = out->measuring || strchr("qsdk", option) != NULL;
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
        case 'k':
            out->keep = optarg;
            break;
        case 'f':
            out->from = optarg;
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
    if (out->from != NULL && out->measuring) {
        ofl_message("calibrate: --from measures nothing, so of the other options it takes only --output");
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
    return run(&options);
}
