/* References to procedures: what base(args) and call name(args) are.
 *
 * Entry points: ofl_meaning_call for an expression, ofl_call_named for a name wherever it is called.  A name without an
 * explicit interface is an external procedure or a dummy procedure; its first reference declares it so. */
#include "fortran/meaning_private.h"

#include <string.h>

/* ---- Named procedures ------------------------------------------------------------------------------------------- */

static struct ofl_call *named_generic(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name,
                                      struct ofl_symbol *symbol, const struct ofl_actuals *actuals, bool *found,
                                      const struct ofl_meaning **why)
{
    const struct ofl_generic_key key = {.kind = OFL_GENERIC_NAME, .name = name};
    struct ofl_specifics specifics = {0};
    ofl_gather(modules, scope, &key, &specifics);
    struct ofl_call *call = ofl_choose(modules, &specifics, actuals, why);
    *found = specifics.first != NULL;
    if (call != NULL) {
        call->generic = symbol;
    }
    return call;
}

static struct ofl_meaning *no_specific(struct ofl_modules *modules, const struct ofl_symbol *generic,
                                       const struct ofl_actuals *actuals)
{
    struct ofl_meaning *meaning = ofl_unknown(modules, actuals->place, "no specific procedure of '%s' takes (%s)",
                                              generic->name->text, ofl_actuals_text(modules, actuals));
    meaning->other = generic->declared;
    return meaning;
}

/* A generic, which may extend an intrinsic procedure of its name. */
static struct ofl_call *call_generic(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name,
                                     struct ofl_symbol *symbol, const struct ofl_actuals *actuals,
                                     const struct ofl_meaning **why)
{
    bool found = false;
    struct ofl_call *call = named_generic(modules, scope, name, symbol, actuals, &found, why);
    if (call != NULL || *why != NULL) {
        return call;
    }
    const struct ofl_intrinsic *intrinsic = ofl_intrinsic_find(symbol->name->text);
    if (intrinsic != NULL) {
        const struct ofl_meaning *reason = NULL;
        call = ofl_call_intrinsic(modules, intrinsic, actuals, &reason);
    }
    if (call == NULL) {
        *why = no_specific(modules, symbol, actuals);
    }
    return call;
}

/* The unit's scope that an undeclared procedure's name belongs to. */
static struct ofl_scope *unit_scope(struct ofl_scope *scope)
{
    while (scope != NULL && scope->kind != OFL_SCOPE_UNIT) {
        scope = scope->parent;
    }
    return scope;
}

/* A name that nothing declares: intrinsic, or external by being called.  NULL with *why. */
static struct ofl_symbol *undeclared(struct ofl_modules *modules, struct ofl_scope *scope,
                                     const struct ofl_ident *ident, bool function, const struct ofl_meaning **why)
{
    struct ofl_symbol *symbol = NULL;
    struct ofl_scope *unit = unit_scope(scope);
    if (ofl_intrinsic_is_other(ident->name->text)) {
        *why = ofl_unknown_yet(modules, ident->span, "the intrinsic procedure '%s'", ident->name->text);
        return NULL;
    }
    if (ofl_missing_module(scope, ident->name) == NULL && unit != NULL) {
        symbol = function ? ofl_scope_find_or_implicit(modules, scope, ident)
                          : ofl_scope_add(modules->arena, unit, ident->name, ident->span);
    }
    if (symbol == NULL) {
        *why = ofl_unknown_name(modules, scope, ident->name, ident->span);
        return NULL;
    }
    symbol->class = function ? OFL_SYMBOL_FUNCTION : OFL_SYMBOL_SUBROUTINE;
    symbol->storage = OFL_STORAGE_NONE;
    return symbol;
}

