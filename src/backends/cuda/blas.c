/* BLAS operations of the CUDA backend, by cuBLAS.
 *
 * cuBLAS is opened at the first operation, and a device gets its handle then.  Its
 * interfaces with 64-bit sizes are used (CUDA 12 and later), so that no size is too
 * large.  Double precision is double and single is single: the default math mode
 * never rounds operands to shorter formats.  A handle is used by one thread at a
 * time; calls only queue work, so that this costs nothing.  The workspace comes
 * with each call, so that two streams never share one. */
#include "driver.h"
#include "libraries.h"
#include "parts.h"

#include <cublas_v2.h>
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { oldest_release = 12 };

/* The shapes of argument lists.  cuBLAS has one function type for each precision, which differ in what their pointers
 * point to only; scalars are T, or R where they are real whatever the precision.  They are called through the type
 * with void pointers.  The assertions below let the compiler check each against cuBLAS's header. */
#define GEMM(T)                                                                                                        \
    cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t, int64_t, int64_t, const T *,         \
                   const T *, int64_t, const T *, int64_t, const T *, T *, int64_t)
#define SYMM(T)                                                                                                        \
    cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int64_t, int64_t, const T *, const T *,         \
                   int64_t, const T *, int64_t, const T *, T *, int64_t)
#define SYRK(T, R)                                                                                                     \
    cublasStatus_t(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int64_t, int64_t, const R *, const T *,        \
                   int64_t, const R *, T *, int64_t)
#define SYR2K(T, R)                                                                                                    \
    cublasStatus_t(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int64_t, int64_t, const T *, const T *,        \
                   int64_t, const T *, int64_t, const R *, T *, int64_t)
#define TRMM(T)                                                                                                        \
    cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t,   \
                   int64_t, const T *, const T *, int64_t, const T *, int64_t, T *, int64_t)
#define TRSM(T)                                                                                                        \
    cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t,   \
                   int64_t, const T *, const T *, int64_t, T *, int64_t)

#define SAME(function, ...)                                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(function), __VA_ARGS__), #function " is not as expected")
SAME(cublasSgemm_v2_64, GEMM(float));
SAME(cublasDgemm_v2_64, GEMM(double));
SAME(cublasCgemm_v2_64, GEMM(cuComplex));
SAME(cublasZgemm_v2_64, GEMM(cuDoubleComplex));
SAME(cublasSsymm_v2_64, SYMM(float));
SAME(cublasDsymm_v2_64, SYMM(double));
SAME(cublasCsymm_v2_64, SYMM(cuComplex));
SAME(cublasZsymm_v2_64, SYMM(cuDoubleComplex));
SAME(cublasChemm_v2_64, SYMM(cuComplex));
SAME(cublasZhemm_v2_64, SYMM(cuDoubleComplex));
SAME(cublasSsyrk_v2_64, SYRK(float, float));
SAME(cublasDsyrk_v2_64, SYRK(double, double));
SAME(cublasCsyrk_v2_64, SYRK(cuComplex, cuComplex));
SAME(cublasZsyrk_v2_64, SYRK(cuDoubleComplex, cuDoubleComplex));
SAME(cublasCherk_v2_64, SYRK(cuComplex, float));
SAME(cublasZherk_v2_64, SYRK(cuDoubleComplex, double));
SAME(cublasSsyr2k_v2_64, SYR2K(float, float));
SAME(cublasDsyr2k_v2_64, SYR2K(double, double));
SAME(cublasCsyr2k_v2_64, SYR2K(cuComplex, cuComplex));
SAME(cublasZsyr2k_v2_64, SYR2K(cuDoubleComplex, cuDoubleComplex));
SAME(cublasCher2k_v2_64, SYR2K(cuComplex, float));
SAME(cublasZher2k_v2_64, SYR2K(cuDoubleComplex, double));
SAME(cublasStrmm_v2_64, TRMM(float));
SAME(cublasDtrmm_v2_64, TRMM(double));
SAME(cublasCtrmm_v2_64, TRMM(cuComplex));
SAME(cublasZtrmm_v2_64, TRMM(cuDoubleComplex));
SAME(cublasStrsm_v2_64, TRSM(float));
SAME(cublasDtrsm_v2_64, TRSM(double));
SAME(cublasCtrsm_v2_64, TRSM(cuComplex));
SAME(cublasZtrsm_v2_64, TRSM(cuDoubleComplex));

typedef __typeof__(GEMM(void)) gemm_function;
typedef __typeof__(SYMM(void)) symm_function;
typedef __typeof__(SYRK(void, void)) syrk_function;
typedef __typeof__(SYR2K(void, void)) syr2k_function;
typedef __typeof__(TRMM(void)) trmm_function;
typedef __typeof__(TRSM(void)) trsm_function;
typedef void routine_function(void);

