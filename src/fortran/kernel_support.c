/* Support functions: what kernels call, as text; see kernel_form.h.
 *
 * Entry point: ofl_k_print_support, which gives a source the groups it uses.  The functions say in C what gfortran
 * computes for the Fortran functions they are named after: f(x)##_TYPE.  In the templates T is the type, U its unsigned
 * twin, ##S the suffix, ##F the letter behind C's functions of float, ##B the number of bits. */
#include "fortran/kernel_form.h"

#include <stdlib.h>
#include <string.h>

static const char always[] =
    "#ifndef __CUDACC__\n"
    "#include <gpu-offload/host_kernel.h>\n"
    "#include <stdbool.h>\n"
    "#include <string.h>\n"
    "#else\n"
    "#define OFL_KERNEL extern \"C\" __global__\n"
    "#define ofl_exit_thread() asm volatile(\"exit;\")\n"
    "#endif\n"
    "#define OFL_ALIGNED(n) __attribute__((aligned(n)))\n"
    "#define OFL_F __device__ __forceinline__\n"
    "typedef struct { float re, im; } ofl_c4;\n"
    "typedef struct { double re, im; } ofl_c8;\n"
    "struct ofl_thread { long long trip; long long *status; char *base, *top, *end; };\n"
    "OFL_F long long ofl_grid_thread(void) { return (long long) blockIdx.x * blockDim.x + threadIdx.x; }\n"
    "OFL_F long long ofl_grid_threads(void) { return (long long) gridDim.x * blockDim.x; }\n"
    "OFL_F long long ofl_quotient(long long a, long long b) {\n"
    "    return ((a | b) >> 32) == 0 ? (long long) ((unsigned) a / (unsigned) b) : a / b;\n"
    "}\n"
    "OFL_F double ofl_bits_r8(unsigned long long bits) {\n"
    "    union { unsigned long long bits; double value; } both; both.bits = bits; return both.value;\n"
    "}\n"
    "/* Through memcpy, since the bytes may be of any type. */\n"
    "OFL_F void ofl_copy_word(char *to, const char *from) {\n"
    "    memcpy(__builtin_assume_aligned(to, 4), __builtin_assume_aligned(from, 4), 4);\n"
    "}\n"
    "/* Writes the bytes that have changed. */\n"
    "OFL_F void ofl_copy_changes(char *to, const char *now, const char *before, long long n) {\n"
    "    long long i;\n"
    "    for (i = 0; i < n; i++) { if (now[i] != before[i]) { to[i] = now[i]; } }\n"
    "}\n"
    "OFL_F void ofl_copy(char *to, const char *from, long long n) {\n"
    "    long long i;\n"
    "    if ((((unsigned long long) to | (unsigned long long) from | (unsigned long long) n) & 3) == 0) {\n"
    "        for (i = 0; i < n; i += 4) { ofl_copy_word(to + i, from + i); }\n"
    "    } else {\n"
    "        for (i = 0; i < n; i++) { to[i] = from[i]; }\n"
    "    }\n"
    "}\n";

