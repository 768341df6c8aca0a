/* Every term of the prediction. */
#include "model.h"

static void test_pipeline(void **state)
{
    (void)state;
    static const struct {
        double in, compute, out;
        int pieces;
        double seconds;
    } cases[] = {
        {1, 2, 3, 1, 6}, /* one after the other: the sum */
        {1, 2, 3, 0, 6},
        {1, 2, 3, -5, 6},
        {1, 2, 3, 3, 4}, /* the longest and a third of the rest */
        {3, 2, 1, 3, 4},
        {1, 3, 2, 3, 4},
        {1, 1, 1, 2, 2},
        {1, 1, 1, 1000000, 1 + 2e-6},
        {0, 0, 0, 1, 0},
        {0, 5, 0, 7, 5},
        {INFINITY, 1, 1, 1, INFINITY},
        {1, INFINITY, 1, 4, INFINITY},
        {1, 1, INFINITY, 4, INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = ofl_pipeline_seconds(cases[i].in, 0, cases[i].compute, cases[i].out, cases[i].pieces);
        assert_case(i, seconds == cases[i].seconds || fabs(seconds - cases[i].seconds) < 1e-12);
    }
}

/* Three stages of many pieces, the first of which needs more of the input than the others: a flow shop, run here piece
 * by piece. */
static double flow_shop(double in, double first, double compute, double out, int pieces)
{
    double arrived = 0, computed = 0, left = 0;
    for (int i = 0; i < pieces; i++) {
        arrived += i == 0 ? in * first : in * (1 - first) / (pieces - 1);
        computed = fmax(computed, arrived) + compute / pieces;
        left = fmax(left, computed) + out / pieces;
    }
    return left;
}

static void test_first_piece(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 300; i++) {
        int pieces = 2 + (int)(15 * random_number(&seed));
        double in = random_number(&seed), compute = random_number(&seed), out = random_number(&seed);
        double first = 1.0 / pieces + (1 - 1.0 / pieces) * random_number(&seed);
        double seconds = ofl_pipeline_seconds(in, first, compute, out, pieces);
        double exact = flow_shop(in, first, compute, out, pieces);
        /* An input that is spread evenly is exact; a first piece that takes most of it leaves the copies idle. */
        assert_case(i, seconds <= exact * (1 + 1e-9) && seconds >= 0.93 * exact);
        assert_close(ofl_pipeline_seconds(in, 0, compute, out, pieces),
                     flow_shop(in, 1.0 / pieces, compute, out, pieces));
    }
    assert_close(ofl_pipeline_seconds(1, 7, 1, 1, 4), 1 + 1 + 0.25); /* more than all is all */
    assert_close(ofl_pipeline_seconds(1, NAN, 1, 1, 4), 1.5);
    assert_close(ofl_pipeline_seconds(1, -1, 1, 1, 4), 1.5);
}

/* Small and large copies, staged results, tiles: 4e9 bytes a second in bulk, 1e9 from the staging area. */
static void test_staging(void **state)
{
    (void)state;
    static const struct ofl_learning nothing;
    static struct ofl_machine machine;
    struct ofl_prediction p;
    machine = *simple_machine;
    machine.copy[OFL_COPY_IN][OFL_BULK] = (struct ofl_line){0.25, 4e9};
    machine.copy[OFL_COPY_OUT][OFL_COMMIT] = (struct ofl_line){0, 1e9};
    assert_close(ofl_copy_seconds(&machine, OFL_COPY_IN, false, 1e8), 0.1); /* the faster of the two */
    assert_close(ofl_copy_seconds(&machine, OFL_COPY_IN, false, 1e9), 0.5);
    assert_close(ofl_copy_seconds(&machine, OFL_COPY_IN, true, 1e9), 0.5);
    assert_close(ofl_copy_seconds(simple_machine, OFL_COPY_IN, false, 1e9), 1); /* no such line */

    struct ofl_work work = simple_work(1e12, 1e9, 1e9);
    work.bytes_staged = 1e9; /* out at 4e9 page-locked, then at 1e9 */
    ofl_predict(&work, &machine, &nothing, 0, &p);
    assert_close(p.copy_in, 0.5);
    assert_close(p.copy_out, 0.25);
    assert_close(p.commit, 1);
    assert_close(p.device, 0.5 + 1 + 0.25 + 1);
    work.bytes_staged = 5e8;
    ofl_predict(&work, &machine, &nothing, 0, &p);
    assert_close(p.device, 0.5 + 1 + 0.25 + 0.125 + 0.5);
    work.bytes_staged = NAN; /* nothing */
    ofl_predict(&work, &machine, &nothing, 0, &p);
    assert_close(p.device, 0.5 + 1 + 0.5);
    work.bytes_staged = 7e9; /* no more than there is */
    ofl_predict(&work, &machine, &nothing, 0, &p);
    assert_close(p.device, 0.5 + 1 + 0.25 + 1);

    work.bytes_staged = 0;
    ofl_work_cut(&work, 4, 6e8); /* 0.7 of the input comes before the first tile */
    assert_close(work.bytes_first, 7e8);
    ofl_predict(&work, &machine, &nothing, 0, &p);
    assert_close(p.device, 0.35 + 1 + 0.5 / 4);
    assert_close(ofl_device_seconds(&work, &machine, 1), p.device);
    ofl_work_cut(&work, 4, 0);
    assert_close(work.bytes_first, 0);
    ofl_predict(&work, &machine, &nothing, 0, &p);
    assert_close(p.device, 1 + (0.5 + 0.5) / 4);
    /* Of the 0.75 s that this saves against the sum, a part is lost. */
    static const struct {
        double serial, lost;
    } losses[] = {{0.2, 0.15}, {1, 0.75}, {7, 0.75}, {-1, 0}, {NAN, 0}};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        machine.serial = losses[i].serial;
        ofl_predict(&work, &machine, &nothing, 0, &p);
        assert_close(p.device, 1.25 + losses[i].lost);
    }
    machine.serial = 0;
    ofl_work_cut(&work, 0, 6e8);
    assert_int_equal(work.pieces, 1);
    assert_close(work.bytes_first, 0);
    machine.copy[OFL_COPY_OUT][OFL_COMMIT] = (struct ofl_line){0, 0}; /* not measured: no cost, not infinite */
    work.bytes_staged = 1e9;
    ofl_predict(&work, &machine, &nothing, 0, &p);
    assert_close(p.device, 0.5 + 1 + 0.25);
}

