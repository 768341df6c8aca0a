/* Which actual argument goes to which dummy, and whether it may.  F2018 15.5.2.
 *
 * Entry point: ofl_associate.  It serves plain references, where what does not fit is an error that says so, and the
 * choice among the specific procedures of a generic, where it only means "not this one". */
#include "fortran/meaning_private.h"

#include <stdarg.h>
#include <stdio.h>

struct matching {
    struct ofl_modules *modules;
    const struct ofl_procedure *procedure;
    const struct ofl_actuals *actuals;
    bool generic;
    const struct ofl_meaning **why;
    struct ofl_call *call;
    unsigned rank; /* of an elemental reference */
};

#define OFL_PRINTF_MATCH __attribute__((format(printf, 3, 4)))
static bool refuse(struct matching *matching, struct ofl_span place, const char *format, ...) OFL_PRINTF_MATCH;

static bool refuse(struct matching *matching, struct ofl_span place, const char *format, ...)
{
    if (!matching->generic) {
        char text[400];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        struct ofl_meaning *meaning = ofl_unknown(matching->modules, place, "%s", text);
        if (matching->procedure->interface != NULL) {
            meaning->other = matching->procedure->interface->span;
        }
        *matching->why = meaning;
    }
    return false;
}

static const char *who(struct matching *matching)
{
    return ofl_procedure_text(matching->modules, matching->procedure);
}

/* ---- Positions -------------------------------------------------------------------------------------------------- */

static bool position_of(struct matching *matching, const struct ofl_arg *arg, unsigned *position)
{
    const struct ofl_procedure *procedure = matching->procedure;
    for (*position = 0; *position < procedure->dummy_count; (*position)++) {
        if (procedure->dummies[*position].name == arg->keyword.name) {
            return true;
        }
    }
    return refuse(matching, arg->keyword.span, "%s has no argument named '%s'", who(matching), arg->keyword.name->text);
}

static bool place_args(struct matching *matching)
{
    const struct ofl_procedure *procedure = matching->procedure;
    const struct ofl_actuals *actuals = matching->actuals;
    const struct ofl_expr **args = matching->call->args;
    unsigned next = 0;
    if (actuals->passed != NULL) {
        if (actuals->passed_at >= procedure->dummy_count) {
            return refuse(matching, actuals->place, "%s has no argument for the object it is called on", who(matching));
        }
        args[actuals->passed_at] = actuals->passed;
    }
    for (const struct ofl_arg *arg = actuals->list; arg != NULL; arg = arg->next) {
        unsigned position = next;
        if (arg->value == NULL) {
            return refuse(matching, arg->span, "an argument is missing here");
        }
        if (arg->keyword.name != NULL) {
            if (!position_of(matching, arg, &position)) {
                return false;
            }
        } else {
            if (actuals->passed != NULL && position == actuals->passed_at) {
                position++;
            }
            next = position + 1;
        }
        if (position >= procedure->dummy_count) {
            return refuse(matching, arg->span, "%s takes no more than %u argument%s", who(matching),
                          procedure->dummy_count, procedure->dummy_count == 1 ? "" : "s");
        }
        if (args[position] != NULL) {
            return refuse(matching, arg->span, "argument '%s' of %s is given twice",
                          procedure->dummies[position].name->text, who(matching));
        }
        args[position] = arg->value;
    }
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        if (args[i] == NULL && !procedure->dummies[i].optional) {
            return refuse(matching, actuals->place, "argument '%s' of %s is missing", procedure->dummies[i].name->text,
                          who(matching));
        }
    }
    return true;
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

/* F2018 15.5.2.4: the dummy's declared type is the actual's, or for a polymorphic dummy one that it extends. */
static bool type_fits(struct ofl_value_type dummy, const struct ofl_meaning *actual)
{
    struct ofl_value_type type = actual->type;
    if (dummy.base == OFL_TYPE_CLASS_STAR || dummy.base == OFL_TYPE_ASSUMED) {
        return actual->kind != OFL_MEANS_TYPELESS;
    }
    if (actual->kind == OFL_MEANS_TYPELESS) {
        return actual->value != NULL ? dummy.base == OFL_TYPE_INTEGER || dummy.base == OFL_TYPE_REAL : true;
    }
    bool derived = type.base == OFL_TYPE_DERIVED || type.base == OFL_TYPE_CLASS;
    if (dummy.base == OFL_TYPE_CLASS) {
        return derived && ofl_type_extends(type.derived, dummy.derived);
    }
    if (type.base == OFL_TYPE_CLASS) {
        type.base = OFL_TYPE_DERIVED;
    }
    return ofl_type_same(dummy, type);
}

