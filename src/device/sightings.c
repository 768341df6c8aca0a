/* Which operands look as they did when they were seen last.
 *
 * Protecting memory costs the program about a microsecond for the first write to each page, so it is done only for
 * operands that repeat, in three steps.  A fingerprint that is the same as last time suggests it; then a few pages
 * are protected; if these are unwritten when the operand comes again, the repetition is confirmed and the operand is
 * worth keeping (resident.c).  A program that writes the same values into an operand over and over costs eight page
 * faults, and each time in vain doubles the number of sightings until the next try.
 *
 * Nothing here is proof of anything.  The caller holds the lock of resident.c. */
#include "device/sightings.h"
#include "trace/fingerprint.h"

#include <string.h>

enum { sets = 64, ways = 4, longest_pause = 1024 };

static struct ofl_sighting table[sets][ways];
static uint64_t now;

struct ofl_place_key ofl_place_key(const struct ofl_buffer *buffer)
{
    return (struct ofl_place_key){(uintptr_t)buffer->address, buffer->rows,  buffer->columns, buffer->ld,
                                  buffer->element_size,       buffer->region};
}

bool ofl_same_place(const struct ofl_place_key *a, const struct ofl_place_key *b)
{
    return a->address == b->address && a->rows == b->rows && a->columns == b->columns && a->ld == b->ld &&
           a->element_size == b->element_size && a->region == b->region;
}

static struct ofl_sighting *set_of(const struct ofl_place_key *key)
{
    uint64_t hash = key->address * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)key->columns * UINT64_C(0xC2B2AE3D27D4EB4F);
    return table[(hash >> 40) % sets];
}

struct ofl_sighting *ofl_sighting_find(const struct ofl_buffer *operand)
{
    struct ofl_place_key key = ofl_place_key(operand);
    struct ofl_sighting *set = set_of(&key);
    for (int i = 0; i < ways; i++) {
        if (set[i].last != 0 && ofl_same_place(&set[i].key, &key)) {
            return &set[i];
        }
    }
    return NULL;
}

static void end_try(struct ofl_sighting *sighting)
{
    if (sighting->tried) {
        ofl_watch_stop(sighting->pages);
    }
    sighting->tried = false;
}

struct ofl_sighting *ofl_sighting_of(const struct ofl_buffer *operand)
{
    struct ofl_sighting *found = ofl_sighting_find(operand);
    if (found == NULL) {
        struct ofl_place_key key = ofl_place_key(operand);
        struct ofl_sighting *set = set_of(&key);
        found = set;
        for (int i = 1; i < ways; i++) {
            found = set[i].last < found->last ? &set[i] : found;
        }
        end_try(found);
        size_t elements = (size_t)(operand->columns - 1) * (size_t)operand->ld + (size_t)operand->rows;
        *found = (struct ofl_sighting){.key = key,
                                       .pages = ofl_pages_within(operand->address, elements * operand->element_size)};
    }
    found->last = ++now;
    return found;
}

void ofl_sighting_mistaken(struct ofl_sighting *sighting)
{
    end_try(sighting);
    sighting->confirmed = false;
    sighting->alike = 0;
    sighting->mistakes++;
    sighting->pause = sighting->mistakes < 10 ? 1u << sighting->mistakes : longest_pause;
}

static void try_pages(struct ofl_sighting *sighting)
{
    sighting->tried = ofl_watch_try(sighting->pages);
    if (!sighting->tried) {
        ofl_sighting_mistaken(sighting);
    }
}

void ofl_sighting_read(struct ofl_sighting *sighting, const struct ofl_buffer *operand, bool may_try)
{
    uint64_t fingerprint = ofl_fingerprint(operand);
    if (fingerprint != sighting->fingerprint || fingerprint == 0) {
        end_try(sighting);
        sighting->fingerprint = fingerprint;
        sighting->alike = 0;
        sighting->confirmed = false;
        return;
    }
    sighting->alike++;
    if (sighting->pause > 0) {
        sighting->pause--;
    } else if (sighting->tried) {
        bool unchanged = ofl_watch_tried_unchanged(sighting->pages);
        end_try(sighting);
        sighting->confirmed = unchanged;
        if (!unchanged) {
            ofl_sighting_mistaken(sighting);
        }
    } else if (!sighting->confirmed && may_try) {
        try_pages(sighting);
    }
}

void ofl_sighting_before_write(struct ofl_sighting *sighting)
{
    end_try(sighting);
}

void ofl_sighting_written(struct ofl_sighting *sighting, const struct ofl_buffer *operand, bool may_try)
{
    sighting->fingerprint = ofl_fingerprint(operand);
    /* Tried only where earlier results were read again as they were. */
    if (may_try && sighting->alike > 0 && sighting->pause == 0 && !sighting->confirmed && !sighting->tried) {
        try_pages(sighting);
    }
}

bool ofl_sighting_repeats(const struct ofl_sighting *sighting, const struct ofl_buffer *operand)
{
    return (sighting->confirmed || (sighting->tried && ofl_watch_tried_unchanged(sighting->pages))) &&
           sighting->fingerprint != 0 && ofl_fingerprint(operand) == sighting->fingerprint;
}

void ofl_sightings_forget(void)
{
    memset(table, 0, sizeof table);
}
