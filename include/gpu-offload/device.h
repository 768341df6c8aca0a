/* What a backend implements: the device ABI.
 *
 * A backend is a shared object that makes one kind of device usable.  The core
 * (src/device, the only place that loads backends) opens it with dlopen and asks
 * for the symbol OFL_BACKEND_SYMBOL, a constant `struct ofl_backend`.  Everything
 * above the core sees devices through that struct only.
 *
 * Rules that hold for every function:
 *  - it returns an enum ofl_reason, OFL_OK or why not, and never exits, aborts,
 *    prints, changes signal handling or leaves an error behind that a later call
 *    would report.  OFL_DEVICE_LOST is sticky: after it, every call returns it;
 *  - `device` is an index below the count that `start` gave; `stream` a stream of
 *    that device.  Work on one stream runs in order, on two streams in any order;
 *  - functions may be called from any thread.  The core serialises calls that use
 *    the same stream;
 *  - the program's memory is touched only by copies that the core asked for.
 *
 * Sizes are in bytes or elements as named; matrices are column-major.
 */
#ifndef GPU_OFFLOAD_DEVICE_H
#define GPU_OFFLOAD_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFL_DEVICE_ABI     3
#define OFL_BACKEND_SYMBOL "ofl_backend"

enum ofl_reason {
#define OFL_REASON(id, name, text) OFL_##id,
#include <gpu-offload/reasons.def>
#undef OFL_REASON
    OFL_REASON_COUNT
};

enum ofl_operation {
#define OFL_OPERATION(name, ...) OFL_OP_##name,
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
    OFL_OPERATION_COUNT
};

enum ofl_precision { OFL_S, OFL_D, OFL_C, OFL_Z, OFL_PRECISION_COUNT };

enum ofl_access {
    OFL_READ,   /* only read */
    OFL_UPDATE, /* read and written */
    OFL_ADD,    /* written; read unless beta is zero */
    OFL_WRITE   /* only written */
};

enum ofl_region {
    OFL_GENERAL, /* all rows of all columns */
    OFL_UPPER,   /* rows 0..j of column j */
    OFL_LOWER,   /* rows j.. of column j */
    OFL_PIVOTS   /* one column of row numbers from 1: signed integers, in device memory of 64 bits */
};

/* A rectangle of elements in memory, host or device: element (i, j) is at
 * address + (i + j * ld) * element_size, for 0 <= i < rows, 0 <= j < columns. */
struct ofl_buffer {
    void *address;
    int64_t rows, columns;
    int64_t ld; /* elements from one column to the next; at least rows */
    uint32_t element_size;
    enum ofl_access access;
    enum ofl_region region; /* what is stored; the rest must not be written */
};

#define OFL_MAX_OPERANDS 4

/* A scalar in the precision of its operation; complex as {real, imaginary}.  Aligned as the device libraries'
 * complex types are, which they rely on. */
union ofl_scalar {
    _Alignas(16) float s;
    double d;
    float c[2];
    double z[2];
};

/* LAPACK's verdict in device memory, all zero before the operation.  The first word is info as
 * LAPACK defines it, with the operands as LAPACK leaves them: a backend sets it only where it keeps
 * that contract to the letter.  The second is a claim, by getrf and potrf only: info as LAPACK defines
 * it, but the core has to verify that the operands are as LAPACK leaves them.  The others are for routines that
 * tell of a singular or indefinite matrix in their own way.  Where one of them is not zero, or a claim is not
 * right, the results are thrown away, and the CPU library does the call. */
enum { OFL_INFO_LAPACK, OFL_INFO_CLAIM, OFL_INFO_OTHERS, OFL_INFO_WORDS = 5 };

/* One library call, brought to one form: column-major, capital flags, 64-bit
 * sizes, in real precisions 'T' where the caller said 'C'.  Fields that the
 * operation does not have are 0.  Operands are in the order of its row in
 * operations.def. */
struct ofl_call {
    enum ofl_operation operation;
    enum ofl_precision precision;
    char side, uplo, trans, transa, transb, diag;
    int64_t m, n, k, nrhs;
    union ofl_scalar alpha, beta; /* herk, her2k: the real ones are in .s or .d */
    int operands;
    struct ofl_buffer operand[OFL_MAX_OPERANDS];
    /* LAPACK only.  For a backend: OFL_INFO_WORDS words of device memory.  For whoever hands a call to the
     * core: where info is put, 0 or positive, when the device has done the call; may be NULL. */
    int32_t *info;
};

enum { OFL_DEVICE_NAME_SIZE = 128 };

struct ofl_device_properties {
    char name[OFL_DEVICE_NAME_SIZE];
    char driver[64]; /* for people and for profile keys: "580.159" */
    uint64_t memory_bytes;
    /* Peaks, for the estimate without a profile; 0 where unknown. */
    double flops_single, flops_double; /* operations a second */
    double memory_bandwidth;           /* bytes a second, on the device */
    double link_bandwidth;             /* bytes a second, host to device */
    int multiprocessors;
    int max_threads_per_block;
};

