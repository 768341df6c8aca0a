/* The device of this process: the one place that knows whether there is one.
 *
 * Both doors come here with work on host memory.  A process has at most one
 * backend, chosen by the setting `device`, loaded and started at the first
 * ofl_device_start.  Nothing here exits, aborts or prints; every failure is a
 * reason and leaves host memory as it was. */
#ifndef OFL_DEVICE_DEVICE_H
#define OFL_DEVICE_DEVICE_H
#include <gpu-offload/device.h>

/* How long the parts of one piece of work took, seconds, and what was moved, bytes.  Where they overlap, compute is
 * what was left to compute when the last operand had arrived, and copy_out what was left after that: the sum is the
 * time of the whole. */
struct ofl_device_times {
    double wait, copy_in, compute, copy_out;
    uint64_t bytes_in, bytes_out;
};

/* Loads and starts the backend once; later calls return the same answer.  OFL_DISABLED for
 * --device none, OFL_FORKED in a child of the process that had started it.  Any thread. */
enum ofl_reason ofl_device_start(void);

/* The backend that the setting `auto` means in this process: "cuda" unless somebody says otherwise before a device is
 * started.  After a start of another backend that failed, there may be one more.  `backend` is not copied. */
void ofl_device_prefer(const char *backend);

/* OFL_OK while a started device is usable; else why not (OFL_NOT_STARTED before the first start).
 * Never starts anything; a few nanoseconds. */
enum ofl_reason ofl_device_state(void);

/* The same, but where files tell for certain that there is no device to be started, why; ofl_device_explanation then
 * says more.  Starts nothing.  Below a millisecond the first time, then a few nanoseconds. */
enum ofl_reason ofl_device_look(void);

/* Whether a reason says that there is no device that could be started. */
bool ofl_device_is_missing(enum ofl_reason reason);

/* "cuda", "host"; NULL before a successful start and in a child that stays on the CPU. */
const char *ofl_device_name(void);

/* One line for people about why the start failed: what was looked for, what was found, what to do.
 * Empty where nothing failed. */
const char *ofl_device_explanation(void);

/* Properties and load of the started device. */
enum ofl_reason ofl_device_properties(struct ofl_device_properties *out);
enum ofl_reason ofl_device_load(struct ofl_device_load *out);

/* How ofl_device_run would move a call's data; for predictions. */
struct ofl_device_outlook {
    int pieces; /* steps whose copies and operations overlap; 1: one thing after the other */
    int shared; /* the operand that arrives whole before the first of several steps computes, or -1 */
    bool staged[OFL_MAX_OPERANDS]; /* the result goes to a staging area first, and into its place at the end */
    uint64_t most_bytes; /* of device memory: larger calls are done piece by piece; 0: there is no such limit */
};

/* Depends on the call and on settings, and most_bytes on the device if it is started: there need be none.  Touches no
 * operand; below a microsecond. */
void ofl_device_outlook(const struct ofl_call *call, struct ofl_device_outlook *out);

/* Whether the device has a routine for the call and could hold its operands.  Starts the device, and loads the library
 * that the routine is in. */
enum ofl_reason ofl_device_supports(const struct ofl_call *call);

/* The same; *device_bytes is the memory that the call takes there, workspace included; 0 where that is not known. */
enum ofl_reason ofl_device_needs(const struct ofl_call *call, uint64_t *device_bytes);

/* Runs a call whose operands lie in host memory: copy in, compute, copy out.  Starts nothing; no
 * output may overlap another operand; sizes and alpha must not be zero (OFL_NOTHING_TO_DO).  With OFL_OK the result
 * is in place; with any other reason host memory is exactly as before (an output that the
 * operation does not read may hold anything: the CPU computes all of it).  `times` may be NULL.
 * One call at a time; others wait; OFL_NESTED from a signal handler inside a call of the same thread. */
enum ofl_reason ofl_device_run(const struct ofl_call *call, struct ofl_device_times *times);

/* Of the operands that a call reads, bytes. */
struct ofl_device_residency {
    double resident; /* on the device since an earlier call, probably unchanged */
    double repeated; /* not there, but unchanged between calls: a copy would serve later calls too */
    double credit;   /* seconds that were missed because it was not there */
};

/* What is known without looking at all of it; all zeros where nothing is kept. */
void ofl_device_residency(const struct ofl_call *call, struct ofl_device_residency *out);

/* The CPU has done the call; with its repeated operands on the device the device would have saved `seconds`. */
void ofl_device_residency_missed(const struct ofl_call *call, double seconds);

struct ofl_residency_counts {
    bool works;                       /* wanted, and the kernel can prove that memory is unchanged */
    uint64_t kept, uses;              /* copies made to stay; uses of such copies */
    uint64_t bytes_spared, bytes_now; /* not copied in; on the device now */
    uint64_t bytes_checked;           /* that the kernel was asked about, and the seconds that this took */
    double check_seconds;
};

/* Of this process so far. */
void ofl_device_residency_counts(struct ofl_residency_counts *out);

/* Times a copy of so many bytes between page-locked host memory and the started device: the shortest of a few.  For
 * calibrations. */
enum ofl_reason ofl_device_time_copy(bool in, size_t bytes, double *seconds);

/* Whether two rectangles of memory share a byte.  Exact where both have the same leading dimension (rows
 * of one array that interleave are disjoint) and where one is contiguous; else true when their
 * address ranges meet.  Triangles count as their rectangles. */
bool ofl_buffers_overlap(const struct ofl_buffer *a, const struct ofl_buffer *b);

/* `mark` is called first in each thread that the device makes to work for a caller (threads with small
 * stacks have their work done on another one): the preload library marks it as one of the backend's, so
 * that its wrappers pass through.  Call before ofl_device_start. */
void ofl_device_on_thread(void (*mark)(void));

/* For pthread_atfork.  A child of a process that had started its device stays on the CPU. */
void ofl_device_before_fork(void);
void ofl_device_after_fork_in_parent(void);
void ofl_device_after_fork_in_child(void);

/* The process is ending: from now on ofl_device_state is OFL_EXITING. */
void ofl_device_exit(void);
#endif
