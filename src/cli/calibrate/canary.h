/* Whether the machine is quiet: a small fixed job on every core, timed. */
#ifndef OFL_CLI_CALIBRATE_CANARY_H
#define OFL_CLI_CALIBRATE_CANARY_H
#include <stdbool.h>

/* Finds out how long the job takes when nothing disturbs it: the shortest of many. */
void ofl_canary_start(void);

/* Runs the job; true if it took what it should, within a quarter. */
bool ofl_canary_quiet(void);

/* Waits until the machine is quiet, at most `seconds`; true if it is. */
bool ofl_canary_wait(double seconds);
#endif
