/* gpu-offload estimate --check: predictions against recorded times. */
#include "cli/estimate.h"
#include "base/message.h"
#include "model/fit.h"
#include "model/predict.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const places[OFL_PLACE_COUNT] = {"CPU", "device"};

/* The relative errors of one operation in one place, all precisions. */
struct errors {
    double *value;
    size_t count;
};

static struct errors errors[OFL_PLACE_COUNT][OFL_OPERATION_COUNT];
static bool show_calls;

static void add(struct errors *to, double error)
{
    double *more = realloc(to->value, (to->count + 1) * sizeof *more);
    if (more != NULL) {
        to->value = more;
        more[to->count++] = error;
    }
}

static bool same_call(const struct ofl_trace_record *a, const struct ofl_trace_record *b)
{
    return b->kind == OFL_TRACE_CALL && a->operation == b->operation && a->precision == b->precision && a->m == b->m &&
           a->n == b->n && a->k == b->k && a->side == b->side && a->transa == b->transa && a->transb == b->transb &&
           (a->reason == OFL_OK) == (b->reason == OFL_OK);
}

static void compare_times(const struct ofl_trace_record *record, double seen, const struct ofl_machine *machine)
{
    static const struct ofl_learning nothing;
    struct ofl_prediction prediction;
    struct ofl_work work;
    ofl_estimate_work(record, &work);
    ofl_predict(&work, machine, &nothing, 0, &prediction);
    enum ofl_place place = record->reason == OFL_OK ? OFL_ON_DEVICE : OFL_ON_CPU;
    double predicted = place == OFL_ON_DEVICE ? prediction.device : prediction.cpu;
    /* No CPU does a million operations in a microsecond on such sizes: its library has refused arguments without a word
     * (OpenBLAS 0.3.26's sgemmt does). */
    bool refused = place == OFL_ON_CPU && seen < 1e-6;
    if (refused || work.flops < 1e6 || !(seen > 0) || !(predicted > 0) || !isfinite(predicted)) {
        return;
    }
    add(&errors[place][record->operation], fabs(predicted / seen - 1));
    if (show_calls) {
        printf("%-6s %c%s%s%.1s%.1s%.1s %" PRId64 " %" PRId64 " %" PRId64 ": %.4g ms, predicted %.4g (%+.0f%%)",
               places[place], ofl_precision_letter((enum ofl_precision)record->precision),
               ofl_operation_name((enum ofl_operation)record->operation), record->side != 0 ? " " : "", &record->side,
               &record->transa, &record->transb, record->m, record->n, record->k, 1e3 * seen, 1e3 * predicted,
               100 * (predicted / seen - 1));
        if (place == OFL_ON_DEVICE) {
            printf("; in %.4g (%.4g), compute %.4g (%.4g), out %.4g (%.4g + %.4g) in %d", 1e3 * record->copy_in,
                   1e3 * prediction.copy_in, 1e3 * record->compute, 1e3 * prediction.compute, 1e3 * record->copy_out,
                   1e3 * prediction.copy_out, 1e3 * prediction.commit, work.pieces);
        }
        putchar('\n');
    }
}

/* Compares a run of equal calls; returns its length. */
static size_t compare(const struct ofl_trace_record *record, size_t count, const struct ofl_machine *machine)
{
    enum { MOST = 64 };
    double seconds[MOST];
    size_t length = 0, used = 0;
    bool failed = false;
    while (length < count && same_call(record, &record[length])) {
        if (used < MOST) {
            seconds[used++] = 1e-9 * (double)record[length].duration - record[length].wait;
        }
        failed = failed || (record[length].flags & (OFL_TRACE_FAILED | OFL_TRACE_NESTED)) != 0;
        length++;
    }
    if (!failed) {
        /* The first of several may have loaded and touched what the others find. */
        compare_times(record, ofl_lower_quartile(used > 1 ? seconds + 1 : seconds, used > 1 ? used - 1 : used),
                      machine);
    }
    return length;
}

static bool compare_file(const char *path, const struct ofl_machine *machine)
{
    char explanation[512];
    size_t count = 0;
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    if (reader == NULL) {
        ofl_message("estimate: %s", explanation);
        return false;
    }
    struct ofl_trace_record *record = ofl_trace_read_all(reader, &count);
    for (size_t i = 0; record != NULL && i < count;) {
        bool call = record[i].kind == OFL_TRACE_CALL && record[i].operation < OFL_OPERATION_COUNT;
        i += call ? compare(&record[i], count - i, machine) : 1;
    }
    free(record);
    ofl_trace_close(reader);
    return record != NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A row of a table in Markdown. */
static void print_row(const char *name, const char *place, struct errors *of)
{
    if (of->count > 0) {
        qsort(of->value, of->count, sizeof *of->value, by_value);
        printf("| %-9s | %-6s | %5zu | %6.1f%% | %6.1f%% | %6.0f%% |\n", name, place, of->count,
               100 * of->value[of->count / 2], 100 * of->value[of->count * 9 / 10], 100 * of->value[of->count - 1]);
    }
}

bool ofl_estimate_check(char **paths, size_t count, const struct ofl_machine *machine, bool calls)
{
    static struct errors all[OFL_PLACE_COUNT];
    bool read = false;
    show_calls = calls;
    for (size_t i = 0; i < count; i++) {
        read = compare_file(paths[i], machine) || read;
    }
    printf("| operation | where  | calls |  median |     90%% |   worst |\n|---|---|---|---|---|---|\n");
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            struct errors *of = &errors[place][operation];
            print_row(ofl_operation_name((enum ofl_operation)operation), places[place], of);
            for (size_t i = 0; i < of->count; i++) {
                add(&all[place], of->value[i]);
            }
            free(of->value);
            *of = (struct errors){NULL, 0};
        }
    }
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        print_row("all", places[place], &all[place]);
        free(all[place].value);
        all[place] = (struct errors){NULL, 0};
    }
    return read;
}
