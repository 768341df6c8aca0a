/* Curves, lines, gaps between them, and the built-in estimate. */
#include "model.h"

#define CURVE(...)                                                                                                     \
    {                                                                                                                  \
        .points = sizeof((struct ofl_point[]){__VA_ARGS__}) / sizeof(struct ofl_point), .point = { __VA_ARGS__ }       \
    }

static void test_speed(void **state)
{
    (void)state;
    static const struct {
        struct ofl_curve curve;
        double work, speed;
    } cases[] = {
        /* Nothing known. */
        {{.points = 0}, 1e9, 0},
        {{.points = -1}, 1e9, 0},
        /* One point: the same everywhere. */
        {CURVE({1e9, 5}), 1e9, 5},
        {CURVE({1e9, 5}), 1, 5},
        {CURVE({1e9, 5}), 1e300, 5},
        {CURVE({1e9, 5}), INFINITY, 5},
        /* Two points: exact on them, straight between them in logarithms, flat outside. */
        {CURVE({1e6, 1e9}, {1e8, 1e11}), 1e6, 1e9},
        {CURVE({1e6, 1e9}, {1e8, 1e11}), 1e8, 1e11},
        {CURVE({1e6, 1e9}, {1e8, 1e11}), 1e7, 1e10},
        {CURVE({1e6, 1e9}, {1e8, 1e9}), 3e7, 1e9},
        {CURVE({1e6, 1e9}, {1e8, 1e11}), 1e5, 1e9},
        {CURVE({1e6, 1e9}, {1e8, 1e11}), 1e9, 1e11},
        {CURVE({1e6, 1e11}, {1e8, 1e9}), 1e7, 1e10},
        {CURVE({1e6, 1e9}, {1e8, 1e11}), 0, 1e9},
        {CURVE({1e6, 1e9}, {1e8, 1e11}), -5, 1e9},
        /* Several. */
        {CURVE({1e6, 1e9}, {1e8, 1e11}, {1e10, 1e12}), 1e9, 3.1622776601683795e11},
        {CURVE({1e6, 1e9}, {1e8, 1e11}, {1e10, 1e12}), 1e8, 1e11},
        /* Out of order, twice the same work: some answer between, never a crash. */
        {CURVE({1e10, 1e12}, {1e6, 1e9}, {1e8, 1e11}), 1e7, 1e10},
        {CURVE({1e8, 2e9}, {1e8, 2e9}), 1e8, 2e9},
        /* Absurd points do not exist. */
        {CURVE({NAN, 1e9}), 1e7, 0},
        {CURVE({1e7, NAN}), 1e7, 0},
        {CURVE({1e7, 0}), 1e7, 0},
        {CURVE({1e7, -1e9}), 1e7, 0},
        {CURVE({1e7, INFINITY}), 1e7, 0},
        {CURVE({INFINITY, 1e9}), 1e7, 0},
        {CURVE({0, 1e9}), 1e7, 0},
        {CURVE({-1e6, 1e9}, {1e8, 3e9}), 1e7, 3e9},
        {CURVE({1e6, 1e9}, {1e7, NAN}, {1e8, 1e11}), 1e7, 1e10},
        {CURVE({1e6, 1e9}, {1e7, 0}, {1e8, 1e11}), 1e7, 1e10},
        {CURVE({1e6, 1e9}, {1e8, INFINITY}), 1e7, 1e9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double speed = ofl_curve_speed(&cases[i].curve, cases[i].work);
        assert_case(i, speed == cases[i].speed || fabs(speed / cases[i].speed - 1) < 1e-12);
    }
    struct ofl_curve curve = {.points = 1000000};
    assert_true(ofl_curve_speed(&curve, 1e9) == 0); /* a count beyond the array */
}

/* Between neighbouring points speed lies between theirs. */
static void test_speed_is_between_neighbours(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 200; round++) {
        struct ofl_curve curve = {.points = 2 + (int)(random_number(&seed) * 20)};
        double work = 1e5;
        for (int i = 0; i < curve.points; i++) {
            work *= 1 + 9 * random_number(&seed);
            curve.point[i] = (struct ofl_point){work, pow(10, 6 + 6 * random_number(&seed))};
        }
        for (int i = 0; i + 1 < curve.points; i++) {
            double a = curve.point[i].speed, b = curve.point[i + 1].speed;
            double t = random_number(&seed);
            double at = curve.point[i].work * (1 - t) + curve.point[i + 1].work * t;
            double speed = ofl_curve_speed(&curve, at);
            assert_case(round, speed >= fmin(a, b) * (1 - 1e-12) && speed <= fmax(a, b) * (1 + 1e-12));
        }
    }
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        double extent[3], surface[3], extra; /* expected seconds beyond flops / speed */
    } cases[] = {
        {{100, 100, 100}, {1, 2, 3}, 0},
        {{100, 100, 100}, {0, 0, 0}, 0},
        {{1000, 1000, 1}, {0, 0, 0}, 0},
        {{1000, 1000, 1}, {1e-6, 0, 0}, 1e-6 * (1e6 - 1e4)},
        {{1000, 1, 1000}, {0, 1e-6, 0}, 1e-6 * (1e6 - 1e4)},
        {{1, 1000, 1000}, {0, 0, 1e-6}, 1e-6 * (1e6 - 1e4)},
        {{10, 10, 10000}, {1e-6, 1e-6, 0}, 1e-6 * (100 - 1e4) + 1e-6 * (1e5 - 1e4)},
        /* Costs that a broken profile could hold do not count. */
        {{1000, 1000, 1}, {NAN, 0, 0}, 0},
        {{1000, 1000, 1}, {-1e-6, 0, 0}, 0},
        {{1000, 1000, 1}, {INFINITY, 0, 0}, 0},
        /* Extents that nobody filled in. */
        {{0, 0, 0}, {1e-6, 1e-6, 1e-6}, 0},
        {{-1, 5, 5}, {1e-6, 1e-6, 1e-6}, 0},
        {{NAN, 5, 5}, {1e-6, 1e-6, 1e-6}, 0},
        /* A surface smaller than the cube's saves, down to a quarter. */
        {{10, 10, 10000}, {1e-8, 0, 0}, 1e-8 * (100 - 1e4)},
        {{10, 10, 10000}, {1, 0, 0}, -0.75 * 2e6 / 1e9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_curve curve = {.points = 1, .point = {{1e9, 1e9}}};
        struct ofl_work work = {.flops = 2e6};
        memcpy(curve.surface, cases[i].surface, sizeof curve.surface);
        memcpy(work.extent, cases[i].extent, sizeof work.extent);
        double seconds = ofl_curve_seconds(&curve, &work), expected = 2e6 / 1e9 + cases[i].extra;
        assert_case(i, fabs(seconds - expected) <= 1e-9 * expected);
    }
    struct ofl_curve none = {.points = 0};
    struct ofl_work work = {.flops = 1e9};
    assert_true(ofl_curve_seconds(&none, &work) == INFINITY);
    work.flops = 0;
    assert_true(ofl_curve_seconds(&none, &work) == 0);
    work.flops = NAN;
    assert_true(ofl_curve_seconds(simple_machine->curve[0][0], &work) == 0);
}

