/* The transfer pipeline: copies in, operations and copies out that overlap.
 *
 * The calling thread is the conductor: it alone speaks with the device, since threads that do so at the same time wait
 * for each other in the driver, and each one's first operation takes a tenth of a millisecond.  The steps' copies are
 * cut into pieces, which go through page-locked slots.  The conductor gives slots to pieces, queues the copy of each
 * that is packed, starts the operations of a step when its last piece is queued, queues the copies of its
 * results behind them, and opens what has arrived.  The pool's helpers pack and put away bit by bit
 * (loads.c), and so does the conductor while it has nothing to queue.
 *
 * After a failure nobody takes anything more; what is under way is the caller's business.
 * Entry point: ofl_pipeline_run. */
#include "device/pipeline.h"
#include "device/loads.h"
#include "device/parts.h"
#include "device/pool.h"
#include "device/rest.h"
#include "device/slots.h"
#include "base/settings.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { pieces_of_run = 16, bits_of_piece = 8, smallest_piece = 256 << 10 };

/* What is packed in so few bytes would be fetched from the processors' caches, which is slow; the first slots of more
 * than that are memory again when the device comes to them, and packing through the caches is faster then. */
enum { still_in_caches = 32 << 20 };

/* The next piece to take of all copies in one direction. */
struct cursor {
    int step, part;
    int64_t piece;
};

/* Results that go out, by numbers that go round the slots: done <= arrived <= queued. */
struct way_out {
    struct cursor next;
    unsigned queued, arrived, done;
    bool exhausted; /* no piece is left to queue */
};

/* What goes in, in any order: the first piece to be packed is the first to be queued, since a thread that takes long
 * over its bit, on a busy machine, should keep waiting nobody but its piece. */
struct way_in {
    struct cursor next;
    bool open[OFL_SLOTS];            /* being packed, or packed */
    int order[OFL_SLOTS];            /* the other slots, in the order in which they become free: a ring */
    unsigned begin, end;             /* of it */
    bool on_its_way[OFL_SLOTS];      /* the slot is free when its copy is done */
    int64_t missing[OFL_MOST_STEPS]; /* pieces of a step that are not queued yet */
    bool exhausted;                  /* no piece is left to give a slot to */
};

struct run {
    struct ofl_pipeline *pipeline;
    const struct ofl_started *started;
    struct ofl_stream *stream_in, *compute, *stream_out;
    size_t piece_bytes;
    struct ofl_loads loads;
    /* The conductor's alone. */
    struct way_in in;
    struct way_out out;
    int launched;      /* steps whose operations are queued */
    int sent;          /* steps whose operations the stream of copies out waits for */
    int awaited, left; /* steps whose operations, whose results the stream of copies in waits for */
};

static void fail(struct run *run, enum ofl_reason reason)
{
    ofl_loads_fail(&run->loads, reason);
}

