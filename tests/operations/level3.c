/* Checks of the level-3 products: element by element against naive loops in long double. */
#include "checks.h"
#include "reference.h"

#include <float.h>

long double ofl_epsilon(enum ofl_precision precision)
{
    return precision == OFL_S || precision == OFL_C ? FLT_EPSILON : DBL_EPSILON;
}

/* Compares the elements of the call's region; frees what was expected. */
static bool compare(const struct ofl_call *call, struct ofl_expected expected, const struct ofl_matrix *actual,
                    bool triangle)
{
    enum ofl_region region = !triangle ? OFL_GENERAL : call->uplo == 'U' ? OFL_UPPER : OFL_LOWER;
    long double tolerance = 2 * (long double)expected.terms * ofl_epsilon(call->precision);
    bool same = true;
    for (int64_t j = 0; j < expected.columns; j++) {
        for (int64_t i = 0; i < expected.rows; i++) {
            int64_t at = j * expected.rows + i;
            if (ofl_in_region(region, i, j)) {
                long double distance = cabsl(ofl_matrix_get(actual, i, j) - expected.value[at]);
                same = same && distance <= tolerance * expected.bound[at]; /* false for a NaN */
            }
        }
    }
    ofl_expected_free(&expected);
    return same;
}

static bool diagonal_is_real(const struct ofl_matrix *matrix)
{
    bool real = true;
    for (int64_t j = 0; j < matrix->columns; j++) {
        real = real && cimagl(ofl_matrix_get(matrix, j, j)) == 0;
    }
    return real;
}

bool ofl_check_gemm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_gemm(call, &before[0], &before[1], &before[2]), &after[2], false);
}

bool ofl_check_gemmt(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_gemm(call, &before[0], &before[1], &before[2]), &after[2], true);
}

bool ofl_check_symm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_symm(call, false, &before[0], &before[1], &before[2]), &after[2], false);
}

bool ofl_check_hemm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_symm(call, true, &before[0], &before[1], &before[2]), &after[2], false);
}

bool ofl_check_syrk(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syrk(call, false, &before[0], &before[1]), &after[1], true);
}

bool ofl_check_herk(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syrk(call, true, &before[0], &before[1]), &after[1], true) &&
           diagonal_is_real(&after[1]);
}

bool ofl_check_syr2k(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syr2k(call, false, &before[0], &before[1], &before[2]), &after[2], true);
}

bool ofl_check_her2k(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syr2k(call, true, &before[0], &before[1], &before[2]), &after[2], true) &&
           diagonal_is_real(&after[2]);
}

bool ofl_check_trmm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    ofl_value alpha = ofl_scalar_value(call->precision, &call->alpha, false);
    return compare(call, ofl_reference_triangle(call, alpha, &before[0], &before[1]), &after[1], false);
}

/* The triangle times the solution is alpha times the right-hand side. */
bool ofl_check_trsm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    ofl_value alpha = ofl_scalar_value(call->precision, &call->alpha, false);
    struct ofl_matrix right = ofl_matrix_new(call->precision, before[1].rows, before[1].columns, before[1].rows);
    for (int64_t j = 0; j < right.columns; j++) {
        for (int64_t i = 0; i < right.rows; i++) {
            ofl_matrix_set(&right, i, j, alpha * ofl_matrix_get(&before[1], i, j));
        }
    }
    bool same = compare(call, ofl_reference_triangle(call, 1, &before[0], &after[1]), &right, false);
    ofl_matrix_free(&right);
    return same;
}

static uint64_t random_state = 20;

static long double random_value(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (long double)(random_state >> 33) / (long double)(UINT64_C(1) << 30) - 1;
}

ofl_value ofl_random_element(enum ofl_precision precision)
{
    long double real = random_value();
    return ofl_is_complex(precision) ? CMPLXL(real, random_value()) : (ofl_value)real;
}
