/* Work of another kind than calls, say a kernel's launch: in the first lane, as large calls are. */
#include "device/internal.h"
#include "base/signals.h"
#include "device/descriptors.h"
#include "device/lanes.h"
#include "device/stack.h"

#include <errno.h>
#include <pthread.h>

struct other_work {
    enum ofl_reason (*errand)(const struct ofl_started *started, void *argument);
    void *argument;
    enum ofl_reason reason;
};

static void other_errand(void *argument)
{
    struct other_work *work = argument;
    struct ofl_descriptors descriptors;
    ofl_descriptors_fill(&descriptors);
    work->reason = work->errand(ofl_started_device(), work->argument);
    if (work->reason == OFL_DEVICE_LOST) {
        ofl_device_lost();
    }
    ofl_descriptors_restore(&descriptors);
}

enum ofl_reason ofl_in_turn(enum ofl_reason (*errand)(const struct ofl_started *started, void *argument),
                            void *argument, double *wait)
{
    struct other_work work = {errand, argument, ofl_device_state()};
    int saved = errno, cancellable;
    sigset_t before;
    if (work.reason == OFL_OK && !ofl_device_is_ours()) {
        work.reason = OFL_FORKED;
    }
    if (work.reason != OFL_OK) {
        return work.reason;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
    ofl_signals_block(&before);
    ofl_signals_admit_endings(&before);
    struct ofl_lane *first = ofl_lane_take(false, wait);
    work.reason = first != NULL ? ofl_device_state() : OFL_EXITING; /* it may have been lost meanwhile */
    if (work.reason == OFL_OK && !ofl_with_large_stack(other_errand, &work)) {
        work.reason = OFL_HOST_MEMORY;
    }
    if (first != NULL) {
        ofl_lane_leave(first);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setcancelstate(cancellable, NULL);
    errno = saved;
    return work.reason;
}
