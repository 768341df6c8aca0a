/* The file behind the writer: creating it, and mapping further runs of slots.  Private to src/trace. */
#ifndef OFL_TRACE_FILE_H
#define OFL_TRACE_FILE_H
#include "trace/record.h"
#include <stdbool.h>
#include <stddef.h>

enum { OFL_TRACE_FIRST_RUN = 65536, OFL_TRACE_RUN = 1 << 20 }; /* bytes; multiples of every page size in use */

/* Creates FOLDER/NAME-PID.trace (or with a number, if that exists) of OFL_TRACE_HEADER_SIZE bytes and maps the
 * header.  `path` gets its absolute path.  NULL with an explanation on failure. */
struct ofl_trace_header *ofl_trace_file_create(const char *folder, const char *name, char *path, size_t path_size,
                                               char *explanation, size_t size);

/* Allocates `bytes` at `offset` of the file and maps them.  The file must still be the one that has the header
 * mapped as `identity`. */
struct ofl_trace_file_id {
    uint64_t device, inode;
};
void *ofl_trace_file_map(const char *path, const struct ofl_trace_file_id *id, uint64_t offset, size_t bytes,
                         char *explanation, size_t size);

/* What ofl_trace_file_create made. */
bool ofl_trace_file_identify(const char *path, struct ofl_trace_file_id *out);
#endif
