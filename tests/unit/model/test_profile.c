/* The text format of profiles. */
#include "model.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static struct ofl_profile profile, again;

static const char good[] = "gpu-offload profile 2\n"
                           "# a comment\n"
                           "\n"
                           "cpu AMD EPYC 9654 96-Core Processor\n"
                           "cores 16\n"
                           "device NVIDIA H200\n"
                           "driver 580.159\n"
                           "library libopenblas.so.0\n"
                           "date 2026-12-01 00:37\n"
                           "effort quick\n"
                           "start 0.34\n"
                           "start blas 0.013\n"
                           "start solver 0.2\n"
                           "copy in pageable 1.2e-05 9.8e+09\n"
                           "copy out pinned 0 5.5e10\n"
                           "copy in bulk 6e-05 4.5e10\n"
                           "copy out commit 1e-05 3e10\n"
                           "overlap 0.75\n"
                           "curve cpu dgemm\n"
                           "  point 1e+06 2.1e+10\n"
                           "\tpoint 1e+09 3e+11\r\n"
                           "  surface 1e-10 2e-10 0\n"
                           "  edge 0 0 3e-6\n"
                           "  flag lower 0.5\n"
                           "  flag second-transposed 1.25\n"
                           "  near 500 20 1000 1.5\n"
                           "  near 1 2 3 0.5\n"
                           "curve device ssyrk\n"
                           "point 5e7 1e12\n"
                           "end\n";

static void test_good(void **state)
{
    (void)state;
    char why[256] = "";
    assert_true(ofl_profile_parse(good, strlen(good), &profile, why, sizeof why));
    assert_string_equal(profile.key.cpu, "AMD EPYC 9654 96-Core Processor");
    assert_int_equal(profile.key.cores, 16);
    assert_string_equal(profile.key.device, "NVIDIA H200");
    assert_string_equal(profile.key.driver, "580.159");
    assert_string_equal(profile.key.library, "libopenblas.so.0");
    assert_string_equal(profile.date, "2026-12-01 00:37");
    assert_true(profile.quick);
    const struct ofl_machine *machine = &profile.machine;
    assert_close(machine->start, 0.34);
    assert_close(machine->library[OFL_LIBRARY_BLAS], 0.013);
    assert_close(machine->library[OFL_LIBRARY_SOLVER], 0.2);
    assert_close(machine->copy[OFL_COPY_IN][OFL_PAGEABLE].fixed, 1.2e-5);
    assert_close(machine->copy[OFL_COPY_IN][OFL_PAGEABLE].rate, 9.8e9);
    assert_close(machine->copy[OFL_COPY_OUT][OFL_PINNED].rate, 5.5e10);
    assert_close(machine->copy[OFL_COPY_IN][OFL_BULK].rate, 4.5e10);
    assert_close(machine->copy[OFL_COPY_OUT][OFL_COMMIT].fixed, 1e-5);
    assert_close(machine->serial, 0.25);
    const struct ofl_curve *curve = &machine->curve[OFL_ON_CPU][OFL_OP_gemm][OFL_D];
    assert_int_equal(curve->points, 2);
    assert_close(curve->point[1].work, 1e9);
    assert_close(curve->point[1].speed, 3e11);
    assert_close(curve->surface[1], 2e-10);
    assert_close(curve->edge[2], 3e-6);
    assert_close(curve->flag[OFL_LOWER_TRIANGLE], 0.5);
    assert_close(curve->flag[OFL_SECOND_TRANSPOSED], 1.25);
    assert_true(curve->flag[OFL_FROM_RIGHT] == 0 && curve->flag[OFL_TRANSPOSED] == 0);
    assert_int_equal(curve->nears, 2);
    assert_true(fabs((double)curve->near[0].extent[1] - log(20)) < 1e-6);
    assert_true(fabs((double)curve->near[0].factor - log(1.5)) < 1e-6);
    assert_close(machine->curve[OFL_ON_DEVICE][OFL_OP_syrk][OFL_S].point[0].speed, 1e12);
}

