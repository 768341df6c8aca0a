/* Whether what a device made of a singular or indefinite matrix is what LAPACK makes of it.
 *
 * LAPACK completes an LU factorization whose U is singular, and names the first zero of its
 * diagonal; a Cholesky factorization stops and names the order of the leading minor
 * that is not positive, with the factor of the minor before it in place.  Devices'
 * libraries say less.  The matrix is still in the program's memory, so the factors are
 * multiplied with a vector of random numbers and compared with the matrix times that vector:
 * n * n operations, on the CPU, only for such matrices. */
#include "device/lapack.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef double _Complex value;

/* A matrix in host memory. */
struct matrix {
    enum ofl_precision precision;
    const char *address;
    int64_t rows, columns, ld;
    size_t size; /* bytes of an element */
};

enum { threshold = 30 }; /* as in LAPACK's testers: times order, precision and norm */

static value get(const struct matrix *a, int64_t i, int64_t j)
{
    double real = 0, imaginary = 0;
    ofl_element_read(a->precision, a->address + ((size_t)j * (size_t)a->ld + (size_t)i) * a->size, &real, &imaginary);
    return CMPLX(real, imaginary);
}

static double size_of(value x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

static double epsilon(enum ofl_precision precision)
{
    return precision == OFL_S || precision == OFL_C ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* Numbers between 1 and 2, so that a column of zeros in the wrong place does not hide. */
static void fill(value *x, int64_t count)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = 1 + (double)(state >> 11) * 0x1p-53;
    }
}

static void exchange(value *x, const int64_t *pivots, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        value kept = x[i];
        x[i] = x[pivots[i] - 1];
        x[pivots[i] - 1] = kept;
    }
}

/* Whether x and y are the same but for rounding; `norm` is of what they were summed from.  False for NaN. */
static bool same(const struct matrix *a, const value *x, const value *y, int64_t count, int64_t order, double norm)
{
    bool close = isfinite(norm);
    for (int64_t i = 0; i < count && close; i++) {
        close = size_of(x[i] - y[i]) <= threshold * (double)order * epsilon(a->precision) * norm;
    }
    return close;
}

/* U's first zero is where it is said to be. */
static bool first_zero_is(const struct matrix *factors, int64_t place)
{
    for (int64_t i = 0; i < place - 1; i++) {
        if (!(size_of(get(factors, i, i)) > 0)) {
            return false;
        }
    }
    return size_of(get(factors, place - 1, place - 1)) == 0;
}

/* P A x = L U x.  work: 2 rows + 2 columns values. */
static bool lu_fits(const struct matrix *a, const struct matrix *factors, const int64_t *pivots, value *work)
{
    int64_t m = a->rows, n = a->columns, steps = m < n ? m : n;
    value *x = work, *upper = x + n, *left = upper + n, *right = left + m;
    double norm = 0;
    fill(x, n);
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++) {
            right[i] += get(a, i, j) * x[j];
            sum += size_of(get(a, i, j));
            if (i <= j && i < steps) {
                upper[i] += get(factors, i, j) * x[j];
            }
        }
        norm += 2 * sum;
    }
    for (int64_t j = 0; j < steps; j++) {
        left[j] += upper[j];
        for (int64_t i = j + 1; i < m; i++) {
            left[i] += get(factors, i, j) * upper[j];
        }
    }
    exchange(right, pivots, steps);
    return same(a, left, right, m, m > n ? m : n, norm);
}

/* The element of the lower factor, whichever is stored. */
static value lower(const struct matrix *factor, bool upper, int64_t i, int64_t j)
{
    return upper ? conj(get(factor, j, i)) : get(factor, i, j);
}

/* A x = L L' x, of the leading block of this order.  work: 3 * order values. */
static bool cholesky_fits(const struct matrix *a, const struct matrix *factor, bool upper, int64_t order, value *work)
{
    value *x = work, *middle = x + order, *difference = middle + order;
    double norm = 0;
    fill(x, order);
    for (int64_t j = 0; j < order; j++) {
        value diagonal = lower(factor, upper, j, j);
        if (!(creal(diagonal) > 0) || cimag(diagonal) != 0) {
            return false;
        }
        for (int64_t i = j; i < order; i++) {
            value element = i == j ? creal(get(a, j, j)) : lower(a, upper, i, j);
            difference[i] -= element * x[j];
            if (i != j) {
                difference[j] -= conj(element) * x[i];
            }
            norm += 4 * size_of(element);
            middle[j] += conj(lower(factor, upper, i, j)) * x[i];
        }
    }
    for (int64_t j = 0; j < order; j++) {
        for (int64_t i = j; i < order; i++) {
            difference[i] += lower(factor, upper, i, j) * middle[j];
        }
    }
    value zero[1] = {0};
    bool good = true;
    for (int64_t i = 0; i < order && good; i++) {
        good = same(a, &difference[i], zero, 1, order, norm);
    }
    return good;
}

/* Whether the row of the leading minor that is not positive, up to its diagonal, is a row of numbers: libraries do not
 * agree about others. */
static bool row_is_finite(const struct matrix *a, bool upper, int64_t row)
{
    bool finite = true;
    for (int64_t j = 0; j <= row && finite; j++) {
        finite = isfinite(size_of(lower(a, upper, row, j)));
    }
    return finite;
}

bool ofl_lapack_verify(const struct ofl_call *call, int32_t info, const void *factor, const int64_t *pivots)
{
    const struct ofl_buffer *operand = &call->operand[0];
    struct matrix a = {call->precision,  operand->address, operand->rows,
                       operand->columns, operand->ld,      operand->element_size};
    struct matrix factors = a;
    factors.address = factor;
    factors.ld = a.rows;
    int64_t steps = a.rows < a.columns ? a.rows : a.columns;
    value *work = info >= 1 && info <= steps ? calloc((size_t)(2 * (a.rows + a.columns)), sizeof *work) : NULL;
    bool good = false;
    if (work != NULL && call->operation == OFL_OP_getrf) {
        good = first_zero_is(&factors, info) && lu_fits(&a, &factors, pivots, work);
    } else if (work != NULL && call->operation == OFL_OP_potrf) {
        bool upper = call->uplo == 'U';
        good = row_is_finite(&a, upper, info - 1) && cholesky_fits(&a, &factors, upper, info - 1, work);
    }
    free(work);
    return good;
}
