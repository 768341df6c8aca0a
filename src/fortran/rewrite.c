/* Applying edits to the user's text; see rewrite.h. */
#include "fortran/rewrite.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Texts and lines ---- */

void ofl_text_add(struct ofl_text *text, const char *bytes, size_t length)
{
    if (text->length + length + 1 > text->capacity) {
        size_t capacity = 2 * (text->length + length) + 256;
        char *larger = ofl_arena_alloc(text->arena, capacity);
        if (text->length > 0) {
            memcpy(larger, text->bytes, text->length);
        }
        text->bytes = larger;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void ofl_text_print(struct ofl_text *text, const char *format, ...)
{
    va_list arguments;
    char small[512], *bytes = small, *large = NULL;
    va_start(arguments, format);
    int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof small) {
        va_start(arguments, format);
        bytes = large = vasprintf(&large, format, arguments) < 0 ? NULL : large;
        va_end(arguments);
    }
    if (length >= 0 && bytes != NULL) {
        ofl_text_add(text, bytes, (size_t)length);
    }
    free(large);
}

void ofl_line_add(struct ofl_lines *lines, const char *format, ...)
{
    va_list arguments;
    char *bytes = NULL;
    va_start(arguments, format);
    int length = vasprintf(&bytes, format, arguments);
    va_end(arguments);
    struct ofl_line *line = OFL_NEW(lines->arena, struct ofl_line);
    line->text = ofl_arena_text(lines->arena, length < 0 ? "" : bytes, length < 0 ? 0 : (size_t)length);
    line->at = lines->at;
    free(bytes);
    if (lines->last == NULL) {
        lines->first = line;
    } else {
        lines->last->next = line;
    }
    lines->last = line;
}

/* ---- Boundaries of statements ---- */

static void note(struct ofl_arena *arena, ofl_pos **items, size_t *count, size_t *capacity, ofl_pos position)
{
    if (position == 0) {
        return;
    }
    if (*count == *capacity) {
        *capacity = *capacity == 0 ? 256 : 2 * *capacity;
        ofl_pos *larger = ofl_arena_alloc(arena, *capacity * sizeof *larger);
        if (*count > 0) {
            memcpy(larger, *items, *count * sizeof *larger);
        }
        *items = larger;
    }
    (*items)[(*count)++] = position;
}

static void note_statement(struct ofl_rewriter *rewriter, ofl_pos begin, ofl_pos end)
{
    struct ofl_boundaries *all = &rewriter->boundaries;
    note(rewriter->arena, &all->begins, &all->begin_count, &all->begin_capacity, begin);
    note(rewriter->arena, &all->ends, &all->end_count, &all->end_capacity, end);
}

static ofl_pos begin_of(struct ofl_span span, struct ofl_label label)
{
    return label.value != 0 ? label.span.begin : span.begin;
}

ofl_pos ofl_stmt_begin(const struct ofl_stmt *stmt)
{
    ofl_pos begin = begin_of(stmt->span, stmt->label);
    if (stmt->construct.name != NULL && stmt->construct.span.begin < begin) {
        begin = stmt->construct.span.begin;
    }
    return begin;
}

static bool note_one(struct ofl_stmt *stmt, void *context)
{
    struct ofl_rewriter *rewriter = context;
    note_statement(rewriter, ofl_stmt_begin(stmt), stmt->span.end);
    note_statement(rewriter, begin_of(stmt->end, stmt->end_label), stmt->end.end);
    switch (stmt->kind) {
    case OFL_STMT_IF:
    case OFL_STMT_SELECT_CASE:
    case OFL_STMT_SELECT_TYPE:
    case OFL_STMT_SELECT_RANK:
    case OFL_STMT_WHERE:
        for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
            note_statement(rewriter, begin_of(arm->guard, arm->label), arm->guard.end);
        }
        break;
    default:
        break;
    }
    return true;
}

static void note_units(struct ofl_rewriter *rewriter, const struct ofl_unit *units)
{
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        note_statement(rewriter, unit->span.begin, unit->span.end);
        note_statement(rewriter, begin_of(unit->end, unit->end_label), unit->end.end);
        note_statement(rewriter, unit->contains.begin, unit->contains.end);
        ofl_walk_stmts(&unit->body, note_one, rewriter);
        note_units(rewriter, unit->units);
    }
}

