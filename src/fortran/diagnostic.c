/* Collecting and printing messages about the source.
 *
 * Long lines (generated code, binary files) are shown as a window around the place; bytes that a terminal would act on
 * are shown as `?`. */
#include "fortran/diagnostic.h"
#include "fortran/arena.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT = 100, WINDOW = 120, BEFORE = 60, MAX_TEXT = 2000 };

static const struct {
    const char *label, *prefix, *colour;
} severities[] = {
    [OFL_DIAG_ERROR] = {"error", "", "\033[1;31m"},
    [OFL_DIAG_UNSUPPORTED] = {"error", "not yet implemented: ", "\033[1;31m"},
    [OFL_DIAG_BUG] = {"error", "compiler bug: ", "\033[1;31m"},
    [OFL_DIAG_WARNING] = {"warning", "", "\033[1;35m"},
    [OFL_DIAG_NOTE] = {"note", "", "\033[1;36m"},
};

void ofl_diag_start(struct ofl_diagnostics *diagnostics, const struct ofl_sources *sources, struct ofl_arena *arena)
{
    *diagnostics = (struct ofl_diagnostics){.sources = sources, .arena = arena, .limit = LIMIT};
}

static bool is_error(enum ofl_severity severity)
{
    return severity == OFL_DIAG_ERROR || severity == OFL_DIAG_UNSUPPORTED || severity == OFL_DIAG_BUG;
}

static bool known(const struct ofl_diagnostics *diagnostics, enum ofl_severity severity, struct ofl_span span,
                  const char *text)
{
    for (const struct ofl_diagnostic *other = diagnostics->first; other != NULL; other = other->next) {
        if (other->severity == severity && other->span.begin == span.begin && strcmp(other->text, text) == 0) {
            return true;
        }
    }
    return false;
}

static void add(struct ofl_diagnostics *diagnostics, enum ofl_severity severity, struct ofl_span span,
                const char *format, va_list arguments)
{
    char text[MAX_TEXT];
    vsnprintf(text, sizeof text, format, arguments);
    if (severity == OFL_DIAG_NOTE) {
        if (diagnostics->drop_notes) {
            return;
        }
    } else {
        diagnostics->drop_notes = diagnostics->errors + diagnostics->warnings >= diagnostics->limit ||
                                  known(diagnostics, severity, span, text);
        diagnostics->errors += is_error(severity);
        diagnostics->warnings += severity == OFL_DIAG_WARNING;
        if (diagnostics->drop_notes) {
            return;
        }
    }
    struct ofl_diagnostic *diagnostic = OFL_NEW(diagnostics->arena, struct ofl_diagnostic);
    diagnostic->severity = severity;
    diagnostic->span = span;
    diagnostic->text = ofl_arena_text(diagnostics->arena, text, strlen(text));
    if (diagnostics->last == NULL) {
        diagnostics->first = diagnostic;
    } else {
        diagnostics->last->next = diagnostic;
    }
    diagnostics->last = diagnostic;
}

void ofl_diag_error(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diagnostics, OFL_DIAG_ERROR, span, format, arguments);
    va_end(arguments);
}

void ofl_diag_unsupported(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diagnostics, OFL_DIAG_UNSUPPORTED, span, format, arguments);
    va_end(arguments);
}

void ofl_diag_bug(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diagnostics, OFL_DIAG_BUG, span, format, arguments);
    va_end(arguments);
}

void ofl_diag_warning(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diagnostics, OFL_DIAG_WARNING, span, format, arguments);
    va_end(arguments);
}

void ofl_diag_note(struct ofl_diagnostics *diagnostics, struct ofl_span span, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(diagnostics, OFL_DIAG_NOTE, span, format, arguments);
    va_end(arguments);
}

static char printable(char c)
{
    return (unsigned char)c < ' ' && c != '\t' ? '?' : c == 127 ? '?' : c;
}

