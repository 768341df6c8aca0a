/* The workload of `gpu-offload calibrate`: an ordinary client of BLAS and LAPACK.
 *
 *   gpu-offload-calibrate-client SECONDS LARGEST [--coarse] [--from N] [--skip ROUTINE,...] [--random SEED]
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
 * A point that was disturbed is measured again.  SECONDS is the time that all points may take, LARGEST the largest
 * order; with --coarse every second order is left out.  After a crash a new client goes on: --from leaves out so many
 * cells, --skip these routines.  With --random the shapes and flags are random ones instead, to compare predictions
 * with
 * (`gpu-offload estimate --check`); then N counts rounds. */
#include "cli/calibrate/canary.h"
#include "cli/calibrate/points.h"
#include "base/clock.h"

#include <dlfcn.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPETITIONS = 9, ATTEMPTS = 3 };

static const struct {
    const char *name, *precisions, *arguments;
} operations[] = {
#define OFL_OPERATION(name, precisions, kind, arguments, ...) {#name, precisions, arguments},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

struct memory {
    char *a, *b, *c; /* of `bytes` each */
    size_t bytes;
    char *work; /* of work_bytes */
    size_t work_bytes;
    int *pivots;
    char *tau;
    int order; /* that pivots and tau have room for */
};

/* ---- Calling ---- */

/* What the words of an argument list stand for. */
struct values {
    struct ofl_calibration_call call; /* its sizes and flags are passed by their addresses */
    int lda, ldb, ldc, lwork, info;
    double one[2], beta[2]; /* in every precision */
    float one_single[2], beta_single[2];
    struct memory *memory;
};

static void *value_of(struct values *v, const char *word, size_t length)
{
    static char none[] = "N";
    bool single = v->call.letter == 's' || v->call.letter == 'c';
    void *one = single ? (void *)v->one_single : (void *)v->one;
    void *beta = single ? (void *)v->beta_single : (void *)v->beta;
    const struct {
        const char *word;
        void *value;
    } table[] = {
        {"side", &v->call.side},     {"uplo", &v->call.uplo}, {"trans", &v->call.trans}, {"transa", &v->call.trans},
        {"transb", &v->call.transb}, {"diag", none},          {"m", &v->call.m},         {"n", &v->call.n},
        {"k", &v->call.k},           {"lda", &v->lda},        {"ldb", &v->ldb},          {"ldc", &v->ldc},
        {"A", v->memory->a},         {"B", v->memory->b},     {"C", v->memory->c},       {"nrhs", &v->call.nrhs},
        {"ipiv", v->memory->pivots}, {"tau", v->memory->tau}, {"work", v->memory->work}, {"lwork", &v->lwork},
        {"info", &v->info},          {"alpha", one},          {"real_alpha", one},       {"beta", beta},
        {"real_beta", beta},
    };
    const char *colon = memchr(word, ':', length);
    length = colon != NULL ? (size_t)(colon - word) : length;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].word) == length && memcmp(table[i].word, word, length) == 0) {
            return table[i].value;
        }
    }
    return NULL;
}

/* A Fortran routine takes addresses only; lengths of its texts follow, and where a routine has fewer arguments
 * than these, the rest are read as lengths or not at all. */
typedef void routine(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                     void *, size_t, size_t, size_t, size_t);

struct prepared {
    routine *function;
    void *argument[13];
};

/* Whether the CPU's libraries have a routine.  The preload library has them all, so those are asked themselves:
 * the ones that hold a routine of BLAS and of LAPACK which is never wrapped. */
static bool library_has(const char *name)
{
    static const char *const landmarks[] = {"isamax_", "ilaenv_"};
    bool found = false;
    for (size_t i = 0; i < sizeof landmarks / sizeof *landmarks && !found; i++) {
        Dl_info info;
        void *landmark = dlsym(RTLD_DEFAULT, landmarks[i]);
        void *library = landmark != NULL && dladdr(landmark, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY) : NULL;
        if (library != NULL) {
            found = dlsym(library, name) != NULL;
            dlclose(library);
        }
    }
    return found;
}

/* Puts the argument list together; false if a word in it means nothing here. */
static bool prepare(struct values *v, struct prepared *out)
{
    char name[32];
    int count = 0;
    snprintf(name, sizeof name, "%c%s_", v->call.letter, operations[v->call.operation].name);
    void *symbol = library_has(name) ? dlsym(RTLD_DEFAULT, name) : NULL;
    for (int i = 0; i < 13; i++) {
        out->argument[i] = (void *)1;
    }
    memcpy(&out->function, &symbol, sizeof symbol);
    const char *at = operations[v->call.operation].arguments;
    while (*at != '\0' && count < 13) {
        size_t length = strcspn(at, " ");
        out->argument[count] = value_of(v, at, length);
        if (out->argument[count++] == NULL) {
            return false;
        }
        at += length + (at[length] == ' ');
    }
    return symbol != NULL && *at == '\0';
}

