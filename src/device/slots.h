/* Page-locked memory through which copies go, a few pieces for each thread that copies. */
#ifndef OFL_DEVICE_SLOTS_H
#define OFL_DEVICE_SLOTS_H
#include "device/internal.h"

#include <stddef.h>

enum { OFL_SLOT_BYTES = 2 << 20, OFL_SMALL_SLOT_BYTES = 256 << 10 };

struct ofl_slot {
    char *address;
    size_t bytes;
    struct ofl_event *event; /* when the device has passed the slot's last copy */
    bool busy;               /* it may not have */
};

/* Of one thread that takes part: it fills one slot while the device copies from the other. */
struct ofl_slots {
    struct ofl_slot in[2], out[2];
};

/* The slots of a participant of ofl_pool_run; its own until it returns. */
struct ofl_slots *ofl_slots_of(int participant);

/* Makes a slot at least `bytes` (at most OFL_SLOT_BYTES) long and waits until the device has passed it.  Where no
 * page-locked memory can be had slot->address is NULL.  Fails as the device fails. */
enum ofl_reason ofl_slot_ready(struct ofl_slot *slot, const struct ofl_started *started, size_t bytes);
#endif
