/* The machine profile as text: what `gpu-offload calibrate` measured, for people and for the model.
 *
 *   gpu-offload profile 2                        the version of the format
 *   cpu AMD EPYC 9654 96-Core Processor          the key: of which machine this is
 *   cores 16
 *   device NVIDIA H200
 *   driver 580.159
 *   library libopenblas.so.0
 *   date 2026-12-01 00:37                        for people
 *   effort full                                  or quick
 *   start 0.34                                   seconds to start the device
 *   start blas 0.013                             and a library of it
 *   start blas-routine 0.002                     and what the first call of a routine of it adds
 *   copy in pageable 1.2e-05 9.8e+09             fixed seconds, bytes a second: small copies,
 *   copy in bulk 6e-05 4.5e+10                   large ones, which several threads make,
 *   copy in pinned 9e-06 5.5e+10                 from page-locked memory,
 *   copy out commit 8e-06 3e+10                  from the staging area to its place
 *   overlap 0.9                                  of what overlapping could save, what it does
 *   curve cpu dgemm                              a speed curve (machine.h); what follows is its
 *   point 1e+06 2.1e+10                          flops, flops a second
 *   surface 1e-10 1e-10 2e-10                    seconds an element of m*n, m*k, n*k
 *   edge 0 0 2e-6                                seconds a unit of m, n, k
 *   flag lower 0.9                               a factor of time: right, lower, transposed, second-transposed
 *   near 500 500 20 1.1                          extents of a measured call, and what it takes beside all that
 *   end                                          nothing was cut off
 *
 * Empty lines and lines that begin with # mean nothing; indentation neither.  A text with anything
 * else in it is refused as a whole, with a line that says where and why: a machine half known is worse
 * than the built-in estimate.  No I/O here (src/profile does that). */
#ifndef OFL_MODEL_PROFILE_H
#define OFL_MODEL_PROFILE_H
#include "model/machine.h"

enum { OFL_PROFILE_VERSION = 2, OFL_PROFILE_KEY_SIZE = 128 };

/* Texts are empty and cores is 0 where not known. */
struct ofl_profile_key {
    char cpu[OFL_PROFILE_KEY_SIZE]; /* model name */
    int cores;
    char device[OFL_PROFILE_KEY_SIZE], driver[OFL_PROFILE_KEY_SIZE];
    char library[OFL_PROFILE_KEY_SIZE]; /* the CPU's BLAS library */
};

struct ofl_profile {
    struct ofl_profile_key key;
    char date[OFL_PROFILE_KEY_SIZE];
    bool quick;
    /* Only what the text holds: ofl_machine_complete fills the gaps between curves. */
    struct ofl_machine machine;
};

/* Reads a profile.  On failure *out is not usable and `explanation` (size bytes) says "line N: why". */
bool ofl_profile_parse(const char *text, size_t length, struct ofl_profile *out, char *explanation, size_t size);

/* Whether the profile was made on the machine that `here` describes.  What is not known on either side
 * is not compared.  If not, `explanation` says what differs. */
bool ofl_profile_matches(const struct ofl_profile *profile, const struct ofl_profile_key *here, char *explanation,
                         size_t size);

/* Writes the text of a profile into `text` (size bytes, always terminated) and returns the length that the
 * whole text has, as snprintf does. */
size_t ofl_profile_print(const struct ofl_profile *profile, char *text, size_t size);

/* Reads one decimal number, whatever the locale of the process; true when all of `text` (length bytes) is
 * one. */
bool ofl_parse_number(const char *text, size_t length, double *out);

/* The words of the format: "cpu", "device"; "in", "out"; "pageable", "pinned"; "lower"; "blas", "solver". */
const char *ofl_place_name(enum ofl_place place);
const char *ofl_direction_name(enum ofl_direction direction);
const char *ofl_host_memory_name(enum ofl_host_memory memory);
const char *ofl_flag_name(enum ofl_flag flag);
const char *ofl_library_name(enum ofl_library library);
const char *ofl_library_routine_name(enum ofl_library library);
#endif
