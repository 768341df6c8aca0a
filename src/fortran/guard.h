/* The host's side of guards (module_guard.h): what defines them, and what makes a kernel's object refer to them.
 *
 * Both are Fortran text behind the file, so they work with everything that objects go through: archives, shared
 * libraries, link-time optimization, -S, removal of what is not referred to. */
#ifndef OFL_FORTRAN_GUARD_H
#define OFL_FORTRAN_GUARD_H

#include "fortran/driver_command.h"
#include "fortran/module_guard.h"
#include "fortran/rewrite.h"

/* The modules of other files whose bodies are in the kernels of a file. */
struct ofl_guards {
    struct ofl_guard_item {
        const struct ofl_module_guard *guard;
        struct ofl_guard_item *next;
    } * first;
};

/* What the host compiler puts behind external names, if it does not take bind(c) under the command's options; else
 * NULL. */
const char *ofl_guard_plain_suffix(const struct ofl_fc_command *command);

/* Whether the unit is one of the file's. */
bool ofl_guards_has_unit(const struct ofl_file *file, const struct ofl_unit *unit);

void ofl_guards_add(struct ofl_guards *guards, const struct ofl_module_guard *guard, struct ofl_arena *arena);

/* Appends the definitions for the file's modules; false if there are none. */
bool ofl_guards_define(struct ofl_rewriter *rewriter, const struct ofl_file *file, struct ofl_module_files *files);

/* Interface bodies and calls, for a pure subroutine that has `integer(8), intent(inout) :: loop`. */
void ofl_guards_add_interfaces(struct ofl_lines *lines, const struct ofl_guards *guards);
void ofl_guards_add_calls(struct ofl_lines *lines, const struct ofl_guards *guards);
#endif
