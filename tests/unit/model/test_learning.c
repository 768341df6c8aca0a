/* Corrections, counters and probes. */
#include "model.h"

#include <pthread.h>

static struct ofl_learning learning;

static void forget(void)
{
    memset(&learning, 0, sizeof learning);
}

static struct ofl_learned *about_gemm(void)
{
    return &learning.learned[OFL_OP_gemm][OFL_D];
}

/* CPU 1 s, device 0.01 s and 1 s a GB. */
static struct ofl_work work_of(double in)
{
    return simple_work(1e10, in, 0);
}

static struct ofl_prediction predict(const struct ofl_work *work)
{
    struct ofl_prediction out;
    ofl_predict(work, simple_machine, &learning, 0, &out);
    return out;
}

static void learn(const struct ofl_work *work, enum ofl_reason reason, double seconds)
{
    struct ofl_prediction prediction = predict(work);
    ofl_learn(&learning, work, &prediction, reason, seconds);
}

/* Each observation moves the factor halfway, in ratio, to the latest ratio. */
static void test_halfway(void **state)
{
    (void)state;
    static const struct {
        double seconds, factor; /* seen on the CPU, where 1 s is claimed; expected */
    } steps[] = {
        {4, 2},
        {4, 2.8284271247461903},
        {1, 1.6817928305074292},
        {1.6817928305074292, 1.6817928305074292},
        {0.5, 0.91700404320467125},
        {0.1, 0.91700404320467125},
        {0.1, 0.30282074618570493},
        {0.1, 0.17401745492498874},
        {30, 0.17401745492498874},
        {0.17401745492498874, 0.17401745492498874},
        {30, 0.17401745492498874},
        {0.001, 0.17401745492498874},
        {30, 0.17401745492498874},
        {40, 2.6383135137810196},
    };
    forget();
    struct ofl_work work = work_of(0);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        learn(&work, OFL_SLOWER, steps[i].seconds);
        assert_close(ofl_learning_factor(&learning, &work, OFL_ON_CPU), steps[i].factor);
        assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 1);
    }
    /* The device likewise, but for the routine's first call. */
    learn(&work, OFL_OK, 77);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 1);
    learn(&work, OFL_OK, 0.04);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 2);
    learn(&work, OFL_OK, 0.04);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 2 * sqrt(2));
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_CPU), 2.6383135137810196);
    work.precision = OFL_S;
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 1);
}

/* Whatever the clock says, factors stay numbers that can be computed with. */
static void test_absurd_times(void **state)
{
    (void)state;
    static const double absurd[] = {0, -1, NAN, INFINITY, -INFINITY};
    struct ofl_work work = work_of(0);
    forget();
    learn(&work, OFL_OK, 1);
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        learn(&work, OFL_SLOWER, absurd[i]);
        learn(&work, OFL_OK, absurd[i]);
        assert_close(ofl_learning_factor(&learning, &work, OFL_ON_CPU), 1);
        assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 1);
    }
    learn(&work, OFL_SLOWER, 1e300);
    learn(&work, OFL_SLOWER, 1e300);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_CPU), 100); /* halfway to 1e4 */
    learn(&work, OFL_OK, 1e-300);
    learn(&work, OFL_OK, 1e-300);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 0.01);
    assert_true(isfinite(atomic_load(&about_gemm()->since_seconds[OFL_ON_CPU])));
    /* Claims of nothing or for ever teach nothing. */
    struct ofl_prediction nothing = {.device_claim = INFINITY};
    ofl_learn(&learning, &work, &nothing, OFL_SLOWER, 1);
    ofl_learn(&learning, &work, &nothing, OFL_OK, 1);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_CPU), 100);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_DEVICE), 0.01);
    /* Work that is in no table changes nothing. */
    work.operation = OFL_OPERATION_COUNT;
    learn(&work, OFL_OK, 1);
    work.operation = OFL_OP_gemm, work.precision = OFL_PRECISION_COUNT;
    learn(&work, OFL_SLOWER, 1);
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_CPU), 1);
}

static void test_missed_savings(void **state)
{
    (void)state;
    struct ofl_work work = work_of(0);
    forget();
    for (int i = 1; i <= 5; i++) {
        struct ofl_prediction prediction = predict(&work);
        assert_close(prediction.saving, 0.99);
        ofl_learn(&learning, &work, &prediction, OFL_NOT_STARTED, 1);
        assert_close(atomic_load(&learning.missed), 0.99 * i);
        assert_close(atomic_load(&learning.missed_library[OFL_LIBRARY_BLAS]), 0.99 * i);
        assert_close(atomic_load(&learning.missed_library[OFL_LIBRARY_SOLVER]), 0);
    }
    /* Only what would have been offloaded counts. */
    for (int reason = 0; reason < OFL_REASON_COUNT; reason++) {
        if (reason != OFL_NOT_STARTED) {
            learn(&work, (enum ofl_reason)reason, 1);
        }
    }
    assert_close(atomic_load(&learning.missed), 0.99 * 5);
}