/* On the simple machine: CPU 1e10, device 1e12 flops a second, 1e9 bytes in, 2e9 out a second. */
static void test_terms(void **state)
{
    (void)state;
    static const struct {
        double flops, in, out, resident, repeated;
        bool pinned;
        int pieces;
        double wait;
        double cpu, device, residency; /* expected seconds; residency: device if the repeated were there */
    } cases[] = {
        {1e12, 0, 0, 0, 0, false, 1, 0, 100, 1, 0},
        {1e12, 1e9, 0, 0, 0, false, 1, 0, 100, 2, 0},
        {1e12, 0, 1e9, 0, 0, false, 1, 0, 100, 1.5, 0},
        {1e12, 1e9, 1e9, 0, 0, false, 1, 0, 100, 2.5, 0},
        {1e12, 1e9, 1e9, 0, 0, true, 1, 0, 100, 1.75, 0},
        {1e12, 1e9, 1e9, 1e9, 0, false, 1, 0, 100, 1.5, 0},
        {1e12, 1e9, 1e9, 5e8, 0, false, 1, 0, 100, 2, 0},
        {1e12, 1e9, 1e9, 7e9, 0, false, 1, 0, 100, 1.5, 0}, /* more resident than there is */
        {1e12, 1e9, 1e9, -7, 0, false, 1, 0, 100, 2.5, 0},
        {1e12, 1e9, 1e9, NAN, 0, false, 1, 0, 100, 2.5, 0},
        {1e12, 1e9, 1e9, 0, 5e8, false, 1, 0, 100, 2.5, 2},
        {1e12, 1e9, 1e9, 0, 1e9, false, 1, 0, 100, 2.5, 1.5},
        {1e12, 1e9, 1e9, 0, 9e9, false, 1, 0, 100, 2.5, 1.5},
        {1e12, 1e9, 1e9, 4e8, 9e9, false, 1, 0, 100, 2.1, 1.5}, /* repeated: of what is not resident */
        {1e12, 1e9, 1e9, 1e9, 1e9, false, 1, 0, 100, 1.5, 0},
        {1e12, 1e9, 1e9, 0, -1, false, 1, 0, 100, 2.5, 0},
        {1e12, 1e9, 1e9, 0, 0, false, 3, 0, 100, 1.5, 0}, /* overlap: 1 + (1 + 0.5) / 3 */
        {1e12, 1e9, 1e9, 0, 0, false, 0, 0, 100, 2.5, 0},
        {1e12, 1e9, 1e9, 0, 0, false, 1, 3, 100, 5.5, 0},
        {1e12, 1e9, 1e9, 0, 0, false, 1, -3, 100, 2.5, 0},
        {1e12, 1e9, 1e9, 0, 0, false, 1, NAN, 100, 2.5, 0},
        {1e12, 1e9, 1e9, 0, 0, false, 1, INFINITY, 100, INFINITY, 0},
        {0, 1e9, 1e9, 0, 0, false, 1, 0, 0, 1.5, 0},
        {-1, 0, 0, 0, 0, false, 1, 0, 0, 0, 0},
        {NAN, 0, 0, 0, 0, false, 1, 0, 0, 0, 0},
        {INFINITY, 0, 0, 0, 0, false, 1, 0, 0, INFINITY, 0},
        {1e12, NAN, 0, 0, 0, false, 1, 0, 100, 1, 0},
        {1e12, -1, 0, 0, 0, false, 1, 0, 100, 1, 0},
        {1e12, INFINITY, 0, 0, 0, false, 1, 0, 100, INFINITY, 0},
        {1e12, 0, INFINITY, 0, 0, false, 1, 0, 100, INFINITY, 0},
    };
    static struct ofl_learning nothing;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ofl_work work = simple_work(cases[i].flops, cases[i].in, cases[i].out);
        struct ofl_prediction out;
        work.bytes_resident = cases[i].resident;
        work.bytes_repeated = cases[i].repeated;
        work.pinned = cases[i].pinned;
        work.pieces = cases[i].pieces;
        ofl_predict(&work, simple_machine, &nothing, cases[i].wait, &out);
        assert_close(out.cpu, cases[i].cpu);
        assert_close(out.device, cases[i].device);
        assert_close(out.cpu_claim, cases[i].cpu);
        assert_close(out.saving, cases[i].cpu > cases[i].device ? cases[i].cpu - cases[i].device : 0);
        assert_close(out.residency_saving, cases[i].residency > 0 ? cases[i].cpu - cases[i].residency : 0);
        assert_case(i, !out.probe);
    }
}

