/* Whether NVIDIA's driver is there, as far as files tell. */
#ifndef OFL_PROFILE_DRIVER_H
#define OFL_PROFILE_DRIVER_H
#include <gpu-offload/device.h>

/* OFL_OK, which does not promise that the driver works, or a reason with what is wrong and what to do about it.  Only
 * what is certain is told. */
enum ofl_reason ofl_driver_look(char *explanation, size_t size);
#endif
