/* The device fails at its Nth step, for every N and every kind of step.
 *
 *     faults [-s STRIDE] [-b] [STEP ...]
 *
 * A run is a list of calls: products of small integers, whose results are exact in any order
 * of summation, and calls of LAPACK, which have several outputs.  Each run is a process of its own, whose host device
 * has been told to fail the Nth allocation, copy, operation, step of any kind, or to be lost there, once or from then
 * on.  Where a call fails, its operands must be bit for bit as before (an output that the operation does not read may
 * hold anything, but its gaps may not); what the CPU library would then compute is put in.  At the end of each run all
 * results are as they must be, nothing was printed, and the process ended by itself.  A lost device stays lost.  With
 * -s, N = 1, 1 + STRIDE, ...: for runs of very many steps.  With -b the calls are factorisations only, of matrices
 * beyond the memory that GPU_OFFLOAD_DEVICE_MEMORY allows. */
#include "device/device.h"
#include "base/reason.h"
#include "checks.h"
#include "reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { quiet_rounds = 8, most_runs = 400 };

static int stride = 1;
static bool beyond;

/* What a run tells the process that made it, in shared memory: its output must stay empty. */
static struct report {
    int calls, failed;
    char problem[256];
} * report;

static void problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void problem(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->problem, sizeof report->problem, format, arguments);
    va_end(arguments);
}

static struct ofl_matrix integers(enum ofl_precision precision, int64_t rows, int64_t columns, int64_t ld, int seed)
{
    struct ofl_matrix matrix = ofl_matrix_new(precision, rows, columns, ld);
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            ofl_matrix_set(&matrix, i, j, (ofl_value)((i * 5 + j * 7 + i * j + seed) % 5 - 2));
        }
    }
    return matrix;
}

static struct ofl_buffer operand(const struct ofl_matrix *matrix, enum ofl_access access, enum ofl_region region)
{
    return (struct ofl_buffer){matrix->first, matrix->rows, matrix->columns, matrix->ld, (uint32_t)matrix->element_size,
                               access,        region};
}

static void set_real(union ofl_scalar *scalar, enum ofl_precision precision, double value)
{
    if (precision == OFL_S || precision == OFL_C) {
        scalar->s = (float)value;
    } else {
        scalar->d = value;
    }
}

/* Runs the call; `m` are its operands' matrices, `expected` is what the last of them must become.  Takes
 * both. */
static void attempt(struct ofl_call *call, struct ofl_matrix *m, struct ofl_expected expected)
{
    static bool lost;
    char *snapshots[OFL_MAX_OPERANDS];
    int output = call->operands - 1;
    const struct ofl_buffer *out = &call->operand[output];
    bool beta_is_zero = call->beta.z[0] == 0 && call->beta.s == 0;
    for (int i = 0; i < call->operands; i++) {
        snapshots[i] = ofl_matrix_snapshot(&m[i]);
    }
    enum ofl_reason reason = ofl_device_run(call, NULL);
    report->calls++;
    report->failed += reason != OFL_OK;
    for (int i = 0; i < call->operands; i++) {
        bool may_change = i == output && (reason == OFL_OK || (out->access == OFL_ADD && beta_is_zero));
        if (may_change ? !ofl_matrix_unchanged_outside(&m[i], out->region, snapshots[i])
                       : !ofl_matrix_unchanged(&m[i], snapshots[i])) {
            problem("call %d (%s) changed operand %d", report->calls, ofl_reason_name(reason), i);
        }
    }
    for (int64_t j = 0; j < expected.columns; j++) {
        for (int64_t i = 0; i < expected.rows; i++) {
            ofl_value value = expected.value[j * expected.rows + i];
            if (ofl_in_region(out->region, i, j) && reason != OFL_OK) {
                ofl_matrix_set(&m[output], i, j, value); /* the CPU's turn */
            } else if (ofl_in_region(out->region, i, j) && ofl_matrix_get(&m[output], i, j) != value) {
                problem("call %d: element (%ld, %ld) is wrong", report->calls, (long)i, (long)j);
            }
        }
    }
    if (lost && reason != OFL_DEVICE_LOST) {
        problem("call %d: %s after the device was lost", report->calls, ofl_reason_name(reason));
    }
    lost = lost || reason == OFL_DEVICE_LOST;
    for (int i = 0; i < call->operands; i++) {
        free(snapshots[i]);
        ofl_matrix_free(&m[i]);
    }
    ofl_expected_free(&expected);
}

