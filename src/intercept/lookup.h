/* Looking names and addresses up without the dynamic linker's lock: see lookup.c. */
#ifndef OFL_INTERCEPT_LOOKUP_H
#define OFL_INTERCEPT_LOOKUP_H
#include <stdbool.h>
#include <stdint.h>

/* Which objects the program started with: the scope of every object. */
void ofl_lookup_start(void);

/* What everybody reaches under this name, in the libraries behind ours that the program started with; NULL where they
 * do not have it, or it takes more than a table to tell. */
void *ofl_lookup_started(const char *name);

/* Whether any loaded object has a weak reference to one of our names; a quick look at few entries. */
bool ofl_lookup_has_weak(void);

/* A name that the object of `function` itself defines, or NULL; *sure is false where it takes more than
 * a table to tell. */
void *ofl_lookup_beside(const void *function, const char *name, bool *sure);

/* A name that the object which is loaded at `load_address`, with that dynamic section, defines, or NULL. */
void *ofl_lookup_in(const void *load_address, const void *dynamic, const char *name);

/* The loaded object that has an address.  False if there is none. */
struct ofl_object {
    const void *load_address; /* what addresses in its file are added to */
    const void *base, *end;
    const char *path; /* the linker's; "" for the program */
};
bool ofl_lookup_object(const void *address, struct ofl_object *out);
#endif
