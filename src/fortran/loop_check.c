/* The constraints of do concurrent; see loop_check.h. */
#include "fortran/loop_check.h"
#include "fortran/names.h"

struct check {
    const struct ofl_stmt *stmt; /* the do concurrent */
    const struct ofl_unit *unit;
    struct ofl_diagnostics *diagnostics;
    bool default_none;
    struct ofl_scope *scope; /* of the statement that is looked at */
};

static void add_note(const struct check *check)
{
    ofl_diag_note(check->diagnostics, check->stmt->span, "the loop begins here");
}

static bool is_inside(const struct check *check, const struct ofl_stmt *stmt)
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

static bool has_label(const struct ofl_stmt *stmt, uint32_t value)
{
    return stmt->label.value == value || (stmt->end_label.value == value && value != 0);
}

struct label_search {
    uint32_t value;
    bool found;
};

static bool find_label(struct ofl_stmt *stmt, void *context)
{
    struct label_search *search = context;
    search->found |= has_label(stmt, search->value);
    return !search->found;
}

static void check_branch(const struct check *check, struct ofl_span span, const struct ofl_label *label)
{
    struct label_search search = {label->value, check->stmt->end_label.value == label->value};
    ofl_walk_stmts(&check->stmt->as.loop.body, find_label, &search);
    if (!search.found && check->stmt->as.loop.terminal.value != label->value) {
        ofl_diag_error(check->diagnostics, span, "a branch to label %u leaves the do concurrent loop", label->value);
        add_note(check);
    }
}

static void check_index(const struct check *check, const struct ofl_expr *target)
{
    if (target == NULL || target->kind != OFL_EXPR_NAME) {
        return;
    }
    for (const struct ofl_index *index = check->stmt->as.loop.indices; index != NULL; index = index->next) {
        if (index->ident.name == target->as.name.name) {
            ofl_diag_error(check->diagnostics, target->span,
                           "'%s' is an index of the do concurrent loop and cannot change", index->ident.name->text);
            ofl_diag_note(check->diagnostics, index->span, "the index is here");
        }
    }
}

/* Whether a block construct between the statement and the loop could declare the name anew. */
static bool in_block(const struct check *check, const struct ofl_stmt *stmt)
{
    for (stmt = stmt->parent; stmt != NULL && stmt != check->stmt; stmt = stmt->parent) {
        if (stmt->kind == OFL_STMT_BLOCK || stmt->kind == OFL_STMT_ASSOCIATE) {
            return true;
        }
    }
    return false;
}

static void check_leaving(const struct check *check, const struct ofl_stmt *stmt)
{
    const struct ofl_stmt *target = target_of(stmt);
    bool leaves = target == NULL || !is_inside(check, target) || (stmt->kind == OFL_STMT_EXIT && target == check->stmt);
    if (leaves) {
        ofl_diag_error(check->diagnostics, stmt->span, "'%s' leaves the do concurrent loop", ofl_stmt_text(stmt->kind));
        add_note(check);
    }
}

static bool check_one(struct ofl_stmt *stmt, void *context)
{
    const struct check *check = context;
    switch (stmt->kind) {
    case OFL_STMT_DO:
        check_index(check, in_block(check, stmt) ? NULL : stmt->as.loop.variable);
        /* What leaves an inner do concurrent is reported for that one. */
        return stmt->as.loop.form != OFL_LOOP_CONCURRENT;
    case OFL_STMT_ASSIGN:
        check_index(check, in_block(check, stmt) ? NULL : stmt->as.assign.target);
        break;
    case OFL_STMT_CYCLE:
    case OFL_STMT_EXIT:
        check_leaving(check, stmt);
        break;
    case OFL_STMT_GOTO:
    case OFL_STMT_COMPUTED_GOTO:
    case OFL_STMT_ARITHMETIC_IF:
        for (const struct ofl_label_list *label = stmt->as.jump.labels; label != NULL; label = label->next) {
            check_branch(check, stmt->span, &label->label);
        }
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
    case OFL_STMT_CRITICAL:
    case OFL_STMT_FAIL_IMAGE:
        ofl_diag_error(check->diagnostics, stmt->span, "'%s' is not allowed in a do concurrent loop",
                       ofl_stmt_text(stmt->kind));
        add_note(check);
        break;
    default:
        break;
    }
    return true;
}

