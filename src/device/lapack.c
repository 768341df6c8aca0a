/* What only LAPACK's operations, and solves by triangles, need of the core.
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
#include <stdatomic.h>
#include <string.h>

/* What has to be seen on a diagonal. */
enum diagonal {
    ANY,
    DIVISOR, /* not infinite where complex: a finite number over it is zero by LAPACK, not a number by devices'
                libraries */
    NONZERO, /* not zero, and a finite number */
    REAL,    /* that, and real: LAPACK inverts a complex one as it is, devices' libraries its real part */
    POSITIVE /* real and positive, and a finite number */
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
    [OFL_OP_trsm] = {.before = DIVISOR},
    [OFL_OP_getrs] = {.before = DIVISOR},
    [OFL_OP_potrs] = {.before = DIVISOR},
    [OFL_OP_getri] = {.before = NONZERO},
    [OFL_OP_potri] = {.before = REAL},
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
        bool infinite = isinf(real) || isinf(imaginary), zero = real == 0 && imaginary == 0;
        bool number = !isnan(real) && !isnan(imaginary);
        if (infinite || (wanted != DIVISOR && (zero || !number)) || (wanted == POSITIVE && real < 0) ||
            (wanted == REAL && imaginary != 0)) {
            return false;
        }
    }
    return true;
}

static bool is_real(const struct ofl_call *call)
{
    return call->precision == OFL_S || call->precision == OFL_D;
}

enum ofl_reason ofl_lapack_check_input(const struct ofl_call *call)
{
    enum diagonal wanted = rules[call->operation].before;
    bool matters = wanted != ANY && call->diag != 'U' && !(wanted == DIVISOR && is_real(call));
    return !matters || diagonal_is(wanted, call, &call->operand[0]) ? OFL_OK : OFL_EXCEPTIONAL_VALUES;
}

static uint64_t bits_of(bool single, double value)
{
    float narrow = (float)value;
    uint32_t narrow_bits;
    uint64_t bits;
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    memcpy(&bits, &value, sizeof bits);
    return single ? narrow_bits : bits;
}

bool ofl_lapack_sight(const struct ofl_call *call, int operand, struct ofl_sight *sight)
{
    bool scaled = rules[call->operation].scaled && operand < 2;
    if (!scaled && !(rules[call->operation].finite && operand == 0)) {
        return false;
    }
    bool single = call->precision == OFL_S || call->precision == OFL_C;
    *sight = (struct ofl_sight){.single = single,
                                .parts = call->precision == OFL_C || call->precision == OFL_Z ? 2 : 1,
                                .rows = call->operand[operand].rows,
                                .highest = bits_of(single, single ? (double)FLT_MAX : DBL_MAX),
                                .may_be_zero = operand == 1};
    if (scaled) {
        /* LAPACK's xGELS leaves a matrix as it is when its largest element is within these limits.  The largest part of
         * a complex element may be smaller than its absolute value by the root of two. */
        double small = single ? (double)FLT_MIN / (double)FLT_EPSILON : DBL_MIN / DBL_EPSILON;
        sight->lowest = bits_of(single, 2 * small);
        sight->highest = bits_of(single, 0.5 / small);
        if (operand == 1) { /* where the solution is longer than the right-hand side, the rest need not be set */
            sight->rows = call->trans == 'N' ? call->m : call->n;
        }
    }
    return true;
}

/* What there is among `count` numbers, which may lie at any address.  Adding carries into the bit of the sign, or past
 * it, what is beyond a limit; without a branch, so that the loops run at the memory's speed. */
__attribute__((optimize("O3"))) static unsigned look_at_singles(const struct ofl_sight *sight, const char *values,
                                                                size_t count)
{
    uint32_t above = 0, enough = 0, any = 0;
    uint32_t to_above = (uint32_t)INT32_MAX - (uint32_t)sight->highest;
    uint32_t to_enough = (uint32_t)INT32_MAX + 1 - (uint32_t)sight->lowest;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i * sizeof bits, sizeof bits);
        bits &= INT32_MAX;
        above |= bits + to_above;
        enough |= bits + to_enough;
        any |= bits;
    }
    return (above >> 31 ? OFL_SEEN_ABOVE : 0) | (enough >> 31 ? OFL_SEEN_ENOUGH : 0) | (any ? OFL_SEEN_NONZERO : 0);
}

__attribute__((optimize("O3"))) static unsigned look_at_doubles(const struct ofl_sight *sight, const char *values,
                                                                size_t count)
{
    uint64_t above = 0, enough = 0, any = 0;
    uint64_t to_above = (uint64_t)INT64_MAX - sight->highest;
    uint64_t to_enough = (uint64_t)INT64_MAX + 1 - sight->lowest;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, values + i * sizeof bits, sizeof bits);
        bits &= INT64_MAX;
        above |= bits + to_above;
        enough |= bits + to_enough;
        any |= bits;
    }
    return (above >> 63 ? OFL_SEEN_ABOVE : 0) | (enough >> 63 ? OFL_SEEN_ENOUGH : 0) | (any ? OFL_SEEN_NONZERO : 0);
}

bool ofl_sight_take(struct ofl_sight *sight, const char *first, size_t pitch, int64_t row, int64_t rows,
                    int64_t columns)
{
    rows = rows < sight->rows - row ? rows : sight->rows - row;
    size_t count = rows > 0 ? (size_t)rows * sight->parts : 0;
    unsigned seen = 0;
    if (pitch == count * (sight->single ? sizeof(float) : sizeof(double))) {
        count *= (size_t)columns;
        columns = 1;
    }
    for (int64_t j = 0; j < columns; j++, first += pitch) {
        seen |= sight->single ? look_at_singles(sight, first, count) : look_at_doubles(sight, first, count);
    }
    atomic_fetch_or_explicit(&sight->seen, seen, memory_order_relaxed);
    return (seen & OFL_SEEN_ABOVE) == 0;
}

bool ofl_sight_is_good(const struct ofl_sight *sight)
{
    unsigned seen = atomic_load_explicit(&sight->seen, memory_order_relaxed);
    return (seen & OFL_SEEN_ABOVE) == 0 &&
           ((seen & OFL_SEEN_ENOUGH) != 0 || (sight->may_be_zero && (seen & OFL_SEEN_NONZERO) == 0));
}

enum ofl_reason ofl_lapack_check_factor(const struct ofl_call *call, const void *factor)
{
    enum diagonal wanted = rules[call->operation].after;
    struct ofl_buffer matrix = call->operand[0];
    matrix.address = (void *)factor;
    matrix.ld = matrix.rows;
    return wanted == ANY || diagonal_is(wanted, call, &matrix) ? OFL_OK : OFL_EXCEPTIONAL_VALUES;
}
