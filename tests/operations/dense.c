/* Dense matrices in long double: naive loops, no blocking, nothing shared with what is tested. */
#include "dense.h"
#include "checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ofl_value *at(const struct ofl_dense *matrix, int64_t i, int64_t j)
{
    return &matrix->v[j * matrix->rows + i];
}

struct ofl_dense ofl_dense_new(int64_t rows, int64_t columns)
{
    struct ofl_dense matrix = {rows, columns, calloc((size_t)(rows * columns) + 1, sizeof(ofl_value))};
    if (matrix.v == NULL) {
        fputs("no memory for the test's reference\n", stderr);
        exit(1);
    }
    return matrix;
}

void ofl_dense_free(struct ofl_dense *matrix)
{
    free(matrix->v);
    matrix->v = NULL;
}

struct ofl_dense ofl_dense_identity(int64_t order)
{
    struct ofl_dense matrix = ofl_dense_new(order, order);
    for (int64_t i = 0; i < order; i++) {
        *at(&matrix, i, i) = 1;
    }
    return matrix;
}

struct ofl_dense ofl_dense_random(enum ofl_precision precision, int64_t rows, int64_t columns)
{
    struct ofl_dense matrix = ofl_dense_new(rows, columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        matrix.v[i] = ofl_random_element(precision);
    }
    return matrix;
}

struct ofl_dense ofl_dense_copy(const struct ofl_dense *matrix)
{
    struct ofl_dense copy = ofl_dense_new(matrix->rows, matrix->columns);
    memcpy(copy.v, matrix->v, (size_t)(matrix->rows * matrix->columns) * sizeof *copy.v);
    return copy;
}

struct ofl_dense ofl_dense_from(const struct ofl_matrix *from, int64_t rows, int64_t columns, enum ofl_region region)
{
    struct ofl_dense matrix = ofl_dense_new(rows, columns);
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            if (ofl_in_region(region, i, j)) {
                *at(&matrix, i, j) = ofl_matrix_get(from, i, j);
            }
        }
    }
    return matrix;
}

void ofl_dense_store(const struct ofl_dense *matrix, struct ofl_matrix *to, enum ofl_region region)
{
    for (int64_t j = 0; j < matrix->columns; j++) {
        for (int64_t i = 0; i < matrix->rows; i++) {
            if (ofl_in_region(region, i, j)) {
                ofl_matrix_set(to, i, j, *at(matrix, i, j));
            }
        }
    }
}

struct ofl_dense ofl_dense_transposed(const struct ofl_dense *matrix, char how)
{
    if (how == 'N') {
        return ofl_dense_copy(matrix);
    }
    struct ofl_dense result = ofl_dense_new(matrix->columns, matrix->rows);
    for (int64_t j = 0; j < matrix->columns; j++) {
        for (int64_t i = 0; i < matrix->rows; i++) {
            *at(&result, j, i) = how == 'C' ? conjl(*at(matrix, i, j)) : *at(matrix, i, j);
        }
    }
    return result;
}

struct ofl_dense ofl_dense_product(const struct ofl_dense *x, char how_x, const struct ofl_dense *y, char how_y)
{
    struct ofl_dense a = ofl_dense_transposed(x, how_x), b = ofl_dense_transposed(y, how_y);
    struct ofl_dense result = ofl_dense_new(a.rows, b.columns);
    if (a.columns != b.rows) {
        fputs("the test's operands do not fit together\n", stderr);
        exit(1);
    }
    for (int64_t j = 0; j < b.columns; j++) {
        for (int64_t l = 0; l < a.columns; l++) {
            ofl_value factor = *at(&b, l, j);
            for (int64_t i = 0; i < a.rows && factor != 0; i++) {
                *at(&result, i, j) += *at(&a, i, l) * factor;
            }
        }
    }
    ofl_dense_free(&a);
    ofl_dense_free(&b);
    return result;
}

long double ofl_dense_norm(const struct ofl_dense *matrix)
{
    long double norm = 0;
    for (int64_t j = 0; j < matrix->columns; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < matrix->rows; i++) {
            sum += cabsl(*at(matrix, i, j));
        }
        norm = sum <= norm ? norm : sum; /* takes a NaN, and the next comparison leaves it */
        if (isnan(norm)) {
            break;
        }
    }
    return norm;
}

long double ofl_dense_distance(const struct ofl_dense *x, const struct ofl_dense *y)
{
    struct ofl_dense difference = ofl_dense_copy(x);
    for (int64_t i = 0; i < x->rows * x->columns; i++) {
        difference.v[i] -= y->v[i];
    }
    long double distance = ofl_dense_norm(&difference);
    ofl_dense_free(&difference);
    return distance;
}

static void exchange_rows(struct ofl_dense *matrix, int64_t i, int64_t other)
{
    for (int64_t j = 0; i != other && j < matrix->columns; j++) {
        ofl_value value = *at(matrix, i, j);
        *at(matrix, i, j) = *at(matrix, other, j);
        *at(matrix, other, j) = value;
    }
}

