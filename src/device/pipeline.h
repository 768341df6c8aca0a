/* The transfer pipeline: copies in, operations and copies out that overlap. */
#ifndef OFL_DEVICE_PIPELINE_H
#define OFL_DEVICE_PIPELINE_H
#include "device/internal.h"
#include "device/lapack.h"
#include "device/pieces.h"

#include <stddef.h>

enum { OFL_STEP_PARTS = 6, OFL_STEP_CALLS = 4 };

/* A rectangle in host memory, with the region that is stored there, and its copy on the device. */
struct ofl_part {
    struct ofl_buffer host;
    void *device;
    int64_t device_ld;
    bool locked;             /* the host side is page-locked and compact: a device copies to it at full speed */
    struct ofl_sight *sight; /* of what goes in, its numbers are looked at; NULL: they do not matter */
    const struct ofl_selection *only; /* of its view, these pieces; NULL: all of it */
    /* Where the numbers in host memory are kept, for ofl_pipeline_end; NULL: nobody needs them.  What comes in and goes
     * out again is kept on its way in, while a processor has it at hand; else a result keeps what it replaces. */
    char *undo;
    size_t undo_pitch; /* bytes */
};

/* Copies in, then operations, then copies out.  Steps compute in order; the copies of a step overlap with the
 * operations of others. */
struct ofl_step {
    int ins, calls, outs;
    int after;         /* copies in begin when the operations of so many steps are done: they go where those looked */
    int after_results; /* the same, when the results of so many steps have left */
    struct ofl_part in[OFL_STEP_PARTS], out[OFL_STEP_PARTS];
    struct ofl_call call[OFL_STEP_CALLS]; /* on device buffers */
};

struct ofl_pipeline {
    const struct ofl_started *started;
    int steps; /* at most OFL_MOST_STEPS; with one, everything is on one stream */
    const struct ofl_step *step;
    void *scratch, *host_scratch; /* for the operations */
    size_t scratch_bytes, host_scratch_bytes;
    bool timed;                      /* record OFL_MARK_COPIED_IN and OFL_MARK_COMPUTED */
    uint64_t bytes_in, bytes_out;    /* set: what has been moved */
    struct ofl_committed *committed; /* set: pieces that are kept, of which results may be in place */
    int64_t committed_count;
};

/* Runs the steps.  With OFL_OK everything is queued, and what is not `locked` has
 * arrived in host memory, unless there was no page-locked memory for it.  The caller waits for the streams
 * before it relies on the rest.  After a failure work may be under way: the caller waits for the
 * streams before the memory is used again.  Nothing but what the parts store is read or written in host memory.
 * OFL_EXCEPTIONAL_VALUES where a part's sight sees too large a number. */
enum ofl_reason ofl_pipeline_run(struct ofl_pipeline *pipeline);

/* After each run, when nothing is under way: puts back what was there, unless the call has succeeded.  Cannot fail. */
void ofl_pipeline_end(struct ofl_pipeline *pipeline, bool success);

/* Copies what `to` stores from host memory with `pitch` bytes from one column to the next, by several threads.
 * Cannot fail. */
void ofl_host_scatter(const struct ofl_buffer *to, const void *from, size_t pitch);
#endif
