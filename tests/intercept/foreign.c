/* Functions with the names of BLAS routines that are something else: values, a result, many arguments.
 * With -DLIBRARY the library that has them, else its client, which prints "ok". */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct pair {
    double first, second;
};
double dgemm(int count, double factor, const double *x, double shift);
int dsyrk_(int a, int b, double c, float d, long e, long f, long g, long h, double i);
struct pair ztrsm(struct pair value, float _Complex z, const char *format, ...);
long double cblas_sgemm(long double x, int y);

#ifdef LIBRARY
double dgemm(int count, double factor, const double *x, double shift)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += factor * x[i] + shift;
    }
    return sum;
}
int dsyrk_(int a, int b, double c, float d, long e, long f, long g, long h, double i)
{
    return a + 2 * b + 3 * (int)c + 4 * (int)d + (int)(5 * e + 6 * f + 7 * g + 8 * h) + 9 * (int)i;
}
struct pair ztrsm(struct pair value, float _Complex z, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (; *format != '\0'; format++) {
        value.first += *format == 'd' ? va_arg(arguments, double) : va_arg(arguments, int);
    }
    va_end(arguments);
    value.second += (double)__real__ z;
    return value;
}
long double cblas_sgemm(long double x, int y)
{
    return x + y;
}
#else
static const double x[] = {1, 2, 3};

static int round_of_calls(void)
{
    struct pair pair = ztrsm((struct pair){1, 2}, 3.0F, "didid", 1.5, 2, 3.5, 4, 5.0);
    errno = 1234;
    int good = dgemm(3, 2, x, 0.5) == 13.5 && errno == 1234;
    good &= dsyrk_(1, 2, 3, 4, 5, 6, 7, 8, 9) == 1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 81;
    good &= pair.first == 17 && pair.second == 5;
    return good & (cblas_sgemm(2.5L, 3) == 5.5L);
}

int main(void)
{
    int good = 1;
    for (int i = 0; i < 3; i++) {
        good &= round_of_calls();
    }
    puts(good ? "ok" : "failed");
    return !good;
}
#endif
