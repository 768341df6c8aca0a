/* What PROGRAM on a command line is: the file, the executable behind a script, whether a preload reaches it. */
#ifndef OFL_CLI_PROGRAM_H
#define OFL_CLI_PROGRAM_H
#include <limits.h>
#include <stdbool.h>

enum ofl_reach {
#define OFL_REACH(id, text, advice) OFL_REACH_##id,
#include "cli/reach.def"
#undef OFL_REACH
};

struct ofl_program {
    char file[PATH_MAX];       /* what the name means: as given, or found along PATH */
    char executable[PATH_MAX]; /* what the kernel loads: the file, or the interpreter that a script names */
    char argument[256];        /* a script's interpreter line may pass one argument: "python3" in "env python3" */
    bool script;
    enum ofl_reach reach;
};

/* Finds the program as execvp does.  Returns 0, or ENOENT, EACCES.  */
int ofl_program_find(const char *name, char *path);

/* Finds and looks at it.  Returns as ofl_program_find; `out` says what it is where 0 is returned. */
int ofl_program_examine(const char *name, struct ofl_program *out);

/* "it is statically linked"; and what to do about it.  Never NULL. */
const char *ofl_reach_text(enum ofl_reach reach);
const char *ofl_reach_advice(enum ofl_reach reach);
#endif
