/* Scopes: tables of symbols, and the pass over the tree that makes them.
 *
 * Entry point: ofl_scopes_build.  A scope's own symbols are in a hash table; scope_find.c searches. */
#include "fortran/meaning.h"
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

/* Finds out what bounds and lengths in an interface body mean, which is then remembered: its names are those of the
 * module, and a submodule may have others of the same spelling. */
static void settle_extents(struct ofl_modules *modules, struct ofl_scope *scope)
{
    for (struct ofl_symbol *symbol = scope->first; symbol != NULL; symbol = symbol->next) {
        for (const struct ofl_bound *bound = symbol->bounds; bound != NULL; bound = bound->next) {
            if (bound->lower != NULL) {
                ofl_meaning_of(modules, scope, bound->lower);
            }
            if (bound->upper != NULL) {
                ofl_meaning_of(modules, scope, bound->upper);
            }
        }
        if (symbol->type.length != NULL) {
            ofl_meaning_of(modules, scope, symbol->type.length);
        }
    }
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
            settle_extents(builder->modules, interface->scope);
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
