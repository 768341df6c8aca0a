/* Measuring points: calls with data of their own, some repetitions each, between two looks at whether the machine is
 * quiet. What is measured is told on standard output, in the lines that client.c explains. */
#ifndef OFL_CLI_CALIBRATE_MEASURE_H
#define OFL_CLI_CALIBRATE_MEASURE_H
#include "cli/calibrate/points.h"

#include <stddef.h>

/* What calls work on; it grows as they need.  Begins zeroed. */
struct ofl_calibration_memory {
    char *a, *b, *c; /* of `bytes` each */
    size_t bytes;
    char *work; /* of work_bytes */
    size_t work_bytes;
    int *pivots;
    char *tau;
    int order; /* that pivots and tau have room for */
};
void ofl_calibration_free(struct ofl_calibration_memory *memory);

/* How long a point may take: repetitions until so many seconds are spent, and at least so many. */
struct ofl_calibration_pace {
    double limit;
    int least;
};

/* Measures points, `count` at most OFL_CALIBRATION_CALLS, and tells them.  Those that take less than a tenth of a
 * second together share a look at the machine, which takes longer than they do; where it was disturbed they are
 * measured again. The seconds of the longest call; 0 where one cannot be measured here or was refused by LAPACK (such
 * calls end early): the rest is then left out. */
double ofl_calibration_measure(const struct ofl_calibration_call *calls, int count,
                               struct ofl_calibration_memory *memory, const struct ofl_calibration_pace *pace);
#endif
