/* Parts of data: components, array elements and sections, substrings, the parts of complex numbers, type parameters.
 *
 * R901 designator.  A base that is itself a part has been told apart already, so each step looks at one level only. */
#include "fortran/meaning_private.h"

#include <string.h>

/* What base%name or base(...) inherits from its base. */
static struct ofl_meaning *part_of(struct ofl_modules *modules, enum ofl_meaning_kind kind,
                                   const struct ofl_meaning *base, const struct ofl_expr *expr)
{
    struct ofl_meaning *meaning = ofl_meaning_new(modules, kind);
    meaning->type = base->type;
    meaning->rank = base->rank;
    meaning->designator = base->designator;
    meaning->definable = base->definable || (base->designator && base->pointer);
    meaning->constant = base->constant;
    meaning->base = expr;
    return meaning;
}

/* ---- Components ------------------------------------------------------------------------------------------------- */

/* x%kind, x%len, z%re, z%im.  R915 complex-part-designator, R916 type-param-inquiry. */
static const struct ofl_meaning *intrinsic_part(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr, const struct ofl_meaning *base)
{
    const char *name = expr->as.component.name.name->text;
    bool imaginary = strcmp(name, "im") == 0;
    if (base->type.base == OFL_TYPE_COMPLEX && (imaginary || strcmp(name, "re") == 0)) {
        struct ofl_meaning *meaning = part_of(modules, OFL_MEANS_PART, base, expr->as.component.base);
        meaning->type.base = OFL_TYPE_REAL;
        meaning->imaginary = imaginary;
        meaning->value = ofl_value_part(modules, scope, meaning);
        return meaning;
    }
    bool kind = strcmp(name, "kind") == 0, length = strcmp(name, "len") == 0 && base->type.base == OFL_TYPE_CHARACTER;
    if (kind || length) {
        struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_PARAMETER);
        meaning->type = ofl_type_default(modules, OFL_TYPE_INTEGER);
        meaning->base = expr->as.component.base;
        meaning->constant = kind || base->type.length_form == OFL_LENGTH_KNOWN;
        if (meaning->constant) {
            meaning->value =
                ofl_value_integer(modules, meaning->type.kind, kind ? base->type.kind : base->type.characters);
        }
        return meaning;
    }
    return ofl_unknown(modules, expr->as.component.name.span, "'%s' is no part of a value of type %s", name,
                       ofl_type_text(modules, base->type));
}

static const struct ofl_meaning *data_component(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr, const struct ofl_meaning *base,
                                                struct ofl_symbol *component)
{
    const struct ofl_meaning *why = NULL;
    struct ofl_meaning *meaning = part_of(modules, OFL_MEANS_COMPONENT, base, expr->as.component.base);
    meaning->symbol = component;
    if (!ofl_symbol_type(modules, component, &meaning->type, &why)) {
        return why;
    }
    if (base->rank > 0 && component->rank > 0) {
        meaning->kind = OFL_MEANS_ARRAYS;
    }
    meaning->rank = component->rank > 0 ? component->rank : base->rank;
    meaning->allocatable = OFL_HAS(component, ALLOCATABLE);
    meaning->pointer = OFL_HAS(component, POINTER);
    meaning->constant = base->constant && !meaning->pointer;
    meaning->value = meaning->constant ? ofl_value_part(modules, scope, meaning) : NULL;
    return meaning;
}

/* A procedure pointer component, or a type-bound procedure as such. */
static const struct ofl_meaning *procedure_component(struct ofl_modules *modules, const struct ofl_expr *expr,
                                                     struct ofl_symbol *component)
{
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_PROCEDURE);
    meaning->symbol = component;
    meaning->base = expr->as.component.base;
    if (component->class == OFL_SYMBOL_GENERIC) {
        return meaning;
    }
    bool bound = component->procedure_stmt != NULL && component->procedure_stmt->kind == OFL_STMT_TYPE_BOUND_PROCEDURE;
    meaning->procedure = bound ? ofl_binding_procedure(modules, component) : ofl_procedure_of(modules, component);
    if (meaning->procedure == NULL) {
        return ofl_unknown(modules, expr->as.component.name.span, "procedure '%s' is not at hand",
                           component->name->text);
    }
    meaning->pointer = meaning->designator = meaning->definable = !bound;
    if (meaning->procedure->function && meaning->procedure->result != NULL) {
        ofl_symbol_type(modules, meaning->procedure->result, &meaning->type, NULL);
        meaning->rank = meaning->procedure->result->rank;
    }
    return meaning;
}

