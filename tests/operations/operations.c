/* Every operation of operations.def, in every precision, with every combination of
 * flags, run through ofl_device_run and compared with an independent reference.
 *
 *     operations [--device host|cuda] [OPERATION ...]
 *
 * A row of the table without a check_NAME function here does not compile.  Operands
 * end at a page that cannot be read, have guards between rows and ld, and hold NaN
 * wherever BLAS does not read: the other triangle, the diagonal of a unit triangle,
 * C where beta is zero.  Exit 0: all passed.  1: some failed.  77: no such device here. */
#include "device/device.h"
#include "base/message.h"
#include "base/reason.h"
#include "reference.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    enum ofl_access access;
    bool triangle;
    int64_t rows, columns;
};

typedef int shape_function(const struct ofl_call *call, struct shape *out);
/* Whether the operands `after` are what the operation makes of those `before`. */
typedef bool check_function(const struct ofl_call *call, const struct ofl_matrix *before,
                            const struct ofl_matrix *after);

/* The shapes of each row's operands, from the table. */
#define LEFT(side)           ((side) == 'L')
#define NOT_TRANSPOSED(flag) ((flag) == 'N')
#define OFL_OPERAND(name, access, region, rows, columns)                                                               \
    {                                                                                                                  \
        access, IS_##region, rows, columns                                                                             \
    }
#define IS_OFL_TRIANGLE true
#define IS_OFL_GENERAL  false
#define OFL_OPERATION(name, precisions, kind, arguments, row_major, flops, ...)                                        \
    static int shape_##name(const struct ofl_call *call, struct shape *out)                                            \
    {                                                                                                                  \
        const int64_t m = call->m, n = call->n, k = call->k;                                                           \
        const char side = call->side, trans = call->trans, transa = call->transa, transb = call->transb;               \
        (void)m, (void)n, (void)k, (void)side, (void)trans, (void)transa, (void)transb;                                \
        const struct shape shapes[] = {__VA_ARGS__};                                                                   \
        memcpy(out, shapes, sizeof shapes);                                                                            \
        return (int)(sizeof shapes / sizeof *shapes);                                                                  \
    }
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
#undef OFL_OPERAND

static long double epsilon(enum ofl_precision precision)
{
    return precision == OFL_S || precision == OFL_C ? FLT_EPSILON : DBL_EPSILON;
}

/* Compares the elements of the call's region; frees what was expected. */
static bool compare(const struct ofl_call *call, struct ofl_expected expected, const struct ofl_matrix *actual,
                    bool triangle)
{
    enum ofl_region region = !triangle ? OFL_GENERAL : call->uplo == 'U' ? OFL_UPPER : OFL_LOWER;
    long double tolerance = 2 * (long double)expected.terms * epsilon(call->precision);
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

static bool check_gemm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_gemm(call, &before[0], &before[1], &before[2]), &after[2], false);
}

static bool check_symm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_symm(call, false, &before[0], &before[1], &before[2]), &after[2], false);
}

static bool check_hemm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_symm(call, true, &before[0], &before[1], &before[2]), &after[2], false);
}

static bool check_syrk(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syrk(call, false, &before[0], &before[1]), &after[1], true);
}

static bool check_herk(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syrk(call, true, &before[0], &before[1]), &after[1], true) &&
           diagonal_is_real(&after[1]);
}

static bool check_syr2k(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syr2k(call, false, &before[0], &before[1], &before[2]), &after[2], true);
}

static bool check_her2k(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    return compare(call, ofl_reference_syr2k(call, true, &before[0], &before[1], &before[2]), &after[2], true) &&
           diagonal_is_real(&after[2]);
}

static bool check_trmm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
{
    ofl_value alpha = ofl_scalar_value(call->precision, &call->alpha, false);
    return compare(call, ofl_reference_triangle(call, alpha, &before[0], &before[1]), &after[1], false);
}

/* The triangle times the solution is alpha times the right-hand side. */
static bool check_trsm(const struct ofl_call *call, const struct ofl_matrix *before, const struct ofl_matrix *after)
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

#define CHECK_OFL_OFFLOADED(name) check_##name
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

static long cases, failures;

static uint64_t random_state = 20;

static long double random_value(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (long double)(random_state >> 33) / (long double)(UINT64_C(1) << 30) - 1;
}

static ofl_value random_element(enum ofl_precision precision)
{
    long double real = random_value();
    return ofl_is_complex(precision) ? CMPLXL(real, random_value()) : (ofl_value)real;
}

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
            ofl_value value = random_element(call->precision);
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

static void set_scalar(union ofl_scalar *scalar, enum ofl_precision precision, ofl_value value)
{
    float c[2] = {(float)creall(value), (float)cimagl(value)};
    double z[2] = {(double)creall(value), (double)cimagl(value)};
    memset(scalar, 0, sizeof *scalar);
    if (precision == OFL_S || precision == OFL_C) {
        memcpy(scalar->c, c, ofl_element_size(precision));
    } else {
        memcpy(scalar->z, z, ofl_element_size(precision));
    }
}

