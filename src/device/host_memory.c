/* Whether the host has memory for large staging areas.
 *
 * malloc promises memory that is not there, and whoever touches too much of it is
 * killed: the program, which would have had its result without us.  So large areas
 * are asked for only where the kernel says that there is room: in the machine, and within the
 * limits of the control group (of a container or a batch job) where one is set.
 * What the kernel does not tell does not count. */
#include "device/host_memory.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The begin of a file; false where it cannot be read. */
static bool read_file(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* The number in a file; UINT64_MAX where there is none ("max"). */
static uint64_t number_in(const char *path)
{
    char text[64], *end;
    if (!read_file(path, text, sizeof text)) {
        return UINT64_MAX;
    }
    uint64_t number = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : number;
}

static uint64_t available_in_machine(void)
{
    char text[2048];
    const char *line = read_file("/proc/meminfo", text, sizeof text) ? strstr(text, "MemAvailable:") : NULL;
    return line != NULL ? strtoull(line + strlen("MemAvailable:"), NULL, 10) << 10 : UINT64_MAX;
}

/* What a limit leaves.  Memory that caches files can be had again, but nobody says how much of it that is. */
static uint64_t left_in(const char *mount, const char *group, const char *limit, const char *usage)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s/%s", mount, group, limit);
    uint64_t most = number_in(path);
    snprintf(path, sizeof path, "%s%s/%s", mount, group, usage);
    uint64_t used = number_in(path);
    if (most == UINT64_MAX || used == UINT64_MAX) {
        return UINT64_MAX;
    }
    return most > used ? most - used : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Control groups of both versions.  In a container the group's name may be that of the outside: then the limit lies at
 * the mount itself. */
static uint64_t available_in_group(void)
{
    static const struct {
        const char *marker, *mount, *limit, *usage;
    } versions[] = {
        {"0::", "/sys/fs/cgroup", "memory.max", "memory.current"},
        {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
    };
    char text[4096];
    uint64_t left = UINT64_MAX;
    if (!read_file("/proc/self/cgroup", text, sizeof text)) {
        return left;
    }
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *line = strstr(text, versions[i].marker);
        char group[256] = "";
        if (line == NULL) {
            continue;
        }
        line += strlen(versions[i].marker);
        size_t length = strcspn(line, "\n");
        if (length > 1 && length < sizeof group) {
            memcpy(group, line, length);
            group[length] = '\0';
        }
        left = least(left, left_in(versions[i].mount, group, versions[i].limit, versions[i].usage));
        left = least(left, left_in(versions[i].mount, "", versions[i].limit, versions[i].usage));
    }
    return left;
}

bool ofl_host_memory_suffices(size_t bytes)
{
    uint64_t available = least(available_in_machine(), available_in_group());
    return bytes <= available - available / 16;
}
