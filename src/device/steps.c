/* The steps that a call may be cut into: what each copies in, computes, and copies out. */
#include "device/steps.h"
#include "device/pieces.h"

#include <string.h>

static int64_t length(struct ofl_panel panel)
{
    return panel.end - panel.begin;
}

/* A rectangle of an operand in any of its places. */
static struct ofl_buffer rectangle(const struct ofl_buffer *whole, struct ofl_panel rows, struct ofl_panel columns)
{
    struct ofl_buffer part = *whole;
    part.address = ofl_element(whole, rows.begin, columns.begin);
    part.rows = length(rows);
    part.columns = length(columns);
    return part;
}

static struct ofl_panel all_rows(const struct ofl_buffer *buffer)
{
    return (struct ofl_panel){0, buffer->rows};
}

static struct ofl_panel all_columns(const struct ofl_buffer *buffer)
{
    return (struct ofl_panel){0, buffer->columns};
}

/* Where the rectangle's old numbers are kept, if anywhere. */
static void set_undo(const struct ofl_layout *layout, int operand, struct ofl_panel rows, struct ofl_panel columns,
                     struct ofl_part *part)
{
    part->undo_pitch = (size_t)layout->call->operand[operand].rows * part->host.element_size;
    if (layout->undo[operand] != NULL) {
        part->undo = layout->undo[operand] + (size_t)rows.begin * part->host.element_size +
                     (size_t)columns.begin * part->undo_pitch;
    }
}

/* Adds the copy in of a rectangle, unless it is not read or is there already. */
static void add_in(const struct ofl_layout *layout, struct ofl_step *step, int operand, struct ofl_panel rows,
                   struct ofl_panel columns, enum ofl_region region)
{
    const struct ofl_buffer *device = &layout->device->operand[operand];
    if (!layout->read[operand] || layout->copy_of[operand] >= 0 || layout->only[operand] != NULL || length(rows) < 1 ||
        length(columns) < 1) {
        return;
    }
    struct ofl_part *part = &step->in[step->ins++];
    *part = (struct ofl_part){.host = rectangle(&layout->call->operand[operand], rows, columns),
                              .device = ofl_element(device, rows.begin, columns.begin),
                              .device_ld = device->ld,
                              .sight = layout->sight[operand]};
    part->host.region = region;
    set_undo(layout, operand, rows, columns, part);
}

void ofl_step_add_selected(const struct ofl_layout *layout, struct ofl_step *step)
{
    for (int i = 0; i < layout->call->operands; i++) {
        const struct ofl_selection *only = layout->only[i];
        if (layout->read[i] && layout->copy_of[i] < 0 && only != NULL && only->count > 0) {
            struct ofl_part *part = &step->in[step->ins++];
            *part = (struct ofl_part){.host = only->view,
                                      .device = layout->device->operand[i].address,
                                      .device_ld =
                                          only->view.columns == 1 ? only->view.rows : layout->device->operand[i].ld,
                                      .only = only};
        }
    }
}

static void add_out(const struct ofl_layout *layout, struct ofl_step *step, int operand, struct ofl_panel rows,
                    struct ofl_panel columns, enum ofl_region region)
{
    const struct ofl_buffer *device = &layout->device->operand[operand];
    if (!layout->written[operand] || length(rows) < 1 || length(columns) < 1) {
        return;
    }
    struct ofl_part *part = &step->out[step->outs++];
    *part = (struct ofl_part){.host = rectangle(&layout->target[operand], rows, columns),
                              .device = ofl_element(device, rows.begin, columns.begin),
                              .device_ld = device->ld,
                              .locked = layout->locked[operand]};
    part->host.region = region;
    if (layout->only[operand] != NULL) { /* else it was kept while it was copied in */
        set_undo(layout, operand, rows, columns, part);
    }
}

static void add_whole(const struct ofl_layout *layout, struct ofl_step *step, int operand)
{
    const struct ofl_buffer *host = &layout->call->operand[operand];
    add_in(layout, step, operand, all_rows(host), all_columns(host), host->region);
}

/* Steps are used again and again. */
static void begin_step(struct ofl_step *step)
{
    step->ins = step->calls = step->outs = step->after = step->after_results = 0;
}

void ofl_whole(const struct ofl_layout *layout, struct ofl_step *step)
{
    begin_step(step);
    for (int i = 0; i < layout->call->operands; i++) {
        const struct ofl_buffer *host = &layout->call->operand[i];
        if (host->region != OFL_PIVOTS) { /* those are converted */
            add_whole(layout, step, i);
            add_out(layout, step, i, all_rows(host), all_columns(host), host->region);
        }
    }
    ofl_step_add_selected(layout, step);
    step->calls = 1;
    step->call[0] = *layout->device;
}

