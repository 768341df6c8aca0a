/* The level: how much predicted gain is required, and how considerate we are of other users of the
 * device.  One table, from 1 (only large gains) to 10 (even a small loss). */
#ifndef OFL_MODEL_LEVEL_H
#define OFL_MODEL_LEVEL_H

enum { OFL_LEVEL_MIN = 1, OFL_LEVEL_DEFAULT = 5, OFL_LEVEL_MAX = 10 };

struct ofl_level {
    double speedup;      /* required: predicted CPU time / predicted device time */
    double utilisation;  /* others' load above which we stay away, 0..1 */
    double reserve;      /* share of the device's memory that is always left free */
    double start_factor; /* the device starts once missed savings reach this times its start-up cost */
};

/* The row of a level; levels outside 1..10 count as the nearest. */
const struct ofl_level *ofl_level(int level);
#endif