/* A thread's own state: the iteration, workspace, how the program ends.  The numbers are those of lowered.h. */
static const char thread_functions[] =
    "OFL_F void ofl_thread_start(struct ofl_thread *t) { t->trip = 0; t->status = 0; t->base = t->top = t->end = 0; }\n"
    "OFL_F void ofl_thread_begin(struct ofl_thread *t, long long trip, char *status, char *memory, long long bytes) {\n"
    "    t->trip = trip;\n"
    "    t->status = (long long *) status;\n"
    "    t->base = t->top = memory + ofl_grid_thread() * bytes;\n"
    "    t->end = t->base + bytes;\n"
    "}\n"
    "OFL_F char *ofl_thread_mark(struct ofl_thread *t) { return t->top; }\n"
    "OFL_F void ofl_thread_release(struct ofl_thread *t, char *mark) { t->top = mark; }\n"
    "OFL_F void ofl_thread_lock(struct ofl_thread *t) {\n"
    "    while (atomicCAS((unsigned long long *) t->status + 7, 0ULL, 1ULL) != 0) { }\n"
    "    __threadfence();\n"
    "}\n"
    "OFL_F void ofl_thread_unlock(struct ofl_thread *t) {\n"
    "    __threadfence();\n"
    "    atomicExch((unsigned long long *) t->status + 7, 0ULL);\n"
    "}\n"
    "/* Without enough workspace this launch is done again with more: twice what was wanted here. */\n"
    "__device__ char *ofl_thread_allocate(struct ofl_thread *t, long long bytes) {\n"
    "    char *memory = t->top;\n"
    "    bytes = bytes < 0 ? 0 : (bytes + 15) & ~15LL;\n"
    "    if (bytes > t->end - memory) {\n"
    "        volatile long long *status = t->status;\n"
    "        long long wanted = 2 * (memory - t->base + bytes);\n"
    "        ofl_thread_lock(t);\n"
    "        if (status[6] < wanted) { status[6] = wanted; }\n"
    "        ofl_thread_unlock(t);\n"
    "        ofl_exit_thread();\n"
    "    }\n"
    "    t->top = memory + bytes;\n"
    "    return memory;\n"
    "}\n"
    "__device__ void ofl_thread_stop(struct ofl_thread *t, int kind, long long code, const char *text, long long "
    "length, bool quiet) {\n"
    "    volatile long long *status = t->status;\n"
    "    ofl_thread_lock(t);\n"
    "    if (status[0] == 0 || t->trip < status[1]) {\n"
    "        long long i;\n"
    "        status[0] = 1; status[1] = t->trip; status[2] = code; status[3] = kind; status[5] = quiet;\n"
    "        status[4] = length < 512 ? length : 512;\n"
    "        for (i = 0; i < status[4]; i++) { ((volatile char *) (status + 8))[i] = text[i]; }\n"
    "    }\n"
    "    ofl_thread_unlock(t);\n"
    "}\n";

static const char integer_functions[] =
    "OFL_F T ofl_abs_##S(T a) { return (T) (a < 0 ? -a : a); }\n"
    "OFL_F T ofl_mod_##S(T a, T b) { return (T) (a % b); }\n"
    "OFL_F T ofl_modulo_##S(T a, T b) { T r = (T) (a % b); return (T) (r != 0 && (r < 0) != (b < 0) ? r + b : r); }\n"
    "OFL_F T ofl_sign_##S(T a, T b) { T m = (T) (a < 0 ? -a : a); return (T) (b < 0 ? -m : m); }\n"
    "OFL_F T ofl_dim_##S(T a, T b) { return (T) (a > b ? a - b : 0); }\n"
    "OFL_F T ofl_min_##S(T a, T b) { return a < b ? a : b; }\n"
    "OFL_F T ofl_max_##S(T a, T b) { return a > b ? a : b; }\n"
    "OFL_F T ofl_merge_bits_##S(T a, T b, T m) { return (T) ((a & m) | (b & ~m)); }\n"
    "OFL_F T ofl_shiftl_##S(T a, int n) { return n >= ##B ? (T) 0 : (T) ((U) a << n); }\n"
    "OFL_F T ofl_shiftr_##S(T a, int n) { return n >= ##B ? (T) 0 : (T) ((U) a >> n); }\n"
    "OFL_F T ofl_shifta_##S(T a, int n) { return (T) (a >> (n >= ##B ? ##B - 1 : n)); }\n"
    "OFL_F T ofl_ishft_##S(T a, int n) { return n >= 0 ? ofl_shiftl_##S(a, n) : ofl_shiftr_##S(a, -n); }\n"
    "OFL_F T ofl_ibset_##S(T a, int n) { return (T) (a | (T) ((U) 1 << n)); }\n"
    "OFL_F T ofl_ibclr_##S(T a, int n) { return (T) (a & ~(T) ((U) 1 << n)); }\n"
    "OFL_F bool ofl_btest_##S(T a, int n) { return (((U) a >> n) & 1) != 0; }\n"
    "OFL_F T ofl_ibits_##S(T a, int n, int len) {\n"
    "    return len >= ##B ? (T) ((U) a >> n) : (T) (((U) a >> n) & (U) (((U) 1 << len) - 1));\n"
    "}\n"
    "OFL_F T ofl_ishftc_##S(T a, int n, int size) {\n"
    "    U mask = size >= ##B ? (U) ~(U) 0 : (U) (((U) 1 << size) - 1), part = (U) a & mask;\n"
    "    n = n % size; n = n < 0 ? n + size : n;\n"
    "    if (n == 0) { return a; }\n"
    "    return (T) (((U) a & ~mask) | (((U) (part << n) | (U) (part >> (size - n))) & mask));\n"
    "}\n"
    "OFL_F int ofl_popcnt_##S(T a) { int n = 0; U x; for (x = (U) a; x != 0; x = (U) (x & (x - 1))) { n++; } return n; "
    "}\n"
    "OFL_F int ofl_poppar_##S(T a) { return ofl_popcnt_##S(a) & 1; }\n"
    "OFL_F int ofl_leadz_##S(T a) { int n = 0; while (n < ##B && (((U) a >> (##B - 1 - n)) & 1) == 0) { n++; } return "
    "n; }\n"
    "OFL_F int ofl_trailz_##S(T a) { int n = 0; while (n < ##B && (((U) a >> n) & 1) == 0) { n++; } return n; }\n"
    "OFL_F T ofl_power_##S(T x, long long n) {\n"
    "    T y = 1;\n"
    "    if (n < 0) { return (T) (x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0); }\n"
    "    for (; n > 0; n >>= 1) { if (n & 1) { y = (T) (y * x); } x = (T) (x * x); }\n"
    "    return y;\n"
    "}\n";

