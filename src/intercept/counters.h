/* How often each routine was called and where it ran.
 *
 * A thread counts in a block that only it writes, with plain stores; the summary adds the blocks
 * up.  A thread that ends gives its block, counts included, to the next new thread. */
#ifndef OFL_INTERCEPT_COUNTERS_H
#define OFL_INTERCEPT_COUNTERS_H
#include "intercept/symbols.h"

enum ofl_count {
    OFL_COUNT_DEVICE,
    OFL_COUNT_CPU,    /* considered, and the CPU had it */
    OFL_COUNT_SMALL,  /* below the floor */
    OFL_COUNT_NESTED, /* made by the CPU library inside another call */
    OFL_COUNT_KINDS
};

struct ofl_counters {
    _Atomic uint64_t calls[OFL_OPERATION_COUNT][OFL_PRECISION_COUNT][OFL_COUNT_KINDS];
    _Atomic uint64_t reasons[OFL_REASON_COUNT]; /* of the considered calls that stayed on the CPU */
    struct ofl_counters *next;                  /* all blocks ever made */
    _Atomic bool taken;
};

/* A block for the calling thread; given back when the thread ends.  Never NULL: where memory is
 * exhausted, one that counts but is in nobody's sum. */
struct ofl_counters *ofl_counters_acquire(void);

/* Sums over all threads so far. */
void ofl_counters_sum(struct ofl_counters *out);

/* In a forked child: all counts to zero. */
void ofl_counters_reset(void);

static inline void ofl_increment(_Atomic uint64_t *counter)
{
    /* One writer: no locked instruction needed. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline void ofl_count(struct ofl_counters *counters, const struct ofl_symbol *symbol, enum ofl_count kind)
{
    ofl_increment(&counters->calls[symbol->operation][symbol->precision][kind]);
}
#endif