static void describe_failure(const struct row *row, const struct ofl_call *call, const char *what)
{
    failures++;
    printf("%c%s side=%c uplo=%c trans=%c%c%c diag=%c m=%ld n=%ld k=%ld ld=%ld,%ld: %s\n", "sdcz"[call->precision],
           row -> name, call -> side ? call -> side : '-', call->uplo ? call->uplo : '-',
           call->trans ? call->trans : '-', call->transa ? call->transa : '-', call->transb ? call->transb : '-',
           call->diag ? call->diag : '-', (long)call->m, (long)call->n, (long)call->k, (long)call->operand[0].ld,
           (long)call->operand[1].ld, what);
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
    for (int i = 0; i < call->operands; i++) {
        const struct shape *shape = &shapes[i];
        bool read = shape->access != OFL_ADD || !beta_is_zero;
        before[i] = ofl_matrix_new(call->precision, shape->rows, shape->columns, shape->rows + gap);
        after[i] = ofl_matrix_new(call->precision, shape->rows, shape->columns, shape->rows + gap);
        fill(row, call, shape, &before[i], read);
        snapshots[i] = ofl_matrix_snapshot(&before[i]);
        ofl_matrix_restore(&after[i], snapshots[i]);
        call->operand[i] = (struct ofl_buffer){
            .address = after[i].first,
            .rows = shape->rows,
            .columns = shape->columns,
            .ld = shape->rows + gap,
            .element_size = (uint32_t)ofl_element_size(call->precision),
            .access = shape->access,
            .region = !shape->triangle    ? OFL_GENERAL
                      : call->uplo == 'U' ? OFL_UPPER
                                          : OFL_LOWER,
        };
    }
    uint64_t all_read = 0; /* what may be copied in, and where no triangle is read, what must be */
    bool reads_triangle = false;
    for (int i = 0; i < call->operands; i++) {
        if (shapes[i].access != OFL_ADD || !beta_is_zero) {
            all_read += (uint64_t)(shapes[i].rows * shapes[i].columns) * call->operand[i].element_size;
            reads_triangle = reads_triangle || shapes[i].triangle;
        }
    }
    enum ofl_reason reason = ofl_device_supports(call);
    reason = reason == OFL_OK ? ofl_device_run(call, &times) : reason;
    if (reason != OFL_OK) {
        problem = ofl_reason_name(reason);
    } else if (!row->check(call, before, after)) {
        problem = "wrong result";
    } else if (times.bytes_in > all_read || (!reads_triangle && times.bytes_in != all_read)) {
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
        const long double *alpha = turns[i].alpha, *beta = turns[i].beta;
        set_scalar(&call->alpha, call->precision, CMPLXL(alpha[0], real_alpha ? 0 : alpha[1]));
        set_scalar(&call->beta, call->precision, CMPLXL(beta[0], real_beta ? 0 : beta[1]));
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
        if (*set == 'N' || *set == 'T' || (*set == 'C' && ofl_is_complex(precision))) {
            *values++ = *set;
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
    call.k = has_word(row->arguments, "k") ? k : 0;
    call.m = has_word(row->arguments, "m") ? m : 0;
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

/* Gaps of gigabytes between columns: address space without memory behind it. */
static void run_huge_gap(const struct row *row, struct ofl_call *call)
{
    set_scalar(&call->alpha, call->precision, 1);
    set_scalar(&call->beta, call->precision, 0);
    const int64_t n = 9, ld = INT64_C(600000007);
    struct ofl_matrix a = ofl_matrix_new(call->precision, n, n, ld), c = ofl_matrix_new(call->precision, n, n, ld);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++) {
            ofl_matrix_set(&a, i, j, random_element(call->precision));
        }
    }
    uint32_t size = (uint32_t)ofl_element_size(call->precision);
    call->operands = 3;
    call->operand[0] = call->operand[1] = (struct ofl_buffer){a.first, n, n, ld, size, OFL_READ, OFL_GENERAL};
    call->operand[2] = (struct ofl_buffer){c.first, n, n, ld, size, OFL_ADD, OFL_GENERAL};
    enum ofl_reason reason = ofl_device_run(call, NULL);
    const struct ofl_matrix matrices[] = {a, a, c};
    cases++;
    if (reason != OFL_OK || !check_gemm(call, matrices, matrices)) {
        describe_failure(row, call, reason == OFL_OK ? "wrong result with a huge ld" : ofl_reason_name(reason));
    }
    ofl_matrix_free(&a);
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
        run_flags(row, precision, 5, 601, 3, true); /* several panels of a triangle */
        if (row->operation == OFL_OP_gemm) {
            struct ofl_call call = {.operation = row->operation, .precision = precision, .transa = 'N', .transb = 'N'};
            call.m = call.n = call.k = 9;
            run_huge_gap(row, &call);
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
    if (ofl_device_start() != OFL_OK) {
        printf("operations: skipped, 0 cases run on %s: %s\n", device, ofl_device_explanation());
        return 77;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].check != NULL && wanted(rows[i].name, arguments + first, count - first)) {
            run_row(&rows[i]);
        }
    }
    printf("operations: %ld cases on %s, %ld failed\n", cases, ofl_device_name(), failures);
    return failures != 0 || cases == 0;
}
