/* What compiled loops call: libgpuoffload-loops.so.
 *
 * `gpu-offload fc` puts two calls in the place of each loop that runs on a device:
 *
 *     ofl_loops_image      by way of a subroutine of the file, which has the image of the file's kernels
 *     ofl_loops_launch     a table of the loop, and all that the kernel takes; returns when the results are in place
 *
 * and between them calls of ofl_loops_read, ofl_loops_scalar, ofl_loops_absent for data that is not visible at the
 * loop. ofl_loops_launch is made of these, which can be called one by one as well, in this order:
 *
 *     ofl_loops_begin      where the loop is, the kernel's name, the device it was compiled for
 *     ofl_loops_index      once for each index, in the order of the loop's header
 *     ofl_loops_read, ofl_loops_write, ofl_loops_absent
 *                          once for each object: an array, or a scalar that lies in memory
 *     ofl_loops_whole      for a written object that the loop is known to fill: behind its own call
 *     ofl_loops_scalar     once for each value
 *     ofl_loops_reduction  once for each reduce variable
 *     ofl_loops_run        what else the kernel takes, and its image; returns when the results are in place
 *
 * To Fortran these are pure subroutines with `bind(c)`; everything is passed by reference.  `loop` is a variable of the
 * caller's that ofl_loops_image or ofl_loops_begin sets and ofl_loops_launch or ofl_loops_run clears.  Any number of
 * threads may be in them at once.
 *
 * The kernel's parameters have the order of these calls; src/fortran/lowered.h, which is about them, says what they
 * are.
 *
 * There is no way back to the CPU here: where the loop cannot run, the program ends with exit status 1 after a message
 * that begins with FILE:LINE. */
#ifndef GPU_OFFLOAD_LOOPS_H
#define GPU_OFFLOAD_LOOPS_H

#include <ISO_Fortran_binding.h>
#include <stdint.h>

#define OFL_LOOPS_ABI 3

enum { OFL_LOOPS_CUDA, OFL_LOOPS_CUDA_CPU };

/* `version`: OFL_LOOPS_ABI of the compiler.  Texts are terminated; here and below they are only looked at in the call.
 */
void ofl_loops_begin(int64_t *loop, const int64_t *version, const char *where, const char *kernel,
                     const int64_t *device);

/* An index from `first` to `last`.  The program ends if `step` is zero. */
void ofl_loops_index(int64_t *loop, const int64_t *first, const int64_t *last, const int64_t *step);

/* How an object is taken, added up. */
enum {
    OFL_LOOPS_BOUNDS = 1,  /* the kernel takes its bounds */
    OFL_LOOPS_UNREAD = 2,  /* the kernel does not read what it had before */
    OFL_LOOPS_READABLE = 4 /* it may be smaller than described: it ends where memory cannot be read any more */
};

/* An object of any rank and strides that the kernel only reads, or also writes.  Its elements are `element_bytes`
 * long, and the descriptor's address lies `offset` bytes into the first one (it may be one of a component).  `lower`
 * has its lower bounds (a descriptor does not keep them). */
void ofl_loops_read(int64_t *loop, CFI_cdesc_t *object, const int64_t *lower, const int64_t *element_bytes,
                    const int64_t *offset, const int64_t *form, const char *name);
void ofl_loops_write(int64_t *loop, CFI_cdesc_t *object, const int64_t *lower, const int64_t *element_bytes,
                     const int64_t *offset, const int64_t *form, const char *name);

/* An object that may be missing, and is: an absent argument, or an array that is not allocated. */
void ofl_loops_absent(int64_t *loop, const int64_t *rank, const int64_t *form);

/* An allocatable or pointer component of gfortran's, `offset` bytes into each element of the last object: an array of
 * rank `rank` with elements of `bytes` bytes, or with rank 0 a scalar.  The memory that it has at this moment is an
 * object of its own, which the kernel reaches through the component. */
void ofl_loops_component(int64_t *loop, const int64_t *offset, const int64_t *rank, const int64_t *bytes,
                         const int64_t *written);

/* The loop gives each element of a section of the last object a value.  For each dimension two numbers: the index that
 * is its subscript (from 1) or 0, and what is added to it.  Each index is there once. */
void ofl_loops_whole(int64_t *loop, const int64_t *subscripts);

/* Called in the loop's place: an array that the loop needs is not allocated, or a pointer without a target.  Ends the
 * program. */
