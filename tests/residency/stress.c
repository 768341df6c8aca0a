/* Nothing stale is ever used: operands change by every route between calls, and each result is compared with one that
 * is computed from the memory as it is.
 *
 *     stress [--device host|cuda] [--residency always|auto] [--rounds N] [--seed N] [--seconds N]
 *
 * A round changes an area of memory by some route (routes.c) or not at all, and runs a call that reads an operand in
 * it, or one that writes its result there.  All numbers are whole, so that results are exact in any order.  Meanwhile
 * one thread writes beside the operand, into the same pages, while the device works, and others run calls on memory of
 * their own.  Exit status 1: a result was wrong, or hardly anything was kept, so that nothing was tested; 77: the
 * kernel cannot prove anything. */
#include "routes.h"
#include "base/clock.h"
#include "base/reason.h"
#include "device/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { area_count = 24, layout_count = 4, margin = 8, most_side = 600, callers = 2 };

/* A place of an operand in an area. */
struct layout {
    size_t first; /* element of the area */
    int64_t rows, columns, ld;
};

struct subject {
    struct area area;
    struct layout layout[layout_count];
};

static struct subject subjects[area_count];
static _Atomic uint64_t calls;
static _Atomic bool stop;
static atomic_int wrong;
static bool mostly_unchanged; /* where only what repeats is kept */

/* ---- the thread that writes beside the operand ---- */

static struct {
    pthread_mutex_t lock;
    volatile double *memory; /* NULL: nothing to do */
    size_t elements;
    struct layout layout;
} beside = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *write_beside(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        pthread_mutex_lock(&beside.lock);
        for (int i = 0; beside.memory != NULL && i < 40; i++) {
            const struct layout *layout = &beside.layout;
            beside.memory[i % margin] += 1;
            beside.memory[beside.elements - 1 - (size_t)i % margin] += 1;
            if (layout->ld > layout->rows) {
                beside.memory[layout->first + (size_t)(layout->rows + i % (layout->ld - layout->rows)) +
                              (size_t)(i % (layout->columns > 1 ? layout->columns - 1 : 1)) * (size_t)layout->ld] = i;
            }
        }
        pthread_mutex_unlock(&beside.lock);
        usleep(30);
    }
    return NULL;
}

static void set_beside(const struct subject *subject, const struct layout *layout)
{
    pthread_mutex_lock(&beside.lock);
    beside.memory = subject != NULL ? (volatile double *)(void *)subject->area.memory : NULL;
    beside.elements = subject != NULL ? subject->area.bytes / sizeof(double) : 0;
    if (layout != NULL) {
        beside.layout = *layout;
    }
    pthread_mutex_unlock(&beside.lock);
}

/* ---- calls ---- */

static struct ofl_buffer buffer(double *address, int64_t rows, int64_t columns, int64_t ld, enum ofl_access access)
{
    return (struct ofl_buffer){address, rows, columns, ld, sizeof(double), access, OFL_GENERAL};
}

static bool run(const struct ofl_call *call)
{
    enum ofl_reason reason = ofl_device_run(call, NULL);
    atomic_fetch_add(&calls, 1);
    if (reason != OFL_OK) {
        fprintf(stderr, "a call failed: %s\n", ofl_reason_text(reason));
        atomic_store(&wrong, 1);
    }
    return reason == OFL_OK;
}

/* y = A x, or y = A' x: each element of x is another prime, so that no change of one element hides. */
static bool read_operand(double *memory, const struct layout *layout, bool transposed)
{
    static const double primes[] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43};
    double x[most_side], y[most_side], *a = memory + layout->first;
    int64_t m = transposed ? layout->columns : layout->rows, k = transposed ? layout->rows : layout->columns;
    for (int64_t i = 0; i < k; i++) {
        x[i] = primes[i % 13];
    }
    struct ofl_call call = {.operation = OFL_OP_gemm,
                            .precision = OFL_D,
                            .transa = transposed ? 'T' : 'N',
                            .transb = 'N',
                            .m = m,
                            .n = 1,
                            .k = k,
                            .alpha.d = 1,
                            .operands = 3,
                            .operand = {buffer(a, layout->rows, layout->columns, layout->ld, OFL_READ),
                                        buffer(x, k, 1, k, OFL_READ), buffer(y, m, 1, m, OFL_ADD)}};
    if (!run(&call)) {
        return false;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < k; j++) {
            y[i] -= x[j] * (transposed ? a[j + i * layout->ld] : a[i + j * layout->ld]);
        }
        if (y[i] != 0) {
            fprintf(stderr, "row %ld of %ld x %ld (ld %ld) is off by %g\n", (long)i, (long)m, (long)k, (long)layout->ld,
                    y[i]);
            return false;
        }
    }
    return true;
}

