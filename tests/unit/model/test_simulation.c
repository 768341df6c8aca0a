/* Whole runs on a simulated machine with a clock of its own.
 *
 * A world has a true machine, which says how long things take, and a claimed one, which the model
 * believes.  A run is a list of calls; each is decided, takes its true time, and is learned from, as the
 * dispatcher does it.  Nothing here measures real time, so every figure is exact. */
#include "model.h"

struct world {
    struct ofl_machine truth, claim;
    struct ofl_learning learning;
    struct ofl_situation situation;
    int level;
    double clock;      /* s, since the program began */
    double last_used;  /* when this process last used the device */
    double all_on_cpu; /* what the run would have taken without us */
    double saved;      /* by calls on the device, not counting starts */
    double paid;       /* for starting */
    double probing;    /* lost by probes */
    bool probe;        /* the last call was one */
    int offloaded;     /* calls on the device, without probes */
    int on[OFL_REASON_COUNT];
};

static struct world world;
static const struct ofl_learning nothing;

static void new_world(int level)
{
    memset(&world, 0, sizeof world);
    world.truth = world.claim = *simple_machine;
    world.level = level;
    world.situation = ready_device();
    world.last_used = -1e9;
}

static void device_not_started(void)
{
    world.situation.state = OFL_NOT_STARTED;
    memset(world.situation.library_loaded, 0, sizeof world.situation.library_loaded);
}

/* How much faster the claimed machine is than the true one. */
static void claim_speed(enum ofl_place place, double times)
{
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            struct ofl_curve *curve = &world.claim.curve[place][operation][p];
            for (int i = 0; i < curve->points; i++) {
                curve->point[i].speed *= times;
            }
        }
    }
}

static void claim_copies(double times)
{
    for (int d = 0; d < OFL_DIRECTION_COUNT; d++) {
        for (int h = 0; h < OFL_HOST_MEMORY_COUNT; h++) {
            world.claim.copy[d][h].rate *= times;
        }
    }
}

/* Runs one call; returns where and why. */
static enum ofl_reason run(const struct ofl_work *work)
{
    struct ofl_prediction prediction, truth;
    world.situation.idle = world.clock - world.last_used;
    enum ofl_reason reason =
        ofl_decide(work, &world.claim, &world.learning, &world.situation, world.level, &prediction);
    ofl_predict(work, &world.truth, &nothing, 0, &truth);
    world.all_on_cpu += truth.cpu;
    double seconds = reason == OFL_OK ? truth.device : truth.cpu;
    if (reason == OFL_OK) {
        double cost = ofl_start_seconds(work, &world.truth, &world.learning, &world.situation);
        world.situation.state = OFL_OK;
        world.situation.library_loaded[ofl_library_of(work->operation)] = true;
        world.clock += cost;
        world.paid += cost;
        world.saved += truth.cpu - truth.device;
    }
    world.probe = prediction.probe;
    world.offloaded += reason == OFL_OK && !prediction.probe;
    if (prediction.probe) {
        world.probing += reason == OFL_OK ? truth.device - truth.cpu : truth.cpu - truth.device;
    }
    world.clock += seconds;
    if (reason == OFL_OK) {
        world.last_used = world.clock;
    }
    ofl_learn(&world.learning, work, &prediction, reason, seconds);
    world.on[reason]++;
    return reason;
}

/* Work that takes the simple machine these times; the device's through its copy in. */
static struct ofl_work timed_work(double cpu, double device)
{
    double flops = cpu * 1e10, copy = device - flops / 1e12;
    assert_true(copy >= 0);
    return simple_work(flops, copy * 1e9, 0);
}

/* --- Decisions are those that the formulas give --- */

/* The decision once more, written down apart from the model's code; without probes. */
static enum ofl_reason by_the_book(const struct ofl_work *work, double missed)
{
    static const double speedup[] = {3.0, 2.5, 2.0, 1.6, 1.3, 1.2, 1.1, 1.05, 1.0, 0.9};
    static const double load[] = {0.30, 0.37, 0.44, 0.52, 0.59, 0.66, 0.73, 0.81, 0.88, 0.95};
    static const double start[] = {3.0, 2.75, 2.5, 2.25, 2.0, 1.75, 1.5, 1.25, 1.0, 0.75};
    const struct ofl_situation *now = &world.situation;
    int row = world.level - 1;
    double cpu = work->flops / 1e10;
    double device = work->bytes_in / 1e9 + work->flops / 1e12 + work->bytes_out / 2e9;
    double reserve = (50 - 5 * row) / 100.0;
    if (!(cpu >= speedup[row] * device)) {
        return OFL_SLOWER;
    }
    if (now->memory_total > 0 && now->memory_free - work->device_bytes < reserve * now->memory_total) {
        return OFL_MEMORY_RESERVE;
    }
    if (world.clock - world.last_used >= 1 && now->utilisation > load[row]) {
        return OFL_DEVICE_BUSY;
    }
    if (now->state == OFL_NOT_STARTED && missed + fmax(cpu - device, 0) < 1.25 * start[row]) {
        return OFL_NOT_STARTED;
    }
    return OFL_OK;
}

