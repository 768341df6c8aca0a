/* Which calls a calibration makes: routines, sizes, shapes and flags. */
#ifndef OFL_CLI_CALIBRATE_POINTS_H
#define OFL_CLI_CALIBRATE_POINTS_H
#include "model/work.h"

/* One call.  A size that is 0 the routine does not have. */
struct ofl_calibration_call {
    enum ofl_operation operation;
    char letter; /* s d c z */
    int m, n, k, nrhs;
    char side, uplo, trans, transb;
    bool beta; /* the result's old content counts */
};

enum { OFL_CALIBRATION_CALLS = 16 };

/* Which calls beside the cube's. */
struct ofl_calibration_choice {
    int turn;   /* shapes take turns, since at every second order they are dense enough: 1, 2; 0: no shapes */
    bool right; /* and from the right, where a routine has sides */
    bool flags; /* the cube with each flag: from the right, lower triangle, transposed operands */
};

/* The calls of a routine at one order: the cube, and boxes of about the same work.  Their number. */
int ofl_calibration_calls(enum ofl_operation operation, char letter, int order,
                          const struct ofl_calibration_choice *choice,
                          struct ofl_calibration_call calls[OFL_CALIBRATION_CALLS]);

/* Random sizes from 64 to 64 * 2^span, each by itself, and random flags, within what the routine allows. */
struct ofl_calibration_call ofl_calibration_random(enum ofl_operation operation, char letter, double span,
                                                   unsigned *seed);

/* Rows and columns of the operand that the argument `word` ("A") of the call is; zeros if it has none. */
void ofl_calibration_operand(const struct ofl_calibration_call *call, const char *word, size_t length, int *rows,
                             int *columns);
#endif
