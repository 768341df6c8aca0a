/* The core library: loading, starting, fork, exit, and running calls. */
#include "tests.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_overlap_extremes),
        cmocka_unit_test(test_loader),
        cmocka_unit_test(test_start_once),
        cmocka_unit_test(test_exit),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_while_starting),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_calls_at_once),
        cmocka_unit_test(test_small_stacks),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_outlook),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_copy_times),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_residency),
        cmocka_unit_test(test_helpers),
        cmocka_unit_test(test_fork_during_calls),
        cmocka_unit_test(test_without_locked_memory),
        cmocka_unit_test(test_verify_lu),
        cmocka_unit_test(test_verify_cholesky),
        cmocka_unit_test(test_pivots),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_sights),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_sight_of_right_side),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
