/* Hooks on dlopen and dlclose.
 *
 * What dlclose unloads may be what a target points to, so targets are looked up again afterwards.  Before
 * dlopen loads something, importers get their lanes; while it may be under way no lookup is kept by return address,
 * since that may be somebody else's the moment that the newcomers are there.
 *
 * dlopen looks at its return address, for the search paths of the object that called it.  A name with a slash and
 * without a $ is searched nowhere: there ours calls the next one and knows when it has returned.  For others ours may
 * not stand between dlopen and its caller: it prepares, and jumps; such a load counts as under way until its
 * thread is seen further up its stack, loads again, or ends. */
#include "intercept/loading.h"
#include "intercept/wrapper.h"

#include <dlfcn.h>
#include <pthread.h>

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
    atomic_fetch_add(&ofl_arrangement, 1);
    return result;
}

/* ---- loads that may be under way ---- */

static _Atomic unsigned under_way, followed; /* followed: those whose end we shall see */
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void load_begins(void)
{
    ofl_thread.loads++;
    atomic_fetch_add(&under_way, 1);
    atomic_fetch_add(&ofl_arrangement, 1);
}

static void load_ends(void)
{
    ofl_thread.loads--;
    atomic_fetch_add(&ofl_arrangement, 1);
    atomic_fetch_sub(&under_way, 1);
}

static void jumped_load_ends(void)
{
    if (ofl_thread.loading != NULL) {
        ofl_thread.loading = NULL;
        load_ends();
    }
}

bool ofl_loading_under_way(const void *frame)
{
    if (ofl_thread.loading != NULL && (uintptr_t)frame > (uintptr_t)ofl_thread.loading) {
        jumped_load_ends();
    }
    return atomic_load(&under_way) != 0;
}

bool ofl_loading_elsewhere(void)
{
    unsigned own = ofl_thread.loads - (ofl_thread.loading != NULL);
    return atomic_load(&followed) > own;
}

void ofl_loading_forked(void)
{
    atomic_store(&under_way, ofl_thread.loads);
    atomic_store(&followed, ofl_thread.loads - (ofl_thread.loading != NULL));
}

#if defined __x86_64__
static void leave_thread(void *unused)
{
    (void)unused;
    jumped_load_ends();
}

static void make_key(void)
{
    pthread_key_create(&thread_end, leave_thread);
}

static void *open_and_return(const char *file, int mode)
{
    void *handle = ofl_dlopen_next(file, mode);
    atomic_fetch_sub(&followed, 1);
    load_ends();
    if (handle != NULL) {
        ofl_before_loading(); /* what holds before a load holds after it */
    }
    return handle;
}

/* Where dlopen goes on. */
void *ofl_dlopen_prepare(const char *file, int mode) __attribute__((visibility("hidden")));
void *ofl_dlopen_prepare(const char *file, int mode)
{
    const void *frame = __builtin_frame_address(0);
    void *behind = next(&dlopen_next, "dlopen");
    if (file == NULL || (mode & RTLD_NOLOAD) != 0) {
        return behind; /* brings nothing that imports our names */
    }
    bool searched = strchr(file, '/') == NULL || strchr(file, '$') != NULL;
    ofl_loading_under_way(frame);
    if (!searched) {
        load_begins();
        atomic_fetch_add(&followed, 1);
    } else if (ofl_thread.loading == NULL) { /* else it is one that another load makes in a constructor */
        pthread_once(&thread_end_once, make_key);
        pthread_setspecific(thread_end, &ofl_thread);
        ofl_thread.loading = frame;
        load_begins();
    }
    ofl_before_loading();
    return searched ? behind : (void *)open_and_return;
}

OFL_TAIL_HOOK(dlopen, ofl_dlopen_prepare);
#endif
