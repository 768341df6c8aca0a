/* Statements in free form.
 *
 * Entry point: ofl_read_free.  A statement ends at the end of its line unless the last character before a comment is
 * `&`; the next line that is no comment then goes on, behind its first character if that is `&`.  Inside a character
 * constant the
 * `&` is the last character of the line.  Line markers, comments and directives between do not interrupt.
 *
 * Sources: Fortran 2018, 6.3.2; where gfortran takes more (a missing `&` inside a constant), it is taken too. */
#include "fortran/arena.h"
#include "fortran/statement.h"

#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0' || c == '\f';
}

/* The next byte that is not blank, from `at`; never beyond the line's end. */
static uint32_t skip_blanks(const struct ofl_source *source, uint32_t at)
{
    while (at < source->length && blank(source->text[at])) {
        at++;
    }
    return at;
}

static bool at_line_end(const struct ofl_source *source, uint32_t at)
{
    return at >= source->length || source->text[at] == '\n';
}

static bool behind_limit(const struct ofl_reader *reader)
{
    unsigned limit = reader->options->free_line_length;
    return limit > 0 && reader->at - reader->line_start >= limit;
}

/* Is this the end of a line for gfortran, which may cut long ones off? */
static bool at_text_end(const struct ofl_reader *reader)
{
    return at_line_end(reader->source, reader->at) || (reader->options->cut_long_lines && behind_limit(reader));
}

/* Puts the character at reader->at; the line must not be too long for it. */
static void put(struct ofl_reader *reader, char c)
{
    if (behind_limit(reader)) {
        ofl_reader_too_long(reader, reader->line_start, reader->at, reader->options->free_line_length);
    }
    ofl_reader_put(reader, c, reader->source->base + reader->at);
}

/* Is there `!$ ` at `at`: conditional compilation that is on?  In a continuation a digit may follow too. */
static bool conditional(const struct ofl_reader *reader, uint32_t at, bool continuation)
{
    const struct ofl_source *source = reader->source;
    if (!reader->options->openmp || source->length - at < 3 || source->text[at] != '!' || source->text[at + 1] != '$') {
        return false;
    }
    char next = source->text[at + 2];
    return blank(next) || next == '&' || (continuation && next >= '0' && next <= '9');
}

/* Moves to the first character of the next line with a statement.  At a directive or include line: fills *item, if one
 * is wanted (a statement is not under way), and says so in item->kind.  False at the end of everything. */
static bool next_line(struct ofl_reader *reader, struct ofl_item *item)
{
    while (ofl_reader_line(reader)) {
        const struct ofl_source *source = reader->source;
        uint32_t at = skip_blanks(source, reader->at);
        reader->line_start = reader->at;
        if (at_line_end(source, at) || source->text[reader->at] == '#') {
            ofl_reader_skip_line(reader);
            continue;
        }
        reader->conditional = conditional(reader, at, item == NULL);
        if (reader->conditional) {
            reader->at = skip_blanks(source, at + 2);
            return true;
        }
        if (source->text[at] == '!') {
            uint32_t length = 0;
            const char *sentinel = item != NULL ? ofl_sentinel_at(source, at, &length) : NULL;
            if (sentinel != NULL) {
                ofl_read_directive_free(reader, at, sentinel, length, item);
                return true;
            }
            ofl_reader_skip_line(reader);
            continue;
        }
        struct ofl_item inner;
        if ((source->text[at] | 0x20) == 'i' && ofl_reader_include(reader, item != NULL ? item : &inner)) {
            if (item != NULL && item->kind == OFL_ITEM_INCLUDE) {
                return true;
            }
            continue;
        }
        reader->at = at;
        return true;
    }
    return false;
}

