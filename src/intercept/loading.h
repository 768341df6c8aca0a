/* What the program loads and unloads while it runs. */
#ifndef OFL_INTERCEPT_LOADING_H
#define OFL_INTERCEPT_LOADING_H

/* The next dlopen and dlclose behind ours. */
void *ofl_dlopen_next(const char *file, int mode);
int ofl_dlclose_next(void *handle);

/* Something new is about to be loaded: whoever imports a name now gets a lane of his own, where
 * return addresses might not tell him from the newcomers (resolve.c). */
void ofl_before_loading(void);
#endif
