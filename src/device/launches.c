/* Counting launches; see launches.h.
 *
 * The list is guarded by `lock`; items are never freed. */
#include "device/launches.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ofl_launches *list;
static atomic_bool claimed;

static struct ofl_launches *find(const char *kernel)
{
    struct ofl_launches *item = list;
    while (item != NULL && strcmp(item->kernel, kernel) != 0) {
        item = (struct ofl_launches *)item->next;
    }
    if (item == NULL && (item = calloc(1, sizeof *item)) != NULL) {
        item->kernel = strdup(kernel);
        if (item->kernel == NULL) {
            free(item);
            return NULL;
        }
        item->next = list;
        list = item;
    }
    return item;
}

void ofl_launches_count(const char *kernel, const char *device)
{
    pthread_mutex_lock(&lock);
    struct ofl_launches *item = find(kernel);
    if (item != NULL) { /* without memory it is not counted */
        item->device = device;
        item->count++;
    }
    pthread_mutex_unlock(&lock);
}

const struct ofl_launches *ofl_launches(void)
{
    return list;
}

void ofl_launches_after_fork_in_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* a thread that does not exist here may hold it */
    list = NULL;
}

void ofl_launches_claim(void)
{
    atomic_store(&claimed, true);
}

bool ofl_launches_claimed(void)
{
    return atomic_load(&claimed);
}
