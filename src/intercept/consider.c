/* The dispatcher: what becomes of a call of the program that is large enough to matter.
 *
 * Entry points: ofl_consider before the call would go to the CPU library, ofl_considered_returned after it
 * came back from there.  The decision itself is src/model's; here its inputs are gathered (settings,
 * machine, the device's situation), the device is run, and what came of it is learned and counted. */
#include "intercept/aside.h"
#include "intercept/loading.h"
#include "intercept/machine.h"
#include "base/clock.h"
#include "intercept/tracing.h"
#include "intercept/wrapper.h"
#include "base/message.h"
#include "base/settings.h"
#include "device/device.h"
#include "device/stack.h"
#include "trace/writer.h"

_Thread_local struct ofl_thread ofl_thread;
_Atomic double ofl_flops_floor;

static struct ofl_learning learning;
static _Atomic double device_last_used; /* seconds */
static _Atomic double device_queue;     /* predicted seconds of the calls that run or wait there */

/* Below the floor nothing is considered; in force mode and while tracing everything is. */
void ofl_set_floor(void)
{
    atomic_store_explicit(&ofl_flops_floor, ofl_settings()->force || ofl_trace_active() ? 0 : OFL_FLOOR_FLOPS,
                          memory_order_relaxed);
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

/* Asking the driver costs more than a small call saves, so the answer is kept for a while; a call for
 * which the memory is gone by then fails and runs on the CPU. */
static void describe_load(struct ofl_situation *situation)
{
    enum { KEPT_MILLISECONDS = 50 };
    static _Atomic double asked, total, available, utilisation;
    double time = ofl_clock();
    if (time - atomic_load(&asked) > 1e-3 * KEPT_MILLISECONDS) {
        struct ofl_device_load load;
        bool known = ofl_device_load(&load) == OFL_OK;
        atomic_store(&total, known ? (double)load.memory_total : 0);
        atomic_store(&available, known ? (double)load.memory_free : 0);
        atomic_store(&utilisation, known ? load.utilisation : -1);
        atomic_store(&asked, time);
    }
    situation->memory_total = atomic_load(&total);
    situation->memory_free = atomic_load(&available);
    situation->idle = time - atomic_load_explicit(&device_last_used, memory_order_relaxed);
    /* The figure includes our own work: it says something about others only when we were idle. */
    situation->utilisation = situation->idle >= OFL_LOAD_IDLE_SECONDS ? atomic_load(&utilisation) : -1;
}

/* A library is loaded by the first operation that needs it, which may take as long as starting the device. */
static _Atomic bool library_loaded[OFL_LIBRARY_COUNT];

static void describe_situation(struct ofl_situation *situation, enum ofl_reason state)
{
    *situation = (struct ofl_situation){.state = state, .utilisation = -1, .wait = atomic_load(&device_queue)};
    if (state == OFL_OK) {
        for (int i = 0; i < OFL_LIBRARY_COUNT; i++) {
            situation->library_loaded[i] = atomic_load_explicit(&library_loaded[i], memory_order_relaxed);
        }
        describe_load(situation);
    }
}

/* What is on the device already, and what would be worth having there. */
static void describe_residency(struct ofl_visit *visit)
{
    struct ofl_device_residency residency;
    ofl_device_residency(&visit->call, &residency);
    visit->work.bytes_resident = residency.resident;
    visit->work.bytes_repeated = residency.repeated;
    visit->work.credit = residency.credit;
}

/* What the device would make of the call: tiles whose copies overlap with computing, and staged results. */
static void describe_transfers(struct ofl_visit *visit)
{
    const struct ofl_call *call = &visit->call;
    const struct ofl_device_outlook *outlook = &visit->outlook;
    if (!visit->looked) {
        ofl_device_outlook(call, &visit->outlook);
    }
    ofl_work_cut(&visit->work, outlook->pieces,
                 outlook->shared >= 0 ? ofl_buffer_bytes(&call->operand[outlook->shared]) : 0);
    for (int i = 0; i < call->operands; i++) {
        visit->work.bytes_staged += outlook->staged[i] ? ofl_buffer_bytes(&call->operand[i]) : 0;
    }
    if (outlook->most_bytes > 0 && visit->work.device_bytes > (double)outlook->most_bytes) {
        visit->work.device_bytes = (double)outlook->most_bytes;
    }
}

/* Calls of so few operations have operands that are not worth keeping on a device: deciding takes no lock. */
static const double flops_without_locks = 3e7;
static atomic_bool prepared; /* what the first decisions read and open is there */

/* For what follows takes locks, or calls the device's libraries, whose own calls pass through. */
static void set_aside(struct ofl_aside *aside)
{
    ofl_aside_close(aside);
    ofl_thread.backend = true;
}

static enum ofl_reason decide(struct ofl_visit *visit, const struct ofl_settings *settings, struct ofl_aside *aside)
{
    enum ofl_reason state = ofl_device_state();
    if (state != OFL_OK && state != OFL_NOT_STARTED) {
        return state;
    }
    if (output_overlaps(&visit->call)) {
        return OFL_OVERLAP;
    }
    if (strcmp(settings->device, "none") == 0) {
        return ofl_trace_active() ? OFL_MEASURING : OFL_DISABLED;
    }
    if (!aside->ordinary) {
        return OFL_ARITHMETIC;
    }
    if (!settings->force) {
        struct ofl_situation situation;
        ofl_work_from_call(&visit->call, &visit->work);
        if (visit->work.flops < OFL_FLOOR_FLOPS) {
            return OFL_BELOW_FLOOR; /* it came before the floor was set */
        }
        if (visit->work.flops >= flops_without_locks) {
            set_aside(aside);
        }
        describe_residency(visit);
        describe_transfers(visit);
        /* Where there is no device, that is the reason, and not what a prediction for an unknown one says. */
        describe_situation(&situation, ofl_device_look());
        visit->decided = true;
        enum ofl_reason reason =
            ofl_decide(&visit->work, ofl_machine(), &learning, &situation, (int)settings->level, &visit->prediction);
        if (reason != OFL_OK) {
            return reason;
        }
    }
    /* The other thread may be waiting for this one, in a constructor. */
    bool loaded = state == OFL_OK && library_loaded[ofl_library_of(visit->call.operation)];
    if (!loaded && ofl_loading_elsewhere()) {
        return OFL_LOADING;
    }
    set_aside(aside);
    return state == OFL_NOT_STARTED ? ofl_start_device() : OFL_OK;
}

/* The memory that a call takes is known for sure only when the device and its library are there: the workspace of a
 * factorisation may be as large as its matrix.  Where the decision counted on less, it is made again. */
static enum ofl_reason decide_with_workspace(struct ofl_visit *visit, uint64_t device_bytes)
{
    enum { SMALL = 1 << 20 };
    struct ofl_situation situation;
    if (!visit->decided || (double)device_bytes <= visit->work.device_bytes + SMALL) {
        return OFL_OK;
    }
    visit->work.device_bytes = (double)device_bytes;
    describe_situation(&situation, OFL_OK);
    struct ofl_prediction again;
    enum ofl_reason reason =
        ofl_decide(&visit->work, ofl_machine(), &learning, &situation, (int)ofl_settings()->level, &again);
    return reason == OFL_MEMORY_RESERVE ? reason : OFL_OK;
}

static void queue(double seconds)
{
    double before = atomic_load(&device_queue);
    while (!atomic_compare_exchange_weak(&device_queue, &before, before + seconds)) {
    }
}

static enum ofl_reason run(struct ofl_visit *visit)
{
    struct ofl_device_times times;
    uint64_t device_bytes;
    enum ofl_library library = ofl_library_of(visit->call.operation);
    visit->info = 0;
    visit->call.info = &visit->info;
    double started = ofl_clock();
    enum ofl_reason reason = ofl_device_needs(&visit->call, &device_bytes);
    if (reason == OFL_OK) {
        visit->loading = !atomic_exchange(&library_loaded[library], true);
        reason = decide_with_workspace(visit, device_bytes);
    }
    if (reason != OFL_OK) {
        return reason;
    }
    /* Loading a library is part of the call that loads it; asking for the workspace is part of every call. */
    double expected = visit->decided ? visit->prediction.device - visit->prediction.wait : 0;
    queue(expected);
    reason = ofl_device_run(&visit->call, &times);
    queue(-expected);
    double finished = ofl_clock();
    atomic_store_explicit(&device_last_used, finished, memory_order_relaxed);
    if (reason == OFL_OK) {
        visit->reason = OFL_OK;
        ofl_tracing_end(visit, started, finished, &times);
        if (visit->decided) {
            /* A call that failed ended early: it says nothing about the routine. */
            ofl_learn(&learning, &visit->work, &visit->prediction, OFL_OK,
                      visit->info == 0 ? finished - started - times.wait : 0);
        }
    } else {
        visit->spent = finished - started - times.wait;
    }
    return reason;
}

struct consideration {
    const struct ofl_symbol *symbol;
    const struct ofl_target *target;
    const void *caller;
    enum ofl_reason reason;
    struct ofl_aside *aside;
};

static void consider(void *argument)
{
    struct consideration *it = argument;
    struct ofl_thread *thread = &ofl_thread;
    struct ofl_visit *visit = &thread->visit;
    if (it->target->integer_bytes == 0) {
        it->reason = OFL_INTEGER_WIDTH;
    }
    if (!atomic_load_explicit(&prepared, memory_order_relaxed) || ofl_trace_active() || ofl_device_state() == OFL_OK) {
        set_aside(it->aside);
    }
    ofl_tracing_begin(visit, it->caller, it->reason);
    if (it->reason == OFL_OK) {
        it->reason = decide(visit, ofl_settings(), it->aside);
        atomic_store_explicit(&prepared, true, memory_order_relaxed);
        if (it->reason == OFL_OK) {
            ofl_aside_at_length(it->aside);
            it->reason = run(visit);
        }
    }
    thread->backend = false;
    if (it->reason != OFL_OK) {
        visit->started = visit->decided || visit->traced ? ofl_clock() : 0;
    }
}

bool ofl_consider(const struct ofl_symbol *symbol, const struct ofl_target *target, const void *caller,
                  enum ofl_reason reason)
{
    struct ofl_thread *thread = &ofl_thread;
    struct ofl_visit *visit = &thread->visit;
    struct ofl_aside aside;
    struct consideration it = {symbol, target, caller, reason, &aside};
    ofl_set_floor();
    ofl_aside_begin(&aside);
    thread->considered = true;
    visit->decided = visit->traced = false;
    visit->loading = visit->looked = false;
    visit->spent = 0;
    visit->info = 0;
    if (!ofl_with_large_stack(consider, &it)) {
        it.reason = OFL_HOST_MEMORY;
    }
    visit->reason = it.reason;
    if (it.reason == OFL_OK) {
        thread->outermost = NULL;
        ofl_count(thread->counters, symbol, OFL_COUNT_DEVICE);
    }
    ofl_aside_end(&aside);
    return it.reason == OFL_OK;
}

/* What the CPU library's time teaches, and what the trace says of it. */
static void note_return(void *argument)
{
    struct ofl_visit *visit = argument;
    double finished = ofl_clock();
    ofl_tracing_end(visit, visit->started, finished, NULL);
    if (visit->decided) {
        double seconds = visit->info == 0 ? finished - visit->started : 0;
        /* For the program a device that fails takes its own time and the CPU's: a routine that it fails in again
         * and again is soon not sent there. */
        if (visit->spent > 0 && seconds > 0) {
            ofl_learn(&learning, &visit->work, &visit->prediction, OFL_OK, visit->spent + seconds);
        }
        ofl_learn(&learning, &visit->work, &visit->prediction, visit->reason, seconds);
        if (visit->reason == OFL_SLOWER || visit->reason == OFL_PROBE || visit->reason == OFL_NOT_STARTED) {
            ofl_device_residency_missed(&visit->call, visit->prediction.residency_saving);
        }
    }
}

void ofl_considered_returned(const struct ofl_symbol *symbol)
{
    struct ofl_thread *thread = &ofl_thread;
    struct ofl_visit *visit = &thread->visit;
    if (visit->decided || visit->traced) {
        struct ofl_aside aside;
        ofl_aside_begin(&aside);
        if (visit->traced || (visit->decided && visit->work.flops >= flops_without_locks)) {
            ofl_aside_close(&aside);
        }
        ofl_with_large_stack(note_return, visit);
        ofl_aside_end(&aside);
    }
    if (visit->reason == OFL_BELOW_FLOOR) {
        ofl_count(thread->counters, symbol, OFL_COUNT_SMALL);
        return;
    }
    ofl_count(thread->counters, symbol, OFL_COUNT_CPU);
    ofl_increment(&thread->counters->reasons[visit->reason]);
}
