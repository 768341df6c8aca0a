/* From the traces of a calibration to a machine.
 *
 * Each point's records are those that began between its two moments.  A point gives one sample, the
 * lower quartile of its records' times; failed calls do not count.  On the device the time to compute
 * is what is left when waiting and copying are taken away, so it holds all that a real call pays. */
#include "cli/calibrate/calibrate.h"
#include "cli/estimate.h"
#include "model/fit.h"
#include "trace/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPETITIONS = 64, MAX_SAMPLES = 512 };

struct trace {
    struct ofl_trace_record *record;
    size_t count;
};

/* The one trace of a pass: the client starts no other process. */
static bool load(const struct ofl_calibration_pass *pass, struct trace *out, char *explanation, size_t size)
{
    size_t files;
    char **paths = ofl_trace_list(pass->folder, &files, explanation, size);
    struct ofl_trace_reader *reader = paths != NULL ? ofl_trace_open(paths[files - 1], explanation, size) : NULL;
    if (reader == NULL) {
        ofl_trace_free_list(paths, paths != NULL ? files : 0);
        return false;
    }
    out->record = ofl_trace_read_all(reader, &out->count);
    ofl_trace_close(reader);
    ofl_trace_free_list(paths, files);
    if (out->record == NULL) {
        snprintf(explanation, size, "no memory to read the trace");
    }
    return out->record != NULL;
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

/* Seconds to compute, in one place. */
static double compute_seconds(const struct ofl_trace_record *record, enum ofl_place place)
{
    double seconds = 1e-9 * (double)record->duration;
    if (place == OFL_ON_CPU) {
        return seconds;
    }
    double rest = seconds - record->wait - record->copy_in - record->copy_out;
    /* Where copies overlapped the rest means little; what the device says of itself counts. */
    return rest > record->compute ? rest : record->compute;
}

static bool find_sample(const struct trace *trace, const struct ofl_calibration_point *point, enum ofl_place place,
                        struct ofl_sample *out)
{
    double seconds[MAX_REPETITIONS];
    size_t count = 0;
    struct ofl_work work = {.flops = 0};
    for (size_t i = first_from(trace, point->begin); i < trace->count && trace->record[i].start < point->end; i++) {
        const struct ofl_trace_record *record = &trace->record[i];
        if (belongs(record, point) && (record->reason == OFL_OK) == (place == OFL_ON_DEVICE) &&
            count < MAX_REPETITIONS) {
            seconds[count++] = compute_seconds(record, place);
            ofl_estimate_work(record, &work);
        }
    }
    double quartile = ofl_lower_quartile(seconds, count);
    *out = (struct ofl_sample){.flops = work.flops, .seconds = quartile};
    memcpy(out->extent, work.extent, sizeof out->extent);
    return quartile > 0 && work.flops > 0;
}

/* All curves of one place; the number of them. */
static int fit_curves(const struct ofl_calibration_pass *pass, const struct trace *trace, enum ofl_place place,
                      struct ofl_machine *out)
{
    int curves = 0;
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            static struct ofl_sample samples[MAX_SAMPLES];
            size_t count = 0;
            for (size_t i = 0; i < pass->points && count < MAX_SAMPLES; i++) {
                const struct ofl_calibration_point *point = &pass->point[i];
                if (point->operation == (enum ofl_operation)operation && point->precision == (enum ofl_precision)p) {
                    count += find_sample(trace, point, place, &samples[count]);
                }
            }
            curves += ofl_fit_curve(samples, count, &out->curve[place][operation][p]);
        }
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

/* One direction's line, over all calls on the device that moved something. */
static bool fit_copies(const struct ofl_calibration_pass *pass, const struct trace *trace, enum ofl_direction direction,
                       struct ofl_line *out)
{
    struct ofl_copy_sample *samples = malloc((trace->count + 1) * sizeof *samples);
    size_t count = 0;
    for (size_t i = 0; samples != NULL && i < trace->count; i++) {
        const struct ofl_trace_record *record = &trace->record[i];
        if (record->kind == OFL_TRACE_CALL && record->reason == OFL_OK && is_measured(pass, record->start)) {
            bool in = direction == OFL_COPY_IN;
            samples[count++] = (struct ofl_copy_sample){(double)(in ? record->bytes_in : record->bytes_out),
                                                        in ? record->copy_in : record->copy_out};
        }
    }
    bool fitted = samples != NULL && ofl_fit_line(samples, count, out);
    free(samples);
    return fitted;
}

/* Starting: the device's own start, and what the first call of each library took more than the fastest of the
 * same routine and size. */
static bool find_start(const struct trace *trace, struct ofl_machine *out)
{
    bool started = false, seen[OFL_LIBRARY_COUNT] = {false};
    for (size_t i = 0; i < trace->count; i++) {
        const struct ofl_trace_record *first = &trace->record[i];
        struct ofl_trace_text text;
        if (ofl_trace_text_of(first, &text) && text.kind == OFL_TRACE_DEVICE) {
            out->start = 1e-9 * (double)text.duration;
            started = true;
        }
        if (first->kind != OFL_TRACE_CALL || first->reason != OFL_OK || first->operation >= OFL_OPERATION_COUNT) {
            continue;
        }
        enum ofl_library library = ofl_library_of((enum ofl_operation)first->operation);
        if (seen[library]) {
            continue;
        }
        seen[library] = true;
        uint64_t fastest = first->duration;
        for (size_t j = i; j < trace->count; j++) {
            const struct ofl_trace_record *other = &trace->record[j];
            if (other->kind == OFL_TRACE_CALL && other->reason == OFL_OK && other->operation == first->operation &&
                other->precision == first->precision && other->flops == first->flops && other->duration < fastest) {
                fastest = other->duration;
            }
        }
        out->library[library] = 1e-9 * (double)(first->duration - fastest);
    }
    return started;
}

bool ofl_calibration_fit(const struct ofl_calibration_pass *cpu, const struct ofl_calibration_pass *device,
                         struct ofl_machine *out, char *explanation, size_t size)
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
    if (fitted && (fit_curves(device, &on_device, OFL_ON_DEVICE, out) == 0 ||
                   !fit_copies(device, &on_device, OFL_COPY_IN, &out->copy[OFL_COPY_IN][OFL_PAGEABLE]) ||
                   !fit_copies(device, &on_device, OFL_COPY_OUT, &out->copy[OFL_COPY_OUT][OFL_PAGEABLE]))) {
        snprintf(explanation, size, "the device ran too few calls");
        fitted = false;
    }
    free(on_cpu.record);
    free(on_device.record);
    return fitted;
}