/* Numbers as everybody writes them, in every locale. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good_numbers[] = {
        {"0", 0},
        {"1", 1},
        {"-1", -1},
        {"+2.5", 2.5},
        {"1e3", 1000},
        {"1E3", 1000},
        {"1e+3", 1000},
        {"1e-3", 1e-3},
        {".5", 0.5},
        {"5.", 5},
        {"00012", 12},
        {"1e999", INFINITY},
        {"1e-999", 0},
        {"123456789.125", 123456789.125},
        {"1e99999999999", INFINITY},
        {"0e99999", NAN},
    };
    static const char *const bad_numbers[] = {"",    "-",   "+",   ".",  "e3", "1e",  "1e+",   "1e-", "1.2.3", "1,5",
                                              "inf", "nan", "0x1", "1 ", " 1", "--1", "1e3.5", "1-",  "1e3e3"};
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sizeof good_numbers / sizeof *good_numbers; i++) {
            double value = -99, expected = good_numbers[i].value;
            assert_case(i, ofl_parse_number(good_numbers[i].text, strlen(good_numbers[i].text), &value));
            assert_case(i,
                        value == expected || (isnan(expected) && !(value > 0)) || fabs(value / expected - 1) < 1e-14);
        }
        for (size_t i = 0; i < sizeof bad_numbers / sizeof *bad_numbers; i++) {
            double value;
            assert_case(i, !ofl_parse_number(bad_numbers[i], strlen(bad_numbers[i]), &value));
        }
        setlocale(LC_ALL, "de_DE.UTF-8"); /* where it exists */
    }
    setlocale(LC_ALL, "C");
}

