/* The parts of `gpu-offload estimate`. */
#ifndef OFL_CLI_ESTIMATE_H
#define OFL_CLI_ESTIMATE_H
#include "model/machine.h"
#include "trace/record.h"

#include <stdbool.h>

/* The work of a recorded call. */
void ofl_estimate_work(const struct ofl_trace_record *record, struct ofl_work *out);

/* Prints, for each operation and place, how far the machine's predictions are from the times in the traces: the
 * median, the 90th percentile and the largest of the relative errors.  Repetitions of a call, one after the other,
 * count as one, at their lower quartile; failed calls do not.  With `calls` a line for each comes first.  False if no
 * trace could be read. */
bool ofl_estimate_check(char **paths, size_t count, const struct ofl_machine *machine, bool calls);
#endif
