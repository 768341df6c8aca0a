/* The kernel form: what the validator refuses, and what the printer makes of each node. */
#include "fortran/kernel_form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct ofl_arena *arena;
static struct ofl_k_function function;

static int set_up(void **state)
{
    (void)state;
    arena = ofl_arena_new();
    memset(&function, 0, sizeof function);
    function.name = "f";
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ofl_arena_free(arena);
    return 0;
}

static struct ofl_k_var *variable(const char *name, enum ofl_k_type type, int64_t bytes)
{
    struct ofl_k_var *var = OFL_NEW(arena, struct ofl_k_var);
    *var = (struct ofl_k_var){.name = name, .type = type, .bytes = bytes};
    if (function.last_variable == NULL) {
        function.variables = var;
    } else {
        function.last_variable->next = var;
    }
    function.last_variable = var;
    return var;
}

static struct ofl_k_stmt *add(enum ofl_k_stmt_kind kind)
{
    return ofl_k_add(arena, &function.body, kind);
}

static void set(struct ofl_k_var *var, struct ofl_k_expr *value)
{
    struct ofl_k_stmt *stmt = add(OFL_K_SET);
    stmt->var = var;
    stmt->value = value;
}

static struct ofl_k_expr *i4(int64_t value)
{
    return ofl_k_integer(arena, OFL_K_I4, value);
}

static void assert_valid(void)
{
    const char *why = NULL;
    bool valid = ofl_k_validate(&function, arena, &why);
    assert_null(why);
    assert_true(valid);
}

static void assert_refused(const char *reason)
{
    const char *why = NULL;
    assert_false(ofl_k_validate(&function, arena, &why));
    assert_non_null(why);
    if (strstr(why, reason) == NULL) {
        fail_msg("'%s' is not in '%s'", reason, why);
    }
}

static void assert_text(const struct ofl_k_expr *expr, const char *text)
{
    assert_string_equal(ofl_k_expr_text(expr, arena), text);
}

/* ---- The validator ---- */

static void test_operands_of_two_types(void **state)
{
    (void)state;
    set(variable("x", OFL_K_R8, 0), ofl_k_binary(arena, OFL_K_ADD, ofl_k_real(arena, OFL_K_R8, 1), i4(1)));
    assert_refused("the types of ADD do not fit");
}

static void test_value_of_another_type(void **state)
{
    (void)state;
    set(variable("x", OFL_K_R8, 0), i4(1));
    assert_refused("double is expected");
}

static void test_foreign_variable(void **state)
{
    (void)state;
    struct ofl_k_var other = {.name = "other", .type = OFL_K_I4};
    set(variable("x", OFL_K_I4, 0), ofl_k_var_value(arena, &other));
    assert_refused("'other' is not a variable of this function");
}

static void test_set_what_cannot_be_set(void **state)
{
    (void)state;
    struct ofl_k_var global = {.name = "n", .type = OFL_K_I4, .storage = OFL_K_GLOBAL};
    set(&global, i4(1));
    assert_refused("'n' cannot be set");
}

static void test_set_memory(void **state)
{
    (void)state;
    set(variable("w", OFL_K_I4, 16), i4(1));
    assert_refused("'w' cannot be set");
}

static void test_leave_nothing(void **state)
{
    (void)state;
    struct ofl_k_stmt *loop = add(OFL_K_LOOP);
    add(OFL_K_BREAK)->loop = loop; /* behind the loop, not in it */
    assert_refused("leaves what is not around it");
}

static void test_go_on_with_a_block(void **state)
{
    (void)state;
    struct ofl_k_stmt *block = add(OFL_K_BLOCK);
    ofl_k_add(arena, &block->body, OFL_K_NEXT)->loop = block;
    assert_refused("leaves what is not around it");
}

static void test_label_missing(void **state)
{
    (void)state;
    add(OFL_K_GOTO)->number = 10;
    assert_refused("label 10 is missing");
}

static void test_condition_is_a_number(void **state)
{
    (void)state;
    add(OFL_K_IF)->value = i4(1);
    assert_refused("bool is expected");
}

static void test_step_does_more(void **state)
{
    (void)state;
    struct ofl_k_stmt *loop = add(OFL_K_LOOP);
    ofl_k_add(arena, &loop->step, OFL_K_EXIT);
    assert_refused("a loop's step does more");
}