/* Takes the next piece after *at of the steps below `limit`.  False where there is none. */
static bool take(const struct run *run, struct cursor *at, bool in, int limit, struct ofl_errand *errand)
{
    for (; at->step < limit; at->step++, at->part = 0) {
        const struct ofl_step *step = &run->pipeline->step[at->step];
        for (; at->part < (in ? step->ins : step->outs); at->part++, at->piece = 0) {
            const struct ofl_part *part = in ? &step->in[at->part] : &step->out[at->part];
            struct ofl_cut cut = ofl_part_cut(part, run->piece_bytes);
            while (at->piece < cut.count && (in || !part->locked)) {
                *errand = (struct ofl_errand){part, ofl_part_piece(part, &cut, at->piece++), at->step};
                if (errand->piece.rows > 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* ---- What is queued on the device ---- */

static enum ofl_reason record(const struct run *run, struct ofl_stream *stream, struct ofl_event *event)
{
    return run->started->backend->event_record(run->started->device, stream, event);
}

static enum ofl_reason wait_for(const struct run *run, struct ofl_stream *stream, struct ofl_event *event)
{
    return run->started->backend->stream_wait_event(run->started->device, stream, event);
}

static bool is_passed(struct run *run, const struct ofl_slot *slot)
{
    bool passed = false;
    fail(run, run->started->backend->event_done(run->started->device, slot->event, &passed));
    return passed;
}

/* One copy between the device and `host`, whose columns are `pitch` bytes apart. */
static enum ofl_reason copy(const struct run *run, const struct ofl_errand *errand, bool in, char *host, size_t pitch)
{
    const struct ofl_started *started = run->started;
    const struct ofl_part *part = errand->part;
    const struct ofl_piece *piece = &errand->piece;
    size_t size = part->host.element_size, width = (size_t)piece->rows * size;
    size_t device_pitch = (size_t)part->device_ld * size, columns = (size_t)piece->columns;
    char *device = (char *)part->device + (size_t)piece->column * device_pitch + (size_t)piece->row * size;
    if (in) {
        return started->backend->copy_in(started->device, run->stream_in, device, device_pitch, host, pitch, width,
                                         columns);
    }
    return started->backend->copy_out(started->device, run->stream_out, host, pitch, device, device_pitch, width,
                                      columns);
}

/* The same without a slot, straight from or to its place. */
static enum ofl_reason copy_directly(const struct run *run, const struct ofl_errand *errand, bool in)
{
    const struct ofl_buffer *host = &errand->part->host;
    const struct ofl_piece *piece = &errand->piece;
    enum ofl_reason reason = OFL_OK;
    if (host->region == OFL_GENERAL) {
        return copy(run, errand, in, ofl_element(host, piece->row, piece->column),
                    (size_t)host->ld * host->element_size);
    }
    for (int64_t j = piece->column; j < piece->column + piece->columns && reason == OFL_OK; j++) {
        int64_t first, end;
        ofl_stored_rows(host, piece, j, &first, &end);
        if (first < end) {
            struct ofl_errand column = {errand->part, {first, j, end - first, 1}, errand->step};
            reason = copy(run, &column, in, ofl_element(host, first, j), (size_t)(end - first) * host->element_size);
        }
    }
    return reason;
}

/* The copy through the slot.  Its event is recorded where somebody will ask for it. */
static enum ofl_reason copy_through(const struct run *run, const struct ofl_load *load, bool in, bool recorded)
{
    const struct ofl_errand *errand = &load->errand;
    enum ofl_reason reason =
        copy(run, errand, in, load->slot->address, (size_t)errand->piece.rows * errand->part->host.element_size);
    return reason == OFL_OK && recorded ? record(run, in ? run->stream_in : run->stream_out, load->slot->event)
                                        : reason;
}

/* Lets the copies in wait for the operations of so many steps, all of which are queued. */
static enum ofl_reason await_room(struct run *run, int steps)
{
    enum ofl_reason reason = OFL_OK;
    if (steps > run->awaited && run->stream_in != run->compute) {
        reason = wait_for(run, run->stream_in, run->started->computed[steps - 1]);
        run->awaited = steps;
    }
    return reason;
}

/* The same for their results, all of which are queued. */
static enum ofl_reason await_results(struct run *run, int steps)
{
    enum ofl_reason reason = OFL_OK;
    if (steps > run->left && run->stream_in != run->stream_out) {
        reason = record(run, run->stream_out, run->started->left);
        if (reason == OFL_OK) {
            reason = wait_for(run, run->stream_in, run->started->left);
        }
        run->left = steps;
    }
    return reason;
}

/* Lets the copies out wait for the operations of a step. */
static enum ofl_reason await_operations(struct run *run, int index)
{
    enum ofl_reason reason = OFL_OK;
    if (run->sent <= index && run->stream_out != run->compute) {
        reason = wait_for(run, run->stream_out, run->started->computed[index]);
        run->sent = index + 1;
    }
    return reason;
}

/* Lets the operations wait for everything that is queued on the stream of copies in. */
static enum ofl_reason await_inputs(const struct run *run, bool last)
{
    enum ofl_reason reason = OFL_OK;
    if (last && run->pipeline->timed) {
        reason = record(run, run->stream_in, run->started->mark[OFL_MARK_COPIED_IN]);
    }
    if (reason == OFL_OK && run->stream_in != run->compute) {
        reason = record(run, run->stream_in, run->started->arrived);
    }
    return reason == OFL_OK && run->stream_in != run->compute ? wait_for(run, run->compute, run->started->arrived)
                                                              : reason;
}

/* Queues the copies of a step's results to page-locked host memory. */
static enum ofl_reason send_locked(struct run *run, int index)
{
    const struct ofl_step *step = &run->pipeline->step[index];
    enum ofl_reason reason = OFL_OK;
    for (int i = 0; i < step->outs && reason == OFL_OK; i++) {
        const struct ofl_part *part = &step->out[i];
        struct ofl_cut cut = ofl_part_cut(part, ofl_part_piece_bytes(part, run->piece_bytes));
        for (int64_t at = 0; part->locked && at < cut.count && reason == OFL_OK; at++) {
            struct ofl_errand errand = {part, ofl_piece_at(&part->host, &cut, at), index};
            reason = await_operations(run, index);
            if (reason == OFL_OK && errand.piece.rows > 0) {
                reason = copy(run, &errand, false, ofl_element(&part->host, errand.piece.row, errand.piece.column),
                              (size_t)part->host.ld * part->host.element_size);
            }
        }
    }
    return reason;
}

/* Queues the operations of a step whose copies in are queued. */
static enum ofl_reason launch(struct run *run, int index)
{
    const struct ofl_pipeline *pipeline = run->pipeline;
    const struct ofl_step *step = &pipeline->step[index];
    bool last = index + 1 == pipeline->steps;
    enum ofl_reason reason = await_inputs(run, last);
    for (int i = 0; i < step->calls && reason == OFL_OK; i++) {
        reason = run->started->backend->operation_run(run->started->device, run->compute, &step->call[i],
                                                      pipeline->scratch, pipeline->scratch_bytes,
                                                      pipeline->host_scratch, pipeline->host_scratch_bytes);
    }
    if (reason == OFL_OK && last && pipeline->timed) {
        reason = record(run, run->compute, run->started->mark[OFL_MARK_COMPUTED]);
    }
    if (reason == OFL_OK && run->stream_out != run->compute) {
        reason = record(run, run->compute, run->started->computed[index]);
    }
    return reason == OFL_OK ? send_locked(run, index) : reason;
}

/* ---- The conductor; each of these returns whether it got on ---- */

/* Starts the operations of all steps whose copies in are queued. */
static bool launch_ready(struct run *run)
{
    bool any = false;
    while (run->launched < run->pipeline->steps && run->in.missing[run->launched] == 0 &&
           ofl_loads_are_good(&run->loads)) {
        fail(run, launch(run, run->launched));
        run->launched++;
        any = true;
    }
    return any;
}

/* Whether copies of results of the first so many steps are still to be queued. */
static bool has_results(const struct run *run, int steps)
{
    struct cursor copy = run->out.next;
    struct ofl_errand unused;
    return take(run, &copy, false, steps, &unused);
}

static enum ofl_reason move_in(struct run *run, const struct ofl_load *load)
{
    const struct ofl_step *step = &run->pipeline->step[load->errand.step];
    enum ofl_reason reason = await_room(run, step->after);
    if (reason == OFL_OK) {
        reason = await_results(run, step->after_results);
    }
    if (reason != OFL_OK || load->slot->address != NULL) {
        return reason == OFL_OK ? copy_through(run, load, true, !run->in.exhausted) : reason;
    }
    ofl_loads_keep(&run->loads, load->errand.part, &load->errand.piece);
    return ofl_part_look(load->errand.part, &load->errand.piece) ? copy_directly(run, &load->errand, true)
                                                                 : OFL_EXCEPTIONAL_VALUES;
}

/* Whether the place where the piece goes is in use by operations that are not even queued, or by results. */
static bool has_to_wait(const struct run *run, const struct ofl_load *load)
{
    const struct ofl_step *step = &run->pipeline->step[load->errand.step];
    return step->after > run->launched || has_results(run, step->after_results);
}

/* Queues the copy of a piece that is packed. */
static bool queue_in(struct run *run, int slot)
{
    struct ofl_load *load = &run->loads.in[slot];
    if (!ofl_load_is_done(load) || has_to_wait(run, load)) {
        return false;
    }
    fail(run, move_in(run, load));
    run->in.missing[load->errand.step]--;
    run->in.open[slot] = false;
    run->in.on_its_way[slot] = load->slot->address != NULL;
    run->in.order[run->in.end++ % OFL_SLOTS] = slot;
    return true;
}

/* Gives the next slot that is free to the next piece. */
static bool open_in(struct run *run)
{
    struct way_in *in = &run->in;
    int slot = in->order[in->begin % OFL_SLOTS];
    struct ofl_load *load = &run->loads.in[slot];
    if (in->exhausted || in->begin == in->end || (in->on_its_way[slot] && !is_passed(run, load->slot))) {
        return false;
    }
    in->exhausted = !take(run, &in->next, true, run->pipeline->steps, &load->errand);
    if (!in->exhausted) {
        in->begin++;
        in->open[slot] = true;
        ofl_load_open(&run->loads, load);
        atomic_store_explicit(&run->loads.first_in, (unsigned)slot + 1, memory_order_relaxed);
    }
    return true;
}

/* Gets on with what goes in. */
static bool bring_in(struct run *run)
{
    bool busy = false;
    for (int i = 0; i < OFL_SLOTS; i++) {
        busy = (run->in.open[i] && queue_in(run, i)) || busy;
    }
    while (ofl_loads_are_good(&run->loads) && open_in(run)) {
        busy = true;
    }
    return launch_ready(run) || busy;
}

/* Queues the copy of the next piece of a result. */
static bool send_out(struct run *run)
{
    struct way_out *out = &run->out;
    struct ofl_load *load = &run->loads.out[out->queued % OFL_SLOTS];
    if (out->exhausted || out->queued - out->done == OFL_SLOTS) {
        return false;
    }
    if (!take(run, &out->next, false, run->launched, &load->errand)) {
        out->exhausted = run->launched == run->pipeline->steps;
        return out->exhausted;
    }
    enum ofl_reason reason = await_operations(run, load->errand.step);
    if (load->slot->address != NULL) {
        reason = reason == OFL_OK ? copy_through(run, load, false, true) : reason;
    } else {
        ofl_loads_keep(&run->loads, load->errand.part, &load->errand.piece);
        reason = reason == OFL_OK ? copy_directly(run, &load->errand, false) : reason;
        out->arrived++;
        out->done++;
    }
    fail(run, reason);
    out->queued++;
    return true;
}

/* Lets threads put away what has arrived. */
static bool open_out(struct run *run)
{
    struct way_out *out = &run->out;
    struct ofl_load *load = &run->loads.out[out->arrived % OFL_SLOTS];
    if (out->arrived == out->queued || !is_passed(run, load->slot)) {
        return false;
    }
    ofl_load_open(&run->loads, load);
    out->arrived++;
    return true;
}

/* Sees which slots are free again. */
static bool close_out(struct run *run)
{
    struct way_out *out = &run->out;
    unsigned before = out->done;
    while (out->done != out->arrived && ofl_load_is_done(&run->loads.out[out->done % OFL_SLOTS])) {
        out->done++;
    }
    atomic_store_explicit(&run->loads.first_out, out->done % OFL_SLOTS, memory_order_relaxed);
    return out->done != before;
}

static bool is_finished(const struct run *run)
{
    return run->launched == run->pipeline->steps && run->out.exhausted && run->out.done == run->out.queued;
}

static void conduct(void *argument)
{
    struct run *run = argument;
    while (ofl_loads_are_good(&run->loads) && !is_finished(run)) {
        bool busy = close_out(run);
        busy = send_out(run) || busy;
        busy = open_out(run) || busy;
        busy = bring_in(run) || busy;
        if (!busy && !ofl_loads_work(&run->loads)) {
            ofl_relax();
        }
    }
}

static bool help(void *argument)
{
    struct run *run = argument;
    return ofl_loads_work(&run->loads);
}

/* ---- Everything of a run ---- */

/* The bits of a part that is kept. */
static int64_t count_kept(const struct run *run, const struct ofl_part *part)
{
    struct ofl_cut cut = ofl_part_cut(part, run->piece_bytes);
    int64_t bits = 0;
    for (int64_t at = 0; part->undo != NULL && at < cut.count; at++) {
        struct ofl_piece piece = ofl_part_piece(part, &cut, at);
        bits += ofl_bits_of(&run->loads, part, &piece).count;
    }
    return bits;
}

/* Counts what has to be moved, and gets room for what is kept.  False for want of memory. */
static bool count(struct run *run)
{
    struct ofl_pipeline *pipeline = run->pipeline;
    int64_t kept = 0;
    pipeline->bytes_in = pipeline->bytes_out = 0;
    for (int i = 0; i < pipeline->steps; i++) {
        const struct ofl_step *step = &pipeline->step[i];
        for (int j = 0; j < step->ins; j++) {
            run->in.missing[i] += ofl_part_count(&step->in[j], run->piece_bytes, &pipeline->bytes_in);
            kept += count_kept(run, &step->in[j]);
        }
        for (int j = 0; j < step->outs; j++) {
            ofl_part_count(&step->out[j], run->piece_bytes, &pipeline->bytes_out);
            kept += count_kept(run, &step->out[j]);
        }
    }
    pipeline->committed = kept > 0 ? malloc((size_t)kept * sizeof *pipeline->committed) : NULL;
    pipeline->committed_count = 0;
    return kept == 0 || pipeline->committed != NULL;
}

/* Small ones let the device begin early, large ones are copied at a higher rate; who copies alone keeps neither
 * waiting. */
static size_t piece_bytes_for(const struct ofl_started *started, size_t bytes, int helpers)
{
    size_t share = bytes / pieces_of_run, most = OFL_SMALL_SLOT_BYTES;
    if (ofl_settings()->small_pieces) {
        return OFL_TEST_PIECE_BYTES;
    }
    if (helpers > 0) {
        most = started->lane == 0 ? OFL_SLOT_BYTES : OFL_LANE_SLOT_BYTES;
    }
    share = share < most ? share : most;
    return share > smallest_piece ? share : smallest_piece;
}

/* Several threads are to have a piece packed soon. */
static size_t bit_bytes_for(size_t piece_bytes)
{
    size_t share = piece_bytes / bits_of_piece;
    return ofl_settings()->small_pieces || share < OFL_BIT_BYTES ? share : OFL_BIT_BYTES;
}

static void prepare_loads(struct run *run, struct ofl_slots *slots)
{
    for (int i = 0; i < OFL_SLOTS; i++) {
        run->in.order[i] = i;
        run->loads.in[i].slot = &slots->in[i];
        run->loads.in[i].in = true;
        run->loads.out[i].slot = &slots->out[i];
    }
    run->in.end = OFL_SLOTS;
    run->loads.committed = run->pipeline->committed;
}

enum ofl_reason ofl_pipeline_run(struct ofl_pipeline *pipeline)
{
    const struct ofl_started *started = pipeline->started;
    bool alone = pipeline->steps == 1;
    size_t bytes = ofl_pipeline_bytes(pipeline);
    int helpers = ofl_pool_helpers_for(bytes);
    struct ofl_slots *slots;
    struct run run = {.pipeline = pipeline,
                      .started = started,
                      .stream_in = alone ? started->stream : started->in_stream,
                      .compute = started->stream,
                      .stream_out = alone ? started->stream : started->out_stream,
                      .piece_bytes = piece_bytes_for(started, bytes, helpers)};
    run.loads.bit_bytes = bit_bytes_for(run.piece_bytes);
    run.loads.reason = OFL_OK;
    if (!count(&run)) {
        return OFL_HOST_MEMORY;
    }
    run.loads.past_caches = pipeline->bytes_in < still_in_caches;
    size_t longest = run.piece_bytes > OFL_SELECTED_BYTES ? run.piece_bytes : OFL_SELECTED_BYTES;
    enum ofl_reason reason = ofl_slots_prepare(started, longest, &slots);
    if (reason != OFL_OK) {
        return reason;
    }
    prepare_loads(&run, slots);
    ofl_pool_run(conduct, help, &run, helpers);
    pipeline->committed_count = atomic_load(&run.loads.committed_count);
    return (enum ofl_reason)atomic_load(&run.loads.reason);
}
