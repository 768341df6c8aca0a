/* Whether a device that was asked for by name can work, as far as files tell. */
#ifndef OFL_CLI_DEVICE_CHECK_H
#define OFL_CLI_DEVICE_CHECK_H
#include <stdbool.h>
#include <stddef.h>

/* `device`: cuda or host; `backend_folder`: the setting, "" for where our libraries are.  False with what is
 * wrong and what to do about it; true does not promise that the device works. */
bool ofl_cli_check_device(const char *device, const char *backend_folder, char *explanation, size_t size);
#endif
