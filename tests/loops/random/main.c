/* Random programs that compare loops on the device with the same loops on the CPU.
 *
 *   generate SEED FIRST COUNT data|reference|device|main [FEATURES] [SKIPPED...]
 *
 * writes one of a program's files to standard output: the data's module; the loops as do loops; the same as do
 * concurrent; the main program, which ends with `ok`, or names the loops whose results differ.  FEATURES is the sum of
 * 1 control flow, 2 calls, 4 localities and reductions, 8 array sections, 16 characters.  Loops are numbered from
 * FIRST; a loop depends on SEED and its number only. */
#include "generate.h"

#include <stdlib.h>
#include <string.h>

static bool is_skipped(int number, int count, char **list)
{
    for (int i = 0; i < count; i++) {
        if (atoi(list[i]) == number) {
            return true;
        }
    }
    return false;
}

static void print_main(int first, int count, int skipped, char **list)
{
    puts("program random\nuse data\nuse reference\nuse device\nimplicit none\ncall make()");
    for (int i = first; i < first + count; i++) {
        if (!is_skipped(i, skipped, list)) {
            printf("call initialise()\ncall reference_%d()\ncall keep()\n", i);
            printf("call initialise()\ncall device_%d()\ncall compare(%d)\n", i, i);
        }
    }
    puts("if (wrong == 0) print *, 'ok'\nend program");
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: generate SEED FIRST COUNT data|reference|device|main [FEATURES] [SKIPPED...]\n", stderr);
        return 2;
    }
    uint64_t seed = strtoull(argv[1], NULL, 10);
    int first = atoi(argv[2]), count = atoi(argv[3]), features = argc > 5 ? atoi(argv[5]) : FEATURE_ALL;
    int skipped = argc > 6 ? argc - 6 : 0;
    char **list = argv + 6;
    const char *what = argv[4];
    if (strcmp(what, "data") == 0) {
        print_data(stdout);
        return 0;
    }
    if (strcmp(what, "main") == 0) {
        print_main(first, count, skipped, list);
        return 0;
    }
    printf("module %s\nuse data\nimplicit none\ncontains\n", what);
    print_procedures(stdout);
    for (int i = first; i < first + count; i++) {
        if (!is_skipped(i, skipped, list)) {
            seed_with(seed, (uint64_t)i);
            print_loop(stdout, what, i, strcmp(what, "device") == 0, features);
        }
    }
    puts("end module");
    return 0;
}
