/* Where gpu-offload's own files are: relative to the executable, so that an installation can be moved.  Each function
 * prints an error and returns NULL if the file is not there. */
#ifndef OFL_FORTRAN_LOCATE_H
#define OFL_FORTRAN_LOCATE_H

struct ofl_arena;

/* The folder of libgpuoffload-loops.so. */
const char *ofl_locate_libraries(struct ofl_arena *arena);

/* The folder that has gpu-offload/host_kernel.h. */
const char *ofl_locate_header(struct ofl_arena *arena);
#endif
