/* From the traces of a calibration to a machine.
 *
 * Each point's records are those that began between its two moments.  A point gives one sample, the
 * lower quartile of its records' times; failed calls do not count.  First the lines of the copies are fitted, to what
 * the pipeline reached.  The time that a sample then computes on the device is the one with which the prediction is
 * the time of the whole call: it holds all that a real call pays, and where copies and computing overlap nothing
 * else could be taken from the call. */
#include "cli/calibrate/calibrate.h"
#include "cli/estimate.h"
#include "model/fit.h"
#include "model/predict.h"
#include "trace/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPETITIONS = 64, MAX_SAMPLES = 512, MAX_SWEEPS = 8 };

struct trace {
    struct ofl_trace_record *record;
    size_t count;
};

static int by_start(const void *a, const void *b)
{
    const struct ofl_trace_record *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Adds the records of one file. */
static bool load_file(const char *path, struct trace *out, char *explanation, size_t size)
{
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, size);
    if (reader == NULL) {
        return false;
    }
    size_t count;
    struct ofl_trace_record *read = ofl_trace_read_all(reader, &count);
    ofl_trace_close(reader);
    struct ofl_trace_record *more = NULL;
    if (read != NULL) {
        more = realloc(out->record, (out->count + count + 1) * sizeof *more);
    }
    if (more == NULL) {
        free(read);
        snprintf(explanation, size, "no memory to read the trace");
        return false;
    }
    memcpy(more + out->count, read, count * sizeof *more);
    out->record = more;
    out->count += count;
    free(read);
    return true;
}

/* The traces of a pass, one for each client that it took; a client that crashed may have left none. */
static bool load(const struct ofl_calibration_pass *pass, struct trace *out, char *explanation, size_t size)
{
    size_t files;
    char **paths = ofl_trace_list(pass->folder, &files, explanation, size);
    if (paths == NULL) {
        return false;
    }
    bool loaded = false;
    for (size_t i = 0; i < files; i++) {
        loaded = load_file(paths[i], out, explanation, size) || loaded;
    }
    ofl_trace_free_list(paths, files);
    if (loaded) {
        qsort(out->record, out->count, sizeof *out->record, by_start);
    }
    return loaded;
}

static bool belongs(const struct ofl_trace_record *record, const struct ofl_calibration_point *point)
{
    return record->kind == OFL_TRACE_CALL && record->start >= point->begin && record->start < point->end &&
           record->operation == point->operation && record->precision == point->precision &&
           (record->flags & (OFL_TRACE_FAILED | OFL_TRACE_NESTED)) == 0;
}

