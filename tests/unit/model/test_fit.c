/* Fits of lines and curves: they find what the samples were made from. */
#include "model.h"
#include "model/fit.h"

static void test_quartile(void **state)
{
    (void)state;
    double none[1] = {5}, one[] = {3}, four[] = {4, 1, 3, 2}, nine[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
    assert_true(ofl_lower_quartile(none, 0) == 0);
    assert_true(ofl_lower_quartile(one, 1) == 3);
    assert_true(ofl_lower_quartile(four, 4) == 1);
    assert_true(ofl_lower_quartile(nine, 9) == 3);
    assert_true(ofl_median(none, 0) == 0 && ofl_median(one, 1) == 3);
    assert_true(ofl_median(four, 4) == 2.5 && ofl_median(nine, 9) == 5);
}

static void test_lines(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 100; round++) {
        struct ofl_copy_sample samples[50];
        double fixed = pow(10, -6 + 2 * random_number(&seed)), rate = pow(10, 9 + 2 * random_number(&seed));
        double noise = round % 2 == 0 ? 0 : 0.1;
        for (int i = 0; i < 50; i++) {
            double bytes = pow(10, 3 + 6 * i / 49.0);
            samples[i].bytes = bytes;
            samples[i].seconds = (fixed + bytes / rate) * (1 + noise * (random_number(&seed) - 0.5));
        }
        struct ofl_line line;
        assert_true(ofl_fit_line(samples, 50, &line));
        double tolerance = noise == 0 ? 1e-6 : 0.1;
        assert_case(round, fabs(line.fixed / fixed - 1) < tolerance && fabs(line.rate / rate - 1) < tolerance);
    }
}

static void test_bad_lines(void **state)
{
    (void)state;
    struct ofl_line line;
    struct ofl_copy_sample same[] = {{1e6, 1e-3}, {1e6, 1.1e-3}, {1e6, 0.9e-3}};
    struct ofl_copy_sample absurd[] = {{0, 1}, {1, 0}, {NAN, 1}, {1, NAN}, {-1, 1}, {INFINITY, 1}, {1, INFINITY}};
    struct ofl_copy_sample falling[] = {{1e3, 1}, {1e6, 0.1}};
    struct ofl_copy_sample through_zero[] = {{1e6, 1e-3}, {1e8, 0.11}};
    assert_false(ofl_fit_line(NULL, 0, &line));
    assert_false(ofl_fit_line(same, 1, &line));
    assert_false(ofl_fit_line(same, 3, &line));
    assert_false(ofl_fit_line(absurd, 7, &line));
    /* A fixed cost below zero, or bytes that make it faster, is noise: the line goes through zero. */
    assert_true(ofl_fit_line(through_zero, 2, &line));
    assert_true(line.fixed == 0 && line.rate > 9e8 && line.rate < 1.1e9);
    assert_true(ofl_fit_line(falling, 2, &line));
    assert_true(line.fixed == 0 && line.rate > 0);
}

/* Samples of a routine whose time is a cube's and a cost for each surface and edge. */
static void test_curves(void **state)
{
    (void)state;
    static const double shapes[][3] = {{1, 1, 1},      {4, 0.25, 0.25}, {0.25, 4, 0.25},
                                       {2, 2, 0.0625}, {0.25, 0.25, 4}, {1, 1, 0.25}};
    uint64_t seed = 8;
    for (int round = 0; round < 60; round++) {
        struct ofl_sample samples[36];
        struct ofl_curve truth = {.points = 0}, curve;
        size_t count = 0;
        double noise = round < 30 ? 0 : 0.05;
        for (int i = 0; i < 6; i++) {
            double n = 64 << i;
            truth.point[truth.points++] = (struct ofl_point){2 * n * n * n, 1e11 * n / (n + 200)};
        }
        for (int i = 0; i < 3; i++) {
            truth.surface[i] = round % 4 == i ? 0 : 1e-10 * random_number(&seed);
            truth.edge[i] = round % 5 == i ? 1e-8 * random_number(&seed) : 0;
        }
        for (int i = 0; i < 6; i++) {
            for (int s = 0; s < 6; s++) {
                double n = 64 << i;
                struct ofl_work work = {.extent = {n * shapes[s][0], n * shapes[s][1], n * shapes[s][2]}};
                work.flops = 2 * work.extent[0] * work.extent[1] * work.extent[2];
                struct ofl_sample *sample = &samples[count++];
                sample->work = work;
                sample->whole = 0;
                sample->seconds = ofl_curve_seconds(&truth, &work) * (1 + noise * (random_number(&seed) - 0.5));
            }
        }
        assert_true(ofl_fit_curve(samples, count, &curve));
        assert_int_equal(curve.points, 6);
        /* What counts is the time of shapes that were not among the samples. */
        for (int i = 0; i < 50; i++) {
            struct ofl_work work = {.flops = 2};
            for (int j = 0; j < 3; j++) {
                work.extent[j] = 64 * pow(2, 5 * random_number(&seed));
                work.flops *= work.extent[j];
            }
            double predicted = ofl_curve_seconds(&curve, &work), seconds = ofl_curve_seconds(&truth, &work);
            assert_case(round, fabs(predicted / seconds - 1) < (noise == 0 ? 1e-6 : 0.15));
        }
    }
}

