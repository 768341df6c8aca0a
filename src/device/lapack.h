/* What only LAPACK's operations need of the core: pivots, and values that devices treat in their own way. */
#ifndef OFL_DEVICE_LAPACK_H
#define OFL_DEVICE_LAPACK_H
#include "device/device.h"

#include <string.h>

/* Pivots on the device and in staging areas are int64_t.  In: false where one is no row of the matrix (1..rows). */
bool ofl_pivots_widen(const struct ofl_buffer *pivots, int64_t rows, int64_t *to);
/* Out: to the program's memory, in its width.  Cannot fail. */
void ofl_pivots_commit(const struct ofl_buffer *pivots, const int64_t *from);
/* Whether all are rows of the matrix. */
bool ofl_pivots_valid(const struct ofl_buffer *pivots, int64_t rows, const int64_t *values);

/* The parts of the element at `at`, at any address. */
static inline void ofl_element_read(enum ofl_precision precision, const char *at, double *real, double *imaginary)
{
    float c[2] = {0, 0};
    double z[2] = {0, 0};
    switch (precision) {
    case OFL_S:
    case OFL_C:
        memcpy(c, at, precision == OFL_S ? sizeof c[0] : sizeof c);
        *real = (double)c[0];
        *imaginary = (double)c[1];
        break;
    case OFL_D:
    case OFL_Z:
        memcpy(z, at, precision == OFL_D ? sizeof z[0] : sizeof z);
        *real = z[0];
        *imaginary = z[1];
        break;
    case OFL_PRECISION_COUNT:
        break;
    }
}

/* OFL_EXCEPTIONAL_VALUES where LAPACK reports a zero or a NaN on the diagonal of a triangle that is to be inverted, or
 * where a complex triangle that is to be solved with has an infinity there.  Reads host memory. */
enum ofl_reason ofl_lapack_check_input(const struct ofl_call *call);

/* What is seen of an operand's numbers while they are copied to the device: LAPACK carries a NaN through, and scales a
 * least-squares problem, where a device's routine need not.  The largest of the absolute values of all real and
 * imaginary parts must be between two limits.  Numbers are compared by their bits without the sign, in the operand's
 * precision: they order as absolute values do, and every NaN is above infinity. */
struct ofl_sight {
    bool single;
    size_t parts; /* numbers of an element */
    int64_t rows; /* the rows from there on do not count */
    uint64_t lowest, highest;
    bool may_be_zero;      /* all of them, whatever the lowest is */
    _Atomic unsigned seen; /* OFL_SEEN_... */
};
enum { OFL_SEEN_ABOVE = 1, OFL_SEEN_ENOUGH = 2, OFL_SEEN_NONZERO = 4 };

/* Whether the operand has to be looked at; then *sight is made ready. */
bool ofl_lapack_sight(const struct ofl_call *call, int operand, struct ofl_sight *sight);
/* Looks at a rectangle of elements, `row` the first one's row, `pitch` bytes from one column to the next.  False where
 * one is too large.  Any thread. */
bool ofl_sight_take(struct ofl_sight *sight, const char *first, size_t pitch, int64_t row, int64_t rows,
                    int64_t columns);
/* Whether what was seen is in the limits. */
bool ofl_sight_is_good(const struct ofl_sight *sight);

/* The same for results: `factor` is the compact copy in host memory of the first operand, which the call has
 * factored.  A factor that is singular, not definite or not finite is the CPU library's business. */
enum ofl_reason ofl_lapack_check_factor(const struct ofl_call *call, const void *factor);

/* verify.c: whether `factor`, a compact copy, and pivots are what LAPACK makes of the call's matrix, which is still in
 * place, when it returns this positive info.  Calls of getrf and potrf only; others are not. */
bool ofl_lapack_verify(const struct ofl_call *call, int32_t info, const void *factor, const int64_t *pivots);
#endif
