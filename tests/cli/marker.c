/* A preload library of the user's: shows that it was loaded by a line on standard output. */
#include <unistd.h>

__attribute__((constructor)) static void mark(void)
{
    static const char text[] = "marker\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) {
        _exit(99);
    }
}