static struct {
    __typeof__(&cublasCreate_v2) create;
    __typeof__(&cublasSetStream_v2) set_stream;
    __typeof__(&cublasSetWorkspace_v2) set_workspace;
    __typeof__(&cublasSetMathMode) set_math_mode;
    routine_function *routines[OFL_OPERATION_COUNT][OFL_PRECISION_COUNT];
} cublas; /* written under library_lock, constant once library_open */

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static bool library_open; /* under library_lock */

static struct {
    pthread_mutex_t lock;
    cublasHandle_t handle; /* under lock */
} handles[OFL_CUDA_DEVICES] = {[0 ... OFL_CUDA_DEVICES - 1] = {PTHREAD_MUTEX_INITIALIZER, NULL}};

static const struct {
    const char *name, *precisions;
} rows[OFL_OPERATION_COUNT] = {
#define OFL_OPERATION(name, precisions, ...) [OFL_OP_##name] = {#name, precisions},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

typedef cublasStatus_t shape(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call);

static cublasOperation_t transposition(char flag)
{
    return flag == 'N' ? CUBLAS_OP_N : flag == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C;
}

static cublasFillMode_t triangle(const struct ofl_call *call)
{
    return call->uplo == 'U' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

static cublasSideMode_t side(const struct ofl_call *call)
{
    return call->side == 'L' ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

static cublasDiagType_t diagonal(const struct ofl_call *call)
{
    return call->diag == 'U' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

static cublasStatus_t run_gemm(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call)
{
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1], *c = &call->operand[2];
    return ((gemm_function *)routine)(handle, transposition(call->transa), transposition(call->transb), call->m,
                                      call->n, call->k, &call->alpha, a->address, a->ld, b->address, b->ld, &call->beta,
                                      c->address, c->ld);
}

static cublasStatus_t run_symm(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call)
{
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1], *c = &call->operand[2];
    return ((symm_function *)routine)(handle, side(call), triangle(call), call->m, call->n, &call->alpha, a->address,
                                      a->ld, b->address, b->ld, &call->beta, c->address, c->ld);
}

static cublasStatus_t run_syrk(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call)
{
    const struct ofl_buffer *a = &call->operand[0], *c = &call->operand[1];
    return ((syrk_function *)routine)(handle, triangle(call), transposition(call->trans), call->n, call->k,
                                      &call->alpha, a->address, a->ld, &call->beta, c->address, c->ld);
}

static cublasStatus_t run_syr2k(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call)
{
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1], *c = &call->operand[2];
    return ((syr2k_function *)routine)(handle, triangle(call), transposition(call->trans), call->n, call->k,
                                       &call->alpha, a->address, a->ld, b->address, b->ld, &call->beta, c->address,
                                       c->ld);
}

/* cuBLAS's trmm has a result of its own, which may be B. */
static cublasStatus_t run_trmm(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call)
{
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1];
    return ((trmm_function *)routine)(handle, side(call), triangle(call), transposition(call->transa), diagonal(call),
                                      call->m, call->n, &call->alpha, a->address, a->ld, b->address, b->ld, b->address,
                                      b->ld);
}

static cublasStatus_t run_trsm(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call)
{
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1];
    return ((trsm_function *)routine)(handle, side(call), triangle(call), transposition(call->transa), diagonal(call),
                                      call->m, call->n, &call->alpha, a->address, a->ld, b->address, b->ld);
}

static shape *const shapes[OFL_OPERATION_COUNT] = {
    [OFL_OP_gemm] = run_gemm,   [OFL_OP_symm] = run_symm, [OFL_OP_hemm] = run_symm,
    [OFL_OP_syrk] = run_syrk,   [OFL_OP_herk] = run_syrk, [OFL_OP_syr2k] = run_syr2k,
    [OFL_OP_her2k] = run_syr2k, [OFL_OP_trmm] = run_trmm, [OFL_OP_trsm] = run_trsm,
};

static enum ofl_precision precision_of(char letter)
{
    return letter == 's' ? OFL_S : letter == 'd' ? OFL_D : letter == 'c' ? OFL_C : OFL_Z;
}

static void find_routines(void *library)
{
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (const char *letter = rows[operation].precisions; *letter != '\0'; letter++) {
            char symbol[48];
            snprintf(symbol, sizeof symbol, "cublas%c%s_v2_64", toupper((unsigned char)*letter), rows[operation].name);
            cublas.routines[operation][precision_of(*letter)] = (routine_function *)dlsym(library, symbol);
        }
    }
}

