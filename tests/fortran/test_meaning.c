/* Meaning: types, values, references, and what code reaches. */
#include "reading.h"

#include "fortran/meaning.h"

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

static const struct ofl_unit *unit_named(const struct ofl_unit *units, const char *text)
{
    for (; units != NULL; units = units->next) {
        if (units->name.name != NULL && strcmp(units->name.name->text, text) == 0) {
            return units;
        }
        const struct ofl_unit *inner = unit_named(units->units, text);
        if (inner != NULL) {
            return inner;
        }
    }
    return NULL;
}

/* ---- Describing ---- */

static const char *value_text(const struct ofl_constant *value)
{
    static char text[400];
    size_t length = 0;
    if (value->rank > 0) {
        char all[400] = "[";
        for (size_t i = 0; i < value->count; i++) {
            length = strlen(all);
            snprintf(all + length, sizeof all - length, "%s%s", i > 0 ? "," : "", value_text(value->elements[i]));
        }
        snprintf(text, sizeof text, "%s]", all);
        return text;
    }
    switch (value->base) {
    case OFL_TYPE_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)value->integer);
        break;
    case OFL_TYPE_LOGICAL:
        snprintf(text, sizeof text, "%s", value->integer != 0 ? "T" : "F");
        break;
    case OFL_TYPE_REAL:
        snprintf(text, sizeof text, "%.17g", (double)value->re);
        break;
    case OFL_TYPE_COMPLEX:
        snprintf(text, sizeof text, "(%.9g,%.9g)", (double)value->re, (double)value->im);
        break;
    case OFL_TYPE_CHARACTER:
        snprintf(text, sizeof text, "'%.*s'", (int)value->length, value->text);
        break;
    default:
        snprintf(text, sizeof text, "structure");
        break;
    }
    return text;
}

static const char *describe(const struct ofl_meaning *meaning)
{
    static const char *const kinds[] = {"unknown",   "literal",   "typeless",  "variable", "constant",  "element",
                                        "section",   "substring", "component", "part",     "parameter", "function",
                                        "structure", "operation", "defined",   "array",    "complex",   "procedure",
                                        "arrays",    "type",      "range",     "other"};
    static char text[800];
    if (meaning->kind == OFL_MEANS_UNKNOWN) {
        snprintf(text, sizeof text, "unknown: %s", meaning->reason);
        return text;
    }
    int length =
        snprintf(text, sizeof text, "%s %s", kinds[meaning->kind], ofl_type_text(&reading.modules, meaning->type));
    if (meaning->rank > 0) {
        length += snprintf(text + length, sizeof text - (size_t)length, " rank %u", meaning->rank);
    }
    if (meaning->call != NULL) {
        length += snprintf(text + length, sizeof text - (size_t)length, " by %s", meaning->call->procedure->name->text);
    }
    if (meaning->value != NULL) {
        snprintf(text + length, sizeof text - (size_t)length, " = %s", value_text(meaning->value));
    }
    return text;
}

/* The last statement of a unit's body that is an assignment, and its value's meaning. */
static struct ofl_stmt *last_stmt(const struct ofl_unit *unit, enum ofl_stmt_kind kind)
{
    struct ofl_stmt *found = NULL;
    for (struct ofl_stmt *stmt = unit->body.first; stmt != NULL; stmt = stmt->next) {
        found = stmt->kind == kind ? stmt : found;
    }
    return found;
}

/* What `value` means in subroutine s with the given declarations before it, in module m with `module` in it. */
static void check(const char *module, const char *declarations, const char *value, const char *expected)
{
    char text[4000];
    snprintf(
        text, sizeof text,
        "module m\nimplicit none\n%s\nend module\nsubroutine s(unused)\nuse m\nimplicit none\ninteger :: unused\n%s\n"
        "unused = %s\nend subroutine\n",
        module, declarations, value);
    parse(text);
    const struct ofl_unit *unit = unit_named(reading.file->units, "s");
    struct ofl_stmt *stmt = last_stmt(unit, OFL_STMT_ASSIGN);
    assert_non_null(stmt);
    const struct ofl_meaning *meaning =
        ofl_meaning_of(&reading.modules, ofl_scope_of(stmt, unit), stmt->as.assign.value);
    assert_string_equal(describe(meaning), expected);
    assert_ptr_equal(meaning, ofl_meaning_of(&reading.modules, ofl_scope_of(stmt, unit), stmt->as.assign.value));
    reading_end(&reading);
}