static void call_gemm(enum ofl_precision precision, int64_t m, int64_t n, int64_t k, int64_t gap, double beta)
{
    struct ofl_matrix matrices[] = {integers(precision, m, k, m + gap, 1), integers(precision, k, n, k, 2),
                                    integers(precision, m, n, m + gap, 3)};
    struct ofl_call call = {.operation = OFL_OP_gemm,
                            .precision = precision,
                            .transa = 'N',
                            .transb = 'N',
                            .m = m,
                            .n = n,
                            .k = k,
                            .operands = 3};
    set_real(&call.alpha, precision, 2);
    set_real(&call.beta, precision, beta);
    call.operand[0] = operand(&matrices[0], OFL_READ, OFL_GENERAL);
    call.operand[1] = operand(&matrices[1], OFL_READ, OFL_GENERAL);
    call.operand[2] = operand(&matrices[2], OFL_ADD, OFL_GENERAL);
    attempt(&call, matrices, ofl_reference_gemm(&call, &matrices[0], &matrices[1], &matrices[2]));
}

static void call_syrk(enum ofl_precision precision, char uplo, int64_t n, int64_t k, double beta)
{
    struct ofl_matrix matrices[] = {integers(precision, n, k, n, 1), integers(precision, n, n, n + 1, 2)};
    struct ofl_call call = {
        .operation = OFL_OP_syrk, .precision = precision, .uplo = uplo, .trans = 'N', .n = n, .k = k, .operands = 2};
    set_real(&call.alpha, precision, 1);
    set_real(&call.beta, precision, beta);
    call.operand[0] = operand(&matrices[0], OFL_READ, OFL_GENERAL);
    call.operand[1] = operand(&matrices[1], OFL_ADD, uplo == 'U' ? OFL_UPPER : OFL_LOWER);
    attempt(&call, matrices, ofl_reference_syrk(&call, false, &matrices[0], &matrices[1]));
}

static void call_symm(enum ofl_precision precision, int64_t m, int64_t n)
{
    struct ofl_matrix matrices[] = {integers(precision, m, m, m, 1), integers(precision, m, n, m + 2, 2),
                                    integers(precision, m, n, m, 3)};
    struct ofl_call call = {
        .operation = OFL_OP_symm, .precision = precision, .side = 'L', .uplo = 'U', .m = m, .n = n, .operands = 3};
    set_real(&call.alpha, precision, 1);
    set_real(&call.beta, precision, 1);
    call.operand[0] = operand(&matrices[0], OFL_READ, OFL_UPPER);
    call.operand[1] = operand(&matrices[1], OFL_READ, OFL_GENERAL);
    call.operand[2] = operand(&matrices[2], OFL_ADD, OFL_GENERAL);
    attempt(&call, matrices, ofl_reference_symm(&call, false, &matrices[0], &matrices[1], &matrices[2]));
}

