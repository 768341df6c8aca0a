/* What the two programs of this bench share: the operations, their operands, clock, median. */
#ifndef BENCH_PRODUCTS_OPERANDS_H
#define BENCH_PRODUCTS_OPERANDS_H
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* All operands are n x n.  gemm: C = A B.  syrk: upper triangle of C = A A'.  trsm: B = A \ B with an upper
 * triangle A. */
enum operation { SGEMM, DGEMM, ZGEMM, DSYRK, DTRSM, OPERATIONS };

static const struct row {
    const char *name;
    bool single, complex_numbers;
    double flops;         /* times n cubed */
    double read, written; /* elements, times n squared: what is stored and needed */
    bool needs_b, updates_b;
} rows[OPERATIONS] = {
    [SGEMM] = {"sgemm", true, false, 2, 2, 1, true, false},
    [DGEMM] = {"dgemm", false, false, 2, 2, 1, true, false},
    [ZGEMM] = {"zgemm", false, true, 8, 2, 1, true, false},
    [DSYRK] = {"dsyrk", false, false, 1, 1, 0.5, false, false},
    [DTRSM] = {"dtrsm", false, false, 1, 1.5, 1, false, true},
};

struct operands {
    int n;
    void *a, *b, *c;
};

static inline enum operation operation_named(const char *name)
{
    int i = 0;
    while (i < OPERATIONS && strcmp(rows[i].name, name) != 0) {
        i++;
    }
    return (enum operation)i;
}

/* Of an element. */
static inline size_t size_of(enum operation operation)
{
    return (rows[operation].single ? sizeof(float) : sizeof(double)) * (rows[operation].complex_numbers ? 2 : 1);
}

static inline size_t bytes_of(enum operation operation, int n)
{
    return (size_t)n * (size_t)n * size_of(operation);
}

static inline void *get_matrix(enum operation operation, int n)
{
    void *matrix = malloc(bytes_of(operation, n));
    if (matrix == NULL) {
        fprintf(stderr, "no memory for a matrix of %d x %d\n", n, n);
        exit(1);
    }
    return matrix;
}

static inline void *make_matrix(enum operation operation, int n, uint64_t seed)
{
    void *matrix = get_matrix(operation, n);
    size_t count = (size_t)n * (size_t)n * (rows[operation].complex_numbers ? 2 : 1);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double value = (double)(seed >> 40) / 16777216.0 - 0.5;
        if (rows[operation].single) {
            ((float *)matrix)[i] = (float)value;
        } else {
            ((double *)matrix)[i] = value;
        }
    }
    for (int i = 0; operation == DTRSM && i < n; i++) { /* a triangle that is far from singular */
        ((double *)matrix)[(size_t)i * (size_t)(n + 1)] += n;
    }
    return matrix;
}

/* New operands.  fresh: nothing has been written to the result's memory yet. */
static inline struct operands make_operands(enum operation operation, int n, int round, bool fresh)
{
    uint64_t seed = 3 * (uint64_t)round;
    const struct row *row = &rows[operation];
    mallopt(M_MMAP_THRESHOLD, 1 << 20); /* free gives memory back, so that new memory is new */
    struct operands operands = {n, make_matrix(operation, n, seed + 1), NULL, NULL};
    if (row->needs_b || row->updates_b) {
        operands.b = make_matrix(operation, n, seed + 2);
    }
    if (!row->updates_b) {
        operands.c = fresh ? calloc(1, bytes_of(operation, n)) : get_matrix(operation, n);
        if (operands.c == NULL) {
            exit(1);
        }
    }
    if (operands.c != NULL && !fresh) {
        memset(operands.c, 1, bytes_of(operation, n)); /* of malloc and zeros compilers make calloc: no pages at all */
    }
    return operands;
}

static inline void free_operands(struct operands *operands)
{
    free(operands->a);
    free(operands->b);
    free(operands->c);
}

/* Adds to a weighted sum of the result, and to the sum of its absolute values. */
static inline void add_checksum(enum operation operation, const struct operands *operands, double *sum, double *size)
{
    const void *result = rows[operation].updates_b ? operands->b : operands->c;
    size_t count = bytes_of(operation, operands->n) / (rows[operation].single ? sizeof(float) : sizeof(double));
    for (size_t i = 0; i < count; i += 97) {
        double value = rows[operation].single ? (double)((const float *)result)[i] : ((const double *)result)[i];
        *sum += value * (double)(i % 31);
        *size += (value < 0 ? -value : value) * (double)(i % 31);
    }
}

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline int compare_times(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static inline double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_times);
    return values[count / 2];
}
#endif
