/* LAPACK's operations of the CUDA backend, by cuSOLVER and cuBLAS.
 *
 * An operation is a few routines on one stream.  Each routine tells of singular
 * matrices in a word of its own of call->info, so that the core verifies the results or
 * throws them away, and nothing depends on how cuSOLVER leaves such a matrix.  cuSOLVER's interfaces with 64-bit sizes
 * are used where there are any; the others (potri, orgqr, ormqr) are refused what they cannot index.
 *
 * Scratch memory: cuSOLVER's workspace, cuBLAS's, and `extra`, each aligned. */
#include "driver.h"
#include "solver.h"

#include <limits.h>

enum { alignment = 256 };

/* Bytes of the parts of scratch memory. */
struct layout {
    size_t solver, blas, extra;
    size_t host; /* cuSOLVER's, in ordinary memory */
};

/* An operation at work: the device is entered, its handle locked. */
struct run {
    int device;
    const struct ofl_call *call;
    cusolverDnHandle_t handle;
    cusolverDnParams_t params;
    CUstream stream;
    struct layout layout;
    void *solver, *extra, *host;
    struct ofl_cuda_work blas;
    int32_t *next_info;
};

typedef enum ofl_reason run_function(struct run *run);
/* Asks cuSOLVER for what it needs. */
typedef enum ofl_reason layout_function(const struct run *run, struct layout *layout);

static bool is_double(const struct ofl_call *call)
{
    return call->precision == OFL_D || call->precision == OFL_Z;
}

static bool is_complex(const struct ofl_call *call)
{
    return call->precision == OFL_C || call->precision == OFL_Z;
}

static cudaDataType type_of(const struct ofl_call *call)
{
    static const cudaDataType types[OFL_PRECISION_COUNT] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[call->precision];
}

static cublasFillMode_t triangle(const struct ofl_call *call)
{
    return call->uplo == 'U' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

static cublasOperation_t transposition(char flag)
{
    return flag == 'N' ? CUBLAS_OP_N : flag == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C;
}

/* The flag of the conjugate transpose in the call's precision. */
static char adjoint(const struct ofl_call *call)
{
    return is_complex(call) ? 'C' : 'T';
}

static enum ofl_reason solver_status(const struct run *run, cusolverStatus_t status)
{
    return ofl_cuda_solver_reason(run->device, status);
}

static enum ofl_reason driver_result(const struct run *run, CUresult result)
{
    return ofl_cuda_reason(run->device, result, OFL_OPERATION_FAILED);
}

/* A word for the next routine of an operation. */
static int32_t *next_info(struct run *run)
{
    return run->next_info++;
}

/* A word for getrf or potrf: a claim where it is the whole operation. */
static int32_t *factor_info(struct run *run)
{
    bool whole = run->call->operation == OFL_OP_getrf || run->call->operation == OFL_OP_potrf;
    return whole ? run->call->info + OFL_INFO_CLAIM : next_info(run);
}

static CUdeviceptr address(const struct ofl_buffer *matrix, size_t bytes)
{
    return (CUdeviceptr)(uintptr_t)matrix->address + bytes;
}

/* ---- LU ---- */

static enum ofl_reason layout_getrf(const struct run *run, struct layout *layout)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    cudaDataType type = type_of(run->call);
    return solver_status(run, ofl_cusolver.cusolverDnXgetrf_bufferSize(run->handle, run->params, a->rows, a->columns,
                                                                       type, a->address, a->ld, type, &layout->solver,
                                                                       &layout->host));
}

static enum ofl_reason run_getrf(struct run *run)
{
    const struct ofl_buffer *a = &run->call->operand[0], *pivots = &run->call->operand[1];
    cudaDataType type = type_of(run->call);
    return solver_status(run,
                         ofl_cusolver.cusolverDnXgetrf(run->handle, run->params, a->rows, a->columns, type, a->address,
                                                       a->ld, pivots->address, type, run->solver, run->layout.solver,
                                                       run->host, run->layout.host, factor_info(run)));
}

static enum ofl_reason solve_lu(struct run *run, char trans, const struct ofl_buffer *right)
{
    const struct ofl_buffer *a = &run->call->operand[0], *pivots = &run->call->operand[1];
    cudaDataType type = type_of(run->call);
    return solver_status(run, ofl_cusolver.cusolverDnXgetrs(run->handle, run->params, transposition(trans), a->rows,
                                                            right->columns, type, a->address, a->ld, pivots->address,
                                                            type, right->address, right->ld, next_info(run)));
}