/* A CPU probe: after 16 calls on the device, and when it costs at most 2% of what they saved. */
static void test_cpu_probe(void **state)
{
    (void)state;
    /* CPU 1 s, device 0.01 s: a probe costs 0.99 s. */
    static const struct {
        unsigned calls;
        double saved;
        bool probe;
    } cases[] = {
        {0, 1e9, false},
        {15, 1e9, false},
        {16, 1e9, true},
        {16, 0.99 / 0.02 + 1e-6, true},
        {16, 0.99 / 0.02 - 1e-6, false},
        {1000000, 49, false},
        {1000000, 50, true},
        {16, 0, false},
        {16, -5, false},
        {4000000000u, 1e9, true},
    };
    struct ofl_work work = work_of(0);
    struct ofl_situation situation = ready_device();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_prediction out;
        forget();
        atomic_store(&about_gemm()->since_calls[OFL_ON_CPU], cases[i].calls);
        atomic_store(&about_gemm()->since_seconds[OFL_ON_CPU], cases[i].saved);
        enum ofl_reason reason = ofl_decide(&work, simple_machine, &learning, &situation, 5, &out);
        assert_case(i, reason == (cases[i].probe ? OFL_PROBE : OFL_OK) && out.probe == cases[i].probe);
    }
    /* The CPU was observed: the count begins again. */
    learn(&work, OFL_PROBE, 1);
    assert_int_equal(atomic_load(&about_gemm()->since_calls[OFL_ON_CPU]), 0);
    assert_close(atomic_load(&about_gemm()->since_seconds[OFL_ON_CPU]), 0);
    assert_int_equal(atomic_load(&about_gemm()->since_calls[OFL_ON_DEVICE]), 1);
    /* Work on the device counts what it saved: predicted CPU time less what was seen. */
    learn(&work, OFL_OK, 0.25);
    learn(&work, OFL_OK, 0.25);
    assert_int_equal(atomic_load(&about_gemm()->since_calls[OFL_ON_CPU]), 2);
    assert_close(atomic_load(&about_gemm()->since_seconds[OFL_ON_CPU]), 1.5);
}

/* A device probe: after 16 calls that the CPU took, at 1% of their time, on a device that is ready. */
static void test_device_probe(void **state)
{
    (void)state;
    /* CPU 1 s, device 2.01 s: a probe costs 1.01 s. */
    static const struct {
        unsigned calls;
        double spent;
        bool started, loaded, busy;
        bool probe;
    } cases[] = {
        {16, 102, true, true, false, true},   {15, 102, true, true, false, false},  {16, 100, true, true, false, false},
        {16, 102, false, true, false, false}, {16, 102, true, false, false, false}, {16, 102, true, true, true, false},
    };
    struct ofl_work work = work_of(2e9);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_prediction out;
        struct ofl_situation situation = ready_device();
        forget();
        situation.state = cases[i].started ? OFL_OK : OFL_NOT_STARTED;
        situation.library_loaded[OFL_LIBRARY_BLAS] = cases[i].loaded;
        situation.idle = 2;
        situation.utilisation = cases[i].busy ? 1 : 0;
        atomic_store(&about_gemm()->since_calls[OFL_ON_DEVICE], cases[i].calls);
        atomic_store(&about_gemm()->since_seconds[OFL_ON_DEVICE], cases[i].spent);
        enum ofl_reason reason = ofl_decide(&work, simple_machine, &learning, &situation, 5, &out);
        assert_case(i, out.probe == cases[i].probe);
        enum ofl_reason otherwise = cases[i].busy ? OFL_DEVICE_BUSY : OFL_SLOWER;
        assert_case(i, reason == (cases[i].probe ? OFL_OK : otherwise));
    }
}

/* After a probe its word counts in full for a few decisions, then the smoothed factor again. */
static void test_settling(void **state)
{
    (void)state;
    struct ofl_work work = work_of(0);
    forget();
    learn(&work, OFL_OK, 0.01);
    struct ofl_prediction prediction = predict(&work);
    prediction.probe = true;
    ofl_learn(&learning, &work, &prediction, OFL_PROBE, 0.001);         /* a thousand times faster than claimed */
    assert_close(ofl_learning_factor(&learning, &work, OFL_ON_CPU), 1); /* a lone surprise */
    for (int i = 0; i < OFL_PROBE_SETTLING; i++) {
        assert_close(predict(&work).cpu, 0.001);
        learn(&work, OFL_SLOWER, 0.001);
    }
    assert_true(predict(&work).cpu > 0.001); /* the factor has nearly followed */
    assert_true(predict(&work).cpu < 0.0016);
    /* A probe that failed on the device says nothing about it. */
    forget();
    learn(&work, OFL_OK, 0.01);
    prediction = predict(&work);
    prediction.probe = true;
    ofl_learn(&learning, &work, &prediction, OFL_DEVICE_MEMORY, 1);
    assert_int_equal(atomic_load(&about_gemm()->settling), 0);
}

/* Many threads learn at once: no value is torn, sums are exact. */
enum { THREADS = 8, EACH = 20000 };

static void *learn_much(void *unused)
{
    struct ofl_work work = work_of(0);
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        struct ofl_prediction prediction = {.cpu = 1, .cpu_claim = 1, .device_claim = 0.01, .saving = 0.5};
        ofl_learn(&learning, &work, &prediction, OFL_NOT_STARTED, i % 2 == 0 ? 2 : 0.5);
        double factor = ofl_learning_factor(&learning, &work, OFL_ON_CPU);
        if (!(factor >= 0.5 && factor <= 2)) {
            return (void *)1;
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    forget();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, learn_much, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    assert_close(atomic_load(&learning.missed), 0.5 * THREADS * EACH);
}

const struct CMUnitTest learning_tests[] = {
    cmocka_unit_test(test_halfway),   cmocka_unit_test(test_absurd_times), cmocka_unit_test(test_missed_savings),
    cmocka_unit_test(test_cpu_probe), cmocka_unit_test(test_device_probe), cmocka_unit_test(test_settling),
    cmocka_unit_test(test_threads),
};
const size_t learning_test_count = sizeof learning_tests / sizeof *learning_tests;
