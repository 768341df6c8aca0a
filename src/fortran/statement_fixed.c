/* Statements in fixed form.
 *
 * Entry point: ofl_read_fixed.  Columns 1 to 5 hold a label, a character other than blank and 0 in column 6 continues
 * the statement before, the statement stands in columns 7 to 72 (or the length that was asked for).  C, c, *, ! (and d,
 * D) in column 1 begin a comment.  A tab among the first six columns goes to column 7; a digit behind it continues.
 * Blanks mean nothing outside of character and Hollerith constants and are left out; a constant that goes over a line
 * end has the blanks up to the last column in it.
 *
 * Sources: Fortran 2018, 6.3.3; tabs and short lines as gfortran takes them. */
#include "fortran/arena.h"
#include "fortran/statement.h"

#include <string.h>

enum { TEXT_COLUMN = 7 };

enum line_kind { LINE_BLANK, LINE_COMMENT, LINE_INITIAL, LINE_CONTINUATION };

/* A line taken apart; offsets in the source. */
struct line {
    enum line_kind kind;
    uint32_t begin;     /* of the line */
    uint32_t text, end; /* the statement's part; `end` is the line's end or the limit */
    uint32_t pad;       /* a line that ends before the limit: blanks to it, which count in constants */
    struct ofl_label label;
    bool directive; /* a comment with a sentinel */
};

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0' || c == '\f';
}

static bool is_comment(const struct ofl_reader *reader, char first)
{
    switch (first) {
    case 'c':
    case 'C':
    case '*':
    case '!':
    case '#':
        return true;
    case 'd':
    case 'D':
        return !reader->options->d_lines_are_code;
    default:
        return false;
    }
}

/* `!$`, `c$` or `*$` and then only blanks and digits up to column 5: conditional compilation. */
static bool conditional(const struct ofl_reader *reader, uint32_t at, uint32_t end)
{
    const char *text = reader->source->text;
    if (!reader->options->openmp || end - at < 3 || text[at + 1] != '$' || text[at] == '#') {
        return false;
    }
    for (uint32_t i = at + 2; i < at + 5 && i < end; i++) {
        if (text[i] == '\t') {
            return true;
        }
        if (text[i] != ' ' && (text[i] < '0' || text[i] > '9')) {
            return false;
        }
    }
    return true;
}

/* Columns 1 to 6, from `at`.  Sets kind, label and text. */
static void read_columns(struct ofl_reader *reader, struct line *line, uint32_t at, uint32_t column, uint32_t line_end)
{
    const struct ofl_source *source = reader->source;
    uint32_t value = 0;
    bool bad = false;
    line->kind = LINE_INITIAL;
    for (; at < line_end && column < TEXT_COLUMN; at++, column++) {
        char c = source->text[at];
        if (c == '\r' || c == '\0') {
            column--;
        } else if (c == '\t') {
            at++;
            column = TEXT_COLUMN;
            if (at < line_end && source->text[at] >= '1' && source->text[at] <= '9') {
                line->kind = LINE_CONTINUATION;
                at++;
            }
            break;
        } else if (column == TEXT_COLUMN - 1) {
            if (c != ' ' && c != '0') {
                line->kind = LINE_CONTINUATION;
            }
        } else if (c >= '0' && c <= '9') {
            value = value * 10 + (uint32_t)(c - '0');
            line->label.span.end = source->base + at + 1;
            if (line->label.span.begin == 0) {
                line->label.span.begin = source->base + at;
            }
        } else if (c == '!') {
            line->kind = LINE_COMMENT;
            return;
        } else if (c != ' ' && !bad) {
            bad = true;
            line->text = at;
        }
    }
    line->label.value = value;
    if (line->kind == LINE_CONTINUATION && (value != 0 || bad)) {
        line->kind = LINE_INITIAL; /* gfortran: a label makes it an initial line; so would text */
    }
    if (!bad) {
        line->text = at;
    }
    unsigned limit = reader->options->fixed_line_length;
    if (limit > 0) {
        uint32_t room = column <= limit ? limit - column + 1 : 0;
        line->pad = line_end - at < room ? room - (line_end - at) : 0;
        line->end = line_end - at < room ? line_end : at + room;
    } else {
        line->end = line_end;
    }
    if (bad && line->end < line->text) {
        line->end = line->text;
    }
}

