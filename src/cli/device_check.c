/* What can be told of a device before the program starts, without loading anything into it.
 *
 * Entry point: ofl_cli_check_device.  A GPU that was asked for and cannot work is to be told at once, not when a
 * call first needs it, an hour later perhaps.  So `run` looks at files: the backend's, the driver's.  Only what is
 * certain is told; whether a device really works shows when it is started, and `gpu-offload doctor` starts it. */
#include "cli/device_check.h"
#include "cli/cli.h"
#include "profile/driver.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool ofl_cli_check_device(const char *device, const char *backend_folder, char *explanation, size_t size)
{
    char file[64], path[PATH_MAX];
    struct stat status;
    snprintf(file, sizeof file, "libgpuoffload-%s.so", device);
    if (*backend_folder != '\0') {
        snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - (int)sizeof file - 1, backend_folder, file);
    } else if (!ofl_cli_library(file, path, sizeof path)) {
        return true; /* the program will say it */
    }
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(explanation, size,
                 "%s was not found in %.*s; install gpu-offload's %s backend there or set GPU_OFFLOAD_BACKEND_DIR to "
                 "its folder",
                 file, (int)(strlen(path) - strlen(file) - 1), path, device);
        return false;
    }
    return strcmp(device, "cuda") != 0 || ofl_driver_look(explanation, size) == OFL_OK;
}
