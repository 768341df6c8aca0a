/* Matrices for tests: guarded on all sides, in any precision. */
#ifndef OFL_TESTS_OPERATIONS_MATRIX_H
#define OFL_TESTS_OPERATIONS_MATRIX_H
#include <gpu-offload/device.h>

#include <complex.h>

typedef long double _Complex ofl_value;

/* The last element of the last column ends at a page that cannot be read.  What lies before the
 * first element and between rows and ld holds a pattern. */
struct ofl_matrix {
    enum ofl_precision precision;
    int64_t rows, columns, ld;
    size_t element_size;
    char *first; /* element (0, 0) */
    char *map;
    size_t map_bytes;
};

size_t ofl_element_size(enum ofl_precision precision);
bool ofl_is_complex(enum ofl_precision precision);
void ofl_set_scalar(union ofl_scalar *scalar, enum ofl_precision precision, ofl_value value);

/* Exits with a message where there is no memory. */
struct ofl_matrix ofl_matrix_new(enum ofl_precision precision, int64_t rows, int64_t columns, int64_t ld);
void ofl_matrix_free(struct ofl_matrix *matrix);
/* The whole memory of a matrix, guards included, to be compared later. */
char *ofl_matrix_snapshot(const struct ofl_matrix *matrix);
/* Puts a snapshot of this matrix, or of one of the same shape, into its memory. */
void ofl_matrix_restore(struct ofl_matrix *matrix, const char *snapshot);

ofl_value ofl_matrix_get(const struct ofl_matrix *matrix, int64_t i, int64_t j);
void ofl_matrix_set(struct ofl_matrix *matrix, int64_t i, int64_t j, ofl_value value);

/* Whether element (i, j) belongs to a region. */
bool ofl_in_region(enum ofl_region region, int64_t i, int64_t j);

/* Whether everything outside the region is bit for bit as in the snapshot. */
bool ofl_matrix_unchanged_outside(const struct ofl_matrix *matrix, enum ofl_region region, const char *snapshot);
/* Whether everything is. */
bool ofl_matrix_unchanged(const struct ofl_matrix *matrix, const char *snapshot);
#endif
