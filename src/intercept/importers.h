/* Which loaded objects import our names, and what each of them would reach.
 *
 * Needed where the global scope has no BLAS: objects opened with RTLD_LOCAL bring their own (NumPy's
 * wheels), possibly several, and a wrapper must know on whose behalf it was called. */
#ifndef OFL_INTERCEPT_IMPORTERS_H
#define OFL_INTERCEPT_IMPORTERS_H
#include "intercept/symbols.h"
#include <link.h>

/* An object that imports a name, as found at the last scan. */
struct ofl_importer {
    const void *object;       /* where it is loaded; its identity */
    const void *root;         /* the object whose dlopen brought it: its local scope is root and root's dependencies */
    const void *root_dynamic; /* of root, to tell it from a later object at the same address */
    bool has_lane;            /* its calls come through a lane */
    bool takes_address;       /* it may also keep the function's address, from before it had a lane */
    bool weak;                /* it asks whether there is such a function before it calls it */
};

/* Looks for objects loaded or unloaded since the last scan.  Returns the dynamic linker's count of loads, never 0. */
unsigned long long ofl_importers_scan(void);

/* The importers of a name, oldest first; how many, at most `most`. */
unsigned ofl_importers_of(const struct ofl_symbol *symbol, struct ofl_importer *out, unsigned most);

/* Lets the calls of an importer come through that lane's stub.  False where its table of
 * addresses cannot be written. */
bool ofl_importer_use_lane(const struct ofl_symbol *symbol, const void *object, unsigned lane);

/* Lets an importer's weak references find nothing, as they would without us where no library has the name. */
void ofl_importer_leads_nowhere(const struct ofl_symbol *symbol, const void *object);

/* A loaded object that other threads cannot unload meanwhile. */
struct ofl_held {
    void *handle; /* NULL: it is no longer loaded, or it is the program */
    unsigned generation;
    bool program;
};
/* The object at `address` with that dynamic section. */
struct ofl_held ofl_hold(const void *address, const void *dynamic);
void ofl_let_go(const struct ofl_held *held);

/* The loaded objects by number, oldest first, as found at the last scan; false behind the last. */
bool ofl_importers_object(unsigned number, const void **address, const void **dynamic, const void **root);

/* One import at a time that was found since the last call of this, until none is left (NULL). */
struct ofl_symbol *ofl_importers_next_new(void);

/* In a forked child: forget everything (another thread may have been scanning). */
void ofl_importers_reset(void);
#endif