/* The first record that did not begin before `start`: the trace is in the order of time. */
static size_t first_from(const struct trace *trace, uint64_t start)
{
    size_t low = 0, high = trace->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->record[middle].start < start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A point as it was seen. */
struct sample {
    struct ofl_work work;
    double seconds;  /* of the whole call */
    double computed; /* of that, what the device says that it computed; where copies overlapped, less */
};

static bool find_sample(const struct trace *trace, const struct ofl_calibration_point *point, enum ofl_place place,
                        struct sample *out)
{
    double seconds[MAX_REPETITIONS], computed[MAX_REPETITIONS];
    size_t count = 0;
    *out = (struct sample){.seconds = 0};
    for (size_t i = first_from(trace, point->begin); i < trace->count && trace->record[i].start < point->end; i++) {
        const struct ofl_trace_record *record = &trace->record[i];
        if (belongs(record, point) && (record->reason == OFL_OK) == (place == OFL_ON_DEVICE) &&
            count < MAX_REPETITIONS) {
            computed[count] = record->compute;
            seconds[count++] = 1e-9 * (double)record->duration - record->wait;
            ofl_estimate_work(record, &out->work);
        }
    }
    out->seconds = ofl_lower_quartile(seconds, count);
    out->computed = ofl_lower_quartile(computed, count);
    /* A library that refuses arguments without a word takes no time. */
    bool refused = place == OFL_ON_CPU && out->seconds < 1e-6 && out->work.flops >= 1e6;
    return out->seconds > 0 && out->work.flops > 0 && !refused;
}

/* The time to compute with which the prediction of the whole call is what was seen, at least `least`. */
static double solve_compute(const struct sample *sample, const struct ofl_machine *machine, double least)
{
    double low = least, high = sample->seconds;
    for (int i = 0; i < 60 && high > low; i++) {
        double middle = 0.5 * (low + high);
        if (ofl_device_seconds(&sample->work, machine, middle) < sample->seconds) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A cut call's time to compute is known only by what uncut calls of its routine reached: `fastest` flops a second.  The
 * share of what overlapping could save that was lost; negative where the call does not tell. */
static double lost_share(const struct sample *sample, const struct ofl_machine *machine, double fastest)
{
    struct ofl_work whole = sample->work;
    double compute = sample->work.flops / (1.3 * fastest);
    ofl_work_cut(&whole, 1, 0);
    double sum = ofl_device_seconds(&whole, machine, compute);
    double overlapped = ofl_device_seconds(&sample->work, machine, compute);
    if (!(sum - overlapped > 0.1 * sum)) {
        return -1;
    }
    return fmin(fmax((sample->seconds - overlapped) / (sum - overlapped), 0), 1);
}

/* Samples of one routine on the device: seconds to compute.  Calls that were not cut come first: they show what the
 * device can reach, which bounds those that were limited by their copies and tell little of computing. */
static void find_compute(const struct sample *seen, size_t count, const struct ofl_machine *machine,
                         struct ofl_sample *samples)
{
    double fastest = 0;
    for (int cut = 0; cut < 2; cut++) {
        for (size_t i = 0; i < count; i++) {
            const struct sample *sample = &seen[i];
            if ((sample->work.pieces > 1) != cut) {
                continue;
            }
            /* What the device says holds its own launch times, but a copy line that is a little off must not hide it.
             */
            double least = cut ? (fastest > 0 ? sample->work.flops / (1.3 * fastest) : 1e-3 * sample->seconds)
                               : 0.7 * sample->computed;
            samples[i].seconds = solve_compute(sample, machine, fmin(least, sample->seconds));
            fastest = fmax(fastest, cut ? 0 : sample->work.flops / samples[i].seconds);
        }
    }
}

/* Whether the same call was measured, at two times. */
static bool same_call(const struct ofl_work *a, const struct ofl_work *b)
{
    return a->flops == b->flops && memcmp(a->extent, b->extent, sizeof a->extent) == 0 && a->m == b->m &&
           a->n == b->n && a->k == b->k && a->side == b->side && a->uplo == b->uplo && a->transa == b->transa &&
           a->transb == b->transb;
}

/* Of the sweeps that measured a call the median counts: where times have two modes, the shortest or the first would
 * choose one of them too often.  The number of samples that are left. */
static size_t merge_sweeps(struct sample *seen, size_t count)
{
    size_t merged = 0;
    for (size_t i = 0; i < count; i++) {
        double seconds[MAX_SWEEPS], computed[MAX_SWEEPS];
        size_t sweeps = 0;
        for (size_t j = i; j < count && seen[i].seconds > 0; j++) {
            if (seen[j].seconds > 0 && same_call(&seen[i].work, &seen[j].work) && sweeps < MAX_SWEEPS) {
                seconds[sweeps] = seen[j].seconds;
                computed[sweeps++] = seen[j].computed;
                seen[j].seconds = j > i ? 0 : seen[j].seconds; /* taken */
            }
        }
        if (sweeps > 0) {
            seen[merged] = seen[i];
            seen[merged].seconds = ofl_median(seconds, sweeps);
            seen[merged++].computed = ofl_median(computed, sweeps);
        }
    }
    return merged;
}

/* The samples of one routine in one place; their number. */
static size_t find_samples(const struct ofl_calibration_pass *pass, const struct trace *trace, enum ofl_place place,
                           enum ofl_operation operation, enum ofl_precision precision, struct sample seen[MAX_SAMPLES])
{
    size_t count = 0;
    for (size_t i = 0; i < pass->points && count < MAX_SAMPLES; i++) {
        const struct ofl_calibration_point *point = &pass->point[i];
        if (point->operation == operation && point->precision == precision) {
            count += find_sample(trace, point, place, &seen[count]);
        }
    }
    return merge_sweeps(seen, count);
}

/* How much of the overlap is lost: the median over all calls that were cut.  The machine has its copies. */
static void fit_overlap(const struct ofl_calibration_pass *pass, const struct trace *trace, struct ofl_machine *out)
{
    static struct sample seen[MAX_SAMPLES];
    double *lost = malloc((pass->points + 1) * sizeof *lost);
    size_t used = 0;
    out->serial = 0;
    for (int operation = 0; lost != NULL && operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            size_t count =
                find_samples(pass, trace, OFL_ON_DEVICE, (enum ofl_operation)operation, (enum ofl_precision)p, seen);
            double fastest = 0;
            for (size_t i = 0; i < count; i++) {
                bool tells = seen[i].work.pieces <= 1 && seen[i].computed > 0;
                fastest = fmax(fastest, tells ? seen[i].work.flops / seen[i].computed : 0);
            }
            for (size_t i = 0; i < count && fastest > 0; i++) {
                lost[used] = seen[i].work.pieces > 1 ? lost_share(&seen[i], out, fastest) : -1;
                used += lost[used] >= 0;
            }
        }
    }
    double share = ofl_median(lost, lost != NULL ? used : 0);
    free(lost);
    out->serial = share;
}

/* The samples of a routine in a place, as the model's fit wants them; the machine has its copies.  Their number. */
static size_t routine_samples(const struct ofl_calibration_pass *pass, const struct trace *trace, enum ofl_place place,
                              enum ofl_operation operation, enum ofl_precision precision,
                              const struct ofl_machine *machine, struct ofl_sample samples[MAX_SAMPLES])
{
    static struct sample seen[MAX_SAMPLES];
    size_t count = find_samples(pass, trace, place, operation, precision, seen);
    for (size_t i = 0; i < count; i++) {
        samples[i] = (struct ofl_sample){.work = seen[i].work, .seconds = seen[i].seconds, .whole = seen[i].seconds};
    }
    if (place == OFL_ON_DEVICE) {
        find_compute(seen, count, machine, samples);
    }
    return count;
}

/* What the sum of an operation's parts is off by, where it has parts: their curves are known by now.  Those that are
 * not are what they will be when the profile is used. */
static void fit_sums(const struct ofl_sample *samples, size_t count, const struct ofl_machine *completed,
                     enum ofl_place place, struct ofl_curve *out)
{
    static double predicted[MAX_SAMPLES];
    bool sums = false;
    for (size_t i = 0; i < count; i++) {
        predicted[i] = ofl_compute_seconds(&samples[i].work, completed, place);
        sums = sums || samples[i].work.parts > 0;
    }
    if (sums) {
        ofl_fit_near(samples, predicted, count, out);
    }
}

/* All curves of one place; the number of them.  The machine has its copies. */
static int fit_curves(const struct ofl_calibration_pass *pass, const struct trace *trace, enum ofl_place place,
                      struct ofl_machine *out)
{
    static struct ofl_sample samples[MAX_SAMPLES];
    static struct ofl_machine completed;
    int curves = 0;
    for (int sums = 0; sums < 2; sums++) {
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
                struct ofl_curve *curve = &out->curve[place][operation][p];
                size_t count = routine_samples(pass, trace, place, (enum ofl_operation)operation, (enum ofl_precision)p,
                                               out, samples);
                if (sums) {
                    completed.curve[place][operation][p].nears = 0;
                    fit_sums(samples, count, &completed, place, curve);
                } else {
                    curves += ofl_fit_curve(samples, count, curve);
                }
            }
        }
        completed = *out;
        ofl_machine_complete(&completed);
    }
    return curves;
}

