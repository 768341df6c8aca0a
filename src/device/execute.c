/* Running one call on the device: copy in, compute, copy out, through the pipeline.
 *
 * The whole call is one unit, though its results go to their places tile by tile
 * while later tiles compute.  What was there is kept where the CPU path would read
 * it, piece by piece, and put back after a failure by plain memory copies, which
 * cannot fail.  An output that is only written is computed by the CPU as a whole.
 * LAPACK's results are all staged and looked at first (lapack.c).  After a failure the streams are drained, so that
 * nothing arrives later.  Calls that take more device memory than they may go to beyond.c, or stay on the CPU.
 *
 * Calls of several threads may run at the same time, each in a lane of its own (lanes.c). */
#include "device/internal.h"
#include "base/clock.h"
#include "device/beyond.h"
#include "device/call.h"
#include "device/descriptors.h"
#include "device/lanes.h"
#include "device/large.h"
#include "device/lapack.h"
#include "device/pool.h"
#include "device/resident.h"
#include "device/scratch.h"
#include "device/stack.h"
#include "device/tiles.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { alignment = 256 };

/* From before a lane is asked for until after it is given back: a signal handler that comes here in the
 * middle of its thread's own call is sent away. */
static _Thread_local volatile bool inside;

bool ofl_device_is_inside(void)
{
    return inside;
}
static _Thread_local struct ofl_lane *lane; /* of the call that this thread works for */

/* Where everything of a call lies. */
struct plan {
    struct ofl_call call; /* on device buffers */
    bool read[OFL_MAX_OPERANDS], written[OFL_MAX_OPERANDS];
    bool staged[OFL_MAX_OPERANDS];          /* the result goes to a staging area first */
    bool undone[OFL_MAX_OPERANDS];          /* or to its place, and what was there is kept */
    int copy_of[OFL_MAX_OPERANDS];          /* an earlier operand with the same content, or -1 */
    struct ofl_grip grip[OFL_MAX_OPERANDS]; /* copies that stay on the device */
    size_t device_offset[OFL_MAX_OPERANDS], host_offset[OFL_MAX_OPERANDS];
    size_t device_bytes, host_bytes; /* in all */
    size_t work_offset, work_bytes, host_work_offset, host_work_bytes;
    size_t info_offset, host_info_offset; /* LAPACK's: OFL_INFO_WORDS words */
    bool looks[OFL_MAX_OPERANDS];         /* whether there is a sight of the operand */
    struct ofl_sight sight[OFL_MAX_OPERANDS];
};

/* Adds an aligned piece to *total; its offset in *offset.  False if it does not fit into size_t. */
static bool reserve(size_t bytes, size_t *total, size_t *offset)
{
    *offset = *total;
    return !__builtin_add_overflow(*total, bytes, total) && !__builtin_add_overflow(*total, alignment - 1, total) &&
           ((*total &= ~(size_t)(alignment - 1)), true);
}

static bool operand_bytes(const struct ofl_buffer *operand, size_t *bytes)
{
    return !__builtin_mul_overflow((size_t)operand->rows, (size_t)operand->columns, bytes) &&
           !__builtin_mul_overflow(*bytes, (size_t)operand->element_size, bytes);
}

static void plan_operand(const struct ofl_call *call, int i, struct plan *plan)
{
    const struct ofl_buffer *operand = &call->operand[i];
    ofl_call_transfers(call, i, &plan->read[i], &plan->written[i], &plan->staged[i], &plan->copy_of[i]);
    plan->undone[i] = plan->written[i] && plan->read[i] && !plan->staged[i];
    plan->call.operand[i].ld = operand->rows;
    if (operand->region == OFL_PIVOTS) {
        plan->call.operand[i].element_size = sizeof(int64_t);
        plan->staged[i] = true; /* in both directions */
    }
}

/* Room for an operand, unless it is there already. */
static bool reserve_operand(int i, struct plan *plan)
{
    size_t bytes;
    return plan->copy_of[i] >= 0 ||
           (operand_bytes(&plan->call.operand[i], &bytes) &&
            (plan->grip[i].copy != NULL || reserve(bytes, &plan->device_bytes, &plan->device_offset[i])) &&
            (!(plan->staged[i] || plan->undone[i]) || reserve(bytes, &plan->host_bytes, &plan->host_offset[i])));
}