static enum ofl_reason run_getrs(struct run *run)
{
    return solve_lu(run, run->call->trans, &run->call->operand[2]);
}

static enum ofl_reason run_gesv(struct run *run)
{
    enum ofl_reason reason = run_getrf(run);
    return reason == OFL_OK ? solve_lu(run, 'N', &run->call->operand[2]) : reason;
}

static enum ofl_reason layout_getri(const struct run *run, struct layout *layout)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    bool fits = !__builtin_mul_overflow((size_t)a->rows, (size_t)a->columns, &layout->extra) &&
                !__builtin_mul_overflow(layout->extra, (size_t)a->element_size, &layout->extra);
    return fits ? OFL_OK : OFL_TOO_LARGE;
}

/* The upper half of 1.0 as a double, or all of 1.0 as a float, in every element of the diagonal. */
static enum ofl_reason set_identity(const struct run *run, const struct ofl_buffer *matrix)
{
    size_t order = (size_t)matrix->rows, size = matrix->element_size;
    CUresult result = ofl_cuda.cuMemsetD8Async(address(matrix, 0), 0, order * order * size, run->stream);
    if (result == CUDA_SUCCESS) {
        result = ofl_cuda.cuMemsetD2D32Async(address(matrix, is_double(run->call) ? 4 : 0), (order + 1) * size,
                                             is_double(run->call) ? 0x3FF00000 : 0x3F800000, 1, order, run->stream);
    }
    return driver_result(run, result);
}

/* The inverse is the transpose of Y with A' Y = I: like LAPACK's, it has a small residual XA - I, and the
 * columns of the identity need no exchange. */
static enum ofl_reason run_getri(struct run *run)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    struct ofl_buffer y = *a;
    y.address = run->extra;
    y.ld = y.rows;
    enum ofl_reason reason = set_identity(run, &y);
    if (reason == OFL_OK) {
        reason = solve_lu(run, 'T', &y);
    }
    return reason == OFL_OK ? ofl_cuda_blas_transpose(run->device, &run->blas, run->call->precision, &y, a) : reason;
}

/* ---- Cholesky and triangles ---- */

/* The diagonal of a Hermitian matrix is real, whatever is stored there. */
static enum ofl_reason make_diagonal_real(const struct run *run)
{
    return is_complex(run->call)
               ? driver_result(run, ofl_cuda_clear_imaginary_diagonal(&run->call->operand[0], run->stream))
               : OFL_OK;
}

static enum ofl_reason layout_potrf(const struct run *run, struct layout *layout)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    cudaDataType type = type_of(run->call);
    return solver_status(run, ofl_cusolver.cusolverDnXpotrf_bufferSize(run->handle, run->params, triangle(run->call),
                                                                       a->rows, type, a->address, a->ld, type,
                                                                       &layout->solver, &layout->host));
}

static enum ofl_reason run_potrf(struct run *run)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    cudaDataType type = type_of(run->call);
    enum ofl_reason reason = make_diagonal_real(run);
    if (reason == OFL_OK) {
        reason = solver_status(run, ofl_cusolver.cusolverDnXpotrf(run->handle, run->params, triangle(run->call),
                                                                  a->rows, type, a->address, a->ld, type, run->solver,
                                                                  run->layout.solver, run->host, run->layout.host,
                                                                  factor_info(run)));
    }
    return reason == OFL_OK ? make_diagonal_real(run) : reason;
}

static enum ofl_reason run_potrs(struct run *run)
{
    const struct ofl_buffer *a = &run->call->operand[0], *b = &run->call->operand[1];
    cudaDataType type = type_of(run->call);
    return solver_status(run, ofl_cusolver.cusolverDnXpotrs(run->handle, run->params, triangle(run->call), a->rows,
                                                            b->columns, type, a->address, a->ld, type, b->address,
                                                            b->ld, next_info(run)));
}

static enum ofl_reason run_posv(struct run *run)
{
    enum ofl_reason reason = run_potrf(run);
    return reason == OFL_OK ? run_potrs(run) : reason;
}

/* Elements, as the older functions count, to bytes. */
static enum ofl_reason older_workspace(const struct run *run, cusolverStatus_t status, int elements, size_t *bytes)
{
    if (status == CUSOLVER_STATUS_SUCCESS && elements < 0) {
        return OFL_TOO_LARGE;
    }
    *bytes = (size_t)elements * run->call->operand[0].element_size;
    return solver_status(run, status);
}

