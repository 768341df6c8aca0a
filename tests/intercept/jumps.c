/* A program whose xerbla_ leaves the library by longjmp, as R's does: later calls are still the program's
 * own, not nested ones.  Prints the number of calls that were made with right arguments. */
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
void xerbla_(const char *name, const int *info, size_t length);

static jmp_buf back;
static int errors;

void xerbla_(const char *name, const int *info, size_t length)
{
    (void)name;
    (void)info;
    (void)length;
    errors++;
    longjmp(back, 1);
}

static __attribute__((noinline)) void deep(int depth, const int *ldc)
{
    static double a[100 * 100], b[100 * 100], c[100 * 100];
    volatile char room[512];
    const int n = 100;
    const double one = 1, zero = 0;
    room[0] = (char)depth;
    if (depth > 0) {
        deep(depth - 1, ldc);
    } else {
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, ldc, 1, 1);
    }
    room[1] = room[0];
}

int main(void)
{
    const int good = 100, bad = 3;
    int calls = 0;
    for (volatile int round = 0; round < 10; round++) {
        if (setjmp(back) == 0) {
            deep(round, &bad);
        }
        deep((round * 7) % 5, &good); /* sometimes deeper in the stack than the one that was left */
        calls++;
        deep(20, &good);
        calls++;
    }
    if (errors != 10) {
        fprintf(stderr, "xerbla_ was called %d times\n", errors);
        return 1;
    }
    printf("%d\n", calls);
    return 0;
}
