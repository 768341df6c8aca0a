/* Work from a call, by the table operations.def. */
#include "model/work.h"

#include <math.h>
#include <string.h>

#define NOT_TRANSPOSED(flag) ((flag) == 'N')
#define LEFT(flag)           ((flag) == 'L')
#define MIN(a, b)            ((a) < (b) ? (a) : (b))
#define MAX(a, b)            ((a) > (b) ? (a) : (b))

enum { OFL_MEASURED, OFL_OFFLOADED };

static const struct {
    const char *name, *precisions, *arguments;
    int kind;
} operations[OFL_OPERATION_COUNT] = {
#define OFL_OPERATION(name, precisions, kind, arguments, ...) [OFL_OP_##name] = {#name, precisions, arguments, kind},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

/* The sizes of a call as the flop expressions of the table see them. */
static double table_flops(const struct ofl_call *call)
{
    const double m = (double)call->m, n = (double)call->n, k = (double)call->k, nrhs = (double)call->nrhs;
    const char side = call->side;
    (void)m, (void)n, (void)k, (void)nrhs, (void)side;
    switch (call->operation) {
#define OFL_OPERATION(name, precisions, kind, arguments, row_major, flops, ...)                                        \
    case OFL_OP_##name:                                                                                                \
        return flops;
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
    case OFL_OPERATION_COUNT:
        break;
    }
    return 0;
}

static bool is_complex(enum ofl_precision precision)
{
    return precision == OFL_C || precision == OFL_Z;
}

static bool beta_is_zero(const struct ofl_call *call)
{
    bool real_beta = strcmp(ofl_operation_name(call->operation), "herk") == 0 ||
                     strcmp(ofl_operation_name(call->operation), "her2k") == 0;
    switch (call->precision) {
    case OFL_S:
        return call->beta.s == 0;
    case OFL_D:
        return call->beta.d == 0;
    case OFL_C:
        return call->beta.c[0] == 0 && (real_beta || call->beta.c[1] == 0);
    case OFL_Z:
        return call->beta.z[0] == 0 && (real_beta || call->beta.z[1] == 0);
    case OFL_PRECISION_COUNT:
        break;
    }
    return false;
}

/* Bytes of the stored elements of an operand. */
double ofl_buffer_bytes(const struct ofl_buffer *buffer)
{
    if (buffer->rows <= 0 || buffer->columns <= 0) {
        return 0;
    }
    double rows = (double)buffer->rows, columns = (double)buffer->columns;
    double elements = rows * columns;
    if (buffer->region == OFL_UPPER || buffer->region == OFL_LOWER) {
        double square = rows < columns ? rows : columns;
        elements = square * (square + 1) / 2;
        /* A trapezoid stores, beyond its square, all of the long side that the triangle opens to. */
        if (buffer->region == OFL_LOWER) {
            elements += (rows - square) * square;
        } else {
            elements += (columns - square) * square;
        }
    }
    return elements * buffer->element_size;
}

/* Whether an operand that is only read is an earlier one once more (A times A): it is moved once. */
static bool repeats(const struct ofl_call *call, int i)
{
    const struct ofl_buffer *operand = &call->operand[i];
    for (int j = 0; j < i; j++) {
        const struct ofl_buffer *other = &call->operand[j];
        if (operand->access == OFL_READ && other->access == OFL_READ && operand->address != NULL &&
            operand->address == other->address && operand->rows == other->rows && operand->columns == other->columns &&
            operand->ld == other->ld && operand->region == other->region) {
            return true;
        }
    }
    return false;
}

/* Products of a matrix and a vector (measured only) have two extents.  The third extent is k where the operation has
 * one, the number of right-hand sides where a factor is only applied, the order and right-hand sides where it is also
 * made, the order of the triangular or symmetric operand
 * where it has a side, else the smaller of the two.  From the right the first two are exchanged: the transposed problem
 * from the left costs about the same. */
static void find_extents(const struct ofl_call *call, double extent[3])
{
    double m = (double)(call->m > 0 ? call->m : call->n > 0 ? call->n : 0);
    double n = (double)(call->n > 0 ? call->n : call->m > 0 ? call->m : 0);
    extent[0] = call->side == 'R' ? n : m;
    extent[1] = call->side == 'R' ? m : n;
    if (!ofl_operation_offloaded(call->operation)) {
        extent[2] = 1;
    } else if (call->k > 0) {
        extent[2] = (double)call->k;
    } else if (call->nrhs > 0 && call->operand[0].access == OFL_READ) {
        extent[2] = (double)call->nrhs;
    } else if (call->operation == OFL_OP_gesv || call->operation == OFL_OP_posv) {
        /* Its flops are n * n * (n + this many right-hand sides), up to a factor. */
        extent[2] = n + (call->operation == OFL_OP_gesv ? 3 : 6) * (double)(call->nrhs > 0 ? call->nrhs : 0);
    } else if (call->side == 'L' || call->side == 'R') {
        extent[2] = extent[0];
    } else {
        extent[2] = m < n ? m : n;
    }
}

static void add_part(struct ofl_work *out, struct ofl_call call)
{
    struct ofl_work_part *part = &out->part[out->parts++];
    call.precision = out->precision;
    part->operation = call.operation;
    part->flops = table_flops(&call) * (is_complex(call.precision) ? 4 : 1);
    part->side = call.side, part->uplo = call.uplo, part->trans = call.trans;
    find_extents(&call, part->extent);
}

/* What an operation is made of, in the sizes that its parts get. */
static void find_parts(const struct ofl_call *call, struct ofl_work *out)
{
    const int64_t m = call->m, n = call->n, nrhs = call->nrhs;
    const char uplo = call->uplo, trans = call->trans, other = trans == 'N' ? 'T' : 'N';
    const struct ofl_buffer factor = {.access = OFL_READ};
    switch (call->operation) {
    case OFL_OP_gesv:
        add_part(out, (struct ofl_call){.operation = OFL_OP_getrf, .m = n, .n = n});
        add_part(out, (struct ofl_call){.operation = OFL_OP_getrs, .n = n, .nrhs = nrhs, .operand[0] = factor});
        break;
    case OFL_OP_posv:
        add_part(out, (struct ofl_call){.operation = OFL_OP_potrf, .uplo = uplo, .n = n});
        add_part(out, (struct ofl_call){
                          .operation = OFL_OP_potrs, .uplo = uplo, .n = n, .nrhs = nrhs, .operand[0] = factor});
        break;
    case OFL_OP_gels:
        if (m >= n) { /* else by an LQ factorisation, of which nothing is known */
            enum ofl_operation apply = is_complex(call->precision) ? OFL_OP_unmqr : OFL_OP_ormqr;
            add_part(out, (struct ofl_call){.operation = OFL_OP_geqrf, .m = m, .n = n});
            add_part(out,
                     (struct ofl_call){.operation = apply, .side = 'L', .trans = other, .m = m, .n = nrhs, .k = n});
            add_part(out, (struct ofl_call){
                              .operation = OFL_OP_trsm, .side = 'L', .uplo = 'U', .trans = trans, .m = n, .n = nrhs});
        }
        break;
    default:
        break;
    }
}

void ofl_work_from_call(const struct ofl_call *call, struct ofl_work *out)
{
    *out = (struct ofl_work){
        .operation = call->operation,
        .precision = call->precision,
        .side = call->side,
        .uplo = call->uplo,
        .transa = call->transa != 0 ? call->transa : call->trans,
        .transb = call->transb,
        .diag = call->diag,
        .m = call->m,
        .n = call->n,
        .k = call->k,
        .pieces = 1,
    };
    find_extents(call, out->extent);
    double flops = table_flops(call) * (is_complex(call->precision) ? 4 : 1);
    bool sizes = call->m >= 0 && call->n >= 0 && call->k >= 0 && call->nrhs >= 0;
    out->flops = sizes && flops > 0 && isfinite(flops) ? flops : 0;
    if (out->flops > 0) {
        find_parts(call, out);
    }
    bool untouched = beta_is_zero(call);
    for (int i = 0; i < call->operands && i < OFL_MAX_OPERANDS; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        double bytes = repeats(call, i) ? 0 : ofl_buffer_bytes(operand);
        bool read =
            operand->access == OFL_READ || operand->access == OFL_UPDATE || (operand->access == OFL_ADD && !untouched);
        out->bytes_in += read ? bytes : 0;
        out->bytes_out += operand->access != OFL_READ ? bytes : 0;
        /* On the device a triangle has room for its whole rectangle. */
        if (bytes > 0) {
            out->device_bytes += (double)operand->rows * (double)operand->columns * operand->element_size;
        }
    }
}

void ofl_work_cut(struct ofl_work *work, int pieces, double shared)
{
    work->pieces = pieces > 1 ? pieces : 1;
    double rest = work->bytes_in > shared ? work->bytes_in - shared : 0;
    work->bytes_first = pieces > 1 && shared > 0 ? shared + rest / pieces : 0;
}

/* The rows with LAPACK's info are LAPACK's. */
enum ofl_library ofl_library_of(enum ofl_operation operation)
{
    return ofl_operation_takes(operation, "info") ? OFL_LIBRARY_SOLVER : OFL_LIBRARY_BLAS;
}

const char *ofl_operation_name(enum ofl_operation operation)
{
    return (unsigned)operation < OFL_OPERATION_COUNT ? operations[operation].name : "?";
}

enum ofl_operation ofl_operation_find(const char *name, size_t length)
{
    for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
        if (strlen(operations[i].name) == length && memcmp(operations[i].name, name, length) == 0) {
            return (enum ofl_operation)i;
        }
    }
    return OFL_OPERATION_COUNT;
}

