/* Translating one source file; see translate.h. */
#include "fortran/translate.h"
#include "fortran/diagnostic.h"
#include "fortran/driver_process.h"
#include "fortran/guard.h"
#include "fortran/launch.h"
#include "fortran/loop_check.h"
#include "fortran/rewrite.h"
#include "fortran/scope.h"
#include "fortran/unsupported.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A parallel loop and the unit it is in: a do concurrent, or a do behind `!$omp parallel do`. */
struct parallel {
    const struct ofl_stmt *stmt;
    const struct ofl_unit *unit;
    const struct ofl_stmt *directives; /* `!GCC$` lines right before it; NULL if there are none */
    bool openmp;
    bool broken; /* it violates a constraint of the language, which has been reported */
};

struct ofl_translating {
    struct ofl_translator *translator;
    const struct ofl_fc_command *command;
    struct ofl_parse_options options;
    struct ofl_diagnostics diagnostics;
    struct ofl_file *file;
    struct ofl_rewriter rewriter;
    struct parallel *loops; /* in source order, a nested one behind the one around it */
    size_t count, capacity;
    const struct ofl_unit *unit;       /* during the walk */
    const struct ofl_stmt *directives; /* during the walk: the first of those just seen */
    const struct ofl_stmt *previous;
    bool launches;
    bool hidden;              /* a statement with an error could be a parallel loop */
    struct ofl_guards guards; /* of the bodies in its kernels */
};

void ofl_translator_start(struct ofl_translator *translator, const struct ofl_fc_command *command,
                          struct ofl_arena *arena)
{
    *translator = (struct ofl_translator){.command = command, .arena = arena};
    translator->modules = OFL_NEW(arena, struct ofl_modules);
    ofl_sources_start(&translator->sources, arena);
    ofl_modules_start(translator->modules, arena);
    translator->modules->default_integer = translator->modules->default_logical = command->default_integer;
    translator->modules->default_real = command->default_real;
    translator->modules->default_double = command->default_double;
    translator->modules->backslash = command->parse.backslash;
    ofl_module_files_start(&translator->files, translator->modules, &translator->sources, arena,
                           ofl_fc_module_folder(command), command->parse.include_paths,
                           command->parse.include_path_count);
    translator->files.plain_suffix = ofl_guard_plain_suffix(command);
}

/* ---- Finding the loops ---- */

/* Whether a directive begins a loop that --gpu-offload-omp-loops sends to the device. */
static bool is_omp_loop(const struct ofl_stmt *stmt)
{
    static const char words[] = "paralleldo";
    const char *text = stmt->as.directive.text;
    for (const char *letter = words; *letter != '\0'; letter++) {
        text += strspn(text, " \t");
        if (*text++ != *letter) {
            return false;
        }
    }
    return strcmp(stmt->as.directive.sentinel->text, "omp") == 0;
}

/* Follows the directives that belong to the loop behind them. */
static void note_directive(struct ofl_translating *translation, const struct ofl_stmt *stmt)
{
    bool adjacent = translation->previous != NULL && translation->previous->next == stmt;
    bool gcc = stmt->kind == OFL_STMT_DIRECTIVE && strcmp(stmt->as.directive.sentinel->text, "gcc") == 0;
    if (!adjacent) {
        translation->directives = NULL;
    }
    if (gcc && translation->directives == NULL) {
        translation->directives = stmt;
    }
    translation->previous = stmt;
}

static void add_loop(struct ofl_translating *translation, struct parallel loop)
{
    if (translation->count == translation->capacity) {
        size_t capacity = translation->capacity == 0 ? 32 : 2 * translation->capacity;
        struct parallel *loops = ofl_arena_alloc(translation->translator->arena, capacity * sizeof *loops);
        if (translation->count > 0) {
            memcpy(loops, translation->loops, translation->count * sizeof *loops);
        }
        translation->loops = loops;
        translation->capacity = capacity;
    }
    translation->loops[translation->count++] = loop;
}

/* The loop that an OpenMP directive stands before, or NULL. */
static const struct ofl_stmt *loop_behind(const struct ofl_stmt *directive)
{
    const struct ofl_stmt *stmt = directive->next;
    while (stmt != NULL && stmt->kind == OFL_STMT_DIRECTIVE) {
        stmt = stmt->next;
    }
    return stmt != NULL && stmt->kind == OFL_STMT_DO && stmt->as.loop.form == OFL_LOOP_COUNT ? stmt : NULL;
}

