/* Loading of source texts, and the way from a position to the user's file, line and column.
 *
 * What must hold: bases grow in the order of `items`, so a position is found by bisection; each source keeps one
 * position for its end.  Line tables are made when a message first needs one, so that a file without messages costs
 * nothing. */
#include "fortran/source.h"
#include "fortran/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* From `line` (from 1) of the text on, lines belong to `file`, the first of them being `user_line`. */
struct ofl_marker {
    uint32_t line;
    uint32_t user_line;
    const char *file;
};

void ofl_sources_start(struct ofl_sources *sources, struct ofl_arena *arena)
{
    *sources = (struct ofl_sources){.arena = arena, .next_base = 1};
}

static struct ofl_source *add(struct ofl_sources *sources, const char *path, const char *text, size_t length)
{
    if (length >= OFL_MAX_SOURCE_BYTES || sources->next_base + length + 1 > OFL_MAX_SOURCE_BYTES) {
        return NULL;
    }
    if (sources->count == sources->capacity) {
        size_t capacity = sources->capacity == 0 ? 16 : 2 * sources->capacity;
        struct ofl_source **items = ofl_arena_alloc(sources->arena, capacity * sizeof(void *));
        if (sources->count > 0) {
            memcpy(items, sources->items, sources->count * sizeof(void *));
        }
        sources->items = items;
        sources->capacity = capacity;
    }
    struct ofl_source *source = OFL_NEW(sources->arena, struct ofl_source);
    source->path = ofl_arena_text(sources->arena, path, strlen(path));
    source->text = text;
    source->length = (uint32_t)length;
    source->base = sources->next_base;
    sources->next_base += (uint32_t)length + 1;
    sources->items[sources->count++] = source;
    return source;
}

struct ofl_source *ofl_source_add(struct ofl_sources *sources, const char *path, const char *text, size_t length)
{
    if (length >= OFL_MAX_SOURCE_BYTES) {
        return NULL;
    }
    return add(sources, path, ofl_arena_text(sources->arena, text, length), length);
}

/* Reads a stream to its end; its size is not trusted (pipes, files that grow).  NULL: errno, or too large with errno 0.
 */
static char *read_all(FILE *stream, size_t *length)
{
    size_t capacity = (size_t)64 * 1024, count = 0;
    char *text = malloc(capacity);
    while (text != NULL) {
        size_t more = fread(text + count, 1, capacity - count, stream);
        count += more;
        if (ferror(stream) || count > OFL_MAX_SOURCE_BYTES) {
            int reason = ferror(stream) ? errno : 0;
            free(text);
            errno = reason;
            return NULL;
        }
        if (feof(stream)) {
            break;
        }
        if (count == capacity) {
            capacity *= 2;
            char *larger = realloc(text, capacity);
            if (larger == NULL) {
                free(text);
            }
            text = larger;
        }
    }
    *length = count;
    return text;
}

static struct ofl_source *load(struct ofl_sources *sources, const char *path, bool regular_only,
                               enum ofl_load_error *error)
{
    bool standard_input = strcmp(path, "-") == 0;
    FILE *stream = standard_input ? stdin : fopen(path, "rb");
    if (stream == NULL) {
        *error = OFL_LOAD_SYSTEM;
        return NULL;
    }
    struct stat status;
    struct ofl_source *source = NULL;
    if (fstat(fileno(stream), &status) == 0 && S_ISDIR(status.st_mode)) {
        *error = OFL_LOAD_DIRECTORY;
        errno = EISDIR;
        goto out;
    }
    if (regular_only && !S_ISREG(status.st_mode)) { /* a device would never end */
        *error = OFL_LOAD_SYSTEM;
        errno = EINVAL;
        goto out;
    }
    size_t length = 0;
    char *text = read_all(stream, &length);
    if (text == NULL) {
        *error = errno == 0 ? OFL_LOAD_TOO_LARGE : OFL_LOAD_SYSTEM;
        goto out;
    }
    source = ofl_source_add(sources, standard_input ? "<stdin>" : path, text, length);
    *error = source == NULL ? OFL_LOAD_TOO_LARGE : OFL_LOAD_OK;
    free(text);
out:
    if (!standard_input) {
        int reason = errno;
        fclose(stream);
        errno = reason;
    }
    return source;
}

