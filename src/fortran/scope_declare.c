/* Declarations: from the specification statements of a block to symbols in its scope.
 *
 * Entry point: ofl_declare_block goes once over the block's statements in order.  Kinds and types' names are worked out
 * at its end (ofl_settle_types), when all named constants and types are known. */
#include "fortran/scope_private.h"

#include <string.h>

static struct ofl_symbol *symbol_of(struct ofl_scope_builder *builder, struct ofl_scope *scope,
                                    const struct ofl_ident *ident)
{
    return ofl_scope_add(builder->arena, scope, ident->name, ident->span);
}

static unsigned rank_of(const struct ofl_bound *bounds)
{
    unsigned rank = 0;
    for (; bounds != NULL; bounds = bounds->next) {
        if (bounds->form == OFL_BOUND_RANK) {
            return OFL_ASSUMED_RANK;
        }
        rank++;
    }
    return rank;
}

static void set_bounds(struct ofl_symbol *symbol, const struct ofl_bound *bounds)
{
    if (bounds != NULL) {
        symbol->bounds = bounds;
        symbol->rank = rank_of(bounds);
    }
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

void ofl_declare_type(struct ofl_symbol *symbol, const struct ofl_type_spec *spec)
{
    symbol->typed = true;
    symbol->type = (struct ofl_type){.kind_of = spec->kind, .length = spec->length, .spec = spec};
}

static int kind_by_bytes(enum ofl_type_kind kind, int64_t bytes)
{
    return (int)(kind == OFL_TYPE_COMPLEX ? bytes / 2 : bytes);
}

void ofl_settle_type(struct ofl_modules *modules, struct ofl_scope *scope, struct ofl_type *type)
{
    int64_t value = 0;
    switch (type->spec->kind) {
    case OFL_TYPE_DOUBLE_PRECISION:
    case OFL_TYPE_DOUBLE_COMPLEX:
        type->kind_of = type->spec->kind == OFL_TYPE_DOUBLE_PRECISION ? OFL_TYPE_REAL : OFL_TYPE_COMPLEX;
        type->kind = modules->default_double;
        return;
    case OFL_TYPE_BYTE:
        type->kind_of = OFL_TYPE_INTEGER;
        type->kind = 1;
        return;
    case OFL_TYPE_INTEGER:
        type->kind = modules->default_integer;
        break;
    case OFL_TYPE_REAL:
    case OFL_TYPE_COMPLEX:
        type->kind = modules->default_real;
        break;
    case OFL_TYPE_LOGICAL:
        type->kind = modules->default_logical;
        break;
    case OFL_TYPE_CHARACTER:
        type->kind = 1;
        break;
    case OFL_TYPE_DERIVED:
    case OFL_TYPE_CLASS:
    case OFL_TYPE_RECORD:
        type->derived = type->spec->name.name != NULL ? ofl_scope_find(scope, type->spec->name.name) : NULL;
        return;
    case OFL_TYPE_CLASS_STAR:
    case OFL_TYPE_ASSUMED:
    case OFL_TYPE_VECTOR:
        return;
    }
    const struct ofl_expr *kind = type->spec->kind_value;
    if (kind != NULL) {
        bool known = ofl_constant_integer(modules, scope, kind, &value) && value > 0 && value <= 32;
        type->kind = !known ? 0 : type->spec->by_bytes ? kind_by_bytes(type->kind_of, value) : (int)value;
    }
}

void ofl_settle_types(struct ofl_scope_builder *builder, struct ofl_scope *scope)
{
    for (unsigned i = 0; i < 26; i++) {
        if (scope->implicit[i].spec != NULL) {
            ofl_settle_type(builder->modules, scope, &scope->implicit[i]);
        }
    }
    for (struct ofl_symbol *symbol = scope->first; symbol != NULL; symbol = symbol->next) {
        if (symbol->typed && symbol->type.spec != NULL) {
            ofl_settle_type(builder->modules, scope, &symbol->type);
        } else if (!symbol->typed && (symbol->class == OFL_SYMBOL_VARIABLE || symbol->class == OFL_SYMBOL_CONSTANT)) {
            ofl_implicit_type(symbol, builder->modules);
        }
    }
}

/* ---- Attributes and entities ------------------------------------------------------------------------------------ */

static void set_attr(struct ofl_symbol *symbol, const struct ofl_attr *attr)
{
    symbol->attrs |= (uint64_t)1 << attr->kind;
    switch (attr->kind) {
    case OFL_ATTR_DIMENSION:
        if (symbol->bounds == NULL) {
            set_bounds(symbol, attr->bounds);
        }
        break;
    case OFL_ATTR_CODIMENSION:
        symbol->cobounds = attr->bounds;
        break;
    case OFL_ATTR_PARAMETER:
        symbol->class = OFL_SYMBOL_CONSTANT;
        symbol->storage = OFL_STORAGE_NONE;
        break;
    case OFL_ATTR_EXTERNAL:
    case OFL_ATTR_INTRINSIC:
        if (symbol->unit == NULL) {
            symbol->class = symbol->typed ? OFL_SYMBOL_FUNCTION : OFL_SYMBOL_PROCEDURE;
        }
        break;
    default:
        break;
    }
}

static void declare_entity(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_type_spec *type,
                           const struct ofl_attr *attrs, const struct ofl_entity *entity)
{
    if (entity->ident.name == NULL || entity->common_block) {
        return;
    }
    struct ofl_symbol *symbol = symbol_of(builder, scope, &entity->ident);
    if (type != NULL) {
        ofl_declare_type(symbol, type);
        if (entity->length != NULL) {
            symbol->type.length = entity->length;
        }
        if (symbol->class == OFL_SYMBOL_PROCEDURE) {
            symbol->class = OFL_SYMBOL_FUNCTION;
        }
    }
    for (; attrs != NULL; attrs = attrs->next) {
        set_attr(symbol, attrs);
    }
    set_bounds(symbol, entity->bounds);
    if (entity->cobounds != NULL) {
        symbol->cobounds = entity->cobounds;
    }
    if (entity->value != NULL) {
        symbol->value = entity->value;
    }
}

static void attribute_statement(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    const struct ofl_attr *attr = stmt->as.decl.attrs;
    if (stmt->as.decl.entities == NULL && attr->kind == OFL_ATTR_PRIVATE) {
        scope->default_private = true;
    }
    for (const struct ofl_entity *entity = stmt->as.decl.entities; entity != NULL; entity = entity->next) {
        bool access = attr->kind == OFL_ATTR_PRIVATE || attr->kind == OFL_ATTR_PUBLIC;
        if (access && entity->generic != NULL && entity->generic->kind != OFL_GENERIC_NAME) {
            struct ofl_generic_access *item = OFL_NEW(builder->arena, struct ofl_generic_access);
            *item = (struct ofl_generic_access){entity->generic, attr->kind == OFL_ATTR_PRIVATE, scope->access};
            scope->access = item;
            continue;
        }
        bool extra = attr->kind == OFL_ATTR_VOLATILE || attr->kind == OFL_ATTR_ASYNCHRONOUS;
        if ((access || extra) && entity->ident.name != NULL && ofl_scope_own(scope, entity->ident.name) == NULL &&
            ofl_scope_find(scope, entity->ident.name) != NULL) {
            continue; /* of a used name */
        }
        declare_entity(builder, scope, NULL, attr, entity);
        struct ofl_symbol *symbol =
            access && entity->ident.name != NULL ? ofl_scope_own(scope, entity->ident.name) : NULL;
        if (symbol != NULL && !symbol->typed && symbol->bounds == NULL && symbol->unit == NULL &&
            symbol->definition == NULL && symbol->class == OFL_SYMBOL_VARIABLE) {
            symbol->class = OFL_SYMBOL_PROCEDURE; /* until it is declared */
        }
    }
}

static void enumerators(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_stmt *definition)
{
    int64_t value = -1;
    for (const struct ofl_stmt *stmt = definition->as.enumeration.enumerators.first; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind != OFL_STMT_ENUMERATOR) {
            continue;
        }
        for (const struct ofl_entity *entity = stmt->as.decl.entities; entity != NULL; entity = entity->next) {
            struct ofl_symbol *symbol = symbol_of(builder, scope, &entity->ident);
            if (entity->value == NULL || !ofl_constant_integer(builder->modules, scope, entity->value, &value)) {
                value++;
            }
            symbol->class = OFL_SYMBOL_CONSTANT;
            symbol->storage = OFL_STORAGE_NONE;
            symbol->integer = value;
            symbol->has_integer = true;
            symbol->typed = true;
            symbol->type = (struct ofl_type){.kind_of = OFL_TYPE_INTEGER, .kind = 4};
        }
    }
}

