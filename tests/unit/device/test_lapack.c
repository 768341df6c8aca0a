/* What LAPACK's operations need of the core: pivots, inputs that are not for devices, verified factors. */
#include "tests.h"
#include "device/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { n = 4 };

/* Column-major; complex ones have an imaginary part of half the real one, with the sign of the row. */
static void store(enum ofl_precision precision, void *to, const double *from)
{
    for (int at = 0; at < n * n; at++) {
        double imaginary = (at % n % 2 == 0 ? 0.5 : -0.5) * from[at];
        if (precision == OFL_D) {
            ((double *)to)[at] = from[at];
        } else {
            ((double *)to)[2 * at] = from[at];
            ((double *)to)[2 * at + 1] = at % n == at / n ? 0 : imaginary;
        }
    }
}

static struct ofl_call call_on(enum ofl_operation operation, enum ofl_precision precision, void *a)
{
    struct ofl_call call = {.operation = operation, .precision = precision, .uplo = 'L', .m = n, .n = n, .operands = 1};
    call.operand[0] = (struct ofl_buffer){a, n, n, n, precision == OFL_D ? 8 : 16, OFL_UPDATE, OFL_GENERAL};
    return call;
}

/* U has its first zero at (2, 2); the rows of L U are exchanged back: 0 with 1, 2 with 3. */
static const double lu[n * n] = {2, 0.5, -0.25, 0.5, 1, 3, 0.25, -0.5, 4, -1, 0, 0, 1, 2, 5, -3};
static const int64_t exchanges[n] = {2, 2, 4, 4};

static void multiply_lu(double *a)
{
    memset(a, 0, n * n * sizeof *a);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k <= i && k <= j; k++) {
                a[i + j * n] += (k == i ? 1 : lu[i + k * n]) * lu[k + j * n];
            }
        }
        for (int i = 0; i < n; i += 2) {
            double kept = a[i + j * n];
            a[i + j * n] = a[i + 1 + j * n];
            a[i + 1 + j * n] = kept;
        }
    }
}

void test_verify_lu(void **state)
{
    double a[n * n], factors[n * n];
    int64_t pivots[n];
    (void)state;
    multiply_lu(a);
    struct ofl_call call = call_on(OFL_OP_getrf, OFL_D, a);
    memcpy(factors, lu, sizeof factors);
    memcpy(pivots, exchanges, sizeof pivots);
    assert_true(ofl_lapack_verify(&call, 3, factors, pivots));
    assert_false(ofl_lapack_verify(&call, 2, factors, pivots));
    assert_false(ofl_lapack_verify(&call, 4, factors, pivots));
    assert_false(ofl_lapack_verify(&call, 0, factors, pivots));
    assert_false(ofl_lapack_verify(&call, n + 1, factors, pivots));
    for (int at = 0; at < n * n; at++) { /* each element counts, and none may be no number */
        factors[at] = lu[at] + 1e-9;
        assert_false(ofl_lapack_verify(&call, 3, factors, pivots));
        factors[at] = NAN;
        assert_false(ofl_lapack_verify(&call, 3, factors, pivots));
        factors[at] = lu[at];
    }
    pivots[0] = 1;
    assert_false(ofl_lapack_verify(&call, 3, factors, pivots));
    call.operation = OFL_OP_gesv; /* more than a factor is at stake */
    assert_false(ofl_lapack_verify(&call, 3, factors, exchanges));
}

/* A = L L' of the leading 3 by 3 block; the last diagonal element makes it indefinite. */
void test_verify_cholesky(void **state)
{
    static const double l[n * n] = {2, 1, -1, 5, 0, 3, 0.5, 6, 0, 0, 1, 7, 0, 0, 0, -8};
    (void)state;
    for (int precision = OFL_D; precision <= OFL_Z; precision += OFL_Z - OFL_D) {
        double factor[2 * n * n], a[2 * n * n];
        int parts = precision == OFL_D ? 1 : 2;
        store((enum ofl_precision)precision, factor, l);
        memset(a, 0, sizeof a);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                for (int k = 0; k <= j; k++) {
                    const double *x = &factor[parts * (i + k * n)], *y = &factor[parts * (j + k * n)];
                    double *to = &a[parts * (i + j * n)];
                    to[0] += x[0] * y[0] + (parts == 2 ? x[1] * y[1] : 0);
                    to[parts - 1] += parts == 2 ? x[1] * y[0] - x[0] * y[1] : 0;
                }
            }
        }
        struct ofl_call call = call_on(OFL_OP_potrf, (enum ofl_precision)precision, a);
        assert_true(ofl_lapack_verify(&call, n, factor, NULL));
        assert_true(ofl_lapack_verify(&call, n - 1, factor, NULL));
        for (int i = 0; i < n - 1; i++) {
            for (int j = 0; j <= i; j++) {
                double *at = &factor[parts * (i + j * n)], kept = *at;
                *at += 1e-9;
                assert_false(ofl_lapack_verify(&call, n, factor, NULL));
                *at = NAN;
                assert_false(ofl_lapack_verify(&call, n, factor, NULL));
                *at = kept;
            }
        }
        factor[parts * (n * n - 1)] = NAN; /* LAPACK does not say what is left there */
        assert_true(ofl_lapack_verify(&call, n, factor, NULL));
    }
}