static void call(const struct prepared *p)
{
    void *const *a = p->argument;
    p->function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], 1, 1, 1, 1);
}

/* ---- Data ---- */

/* A unit diagonal and small other elements: products and solutions stay of order one however often they are
 * repeated.  Written before each point, so that no operand is one that the device has seen; a block of random
 * numbers is enough, again and again. */
static void fill(const struct memory *memory, char letter, int rows, int columns)
{
    enum { BLOCK = 8192 };
    static double doubles[BLOCK];
    static float singles[BLOCK];
    static unsigned seed = 1;
    static const double one = 1;
    static const float one_single = 1;
    bool single = letter == 's' || letter == 'c';
    int order = rows < columns ? rows : columns, most = rows < columns ? columns : rows;
    for (int i = 0; i < BLOCK; i++) {
        seed = seed * 1664525u + 1013904223u;
        doubles[i] = ((double)(seed >> 8) / (1 << 24) - 0.5) * 0.5 / most;
        singles[i] = (float)doubles[i];
    }
    const char *block = single ? (const char *)singles : (const char *)doubles;
    size_t size = single ? sizeof singles : sizeof doubles, element = single ? 4 : 8;
    char *all[] = {memory->a, memory->b, memory->c};
    for (int which = 0; which < 3; which++) {
        for (size_t at = 0; at < memory->bytes; at += size) {
            memcpy(all[which] + at, block, memory->bytes - at < size ? memory->bytes - at : size);
        }
    }
    element *= letter == 'c' || letter == 'z' ? 2 : 1;
    for (size_t i = 0; i < (size_t)order; i++) {
        size_t at = (i + i * (size_t)rows) * element;
        if (at + element > memory->bytes) {
            break;
        }
        memcpy(memory->a + at, single ? (const char *)&one_single : (const char *)&one, single ? 4 : 8);
    }
}

static void free_memory(struct memory *memory)
{
    free(memory->a), free(memory->b), free(memory->c);
    free(memory->work), free(memory->pivots), free(memory->tau);
}

/* Row numbers that exchange nothing, and factors of reflectors that keep everything of order one. */
static void fill_vectors(struct memory *memory, char letter)
{
    bool single = letter == 's' || letter == 'c', complex = letter == 'c' || letter == 'z';
    for (int i = 0; i < memory->order; i++) {
        memory->pivots[i] = i + 1;
        for (int part = 0; part < (complex ? 2 : 1); part++) {
            size_t at = (size_t)i * (complex ? 2 : 1) + (size_t)part;
            double value = part == 0 ? 0.5 : 0;
            if (single) {
                ((float *)(void *)memory->tau)[at] = (float)value;
            } else {
                ((double *)(void *)memory->tau)[at] = value;
            }
        }
    }
}

/* Room for what LAPACK's routines need beside matrices: a block of 64 columns, and what orm*r keeps. */
static bool resize_vectors(struct memory *memory, int order, int lwork)
{
    if (order > memory->order) {
        free(memory->pivots), free(memory->tau);
        memory->pivots = malloc((size_t)order * sizeof *memory->pivots);
        memory->tau = malloc((size_t)order * 16);
        memory->order = order;
    }
    if ((size_t)lwork * 16 > memory->work_bytes) {
        free(memory->work);
        memory->work_bytes = (size_t)lwork * 16;
        memory->work = malloc(memory->work_bytes);
    }
    return memory->pivots != NULL && memory->tau != NULL && memory->work != NULL;
}

/* Three matrices may take an eighth of the machine's memory. */
static bool resize(struct memory *memory, size_t bytes)
{
    double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (3 * (double)bytes > all / 8) {
        return false;
    }
    if (bytes > memory->bytes) {
        free(memory->a), free(memory->b), free(memory->c);
        memory->a = malloc(bytes), memory->b = malloc(bytes), memory->c = malloc(bytes);
        memory->bytes = bytes;
    }
    return memory->a != NULL && memory->b != NULL && memory->c != NULL;
}

/* ---- Points ---- */

/* How long a point may take: repetitions until so many seconds are spent, and at least so many. */
struct pace {
    double limit;
    int least;
};