static const char real_functions[] =
    "OFL_F T ofl_min_##S(T a, T b) { return a < b ? a : b; }\n"
    "OFL_F T ofl_max_##S(T a, T b) { return a >= b ? a : b; }\n"
    "OFL_F T ofl_mod_##S(T a, T b) { return fmod##F(a, b); }\n"
    "OFL_F T ofl_modulo_##S(T a, T b) {\n"
    "    T r = fmod##F(a, b);\n"
    "    return r == 0 ? copysign##F((T) 0, b) : (r < 0) != (b < 0) ? r + b : r;\n"
    "}\n"
    "OFL_F T ofl_sign_##S(T a, T b) { return copysign##F(a, b); }\n"
    "OFL_F T ofl_dim_##S(T a, T b) { T d = a - b; return d <= 0 ? (T) 0 : d; }\n"
    "OFL_F bool ofl_isnan_##S(T a) { return a != a; }\n"
    "OFL_F bool ofl_finite_##S(T a) { return a - a == 0; }\n"
    "OFL_F T ofl_nearest_##S(T a, T s) { return nextafter##F(a, copysign##F((T) ofl_bits_r8(0x7ff0000000000000ULL), "
    "s)); }\n"
    "OFL_F T ofl_scale_##S(T a, int n) { return scalbn##F(a, n); }\n"
    "OFL_F T ofl_fraction_##S(T a) { int e; return ofl_finite_##S(a) ? frexp##F(a, &e) : a - a; }\n"
    "OFL_F int ofl_exponent_##S(T a) { int e = 0; if (!ofl_finite_##S(a)) { return 2147483647; } frexp##F(a, &e); "
    "return e; }\n"
    "OFL_F T ofl_set_exponent_##S(T a, int n) { return scalbn##F(ofl_fraction_##S(a), n); }\n"
    "OFL_F T ofl_spacing_##S(T a) {\n"
    "    int e;\n"
    "    if (!ofl_finite_##S(a)) { return a - a; }\n"
    "    if (a == 0) { return scalbn##F((T) 1, ##E); }\n"
    "    frexp##F(a, &e);\n"
    "    return scalbn##F((T) 1, e - ##P > ##E ? e - ##P : ##E);\n"
    "}\n"
    "OFL_F T ofl_rrspacing_##S(T a) {\n"
    "    int e;\n"
    "    T s = fabs##F(a);\n"
    "    if (s == 0) { return 0; }\n"
    "    if (!ofl_finite_##S(a)) { return a - a; }\n"
    "    frexp##F(s, &e);\n"
    "    return scalbn##F(s, ##P - e);\n"
    "}\n"
    "OFL_F T ofl_power_##S_int(T x, int m) {\n"
    "    unsigned n = m < 0 ? 0u - (unsigned) m : (unsigned) m;\n"
    "    T y = n % 2 ? x : (T) 1;\n"
    "    while (n >>= 1) { x = x * x; if (n % 2) { y = y * x; } }\n"
    "    return m < 0 ? (T) 1 / y : y;\n"
    "}\n"
    "OFL_F T ofl_power_##S_long(T x, long long m) {\n"
    "    unsigned long long n = m < 0 ? 0ull - (unsigned long long) m : (unsigned long long) m;\n"
    "    T y = (T) 1;\n"
    "    if (m < 0) { x = y / x; }\n"
    "    for (; n > 0; n >>= 1) { if (n & 1) { y = y * x; } x = x * x; }\n"
    "    return y;\n"
    "}\n";