/* A text, and what the refusal must mention. */
static void test_refused(void **state)
{
    (void)state;
#define START "gpu-offload profile 2\n"
    static const struct {
        const char *text, *mention;
    } cases[] = {
        {"", "empty"},
        {"\n", "line 1: this is not"},
        {"hello\nend\n", "line 1: this is not"},
        {"gpu-offload profile\nend\n", "line 1: this is not"},
        {"gpu-offload profile x\nend\n", "line 1: this is not"},
        {"gpu-offload profile 1\nend\n", "version 1"},
        {"gpu-offload profile 0\nend\n", "version 0"},
        {"gpu-offload profile 2 2\nend\n", "line 1: this is not"},
        {START, "cut off"},
        {START "cores 4\n", "cut off"},
        {START "end\ncores 4\n", "line 3: text after 'end'"},
        {START "end of it\n", "'end' takes 0 values"},
        {START "color blue\nend\n", "line 2: 'color' is no word"},
        {START "cores\nend\n", "'cores' takes 1 values"},
        {START "cores 1 2\nend\n", "'cores' takes 1 values"},
        {START "cores four\nend\n", "'four' is not a number"},
        {START "cores 0\nend\n", "not a possible value"},
        {START "cores -4\nend\n", "not a possible value"},
        {START "cores 1.5\nend\n", "number of cores"},
        {START "cores 1e30\nend\n", "number of cores"},
        {START "effort some\nend\n", "'full' or 'quick'"},
        {START "start\nend\n", "takes 2 values"},
        {START "start -1\nend\n", "not a possible value"},
        {START "start 1e999\nend\n", "not a possible value"},
        {START "start fft 1\nend\n", "'fft' is no library"},
        {START "copy in pageable 1\nend\n", "takes 4 values"},
        {START "copy up pageable 1 1\nend\n", "a copy is"},
        {START "copy in page 1 1\nend\n", "a copy is"},
        {START "overlap 1.5\nend\n", "an overlap is from 0 to 1"},
        {START "overlap\nend\n", "takes 1 values"},
        {START "copy in pageable 1 0\nend\n", "not a possible value"},
        {START "copy in pageable -1 5\nend\n", "not a possible value"},
        {START "curve cpu\nend\n", "takes 2 values"},
        {START "curve gpu dgemm\nend\n", "'cpu' or 'device'"},
        {START "curve cpu gemm\nend\n", "no routine"},
        {START "curve cpu d\nend\n", "no routine"},
        {START "curve cpu xgemm\nend\n", "no routine"},
        {START "curve cpu dherk\nend\n", "no routine"},
        {START "curve cpu dgemm\npoint 1 1\ncurve cpu dgemm\nend\n", "line 4: the curve is there twice"},
        {START "point 1 1\nend\n", "before the first curve"},
        {START "surface 1 1 1\nend\n", "before the first curve"},
        {START "curve cpu dgemm\npoint 1\nend\n", "takes 2 values"},
        {START "curve cpu dgemm\npoint 0 1\nend\n", "not a possible value"},
        {START "curve cpu dgemm\npoint 1 0\nend\n", "not a possible value"},
        {START "curve cpu dgemm\npoint 1 nan\nend\n", "not a number"},
        {START "curve cpu dgemm\npoint 2 1\npoint 1 1\nend\n", "increasing work"},
        {START "curve cpu dgemm\npoint 2 1\npoint 2 1\nend\n", "increasing work"},
        {START "curve cpu dgemm\nsurface 1 1\nend\n", "takes 3 values"},
        {START "curve cpu dgemm\nsurface 1 -1 1\nend\n", "not a possible value"},
        {START "edge 1 1 1\nend\n", "before the first curve"},
        {START "flag lower 1\nend\n", "before the first curve"},
        {START "near 1 1 1 1\nend\n", "before the first curve"},
        {START "curve cpu dgemm\nedge 1 1\nend\n", "takes 3 values"},
        {START "curve cpu dgemm\nedge 1 1 -1\nend\n", "not a possible value"},
        {START "curve cpu dgemm\nflag lower\nend\n", "takes 2 values"},
        {START "curve cpu dgemm\nflag lower 0\nend\n", "not a possible value"},
        {START "curve cpu dgemm\nflag upper 1\nend\n", "'upper' is no flag"},
        {START "curve cpu dgemm\nnear 1 1 1\nend\n", "takes 4 values"},
        {START "curve cpu dgemm\nnear 1 1 0 1\nend\n", "not a possible value"},
        {START "curve cpu dgemm\nnear 1 1 1 -1\nend\n", "not a possible value"},
        {START "curve cpu dgemm\nnear 1 1 1 0\nend\n", "not a possible value"},
        {START "a b c d e f g h i j k l\nend\n", "no word"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[256] = "";
        assert_case(i, !ofl_profile_parse(cases[i].text, strlen(cases[i].text), &profile, why, sizeof why));
        assert_case(i, strncmp(why, "line ", 5) == 0);
        if (strstr(why, cases[i].mention) == NULL) {
            print_error("case %d says: %s\n", (int)i, why);
            fail();
        }
        /* A small place for the explanation is enough for some of it. */
        assert_case(i, !ofl_profile_parse(cases[i].text, strlen(cases[i].text), &profile, why, 4));
        assert_case(i, !ofl_profile_parse(cases[i].text, strlen(cases[i].text), &profile, why, 0));
    }
    char why[256], text[4000] = START "cpu ";
    memset(text + strlen(text), 'x', 200);
    assert_false(ofl_profile_parse(text, strlen(text), &profile, why, sizeof why));
    assert_false(
        ofl_profile_parse(START "cpu a\0b\nend\n", sizeof START "cpu a\0b\nend\n" - 1, &profile, why, sizeof why));
    assert_non_null(strstr(why, "zero byte"));
    /* One point, or one call near, too many. */
    static const struct {
        const char *format;
        int most;
    } lines[] = {{"point %d 1\n", OFL_CURVE_POINTS}, {"near %d 1 1 1\n", OFL_CURVE_NEAR}};
    for (int kind = 0; kind < 2; kind++) {
        strcpy(text, START "curve cpu dgemm\n");
        for (int i = 1; i <= lines[kind].most + 1; i++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), lines[kind].format, i);
        }
        assert_false(ofl_profile_parse(text, strlen(text), &profile, why, sizeof why));
        assert_non_null(strstr(why, "more than"));
    }
}

/* Cut off at any byte: refused, but for the last newline. */
static void test_truncated(void **state)
{
    (void)state;
    char why[256];
    for (size_t length = 0; length < strlen(good); length++) {
        bool whole = length == strlen(good) - 1;
        assert_case(length, ofl_profile_parse(good, length, &profile, why, sizeof why) == whole);
    }
}

