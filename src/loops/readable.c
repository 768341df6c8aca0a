/* How far memory can be read; see internal.h.
 *
 * For arrays whose size nobody knows, and of which the loop may touch less than its subscripts say. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

uintptr_t ofl_loop_readable(const struct ofl_loop *loop, uintptr_t begin, uintptr_t end)
{
    char line[4096];
    uintptr_t reached = begin;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) {
        ofl_loop_stop(loop, "the size of an array (*) cannot be found out: /proc/self/maps cannot be read");
    }
    /* Mappings come in the order of their addresses. */
    while (reached < end && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t from, to;
        char readable;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c", &from, &to, &readable) == 3 && from <= reached &&
            reached < to) {
            if (readable != 'r') {
                break;
            }
            reached = to;
        }
    }
    fclose(maps);
    return reached < end ? reached : end;
}
