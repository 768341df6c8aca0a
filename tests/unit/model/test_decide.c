/* The level table and every condition of the decision. */
#include "model.h"

/* R1's table, once more and by hand. */
static const struct {
    double speedup, utilisation, reserve, start;
} table[10] = {
    {3.0, 0.30, 0.50, 3.0}, {2.5, 0.37, 0.45, 2.75}, {2.0, 0.44, 0.40, 2.5}, {1.6, 0.52, 0.35, 2.25},
    {1.3, 0.59, 0.30, 2.0}, {1.2, 0.66, 0.25, 1.75}, {1.1, 0.73, 0.20, 1.5}, {1.05, 0.81, 0.15, 1.25},
    {1.0, 0.88, 0.10, 1.0}, {0.9, 0.95, 0.05, 0.75},
};

static void test_level_table(void **state)
{
    (void)state;
    for (int level = 1; level <= 10; level++) {
        const struct ofl_level *row = ofl_level(level);
        assert_case(level, row->speedup == table[level - 1].speedup);
        assert_case(level, row->utilisation == table[level - 1].utilisation);
        assert_case(level, row->reserve == table[level - 1].reserve);
        assert_case(level, row->start_factor == table[level - 1].start);
    }
    assert_ptr_equal(ofl_level(0), ofl_level(1));
    assert_ptr_equal(ofl_level(-100), ofl_level(1));
    assert_ptr_equal(ofl_level(11), ofl_level(10));
    assert_ptr_equal(ofl_level(1000000), ofl_level(10));
}

static const struct ofl_learning nothing;

static enum ofl_reason decide(const struct ofl_work *work, const struct ofl_situation *situation, int level)
{
    struct ofl_prediction out;
    return ofl_decide(work, simple_machine, &nothing, situation, level, &out);
}

/* Work whose CPU time is exactly `speedup` times its device time, plus or minus a little: the wait makes up
 * the difference. */
static void test_required_speedup(void **state)
{
    (void)state;
    struct ofl_work work = simple_work(1e12, 0, 0); /* CPU 100 s, device 1 s and the wait */
    for (int level = 1; level <= 10; level++) {
        struct ofl_situation situation = ready_device();
        double enough = 100 / table[level - 1].speedup;
        situation.wait = enough * (1 - 1e-9) - 1;
        assert_case(level, decide(&work, &situation, level) == OFL_OK);
        situation.wait = enough * (1 + 1e-9) - 1;
        assert_case(level, decide(&work, &situation, level) == OFL_SLOWER);
        situation.wait = INFINITY;
        assert_case(level, decide(&work, &situation, level) == OFL_SLOWER);
    }
}

/* A tie is good enough: at least the required speed-up. */
static void test_speedup_tie(void **state)
{
    (void)state;
    static struct ofl_machine machine;
    struct ofl_situation situation = ready_device();
    struct ofl_prediction out;
    struct ofl_work work = simple_work(1e9, 0, 0);
    machine = *simple_machine;
    for (int level = 1; level <= 10; level++) {
        /* The device needs 1 s, the CPU exactly the product of that and the level's factor. */
        machine.curve[OFL_ON_DEVICE][OFL_OP_gemm][OFL_D] = (struct ofl_curve){.points = 1, .point = {{1e9, 1e9}}};
        double cpu = table[level - 1].speedup * 1.0;
        machine.curve[OFL_ON_CPU][OFL_OP_gemm][OFL_D] = (struct ofl_curve){.points = 1, .point = {{1e9, 1e9 / cpu}}};
        ofl_predict(&work, &machine, &nothing, 0, &out);
        enum ofl_reason expected = out.cpu >= cpu * out.device ? OFL_OK : OFL_SLOWER;
        assert_case(level, ofl_decide(&work, &machine, &nothing, &situation, level, &out) == expected);
    }
    /* Exactly, where the factor is a power of two. */
    machine.curve[OFL_ON_CPU][OFL_OP_gemm][OFL_D] = (struct ofl_curve){.points = 1, .point = {{1e9, 5e8}}};
    assert_int_equal(ofl_decide(&work, &machine, &nothing, &situation, 3, &out), OFL_OK);
}