static void test_arguments(void **state)
{
    (void)state;
    struct ofl_k_var parameter = {.name = "a", .type = OFL_K_R4, .storage = OFL_K_PARAMETER};
    struct ofl_k_function callee = {.name = "g", .parameters = &parameter, .result = OFL_K_VOID};
    struct ofl_k_expr *call = ofl_k_call(arena, &callee);
    add(OFL_K_DO)->value = call;
    assert_refused("a call of g lacks 'a'");
    ofl_k_add_arg(arena, call, i4(3));
    assert_refused("an argument of g has the wrong type");
}

static void test_result(void **state)
{
    (void)state;
    function.result = OFL_K_I8;
    add(OFL_K_RETURN)->value = i4(1);
    assert_refused("long long is expected");
}

static void test_shift(void **state)
{
    (void)state;
    struct ofl_k_expr *one = ofl_k_integer(arena, OFL_K_I8, 1);
    set(variable("x", OFL_K_I8, 0),
        ofl_k_binary(arena, OFL_K_SHL, ofl_k_var_value(arena, variable("y", OFL_K_I8, 0)), one));
    assert_refused("the types of SHL do not fit");
}

static void test_order_of_complex(void **state)
{
    (void)state;
    struct ofl_k_var *z = variable("z", OFL_K_C4, 0);
    struct ofl_k_expr *value = ofl_k_var_value(arena, z);
    set(variable("b", OFL_K_BOOL, 0), ofl_k_binary(arena, OFL_K_LT, value, value));
    assert_refused("the types of LT do not fit");
}

static void test_valid(void **state)
{
    (void)state;
    struct ofl_k_var *i = variable("i", OFL_K_I4, 0), *w = variable("w", OFL_K_I4, 40);
    set(i, i4(0));
    struct ofl_k_stmt *loop = add(OFL_K_LOOP);
    loop->value = ofl_k_binary(arena, OFL_K_LT, ofl_k_var_value(arena, i), i4(10));
    struct ofl_k_stmt *step = ofl_k_add(arena, &loop->step, OFL_K_SET);
    step->var = i;
    step->value = ofl_k_binary(arena, OFL_K_ADD, ofl_k_var_value(arena, i), i4(1));
    struct ofl_k_stmt *store = ofl_k_add(arena, &loop->body, OFL_K_STORE);
    store->address =
        ofl_k_offset(arena, ofl_k_address_of(arena, w),
                     ofl_k_binary(arena, OFL_K_MUL, ofl_k_convert(arena, OFL_K_I8, ofl_k_var_value(arena, i)),
                                  ofl_k_integer(arena, OFL_K_I8, 4)));
    store->value = ofl_k_var_value(arena, i);
    ofl_k_add(arena, &loop->body, OFL_K_BREAK)->loop = loop;
    assert_valid();
    struct ofl_text text = {.arena = arena};
    ofl_k_print(&function, "r", &text);
    assert_string_equal(text.bytes, "__device__ void f(struct r *ofl)\n"
                                    "{\n"
                                    "    int i;\n"
                                    "    int w[10];\n"
                                    "    i = 0;\n"
                                    "    for (; i < 10; i = i + 1) {\n"
                                    "        *(int *) (((char *) w) + (((long long) i) * 4LL)) = i;\n"
                                    "        break;\n"
                                    "    }\n"
                                    "}\n");
}

/* ---- The printer ---- */

static void test_numbers(void **state)
{
    (void)state;
    assert_text(ofl_k_integer(arena, OFL_K_I4, INT32_MIN), "(-2147483647 - 1)");
    assert_text(ofl_k_integer(arena, OFL_K_I8, INT64_MIN), "(-9223372036854775807LL - 1)");
    assert_text(ofl_k_integer(arena, OFL_K_I1, -3), "((signed char) -3)");
    assert_text(ofl_k_integer(arena, OFL_K_BOOL, 1), "true");
    assert_text(ofl_k_real(arena, OFL_K_R8, 0.1), "0.1");
    assert_text(ofl_k_real(arena, OFL_K_R4, (double)0.1f), "0.1f");
    assert_text(ofl_k_real(arena, OFL_K_R8, -0.0), "(-0.0)");
    assert_text(ofl_k_real(arena, OFL_K_R8, 1e300), "1e+300");
    assert_text(ofl_k_real(arena, OFL_K_R8, 1.0 / 3), "0.3333333333333333");
}

