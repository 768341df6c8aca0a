/* NVIDIA's driver: finding it, its versions, its devices and its errors.
 *
 * Everything goes through libcuda.so.1, which comes with the kernel's driver; no
 * CUDA installation is needed for it.  Whatever goes wrong at the start has its own
 * explanation, because "no GPU" has many causes and one of them is the user's to
 * mend. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { oldest_version = 12000 }; /* the first with 64-bit sizes in cuBLAS */

struct ofl_cuda_driver ofl_cuda;
int ofl_cuda_version;

static struct ofl_cuda_device devices[OFL_CUDA_DEVICES];
static int device_count;

static const struct {
    const char *symbol;
    size_t offset;
} functions[] = {
#define OFL_CUDA(name, symbol) {symbol, offsetof(struct ofl_cuda_driver, name)},
#include "driver_functions.def"
#undef OFL_CUDA
};

/* Results of the start and what to do about them. */
static const struct {
    CUresult result;
    enum ofl_reason reason;
    const char *advice;
} start_errors[] = {
    {CUDA_ERROR_NO_DEVICE, OFL_NO_DEVICE,
     "the NVIDIA driver is installed but found no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {CUDA_ERROR_STUB_LIBRARY, OFL_NO_DRIVER,
     "libcuda.so.1 is the stub library for linking, not a driver; install the NVIDIA driver, or take the stubs folder "
     "out of LD_LIBRARY_PATH"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, OFL_NO_DRIVER,
     "libcuda.so.1 and the kernel's NVIDIA driver have different versions; reboot after the driver's update, or "
     "install "
     "both from one version"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, OFL_DRIVER_TOO_OLD,
     "libcuda.so.1 is a compatibility library that this GPU does not support; update the NVIDIA driver"},
    {CUDA_ERROR_SYSTEM_NOT_READY, OFL_NO_DEVICE,
     "the GPU system is not ready; start NVIDIA's fabric manager, see its log"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, OFL_DEVICE_BUSY,
     "the GPU is used exclusively by another program; wait for it, or see its compute mode in nvidia-smi"},
    {CUDA_ERROR_DEVICE_NOT_LICENSED, OFL_NO_DEVICE, "the virtual GPU has no licence; see its licensing service"},
    {CUDA_ERROR_OUT_OF_MEMORY, OFL_DEVICE_MEMORY,
     "the GPU has no memory left for another program; wait for others to end, see nvidia-smi"},
};

/* Errors after which nothing in the context works any more. */
static const CUresult final_errors[] = {
    CUDA_ERROR_DEINITIALIZED,
    CUDA_ERROR_DEVICE_UNAVAILABLE,
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_ERROR_NOT_INITIALIZED,
    CUDA_ERROR_MPS_CONNECTION_FAILED,
    CUDA_ERROR_MPS_RPC_FAILURE,
    CUDA_ERROR_MPS_SERVER_NOT_READY,
    CUDA_ERROR_MPS_CLIENT_TERMINATED,
    CUDA_ERROR_EXTERNAL_DEVICE,
    CUDA_ERROR_UNKNOWN,
};

const char *ofl_cuda_error(CUresult result)
{
    const char *text = NULL;
    if (ofl_cuda.cuGetErrorString == NULL || ofl_cuda.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == NULL) {
        return "unknown error";
    }
    return text;
}

static enum ofl_reason explain_start(const char *function, CUresult result, char *explanation, size_t size)
{
    for (size_t i = 0; i < sizeof start_errors / sizeof *start_errors; i++) {
        if (start_errors[i].result == result) {
            snprintf(explanation, size, "%s", start_errors[i].advice);
            return start_errors[i].reason;
        }
    }
    snprintf(explanation, size,
             "the NVIDIA driver does not work (%s: error %d, %s); check nvidia-smi and the kernel's log", function,
             (int)result, ofl_cuda_error(result));
    return OFL_NO_DEVICE;
}

static void *open_driver(char *explanation, size_t size)
{
    static const char *const names[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        const char *error = library == NULL ? dlerror() : NULL;
        if (library == NULL && i == 0) { /* the usual place is the one to speak of */
            snprintf(explanation, size,
                     "the NVIDIA driver's libcuda.so.1 could not be loaded (%s); install the NVIDIA driver",
                     error != NULL ? error : "no reason given");
        }
    }
    return library;
}

static const char *find_functions(void *library)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].symbol);
        if (function == NULL) {
            return functions[i].symbol;
        }
        memcpy((char *)&ofl_cuda + functions[i].offset, &function, sizeof function);
    }
    return NULL;
}

