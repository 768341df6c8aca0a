/* The transfer pipeline: copies in, operations and copies out that overlap.
 *
 * The steps' copies are cut into pieces.  The calling thread and the pool's helpers
 * all do the same: take the next piece that goes in, pack it into a page-locked slot
 * of their own and queue its copy; start the operations of a step when its last
 * piece is queued; queue the copy of a finished result's next piece to a slot and,
 * when it has arrived, put it into its place.  A thread has one copy out under way
 * while it packs, so that nobody waits for the device while there is something to
 * pack.  The operations of a step wait for its copies in by an event; its copies
 * out are queued when its operations are done.
 *
 * Locks: `lock` for who does what; in_lock and out_lock for queueing on the streams of
 * copies, taken before `lock`.  One pipeline runs at a time.  After a failure nobody
 * takes anything more; what is under way is the caller's business.
 * Entry point: ofl_pipeline_run. */
#include "device/pipeline.h"
#include "device/parts.h"
#include "device/pool.h"
#include "device/slots.h"
#include "base/clock.h"
#include "base/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { spins = 64 };

/* Seconds that a thread waits awake: waking it takes as long. */
static const double patience = 40e-6;

/* The next piece to take of all copies in one direction. */
struct cursor {
    int step, part;
    int64_t piece;
};

struct run {
    struct ofl_pipeline *pipeline;
    const struct ofl_started *started;
    struct ofl_stream *in, *compute, *out;
    size_t piece_bytes;
    pthread_mutex_t lock, in_lock, out_lock;
    pthread_cond_t progress;
    _Atomic unsigned changes; /* counts what `progress` tells */
    /* Under `lock`. */
    enum ofl_reason reason;
    struct cursor next_in, next_out;
    int64_t missing[OFL_MOST_STEPS]; /* pieces of a step that are not queued yet */
    int launched, ready;             /* steps whose operations are queued; are done, or precede on the same stream */
    bool launching, scouting;
    int awaited, left; /* under in_lock: steps whose operations, whose results the stream of copies in waits for */
};

/* A piece on its way. */
struct errand {
    const struct ofl_part *part;
    struct ofl_piece piece;
    int step;
};

/* What one thread has under way: copies out to its slots, the oldest first. */
struct worker {
    struct run *run;
    struct ofl_slots *slots;
    struct errand out[2];
    int in_turn, out_turn, outs;
};

/* A processor's hint that somebody else has to go on. */
static void relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static void tell(struct run *run)
{
    atomic_fetch_add_explicit(&run->changes, 1, memory_order_release);
    pthread_cond_broadcast(&run->progress);
}

/* `lock` is held. */
static void fail(struct run *run, enum ofl_reason reason)
{
    if (reason != OFL_OK && run->reason == OFL_OK) {
        run->reason = reason;
        tell(run);
    }
}

static bool take(const struct run *run, struct cursor *at, bool in, int limit, struct errand *errand);

/* Whether results of the first so many steps are still to be queued. */
static bool has_results(const struct run *run, int steps)
{
    struct cursor copy = run->next_out;
    struct errand unused;
    return steps > 0 && (run->ready < steps || take(run, &copy, false, steps, &unused));
}

/* Takes the next piece after *at.  False where there is none in the steps below `limit`, or none yet: where it goes
 * is in use by operations that are not even queued. */
static bool take(const struct run *run, struct cursor *at, bool in, int limit, struct errand *errand)
{
    for (; at->step < limit; at->step++, at->part = 0) {
        const struct ofl_step *step = &run->pipeline->step[at->step];
        if (in && (step->after > run->launched || has_results(run, step->after_results))) {
            return false;
        }
        for (; at->part < (in ? step->ins : step->outs); at->part++, at->piece = 0) {
            const struct ofl_part *part = in ? &step->in[at->part] : &step->out[at->part];
            struct ofl_cut cut = ofl_part_cut(part, run->piece_bytes);
            if (at->piece < cut.count && (in || !part->locked)) {
                *errand = (struct errand){part, ofl_part_piece(part, &cut, at->piece++), at->step};
                return true;
            }
        }
    }
    return false;
}

/* Whether take would find something. */
static bool is_left(const struct run *run, const struct cursor *at, bool in, int limit)
{
    struct cursor copy = *at;
    struct errand unused;
    return take(run, &copy, in, limit, &unused);
}

