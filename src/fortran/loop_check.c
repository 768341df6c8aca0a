/* The constraints of do concurrent; see loop_check.h.  Here: statements that must not be in the body, and what leaves
 * the loop. */
#include "fortran/loop_check_private.h"

#include <string.h>

void ofl_loop_note(const struct ofl_loop_check *check)
{
    ofl_diag_note(check->diagnostics, check->stmt->span, "the loop begins here");
}

const struct ofl_expr *ofl_control_value(const struct ofl_arg *controls, const char *keyword)
{
    for (const struct ofl_arg *arg = controls; arg != NULL; arg = arg->next) {
        if (arg->keyword.name != NULL && strcmp(arg->keyword.name->text, keyword) == 0) {
            return arg->value;
        }
    }
    return NULL;
}

/* ---- Leaving the loop ---- */

static bool is_inside(const struct ofl_loop_check *check, const struct ofl_stmt *stmt)
{
    for (; stmt != NULL; stmt = stmt->parent) {
        if (stmt == check->stmt) {
            return true;
        }
    }
    return false;
}

/* The construct that `exit` or `cycle` means, or NULL. */
static const struct ofl_stmt *target_of(const struct ofl_stmt *stmt)
{
    const struct ofl_name *name = stmt->as.exit.name.name;
    for (const struct ofl_stmt *outer = stmt->parent; outer != NULL; outer = outer->parent) {
        if (name != NULL ? outer->construct.name == name : outer->kind == OFL_STMT_DO) {
            return outer;
        }
    }
    return NULL;
}

static void check_leaving(const struct ofl_loop_check *check, const struct ofl_stmt *stmt)
{
    const struct ofl_stmt *target = target_of(stmt);
    bool leaves = target == NULL || !is_inside(check, target) || (stmt->kind == OFL_STMT_EXIT && target == check->stmt);
    if (leaves) {
        ofl_diag_error(check->diagnostics, stmt->span, "'%s' leaves the do concurrent loop", ofl_stmt_text(stmt->kind));
        ofl_loop_note(check);
    }
}

struct label_search {
    uint64_t value;
    bool found;
};

static bool find_label(struct ofl_stmt *stmt, void *context)
{
    struct label_search *search = context;
    search->found |= stmt->label.value == search->value || stmt->end_label.value == search->value;
    return !search->found;
}

static void check_branch(const struct ofl_loop_check *check, struct ofl_span span, uint64_t label)
{
    const struct ofl_stmt *loop = check->stmt;
    struct label_search search = {label, label == 0 || loop->end_label.value == label};
    ofl_walk_stmts(&loop->as.loop.body, find_label, &search);
    if (!search.found && loop->as.loop.terminal.value != label) {
        ofl_diag_error(check->diagnostics, span, "a branch to label %llu leaves the do concurrent loop",
                       (unsigned long long)label);
        ofl_loop_note(check);
    }
}

static void check_jump(const struct ofl_loop_check *check, const struct ofl_stmt *stmt)
{
    if (stmt->kind == OFL_STMT_ASSIGNED_GOTO && stmt->as.jump.labels == NULL) {
        ofl_diag_error(check->diagnostics, stmt->span,
                       "an assigned go to in a do concurrent loop needs its list of labels, none of them outside");
        ofl_loop_note(check);
    }
    for (const struct ofl_label_list *label = stmt->as.jump.labels; label != NULL; label = label->next) {
        check_branch(check, stmt->span, label->label.value);
    }
}

/* Branches of input and output, and alternate returns. */
static void check_branches_of_args(const struct ofl_loop_check *check, const struct ofl_arg *args)
{
    for (const struct ofl_arg *arg = args; arg != NULL; arg = arg->next) {
        const char *keyword = arg->keyword.name == NULL ? "" : arg->keyword.name->text;
        bool branch = strcmp(keyword, "err") == 0 || strcmp(keyword, "end") == 0 || strcmp(keyword, "eor") == 0;
        if (arg->value != NULL &&
            (arg->value->kind == OFL_EXPR_LABEL || (branch && arg->value->kind == OFL_EXPR_INTEGER))) {
            check_branch(check, arg->span, arg->value->as.literal.value);
        }
    }
}

/* ---- Statements that must not be there ---- */

static void forbid(const struct ofl_loop_check *check, struct ofl_span span, const char *what)
{
    ofl_diag_error(check->diagnostics, span, "'%s' is not allowed in a do concurrent loop", what);
    ofl_loop_note(check);
}