static void test_edges(void **state)
{
    (void)state;
    static const struct {
        double extent[3], edge[3], extra; /* expected seconds beyond flops / speed */
    } cases[] = {
        {{100, 100, 100}, {1, 2, 3}, 0},
        {{1000, 1000, 1}, {0, 0, 0}, 0},
        {{1000, 1000, 1}, {1e-6, 0, 0}, 1e-6 * (1000 - 100)},
        {{1000, 1000, 1}, {0, 0, 1e-6}, 1e-6 * (1 - 100)},
        {{10, 10, 10000}, {1e-6, 1e-6, 2e-6}, 2e-6 * (10 - 100) + 2e-6 * (10000 - 100)},
        {{1000, 1000, 1}, {NAN, 0, 0}, 0},
        {{1000, 1000, 1}, {-1e-6, 0, 0}, 0},
        {{1000, 1000, 1}, {INFINITY, 0, 0}, 0},
        {{0, 0, 0}, {1e-6, 1e-6, 1e-6}, 0},
        {{1000, 1000, 1}, {0, 0, 1}, -0.75 * 2e6 / 1e9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_curve curve = {.points = 1, .point = {{1e9, 1e9}}};
        struct ofl_work work = {.flops = 2e6};
        memcpy(curve.edge, cases[i].edge, sizeof curve.edge);
        memcpy(work.extent, cases[i].extent, sizeof work.extent);
        double seconds = ofl_curve_seconds(&curve, &work), expected = 2e6 / 1e9 + cases[i].extra;
        assert_case(i, fabs(seconds - expected) <= 1e-9 * expected);
    }
}

static void test_flags(void **state)
{
    (void)state;
    static const struct {
        char side, uplo, transa, transb;
        double flag[OFL_FLAG_COUNT], factor;
    } cases[] = {
        {0, 0, 0, 0, {2, 3, 5, 7}, 1},
        {'L', 'U', 'N', 'N', {2, 3, 5, 7}, 1},
        {'R', 'U', 'N', 'N', {2, 3, 5, 7}, 2},
        {'L', 'L', 'N', 'N', {2, 3, 5, 7}, 3},
        {'L', 'U', 'T', 'N', {2, 3, 5, 7}, 5},
        {'L', 'U', 'C', 'N', {2, 3, 5, 7}, 5},
        {'L', 'U', 'N', 'T', {2, 3, 5, 7}, 7},
        {'L', 'U', 'N', 'C', {2, 3, 5, 7}, 7},
        {'R', 'L', 'T', 'T', {2, 3, 5, 7}, 210},
        {'R', 'L', 'T', 'T', {0, 0, 0, 0}, 1},
        {'R', 'L', 'T', 'T', {0.5, 0, 0, 0}, 0.5},
        {'R', 'L', 'T', 'T', {NAN, INFINITY, -1, 4}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_curve curve = {.points = 1, .point = {{1e9, 1e9}}};
        struct ofl_work work = {.flops = 2e6, .side = cases[i].side, .uplo = cases[i].uplo};
        work.transa = cases[i].transa, work.transb = cases[i].transb;
        memcpy(curve.flag, cases[i].flag, sizeof curve.flag);
        assert_case(i, fabs(ofl_curve_seconds(&curve, &work) / (2e-3 * cases[i].factor) - 1) < 1e-12);
    }
}

/* Near a measured call its factor counts, far from all of them none, between two of them one between theirs. */
static void test_near(void **state)
{
    (void)state;
    struct ofl_curve curve = {.points = 1, .point = {{1e9, 1e9}}, .nears = 2};
    curve.near[0] = (struct ofl_near){{logf(100), logf(100), logf(100)}, logf(2)};
    curve.near[1] = (struct ofl_near){{logf(1000), logf(1000), logf(1000)}, logf(8)};
    static const struct {
        double extent[3], least, most;
    } cases[] = {
        {{100, 100, 100}, 1.95, 2.05}, {{105, 95, 100}, 1.9, 2.05}, {{1000, 1000, 1000}, 7.8, 8.0},
        {{316, 316, 316}, 1.1, 4},     {{1, 1, 1}, 1, 1.03},        {{1e6, 1e6, 1e6}, 1, 1.03},
        {{100, 1e5, 0.1}, 1, 1.03},    {{0, 0, 0}, 1, 1},           {{-1, 5, 5}, 1, 1},
        {{NAN, 5, 5}, 1, 1},           {{INFINITY, 5, 5}, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_work work = {.flops = 2e6};
        memcpy(work.extent, cases[i].extent, sizeof work.extent);
        double factor = ofl_curve_seconds(&curve, &work) / 2e-3;
        assert_case(i, factor >= cases[i].least * (1 - 1e-6) && factor <= cases[i].most * (1 + 1e-6));
    }
    /* Values that a broken machine could hold do no harm. */
    static const float values[] = {NAN, INFINITY, -INFINITY, 1e30F, -1e30F, 1000};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (int where = 0; where < 2; where++) {
            struct ofl_work work = {.flops = 2e6, .extent = {100, 100, 100}};
            curve.near[0] = (struct ofl_near){{where ? values[i] : 4.6F, 4.6F, 4.6F}, where ? 1 : values[i]};
            double seconds = ofl_curve_seconds(&curve, &work);
            assert_case(i, seconds >= 0);
        }
    }
    curve.nears = 1000000; /* a count beyond the array */
    struct ofl_work work = {.flops = 2e6, .extent = {100, 100, 100}};
    assert_true(ofl_curve_seconds(&curve, &work) > 0);
}

static void test_lines(void **state)
{
    (void)state;
    static const struct {
        struct ofl_line line;
        double bytes, seconds;
    } cases[] = {
        {{1e-5, 1e9}, 1e9, 1.00001},    {{1e-5, 1e9}, 0, 0},       {{1e-5, 1e9}, -3, 0},
        {{1e-5, 1e9}, 1, 1e-5 + 1e-9},  {{0, 1e9}, 1e9, 1},        {{-1, 1e9}, 1e9, 1},
        {{NAN, 1e9}, 1e9, 1},           {{INFINITY, 1e9}, 1e9, 1}, {{0, 0}, 1e9, INFINITY},
        {{0, -1e9}, 1e9, INFINITY},     {{0, NAN}, 1e9, INFINITY}, {{0, INFINITY}, 1e9, INFINITY},
        {{0, 1e9}, INFINITY, INFINITY}, {{0, 1e9}, NAN, INFINITY}, {{0, 0}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = ofl_line_seconds(&cases[i].line, cases[i].bytes);
        assert_case(i, seconds == cases[i].seconds || fabs(seconds - cases[i].seconds) < 1e-15);
    }
}

static bool known(const struct ofl_machine *machine, int place, int operation, int precision)
{
    return ofl_curve_speed(&machine->curve[place][operation][precision], 1e9) > 0;
}

static void test_gaps_are_filled(void **state)
{
    (void)state;
    static struct ofl_machine machine;
    /* Nothing gives nothing. */
    machine = (struct ofl_machine){.start = 1};
    ofl_machine_complete(&machine);
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        assert_false(known(&machine, OFL_ON_CPU, operation, OFL_D));
    }
    /* One gemm gives everything in its place, nothing in the other, and stays what it was. */
    for (int from = 0; from < OFL_PRECISION_COUNT; from++) {
        machine = (struct ofl_machine){.start = 1};
        machine.curve[OFL_ON_DEVICE][OFL_OP_gemm][from] =
            (struct ofl_curve){.points = 1, .point = {{1e9, 1e12}}, .surface = {1e-9, 0, 0}, .edge = {0, 1e-7, 0}};
        machine.curve[OFL_ON_DEVICE][OFL_OP_gemm][from].nears = 1; /* says nothing of others */
        machine.curve[OFL_ON_DEVICE][OFL_OP_gemm][from].flag[OFL_TRANSPOSED] = 2;
        ofl_machine_complete(&machine);
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            double efficiency = ofl_operation_efficiency((enum ofl_operation)operation, OFL_ON_DEVICE);
            for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
                bool is_double = p == OFL_D || p == OFL_Z, from_double = from == OFL_D || from == OFL_Z;
                double scale = efficiency * (is_double ? 0.5 : 1) / (from_double ? 0.5 : 1);
                const struct ofl_curve *curve = &machine.curve[OFL_ON_DEVICE][operation][p];
                assert_false(known(&machine, OFL_ON_CPU, operation, p));
                assert_close(ofl_curve_speed(curve, 1e9), 1e12 * scale);
                assert_close(curve->surface[0], 1e-9 / scale);
                assert_close(curve->edge[1], 1e-7 / scale);
                bool own = operation == OFL_OP_gemm && p == from;
                assert_case(p, curve->nears == own && curve->flag[OFL_TRANSPOSED] == (own ? 2 : 0));
            }
        }
    }
    /* What was measured is kept. */
    machine = (struct ofl_machine){.start = 1};
    machine.curve[OFL_ON_CPU][OFL_OP_gemm][OFL_D] = (struct ofl_curve){.points = 1, .point = {{1e9, 1e12}}};
    machine.curve[OFL_ON_CPU][OFL_OP_trsm][OFL_D] = (struct ofl_curve){.points = 1, .point = {{1e9, 7}}};
    ofl_machine_complete(&machine);
    assert_true(ofl_curve_speed(&machine.curve[OFL_ON_CPU][OFL_OP_trsm][OFL_D], 1e9) == 7);
}