/* Takes the line at reader->at apart. */
static struct line take_line(struct ofl_reader *reader)
{
    const struct ofl_source *source = reader->source;
    const char *text = source->text;
    struct line line = {.kind = LINE_BLANK, .begin = reader->at};
    uint32_t at = reader->at;
    const char *newline = memchr(text + at, '\n', source->length - at);
    uint32_t line_end = newline == NULL ? source->length : (uint32_t)(newline - text);
    if (line_end > at && text[line_end - 1] == '\r') {
        line_end--;
    }
    if (at < line_end && is_comment(reader, text[at])) {
        line.kind = LINE_COMMENT;
        if (conditional(reader, at, line_end)) {
            read_columns(reader, &line, at + 2, 3, line_end);
        } else {
            uint32_t length = 0;
            line.directive = ofl_sentinel_at(source, at, &length) != NULL;
            line.end = line_end;
        }
        return line;
    }
    uint32_t first = at;
    while (first < line_end && blank(text[first])) {
        first++;
    }
    if (first == line_end) {
        return line;
    }
    if (ofl_at_include(source, at)) { /* even where its first letter stands in column 6 */
        line.kind = LINE_INITIAL;
        return line;
    }
    if (text[first] == '!' && (first - at != TEXT_COLUMN - 2 || memchr(text + at, '\t', first - at) != NULL)) {
        line.kind = LINE_COMMENT;
        return line;
    }
    bool debug = text[at] == 'd' || text[at] == 'D';
    read_columns(reader, &line, debug ? at + 1 : at, debug ? 2 : 1, line_end);
    uint32_t rest = line.text;
    while (rest < line.end && blank(text[rest])) {
        rest++;
    }
    if (rest == line.end && line.kind == LINE_INITIAL && line.label.value == 0) {
        line.kind = LINE_BLANK;
    }
    return line;
}

/* Moves to the line that continues the statement, if the next one that is neither blank nor a comment does. */
static bool next_continuation(struct ofl_reader *reader, struct line *line)
{
    const struct ofl_source *source = reader->source;
    uint32_t at = reader->at;
    unsigned depth = reader->depth;
    while (ofl_reader_line(reader)) {
        *line = take_line(reader);
        if (line->kind == LINE_CONTINUATION) {
            return true;
        }
        if (line->kind == LINE_INITIAL || line->directive) {
            break;
        }
        ofl_reader_skip_line(reader);
    }
    reader->source = source;
    reader->at = at;
    reader->depth = depth;
    return false;
}

/* State of copying one statement. */
struct copy {
    struct ofl_reader *reader;
    struct line line;
    bool gap; /* blanks were left out since the last character constant */
};

/* The next character of the statement, or -1 at its end; inside a constant, short lines are padded. */
static int peek(struct copy *copy, bool in_constant)
{
    struct ofl_reader *reader = copy->reader;
    for (;;) {
        if (reader->at < copy->line.end) {
            char c = reader->source->text[reader->at];
            if (c == '\r' || c == '\0') {
                reader->at++;
                continue;
            }
            return (unsigned char)c;
        }
        if (in_constant && copy->line.pad > 0) {
            return ' ';
        }
        copy->gap |= copy->line.pad > 0;
        ofl_reader_skip_line(reader);
        if (!next_continuation(reader, &copy->line)) {
            return -1; /* the reader is at the next statement's line: no further call */
        }
        reader->at = copy->line.text;
    }
}

static void advance(struct copy *copy)
{
    if (copy->reader->at < copy->line.end) {
        copy->reader->at++;
    } else if (copy->line.pad > 0) {
        copy->line.pad--;
    }
}

/* Of the next character; blanks of the padding stand where the line's last character does. */
static ofl_pos position(const struct copy *copy)
{
    uint32_t at = copy->reader->at;
    return copy->reader->source->base + at - (at >= copy->line.end && at > 0);
}

/* Copies a constant from behind its opening quote to its end; false if the statement ended before. */
static bool copy_constant(struct copy *copy, char quote)
{
    for (;;) {
        int c = peek(copy, true);
        if (c < 0) {
            return false;
        }
        ofl_reader_put(copy->reader, (char)c, position(copy));
        advance(copy);
        if (c == quote) {
            return true;
        }
    }
}

static bool copy_hollerith(struct copy *copy, uint32_t count)
{
    for (; count > 0; count--) {
        int c = peek(copy, true);
        if (c < 0) {
            return false;
        }
        ofl_reader_put(copy->reader, (char)c, position(copy));
        advance(copy);
    }
    return true;
}

/* Copies a statement; reader->at is at its first character in line.  Leaves the reader behind it. */
static void copy_statement(struct ofl_reader *reader, const struct line *line)
{
    struct copy copy = {.reader = reader, .line = *line};
    bool after_constant = false;
    for (;;) {
        int c = peek(&copy, false);
        if (c < 0) {
            return; /* peek has moved to the next line */
        }
        ofl_pos at = position(&copy);
        advance(&copy);
        if (c == '!') {
            reader->at = copy.line.end;
            copy.line.pad = 0;
        } else if (c == ';') {
            reader->mid_line = true;
            reader->mid_line_end = copy.line.end;
            reader->mid_line_pad = copy.line.pad;
            return;
        } else if (c == '\'' || c == '"') {
            if (after_constant && copy.gap) { /* 'a' 'b' is not 'a''b' */
                ofl_reader_put(reader, ' ', reader->behind);
            }
            ofl_reader_put(reader, (char)c, at);
            if (!copy_constant(&copy, (char)c)) {
                return;
            }
            after_constant = true;
            copy.gap = false;
            continue;
        } else if (c != ' ' && c != '\t' && c != '\f') {
            ofl_reader_put(reader, (char)c, at);
            if (c == 'h' || c == 'H') {
                uint32_t count = ofl_hollerith_length(reader, ofl_reader_is_format(reader));
                if (count > 0 && !copy_hollerith(&copy, count)) {
                    return;
                }
            }
            after_constant = false;
        } else {
            copy.gap = true;
        }
    }
}

