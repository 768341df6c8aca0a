/* What a trace record costs: ns for writing one, and for describing a call with three operands.
 *
 * Prints `write NS`, `describe NS`, `decide NS`, each the median over blocks.  The folder of the trace is the
 * first argument. */
#include "model/decide.h"
#include "model/estimate.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 41, CALLS = 1000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct ofl_machine machine;
static struct ofl_learning learning;
static struct ofl_situation situation = {.state = OFL_OK, .utilisation = -1};
static struct ofl_call call;
static struct ofl_trace_record record;

static void write_one(void)
{
    ofl_trace_write(&record);
}

static void describe_one(void)
{
    ofl_trace_describe(&call, &record);
}

static void decide_one(void)
{
    struct ofl_work work;
    struct ofl_prediction prediction;
    ofl_work_from_call(&call, &work);
    enum ofl_reason reason = ofl_decide(&work, &machine, &learning, &situation, 5, &prediction);
    ofl_learn(&learning, &work, &prediction, reason, 1e-3);
}

static void measure(const char *name, void (*work)(void))
{
    double block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        double started = now();
        for (int j = 0; j < CALLS; j++) {
            work();
        }
        block[i] = (now() - started) / CALLS;
    }
    qsort(block, BLOCKS, sizeof *block, by_value);
    printf("%s %.0f\n", name, block[BLOCKS / 2]);
}

int main(int argc, char **argv)
{
    static double matrix[3][200 * 200];
    char explanation[512];
    if (argc != 2 || !ofl_trace_start(argv[1], 5, explanation, sizeof explanation)) {
        fprintf(stderr, "usage: record FOLDER, a folder to write a trace to\n");
        return 2;
    }
    call = (struct ofl_call){.operation = OFL_OP_gemm, .precision = OFL_D, .transa = 'N', .transb = 'N'};
    call.m = call.n = call.k = 200;
    call.operands = 3;
    for (int i = 0; i < 3; i++) {
        call.operand[i] = (struct ofl_buffer){matrix[i], 200, 200, 200, 8, i < 2 ? OFL_READ : OFL_ADD, OFL_GENERAL};
    }
    struct ofl_cpu_properties cpu = {.cores = 16};
    ofl_machine_estimate(&cpu, NULL, &machine);
    ofl_trace_describe(&call, &record);
    measure("write", write_one);
    measure("describe", describe_one);
    measure("decide", decide_one);
    ofl_trace_stop();
    return 0;
}
