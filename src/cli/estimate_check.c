/* gpu-offload estimate --check: predictions against recorded times.
 *
 * A run of equal calls is a visit; its time is the lower quartile of those behind the first one, which may have loaded
 * and touched what the others find.  A call that was visited several times, also in several traces, took the median
 * of its visits.  How far two visits of one call are from one another is the error that no model could avoid: the table
 * has it beside the model's. */
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

struct visit {
    struct ofl_trace_record record; /* of its last call */
    double seconds;
};

struct visits {
    struct visit *visit;
    size_t count;
};

static bool add_visit(struct visits *visits, const struct ofl_trace_record *record, double seconds)
{
    if ((visits->count & (visits->count - 1)) == 0) { /* full: room for twice as many */
        size_t room = visits->count > 0 ? 2 * visits->count : 1;
        struct visit *more = realloc(visits->visit, room * sizeof *more);
        if (more == NULL) {
            ofl_message("estimate: no memory for all calls; the rest is left out");
            return false;
        }
        visits->visit = more;
    }
    visits->visit[visits->count++] = (struct visit){*record, seconds};
    return true;
}

/* An order of calls in which equal ones are neighbours. */
static int compare_calls(const struct ofl_trace_record *a, const struct ofl_trace_record *b)
{
    const int64_t differences[] = {
        (a->reason == OFL_OK) - (b->reason == OFL_OK),
        a->operation - b->operation,
        a->precision - b->precision,
        a->side - b->side,
        a->uplo - b->uplo,
        a->transa - b->transa,
        a->transb - b->transb,
        a->m - b->m,
        a->n - b->n,
        a->k - b->k,
    };
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        if (differences[i] != 0) {
            return differences[i] > 0 ? 1 : -1;
        }
    }
    return 0;
}

static bool same_call(const struct ofl_trace_record *a, const struct ofl_trace_record *b)
{
    return b->kind == OFL_TRACE_CALL && compare_calls(a, b) == 0;
}

static int by_call(const void *a, const void *b)
{
    return compare_calls(&((const struct visit *)a)->record, &((const struct visit *)b)->record);
}

/* Takes a run of equal calls; returns its length. */
static size_t take_run(const struct ofl_trace_record *record, size_t count, struct visits *visits)
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
    double typical = ofl_lower_quartile(used > 1 ? seconds + 1 : seconds, used > 1 ? used - 1 : used);
    /* No CPU does a million operations in a microsecond on such sizes: its library has refused arguments without a word
     * (OpenBLAS 0.3.26's sgemmt does). */
    bool refused = record->reason != OFL_OK && typical < 1e-6;
    if (!failed && !refused && record->flops >= 1e6 && typical > 0) {
        return add_visit(visits, &record[length - 1], typical) ? length : count;
    }
    return length;
}

static bool read_file(const char *path, struct visits *visits)
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
        i += call ? take_run(&record[i], count - i, visits) : 1;
    }
    free(record);
    ofl_trace_close(reader);
    return record != NULL;
}

/* ---- Errors ---- */

struct values {
    double *value;
    size_t count;
};

/* Of one operation in one place, all precisions. */
struct errors {
    struct values model;   /* of predictions: |predicted / seen - 1| */
    struct values repeats; /* of one visit as the prediction of another */
};

static void add(struct values *to, double value)
{
    double *more = realloc(to->value, (to->count + 1) * sizeof *more);
    if (more != NULL) {
        to->value = more;
        more[to->count++] = value;
    }
}

static void print_call(const struct ofl_trace_record *record, enum ofl_place place, double seen, size_t visits,
                       const struct ofl_prediction *prediction)
{
    double predicted = place == OFL_ON_DEVICE ? prediction->device : prediction->cpu;
    printf("%-6s %c%s %.1s%.1s%.1s%.1s %" PRId64 " %" PRId64 " %" PRId64 ": %.4g ms of %zu, predicted %.4g (%+.0f%%)",
           places[place], ofl_precision_letter((enum ofl_precision)record->precision),
           ofl_operation_name((enum ofl_operation)record->operation), &record->side, &record->uplo, &record->transa,
           &record->transb, record->m, record->n, record->k, 1e3 * seen, visits, 1e3 * predicted,
           100 * (predicted / seen - 1));
    if (place == OFL_ON_DEVICE) {
        printf("; in %.4g (%.4g), compute %.4g (%.4g), out %.4g (%.4g + %.4g) in %d", 1e3 * record->copy_in,
               1e3 * prediction->copy_in, 1e3 * record->compute, 1e3 * prediction->compute, 1e3 * record->copy_out,
               1e3 * prediction->copy_out, 1e3 * prediction->commit, record->pieces);
    }
    putchar('\n');
}

