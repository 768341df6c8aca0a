/* Errors: where they are reported, that reading goes on, and that no input is too much. */
#include "reading.h"

#include <unistd.h>

static void test_messages(void **state)
{
    (void)state;
    assert_error(OFL_FORM_FREE, "x = 1 +\nend\n",
                 "t.f90:1:8: error: expected an expression, found the end of the statement");
    assert_error(OFL_FORM_FREE, "x = (1\nend\n", "t.f90:1:7: error: expected ')', found the end of the statement");
    assert_error(OFL_FORM_FREE, "do i = 1, 2\nend if\nend do\nend\n",
                 "t.f90:2:1: error: there is no if construct to end here");
    assert_error(OFL_FORM_FREE, "if (x) then\nend\n",
                 "t.f90:2:1: error: the if construct that is open here has not ended");
    assert_error(OFL_FORM_FREE, "s = 'abc\nend\n",
                 "t.f90:1:5: error: the character constant that begins here does not end");
    assert_error(OFL_FORM_FREE, "bla bla\nend\n", "t.f90:1:1: error: this is not the beginning of a statement");
    assert_error(OFL_FORM_FREE, "subroutine s\nx = 1\n",
                 "t.f90:1:1: error: the text ends before the end of this subroutine");
    assert_error(
        OFL_FORM_FREE, "do concurrent (i = 1:2) reduce(-: x)\nend do\nend\n",
        "t.f90:1:32: error: expected +, *, .and., .or., .eqv., .neqv., max, min, iand, ior or ieor, found '-'");
    assert_error(OFL_FORM_FIXED, "ABC   X = 1\n      END\n",
                 "t.f90:1:1: error: columns 1 to 5 of a line in fixed form may hold a statement label only");
}

static void test_recovery(void **state)
{
    (void)state;
    struct reading reading;
    reading_start(&reading, OFL_FORM_FREE);
    const char *text = "w = 0\nx = 1 +\ny = 2\nz = * 3\nend\n";
    reading_parse(&reading, text, strlen(text));
    char *tree = reading_tree(&reading), *messages = reading_messages(&reading);
    assert_string_equal(tree, "(program -\n  (assignment w 0)\n  (statement with an error)\n  (assignment y 2)\n  "
                              "(statement with an error))\n");
    assert_int_equal(reading.diagnostics.errors, 2);
    assert_string_equal(messages, "t.f90:2:8: error: expected an expression, found the end of the statement\n"
                                  "    2 | x = 1 +\n"
                                  "      |        ^\n"
                                  "t.f90:4:5: error: expected an expression, found '*'\n"
                                  "    4 | z = * 3\n"
                                  "      |     ^\n");
    free(tree);
    free(messages);
    reading_end(&reading);
}

/* An error in a statement that opens a construct does not make its end an error too. */
static void test_no_followers(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "if (x +) then\ny = 1\nelse\ny = 2\nend if\nend\n",
        "n: do concurrent (i = 1, 2)\ny = 1\nend do n\nend\n",
        "do 10 i = 1 2\n10 continue\nend\n",
        "if (x) y = = 1\nend\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct reading reading;
        reading_start(&reading, OFL_FORM_FREE);
        reading_parse(&reading, texts[i], strlen(texts[i]));
        assert_int_equal(reading.diagnostics.errors, 1);
        free(reading_tree(&reading));
        reading_end(&reading);
    }
}

static void test_line_length(void **state)
{
    (void)state;
    struct reading reading;
    char text[400];
    snprintf(text, sizeof text, "x = 1%*s+ 2\nend\n", 140, "");
    assert_error(OFL_FORM_FREE, text,
                 "t.f90:1:146: error: the line goes on behind column 132; -ffree-line-length-none lifts this limit");
    snprintf(text, sizeof text, "x = 1%*s! + 2\nend\n", 140, "");
    assert_tree(OFL_FORM_FREE, text, "(program -\n  (assignment x 1))\n");
    reading_start(&reading, OFL_FORM_FREE);
    reading.options.free_line_length = 0;
    snprintf(text, sizeof text, "x = 1%*s+ 2\nend\n", 140, "");
    reading_parse(&reading, text, strlen(text));
    assert_int_equal(reading.diagnostics.errors, 0);
    reading_end(&reading);
}

