/* What only LAPACK's operations need of the core.
 *
 * Pivots have the caller's integer width in the program's memory and 64 bits on the
 * device.  And LAPACK says exactly what happens to a matrix that is singular, not
 * definite or badly scaled, while devices' routines say something similar.  Such
 * calls are rare, so they are recognised here, from the values themselves, and left to
 * the CPU library: before the call where the input shows it, or after it, when
 * nothing has been committed yet. */
#include "device/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What has to be seen on a diagonal. */
enum diagonal {
    ANY,
    NONZERO, /* not zero, and a number */
    POSITIVE /* real and positive, and a number */
};

static const struct {
    enum diagonal before; /* of the first operand, as it comes */
    enum diagonal after;  /* of the factor that the operation makes of it */
    bool finite;          /* of the first operand: devices' routines may lose a NaN (cuSOLVER 12's LU does) */
    bool scaled;          /* LAPACK scales it where its elements are extremely small or large */
} rules[OFL_OPERATION_COUNT] = {
    [OFL_OP_getrf] = {.after = NONZERO, .finite = true},
    [OFL_OP_gesv] = {.after = NONZERO, .finite = true},
    [OFL_OP_potrf] = {.after = POSITIVE},
    [OFL_OP_posv] = {.after = POSITIVE},
    [OFL_OP_getri] = {.before = NONZERO},
    [OFL_OP_potri] = {.before = NONZERO},
    [OFL_OP_trtri] = {.before = NONZERO},
    [OFL_OP_gels] = {.after = NONZERO, .scaled = true},
};

static int64_t pivot(const struct ofl_buffer *pivots, int64_t index)
{
    int64_t wide;
    int32_t narrow;
    const char *at = (const char *)pivots->address + (size_t)index * pivots->element_size;
    if (pivots->element_size == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

bool ofl_pivots_valid(const struct ofl_buffer *pivots, int64_t rows, const int64_t *values)
{
    for (int64_t i = 0; i < pivots->rows; i++) {
        if (values[i] < 1 || values[i] > rows) {
            return false;
        }
    }
    return true;
}

bool ofl_pivots_widen(const struct ofl_buffer *pivots, int64_t rows, int64_t *to)
{
    for (int64_t i = 0; i < pivots->rows; i++) {
        to[i] = pivot(pivots, i);
    }
    return ofl_pivots_valid(pivots, rows, to);
}

void ofl_pivots_commit(const struct ofl_buffer *pivots, const int64_t *from)
{
    for (int64_t i = 0; i < pivots->rows; i++) {
        char *at = (char *)pivots->address + (size_t)i * pivots->element_size;
        int32_t narrow = (int32_t)from[i];
        if (pivots->element_size == sizeof *from) {
            memcpy(at, &from[i], sizeof *from);
        } else {
            memcpy(at, &narrow, sizeof narrow);
        }
    }
}

static bool diagonal_is(enum diagonal wanted, const struct ofl_call *call, const struct ofl_buffer *matrix)
{
    int64_t count = matrix->rows < matrix->columns ? matrix->rows : matrix->columns;
    size_t step = ((size_t)matrix->ld + 1) * matrix->element_size;
    for (int64_t i = 0; i < count; i++) {
        double real = 0, imaginary = 0;
        ofl_element_read(call->precision, (const char *)matrix->address + (size_t)i * step, &real, &imaginary);
        if (isnan(real) || isnan(imaginary) || (real == 0 && imaginary == 0) || (wanted == POSITIVE && real < 0)) {
            return false;
        }
    }
    return true;
}

/* The largest absolute value of `count` numbers, which may lie at any address; NaN where there is one. */
static double largest_single(const char *values, int64_t count)
{
    float largest = 0;
    for (int64_t i = 0; i < count && !isnan(largest); i++) {
        float value;
        memcpy(&value, values + (size_t)i * sizeof value, sizeof value);
        value = fabsf(value);
        largest = value <= largest ? largest : value; /* takes a NaN */
    }
    return (double)largest;
}

static double largest_double(const char *values, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count && !isnan(largest); i++) {
        double value;
        memcpy(&value, values + (size_t)i * sizeof value, sizeof value);
        value = fabs(value);
        largest = value <= largest ? largest : value;
    }
    return largest;
}

/* The largest absolute value of a real or imaginary part; NaN where there is one. */
static double largest_part(const struct ofl_call *call, const struct ofl_buffer *matrix)
{
    bool single = call->precision == OFL_S || call->precision == OFL_C;
    int64_t parts = matrix->rows * (call->precision == OFL_C || call->precision == OFL_Z ? 2 : 1);
    double largest = 0;
    for (int64_t j = 0; j < matrix->columns && !isnan(largest); j++) {
        const char *column = (const char *)matrix->address + (size_t)j * (size_t)matrix->ld * matrix->element_size;
        double value = single ? largest_single(column, parts) : largest_double(column, parts);
        largest = value <= largest ? largest : value;
    }
    return largest;
}

/* LAPACK's xGELS leaves a matrix as it is when its largest element is within these limits.  The largest part of
 * a complex element may be smaller than its absolute value by the root of two. */
static bool is_unscaled(const struct ofl_call *call, const struct ofl_buffer *matrix, bool may_be_zero)
{
    bool single = call->precision == OFL_S || call->precision == OFL_C;
    double small = single ? (double)FLT_MIN / (double)FLT_EPSILON : DBL_MIN / DBL_EPSILON;
    double largest = largest_part(call, matrix);
    return (may_be_zero && largest == 0) || (largest >= 2 * small && largest <= 0.5 / small);
}

/* Whether all of `count` numbers are finite: the exponent says it.  Without a branch in the loops, so that they run at
 * the memory's speed. */
__attribute__((optimize("O3"))) static bool singles_are_finite(const char *values, int64_t count)
{
    uint32_t infinite = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + (size_t)i * sizeof bits, sizeof bits);
        infinite |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return infinite == 0;
}

