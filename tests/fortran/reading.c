/* Parsing texts in memory, for the tests. */
#include "reading.h"

void reading_start(struct reading *reading, enum ofl_form form)
{
    memset(reading, 0, sizeof *reading);
    reading->arena = ofl_arena_new();
    reading->options = ofl_parse_defaults(form);
    ofl_sources_start(&reading->sources, reading->arena);
    ofl_diag_start(&reading->diagnostics, &reading->sources, reading->arena);
    ofl_modules_start(&reading->modules, reading->arena);
}

void reading_parse(struct reading *reading, const char *text, size_t length)
{
    const struct ofl_source *source = ofl_source_add(&reading->sources, "t.f90", text, length);
    reading->file = ofl_parse(source, &reading->options, &reading->sources, &reading->diagnostics);
}

void reading_end(struct reading *reading)
{
    ofl_arena_free(reading->arena);
}

char *reading_tree(const struct reading *reading)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ofl_dump_file(reading->file, stream);
    fclose(stream);
    return text;
}

char *reading_messages(const struct reading *reading)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ofl_diag_print(&reading->diagnostics, stream, false);
    fclose(stream);
    return text;
}

void assert_tree(enum ofl_form form, const char *text, const char *expected)
{
    struct reading reading;
    reading_start(&reading, form);
    reading_parse(&reading, text, strlen(text));
    char *messages = reading_messages(&reading), *tree = reading_tree(&reading);
    assert_string_equal(messages, "");
    assert_string_equal(tree, expected);
    free(messages);
    free(tree);
    reading_end(&reading);
}

void assert_error(enum ofl_form form, const char *text, const char *expected)
{
    struct reading reading;
    reading_start(&reading, form);
    reading_parse(&reading, text, strlen(text));
    char *messages = reading_messages(&reading);
    messages[strcspn(messages, "\n")] = '\0';
    assert_string_equal(messages, expected);
    assert_int_not_equal(reading.diagnostics.errors, 0);
    free(messages);
    reading_end(&reading);
}
