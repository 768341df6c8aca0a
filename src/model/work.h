/* Work: what a call or a loop asks of a machine, in the numbers that time depends on.
 *
 * Made from a call on the program's buffers by ofl_work_from_call; whoever knows more (what is
 * already on the device, how the transfers will be cut, the workspace) fills in the rest.  The
 * model looks at nothing else of a call. */
#ifndef OFL_MODEL_WORK_H
#define OFL_MODEL_WORK_H
#include <gpu-offload/device.h>

/* The device libraries that an operation may need; each has a start-up cost of its own. */
enum ofl_library { OFL_LIBRARY_BLAS, OFL_LIBRARY_SOLVER, OFL_LIBRARY_COUNT };

/* What an operation is made of, where it is others one after the other: factor, then solve. */
struct ofl_work_part {
    enum ofl_operation operation;
    double extent[3], flops;
    char side, uplo, trans;
};
enum { OFL_WORK_PARTS = 3 };

struct ofl_work {
    enum ofl_operation operation;
    enum ofl_precision precision;
    char side, uplo, transa, transb, diag; /* as in the call; 0 where it has none */
    int64_t m, n, k;                       /* as in the call */

    /* The box of the computation: flops are proportional to extent[0] * extent[1] * extent[2].  The
     * three products of two extents are its surfaces, proportional to the operands' sizes.  Where an operation has a
     * side extent[0] and extent[2] are the order of the operand that stands there. */
    double extent[3];
    double flops; /* complex operations count four times */
    struct ofl_work_part part[OFL_WORK_PARTS];
    int parts; /* 0: it is not made of others */

    double bytes_in, bytes_out; /* what has to be moved if nothing is on the device */
    /* Of bytes_in: what is on the device already, unchanged; costs nothing. */
    double bytes_resident;
    /* Of bytes_in: what is not on the device but was unchanged since an earlier call, so that a copy
     * would serve later calls too; and the savings missed so far because it was not there. */
    double bytes_repeated;
    double credit;       /* seconds */
    double device_bytes; /* device memory that the call needs: operands and workspace */

    bool pinned; /* the operands lie in page-locked memory */
    int pieces;  /* tiles in which transfers and computing overlap; 1: one after the other */
    /* Of bytes_in: what has to arrive before the first of several tiles can be computed; 0: an equal share of all.  Of
     * bytes_out: what goes to a staging area and is put into its place when everything else is done. */
    double bytes_first, bytes_staged;
};

/* Describes a call.  The residency fields are 0, `pinned` is false, `pieces` 1, nothing is staged, and device_bytes
 * counts the operands without workspace.  Sizes that are not positive give zero flops. */
void ofl_work_from_call(const struct ofl_call *call, struct ofl_work *out);

/* Sets pieces and bytes_first: so many tiles, before the first of which an operand of `shared` bytes arrives whole. */
void ofl_work_cut(struct ofl_work *work, int pieces, double shared);

/* Bytes of the elements of an operand that are stored, and moved. */
double ofl_buffer_bytes(const struct ofl_buffer *buffer);

/* The library that runs the operation on a device. */
enum ofl_library ofl_library_of(enum ofl_operation operation);

/* "gemm"; "?" outside the table. */
const char *ofl_operation_name(enum ofl_operation operation);
/* The operation called `name` (length bytes), or OFL_OPERATION_COUNT. */
enum ofl_operation ofl_operation_find(const char *name, size_t length);
/* 's', 'd', 'c', 'z'; '?' outside. */
char ofl_precision_letter(enum ofl_precision precision);
/* Bytes of an element: 4, 8, 8, 16. */
double ofl_precision_bytes(enum ofl_precision precision);
/* Whether the word is one of the operation's arguments in operations.def: "nrhs". */
bool ofl_operation_takes(enum ofl_operation operation, const char *word);
/* Whether a device may run it; else it is only measured. */
bool ofl_operation_offloaded(enum ofl_operation operation);
/* Whether the operation exists in the precision. */
bool ofl_operation_has(enum ofl_operation operation, enum ofl_precision precision);
#endif
