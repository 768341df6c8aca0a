/* A stand-in for cuSOLVER, libcusolver.so, over the fake driver: the same functions, declared by NVIDIA's header,
 * computed by a CPU library's Fortran routines.  It checks what cuSOLVER would: a handle, a stream, parameters, a
 * current context, and workspaces of exactly the size that was asked for, which it fills with rubbish. */
#include <cuda.h>
#include <cusolverDn.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Its calls of its own routines must not reach a library of the program's with other integers. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { load_mode = RTLD_NOW | RTLD_LOCAL };
#else
enum { load_mode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };
#endif

enum { host_bytes = 192, spare = 7 };

struct cusolverDnContext {
    bool stream;
    void *library;
};

struct cusolverDnParams {
    int made;
};

static bool has_context(void)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return context != NULL;
}

EXPORT cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
    *handle = calloc(1, sizeof **handle);
    if (*handle == NULL || !has_context()) {
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    }
    (*handle)->library = dlopen("libopenblas.so.0", load_mode);
    return (*handle)->library != NULL ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

EXPORT cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
    free(handle);
    return CUSOLVER_STATUS_SUCCESS;
}

EXPORT cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params)
{
    *params = calloc(1, sizeof **params);
    return *params != NULL ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

EXPORT cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream != NULL;
    return CUSOLVER_STATUS_SUCCESS;
}

static char letter_of(cudaDataType type)
{
    return type == CUDA_R_32F ? 's' : type == CUDA_R_64F ? 'd' : type == CUDA_C_32F ? 'c' : 'z';
}

static size_t size_of(char letter)
{
    return letter == 's' ? 4 : letter == 'z' ? 16 : 8;
}

typedef void function(void);

/* The CPU library's routine, or NULL if cuSOLVER would refuse. */
static function *routine(cusolverDnHandle_t handle, char letter, const char *name)
{
    char symbol[32];
    if (handle == NULL || !handle->stream || !has_context()) {
        return NULL;
    }
    bool is_complex = (letter == 'c' || letter == 'z') && strncmp(name, "or", 2) == 0;
    snprintf(symbol, sizeof symbol, "%c%s%s_", letter, is_complex ? "un" : "", name + (is_complex ? 2 : 0));
    return (function *)dlsym(handle->library, symbol);
}

/* The workspace that every function of this stand-in asks for, in elements. */
static size_t wanted(int64_t columns)
{
    return (size_t)(columns * 64 + 64 * 65 + spare);
}

static bool take(void *work, size_t given, size_t expected)
{
    if (work == NULL || given != expected) {
        return false;
    }
    memset(work, 0xa5, given);
    return true;
}

static cusolverStatus_t ask(cusolverDnHandle_t handle, char letter, int64_t columns, size_t *device, size_t *host)
{
    *device = wanted(columns) * size_of(letter);
    *host = host_bytes;
    return handle != NULL && has_context() ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

static bool take_both(char letter, int64_t columns, void *device, size_t device_given, void *host, size_t host_given)
{
    return take(device, device_given, wanted(columns) * size_of(letter)) && take(host, host_given, host_bytes);
}

static const char *triangle(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_UPPER ? "U" : "L";
}

static const char *transposed(cublasOperation_t trans)
{
    return trans == CUBLAS_OP_N ? "N" : trans == CUBLAS_OP_T ? "T" : "C";
}

typedef const char *text;
typedef const int *integer;

EXPORT cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                                    int64_t n, cudaDataType type, const void *a, int64_t lda,
                                                    cudaDataType compute, size_t *device, size_t *host)
{
    (void)m, (void)a, (void)lda;
    return params != NULL && compute == type ? ask(handle, letter_of(type), n, device, host)
                                             : CUSOLVER_STATUS_INVALID_VALUE;
}

