/* Array and structure constructors.  R769 array-constructor, R756 structure-constructor. */
#include "fortran/meaning_private.h"

/* ---- Implied do ------------------------------------------------------------------------------------------------- */

/* The scope of an implied do: its index has the type given, else that which the name has outside.  F2018 19.4. */
struct ofl_scope *ofl_implied_do_scope(struct ofl_modules *modules, struct ofl_scope *scope,
                                       const struct ofl_expr *expr)
{
    if (expr->as.implied_do.scope != NULL) {
        return expr->as.implied_do.scope;
    }
    struct ofl_scope *inner = ofl_scope_new(modules->arena, OFL_SCOPE_INDEX, scope, scope->unit);
    const struct ofl_ident *ident = &expr->as.implied_do.index;
    if (ident->name != NULL) {
        struct ofl_symbol *outer = ofl_scope_find(scope, ident->name);
        struct ofl_symbol *symbol = ofl_scope_add(modules->arena, inner, ident->name, ident->span);
        symbol->class = OFL_SYMBOL_INDEX;
        if (expr->as.implied_do.type != NULL) {
            ofl_declare_type(symbol, expr->as.implied_do.type);
            ofl_settle_type(modules, scope, &symbol->type);
        } else if (outer != NULL && outer->typed) {
            symbol->typed = true;
            symbol->type = outer->type;
        } else {
            ofl_implicit_type(symbol, modules);
        }
    }
    ((struct ofl_expr *)expr)->as.implied_do.scope = inner;
    return inner;
}

/* ---- Array constructors ----------------------------------------------------------------------------------------- */

struct items {
    struct ofl_modules *modules;
    struct ofl_meaning *meaning;
    const struct ofl_meaning *why;
    bool typed, constant;
    unsigned depth;
};

static void take_items(struct items *items, struct ofl_scope *scope, const struct ofl_arg *item);

static void take_implied_do(struct items *items, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    struct ofl_scope *inner = ofl_implied_do_scope(items->modules, scope, expr);
    const struct ofl_expr *limits[] = {expr->as.implied_do.first, expr->as.implied_do.last, expr->as.implied_do.step};
    for (size_t i = 0; i < 3; i++) {
        const struct ofl_meaning *limit = limits[i] != NULL ? ofl_meaning_of(items->modules, scope, limits[i]) : NULL;
        if (limit != NULL && limit->kind == OFL_MEANS_UNKNOWN) {
            items->why = limit;
            return;
        }
        items->constant &= limit == NULL || limit->constant;
    }
    /* the items are constant if nothing but the index varies: it counts as a constant for this question */
    take_items(items, inner, expr->as.implied_do.items);
}

static void take_items(struct items *items, struct ofl_scope *scope, const struct ofl_arg *item)
{
    if (++items->depth > OFL_MAX_NESTING) {
        items->why = ofl_unknown_yet(items->modules, item->span, "an array constructor nested so deeply");
    }
    for (; item != NULL && items->why == NULL; item = item->next) {
        if (item->value == NULL) {
            continue;
        }
        if (item->value->kind == OFL_EXPR_IMPLIED_DO) {
            take_implied_do(items, scope, item->value);
            continue;
        }
        const struct ofl_meaning *meaning = ofl_meaning_of(items->modules, scope, item->value);
        if (meaning->kind == OFL_MEANS_UNKNOWN) {
            items->why = meaning;
        } else if (meaning->kind >= OFL_MEANS_PROCEDURE) {
            items->why = ofl_unknown(items->modules, item->span, "a value is needed here");
        } else if (!items->typed && meaning->kind != OFL_MEANS_TYPELESS) {
            items->meaning->type = meaning->type; /* without a type-spec all items have one type */
            items->typed = true;
        }
        items->constant &= meaning->constant;
    }
    items->depth--;
}

