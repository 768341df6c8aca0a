/* The constraints of do concurrent on its header: what indices, limits, steps and the mask may be and name; see
 * loop_check.h.  Entry point: ofl_loop_check_header.  What is not understood is not judged. */
#include "fortran/loop_check_private.h"
#include "fortran/meaning_private.h"
#include "fortran/names.h"

bool ofl_is_index(const struct ofl_loop *loop, const struct ofl_name *name)
{
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        if (index->ident.name == name) {
            return true;
        }
    }
    return false;
}

/* ---- Names ---- */

/* The names in an expression of the header. */
struct header {
    const struct ofl_loop_check *check;
    bool limit; /* else the mask */
};

static void check_header_name(const struct ofl_expr *expr, void *context)
{
    const struct header *header = context;
    const struct ofl_loop *loop = &header->check->stmt->as.loop;
    const struct ofl_name *name = expr->as.name.name;
    if (header->limit && ofl_is_index(loop, name)) {
        ofl_diag_error(header->check->diagnostics, expr->span,
                       "'%s' is an index of the loop, and limits are evaluated before there are indices", name->text);
        return;
    }
    for (const struct ofl_locality *clause = loop->localities; clause != NULL; clause = clause->next) {
        for (const struct ofl_ident_list *item = clause->names; clause->kind == OFL_LOCALITY_LOCAL && item != NULL;
             item = item->next) {
            if (item->ident.name == name) {
                ofl_diag_error(header->check->diagnostics, expr->span,
                               "'%s' is local to the iterations and has no value in the loop's %s", name->text,
                               header->limit ? "limits" : "mask");
                ofl_diag_note(header->check->diagnostics, item->ident.span, "it is local here");
            }
        }
    }
}

static void check_names(const struct ofl_loop_check *check)
{
    const struct ofl_loop *loop = &check->stmt->as.loop;
    struct header header = {check, true};
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        ofl_expr_names(index->lower, check_header_name, &header);
        ofl_expr_names(index->upper, check_header_name, &header);
        ofl_expr_names(index->step, check_header_name, &header);
    }
    header.limit = false;
    ofl_expr_names(loop->condition, check_header_name, &header);
}

/* ---- Types ---- */

/* A part of the header that has to be a scalar of a type. */
static void check_scalar(const struct ofl_loop_check *check, const struct ofl_expr *expr, struct ofl_scope *scope,
                         enum ofl_type_kind base, const char *what)
{
    if (expr == NULL) {
        return;
    }
    const struct ofl_meaning *meaning = ofl_meaning_of(check->modules, scope, expr);
    if (meaning->kind == OFL_MEANS_UNKNOWN || meaning->kind == OFL_MEANS_TYPELESS ||
        (meaning->rank == 0 && meaning->type.base == base)) {
        return;
    }
    if (meaning->rank != 0) {
        ofl_diag_error(check->diagnostics, expr->span,
                       "%s of a do concurrent loop must be a scalar, and this has rank %u", what, meaning->rank);
    } else {
        ofl_diag_error(check->diagnostics, expr->span, "%s of a do concurrent loop must be %s, and this is %s", what,
                       base == OFL_TYPE_LOGICAL ? "logical" : "an integer",
                       ofl_type_text(check->modules, meaning->type));
    }
}

/* F2018 R1127: a step is not zero (11.1.7.4.3). */
static void check_step(const struct ofl_loop_check *check, const struct ofl_expr *step, struct ofl_scope *scope)
{
    int64_t value = 1;
    check_scalar(check, step, scope, OFL_TYPE_INTEGER, "the step");
    if (step != NULL && ofl_value_int64(ofl_meaning_of(check->modules, scope, step)->value, &value) && value == 0) {
        ofl_diag_error(check->diagnostics, step->span, "the step of a do concurrent loop cannot be zero");
    }
}

/* An index without a type-spec has the type that a variable of its name has around the loop: an integer (F2018 C1121,
 * 19.4). */
static void check_index(const struct ofl_loop_check *check, const struct ofl_index *index, struct ofl_scope *scope)
{
    struct ofl_diagnostics *diagnostics = check->diagnostics;
    const struct ofl_loop *loop = &check->stmt->as.loop;
    const char *name = index->ident.name->text;
    for (const struct ofl_index *other = loop->indices; other != index; other = other->next) {
        if (other->ident.name == index->ident.name) {
            ofl_diag_error(diagnostics, index->ident.span, "'%s' is an index of the loop twice", name);
            ofl_diag_note(diagnostics, other->ident.span, "it is here too");
            return;
        }
    }
    if (loop->index_type != NULL) {
        if (loop->index_type->kind != OFL_TYPE_INTEGER) {
            ofl_diag_error(diagnostics, loop->index_type->span, "the indices of a do concurrent loop must be integers");
        }
        return;
    }
    const struct ofl_symbol *symbol = ofl_scope_find(scope, index->ident.name);
    bool variable = symbol != NULL && symbol->class == OFL_SYMBOL_VARIABLE && symbol->typed;
    if (variable && symbol->type.kind_of != OFL_TYPE_INTEGER) {
        ofl_diag_error(diagnostics, index->ident.span, "'%s' is an index of the loop and must be an integer", name);
        if (symbol->declared.begin != 0) {
            ofl_diag_note(diagnostics, symbol->declared, "'%s' is declared here", name);
        }
    }
}

void ofl_loop_check_header(const struct ofl_loop_check *check)
{
    const struct ofl_loop *loop = &check->stmt->as.loop;
    struct ofl_scope *around = ofl_scope_of(check->stmt, check->unit);
    check_names(check);
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        check_index(check, index, around);
        check_scalar(check, index->lower, around, OFL_TYPE_INTEGER, "a limit");
        check_scalar(check, index->upper, around, OFL_TYPE_INTEGER, "a limit");
        check_step(check, index->step, around);
    }
    if (loop->condition != NULL && loop->scope != NULL) {
        check_scalar(check, loop->condition, loop->scope, OFL_TYPE_LOGICAL, "the mask");
    }
}