/* ---- Definitions ------------------------------------------------------------------------------------------------ */

static void derived_type(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    struct ofl_scope *inner = ofl_scope_new(builder->arena, OFL_SCOPE_TYPE, scope, scope->unit);
    stmt->as.type_def.scope = inner;
    if (stmt->as.type_def.name.name != NULL) {
        struct ofl_symbol *symbol = symbol_of(builder, scope, &stmt->as.type_def.name);
        symbol->class = OFL_SYMBOL_TYPE; /* a generic of the same name is its constructor */
        symbol->storage = OFL_STORAGE_NONE;
        if (symbol->definition == NULL) {
            symbol->next_type = builder->modules->types;
            builder->modules->types = symbol;
        }
        symbol->definition = stmt;
        for (const struct ofl_attr *attr = stmt->as.type_def.attrs; attr != NULL; attr = attr->next) {
            symbol->attrs |= (uint64_t)1 << attr->kind;
        }
    }
    for (const struct ofl_entity *entity = stmt->as.type_def.entities; entity != NULL; entity = entity->next) {
        struct ofl_symbol *field = symbol_of(builder, scope, &entity->ident); /* DEC: a field of the outer structure */
        field->typed = true;
        field->type = (struct ofl_type){.kind_of = OFL_TYPE_RECORD};
        set_bounds(field, entity->bounds);
    }
    ofl_declare_block(builder, inner, &stmt->as.type_def.components);
    bool hidden = inner->default_private;
    ofl_declare_block(builder, inner, &stmt->as.type_def.bindings);
    inner->default_private = hidden; /* `private` among the bindings is about them */
    ofl_settle_types(builder, inner);
}

