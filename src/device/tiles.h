/* Cutting a call into steps whose copies and operations can overlap. */
#ifndef OFL_DEVICE_TILES_H
#define OFL_DEVICE_TILES_H
#include "device/pipeline.h"

/* A call and where its operands lie. */
struct ofl_layout {
    const struct ofl_call *call;   /* in host memory */
    const struct ofl_call *device; /* on compact device buffers */
    bool read[OFL_MAX_OPERANDS], written[OFL_MAX_OPERANDS];
    /* Of an operand that is on the device already, what has to be copied all the same; NULL: it is not there. */
    const struct ofl_selection *only[OFL_MAX_OPERANDS];
    int copy_of[OFL_MAX_OPERANDS];              /* an earlier operand with the same content and device copy, or -1 */
    struct ofl_buffer target[OFL_MAX_OPERANDS]; /* where a written operand's result goes: its own place, or staging */
    bool locked[OFL_MAX_OPERANDS];              /* the target is page-locked staging */
    char *undo[OFL_MAX_OPERANDS];               /* where a result's old numbers are kept, compact, or NULL */
    struct ofl_sight *sight[OFL_MAX_OPERANDS];  /* of operands whose numbers are looked at, else NULL */
};

/* Fills `step` with the call as a whole: one step... */
void ofl_whole(const struct ofl_layout *layout, struct ofl_step *step);

/* ... or with tiles of it; returns their number, at most OFL_MOST_STEPS.  0 where tiles would not pay or the
 * operation cannot be cut. */
int ofl_tiles(const struct ofl_layout *layout, struct ofl_step *steps);
#endif
