/* The names in a statement's own expressions (not in the statements below it). */
#ifndef OFL_FORTRAN_NAMES_H
#define OFL_FORTRAN_NAMES_H

#include "fortran/tree.h"

/* Calls `visit` for each OFL_EXPR_NAME, in source order; names of components, keywords and constructs do not count. */
void ofl_stmt_names(const struct ofl_stmt *stmt, void (*visit)(const struct ofl_expr *name, void *context),
                    void *context);

/* The same for an expression, which may be NULL. */
void ofl_expr_names(const struct ofl_expr *expr, void (*visit)(const struct ofl_expr *name, void *context),
                    void *context);
#endif
