/* Calls of every routine with arguments legal and illegal, and what each leaves behind: calls SEED COUNT
 *
 * COUNT calls of each routine in each precision, chosen by a generator of random numbers: all flags and small sizes,
 * zero included, leading dimensions with gaps and too short ones, workspaces long, short and asked for, matrices that
 * are singular, indefinite, badly scaled or hold a NaN or an infinity.  A line for each call: info, what was
 * written where nothing must be, how large the results are and whether they are finite.  The lines with and without
 * gpu-offload must be the same but for rounding (calls.sh).  WIDE: integers of 64 bits.  Routines that the library
 * lacks are left out.
 */
#include <gpu-offload/device.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WIDE
typedef int64_t integer;
#else
typedef int32_t integer;
#endif

enum { most_arguments = 16, most_flags = 5, guard = 64 };

typedef void routine(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                     void *, void *, void *, void *, size_t, size_t, size_t, size_t, size_t);

#define OFL_OPERATION(name, ...)                                                                                       \
    extern routine s##name##_ __attribute__((weak)), d##name##_ __attribute__((weak)),                                 \
        c##name##_ __attribute__((weak)), z##name##_ __attribute__((weak));
#include <gpu-offload/operations.def>
#undef OFL_OPERATION

/* Everything that a call may have. */
struct problem {
    int precision;
    size_t size;
    char side, uplo, diag, trans, transa, transb;
    int64_t m, n, k, nrhs, ld[3], lwork;
    bool illegal; /* one of them is */
};

struct shape {
    int access, region;
    int64_t rows, columns;
};

#define LEFT(side)           ((side) == 'L')
#define NOT_TRANSPOSED(flag) ((flag) == 'N')
#define MIN(a, b)            ((a) < (b) ? (a) : (b))
#define MAX(a, b)            ((a) > (b) ? (a) : (b))
#define OFL_OPERAND(name, access, region, rows, columns)                                                               \
    {                                                                                                                  \
        access, REGION_##region, rows, columns                                                                         \
    }
#define REGION_OFL_TRIANGLE OFL_UPPER
#define REGION_OFL_GENERAL  OFL_GENERAL
#define REGION_OFL_PIVOTS   OFL_PIVOTS
#define OFL_OPERATION(name, precisions, kind, arguments, row_major, flops, ...)                                        \
    static int shape_##name(const struct problem *p, struct shape *out)                                                \
    {                                                                                                                  \
        const int64_t m = p->m, n = p->n, k = p->k, nrhs = p->nrhs;                                                    \
        const char side = p->side, trans = p->trans, transa = p->transa, transb = p->transb;                           \
        (void)m, (void)n, (void)k, (void)nrhs, (void)side, (void)trans, (void)transa, (void)transb;                    \
        const struct shape shapes[] = {__VA_ARGS__};                                                                   \
        memcpy(out, shapes, sizeof shapes);                                                                            \
        return (int)(sizeof shapes / sizeof *shapes);                                                                  \
    }
#include <gpu-offload/operations.def>
#undef OFL_OPERATION

#define IS_OFL_OFFLOADED true
#define IS_OFL_MEASURED  false
static const struct row {
    const char *name, *precisions, *arguments;
    int (*shape)(const struct problem *, struct shape *);
    bool offloaded;
    routine *routine[4];
} table[] = {
#define OFL_OPERATION(name, precisions, kind, arguments, ...)                                                          \
    {#name, precisions, arguments, shape_##name, IS_##kind, {s##name##_, d##name##_, c##name##_, z##name##_}},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

/* ---- random choices ---- */

static uint64_t state;

static int below(int limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)limit);
}

static double number(void)
{
    return below(2001) / 1000.0 - 1;
}

static bool is_complex(const struct problem *p)
{
    return p->precision >= 2;
}

static bool is_single(const struct problem *p)
{
    return p->precision % 2 == 0;
}

static char *flag_of(struct problem *p, const char *word)
{
    char *const places[] = {&p->side, &p->uplo, &p->diag, &p->transa, &p->transb, &p->trans};
    static const char *const names[] = {"side", "uplo", "diag", "transa", "transb", "trans"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(word, names[i], strlen(names[i])) == 0) {
            return places[i];
        }
    }
    return NULL;
}

