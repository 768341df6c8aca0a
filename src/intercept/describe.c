/* Helpers of the generated describe_OP functions: from a caller's arguments to struct ofl_call.
 *
 * They decide nothing but legality: an argument that the CPU library would report makes the call
 * OFL_INVALID_ARGUMENT, so that the library reports it.  None of them reads an operand. */
#include "intercept/wrapper.h"
#include "device/device.h"

static char upper(char letter)
{
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* A small letter in `letters` is legal in real precisions only, one after ! in complex ones only. */
static bool is_legal(char letter, const char *letters, enum ofl_precision precision)
{
    if (letter < 'A' || letter > 'Z') {
        return false;
    }
    const char *found = strchr(letters, letter);
    if (found != NULL) {
        return ofl_is_complex(precision) || found == letters || found[-1] != '!';
    }
    return !ofl_is_complex(precision) && strchr(letters, lower(letter)) != NULL;
}

char ofl_flag(char value, const char *letters, enum ofl_precision precision, bool *legal)
{
    char letter = upper(value);
    *legal &= is_legal(letter, letters, precision);
    return letter == 'C' && !ofl_is_complex(precision) ? 'T' : letter;
}

/* CBLAS_TRANSPOSE, CBLAS_UPLO, CBLAS_DIAG and CBLAS_SIDE have disjoint values. */
char ofl_cblas_flag(int value)
{
    switch (value) {
    case 111:
        return 'N';
    case 112:
        return 'T';
    case 113:
        return 'C';
    case 121:
        return 'U';
    case 122:
        return 'L';
    case 131:
        return 'N'; /* CblasNonUnit */
    case 132:
        return 'U'; /* CblasUnit */
    case 141:
        return 'L'; /* CblasLeft */
    case 142:
        return 'R'; /* CblasRight */
    default:
        return '\0';
    }
}

/* The other one of the first two letters; an illegal letter stays illegal. */
char ofl_flip(char value, const char *letters, enum ofl_precision precision)
{
    char letter = upper(value);
    if (!is_legal(letter, letters, precision)) {
        return '\0';
    }
    return letter == letters[0] ? letters[1] : letters[0];
}

void ofl_scalar_read(union ofl_scalar *out, enum ofl_precision precision, const void *scalar)
{
    static const size_t sizes[OFL_PRECISION_COUNT] = {sizeof(float), sizeof(double), 2 * sizeof(float),
                                                      2 * sizeof(double)};
    memcpy(out, scalar, sizes[precision]);
}

const void *ofl_conjugate(union ofl_scalar *out, enum ofl_precision precision, const void *scalar)
{
    ofl_scalar_read(out, precision, scalar);
    if (precision == OFL_C) {
        out->c[1] = -out->c[1];
    } else if (precision == OFL_Z) {
        out->z[1] = -out->z[1];
    }
    return out;
}

enum ofl_region ofl_triangle(char uplo)
{
    return uplo == 'L' ? OFL_LOWER : OFL_UPPER;
}

void ofl_operand(struct ofl_call *call, const void *address, int64_t ld, enum ofl_access access, enum ofl_region region,
                 int64_t rows, int64_t columns, bool *legal)
{
    static const uint32_t sizes[OFL_PRECISION_COUNT] = {4, 8, 8, 16};
    *legal &= ld >= (rows > 1 ? rows : 1);
    call->operand[call->operands++] = (struct ofl_buffer){.address = (void *)address,
                                                          .rows = rows,
                                                          .columns = columns,
                                                          .ld = ld,
                                                          .element_size = sizes[call->precision],
                                                          .access = access,
                                                          .region = region};
}

void ofl_pivots(struct ofl_call *call, const void *address, unsigned integer_bytes, enum ofl_access access,
                int64_t rows)
{
    call->operand[call->operands++] = (struct ofl_buffer){.address = (void *)address,
                                                          .rows = rows,
                                                          .columns = 1,
                                                          .ld = MAX(1, rows),
                                                          .element_size = integer_bytes,
                                                          .access = access,
                                                          .region = OFL_PIVOTS};
}

bool ofl_scalar_is_zero(const union ofl_scalar *scalar, enum ofl_precision precision)
{
    switch (precision) {
    case OFL_S:
        return scalar->s == 0;
    case OFL_D:
        return scalar->d == 0;
    case OFL_C:
        return scalar->c[0] == 0 && scalar->c[1] == 0;
    default:
        return scalar->z[0] == 0 && scalar->z[1] == 0;
    }
}

/* Without elements there is nothing that a device could speed up; with alpha zero no operand but the output is
 * read. */
enum ofl_reason ofl_describe_end(struct ofl_call *call, bool legal)
{
    if (!legal) {
        return OFL_INVALID_ARGUMENT;
    }
    for (int i = 0; i < call->operands; i++) {
        if (call->operand[i].rows == 0 || call->operand[i].columns == 0) {
            return OFL_NOTHING_TO_DO;
        }
    }
    return OFL_OK;
}

/* A scalar that lies in an output changes while CPU libraries compute, and would be gone for them after a device
 * that failed half-way. */
bool ofl_scalar_overlaps(const struct ofl_call *call, const void *scalar)
{
    const struct ofl_buffer buffer = {
        .address = (void *)scalar, .rows = 1, .columns = 1, .ld = 1, .element_size = call->operand[0].element_size};
    for (int i = 0; i < call->operands; i++) {
        if (call->operand[i].access != OFL_READ && ofl_buffers_overlap(&call->operand[i], &buffer)) {
            return true;
        }
    }
    return false;
}