/* trmm, and trsm of what trmm makes of integers: both are exact with a unit triangle. */
static void call_triangle(enum ofl_operation operation, enum ofl_precision precision, int64_t m, int64_t n)
{
    struct ofl_matrix matrices[] = {integers(precision, m, m, m + 1, 1), integers(precision, m, n, m, 2)};
    struct ofl_call call = {.operation = operation,
                            .precision = precision,
                            .side = 'L',
                            .uplo = 'L',
                            .transa = 'N',
                            .diag = 'U',
                            .m = m,
                            .n = n,
                            .operands = 2};
    set_real(&call.alpha, precision, 1);
    call.operand[0] = operand(&matrices[0], OFL_READ, OFL_LOWER);
    call.operand[1] = operand(&matrices[1], OFL_UPDATE, OFL_GENERAL);
    struct ofl_expected expected = ofl_reference_triangle(&call, 1, &matrices[0], &matrices[1]);
    for (int64_t at = 0; operation == OFL_OP_trsm && at < m * n; at++) { /* exchange product and solution */
        ofl_value solution = ofl_matrix_get(&matrices[1], at % m, at / m);
        ofl_matrix_set(&matrices[1], at % m, at / m, expected.value[at]);
        expected.value[at] = solution;
    }
    attempt(&call, matrices, expected);
}

/* A call of LAPACK: all of its outputs are right, or all of its operands are as before. */
static void call_lapack(enum ofl_operation operation, enum ofl_precision precision, int64_t order,
                        bool (*check)(const struct ofl_call *, const struct ofl_matrix *, const struct ofl_matrix *))
{
    struct ofl_call call = {.operation = operation, .precision = precision};
    struct ofl_matrix before[OFL_MAX_OPERANDS], after[OFL_MAX_OPERANDS];
    int32_t info = -1;
    ofl_make_square_call(&call, order, before);
    for (int i = 0; i < call.operands; i++) {
        char *snapshot = ofl_matrix_snapshot(&before[i]);
        after[i] = ofl_matrix_new(before[i].precision, before[i].rows, before[i].columns, before[i].ld);
        ofl_matrix_restore(&after[i], snapshot);
        call.operand[i].address = after[i].first;
        free(snapshot);
    }
    call.info = &info;
    enum ofl_reason reason = ofl_device_run(&call, NULL);
    report->calls++;
    report->failed += reason != OFL_OK;
    for (int i = 0; i < call.operands; i++) {
        char *snapshot = ofl_matrix_snapshot(&before[i]);
        enum ofl_region region = call.operand[i].region == OFL_PIVOTS ? OFL_GENERAL : call.operand[i].region;
        if (reason == OFL_OK ? !ofl_matrix_unchanged_outside(&after[i], region, snapshot)
                             : !ofl_matrix_unchanged(&after[i], snapshot)) {
            problem("call %d (%s) changed operand %d", report->calls, ofl_reason_name(reason), i);
        }
        free(snapshot);
    }
    if (reason == OFL_OK && (info != 0 || !check(&call, before, after))) {
        problem("call %d: a wrong result, info %d", report->calls, (int)info);
    }
    if (reason != OFL_OK && info != -1) {
        problem("call %d: info was written although the call failed", report->calls);
    }
    for (int i = 0; i < call.operands; i++) {
        ofl_matrix_free(&before[i]);
        ofl_matrix_free(&after[i]);
    }
}

/* Contiguous and strided, long and short columns, triangles of one panel and of several, and a size that
 * makes the scratch memory grow. */
