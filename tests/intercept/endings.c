/* A program that makes two calls and ends as its argument says: endings WAY. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                   const int *, const double *, const int *, const double *, double *, const int *);

static void call(void)
{
    static const int n = 2;
    static const double one = 1, a[4] = {1, 2, 3, 4};
    static double c[4];
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &one, c, &n);
}

/* In the middle of malloc, as far as the library can know, and with hardly any stack beyond the processor's registers,
 * which take from 1 to 11 KiB. */
static void end_in_handler(int number)
{
    (void)number;
    _exit(7);
}

static void end_from_signal(void)
{
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 3 * 1024;
    stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
    struct sigaction action = {.sa_handler = end_in_handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void wait_for(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
        exit(1);
    }
}

static void end_late(void)
{
    call();
    _exit(7);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "late") == 0) {
        atexit(end_late);
    }
    call();
    call();
    if (strcmp(way, "_exit") == 0) {
        _exit(7);
    } else if (strcmp(way, "_Exit") == 0) {
        _Exit(7);
    } else if (strcmp(way, "quick") == 0) {
        quick_exit(7);
    } else if (strcmp(way, "signal") == 0) {
        end_from_signal();
    } else if (strcmp(way, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            call();
            _exit(7);
        }
        wait_for(child);
    } else if (strcmp(way, "vfork") == 0) { /* in the parent's memory: none of the child's business */
        pid_t child = vfork();
        if (child == 0) {
            _exit(7);
        }
        wait_for(child);
        call();
        _exit(7);
    }
    return 7;
}