/* ---- Values ---- */

static void test_literals(void **state)
{
    (void)state;
    check("", "", "12_8", "literal integer(8) = 12");
    check("", "", "1.5d0", "literal real(8) = 1.5");
    check("", "", "0.1", "literal real(4) = 0.10000000149011612");
    check("", "", "0.1_8", "literal real(8) = 0.10000000000000001");
    check("", "integer, parameter :: wp = selected_real_kind(15)", "1.0_wp", "literal real(8) = 1");
    check("", "", "(1, 2.5d0)", "complex complex(8) = (1,2.5)");
    check("", "", "'it''s'", "literal character(len=4) = 'it's'");
    check("", "", ".true._1", "literal logical(1) = T");
    check("", "", "1.0_nope", "unknown: the kind of this constant is not known");
}

static void test_arithmetic(void **state)
{
    (void)state;
    check("", "", "7 / 2 * 2", "operation integer(4) = 6");
    check("", "", "1 + 2_8", "operation integer(8) = 3");
    check("", "", "1 + 2.0", "operation real(4) = 3");
    check("", "", "1.0 / 3.0", "operation real(4) = 0.3333333432674408");
    check("", "", "1.0d0 / 3", "operation real(8) = 0.33333333333333331");
    check("", "", "(1.0, 2.0) * 2.0d0", "operation complex(8) = (2,4)");
    check("", "", "2 ** 10", "operation integer(4) = 1024");
    check("", "", "2.0 ** (-1)", "operation real(4) = 0.5");
    check("", "", "-7 / 2", "operation integer(4) = -3");
    check("", "", "2147483647 + 1", "operation integer(4)"); /* overflows: no value */
    check("", "", "1 / 0", "operation integer(4)");
    check("", "", "3 < 4.0 .and. .not. .false.", "operation logical(4) = T");
    check("", "", "'ab' // 'c'", "operation character(len=3) = 'abc'");
    check("", "", "'ab' == 'ab  '", "operation logical(4) = T");
    check("", "", "1 + .true.", "unknown: operator + is not defined for integer(4), logical(4)");
    check("", "real :: a(3), b(2, 2)", "a + b",
          "unknown: operator + is not defined for real(4) of rank 1, real(4) of rank 2");
}

static void test_constants(void **state)
{
    (void)state;
    check("integer, parameter :: n = 3, v(n) = [1, 2, n]", "", "v", "constant integer(4) rank 1 = [1,2,3]");
    check("integer, parameter :: v(0:2) = [10, 20, 30]", "", "v(2)", "element integer(4) = 30");
    check("integer, parameter :: v(4) = [(i * i, integer :: i = 1, 4)]", "", "v(4:1:-2)",
          "section integer(4) rank 1 = [16,4]");
    check("integer, parameter :: w(2, 2) = reshape([1, 2, 3, 4], [2, 2])", "", "w(2, :)",
          "section integer(4) rank 1 = [2,4]");
    check("real(8), parameter :: pi = 4 * atan(1.0d0)", "", "pi / 2", "operation real(8) = 1.5707963267948966");
    check("character(5), parameter :: c = 'abcdefg'", "", "c(2:3)", "substring character(len=2) = 'bc'");
    check("character(*), parameter :: c = 'abc'", "", "len(c // 'de')", "function integer(4) by len = 5");
    check("type :: t\ninteger :: a = 1\nreal :: b(2) = 0.5\nend type\ntype(t), parameter :: p = t(a=7)", "",
          "p%a + p%b(2)", "operation real(4) = 7.5");
    check("real, parameter :: a(2) = 1.5", "", "a(1)", "element real(4) = 1.5");
    check("integer, parameter :: a = b, b = a", "", "a", "constant integer(4)");
    check("enum, bind(c)\nenumerator :: red = 4, blue\nend enum", "", "blue", "constant integer(4) = 5");
}

