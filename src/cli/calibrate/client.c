/* The workload of `gpu-offload calibrate`: an ordinary client of BLAS and LAPACK.
 *
 *   gpu-offload-calibrate-client SECONDS LARGEST [--coarse] [--device] [--sweeps N] [--from N] [--skip ROUTINE,...]
 * [--random SEED]
 *
 * Calls every routine that a device may run, of BLAS and LAPACK, by its Fortran name, in several
 * shapes and sizes, each a few times.  It measures nothing itself: it runs under the preload library,
 * whose trace has the times.  On standard output it tells what it did, a line each:
 *
 *   library PATH                  the BLAS that is mapped
 *   plan N                        the number of cells, a routine at one order each, that will come
 *   try ROUTINE                   a cell begins: if nothing more comes, the routine has crashed
 *   point ROUTINE M N K BEGIN END QUIET
 *                                 the calls between two moments (CLOCK_MONOTONIC, ns); QUIET is 1 if the machine
 *                                 was quiet before and after them
 *   stop ROUTINE                  it cannot be measured
 *   done, skip                    the cell was measured, or left out
 *
 * Points that were disturbed are measured again.  SECONDS is the time that all points may take, LARGEST the largest
 * order; with --coarse every second order is left out; with --device, on which large calls take little time, these are
 * measured in more ways.  A first sweep measures the cubes, as large as there is time for, since nothing is known
 * beyond them; --sweeps N says how many more measure everything, some time apart: what a routine takes may depend on
 * where its threads happen to run.  After a crash a new client goes on: --from leaves out so many cells, --skip these
 * routines.  With --random the shapes and flags are random ones instead, to compare predictions with
 * (`gpu-offload estimate --check`); then N counts rounds. */
#include "cli/calibrate/canary.h"
#include "cli/calibrate/measure.h"
#include "base/clock.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *precisions;
} operations[] = {
#define OFL_OPERATION(name, precisions, ...) {#name, precisions},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

static void print_library(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *path = strchr(line, '/');
        char *name = path != NULL ? strrchr(path, '/') : NULL;
        if (name != NULL && strstr(name, "blas") != NULL && strncmp(name, "/libgpu", 7) != 0) {
            printf("library %s", path);
            break;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

/* What this client is to do. */
struct task {
    double seconds;
    int largest;
    unsigned long from;
    const char *skip; /* ",dgemmt,cgetri," */
    bool coarse, device;
    unsigned sweeps;
    bool random;
    unsigned seed;
};

static bool is_skipped(const struct task *task, enum ofl_operation operation, char letter)
{
    char word[48];
    snprintf(word, sizeof word, ",%c%s,", letter, operations[operation].name);
    return strstr(task->skip, word) != NULL;
}

/* Orders of one routine, smallest first.  With little time only every second one is measured: a curve is better off
 * with wide steps than without its upper end, since nothing is known beyond its last point. */
static const int orders[] = {48, 68, 96, 136, 192, 272, 384, 544, 768, 1088, 1536, 2176, 3072, 4352, 6144, 8704, 12288};
enum { ORDERS = sizeof orders / sizeof *orders };

/* Above this order a call takes long enough to be timed once (after one that warms up), and shapes from the left say
 * enough. */
enum { LARGE = 1100 };

/* And above these flags, and what shapes cost, are known by then: only the cube is measured.  On the CPU and on a
 * device. */
static const int largest_flags[2] = {800, 2200}, largest_shapes[2] = {2200, 3100};

/* Of a routine in a precision: the seconds of its longest call and of everything at each order, and whether it can be
 * measured. */
struct progress {
    double longest, seconds[ORDERS];
    bool stopped;
};

/* All sweeps. */
struct sweeping {
    const struct task *task;
    struct ofl_calibration_memory memory;
    size_t step, sizes, routines; /* of the orders; routines in all their precisions */
    unsigned sweep;
    unsigned long cell;
    double until;      /* the end of this sweep */
    double cells_left; /* at this order */
    struct progress progress[OFL_OPERATION_COUNT][4];
};

/* The cube first; later, with time for one more sweep only, shapes and flags at every second order. */
static struct ofl_calibration_choice choice_at(const struct sweeping *all, size_t size)
{
    const int order = orders[size * all->step];
    const bool single = all->task->sweeps == 1;
    const bool rich = all->sweep > 0 && order <= largest_shapes[all->task->device] && (!single || size % 2 == 1);
    const size_t turn = single ? size / 2 : size;
    struct ofl_calibration_choice choice = {rich ? 1 + (int)(turn % 2) : 0, order <= LARGE,
                                            rich && order <= largest_flags[all->task->device]};
    return choice;
}

/* Whether there is time for a cell. */
static bool is_affordable(const struct sweeping *all, const struct progress *own, size_t size, int calls)
{
    double left = all->until - ofl_clock(), share = left / all->cells_left;
    if (all->sweep > 1) { /* what it took the last time */
        return own->seconds[size] > 0 && own->seconds[size] < left;
    }
    if (all->sweep == 1) { /* what one of its calls took */
        return own->seconds[size] > 0 && own->seconds[size] * calls < 4 * share;
    }
    /* Twice the order takes eight times as long. */
    double longest = own->longest * (all->step == 2 ? 8 : 3);
    return left > 0 && longest * (orders[size * all->step] <= LARGE ? 4 : 2) < 4 * share;
}

/* A routine at one order. */
static void measure_cell(struct sweeping *all, enum ofl_operation operation, char letter, size_t size)
{
    struct progress *own = &all->progress[operation][strchr("sdcz", letter) - "sdcz"];
    struct ofl_calibration_call calls[OFL_CALIBRATION_CALLS];
    const struct ofl_calibration_choice choice = choice_at(all, size);
    const int order = orders[size * all->step];
    int count = ofl_calibration_calls(operation, letter, order, &choice, calls);
    if (own->stopped || is_skipped(all->task, operation, letter) || !is_affordable(all, own, size, count)) {
        puts("skip");
        return;
    }
    double began = ofl_clock();
    /* A cell's repetitions should not take more than half of its share of what is left. */
    struct ofl_calibration_pace pace = {
        (all->until - began) / (double)(all->routines * (all->sizes - size)) / 2 / count, order > LARGE           ? 1
                                                                                          : all->task->sweeps > 1 ? 2
                                                                                                                  : 3};
    own->longest = ofl_calibration_measure(calls, count, &all->memory, &pace);
    own->stopped = own->longest == 0;
    own->seconds[size] = ofl_clock() - began;
    if (own->stopped) {
        printf("stop %c%s\n", letter, operations[operation].name);
    }
    puts("done");
    fflush(stdout);
}

/* Sizes outermost: whatever the time allows is spread over all routines. */
static void measure_sweep(struct sweeping *all)
{
    for (size_t size = 0; size < all->sizes; size++) {
        all->cells_left = (double)all->routines;
        for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
            bool wanted = ofl_operation_offloaded((enum ofl_operation)i);
            for (const char *letter = operations[i].precisions; wanted && *letter != '\0'; letter++) {
                if (all->cell++ >= all->task->from) {
                    measure_cell(all, (enum ofl_operation)i, *letter, size);
                }
                all->cells_left--;
            }
        }
    }
}

static void measure_all(const struct task *task)
{
    static struct sweeping all;
    const double until = ofl_clock() + task->seconds;
    all.task = task;
    all.step = task->coarse ? 2 : 1;
    for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
        all.routines += ofl_operation_offloaded((enum ofl_operation)i) ? strlen(operations[i].precisions) : 0;
    }
    while (all.sizes * all.step < ORDERS && orders[all.sizes * all.step] <= task->largest) {
        all.sizes++;
    }
    printf("plan %zu\n", all.routines * all.sizes * (1 + task->sweeps));
    for (all.sweep = 0; all.sweep <= task->sweeps; all.sweep++) {
        double left = until - ofl_clock();
        all.until = all.sweep == 0 ? until - (task->sweeps == 1 ? 0.5 : 0.7) * left : until;
        measure_sweep(&all);
    }
    ofl_calibration_free(&all.memory);
}

/* Random shapes, in turn for all routines; measured like the others, many together, so that the CPU library's threads
 * are as awake. */
static void measure_random(const struct task *task)
{
    struct ofl_calibration_memory memory = {.bytes = 0};
    struct ofl_calibration_call calls[OFL_CALIBRATION_CALLS];
    unsigned seed = task->seed;
    const struct ofl_calibration_pace pace = {task->seconds / 1000, 1};
    double until = ofl_clock() + task->seconds, span = log2((double)task->largest / 64);
    for (unsigned long round = 0; ofl_clock() < until; round++) {
        int count = 0;
        for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
            enum ofl_operation operation = (enum ofl_operation)i;
            bool wanted = ofl_operation_offloaded(operation);
            for (const char *letter = operations[i].precisions; wanted && *letter != '\0' && ofl_clock() < until;
                 letter++) {
                calls[count] = ofl_calibration_random(operation, *letter, span, &seed);
                count += round >= task->from && !is_skipped(task, operation, *letter);
                if (count == OFL_CALIBRATION_CALLS) {
                    ofl_calibration_measure(calls, count, &memory, &pace);
                    count = 0;
                }
            }
        }
        ofl_calibration_measure(calls, count, &memory, &pace);
        puts("done");
        fflush(stdout);
    }
    ofl_calibration_free(&memory);
}