/* A = u v' + beta A. */
static bool write_operand(double *memory, size_t elements, const struct layout *layout, double beta,
                          struct random *random)
{
    double u[most_side], v[most_side], *a = memory + layout->first;
    double *expected = malloc(elements * sizeof *expected);
    check(expected != NULL, "malloc");
    for (int64_t i = 0; i < most_side; i++) {
        u[i] = (double)(i % 3) - 1;
        v[i] = (double)draw(random, 5) - 2;
    }
    for (int64_t j = 0; j < layout->columns; j++) {
        for (int64_t i = 0; i < layout->rows; i++) {
            double *element = &expected[layout->first + (size_t)(i + j * layout->ld)];
            *element = u[i] * v[j] + (beta != 0 ? beta * a[i + j * layout->ld] : 0);
        }
    }
    struct ofl_call call = {.operation = OFL_OP_gemm,
                            .precision = OFL_D,
                            .transa = 'N',
                            .transb = 'N',
                            .m = layout->rows,
                            .n = layout->columns,
                            .k = 1,
                            .alpha.d = 1,
                            .beta.d = beta,
                            .operands = 3,
                            .operand = {buffer(u, layout->rows, 1, layout->rows, OFL_READ),
                                        buffer(v, 1, layout->columns, 1, OFL_READ),
                                        buffer(a, layout->rows, layout->columns, layout->ld, OFL_ADD)}};
    bool good = run(&call);
    for (int64_t j = 0; j < layout->columns && good; j++) {
        size_t at = layout->first + (size_t)(j * layout->ld);
        good = memcmp(&expected[at], &memory[at], (size_t)layout->rows * sizeof *expected) == 0;
        for (int64_t i = 0; i < layout->rows && !good; i++) { /* 0 and -0 are the same */
            good = expected[at + (size_t)i] == memory[at + (size_t)i];
            if (!good) {
                fprintf(stderr, "element (%ld, %ld) of a result is %g, not %g\n", (long)i, (long)j,
                        memory[at + (size_t)i], expected[at + (size_t)i]);
                break;
            }
            good = i + 1 == layout->rows;
        }
    }
    free(expected);
    return good;
}

/* ---- other callers ---- */

static void *call_too(void *seed)
{
    enum { elements = 3000 };
    struct random random = {(uint64_t)(uintptr_t)seed};
    double *memory = calloc(elements, sizeof *memory);
    const struct layout layout = {margin, 50, 55, 53};
    check(memory != NULL, "calloc");
    while (!atomic_load(&stop)) {
        if (draw(&random, 3) == 0) {
            memory[draw(&random, elements)] = (double)draw(&random, 100);
        }
        bool good = draw(&random, 4) > 0 ? read_operand(memory, &layout, false)
                                         : write_operand(memory, elements, &layout, (double)draw(&random, 2), &random);
        if (!good) {
            atomic_store(&wrong, 1);
        }
        usleep(200);
    }
    free(memory);
    return NULL;
}

/* ---- rounds ---- */

static void draw_layout(const struct area *area, struct random *random, struct layout *layout)
{
    size_t all = area->bytes / sizeof(double) - 2 * margin;
    layout->first = margin + draw(random, 40);
    layout->columns = 1 + (int64_t)draw(random, 60);
    layout->ld = (int64_t)((all - layout->first) / (size_t)layout->columns);
    layout->ld = layout->ld < most_side ? layout->ld : most_side;
    layout->rows = draw(random, 2) ? layout->ld : layout->ld - (int64_t)draw(random, (uint64_t)layout->ld / 2 + 1);
    if (layout->rows < 1) {
        layout->rows = 1;
    }
}

