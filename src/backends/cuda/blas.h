/* cuBLAS, for the operations of BLAS and for what LAPACK's operations are made of. */
#ifndef OFL_BACKENDS_CUDA_BLAS_H
#define OFL_BACKENDS_CUDA_BLAS_H
#include <gpu-offload/device.h>

#include <cuda.h>

/* Where work is queued, and scratch memory of ofl_cuda_blas_workspace bytes on the device. */
struct ofl_cuda_work {
    struct ofl_stream *stream;
    void *scratch;
    size_t bytes;
};

/* Opens the library and the device's handle; before all others. */
enum ofl_reason ofl_cuda_blas_open(int device, char *explanation, size_t size);
bool ofl_cuda_is_blas(enum ofl_operation operation);
enum ofl_reason ofl_cuda_blas_supports(const struct ofl_call *call);
size_t ofl_cuda_blas_workspace(int device);
enum ofl_reason ofl_cuda_blas_run(int device, const struct ofl_cuda_work *work, const struct ofl_call *call);

/* Makes the diagonal of a complex matrix real.  The device must be entered. */
CUresult ofl_cuda_clear_imaginary_diagonal(const struct ofl_buffer *matrix, CUstream stream);

/* `to` becomes the transpose of `from`, not conjugated.  They do not overlap. */
enum ofl_reason ofl_cuda_blas_transpose(int device, const struct ofl_cuda_work *work, enum ofl_precision precision,
                                        const struct ofl_buffer *from, const struct ofl_buffer *to);
#endif
