/* Writing and reading module information files; see module_file.h. */
#include "fortran/module_file.h"
#include "fortran/module_guard.h"
#include "fortran/scope_private.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "gpu-offload module information ";
enum { FORMAT = 3, MAX_SYMBOL = 127 };

/* A module to be written. */
struct ofl_module_note {
    const struct ofl_unit *unit;
    struct ofl_parse_options options;
    struct ofl_module_note *next;
};

struct ofl_module_problem {
    const struct ofl_name *name;
    const char *text;
    struct ofl_module_problem *next;
};

static uint64_t hash_of(const char *bytes, size_t length, uint64_t hash)
{
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u; /* FNV-1a */
    }
    return hash;
}

static const uint64_t hash_start = 14695981039346656037u;

/* The whole of a file, NULL if it cannot be read.  What is no file is not opened: a pipe would wait for a writer. */
static char *read_whole(struct ofl_arena *arena, const char *path, size_t *length)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size >= OFL_MAX_SOURCE_BYTES) {
        return NULL;
    }
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return NULL;
    }
    char *text = ofl_arena_alloc(arena, (size_t)status.st_size + 1);
    *length = fread(text, 1, (size_t)status.st_size, stream);
    fclose(stream);
    return text;
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

/* "heat" or "heat@solver". */
static const char *stem_of(struct ofl_arena *arena, const struct ofl_unit *unit)
{
    return unit->kind == OFL_UNIT_SUBMODULE
               ? ofl_arena_format(arena, "%s@%s", unit->ancestor.name->text, unit->name.name->text)
               : unit->name.name->text;
}

static const char *suffix_of_mod(const char *stem)
{
    return strchr(stem, '@') != NULL ? "smod" : "mod";
}