static bool is_measured(const struct ofl_calibration_pass *pass, uint64_t start)
{
    for (size_t i = 0; i < pass->points; i++) {
        if (start >= pass->point[i].begin && start < pass->point[i].end) {
            return true;
        }
    }
    return false;
}

/* What a record tells of a copy. */
enum copy { COPY_IN, COPY_OUT_DIRECT, COPY_OUT_STAGED };

/* Bytes are 0 if the record does not tell of such a copy. */
static struct ofl_copy_sample copy_of(const struct ofl_trace_record *record, enum copy copy)
{
    bool whole = record->pieces <= 1,
         lapack = ofl_library_of((enum ofl_operation)record->operation) != OFL_LIBRARY_BLAS;
    if (copy == COPY_IN) {
        /* Copies in wait for nothing, so their time is their own however the call was cut. */
        return (struct ofl_copy_sample){(double)record->bytes_in, record->copy_in};
    }
    /* LAPACK's results are also looked at, which its curves hold. */
    bool wanted = whole && !lapack && (record->staged != 0) == (copy == COPY_OUT_STAGED);
    return (struct ofl_copy_sample){wanted ? (double)record->bytes_out : 0, record->copy_out};
}

/* All copies of a kind in measured calls; the caller frees them. */
static struct ofl_copy_sample *find_copies(const struct ofl_calibration_pass *pass, const struct trace *trace,
                                           enum copy copy, size_t *count)
{
    struct ofl_copy_sample *samples = malloc((trace->count + 1) * sizeof *samples);
    *count = 0;
    for (size_t i = 0; samples != NULL && i < trace->count; i++) {
        const struct ofl_trace_record *record = &trace->record[i];
        if (record->kind == OFL_TRACE_CALL && record->reason == OFL_OK && record->operation < OFL_OPERATION_COUNT &&
            (record->flags & OFL_TRACE_FAILED) == 0 && is_measured(pass, record->start)) {
            samples[*count] = copy_of(record, copy);
            *count += samples[*count].bytes > 0;
        }
    }
    return samples;
}