struct ofl_source *ofl_source_load(struct ofl_sources *sources, const char *path, enum ofl_load_error *error)
{
    return load(sources, path, false, error);
}

/* The slot of a path in the table of included files: it holds the source that was loaded for it, or NULL. */
static struct ofl_source **slot_of(const struct ofl_sources *sources, const char *path)
{
    size_t hash = 5381;
    for (const char *c = path; *c != '\0'; c++) {
        hash = hash * 33 + (unsigned char)*c;
    }
    size_t at = hash & (sources->included_capacity - 1);
    while (sources->included[at] != NULL && strcmp(sources->included[at]->path, path) != 0) {
        at = (at + 1) & (sources->included_capacity - 1);
    }
    return &sources->included[at];
}

static void remember(struct ofl_sources *sources, struct ofl_source *source)
{
    if (2 * sources->included_count >= sources->included_capacity) {
        struct ofl_source **old = sources->included;
        size_t old_capacity = sources->included_capacity;
        sources->included_capacity = old_capacity == 0 ? 64 : 2 * old_capacity;
        sources->included = ofl_arena_alloc(sources->arena, sources->included_capacity * sizeof(void *));
        for (size_t i = 0; i < old_capacity; i++) {
            if (old[i] != NULL) {
                *slot_of(sources, old[i]->path) = old[i];
            }
        }
    }
    *slot_of(sources, source->path) = source;
    sources->included_count++;
}

struct ofl_source *ofl_source_include(struct ofl_sources *sources, const char *path, const struct ofl_source *parent,
                                      struct ofl_span line, enum ofl_load_error *error)
{
    if (sources->count >= OFL_MAX_SOURCES) {
        *error = OFL_LOAD_TOO_LARGE;
        return NULL;
    }
    struct ofl_source *known = sources->included_capacity > 0 ? *slot_of(sources, path) : NULL, *source;
    if (known != NULL) {
        source = add(sources, path, known->text, known->length);
        *error = source == NULL ? OFL_LOAD_TOO_LARGE : OFL_LOAD_OK;
    } else {
        source = load(sources, path, true, error);
        if (source != NULL) {
            remember(sources, source);
        }
    }
    if (source != NULL) {
        source->parent = parent;
        source->include_line = line;
        source->depth = parent->depth + 1;
    }
    return source;
}

