/* gpu-offload: the command.
 *
 * Finds the subcommand in the table commands.def and calls it with its own part of the arguments.  What the
 * subcommands share is in cli.h; nothing here knows what one of them does. */
#include "cli/cli.h"
#include "base/message.h"
#include "fortran/driver.h"

#include <gpu-offload/device.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name, *arguments, *summary;
    int (*function)(int argc, char **argv);
} commands[] = {
#define OFL_COMMAND(name, arguments, summary) {#name, arguments, summary, ofl_cli_##name},
#include "cli/commands.def"
#undef OFL_COMMAND
};
static const size_t command_count = sizeof commands / sizeof *commands;

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void print_usage(FILE *stream)
{
    fputs("Runs numerical programs on a GPU without changing them.\n\n", stream);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(stream, "  gpu-offload %s %s\n        %s\n", commands[i].name, commands[i].arguments,
                commands[i].summary);
    }
    fputs("  gpu-offload help COMMAND\n        all options of a command\n"
          "  gpu-offload --version\n\n"
          "Begin with:  gpu-offload doctor\n"
          "             gpu-offload run --summary python3 program.py\n",
          stream);
}

static int unknown_command(const char *name)
{
    ofl_message("there is no command '%s'; 'gpu-offload --help' lists them (to run a program: gpu-offload run -- %s)",
                name, name);
    return OFL_EXIT_USAGE;
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stdout);
        return 0;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL) {
        return unknown_command(argv[1]);
    }
    char option[] = "--help";
    char *arguments[] = {argv[1], option, NULL};
    return command->function(2, arguments);
}

/* `gpu-offload fc` as one word, for build systems that take nothing else; its end says what its options are. */
static bool is_compiler_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash == NULL ? path : slash + 1, "gpu-offload-gfortran") == 0;
}

int main(int argc, char **argv)
{
    ofl_message_start();
    if (argc > 0 && is_compiler_name(argv[0])) {
        return ofl_fortran_main(argc - 1, argv + 1);
    }
    if (argc < 2) {
        print_usage(stderr);
        return OFL_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        printf("gpu-offload %s (device ABI %d)\n", OFL_VERSION, OFL_DEVICE_ABI);
        return 0;
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return help(argc - 1, argv + 1);
    }
    const struct command *command = find_command(name);
    return command != NULL ? command->function(argc - 1, argv + 1) : unknown_command(name);
}
