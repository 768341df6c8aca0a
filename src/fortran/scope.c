/* Scopes: tables of symbols, the search for a name, and the pass over the tree that makes them.
 *
 * Entry points: ofl_scopes_build, ofl_scope_find.  A scope's own symbols are in a hash table; used modules are searched
 * when a name is looked for, in the order of the use statements.  What must hold: `visiting` stops a search from
 * entering a module that it is in, and `absent` from searching one again in vain, so its cost is linear in the number
 * of use statements. */
#include "fortran/scope_private.h"

#include <string.h>

/* ---- Tables ----------------------------------------------------------------------------------------------------- */

struct ofl_scope *ofl_scope_new(struct ofl_arena *arena, enum ofl_scope_kind kind, struct ofl_scope *parent,
                                struct ofl_unit *unit)
{
    struct ofl_scope *scope = OFL_NEW(arena, struct ofl_scope);
    scope->kind = kind;
    scope->parent = parent;
    scope->unit = unit;
    return scope;
}

struct ofl_symbol *ofl_scope_own(const struct ofl_scope *scope, const struct ofl_name *name)
{
    if (scope->capacity == 0) {
        return NULL;
    }
    struct ofl_symbol *symbol = scope->table[name->hash & (scope->capacity - 1)];
    while (symbol != NULL && symbol->name != name) {
        symbol = symbol->chain;
    }
    return symbol;
}

static void rehash(struct ofl_arena *arena, struct ofl_scope *scope)
{
    scope->capacity = scope->capacity == 0 ? 8 : 2 * scope->capacity;
    scope->table = ofl_arena_alloc(arena, scope->capacity * sizeof(void *));
    for (struct ofl_symbol *symbol = scope->first; symbol != NULL; symbol = symbol->next) {
        struct ofl_symbol **slot = &scope->table[symbol->name->hash & (scope->capacity - 1)];
        symbol->chain = *slot;
        *slot = symbol;
    }
}

struct ofl_symbol *ofl_scope_add(struct ofl_arena *arena, struct ofl_scope *scope, const struct ofl_name *name,
                                 struct ofl_span span)
{
    struct ofl_symbol *symbol = ofl_scope_own(scope, name);
    if (symbol != NULL) {
        return symbol;
    }
    if (scope->count >= scope->capacity) {
        rehash(arena, scope);
    }
    symbol = OFL_NEW(arena, struct ofl_symbol);
    symbol->name = name;
    symbol->scope = scope;
    symbol->declared = span;
    symbol->storage = scope->kind == OFL_SCOPE_TYPE ? OFL_STORAGE_COMPONENT
                      : scope->kind == OFL_SCOPE_UNIT && scope->unit != NULL &&
                              (scope->unit->kind == OFL_UNIT_MODULE || scope->unit->kind == OFL_UNIT_SUBMODULE)
                          ? OFL_STORAGE_MODULE
                          : OFL_STORAGE_LOCAL;
    if (scope->last == NULL) {
        scope->first = symbol;
    } else {
        scope->last->next = symbol;
    }
    scope->last = symbol;
    scope->count++;
    struct ofl_symbol **slot = &scope->table[name->hash & (scope->capacity - 1)];
    symbol->chain = *slot;
    *slot = symbol;
    return symbol;
}

/* ---- Searching -------------------------------------------------------------------------------------------------- */

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

/* ---- Building --------------------------------------------------------------------------------------------------- */

struct walk {
    struct ofl_scope_builder *builder;
    struct ofl_unit *unit;
};

static void associate_scope(struct ofl_scope_builder *builder, struct ofl_scope *outer, struct ofl_stmt *stmt)
{
    struct ofl_scope *scope = ofl_scope_new(builder->arena, OFL_SCOPE_ASSOCIATE, outer, outer->unit);
    for (struct ofl_association *item = stmt->as.block.associations; item != NULL; item = item->next) {
        struct ofl_symbol *symbol = ofl_scope_add(builder->arena, scope, item->name.name, item->name.span);
        symbol->class = OFL_SYMBOL_ASSOCIATE;
        symbol->value = item->selector;
        struct ofl_symbol *other =
            item->selector->kind == OFL_EXPR_NAME ? ofl_scope_find(outer, item->selector->as.name.name) : NULL;
        if (other != NULL) {
            symbol->typed = other->typed;
            symbol->type = other->type;
            symbol->rank = other->rank;
        }
    }
    stmt->as.block.scope = scope;
}