/* Whatever the hardware says of itself, the estimate is a machine that can be computed with. */
static void test_estimates(void **state)
{
    (void)state;
    static const double values[] = {0, 1, 1e9, 3e12, 1e15, -1, NAN, INFINITY};
    static const int cores[] = {0, 1, 2, 16, 256, -3};
    enum { VALUES = sizeof values / sizeof *values, CORES = sizeof cores / sizeof *cores };
    static struct ofl_machine machine;
    for (int c = 0; c < CORES; c++) {
        for (int v = 0; v < VALUES; v++) {
            struct ofl_cpu_properties cpu = {cores[c], values[v], cores[c], values[(v + 3) % VALUES]};
            struct ofl_device_properties device = {.multiprocessors = cores[c]};
            device.flops_single = values[v];
            device.flops_double = values[(v + 1) % VALUES];
            device.memory_bandwidth = values[(v + 2) % VALUES];
            device.link_bandwidth = values[(v + 5) % VALUES];
            ofl_machine_estimate(&cpu, v == 0 ? NULL : &device, &machine);
            for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
                for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
                    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
                        double speed = ofl_curve_speed(&machine.curve[place][operation][p], 1e10);
                        assert_case(c * VALUES + v, isfinite(speed) && speed > 0);
                    }
                }
            }
            assert_true(isfinite(ofl_line_seconds(&machine.copy[OFL_COPY_IN][OFL_PAGEABLE], 1e6)));
            assert_true(isfinite(ofl_line_seconds(&machine.copy[OFL_COPY_OUT][OFL_PINNED], 1e6)));
            assert_true(machine.start > 0);
        }
    }
}

