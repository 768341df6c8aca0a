/* What the files of the scope builder share. */
#ifndef OFL_FORTRAN_SCOPE_PRIVATE_H
#define OFL_FORTRAN_SCOPE_PRIVATE_H

#include "fortran/scope.h"

/* A use statement in a scope. */
struct ofl_use {
    const struct ofl_stmt *stmt;
    struct ofl_symbol *module; /* NULL if it is not at hand */
    struct ofl_use *next;
};

struct ofl_scope_builder {
    struct ofl_arena *arena;
    struct ofl_modules *modules;
    struct ofl_diagnostics *diagnostics;
};

/* scope.c */
struct ofl_scope *ofl_scope_new(struct ofl_arena *arena, enum ofl_scope_kind kind, struct ofl_scope *parent,
                                struct ofl_unit *unit);
struct ofl_symbol *ofl_scope_own(const struct ofl_scope *scope,
                                 const struct ofl_name *name); /* not used, not the host's */
struct ofl_symbol *ofl_scope_add(struct ofl_arena *arena, struct ofl_scope *scope, const struct ofl_name *name,
                                 struct ofl_span span); /* the symbol of that name; made if there is none */
/* The name in the module for a local name, by one use statement; NULL if it does not bring it. */
const struct ofl_name *ofl_used_name(const struct ofl_stmt *stmt, const struct ofl_name *name);
/* The same among all use statements of a scope: a name that another one of the same module renames is not brought.
 * F2018 14.2.2. */
const struct ofl_name *ofl_used_here(const struct ofl_scope *scope, const struct ofl_use *use,
                                     const struct ofl_name *name);
/* The use statement of a module that is not at hand and may bring a name; NULL if there is none. */
const struct ofl_stmt *ofl_missing_module(struct ofl_scope *scope, const struct ofl_name *name);
void ofl_implicit_type(struct ofl_symbol *symbol, const struct ofl_modules *modules);

/* scope_declare.c: the declarations of a block, into a scope. */
void ofl_declare_block(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_block *block);
void ofl_declare_type(struct ofl_symbol *symbol, const struct ofl_type_spec *spec);
void ofl_settle_type(struct ofl_modules *modules, struct ofl_scope *scope, struct ofl_type *type);
void ofl_settle_types(struct ofl_scope_builder *builder, struct ofl_scope *scope);

/* A submodule that is at hand. */
struct ofl_symbol *ofl_submodule_find(const struct ofl_modules *modules, const struct ofl_name *ancestor,
                                      const struct ofl_name *name);
/* A module that is at hand or has an information file; NULL if there is none.  Intrinsic modules do not count. */
struct ofl_symbol *ofl_module_find(struct ofl_modules *modules, const struct ofl_name *name);

/* module_file.c: reads the information file of a module (ancestor NULL) or submodule; false if that fails. */
struct ofl_module_files;
bool ofl_module_files_load(struct ofl_module_files *files, const struct ofl_name *ancestor,
                           const struct ofl_name *name);

/* scope_modules.c: the symbol of a built-in module, or NULL. */
struct ofl_symbol *ofl_intrinsic_module(struct ofl_modules *modules, const struct ofl_name *name);
#endif
