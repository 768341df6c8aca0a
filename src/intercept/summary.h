/* What ran where, at the end of the process. */
#ifndef OFL_INTERCEPT_SUMMARY_H
#define OFL_INTERCEPT_SUMMARY_H
#include <stdbool.h>

/* Remembers which process the settings were meant for; early. */
void ofl_summary_start(void);

/* In a forked child. */
void ofl_summary_forked(void);

/* Writes what the settings ask for: the file, the table.  A failure is one line on standard error. */
void ofl_summary_write(void);
#endif
