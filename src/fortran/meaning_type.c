/* Types: of symbols and type specifications, their texts, when two are the same, and what derived types consist of.
 *
 * A declared type (struct ofl_type) was settled when the scopes were built, as far as that could be done then; what was
 * left open (a kind that needs more than constant.c knows, a length) is worked out here when it is asked for. */
#include "fortran/meaning_private.h"

#include <stdio.h>
#include <string.h>

/* ---- Plain types ------------------------------------------------------------------------------------------------ */

struct ofl_value_type ofl_type_default(const struct ofl_modules *modules, enum ofl_type_kind base)
{
    int kind = base == OFL_TYPE_INTEGER                            ? modules->default_integer
               : base == OFL_TYPE_REAL || base == OFL_TYPE_COMPLEX ? modules->default_real
               : base == OFL_TYPE_LOGICAL                          ? modules->default_logical
                                                                   : 1;
    return ofl_type_of_kind(base, kind);
}

bool ofl_type_is_numeric(struct ofl_value_type type)
{
    return type.base == OFL_TYPE_INTEGER || type.base == OFL_TYPE_REAL || type.base == OFL_TYPE_COMPLEX;
}

const char *ofl_type_text(struct ofl_modules *modules, struct ofl_value_type type)
{
    static const char *const names[] = {[OFL_TYPE_INTEGER] = "integer",
                                        [OFL_TYPE_REAL] = "real",
                                        [OFL_TYPE_COMPLEX] = "complex",
                                        [OFL_TYPE_LOGICAL] = "logical"};
    const char *name = type.derived != NULL ? type.derived->name->text : "?";
    switch (type.base) {
    case OFL_TYPE_INTEGER:
    case OFL_TYPE_REAL:
    case OFL_TYPE_COMPLEX:
    case OFL_TYPE_LOGICAL:
        return ofl_arena_format(modules->arena, "%s(%d)", names[type.base], type.kind);
    case OFL_TYPE_CHARACTER: {
        const char *kind = type.kind == 1 ? "" : ", kind=4";
        switch (type.length_form) {
        case OFL_LENGTH_KNOWN:
            return ofl_arena_format(modules->arena, "character(len=%lld%s)", (long long)type.characters, kind);
        case OFL_LENGTH_ASSUMED:
        case OFL_LENGTH_DEFERRED:
            return ofl_arena_format(modules->arena, "character(len=%s%s)",
                                    type.length_form == OFL_LENGTH_ASSUMED ? "*" : ":", kind);
        default:
            return type.kind == 1 ? "character" : "character(kind=4)";
        }
    }
    case OFL_TYPE_DERIVED:
    case OFL_TYPE_RECORD:
        return ofl_arena_format(modules->arena, "type(%s)", name);
    case OFL_TYPE_CLASS:
        return ofl_arena_format(modules->arena, "class(%s)", name);
    case OFL_TYPE_CLASS_STAR:
        return "class(*)";
    default:
        return "type(*)";
    }
}

/* ---- From declarations ------------------------------------------------------------------------------------------ */

static bool fails(const struct ofl_meaning **why, const struct ofl_meaning *reason)
{
    if (why != NULL) {
        *why = reason;
    }
    return false;
}

/* A type's own symbol: a generic or a variable of the same name in another module does not hide it. */
struct ofl_symbol *ofl_type_find(struct ofl_scope *scope, const struct ofl_name *name)
{
    struct ofl_symbol *symbol = ofl_scope_find(scope, name);
    if (symbol != NULL && symbol->class == OFL_SYMBOL_TYPE) {
        return symbol;
    }
    for (; scope != NULL; scope = scope->parent) {
        for (const struct ofl_use *use = scope->uses; use != NULL; use = use->next) {
            const struct ofl_name *there = use->module != NULL ? ofl_used_name(use->stmt, name) : NULL;
            symbol = there != NULL ? ofl_scope_find(use->module->unit->scope, there) : NULL;
            if (symbol != NULL && symbol->class == OFL_SYMBOL_TYPE && !OFL_HAS(symbol, PRIVATE)) {
                return symbol;
            }
        }
    }
    return NULL;
}