/* `&` at reader->at: does the statement go on in the next line?  Moves there if so. */
static bool continued(struct ofl_reader *reader, bool in_constant)
{
    const struct ofl_source *source = reader->source;
    uint32_t at = skip_blanks(source, reader->at + 1);
    if (!at_line_end(source, at) && (in_constant || source->text[at] != '!')) {
        return false;
    }
    do {
        ofl_reader_skip_line(reader);
        if (!next_line(reader, NULL)) {
            return true; /* the text ends: so does the statement */
        }
        source = reader->source;
        if (source->text[reader->at] != '&') {
            if (!in_constant && !reader->conditional) { /* gfortran joins conditional lines without a blank */
                /* A blank of the line itself has its own position; one that stands for the line end, the next's. */
                bool indented = reader->at > reader->line_start;
                reader->split |= !indented;
                ofl_reader_put(reader, ' ', source->base + reader->at - indented);
            }
            return true;
        }
        at = skip_blanks(source, reader->at + 1);
    } while (at_line_end(source, at) || (!in_constant && source->text[at] == '!')); /* a line with nothing but `&` */
    reader->at++;
    return true;
}

static void read_label(struct ofl_reader *reader, struct ofl_item *item)
{
    const struct ofl_source *source = reader->source;
    uint32_t begin = reader->at, at = begin, value = 0;
    while (at < source->length && source->text[at] >= '0' && source->text[at] <= '9') {
        value = value < 1000000 ? value * 10 + (uint32_t)(source->text[at] - '0') : value;
        at++;
    }
    if (at == begin) {
        return;
    }
    item->label = (struct ofl_label){value, {source->base + begin, source->base + at}};
    if (value == 0 || value > 99999) {
        ofl_diag_error(reader->diagnostics, item->label.span, "a statement label is a number from 1 to 99999");
    }
    reader->at = skip_blanks(source, at);
}

/* A Hollerith constant's characters, from behind its H. */
static void read_hollerith(struct ofl_reader *reader, uint32_t count)
{
    const struct ofl_source *source = reader->source;
    while (count > 0 && !at_line_end(source, reader->at)) {
        if (source->text[reader->at] != '\r') {
            put(reader, source->text[reader->at]);
            count--;
        }
        reader->at++;
    }
}

/* Behind a quote that may close a constant: a second one on the next line makes it a doubled quote, for gfortran reads
 * 'a'& and 'b' in two lines as one constant.  Goes on to that line in any case. */
static bool doubled_over_lines(struct ofl_reader *reader, char quote)
{
    const struct ofl_source *source = reader->source;
    if (at_line_end(source, reader->at) || source->text[reader->at] != '&' || !continued(reader, true)) {
        return false;
    }
    source = reader->source;
    bool doubled = !at_line_end(source, reader->at) && source->text[reader->at] == quote;
    ofl_reader_put(reader, doubled ? quote : ' ', source->base + reader->at);
    reader->at += doubled;
    return doubled;
}

/* Copies a character constant from behind its opening quote to behind its closing one, over continuations.
 * Without a closing quote it ends with the line. */
static void read_constant(struct ofl_reader *reader, char quote)
{
    for (;;) {
        if (at_text_end(reader)) {
            return;
        }
        char c = reader->source->text[reader->at];
        if (c == '&' && continued(reader, true)) {
            continue;
        }
        if (c != '\r' && c != '\0') {
            put(reader, c);
        }
        reader->at++;
        if (c == quote && !doubled_over_lines(reader, quote)) {
            return;
        }
    }
}

/* Drops blanks at the end of the joined text. */
static void trim(struct ofl_reader *reader)
{
    while (reader->length > 0 && reader->text[reader->length - 1] == ' ') {
        reader->length--;
    }
    reader->behind = reader->length > 0 ? reader->where[reader->length - 1] + 1 : 0;
}

