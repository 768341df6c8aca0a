/* What the two programs of this bench share: the routines, their operands, whether the results are right; clock,
 * median.
 *
 * Matrices are n x n, those of gels n x n/2; NRHS right-hand sides; triangles are lower ones.  Operands are made from a
 * seed, so that a second copy of them can be had to check results against.  Checks cost n * n operations: what the
 * results make of one vector is compared with what the operands make of it. */
#ifndef BENCH_FACTORISATIONS_PROBLEM_H
#define BENCH_FACTORISATIONS_PROBLEM_H
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NRHS = 512 };

enum routine { GETRF, POTRF, GEQRF, GESV, GETRS, POTRS, GELS, GETRI, ROUTINES };

static const struct row {
    const char *name;
    bool lu, cholesky; /* what the matrix is factored into */
    bool factored;     /* it comes as factors */
    bool changes_a, has_b;
} rows[ROUTINES] = {
    [GETRF] = {"getrf", true, false, false, true, false},  [POTRF] = {"potrf", false, true, false, true, false},
    [GEQRF] = {"geqrf", false, false, false, true, false}, [GESV] = {"gesv", true, false, false, true, true},
    [GETRS] = {"getrs", true, false, true, false, true},   [POTRS] = {"potrs", false, true, true, false, true},
    [GELS] = {"gels", false, false, false, true, true},    [GETRI] = {"getri", true, false, true, true, false},
};

typedef double _Complex value;

struct problem {
    enum routine routine;
    char precision; /* one of sdcz */
    int m, n, nrhs; /* A is m x n, B is m x nrhs */
    size_t size;    /* of an element */
    void *a, *b, *tau;
    int *pivots;
};

static inline void *get_memory(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

static inline bool is_complex(char precision)
{
    return precision == 'c' || precision == 'z';
}

static inline bool is_single(char precision)
{
    return precision == 's' || precision == 'c';
}

/* dgetrf and the like; false for another name. */
static inline bool problem_named(const char *name, int n, struct problem *problem)
{
    int i = 0;
    while (i < ROUTINES && (name[0] == '\0' || strcmp(rows[i].name, name + 1) != 0)) {
        i++;
    }
    if (i == ROUTINES || strchr("sdcz", name[0]) == NULL || n < 2) {
        return false;
    }
    *problem = (struct problem){.routine = (enum routine)i, .precision = name[0], .m = n, .n = i == GELS ? n / 2 : n};
    problem->nrhs = rows[i].has_b ? NRHS : 0;
    problem->size = (is_single(name[0]) ? sizeof(float) : sizeof(double)) * (is_complex(name[0]) ? 2 : 1);
    return true;
}

static inline size_t a_bytes(const struct problem *p)
{
    return (size_t)p->m * (size_t)p->n * p->size;
}

static inline size_t b_bytes(const struct problem *p)
{
    return (size_t)p->m * (size_t)p->nrhs * p->size;
}

static inline value get(const struct problem *p, const void *matrix, int i, int j)
{
    size_t at = (size_t)j * (size_t)p->m + (size_t)i;
    switch (p->precision) {
    case 's':
        return (double)((const float *)matrix)[at];
    case 'd':
        return ((const double *)matrix)[at];
    case 'c':
        return CMPLX((double)((const float *)matrix)[2 * at], (double)((const float *)matrix)[2 * at + 1]);
    default:
        return CMPLX(((const double *)matrix)[2 * at], ((const double *)matrix)[2 * at + 1]);
    }
}

static inline void set_real(const struct problem *p, void *matrix, int i, double real)
{
    size_t parts = is_complex(p->precision) ? 2 : 1, at = parts * (size_t)i * ((size_t)p->m + 1);
    for (size_t part = 0; part < parts; part++) {
        if (is_single(p->precision)) {
            ((float *)matrix)[at + part] = part == 0 ? (float)real : 0;
        } else {
            ((double *)matrix)[at + part] = part == 0 ? real : 0;
        }
    }
}

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 40;
}

static inline void fill(const struct problem *p, void *matrix, size_t bytes, double scale, uint64_t seed)
{
    size_t count = bytes / (is_single(p->precision) ? sizeof(float) : sizeof(double));
    for (size_t i = 0; i < count; i++) {
        double number = scale * ((double)next_random(&seed) / 16777216.0 - 0.5);
        if (is_single(p->precision)) {
            ((float *)matrix)[i] = (float)number;
        } else {
            ((double *)matrix)[i] = number;
        }
    }
}

/* Operands of one call: random; definite ones with a heavy diagonal, factors well conditioned. */
static inline void make_operands(struct problem *p, uint64_t seed)
{
    const struct row *row = &rows[p->routine];
    uint64_t state = seed + 3;
    p->a = get_memory(a_bytes(p));
    p->b = get_memory(b_bytes(p));
    p->tau = get_memory((size_t)p->n * p->size);
    p->pivots = get_memory((size_t)p->n * sizeof *p->pivots);
    fill(p, p->a, a_bytes(p), row->factored ? 1 / sqrt(p->n) : 1, seed + 1);
    fill(p, p->b, b_bytes(p), 1, seed + 2);
    for (int i = 0; i < p->n; i++) {
        p->pivots[i] = i + 1 + (int)(next_random(&state) % (uint64_t)(p->n - i));
        if (row->cholesky || row->factored) {
            set_real(p, p->a, i, row->factored ? 2 : p->n);
        }
    }
}

static inline void free_operands(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->tau);
    free(p->pivots);
}