static void index_scope(struct ofl_scope_builder *builder, struct ofl_scope *outer, struct ofl_loop *loop)
{
    struct ofl_scope *scope = ofl_scope_new(builder->arena, OFL_SCOPE_INDEX, outer, outer->unit);
    for (struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        struct ofl_symbol *symbol = ofl_scope_add(builder->arena, scope, index->ident.name, index->ident.span);
        struct ofl_symbol *other = ofl_scope_find(outer, index->ident.name);
        symbol->class = OFL_SYMBOL_INDEX;
        if (loop->index_type != NULL) {
            ofl_declare_type(symbol, loop->index_type);
        } else if (other != NULL && other->typed) {
            symbol->type = other->type;
            symbol->typed = true;
        } else {
            ofl_implicit_type(symbol, builder->modules);
        }
    }
    ofl_settle_types(builder, scope);
    loop->scope = scope;
}

/* In each arm of select type and select rank the associate name, or the selector's own name, has the arm's type or
 * rank. F2018 11.1.11.3, 11.1.10.3. */
static void arm_scopes(struct ofl_scope_builder *builder, struct ofl_scope *outer, struct ofl_stmt *stmt)
{
    const struct ofl_association *selector = &stmt->as.arms.selector;
    struct ofl_ident ident = selector->name;
    if (ident.name == NULL && selector->selector != NULL && selector->selector->kind == OFL_EXPR_NAME) {
        ident = (struct ofl_ident){selector->selector->as.name.name, selector->selector->span};
    }
    for (struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL && ident.name != NULL; arm = arm->next) {
        int64_t rank = 1;
        arm->scope = ofl_scope_new(builder->arena, OFL_SCOPE_ASSOCIATE, outer, outer->unit);
        struct ofl_symbol *symbol = ofl_scope_add(builder->arena, arm->scope, ident.name, ident.span);
        symbol->class = OFL_SYMBOL_ASSOCIATE;
        symbol->value = selector->selector;
        if (arm->type != NULL) {
            ofl_declare_type(symbol, arm->type);
            symbol->type.kind_of = arm->kind == OFL_GUARD_CLASS_IS && arm->type->kind == OFL_TYPE_DERIVED
                                       ? OFL_TYPE_CLASS
                                       : arm->type->kind;
            symbol->narrowed = true;
            ofl_settle_types(builder, arm->scope);
        } else if (arm->kind == OFL_GUARD_RANK && arm->condition != NULL) {
            bool star = arm->condition->kind == OFL_EXPR_STAR;
            symbol->narrowed = star || (ofl_constant_integer(builder->modules, outer, arm->condition, &rank) &&
                                        rank >= 0 && rank <= 15);
            symbol->rank = symbol->narrowed ? (unsigned)rank : 0;
        }
        for (struct ofl_stmt *inner = arm->body.first; inner != NULL; inner = inner->next) {
            inner->scope = arm->scope;
        }
    }
}

/* Makes the scopes of constructs; outer ones come first in the walk. */
static bool construct_scope(struct ofl_stmt *stmt, void *context)
{
    struct walk *walk = context;
    struct ofl_scope *outer = ofl_scope_of(stmt, walk->unit);
    stmt->scope = outer;
    switch (stmt->kind) {
    case OFL_STMT_BLOCK:
        stmt->as.block.scope = ofl_scope_new(walk->builder->arena, OFL_SCOPE_BLOCK, outer, walk->unit);
        ofl_declare_block(walk->builder, stmt->as.block.scope, &stmt->as.block.body);
        ofl_settle_types(walk->builder, stmt->as.block.scope);
        break;
    case OFL_STMT_ASSOCIATE:
        associate_scope(walk->builder, outer, stmt);
        break;
    case OFL_STMT_SELECT_TYPE:
    case OFL_STMT_SELECT_RANK:
        arm_scopes(walk->builder, outer, stmt);
        break;
    case OFL_STMT_DO:
    case OFL_STMT_FORALL:
    case OFL_STMT_FORALL_STMT:
        if (stmt->as.loop.form == OFL_LOOP_CONCURRENT) {
            index_scope(walk->builder, outer, &stmt->as.loop);
        }
        break;
    default:
        break;
    }
    return true;
}

static bool imports_host(const struct ofl_unit *unit)
{
    for (const struct ofl_stmt *stmt = unit->body.first; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == OFL_STMT_IMPORT) {
            return stmt->as.import.form != OFL_IMPORT_NONE;
        }
    }
    return false;
}

static bool has_attr(const struct ofl_attr *attrs, enum ofl_attr_kind kind)
{
    for (; attrs != NULL; attrs = attrs->next) {
        if (attrs->kind == kind) {
            return true;
        }
    }
    return false;
}

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

