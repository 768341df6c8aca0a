/* Blocks of counters: made on demand, kept for ever, reused by later threads. */
#include "intercept/wrapper.h"

#include <pthread.h>
#include <stdlib.h>

static struct ofl_counters *_Atomic blocks;
static struct ofl_counters spare; /* for the case that memory is exhausted */
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_usable;

static void give_back(void *block)
{
    struct ofl_counters *counters = block;
    ofl_thread.counters = NULL;
    atomic_store(&counters->taken, false);
}

static void make_key(void)
{
    key_usable = pthread_key_create(&key, give_back) == 0;
}

struct ofl_counters *ofl_counters_acquire(void)
{
    pthread_once(&key_once, make_key);
    struct ofl_counters *block;
    for (block = atomic_load(&blocks); block != NULL; block = block->next) {
        bool expected = false;
        if (!atomic_load_explicit(&block->taken, memory_order_relaxed) &&
            atomic_compare_exchange_strong(&block->taken, &expected, true)) {
            break;
        }
    }
    if (block == NULL) {
        block = calloc(1, sizeof *block);
        if (block == NULL) {
            return &spare;
        }
        atomic_store(&block->taken, true);
        block->next = atomic_load(&blocks);
        while (!atomic_compare_exchange_weak(&blocks, &block->next, block)) {
        }
    }
    if (key_usable) {
        pthread_setspecific(key, block);
    }
    return block;
}

void ofl_counters_sum(struct ofl_counters *out)
{
    enum { CALLS = sizeof out->calls / sizeof(uint64_t) };
    memset((void *)out, 0, sizeof *out);
    for (struct ofl_counters *block = atomic_load(&blocks); block != NULL; block = block->next) {
        for (size_t i = 0; i < CALLS; i++) {
            (&out->calls[0][0][0])[i] += (&block->calls[0][0][0])[i];
        }
        for (size_t i = 0; i < OFL_REASON_COUNT; i++) {
            out->reasons[i] += block->reasons[i];
        }
    }
}

void ofl_counters_reset(void)
{
    for (struct ofl_counters *block = atomic_load(&blocks); block != NULL; block = block->next) {
        memset((void *)block->calls, 0, sizeof block->calls);
        memset((void *)block->reasons, 0, sizeof block->reasons);
        /* Of the parent's threads only the one that forked is here. */
        atomic_store(&block->taken, block == ofl_thread.counters);
    }
}
