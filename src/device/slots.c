/* Page-locked memory through which copies go.
 *
 * It is taken when a thread first needs it, and kept: at most four slots of 2 MB for
 * each thread.  Small calls get small slots.  There is no lock: a participant of the
 * pool has its slots for itself, and calls run one at a time.  Where page-locked
 * memory is scarce, the slot stays empty and the copies do without. */
#include "device/slots.h"
#include "device/pool.h"

static struct ofl_slots slots[OFL_MOST_HELPERS + 1];

struct ofl_slots *ofl_slots_of(int participant)
{
    return &slots[participant];
}

static enum ofl_reason get_memory(struct ofl_slot *slot, const struct ofl_started *started, size_t bytes)
{
    const struct ofl_backend *backend = started->backend;
    void *address = NULL;
    if (slot->address != NULL) {
        backend->host_release(started->device, slot->address);
    }
    slot->address = NULL;
    slot->bytes = 0;
    bytes = bytes <= OFL_SMALL_SLOT_BYTES ? OFL_SMALL_SLOT_BYTES : OFL_SLOT_BYTES;
    enum ofl_reason reason = OFL_OK;
    if (slot->event == NULL) {
        reason = backend->event_create(started->device, &slot->event);
    }
    if (reason == OFL_OK) {
        reason = backend->host_allocate(started->device, bytes, &address);
    }
    if (reason == OFL_OK) {
        slot->address = address;
        slot->bytes = bytes;
    }
    return reason == OFL_DEVICE_LOST ? reason : OFL_OK;
}

enum ofl_reason ofl_slot_ready(struct ofl_slot *slot, const struct ofl_started *started, size_t bytes)
{
    enum ofl_reason reason = OFL_OK;
    if (slot->busy) {
        reason = started->backend->event_wait(started->device, slot->event);
        slot->busy = reason != OFL_OK;
    }
    if (reason == OFL_OK && slot->bytes < bytes) {
        reason = get_memory(slot, started, bytes);
    }
    return reason;
}