static void find_omp_loop(struct ofl_translating *translation, const struct ofl_stmt *directive)
{
    const struct ofl_stmt *loop = loop_behind(directive);
    if (loop != NULL) {
        add_loop(translation, (struct parallel){.stmt = loop, .unit = translation->unit, .openmp = true});
    } else {
        ofl_diag_unsupported(&translation->diagnostics, directive->span,
                             "what stands behind this directive on the device");
        translation->hidden = true;
    }
}

static bool find_loop(struct ofl_stmt *stmt, void *context)
{
    struct ofl_translating *translation = context;
    size_t length;
    note_directive(translation, stmt);
    if (stmt->kind == OFL_STMT_ERROR) {
        const char *text = ofl_span_text(&translation->translator->sources, stmt->span, &length);
        translation->hidden |= text == NULL || memmem(text, length, "concurrent", 10) != NULL ||
                               memmem(text, length, "CONCURRENT", 10) != NULL;
    }
    const struct ofl_fc_command *command = translation->command;
    if (stmt->kind == OFL_STMT_DIRECTIVE && command->omp_loops && command->device != OFL_FC_NO_DEVICE &&
        is_omp_loop(stmt)) {
        find_omp_loop(translation, stmt);
    }
    if (stmt->kind != OFL_STMT_DO || stmt->as.loop.form != OFL_LOOP_CONCURRENT) {
        translation->directives = stmt->kind == OFL_STMT_DIRECTIVE ? translation->directives : NULL;
        return true;
    }
    add_loop(translation, (struct parallel){stmt, translation->unit, translation->directives, false, false});
    translation->directives = NULL;
    return true;
}

static void find_loops(struct ofl_translating *translation, const struct ofl_unit *units)
{
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        translation->unit = unit;
        ofl_walk_stmts(&unit->body, find_loop, translation);
        find_loops(translation, unit->units);
    }
}

/* ---- Rewriting ---- */

static void report(const struct ofl_translating *translation, const struct ofl_stmt *stmt, const char *outcome)
{
    if (translation->command->report) {
        struct ofl_place place = ofl_place_of(&translation->translator->sources, stmt->span.begin);
        fprintf(stderr, "%s:%u:%u: %s\n", place.file, place.line, place.column, outcome);
    }
}

/* Takes out directives that would now stand before a block. */
static void drop_directives(struct ofl_translating *translation, const struct parallel *loop)
{
    struct ofl_lines none = {.arena = translation->translator->arena};
    for (const struct ofl_stmt *stmt = loop->directives; stmt != NULL && stmt != loop->stmt; stmt = stmt->next) {
        ofl_rewrite_edit(&translation->rewriter, stmt->span.begin, stmt->span.end, &none);
    }
}

/* Whether the loop at `index` is there and stands in the body of `loop`.  The tree says so; positions do not, where one
 * of them is in an included file. */
static bool is_within(const struct ofl_translating *translation, size_t index, const struct ofl_stmt *loop)
{
    const struct ofl_stmt *around = index < translation->count ? translation->loops[index].stmt->parent : NULL;
    while (around != NULL && around != loop) {
        around = around->parent;
    }
    return around != NULL;
}

/* Rewrites the loop at `index` for the CPU, and first those in its body; returns the index of the next one outside. */
static size_t rewrite_on_host(struct ofl_translating *translation, size_t index, const char *why)
{
    const struct parallel *loop = &translation->loops[index];
    size_t next = index + 1;
    report(translation, loop->stmt, why);
    while (is_within(translation, next, loop->stmt)) {
        next = rewrite_on_host(translation, next, why);
    }
    if (loop->openmp) {
        return next; /* it is OpenMP's on the CPU */
    }
    drop_directives(translation, loop);
    ofl_rewrite_on_host(&translation->rewriter, loop->stmt, loop->unit, loop->directives);
    return next;
}

/* A name for what this file adds to the program: no other file's may be the same. */
static const char *unique_suffix(const struct ofl_translating *translation, const char *source)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a of the file's name, its text and the kernels */
    const char *texts[] = {translation->file->source->path, translation->file->source->text, source};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (const char *c = texts[i]; *c != '\0'; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        }
    }
    return ofl_arena_format(translation->translator->arena, "%016llx", (unsigned long long)hash);
}

