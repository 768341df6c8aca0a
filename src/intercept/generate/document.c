/* Writes docs/operations.md from the tables: `document FILE`, or `document --check FILE` to say whether FILE is what it
 * would write.
 *
 * What is intercepted, under which names, what may run on a device and what of it stays on the CPU and why.  Nothing
 * here is typed twice: operations come from operations.def, names from names.def, limits from limits.def. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *operation, *device, *what, *why;
} limits[] = {
#define OFL_LIMIT(operation, device, what, why) {#operation, #device, what, why},
#include "limits.def"
};

/* Each limit is one of an operation, and what never runs on a device says why. */
static void check_limits(void)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bool found = false;
        for (size_t j = 0; j < ofl_table_operation_count; j++) {
            found = found || strcmp(ofl_table_operations[j].name, limits[i].operation) == 0;
        }
        if (!found) {
            ofl_table_fail("limits.def: there is no operation %s", limits[i].operation);
        }
    }
    for (size_t j = 0; j < ofl_table_operation_count; j++) {
        bool explained = !ofl_table_measured(&ofl_table_operations[j]);
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            explained = explained || strcmp(ofl_table_operations[j].name, limits[i].operation) == 0;
        }
        if (!explained) {
            ofl_table_fail("limits.def: it does not say why %s is only measured", ofl_table_operations[j].name);
        }
    }
}

static bool is_lapack(const struct operation *operation)
{
    struct signature signature = ofl_table_parse(operation);
    return ofl_table_has_class(&signature, INFO);
}

static void print_names(FILE *out)
{
    fputs("## Names\n\n"
          "With `x` a letter of the precision and the name of the operation, as in `dgemm`:\n\n"
          "| name | interface | integers |\n|---|---|---|\n",
          out);
    for (size_t i = 0; i < ofl_table_scheme_count; i++) {
        const struct scheme *scheme = &ofl_table_schemes[i];
        const char *width = scheme->integer_bytes == 4   ? "32 bits"
                            : scheme->integer_bytes == 8 ? "64 bits"
                                                         : "as wide as those of the library that the caller reaches";
        fprintf(out, "| `%sx%s` | %s | %s |\n", scheme->prefix, scheme->suffix,
                scheme->interface == FORTRAN ? "Fortran" : "CBLAS, both orders", width);
    }
    fputs("\nLAPACK's operations have the Fortran names only: LAPACKE calls those, and is intercepted there in both "
          "orders.  Functions that return complex values are not intercepted.\n\n",
          out);
}

static void print_rules(FILE *out)
{
    fputs("## What always stays on the CPU\n\n"
          "- calls that the CPU library makes inside another call: they are counted as nested;\n"
          "- calls with an invalid argument: the CPU library reports it as it always does;\n"
          "- calls with nothing to compute: a size of zero, `alpha` of zero, no right-hand sides;\n"
          "- questions for the size of a workspace, and workspaces that are too short: the answers are the CPU "
          "library's;\n"
          "- calls whose output overlaps another operand;\n"
          "- calls made while the program rounds otherwise than to nearest, or lets floating-point exceptions trap: "
          "devices "
          "do neither.\n\n"
          "A device does not raise the flags of floating-point exceptions (`fetestexcept`, `ieee_get_flag`, gfortran's "
          "note "
          "at `stop`).\n\n"
          "All results of a call to LAPACK (factors, pivots, `tau`, solutions, `info`) come from one place: the "
          "device, or, when it fails or finds a matrix that LAPACK treats in a way of its own, the CPU library.\n\n",
          out);
}

/* "s d c z" */
static void print_letters(FILE *out, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        fprintf(out, "%c%s", *letters, letters[1] != '\0' ? " " : "");
    }
}

static void print_limits(FILE *out, const char *operation)
{
    const char *separator = "";
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (strcmp(limits[i].operation, operation) == 0) {
            bool any = strcmp(limits[i].device, "any") == 0;
            fprintf(out, "%s%s%s%s: %s", separator, any ? "" : limits[i].device, any ? "" : ", ", limits[i].what,
                    limits[i].why);
            separator = ";<br>";
        }
    }
}

static void print_operations(FILE *out, bool lapack)
{
    fprintf(out,
            "## %s\n\n| operation | precisions | on a device | what of it stays on the CPU, and why |\n"
            "|---|---|---|---|\n",
            lapack ? "LAPACK" : "BLAS");
    for (size_t i = 0; i < ofl_table_operation_count; i++) {
        const struct operation *operation = &ofl_table_operations[i];
        if (is_lapack(operation) == lapack) {
            fprintf(out, "| %s | ", operation->name);
            print_letters(out, operation->precisions);
            fprintf(out, " | %s | ", ofl_table_measured(operation) ? "no" : "yes");
            print_limits(out, operation->name);
            fputs(" |\n", out);
        }
    }
    fputs("\n", out);
}

static void print_document(FILE *out)
{
    fputs("# Operations\n\n"
          "<!-- Written from the tables of operations by `cmake --build BUILD --target operations-document`. -->\n\n"
          "What gpu-offload intercepts, and what of it may run on a device.  Whether a call does run there is decided "
          "by its predicted gain, or by `--force`.\n\n",
          out);
    print_names(out);
    print_rules(out);
    print_operations(out, false);
    print_operations(out, true);
}

/* Whether the rest of both is the same. */
static bool same(FILE *a, FILE *b)
{
    int x, y;
    do {
        x = fgetc(a);
        y = fgetc(b);
    } while (x == y && x != EOF);
    return x == y;
}

static int check(const char *name)
{
    FILE *file = fopen(name, "r");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be read\n", name);
        return EXIT_FAILURE;
    }
    FILE *made = tmpfile();
    if (made == NULL) {
        fprintf(stderr, "no temporary file can be made\n");
        fclose(file);
        return EXIT_FAILURE;
    }
    print_document(made);
    rewind(made);
    bool good = same(file, made);
    fclose(file);
    fclose(made);
    if (!good) {
        fprintf(stderr, "%s is not what the tables say; build the target operations-document\n", name);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    check_limits();
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        return check(argv[2]);
    }
    FILE *file = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (file == NULL) {
        ofl_table_fail("usage: document [--check] FILE");
    }
    print_document(file);
    return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
