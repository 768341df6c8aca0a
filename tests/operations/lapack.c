/* Checks of LAPACK's operations.
 *
 * A device may choose other pivots and signs than the CPU library, so factors are
 * multiplied together again, in long double, and compared with the matrix: what is
 * left over must be below 30 times order, precision and norm, as LAPACK's own testers
 * ask.  Inputs of operations that take factors are factored here. */
#include "checks.h"
#include "dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { threshold = 30 };

static enum ofl_region triangle(const struct ofl_call *call)
{
    return call->uplo == 'U' ? OFL_UPPER : OFL_LOWER;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* False for a NaN. */
static bool is_small(const struct ofl_call *call, long double distance, int64_t order, long double norm)
{
    return distance <= threshold * (long double)order * ofl_epsilon(call->precision) * norm;
}

/* Frees both. */
static bool same(const struct ofl_call *call, struct ofl_dense x, struct ofl_dense y, int64_t order, long double norm)
{
    bool small = is_small(call, ofl_dense_distance(&x, &y), order, norm);
    ofl_dense_free(&x);
    ofl_dense_free(&y);
    return small;
}

static struct ofl_dense whole(const struct ofl_matrix *matrix)
{
    return ofl_dense_from(matrix, matrix->rows, matrix->columns, OFL_GENERAL);
}

/* ---- pivots: 4 or 8 bytes each ---- */

static int64_t get_pivot(const struct ofl_matrix *pivots, int64_t i)
{
    int64_t wide;
    int32_t narrow;
    if (pivots->element_size == sizeof wide) {
        memcpy(&wide, pivots->first + i * 8, sizeof wide);
        return wide - 1;
    }
    memcpy(&narrow, pivots->first + i * 4, sizeof narrow);
    return narrow - 1;
}

static void set_pivot(struct ofl_matrix *pivots, int64_t i, int64_t row)
{
    int64_t wide = row + 1;
    int32_t narrow = (int32_t)wide;
    bool is_wide = pivots->element_size == sizeof wide;
    memcpy(pivots->first + i * (int64_t)pivots->element_size, is_wide ? (const void *)&wide : (const void *)&narrow,
           pivots->element_size);
}

/* Rows from 0; false where one is not at or below its step, or not in the matrix. */
static bool get_pivots(const struct ofl_matrix *pivots, int64_t rows, int64_t *out)
{
    bool legal = true;
    for (int64_t i = 0; i < pivots->rows; i++) {
        out[i] = get_pivot(pivots, i);
        legal = legal && out[i] >= i && out[i] < rows;
    }
    return legal;
}

/* ---- LU ---- */

static struct ofl_dense lower_factor(const struct ofl_matrix *factors)
{
    int64_t steps = smaller(factors->rows, factors->columns);
    struct ofl_dense l = ofl_dense_from(factors, factors->rows, steps, OFL_LOWER);
    for (int64_t i = 0; i < steps; i++) {
        l.v[i + i * l.rows] = 1;
    }
    return l;
}

static struct ofl_dense upper_factor(const struct ofl_matrix *factors)
{
    return ofl_dense_from(factors, smaller(factors->rows, factors->columns), factors->columns, OFL_UPPER);
}

/* P' L U: the matrix that was factored. */
static struct ofl_dense undo_lu(const struct ofl_matrix *factors, const int64_t *pivots)
{
    struct ofl_dense l = lower_factor(factors), u = upper_factor(factors);
    struct ofl_dense product = ofl_dense_product(&l, 'N', &u, 'N');
    ofl_dense_exchange(&product, pivots, l.columns, true);
    ofl_dense_free(&l);
    ofl_dense_free(&u);
    return product;
}

/* Partial pivoting by absolute value, or by the sum of the parts' as BLAS does. */
static bool multipliers_are_small(const struct ofl_call *call, const struct ofl_matrix *factors)
{
    struct ofl_dense l = lower_factor(factors);
    long double limit = (ofl_is_complex(call->precision) ? sqrtl(2) : 1) + 10 * ofl_epsilon(call->precision);
    bool small = true;
    for (int64_t i = 0; i < l.rows * l.columns; i++) {
        small = small && cabsl(l.v[i]) <= limit;
    }
    ofl_dense_free(&l);
    return small;
}

static bool lu_is_right(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    int64_t *pivots = calloc((size_t)after[1].rows, sizeof *pivots);
    bool right = get_pivots(&after[1], after[0].rows, pivots) && multipliers_are_small(call, &after[0]);
    if (right) {
        struct ofl_dense a = whole(&before[0]);
        long double norm = ofl_dense_norm(&a);
        right = same(call, undo_lu(&after[0], pivots), a, larger(a.rows, a.columns), norm);
    }
    free(pivots);
    return right;
}

/* Whether op(A) X is B.  Takes A. */
static bool solves(const struct ofl_call *call, struct ofl_dense a, char trans, const struct ofl_matrix *b,
                   const struct ofl_matrix *x)
{
    struct ofl_dense solution = whole(x);
    long double norm = ofl_dense_norm(&a) * (trans == 'N' ? 1 : (long double)a.rows) * ofl_dense_norm(&solution);
    struct ofl_dense product = ofl_dense_product(&a, trans, &solution, 'N');
    bool right = same(call, product, whole(b), a.rows, norm);
    ofl_dense_free(&solution);
    ofl_dense_free(&a);
    return right;
}

/* Whether X A is the identity.  Takes both. */
static bool inverts(const struct ofl_call *call, struct ofl_dense x, struct ofl_dense a)
{
    long double norm = ofl_dense_norm(&x) * ofl_dense_norm(&a);
    struct ofl_dense product = ofl_dense_product(&x, 'N', &a, 'N');
    bool right = same(call, product, ofl_dense_identity(a.rows), a.rows, norm);
    ofl_dense_free(&x);
    ofl_dense_free(&a);
    return right;
}

bool ofl_check_getrf(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return lu_is_right(call, before, after);
}

bool ofl_check_gesv(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return lu_is_right(call, before, after) && solves(call, whole(&before[0]), 'N', &before[2], &after[2]);
}

static struct ofl_dense given_lu(const struct ofl_matrix *before)
{
    int64_t *pivots = calloc((size_t)before[1].rows, sizeof *pivots);
    get_pivots(&before[1], before[0].rows, pivots);
    struct ofl_dense a = undo_lu(&before[0], pivots);
    free(pivots);
    return a;
}

bool ofl_check_getrs(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return solves(call, given_lu(before), call->trans, &before[2], &after[2]);
}

bool ofl_check_getri(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return inverts(call, whole(&after[0]), given_lu(before));
}

/* ---- Cholesky and triangles ---- */

/* The full matrix of which one triangle is stored. */
static struct ofl_dense hermitian(const struct ofl_call *call, const struct ofl_matrix *matrix)
{
    struct ofl_dense half = ofl_dense_from(matrix, matrix->rows, matrix->columns, triangle(call));
    struct ofl_dense full = ofl_dense_transposed(&half, 'C');
    for (int64_t j = 0; j < full.columns; j++) {
        for (int64_t i = 0; i < full.rows; i++) {
            if (ofl_in_region(triangle(call), i, j)) {
                full.v[i + j * full.rows] = half.v[i + j * half.rows];
            }
        }
    }
    ofl_dense_free(&half);
    return full;
}

/* R'R or LL', of the factor that is stored. */
static struct ofl_dense undo_cholesky(const struct ofl_call *call, const struct ofl_matrix *factor)
{
    struct ofl_dense half = ofl_dense_from(factor, factor->rows, factor->columns, triangle(call));
    bool upper = call->uplo == 'U';
    struct ofl_dense product = ofl_dense_product(&half, upper ? 'C' : 'N', &half, upper ? 'N' : 'C');
    ofl_dense_free(&half);
    return product;
}

static bool diagonal_is_real(const struct ofl_matrix *matrix)
{
    bool real = true;
    for (int64_t j = 0; j < matrix->columns; j++) {
        ofl_value value = ofl_matrix_get(matrix, j, j);
        real = real && cimagl(value) == 0 && creall(value) > 0;
    }
    return real;
}

bool ofl_check_potrf(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    struct ofl_dense a = hermitian(call, &before[0]);
    long double norm = ofl_dense_norm(&a);
    return same(call, undo_cholesky(call, &after[0]), a, a.rows, norm) && diagonal_is_real(&after[0]);
}

bool ofl_check_potrs(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return solves(call, undo_cholesky(call, &before[0]), 'N', &before[1], &after[1]);
}

bool ofl_check_posv(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return ofl_check_potrf(call, before, after) &&
           solves(call, hermitian(call, &before[0]), 'N', &before[1], &after[1]);
}

bool ofl_check_potri(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return inverts(call, hermitian(call, &after[0]), undo_cholesky(call, &before[0])) && diagonal_is_real(&after[0]);
}

static struct ofl_dense given_triangle(const struct ofl_call *call, const struct ofl_matrix *matrix)
{
    struct ofl_dense t = ofl_dense_from(matrix, matrix->rows, matrix->columns, triangle(call));
    for (int64_t i = 0; i < t.rows && call->diag == 'U'; i++) {
        t.v[i + i * t.rows] = 1;
    }
    return t;
}

bool ofl_check_trtri(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    for (int64_t i = 0; i < after[0].rows && call->diag == 'U'; i++) {
        if (!isnan(creall(ofl_matrix_get(&after[0], i, i)))) {
            return false; /* a unit diagonal is not stored */
        }
    }
    return inverts(call, given_triangle(call, &after[0]), given_triangle(call, &before[0]));
}

/* ---- QR ---- */

static ofl_value *get_tau(const struct ofl_matrix *tau)
{
    ofl_value *values = calloc((size_t)tau->rows, sizeof *values);
    for (int64_t i = 0; i < tau->rows; i++) {
        values[i] = ofl_matrix_get(tau, i, 0);
    }
    return values;
}

/* Q R is A, and Q'Q the identity. */
bool ofl_check_geqrf(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    int64_t m = call->m, n = call->n, steps = smaller(m, n);
    ofl_value *tau = get_tau(&after[1]);
    struct ofl_dense reflectors = whole(&after[0]), product = ofl_dense_from(&after[0], m, n, OFL_UPPER);
    struct ofl_dense a = whole(&before[0]), q = ofl_dense_identity(m);
    long double norm = ofl_dense_norm(&a);
    ofl_dense_reflect(&reflectors, tau, steps, false, &product);
    ofl_dense_reflect(&reflectors, tau, steps, false, &q);
    struct ofl_dense square = ofl_dense_product(&q, 'C', &q, 'N');
    bool right = same(call, product, a, larger(m, n), norm);
    right = same(call, square, ofl_dense_identity(m), m, 1) && right;
    ofl_dense_free(&reflectors);
    ofl_dense_free(&q);
    free(tau);
    return right;
}

bool ofl_check_orgqr(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    ofl_value *tau = get_tau(&before[1]);
    struct ofl_dense reflectors = whole(&before[0]), q = ofl_dense_new(call->m, call->n);
    for (int64_t i = 0; i < call->n; i++) {
        q.v[i + i * q.rows] = 1;
    }
    ofl_dense_reflect(&reflectors, tau, call->k, false, &q);
    bool right = same(call, q, whole(&after[0]), call->m, 1);
    ofl_dense_free(&reflectors);
    free(tau);
    return right;
}

bool ofl_check_ungqr(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return ofl_check_orgqr(call, before, after);
}

/* C op(Q) is the conjugate transpose of op(Q)' C'. */
bool ofl_check_ormqr(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    bool left = call->side == 'L', adjoint = call->trans != 'N';
    ofl_value *tau = get_tau(&before[1]);
    struct ofl_dense reflectors = whole(&before[0]), c = whole(&before[2]);
    struct ofl_dense product = ofl_dense_transposed(&c, left ? 'N' : 'C');
    long double norm = ofl_dense_norm(&c);
    ofl_dense_reflect(&reflectors, tau, call->k, left == adjoint, &product);
    bool right =
        same(call, ofl_dense_transposed(&product, left ? 'N' : 'C'), whole(&after[2]), larger(call->m, call->n), norm);
    ofl_dense_free(&reflectors);
    ofl_dense_free(&product);
    ofl_dense_free(&c);
    free(tau);
    return right;
}

bool ofl_check_unmqr(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return ofl_check_ormqr(call, before, after);
}

/* ---- least squares ---- */

/* The solution of smallest norm, by the normal equations: twice the digits make up for the squared condition. */
static struct ofl_dense least_squares(const struct ofl_dense *a, const struct ofl_dense *b)
{
    bool tall = a->rows >= a->columns;
    struct ofl_dense square = ofl_dense_product(a, tall ? 'C' : 'N', a, tall ? 'N' : 'C');
    struct ofl_dense right = tall ? ofl_dense_product(a, 'C', b, 'N') : ofl_dense_copy(b);
    ofl_dense_solve(&square, &right);
    struct ofl_dense solution = tall ? ofl_dense_copy(&right) : ofl_dense_product(a, 'C', &right, 'N');
    ofl_dense_free(&square);
    ofl_dense_free(&right);
    return solution;
}

/* Below the solution of an overdetermined system: numbers whose squares sum to the residual's. */
static bool residuals_are_right(const struct ofl_call *call, const struct ofl_dense *a, const struct ofl_dense *b,
                                const struct ofl_dense *x, const struct ofl_matrix *after)
{
    struct ofl_dense product = ofl_dense_product(a, 'N', x, 'N');
    bool right = true;
    for (int64_t j = 0; j < b->columns; j++) {
        long double expected = 0, actual = 0, norm = 0;
        for (int64_t i = 0; i < a->rows; i++) {
            norm = hypotl(norm, cabsl(b->v[i + j * b->rows]));
            expected = hypotl(expected, cabsl(b->v[i + j * b->rows] - product.v[i + j * product.rows]));
            actual = i < a->columns ? 0 : hypotl(actual, cabsl(ofl_matrix_get(after, i, j)));
        }
        right = right && is_small(call, fabsl(expected - actual), a->rows, norm);
    }
    ofl_dense_free(&product);
    return right;
}

bool ofl_check_gels(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    struct ofl_dense given = whole(&before[0]), a = ofl_dense_transposed(&given, call->trans);
    struct ofl_dense b = ofl_dense_from(&before[1], a.rows, call->nrhs, OFL_GENERAL);
    struct ofl_dense x = least_squares(&a, &b);
    /* The matrix is well conditioned (fill_gels), so that errors stay small. */
    long double norm = 10 * (ofl_dense_norm(&x) + ofl_dense_norm(&b));
    bool right = a.rows < a.columns || residuals_are_right(call, &a, &b, &x, &after[1]);
    right =
        same(call, x, ofl_dense_from(&after[1], a.columns, call->nrhs, OFL_GENERAL), larger(a.rows, a.columns), norm) &&
        right;
    ofl_dense_free(&given);
    ofl_dense_free(&a);
    ofl_dense_free(&b);
    return right;
}

/* ---- inputs ---- */

static void fill_lu(const struct ofl_call *call, struct ofl_matrix *matrices)
{
    int64_t *pivots = calloc((size_t)call->n, sizeof *pivots);
    struct ofl_dense a = ofl_dense_random(call->precision, call->n, call->n);
    ofl_dense_lu(&a, pivots);
    ofl_dense_store(&a, &matrices[0], OFL_GENERAL);
    for (int64_t i = 0; i < call->n; i++) {
        set_pivot(&matrices[1], i, pivots[i]);
    }
    ofl_dense_free(&a);
    free(pivots);
}

/* A positive definite matrix, or its factor. */
static void fill_definite(const struct ofl_call *call, struct ofl_matrix *matrices, bool factor)
{
    struct ofl_dense half = ofl_dense_random(call->precision, call->n, call->n);
    struct ofl_dense a = ofl_dense_product(&half, 'N', &half, 'C');
    for (int64_t i = 0; i < call->n; i++) {
        a.v[i + i * call->n] = creall(a.v[i + i * call->n]) + 1;
    }
    if (factor) {
        struct ofl_dense l = ofl_dense_cholesky(&a);
        ofl_dense_free(&a);
        a = ofl_dense_transposed(&l, call->uplo == 'U' ? 'C' : 'N');
        ofl_dense_free(&l);
    }
    ofl_dense_store(&a, &matrices[0], triangle(call));
    ofl_dense_free(&half);
    ofl_dense_free(&a);
}

static void fill_triangle(const struct ofl_call *call, struct ofl_matrix *matrices)
{
    for (int64_t j = 0; j < call->n; j++) {
        for (int64_t i = 0; i < call->n; i++) {
            ofl_value value = ofl_random_element(call->precision);
            if (i == j ? call->diag != 'U' : ofl_in_region(triangle(call), i, j)) {
                ofl_matrix_set(&matrices[0], i, j, i == j ? 2 + value / 2 : value / (ofl_value)call->n);
            }
        }
    }
}

/* Reflectors below the diagonal of the first k columns; what is on and above it is not looked at. */
static void fill_reflectors(const struct ofl_call *call, struct ofl_matrix *matrices)
{
    ofl_value *tau = calloc((size_t)call->k, sizeof *tau);
    struct ofl_dense a = ofl_dense_random(call->precision, matrices[0].rows, call->k);
    ofl_dense_qr(&a, tau);
    ofl_dense_store(&a, &matrices[0], OFL_GENERAL);
    for (int64_t i = 0; i < call->k; i++) {
        ofl_matrix_set(&matrices[1], i, 0, tau[i]);
    }
    ofl_dense_free(&a);
    free(tau);
}

static void fill_gels(const struct ofl_call *call, struct ofl_matrix *matrices)
{
    int64_t longer = larger(call->m, call->n);
    for (int64_t i = 0; i < smaller(call->m, call->n); i++) {
        ofl_matrix_set(&matrices[0], i, i, ofl_matrix_get(&matrices[0], i, i) + 3 + (long double)longer / 8);
    }
}

void ofl_fill_lapack(const struct ofl_call *call, struct ofl_matrix *matrices)
{
    switch (call->operation) {
    case OFL_OP_getrs:
    case OFL_OP_getri:
        fill_lu(call, matrices);
        break;
    case OFL_OP_potrf:
    case OFL_OP_posv:
        fill_definite(call, matrices, false);
        break;
    case OFL_OP_potrs:
    case OFL_OP_potri:
        fill_definite(call, matrices, true);
        break;
    case OFL_OP_trtri:
        fill_triangle(call, matrices);
        break;
    case OFL_OP_orgqr:
    case OFL_OP_ungqr:
    case OFL_OP_ormqr:
    case OFL_OP_unmqr:
        fill_reflectors(call, matrices);
        break;
    case OFL_OP_gels:
        fill_gels(call, matrices);
        break;
    default: /* what is random is right */
        break;
    }
}

/* Operands in the order of the table; the second one is pivots, tau or the right-hand sides. */
void ofl_make_square_call(struct ofl_call *call, int64_t order, struct ofl_matrix *matrices)
{
    const enum ofl_operation operation = call->operation;
    bool factored = operation == OFL_OP_getrs || operation == OFL_OP_getri; /* with pivots that are given */
    bool solves = operation == OFL_OP_trsm || operation == OFL_OP_getrs || operation == OFL_OP_potrs; /* reads A only */
    bool pivots = factored || operation == OFL_OP_getrf || operation == OFL_OP_gesv;
    bool right = solves || operation == OFL_OP_gesv || operation == OFL_OP_posv || operation == OFL_OP_gels;
    bool tau = operation == OFL_OP_geqrf;
    bool triangle = operation == OFL_OP_potrf || operation == OFL_OP_posv || operation == OFL_OP_potrs ||
                    operation == OFL_OP_potri || operation == OFL_OP_trtri || operation == OFL_OP_trsm;
    call->uplo = triangle ? 'U' : '\0';
    call->diag = operation == OFL_OP_trtri || operation == OFL_OP_trsm ? 'N' : '\0';
    call->trans = operation == OFL_OP_gels || operation == OFL_OP_getrs ? 'N' : '\0';
    call->m = operation == OFL_OP_getrf || tau || operation == OFL_OP_gels || operation == OFL_OP_trsm ? order : 0;
    call->n = order;
    call->nrhs = right ? 2 : 0;
    if (operation == OFL_OP_trsm) {
        call->side = 'L', call->transa = 'N', call->n = 2, call->nrhs = 0;
        ofl_set_scalar(&call->alpha, call->precision, 1);
    }
    matrices[call->operands++] = ofl_matrix_new(call->precision, order, order, order + 3);
    if (pivots) {
        matrices[call->operands++] = ofl_matrix_new(OFL_S, order, 1, order);
    }
    if (tau || right) {
        matrices[call->operands++] = ofl_matrix_new(call->precision, order, right ? 2 : 1, order);
    }
    for (int i = 0; i < call->operands; i++) {
        bool is_pivots = pivots && i == 1, is_tau = tau && i == 1;
        bool given = i == 0 ? solves : is_pivots && factored;
        call->operand[i] = (struct ofl_buffer){
            .address = matrices[i].first,
            .rows = order,
            .columns = matrices[i].columns,
            .ld = matrices[i].ld,
            .element_size = (uint32_t)matrices[i].element_size,
            .access = given                 ? OFL_READ
                      : is_pivots || is_tau ? OFL_WRITE
                                            : OFL_UPDATE,
            .region = is_pivots            ? OFL_PIVOTS
                      : i == 0 && triangle ? OFL_UPPER
                                           : OFL_GENERAL,
        };
        for (int64_t at = 0; at < order * matrices[i].columns && !is_pivots; at++) {
            ofl_matrix_set(&matrices[i], at % order, at / order, ofl_random_element(call->precision));
        }
    }
    ofl_fill_lapack(call, matrices);
}
