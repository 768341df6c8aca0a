/* The CPU library that the host device computes with, loaded privately.
 *
 * The library named by the setting host_library, else OpenBLAS, else the reference
 * libraries.  It has a scope of its own (RTLD_LOCAL, and RTLD_DEEPBIND, so that its
 * calls of its own routines do not pass through the program's); AddressSanitizer
 * does not allow the latter, and then the thread's mark makes them pass through.
 * The interface is Fortran's with 32-bit integers; the library's integer width is
 * checked. */
#include "host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { load_mode = RTLD_NOW | RTLD_LOCAL };
#else
enum { load_mode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };
#endif

/* Tried in this order where no library was named; a second one has what the first lacks. */
static const char *const defaults[][2] = {
    {"libopenblas.so.0", NULL},
    {"libblas.so.3", "liblapack.so.3"},
};

static const char *const operation_names[OFL_OPERATION_COUNT] = {
#define OFL_OPERATION(name, ...) [OFL_OP_##name] = #name,
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};
static const char *const operation_precisions[OFL_OPERATION_COUNT] = {
#define OFL_OPERATION(name, precisions, ...) [OFL_OP_##name] = precisions,
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded; /* under library_lock; the routines are constant once it is set */
static ofl_host_function *routines[OFL_OPERATION_COUNT][OFL_PRECISION_COUNT];

/* A BLAS with 64-bit integers sees a negative size and returns 0; one with 32-bit integers sees 1. */
static bool has_32_bit_integers(void *library, bool *known)
{
    typedef int64_t isamax_function(const void *n, const float *x, const void *increment);
    static const uint64_t n = UINT64_C(0xFFFFFFFF00000001), increment = 1;
    static const float x = 1;
    isamax_function *isamax = (isamax_function *)dlsym(library, "isamax_");
    *known = isamax != NULL;
    return *known && (int32_t)isamax(&n, &x, &increment) == 1;
}

static enum ofl_precision precision_of(char letter)
{
    return letter == 's' ? OFL_S : letter == 'd' ? OFL_D : letter == 'c' ? OFL_C : OFL_Z;
}

static void find_routines(void *library)
{
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (const char *letter = operation_precisions[operation]; *letter != '\0'; letter++) {
            char symbol[32];
            ofl_host_function **routine = &routines[operation][precision_of(*letter)];
            snprintf(symbol, sizeof symbol, "%c%s_", *letter, operation_names[operation]);
            if (*routine == NULL) {
                *routine = (ofl_host_function *)dlsym(library, symbol);
            }
        }
    }
}

static bool use(const char *name, const char *second, char *explanation, size_t size)
{
    bool known;
    void *library = dlopen(name, load_mode);
    if (library == NULL) {
        const char *error = dlerror();
        snprintf(explanation, size,
                 "the host device's BLAS library could not be loaded (%s); install OpenBLAS or set "
                 "GPU_OFFLOAD_HOST_LIBRARY to a BLAS library",
                 error != NULL ? error : name);
        return false;
    }
    if (!has_32_bit_integers(library, &known)) {
        snprintf(explanation, size,
                 known ? "%s has 64-bit integers; set GPU_OFFLOAD_HOST_LIBRARY to a BLAS library with 32-bit ones"
                       : "%s has no isamax_; set GPU_OFFLOAD_HOST_LIBRARY to a BLAS library",
                 name);
        dlclose(library);
        return false;
    }
    find_routines(library);
    library = second != NULL ? dlopen(second, load_mode) : NULL;
    if (library != NULL) {
        find_routines(library);
    }
    return true;
}

enum ofl_reason ofl_host_library_load(const char *name, char *explanation, size_t size)
{
    pthread_mutex_lock(&library_lock);
    if (!loaded && *name != '\0') {
        loaded = use(name, NULL, explanation, size);
    } else {
        for (size_t i = 0; !loaded && i < sizeof defaults / sizeof *defaults; i++) {
            loaded = use(defaults[i][0], defaults[i][1], explanation, size);
        }
    }
    bool found = loaded;
    pthread_mutex_unlock(&library_lock);
    return found ? OFL_OK : OFL_LIBRARY_MISSING;
}

ofl_host_function *ofl_host_routine(enum ofl_operation operation, enum ofl_precision precision)
{
    return routines[operation][precision];
}
