/* The host device's LAPACK operations: calls of a CPU library's Fortran routines.
 *
 * The library's answers are LAPACK's own, so its info is passed on as such.  Pivots
 * have 64 bits in device memory and 32 in the library; they and the library's
 * workspace lie in the operation's scratch memory. */
#include "host.h"

#include <limits.h>

/* The widest block of columns that LAPACK works on at a time, and unmqr's room for its factor. */
enum { widest_block = 64, block_factor = 65 * 64 };

/* A call as the library wants it. */
struct arguments {
    const struct ofl_call *call;
    int m, n, k, nrhs;
    const struct ofl_buffer *a, *b; /* the matrices, in order */
    int lda, ldb;
    const struct ofl_buffer *pivots, *tau;
    int *ipiv; /* in scratch memory, as is work */
    void *work;
    int lwork;
    int info;
};

typedef void shape(ofl_host_function *routine, struct arguments *a);

static void run_getrf(ofl_host_function *routine, struct arguments *a)
{
    typedef void getrf(const int *, const int *, void *, const int *, int *, int *);
    ((getrf *)routine)(&a->m, &a->n, a->a->address, &a->lda, a->ipiv, &a->info);
}

static void run_getrs(ofl_host_function *routine, struct arguments *a)
{
    typedef void getrs(const char *, const int *, const int *, const void *, const int *, const int *, void *,
                       const int *, int *, size_t);
    ((getrs *)routine)(&a->call->trans, &a->n, &a->nrhs, a->a->address, &a->lda, a->ipiv, a->b->address, &a->ldb,
                       &a->info, 1);
}

static void run_gesv(ofl_host_function *routine, struct arguments *a)
{
    typedef void gesv(const int *, const int *, void *, const int *, int *, void *, const int *, int *);
    ((gesv *)routine)(&a->n, &a->nrhs, a->a->address, &a->lda, a->ipiv, a->b->address, &a->ldb, &a->info);
}

static void run_getri(ofl_host_function *routine, struct arguments *a)
{
    typedef void getri(const int *, void *, const int *, const int *, void *, const int *, int *);
    ((getri *)routine)(&a->n, a->a->address, &a->lda, a->ipiv, a->work, &a->lwork, &a->info);
}

/* potrf and potri. */
static void run_potrf(ofl_host_function *routine, struct arguments *a)
{
    typedef void potrf(const char *, const int *, void *, const int *, int *, size_t);
    ((potrf *)routine)(&a->call->uplo, &a->n, a->a->address, &a->lda, &a->info, 1);
}

/* potrs and posv. */
static void run_potrs(ofl_host_function *routine, struct arguments *a)
{
    typedef void potrs(const char *, const int *, const int *, void *, const int *, void *, const int *, int *, size_t);
    ((potrs *)routine)(&a->call->uplo, &a->n, &a->nrhs, a->a->address, &a->lda, a->b->address, &a->ldb, &a->info, 1);
}

static void run_trtri(ofl_host_function *routine, struct arguments *a)
{
    typedef void trtri(const char *, const char *, const int *, void *, const int *, int *, size_t, size_t);
    ((trtri *)routine)(&a->call->uplo, &a->call->diag, &a->n, a->a->address, &a->lda, &a->info, 1, 1);
}

static void run_geqrf(ofl_host_function *routine, struct arguments *a)
{
    typedef void geqrf(const int *, const int *, void *, const int *, void *, void *, const int *, int *);
    ((geqrf *)routine)(&a->m, &a->n, a->a->address, &a->lda, a->tau->address, a->work, &a->lwork, &a->info);
}

static void run_orgqr(ofl_host_function *routine, struct arguments *a)
{
    typedef void orgqr(const int *, const int *, const int *, void *, const int *, const void *, void *, const int *,
                       int *);
    ((orgqr *)routine)(&a->m, &a->n, &a->k, a->a->address, &a->lda, a->tau->address, a->work, &a->lwork, &a->info);
}

static void run_ormqr(ofl_host_function *routine, struct arguments *a)
{
    typedef void ormqr(const char *, const char *, const int *, const int *, const int *, const void *, const int *,
                       const void *, void *, const int *, void *, const int *, int *, size_t, size_t);
    ((ormqr *)routine)(&a->call->side, &a->call->trans, &a->m, &a->n, &a->k, a->a->address, &a->lda, a->tau->address,
                       a->b->address, &a->ldb, a->work, &a->lwork, &a->info, 1, 1);
}

