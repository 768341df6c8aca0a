/* BLAS operations of the CUDA backend, by cuBLAS.
 *
 * cuBLAS is opened at the first operation, and a device gets its handle then.  Its
 * interfaces with 64-bit sizes are used (CUDA 12 and later), so that no size is too
 * large.  Double precision is double and single is single: the default math mode
 * never rounds operands to shorter formats.  A handle is used by one thread at a
 * time; calls only queue work, so that this costs nothing.  The workspace comes
 * with each call, so that two streams never share one. */
#include "blas.h"
#include "driver.h"
#include "libraries.h"

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

#define GEAM(T)                                                                                                        \
    cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t, int64_t, const T *, const T *,       \
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
SAME(cublasSgeam_64, GEAM(float));
SAME(cublasDgeam_64, GEAM(double));
SAME(cublasCgeam_64, GEAM(cuComplex));
SAME(cublasZgeam_64, GEAM(cuDoubleComplex));

typedef __typeof__(GEMM(void)) gemm_function;
typedef __typeof__(SYMM(void)) symm_function;
typedef __typeof__(SYRK(void, void)) syrk_function;
typedef __typeof__(SYR2K(void, void)) syr2k_function;
typedef __typeof__(TRMM(void)) trmm_function;
typedef __typeof__(TRSM(void)) trsm_function;
typedef __typeof__(GEAM(void)) geam_function;
typedef void routine_function(void);

static struct {
    __typeof__(&cublasCreate_v2) create;
    __typeof__(&cublasSetStream_v2) set_stream;
    __typeof__(&cublasSetWorkspace_v2) set_workspace;
    __typeof__(&cublasSetMathMode) set_math_mode;
    routine_function *routines[OFL_OPERATION_COUNT][OFL_PRECISION_COUNT];
    routine_function *geam[OFL_PRECISION_COUNT];
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

/* An element of an operand, op() applied: element (row, column) of op(X). */
static void *element(const struct ofl_buffer *matrix, char trans, int64_t row, int64_t column)
{
    int64_t i = trans == 'N' ? row : column, j = trans == 'N' ? column : row;
    return (char *)matrix->address + ((size_t)j * (size_t)matrix->ld + (size_t)i) * matrix->element_size;
}

/* cuBLAS has no gemmt: products of block columns, each as long as the triangle is there.  They write a
 * little of the other triangle, for which the device's copy has room and which is not copied back. */
static cublasStatus_t run_gemmt(cublasHandle_t handle, routine_function *routine, const struct ofl_call *call)
{
    enum { block = 1024 };
    const struct ofl_buffer *a = &call->operand[0], *b = &call->operand[1], *c = &call->operand[2];
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int64_t first = 0; first < call->n && status == CUBLAS_STATUS_SUCCESS; first += block) {
        int64_t columns = call->n - first < block ? call->n - first : block;
        int64_t row = call->uplo == 'U' ? 0 : first;
        int64_t height = call->uplo == 'U' ? first + columns : call->n - first;
        status = ((gemm_function *)routine)(handle, transposition(call->transa), transposition(call->transb), height,
                                            columns, call->k, &call->alpha, element(a, call->transa, row, 0), a->ld,
                                            element(b, call->transb, 0, first), b->ld, &call->beta,
                                            element(c, 'N', row, first), c->ld);
    }
    return status;
}

static shape *const shapes[OFL_OPERATION_COUNT] = {
    [OFL_OP_gemm] = run_gemm, [OFL_OP_symm] = run_symm,   [OFL_OP_hemm] = run_symm,   [OFL_OP_syrk] = run_syrk,
    [OFL_OP_herk] = run_syrk, [OFL_OP_syr2k] = run_syr2k, [OFL_OP_her2k] = run_syr2k, [OFL_OP_trmm] = run_trmm,
    [OFL_OP_trsm] = run_trsm, [OFL_OP_gemmt] = run_gemmt,
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
    memcpy(cublas.routines[OFL_OP_gemmt], cublas.routines[OFL_OP_gemm], sizeof cublas.routines[OFL_OP_gemmt]);
    for (const char *letter = "sdcz"; *letter != '\0'; letter++) {
        char symbol[48];
        snprintf(symbol, sizeof symbol, "cublas%cgeam_64", toupper((unsigned char)*letter));
        cublas.geam[precision_of(*letter)] = (routine_function *)dlsym(library, symbol);
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

enum ofl_reason ofl_cuda_blas_open(int device, char *explanation, size_t size)
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
        reason = create_handle(device, &handles[device].handle, explanation, size);
    }
    pthread_mutex_unlock(&handles[device].lock);
    ofl_cuda_leave();
    return reason;
}

