/* Procedures: one struct ofl_procedure for each, from its body, its interface body, or what declares it.
 *
 * A procedure is remembered at its unit (body and interface body of one procedure share it) or at its symbol.  Names
 * for arguments come from the explicit interface; the dummies' symbols are the body's where it is at hand, so that what
 * the body does with them can be followed. */
#include "fortran/meaning_private.h"

#include <string.h>

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static const struct ofl_attr *find_attr(const struct ofl_attr *attrs, enum ofl_attr_kind kind)
{
    while (attrs != NULL && attrs->kind != kind) {
        attrs = attrs->next;
    }
    return attrs;
}

/* The name that bind(c) gives; NULL without. */
static const char *binding_of(struct ofl_modules *modules, const struct ofl_attr *bind, const struct ofl_name *name)
{
    size_t length;
    for (const struct ofl_arg *arg = bind != NULL ? bind->args : NULL; arg != NULL; arg = arg->next) {
        if (arg->keyword.name != NULL && arg->value != NULL && arg->value->kind == OFL_EXPR_CHARACTER) {
            return ofl_literal_text(modules->arena, arg->value, modules->backslash, &length);
        }
    }
    return bind != NULL ? name->text : NULL;
}

static void set_prefixes(struct ofl_modules *modules, struct ofl_procedure *procedure, const struct ofl_unit *unit)
{
    procedure->binding = binding_of(modules, find_attr(unit->attrs, OFL_ATTR_BIND), procedure->name);
    procedure->is_impure = find_attr(unit->attrs, OFL_ATTR_IMPURE) != NULL;
    procedure->is_elemental = find_attr(unit->attrs, OFL_ATTR_ELEMENTAL) != NULL;
    procedure->is_pure =
        !procedure->is_impure && (find_attr(unit->attrs, OFL_ATTR_PURE) != NULL || procedure->is_elemental);
    procedure->is_recursive = find_attr(unit->attrs, OFL_ATTR_RECURSIVE) != NULL;
}

static bool is_procedure_symbol(const struct ofl_symbol *symbol)
{
    return symbol->class == OFL_SYMBOL_FUNCTION || symbol->class == OFL_SYMBOL_SUBROUTINE ||
           symbol->class == OFL_SYMBOL_PROCEDURE;
}

static struct ofl_dummy dummy_of(const struct ofl_ident *ident, struct ofl_symbol *symbol)
{
    struct ofl_dummy dummy = {.name = ident->name, .symbol = symbol, .alternate = ident->name->text[0] == '*'};
    if (symbol != NULL) {
        dummy.intent = OFL_HAS(symbol, INTENT_IN)      ? OFL_INTENT_IN
                       : OFL_HAS(symbol, INTENT_OUT)   ? OFL_INTENT_OUT
                       : OFL_HAS(symbol, INTENT_INOUT) ? OFL_INTENT_INOUT
                                                       : OFL_INTENT_NONE;
        dummy.optional = OFL_HAS(symbol, OPTIONAL);
        dummy.value = OFL_HAS(symbol, VALUE);
        dummy.procedure = is_procedure_symbol(symbol);
    }
    return dummy;
}

static void set_dummies(struct ofl_modules *modules, struct ofl_procedure *procedure, const struct ofl_unit *unit)
{
    for (const struct ofl_ident_list *arg = unit->args; arg != NULL; arg = arg->next) {
        procedure->dummy_count++;
    }
    procedure->dummies = ofl_arena_alloc(modules->arena, (procedure->dummy_count + 1) * sizeof *procedure->dummies);
    unsigned count = 0;
    for (const struct ofl_ident_list *arg = unit->args; arg != NULL; arg = arg->next) {
        struct ofl_symbol *symbol =
            arg->ident.name->text[0] != '*' && unit->scope != NULL ? ofl_scope_own(unit->scope, arg->ident.name) : NULL;
        procedure->dummies[count++] = dummy_of(&arg->ident, symbol);
    }
}

/* ---- From units ------------------------------------------------------------------------------------------------- */

/* The symbol of a procedure in the scope around its unit. */
static struct ofl_symbol *declared_symbol(struct ofl_modules *modules, const struct ofl_unit *unit)
{
    struct ofl_scope *host = unit->parent != NULL ? unit->parent->scope : modules->global;
    struct ofl_symbol *symbol = host != NULL ? ofl_scope_own(host, unit->name.name) : NULL;
    return symbol != NULL && (symbol->unit == unit || symbol->interface == unit) ? symbol : NULL;
}

/* The body of an external procedure: of the same name or, for one with a binding, of the same binding. */
static const struct ofl_unit *external_body(struct ofl_modules *modules, const struct ofl_name *name,
                                            const char *binding)
{
    if (modules->global == NULL) {
        return NULL;
    }
    const struct ofl_symbol *symbol = binding == NULL ? ofl_scope_own(modules->global, name) : modules->global->first;
    for (; symbol != NULL; symbol = binding != NULL ? symbol->next : NULL) {
        const struct ofl_attr *bind = find_attr(symbol->unit->attrs, OFL_ATTR_BIND);
        const char *other = binding_of(modules, bind, symbol->name);
        if ((binding == NULL) == (other == NULL) && (binding == NULL || strcmp(binding, other) == 0)) {
            return symbol->unit;
        }
    }
    return NULL;
}

