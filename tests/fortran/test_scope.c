/* Scopes: what names mean, and the values of constant expressions. */
#include "reading.h"

static struct reading reading;

static void parse(const char *text)
{
    reading_start(&reading, OFL_FORM_FREE);
    reading_parse(&reading, text, strlen(text));
    char *messages = reading_messages(&reading);
    assert_string_equal(messages, "");
    free(messages);
    ofl_scopes_build(reading.file, &reading.modules, &reading.diagnostics);
}

static const struct ofl_name *name_of(const char *text)
{
    return ofl_name_of(reading.arena, text, strlen(text));
}

static struct ofl_unit *unit_named(struct ofl_unit *units, const char *text)
{
    for (; units != NULL; units = units->next) {
        if (units->name.name == name_of(text)) {
            return units;
        }
        struct ofl_unit *inner = unit_named(units->units, text);
        if (inner != NULL) {
            return inner;
        }
    }
    return NULL;
}

/* "class storage type(kind) rank" of a symbol. */
static const char *describe(const struct ofl_symbol *symbol)
{
    static char text[200];
    static const char *const classes[] = {"variable", "constant", "function", "subroutine", "procedure", "generic",
                                          "type",     "module",   "namelist", "associate",  "index"};
    static const char *const storages[] = {"local", "dummy", "result", "module", "common", "component", "-"};
    static const char *const types[] = {"integer",    "real",      "double", "complex", "double-complex",
                                        "logical",    "character", "byte",   "type",    "class",
                                        "class-star", "assumed",   "record"};
    if (symbol == NULL) {
        return "none";
    }
    int length = snprintf(text, sizeof text, "%s %s", classes[symbol->class], storages[symbol->storage]);
    if (symbol->typed) {
        length += snprintf(text + length, sizeof text - (size_t)length, " %s(%d)", types[symbol->type.kind_of],
                           symbol->type.kind);
    }
    if (symbol->rank > 0) {
        snprintf(text + length, sizeof text - (size_t)length, " rank %u", symbol->rank);
    }
    return text;
}

static void check(const char *unit, const char *name, const char *expected)
{
    struct ofl_unit *found = unit_named(reading.file->units, unit);
    assert_non_null(found);
    assert_string_equal(describe(ofl_scope_find(found->scope, name_of(name))), expected);
}

static void test_declarations(void **state)
{
    (void)state;
    parse("module m\n"
          "use iso_fortran_env, only: wp => real64\n"
          "implicit none\n"
          "integer, parameter :: k = selected_real_kind(15), n = 2*3 + mod(7, 4)\n"
          "real(wp), allocatable :: a(:, :)\n"
          "real(k) b\n"
          "complex*16, dimension(3) :: z, w(2, 2)\n"
          "type t\n integer(1) i\n real :: r(n)\n end type\n"
          "type, extends(t) :: u\n logical(2) l\n end type\n"
          "contains\n"
          "function f(x, y) result(r)\n"
          " integer(8), intent(in) :: x(0:*)\n double precision y\n type(u) :: r\n character(5) c\n"
          "end function\n"
          "subroutine s\n real :: a\n end subroutine\n"
          "end module\n"
          "subroutine e(p)\n use m, q => b\n real c(4)\n common /blk/ c, d\n external g\n integer h\n external h\n"
          " pointer p\n i = 1\nend subroutine\n");
    check("m", "a", "variable module real(8) rank 2");
    check("m", "b", "variable module real(8)");
    check("m", "z", "variable module complex(8) rank 1");
    check("m", "w", "variable module complex(8) rank 2");
    check("m", "k", "constant - integer(4)");
    check("m", "t", "type -");
    check("m", "f", "function - type(0)");
    check("f", "x", "variable dummy integer(8) rank 1");
    check("f", "y", "variable dummy real(8)");
    check("f", "r", "variable result type(0)");
    check("f", "c", "variable local character(1)");
    check("f", "a", "variable module real(8) rank 2");
    check("s", "a", "variable local real(4)");
    check("e", "q", "variable module real(8)");
    check("e", "b", "none");
    check("e", "a", "variable module real(8) rank 2");
    check("e", "c", "variable common real(4) rank 1");
    check("e", "d", "variable common real(4)");
    check("e", "g", "procedure local");
    check("e", "h", "function local integer(4)");
    check("e", "p", "variable dummy real(4)");
    struct ofl_unit *unit = unit_named(reading.file->units, "m");
    struct ofl_symbol *type = ofl_scope_find(unit->scope, name_of("u"));
    assert_string_equal(describe(ofl_component_find(type, name_of("l"))), "variable component logical(2)");
    assert_string_equal(describe(ofl_component_find(type, name_of("r"))), "variable component real(4) rank 1");
    assert_null(ofl_component_find(type, name_of("x")));
    reading_end(&reading);
}

static void test_implicit(void **state)
{
    (void)state;
    parse("subroutine s(x, i)\nimplicit real(8) (a-h, x), integer(2) (q)\nq = x\ncontains\nsubroutine t(y)\n"
          "implicit integer (y)\nend subroutine\nend\n"
          "subroutine n(v)\nimplicit none\nreal v\nend\n");
    check("s", "x", "variable dummy real(8)");
    check("s", "i", "variable dummy integer(4)");
    check("t", "y", "variable dummy integer(4)");
    struct ofl_unit *unit = unit_named(reading.file->units, "s");
    struct ofl_ident ident = {name_of("q"), {1, 2}};
    assert_string_equal(describe(ofl_scope_find_or_implicit(&reading.modules, unit->scope, &ident)),
                        "variable local integer(2)");
    ident.name = name_of("zz");
    assert_string_equal(describe(ofl_scope_find_or_implicit(&reading.modules, unit->scope, &ident)),
                        "variable local real(4)");
    unit = unit_named(reading.file->units, "n");
    assert_null(ofl_scope_find_or_implicit(&reading.modules, unit->scope, &ident));
    reading_end(&reading);
}

