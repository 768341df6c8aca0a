/* Which operands look as they did when they were seen last: hints about what is worth keeping, never proof. */
#ifndef OFL_DEVICE_SIGHTINGS_H
#define OFL_DEVICE_SIGHTINGS_H
#include "device/watch.h"
#include <gpu-offload/device.h>

/* A place in memory and how it is read. */
struct ofl_place_key {
    uintptr_t address;
    int64_t rows, columns, ld;
    uint32_t element_size;
    enum ofl_region region;
};

struct ofl_place_key ofl_place_key(const struct ofl_buffer *buffer);
bool ofl_same_place(const struct ofl_place_key *a, const struct ofl_place_key *b);

struct ofl_sighting {
    struct ofl_place_key key;
    struct ofl_pages pages;
    uint64_t fingerprint, last; /* of its content; when it was seen */
    unsigned alike;             /* how often in a row it looked the same */
    unsigned pause, mistakes;   /* sightings until it may be tried again; how often it was in vain */
    bool tried, confirmed;      /* some of its pages are protected; they were found unwritten */
    double credit;              /* seconds that were missed because it was not on the device */
};

/* What is known about the place; forgets another one where there is no room. */
struct ofl_sighting *ofl_sighting_of(const struct ofl_buffer *operand);
/* The same, or NULL where nothing is known. */
struct ofl_sighting *ofl_sighting_find(const struct ofl_buffer *operand);

/* An operand was read: takes notice of its content.  `may_try`: its pages may be protected. */
void ofl_sighting_read(struct ofl_sighting *sighting, const struct ofl_buffer *operand, bool may_try);
/* An operand is about to be written by a call, and has been. */
void ofl_sighting_before_write(struct ofl_sighting *sighting);
void ofl_sighting_written(struct ofl_sighting *sighting, const struct ofl_buffer *operand, bool may_try);

/* Keeping it was in vain: for a while, longer each time, it is not tried again. */
void ofl_sighting_mistaken(struct ofl_sighting *sighting);

/* Whether it looks unchanged and, as far as its tried pages tell, is. */
bool ofl_sighting_repeats(const struct ofl_sighting *sighting, const struct ofl_buffer *operand);

void ofl_sightings_forget(void);
#endif