/* Back, for the functions themselves. */
static int elements(const struct run *run)
{
    return (int)(run->layout.solver / run->call->operand[0].element_size);
}

static enum ofl_reason layout_potri(const struct run *run, struct layout *layout)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    int count = 0;
    cusolverStatus_t status = ofl_cusolver.potri_bufferSize[run->call->precision](
        run->handle, triangle(run->call), (int)a->rows, a->address, (int)a->ld, &count);
    return older_workspace(run, status, count, &layout->solver);
}

static enum ofl_reason run_potri(struct run *run)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    enum ofl_reason reason = solver_status(
        run, ofl_cusolver.potri[run->call->precision](run->handle, triangle(run->call), (int)a->rows, a->address,
                                                      (int)a->ld, run->solver, elements(run), next_info(run)));
    return reason == OFL_OK ? make_diagonal_real(run) : reason;
}

static enum ofl_reason layout_trtri(const struct run *run, struct layout *layout)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    cublasDiagType_t diagonal = run->call->diag == 'U' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    return solver_status(run, ofl_cusolver.cusolverDnXtrtri_bufferSize(run->handle, triangle(run->call), diagonal,
                                                                       a->rows, type_of(run->call), a->address, a->ld,
                                                                       &layout->solver, &layout->host));
}

static enum ofl_reason run_trtri(struct run *run)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    cublasDiagType_t diagonal = run->call->diag == 'U' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    return solver_status(run, ofl_cusolver.cusolverDnXtrtri(
                                  run->handle, triangle(run->call), diagonal, a->rows, type_of(run->call), a->address,
                                  a->ld, run->solver, run->layout.solver, run->host, run->layout.host, next_info(run)));
}

/* ---- QR and least squares ---- */

static enum ofl_reason layout_geqrf(const struct run *run, struct layout *layout)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    cudaDataType type = type_of(run->call);
    return solver_status(run, ofl_cusolver.cusolverDnXgeqrf_bufferSize(run->handle, run->params, a->rows, a->columns,
                                                                       type, a->address, a->ld, type, a->address, type,
                                                                       &layout->solver, &layout->host));
}

static enum ofl_reason factor_qr(struct run *run, void *tau)
{
    const struct ofl_buffer *a = &run->call->operand[0];
    cudaDataType type = type_of(run->call);
    return solver_status(run, ofl_cusolver.cusolverDnXgeqrf(
                                  run->handle, run->params, a->rows, a->columns, type, a->address, a->ld, type, tau,
                                  type, run->solver, run->layout.solver, run->host, run->layout.host, next_info(run)));
}

static enum ofl_reason run_geqrf(struct run *run)
{
    return factor_qr(run, run->call->operand[1].address);
}

static enum ofl_reason layout_orgqr(const struct run *run, struct layout *layout)
{
    const struct ofl_call *call = run->call;
    const struct ofl_buffer *a = &call->operand[0], *tau = &call->operand[1];
    int count = 0;
    cusolverStatus_t status = ofl_cusolver.orgqr_bufferSize[call->precision](
        run->handle, (int)call->m, (int)call->n, (int)call->k, a->address, (int)a->ld, tau->address, &count);
    return older_workspace(run, status, count, &layout->solver);
}

static enum ofl_reason run_orgqr(struct run *run)
{
    const struct ofl_call *call = run->call;
    const struct ofl_buffer *a = &call->operand[0], *tau = &call->operand[1];
    return solver_status(run, ofl_cusolver.orgqr[call->precision](run->handle, (int)call->m, (int)call->n, (int)call->k,
                                                                  a->address, (int)a->ld, tau->address, run->solver,
                                                                  elements(run), next_info(run)));
}

/* C becomes op(Q) C or C op(Q), Q from `count` columns of the first operand. */
struct product {
    char side, trans;
    int64_t count;
    const void *tau;
    const struct ofl_buffer *c;
};

