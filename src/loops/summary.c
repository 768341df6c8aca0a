/* How often each kernel was launched, for the file that the setting summary_file names.
 *
 * Lines `kernel device launches` are appended when the process ends.  The list is guarded by `lock`; nothing is ever
 * removed. */
#include "internal.h"

#include "base/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct counted {
    char *kernel;
    const char *device;
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
    while (item != NULL && strcmp(item->kernel, kernel) != 0) {
        item = item->next;
    }
    if (item == NULL && (item = calloc(1, sizeof *item)) != NULL && (item->kernel = strdup(kernel)) == NULL) {
        free(item);
        item = NULL;
    }
    if (item != NULL && item->device == NULL) {
        item->device = device;
        item->next = list;
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
