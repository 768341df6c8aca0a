/* The parts of `gpu-offload calibrate`. */
#ifndef OFL_CLI_CALIBRATE_CALIBRATE_H
#define OFL_CLI_CALIBRATE_CALIBRATE_H
#include "model/profile.h"

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
    char folder[256]; /* of the trace */
    struct ofl_calibration_point *point;
    size_t points, disturbed;
    char library[OFL_PROFILE_KEY_SIZE]; /* the BLAS that was mapped; empty if none was seen */
};

/* Fits the machine to the traces of both passes.  False with an explanation if a pass recorded nothing that
 * can be used, or the device did not run. */
bool ofl_calibration_fit(const struct ofl_calibration_pass *cpu, const struct ofl_calibration_pass *device,
                         struct ofl_machine *out, char *explanation, size_t size);
#endif
