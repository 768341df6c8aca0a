# The driver, the rewriting of the host's source, and kernels.
file(RELATIVE_PATH OFL_HEADERS_FROM_BIN
  /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_INCLUDEDIR}) # ../include
target_sources(ofl_fortran PRIVATE ${OFL_FORTRAN_CHECK}
  driver.c driver_command.c driver_process.c driver_scan.c
  translate.c guard.c rewrite.c rewrite_across.c rewrite_loop.c rewrite_terminal.c rewrite_mask.c locate.c
  kernel_form.c kernel_validate.c kernel_print.c kernel_support.c kernel_complex.c
  lower.c lower_make.c lower_private.c lower_copies.c lower_combine.c lower_source.c lower_symbol.c lower_type.c lower_view.c
  lower_array.c lower_construct.c lower_reduce.c lower_transform.c lower_inquiry.c lower_expr.c lower_character.c
  lower_intrinsic.c lower_assign.c lower_stmt.c lower_control.c lower_call.c lower_procedure.c
  kernel_launch.c kernel_launcher.c kernel_whole.c kernel_hidden.c kernel_extent.c kernel_compile.c)
target_link_libraries(ofl_fortran PUBLIC ofl_base PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(ofl_fortran PRIVATE
  OFL_LIBRARIES_FROM_BIN="${OFL_LIBRARIES_FROM_BIN}" OFL_HEADERS_FROM_BIN="${OFL_HEADERS_FROM_BIN}")

# The header that kernels for the CPU are compiled with lies where an installation has it.
configure_file(${CMAKE_SOURCE_DIR}/include/gpu-offload/host_kernel.h
  ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_INCLUDEDIR}/gpu-offload/host_kernel.h COPYONLY)
