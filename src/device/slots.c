/* Page-locked memory through which copies go.
 *
 * A lane has one block for small slots and one for large ones; each is taken when it is first needed, as a
 * whole, since page-locking costs more than many copies, and kept.  There is no lock: a lane is one call's.
 * Where page-locked memory is scarce the slots stay empty and the copies do without. */
#include "device/slots.h"

enum { both = 2 * OFL_SLOTS, sizes = 2, alignment = 4096 };

static const size_t size_of[sizes] = {OFL_SMALL_SLOT_BYTES, OFL_SLOT_BYTES};

static struct lane_slots {
    struct ofl_slots slots;
    char *block[sizes];
} lanes[OFL_MOST_LANES];

static struct ofl_slot *slot_at(struct lane_slots *lane, int index)
{
    return index < OFL_SLOTS ? &lane->slots.in[index] : &lane->slots.out[index - OFL_SLOTS];
}

static enum ofl_reason make_events(struct lane_slots *lane, const struct ofl_started *started)
{
    enum ofl_reason reason = OFL_OK;
    for (int i = 0; i < both && reason == OFL_OK; i++) {
        struct ofl_slot *slot = slot_at(lane, i);
        if (slot->event == NULL) {
            reason = started->backend->event_create(started->device, &slot->event);
        }
    }
    return reason;
}

static enum ofl_reason make_block(struct lane_slots *lane, const struct ofl_started *started, int size)
{
    void *block = NULL;
    enum ofl_reason reason = OFL_OK;
    if (lane->block[size] == NULL) {
        reason = started->backend->host_allocate(started->device, both * size_of[size], &block);
        lane->block[size] = reason == OFL_OK ? block : NULL;
    }
    return reason == OFL_DEVICE_LOST ? reason : OFL_OK;
}

enum ofl_reason ofl_slots_prepare(const struct ofl_started *started, size_t bytes, struct ofl_slots **out)
{
    struct lane_slots *lane = &lanes[started->lane];
    int size = bytes <= OFL_SMALL_SLOT_BYTES ? 0 : 1;
    size_t stride = (bytes + alignment - 1) / alignment * alignment; /* what is small stays in the caches */
    enum ofl_reason reason = make_events(lane, started);
    if (reason == OFL_OK) {
        reason = make_block(lane, started, size);
    }
    for (int i = 0; i < both; i++) {
        slot_at(lane, i)->address = lane->block[size] != NULL ? lane->block[size] + (size_t)i * stride : NULL;
    }
    *out = &lane->slots;
    return reason;
}
