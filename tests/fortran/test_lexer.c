/* The lexer: what the characters of a statement become, where it depends on what stands around them. */
#include "reading.h"

#include "fortran/lexer.h"
#include "fortran/statement.h"

/* The first statement of a text as tokens, separated by blanks; kinds that are not plain from the text are marked. */
static void check(enum ofl_form form, const char *text, const char *expected)
{
    struct reading reading;
    struct ofl_reader reader;
    struct ofl_item item;
    char tokens[500] = "";
    size_t length = 0;
    reading_start(&reading, form);
    const struct ofl_source *source = ofl_source_add(&reading.sources, "t", text, strlen(text));
    ofl_reader_start(&reader, source, &reading.options, &reading.sources, &reading.diagnostics);
    ofl_reader_next(&reader, &item);
    assert_int_equal(item.kind, OFL_ITEM_STATEMENT);
    for (struct ofl_token token = ofl_lex(&item, 0); token.kind != OFL_TOKEN_END; token = ofl_lex(&item, token.end)) {
        const char *mark = token.kind == OFL_TOKEN_REAL        ? "r:"
                           : token.kind == OFL_TOKEN_INTEGER   ? "i:"
                           : token.kind == OFL_TOKEN_HOLLERITH ? "h:"
                           : token.kind == OFL_TOKEN_BOZ       ? "z:"
                           : token.kind == OFL_TOKEN_QUOTE     ? "q:"
                                                               : "";
        assert_in_range(token.end, token.begin + 1, item.length);
        length += (size_t)snprintf(tokens + length, sizeof tokens - length, "%s%s%.*s", length > 0 ? " " : "", mark,
                                   (int)(token.end - token.begin), item.text + token.begin);
    }
    assert_string_equal(tokens, expected);
    ofl_reader_finish(&reader);
    reading_end(&reading);
}

static void test_numbers(void **state)
{
    (void)state;
    check(OFL_FORM_FREE, "x 1. .5 1.5 1e5 1.e-5 1d0 1.q+3", "x r:1. r:.5 r:1.5 r:1e5 r:1.e-5 r:1d0 r:1.q+3");
    check(OFL_FORM_FREE, "x 1.eq.2 1..eq.2. 1.e2.lt.x 1.d", "x i:1 .eq. i:2 r:1. .eq. r:2. r:1.e2 .lt. x r:1. d");
    check(OFL_FORM_FREE, "x 1e 1e+ 1_8 x1e5", "x i:1 e i:1 e + i:1 _8 x1e5");
    check(OFL_FORM_FIXED, "      X=1.AND.2.OR..5\n", "X = i:1 .AND. i:2 .OR. r:.5");
}

static void test_operators(void **state)
{
    (void)state;
    check(OFL_FORM_FREE, "a**b*c//d/e==f/=g<=h>=i<j>k=>l=m::n:o%p",
          "a ** b * c // d / e == f /= g <= h >= i < j > k => l = m :: n : o % p");
    check(OFL_FORM_FREE, "(/1,2/) (a/b)", "(/ i:1 , i:2 /) ( a / b )");
    check(OFL_FORM_FREE, "[1] .not.x.my.y a.b ..", "[ i:1 ] .not. x .my. y a . b . .");
    check(OFL_FORM_FREE, "a; b", "a");
    check(OFL_FORM_FREE, "&a @ ? ~", "a @ ? ~");
}

static void test_constants(void **state)
{
    (void)state;
    check(OFL_FORM_FREE, "'it''s' \"a'b\" '' k_'x' z'ff' B\"01\" bz'1'",
          "'it''s' \"a'b\" '' k_ 'x' z:z'ff' z:B\"01\" bz '1'");
    check(OFL_FORM_FREE, "x = 'open", "x = q:' open");
    check(OFL_FORM_FREE, "call f(4Ha'b!, 2*3habc)", "call f ( h:4Ha'b! , i:2 * i:3 habc )");
    check(OFL_FORM_FREE, "data x /2*3ha'b/", "data x / i:2 * h:3ha'b /");
    check(OFL_FORM_FREE, "real*8 hello", "real * i:8 hello");
    check(OFL_FORM_FIXED, "      X = 'A' 'B'\n", "X = 'A' 'B'");
    check(OFL_FORM_FIXED, "      CALL F(5HA  B;, 1)\n", "CALLF ( h:5HA  B; , i:1 )");
}

static void test_keywords(void **state)
{
    (void)state;
    struct ofl_item item = {.text = "end  do10", .length = 9};
    assert_int_equal(ofl_lex_keyword(&item, 0, "end"), 3);
    assert_int_equal(ofl_lex_keyword(&item, 0, "end do"), 0);
    item.glued = true;
    assert_int_equal(ofl_lex_keyword(&item, 0, "end do"), 7);
    item = (struct ofl_item){.text = "endif", .length = 5};
    assert_int_equal(ofl_lex_keyword(&item, 0, "end if"), 5);
    assert_int_equal(ofl_lex_keyword(&item, 0, "end"), 0);
    assert_int_equal(ofl_lex_keyword(&item, 0, "end if ("), 0);
}

static void test_outline(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t equals, arrow, double_colon, comma;
    } rows[] = {
        {"a(1, b=2) = c", 10, 13, 13, 13},
        {"do i = 1, 2", 5, 11, 11, 8},
        {"a == b .or. c /= d", 18, 18, 18, 18},
        {"p => q", 6, 2, 6, 6},
        {"integer, a :: b = 1", 16, 19, 11, 7},
        {"s = '=,::=>'", 2, 12, 12, 12},
        {"f = 3H=,: ", 2, 9, 9, 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ofl_item item = {.text = rows[i].text, .length = (uint32_t)strlen(rows[i].text)};
        struct ofl_outline outline = ofl_lex_outline(&item, 0);
        if (i + 1 < sizeof rows / sizeof rows[0]) {
            assert_int_equal(outline.equals, rows[i].equals);
            assert_int_equal(outline.arrow, rows[i].arrow);
            assert_int_equal(outline.double_colon, rows[i].double_colon);
            assert_int_equal(outline.comma, rows[i].comma);
        } else {
            assert_int_equal(outline.comma, item.length);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_operators), cmocka_unit_test(test_constants),
        cmocka_unit_test(test_keywords), cmocka_unit_test(test_outline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
