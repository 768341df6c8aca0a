/* Guards: how the linker finds a kernel that was made of an old body.
 *
 * A kernel has the bodies of the procedures that it calls in it.  When the module of such a body is compiled again and
 * the kernel is not, the program would compute with both.  So the object of each module or submodule that has bodies
 * defines a symbol whose name has a hash in it, and the object of a kernel refers to those of the modules that its
 * bodies are from.  If something changes, the symbol that the kernel needs is nowhere, and the linker says
 *
 *     use.o: undefined reference to `ofl_module_work_is_not_the_one_of_this_kernel__compile_both_again__89ab...'
 *
 * whichever program runs it.  What the hash covers: the module's statements (not layout and comments) and, through
 * their hashes, those of the modules that it uses and of a submodule's ancestors, since constants of theirs may be in
 * the bodies.  The hash also stands behind the .mod (module_file.h), so that a build system that goes by .mod files
 * compiles the kernel again before the linker has to complain.
 *
 * External procedures have no guard, so a kernel may have the body of one in another file only where both are compiled
 * and linked by one command: their objects are never apart. */
#ifndef OFL_FORTRAN_MODULE_GUARD_H
#define OFL_FORTRAN_MODULE_GUARD_H

#include "fortran/module_file.h"

struct ofl_module_guard {
    const struct ofl_unit *unit;
    uint64_t hash;
    const char *symbol; /* as the linker sees it; NULL: there are no bodies */
    const char *name;   /* of the subroutine that defines it */
    struct ofl_module_guard *next;
};

/* The guard of a module or submodule of this compilation, or of one whose information file was read. */
const struct ofl_module_guard *ofl_module_guard_of(struct ofl_module_files *files, const struct ofl_unit *unit);

/* Notes the guard of a module that was read: what its object has. */
void ofl_module_guard_note(struct ofl_module_files *files, const struct ofl_unit *unit, uint64_t hash,
                           const char *symbol);
#endif
