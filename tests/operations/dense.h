/* Dense matrices in long double, with what the checks of LAPACK's operations need. */
#ifndef OFL_TESTS_OPERATIONS_DENSE_H
#define OFL_TESTS_OPERATIONS_DENSE_H
#include "matrix.h"

struct ofl_dense {
    int64_t rows, columns;
    ofl_value *v; /* element (i, j) at i + j * rows */
};

/* All are new matrices, which ofl_dense_free frees; no memory ends the program. */
struct ofl_dense ofl_dense_new(int64_t rows, int64_t columns); /* zeros */
struct ofl_dense ofl_dense_identity(int64_t order);
struct ofl_dense ofl_dense_random(enum ofl_precision precision, int64_t rows, int64_t columns);
struct ofl_dense ofl_dense_copy(const struct ofl_dense *matrix);
/* The first rows and columns of a matrix under test; of these only the region, zeros elsewhere. */
struct ofl_dense ofl_dense_from(const struct ofl_matrix *matrix, int64_t rows, int64_t columns, enum ofl_region region);
/* 'N', 'T' or 'C'. */
struct ofl_dense ofl_dense_transposed(const struct ofl_dense *matrix, char how);
/* op(x) op(y) */
struct ofl_dense ofl_dense_product(const struct ofl_dense *x, char how_x, const struct ofl_dense *y, char how_y);
void ofl_dense_free(struct ofl_dense *matrix);

/* To a matrix under test, rounded: the elements of the region. */
void ofl_dense_store(const struct ofl_dense *matrix, struct ofl_matrix *to, enum ofl_region region);

/* Largest column sum of absolute values; NaN where there is one. */
long double ofl_dense_norm(const struct ofl_dense *matrix);
/* ... of the difference. */
long double ofl_dense_distance(const struct ofl_dense *x, const struct ofl_dense *y);

/* Gaussian elimination with partial pivoting, in place: L below the diagonal, U from there.  pivots[i]: the row,
 * from 0, that was exchanged with row i. */
void ofl_dense_lu(struct ofl_dense *matrix, int64_t *pivots);
/* Exchanges rows as the elimination did, or back. */
void ofl_dense_exchange(struct ofl_dense *matrix, const int64_t *pivots, int64_t count, bool back);
/* Replaces `right` by the solution. */
void ofl_dense_solve(const struct ofl_dense *matrix, struct ofl_dense *right);
/* The lower factor of a Hermitian positive definite matrix. */
struct ofl_dense ofl_dense_cholesky(const struct ofl_dense *matrix);
/* Householder's reduction in LAPACK's form, in place; tau has min(rows, columns) elements. */
void ofl_dense_qr(struct ofl_dense *matrix, ofl_value *tau);
/* Applies H(0) H(1) ... H(count-1), or the conjugate transpose, from the left: H(i) = 1 - tau(i) v v', with v below
 * the diagonal of column i of `reflectors`. */
void ofl_dense_reflect(const struct ofl_dense *reflectors, const ofl_value *tau, int64_t count, bool adjoint,
                       struct ofl_dense *matrix);
#endif