/* ---- whether results are right ---- */

/* y = M x of a part of a matrix, and in `sizes` the sums of absolute values where it is not NULL. */
enum part { WHOLE, LOWER_UNIT, UPPER, LOWER_ADJOINT, LOWER, HERMITIAN };

static inline void multiply(const struct problem *p, const void *matrix, enum part part, const value *x, value *y,
                            double *sizes)
{
    memset(y, 0, (size_t)p->m * sizeof *y);
    for (int j = 0; j < p->n; j++) {
        for (int i = 0; i < p->m; i++) {
            value element = get(p, matrix, i, j);
            if (i == j && part == LOWER_UNIT) {
                element = 1;
            }
            if (part == LOWER_ADJOINT && i >= j) {
                y[j] += conj(element) * x[i];
            } else if (part == WHOLE || (part == UPPER && i <= j) || (part != UPPER && i >= j)) {
                y[i] += element * x[j];
            }
            if (part == HERMITIAN && i > j) {
                y[j] += conj(element) * x[i];
            }
            if (sizes != NULL) {
                sizes[i] += cabs(element) * cabs(x[j]);
            }
        }
    }
}

static inline void exchange(const struct problem *p, value *x)
{
    for (int i = p->n - 1; i >= 0; i--) {
        value kept = x[i];
        x[i] = x[p->pivots[i] - 1];
        x[p->pivots[i] - 1] = kept;
    }
}

/* x becomes Q x. */
static inline void reflect(const struct problem *p, value *x)
{
    for (int k = p->n - 1; k >= 0; k--) {
        struct problem column = *p;
        column.m = 1; /* tau is a row of elements */
        value sum = x[k], tau = get(&column, p->tau, 0, k);
        for (int i = k + 1; i < p->m; i++) {
            sum += conj(get(p, p->a, i, k)) * x[i];
        }
        x[k] -= tau * sum;
        for (int i = k + 1; i < p->m; i++) {
            x[i] -= tau * sum * get(p, p->a, i, k);
        }
    }
}

/* The matrix times x from its factors, in place. */
static inline void multiply_factors(const struct problem *p, const void *factors, value *x)
{
    value *y = get_memory((size_t)p->m * sizeof *y);
    multiply(p, factors, rows[p->routine].lu || p->routine == GEQRF ? UPPER : LOWER_ADJOINT, x, y, NULL);
    if (p->routine == GEQRF) {
        memcpy(x, y, (size_t)p->m * sizeof *y);
        reflect(p, x);
    } else {
        multiply(p, factors, rows[p->routine].lu ? LOWER_UNIT : LOWER, y, x, NULL);
    }
    if (rows[p->routine].lu) {
        exchange(p, x);
    }
    free(y);
}

/* A' (A x - b), which is zero for the solution of a least-squares problem. */
static inline void project(const struct problem *before, value *residual)
{
    value *sums = calloc((size_t)before->m, sizeof *sums);
    for (int j = 0; sums != NULL && j < before->n; j++) {
        for (int i = 0; i < before->m; i++) {
            sums[j] += conj(get(before, before->a, i, j)) * residual[i];
        }
    }
    memcpy(residual, sums, (size_t)before->m * sizeof *sums);
    free(sums);
}

/* How far the results are off, in units of n times the precision times what was summed: below 30 is right.  `after` is
 * the problem when it has been done; another copy of its operands is made here.  NaN where something is no number. */
static inline double error_of(const struct problem *after, uint64_t seed)
{
    struct problem before = *after;
    make_operands(&before, seed);
    const struct row *row = &rows[after->routine];
    size_t count = (size_t)after->m;
    value *x = get_memory(count * sizeof *x), *left = get_memory(count * sizeof *left),
          *right = calloc(count, sizeof *right);
    double *sizes = calloc(count, sizeof *sizes), error = 0, size = 0;
    for (int i = 0; i < after->m; i++) {
        x[i] = row->has_b ? get(after, after->b, i, 0) : 1 + (double)(i % 7) / 8;
    }
    if (after->routine == GETRI) { /* A (X x) = x */
        multiply(after, after->a, WHOLE, x, left, sizes);
        multiply_factors(&before, before.a, left);
        memcpy(right, x, count * sizeof *x);
    } else {
        multiply(&before, before.a, row->cholesky ? HERMITIAN : WHOLE, x, right, sizes);
        memcpy(left, x, count * sizeof *x);
        if (row->factored) {
            multiply_factors(&before, before.a, left);
        } else if (!row->has_b) {
            multiply_factors(after, after->a, left);
        }
    }
    for (int i = 0; row->has_b && i < after->m; i++) {
        left[i] = row->factored ? left[i] : right[i]; /* A x */
        right[i] = get(&before, before.b, i, 0);
    }
    for (int i = 0; i < after->m; i++) {
        left[i] -= right[i];
        size = fmax(size, sizes[i] + cabs(right[i]));
    }
    if (after->routine == GELS) {
        project(&before, left);
        size *= after->m;
    }
    for (int i = 0; i < after->m; i++) {
        error = isnan(cabs(left[i])) ? NAN : fmax(error, cabs(left[i]));
        if (isnan(error)) {
            break;
        }
    }
    free(x);
    free(left);
    free(right);
    free(sizes);
    free_operands(&before);
    return error / (size * after->m * (is_single(after->precision) ? (double)FLT_EPSILON : DBL_EPSILON));
}

/* ---- clock, median ---- */

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