/* R913 structure-component, and what has the same form. */
const struct ofl_meaning *ofl_meaning_component(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr)
{
    const struct ofl_ident *name = &expr->as.component.name;
    const struct ofl_meaning *base = ofl_meaning_of(modules, scope, expr->as.component.base);
    if (base->kind == OFL_MEANS_UNKNOWN) {
        return base;
    }
    if (base->kind >= OFL_MEANS_PROCEDURE) {
        return ofl_unknown(modules, expr->span, "there is no value before '%%%s'", name->name->text);
    }
    if (base->type.base != OFL_TYPE_DERIVED && base->type.base != OFL_TYPE_CLASS) {
        return intrinsic_part(modules, scope, expr, base);
    }
    struct ofl_symbol *parent = NULL, *component = ofl_component_of(base->type.derived, name->name, &parent);
    if (parent != NULL) {
        struct ofl_meaning *meaning = part_of(modules, OFL_MEANS_COMPONENT, base, expr->as.component.base);
        meaning->type = (struct ofl_value_type){.base = OFL_TYPE_DERIVED, .derived = parent};
        meaning->value = base->constant ? ofl_value_part(modules, scope, meaning) : NULL;
        return meaning;
    }
    if (component == NULL) {
        struct ofl_meaning *meaning = ofl_unknown(modules, name->span, "'%s' is not a component of type '%s'",
                                                  name->name->text, base->type.derived->name->text);
        meaning->other = base->type.derived->declared;
        return meaning;
    }
    if (component->class == OFL_SYMBOL_VARIABLE) {
        return data_component(modules, scope, expr, base, component);
    }
    return procedure_component(modules, expr, component);
}

/* ---- Elements, sections, substrings ----------------------------------------------------------------------------- */

/* The rank of the last part of a designator: what subscripts behind it apply to. */
static unsigned last_rank(const struct ofl_meaning *base)
{
    switch (base->kind) {
    case OFL_MEANS_VARIABLE:
    case OFL_MEANS_CONSTANT:
        return base->rank;
    case OFL_MEANS_COMPONENT:
    case OFL_MEANS_ARRAYS:
        return base->symbol != NULL ? base->symbol->rank : 0;
    default:
        return 0;
    }
}

static const struct ofl_meaning *substring(struct ofl_modules *modules, struct ofl_scope *scope,
                                           const struct ofl_expr *expr, const struct ofl_meaning *base)
{
    const struct ofl_arg *arg = expr->as.call.args;
    const struct ofl_meaning *range = ofl_meaning_of(modules, scope, arg->value);
    if (range->kind == OFL_MEANS_UNKNOWN) {
        return range;
    }
    struct ofl_meaning *meaning = part_of(modules, OFL_MEANS_SUBSTRING, base, expr->as.call.base);
    meaning->range = arg->value;
    meaning->constant = base->constant && range->constant;
    meaning->type.length_form = OFL_LENGTH_COMPUTED;
    const struct ofl_expr *lower = arg->value->as.range.lower, *upper = arg->value->as.range.upper;
    int64_t first = 1, last = base->type.characters;
    bool known = (lower == NULL || ofl_value_int64(ofl_meaning_of(modules, scope, lower)->value, &first)) &&
                 (upper == NULL ? base->type.length_form == OFL_LENGTH_KNOWN
                                : ofl_value_int64(ofl_meaning_of(modules, scope, upper)->value, &last));
    if (known) {
        meaning->type.length_form = OFL_LENGTH_KNOWN;
        meaning->type.characters = last < first ? 0 : last - first + 1;
    }
    meaning->value = meaning->constant ? ofl_value_part(modules, scope, meaning) : NULL;
    return meaning;
}

