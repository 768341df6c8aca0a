/* gpu-offload run and gpu-offload measure: start a program with the preload library.
 *
 * Entry points: ofl_cli_run, ofl_cli_measure.  They differ by a row of `modes` only: measure is a run with some
 * settings fixed, which records everything.  What follows is of both.  It turns the settings into environment variables
 * (an option wins over the variable that is already there, that over the configuration file, that over the default),
 * puts libgpuoffload.so first in LD_PRELOAD and becomes the program with exec: exit status, signals, terminal and
 * standard streams are the program's own, and no process of ours stays.  It starts no device:
 * that is the library's business, when a call first needs one; but a device asked for by name that cannot work is told
 * here (device_check.c). */
#include "cli/cli.h"
#include "cli/device_check.h"
#include "cli/program.h"
#include "base/message.h"
#include "base/settings.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libgpuoffload.so"

enum { OPTION_HELP = 1, OPTION_SETTING = 1000, OPTION_NO = 2000, MOST_FIXED = 3 };

/* A command of this file.  Fixed settings have the values given here whatever variables and the configuration
 * file say, and are no options of the command. */
struct mode {
    const char *name, *purpose;
    struct {
        const char *option, *value;
    } fixed[MOST_FIXED];
    const char *options; /* the settings that can be given, between blanks; NULL: all */
    const char *trace;   /* the folder of the traces where none is given; the process number follows.  NULL: none */
};
static const struct mode modes[] = {
    {"run", "Runs PROGRAM unchanged; its calls of BLAS and LAPACK run on the GPU where that pays.", .trace = NULL},
    {"measure",
     "Runs PROGRAM unchanged, with everything on the CPU, and records its calls of BLAS and LAPACK.  "
     "'gpu-offload report' then says where its time went, 'gpu-offload estimate' what a GPU would do for it.",
     .fixed = {{"device", "none"}, {"force", "0"}}, .options = " trace summary summary-file verbose ",
     .trace = "gpu-offload-trace-"},
};
static const struct mode *mode; /* of this call of the command */

/* The value that a setting has in this mode whatever was given; NULL: none. */
static const char *fixed_value(const struct ofl_setting_info *setting)
{
    for (int i = 0; i < MOST_FIXED && mode->fixed[i].option != NULL; i++) {
        if (strcmp(mode->fixed[i].option, setting->option) == 0) {
            return mode->fixed[i].value;
        }
    }
    return NULL;
}

static bool is_option(const struct ofl_setting_info *setting)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", setting->option);
    return mode->options == NULL || strstr(mode->options, word) != NULL;
}

/* ---- Help ---- */

/* Prints text in lines of at most 80 columns, each `indent` columns in. */
static void print_wrapped(const char *text, int indent)
{
    int column = 0;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > 80) {
            putchar('\n');
            column = 0;
        }
        column += column == 0 ? printf("%*s%.*s", indent, "", length, text) : printf(" %.*s", length, text);
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* The table keeps defaults as they are written in C: a text in quotes. */
static void print_default(const struct ofl_setting_info *setting)
{
    const char *text = setting->type == OFL_SETTING_FLAG ? "off" : setting->default_text;
    int length = (int)strlen(text);
    if (length >= 2 && text[0] == '"') {
        text++;
        length -= 2;
    }
    if (length == 0 && strstr(setting->help, "Default:") != NULL) { /* it depends, and has been said */
        printf("        (%s)\n", setting->variable);
        return;
    }
    printf("        (%s; default: %.*s)\n", setting->variable, length > 0 ? length : 4, length > 0 ? text : "none");
}

static void print_help(void)
{
    char path[PATH_MAX];
    printf("usage: gpu-offload %s [options] [--] PROGRAM [ARGUMENT...]\n\n", mode->name);
    print_wrapped(mode->purpose, 0);
    putchar('\n');
    for (size_t i = 0; i < ofl_setting_count; i++) {
        const struct ofl_setting_info *setting = &ofl_setting_table[i];
        if (!is_option(setting)) {
            continue;
        }
        bool flag = setting->type == OFL_SETTING_FLAG;
        printf("  --%s%s%s%s\n", flag ? "[no-]" : "", setting->option, flag ? "" : " ", flag ? "" : setting->argument);
        print_wrapped(setting->help, 8);
        print_default(setting);
    }
    puts("  --help\n        Print this.\n\n"
         "Each setting can also come from the environment variable in brackets (flags: 0 or\n"
         "1), or from a line 'name = value' of the configuration file, with the options'\n"
         "names.  An option wins over a variable, a variable over the file.");
    if (ofl_cli_configuration_file(path, sizeof path)) {
        printf("The file: %s\n", path);
    }
    if (mode->trace != NULL) {
        printf("\nWithout --trace the folder is %sNUMBER in the current folder; NUMBER is\n"
               "that of the process.\n",
               mode->trace);
    }
    puts("\nExit status: the program's own; 2 for a wrong option, 125 if gpu-offload fails,\n"
         "126 if PROGRAM cannot be executed, 127 if it is not found.");
}