/* Whether an actual argument begins a sequence of elements: an element of an array that is not a pointer, not
 * assumed-shape and not polymorphic, or default characters.  F2018 15.5.2.4 (13), 15.5.2.11. */
static bool is_sequence(const struct ofl_meaning *actual)
{
    return actual->kind == OFL_MEANS_ELEMENT || (actual->type.base == OFL_TYPE_CHARACTER && actual->rank == 0);
}

static bool takes_sequence(const struct ofl_symbol *dummy)
{
    const struct ofl_bound *last = dummy->bounds;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    return last != NULL && (last->form == OFL_BOUND_EXPLICIT || last->form == OFL_BOUND_STAR) &&
           dummy->bounds->form != OFL_BOUND_SHAPE;
}

static bool rank_fits(struct matching *matching, const struct ofl_dummy *dummy, const struct ofl_meaning *actual)
{
    const struct ofl_symbol *symbol = dummy->symbol;
    unsigned rank = actual->rank;
    if (symbol->rank == OFL_ASSUMED_RANK || rank == OFL_ASSUMED_RANK) {
        return symbol->rank == OFL_ASSUMED_RANK || OFL_HAS(symbol, POINTER);
    }
    if (symbol->rank == rank || actual->kind == OFL_MEANS_TYPELESS) {
        return true;
    }
    if (symbol->rank == 0) {
        if (!matching->procedure->is_elemental) {
            return false;
        }
        if (matching->rank != 0 && matching->rank != rank) {
            return false;
        }
        matching->rank = rank;
        return true;
    }
    return !matching->generic && takes_sequence(symbol) && (rank > 0 || is_sequence(actual));
}

static bool procedure_fits(struct matching *matching, const struct ofl_expr *expr, const struct ofl_dummy *dummy,
                           const struct ofl_meaning *actual)
{
    if (actual->kind == OFL_MEANS_PROCEDURE || actual->kind == OFL_MEANS_TYPELESS) {
        const struct ofl_procedure *wanted = ofl_procedure_of(matching->modules, dummy->symbol);
        if (wanted == NULL || !wanted->has_interface || actual->procedure == NULL ||
            wanted->function == actual->procedure->function) {
            return true;
        }
    } else if (actual->kind == OFL_MEANS_FUNCTION && actual->call->procedure->result != NULL &&
               OFL_HAS(actual->call->procedure->result, POINTER)) {
        return true;
    }
    return refuse(matching, expr->span, "argument '%s' of %s is a procedure, and this is none that fits",
                  dummy->name->text, who(matching));
}

/* A name that gfortran takes for an intrinsic function where a procedure is wanted, and for a variable elsewhere. */
static bool is_undeclared_intrinsic(struct matching *matching, const struct ofl_expr *expr)
{
    struct ofl_scope *scope = matching->actuals->scope;
    return expr->kind == OFL_EXPR_NAME && ofl_symbol_here(matching->modules, scope, expr->as.name.name) == NULL &&
           ofl_intrinsic_here(scope, expr->as.name.name) != NULL;
}