void ofl_dense_exchange(struct ofl_dense *matrix, const int64_t *pivots, int64_t count, bool back)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t row = back ? count - 1 - i : i;
        exchange_rows(matrix, row, pivots[row]);
    }
}

void ofl_dense_lu(struct ofl_dense *matrix, int64_t *pivots)
{
    int64_t steps = matrix->rows < matrix->columns ? matrix->rows : matrix->columns;
    for (int64_t k = 0; k < steps; k++) {
        pivots[k] = k;
        for (int64_t i = k + 1; i < matrix->rows; i++) {
            if (cabsl(*at(matrix, i, k)) > cabsl(*at(matrix, pivots[k], k))) {
                pivots[k] = i;
            }
        }
        exchange_rows(matrix, k, pivots[k]);
        for (int64_t i = k + 1; i < matrix->rows; i++) {
            *at(matrix, i, k) /= *at(matrix, k, k);
        }
        for (int64_t j = k + 1; j < matrix->columns; j++) {
            for (int64_t i = k + 1; i < matrix->rows; i++) {
                *at(matrix, i, j) -= *at(matrix, i, k) * *at(matrix, k, j);
            }
        }
    }
}

void ofl_dense_solve(const struct ofl_dense *matrix, struct ofl_dense *right)
{
    struct ofl_dense factors = ofl_dense_copy(matrix);
    int64_t order = matrix->rows, *pivots = calloc((size_t)order + 1, sizeof *pivots);
    ofl_dense_lu(&factors, pivots);
    ofl_dense_exchange(right, pivots, order, false);
    for (int64_t j = 0; j < right->columns; j++) {
        for (int64_t k = 0; k < order; k++) {
            for (int64_t i = k + 1; i < order; i++) {
                *at(right, i, j) -= *at(&factors, i, k) * *at(right, k, j);
            }
        }
        for (int64_t k = order - 1; k >= 0; k--) {
            *at(right, k, j) /= *at(&factors, k, k);
            for (int64_t i = 0; i < k; i++) {
                *at(right, i, j) -= *at(&factors, i, k) * *at(right, k, j);
            }
        }
    }
    free(pivots);
    ofl_dense_free(&factors);
}

struct ofl_dense ofl_dense_cholesky(const struct ofl_dense *matrix)
{
    int64_t order = matrix->rows;
    struct ofl_dense l = ofl_dense_new(order, order);
    for (int64_t j = 0; j < order; j++) {
        for (int64_t i = j; i < order; i++) {
            ofl_value sum = *at(matrix, i, j);
            for (int64_t k = 0; k < j; k++) {
                sum -= *at(&l, i, k) * conjl(*at(&l, j, k));
            }
            *at(&l, i, j) = i == j ? (ofl_value)sqrtl(creall(sum)) : sum / *at(&l, j, j);
        }
    }
    return l;
}

/* Applies 1 - tau v v' to columns first.. of the matrix. */
static void reflect(const struct ofl_dense *reflectors, int64_t step, ofl_value tau, int64_t first,
                    struct ofl_dense *matrix)
{
    for (int64_t j = first; j < matrix->columns; j++) {
        ofl_value sum = *at(matrix, step, j);
        for (int64_t i = step + 1; i < matrix->rows; i++) {
            sum += conjl(*at(reflectors, i, step)) * *at(matrix, i, j);
        }
        sum *= tau;
        *at(matrix, step, j) -= sum;
        for (int64_t i = step + 1; i < matrix->rows; i++) {
            *at(matrix, i, j) -= *at(reflectors, i, step) * sum;
        }
    }
}

void ofl_dense_reflect(const struct ofl_dense *reflectors, const ofl_value *tau, int64_t count, bool adjoint,
                       struct ofl_dense *matrix)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t step = adjoint ? i : count - 1 - i;
        reflect(reflectors, step, adjoint ? conjl(tau[step]) : tau[step], 0, matrix);
    }
}

/* The reflector that takes column `step` to a real multiple of the unit vector. */
static ofl_value make_reflector(struct ofl_dense *matrix, int64_t step)
{
    long double norm = 0;
    for (int64_t i = step; i < matrix->rows; i++) {
        norm = hypotl(norm, cabsl(*at(matrix, i, step)));
    }
    ofl_value alpha = *at(matrix, step, step);
    long double beta = creall(alpha) > 0 ? -norm : norm;
    if (beta == 0 || (matrix->rows == step + 1 && cimagl(alpha) == 0)) {
        return 0;
    }
    for (int64_t i = step + 1; i < matrix->rows; i++) {
        *at(matrix, i, step) /= alpha - beta;
    }
    *at(matrix, step, step) = beta;
    return (beta - alpha) / beta;
}

void ofl_dense_qr(struct ofl_dense *matrix, ofl_value *tau)
{
    int64_t steps = matrix->rows < matrix->columns ? matrix->rows : matrix->columns;
    for (int64_t step = 0; step < steps; step++) {
        tau[step] = make_reflector(matrix, step);
        reflect(matrix, step, conjl(tau[step]), step + 1, matrix);
    }
}
