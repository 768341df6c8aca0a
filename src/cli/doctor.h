/* The parts of `gpu-offload doctor` and the way it prints. */
#ifndef OFL_CLI_DOCTOR_H
#define OFL_CLI_DOCTOR_H
#include <stdbool.h>

/* A heading, a line under it, and what to do about what the line says. */
void ofl_doctor_heading(const char *format, ...) __attribute__((format(printf, 1, 2)));
void ofl_doctor_line(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ofl_doctor_advice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* CPU, kernel, BLAS libraries of the dynamic linker. */
void ofl_doctor_machine(void);
/* GPU, driver, CUDA libraries, backends.  Returns whether the device that `device` names is usable. */
bool ofl_doctor_device(const char *device);
/* The program: returns whether any call of it can be intercepted. */
bool ofl_doctor_program(char **argv);
#endif
