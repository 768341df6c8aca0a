/* NVIDIA's driver: its functions, its devices, its errors. */
#ifndef OFL_BACKENDS_CUDA_DRIVER_H
#define OFL_BACKENDS_CUDA_DRIVER_H
#include <gpu-offload/device.h>

#include <cuda.h>
#include <stdatomic.h>

enum { OFL_CUDA_DEVICES = 64 };

struct ofl_cuda_driver {
#define OFL_CUDA(name, symbol) __typeof__(&name) name;
#include "driver_functions.def"
#undef OFL_CUDA
};

struct ofl_cuda_device {
    CUdevice number;
    CUcontext context; /* the device's primary one, which the program may share; NULL unless open */
    size_t max_pitch;  /* of strided copies */
    int capability;    /* 90 for 9.0 */
    atomic_bool lost;
};

/* Written by the start; constant afterwards. */
extern struct ofl_cuda_driver ofl_cuda;
extern int ofl_cuda_version; /* of CUDA, that the driver supports: 12040 */

/* Finds the driver, checks its version, initialises it and counts its devices. */
enum ofl_reason ofl_cuda_driver_start(int *devices, char *explanation, size_t size);

enum ofl_reason ofl_cuda_open(int device, char *explanation, size_t size);
void ofl_cuda_close(int device);

/* The device, NULL if there is none of this number. */
struct ofl_cuda_device *ofl_cuda_device(int device);

/* Makes the device's context current in this thread and remembers the one that was: the program may use
 * CUDA itself.  After OFL_OK, ofl_cuda_leave must follow. */
enum ofl_reason ofl_cuda_enter(int device);
void ofl_cuda_leave(void);

/* The reason for a result: OFL_OK, OFL_DEVICE_LOST (from then on) for errors after which a context is
 * unusable, OFL_DEVICE_MEMORY, or else `failure`. */
enum ofl_reason ofl_cuda_reason(int device, CUresult result, enum ofl_reason failure);

/* "out of memory": what the driver says about an error. */
const char *ofl_cuda_error(CUresult result);
#endif