static void test_modules(void **state)
{
    (void)state;
    parse("module a\nprivate\ninteger, public :: seen\ninteger :: hidden\nreal, public :: x\nend module\n"
          "module b\nuse a, only: seen, y => x\npublic\nend module\n"
          "subroutine s\nuse b\nuse unknown, only: z\nend\nsubroutine o\nuse unknown\nend\n"
          "subroutine c\nuse, intrinsic :: iso_c_binding\nreal(c_double) :: d\ninteger(c_int8_t) :: i\nend\n");
    check("s", "seen", "variable module integer(4)");
    check("s", "y", "variable module real(4)");
    check("s", "x", "none");
    check("s", "hidden", "none");
    check("c", "d", "variable local real(8)");
    check("c", "i", "variable local integer(1)");
    assert_true(unit_named(reading.file->units, "o")->scope->open);
    struct ofl_ident ident = {name_of("what"), {1, 2}};
    assert_null(ofl_scope_find_or_implicit(&reading.modules, unit_named(reading.file->units, "o")->scope, &ident));
    reading_end(&reading);
}

static void test_constructs(void **state)
{
    (void)state;
    parse("subroutine s(n)\ninteger n\nreal x(3)\ninteger(2) i\nblock\ninteger(8) :: x\nx = 1\nend block\n"
          "associate (y => x)\ny = 1\nend associate\ndo concurrent (i = 1:n)\nx(i) = i\nend do\n"
          "do concurrent (integer(8) :: i = 1:n)\nx(i) = i\nend do\nend\n");
    struct ofl_unit *unit = unit_named(reading.file->units, "s");
    static const struct {
        enum ofl_stmt_kind kind;
        const char *name, *expected;
    } rows[] = {
        {OFL_STMT_BLOCK, "x", "variable local integer(8)"},
        {OFL_STMT_ASSOCIATE, "y", "associate local real(4) rank 1"},
        {OFL_STMT_DO, "i", "index local integer(2)"},
        {OFL_STMT_DO, "i", "index local integer(8)"},
    };
    const struct ofl_stmt *stmt = unit->body.first;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++, stmt = stmt->next) {
        while (stmt->kind != rows[i].kind) {
            stmt = stmt->next;
        }
        const struct ofl_stmt *inner = stmt->kind == OFL_STMT_DO ? stmt->as.loop.body.first : stmt->as.block.body.last;
        struct ofl_scope *scope = ofl_scope_of(inner, unit);
        assert_string_equal(describe(ofl_scope_find(scope, name_of(rows[i].name))), rows[i].expected);
    }
    reading_end(&reading);
}

static void test_statement_functions(void **state)
{
    (void)state;
    parse("subroutine s\nreal a(3), f, x\nf(x) = x + 1\na(1) = 2\nf(x) = 3\nend\n");
    const struct ofl_stmt *stmt = reading.file->units->body.first->next;
    assert_int_equal(stmt->kind, OFL_STMT_STATEMENT_FUNCTION);
    assert_int_equal(stmt->next->kind, OFL_STMT_ASSIGN);
    assert_int_equal(stmt->next->next->kind, OFL_STMT_ASSIGN);
    reading_end(&reading);
}

static void test_constants(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"1 + 2*3", 7},
        {"2**10", 1024},
        {"-7/2", -3},
        {"(4)", 4},
        {"kind(1.0d0)", 8},
        {"kind(1_2)", 2},
        {"kind((1.0, 2.0d0))", 8},
        {"kind(.true.)", 4},
        {"selected_int_kind(18)", 8},
        {"selected_real_kind(15, 307)", 8},
        {"selected_real_kind(p=6)", 4},
        {"max(3, 9, 4)", 9},
        {"min(3, 9, 4)", 3},
        {"modulo(-7, 3)", 2},
        {"mod(-7, 3)", -1},
        {"huge(1_8)", INT64_MAX},
        {"bit_size(1)", 32},
        {"iand(12, 10) + ior(1, 2)", 11},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "x = %s\nend\n", rows[i].text);
        parse(text);
        struct ofl_unit *unit = reading.file->units;
        int64_t value = 0;
        assert_true(ofl_constant_integer(&reading.modules, unit->scope, unit->body.first->as.assign.value, &value));
        assert_int_equal(value, rows[i].value);
        reading_end(&reading);
    }
    static const char *const unknown[] = {"1/0", "n", "1.5", "9223372036854775807 + 1", "f(1)", "10**30", "a"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "integer, parameter :: a = b, b = a\nx = %s\nend\n", unknown[i]);
        parse(text);
        struct ofl_unit *unit = reading.file->units;
        int64_t value = 0;
        assert_false(ofl_constant_integer(&reading.modules, unit->scope, unit->body.last->as.assign.value, &value));
        reading_end(&reading);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declarations),
        cmocka_unit_test(test_implicit),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_constructs),
        cmocka_unit_test(test_statement_functions),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