void ofl_loops_missing(const char *where, const char *name);

void ofl_loops_scalar(int64_t *loop, const void *value, const int64_t *bytes);

/* Object number `object`, from 0, of `elements` elements is a reduce variable. */
void ofl_loops_reduction(int64_t *loop, const int64_t *object, const int64_t *element_bytes, const int64_t *elements);

/* What else a kernel takes, added up. */
enum {
    OFL_LOOPS_MASK = 1,     /* there is a kernel for the mask */
    OFL_LOOPS_STATUS = 2,   /* words that tell how it ended */
    OFL_LOOPS_WORKSPACE = 4 /* memory for each thread */
};

/* The words of a kernel's status, all zero before a launch.  Of several iterations that end the program, the one with
 * the lowest trip number is there: the one that ends it on the CPU.  If OFL_STATUS_WORKSPACE is larger than what a
 * thread had, the launch has no result: it is done again, from the same data, with that many bytes for each thread. */
enum {
    OFL_STATUS_STOPPED,   /* 1: an iteration came to error stop */
    OFL_STATUS_TRIP,      /* which */
    OFL_STATUS_CODE,      /* the stop code, 1 where it is a text or there is none */
    OFL_STATUS_KIND,      /* 0 no stop code, 1 an integer, 2 a text */
    OFL_STATUS_LENGTH,    /* of the text */
    OFL_STATUS_QUIET,     /* 1: nothing is written */
    OFL_STATUS_WORKSPACE, /* bytes that a thread would have needed */
    OFL_STATUS_LOCK,
    OFL_STATUS_TEXT, /* the text, 8 bytes a word */
    OFL_STATUS_WORDS = OFL_STATUS_TEXT + 64
};

enum { OFL_WORKSPACE_BYTES = 4096 }; /* what a thread has at first */

/* What `stop` tells afterwards: whether the program has to end, as by error stop, and how.  `text` has
 * OFL_LOOPS_STOP_TEXT bytes. */
enum {
    OFL_LOOPS_STOP_KIND, /* 0: go on; 1: no stop code; 2: an integer; 3: a text */
    OFL_LOOPS_STOP_CODE,
    OFL_LOOPS_STOP_LENGTH,
    OFL_LOOPS_STOP_QUIET,
    OFL_LOOPS_STOP_WORDS,
    OFL_LOOPS_STOP_TEXT = 512
};

/* `image` is a text of `length` characters: the image, packed and encoded as src/base/pack.h says.  `identity` is the
 * same number in every call with the same image and in no other. */
void ofl_loops_run(int64_t *loop, const int64_t *needs, const char *image, const int64_t *length,
                   const int64_t *identity, int64_t *stop, char *text);

/* Begins a launch of a kernel of this image.  `version`: OFL_LOOPS_ABI of the compiler. */
void ofl_loops_image(int64_t *loop, const int64_t *version, const int64_t *device, const char *image,
                     const int64_t *length, const int64_t *identity);

/* The launch.  `table` has texts, each with its end: "FILE:LINE", the kernel's name, what the arguments behind `table`
 * are, and a name for each `r` and `w`.  The third one has words with a letter and numbers,
 *
 *     nNEEDS                   OFL_LOOPS_MASK, ...
 *     iCOUNT                   first, last, step for each index
 *     rFORM,RANK,BYTES,OFFSET  an object that is read: a descriptor, or NULL for an absent one; if it has a rank, its
 *     w...                       lower bounds; if BYTES is 0, the length of its elements.  w: that is written
 *     o                        an object that was given to ofl_loops_read or ofl_loops_absent before: the next of them
 *     hINDEX,OFFSET,...        ofl_loops_whole for the object
 *     cOFFSET,RANK,BYTES,WRITTEN  ofl_loops_component for the object
 *     sBYTES                   a value; a logical one is an integer(4), 0 or 1
 *     v                        a value that was given to ofl_loops_scalar before
 *     xOBJECT,BYTES, y...      a reduce variable; y: with the number of its elements
 *
 * All arguments are addresses.  If the program has to end, `*loop` is not zero afterwards, for ofl_loops_end. */
void ofl_loops_launch(int64_t *loop, const char *table, ...);

/* How the program has to end; see OFL_LOOPS_STOP_WORDS. */
void ofl_loops_end(int64_t *loop, int64_t *stop, char *text);

#endif
