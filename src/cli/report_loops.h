/* Parallel loops in `gpu-offload report`. */
#ifndef OFL_CLI_REPORT_LOOPS_H
#define OFL_CLI_REPORT_LOOPS_H
#include "trace/record.h"

/* The records that follow are of another trace. */
void ofl_report_next_trace(void);

/* Loop `number` of the trace is called `name`. */
void ofl_report_kernel(uint64_t number, const char *name);

/* One launch. */
void ofl_report_loop(const struct ofl_trace_record *record);

/* Prints the table, if there were loops. */
void ofl_report_print_loops(void);
#endif