static void test_intrinsic_values(void **state)
{
    (void)state;
    check("", "", "max(1, 5, 3)", "function integer(4) by max = 5");
    check("", "", "modulo(-7, 3)", "function integer(4) by modulo = 2");
    check("", "", "iand(12, 10) + ishft(1, 4)", "operation integer(4) = 24");
    check("", "", "huge(1_2)", "function integer(2) by huge = 32767");
    check("", "", "epsilon(1.0)", "function real(4) by epsilon = 1.1920928955078125e-07");
    check("", "", "tiny(1d0)", "function real(8) by tiny = 2.2250738585072014e-308");
    check("", "", "selected_int_kind(18)", "function integer(4) by selected_int_kind = 8");
    check("", "", "real(2, kind=8)", "function real(8) by real = 2");
    check("", "", "sqrt(2.0d0)", "function real(8) by sqrt = 1.4142135623730951");
    check("", "", "exp(1.0)", "function real(4) by exp = 2.7182817459106445");
    check("", "", "nint(2.5)", "function integer(4) by nint = 3");
    check("", "real :: a(2:4, 7)", "size(a, 2) + lbound(a, 1)", "operation integer(4) = 9");
    check("", "real :: a(2:4, 7)", "shape(a)", "function integer(4) rank 1 by shape = [3,7]");
    check("", "", "trim('ab  ') // char(65)", "operation character(len=3) = 'abA'");
    check("", "", "sum([1, 2, 3]) + product([2, 3])", "operation integer(4) = 12");
    check("", "", "any([.false., .true.])", "function logical(4) by any = T");
    check("", "", "int(z'ff')", "function integer(4) by int = 255");
    check("", "", "dble(1) + cabs((3.0, 4.0))", "operation real(8) = 6");
}

/* ---- Designators ---- */

static void test_designators(void **state)
{
    static const char types[] = "type :: p\nreal :: x, v(3)\ncharacter(8) :: name\nend type\n"
                                "type, extends(p) :: q\ninteger(1) :: tag\ntype(p), allocatable :: list(:)\nend type\n";
    (void)state;
    check("", "real(8) :: a(4, 5)\ninteger :: i", "a(i, 3)", "element real(8)");
    check("", "real(8) :: a(4, 5)\ninteger :: i", "a(i, :)", "section real(8) rank 1");
    check("", "real(8) :: a(4, 5)\ninteger :: v(3)", "a(v, 1:2)", "section real(8) rank 2");
    check("", "complex :: z(2)", "z%im", "part real(4) rank 1");
    check("", "character(10) :: c(3)", "c(2)(3:5)", "substring character(len=3)");
    check("", "integer(2) :: i", "i%kind", "parameter integer(4) = 2");
    check(types, "type(q) :: a(5)", "a(1)%x", "component real(4)");
    check(types, "type(q) :: a(5)", "a%x", "component real(4) rank 1");
    check(types, "type(q) :: a(5)", "a%v(2)", "section real(4) rank 1");
    check(types, "type(q) :: a", "a%p%v", "component real(4) rank 1");
    check(types, "type(q) :: a", "a%p", "component type(p)");
    check(types, "type(q) :: a", "a%list(2)%name(1:1)", "substring character(len=1)");
    check(types, "type(q) :: a", "a%nothing", "unknown: 'nothing' is not a component of type 'q'");
    check("", "real :: a(4, 5)", "a(1)", "unknown: an array with 2 dimensions has 1 subscript here");
    check("", "real :: a(4)", "a(.true.)", "unknown: a subscript must be an integer, not logical(4)");
    check("", "", "missing + 1", "unknown: 'missing' is not declared");
}

/* ---- References ---- */

