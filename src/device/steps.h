/* The steps that a call may be cut into; what the files of tiles.c share. */
#ifndef OFL_DEVICE_STEPS_H
#define OFL_DEVICE_STEPS_H
#include "device/tiles.h"

/* A range of columns, or of rows. */
struct ofl_panel {
    int64_t begin, end;
};

/* Whether the panels of the result are columns (else rows), and which operand all panels need. */
struct ofl_division {
    bool columns;
    int shared;
};

/* The dimension of an operand that the panels cut: true for its columns. */
bool ofl_division_cuts_columns(const struct ofl_call *call, const struct ofl_division *division, int operand);

/* Adds to the first step what has to be copied of operands that are on the device. */
void ofl_step_add_selected(const struct ofl_layout *layout, struct ofl_step *step);

/* One panel of a product or of a triangle's operation. */
void ofl_step_panel(const struct ofl_layout *layout, const struct ofl_division *division, struct ofl_panel panel,
                    int index, struct ofl_step *step);

/* Some rows of op(A) and some columns of op(B), each after those of the steps before: what they add to the product. */
void ofl_step_corner(const struct ofl_layout *layout, struct ofl_panel rows, struct ofl_panel columns,
                     struct ofl_step *step);

/* The columns `panel` of a rank-k update of a triangle. */
void ofl_step_update(const struct ofl_layout *layout, struct ofl_panel panel, struct ofl_step *step);
#endif