static void run_calls(void)
{
    if (beyond) {
        call_lapack(OFL_OP_getrf, OFL_D, 24, ofl_check_getrf);
        call_lapack(OFL_OP_potrf, OFL_Z, 20, ofl_check_potrf);
        call_lapack(OFL_OP_getrf, OFL_C, 25, ofl_check_getrf);
        call_gemm(OFL_D, 30, 40, 10, 3, 2);
        call_gemm(OFL_S, 60, 20, 12, 0, 0);
        call_triangle(OFL_OP_trsm, OFL_D, 10, 40);
        return;
    }
    call_gemm(OFL_D, 20, 18, 7, 0, 0);
    call_gemm(OFL_D, 20, 18, 7, 5, 2);
    call_gemm(OFL_S, 6, 40, 3, 9, 0);
    call_gemm(OFL_Z, 200, 9, 5, 3, 0);
    call_gemm(OFL_C, 300, 9, 5, 3, -1);
    call_syrk(OFL_D, 'U', 30, 4, 0);
    call_syrk(OFL_S, 'L', 540, 2, 3);
    call_symm(OFL_D, 25, 11);
    call_triangle(OFL_OP_trmm, OFL_D, 24, 13);
    call_triangle(OFL_OP_trsm, OFL_D, 24, 13);
    call_lapack(OFL_OP_gesv, OFL_D, 12, ofl_check_gesv);
    call_lapack(OFL_OP_potrf, OFL_Z, 12, ofl_check_potrf);
    call_lapack(OFL_OP_geqrf, OFL_S, 12, ofl_check_geqrf);
    call_lapack(OFL_OP_gels, OFL_C, 12, ofl_check_gels);
    call_gemm(OFL_D, 20, 18, 7, 0, 0);
}

static void run_with(const char *fault, int output)
{
    setenv("GPU_OFFLOAD_DEVICE", "host", 1);
    setenv("GPU_OFFLOAD_HOST_FAULTS", fault, 1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (ofl_device_start() != OFL_OK) {
        problem("the device could not be started: %s", ofl_device_explanation());
    } else {
        run_calls();
    }
    exit(0);
}

/* One run; true if all is as it must be. */
static bool run(const char *fault)
{
    int output = memfd_create("output", MFD_CLOEXEC), status;
    char text[400] = "";
    memset(report, 0, sizeof *report);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run_with(fault, output);
    }
    if (output < 0 || child < 0 || waitpid(child, &status, 0) != child) {
        problem("the test could not start a process");
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        problem("the process ended with status 0x%x", (unsigned)status);
    }
    if (pread(output, text, sizeof text - 1, 0) != 0 && report->problem[0] == '\0') {
        problem("the process printed: %.200s", text);
    }
    close(output);
    if (report->problem[0] != '\0') {
        printf("%s: %s\n%s", fault, report->problem, text);
    }
    return report->problem[0] == '\0';
}

/* All N for one kind of step, until the run has fewer steps.  A failed allocation of page-locked memory is
 * made up for by ordinary memory, so a single quiet run does not mean the end. */
static bool run_all(const char *step, const char *suffix, long *runs)
{
    char fault[64];
    bool good = true;
    int quiet = 0, failing = 0, made;
    for (made = 0; quiet < quiet_rounds && made < most_runs; made++) {
        snprintf(fault, sizeof fault, "%s:%d%s", step, 1 + made * stride, suffix);
        good = run(fault) && good;
        quiet = report->failed == 0 ? quiet + 1 : 0;
        failing += report->failed > 0;
        ++*runs;
    }
    printf("faults: %s:N%s: %d runs, %d with failed calls\n", step, suffix, made, failing);
    return good && failing > 0 && made < most_runs;
}

int main(int count, char **arguments)
{
    static const char *const all[] = {"allocate", "copy", "operation", "any", "lost"};
    long runs = 0;
    bool good = true;
    if (count > 2 && strcmp(arguments[1], "-s") == 0) {
        stride = atoi(arguments[2]);
        count -= 2;
        arguments += 2;
    }
    if (count > 1 && strcmp(arguments[1], "-b") == 0) {
        beyond = true;
        count--;
        arguments++;
    }
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) {
        return 1;
    }
    good = run("") && report->failed == 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool wanted = count == 1;
        for (int a = 1; a < count; a++) {
            wanted = wanted || strcmp(arguments[a], all[i]) == 0;
        }
        if (wanted) {
            good = run_all(all[i], "", &runs) && good;
            good = run_all(all[i], "+", &runs) && good;
        }
    }
    printf("faults: %ld runs, %s\n", runs, good ? "all results as on the CPU" : "FAILED");
    return !good;
}
