/* The two source forms: continuations, comments, labels, sentinels, tabs, and positions of what was joined. */
#include "reading.h"

#define FREE(text, expected)  assert_tree(OFL_FORM_FREE, text, "(program -\n" expected ")\n")
#define FIXED(text, expected) assert_tree(OFL_FORM_FIXED, text, "(program -\n" expected ")\n")

static void test_free_continuation(void **state)
{
    (void)state;
    FREE("x = 1 &\n  + 2\nend\n", "  (assignment x (+ 1 2))");
    FREE("al&\n  &pha = 1\nend", "  (assignment alpha 1)");
    FREE("x = 1 & ! first\n\n! between\n  & + 2 ! last\nend\n", "  (assignment x (+ 1 2))");
    FREE("s = 'a&\n  &b'\nend", "  (assignment s 'ab')");
    FREE("s = 'a ! b & c&\n  &d'\nend", "  (assignment s 'a ! b & cd')");
    FREE("s = 'it''s' // \"&\n   &x\"\nend", "  (assignment s (// 'it''s' \"x\"))");
    FREE("x = 1 + &\n# 7 \"other.f90\"\n 2\nend", "  (assignment x (+ 1 2))");
    FREE("x = 1; y = 2 ; ; z = 3;\nend", "  (assignment x 1)\n  (assignment y 2)\n  (assignment z 3)");
    FREE("&\nx = 1\nend", "  (assignment x 1)");
    FREE("10 x = 1; 20 y = 2\nend", "  10: (assignment x 1)\n  20: (assignment y 2)");
}

/* A word that is split without `&` on the second line: one word where two make no statement. */
static void test_free_split(void **state)
{
    (void)state;
    FREE("x = si&\nn(1.0)\nend\n", "  (assignment x sin(1.0))");
    FREE("x = si& ! comment\n\n! between\nn(1.0)\nend\n", "  (assignment x sin(1.0))");
    FREE("y = 1\nif (y > 1) th&\nen\nx = 2*&\n*3\nend if\nend\n",
         "  (assignment y 1)\n  (if construct\n    (when (> y 1)\n      (assignment x (** 2 3))))");
    FREE("integer :: n = 12&\n34\nend\n", "  (type declaration <integer> n=1234)");
    FREE("real&\nx\ndo&\ni = 1, 3\nend&\ndo\nend\n", "  (type declaration <real> x)\n  (do i=1 3)");
    FREE("x = a .o&\nr. b\nend\n", "  (assignment x (.or. a b))");
    assert_tree(OFL_FORM_FREE, "real function&\nf(x)\nend\n", "(function f ( x ) <real>)\n");
    assert_tree(OFL_FORM_FREE, "subroutine f&\noo(x)\nend\n", "(subroutine foo ( x ))\n");
    struct reading reading;
    reading_start(&reading, OFL_FORM_FREE);
    const char *text = "x = si&\n n(1.0)\nx = a&\nb c\nend\n";
    reading_parse(&reading, text, strlen(text));
    char *messages = reading_messages(&reading);
    assert_non_null(strstr(messages, "2:2: error: expected the end of the statement, found 'n'"));
    assert_non_null(strstr(messages, "4:1: error: expected the end of the statement, found 'b'"));
    free(messages);
    reading_end(&reading);
}

static void test_free_ends(void **state)
{
    (void)state;
    FREE("x = 1\r\nend\r\n", "  (assignment x 1)");
    FREE("\xEF\xBB\xBFx = 1\nend", "  (assignment x 1)");
    FREE("x = 1\nend ! no newline", "  (assignment x 1)");
}

static void test_fixed_columns(void **state)
{
    (void)state;
    FIXED("C comment\n      X = 1\n     1  + 2\n* more\n     &  + 3\n      END\n", "  (assignment x (+ (+ 1 2) 3))");
    FIXED("   10 X = 1\n      GO TO 10\n      END\n", "  10: (assignment x 1)\n  (go to 10)");
    FIXED("      D O 1 0 I = 1 , 1 0\n  1 0 C O N T I N U E\n      E N D\n", "  (do 10 i=1 10\n    10: (continue))");
    FIXED("      S = 'A  B' ! comment\n      END\n", "  (assignment s 'A  B')");
    FIXED("      X = 1                                                             + 2\n      END\n",
          "  (assignment x 1)");
    FIXED("\tX = 1\n\t1 + 2\n\tEND\n", "  (assignment x (+ 1 2))");
    FIXED("      X = 1\n     0Y = 2\n      END\n", "  (assignment x 1)\n  (assignment y 2)");
    FIXED("      X = 1; Y = 2\n      END\n", "  (assignment x 1)\n  (assignment y 2)");
    FIXED("      S = 5HA'B!C\n      END\n", "  (assignment s 5HA'B!C)");
    FIXED("      X = 1 ! no\nC$OMP PARALLEL\n      END\n", "  (assignment x 1)\n  (directive omp: parallel)");
}

