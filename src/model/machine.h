/* A machine: how fast its CPU library and its device compute, and what copies and starting cost.
 *
 * Filled by the built-in estimate (estimate.h) and, where there is one, by a profile (profile.h).
 * Once filled it is only read, so any number of threads may share it. */
#ifndef OFL_MODEL_MACHINE_H
#define OFL_MODEL_MACHINE_H
#include "model/work.h"

enum ofl_place { OFL_ON_CPU, OFL_ON_DEVICE, OFL_PLACE_COUNT };
enum ofl_direction { OFL_COPY_IN, OFL_COPY_OUT, OFL_DIRECTION_COUNT };
/* Ways of a copy, by the host memory that it begins or ends in. */
enum ofl_host_memory {
    OFL_PAGEABLE, /* ordinary memory */
    OFL_PINNED,   /* page-locked memory */
    OFL_BULK,   /* ordinary memory, much of it: several threads help.  Of this and OFL_PAGEABLE the faster one counts */
    OFL_COMMIT, /* out only: from the staging area to its place, within host memory */
    OFL_HOST_MEMORY_COUNT
};

enum { OFL_CURVE_POINTS = 32 };

struct ofl_point {
    double work;  /* flops */
    double speed; /* flops a second */
};

/* What may make a routine faster or slower at the same sizes. */
enum ofl_flag {
    OFL_FROM_RIGHT,        /* side R */
    OFL_LOWER_TRIANGLE,    /* uplo L */
    OFL_TRANSPOSED,        /* the only operand that can be, or the first one */
    OFL_SECOND_TRANSPOSED, /* the second */
    OFL_FLAG_COUNT
};

/* A call that was measured, by what the rest of the curve is off there: both in logarithms. */
struct ofl_near {
    float extent[3], factor;
};

enum { OFL_CURVE_NEAR = 128 };

/* Speed over work of cubes (all extents equal), and what other calls cost more or less than that.  The time of a box of
 * extents a, b, c is
 *
 *   (flops / speed(flops) + surface[0] (ab - g^2) + surface[1] (ac - g^2) + surface[2] (bc - g^2)
 *                         + edge[0] (a - g) + edge[1] (b - g) + edge[2] (c - g)) * flags * near
 *
 * with g = (abc)^(1/3), the cube of the same work; the sum is never less than a quarter of its first term.  Flags: the
 * factors of those that the call has.  Near: the mean of the factors of measured calls, each weighted by
 * 1 / (distance^2 + 0.1)^2, the distance being one in the logarithms of the extents, and of 1 with weight 1. */
struct ofl_curve {
    int points;                               /* 0: not known */
    struct ofl_point point[OFL_CURVE_POINTS]; /* by increasing work */
    double surface[3];                        /* seconds an element; 0 where not known */
    double edge[3];                           /* seconds a unit of length */
    double flag[OFL_FLAG_COUNT];              /* factors of time; 0 where not known, which counts as 1 */
    int nears;
    struct ofl_near near[OFL_CURVE_NEAR];
};

/* A straight line: fixed seconds + bytes / rate. */
struct ofl_line {
    double fixed; /* seconds */
    double rate;  /* bytes a second */
};

struct ofl_machine {
    struct ofl_curve curve[OFL_PLACE_COUNT][OFL_OPERATION_COUNT][OFL_PRECISION_COUNT];
    struct ofl_line copy[OFL_DIRECTION_COUNT][OFL_HOST_MEMORY_COUNT];
    double serial;                     /* of what overlapping could save, the share that it does not: 0..1 */
    double start;                      /* seconds to load the device's driver and open it */
    double library[OFL_LIBRARY_COUNT]; /* seconds until a library's first routine can run */
    double routine[OFL_LIBRARY_COUNT]; /* seconds that a routine's first call takes more than later ones */
};

/* Speed at `work` flops: interpolated between points in log-log space, flat outside, 0 where nothing is
 * known.  Points that are not finite and positive do not exist. */
double ofl_curve_speed(const struct ofl_curve *curve, double work);

/* Seconds to compute `work` by the curve; infinite where the curve knows nothing. */
double ofl_curve_seconds(const struct ofl_curve *curve, const struct ofl_work *work);

/* The same in its three factors: the sum of the formula above, the flags' product, and the mean of measured calls. */
double ofl_curve_shape_seconds(const struct ofl_curve *curve, const struct ofl_work *work);
double ofl_curve_flags(const struct ofl_curve *curve, const struct ofl_work *work);
double ofl_curve_near(const struct ofl_curve *curve, const double extent[3]);

/* Whether a call has the flag. */
bool ofl_work_has(const struct ofl_work *work, enum ofl_flag flag);

/* Seconds to move `bytes`; 0 for none; infinite where the line is not usable. */
double ofl_line_seconds(const struct ofl_line *line, double bytes);

/* Seconds to copy `bytes` from or to ordinary or page-locked memory. */
double ofl_copy_seconds(const struct ofl_machine *machine, enum ofl_direction direction, bool pinned, double bytes);

/* Gives each operation without a curve that of gemm in the same place and precision, slowed down as the
 * operation usually is; a precision without gemm gets another's, scaled.  Copies from one
 * kind of memory stand in for the other's.  What no curve can be derived
 * for stays unknown. */
void ofl_machine_complete(struct ofl_machine *machine);
#endif
