/* A BLAS library with a fault: put before the real one, its dtrmm crashes and its cherk ends the program. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void dtrmm_(void);
void cherk_(void);

void dtrmm_(void)
{
    raise(SIGSEGV);
}

void cherk_(void)
{
    _exit(3);
}
