/* Least squares with relative errors; see fit.h. */
#include "model/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ratios of more than twenty are none that a routine has: something went wrong there. */
#define LARGEST_RATIO 3.0

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ofl_lower_quartile(double *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof *values, by_value);
    return values[(count - 1) / 4];
}

double ofl_median(double *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof *values, by_value);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

static bool usable(double x)
{
    return isfinite(x) && x > 0;
}

bool ofl_fit_line(const struct ofl_copy_sample *samples, size_t count, struct ofl_line *out)
{
    /* Minimises sum ((fixed + slope * bytes) / seconds - 1)^2. */
    double s11 = 0, s1x = 0, sxx = 0, s1 = 0, sx = 0;
    for (size_t i = 0; i < count; i++) {
        if (!usable(samples[i].bytes) || !usable(samples[i].seconds)) {
            continue;
        }
        double w = 1 / samples[i].seconds, x = samples[i].bytes * w;
        s11 += w * w, s1x += w * x, sxx += x * x, s1 += w, sx += x;
    }
    double determinant = s11 * sxx - s1x * s1x;
    double fixed = 0, slope = sxx > 0 ? sx / sxx : 0;
    if (determinant > 1e-9 * s11 * sxx) {
        double both = (s11 * sx - s1x * s1) / determinant, start = (sxx * s1 - s1x * sx) / determinant;
        if (both > 0 && start > 0) {
            fixed = start;
            slope = both;
        }
    } else {
        return false;
    }
    *out = (struct ofl_line){fixed, 1 / slope};
    return usable(out->rate);
}

/* ---- Two lines ---- */

/* Samples of about one size are one: bins of a quarter of a factor of two. */
enum { BINS_PER_OCTAVE = 4, BINS = 48 * BINS_PER_OCTAVE };

static int by_rate(const void *a, const void *b)
{
    const struct ofl_copy_sample *x = a, *y = b;
    double left = x->seconds * y->bytes, right = y->seconds * x->bytes;
    return (left > right) - (left < right);
}

static int bin_of(double bytes)
{
    double bin = log2(bytes) * BINS_PER_OCTAVE;
    return bin < 0 ? 0 : bin < BINS - 1 ? (int)bin : BINS - 1;
}

/* The median rate of each bin, by size; their number. */
static size_t condense(const struct ofl_copy_sample *samples, size_t count, struct ofl_copy_sample bins[BINS])
{
    size_t used = 0;
    struct ofl_copy_sample *in_bin = malloc((count > 0 ? count : 1) * sizeof *in_bin);
    for (int bin = 0; in_bin != NULL && bin < BINS; bin++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            if (usable(samples[i].bytes) && usable(samples[i].seconds) && bin_of(samples[i].bytes) == bin) {
                in_bin[n++] = samples[i];
            }
        }
        if (n > 0) {
            qsort(in_bin, n, sizeof *in_bin, by_rate);
            bins[used++] = in_bin[n / 2];
        }
    }
    free(in_bin);
    return used;
}

/* The sum of the squared relative errors of the faster line; one bad sample counts as one. */
static double misfit(const struct ofl_copy_sample *samples, size_t count, const struct ofl_line *small,
                     const struct ofl_line *bulk)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double seconds = fmin(ofl_line_seconds(small, samples[i].bytes), ofl_line_seconds(bulk, samples[i].bytes));
        sum += fmin(pow(seconds / samples[i].seconds - 1, 2), 1);
    }
    return sum;
}

bool ofl_fit_lines(const struct ofl_copy_sample *samples, size_t count, struct ofl_line *small, struct ofl_line *bulk)
{
    enum { LEAST = 3 }; /* bins on each side */
    struct ofl_copy_sample bins[BINS] = {{0, 0}};
    size_t used = condense(samples, count, bins);
    *bulk = (struct ofl_line){0, 0};
    if (!ofl_fit_line(bins, used, small)) {
        return false;
    }
    double best = 0.9 * misfit(bins, used, small, bulk);
    for (size_t split = LEAST; split + LEAST <= used; split++) {
        struct ofl_line below, above;
        if (ofl_fit_line(bins, split, &below) && ofl_fit_line(bins + split, used - split, &above) &&
            above.rate > below.rate && misfit(bins, used, &below, &above) < best) {
            best = misfit(bins, used, &below, &above);
            *small = below;
            *bulk = above;
        }
    }
    return true;
}

