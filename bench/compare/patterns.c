/* A program's ways of calling dgemm, by the BLAS library:
 *
 *     patterns new N TIMES           operands rewritten in place before each call
 *     patterns again N TIMES         the same values written into them before each call
 *     patterns same N TIMES          operands unchanged between calls
 *     patterns shared N THIN TIMES   products that share A, N x N; B and C have THIN columns and B is new
 *     patterns threads N THREADS TIMES
 *
 * Output: the median time of a call in milliseconds (the first three, which may start a device and find out that
 * operands repeat, are left out; of the first pattern only the first), the time of everything in seconds, rewriting
 * included, and a checksum.  threads: calls a second instead of the median. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double *matrix(size_t rows, size_t columns, int seed)
{
    double *values = malloc(rows * columns * sizeof *values);
    if (values == NULL) {
        fprintf(stderr, "patterns: no memory\n");
        exit(1);
    }
    for (size_t i = 0; i < rows * columns; i++) {
        values[i] = (double)((i * 7 + (size_t)seed) % 11) - 5;
    }
    return values;
}

static void rewrite(double *values, size_t count, int seed)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)((i + (size_t)seed) % 13) - 6;
    }
}

static void product(int n, int columns, const double *a, const double *b, double *c)
{
    const double one = 1, zero = 0;
    dgemm_("N", "N", &n, &columns, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static int in_turn(const char *pattern, int n, int columns, int times)
{
    bool new = strcmp(pattern, "new") == 0, again = strcmp(pattern, "again") == 0;
    bool shared = strcmp(pattern, "shared") == 0;
    int left_out = new ? 1 : 3;
    size_t square = (size_t)n * (size_t)n, thin = (size_t)n * (size_t)columns;
    double *a = matrix((size_t)n, (size_t)n, 1), *b = matrix((size_t)n, (size_t)columns, 2);
    double *c = matrix((size_t)n, (size_t)columns, 3), *seconds = calloc((size_t)(times + left_out), sizeof *seconds);
    double sum = 0, begin = now();
    for (int i = 0; i < times + left_out && seconds != NULL; i++) {
        if (new || again) {
            rewrite(a, square, new ? i : 0);
        }
        if (new || again || shared) {
            rewrite(b, thin, again ? 1 : i + 1);
        }
        double start = now();
        product(n, columns, a, b, c);
        seconds[i] = now() - start;
        sum += c[(size_t)i * 31 % thin] + c[thin - 1];
    }
    double all = now() - begin;
    printf("%.3f %.3f %.10e\n", 1e3 * median(seconds + left_out, times), all, sum);
    free(a);
    free(b);
    free(c);
    free(seconds);
    return 0;
}

static int side, rounds;
static pthread_barrier_t barrier;

static void *call(void *seed)
{
    size_t square = (size_t)side * (size_t)side;
    double *a = matrix((size_t)side, (size_t)side, (int)(size_t)seed), *b = matrix((size_t)side, (size_t)side, 2);
    double *c = matrix((size_t)side, (size_t)side, 3);
    product(side, side, a, b, c);
    product(side, side, a, b, c);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < rounds; i++) {
        a[(size_t)i * 77 % square] = i;
        product(side, side, a, b, c);
    }
    pthread_barrier_wait(&barrier);
    free(a);
    free(b);
    free(c);
    return NULL;
}

static int at_once(int threads)
{
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads && thread != NULL; i++) {
        pthread_create(&thread[i], NULL, call, (void *)(size_t)(i + 1));
    }
    pthread_barrier_wait(&barrier);
    double begin = now();
    pthread_barrier_wait(&barrier);
    double seconds = now() - begin;
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    printf("%.1f %.3f 0\n", threads * rounds / seconds, seconds);
    free(thread);
    return 0;
}

int main(int argc, char **argv)
{
    int number[3] = {0, 0, 0};
    for (int i = 0; i < 3 && i + 2 < argc; i++) {
        number[i] = atoi(argv[i + 2]);
    }
    const char *pattern = argc > 1 ? argv[1] : "";
    bool three = strcmp(pattern, "shared") == 0 || strcmp(pattern, "threads") == 0;
    if (number[0] < 1 || number[1] < 1 || (three && number[2] < 1)) {
        fprintf(stderr, "usage: patterns new|again|same N TIMES | shared N THIN TIMES | threads N THREADS TIMES\n");
        return 2;
    }
    if (strcmp(pattern, "threads") == 0) {
        side = number[0];
        rounds = number[2];
        return at_once(number[1]);
    }
    return in_turn(pattern, number[0], three ? number[1] : number[0], three ? number[2] : number[1]);
}
