/* The constraints of do concurrent on its locality clauses, default(none) among them; see loop_check.h. */
#include "fortran/loop_check_private.h"
#include "fortran/names.h"
#include "fortran/type_list.h"

#include <string.h>

/* ---- Each name in one clause ---- */

/* The next name in this clause or those behind it. */
static const struct ofl_ident_list *next_name(const struct ofl_locality **clause, const struct ofl_ident_list *name)
{
    name = name->next;
    while (name == NULL && (*clause)->next != NULL) {
        *clause = (*clause)->next;
        name = (*clause)->names;
    }
    return name;
}

/* A name may be in one clause only, once, and not be an index. */
static void check_unique(const struct ofl_loop_check *check, const struct ofl_locality *clause,
                         const struct ofl_ident_list *name)
{
    const char *text = name->ident.name->text;
    if (ofl_is_index(&check->stmt->as.loop, name->ident.name)) {
        ofl_diag_error(check->diagnostics, name->ident.span, "'%s' is an index of the loop", text);
    }
    for (const struct ofl_ident_list *other = next_name(&clause, name); other != NULL;
         other = next_name(&clause, other)) {
        if (other->ident.name == name->ident.name) {
            ofl_diag_error(check->diagnostics, other->ident.span, "'%s' is in more than one locality clause", text);
            ofl_diag_note(check->diagnostics, name->ident.span, "it is here too");
        }
    }
}

/* ---- What may be in which clause ---- */

static const char *clause_text(enum ofl_locality_kind kind)
{
    static const char *const texts[] = {"local", "local_init", "shared", "default", "reduce"};
    return texts[kind];
}

/* Whether a derived type has a final subroutine, or a parent or component of such a type (F2018 7.5.6.1). */
static bool is_finalizable(struct ofl_arena *arena, const struct ofl_symbol *type, struct ofl_type_list **seen)
{
    if (type == NULL || type->definition == NULL || type->definition->kind != OFL_STMT_DERIVED_TYPE ||
        !ofl_type_list_add(arena, seen, type)) {
        return false;
    }
    for (const struct ofl_stmt *stmt = type->definition->as.type_def.bindings.first; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == OFL_STMT_FINAL) {
            return true;
        }
    }
    const struct ofl_scope *scope = type->definition->as.type_def.scope;
    for (const struct ofl_symbol *item = scope == NULL ? NULL : scope->first; item != NULL; item = item->next) {
        bool part = item->class == OFL_SYMBOL_VARIABLE && item->type.kind_of == OFL_TYPE_DERIVED &&
                    !OFL_HAS(item, POINTER) && !OFL_HAS(item, ALLOCATABLE);
        if (part && is_finalizable(arena, item->type.derived, seen)) {
            return true;
        }
    }
    return is_finalizable(arena, ofl_type_parent(type), seen);
}

/* Whether a value of the type has an allocatable part that no pointer leads to. */
static bool has_allocatable(struct ofl_arena *arena, const struct ofl_symbol *type, struct ofl_type_list **seen)
{
    const struct ofl_scope *scope = type == NULL || type->definition == NULL ||
                                            type->definition->kind != OFL_STMT_DERIVED_TYPE ||
                                            !ofl_type_list_add(arena, seen, type)
                                        ? NULL
                                        : type->definition->as.type_def.scope;
    for (const struct ofl_symbol *item = scope == NULL ? NULL : scope->first; item != NULL; item = item->next) {
        bool part = item->class == OFL_SYMBOL_VARIABLE && !OFL_HAS(item, POINTER);
        if (part && (OFL_HAS(item, ALLOCATABLE) ||
                     (item->type.kind_of == OFL_TYPE_DERIVED && has_allocatable(arena, item->type.derived, seen)))) {
            return true;
        }
    }
    return scope != NULL && has_allocatable(arena, ofl_type_parent(type), seen);
}

static bool is_assumed_size(const struct ofl_symbol *symbol)
{
    for (const struct ofl_bound *bound = symbol->bounds; bound != NULL; bound = bound->next) {
        if (bound->form == OFL_BOUND_STAR) {
            return true;
        }
    }
    return false;
}