void test_pivots(void **state)
{
    int32_t narrow[n] = {2, 2, 4, 4}, stored[n + 1] = {0, 0, 0, 0, 77};
    int64_t wide[n] = {2, 2, 4, 4}, out[n], stored_wide[n];
    struct ofl_buffer pivots = {narrow, n, 1, n, 4, OFL_READ, OFL_PIVOTS};
    (void)state;
    assert_true(ofl_pivots_widen(&pivots, n, out));
    assert_memory_equal(out, wide, sizeof wide);
    assert_false(ofl_pivots_widen(&pivots, n - 1, out));
    narrow[2] = 0;
    assert_false(ofl_pivots_widen(&pivots, n, out));
    narrow[2] = -1;
    assert_false(ofl_pivots_widen(&pivots, n, out));
    pivots.address = wide;
    pivots.element_size = 8;
    assert_true(ofl_pivots_widen(&pivots, n, out));
    wide[0] = INT64_C(1) << 32 | 1; /* not to be read as 1 */
    assert_false(ofl_pivots_widen(&pivots, n, out));
    pivots.address = stored;
    pivots.element_size = 4;
    ofl_pivots_commit(&pivots, exchanges);
    assert_true(stored[0] == 2 && stored[3] == 4 && stored[n] == 77);
    pivots.address = stored_wide;
    pivots.element_size = 8;
    ofl_pivots_commit(&pivots, exchanges);
    assert_memory_equal(stored_wide, exchanges, sizeof exchanges);
}

static enum ofl_reason least_squares(double a, double b)
{
    double matrix[n * n], right[n];
    for (int i = 0; i < n * n; i++) {
        matrix[i] = a;
        right[i % n] = b;
    }
    struct ofl_call call = call_on(OFL_OP_gels, OFL_D, matrix);
    call.operands = 2;
    call.operand[1] = (struct ofl_buffer){right, n, 1, n, 8, OFL_UPDATE, OFL_GENERAL};
    bool good = true;
    for (int i = 0; i < 2; i++) {
        struct ofl_sight sight;
        const struct ofl_buffer *operand = &call.operand[i];
        assert_true(ofl_lapack_sight(&call, i, &sight));
        ofl_sight_take(&sight, operand->address, n * sizeof(double), 0, n, operand->columns);
        good = good && ofl_sight_is_good(&sight);
    }
    return good ? OFL_OK : OFL_EXCEPTIONAL_VALUES;
}

/* One number among good ones, in each precision. */
static bool sees(enum ofl_operation operation, enum ofl_precision precision, int operand, double value, int at)
{
    double doubles[2 * n * n];
    float singles[2 * n * n];
    bool single = precision == OFL_S || precision == OFL_C, wide = precision == OFL_C || precision == OFL_Z;
    size_t size = (single ? sizeof(float) : sizeof(double)) * (wide ? 2 : 1);
    struct ofl_call call = {
        .operation = operation, .precision = precision, .trans = 'N', .m = n, .n = n, .operands = 2};
    struct ofl_sight sight;
    for (int i = 0; i < 2 * n * n; i++) {
        doubles[i] = i == at ? value : -1;
        singles[i] = (float)doubles[i];
    }
    call.operand[0] = call.operand[1] =
        (struct ofl_buffer){single ? (void *)singles : doubles, n, n, n, (uint32_t)size, OFL_UPDATE, OFL_GENERAL};
    assert_true(ofl_lapack_sight(&call, operand, &sight));
    const char *first = call.operand[0].address;
    /* a rectangle without the last row, and the last row */
    bool good = ofl_sight_take(&sight, first, n * size, 0, n - 1, n);
    good = ofl_sight_take(&sight, first + (n - 1) * size, n * size, n - 1, 1, n) && good;
    assert_int_equal(good, ofl_sight_is_good(&sight));
    return good;
}