static void test_decisions_follow_the_formulas(void **state)
{
    (void)state;
    uint64_t seed = 7;
    int seen[OFL_REASON_COUNT] = {0};
    for (int level = 1; level <= 10; level++) {
        for (int round = 0; round < 20; round++) {
            double missed = 0;
            new_world(level);
            device_not_started();
            world.situation.memory_total = 1e9;
            for (int i = 0; i < 50; i++) {
                double cpu = pow(10, -3 + 3 * random_number(&seed));
                struct ofl_work work = timed_work(cpu, cpu * (0.02 + 1.5 * random_number(&seed)));
                /* A machine that others use too, whose memory comes and goes. */
                world.situation.memory_free = 1e9 * random_number(&seed);
                world.situation.utilisation = random_number(&seed);
                work.device_bytes = 3e8 * random_number(&seed);
                world.clock += random_number(&seed) < 0.3 ? 1.5 : 0;
                enum ofl_reason expected = by_the_book(&work, missed), reason = run(&work);
                if (reason != expected && reason != OFL_PROBE) {
                    print_error("level %d round %d call %d: %d instead of %d\n", level, round, i, reason, expected);
                    fail();
                }
                double saving = work.flops / 1e10 - work.bytes_in / 1e9 - work.flops / 1e12;
                missed += reason == OFL_NOT_STARTED ? fmax(saving, 0) : 0;
                seen[reason]++;
            }
        }
    }
    /* The runs met every case. */
    assert_true(seen[OFL_OK] > 200 && seen[OFL_SLOWER] > 200 && seen[OFL_MEMORY_RESERVE] > 200);
    assert_true(seen[OFL_DEVICE_BUSY] > 200 && seen[OFL_NOT_STARTED] > 200);
}

/* --- Ski rental --- */

/* Against staying on the CPU a run never loses more than the start; against the best that could have been known
 * before, never more than the larger of the start and the factor times it. */
static void test_start_never_loses_more_than_its_bound(void **state)
{
    (void)state;
    uint64_t seed = 3;
    int started = 0, stayed = 0, lost = 0;
    for (int level = 1; level <= 10; level++) {
        double factor = ofl_level(level)->start_factor;
        for (int round = 0; round < 300; round++) {
            new_world(level);
            device_not_started();
            int calls = (int)(300 * random_number(&seed));
            double size = pow(10, -3 + 3 * random_number(&seed)), best_saving = 0;
            for (int i = 0; i < calls; i++) {
                double cpu = size * (0.5 + random_number(&seed));
                struct ofl_work work = timed_work(cpu, cpu * (0.05 + random_number(&seed)));
                struct ofl_prediction truth;
                ofl_predict(&work, &world.truth, &nothing, 0, &truth);
                best_saving += truth.cpu >= ofl_level(level)->speedup * truth.device ? truth.saving : 0;
                run(&work);
            }
            const double cost = 1.25;
            double best = fmin(world.all_on_cpu, world.all_on_cpu - best_saving + cost);
            /* At level 10 a small loss is wanted: what it may cost is in its required speed-up. */
            double wanted = level == 10 ? world.all_on_cpu * (1 / 0.9 - 1) : 0;
            double probes = fmax(world.probing, 0);
            assert_case(level * 1000 + round, world.clock <= world.all_on_cpu + cost + wanted + probes + 1e-9);
            assert_case(level * 1000 + round, world.clock <= best + fmax(1, factor) * cost + wanted + probes + 1e-9);
            assert_true(world.paid == 0 || fabs(world.paid - cost) < 1e-12);
            started += world.paid > 0;
            stayed += world.paid == 0;
            lost += world.clock > world.all_on_cpu;
        }
    }
    assert_true(started > 300 && stayed > 300 && lost > 10);
}