/* Where everything lies. */
static enum ofl_reason reserve_all(const struct ofl_call *call, struct plan *plan)
{
    size_t info_bytes = ofl_call_is_lapack(call) ? OFL_INFO_WORDS * sizeof(int32_t) : 0;
    bool fits = true;
    plan->device_bytes = plan->host_bytes = 0;
    for (int i = 0; i < call->operands && fits; i++) {
        fits = reserve_operand(i, plan);
    }
    fits = fits && reserve(plan->work_bytes, &plan->device_bytes, &plan->work_offset) &&
           reserve(plan->host_work_bytes, &plan->host_bytes, &plan->host_work_offset) &&
           reserve(info_bytes, &plan->device_bytes, &plan->info_offset) &&
           reserve(info_bytes, &plan->host_bytes, &plan->host_info_offset);
    return fits ? OFL_OK : OFL_TOO_LARGE;
}

static enum ofl_reason make_plan(const struct ofl_started *started, const struct ofl_call *call, struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
    if (call->operands < 1 || call->operands > OFL_MAX_OPERANDS || ofl_call_is_empty(call)) {
        return OFL_NOTHING_TO_DO;
    }
    plan->call = *call;
    for (int i = 0; i < call->operands; i++) {
        plan_operand(call, i, plan);
    }
    enum ofl_reason reason = started->backend->operation_supports(started->device, &plan->call);
    if (reason == OFL_OK) {
        reason = started->backend->operation_workspace(started->device, &plan->call, &plan->work_bytes,
                                                       &plan->host_work_bytes);
    }
    return reason == OFL_OK ? reserve_all(call, plan) : reason;
}

static void *device_at(size_t offset)
{
    return (char *)lane->scratch.device + offset;
}

static void *host_at(size_t offset)
{
    return lane->scratch.host == NULL ? NULL : (char *)lane->scratch.host + offset;
}

static enum ofl_reason get_memory(const struct ofl_started *started, const struct plan *plan)
{
    enum ofl_reason reason = ofl_scratch_device(&lane->scratch, started, plan->device_bytes);
    while (reason == OFL_DEVICE_MEMORY && (ofl_resident_evict(started) || ofl_lanes_release_idle())) {
        reason = ofl_scratch_device(&lane->scratch, started, plan->device_bytes);
    }
    if (reason == OFL_OK && plan->host_bytes > 0) {
        reason = ofl_scratch_host(&lane->scratch, started, plan->host_bytes);
    }
    return reason;
}

/* Bytes as they are, between the device and a staging area. */
static enum ofl_reason copy_plain_in(const struct ofl_started *started, void *device, const void *host, size_t bytes)
{
    return started->backend->copy_in(started->device, started->stream, device, bytes, host, bytes, bytes, 1);
}

static enum ofl_reason copy_plain_out(const struct ofl_started *started, void *host, const void *device, size_t bytes)
{
    return started->backend->copy_out(started->device, started->stream, host, bytes, device, bytes, bytes, 1);
}

/* Pivots that lead out of the matrix are for the CPU library to stumble over. */
static enum ofl_reason copy_pivots_in(const struct ofl_started *started, const struct ofl_call *call,
                                      const struct plan *plan, int i, struct ofl_device_times *times)
{
    int64_t *wide = host_at(plan->host_offset[i]);
    size_t bytes = (size_t)call->operand[i].rows * sizeof *wide;
    if (!ofl_pivots_widen(&call->operand[i], call->operand[0].rows, wide)) {
        return OFL_INVALID_ARGUMENT;
    }
    times->bytes_in += bytes;
    return copy_plain_in(started, device_at(plan->device_offset[i]), wide, bytes);
}

/* All words zero. */
static enum ofl_reason prepare_info(const struct ofl_started *started, const struct plan *plan)
{
    size_t bytes = OFL_INFO_WORDS * sizeof(int32_t);
    memset(host_at(plan->host_info_offset), 0, bytes);
    return copy_plain_in(started, plan->call.info, host_at(plan->host_info_offset), bytes);
}