/* Why a variable cannot be local (F2018 C1128; allocatable components: F2023 C1130), or NULL. */
static const char *not_local(struct ofl_arena *arena, const struct ofl_symbol *symbol)
{
    struct ofl_type_list *seen = NULL, *searched = NULL;
    bool pointer = OFL_HAS(symbol, POINTER);
    return OFL_HAS(symbol, ALLOCATABLE)                              ? "it is allocatable"
           : OFL_HAS(symbol, INTENT_IN)                              ? "it has intent(in)"
           : OFL_HAS(symbol, OPTIONAL)                               ? "it is optional"
           : symbol->cobounds != NULL                                ? "it is a coarray"
           : symbol->type.kind_of == OFL_TYPE_CLASS && !pointer      ? "it is polymorphic"
           : symbol->type.kind_of == OFL_TYPE_CLASS_STAR && !pointer ? "it is polymorphic"
           : symbol->rank == OFL_ASSUMED_RANK                        ? "it has assumed rank"
           : is_assumed_size(symbol)                                 ? "its size is assumed"
           : !pointer && symbol->type.kind_of == OFL_TYPE_DERIVED && is_finalizable(arena, symbol->type.derived, &seen)
               ? "its type has a final subroutine"
           : !pointer && symbol->type.kind_of == OFL_TYPE_DERIVED &&
                   has_allocatable(arena, symbol->type.derived, &searched)
               ? "its type has an allocatable component"
               : NULL;
}

/* Whether a reduction of this kind has a meaning for the type. */
static bool suits(const struct ofl_locality *clause, enum ofl_type_kind type)
{
    bool integer = type == OFL_TYPE_INTEGER, real = type == OFL_TYPE_REAL;
    if (clause->reduce_by_name) {
        return integer || (real && clause->reduce_name->text[0] == 'm'); /* max, min; iand, ior, ieor */
    }
    if (clause->reduce_op == OFL_OPERATOR_ADD || clause->reduce_op == OFL_OPERATOR_MUL) {
        return integer || real || type == OFL_TYPE_COMPLEX;
    }
    return type == OFL_TYPE_LOGICAL;
}

/* Why a variable cannot be reduced (F2023 C1131, C1132), or NULL. */
static const char *not_reduced(const struct ofl_locality *clause, const struct ofl_symbol *symbol)
{
    return OFL_HAS(symbol, ASYNCHRONOUS)                           ? "it is asynchronous"
           : OFL_HAS(symbol, INTENT_IN)                            ? "it has intent(in)"
           : OFL_HAS(symbol, OPTIONAL)                             ? "it is optional"
           : OFL_HAS(symbol, VOLATILE)                             ? "it is volatile"
           : symbol->cobounds != NULL                              ? "it is a coarray"
           : is_assumed_size(symbol)                               ? "its size is assumed"
           : symbol->rank == OFL_ASSUMED_RANK                      ? "it has assumed rank"
           : symbol->typed && !suits(clause, symbol->type.kind_of) ? "the operation is not defined for its type"
                                                                   : NULL;
}

/* Whether the name means something, but no variable. */
static bool is_no_variable(const struct ofl_symbol *symbol)
{
    return symbol->class != OFL_SYMBOL_VARIABLE && symbol->class != OFL_SYMBOL_ASSOCIATE &&
           symbol->class != OFL_SYMBOL_INDEX && symbol->class != OFL_SYMBOL_PROCEDURE;
}

static void check_suitable(const struct ofl_loop_check *check, const struct ofl_locality *clause,
                           const struct ofl_ident *ident)
{
    struct ofl_scope *scope = ofl_scope_of(check->stmt, check->unit);
    const struct ofl_symbol *symbol = ofl_scope_find_or_implicit(check->modules, scope, ident);
    const char *why = NULL, *name = ident->name->text;
    if (symbol == NULL) {
        bool open = false, none = false;
        for (const struct ofl_scope *at = scope; at != NULL; at = at->parent) {
            open |= at->open;
            none |= at->implicit_none;
        }
        if (none && !open) {
            ofl_diag_error(check->diagnostics, ident->span, "'%s' is not declared", name);
        }
        return;
    }
    if (is_no_variable(symbol)) {
        why = "it is not a variable";
    } else if (clause->kind == OFL_LOCALITY_LOCAL || clause->kind == OFL_LOCALITY_LOCAL_INIT) {
        why = not_local(check->modules->arena, symbol);
    } else if (clause->kind == OFL_LOCALITY_REDUCE) {
        why = not_reduced(clause, symbol);
    }
    if (why != NULL) {
        ofl_diag_error(check->diagnostics, ident->span, "'%s' cannot be in a %s clause: %s", name,
                       clause_text(clause->kind), why);
        if (symbol->declared.begin != 0) {
            ofl_diag_note(check->diagnostics, symbol->declared, "'%s' is declared here", name);
        }
    }
}