const struct ofl_meaning *ofl_meaning_array(struct ofl_modules *modules, struct ofl_scope *scope,
                                            const struct ofl_expr *expr)
{
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_ARRAY);
    struct items items = {.modules = modules, .meaning = meaning, .constant = true};
    meaning->rank = 1;
    if (expr->as.array.type != NULL) {
        if (!ofl_type_of_spec(modules, scope, expr->as.array.type, &meaning->type, &items.why)) {
            return items.why;
        }
        items.typed = true;
    }
    take_items(&items, scope, expr->as.array.items);
    if (items.why != NULL) {
        return items.why;
    }
    if (!items.typed) {
        return ofl_unknown(modules, expr->span, "the type of this array constructor is not known");
    }
    meaning->value = ofl_value_array(modules, scope, expr, meaning->type);
    meaning->constant = items.constant || meaning->value != NULL;
    return meaning;
}

/* ---- Structure constructors ------------------------------------------------------------------------------------- */

struct structure {
    struct ofl_modules *modules;
    struct ofl_scope *scope;
    struct ofl_symbol *type;
    struct ofl_component_value *values;
    size_t count;
};

/* Gives a whole parent's components. */
static const struct ofl_meaning *give_parent(struct structure *structure, const struct ofl_symbol *parent,
                                             const struct ofl_arg *arg, size_t *next)
{
    size_t own;
    ofl_type_components(structure->modules, parent, &own); /* they are the first ones */
    for (size_t i = 0; i < own && i < structure->count; i++) {
        if (structure->values[i].value != NULL || structure->values[i].whole != NULL) {
            return ofl_unknown(structure->modules, arg->span, "component '%s' is given twice",
                               structure->values[i].component->name->text);
        }
        structure->values[i].whole = arg->value;
    }
    *next = own;
    return NULL;
}

/* The ancestor whose type the value has, if the next component is the first of that ancestor's. */
static struct ofl_symbol *whole_parent(struct structure *structure, const struct ofl_meaning *value, size_t next)
{
    if (next != 0 || (value->type.base != OFL_TYPE_DERIVED && value->type.base != OFL_TYPE_CLASS) || value->rank > 0) {
        return NULL;
    }
    struct ofl_symbol *ancestor = ofl_type_parent(structure->type);
    for (unsigned depth = 0; ancestor != NULL && depth < OFL_MAX_NESTING; depth++) {
        if (ancestor == value->type.derived) {
            struct ofl_value_type first;
            bool same = structure->count > 0 && structure->values[0].component->class == OFL_SYMBOL_VARIABLE &&
                        ofl_symbol_type(structure->modules, structure->values[0].component, &first, NULL) &&
                        first.derived == ancestor;
            return same ? NULL : ancestor;
        }
        ancestor = ofl_type_parent(ancestor);
    }
    return NULL;
}

static const struct ofl_meaning *give(struct structure *structure, const struct ofl_arg *arg, size_t *next)
{
    struct ofl_modules *modules = structure->modules;
    const struct ofl_meaning *value = arg->value != NULL ? ofl_meaning_of(modules, structure->scope, arg->value) : NULL;
    size_t at = *next;
    struct ofl_symbol *parent = NULL;
    if (value == NULL || value->kind == OFL_MEANS_UNKNOWN) {
        return value != NULL ? value : ofl_unknown(modules, arg->span, "a value is needed here");
    }
    if (arg->keyword.name != NULL) {
        const struct ofl_symbol *component = ofl_component_of(structure->type, arg->keyword.name, &parent);
        for (at = 0; parent == NULL && at < structure->count && structure->values[at].component != component; at++) {
        }
    } else {
        parent = whole_parent(structure, value, at);
    }
    if (parent != NULL) {
        return give_parent(structure, parent, arg, next);
    }
    if (at >= structure->count) {
        struct ofl_meaning *why = arg->keyword.name != NULL
                                      ? ofl_unknown(modules, arg->keyword.span, "type '%s' has no component '%s'",
                                                    structure->type->name->text, arg->keyword.name->text)
                                      : ofl_unknown(modules, arg->span, "type '%s' has no more than %zu components",
                                                    structure->type->name->text, structure->count);
        why->other = structure->type->declared;
        return why;
    }
    if (structure->values[at].value != NULL || structure->values[at].whole != NULL) {
        return ofl_unknown(modules, arg->span, "component '%s' is given twice",
                           structure->values[at].component->name->text);
    }
    structure->values[at].value = arg->value;
    *next = arg->keyword.name != NULL ? *next : at + 1;
    return NULL;
}