static const char procedures[] =
    "type :: base\nreal :: r = 1\ncontains\nprocedure :: area => base_area\nprocedure, nopass :: plain\n"
    "generic :: of => area, scaled\nprocedure :: scaled\ngeneric :: operator(+) => add\nprocedure :: add\nend type\n"
    "type, extends(base) :: child\ninteger :: k\ncontains\nprocedure :: area => child_area\nend type\n"
    "interface twice\nmodule procedure twice_i, twice_r\nend interface\n"
    "interface twice\nmodule procedure twice_all\nend interface\n"
    "interface operator(.dot.)\nmodule procedure dotted\nend interface\n"
    "interface assignment(=)\nmodule procedure from_real\nend interface\n"
    "interface base\nmodule procedure make\nend interface\n"
    "interface abs\nmodule procedure base_abs\nend interface\n"
    "contains\n"
    "pure real function base_area(self)\nclass(base), intent(in) :: self\nbase_area = self%r\nend function\n"
    "pure real function child_area(self)\nclass(child), intent(in) :: self\nchild_area = self%k\nend function\n"
    "pure function scaled(self, by) result(res)\nclass(base), intent(in) :: self\nreal, intent(in) :: by\n"
    "real(8) :: res(2)\nres = by * self%r\nend function\n"
    "pure integer(8) function plain(n)\ninteger, intent(in) :: n\nplain = n\nend function\n"
    "pure type(base) function add(self, other)\nclass(base), intent(in) :: self, other\nadd%r = self%r + other%r\n"
    "end function\n"
    "pure integer function twice_i(x)\ninteger, intent(in) :: x\ntwice_i = 2 * x\nend function\n"
    "pure real function twice_r(x)\nreal, intent(in) :: x\ntwice_r = 2 * x\nend function\n"
    "elemental real(8) function twice_all(x)\nreal(8), intent(in) :: x\ntwice_all = 2 * x\nend function\n"
    "pure real function dotted(a, b)\nreal, intent(in) :: a(:), b(:)\ndotted = sum(a * b)\nend function\n"
    "pure subroutine from_real(a, b)\ntype(base), intent(out) :: a\nreal, intent(in) :: b\na%r = b\nend subroutine\n"
    "pure type(base) function make(n)\ninteger, intent(in) :: n\nmake%r = n\nend function\n"
    "pure real function base_abs(x)\ntype(base), intent(in) :: x\nbase_abs = x%r\nend function\n"
    "pure real function opt(a, b, c)\nreal, intent(in) :: a\nreal, intent(in), optional :: b, c\nopt = a\nend "
    "function\n";

static void test_references(void **state)
{
    (void)state;
    check(procedures, "", "twice(3)", "function integer(4) by twice_i");
    check(procedures, "", "twice(3.0)", "function real(4) by twice_r");
    check(procedures, "real(8) :: x(3)", "twice(x)", "function real(8) rank 1 by twice_all");
    check(procedures, "", "twice('a')", "unknown: no specific procedure of 'twice' takes (character(len=1))");
    check(procedures, "real :: x(3)", "x .dot. x", "defined real(4) by dotted");
    check(procedures, "", "base(3)", "function type(base) by make");
    check(procedures, "", "base(3.5)", "structure type(base) = structure");
    check(procedures, "", "base(r=2.5)", "structure type(base) = structure");
    check(procedures, "type(base) :: b", "abs(b)", "function real(4) by base_abs");
    check(procedures, "", "abs(-2)", "function integer(4) by abs = 2");
    check(procedures, "type(child) :: c", "c%area()", "function real(4) by child_area");
    check(procedures, "type(child) :: c", "c%base%area()", "function real(4) by base_area");
    check(procedures, "type(child) :: c", "c%of(2.0)", "function real(8) rank 1 by scaled");
    check(procedures, "type(child) :: c", "c%of()", "function real(4) by child_area");
    check(procedures, "type(base) :: c", "c%plain(4)", "function integer(8) by plain");
    check(procedures, "type(base) :: c, d", "c + d", "defined type(base) by add");
    check(procedures, "", "opt(1.0, c=2.0)", "function real(4) by opt");
    check(procedures, "", "opt(b=1.0)", "unknown: argument 'a' of function 'opt' of module 'm' is missing");
    check(procedures, "", "opt(1.0, d=1.0)", "unknown: function 'opt' of module 'm' has no argument named 'd'");
    check(procedures, "", "opt(1.0d0)",
          "unknown: argument 'a' of function 'opt' of module 'm' is of type real(4), and this is real(8)");
    check("", "", "undeclared(1)", "unknown: 'undeclared' is not declared");
    check("", "real(8), external :: f", "f(1)", "function real(8) by f");
    check("", "real(8), external :: malloc2", "malloc2(4)", "function real(8) by malloc2");
    check("", "", "malloc(4)", "unknown: the intrinsic procedure 'malloc'");
}

