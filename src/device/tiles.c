/* Cutting a call into steps whose copies and operations can overlap.
 *
 * The result is cut into panels of columns or rows.  One operand may be needed by
 * all panels: it arrives with the first one.  The others arrive in panels, each with
 * the step that needs it, so that a panel's operation runs while the next one
 * arrives and the one before leaves.  Where both operands of a product have to be copied,
 * none waits for the whole of the other: with a step arrive some rows of A and some columns of B, and it computes the
 * corner of the result that these add to the square of the steps before.  For a rank-k update of a triangle a step adds
 * the rows of A (and B) that its columns need besides those that are there already: for an upper triangle from the
 * left, for a lower one from the right.  Its diagonal block is a rank-k update of its own, the rest of its columns is a
 * product. Every element of the result is computed by one step from the same numbers as in the whole call; only the
 * order of summation may differ. */
#include "device/tiles.h"
#include "device/pieces.h"
#include "base/settings.h"

#include <string.h>

enum { most_panels = 16 };

/* When panels pay, and how wide they are: a device needs wide ones to compute at full speed. */
struct measure {
    double worth_bytes, bytes_of_panel; /* of all operands */
    int64_t narrowest, multiple;
};

#include <stdlib.h>
static struct measure usual = {20e6, 8e6, 256, 64};
__attribute__((constructor)) static void set(void)
{
    const char *t = getenv("OFL_TILES");
    double a, b;
    long n;
    extern int sscanf(const char *, const char *, ...);
    if (t && sscanf(t, "%lf,%lf,%ld", &a, &b, &n) == 3)
        usual = (struct measure){a, b, n, 64};
}
static const struct measure for_tests = {0, 500, 3, 2}; /* the setting small_pieces */

/* A range of columns, or of rows. */
struct range {
    int64_t begin, end;
};

static int64_t length(struct range range)
{
    return range.end - range.begin;
}

/* A rectangle of an operand in any of its places. */
static struct ofl_buffer rectangle(const struct ofl_buffer *whole, struct range rows, struct range columns)
{
    struct ofl_buffer part = *whole;
    part.address = ofl_element(whole, rows.begin, columns.begin);
    part.rows = length(rows);
    part.columns = length(columns);
    return part;
}

static struct range all_rows(const struct ofl_buffer *buffer)
{
    return (struct range){0, buffer->rows};
}

static struct range all_columns(const struct ofl_buffer *buffer)
{
    return (struct range){0, buffer->columns};
}

/* Adds the copy in of a rectangle, unless it is not read or is there already. */
static void add_in(const struct ofl_layout *layout, struct ofl_step *step, int operand, struct range rows,
                   struct range columns, enum ofl_region region)
{
    const struct ofl_buffer *device = &layout->device->operand[operand];
    if (!layout->read[operand] || layout->copy_of[operand] >= 0 || layout->only[operand] != NULL || length(rows) < 1 ||
        length(columns) < 1) {
        return;
    }
    struct ofl_part *part = &step->in[step->ins++];
    part->host = rectangle(&layout->call->operand[operand], rows, columns);
    part->host.region = region;
    part->device = ofl_element(device, rows.begin, columns.begin);
    part->device_ld = device->ld;
    part->locked = false;
    part->sight = layout->sight[operand];
    part->only = NULL;
}

/* Adds to the first step what has to be copied of operands that are on the device. */
static void add_selected(const struct ofl_layout *layout, struct ofl_step *step)
{
    for (int i = 0; i < layout->call->operands; i++) {
        const struct ofl_selection *only = layout->only[i];
        if (layout->read[i] && layout->copy_of[i] < 0 && only != NULL && only->count > 0) {
            struct ofl_part *part = &step->in[step->ins++];
            part->host = only->view;
            part->device = layout->device->operand[i].address;
            part->device_ld = only->view.columns == 1 ? only->view.rows : layout->device->operand[i].ld;
            part->locked = false;
            part->sight = NULL;
            part->only = only;
        }
    }
}

static void add_out(const struct ofl_layout *layout, struct ofl_step *step, int operand, struct range rows,
                    struct range columns, enum ofl_region region)
{
    const struct ofl_buffer *device = &layout->device->operand[operand];
    if (!layout->written[operand] || length(rows) < 1 || length(columns) < 1) {
        return;
    }
    struct ofl_part *part = &step->out[step->outs++];
    part->host = rectangle(&layout->target[operand], rows, columns);
    part->host.region = region;
    part->device = ofl_element(device, rows.begin, columns.begin);
    part->device_ld = device->ld;
    part->locked = layout->locked[operand];
    part->undo_pitch = (size_t)layout->call->operand[operand].rows * part->host.element_size;
    part->undo = layout->undo[operand];
    if (part->undo != NULL) {
        part->undo += (size_t)rows.begin * part->host.element_size + (size_t)columns.begin * part->undo_pitch;
    }
    part->sight = NULL;
    part->only = NULL;
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
    add_selected(layout, step);
    step->calls = 1;
    step->call[0] = *layout->device;
}