static cublasSideMode_t side_of(const struct product *product)
{
    return product->side == 'L' ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

static enum ofl_reason layout_product(const struct run *run, const struct product *product, size_t *bytes)
{
    const struct ofl_buffer *a = &run->call->operand[0], *c = product->c;
    int count = 0;
    cusolverStatus_t status = ofl_cusolver.ormqr_bufferSize[run->call->precision](
        run->handle, side_of(product), transposition(product->trans), (int)c->rows, (int)c->columns,
        (int)product->count, a->address, (int)a->ld, product->tau, c->address, (int)c->ld, &count);
    return older_workspace(run, status, count, bytes);
}

static enum ofl_reason multiply_by_q(struct run *run, const struct product *product)
{
    const struct ofl_buffer *a = &run->call->operand[0], *c = product->c;
    return solver_status(run, ofl_cusolver.ormqr[run->call->precision](
                                  run->handle, side_of(product), transposition(product->trans), (int)c->rows,
                                  (int)c->columns, (int)product->count, a->address, (int)a->ld, product->tau,
                                  c->address, (int)c->ld, run->solver, elements(run), next_info(run)));
}

static struct product product_of(const struct ofl_call *call)
{
    return (struct product){call->side, call->trans, call->k, call->operand[1].address, &call->operand[2]};
}

static enum ofl_reason layout_ormqr(const struct run *run, struct layout *layout)
{
    struct product product = product_of(run->call);
    return layout_product(run, &product, &layout->solver);
}

static enum ofl_reason run_ormqr(struct run *run)
{
    struct product product = product_of(run->call);
    return multiply_by_q(run, &product);
}

/* Least squares with at least as many rows as columns: A = QR in both cases. */
static enum ofl_reason layout_gels(const struct run *run, struct layout *layout)
{
    const struct ofl_call *call = run->call;
    struct product product = {'L', adjoint(call), call->n, call->operand[0].address, &call->operand[1]};
    size_t bytes = 0;
    enum ofl_reason reason = layout_geqrf(run, layout);
    if (reason == OFL_OK) {
        reason = layout_product(run, &product, &bytes);
    }
    layout->solver = bytes > layout->solver ? bytes : layout->solver;
    layout->extra = (size_t)call->n * call->operand[0].element_size; /* tau */
    return reason;
}

/* The first n rows of B become the solution of op(R) X = B. */
static enum ofl_reason solve_r(const struct run *run, char trans)
{
    struct ofl_call solve = {.operation = OFL_OP_trsm,
                             .precision = run->call->precision,
                             .side = 'L',
                             .uplo = 'U',
                             .transa = trans,
                             .diag = 'N',
                             .m = run->call->n,
                             .n = run->call->nrhs,
                             .operands = 2};
    if (is_double(run->call)) {
        solve.alpha.d = 1;
    } else {
        solve.alpha.s = 1;
    }
    solve.operand[0] = run->call->operand[0];
    solve.operand[1] = run->call->operand[1];
    return ofl_cuda_blas_run(run->device, &run->blas, &solve);
}

/* Rows n and below of B become zero. */
static enum ofl_reason clear_below(const struct run *run)
{
    const struct ofl_buffer *b = &run->call->operand[1];
    size_t below = (size_t)(b->rows - run->call->n) * b->element_size;
    if (below == 0) {
        return OFL_OK;
    }
    return driver_result(run, ofl_cuda.cuMemsetD2D32Async(address(b, (size_t)run->call->n * b->element_size),
                                                          (size_t)b->ld * b->element_size, 0, below / 4,
                                                          (size_t)b->columns, run->stream));
}

static enum ofl_reason run_gels(struct run *run)
{
    const struct ofl_call *call = run->call;
    bool least_squares = call->trans == 'N'; /* else: the shortest solution of A' X = B */
    struct product product = {'L', least_squares ? adjoint(call) : 'N', call->n, run->extra, &call->operand[1]};
    enum ofl_reason reason = factor_qr(run, run->extra);
    if (reason == OFL_OK && least_squares) {
        reason = multiply_by_q(run, &product);
    }
    if (reason == OFL_OK) {
        reason = solve_r(run, least_squares ? 'N' : adjoint(call));
    }
    if (reason == OFL_OK && !least_squares) {
        reason = clear_below(run);
        reason = reason == OFL_OK ? multiply_by_q(run, &product) : reason;
    }
    return reason;
}

/* ---- the table ---- */

static const struct {
    run_function *run;
    layout_function *layout; /* NULL: cuSOLVER needs no workspace */
    bool older;              /* functions with 32-bit sizes */
} operations[OFL_OPERATION_COUNT] = {
    [OFL_OP_getrf] = {run_getrf, layout_getrf, false}, [OFL_OP_getrs] = {run_getrs, NULL, false},
    [OFL_OP_gesv] = {run_gesv, layout_getrf, false},   [OFL_OP_getri] = {run_getri, layout_getri, false},
    [OFL_OP_potrf] = {run_potrf, layout_potrf, false}, [OFL_OP_potrs] = {run_potrs, NULL, false},
    [OFL_OP_posv] = {run_posv, layout_potrf, false},   [OFL_OP_potri] = {run_potri, layout_potri, true},
    [OFL_OP_trtri] = {run_trtri, layout_trtri, false}, [OFL_OP_geqrf] = {run_geqrf, layout_geqrf, false},
    [OFL_OP_orgqr] = {run_orgqr, layout_orgqr, true},  [OFL_OP_ungqr] = {run_orgqr, layout_orgqr, true},
    [OFL_OP_ormqr] = {run_ormqr, layout_ormqr, true},  [OFL_OP_unmqr] = {run_ormqr, layout_ormqr, true},
    [OFL_OP_gels] = {run_gels, layout_gels, true},
};

bool ofl_cuda_is_lapack(enum ofl_operation operation)
{
    return operations[operation].run != NULL;
}

/* Whether 32 bits are enough for every element of every operand. */
static bool fits_older(const struct ofl_call *call)
{
    bool fits = true;
    for (int i = 0; i < call->operands; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        int64_t end;
        fits = fits && !__builtin_mul_overflow(operand->ld, operand->columns, &end) && end <= INT_MAX;
    }
    return fits;
}

enum ofl_reason ofl_cuda_lapack_supports(const struct ofl_call *call)
{
    if (call->operation == OFL_OP_gels && call->m < call->n) {
        return OFL_UNSUPPORTED; /* needs an LQ factorization, which cuSOLVER has not */
    }
    return !operations[call->operation].older || fits_older(call) ? OFL_OK : OFL_TOO_LARGE;
}

static size_t aligned(size_t bytes)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

static enum ofl_reason find_layout(struct run *run)
{
    layout_function *find = operations[run->call->operation].layout;
    enum ofl_reason reason = find != NULL ? find(run, &run->layout) : OFL_OK;
    if (reason == OFL_OK && (run->layout.solver > SIZE_MAX / 4 || run->layout.extra > SIZE_MAX / 4)) {
        reason = OFL_TOO_LARGE;
    }
    run->layout.blas = ofl_cuda_blas_workspace(run->device);
    return reason;
}

static size_t device_bytes_of(const struct layout *layout)
{
    return aligned(layout->solver) + aligned(layout->blas) + aligned(layout->extra);
}

enum ofl_reason ofl_cuda_lapack_workspace(int device, const struct ofl_call *call, size_t *device_bytes,
                                          size_t *host_bytes)
{
    struct run run = {.device = device, .call = call};
    enum ofl_reason reason = ofl_cuda_solver_enter(device, NULL, &run.handle, &run.params);
    if (reason == OFL_OK) {
        reason = find_layout(&run);
        ofl_cuda_solver_leave(device);
    }
    *device_bytes = device_bytes_of(&run.layout);
    *host_bytes = run.layout.host;
    return reason;
}

enum ofl_reason ofl_cuda_lapack_run(int device, const struct ofl_cuda_work *work, const struct ofl_call *call,
                                    void *host_scratch, size_t host_bytes)
{
    struct run run = {.device = device,
                      .call = call,
                      .stream = (CUstream)(void *)work->stream,
                      .host = host_scratch,
                      .next_info = call->info + OFL_INFO_OTHERS};
    enum ofl_reason reason = ofl_cuda_solver_enter(device, work->stream, &run.handle, &run.params);
    if (reason != OFL_OK) {
        return reason;
    }
    reason = find_layout(&run);
    if (reason == OFL_OK && (work->bytes < device_bytes_of(&run.layout) || host_bytes < run.layout.host)) {
        reason = OFL_OPERATION_FAILED; /* it was asked for another call */
    }
    if (reason == OFL_OK) {
        run.solver = work->scratch;
        run.blas =
            (struct ofl_cuda_work){work->stream, (char *)work->scratch + aligned(run.layout.solver), run.layout.blas};
        run.extra = (char *)run.blas.scratch + aligned(run.layout.blas);
        reason = operations[call->operation].run(&run);
    }
    ofl_cuda_solver_leave(device);
    return reason;
}
