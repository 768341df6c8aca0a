/* The clock that every duration here is measured with.  Header only: the calibration client, an ordinary
 * program that links none of our libraries, uses it too. */
#ifndef OFL_BASE_CLOCK_H
#define OFL_BASE_CLOCK_H
#include <time.h>

/* Seconds since some moment in the past; never goes back, whatever is done to the time of day. */
static inline double ofl_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
#endif