/* One line where one will do, else two: the truth is the faster of a line for small copies and one for large ones. */
static void test_two_lines(void **state)
{
    (void)state;
    uint64_t seed = 9;
    const struct ofl_line one = {2e-5, 8e9}, many = {1e-4, 4e10};
    for (int two = 0; two < 2; two++) {
        static struct ofl_copy_sample samples[600];
        struct ofl_line small, bulk;
        for (int i = 0; i < 600; i++) {
            double bytes = pow(10, 4 + 5 * random_number(&seed)), noise = 1 + 0.2 * (random_number(&seed) - 0.5);
            double seconds = ofl_line_seconds(&one, bytes), large = ofl_line_seconds(&many, bytes);
            samples[i] = (struct ofl_copy_sample){bytes, noise * (two ? fmin(seconds, large) : seconds)};
        }
        samples[7].seconds *= 1000; /* others used the machine */
        assert_true(ofl_fit_lines(samples, 600, &small, &bulk));
        assert_true((bulk.rate > 0) == (two == 1));
        for (double bytes = 1e4; bytes < 1e9; bytes *= 1.3) {
            double seconds = ofl_line_seconds(&one, bytes), large = ofl_line_seconds(&many, bytes);
            double truth = two ? fmin(seconds, large) : seconds;
            double fitted = fmin(ofl_line_seconds(&small, bytes), ofl_line_seconds(&bulk, bytes));
            assert_case(two, fabs(fitted / truth - 1) < 0.15);
        }
    }
    struct ofl_line small, bulk;
    const struct ofl_copy_sample absurd[] = {{0, 1}, {1, 0}, {NAN, 1}, {1e300, INFINITY}, {-1, 1}, {1e6, 1e-3}};
    assert_false(ofl_fit_lines(NULL, 0, &small, &bulk));
    assert_false(ofl_fit_lines(absurd, 6, &small, &bulk));
    const struct ofl_copy_sample few[] = {{1e6, 1e-3}, {1e9, 1}};
    assert_true(ofl_fit_lines(few, 2, &small, &bulk));
    assert_true(bulk.rate == 0);
    assert_close(small.rate, 1e9);
}

static void test_bad_curves(void **state)
{
    (void)state;
    struct ofl_curve curve;
#define SAMPLE(a, b, c, flops_, seconds_)                                                                              \
    {                                                                                                                  \
        .work = {.extent = {a, b, c}, .flops = flops_}, .seconds = seconds_                                            \
    }
    struct ofl_sample absurd[] = {SAMPLE(9, 9, 9, 0, 1), SAMPLE(9, 9, 9, 1, 0), SAMPLE(9, 9, 9, NAN, 1),
                                  SAMPLE(9, 9, 9, 1, INFINITY)};
    struct ofl_sample no_cube[] = {SAMPLE(100, 100, 1, 2e4, 1)};
    struct ofl_sample one[] = {SAMPLE(100, 100, 100, 2e6, 1e-3), SAMPLE(NAN, 1, 1, 5, 1), SAMPLE(0, 0, 0, 5, 1)};
    struct ofl_sample twice[] = {SAMPLE(100, 100, 100, 2e6, 1e-3), SAMPLE(100, 100, 100, 2e6, 5e-4)};
    assert_false(ofl_fit_curve(NULL, 0, &curve));
    assert_int_equal(curve.points, 0);
    assert_false(ofl_fit_curve(absurd, 4, &curve));
    assert_false(ofl_fit_curve(no_cube, 1, &curve));
    assert_true(ofl_fit_curve(one, 3, &curve));
    assert_int_equal(curve.points, 1);
    assert_true(curve.surface[0] == 0 && curve.surface[1] == 0 && curve.surface[2] == 0);
    /* Of two of one size (from both sides) the mean, in ratio. */
    assert_true(ofl_fit_curve(twice, 2, &curve));
    assert_int_equal(curve.points, 1);
    assert_close(curve.point[0].speed, 4e9 / sqrt(2));
    /* More cubes than a curve has room for. */
    static struct ofl_sample many[3 * OFL_CURVE_POINTS];
    for (int i = 0; i < 3 * OFL_CURVE_POINTS; i++) {
        double n = 50 + 10 * i;
        many[i] = (struct ofl_sample)SAMPLE(n, n, n, 2 * n * n * n, 2 * n * n * n / 1e9);
    }
    assert_true(ofl_fit_curve(many, 3 * OFL_CURVE_POINTS, &curve));
    assert_int_equal(curve.points, OFL_CURVE_POINTS);
    static struct ofl_sample more[2 * OFL_CURVE_NEAR];
    for (int i = 0; i < 2 * OFL_CURVE_NEAR; i++) {
        more[i] = (struct ofl_sample)SAMPLE(100, 100, 100 + i, 2e4 * (100 + i), 1e-3);
    }
    assert_true(ofl_fit_curve(more, 2 * OFL_CURVE_NEAR, &curve));
    assert_int_equal(curve.nears, OFL_CURVE_NEAR);
}