char ofl_precision_letter(enum ofl_precision precision)
{
    return (unsigned)precision < OFL_PRECISION_COUNT ? "sdcz"[precision] : '?';
}

double ofl_precision_bytes(enum ofl_precision precision)
{
    static const double bytes[OFL_PRECISION_COUNT] = {4, 8, 8, 16};
    return (unsigned)precision < OFL_PRECISION_COUNT ? bytes[precision] : 0;
}

bool ofl_operation_takes(enum ofl_operation operation, const char *word)
{
    size_t length = strlen(word);
    const char *at = (unsigned)operation < OFL_OPERATION_COUNT ? operations[operation].arguments : "";
    while (*at != '\0') {
        size_t n = strcspn(at, " ");
        if (strcspn(at, ": ") == length && memcmp(at, word, length) == 0) {
            return true;
        }
        at += n + (at[n] == ' ');
    }
    return false;
}

bool ofl_operation_offloaded(enum ofl_operation operation)
{
    return (unsigned)operation < OFL_OPERATION_COUNT && operations[operation].kind == OFL_OFFLOADED;
}

bool ofl_operation_has(enum ofl_operation operation, enum ofl_precision precision)
{
    return (unsigned)operation < OFL_OPERATION_COUNT && (unsigned)precision < OFL_PRECISION_COUNT &&
           strchr(operations[operation].precisions, ofl_precision_letter(precision)) != NULL;
}
