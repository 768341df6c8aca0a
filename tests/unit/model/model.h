/* What the tests of the model share: a simple machine whose times can be told in one's head. */
#ifndef TESTS_MODEL_H
#define TESTS_MODEL_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/decide.h"
#include "model/estimate.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* CPU 1e10 flops a second, device 1e12, whatever the operation, precision and shape; copies 1e9 bytes a second in,
 * 2e9 out, twice that from pinned memory, without fixed cost; starting 1 s, each library 0.25 s. */
extern const struct ofl_machine *simple_machine;

/* A dgemm of `flops` that moves the bytes; its extents are a cube's. */
struct ofl_work simple_work(double flops, double in, double out);

/* A started, idle, empty device. */
struct ofl_situation ready_device(void);

/* Equal to a relative 1e-12; infinities equal themselves. */
#define assert_close(a, b)                                                                                             \
    do {                                                                                                               \
        double x_ = (a), y_ = (b);                                                                                     \
        if (!(x_ == y_ || fabs(x_ - y_) <= 1e-12 * (fabs(x_) + fabs(y_)))) {                                           \
            print_error("%s = %.17g, expected %.17g\n", #a, x_, y_);                                                   \
            fail();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* The case of a table that failed. */
#define assert_case(number, condition)                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            print_error("case %d: not so: %s\n", (int)(number), #condition);                                           \
            fail();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* Deterministic random numbers in [0, 1). */
double random_number(uint64_t *seed);

extern const struct CMUnitTest work_tests[], curve_tests[], predict_tests[], decide_tests[], learning_tests[],
    profile_tests[], fit_tests[], simulation_tests[], mix_tests[];
extern const size_t work_test_count, curve_test_count, predict_test_count, decide_test_count, learning_test_count,
    profile_test_count, fit_test_count, simulation_test_count, mix_test_count;
#endif