/* Whether there is anything that this thread may have to take later on. */
static bool is_unfinished(const struct run *run)
{
    return run->next_in.step < run->pipeline->steps || is_left(run, &run->next_out, false, run->pipeline->steps);
}

static char *device_address(const struct errand *errand)
{
    const struct ofl_part *part = errand->part;
    return (char *)part->device + ((size_t)errand->piece.column * (size_t)part->device_ld + (size_t)errand->piece.row) *
                                      part->host.element_size;
}

/* One copy between the device and `host`, whose columns are `pitch` bytes apart. */
static enum ofl_reason copy(struct run *run, const struct errand *errand, bool in, char *host, size_t pitch)
{
    const struct ofl_started *started = run->started;
    size_t size = errand->part->host.element_size, width = (size_t)errand->piece.rows * size;
    size_t device_pitch = (size_t)errand->part->device_ld * size, columns = (size_t)errand->piece.columns;
    char *device = device_address(errand);
    if (in) {
        return started->backend->copy_in(started->device, run->in, device, device_pitch, host, pitch, width, columns);
    }
    return started->backend->copy_out(started->device, run->out, host, pitch, device, device_pitch, width, columns);
}

/* The same without a slot, straight from or to its place. */
static enum ofl_reason copy_directly(struct run *run, const struct errand *errand, bool in)
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
            struct errand column = {errand->part, {first, j, end - first, 1}, errand->step};
            reason = copy(run, &column, in, ofl_element(host, first, j), (size_t)(end - first) * host->element_size);
        }
    }
    return reason;
}

static enum ofl_reason record(const struct run *run, struct ofl_stream *stream, struct ofl_event *event)
{
    return run->started->backend->event_record(run->started->device, stream, event);
}

static enum ofl_reason wait_for(const struct run *run, struct ofl_stream *stream, struct ofl_event *event)
{
    return run->started->backend->stream_wait_event(run->started->device, stream, event);
}

static size_t packed_pitch(const struct errand *errand)
{
    return (size_t)errand->piece.rows * errand->part->host.element_size;
}

/* Queues the copy of a piece through the slot, which is ready; without memory in the slot, without it. */
static enum ofl_reason queue(struct run *run, const struct errand *errand, bool in, struct ofl_slot *slot)
{
    if (slot->address == NULL) {
        return copy_directly(run, errand, in);
    }
    enum ofl_reason reason = copy(run, errand, in, slot->address, packed_pitch(errand));
    if (reason == OFL_OK) {
        reason = record(run, in ? run->in : run->out, slot->event);
        slot->busy = reason == OFL_OK;
    }
    return reason;
}

/* Lets the copies in wait for the operations of so many steps.  in_lock is held. */
static enum ofl_reason await_room(struct run *run, int steps)
{
    enum ofl_reason reason = OFL_OK;
    if (steps > run->awaited && run->in != run->compute) {
        reason = wait_for(run, run->in, run->started->computed[steps - 1]);
        run->awaited = steps;
    }
    return reason;
}

/* The same for their results, all of which are queued. */
static enum ofl_reason await_results(struct run *run, int steps)
{
    enum ofl_reason reason = OFL_OK;
    if (steps > run->left && run->in != run->out) {
        pthread_mutex_lock(&run->out_lock);
        reason = record(run, run->out, run->started->left);
        pthread_mutex_unlock(&run->out_lock);
        if (reason == OFL_OK) {
            reason = wait_for(run, run->in, run->started->left);
        }
        run->left = steps;
    }
    return reason;
}

static enum ofl_reason bring_in(struct worker *worker, const struct errand *errand)
{
    struct run *run = worker->run;
    struct ofl_slot *slot = &worker->slots->in[worker->in_turn];
    if (errand->piece.rows == 0) {
        return OFL_OK;
    }
    enum ofl_reason reason = ofl_slot_ready(slot, run->started);
    if (reason != OFL_OK) {
        return reason;
    }
    if (slot->address != NULL ? !ofl_part_pack(errand->part, &errand->piece, slot->address)
                              : !ofl_part_look(errand->part, &errand->piece)) {
        return OFL_EXCEPTIONAL_VALUES;
    }
    worker->in_turn ^= 1;
    pthread_mutex_lock(&run->in_lock);
    reason = await_room(run, run->pipeline->step[errand->step].after);
    if (reason == OFL_OK) {
        reason = await_results(run, run->pipeline->step[errand->step].after_results);
    }
    if (reason == OFL_OK) {
        reason = queue(run, errand, true, slot);
    }
    pthread_mutex_unlock(&run->in_lock);
    return reason;
}

