/* The expected results of operations, by naive loops in long double.
 *
 * Operands are expanded to full matrices first: transposed, made symmetric or
 * Hermitian from one triangle, filled with zeros and ones.  Then everything is
 * products of full matrices.  Elements that BLAS does not read are not read here. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct full {
    int64_t rows, columns;
    ofl_value *v;
};

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("no memory for the test's reference\n", stderr);
        exit(1);
    }
    return memory;
}

static struct full new_full(int64_t rows, int64_t columns)
{
    struct full full = {rows, columns, checked(calloc((size_t)(rows * columns), sizeof(ofl_value)))};
    return full;
}

static struct full general(const struct ofl_matrix *matrix)
{
    struct full full = new_full(matrix->rows, matrix->columns);
    for (int64_t j = 0; j < full.columns; j++) {
        for (int64_t i = 0; i < full.rows; i++) {
            full.v[j * full.rows + i] = ofl_matrix_get(matrix, i, j);
        }
    }
    return full;
}

/* Takes `full` and gives it transposed ('T'), transposed and conjugated ('C'), or as it is ('N'). */
static struct full transposed(struct full full, char how)
{
    if (how == 'N') {
        return full;
    }
    struct full result = new_full(full.columns, full.rows);
    for (int64_t j = 0; j < full.columns; j++) {
        for (int64_t i = 0; i < full.rows; i++) {
            ofl_value value = full.v[j * full.rows + i];
            result.v[i * result.rows + j] = how == 'C' ? conjl(value) : value;
        }
    }
    free(full.v);
    return result;
}

static enum ofl_region region_of(const struct ofl_call *call)
{
    return call->uplo == 'U' ? OFL_UPPER : OFL_LOWER;
}

static struct full symmetric(const struct ofl_call *call, bool hermitian, const struct ofl_matrix *matrix)
{
    struct full full = new_full(matrix->rows, matrix->columns);
    for (int64_t j = 0; j < full.columns; j++) {
        for (int64_t i = 0; i < full.rows; i++) {
            bool stored = ofl_in_region(region_of(call), i, j);
            ofl_value value = stored ? ofl_matrix_get(matrix, i, j) : ofl_matrix_get(matrix, j, i);
            if (hermitian) {
                value = i == j ? (ofl_value)creall(value) : stored ? value : conjl(value);
            }
            full.v[j * full.rows + i] = value;
        }
    }
    return full;
}

static struct full triangular(const struct ofl_call *call, const struct ofl_matrix *matrix)
{
    struct full full = new_full(matrix->rows, matrix->columns);
    for (int64_t j = 0; j < full.columns; j++) {
        for (int64_t i = 0; i < full.rows; i++) {
            bool unit = i == j && call->diag == 'U';
            if (ofl_in_region(region_of(call), i, j)) {
                full.v[j * full.rows + i] = unit ? 1 : ofl_matrix_get(matrix, i, j);
            }
        }
    }
    return full;
}

/* Adds factor * x * y. */
static void add_product(struct ofl_expected *expected, ofl_value factor, const struct full *x, const struct full *y)
{
    if (x->rows != expected->rows || y->columns != expected->columns || x->columns != y->rows) {
        fputs("the test's operands do not fit together\n", stderr);
        exit(1);
    }
    for (int64_t j = 0; j < y->columns; j++) {
        for (int64_t i = 0; i < x->rows; i++) {
            ofl_value sum = 0;
            long double bound = 0;
            for (int64_t l = 0; l < x->columns; l++) {
                ofl_value p = x->v[l * x->rows + i], q = y->v[j * y->rows + l];
                sum += p * q;
                bound += (fabsl(creall(p)) + fabsl(cimagl(p))) * (fabsl(creall(q)) + fabsl(cimagl(q)));
            }
            expected->value[j * expected->rows + i] += factor * sum;
            expected->bound[j * expected->rows + i] += cabsl(factor) * bound;
        }
    }
    expected->terms += x->columns;
}

static struct ofl_expected nothing(int64_t rows, int64_t columns)
{
    struct ofl_expected expected = {rows, columns, NULL, NULL, 4};
    expected.value = checked(calloc((size_t)(rows * columns), sizeof(ofl_value)));
    expected.bound = checked(calloc((size_t)(rows * columns), sizeof(long double)));
    return expected;
}