static void test_corrections(void **state)
{
    (void)state;
    static struct ofl_learning learning;
    struct ofl_work work = simple_work(1e12, 1e9, 1e9);
    struct ofl_prediction out;
    atomic_store(&learning.learned[OFL_OP_gemm][OFL_D].factor[OFL_ON_CPU], 0.5);
    atomic_store(&learning.learned[OFL_OP_gemm][OFL_D].factor[OFL_ON_DEVICE], 3);
    ofl_predict(&work, simple_machine, &learning, 1, &out);
    assert_close(out.cpu, 50);
    assert_close(out.cpu_claim, 100);
    assert_close(out.device, 1 + 3 * 2.5); /* the wait is not corrected */
    assert_close(out.device_claim, 2.5);
    assert_close(out.wait, 1);
    assert_close(out.copy_in, 1);
    assert_close(out.compute, 1);
    assert_close(out.copy_out, 0.5);
    /* Others are not touched. */
    work.precision = OFL_S;
    ofl_predict(&work, simple_machine, &learning, 0, &out);
    assert_close(out.cpu, 100);
    work.precision = OFL_D;
    work.operation = OFL_OP_trsm;
    ofl_predict(&work, simple_machine, &learning, 0, &out);
    assert_close(out.device, 2.5);
}

/* What the machine does not know must not attract work. */
static void test_unknown(void **state)
{
    (void)state;
    static struct ofl_machine empty;
    static struct ofl_learning nothing;
    struct ofl_situation situation = ready_device();
    struct ofl_work work = simple_work(1e12, 1e9, 1e9);
    struct ofl_prediction out;
    ofl_predict(&work, &empty, &nothing, 0, &out);
    assert_true(out.cpu == 0 && out.device == INFINITY && out.saving == 0);
    assert_int_equal(ofl_decide(&work, &empty, &nothing, &situation, 10, &out), OFL_SLOWER);
    /* Only one side known. */
    static struct ofl_machine half;
    half = *simple_machine;
    memset(half.curve[OFL_ON_CPU], 0, sizeof half.curve[OFL_ON_CPU]);
    assert_int_equal(ofl_decide(&work, &half, &nothing, &situation, 10, &out), OFL_SLOWER);
    half = *simple_machine;
    memset(half.curve[OFL_ON_DEVICE], 0, sizeof half.curve[OFL_ON_DEVICE]);
    assert_int_equal(ofl_decide(&work, &half, &nothing, &situation, 10, &out), OFL_SLOWER);
    half = *simple_machine;
    half.copy[OFL_COPY_IN][OFL_PAGEABLE].rate = 0;
    assert_int_equal(ofl_decide(&work, &half, &nothing, &situation, 10, &out), OFL_SLOWER);
    /* Work that is in no table. */
    work.operation = OFL_OPERATION_COUNT;
    assert_int_equal(ofl_decide(&work, simple_machine, &nothing, &situation, 10, &out), OFL_SLOWER);
    work.operation = OFL_OP_gemm;
    work.precision = OFL_PRECISION_COUNT;
    assert_int_equal(ofl_decide(&work, simple_machine, &nothing, &situation, 10, &out), OFL_SLOWER);
}

