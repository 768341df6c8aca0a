/* Products and triangular operations whose operands are larger than the device memory that a call may take.
 *
 * The operand that all panels need (tiles.c) is on the device as a whole, or one slab of it after the other: rows of
 * the result, where the panels are columns.  The panels of the others pass by, each in one of a few places.  A slab
 * is one run of the pipeline, in which copies in, operations and copies out overlap.  For a result that the
 * operation also reads, what was there is kept in host memory until all slabs are done.
 *
 * Rank-k updates of triangles are not done this way yet, and triangles are not cut into slabs: where these do not fit
 * the CPU does the call.  Entry points: ofl_large_can, ofl_large_run. */
#include "device/large.h"
#include "base/clock.h"
#include "device/pieces.h"
#include "device/resident.h"

#include <stdlib.h>
#include <string.h>

enum { alignment = 256, most_slabs = 64, multiple = 16 };

/* How the call is cut: slabs of so many rows (columns) of the result, each in panels of so many columns (rows). */
struct division {
    struct ofl_ring ring;
    int64_t slab;
    int slabs;
};

static size_t aligned(double bytes)
{
    return ((size_t)bytes + alignment - 1) / alignment * alignment;
}

static int64_t *side_of(struct ofl_call *call, bool columns)
{
    return columns ? &call->n : &call->m;
}

/* The call for rows (columns) begin to begin + slab - 1 of the result. */
static struct ofl_call slab_of(const struct ofl_call *whole, const struct division *division, int64_t begin)
{
    struct ofl_call part = *whole;
    bool rows = division->ring.columns;
    int64_t *side = side_of(&part, !rows);
    if (division->slabs == 1) {
        return part;
    }
    *side = *side - begin < division->slab ? *side - begin : division->slab;
    for (int i = 0; i < part.operands; i++) {
        struct ofl_buffer *operand = &part.operand[i];
        bool is_result = i == part.operands - 1;
        if (i != division->ring.shared && !is_result) {
            continue;
        }
        /* The shared operand's rows are those of the result, unless it is transposed; so with columns. */
        bool transposed = !is_result && (rows ? part.transa != 'N' : part.transb != 'N');
        if (rows != transposed) {
            operand->address = ofl_element(operand, begin, 0);
            operand->rows = *side;
        } else {
            operand->address = ofl_element(operand, 0, begin);
            operand->columns = *side;
        }
    }
    return part;
}

/* Device bytes of an operand of a slab's call. */
static double bytes_on_device(const struct ofl_call *part, const struct ofl_ring *ring, int operand)
{
    const struct ofl_buffer *buffer = &part->operand[operand];
    double rows = (double)buffer->rows, columns = (double)buffer->columns, size = buffer->element_size;
    if (operand == ring->shared) {
        return rows * columns * size;
    }
    bool cuts = ofl_ring_cuts_columns(part, ring, operand);
    return OFL_RING_PLACES * (double)ring->width * (cuts ? rows : columns) * size;
}

/* Finds the widest panels for which a slab fits; false where there are none. */
static bool fit_panels(const struct ofl_large *large, struct division *division)
{
    struct ofl_call part = slab_of(large->call, division, 0);
    int64_t side = *side_of(&part, division->ring.columns);
    double shared = 0, each = 0,
           room = (double)large->limit - (double)large->work_bytes - (OFL_MAX_OPERANDS + 1) * alignment;
    division->ring.width = 1;
    for (int i = 0; i < part.operands; i++) {
        *(i == division->ring.shared ? &shared : &each) += bytes_on_device(&part, &division->ring, i);
    }
    if (room <= shared) {
        return false;
    }
    double most = (room - shared) / each;
    int64_t width = most < (double)side ? (int64_t)most : side;
    /* Not all of it in one panel: there is something to overlap. */
    width = width > (side + 3) / 4 ? (side + 3) / 4 : width;
    width = width > multiple ? width / multiple * multiple : width;
    division->ring.width = width;
    return width > 0 && (side - 1) / width + 1 <= OFL_MOST_STEPS;
}

/* As few slabs as will do: the panels pass by once for each. */
static bool divide(const struct ofl_large *large, struct division *division)
{
    struct ofl_call call = *large->call;
    if (!ofl_ring_of(&call, &division->ring)) {
        return false;
    }
    int64_t side = *side_of(&call, !division->ring.columns);
    int most = call.operation == OFL_OP_gemm ? most_slabs : 1;
    for (division->slabs = 1; division->slabs <= most && division->slabs <= side; division->slabs++) {
        division->slab = (side - 1) / division->slabs + 1;
        if (fit_panels(large, division)) {
            division->slabs = (int)((side - 1) / division->slab) + 1;
            return true;
        }
    }
    return false;
}

bool ofl_large_can(const struct ofl_large *large)
{
    struct division division;
    return divide(large, &division);
}

