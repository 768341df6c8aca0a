/* What the tests of backends share: opening one, and running a test in a process of its own. */
#ifndef OFL_TESTS_UNIT_BACKEND_H
#define OFL_TESTS_UNIT_BACKEND_H
#include <gpu-offload/device.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static inline const struct ofl_backend *open_backend(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct ofl_backend *backend = library != NULL ? dlsym(library, OFL_BACKEND_SYMBOL) : NULL;
    if (backend == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return backend;
}

/* In a child, a failed check ends the process; the parent sees the status. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Settings are read once in a process: each test of them is one. */
static inline void in_child(void (*function)(void))
{
    int status = -1;
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        function();
        exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
#endif
