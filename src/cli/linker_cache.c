/* Lists the dynamic linker's cache, by asking ldconfig: the cache's format is glibc's own business. */
#include "cli/linker_cache.h"
#include "cli/capture.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ofl_cli_linker_cache(void (*found)(const char *name, const char *path, void *context), void *context)
{
    static char sbin[] = "/sbin/ldconfig", any[] = "ldconfig", option[] = "-p";
    char *arguments[] = {access(sbin, X_OK) == 0 ? sbin : any, option, NULL};
    char *text = ofl_cli_capture(arguments, 10);
    char *rest = text, *line;
    while (rest != NULL && (line = strsep(&rest, "\n")) != NULL) {
        /* "\tlibblas.so.3 (libc6,x86-64) => /lib/x86_64-linux-gnu/libblas.so.3" */
        char *arrow = strstr(line, " => "), *name = line + strspn(line, "\t ");
        size_t length = strcspn(name, " ");
        if (arrow != NULL && name[length] == ' ') {
            name[length] = '\0';
            found(name, arrow + 4, context);
        }
    }
    free(text);
}
