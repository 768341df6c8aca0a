/* Every operation of operations.def, in every precision, with every combination of
 * flags, run through ofl_device_run and compared with an independent reference.
 *
 *     operations [--device host|cuda] [OPERATION|exceptional ...]
 *
 * A row of the table without an ofl_check_NAME function (level3.c, lapack.c) does not
 * link.  Operands end at a page that cannot be read, have guards between rows and ld, and hold NaN
 * wherever BLAS does not read: the other triangle, the diagonal of a unit triangle,
 * C where beta is zero.  The cuda device may decline least squares with more columns than
 * rows.  With GPU_OFFLOAD_DEVICE_MEMORY any call may be declined for want of memory, but not all.  Exit 0: all passed.
 * 1: some failed.  77: no such device here. */
#include "device/device.h"
#include "base/message.h"
#include "base/reason.h"
#include "checks.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    enum ofl_access access;
    bool triangle, pivots;
    int64_t rows, columns;
};

typedef int shape_function(const struct ofl_call *call, struct shape *out);
/* Whether the operands `after` are what the operation makes of those `before`. */
typedef bool check_function(const struct ofl_call *call, const struct ofl_matrix *before,
                            const struct ofl_matrix *after);

/* The shapes of each row's operands, from the table. */
#define LEFT(side)           ((side) == 'L')
#define NOT_TRANSPOSED(flag) ((flag) == 'N')
#define MIN(a, b)            ((a) < (b) ? (a) : (b))
#define MAX(a, b)            ((a) > (b) ? (a) : (b))
#define OFL_OPERAND(name, access, region, rows, columns)                                                               \
    {                                                                                                                  \
        access, IS_##region, rows, columns                                                                             \
    }
#define IS_OFL_TRIANGLE true, false
#define IS_OFL_GENERAL  false, false
#define IS_OFL_PIVOTS   false, true
#define OFL_OPERATION(name, precisions, kind, arguments, row_major, flops, ...)                                        \
    static int shape_##name(const struct ofl_call *call, struct shape *out)                                            \
    {                                                                                                                  \
        const int64_t m = call->m, n = call->n, k = call->k, nrhs = call->nrhs;                                        \
        const char side = call->side, trans = call->trans, transa = call->transa, transb = call->transb;               \
        (void)m, (void)n, (void)k, (void)nrhs, (void)side, (void)trans, (void)transa, (void)transb;                    \
        const struct shape shapes[] = {__VA_ARGS__};                                                                   \
        memcpy(out, shapes, sizeof shapes);                                                                            \
        return (int)(sizeof shapes / sizeof *shapes);                                                                  \
    }
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
#undef OFL_OPERAND

