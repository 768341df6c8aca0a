/* Translating one source file; see translate.h. */
#include "fortran/translate.h"
#include "fortran/diagnostic.h"
#include "fortran/driver_process.h"
#include "fortran/launch.h"
#include "fortran/loop_check.h"
#include "fortran/rewrite.h"
#include "fortran/scope.h"
#include "fortran/unsupported.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A parallel loop and the unit it is in. */
struct parallel {
    const struct ofl_stmt *stmt;
    const struct ofl_unit *unit;
    const struct ofl_stmt *directives; /* `!GCC$` lines right before it; NULL if there are none */
};

struct translation {
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
    bool hidden; /* a statement with an error could be a parallel loop */
};

void ofl_translator_start(struct ofl_translator *translator, const struct ofl_fc_command *command,
                          struct ofl_arena *arena)
{
    *translator = (struct ofl_translator){.command = command, .arena = arena};
    translator->modules = OFL_NEW(arena, struct ofl_modules);
    ofl_sources_start(&translator->sources, arena);
    ofl_modules_start(translator->modules, arena);
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
static void note_directive(struct translation *translation, const struct ofl_stmt *stmt)
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

static bool find_loop(struct ofl_stmt *stmt, void *context)
{
    struct translation *translation = context;
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
        ofl_diag_unsupported(&translation->diagnostics, stmt->span, "a loop of OpenMP's on the device");
        translation->hidden = true;
    }
    if (stmt->kind != OFL_STMT_DO || stmt->as.loop.form != OFL_LOOP_CONCURRENT) {
        translation->directives = stmt->kind == OFL_STMT_DIRECTIVE ? translation->directives : NULL;
        return true;
    }
    if (translation->count == translation->capacity) {
        size_t capacity = translation->capacity == 0 ? 32 : 2 * translation->capacity;
        struct parallel *loops = ofl_arena_alloc(translation->translator->arena, capacity * sizeof *loops);
        if (translation->count > 0) {
            memcpy(loops, translation->loops, translation->count * sizeof *loops);
        }
        translation->loops = loops;
        translation->capacity = capacity;
    }
    translation->loops[translation->count++] = (struct parallel){stmt, translation->unit, translation->directives};
    translation->directives = NULL;
    return true;
}

static void find_loops(struct translation *translation, const struct ofl_unit *units)
{
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        translation->unit = unit;
        ofl_walk_stmts(&unit->body, find_loop, translation);
        find_loops(translation, unit->units);
    }
}

/* ---- Rewriting ---- */

static void report(const struct translation *translation, const struct ofl_stmt *stmt, const char *outcome)
{
    if (translation->command->report) {
        struct ofl_place place = ofl_place_of(&translation->translator->sources, stmt->span.begin);
        fprintf(stderr, "%s:%u:%u: %s\n", place.file, place.line, place.column, outcome);
    }
}

/* Takes out directives that would now stand before a block. */
static void drop_directives(struct translation *translation, const struct parallel *loop)
{
    struct ofl_lines none = {.arena = translation->translator->arena};
    for (const struct ofl_stmt *stmt = loop->directives; stmt != NULL && stmt != loop->stmt; stmt = stmt->next) {
        ofl_rewrite_edit(&translation->rewriter, stmt->span.begin, stmt->span.end, &none);
    }
}

/* Rewrites the loop at `index` for the CPU, and first those in its body; returns the index of the next one outside. */
static size_t rewrite_on_host(struct translation *translation, size_t index, const char *why)
{
    const struct parallel *loop = &translation->loops[index];
    size_t next = index + 1;
    report(translation, loop->stmt, why);
    while (next < translation->count && translation->loops[next].stmt->span.begin < loop->stmt->whole.end) {
        next = rewrite_on_host(translation, next, why);
    }
    drop_directives(translation, loop);
    ofl_rewrite_on_host(&translation->rewriter, loop->stmt, loop->unit, loop->directives);
    return next;
}

/* A name for what this file adds to the program: no other file's may be the same. */
static const char *unique_suffix(const struct translation *translation, const char *source)
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
static void add_launches(struct translation *translation, struct ofl_kernel *kernels)
{
    const struct ofl_fc_command *command = translation->command;
    bool cuda = command->device == OFL_FC_CUDA;
    const char *source = ofl_lowered_source(kernels, translation->translator->arena);
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
        ofl_kernel_launch(&translation->rewriter, kernel, suffix, cuda);
        report(translation, kernel->stmt, ofl_launch_report(&translation->rewriter, kernel));
    }
    ofl_kernel_append_image(&translation->rewriter, suffix, image, bytes);
    translation->launches = true;
}

/* Loops in the body of another one belong to that one's kernel. */
static size_t next_outside(const struct translation *translation, size_t index)
{
    ofl_pos end = translation->loops[index].stmt->whole.end;
    for (index++; index < translation->count && translation->loops[index].stmt->span.begin < end; index++) {
    }
    return index;
}

