/* Waiting for what another thread will do soon, without being woken. */
#ifndef OFL_DEVICE_REST_H
#define OFL_DEVICE_REST_H

/* Waking a thread takes the one who wakes 30 microseconds on a virtual machine, more than the work that it
 * is woken for.  So who waits looks by itself: a moment awake, then after naps, which become longer. */
struct ofl_rest {
    double since; /* ofl_clock, of the last time that there was something to do */
};

/* From now on, since something was done or is about to begin. */
void ofl_rest_begin(struct ofl_rest *rest);

/* Waits a little, at most so many seconds.  Returns the seconds since the begin. */
double ofl_rest_a_little(const struct ofl_rest *rest, double longest_nap);

/* A hint to the processor that somebody else has to go on; some tens of nanoseconds. */
void ofl_relax(void);
#endif
