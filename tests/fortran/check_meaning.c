/* check_meaning: what the front end takes expressions for, in a form that Fortran compilers can judge.
 *
 *     check_meaning [-a] [-u] [-I DIR]... [-o OUTPUT] FILE [MODULE-FILE]...
 *     check_meaning -r [-a] FILE          the procedures that each unit refers to
 *     check_meaning -m                    the module that checked files use; -n: without real(16)
 *
 * A copy of FILE is written in which, before each statement, every expression of it is passed to a subroutine that
 * takes exactly the type, kind and rank that we found: a compiler that takes the file but not the copy found something
 * else. Without -a only what parallel loops hold is checked, and the units that have one.  MODULE-FILEs are read first,
 * for their modules.  -u makes an unknown meaning a failure: it is printed, and the exit status is 1.
 * tools/fortran-meaning runs this over many files. */
#include "fortran/arena.h"
#include "fortran/meaning.h"
#include "fortran/parse.h"
#include "fortran/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANK = 7, MAX_INCLUDES = 64 };

struct tool {
    struct ofl_arena *arena;
    struct ofl_sources sources;
    struct ofl_diagnostics diagnostics;
    struct ofl_modules modules;
    struct ofl_parse_options options;
    struct ofl_rewriter rewriter;
    const struct ofl_unit *unit;
    bool all, strict, references;
    unsigned checked, unknown;
    struct ofl_lines lines;        /* before the statement at hand */
    struct ofl_stmt *guarded;      /* the body of the if or where statement before */
    const struct ofl_stmt *holder; /* where-construct or forall around: checks go before it */
    struct ofl_scope *scope;       /* of the statement */
};

/* ---- The module ------------------------------------------------------------------------------------------------- */

static void print_procedure(const char *type, const char *name, int rank)
{
    printf("pure subroutine ofl_is_%s_%d(x)\n%s, intent(in) :: x", name, rank, type);
    for (int i = 0; i < rank; i++) {
        printf("%s:", i == 0 ? "(" : ",");
    }
    printf("%s\nend subroutine\n", rank > 0 ? ")" : "");
}

static void print_module(bool wide)
{
    static const struct {
        const char *base, *name;
        int kinds[6];
    } types[] = {{"integer", "i", {1, 2, 4, 8, 16}},
                 {"real", "r", {4, 8, 10, 16}},
                 {"complex", "c", {4, 8, 10, 16}},
                 {"logical", "l", {1, 2, 4, 8}},
                 {"character(len=*", "s", {1, 4}}};
    char type[60], name[20];
    puts("module ofl_checks\nimplicit none\npublic\ncontains");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (const int *kind = types[i].kinds; *kind != 0; kind++) {
            bool text = types[i].name[0] == 's';
            if (*kind == 16 && !wide && i > 0) {
                continue;
            }
            snprintf(type, sizeof type, text ? "%s, kind=%d)" : "%s(%d)", types[i].base, *kind);
            snprintf(name, sizeof name, "%s%d", types[i].name, *kind);
            for (int rank = 0; rank <= MOST_RANK; rank++) {
                print_procedure(type, name, rank);
            }
        }
    }
    for (int rank = 0; rank <= MOST_RANK; rank++) {
        print_procedure("class(*)", "d", rank);
    }
    puts("end module");
}

/* ---- Checks ----------------------------------------------------------------------------------------------------- */

/* A whole assumed-size array or one of assumed rank cannot be passed to an assumed-shape dummy. */
static bool is_passable(const struct ofl_meaning *meaning)
{
    if (meaning->kind == OFL_MEANS_UNKNOWN || meaning->kind >= OFL_MEANS_PROCEDURE ||
        meaning->kind == OFL_MEANS_TYPELESS || meaning->rank > MOST_RANK) {
        return false;
    }
    const struct ofl_bound *last = meaning->kind == OFL_MEANS_VARIABLE ? meaning->symbol->bounds : NULL;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    return last == NULL || last->form != OFL_BOUND_STAR;
}

static const char *name_of(struct tool *tool, struct ofl_value_type type)
{
    static const char letters[] = {[OFL_TYPE_INTEGER] = 'i',
                                   [OFL_TYPE_REAL] = 'r',
                                   [OFL_TYPE_COMPLEX] = 'c',
                                   [OFL_TYPE_LOGICAL] = 'l',
                                   [OFL_TYPE_CHARACTER] = 's'};
    return ofl_arena_format(tool->arena, "%c%d", letters[type.base], type.kind);
}

static void report_unknown(struct tool *tool, const struct ofl_meaning *meaning)
{
    struct ofl_place place = ofl_place_of(&tool->sources, meaning->place.begin);
    tool->unknown++;
    if (tool->strict) {
        printf("%s:%u:%u: %s%s\n", place.file != NULL ? place.file : "?", place.line, place.column,
               meaning->unsupported ? "not yet implemented: " : "", meaning->reason);
    }
}

