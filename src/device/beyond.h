/* Factorisations of matrices that are larger than the device memory that a call may take. */
#ifndef OFL_DEVICE_BEYOND_H
#define OFL_DEVICE_BEYOND_H
#include "device/pipeline.h"
#include "device/scratch.h"

struct ofl_beyond {
    const struct ofl_started *started;
    const struct ofl_call *call; /* in host memory */
    struct ofl_scratch *scratch;
    struct ofl_step *step; /* OFL_MOST_STEPS of them */
    size_t limit;          /* bytes of device memory */
    /* Set. */
    uint64_t bytes_in, bytes_out;
    struct ofl_buffer factor; /* the result, in the scratch memory of the host */
    const int64_t *pivots;    /* those of LU, from 1 */
};

/* Whether there is a way for the operation. */
bool ofl_beyond_can(enum ofl_operation operation);

/* Computes the factor; nothing is written to the call's operands, and nothing is under way any more.  OFL_DEVICE_MEMORY
 * where the limit is too narrow even so, OFL_EXCEPTIONAL_VALUES for a matrix that is singular, not definite or not
 * finite, or as the device fails. */
enum ofl_reason ofl_beyond_run(struct ofl_beyond *beyond);
#endif