static void test_intrinsics(void **state)
{
    (void)state;
    check("", "real(8) :: x(3, 4)", "sum(x, 1)", "function real(8) rank 1 by sum");
    check("", "real(8) :: x(3, 4)", "sum(x, x > 0)", "function real(8) by sum");
    check("", "real :: x(3, 4)", "maxloc(x)", "function integer(4) rank 1 by maxloc");
    check("", "real :: x(3, 4), y(4, 2)", "matmul(x, y)", "function real(4) rank 2 by matmul");
    check("", "real :: x(3)", "spread(x, 1, 2)", "function real(4) rank 2 by spread");
    check("", "real :: x(12)", "reshape(x, [2, 2, 3])", "function real(4) rank 3 by reshape");
    check("", "complex(8) :: z(2)", "abs(z)", "function real(8) rank 1 by abs");
    check("", "complex(8) :: z", "real(z)", "function real(8) by real");
    check("", "character(3) :: c", "ichar(c(1:1), kind=8)", "function integer(8) by ichar");
    check("", "real :: x", "dsqrt(x)", "unknown: argument 'x' of intrinsic 'dsqrt' cannot be real(4)");
    check("", "real :: x", "sqrt()", "unknown: argument 'x' of intrinsic 'sqrt' is missing");
    check("", "real :: x", "sqrt(x, y=1)", "unknown: intrinsic 'sqrt' has no argument named 'y'");
    check("", "integer :: i", "sin(i)", "unknown: argument 'x' of intrinsic 'sin' cannot be integer(4)");
    check("", "real :: x", "sum(x)", "unknown: argument 'array' of intrinsic 'sum' must be an array");
    check("use, intrinsic :: ieee_arithmetic", "real :: x(2)", "ieee_is_nan(x)",
          "function logical(4) rank 1 by ieee_is_nan");
    check("use, intrinsic :: ieee_arithmetic, only: bad => ieee_is_nan", "real :: x", "bad(x)",
          "function logical(4) by ieee_is_nan");
}

static void test_constructs(void **state)
{
    (void)state;
    parse(
        "subroutine s(x, a)\nclass(*) :: x\nreal(8) :: a(:, :)\ninteger :: i\n"
        "select type (x)\ntype is (integer(8))\ni = x\ntype is (real(4))\ni = x + 1\nclass default\ni = 0\nend select\n"
        "associate (b => a(:, 1), c => i + 1_8)\ni = b(2)\ni = c\nend associate\n"
        "block\ncomplex :: a\ni = a\nend block\nend subroutine\n");
    static const char *const expected[] = {"variable integer(8)", "operation real(4)",   "literal integer(4) = 0",
                                           "element real(8)",     "variable integer(8)", "variable complex(4)"};
    const struct ofl_unit *unit = reading.file->units;
    unsigned count = 0;
    for (struct ofl_stmt *stmt = unit->body.first; stmt != NULL; stmt = stmt->next) {
        struct ofl_arm *arm = stmt->kind == OFL_STMT_SELECT_TYPE ? stmt->as.arms.arms : NULL;
        struct ofl_stmt *inner = arm != NULL ? arm->body.first
                                 : stmt->kind == OFL_STMT_ASSOCIATE || stmt->kind == OFL_STMT_BLOCK
                                     ? stmt->as.block.body.first
                                     : NULL;
        while (inner != NULL || (arm != NULL && arm->next != NULL)) {
            if (inner == NULL) {
                arm = arm->next;
                inner = arm->body.first;
                continue;
            }
            if (inner->kind == OFL_STMT_ASSIGN) {
                const struct ofl_meaning *meaning =
                    ofl_meaning_of(&reading.modules, ofl_scope_of(inner, unit), inner->as.assign.value);
                assert_string_equal(describe(meaning), expected[count]);
                count++;
            }
            inner = inner->next;
        }
    }
    assert_int_equal(count, 6);
    reading_end(&reading);
}

/* ---- Statements ---- */

