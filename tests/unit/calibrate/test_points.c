/* Which calls a calibration makes: every one is valid, and together they show what the model has to know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/calibrate/points.h"

#include <string.h>

static const struct {
    const char *name, *precisions;
} operations[] = {
#define OFL_OPERATION(name, precisions, ...) {#name, precisions},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

#define assert_call(call, condition)                                                                                   \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            print_error("%c%s m %d n %d k %d nrhs %d side %c: not so: %s\n", (call)->letter,                           \
                        operations[(call)->operation].name, (call)->m, (call)->n, (call)->k, (call)->nrhs,             \
                        (call)->side, #condition);                                                                     \
            fail();                                                                                                    \
        }                                                                                                              \
    } while (0)

/* What the routine would refuse, and what is no point. */
static void check_valid(const struct ofl_calibration_call *call)
{
    const enum ofl_operation operation = call->operation;
    assert_call(call, (call->m > 0) == ofl_operation_takes(operation, "m"));
    assert_call(call, (call->n > 0) == ofl_operation_takes(operation, "n"));
    assert_call(call, (call->k > 0) == ofl_operation_takes(operation, "k"));
    assert_call(call, (call->nrhs > 0) == ofl_operation_takes(operation, "nrhs"));
    assert_call(call, strchr("LR", call->side) != NULL && strchr("UL", call->uplo) != NULL);
    if (ofl_operation_takes(operation, "tau") && call->k > 0) { /* as many reflectors as they have elements */
        bool applied = ofl_operation_takes(operation, "side");
        int most = !applied || call->side == 'R' ? call->n : call->m;
        assert_call(call, call->k <= most && (applied || call->n <= call->m));
    }
    bool complex = call->letter == 'c' || call->letter == 'z';
    bool conjugated = strcmp(operations[operation].name, "herk") == 0 ||
                      strcmp(operations[operation].name, "her2k") == 0 ||
                      strcmp(operations[operation].name, "unmqr") == 0;
    bool gels = strcmp(operations[operation].name, "gels") == 0;
    if (call->trans != 'N') {
        assert_call(call, call->trans == (conjugated || (gels && complex) ? 'C' : 'T'));
    }
    for (const char *word = "ABC"; *word != '\0'; word++) {
        int rows, columns;
        ofl_calibration_operand(call, word, 1, &rows, &columns);
        assert_call(call, rows >= 0 && columns >= 0 && (rows > 0) == (columns > 0));
    }
}

static int flags_of(const struct ofl_calibration_call *call)
{
    return (call->side == 'R') + (call->uplo == 'L') + (call->trans != 'N') + (call->transb != 'N');
}

static bool same_sizes(const struct ofl_calibration_call *a, const struct ofl_calibration_call *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->nrhs == b->nrhs;
}

static void check_cell(enum ofl_operation operation, char letter, int order,
                       const struct ofl_calibration_choice *choice)
{
    struct ofl_calibration_call calls[OFL_CALIBRATION_CALLS];
    int count = ofl_calibration_calls(operation, letter, order, choice, calls), flagged = 0;
    assert_in_range(count, 1, OFL_CALIBRATION_CALLS);
    assert_call(&calls[0], flags_of(&calls[0]) == 0);
    for (int i = 0; i < count; i++) {
        check_valid(&calls[i]);
        bool cube = same_sizes(&calls[i], &calls[0]);
        assert_call(&calls[i], flags_of(&calls[i]) <= 1); /* one at a time: each is to be known by itself */
        assert_call(&calls[i], choice->flags || !cube || i == 0);
        assert_call(&calls[i], choice->turn > 0 || cube);
        flagged += cube && i > 0;
    }
    int possible = ofl_operation_takes(operation, "side") + ofl_operation_takes(operation, "uplo") +
                   (ofl_operation_takes(operation, "trans") || ofl_operation_takes(operation, "transa")) +
                   ofl_operation_takes(operation, "transb");
    assert_call(&calls[0], flagged == (choice->flags ? possible : 0));
}

static void test_cells(void **state)
{
    (void)state;
    static const int orders[] = {48, 68, 384, 2176, 12288};
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (const char *letter = operations[operation].precisions; *letter != '\0'; letter++) {
            for (size_t i = 0; ofl_operation_offloaded((enum ofl_operation)operation) && i < 5 * 12; i++) {
                const struct ofl_calibration_choice choice = {(int)(i % 3), i / 3 % 2 == 1, i / 6 % 2 == 1};
                check_cell((enum ofl_operation)operation, *letter, orders[i / 12], &choice);
            }
        }
    }
}

/* Both turns together have shapes on both sides of the cube, none twice. */
static void test_turns(void **state)
{
    (void)state;
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        struct ofl_calibration_call calls[2 * OFL_CALIBRATION_CALLS];
        const char letter = operations[operation].precisions[0];
        if (!ofl_operation_offloaded((enum ofl_operation)operation)) {
            continue;
        }
        int count = 0;
        for (int turn = 1; turn <= 2; turn++) {
            const struct ofl_calibration_choice choice = {turn, false, false};
            int first = count;
            count += ofl_calibration_calls((enum ofl_operation)operation, letter, 1088, &choice, calls + count);
            for (int i = first + 1; i < count; i++) {
                for (int j = 0; j < i; j++) {
                    assert_call(&calls[i], !same_sizes(&calls[i], &calls[j]));
                }
            }
        }
        int sizes = (calls[0].m > 0) + (calls[0].n > 0) + (calls[0].k > 0) + (calls[0].nrhs > 0);
        assert_call(&calls[0], count >= (sizes > 1 ? 6 : 2));
    }
}

static void test_random(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int round = 0; round < 2000; round++) {
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            if (ofl_operation_offloaded((enum ofl_operation)operation)) {
                const char *letters = operations[operation].precisions;
                struct ofl_calibration_call call =
                    ofl_calibration_random((enum ofl_operation)operation, letters[round % strlen(letters)], 5, &seed);
                check_valid(&call);
                assert_call(&call, call.m <= 64 << 5 && call.n <= 64 << 5 && call.n > 0);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
