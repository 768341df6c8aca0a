/* From considered calls to trace records; see tracing.h.
 *
 * Call sites are addresses, which mean something only together with what was mapped there: the first
 * call from an address has its module noted. */
#include "intercept/tracing.h"
#include "intercept/lookup.h"
#include "base/message.h"
#include "base/settings.h"
#include "trace/writer.h"

#include <errno.h>

void ofl_tracing_start(void)
{
    const struct ofl_settings *settings = ofl_settings();
    char explanation[1024];
    if (settings->trace[0] != '\0' &&
        !ofl_trace_start(settings->trace, (int)settings->level, explanation, sizeof explanation)) {
        ofl_message("no trace is written: %s", explanation);
    }
}

/* Another thread may note a module at the same time; readers do not mind twice. */
static void note_module(const void *caller)
{
    enum { SEEN = 256 };
    static const void *_Atomic seen[SEEN];
    const void *_Atomic *slot = &seen[((uintptr_t)caller ^ (uintptr_t)caller >> 8) % SEEN];
    struct ofl_object object;
    if (caller == NULL || atomic_load_explicit(slot, memory_order_relaxed) == caller) {
        return;
    }
    atomic_store_explicit(slot, caller, memory_order_relaxed);
    if (ofl_lookup_object(caller, &object)) {
        ofl_trace_module(object.base, object.end, object.path[0] != '\0' ? object.path : program_invocation_name);
    }
}

static bool operands_valid(enum ofl_reason reason)
{
    return reason != OFL_INVALID_ARGUMENT && reason != OFL_NOTHING_TO_DO && reason != OFL_INTEGER_WIDTH;
}

/* How a device would move the operands. */
static void note_transfers(struct ofl_visit *visit)
{
    struct ofl_trace_record *record = &visit->record;
    const struct ofl_device_outlook *outlook = &visit->outlook;
    if (record->buffers > 0 && ofl_operation_offloaded(visit->call.operation)) {
        ofl_device_outlook(&visit->call, &visit->outlook);
        visit->looked = true;
        record->pieces = (uint8_t)outlook->pieces;
        record->shared = (uint8_t)(outlook->shared + 1);
        for (int i = 0; i < record->buffers; i++) {
            record->staged |= (uint8_t)(outlook->staged[i] ? 1 << i : 0);
        }
    }
}

/* Flops; and an output that beta makes only written is recorded as such. */
static void note_work(struct ofl_visit *visit)
{
    struct ofl_trace_record *record = &visit->record;
    struct ofl_work work;
    double read = 0;
    ofl_work_from_call(&visit->call, &work);
    record->flops = work.flops;
    for (int i = 0; i < record->buffers; i++) {
        bool surely = (record->buffer[i].access == OFL_READ && !ofl_trace_repeats(record, i)) ||
                      record->buffer[i].access == OFL_UPDATE;
        read += surely ? (double)record->buffer[i].bytes : 0;
    }
    for (int i = 0; i < record->buffers; i++) {
        if (record->buffer[i].access == OFL_ADD && work.bytes_in <= read) {
            record->buffer[i].access = OFL_WRITE;
        }
    }
}

void ofl_tracing_begin(struct ofl_visit *visit, const void *caller, enum ofl_reason reason)
{
    visit->traced = ofl_trace_active();
    if (!visit->traced) {
        return;
    }
    note_module(caller);
    if (operands_valid(reason)) {
        ofl_trace_describe(&visit->call, &visit->record);
    } else {
        struct ofl_call bare = visit->call;
        bare.operands = 0;
        ofl_trace_describe(&bare, &visit->record);
    }
    note_work(visit);
    note_transfers(visit);
    visit->record.call_site = (uintptr_t)caller;
    visit->record.flags = ofl_settings()->force ? OFL_TRACE_FORCED : 0;
}

void ofl_tracing_end(struct ofl_visit *visit, double started, double finished, const struct ofl_device_times *times)
{
    struct ofl_trace_record *record = &visit->record;
    if (!visit->traced) {
        return;
    }
    record->start = (uint64_t)(started * 1e9);
    record->duration = finished > started ? (uint64_t)((finished - started) * 1e9) : 0;
    record->reason = (uint8_t)visit->reason;
    if (visit->decided) {
        record->predicted_cpu = (float)visit->prediction.cpu;
        record->predicted_device = (float)visit->prediction.device;
        record->flags |= visit->prediction.probe ? OFL_TRACE_PROBE : 0;
    }
    record->info = visit->info;
    record->flags |= visit->info != 0 ? OFL_TRACE_FAILED : 0;
    if (times != NULL) {
        record->flags |= visit->loading ? OFL_TRACE_FIRST : 0;
        record->wait = (float)times->wait;
        record->copy_in = (float)times->copy_in;
        record->compute = (float)times->compute;
        record->copy_out = (float)times->copy_out;
        record->bytes_in = times->bytes_in;
        record->bytes_out = times->bytes_out;
    }
    ofl_trace_write(record);
}