static int compare_positions(const void *left, const void *right)
{
    ofl_pos a = *(const ofl_pos *)left, b = *(const ofl_pos *)right;
    return (a > b) - (a < b);
}

/* The last of the sorted positions that is not above `limit`, or the first that is not below it; 0 if none. */
static ofl_pos nearest(const ofl_pos *items, size_t count, ofl_pos limit, bool above)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (above ? items[middle] < limit : items[middle] <= limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (above) {
        return low < count ? items[low] : 0;
    }
    return low > 0 ? items[low - 1] : 0;
}

/* ---- Reading the text ---- */

static bool is_fixed(const struct ofl_rewriter *rewriter)
{
    return rewriter->options->form == OFL_FORM_FIXED;
}

/* Whether the line at `line` holds no statement: comment, blank, preprocessor. */
static bool no_statement(const char *line, const char *end, bool fixed)
{
    const char *at = line;
    if (at < end && (*at == '#' || (fixed && strchr("cC*dD!", *at) != NULL))) {
        return true;
    }
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at == end || *at == '\n' || (*at == '!' && !(fixed && at - line == 5));
}

static const char *next_line(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    return line == NULL ? end : line + 1;
}

/* Whether a `;` lies between two statements, comments apart. */
static bool semicolon_between(const struct ofl_rewriter *rewriter, const struct ofl_source *source, ofl_pos from,
                              ofl_pos to)
{
    const char *at = source->text + (from - source->base), *end = source->text + (to - source->base);
    while (at < end) {
        if (*at == ';') {
            return true;
        }
        if (*at == '!') {
            at = next_line(at, end);
        } else if (*at++ != '\n') {
            continue;
        }
        while (at < end && no_statement(at, end, is_fixed(rewriter))) {
            at = next_line(at, end);
        }
        at += is_fixed(rewriter) && end - at > 6 ? 6 : 0;
    }
    return false;
}

/* Reads the text of a statement character by character, without comments, continuations and columns that do not
 * count. */
struct reader {
    const char *start, *at, *end; /* of the source's text, the place, the end of the span */
    bool fixed;
    unsigned limit; /* columns that count; 0: all */
    char quote;     /* inside a character constant */
};

static unsigned column_of(const struct reader *reader)
{
    const char *line = reader->at;
    while (line > reader->start && line[-1] != '\n') {
        line--;
    }
    return (unsigned)(reader->at - line) + 1;
}

/* Goes to the continuation of the statement on a later line. */
static void to_continuation(struct reader *reader)
{
    reader->at = next_line(reader->at, reader->end);
    while (reader->at < reader->end && no_statement(reader->at, reader->end, reader->fixed)) {
        reader->at = next_line(reader->at, reader->end);
    }
    if (reader->fixed) {
        const char *tab = reader->at;
        while (tab < reader->end && *tab == ' ') {
            tab++;
        }
        size_t skip = tab < reader->end && *tab == '\t' && tab - reader->at < 6 ? (size_t)(tab - reader->at) + 2 : 6;
        reader->at += (size_t)(reader->end - reader->at) < skip ? (size_t)(reader->end - reader->at) : skip;
        return;
    }
    const char *text = reader->at;
    while (text < reader->end && (*text == ' ' || *text == '\t')) {
        text++;
    }
    if (text < reader->end && *text == '&') {
        reader->at = text + 1;
    }
}