static void add_generic(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_generic *generic,
                        const struct ofl_stmt *stmt)
{
    struct ofl_generic_block *block = OFL_NEW(builder->arena, struct ofl_generic_block);
    block->generic = generic;
    block->stmt = stmt;
    if (scope->last_generic == NULL) {
        scope->generics = block;
    } else {
        scope->last_generic->next = block;
    }
    scope->last_generic = block;
}

static void interface_block(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    for (struct ofl_unit *body = stmt->as.interface.bodies; body != NULL; body = body->next) {
        if (body->name.name == NULL) {
            continue;
        }
        struct ofl_symbol *symbol = symbol_of(builder, scope, &body->name);
        symbol->class = body->kind == OFL_UNIT_FUNCTION ? OFL_SYMBOL_FUNCTION : OFL_SYMBOL_SUBROUTINE;
        if (symbol->unit == NULL) {
            symbol->unit = body;
        }
        if (symbol->interface == NULL) {
            symbol->interface = body;
        }
        if (symbol->storage != OFL_STORAGE_DUMMY) {
            symbol->storage = OFL_STORAGE_NONE;
        }
    }
    const struct ofl_generic *generic = stmt->as.interface.generic;
    if (generic != NULL) {
        add_generic(builder, scope, generic, stmt);
    }
    if (generic != NULL && generic->kind == OFL_GENERIC_NAME) {
        struct ofl_symbol *symbol = symbol_of(builder, scope, &generic->ident);
        if (symbol->class != OFL_SYMBOL_TYPE) {
            symbol->class = OFL_SYMBOL_GENERIC;
            symbol->storage = OFL_STORAGE_NONE;
        }
        symbol->generic = symbol->generic == NULL ? stmt : symbol->generic;
    }
}

static void procedure_entities(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    for (const struct ofl_entity *entity = stmt->as.procedure.entities; entity != NULL; entity = entity->next) {
        struct ofl_symbol *symbol = symbol_of(builder, scope, &entity->ident);
        symbol->class = stmt->as.procedure.type != NULL ? OFL_SYMBOL_FUNCTION : OFL_SYMBOL_PROCEDURE;
        if (stmt->as.procedure.type != NULL) {
            ofl_declare_type(symbol, stmt->as.procedure.type);
        }
        for (const struct ofl_attr *attr = stmt->as.procedure.attrs; attr != NULL; attr = attr->next) {
            symbol->attrs |= (uint64_t)1 << attr->kind;
        }
        symbol->value = entity->value;
        symbol->procedure_stmt = stmt;
    }
}

