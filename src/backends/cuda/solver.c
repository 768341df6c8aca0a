/* cuSOLVER: opening it, its handles, its errors.
 *
 * Opened at the first operation of LAPACK's, after cuBLAS, which it needs.  A handle
 * is used by one thread at a time; calls only queue work.  Workspace comes with each
 * call. */
#include "solver.h"
#include "driver.h"
#include "libraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { oldest_release = 12 };

/* The types of the older functions in NVIDIA's header, each of which must be that of struct ofl_cusolver but for what
 * pointers point to. */
#define SAME(function, ...)                                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(function), cusolverStatus_t(__VA_ARGS__)),                  \
                   #function " is not as expected")
#define CHECK(letter, or, T)                                                                                           \
    SAME(cusolverDn##letter##potri_bufferSize, cusolverDnHandle_t, cublasFillMode_t, int, T *, int, int *);            \
    SAME(cusolverDn##letter##potri, cusolverDnHandle_t, cublasFillMode_t, int, T *, int, T *, int, int *);             \
    SAME(cusolverDn##letter## or ##gqr_bufferSize, cusolverDnHandle_t, int, int, int, const T *, int, const T *,       \
         int *);                                                                                                       \
    SAME(cusolverDn##letter## or ##gqr, cusolverDnHandle_t, int, int, int, T *, int, const T *, T *, int, int *);      \
    SAME(cusolverDn##letter## or ##mqr_bufferSize, cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int, int,  \
         int, const T *, int, const T *, const T *, int, int *);                                                       \
    SAME(cusolverDn##letter## or ##mqr, cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int, int, int,        \
         const T *, int, const T *, T *, int, T *, int, int *)
CHECK(S, or, float);
CHECK(D, or, double);
CHECK(C, un, cuComplex);
CHECK(Z, un, cuDoubleComplex);

struct ofl_cusolver ofl_cusolver; /* written under library_lock, constant once library_open */

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static bool library_open; /* under library_lock */

static struct {
    pthread_mutex_t lock;
    cusolverDnHandle_t handle; /* under lock, as is params */
    cusolverDnParams_t params;
} handles[OFL_CUDA_DEVICES] = {[0 ... OFL_CUDA_DEVICES - 1] = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL}};

/* A function of one precision: "cusolverDn", its letter, the name, which begins with UN where it is complex and
 * with OR where it is not. */
static void *find(void *library, int precision, const char *name)
{
    static const char letters[] = "SDCZ";
    char symbol[64];
    bool is_complex = precision == OFL_C || precision == OFL_Z;
    if (strncmp(name, "or", 2) == 0 && is_complex) {
        snprintf(symbol, sizeof symbol, "cusolverDn%cun%s", letters[precision], name + 2);
    } else {
        snprintf(symbol, sizeof symbol, "cusolverDn%c%s", letters[precision], name);
    }
    return dlsym(library, symbol);
}

static bool find_functions(void *library)
{
    bool all = true;
#define FIND(to, address)  all = ((to) = (__typeof__(to))(address)) != NULL && all
#define OFL_CUSOLVER(name) FIND(ofl_cusolver.name, dlsym(library, #name));
#include "solver_functions.def"
#undef OFL_CUSOLVER
    for (int precision = 0; precision < OFL_PRECISION_COUNT; precision++) {
        FIND(ofl_cusolver.potri_bufferSize[precision], find(library, precision, "potri_bufferSize"));
        FIND(ofl_cusolver.potri[precision], find(library, precision, "potri"));
        FIND(ofl_cusolver.orgqr_bufferSize[precision], find(library, precision, "orgqr_bufferSize"));
        FIND(ofl_cusolver.orgqr[precision], find(library, precision, "orgqr"));
        FIND(ofl_cusolver.ormqr_bufferSize[precision], find(library, precision, "ormqr_bufferSize"));
        FIND(ofl_cusolver.ormqr[precision], find(library, precision, "ormqr"));
    }
    return all;
}

static enum ofl_reason open_library(char *explanation, size_t size)
{
    enum ofl_reason reason;
    void *library = ofl_cuda_library_open("libcusolver", NULL, oldest_release, &reason, explanation, size);
    if (library != NULL && !find_functions(library)) {
        snprintf(explanation, size, "libcusolver lacks functions that it should have; reinstall CUDA");
        dlclose(library);
        return OFL_LIBRARY_MISSING;
    }
    return library != NULL ? OFL_OK : reason;
}

enum ofl_reason ofl_cuda_solver_reason(int device, cusolverStatus_t status)
{
    size_t free_bytes, total;
    switch ((int)status) {
    case CUSOLVER_STATUS_SUCCESS:
        return OFL_OK;
    case CUSOLVER_STATUS_ALLOC_FAILED:
        return OFL_DEVICE_MEMORY;
    case CUSOLVER_STATUS_NOT_SUPPORTED:
    case CUSOLVER_STATUS_ARCH_MISMATCH:
    case CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
        return OFL_UNSUPPORTED;
    default: /* was it only this call, or the device? */
        return ofl_cuda_reason(device, ofl_cuda.cuMemGetInfo(&free_bytes, &total), OFL_DEVICE_LOST) == OFL_OK
                   ? OFL_OPERATION_FAILED
                   : OFL_DEVICE_LOST;
    }
}

/* The device is entered and its handle's lock held. */
static enum ofl_reason create_handle(int device, char *explanation, size_t size)
{
    cusolverDnHandle_t made = NULL;
    cusolverStatus_t status = ofl_cusolver.cusolverDnCreate(&made);
    if (status == CUSOLVER_STATUS_SUCCESS) {
        status = ofl_cusolver.cusolverDnCreateParams(&handles[device].params);
    }
    if (status == CUSOLVER_STATUS_SUCCESS) {
        handles[device].handle = made;
        return OFL_OK;
    }
    if (made != NULL) {
        ofl_cusolver.cusolverDnDestroy(made);
    }
    snprintf(explanation, size,
             "cuSOLVER could not be started (status %d); see that the GPU has memory left, and that "
             "cuSOLVER supports it",
             (int)status);
    return ofl_cuda_solver_reason(device, status);
}

enum ofl_reason ofl_cuda_solver_open(int device, char *explanation, size_t size)
{
    pthread_mutex_lock(&library_lock);
    enum ofl_reason reason = library_open ? OFL_OK : open_library(explanation, size);
    library_open = reason == OFL_OK;
    pthread_mutex_unlock(&library_lock);
    if (reason == OFL_OK) {
        reason = ofl_cuda_enter(device);
    }
    if (reason != OFL_OK) {
        return reason;
    }
    pthread_mutex_lock(&handles[device].lock);
    if (handles[device].handle == NULL) {
        reason = create_handle(device, explanation, size);
    }
    pthread_mutex_unlock(&handles[device].lock);
    ofl_cuda_leave();
    return reason;
}

enum ofl_reason ofl_cuda_solver_enter(int device, struct ofl_stream *stream, cusolverDnHandle_t *handle,
                                      cusolverDnParams_t *params)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason != OFL_OK) {
        return reason;
    }
    pthread_mutex_lock(&handles[device].lock);
    *handle = handles[device].handle;
    *params = handles[device].params;
    cusolverStatus_t status = CUSOLVER_STATUS_NOT_INITIALIZED;
    if (*handle != NULL) {
        status = stream != NULL ? ofl_cusolver.cusolverDnSetStream(*handle, (cudaStream_t)(void *)stream)
                                : CUSOLVER_STATUS_SUCCESS;
    }
    if (status != CUSOLVER_STATUS_SUCCESS) {
        reason = ofl_cuda_solver_reason(device, status);
        ofl_cuda_solver_leave(device);
    }
    return reason;
}

void ofl_cuda_solver_leave(int device)
{
    pthread_mutex_unlock(&handles[device].lock);
    ofl_cuda_leave();
}