/* The estimate sends what it should: large products of a known fast device, nothing small, nothing in double
 * to a device that hardly has it. */
static void test_estimate_decides_sensibly(void **state)
{
    (void)state;
    static struct ofl_machine machine;
    static struct ofl_learning nothing;
    struct ofl_cpu_properties cpu = {16, 3e9, 32, 1e11};
    struct ofl_device_properties fast = {
        .flops_single = 5e13, .flops_double = 5e13, .memory_bandwidth = 4e12, .link_bandwidth = 5e10};
    struct ofl_device_properties consumer = {
        .flops_single = 3e13, .flops_double = 5e11, .memory_bandwidth = 9e11, .link_bandwidth = 2.5e10};
    struct ofl_situation situation = ready_device();
    struct ofl_prediction out;
    static const struct {
        bool fast;
        enum ofl_precision precision;
        double size;
        enum ofl_reason reason;
    } cases[] = {
        {true, OFL_D, 8000, OFL_OK},  {true, OFL_S, 8000, OFL_OK},      {true, OFL_D, 200, OFL_SLOWER},
        {false, OFL_S, 8000, OFL_OK}, {false, OFL_D, 8000, OFL_SLOWER}, {false, OFL_D, 200, OFL_SLOWER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double n = cases[i].size, bytes = n * n * ofl_precision_bytes(cases[i].precision);
        struct ofl_work work = simple_work(2 * n * n * n, 2 * bytes, bytes);
        work.precision = cases[i].precision;
        ofl_machine_estimate(&cpu, cases[i].fast ? &fast : &consumer, &machine);
        assert_case(i, ofl_decide(&work, &machine, &nothing, &situation, 5, &out) == cases[i].reason);
    }
}

static void test_guesses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool known;
        double doubles;
    } cases[] = {
        {"NVIDIA H200", true, 60e12},          {"NVIDIA A100-SXM4-80GB", true, 19e12},
        {"NVIDIA H100 PCIe", true, 45e12},     {"NVIDIA GH200 480GB", true, 60e12},
        {"NVIDIA GB200", true, 40e12},         {"Tesla T4", true, 0.25e12},
        {"NVIDIA GeForce RTX 4090", false, 0}, {"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_device_properties guess;
        assert_case(i, ofl_device_guess(cases[i].name, &guess) == cases[i].known);
        assert_case(i, guess.flops_double == cases[i].doubles);
    }
}

const struct CMUnitTest curve_tests[] = {
    cmocka_unit_test(test_guesses),
    cmocka_unit_test(test_speed),
    cmocka_unit_test(test_speed_is_between_neighbours),
    cmocka_unit_test(test_shapes),
    cmocka_unit_test(test_edges),
    cmocka_unit_test(test_flags),
    cmocka_unit_test(test_near),
    cmocka_unit_test(test_lines),
    cmocka_unit_test(test_gaps_are_filled),
    cmocka_unit_test(test_estimates),
    cmocka_unit_test(test_estimate_decides_sensibly),
};
const size_t curve_test_count = sizeof curve_tests / sizeof *curve_tests;