bool ofl_cuda_is_blas(enum ofl_operation operation)
{
    return shapes[operation] != NULL;
}

enum ofl_reason ofl_cuda_blas_supports(const struct ofl_call *call)
{
    return shapes[call->operation] != NULL && cublas.routines[call->operation][call->precision] != NULL
               ? OFL_OK
               : OFL_UNSUPPORTED;
}

/* As much as cuBLAS's documentation recommends. */
size_t ofl_cuda_blas_workspace(int device)
{
    return (size_t)(ofl_cuda_device(device)->capability >= 90 ? 32 : 4) << 20;
}

/* The device is entered and its handle's lock held. */
static cublasStatus_t prepare_handle(int device, const struct ofl_cuda_work *work)
{
    cublasHandle_t handle = handles[device].handle;
    cublasStatus_t status = CUBLAS_STATUS_NOT_INITIALIZED;
    if (handle != NULL) {
        status = cublas.set_stream(handle, (cudaStream_t)(void *)work->stream); /* resets the workspace */
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
        status = cublas.set_workspace(handle, work->scratch, work->bytes);
    }
    return status;
}

CUresult ofl_cuda_clear_imaginary_diagonal(const struct ofl_buffer *matrix, CUstream stream)
{
    size_t part = matrix->element_size / 2; /* bytes of a real or an imaginary part */
    return ofl_cuda.cuMemsetD2D32Async((CUdeviceptr)(uintptr_t)matrix->address + part,
                                       (size_t)(matrix->ld + 1) * matrix->element_size, 0, part / 4,
                                       (size_t)matrix->rows, stream);
}

/* BLAS takes the diagonal of a Hermitian matrix as real whatever its imaginary parts hold; cuBLAS 13.1's cher2k
 * lets them into the result.  Every Hermitian operand gets them cleared: it is the device's own copy. */
static CUresult clear_imaginary_diagonals(const struct ofl_call *call, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; rows[call->operation].name[0] == 'h' && i < call->operands && result == CUDA_SUCCESS; i++) {
        if (call->operand[i].region != OFL_GENERAL) {
            result = ofl_cuda_clear_imaginary_diagonal(&call->operand[i], stream);
        }
    }
    return result;
}

enum ofl_reason ofl_cuda_blas_run(int device, const struct ofl_cuda_work *work, const struct ofl_call *call)
{
    enum ofl_reason reason = ofl_cuda_blas_supports(call);
    if (reason == OFL_OK) {
        reason = ofl_cuda_enter(device);
    }
    if (reason != OFL_OK) {
        return reason;
    }
    pthread_mutex_lock(&handles[device].lock);
    cublasStatus_t status = prepare_handle(device, work);
    if (status == CUBLAS_STATUS_SUCCESS &&
        clear_imaginary_diagonals(call, (CUstream)(void *)work->stream) != CUDA_SUCCESS) {
        status = CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
        status =
            shapes[call->operation](handles[device].handle, cublas.routines[call->operation][call->precision], call);
    }
    pthread_mutex_unlock(&handles[device].lock);
    reason = reason_of(device, status);
    ofl_cuda_leave();
    return reason;
}

/* geam with B = C and beta = 0, the form that cuBLAS documents for working in place of B. */
enum ofl_reason ofl_cuda_blas_transpose(int device, const struct ofl_cuda_work *work, enum ofl_precision precision,
                                        const struct ofl_buffer *from, const struct ofl_buffer *to)
{
    union ofl_scalar one = {.z = {0, 0}}, zero = {.z = {0, 0}};
    if (precision == OFL_S || precision == OFL_C) {
        one.s = 1;
    } else {
        one.d = 1;
    }
    enum ofl_reason reason = cublas.geam[precision] != NULL ? ofl_cuda_enter(device) : OFL_UNSUPPORTED;
    if (reason != OFL_OK) {
        return reason;
    }
    pthread_mutex_lock(&handles[device].lock);
    cublasStatus_t status = prepare_handle(device, work);
    if (status == CUBLAS_STATUS_SUCCESS) {
        status = ((geam_function *)cublas.geam[precision])(handles[device].handle, CUBLAS_OP_T, CUBLAS_OP_N, to->rows,
                                                           to->columns, &one, from->address, from->ld, &zero,
                                                           to->address, to->ld, to->address, to->ld);
    }
    pthread_mutex_unlock(&handles[device].lock);
    reason = reason_of(device, status);
    ofl_cuda_leave();
    return reason;
}
