// clang-format off
/* What lowering gives to the launch: a kernel, what it takes, and what the host has to do around it.
 *
 * Entry point: ofl_lower_loop, for one outermost do concurrent.  The launch (kernel_launch.c, src/loops) passes the
 * kernel's parameters in exactly this order:
 *
 *     long long trips                         iterations of all indices together (the product); at least 1
 *     long long first, step, count            for each index, in the order of the header; the first index is the fastest
 *     T *object                               for each of `objects`: the address of the element with all subscripts 0
 *                                             in the device's copy (it need not exist); of a scalar, its own
 *       long long stride                        for each of its dimensions: bytes between two neighbours
 *       long long lower, extent                 for each of its dimensions, if `bounds`
 *     T value                                 for each of `scalars`
 *     unsigned char *selected                 if `mask_kernel`: one byte for each iteration, in the order of the trips
 *     T *partials                             for each of `reductions`
 *     long long partial_count                 if there are reductions
 *     long long *status                       if `status`: OFL_STATUS_WORDS words (<gpu-offload/loops.h>), zero before
 *                                             the launch
 *     char *workspace                         if `workspace`: thread t of the grid (blockIdx.x * blockDim.x +
 *     long long workspace_bytes                 threadIdx.x) owns the bytes from workspace + t * workspace_bytes; a
 *                                               multiple of 16
 *
 * The order of launches: if `mask_kernel`, NAME_mask with the same parameters; NAME; if there are reductions,
 * NAME_combine as often as needed (see struct ofl_kernel_reduction).
 *
 * An address is 0 where an optional argument is absent or an object that `may_be_missing` does not exist.
 *
 * The text compiles with NVRTC and, with <gpu-offload/host_kernel.h>, with a C compiler. */
// clang-format on
#ifndef OFL_FORTRAN_LOWERED_H
#define OFL_FORTRAN_LOWERED_H

#include "fortran/rewrite.h"

#include <gpu-offload/loops.h> /* OFL_STATUS_*, OFL_WORKSPACE_BYTES */

/* One index of the header.  The launch evaluates its limits once, in its kind. */
struct ofl_kernel_index {
    const struct ofl_index *index;
    const struct ofl_symbol *symbol;
    int kind; /* bytes */
};

/* An allocatable or pointer component that the kernel reaches, and where it lies in each element of an object: a
 * descriptor of gfortran's, or with rank 0 an address.  The launch names them behind the object (ofl_loops_component).
 */
struct ofl_kernel_component {
    int64_t offset, bytes; /* of an element of the component */
    unsigned rank;
    bool written;
    struct ofl_kernel_component *next;
};

/* Data that the kernel reaches through memory: arrays, and scalars that are written, reduced, optional, of character or
 * derived type, or whose address is passed on. */
struct ofl_kernel_object {
    const struct ofl_symbol *symbol; /* the variable */
    const char *c_name;
    /* The variable where the loop stands: its name, or NULL if that name does not mean it there (a variable of a
     * module or common block that only a called procedure sees): the launch reaches it through the symbol. */
    const char *host;
    unsigned rank;
    bool written;          /* else it is only read */
    bool bounds;           /* takes lower bounds and extents */
    bool optional;         /* a dummy argument that may be absent */
    bool may_be_missing;   /* the body asks whether it is allocated or associated: no error if it is not */
    int64_t element_bytes; /* 0: a character of run-time length, len(host) bytes */
    /* A derived type: an element's component that can be passed in place of the elements (type(*) refuses types with
     * type-bound procedures), "n" or "sub%v(1)", and where it lies in the element; NULL: pass the object itself.
     * The object's region has to hold whole elements; its address is that of elements, not of the component. */
    const char *leaf;
    int64_t leaf_offset;
    /* An assumed-size array: the last subscript of its last dimension that the kernel uses, a Fortran expression of
     * what is visible where the loop stands; else NULL. */
    const char *last_upper;
    struct ofl_kernel_component *components;
    struct ofl_kernel_object *next;
};

/* A value that the host evaluates before the launch and passes by value. */
struct ofl_kernel_scalar {
    const char *c_name;
    /* A Fortran expression where the loop stands: "n", "len(w)", "allocated(x)", "present(y)"; NULL: the value of
     * `symbol`, which is not visible there. */
    const char *host;
    const struct ofl_symbol *symbol; /* NULL if `host` is not simply a variable */
    enum ofl_type_kind type;         /* INTEGER, REAL, COMPLEX or LOGICAL */
    int kind;                        /* bytes of the kind; a logical is passed as an integer(4), 0 or 1 */
    struct ofl_kernel_scalar *next;
};

enum ofl_reduction_operator {
    OFL_REDUCE_ADD,
    OFL_REDUCE_MUL,
    OFL_REDUCE_MAX,
    OFL_REDUCE_MIN,
    OFL_REDUCE_IAND,
    OFL_REDUCE_IOR,
    OFL_REDUCE_IEOR,
    OFL_REDUCE_AND,
    OFL_REDUCE_OR,
    OFL_REDUCE_EQV,
    OFL_REDUCE_NEQV
};

/* A reduce variable.  Its object is among `objects`, written, and the kernel does not touch it.  With P =
 * ofl_loops_partials(trips), which depends on the trips alone, the kernel is launched with partial_count = P and the
 * partials of each variable have P * elements elements; it fills all of them, whatever the grid.  Then
 *
 *     NAME_combine(long long in, long long out, long long finish,
 *                  T *from, T *to                 for each reduction: its partials, and as many others
 *                  T *object and its strides, and bounds, as above, for each reduction)
 *
 * makes `out` partials of `in` ones, out < in; with out == 1 and finish != 0 it puts variable OP partial in the object.
 * Any grid will do.  The numbers in, out of each step may depend on the trips only. */
struct ofl_kernel_reduction {
    const struct ofl_kernel_object *object;
    enum ofl_reduction_operator op;
    enum ofl_type_kind type;
    int kind;
    int64_t element_bytes;
    const char *elements; /* NULL: a scalar (1); else how many: a Fortran expression */
    struct ofl_kernel_reduction *next;
};

struct ofl_kernel {
    const struct ofl_stmt *stmt;
    const struct ofl_unit *unit;
    const char *name;
    unsigned number; /* in the file */
    unsigned index_count;
    struct ofl_kernel_index *indices;
    struct ofl_kernel_object *objects;
    struct ofl_kernel_scalar *scalars;
    struct ofl_kernel_reduction *reductions;
    bool mask_kernel;    /* the mask needs a kernel of its own, since the body may change what it reads */
    bool status;         /* it may end the program, or run out of workspace */
    bool workspace;      /* it needs memory whose size is known at run time only: begin with OFL_WORKSPACE_BYTES */
    const char *text;    /* the functions, constants and kernels of this loop */
    const char *entries; /* what calls its kernels on the CPU */
    struct ofl_kernel *next;
};

/* The kernel of a loop, or NULL after errors. */
struct ofl_kernel *ofl_lower_loop(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt,
                                  const struct ofl_unit *unit);

/* The source of the kernels before `end`, or all with NULL: what they need, they, and for the CPU their entries. */
const char *ofl_lowered_source(const struct ofl_kernel *kernels, const struct ofl_kernel *end, struct ofl_arena *arena);

/* The C type of a Fortran type, or NULL if kernels do not know it; a logical is an integer in memory. */
const char *ofl_c_type(enum ofl_type_kind type, int kind);
#endif