/* Compiles the kernels and puts launches in the places of their loops. */
static void add_launches(struct ofl_translating *translation, struct ofl_kernel *kernels)
{
    const struct ofl_fc_command *command = translation->command;
    bool cuda = command->device == OFL_FC_CUDA;
    const char *source = ofl_lowered_source(kernels, NULL, translation->translator->arena);
    size_t bytes = 0;
    if (command->show_kernels) {
        for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
            fputs(kernel->text, stdout);
        }
        fflush(stdout);
    }
    const void *image = ofl_kernel_compile(&translation->rewriter, kernels, source, cuda, command->fast, &bytes);
    if (image == NULL) {
        return;
    }
    const char *suffix = unique_suffix(translation, source);
    for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        ofl_kernel_launch(&translation->rewriter, kernel, suffix);
        ofl_rewrite_terminal_around(&translation->rewriter, kernel->stmt);
        report(translation, kernel->stmt, ofl_launch_report(&translation->rewriter, kernel));
    }
    ofl_kernel_append_image(&translation->rewriter, kernels, &translation->guards, suffix, cuda, image, bytes);
    translation->launches = true;
}

/* Loops in the body of another one belong to that one's kernel. */
static size_t next_outside(const struct ofl_translating *translation, size_t index)
{
    const struct ofl_stmt *loop = translation->loops[index].stmt;
    do {
        index++;
    } while (is_within(translation, index, loop));
    return index;
}

/* A loop that passed the check: its kernel, or NULL after an error. */
static struct ofl_kernel *lower(struct ofl_translating *translation, const struct parallel *loop)
{
    const struct ofl_fc_command *command = translation->command;
    if (command->device == OFL_FC_METAL) {
        ofl_diag_unsupported(&translation->diagnostics, loop->stmt->span, "a loop on Metal (--gpu=metal)");
        return NULL;
    }
    if (loop->openmp) {
        ofl_diag_unsupported(&translation->diagnostics, loop->stmt->span, "a loop of OpenMP's on the device");
        return NULL;
    }
    drop_directives(translation, loop);
    translation->rewriter.realloc_lhs = command->realloc_lhs;
    translation->rewriter.flang = ofl_fc_host_is_flang(command);
    return ofl_lower_loop(&translation->rewriter, loop->stmt, loop->unit);
}

/* What is said of a construct that the loop reaches through calls, so that each loop has a message of its own. */
static const char *reached_by(const struct ofl_translating *translation, const struct parallel *loop,
                              const struct ofl_finding *finding)
{
    struct ofl_place place = ofl_place_of(&translation->translator->sources, loop->stmt->span.begin);
    return finding->within == NULL
               ? ""
               : ofl_arena_format(translation->translator->arena, "; the loop at line %u reaches it", place.line);
}

/* A loop that uses something on the unsupported list.  Returns the index of the next one outside. */
static size_t refuse(struct ofl_translating *translation, size_t index, const struct ofl_finding *finding)
{
    const struct parallel *loop = &translation->loops[index];
    struct ofl_diagnostics *diagnostics = &translation->diagnostics;
    if (!translation->command->fallback && !translation->command->show_kernels) {
        ofl_diag_error(diagnostics, finding->span,
                       "%s cannot run on the device, because %s%s (--gpu-allow-cpu-fallback sends the loop to the CPU)",
                       finding->what, finding->why, reached_by(translation, loop, finding));
        ofl_unsupported_notes(diagnostics, finding, loop->stmt);
        return next_outside(translation, index);
    }
    ofl_diag_warning(diagnostics, finding->span, "%s cannot run on the device, because %s%s; the loop runs on the CPU",
                     finding->what, finding->why, reached_by(translation, loop, finding));
    ofl_unsupported_notes(diagnostics, finding, loop->stmt);
    return rewrite_on_host(translation, index,
                           ofl_arena_format(translation->translator->arena, "on the CPU: %s", finding->what));
}