void test_sights(void **state)
{
    (void)state;
    for (int p = OFL_S; p <= OFL_Z; p++) {
        enum ofl_precision precision = (enum ofl_precision)p;
        bool single = precision == OFL_S || precision == OFL_C;
        double largest = single ? (double)FLT_MAX : DBL_MAX;
        int numbers = n * n * (precision == OFL_C || precision == OFL_Z ? 2 : 1);
        for (int at = 0; at < numbers; at++) {
            assert_true(sees(OFL_OP_getrf, precision, 0, largest, at));
            assert_false(sees(OFL_OP_getrf, precision, 0, NAN, at));
            assert_false(sees(OFL_OP_getrf, precision, 0, -NAN, at));
            assert_false(sees(OFL_OP_gesv, precision, 0, INFINITY, at));
            assert_false(sees(OFL_OP_gesv, precision, 0, -INFINITY, at));
            assert_true(sees(OFL_OP_gels, precision, 0, 0, at));
            assert_false(sees(OFL_OP_gels, precision, 1, largest / 4, at));
        }
    }
    struct ofl_call call = {.operation = OFL_OP_potrf, .precision = OFL_D, .operands = 1};
    struct ofl_sight sight;
    assert_false(ofl_lapack_sight(&call, 0, &sight)); /* a NaN ends up on the factor's diagonal */
    call.operation = OFL_OP_getrf;
    assert_false(ofl_lapack_sight(&call, 1, &sight)); /* pivots */
}

/* The shortest solution is longer than the right-hand side: what lies below that is not looked at. */
void test_sight_of_right_side(void **state)
{
    double right[2 * n] = {1, 2, 3, 4, NAN, NAN, NAN, NAN};
    struct ofl_call call = {
        .operation = OFL_OP_gels, .precision = OFL_D, .trans = 'T', .m = 2 * n, .n = n, .nrhs = 1, .operands = 2};
    struct ofl_sight sight;
    (void)state;
    call.operand[1] = (struct ofl_buffer){right, 2 * n, 1, 2 * n, 8, OFL_UPDATE, OFL_GENERAL};
    assert_true(ofl_lapack_sight(&call, 1, &sight));
    assert_true(ofl_sight_take(&sight, (char *)right, sizeof right, 0, 2 * n, 1));
    assert_true(ofl_sight_take(&sight, (char *)(right + n), sizeof right, n, n, 1));
    assert_true(ofl_sight_is_good(&sight));
    call.trans = 'N';
    assert_true(ofl_lapack_sight(&call, 1, &sight));
    assert_false(ofl_sight_take(&sight, (char *)right, sizeof right, 0, 2 * n, 1));
}

void test_inputs(void **state)
{
    double triangle[n * n] = {1, 0, 0, 0, 2, 1, 0, 0, 2, 2, 0, 0, 2, 2, 2, 1};
    struct ofl_call call = call_on(OFL_OP_trtri, OFL_D, triangle);
    (void)state;
    call.diag = 'N';
    assert_int_equal(ofl_lapack_check_input(&call), OFL_EXCEPTIONAL_VALUES);
    call.diag = 'U'; /* the diagonal is not looked at */
    assert_int_equal(ofl_lapack_check_input(&call), OFL_OK);
    call.diag = 'N';
    triangle[10] = NAN;
    assert_int_equal(ofl_lapack_check_input(&call), OFL_EXCEPTIONAL_VALUES);
    triangle[10] = -1;
    assert_int_equal(ofl_lapack_check_input(&call), OFL_OK);

    assert_int_equal(least_squares(1, 1), OFL_OK);
    assert_int_equal(least_squares(1, 0), OFL_OK); /* right-hand sides of zeros are not scaled */
    assert_int_equal(least_squares(0, 1), OFL_EXCEPTIONAL_VALUES);
    assert_int_equal(least_squares(1e-300, 1), OFL_EXCEPTIONAL_VALUES);
    assert_int_equal(least_squares(1, 1e300), OFL_EXCEPTIONAL_VALUES);
    assert_int_equal(least_squares(NAN, 1), OFL_EXCEPTIONAL_VALUES);
    assert_int_equal(least_squares(1, NAN), OFL_EXCEPTIONAL_VALUES);
    assert_int_equal(least_squares(INFINITY, 1), OFL_EXCEPTIONAL_VALUES);
}
