/* What the program loads and unloads while it runs. */
#ifndef OFL_INTERCEPT_LOADING_H
#define OFL_INTERCEPT_LOADING_H
#include <stdbool.h>

/* The next dlopen and dlclose behind ours. */
void *ofl_dlopen_next(const char *file, int mode);
int ofl_dlclose_next(void *handle);

/* Something new is about to be loaded: whoever imports a name now gets a lane of his own, where
 * return addresses might not tell him from the newcomers (resolve.c). */
void ofl_before_loading(void);

/* Weak references of the program and its libraries to names that nobody defines lead nowhere, not to us. */
void ofl_weak_start(void);

/* Whether a dlopen may be under way in any thread: what is found out now may miss what it brings.  To be asked
 * after ofl_arrangement was read: a dlopen is under way before it raises that, and raises it again at its end.
 * `frame`: of the caller, by which a thread's own dlopen is known to have returned. */
bool ofl_loading_under_way(const void *frame);

/* Whether another thread is certain to be in a dlopen: to load anything now means to wait until it has come back. */
bool ofl_loading_elsewhere(void);

/* In a forked child: other threads' loads ended with them. */
void ofl_loading_forked(void);
#endif
