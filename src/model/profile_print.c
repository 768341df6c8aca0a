/* Writer of the profile format, profile.h. */
#include "model/profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct printer {
    char *text;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void print(struct printer *printer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool room = printer->length < printer->size;
    int more = vsnprintf(room ? printer->text + printer->length : NULL, room ? printer->size - printer->length : 0,
                         format, arguments);
    va_end(arguments);
    printer->length += more > 0 ? (size_t)more : 0;
}

/* Six digits, with a point in every locale. */
static void print_number(struct printer *printer, double number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", number);
    char *comma = strchr(digits, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    print(printer, " %s", digits);
}

static void print_text(struct printer *printer, const char *word, const char *text)
{
    if (*text != '\0') {
        print(printer, "%s %s\n", word, text);
    }
}

static void print_three(struct printer *printer, const char *word, const double value[3])
{
    print(printer, "  %s", word);
    for (int i = 0; i < 3; i++) {
        print_number(printer, value[i]);
    }
    print(printer, "\n");
}

static void print_curve(struct printer *printer, enum ofl_place place, enum ofl_operation operation,
                        enum ofl_precision precision, const struct ofl_curve *curve)
{
    print(printer, "\ncurve %s %c%s\n", ofl_place_name(place), ofl_precision_letter(precision),
          ofl_operation_name(operation));
    for (int i = 0; i < curve->points; i++) {
        print(printer, "  point");
        print_number(printer, curve->point[i].work);
        print_number(printer, curve->point[i].speed);
        print(printer, "\n");
    }
    print_three(printer, "surface", curve->surface);
    print_three(printer, "edge", curve->edge);
    for (int i = 0; i < OFL_FLAG_COUNT; i++) {
        if (curve->flag[i] > 0) {
            print(printer, "  flag %s", ofl_flag_name((enum ofl_flag)i));
            print_number(printer, curve->flag[i]);
            print(printer, "\n");
        }
    }
    for (int i = 0; i < curve->nears; i++) {
        print(printer, "  near");
        for (int j = 0; j < 3; j++) {
            print_number(printer, exp((double)curve->near[i].extent[j]));
        }
        print_number(printer, exp((double)curve->near[i].factor));
        print(printer, "\n");
    }
}

static void print_costs(struct printer *printer, const struct ofl_machine *machine)
{
    print(printer,
          "\n# Seconds to start the device and, when first needed, each of its libraries and each routine.\nstart");
    print_number(printer, machine->start);
    for (int i = 0; i < OFL_LIBRARY_COUNT; i++) {
        print(printer, "\nstart %s", ofl_library_name((enum ofl_library)i));
        print_number(printer, machine->library[i]);
        print(printer, "\nstart %s", ofl_library_routine_name((enum ofl_library)i));
        print_number(printer, machine->routine[i]);
    }
    print(printer, "\n\n# A copy costs fixed seconds, and its bytes at a rate in bytes a second.\n");
    for (int d = 0; d < OFL_DIRECTION_COUNT; d++) {
        for (int h = 0; h < OFL_HOST_MEMORY_COUNT; h++) {
            const struct ofl_line *line = &machine->copy[d][h];
            if (line->rate > 0) {
                print(printer, "copy %s %s", ofl_direction_name((enum ofl_direction)d),
                      ofl_host_memory_name((enum ofl_host_memory)h));
                print_number(printer, line->fixed);
                print_number(printer, line->rate);
                print(printer, "\n");
            }
        }
    }
}

static void print_overlap(struct printer *printer, double serial)
{
    print(printer,
          "\n# Of what copies could save by overlapping with computing, the share that they do save.\noverlap");
    print_number(printer, 1 - serial);
    print(printer, "\n");
}

size_t ofl_profile_print(const struct ofl_profile *profile, char *text, size_t size)
{
    struct printer printer = {text, size, 0};
    if (size > 0) {
        *text = '\0';
    }
    print(&printer, "gpu-offload profile %d\n", OFL_PROFILE_VERSION);
    print(&printer, "# Written by `gpu-offload calibrate`; shown by `gpu-offload profile`.\n\n");
    print_text(&printer, "cpu", profile->key.cpu);
    if (profile->key.cores > 0) {
        print(&printer, "cores %d\n", profile->key.cores);
    }
    print_text(&printer, "device", profile->key.device);
    print_text(&printer, "driver", profile->key.driver);
    print_text(&printer, "library", profile->key.library);
    print_text(&printer, "date", profile->date);
    print_text(&printer, "effort", profile->quick ? "quick" : "full");
    print_costs(&printer, &profile->machine);
    print_overlap(&printer, profile->machine.serial);
    print(&printer, "\n# Curves.  A point is work in flops and speed in flops a second, measured with cubes.  Surface "
                    "and edge: what\n"
                    "# an element of m*n, m*k and n*k and a unit of m, n and k cost beyond that in other shapes, in "
                    "seconds.  Flag:\n"
                    "# how many times as long calls of another kind take.  Near: and calls of about this shape.\n");
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
                const struct ofl_curve *curve = &profile->machine.curve[place][operation][p];
                if (curve->points > 0) {
                    print_curve(&printer, (enum ofl_place)place, (enum ofl_operation)operation, (enum ofl_precision)p,
                                curve);
                }
            }
        }
    }
    print(&printer, "\nend\n");
    return printer.length;
}
