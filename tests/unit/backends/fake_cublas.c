/* A stand-in for cuBLAS, libcublas.so, over the fake driver: the same functions,
 * declared by NVIDIA's header, computed by a CPU library's Fortran routines.  It
 * checks what cuBLAS would: a handle, a stream, a workspace, the default math mode,
 * and a current context. */
#include <cuda.h>
#include <cublas_v2.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/* Its calls of its own routines must not reach a library of the program's with other integers. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { load_mode = RTLD_NOW | RTLD_LOCAL };
#else
enum { load_mode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };
#endif

struct cublasContext {
    bool stream, workspace, mode;
    void *library;
};

EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    *handle = calloc(1, sizeof **handle);
    if (*handle == NULL || context == NULL) {
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    (*handle)->library = dlopen("libopenblas.so.0", load_mode);
    return (*handle)->library != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream != NULL;
    handle->workspace = false; /* as cuBLAS does */
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    handle->workspace = workspace != NULL && (size_t)workspace % 256 == 0 && bytes >= (size_t)4 << 20;
    return handle->workspace ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

EXPORT cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    handle->mode = mode == CUBLAS_DEFAULT_MATH;
    return CUBLAS_STATUS_SUCCESS;
}

/* The CPU library's routine, or NULL if cuBLAS would refuse. */
static void (*routine(cublasHandle_t handle, const char *name))(void)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    bool ready = handle != NULL && context != NULL && handle->stream && handle->workspace && handle->mode;
    return ready ? (void (*)(void))dlsym(handle->library, name) : NULL;
}

static const char *letter(cublasOperation_t operation)
{
    return operation == CUBLAS_OP_N ? "N" : operation == CUBLAS_OP_T ? "T" : "C";
}

#define SIDE(side)     ((side) == CUBLAS_SIDE_LEFT ? "L" : "R")
#define UPLO(uplo)     ((uplo) == CUBLAS_FILL_MODE_UPPER ? "U" : "L")
#define DIAGONAL(diag) ((diag) == CUBLAS_DIAG_UNIT ? "U" : "N")

typedef const char *text;
typedef const int *integer;
typedef const void *data;

