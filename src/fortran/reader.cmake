# The check of parallel loops, on top of the reader.
set(OFL_FORTRAN_CHECK
  names.c loop_check.c loop_header.c loop_locality.c loop_reference.c unsupported.c)

# The part of the front end that reads Fortran, by stage: texts, statements, tree, meaning.  Also built by tests/fuzz/fortran, as the check is.
set(OFL_FORTRAN_READER
  arena.c diagnostic.c source.c
  statement.c statement_free.c statement_fixed.c lexer.c
  parser.c parse_expr.c parse_primary.c parse_type.c parse_entity.c parse_spec.c parse_storage.c parse_define.c
  parse_exec.c parse_io.c parse_construct.c parse_loop.c parse_unit.c parse_split.c parse_statement.c
  tree.c dump.c dump_stmt.c
  scope.c scope_find.c scope_declare.c scope_modules.c constant.c
  intrinsics.c meaning.c meaning_type.c meaning_designator.c meaning_operator.c meaning_constructor.c
  meaning_call.c meaning_associate.c meaning_generic.c meaning_bound.c meaning_procedure.c meaning_intrinsic.c
  meaning_value.c meaning_arith.c meaning_part.c meaning_shape.c meaning_fold.c meaning_fold_array.c meaning_visit.c meaning_reach.c
  module_file.c module_guard.c)