EXPORT cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                         cudaDataType type, void *a, int64_t lda, int64_t *ipiv, cudaDataType compute,
                                         void *device, size_t device_given, void *host, size_t host_given, int *info)
{
    int mi = (int)m, ni = (int)n, la = (int)lda, count = mi < ni ? mi : ni;
    void (*f)(integer, integer, void *, integer, int *, int *) =
        (void (*)(integer, integer, void *, integer, int *, int *))routine(handle, letter_of(type), "getrf");
    int *pivots = malloc((size_t)count * sizeof *pivots);
    bool good = f != NULL && pivots != NULL && params != NULL && compute == type && *info == 0 &&
                take_both(letter_of(type), n, device, device_given, host, host_given);
    if (good) {
        f(&mi, &ni, a, &la, pivots, info);
    }
    for (int i = 0; i < count && good; i++) {
        ipiv[i] = pivots[i];
    }
    free(pivots);
    return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

EXPORT cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasOperation_t trans,
                                         int64_t n, int64_t nrhs, cudaDataType type, const void *a, int64_t lda,
                                         const int64_t *ipiv, cudaDataType type_b, void *b, int64_t ldb, int *info)
{
    int ni = (int)n, ri = (int)nrhs, la = (int)lda, lb = (int)ldb;
    void (*f)(text, integer, integer, const void *, integer, integer, void *, integer, int *, size_t) =
        (void (*)(text, integer, integer, const void *, integer, integer, void *, integer, int *, size_t))routine(
            handle, letter_of(type), "getrs");
    int *pivots = malloc((size_t)n * sizeof *pivots);
    bool good = f != NULL && pivots != NULL && params != NULL && type == type_b && *info == 0;
    for (int i = 0; i < ni && good; i++) {
        pivots[i] = (int)ipiv[i];
    }
    if (good) {
        f(transposed(trans), &ni, &ri, a, &la, pivots, b, &lb, info, 1);
    }
    free(pivots);
    return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

EXPORT cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                    cublasFillMode_t uplo, int64_t n, cudaDataType type, const void *a,
                                                    int64_t lda, cudaDataType compute, size_t *device, size_t *host)
{
    (void)uplo, (void)a, (void)lda;
    return params != NULL && compute == type ? ask(handle, letter_of(type), n, device, host)
                                             : CUSOLVER_STATUS_INVALID_VALUE;
}

EXPORT cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                         int64_t n, cudaDataType type, void *a, int64_t lda, cudaDataType compute,
                                         void *device, size_t device_given, void *host, size_t host_given, int *info)
{
    int ni = (int)n, la = (int)lda;
    void (*f)(text, integer, void *, integer, int *, size_t) =
        (void (*)(text, integer, void *, integer, int *, size_t))routine(handle, letter_of(type), "potrf");
    if (f == NULL || params == NULL || compute != type || *info != 0 ||
        !take_both(letter_of(type), n, device, device_given, host, host_given)) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    f(triangle(uplo), &ni, a, &la, info, 1);
    return CUSOLVER_STATUS_SUCCESS;
}

EXPORT cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                         int64_t n, int64_t nrhs, cudaDataType type, const void *a, int64_t lda,
                                         cudaDataType type_b, void *b, int64_t ldb, int *info)
{
    int ni = (int)n, ri = (int)nrhs, la = (int)lda, lb = (int)ldb;
    void (*f)(text, integer, integer, const void *, integer, void *, integer, int *, size_t) =
        (void (*)(text, integer, integer, const void *, integer, void *, integer, int *, size_t))routine(
            handle, letter_of(type), "potrs");
    if (f == NULL || params == NULL || type != type_b || *info != 0) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    f(triangle(uplo), &ni, &ri, a, &la, b, &lb, info, 1);
    return CUSOLVER_STATUS_SUCCESS;
}

EXPORT cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                                    cublasDiagType_t diag, int64_t n, cudaDataType type, void *a,
                                                    int64_t lda, size_t *device, size_t *host)
{
    (void)uplo, (void)diag, (void)a, (void)lda;
    return ask(handle, letter_of(type), n, device, host);
}

EXPORT cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
                                         int64_t n, cudaDataType type, void *a, int64_t lda, void *device,
                                         size_t device_given, void *host, size_t host_given, int *info)
{
    int ni = (int)n, la = (int)lda;
    void (*f)(text, text, integer, void *, integer, int *, size_t, size_t) =
        (void (*)(text, text, integer, void *, integer, int *, size_t, size_t))routine(handle, letter_of(type),
                                                                                       "trtri");
    if (f == NULL || *info != 0 || !take_both(letter_of(type), n, device, device_given, host, host_given)) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    f(triangle(uplo), diag == CUBLAS_DIAG_UNIT ? "U" : "N", &ni, a, &la, info, 1, 1);
    for (int64_t i = 0; i < n && diag == CUBLAS_DIAG_UNIT; i++) { /* as a routine may that stores ones */
        memset((char *)a + (size_t)(i * lda + i) * size_of(letter_of(type)), 0, size_of(letter_of(type)));
    }
    return CUSOLVER_STATUS_SUCCESS;
}

EXPORT cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                                    int64_t n, cudaDataType type, const void *a, int64_t lda,
                                                    cudaDataType type_tau, const void *tau, cudaDataType compute,
                                                    size_t *device, size_t *host)
{
    (void)m, (void)a, (void)lda, (void)tau;
    return params != NULL && compute == type && type_tau == type ? ask(handle, letter_of(type), n, device, host)
                                                                 : CUSOLVER_STATUS_INVALID_VALUE;
}