/* What the check could not resolve. */
static void refuse_unknown(struct ofl_translating *translation, const struct parallel *loop,
                           const struct ofl_finding *finding)
{
    struct ofl_diagnostics *diagnostics = &translation->diagnostics;
    const char *reached = reached_by(translation, loop, finding);
    if (finding->not_yet) {
        ofl_diag_unsupported(diagnostics, finding->span, "%s%s", finding->what, reached);
    } else {
        ofl_diag_error(diagnostics, finding->span, "%s%s", finding->what, reached);
    }
    ofl_unsupported_notes(diagnostics, finding, loop->stmt);
}

/* Whether the loop or one in its body is not Fortran, which has been reported. */
static bool is_broken(const struct ofl_translating *translation, size_t index)
{
    bool broken = false;
    for (size_t end = next_outside(translation, index); index < end; index++) {
        broken |= translation->loops[index].broken;
    }
    return broken;
}

/* Notes what the linker has to find of the bodies that become part of the loop's kernel.  False after an error: one is
 * in an object that may change without the kernel. */
static bool has_guards(struct ofl_translating *translation, const struct parallel *loop)
{
    struct ofl_translator *translator = translation->translator;
    struct ofl_modules *modules = translator->modules;
    struct ofl_reached *reached = ofl_reached_from(modules, loop->unit, (struct ofl_stmt *)loop->stmt);
    for (; reached != NULL; reached = reached->next) {
        const struct ofl_unit *body = reached->procedure->body;
        const struct ofl_unit *outermost = body != NULL ? ofl_unit_outermost(body) : NULL;
        if (outermost == NULL || ofl_guards_has_unit(translation->file, outermost)) {
            continue;
        }
        const struct ofl_module_guard *guard = ofl_module_guard_of(&translator->files, outermost);
        if (guard != NULL) {
            ofl_guards_add(&translation->guards, guard, translator->arena);
        } else if (translation->command->mode != OFL_FC_LINK) {
            struct ofl_place place = ofl_place_of(&translator->sources, outermost->span.begin);
            ofl_diag_error(&translation->diagnostics, reached->reference,
                           "'%s' is an external procedure of another file (%s), whose object may change without this "
                           "loop's kernel: put it into a module, or compile and link the files by one command",
                           reached->procedure->name->text, place.file);
            ofl_diag_note(&translation->diagnostics, loop->stmt->span, "the loop");
            return false;
        }
    }
    return true;
}

/* Gives each outermost loop its one outcome. */
static void decide_all(struct ofl_translating *translation)
{
    struct ofl_modules *modules = translation->translator->modules;
    struct ofl_kernel *kernels = NULL, **last = &kernels;
    unsigned device = translation->command->device == OFL_FC_METAL ? OFL_UNSUPPORTED_METAL : OFL_UNSUPPORTED_CUDA;
    for (size_t index = 0; index < translation->count;) {
        const struct parallel *loop = &translation->loops[index];
        if (translation->command->other_kinds != NULL) {
            ofl_diag_unsupported(&translation->diagnostics, loop->stmt->span, "a loop on the device with %s",
                                 translation->command->other_kinds);
            index = next_outside(translation, index);
            continue;
        }
        struct ofl_finding finding = ofl_unsupported_find(modules, loop->unit, loop->stmt, device);
        if (finding.verdict == OFL_VERDICT_LISTED) {
            index = refuse(translation, index, &finding);
            continue;
        }
        if (finding.verdict == OFL_VERDICT_UNKNOWN) {
            refuse_unknown(translation, loop, &finding);
        } else if (!is_broken(translation, index) && has_guards(translation, loop)) {
            *last = lower(translation, loop);
            last = *last == NULL ? last : &(*last)->next;
        }
        index = next_outside(translation, index);
    }
    if (translation->diagnostics.errors == 0 && kernels != NULL) {
        add_launches(translation, kernels);
    }
}

static void check_all(struct ofl_translating *translation)
{
    struct ofl_diagnostics *diagnostics = &translation->diagnostics;
    for (size_t index = 0; index < translation->count; index++) {
        struct parallel *loop = &translation->loops[index];
        unsigned before = diagnostics->errors;
        if (!loop->openmp) {
            ofl_loop_check(translation->translator->modules, loop->stmt, loop->unit, diagnostics);
        }
        loop->broken = diagnostics->errors > before;
    }
}

static void rewrite_all(struct ofl_translating *translation)
{
    check_all(translation);
    if (translation->command->device != OFL_FC_NO_DEVICE) {
        decide_all(translation);
        return;
    }
    for (size_t index = 0; index < translation->count && translation->diagnostics.errors == 0;) {
        index = rewrite_on_host(translation, index, "on the CPU: no device was asked for (--gpu=)");
    }
}

