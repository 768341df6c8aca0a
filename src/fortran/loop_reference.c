/* The constraints of do concurrent on what its body refers to and defines; see loop_check.h.
 *
 * Each reference of a procedure that is not pure is reported, in whatever way the procedure is reached; finalizers and
 * the assignments of components, which no expression names, once each.  References in an inner do concurrent are
 * reported for that one. */
#include "fortran/loop_check_private.h"
#include "fortran/type_list.h"

#include <string.h>

/* A range of positions. */
struct extent {
    ofl_pos begin, end;
    struct extent *next;
};

struct seen {
    const struct ofl_procedure *procedure;
    struct seen *next;
};

struct references {
    const struct ofl_loop_check *check;
    struct extent *inner;        /* bodies and masks of do concurrent loops in this one */
    struct seen *seen;           /* procedures that were looked at */
    struct ofl_type_list *types; /* whose final subroutines were looked at */
    bool header;                 /* the mask is looked at, not the body */
};

static struct ofl_arena *arena_of(const struct references *references)
{
    return references->check->modules->arena;
}

/* ---- Procedures ---- */

static void add_inner(struct references *references, struct ofl_span span)
{
    struct extent *extent = OFL_NEW(arena_of(references), struct extent);
    *extent = (struct extent){span.begin, span.end, references->inner};
    references->inner = extent;
}

static bool is_inner(const struct references *references, struct ofl_span span)
{
    const struct ofl_sources *sources = references->check->diagnostics->sources;
    for (const struct extent *extent = references->inner; extent != NULL; extent = extent->next) {
        if (!ofl_comes_before(sources, span.begin, extent->begin) &&
            ofl_comes_before(sources, span.begin, extent->end)) {
            return true;
        }
    }
    return false;
}

static bool was_seen(const struct references *references, const struct ofl_procedure *procedure)
{
    for (const struct seen *seen = references->seen; seen != NULL; seen = seen->next) {
        if (seen->procedure == procedure) {
            return true;
        }
    }
    return false;
}

static void note_seen(struct references *references, const struct ofl_procedure *procedure)
{
    struct seen *seen = OFL_NEW(arena_of(references), struct seen);
    *seen = (struct seen){procedure, references->seen};
    references->seen = seen;
}

/* F2018 C1140: what reads or changes the floating-point state that iterations share. */
static bool is_ieee_state(const struct ofl_procedure *procedure)
{
    const char *name = procedure->name->text;
    return procedure->kind == OFL_PROCEDURE_INTRINSIC &&
           (strcmp(name, "ieee_get_flag") == 0 || strcmp(name, "ieee_set_halting_mode") == 0 ||
            strcmp(name, "ieee_get_halting_mode") == 0);
}

static void not_pure(const struct references *references, const struct ofl_procedure *procedure, struct ofl_span span,
                     const char *reached)
{
    struct ofl_diagnostics *diagnostics = references->check->diagnostics;
    const char *name = procedure->name->text;
    ofl_diag_error(diagnostics, span, "'%s'%s is not pure and cannot be %s a do concurrent loop", name, reached,
                   references->header ? "referred to in the mask of" : "called in");
    if (procedure->symbol != NULL && procedure->symbol->declared.begin != 0) {
        ofl_diag_note(diagnostics, procedure->symbol->declared, "'%s' is here", name);
    }
    ofl_loop_note(references->check);
}

static bool look_at_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                         void *context);
static void look_at_arguments(const struct references *references, const struct ofl_call *call,
                              struct ofl_scope *scope);

static void look_at_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context)
{
    struct references *references = context;
    const struct ofl_procedure *procedure = call->procedure;
    bool first = !was_seen(references, procedure);
    look_at_arguments(references, call, scope);
    if (first) {
        note_seen(references, procedure);
    }
    if (is_inner(references, span)) {
        return;
    }
    if (is_ieee_state(procedure)) {
        ofl_diag_error(references->check->diagnostics, span, "'%s' is not allowed in a do concurrent loop",
                       procedure->name->text);
        ofl_loop_note(references->check);
    } else if (procedure->kind == OFL_PROCEDURE_STATEMENT) {
        if (!first) {
            return; /* also one that wrongly refers to itself */
        }
        const struct ofl_visitor visitor = {.expr = look_at_expr, .call = look_at_call, .context = context};
        ofl_visit_expr(references->check->modules, procedure->symbol->scope,
                       procedure->symbol->definition->as.assign.value, &visitor);
    } else if (!procedure->is_pure) {
        const char *other = call->generic != NULL   ? call->generic->name->text
                            : call->binding != NULL ? call->binding->name->text
                                                    : NULL;
        bool same = other == NULL || strcmp(other, procedure->name->text) == 0;
        not_pure(references, procedure, span,
                 same ? "" : ofl_arena_format(arena_of(references), ", which '%s' means,", other));
    }
}