/* Starts with beta C; C is not read where beta is zero.  `region`: what of it is stored. */
static struct ofl_expected scaled(const struct ofl_matrix *c, ofl_value beta, enum ofl_region region, bool hermitian)
{
    struct ofl_expected expected = nothing(c->rows, c->columns);
    for (int64_t j = 0; j < c->columns && beta != 0; j++) {
        for (int64_t i = 0; i < c->rows; i++) {
            if (ofl_in_region(region, i, j)) {
                ofl_value value = ofl_matrix_get(c, i, j);
                value = beta * (hermitian && i == j ? (ofl_value)creall(value) : value);
                expected.value[j * c->rows + i] = value;
                expected.bound[j * c->rows + i] = cabsl(value);
            }
        }
    }
    return expected;
}

void ofl_expected_free(struct ofl_expected *expected)
{
    free(expected->value);
    free(expected->bound);
}

ofl_value ofl_scalar_value(enum ofl_precision precision, const union ofl_scalar *scalar, bool real)
{
    switch (precision) {
    case OFL_S:
        return scalar->s;
    case OFL_D:
        return scalar->d;
    case OFL_C:
        return real ? (ofl_value)scalar->s : CMPLXL(scalar->c[0], scalar->c[1]);
    case OFL_Z:
        return real ? (ofl_value)scalar->d : CMPLXL(scalar->z[0], scalar->z[1]);
    case OFL_PRECISION_COUNT:
        break;
    }
    return 0;
}

struct ofl_expected ofl_reference_gemm(const struct ofl_call *call, const struct ofl_matrix *a,
                                       const struct ofl_matrix *b, const struct ofl_matrix *c)
{
    struct full x = transposed(general(a), call->transa), y = transposed(general(b), call->transb);
    struct ofl_expected expected = scaled(c, ofl_scalar_value(call->precision, &call->beta, false), OFL_GENERAL, false);
    add_product(&expected, ofl_scalar_value(call->precision, &call->alpha, false), &x, &y);
    free(x.v);
    free(y.v);
    return expected;
}

struct ofl_expected ofl_reference_symm(const struct ofl_call *call, bool hermitian, const struct ofl_matrix *a,
                                       const struct ofl_matrix *b, const struct ofl_matrix *c)
{
    struct full x = symmetric(call, hermitian, a), y = general(b);
    struct ofl_expected expected = scaled(c, ofl_scalar_value(call->precision, &call->beta, false), OFL_GENERAL, false);
    bool left = call->side == 'L';
    add_product(&expected, ofl_scalar_value(call->precision, &call->alpha, false), left ? &x : &y, left ? &y : &x);
    free(x.v);
    free(y.v);
    return expected;
}

struct ofl_expected ofl_reference_syrk(const struct ofl_call *call, bool hermitian, const struct ofl_matrix *a,
                                       const struct ofl_matrix *c)
{
    char other = hermitian ? 'C' : 'T';
    struct full x = transposed(general(a), call->trans == 'N' ? 'N' : other);
    struct full y = transposed(general(a), call->trans == 'N' ? other : 'N');
    struct ofl_expected expected =
        scaled(c, ofl_scalar_value(call->precision, &call->beta, hermitian), region_of(call), hermitian);
    add_product(&expected, ofl_scalar_value(call->precision, &call->alpha, hermitian), &x, &y);
    free(x.v);
    free(y.v);
    return expected;
}

struct ofl_expected ofl_reference_syr2k(const struct ofl_call *call, bool hermitian, const struct ofl_matrix *a,
                                        const struct ofl_matrix *b, const struct ofl_matrix *c)
{
    char other = hermitian ? 'C' : 'T', first = call->trans == 'N' ? 'N' : other,
         second = call->trans == 'N' ? other : 'N';
    struct full a1 = transposed(general(a), first), b2 = transposed(general(b), second);
    struct full b1 = transposed(general(b), first), a2 = transposed(general(a), second);
    ofl_value alpha = ofl_scalar_value(call->precision, &call->alpha, false);
    struct ofl_expected expected =
        scaled(c, ofl_scalar_value(call->precision, &call->beta, hermitian), region_of(call), hermitian);
    add_product(&expected, alpha, &a1, &b2);
    add_product(&expected, hermitian ? conjl(alpha) : alpha, &b1, &a2);
    free(a1.v);
    free(b2.v);
    free(b1.v);
    free(a2.v);
    return expected;
}

struct ofl_expected ofl_reference_triangle(const struct ofl_call *call, ofl_value factor, const struct ofl_matrix *a,
                                           const struct ofl_matrix *b)
{
    struct full x = transposed(triangular(call, a), call->transa), y = general(b);
    struct ofl_expected expected = nothing(b->rows, b->columns);
    bool left = call->side == 'L';
    add_product(&expected, factor, left ? &x : &y, left ? &y : &x);
    free(x.v);
    free(y.v);
    return expected;
}
