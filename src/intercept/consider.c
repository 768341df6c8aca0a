/* The dispatcher: what becomes of a call of the program that is large enough to matter.
 *
 * Entry points: ofl_consider before the call would go to the CPU library, ofl_considered_returned after it
 * came back from there.  The decision itself is src/model's; here its inputs are gathered (settings,
 * machine, the device's situation), the device is run, and what came of it is learned and counted. */
#include "intercept/machine.h"
#include "intercept/wrapper.h"
#include "base/message.h"
#include "base/settings.h"
#include "device/device.h"

#include <time.h>

_Thread_local struct ofl_thread ofl_thread;
_Atomic double ofl_flops_floor;

static struct ofl_learning learning;
static _Atomic double device_last_used; /* seconds */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* Below the floor nothing is considered: everything in force mode, nothing when only observing. */
static void set_floor(const struct ofl_settings *settings)
{
    atomic_store_explicit(&ofl_flops_floor, settings->force ? 0 : OFL_FLOOR_FLOPS, memory_order_relaxed);
}

/* Outputs that overlap another operand: the standard leaves the result open, and CPU libraries each give
 * their own, which the program may have come to rely on. */
static bool output_overlaps(const struct ofl_call *call)
{
    for (int i = 0; i < call->operands; i++) {
        for (int j = 0; call->operand[i].access != OFL_READ && j < call->operands; j++) {
            if (j != i && ofl_buffers_overlap(&call->operand[i], &call->operand[j])) {
                return true;
            }
        }
    }
    return false;
}

static void describe_situation(struct ofl_situation *situation, enum ofl_reason state)
{
    struct ofl_device_load load;
    *situation = (struct ofl_situation){.state = state, .utilisation = -1};
    if (state != OFL_OK) {
        return;
    }
    for (int i = 0; i < OFL_LIBRARY_COUNT; i++) {
        situation->library_loaded[i] = true;
    }
    situation->idle = now() - atomic_load_explicit(&device_last_used, memory_order_relaxed);
    if (ofl_device_load(&load) == OFL_OK) {
        situation->memory_total = (double) load.memory_total;
        situation->memory_free = (double) load.memory_free;
        situation->utilisation = situation->idle >= OFL_LOAD_IDLE_SECONDS ? load.utilisation : -1;
    }
}

static enum ofl_reason decide(struct ofl_entry *entry, const struct ofl_call *call,
                              const struct ofl_settings *settings)
{
    enum ofl_reason state = ofl_device_state();
    if (state != OFL_OK && state != OFL_NOT_STARTED) {
        return state;
    }
    if (output_overlaps(call)) {
        return OFL_OVERLAP;
    }
    ofl_work_from_call(call, &entry->work);
    if (!settings->force) {
        struct ofl_situation situation;
        describe_situation(&situation, state);
        entry->decided = true;
        enum ofl_reason reason = ofl_decide(&entry->work, ofl_machine(), &learning, &situation,
                                            (int) settings->level, &entry->prediction);
        if (reason != OFL_OK) {
            return reason;
        }
    }
    return state == OFL_NOT_STARTED ? ofl_start_device() : OFL_OK;
}

/* Runs on the device; the wrappers that a CUDA library or the host device reaches pass through. */
static enum ofl_reason run(struct ofl_entry *entry, const struct ofl_call *call)
{
    struct ofl_device_times times;
    enum ofl_reason reason = ofl_device_supports(call);
    if (reason != OFL_OK) {
        return reason;
    }
    double started = now();
    reason = ofl_device_run(call, &times);
    double finished = now();
    atomic_store_explicit(&device_last_used, finished, memory_order_relaxed);
    if (entry->decided && reason == OFL_OK) {
        ofl_learn(&learning, &entry->work, &entry->prediction, OFL_OK, finished - started - times.wait);
    }
    return reason;
}

bool ofl_consider(struct ofl_entry *entry, struct ofl_call *call, enum ofl_reason reason)
{
    const struct ofl_settings *settings = ofl_settings();
    set_floor(settings);
    entry->considered = true;
    entry->decided = false;
    if (entry->target->integer_bytes == 0) {
        reason = OFL_INTEGER_WIDTH;
    }
    if (reason == OFL_OK) {
        ofl_thread.backend = true;
        reason = decide(entry, call, settings);
        if (reason == OFL_OK) {
            reason = run(entry, call);
        }
        ofl_thread.backend = false;
    }
    entry->reason = reason;
    if (reason == OFL_OK) {
        ofl_thread.outermost = NULL;
        ofl_count(ofl_thread.counters, entry->symbol, OFL_COUNT_DEVICE);
        return true;
    }
    entry->started = entry->decided ? now() : 0;
    return false;
}

void ofl_considered_returned(struct ofl_entry *entry)
{
    if (entry->decided) {
        ofl_learn(&learning, &entry->work, &entry->prediction, entry->reason, now() - entry->started);
    }
    ofl_count(ofl_thread.counters, entry->symbol, OFL_COUNT_CPU);
    ofl_increment(&ofl_thread.counters->reasons[entry->reason]);
}
