/* Matrices that LAPACK treats in a way of its own: singular, indefinite, badly scaled, not finite.
 *
 * The device either does as LAPACK does, with LAPACK's info, or leaves the call to the CPU library with everything
 * as it was; it must never say that all is well. */
#include "checks.h"
#include "device/device.h"
#include "base/reason.h"
#include "model/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { order = 40, place = 17 }; /* the element that is out of the ordinary */

enum verdict {
    EXACTLY, /* info is place + 1 */
    ALWAYS,  /* the call belongs to the CPU library */
    COMPLEX, /* the same, where it is a complex one; a real one is not tried */
    NOT_WELL /* something infinite or no number in the result, a positive info, or the CPU library */
};

static const struct exception {
    enum ofl_operation operation;
    const char *what;
    long double value; /* of the element, or of the column, or times the whole matrix */
    enum { ELEMENT, COLUMN, FACTOR } where;
    enum verdict verdict;
} exceptions[] = {
    {OFL_OP_getrf, "a zero column", 0, COLUMN, EXACTLY},
    {OFL_OP_gesv, "a zero column", 0, COLUMN, EXACTLY},
    {OFL_OP_getri, "a zero pivot", 0, ELEMENT, ALWAYS},
    {OFL_OP_potrf, "a negative diagonal element", -1000, ELEMENT, EXACTLY},
    {OFL_OP_posv, "a negative diagonal element", -1000, ELEMENT, EXACTLY},
    {OFL_OP_potri, "a zero on the diagonal", 0, ELEMENT, ALWAYS},
    {OFL_OP_trtri, "a zero on the diagonal", 0, ELEMENT, ALWAYS},
    {OFL_OP_gels, "tiny elements", 1e-307L, FACTOR, ALWAYS},
    {OFL_OP_gels, "huge elements", 1e300L, FACTOR, ALWAYS},
    {OFL_OP_gels, "zeros only", 0, FACTOR, ALWAYS},
    {OFL_OP_gels, "a zero column", 0, COLUMN, EXACTLY},
    {OFL_OP_gels, "a NaN", NAN, ELEMENT, ALWAYS},
    {OFL_OP_getrf, "a NaN", NAN, ELEMENT, NOT_WELL},
    {OFL_OP_getrf, "an infinity", INFINITY, ELEMENT, NOT_WELL},
    {OFL_OP_gesv, "a NaN", NAN, ELEMENT, NOT_WELL},
    {OFL_OP_potrf, "a NaN", NAN, ELEMENT, NOT_WELL},
    {OFL_OP_potrf, "an infinity", INFINITY, ELEMENT, NOT_WELL},
    {OFL_OP_trsm, "an infinity on the diagonal", INFINITY, ELEMENT, COMPLEX},
    {OFL_OP_getrs, "an infinity on the diagonal", INFINITY, ELEMENT, COMPLEX},
    {OFL_OP_potrs, "an infinity on the diagonal", INFINITY, ELEMENT, COMPLEX},
    {OFL_OP_getri, "an infinity on the diagonal", INFINITY, ELEMENT, ALWAYS},
    {OFL_OP_potri, "an infinity on the diagonal", INFINITY, ELEMENT, ALWAYS},
    {OFL_OP_trtri, "an infinity on the diagonal", INFINITY, ELEMENT, ALWAYS},
    {OFL_OP_geqrf, "a NaN", NAN, ELEMENT, NOT_WELL},
    {OFL_OP_geqrf, "an infinity", INFINITY, ELEMENT, NOT_WELL},
};

static void spoil(const struct exception *exception, struct ofl_matrix *a)
{
    for (int64_t j = 0; j < order; j++) {
        for (int64_t i = 0; i < order; i++) {
            bool chosen = exception->where == ELEMENT ? i == place && j == place : j == place;
            if (exception->where == FACTOR) {
                ofl_matrix_set(a, i, j, ofl_matrix_get(a, i, j) * exception->value);
            } else if (chosen) {
                ofl_matrix_set(a, i, j, exception->value);
            }
        }
    }
}

static bool is_finite(const struct ofl_matrix *a)
{
    for (int64_t j = 0; j < a->columns; j++) {
        for (int64_t i = 0; i <= j; i++) { /* the upper triangle, which all of them write */
            ofl_value value = ofl_matrix_get(a, i, j);
            if (!isfinite(creall(value)) || !isfinite(cimagl(value))) {
                return false;
            }
        }
    }
    return true;
}