static void test_operations(void **state)
{
    (void)state;
    struct ofl_k_var a = {.name = "a", .type = OFL_K_I1}, z = {.name = "z", .type = OFL_K_C8};
    struct ofl_k_expr *x = ofl_k_var_value(arena, &a), *w = ofl_k_var_value(arena, &z);
    assert_text(ofl_k_binary(arena, OFL_K_ADD, x, x), "((signed char) (a + a))");
    assert_text(ofl_k_binary(arena, OFL_K_MUL, w, w), "ofl_mul_c8(z, z)");
    assert_text(ofl_k_unary(arena, OFL_K_RE, w), "(z).re");
    assert_text(ofl_k_convert(arena, OFL_K_BOOL, x), "(a != 0)");
}

/* Address arithmetic on constants is done here, so that what is printed can be read. */
static void test_folding(void **state)
{
    (void)state;
    struct ofl_k_var p = {.name = "p", .type = OFL_K_ADDRESS}, n = {.name = "n", .type = OFL_K_I8};
    struct ofl_k_expr *three = ofl_k_integer(arena, OFL_K_I8, 3), *zero = ofl_k_integer(arena, OFL_K_I8, 0);
    struct ofl_k_expr *address = ofl_k_var_value(arena, &p), *x = ofl_k_var_value(arena, &n);
    assert_text(ofl_k_binary(arena, OFL_K_MUL, three, three), "9LL");
    assert_text(ofl_k_binary(arena, OFL_K_ADD, zero, x), "n");
    assert_text(ofl_k_offset(arena, address, zero), "p");
    assert_text(ofl_k_offset(arena, ofl_k_offset(arena, address, x), three), "(p + (n + 3LL))");
}

/* A loop that is left from inside another one gets a label; a comment does not go on in the next line. */
static void test_labels_and_comments(void **state)
{
    (void)state;
    struct ofl_k_stmt *outer = add(OFL_K_LOOP);
    struct ofl_k_stmt *inner = ofl_k_add(arena, &outer->body, OFL_K_LOOP);
    outer->number = 1;
    inner->number = 2;
    ofl_k_add(arena, &inner->body, OFL_K_NEXT)->loop = outer;
    ofl_k_add(arena, &inner->body, OFL_K_BREAK)->loop = outer;
    add(OFL_K_COMMENT)->text = "s = 'a\\";
    assert_valid();
    struct ofl_text text = {.arena = arena};
    ofl_k_print(&function, "r", &text);
    assert_string_equal(text.bytes, "__device__ void f(struct r *ofl)\n"
                                    "{\n"
                                    "    for (; ;) {\n"
                                    "        for (; ;) {\n"
                                    "            goto ofl_next_1;\n"
                                    "            goto ofl_end_1;\n"
                                    "        }\n"
                                    "    ofl_next_1:;\n"
                                    "    }\n"
                                    "    ofl_end_1:;\n"
                                    "    // s = 'a\\.\n"
                                    "}\n");
}

/* Only what a source calls is in its support functions. */
static void test_support(void **state)
{
    (void)state;
    struct ofl_text plain = {.arena = arena}, power = {.arena = arena};
    ofl_k_print_support("x = y;", &plain);
    assert_null(strstr(plain.bytes, "ofl_modulo_"));
    ofl_k_print_support("x = ofl_power_r8_7(y);", &power);
    assert_non_null(strstr(power.bytes, "double ofl_power_r8_7(double x1) { const double x2 = x1 * x1; "
                                        "const double x4 = x2 * x2; const double x3 = x1 * x2; "
                                        "const double x7 = x3 * x4; return x7; }"));
    assert_null(strstr(power.bytes, "ofl_power_r8_8("));
    assert_null(strstr(power.bytes, "ofl_power_r4_int"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_operands_of_two_types),
        TEST(test_value_of_another_type),
        TEST(test_foreign_variable),
        TEST(test_set_what_cannot_be_set),
        TEST(test_set_memory),
        TEST(test_leave_nothing),
        TEST(test_go_on_with_a_block),
        TEST(test_label_missing),
        TEST(test_condition_is_a_number),
        TEST(test_step_does_more),
        TEST(test_arguments),
        TEST(test_result),
        TEST(test_shift),
        TEST(test_order_of_complex),
        TEST(test_valid),
        TEST(test_numbers),
        TEST(test_operations),
        TEST(test_folding),
        TEST(test_labels_and_comments),
        TEST(test_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