#define CHECK_OFL_OFFLOADED(name) ofl_check_##name
#define CHECK_OFL_MEASURED(name)  NULL
static const struct row {
    const char *name, *precisions, *arguments;
    enum ofl_operation operation;
    shape_function *shape;
    check_function *check; /* NULL for what never runs on a device */
} rows[] = {
#define OFL_OPERATION(name, precisions, kind, arguments, ...)                                                          \
    {#name, precisions, arguments, OFL_OP_##name, shape_##name, CHECK_##kind(name)},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

static long cases, failures, declined, beyond;
static bool limited; /* the device's memory is, so that calls are declined, or operands pass by more than once */

static bool has_word(const char *arguments, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = arguments; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == arguments || at[-1] == ' ') && (at[length] == ' ' || at[length] == ':' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool is_lapack(const struct row *row)
{
    return has_word(row->arguments, "info");
}

/* What the cuda backend has no routine for. */
static bool may_decline(const struct row *row, const struct ofl_call *call)
{
    return row->operation == OFL_OP_gels && call->m < call->n && strcmp(ofl_device_name(), "cuda") == 0;
}

static bool hermitian(enum ofl_operation operation)
{
    return operation == OFL_OP_hemm || operation == OFL_OP_herk || operation == OFL_OP_her2k;
}

static void fill(const struct row *row, const struct ofl_call *call, const struct shape *shape,
                 struct ofl_matrix *matrix, bool read)
{
    enum ofl_region region = !shape->triangle ? OFL_GENERAL : call->uplo == 'U' ? OFL_UPPER : OFL_LOWER;
    bool solves = row->operation == OFL_OP_trsm && shape->triangle;
    ofl_value nan = ofl_is_complex(call->precision) ? CMPLXL(NAN, NAN) : (ofl_value)NAN;
    for (int64_t j = 0; j < matrix->columns; j++) {
        for (int64_t i = 0; i < matrix->rows; i++) {
            ofl_value value = ofl_random_element(call->precision);
            if (solves) { /* well conditioned, with either diagonal */
                value = i == j ? 2 + value / 2 : value / (ofl_value)matrix->rows;
            }
            if (i == j && shape->triangle && hermitian(row->operation)) {
                value = CMPLXL(creall(value), NAN); /* taken as zero */
            }
            if (!read || !ofl_in_region(region, i, j) || (i == j && shape->triangle && call->diag == 'U')) {
                value = nan;
            }
            ofl_matrix_set(matrix, i, j, value);
        }
    }
}

static void describe_failure(const struct row *row, const struct ofl_call *call, const char *what)
{
    failures++;
    printf("%c%s side=%c uplo=%c trans=%c%c%c diag=%c m=%ld n=%ld k=%ld nrhs=%ld ld=%ld,%ld: %s\n",
           "sdcz"[call->precision], row -> name, call -> side ? call -> side : '-', call->uplo ? call->uplo : '-',
           call->trans ? call->trans : '-', call->transa ? call->transa : '-', call->transb ? call->transb : '-',
           call->diag ? call->diag : '-', (long)call->m, (long)call->n, (long)call->k, (long)call->nrhs,
           (long)call->operand[0].ld, (long)call->operand[1].ld, what);
}

/* Runs a call whose flags, sizes and scalars are set.  `gap`: how far ld exceeds the rows. */
static void run_case(const struct row *row, struct ofl_call *call, bool beta_is_zero, int64_t gap)
{
    struct shape shapes[OFL_MAX_OPERANDS];
    struct ofl_matrix before[OFL_MAX_OPERANDS], after[OFL_MAX_OPERANDS];
    char *snapshots[OFL_MAX_OPERANDS];
    struct ofl_device_times times;
    const char *problem = NULL;
    call->operands = row->shape(call, shapes);
    int32_t info = -1;
    call->info = &info;
    for (int i = 0; i < call->operands; i++) {
        const struct shape *shape = &shapes[i];
        /* Pivots of both widths, in matrices whose elements have that size. */
        enum ofl_precision precision = !shape->pivots ? call->precision : gap == 0 ? OFL_D : OFL_S;
        before[i] = ofl_matrix_new(precision, shape->rows, shape->columns, shape->rows + gap);
        after[i] = ofl_matrix_new(precision, shape->rows, shape->columns, shape->rows + gap);
        fill(row, call, shape, &before[i], shape->access != OFL_ADD || !beta_is_zero);
    }
    if (is_lapack(row)) {
        ofl_fill_lapack(call, before);
    }
    for (int i = 0; i < call->operands; i++) {
        const struct shape *shape = &shapes[i];
        snapshots[i] = ofl_matrix_snapshot(&before[i]);
        ofl_matrix_restore(&after[i], snapshots[i]);
        call->operand[i] = (struct ofl_buffer){
            .address = after[i].first,
            .rows = shape->rows,
            .columns = shape->columns,
            .ld = shape->rows + gap,
            .element_size = (uint32_t)before[i].element_size,
            .access = shape->access,
            .region = shape->pivots       ? OFL_PIVOTS
                      : !shape->triangle  ? OFL_GENERAL
                      : call->uplo == 'U' ? OFL_UPPER
                                          : OFL_LOWER,
        };
    }
    uint64_t all_read = 0; /* what may be copied in, and where no triangle is read, what must be */
    bool reads_triangle = false;
    for (int i = 0; i < call->operands; i++) {
        if (shapes[i].access != OFL_WRITE && (shapes[i].access != OFL_ADD || !beta_is_zero)) {
            uint64_t element = shapes[i].pivots ? sizeof(int64_t) : call->operand[i].element_size;
            all_read += (uint64_t)(shapes[i].rows * shapes[i].columns) * element;
            reads_triangle = reads_triangle || shapes[i].triangle;
        }
    }
    enum ofl_reason reason = ofl_device_supports(call);
    reason = reason == OFL_OK ? ofl_device_run(call, &times) : reason;
    if ((may_decline(row, call) && reason == OFL_UNSUPPORTED) || (limited && reason == OFL_DEVICE_MEMORY)) {
        declined++;
    } else if (reason != OFL_OK) {
        problem = ofl_reason_name(reason);
    } else if (is_lapack(row) && info != 0) {
        problem = "info is not zero";
    } else if (!row->check(call, before, after)) {
        problem = "wrong result";
    } else if (!limited && (times.bytes_in > all_read || (!reads_triangle && times.bytes_in != all_read))) {
        problem = "copied in what is not read";
    }
    for (int i = 0; i < call->operands; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        if (operand->access == OFL_READ ? !ofl_matrix_unchanged(&after[i], snapshots[i])
                                        : !ofl_matrix_unchanged_outside(&after[i], operand->region, snapshots[i])) {
            problem = "memory changed that is not the output";
        }
        free(snapshots[i]);
        ofl_matrix_free(&before[i]);
        ofl_matrix_free(&after[i]);
    }
    cases++;
    beyond += reason == OFL_OK && times.bytes_in > all_read;
    if (problem != NULL) {
        describe_failure(row, call, problem);
    }
}

/* Scalars and gaps, in turn: each meets each combination of flags. */
static void run_scalars(const struct row *row, struct ofl_call *call)
{
    static const struct {
        long double alpha[2], beta[2];
        int64_t gap;
    } turns[] = {
        {{1, 0}, {0, 0}, 0},  {{0.75L, -0.25L}, {1, 0}, 3},  {{-1.25L, 0.5L}, {0.5L, -0.75L}, 0},
        {{-1, 0}, {0, 0}, 5}, {{0.5L, 0}, {-2, 0.25L}, 700},
    };
    bool real = !ofl_is_complex(call->precision);
    bool real_alpha = real || has_word(row->arguments, "real_alpha");
    bool real_beta = real || has_word(row->arguments, "real_beta");
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        if (is_lapack(row) && (turns[i].gap == 0 ? i > 0 || call->n > 200 : call->n > 200 && i > 1)) {
            continue; /* no scalars: each gap once, and a large size once */
        }
        const long double *alpha = turns[i].alpha, *beta = turns[i].beta;
        ofl_set_scalar(&call->alpha, call->precision, CMPLXL(alpha[0], real_alpha ? 0 : alpha[1]));
        ofl_set_scalar(&call->beta, call->precision, CMPLXL(beta[0], real_beta ? 0 : beta[1]));
        run_case(row, call, beta[0] == 0 && beta[1] == 0, turns[i].gap);
    }
}

/* The values of a flag in a precision; "-" stands for an argument that the operation does not have. */
static void flag_values(const struct row *row, const char *word, enum ofl_precision precision, char *values)
{
    char pattern[16];
    snprintf(pattern, sizeof pattern, "%s:", word);
    const char *set = strstr(row->arguments, pattern);
    if (set == NULL) {
        strcpy(values, "-");
        return;
    }
    /* In real precisions calls come with T for C; small letters are for real ones. */
    for (set += strlen(pattern); *set != ' ' && *set != '\0'; set++) {
        bool real_only = *set >= 'a';
        if (*set != '!' && (ofl_is_complex(precision) ? !real_only : *set != 'C')) {
            *values++ = (char)toupper((unsigned char)*set);
        }
    }
    *values = '\0';
}

static char flag(char value)
{
    return value == '-' ? '\0' : value;
}

static void run_flags(const struct row *row, enum ofl_precision precision, int64_t m, int64_t n, int64_t k,
                      bool only_last)
{
    char transa[4], transb[4], trans[4];
    flag_values(row, "transa", precision, transa);
    flag_values(row, "transb", precision, transb);
    flag_values(row, "trans", precision, trans);
    const char *sides = has_word(row->arguments, "side") ? "LR" : "-";
    const char *uplos = has_word(row->arguments, "uplo") ? "UL" : "-";
    const char *diags = has_word(row->arguments, "diag") ? "UN" : "-";
    struct ofl_call call = {.operation = row->operation, .precision = precision, .m = m, .n = n};
    call.m = has_word(row->arguments, "m") ? m : 0;
    call.k = has_word(row->arguments, "k") ? k : 0;
    call.nrhs = has_word(row->arguments, "nrhs") ? k : 0;
    if (has_word(row->arguments, "tau") && call.k > 0 && sides[0] == '-') { /* orgqr: no more columns than rows */
        call.n = MIN(m, n);
    }
    if (has_word(row->arguments, "tau")) {
        call.k = MIN(call.k, MIN(call.m, call.n));
    }
    for (const char *s = sides; *s != '\0'; s++) {
        for (const char *u = uplos; *u != '\0'; u++) {
            for (const char *d = diags; *d != '\0'; d++) {
                for (const char *t = trans; *t != '\0'; t++) {
                    for (const char *a = transa; *a != '\0'; a++) {
                        for (const char *b = transb; *b != '\0'; b++) {
                            if (only_last &&
                                (s[1] != '\0' || d[1] != '\0' || t[1] != '\0' || a[1] != '\0' || b[1] != '\0')) {
                                continue; /* a large size: one combination for each triangle */
                            }
                            call.side = flag(*s), call.uplo = flag(*u), call.diag = flag(*d);
                            call.trans = flag(*t), call.transa = flag(*a), call.transb = flag(*b);
                            run_scalars(row, &call);
                        }
                    }
                }
            }
        }
    }
}

/* Gaps of gigabytes between columns: address space without memory behind it.  Short columns and long ones
 * take different ways, and a pitch may exceed what a driver takes. */
static void run_huge_gap(const struct row *row, enum ofl_precision precision, int64_t m)
{
    const int64_t n = 3, ld = INT64_C(600000007);
    struct ofl_matrix a = ofl_matrix_new(precision, m, n, ld), b = ofl_matrix_new(precision, n, n, ld);
    struct ofl_matrix c = ofl_matrix_new(precision, m, n, ld);
    struct ofl_call call = {.operation = OFL_OP_gemm,
                            .precision = precision,
                            .transa = 'N',
                            .transb = 'N',
                            .m = m,
                            .n = n,
                            .k = n,
                            .operands = 3};
    ofl_set_scalar(&call.alpha, precision, 1);
    ofl_set_scalar(&call.beta, precision, 0);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++) {
            ofl_matrix_set(&a, i, j, ofl_random_element(precision));
            ofl_matrix_set(&b, i % n, j, ofl_random_element(precision));
        }
    }
    uint32_t size = (uint32_t)ofl_element_size(precision);
    call.operand[0] = (struct ofl_buffer){a.first, m, n, ld, size, OFL_READ, OFL_GENERAL};
    call.operand[1] = (struct ofl_buffer){b.first, n, n, ld, size, OFL_READ, OFL_GENERAL};
    call.operand[2] = (struct ofl_buffer){c.first, m, n, ld, size, OFL_ADD, OFL_GENERAL};
    enum ofl_reason reason = ofl_device_run(&call, NULL);
    const struct ofl_matrix matrices[] = {a, b, c};
    cases++;
    if (reason != OFL_OK || !ofl_check_gemm(&call, matrices, matrices)) {
        describe_failure(row, &call, reason == OFL_OK ? "wrong result" : ofl_reason_name(reason));
    }
    ofl_matrix_free(&a);
    ofl_matrix_free(&b);
    ofl_matrix_free(&c);
}

