/* The parts of the S-expression dump that dump.c gives to dump_stmt.c. */
#ifndef OFL_FORTRAN_DUMP_H
#define OFL_FORTRAN_DUMP_H

#include "fortran/tree.h"

void ofl_dump_args(const struct ofl_arg *args, FILE *stream);
void ofl_dump_type(const struct ofl_type_spec *type, FILE *stream);
void ofl_dump_attrs(const struct ofl_attr *attrs, FILE *stream);
void ofl_dump_generic(const struct ofl_generic *generic, FILE *stream);
void ofl_dump_entities(const struct ofl_entity *entities, FILE *stream);
#endif
