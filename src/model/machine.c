/* Speed curves and copy lines: reading values off them, and filling gaps between them. */
#include "model/machine.h"
#include "model/estimate.h"

#include <math.h>
#include <string.h>

static bool usable(double x)
{
    return isfinite(x) && x > 0;
}

double ofl_curve_speed(const struct ofl_curve *curve, double work)
{
    /* The nearest usable points on both sides; the point lists are short. */
    const struct ofl_point *below = NULL, *above = NULL;
    int points = curve->points < OFL_CURVE_POINTS ? curve->points : OFL_CURVE_POINTS;
    for (int i = 0; i < points; i++) {
        const struct ofl_point *point = &curve->point[i];
        if (!usable(point->work) || !usable(point->speed)) {
            continue;
        }
        if (point->work <= work && (below == NULL || point->work >= below->work)) {
            below = point;
        }
        if (point->work >= work && (above == NULL || point->work < above->work)) {
            above = point;
        }
    }
    if (below == NULL || above == NULL || !(below->work < above->work)) {
        const struct ofl_point *only = below != NULL ? below : above;
        return only != NULL ? only->speed : 0;
    }
    double position = log(work / below->work) / log(above->work / below->work);
    return below->speed * pow(above->speed / below->speed, position);
}

double ofl_curve_shape_seconds(const struct ofl_curve *curve, const struct ofl_work *work)
{
    if (!(work->flops > 0)) {
        return 0;
    }
    double speed = ofl_curve_speed(curve, work->flops);
    if (!usable(speed)) {
        return INFINITY;
    }
    const double cube = work->flops / speed;
    const double a = work->extent[0], b = work->extent[1], c = work->extent[2];
    if (!(a > 0 && b > 0 && c > 0)) {
        return cube;
    }
    double side = cbrt(a * b * c), face = side * side;
    const double surface[3] = {a * b - face, a * c - face, b * c - face};
    double seconds = cube;
    for (int i = 0; i < 3; i++) {
        seconds += usable(curve->surface[i]) ? curve->surface[i] * surface[i] : 0;
        seconds += usable(curve->edge[i]) ? curve->edge[i] * (work->extent[i] - side) : 0;
    }
    return seconds > cube / 4 ? seconds : cube / 4;
}

bool ofl_work_has(const struct ofl_work *work, enum ofl_flag flag)
{
    switch (flag) {
    case OFL_FROM_RIGHT:
        return work->side == 'R';
    case OFL_LOWER_TRIANGLE:
        return work->uplo == 'L';
    case OFL_TRANSPOSED:
        return work->transa == 'T' || work->transa == 'C';
    case OFL_SECOND_TRANSPOSED:
        return work->transb == 'T' || work->transb == 'C';
    case OFL_FLAG_COUNT:
        break;
    }
    return false;
}

double ofl_curve_flags(const struct ofl_curve *curve, const struct ofl_work *work)
{
    double factor = 1;
    for (int i = 0; i < OFL_FLAG_COUNT; i++) {
        if (usable(curve->flag[i]) && ofl_work_has(work, (enum ofl_flag)i)) {
            factor *= curve->flag[i];
        }
    }
    return factor;
}

double ofl_curve_near(const struct ofl_curve *curve, const double extent[3])
{
    const int nears = curve->nears < OFL_CURVE_NEAR ? curve->nears : OFL_CURVE_NEAR;
    if (nears <= 0 || !usable(extent[0] * extent[1] * extent[2])) {
        return 1;
    }
    const float at[3] = {logf((float)extent[0]), logf((float)extent[1]), logf((float)extent[2])};
    float sum = 0, weights = 1;
    for (int i = 0; i < nears; i++) {
        const struct ofl_near *near = &curve->near[i];
        const float x = near->extent[0] - at[0], y = near->extent[1] - at[1], z = near->extent[2] - at[2];
        const float distance = x * x + y * y + z * z + 0.1F, weight = 1 / (distance * distance);
        sum += weight * near->factor;
        weights += weight;
    }
    double factor = exp((double)(sum / weights));
    return usable(factor) ? factor : 1;
}