/* Flags: each one's factor from the calls that have only it, and the others' product is predicted. */
static void test_flags(void **state)
{
    (void)state;
    static const double truth[OFL_FLAG_COUNT] = {1.2, 0.5, 0.9, 1.5};
    struct ofl_sample samples[30];
    struct ofl_curve curve;
    size_t count = 0;
    for (int i = 0; i < 6; i++) {
        double n = 64 << i;
        for (int flag = -1; flag < OFL_FLAG_COUNT; flag++) {
            struct ofl_work work = {.extent = {n, n, n}, .flops = 2 * n * n * n};
            work.side = flag == OFL_FROM_RIGHT ? 'R' : 'L';
            work.uplo = flag == OFL_LOWER_TRIANGLE ? 'L' : 'U';
            work.transa = flag == OFL_TRANSPOSED ? 'C' : 'N';
            work.transb = flag == OFL_SECOND_TRANSPOSED ? 'T' : 'N';
            samples[count++] =
                (struct ofl_sample){.work = work, .seconds = work.flops / 1e10 * (flag >= 0 ? truth[flag] : 1)};
        }
    }
    assert_true(ofl_fit_curve(samples, count, &curve));
    assert_int_equal(curve.points, 6);
    for (int flag = 0; flag < OFL_FLAG_COUNT; flag++) {
        assert_case(flag, fabs(curve.flag[flag] / truth[flag] - 1) < 1e-9);
    }
    struct ofl_work all = {
        .extent = {99, 99, 99}, .flops = 1e8, .side = 'R', .uplo = 'L', .transa = 'T', .transb = 'C'};
    assert_true(fabs(ofl_curve_seconds(&curve, &all) / (1e-2 * 1.2 * 0.5 * 0.9 * 1.5) - 1) < 1e-6);
}

/* A step that no smooth cost can have, as libraries make when they begin to use threads, is seen beside measured calls.
 */
static double step_seconds(double n, double k)
{
    return n * n * k / (n < 250 ? 1e9 : 4e9);
}

static void test_steps(void **state)
{
    (void)state;
    struct ofl_sample samples[80];
    struct ofl_curve curve;
    size_t count = 0;
    for (double n = 50; n < 1500; n *= M_SQRT2) {
        for (int shape = 0; shape < 7; shape++) {
            double k = n * pow(2, shape - 3);
            samples[count++] = (struct ofl_sample)SAMPLE(n, n, k, n * n * k, step_seconds(n, k));
        }
    }
    assert_true(ofl_fit_curve(samples, count, &curve));
    uint64_t seed = 3;
    double errors[200];
    for (int i = 0; i < 200; i++) {
        double n = 50 * pow(20, random_number(&seed)), k = n * pow(2, 4 * random_number(&seed) - 2);
        struct ofl_work work = {.extent = {n, n, k}, .flops = n * n * k};
        errors[i] = fabs(ofl_curve_seconds(&curve, &work) / step_seconds(n, k) - 1);
    }
    assert_true(ofl_median(errors, 200) < 0.15);
    assert_true(errors[180] < 0.4); /* they are in order now */
}

/* A call of which computing is a small part tells little. */
static void test_share(void **state)
{
    (void)state;
    struct ofl_sample samples[] = {SAMPLE(100, 100, 100, 2e6, 1e-3), SAMPLE(400, 50, 50, 2e6, 2e-3)};
    struct ofl_curve curve;
    const double predicted[] = {1e-3, 1e-3};
    samples[1].whole = 8e-3;
    assert_true(ofl_fit_curve(samples, 2, &curve));
    ofl_fit_near(samples, predicted, 2, &curve);
    assert_int_equal(curve.nears, 2);
    assert_true(fabs((double)curve.near[1].factor - 0.25 * log(2)) < 1e-6);
}

const struct CMUnitTest fit_tests[] = {
    cmocka_unit_test(test_quartile), cmocka_unit_test(test_lines),     cmocka_unit_test(test_bad_lines),
    cmocka_unit_test(test_curves),   cmocka_unit_test(test_two_lines), cmocka_unit_test(test_bad_curves),
    cmocka_unit_test(test_flags),    cmocka_unit_test(test_steps),     cmocka_unit_test(test_share),
};
const size_t fit_test_count = sizeof fit_tests / sizeof *fit_tests;
