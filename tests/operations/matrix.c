/* Matrices for tests: guarded on all sides, in any precision. */
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { pattern = 0x5a, guard_bytes = 64 };

size_t ofl_element_size(enum ofl_precision precision)
{
    static const size_t sizes[OFL_PRECISION_COUNT] = {4, 8, 8, 16};
    return sizes[precision];
}

bool ofl_is_complex(enum ofl_precision precision)
{
    return precision == OFL_C || precision == OFL_Z;
}

static void *checked(void *memory)
{
    if (memory == NULL || memory == MAP_FAILED) {
        fputs("no memory for the test's matrices\n", stderr);
        exit(1);
    }
    return memory;
}

/* Bytes from the first element to the last. */
static size_t extent(const struct ofl_matrix *matrix)
{
    return (size_t)((matrix->columns - 1) * matrix->ld + matrix->rows) * matrix->element_size;
}

struct ofl_matrix ofl_matrix_new(enum ofl_precision precision, int64_t rows, int64_t columns, int64_t ld)
{
    struct ofl_matrix matrix = {precision, rows, columns, ld, ofl_element_size(precision), NULL, NULL, 0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = extent(&matrix);
    size_t readable = (bytes + guard_bytes + page - 1) / page * page;
    matrix.map_bytes = readable + page;
    matrix.map = checked(
        mmap(NULL, matrix.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mprotect(matrix.map + readable, page, PROT_NONE);
    matrix.first = matrix.map + readable - bytes;
    if (bytes < (size_t)1 << 30) { /* a huge gap is not touched */
        memset(matrix.map, pattern, readable);
    }
    return matrix;
}

void ofl_matrix_free(struct ofl_matrix *matrix)
{
    munmap(matrix->map, matrix->map_bytes);
    matrix->map = NULL;
}

static size_t readable_bytes(const struct ofl_matrix *matrix)
{
    return (size_t)(matrix->first - matrix->map) + extent(matrix);
}

char *ofl_matrix_snapshot(const struct ofl_matrix *matrix)
{
    char *snapshot = checked(malloc(readable_bytes(matrix)));
    return memcpy(snapshot, matrix->map, readable_bytes(matrix));
}

void ofl_matrix_restore(struct ofl_matrix *matrix, const char *snapshot)
{
    memcpy(matrix->map, snapshot, readable_bytes(matrix));
}

static char *element(const struct ofl_matrix *matrix, int64_t i, int64_t j)
{
    if (i < 0 || j < 0 || i >= matrix->rows || j >= matrix->columns) {
        fprintf(stderr, "the test's reference reads element (%ld, %ld) of a matrix of %ld by %ld\n", (long)i, (long)j,
                (long)matrix->rows, (long)matrix->columns);
        exit(1);
    }
    return matrix->first + (size_t)(j * matrix->ld + i) * matrix->element_size;
}

ofl_value ofl_matrix_get(const struct ofl_matrix *matrix, int64_t i, int64_t j)
{
    float c[2];
    double z[2];
    const char *from = element(matrix, i, j);
    switch (matrix->precision) {
    case OFL_S:
        memcpy(c, from, sizeof c[0]);
        return c[0];
    case OFL_D:
        memcpy(z, from, sizeof z[0]);
        return z[0];
    case OFL_C:
        memcpy(c, from, sizeof c);
        return CMPLXL(c[0], c[1]);
    case OFL_Z:
        memcpy(z, from, sizeof z);
        return CMPLXL(z[0], z[1]);
    case OFL_PRECISION_COUNT:
        break;
    }
    return 0;
}

void ofl_matrix_set(struct ofl_matrix *matrix, int64_t i, int64_t j, ofl_value value)
{
    float c[2] = {(float)creall(value), (float)cimagl(value)};
    double z[2] = {(double)creall(value), (double)cimagl(value)};
    bool single = matrix->precision == OFL_S || matrix->precision == OFL_C;
    memcpy(element(matrix, i, j), single ? (const void *)c : (const void *)z, matrix->element_size);
}

bool ofl_in_region(enum ofl_region region, int64_t i, int64_t j)
{
    return region == OFL_GENERAL || (region == OFL_UPPER ? i <= j : i >= j);
}

bool ofl_matrix_unchanged_outside(const struct ofl_matrix *matrix, enum ofl_region region, const char *snapshot)
{
    char *now = ofl_matrix_snapshot(matrix);
    for (int64_t j = 0; j < matrix->columns; j++) {
        for (int64_t i = 0; i < matrix->rows; i++) {
            size_t offset = (size_t)(element(matrix, i, j) - matrix->map);
            if (ofl_in_region(region, i, j)) {
                memcpy(now + offset, snapshot + offset, matrix->element_size);
            }
        }
    }
    bool same = memcmp(now, snapshot, readable_bytes(matrix)) == 0;
    free(now);
    return same;
}

bool ofl_matrix_unchanged(const struct ofl_matrix *matrix, const char *snapshot)
{
    return memcmp(matrix->map, snapshot, readable_bytes(matrix)) == 0;
}

void ofl_set_scalar(union ofl_scalar *scalar, enum ofl_precision precision, ofl_value value)
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