/* Keeps what is where a result's piece goes. */
static void keep_old(struct run *run, const struct errand *errand)
{
    const struct ofl_part *part = errand->part;
    if (part->undo == NULL || errand->piece.rows == 0) {
        return;
    }
    struct ofl_committed committed = ofl_part_keep(part, &errand->piece);
    pthread_mutex_lock(&run->lock);
    run->pipeline->committed[run->pipeline->committed_count++] = committed;
    pthread_mutex_unlock(&run->lock);
}

/* Takes the next piece that goes out, of a step that is ready, and queues its copy.  False where there is none. */
static bool send_out(struct worker *worker, enum ofl_reason *reason)
{
    struct run *run = worker->run;
    struct errand *errand = &worker->out[worker->out_turn];
    struct ofl_slot *slot = &worker->slots->out[worker->out_turn];
    *reason = ofl_slot_ready(slot, run->started);
    if (*reason != OFL_OK) {
        return true;
    }
    pthread_mutex_lock(&run->out_lock);
    pthread_mutex_lock(&run->lock);
    bool found = take(run, &run->next_out, false, run->ready, errand);
    pthread_mutex_unlock(&run->lock);
    if (found && slot->address == NULL) {
        keep_old(run, errand); /* it goes straight to its place */
    }
    if (found && *reason == OFL_OK && errand->piece.rows > 0) {
        *reason = queue(run, errand, false, slot);
    }
    pthread_mutex_unlock(&run->out_lock);
    if (found && run->pipeline->step[run->pipeline->steps - 1].after_results > 0) {
        pthread_mutex_lock(&run->lock);
        tell(run); /* copies in may wait for it */
        pthread_mutex_unlock(&run->lock);
    }
    if (found) {
        worker->out_turn ^= 1;
        worker->outs++;
        if (*reason == OFL_OK) {
            ofl_piece_populate(&errand->part->host, &errand->piece);
        }
    }
    return found;
}

/* Waits for the oldest copy out and puts it into its place. */
static enum ofl_reason put_away(struct worker *worker)
{
    struct run *run = worker->run;
    int oldest = worker->outs == 2 ? worker->out_turn : worker->out_turn ^ 1;
    struct ofl_slot *slot = &worker->slots->out[oldest];
    const struct errand *errand = &worker->out[oldest];
    worker->outs--;
    if (errand->piece.rows == 0 || slot->address == NULL) { /* nothing, or copied straight to its place */
        return OFL_OK;
    }
    enum ofl_reason reason = run->started->backend->event_wait(run->started->device, slot->event);
    if (reason == OFL_OK) {
        slot->busy = false;
        keep_old(run, errand);
        ofl_piece_scatter(&errand->part->host, &errand->piece, slot->address, packed_pitch(errand));
    }
    return reason;
}

/* Queues the copies of a step's results to page-locked host memory. */
static enum ofl_reason send_locked(struct run *run, int index)
{
    const struct ofl_step *step = &run->pipeline->step[index];
    enum ofl_reason reason = OFL_OK;
    bool waits = run->out == run->compute;
    pthread_mutex_lock(&run->out_lock);
    for (int i = 0; i < step->outs && reason == OFL_OK; i++) {
        const struct ofl_part *part = &step->out[i];
        struct ofl_cut cut = ofl_part_cut(part, ofl_part_piece_bytes(part, run->piece_bytes));
        if (part->locked && !waits) {
            reason = wait_for(run, run->out, run->started->computed[index]);
            waits = true;
        }
        for (int64_t at = 0; part->locked && at < cut.count && reason == OFL_OK; at++) {
            struct errand errand = {part, ofl_piece_at(&part->host, &cut, at), index};
            if (errand.piece.rows > 0) {
                reason = copy(run, &errand, false, ofl_element(&part->host, errand.piece.row, errand.piece.column),
                              (size_t)part->host.ld * part->host.element_size);
            }
        }
    }
    pthread_mutex_unlock(&run->out_lock);
    return reason;
}