/* The version is asked first: an old driver lacks functions. */
static enum ofl_reason check_version(void *library, char *explanation, size_t size)
{
    __typeof__(&cuDriverGetVersion) get_version = (__typeof__(&cuDriverGetVersion))dlsym(library, "cuDriverGetVersion");
    if (get_version == NULL) {
        snprintf(explanation, size,
                 "libcuda.so.1 has no cuDriverGetVersion: it is not NVIDIA's; install the NVIDIA driver");
        return OFL_NO_DRIVER;
    }
    CUresult result = get_version(&ofl_cuda_version);
    if (result != CUDA_SUCCESS) {
        return explain_start("cuDriverGetVersion", result, explanation, size);
    }
    if (ofl_cuda_version < oldest_version) {
        snprintf(explanation, size,
                 "the NVIDIA driver supports CUDA %d.%d, but gpu-offload needs CUDA %d.%d or later; update the NVIDIA "
                 "driver",
                 ofl_cuda_version / 1000, ofl_cuda_version % 1000 / 10, oldest_version / 1000,
                 oldest_version % 1000 / 10);
        return OFL_DRIVER_TOO_OLD;
    }
    const char *missing = find_functions(library);
    if (missing != NULL) {
        snprintf(explanation, size, "the NVIDIA driver has no %s; update the NVIDIA driver", missing);
        return OFL_DRIVER_TOO_OLD;
    }
    return OFL_OK;
}

enum ofl_reason ofl_cuda_driver_start(int *count, char *explanation, size_t size)
{
    *count = 0;
    void *library = open_driver(explanation, size);
    if (library == NULL) {
        return OFL_NO_DRIVER;
    }
    enum ofl_reason reason = check_version(library, explanation, size);
    if (reason != OFL_OK) {
        return reason;
    }
    CUresult result = ofl_cuda.cuInit(0);
    if (result != CUDA_SUCCESS) {
        return explain_start("cuInit", result, explanation, size);
    }
    result = ofl_cuda.cuDeviceGetCount(count);
    if (result == CUDA_SUCCESS && *count < 1) {
        result = CUDA_ERROR_NO_DEVICE;
    }
    *count = *count < OFL_CUDA_DEVICES ? *count : OFL_CUDA_DEVICES;
    for (int i = 0; i < *count && result == CUDA_SUCCESS; i++) {
        result = ofl_cuda.cuDeviceGet(&devices[i].number, i);
    }
    if (result != CUDA_SUCCESS) {
        return explain_start("cuDeviceGet", result, explanation, size);
    }
    device_count = *count;
    return OFL_OK;
}

struct ofl_cuda_device *ofl_cuda_device(int device)
{
    return device >= 0 && device < device_count ? &devices[device] : NULL;
}

static CUresult read_attributes(struct ofl_cuda_device *it)
{
    int pitch = 0, major = 0, minor = 0;
    CUresult result = ofl_cuda.cuDeviceGetAttribute(&pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, it->number);
    if (result == CUDA_SUCCESS) {
        result = ofl_cuda.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, it->number);
    }
    if (result == CUDA_SUCCESS) {
        result = ofl_cuda.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, it->number);
    }
    it->max_pitch = pitch > 0 ? (size_t)pitch : 0;
    it->capability = 10 * major + minor;
    return result;
}

enum ofl_reason ofl_cuda_open(int device, char *explanation, size_t size)
{
    struct ofl_cuda_device *it = ofl_cuda_device(device);
    if (it == NULL) {
        snprintf(explanation, size, "there is no GPU number %d", device);
        return OFL_NO_DEVICE;
    }
    CUresult result = read_attributes(it);
    if (result == CUDA_SUCCESS) {
        result = ofl_cuda.cuDevicePrimaryCtxRetain(&it->context, it->number);
    }
    if (result != CUDA_SUCCESS) {
        it->context = NULL;
        return explain_start("cuDevicePrimaryCtxRetain", result, explanation, size);
    }
    return OFL_OK;
}

void ofl_cuda_close(int device)
{
    struct ofl_cuda_device *it = ofl_cuda_device(device);
    if (it != NULL && it->context != NULL) {
        ofl_cuda.cuDevicePrimaryCtxRelease(it->number);
        it->context = NULL;
    }
}

enum ofl_reason ofl_cuda_enter(int device)
{
    struct ofl_cuda_device *it = ofl_cuda_device(device);
    if (it == NULL || it->context == NULL) {
        return OFL_NO_DEVICE;
    }
    if (atomic_load_explicit(&it->lost, memory_order_relaxed)) {
        return OFL_DEVICE_LOST;
    }
    CUresult result = ofl_cuda.cuCtxPushCurrent(it->context);
    return ofl_cuda_reason(device, result, OFL_DEVICE_LOST);
}

void ofl_cuda_leave(void)
{
    CUcontext ours;
    ofl_cuda.cuCtxPopCurrent(&ours);
}

enum ofl_reason ofl_cuda_reason(int device, CUresult result, enum ofl_reason failure)
{
    if (result == CUDA_SUCCESS) {
        return OFL_OK;
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        return failure == OFL_HOST_MEMORY ? OFL_HOST_MEMORY : OFL_DEVICE_MEMORY;
    }
    for (size_t i = 0; i < sizeof final_errors / sizeof *final_errors; i++) {
        failure = final_errors[i] == result ? OFL_DEVICE_LOST : failure;
    }
    if (failure == OFL_DEVICE_LOST) {
        atomic_store(&ofl_cuda_device(device)->lost, true);
    }
    return failure;
}
