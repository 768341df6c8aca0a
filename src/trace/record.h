/* The trace format: a header and blocks of records of one size.
 *
 * A file belongs to one process.  It is OFL_TRACE_HEADER_SIZE bytes of header, then blocks of
 * OFL_TRACE_BLOCK_SLOTS slots.  The first slot of a block describes it, the others hold a record or, with
 * kind 0, nothing.  A slot's kind is written after the rest of it, so what has a kind is whole.
 *
 * A thread writes into a block that is its window; a full window is copied to a new block and cleared.
 * Before it copies, the window's first slot names the new block, and after clearing it names none: a
 * reader that finds a name there drops what is in both blocks (the program was killed in between).
 * Records of different threads are therefore not in the order of time.
 *
 * Numbers have the byte order of the machine that wrote them; `byte_order` tells which.  Operations
 * are numbers into the header's list of names, since operations.def may change between versions.
 * Reasons are those of reasons.def, which only grows. */
#ifndef OFL_TRACE_RECORD_H
#define OFL_TRACE_RECORD_H
#include <stdbool.h>
#include <stdint.h>

enum {
    OFL_TRACE_VERSION = 1,
    OFL_TRACE_HEADER_SIZE = 65536, /* a multiple of every page size in use */
    OFL_TRACE_BLOCK_SLOTS = 256,
    OFL_TRACE_BLOCK_SIZE = OFL_TRACE_BLOCK_SLOTS * 256, /* another such multiple */
    OFL_TRACE_BUFFERS = 4,
    OFL_TRACE_BYTE_ORDER = 0x01020304
};
#define OFL_TRACE_MAGIC "OFLTRACE"

enum ofl_trace_kind {
    OFL_TRACE_EMPTY,
    OFL_TRACE_CALL,         /* a library call */
    OFL_TRACE_LOOP,         /* a parallel loop; its kernel's name is in a text record before */
    OFL_TRACE_CONTINUATION, /* more buffers of the work of this thread that has the same start */
    OFL_TRACE_MODULE,       /* struct ofl_trace_text: a mapped file in which call sites lie */
    OFL_TRACE_DEVICE,       /* struct ofl_trace_text: the device was started; its name */
    OFL_TRACE_KERNEL,       /* struct ofl_trace_text: the name of loop `first` */
    OFL_TRACE_BLOCK,        /* struct ofl_trace_text: a block's first slot; `first`: where it is being copied to */
    OFL_TRACE_KIND_COUNT
};

enum ofl_trace_flag {
    OFL_TRACE_NESTED = 1, /* made by a library inside another call */
    OFL_TRACE_FAILED = 2, /* info is not 0 */
    OFL_TRACE_PROBE = 4,  /* sent where it ran in order to measure */
    OFL_TRACE_FORCED = 8, /* sent to the device by --force */
    OFL_TRACE_FIRST = 16  /* made the device load a library, which is in its time */
};

struct ofl_trace_buffer {
    uint64_t address;
    uint64_t bytes;       /* of the stored elements */
    uint64_t fingerprint; /* of sampled elements before the work; 0: not taken */
    uint8_t access;       /* enum ofl_access */
    uint8_t region;       /* enum ofl_region */
    uint8_t element_size;
    uint8_t unused[5];
};

struct ofl_trace_record {
    uint32_t kind; /* written last */
    uint32_t thread;
    uint64_t start, duration; /* ns, CLOCK_MONOTONIC */
    uint64_t call_site;       /* address; the module records tell what lies there */
    double flops;
    float predicted_cpu, predicted_device;  /* seconds; negative: no prediction was made */
    float wait, copy_in, compute, copy_out; /* seconds, of work that ran on the device */
    uint64_t bytes_in, bytes_out;           /* that were moved */
    int64_t m, n, k;                        /* k: the number of right-hand sides where an operation has that instead */
    uint16_t operation;                     /* index into the header's names */
    uint8_t precision;                      /* enum ofl_precision */
    uint8_t reason;                         /* enum ofl_reason */
    uint8_t flags;                          /* enum ofl_trace_flag */
    uint8_t buffers;                        /* of this record; a continuation has the next ones */
    char side, uplo, transa, transb, diag;
    uint8_t pieces; /* steps into which a device would cut the work so that copies overlap with computing; 0, 1: none */
    uint8_t shared; /* 1 + the buffer that is needed whole by the first of several steps; 0: none */
    uint8_t staged; /* a bit for each buffer whose result goes through a staging area */
    uint8_t unused[2];
    int32_t info; /* of LAPACK routines */
    uint32_t loop;
    struct ofl_trace_buffer buffer[OFL_TRACE_BUFFERS];
};

/* A record with a text; the same size. */
struct ofl_trace_text {
    uint32_t kind;
    uint32_t thread;
    uint64_t start, duration;
    uint64_t first, last; /* module: addresses; kernel: number; block: file offset or 0 */
    char text[216];       /* terminated; the end of a path that is too long */
};

/* Whether a buffer that is only read is an earlier one once more: it is moved once. */
static inline bool ofl_trace_repeats(const struct ofl_trace_record *record, int i)
{
    const struct ofl_trace_buffer *buffer = record->buffer;
    for (int j = 0; j < i; j++) {
        if (buffer[i].access == 0 && buffer[j].access == 0 && buffer[i].address == buffer[j].address &&
            buffer[i].bytes == buffer[j].bytes && buffer[i].region == buffer[j].region) {
            return true; /* access 0: OFL_READ */
        }
    }
    return false;
}

_Static_assert(sizeof(struct ofl_trace_record) == 256, "the record has no holes");
_Static_assert(sizeof(struct ofl_trace_text) == sizeof(struct ofl_trace_record), "all records have one size");

struct ofl_trace_header {
    char magic[8];
    uint32_t version, byte_order, header_size, record_size;
    uint64_t monotonic, realtime; /* ns: the same moment on both clocks */
    uint32_t process, parent, cores, level;
    uint64_t dropped;  /* records that could not be written */
    uint32_t finished; /* 1: the process ended in the ordinary way; 2: tracing stopped before it */
    uint32_t unused;
    char cpu[128];
    char program[512];     /* path */
    char command[1024];    /* arguments, separated by blanks */
    char operations[4096]; /* names, separated by blanks */
};
#endif
