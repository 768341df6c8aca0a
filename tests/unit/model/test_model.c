/* Tests of src/model: all groups, and the simple machine. */
#include "model.h"

static struct ofl_machine machine;
const struct ofl_machine *simple_machine = &machine;

static void make_simple_machine(void)
{
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            machine.curve[OFL_ON_CPU][operation][p] = (struct ofl_curve){.points = 1, .point = {{1e9, 1e10}}};
            machine.curve[OFL_ON_DEVICE][operation][p] = (struct ofl_curve){.points = 1, .point = {{1e9, 1e12}}};
        }
    }
    machine.copy[OFL_COPY_IN][OFL_PAGEABLE] = (struct ofl_line){0, 1e9};
    machine.copy[OFL_COPY_OUT][OFL_PAGEABLE] = (struct ofl_line){0, 2e9};
    machine.copy[OFL_COPY_IN][OFL_PINNED] = (struct ofl_line){0, 2e9};
    machine.copy[OFL_COPY_OUT][OFL_PINNED] = (struct ofl_line){0, 4e9};
    machine.start = 1;
    machine.library[OFL_LIBRARY_BLAS] = machine.library[OFL_LIBRARY_SOLVER] = 0.25;
}

struct ofl_work simple_work(double flops, double in, double out)
{
    double side = cbrt(flops / 2);
    return (struct ofl_work){.operation = OFL_OP_gemm,
                             .precision = OFL_D,
                             .extent = {side, side, side},
                             .flops = flops,
                             .bytes_in = in,
                             .bytes_out = out,
                             .device_bytes = in + out,
                             .pieces = 1};
}

struct ofl_situation ready_device(void)
{
    struct ofl_situation situation = {.state = OFL_OK, .utilisation = -1};
    for (int i = 0; i < OFL_LIBRARY_COUNT; i++) {
        situation.library_loaded[i] = true;
    }
    return situation;
}

double random_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

int main(void)
{
    const struct {
        const char *name;
        const struct CMUnitTest *tests;
        size_t count;
    } groups[] = {
        {"work", work_tests, work_test_count},
        {"curves", curve_tests, curve_test_count},
        {"predict", predict_tests, predict_test_count},
        {"decide", decide_tests, decide_test_count},
        {"learning", learning_tests, learning_test_count},
        {"profile", profile_tests, profile_test_count},
        {"fit", fit_tests, fit_test_count},
        {"simulation", simulation_tests, simulation_test_count},
        {"mixes", mix_tests, mix_test_count},
    };
    int failed = 0;
    make_simple_machine();
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        failed += _cmocka_run_group_tests(groups[i].name, groups[i].tests, groups[i].count, NULL, NULL);
    }
    return failed != 0;
}
