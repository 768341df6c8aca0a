/* Calls from stacks of all kinds: stacks thread|coroutine|fiber BYTES
 *
 * Large and small calls on a thread's stack of BYTES, on a coroutine's in the main thread, and on one in another
 * thread. Behind each coroutine's stack lies a page that must not be touched. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

enum { most = 600, page = 4096 };
static double a[most * most], b[most * most], c[most * most];
static int wrong;

static void products(void)
{
    for (int n = 30; n <= most; n += 190) {
        const double one = 1, zero = 0;
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
        for (int i = 0; i < n * n; i++) {
            wrong += c[i] != 2.0 * n;
        }
    }
}

static void *thread(void *unused)
{
    (void)unused;
    products();
    return NULL;
}

static void *coroutine(void *bytes)
{
    size_t size = *(const size_t *)bytes;
    ucontext_t back, there;
    char *stack = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0 || getcontext(&there) != 0) {
        exit(2);
    }
    there.uc_stack.ss_sp = stack + page;
    there.uc_stack.ss_size = size;
    there.uc_link = &back;
    makecontext(&there, products, 0);
    swapcontext(&back, &there);
    munmap(stack, size + page);
    return NULL;
}

int main(int argc, char **argv)
{
    size_t bytes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    pthread_attr_t attributes;
    pthread_t made;
    for (int i = 0; i < most * most; i++) {
        a[i] = 1;
        b[i] = 2;
    }
    pthread_attr_init(&attributes);
    if (argc == 3 && strcmp(argv[1], "coroutine") == 0) {
        coroutine(&bytes);
    } else if (argc == 3 && strcmp(argv[1], "fiber") == 0) {
        if (pthread_create(&made, NULL, coroutine, &bytes) != 0 || pthread_join(made, NULL) != 0) {
            return 2;
        }
    } else if (pthread_attr_setstacksize(&attributes, bytes) != 0 ||
               pthread_create(&made, &attributes, thread, NULL) != 0 || pthread_join(made, NULL) != 0) {
        return 2;
    }
    return wrong != 0;
}
