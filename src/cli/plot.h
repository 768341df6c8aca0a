/* Speed curves as pictures: for a terminal and as SVG. */
#ifndef OFL_CLI_PLOT_H
#define OFL_CLI_PLOT_H
#include "model/machine.h"

#include <stdio.h>

/* Draws a routine's curves, CPU and device, with logarithmic axes, into 16 lines of at most 78 columns. */
void ofl_plot_terminal(FILE *out, const struct ofl_machine *machine, enum ofl_operation operation,
                       enum ofl_precision precision);

/* Writes an SVG document with a picture of each routine that has a curve. */
void ofl_plot_svg(FILE *out, const struct ofl_machine *machine, const char *title);
#endif