/* ---- Curves ---- */

static bool is_usable(const struct ofl_sample *sample)
{
    const double *e = sample->work.extent;
    return usable(sample->work.flops) && usable(sample->seconds) && usable(e[0]) && usable(e[1]) && usable(e[2]) &&
           usable(e[0] * e[1] * e[2]);
}

static bool is_cube(const struct ofl_sample *sample)
{
    const double *e = sample->work.extent;
    return fmax(fmax(e[0], e[1]), e[2]) <= 1.1 * fmin(fmin(e[0], e[1]), e[2]);
}

/* The flags of a call, a bit each. */
static unsigned flags_of(const struct ofl_work *work)
{
    unsigned flags = 0;
    for (int i = 0; i < OFL_FLAG_COUNT; i++) {
        flags |= ofl_work_has(work, (enum ofl_flag)i) ? 1U << i : 0;
    }
    return flags;
}

static int by_work(const void *a, const void *b)
{
    const struct ofl_point *x = a, *y = b;
    return (x->work > y->work) - (x->work < y->work);
}

static void add_point(struct ofl_curve *curve, double work, double speed)
{
    for (int i = 0; i < curve->points; i++) {
        if (fabs(curve->point[i].work / work - 1) < 1e-3) {
            curve->point[i].speed = sqrt(curve->point[i].speed * speed); /* from two sides */
            return;
        }
    }
    if (curve->points < OFL_CURVE_POINTS) {
        curve->point[curve->points++] = (struct ofl_point){work, speed};
    }
}

/* The costs of surfaces and edges. */
enum { COSTS = 6 };

/* Their normal equations, each row divided by the time of its call. */
struct normal {
    double matrix[COSTS][COSTS], right[COSTS];
};

static void add_shape(struct normal *normal, const struct ofl_curve *curve, const struct ofl_sample *sample)
{
    const double *e = sample->work.extent;
    double side = cbrt(e[0] * e[1] * e[2]), face = side * side;
    double w = 1 / fmax(sample->whole, sample->seconds);
    double row[COSTS] = {w * (e[0] * e[1] - face), w * (e[0] * e[2] - face), w * (e[1] * e[2] - face),
                         w * (e[0] - side),        w * (e[1] - side),        w * (e[2] - side)};
    double target = w * (sample->seconds - sample->work.flops / ofl_curve_speed(curve, sample->work.flops));
    for (int i = 0; i < COSTS; i++) {
        for (int j = 0; j < COSTS; j++) {
            normal->matrix[i][j] += row[i] * row[j];
        }
        normal->right[i] += row[i] * target;
    }
}

/* Solves the equations of the unknowns in `set` (a bit each); false if they are not independent. */
static bool solve(const struct normal *normal, unsigned set, double x[COSTS])
{
    double a[COSTS][COSTS + 1];
    int index[COSTS], n = 0;
    for (int i = 0; i < COSTS; i++) {
        x[i] = 0;
        if (set >> i & 1) {
            index[n++] = i;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i][j] = normal->matrix[index[i]][index[j]];
        }
        a[i][n] = normal->right[index[i]];
    }
    for (int i = 0; i < n; i++) {
        double before = normal->matrix[index[i]][index[i]];
        if (!(a[i][i] > 1e-10 * before) || !(before > 0)) {
            return false;
        }
        for (int k = i + 1; k < n; k++) {
            double factor = a[k][i] / a[i][i];
            for (int j = i; j <= n; j++) {
                a[k][j] -= factor * a[i][j];
            }
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = a[i][n];
        for (int j = i + 1; j < n; j++) {
            sum -= a[i][j] * x[index[j]];
        }
        x[index[i]] = sum / a[i][i];
    }
    return true;
}

static bool none_negative(const double x[COSTS])
{
    for (int i = 0; i < COSTS; i++) {
        if (!(x[i] >= 0)) {
            return false;
        }
    }
    return true;
}

