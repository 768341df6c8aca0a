/* Page-locked memory through which copies go.
 *
 * A lane has one block of small slots and one of large ones, for all that may take part; each is taken when it is first
 * needed, as a whole, since page-locking costs more than many copies, and kept.  There is no lock: a
 * lane is one call's, and a participant of the pool has its slots for itself.  Where page-locked memory
 * is scarce the slots stay empty and the copies do without. */
#include "device/slots.h"
#include "device/pool.h"

enum { each = sizeof(struct ofl_slots) / sizeof(struct ofl_slot), sizes = 2 };

static const size_t size_of[sizes] = {OFL_SMALL_SLOT_BYTES, OFL_SLOT_BYTES};

static struct lane_slots {
    struct ofl_slots slots[OFL_MOST_HELPERS + 1];
    char *block[sizes];
    int participants[sizes]; /* that a block is for */
    int events;              /* participants whose slots have events */
} lanes[OFL_MOST_LANES];

static struct ofl_slot *slot_at(struct lane_slots *lane, int index)
{
    struct ofl_slots *slots = &lane->slots[index / each];
    return index % each < 2 ? &slots->in[index % each] : &slots->out[index % each - 2];
}

static enum ofl_reason make_events(struct lane_slots *lane, const struct ofl_started *started, int participants)
{
    enum ofl_reason reason = OFL_OK;
    for (int i = lane->events * each; i < participants * each && reason == OFL_OK; i++) {
        struct ofl_slot *slot = slot_at(lane, i);
        if (slot->event == NULL) {
            reason = started->backend->event_create(started->device, &slot->event);
        }
    }
    if (reason == OFL_OK && participants > lane->events) {
        lane->events = participants;
    }
    return reason;
}

/* For all helpers that there can be, if any is wanted. */
static enum ofl_reason make_block(struct lane_slots *lane, const struct ofl_started *started, int participants,
                                  int size)
{
    const struct ofl_backend *backend = started->backend;
    void *block = NULL;
    if (lane->participants[size] >= participants && lane->block[size] != NULL) {
        return OFL_OK;
    }
    participants = participants > 1 ? ofl_pool_helpers() + 1 : 1;
    if (lane->block[size] != NULL) {
        backend->host_release(started->device, lane->block[size]);
        lane->block[size] = NULL;
    }
    enum ofl_reason reason =
        backend->host_allocate(started->device, (size_t)participants * each * size_of[size], &block);
    if (reason == OFL_OK) {
        lane->block[size] = block;
        lane->participants[size] = participants;
    }
    return reason == OFL_DEVICE_LOST ? reason : OFL_OK;
}

enum ofl_reason ofl_slots_prepare(const struct ofl_started *started, int participants, size_t bytes)
{
    struct lane_slots *lane = &lanes[started->lane];
    int size = bytes <= OFL_SMALL_SLOT_BYTES ? 0 : 1;
    enum ofl_reason reason = make_events(lane, started, participants);
    if (reason == OFL_OK) {
        reason = make_block(lane, started, participants, size);
    }
    for (int i = 0; i < participants * each && reason == OFL_OK; i++) {
        struct ofl_slot *slot = slot_at(lane, i);
        slot->busy = false;
        slot->address = lane->block[size] != NULL ? lane->block[size] + (size_t)i * size_of[size] : NULL;
    }
    return reason;
}

struct ofl_slots *ofl_slots_of(const struct ofl_started *started, int participant)
{
    return &lanes[started->lane].slots[participant];
}

enum ofl_reason ofl_slot_ready(struct ofl_slot *slot, const struct ofl_started *started)
{
    enum ofl_reason reason = OFL_OK;
    if (slot->busy) {
        reason = started->backend->event_wait(started->device, slot->event);
        slot->busy = reason != OFL_OK;
    }
    return reason;
}