/* Pivots and info, which the pipeline does not know: they go over the stream of the operations. */
static enum ofl_reason lapack_in(const struct ofl_started *started, const struct ofl_call *call,
                                 const struct plan *plan, struct ofl_device_times *times)
{
    enum ofl_reason reason = OFL_OK;
    for (int i = 0; i < call->operands && reason == OFL_OK; i++) {
        if (plan->read[i] && call->operand[i].region == OFL_PIVOTS) {
            reason = copy_pivots_in(started, call, plan, i, times);
        }
    }
    return reason == OFL_OK ? prepare_info(started, plan) : reason;
}

static enum ofl_reason lapack_out(const struct ofl_started *started, const struct ofl_call *call,
                                  const struct plan *plan, struct ofl_device_times *times)
{
    enum ofl_reason reason =
        copy_plain_out(started, host_at(plan->host_info_offset), plan->call.info, OFL_INFO_WORDS * sizeof(int32_t));
    for (int i = 0; i < call->operands && reason == OFL_OK; i++) {
        if (plan->written[i] && call->operand[i].region == OFL_PIVOTS) {
            size_t bytes = (size_t)call->operand[i].rows * sizeof(int64_t);
            reason = copy_plain_out(started, host_at(plan->host_offset[i]), plan->call.operand[i].address, bytes);
            times->bytes_out += bytes;
        }
    }
    return reason;
}

/* Where everything lies, once there is memory. */
static void make_layout(const struct ofl_call *call, struct plan *plan, struct ofl_layout *layout)
{
    *layout = (struct ofl_layout){.call = call, .device = &plan->call};
    plan->call.info = ofl_call_is_lapack(call) ? device_at(plan->info_offset) : NULL;
    for (int i = 0; i < call->operands; i++) {
        int same = plan->copy_of[i] >= 0 ? plan->copy_of[i] : i;
        const struct ofl_grip *grip = &plan->grip[same];
        plan->call.operand[i].address = grip->copy != NULL ? grip->device : device_at(plan->device_offset[same]);
        layout->only[i] = grip->copy != NULL && grip->current ? &grip->changed : NULL;
        layout->read[i] = plan->read[i];
        layout->written[i] = plan->written[i];
        layout->copy_of[i] = plan->copy_of[i];
        layout->target[i] = call->operand[i];
        layout->undo[i] = plan->undone[i] ? host_at(plan->host_offset[i]) : NULL;
        if (plan->staged[i]) {
            layout->target[i].address = host_at(plan->host_offset[i]);
            layout->target[i].ld = call->operand[i].rows;
            layout->locked[i] = lane->scratch.host_is_locked;
        }
        plan->looks[i] = ofl_call_is_lapack(call) && ofl_lapack_sight(call, i, &plan->sight[i]);
        layout->sight[i] = plan->looks[i] ? &plan->sight[i] : NULL;
    }
}

/* Whether the device can do the tiles with the memory that the whole has. */
static bool can_run(const struct ofl_started *started, const struct plan *plan, int count)
{
    const struct ofl_backend *backend = started->backend;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < lane->step[i].calls; j++) {
            const struct ofl_call *tile = &lane->step[i].call[j];
            size_t bytes = 0, host_bytes = 0;
            if (ofl_operation_prepare(started, tile->operation) != OFL_OK ||
                backend->operation_supports(started->device, tile) != OFL_OK ||
                backend->operation_workspace(started->device, tile, &bytes, &host_bytes) != OFL_OK ||
                bytes > plan->work_bytes || host_bytes > plan->host_work_bytes) {
                return false;
            }
        }
    }
    return true;
}