/* The best costs that are not negative: so few unknowns that all sets of positive ones can be tried. */
static void solve_costs(const struct normal *normal, double out[COSTS])
{
    double best = 0;
    for (unsigned set = 1; set < 1U << COSTS; set++) {
        double x[COSTS], value = 0;
        if (!solve(normal, set, x) || !none_negative(x)) {
            continue;
        }
        for (int i = 0; i < COSTS; i++) {
            value -= 2 * x[i] * normal->right[i];
            for (int j = 0; j < COSTS; j++) {
                value += x[i] * normal->matrix[i][j] * x[j];
            }
        }
        if (value < best && isfinite(value)) {
            best = value;
            memcpy(out, x, sizeof x);
        }
    }
}

static void fit_costs(const struct ofl_sample *samples, size_t count, struct ofl_curve *out)
{
    struct normal normal = {{{0}}, {0}};
    double costs[COSTS] = {0};
    for (size_t i = 0; i < count; i++) {
        if (is_usable(&samples[i]) && !is_cube(&samples[i]) && flags_of(&samples[i].work) == 0) {
            add_shape(&normal, out, &samples[i]);
        }
    }
    solve_costs(&normal, costs);
    memcpy(out->surface, costs, sizeof out->surface);
    memcpy(out->edge, costs + 3, sizeof out->edge);
}

/* How a sample compares with a prediction, in logarithms; a call of which computing is only a part tells less. */
static double log_ratio(const struct ofl_sample *sample, double predicted)
{
    double share = sample->seconds / fmax(sample->whole, sample->seconds), ratio = log(sample->seconds / predicted);
    return isfinite(ratio) ? share * fmin(fmax(ratio, -LARGEST_RATIO), LARGEST_RATIO) : 0;
}

/* The factor of a flag: `ratio` has room for all samples. */
static double fit_flag(const struct ofl_sample *samples, size_t count, const struct ofl_curve *curve, int flag,
                       double *ratio)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_usable(&samples[i]) && flags_of(&samples[i].work) == 1U << flag) {
            ratio[used++] = log_ratio(&samples[i], ofl_curve_shape_seconds(curve, &samples[i].work));
        }
    }
    return used > 0 ? exp(ofl_median(ratio, used)) : 0;
}

/* Calls without flags come first, since they say most. */
void ofl_fit_near(const struct ofl_sample *samples, const double *predicted, size_t count, struct ofl_curve *out)
{
    out->nears = 0;
    for (int flagged = 0; flagged < 2; flagged++) {
        for (size_t i = 0; i < count && out->nears < OFL_CURVE_NEAR; i++) {
            if (is_usable(&samples[i]) && (flags_of(&samples[i].work) != 0) == flagged) {
                struct ofl_near *near = &out->near[out->nears++];
                near->factor = (float)log_ratio(&samples[i], predicted[i]);
                for (int j = 0; j < 3; j++) {
                    near->extent[j] = (float)log(samples[i].work.extent[j]);
                }
            }
        }
    }
}

bool ofl_fit_curve(const struct ofl_sample *samples, size_t count, struct ofl_curve *out)
{
    *out = (struct ofl_curve){.points = 0};
    for (size_t i = 0; i < count; i++) {
        if (is_usable(&samples[i]) && is_cube(&samples[i]) && flags_of(&samples[i].work) == 0) {
            add_point(out, samples[i].work.flops, samples[i].work.flops / samples[i].seconds);
        }
    }
    double *values = out->points > 0 ? malloc((count + 1) * sizeof *values) : NULL;
    if (values == NULL) {
        out->points = 0;
        return false;
    }
    qsort(out->point, (size_t)out->points, sizeof *out->point, by_work);
    fit_costs(samples, count, out);
    for (int flag = 0; flag < OFL_FLAG_COUNT; flag++) {
        out->flag[flag] = fit_flag(samples, count, out, flag, values);
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = ofl_curve_seconds(out, &samples[i].work);
    }
    ofl_fit_near(samples, values, count, out);
    free(values);
    return true;
}
