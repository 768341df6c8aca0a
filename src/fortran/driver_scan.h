/* Whether a file can hold a parallel loop: the fast look that lets all other files go to the host compiler untouched.
 *
 * Entry point: ofl_scan_file.  It looks for the letters of `concurrent` (and for the `!$omp` sentinel if asked), also
 * across continuation lines and across the blanks that fixed form allows anywhere, in the file and in the files it
 * includes.  It may say yes where there is no loop (a comment); it never says no where there is one, with these
 * exceptions: a keyword put together by the preprocessor from pieces, and an include file that cannot be found here.
 * One pass over the bytes, a few nanoseconds each. */
#ifndef OFL_FORTRAN_DRIVER_SCAN_H
#define OFL_FORTRAN_DRIVER_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct ofl_arena;

struct ofl_scan {
    struct ofl_arena *arena;
    const char *const *include_paths;
    size_t include_path_count;
    bool omp; /* an !$omp directive counts too */
    /* Private: the files looked at so far. */
    const char **seen;
    size_t seen_count, seen_capacity;
};

/* False for a file that cannot be read: the host compiler says why. */
bool ofl_scan_file(struct ofl_scan *scan, const char *path);

/* Whether a file may define a module or submodule (included files not looked at), and *bodies whether kernels may have
 * bodies of theirs: a guess from words. */
bool ofl_scan_modules(struct ofl_arena *arena, const char *path, bool *bodies);
bool ofl_scan_text(struct ofl_scan *scan, const char *path, const char *text, size_t length);
#endif