static bool check_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                       void *context)
{
    struct tool *tool = context;
    bool implied = scope != tool->scope; /* in an implied do, or the mask of a loop */
    if (meaning->kind == OFL_MEANS_UNKNOWN) {
        report_unknown(tool, meaning);
        return false;
    }
    if (implied || !is_passable(meaning) || expr->kind == OFL_EXPR_RANGE) {
        return true;
    }
    const char *text = ofl_rewrite_flat(&tool->rewriter, expr->span);
    if (text == NULL || strlen(text) > 2000) {
        return true;
    }
    switch (meaning->type.base) {
    case OFL_TYPE_INTEGER:
    case OFL_TYPE_REAL:
    case OFL_TYPE_COMPLEX:
    case OFL_TYPE_LOGICAL:
    case OFL_TYPE_CHARACTER:
        ofl_line_add(&tool->lines, "call ofl_is_%s_%u(%s)", name_of(tool, meaning->type), meaning->rank, text);
        break;
    case OFL_TYPE_DERIVED:
    case OFL_TYPE_CLASS:
    case OFL_TYPE_CLASS_STAR:
        ofl_line_add(&tool->lines, "call ofl_is_d_%u(%s)", meaning->rank, text);
        break;
    default:
        return true;
    }
    tool->checked++;
    return true;
}

/* Whether the statement's own expressions can be passed where it stands. */
static bool is_checked(const struct ofl_stmt *stmt)
{
    switch (stmt->kind) {
    case OFL_STMT_FORALL:
    case OFL_STMT_FORALL_STMT:
    case OFL_STMT_ALLOCATE:
    case OFL_STMT_NULLIFY:
    case OFL_STMT_POINTER_ASSIGN:
        return false;
    default:
        return ofl_stmt_is_executable(stmt->kind);
    }
}

/* Statements of a where or forall go with the construct around; an index of forall is nothing outside of it. */
static bool in_forall(const struct ofl_stmt *stmt)
{
    for (stmt = stmt->parent; stmt != NULL; stmt = stmt->parent) {
        if (stmt->kind == OFL_STMT_FORALL || stmt->kind == OFL_STMT_FORALL_STMT) {
            return true;
        }
    }
    return false;
}

static const struct ofl_stmt *anchor(struct tool *tool, const struct ofl_stmt *stmt)
{
    const struct ofl_stmt *found = stmt == tool->guarded && tool->holder != NULL ? tool->holder : stmt;
    for (const struct ofl_stmt *outer = found->parent; outer != NULL; outer = outer->parent) {
        if (outer->kind == OFL_STMT_WHERE || outer->kind == OFL_STMT_WHERE_STMT || outer->kind == OFL_STMT_IF_STMT) {
            found = outer;
        }
    }
    return found;
}

static bool check_stmt(struct ofl_stmt *stmt, void *context)
{
    struct tool *tool = context;
    const struct ofl_visitor visitor = {.expr = check_expr, .context = tool};
    const struct ofl_stmt *before = anchor(tool, stmt);
    if (stmt->kind == OFL_STMT_IF_STMT || stmt->kind == OFL_STMT_WHERE_STMT) {
        tool->guarded = stmt->as.guarded.body;
        tool->holder = before;
    }
    if (!is_checked(stmt) || in_forall(stmt)) {
        return true;
    }
    tool->lines = (struct ofl_lines){.arena = tool->arena, .at = ofl_stmt_begin(before)};
    tool->scope = ofl_scope_of(stmt, tool->unit);
    ofl_visit_own(&tool->modules, tool->scope, stmt, &visitor);
    if (stmt->kind == OFL_STMT_ASSIGN || stmt->kind == OFL_STMT_CALL) {
        const struct ofl_action *action = ofl_action_of(&tool->modules, tool->scope, stmt);
        if (action->why != NULL) {
            report_unknown(tool, action->why);
        }
    }
    if (tool->lines.first != NULL) {
        ofl_rewrite_until(&tool->rewriter, ofl_stmt_begin(before), ofl_stmt_begin(before), &tool->lines);
    }
    return true;
}

static bool find_loop(struct ofl_stmt *stmt, void *context)
{
    bool *found = context;
    *found |= stmt->kind == OFL_STMT_DO && stmt->as.loop.form == OFL_LOOP_CONCURRENT;
    return !*found;
}

static bool has_loop(const struct ofl_unit *unit)
{
    bool found = false;
    ofl_walk_stmts(&unit->body, find_loop, &found);
    for (const struct ofl_unit *inner = unit->units; inner != NULL && !found; inner = inner->next) {
        found = has_loop(inner);
    }
    return found;
}