/* ---- Settings ---- */

/* One option for each setting and --no-NAME for each flag, as getopt_long wants them. */
static const struct option *make_options(void)
{
    static struct option options[2 * OFL_CLI_SETTINGS + 2];
    static char negated[OFL_CLI_SETTINGS][64];
    size_t used = 0;
    for (size_t i = 0; i < ofl_setting_count; i++) {
        const struct ofl_setting_info *setting = &ofl_setting_table[i];
        bool flag = setting->type == OFL_SETTING_FLAG;
        if (!is_option(setting)) {
            continue;
        }
        options[used++] =
            (struct option){setting->option, flag ? no_argument : required_argument, NULL, OPTION_SETTING + (int)i};
        if (flag) {
            snprintf(negated[i], sizeof negated[i], "no-%s", setting->option);
            options[used++] = (struct option){negated[i], no_argument, NULL, OPTION_NO + (int)i};
        }
    }
    options[used] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    return options;
}

/* Reads the options up to PROGRAM.  Returns -1 to go on, or an exit status. */
static int read_options(int argc, char **argv, const char **given)
{
    static char zero[] = "0", one[] = "1";
    const struct option *options = make_options();
    opterr = 0;
    optind = 1;
    for (;;) {
        int where = optind, option = getopt_long(argc, argv, "+:h", options, NULL);
        if (option == -1) {
            break;
        }
        if (option == OPTION_HELP || option == 'h') {
            print_help();
            return 0;
        }
        if (option == ':') {
            ofl_message("%s: the option '%s' needs a value; 'gpu-offload %s --help' explains it", mode->name,
                        argv[where], mode->name);
            return OFL_EXIT_USAGE;
        }
        if (option == '?') {
            ofl_message("%s: there is no option '%s'; 'gpu-offload %s --help' lists them", mode->name, argv[where],
                        mode->name);
            return OFL_EXIT_USAGE;
        }
        if (option >= OPTION_NO) {
            given[option - OPTION_NO] = zero;
        } else {
            const struct ofl_setting_info *setting = &ofl_setting_table[option - OPTION_SETTING];
            given[option - OPTION_SETTING] = setting->type == OFL_SETTING_FLAG ? one : optarg;
        }
    }
    return -1;
}

/* A file's name that is given here must mean the same file wherever the program goes. */
static bool export_value(const struct ofl_setting_info *setting, const char *value)
{
    char absolute[2 * PATH_MAX], here[PATH_MAX];
    bool is_file =
        setting->argument != NULL && (strcmp(setting->argument, "FILE") == 0 || strcmp(setting->argument, "DIR") == 0);
    if (is_file && value[0] != '\0' && value[0] != '/' && getcwd(here, sizeof here) != NULL) {
        snprintf(absolute, sizeof absolute, "%s/%s", here, value);
        value = absolute;
    }
    return setenv(setting->variable, value, 1) == 0;
}

static int export_settings(const char **given)
{
    char *configured[OFL_CLI_SETTINGS] = {0};
    int status = ofl_cli_read_configuration(configured) ? -1 : OFL_EXIT_USAGE;
    for (size_t i = 0; status < 0 && i < ofl_setting_count; i++) {
        const struct ofl_setting_info *setting = &ofl_setting_table[i];
        const char *variable = getenv(setting->variable), *value = given[i], *fixed = fixed_value(setting);
        char explanation[256];
        value = fixed != NULL ? fixed : value;
        if (value == NULL && variable != NULL && *variable != '\0') {
            value = variable;
        }
        if (value != NULL && !ofl_setting_check(setting, value, explanation, sizeof explanation)) {
            ofl_message("%s: %s", mode->name, explanation);
            status = OFL_EXIT_USAGE;
        } else {
            value = value != NULL ? value : configured[i];
            if (value != NULL && !export_value(setting, value)) {
                ofl_message("%s: cannot set %s: %s", mode->name, setting->variable, strerror(errno));
                status = OFL_EXIT_FAILED;
            }
        }
    }
    for (size_t i = 0; i < ofl_setting_count; i++) {
        free(configured[i]);
    }
    return status;
}

