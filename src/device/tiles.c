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
#include "device/steps.h"
#include "base/settings.h"

enum { most_panels = 16 };

/* When panels pay, and how wide they are.  A device needs wide ones to compute at full speed; some rows of a matrix lie
 * in short runs in host memory, which cost more to pack. */
struct measure {
    double worth_bytes, bytes_of_panel; /* of all operands */
    int64_t fewest_columns, fewest_rows, fewest_right_sides, multiple;
};

static const struct measure usual = {20e6, 8e6, 256, 512, 2048, 64};
static const struct measure for_tests = {0, 500, 3, 3, 3, 2}; /* the setting small_pieces */

static bool is_rank_update(enum ofl_operation operation)
{
    return operation == OFL_OP_syrk || operation == OFL_OP_herk || operation == OFL_OP_syr2k ||
           operation == OFL_OP_her2k;
}

/* False for an operation that is not cut this way. */
static bool divide(const struct ofl_layout *layout, struct ofl_division *division)
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

bool ofl_ring_of(const struct ofl_call *call, struct ofl_ring *ring)
{
    struct ofl_layout layout = {.call = call, .copy_of = {-1, -1, -1, -1}};
    struct ofl_division division;
    bool cut = divide(&layout, &division);
    *ring = cut ? (struct ofl_ring){division.columns, division.shared, 0} : (struct ofl_ring){false, 0, 0};
    return cut;
}

bool ofl_ring_cuts_columns(const struct ofl_call *call, const struct ofl_ring *ring, int operand)
{
    struct ofl_division division = {ring->columns, ring->shared};
    return ofl_division_cuts_columns(call, &division, operand);
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
static int64_t panel_width(const struct measure *measure, double bytes, int64_t side, int64_t narrowest)
{
    int64_t panels =
        bytes < measure->bytes_of_panel * most_panels ? (int64_t)(bytes / measure->bytes_of_panel) : most_panels;
    panels = panels < side / narrowest ? panels : side / narrowest;
    return panels < 2 ? side : share_of(measure, side, panels);
}

enum way { NOT_CUT, PANELS, CORNERS, UPDATES };

/* How a call is cut into steps. */
struct cutting {
    enum way way;
    struct ofl_division division; /* of panels */
    int count;
    int64_t side, width;   /* what the steps cut, and into what; of a product's corners, its rows */
    int64_t columns_width; /* and its columns */
};

/* Whether a product computes for longer than it copies the second of its operands, neither of which is on the device.
 * An H200 computes 1100 flops while it copies a byte. */
static bool is_worth_corners(const struct ofl_layout *layout)
{
    enum { flops_of_byte = 1500 };
    const struct ofl_call *call = layout->call;
    bool both = call->operation == OFL_OP_gemm && layout->ring == NULL;
    for (int i = 0; i < 2 && both; i++) {
        both = layout->read[i] && layout->copy_of[i] < 0 && layout->only[i] == NULL;
    }
    bool is_complex = call->precision == OFL_C || call->precision == OFL_Z;
    double longer = (double)(call->m > call->n ? call->m : call->n) * (double)call->k * call->operand[0].element_size;
    double flops = (is_complex ? 8 : 2) * (double)call->m * (double)call->n * (double)call->k;
    return both && (ofl_settings()->small_pieces || flops > flops_of_byte * longer);
}

/* The side that steps of a way other than panels cut: of a product's corners the shorter one. */
static int64_t side_of(enum way way, const struct ofl_call *call)
{
    switch (way) {
    case CORNERS:
        return call->m < call->n ? call->m : call->n;
    case UPDATES:
        return call->n;
    case NOT_CUT:
    case PANELS:
        break;
    }
    return 0;
}

static enum way way_of(const struct ofl_layout *layout, const struct measure *measure)
{
    enum { least = 4 };
    const struct ofl_call *call = layout->call;
    if (is_rank_update(call->operation)) {
        return UPDATES;
    }
    return is_worth_corners(layout) && side_of(CORNERS, call) / measure->fewest_rows >= least ? CORNERS : PANELS;
}

/* What a step should have at least. */
static int64_t narrowest_of(enum way way, const struct ofl_division *division, const struct ofl_call *call,
                            const struct measure *measure)
{
    if (call->operation == OFL_OP_trsm) {
        return measure->fewest_right_sides;
    }
    return way == PANELS && division->columns ? measure->fewest_columns : measure->fewest_rows;
}

static struct cutting cut(const struct ofl_layout *layout)
{
    const struct ofl_call *call = layout->call;
    const struct measure *measure = ofl_settings()->small_pieces ? &for_tests : &usual;
    double bytes = bytes_to_move(layout);
    struct cutting cutting = {.way = NOT_CUT, .division = {true, -1}};
    if (bytes < measure->worth_bytes && layout->ring == NULL) {
        return cutting;
    }
    enum way way = way_of(layout, measure);
    if (way == PANELS && !divide(layout, &cutting.division)) {
        return cutting;
    }
    cutting.side = way != PANELS ? side_of(way, call) : cutting.division.columns ? call->n : call->m;
    cutting.width = layout->ring != NULL ? layout->ring->width
                                         : panel_width(measure, bytes, cutting.side,
                                                       narrowest_of(way, &cutting.division, call, measure));
    int64_t count = (cutting.side - 1) / cutting.width + 1;
    if (way == CORNERS) {
        cutting.side = call->m;
        cutting.width = share_of(measure, call->m, count);
        cutting.columns_width = share_of(measure, call->n, count);
        int64_t down = (call->m - 1) / cutting.width + 1, across = (call->n - 1) / cutting.columns_width + 1;
        count = down > across ? down : across;
    }
    cutting.way = count < 2 || count > OFL_MOST_STEPS ? NOT_CUT : way;
    cutting.count = cutting.way == NOT_CUT ? 0 : (int)count;
    return cutting;
}

int ofl_tiles_count(const struct ofl_layout *layout, int *shared)
{
    struct cutting cutting = cut(layout);
    *shared = cutting.way == PANELS ? cutting.division.shared : -1;
    return cutting.count;
}

static struct ofl_panel panel_at(int64_t side, int64_t width, int index)
{
    int64_t begin = index * width < side ? index * width : side;
    return (struct ofl_panel){begin, begin + width < side ? begin + width : side};
}

int ofl_tiles(const struct ofl_layout *layout, struct ofl_step *steps)
{
    const struct ofl_call *call = layout->call;
    struct cutting cutting = cut(layout);
    bool backward = cutting.way == UPDATES && call->uplo == 'L';
    for (int i = 0; i < cutting.count; i++) {
        struct ofl_panel panel = panel_at(cutting.side, cutting.width, backward ? cutting.count - 1 - i : i);
        switch (cutting.way) {
        case PANELS:
            ofl_step_panel(layout, &cutting.division, panel, i, &steps[i]);
            break;
        case CORNERS:
            ofl_step_corner(layout, panel, panel_at(call->n, cutting.columns_width, i), &steps[i]);
            break;
        case UPDATES:
            ofl_step_update(layout, panel, &steps[i]);
            break;
        case NOT_CUT:
            break;
        }
        if (i == 0) {
            ofl_step_add_selected(layout, &steps[i]);
        }
    }
    return cutting.count;
}