/* prefix, then `count` times `piece`, then suffix */
static char *repeated(const char *prefix, const char *piece, size_t count, const char *suffix, size_t *length)
{
    size_t size = strlen(piece);
    char *text = malloc(strlen(prefix) + count * size + strlen(suffix) + 1);
    char *at = stpcpy(text, prefix);
    for (size_t i = 0; i < count; i++, at += size) {
        memcpy(at, piece, size);
    }
    at = stpcpy(at, suffix);
    *length = (size_t)(at - text);
    return text;
}

/* Parses without a limit on line lengths; returns the number of errors and checks the first message. */
static void check_large(const char *prefix, const char *piece, size_t count, const char *suffix, const char *message)
{
    struct reading reading;
    size_t length = 0;
    char *text = repeated(prefix, piece, count, suffix, &length);
    reading_start(&reading, OFL_FORM_FREE);
    reading.options.free_line_length = 0;
    reading_parse(&reading, text, length);
    if (message == NULL) {
        assert_int_equal(reading.diagnostics.errors, 0);
    } else {
        assert_non_null(reading.diagnostics.first);
        if (strstr(reading.diagnostics.first->text, message) == NULL) {
            print_error("%s, %zu times %s, %s: %s\n", prefix, count, piece, suffix, reading.diagnostics.first->text);
        }
        assert_non_null(strstr(reading.diagnostics.first->text, message));
    }
    ofl_scopes_build(reading.file, &reading.modules, &reading.diagnostics);
    free(reading_tree(&reading));
    free(reading_messages(&reading));
    free(text);
    reading_end(&reading);
}

static void test_large(void **state)
{
    (void)state;
    static const char deep[] = "nested too deeply", complicated[] = "too complicated";
    check_large("x = ", "(", 10000, "1\nend\n", deep);
    check_large("x = ", "(", 900, "1\nend\n", "expected ')'");
    check_large("x = ", "[", 10000, "1\nend\n", deep);
    check_large("x = ", "f(", 10000, "1\nend\n", deep);
    check_large("x = ", "a(1)%", 20000, "b\nend\n", complicated);
    check_large("x = ", "-", 10000, "1\nend\n", deep);
    check_large("x = 1", "**2", 10000, "\nend\n", deep);
    check_large("x = 1", " + 1", 9000, "\nend\n", NULL);
    check_large("x = 1", " + 1", 250000, "\nend\n", complicated);
    check_large("write (*,*) ", "(", 10000, "\nend\n", deep);
    check_large("", "do\n", 10000, "end\n", deep);
    check_large("", "if (x) then\n", 10000, "end\n", deep);
    check_large("", "interface\nsubroutine s\n", 10000, "end\n", deep);
    check_large("s = '", "x", 1000000, "'\nend\n", NULL);
    check_large("s = '", "x", 1000000, "\nend\n", "does not end");
    check_large("! ", "x", 1000000, "\nend\n", NULL);
    check_large("call f(1", ", 1", 300000, ")\nend\n", NULL);
    check_large("x = 1", " &\n + 1", 9000, "\nend\n", NULL);
    check_large("x = a", "a", 1000000, "\nend\n", NULL);
    check_large("", "x", 1000000, "", "the beginning of a statement");
    check_large("", "&\n", 100000, "end\n", NULL);
    check_large("", ";", 1000000, "end\n", NULL);
    check_large("", "1 bad statement\n", 20000, "end\n", "the beginning of a statement");
}

static void test_binary(void **state)
{
    (void)state;
    struct reading reading;
    char bytes[3000];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * 131 + i / 7);
    }
    reading_start(&reading, OFL_FORM_FREE);
    reading_parse(&reading, bytes, sizeof bytes);
    assert_int_equal(reading.diagnostics.errors, 1);
    assert_non_null(strstr(reading.diagnostics.first->text, "not a Fortran text"));
    reading_end(&reading);
}