/* The scope around a unit: its host's; for a submodule the ancestor's, for an interface body only with import. */
static struct ofl_scope *host_scope(struct ofl_scope_builder *builder, const struct ofl_unit *unit)
{
    if (unit->kind == OFL_UNIT_SUBMODULE) {
        struct ofl_modules *modules = builder->modules;
        const struct ofl_name *ancestor = unit->ancestor.name, *parent = unit->parent_submodule.name;
        struct ofl_symbol *host = NULL;
        if (ancestor != NULL && parent != NULL) {
            host = ofl_submodule_find(modules, ancestor, parent);
            if (host == NULL && modules->files != NULL && ofl_module_files_load(modules->files, ancestor, parent)) {
                host = ofl_submodule_find(modules, ancestor, parent);
            }
        } else if (ancestor != NULL) {
            host = ofl_module_find(modules, ancestor);
        }
        return host != NULL ? host->unit->scope : NULL;
    }
    if (unit->parent == NULL ||
        (unit->interface_body && !imports_host(unit) && !has_attr(unit->attrs, OFL_ATTR_MODULE))) {
        return NULL;
    }
    return unit->parent->scope;
}

static enum ofl_symbol_class class_of_unit(const struct ofl_unit *unit)
{
    switch (unit->kind) {
    case OFL_UNIT_FUNCTION:
        return OFL_SYMBOL_FUNCTION;
    case OFL_UNIT_SUBROUTINE:
        return OFL_SYMBOL_SUBROUTINE;
    case OFL_UNIT_MODULE:
    case OFL_UNIT_SUBMODULE:
        return OFL_SYMBOL_MODULE;
    default:
        return OFL_SYMBOL_PROCEDURE;
    }
}

/* Dummies, and the result variable of a function. */
static void declare_interface(struct ofl_scope_builder *builder, struct ofl_unit *unit)
{
    struct ofl_scope *scope = unit->scope;
    for (const struct ofl_ident_list *arg = unit->args; arg != NULL; arg = arg->next) {
        if (arg->ident.name->text[0] != '*') {
            ofl_scope_add(builder->arena, scope, arg->ident.name, arg->ident.span)->storage = OFL_STORAGE_DUMMY;
        }
    }
    if (unit->kind == OFL_UNIT_FUNCTION) {
        const struct ofl_ident *ident = unit->result.name != NULL ? &unit->result : &unit->name;
        struct ofl_symbol *result = ofl_scope_add(builder->arena, scope, ident->name, ident->span);
        result->storage = OFL_STORAGE_RESULT;
        if (unit->type != NULL) {
            ofl_declare_type(result, unit->type);
        }
    }
}

/* A procedure's symbol has its result's type and rank. */
static void copy_result(struct ofl_symbol *symbol, const struct ofl_unit *unit)
{
    const struct ofl_ident *ident = unit->result.name != NULL ? &unit->result : &unit->name;
    const struct ofl_symbol *result = ofl_scope_own(unit->scope, ident->name);
    if (unit->kind == OFL_UNIT_FUNCTION && result != NULL) {
        symbol->typed = result->typed;
        symbol->type = result->type;
        symbol->rank = result->rank;
        symbol->bounds = result->bounds;
        symbol->attrs |= result->attrs & (OFL_ATTR_BIT(ALLOCATABLE) | OFL_ATTR_BIT(POINTER));
    }
}

static void build_unit(struct ofl_scope_builder *builder, struct ofl_unit *unit);

/* Procedures in the scope of their host: before the host's own declarations, which may give them attributes. */
static void declare_procedures(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_unit *units)
{
    for (struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        if (unit->name.name == NULL) {
            continue;
        }
        struct ofl_symbol *symbol = ofl_scope_add(builder->arena, scope, unit->name.name, unit->name.span);
        if (symbol->unit == NULL || symbol->unit->interface_body) {
            symbol->class = class_of_unit(unit);
            symbol->storage = symbol->storage == OFL_STORAGE_DUMMY ? OFL_STORAGE_DUMMY : OFL_STORAGE_NONE;
            symbol->unit = unit;
        }
    }
}

static bool build_interface(struct ofl_stmt *stmt, void *context)
{
    struct walk *walk = context;
    if (stmt->kind == OFL_STMT_INTERFACE) {
        for (struct ofl_unit *body = stmt->as.interface.bodies; body != NULL; body = body->next) {
            build_unit(walk->builder, body);
            struct ofl_symbol *symbol =
                body->name.name != NULL ? ofl_scope_own(ofl_scope_of(stmt, walk->unit), body->name.name) : NULL;
            if (symbol != NULL && symbol->unit == body) {
                copy_result(symbol, body);
            }
        }
    }
    return true;
}