/* Allocating or deallocating a coarray is image control. */
static void check_coarrays(const struct ofl_loop_check *check, struct ofl_stmt *stmt)
{
    struct ofl_scope *scope = ofl_scope_of(stmt, check->unit);
    for (const struct ofl_arg *arg = stmt->as.args.items; arg != NULL; arg = arg->next) {
        const struct ofl_expr *item = arg->value;
        bool coshape = item != NULL && item->kind == OFL_EXPR_COINDEX;
        while (item != NULL && (item->kind == OFL_EXPR_CALL || item->kind == OFL_EXPR_COINDEX)) {
            item = item->as.call.base;
        }
        const struct ofl_symbol *symbol =
            item != NULL && item->kind == OFL_EXPR_NAME ? ofl_scope_find(scope, item->as.name.name) : NULL;
        if (coshape || (symbol != NULL && symbol->cobounds != NULL)) {
            ofl_diag_error(check->diagnostics, arg->span, "'%s' of a coarray is not allowed in a do concurrent loop",
                           ofl_stmt_text(stmt->kind));
            ofl_loop_note(check);
        }
    }
}

static void check_input_output(const struct ofl_loop_check *check, const struct ofl_stmt *stmt)
{
    const struct ofl_expr *advance = ofl_control_value(stmt->as.args.controls, "advance");
    if (advance != NULL) {
        forbid(check, advance->span, "advance=");
    }
    check_branches_of_args(check, stmt->as.args.controls);
}

static bool check_one(struct ofl_stmt *stmt, void *context)
{
    const struct ofl_loop_check *check = context;
    switch (stmt->kind) {
    case OFL_STMT_DO:
        /* What leaves an inner do concurrent, or must not be there, is reported for that one. */
        return stmt->as.loop.form != OFL_LOOP_CONCURRENT;
    case OFL_STMT_CYCLE:
    case OFL_STMT_EXIT:
        check_leaving(check, stmt);
        break;
    case OFL_STMT_GOTO:
    case OFL_STMT_COMPUTED_GOTO:
    case OFL_STMT_ARITHMETIC_IF:
    case OFL_STMT_ASSIGNED_GOTO:
        check_jump(check, stmt);
        break;
    case OFL_STMT_CALL:
        check_branches_of_args(check, stmt->as.call.args);
        break;
    case OFL_STMT_ALLOCATE:
    case OFL_STMT_DEALLOCATE:
        check_coarrays(check, stmt);
        break;
    case OFL_STMT_READ:
    case OFL_STMT_WRITE:
    case OFL_STMT_OPEN:
    case OFL_STMT_CLOSE:
    case OFL_STMT_INQUIRE:
    case OFL_STMT_BACKSPACE:
    case OFL_STMT_REWIND:
    case OFL_STMT_ENDFILE:
    case OFL_STMT_FLUSH:
    case OFL_STMT_WAIT:
        check_input_output(check, stmt);
        break;
    case OFL_STMT_RETURN:
    case OFL_STMT_STOP:
    case OFL_STMT_SYNC_ALL:
    case OFL_STMT_SYNC_IMAGES:
    case OFL_STMT_SYNC_MEMORY:
    case OFL_STMT_SYNC_TEAM:
    case OFL_STMT_FORM_TEAM:
    case OFL_STMT_CHANGE_TEAM:
    case OFL_STMT_EVENT_POST:
    case OFL_STMT_EVENT_WAIT:
    case OFL_STMT_LOCK:
    case OFL_STMT_UNLOCK:
    case OFL_STMT_CRITICAL: /* fail image and pause are no image control (F2018 11.6.1) */
        forbid(check, stmt->span, ofl_stmt_text(stmt->kind));
        break;
    default:
        break;
    }
    return true;
}

void ofl_loop_check(struct ofl_modules *modules, const struct ofl_stmt *stmt, const struct ofl_unit *unit,
                    struct ofl_diagnostics *diagnostics)
{
    struct ofl_loop_check check = {.modules = modules, .stmt = stmt, .unit = unit, .diagnostics = diagnostics};
    ofl_loop_check_header(&check);
    ofl_loop_check_localities(&check);
    ofl_walk_stmts(&stmt->as.loop.body, check_one, &check);
    ofl_loop_check_references(&check);
}
