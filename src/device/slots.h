/* Page-locked memory through which copies go, a few pieces for each thread that copies. */
#ifndef OFL_DEVICE_SLOTS_H
#define OFL_DEVICE_SLOTS_H
#include "device/internal.h"

#include <stddef.h>

enum { OFL_SLOT_BYTES = 1 << 20, OFL_SMALL_SLOT_BYTES = 256 << 10 };

struct ofl_slot {
    char *address;           /* NULL: there is no page-locked memory */
    struct ofl_event *event; /* when the device has passed the slot's last copy */
    bool busy;               /* it may not have */
};

/* Of one thread that takes part: it fills one slot while the device copies from the other. */
struct ofl_slots {
    struct ofl_slot in[2], out[2];
};

/* Before a lane's run of so many participants with pieces of at most `bytes` (at most OFL_SLOT_BYTES).  Nothing of the
 * lane is under way.  Fails as the device fails. */
enum ofl_reason ofl_slots_prepare(const struct ofl_started *started, int participants, size_t bytes);

/* The slots of a participant of ofl_pool_run; its own until it returns. */
struct ofl_slots *ofl_slots_of(const struct ofl_started *started, int participant);

/* Waits until the device has passed the slot.  Fails as the device fails. */
enum ofl_reason ofl_slot_ready(struct ofl_slot *slot, const struct ofl_started *started);
#endif
