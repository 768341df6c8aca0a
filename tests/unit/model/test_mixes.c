/* Programs of many kinds of calls on a machine like a server with an H200: quick to compute, slow to copy, slow to
 * start.
 *
 * As in test_simulation.c there is a true machine and a claimed one, and nothing measures real time.  Here the
 * calls are real ones, with their operands, and a program mixes sizes and routines. */
#include "model.h"

/* Figures as they were measured on such a machine; from ordinary memory, 16 cores. */
static const char h200[] = "gpu-offload profile 2\n"
                           "start 0.35\n"
                           "start blas 0.06\n"
                           "start blas-routine 0.004\n"
                           "start solver 0.15\n"
                           "start solver-routine 0.03\n"
                           "copy in pageable 1e-5 9e9\n"
                           "copy in bulk 6e-5 4.2e10\n"
                           "copy in pinned 9e-6 5.5e10\n"
                           "copy out pageable 1e-5 1.2e10\n"
                           "copy out bulk 6e-5 4.5e10\n"
                           "copy out pinned 9e-6 5.5e10\n"
                           "copy out commit 5e-6 3e10\n"
                           "curve cpu dgemm\n"
                           "point 2e6 2e10\n"
                           "point 3.4e7 4e10\n"
                           "point 2.68e8 5.2e10\n"
                           "point 2.15e9 1.57e11\n"
                           "point 1.72e10 3.5e11\n"
                           "point 1.37e11 5.4e11\n"
                           "point 1.1e12 5.65e11\n"
                           "surface 1.5e-10 7e-11 7e-11\n"
                           "curve device dgemm\n"
                           "point 2e6 8e10\n"
                           "point 2e7 7.8e11\n"
                           "point 2e8 7e12\n"
                           "point 2e9 3.2e13\n"
                           "point 2e10 5.1e13\n"
                           "point 1e12 5.5e13\n"
                           "surface 1e-12 1e-12 1e-12\n"
                           "end\n";

static struct ofl_profile profile;

static int load_machine(void **state)
{
    char why[256];
    (void)state;
    if (!ofl_profile_parse(h200, sizeof h200 - 1, &profile, why, sizeof why)) {
        return 1;
    }
    ofl_machine_complete(&profile.machine);
    return 0;
}

static void add_operand(struct ofl_call *call, int64_t rows, int64_t columns, enum ofl_access access,
                        enum ofl_region region)
{
    call->operand[call->operands++] =
        (struct ofl_buffer){(void *)(uintptr_t)(4096 * (call->operands + 1)), rows, columns, rows, 8, access, region};
}

/* A call in double precision as a program makes it; results of products are new. */
static struct ofl_work work_of(enum ofl_operation operation, int64_t n, int64_t k)
{
    struct ofl_call call = {.operation = operation, .precision = OFL_D, .uplo = 'U', .transa = 'N', .transb = 'N'};
    struct ofl_work work;
    call.n = n;
    switch ((int)operation) {
    case OFL_OP_gemm:
        call.m = n;
        call.k = k;
        add_operand(&call, n, k, OFL_READ, OFL_GENERAL);
        add_operand(&call, k, n, OFL_READ, OFL_GENERAL);
        add_operand(&call, n, n, OFL_ADD, OFL_GENERAL);
        break;
    case OFL_OP_syrk:
        call.k = k;
        add_operand(&call, n, k, OFL_READ, OFL_GENERAL);
        add_operand(&call, n, n, OFL_ADD, OFL_UPPER);
        break;
    case OFL_OP_trsm:
        call.side = 'R';
        call.m = k;
        add_operand(&call, n, n, OFL_READ, OFL_UPPER);
        add_operand(&call, k, n, OFL_UPDATE, OFL_GENERAL);
        break;
    default: /* a factorisation */
        call.m = operation == OFL_OP_potrf ? 0 : n;
        add_operand(&call, n, n, OFL_UPDATE, operation == OFL_OP_potrf ? OFL_UPPER : OFL_GENERAL);
    }
    ofl_work_from_call(&call, &work);
    bool product = operation == OFL_OP_gemm || operation == OFL_OP_syrk;
    work.bytes_staged = product ? 0 : work.bytes_out;
    return work;
}