/* Leading dimensions, and the elements of the largest operand. */
static size_t lay_out(struct values *v)
{
    int *const leading[] = {&v->lda, &v->ldb, &v->ldc};
    size_t largest = 0;
    for (int i = 0; i < 3; i++) {
        int rows, columns;
        ofl_calibration_operand(&v->call, &"ABC"[i], 1, &rows, &columns);
        size_t elements = (size_t)rows * (size_t)columns;
        *leading[i] = rows > 0 ? rows : 1;
        largest = elements > largest ? elements : largest;
    }
    return largest;
}

/* Calls the routine some times; returns the shortest time, 0 if a call failed, and when the last call ended. */
static double repeat(const struct prepared *prepared, const int *info, const struct pace *pace, double begin,
                     double *end)
{
    double shortest = INFINITY, last = begin;
    for (int i = 0; i < REPETITIONS && (i < pace->least || last - begin < pace->limit); i++) {
        call(prepared);
        double time = ofl_clock();
        shortest = time - last < shortest ? time - last : shortest;
        last = time;
        if (*info != 0) {
            return 0;
        }
    }
    *end = last;
    return shortest;
}

static int largest_size(const struct ofl_calibration_call *call)
{
    const int sizes[] = {call->m, call->n, call->k, call->nrhs};
    int largest = 1;
    for (int i = 0; i < 4; i++) {
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    return largest;
}

/* Measures a point.  Returns the seconds that one call took, 0 if it cannot be measured here.  A point with a call that
 * LAPACK refused or failed in is not told: such calls end early. */
static double measure(const struct ofl_calibration_call *what, struct memory *memory, const struct pace *pace)
{
    struct values values = {.call = *what, .one = {1, 0}, .one_single = {1, 0}, .memory = memory};
    struct prepared prepared;
    size_t elements = lay_out(&values);
    int largest = largest_size(what), rows, columns;
    values.lwork = 64 * (what->m + what->n + what->nrhs) + 4160;
    values.beta[0] = values.beta_single[0] = what->beta;
    ofl_calibration_operand(what, "A", 1, &rows, &columns);
    if (!resize(memory, elements * 16) || !resize_vectors(memory, largest, values.lwork) ||
        !prepare(&values, &prepared)) {
        return 0;
    }
    /* Only what is used is filled: the precision's share. */
    struct memory used = *memory;
    used.bytes = elements * (what->letter == 's' ? 4 : what->letter == 'z' ? 16 : 8);
    double seconds = 0;
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
        fill(&used, what->letter, rows, columns);
        fill_vectors(&used, what->letter);
        bool quiet = ofl_canary_wait(0.3 * pace->limit);
        call(&prepared); /* loads and touches what a first call does */
        double begin = ofl_clock(), end = begin;
        seconds = repeat(&prepared, &values.info, pace, begin, &end);
        if (seconds == 0) {
            return 0;
        }
        quiet = ofl_canary_wait(0.1) && quiet;
        if (quiet || attempt == ATTEMPTS) {
            printf("point %c%s %d %d %d %" PRIu64 " %" PRIu64 " %d\n", what->letter, operations[what->operation].name,
                   what->m, what->n, what->k > 0 ? what->k : what->nrhs, (uint64_t)(begin * 1e9), (uint64_t)(end * 1e9),
                   quiet);
            fflush(stdout);
            break;
        }
    }
    return seconds;
}

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
    bool coarse;
    bool random;
    unsigned seed;
};

static bool is_skipped(const struct task *task, enum ofl_operation operation, char letter)
{
    char word[48];
    snprintf(word, sizeof word, ",%c%s,", letter, operations[operation].name);
    return strstr(task->skip, word) != NULL;
}

/* A routine at one order, in all shapes.  Returns the seconds of its longest call, 0 where it cannot be measured. */
static double measure_cell(enum ofl_operation operation, char letter, int order, bool shapes, struct memory *memory,
                           const struct pace *pace)
{
    struct ofl_calibration_call calls[OFL_CALIBRATION_CALLS];
    int count = ofl_calibration_calls(operation, letter, order, shapes, calls);
    double longest = 0;
    printf("try %c%s\n", letter, operations[operation].name);
    fflush(stdout);
    for (int i = 0; i < count; i++) {
        double seconds = measure(&calls[i], memory, pace);
        longest = seconds > longest ? seconds : longest;
        if (seconds == 0) {
            return 0;
        }
    }
    return longest;
}

/* Orders of one routine, smallest first.  With little time only every second one is measured: a curve is better off
 * with wide steps than without its upper end, since nothing is known beyond its last point. */
