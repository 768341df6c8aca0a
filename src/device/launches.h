/* How often each kernel of a compiled loop was launched in this process: the counts of the second door, for the
 * summary.
 *
 * A program that was compiled by `gpu-offload fc` reports them itself when it ends; where the preload library is in the
 * process, that one does, together with the calls it saw. */
#ifndef OFL_DEVICE_LAUNCHES_H
#define OFL_DEVICE_LAUNCHES_H
#include <stdbool.h>
#include <stdint.h>

struct ofl_launches {
    const char *kernel, *device;
    uint64_t count;
    const struct ofl_launches *next; /* of those launched for the first time before */
};

/* Counts a launch; any thread.  `device` must live as long as the process. */
void ofl_launches_count(const char *kernel, const char *device);

/* The counts of this process, for the time when it ends: what other threads launch meanwhile may be missing. */
const struct ofl_launches *ofl_launches(void);

/* A child begins at zero; ofl_device_after_fork_in_child calls it. */
void ofl_launches_after_fork_in_child(void);

/* The caller reports them at the end of the process, nobody else has to. */
void ofl_launches_claim(void);
bool ofl_launches_claimed(void);
#endif