/* Everything up to the staging areas; *cut tells whether the streams of copies were used. */
static enum ofl_reason run_steps(const struct ofl_started *started, const struct ofl_call *call, struct plan *plan,
                                 struct ofl_device_times *times, struct ofl_pipeline *pipeline, bool *cut)
{
    struct ofl_layout layout;
    *pipeline = (struct ofl_pipeline){.started = started,
                                      .step = lane->step,
                                      .scratch = device_at(plan->work_offset),
                                      .scratch_bytes = plan->work_bytes,
                                      .host_scratch = host_at(plan->host_work_offset),
                                      .host_scratch_bytes = plan->host_work_bytes,
                                      .timed = true};
    make_layout(call, plan, &layout);
    int count = ofl_tiles(&layout, lane->step);
    *cut = count > 1 && can_run(started, plan, count);
    pipeline->steps = *cut ? count : 1;
    if (!*cut) {
        ofl_whole(&layout, lane->step);
    }
    enum ofl_reason reason =
        started->backend->event_record(started->device, started->stream, started->mark[OFL_MARK_BEGIN]);
    if (reason == OFL_OK && ofl_call_is_lapack(call)) {
        reason = lapack_in(started, call, plan, times);
    }
    if (reason == OFL_OK) {
        reason = ofl_pipeline_run(pipeline);
        times->bytes_in += pipeline->bytes_in;
        times->bytes_out += pipeline->bytes_out;
    }
    return reason == OFL_OK && ofl_call_is_lapack(call) ? lapack_out(started, call, plan, times) : reason;
}

/* The pivots that a call has returned, NULL where it returns none.  False where they are no rows of the matrix. */
static bool find_pivots(const struct ofl_call *call, const struct plan *plan, const int64_t **pivots)
{
    *pivots = NULL;
    for (int i = 0; i < call->operands; i++) {
        if (plan->written[i] && call->operand[i].region == OFL_PIVOTS) {
            *pivots = host_at(plan->host_offset[i]);
            return ofl_pivots_valid(&call->operand[i], call->operand[0].rows, *pivots);
        }
    }
    return true;
}

/* Everything has arrived in the staging areas.  Whether it is LAPACK's answer; then *info is its verdict. */
static enum ofl_reason check_results(const struct ofl_call *call, const struct plan *plan, int32_t *info)
{
    const int32_t *words = host_at(plan->host_info_offset);
    const int64_t *pivots;
    bool good = find_pivots(call, plan, &pivots);
    for (int i = 0; i < call->operands; i++) {
        good = good && (!plan->looks[i] || ofl_sight_is_good(&plan->sight[i]));
    }
    *info = words[OFL_INFO_LAPACK];
    for (int i = OFL_INFO_OTHERS; i < OFL_INFO_WORDS; i++) {
        good = good && words[i] == 0;
    }
    if (good && words[OFL_INFO_CLAIM] != 0) {
        *info = words[OFL_INFO_CLAIM];
        good = ofl_lapack_verify(call, *info, host_at(plan->host_offset[0]), pivots);
    } else if (good && *info == 0 && plan->written[0]) {
        return ofl_lapack_check_factor(call, host_at(plan->host_offset[0]));
    }
    return *info < 0 ? OFL_OPERATION_FAILED : good ? OFL_OK : OFL_EXCEPTIONAL_VALUES;
}

/* The diagonal of a unit triangle is not stored: what is left is a triangle of one row and column less. */
static void commit_operand(const struct ofl_call *call, const struct ofl_buffer *operand, const char *staging)
{
    struct ofl_buffer to = *operand;
    size_t pitch = (size_t)operand->rows * operand->element_size;
    if (operand->region != OFL_GENERAL && call->diag == 'U') {
        bool lower = operand->region == OFL_LOWER;
        to.address = (char *)to.address + (lower ? 1 : (size_t)to.ld) * to.element_size;
        staging += lower ? to.element_size : pitch;
        to.rows--;
        to.columns--;
    }
    ofl_host_scatter(&to, staging, pitch);
}

static void commit(const struct ofl_call *call, const struct plan *plan)
{
    for (int i = 0; i < call->operands; i++) {
        if (plan->written[i] && call->operand[i].region == OFL_PIVOTS) {
            ofl_pivots_commit(&call->operand[i], host_at(plan->host_offset[i]));
        } else if (plan->written[i] && plan->staged[i]) {
            commit_operand(call, &call->operand[i], host_at(plan->host_offset[i]));
        }
    }
}

