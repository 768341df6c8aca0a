/* Which procedures code reaches.
 *
 * Entry point: ofl_reached_from.  What a procedure's body refers to is found out once and kept at the procedure, so
 * that many loops that reach the same code cost one walk over it. */
#include "fortran/meaning_private.h"

/* What a body refers to, in the order of the text. */
struct ofl_reference {
    const struct ofl_procedure *procedure;
    struct ofl_span span;
    struct ofl_reference *next;
};

struct collecting {
    struct ofl_modules *modules;
    unsigned finals, assignments; /* walks over types */
    struct ofl_reference *first, **link;
};

static void add(struct collecting *collecting, const struct ofl_procedure *procedure, struct ofl_span span)
{
    struct ofl_reference *reference = OFL_NEW(collecting->modules->arena, struct ofl_reference);
    *reference = (struct ofl_reference){procedure, span, NULL};
    *collecting->link = reference;
    collecting->link = &reference->next;
}

/* The bindings that take the place of one in the extensions of its type. */
static void add_overrides(struct collecting *collecting, const struct ofl_call *call, struct ofl_span span)
{
    struct ofl_symbol *declared = call->binding;
    for (struct ofl_symbol *type = collecting->modules->types; type != NULL; type = type->next_type) {
        struct ofl_scope *scope = type->definition != NULL ? type->definition->as.type_def.scope : NULL;
        struct ofl_symbol *own = scope != NULL ? ofl_scope_own(scope, declared->name) : NULL;
        if (own == NULL || own == declared || own->procedure_stmt == NULL) {
            continue;
        }
        const struct ofl_symbol *ancestor = type;
        bool extends = false;
        for (unsigned depth = 0; ancestor != NULL && !extends && depth < OFL_MAX_NESTING; depth++) {
            extends = ancestor->definition != NULL && ancestor->definition->as.type_def.scope == declared->scope;
            ancestor = ofl_type_parent(ancestor);
        }
        const struct ofl_procedure *procedure = extends ? ofl_binding_procedure(collecting->modules, own) : NULL;
        if (procedure != NULL) {
            add(collecting, procedure, span);
        }
    }
}

static void on_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context)
{
    struct collecting *collecting = context;
    (void)scope;
    add(collecting, call->procedure, span);
    if (call->dynamic) {
        add_overrides(collecting, call, span);
    }
}

/* ---- Finalizers and assignments of components ------------------------------------------------------------------- */

static void add_final(struct collecting *collecting, struct ofl_symbol *type, struct ofl_span span)
{
    if (type == NULL || type->definition == NULL || !ofl_type_first(type, collecting->finals)) {
        return;
    }
    const struct ofl_stmt *stmt = type->definition->as.type_def.bindings.first;
    for (; stmt != NULL; stmt = stmt->next) {
        for (const struct ofl_ident_list *name = stmt->kind == OFL_STMT_FINAL ? stmt->as.generic.names : NULL;
             name != NULL; name = name->next) {
            struct ofl_symbol *symbol = ofl_scope_find(type->scope, name->ident.name);
            const struct ofl_procedure *procedure =
                symbol != NULL ? ofl_procedure_of(collecting->modules, symbol) : NULL;
            if (procedure != NULL) {
                add(collecting, procedure, span);
            }
        }
    }
    add_final(collecting, ofl_type_parent(type), span);
    const struct ofl_symbol *component = type->definition->as.type_def.scope->first;
    for (; component != NULL; component = component->next) {
        if (component->class == OFL_SYMBOL_VARIABLE && component->type.kind_of == OFL_TYPE_DERIVED &&
            !OFL_HAS(component, POINTER)) {
            add_final(collecting, component->type.derived, span);
        }
    }
}

/* Local variables are finalized when the procedure or block ends, intent(out) dummies when it begins. */
static void add_finalized(struct collecting *collecting, const struct ofl_scope *scope)
{
    for (const struct ofl_symbol *symbol = scope->first; symbol != NULL; symbol = symbol->next) {
        bool ends = symbol->storage == OFL_STORAGE_LOCAL && !OFL_HAS(symbol, SAVE);
        bool begins = symbol->storage == OFL_STORAGE_DUMMY && OFL_HAS(symbol, INTENT_OUT);
        if ((ends || begins) && symbol->class == OFL_SYMBOL_VARIABLE && !OFL_HAS(symbol, POINTER)) {
            add_final(collecting, symbol->type.derived, symbol->declared);
        }
    }
}