static void test_reserve(void **state)
{
    (void)state;
    const double total = 1024.0 * 1024 * 1024, need = 1000.0 * 1024;
    for (int level = 1; level <= 10; level++) {
        struct ofl_situation situation = ready_device();
        struct ofl_work work = simple_work(1e12, need, 0);
        /* What is needed beyond the reserve, with what this process has already. */
        static const struct {
            double needed, reusable, resident, beyond;
        } cases[] = {
            {1000, 0, 0, 1000},    {0, 0, 0, 0},          {-5, 0, 0, 0},         {1000, 300, 0, 700},
            {1000, -300, 0, 1000}, {1000, NAN, 0, 1000},  {1000, 0, 400, 600},   {1000, 0, 1000, 0},
            {1000, 0, 5000, 0},    {1000, 0, -400, 1000}, {1000, 300, 400, 300}, {1000, 5000, 0, -4000},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            double enough = table[level - 1].reserve * total + cases[i].beyond;
            situation.memory_total = total;
            situation.memory_reusable = cases[i].reusable;
            work.bytes_resident = cases[i].resident;
            work.bytes_in = work.device_bytes = cases[i].needed;
            situation.memory_free = enough + 0.5;
            assert_case(level * 100 + (int)i, decide(&work, &situation, level) == OFL_OK);
            situation.memory_free = enough - 0.5;
            assert_case(level * 100 + (int)i, decide(&work, &situation, level) == OFL_MEMORY_RESERVE);
        }
        /* All of it free, and none. */
        work.bytes_resident = 0;
        work.device_bytes = need;
        situation.memory_reusable = 0;
        situation.memory_free = total;
        assert_case(level, decide(&work, &situation, level) == OFL_OK);
        situation.memory_free = 0;
        assert_case(level, decide(&work, &situation, level) == OFL_MEMORY_RESERVE);
        situation.memory_free = NAN;
        assert_case(level, decide(&work, &situation, level) == OFL_MEMORY_RESERVE);
        work.device_bytes = 1e30;
        situation.memory_free = total;
        assert_case(level, decide(&work, &situation, level) == OFL_MEMORY_RESERVE);
        /* Not known: not asked. */
        situation.memory_total = 0;
        assert_case(level, decide(&work, &situation, level) == OFL_OK);
        situation.memory_total = NAN;
        assert_case(level, decide(&work, &situation, level) == OFL_OK);
    }
}

static void test_other_programs(void **state)
{
    (void)state;
    struct ofl_work work = simple_work(1e12, 0, 0);
    for (int level = 1; level <= 10; level++) {
        double limit = table[level - 1].utilisation;
        const struct {
            double idle, utilisation;
            enum ofl_reason reason;
        } cases[] = {
            {1, limit, OFL_OK},
            {1, limit + 1e-9, OFL_DEVICE_BUSY},
            {1, limit - 1e-9, OFL_OK},
            {1, 1, OFL_DEVICE_BUSY},
            {1, 0, OFL_OK},
            {100, 1, OFL_DEVICE_BUSY},
            {INFINITY, 1, OFL_DEVICE_BUSY},
            {0.999, 1, OFL_OK}, /* our own work */
            {0, 1, OFL_OK},
            {-1, 1, OFL_OK},
            {NAN, 1, OFL_OK},
            {1, -1, OFL_OK}, /* not known */
            {1, NAN, OFL_OK},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct ofl_situation situation = ready_device();
            situation.idle = cases[i].idle;
            situation.utilisation = cases[i].utilisation;
            assert_case(level * 100 + (int)i, decide(&work, &situation, level) == cases[i].reason);
        }
    }
}

