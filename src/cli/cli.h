/* What the subcommands share. */
#ifndef OFL_CLI_CLI_H
#define OFL_CLI_CLI_H
#include <stdbool.h>
#include <stddef.h>

#define OFL_COMMAND(name, arguments, summary) int ofl_cli_##name(int argc, char **argv);
#include "cli/commands.def"
#undef OFL_COMMAND

/* Rows of options.def. */
enum {
    OFL_CLI_SETTINGS = 0
#define OFL_SETTING(...) +1
#include "base/options.def"
#undef OFL_SETTING
};

/* Exit statuses: those of env(1) and timeout(1), so that a program's own can be told from ours. */
enum {
    OFL_EXIT_USAGE = 2,            /* an option, a value or the configuration file is not valid */
    OFL_EXIT_FAILED = 125,         /* gpu-offload itself could not do its part */
    OFL_EXIT_CANNOT_EXECUTE = 126, /* the program exists and cannot be executed */
    OFL_EXIT_NOT_FOUND = 127       /* there is no such program */
};

/* Where a file of gpu-offload's library folder is, from where this executable is: no path is
 * compiled in.  Returns false if the path does not fit.  `file` need not exist. */
bool ofl_cli_library(const char *file, char *path, size_t size);

/* Values of the settings from the configuration file, in the order of ofl_setting_table; NULL where
 * the file says nothing.  No file is an empty file.  The caller frees each value.  Returns false
 * after a message that names file and line. */
bool ofl_cli_read_configuration(char **values);

/* The name of the configuration file, whether it exists or not; false if there is no home folder. */
bool ofl_cli_configuration_file(char *path, size_t size);
#endif