static void run_gels(ofl_host_function *routine, struct arguments *a)
{
    typedef void gels(const char *, const int *, const int *, const int *, void *, const int *, void *, const int *,
                      void *, const int *, int *, size_t);
    ((gels *)routine)(&a->call->trans, &a->m, &a->n, &a->nrhs, a->a->address, &a->lda, a->b->address, &a->ldb, a->work,
                      &a->lwork, &a->info, 1);
}

static shape *const shapes[OFL_OPERATION_COUNT] = {
    [OFL_OP_getrf] = run_getrf, [OFL_OP_getrs] = run_getrs, [OFL_OP_gesv] = run_gesv,   [OFL_OP_getri] = run_getri,
    [OFL_OP_potrf] = run_potrf, [OFL_OP_potri] = run_potrf, [OFL_OP_potrs] = run_potrs, [OFL_OP_posv] = run_potrs,
    [OFL_OP_trtri] = run_trtri, [OFL_OP_geqrf] = run_geqrf, [OFL_OP_orgqr] = run_orgqr, [OFL_OP_ungqr] = run_orgqr,
    [OFL_OP_ormqr] = run_ormqr, [OFL_OP_unmqr] = run_ormqr, [OFL_OP_gels] = run_gels,
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Elements of workspace with which the library works in blocks; 0 where the routine takes none. */
static int64_t lwork(const struct ofl_call *call)
{
    switch (call->operation) {
    case OFL_OP_getri:
    case OFL_OP_geqrf:
    case OFL_OP_orgqr:
    case OFL_OP_ungqr:
        return call->n * widest_block;
    case OFL_OP_ormqr:
    case OFL_OP_unmqr:
        return (call->side == 'L' ? call->n : call->m) * widest_block + block_factor;
    case OFL_OP_gels: {
        int64_t smaller = call->m < call->n ? call->m : call->n;
        return smaller + larger(larger(call->m, call->n), call->nrhs) * widest_block + block_factor;
    }
    default:
        return 0;
    }
}

/* Pivots lie behind the workspace. */
static int64_t pivots(const struct ofl_call *call)
{
    return call->operands > 1 && call->operand[1].region == OFL_PIVOTS ? call->operand[1].rows : 0;
}

bool ofl_host_is_lapack(enum ofl_operation operation)
{
    return shapes[operation] != NULL;
}

enum ofl_reason ofl_host_lapack_supports(const struct ofl_call *call)
{
    return lwork(call) <= INT_MAX ? OFL_OK : OFL_TOO_LARGE;
}

size_t ofl_host_lapack_workspace(const struct ofl_call *call)
{
    return ofl_host_is_lapack(call->operation)
               ? (size_t)lwork(call) * call->operand[0].element_size + (size_t)pivots(call) * sizeof(int)
               : 0;
}

static void find_operands(struct arguments *a)
{
    for (int i = 0; i < a->call->operands; i++) {
        const struct ofl_buffer *operand = &a->call->operand[i];
        if (operand->region == OFL_PIVOTS) {
            a->pivots = operand;
        } else if (i == 1 && a->call->nrhs == 0) {
            a->tau = operand; /* the QR family's */
        } else if (a->a == NULL) {
            a->a = operand;
            a->lda = (int)operand->ld;
        } else {
            a->b = operand;
            a->ldb = (int)operand->ld;
        }
    }
}

void ofl_host_lapack_run(ofl_host_function *routine, const struct ofl_call *call, void *scratch)
{
    struct arguments a = {.call = call,
                          .m = (int)call->m,
                          .n = (int)call->n,
                          .k = (int)call->k,
                          .nrhs = (int)call->nrhs,
                          .work = scratch,
                          .lwork = (int)lwork(call)};
    find_operands(&a);
    a.ipiv = (int *)(void *)((char *)scratch + (size_t)a.lwork * call->operand[0].element_size);
    int64_t *wide = a.pivots != NULL ? a.pivots->address : NULL;
    for (int64_t i = 0; wide != NULL && a.pivots->access == OFL_READ && i < a.pivots->rows; i++) {
        a.ipiv[i] = (int)wide[i];
    }
    shapes[call->operation](routine, &a);
    for (int64_t i = 0; wide != NULL && a.pivots->access == OFL_WRITE && i < a.pivots->rows; i++) {
        wide[i] = a.ipiv[i];
    }
    call->info[OFL_INFO_LAPACK] = a.info;
}
