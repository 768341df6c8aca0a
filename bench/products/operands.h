/* What the two programs of this bench share: operands, clock, median. */
#ifndef BENCH_PRODUCTS_OPERANDS_H
#define BENCH_PRODUCTS_OPERANDS_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct operands {
    int n;
    double *a, *b, *c;
};

static inline double *make_matrix(int n, uint64_t seed)
{
    size_t count = (size_t)n * (size_t)n;
    double *matrix = malloc(count * sizeof *matrix);
    if (matrix == NULL) {
        fprintf(stderr, "no memory for a matrix of %d x %d\n", n, n);
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        matrix[i] = (double)(seed >> 40) / 16777216.0 - 0.5;
    }
    return matrix;
}

static inline struct operands make_operands(int n, int round)
{
    uint64_t seed = 3 * (uint64_t)round;
    return (struct operands){n, make_matrix(n, seed + 1), make_matrix(n, seed + 2), make_matrix(n, seed + 3)};
}

static inline void free_operands(struct operands *operands)
{
    free(operands->a);
    free(operands->b);
    free(operands->c);
}

static inline double checksum(const struct operands *operands)
{
    size_t count = (size_t)operands->n * (size_t)operands->n;
    double sum = 0;
    for (size_t i = 0; i < count; i += 97) {
        sum += operands->c[i] * (double)(i % 31);
    }
    return sum;
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
