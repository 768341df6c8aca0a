/* Factorisations of matrices that are larger than the device memory that a call may take.
 *
 * The matrix is cut into panels: block columns, or block rows for an upper Cholesky factor.  The factor grows
 * panel by panel in a staging area as large as the matrix, since the program's matrix must stay as it is
 * until everything has succeeded.  A panel is brought to the device, the panels before
 * it pass by one after the other, each updates it (left-looking: only one panel is
 * ever written), it is factored and goes out.  While one earlier panel updates, the
 * next one arrives: there are two places for them.
 *
 * LU exchanges rows of all of the matrix with each panel.  A panel that arrives gets the exchanges so far, and the
 * panels before get each new one, both by the host's threads in the staging area.
 *
 * A panel is one run of the pipeline.  Matrices that LAPACK treats in a way of its own
 * are left to the CPU library.  Entry point: ofl_beyond_run. */
#include "device/beyond.h"
#include "base/clock.h"
#include "base/settings.h"
#include "device/beyond_private.h"
#include "device/pieces.h"
#include "device/pool.h"

#include <stdatomic.h>
#include <string.h>

enum { alignment = 256 };

/* Widths of panels. */
struct measure {
    int64_t narrowest, multiple;
};
static const struct measure usual = {256, 64};
static const struct measure for_tests = {2, 1}; /* the setting small_pieces */

/* ---- memory ---- */

/* Adds an aligned part to *total; its offset.  The sums stay far below overflow: see find_width. */
static size_t reserve(size_t bytes, size_t *total)
{
    size_t offset = *total;
    *total += (bytes + alignment - 1) / alignment * alignment;
    return offset;
}

/* The workspace that the steps' operations need at most. */
static enum ofl_reason add_workspace(const struct ofl_beyond_work *work, int count, size_t *device_bytes,
                                     size_t *host_bytes)
{
    const struct ofl_started *started = work->beyond->started;
    for (int i = 0; i < count; i++) {
        const struct ofl_step *step = &work->beyond->step[i];
        for (int j = 0; j < step->calls; j++) {
            size_t bytes = 0, host = 0;
            enum ofl_reason reason = ofl_operation_prepare(started, step->call[j].operation);
            if (reason == OFL_OK) {
                reason = started->backend->operation_supports(started->device, &step->call[j]);
            }
            if (reason == OFL_OK) {
                reason = started->backend->operation_workspace(started->device, &step->call[j], &bytes, &host);
            }
            if (reason != OFL_OK) {
                return reason;
            }
            *device_bytes = bytes > *device_bytes ? bytes : *device_bytes;
            *host_bytes = host > *host_bytes ? host : *host_bytes;
        }
    }
    return OFL_OK;
}

/* Sets the device addresses for the width, relative to `base`; the bytes in all. */
static size_t place_on_device(struct ofl_beyond_work *work, char *base)
{
    size_t bytes = (size_t)work->length * (size_t)work->width * work->matrix->element_size, total = 0;
    work->panel = base + reserve(bytes, &total);
    for (int i = 0; i < OFL_BEYOND_PLACES; i++) {
        work->place[i] = base + reserve(bytes, &total);
    }
    work->device_pivots = (int64_t *)(void *)(base + reserve((size_t)work->width * sizeof(int64_t), &total));
    work->device_info = (int32_t *)(void *)(base + reserve(OFL_INFO_WORDS * sizeof(int32_t), &total));
    work->scratch = base + reserve(work->scratch_bytes, &total);
    return total;
}

size_t ofl_memory_limit(const struct ofl_started *started, enum ofl_operation operation)
{
    uint64_t limit = (uint64_t)ofl_settings()->device_memory, there = started->properties.memory_bytes;
    if (limit == 0 && ofl_beyond_can(operation)) {
        limit = there / 2;
    }
    return (size_t)(limit > 0 && limit < there ? limit : there);
}