static void names_as(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_ident *ident,
                     enum ofl_symbol_class class)
{
    struct ofl_symbol *symbol = symbol_of(builder, scope, ident);
    symbol->class = class;
    symbol->storage = OFL_STORAGE_NONE;
}

/* ---- USE, IMPLICIT, storage ------------------------------------------------------------------------------------- */

static void use(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    struct ofl_use *item = OFL_NEW(builder->arena, struct ofl_use), **link = &scope->uses;
    const struct ofl_name *name = stmt->as.use.module.name;
    item->stmt = stmt;
    bool intrinsic = stmt->as.use.nature.name != NULL && strcmp(stmt->as.use.nature.name->text, "intrinsic") == 0;
    if (!intrinsic && name != NULL) {
        item->module = ofl_module_find(builder->modules, name);
    }
    if (item->module == NULL && name != NULL) {
        item->module = ofl_intrinsic_module(builder->modules, name);
    }
    scope->open |= item->module == NULL || item->module->unit->scope->open;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = item;
}

static void implicit(struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    scope->implicit_set = true;
    scope->implicit_none |= stmt->as.implicit.none_type;
    for (const struct ofl_implicit *range = stmt->as.implicit.ranges; range != NULL; range = range->next) {
        for (unsigned letter = (unsigned char)range->first; range->type != NULL && letter <= (unsigned char)range->last;
             letter++) {
            if (letter >= 'a' && letter <= 'z') {
                scope->implicit[letter - 'a'] =
                    (struct ofl_type){.kind_of = range->type->kind, .length = range->type->length, .spec = range->type};
            }
        }
    }
}

static void groups(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    for (const struct ofl_group *group = stmt->as.groups.groups; group != NULL; group = group->next) {
        if (stmt->kind == OFL_STMT_NAMELIST) {
            names_as(builder, scope, &group->name, OFL_SYMBOL_NAMELIST);
            continue;
        }
        for (const struct ofl_entity *entity = group->entities; entity != NULL; entity = entity->next) {
            declare_entity(builder, scope, NULL, NULL, entity);
            ofl_scope_own(scope, entity->ident.name)->storage = OFL_STORAGE_COMMON;
        }
        for (const struct ofl_arg *item = group->items; item != NULL; item = item->next) {
            const struct ofl_expr *base = item->value;
            while (base->kind == OFL_EXPR_CALL) {
                base = base->as.call.base;
            }
            if (base->kind == OFL_EXPR_NAME) {
                struct ofl_ident ident = {base->as.name.name, base->span};
                symbol_of(builder, scope, &ident)->equivalenced = true;
            }
        }
    }
}

static void parameters(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    for (const struct ofl_arg *item = stmt->as.args.items; item != NULL; item = item->next) {
        names_as(builder, scope, &item->keyword, OFL_SYMBOL_CONSTANT);
        struct ofl_symbol *symbol = ofl_scope_own(scope, item->keyword.name);
        symbol->value = item->value;
        symbol->attrs |= OFL_ATTR_BIT(PARAMETER);
    }
}

static void cray_pointers(struct ofl_scope_builder *builder, struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    for (const struct ofl_pair *pair = stmt->as.pairs.pairs; pair != NULL; pair = pair->next) {
        declare_entity(builder, scope, NULL, NULL, pair->pointee);
        ofl_scope_own(scope, pair->pointee->ident.name)->cray_pointer = pair->pointer.name;
        struct ofl_symbol *pointer = symbol_of(builder, scope, &pair->pointer);
        pointer->typed = true;
        pointer->type = (struct ofl_type){.kind_of = OFL_TYPE_INTEGER, .kind = 8};
    }
}

/* ---- Statement functions ---------------------------------------------------------------------------------------- */

/* An assignment before all executable statements whose left side is name(name, ...) and the name is no array.
 * R1544 stmt-function-stmt. */
