/* The built-in estimate: a machine from what the hardware says of itself, for when there is no
 * profile.  Deliberately modest about the device; learning corrects it. */
#ifndef OFL_MODEL_ESTIMATE_H
#define OFL_MODEL_ESTIMATE_H
#include "model/machine.h"

/* Zero means unknown; every field then has a conservative default. */
struct ofl_cpu_properties {
    int cores;               /* that this process may use */
    double frequency;        /* Hz */
    int vector_bytes;        /* of a vector register: 16, 32, 64 */
    double memory_bandwidth; /* bytes a second */
};

/* Fills the whole machine.  `device` may be NULL: a device about which nothing is known yet. */
void ofl_machine_estimate(const struct ofl_cpu_properties *cpu, const struct ofl_device_properties *device,
                          struct ofl_machine *out);

/* What a device's name tells of it (gpus.def): peaks and bandwidths, the rest 0.  False for an unknown name. */
bool ofl_device_guess(const char *name, struct ofl_device_properties *out);

/* Speed of an operation relative to gemm in one place, by experience; 0 < efficiency <= 1. */
double ofl_operation_efficiency(enum ofl_operation operation, enum ofl_place place);
#endif