/* Where nobody has set a limit it is at most what nobody else has, but for a little that nobody counts. */
static size_t usable_memory(const struct ofl_beyond *beyond)
{
    const struct ofl_started *started = beyond->started;
    size_t limit = ofl_memory_limit(started, beyond->call->operation);
    struct ofl_device_load load;
    if (ofl_settings()->device_memory <= 0 && started->backend->load(started->device, &load) == OFL_OK) {
        uint64_t unused = (load.memory_free + beyond->scratch->device_bytes) / 16 * 15;
        limit = unused < limit ? (size_t)unused : limit;
    }
    return limit;
}

/* The widest panels that fit. */
static enum ofl_reason find_width(struct ofl_beyond_work *work)
{
    const struct measure *measure = ofl_settings()->small_pieces ? &for_tests : &usual;
    char *nowhere = work->matrix->address; /* sizes do not depend on it */
    size_t column = (size_t)work->length * work->matrix->element_size, limit = usable_memory(work->beyond);
    int64_t width = (int64_t)(limit / ((1 + OFL_BEYOND_PLACES) * column));
    width = ofl_smaller(width, (work->side + 1) / 2) / measure->multiple * measure->multiple;
    for (; width >= measure->narrowest; width -= measure->multiple) {
        work->width = width;
        if (((work->lu ? work->steps : work->side) - 1) / width >= OFL_MOST_STEPS) {
            break; /* more panels than may pass by */
        }
        work->scratch_bytes = work->host_scratch_bytes = 0;
        place_on_device(work, nowhere);
        enum ofl_reason reason = OFL_OK;
        for (int i = 0; i < 2 && reason == OFL_OK; i++) { /* the first factors most, the second updates most */
            reason = add_workspace(work, ofl_beyond_steps(work, i), &work->scratch_bytes, &work->host_scratch_bytes);
        }
        if (reason != OFL_OK) {
            return reason;
        }
        if (work->scratch_bytes < limit && place_on_device(work, nowhere) <= limit) {
            return OFL_OK;
        }
    }
    return OFL_DEVICE_MEMORY;
}

static enum ofl_reason get_memory(struct ofl_beyond_work *work)
{
    struct ofl_scratch *scratch = work->beyond->scratch;
    size_t size = work->matrix->element_size, bytes, total = 0;
    if (__builtin_mul_overflow((size_t)work->matrix->rows, (size_t)work->matrix->columns, &bytes) ||
        bytes > SIZE_MAX / (2 * size)) {
        return OFL_TOO_LARGE;
    }
    size_t pivots = reserve((size_t)work->steps * sizeof(int64_t), &total);
    size_t rows = reserve((size_t)work->length * sizeof(int64_t), &total);
    size_t info = reserve(OFL_INFO_WORDS * sizeof(int32_t), &total);
    size_t host_scratch = reserve(work->host_scratch_bytes, &total);
    size_t factor_at = reserve(bytes * size, &total);
    enum ofl_reason reason =
        ofl_scratch_device(scratch, work->beyond->started, place_on_device(work, work->matrix->address));
    if (reason == OFL_OK) {
        reason = ofl_scratch_host(scratch, work->beyond->started, total);
    }
    if (reason != OFL_OK) {
        return reason;
    }
    place_on_device(work, scratch->device);
    char *host = scratch->host;
    work->pivots = (int64_t *)(void *)(host + pivots);
    work->rows = (int64_t *)(void *)(host + rows);
    work->info = (int32_t *)(void *)(host + info);
    work->host_scratch = host + host_scratch;
    work->factor = *work->matrix;
    work->factor.address = host + factor_at;
    work->factor.ld = work->factor.rows;
    for (int64_t i = 0; i < work->length; i++) {
        work->rows[i] = i;
    }
    return OFL_OK;
}

/* ---- rows of LU ---- */

/* Work on columns by several threads. */
struct columns {
    const struct ofl_beyond_work *work;
    struct ofl_range range;
    int64_t first_pivot, pivots;
    _Atomic int64_t next;
    void (*function)(const struct columns *columns, int64_t column);
};