static bool derived_type(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_type_spec *spec,
                         struct ofl_value_type *type, const struct ofl_meaning **why)
{
    const struct ofl_name *name = spec->name.name;
    struct ofl_symbol *symbol = name != NULL ? ofl_type_find(scope, name) : NULL;
    if (spec->kind == OFL_TYPE_RECORD) {
        return fails(why, ofl_unknown_yet(modules, spec->span, "a DEC structure"));
    }
    if (symbol == NULL) {
        if (name == NULL || ofl_missing_module(scope, name) != NULL || ofl_scope_find(scope, name) == NULL) {
            return fails(why, name != NULL ? ofl_unknown_name(modules, scope, name, spec->span)
                                           : ofl_unknown(modules, spec->span, "the type has no name"));
        }
        return fails(why, ofl_unknown(modules, spec->span, "'%s' is not a derived type", name->text));
    }
    if (symbol->definition != NULL && symbol->definition->as.type_def.parameters != NULL) {
        return fails(why, ofl_unknown_yet(modules, spec->span, "a parameterised derived type ('%s')", name->text));
    }
    type->derived = symbol;
    return true;
}

static void character_length(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *length,
                             struct ofl_value_type *type)
{
    int64_t characters = 1;
    type->length_form = OFL_LENGTH_KNOWN;
    if (length != NULL && length->kind == OFL_EXPR_STAR) {
        type->length_form = OFL_LENGTH_ASSUMED;
    } else if (length != NULL && length->kind == OFL_EXPR_DEFERRED) {
        type->length_form = OFL_LENGTH_DEFERRED;
    } else if (length != NULL && !ofl_value_int64(ofl_meaning_of(modules, scope, length)->value, &characters)) {
        type->length_form = OFL_LENGTH_EXPR;
        type->length = length;
        type->length_scope = scope;
    }
    type->characters = characters < 0 ? 0 : characters;
}

/* The kind number of a type-spec that scope.c could not work out. */
static bool kind_of_spec(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_type_spec *spec,
                         struct ofl_value_type *type, const struct ofl_meaning **why)
{
    int64_t value = 0;
    const struct ofl_meaning *kind = ofl_meaning_of(modules, scope, spec->kind_value);
    if (kind->kind == OFL_MEANS_UNKNOWN) {
        return fails(why, kind);
    }
    if (!ofl_value_int64(kind->value, &value) || value < 1 || value > 32) {
        return fails(why, ofl_unknown(modules, spec->span, "the kind of this type is not known"));
    }
    type->kind = (int)(spec->by_bytes && type->base == OFL_TYPE_COMPLEX ? value / 2 : value);
    return true;
}

static bool declared_type(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_type *declared,
                          struct ofl_value_type *type, const struct ofl_meaning **why)
{
    *type = (struct ofl_value_type){.base = declared->kind_of, .kind = declared->kind, .derived = declared->derived};
    switch (declared->kind_of) {
    case OFL_TYPE_CLASS_STAR:
    case OFL_TYPE_ASSUMED:
        return true;
    case OFL_TYPE_DERIVED:
    case OFL_TYPE_CLASS:
    case OFL_TYPE_RECORD:
        if (declared->spec == NULL) {
            return declared->derived != NULL ||
                   fails(why, ofl_unknown_yet(modules, (struct ofl_span){0, 0}, "a DEC structure"));
        }
        return derived_type(modules, scope, declared->spec, type, why);
    case OFL_TYPE_VECTOR:
        return fails(why, ofl_unknown_yet(modules, declared->spec->span, "a vector type of PowerPC"));
    case OFL_TYPE_CHARACTER:
        character_length(modules, scope, declared->length, type);
        break;
    default:
        break;
    }
    if (type->kind == 0 && declared->spec != NULL && declared->spec->kind_value != NULL) {
        return kind_of_spec(modules, scope, declared->spec, type, why);
    }
    return type->kind > 0 ||
           fails(why, ofl_unknown(modules, declared->spec != NULL ? declared->spec->span : (struct ofl_span){0, 0},
                                  "the kind of this type is not known"));
}