/* Components without a value must have a default, or be allocatable. */
static const struct ofl_meaning *check_missing(struct structure *structure, const struct ofl_expr *expr)
{
    for (size_t i = 0; i < structure->count; i++) {
        const struct ofl_component_value *value = &structure->values[i];
        if (value->value == NULL && value->whole == NULL && value->component->value == NULL &&
            !OFL_HAS(value->component, ALLOCATABLE) && value->component->class == OFL_SYMBOL_VARIABLE) {
            struct ofl_meaning *why =
                ofl_unknown(structure->modules, expr->span, "component '%s' of type '%s' has no value here",
                            value->component->name->text, structure->type->name->text);
            why->other = value->component->declared;
            return why;
        }
    }
    return NULL;
}

/* The value, if all components have one. */
static const struct ofl_constant *structure_value(struct structure *structure, bool *constant)
{
    struct ofl_modules *modules = structure->modules;
    struct ofl_constant *whole = ofl_constant_new(modules, OFL_TYPE_DERIVED, 0);
    whole->derived = structure->type;
    whole->count = structure->count;
    whole->elements = ofl_arena_alloc(modules->arena, (structure->count + 1) * sizeof(void *));
    for (size_t i = 0; i < structure->count; i++) {
        const struct ofl_component_value *given = &structure->values[i];
        struct ofl_symbol *component = given->component;
        struct ofl_value_type type;
        const struct ofl_expr *expr = given->value != NULL ? given->value : given->whole;
        struct ofl_scope *scope = expr != NULL ? structure->scope : component->scope;
        const struct ofl_meaning *meaning = expr != NULL || component->value != NULL
                                                ? ofl_meaning_of(modules, scope, expr != NULL ? expr : component->value)
                                                : NULL;
        *constant &= meaning == NULL || meaning->constant || meaning->kind == OFL_MEANS_TYPELESS;
        const struct ofl_constant *value = meaning != NULL ? meaning->value : NULL;
        if (given->whole != NULL && value != NULL) {
            value = i < value->count ? value->elements[i] : NULL;
        }
        if (value != NULL && component->class == OFL_SYMBOL_VARIABLE &&
            ofl_symbol_type(modules, component, &type, NULL)) {
            whole->elements[i] = ofl_value_shaped(modules, component, type, value);
        }
    }
    return whole;
}

const struct ofl_meaning *ofl_meaning_structure(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr, struct ofl_symbol *type)
{
    if (type->definition == NULL || OFL_HAS(type, ABSTRACT)) {
        return type->definition == NULL
                   ? ofl_unknown_yet(modules, expr->span, "a structure constructor of the intrinsic type '%s'",
                                     type->name->text)
                   : ofl_unknown(modules, expr->span, "type '%s' is abstract", type->name->text);
    }
    if (type->definition->as.type_def.parameters != NULL) {
        return ofl_unknown_yet(modules, expr->span, "a parameterised derived type ('%s')", type->name->text);
    }
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_STRUCTURE);
    struct structure structure = {modules, scope, type, NULL, 0};
    struct ofl_symbol **components = ofl_type_components(modules, type, &structure.count);
    structure.values = ofl_arena_alloc(modules->arena, (structure.count + 1) * sizeof *structure.values);
    for (size_t i = 0; i < structure.count; i++) {
        structure.values[i].component = components[i];
    }
    const struct ofl_meaning *why = NULL;
    size_t next = 0;
    for (const struct ofl_arg *arg = expr->as.call.args; arg != NULL && why == NULL; arg = arg->next) {
        why = give(&structure, arg, &next);
    }
    why = why == NULL ? check_missing(&structure, expr) : why;
    if (why != NULL) {
        return why;
    }
    meaning->type = (struct ofl_value_type){.base = OFL_TYPE_DERIVED, .derived = type};
    meaning->components = structure.values;
    meaning->component_count = structure.count;
    meaning->constant = true;
    meaning->value = structure_value(&structure, &meaning->constant);
    meaning->value = meaning->constant ? meaning->value : NULL;
    return meaning;
}
