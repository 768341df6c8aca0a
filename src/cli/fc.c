/* gpu-offload fc: the Fortran compiler; all of it is in src/fortran. */
#include "cli/cli.h"
#include "fortran/driver.h"

int ofl_cli_fc(int argc, char **argv)
{
    return ofl_fortran_main(argc - 1, argv + 1);
}
