/* The reader's common part: the buffer, lines, include files, sentinels, Hollerith constants.
 *
 * Entry point: ofl_reader_next.  The two source forms are in statement_free.c and statement_fixed.c. */
#include "fortran/statement.h"
#include "fortran/arena.h"
#include "fortran/lexer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The length of a byte order mark.  gfortran leaves NUL bytes out, which makes UTF-16 and UTF-32 readable. */
static uint32_t byte_order_mark(const struct ofl_source *source)
{
    static const struct {
        const char *bytes;
        uint32_t length;
    } marks[] = {{"\xEF\xBB\xBF", 3}, {"\xFF\xFE\0\0", 4}, {"\0\0\xFE\xFF", 4}, {"\xFE\xFF", 2}, {"\xFF\xFE", 2}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (source->length >= marks[i].length && memcmp(source->text, marks[i].bytes, marks[i].length) == 0) {
            return marks[i].length;
        }
    }
    return 0;
}

void ofl_reader_start(struct ofl_reader *reader, const struct ofl_source *source,
                      const struct ofl_parse_options *options, struct ofl_sources *sources,
                      struct ofl_diagnostics *diagnostics)
{
    *reader = (struct ofl_reader){
        .arena = sources->arena, .sources = sources, .diagnostics = diagnostics, .options = options, .source = source};
    reader->at = byte_order_mark(source);
}

void ofl_reader_finish(struct ofl_reader *reader)
{
    free(reader->text);
    free(reader->where);
    reader->text = NULL;
    reader->where = NULL;
    reader->capacity = 0;
}

static void grow(struct ofl_reader *reader)
{
    uint32_t capacity = reader->capacity == 0 ? 4096 : 2 * reader->capacity;
    char *text = realloc(reader->text, capacity);
    ofl_pos *where = realloc(reader->where, capacity * sizeof *where);
    if (text == NULL || where == NULL) {
        fputs("gpu-offload: error: out of memory\n", stderr);
        exit(1);
    }
    reader->text = text;
    reader->where = where;
    reader->capacity = capacity;
}

void ofl_reader_put(struct ofl_reader *reader, char c, ofl_pos position)
{
    if (reader->length + 1 >= reader->capacity) { /* one more for the end */
        grow(reader);
    }
    reader->text[reader->length] = c;
    reader->where[reader->length++] = position;
    reader->behind = position + 1;
}

bool ofl_reader_line(struct ofl_reader *reader)
{
    while (reader->at >= reader->source->length) {
        if (reader->depth == 0) {
            return false;
        }
        reader->depth--;
        reader->source = reader->stack[reader->depth].source;
        reader->at = reader->stack[reader->depth].at;
    }
    return true;
}

void ofl_reader_skip_line(struct ofl_reader *reader)
{
    const char *text = reader->source->text;
    const char *newline = memchr(text + reader->at, '\n', reader->source->length - reader->at);
    reader->at = newline == NULL ? reader->source->length : (uint32_t)(newline - text) + 1;
    reader->mid_line = false;
}

void ofl_reader_too_long(struct ofl_reader *reader, uint32_t line_start, uint32_t at, unsigned limit)
{
    ofl_pos line = reader->source->base + line_start;
    if (reader->long_line != line) {
        reader->long_line = line;
        ofl_pos place = reader->source->base + at;
        ofl_diag_error(reader->diagnostics, (struct ofl_span){place, place + 1},
                       "the line goes on behind column %u; -ffree-line-length-none lifts this limit", limit);
    }
}

/* ---- Include lines ---------------------------------------------------------------------------------------------- */

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Finds `include 'name'` in [at, end): the name's offsets. */
static bool include_name(const char *text, uint32_t at, uint32_t end, uint32_t *first, uint32_t *last)
{
    while (at < end && blank(text[at])) {
        at++;
    }
    static const char word[] = "include";
    for (size_t i = 0; i < sizeof word - 1; i++) {
        if (at >= end || (text[at] | 0x20) != word[i]) {
            return false;
        }
        at++;
    }
    while (at < end && blank(text[at])) {
        at++;
    }
    if (at >= end || (text[at] != '\'' && text[at] != '"')) {
        return false;
    }
    char quote = text[at++];
    *first = at;
    while (at < end && text[at] != quote) {
        at++;
    }
    if (at >= end) {
        return false;
    }
    *last = at++;
    while (at < end && blank(text[at])) {
        at++;
    }
    return at == end || text[at] == '!';
}

