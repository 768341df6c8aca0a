/* The expected results of operations, by naive loops in long double. */
#ifndef OFL_TESTS_OPERATIONS_REFERENCE_H
#define OFL_TESTS_OPERATIONS_REFERENCE_H
#include "matrix.h"

/* What an element must be, and the sum of the absolute values that it was summed from: the measure of how
 * far rounding may move it. */
struct ofl_expected {
    int64_t rows, columns;
    ofl_value *value;
    long double *bound;
    int64_t terms; /* additions that an element takes */
};

void ofl_expected_free(struct ofl_expected *expected);

/* alpha op(A) op(B) + beta C.  The matrices hold the inputs. */
struct ofl_expected ofl_reference_gemm(const struct ofl_call *call, const struct ofl_matrix *a,
                                       const struct ofl_matrix *b, const struct ofl_matrix *c);
/* symm and hemm, syrk and herk, syr2k and her2k: `hermitian` says which. */
struct ofl_expected ofl_reference_symm(const struct ofl_call *call, bool hermitian, const struct ofl_matrix *a,
                                       const struct ofl_matrix *b, const struct ofl_matrix *c);
struct ofl_expected ofl_reference_syrk(const struct ofl_call *call, bool hermitian, const struct ofl_matrix *a,
                                       const struct ofl_matrix *c);
struct ofl_expected ofl_reference_syr2k(const struct ofl_call *call, bool hermitian, const struct ofl_matrix *a,
                                        const struct ofl_matrix *b, const struct ofl_matrix *c);
/* op(A) B or B op(A), times `factor`: with B a right-hand side, trmm's result; with B a solution and
 * factor 1, what trsm was given. */
struct ofl_expected ofl_reference_triangle(const struct ofl_call *call, ofl_value factor, const struct ofl_matrix *a,
                                           const struct ofl_matrix *b);

/* A call's scalar; `real` where it is real whatever the precision. */
ofl_value ofl_scalar_value(enum ofl_precision precision, const union ofl_scalar *scalar, bool real);
#endif
