/* How much later a program starts (and ends) with one command than with another.
 *
 *   startup TIMES COMMAND_A... -- COMMAND_B...
 *
 * Starts both in turn and waits for them.  Output: `A B DIFFERENCE`, medians in milliseconds. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double run(char **argv)
{
    struct timespec start, end;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) != 0 || waitpid(child, &status, 0) != child ||
        status != 0) {
        fprintf(stderr, "startup: %s failed\n", argv[0]);
        exit(1);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    posix_spawn_file_actions_destroy(&actions);
    return 1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec);
}

static int compare(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

int main(int argc, char **argv)
{
    int separator = 2;
    while (separator < argc && strcmp(argv[separator], "--") != 0) {
        separator++;
    }
    int times = argc > 1 ? atoi(argv[1]) : 0;
    if (times < 1 || separator >= argc - 1 || separator == 2) {
        fprintf(stderr, "usage: startup TIMES COMMAND_A... -- COMMAND_B...\n");
        return 2;
    }
    argv[separator] = NULL;
    double *a = calloc((size_t)times, sizeof *a), *b = calloc((size_t)times, sizeof *b),
           *difference = calloc((size_t)times, sizeof *difference);
    if (a == NULL || b == NULL || difference == NULL) {
        return 1;
    }
    for (int i = 0; i < times; i++) {
        a[i] = run(argv + 2);
        b[i] = run(argv + separator + 1);
        difference[i] = b[i] - a[i];
    }
    double apart = median(difference, times);
    printf("%.2f %.2f %.2f\n", median(a, times), median(b, times), apart);
    free(a);
    free(b);
    free(difference);
    return 0;
}
