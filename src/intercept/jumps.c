/* Calls that do not return.
 *
 * A program's xerbla_ may leave the library by longjmp (R's does), by an exception, or by ending its thread.  The
 * call that was running is over then, and what follows is the program's own again.  A jump that stays inside the
 * library, which none is known to make, would only let nested calls count as the program's. */
#include "intercept/wrapper.h"

#include <dlfcn.h>
#include <unwind.h>

#if defined __x86_64__

static void *leave_call(void *_Atomic *next, const char *name)
{
    ofl_thread.outermost = NULL;
    void *function = atomic_load_explicit(next, memory_order_acquire);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, name);
        atomic_store(next, function);
    }
    return function;
}

#define HOOK(name)                                                                                                     \
    void *ofl_prepare_##name(void) __attribute__((visibility("hidden")));                                              \
    void *ofl_prepare_##name(void)                                                                                     \
    {                                                                                                                  \
        static void *_Atomic next;                                                                                     \
        return leave_call(&next, #name);                                                                               \
    }                                                                                                                  \
    OFL_TAIL_HOOK(name, ofl_prepare_##name)

HOOK(longjmp);
HOOK(_longjmp);
HOOK(siglongjmp);
HOOK(__longjmp_chk);

/* The next functions, as long as looking them up takes no waiting for another thread. */
void ofl_jumps_start(void)
{
    ofl_prepare_longjmp();
    ofl_prepare__longjmp();
    ofl_prepare_siglongjmp();
    ofl_prepare___longjmp_chk();
}

/* The personality routine of the wrappers' frames: they have nothing to clean up but this. */
_Unwind_Reason_Code ofl_unwinding(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                  struct _Unwind_Exception *exception, struct _Unwind_Context *context)
    __attribute__((visibility("hidden")));
_Unwind_Reason_Code ofl_unwinding(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                  struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    (void)version, (void)kind, (void)exception, (void)context;
    if ((actions & _UA_CLEANUP_PHASE) != 0) {
        ofl_thread.outermost = NULL;
    }
    return _URC_CONTINUE_UNWIND;
}

#else
void ofl_jumps_start(void)
{
}
#endif
