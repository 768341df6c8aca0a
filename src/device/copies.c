/* How fast the device copies from and to page-locked memory, for the machine's profile.
 *
 * Entry point: ofl_device_time_copy.  The copies are those of the pipeline's slots: the backend's own page-locked
 * memory, the stream of the operations.  Nothing is kept afterwards. */
#include "device/internal.h"
#include "base/clock.h"

#include <string.h>

enum { ROUNDS = 5 };

struct timing {
    bool in;
    size_t bytes;
    double seconds; /* the shortest of the rounds */
};

static enum ofl_reason copy_once(const struct ofl_started *started, const struct timing *timing, void *device,
                                 void *host)
{
    const struct ofl_backend *backend = started->backend;
    size_t bytes = timing->bytes;
    enum ofl_reason reason =
        timing->in ? backend->copy_in(started->device, started->stream, device, bytes, host, bytes, bytes, 1)
                   : backend->copy_out(started->device, started->stream, host, bytes, device, bytes, bytes, 1);
    /* Also after a failure: the memory is about to be released. */
    enum ofl_reason waited = backend->stream_wait(started->device, started->stream);
    return reason == OFL_OK ? waited : reason;
}

static enum ofl_reason time_copies(const struct ofl_started *started, void *argument)
{
    const struct ofl_backend *backend = started->backend;
    struct timing *timing = argument;
    void *device = NULL, *host = NULL;
    enum ofl_reason reason = backend->allocate(started->device, timing->bytes, &device);
    if (reason == OFL_OK) {
        reason = backend->host_allocate(started->device, timing->bytes, &host);
    }
    if (reason == OFL_OK) {
        memset(host, 0, timing->bytes);
    }
    for (int round = 0; round <= ROUNDS && reason == OFL_OK; round++) {
        double begin = ofl_clock();
        reason = copy_once(started, timing, device, host);
        double seconds = ofl_clock() - begin;
        if (round == 1 || (round > 1 && seconds < timing->seconds)) { /* the first one warms up */
            timing->seconds = seconds;
        }
    }
    if (host != NULL) {
        backend->host_release(started->device, host);
    }
    if (device != NULL) {
        backend->release(started->device, device);
    }
    return reason;
}

enum ofl_reason ofl_device_time_copy(bool in, size_t bytes, double *seconds)
{
    struct timing timing = {in, bytes, 0};
    double wait;
    enum ofl_reason reason = ofl_in_turn(time_copies, &timing, &wait);
    *seconds = timing.seconds;
    return reason;
}