static void check_action(const char *declarations, const char *statement, enum ofl_stmt_kind kind, const char *expected)
{
    char text[8000], found[400];
    snprintf(text, sizeof text,
             "module m\nimplicit none\n%send module\nsubroutine s\nuse m\nimplicit none\n%s\n%s\nend\n", procedures,
             declarations, statement);
    parse(text);
    const struct ofl_unit *unit = unit_named(reading.file->units, "s");
    struct ofl_stmt *stmt = last_stmt(unit, kind);
    const struct ofl_action *action = ofl_action_of(&reading.modules, ofl_scope_of(stmt, unit), stmt);
    snprintf(found, sizeof found, "%s",
             action->why != NULL    ? action->why->reason
             : action->call != NULL ? action->call->procedure->name->text
                                    : "intrinsic");
    assert_string_equal(found, expected);
    reading_end(&reading);
}

static void test_actions(void **state)
{
    (void)state;
    check_action("type(base) :: b", "b = 2.0", OFL_STMT_ASSIGN, "from_real");
    check_action("type(base) :: b, c", "b = c", OFL_STMT_ASSIGN, "intrinsic");
    check_action("type(base) :: b", "b = 2", OFL_STMT_ASSIGN,
                 "a value of type integer(4) cannot be assigned to a variable of type type(base)");
    check_action("real :: a(3)", "a = 1", OFL_STMT_ASSIGN, "intrinsic");
    check_action("real :: a(3), b(3, 3)", "a = b", OFL_STMT_ASSIGN,
                 "a value of rank 2 is assigned to a variable of rank 1");
    check_action("type(base) :: b", "call from_real(b, 1.0)", OFL_STMT_CALL, "from_real");
    check_action("integer :: i", "call random_number(i)", OFL_STMT_CALL,
                 "argument 'harvest' of intrinsic 'random_number' cannot be integer(4)");
    check_action("integer :: i", "call twice(i)", OFL_STMT_CALL,
                 "function 'twice_i' of module 'm' is called like a subroutine");
    check_action("external :: ext", "call ext(1)", OFL_STMT_CALL, "ext");
}

static void test_arguments(void **state)
{
    (void)state;
    parse(
        "module m\ncontains\npure real function f(a, b, c)\nreal, intent(in) :: a\nreal, intent(in), optional :: b, c\n"
        "f = a\nend function\nend module\nsubroutine s\nuse m\nreal :: x\nx = f(c=1.0, a=2.0)\nend subroutine\n");
    const struct ofl_unit *unit = unit_named(reading.file->units, "s");
    struct ofl_stmt *stmt = last_stmt(unit, OFL_STMT_ASSIGN);
    const struct ofl_call *call = ofl_meaning_of(&reading.modules, unit->scope, stmt->as.assign.value)->call;
    assert_non_null(call);
    assert_int_equal(call->arg_count, 3);
    assert_ptr_equal(call->args[0], stmt->as.assign.value->as.call.args->next->value);
    assert_null(call->args[1]);
    assert_ptr_equal(call->args[2], stmt->as.assign.value->as.call.args->value);
    assert_true(call->procedure->is_pure && call->procedure->function && !call->procedure->is_elemental);
    assert_ptr_equal(call->procedure->body, unit_named(reading.file->units, "f"));
    assert_true(call->procedure->dummies[1].optional);
    assert_int_equal(call->procedure->dummies[0].intent, OFL_INTENT_IN);
    assert_ptr_equal(call->procedure, ofl_procedure_of_unit(&reading.modules, call->procedure->body));
    reading_end(&reading);
}

/* ---- Modules ---- */

