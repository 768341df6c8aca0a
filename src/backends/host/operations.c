/* The host device's operations: calls of a CPU library's Fortran routines.
 *
 * One function for each shape of argument list, and a table that says which
 * operation has which.  Each routine gets one hidden length, 1, for each character
 * argument, as gfortran's callers pass them. */
#include "host.h"
#include "base/settings.h"

#include <limits.h>
#include <stdio.h>

/* A call with its sizes as the library wants them. */
struct arguments {
    const struct ofl_call *call;
    int m, n, k;
    void *at[OFL_MAX_OPERANDS];
    int ld[OFL_MAX_OPERANDS];
};

typedef void shape(ofl_host_function *routine, const struct arguments *a);

static void run_gemm(ofl_host_function *routine, const struct arguments *a)
{
    typedef void gemm(const char *, const char *, const int *, const int *, const int *, const void *, const void *,
                      const int *, const void *, const int *, const void *, void *, const int *, size_t, size_t);
    const struct ofl_call *call = a->call;
    ((gemm *)routine)(&call->transa, &call->transb, &a->m, &a->n, &a->k, &call->alpha, a->at[0], &a->ld[0], a->at[1],
                      &a->ld[1], &call->beta, a->at[2], &a->ld[2], 1, 1);
}

static void run_symm(ofl_host_function *routine, const struct arguments *a)
{
    typedef void symm(const char *, const char *, const int *, const int *, const void *, const void *, const int *,
                      const void *, const int *, const void *, void *, const int *, size_t, size_t);
    const struct ofl_call *call = a->call;
    ((symm *)routine)(&call->side, &call->uplo, &a->m, &a->n, &call->alpha, a->at[0], &a->ld[0], a->at[1], &a->ld[1],
                      &call->beta, a->at[2], &a->ld[2], 1, 1);
}

static void run_syrk(ofl_host_function *routine, const struct arguments *a)
{
    typedef void syrk(const char *, const char *, const int *, const int *, const void *, const void *, const int *,
                      const void *, void *, const int *, size_t, size_t);
    const struct ofl_call *call = a->call;
    ((syrk *)routine)(&call->uplo, &call->trans, &a->n, &a->k, &call->alpha, a->at[0], &a->ld[0], &call->beta, a->at[1],
                      &a->ld[1], 1, 1);
}

static void run_syr2k(ofl_host_function *routine, const struct arguments *a)
{
    typedef void syr2k(const char *, const char *, const int *, const int *, const void *, const void *, const int *,
                       const void *, const int *, const void *, void *, const int *, size_t, size_t);
    const struct ofl_call *call = a->call;
    ((syr2k *)routine)(&call->uplo, &call->trans, &a->n, &a->k, &call->alpha, a->at[0], &a->ld[0], a->at[1], &a->ld[1],
                       &call->beta, a->at[2], &a->ld[2], 1, 1);
}

static void run_trxm(ofl_host_function *routine, const struct arguments *a)
{
    typedef void trxm(const char *, const char *, const char *, const char *, const int *, const int *, const void *,
                      const void *, const int *, void *, const int *, size_t, size_t, size_t, size_t);
    const struct ofl_call *call = a->call;
    ((trxm *)routine)(&call->side, &call->uplo, &call->transa, &call->diag, &a->m, &a->n, &call->alpha, a->at[0],
                      &a->ld[0], a->at[1], &a->ld[1], 1, 1, 1, 1);
}

/* A block of columns at a time would do less, but the device's copy has room for the other triangle, which nobody
 * looks at afterwards. */
static void run_gemmt(ofl_host_function *routine, const struct arguments *a)
{
    struct arguments square = *a;
    square.m = a->n;
    run_gemm(routine, &square);
}