/* Putting staged results into their place: what the copies of staged results took beyond the device's own. */
static void fit_commit(struct ofl_copy_sample *samples, size_t count, struct ofl_line line[OFL_HOST_MEMORY_COUNT])
{
    if (line[OFL_PINNED].rate > 0) {
        for (size_t i = 0; i < count; i++) {
            samples[i].seconds -= ofl_line_seconds(&line[OFL_PINNED], samples[i].bytes);
        }
    } else { /* all of it is the copy's */
        ofl_fit_line(samples, count, &line[OFL_PINNED]);
        return;
    }
    if (!ofl_fit_line(samples, count, &line[OFL_COMMIT])) {
        line[OFL_COMMIT] = (struct ofl_line){0, 0};
    }
}

/* All lines; false if those of ordinary memory could not be found. */
static bool fit_copies(const struct ofl_calibration_pass *pass, const struct trace *trace,
                       const struct ofl_calibration_copies *copies, struct ofl_machine *out)
{
    struct ofl_line *in = out->copy[OFL_COPY_IN], *back = out->copy[OFL_COPY_OUT];
    size_t count, staged_count;
    for (int d = 0; d < OFL_DIRECTION_COUNT; d++) {
        if (!ofl_fit_line(copies->sample[d], copies->count[d], &out->copy[d][OFL_PINNED])) {
            out->copy[d][OFL_PINNED] = (struct ofl_line){0, 0};
        }
    }
    struct ofl_copy_sample *samples = find_copies(pass, trace, COPY_IN, &count);
    bool fitted = samples != NULL && ofl_fit_lines(samples, count, &in[OFL_PAGEABLE], &in[OFL_BULK]);
    free(samples);
    struct ofl_copy_sample *staged = find_copies(pass, trace, COPY_OUT_STAGED, &staged_count);
    samples = find_copies(pass, trace, COPY_OUT_DIRECT, &count);
    /* A calibration with few direct results takes the others'. */
    if (fitted && samples != NULL && staged != NULL) {
        fitted = ofl_fit_lines(samples, count, &back[OFL_PAGEABLE], &back[OFL_BULK]) ||
                 ofl_fit_lines(staged, staged_count, &back[OFL_PAGEABLE], &back[OFL_BULK]);
        fit_commit(staged, staged_count, back);
    }
    fitted = fitted && samples != NULL && staged != NULL;
    free(samples);
    free(staged);
    return fitted;
}

/* ---- Starting ---- */

/* Starting: the device's own start, and what the first call of each library, which loads it, took more than the fastest
 * of the same routine and size.  Where clients crashed there are several starts; the shortest counts. */
