/* Factorisations of matrices that are larger than the device memory that a call may take. */
#ifndef OFL_DEVICE_BEYOND_H
#define OFL_DEVICE_BEYOND_H
#include "device/pipeline.h"
#include "device/scratch.h"

/* The device memory that a call may take: the setting device_memory, or all that the device has; half of it where
 * larger calls can be done piece by piece, so that others have room. */
size_t ofl_memory_limit(const struct ofl_started *started, enum ofl_operation operation);

struct ofl_beyond {
    const struct ofl_started *started;
    const struct ofl_call *call; /* in host memory */
    struct ofl_scratch *scratch;
    struct ofl_step *step; /* OFL_MOST_STEPS of them */
};

/* Whether there is a way for the operation. */
bool ofl_beyond_can(enum ofl_operation operation);

/* Does the call as ofl_device_run does.  OFL_DEVICE_MEMORY where there is no way, or the limit is too narrow even so;
 * OFL_EXCEPTIONAL_VALUES for a matrix that is singular, not definite or not finite. */
enum ofl_reason ofl_beyond_run(const struct ofl_beyond *beyond, struct ofl_device_times *times);
#endif