const struct ofl_source *ofl_source_at(const struct ofl_sources *sources, ofl_pos position)
{
    if (position == 0 || sources->count == 0) {
        return NULL;
    }
    size_t low = 0, high = sources->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (sources->items[middle]->base <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const struct ofl_source *source = sources->items[low];
    return position >= source->base && position - source->base <= source->length ? source : NULL;
}

static unsigned depth_of(const struct ofl_source *source)
{
    unsigned depth = 0;
    for (; source->parent != NULL; source = source->parent) {
        depth++;
    }
    return depth;
}

bool ofl_comes_before(const struct ofl_sources *sources, ofl_pos one, ofl_pos other)
{
    const struct ofl_source *a = ofl_source_at(sources, one), *b = ofl_source_at(sources, other);
    while (a != b && a != NULL && b != NULL) { /* out of the inner one, to its include line */
        if (depth_of(a) >= depth_of(b)) {
            one = a->include_line.begin;
            a = a->parent;
        } else {
            other = b->include_line.begin;
            b = b->parent;
        }
    }
    return one < other;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* `# 12 "file" flags` or `#line 12 "file"`, in column 1. */
static bool read_marker(struct ofl_arena *arena, const char *at, const char *end, uint32_t *user_line,
                        const char **file)
{
    at++;
    while (at < end && is_blank(*at)) {
        at++;
    }
    if (end - at > 4 && memcmp(at, "line", 4) == 0) {
        at += 4;
        while (at < end && is_blank(*at)) {
            at++;
        }
    }
    if (at == end || *at < '0' || *at > '9') {
        return false;
    }
    uint64_t number = 0;
    while (at < end && *at >= '0' && *at <= '9') {
        number = number < UINT32_MAX ? number * 10 + (uint64_t)(*at - '0') : number;
        at++;
    }
    *user_line = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    while (at < end && is_blank(*at)) {
        at++;
    }
    if (at < end && *at == '"') {
        const char *begin = ++at;
        char *name = ofl_arena_alloc(arena, (size_t)(end - begin) + 1);
        size_t length = 0;
        while (at < end && *at != '"' && *at != '\n') {
            if (*at == '\\' && at + 1 < end) { /* the preprocessor escapes \ and " */
                at++;
            }
            name[length++] = *at++;
        }
        *file = name;
    }
    return true;
}

/* Fills the line and marker tables. */
static void index_lines(struct ofl_sources *sources, struct ofl_source *source)
{
    if (source->line_starts != NULL) {
        return;
    }
    const char *text = source->text, *end = text + source->length;
    uint32_t lines = 1, markers = 0;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        lines++;
        markers += at + 1 < end && at[1] == '#';
    }
    markers += source->length > 0 && text[0] == '#';
    source->line_starts = ofl_arena_alloc(sources->arena, lines * sizeof *source->line_starts);
    source->markers = ofl_arena_alloc(sources->arena, (markers + 1) * sizeof *source->markers);
    const char *file = source->path;
    const char *at = text;
    for (;;) {
        source->line_starts[source->line_count++] = (uint32_t)(at - text);
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        uint32_t user_line = 0;
        if (at < end && *at == '#' &&
            read_marker(sources->arena, at, newline != NULL ? newline : end, &user_line, &file)) {
            source->markers[source->marker_count++] =
                (struct ofl_marker){.line = source->line_count + 1, .user_line = user_line, .file = file};
        }
        if (newline == NULL) {
            break;
        }
        at = newline + 1;
    }
}

/* The index is a cache: making it does not change what the source is. */
static struct ofl_source *indexed(const struct ofl_sources *sources, const struct ofl_source *source)
{
    struct ofl_source *mutable_source = (struct ofl_source *)source;
    index_lines((struct ofl_sources *)sources, mutable_source);
    return mutable_source;
}

static uint32_t line_at(const struct ofl_source *source, uint32_t offset)
{
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low + 1;
}

uint32_t ofl_source_line(const struct ofl_sources *sources, const struct ofl_source *source, uint32_t offset)
{
    return line_at(indexed(sources, source), offset);
}

uint32_t ofl_source_line_start(const struct ofl_sources *sources, const struct ofl_source *source, uint32_t line)
{
    indexed(sources, source);
    return line == 0 || line > source->line_count ? source->length : source->line_starts[line - 1];
}

struct ofl_place ofl_place_of(const struct ofl_sources *sources, ofl_pos position)
{
    const struct ofl_source *source = ofl_source_at(sources, position);
    if (source == NULL) {
        return (struct ofl_place){.file = sources->count > 0 ? sources->items[0]->path : "", .line = 0, .column = 0};
    }
    indexed(sources, source);
    uint32_t offset = position - source->base;
    uint32_t line = line_at(source, offset);
    struct ofl_place place = {source->path, line, offset - source->line_starts[line - 1] + 1};
    uint32_t low = 0, high = source->marker_count; /* the last marker at or before the line is low - 1 */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (source->markers[middle].line <= line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low > 0) {
        const struct ofl_marker *marker = &source->markers[low - 1];
        place.file = marker->file;
        place.line = marker->user_line + (line - marker->line);
    }
    return place;
}

struct ofl_span ofl_line_of(const struct ofl_sources *sources, ofl_pos position)
{
    const struct ofl_source *source = ofl_source_at(sources, position);
    if (source == NULL) {
        return (struct ofl_span){0, 0};
    }
    uint32_t begin = position - source->base, end = begin;
    while (begin > 0 && source->text[begin - 1] != '\n') {
        begin--;
    }
    while (end < source->length && source->text[end] != '\n') {
        end++;
    }
    if (end > begin && source->text[end - 1] == '\r') {
        end--;
    }
    return (struct ofl_span){source->base + begin, source->base + end};
}

const char *ofl_span_text(const struct ofl_sources *sources, struct ofl_span span, size_t *length)
{
    const struct ofl_source *source = ofl_source_at(sources, span.begin);
    if (source == NULL || span.end < span.begin || span.end - source->base > source->length) {
        return NULL;
    }
    if (length != NULL) {
        *length = span.end - span.begin;
    }
    return source->text + (span.begin - source->base);
}
