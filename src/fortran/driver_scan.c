/* The look for parallel loops; see driver_scan.h. */
#include "fortran/driver_scan.h"
#include "fortran/arena.h"
#include "fortran/driver_process.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_INCLUDE_DEPTH = 64 };

static bool scan_file(struct ofl_scan *scan, const char *path, int depth);

/* Skips what may stand between two letters of a keyword: blanks, the end of a continued line with its comment,
 * comment lines, the columns 1 to 6 of a fixed-form continuation line, a leading '&'. */
static const char *skip_between(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    if (at == end || (*at != '&' && *at != '\n' && *at != '\r' && *at != '!')) {
        return at;
    }
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (line == NULL) {
            return end;
        }
        at = line + 1;
        const char *text = at;
        while (text < end && (*text == ' ' || *text == '\t' || *text == '\r')) {
            text++;
        }
        bool comment = text == end || *text == '\n' || *text == '!' || *text == '#' ||
                       (text == at && strchr("cC*dD", *text) != NULL);
        if (comment) {
            at = text;
            continue;
        }
        if (*text == '&' || text - at == 5) { /* free form's mark, fixed form's column */
            text++;
        }
        while (text < end && (*text == ' ' || *text == '\t')) {
            text++;
        }
        return text;
    }
    return end;
}

/* Whether the rest of `concurrent` follows behind "con" at `at`. */
static bool keyword_at(const char *at, const char *end)
{
    static const char rest[] = "oncurrent";
    for (const char *letter = rest; *letter != '\0'; letter++) {
        if (at < end && (*at | 0x20) != *letter) {
            at = skip_between(at, end);
        }
        if (at >= end || (*at | 0x20) != *letter) {
            return false;
        }
        at++;
    }
    return true;
}

static bool has_keyword(const char *text, const char *end)
{
    for (const char *at = text; at < end; at++) {
        if ((*at | 0x20) == 'c' && keyword_at(at + 1, end)) {
            return true;
        }
    }
    return false;
}

static bool has_directive(const char *text, const char *end)
{
    for (const char *at = text; (at = memchr(at, '$', (size_t)(end - at))) != NULL; at++) {
        if (end - at > 3 && strncasecmp(at, "$omp", 4) == 0) {
            return true;
        }
    }
    return false;
}

/* The file named by an include line or #include directive that starts at `at`, or NULL. */
static const char *included_name(struct ofl_scan *scan, const char *at, const char *end)
{
    bool directive = at < end && *at == '#';
    at += directive;
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    if (end - at < 9 || strncasecmp(at, "include", 7) != 0) {
        return NULL;
    }
    at += 7;
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    if (at == end || (*at != '\'' && *at != '"' && (*at != '<' || !directive))) {
        return NULL;
    }
    char quote = *at == '<' ? '>' : *at;
    const char *name = at + 1;
    for (at = name; at < end && *at != quote && *at != '\n'; at++) {
    }
    return at == end || *at != quote ? NULL : ofl_arena_text(scan->arena, name, (size_t)(at - name));
}

/* Looks into an included file: beside the including one, then along the paths.  One that is not found counts as
 * empty: gfortran says so. */
static bool scan_included(struct ofl_scan *scan, const char *name, const char *from, int depth)
{
    const char *slash = strrchr(from, '/');
    if (name[0] == '/') {
        return access(name, R_OK) == 0 && scan_file(scan, name, depth + 1);
    }
    const char *beside =
        slash == NULL ? name : ofl_arena_format(scan->arena, "%.*s/%s", (int)(slash - from), from, name);
    if (access(beside, R_OK) == 0) {
        return scan_file(scan, beside, depth + 1);
    }
    for (size_t i = 0; i < scan->include_path_count; i++) {
        const char *path = ofl_arena_format(scan->arena, "%s/%s", scan->include_paths[i], name);
        if (access(path, R_OK) == 0) {
            return scan_file(scan, path, depth + 1);
        }
    }
    return false;
}

static bool scan_includes(struct ofl_scan *scan, const char *path, const char *text, const char *end, int depth)
{
    for (const char *at = text; at < end;) {
        while (at < end && (*at == ' ' || *at == '\t')) {
            at++;
        }
        if (at < end && (*at == '#' || (*at | 0x20) == 'i')) {
            const char *name = included_name(scan, at, end);
            if (name != NULL && scan_included(scan, name, path, depth)) {
                return true;
            }
        }
        const char *line = memchr(at, '\n', (size_t)(end - at));
        at = line == NULL ? end : line + 1;
    }
    return false;
}

static bool scan_text(struct ofl_scan *scan, const char *path, const char *text, size_t length, int depth)
{
    const char *end = text + length;
    return has_keyword(text, end) || (scan->omp && has_directive(text, end)) ||
           (depth < MAX_INCLUDE_DEPTH && scan_includes(scan, path, text, end, depth));
}

static bool scan_file(struct ofl_scan *scan, const char *path, int depth)
{
    for (size_t i = 0; i < scan->seen_count; i++) {
        if (strcmp(scan->seen[i], path) == 0) {
            return false;
        }
    }
    if (scan->seen_count == scan->seen_capacity) {
        size_t capacity = scan->seen_capacity == 0 ? 16 : 2 * scan->seen_capacity;
        const char **seen = ofl_arena_alloc(scan->arena, capacity * sizeof *seen);
        if (scan->seen_count > 0) {
            memcpy(seen, scan->seen, scan->seen_count * sizeof *seen);
        }
        scan->seen = seen;
        scan->seen_capacity = capacity;
    }
    scan->seen[scan->seen_count++] = path;
    size_t length;
    const char *text = ofl_file_read(scan->arena, path, &length);
    return text != NULL && scan_text(scan, path, text, length, depth);
}

bool ofl_scan_file(struct ofl_scan *scan, const char *path)
{
    return scan_file(scan, path, 0);
}

bool ofl_scan_text(struct ofl_scan *scan, const char *path, const char *text, size_t length)
{
    return scan_text(scan, path, text, length, 0);
}

/* Whether a line begins with a word; in fixed form blanks may be anywhere. */
static bool begins_with(const char *at, const char *end, const char *word)
{
    for (; *word != '\0'; word++, at++) {
        while (at < end && (*at == ' ' || *at == '\t')) {
            at++;
        }
        if (at >= end || (*at | 0x20) != *word) {
            return false;
        }
    }
    return true;
}

/* Whether a procedure of the text could be one that kernels have in them: the words alone count. */
static bool may_have_bodies(const char *text, const char *end)
{
    for (const char *at = text; at < end; at++) {
        char letter = (char)(*at | ' ');
        if ((letter == 'p' && begins_with(at, end, "pure")) || (letter == 'e' && begins_with(at, end, "elemental"))) {
            return true;
        }
    }
    return false;
}

/* A statement that begins with `module` or `submodule`. */
bool ofl_scan_modules(struct ofl_arena *arena, const char *path, bool *bodies)
{
    size_t length;
    const char *text = ofl_file_read(arena, path, &length), *end = text != NULL ? text + length : NULL;
    *bodies = false;
    for (const char *line = text; line < end;) {
        const char *at = line, *next = memchr(line, '\n', (size_t)(end - line));
        next = next == NULL ? end : next;
        while (at < next && (*at == ' ' || *at == '\t' || *at == ';' || (*at >= '0' && *at <= '9'))) {
            at++;
        }
        bool submodule = begins_with(at, next, "submodule");
        if (submodule || begins_with(at, next, "module")) {
            *bodies = submodule || may_have_bodies(text, end);
            return true;
        }
        line = next + 1;
    }
    return false;
}
