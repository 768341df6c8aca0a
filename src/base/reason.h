/* Texts of enum ofl_reason, from reasons.def. */
#ifndef OFL_BASE_REASON_H
#define OFL_BASE_REASON_H
#include <gpu-offload/device.h>

/* "device-memory": the word that traces, summaries and tests use.  Never NULL. */
const char *ofl_reason_name(enum ofl_reason reason);
/* Completes "it ran on the CPU because ...".  Never NULL. */
const char *ofl_reason_text(enum ofl_reason reason);
#endif