/* A constant that goes over the line end has the blanks up to column 72 in it. */
static void test_fixed_padding(void **state)
{
    (void)state;
    struct reading reading;
    reading_start(&reading, OFL_FORM_FIXED);
    const char *text = "      S = 'A\n     1B'\n      END\n";
    reading_parse(&reading, text, strlen(text));
    const struct ofl_stmt *stmt = reading.file->units->body.first;
    size_t length = 0;
    char *value = ofl_literal_text(reading.arena, stmt->as.assign.value, false, &length);
    assert_int_equal(length, 72 - 11 + 1);
    assert_int_equal(value[0], 'A');
    assert_int_equal(value[1], ' ');
    assert_int_equal(value[length - 1], 'B');
    reading_end(&reading);
}

static void test_fixed_without_blanks(void **state)
{
    (void)state;
    FIXED("      DO10I=1,10\n   10 X=X+I\n      END\n", "  (do 10 i=1 10\n    10: (assignment x (+ x i)))");
    FIXED("      DO10I=1.10\n      END\n", "  (assignment do10i 1.10)");
    FIXED("      REAL*8X,Y\n      INTEGERA,B\n      END\n",
          "  (type declaration <real *8> x y)\n  (type declaration <integer> a b)");
    FIXED("      IF(X.EQ.1.AND.Y.EQ.2)GOTO10\n   10 CONTINUE\n      END\n",
          "  (if statement (.and. (== x 1) (== y 2)) (go to 10))\n  10: (continue)");
    FIXED("      CALLFOO(1)\n      RETURN\n      END\n", "  (call foo(1))\n  (return)");
    assert_tree(OFL_FORM_FIXED, "      REALFUNCTIONF(X)\n      F=X\n      END\n",
                "(function f ( x ) <real>\n  (assignment f x))\n");
}

static void test_conditional(void **state)
{
    (void)state;
    struct reading reading;
    for (int on = 0; on < 2; on++) {
        reading_start(&reading, OFL_FORM_FREE);
        reading.options.openmp = on;
        const char *text = "x = 1\n!$ x = 2 + &\n!$ & 3\nend\n";
        reading_parse(&reading, text, strlen(text));
        char *tree = reading_tree(&reading);
        assert_string_equal(tree, on ? "(program -\n  (assignment x 1)\n  (assignment x (+ 2 3)))\n"
                                     : "(program -\n  (assignment x 1))\n");
        free(tree);
        reading_end(&reading);
    }
}

static void test_directives(void **state)
{
    (void)state;
    FREE("!$OMP Parallel Do &\n!$omp& Private(X) ! y\ndo i = 1, 2\nend do\nend",
         "  (directive omp: parallel do   private(x))\n  (do i=1 2)");
}

/* Every node's span is in the text as it was, also where statements were joined. */
static void test_positions(void **state)
{
    (void)state;
    struct reading reading;
    reading_start(&reading, OFL_FORM_FREE);
    const char *text = "! top\nx = al&\n  &pha + 1 ! end\nend\n";
    reading_parse(&reading, text, strlen(text));
    const struct ofl_stmt *stmt = reading.file->units->body.first;
    size_t length = 0;
    const char *span = ofl_span_text(&reading.sources, stmt->span, &length);
    assert_int_equal(length, strlen("x = al&\n  &pha + 1"));
    assert_memory_equal(span, "x = al&\n  &pha + 1", length);
    span = ofl_span_text(&reading.sources, stmt->as.assign.value->as.operation.left->span, &length);
    assert_memory_equal(span, "al&\n  &pha", length);
    struct ofl_place place = ofl_place_of(&reading.sources, stmt->as.assign.value->as.operation.right->span.begin);
    assert_int_equal(place.line, 3);
    assert_int_equal(place.column, 10);
    reading_end(&reading);
}

static void test_line_markers(void **state)
{
    (void)state;
    struct reading reading;
    reading_start(&reading, OFL_FORM_FREE);
    const char *text = "# 1 \"dir/a.F90\"\nx = 1\n# 7 \"dir/b.inc\" 1\ny = 2\n\nz = 3\n# 3 \"dir/a.F90\" 2\nend\n";
    reading_parse(&reading, text, strlen(text));
    static const struct {
        const char *file;
        unsigned line;
    } expected[] = {{"dir/a.F90", 1}, {"dir/b.inc", 7}, {"dir/b.inc", 9}};
    const struct ofl_stmt *stmt = reading.file->units->body.first;
    for (int i = 0; i < 3; i++, stmt = stmt->next) {
        struct ofl_place place = ofl_place_of(&reading.sources, stmt->span.begin);
        assert_string_equal(place.file, expected[i].file);
        assert_int_equal(place.line, expected[i].line);
    }
    reading_end(&reading);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_continuation), cmocka_unit_test(test_free_split),
        cmocka_unit_test(test_free_ends),         cmocka_unit_test(test_fixed_columns),
        cmocka_unit_test(test_fixed_padding),     cmocka_unit_test(test_fixed_without_blanks),
        cmocka_unit_test(test_conditional),       cmocka_unit_test(test_directives),
        cmocka_unit_test(test_positions),         cmocka_unit_test(test_line_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