static bool hash_of_mod(struct ofl_arena *arena, const char *folder, const char *stem, uint64_t *hash)
{
    size_t length = 0;
    const char *path = ofl_arena_format(arena, "%s/%s.%s", folder, stem, suffix_of_mod(stem));
    const char *text = read_whole(arena, path, &length);
    *hash = text != NULL ? hash_of(text, length, hash_start) : 0;
    return text != NULL;
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

struct emitter {
    struct ofl_module_files *files;
    FILE *stream;
};

static void marker(struct emitter *emitter, ofl_pos position)
{
    struct ofl_place place = ofl_place_of(emitter->files->sources, position);
    fprintf(emitter->stream, "# %u \"", place.line);
    for (const char *c = place.file; *c != '\0'; c++) {
        fprintf(emitter->stream, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    fputs("\"\n", emitter->stream);
}

/* The include line of a source that lies in [begin, end) and begins first; NULL if there is none. */
static const struct ofl_source *next_include(const struct ofl_sources *sources, const struct ofl_source *parent,
                                             ofl_pos begin, ofl_pos end)
{
    const struct ofl_source *found = NULL;
    for (size_t i = 0; i < sources->count; i++) {
        const struct ofl_source *source = sources->items[i];
        if (source->parent == parent && source->include_line.begin >= begin && source->include_line.begin < end &&
            (found == NULL || source->include_line.begin < found->include_line.begin)) {
            found = source;
        }
    }
    return found;
}

/* Whether a position lies in a source or in a file that it includes. */
static bool holds(const struct ofl_sources *sources, const struct ofl_source *source, ofl_pos position)
{
    const struct ofl_source *at = ofl_source_at(sources, position);
    while (at != NULL && at != source) {
        at = at->parent;
    }
    return at != NULL;
}

/* The text from `begin` in the source to `end`, which may lie in an included file. */
static void emit(struct emitter *emitter, const struct ofl_source *source, ofl_pos begin, ofl_pos end)
{
    const struct ofl_sources *sources = emitter->files->sources;
    const struct ofl_source *included;
    ofl_pos limit = ofl_source_at(sources, end) == source ? end : source->base + source->length;
    while ((included = next_include(sources, source, begin, limit)) != NULL) {
        bool last = holds(sources, included, end);
        fwrite(source->text + (begin - source->base), 1, included->include_line.begin - begin, emitter->stream);
        fputc('\n', emitter->stream);
        marker(emitter, included->base);
        emit(emitter, included, included->base, last ? end : included->base + included->length);
        if (last) {
            return;
        }
        fputc('\n', emitter->stream);
        begin = included->include_line.end;
        marker(emitter, begin);
    }
    fwrite(source->text + (begin - source->base), 1, limit - begin, emitter->stream);
}

/* The module's text.  What precedes it in its first line was another statement: blanks keep the columns. */
static char *module_text(struct ofl_module_files *files, const struct ofl_unit *unit, size_t *length)
{
    char *text = NULL;
    struct emitter emitter = {files, open_memstream(&text, length)};
    const struct ofl_source *source = ofl_source_at(files->sources, unit->span.begin);
    ofl_pos begin = unit->span.begin, end = unit->whole.end;
    if (emitter.stream == NULL) {
        return NULL;
    }
    marker(&emitter, unit->span.begin);
    struct ofl_place place = ofl_place_of(files->sources, unit->span.begin);
    fprintf(emitter.stream, "%*s", (int)(place.column < 7 || place.column > 72 ? 6 : place.column - 1), "");
    while (!holds(files->sources, source, end)) { /* its end is behind this file's include line */
        emit(&emitter, source, begin, source->base + source->length);
        fputc('\n', emitter.stream);
        begin = source->include_line.end;
        source = source->parent;
        marker(&emitter, begin);
    }
    emit(&emitter, source, begin, end);
    fputc('\n', emitter.stream);
    return fclose(emitter.stream) == 0 ? text : NULL;
}

static bool cannot_write(const char *path)
{
    fprintf(stderr, "gpu-offload fc: error: cannot write the module information file %s: %s\n", path, strerror(errno));
    return false;
}

/* gfortran's .mod stays as it is when only a body changes, and build systems then leave its users alone, whose kernels
 * have the body in them.  So a hash of the whole module goes behind the .mod's compressed text, where zlib, and with it
 * gfortran, does not look.  A .mod that gfortran alone has written afterwards lacks it and is found to be another. */
static bool mark_mod(struct ofl_module_files *files, const struct ofl_module_note *note, const char *stem)
{
    const char *path = ofl_arena_format(files->arena, "%s/%s.%s", files->output, stem, suffix_of_mod(stem));
    const char *mark = ofl_arena_format(files->arena, "ofl %016" PRIx64, ofl_module_guard_of(files, note->unit)->hash);
    size_t length = 0, added = strlen(mark);
    const char *text = read_whole(files->arena, path, &length);
    if (text == NULL || length < added || memcmp(text, "\x1f\x8b", 2) != 0 ||
        memcmp(text + length - added, mark, added) == 0) {
        return true; /* none, not gfortran's, or marked */
    }
    FILE *stream = fopen(path, "ab");
    bool good = stream != NULL && fwrite(mark, 1, added, stream) == added;
    return (stream == NULL || fclose(stream) == 0) && good;
}

static bool write_one(struct ofl_module_files *files, const struct ofl_module_note *note)
{
    const struct ofl_parse_options *options = &note->options;
    const struct ofl_modules *modules = files->modules;
    const char *stem = stem_of(files->arena, note->unit);
    const struct ofl_module_guard *guard = ofl_module_guard_of(files, note->unit);
    uint64_t mod;
    size_t length = 0;
    if (!mark_mod(files, note, stem)) {
        return cannot_write(ofl_arena_format(files->arena, "%s/%s.%s", files->output, stem, suffix_of_mod(stem)));
    }
    if (!hash_of_mod(files->arena, files->output, stem, &mod)) {
        return true; /* the host compiler wrote no .mod */
    }
    const char *path = ofl_arena_format(files->arena, "%s/%s.ofl", files->output, stem);
    const char *temporary = ofl_arena_format(files->arena, "%s.%ld", path, (long)getpid());
    char *text = module_text(files, note->unit, &length);
    FILE *stream = text != NULL ? fopen(temporary, "w") : NULL;
    if (stream == NULL) {
        free(text);
        return cannot_write(path);
    }
    const char *header = ofl_arena_format(
        files->arena,
        "%s%d\n%s %s\noptions %s %u %u %d %d %d %d %d %d %d %d\nmod %016" PRIx64 "\nguard %016" PRIx64 " %s\n",
        first_line, FORMAT, note->unit->kind == OFL_UNIT_SUBMODULE ? "submodule" : "module", stem,
        options->form == OFL_FORM_FREE ? "free" : "fixed", options->free_line_length, options->fixed_line_length,
        modules->default_integer, modules->default_real, modules->default_double, modules->default_logical,
        options->openmp, options->d_lines_are_code, options->backslash, options->dec, mod, guard->hash,
        guard->symbol != NULL ? guard->symbol : "-");
    uint64_t hash = hash_of(text, length, hash_of(header, strlen(header), hash_start));
    fprintf(stream, "%stext %zu %016" PRIx64 "\n", header, length, hash);
    bool good = fwrite(text, 1, length, stream) == length;
    free(text);
    good = fclose(stream) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        cannot_write(path);
        unlink(temporary);
        return false;
    }
    return true;
}

void ofl_module_files_note(struct ofl_module_files *files, const struct ofl_file *file,
                           const struct ofl_parse_options *options)
{
    for (const struct ofl_unit *unit = file->units; unit != NULL; unit = unit->next) {
        if ((unit->kind != OFL_UNIT_MODULE && unit->kind != OFL_UNIT_SUBMODULE) || unit->name.name == NULL ||
            (unit->kind == OFL_UNIT_SUBMODULE && unit->ancestor.name == NULL)) {
            continue;
        }
        struct ofl_module_note *note = OFL_NEW(files->arena, struct ofl_module_note);
        *note = (struct ofl_module_note){unit, *options, NULL};
        *files->next_note = note;
        files->next_note = &note->next;
        ofl_module_guard_of(files, unit);
    }
}

bool ofl_module_files_write(struct ofl_module_files *files)
{
    bool good = true;
    for (const struct ofl_module_note *note = files->notes; note != NULL; note = note->next) {
        good &= write_one(files, note);
    }
    files->notes = NULL;
    files->next_note = &files->notes;
    return good;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static void add_problem(struct ofl_module_files *files, const struct ofl_name *name, const char *text)
{
    struct ofl_module_problem *problem = OFL_NEW(files->arena, struct ofl_module_problem);
    *problem = (struct ofl_module_problem){name, text, files->problems};
    files->problems = problem;
}

const char *ofl_module_files_problem(const struct ofl_modules *modules, const struct ofl_name *name)
{
    const struct ofl_module_problem *problem = modules->files != NULL ? modules->files->problems : NULL;
    while (problem != NULL && problem->name != name) {
        problem = problem->next;
    }
    return problem != NULL ? problem->text : NULL;
}

struct header {
    struct ofl_parse_options options;
    int integer, real, wide, logical;
    uint64_t mod, guard, hash;
    char symbol[MAX_SYMBOL + 1]; /* "-": none */
    const char *text;
    size_t length;
};

/* What is wrong with a file's header or text, NULL if nothing is. */
static const char *read_header(const char *bytes, size_t size, const char *stem, struct header *header)
{
    char form[8] = "", name[300] = "";
    int format = 0, used = 0, openmp, d_lines, backslash, dec;
    size_t digits = strlen(first_line);
    if (size < digits || memcmp(bytes, first_line, digits) != 0 ||
        sscanf(bytes + digits, "%d%n", &format, &used) != 1) {
        return "is no module information file";
    }
    if (format != FORMAT) {
        return "was written by another version of gpu-offload";
    }
    int end = 0, hashed = 0; /* `hashed`: the header up to its last line */
    unsigned free_length, fixed_length;
    int found = sscanf(bytes + digits + used,
                       "\n%*[a-z] %299[^\n]\noptions %7s %u %u %d %d %d %d %d %d %d %d\nmod %" SCNx64 "\nguard %" SCNx64
                       " %127s\n%ntext %zu %" SCNx64 "%n",
                       name, form, &free_length, &fixed_length, &header->integer, &header->real, &header->wide,
                       &header->logical, &openmp, &d_lines, &backslash, &dec, &header->mod, &header->guard,
                       header->symbol, &hashed, &header->length, &header->hash, &end);
    if (found != 17 || end == 0 || strcmp(name, stem) != 0 || bytes[digits + (size_t)used + (size_t)end] != '\n') {
        return "is damaged";
    }
    header->text = bytes + digits + used + end + 1;
    header->options = ofl_parse_defaults(form[1] == 'r' ? OFL_FORM_FREE : OFL_FORM_FIXED);
    header->options.free_line_length = free_length;
    header->options.fixed_line_length = fixed_length;
    header->options.openmp = openmp != 0;
    header->options.d_lines_are_code = d_lines != 0;
    header->options.backslash = backslash != 0;
    header->options.dec = dec != 0;
    if (header->text > bytes + size || header->length > (size_t)(bytes + size - header->text)) {
        return "is cut off";
    }
    if (header->length != (size_t)(bytes + size - header->text) ||
        hash_of(header->text, header->length, hash_of(bytes, digits + (size_t)(used + hashed), hash_start)) !=
            header->hash) {
        return "is damaged";
    }
    return NULL;
}

static bool refuse(struct ofl_module_files *files, const struct ofl_name *name, const char *path, const char *what)
{
    add_problem(
        files, name,
        ofl_arena_format(files->arena, "its information file %s %s: compile the module's file again", path, what));
    return false;
}

/* Reads one file and builds its scopes; false with a problem noted. */
static bool load(struct ofl_module_files *files, const struct ofl_name *name, const char *folder, const char *stem,
                 const char *path)
{
    struct ofl_modules *modules = files->modules;
    struct header header = {0};
    size_t size = 0;
    uint64_t mod;
    const char *bytes = read_whole(files->arena, path, &size);
    const char *problem = bytes == NULL ? "cannot be read" : read_header(bytes, size, stem, &header);
    if (problem != NULL) {
        return refuse(files, name, path, problem);
    }
    if (hash_of_mod(files->arena, folder, stem, &mod) && mod != header.mod) {
        return refuse(files, name, path, "does not belong to the .mod file beside it");
    }
    if (header.integer != modules->default_integer || header.real != modules->default_real ||
        header.wide != modules->default_double || header.logical != modules->default_logical) {
        return refuse(files, name, path, "was made with other kinds of default integer or real");
    }
    const struct ofl_source *source = ofl_source_add(files->sources, path, header.text, header.length);
    struct ofl_diagnostics dropped;
    ofl_diag_start(&dropped, files->sources, files->arena);
    if (source == NULL) {
        return refuse(files, name, path, "is too large");
    }
    header.options.cut_long_lines = true; /* what was too long was an error then */
    struct ofl_file *file = ofl_parse(source, &header.options, files->sources, &dropped);
    if (dropped.errors > 0) {
        return refuse(files, name, path, "cannot be understood");
    }
    ofl_scopes_build(file, modules, &dropped);
    bool guarded = strcmp(header.symbol, "-") != 0;
    if (file->units != NULL) {
        ofl_module_guard_note(files, file->units, header.guard,
                              guarded ? ofl_arena_text(files->arena, header.symbol, strlen(header.symbol)) : NULL);
    }
    return true;
}

/* The bodies of a module's separate procedures are in submodules; those whose files are at hand. */
static void load_submodules(struct ofl_module_files *files, const struct ofl_name *name, const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".ofl") != 0 ||
            strncmp(entry->d_name, name->text, name->length) != 0 || entry->d_name[name->length] != '@') {
            continue;
        }
        const char *stem = ofl_arena_text(files->arena, entry->d_name, length - 4);
        const char *own = stem + name->length + 1;
        if (!ofl_submodule_find(files->modules, name, ofl_name_of(files->arena, own, strlen(own)))) {
            load(files, name, folder, stem, ofl_arena_format(files->arena, "%s/%s", folder, entry->d_name));
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

/* The folder whose file the host compiler takes: the first with the .mod or, where none has it, with the information
 * file.  NULL if there is neither. */
static const char *folder_of(struct ofl_module_files *files, const char *stem)
{
    const char *const suffixes[] = {suffix_of_mod(stem), "ofl"};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < files->path_count; i++) {
            if (access(ofl_arena_format(files->arena, "%s/%s.%s", files->paths[i], stem, suffixes[k]), F_OK) == 0) {
                return files->paths[i];
            }
        }
    }
    return NULL;
}

uint64_t ofl_module_files_hash(struct ofl_module_files *files, const struct ofl_name *ancestor,
                               const struct ofl_name *name)
{
    const char *stem =
        ancestor != NULL ? ofl_arena_format(files->arena, "%s@%s", ancestor->text, name->text) : name->text;
    const char *folder = folder_of(files, stem);
    struct header header = {0};
    size_t size = 0;
    const char *bytes = folder != NULL
                            ? read_whole(files->arena, ofl_arena_format(files->arena, "%s/%s.ofl", folder, stem), &size)
                            : NULL;
    return bytes != NULL && read_header(bytes, size, stem, &header) == NULL ? header.guard : 0;
}

/* See scope_private.h. */
bool ofl_module_files_load(struct ofl_module_files *files, const struct ofl_name *ancestor, const struct ofl_name *name)
{
    const char *stem =
        ancestor != NULL ? ofl_arena_format(files->arena, "%s@%s", ancestor->text, name->text) : name->text;
    if (ofl_module_files_problem(files->modules, name) != NULL) {
        return false;
    }
    const char *folder = folder_of(files, stem);
    const char *path = folder == NULL ? NULL : ofl_arena_format(files->arena, "%s/%s.ofl", folder, stem);
    if (path == NULL || access(path, F_OK) != 0) {
        const char *where = path == NULL
                                ? ofl_arena_format(files->arena, "%s.ofl in the folders of modules", stem)
                                : ofl_arena_format(files->arena, "%s beside its .%s", path, suffix_of_mod(stem));
        add_problem(files, name,
                    ofl_arena_format(files->arena,
                                     "there is no %s: compile the module's file with gpu-offload fc first", where));
        return false;
    }
    if (!load(files, name, folder, stem, path)) {
        return false;
    }
    if (ancestor == NULL) {
        load_submodules(files, name, folder);
    }
    return true;
}

void ofl_module_files_start(struct ofl_module_files *files, struct ofl_modules *modules, struct ofl_sources *sources,
                            struct ofl_arena *arena, const char *output, const char *const *paths, size_t path_count)
{
    *files = (struct ofl_module_files){.arena = arena, .modules = modules, .sources = sources};
    const char **all = ofl_arena_alloc(arena, (path_count + 2) * sizeof *all);
    all[files->path_count++] = ".";
    for (size_t i = 0; i < path_count; i++) {
        all[files->path_count++] = paths[i];
    }
    if (output != NULL) {
        all[files->path_count++] = output; /* gfortran looks there last, wherever -J stands */
    }
    files->paths = all;
    files->output = output != NULL ? output : ".";
    files->next_note = &files->notes;
    modules->files = files;
}

/* ---- Bodies ----------------------------------------------------------------------------------------------------- */

uint64_t ofl_body_hash(const struct ofl_modules *modules, const struct ofl_unit *unit)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) {
        fputs("gpu-offload fc: error: no memory\n", stderr);
        exit(1);
    }
    fprintf(stream, "%d %d %d %d %d\n", modules->default_integer, modules->default_real, modules->default_double,
            modules->default_logical, modules->backslash);
    ofl_dump_unit(unit, stream);
    fclose(stream);
    uint64_t hash = hash_start;
    for (const char *line = text; *line != '\0';) {
        const char *end = line + strcspn(line, "\n"), *begin = line + strspn(line, " ");
        bool layout = strncmp(begin, "(include ", 9) == 0 || strncmp(begin, "(directive ", 11) == 0;
        hash = layout ? hash : hash_of(line, (size_t)(end - line), hash);
        line = end + (*end == '\n');
    }
    free(text);
    return hash;
}
