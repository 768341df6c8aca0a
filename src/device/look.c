/* What is known of a device that has not been started.
 *
 * Entry point: ofl_device_look.  On a machine without a GPU no call will ever run there, whatever a prediction for an
 * unknown GPU would say, and people are to read that and not the prediction.  Files are looked at once in a process;
 * only CUDA's device can be missing, the others are asked for by name. */
#include "device/device.h"
#include "device/internal.h"
#include "device/loader.h"
#include "device/stack.h"
#include "base/settings.h"
#include "profile/driver.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum ofl_reason found = OFL_NOT_STARTED;

static void look_errand(void *unused)
{
    static char explanation[OFL_EXPLANATION_SIZE];
    (void)unused;
    enum ofl_reason reason = ofl_backend_look("cuda", explanation, sizeof explanation);
    if (reason == OFL_OK) {
        reason = ofl_driver_look(explanation, sizeof explanation);
    }
    if (reason != OFL_OK) {
        ofl_explain(explanation);
        found = reason;
    }
}

static void look(void)
{
    int saved = errno;
    if (!ofl_with_large_stack(look_errand, NULL)) {
        found = OFL_HOST_MEMORY;
    }
    errno = saved;
}

enum ofl_reason ofl_device_look(void)
{
    const char *device = ofl_settings()->device;
    enum ofl_reason state = ofl_device_state();
    if (state != OFL_NOT_STARTED || (strcmp(device, "auto") != 0 && strcmp(device, "cuda") != 0)) {
        return state;
    }
    pthread_once(&once, look);
    return found;
}