/* ---- The file ---- */

/* Reads the text.  A preprocessed text keeps the name of the file it was made from: include lines are looked for
 * beside that. */
static const struct ofl_source *load(struct ofl_translator *translator, const struct ofl_fc_item *input,
                                     const char *preprocessed)
{
    enum ofl_load_error error = OFL_LOAD_SYSTEM;
    const struct ofl_source *source = NULL;
    if (preprocessed != NULL) {
        size_t length;
        const char *text = ofl_file_read(translator->arena, preprocessed, &length);
        if (text != NULL) {
            error = OFL_LOAD_TOO_LARGE;
            source = ofl_source_add(&translator->sources, input->name, text, length);
        }
    } else if (input->name != input->argument) {
        size_t length = 0;
        const char *text = ofl_stdin_keep(translator->arena, &length);
        error = OFL_LOAD_TOO_LARGE;
        source = ofl_source_add(&translator->sources, input->name, text, length);
    } else {
        source = ofl_source_load(&translator->sources, input->argument, &error);
    }
    if (source == NULL) {
        ofl_fc_error("cannot read %s: %s", input->name,
                     error == OFL_LOAD_TOO_LARGE   ? "the text and what it includes are too large"
                     : error == OFL_LOAD_DIRECTORY ? "it is a folder"
                                                   : strerror(errno));
    }
    return source;
}

/* Whether the file defines something for the linker: not where no object is made. */
static bool add_guards(struct ofl_translating *translation)
{
    enum ofl_fc_class mode = translation->command->mode;
    return (mode == OFL_FC_LINK || mode == OFL_FC_MODE_OBJECT || mode == OFL_FC_MODE_ASSEMBLY) &&
           ofl_guards_define(&translation->rewriter, translation->file, &translation->translator->files);
}

static struct ofl_translation finish(struct ofl_translating *translation)
{
    struct ofl_translation result = {.result = OFL_TRANSLATE_UNCHANGED};
    if (translation->diagnostics.errors == 0 && (add_guards(translation) || translation->count > 0)) {
        result.result = OFL_TRANSLATE_CHANGED;
        result.launches = translation->launches;
        result.text = ofl_rewrite_text(&translation->rewriter, !translation->command->preprocessed, &result.length);
    }
    if (translation->count > 0 || translation->hidden) { /* else what was found is none of our business */
        ofl_diag_print(&translation->diagnostics, stderr, ofl_diag_wants_colour(stderr));
        if (translation->diagnostics.errors > 0) {
            result.result = OFL_TRANSLATE_FAILED;
        }
    }
    return result;
}

struct ofl_translating *ofl_translate_read(struct ofl_translator *translator, const struct ofl_fc_item *input,
                                           const char *preprocessed)
{
    const struct ofl_source *source = load(translator, input, preprocessed);
    if (source == NULL) {
        return NULL;
    }
    struct ofl_translating *translation = OFL_NEW(translator->arena, struct ofl_translating);
    *translation = (struct ofl_translating){
        .translator = translator, .command = translator->command, .options = translator->command->parse};
    translation->options.form = input->form;
    ofl_diag_start(&translation->diagnostics, &translator->sources, translator->arena);
    translation->file = ofl_parse(source, &translation->options, &translator->sources, &translation->diagnostics);
    find_loops(translation, translation->file->units);
    if (translation->diagnostics.errors == 0) {
        ofl_module_files_note(&translator->files, translation->file, &translation->options);
    }
    if (translation->diagnostics.errors == 0 || (translation->count == 0 && !translation->hidden)) {
        ofl_scopes_build(translation->file, translator->modules, &translation->diagnostics);
    }
    return translation;
}

struct ofl_translation ofl_translate(struct ofl_translating *translation)
{
    struct ofl_translator *translator = translation->translator;
    translation->diagnostics.limit += (unsigned)translation->count; /* each loop may have its message */
    if (translation->diagnostics.errors == 0) {
        ofl_rewrite_start(&translation->rewriter, translation->file, &translator->sources, translator->modules,
                          &translation->options, &translation->diagnostics, translator->arena);
        rewrite_all(translation);
    }
    return finish(translation);
}
