/* Fitting a machine to measurements: copy lines and speed curves.
 *
 * Errors are relative throughout: a microsecond matters in a short copy and not in a long one. */
#ifndef OFL_MODEL_FIT_H
#define OFL_MODEL_FIT_H
#include "model/machine.h"

/* One measurement: repetitions of one call, already brought to one time. */
struct ofl_sample {
    struct ofl_work work; /* extents, flops, flags */
    double seconds;       /* to compute */
    double whole;         /* of the whole call, if that is more: errors are relative to it; 0: the same */
};

/* One copy. */
struct ofl_copy_sample {
    double bytes, seconds;
};

/* Orders `values` and returns their lower quartile; 0 for none. */
double ofl_lower_quartile(double *values, size_t count);

/* The same for the median; of an even number the mean of the two in the middle. */
double ofl_median(double *values, size_t count);

/* The line with the smallest relative errors; false if the samples give none (fewer than two sizes). */
bool ofl_fit_line(const struct ofl_copy_sample *samples, size_t count, struct ofl_line *out);

/* Two lines, the faster of which counts: one for small copies and one for large ones, which more threads make.  Where
 * one line does as well, bulk->rate is 0.  False if the samples give none. */
bool ofl_fit_lines(const struct ofl_copy_sample *samples, size_t count, struct ofl_line *small, struct ofl_line *bulk);

/* A curve, in this order: its points are the samples that are cubes (extents within a tenth of each other) without
 * flags, at most OFL_CURVE_POINTS of them; surfaces and edges are fitted to the other samples without flags and are
 * never negative; the factor of a flag is the median over the samples that have only this one; and what all that is off
 * by in each sample is kept (OFL_CURVE_NEAR of them).  Without a cube the curve has no points and false is returned. */
bool ofl_fit_curve(const struct ofl_sample *samples, size_t count, struct ofl_curve *out);

/* Keeps with the curve, instead of what it has, what predictions without it (seconds to compute) are off by in each
 * sample. */
void ofl_fit_near(const struct ofl_sample *samples, const double *predicted, size_t count, struct ofl_curve *out);
#endif