/* ---- By hand ---- */

static enum ofl_reason decide(struct ofl_work work, bool started)
{
    static const struct ofl_learning nothing;
    struct ofl_situation situation = ready_device();
    struct ofl_prediction prediction;
    if (!started) {
        situation.state = OFL_NOT_STARTED;
        memset(situation.library_loaded, 0, sizeof situation.library_loaded);
        return ofl_decide(&work, &profile.machine, &nothing, &situation, 5, &prediction);
    }
    static struct ofl_learning used;
    atomic_store(&used.learned[work.operation][work.precision].device_calls, 2);
    return ofl_decide(&work, &profile.machine, &used, &situation, 5, &prediction);
}

static void test_by_hand(void **state)
{
    (void)state;
    /* 0.1 ms on the CPU; two operands of 80 KB take 28 us there, 17 us back, and a launch 25: not 1.3 times faster. */
    assert_int_equal(decide(work_of(OFL_OP_gemm, 90, 90), true), OFL_SLOWER);
    /* 5 ms against 0.3 ms: yes once the device is there, but one such call is no reason to start it. */
    assert_int_equal(decide(work_of(OFL_OP_gemm, 512, 512), true), OFL_OK);
    assert_int_equal(decide(work_of(OFL_OP_gemm, 512, 512), false), OFL_NOT_STARTED);
    /* 0.25 s saved: less than twice the 0.41 s of starting; 1.9 s are more. */
    assert_int_equal(decide(work_of(OFL_OP_gemm, 4096, 4096), false), OFL_NOT_STARTED);
    assert_int_equal(decide(work_of(OFL_OP_gemm, 8192, 8192), false), OFL_OK);
    /* An outer product of 8000 x 8000 takes 18 ms on the CPU, 512 MB take 11.4 back: enough for level 5, not for 4. */
    assert_int_equal(decide(work_of(OFL_OP_gemm, 8000, 4), true), OFL_OK);
    /* 1.2 s of Cholesky start the device, BLAS and the solver together: 0.56 s, twice. */
    assert_int_equal(decide(work_of(OFL_OP_potrf, 11000, 0), false), OFL_OK);
    assert_int_equal(decide(work_of(OFL_OP_potrf, 9000, 0), false), OFL_NOT_STARTED);
    assert_int_equal(decide(work_of(OFL_OP_potrf, 1000, 0), true), OFL_OK);
}

/* ---- Programs ---- */

enum { KINDS = 6 };

struct program {
    struct ofl_work work[KINDS];
    double share[KINDS]; /* of the calls; they add up to 1 */
    int kinds, calls;
};

static struct program random_program(uint64_t *seed)
{
    static const enum ofl_operation operations[] = {OFL_OP_gemm,  OFL_OP_syrk,  OFL_OP_trsm,
                                                    OFL_OP_potrf, OFL_OP_getrf, OFL_OP_geqrf};
    struct program program = {.kinds = 1 + (int)(KINDS * random_number(seed))};
    double sum = 0, seconds = 0;
    for (int i = 0; i < program.kinds; i++) {
        int64_t n = (int64_t)(100 * pow(60, random_number(seed))), k = (int64_t)(100 * pow(40, random_number(seed)));
        program.work[i] = work_of(operations[(int)(6 * random_number(seed))], n, k);
        program.share[i] = 1 / (1e-4 + program.work[i].flops / 1e11) * (0.1 + random_number(seed));
        sum += program.share[i];
    }
    for (int i = 0; i < program.kinds; i++) {
        static const struct ofl_learning nothing;
        struct ofl_prediction prediction;
        ofl_predict(&program.work[i], &profile.machine, &nothing, 0, &prediction);
        program.share[i] /= sum;
        seconds += program.share[i] * prediction.cpu;
    }
    double wanted = 0.1 * pow(300, random_number(seed)) / seconds;
    program.calls = wanted < 20000 ? 1 + (int)wanted : 20000;
    return program;
}

