/* A library to be preloaded, whose dlopen waits before it loads the file that SLOW_DLOPEN names: so a test holds a load
 * at the point where it has begun and the dynamic linker has not been asked yet. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

_Atomic int slow_entered, slow_released;

void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int);
    const char *slow = getenv("SLOW_DLOPEN");
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    if (file != NULL && slow != NULL && strcmp(file, slow) == 0 && (mode & RTLD_NOLOAD) == 0) {
        atomic_store(&slow_entered, 1);
        while (!atomic_load(&slow_released)) {
            sched_yield();
        }
    }
    return next(file, mode);
}
