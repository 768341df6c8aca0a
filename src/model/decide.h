/* The decision: should this piece of work go to the device?
 *
 * A pure function of the work, the machine, what was learned, the device's situation and the level:
 * the dispatcher calls it for a running program, `gpu-offload estimate` for a recorded one.  It looks
 * at nothing but its arguments and changes nothing but *out; ofl_learn afterwards records what came of
 * it.  About 0.2 microseconds; any thread. */
#ifndef OFL_MODEL_DECIDE_H
#define OFL_MODEL_DECIDE_H
#include "model/level.h"
#include "model/predict.h"

/* Work below this many flops is not considered (R1); the caller may check it before it builds anything. */
#define OFL_FLOOR_FLOPS 1e6

/* CPU probes: after this many calls on the device, at this share of what they saved; device probes
 * likewise, at this share of the time that the CPU took. */
enum { OFL_PROBE_CALLS = 16, OFL_PROBE_SETTLING = 4 };
#define OFL_CPU_PROBE_SHARE    0.02
#define OFL_DEVICE_PROBE_SHARE 0.01

/* Others' load is asked for only when this process has left the device alone for so long: seconds. */
#define OFL_LOAD_IDLE_SECONDS 1.0

struct ofl_situation {
    /* OFL_OK: started.  OFL_NOT_STARTED: may be started.  Anything else: the device cannot be used, and this
     * is the decision. */
    enum ofl_reason state;
    bool library_loaded[OFL_LIBRARY_COUNT];
    double wait;                      /* seconds until the device is free for this call */
    double idle;                      /* seconds since this process last used the device */
    double utilisation;               /* 0..1, all processes; negative: not known */
    double memory_total, memory_free; /* bytes; total 0: not known */
    double memory_reusable;           /* bytes that this process holds and would use for the call */
};

/* OFL_OK: offload; for a device that is not started: start it now.  Otherwise the reason to stay on
 * the CPU: NOTHING_TO_DO, BELOW_FLOOR, the situation's state, SLOWER, MEMORY_RESERVE, DEVICE_BUSY,
 * NOT_STARTED, PROBE, looked for in this order. */
enum ofl_reason ofl_decide(const struct ofl_work *work, const struct ofl_machine *machine,
                           const struct ofl_learning *learning, const struct ofl_situation *situation, int level,
                           struct ofl_prediction *out);

/* Seconds that starting what the work needs would cost: the device, its library, the routine itself; 0 where all is
 * started. */
double ofl_start_seconds(const struct ofl_work *work, const struct ofl_machine *machine,
                         const struct ofl_learning *learning, const struct ofl_situation *situation);
#endif