/* Lets the operations wait for everything that is queued on the stream of copies in. */
static enum ofl_reason await_inputs(struct run *run, bool last)
{
    enum ofl_reason reason = OFL_OK;
    pthread_mutex_lock(&run->in_lock);
    if (last && run->pipeline->timed) {
        reason = record(run, run->in, run->started->mark[OFL_MARK_COPIED_IN]);
    }
    if (reason == OFL_OK && run->in != run->compute) {
        reason = record(run, run->in, run->started->arrived);
    }
    pthread_mutex_unlock(&run->in_lock);
    return reason == OFL_OK && run->in != run->compute ? wait_for(run, run->compute, run->started->arrived) : reason;
}

/* Queues the operations of a step whose copies in are queued.  One thread at a time. */
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
    if (reason == OFL_OK && run->out != run->compute) {
        reason = record(run, run->compute, run->started->computed[index]);
    }
    return reason == OFL_OK ? send_locked(run, index) : reason;
}

/* Starts the operations of all steps that are ready.  `lock` is held, and released meanwhile. */
static void launch_ready(struct run *run)
{
    while (run->reason == OFL_OK && !run->launching && run->launched < run->pipeline->steps &&
           run->missing[run->launched] == 0) {
        int index = run->launched;
        run->launching = true;
        pthread_mutex_unlock(&run->lock);
        enum ofl_reason reason = launch(run, index);
        pthread_mutex_lock(&run->lock);
        run->launching = false;
        run->launched++;
        fail(run, reason);
        tell(run);
    }
}

/* Sees which steps are ready.  `lock` is held. */
static void notice_ready(struct run *run)
{
    const struct ofl_started *started = run->started;
    bool done = true;
    while (run->reason == OFL_OK && run->ready < run->launched && done) {
        if (run->out != run->compute) {
            fail(run, started->backend->event_done(started->device, started->computed[run->ready], &done));
        }
        if (done && run->reason == OFL_OK) {
            run->ready++;
            tell(run);
        }
    }
}

/* Waits for the device until the next step is ready: one thread for all, since waiting may keep a processor busy.
 * False where that is not to be done here.  `lock` is held, and released meanwhile. */
static bool scout(struct run *run)
{
    int next = run->ready;
    if (run->scouting || next >= run->launched) {
        return false;
    }
    run->scouting = true;
    pthread_mutex_unlock(&run->lock);
    enum ofl_reason reason = run->started->backend->event_wait(run->started->device, run->started->computed[next]);
    pthread_mutex_lock(&run->lock);
    run->scouting = false;
    fail(run, reason);
    tell(run);
    return true;
}

/* Takes a piece in, if there is one.  `lock` is held, and released meanwhile. */
static bool work_in(struct worker *worker)
{
    struct run *run = worker->run;
    struct errand errand;
    if (!take(run, &run->next_in, true, run->pipeline->steps, &errand)) {
        return false;
    }
    pthread_mutex_unlock(&run->lock);
    enum ofl_reason reason = bring_in(worker, &errand);
    pthread_mutex_lock(&run->lock);
    run->missing[errand.step] -= reason == OFL_OK;
    fail(run, reason);
    return true;
}

/* Keeps one copy out under way while there is something to take in, else two.  `lock` is held, and released
 * meanwhile. */
static void start_out(struct worker *worker)
{
    struct run *run = worker->run;
    int most = is_left(run, &run->next_in, true, run->pipeline->steps) ? 1 : 2;
    bool found = is_left(run, &run->next_out, false, run->ready);
    while (found && worker->outs < most && run->reason == OFL_OK) {
        enum ofl_reason reason;
        pthread_mutex_unlock(&run->lock);
        found = send_out(worker, &reason);
        pthread_mutex_lock(&run->lock);
        fail(run, reason);
    }
}

/* Puts the oldest copy out away, if there is one.  `lock` is held, and released meanwhile. */
static bool end_out(struct worker *worker)
{
    struct run *run = worker->run;
    if (worker->outs == 0 || run->reason != OFL_OK) {
        return false;
    }
    pthread_mutex_unlock(&run->lock);
    enum ofl_reason reason = put_away(worker);
    pthread_mutex_lock(&run->lock);
    fail(run, reason);
    return true;
}

/* Waits until something has changed: a moment awake, since mostly it is a matter of microseconds.  `lock` is held,
 * and released meanwhile. */