/* What a call on the device took more than the fastest one of its routine and size. */
static double extra_seconds(const struct trace *trace, size_t first)
{
    const struct ofl_trace_record *record = &trace->record[first];
    uint64_t fastest = record->duration;
    for (size_t i = first; i < trace->count; i++) {
        const struct ofl_trace_record *other = &trace->record[i];
        if (other->kind == OFL_TRACE_CALL && other->reason == OFL_OK && other->operation == record->operation &&
            other->precision == record->precision && other->flops == record->flops && other->duration < fastest) {
            fastest = other->duration;
        }
    }
    return 1e-9 * (double)(record->duration - fastest);
}

static bool ran_there(const struct ofl_trace_record *record)
{
    return record->kind == OFL_TRACE_CALL && record->reason == OFL_OK && record->operation < OFL_OPERATION_COUNT;
}

/* What the first call of a routine adds, beside loading its library: the median of the library's routines. */
static void find_routine_starts(const struct trace *trace, struct ofl_machine *out)
{
    static double extra[OFL_LIBRARY_COUNT][OFL_OPERATION_COUNT * OFL_PRECISION_COUNT];
    bool seen[OFL_OPERATION_COUNT][OFL_PRECISION_COUNT] = {{false}};
    size_t count[OFL_LIBRARY_COUNT] = {0};
    for (size_t i = 0; i < trace->count; i++) {
        const struct ofl_trace_record *record = &trace->record[i];
        if (!ran_there(record) || seen[record->operation][record->precision]) {
            continue;
        }
        seen[record->operation][record->precision] = true;
        if ((record->flags & OFL_TRACE_FIRST) == 0) {
            enum ofl_library library = ofl_library_of((enum ofl_operation)record->operation);
            extra[library][count[library]++] = extra_seconds(trace, i);
        }
    }
    for (int i = 0; i < OFL_LIBRARY_COUNT; i++) {
        out->routine[i] = ofl_median(extra[i], count[i]);
    }
}

static bool find_start(const struct trace *trace, struct ofl_machine *out)
{
    bool started = false, seen[OFL_LIBRARY_COUNT] = {false};
    for (size_t i = 0; i < trace->count; i++) {
        const struct ofl_trace_record *first = &trace->record[i];
        struct ofl_trace_text text;
        if (ofl_trace_text_of(first, &text) && text.kind == OFL_TRACE_DEVICE) {
            double seconds = 1e-9 * (double)text.duration;
            out->start = started ? fmin(out->start, seconds) : seconds;
            started = true;
        }
        if (!ran_there(first) || (first->flags & OFL_TRACE_FIRST) == 0) {
            continue;
        }
        enum ofl_library library = ofl_library_of((enum ofl_operation)first->operation);
        double seconds = extra_seconds(trace, i);
        out->library[library] = seen[library] ? fmin(out->library[library], seconds) : seconds;
        seen[library] = true;
    }
    find_routine_starts(trace, out);
    return started;
}

bool ofl_calibration_fit(const struct ofl_calibration_pass *cpu, const struct ofl_calibration_pass *device,
                         const struct ofl_calibration_copies *copies, struct ofl_machine *out, char *explanation,
                         size_t size)
{
    struct trace on_cpu = {NULL, 0}, on_device = {NULL, 0};
    *out = (struct ofl_machine){.start = 0};
    bool fitted = load(cpu, &on_cpu, explanation, size) && load(device, &on_device, explanation, size);
    if (fitted && fit_curves(cpu, &on_cpu, OFL_ON_CPU, out) == 0) {
        snprintf(explanation, size,
                 "no call of the CPU library was recorded; 'gpu-offload doctor' says what can be seen");
        fitted = false;
    }
    if (fitted && !find_start(&on_device, out)) {
        snprintf(explanation, size, "the device did not start");
        fitted = false;
    }
    if (fitted) {
        fitted = fit_copies(device, &on_device, copies, out);
        if (fitted) {
            fit_overlap(device, &on_device, out);
            fitted = fit_curves(device, &on_device, OFL_ON_DEVICE, out) > 0;
        }
        if (!fitted) {
            snprintf(explanation, size, "the device ran too few calls");
        }
    }
    free(on_cpu.record);
    free(on_device.record);
    return fitted;
}
