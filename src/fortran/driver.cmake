# The driver, the rewriting of the host's source, and kernels.
target_sources(ofl_fortran PRIVATE
  driver.c driver_command.c driver_process.c driver_scan.c
  translate.c loop_check.c rewrite.c rewrite_loop.c rewrite_mask.c)
target_link_libraries(ofl_fortran PUBLIC ofl_base)
target_compile_definitions(ofl_fortran PRIVATE OFL_LIBRARIES_FROM_BIN="${OFL_LIBRARIES_FROM_BIN}")