/* What is called without being named. */
static void look_at_hidden_calls(struct references *references, const struct ofl_reached *reached)
{
    for (; reached != NULL; reached = reached->next) {
        if (reached->caller == NULL && !reached->procedure->is_pure && !was_seen(references, reached->procedure) &&
            !is_inner(references, reached->reference)) {
            not_pure(references, reached->procedure, reached->reference, ", which is called here,");
        }
    }
}

/* ---- Indices that would change ---- */

/* Whether a name is an index of the loop, or an associate name of one. */
static const struct ofl_index *index_of(const struct references *references, const struct ofl_name *name,
                                        struct ofl_scope *scope)
{
    const struct ofl_loop *loop = &references->check->stmt->as.loop;
    const struct ofl_symbol *symbol = ofl_scope_find(scope, name);
    while (symbol != NULL && symbol->class == OFL_SYMBOL_ASSOCIATE && symbol->value != NULL &&
           symbol->value->kind == OFL_EXPR_NAME) {
        symbol = ofl_scope_find(symbol->scope->parent, symbol->value->as.name.name);
    }
    for (const struct ofl_index *index = loop->indices; symbol != NULL && index != NULL; index = index->next) {
        if (symbol->scope == loop->scope && symbol->name == index->ident.name) {
            return index;
        }
    }
    return NULL;
}

static void check_name(const struct references *references, const struct ofl_ident *ident, struct ofl_scope *scope)
{
    const struct ofl_index *index = index_of(references, ident->name, scope);
    if (index != NULL) {
        struct ofl_diagnostics *diagnostics = references->check->diagnostics;
        const char *name = index->ident.name->text;
        if (ident->name == index->ident.name) {
            ofl_diag_error(diagnostics, ident->span, "'%s' is an index of the do concurrent loop and cannot change",
                           name);
        } else {
            ofl_diag_error(diagnostics, ident->span,
                           "'%s' stands for '%s', which is an index of the do concurrent loop and cannot change",
                           ident->name->text, name);
        }
        ofl_diag_note(diagnostics, index->span, "the index is here");
    }
}

/* The variable or constant whose own memory a designator is in; NULL if pointers lead elsewhere. */
static const struct ofl_symbol *own_base(struct ofl_modules *modules, const struct ofl_expr *expr,
                                         struct ofl_scope *scope)
{
    const struct ofl_meaning *meaning = ofl_meaning_of(modules, scope, expr);
    while (meaning->base != NULL && !meaning->pointer) {
        meaning = ofl_meaning_of(modules, scope, meaning->base);
    }
    bool known = meaning->kind == OFL_MEANS_VARIABLE || meaning->kind == OFL_MEANS_CONSTANT;
    return known && !meaning->pointer ? meaning->symbol : NULL;
}

/* What may nowhere be defined: the host compiler does not see the statements of a kernel. */
static void check_definable(const struct references *references, const struct ofl_expr *target, struct ofl_scope *scope)
{
    const struct ofl_symbol *symbol = own_base(references->check->modules, target, scope);
    if (symbol == NULL || is_inner(references, target->span)) {
        return;
    }
    const struct ofl_unit *home = symbol->scope != NULL ? symbol->scope->unit : NULL;
    bool away = home != NULL && ofl_module_of(home) != ofl_module_of(references->check->unit);
    const char *why = symbol->class == OFL_SYMBOL_CONSTANT                                 ? "is a named constant"
                      : symbol->storage == OFL_STORAGE_DUMMY && OFL_HAS(symbol, INTENT_IN) ? "has intent(in)"
                      : symbol->storage == OFL_STORAGE_MODULE && OFL_HAS(symbol, PROTECTED) && away
                          ? "is protected by its module"
                          : NULL;
    if (why != NULL) {
        ofl_diag_error(references->check->diagnostics, target->span, "'%s' %s and cannot change", symbol->name->text,
                       why);
        ofl_diag_note(references->check->diagnostics, symbol->declared, "it is declared here");
    }
}

static void check_defined(const struct references *references, const struct ofl_expr *target, struct ofl_scope *scope)
{
    if (target != NULL) {
        check_definable(references, target, scope);
    }
    if (target != NULL && target->kind == OFL_EXPR_NAME) {
        const struct ofl_ident ident = {target->as.name.name, target->span};
        check_name(references, &ident, scope);
    }
}

/* Actual arguments of intent(out) and intent(inout). */
static void look_at_arguments(const struct references *references, const struct ofl_call *call, struct ofl_scope *scope)
{
    const struct ofl_procedure *procedure = call->procedure;
    for (unsigned i = 0; i < call->arg_count && i < procedure->dummy_count; i++) {
        enum ofl_intent intent = procedure->dummies[i].intent;
        if (intent == OFL_INTENT_OUT || intent == OFL_INTENT_INOUT) {
            check_defined(references, call->args[i], scope);
        }
    }
}

