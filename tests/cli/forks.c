/* forks before|after|both: calls a product, and forks before or after it (or both); each process makes one, checks it,
 * and ends in the ordinary way.  Exit status 42 if all are right. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { n = 100 };

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static double a[n * n], b[n * n], c[n * n];

static int product(void)
{
    const int size = n;
    const double one = 1, zero = 0;
    for (int i = 0; i < n * n; i++) {
        a[i] = 1, b[i] = 2, c[i] = -1;
    }
    dgemm_("N", "N", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size, 1, 1);
    for (int i = 0; i < n * n; i++) {
        if (c[i] != 2 * n) {
            return 1;
        }
    }
    return 42;
}

/* A child that makes a product; its status. */
static int child(void)
{
    int status = 0;
    pid_t process = fork();
    if (process == 0) {
        exit(product());
    }
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "before";
    int before = strcmp(when, "after") == 0 ? 42 : child(), own = product();
    int after = strcmp(when, "before") == 0 ? 42 : child();
    return before == 42 && after == 42 ? own : 1;
}
