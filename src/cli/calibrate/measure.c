/* Measuring points; see measure.h.
 *
 * A routine is called by its Fortran name, found when the client runs: a library need not have all of them. */
#include "cli/calibrate/measure.h"
#include "cli/calibrate/canary.h"
#include "base/clock.h"

#include <dlfcn.h>
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

/* ---- Calling ---- */

/* What the words of an argument list stand for. */
struct values {
    struct ofl_calibration_call call; /* its sizes and flags are passed by their addresses */
    int lda, ldb, ldc, lwork, info;
    double one[2], beta[2]; /* in every precision */
    float one_single[2], beta_single[2];
    struct ofl_calibration_memory *memory;
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
 * numbers is enough, again and again.  `elements`: of A, B and C; A has `rows` and `columns`. */
static void fill(const struct ofl_calibration_memory *memory, char letter, const size_t elements[3], int rows,
                 int columns)
{
    enum { BLOCK = 8192 };
    static double doubles[BLOCK];
    static float singles[BLOCK];
    static unsigned seed = 1;
    static const double one = 1;
    static const float one_single = 1;
    bool single = letter == 's' || letter == 'c', complex = letter == 'c' || letter == 'z';
    int order = rows < columns ? rows : columns, most = rows < columns ? columns : rows;
    for (int i = 0; i < BLOCK; i++) {
        seed = seed * 1664525u + 1013904223u;
        doubles[i] = ((double)(seed >> 8) / (1 << 24) - 0.5) * 0.5 / most;
        singles[i] = (float)doubles[i];
    }
    const char *block = single ? (const char *)singles : (const char *)doubles;
    const size_t size = single ? sizeof singles : sizeof doubles, element = (single ? 4 : 8) * (complex ? 2 : 1);
    char *const all[] = {memory->a, memory->b, memory->c};
    for (int which = 0; which < 3; which++) {
        const size_t bytes = elements[which] * element;
        for (size_t at = 0; at < bytes; at += size) {
            memcpy(all[which] + at, block, bytes - at < size ? bytes - at : size);
        }
    }
    for (size_t i = 0; i < (size_t)order; i++) {
        size_t at = (i + i * (size_t)rows) * element;
        if (at + element > elements[0] * element) {
            break;
        }
        memcpy(memory->a + at, single ? (const char *)&one_single : (const char *)&one, single ? 4 : 8);
    }
}

void ofl_calibration_free(struct ofl_calibration_memory *memory)
{
    free(memory->a), free(memory->b), free(memory->c);
    free(memory->work), free(memory->pivots), free(memory->tau);
}

/* Row numbers that exchange nothing, and factors of reflectors that keep everything of order one. */
static void fill_vectors(struct ofl_calibration_memory *memory, char letter)
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
static bool resize_vectors(struct ofl_calibration_memory *memory, int order, int lwork)
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
static bool resize(struct ofl_calibration_memory *memory, size_t bytes)
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

static int largest_size(const struct ofl_calibration_call *call)
{
    const int sizes[] = {call->m, call->n, call->k, call->nrhs};
    int largest = 1;
    for (int i = 0; i < 4; i++) {
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    return largest;
}

/* Leading dimensions, and the elements of the operands; those of the largest are returned. */
static size_t lay_out(struct values *v, size_t elements[3])
{
    int *const leading[] = {&v->lda, &v->ldb, &v->ldc};
    size_t largest = 0;
    for (int i = 0; i < 3; i++) {
        int rows, columns;
        ofl_calibration_operand(&v->call, &"ABC"[i], 1, &rows, &columns);
        /* OpenBLAS 0.3.26 compares gemmt's leading dimensions with the wrong sizes, and does nothing. */
        rows = v->call.operation == OFL_OP_gemmt ? largest_size(&v->call) : rows;
        elements[i] = (size_t)rows * (size_t)columns;
        *leading[i] = rows > 0 ? rows : 1;
        largest = elements[i] > largest ? elements[i] : largest;
    }
    return largest;
}

/* Calls the routine some times; returns the shortest time, 0 if a call failed, and when the last call ended. */
static double repeat(const struct prepared *prepared, const int *info, const struct ofl_calibration_pace *pace,
                     double begin, double *end)
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

/* A point that was measured. */
struct point {
    double begin, end; /* of the repetitions */
    double seconds;    /* of the shortest; 0 if it cannot be measured here */
};

/* Measures a point. */
static struct point measure(const struct ofl_calibration_call *what, struct ofl_calibration_memory *memory,
                            const struct ofl_calibration_pace *pace)
{
    struct values values = {.call = *what, .one = {1, 0}, .one_single = {1, 0}, .memory = memory};
    struct prepared prepared;
    struct point point = {0, 0, 0};
    size_t elements[3], most = lay_out(&values, elements);
    int largest = largest_size(what), rows, columns;
    values.lwork = 64 * (what->m + what->n + what->nrhs) + 4160;
    values.beta[0] = values.beta_single[0] = what->beta;
    ofl_calibration_operand(what, "A", 1, &rows, &columns);
    if (!resize(memory, most * 16) || !resize_vectors(memory, largest, values.lwork) || !prepare(&values, &prepared)) {
        return point;
    }
    fill(memory, what->letter, elements, rows, columns);
    fill_vectors(memory, what->letter);
    call(&prepared); /* loads and touches what a first call does */
    point.begin = ofl_clock();
    point.seconds = repeat(&prepared, &values.info, pace, point.begin, &point.end);
    return point;
}

static void print_point(const struct ofl_calibration_call *what, const struct point *point, bool quiet)
{
    printf("point %c%s %d %d %d %" PRIu64 " %" PRIu64 " %d\n", what->letter, operations[what->operation].name, what->m,
           what->n, what->k > 0 ? what->k : what->nrhs, (uint64_t)(point->begin * 1e9), (uint64_t)(point->end * 1e9),
           quiet);
}

/* If nothing more comes, it was this routine. */
static void print_try(const struct ofl_calibration_call *call)
{
    printf("try %c%s\n", call->letter, operations[call->operation].name);
    fflush(stdout);
}

static bool same_routine(const struct ofl_calibration_call *a, const struct ofl_calibration_call *b)
{
    return a->operation == b->operation && a->letter == b->letter;
}

double ofl_calibration_measure(const struct ofl_calibration_call *calls, int count,
                               struct ofl_calibration_memory *memory, const struct ofl_calibration_pace *pace)
{
    struct point points[OFL_CALIBRATION_CALLS];
    int first = 0, attempt = 1;
    double begin = ofl_clock(), longest = 0;
    bool quiet = ofl_canary_wait(0.3 * pace->limit), failed = false;
    for (int i = 0; i < count; i++) {
        if (i == 0 || !same_routine(&calls[i], &calls[i - 1])) {
            print_try(&calls[i]);
        }
        points[i] = measure(&calls[i], memory, pace);
        longest = fmax(longest, points[i].seconds);
        failed = failed || points[i].seconds == 0;
        if (i + 1 < count && ofl_clock() - begin < 0.1) {
            continue;
        }
        bool still = ofl_canary_wait(0.1);
        quiet = still && quiet;
        if (!quiet && attempt++ < ATTEMPTS) {
            i = first - 1;
        } else {
            for (; first <= i; first++) {
                if (points[first].seconds > 0) {
                    print_point(&calls[first], &points[first], quiet);
                }
            }
            fflush(stdout);
            attempt = 1;
        }
        quiet = still;
        begin = ofl_clock();
    }
    return failed ? 0 : longest;
}
