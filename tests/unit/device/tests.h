/* What the files of this test share. */
#ifndef OFL_TESTS_UNIT_DEVICE_H
#define OFL_TESTS_UNIT_DEVICE_H
#include "device/device.h"

#include "../backends/backend.h"

void test_overlap(void **state);
void test_overlap_extremes(void **state);
void test_loader(void **state);
void test_start_once(void **state);
void test_exit(void **state);
void test_fork(void **state);
void test_fork_while_starting(void **state);
void test_descriptors(void **state);
void test_calls_at_once(void **state);
void test_small_stacks(void **state);
void test_refusals(void **state);
void test_outlook(void **state);
void test_needs(void **state);
void test_copy_times(void **state);
void test_memory(void **state);
void test_signals(void **state);
void test_cancelled(void **state);
void test_pieces(void **state);
void test_selections(void **state);
void test_residency(void **state);
void test_helpers(void **state);
void test_fork_during_calls(void **state);
void test_without_locked_memory(void **state);
void test_verify_lu(void **state);
void test_verify_cholesky(void **state);
void test_pivots(void **state);
void test_inputs(void **state);
void test_sights(void **state);
void test_host_memory(void **state);
void test_sight_of_right_side(void **state);
#endif