/* Whether the panels of the result are columns (else rows), and which operand all panels need. */
struct division {
    bool columns;
    int shared;
};

static bool is_rank_update(enum ofl_operation operation)
{
    return operation == OFL_OP_syrk || operation == OFL_OP_herk || operation == OFL_OP_syr2k ||
           operation == OFL_OP_her2k;
}

/* False for an operation that is not cut this way. */
static bool divide(const struct ofl_layout *layout, struct division *division)
{
    const struct ofl_call *call = layout->call;
    switch ((int)call->operation) {
    case OFL_OP_gemm:
        /* The longer side of the result is cut.  Where A and B are one matrix, its copy is A. */
        division->columns = call->n >= call->m || layout->copy_of[1] >= 0;
        division->shared = division->columns ? 0 : 1;
        return true;
    case OFL_OP_symm:
    case OFL_OP_hemm:
    case OFL_OP_trmm:
    case OFL_OP_trsm:
        division->columns = call->side == 'L';
        division->shared = 0;
        return true;
    default:
        return false;
    }
}

/* The dimension of an operand that the panels cut: true for its columns. */
static bool cuts_columns(const struct ofl_call *call, const struct division *division, int operand)
{
    if (call->operation == OFL_OP_gemm && operand == 0) {
        return call->transa != 'N';
    }
    if (call->operation == OFL_OP_gemm && operand == 1) {
        return call->transb == 'N';
    }
    return division->columns;
}

bool ofl_ring_of(const struct ofl_call *call, struct ofl_ring *ring)
{
    struct ofl_layout layout = {.call = call, .copy_of = {-1, -1, -1, -1}};
    struct division division;
    bool cut = divide(&layout, &division);
    *ring = cut ? (struct ofl_ring){division.columns, division.shared, 0} : (struct ofl_ring){false, 0, 0};
    return cut;
}

bool ofl_ring_cuts_columns(const struct ofl_call *call, const struct ofl_ring *ring, int operand)
{
    struct division division = {ring->columns, ring->shared};
    return cuts_columns(call, &division, operand);
}

/* Where a panel of an operand lies on the device. */
static struct ofl_buffer device_panel(const struct ofl_layout *layout, int operand, struct range rows,
                                      struct range columns, int index)
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

/* One panel of a product or of a triangle's operation. */
static void panel_step(const struct ofl_layout *layout, const struct division *division, struct range panel, int index,
                       struct ofl_step *step)
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
        bool columns = cuts_columns(call, division, i);
        struct range r = columns ? all_rows(host) : panel, c = columns ? panel : all_columns(host);
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
static struct ofl_buffer rows_of(char trans, const struct ofl_buffer *operand, struct range range)
{
    return trans == 'N' ? rectangle(operand, range, all_columns(operand))
                        : rectangle(operand, all_rows(operand), range);
}

/* The same of columns. */
static struct ofl_buffer columns_of(char trans, const struct ofl_buffer *operand, struct range range)
{
    return rows_of(trans == 'N' ? 'T' : 'N', operand, range);
}

/* A block of a product. */
static void add_block(const struct ofl_call *whole, struct range rows, struct range columns, struct ofl_step *step)
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

/* What the rows and the columns add to the product of those before them. */
static void corner_step(const struct ofl_layout *layout, struct range rows, struct range columns, struct ofl_step *step)
{
    const struct ofl_call *call = layout->call;
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1];
    struct range above = {0, rows.begin}, until = {0, columns.end};
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
static void add_products(const struct ofl_call *whole, struct range rows, struct range columns, struct ofl_step *step)
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