bool ofl_type_of_spec(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_type_spec *spec,
                      struct ofl_value_type *type, const struct ofl_meaning **why)
{
    struct ofl_symbol holder = {.scope = scope};
    ofl_declare_type(&holder, spec);
    ofl_settle_type(modules, scope, &holder.type);
    return declared_type(modules, scope, &holder.type, type, why);
}

struct ofl_symbol *ofl_result_of(const struct ofl_unit *unit)
{
    if (unit == NULL || unit->scope == NULL) {
        return NULL;
    }
    if (unit->kind == OFL_UNIT_MODULE_PROCEDURE) {
        return unit->separate != NULL && unit->separate->kind == OFL_UNIT_FUNCTION ? ofl_result_of(unit->separate)
                                                                                   : NULL;
    }
    const struct ofl_ident *ident = unit->result.name != NULL ? &unit->result : &unit->name;
    return unit->kind == OFL_UNIT_FUNCTION && ident->name != NULL ? ofl_scope_own(unit->scope, ident->name) : NULL;
}

/* The symbol that has a function's type and rank: its result, that of its interface, or itself. */
static struct ofl_symbol *typed_symbol(struct ofl_modules *modules, struct ofl_symbol *symbol)
{
    if (symbol->class != OFL_SYMBOL_FUNCTION && symbol->class != OFL_SYMBOL_PROCEDURE &&
        symbol->class != OFL_SYMBOL_SUBROUTINE && symbol->class != OFL_SYMBOL_GENERIC) {
        return symbol;
    }
    const struct ofl_procedure *procedure = ofl_procedure_of(modules, symbol);
    return procedure != NULL && procedure->result != NULL ? procedure->result : symbol;
}

bool ofl_symbol_type(struct ofl_modules *modules, struct ofl_symbol *symbol, struct ofl_value_type *type,
                     const struct ofl_meaning **why)
{
    if (symbol->class == OFL_SYMBOL_ASSOCIATE && !symbol->narrowed) {
        const struct ofl_meaning *meaning = ofl_meaning_of_symbol(modules, symbol, symbol->declared);
        *type = meaning->type;
        return meaning->kind != OFL_MEANS_UNKNOWN || fails(why, meaning);
    }
    symbol = typed_symbol(modules, symbol);
    if (!symbol->typed) {
        ofl_implicit_type(symbol, modules);
    }
    if (!symbol->typed) {
        return fails(why, ofl_unknown(modules, symbol->declared, "'%s' has no type", symbol->name->text));
    }
    if (symbol->busy) {
        return fails(why,
                     ofl_unknown(modules, symbol->declared, "the type of '%s' depends on itself", symbol->name->text));
    }
    symbol->busy = true;
    bool known = declared_type(modules, symbol->scope, &symbol->type, type, why);
    symbol->busy = false;
    return known;
}

unsigned ofl_symbol_rank(struct ofl_modules *modules, struct ofl_symbol *symbol)
{
    if (symbol->class == OFL_SYMBOL_ASSOCIATE) {
        return ofl_meaning_of_symbol(modules, symbol, symbol->declared)->rank;
    }
    return typed_symbol(modules, symbol)->rank;
}

/* ---- Comparing -------------------------------------------------------------------------------------------------- */

static bool is_sequence(const struct ofl_symbol *type)
{
    const struct ofl_stmt *stmt = type->definition != NULL ? type->definition->as.type_def.components.first : NULL;
    for (; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == OFL_STMT_SEQUENCE) {
            return true;
        }
    }
    return OFL_HAS(type, BIND);
}

/* F2018 7.5.2.4.  Types may refer to each other: `budget` bounds the comparisons. */
static bool same_derived(const struct ofl_symbol *a, const struct ofl_symbol *b, unsigned *budget)
{
    if (a == b || (a != NULL && b != NULL && a->definition != NULL && a->definition == b->definition)) {
        return true;
    }
    if (a == NULL || b == NULL || *budget == 0 || a->name != b->name || !is_sequence(a) || !is_sequence(b)) {
        return false;
    }
    --*budget;
    const struct ofl_scope *left = a->definition != NULL ? a->definition->as.type_def.scope : NULL;
    const struct ofl_scope *right = b->definition != NULL ? b->definition->as.type_def.scope : NULL;
    if (left == NULL || right == NULL) {
        return false;
    }
    const struct ofl_symbol *x = left->first, *y = right->first;
    for (; x != NULL && y != NULL; x = x->next, y = y->next) {
        bool same = x->name == y->name && x->rank == y->rank && x->type.kind_of == y->type.kind_of &&
                    x->type.kind == y->type.kind &&
                    (x->type.derived == NULL || same_derived(x->type.derived, y->type.derived, budget));
        if (!same) {
            return false;
        }
    }
    return x == NULL && y == NULL;
}