/* Whether a scalar variable's name can be that of a function after all: F77's way to declare one. */
static bool may_be_procedure(const struct ofl_symbol *symbol)
{
    const uint64_t data = OFL_ATTR_BIT(ALLOCATABLE) | OFL_ATTR_BIT(TARGET) | OFL_ATTR_BIT(SAVE) |
                          OFL_ATTR_BIT(PARAMETER) | OFL_ATTR_BIT(VALUE) | OFL_ATTR_BIT(CONTIGUOUS) |
                          OFL_ATTR_BIT(INTENT_IN) | OFL_ATTR_BIT(INTENT_OUT) | OFL_ATTR_BIT(INTENT_INOUT) |
                          OFL_ATTR_BIT(POINTER);
    return symbol->class == OFL_SYMBOL_VARIABLE && symbol->rank == 0 && symbol->value == NULL &&
           symbol->cobounds == NULL && (symbol->attrs & data) == 0 && !symbol->equivalenced &&
           (symbol->storage == OFL_STORAGE_DUMMY || symbol->storage == OFL_STORAGE_LOCAL ||
            symbol->storage == OFL_STORAGE_MODULE) &&
           symbol->scope->kind == OFL_SCOPE_UNIT;
}

struct ofl_call *ofl_call_named(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name,
                                struct ofl_symbol *symbol, const struct ofl_actuals *actuals, bool function,
                                const struct ofl_meaning **why)
{
    const struct ofl_ident ident = {name, actuals->place};
    if (symbol == NULL) {
        const struct ofl_intrinsic *intrinsic = ofl_intrinsic_here(scope, name);
        if (intrinsic != NULL && ofl_intrinsic_is_function(intrinsic) == function) {
            return ofl_call_intrinsic(modules, intrinsic, actuals, why);
        }
        symbol = undeclared(modules, scope, &ident, function, why);
        if (symbol == NULL) {
            return NULL;
        }
    }
    if (symbol->class == OFL_SYMBOL_GENERIC || symbol->generic != NULL) {
        return call_generic(modules, scope, name, symbol, actuals, why);
    }
    if (may_be_procedure(symbol)) {
        symbol->class = function ? OFL_SYMBOL_FUNCTION : OFL_SYMBOL_SUBROUTINE;
    }
    if (OFL_HAS(symbol, INTRINSIC) && symbol->unit == NULL) {
        const struct ofl_intrinsic *intrinsic = ofl_intrinsic_find(symbol->name->text);
        if (intrinsic == NULL) {
            *why = ofl_unknown_yet(modules, actuals->place, "the intrinsic procedure '%s'", name->text);
            return NULL;
        }
        return ofl_call_intrinsic(modules, intrinsic, actuals, why);
    }
    const struct ofl_procedure *procedure = ofl_procedure_of(modules, symbol);
    if (procedure == NULL || symbol->class == OFL_SYMBOL_VARIABLE) {
        struct ofl_meaning *meaning = ofl_unknown(modules, actuals->place, "'%s' is not a procedure", name->text);
        meaning->other = symbol->declared;
        *why = meaning;
        return NULL;
    }
    return ofl_associate(modules, procedure, actuals, false, why);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

const struct ofl_meaning *ofl_meaning_result(struct ofl_modules *modules, enum ofl_meaning_kind kind,
                                             const struct ofl_call *call, struct ofl_scope *scope,
                                             struct ofl_span place)
{
    const struct ofl_procedure *procedure = call->procedure;
    if (procedure->kind == OFL_PROCEDURE_INTRINSIC) {
        return ofl_meaning_intrinsic(modules, call, scope, place);
    }
    if (!procedure->function) {
        return ofl_unknown(modules, place, "%s is no function", ofl_procedure_text(modules, procedure));
    }
    struct ofl_symbol *result = procedure->result != NULL ? procedure->result : procedure->symbol;
    struct ofl_meaning *meaning = ofl_meaning_new(modules, kind);
    const struct ofl_meaning *why = NULL;
    meaning->call = call;
    if (result == NULL || !ofl_symbol_type(modules, result, &meaning->type, &why)) {
        return why != NULL
                   ? why
                   : ofl_unknown(modules, place, "the type of %s is not known", ofl_procedure_text(modules, procedure));
    }
    meaning->rank = call->elemental ? call->rank : result->rank;
    meaning->pointer = OFL_HAS(result, POINTER);
    meaning->allocatable = OFL_HAS(result, ALLOCATABLE);
    meaning->definable = meaning->pointer; /* F2018 9.2: a pointer-valued function reference is a variable */
    return meaning;
}

/* ---- base(args) ------------------------------------------------------------------------------------------------- */

static bool is_data(const struct ofl_symbol *symbol)
{
    return symbol->class == OFL_SYMBOL_VARIABLE || symbol->class == OFL_SYMBOL_CONSTANT ||
           symbol->class == OFL_SYMBOL_ASSOCIATE || symbol->class == OFL_SYMBOL_INDEX;
}

/* Whether base(args) takes a part of the variable rather than calling a function of its name. */
static bool is_part(const struct ofl_symbol *symbol, const struct ofl_arg *args)
{
    if (!is_data(symbol)) {
        return false;
    }
    bool one_range = args != NULL && args->next == NULL && args->value != NULL && args->value->kind == OFL_EXPR_RANGE;
    return symbol->class != OFL_SYMBOL_VARIABLE || symbol->rank > 0 || one_range || !may_be_procedure(symbol);
}

static const struct ofl_meaning *named(struct ofl_modules *modules, struct ofl_scope *scope,
                                       const struct ofl_expr *expr, const struct ofl_actuals *actuals)
{
    const struct ofl_expr *base = expr->as.call.base;
    const struct ofl_name *name = base->as.name.name;
    struct ofl_symbol *symbol = ofl_symbol_here(modules, scope, name);
    const struct ofl_meaning *why = NULL;
    if (symbol != NULL && symbol->storage == OFL_STORAGE_RESULT && symbol->rank == 0 && is_data(symbol) &&
        symbol->type.kind_of != OFL_TYPE_CHARACTER) {
        return ofl_unknown(modules, expr->span,
                           "'%s' is the result of the function here: give it another name with result() to call the "
                           "function itself",
                           name->text);
    }
    if (symbol != NULL && is_part(symbol, expr->as.call.args)) {
        const struct ofl_meaning *meaning = ofl_meaning_of(modules, scope, base);
        return meaning->kind == OFL_MEANS_UNKNOWN ? meaning : ofl_meaning_subscripted(modules, scope, expr, meaning);
    }
    if (symbol != NULL && (symbol->class == OFL_SYMBOL_TYPE || symbol->class == OFL_SYMBOL_GENERIC)) {
        bool found = false;
        struct ofl_symbol *type = ofl_type_find(scope, name);
        if (type != NULL) { /* a generic of the type's name goes first; F2018 7.5.10 */
            struct ofl_call *call = named_generic(modules, scope, name, symbol, actuals, &found, &why);
            return call != NULL           ? ofl_meaning_result(modules, OFL_MEANS_FUNCTION, call, scope, expr->span)
                   : found && why != NULL ? why
                                          : ofl_meaning_structure(modules, scope, expr, type);
        }
    }
    struct ofl_call *call = ofl_call_named(modules, scope, name, symbol, actuals, true, &why);
    return call != NULL ? ofl_meaning_result(modules, OFL_MEANS_FUNCTION, call, scope, expr->span) : why;
}

const struct ofl_meaning *ofl_meaning_call(struct ofl_modules *modules, struct ofl_scope *scope,
                                           const struct ofl_expr *expr)
{
    const struct ofl_expr *base = expr->as.call.base;
    const struct ofl_actuals actuals = {.scope = scope, .list = expr->as.call.args, .place = expr->span};
    if (base->kind == OFL_EXPR_NAME) {
        return named(modules, scope, expr, &actuals);
    }
    const struct ofl_meaning *meaning = ofl_meaning_of(modules, scope, base);
    if (meaning->kind == OFL_MEANS_UNKNOWN) {
        return meaning;
    }
    if (meaning->kind == OFL_MEANS_PROCEDURE && base->kind == OFL_EXPR_COMPONENT) {
        const struct ofl_meaning *why = NULL;
        struct ofl_call *call = ofl_call_component(modules, scope, base, &actuals, &why);
        return call != NULL ? ofl_meaning_result(modules, OFL_MEANS_FUNCTION, call, scope, expr->span) : why;
    }
    if (meaning->kind >= OFL_MEANS_PROCEDURE && meaning->kind != OFL_MEANS_ARRAYS) {
        return ofl_unknown(modules, expr->span, "what stands before the parentheses has no value");
    }
    return ofl_meaning_subscripted(modules, scope, expr, meaning);
}
