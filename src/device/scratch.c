/* Memory that a call needs while it runs, kept from one call to the next.
 *
 * A lane's calls run one at a time, so one block of each kind is enough: it grows to the
 * largest call.  Host memory is released when it is above 1 GB; device memory, where that is a small part of it, above
 * a sixteenth of all: what is allocated anew is cleared by the device, while the copies into it wait (on an H200 three
 * milliseconds of the thirty that a product of 1.6 GB takes).  Growing releases the old block first, so that a call
 * never fails for memory that we hold ourselves.  Nothing uses the blocks any more. */
#include "device/scratch.h"
#include "device/host_memory.h"

#include <stdlib.h>

static const size_t kept_bytes = (size_t)1 << 30;
/* Page-locked memory is taken from everybody: large blocks come from ordinary memory. */
static const size_t locked_limit = (size_t)512 << 20;
/* Larger blocks are asked for only where the host has them: malloc promises anything. */
static const size_t trusted_bytes = (size_t)1 << 30;

void ofl_scratch_release(struct ofl_scratch *scratch, const struct ofl_started *started)
{
    if (scratch->device != NULL) {
        started->backend->release(started->device, scratch->device);
    }
    scratch->device = NULL;
    scratch->device_bytes = 0;
}

static void release_host(struct ofl_scratch *scratch, const struct ofl_started *started)
{
    if (scratch->host_is_locked) {
        started->backend->host_release(started->device, scratch->host);
    } else {
        free(scratch->host);
    }
    scratch->host = NULL;
    scratch->host_bytes = 0;
    scratch->host_is_locked = false;
}

/* Rounded up, so that slightly growing calls do not allocate each time. */
static size_t rounded(size_t bytes)
{
    size_t step = bytes >= (size_t)1 << 24 ? (size_t)1 << 21 : (size_t)1 << 12;
    return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

enum ofl_reason ofl_scratch_device(struct ofl_scratch *scratch, const struct ofl_started *started, size_t bytes)
{
    if (scratch->device_bytes >= bytes) {
        return OFL_OK;
    }
    ofl_scratch_release(scratch, started);
    bytes = rounded(bytes);
    enum ofl_reason reason = started->backend->allocate(started->device, bytes, &scratch->device);
    if (reason != OFL_OK) {
        scratch->device = NULL;
        return reason;
    }
    scratch->device_bytes = bytes;
    return OFL_OK;
}

enum ofl_reason ofl_scratch_host(struct ofl_scratch *scratch, const struct ofl_started *started, size_t bytes)
{
    if (scratch->host_bytes >= bytes) {
        return OFL_OK;
    }
    release_host(scratch, started);
    bytes = rounded(bytes);
    if (bytes <= locked_limit && started->backend->host_allocate(started->device, bytes, &scratch->host) == OFL_OK) {
        scratch->host_is_locked = true;
    } else {
        scratch->host = bytes <= trusted_bytes || ofl_host_memory_suffices(bytes) ? malloc(bytes) : NULL;
    }
    if (scratch->host == NULL) {
        return OFL_HOST_MEMORY;
    }
    scratch->host_bytes = bytes;
    return OFL_OK;
}

void ofl_scratch_trim(struct ofl_scratch *scratch, const struct ofl_started *started)
{
    uint64_t small_part = started->properties.memory_bytes / 16;
    if (scratch->device_bytes > (small_part > kept_bytes ? small_part : kept_bytes)) {
        ofl_scratch_release(scratch, started);
    }
    if (scratch->host_bytes > kept_bytes) {
        release_host(scratch, started);
    }
}