static const char *judge(const struct exception *exception, enum ofl_reason reason, int32_t info,
                         const struct ofl_matrix *a, bool changed)
{
    bool too_little = reason == OFL_DEVICE_MEMORY && getenv("GPU_OFFLOAD_DEVICE_MEMORY") != NULL;
    if (reason != OFL_OK) {
        return reason != OFL_EXCEPTIONAL_VALUES && !too_little ? ofl_reason_name(reason)
               : changed                                       ? "memory changed although the call failed"
                                                               : NULL;
    }
    switch (exception->verdict) {
    case EXACTLY:
        return info == place + 1 ? NULL : "wrong info";
    case NOT_WELL:
        return info > 0 || !is_finite(a) ? NULL : "no trace of it in the result";
    case ALWAYS:
    case COMPLEX:
        break;
    }
    return "the device did not leave it to the CPU library";
}

static bool run(const struct exception *exception, enum ofl_precision precision)
{
    struct ofl_call call = {.operation = exception->operation, .precision = precision};
    struct ofl_matrix matrices[OFL_MAX_OPERANDS];
    char *snapshots[OFL_MAX_OPERANDS];
    int32_t info = -1;
    bool changed = false;
    ofl_make_square_call(&call, order, matrices);
    spoil(exception, &matrices[0]);
    for (int i = 0; i < call.operands; i++) {
        snapshots[i] = ofl_matrix_snapshot(&matrices[i]);
    }
    call.info = &info;
    enum ofl_reason reason = ofl_device_run(&call, NULL);
    for (int i = 0; i < call.operands; i++) {
        changed = changed || !ofl_matrix_unchanged(&matrices[i], snapshots[i]);
        free(snapshots[i]);
    }
    const char *problem = judge(exception, reason, info, &matrices[0], changed);
    if (problem != NULL) {
        printf("%c%s with %s: %s (%s, info %d)\n", "sdcz"[precision], ofl_operation_name(exception->operation),
               exception -> what, problem, ofl_reason_name(reason), (int)info);
    }
    for (int i = 0; i < call.operands; i++) {
        ofl_matrix_free(&matrices[i]);
    }
    return problem == NULL;
}

/* More than 2^31 elements: what the device's routine cannot index it must decline, by the sizes alone.  The operands
 * are not there. */
static bool refuses_huge(enum ofl_operation operation, bool always)
{
    int64_t huge = INT64_C(50000);
    struct ofl_call call = {.operation = operation, .precision = OFL_D, .uplo = 'U', .m = huge, .n = huge, .k = huge};
    bool tau = operation != OFL_OP_potri;
    call.operands = tau ? 2 : 1;
    call.operand[0] = (struct ofl_buffer){NULL, huge, huge, huge, 8, OFL_UPDATE, tau ? OFL_GENERAL : OFL_UPPER};
    call.operand[1] = (struct ofl_buffer){NULL, huge, 1, huge, 8, OFL_READ, OFL_GENERAL};
    if (!always) {
        call.m = call.k = call.n = huge * huge;
        call.operand[0].rows = call.operand[0].columns = call.operand[0].ld = huge * huge;
    }
    enum ofl_reason reason = ofl_device_supports(&call);
    /* The host's library counts columns, not elements, with 32 bits. */
    bool refused = reason == OFL_TOO_LARGE || reason == OFL_DEVICE_MEMORY;
    bool good = refused || (always && strcmp(ofl_device_name(), "host") == 0 && reason == OFL_OK);
    if (!good) {
        printf("d%s of order %lld: %s\n", ofl_operation_name(operation), (long long)call.n, ofl_reason_name(reason));
    }
    return good;
}

long ofl_run_exceptional(long *cases)
{
    static const enum ofl_operation older[] = {OFL_OP_potri, OFL_OP_orgqr};
    long failed = 0;
    for (size_t i = 0; i < sizeof older / sizeof *older; i++, *cases += 2) {
        failed += !refuses_huge(older[i], true);
        failed += !refuses_huge(older[i], false);
    }
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        for (int precision = exceptions[i].verdict == COMPLEX ? OFL_C : OFL_S; precision < OFL_PRECISION_COUNT;
             precision++) {
            failed += !run(&exceptions[i], (enum ofl_precision)precision);
            ++*cases;
        }
    }
    return failed;
}
