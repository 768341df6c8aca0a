/* Which calls a calibration makes; see points.h.  Pure functions of the table operations.def. */
#include "cli/calibrate/points.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *arguments;
} operations[] = {
#define OFL_OPERATION(name, precisions, kind, arguments, ...) {#name, arguments},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

/* Shapes as multiples of the order. */
struct shape {
    double m, n, k, nrhs;
};
enum { MAX_SHAPES = 7 };

/* The first kind of routine whose words a routine has all is its own; the first shape is the cube, the others take
 * turns. */
static const struct {
    const char *words[4];
    struct shape shape[MAX_SHAPES];
    const char *routine; /* the only one that this is for; NULL: all */
} kinds[] = {
    {.words = {"uplo", "n", "nrhs"},
     .shape = {{0, 1, 0, 1}, {0, 2, 0, 0.02}, {0, 1.4, 0, 0.25}, {0, 0.5, 0, 4}, {0, 1.4, 0, 0.06}, {0, 0.25, 0, 4}},
     .routine = "potrs"}, /* its words are posv's */
    {.words = {"side", "m", "n", "k"},
     .shape = {{1, 1, 1, 0}, {1, 0.25, 1, 0}, {2, 0.5, 0.25, 0}, {0.5, 2, 0.5, 0}, {2, 2, 0.125, 0}}},
    {.words = {"m", "n", "k", "tau"},
     .shape = {{1, 1, 1, 0}, {4, 0.25, 0.25, 0}, {1, 0.5, 0.25, 0}, {2, 0.5, 0.5, 0}, {2, 1, 0.125, 0}}},
    {.words = {"m", "n", "k"},
     .shape = {{1, 1, 1, 0},
               {4, 0.5, 0.5, 0},
               {0.5, 4, 0.5, 0},
               {2, 2, 0.0625, 0},
               {0.25, 0.25, 4, 0},
               {1, 1, 0.25, 0},
               {0.7, 0.7, 2, 0}}},
    {.words = {"side", "m", "n"},
     .shape = {{1, 1, 0, 0}, {2, 0.125, 0, 0}, {0.25, 4, 0, 0}, {0.7, 2, 0, 0}, {1, 0.25, 0, 0}}},
    {.words = {"m", "n", "nrhs"}, /* more of those with more columns: the others are known from their parts */
     .shape = {{1, 1, 0, 0.0625},
               {0.5, 2, 0, 0.25},
               {0.7, 1.4, 0, 0.0625},
               {0.25, 4, 0, 0.0625},
               {0.35, 2.8, 0, 0.25},
               {2, 0.5, 0, 0.25}}},
    {.words = {"m", "n"},
     .shape = {{1, 1, 0, 0},
               {2, 0.5, 0, 0},
               {0.7, 1.4, 0, 0},
               {0.25, 4, 0, 0},
               {0.5, 2, 0, 0},
               {1.4, 0.7, 0, 0},
               {4, 0.25, 0, 0}}},
    {.words = {"n", "k"},
     .shape = {{0, 1, 1, 0},
               {0, 2, 0.0625, 0},
               {0, 0.5, 2, 0},
               {0, 0.25, 8, 0},
               {0, 1.4, 0.25, 0},
               {0, 0.7, 1.4, 0},
               {0, 0.35, 4, 0}}},
    {.words = {"trans", "n", "nrhs"},
     .shape = {{0, 1, 0, 1}, {0, 2, 0, 0.02}, {0, 1.4, 0, 0.25}, {0, 0.5, 0, 4}, {0, 1.4, 0, 0.06}, {0, 0.25, 0, 4}}},
    {.words = {"n", "nrhs"},
     .shape = {{0, 1, 0, 0.01}, {0, 0.75, 0, 0.5}, {0, 0.25, 0, 1}, {0, 1, 0, 0.1}, {0, 0.5, 0, 2}}},
    {.words = {"n"}, .shape = {{0, 1, 0, 0}}},
};

static const struct shape *shapes_of(enum ofl_operation operation, int *count)
{
    size_t kind = 0;
    for (bool fits = false; !fits; kind += !fits) {
        fits = kinds[kind].routine == NULL || strcmp(kinds[kind].routine, operations[operation].name) == 0;
        for (int i = 0; i < 4 && kinds[kind].words[i] != NULL; i++) {
            fits = fits && ofl_operation_takes(operation, kinds[kind].words[i]);
        }
    }
    for (*count = 0; *count < MAX_SHAPES && kinds[kind].shape[*count].n > 0;) {
        ++*count;
    }
    return kinds[kind].shape;
}

static int scaled(double factor, int order, int least)
{
    int size = (int)(factor * order);
    return factor > 0 ? (size > least ? size : least) : 0;
}

/* Products usually write a new result; updates add to one, as their names say. */
static bool usual_beta(enum ofl_operation operation)
{
    return operation != OFL_OP_gemm;
}

/* The transposition that the routine has in this precision: of several the first that complex ones share. */
static char transposed(enum ofl_operation operation, char letter)
{
    const char *set = strstr(operations[operation].arguments, "trans:");
    bool complex = letter == 'c' || letter == 'z';
    if (!complex || set == NULL) {
        return 'T';
    }
    set += strlen("trans:");
    size_t length = strcspn(set, " ");
    return memchr(set, 'T', length) != NULL ? 'T' : 'C';
}

/* The flags of a cube, one at a time. */
static int flagged_cubes(const struct ofl_calibration_call *cube, struct ofl_calibration_call *calls)
{
    const enum ofl_operation operation = cube->operation;
    int count = 0;
    if (ofl_operation_takes(operation, "side")) {
        calls[count] = *cube;
        calls[count++].side = 'R';
    }
    if (ofl_operation_takes(operation, "uplo")) {
        calls[count] = *cube;
        calls[count++].uplo = 'L';
    }
    if (ofl_operation_takes(operation, "trans") || ofl_operation_takes(operation, "transa")) {
        calls[count] = *cube;
        calls[count++].trans = transposed(operation, cube->letter);
    }
    if (ofl_operation_takes(operation, "transb")) {
        calls[count] = *cube;
        calls[count++].transb = 'T';
    }
    return count;
}

int ofl_calibration_calls(enum ofl_operation operation, char letter, int order,
                          const struct ofl_calibration_choice *choice,
                          struct ofl_calibration_call calls[OFL_CALIBRATION_CALLS])
{
    int shape_count, count = 0;
    const struct shape *shape = shapes_of(operation, &shape_count);
    for (int i = 0; i < (choice->turn > 0 ? shape_count : 1); i++) {
        if (i > 0 && i % 2 != choice->turn % 2) {
            continue;
        }
        struct ofl_calibration_call call = {operation,
                                            letter,
                                            scaled(shape[i].m, order, 4),
                                            scaled(shape[i].n, order, 4),
                                            scaled(shape[i].k, order, 4),
                                            scaled(shape[i].nrhs, order, 1),
                                            'L',
                                            'U',
                                            'N',
                                            'N',
                                            usual_beta(operation)};
        calls[count++] = call;
        if (i == 0) {
            count += choice->flags ? flagged_cubes(&call, calls + count) : 0;
        } else if (choice->right && ofl_operation_takes(operation, "side")) { /* the same from the right */
            call.side = 'R';
            call.m = calls[count - 1].n;
            call.n = calls[count - 1].m;
            calls[count++] = call;
        }
    }
    return count;
}

static double random_share(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

struct ofl_calibration_call ofl_calibration_random(enum ofl_operation operation, char letter, double span,
                                                   unsigned *seed)
{
    int size[4], count;
    const struct shape *cube = shapes_of(operation, &count);
    for (int j = 0; j < 4; j++) {
        size[j] = (int)(64 * exp2(span * random_share(seed)));
    }
    struct ofl_calibration_call call = {operation,
                                        letter,
                                        cube->m > 0 ? size[0] : 0,
                                        size[1],
                                        cube->k > 0 ? size[2] : 0,
                                        cube->nrhs > 0 ? size[3] / 4 : 0,
                                        random_share(seed) < 0.5 ? 'L' : 'R',
                                        random_share(seed) < 0.5 ? 'L' : 'U',
                                        random_share(seed) < 0.5 ? 'N' : transposed(operation, letter),
                                        random_share(seed) < 0.5 ? 'N' : 'T',
                                        random_share(seed) < 0.5};
    if (ofl_operation_takes(operation, "tau") && cube->k > 0) { /* reflectors of a tall matrix */
        bool applied = ofl_operation_takes(operation, "side");
        call.n = !applied && call.n > call.m ? call.m : call.n;
        int most = !applied || call.side == 'R' ? call.n : call.m;
        call.k = call.k > most ? most : call.k;
    }
    return call;
}

#define NOT_TRANSPOSED(flag) ((flag) == 'N')
#define LEFT(flag)           ((flag) == 'L')
#define MIN(a, b)            ((a) < (b) ? (a) : (b))
#define MAX(a, b)            ((a) > (b) ? (a) : (b))

void ofl_calibration_operand(const struct ofl_calibration_call *call, const char *word, size_t length, int *rows,
                             int *columns)
{
    const int m = call->m, n = call->n, k = call->k, nrhs = call->nrhs;
    const char side = call->side, trans = call->trans, transa = call->trans, transb = call->transb;
    struct operand {
        const char *word;
        int rows, columns;
    };
    (void)m, (void)n, (void)k, (void)nrhs, (void)side, (void)trans, (void)transa, (void)transb;
    *rows = *columns = 0;
#define OFL_OPERAND(operand, access, region, r, c)                                                                     \
    {                                                                                                                  \
#operand, r, c                                                                                                 \
    }
#define OFL_OPERATION(name, precisions, kind, arguments, row_major, flops, ...)                                        \
    case OFL_OP_##name: {                                                                                              \
        const struct operand list[] = {__VA_ARGS__};                                                                   \
        for (size_t i = 0; i < sizeof list / sizeof *list; i++) {                                                      \
            if (strlen(list[i].word) == length && memcmp(list[i].word, word, length) == 0) {                           \
                *rows = list[i].rows;                                                                                  \
                *columns = list[i].columns;                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        break;                                                                                                         \
    }
    switch (call->operation) {
#include <gpu-offload/operations.def>
    case OFL_OPERATION_COUNT:
        break;
    }
#undef OFL_OPERATION
#undef OFL_OPERAND
}