/* T is the complex type, U its parts' type.  Division as GCC's -fcx-fortran-rules has it, which gfortran uses. */
static const char complex_functions[] =
    "OFL_F T ofl_complex_##S(U re, U im) { T z; z.re = re; z.im = im; return z; }\n"
    "OFL_F T ofl_neg_##S(T a) { return ofl_complex_##S(-a.re, -a.im); }\n"
    "OFL_F T ofl_add_##S(T a, T b) { return ofl_complex_##S(a.re + b.re, a.im + b.im); }\n"
    "OFL_F T ofl_sub_##S(T a, T b) { return ofl_complex_##S(a.re - b.re, a.im - b.im); }\n"
    "OFL_F T ofl_mul_##S(T a, T b) { return ofl_complex_##S(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }\n"
    "OFL_F T ofl_div_##S(T a, T b) {\n"
    "    U ratio, div;\n"
    "    if (fabs##F(b.re) < fabs##F(b.im)) {\n"
    "        ratio = b.re / b.im; div = b.re * ratio + b.im;\n"
    "        return ofl_complex_##S((a.re * ratio + a.im) / div, (a.im * ratio - a.re) / div);\n"
    "    }\n"
    "    ratio = b.im / b.re; div = b.im * ratio + b.re;\n"
    "    return ofl_complex_##S((a.im * ratio + a.re) / div, (a.im - a.re * ratio) / div);\n"
    "}\n"
    "OFL_F bool ofl_eq_##S(T a, T b) { return a.re == b.re && a.im == b.im; }\n"
    "OFL_F bool ofl_ne_##S(T a, T b) { return a.re != b.re || a.im != b.im; }\n"
    "OFL_F T ofl_power_##S_long(T x, long long m) {\n"
    "    unsigned long long n = m < 0 ? 0ull - (unsigned long long) m : (unsigned long long) m;\n"
    "    T y = ofl_complex_##S(1, 0);\n"
    "    if (m < 0) { x = ofl_div_##S(y, x); }\n"
    "    for (; n > 0; n >>= 1) { if (n & 1) { y = ofl_mul_##S(y, x); } x = ofl_mul_##S(x, x); }\n"
    "    return y;\n"
    "}\n"
    "OFL_F T ofl_power_##S_int(T x, int m) { return ofl_power_##S_long(x, m); }\n";