/* The line of the text with the place underlined: `  12 | text` and `     |   ^~~`. */
static void print_line(const struct ofl_diagnostics *diagnostics, struct ofl_span span, uint32_t line_number,
                       const char *colour, FILE *stream)
{
    struct ofl_span line = ofl_line_of(diagnostics->sources, span.begin);
    size_t length = 0;
    const char *text = ofl_span_text(diagnostics->sources, line, &length);
    if (text == NULL || length == 0) {
        return;
    }
    size_t at = span.begin - line.begin;
    size_t marked = span.end > span.begin && span.end <= line.end  ? span.end - span.begin
                    : span.end > line.end && line.end > span.begin ? line.end - span.begin
                                                                   : 1;
    size_t first = 0;
    bool cut_before = false, cut_after = false;
    if (length > WINDOW) {
        first = at > BEFORE ? at - BEFORE : 0;
        cut_before = first > 0;
        cut_after = first + WINDOW < length;
        length = cut_after ? WINDOW : length - first;
    }
    fprintf(stream, "%5" PRIu32 " | %s", line_number, cut_before ? "..." : "");
    for (size_t i = 0; i < length; i++) {
        putc(printable(text[first + i]), stream);
    }
    fprintf(stream, "%s\n      | %s", cut_after ? "..." : "", cut_before ? "   " : "");
    for (size_t i = first; i < at; i++) { /* tabs stay, so that the caret stands below its character */
        unsigned char c = i < first + length ? (unsigned char)text[i] : ' ';
        if (c == '\t') {
            putc('\t', stream);
        } else if ((c & 0xC0) != 0x80) { /* one column per UTF-8 character */
            putc(' ', stream);
        }
    }
    fprintf(stream, "%s^", colour != NULL ? colour : "");
    for (size_t i = at + 1; i < at + marked && i < first + length; i++) {
        putc('~', stream);
    }
    fprintf(stream, "%s\n", colour != NULL ? "\033[0m" : "");
}

/* The chain of include lines that leads to the place, outermost last, as other compilers print it. */
static void print_includes(const struct ofl_sources *sources, const struct ofl_source *source, FILE *stream)
{
    for (; source != NULL && source->parent != NULL; source = source->parent) {
        struct ofl_place place = ofl_place_of(sources, source->include_line.begin);
        fprintf(stream, "included from %s:%" PRIu32 ":\n", place.file, place.line);
    }
}

static void print_one(const struct ofl_diagnostics *diagnostics, const struct ofl_diagnostic *diagnostic, bool colour,
                      FILE *stream)
{
    const char *strong = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
    const char *hue = colour ? severities[diagnostic->severity].colour : NULL;
    const struct ofl_source *source = ofl_source_at(diagnostics->sources, diagnostic->span.begin);
    struct ofl_place place = ofl_place_of(diagnostics->sources, diagnostic->span.begin);
    if (source != NULL) {
        print_includes(diagnostics->sources, source, stream);
        fprintf(stream, "%s%s:%" PRIu32 ":%" PRIu32 ":%s ", strong, place.file, place.line, place.column, plain);
    } else {
        fprintf(stream, "%s%s:%s ", strong, place.file[0] != '\0' ? place.file : "gpu-offload", plain);
    }
    fprintf(stream, "%s%s:%s %s%s%s%s\n", hue != NULL ? hue : "", severities[diagnostic->severity].label, plain, strong,
            severities[diagnostic->severity].prefix, diagnostic->text, plain);
    if (source != NULL) {
        print_line(diagnostics, diagnostic->span, place.line, hue, stream);
    }
}

void ofl_diag_print(const struct ofl_diagnostics *diagnostics, FILE *stream, bool colour)
{
    unsigned shown = 0;
    for (const struct ofl_diagnostic *diagnostic = diagnostics->first; diagnostic != NULL;
         diagnostic = diagnostic->next) {
        print_one(diagnostics, diagnostic, colour, stream);
        shown += is_error(diagnostic->severity);
    }
    if (diagnostics->errors > shown && diagnostics->errors > diagnostics->limit) {
        fprintf(stream, "gpu-offload: %u more errors are not shown\n", diagnostics->errors - shown);
    }
}

bool ofl_diag_wants_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return (no_colour == NULL || no_colour[0] == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0 &&
           isatty(fileno(stream));
}