static bool take_column(void *argument)
{
    struct columns *columns = argument;
    int64_t column = atomic_fetch_add(&columns->next, 1);
    if (column >= columns->range.end) {
        return false;
    }
    columns->function(columns, column);
    return true;
}

static void for_columns(struct columns *columns)
{
    atomic_store(&columns->next, columns->range.begin);
    ofl_pool_share(take_column, columns, ofl_pool_helpers());
}

/* A column of the matrix with the rows exchanged so far, to the staging area. */
static void stage_column(const struct columns *columns, int64_t column)
{
    const struct ofl_beyond_work *work = columns->work;
    size_t size = work->matrix->element_size;
    const char *from = ofl_element(work->matrix, 0, column);
    char *to = ofl_element(&work->factor, 0, column);
    for (int64_t i = 0; i < work->length; i++, to += size) {
        memcpy(to, from + (size_t)work->rows[i] * size, size);
    }
}

static void exchange(char *a, char *b, size_t size)
{
    char kept[16];
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

static void exchange_column(const struct columns *columns, int64_t column)
{
    const struct ofl_beyond_work *work = columns->work;
    size_t size = work->matrix->element_size;
    char *first = ofl_element(&work->factor, 0, column);
    for (int64_t i = columns->first_pivot; i < columns->first_pivot + columns->pivots; i++) {
        exchange(first + (size_t)i * size, first + (size_t)(work->pivots[i] - 1) * size, size);
    }
}

/* The new pivots count from the panel's diagonal; they become those of the matrix and reach what was before. */
static enum ofl_reason apply_pivots(struct ofl_beyond_work *work, struct ofl_range panel)
{
    struct columns columns = {.work = work,
                              .range = {0, panel.begin},
                              .first_pivot = panel.begin,
                              .pivots = ofl_smaller(panel.end, work->steps) - panel.begin,
                              .function = exchange_column};
    for (int64_t i = panel.begin; i < panel.begin + columns.pivots; i++) {
        int64_t row = work->pivots[i] + panel.begin;
        if (work->pivots[i] < 1 || row > work->length) {
            return OFL_OPERATION_FAILED;
        }
        work->pivots[i] = row;
        exchange((char *)&work->rows[i], (char *)&work->rows[row - 1], sizeof *work->rows);
    }
    for_columns(&columns);
    return OFL_OK;
}

/* ---- panel by panel ---- */

static enum ofl_reason copy_plain(const struct ofl_beyond_work *work, bool in, void *host, void *device, size_t bytes)
{
    const struct ofl_started *started = work->beyond->started;
    return in ? started->backend->copy_in(started->device, started->stream, device, bytes, host, bytes, bytes, 1)
              : started->backend->copy_out(started->device, started->stream, host, bytes, device, bytes, bytes, 1);
}

/* Queues everything. */
static enum ofl_reason queue_panel(struct ofl_beyond_work *work, struct ofl_range panel, struct ofl_pipeline *pipeline)
{
    size_t info_bytes = OFL_INFO_WORDS * sizeof *work->info;
    int64_t pivots = work->lu ? ofl_smaller(panel.end, work->steps) - panel.begin : 0;
    memset(work->info, 0, info_bytes);
    enum ofl_reason reason = copy_plain(work, true, work->info, work->device_info, info_bytes);
    if (reason == OFL_OK) {
        reason = ofl_pipeline_run(pipeline);
    }
    if (reason == OFL_OK) {
        reason = copy_plain(work, false, work->info, work->device_info, info_bytes);
    }
    if (reason == OFL_OK && pivots > 0) {
        reason = copy_plain(work, false, work->pivots + panel.begin, work->device_pivots,
                            (size_t)pivots * sizeof *work->pivots);
    }
    return reason;
}

static enum ofl_reason run_panel(struct ofl_beyond_work *work, int index)
{
    const struct ofl_beyond *beyond = work->beyond;
    struct ofl_range panel = ofl_beyond_panel(work, index);
    if (work->lu) {
        struct columns columns = {.work = work, .range = panel, .function = stage_column};
        for_columns(&columns);
    }
    struct ofl_pipeline pipeline = {.started = beyond->started,
                                    .steps = ofl_beyond_steps(work, index),
                                    .step = beyond->step,
                                    .scratch = work->scratch,
                                    .scratch_bytes = work->scratch_bytes,
                                    .host_scratch = work->host_scratch,
                                    .host_scratch_bytes = work->host_scratch_bytes};
    size_t bytes = 0, host_bytes = 0;
    enum ofl_reason reason = add_workspace(work, pipeline.steps, &bytes, &host_bytes);
    if (reason == OFL_OK && (bytes > work->scratch_bytes || host_bytes > work->host_scratch_bytes)) {
        reason = OFL_DEVICE_MEMORY;
    }
    if (reason != OFL_OK) {
        return reason;
    }
    reason = queue_panel(work, panel, &pipeline);
    enum ofl_reason drained = ofl_drain(beyond->started, true); /* also after a failure */
    work->bytes_in += pipeline.bytes_in;
    work->bytes_out += pipeline.bytes_out;
    reason = reason == OFL_OK ? drained : reason;
    for (int i = 0; i < OFL_INFO_WORDS && reason == OFL_OK; i++) {
        reason = work->info[i] == 0 ? OFL_OK : OFL_EXCEPTIONAL_VALUES;
    }
    return reason == OFL_OK && work->lu && panel.begin < work->steps ? apply_pivots(work, panel) : reason;
}

bool ofl_beyond_can(enum ofl_operation operation)
{
    return operation == OFL_OP_getrf || operation == OFL_OP_potrf;
}

/* Computes the factor in the staging area; nothing is written to the program's memory, and nothing is under way any
 * more. */
static enum ofl_reason factor_all(const struct ofl_beyond *beyond, struct ofl_beyond_work *work)
{
    const struct ofl_buffer *matrix = &beyond->call->operand[0];
    *work = (struct ofl_beyond_work){.beyond = beyond, .call = beyond->call, .matrix = matrix};
    work->lu = beyond->call->operation == OFL_OP_getrf;
    work->upper = !work->lu && beyond->call->uplo == 'U';
    work->length = matrix->rows;
    work->side = matrix->columns;
    work->steps = work->lu ? ofl_smaller(matrix->rows, matrix->columns) : 0;
    work->looks = ofl_lapack_sight(beyond->call, 0, &work->sight);
    work->factor = *matrix; /* until there is memory */
    enum ofl_reason reason = find_width(work);
    if (reason == OFL_OK) {
        reason = get_memory(work);
    }
    int panels = reason == OFL_OK ? (int)((work->side - 1) / work->width) + 1 : 0;
    for (int i = 0; i < panels && reason == OFL_OK; i++) {
        reason = run_panel(work, i);
    }
    if (reason == OFL_OK && work->looks && !ofl_sight_is_good(&work->sight)) {
        reason = OFL_EXCEPTIONAL_VALUES;
    }
    return reason == OFL_OK ? ofl_lapack_check_factor(beyond->call, work->factor.address) : reason;
}

enum ofl_reason ofl_beyond_run(const struct ofl_beyond *beyond, struct ofl_device_times *times)
{
    const struct ofl_call *call = beyond->call;
    struct ofl_beyond_work work;
    if (!ofl_beyond_can(call->operation)) {
        return OFL_DEVICE_MEMORY;
    }
    double begin = ofl_clock();
    enum ofl_reason reason = factor_all(beyond, &work);
    times->compute = ofl_clock() - begin; /* and the copies meanwhile */
    times->bytes_in = work.bytes_in;
    times->bytes_out = work.bytes_out;
    if (reason == OFL_OK) {
        ofl_host_scatter(&call->operand[0], work.factor.address, (size_t)work.factor.ld * work.factor.element_size);
        if (work.lu) {
            ofl_pivots_commit(&call->operand[1], work.pivots);
        }
        if (call->info != NULL) {
            *call->info = 0;
        }
        times->copy_out = ofl_clock() - begin - times->compute;
    }
    return reason;
}
