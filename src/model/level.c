/* The level table of R1, section 3. */
#include "model/level.h"

static const struct ofl_level levels[OFL_LEVEL_MAX] = {
    /*     speedup  utilisation  reserve  start */
    /*  1 */ {3.00, 0.30, 0.50, 3.00},
    /*  2 */ {2.50, 0.37, 0.45, 2.75},
    /*  3 */ {2.00, 0.44, 0.40, 2.50},
    /*  4 */ {1.60, 0.52, 0.35, 2.25},
    /*  5 */ {1.30, 0.59, 0.30, 2.00},
    /*  6 */ {1.20, 0.66, 0.25, 1.75},
    /*  7 */ {1.10, 0.73, 0.20, 1.50},
    /*  8 */ {1.05, 0.81, 0.15, 1.25},
    /*  9 */ {1.00, 0.88, 0.10, 1.00},
    /* 10 */ {0.90, 0.95, 0.05, 0.75},
};

const struct ofl_level *ofl_level(int level)
{
    if (level < OFL_LEVEL_MIN) {
        level = OFL_LEVEL_MIN;
    }
    if (level > OFL_LEVEL_MAX) {
        level = OFL_LEVEL_MAX;
    }
    return &levels[level - 1];
}
