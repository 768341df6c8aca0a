/* Tail calls while another thread loads a second library: racing EARLY WIDTH LATE WIDTH, with slow_dlopen.c preloaded.
 *
 * A thread begins to load LATE and is held before the dynamic linker sees it.  Meanwhile EARLY is loaded and
 * called, directly and by a pointer that was passed on; what that found out must not serve LATE's calls, which return
 * to the same place, nor the other way round. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 8 };
typedef void dgemm_function(const char *, const char *, const void *, const void *, const void *, const double *,
                            const double *, const void *, const double *, const void *, const double *, double *,
                            const void *, size_t, size_t);
struct plugin {
    const char *path;
    int width;
    dgemm_function *forward;
    long (*calls)(void);
};

static _Atomic int *entered, *released;
static int good = 1;

static void *open_plugin(void *argument)
{
    struct plugin *plugin = argument;
    void *handle = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&plugin->forward = dlsym(handle, "forward_dgemm");
    *(void **)&plugin->calls = dlsym(handle, "marked_calls");
    return NULL;
}

/* One place that calls all of them. */
static __attribute__((noinline)) void call(dgemm_function *function, const void *n, const double *a, double *c)
{
    const double one = 1, zero = 0;
    function("N", "N", n, n, n, &one, a, n, a, n, &zero, c, n, 1, 1);
    __asm__ volatile("" ::: "memory"); /* not a tail call itself */
}

static void check(const char *when, const struct plugin *plugin, dgemm_function *function)
{
    static double a[N * N], c[N * N];
    struct {
        int32_t narrow, garbage;
    } narrow = {N, -1};
    int64_t wide = N;
    long before = plugin->calls();
    for (int i = 0; i < N * N; i++) {
        a[i] = 1;
        c[i] = -1;
    }
    call(function, plugin->width == 8 ? (const void *)&wide : (const void *)&narrow, a, c);
    if (plugin->calls() != before + 1 || c[0] != N || c[N * N - 1] != N) {
        fprintf(stderr, "%s: a call of width %d reached another library\n", when, plugin->width);
        good = 0;
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 5) {
        return 2;
    }
    struct plugin early = {argv[1], atoi(argv[2]), NULL, NULL}, late = {argv[3], atoi(argv[4]), NULL, NULL};
    entered = dlsym(RTLD_DEFAULT, "slow_entered");
    released = dlsym(RTLD_DEFAULT, "slow_released");
    if (entered == NULL || released == NULL || pthread_create(&thread, NULL, open_plugin, &late) != 0) {
        return 2;
    }
    while (!atomic_load(entered)) {
        sched_yield();
    }
    open_plugin(&early);
    check("while it is loading", &early, early.forward);
    dgemm_function *passed_on = NULL; /* there only with the wrappers */
    *(void **)&passed_on = dlsym(RTLD_DEFAULT, "dgemm_");
    if (passed_on != NULL) {
        check("by a pointer", &early, passed_on);
    }
    check("while it is still loading", &early, early.forward);
    atomic_store(released, 1);
    pthread_join(thread, NULL);
    for (int round = 0; round < 3; round++) {
        check("afterwards, late", &late, late.forward);
        check("afterwards, early", &early, early.forward);
    }
    puts(good ? "ok" : "failed");
    return !good;
}