EXPORT cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                         cudaDataType type, void *a, int64_t lda, cudaDataType type_tau, void *tau,
                                         cudaDataType compute, void *device, size_t device_given, void *host,
                                         size_t host_given, int *info)
{
    int mi = (int)m, ni = (int)n, la = (int)lda, lwork = (int)wanted(n);
    void (*f)(integer, integer, void *, integer, void *, void *, integer, int *) =
        (void (*)(integer, integer, void *, integer, void *, void *, integer, int *))routine(handle, letter_of(type),
                                                                                             "geqrf");
    /* The workspace is for the larger of two routines where both work on it. */
    if (f == NULL || params == NULL || compute != type || type_tau != type || *info != 0 ||
        device_given < wanted(n) * size_of(letter_of(type)) || !take(host, host_given, host_bytes)) {
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    f(&mi, &ni, a, &la, tau, device, &lwork, info);
    return CUSOLVER_STATUS_SUCCESS;
}

/* The older functions: workspace in elements. */
#define OLDER(L, l, or, T)                                                                                             \
    EXPORT cusolverStatus_t cusolverDn##L##potri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,   \
                                                            T *a, int lda, int *lwork)                                 \
    {                                                                                                                  \
        (void)handle, (void)uplo, (void)a, (void)lda;                                                                  \
        *lwork = (int)wanted(n);                                                                                       \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    EXPORT cusolverStatus_t cusolverDn##L##potri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *a,        \
                                                 int lda, T *work, int lwork, int *info)                               \
    {                                                                                                                  \
        void (*f)(text, integer, void *, integer, int *, size_t) =                                                     \
            (void (*)(text, integer, void *, integer, int *, size_t))routine(handle, #l[0], "potri");                  \
        if (f == NULL || *info != 0 || !take(work, (size_t)lwork * sizeof(T), wanted(n) * sizeof(T))) {                \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                                      \
        }                                                                                                              \
        f(triangle(uplo), &n, a, &lda, info, 1);                                                                       \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    EXPORT cusolverStatus_t cusolverDn##L## or ##gqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,        \
                                                                const T *a, int lda, const T *tau, int *lwork)         \
    {                                                                                                                  \
        (void)handle, (void)m, (void)k, (void)a, (void)lda, (void)tau;                                                 \
        *lwork = (int)wanted(n);                                                                                       \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    EXPORT cusolverStatus_t cusolverDn##L## or ##gqr(cusolverDnHandle_t handle, int m, int n, int k, T *a, int lda,    \
                                                     const T *tau, T *work, int lwork, int *info)                      \
    {                                                                                                                  \
        void (*f)(integer, integer, integer, void *, integer, const void *, void *, integer, int *) =                  \
            (void (*)(integer, integer, integer, void *, integer, const void *, void *, integer, int *))routine(       \
                handle, #l[0], "orgqr");                                                                               \
        if (f == NULL || *info != 0 || !take(work, (size_t)lwork * sizeof(T), wanted(n) * sizeof(T))) {                \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                                      \
        }                                                                                                              \
        f(&m, &n, &k, a, &lda, tau, work, &lwork, info);                                                               \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    EXPORT cusolverStatus_t cusolverDn##L## or                                                                         \
        ##mqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n,      \
                         int k, const T *a, int lda, const T *tau, const T *c, int ldc, int *lwork)                    \
    {                                                                                                                  \
        (void)handle, (void)side, (void)trans, (void)k, (void)a, (void)lda, (void)tau, (void)c, (void)ldc;             \
        *lwork = (int)wanted(m > n ? m : n);                                                                           \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    EXPORT cusolverStatus_t cusolverDn##L## or                                                                         \
        ##mqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k,          \
              const T *a, int lda, const T *tau, T *c, int ldc, T *work, int lwork, int *info)                         \
    {                                                                                                                  \
        void (*f)(text, text, integer, integer, integer, const void *, integer, const void *, void *, integer, void *, \
                  integer, int *, size_t, size_t) =                                                                    \
            (void (*)(text, text, integer, integer, integer, const void *, integer, const void *, void *, integer,     \
                      void *, integer, int *, size_t, size_t))routine(handle, #l[0], "ormqr");                         \
        if (f == NULL || *info != 0 || (size_t)lwork < wanted(m > n ? m : n)) {                                        \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                                      \
        }                                                                                                              \
        f(side == CUBLAS_SIDE_LEFT ? "L" : "R", transposed(trans), &m, &n, &k, a, &lda, tau, c, &ldc, work, &lwork,    \
          info, 1, 1);                                                                                                 \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }

OLDER(S, s, or, float)
OLDER(D, d, or, double)
OLDER(C, c, un, cuComplex)
OLDER(Z, z, un, cuDoubleComplex)
