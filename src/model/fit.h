/* Fitting a machine to measurements: copy lines and speed curves.
 *
 * Errors are relative throughout: a microsecond matters in a short copy and not in a long one. */
#ifndef OFL_MODEL_FIT_H
#define OFL_MODEL_FIT_H
#include "model/machine.h"

/* One measurement: repetitions of one call, already brought to one time. */
struct ofl_sample {
    double extent[3];
    double flops;
    double seconds;
};

/* One copy. */
struct ofl_copy_sample {
    double bytes, seconds;
};

/* Orders `values` and returns their lower quartile; 0 for none. */
double ofl_lower_quartile(double *values, size_t count);

/* The line with the smallest relative errors; false if the samples give none (fewer than two sizes). */
bool ofl_fit_line(const struct ofl_copy_sample *samples, size_t count, struct ofl_line *out);

/* A curve: its points are the samples that are cubes (extents within a tenth of each other), at most
 * OFL_CURVE_POINTS of them; its surfaces are fitted to the others and never negative.  Without a cube the
 * curve has no points and false is returned. */
bool ofl_fit_curve(const struct ofl_sample *samples, size_t count, struct ofl_curve *out);
#endif