/* Where the program's trace goes if nobody has said, and what can be done with it.  Before the program begins: this
 * process becomes the program, which may end in any way. */
static int announce_trace(void)
{
    const char *variable = "GPU_OFFLOAD_TRACE", *folder = getenv(variable);
    char here[PATH_MAX], name[64], path[PATH_MAX + 64];
    if (mode->trace == NULL) {
        return -1;
    }
    if (folder == NULL || *folder == '\0') {
        if (getcwd(here, sizeof here) == NULL) {
            ofl_message("%s: the current folder cannot be named: %s; give one for the trace with --trace", mode->name,
                        strerror(errno));
            return OFL_EXIT_FAILED;
        }
        snprintf(name, sizeof name, "%s%ld", mode->trace, (long)getpid());
        snprintf(path, sizeof path, "%s/%s", here, name);
        if (setenv(variable, path, 1) != 0) {
            ofl_message("%s: cannot set %s: %s", mode->name, variable, strerror(errno));
            return OFL_EXIT_FAILED;
        }
        folder = name;
    }
    ofl_message("the trace goes to %s; see 'gpu-offload report' and 'gpu-offload estimate' with this folder", folder);
    return -1;
}

/* The process that is started writes the summary file itself; its children write FILE.PID.  This process becomes
 * the program, so the number is ours.  A run inside a run that names no file of its own leaves that as it is. */
static int export_root(const char **given)
{
    const char *file = getenv("GPU_OFFLOAD_SUMMARY"), *root = getenv(OFL_ROOT_VARIABLE);
    char number[32];
    bool own_file = false;
    for (size_t i = 0; i < ofl_setting_count; i++) {
        own_file |= given[i] != NULL && strcmp(ofl_setting_table[i].variable, "GPU_OFFLOAD_SUMMARY") == 0;
    }
    if (file == NULL || *file == '\0' || (root != NULL && *root != '\0' && !own_file)) {
        return -1;
    }
    snprintf(number, sizeof number, "%ld", (long)getpid());
    if (setenv(OFL_ROOT_VARIABLE, number, 1) != 0) {
        ofl_message("%s: cannot set %s: %s", mode->name, OFL_ROOT_VARIABLE, strerror(errno));
        return OFL_EXIT_FAILED;
    }
    return -1;
}

/* ---- The preload ---- */

/* Whether the list, separated by blanks and colons, has the item. */
static bool listed(const char *list, const char *item)
{
    size_t length = strlen(item);
    while (*list != '\0') {
        size_t n = strcspn(list, " :");
        if (n == length && memcmp(list, item, n) == 0) {
            return true;
        }
        list += n + (list[n] != '\0');
    }
    return false;
}

static int export_preload(void)
{
    char library[PATH_MAX];
    if (!ofl_cli_library(LIBRARY, library, sizeof library) || access(library, R_OK) != 0) {
        ofl_message("%s: %s is not where it belongs, at %s; install gpu-offload again", mode->name, LIBRARY, library);
        return OFL_EXIT_FAILED;
    }
    if (strpbrk(library, " :$") != NULL) {
        ofl_message("%s: the dynamic linker cannot preload %s: blanks, colons and dollar signs have a meaning in "
                    "LD_PRELOAD; move gpu-offload to a folder without them",
                    mode->name, library);
        return OFL_EXIT_FAILED;
    }
    const char *existing = getenv("LD_PRELOAD");
    if (existing == NULL || *existing == '\0') {
        existing = "";
    } else if (listed(existing, library)) {
        return -1;
    }
    char *joined;
    if (asprintf(&joined, "%s%s%s", library, *existing != '\0' ? ":" : "", existing) < 0 ||
        setenv("LD_PRELOAD", joined, 1) != 0) {
        ofl_message("%s: cannot set LD_PRELOAD: %s", mode->name, strerror(errno));
        return OFL_EXIT_FAILED;
    }
    free(joined);
    return -1;
}

/* Whether the preload is of use: a program of another architecture or C library would only print the
 * dynamic linker's complaint.  Static and set-user-ID programs ignore it, but what they start may not. */
static bool preload_wanted(const char *name)
{
    struct ofl_program program;
    if (ofl_program_examine(name, &program) != 0) {
        return true; /* execute says what is wrong */
    }
    const char *verbose = getenv("GPU_OFFLOAD_VERBOSE");
    if (program.reach != OFL_REACH_OK && verbose != NULL && strcmp(verbose, "1") == 0) {
        ofl_message("cannot see the calls of %s because %s; %s", program.executable, ofl_reach_text(program.reach),
                    ofl_reach_advice(program.reach));
    }
    return program.reach != OFL_REACH_FOREIGN && program.reach != OFL_REACH_OTHER_LIBC;
}