/* A program with little to gain never touches the device, however long it runs below the bound. */
static void test_short_program_never_starts(void **state)
{
    (void)state;
    for (int level = 1; level <= 10; level++) {
        new_world(level);
        device_not_started();
        double bound = 1.25 * ofl_level(level)->start_factor;
        struct ofl_work work = timed_work(0.01, 0.001);
        int below = (int)(bound / 0.009) - 1;
        for (int i = 0; i < below; i++) {
            assert_int_equal(run(&work), OFL_NOT_STARTED);
        }
        assert_true(world.paid == 0);
        for (int i = 0; i < 3; i++) {
            run(&work);
        }
        assert_true(world.paid > 0);
    }
}

/* A library of a running device that is needed for the first time is decided on its own, by its own cost. */
static void test_second_library(void **state)
{
    (void)state;
    new_world(5);
    memset(world.situation.library_loaded, 0, sizeof world.situation.library_loaded);
    struct ofl_work work = timed_work(0.1, 0.01);
    int waited = 0;
    while (run(&work) == OFL_NOT_STARTED) {
        waited++;
    }
    assert_int_equal(waited, 5); /* 0.09 s each: the sixth reaches 2 * 0.25 s */
    assert_close(world.paid, 0.25);
}

/* --- Learning --- */

/* One routine, called again and again, on a machine about which the profile is wrong by ten times.  How many calls
 * go to the wrong place before the right one is found for good (1000 calls are run). */
static int wrong_calls(double cpu, double device)
{
    struct ofl_work work = timed_work(cpu, device);
    enum ofl_place right = cpu >= ofl_level(world.level)->speedup * device ? OFL_ON_DEVICE : OFL_ON_CPU;
    int last_wrong = 0;
    for (int i = 1; i <= 1000; i++) {
        enum ofl_reason reason = run(&work);
        enum ofl_place place = reason == OFL_OK ? OFL_ON_DEVICE : OFL_ON_CPU;
        if (place != right && !world.probe && reason != OFL_NOT_STARTED) {
            last_wrong = i;
        }
    }
    return last_wrong;
}

/* The place that the profile praises is used, seen, and left within 20 calls. */
static void test_learning_from_calls(void **state)
{
    (void)state;
    static const struct {
        enum ofl_place place;
        double times;       /* how much faster than it is the profile says the place is */
        double cpu, device; /* true times */
    } cases[] = {
        {OFL_ON_DEVICE, 10, 1, 2},     {OFL_ON_DEVICE, 10, 1, 5}, {OFL_ON_DEVICE, 10, 0.01, 0.02},
        {OFL_ON_CPU, 10, 1, 0.2},      {OFL_ON_CPU, 10, 1, 0.02}, {OFL_ON_CPU, 10, 0.01, 0.003},
        {OFL_ON_DEVICE, 0.1, 1, 0.02}, {OFL_ON_CPU, 0.1, 1, 15},
    };
    for (int level = 1; level <= 10; level++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            new_world(level);
            claim_speed(cases[i].place, cases[i].times);
            if (cases[i].place == OFL_ON_DEVICE) {
                claim_copies(cases[i].times);
            }
            if (cases[i].cpu > 1.05 * cases[i].device &&
                cases[i].cpu < 1.2 * ofl_level(level)->speedup * cases[i].device) {
                continue; /* which place is right is a matter of the level's taste */
            }
            assert_case(level * 100 + (int)i, wrong_calls(cases[i].cpu, cases[i].device) <= 20);
        }
    }
}

/* While the device is not started all calls are seen on the CPU: a CPU that is ten times faster than the
 * profile says keeps it from being started. */
static void test_learning_before_the_start(void **state)
{
    (void)state;
    for (int level = 1; level <= 10; level++) {
        new_world(level);
        device_not_started();
        claim_speed(OFL_ON_CPU, 0.1);
        struct ofl_work work = timed_work(0.05, 0.1);
        for (int i = 0; i < 1000; i++) {
            assert_true(run(&work) != OFL_OK);
        }
        assert_true(world.paid == 0);
        double factor = ofl_learning_factor(&world.learning, &work, OFL_ON_CPU);
        assert_true(factor < 0.101);
    }
}

