/* The end of the process: see ending.c. */
#ifndef OFL_INTERCEPT_ENDING_H
#define OFL_INTERCEPT_ENDING_H

void ofl_ending_start(void);

/* The process ends: writes what is to be written, once. */
void ofl_ending(void);

/* In a forked child: its counts are its own. */
void ofl_ending_forked(void);
#endif
