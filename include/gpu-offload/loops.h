/* What compiled loops call: libgpuoffload-loops.so.
 *
 * `gpu-offload fc` puts a call of a small Fortran subroutine in the place of each loop that runs on a device, and that
 * subroutine (behind the last program unit of the same file) makes these calls, in this order:
 *
 *     ofl_loops_begin    where the loop is, the kernel's name, the device it was compiled for
 *     ofl_loops_array_read, ofl_loops_array_write
 *                        once for each array, in the order of the kernel's parameters
 *     ofl_loops_scalar   once for each scalar, behind the arrays
 *     ofl_loops_run      the iterations and the kernel's image; returns when the results are in place
 *
 * To Fortran these are pure subroutines with `bind(c)`; everything is passed by reference.  `loop` is a variable of the
 * caller's that ofl_loops_begin sets and ofl_loops_run clears.  Any number of threads may be in them at once.
 *
 * A kernel's parameters are: int64_t first, step, trips; for each array a pointer to the element with all subscripts 0
 * (which need not exist) and for each dimension the distance of two elements, in elements; the scalars by value.
 *
 * There is no way back to the CPU here: where the loop cannot run, the program ends with exit status 1 after a message
 * that begins with FILE:LINE. */
#ifndef GPU_OFFLOAD_LOOPS_H
#define GPU_OFFLOAD_LOOPS_H

#include <ISO_Fortran_binding.h>
#include <stdint.h>

#define OFL_LOOPS_ABI 1

enum { OFL_LOOPS_CUDA, OFL_LOOPS_CUDA_CPU };

/* `version`: OFL_LOOPS_ABI of the compiler.  Texts are terminated; here and below they are only looked at in the call.
 */
void ofl_loops_begin(int64_t *loop, const int64_t *version, const char *where, const char *kernel,
                     const int64_t *device);

/* An array of any rank and strides that the kernel only reads, or also writes.  `lower` has its lower bounds (a
 * descriptor does not keep them), `element_bytes` is what the kernel takes for an element's size. */
void ofl_loops_array_read(int64_t *loop, CFI_cdesc_t *array, const int64_t *lower, const int64_t *element_bytes,
                          const char *name);
void ofl_loops_array_write(int64_t *loop, CFI_cdesc_t *array, const int64_t *lower, const int64_t *element_bytes,
                           const char *name);

/* Called in the loop's place: an array that the loop needs is not allocated, or a pointer without a target.  Ends the
 * program. */
void ofl_loops_missing(const char *where, const char *name);

void ofl_loops_scalar(int64_t *loop, const void *value, const int64_t *bytes);

/* `image` holds `bytes` bytes; `identity` is the same number in every call with the same image and in no other. */
void ofl_loops_run(int64_t *loop, const int64_t *first, const int64_t *step, const int64_t *trips, const int64_t *image,
                   const int64_t *bytes, const int64_t *identity);

#endif
