/* How often each kernel was launched, for the file that the setting summary_file names: lines `kernel device launches`
 * are appended when the process ends, unless the preload library writes them. */
#include "internal.h"

#include "base/settings.h"
#include "device/launches.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t owner; /* the process that writes; a forked child writes nothing */

static void write_summary(void)
{
    if (ofl_launches_claimed() || getpid() != owner) {
        return;
    }
    FILE *file = fopen(ofl_settings()->summary_file, "ae");
    if (file == NULL) {
        return;
    }
    for (const struct ofl_launches *item = ofl_launches(); item != NULL; item = item->next) {
        fprintf(file, "%s %s %" PRIu64 "\n", item->kernel, item->device, item->count);
    }
    fclose(file);
}

static void write_at_end(void)
{
    owner = getpid();
    atexit(write_summary);
}

void ofl_summary_count(const char *kernel, const char *device)
{
    if (ofl_settings()->summary_file[0] != '\0') {
        pthread_once(&once, write_at_end);
    }
    ofl_launches_count(kernel, device);
}