/* An explicit interface names the arguments; the body has their symbols. */
static void take_symbols(struct ofl_procedure *procedure, const struct ofl_unit *body)
{
    unsigned count = 0;
    for (const struct ofl_ident_list *arg = body->args; arg != NULL && count < procedure->dummy_count;
         arg = arg->next, count++) {
        struct ofl_symbol *symbol = body->scope != NULL ? ofl_scope_own(body->scope, arg->ident.name) : NULL;
        if (symbol != NULL && procedure->dummies[count].symbol != NULL) {
            procedure->dummies[count].symbol = symbol;
        }
    }
    struct ofl_symbol *result = ofl_result_of(body);
    procedure->result = result != NULL ? result : procedure->result;
}

static void from_interface_body(struct ofl_modules *modules, struct ofl_procedure *procedure,
                                const struct ofl_unit *unit)
{
    if (find_attr(unit->attrs, OFL_ATTR_MODULE) != NULL) {
        procedure->kind = OFL_PROCEDURE_MODULE;
        procedure->body = unit->separate;
    } else {
        bool dummy = procedure->symbol != NULL && procedure->symbol->storage == OFL_STORAGE_DUMMY;
        procedure->kind = OFL_PROCEDURE_EXTERNAL;
        const char *binding = binding_of(modules, find_attr(unit->attrs, OFL_ATTR_BIND), unit->name.name);
        procedure->body = dummy ? NULL : external_body(modules, unit->name.name, binding);
    }
    if (procedure->body != NULL && procedure->body->kind != OFL_UNIT_MODULE_PROCEDURE) {
        take_symbols(procedure, procedure->body);
    }
}

const struct ofl_procedure *ofl_procedure_of_unit(struct ofl_modules *modules, const struct ofl_unit *unit)
{
    bool separate = !unit->interface_body && unit->separate != NULL && unit->separate->interface_body;
    const struct ofl_unit *interface = separate ? unit->separate : unit;
    if (unit->procedure != NULL) {
        return unit->procedure;
    }
    if ((interface->kind != OFL_UNIT_FUNCTION && interface->kind != OFL_UNIT_SUBROUTINE) ||
        interface->name.name == NULL) {
        return NULL;
    }
    if (separate && interface->procedure != NULL) {
        return interface->procedure;
    }
    struct ofl_procedure *procedure = OFL_NEW(modules->arena, struct ofl_procedure);
    ((struct ofl_unit *)unit)->procedure = procedure; /* what is remembered */
    ((struct ofl_unit *)interface)->procedure = procedure;
    procedure->name = interface->name.name;
    procedure->symbol = declared_symbol(modules, interface);
    procedure->interface = interface;
    procedure->function = interface->kind == OFL_UNIT_FUNCTION;
    procedure->result = ofl_result_of(interface);
    set_prefixes(modules, procedure, interface);
    set_dummies(modules, procedure, interface);
    procedure->has_interface = true;
    if (interface->interface_body) {
        from_interface_body(modules, procedure, interface);
        return procedure;
    }
    procedure->body = unit;
    if (unit->parent == NULL) {
        procedure->kind = OFL_PROCEDURE_EXTERNAL;
        procedure->has_interface = false;
    } else {
        bool module = unit->parent->kind == OFL_UNIT_MODULE || unit->parent->kind == OFL_UNIT_SUBMODULE;
        procedure->kind = module ? OFL_PROCEDURE_MODULE : OFL_PROCEDURE_INTERNAL;
    }
    return procedure;
}

/* ---- From symbols ----------------------------------------------------------------------------------------------- */

/* F2018 15.6.4: dummies have the types of the variables with their names in the scope. */
static void statement_function(struct ofl_modules *modules, struct ofl_procedure *procedure,
                               const struct ofl_symbol *symbol)
{
    const struct ofl_expr *target = symbol->definition->as.assign.target;
    procedure->kind = OFL_PROCEDURE_STATEMENT;
    procedure->function = true;
    procedure->has_interface = true;
    for (const struct ofl_arg *arg = target->as.call.args; arg != NULL; arg = arg->next) {
        procedure->dummy_count++;
    }
    procedure->dummies = ofl_arena_alloc(modules->arena, (procedure->dummy_count + 1) * sizeof *procedure->dummies);
    unsigned count = 0;
    for (const struct ofl_arg *arg = target->as.call.args; arg != NULL; arg = arg->next) {
        const struct ofl_ident ident = {arg->value->as.name.name, arg->value->span};
        struct ofl_dummy *dummy = &procedure->dummies[count++];
        *dummy = dummy_of(&ident, ofl_scope_find_or_implicit(modules, symbol->scope, &ident));
        dummy->intent = OFL_INTENT_IN;
        dummy->optional = false;
    }
}