/* One of the word's letters; small ones are for real precisions. */
static void choose_flag(struct problem *p, const char *word)
{
    const char *set = strchr(word, ':');
    char legal[8] = "";
    size_t count = 0;
    set = set != NULL ? set + 1 : word[0] == 's' ? "LR" : word[0] == 'u' ? "UL" : "NU";
    for (; *set != '\0'; set++) {
        if (*set != '!' && !(islower((unsigned char)*set) && is_complex(p))) {
            legal[count++] = (char)toupper((unsigned char)*set);
        }
    }
    if (flag_of(p, word) != NULL) {
        *flag_of(p, word) = legal[below((int)count)];
    }
}

static void choose_size(struct problem *p, const char *word)
{
    static const int sizes[] = {0, 1, 2, 3, 5, 8, 13, 20};
    int64_t *place = word[0] == 'm' ? &p->m : word[0] == 'k' ? &p->k : strncmp(word, "nrhs", 4) == 0 ? &p->nrhs : &p->n;
    *place = sizes[below(8)];
    if (below(60) == 0) {
        *place = -1;
        p->illegal = true;
    }
}

/* Later sizes within the bounds of earlier ones, as LAPACK's Q asks. */
static void bound_sizes(const struct row *row, struct problem *p)
{
    if (strstr(row->arguments, " n:m ") != NULL && p->n > p->m && below(20) > 0) {
        p->n = p->m;
    }
    if (strstr(row->arguments, " k:n ") != NULL && p->k > p->n && below(20) > 0) {
        p->k = p->n;
    }
    if (strstr(row->arguments, " k:LEFT") != NULL) {
        int64_t most = p->side == 'L' ? p->m : p->n;
        p->k = p->k > most && below(20) > 0 ? most : p->k;
        p->illegal = p->illegal || p->k > most;
    }
    if (strstr(row->arguments, " n:m ") != NULL) {
        p->illegal = p->illegal || p->n > p->m || p->k > p->n;
    }
}

/* ---- memory ---- */

struct memory {
    char *bytes;
    size_t count;
    struct shape shape;
    int64_t ld;
    size_t size;
};

static bool is_stored(const struct memory *memory, const struct problem *p, int64_t i, int64_t j)
{
    bool triangle = memory->shape.region == OFL_UPPER;
    return !triangle || (p->uplo == 'U' ? i <= j : i >= j);
}

static void put(const struct problem *p, char *at, double real, double imaginary)
{
    float c[2] = {(float)real, (float)imaginary};
    double z[2] = {real, imaginary};
    memcpy(at, is_single(p) ? (void *)c : (void *)z, p->size);
}

static double get(const struct problem *p, const char *at, int part)
{
    float c[2];
    double z[2];
    memcpy(is_single(p) ? (void *)c : (void *)z, at, p->size);
    return is_single(p) ? (double)c[part] : z[part];
}

enum { PLAIN, ZERO_COLUMN, NOT_A_NUMBER, INFINITE, NEGATIVE, TINY, HUGE_ONES, KINDS };

static struct memory make_matrix(const struct problem *p, const struct shape *shape, int64_t ld, bool heavy, int kind)
{
    struct memory memory = {NULL, 0, *shape, ld, p->size};
    int64_t rows = MAX(shape->rows, 0), columns = MAX(shape->columns, 0), place = rows > 0 ? rows / 2 : 0;
    memory.count = (size_t)(MAX(ld, rows) * columns + guard) * p->size;
    memory.bytes = malloc(memory.count);
    memset(memory.bytes, 0x55, memory.count);
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            double factor = kind == TINY ? (is_single(p) ? 1e-37 : 1e-307) : kind == HUGE_ONES ? 1e30 : 1;
            double real = number() + (heavy && i == j ? (double)(2 * rows + 2) : 0), imaginary = number();
            bool chosen = i == place && j == place;
            if (kind == ZERO_COLUMN && j == place) {
                real = imaginary = 0;
            } else if (chosen && kind >= NOT_A_NUMBER && kind <= NEGATIVE) {
                real = kind == NOT_A_NUMBER ? (double)NAN : kind == INFINITE ? (double)INFINITY : -50;
            }
            put(p, memory.bytes + (size_t)(j * MAX(ld, rows) + i) * p->size, real * factor, imaginary * factor);
        }
    }
    return memory;
}

static struct memory make_pivots(const struct shape *shape)
{
    struct memory memory = {NULL, 0, *shape, MAX(shape->rows, 0), sizeof(integer)};
    memory.count = (size_t)(memory.ld + guard) * sizeof(integer);
    memory.bytes = malloc(memory.count);
    memset(memory.bytes, 0x55, memory.count);
    for (int64_t i = 0; i < memory.ld; i++) {
        ((integer *)(void *)memory.bytes)[i] = (integer)(i + 1 + below((int)(memory.ld - i)));
    }
    return memory;
}