bool ofl_division_cuts_columns(const struct ofl_call *call, const struct ofl_division *division, int operand)
{
    if (call->operation == OFL_OP_gemm && operand == 0) {
        return call->transa != 'N';
    }
    if (call->operation == OFL_OP_gemm && operand == 1) {
        return call->transb == 'N';
    }
    return division->columns;
}

/* Where a panel of an operand lies on the device. */
static struct ofl_buffer device_panel(const struct ofl_layout *layout, int operand, struct ofl_panel rows,
                                      struct ofl_panel columns, int index)
{
    const struct ofl_buffer *whole = &layout->device->operand[operand];
    struct ofl_buffer panel = rectangle(whole, rows, columns);
    if (layout->ring != NULL) {
        bool cut = ofl_ring_cuts_columns(layout->call, layout->ring, operand);
        int64_t longest = cut ? panel.rows * layout->ring->width : panel.columns * layout->ring->width;
        panel.address =
            (char *)whole->address + (size_t)(index % OFL_RING_PLACES) * (size_t)longest * whole->element_size;
        panel.ld = panel.rows;
    }
    return panel;
}

void ofl_step_panel(const struct ofl_layout *layout, const struct ofl_division *division, struct ofl_panel panel,
                    int index, struct ofl_step *step)
{
    const struct ofl_call *call = layout->call;
    begin_step(step);
    if (layout->ring != NULL && index >= OFL_RING_PLACES) {
        step->after_results = index - OFL_RING_PLACES + 1;
    }
    step->calls = 1;
    step->call[0] = *layout->device;
    if (index == 0) {
        add_whole(layout, step, division->shared);
    }
    for (int i = 0; i < call->operands; i++) {
        const struct ofl_buffer *host = &call->operand[i];
        if (i == division->shared) {
            continue;
        }
        bool columns = ofl_division_cuts_columns(call, division, i);
        struct ofl_panel r = columns ? all_rows(host) : panel, c = columns ? panel : all_columns(host);
        int ins = step->ins, outs = step->outs;
        add_in(layout, step, i, r, c, OFL_GENERAL);
        add_out(layout, step, i, r, c, OFL_GENERAL);
        struct ofl_buffer device = device_panel(layout, i, r, c, index);
        if (step->ins > ins) {
            step->in[ins].device = device.address;
            step->in[ins].device_ld = device.ld;
        }
        if (step->outs > outs) {
            step->out[outs].device = device.address;
            step->out[outs].device_ld = device.ld;
        }
        step->call[0].operand[i] = device;
    }
    *(division->columns ? &step->call[0].n : &step->call[0].m) = length(panel);
}

/* Rows `range` of op(A): rows of A, or its columns where it is transposed. */
static struct ofl_buffer rows_of(char trans, const struct ofl_buffer *operand, struct ofl_panel range)
{
    return trans == 'N' ? rectangle(operand, range, all_columns(operand))
                        : rectangle(operand, all_rows(operand), range);
}

/* The same of columns. */
static struct ofl_buffer columns_of(char trans, const struct ofl_buffer *operand, struct ofl_panel range)
{
    return rows_of(trans == 'N' ? 'T' : 'N', operand, range);
}

/* A block of a product. */
static void add_block(const struct ofl_call *whole, struct ofl_panel rows, struct ofl_panel columns,
                      struct ofl_step *step)
{
    if (length(rows) > 0 && length(columns) > 0) {
        struct ofl_call *block = &step->call[step->calls++];
        *block = *whole;
        block->m = length(rows);
        block->n = length(columns);
        block->operand[0] = rows_of(whole->transa, &whole->operand[0], rows);
        block->operand[1] = columns_of(whole->transb, &whole->operand[1], columns);
        block->operand[2] = rectangle(&whole->operand[2], rows, columns);
    }
}

void ofl_step_corner(const struct ofl_layout *layout, struct ofl_panel rows, struct ofl_panel columns,
                     struct ofl_step *step)
{
    const struct ofl_call *call = layout->call;
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1];
    struct ofl_panel above = {0, rows.begin}, until = {0, columns.end};
    begin_step(step);
    if (call->transa == 'N') {
        add_in(layout, step, 0, rows, all_columns(a), OFL_GENERAL);
    } else {
        add_in(layout, step, 0, all_rows(a), rows, OFL_GENERAL);
    }
    if (call->transb == 'N') {
        add_in(layout, step, 1, all_rows(b), columns, OFL_GENERAL);
    } else {
        add_in(layout, step, 1, columns, all_columns(b), OFL_GENERAL);
    }
    add_in(layout, step, 2, above, columns, OFL_GENERAL);
    add_in(layout, step, 2, rows, until, OFL_GENERAL);
    add_block(layout->device, above, columns, step);
    add_block(layout->device, rows, until, step);
    add_out(layout, step, 2, above, columns, OFL_GENERAL);
    add_out(layout, step, 2, rows, until, OFL_GENERAL);
}