/* Copies up to the end of the statement. */
static void read_text(struct ofl_reader *reader)
{
    for (;;) {
        if (at_text_end(reader)) {
            ofl_reader_skip_line(reader);
            return;
        }
        char c = reader->source->text[reader->at];
        switch (c) {
        case ' ':
        case '\t':
        case '\f':
            ofl_reader_put(reader, ' ', reader->source->base + reader->at);
            break;
        case '\r':
        case '\0':
            break;
        case '!':
            ofl_reader_skip_line(reader);
            return;
        case ';':
            reader->at++;
            reader->mid_line = true;
            return;
        case '&':
            if (continued(reader, false)) {
                continue;
            }
            put(reader, c);
            break;
        case '\'':
        case '"':
            put(reader, c);
            reader->at++;
            read_constant(reader, c);
            continue;
        case 'h':
        case 'H':
            put(reader, c);
            reader->at++;
            read_hollerith(reader, ofl_hollerith_length(reader, ofl_reader_is_format(reader)));
            continue;
        default:
            put(reader, c);
            break;
        }
        reader->at++;
    }
}

bool ofl_read_free(struct ofl_reader *reader, struct ofl_item *item)
{
    if (reader->mid_line) { /* behind a semicolon */
        reader->mid_line = false;
        reader->at = skip_blanks(reader->source, reader->at);
        if (at_line_end(reader->source, reader->at) || reader->source->text[reader->at] == '!') {
            ofl_reader_skip_line(reader);
        } else {
            goto statement;
        }
    }
    do {
        item->kind = OFL_ITEM_STATEMENT;
        if (!next_line(reader, item)) {
            return false;
        }
        if (item->kind != OFL_ITEM_STATEMENT) {
            return true;
        }
        if (reader->source->text[reader->at] != '&') {
            break;
        }
        reader->at++; /* gfortran ignores an `&` that continues nothing */
        reader->at = skip_blanks(reader->source, reader->at);
    } while (at_line_end(reader->source, reader->at));
statement:
    item->kind = OFL_ITEM_STATEMENT;
    read_label(reader, item);
    read_text(reader);
    trim(reader);
    return true;
}

void ofl_read_directive_free(struct ofl_reader *reader, uint32_t at, const char *sentinel, uint32_t length,
                             struct ofl_item *item)
{
    item->kind = OFL_ITEM_DIRECTIVE;
    item->sentinel = ofl_name_of(reader->arena, sentinel, strlen(sentinel));
    item->span.begin = reader->source->base + at;
    item->span.end = item->span.begin + length;
    reader->at = at + length;
    for (;;) {
        const struct ofl_source *source = reader->source;
        bool more = false;
        char quote = '\0';
        while (!at_line_end(source, reader->at)) {
            char c = source->text[reader->at];
            if (quote == '\0' && c == '!') {
                break;
            }
            if (quote == '\0' && c == '&') {
                uint32_t rest = skip_blanks(source, reader->at + 1);
                if (at_line_end(source, rest) || source->text[rest] == '!') {
                    more = true;
                    break;
                }
            }
            if (c == '\'' || c == '"') {
                quote = quote == '\0' ? c : quote == c ? '\0' : quote;
            }
            if (c != '\r' && c != '\0' && (reader->length > 0 || !blank(c))) {
                c = quote == '\0' && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c == '\t' ? ' ' : c;
                ofl_reader_put(reader, c, source->base + reader->at);
                item->span.end = c == ' ' ? item->span.end : source->base + reader->at + 1;
            }
            reader->at++;
        }
        ofl_reader_skip_line(reader);
        uint32_t next = skip_blanks(source, reader->at), next_length = 0;
        const char *other = more && next < source->length && source->text[next] == '!'
                                ? ofl_sentinel_at(source, next, &next_length)
                                : NULL;
        if (other == NULL || strcmp(other, sentinel) != 0) {
            trim(reader);
            return;
        }
        reader->at = skip_blanks(source, next + next_length);
        if (reader->at < source->length && source->text[reader->at] == '&') {
            reader->at++;
        }
        ofl_reader_put(reader, ' ', source->base + reader->at);
    }
}