/* Each factor comes within a tenth of the truth in 20 observations, from ten times off in either direction. */
static void test_factors_recover(void **state)
{
    (void)state;
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        for (double times = 0.1; times < 11; times *= 100) {
            new_world(5);
            claim_speed((enum ofl_place)place, times);
            claim_copies(place == OFL_ON_DEVICE ? times : 1);
            struct ofl_work work = timed_work(1, 0.5);
            for (int i = 0; i < 20; i++) {
                struct ofl_prediction claim, truth;
                ofl_predict(&work, &world.claim, &world.learning, 0, &claim);
                ofl_predict(&work, &world.truth, &nothing, 0, &truth);
                ofl_learn(&world.learning, &work, &claim, place == OFL_ON_DEVICE ? OFL_OK : OFL_SLOWER,
                          place == OFL_ON_DEVICE ? truth.device : truth.cpu);
            }
            double factor = ofl_learning_factor(&world.learning, &work, (enum ofl_place)place);
            assert_true(factor / times > 0.99 && factor / times < 1.01);
        }
    }
}

/* --- Probes --- */

/* The profile says that the CPU is ten times slower than it is, and the device runs everything: a probe finds the CPU
 * as soon as its predicted cost is within its bound, and everything moves there. */
static void test_probe_finds_a_fast_cpu(void **state)
{
    (void)state;
    new_world(5);
    claim_speed(OFL_ON_CPU, 0.1);
    /* True: CPU 0.1 s, device 0.2 s; the profile says CPU 1 s.  A probe seems to cost 0.8 s and each call to save
     * as much: 2% of that reach it after 50. */
    struct ofl_work work = timed_work(0.1, 0.2);
    int first_probe = 0;
    for (int i = 1; i <= 1000; i++) {
        enum ofl_reason reason = run(&work);
        if (reason == OFL_PROBE && first_probe == 0) {
            first_probe = i;
        }
        if (first_probe > 0) {
            assert_true(reason != OFL_OK || world.probe);
        }
    }
    assert_true(first_probe >= 50 && first_probe <= 53);
    assert_true(world.offloaded == first_probe - 1);
    /* With calls of several sizes a small one is the probe, right after 16 calls. */
    new_world(5);
    claim_speed(OFL_ON_CPU, 0.1);
    struct ofl_work small = timed_work(0.001, 0.002);
    for (int i = 0; i < 17; i++) {
        assert_int_equal(run(&work), OFL_OK);
    }
    assert_int_equal(run(&small), OFL_PROBE);
    assert_int_equal(run(&work), OFL_SLOWER);
}

/* Probes of a machine that is as claimed: they come, and cost no more than their shares. */
static void test_probes_cost_their_bound(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int level = 1; level <= 9; level++) {
        for (int round = 0; round < 30; round++) {
            new_world(level);
            bool same_size = round % 2 == 0;
            double gain = 1.05 * ofl_level(level)->speedup + 10 * random_number(&seed);
            for (int i = 0; i < 2000; i++) {
                double cpu = same_size ? 1 : pow(10, -2 + 3 * random_number(&seed));
                struct ofl_work work = timed_work(cpu, cpu / gain);
                run(&work);
            }
            assert_case(level, world.on[OFL_PROBE] > 0);
            assert_case(level, world.on[OFL_PROBE] <= 2000 / OFL_PROBE_CALLS);
            assert_case(level, world.probing <= OFL_CPU_PROBE_SHARE * world.saved * (1 + 1e-9));
        }
        /* The other way round: the CPU is right, and the device is tried now and then. */
        new_world(level);
        for (int i = 0; i < 2000; i++) {
            struct ofl_work work = timed_work(1, 1.5);
            run(&work);
        }
        assert_case(level, world.on[OFL_OK] > 0 && world.on[OFL_OK] < 2000 / OFL_PROBE_CALLS);
        assert_case(level, world.clock <= world.all_on_cpu * (1 + OFL_DEVICE_PROBE_SHARE));
    }
}

/* A device that got ten times faster than the profile says, or had one bad moment, is found again. */
static void test_probe_finds_a_fast_device(void **state)
{
    (void)state;
    new_world(5);
    claim_speed(OFL_ON_DEVICE, 0.1);
    claim_copies(0.1);
    struct ofl_work work = timed_work(1, 0.15); /* claimed: 1.5 s */
    int found = 0;
    for (int i = 1; i <= 1000 && found == 0; i++) {
        run(&work);
        found = world.on[OFL_OK] >= 20 ? i : 0;
    }
    assert_true(found > 0 && found < 200);
    assert_true(world.clock < world.all_on_cpu * 1.01);
}

/* --- A machine with faults --- */