/* No number that a broken profile could hold makes a time that is NaN or negative. */
static void test_absurd_machines(void **state)
{
    (void)state;
    static const double values[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-320, 1e308, 1e9};
    enum { VALUES = sizeof values / sizeof *values };
    static struct ofl_machine machine;
    static struct ofl_learning nothing;
    struct ofl_situation situation = ready_device();
    int cases = 0;
    for (int v = 0; v < VALUES; v++) {
        for (int w = 0; w < VALUES; w++) {
            for (int field = 0; field < 8; field++) {
                machine = *simple_machine;
                struct ofl_curve *cpu = &machine.curve[OFL_ON_CPU][OFL_OP_gemm][OFL_D];
                struct ofl_curve *device = &machine.curve[OFL_ON_DEVICE][OFL_OP_gemm][OFL_D];
                struct ofl_curve absurd = {.points = 2, .point = {{1e6, values[v]}, {values[w], 1e9}}};
                switch (field) {
                case 0:
                    *cpu = absurd;
                    break;
                case 1:
                    *device = absurd;
                    break;
                case 2:
                    device->surface[0] = values[v], device->surface[1] = values[w];
                    break;
                case 3:
                    machine.copy[OFL_COPY_IN][OFL_PAGEABLE] = (struct ofl_line){values[v], values[w]};
                    break;
                case 4:
                    machine.copy[OFL_COPY_OUT][OFL_PAGEABLE] = (struct ofl_line){values[v], values[w]};
                    break;
                case 6:
                    device->edge[0] = values[v], device->edge[1] = values[w];
                    cpu->edge[2] = values[v];
                    break;
                case 7:
                    device->flag[OFL_TRANSPOSED] = values[v], cpu->flag[OFL_TRANSPOSED] = values[w];
                    cpu->nears = device->nears = 1;
                    cpu->near[0].factor = device->near[0].extent[0] = (float)values[v];
                    break;
                default:
                    machine.start = values[v], machine.library[OFL_LIBRARY_BLAS] = values[w];
                }
                struct ofl_work work = simple_work(1e9, 1e6, 1e6);
                work.extent[2] *= 100;
                work.transa = 'T';
                struct ofl_prediction out;
                situation.state = field == 5 ? OFL_NOT_STARTED : OFL_OK;
                situation.library_loaded[OFL_LIBRARY_BLAS] = field != 5;
                enum ofl_reason reason = ofl_decide(&work, &machine, &nothing, &situation, 5, &out);
                assert_case(cases, out.cpu >= 0 && isfinite(out.cpu) && out.device >= 0);
                assert_case(cases, out.saving >= 0);
                assert_case(cases, reason == OFL_OK || reason == OFL_SLOWER || reason == OFL_NOT_STARTED);
                cases++;
            }
        }
    }
    assert_int_equal(cases, 8 * VALUES * VALUES);
}

/* A driver takes as long as its parts; by its own curve where a part has none. */
static void test_parts(void **state)
{
    (void)state;
    static struct ofl_machine machine;
    static const struct ofl_learning nothing;
    static const double speed[] = {1e9, 4e9, 3e9}; /* of getrf, getrs, gesv */
    static const enum ofl_operation operations[] = {OFL_OP_getrf, OFL_OP_getrs, OFL_OP_gesv};
    struct ofl_call call = {.operation = OFL_OP_gesv, .precision = OFL_D, .n = 300, .nrhs = 100};
    struct ofl_work work;
    struct ofl_prediction out;
    for (int i = 0; i < 3; i++) {
        struct ofl_curve *curve = &machine.curve[OFL_ON_CPU][operations[i]][OFL_D];
        *curve = (struct ofl_curve){.points = 1, .point = {{1e6, speed[i]}}};
    }
    ofl_work_from_call(&call, &work);
    ofl_predict(&work, &machine, &nothing, 0, &out);
    assert_close(out.cpu, 18e6 / 1e9 + 18e6 / 4e9);
    machine.curve[OFL_ON_CPU][OFL_OP_getrs][OFL_D].points = 0;
    ofl_predict(&work, &machine, &nothing, 0, &out);
    assert_close(out.cpu, 36e6 / 3e9);
}

const struct CMUnitTest predict_tests[] = {
    cmocka_unit_test(test_pipeline),        cmocka_unit_test(test_first_piece), cmocka_unit_test(test_staging),
    cmocka_unit_test(test_terms),           cmocka_unit_test(test_corrections), cmocka_unit_test(test_unknown),
    cmocka_unit_test(test_absurd_machines), cmocka_unit_test(test_parts),
};
const size_t predict_test_count = sizeof predict_tests / sizeof *predict_tests;
