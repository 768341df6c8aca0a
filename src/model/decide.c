/* The decision of R1 section 3, with the bounded probes of DESIGN section 4. */
#include "model/decide.h"

#include <math.h>

static double get(const _Atomic double *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static unsigned calls(const atomic_uint *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static double positive(double seconds)
{
    return seconds > 0 ? seconds : 0;
}

static const struct ofl_learned *about(const struct ofl_work *work, const struct ofl_learning *learning)
{
    return &learning->learned[work->operation][work->precision];
}

double ofl_start_seconds(const struct ofl_work *work, const struct ofl_machine *machine,
                         const struct ofl_learning *learning, const struct ofl_situation *situation)
{
    enum ofl_library library = ofl_library_of(work->operation);
    double cost = situation->state == OFL_NOT_STARTED ? positive(machine->start) : 0;
    if (!situation->library_loaded[library]) {
        cost += positive(machine->library[library]);
        /* The solver brings BLAS with it. */
        if (library == OFL_LIBRARY_SOLVER && !situation->library_loaded[OFL_LIBRARY_BLAS]) {
            cost += positive(machine->library[OFL_LIBRARY_BLAS]);
        }
    } else if (calls(&about(work, learning)->device_calls) == 0) {
        cost += positive(machine->routine[library]); /* else it is in the library's */
    }
    return cost;
}

/* Ski rental: start once the savings that waiting has cost, this call's included, reach the cost
 * of starting times the level's factor.  What counts is what has not been started: the device, a library of it, or
 * only the routine. */
static bool start_pays(const struct ofl_work *work, const struct ofl_machine *machine,
                       const struct ofl_learning *learning, const struct ofl_situation *situation,
                       const struct ofl_level *level, double saving)
{
    enum ofl_library library = ofl_library_of(work->operation);
    double cost = ofl_start_seconds(work, machine, learning, situation);
    double missed = situation->state == OFL_NOT_STARTED   ? get(&learning->missed)
                    : !situation->library_loaded[library] ? get(&learning->missed_library[library])
                                                          : get(&about(work, learning)->missed);
    return missed + saving >= cost * level->start_factor;
}

static bool memory_suffices(const struct ofl_work *work, const struct ofl_situation *situation,
                            const struct ofl_level *level)
{
    if (!(situation->memory_total > 0)) {
        return true;
    }
    double usable = situation->memory_free;
    if (situation->memory_reusable > 0) {
        usable += situation->memory_reusable;
    }
    double need = work->device_bytes > 0 ? work->device_bytes : 0;
    if (work->bytes_resident > 0) {
        need -= work->bytes_resident < need ? work->bytes_resident : need;
    }
    return usable - need >= level->reserve * situation->memory_total;
}

static bool others_use_device(const struct ofl_situation *situation, const struct ofl_level *level)
{
    return situation->idle >= OFL_LOAD_IDLE_SECONDS && situation->utilisation > level->utilisation;
}

/* A probe is due when the place has not been observed for long and what the probe is expected to lose
 * is a small share of what the other place saved or took since. */
static bool probe_due(const struct ofl_learned *learned, enum ofl_place place, double loss, double share)
{
    return calls(&learned->since_calls[place]) >= OFL_PROBE_CALLS &&
           loss <= share * get(&learned->since_seconds[place]);
}

/* An operand that repeats: its first copy never pays by itself, so the savings that its absence cost are
 * added up, and the copy is made once they reach what it loses. */
static bool residency_pays(const struct ofl_work *work, const struct ofl_prediction *prediction)
{
    return prediction->residency_saving > 0 && isfinite(prediction->device) &&
           work->credit + prediction->residency_saving >= prediction->device - prediction->cpu;
}

/* Whether the device is the right place by the predictions alone, or worth a probe. */
static bool worth_it(const struct ofl_work *work, const struct ofl_learned *learned,
                     const struct ofl_situation *situation, const struct ofl_level *level, struct ofl_prediction *out)
{
    if (!(out->cpu > 0) || !isfinite(out->device)) {
        return false;
    }
    if (out->cpu >= level->speedup * out->device) {
        return true;
    }
    if (residency_pays(work, out)) {
        out->saving = out->residency_saving; /* what starting would bring, for this call and those after it */
        return true;
    }
    out->probe = situation->state == OFL_OK && situation->library_loaded[ofl_library_of(work->operation)] &&
                 probe_due(learned, OFL_ON_DEVICE, out->device - out->cpu, OFL_DEVICE_PROBE_SHARE);
    return out->probe;
}

enum ofl_reason ofl_decide(const struct ofl_work *work, const struct ofl_machine *machine,
                           const struct ofl_learning *learning, const struct ofl_situation *situation, int level,
                           struct ofl_prediction *out)
{
    const struct ofl_level *row = ofl_level(level);
    ofl_predict(work, machine, learning, situation->wait, out);
    if (!(work->flops > 0)) {
        return OFL_NOTHING_TO_DO;
    }
    if (work->flops < OFL_FLOOR_FLOPS) {
        return OFL_BELOW_FLOOR;
    }
    if (situation->state != OFL_OK && situation->state != OFL_NOT_STARTED) {
        return situation->state;
    }
    if ((unsigned)work->operation >= OFL_OPERATION_COUNT || (unsigned)work->precision >= OFL_PRECISION_COUNT) {
        return OFL_SLOWER;
    }
    const struct ofl_learned *learned = about(work, learning);
    if (!worth_it(work, learned, situation, row, out)) {
        return OFL_SLOWER;
    }
    enum ofl_reason against = OFL_OK;
    if (!memory_suffices(work, situation, row)) {
        against = OFL_MEMORY_RESERVE;
    } else if (others_use_device(situation, row)) {
        against = OFL_DEVICE_BUSY;
    } else if (!start_pays(work, machine, learning, situation, row, out->saving)) {
        against = OFL_NOT_STARTED;
    } else if (!out->probe && situation->state == OFL_OK &&
               probe_due(learned, OFL_ON_CPU, out->cpu - out->device, OFL_CPU_PROBE_SHARE)) {
        out->probe = true;
        return OFL_PROBE;
    }
    if (against != OFL_OK) {
        out->probe = false;
    }
    return against;
}
