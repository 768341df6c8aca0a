/* Memory that a call needs while it runs, kept from one call to the next. */
#ifndef OFL_DEVICE_SCRATCH_H
#define OFL_DEVICE_SCRATCH_H
#include "device/internal.h"

#include <stddef.h>

/* One block of device memory and one of host memory, page-locked where that can be had. */
struct ofl_scratch {
    void *device, *host;
    size_t device_bytes, host_bytes;
    bool host_is_locked;
};

/* Gives the device memory back. */
void ofl_scratch_release(struct ofl_scratch *scratch, const struct ofl_started *started);

/* Make the block at least `bytes` long; its content is lost.  OFL_DEVICE_MEMORY, OFL_HOST_MEMORY or another
 * reason of the backend's; then the block is empty. */
enum ofl_reason ofl_scratch_device(struct ofl_scratch *scratch, const struct ofl_started *started, size_t bytes);
enum ofl_reason ofl_scratch_host(struct ofl_scratch *scratch, const struct ofl_started *started, size_t bytes);

/* Releases blocks above the size that is kept between calls (1 GB each). */
void ofl_scratch_trim(struct ofl_scratch *scratch, const struct ofl_started *started);
#endif
