/* Finds gpu-offload's own files.
 *
 * The build folder and an installation have the same relative layout (see the top CMakeLists.txt), so the
 * libraries are found from the executable's place; the folder can be moved as a whole. */
#include "cli/cli.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The kernel's answer first; where /proc is not mounted, the name that was executed. */
static bool own_path(char *path)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length > 0) {
        path[length] = '\0';
        return true;
    }
    const char *name = (const char *)getauxval(AT_EXECFN);
    return name != NULL && realpath(name, path) != NULL;
}

bool ofl_cli_library(const char *file, char *path, size_t size)
{
    char executable[PATH_MAX], joined[2 * PATH_MAX], folder[PATH_MAX];
    if (!own_path(executable)) {
        return false;
    }
    char *slash = strrchr(executable, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    snprintf(joined, sizeof joined, "%s/%s", executable, OFL_LIBRARIES_FROM_BIN);
    /* A folder that does not exist keeps its unresolved name, for the message about it. */
    const char *resolved = realpath(joined, folder) != NULL ? folder : joined;
    int needed = snprintf(path, size, "%s/%s", resolved, file);
    return needed >= 0 && (size_t)needed < size;
}
