/* Finding gpu-offload's own files; see locate.h. */
#include "fortran/locate.h"
#include "fortran/arena.h"
#include "fortran/driver_command.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder `from_bin` beside the executable's, if it has `file`. */
static const char *locate(struct ofl_arena *arena, const char *from_bin, const char *file)
{
    char self[PATH_MAX], folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        if (realpath(ofl_arena_format(arena, "%s/%s", dirname(self), from_bin), folder) != NULL &&
            access(ofl_arena_format(arena, "%s/%s", folder, file), R_OK) == 0) {
            return ofl_arena_text(arena, folder, strlen(folder));
        }
    }
    ofl_fc_error("%s was not found in %s beside the command; is gpu-offload installed completely?", file, from_bin);
    return NULL;
}

const char *ofl_locate_libraries(struct ofl_arena *arena)
{
    return locate(arena, OFL_LIBRARIES_FROM_BIN, "libgpuoffload-loops.so");
}

const char *ofl_locate_header(struct ofl_arena *arena)
{
    return locate(arena, OFL_HEADERS_FROM_BIN, "gpu-offload/host_kernel.h");
}
