/* How long a piece of work will take here and there. */
#ifndef OFL_MODEL_PREDICT_H
#define OFL_MODEL_PREDICT_H
#include "model/learning.h"

/* Seconds.  Where the machine knows nothing the CPU takes 0 and the device forever, so that nothing is
 * offloaded blindly. */
struct ofl_prediction {
    double cpu, device;                /* corrected by learning; device includes the wait */
    double cpu_claim;                  /* as the machine claims */
    double device_claim;               /* the same, without the wait */
    double wait;                       /* until the device is free */
    double copy_in, compute, copy_out; /* parts of device_claim, before overlap; copy_out without the commit */
    double commit;                     /* putting staged results into their place, after everything else */
    /* cpu - device if that is positive, else 0; residency_saving where that is the reason to offload. */
    double saving;
    double residency_saving; /* saving if the repeated operands were on the device; 0 if none */
    bool probe;              /* the work goes where it goes in order to measure */
};

/* R1's formulas, with residency, overlap, staging and waiting:
 *
 *   cpu    = flops / speed * correction
 *   device = wait + (pipeline(in, first, compute, out) + commit) * correction
 *
 * `commit` is what putting staged results into their place takes.  Of what the overlap saves against the sum, the
 * machine's share `serial` is lost.  `wait` that is negative counts as 0. */
void ofl_predict(const struct ofl_work *work, const struct ofl_machine *machine, const struct ofl_learning *learning,
                 double wait, struct ofl_prediction *out);

/* Seconds of three overlapping steps over `pieces` pieces: whichever of the three is the bottleneck takes all of its
 * time, before it comes what its first piece waits for, after it what its last piece is followed by.  `first` is the
 * share of `in` that the first piece needs, if that is more than one of `pieces`.  One piece gives the plain sum. */
double ofl_pipeline_seconds(double in, double first, double compute, double out, int pieces);

/* Seconds on the device of work that computes for `compute` seconds there, by the machine's copies, without waiting. */
double ofl_device_seconds(const struct ofl_work *work, const struct ofl_machine *machine, double compute);
/* Seconds to compute in a place, copies left out. */
double ofl_compute_seconds(const struct ofl_work *work, const struct ofl_machine *machine, enum ofl_place place);
#endif