/* Whether the '&' at the place ends its line. */
static bool is_continued(const struct reader *reader)
{
    const char *at = reader->at + 1;
    while (at < reader->end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at >= reader->end || *at == '\n' || (*at == '!' && reader->quote == '\0');
}

/* The next character, or -1. */
static int read_character(struct reader *reader)
{
    while (reader->at < reader->end) {
        char c = *reader->at;
        bool beyond = reader->fixed && reader->limit > 0 && column_of(reader) > reader->limit;
        if (c == '\n' || beyond || (c == '&' && !reader->fixed && is_continued(reader)) ||
            (c == '!' && reader->quote == '\0')) {
            to_continuation(reader);
            continue;
        }
        reader->at++;
        if (c == '\r') {
            continue;
        }
        if (reader->quote != '\0') {
            reader->quote = c == reader->quote ? '\0' : reader->quote;
        } else if (c == '\'' || c == '"') {
            reader->quote = c;
        }
        return (unsigned char)c;
    }
    return -1;
}

const char *ofl_rewrite_flat(const struct ofl_rewriter *rewriter, struct ofl_span span)
{
    const struct ofl_source *source = ofl_source_at(rewriter->sources, span.begin);
    struct ofl_text text = {.arena = rewriter->arena};
    struct reader reader = {.start = source->text,
                            .at = source->text + (span.begin - source->base),
                            .end = source->text + (span.end - source->base),
                            .fixed = is_fixed(rewriter),
                            .limit = rewriter->options->fixed_line_length};
    int c;
    bool blank = false;
    ofl_text_add(&text, "", 0);
    while ((c = read_character(&reader)) >= 0) {
        char byte = (char)c;
        bool space = (byte == ' ' || byte == '\t') && reader.quote == '\0';
        if (space && blank) {
            continue;
        }
        blank = space;
        ofl_text_add(&text, space ? " " : &byte, 1);
    }
    return text.bytes;
}

/* ---- Edits ---- */

static void add_edit(struct ofl_rewriter *rewriter, struct ofl_edit edit)
{
    if (rewriter->edit_count == rewriter->edit_capacity) {
        size_t capacity = rewriter->edit_capacity == 0 ? 32 : 2 * rewriter->edit_capacity;
        struct ofl_edit *edits = ofl_arena_alloc(rewriter->arena, capacity * sizeof *edits);
        if (rewriter->edit_count > 0) {
            memcpy(edits, rewriter->edits, rewriter->edit_count * sizeof *edits);
        }
        rewriter->edits = edits;
        rewriter->edit_capacity = capacity;
    }
    edit.order = (unsigned)rewriter->edit_count;
    rewriter->edits[rewriter->edit_count++] = edit;
}

/* Where an edit that begins at a statement has to begin so that the statement before it on the line ends there. */
static ofl_pos after_neighbour(const struct ofl_rewriter *rewriter, ofl_pos begin)
{
    const struct ofl_source *source = ofl_source_at(rewriter->sources, begin);
    ofl_pos before = nearest(rewriter->boundaries.ends, rewriter->boundaries.end_count, begin, false);
    return before > source->base && semicolon_between(rewriter, source, before, begin) ? before : begin;
}

void ofl_rewrite_edit(struct ofl_rewriter *rewriter, ofl_pos begin, ofl_pos end, const struct ofl_lines *lines)
{
    const struct ofl_source *source = ofl_source_at(rewriter->sources, end);
    ofl_pos after = nearest(rewriter->boundaries.begins, rewriter->boundaries.begin_count, end, true);
    bool resumes =
        after != 0 && after <= source->base + source->length && semicolon_between(rewriter, source, end, after);
    add_edit(rewriter, (struct ofl_edit){.begin = begin == end ? begin : after_neighbour(rewriter, begin),
                                         .end = resumes ? after : end,
                                         .resumes = resumes,
                                         .lines = lines->first});
}

void ofl_rewrite_until(struct ofl_rewriter *rewriter, ofl_pos begin, ofl_pos end, const struct ofl_lines *lines)
{
    add_edit(rewriter,
             (struct ofl_edit){
                 .begin = after_neighbour(rewriter, begin), .end = end, .resumes = true, .lines = lines->first});
}

static int compare_edits(const void *left, const void *right)
{
    const struct ofl_edit *a = left, *b = right;
    if (a->begin != b->begin) {
        return a->begin > b->begin ? 1 : -1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

/* ---- The output ---- */

struct output {
    struct ofl_rewriter *rewriter;
    struct ofl_text text;
};

static void put_marker(struct output *output, ofl_pos position)
{
    struct ofl_place place = ofl_place_of(output->rewriter->sources, position);
    ofl_text_print(&output->text, "# %u \"", place.line);
    for (const char *c = place.file; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            ofl_text_add(&output->text, "\\", 1);
        }
        ofl_text_add(&output->text, c, 1);
    }
    ofl_text_add(&output->text, "\"\n", 2);
}

/* Ends the line that is being written; blanks alone are taken back. */
static void end_line(struct output *output)
{
    struct ofl_text *text = &output->text;
    size_t length = text->length;
    while (length > 0 && (text->bytes[length - 1] == ' ' || text->bytes[length - 1] == '\t')) {
        length--;
    }
    if (length == 0 || text->bytes[length - 1] == '\n') {
        text->length = length;
    } else {
        ofl_text_add(text, "\n", 1);
    }
}

/* A statement in the file's form, wrapped at its line length. */
static void put_line(struct output *output, const char *line)
{
    const struct ofl_parse_options *options = output->rewriter->options;
    bool fixed = is_fixed(output->rewriter);
    size_t left = strlen(line), digits = strspn(line, "0123456789");
    size_t limit = fixed ? options->fixed_line_length : options->free_line_length;
    if (*line == '!') { /* a directive begins in the first column */
        ofl_text_print(&output->text, "%s\n", line);
        return;
    }
    if (!fixed) {
        limit = limit == 0 || limit > 132 ? 132 : limit;
    }
    if (fixed) {
        ofl_text_print(&output->text, "%-6.*s", (int)digits, line); /* the label's columns */
        line += digits;
        left -= digits;
    }
    for (size_t column = fixed ? 6 : 0;; column = fixed ? 6 : 1) {
        size_t room = limit == 0 ? left : limit - column - (fixed ? 0 : 1);
        if (left <= room) {
            break;
        }
        ofl_text_add(&output->text, line, room);
        ofl_text_print(&output->text, fixed ? "\n     &" : "&\n&");
        line += room;
        left -= room;
    }
    ofl_text_add(&output->text, line, left);
    ofl_text_add(&output->text, "\n", 1);
}

static void put_lines(struct output *output, const struct ofl_line *lines)
{
    for (const struct ofl_line *line = lines; line != NULL; line = line->next) {
        if (line->at != 0) {
            put_marker(output, line->at);
        }
        put_line(output, line->text);
    }
}

/* Goes on in the text behind an edit: at the next line, or with a statement of the same line.  Returns the offset. */
static uint32_t resume(struct output *output, const struct ofl_source *source, uint32_t offset, bool shared)
{
    const char *at = source->text + offset, *end = source->text + source->length;
    if (!shared) {
        at = next_line(at, end);
        offset = (uint32_t)(at - source->text);
        if (at < end) {
            put_marker(output, source->base + offset);
        }
        return offset;
    }
    put_marker(output, source->base + offset);
    uint32_t column = 0;
    while (column < offset && source->text[offset - column - 1] != '\n') {
        column++;
    }
    if (is_fixed(output->rewriter) && column < 6) {
        column = 6;
    }
    ofl_text_print(&output->text, "%*s", (int)column, "");
    return offset;
}

static bool holds_edit(const struct ofl_rewriter *rewriter, const struct ofl_source *source)
{
    for (size_t i = 0; i < rewriter->edit_count; i++) {
        for (const struct ofl_source *at = ofl_source_at(rewriter->sources, rewriter->edits[i].begin); at != NULL;
             at = at->parent) {
            if (at == source) {
                return true;
            }
        }
    }
    return false;
}

/* The included source that has to be copied into `source` first behind `position`, or NULL. */
static const struct ofl_source *next_inclusion(const struct ofl_rewriter *rewriter, const struct ofl_source *source,
                                               ofl_pos position)
{
    const struct ofl_source *found = NULL;
    for (size_t i = 0; i < rewriter->sources->count; i++) {
        const struct ofl_source *other = rewriter->sources->items[i];
        if (other->parent == source && other->include_line.begin >= position &&
            (found == NULL || other->include_line.begin < found->include_line.begin) && holds_edit(rewriter, other)) {
            found = other;
        }
    }
    return found;
}

static void put_source(struct output *output, const struct ofl_source *source);

static void put_inclusion(struct output *output, const struct ofl_source *source)
{
    end_line(output);
    put_marker(output, source->base);
    put_source(output, source);
    end_line(output);
}

/* Copies a source with its edits and the included sources that hold some. */
static void put_source(struct output *output, const struct ofl_source *source)
{
    struct ofl_rewriter *rewriter = output->rewriter;
    uint32_t offset = 0;
    size_t next = 0;
    while (next < rewriter->edit_count && rewriter->edits[next].begin < source->base) {
        next++;
    }
    for (;;) {
        const struct ofl_edit *edit = next < rewriter->edit_count ? &rewriter->edits[next] : NULL;
        if (edit != NULL && edit->begin > source->base + source->length) {
            edit = NULL;
        }
        const struct ofl_source *inner = next_inclusion(rewriter, source, source->base + offset);
        if (edit == NULL && inner == NULL) {
            break;
        }
        bool include = inner != NULL && (edit == NULL || inner->include_line.begin < edit->begin);
        ofl_pos begin = include ? inner->include_line.begin : edit->begin;
        if (begin > source->base + offset) {
            ofl_text_add(&output->text, source->text + offset, begin - source->base - offset);
        }
        if (include) {
            put_inclusion(output, inner);
            offset = resume(output, source, inner->include_line.end - source->base, false);
            continue;
        }
        end_line(output);
        put_lines(output, edit->lines);
        offset = edit->end - source->base;
        next++;
        if (next < rewriter->edit_count && rewriter->edits[next].begin <= edit->end) {
            continue; /* what follows is replaced too */
        }
        offset = resume(output, source, offset, edit->resumes);
    }
    ofl_text_add(&output->text, source->text + offset, source->length - offset);
}

/* A prefix for names that occurs nowhere in the texts, in any case. */
static const char *unused_prefix(const struct ofl_rewriter *rewriter)
{
    for (unsigned attempt = 0;; attempt++) {
        const char *prefix = attempt == 0 ? "ofl_" : ofl_arena_format(rewriter->arena, "ofl%u_", attempt);
        bool used = false;
        for (size_t i = 0; i < rewriter->sources->count && !used; i++) {
            used = strcasestr(rewriter->sources->items[i]->text, prefix) != NULL;
        }
        if (!used) {
            return prefix;
        }
    }
}

void ofl_rewrite_start(struct ofl_rewriter *rewriter, const struct ofl_file *file, const struct ofl_sources *sources,
                       struct ofl_modules *modules, const struct ofl_parse_options *options,
                       struct ofl_diagnostics *diagnostics, struct ofl_arena *arena)
{
    *rewriter = (struct ofl_rewriter){.arena = arena,
                                      .sources = sources,
                                      .diagnostics = diagnostics,
                                      .file = file,
                                      .modules = modules,
                                      .options = options,
                                      .appended.arena = arena};
    rewriter->prefix = unused_prefix(rewriter);
    note_units(rewriter, file->units);
    struct ofl_boundaries *all = &rewriter->boundaries;
    if (all->begin_count > 0) {
        qsort(all->begins, all->begin_count, sizeof *all->begins, compare_positions);
        qsort(all->ends, all->end_count, sizeof *all->ends, compare_positions);
    }
}

const char *ofl_rewrite_text(struct ofl_rewriter *rewriter, bool name_first, size_t *length)
{
    struct output output = {.rewriter = rewriter, .text.arena = rewriter->arena};
    const struct ofl_source *source = rewriter->file->source;
    if (rewriter->edit_count > 0) {
        qsort(rewriter->edits, rewriter->edit_count, sizeof *rewriter->edits, compare_edits);
    }
    /* gfortran 12 loses the first character of the text if only one marker comes before it. */
    for (int i = 0; name_first && i < 2; i++) {
        put_marker(&output, source->base);
    }
    put_source(&output, source);
    end_line(&output);
    put_lines(&output, rewriter->appended.first);
    *length = output.text.length;
    return output.text.bytes;
}
