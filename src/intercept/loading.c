/* Hooks on dlopen and dlclose.
 *
 * What dlclose unloads may be what a target points to, so targets are looked up again afterwards.  Before
 * dlopen loads something, importers get their lanes.  dlopen looks at its return address (search paths,
 * namespace), so ours may not stand between it and its caller: it prepares, and jumps. */
#include "intercept/loading.h"
#include "intercept/wrapper.h"

#include <dlfcn.h>

static void *_Atomic dlopen_next, *_Atomic dlclose_next;

static void *next(void *_Atomic *found, const char *name)
{
    if (atomic_load_explicit(found, memory_order_acquire) == NULL) {
        atomic_store(found, dlsym(RTLD_NEXT, name));
    }
    return atomic_load(found);
}

void *ofl_dlopen_next(const char *file, int mode)
{
    void *(*function)(const char *, int);
    *(void **)&function = next(&dlopen_next, "dlopen");
    return function(file, mode);
}

int ofl_dlclose_next(void *handle)
{
    int (*function)(void *);
    *(void **)&function = next(&dlclose_next, "dlclose");
    return function(handle);
}

OFL_EXPORT int dlclose(void *handle)
{
    int result = ofl_dlclose_next(handle);
    atomic_fetch_add(&ofl_generation, 1);
    return result;
}

#if defined __x86_64__
void *ofl_dlopen_prepare(void) __attribute__((visibility("hidden")));
void *ofl_dlopen_prepare(void)
{
    if (!ofl_thread.backend) {
        ofl_before_loading();
    }
    return next(&dlopen_next, "dlopen");
}

OFL_TAIL_HOOK(dlopen, ofl_dlopen_prepare);
#endif