/* The interface body that a separate module procedure implements, in its module, submodule or an ancestor. */
static struct ofl_unit *separate_interface(const struct ofl_scope *host, const struct ofl_unit *unit)
{
    bool separate = unit->kind == OFL_UNIT_MODULE_PROCEDURE || has_attr(unit->attrs, OFL_ATTR_MODULE);
    for (; separate && !unit->interface_body && unit->name.name != NULL && host != NULL; host = host->parent) {
        const struct ofl_symbol *symbol = ofl_scope_own(host, unit->name.name);
        if (symbol != NULL && symbol->interface != NULL && has_attr(symbol->interface->attrs, OFL_ATTR_MODULE)) {
            return symbol->interface;
        }
    }
    return NULL;
}

static bool is_around(const struct ofl_scope *outer, const struct ofl_scope *inner)
{
    while (inner != NULL && inner != outer) {
        inner = inner->parent;
    }
    return inner != NULL;
}

/* A unit's own scope.  `module procedure name` has the very names of its interface body: it takes over that scope. */
static void unit_scope(struct ofl_scope_builder *builder, struct ofl_unit *unit)
{
    struct ofl_scope *host = host_scope(builder, unit);
    struct ofl_unit *interface = separate_interface(host, unit);
    if (interface != NULL && interface->separate == NULL) {
        interface->separate = unit;
        unit->separate = interface;
        /* In a wrong program the procedure may stand inside the interface body. */
        if (unit->kind == OFL_UNIT_MODULE_PROCEDURE && interface->scope != NULL && !is_around(interface->scope, host)) {
            unit->scope = interface->scope;
            unit->scope->parent = host;
            unit->scope->unit = unit;
            return;
        }
    }
    unit->scope = ofl_scope_new(builder->arena, OFL_SCOPE_UNIT, host, unit);
}

static void build_unit(struct ofl_scope_builder *builder, struct ofl_unit *unit)
{
    struct walk walk = {builder, unit};
    unit_scope(builder, unit);
    declare_interface(builder, unit);
    declare_procedures(builder, unit->scope, unit->units);
    ofl_declare_block(builder, unit->scope, &unit->body);
    ofl_settle_types(builder, unit->scope);
    ofl_walk_stmts(&unit->body, construct_scope, &walk);
    ofl_walk_stmts(&unit->body, build_interface, &walk);
    for (struct ofl_unit *inner = unit->units; inner != NULL; inner = inner->next) {
        build_unit(builder, inner);
        struct ofl_symbol *symbol = inner->name.name != NULL ? ofl_scope_own(unit->scope, inner->name.name) : NULL;
        if (symbol != NULL && symbol->unit == inner) {
            copy_result(symbol, inner);
        }
    }
}

/* An external procedure, for those that refer to it; the first one of a name counts. */
static void declare_external(struct ofl_modules *modules, struct ofl_unit *unit)
{
    if (modules->global == NULL) {
        modules->global = ofl_scope_new(modules->arena, OFL_SCOPE_UNIT, NULL, NULL);
    }
    struct ofl_symbol *symbol = ofl_scope_add(modules->arena, modules->global, unit->name.name, unit->name.span);
    if (symbol->unit == NULL) {
        symbol->class = class_of_unit(unit);
        symbol->storage = OFL_STORAGE_NONE;
        symbol->unit = unit;
        copy_result(symbol, unit);
    }
}

void ofl_modules_start(struct ofl_modules *modules, struct ofl_arena *arena)
{
    *modules = (struct ofl_modules){.arena = arena,
                                    .default_integer = 4,
                                    .default_real = 4,
                                    .default_double = 8,
                                    .default_logical = 4,
                                    .generation = 1};
}

void ofl_scopes_build(struct ofl_file *file, struct ofl_modules *modules, struct ofl_diagnostics *diagnostics)
{
    struct ofl_scope_builder builder = {modules->arena, modules, diagnostics};
    for (struct ofl_unit *unit = file->units; unit != NULL; unit = unit->next) {
        build_unit(&builder, unit);
        if (unit->name.name != NULL && (unit->kind == OFL_UNIT_FUNCTION || unit->kind == OFL_UNIT_SUBROUTINE)) {
            declare_external(modules, unit);
        }
        if (unit->name.name != NULL && (unit->kind == OFL_UNIT_MODULE || unit->kind == OFL_UNIT_SUBMODULE)) {
            struct ofl_symbol *symbol = OFL_NEW(modules->arena, struct ofl_symbol);
            symbol->name = unit->name.name;
            symbol->class = OFL_SYMBOL_MODULE;
            symbol->storage = OFL_STORAGE_NONE;
            symbol->declared = unit->name.span;
            symbol->unit = unit;
            symbol->next = modules->first; /* the latest hides earlier ones */
            modules->first = symbol;
        }
    }
    modules->generation++;
}
