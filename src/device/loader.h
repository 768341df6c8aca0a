/* Finding and opening backend libraries. */
#ifndef OFL_DEVICE_LOADER_H
#define OFL_DEVICE_LOADER_H
#include <gpu-offload/device.h>

/* Opens libgpuoffload-NAME.so, which lies beside this library or in the setting backend_dir, and checks
 * that it speaks this version of the device ABI.  On failure, `explanation` says what to do. */
enum ofl_reason ofl_backend_load(const char *name, const struct ofl_backend **out, char *explanation, size_t size);

/* Whether that library exists; loads nothing. */
enum ofl_reason ofl_backend_look(const char *name, char *explanation, size_t size);
#endif
