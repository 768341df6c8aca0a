/* Records of considered calls; with tracing on, every call of the program is considered. */
#ifndef OFL_INTERCEPT_TRACING_H
#define OFL_INTERCEPT_TRACING_H
#include "device/device.h"
#include "intercept/wrapper.h"

/* Starts tracing if the setting asks for it; says on standard error why it cannot. */
void ofl_tracing_start(void);

/* Before the call runs: describes it in visit->record if tracing is on.  `reason` is why the CPU library must have
 * it, if it must; then its operands may be anything and are not looked at. */
void ofl_tracing_begin(struct ofl_visit *visit, const void *caller, enum ofl_reason reason);

/* After it ran: `started` and `finished` are seconds on CLOCK_MONOTONIC; `times` is NULL unless the device ran it. */
void ofl_tracing_end(struct ofl_visit *visit, double started, double finished, const struct ofl_device_times *times);
#endif