static void run_row(const struct row *row)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {17, 33, 9}, {65, 31, 64}, {130, 7, 3}};
    for (const char *letter = row->precisions; *letter != '\0'; letter++) {
        enum ofl_precision precision = (enum ofl_precision)(strchr("sdcz", *letter) - "sdcz");
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            run_flags(row, precision, sizes[i][0], sizes[i][1], sizes[i][2], false);
        }
        run_flags(row, precision, 5, is_lapack(row) ? 270 : 601, 3, true); /* several panels of a triangle */
        if (row->operation == OFL_OP_gemm) {
            run_huge_gap(row, precision, 9);
            run_huge_gap(row, precision, 600);
        }
    }
}

static bool wanted(const char *name, char **names, int count)
{
    bool found = count == 0;
    for (int i = 0; i < count; i++) {
        found = found || strcmp(names[i], name) == 0;
    }
    return found;
}

int main(int count, char **arguments)
{
    const char *device = "host";
    int first = 1;
    if (count > 2 && strcmp(arguments[1], "--device") == 0) {
        device = arguments[2];
        first = 3;
    }
    ofl_message_start();
    setenv("GPU_OFFLOAD_DEVICE", device, 1);
    limited = getenv("GPU_OFFLOAD_DEVICE_MEMORY") != NULL;
    if (ofl_device_start() != OFL_OK) {
        printf("operations: skipped, 0 cases run on %s: %s\n", device, ofl_device_explanation());
        return 77;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].check != NULL && wanted(rows[i].name, arguments + first, count - first)) {
            run_row(&rows[i]);
        }
    }
    if (wanted("exceptional", arguments + first, count - first)) {
        failures += ofl_run_exceptional(&cases);
    }
    printf("operations: %ld cases on %s, %ld failed, %ld declined", cases, ofl_device_name(), failures, declined);
    if (limited) {
        printf(", %ld larger than the memory allowed", beyond);
    }
    printf("\n");
    return failures != 0 || cases == 0 || (limited && beyond == 0);
}