double ofl_curve_seconds(const struct ofl_curve *curve, const struct ofl_work *work)
{
    double seconds = ofl_curve_shape_seconds(curve, work);
    return seconds > 0 && isfinite(seconds)
               ? seconds * ofl_curve_flags(curve, work) * ofl_curve_near(curve, work->extent)
               : seconds;
}

double ofl_line_seconds(const struct ofl_line *line, double bytes)
{
    if (bytes <= 0) {
        return 0;
    }
    if (!usable(line->rate) || !isfinite(bytes)) {
        return INFINITY;
    }
    return (usable(line->fixed) ? line->fixed : 0) + bytes / line->rate;
}

double ofl_copy_seconds(const struct ofl_machine *machine, enum ofl_direction direction, bool pinned, double bytes)
{
    const struct ofl_line *line = machine->copy[direction];
    if (pinned) {
        return ofl_line_seconds(&line[OFL_PINNED], bytes);
    }
    return fmin(ofl_line_seconds(&line[OFL_PAGEABLE], bytes), ofl_line_seconds(&line[OFL_BULK], bytes));
}

/* `from`, `factor` times as fast.  What single calls of it were off by says nothing of another routine. */
static void scale(const struct ofl_curve *from, double factor, struct ofl_curve *to)
{
    *to = *from;
    to->nears = 0;
    memset(to->flag, 0, sizeof to->flag);
    for (int i = 0; i < to->points && i < OFL_CURVE_POINTS; i++) {
        to->point[i].speed *= factor;
    }
    for (int i = 0; i < 3; i++) {
        to->surface[i] /= factor;
        to->edge[i] /= factor;
    }
}

static bool known(const struct ofl_curve *curve)
{
    return ofl_curve_speed(curve, 1e9) > 0;
}

/* Speed of a precision relative to single, in one place. */
static double precision_speed(enum ofl_precision precision)
{
    return precision == OFL_S || precision == OFL_C ? 1.0 : 0.5;
}

/* A copy that was not measured from one kind of memory costs what it costs from the other. */
static void complete_copies(struct ofl_line copy[OFL_HOST_MEMORY_COUNT])
{
    if (!usable(copy[OFL_PINNED].rate)) {
        copy[OFL_PINNED] = copy[OFL_PAGEABLE];
    }
    if (!usable(copy[OFL_PAGEABLE].rate)) {
        copy[OFL_PAGEABLE] = copy[OFL_PINNED];
    }
}

void ofl_machine_complete(struct ofl_machine *machine)
{
    complete_copies(machine->copy[OFL_COPY_IN]);
    complete_copies(machine->copy[OFL_COPY_OUT]);
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        struct ofl_curve *gemm = machine->curve[place][OFL_OP_gemm];
        bool measured[OFL_PRECISION_COUNT];
        for (int to = 0; to < OFL_PRECISION_COUNT; to++) {
            measured[to] = known(&gemm[to]);
        }
        for (int to = 0; to < OFL_PRECISION_COUNT; to++) {
            /* The same width of element first: c for s, z for d. */
            for (int i = 0; i < OFL_PRECISION_COUNT && !measured[to] && !known(&gemm[to]); i++) {
                static const int nearest[OFL_PRECISION_COUNT][OFL_PRECISION_COUNT] = {
                    [OFL_S] = {OFL_C, OFL_D, OFL_Z, OFL_S},
                    [OFL_D] = {OFL_Z, OFL_S, OFL_C, OFL_D},
                    [OFL_C] = {OFL_S, OFL_Z, OFL_D, OFL_C},
                    [OFL_Z] = {OFL_D, OFL_C, OFL_S, OFL_Z},
                };
                int from = nearest[to][i];
                if (measured[from]) {
                    double factor = precision_speed((enum ofl_precision)to) / precision_speed((enum ofl_precision)from);
                    scale(&gemm[from], factor, &gemm[to]);
                }
            }
        }
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            double factor = ofl_operation_efficiency((enum ofl_operation)operation, (enum ofl_place)place);
            for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
                struct ofl_curve *curve = &machine->curve[place][operation][p];
                if (operation != OFL_OP_gemm && !known(curve) && known(&gemm[p])) {
                    scale(&gemm[p], factor, curve);
                }
            }
        }
    }
}