/* The level-3 routines; LAPACK's are in lapack.c. */
static shape *const shapes[OFL_OPERATION_COUNT] = {
    [OFL_OP_gemm] = run_gemm, [OFL_OP_symm] = run_symm,   [OFL_OP_hemm] = run_symm,   [OFL_OP_syrk] = run_syrk,
    [OFL_OP_herk] = run_syrk, [OFL_OP_syr2k] = run_syr2k, [OFL_OP_her2k] = run_syr2k, [OFL_OP_trmm] = run_trxm,
    [OFL_OP_trsm] = run_trxm, [OFL_OP_gemmt] = run_gemmt,
};

/* OpenBLAS has gemmt since 0.3.22 only, so gemm does it. */
static ofl_host_function *routine_of(const struct ofl_call *call)
{
    return ofl_host_routine(call->operation == OFL_OP_gemmt ? OFL_OP_gemm : call->operation, call->precision);
}

enum ofl_reason ofl_host_operation_prepare(int device, enum ofl_operation operation, char *explanation, size_t size)
{
    enum ofl_reason reason = ofl_host_usable(device);
    if (reason == OFL_OK && shapes[operation] == NULL && !ofl_host_is_lapack(operation)) {
        snprintf(explanation, size, "the host device has no routine for this operation");
        return OFL_UNSUPPORTED;
    }
    return reason == OFL_OK ? ofl_host_library_load(ofl_settings()->host_library, explanation, size) : reason;
}

enum ofl_reason ofl_host_operation_supports(int device, const struct ofl_call *call)
{
    enum ofl_reason reason = ofl_host_usable(device);
    if (reason != OFL_OK) {
        return reason;
    }
    if (shapes[call->operation] == NULL && !ofl_host_is_lapack(call->operation)) {
        return OFL_UNSUPPORTED;
    }
    if (routine_of(call) == NULL) {
        return OFL_LIBRARY_MISSING;
    }
    bool fits = call->m <= INT_MAX && call->n <= INT_MAX && call->k <= INT_MAX && call->nrhs <= INT_MAX;
    for (int i = 0; i < call->operands; i++) {
        fits = fits && call->operand[i].ld <= INT_MAX;
    }
    return fits ? ofl_host_lapack_supports(call) : OFL_TOO_LARGE;
}

enum ofl_reason ofl_host_operation_workspace(int device, const struct ofl_call *call, size_t *device_bytes,
                                             size_t *host_bytes)
{
    *device_bytes = ofl_host_lapack_workspace(call); /* level 3 needs none */
    *host_bytes = 0;
    return ofl_host_usable(device);
}

enum ofl_reason ofl_host_operation_run(int device, struct ofl_stream *stream, const struct ofl_call *call,
                                       void *device_scratch, size_t device_bytes, void *host_scratch, size_t host_bytes)
{
    (void)stream, (void)host_scratch, (void)host_bytes;
    struct arguments a = {call, (int)call->m, (int)call->n, (int)call->k, {NULL}, {0}};
    enum ofl_reason reason = ofl_host_operation_supports(device, call);
    for (int i = 0; i < call->operands && reason == OFL_OK; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        size_t elements = (size_t)((operand->columns - 1) * operand->ld + operand->rows);
        a.at[i] = operand->address;
        a.ld[i] = (int)operand->ld;
        if (!ofl_host_is_device_memory(operand->address, elements * operand->element_size)) {
            reason = OFL_OPERATION_FAILED;
        }
    }
    if (reason == OFL_OK) {
        reason = ofl_host_step(device, OFL_HOST_OPERATION, OFL_OPERATION_FAILED);
    }
    if (reason == OFL_OK && ofl_host_is_lapack(call->operation)) {
        reason = device_bytes >= ofl_host_lapack_workspace(call) ? OFL_OK : OFL_OPERATION_FAILED;
        if (reason == OFL_OK) {
            ofl_host_lapack_run(routine_of(call), call, device_scratch);
        }
    } else if (reason == OFL_OK) {
        shapes[call->operation](routine_of(call), &a);
    }
    return reason;
}
