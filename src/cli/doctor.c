/* gpu-offload doctor: says what is found, what can be intercepted, what not and why.
 *
 * Entry point: ofl_cli_doctor.  It changes nothing.  Libraries are opened in child processes, so that a broken
 * driver or BLAS library is a finding and not the end of the report.  Every finding that stands in
 * the way comes with a line that says what to do.  Exit status: 0 if offload is possible, 1 if not. */
#include "cli/doctor.h"
#include "cli/cli.h"
#include "base/message.h"
#include "base/settings.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_WIDTH = 22, LINE_WIDTH = 110 };

void ofl_doctor_heading(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    putchar('\n');
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

/* Text that goes on under its own beginning when it is longer than a line. */
static void print_text(const char *text, int indent)
{
    int column = indent;
    for (bool first = true; *text != '\0'; first = false) {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > LINE_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            first = true;
        }
        column += printf("%s%.*s", first ? "" : " ", length, text);
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

void ofl_doctor_line(const char *label, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int used = printf("  %-*s", LABEL_WIDTH - 3, label);
    putchar(' ');
    if (used >= LABEL_WIDTH) {
        printf("\n%*s", LABEL_WIDTH, "");
    }
    print_text(text, LABEL_WIDTH);
}

void ofl_doctor_advice(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("%*s-> ", LABEL_WIDTH, "");
    print_text(text, LABEL_WIDTH + 3);
}

static void print_help(void)
{
    puts("usage: gpu-offload doctor [--device auto|cuda|host] [--] [PROGRAM [ARGUMENT...]]\n\n"
         "Says what is found on this machine and, for a PROGRAM, which of its library calls\n"
         "can be intercepted, which not and why. Changes nothing; PROGRAM is not run, except\n"
         "that a Python interpreter is asked to import NumPy and SciPy.\n\n"
         "  --device DEVICE   the device to judge by (default: as `gpu-offload run`)\n"
         "  --help            print this\n\n"
         "Exit status: 0 if offload is possible, 1 if not, 2 for a wrong option.");
}

/* The setting `device` as `run` would have it. */
static bool find_device(const char *option, char *device, size_t size)
{
    char *configured[OFL_CLI_SETTINGS] = {0}, explanation[256];
    bool good = ofl_cli_read_configuration(configured);
    for (size_t i = 0; i < ofl_setting_count; i++) {
        const struct ofl_setting_info *setting = &ofl_setting_table[i];
        if (good && strcmp(setting->option, "device") == 0) {
            const char *variable = getenv(setting->variable);
            const char *value = option != NULL                            ? option
                                : variable != NULL && variable[0] != '\0' ? variable
                                : configured[i] != NULL                   ? configured[i]
                                                                          : "auto";
            good = ofl_setting_check(setting, value, explanation, sizeof explanation);
            if (!good) {
                ofl_message("doctor: %s", explanation);
            }
            snprintf(device, size, "%s", value);
        }
        free(configured[i]);
    }
    return good;
}

int ofl_cli_doctor(int argc, char **argv)
{
    static const struct option options[] = {
        {"device", required_argument, NULL, 'd'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *option_device = NULL;
    char device[64];
    opterr = 0;
    optind = 1;
    for (int where = 1, option; (option = getopt_long(argc, argv, "+h", options, NULL)) != -1; where = optind) {
        switch (option) {
        case 'd':
            option_device = optarg;
            break;
        case 'h':
            print_help();
            return 0;
        default:
            ofl_message("doctor: '%s' is no option, or needs a value; see 'gpu-offload doctor --help'", argv[where]);
            return OFL_EXIT_USAGE;
        }
    }
    if (!find_device(option_device, device, sizeof device)) {
        return OFL_EXIT_USAGE;
    }
    printf("gpu-offload %s\n", OFL_VERSION);
    ofl_doctor_machine();
    bool usable = ofl_doctor_device(device);
    bool reached = optind >= argc || ofl_doctor_program(argv + optind);
    bool possible = usable && reached;
    putchar('\n');
    if (possible) {
        puts("Offload is possible.");
    } else {
        printf("Offload is not possible: %s%s%s.\n", usable ? "" : "there is no usable device",
               !usable && !reached ? ", and " : "", reached ? "" : "no call of the program can be intercepted");
    }
    return possible ? 0 : 1;
}
