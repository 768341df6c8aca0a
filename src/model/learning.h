/* What a running process has learned: how far the machine's claims are off, and what waiting for the
 * device has cost.
 *
 * All zeros is the state of a process that has seen nothing, so a static object needs no start-up.
 * Written by ofl_learn only, from any thread, without locks: every field is an atomic on its own and
 * order between fields does not matter.  Two threads that learn about one operation at the same moment
 * may lose one of the two observations, or count it for both; no field ever holds anything but a value
 * that one of them wrote, and the next observations repair it. */
#ifndef OFL_MODEL_LEARNING_H
#define OFL_MODEL_LEARNING_H
#include "model/machine.h"
#include <stdatomic.h>

struct ofl_prediction;

/* About one operation in one precision; cache lines of its own, so that threads that use different operations do not
 * disturb each other. */
struct ofl_learned {
    _Alignas(64) _Atomic double factor[OFL_PLACE_COUNT]; /* time seen / time claimed; 0 counts as 1 */
    _Atomic double latest[OFL_PLACE_COUNT];              /* the last such ratio; 0: none yet */
    /* Since the CPU, or the device, was last observed: calls that went to the other place, and the
     * seconds that this saved (device) or took (CPU). */
    _Atomic double since_seconds[OFL_PLACE_COUNT];
    atomic_uint since_calls[OFL_PLACE_COUNT];
    atomic_uint device_calls; /* the first is not learned from: it loads libraries and kernels */
    atomic_uint settling;     /* 2 * decisions that still take a probe's word in full + the probed place */
    _Atomic double missed;    /* savings missed because it, its library or the device was not started: seconds */
};

struct ofl_learning {
    struct ofl_learned learned[OFL_OPERATION_COUNT][OFL_PRECISION_COUNT];
    /* Savings missed because the device was not started, or a library of it not loaded: seconds. */
    _Atomic double missed;
    _Atomic double missed_library[OFL_LIBRARY_COUNT];
};

/* The correction factor that applies now; 1 where nothing was learned. */
double ofl_learning_factor(const struct ofl_learning *learning, const struct ofl_work *work, enum ofl_place place);

/* Takes note of a finished piece of work.  `reason` is why it ran where it ran, as ofl_decide said or
 * as the device's failure made it; `seconds` is how long it took there, without waiting for the
 * device.  A time that is not finite and positive only counts as a call. */
void ofl_learn(struct ofl_learning *learning, const struct ofl_work *work, const struct ofl_prediction *prediction,
               enum ofl_reason reason, double seconds);
#endif
