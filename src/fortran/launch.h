/* The host's side of kernels: their compilation, the call in a loop's place, and what it calls.
 *
 * What must hold: the kernels were lowered without errors (lowered.h). */
#ifndef OFL_FORTRAN_LAUNCH_H
#define OFL_FORTRAN_LAUNCH_H

#include "fortran/guard.h"
#include "fortran/lowered.h"
#include "fortran/meaning.h"

/* The source's image for the device, in the arena (kernel_compile.c).  NULL after an error, which has been reported at
 * the loop that it is about. */
const void *ofl_kernel_compile(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernels, const char *source,
                               bool cuda, bool fast, size_t *bytes);

/* Puts a launch in the place of the loop (kernel_launch.c).  `suffix` ends the names of what one file adds to the
 * program, so that no other file adds the same. */
void ofl_kernel_launch(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix);

/* Puts what all launches of the file call, and the image, behind the file (kernel_launcher.c). */
void ofl_kernel_append_image(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernels,
                             const struct ofl_guards *guards, const char *suffix, bool cuda, const void *image,
                             size_t bytes);

/* ---- Between the files of the launch ---- */

/* The first statement and the declarations of a loop's own interface to ofl_loops_launch:
 *     loop, table
 *     f1, l1, t1   limits and step of an index
 *     a1, b1, e1   an object, its lower bounds, the length of its elements
 *     s1           a scalar
 *     n1           the number of elements of a reduce variable */
void ofl_launcher_head(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix);

/* The table that tells the library what these are, a Fortran constant. */
const char *ofl_launcher_table(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel);

/* Interfaces of the file's subroutines: what begins a launch, and what ends the program for one. */
void ofl_launcher_add_begin_interface(struct ofl_lines *lines, const char *suffix);
void ofl_launcher_add_stop_interface(struct ofl_lines *lines, const char *suffix);

/* Appends what hands over the data that is not visible at the loop; reports what cannot be (kernel_hidden.c). */
void ofl_hidden_append(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel, const char *suffix);

/* Interfaces of the subroutines that it appends, and calls of them, in the order of the kernel's parameters. */
void ofl_hidden_add_interfaces(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix);
void ofl_hidden_add_calls(struct ofl_lines *lines, const struct ofl_kernel *kernel, const char *suffix,
                          const char *loop);

/* The last upper bound of an assumed-size array as far as the loop touches it, a Fortran expression of the limits'
 * names (kernel_extent.c).  *certain: the array is at least so large.  NULL after an error. */
const char *ofl_kernel_last_upper(struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel,
                                  const struct ofl_kernel_object *object, bool *certain);
bool ofl_is_assumed_size(const struct ofl_kernel_object *object);

/* A Fortran constant whose value ends with a NUL. */
const char *ofl_launch_text(const char *text, struct ofl_arena *arena);

/* "FILE:LINE" of a loop. */
const char *ofl_launch_place(const struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel);

/* What the loop does to an object, as far as its text shows (kernel_whole.c). */
struct ofl_coverage {
    bool whole;             /* it writes every element of a section, and nothing else of the object: */
    const char *subscripts; /* the section, as numbers for ofl_loops_whole: "1,0,0,5" */
    bool unread;            /* what the object held before is not looked at */
};

/* What --gpu-report says about the loop. */
const char *ofl_launch_report(const struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel);

struct ofl_coverage ofl_kernel_coverage(const struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel,
                                        const struct ofl_kernel_object *object);
#endif
