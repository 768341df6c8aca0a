/* A program that makes one small call and ends: the usual case in which nothing must be lost.
 *
 *   small          only the call
 *   small maps     then names the CUDA libraries that the process has mapped, one a line */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

int main(int argc, char **argv)
{
    const int n = 2;
    const double one = 1, zero = 0, a[4] = {1, 2, 3, 4};
    double c[4];
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
    if (argc > 1 && strcmp(argv[1], "maps") == 0) {
        char line[4096];
        FILE *maps = fopen("/proc/self/maps", "r");
        while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
            const char *name = strrchr(line, '/');
            if (name != NULL && (strncmp(name, "/libcu", 6) == 0 || strncmp(name, "/libnv", 6) == 0 ||
                                 strncmp(name, "/libgpuoffload-cuda", 19) == 0)) {
                fputs(name + 1, stdout);
            }
        }
    }
    return c[0] == 7 ? 0 : 1;
}
