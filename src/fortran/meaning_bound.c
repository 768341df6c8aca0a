/* Type-bound procedures and procedure pointer components: base%name(args).  F2018 7.5.5, 15.5.6.
 *
 * The binding is that of the base's declared type; where the base is polymorphic and the binding may be overridden, the
 * call is `dynamic`. */
#include "fortran/meaning_private.h"

#include <string.h>

/* What the statement `procedure(interface), deferred :: name` promises. */
static const struct ofl_procedure *deferred(struct ofl_modules *modules, struct ofl_symbol *binding)
{
    const struct ofl_name *name = binding->procedure_stmt->as.procedure.interface.name;
    struct ofl_scope *scope = binding->scope->parent;
    struct ofl_symbol *interface = name != NULL && scope != NULL ? ofl_scope_find(scope, name) : NULL;
    const struct ofl_procedure *promised = interface != NULL ? ofl_procedure_of(modules, interface) : NULL;
    if (promised == NULL) {
        return NULL;
    }
    struct ofl_procedure *procedure = OFL_NEW(modules->arena, struct ofl_procedure);
    *procedure = *promised;
    procedure->kind = OFL_PROCEDURE_DEFERRED;
    procedure->name = binding->name;
    procedure->symbol = binding;
    procedure->body = NULL;
    return procedure;
}

const struct ofl_procedure *ofl_binding_procedure(struct ofl_modules *modules, struct ofl_symbol *binding)
{
    if (binding->procedure != NULL || binding->busy || binding->procedure_stmt == NULL) {
        return binding->procedure;
    }
    binding->busy = true;
    if (OFL_HAS(binding, DEFERRED)) {
        binding->procedure = deferred(modules, binding);
    } else {
        const struct ofl_expr *value = binding->value;
        const struct ofl_name *name =
            value != NULL && value->kind == OFL_EXPR_NAME ? value->as.name.name : binding->name;
        struct ofl_symbol *symbol =
            binding->scope->parent != NULL ? ofl_scope_find(binding->scope->parent, name) : NULL;
        if (symbol != NULL && symbol->unit != NULL) {
            binding->procedure = ofl_procedure_of_unit(modules, symbol->unit);
        } else if (symbol != NULL && symbol->class != OFL_SYMBOL_GENERIC) {
            binding->procedure = ofl_procedure_of(modules, symbol);
        }
    }
    binding->busy = false;
    return binding->procedure;
}

bool ofl_passed_at(const struct ofl_symbol *binding, const struct ofl_procedure *procedure, unsigned *position)
{
    *position = 0;
    if (OFL_HAS(binding, NOPASS)) {
        return false;
    }
    const struct ofl_attr *attr = binding->procedure_stmt != NULL ? binding->procedure_stmt->as.procedure.attrs : NULL;
    for (; attr != NULL; attr = attr->next) {
        if (attr->kind != OFL_ATTR_PASS || attr->name.name == NULL) {
            continue;
        }
        for (unsigned i = 0; i < procedure->dummy_count; i++) {
            if (procedure->dummies[i].name == attr->name.name) {
                *position = i;
            }
        }
    }
    return true;
}

/* The text of the actual arguments' types, for messages: "real(8), integer(4)". */
const char *ofl_actuals_text(struct ofl_modules *modules, const struct ofl_actuals *actuals)
{
    const char *text = "";
    unsigned count = 0;
    for (const struct ofl_arg *arg = actuals->list; arg != NULL; arg = arg->next, count++) {
        if (count == 8) {
            return ofl_arena_format(modules->arena, "%s, ...", text);
        }
        const char *one = "?";
        if (arg->value != NULL && arg->value->kind != OFL_EXPR_LABEL) {
            const struct ofl_meaning *meaning = ofl_meaning_of(modules, actuals->scope, arg->value);
            one = meaning->kind == OFL_MEANS_PROCEDURE  ? "a procedure"
                  : meaning->kind == OFL_MEANS_TYPELESS ? "a typeless constant"
                  : meaning->kind > OFL_MEANS_PROCEDURE ? "?"
                                                        : ofl_type_text(modules, meaning->type);
            if (meaning->kind < OFL_MEANS_PROCEDURE && meaning->rank > 0 && meaning->rank <= OFL_MAX_RANK) {
                one = ofl_arena_format(modules->arena, "%s of rank %u", one, meaning->rank);
            }
        }
        text = ofl_arena_format(modules->arena, "%s%s%s", text, count > 0 ? ", " : "", one);
    }
    return text;
}

static struct ofl_call *bound_generic(struct ofl_modules *modules, const struct ofl_expr *base,
                                      const struct ofl_meaning *object, struct ofl_symbol *generic,
                                      const struct ofl_actuals *actuals, const struct ofl_meaning **why)
{
    const struct ofl_generic_key key = {.kind = OFL_GENERIC_NAME, .name = generic->name};
    struct ofl_specifics specifics = {0};
    struct ofl_actuals passed = *actuals;
    passed.passed = base->as.component.base;
    ofl_gather_bound(modules, object->type.derived, &key, &specifics);
    struct ofl_call *call = ofl_choose(modules, &specifics, &passed, why);
    if (call == NULL && *why == NULL) {
        struct ofl_meaning *meaning =
            ofl_unknown(modules, actuals->place, "no procedure of the type-bound generic '%s' takes (%s)",
                        generic->name->text, ofl_actuals_text(modules, actuals));
        meaning->other = generic->declared;
        *why = meaning;
    }
    if (call != NULL) {
        call->generic = generic;
    }
    return call;
}

struct ofl_call *ofl_call_component(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *base,
                                    const struct ofl_actuals *actuals, const struct ofl_meaning **why)
{
    const struct ofl_meaning *designator = ofl_meaning_of(modules, scope, base);
    if (designator->kind != OFL_MEANS_PROCEDURE || designator->symbol == NULL) {
        *why = designator->kind == OFL_MEANS_UNKNOWN
                   ? designator
                   : ofl_unknown(modules, base->span, "'%s' is not a procedure", base->as.component.name.name->text);
        return NULL;
    }
    const struct ofl_meaning *object = ofl_meaning_of(modules, scope, base->as.component.base);
    struct ofl_symbol *symbol = designator->symbol;
    struct ofl_call *call = NULL;
    bool bound = symbol->procedure_stmt == NULL || symbol->procedure_stmt->kind == OFL_STMT_TYPE_BOUND_PROCEDURE;
    if (symbol->class == OFL_SYMBOL_GENERIC) {
        call = bound_generic(modules, base, object, symbol, actuals, why);
    } else {
        struct ofl_actuals passed = *actuals;
        if (ofl_passed_at(symbol, designator->procedure, &passed.passed_at)) {
            passed.passed = base->as.component.base;
        }
        call = ofl_associate(modules, designator->procedure, &passed, false, why);
        if (call != NULL && bound) {
            call->binding = symbol;
        }
    }
    if (call != NULL) {
        call->target = bound ? NULL : base;
        call->dynamic = bound && object->type.base == OFL_TYPE_CLASS && call->binding != NULL &&
                        !OFL_HAS(call->binding, NON_OVERRIDABLE);
    }
    return call;
}
