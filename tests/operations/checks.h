/* The checks of operations, one for each row of operations.def that may run on a device. */
#ifndef OFL_TESTS_OPERATIONS_CHECKS_H
#define OFL_TESTS_OPERATIONS_CHECKS_H
#include "matrix.h"

/* Whether the operands `after` are what the operation makes of those `before`. */
#define OFL_OPERATION(name, ...)                                                                                       \
    bool ofl_check_##name(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after);
#include <gpu-offload/operations.def>
#undef OFL_OPERATION

/* Fills the operands of an operation of LAPACK with what it may be given, NaN where it does not look. */
void ofl_fill_lapack(const struct ofl_call *call, struct ofl_matrix *matrices);

/* Makes operands of this order, filled, for one of getrf, gesv, getri, potrf, posv, potri, trtri, geqrf, gels; the
 * call has its operation and precision. */
void ofl_make_square_call(struct ofl_call *call, int64_t order, struct ofl_matrix *matrices);

/* Runs singular, indefinite, badly scaled and infinite matrices; the number of cases that failed. */
long ofl_run_exceptional(long *cases);

long double ofl_epsilon(enum ofl_precision precision);
/* From -1 to 1. */
ofl_value ofl_random_element(enum ofl_precision precision);
#endif