/* One call that takes hundreds of times as long, on either side, changes nothing. */
static void test_hiccups(void **state)
{
    (void)state;
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        struct ofl_work work = place == OFL_ON_DEVICE ? timed_work(1, 0.1) : timed_work(1, 2);
        enum ofl_reason usual = place == OFL_ON_DEVICE ? OFL_OK : OFL_SLOWER;
        new_world(5);
        for (int i = 0; i < 40; i++) {
            if (i % 10 == 5) {
                struct ofl_prediction prediction;
                ofl_predict(&work, &world.claim, &world.learning, 0, &prediction);
                ofl_learn(&world.learning, &work, &prediction, usual, 300);
            }
            enum ofl_reason reason = run(&work);
            assert_true(reason == usual || world.probe);
        }
    }
}

/* Copies ten times slower than the profile says: calls that are mostly copies leave the device, within 20. */
static void test_slow_copies(void **state)
{
    (void)state;
    new_world(5);
    claim_copies(10);
    assert_true(wrong_calls(1, 3) <= 20);
    assert_true(world.offloaded <= 20);
    assert_true(world.clock <= world.all_on_cpu + 20 * 2 + OFL_DEVICE_PROBE_SHARE * world.all_on_cpu);
}

/* Others come and go: calls stay away while they are there and return when they have gone. */
static void test_busy_spells(void **state)
{
    (void)state;
    new_world(5);
    struct ofl_work work = timed_work(0.5, 0.1);
    for (int spell = 0; spell < 10; spell++) {
        world.situation.utilisation = spell % 2 == 0 ? 0.2 : 0.9;
        world.clock += 2; /* the program does something else */
        for (int i = 0; i < 10; i++) {
            enum ofl_reason reason = run(&work);
            assert_true(reason == (spell % 2 == 0 ? OFL_OK : OFL_DEVICE_BUSY) || reason == OFL_PROBE);
        }
    }
}

/* Waiting counts: when other threads hold the device for long, the CPU is faster. */
static void test_waiting(void **state)
{
    (void)state;
    new_world(5);
    struct ofl_work work = timed_work(0.5, 0.1);
    world.situation.wait = 0.28;
    assert_int_equal(run(&work), OFL_OK); /* 0.5 >= 1.3 * 0.38 */
    world.situation.wait = 0.29;
    assert_int_equal(run(&work), OFL_SLOWER);
}

/* A matrix that is used again and again: its copy is made once the savings that it cost are there, and the total
 * loss against never copying is bounded by one copy. */
static void test_residency_is_ski_rental(void **state)
{
    (void)state;
    new_world(5);
    /* CPU 1 s; device 1.5 s with the copy, 0.1 s without. */
    struct ofl_work work = timed_work(1, 1.5);
    double matrix = work.bytes_in - 0.09e9, credit = 0;
    bool resident = false;
    int before = 0;
    for (int i = 0; i < 50; i++) {
        struct ofl_prediction prediction;
        work.bytes_resident = resident ? matrix : 0;
        work.bytes_repeated = resident || i == 0 ? 0 : matrix; /* seen to repeat from the second call on */
        work.credit = credit;
        ofl_predict(&work, &world.claim, &world.learning, 0, &prediction);
        enum ofl_reason reason = run(&work);
        credit += reason == OFL_OK ? 0 : prediction.residency_saving;
        before += !resident && reason != OFL_OK;
        resident = resident || reason == OFL_OK;
    }
    assert_true(resident && before == 1); /* it saves 0.9 a call and loses 0.5 once */
    assert_true(world.clock < 0.25 * world.all_on_cpu);
}

const struct CMUnitTest simulation_tests[] = {
    cmocka_unit_test(test_decisions_follow_the_formulas),
    cmocka_unit_test(test_start_never_loses_more_than_its_bound),
    cmocka_unit_test(test_short_program_never_starts),
    cmocka_unit_test(test_second_library),
    cmocka_unit_test(test_learning_from_calls),
    cmocka_unit_test(test_learning_before_the_start),
    cmocka_unit_test(test_factors_recover),
    cmocka_unit_test(test_probe_finds_a_fast_cpu),
    cmocka_unit_test(test_probes_cost_their_bound),
    cmocka_unit_test(test_probe_finds_a_fast_device),
    cmocka_unit_test(test_hiccups),
    cmocka_unit_test(test_slow_copies),
    cmocka_unit_test(test_busy_spells),
    cmocka_unit_test(test_waiting),
    cmocka_unit_test(test_residency_is_ski_rental),
};
const size_t simulation_test_count = sizeof simulation_tests / sizeof *simulation_tests;