static void make_real_scalar_complex(enum ofl_precision precision, union ofl_scalar *scalar)
{
    if (precision == OFL_C) {
        scalar->c[1] = 0;
    } else if (precision == OFL_Z) {
        scalar->z[1] = 0;
    }
}

static void conjugate(enum ofl_precision precision, union ofl_scalar *scalar)
{
    if (precision == OFL_C) {
        scalar->c[1] = -scalar->c[1];
    } else if (precision == OFL_Z) {
        scalar->z[1] = -scalar->z[1];
    }
}

static union ofl_scalar one(enum ofl_precision precision)
{
    union ofl_scalar scalar;
    memset(&scalar, 0, sizeof scalar);
    if (precision == OFL_S || precision == OFL_C) {
        scalar.s = 1;
    } else {
        scalar.d = 1;
    }
    return scalar;
}

/* The block `rows` x `columns` of a rank-k update beside its diagonal: op(A) rows times op(B) columns, transposed;
 * for a rank-2k update also with A and B exchanged. */
static void add_products(const struct ofl_call *whole, struct ofl_panel rows, struct ofl_panel columns,
                         struct ofl_step *step)
{
    bool hermitian = whole->operation == OFL_OP_herk || whole->operation == OFL_OP_her2k;
    bool two = whole->operands == 3;
    const struct ofl_buffer *result = &whole->operand[whole->operands - 1];
    struct ofl_call product = {.operation = OFL_OP_gemm,
                               .precision = whole->precision,
                               .transa = whole->trans == 'N' ? 'N' : whole->trans,
                               .transb = whole->trans == 'N' ? (hermitian ? 'C' : 'T') : 'N',
                               .m = length(rows),
                               .n = length(columns),
                               .k = whole->k,
                               .alpha = whole->alpha,
                               .beta = whole->beta,
                               .operands = 3};
    if (whole->operation == OFL_OP_herk) {
        make_real_scalar_complex(whole->precision, &product.alpha);
    }
    if (hermitian) {
        make_real_scalar_complex(whole->precision, &product.beta);
    }
    product.operand[2] = rectangle(result, rows, columns);
    product.operand[2].region = OFL_GENERAL;
    for (int i = 0; i < (two ? 2 : 1); i++) {
        product.operand[0] = rows_of(whole->trans, &whole->operand[i], rows);
        product.operand[1] = rows_of(whole->trans, &whole->operand[two ? 1 - i : 0], columns);
        step->call[step->calls++] = product;
        product.beta = one(whole->precision);
        if (hermitian) {
            conjugate(whole->precision, &product.alpha);
        }
    }
}

void ofl_step_update(const struct ofl_layout *layout, struct ofl_panel panel, struct ofl_step *step)
{
    const struct ofl_call *call = layout->call, *device = layout->device;
    int result = call->operands - 1;
    struct ofl_panel rest = call->uplo == 'U' ? (struct ofl_panel){0, panel.begin}
                                              : (struct ofl_panel){panel.end, call->operand[result].rows};
    begin_step(step);
    for (int i = 0; i < result; i++) {
        const struct ofl_buffer *host = &call->operand[i];
        add_in(layout, step, i, call->trans == 'N' ? panel : all_rows(host),
               call->trans == 'N' ? all_columns(host) : panel, OFL_GENERAL);
    }
    enum ofl_region region = call->operand[result].region;
    add_in(layout, step, result, panel, panel, region);
    add_in(layout, step, result, rest, panel, OFL_GENERAL);
    add_out(layout, step, result, panel, panel, region);
    add_out(layout, step, result, rest, panel, OFL_GENERAL);
    struct ofl_call *diagonal = &step->call[step->calls++];
    *diagonal = *device;
    diagonal->n = length(panel);
    for (int i = 0; i < result; i++) {
        diagonal->operand[i] = rows_of(device->trans, &device->operand[i], panel);
    }
    diagonal->operand[result] = rectangle(&device->operand[result], panel, panel);
    if (length(rest) > 0) {
        add_products(device, rest, panel, step);
    }
}
