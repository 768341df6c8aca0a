/* The parts of `gpu-offload calibrate`. */
#ifndef OFL_CLI_CALIBRATE_CALIBRATE_H
#define OFL_CLI_CALIBRATE_CALIBRATE_H
#include "model/fit.h"
#include "model/profile.h"

#include <limits.h>
#include <stdint.h>

/* What the client says of one point, calibrate/client.c. */
struct ofl_calibration_point {
    enum ofl_operation operation;
    enum ofl_precision precision;
    int64_t m, n, k;
    uint64_t begin, end; /* ns, CLOCK_MONOTONIC */
    bool quiet;
};

struct ofl_calibration_pass {
    char folder[PATH_MAX]; /* of the traces */
    struct ofl_calibration_point *point;
    size_t points, disturbed;
    char library[OFL_PROFILE_KEY_SIZE]; /* the BLAS that was mapped; empty if none was seen */
    char skip[2048]; /* routines, with commas between: those that stopped a client, and finished ones */
};

/* Adds a point, "ROUTINE M N K BEGIN END QUIET"; false if that is none, or without memory. */
bool ofl_calibration_add_point(struct ofl_calibration_pass *pass, const char *values);

/* What a pass may take, and on what it runs. */
struct ofl_calibration_effort {
    const char *device; /* NULL: everything on the CPU */
    double seconds;
    int largest;  /* order */
    bool coarse;  /* every second order only */
    int sweeps;   /* after that of the cubes: how often everything is measured, if there is time */
    double later; /* seconds that the passes after this one take, for the time left that is shown */
};

/* Runs the client, and a new one where a routine stopped it, until the time is spent.  False after a message, or if
 * it was interrupted.  *pass: its folder is there, everything else is set. */
bool ofl_calibration_run(const struct ofl_calibration_effort *effort, struct ofl_calibration_pass *pass)
    __attribute__((nonnull));

/* Copies between the device and page-locked memory. */
struct ofl_calibration_copies {
    struct ofl_copy_sample sample[OFL_DIRECTION_COUNT][16];
    size_t count[OFL_DIRECTION_COUNT];
};

/* Starts the device and measures them, in a process of its own.  What cannot be measured stays 0.  False after a
 * message if the device does not start. */
bool ofl_calibration_copies(const char *device, struct ofl_calibration_copies *out);

/* Fits the machine to the traces of both passes.  False with an explanation if a pass recorded nothing that
 * can be used, or the device did not run. */
bool ofl_calibration_fit(const struct ofl_calibration_pass *cpu, const struct ofl_calibration_pass *device,
                         const struct ofl_calibration_copies *copies, struct ofl_machine *out, char *explanation,
                         size_t size);
#endif
