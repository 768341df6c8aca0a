/* How often each kernel was launched, for the file that the setting summary_file names.
 *
 * Lines `kernel device launches` are appended when the process ends.  The list is guarded by `lock`; nothing is ever
 * removed. */
#include "internal.h"

#include "base/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct counted {
    const char *kernel, *device;
    unsigned long launches;
    struct counted *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct counted *list;
static pid_t owner; /* the process that counts; a forked child does not report its parent's launches */

static void write_summary(void)
{
    if (getpid() != owner) {
        return;
    }
    FILE *file = fopen(ofl_settings()->summary_file, "ae");
    if (file == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (const struct counted *item = list; item != NULL; item = item->next) {
        fprintf(file, "%s %s %lu\n", item->kernel, item->device, item->launches);
    }
    pthread_mutex_unlock(&lock);
    fclose(file);
}

void ofl_summary_count(const char *kernel, const char *device)
{
    if (ofl_settings()->summary_file[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&lock);
    struct counted *item = list;
    while (item != NULL && item->kernel != kernel) {
        item = item->next;
    }
    if (item == NULL && (item = malloc(sizeof *item)) != NULL) {
        *item = (struct counted){kernel, device, 0, list};
        if (list == NULL) {
            owner = getpid();
            atexit(write_summary);
        }
        list = item;
    }
    if (item != NULL) {
        item->launches++;
    }
    pthread_mutex_unlock(&lock);
}
