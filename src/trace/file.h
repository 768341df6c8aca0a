/* The file behind the writer: creating it, mapping windows and appending blocks.  Private to src/trace. */
#ifndef OFL_TRACE_FILE_H
#define OFL_TRACE_FILE_H
#include "trace/record.h"
#include <stdbool.h>
#include <stddef.h>

/* Creates FOLDER/NAME-PID.trace (or with a number, if that exists) of OFL_TRACE_HEADER_SIZE bytes and maps the
 * header.  `path` gets its absolute path.  NULL with an explanation on failure. */
struct ofl_trace_header *ofl_trace_file_create(const char *folder, const char *name, char *path, size_t path_size,
                                               char *explanation, size_t size);

struct ofl_trace_file_id {
    uint64_t device, inode;
};

/* Allocates the block at `offset` and maps it.  The file must still be the one that `id` tells.  NULL with an
 * explanation on failure. */
void *ofl_trace_file_map(const char *path, const struct ofl_trace_file_id *id, uint64_t offset, char *explanation,
                         size_t size);

/* Writes a block at `offset`. */
bool ofl_trace_file_write(const char *path, const struct ofl_trace_file_id *id, uint64_t offset, const void *block,
                          char *explanation, size_t size);

/* What ofl_trace_file_create made. */
bool ofl_trace_file_identify(const char *path, struct ofl_trace_file_id *out);
#endif