static enum ofl_reason run_plan(const struct ofl_started *started, const struct ofl_call *call, struct plan *plan,
                                struct ofl_device_times *times)
{
    bool cut = false;
    enum ofl_reason reason = get_memory(started, plan);
    if (reason != OFL_OK) {
        return reason;
    }
    double begin = ofl_clock();
    struct ofl_pipeline pipeline;
    reason = run_steps(started, call, plan, times, &pipeline, &cut);
    /* Also after a failure: what is under way must not arrive later. */
    enum ofl_reason drained = ofl_drain(started, cut);
    if (reason == OFL_OK) {
        reason = drained;
    }
    int32_t info = 0;
    if (reason == OFL_OK && ofl_call_is_lapack(call)) {
        reason = check_results(call, plan, &info);
    }
    ofl_pipeline_end(&pipeline, reason == OFL_OK);
    if (reason == OFL_OK) {
        commit(call, plan);
        ofl_lane_clocks(started, ofl_clock() - begin, times);
    }
    if (reason == OFL_OK && call->info != NULL) {
        *call->info = info;
    }
    return reason;
}

/* Looks for operands that are on the device already, or will stay there.  Not among them are results of LAPACK, and
 * what has to be looked at while it is copied. */
static void take_copies(const struct ofl_started *started, const struct ofl_call *call, struct plan *plan)
{
    struct ofl_sight sight;
    for (int i = 0; i < call->operands; i++) {
        bool excluded = ofl_call_is_lapack(call) && (plan->written[i] || ofl_lapack_sight(call, i, &sight));
        if (plan->copy_of[i] < 0 && !excluded) {
            ofl_resident_take(started, &call->operand[i], plan->read[i], plan->written[i], &plan->grip[i]);
        }
    }
}

static void leave_copies(const struct ofl_started *started, const struct ofl_call *call, bool success,
                         struct plan *plan)
{
    for (int i = 0; i < call->operands; i++) {
        ofl_resident_leave(started, &call->operand[i], plan->written[i], success, &plan->grip[i]);
    }
}

/* What a product or triangular operation would be if it were larger than that. */
static struct ofl_large large_of(const struct ofl_started *started, const struct ofl_call *call,
                                 const struct plan *plan)
{
    struct ofl_large large = {.started = started,
                              .call = call,
                              .work_bytes = plan->work_bytes,
                              .host_work_bytes = plan->host_work_bytes,
                              .limit = ofl_memory_limit(started, call->operation)};
    memcpy(large.read, plan->read, sizeof large.read);
    memcpy(large.written, plan->written, sizeof large.written);
    return large;
}

static bool can_be_large(const struct ofl_started *started, const struct ofl_call *call, const struct plan *plan)
{
    struct ofl_large large = large_of(started, call, plan);
    return ofl_beyond_can(call->operation) || ofl_large_can(&large);
}

static enum ofl_reason run_large(const struct ofl_started *started, const struct ofl_call *call,
                                 const struct plan *plan, struct ofl_device_times *times)
{
    struct ofl_large large = large_of(started, call, plan);
    large.scratch = &lane->scratch;
    large.step = lane->step;
    return ofl_large_run(&large, times);
}

/* One call, on whatever thread has the stack for it. */
struct job {
    const struct ofl_call *call;
    struct ofl_lane *lane;
    struct ofl_device_times *times;
    enum ofl_reason reason;
};

