/* The steps of a panel of a factorisation that does not fit into the device's memory.
 *
 * A panel on the device is a compact rectangle: of LU all rows of its columns, of Cholesky what is stored from its
 * diagonal on.  Each step brings a panel before it and updates the panel with it; the first one also brings the
 * panel, the last one also factors it and sends it out.  Panels before it come to two places in turn, so the copies
 * of a step wait for the operations of the step before the last one.  Pure functions of the geometry but for asking
 * whether the staging area is page-locked.  Entry point: ofl_beyond_steps. */
#include "device/beyond_private.h"
#include "device/pieces.h"

#include <string.h>

static int64_t length_of(struct ofl_range range)
{
    return range.end - range.begin;
}

struct ofl_range ofl_beyond_panel(const struct ofl_beyond_work *work, int index)
{
    int64_t begin = index * work->width;
    return (struct ofl_range){begin, ofl_smaller(begin + work->width, work->side)};
}

static struct ofl_buffer block(const struct ofl_buffer *whole, struct ofl_range rows, struct ofl_range columns)
{
    struct ofl_buffer part = *whole;
    part.address = ofl_element(whole, rows.begin, columns.begin);
    part.rows = length_of(rows);
    part.columns = length_of(columns);
    part.region = OFL_GENERAL;
    return part;
}

/* ---- calls on device memory ---- */

static struct ofl_call call_of(const struct ofl_beyond_work *work, enum ofl_operation operation)
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

static char adjoint(const struct ofl_beyond_work *work)
{
    return work->call->precision == OFL_C || work->call->precision == OFL_Z ? 'C' : 'T';
}

/* c -= op(a) op(b) */
static struct ofl_call product(const struct ofl_beyond_work *work, const struct ofl_buffer *a, char transa,
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
static struct ofl_call square(const struct ofl_beyond_work *work, const struct ofl_buffer *a,
                              const struct ofl_buffer *c)
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
static struct ofl_call solve(const struct ofl_beyond_work *work, const struct ofl_buffer *a, const struct ofl_buffer *b)
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

static struct ofl_call factor(const struct ofl_beyond_work *work, const struct ofl_buffer *a)
{
    struct ofl_call call = call_of(work, work->lu ? OFL_OP_getrf : OFL_OP_potrf);
    call.m = work->lu ? a->rows : 0;
    call.n = a->columns;
    call.uplo = work->call->uplo;
    call.operands = work->lu ? 2 : 1;
    call.operand[0] = *a;
    if (work->lu) {
        int64_t count = ofl_smaller(a->rows, a->columns);
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
static struct ofl_buffer on_device(const struct ofl_beyond_work *work, char *address, struct ofl_range panel,
                                   int64_t from)
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
static struct ofl_buffer on_host(const struct ofl_beyond_work *work, const struct ofl_buffer *matrix,
                                 struct ofl_range panel, int64_t from)
{
    struct ofl_range rest = {from, work->length};
    return work->upper ? block(matrix, panel, rest) : block(matrix, rest, panel);
}

/* Rows (columns of an upper factor) begin to end - 1 of a panel. */
static struct ofl_buffer slice(const struct ofl_beyond_work *work, const struct ofl_buffer *panel, int64_t begin,
                               int64_t end)
{
    struct ofl_range some = {begin, end}, all = {0, work->upper ? panel->rows : panel->columns};
    return work->upper ? block(panel, all, some) : block(panel, some, all);
}

/* The panel's parts in host memory and on the device, to `parts`; their number. */
static int panel_parts(const struct ofl_beyond_work *work, const struct ofl_buffer *host,
                       const struct ofl_buffer *device, int64_t width, struct ofl_part *parts)
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
static void add_update(const struct ofl_beyond_work *work, const struct ofl_buffer *panel, struct ofl_range where,
                       const struct ofl_buffer *other, struct ofl_range from, struct ofl_step *step)
{
    int64_t length = work->upper ? panel->columns : panel->rows, width = length_of(where);
    if (work->lu) {
        int64_t end = ofl_smaller(from.end, work->steps), count = end - from.begin;
        struct ofl_range pivots = {0, count}, rest = {count, other->rows}, all = {0, panel->columns};
        struct ofl_buffer corner = block(other, pivots, pivots),
                          top = block(panel, (struct ofl_range){from.begin, end}, all);
        step->call[step->calls++] = solve(work, &corner, &top);
        if (end < length) {
            struct ofl_buffer left = block(other, rest, pivots),
                              below = block(panel, (struct ofl_range){end, length}, all);
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

static void add_factorisation(const struct ofl_beyond_work *work, const struct ofl_buffer *panel,
                              struct ofl_range where, struct ofl_step *step)
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
static int panels_before(const struct ofl_beyond_work *work, int index)
{
    int with_pivots = (int)((work->steps + work->width - 1) / work->width);
    return work->lu && with_pivots < index ? with_pivots : index;
}

int ofl_beyond_steps(struct ofl_beyond_work *work, int index)
{
    struct ofl_step *steps = work->beyond->step;
    struct ofl_range where = ofl_beyond_panel(work, index);
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
        step->after = i >= OFL_BEYOND_PLACES ? i - OFL_BEYOND_PLACES + 1 : 0;
        if (i == 0) {
            step->ins = panel_parts(work, &source, &panel, width, step->in);
            step->in[0].sight = work->looks ? &work->sight : NULL;
        }
        if (i < before) {
            struct ofl_range other = ofl_beyond_panel(work, i);
            int64_t begin = work->lu ? other.begin : where.begin;
            struct ofl_buffer host = on_host(work, &work->factor, other, begin);
            struct ofl_buffer device = on_device(work, work->place[i % OFL_BEYOND_PLACES], other, begin);
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