/* Starting: missed savings and this call's together against the level's factor times what is not started. */
static void test_start(void **state)
{
    (void)state;
    /* CPU 100 s, device 1 s: a saving of 99 s; CPU 1 ms: 0.99 ms. */
    struct ofl_work work = simple_work(1e7, 0, 0);
    const double saving = 1e-3 - 1e-5;
    for (int level = 1; level <= 10; level++) {
        double factor = table[level - 1].start;
        const struct {
            bool started, loaded;
            double cost;
        } cases[] = {{false, false, 1.25}, {false, true, 1}, {true, false, 0.25}, {true, true, 0}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            for (int late = 0; late < 2; late++) {
                static struct ofl_learning learning;
                struct ofl_situation situation = ready_device();
                struct ofl_prediction out;
                situation.state = cases[i].started ? OFL_OK : OFL_NOT_STARTED;
                situation.library_loaded[OFL_LIBRARY_BLAS] = cases[i].loaded;
                double missed = cases[i].cost * factor - saving + (late ? 1e-9 : -1e-9);
                missed = fmax(missed, 0);
                memset(&learning, 0, sizeof learning);
                /* The total counts for the device, the library's own for a library. */
                atomic_store(&learning.missed, cases[i].started ? 1e9 : missed);
                atomic_store(&learning.missed_library[OFL_LIBRARY_BLAS], cases[i].started ? missed : 1e9);
                assert_close(ofl_start_seconds(&work, simple_machine, &learning, &situation), cases[i].cost);
                bool starts = late || cases[i].cost == 0;
                enum ofl_reason reason = ofl_decide(&work, simple_machine, &learning, &situation, level, &out);
                assert_case(level * 100 + (int)i * 2 + late, reason == (starts ? OFL_OK : OFL_NOT_STARTED));
            }
        }
        /* A single call that saves enough starts at once. */
        struct ofl_work large = simple_work(1e12, 0, 0);
        struct ofl_situation situation = ready_device();
        situation.state = OFL_NOT_STARTED;
        situation.library_loaded[OFL_LIBRARY_BLAS] = false;
        assert_case(level, decide(&large, &situation, level) == OFL_OK);
    }
}

