/* A backend of another version: the core must look no further than its number. */
#include <gpu-offload/device.h>

extern const struct ofl_backend ofl_backend;
__attribute__((visibility("default"))) const struct ofl_backend ofl_backend = {
    .abi = OFL_DEVICE_ABI + 1000, .size = sizeof(struct ofl_backend), .name = "host"};
