/* Numbers of 128 bits and their functions, as GCC and glibc have them.
 *
 * clang knows the type by another name in C, and glibc then declares none of the functions, though it has them. */
#ifndef OFL_FORTRAN_FLOAT128_H
#define OFL_FORTRAN_FLOAT128_H

#include <math.h>
#include <stdlib.h>

#ifndef __clang__
typedef _Float128 ofl_float128;
#else
typedef __float128 ofl_float128;

ofl_float128 acosf128(ofl_float128 x);
ofl_float128 acoshf128(ofl_float128 x);
ofl_float128 asinf128(ofl_float128 x);
ofl_float128 asinhf128(ofl_float128 x);
ofl_float128 atanf128(ofl_float128 x);
ofl_float128 atan2f128(ofl_float128 y, ofl_float128 x);
ofl_float128 atanhf128(ofl_float128 x);
ofl_float128 ceilf128(ofl_float128 x);
ofl_float128 copysignf128(ofl_float128 x, ofl_float128 y);
ofl_float128 cosf128(ofl_float128 x);
ofl_float128 coshf128(ofl_float128 x);
ofl_float128 erfcf128(ofl_float128 x);
ofl_float128 erff128(ofl_float128 x);
ofl_float128 expf128(ofl_float128 x);
ofl_float128 fabsf128(ofl_float128 x);
ofl_float128 floorf128(ofl_float128 x);
ofl_float128 fmodf128(ofl_float128 x, ofl_float128 y);
ofl_float128 frexpf128(ofl_float128 x, int *exponent);
ofl_float128 hypotf128(ofl_float128 x, ofl_float128 y);
ofl_float128 j0f128(ofl_float128 x);
ofl_float128 j1f128(ofl_float128 x);
ofl_float128 lgammaf128(ofl_float128 x);
ofl_float128 log10f128(ofl_float128 x);
ofl_float128 logf128(ofl_float128 x);
ofl_float128 powf128(ofl_float128 x, ofl_float128 y);
ofl_float128 roundf128(ofl_float128 x);
ofl_float128 scalbnf128(ofl_float128 x, int n);
ofl_float128 sinf128(ofl_float128 x);
ofl_float128 sinhf128(ofl_float128 x);
ofl_float128 sqrtf128(ofl_float128 x);
ofl_float128 strtof128(const char *text, char **end);
ofl_float128 tanf128(ofl_float128 x);
ofl_float128 tanhf128(ofl_float128 x);
ofl_float128 tgammaf128(ofl_float128 x);
ofl_float128 truncf128(ofl_float128 x);
ofl_float128 y0f128(ofl_float128 x);
ofl_float128 y1f128(ofl_float128 x);
#endif

#endif