static enum ofl_reason open_library(char *explanation, size_t size)
{
    enum ofl_reason reason;
    void *library = ofl_cuda_library_open("libcublas", "libcublasLt", oldest_release, &reason, explanation, size);
    if (library == NULL) {
        return reason;
    }
    cublas.create = (__typeof__(cublas.create))dlsym(library, "cublasCreate_v2");
    cublas.set_stream = (__typeof__(cublas.set_stream))dlsym(library, "cublasSetStream_v2");
    cublas.set_workspace = (__typeof__(cublas.set_workspace))dlsym(library, "cublasSetWorkspace_v2");
    cublas.set_math_mode = (__typeof__(cublas.set_math_mode))dlsym(library, "cublasSetMathMode");
    if (cublas.create == NULL || cublas.set_stream == NULL || cublas.set_workspace == NULL ||
        cublas.set_math_mode == NULL) {
        snprintf(explanation, size, "libcublas lacks functions that it should have; reinstall CUDA");
        dlclose(library);
        return OFL_LIBRARY_MISSING;
    }
    find_routines(library);
    return OFL_OK;
}

static enum ofl_reason reason_of(int device, cublasStatus_t status)
{
    switch ((int)status) {
    case CUBLAS_STATUS_SUCCESS:
        return OFL_OK;
    case CUBLAS_STATUS_ALLOC_FAILED:
        return OFL_DEVICE_MEMORY;
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
        return OFL_UNSUPPORTED;
    default: { /* was it only this call, or the device? */
        size_t free_bytes, total;
        return ofl_cuda_reason(device, ofl_cuda.cuMemGetInfo(&free_bytes, &total), OFL_DEVICE_LOST) == OFL_OK
                   ? OFL_OPERATION_FAILED
                   : OFL_DEVICE_LOST;
    }
    }
}

/* The device is entered and its handle's lock held. */
static enum ofl_reason create_handle(int device, cublasHandle_t *handle, char *explanation, size_t size)
{
    cublasHandle_t made = NULL;
    cublasStatus_t status = cublas.create(&made);
    if (status == CUBLAS_STATUS_SUCCESS) {
        status = cublas.set_math_mode(made, CUBLAS_DEFAULT_MATH);
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
        *handle = made;
        return OFL_OK;
    }
    snprintf(explanation, size,
             "cuBLAS could not be started (status %d); see that the GPU has memory left, and that "
             "cuBLAS supports it",
             (int)status);
    return reason_of(device, status);
}

enum ofl_reason ofl_cuda_operation_prepare(int device, enum ofl_operation operation, char *explanation, size_t size)
{
    if (shapes[operation] == NULL) {
        snprintf(explanation, size, "the cuda backend has no routine for %s", rows[operation].name);
        return OFL_UNSUPPORTED;
    }
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
        reason = create_handle(device, &handles[device].handle, explanation, size);
    }
    pthread_mutex_unlock(&handles[device].lock);
    ofl_cuda_leave();
    return reason;
}

enum ofl_reason ofl_cuda_operation_supports(int device, const struct ofl_call *call)
{
    if (ofl_cuda_device(device) == NULL) {
        return OFL_NO_DEVICE;
    }
    return shapes[call->operation] != NULL && cublas.routines[call->operation][call->precision] != NULL
               ? OFL_OK
               : OFL_UNSUPPORTED;
}

/* As much as cuBLAS's documentation recommends. */
enum ofl_reason ofl_cuda_operation_workspace(int device, const struct ofl_call *call, size_t *device_bytes,
                                             size_t *host_bytes)
{
    (void)call;
    const struct ofl_cuda_device *it = ofl_cuda_device(device);
    if (it == NULL) {
        return OFL_NO_DEVICE;
    }
    *device_bytes = (size_t)(it->capability >= 90 ? 32 : 4) << 20;
    *host_bytes = 0;
    return OFL_OK;
}

enum ofl_reason ofl_cuda_operation_run(int device, struct ofl_stream *stream, const struct ofl_call *call,
                                       void *device_scratch, size_t device_bytes, void *host_scratch, size_t host_bytes)
{
    (void)host_scratch, (void)host_bytes;
    enum ofl_reason reason = ofl_cuda_operation_supports(device, call);
    if (reason == OFL_OK) {
        reason = ofl_cuda_enter(device);
    }
    if (reason != OFL_OK) {
        return reason;
    }
    pthread_mutex_lock(&handles[device].lock);
    cublasHandle_t handle = handles[device].handle;
    cublasStatus_t status = CUBLAS_STATUS_NOT_INITIALIZED;
    if (handle != NULL) {
        status = cublas.set_stream(handle, (cudaStream_t)(void *)stream); /* resets the workspace */
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
        status = cublas.set_workspace(handle, device_scratch, device_bytes);
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
        status = shapes[call->operation](handle, cublas.routines[call->operation][call->precision], call);
    }
    pthread_mutex_unlock(&handles[device].lock);
    reason = reason_of(device, status);
    ofl_cuda_leave();
    return reason;
}
