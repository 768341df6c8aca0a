/* The workload of `gpu-offload calibrate`: an ordinary client of BLAS and LAPACK.
 *
 *   gpu-offload-calibrate-client SECONDS LARGEST [SEED]
 *
 * Calls every routine that a device may run, of BLAS and LAPACK, by its Fortran name, in several
 * shapes and sizes, each a few times.  It measures nothing itself: it runs under the preload library,
 * whose trace has the times.  On standard output it tells what it did, a line each:
 *
 *   library PATH                  the BLAS that is mapped
 *   plan N                        the number of points that will come
 *   point ROUTINE M N K BEGIN END QUIET
 *                                 the calls between two moments (CLOCK_MONOTONIC, ns); QUIET is 1 if the machine
 *                                 was quiet before and after them
 *
 * With SEED the shapes are random ones instead, to compare predictions with (`gpu-offload estimate --check`).
 * A point that was disturbed is measured again.  SECONDS is the time that all points may take, LARGEST the largest
 * order. */
#include "cli/calibrate/canary.h"
#include "base/clock.h"
#include "model/work.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 9, ATTEMPTS = 3 };

static const struct {
    const char *name, *precisions, *arguments;
} operations[] = {
#define OFL_OPERATION(name, precisions, kind, arguments, ...) {#name, precisions, arguments},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

/* Shapes as multiples of the order.  A size that is 0 the routine does not have. */
struct shape {
    double m, n, k, nrhs;
};
enum { MAX_SHAPES = 6 };

/* The first kind of routine whose words a routine has all is its own; the first shape is the cube. */
static const struct {
    const char *words[4];
    struct shape shape[MAX_SHAPES];
    const char *routine; /* the only one that this is for; NULL: all */
} kinds[] = {
    {.words = {"uplo", "n", "nrhs"},
     .shape = {{0, 1, 0, 1}, {0, 2, 0, 0.02}, {0, 0.5, 0, 4}},
     .routine = "potrs"}, /* its words are posv's */
    {.words = {"side", "m", "n", "k"}, .shape = {{1, 1, 1, 0}, {1, 0.25, 1, 0}, {2, 0.5, 0.25, 0}}},
    {.words = {"m", "n", "k", "tau"}, .shape = {{1, 1, 1, 0}, {4, 0.25, 0.25, 0}, {1, 0.5, 0.25, 0}}},
    {.words = {"m", "n", "k"},
     .shape = {{1, 1, 1, 0},
               {4, 0.25, 0.25, 0},
               {0.25, 4, 0.25, 0},
               {2, 2, 0.0625, 0},
               {0.25, 0.25, 4, 0},
               {1, 1, 0.25, 0}}},
    {.words = {"side", "m", "n"}, .shape = {{1, 1, 0, 0}, {2, 0.125, 0, 0}, {0.25, 4, 0, 0}}},
    {.words = {"m", "n", "nrhs"}, .shape = {{1, 1, 0, 0.0625}, {4, 0.25, 0, 0.0625}}},
    {.words = {"m", "n"}, .shape = {{1, 1, 0, 0}, {4, 0.25, 0, 0}, {0.25, 4, 0, 0}}},
    {.words = {"n", "k"}, .shape = {{0, 1, 1, 0}, {0, 2, 0.0625, 0}, {0, 0.25, 4, 0}}},
    {.words = {"trans", "n", "nrhs"}, .shape = {{0, 1, 0, 1}, {0, 2, 0, 0.02}, {0, 0.5, 0, 4}}},
    {.words = {"n", "nrhs"}, .shape = {{0, 1, 0, 0.0625}}},
    {.words = {"n"}, .shape = {{0, 1, 0, 0}}},
};

struct point {
    enum ofl_operation operation;
    char letter;
    int m, n, k, nrhs;
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
    int m, n, k, nrhs, lda, ldb, ldc, lwork, info;
    double one[2]; /* alpha and beta: 1 in every precision */
    float one_single[2];
    struct memory *memory;
    char letter;
};

static void *value_of(struct values *v, const char *word, size_t length)
{
    static char left[] = "L", upper[] = "U", none[] = "N";
    bool single = v->letter == 's' || v->letter == 'c';
    const struct {
        const char *word;
        void *value;
    } table[] = {
        {"side", left},
        {"uplo", upper},
        {"trans", none},
        {"transa", none},
        {"transb", none},
        {"diag", none},
        {"m", &v->m},
        {"n", &v->n},
        {"k", &v->k},
        {"lda", &v->lda},
        {"ldb", &v->ldb},
        {"ldc", &v->ldc},
        {"A", v->memory->a},
        {"B", v->memory->b},
        {"C", v->memory->c},
        {"nrhs", &v->nrhs},
        {"ipiv", v->memory->pivots},
        {"tau", v->memory->tau},
        {"work", v->memory->work},
        {"lwork", &v->lwork},
        {"info", &v->info},
    };
    const char *colon = memchr(word, ':', length);
    length = colon != NULL ? (size_t)(colon - word) : length;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].word) == length && memcmp(table[i].word, word, length) == 0) {
            return table[i].value;
        }
    }
    static const char *const scalars[] = {"alpha", "beta", "real_alpha", "real_beta"};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (strlen(scalars[i]) == length && memcmp(scalars[i], word, length) == 0) {
            return single ? (void *)v->one_single : (void *)v->one;
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

/* gemmt is an extension that only some libraries have, not all of them free of faults: its curve comes from gemm's. */
static bool is_extension(enum ofl_operation operation)
{
    return operation == OFL_OP_gemmt;
}

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
static bool prepare(const struct point *point, struct values *v, struct prepared *out)
{
    char name[32];
    int count = 0;
    snprintf(name, sizeof name, "%c%s_", point->letter, operations[point->operation].name);
    bool usable = !is_extension((enum ofl_operation)point->operation) && library_has(name);
    void *symbol = usable ? dlsym(RTLD_DEFAULT, name) : NULL;
    for (int i = 0; i < 13; i++) {
        out->argument[i] = (void *)1;
    }
    memcpy(&out->function, &symbol, sizeof symbol);
    const char *at = operations[point->operation].arguments;
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
static void fill(struct memory *memory, char letter, int order)
{
    enum { BLOCK = 8192 };
    static double doubles[BLOCK];
    static float singles[BLOCK];
    static unsigned seed = 1;
    static const double one = 1;
    static const float one_single = 1;
    bool single = letter == 's' || letter == 'c';
    for (int i = 0; i < BLOCK; i++) {
        seed = seed * 1664525u + 1013904223u;
        doubles[i] = ((double)(seed >> 8) / (1 << 24) - 0.5) * 0.5 / order;
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
        size_t at = (i + i * (size_t)order) * element;
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

static bool resize(struct memory *memory, size_t bytes)
{
    if (bytes > memory->bytes) {
        free(memory->a), free(memory->b), free(memory->c);
        memory->a = malloc(bytes), memory->b = malloc(bytes), memory->c = malloc(bytes);
        memory->bytes = bytes;
    }
    return memory->a != NULL && memory->b != NULL && memory->c != NULL;
}

/* ---- Points ---- */

/* Elements of the largest operand, where `order` is m, or n if there is none; with `square` one is order by order. */
static size_t largest_operand(int order, int n, int k, bool square)
{
    const size_t products[] = {(size_t)order * (size_t)n, (size_t)order * (size_t)k, (size_t)k * (size_t)n,
                               square ? (size_t)order * (size_t)order : 0};
    size_t largest = 0;
    for (int i = 0; i < 4; i++) {
        largest = products[i] > largest ? products[i] : largest;
    }
    return largest;
}

/* Calls the routine some times; returns the shortest time, 0 if a call failed, and when the last call ended. */
static double repeat(const struct prepared *prepared, const int *info, double limit, double begin, double *end)
{
    double shortest = INFINITY, last = begin;
    for (int i = 0; i < REPETITIONS && (i < 3 || last - begin < limit); i++) {
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

/* Measures a point.  Returns the seconds that one call took, 0 if it cannot be measured here.  A point with a call that
 * LAPACK refused or failed in is not told: such calls end early. */
static double measure(const struct point *point, struct memory *memory, double limit)
{
    int m = point->m, n = point->n, k = point->k, nrhs = point->nrhs, order = m > 0 ? m : n;
    int most = order > n ? order : n, ldb = k > 0 && m > 0 ? k : most, lwork = 64 * (m + n + nrhs) + 4160;
    size_t elements = largest_operand(most, n, k > nrhs ? k : nrhs, m == 0 || k == 0);
    struct values values = {m, n, k, nrhs, order, ldb, order, lwork, 0, {1, 0}, {1, 0}, memory, point->letter};
    struct prepared prepared;
    if (!resize(memory, elements * 16) || !resize_vectors(memory, most, lwork)) {
        return 0;
    }
    /* Only what is used is filled: the precision's share. */
    struct memory used = *memory;
    used.bytes = elements * (point->letter == 's' ? 4 : point->letter == 'z' ? 16 : 8);
    double seconds = 0;
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
        fill(&used, point->letter, order);
        fill_vectors(&used, point->letter);
        if (!prepare(point, &values, &prepared)) {
            return 0;
        }
        bool quiet = ofl_canary_wait(0.3 * limit);
        call(&prepared); /* loads and touches what a first call does */
        double begin = ofl_clock(), end = begin;
        seconds = repeat(&prepared, &values.info, limit, begin, &end);
        if (seconds == 0) {
            return 0;
        }
        quiet = ofl_canary_wait(0.1) && quiet;
        if (quiet || attempt == ATTEMPTS) {
            printf("point %c%s %d %d %d %" PRIu64 " %" PRIu64 " %d\n", point->letter, operations[point->operation].name,
                   m, n, k > 0 ? k : nrhs, (uint64_t)(begin * 1e9), (uint64_t)(end * 1e9), quiet);
            fflush(stdout);
            break;
        }
    }
    return seconds;
}

static const struct shape *shapes_of(enum ofl_operation operation, size_t *count)
{
    size_t kind = 0;
    for (bool fits = false; !fits; kind += !fits) {
        fits = kinds[kind].routine == NULL || strcmp(kinds[kind].routine, operations[operation].name) == 0;
        for (int i = 0; i < 4 && kinds[kind].words[i] != NULL; i++) {
            fits = fits && ofl_operation_takes(operation, kinds[kind].words[i]);
        }
    }
    for (*count = 0; *count < MAX_SHAPES && kinds[kind].shape[*count].n > 0;) {
        ++*count;
    }
    return kinds[kind].shape;
}

static int scaled(double factor, int order)
{
    int size = (int)(factor * order);
    return factor > 0 ? (size > 4 ? size : 4) : 0;
}

/* All shapes of one routine at one order; the time that its longest call took. */
static double measure_order(enum ofl_operation operation, char letter, int order, bool shapes_wanted,
                            struct memory *memory, double limit)
{
    size_t count;
    const struct shape *shape = shapes_of(operation, &count);
    double longest = 0;
    for (size_t i = 0; i < (shapes_wanted ? count : 1); i++) {
        struct point point = {operation,
                              letter,
                              scaled(shape[i].m, order),
                              scaled(shape[i].n, order),
                              scaled(shape[i].k, order),
                              scaled(shape[i].nrhs, order)};
        double seconds = measure(&point, memory, limit);
        longest = seconds > longest ? seconds : longest;
        if (seconds == 0) {
            return 0;
        }
    }
    return longest;
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

/* Orders of one routine, smallest first, until a call takes longer than the time allows. */
static const int orders[] = {48, 96, 192, 384, 768, 1536, 3072, 6144, 12288};
enum { ORDERS = sizeof orders / sizeof *orders };

/* Sizes outermost: whatever the time allows is spread over all routines. */
static void measure_all(double seconds, int largest)
{
    struct memory memory = {.bytes = 0};
    size_t routines = 0;
    bool stopped[sizeof operations / sizeof *operations][4] = {{false}};
    double until = ofl_clock() + seconds;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        routines += ofl_operation_offloaded((enum ofl_operation)i) ? strlen(operations[i].precisions) : 0;
    }
    size_t sizes = 0;
    while (sizes < ORDERS && orders[sizes] <= largest) {
        sizes++;
    }
    printf("plan %zu\n", routines * sizes);
    /* A point should not take more than a small part of what is left. */
    for (size_t size = 0; size < sizes; size++) {
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
            bool wanted = ofl_operation_offloaded((enum ofl_operation)i);
            for (const char *letter = operations[i].precisions; wanted && *letter != '\0'; letter++) {
                bool *stop = &stopped[i][strchr("sdcz", *letter) - "sdcz"];
                double left = until - ofl_clock();
                double limit = left / (double)(routines * (sizes - size)) / 4;
                if (*stop || left <= 0) {
                    printf("skip\n");
                    continue;
                }
                /* Shapes at every second size: their costs are smooth. */
                bool shapes_wanted = size % 2 == 1 || seconds > 60;
                double longest =
                    measure_order((enum ofl_operation)i, *letter, orders[size], shapes_wanted, &memory, limit);
                /* The next size takes eight times as long. */
                *stop = longest == 0 || longest * 8 * 3 > left / 8;
                printf("done\n");
                fflush(stdout);
            }
        }
    }
    free_memory(&memory);
}

/* Random sizes, each by itself, within what the routine allows. */
static struct point random_point(enum ofl_operation operation, char letter, double span, unsigned *seed)
{
    int size[4];
    size_t count;
    const struct shape *cube = shapes_of(operation, &count);
    for (int j = 0; j < 4; j++) {
        *seed = *seed * 1664525u + 1013904223u;
        size[j] = (int)(64 * exp2(span * (double)(*seed >> 8) / (1 << 24)));
    }
    struct point point = {operation,
                          letter,
                          cube->m > 0 ? size[0] : 0,
                          size[1],
                          cube->k > 0 ? size[2] : 0,
                          cube->nrhs > 0 ? size[3] / 4 : 0};
    if (ofl_operation_takes(operation, "tau") && cube->k > 0) { /* reflectors of a tall matrix */
        bool applied = ofl_operation_takes(operation, "side");
        point.n = !applied && point.n > point.m ? point.m : point.n;
        int most = applied ? point.m : point.n;
        point.k = point.k > most ? most : point.k;
    }
    return point;
}

/* Random shapes, in turn for all routines. */
static void measure_random(double seconds, int largest, unsigned seed)
{
    struct memory memory = {.bytes = 0};
    double until = ofl_clock() + seconds, span = log2((double)largest / 64);
    while (ofl_clock() < until) {
        for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
            bool wanted = ofl_operation_offloaded((enum ofl_operation)i);
            for (const char *letter = operations[i].precisions; wanted && *letter != '\0' && ofl_clock() < until;
                 letter++) {
                struct point point = random_point((enum ofl_operation)i, *letter, span, &seed);
                measure(&point, &memory, seconds / 200);
            }
        }
    }
    free_memory(&memory);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fputs("This is a part of `gpu-offload calibrate`.\n", stderr);
        return 2;
    }
    ofl_canary_start();
    print_library();
    double seconds = strtod(argv[1], NULL);
    int largest = (int)strtol(argv[2], NULL, 10);
    if (argc == 4) {
        measure_random(seconds, largest, (unsigned)strtoul(argv[3], NULL, 10));
    } else {
        measure_all(seconds, largest);
    }
    return 0;
}