static bool is_statement_function(struct ofl_scope *scope, const struct ofl_stmt *stmt)
{
    const struct ofl_expr *target = stmt->as.assign.target;
    if (scope->kind != OFL_SCOPE_UNIT || target->kind != OFL_EXPR_CALL || target->as.call.base->kind != OFL_EXPR_NAME) {
        return false;
    }
    for (const struct ofl_arg *arg = target->as.call.args; arg != NULL; arg = arg->next) {
        if (arg->keyword.name != NULL || arg->value->kind != OFL_EXPR_NAME) {
            return false;
        }
    }
    const struct ofl_symbol *symbol = ofl_scope_find(scope, target->as.call.base->as.name.name);
    if (symbol == NULL) {
        return !scope->open;
    }
    return symbol->scope == scope && symbol->rank == 0 && symbol->unit == NULL && !OFL_HAS(symbol, POINTER) &&
           symbol->class == OFL_SYMBOL_VARIABLE && symbol->storage != OFL_STORAGE_DUMMY;
}

static void statement_function(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    const struct ofl_expr *base = stmt->as.assign.target->as.call.base;
    struct ofl_ident ident = {base->as.name.name, base->span};
    stmt->kind = OFL_STMT_STATEMENT_FUNCTION;
    names_as(builder, scope, &ident, OFL_SYMBOL_FUNCTION);
    ofl_scope_own(scope, ident.name)->definition = stmt;
}

/* ---- The pass --------------------------------------------------------------------------------------------------- */

static void declare(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    switch (stmt->kind) {
    case OFL_STMT_USE:
        use(builder, scope, stmt);
        break;
    case OFL_STMT_IMPLICIT:
        implicit(scope, stmt);
        break;
    case OFL_STMT_PRIVATE_COMPONENTS:
        scope->default_private = true;
        break;
    case OFL_STMT_TYPE_DECL:
        for (const struct ofl_entity *entity = stmt->as.decl.entities; entity != NULL; entity = entity->next) {
            declare_entity(builder, scope, stmt->as.decl.type, stmt->as.decl.attrs, entity);
        }
        break;
    case OFL_STMT_ATTRIBUTE:
        attribute_statement(builder, scope, stmt);
        break;
    case OFL_STMT_PARAMETER:
        parameters(builder, scope, stmt);
        break;
    case OFL_STMT_COMMON:
    case OFL_STMT_NAMELIST:
    case OFL_STMT_EQUIVALENCE:
        groups(builder, scope, stmt);
        break;
    case OFL_STMT_CRAY_POINTER:
        cray_pointers(builder, scope, stmt);
        break;
    case OFL_STMT_DERIVED_TYPE:
    case OFL_STMT_STRUCTURE:
        derived_type(builder, scope, stmt);
        break;
    case OFL_STMT_UNION:
        for (struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
            ofl_declare_block(builder, scope, &arm->body);
        }
        break;
    case OFL_STMT_ENUM:
        enumerators(builder, scope, stmt);
        break;
    case OFL_STMT_INTERFACE:
        interface_block(builder, scope, stmt);
        break;
    case OFL_STMT_PROCEDURE_DECL:
    case OFL_STMT_TYPE_BOUND_PROCEDURE:
        procedure_entities(builder, scope, stmt);
        break;
    case OFL_STMT_GENERIC:
    case OFL_STMT_TYPE_BOUND_GENERIC:
        add_generic(builder, scope, stmt->as.generic.generic, stmt);
        if (stmt->as.generic.generic->kind == OFL_GENERIC_NAME) {
            names_as(builder, scope, &stmt->as.generic.generic->ident, OFL_SYMBOL_GENERIC);
        }
        break;
    case OFL_STMT_ENTRY:
        names_as(builder, scope, &stmt->as.entry.name, OFL_SYMBOL_PROCEDURE);
        break;
    default:
        break;
    }
}

void ofl_declare_block(struct ofl_scope_builder *builder, struct ofl_scope *scope, struct ofl_block *block)
{
    bool executable = false;
    for (struct ofl_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == OFL_STMT_ASSIGN && !executable && is_statement_function(scope, stmt)) {
            statement_function(builder, scope, stmt);
        }
        executable |= ofl_stmt_is_executable(stmt->kind);
        declare(builder, scope, stmt);
    }
}
