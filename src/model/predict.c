/* R1's prediction, extended by shape, residency, overlap and waiting. */
#include "model/predict.h"

#include <math.h>
#include <string.h>

double ofl_pipeline_seconds(double in, double first, double compute, double out, int pieces)
{
    double share = 1.0 / (pieces > 1 ? pieces : 1);
    double before = in * (first > share ? (first < 1 ? first : 1) : share);
    if (!isfinite(in) || !isfinite(compute) || !isfinite(out)) {
        return INFINITY;
    }
    double longest = in + share * (compute + out);
    longest = fmax(longest, before + compute + share * out);
    return fmax(longest, before + share * compute + out);
}

/* A time that may be compared: NaN and negative times count as `instead`. */
static double sane(double seconds, double instead)
{
    return seconds >= 0 ? seconds : instead;
}

static double bounded(double bytes, double limit)
{
    return bytes > 0 ? (bytes < limit ? bytes : limit) : 0;
}

/* The correction that counts now: the smoothed factor, or just after a probe what the probe saw. */
static double correction(const struct ofl_learning *learning, const struct ofl_work *work, enum ofl_place place)
{
    const struct ofl_learned *learned = &learning->learned[work->operation][work->precision];
    unsigned settling = atomic_load_explicit(&learned->settling, memory_order_relaxed);
    if (settling >= 2 && (settling & 1) == (unsigned)place) {
        double latest = atomic_load_explicit(&learned->latest[place], memory_order_relaxed);
        if (latest > 0) {
            return latest;
        }
    }
    return ofl_learning_factor(learning, work, place);
}

/* The time on the device when so much has to be copied there; out->compute is set, the copies are. */
static double device_seconds(const struct ofl_work *work, const struct ofl_machine *machine, double bytes_in,
                             struct ofl_prediction *out)
{
    double bytes_out = bounded(work->bytes_out, INFINITY), staged = bounded(work->bytes_staged, bytes_out);
    out->copy_in = ofl_copy_seconds(machine, OFL_COPY_IN, work->pinned, bytes_in);
    out->copy_out = ofl_copy_seconds(machine, OFL_COPY_OUT, work->pinned, bytes_out - staged) +
                    ofl_copy_seconds(machine, OFL_COPY_OUT, true, staged);
    double commit = ofl_line_seconds(&machine->copy[OFL_COPY_OUT][OFL_COMMIT], staged);
    out->commit = isfinite(commit) ? commit : 0; /* not measured: it is in the other copies' time */
    double first = bytes_in > 0 ? bounded(work->bytes_first, bytes_in) / bytes_in : 0;
    double overlapped = ofl_pipeline_seconds(out->copy_in, first, out->compute, out->copy_out, work->pieces);
    double sum = out->copy_in + out->compute + out->copy_out;
    double lost = isfinite(sum) && sum > overlapped ? bounded(machine->serial, 1) * (sum - overlapped) : 0;
    return overlapped + lost + out->commit;
}

double ofl_device_seconds(const struct ofl_work *work, const struct ofl_machine *machine, double compute)
{
    struct ofl_prediction unwanted = {.compute = compute};
    double bytes_in = bounded(work->bytes_in, INFINITY);
    return device_seconds(work, machine, bytes_in - bounded(work->bytes_resident, bytes_in), &unwanted);
}

/* By the curves of what the operation is made of where all of them are known, since a curve of its own would have to
 * guess how much of the work is which; what that was off by in calls that were measured is kept with its own. */
double ofl_compute_seconds(const struct ofl_work *work, const struct ofl_machine *machine, enum ofl_place place)
{
    const struct ofl_curve *own = &machine->curve[place][work->operation][work->precision];
    double sum = 0;
    for (int i = 0; i < work->parts; i++) {
        const struct ofl_work_part *of = &work->part[i];
        struct ofl_work part = {.flops = of->flops, .side = of->side, .uplo = of->uplo, .transa = of->trans};
        memcpy(part.extent, of->extent, sizeof part.extent);
        sum += ofl_curve_seconds(&machine->curve[place][of->operation][work->precision], &part);
    }
    if (work->parts > 0 && isfinite(sum)) {
        return sum * ofl_curve_near(own, work->extent);
    }
    return ofl_curve_seconds(own, work);
}

void ofl_predict(const struct ofl_work *work, const struct ofl_machine *machine, const struct ofl_learning *learning,
                 double wait, struct ofl_prediction *out)
{
    *out = (struct ofl_prediction){.device = INFINITY, .device_claim = INFINITY, .wait = sane(wait, 0)};
    if ((unsigned)work->operation >= OFL_OPERATION_COUNT || (unsigned)work->precision >= OFL_PRECISION_COUNT) {
        return;
    }
    double cpu = ofl_compute_seconds(work, machine, OFL_ON_CPU);
    out->cpu_claim = isfinite(cpu) ? sane(cpu, 0) : 0;
    out->cpu = out->cpu_claim * correction(learning, work, OFL_ON_CPU);

    double bytes_in = bounded(work->bytes_in, INFINITY);
    bytes_in -= bounded(work->bytes_resident, bytes_in);
    out->compute = sane(ofl_compute_seconds(work, machine, OFL_ON_DEVICE), INFINITY);
    out->device_claim = device_seconds(work, machine, bytes_in, out);

    double device_factor = correction(learning, work, OFL_ON_DEVICE);
    out->device = out->wait + out->device_claim * device_factor;
    out->saving = out->cpu > out->device ? out->cpu - out->device : 0;

    double repeated = bounded(work->bytes_repeated, bytes_in);
    if (repeated > 0) {
        struct ofl_prediction resident = {.compute = out->compute};
        double device = out->wait + device_seconds(work, machine, bytes_in - repeated, &resident) * device_factor;
        out->residency_saving = out->cpu > device ? out->cpu - device : 0;
    }
}