static const char text_functions[] =
    "__device__ int ofl_text_compare(const char *a, long long m, const char *b, long long n) {\n"
    "    long long i, longer = m > n ? m : n;\n"
    "    for (i = 0; i < longer; i++) {\n"
    "        int x = i < m ? (unsigned char) a[i] : 32, y = i < n ? (unsigned char) b[i] : 32;\n"
    "        if (x != y) { return x < y ? -1 : 1; }\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "__device__ void ofl_text_assign(char *to, long long m, const char *from, long long n) {\n"
    "    long long i, both = m < n ? m : n;\n"
    "    if ((unsigned long long) to <= (unsigned long long) from) {\n"
    "        for (i = 0; i < both; i++) { to[i] = from[i]; }\n"
    "    } else {\n"
    "        for (i = both - 1; i >= 0; i--) { to[i] = from[i]; }\n"
    "    }\n"
    "    for (i = both; i < m; i++) { to[i] = 32; }\n"
    "}\n"
    "__device__ long long ofl_text_trimmed(const char *a, long long n) { while (n > 0 && a[n - 1] == 32) { n--; } "
    "return n; }\n"
    "__device__ void ofl_text_left(char *to, const char *from, long long n) {\n"
    "    long long i, skip = 0;\n"
    "    while (skip < n && from[skip] == 32) { skip++; }\n"
    "    for (i = 0; i < n; i++) { to[i] = i + skip < n ? from[i + skip] : 32; }\n"
    "}\n"
    "__device__ void ofl_text_right(char *to, const char *from, long long n) {\n"
    "    long long i, skip = n - ofl_text_trimmed(from, n);\n"
    "    for (i = 0; i < n; i++) { to[i] = i < skip ? 32 : from[i - skip]; }\n"
    "}\n"
    "__device__ long long ofl_text_index(const char *a, long long m, const char *b, long long n, bool back) {\n"
    "    long long at, i;\n"
    "    if (n == 0) { return back ? m + 1 : 1; }\n"
    "    for (at = back ? m - n : 0; back ? at >= 0 : at <= m - n; at += back ? -1 : 1) {\n"
    "        for (i = 0; i < n && a[at + i] == b[i]; i++) { }\n"
    "        if (i == n) { return at + 1; }\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "__device__ long long ofl_text_find(const char *a, long long m, const char *b, long long n, bool back, bool "
    "wanted) {\n"
    "    long long k, i;\n"
    "    for (k = 0; k < m; k++) {\n"
    "        long long at = back ? m - 1 - k : k;\n"
    "        for (i = 0; i < n && a[at] != b[i]; i++) { }\n"
    "        if ((i < n) == wanted) { return at + 1; }\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "__device__ long long ofl_text_scan(const char *a, long long m, const char *b, long long n, bool back) {\n"
    "    return ofl_text_find(a, m, b, n, back, true);\n"
    "}\n"
    "__device__ long long ofl_text_verify(const char *a, long long m, const char *b, long long n, bool back) {\n"
    "    return ofl_text_find(a, m, b, n, back, false);\n"
    "}\n";

/* What a template's letters stand for. */
struct instance {
    const char *type, *twin, *suffix, *letter, *bits, *precision, *exponent;
};

static const struct instance integers[] = {
    {"signed char", "unsigned char", "i1", "", "8", "", ""},
    {"short", "unsigned short", "i2", "", "16", "", ""},
    {"int", "unsigned", "i4", "", "32", "", ""},
    {"long long", "unsigned long long", "i8", "", "64", "", ""},
};
static const struct instance reals[] = {
    {"float", "", "r4", "f", "", "24", "-126"},
    {"double", "", "r8", "", "", "53", "-1022"},
};
static const struct instance complexes[] = {
    {"ofl_c4", "float", "c4", "f", "", "24", "-126"},
    {"ofl_c8", "double", "c8", "", "", "53", "-1022"},
};

static const char *letter_text(const struct instance *instance, char letter)
{
    switch (letter) {
    case 'S':
        return instance->suffix;
    case 'F':
        return instance->letter;
    case 'B':
        return instance->bits;
    case 'P':
        return instance->precision;
    default:
        return instance->exponent;
    }
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void add_template(struct ofl_text *out, const char *text, const struct instance *instance)
{
    for (const char *c = text; *c != '\0'; c++) {
        bool alone = (c == text || !is_word(c[-1])) && !is_word(c[1]);
        if (c[0] == '#' && c[1] == '#') {
            const char *to = letter_text(instance, c[2]);
            ofl_text_add(out, to, strlen(to));
            c += 2;
        } else if ((*c == 'T' || *c == 'U') && alone) {
            const char *to = *c == 'T' ? instance->type : instance->twin;
            ofl_text_add(out, to, strlen(to));
        } else {
            ofl_text_add(out, c, 1);
        }
    }
}

/* ---- Powers ---- */

enum { MAX_CHAIN = 255 };

/* x**n is x**chain[n] * x**(n - chain[n]): GCC's table, read off the code that gfortran 12 makes for each n. */
static const unsigned char chain[MAX_CHAIN + 1] = {
    0,   1,   1,   2,   2,   3,   3,   4,   4,   6,   5,   6,   6,   10,  7,   9,   8,   16,  9,   16,  10,  12,
    11,  13,  12,  17,  13,  18,  14,  24,  15,  26,  16,  17,  17,  19,  18,  33,  19,  26,  20,  25,  21,  40,
    22,  27,  23,  44,  24,  32,  25,  34,  26,  29,  27,  44,  28,  31,  29,  34,  30,  60,  31,  36,  32,  64,
    33,  34,  34,  46,  35,  37,  36,  65,  37,  50,  38,  48,  39,  69,  40,  49,  41,  43,  42,  51,  43,  58,
    44,  64,  45,  47,  46,  59,  47,  76,  48,  65,  49,  66,  50,  67,  51,  66,  52,  70,  53,  74,  54,  104,
    55,  74,  56,  64,  57,  69,  58,  78,  59,  68,  60,  61,  61,  80,  62,  75,  63,  68,  64,  65,  65,  128,
    66,  129, 67,  90,  68,  73,  69,  131, 70,  94,  71,  88,  72,  128, 73,  98,  74,  132, 75,  121, 76,  102,
    77,  124, 78,  132, 79,  106, 80,  97,  81,  160, 82,  99,  83,  134, 84,  86,  85,  95,  86,  160, 87,  100,
    88,  113, 89,  98,  90,  107, 91,  122, 92,  111, 93,  102, 94,  126, 95,  150, 96,  128, 97,  130, 98,  133,
    99,  195, 100, 128, 101, 123, 102, 164, 103, 138, 104, 145, 105, 146, 106, 109, 107, 149, 108, 200, 109, 146,
    110, 170, 111, 157, 112, 128, 113, 130, 114, 182, 115, 132, 116, 200, 117, 132, 118, 158, 119, 206, 120, 240,
    121, 162, 122, 147, 123, 152, 124, 166, 125, 214, 126, 138, 127, 153};

/* Declares the powers that the chain needs, each once. */
static void add_products(struct ofl_text *text, const struct instance *instance, unsigned n, bool *made)
{
    if (n == 1 || made[n]) {
        return;
    }
    made[n] = true;
    unsigned one = chain[n], other = n - one;
    add_products(text, instance, one, made);
    add_products(text, instance, other, made);
    ofl_text_print(text, "const %s x%u = x%u * x%u; ", instance->type, n, other, one);
}

static void add_power(struct ofl_text *out, const struct instance *instance, unsigned n)
{
    bool made[MAX_CHAIN + 1] = {false};
    ofl_text_print(out, "OFL_F %s ofl_power_%s_%u(%s x1) { ", instance->type, instance->suffix, n, instance->type);
    add_products(out, instance, n, made);
    ofl_text_print(out, "return x%u; }\n", n);
}

/* The powers ofl_power_r8_N that the source calls. */
static void add_powers(struct ofl_text *out, const char *source, const struct instance *instance)
{
    bool made[MAX_CHAIN + 1] = {false};
    char name[32];
    snprintf(name, sizeof name, "ofl_power_%s_", instance->suffix);
    for (const char *at = source; (at = strstr(at, name)) != NULL; at++) {
        unsigned n = (unsigned)strtoul(at + strlen(name), NULL, 10);
        if (n >= 2 && n <= MAX_CHAIN && !made[n]) {
            add_power(out, instance, n);
            made[n] = true;
        }
    }
}

/* ---- What a source uses ---- */

/* Whether a function whose name ends in _SUFFIX (or goes on with another _) is called. */
static bool uses_suffix(const char *source, const char *suffix)
{
    size_t length = strlen(suffix);
    for (const char *at = source; (at = strstr(at, "ofl_")) != NULL; at += 4) {
        for (const char *c = at; is_word(*c); c++) {
            if (*c == '_' && strncmp(c + 1, suffix, length) == 0 && (c[length + 1] == '(' || c[length + 1] == '_')) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a function of ofl_k_complex_mathematics is called. */
static bool uses_complex_mathematics(const char *source, const char *suffix)
{
    static const char *const names[] = {"exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"};
    char call[32];
    snprintf(call, sizeof call, "ofl_power_%s_%s(", suffix, suffix);
    bool used = strstr(source, call) != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !used; i++) {
        snprintf(call, sizeof call, "ofl_%s_%s(", names[i], suffix);
        used = strstr(source, call) != NULL;
    }
    return used;
}

void ofl_k_print_support(const char *source, struct ofl_text *out)
{
    ofl_text_add(out, always, strlen(always));
    if (strstr(source, "ofl_thread") != NULL) {
        ofl_text_add(out, thread_functions, strlen(thread_functions));
    }
    if (strstr(source, "ofl_text_") != NULL) {
        ofl_text_add(out, text_functions, strlen(text_functions));
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        if (uses_suffix(source, integers[i].suffix)) {
            add_template(out, integer_functions, &integers[i]);
        }
    }
    for (int complex = 0; complex < 2; complex++) {
        for (size_t i = 0; i < 2; i++) {
            const struct instance *instance = complex ? &complexes[i] : &reals[i];
            if (!uses_suffix(source, instance->suffix)) {
                continue;
            }
            add_template(out, complex ? complex_functions : real_functions, instance);
            if (!complex) {
                add_powers(out, source, instance);
            } else if (uses_complex_mathematics(source, instance->suffix)) {
                add_template(out, ofl_k_complex_mathematics, instance);
            }
        }
    }
}