static uint64_t hash(uint64_t seed, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        seed = (seed ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    }
    return seed;
}

/* Everything but what the operand stores; all of it for what must not change. */
static uint64_t hash_memory(const struct problem *p, const struct memory *memory, bool all)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    int64_t rows = MAX(memory->shape.rows, 0), columns = MAX(memory->shape.columns, 0), ld = MAX(memory->ld, rows);
    char *copy = malloc(memory->count);
    memcpy(copy, memory->bytes, memory->count);
    for (int64_t j = 0; j < columns && !all; j++) {
        for (int64_t i = 0; i < rows; i++) {
            if (is_stored(memory, p, i, j)) {
                memset(copy + (size_t)(j * ld + i) * memory->size, 0, memory->size);
            }
        }
    }
    sum = hash(sum, copy, memory->count);
    free(copy);
    return sum;
}

/* The sum of absolute values of what is stored. */
static double size_of(const struct problem *p, const struct memory *memory)
{
    double sum = 0;
    int64_t rows = MAX(memory->shape.rows, 0);
    for (int64_t j = 0; j < memory->shape.columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            const char *at = memory->bytes + (size_t)(j * MAX(memory->ld, rows) + i) * memory->size;
            if (is_stored(memory, p, i, j)) {
                sum += fabs(get(p, at, 0)) + (is_complex(p) ? fabs(get(p, at, 1)) : 0);
            }
        }
    }
    return sum;
}

/* ---- one call ---- */

struct call {
    struct problem p;
    void *argument[most_arguments];
    integer integers[most_arguments]; /* the places that arguments point to */
    char flags[most_arguments];
    char scalars[2][16];
    char *work;
    size_t work_bytes;
    struct memory memory[OFL_MAX_OPERANDS];
    int operands;
    integer info;
};

/* Chooses flags, sizes and leading dimensions. */
static void choose(const struct row *row, struct call *call)
{
    static const int lengths[] = {-1, 0, 1, 5, 40};
    char words[256], *rest;
    struct problem *p = &call->p;
    strcpy(words, row->arguments);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        bool is_size = strchr("mnk", word[0]) != NULL && (word[1] == '\0' || word[1] == ':');
        if (is_size || strncmp(word, "nrhs", 4) == 0) {
            choose_size(p, word);
        } else {
            choose_flag(p, word);
        }
    }
    bound_sizes(row, p);
    p->lwork = below(3) == 0 ? lengths[below(5)] : 4000;
}

static void make_operands(const struct row *row, struct call *call)
{
    struct shape shapes[OFL_MAX_OPERANDS];
    struct problem *p = &call->p;
    int kind = below(3) == 0 ? below(KINDS) : PLAIN, matrices = 0;
    call->operands = row->shape(p, shapes);
    int spoiled = below(3) > 0 ? 0 : below(call->operands);
    for (int i = 0; i < call->operands; i++) {
        bool vector = strstr(row->arguments, "tau") != NULL && i == 1;
        if (shapes[i].region == OFL_PIVOTS) {
            call->memory[i] = make_pivots(&shapes[i]);
            continue;
        }
        int64_t ld = MAX(shapes[i].rows, 1) + (below(2) == 0 ? 0 : below(5));
        if (!vector && below(40) == 0 && shapes[i].rows > 1) {
            ld = shapes[i].rows - 1;
            p->illegal = true;
        }
        call->memory[i] =
            make_matrix(p, &shapes[i], vector ? MAX(shapes[i].rows, 1) : ld, i == 0, i == spoiled ? kind : PLAIN);
        if (!vector) {
            p->ld[matrices++] = ld;
        }
    }
}