/* Where everything of a slab lies. */
static void lay_out(const struct ofl_large *large, const struct division *division, const struct ofl_call *part,
                    struct ofl_call *device, char *undo, struct ofl_layout *layout)
{
    char *at = (char *)large->scratch->device + aligned((double)large->work_bytes);
    *layout = (struct ofl_layout){.call = part, .device = device, .ring = &division->ring};
    *device = *part;
    for (int i = 0; i < part->operands; i++) {
        device->operand[i].address = at;
        device->operand[i].ld = part->operand[i].rows;
        at += aligned(bytes_on_device(part, &division->ring, i));
        layout->read[i] = large->read[i];
        layout->written[i] = large->written[i];
        layout->copy_of[i] = -1;
        layout->target[i] = part->operand[i];
        layout->undo[i] = large->written[i] && large->read[i] ? undo : NULL;
    }
}

static size_t device_bytes(const struct ofl_large *large, const struct division *division)
{
    struct ofl_call part = slab_of(large->call, division, 0);
    size_t bytes = aligned((double)large->work_bytes);
    for (int i = 0; i < part.operands; i++) {
        bytes += aligned(bytes_on_device(&part, &division->ring, i));
    }
    return bytes;
}

/* Whether the backend does the panels with the memory that the whole needs. */
static bool can_run(const struct ofl_large *large, int count)
{
    const struct ofl_backend *backend = large->started->backend;
    for (int i = 0; i < count; i++) {
        size_t bytes = 0, host_bytes = 0;
        const struct ofl_call *call = &large->step[i].call[0];
        if (backend->operation_supports(large->started->device, call) != OFL_OK ||
            backend->operation_workspace(large->started->device, call, &bytes, &host_bytes) != OFL_OK ||
            bytes > large->work_bytes || host_bytes > large->host_work_bytes) {
            return false;
        }
    }
    return count > 0;
}

static enum ofl_reason run_slab(const struct ofl_large *large, const struct division *division,
                                const struct ofl_call *part, char *undo, struct ofl_pipeline *pipeline)
{
    struct ofl_layout layout;
    struct ofl_call device;
    lay_out(large, division, part, &device, undo, &layout);
    *pipeline = (struct ofl_pipeline){.started = large->started,
                                      .steps = ofl_tiles(&layout, large->step),
                                      .step = large->step,
                                      .scratch = large->scratch->device,
                                      .scratch_bytes = large->work_bytes,
                                      .host_scratch = large->scratch->host,
                                      .host_scratch_bytes = large->host_work_bytes};
    if (!can_run(large, pipeline->steps)) {
        return OFL_UNSUPPORTED;
    }
    enum ofl_reason reason = ofl_pipeline_run(pipeline);
    enum ofl_reason drained = ofl_drain(large->started, true);
    return reason == OFL_OK ? drained : reason;
}

/* Host memory for what is to be kept of a slab's result. */
static size_t undo_bytes(const struct ofl_large *large, const struct division *division)
{
    struct ofl_call part = slab_of(large->call, division, 0);
    const struct ofl_buffer *result = &part.operand[part.operands - 1];
    bool kept = large->read[part.operands - 1];
    return kept ? aligned((double)result->rows * (double)result->columns * (double)result->element_size) : 0;
}

enum ofl_reason ofl_large_run(const struct ofl_large *large, struct ofl_device_times *times)
{
    struct division division;
    struct ofl_pipeline *pipelines = NULL;
    double begin = ofl_clock();
    if (!divide(large, &division)) {
        return OFL_DEVICE_MEMORY;
    }
    while (ofl_resident_evict(large->started)) { /* it takes what there is */
    }
    size_t undo = undo_bytes(large, &division), work = aligned((double)large->host_work_bytes);
    enum ofl_reason reason = ofl_scratch_device(large->scratch, large->started, device_bytes(large, &division));
    if (reason == OFL_OK) {
        reason = ofl_scratch_host(large->scratch, large->started, work + undo * (size_t)division.slabs);
    }
    if (reason == OFL_OK && (pipelines = calloc((size_t)division.slabs, sizeof *pipelines)) == NULL) {
        reason = OFL_HOST_MEMORY;
    }
    int done = 0;
    for (; done < division.slabs && reason == OFL_OK; done++) {
        struct ofl_call part = slab_of(large->call, &division, done * division.slab);
        reason = run_slab(large, &division, &part, (char *)large->scratch->host + work + undo * (size_t)done,
                          &pipelines[done]);
        times->bytes_in += pipelines[done].bytes_in;
        times->bytes_out += pipelines[done].bytes_out;
    }
    for (int i = 0; i < done; i++) {
        ofl_pipeline_end(&pipelines[i], reason == OFL_OK);
    }
    free(pipelines);
    times->compute = ofl_clock() - begin; /* and the copies meanwhile */
    return reason;
}