#define GEMM(L, l, T)                                                                                                  \
    EXPORT cublasStatus_t cublas##L##gemm_v2_64(                                                                       \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n, int64_t k,    \
        const T *alpha, const T *a, int64_t lda, const T *b, int64_t ldb, const T *beta, T *c, int64_t ldc)            \
    {                                                                                                                  \
        int mi = (int)m, ni = (int)n, ki = (int)k, la = (int)lda, lb = (int)ldb, lc = (int)ldc;                        \
        void (*f)(text, text, integer, integer, integer, data, data, integer, data, integer, data, void *, integer) =  \
            (void (*)(text, text, integer, integer, integer, data, data, integer, data, integer, data, void *,         \
                      integer))routine(handle, #l "gemm_");                                                            \
        if (f == NULL) {                                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        }                                                                                                              \
        f(letter(transa), letter(transb), &mi, &ni, &ki, alpha, a, &la, b, &lb, beta, c, &lc);                         \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }

#define SYMM(L, l, name, T)                                                                                            \
    EXPORT cublasStatus_t cublas##L##name##_v2_64(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, \
                                                  int64_t m, int64_t n, const T *alpha, const T *a, int64_t lda,       \
                                                  const T *b, int64_t ldb, const T *beta, T *c, int64_t ldc)           \
    {                                                                                                                  \
        int mi = (int)m, ni = (int)n, la = (int)lda, lb = (int)ldb, lc = (int)ldc;                                     \
        void (*f)(text, text, integer, integer, data, data, integer, data, integer, data, void *, integer) =           \
            (void (*)(text, text, integer, integer, data, data, integer, data, integer, data, void *,                  \
                      integer))routine(handle, #l #name "_");                                                          \
        if (f == NULL) {                                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        }                                                                                                              \
        f(SIDE(side), UPLO(uplo), &mi, &ni, alpha, a, &la, b, &lb, beta, c, &lc);                                      \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }

#define SYRK(L, l, name, T, R)                                                                                         \
    EXPORT cublasStatus_t cublas##L##name##_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,                        \
                                                  cublasOperation_t trans, int64_t n, int64_t k, const R *alpha,       \
                                                  const T *a, int64_t lda, const R *beta, T *c, int64_t ldc)           \
    {                                                                                                                  \
        int ni = (int)n, ki = (int)k, la = (int)lda, lc = (int)ldc;                                                    \
        void (*f)(text, text, integer, integer, data, data, integer, data, void *, integer) =                          \
            (void (*)(text, text, integer, integer, data, data, integer, data, void *, integer))routine(handle,        \
                                                                                                        #l #name "_"); \
        if (f == NULL) {                                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        }                                                                                                              \
        f(UPLO(uplo), letter(trans), &ni, &ki, alpha, a, &la, beta, c, &lc);                                           \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }

#define SYR2K(L, l, name, T, R)                                                                                        \
    EXPORT cublasStatus_t cublas##L##name##_v2_64(                                                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int64_t n, int64_t k, const T *alpha,   \
        const T *a, int64_t lda, const T *b, int64_t ldb, const R *beta, T *c, int64_t ldc)                            \
    {                                                                                                                  \
        int ni = (int)n, ki = (int)k, la = (int)lda, lb = (int)ldb, lc = (int)ldc;                                     \
        void (*f)(text, text, integer, integer, data, data, integer, data, integer, data, void *, integer) =           \
            (void (*)(text, text, integer, integer, data, data, integer, data, integer, data, void *,                  \
                      integer))routine(handle, #l #name "_");                                                          \
        if (f == NULL) {                                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        }                                                                                                              \
        f(UPLO(uplo), letter(trans), &ni, &ki, alpha, a, &la, b, &lb, beta, c, &lc);                                   \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }

/* In place, as the backend calls it. */
#define TRMM(L, l, T)                                                                                                  \
    EXPORT cublasStatus_t cublas##L##trmm_v2_64(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,   \
                                                cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n,  \
                                                const T *alpha, const T *a, int64_t lda, const T *b, int64_t ldb,      \
                                                T *c, int64_t ldc)                                                     \
    {                                                                                                                  \
        int mi = (int)m, ni = (int)n, la = (int)lda, lc = (int)ldc;                                                    \
        void (*f)(text, text, text, text, integer, integer, data, data, integer, void *, integer) =                    \
            (void (*)(text, text, text, text, integer, integer, data, data, integer, void *, integer))routine(         \
                handle, #l "trmm_");                                                                                   \
        if (f == NULL || b != c || ldb != ldc) {                                                                       \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        }                                                                                                              \
        f(SIDE(side), UPLO(uplo), letter(trans), DIAGONAL(diag), &mi, &ni, alpha, a, &la, c, &lc);                     \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }

#define TRSM(L, l, T)                                                                                                  \
    EXPORT cublasStatus_t cublas##L##trsm_v2_64(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,   \
                                                cublasOperation_t trans, cublasDiagType_t diag, int64_t m, int64_t n,  \
                                                const T *alpha, const T *a, int64_t lda, T *b, int64_t ldb)            \
    {                                                                                                                  \
        int mi = (int)m, ni = (int)n, la = (int)lda, lb = (int)ldb;                                                    \
        void (*f)(text, text, text, text, integer, integer, data, data, integer, void *, integer) =                    \
            (void (*)(text, text, text, text, integer, integer, data, data, integer, void *, integer))routine(         \
                handle, #l "trsm_");                                                                                   \
        if (f == NULL) {                                                                                               \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        }                                                                                                              \
        f(SIDE(side), UPLO(uplo), letter(trans), DIAGONAL(diag), &mi, &ni, alpha, a, &la, b, &lb);                     \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }

/* The transpose of A, as the backend asks for it: in place of B, which counts for nothing. */
#define GEAM(L, T)                                                                                                     \
    EXPORT cublasStatus_t cublas##L##geam_64(                                                                          \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,               \
        const T *alpha, const T *a, int64_t lda, const T *beta, const T *b, int64_t ldb, T *c, int64_t ldc)            \
    {                                                                                                                  \
        if (handle == NULL || !handle->stream || transa != CUBLAS_OP_T || transb != CUBLAS_OP_N || b != c ||           \
            ldb != ldc || *(const real_##L *)alpha != 1 || *(const real_##L *)beta != 0) {                             \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        }                                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                                              \
            for (int64_t i = 0; i < m; i++) {                                                                          \
                c[j * ldc + i] = a[i * lda + j];                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }
typedef float real_S, real_C;
typedef double real_D, real_Z;

#define EACH(L, l, T)                                                                                                  \
    GEMM(L, l, T)                                                                                                      \
    SYMM(L, l, symm, T)                                                                                                \
    SYRK(L, l, syrk, T, T)                                                                                             \
    SYR2K(L, l, syr2k, T, T)                                                                                           \
    TRMM(L, l, T)                                                                                                      \
    TRSM(L, l, T)                                                                                                      \
    GEAM(L, T)
#define HERMITIAN(L, l, T, R)                                                                                          \
    SYMM(L, l, hemm, T)                                                                                                \
    SYRK(L, l, herk, T, R)                                                                                             \
    SYR2K(L, l, her2k, T, R)

EACH(S, s, float)
EACH(D, d, double)
EACH(C, c, cuComplex)
EACH(Z, z, cuDoubleComplex)
HERMITIAN(C, c, cuComplex, float)
HERMITIAN(Z, z, cuDoubleComplex, double)