/* Says that a device which was asked for by name cannot work, once for the program and all of its children. */
static int tell_device(const char *program)
{
    const char *device = getenv("GPU_OFFLOAD_DEVICE"), *folder = getenv("GPU_OFFLOAD_BACKEND_DIR");
    const char *told = getenv(OFL_TOLD_VARIABLE);
    char explanation[PATH_MAX + 512], path[PATH_MAX];
    if (device == NULL || (strcmp(device, "cuda") != 0 && strcmp(device, "host") != 0) ||
        ofl_program_find(program, path) != 0 ||
        ofl_cli_check_device(device, folder != NULL ? folder : "", explanation, sizeof explanation)) {
        unsetenv(OFL_TOLD_VARIABLE);
        return -1;
    }
    if (told == NULL || strcmp(told, "1") != 0) {
        ofl_message("%s; the program runs on the CPU", explanation);
    }
    if (setenv(OFL_TOLD_VARIABLE, "1", 1) != 0) {
        ofl_message("%s: cannot set %s: %s", mode->name, OFL_TOLD_VARIABLE, strerror(errno));
        return OFL_EXIT_FAILED;
    }
    return -1;
}

/* Whether a file that the kernel does not know can be a shell's script: text up to its first line's end. */
static bool may_be_script(const char *path)
{
    char start[256];
    FILE *file = fopen(path, "re");
    size_t length = file != NULL ? fread(start, 1, sizeof start, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    const char *end = memchr(start, '\n', length);
    return memchr(start, '\0', end != NULL ? (size_t)(end - start) : length) == NULL;
}

/* Becomes the program; returns only on failure, with errno.  A script without an interpreter line goes to
 * /bin/sh, as from a shell. */
static void become(char *path, char **argv)
{
    execv(path, argv);
    if (errno != ENOEXEC || !may_be_script(path)) {
        return;
    }
    size_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    char **arguments = calloc(count + 2, sizeof *arguments);
    static char shell[] = "/bin/sh";
    if (arguments != NULL) {
        arguments[0] = shell;
        arguments[1] = path;
        memcpy(arguments + 2, argv + 1, count * sizeof *arguments); /* with the NULL at the end */
        execv(shell, arguments);
        free(arguments);
    }
}

static int execute(char **argv)
{
    char path[PATH_MAX];
    struct stat status;
    int error = ofl_program_find(argv[0], path);
    if (error == ENOENT) {
        ofl_message("%s: there is no program '%s'", mode->name, argv[0]);
        return OFL_EXIT_NOT_FOUND;
    }
    if (error == 0) {
        become(path, argv);
        error = errno;
    } else if (stat(argv[0], &status) == 0 && S_ISDIR(status.st_mode)) {
        error = EISDIR;
    }
    if (error == ENOENT) {
        ofl_message("%s: cannot execute '%s': the interpreter or dynamic linker that it names does not exist",
                    mode->name, argv[0]);
    } else if (error == ENOEXEC) {
        ofl_message("%s: cannot execute '%s': it is damaged or was built for another machine", mode->name, argv[0]);
    } else {
        ofl_message("%s: cannot execute '%s': %s", mode->name, argv[0], strerror(error));
    }
    return OFL_EXIT_CANNOT_EXECUTE;
}

static int start(const struct mode *chosen, int argc, char **argv)
{
    mode = chosen;
    const char *given[OFL_CLI_SETTINGS] = {0};
    int status = read_options(argc, argv, given);
    if (status >= 0) {
        return status;
    }
    if (optind >= argc) {
        ofl_message("%s: no program is given; usage: gpu-offload %s [options] [--] PROGRAM [ARGUMENT...]", mode->name,
                    mode->name);
        return OFL_EXIT_USAGE;
    }
    status = export_settings(given);
    if (status < 0) {
        status = export_root(given);
    }
    if (status < 0) {
        status = announce_trace();
    }
    if (status < 0 && preload_wanted(argv[optind])) {
        status = export_preload();
        status = status < 0 ? tell_device(argv[optind]) : status;
    }
    return status >= 0 ? status : execute(argv + optind);
}

int ofl_cli_run(int argc, char **argv)
{
    return start(&modes[0], argc, argv);
}

int ofl_cli_measure(int argc, char **argv)
{
    return start(&modes[1], argc, argv);
}