/* The rest of a line behind a semicolon. */
static bool rest_of_line(struct ofl_reader *reader, struct line *line)
{
    const char *text = reader->source->text;
    *line = (struct line){.kind = LINE_INITIAL, .end = reader->mid_line_end, .pad = reader->mid_line_pad};
    reader->mid_line = false;
    uint32_t at = reader->at;
    while (at < line->end && blank(text[at])) {
        at++;
    }
    if (at < line->end && text[at] != '!') {
        line->text = at;
        return true;
    }
    reader->at = line->end;
    if (at == line->end) { /* a semicolon may end a line that the next one continues */
        ofl_reader_skip_line(reader);
        return next_continuation(reader, line);
    }
    ofl_reader_skip_line(reader);
    return false;
}

bool ofl_read_fixed(struct ofl_reader *reader, struct ofl_item *item)
{
    struct line line;
    item->kind = OFL_ITEM_STATEMENT;
    if (reader->mid_line && rest_of_line(reader, &line)) {
        reader->at = line.text;
        copy_statement(reader, &line);
        return true;
    }
    while (ofl_reader_line(reader)) {
        if (ofl_reader_include(reader, item)) {
            if (item->kind == OFL_ITEM_INCLUDE) {
                return true;
            }
            item->kind = OFL_ITEM_STATEMENT;
            continue;
        }
        line = take_line(reader);
        if (line.directive) {
            uint32_t length = 0;
            const char *sentinel = ofl_sentinel_at(reader->source, line.begin, &length);
            ofl_read_directive_fixed(reader, line.begin, sentinel, length, item);
            return true;
        }
        if (line.kind == LINE_BLANK || line.kind == LINE_COMMENT) {
            ofl_reader_skip_line(reader);
            continue;
        }
        if (line.text < line.begin + TEXT_COLUMN - 2 && !blank(reader->source->text[line.text]) &&
            memchr(reader->source->text + line.begin, '\t', line.text - line.begin) == NULL) {
            ofl_pos place = reader->source->base + line.text;
            ofl_diag_error(reader->diagnostics, (struct ofl_span){place, place + 1},
                           "columns 1 to 5 of a line in fixed form may hold a statement label only");
        }
        item->label = line.label;
        reader->at = line.text;
        copy_statement(reader, &line);
        return true;
    }
    return false;
}

void ofl_read_directive_fixed(struct ofl_reader *reader, uint32_t at, const char *sentinel, uint32_t length,
                              struct ofl_item *item)
{
    item->kind = OFL_ITEM_DIRECTIVE;
    item->sentinel = ofl_name_of(reader->arena, sentinel, strlen(sentinel));
    item->span.begin = reader->source->base + at;
    item->span.end = item->span.begin + length;
    unsigned limit = reader->options->fixed_line_length;
    for (;;) {
        const struct ofl_source *source = reader->source;
        const char *text = source->text;
        const char *newline = memchr(text + at, '\n', source->length - at);
        uint32_t end = newline == NULL ? source->length : (uint32_t)(newline - text);
        if (limit > 0 && end - at > limit) {
            end = at + limit;
        }
        char quote = '\0';
        for (uint32_t i = at + length + 1; i < end; i++) { /* column 6 says whether it continues */
            char c = text[i];
            if (c == '!' && quote == '\0') {
                break;
            }
            if (c == '\'' || c == '"') {
                quote = quote == '\0' ? c : quote == c ? '\0' : quote;
            }
            if (c != '\r' && c != '\0' && (reader->length > 0 || !blank(c))) {
                c = quote == '\0' && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c == '\t' ? ' ' : c;
                ofl_reader_put(reader, c, source->base + i);
                item->span.end = c == ' ' ? item->span.end : source->base + i + 1;
            }
        }
        ofl_reader_skip_line(reader);
        uint32_t other_length = 0;
        at = reader->at;
        const char *other = at + 6 < source->length && is_comment(reader, text[at]) && text[at] != '#'
                                ? ofl_sentinel_at(source, at, &other_length)
                                : NULL;
        if (other == NULL || strcmp(other, sentinel) != 0 || blank(text[at + 5]) || text[at + 5] == '0' ||
            text[at + 5] == '\n') {
            return;
        }
    }
}
