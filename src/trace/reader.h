/* Reading traces.
 *
 * Files may be cut off, damaged or still being written: whatever they hold, reading ends with records
 * that are safe to use, or with a line that says why not.  A record's numbers are then within the
 * ranges of this version's tables; the header's texts are terminated. */
#ifndef OFL_TRACE_READER_H
#define OFL_TRACE_READER_H
#include "trace/record.h"
#include <gpu-offload/device.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ofl_trace_reader;

/* Opens a trace; NULL with one line in `explanation` if it is none.  The second form takes over an open file (also
 * on failure). */
struct ofl_trace_reader *ofl_trace_open(const char *path, char *explanation, size_t size);
struct ofl_trace_reader *ofl_trace_open_stream(FILE *stream, char *explanation, size_t size);
void ofl_trace_close(struct ofl_trace_reader *reader);

const struct ofl_trace_header *ofl_trace_reader_header(const struct ofl_trace_reader *reader);

/* The next record, in the file's order; false at its end.  Damaged records are skipped and counted.  Operations
 * are numbers of this version's enum ofl_operation, OFL_OPERATION_COUNT for names that it does not know.
 * Text records can be read through ofl_trace_text_of. */
bool ofl_trace_next(struct ofl_trace_reader *reader, struct ofl_trace_record *out);
uint64_t ofl_trace_damaged(const struct ofl_trace_reader *reader);

/* The text record that `record` is; false if it is of another kind. */
bool ofl_trace_text_of(const struct ofl_trace_record *record, struct ofl_trace_text *out);

/* All records of a file in the order of their start; *count records, to be freed by the caller.  NULL if there
 * is no memory. */
struct ofl_trace_record *ofl_trace_read_all(struct ofl_trace_reader *reader, size_t *count);

/* The paths of all traces in a folder, sorted; a path that is itself a trace gives itself.  NULL with an
 * explanation if there are none.  Freed by ofl_trace_free_list. */
char **ofl_trace_list(const char *folder, size_t *count, char *explanation, size_t size);
void ofl_trace_free_list(char **paths, size_t count);
#endif