/* Tries one folder; NULL with *error if there is no such file. */
static struct ofl_source *open_in(struct ofl_reader *reader, const char *folder, size_t folder_length, const char *name,
                                  struct ofl_span line, enum ofl_load_error *error)
{
    const char *path =
        folder_length == 0 ? name : ofl_arena_format(reader->arena, "%.*s/%s", (int)folder_length, folder, name);
    return ofl_source_include(reader->sources, path, reader->source, line, error);
}

/* gfortran's order: the folder of the including file, the current folder, then -I. */
static struct ofl_source *find_include(struct ofl_reader *reader, const char *name, struct ofl_span line,
                                       enum ofl_load_error *error)
{
    if (name[0] == '/') {
        return open_in(reader, "", 0, name, line, error);
    }
    const char *parent = ofl_place_of(reader->sources, line.begin).file;
    const char *slash = strrchr(parent, '/');
    struct ofl_source *source = NULL;
    if (slash != NULL && slash != parent) {
        source = open_in(reader, parent, (size_t)(slash - parent), name, line, error);
    }
    if (source == NULL) {
        source = open_in(reader, "", 0, name, line, error);
    }
    for (size_t i = 0; source == NULL && i < reader->options->include_path_count; i++) {
        const char *folder = reader->options->include_paths[i];
        source = open_in(reader, folder, strlen(folder), name, line, error);
    }
    return source;
}

static void report_missing(struct ofl_reader *reader, const char *name, struct ofl_span span, enum ofl_load_error error)
{
    struct ofl_diagnostics *diagnostics = reader->diagnostics;
    if (error == OFL_LOAD_TOO_LARGE) {
        ofl_diag_error(diagnostics, span, "including '%s' makes the source larger than %u MiB or %d files", name,
                       (unsigned)(OFL_MAX_SOURCE_BYTES >> 20), OFL_MAX_SOURCES);
        return;
    }
    ofl_diag_error(diagnostics, span, "cannot open the include file '%s': %s", name, strerror(errno));
    if (errno == ENOENT && name[0] != '/') {
        ofl_diag_note(diagnostics, span,
                      "looked for it beside the including file, in the current folder and in %zu "
                      "folders given with -I",
                      reader->options->include_path_count);
    }
}

static bool cycle(const struct ofl_reader *reader, const struct ofl_source *included)
{
    for (const struct ofl_source *source = included->parent; source != NULL; source = source->parent) {
        if (strcmp(source->path, included->path) == 0) {
            return true;
        }
    }
    return reader->depth == OFL_MAX_INCLUDE_DEPTH;
}

static void enter(struct ofl_reader *reader, const char *name, struct ofl_span name_span, struct ofl_span line,
                  struct ofl_item *item)
{
    enum ofl_load_error error = OFL_LOAD_OK;
    const struct ofl_source *included = find_include(reader, name, line, &error);
    *item = (struct ofl_item){.kind = OFL_ITEM_END, .span = line};
    if (included == NULL) {
        report_missing(reader, name, name_span, error);
        return;
    }
    if (cycle(reader, included)) {
        if (reader->depth == OFL_MAX_INCLUDE_DEPTH) {
            ofl_diag_error(reader->diagnostics, name_span, "include files are nested more than %d deep",
                           OFL_MAX_INCLUDE_DEPTH);
        } else {
            ofl_diag_error(reader->diagnostics, name_span, "'%s' includes itself", included->path);
        }
        return;
    }
    reader->stack[reader->depth].source = reader->source;
    reader->stack[reader->depth].at = reader->at;
    reader->depth++;
    reader->source = included;
    reader->at = byte_order_mark(included);
    item->kind = OFL_ITEM_INCLUDE;
    item->included = included;
}

/* The parts of an include line: from its first character to its end, and the name. */
static bool include_line(const struct ofl_source *source, uint32_t at, struct ofl_span *line, uint32_t *first,
                         uint32_t *last)
{
    const char *text = source->text;
    while (at < source->length && blank(text[at])) {
        at++;
    }
    if (at >= source->length || (text[at] | 0x20) != 'i') {
        return false;
    }
    const char *newline = memchr(text + at, '\n', source->length - at);
    *line = (struct ofl_span){at, newline == NULL ? source->length : (uint32_t)(newline - text)};
    return include_name(text, line->begin, line->end, first, last);
}

bool ofl_at_include(const struct ofl_source *source, uint32_t at)
{
    struct ofl_span line;
    uint32_t first, last;
    return include_line(source, at, &line, &first, &last);
}

