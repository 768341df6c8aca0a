/* Page-locked memory through which copies go. */
#ifndef OFL_DEVICE_SLOTS_H
#define OFL_DEVICE_SLOTS_H
#include "device/internal.h"

#include <stddef.h>

/* On an H200 copies of 4 MiB reach 97% of what the wires allow, those of 1 MiB 88%, those of 256 KiB 65%
 * (bench/transfers).  So the first lane takes up to 64 MiB of page-locked memory, another one 32. */
enum { OFL_SLOTS = 8, OFL_SLOT_BYTES = 4 << 20, OFL_LANE_SLOT_BYTES = 2 << 20, OFL_SMALL_SLOT_BYTES = 512 << 10 };

struct ofl_slot {
    char *address;           /* NULL: there is no page-locked memory */
    struct ofl_event *event; /* when the device has passed the slot's last copy */
};

/* Of one lane, for both directions. */
struct ofl_slots {
    struct ofl_slot in[OFL_SLOTS], out[OFL_SLOTS];
};

/* Before a lane's run with pieces of at most `bytes` (at most OFL_SLOT_BYTES).  Nothing of the lane is under way. Fails
 * as the device fails. */
enum ofl_reason ofl_slots_prepare(const struct ofl_started *started, size_t bytes, struct ofl_slots **out);
#endif