static void job_errand(void *argument)
{
    struct job *job = argument;
    const struct ofl_started *started = job->lane->started;
    struct ofl_descriptors descriptors;
    struct plan plan;
    lane = job->lane;
    ofl_descriptors_fill(&descriptors);
    job->reason = make_plan(started, job->call, &plan);
    if (job->reason == OFL_OK) {
        job->reason = ofl_lapack_check_input(job->call);
    }
    if (job->reason == OFL_OK) {
        bool beyond = plan.device_bytes > ofl_memory_limit(started, job->call->operation);
        if (!beyond) {
            take_copies(started, job->call, &plan);
        }
        job->reason = reserve_all(job->call, &plan);
        if (job->reason == OFL_OK && !beyond) {
            job->reason = run_plan(started, job->call, &plan, job->times);
        } else if (job->reason == OFL_OK && ofl_beyond_can(job->call->operation)) {
            job->reason =
                ofl_beyond_run(&(struct ofl_beyond){started, job->call, &lane->scratch, lane->step}, job->times);
        } else if (job->reason == OFL_OK) {
            job->reason = run_large(started, job->call, &plan, job->times);
        }
        leave_copies(started, job->call, job->reason == OFL_OK, &plan);
    }
    if (job->reason == OFL_DEVICE_LOST) {
        ofl_device_lost();
    } else {
        ofl_scratch_trim(&lane->scratch, started);
    }
    ofl_descriptors_restore(&descriptors);
}

/* Whether the call is one of those that may run beside others.  LAPACK's may not: the device's library for it has one
 * state for all streams. */
static bool is_small(const struct ofl_call *call)
{
    enum { small_bytes = 64 << 20 };
    double bytes = ofl_call_is_lapack(call) ? small_bytes : 0;
    for (int i = 0; i < call->operands; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        bytes += (double)operand->rows * (double)operand->columns * (double)operand->element_size;
    }
    return bytes < small_bytes;
}

static enum ofl_reason run_in_a_lane(const struct ofl_call *call, struct ofl_device_times *times)
{
    struct job job = {call, ofl_lane_take(is_small(call), &times->wait), times, OFL_OK};
    if (job.lane == NULL) {
        return OFL_EXITING;
    }
    job.reason = ofl_device_state(); /* it may have been lost meanwhile */
    if (job.reason == OFL_OK && !ofl_with_large_stack(job_errand, &job)) {
        job.reason = OFL_HOST_MEMORY;
    }
    ofl_lane_leave(job.lane);
    return job.reason;
}

enum ofl_reason ofl_device_run(const struct ofl_call *call, struct ofl_device_times *times)
{
    struct ofl_device_times unwanted;
    int saved = errno, cancellable;
    times = times != NULL ? times : &unwanted;
    memset(times, 0, sizeof *times);
    enum ofl_reason reason = ofl_device_state();
    if (reason == OFL_OK && !ofl_device_is_ours()) {
        reason = OFL_FORKED;
    }
    if (reason == OFL_OK && inside) {
        reason = OFL_NESTED;
    }
    if (reason != OFL_OK) {
        return reason;
    }
    /* A thread that is cancelled in the middle would keep the turn for ever. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
    inside = true;
    reason = ofl_operation_prepare(ofl_started_device(), call->operation);
    if (reason == OFL_OK) {
        reason = run_in_a_lane(call, times);
    }
    inside = false;
    pthread_setcancelstate(cancellable, NULL);
    errno = saved;
    return reason;
}

enum ofl_reason ofl_device_supports(const struct ofl_call *call)
{
    uint64_t unwanted;
    return ofl_device_needs(call, &unwanted);
}

enum ofl_reason ofl_device_needs(const struct ofl_call *call, uint64_t *device_bytes)
{
    struct plan plan = {.device_bytes = 0};
    int saved = errno;
    enum ofl_reason reason = ofl_device_start();
    if (reason == OFL_OK) {
        reason = ofl_operation_prepare(ofl_started_device(), call->operation);
    }
    if (reason == OFL_OK) {
        reason = make_plan(ofl_started_device(), call, &plan);
    }
    if (reason == OFL_OK && plan.device_bytes > ofl_memory_limit(ofl_started_device(), call->operation)) {
        plan.device_bytes = ofl_memory_limit(ofl_started_device(), call->operation);
        reason = can_be_large(ofl_started_device(), call, &plan) ? OFL_OK : OFL_DEVICE_MEMORY;
    }
    *device_bytes = plan.device_bytes;
    errno = saved;
    return reason;
}

uint64_t ofl_execute_cached_bytes(void)
{
    return ofl_lanes_bytes() + ofl_resident_bytes();
}

void ofl_execute_after_fork(void)
{
    ofl_lanes_after_fork();
    ofl_pool_after_fork();
    ofl_resident_after_fork();
}