/* Gives each outermost loop its one outcome. */
static void decide_all(struct translation *translation)
{
    struct ofl_kernel *kernels = NULL, **last = &kernels;
    for (size_t index = 0; index < translation->count;) {
        const struct parallel *loop = &translation->loops[index];
        struct ofl_blocker blocker = ofl_unsupported_find(loop->stmt, loop->unit, translation->translator->arena);
        if (translation->command->default_kinds != NULL) {
            ofl_diag_unsupported(&translation->diagnostics, loop->stmt->span, "a loop on the device with %s",
                                 translation->command->default_kinds);
            index = next_outside(translation, index);
        } else if (blocker.what == NULL) {
            drop_directives(translation, loop);
            *last = ofl_lower_loop(&translation->rewriter, loop->stmt, loop->unit);
            last = *last == NULL ? last : &(*last)->next;
            index = next_outside(translation, index);
        } else if (translation->command->fallback || translation->command->show_kernels) {
            ofl_diag_warning(&translation->diagnostics, blocker.span,
                             "%s cannot run on the device, because %s; the loop runs on the CPU", blocker.what,
                             blocker.why);
            ofl_diag_note(&translation->diagnostics, loop->stmt->span, "the loop begins here");
            index = rewrite_on_host(translation, index,
                                    ofl_arena_format(translation->translator->arena, "on the CPU: %s", blocker.what));
        } else {
            ofl_diag_error(
                &translation->diagnostics, blocker.span,
                "%s cannot run on the device, because %s (--gpu-allow-cpu-fallback sends the loop to the CPU)",
                blocker.what, blocker.why);
            ofl_diag_note(&translation->diagnostics, loop->stmt->span, "the loop begins here");
            index = next_outside(translation, index);
        }
    }
    if (translation->diagnostics.errors == 0 && kernels != NULL) {
        add_launches(translation, kernels);
    }
}

static void rewrite_all(struct translation *translation)
{
    for (size_t index = 0; index < translation->count; index++) {
        ofl_loop_check(translation->loops[index].stmt, translation->loops[index].unit, &translation->diagnostics);
    }
    if (translation->command->device != OFL_FC_NO_DEVICE) {
        decide_all(translation);
        return;
    }
    for (size_t index = 0; index < translation->count;) {
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
            source = ofl_source_add(&translator->sources, input->argument, text, length);
        }
    } else {
        source = ofl_source_load(&translator->sources, input->argument, &error);
    }
    if (source == NULL) {
        ofl_fc_error("cannot read %s: %s", input->argument,
                     error == OFL_LOAD_TOO_LARGE   ? "the text and what it includes are too large"
                     : error == OFL_LOAD_DIRECTORY ? "it is a folder"
                                                   : strerror(errno));
    }
    return source;
}

static struct ofl_translation finish(struct translation *translation)
{
    struct ofl_translation result = {.result = OFL_TRANSLATE_UNCHANGED};
    if (translation->diagnostics.errors == 0 && translation->count > 0) {
        result.result = OFL_TRANSLATE_CHANGED;
        result.launches = translation->launches;
        result.text = ofl_rewrite_text(&translation->rewriter, !translation->command->preprocessed, &result.length);
    }
    ofl_diag_print(&translation->diagnostics, stderr, ofl_diag_wants_colour(stderr));
    if (translation->diagnostics.errors > 0) {
        result.result = OFL_TRANSLATE_FAILED;
    }
    return result;
}

void ofl_translator_learn(struct ofl_translator *translator, const struct ofl_fc_item *input, const char *preprocessed)
{
    struct ofl_diagnostics dropped;
    struct ofl_parse_options options = translator->command->parse;
    const struct ofl_source *source = load(translator, input, preprocessed);
    if (source != NULL) {
        options.form = input->form;
        ofl_diag_start(&dropped, &translator->sources, translator->arena);
        struct ofl_file *file = ofl_parse(source, &options, &translator->sources, &dropped);
        ofl_scopes_build(file, translator->modules, &dropped);
    }
}

struct ofl_translation ofl_translate(struct ofl_translator *translator, const struct ofl_fc_item *input,
                                     const char *preprocessed)
{
    struct translation translation = {
        .translator = translator, .command = translator->command, .options = translator->command->parse};
    const struct ofl_source *source = load(translator, input, preprocessed);
    if (source == NULL) {
        return (struct ofl_translation){.result = OFL_TRANSLATE_FAILED};
    }
    translation.options.form = input->form;
    ofl_diag_start(&translation.diagnostics, &translator->sources, translator->arena);
    translation.file = ofl_parse(source, &translation.options, &translator->sources, &translation.diagnostics);
    find_loops(&translation, translation.file->units);
    if (translation.count == 0 && !translation.hidden) {
        /* What was found in the text is none of our business. */
        ofl_scopes_build(translation.file, translator->modules, &translation.diagnostics);
        return (struct ofl_translation){.result = OFL_TRANSLATE_UNCHANGED};
    }
    if (translation.diagnostics.errors == 0) {
        ofl_scopes_build(translation.file, translator->modules, &translation.diagnostics);
        ofl_rewrite_start(&translation.rewriter, translation.file, &translator->sources, translator->modules,
                          &translation.options, &translation.diagnostics, translator->arena);
        rewrite_all(&translation);
    }
    return finish(&translation);
}
