/* Searching for names: declared in a scope, used, of its hosts; modules; components; the implicit rules.
 *
 * Entry points: ofl_scope_find, ofl_scope_find_or_implicit, ofl_scope_of.  Used modules are searched when a name is
 * looked for, in the order of the use statements.  What must hold: `visiting` stops a search from entering a module
 * that it is in, and `absent` from searching one again in vain, so its cost is linear in the number of use statements.
 */
#include "fortran/scope_private.h"

#include <string.h>

static struct ofl_symbol *find_used(struct ofl_scope *scope, const struct ofl_name *name);

/* What a module makes public under a name. */
static struct ofl_symbol *find_public(struct ofl_scope *scope, const struct ofl_name *name)
{
    if (scope->visiting == name) {
        return NULL;
    }
    struct ofl_symbol *symbol = ofl_scope_own(scope, name);
    if (symbol != NULL) {
        bool hidden = OFL_HAS(symbol, PRIVATE) || (scope->default_private && !OFL_HAS(symbol, PUBLIC));
        return hidden ? NULL : symbol;
    }
    if (scope->absent == name) {
        return NULL;
    }
    scope->visiting = name;
    symbol = find_used(scope, name);
    scope->visiting = NULL;
    scope->absent = symbol == NULL ? name : scope->absent;
    return symbol;
}

/* The name in the module for a local name, by one use statement; NULL if it does not bring it. */
const struct ofl_name *ofl_used_name(const struct ofl_stmt *stmt, const struct ofl_name *name)
{
    for (const struct ofl_rename *item = stmt->as.use.names; item != NULL; item = item->next) {
        const struct ofl_generic *local = item->local != NULL ? item->local : item->used;
        if (local->kind == OFL_GENERIC_NAME && local->ident.name == name) {
            return item->used->ident.name;
        }
        if (!stmt->as.use.only && item->local != NULL && item->used->ident.name == name) {
            return NULL; /* it was renamed */
        }
    }
    return stmt->as.use.only ? NULL : name;
}

const struct ofl_name *ofl_used_here(const struct ofl_scope *scope, const struct ofl_use *use,
                                     const struct ofl_name *name)
{
    const struct ofl_name *there = ofl_used_name(use->stmt, name);
    for (const struct ofl_use *other = scope->uses; other != NULL && there != NULL && !use->stmt->as.use.only;
         other = other->next) {
        if (other == use || other->stmt->as.use.module.name != use->stmt->as.use.module.name) {
            continue;
        }
        for (const struct ofl_rename *item = other->stmt->as.use.names; item != NULL; item = item->next) {
            bool renamed = item->local != NULL && item->used->kind == OFL_GENERIC_NAME && there == name;
            there = renamed && item->used->ident.name == name && item->local->ident.name != name ? NULL : there;
        }
    }
    return there;
}

static struct ofl_symbol *find_used(struct ofl_scope *scope, const struct ofl_name *name)
{
    for (const struct ofl_use *use = scope->uses; use != NULL; use = use->next) {
        const struct ofl_name *there = use->module != NULL ? ofl_used_here(scope, use, name) : NULL;
        struct ofl_symbol *symbol = there != NULL ? find_public(use->module->unit->scope, there) : NULL;
        if (symbol != NULL) {
            return symbol;
        }
    }
    return NULL;
}

struct ofl_symbol *ofl_scope_find(struct ofl_scope *scope, const struct ofl_name *name)
{
    for (; scope != NULL; scope = scope->parent) {
        struct ofl_symbol *symbol = ofl_scope_own(scope, name);
        if (symbol == NULL && scope->uses != NULL) {
            symbol = find_used(scope, name);
        }
        if (symbol != NULL) {
            return symbol;
        }
    }
    return NULL;
}

bool ofl_scope_brings(struct ofl_scope *scope, const struct ofl_name *name)
{
    return ofl_scope_own(scope, name) != NULL || find_used(scope, name) != NULL;
}

/* Whether a module that is known in part or not at all may have a name.  Of the intrinsic ones, names begin with the
 * module's. */
static bool may_have(const struct ofl_use *use, const struct ofl_name *there)
{
    if (use->module == NULL) {
        return true;
    }
    const char *text = use->module->name->text;
    return use->module->unit->scope->open && use->module->declared.begin == 0 && strncmp(text, there->text, 4) == 0;
}

static const struct ofl_stmt *missing(struct ofl_scope *scope, const struct ofl_name *name, unsigned depth)
{
    if (!scope->open || scope->complete == name || depth > OFL_MAX_NESTING) {
        return NULL;
    }
    for (const struct ofl_use *use = scope->uses; use != NULL; use = use->next) {
        const struct ofl_name *there = ofl_used_name(use->stmt, name);
        if (there == NULL) {
            continue;
        }
        if (may_have(use, there)) {
            return use->stmt;
        }
        if (use->module != NULL && use->module->declared.begin != 0) {
            const struct ofl_stmt *deeper = missing(use->module->unit->scope, there, depth + 1);
            if (deeper != NULL) {
                return deeper;
            }
        }
    }
    scope->complete = name;
    return NULL;
}

const struct ofl_stmt *ofl_missing_module(struct ofl_scope *scope, const struct ofl_name *name)
{
    const struct ofl_stmt *use = NULL;
    for (; scope != NULL && use == NULL; scope = scope->parent) {
        use = missing(scope, name, 0);
    }
    return use;
}