/* What has to be started for a call: the device, its library and what that needs, or only the routine. */
static void test_start_of_routines(void **state)
{
    (void)state;
    static struct ofl_machine machine;
    static struct ofl_learning learning;
    machine = *simple_machine; /* the device 1 s, each library 0.25 s */
    machine.routine[OFL_LIBRARY_BLAS] = 0.1;
    machine.routine[OFL_LIBRARY_SOLVER] = 0.2;
    const struct {
        enum ofl_operation operation;
        bool started, blas, solver;
        unsigned calls; /* of the routine on the device */
        double cost;
    } cases[] = {
        {OFL_OP_gemm, false, false, false, 0, 1.25}, {OFL_OP_gemm, true, false, false, 0, 0.25},
        {OFL_OP_gemm, true, true, false, 0, 0.1},    {OFL_OP_gemm, true, true, false, 1, 0},
        {OFL_OP_potrf, false, false, false, 0, 1.5}, {OFL_OP_potrf, true, false, false, 0, 0.5},
        {OFL_OP_potrf, true, true, false, 0, 0.25},  {OFL_OP_potrf, true, true, true, 0, 0.2},
        {OFL_OP_potrf, true, false, true, 0, 0.2},   {OFL_OP_potrf, true, true, true, 5, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_work work = simple_work(1e7, 0, 0);
        struct ofl_situation situation = ready_device();
        struct ofl_prediction out;
        work.operation = cases[i].operation;
        situation.state = cases[i].started ? OFL_OK : OFL_NOT_STARTED;
        situation.library_loaded[OFL_LIBRARY_BLAS] = cases[i].blas;
        situation.library_loaded[OFL_LIBRARY_SOLVER] = cases[i].solver;
        memset(&learning, 0, sizeof learning);
        atomic_store(&learning.learned[work.operation][OFL_D].device_calls, cases[i].calls);
        assert_case((int)i, fabs(ofl_start_seconds(&work, &machine, &learning, &situation) - cases[i].cost) < 1e-12);
        bool loaded = cases[i].operation == OFL_OP_gemm ? cases[i].blas : cases[i].solver;
        if (cases[i].started && loaded && cases[i].cost > 0) {
            /* Level 5: twice the cost, out of the routine's own missed savings and this call's 0.99 ms. */
            _Atomic double *missed = &learning.learned[work.operation][OFL_D].missed;
            atomic_store(&learning.missed, 1e9);
            atomic_store(missed, 2 * cases[i].cost - 1e-3);
            assert_int_equal(ofl_decide(&work, &machine, &learning, &situation, 5, &out), OFL_NOT_STARTED);
            double before = atomic_load(missed);
            ofl_learn(&learning, &work, &out, OFL_NOT_STARTED, out.cpu);
            assert_close(atomic_load(missed), before + out.saving);
            assert_int_equal(ofl_decide(&work, &machine, &learning, &situation, 5, &out), OFL_OK);
        }
    }
}

/* Which reason is given where several apply. */
static void test_order_of_reasons(void **state)
{
    (void)state;
    struct ofl_work work = simple_work(1e7, 0, 0);
    struct ofl_situation bad = ready_device();
    bad.state = OFL_NOT_STARTED;
    bad.library_loaded[OFL_LIBRARY_BLAS] = false;
    bad.memory_total = 1e9;
    bad.idle = 5;
    bad.utilisation = 1;
    assert_int_equal(decide(&work, &bad, 5), OFL_MEMORY_RESERVE);
    bad.memory_free = 1e9;
    assert_int_equal(decide(&work, &bad, 5), OFL_DEVICE_BUSY);
    bad.utilisation = 0;
    assert_int_equal(decide(&work, &bad, 5), OFL_NOT_STARTED);
    bad.utilisation = 1;
    bad.wait = 100;
    assert_int_equal(decide(&work, &bad, 5), OFL_SLOWER);
    /* A device that cannot be used says so, whatever the rest. */
    for (int reason = 0; reason < OFL_REASON_COUNT; reason++) {
        bad.state = (enum ofl_reason)reason;
        if (reason != OFL_OK && reason != OFL_NOT_STARTED) {
            assert_int_equal(decide(&work, &bad, 5), reason);
        }
    }
    bad.state = OFL_NO_DRIVER;
    work.flops = 999999;
    assert_int_equal(decide(&work, &bad, 5), OFL_BELOW_FLOOR);
    work.flops = 0;
    assert_int_equal(decide(&work, &bad, 5), OFL_NOTHING_TO_DO);
}

static void test_floor(void **state)
{
    (void)state;
    static const struct {
        double flops;
        enum ofl_reason reason;
    } cases[] = {
        {0, OFL_NOTHING_TO_DO},      {-1, OFL_NOTHING_TO_DO}, {NAN, OFL_NOTHING_TO_DO}, {1, OFL_BELOW_FLOOR},
        {999999.9, OFL_BELOW_FLOOR}, {1e6, OFL_OK},           {1e300, OFL_OK},          {INFINITY, OFL_SLOWER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_situation situation = ready_device();
        struct ofl_work work = simple_work(cases[i].flops, 0, 0);
        assert_case(i, decide(&work, &situation, 10) == cases[i].reason);
    }
}

/* An operand that repeats: copied once the savings that its absence cost reach what the copy loses. */
static void test_residency(void **state)
{
    (void)state;
    static const struct {
        double flops, in, repeated, credit;
        enum ofl_reason reason;
    } cases[] = {
        /* CPU 10 s, device 0.1 s and 1 s a GB. */
        {1e11, 20e9, 0, 1e9, OFL_SLOWER},  /* nothing repeats: credit is not for this */
        {1e11, 20e9, 20e9, 0, OFL_SLOWER}, /* loses 10.1, would save 9.9 */
        {1e11, 20e9, 20e9, 0.19, OFL_SLOWER}, {1e11, 20e9, 20e9, 0.21, OFL_OK},
        {1e11, 19.7e9, 19.7e9, 0, OFL_OK},  /* loses 9.8, saves 9.9 from the next call on */
        {1e11, 20e9, 5e9, 1e9, OFL_SLOWER}, /* even with them there it would be slower */
        {1e11, 20e9, 12e9, 0, OFL_SLOWER},  /* saves 1.9 a call */
        {1e11, 20e9, 12e9, 8.1, OFL_SLOWER},  {1e11, 20e9, 12e9, 8.3, OFL_OK},
        {1e11, 20e9, 12e9, NAN, OFL_SLOWER},  {1e11, 20e9, 12e9, -1, OFL_SLOWER},
        {1e11, 1e9, 1e9, 0, OFL_OK}, /* pays by itself */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_situation situation = ready_device();
        struct ofl_work work = simple_work(cases[i].flops, cases[i].in, 0);
        work.bytes_repeated = cases[i].repeated;
        work.credit = cases[i].credit;
        assert_case(i, decide(&work, &situation, 5) == cases[i].reason);
    }
}

const struct CMUnitTest decide_tests[] = {
    cmocka_unit_test(test_level_table),
    cmocka_unit_test(test_required_speedup),
    cmocka_unit_test(test_speedup_tie),
    cmocka_unit_test(test_reserve),
    cmocka_unit_test(test_other_programs),
    cmocka_unit_test(test_start),
    cmocka_unit_test(test_start_of_routines),
    cmocka_unit_test(test_order_of_reasons),
    cmocka_unit_test(test_floor),
    cmocka_unit_test(test_residency),
};
const size_t decide_test_count = sizeof decide_tests / sizeof *decide_tests;