static bool argument_fits(struct matching *matching, const struct ofl_dummy *dummy, const struct ofl_expr *expr)
{
    struct ofl_value_type type;
    const struct ofl_meaning *why = NULL;
    if (dummy->alternate || expr->kind == OFL_EXPR_LABEL) {
        return (dummy->alternate && expr->kind == OFL_EXPR_LABEL) ||
               refuse(matching, expr->span, "an alternate return does not fit here");
    }
    if (dummy->procedure && is_undeclared_intrinsic(matching, expr)) {
        *matching->why = ofl_unknown(matching->modules, expr->span,
                                     "'%s' is not declared: `intrinsic %s` makes it the intrinsic function",
                                     expr->as.name.name->text, expr->as.name.name->text);
        return false;
    }
    const struct ofl_meaning *actual = ofl_meaning_of(matching->modules, matching->actuals->scope, expr);
    if (actual->kind == OFL_MEANS_UNKNOWN) {
        *matching->why = actual;
        return false;
    }
    if (dummy->symbol == NULL) {
        return true;
    }
    if (dummy->procedure) {
        return procedure_fits(matching, expr, dummy, actual);
    }
    if (actual->kind >= OFL_MEANS_PROCEDURE) {
        return refuse(matching, expr->span, "argument '%s' of %s needs a value", dummy->name->text, who(matching));
    }
    if (!ofl_symbol_type(matching->modules, dummy->symbol, &type, &why)) {
        *matching->why = why;
        return false;
    }
    if (!type_fits(type, actual)) {
        return refuse(matching, expr->span, "argument '%s' of %s is of type %s, and this is %s", dummy->name->text,
                      who(matching), ofl_type_text(matching->modules, type),
                      ofl_type_text(matching->modules, actual->type));
    }
    if (!rank_fits(matching, dummy, actual)) {
        return refuse(matching, expr->span, "argument '%s' of %s has rank %u, and this has rank %u", dummy->name->text,
                      who(matching), dummy->symbol->rank, actual->rank);
    }
    bool pointer = OFL_HAS(dummy->symbol, POINTER), allocatable = OFL_HAS(dummy->symbol, ALLOCATABLE);
    if (matching->generic && actual->kind != OFL_MEANS_TYPELESS) {
        /* F2018 15.4.3.4.5: an allocatable dummy takes allocatable actuals only, a pointer without intent(in) pointers
         */
        return (!allocatable || actual->allocatable) && (!pointer || actual->pointer || dummy->intent == OFL_INTENT_IN);
    }
    return true;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* Without an explicit interface: the arguments as they are. */
static struct ofl_call *implicit_interface(struct matching *matching)
{
    const struct ofl_arg *arg = matching->actuals->list;
    struct ofl_call *call = matching->call;
    for (; arg != NULL; arg = arg->next) {
        call->arg_count++;
    }
    call->args = ofl_arena_alloc(matching->modules->arena, (call->arg_count + 1) * sizeof(void *));
    unsigned count = 0;
    for (arg = matching->actuals->list; arg != NULL; arg = arg->next) {
        if (arg->keyword.name != NULL || arg->value == NULL) {
            refuse(matching, arg->span, "%s has no explicit interface, so its arguments have no names", who(matching));
            return NULL;
        }
        if (is_undeclared_intrinsic(matching, arg->value)) {
            refuse(matching, arg->span, "'%s' is not declared, so it may be a variable or the intrinsic function",
                   arg->value->as.name.name->text);
            return NULL;
        }
        const struct ofl_meaning *actual = arg->value->kind != OFL_EXPR_LABEL
                                               ? ofl_meaning_of(matching->modules, matching->actuals->scope, arg->value)
                                               : NULL;
        if (actual != NULL && actual->kind == OFL_MEANS_UNKNOWN) {
            *matching->why = actual;
            return NULL;
        }
        call->args[count++] = arg->value;
    }
    return call;
}

struct ofl_call *ofl_associate(struct ofl_modules *modules, const struct ofl_procedure *procedure,
                               const struct ofl_actuals *actuals, bool generic, const struct ofl_meaning **why)
{
    struct matching matching = {modules, procedure, actuals, generic, why, OFL_NEW(modules->arena, struct ofl_call), 0};
    matching.call->procedure = procedure;
    matching.call->passed = actuals->passed;
    if (!procedure->has_interface) {
        return implicit_interface(&matching);
    }
    matching.call->arg_count = procedure->dummy_count;
    matching.call->args = ofl_arena_alloc(modules->arena, (procedure->dummy_count + 1) * sizeof(void *));
    if (!place_args(&matching)) {
        return NULL;
    }
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        if (matching.call->args[i] != NULL &&
            !argument_fits(&matching, &procedure->dummies[i], matching.call->args[i])) {
            return NULL;
        }
    }
    matching.call->elemental = matching.rank > 0;
    matching.call->rank = matching.rank;
    return matching.call;
}