static void test_separate_procedures(void **state)
{
    (void)state;
    parse("module m\ninterface\nmodule integer(8) function f(n)\ninteger, intent(in) :: n\nend function\n"
          "pure module subroutine g(a)\nreal, intent(inout) :: a(:)\nend subroutine\nend interface\nend module\n"
          "submodule (m) sub\ncontains\nmodule procedure f\ninteger :: local\nlocal = n\nf = local\nend procedure\n"
          "pure module subroutine g(a)\nreal, intent(inout) :: a(:)\na = 2 * a\nend subroutine\nend submodule\n"
          "subroutine s(x)\nuse m\nreal :: x(3)\ncall g(x)\nx(1) = f(2)\nend subroutine\n");
    const struct ofl_unit *unit = unit_named(reading.file->units, "s"), *sub = unit_named(reading.file->units, "sub");
    struct ofl_stmt *stmt = last_stmt(unit, OFL_STMT_ASSIGN);
    const struct ofl_meaning *meaning = ofl_meaning_of(&reading.modules, unit->scope, stmt->as.assign.value);
    assert_string_equal(describe(meaning), "function integer(8) by f");
    assert_ptr_equal(meaning->call->procedure->body, unit_named(sub->units, "f"));
    struct ofl_stmt *assign = unit_named(sub->units, "f")->body.first->next;
    assert_string_equal(
        describe(ofl_meaning_of(&reading.modules, unit_named(sub->units, "f")->scope, assign->as.assign.value)),
        "variable integer(4)");
    stmt = last_stmt(unit, OFL_STMT_CALL);
    const struct ofl_call *call = ofl_action_of(&reading.modules, unit->scope, stmt)->call;
    assert_ptr_equal(call->procedure->body, unit_named(sub->units, "g"));
    assert_true(call->procedure->is_pure);
    reading_end(&reading);
}

static void test_renames(void **state)
{
    static const char a[] = "module a\nprivate\npublic :: operator(.plus.), g\ninterface operator(.plus.)\n"
                            "module procedure add\nend interface\ninterface g\nmodule procedure gi\nend interface\n"
                            "interface operator(.hidden.)\nmodule procedure add\nend interface\ncontains\n"
                            "pure real function add(x, y)\nreal, intent(in) :: x, y\nadd = x + y\nend function\n"
                            "pure integer function gi(x)\ninteger, intent(in) :: x\ngi = x\nend function\nend module\n"
                            "module b\ninterface g\nmodule procedure gr\nend interface\ncontains\n"
                            "pure real function gr(x)\nreal, intent(in) :: x\ngr = x\nend function\nend module\n";
    static const struct {
        const char *use, *value, *expected;
    } cases[] = {
        {"use a, operator(.also.) => operator(.plus.)", "1.0 .also. 2.0", "defined real(4) by add"},
        {"use a, operator(.also.) => operator(.plus.)", "1.0 .plus. 2.0",
         "unknown: operator .plus. is not defined for real(4), real(4)"},
        {"use a", "1.0 .hidden. 2.0", "unknown: operator .hidden. is not defined for real(4), real(4)"},
        {"use a, only: h => g", "h(1)", "function integer(4) by gi"},
        {"use a\nuse b", "g(1.0)", "function real(4) by gr"},
        {"use a\nuse b", "g(1)", "function integer(4) by gi"},
        {"use a, only: g", "add(1.0, 2.0)", "unknown: 'add' is not declared"},
        {"use a\nuse a, only: h => g", "g(1)", "unknown: 'g' is not declared"},
        {"use, intrinsic :: iso_fortran_env", "real_kinds(2) + size(integer_kinds)", "operation integer(4) = 13"},
        {"use nowhere", "f(1)",
         "unknown: 'f' is not declared here and may come from module 'nowhere', which is not at hand"},
        {"use nowhere, only: q", "sin(1.0)", "function real(4) by sin = 0.84147095680236816"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4000];
        snprintf(text, sizeof text, "%ssubroutine s(r)\n%s\nimplicit none\nreal :: r\nr = %s\nend subroutine\n", a,
                 cases[i].use, cases[i].value);
        parse(text);
        const struct ofl_unit *unit = unit_named(reading.file->units, "s");
        struct ofl_stmt *stmt = last_stmt(unit, OFL_STMT_ASSIGN);
        assert_string_equal(describe(ofl_meaning_of(&reading.modules, unit->scope, stmt->as.assign.value)),
                            cases[i].expected);
        reading_end(&reading);
    }
}

static void test_default_kinds(void **state)
{
    (void)state;
    reading_start(&reading, OFL_FORM_FREE);
    static const char text[] = "subroutine s\nreal :: x\nx = 1.0 * 1.0d0 + real(2)\nend subroutine\n";
    reading_parse(&reading, text, strlen(text));
    reading.modules.default_real = 8;
    reading.modules.default_double = 16;
    ofl_scopes_build(reading.file, &reading.modules, &reading.diagnostics);
    struct ofl_stmt *stmt = last_stmt(reading.file->units, OFL_STMT_ASSIGN);
    struct ofl_scope *scope = reading.file->units->scope;
    assert_string_equal(describe(ofl_meaning_of(&reading.modules, scope, stmt->as.assign.target)), "variable real(8)");
    assert_string_equal(describe(ofl_meaning_of(&reading.modules, scope, stmt->as.assign.value)),
                        "operation real(16) = 3");
    reading_end(&reading);
}