struct ofl_device_load {
    uint64_t memory_free, memory_total; /* bytes */
    double utilisation;                 /* 0..1, all processes; negative where unknown */
};

/* A kernel launch: blocks of threads, and the arguments as the kernel's parameters
 * lie in memory (CUDA's convention: one pointer for each parameter). */
struct ofl_launch {
    uint32_t blocks[3], threads[3];
    uint32_t shared_bytes;
    void **arguments;
};

struct ofl_stream;
struct ofl_event;
struct ofl_kernel;

struct ofl_backend {
    uint32_t abi;  /* OFL_DEVICE_ABI */
    uint32_t size; /* sizeof(struct ofl_backend) */
    const char *name;

    /* Loads what the backend needs and counts devices.  Called once, before anything
     * else.  On failure `explanation` (size bytes) says in one line what was looked
     * for, what was found, and what to do. */
    enum ofl_reason (*start)(int *devices, char *explanation, size_t size);
    void (*stop)(void);

    /* Opening creates what the first use of a device costs (a context).  Properties may be asked
     * of a device that is not open. */
    enum ofl_reason (*open)(int device, char *explanation, size_t size);
    void (*close)(int device);
    enum ofl_reason (*properties)(int device, struct ofl_device_properties *out);
    enum ofl_reason (*load)(int device, struct ofl_device_load *out);

    enum ofl_reason (*allocate)(int device, size_t bytes, void **out);
    enum ofl_reason (*release)(int device, void *address);

    /* Page-locked host memory: of the backend's own, or the program's registered. */
    enum ofl_reason (*host_allocate)(int device, size_t bytes, void **out);
    enum ofl_reason (*host_release)(int device, void *address);
    enum ofl_reason (*host_register)(int device, void *address, size_t bytes);
    enum ofl_reason (*host_unregister)(int device, void *address);
    /* Whether the byte lies in page-locked memory of either kind, whoever made it so: devices may write there. */
    bool (*host_is_locked)(int device, const void *address);

    /* Streams and events.  elapsed: seconds between two events that have happened. */
    enum ofl_reason (*stream_create)(int device, struct ofl_stream **out);
    enum ofl_reason (*stream_destroy)(int device, struct ofl_stream *stream);
    enum ofl_reason (*stream_wait)(int device, struct ofl_stream *stream); /* until all its work is done */
    enum ofl_reason (*event_create)(int device, struct ofl_event **out);
    enum ofl_reason (*event_destroy)(int device, struct ofl_event *event);
    enum ofl_reason (*event_record)(int device, struct ofl_stream *stream, struct ofl_event *event);
    enum ofl_reason (*event_wait)(int device, struct ofl_event *event);
    enum ofl_reason (*event_done)(int device, struct ofl_event *event, bool *done); /* does not wait */
    enum ofl_reason (*stream_wait_event)(int device, struct ofl_stream *stream, struct ofl_event *event);
    enum ofl_reason (*event_elapsed)(int device, struct ofl_event *begin, struct ofl_event *end, double *seconds);

    /* Copies of `columns` runs of `width` bytes, `to_pitch` and `from_pitch` bytes from one run to
     * the next.  Queued on the stream; memory that is not page-locked may make the call wait.  The
     * host side must stay valid until the stream has passed the copy. */
    enum ofl_reason (*copy_in)(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                               size_t from_pitch, size_t width, size_t columns);
    enum ofl_reason (*copy_out)(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                size_t from_pitch, size_t width, size_t columns);
    enum ofl_reason (*copy_within)(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                   size_t from_pitch, size_t width, size_t columns);

    /* Operations.  prepare: loads the library that runs the operation, which may take long; on failure
     * `explanation` says in one line what is missing and what to do.  Called before the others.  supports: OFL_OK, or
     * OFL_UNSUPPORTED, OFL_TOO_LARGE, OFL_LIBRARY_MISSING; looks at flags, sizes and leading dimensions only.
     * workspace: scratch that run needs.  run: operand addresses, scratch in device memory; `host_scratch` in ordinary
     * memory; all valid until the stream has passed the operation. */
    enum ofl_reason (*operation_prepare)(int device, enum ofl_operation operation, char *explanation, size_t size);
    enum ofl_reason (*operation_supports)(int device, const struct ofl_call *call);
    enum ofl_reason (*operation_workspace)(int device, const struct ofl_call *call, size_t *device_bytes,
                                           size_t *host_bytes);
    enum ofl_reason (*operation_run)(int device, struct ofl_stream *stream, const struct ofl_call *call,
                                     void *device_scratch, size_t device_bytes, void *host_scratch, size_t host_bytes);

    /* Kernels: `image` is what the backend's compiler made (CUDA: PTX or cubin; host: a shared object). */
    enum ofl_reason (*kernel_load)(int device, const void *image, size_t bytes, const char *name,
                                   struct ofl_kernel **out);
    enum ofl_reason (*kernel_unload)(int device, struct ofl_kernel *kernel);
    enum ofl_reason (*kernel_launch)(int device, struct ofl_stream *stream, struct ofl_kernel *kernel,
                                     const struct ofl_launch *launch);
};

#endif