static const int orders[] = {48, 68, 96, 136, 192, 272, 384, 544, 768, 1088, 1536, 2176, 3072, 4352, 6144, 8704, 12288};
enum { ORDERS = sizeof orders / sizeof *orders };

/* Above the first order a call takes long enough to be timed once (after one that warms up); above the second only the
 * cube is: what shapes cost is known by then. */
enum { LARGE = 1100, LARGEST_SHAPES = 2200 };

/* Of a routine: the seconds of its longest call at the last order, and whether that was its last one. */
struct progress {
    double longest;
    bool stopped;
};

/* Sizes outermost: whatever the time allows is spread over all routines. */
static void measure_all(const struct task *task)
{
    struct memory memory = {.bytes = 0};
    size_t routines = 0, sizes = 0;
    unsigned long cell = 0;
    struct progress progress[sizeof operations / sizeof *operations][4] = {{{0, false}}};
    double until = ofl_clock() + task->seconds;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        routines += ofl_operation_offloaded((enum ofl_operation)i) ? strlen(operations[i].precisions) : 0;
    }
    const size_t step = task->coarse ? 2 : 1;
    while (sizes * step < ORDERS && orders[sizes * step] <= task->largest) {
        sizes++;
    }
    printf("plan %zu\n", routines * sizes);
    for (size_t size = 0; size < sizes; size++) {
        const int order = orders[size * step];
        size_t others = routines; /* that are still to come at this order */
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
            enum ofl_operation operation = (enum ofl_operation)i;
            bool wanted = ofl_operation_offloaded(operation);
            for (const char *letter = operations[i].precisions; wanted && *letter != '\0'; letter++) {
                struct progress *own = &progress[i][strchr("sdcz", *letter) - "sdcz"];
                double left = until - ofl_clock();
                double share = left / (double)others--;
                if (cell++ < task->from) {
                    continue;
                }
                /* Twice the order takes eight times as long; then there are as many calls as a cell has about. */
                /* Shapes at every second size: their costs are smooth. */
                bool shapes = size % 2 == 1 && order <= LARGEST_SHAPES;
                double expected = own->longest * (step == 2 ? 8 : 3) * (order <= LARGE ? 8 : shapes ? 12 : 2);
                if (own->stopped || expected > 4 * share || left <= 0 || is_skipped(task, operation, *letter)) {
                    puts("skip");
                    continue;
                }
                /* A point should not take more than a small part of what is left. */
                struct pace pace = {left / (double)(routines * (sizes - size)) / 4, order > LARGE ? 1 : 3};
                own->longest = measure_cell(operation, *letter, order, shapes, &memory, &pace);
                if (own->longest == 0) {
                    own->stopped = true;
                    printf("stop %c%s\n", *letter, operations[i].name);
                }
                puts("done");
                fflush(stdout);
            }
        }
    }
    free_memory(&memory);
}

/* Random shapes, in turn for all routines. */
static void measure_random(const struct task *task)
{
    struct memory memory = {.bytes = 0};
    unsigned seed = task->seed;
    const struct pace pace = {task->seconds / 1000, 1};
    double until = ofl_clock() + task->seconds, span = log2((double)task->largest / 64);
    for (unsigned long round = 0; ofl_clock() < until; round++) {
        for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
            enum ofl_operation operation = (enum ofl_operation)i;
            bool wanted = ofl_operation_offloaded(operation);
            for (const char *letter = operations[i].precisions; wanted && *letter != '\0' && ofl_clock() < until;
                 letter++) {
                struct ofl_calibration_call point = ofl_calibration_random(operation, *letter, span, &seed);
                if (round < task->from || is_skipped(task, operation, *letter)) {
                    continue;
                }
                printf("try %c%s\n", *letter, operations[i].name);
                fflush(stdout);
                measure(&point, &memory, &pace);
            }
        }
        puts("done");
        fflush(stdout);
    }
    free_memory(&memory);
}

/* False for arguments that are not ours. */
static bool read_task(int argc, char **argv, struct task *task)
{
    static const struct option options[] = {{"from", required_argument, NULL, 'f'},
                                            {"skip", required_argument, NULL, 's'},
                                            {"random", required_argument, NULL, 'r'},
                                            {"coarse", no_argument, NULL, 'c'},
                                            {0}};
    static char skip[4096] = ",";
    *task = (struct task){.skip = skip};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'f') {
            task->from = strtoul(optarg, NULL, 10);
        } else if (option == 's') {
            snprintf(skip, sizeof skip, ",%s,", optarg);
        } else if (option == 'c') {
            task->coarse = true;
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
