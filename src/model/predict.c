/* R1's prediction, extended by shape, residency, overlap and waiting. */
#include "model/predict.h"

#include <math.h>

double ofl_pipeline_seconds(double in, double compute, double out, int pieces)
{
    double longest = in > compute ? in : compute;
    longest = out > longest ? out : longest;
    double rest = in + compute + out - longest;
    if (!isfinite(longest)) {
        return INFINITY;
    }
    return longest + rest / (pieces > 1 ? pieces : 1);
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

void ofl_predict(const struct ofl_work *work, const struct ofl_machine *machine, const struct ofl_learning *learning,
                 double wait, struct ofl_prediction *out)
{
    *out = (struct ofl_prediction){.device = INFINITY, .device_claim = INFINITY, .wait = sane(wait, 0)};
    if ((unsigned)work->operation >= OFL_OPERATION_COUNT || (unsigned)work->precision >= OFL_PRECISION_COUNT) {
        return;
    }
    double cpu = ofl_curve_seconds(&machine->curve[OFL_ON_CPU][work->operation][work->precision], work);
    out->cpu_claim = isfinite(cpu) ? sane(cpu, 0) : 0;
    out->cpu = out->cpu_claim * correction(learning, work, OFL_ON_CPU);

    enum ofl_host_memory memory = work->pinned ? OFL_PINNED : OFL_PAGEABLE;
    const struct ofl_line *in = &machine->copy[OFL_COPY_IN][memory];
    double bytes_in = bounded(work->bytes_in, INFINITY);
    bytes_in -= bounded(work->bytes_resident, bytes_in);
    out->copy_in = ofl_line_seconds(in, bytes_in);
    out->compute =
        sane(ofl_curve_seconds(&machine->curve[OFL_ON_DEVICE][work->operation][work->precision], work), INFINITY);
    out->copy_out = ofl_line_seconds(&machine->copy[OFL_COPY_OUT][memory], bounded(work->bytes_out, INFINITY));
    out->device_claim = ofl_pipeline_seconds(out->copy_in, out->compute, out->copy_out, work->pieces);

    double device_factor = correction(learning, work, OFL_ON_DEVICE);
    out->device = out->wait + out->device_claim * device_factor;
    out->saving = out->cpu > out->device ? out->cpu - out->device : 0;

    double repeated = bounded(work->bytes_repeated, bytes_in);
    if (repeated > 0) {
        double copy_in = ofl_line_seconds(in, bytes_in - repeated);
        double device =
            out->wait + ofl_pipeline_seconds(copy_in, out->compute, out->copy_out, work->pieces) * device_factor;
        out->residency_saving = out->cpu > device ? out->cpu - device : 0;
    }
}
