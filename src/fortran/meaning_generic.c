/* Generics: their specific procedures, and the choice among them.
 *
 * Entry points: ofl_gather, ofl_choose.  A generic is what all its interface blocks and generic statements say, in the
 * scope, in the modules that it uses and in its hosts (F2018 15.4.3.4, 19.5.1.4).  A private generic of a module is not
 * seen outside of it.  `gathered` stops a search from entering a module twice. */
#include "fortran/meaning_private.h"

struct search {
    struct ofl_modules *modules;
    struct ofl_specifics *specifics;
};

/* ---- Gathering -------------------------------------------------------------------------------------------------- */

static bool is_key(const struct ofl_generic *generic, const struct ofl_generic_key *key)
{
    if (generic == NULL || generic->kind != key->kind) {
        return false;
    }
    switch (key->kind) {
    case OFL_GENERIC_NAME:
        return generic->ident.name == key->name;
    case OFL_GENERIC_OPERATOR:
        return generic->op == key->op && (key->op != OFL_OPERATOR_DEFINED || generic->ident.name == key->name);
    case OFL_GENERIC_ASSIGNMENT:
        return true;
    case OFL_GENERIC_IO:
        break;
    }
    return false;
}

static void add(struct search *search, const struct ofl_procedure *procedure, struct ofl_symbol *binding,
                const struct ofl_meaning *why)
{
    for (const struct ofl_specific *old = search->specifics->first; old != NULL && procedure != NULL; old = old->next) {
        if (old->procedure == procedure && old->binding == binding) {
            return;
        }
    }
    struct ofl_specific *specific = OFL_NEW(search->modules->arena, struct ofl_specific);
    *specific = (struct ofl_specific){procedure, binding, why, NULL};
    if (search->specifics->last == NULL) {
        search->specifics->first = specific;
    } else {
        search->specifics->last->next = specific;
    }
    search->specifics->last = specific;
}

static void add_named(struct search *search, struct ofl_scope *scope, const struct ofl_ident *ident)
{
    struct ofl_symbol *symbol = ofl_scope_find(scope, ident->name);
    const struct ofl_procedure *procedure = NULL;
    if (symbol != NULL && symbol->unit != NULL && symbol->storage != OFL_STORAGE_DUMMY) {
        procedure = ofl_procedure_of_unit(search->modules, symbol->unit); /* it may have the generic's own name */
    } else if (symbol != NULL && symbol->class != OFL_SYMBOL_GENERIC) {
        procedure = ofl_procedure_of(search->modules, symbol);
    }
    add(search, procedure, NULL,
        procedure == NULL
            ? ofl_unknown(search->modules, ident->span, "procedure '%s' is not at hand", ident->name->text)
            : NULL);
}

static void add_list(struct search *search, struct ofl_scope *scope, const struct ofl_ident_list *names)
{
    for (; names != NULL; names = names->next) {
        add_named(search, scope, &names->ident);
    }
}

static void add_block(struct search *search, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    if (stmt->kind != OFL_STMT_INTERFACE) {
        add_list(search, scope, stmt->as.generic.names);
        return;
    }
    for (const struct ofl_unit *body = stmt->as.interface.bodies; body != NULL; body = body->next) {
        const struct ofl_procedure *procedure =
            body->name.name != NULL ? ofl_procedure_of_unit(search->modules, body) : NULL;
        if (procedure != NULL) {
            add(search, procedure, NULL, NULL);
        }
    }
    for (const struct ofl_stmt *names = stmt->as.interface.names.first; names != NULL; names = names->next) {
        if (names->kind == OFL_STMT_MODULE_PROCEDURE_NAMES) {
            add_list(search, scope, names->as.interface_names.names);
        }
    }
}

/* What a use statement makes of a key: false if it does not bring it. */
static bool used_key(const struct ofl_scope *scope, const struct ofl_use *use, const struct ofl_generic_key *key,
                     struct ofl_generic_key *there)
{
    const struct ofl_stmt *stmt = use->stmt;
    *there = *key;
    if (key->kind == OFL_GENERIC_NAME) {
        there->name = ofl_used_here(scope, use, key->name);
        return there->name != NULL;
    }
    for (const struct ofl_rename *item = stmt->as.use.names; item != NULL; item = item->next) {
        if (is_key(item->local != NULL ? item->local : item->used, key)) {
            there->name = item->used->ident.name;
            return item->used->kind == key->kind;
        }
        if (!stmt->as.use.only && item->local != NULL && is_key(item->used, key)) {
            return false; /* it was renamed */
        }
    }
    return !stmt->as.use.only;
}

static bool is_hidden(const struct ofl_scope *module, const struct ofl_generic_key *key)
{
    if (key->kind == OFL_GENERIC_NAME) {
        const struct ofl_symbol *symbol = ofl_scope_own(module, key->name);
        return symbol != NULL && (OFL_HAS(symbol, PRIVATE) || (module->default_private && !OFL_HAS(symbol, PUBLIC)));
    }
    for (const struct ofl_generic_access *access = module->access; access != NULL; access = access->next) {
        if (is_key(access->generic, key)) {
            return access->hidden;
        }
    }
    return module->default_private;
}