/* A name may be in one clause only, once, and not be an index. */
static void check_localities(const struct check *check)
{
    for (const struct ofl_locality *clause = check->stmt->as.loop.localities; clause != NULL; clause = clause->next) {
        for (const struct ofl_ident_list *name = clause->names; name != NULL; name = name->next) {
            for (const struct ofl_index *index = check->stmt->as.loop.indices; index != NULL; index = index->next) {
                if (index->ident.name == name->ident.name) {
                    ofl_diag_error(check->diagnostics, name->ident.span, "'%s' is an index of the loop",
                                   name->ident.name->text);
                }
            }
            const struct ofl_locality *clause2 = clause;
            for (const struct ofl_ident_list *other = name->next;; other = other->next) {
                while (other == NULL && clause2->next != NULL) {
                    clause2 = clause2->next;
                    other = clause2->names;
                }
                if (other == NULL) {
                    break;
                }
                if (other->ident.name == name->ident.name) {
                    ofl_diag_error(check->diagnostics, other->ident.span, "'%s' is in more than one locality clause",
                                   name->ident.name->text);
                    ofl_diag_note(check->diagnostics, name->ident.span, "it is here too");
                }
            }
        }
    }
}

/* ---- Names ---- */

static bool is_pure(const struct ofl_unit *unit)
{
    bool pure = false;
    for (const struct ofl_attr *attr = unit->attrs; attr != NULL; attr = attr->next) {
        if (attr->kind == OFL_ATTR_IMPURE) {
            return false;
        }
        pure |= attr->kind == OFL_ATTR_PURE || attr->kind == OFL_ATTR_ELEMENTAL;
    }
    return pure;
}

/* Whether a locality clause or the index list has the name. */
static bool is_listed(const struct ofl_loop *loop, const struct ofl_name *name)
{
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        if (index->ident.name == name) {
            return true;
        }
    }
    for (const struct ofl_locality *clause = loop->localities; clause != NULL; clause = clause->next) {
        for (const struct ofl_ident_list *item = clause->names; item != NULL; item = item->next) {
            if (item->ident.name == name) {
                return true;
            }
        }
    }
    return false;
}

/* Whether the symbol is declared by a construct inside the loop. */
static bool is_of_the_body(const struct check *check, const struct ofl_symbol *symbol)
{
    const struct ofl_scope *around = ofl_scope_of(check->stmt, check->unit);
    for (const struct ofl_scope *scope = check->scope; scope != NULL && scope != around; scope = scope->parent) {
        if (symbol->scope == scope) {
            return true;
        }
    }
    return false;
}

static void check_name(const struct ofl_expr *expr, void *context)
{
    const struct check *check = context;
    const struct ofl_symbol *symbol = ofl_scope_find(check->scope, expr->as.name.name);
    if (symbol == NULL) {
        return;
    }
    bool procedure = symbol->class == OFL_SYMBOL_FUNCTION || symbol->class == OFL_SYMBOL_SUBROUTINE;
    bool module_procedure = symbol->unit != NULL && symbol->unit->kind == OFL_UNIT_MODULE_PROCEDURE;
    if (procedure && symbol->unit != NULL && !module_procedure && !is_pure(symbol->unit)) {
        ofl_diag_error(check->diagnostics, expr->span, "'%s' is not pure and cannot be called in a do concurrent loop",
                       symbol->name->text);
        ofl_diag_note(check->diagnostics, symbol->unit->span, "'%s' is here", symbol->name->text);
    }
    if (check->default_none && symbol->class == OFL_SYMBOL_VARIABLE && !is_of_the_body(check, symbol) &&
        !is_listed(&check->stmt->as.loop, symbol->name)) {
        ofl_diag_error(check->diagnostics, expr->span, "'%s' is in no locality clause, as default(none) demands",
                       symbol->name->text);
        add_note(check);
    }
}

static bool check_names(struct ofl_stmt *stmt, void *context)
{
    struct check *check = context;
    check->scope = ofl_scope_of(stmt, check->unit);
    ofl_stmt_names(stmt, check_name, check);
    return true;
}

void ofl_loop_check(const struct ofl_stmt *stmt, const struct ofl_unit *unit, struct ofl_diagnostics *diagnostics)
{
    struct check check = {.stmt = stmt, .unit = unit, .diagnostics = diagnostics};
    for (const struct ofl_locality *clause = stmt->as.loop.localities; clause != NULL; clause = clause->next) {
        check.default_none |= clause->kind == OFL_LOCALITY_DEFAULT_NONE;
    }
    check_localities(&check);
    ofl_walk_stmts(&stmt->as.loop.body, check_one, &check);
    ofl_walk_stmts(&stmt->as.loop.body, check_names, &check);
}