/* The indices of implied do loops in input and output, and what is read. */
static void check_items(const struct references *references, const struct ofl_arg *items, bool read,
                        struct ofl_scope *scope)
{
    for (const struct ofl_arg *arg = items; arg != NULL; arg = arg->next) {
        if (arg->value != NULL && arg->value->kind == OFL_EXPR_IMPLIED_DO) {
            check_name(references, &arg->value->as.implied_do.index, scope);
            check_items(references, arg->value->as.implied_do.items, read, scope);
        } else if (read) {
            check_defined(references, arg->value, scope);
        }
    }
}

/* What a control list sets. */
static void check_controls(const struct references *references, const struct ofl_stmt *stmt, struct ofl_scope *scope)
{
    static const char *const set[] = {"iostat", "iomsg", "size", "stat", "errmsg", "newunit"};
    static const char *const given[] = {"unit", "file", "id"};
    for (const struct ofl_arg *arg = stmt->as.args.controls; arg != NULL; arg = arg->next) {
        bool sets = false, asks = stmt->kind == OFL_STMT_INQUIRE && arg->keyword.name != NULL;
        for (size_t i = 0; arg->keyword.name != NULL && i < sizeof set / sizeof *set; i++) {
            sets |= strcmp(arg->keyword.name->text, set[i]) == 0;
        }
        for (size_t i = 0; asks && i < sizeof given / sizeof *given; i++) {
            asks = strcmp(arg->keyword.name->text, given[i]) != 0;
        }
        if (sets || asks) {
            check_defined(references, arg->value, scope);
        }
    }
}

/* F2018 C1139: deallocation of something polymorphic could call any final subroutine. */
static void check_deallocated(const struct references *references, const struct ofl_expr *expr, struct ofl_scope *scope)
{
    const struct ofl_meaning *meaning = ofl_meaning_of(references->check->modules, scope, expr);
    if (meaning->kind != OFL_MEANS_UNKNOWN &&
        (meaning->type.base == OFL_TYPE_CLASS || meaning->type.base == OFL_TYPE_CLASS_STAR) &&
        (meaning->allocatable || meaning->pointer) && !is_inner(references, expr->span)) {
        ofl_diag_error(references->check->diagnostics, expr->span,
                       "what is polymorphic cannot be deallocated in a do concurrent loop");
        ofl_loop_note(references->check);
    }
}

/* The same at the end of a block: its allocatable variables are deallocated there. */
static void check_block(const struct references *references, const struct ofl_stmt *stmt)
{
    const struct ofl_scope *scope = stmt->as.block.scope;
    for (const struct ofl_symbol *symbol = scope == NULL ? NULL : scope->first; symbol != NULL; symbol = symbol->next) {
        bool polymorphic = symbol->type.kind_of == OFL_TYPE_CLASS || symbol->type.kind_of == OFL_TYPE_CLASS_STAR;
        if (symbol->class == OFL_SYMBOL_VARIABLE && symbol->scope == scope && polymorphic &&
            OFL_HAS(symbol, ALLOCATABLE) && !OFL_HAS(symbol, SAVE) && !is_inner(references, stmt->span)) {
            ofl_diag_error(references->check->diagnostics, symbol->declared,
                           "'%s' is polymorphic, and the end of its block would deallocate it in a do concurrent loop",
                           symbol->name->text);
            ofl_loop_note(references->check);
        }
    }
}

/* An intrinsic assignment finalizes what the variable had (F2018 7.5.6.3): parents and components too. */
static void check_finalized(struct references *references, const struct ofl_symbol *type, struct ofl_span span)
{
    struct ofl_modules *modules = references->check->modules;
    if (type == NULL || type->definition == NULL || type->definition->kind != OFL_STMT_DERIVED_TYPE ||
        !ofl_type_list_add(arena_of(references), &references->types, type)) {
        return;
    }
    for (const struct ofl_stmt *stmt = type->definition->as.type_def.bindings.first; stmt != NULL; stmt = stmt->next) {
        for (const struct ofl_ident_list *name = stmt->kind == OFL_STMT_FINAL ? stmt->as.generic.names : NULL;
             name != NULL; name = name->next) {
            struct ofl_symbol *symbol = ofl_scope_find(type->scope, name->ident.name);
            const struct ofl_procedure *procedure = symbol == NULL ? NULL : ofl_procedure_of(modules, symbol);
            if (procedure != NULL && !procedure->is_pure && !was_seen(references, procedure)) {
                note_seen(references, procedure);
                not_pure(references, procedure, span, ", which is called here for what the variable had,");
            }
        }
    }
    size_t count = 0;
    struct ofl_symbol **components = ofl_type_components(modules, type, &count);
    for (size_t i = 0; i < count; i++) {
        bool part = components[i]->class == OFL_SYMBOL_VARIABLE && components[i]->type.kind_of == OFL_TYPE_DERIVED &&
                    !OFL_HAS(components[i], POINTER);
        check_finalized(references, part ? components[i]->type.derived : NULL, span);
    }
    check_finalized(references, ofl_type_parent(type), span);
}