struct outcome {
    double cpu, with, paid; /* seconds: all on the CPU; with the device; of that, for starting */
    int on_device;
};

/* Runs a program.  The truth is the claim times a factor, in each place, for each routine and a smaller one for each
 * kind of call: at most `error` and its square root, in either direction. */
static struct outcome run(const struct program *program, double error, uint64_t *seed)
{
    static struct ofl_learning learning;
    static const struct ofl_learning nothing;
    double factor[KINDS][OFL_PLACE_COUNT], of_routine[OFL_OPERATION_COUNT][OFL_PLACE_COUNT];
    struct ofl_situation situation = {.state = OFL_NOT_STARTED, .utilisation = -1};
    struct outcome outcome = {0, 0, 0, 0};
    memset(&learning, 0, sizeof learning);
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        for (int i = 0; i < OFL_OPERATION_COUNT; i++) {
            of_routine[i][place] = pow(error, 2 * random_number(seed) - 1);
        }
        for (int i = 0; i < KINDS; i++) {
            factor[i][place] = of_routine[program->work[i].operation][place] * pow(error, random_number(seed) - 0.5);
        }
    }
    for (int call = 0; call < program->calls; call++) {
        double pick = random_number(seed);
        int kind = 0;
        while (kind < program->kinds - 1 && pick > program->share[kind]) {
            pick -= program->share[kind++];
        }
        const struct ofl_work *work = &program->work[kind];
        struct ofl_prediction prediction, truth;
        enum ofl_reason reason = ofl_decide(work, &profile.machine, &learning, &situation, 5, &prediction);
        ofl_predict(work, &profile.machine, &nothing, 0, &truth);
        double noise = 1 + 0.2 * (random_number(seed) - 0.5) * (error > 1);
        double cpu = noise * truth.cpu * factor[kind][OFL_ON_CPU];
        double seconds = reason == OFL_OK ? noise * truth.device * factor[kind][OFL_ON_DEVICE] : cpu;
        outcome.cpu += cpu;
        outcome.with += seconds;
        if (reason == OFL_OK) {
            double start = ofl_start_seconds(work, &profile.machine, &learning, &situation);
            situation.state = OFL_OK;
            situation.library_loaded[ofl_library_of(work->operation)] = true;
            outcome.with += start;
            outcome.paid += start;
            outcome.on_device++;
        }
        ofl_learn(&learning, work, &prediction, reason, seconds);
    }
    return outcome;
}

/* Never slower than 1.02 times the CPU and what was paid for starting: with a profile that is right, and with one that
 * is up to three times off for a routine in a place, and further for some of its sizes.  With one that is up to ten
 * times off, only with what finding out costs. */
static void test_never_slower(void **state)
{
    (void)state;
    uint64_t seed = 3;
    static const double errors[] = {1, 3, 10}, most[] = {1.02, 1.02, 1.2};
    int used = 0, unused = 0, faster = 0;
    for (int round = 0; round < 600; round++) {
        struct program program = random_program(&seed);
        struct outcome outcome = run(&program, errors[round % 3], &seed);
        assert_case(round, outcome.with <= most[round % 3] * outcome.cpu + outcome.paid);
        /* What starting can cost in all: the device, the solver, BLAS with it and by itself, three routines of each. */
        assert_case(round, outcome.paid <= 0.35 + 0.15 + 2 * 0.06 + 3 * 0.03 + 3 * 0.004);
        used += outcome.on_device > 0;
        unused += outcome.on_device == 0;
        faster += outcome.with < outcome.cpu / 2;
    }
    assert_true(used > 250 && unused > 150 && faster > 100);
}

const struct CMUnitTest mix_tests[] = {
    cmocka_unit_test_setup(test_by_hand, load_machine),
    cmocka_unit_test_setup(test_never_slower, load_machine),
};
const size_t mix_test_count = sizeof mix_tests / sizeof *mix_tests;
