/* Finding NVIDIA's libraries. */
#ifndef OFL_BACKENDS_CUDA_LIBRARIES_H
#define OFL_BACKENDS_CUDA_LIBRARIES_H
#include <gpu-offload/device.h>

/* Opens a library of the CUDA release that the driver supports, or an older one: NAME.so.MAJOR with MAJOR from
 * ofl_cuda_version's down to `oldest`, releases of CUDA (libcusolver's own numbers lie one behind).  `companion` is a
 * library that it needs and that lies beside it, or NULL.  NULL with a reason and an explanation on failure. */
void *ofl_cuda_library_open(const char *name, const char *companion, int oldest, enum ofl_reason *reason,
                            char *explanation, size_t size);
#endif
