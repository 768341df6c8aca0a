/* Pieces in page-locked slots: what several threads pack and put away, bit by bit. */
#ifndef OFL_DEVICE_LOADS_H
#define OFL_DEVICE_LOADS_H
#include "device/parts.h"
#include "device/slots.h"

#include <stdatomic.h>
#include <stdbool.h>

/* A piece of a step, and what it is a piece of. */
struct ofl_errand {
    const struct ofl_part *part;
    struct ofl_piece piece;
    int step;
};

/* A piece on its way through a slot.  One thread, the conductor, sets it and opens it; others take bits of it; when all
 * bits are done it is the conductor's again. */
struct ofl_load {
    /* Bits that nobody has taken, and above them how often this was opened: who was late takes nothing of the next. */
    _Alignas(64) _Atomic uint64_t left;
    _Atomic int64_t unfinished; /* bits */
    /* Constant while it is open. */
    struct ofl_errand errand;
    struct ofl_cut bits;
    struct ofl_slot *slot;
    bool in;
};

struct ofl_loads {
    struct ofl_load in[OFL_SLOTS], out[OFL_SLOTS];
    _Atomic unsigned first_in, first_out; /* where to look first: the oldest of those that may be open */
    size_t bit_bytes;
    bool past_caches;   /* how what goes in is packed */
    _Atomic int reason; /* OFL_OK until something fails; then nobody takes anything more */
    /* Room for what results are kept in, and how many are there. */
    struct ofl_committed *committed;
    _Atomic int64_t committed_count;
};

/* The first failure counts. */
void ofl_loads_fail(struct ofl_loads *loads, enum ofl_reason reason);
bool ofl_loads_are_good(const struct ofl_loads *loads);

/* The bits of a piece of the part. */
struct ofl_cut ofl_bits_of(const struct ofl_loads *loads, const struct ofl_part *part, const struct ofl_piece *piece);

/* Threads may take bits of the errand, if it has a slot.  Everything else of the load is set. */
void ofl_load_open(const struct ofl_loads *loads, struct ofl_load *load);
/* Whether all bits are done. */
bool ofl_load_is_done(const struct ofl_load *load);

/* Keeps what a piece has in host memory, if somebody wants it. */
void ofl_loads_keep(struct ofl_loads *loads, const struct ofl_part *part, const struct ofl_piece *piece);

/* Packs or puts away one bit: results first, since others wait for their slots.  False where there is none.  Any
 * thread. */
bool ofl_loads_work(struct ofl_loads *loads);
#endif
