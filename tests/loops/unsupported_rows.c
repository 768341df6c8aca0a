/* The rows of the unsupported list, for tests.
 *
 *   unsupported_rows check FOLDER   each row has a program FOLDER/id.f90, else exit status 1: part of the build
 *   unsupported_rows list           a line for each row: id, devices, construct
 *   unsupported_rows document       the table of docs/fortran.md */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define METAL "metal"
#define ALL   "metal cuda cuda_cpu"

static const struct {
    const char *id, *construct, *devices, *why, *plan;
} rows[] = {
#define OFL_UNSUPPORTED(id, construct, devices, why, plan) {#id, construct, devices, why, plan},
#include "fortran/unsupported.def"
#undef OFL_UNSUPPORTED
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *lower(const char *id)
{
    static char text[64];
    size_t length = 0;
    for (; id[length] != '\0' && length + 1 < sizeof text; length++) {
        text[length] = (char)tolower((unsigned char)id[length]);
    }
    text[length] = '\0';
    return text;
}

static int check(const char *folder)
{
    int status = 0;
    for (int i = 0; i < ROWS; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.f90", folder, lower(rows[i].id));
        if (access(path, R_OK) != 0) {
            fprintf(stderr, "the row %s (%s) of unsupported.def has no test: write %s\n", rows[i].id, rows[i].construct,
                    path);
            status = 1;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "check") == 0) {
        return check(argv[2]);
    }
    if (argc != 2 || (strcmp(argv[1], "list") != 0 && strcmp(argv[1], "document") != 0)) {
        fputs("usage: unsupported_rows check FOLDER | list | document\n", stderr);
        return 2;
    }
    for (int i = 0; i < ROWS; i++) {
        if (argv[1][0] == 'l') {
            printf("%s\t%s\t%s\n", lower(rows[i].id), rows[i].devices, rows[i].construct);
        } else {
            const char *devices = strcmp(rows[i].devices, METAL) == 0 ? "Metal" : "all";
            printf("| `%s` | %s | %s | %s |\n", rows[i].construct, devices, rows[i].why, rows[i].plan);
        }
    }
    return 0;
}