/* The procedure whose interface procedure(name) takes over; NULL if there is none. */
static const struct ofl_procedure *named_interface(struct ofl_modules *modules, const struct ofl_symbol *symbol)
{
    const struct ofl_stmt *stmt = symbol->procedure_stmt;
    if (stmt == NULL || stmt->as.procedure.interface.name == NULL) {
        return NULL;
    }
    struct ofl_symbol *interface = ofl_scope_find(symbol->scope, stmt->as.procedure.interface.name);
    if (interface == symbol) { /* a component of the same name */
        interface = symbol->scope->parent != NULL
                        ? ofl_scope_find(symbol->scope->parent, stmt->as.procedure.interface.name)
                        : NULL;
    }
    if (interface == NULL || interface == symbol) {
        const struct ofl_intrinsic *intrinsic = ofl_intrinsic_find(stmt->as.procedure.interface.name->text);
        return intrinsic != NULL ? ofl_procedure_of_intrinsic(modules, intrinsic) : NULL;
    }
    return ofl_procedure_of(modules, interface);
}

/* A procedure that is declared but has no body here: external, a dummy or a pointer. */
static void declared(struct ofl_modules *modules, struct ofl_procedure *procedure, struct ofl_symbol *symbol)
{
    const struct ofl_procedure *interface = NULL;
    if (symbol->interface != NULL) {
        interface = ofl_procedure_of_unit(modules, symbol->interface);
    } else {
        interface = named_interface(modules, symbol);
    }
    if (interface != NULL) {
        const struct ofl_name *name = procedure->name;
        *procedure = *interface;
        procedure->name = name;
        procedure->symbol = symbol;
        procedure->body = NULL;
    } else {
        procedure->function = symbol->class == OFL_SYMBOL_FUNCTION || symbol->typed;
    }
    bool component = symbol->scope->kind == OFL_SCOPE_TYPE;
    procedure->kind = OFL_HAS(symbol, POINTER) || component  ? OFL_PROCEDURE_POINTER
                      : symbol->storage == OFL_STORAGE_DUMMY ? OFL_PROCEDURE_DUMMY
                                                             : OFL_PROCEDURE_EXTERNAL;
    if (procedure->kind == OFL_PROCEDURE_EXTERNAL) {
        const char *binding = interface != NULL ? interface->binding : NULL;
        procedure->body = external_body(modules, procedure->name, binding);
        if (procedure->body != NULL) {
            take_symbols(procedure, procedure->body);
        }
    }
}

const struct ofl_procedure *ofl_procedure_of(struct ofl_modules *modules, struct ofl_symbol *symbol)
{
    if (symbol->procedure != NULL || symbol->busy) {
        return symbol->procedure;
    }
    const struct ofl_intrinsic *intrinsic =
        OFL_HAS(symbol, INTRINSIC) && symbol->unit == NULL ? ofl_intrinsic_find(symbol->name->text) : NULL;
    bool statement = symbol->definition != NULL && symbol->definition->kind == OFL_STMT_STATEMENT_FUNCTION;
    if (intrinsic != NULL) {
        symbol->procedure = ofl_procedure_of_intrinsic(modules, intrinsic);
        return symbol->procedure;
    }
    if (!is_procedure_symbol(symbol) && symbol->class != OFL_SYMBOL_VARIABLE && symbol->unit == NULL) {
        return NULL;
    }
    bool own = symbol->unit != NULL && symbol->storage != OFL_STORAGE_DUMMY && !OFL_HAS(symbol, POINTER);
    if (own) {
        symbol->procedure = ofl_procedure_of_unit(modules, symbol->unit);
        return symbol->procedure;
    }
    const struct ofl_unit *body = external_body(modules, symbol->name, NULL);
    bool external = symbol->storage != OFL_STORAGE_DUMMY && !OFL_HAS(symbol, POINTER) && symbol->interface == NULL &&
                    symbol->procedure_stmt == NULL && symbol->scope->kind != OFL_SCOPE_TYPE && !statement;
    if (external && body != NULL) {
        symbol->procedure = ofl_procedure_of_unit(modules, body);
        return symbol->procedure;
    }
    struct ofl_procedure *procedure = OFL_NEW(modules->arena, struct ofl_procedure);
    procedure->name = symbol->name;
    procedure->symbol = symbol;
    symbol->busy = true;
    if (statement) {
        statement_function(modules, procedure, symbol);
    } else {
        declared(modules, procedure, symbol);
    }
    symbol->busy = false;
    symbol->procedure = procedure;
    return procedure;
}

const char *ofl_procedure_text(struct ofl_modules *modules, const struct ofl_procedure *procedure)
{
    const char *what = procedure->function ? "function" : "subroutine";
    const struct ofl_unit *unit = procedure->interface, *host = unit != NULL ? unit->parent : NULL;
    if (procedure->kind == OFL_PROCEDURE_INTRINSIC) {
        return ofl_arena_format(modules->arena, "intrinsic %s '%s'", what, procedure->name->text);
    }
    if (procedure->kind == OFL_PROCEDURE_MODULE && host != NULL && host->name.name != NULL) {
        return ofl_arena_format(modules->arena, "%s '%s' of module '%s'", what, procedure->name->text,
                                host->name.name->text);
    }
    return ofl_arena_format(modules->arena, "%s '%s'", what, procedure->name->text);
}
