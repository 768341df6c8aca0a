/* Whether the host has memory for large staging areas. */
#ifndef OFL_DEVICE_HOST_MEMORY_H
#define OFL_DEVICE_HOST_MEMORY_H
#include <stdbool.h>
#include <stddef.h>

/* Whether so many more bytes can be used, as far as the kernel tells, without anybody being stopped for want of memory.
 * Reads a few files. */
bool ofl_host_memory_suffices(size_t bytes);
#endif
