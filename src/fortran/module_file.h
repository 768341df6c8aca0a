/* Module information files: what a loop in one file has to know of a module that was compiled from another.
 *
 * NAME.ofl lies beside gfortran's NAME.mod (of a submodule: ANCESTOR@NAME.ofl beside ANCESTOR@NAME.smod).  It has the
 * module's own text, include files put in their places, so that interfaces, attributes, types, constants and bodies are
 * all there and mean what they meant: it is read by the same parser as any source.  Line markers in it make messages
 * point at the user's files.
 *
 *     gpu-offload module information 3          the first line: the format's number
 *     module heat                               or: submodule heat@solver
 *     options free 132 0 4 4 8 4 0 0 0 0        see module_file.c
 *     mod 89abcdef01234567                      hash of the .mod that the same compilation wrote
 *     guard 76543210fedcba98 SYMBOL             what its object defines, `-`: nothing; see module_guard.h
 *     text 1234 0123456789abcdef                bytes of the rest; hash of it and the lines above
 *     # 12 "heat.f90"
 *     module heat ...
 *
 * A file is written to a name of its own and renamed, so that nobody reads half of one.  One that is truncated,
 * changed, of another format's number, or older than the .mod beside it is refused with a message that says what to do.
 * A body that changes without its module's interface would leave .mod as it is, and with it the module's users: so a
 * hash of the module and those that it uses is written behind gfortran's .mod (see mark_mod). */
#ifndef OFL_FORTRAN_MODULE_FILE_H
#define OFL_FORTRAN_MODULE_FILE_H

#include "fortran/diagnostic.h"
#include "fortran/parse.h"
#include "fortran/scope.h"

struct ofl_module_note; /* private to module_file.c */
struct ofl_module_problem;
struct ofl_module_guard;

/* The module information files of a compilation. */
struct ofl_module_files {
    struct ofl_arena *arena;
    struct ofl_modules *modules;
    struct ofl_sources *sources;
    const char *output; /* where .mod files are written: -J, or "." */
    const char *const *paths;
    size_t path_count; /* where they are looked for: ".", -I, -J */
    struct ofl_module_note *notes, **next_note;
    struct ofl_module_problem *problems;
    struct ofl_module_guard *guards; /* see module_guard.h */
    const char *plain_suffix;        /* the host's standard has no bind(c): what it puts behind names; else NULL */
};

/* From now on modules that the compilation itself does not have are looked for in files.  `paths` are -I's; the current
 * folder comes before them and `output` (NULL: none was given) behind.  What counts is the first folder that has the
 * .mod, since that one is the host compiler's. */
void ofl_module_files_start(struct ofl_module_files *files, struct ofl_modules *modules, struct ofl_sources *sources,
                            struct ofl_arena *arena, const char *output, const char *const *paths, size_t path_count);

/* Remembers the modules and submodules of a file that has been read, to be written when it has been compiled. */
void ofl_module_files_note(struct ofl_module_files *files, const struct ofl_file *file,
                           const struct ofl_parse_options *options);

/* Writes what was noted, of those whose .mod is there.  False after an error, which has been printed. */
bool ofl_module_files_write(struct ofl_module_files *files);

/* The hash in a module's information file, which is not loaded for that; 0 if there is none. */
uint64_t ofl_module_files_hash(struct ofl_module_files *files, const struct ofl_name *ancestor,
                               const struct ofl_name *name);

/* Why a module is not at hand: "its information file ... is ...".  NULL if nothing is known but that it is not. */
const char *ofl_module_files_problem(const struct ofl_modules *modules, const struct ofl_name *name);

/* The hash of a procedure's body or a module: the same from its source and from a module information file, another one
 * when something of its statements changes.  Layout, comments and letter case do not count; the options that change
 * what the text means do. */
uint64_t ofl_body_hash(const struct ofl_modules *modules, const struct ofl_unit *unit);
#endif
