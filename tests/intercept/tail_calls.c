/* Tail calls from plugins with different libraries: tail_calls PLUGIN WIDTH PLUGIN WIDTH ...
 *
 * The program itself imports no BLAS.  Each plugin forwards by a tail call, so that every call returns to the
 * same place here; each must still reach its own library, whose integers have the width given.  With a
 * device that fails or is absent the libraries' own counters tell exactly who served whom; the
 * results are checked in any case.  Integers have garbage behind them, so that a wrong width shows. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, N = 110 };
typedef void dgemm_function(const char *, const char *, const void *, const void *, const void *, const double *,
                            const double *, const void *, const double *, const void *, const double *, double *,
                            const void *, size_t, size_t);

struct plugin {
    void *handle;
    dgemm_function *forward, *call_kept;
    void (*keep)(void);
    long (*calls)(void);
    int width;
};

static double a[N * N], b[N * N], c[N * N];

static int open_plugin(struct plugin *plugin, const char *path, int width)
{
    plugin->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin->handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    *(void **)&plugin->forward = dlsym(plugin->handle, "forward_dgemm");
    *(void **)&plugin->call_kept = dlsym(plugin->handle, "call_kept");
    *(void **)&plugin->keep = dlsym(plugin->handle, "keep_pointer");
    *(void **)&plugin->calls = dlsym(plugin->handle, "marked_calls"); /* NULL for real libraries */
    plugin->width = width;
    if (plugin->keep != NULL) {
        plugin->keep();
    }
    return plugin->forward != NULL;
}

/* One place in the program that calls all of them. */
static __attribute__((noinline)) void call(dgemm_function *function, const void *n)
{
    const double one = 1, zero = 0;
    function("N", "N", n, n, n, &one, a, n, b, n, &zero, c, n, 1, 1);
    __asm__ volatile("" ::: "memory"); /* not a tail call itself */
}

static int right(int n)
{
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int l = 0; l < n; l++) {
                sum += a[i + l * n] * b[l + j * n];
            }
            if (c[i + j * n] != sum) { /* small integers: exact in any order */
                return 0;
            }
        }
    }
    return 1;
}

static int check_call(struct plugin *plugin, dgemm_function *function, int n)
{
    struct {
        int32_t narrow, garbage;
    } narrow = {n, -1};
    int64_t wide = n;
    long before = plugin->calls != NULL ? plugin->calls() : 0;
    for (int i = 0; i < n * n; i++) {
        a[i] = rand() % 9 - 4;
        b[i] = rand() % 9 - 4;
        c[i] = 1e300;
    }
    call(function, plugin->width == 8 ? (const void *)&wide : (const void *)&narrow);
    if (!right(n)) {
        fprintf(stderr, "n = %d, width %d: wrong result\n", n, plugin->width);
        return 0;
    }
    if (plugin->calls != NULL && getenv("EXPECT_CPU") != NULL && plugin->calls() != before + 1) {
        fprintf(stderr, "n = %d, width %d: the call reached another library\n", n, plugin->width);
        return 0;
    }
    return 1;
}

static int check(struct plugin *plugin, int n)
{
    return check_call(plugin, plugin->forward, n) &&
           (plugin->call_kept == NULL || check_call(plugin, plugin->call_kept, n));
}

/* The first again, closed and opened: perhaps at another's old place. */
static int reopen(struct plugin *plugins, int count, char **argv)
{
    int good = 1;
    for (int round = 0; round < 20; round++) {
        int i = round % count, j = (i + 1) % count;
        dlclose(plugins[i].handle);
        good &= check(&plugins[j], 50);
        good &= open_plugin(&plugins[i], argv[1 + 2 * i], plugins[i].width) && check(&plugins[i], 60) &&
                check(&plugins[j], 70);
    }
    return good;
}

/* A child of fork finds its way as its parent did. */
static int child_does(struct plugin *plugins, int count, char **argv)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        _exit(!reopen(plugins, count, argv));
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    struct plugin plugins[MOST] = {0};
    int count = 0, good = 1;
    for (int i = 1; i + 1 < argc && count < MOST; i += 2) {
        if (!open_plugin(&plugins[count], argv[i], atoi(argv[i + 1]))) {
            return 1;
        }
        count++;
    }
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < count; i++) {
            good &= check(&plugins[i], 1 + (37 * round + i) % N);
        }
    }
    good &= child_does(plugins, count, argv) && reopen(plugins, count, argv);
    puts(good ? "ok" : "failed");
    return !good;
}