/* The columns `panel` of a rank-k update of a triangle. */
static void update_step(const struct ofl_layout *layout, struct range panel, struct ofl_step *step)
{
    const struct ofl_call *call = layout->call, *device = layout->device;
    int result = call->operands - 1;
    struct range rest =
        call->uplo == 'U' ? (struct range){0, panel.begin} : (struct range){panel.end, call->operand[result].rows};
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

static double bytes_to_move(const struct ofl_layout *layout)
{
    double bytes = 0;
    for (int i = 0; i < layout->call->operands; i++) {
        const struct ofl_buffer *host = &layout->call->operand[i];
        int times = (layout->read[i] && layout->copy_of[i] < 0 && layout->only[i] == NULL) + layout->written[i];
        bytes += times * (double)host->rows * (double)host->columns * (double)host->element_size;
    }
    return bytes;
}

/* A side's part, one of so many. */
static int64_t share_of(const struct measure *measure, int64_t side, int64_t panels)
{
    int64_t width = (side + panels - 1) / panels;
    return (width + measure->multiple - 1) / measure->multiple * measure->multiple;
}

/* How wide panels of a side of so many columns or rows are; all of it where it is too short for two. */
static int64_t panel_width(const struct measure *measure, double bytes, int64_t side)
{
    int64_t panels =
        bytes < measure->bytes_of_panel * most_panels ? (int64_t)(bytes / measure->bytes_of_panel) : most_panels;
    panels = panels < side / measure->narrowest ? panels : side / measure->narrowest;
    return panels < 2 ? side : share_of(measure, side, panels);
}

/* How a call is cut into steps. */
struct cutting {
    int count; /* 0: not at all */
    bool into_corners;
    struct division division;
    int64_t side, width;   /* what the panels cut, and their width; of a corner, the rows */
    int64_t columns_width; /* of a corner, the columns */
};

/* Whether neither operand of a product is on the device. */
static bool brings_both(const struct ofl_layout *layout)
{
    bool both = layout->call->operation == OFL_OP_gemm && layout->ring == NULL;
    for (int i = 0; i < 2 && both; i++) {
        both = layout->read[i] && layout->copy_of[i] < 0 && layout->only[i] == NULL;
    }
    return both;
}

static struct cutting cut(const struct ofl_layout *layout)
{
    enum { worth_corners = 4 };
    const struct ofl_call *call = layout->call;
    const struct measure *measure = ofl_settings()->small_pieces ? &for_tests : &usual;
    double bytes = bytes_to_move(layout);
    struct cutting cutting = {.division = {true, -1}};
    bool worth = bytes >= measure->worth_bytes || layout->ring != NULL;
    if (!worth || (!is_rank_update(call->operation) && !divide(layout, &cutting.division))) {
        return cutting;
    }
    int64_t shorter = call->m < call->n ? call->m : call->n;
    cutting.into_corners =
        brings_both(layout) && shorter / measure->narrowest >= worth_corners && !getenv("OFL_NOCORNER");
    if (cutting.into_corners) {
        int64_t panels = (shorter - 1) / panel_width(measure, bytes, shorter) + 1;
        cutting.division = (struct division){false, -1};
        cutting.side = call->m;
        cutting.width = share_of(measure, call->m, panels);
        cutting.columns_width = share_of(measure, call->n, panels);
    } else {
        cutting.side = cutting.division.columns ? call->n : call->m;
        cutting.width = layout->ring != NULL ? layout->ring->width : panel_width(measure, bytes, cutting.side);
    }
    int64_t count = (cutting.side - 1) / cutting.width + 1;
    cutting.count = count < 2 || count > OFL_MOST_STEPS ? 0 : (int)count;
    return cutting;
}

int ofl_tiles_count(const struct ofl_layout *layout, int *shared)
{
    struct cutting cutting = cut(layout);
    *shared = cutting.count > 0 ? cutting.division.shared : -1;
    return cutting.count;
}

static struct range panel_of(int64_t side, int64_t width, int index, bool last)
{
    int64_t begin = index * width < side ? index * width : side;
    return (struct range){begin, !last && begin + width < side ? begin + width : side};
}

int ofl_tiles(const struct ofl_layout *layout, struct ofl_step *steps)
{
    const struct ofl_call *call = layout->call;
    struct cutting cutting = cut(layout);
    bool update = is_rank_update(call->operation);
    for (int i = 0; i < cutting.count; i++) {
        bool from_the_right = update && call->uplo == 'L', last = i + 1 == cutting.count;
        struct range panel = panel_of(cutting.side, cutting.width, from_the_right ? cutting.count - 1 - i : i, false);
        if (cutting.into_corners) {
            corner_step(layout, panel, panel_of(call->n, cutting.columns_width, i, last), &steps[i]);
        } else if (update) {
            update_step(layout, panel, &steps[i]);
        } else {
            panel_step(layout, &cutting.division, panel, i, &steps[i]);
        }
        if (i == 0) {
            add_selected(layout, &steps[i]);
        }
    }
    return cutting.count;
}