/* False for arguments that are not ours. */
static bool read_task(int argc, char **argv, struct task *task)
{
    static const struct option options[] = {{"from", required_argument, NULL, 'f'},
                                            {"skip", required_argument, NULL, 's'},
                                            {"random", required_argument, NULL, 'r'},
                                            {"coarse", no_argument, NULL, 'c'},
                                            {"sweeps", required_argument, NULL, 'w'},
                                            {"device", no_argument, NULL, 'd'},
                                            {0}};
    static char skip[4096] = ",";
    *task = (struct task){.skip = skip, .sweeps = 1};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'f') {
            task->from = strtoul(optarg, NULL, 10);
        } else if (option == 's') {
            snprintf(skip, sizeof skip, ",%s,", optarg);
        } else if (option == 'c') {
            task->coarse = true;
        } else if (option == 'd') {
            task->device = true;
        } else if (option == 'w') {
            task->sweeps = (unsigned)strtoul(optarg, NULL, 10);
        } else if (option == 'r') {
            task->random = true;
            task->seed = (unsigned)strtoul(optarg, NULL, 10);
        } else {
            return false;
        }
    }
    if (argc - optind != 2) {
        return false;
    }
    task->seconds = strtod(argv[optind], NULL);
    task->largest = (int)strtol(argv[optind + 1], NULL, 10);
    return task->seconds > 0 && task->largest >= 64;
}

int main(int argc, char **argv)
{
    struct task task;
    if (!read_task(argc, argv, &task)) {
        fputs("This is a part of `gpu-offload calibrate`.\n", stderr);
        return 2;
    }
    ofl_canary_start();
    print_library();
    if (task.random) {
        measure_random(&task);
    } else {
        measure_all(&task);
    }
    puts("end");
    return 0;
}