static void make_subject(struct subject *subject, enum kind kind, struct random *random)
{
    area_make(&subject->area, kind, random);
    for (int i = 0; i < layout_count; i++) {
        draw_layout(&subject->area, random, &subject->layout[i]);
    }
}

static bool play(struct random *random, const char **route)
{
    struct subject *subject = &subjects[draw(random, area_count)];
    struct area *area = &subject->area;
    /* Mostly the first layout: repetition is what is looked for. */
    const struct layout *layout = &subject->layout[draw(random, 4) > 0 ? 0 : draw(random, layout_count)];
    if (!mostly_unchanged || draw(random, 25) == 0) {
        change(area, random, route);
    }
    double *memory = (double *)(void *)area->memory;
    bool watched = draw(random, 8) == 0;
    if (watched) {
        set_beside(subject, layout);
    }
    bool good = draw(random, mostly_unchanged ? 25 : 5) > 0
                    ? read_operand(memory, layout, draw(random, 2) == 0)
                    : write_operand(memory, area->bytes / sizeof(double), layout, (double)draw(random, 2), random);
    if (watched) {
        set_beside(NULL, NULL);
    }
    if (draw(random, 2000) == 0 && area->kind != KIND_PROCESSES) { /* the helper has those from the start */
        enum kind kind = area->kind;
        area_free(area);
        make_subject(subject, kind, random);
    }
    return good;
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return argv[i + 1];
        }
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    struct random random = {strtoull(option(argc, argv, "--seed", "1"), NULL, 0) * 7919 + 1};
    uint64_t rounds = strtoull(option(argc, argv, "--rounds", "10000"), NULL, 0), round = 0;
    double seconds = strtod(option(argc, argv, "--seconds", "1e9"), NULL), begin = ofl_clock();
    struct ofl_residency_counts counts;
    const char *route = "nothing";
    pthread_t threads[callers + 1];
    setenv("GPU_OFFLOAD_DEVICE", option(argc, argv, "--device", "host"), 1);
    setenv("GPU_OFFLOAD_RESIDENCY", option(argc, argv, "--residency", "always"), 1);
    mostly_unchanged = strcmp(option(argc, argv, "--residency", "always"), "auto") == 0;
    setenv("GPU_OFFLOAD_SMALL_PIECES", "1", 1); /* small operands count, and are cut */
    for (int i = 0; i < area_count; i++) {
        make_subject(&subjects[i], (enum kind)(i < 9 ? KIND_PRIVATE : i % KIND_COUNT), &random);
    }
    helper_start();
    enum ofl_reason reason = ofl_device_start();
    if (reason != OFL_OK) {
        printf("the device cannot be used: %s\n", ofl_device_explanation());
        return 77;
    }
    ofl_device_residency_counts(&counts);
    if (!counts.works) {
        puts("this kernel cannot prove that memory is unchanged: nothing is kept, nothing to test");
        return 77;
    }
    pthread_atfork(ofl_device_before_fork, ofl_device_after_fork_in_parent, ofl_device_after_fork_in_child);
    pthread_create(&threads[0], NULL, write_beside, NULL);
    for (int i = 1; i <= callers; i++) {
        pthread_create(&threads[i], NULL, call_too, (void *)(uintptr_t)(i * 77));
    }
    while (round < rounds && ofl_clock() - begin < seconds && atomic_load(&wrong) == 0) {
        round++;
        if (!play(&random, &route)) {
            fprintf(stderr, "round %llu, after \"%s\"\n", (unsigned long long)round, route);
            atomic_store(&wrong, 1);
        }
    }
    atomic_store(&stop, true);
    for (int i = 0; i <= callers; i++) {
        pthread_join(threads[i], NULL);
    }
    helper_end();
    ofl_device_residency_counts(&counts);
    printf("%llu rounds, %llu calls, %.0f s; operands were kept %llu times, and used again %llu times; routes:\n",
           (unsigned long long)round, (unsigned long long)atomic_load(&calls), ofl_clock() - begin,
           (unsigned long long)counts.kept, (unsigned long long)counts.uses);
    routes_print();
    if (counts.uses < round / 20) {
        puts("hardly anything was used again: nothing was tested");
        return 1;
    }
    puts(atomic_load(&wrong) ? "0 passed, 1 failed" : "1 passed, 0 failed");
    return atomic_load(&wrong) ? 1 : 0;
}
