/* Parallel loops in `gpu-offload report`: a line for each kernel.
 *
 * Kernels are known by number within one trace; over several traces, by name. */
#include "cli/report_loops.h"
#include "base/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel {
    char *name;
    uint64_t launches;
    double seconds, compute, copying, waiting, bytes;
    struct kernel *next;
};

static struct kernel *kernels, **last = &kernels;

/* The names of the trace that is being read. */
static struct kernel **numbers;
static size_t number_count;

static struct kernel *kernel_named(const char *name)
{
    for (struct kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        if (strcmp(kernel->name, name) == 0) {
            return kernel;
        }
    }
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL || (kernel->name = strdup(name)) == NULL) {
        free(kernel);
        return NULL;
    }
    *last = kernel;
    last = &kernel->next;
    return kernel;
}

void ofl_report_next_trace(void)
{
    free(numbers);
    numbers = NULL;
    number_count = 0;
}

void ofl_report_kernel(uint64_t number, const char *name)
{
    enum { most = 1 << 20 }; /* a damaged record's number may be anything */
    if (number >= most) {
        return;
    }
    if (number >= number_count) {
        size_t count = 2 * (size_t)number + 64;
        struct kernel **grown = realloc(numbers, count * sizeof(struct kernel *));
        if (grown == NULL) {
            return;
        }
        memset(grown + number_count, 0, (count - number_count) * sizeof(struct kernel *));
        numbers = grown;
        number_count = count;
    }
    numbers[number] = kernel_named(name);
}

void ofl_report_loop(const struct ofl_trace_record *record)
{
    struct kernel *kernel = record->loop < number_count ? numbers[record->loop] : NULL;
    kernel = kernel != NULL ? kernel : kernel_named("(unknown)");
    if (kernel == NULL) {
        return;
    }
    kernel->launches++;
    kernel->seconds += 1e-9 * (double)record->duration;
    kernel->compute += record->compute;
    kernel->copying += record->copy_in + record->copy_out;
    kernel->waiting += record->wait;
    kernel->bytes += (double)record->bytes_in + (double)record->bytes_out;
}

void ofl_report_print_loops(void)
{
    if (kernels == NULL) {
        return;
    }
    printf("\n  %-32s %9s %11s %12s %11s %10s %10s\n", "parallel loop", "launches", "seconds", "computing, s",
           "copying, s", "waiting, s", "moved, GB");
    for (const struct kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        printf("  %-32s %9" PRIu64 " %11.4f %12.4f %11.4f %10.4f %10.3f\n", kernel->name, kernel->launches,
               kernel->seconds, kernel->compute, kernel->copying, kernel->waiting, 1e-9 * kernel->bytes);
    }
}