static void look_at_assignment(struct references *references, struct ofl_stmt *stmt, struct ofl_scope *scope)
{
    const struct ofl_expr *target = stmt->as.assign.target;
    check_defined(references, target, scope);
    const struct ofl_action *action =
        stmt->kind == OFL_STMT_ASSIGN ? ofl_action_of(references->check->modules, scope, stmt) : NULL;
    if (action != NULL && action->why == NULL && action->call == NULL) {
        const struct ofl_meaning *meaning = ofl_meaning_of(references->check->modules, scope, target);
        if (meaning->allocatable) {
            check_deallocated(references, target, scope);
        }
        if (meaning->kind != OFL_MEANS_UNKNOWN && meaning->type.base == OFL_TYPE_DERIVED &&
            !is_inner(references, target->span)) {
            check_finalized(references, meaning->type.derived, target->span);
        }
    }
}

static void look_at_stmt(struct ofl_stmt *stmt, struct ofl_scope *scope, void *context)
{
    struct references *references = context;
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
    case OFL_STMT_POINTER_ASSIGN:
        look_at_assignment(references, stmt, scope);
        break;
    case OFL_STMT_DO:
        if (stmt->as.loop.form == OFL_LOOP_CONCURRENT) {
            add_inner(references, (struct ofl_span){stmt->span.end, stmt->whole.end});
            if (stmt->as.loop.condition != NULL) {
                add_inner(references, stmt->as.loop.condition->span);
            }
        }
        check_defined(references, stmt->as.loop.variable, scope);
        break;
    case OFL_STMT_BLOCK:
        check_block(references, stmt);
        break;
    case OFL_STMT_LABEL_ASSIGN:
        check_defined(references, stmt->as.label_assign.variable, scope);
        break;
    case OFL_STMT_DEALLOCATE:
        for (const struct ofl_arg *arg = stmt->as.args.items; arg != NULL; arg = arg->next) {
            check_deallocated(references, arg->value, scope);
        }
        check_controls(references, stmt, scope);
        break;
    case OFL_STMT_READ:
    case OFL_STMT_WRITE:
    case OFL_STMT_PRINT:
    case OFL_STMT_ACCEPT:
        check_items(references, stmt->as.args.items, stmt->kind == OFL_STMT_READ || stmt->kind == OFL_STMT_ACCEPT,
                    scope);
        check_controls(references, stmt, scope);
        break;
    case OFL_STMT_ALLOCATE:
    case OFL_STMT_OPEN:
    case OFL_STMT_CLOSE:
    case OFL_STMT_INQUIRE:
    case OFL_STMT_BACKSPACE:
    case OFL_STMT_REWIND:
    case OFL_STMT_ENDFILE:
    case OFL_STMT_FLUSH:
    case OFL_STMT_WAIT:
        check_controls(references, stmt, scope);
        break;
    default:
        break;
    }
}

/* What is not understood is not judged: on a device that is an error by itself. */
static bool look_at_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                         void *context)
{
    const struct references *references = context;
    const struct ofl_symbol *symbol = meaning->kind == OFL_MEANS_COMPONENT ? meaning->symbol : NULL;
    (void)scope;
    if (symbol != NULL && symbol->scope != NULL && symbol->scope->kind == OFL_SCOPE_TYPE &&
        !is_inner(references, expr->span) && !ofl_component_visible(symbol, references->check->unit)) {
        ofl_diag_error(references->check->diagnostics, expr->span, "'%s' is a private component of another module",
                       symbol->name->text);
        ofl_diag_note(references->check->diagnostics, symbol->declared, "it is declared here");
    }
    return meaning->kind != OFL_MEANS_UNKNOWN;
}

void ofl_loop_check_references(const struct ofl_loop_check *check)
{
    struct references references = {.check = check, .header = true};
    const struct ofl_visitor visitor = {
        .expr = look_at_expr, .call = look_at_call, .stmt = look_at_stmt, .context = &references};
    const struct ofl_loop *loop = &check->stmt->as.loop;
    if (loop->condition != NULL) {
        ofl_visit_expr(check->modules, loop->scope, loop->condition, &visitor);
    }
    references.header = false;
    ofl_visit_block(check->modules, check->unit, &loop->body, &visitor);
    struct ofl_stmt part = *check->stmt; /* without its limits, which may call what they like */
    part.action = NULL;
    part.as.loop.indices = NULL;
    look_at_hidden_calls(&references, ofl_reached_from(check->modules, check->unit, &part));
}
