/* Cutting a call into steps whose copies and operations can overlap. */
#ifndef OFL_DEVICE_TILES_H
#define OFL_DEVICE_TILES_H
#include "device/pipeline.h"

/* How panels go through less memory than whole operands take: each operand but the one that all panels need has a few
 * places, in which its panels take turns. */
enum { OFL_RING_PLACES = 3 };
struct ofl_ring {
    bool columns;  /* whether panels of the result are columns, else rows */
    int shared;    /* the operand that all panels need; it is on the device as a whole */
    int64_t width; /* of a panel */
};

/* A call and where its operands lie. */
struct ofl_layout {
    const struct ofl_call *call;   /* in host memory */
    const struct ofl_call *device; /* on compact device buffers */
    bool read[OFL_MAX_OPERANDS], written[OFL_MAX_OPERANDS];
    const struct ofl_ring *ring; /* NULL: there is room for whole operands */
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

/* How the call's panels would lie (columns, shared); false where there are none. */
bool ofl_ring_of(const struct ofl_call *call, struct ofl_ring *ring);

/* Which dimension of an operand the panels cut: true for its columns. */
bool ofl_ring_cuts_columns(const struct ofl_call *call, const struct ofl_ring *ring, int operand);

/* The number alone, without touching memory or needing a device: of the layout only `call`, what is read and written,
 * and `copy_of` count.  *shared is the operand that arrives whole with the first step, -1 if there is none. */
int ofl_tiles_count(const struct ofl_layout *layout, int *shared);
#endif