/* ---- Reaching ---- */

static void test_reached(void **state)
{
    (void)state;
    parse("module m\ntype :: t\ncontains\nprocedure :: f => t_f\nfinal :: done\nend type\ntype, extends(t) :: "
          "u\ncontains\n"
          "procedure :: f => u_f\nend type\ncontains\n"
          "pure integer function t_f(self)\nclass(t), intent(in) :: self\nt_f = one()\nend function\n"
          "pure integer function u_f(self)\nclass(u), intent(in) :: self\nu_f = two()\nend function\n"
          "pure integer function one()\none = 1\nend function\npure integer function two()\ntype(t) :: local\ntwo = "
          "one()\n"
          "end function\npure subroutine done(x)\ntype(t), intent(inout) :: x\nend subroutine\n"
          "pure integer function unused()\nunused = 1\nend function\nend module\n"
          "subroutine s(x, a)\nuse m\nclass(t), intent(in) :: x\ninteger :: a(3), i\n"
          "do concurrent (i = 1:3)\na(i) = x%f() + abs(i)\nend do\nend subroutine\n");
    const struct ofl_unit *unit = unit_named(reading.file->units, "s");
    char names[200] = "";
    const struct ofl_reached *reached = ofl_reached_from(&reading.modules, unit, last_stmt(unit, OFL_STMT_DO));
    for (; reached != NULL; reached = reached->next) {
        strcat(strcat(names, reached->procedure->name->text), reached->caller != NULL ? "* " : " ");
    }
    assert_string_equal(names, "t_f u_f abs one* two* done* ");
    reading_end(&reading);
}

static bool count_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                       void *context)
{
    (void)expr;
    (void)meaning;
    (void)scope;
    ++*(unsigned *)context;
    return true;
}

/* What is below a constant is not evaluated, so it is not visited. */
static void test_visits(void **state)
{
    (void)state;
    parse("subroutine s(x)\nreal :: x(2)\nx(1) = x(2) * (1.0 + 2.0) + kind(x)\nend subroutine\n");
    unsigned count = 0;
    const struct ofl_visitor visitor = {.expr = count_expr, .context = &count};
    ofl_visit_stmt(&reading.modules, reading.file->units, last_stmt(reading.file->units, OFL_STMT_ASSIGN), &visitor);
    /* x(1), x, 1; +, *, x(2), x, 2, (1.0 + 2.0), kind(x) */
    assert_int_equal(count, 10);
    reading_end(&reading);
}

/* A long chain of operators needs neither much stack nor much time. */
static void test_deep(void **state)
{
    (void)state;
    char *text = malloc(200000);
    strcpy(text, "subroutine s(x)\nreal :: x\nx = x");
    for (size_t i = 0, length = strlen(text); i < 9000; i++, length += 4) {
        strcpy(text + length, i % 30 == 29 ? "+&\n1" : "+x+x");
    }
    strcat(text, "\nend subroutine\n");
    reading_start(&reading, OFL_FORM_FREE);
    reading.options.free_line_length = 0;
    reading_parse(&reading, text, strlen(text));
    ofl_scopes_build(reading.file, &reading.modules, &reading.diagnostics);
    struct ofl_stmt *stmt = last_stmt(reading.file->units, OFL_STMT_ASSIGN);
    if (stmt != NULL) {
        assert_string_equal(
            describe(ofl_meaning_of(&reading.modules, reading.file->units->scope, stmt->as.assign.value)),
            "operation real(4)");
    }
    reading_end(&reading);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_intrinsic_values),
        cmocka_unit_test(test_designators),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_intrinsics),
        cmocka_unit_test(test_constructs),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_separate_procedures),
        cmocka_unit_test(test_renames),
        cmocka_unit_test(test_default_kinds),
        cmocka_unit_test(test_reached),
        cmocka_unit_test(test_visits),
        cmocka_unit_test(test_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
