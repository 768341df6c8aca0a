/* From a parallel loop to the CUDA source of its kernel.
 *
 * Entry point: ofl_kernel_make, for one do concurrent.  What is done today: one index with any limits and step; a body
 * of assignments to elements of integer and real arrays; arithmetic, and the intrinsic functions of
 * kernel_intrinsics.def; scalars are only read.  Everything else is an error at its place, "not yet implemented"; what
 * the unsupported list names (unsupported.def) is an error of its own kind.
 *
 * The kernel computes what gfortran -O2 -ffp-contract=off computes, operation by operation: types and conversions are
 * Fortran's, written out as casts; powers follow gfortran's chains of products.
 *
 * The text compiles with NVRTC and, with <gpu-offload/host_kernel.h>, with a C compiler. */
#ifndef OFL_FORTRAN_KERNEL_H
#define OFL_FORTRAN_KERNEL_H

#include "fortran/launch.h"

/* A variable that the kernel takes as a parameter. */
struct ofl_kernel_variable {
    const struct ofl_name *name;
    const struct ofl_symbol *symbol;
    const char *c_name;
    enum ofl_type_kind type;
    int kind; /* bytes */
    bool written;
    struct ofl_kernel_variable *next;
};

/* The kernel of a loop, or NULL after errors. */
struct ofl_kernel *ofl_kernel_make(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt,
                                   const struct ofl_unit *unit);

/* The whole source: what kernels need, the kernels, and for the CPU their entries. */
const char *ofl_kernel_source(const struct ofl_kernel *kernels, struct ofl_arena *arena);

/* ---- Between the files of the generator ---- */

struct ofl_kernel_builder {
    struct ofl_rewriter *rewriter;
    struct ofl_arena *arena;
    struct ofl_scope *scope;
    const struct ofl_loop *loop;
    struct ofl_kernel *kernel;
    struct ofl_kernel_variable *arrays, *scalars; /* in the order of the parameters */
    bool failed;
};

/* A C expression of a Fortran type; text NULL after an error. */
struct ofl_c_value {
    enum ofl_type_kind type; /* INTEGER or REAL */
    int kind;
    const char *text;
};

struct ofl_c_value ofl_kernel_expr(struct ofl_kernel_builder *builder, const struct ofl_expr *expr);

/* The element that an assignment writes: `x[...]`. */
struct ofl_c_value ofl_kernel_target(struct ofl_kernel_builder *builder, const struct ofl_expr *expr);

struct ofl_c_value ofl_kernel_convert(struct ofl_kernel_builder *builder, struct ofl_c_value value,
                                      enum ofl_type_kind type, int kind);

/* The parameter for a name that is read or written, made at its first use; NULL after an error. */
struct ofl_kernel_variable *ofl_kernel_variable(struct ofl_kernel_builder *builder, const struct ofl_expr *use,
                                                bool element, bool written);

/* "not yet implemented: ..." at a place; always returns a value without text. */
struct ofl_c_value ofl_kernel_refuse(struct ofl_kernel_builder *builder, struct ofl_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A name of the program as a C name: itself, unless C or the generated code has another use for it. */
const char *ofl_kernel_c_name(struct ofl_arena *arena, const char *name);

/* "_i4", "_r8": the end of the names of functions that exist for several types. */
const char *ofl_kernel_suffix(struct ofl_c_value value);

/* The functions ofl_power4_3 and so on. */
void ofl_kernel_power_functions(struct ofl_text *text);

struct ofl_c_value ofl_kernel_intrinsic(struct ofl_kernel_builder *builder, const struct ofl_expr *call);
struct ofl_c_value ofl_kernel_power(struct ofl_kernel_builder *builder, const struct ofl_expr *expr);
#endif
