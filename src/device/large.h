/* Products and triangular operations whose operands are larger than the device memory that a call may take. */
#ifndef OFL_DEVICE_LARGE_H
#define OFL_DEVICE_LARGE_H
#include "device/scratch.h"
#include "device/tiles.h"

struct ofl_large {
    const struct ofl_started *started;
    const struct ofl_call *call; /* in host memory */
    bool read[OFL_MAX_OPERANDS], written[OFL_MAX_OPERANDS];
    size_t work_bytes, host_work_bytes; /* what the call as a whole needs for the operation */
    size_t limit;                       /* bytes of device memory */
    struct ofl_scratch *scratch;
    struct ofl_step *step; /* OFL_MOST_STEPS of them */
};

/* Whether there is a way to do it within the limit. */
bool ofl_large_can(const struct ofl_large *large);

/* Does the call.  As ofl_device_run: results are in place, or host memory is as before. */
enum ofl_reason ofl_large_run(const struct ofl_large *large, struct ofl_device_times *times);
#endif
