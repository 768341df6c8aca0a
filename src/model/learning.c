/* Correction factors and the counters behind the start-up and the probes. */
#include "model/learning.h"
#include "model/decide.h"

#include <math.h>

/* One observation never claims more than this, so that a clock that jumped cannot poison a factor. */
static const double largest_ratio = 1e4;

static double get(const _Atomic double *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void set(_Atomic double *value, double to)
{
    atomic_store_explicit(value, to, memory_order_relaxed);
}

static void add(_Atomic double *value, double amount)
{
    double old = get(value);
    while (
        !atomic_compare_exchange_weak_explicit(value, &old, old + amount, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static struct ofl_learned *about(struct ofl_learning *learning, const struct ofl_work *work)
{
    if ((unsigned)work->operation >= OFL_OPERATION_COUNT || (unsigned)work->precision >= OFL_PRECISION_COUNT) {
        return NULL;
    }
    return &learning->learned[work->operation][work->precision];
}

double ofl_learning_factor(const struct ofl_learning *learning, const struct ofl_work *work, enum ofl_place place)
{
    const struct ofl_learned *learned = about((struct ofl_learning *)learning, work);
    double factor = learned != NULL ? get(&learned->factor[place]) : 0;
    return factor > 0 ? factor : 1;
}

/* More than four times off what is known. */
static bool surprising(double factor, double ratio)
{
    return ratio > 4 * factor || ratio < factor / 4;
}

/* Moves the factor halfway, in ratio, to what was seen just now.  A lone surprise is remembered and not learned
 * from: other programs can make one call hundreds of times slower, and the place that this made look bad would not
 * be used again for long.  The next surprise in the same direction confirms it. */
static void correct(struct ofl_learned *learned, enum ofl_place place, double claim, double seconds)
{
    if (!(claim > 0) || !isfinite(claim)) {
        return;
    }
    double ratio = seconds / claim;
    ratio = ratio < largest_ratio ? ratio : largest_ratio;
    ratio = ratio > 1 / largest_ratio ? ratio : 1 / largest_ratio;
    double factor = get(&learned->factor[place]), previous = get(&learned->latest[place]);
    factor = factor > 0 ? factor : 1;
    set(&learned->latest[place], ratio);
    bool confirmed = previous > 0 && surprising(factor, previous) && (previous > factor) == (ratio > factor);
    if (!surprising(factor, ratio) || confirmed) {
        set(&learned->factor[place], sqrt(factor * ratio));
    }
}

/* A call ran at `place`: the other place has not been observed for one call more. */
static void count(struct ofl_learned *learned, enum ofl_place place, double seconds)
{
    enum ofl_place other = place == OFL_ON_CPU ? OFL_ON_DEVICE : OFL_ON_CPU;
    atomic_fetch_add_explicit(&learned->since_calls[other], 1, memory_order_relaxed);
    add(&learned->since_seconds[other], seconds);
}

static void observed(struct ofl_learned *learned, enum ofl_place place)
{
    atomic_store_explicit(&learned->since_calls[place], 0, memory_order_relaxed);
    set(&learned->since_seconds[place], 0);
}

/* A probe starts a short time in which its word counts in full; each later call of the operation shortens it. */
static void settle(struct ofl_learned *learned, enum ofl_place place, bool probe)
{
    if (probe) {
        atomic_store_explicit(&learned->settling, 2 * OFL_PROBE_SETTLING + (unsigned)place, memory_order_relaxed);
        return;
    }
    unsigned now = atomic_load_explicit(&learned->settling, memory_order_relaxed);
    if (now >= 2) {
        atomic_compare_exchange_strong_explicit(&learned->settling, &now, now - 2, memory_order_relaxed,
                                                memory_order_relaxed);
    }
}

void ofl_learn(struct ofl_learning *learning, const struct ofl_work *work, const struct ofl_prediction *prediction,
               enum ofl_reason reason, double seconds)
{
    struct ofl_learned *learned = about(learning, work);
    if (learned == NULL) {
        return;
    }
    enum ofl_place place = reason == OFL_OK ? OFL_ON_DEVICE : OFL_ON_CPU;
    bool timed = isfinite(seconds) && seconds > 0;
    if (reason == OFL_NOT_STARTED && prediction->saving > 0 && isfinite(prediction->saving)) {
        add(&learning->missed, prediction->saving);
        add(&learning->missed_library[ofl_library_of(work->operation)], prediction->saving);
        add(&learned->missed, prediction->saving);
    }
    if (place == OFL_ON_DEVICE) {
        bool first = atomic_fetch_add_explicit(&learned->device_calls, 1, memory_order_relaxed) == 0;
        count(learned, place, timed ? prediction->cpu - seconds : 0);
        if (first || !timed) {
            observed(learned, place); /* nothing learned, but a probe has had its turn */
            return;
        }
    } else if (timed) {
        count(learned, place, seconds);
    } else {
        return;
    }
    observed(learned, place);
    correct(learned, place, place == OFL_ON_CPU ? prediction->cpu_claim : prediction->device_claim, seconds);
    settle(learned, place, prediction->probe && (reason == OFL_OK || reason == OFL_PROBE));
}