bool ofl_reader_include(struct ofl_reader *reader, struct ofl_item *item)
{
    const char *text = reader->source->text;
    struct ofl_span line;
    uint32_t first = 0, last = 0;
    if (!include_line(reader->source, reader->at, &line, &first, &last)) {
        return false;
    }
    ofl_reader_skip_line(reader);
    while (line.end > line.begin && blank(text[line.end - 1])) {
        line.end--;
    }
    ofl_pos base = reader->source->base;
    const char *name = ofl_arena_text(reader->arena, text + first, last - first);
    enter(reader, name, (struct ofl_span){base + first, base + last},
          (struct ofl_span){base + line.begin, base + line.end}, item);
    return true;
}

/* An include line in several lines: gfortran joins them. */
static bool joined_include(struct ofl_reader *reader, struct ofl_item *item)
{
    uint32_t first = 0, last = 0;
    if (reader->length < 8 || (item->text[0] | 0x20) != 'i' ||
        !include_name(item->text, 0, item->length, &first, &last)) {
        return false;
    }
    const char *name = ofl_arena_text(reader->arena, item->text + first, last - first);
    enter(reader, name, (struct ofl_span){item->where[first], item->where[last]}, item->span, item);
    return true;
}

/* ---- Sentinels and Hollerith constants -------------------------------------------------------------------------- */

const char *ofl_sentinel_at(const struct ofl_source *source, uint32_t at, uint32_t *length)
{
    static const struct {
        const char *text, *name;
    } sentinels[] = {{"$omp", "omp"}, {"$acc", "acc"}, {"dir$", "dir"}, {"dec$", "dec"},
                     {"gcc$", "gcc"}, {"pgi$", "pgi"}, {"ibm*", "ibm"}};
    const char *text = source->text + at;
    if (source->length - at < 5) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof sentinels / sizeof sentinels[0]; i++) {
        if (strncasecmp(text + 1, sentinels[i].text, 4) == 0) {
            *length = 5;
            return sentinels[i].name;
        }
    }
    return NULL;
}

static bool starts_with(const struct ofl_reader *reader, const char *word)
{
    uint32_t i = 0;
    for (; *word != '\0'; word++, i++) {
        if (i >= reader->length || (reader->text[i] | 0x20) != *word) {
            return false;
        }
    }
    return true;
}

bool ofl_reader_is_format(const struct ofl_reader *reader)
{
    if (!starts_with(reader, "format")) {
        return false;
    }
    uint32_t i = 6;
    while (i < reader->length && reader->text[i] == ' ') {
        i++;
    }
    return i < reader->length && reader->text[i] == '(';
}

uint32_t ofl_hollerith_length(const struct ofl_reader *reader, bool format)
{
    uint32_t h = reader->length - 1, first = h;
    while (first > 0 && reader->text[first - 1] >= '0' && reader->text[first - 1] <= '9') {
        first--;
    }
    if (first == h || h - first > 9) {
        return 0;
    }
    for (uint32_t i = first + 1; i <= h; i++) {
        if (!format && reader->where[i] != reader->where[i - 1] + 1) { /* blanks or a line end between */
            return 0;
        }
    }
    if (!format && !ofl_hollerith_may_follow(reader->text, first)) {
        return 0;
    }
    uint32_t value = 0;
    for (uint32_t i = first; i < h; i++) {
        value = value * 10 + (uint32_t)(reader->text[i] - '0');
    }
    return value;
}

void ofl_reader_next(struct ofl_reader *reader, struct ofl_item *item)
{
    for (;;) {
        *item = (struct ofl_item){
            .kind = OFL_ITEM_END, .glued = reader->options->form == OFL_FORM_FIXED, .dec = reader->options->dec};
        reader->length = 0;
        reader->behind = 0;
        reader->split = false;
        bool found = item->glued ? ofl_read_fixed(reader, item) : ofl_read_free(reader, item);
        if (!found) {
            item->kind = OFL_ITEM_END;
            return;
        }
        if (item->kind == OFL_ITEM_INCLUDE) {
            return;
        }
        if (reader->length == 0) { /* nothing between two semicolons, or a label alone */
            if (item->label.value != 0) {
                ofl_diag_error(reader->diagnostics, item->label.span, "a statement is missing behind the label");
            }
            if (item->kind != OFL_ITEM_DIRECTIVE) {
                continue;
            }
            ofl_reader_put(reader, ' ', item->span.begin);
            reader->length = 0;
        }
        reader->text[reader->length] = '\0';
        reader->where[reader->length] = reader->behind;
        item->text = reader->text;
        item->where = reader->where;
        item->length = reader->length;
        item->split = reader->split;
        if (item->kind == OFL_ITEM_STATEMENT) {
            item->span = (struct ofl_span){reader->where[0], reader->behind};
            if (joined_include(reader, item) && item->kind == OFL_ITEM_END) {
                continue;
            }
        }
        return;
    }
}
