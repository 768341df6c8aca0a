/* What this machine can do: its profile if there is one, else the built-in estimate. */
#ifndef OFL_INTERCEPT_MACHINE_H
#define OFL_INTERCEPT_MACHINE_H
#include "model/machine.h"

/* The machine as known so far; made at the first call.  Any thread. */
const struct ofl_machine *ofl_machine(void);

/* Starts the device and, in an estimated machine, replaces the guess about it by its properties.  Says
 * once on standard error why an explicitly named device could not be started. */
enum ofl_reason ofl_start_device(void);
#endif
