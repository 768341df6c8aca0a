/* Writing a trace from inside the traced program.
 *
 * Each thread writes into a window of its own, a block mapped from the process's file, so a call takes
 * no lock, makes no system call (but once in 255 records, to copy the full window to the file's end) and
 * what was written is in the file even if the process is killed the next moment.  A window's disk space is
 * allocated before it is mapped, so a full disk is an error here and never a signal; then tracing stops
 * with one line and the program goes on.  No descriptor stays open: programs close what they do not know.
 *
 * A child of fork writes a file of its own from its first record on.  Nothing here exits or prints on
 * standard output. */
#ifndef OFL_TRACE_WRITER_H
#define OFL_TRACE_WRITER_H
#include "trace/record.h"
#include <gpu-offload/device.h>
#include <stdbool.h>

/* Starts tracing into a new file PROGRAM-PID.trace of `folder`, which is made if it is not there.  False, with
 * one line in `explanation`, if that fails.  Call once, before other threads trace. */
bool ofl_trace_start(const char *folder, int level, char *explanation, size_t size);

/* Whether records are being written: a few instructions. */
bool ofl_trace_active(void);

/* CLOCK_MONOTONIC in ns, as records have it. */
uint64_t ofl_trace_now(void);

/* Begins a record: everything that is known of a call before it runs, with the operands' fingerprints.
 * The caller then fills in times, predictions and the reason. */
void ofl_trace_describe(const struct ofl_call *call, struct ofl_trace_record *out);

/* Writes a record; `thread` is filled in.  Any thread, also in a signal handler: a record that interrupts the
 * writing of another in its thread is dropped and counted. */
void ofl_trace_write(const struct ofl_trace_record *record);

/* Writes the buffers beyond the first OFL_TRACE_BUFFERS of a piece of work, as continuation records.  Call
 * right after the work's own record. */
void ofl_trace_write_buffers(const struct ofl_trace_record *work, const struct ofl_trace_buffer *buffers, int count);

/* Notes that call sites from `first` to below `last` lie in the file `path`. */
void ofl_trace_module(const void *first, const void *last, const char *path);
/* Notes that the device was started, which took `seconds`. */
void ofl_trace_device(const char *name, double seconds);
/* Notes the name of loop number `loop`. */
void ofl_trace_kernel(uint32_t loop, const char *name);

/* For pthread_atfork in the child. */
void ofl_trace_after_fork_in_child(void);

/* The process ends in the ordinary way.  Records of threads that are still running are dropped. */
void ofl_trace_stop(void);
#endif