__attribute__((optimize("O3"))) static bool doubles_are_finite(const char *values, int64_t count)
{
    uint64_t infinite = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, values + (size_t)i * sizeof bits, sizeof bits);
        infinite |= (bits & 0x7ff0000000000000u) == 0x7ff0000000000000u;
    }
    return infinite == 0;
}

static bool is_finite(const struct ofl_call *call, const struct ofl_buffer *matrix)
{
    bool single = call->precision == OFL_S || call->precision == OFL_C;
    int64_t parts = matrix->rows * (call->precision == OFL_C || call->precision == OFL_Z ? 2 : 1);
    bool finite = true;
    for (int64_t j = 0; j < matrix->columns && finite; j++) {
        const char *column = (const char *)matrix->address + (size_t)j * (size_t)matrix->ld * matrix->element_size;
        finite = single ? singles_are_finite(column, parts) : doubles_are_finite(column, parts);
    }
    return finite;
}

enum ofl_reason ofl_lapack_check_input(const struct ofl_call *call)
{
    bool good = true;
    if (rules[call->operation].before != ANY && call->diag != 'U') {
        good = diagonal_is(rules[call->operation].before, call, &call->operand[0]);
    }
    if (rules[call->operation].finite) {
        good = good && is_finite(call, &call->operand[0]);
    }
    if (rules[call->operation].scaled) {
        good = good && is_unscaled(call, &call->operand[0], false) && is_unscaled(call, &call->operand[1], true);
    }
    return good ? OFL_OK : OFL_EXCEPTIONAL_VALUES;
}

enum ofl_reason ofl_lapack_check_factor(const struct ofl_call *call, const void *factor)
{
    enum diagonal wanted = rules[call->operation].after;
    struct ofl_buffer matrix = call->operand[0];
    matrix.address = (void *)factor;
    matrix.ld = matrix.rows;
    return wanted == ANY || diagonal_is(wanted, call, &matrix) ? OFL_OK : OFL_EXCEPTIONAL_VALUES;
}