/* Points the arguments at their values, in Fortran's order. */
static void point(const struct row *row, struct call *call)
{
    char words[256], *rest;
    struct problem *p = &call->p;
    int count = 0, operand = 0, scalars = 0, leading = 0;
    strcpy(words, row->arguments);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest), count++) {
        integer *value = &call->integers[count];
        call->argument[count] = value;
        word[strcspn(word, ":")] = '\0';
        bool is_matrix = strlen(word) == 1 && strchr("ABC", word[0]) != NULL;
        if (is_matrix || strcmp(word, "ipiv") == 0 || strcmp(word, "tau") == 0) {
            call->argument[count] = call->memory[operand++].bytes;
        } else if (strncmp(word, "ld", 2) == 0) {
            *value = (integer)p->ld[leading++];
        } else if (strcmp(word, "lwork") == 0) {
            *value = (integer)p->lwork;
        } else if (strcmp(word, "work") == 0) {
            call->argument[count] = call->work;
        } else if (strcmp(word, "info") == 0) {
            call->argument[count] = &call->info;
        } else if (strstr(word, "alpha") != NULL || strstr(word, "beta") != NULL) {
            call->argument[count] = call->scalars[scalars++];
        } else if (strcmp(word, "m") == 0 || strcmp(word, "n") == 0 || strcmp(word, "k") == 0) {
            *value = (integer)(word[0] == 'm' ? p->m : word[0] == 'n' ? p->n : p->k);
        } else if (strcmp(word, "nrhs") == 0) {
            *value = (integer)p->nrhs;
        } else {
            char letter = *flag_of(p, word);
            if (below(80) == 0) {
                letter = 'X';
                p->illegal = true;
            }
            call->flags[count] = below(3) == 0 ? (char)tolower((unsigned char)letter) : letter;
            call->argument[count] = &call->flags[count];
        }
    }
}

static void report(const struct row *row, const struct call *call)
{
    const struct problem *p = &call->p;
    bool lapack = strstr(row->arguments, "info") != NULL, query = p->lwork == -1;
    bool as_before = call->info < 0 || (strstr(row->arguments, "lwork") != NULL && query) || p->illegal;
    printf("%c%s %c%c%c%c%c%c m=%d n=%d k=%d nrhs=%d ld=%d,%d,%d lwork=%d:", "sdcz"[p->precision], row -> name,
           p -> side ? p -> side : '-', p->uplo ? p->uplo : '-', p->diag ? p->diag : '-', p->trans ? p->trans : '-',
           p->transa ? p->transa : '-', p->transb ? p->transb : '-', (int)p->m, (int)p->n, (int)p->k, (int)p->nrhs,
           (int)p->ld[0], (int)p->ld[1], (int)p->ld[2], (int)p->lwork);
    if (lapack) {
        printf(" info %lld", (long long)call->info);
    }
    if (as_before && strstr(row->arguments, "lwork") != NULL) {
        printf(" work %g", get(p, call->work, 0));
    }
    for (int i = 0; i < call->operands; i++) {
        const struct memory *memory = &call->memory[i];
        bool read_only = memory->shape.access == OFL_READ;
        printf(" %016llx", (unsigned long long)hash_memory(p, memory, as_before || read_only));
        if (!as_before && !read_only && memory->shape.region != OFL_PIVOTS && call->info == 0) {
            double size = size_of(p, memory);
            printf(isfinite(size) ? " %.12e" : " not-finite", size);
        }
    }
    printf("\n");
}

static void run(const struct row *row, int precision)
{
    static const double sizes[] = {0, 1, -0.75, 2};
    struct call call = {.p = {.precision = precision}, .info = 0};
    call.p.size = (precision % 2 == 0 ? sizeof(float) : sizeof(double)) * (precision >= 2 ? 2 : 1);
    if (strstr(row->arguments, "info") != NULL) {
        memset(&call.info, 0x55, sizeof call.info); /* all of it has to be written */
    }
    choose(row, &call);
    make_operands(row, &call);
    for (int i = 0; i < 2; i++) {
        put(&call.p, call.scalars[i], sizes[below(4)], 0);
    }
    call.work_bytes = 4096 * call.p.size;
    call.work = calloc(call.work_bytes, 1);
    point(row, &call);
    void **a = call.argument;
    row->routine[precision](a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                            a[14], a[15], 1, 1, 1, 1, 1);
    report(row, &call);
    for (int i = 0; i < call.operands; i++) {
        free(call.memory[i].bytes);
    }
    free(call.work);
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0;
    if (count < 1) {
        fprintf(stderr, "usage: calls SEED COUNT\n");
        return 2;
    }
    state = strtoull(argv[1], NULL, 10);
    setvbuf(stdout, NULL, _IONBF, 0); /* errors that the library reports come in their places */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (const char *letter = table[i].precisions; *letter != '\0' && table[i].offloaded; letter++) {
            int precision = (int)(strchr("sdcz", *letter) - "sdcz");
            for (int j = 0; j < count && table[i].routine[precision] != NULL; j++) {
                run(&table[i], precision);
            }
        }
    }
    return 0;
}