/* A program cut off at every byte: an error or a shorter program, never more. */
static void test_truncated(void **state)
{
    (void)state;
    static const char text[] =
        "program p\nuse m, only: a\ntype :: t\n real :: x(3) = [1., 2., 3.]\ncontains\n procedure :: f\n"
        "end type\ninteger, dimension(2) :: i = (/ 1, 2 /)\ndo concurrent (i = 1:2, j = 1:3) &\n"
        "  local(x) reduce(+: y)\n s = 'it''s' // \"a&\n   &b\"\n if (x(1) > 2.5e-3_8) then\n"
        "  write (*, '(a)') (q(k), k = 1, 3)\n end if\nend do\ncontains\nsubroutine s(a)\n"
        "end subroutine\nend program\n";
    for (size_t length = 0; length < sizeof text; length++) {
        for (int form = 0; form < 2; form++) {
            struct reading reading;
            reading_start(&reading, form == 0 ? OFL_FORM_FREE : OFL_FORM_FIXED);
            reading_parse(&reading, text, length);
            free(reading_tree(&reading));
            free(reading_messages(&reading));
            reading_end(&reading);
        }
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void test_includes(void **state)
{
    (void)state;
    char folder[] = "/tmp/ofl-include-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[100];
    struct reading reading;
    snprintf(path, sizeof path, "%s/body.inc", folder);
    write_file(path, "y = 2\nz = 3 +\n");
    snprintf(path, sizeof path, "%s/cycle.inc", folder);
    write_file(path, "include 'cycle.inc'\n");
    reading_start(&reading, OFL_FORM_FREE);
    const char *paths[] = {folder};
    reading.options.include_paths = paths;
    reading.options.include_path_count = 1;
    const char *text =
        "x = 1\n  include 'body.inc' ! comment\ninclude \"missing.inc\"\ninclude 'cycle.inc'\ninclude = 4\nend\n";
    reading_parse(&reading, text, strlen(text));
    char *tree = reading_tree(&reading), *messages = reading_messages(&reading);
    char expected[2000];
    snprintf(
        expected, sizeof expected,
        "(program -\n  (assignment x 1)\n  (include %s/body.inc)\n  (assignment y 2)\n  (statement with an error)\n"
        "  (include %s/cycle.inc)\n  (assignment include 4))\n",
        folder, folder);
    assert_string_equal(tree, expected);
    snprintf(
        expected, sizeof expected,
        "included from t.f90:2:\n"
        "%s/body.inc:2:8: error: expected an expression, found the end of the statement\n"
        "    2 | z = 3 +\n"
        "      |        ^\n"
        "t.f90:3:10: error: cannot open the include file 'missing.inc': No such file or directory\n"
        "    3 | include \"missing.inc\"\n"
        "      |          ^~~~~~~~~~~\n"
        "t.f90:3:10: note: looked for it beside the including file, in the current folder and in 1 folders given with "
        "-I\n"
        "    3 | include \"missing.inc\"\n"
        "      |          ^~~~~~~~~~~\n"
        "included from t.f90:4:\n"
        "%s/cycle.inc:1:10: error: '%s/cycle.inc' includes itself\n"
        "    1 | include 'cycle.inc'\n"
        "      |          ^~~~~~~~~\n",
        folder, folder, folder);
    assert_string_equal(messages, expected);
    free(tree);
    free(messages);
    reading_end(&reading);
    snprintf(path, sizeof path, "%s/body.inc", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/cycle.inc", folder);
    unlink(path);
    rmdir(folder);
}

/* Files that each include the next one twice: 2 to the 30th lines in the end. */
static void test_include_bomb(void **state)
{
    (void)state;
    enum { FILES = 30 };
    char folder[] = "/tmp/ofl-include-XXXXXX", path[100], text[100];
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d.inc", folder, i);
        snprintf(text, sizeof text, "include '%d.inc'\ninclude '%d.inc'\n", i + 1, i + 1);
        write_file(path, i + 1 < FILES ? text : "x = 1\n");
    }
    struct reading reading;
    reading_start(&reading, OFL_FORM_FREE);
    const char *paths[] = {folder};
    reading.options.include_paths = paths;
    reading.options.include_path_count = 1;
    reading_parse(&reading, "include '0.inc'\nend\n", strlen("include '0.inc'\nend\n"));
    assert_non_null(reading.diagnostics.first);
    assert_non_null(strstr(reading.diagnostics.first->text, "makes the source larger"));
    reading_end(&reading);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d.inc", folder, i);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),     cmocka_unit_test(test_recovery), cmocka_unit_test(test_line_length),
        cmocka_unit_test(test_no_followers), cmocka_unit_test(test_large),    cmocka_unit_test(test_binary),
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_includes), cmocka_unit_test(test_include_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
