/* Lanes: calls of several threads that run on the device at the same time. */
#ifndef OFL_DEVICE_LANES_H
#define OFL_DEVICE_LANES_H
#include "device/pipeline.h"
#include "device/scratch.h"

/* What one call needs for itself while it runs. */
struct ofl_lane {
    const struct ofl_started *started; /* with streams and events of the lane's own */
    struct ofl_scratch scratch;
    struct ofl_step step[OFL_MOST_STEPS];
};

/* Waits until a lane is free; *wait gets the seconds.  A call that is not small gets the first one.  Never NULL. */
struct ofl_lane *ofl_lane_take(bool small, double *wait);
void ofl_lane_leave(struct ofl_lane *lane);

/* Gives up the memory of lanes that nobody uses.  False where there was none. */
bool ofl_lanes_release_idle(void);

/* Device memory that is kept between calls. */
uint64_t ofl_lanes_bytes(void);

/* The times of a call that took `seconds` in all: what the device took for copies in and operations, and what the rest
 * added.  A failure here changes nothing about the result. */
void ofl_lane_clocks(const struct ofl_started *started, double seconds, struct ofl_device_times *times);

void ofl_lanes_after_fork(void);
#endif
