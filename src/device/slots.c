/* Page-locked memory through which copies go.
 *
 * A lane has one block for all slots.  It is made when it is first needed, made anew where a call wants larger slots,
 * and kept, since page-locking costs more than many copies.  There is no lock: a lane is one call's. Where page-locked
 * memory is scarce the slots stay empty and the copies do without. */
#include "device/slots.h"

enum { both = 2 * OFL_SLOTS, alignment = 4096 };

static const size_t sizes[] = {OFL_SMALL_SLOT_BYTES, OFL_LANE_SLOT_BYTES, OFL_SLOT_BYTES};

static struct lane_slots {
    struct ofl_slots slots;
    char *block;
    size_t slot_bytes;
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

static size_t size_for(size_t bytes)
{
    size_t i = 0;
    while (sizes[i] < bytes && i + 1 < sizeof sizes / sizeof *sizes) {
        i++;
    }
    return sizes[i];
}

static enum ofl_reason make_block(struct lane_slots *lane, const struct ofl_started *started, size_t bytes)
{
    const struct ofl_backend *backend = started->backend;
    void *block = NULL;
    if (lane->block != NULL && lane->slot_bytes >= bytes) {
        return OFL_OK;
    }
    if (lane->block != NULL) {
        backend->host_release(started->device, lane->block);
        lane->block = NULL;
    }
    lane->slot_bytes = size_for(bytes);
    enum ofl_reason reason = backend->host_allocate(started->device, both * lane->slot_bytes, &block);
    lane->block = reason == OFL_OK ? block : NULL;
    return reason == OFL_DEVICE_LOST ? reason : OFL_OK;
}

enum ofl_reason ofl_slots_prepare(const struct ofl_started *started, size_t bytes, struct ofl_slots **out)
{
    struct lane_slots *lane = &lanes[started->lane];
    size_t stride = (bytes + alignment - 1) / alignment * alignment; /* what is small stays in the caches */
    enum ofl_reason reason = make_events(lane, started);
    if (reason == OFL_OK) {
        reason = make_block(lane, started, bytes);
    }
    for (int i = 0; i < both; i++) {
        slot_at(lane, i)->address = lane->block != NULL ? lane->block + (size_t)i * stride : NULL;
    }
    *out = &lane->slots;
    return reason;
}
