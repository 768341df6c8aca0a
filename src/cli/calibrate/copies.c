/* Copies from and to page-locked memory, as the core makes them; whether the device starts at all shows here.
 *
 * Measured in a child process: a device that was started in this one could not be used by those that follow. */
#include "cli/calibrate/calibrate.h"
#include "base/message.h"
#include "base/reason.h"
#include "cli/capture.h"
#include "cli/cli.h"
#include "device/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 4096, LARGEST = 128 << 20, FACTOR = 4, SECONDS = 30 };

typedef enum ofl_reason start_function(void);
typedef const char *explain_function(void);
typedef enum ofl_reason time_function(bool in, size_t bytes, double *seconds);

/* Prints "DIRECTION BYTES SECONDS" for each copy and "end", or "not WHY". */
static void measure(int output, void *context)
{
    char path[PATH_MAX];
    setenv("GPU_OFFLOAD_DEVICE", context, 1);
    void *core =
        ofl_cli_library("libgpuoffload-core.so", path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    start_function *start = core != NULL ? (start_function *)dlsym(core, "ofl_device_start") : NULL;
    time_function *time_copy = core != NULL ? (time_function *)dlsym(core, "ofl_device_time_copy") : NULL;
    explain_function *explain = core != NULL ? (explain_function *)dlsym(core, "ofl_device_explanation") : NULL;
    if (start == NULL || time_copy == NULL || explain == NULL) {
        dprintf(output, "not %s; install gpu-offload again\n",
                core == NULL ? dlerror() : "libgpuoffload-core.so belongs to another version");
        return;
    }
    enum ofl_reason reason = start();
    if (reason != OFL_OK) {
        dprintf(output, "not %s\n", *explain() != '\0' ? explain() : ofl_reason_text(reason));
        return;
    }
    for (size_t bytes = SMALLEST; bytes <= LARGEST; bytes *= FACTOR) {
        for (int direction = 0; direction < OFL_DIRECTION_COUNT; direction++) {
            double seconds;
            if (time_copy(direction == OFL_COPY_IN, bytes, &seconds) == OFL_OK) {
                dprintf(output, "%d %zu %.9f\n", direction, bytes, seconds);
            }
        }
    }
    dprintf(output, "end\n");
}

bool ofl_calibration_copies(const char *device, struct ofl_calibration_copies *out)
{
    char argument[32];
    memset(out, 0, sizeof *out);
    snprintf(argument, sizeof argument, "%s", device);
    char *text = ofl_cli_capture_call(measure, argument, SECONDS);
    bool ended = false;
    for (char *rest = text, *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;) {
        int direction;
        double bytes, seconds;
        if (strncmp(line, "not ", 4) == 0) {
            ofl_message("calibrate: %s; nothing was measured", line + 4);
            free(text);
            return false;
        }
        ended = ended || strcmp(line, "end") == 0;
        if (sscanf(line, "%d %lf %lf", &direction, &bytes, &seconds) == 3 && direction >= 0 &&
            direction < OFL_DIRECTION_COUNT && out->count[direction] < 16) {
            out->sample[direction][out->count[direction]++] = (struct ofl_copy_sample){bytes, seconds};
        }
    }
    free(text);
    if (!ended && !ofl_cli_interrupted) {
        ofl_message("calibrate: starting the device %s crashed or took longer than %d seconds; 'gpu-offload doctor' "
                    "tries it too; nothing was measured",
                    device, SECONDS);
    }
    return ended;
}
