/* What the kernels of traced programs took on the device, copies left out: traced FOLDER
 *
 * Output: a line `KERNEL LAUNCHES BEST MEDIAN` for each, seconds. */
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { most_kernels = 64, most_launches = 100000 };

static struct {
    char name[216];
    float *seconds;
    size_t count;
} kernels[most_kernels];

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void read_file(const char *path)
{
    char explanation[1024];
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    struct ofl_trace_record record;
    struct ofl_trace_text text;
    if (reader == NULL) {
        fprintf(stderr, "traced: %s\n", explanation);
        exit(1);
    }
    while (ofl_trace_next(reader, &record)) {
        if (record.kind == OFL_TRACE_KERNEL && ofl_trace_text_of(&record, &text) && text.first < most_kernels) {
            snprintf(kernels[text.first].name, sizeof kernels[0].name, "%s", text.text);
        } else if (record.kind == OFL_TRACE_LOOP && record.loop < most_kernels) {
            if (kernels[record.loop].seconds == NULL) {
                kernels[record.loop].seconds = calloc(most_launches, sizeof(float));
            }
            if (kernels[record.loop].seconds != NULL && kernels[record.loop].count < most_launches) {
                kernels[record.loop].seconds[kernels[record.loop].count++] = record.compute;
            }
        }
    }
    ofl_trace_close(reader);
}

int main(int argc, char **argv)
{
    char explanation[1024];
    size_t count;
    char **paths = argc == 2 ? ofl_trace_list(argv[1], &count, explanation, sizeof explanation) : NULL;
    if (paths == NULL) {
        fprintf(stderr, "traced: %s\n", argc == 2 ? explanation : "usage: traced FOLDER");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        read_file(paths[i]);
    }
    for (int i = 0; i < most_kernels; i++) {
        size_t launches = kernels[i].count;
        if (launches > 0) {
            qsort(kernels[i].seconds, launches, sizeof(float), compare);
            printf("%s %zu %.9f %.9f\n", kernels[i].name, launches, (double)kernels[i].seconds[0],
                   (double)kernels[i].seconds[launches / 2]);
        }
    }
    ofl_trace_free_list(paths, count);
    return 0;
}