/* Compares the visits of one call with their prediction and with one another. */
static void compare(const struct visit *visit, size_t count, const struct ofl_machine *machine, bool show,
                    struct errors errors[OFL_PLACE_COUNT][OFL_OPERATION_COUNT])
{
    static const struct ofl_learning nothing;
    enum { MOST = 16 };
    double seconds[MOST];
    struct ofl_prediction prediction;
    struct ofl_work work;
    const struct ofl_trace_record *record = &visit->record;
    enum ofl_place place = record->reason == OFL_OK ? OFL_ON_DEVICE : OFL_ON_CPU;
    struct errors *to = &errors[place][record->operation];
    count = count < MOST ? count : MOST;
    ofl_estimate_work(record, &work);
    ofl_predict(&work, machine, &nothing, 0, &prediction);
    double predicted = place == OFL_ON_DEVICE ? prediction.device : prediction.cpu;
    if (!(predicted > 0) || !isfinite(predicted)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        seconds[i] = visit[i].seconds;
        for (size_t j = 0; j < i; j++) {
            add(&to->repeats, fabs(seconds[i] / seconds[j] - 1));
        }
    }
    double seen = ofl_median(seconds, count);
    add(&to->model, fabs(predicted / seen - 1));
    if (show) {
        print_call(record, place, seen, count, &prediction);
    }
}

/* ---- The table ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double share_of(const struct values *values, double share)
{
    return 100 * values->value[(size_t)(share * (double)(values->count - 1) + 0.5)];
}

static void sort(struct values *values)
{
    if (values->count > 0) {
        qsort(values->value, values->count, sizeof *values->value, by_value);
    }
}

/* A row of a table in Markdown. */
static void print_row(const char *name, const char *place, struct errors *of)
{
    if (of->model.count == 0) {
        return;
    }
    sort(&of->model);
    sort(&of->repeats);
    printf("| %-9s | %-6s | %5zu | %6.1f%% | %6.1f%% | %6.0f%% |", name, place, of->model.count,
           share_of(&of->model, 0.5), share_of(&of->model, 0.9), share_of(&of->model, 1));
    if (of->repeats.count > 0) {
        printf(" %6.1f%% | %6.1f%% |\n", share_of(&of->repeats, 0.5), share_of(&of->repeats, 0.9));
    } else {
        puts("         |         |");
    }
}

static void move(struct values *from, struct values *to)
{
    for (size_t i = 0; i < from->count; i++) {
        add(to, from->value[i]);
    }
    free(from->value);
    *from = (struct values){NULL, 0};
}

static void print_table(struct errors errors[OFL_PLACE_COUNT][OFL_OPERATION_COUNT])
{
    struct errors all[OFL_PLACE_COUNT] = {{{NULL, 0}, {NULL, 0}}};
    puts("| operation | where  | calls |  median |     90% |   worst | repeated: median | 90% |\n"
         "|---|---|---|---|---|---|---|---|");
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            struct errors *of = &errors[place][operation];
            print_row(ofl_operation_name((enum ofl_operation)operation), places[place], of);
            move(&of->model, &all[place].model);
            move(&of->repeats, &all[place].repeats);
        }
    }
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        print_row("all", places[place], &all[place]);
        free(all[place].model.value);
        free(all[place].repeats.value);
    }
}

bool ofl_estimate_check(char **paths, size_t count, const struct ofl_machine *machine, bool calls)
{
    static struct errors errors[OFL_PLACE_COUNT][OFL_OPERATION_COUNT];
    struct visits visits = {NULL, 0};
    bool read = false;
    for (size_t i = 0; i < count; i++) {
        read = read_file(paths[i], &visits) || read;
    }
    if (visits.count > 0) {
        qsort(visits.visit, visits.count, sizeof *visits.visit, by_call);
    }
    for (size_t i = 0, next; i < visits.count; i = next) {
        for (next = i + 1; next < visits.count && by_call(&visits.visit[i], &visits.visit[next]) == 0; next++) {
        }
        compare(&visits.visit[i], next - i, machine, calls, errors);
    }
    print_table(errors);
    free(visits.visit);
    return read;
}
