/* The CUDA backend's operations: which library has which. */
#include "blas.h"
#include "driver.h"
#include "parts.h"
#include "solver.h"

#include <stdio.h>

enum ofl_reason ofl_cuda_operation_prepare(int device, enum ofl_operation operation, char *explanation, size_t size)
{
    if (!ofl_cuda_is_blas(operation) && !ofl_cuda_is_lapack(operation)) {
        snprintf(explanation, size, "the cuda backend has no routine for this operation");
        return OFL_UNSUPPORTED;
    }
    enum ofl_reason reason = ofl_cuda_blas_open(device, explanation, size);
    /* After cuBLAS, which cuSOLVER needs and then finds loaded. */
    return reason == OFL_OK && ofl_cuda_is_lapack(operation) ? ofl_cuda_solver_open(device, explanation, size) : reason;
}

enum ofl_reason ofl_cuda_operation_supports(int device, const struct ofl_call *call)
{
    if (ofl_cuda_device(device) == NULL) {
        return OFL_NO_DEVICE;
    }
    return ofl_cuda_is_lapack(call->operation) ? ofl_cuda_lapack_supports(call) : ofl_cuda_blas_supports(call);
}

enum ofl_reason ofl_cuda_operation_workspace(int device, const struct ofl_call *call, size_t *device_bytes,
                                             size_t *host_bytes)
{
    if (ofl_cuda_device(device) == NULL) {
        return OFL_NO_DEVICE;
    }
    if (ofl_cuda_is_lapack(call->operation)) {
        return ofl_cuda_lapack_workspace(device, call, device_bytes, host_bytes);
    }
    *device_bytes = ofl_cuda_blas_workspace(device);
    *host_bytes = 0;
    return OFL_OK;
}

enum ofl_reason ofl_cuda_operation_run(int device, struct ofl_stream *stream, const struct ofl_call *call,
                                       void *device_scratch, size_t device_bytes, void *host_scratch, size_t host_bytes)
{
    enum ofl_reason reason = ofl_cuda_operation_supports(device, call);
    if (reason != OFL_OK) {
        return reason;
    }
    struct ofl_cuda_work work = {stream, device_scratch, device_bytes};
    return ofl_cuda_is_lapack(call->operation) ? ofl_cuda_lapack_run(device, &work, call, host_scratch, host_bytes)
                                               : ofl_cuda_blas_run(device, &work, call);
}
