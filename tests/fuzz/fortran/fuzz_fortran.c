/* libFuzzer target: whatever the bytes are, the front end reads them, builds scopes, dumps the tree and prints its
 * messages, and checks each parallel loop.
 *
 * The first byte chooses the source form and the options, the rest is the text.  Beside the sanitizers' findings it
 * checks what the headers promise: spans lie in the text, the tree is no deeper than allowed, an error leaves a
 * message. */
#include "fortran/arena.h"
#include "fortran/meaning.h"
#include "fortran/loop_check.h"
#include "fortran/parse.h"
#include "fortran/scope.h"
#include "fortran/unsupported.h"
#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

enum { FIXED = 1, OPENMP = 2, DEC = 4, LONG_LINES = 8, D_LINES = 16 };

struct check {
    const struct ofl_sources *sources;
    struct ofl_modules *modules;
    struct ofl_diagnostics *diagnostics;
    const struct ofl_unit *unit;
};

static bool check_stmt(struct ofl_stmt *stmt, void *context)
{
    const struct check *check = context;
    const struct ofl_source *begin = ofl_source_at(check->sources, stmt->span.begin);
    const struct ofl_source *end = ofl_source_at(check->sources, stmt->whole.end);
    if (begin == NULL || end == NULL || stmt->span.end < stmt->span.begin) {
        abort();
    }
    return true;
}

static void check_units(const struct ofl_unit *units, struct check *check)
{
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        ofl_walk_stmts(&unit->body, check_stmt, check);
        check_units(unit->units, check);
    }
}

static bool check_loop(struct ofl_stmt *stmt, void *context)
{
    const struct check *check = context;
    if (stmt->kind == OFL_STMT_DO && stmt->as.loop.form == OFL_LOOP_CONCURRENT) {
        ofl_loop_check(check->modules, stmt, check->unit, check->diagnostics);
    }
    if (stmt->kind == OFL_STMT_DO && stmt->as.loop.form <= OFL_LOOP_CONCURRENT) {
        struct ofl_finding finding = ofl_unsupported_find(check->modules, check->unit, stmt, OFL_UNSUPPORTED_METAL);
        if (finding.verdict != OFL_VERDICT_DEVICE) {
            ofl_unsupported_notes(check->diagnostics, &finding, stmt);
        }
    }
    return true;
}

static void check_loops(const struct ofl_unit *units, struct check *check)
{
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        check->unit = unit;
        ofl_walk_stmts(&unit->body, check_loop, check);
        check_loops(unit->units, check);
    }
}

/* ---- Meaning ---- */

struct asking {
    struct ofl_modules *modules;
    const struct ofl_unit *unit;
    unsigned loops;
};

/* An unknown meaning says why; a known one has a type that can be written, and is remembered. */
static bool check_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                       void *context)
{
    const struct asking *asking = context;
    bool unknown = meaning->kind == OFL_MEANS_UNKNOWN;
    if (unknown == (meaning->reason == NULL)) {
        abort();
    }
    if (ofl_meaning_of(asking->modules, scope, expr) != meaning && !unknown) {
        abort();
    }
    if (!unknown && meaning->kind < OFL_MEANS_PROCEDURE && ofl_type_text(asking->modules, meaning->type) == NULL) {
        abort();
    }
    if (meaning->value != NULL && meaning->value->rank > OFL_MAX_RANK) {
        abort();
    }
    return true;
}

static void check_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context)
{
    const struct asking *asking = context;
    (void)span;
    (void)scope;
    if (call->procedure == NULL || ofl_procedure_text(asking->modules, call->procedure) == NULL) {
        abort();
    }
}

static void check_reached(struct ofl_stmt *stmt, struct ofl_scope *scope, void *context)
{
    struct asking *asking = context;
    (void)scope;
    if (stmt->kind == OFL_STMT_DO && asking->loops < 20) {
        asking->loops++;
        ofl_reached_from(asking->modules, asking->unit, stmt);
    }
}

static void ask_units(const struct ofl_unit *units, struct asking *asking)
{
    const struct ofl_visitor visitor = {check_expr, check_call, check_reached, asking};
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        asking->unit = unit;
        ofl_visit_block(asking->modules, unit, &unit->body, &visitor);
        ofl_procedure_of_unit(asking->modules, unit);
        ask_units(unit->units, asking);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    if (nowhere == NULL && (nowhere = fopen("/dev/null", "w")) == NULL) {
        abort();
    }
    if (size == 0) {
        return 0;
    }
    struct ofl_parse_options options = ofl_parse_defaults(data[0] & FIXED ? OFL_FORM_FIXED : OFL_FORM_FREE);
    options.openmp = data[0] & OPENMP;
    options.dec = data[0] & DEC;
    options.d_lines_are_code = data[0] & D_LINES;
    if (data[0] & LONG_LINES) {
        options.free_line_length = options.fixed_line_length = 0;
    }
    struct ofl_arena *arena = ofl_arena_new();
    struct ofl_sources sources;
    struct ofl_diagnostics diagnostics;
    struct ofl_modules modules;
    ofl_sources_start(&sources, arena);
    ofl_diag_start(&diagnostics, &sources, arena);
    ofl_modules_start(&modules, arena);
    const struct ofl_source *source = ofl_source_add(&sources, "fuzz.f90", (const char *)data + 1, size - 1);
    struct ofl_file *file = ofl_parse(source, &options, &sources, &diagnostics);
    struct check check = {&sources, &modules, &diagnostics, NULL};
    check_units(file->units, &check);
    ofl_scopes_build(file, &modules, &diagnostics);
    check_loops(file->units, &check);
    struct asking asking = {.modules = &modules};
    ask_units(file->units, &asking);
    ofl_dump_file(file, nowhere);
    ofl_diag_print(&diagnostics, nowhere, true);
    ofl_arena_free(arena);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (size < 2 || seed % 3 == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    if (seed % 64 == 1) {
        data[0] ^= (uint8_t)(1u << (seed / 64 % 5));
    }
    return 1 + ofl_mutate_tokens((char *)data + 1, size - 1, most - 1, seed);
}