static void add_bound_assignments(struct collecting *collecting, const struct ofl_symbol *type, struct ofl_span span)
{
    const struct ofl_generic_key key = {.kind = OFL_GENERIC_ASSIGNMENT};
    size_t count;
    struct ofl_symbol **components = ofl_type_components(collecting->modules, type, &count);
    for (size_t i = 0; i < count; i++) {
        struct ofl_value_type of;
        struct ofl_specifics bound = {0};
        if (components[i]->class != OFL_SYMBOL_VARIABLE || OFL_HAS(components[i], POINTER) ||
            !ofl_symbol_type(collecting->modules, components[i], &of, NULL) || of.base != OFL_TYPE_DERIVED ||
            !ofl_type_first(of.derived, collecting->assignments)) {
            continue;
        }
        ofl_gather_bound(collecting->modules, of.derived, &key, &bound);
        for (const struct ofl_specific *specific = bound.first; specific != NULL; specific = specific->next) {
            if (specific->procedure != NULL) {
                add(collecting, specific->procedure, span);
            }
        }
        add_bound_assignments(collecting, of.derived, span);
    }
}

static void on_stmt(struct ofl_stmt *stmt, struct ofl_scope *scope, void *context)
{
    struct collecting *collecting = context;
    if (stmt->kind == OFL_STMT_BLOCK && stmt->as.block.scope != NULL) {
        add_finalized(collecting, stmt->as.block.scope);
    }
    if (stmt->kind == OFL_STMT_ASSIGN && ofl_action_of(collecting->modules, scope, stmt)->components) {
        const struct ofl_meaning *target = ofl_meaning_of(collecting->modules, scope, stmt->as.assign.target);
        collecting->assignments = ofl_type_walk();
        add_bound_assignments(collecting, target->type.derived, stmt->span);
    }
}

/* ---- Reaching --------------------------------------------------------------------------------------------------- */

static const struct ofl_reference *references_of(struct ofl_modules *modules, const struct ofl_procedure *procedure)
{
    struct ofl_procedure *kept = (struct ofl_procedure *)procedure; /* what is remembered */
    if (kept->walked) {
        return kept->references;
    }
    kept->walked = true;
    struct collecting collecting = {.modules = modules, .finals = ofl_type_walk()};
    collecting.link = &collecting.first;
    const struct ofl_visitor visitor = {.call = on_call, .stmt = on_stmt, .context = &collecting};
    if (procedure->body != NULL && procedure->body->scope != NULL) {
        add_finalized(&collecting, procedure->body->scope);
        ofl_visit_block(modules, procedure->body, &procedure->body->body, &visitor);
    } else if (procedure->kind == OFL_PROCEDURE_STATEMENT) {
        ofl_visit_expr(modules, procedure->symbol->scope, procedure->symbol->definition->as.assign.value, &visitor);
    }
    kept->references = collecting.first;
    return kept->references;
}

struct reaching {
    struct ofl_modules *modules;
    struct ofl_reached *first, **link;
};

static void reach(struct reaching *reaching, const struct ofl_reference *references, const struct ofl_reached *caller)
{
    for (; references != NULL; references = references->next) {
        struct ofl_procedure *procedure = (struct ofl_procedure *)references->procedure;
        if (procedure->mark == reaching->modules->marking) {
            continue;
        }
        procedure->mark = reaching->modules->marking;
        struct ofl_reached *reached = OFL_NEW(reaching->modules->arena, struct ofl_reached);
        *reached = (struct ofl_reached){procedure, caller, references->span, NULL};
        *reaching->link = reached;
        reaching->link = &reached->next;
    }
}

struct ofl_reached *ofl_reached_from(struct ofl_modules *modules, const struct ofl_unit *unit, struct ofl_stmt *stmt)
{
    struct collecting collecting = {.modules = modules, .finals = ofl_type_walk()};
    struct reaching reaching = {.modules = modules};
    const struct ofl_visitor visitor = {.call = on_call, .stmt = on_stmt, .context = &collecting};
    collecting.link = &collecting.first;
    reaching.link = &reaching.first;
    ofl_visit_stmt(modules, unit, stmt, &visitor);
    modules->marking++;
    reach(&reaching, collecting.first, NULL);
    for (const struct ofl_reached *reached = reaching.first; reached != NULL; reached = reached->next) {
        reach(&reaching, references_of(modules, reached->procedure), reached);
    }
    return reaching.first;
}