/* ---- References ------------------------------------------------------------------------------------------------- */

static void print_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context)
{
    const struct tool *tool = context;
    (void)span;
    (void)scope;
    if (call->procedure->kind != OFL_PROCEDURE_INTRINSIC && call->procedure->kind != OFL_PROCEDURE_STATEMENT) {
        const struct ofl_name *name = call->dynamic ? call->binding->name : call->procedure->name;
        printf("%s %s\n", tool->unit->name.name != NULL ? tool->unit->name.name->text : "main__", name->text);
    }
}

/* ---- Units ------------------------------------------------------------------------------------------------------ */

static void check_units(struct tool *tool, const struct ofl_unit *units, bool inside)
{
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        tool->unit = unit;
        if (tool->references) {
            const struct ofl_visitor visitor = {.call = print_call, .context = tool};
            ofl_visit_block(&tool->modules, unit, &unit->body, &visitor);
        } else {
            struct ofl_lines use = {.arena = tool->arena};
            if (!inside && unit->body.first != NULL && unit->kind != OFL_UNIT_BLOCK_DATA) {
                use.at = ofl_stmt_begin(unit->body.first);
                ofl_line_add(&use, "use ofl_checks");
                ofl_rewrite_until(&tool->rewriter, use.at, use.at, &use);
            }
            ofl_walk_stmts(&unit->body, check_stmt, tool);
        }
        check_units(tool, unit->units, inside || unit->body.first != NULL);
    }
}

static struct ofl_file *read_file(struct tool *tool, const char *path)
{
    enum ofl_load_error error;
    bool preprocess;
    const struct ofl_source *source = ofl_source_load(&tool->sources, path, &error);
    if (source == NULL) {
        fprintf(stderr, "check_meaning: cannot read %s\n", path);
        exit(2);
    }
    tool->options.form = ofl_form_of_path(path, &preprocess);
    tool->options.free_line_length = tool->options.form == OFL_FORM_FREE ? 0 : tool->options.free_line_length;
    struct ofl_file *file = ofl_parse(source, &tool->options, &tool->sources, &tool->diagnostics);
    ofl_scopes_build(file, &tool->modules, &tool->diagnostics);
    return file;
}

static int check_file(struct tool *tool, const char *path, const char *output)
{
    struct ofl_file *file = read_file(tool, path);
    if (tool->diagnostics.errors > 0) {
        printf("%s: not understood\n", path);
        return 2;
    }
    bool wanted = tool->all;
    for (const struct ofl_unit *unit = file->units; unit != NULL && !wanted; unit = unit->next) {
        wanted = has_loop(unit);
    }
    if (!wanted) {
        return 3;
    }
    ofl_rewrite_start(&tool->rewriter, file, &tool->sources, &tool->modules, &tool->options, &tool->diagnostics,
                      tool->arena);
    check_units(tool, file->units, false);
    if (output != NULL) {
        size_t length;
        const char *text = ofl_rewrite_text(&tool->rewriter, true, &length);
        FILE *stream = fopen(output, "w");
        if (stream == NULL || fwrite(text, 1, length, stream) != length || fclose(stream) != 0) {
            fprintf(stderr, "check_meaning: cannot write %s\n", output);
            return 2;
        }
    }
    fprintf(stderr, "%s: %u checked, %u unknown\n", path, tool->checked, tool->unknown);
    return tool->strict && tool->unknown > 0;
}

int main(int count, char **words)
{
    static struct tool tool;
    const char *includes[MAX_INCLUDES], *output = NULL, *file = NULL;
    tool.arena = ofl_arena_new();
    tool.options = ofl_parse_defaults(OFL_FORM_FREE);
    tool.options.include_paths = includes;
    ofl_sources_start(&tool.sources, tool.arena);
    ofl_diag_start(&tool.diagnostics, &tool.sources, tool.arena);
    ofl_modules_start(&tool.modules, tool.arena);
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "-m") == 0 || strcmp(words[i], "-n") == 0) {
            print_module(words[i][1] == 'm');
        } else if (strcmp(words[i], "-a") == 0) {
            tool.all = true;
        } else if (strcmp(words[i], "-u") == 0) {
            tool.strict = true;
        } else if (strcmp(words[i], "-r") == 0) {
            tool.references = true;
        } else if (strcmp(words[i], "-o") == 0 && i + 1 < count) {
            output = words[++i];
        } else if (strcmp(words[i], "-I") == 0 && i + 1 < count && tool.options.include_path_count < MAX_INCLUDES) {
            includes[tool.options.include_path_count++] = words[++i];
        } else if (file == NULL) {
            file = words[i];
        } else {
            read_file(&tool, words[i]);
        }
    }
    int status = file != NULL ? check_file(&tool, file, output) : 0;
    ofl_arena_free(tool.arena);
    return status;
}
