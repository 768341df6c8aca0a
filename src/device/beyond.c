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
#include "device/pieces.h"
#include "device/pool.h"
#include "base/settings.h"

#include <stdatomic.h>
#include <string.h>

enum { alignment = 256, places = 2 };

/* Widths of panels. */
struct measure {
    int64_t narrowest, multiple;
};
static const struct measure usual = {256, 64};
static const struct measure for_tests = {2, 1}; /* the setting small_pieces */

/* Rows or columns begin to end - 1. */
struct range {
    int64_t begin, end;
};

struct work {
    struct ofl_beyond *beyond;
    const struct ofl_call *call;
    const struct ofl_buffer *matrix;
    bool lu, upper; /* upper: panels are block rows */
    int64_t length; /* of a panel, and the longer side of what is stored */
    int64_t side;   /* what the panels cut */
    int64_t steps;  /* pivots in all, LU */
    int64_t width;
    /* Device memory. */
    char *panel, *place[places], *scratch;
    int64_t *device_pivots;
    int32_t *device_info;
    size_t scratch_bytes, host_scratch_bytes;
    /* Host memory. */
    struct ofl_buffer factor;
    int64_t *pivots, *rows; /* rows: where the rows of the matrix, as they are now, came from */
    int32_t *info;
    void *host_scratch;
    struct ofl_sight sight;
    bool looks;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t length_of(struct range range)
{
    return range.end - range.begin;
}

static struct range panel_at(const struct work *work, int index)
{
    int64_t begin = index * work->width;
    return (struct range){begin, smaller(begin + work->width, work->side)};
}

static struct ofl_buffer block(const struct ofl_buffer *whole, struct range rows, struct range columns)
{
    struct ofl_buffer part = *whole;
    part.address = ofl_element(whole, rows.begin, columns.begin);
    part.rows = length_of(rows);
    part.columns = length_of(columns);
    part.region = OFL_GENERAL;
    return part;
}

/* ---- calls on device memory ---- */

static struct ofl_call call_of(const struct work *work, enum ofl_operation operation)
{
    struct ofl_call call = {.operation = operation, .precision = work->call->precision, .info = work->device_info};
    bool single = call.precision == OFL_S || call.precision == OFL_C;
    memset(&call.alpha, 0, sizeof call.alpha);
    call.beta = call.alpha;
    if (single) {
        call.alpha.s = -1;
        call.beta.s = 1;
    } else {
        call.alpha.d = -1;
        call.beta.d = 1;
    }
    return call;
}

static char adjoint(const struct work *work)
{
    return work->call->precision == OFL_C || work->call->precision == OFL_Z ? 'C' : 'T';
}

/* c -= op(a) op(b) */
static struct ofl_call product(const struct work *work, const struct ofl_buffer *a, char transa,
                               const struct ofl_buffer *b, char transb, const struct ofl_buffer *c)
{
    struct ofl_call call = call_of(work, OFL_OP_gemm);
    call.transa = transa;
    call.transb = transb;
    call.m = c->rows;
    call.n = c->columns;
    call.k = transa == 'N' ? a->columns : a->rows;
    call.operands = 3;
    call.operand[0] = *a;
    call.operand[1] = *b;
    call.operand[2] = *c;
    return call;
}

/* The stored triangle of c -= a a', or a' a. */
static struct ofl_call square(const struct work *work, const struct ofl_buffer *a, const struct ofl_buffer *c)
{
    bool complex_numbers = adjoint(work) == 'C';
    struct ofl_call call = call_of(work, complex_numbers ? OFL_OP_herk : OFL_OP_syrk);
    call.uplo = work->call->uplo;
    call.trans = work->upper ? adjoint(work) : 'N';
    call.n = c->rows;
    call.k = work->upper ? a->rows : a->columns;
    call.operands = 2;
    call.operand[0] = *a;
    call.operand[1] = *c;
    call.operand[1].region = work->upper ? OFL_UPPER : OFL_LOWER;
    return call;
}

/* b becomes a \ b or b / a. */
static struct ofl_call solve(const struct work *work, const struct ofl_buffer *a, const struct ofl_buffer *b)
{
    struct ofl_call call = call_of(work, OFL_OP_trsm);
    call.alpha = call.beta;
    call.side = work->lu || work->upper ? 'L' : 'R';
    call.uplo = work->lu ? 'L' : work->call->uplo;
    call.transa = work->lu ? 'N' : adjoint(work);
    call.diag = work->lu ? 'U' : 'N';
    call.m = b->rows;
    call.n = b->columns;
    call.operands = 2;
    call.operand[0] = *a;
    call.operand[0].region = call.uplo == 'U' ? OFL_UPPER : OFL_LOWER;
    call.operand[1] = *b;
    return call;
}

static struct ofl_call factor(const struct work *work, const struct ofl_buffer *a)
{
    struct ofl_call call = call_of(work, work->lu ? OFL_OP_getrf : OFL_OP_potrf);
    call.m = work->lu ? a->rows : 0;
    call.n = a->columns;
    call.uplo = work->call->uplo;
    call.operands = work->lu ? 2 : 1;
    call.operand[0] = *a;
    if (work->lu) {
        int64_t count = smaller(a->rows, a->columns);
        call.operand[1] =
            (struct ofl_buffer){work->device_pivots, count, 1, count, sizeof(int64_t), OFL_WRITE, OFL_PIVOTS};
    } else {
        call.operand[0].region = work->upper ? OFL_UPPER : OFL_LOWER;
    }
    return call;
}

/* ---- the steps of a panel ---- */

static void add_part(struct ofl_part *part, const struct ofl_buffer *host, enum ofl_region region,
                     const struct ofl_buffer *device)
{
    *part = (struct ofl_part){.host = *host, .device = device->address, .device_ld = device->ld};
    part->host.region = region;
}

/* A panel on the device: of LU all rows of its columns, else what is stored from its diagonal on. */
static struct ofl_buffer on_device(const struct work *work, char *address, struct range panel, int64_t from)
{
    int64_t length = work->length - from;
    struct ofl_buffer buffer = *work->matrix;
    buffer.address = address;
    buffer.rows = work->upper ? length_of(panel) : length;
    buffer.columns = work->upper ? length : length_of(panel);
    buffer.ld = buffer.rows;
    buffer.region = OFL_GENERAL;
    return buffer;
}

/* The same part of a matrix in host memory. */
static struct ofl_buffer on_host(const struct work *work, const struct ofl_buffer *matrix, struct range panel,
                                 int64_t from)
{
    struct range rest = {from, work->length};
    return work->upper ? block(matrix, panel, rest) : block(matrix, rest, panel);
}

/* Rows (columns of an upper factor) begin to end - 1 of a panel. */
static struct ofl_buffer slice(const struct work *work, const struct ofl_buffer *panel, int64_t begin, int64_t end)
{
    struct range some = {begin, end}, all = {0, work->upper ? panel->rows : panel->columns};
    return work->upper ? block(panel, all, some) : block(panel, some, all);
}

/* The panel's parts in host memory and on the device, to `parts`; their number. */
static int panel_parts(const struct work *work, const struct ofl_buffer *host, const struct ofl_buffer *device,
                       int64_t width, struct ofl_part *parts)
{
    if (work->lu) {
        add_part(&parts[0], host, OFL_GENERAL, device);
        return 1;
    }
    struct ofl_buffer there = slice(work, host, 0, width), here = slice(work, device, 0, width);
    int64_t length = work->upper ? host->columns : host->rows;
    add_part(&parts[0], &there, work->upper ? OFL_UPPER : OFL_LOWER, &here);
    if (length == width) {
        return 1;
    }
    there = slice(work, host, width, length);
    here = slice(work, device, width, length);
    add_part(&parts[1], &there, OFL_GENERAL, &here);
    return 2;
}

/* What panel `other` does to the panel. */
static void add_update(const struct work *work, const struct ofl_buffer *panel, struct range where,
                       const struct ofl_buffer *other, struct range from, struct ofl_step *step)
{
    int64_t length = work->upper ? panel->columns : panel->rows, width = length_of(where);
    if (work->lu) {
        int64_t end = smaller(from.end, work->steps), count = end - from.begin;
        struct range pivots = {0, count}, rest = {count, other->rows}, all = {0, panel->columns};
        struct ofl_buffer corner = block(other, pivots, pivots),
                          top = block(panel, (struct range){from.begin, end}, all);
        step->call[step->calls++] = solve(work, &corner, &top);
        if (end < length) {
            struct ofl_buffer left = block(other, rest, pivots), below = block(panel, (struct range){end, length}, all);
            step->call[step->calls++] = product(work, &left, 'N', &top, 'N', &below);
        }
        return;
    }
    struct ofl_buffer corner = slice(work, panel, 0, width), near = slice(work, other, 0, width);
    step->call[step->calls++] = square(work, &near, &corner);
    if (width < length) {
        struct ofl_buffer rest = slice(work, panel, width, length), far = slice(work, other, width, length);
        step->call[step->calls++] = work->upper ? product(work, &near, adjoint(work), &far, 'N', &rest)
                                                : product(work, &far, 'N', &near, adjoint(work), &rest);
    }
}

static void add_factorisation(const struct work *work, const struct ofl_buffer *panel, struct range where,
                              struct ofl_step *step)
{
    int64_t length = work->upper ? panel->columns : panel->rows, width = length_of(where);
    if (work->lu) {
        if (where.begin < work->steps) {
            struct ofl_buffer below = slice(work, panel, where.begin, length);
            step->call[step->calls++] = factor(work, &below);
        }
        return;
    }
    struct ofl_buffer corner = slice(work, panel, 0, width);
    step->call[step->calls++] = factor(work, &corner);
    if (width < length) {
        struct ofl_buffer rest = slice(work, panel, width, length);
        step->call[step->calls++] = solve(work, &corner, &rest);
    }
}

/* The panels before that have an effect on this one. */
static int panels_before(const struct work *work, int index)
{
    int with_pivots = (int)((work->steps + work->width - 1) / work->width);
    return work->lu && with_pivots < index ? with_pivots : index;
}

/* Fills the steps; their number. */
static int make_steps(struct work *work, int index)
{
    struct ofl_step *steps = work->beyond->step;
    struct range where = panel_at(work, index);
    int before = panels_before(work, index), count = before > 0 ? before : 1;
    int64_t from = work->lu ? 0 : where.begin, width = length_of(where);
    /* Of Cholesky the panel comes from the program's matrix; of LU its rows have been exchanged on the way to the
     * staging area. */
    struct ofl_buffer source = on_host(work, work->lu ? &work->factor : work->matrix, where, from);
    struct ofl_buffer target = on_host(work, &work->factor, where, from);
    struct ofl_buffer panel = on_device(work, work->panel, where, from);
    for (int i = 0; i < count; i++) {
        struct ofl_step *step = &steps[i];
        step->ins = step->calls = step->outs = 0;
        step->after = i >= places ? i - places + 1 : 0;
        if (i == 0) {
            step->ins = panel_parts(work, &source, &panel, width, step->in);
            step->in[0].sight = work->looks ? &work->sight : NULL;
        }
        if (i < before) {
            struct range other = panel_at(work, i);
            int64_t begin = work->lu ? other.begin : where.begin;
            struct ofl_buffer host = on_host(work, &work->factor, other, begin);
            struct ofl_buffer device = on_device(work, work->place[i % places], other, begin);
            add_part(&step->in[step->ins++], &host, OFL_GENERAL, &device);
            add_update(work, &panel, where, &device, other, step);
        }
    }
    struct ofl_step *last = &steps[count - 1];
    add_factorisation(work, &panel, where, last);
    last->outs = panel_parts(work, &target, &panel, width, last->out);
    for (int i = 0; i < last->outs; i++) {
        last->out[i].locked = work->beyond->scratch->host_is_locked;
    }
    return count;
}

/* ---- memory ---- */

/* Adds an aligned part to *total; its offset.  The sums stay far below overflow: see find_width. */
static size_t reserve(size_t bytes, size_t *total)
{
    size_t offset = *total;
    *total += (bytes + alignment - 1) / alignment * alignment;
    return offset;
}

/* The workspace that the steps' operations need at most. */
static enum ofl_reason add_workspace(const struct work *work, int count, size_t *device_bytes, size_t *host_bytes)
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
static size_t place_on_device(struct work *work, char *base)
{
    size_t bytes = (size_t)work->length * (size_t)work->width * work->matrix->element_size, total = 0;
    work->panel = base + reserve(bytes, &total);
    for (int i = 0; i < places; i++) {
        work->place[i] = base + reserve(bytes, &total);
    }
    work->device_pivots = (int64_t *)(void *)(base + reserve((size_t)work->width * sizeof(int64_t), &total));
    work->device_info = (int32_t *)(void *)(base + reserve(OFL_INFO_WORDS * sizeof(int32_t), &total));
    work->scratch = base + reserve(work->scratch_bytes, &total);
    return total;
}

/* The widest panels that fit. */
static enum ofl_reason find_width(struct work *work)
{
    const struct measure *measure = ofl_settings()->small_pieces ? &for_tests : &usual;
    char *nowhere = work->matrix->address; /* sizes do not depend on it */
    size_t column = (size_t)work->length * work->matrix->element_size, limit = work->beyond->limit;
    int64_t width = (int64_t)(limit / ((1 + places) * column));
    width = smaller(width, (work->side + 1) / 2) / measure->multiple * measure->multiple;
    for (; width >= measure->narrowest; width -= measure->multiple) {
        work->width = width;
        if ((work->side - 1) / width >= OFL_MOST_STEPS) {
            break;
        }
        work->scratch_bytes = work->host_scratch_bytes = 0;
        place_on_device(work, nowhere);
        enum ofl_reason reason = OFL_OK;
        for (int i = 0; i < 2 && reason == OFL_OK; i++) { /* the first factors most, the second updates most */
            reason = add_workspace(work, make_steps(work, i), &work->scratch_bytes, &work->host_scratch_bytes);
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

static enum ofl_reason get_memory(struct work *work)
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
    const struct work *work;
    struct range range;
    int64_t first_pivot, pivots;
    _Atomic int64_t next;
    void (*function)(const struct columns *columns, int64_t column);
};

static void take_columns(void *argument, int participant)
{
    struct columns *columns = argument;
    (void)participant;
    for (;;) {
        int64_t column = atomic_fetch_add(&columns->next, 1);
        if (column >= columns->range.end) {
            return;
        }
        columns->function(columns, column);
    }
}

static void for_columns(struct columns *columns)
{
    atomic_store(&columns->next, columns->range.begin);
    ofl_pool_run(take_columns, columns, ofl_pool_helpers());
}

/* A column of the matrix with the rows exchanged so far, to the staging area. */
static void stage_column(const struct columns *columns, int64_t column)
{
    const struct work *work = columns->work;
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
    const struct work *work = columns->work;
    size_t size = work->matrix->element_size;
    char *first = ofl_element(&work->factor, 0, column);
    for (int64_t i = columns->first_pivot; i < columns->first_pivot + columns->pivots; i++) {
        exchange(first + (size_t)i * size, first + (size_t)(work->pivots[i] - 1) * size, size);
    }
}

/* The new pivots count from the panel's diagonal; they become those of the matrix and reach what was before. */
static enum ofl_reason apply_pivots(struct work *work, struct range panel)
{
    struct columns columns = {.work = work,
                              .range = {0, panel.begin},
                              .first_pivot = panel.begin,
                              .pivots = smaller(panel.end, work->steps) - panel.begin,
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

static enum ofl_reason copy_plain(const struct work *work, bool in, void *host, void *device, size_t bytes)
{
    const struct ofl_started *started = work->beyond->started;
    return in ? started->backend->copy_in(started->device, started->stream, device, bytes, host, bytes, bytes, 1)
              : started->backend->copy_out(started->device, started->stream, host, bytes, device, bytes, bytes, 1);
}

/* Queues everything. */
static enum ofl_reason queue_panel(struct work *work, struct range panel, struct ofl_pipeline *pipeline)
{
    size_t info_bytes = OFL_INFO_WORDS * sizeof *work->info;
    int64_t pivots = work->lu ? smaller(panel.end, work->steps) - panel.begin : 0;
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

static enum ofl_reason run_panel(struct work *work, int index)
{
    struct ofl_beyond *beyond = work->beyond;
    struct range panel = panel_at(work, index);
    if (work->lu) {
        struct columns columns = {.work = work, .range = panel, .function = stage_column};
        for_columns(&columns);
    }
    struct ofl_pipeline pipeline = {.started = beyond->started,
                                    .steps = make_steps(work, index),
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
    beyond->bytes_in += pipeline.bytes_in;
    beyond->bytes_out += pipeline.bytes_out;
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

enum ofl_reason ofl_beyond_run(struct ofl_beyond *beyond)
{
    const struct ofl_buffer *matrix = &beyond->call->operand[0];
    struct work work = {.beyond = beyond, .call = beyond->call, .matrix = matrix};
    work.lu = beyond->call->operation == OFL_OP_getrf;
    work.upper = !work.lu && beyond->call->uplo == 'U';
    work.length = matrix->rows;
    work.side = matrix->columns;
    work.steps = work.lu ? smaller(matrix->rows, matrix->columns) : 0;
    work.looks = ofl_lapack_sight(beyond->call, 0, &work.sight);
    work.factor = *matrix; /* until there is memory */
    beyond->bytes_in = beyond->bytes_out = 0;
    enum ofl_reason reason = find_width(&work);
    if (reason == OFL_OK) {
        reason = get_memory(&work);
    }
    int panels = (int)((work.side - 1) / (work.width > 0 ? work.width : work.side)) + 1;
    for (int i = 0; i < panels && reason == OFL_OK; i++) {
        reason = run_panel(&work, i);
    }
    if (reason == OFL_OK && work.looks && !ofl_sight_is_good(&work.sight)) {
        reason = OFL_EXCEPTIONAL_VALUES;
    }
    beyond->factor = work.factor;
    beyond->pivots = work.pivots;
    return reason;
}
