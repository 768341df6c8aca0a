/* Copies of operands that stay on the device from one call to the next. */
#ifndef OFL_DEVICE_RESIDENT_H
#define OFL_DEVICE_RESIDENT_H
#include "device/internal.h"
#include "device/pieces.h"

struct ofl_resident;

/* What one call has of an operand's copy that stays; all zeros: nothing. */
struct ofl_grip {
    struct ofl_resident *copy;
    void *device; /* its address on the device: compact */
    bool current; /* it holds the operand, except for what `changed` selects */
    struct ofl_selection changed;
};

/* Before a call's copies: finds or makes the operand's copy, where that is worth it.  Any thread. */
void ofl_resident_take(const struct ofl_started *started, const struct ofl_buffer *operand, bool read, bool written,
                       struct ofl_grip *grip);

/* After a call, when nothing is under way any more and results are in place.  Without success nothing that the call
 * touched is kept. */
void ofl_resident_leave(const struct ofl_started *started, const struct ofl_buffer *operand, bool written, bool success,
                        struct ofl_grip *grip);

/* Gives the copy up that was not used for the longest time.  False where all are in use. */
bool ofl_resident_evict(const struct ofl_started *started);

/* Device memory that copies take, which are given up when a call needs it. */
uint64_t ofl_resident_bytes(void);

void ofl_resident_after_fork(void);
#endif