static void gather_scope(struct search *search, struct ofl_scope *scope, const struct ofl_generic_key *key)
{
    if (scope->gathered == search->modules->gathering && scope->gathered_name == key->name) {
        return;
    }
    scope->gathered = search->modules->gathering;
    scope->gathered_name = key->name;
    for (const struct ofl_generic_block *block = scope->generics; block != NULL; block = block->next) {
        if (is_key(block->generic, key)) {
            add_block(search, scope, block->stmt);
        }
    }
    for (const struct ofl_use *use = scope->uses; use != NULL; use = use->next) {
        struct ofl_generic_key there;
        if (!used_key(scope, use, key, &there)) {
            continue;
        }
        if (use->module == NULL) {
            search->specifics->open = true;
            search->specifics->missing = use->stmt;
        } else if (!is_hidden(use->module->unit->scope, &there)) {
            gather_scope(search, use->module->unit->scope, &there);
        }
    }
}

void ofl_gather(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_generic_key *key,
                struct ofl_specifics *specifics)
{
    struct search search = {modules, specifics};
    modules->gathering++;
    for (; scope != NULL; scope = scope->parent) {
        gather_scope(&search, scope, key);
    }
}

/* ---- Type-bound generics ---------------------------------------------------------------------------------------- */

static void bound_names(struct search *search, const struct ofl_symbol *type, const struct ofl_ident_list *names)
{
    for (; names != NULL; names = names->next) {
        struct ofl_symbol *parent = NULL, *binding = ofl_component_of(type, names->ident.name, &parent);
        const struct ofl_procedure *procedure =
            binding != NULL && binding->class != OFL_SYMBOL_VARIABLE && binding->class != OFL_SYMBOL_GENERIC
                ? ofl_binding_procedure(search->modules, binding)
                : NULL;
        add(search, procedure, binding,
            procedure == NULL ? ofl_unknown(search->modules, names->ident.span, "'%s' is not bound to type '%s'",
                                            names->ident.name->text, type->name->text)
                              : NULL);
    }
}

void ofl_gather_bound(struct ofl_modules *modules, const struct ofl_symbol *type, const struct ofl_generic_key *key,
                      struct ofl_specifics *specifics)
{
    struct search search = {modules, specifics};
    const struct ofl_symbol *ancestor = type;
    for (unsigned depth = 0; ancestor != NULL && ancestor->definition != NULL && depth < OFL_MAX_NESTING; depth++) {
        const struct ofl_scope *scope = ancestor->definition->as.type_def.scope;
        for (const struct ofl_generic_block *block = scope != NULL ? scope->generics : NULL; block != NULL;
             block = block->next) {
            /* In a wrong program an interface block may stand in a type. */
            if (block->stmt->kind == OFL_STMT_TYPE_BOUND_GENERIC && is_key(block->generic, key)) {
                bound_names(&search, type, block->stmt->as.generic.names);
            }
        }
        ancestor = ofl_type_parent(ancestor);
    }
}

/* ---- Choice ----------------------------------------------------------------------------------------------------- */

/* The unknown among the arguments, which no choice can be made with; NULL if there is none. */
static const struct ofl_meaning *unknown_argument(struct ofl_modules *modules, const struct ofl_actuals *actuals)
{
    for (const struct ofl_arg *arg = actuals->list; arg != NULL; arg = arg->next) {
        if (arg->value == NULL || arg->value->kind == OFL_EXPR_LABEL) {
            continue;
        }
        const struct ofl_meaning *meaning = ofl_meaning_of(modules, actuals->scope, arg->value);
        if (meaning->kind == OFL_MEANS_UNKNOWN) {
            return meaning;
        }
    }
    const struct ofl_meaning *passed =
        actuals->passed != NULL ? ofl_meaning_of(modules, actuals->scope, actuals->passed) : NULL;
    return passed != NULL && passed->kind == OFL_MEANS_UNKNOWN ? passed : NULL;
}

/* F2018 15.5.5.2: a procedure that fits without being applied to elements goes before an elemental one. */
struct ofl_call *ofl_choose(struct ofl_modules *modules, const struct ofl_specifics *specifics,
                            const struct ofl_actuals *actuals, const struct ofl_meaning **why)
{
    struct ofl_call *elemental = NULL;
    const struct ofl_meaning *unknown = NULL;
    *why = unknown_argument(modules, actuals);
    for (const struct ofl_specific *specific = specifics->first; specific != NULL && *why == NULL;
         specific = specific->next) {
        if (specific->procedure == NULL) {
            unknown = unknown == NULL ? specific->why : unknown;
            continue;
        }
        struct ofl_actuals placed = *actuals;
        const struct ofl_meaning *reason = NULL;
        if (specific->binding != NULL && actuals->passed != NULL &&
            !ofl_passed_at(specific->binding, specific->procedure, &placed.passed_at)) {
            placed.passed = NULL; /* nopass */
        }
        struct ofl_call *call = ofl_associate(modules, specific->procedure, &placed, true, &reason);
        if (call == NULL) {
            unknown = reason != NULL && unknown == NULL ? reason : unknown;
            continue;
        }
        call->binding = specific->binding;
        if (!call->elemental) {
            return call;
        }
        elemental = elemental == NULL ? call : elemental;
    }
    if (elemental == NULL && *why == NULL) {
        *why = unknown;
        if (specifics->open && unknown == NULL) {
            *why = ofl_unknown(modules, actuals->place, "the procedure may be in module '%s', which is not at hand",
                               specifics->missing->as.use.module.name->text);
        }
    }
    return elemental;
}