struct ofl_symbol *ofl_component_find(const struct ofl_symbol *type, const struct ofl_name *name)
{
    for (unsigned depth = 0; type != NULL && type->definition != NULL && depth < OFL_MAX_NESTING; depth++) {
        const struct ofl_stmt *definition = type->definition;
        struct ofl_scope *scope = definition->as.type_def.scope;
        struct ofl_symbol *symbol = scope != NULL ? ofl_scope_own(scope, name) : NULL;
        if (symbol != NULL) {
            return symbol;
        }
        const struct ofl_symbol *parent = NULL;
        for (const struct ofl_attr *attr = definition->as.type_def.attrs; attr != NULL; attr = attr->next) {
            if (attr->kind == OFL_ATTR_EXTENDS) {
                parent = ofl_scope_find(type->scope, attr->name.name);
            }
        }
        type = parent != NULL && parent->class == OFL_SYMBOL_TYPE ? parent : NULL;
    }
    return NULL;
}

/* The scope whose implicit rules hold: the nearest one with rules of its own, else the outermost unit. */
static const struct ofl_scope *implicit_scope(const struct ofl_scope *scope)
{
    while (!scope->implicit_set && scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

void ofl_implicit_type(struct ofl_symbol *symbol, const struct ofl_modules *modules)
{
    const struct ofl_scope *rules = implicit_scope(symbol->scope);
    char letter = symbol->name->text[0];
    if (rules->implicit_none || letter < 'a' || letter > 'z') {
        return;
    }
    symbol->type = rules->implicit[letter - 'a'];
    if (!rules->implicit_set || (symbol->type.spec == NULL && symbol->type.kind == 0)) {
        bool integer = letter >= 'i' && letter <= 'n';
        symbol->type = (struct ofl_type){.kind_of = integer ? OFL_TYPE_INTEGER : OFL_TYPE_REAL,
                                         .kind = integer ? modules->default_integer : modules->default_real};
    }
    symbol->typed = true;
    symbol->implicit = true;
}

struct ofl_symbol *ofl_scope_find_or_implicit(struct ofl_modules *modules, struct ofl_scope *scope,
                                              const struct ofl_ident *ident)
{
    struct ofl_symbol *symbol = ofl_scope_find(scope, ident->name);
    if (symbol != NULL) {
        return symbol;
    }
    struct ofl_scope *unit = NULL; /* the nearest one around */
    for (struct ofl_scope *outer = scope; outer != NULL; outer = outer->parent) {
        if (outer->open) {
            return NULL;
        }
        if (unit == NULL && outer->kind == OFL_SCOPE_UNIT) {
            unit = outer;
        }
    }
    if (unit == NULL || implicit_scope(unit)->implicit_none) {
        return NULL;
    }
    symbol = ofl_scope_add(modules->arena, unit, ident->name, ident->span);
    ofl_implicit_type(symbol, modules);
    return symbol;
}

struct ofl_scope *ofl_scope_of(const struct ofl_stmt *stmt, const struct ofl_unit *unit)
{
    if (stmt->scope != NULL) {
        return stmt->scope;
    }
    for (const struct ofl_stmt *outer = stmt->parent; outer != NULL; outer = outer->parent) {
        struct ofl_scope *scope = outer->scope; /* of the construct itself, unless it has one for its body */
        switch (outer->kind) {
        case OFL_STMT_BLOCK:
        case OFL_STMT_ASSOCIATE:
            scope = outer->as.block.scope != NULL ? outer->as.block.scope : scope;
            break;
        case OFL_STMT_DO:
        case OFL_STMT_FORALL:
        case OFL_STMT_FORALL_STMT:
            scope = outer->as.loop.scope != NULL ? outer->as.loop.scope : scope;
            break;
        default:
            break;
        }
        if (scope != NULL) {
            return scope;
        }
    }
    return unit->scope;
}

/* ---- Modules -------------------------------------------------------------------------------------------------- */

struct ofl_symbol *ofl_submodule_find(const struct ofl_modules *modules, const struct ofl_name *ancestor,
                                      const struct ofl_name *name)
{
    struct ofl_symbol *module = modules->first;
    while (module != NULL && (module->name != name || module->unit->kind != OFL_UNIT_SUBMODULE ||
                              module->unit->ancestor.name != ancestor)) {
        module = module->next;
    }
    return module;
}

static struct ofl_symbol *module_at_hand(const struct ofl_modules *modules, const struct ofl_name *name)
{
    struct ofl_symbol *module = modules->first;
    while (module != NULL && (module->name != name || module->unit->kind != OFL_UNIT_MODULE)) {
        module = module->next;
    }
    return module;
}

struct ofl_symbol *ofl_module_find(struct ofl_modules *modules, const struct ofl_name *name)
{
    struct ofl_symbol *module = module_at_hand(modules, name);
    if (module == NULL && modules->files != NULL && ofl_intrinsic_module(modules, name) == NULL &&
        ofl_module_files_load(modules->files, NULL, name)) {
        module = module_at_hand(modules, name);
    }
    return module;
}

bool ofl_component_visible(const struct ofl_symbol *component, const struct ofl_unit *unit)
{
    const struct ofl_scope *type = component->scope;
    bool hidden = OFL_HAS(component, PRIVATE) || (type->default_private && !OFL_HAS(component, PUBLIC));
    const struct ofl_name *module = ofl_module_of(type->unit);
    return !hidden || module == NULL || module == ofl_module_of(unit);
}
