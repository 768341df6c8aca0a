/* cuSOLVER: the library, its handles, and LAPACK's operations by it. */
#ifndef OFL_BACKENDS_CUDA_SOLVER_H
#define OFL_BACKENDS_CUDA_SOLVER_H
#include "blas.h"

#include <cusolverDn.h>

/* The functions that have one form for all precisions, by their names in NVIDIA's header. */
struct ofl_cusolver {
#define OFL_CUSOLVER(name) __typeof__(&name) name;
#include "solver_functions.def"
#undef OFL_CUSOLVER
    /* The older ones, with 32-bit sizes, of each precision, called through types with void pointers. */
    cusolverStatus_t (*potri_bufferSize[OFL_PRECISION_COUNT])(cusolverDnHandle_t, cublasFillMode_t, int, void *, int,
                                                              int *);
    cusolverStatus_t (*potri[OFL_PRECISION_COUNT])(cusolverDnHandle_t, cublasFillMode_t, int, void *, int, void *, int,
                                                   int *);
    cusolverStatus_t (*orgqr_bufferSize[OFL_PRECISION_COUNT])(cusolverDnHandle_t, int, int, int, const void *, int,
                                                              const void *, int *);
    cusolverStatus_t (*orgqr[OFL_PRECISION_COUNT])(cusolverDnHandle_t, int, int, int, void *, int, const void *, void *,
                                                   int, int *);
    cusolverStatus_t (*ormqr_bufferSize[OFL_PRECISION_COUNT])(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t,
                                                              int, int, int, const void *, int, const void *,
                                                              const void *, int, int *);
    cusolverStatus_t (*ormqr[OFL_PRECISION_COUNT])(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, int, int,
                                                   int, const void *, int, const void *, void *, int, void *, int,
                                                   int *);
};

/* Constant once ofl_cuda_solver_open has returned OFL_OK. */
extern struct ofl_cusolver ofl_cusolver;

/* Opens the library and the device's handle, after cuBLAS's. */
enum ofl_reason ofl_cuda_solver_open(int device, char *explanation, size_t size);

/* The device's handle, entered, locked and on a stream (NULL: none); ofl_cuda_solver_leave must follow OFL_OK. */
enum ofl_reason ofl_cuda_solver_enter(int device, struct ofl_stream *stream, cusolverDnHandle_t *handle,
                                      cusolverDnParams_t *params);
void ofl_cuda_solver_leave(int device);

/* The reason for a status, inside of these. */
enum ofl_reason ofl_cuda_solver_reason(int device, cusolverStatus_t status);

/* lapack.c */
bool ofl_cuda_is_lapack(enum ofl_operation operation);
enum ofl_reason ofl_cuda_lapack_supports(const struct ofl_call *call);
enum ofl_reason ofl_cuda_lapack_workspace(int device, const struct ofl_call *call, size_t *device_bytes,
                                          size_t *host_bytes);
enum ofl_reason ofl_cuda_lapack_run(int device, const struct ofl_cuda_work *work, const struct ofl_call *call,
                                    void *host_scratch, size_t host_bytes);
#endif
