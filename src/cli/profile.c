/* gpu-offload profile: shows the profile of this machine, or one in a file.
 *
 * Entry point: ofl_cli_profile.  A profile of another machine is shown too; it says so. */
#include "cli/cli.h"
#include "cli/plot.h"
#include "base/message.h"
#include "profile/facts.h"
#include "profile/store.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *file, *svg, *device;
    bool all;
};

static void print_help(void)
{
    puts("usage: gpu-offload profile [options] [FILE]\n\n"
         "Shows what `gpu-offload calibrate` measured on this machine, or the profile FILE.\n\n"
         "  --all          draw the curves of all routines, not only of sgemm and dgemm\n"
         "  --svg FILE     write the curves of all routines to FILE as a picture\n"
         "  --device KIND  the profile of another device, cuda or host (default: cuda)\n"
         "  --help         print this");
}

static void print_key(const char *name, const char *value)
{
    if (*value != '\0') {
        printf("  %-14s %s\n", name, value);
    }
}

static void print_costs(const struct ofl_machine *machine)
{
    static const char *const ways[OFL_HOST_MEMORY_COUNT] = {"ordinary memory", "page-locked memory",
                                                            "ordinary memory, where much is copied",
                                                            "from the staging area into place"};
    printf("\n  start          %.3f s\n", machine->start);
    for (int i = 0; i < OFL_LIBRARY_COUNT; i++) {
        printf("  %-8s       %.3f s for the library, %.4f s for each routine of it\n",
               ofl_library_name((enum ofl_library)i), machine->library[i], machine->routine[i]);
    }
    for (int d = 0; d < OFL_DIRECTION_COUNT; d++) {
        for (int h = 0; h < OFL_HOST_MEMORY_COUNT; h++) {
            const struct ofl_line *line = &machine->copy[d][h];
            if (line->rate > 0) {
                printf("  copy %-3s        %.2f GB/s and %.1f us each (%s)\n",
                       ofl_direction_name((enum ofl_direction)d), 1e-9 * line->rate, 1e6 * line->fixed, ways[h]);
            }
        }
    }
}

static void print_overlap(const struct ofl_machine *machine)
{
    printf("  overlap         copies save %.0f%% of what they could by overlapping with computing\n",
           100 * (1 - machine->serial));
}

static double fastest(const struct ofl_curve *curve)
{
    double speed = 0;
    for (int i = 0; i < curve->points; i++) {
        speed = curve->point[i].speed > speed ? curve->point[i].speed : speed;
    }
    return speed;
}

static void print_routines(const struct ofl_machine *machine)
{
    printf("\n  %-10s %14s %14s %8s\n", "routine", "CPU, GFLOP/s", "device", "ratio");
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            double cpu = fastest(&machine->curve[OFL_ON_CPU][operation][p]);
            double device = fastest(&machine->curve[OFL_ON_DEVICE][operation][p]);
            if (cpu > 0 || device > 0) {
                printf("  %c%-9s %14.1f %14.1f", ofl_precision_letter((enum ofl_precision)p),
                       ofl_operation_name((enum ofl_operation)operation), 1e-9 * cpu, 1e-9 * device);
                printf(cpu > 0 && device > 0 ? " %8.1f\n" : "\n", device / cpu);
            }
        }
    }
    puts("\n  (the fastest of each curve; without copies)");
}

static void draw(const struct ofl_machine *machine, bool all)
{
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            if (all || (operation == OFL_OP_gemm && (p == OFL_S || p == OFL_D))) {
                ofl_plot_terminal(stdout, machine, (enum ofl_operation)operation, (enum ofl_precision)p);
            }
        }
    }
}

static int write_svg(const char *path, const struct ofl_profile *profile)
{
    char title[2 * OFL_PROFILE_KEY_SIZE + 8];
    FILE *file = fopen(path, "we");
    snprintf(title, sizeof title, "%s, %s", profile->key.cpu, profile->key.device);
    if (file != NULL) {
        ofl_plot_svg(file, &profile->machine, title);
    }
    if (file == NULL || fclose(file) != 0) {
        ofl_message("profile: cannot write %s: %s", path, strerror(errno));
        return OFL_EXIT_FAILED;
    }
    printf("\nwrote %s\n", path);
    return 0;
}

static int show(const struct options *options)
{
    static struct ofl_profile profile;
    struct ofl_profile_key here, anywhere = {.cores = 0};
    char path[PATH_MAX], explanation[512];
    ofl_facts_key(strcmp(options->device, "cuda") == 0, &here);
    if (options->file != NULL) {
        snprintf(path, sizeof path, "%s", options->file);
    } else if (!ofl_profile_path(&here, options->device, path, sizeof path)) {
        ofl_message("profile: there is no home folder; name a file");
        return OFL_EXIT_FAILED;
    }
    switch (ofl_profile_load(path, &anywhere, &profile, explanation, sizeof explanation)) {
    case OFL_PROFILE_NONE:
        ofl_message("profile: there is no profile %s; 'gpu-offload calibrate' makes one", path);
        return OFL_EXIT_FAILED;
    case OFL_PROFILE_REFUSED:
        ofl_message("profile: %s", explanation);
        return OFL_EXIT_FAILED;
    case OFL_PROFILE_USED:
        break;
    }
    printf("%s\n", path);
    print_key("CPU", profile.key.cpu);
    printf("  %-14s %d\n", "cores", profile.key.cores);
    print_key("device", profile.key.device);
    print_key("driver", profile.key.driver);
    print_key("BLAS", profile.key.library);
    print_key("measured", profile.date);
    print_key("effort", profile.quick ? "quick" : "full");
    if (!ofl_profile_matches(&profile, &here, explanation, sizeof explanation)) {
        printf("  not used on this machine: %s\n", explanation);
    }
    print_costs(&profile.machine);
    print_overlap(&profile.machine);
    print_routines(&profile.machine);
    draw(&profile.machine, options->all);
    return options->svg != NULL ? write_svg(options->svg, &profile) : 0;
}

int ofl_cli_profile(int argc, char **argv)
{
    static const struct option table[] = {{"all", no_argument, NULL, 'a'},
                                          {"svg", required_argument, NULL, 's'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct options options = {.device = "cuda"};
    optind = 1;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", table, NULL)) != -1;) {
        switch (option) {
        case 'a':
            options.all = true;
            break;
        case 's':
            options.svg = optarg;
            break;
        case 'd':
            options.device = optarg;
            break;
        case 'h':
            print_help();
            return 0;
        default:
            ofl_message("profile: '%s' is not an option or needs a value; 'gpu-offload profile --help' explains",
                        argv[optind - 1]);
            return OFL_EXIT_USAGE;
        }
    }
    if (argc - optind > 1 || (strcmp(options.device, "cuda") != 0 && strcmp(options.device, "host") != 0)) {
        ofl_message("profile: it takes at most one file and a device that is cuda or host");
        return OFL_EXIT_USAGE;
    }
    options.file = optind < argc ? argv[optind] : NULL;
    return show(&options);
}