static const struct ofl_meaning *subscripts(struct ofl_modules *modules, struct ofl_scope *scope,
                                            const struct ofl_expr *expr, const struct ofl_meaning *base)
{
    unsigned count = 0, kept = 0, rank = last_rank(base);
    struct ofl_meaning *meaning = part_of(modules, OFL_MEANS_ELEMENT, base, expr->as.call.base);
    meaning->subscripts = expr->as.call.args;
    for (const struct ofl_arg *arg = expr->as.call.args; arg != NULL; arg = arg->next, count++) {
        if (arg->keyword.name != NULL || arg->value == NULL) {
            return ofl_unknown(modules, arg->span, "a subscript is needed here");
        }
        const struct ofl_meaning *subscript = ofl_meaning_of(modules, scope, arg->value);
        if (subscript->kind == OFL_MEANS_UNKNOWN) {
            return subscript;
        }
        bool range = subscript->kind == OFL_MEANS_RANGE;
        if (!range && (subscript->kind >= OFL_MEANS_PROCEDURE || subscript->rank > 1 ||
                       (subscript->type.base != OFL_TYPE_INTEGER && subscript->type.base != OFL_TYPE_REAL))) {
            return ofl_unknown(modules, arg->span, "a subscript must be an integer, not %s",
                               subscript->kind >= OFL_MEANS_PROCEDURE ? "this"
                               : subscript->rank > 1                  ? "an array of more than one dimension"
                                                                      : ofl_type_text(modules, subscript->type));
        }
        kept += range || subscript->rank == 1;
        meaning->definable &= range || subscript->rank == 0 || subscript->constant;
        meaning->constant &= subscript->constant;
    }
    if (count != rank) {
        return ofl_unknown(modules, expr->span, "an array with %u dimension%s has %u subscript%s here", rank,
                           rank == 1 ? "" : "s", count, count == 1 ? "" : "s");
    }
    if (base->kind == OFL_MEANS_ARRAYS) {
        if (kept > 0) {
            return ofl_unknown(modules, expr->span, "component '%s' is an array here and so is what stands before it",
                               base->symbol->name->text);
        }
        kept = ofl_meaning_of(modules, scope, base->base)->rank;
    }
    meaning->kind = kept > 0 ? OFL_MEANS_SECTION : OFL_MEANS_ELEMENT;
    meaning->rank = kept;
    meaning->value = meaning->constant ? ofl_value_part(modules, scope, meaning) : NULL;
    return meaning;
}

/* R917 array-element, R918 array-section, R908 substring. */
const struct ofl_meaning *ofl_meaning_subscripted(struct ofl_modules *modules, struct ofl_scope *scope,
                                                  const struct ofl_expr *expr, const struct ofl_meaning *base)
{
    const struct ofl_arg *args = expr->as.call.args;
    unsigned rank = last_rank(base);
    if (rank == OFL_ASSUMED_RANK) {
        return ofl_unknown(modules, expr->span, "an object of assumed rank has no subscripts outside of select rank");
    }
    bool one_range = args != NULL && args->next == NULL && args->value != NULL && args->value->kind == OFL_EXPR_RANGE &&
                     args->keyword.name == NULL;
    bool object = base->kind <= OFL_MEANS_COMPONENT && base->kind != OFL_MEANS_SUBSTRING;
    if (rank == 0 && base->type.base == OFL_TYPE_CHARACTER && one_range && object) {
        return substring(modules, scope, expr, base);
    }
    if (rank == 0) {
        struct ofl_meaning *meaning = ofl_unknown(modules, expr->span, "a scalar value of type %s has no subscripts",
                                                  ofl_type_text(modules, base->type));
        return meaning;
    }
    return subscripts(modules, scope, expr, base);
}