static void wait_for_change(struct run *run)
{
    unsigned seen = atomic_load_explicit(&run->changes, memory_order_relaxed);
    pthread_mutex_unlock(&run->lock);
    double begin = ofl_clock();
    do {
        for (int i = 0; i < spins && atomic_load_explicit(&run->changes, memory_order_acquire) == seen; i++) {
            relax();
        }
    } while (atomic_load_explicit(&run->changes, memory_order_acquire) == seen && ofl_clock() - begin < patience);
    pthread_mutex_lock(&run->lock);
    while (atomic_load_explicit(&run->changes, memory_order_relaxed) == seen) {
        pthread_cond_wait(&run->progress, &run->lock);
    }
}

static void take_part(void *argument, int participant)
{
    struct run *run = argument;
    struct worker worker = {.run = run, .slots = ofl_slots_of(run->started, participant)};
    pthread_mutex_lock(&run->lock);
    while (run->reason == OFL_OK) {
        launch_ready(run);
        notice_ready(run);
        start_out(&worker);
        bool busy = work_in(&worker);
        busy = end_out(&worker) || busy;
        if (!busy && !is_unfinished(run)) {
            break;
        }
        /* Whoever has a step's last piece on its way launches it, and tells. */
        if (!busy && run->reason == OFL_OK && !is_left(run, &run->next_out, false, run->ready) && !scout(run)) {
            wait_for_change(run);
        }
    }
    pthread_mutex_unlock(&run->lock);
}

/* Sets what has to be moved, and how many pieces each step has.  False for want of memory. */
static bool count(struct run *run)
{
    struct ofl_pipeline *pipeline = run->pipeline;
    int64_t undone = 0;
    pipeline->bytes_in = pipeline->bytes_out = 0;
    for (int i = 0; i < pipeline->steps; i++) {
        const struct ofl_step *step = &pipeline->step[i];
        run->missing[i] = 0;
        for (int j = 0; j < step->ins; j++) {
            run->missing[i] += ofl_part_count(&step->in[j], run->piece_bytes, &pipeline->bytes_in);
        }
        for (int j = 0; j < step->outs; j++) {
            int64_t pieces = ofl_part_count(&step->out[j], run->piece_bytes, &pipeline->bytes_out);
            undone += step->out[j].undo != NULL ? pieces : 0;
        }
    }
    pipeline->committed = undone > 0 ? malloc((size_t)undone * sizeof *pipeline->committed) : NULL;
    pipeline->committed_count = 0;
    return undone == 0 || pipeline->committed != NULL;
}

/* Each thread gets a few pieces. */
static size_t piece_bytes_for(size_t bytes, int helpers)
{
    if (ofl_settings()->small_pieces) {
        return OFL_TEST_PIECE_BYTES;
    }
    size_t share = bytes / (4 * ((size_t)helpers + 1));
    if (share <= OFL_SMALL_SLOT_BYTES || helpers == 0) {
        return bytes < OFL_ALONE_BYTES || helpers > 0 ? OFL_SMALL_SLOT_BYTES : OFL_SLOT_BYTES;
    }
    return share < OFL_SLOT_BYTES ? share : OFL_SLOT_BYTES;
}

enum ofl_reason ofl_pipeline_run(struct ofl_pipeline *pipeline)
{
    const struct ofl_started *started = pipeline->started;
    bool alone = pipeline->steps == 1;
    size_t bytes = ofl_pipeline_bytes(pipeline);
    int helpers = ofl_pool_helpers_for(bytes);
    struct run run = {.pipeline = pipeline,
                      .started = started,
                      .in = alone ? started->stream : started->in_stream,
                      .compute = started->stream,
                      .out = alone ? started->stream : started->out_stream,
                      .piece_bytes = piece_bytes_for(bytes, helpers),
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .in_lock = PTHREAD_MUTEX_INITIALIZER,
                      .out_lock = PTHREAD_MUTEX_INITIALIZER,
                      .progress = PTHREAD_COND_INITIALIZER,
                      .reason = OFL_OK};
    if (!count(&run)) {
        return OFL_HOST_MEMORY;
    }
    size_t longest = run.piece_bytes > OFL_SELECTED_BYTES ? run.piece_bytes : OFL_SELECTED_BYTES;
    enum ofl_reason reason = ofl_slots_prepare(started, helpers + 1, longest);
    if (reason != OFL_OK) {
        return reason;
    }
    ofl_pool_run(take_part, &run, helpers);
    return run.reason;
}