/* ---- default(none) ---- */

static bool is_listed(const struct ofl_loop *loop, const struct ofl_name *name)
{
    for (const struct ofl_locality *clause = loop->localities; clause != NULL; clause = clause->next) {
        for (const struct ofl_ident_list *item = clause->names; item != NULL; item = item->next) {
            if (item->ident.name == name) {
                return true;
            }
        }
    }
    return ofl_is_index(loop, name);
}

/* Whether a construct inside the loop declares the symbol, or uses the module that does. */
static bool is_of_the_body(const struct ofl_loop_check *check, struct ofl_scope *scope, const struct ofl_name *name)
{
    const struct ofl_scope *around = ofl_scope_of(check->stmt, check->unit);
    for (; scope != NULL && scope != around; scope = scope->parent) {
        if (ofl_scope_brings(scope, name)) {
            return true;
        }
    }
    return false;
}

/* F2018 11.1.7.5: variables of the scopes around the loop, what their constructs declare included. */
static void must_be_listed(const struct ofl_loop_check *check, struct ofl_scope *scope, const struct ofl_ident *ident,
                           const struct ofl_symbol *symbol)
{
    bool variable = symbol != NULL && (symbol->class == OFL_SYMBOL_VARIABLE || symbol->class == OFL_SYMBOL_INDEX ||
                                       symbol->class == OFL_SYMBOL_ASSOCIATE);
    if (variable && !is_of_the_body(check, scope, ident->name) && !is_listed(&check->stmt->as.loop, ident->name)) {
        ofl_diag_error(check->diagnostics, ident->span, "'%s' is in no locality clause, as default(none) demands",
                       ident->name->text);
        ofl_loop_note(check);
    }
}

static bool check_listed(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                         void *context)
{
    if (expr->kind == OFL_EXPR_NAME && meaning->kind == OFL_MEANS_VARIABLE) {
        const struct ofl_ident ident = {expr->as.name.name, expr->span};
        must_be_listed(context, scope, &ident, meaning->symbol);
    }
    return true;
}

/* A statement of the body and the scope around it. */
struct place {
    const struct ofl_loop_check *check;
    struct ofl_scope *scope;
};

static void check_name_listed(const struct ofl_expr *name, void *context)
{
    const struct place *place = context;
    const struct ofl_ident ident = {name->as.name.name, name->span};
    must_be_listed(place->check, place->scope, &ident, ofl_scope_find(place->scope, ident.name));
}

/* The index of an implied do in input and output is a variable of the scope. */
static void check_implied_listed(const struct place *place, const struct ofl_arg *items)
{
    for (; items != NULL; items = items->next) {
        if (items->value != NULL && items->value->kind == OFL_EXPR_IMPLIED_DO) {
            const struct ofl_ident *index = &items->value->as.implied_do.index;
            must_be_listed(place->check, place->scope, index, ofl_scope_find(place->scope, index->name));
            check_implied_listed(place, items->value->as.implied_do.items);
        }
    }
}

/* Names whose value is not used, as in kind(x), have to be listed too. */
static bool check_names_listed(struct ofl_stmt *stmt, void *context)
{
    const struct ofl_loop_check *check = context;
    struct place place = {check, ofl_scope_of(stmt, check->unit)};
    ofl_stmt_names(stmt, check_name_listed, &place);
    if (stmt->kind == OFL_STMT_READ || stmt->kind == OFL_STMT_WRITE || stmt->kind == OFL_STMT_PRINT) {
        check_implied_listed(&place, stmt->as.args.items);
    }
    return true;
}

void ofl_loop_check_localities(const struct ofl_loop_check *check)
{
    bool default_none = false;
    for (const struct ofl_locality *clause = check->stmt->as.loop.localities; clause != NULL; clause = clause->next) {
        default_none |= clause->kind == OFL_LOCALITY_DEFAULT_NONE;
        for (const struct ofl_ident_list *name = clause->names; name != NULL; name = name->next) {
            check_unique(check, clause, name);
            check_suitable(check, clause, &name->ident);
        }
    }
    if (default_none) {
        const struct ofl_visitor visitor = {.expr = check_listed, .context = (void *)check};
        ofl_visit_block(check->modules, check->unit, &check->stmt->as.loop.body, &visitor);
        ofl_walk_stmts(&check->stmt->as.loop.body, check_names_listed, (void *)check);
    }
}
