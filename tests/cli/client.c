/* A program for the tests of the command: does what its first argument says.
 *
 *   status N | signal N | arguments ... | copy | pid | self */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "status") == 0) {
        return atoi(argv[2]);
    }
    if (strcmp(what, "signal") == 0) {
        raise(atoi(argv[2]));
    }
    if (strcmp(what, "arguments") == 0) {
        for (int i = 0; i < argc; i++) {
            printf("[%s]", argv[i]);
        }
        putchar('\n');
    }
    if (strcmp(what, "copy") == 0) {
        for (int c; (c = getchar()) != EOF;) {
            putchar(c);
        }
    }
    if (strcmp(what, "pid") == 0) {
        printf("%d\n", (int)getpid());
    }
    return 0;
}