/* Any line or byte damaged: an answer, and if it is yes a machine that can be computed with. */
static void test_damaged(void **state)
{
    (void)state;
    uint64_t seed = 99;
    char text[sizeof good], why[256];
    for (int round = 0; round < 20000; round++) {
        memcpy(text, good, sizeof good);
        for (int i = 0; i <= round % 4; i++) {
            text[(size_t)(random_number(&seed) * (sizeof good - 1))] = (char)(256 * random_number(&seed));
        }
        if (ofl_profile_parse(text, sizeof good - 1, &profile, why, sizeof why)) {
            const struct ofl_curve *curve = &profile.machine.curve[OFL_ON_CPU][OFL_OP_gemm][OFL_D];
            const struct ofl_work work = {.flops = 1e8, .extent = {500, 400, 250}, .transb = 'T'};
            assert_true(isfinite(ofl_curve_speed(curve, 1e8)));
            assert_true(ofl_curve_seconds(curve, &work) >= 0);
            ofl_machine_complete(&profile.machine);
        }
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    char why[256] = "";
    struct ofl_cpu_properties cpu = {16, 3e9, 64, 1e11};
    memset(&profile, 0, sizeof profile);
    strcpy(profile.key.cpu, "a cpu");
    strcpy(profile.key.device, "a device");
    profile.key.cores = 8;
    ofl_machine_estimate(&cpu, NULL, &profile.machine);
    size_t length = ofl_profile_print(&profile, NULL, 0);
    char *text = malloc(length + 1);
    assert_int_equal(ofl_profile_print(&profile, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    /* Precisions that an operation does not have are not read again. */
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            if (!ofl_operation_has((enum ofl_operation)operation, (enum ofl_precision)p)) {
                profile.machine.curve[0][operation][p].points = profile.machine.curve[1][operation][p].points = 0;
            }
        }
    }
    length = ofl_profile_print(&profile, text, length + 1);
    if (!ofl_profile_parse(text, length, &again, why, sizeof why)) {
        print_error("%s\n", why);
        fail();
    }
    assert_string_equal(again.key.cpu, "a cpu");
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
                for (double work = 1e5; work < 1e14; work *= 7) {
                    double a = ofl_curve_speed(&profile.machine.curve[place][operation][p], work);
                    double b = ofl_curve_speed(&again.machine.curve[place][operation][p], work);
                    assert_true(fabs(a - b) <= 2e-5 * a);
                }
            }
        }
    }
    assert_true(fabs(again.machine.copy[0][0].rate / profile.machine.copy[0][0].rate - 1) < 1e-5);
    /* Printed again it is the same text. */
    char *second = malloc(length + 1);
    assert_int_equal(ofl_profile_print(&again, second, length + 1), length);
    assert_string_equal(second, text);
    /* A small buffer is not overrun. */
    memset(second, 'x', length);
    ofl_profile_print(&profile, second, 10);
    assert_int_equal(strlen(second), 9);
    assert_int_equal(second[10], 'x');
    free(text);
    free(second);
}

static void test_matches(void **state)
{
    (void)state;
    static const struct {
        struct ofl_profile_key made, here;
        const char *mention; /* NULL: it matches */
    } cases[] = {
        {{.cpu = "a", .cores = 4}, {.cpu = "a", .cores = 4}, NULL},
        {{.cpu = "a", .cores = 4}, {.cpu = "b", .cores = 4}, "the CPU 'a', here is 'b'"},
        {{.cpu = "a", .cores = 4}, {.cpu = "a", .cores = 8}, "4 cores, here are 8"},
        {{.device = "g"}, {.device = "h"}, "the device 'g'"},
        {{.device = "g"}, {.device = "g"}, NULL},
        {{.driver = "1"}, {.driver = "2"}, "the driver '1'"},
        {{.library = "x"}, {.library = "y"}, "the BLAS library 'x'"},
        /* Not known on one side. */
        {{.cpu = "a", .cores = 4, .device = "g", .driver = "1", .library = "x"}, {.cores = 0}, NULL},
        {{.cores = 0}, {.cpu = "a", .cores = 4, .device = "g", .driver = "1", .library = "x"}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[256] = "";
        memset(&profile, 0, sizeof profile);
        profile.key = cases[i].made;
        assert_case(i, ofl_profile_matches(&profile, &cases[i].here, why, sizeof why) == (cases[i].mention == NULL));
        assert_case(i, cases[i].mention == NULL || strstr(why, cases[i].mention) != NULL);
    }
}

const struct CMUnitTest profile_tests[] = {
    cmocka_unit_test(test_good),      cmocka_unit_test(test_numbers), cmocka_unit_test(test_refused),
    cmocka_unit_test(test_truncated), cmocka_unit_test(test_damaged), cmocka_unit_test(test_round_trip),
    cmocka_unit_test(test_matches),
};
const size_t profile_test_count = sizeof profile_tests / sizeof *profile_tests;