bool ofl_type_same(struct ofl_value_type a, struct ofl_value_type b)
{
    if (a.base != b.base) {
        return false;
    }
    if (a.base == OFL_TYPE_DERIVED || a.base == OFL_TYPE_CLASS) {
        unsigned budget = 1000;
        return same_derived(a.derived, b.derived, &budget);
    }
    return a.kind == b.kind;
}

/* ---- Derived types ---------------------------------------------------------------------------------------------- */

struct ofl_symbol *ofl_type_parent(const struct ofl_symbol *type)
{
    const struct ofl_attr *attr = type->definition != NULL ? type->definition->as.type_def.attrs : NULL;
    for (; attr != NULL; attr = attr->next) {
        if (attr->kind == OFL_ATTR_EXTENDS && attr->name.name != NULL) {
            struct ofl_symbol *parent = ofl_type_find(type->scope, attr->name.name);
            return parent != type ? parent : NULL;
        }
    }
    return NULL;
}

bool ofl_type_extends(const struct ofl_symbol *type, const struct ofl_symbol *ancestor)
{
    for (unsigned depth = 0; type != NULL && depth < OFL_MAX_NESTING; depth++) {
        unsigned budget = 1000;
        if (same_derived(type, ancestor, &budget)) {
            return true;
        }
        type = ofl_type_parent(type);
    }
    return false;
}

unsigned ofl_type_walk(void)
{
    static unsigned walks; /* the compiler has one thread */
    return ++walks;
}

bool ofl_type_first(struct ofl_symbol *type, unsigned walk)
{
    bool first = type->visited != walk;
    type->visited = walk;
    return first;
}

static bool is_component(const struct ofl_symbol *symbol)
{
    return symbol->class == OFL_SYMBOL_VARIABLE ||
           (symbol->procedure_stmt != NULL && symbol->procedure_stmt->kind == OFL_STMT_PROCEDURE_DECL);
}

static size_t collect(const struct ofl_symbol *type, struct ofl_symbol **into, unsigned depth)
{
    if (type == NULL || type->definition == NULL || type->definition->as.type_def.scope == NULL ||
        depth > OFL_MAX_NESTING) {
        return 0;
    }
    size_t count = collect(ofl_type_parent(type), into, depth + 1);
    for (struct ofl_symbol *symbol = type->definition->as.type_def.scope->first; symbol != NULL;
         symbol = symbol->next) {
        if (is_component(symbol)) {
            if (into != NULL) {
                into[count] = symbol;
            }
            count++;
        }
    }
    return count;
}

struct ofl_symbol **ofl_type_components(struct ofl_modules *modules, const struct ofl_symbol *type, size_t *count)
{
    *count = collect(type, NULL, 0);
    struct ofl_symbol **components = ofl_arena_alloc(modules->arena, (*count + 1) * sizeof(void *));
    collect(type, components, 0);
    return components;
}

struct ofl_symbol *ofl_component_of(const struct ofl_symbol *type, const struct ofl_name *name,
                                    struct ofl_symbol **parent)
{
    *parent = NULL;
    for (unsigned depth = 0; type != NULL && type->definition != NULL && depth < OFL_MAX_NESTING; depth++) {
        struct ofl_scope *scope = type->definition->as.type_def.scope;
        struct ofl_symbol *symbol = scope != NULL ? ofl_scope_own(scope, name) : NULL;
        if (symbol != NULL) {
            return symbol;
        }
        type = ofl_type_parent(type);
        if (type != NULL && type->name == name) {
            *parent = (struct ofl_symbol *)type;
            return NULL;
        }
    }
    return NULL;
}
