/* The exported names and what each one's callers reach.
 *
 * A target is what one caller of one name would have reached without us: the function and the
 * integer width of its library.  Targets are immutable but for when they were confirmed, found once and
 * never freed, so that the call path reads them without a lock. */
#ifndef OFL_INTERCEPT_SYMBOLS_H
#define OFL_INTERCEPT_SYMBOLS_H
#include <gpu-offload/device.h>
#include <stdatomic.h>

/* Entry points of one name that know their target: see importers.c. */
enum { OFL_LANES_PER_SYMBOL = 8, OFL_LANE_BYTES = 32 };

/* In place of a lane: the target has been found already (settle.c). */
enum { OFL_LANE_SETTLED = OFL_LANES_PER_SYMBOL + 1 };

struct ofl_target {
    const void *caller; /* the return address that it was found for; NULL for a lane or for everybody */
    /* When it was last confirmed.  What everybody reaches, or a lane's, holds for a generation, a caller's for
     * an arrangement.  They are 0 while `loads` is changed. */
    _Atomic unsigned generation, arrangement;
    _Atomic unsigned long long loads; /* where a load was under way then, the linker's count of them; else 0 */
    void *function;
    unsigned integer_bytes; /* 4 or 8; 0 where it could not be found out */
    struct ofl_target *next;
};

enum { OFL_TARGET_CACHE = 8 };

struct ofl_symbol {
    const char *name;
    enum ofl_operation operation;
    enum ofl_precision precision;
    unsigned integer_bytes; /* as the name says; 0: ask the library */
    bool cblas;
    const void *wrapper;                                /* what is exported */
    const void *body;                                   /* the C function of it: see OFL_ENTRY */
    const char *lanes;                                  /* OFL_LANES_PER_SYMBOL stubs of OFL_LANE_BYTES each */
    struct ofl_target *_Atomic common;                  /* what every caller reaches, if the global scope has it */
    struct ofl_target *_Atomic cache[OFL_TARGET_CACHE]; /* by return address; any thread replaces entries */
    struct ofl_target *_Atomic targets;                 /* all of them; only ever pushed to */
    struct ofl_target *_Atomic lane_targets[OFL_LANES_PER_SYMBOL];
};

extern struct ofl_symbol ofl_symbols[] __attribute__((visibility("hidden")));
extern const unsigned ofl_symbol_count;

/* Counts unloadings: what a function's address means may have changed. */
extern _Atomic unsigned ofl_generation __attribute__((visibility("hidden")));
/* Counts whatever changes what a return address may mean: loads, unloadings, new lanes. */
extern _Atomic unsigned ofl_arrangement __attribute__((visibility("hidden")));

/* By number of the symbol: the generation in which everybody's target was found to be a BLAS routine. */
extern _Atomic unsigned ofl_settled[] __attribute__((visibility("hidden")));

unsigned ofl_name_hash(const char *name);

/* The symbol of that name, or NULL. */
struct ofl_symbol *ofl_symbol_find(const char *name);

/* What the caller that returns to `caller` reaches under this name.  Never NULL: where no library
 * defines the name the process ends as the dynamic linker would have ended it. */
const struct ofl_target *ofl_resolve(struct ofl_symbol *symbol, const void *caller);
#endif
