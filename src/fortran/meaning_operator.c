/* Operations and assignments: intrinsic where the types and ranks allow, else by a defined operator or assignment.
 *
 * F2018 10.1.5, 10.1.6, 10.2.1.  An operator is looked for among the type-bound generics of the operands' types and the
 * generic interfaces of the scope. */
#include "fortran/meaning_private.h"

#include <string.h>

/* ---- Types of intrinsic operations ------------------------------------------------------------------------------ */

/* F2018 10.1.9.3, table 10.2: complex before real before integer; of reals the one with more precision. */
struct ofl_value_type ofl_type_promoted(struct ofl_value_type a, struct ofl_value_type b)
{
    if (a.base == b.base) {
        return ofl_type_of_kind(a.base, a.kind > b.kind ? a.kind : b.kind);
    }
    if (a.base == OFL_TYPE_INTEGER) {
        return ofl_type_of_kind(b.base, b.kind);
    }
    if (b.base == OFL_TYPE_INTEGER) {
        return ofl_type_of_kind(a.base, a.kind);
    }
    return ofl_type_of_kind(OFL_TYPE_COMPLEX, a.kind > b.kind ? a.kind : b.kind);
}

static bool conform(unsigned a, unsigned b)
{
    return a == b || a == 0 || b == 0;
}

static bool is_text(struct ofl_value_type type)
{
    return type.base == OFL_TYPE_CHARACTER;
}

static bool is_logical(struct ofl_value_type type)
{
    return type.base == OFL_TYPE_LOGICAL;
}

/* The result type of an intrinsic binary operation; false if there is none for these types. */
static bool binary_type(const struct ofl_modules *modules, enum ofl_operator op, struct ofl_value_type a,
                        struct ofl_value_type b, struct ofl_value_type *type)
{
    bool numeric = ofl_type_is_numeric(a) && ofl_type_is_numeric(b);
    bool text = is_text(a) && is_text(b) && a.kind == b.kind;
    bool complex = a.base == OFL_TYPE_COMPLEX || b.base == OFL_TYPE_COMPLEX;
    switch (op) {
    case OFL_OPERATOR_POWER:
        if (numeric && b.base == OFL_TYPE_INTEGER && a.base != OFL_TYPE_INTEGER) {
            *type = ofl_type_of_kind(a.base, a.kind); /* a real to an integer power: the integer is not converted */
            return true;
        }
        *type = ofl_type_promoted(a, b);
        return numeric;
    case OFL_OPERATOR_MUL:
    case OFL_OPERATOR_DIV:
    case OFL_OPERATOR_ADD:
    case OFL_OPERATOR_SUB:
        *type = ofl_type_promoted(a, b);
        return numeric;
    case OFL_OPERATOR_CONCAT:
        *type = ofl_type_of_kind(OFL_TYPE_CHARACTER, a.kind);
        type->length_form = OFL_LENGTH_COMPUTED;
        if (a.length_form == OFL_LENGTH_KNOWN && b.length_form == OFL_LENGTH_KNOWN) {
            type->length_form = OFL_LENGTH_KNOWN;
            type->characters = a.characters + b.characters;
        }
        return text;
    case OFL_OPERATOR_EQ:
    case OFL_OPERATOR_NE:
        *type = ofl_type_default(modules, OFL_TYPE_LOGICAL);
        return numeric || text;
    case OFL_OPERATOR_LT:
    case OFL_OPERATOR_LE:
    case OFL_OPERATOR_GT:
    case OFL_OPERATOR_GE:
        *type = ofl_type_default(modules, OFL_TYPE_LOGICAL);
        return (numeric && !complex) || text;
    case OFL_OPERATOR_AND:
    case OFL_OPERATOR_OR:
    case OFL_OPERATOR_XOR:
    case OFL_OPERATOR_EQV:
    case OFL_OPERATOR_NEQV:
        *type = ofl_type_of_kind(OFL_TYPE_LOGICAL, a.kind > b.kind ? a.kind : b.kind);
        return is_logical(a) && is_logical(b);
    case OFL_OPERATOR_NOT:
    case OFL_OPERATOR_DEFINED:
    case OFL_OPERATOR_COUNT:
        break;
    }
    return false;
}

static bool unary_type(enum ofl_operator op, struct ofl_value_type a, struct ofl_value_type *type)
{
    *type = ofl_type_of_kind(a.base, a.kind);
    return op == OFL_OPERATOR_NOT ? is_logical(a)
                                  : (op == OFL_OPERATOR_ADD || op == OFL_OPERATOR_SUB) && ofl_type_is_numeric(a);
}

/* ---- Defined operations ----------------------------------------------------------------------------------------- */

/* The procedure for operands given as an argument list; NULL without, *why then NULL or a reason. */
static struct ofl_call *defined(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_generic_key *key,
                                struct ofl_arg *operands, struct ofl_span place, const struct ofl_meaning **why)
{
    for (const struct ofl_arg *operand = operands; operand != NULL; operand = operand->next) {
        const struct ofl_meaning *meaning = ofl_meaning_of(modules, scope, operand->value);
        struct ofl_specifics bound = {0};
        if (meaning->type.base != OFL_TYPE_DERIVED && meaning->type.base != OFL_TYPE_CLASS) {
            continue;
        }
        ofl_gather_bound(modules, meaning->type.derived, key, &bound);
        /* the operands are the arguments in order, whichever is the passed object */
        const struct ofl_actuals actuals = {.scope = scope, .list = operands, .place = place};
        struct ofl_call *call = ofl_choose(modules, &bound, &actuals, why);
        if (call != NULL) {
            call->passed = operand->value;
            call->dynamic = meaning->type.base == OFL_TYPE_CLASS && !OFL_HAS(call->binding, NON_OVERRIDABLE);
            return call;
        }
        if (*why != NULL) {
            return NULL;
        }
    }
    struct ofl_specifics specifics = {0};
    const struct ofl_actuals actuals = {.scope = scope, .list = operands, .place = place};
    ofl_gather(modules, scope, key, &specifics);
    return ofl_choose(modules, &specifics, &actuals, why);
}

static struct ofl_arg *operand_list(struct ofl_modules *modules, const struct ofl_expr *left,
                                    const struct ofl_expr *right)
{
    struct ofl_arg *last = OFL_NEW(modules->arena, struct ofl_arg), *first = last;
    last->value = (struct ofl_expr *)right; /* nothing here writes to an operand */
    last->span = right->span;
    if (left != NULL) {
        first = OFL_NEW(modules->arena, struct ofl_arg);
        first->value = (struct ofl_expr *)left;
        first->span = left->span;
        first->next = last;
    }
    return first;
}

static const char *operator_text(struct ofl_modules *modules, const struct ofl_expr *expr)
{
    return expr->as.operation.op == OFL_OPERATOR_DEFINED
               ? ofl_arena_format(modules->arena, ".%s.", expr->as.operation.defined->text)
               : ofl_operator_text(expr->as.operation.op);
}

static const struct ofl_meaning *defined_operation(struct ofl_modules *modules, struct ofl_scope *scope,
                                                   const struct ofl_expr *expr)
{
    const struct ofl_generic_key key = {OFL_GENERIC_OPERATOR, expr->as.operation.op, expr->as.operation.defined};
    const struct ofl_expr *left = expr->kind == OFL_EXPR_BINARY ? expr->as.operation.left : NULL;
    struct ofl_arg *operands = operand_list(modules, left, expr->as.operation.right);
    const struct ofl_meaning *why = NULL;
    struct ofl_call *call = defined(modules, scope, &key, operands, expr->span, &why);
    if (call != NULL) {
        return ofl_meaning_result(modules, OFL_MEANS_DEFINED, call, scope, expr->span);
    }
    if (why != NULL) {
        return why;
    }
    const struct ofl_actuals actuals = {.scope = scope, .list = operands};
    return ofl_unknown(modules, expr->as.operation.op_span, "operator %s is not defined for %s",
                       operator_text(modules, expr), ofl_actuals_text(modules, &actuals));
}

/* ---- Operations ------------------------------------------------------------------------------------------------- */

/* An operand that is an object: its meaning, or the reason why not. */
static const struct ofl_meaning *operand(struct ofl_modules *modules, struct ofl_scope *scope,
                                         const struct ofl_expr *expr, bool *good)
{
    const struct ofl_meaning *meaning = ofl_meaning_of(modules, scope, expr);
    *good = meaning->kind != OFL_MEANS_UNKNOWN && meaning->kind < OFL_MEANS_PROCEDURE;
    if (!*good && meaning->kind != OFL_MEANS_UNKNOWN) {
        return ofl_unknown(modules, expr->span, "an operand needs a value");
    }
    return meaning;
}

const struct ofl_meaning *ofl_meaning_operation(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr)
{
    enum ofl_operator op = expr->as.operation.op;
    bool good = true, intrinsic;
    struct ofl_value_type type = {0};
    const struct ofl_meaning *left = NULL, *right = operand(modules, scope, expr->as.operation.right, &good);
    if (!good) {
        return right;
    }
    if (expr->kind == OFL_EXPR_BINARY) {
        left = operand(modules, scope, expr->as.operation.left, &good);
        if (!good) {
            return left;
        }
        intrinsic = binary_type(modules, op, left->type, right->type, &type) && conform(left->rank, right->rank) &&
                    left->kind != OFL_MEANS_TYPELESS;
    } else {
        intrinsic = unary_type(op, right->type, &type);
    }
    if (!intrinsic || right->kind == OFL_MEANS_TYPELESS) {
        return defined_operation(modules, scope, expr);
    }
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_OPERATION);
    meaning->type = type;
    meaning->rank = left != NULL && left->rank > right->rank ? left->rank : right->rank;
    meaning->constant = right->constant && (left == NULL || left->constant);
    if (right->value != NULL && (left == NULL || left->value != NULL)) {
        meaning->value = left == NULL ? ofl_value_unary(modules, op, right->value, type)
                                      : ofl_value_binary(modules, op, left->value, right->value, type);
    }
    return meaning;
}

/* ---- Assignments ------------------------------------------------------------------------------------------------ */

static bool has_bound_assignment(struct ofl_modules *modules, const struct ofl_symbol *type, unsigned walk)
{
    const struct ofl_generic_key key = {.kind = OFL_GENERIC_ASSIGNMENT};
    size_t count;
    struct ofl_symbol **components = ofl_type_components(modules, type, &count);
    for (size_t i = 0; i < count; i++) {
        struct ofl_value_type of;
        struct ofl_specifics bound = {0};
        if (components[i]->class != OFL_SYMBOL_VARIABLE || OFL_HAS(components[i], POINTER) ||
            !ofl_symbol_type(modules, components[i], &of, NULL) || of.base != OFL_TYPE_DERIVED ||
            !ofl_type_first(of.derived, walk)) {
            continue;
        }
        ofl_gather_bound(modules, of.derived, &key, &bound);
        if (bound.first != NULL || has_bound_assignment(modules, of.derived, walk)) {
            return true;
        }
    }
    return false;
}

/* F2018 10.2.1.2, and what gfortran takes beyond: logical and integer to each other, Hollerith and BOZ constants. */
static bool is_intrinsic_assignment(const struct ofl_meaning *target, const struct ofl_meaning *value)
{
    struct ofl_value_type to = target->type, from = value->type;
    bool logical = is_logical(to) || is_logical(from);
    bool mixed = logical && (is_logical(to) || to.base == OFL_TYPE_INTEGER) &&
                 (is_logical(from) || from.base == OFL_TYPE_INTEGER);
    bool ranks = value->rank == 0 || target->rank == value->rank || target->rank == OFL_ASSUMED_RANK;
    if (value->kind == OFL_MEANS_TYPELESS) {
        return to.base != OFL_TYPE_DERIVED && to.base != OFL_TYPE_CLASS;
    }
    if (!ranks) {
        return false;
    }
    if (to.base == OFL_TYPE_CLASS_STAR) {
        return target->allocatable;
    }
    bool derived = (to.base == OFL_TYPE_DERIVED || to.base == OFL_TYPE_CLASS) &&
                   (from.base == OFL_TYPE_DERIVED || from.base == OFL_TYPE_CLASS);
    if (derived) {
        bool polymorphic = to.base == OFL_TYPE_CLASS;
        to.base = from.base = OFL_TYPE_DERIVED;
        return ofl_type_same(to, from) || (polymorphic && ofl_type_extends(from.derived, to.derived));
    }
    return (ofl_type_is_numeric(to) && ofl_type_is_numeric(from)) || mixed ||
           (is_text(to) && is_text(from) && to.kind == from.kind);
}

static void assignment(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_stmt *stmt,
                       struct ofl_action *action)
{
    const struct ofl_generic_key key = {.kind = OFL_GENERIC_ASSIGNMENT};
    bool good;
    const struct ofl_meaning *target = operand(modules, scope, stmt->as.assign.target, &good);
    action->why = good ? NULL : target;
    const struct ofl_meaning *value = operand(modules, scope, stmt->as.assign.value, &good);
    action->why = good || action->why != NULL ? action->why : value;
    if (action->why != NULL || target == NULL || value == NULL) {
        return;
    }
    bool intrinsic = is_intrinsic_assignment(target, value);
    bool derived = target->type.base == OFL_TYPE_DERIVED || target->type.base == OFL_TYPE_CLASS ||
                   value->type.base == OFL_TYPE_DERIVED || value->type.base == OFL_TYPE_CLASS;
    bool beyond = is_logical(target->type) != is_logical(value->type); /* Fortran; a program may define it */
    if (!intrinsic || derived || beyond) {
        struct ofl_arg *operands = operand_list(modules, stmt->as.assign.target, stmt->as.assign.value);
        action->call = defined(modules, scope, &key, operands, stmt->span, &action->why);
    }
    if (action->call != NULL) {
        return;
    }
    if (intrinsic) {
        action->why = NULL;
        action->components = target->type.base == OFL_TYPE_DERIVED && target->type.derived != NULL &&
                             has_bound_assignment(modules, target->type.derived, ofl_type_walk());
    } else if (action->why == NULL) {
        const char *from = ofl_type_text(modules, value->type), *to = ofl_type_text(modules, target->type);
        action->why = value->rank > 0 && value->rank != target->rank && strcmp(from, to) == 0
                          ? ofl_unknown(modules, stmt->span, "a value of rank %u is assigned to a variable of rank %u",
                                        value->rank, target->rank)
                          : ofl_unknown(modules, stmt->span,
                                        "a value of type %s cannot be assigned to a variable of type %s", from, to);
    }
}

static void call(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_stmt *stmt,
                 struct ofl_action *action)
{
    const struct ofl_expr *designator = stmt->as.call.designator;
    const struct ofl_actuals actuals = {.scope = scope, .list = stmt->as.call.args, .place = designator->span};
    struct ofl_call *found = NULL;
    const struct ofl_meaning *why = NULL;
    if (designator->kind == OFL_EXPR_NAME) {
        const struct ofl_name *name = designator->as.name.name;
        found = ofl_call_named(modules, scope, name, ofl_symbol_here(modules, scope, name), &actuals, false, &why);
    } else if (designator->kind == OFL_EXPR_COMPONENT) {
        found = ofl_call_component(modules, scope, designator, &actuals, &why);
    } else {
        why = ofl_unknown(modules, designator->span, "a subroutine's name is needed here");
    }
    if (found != NULL && found->procedure->function && found->procedure->has_interface) {
        why = ofl_unknown(modules, designator->span, "%s is called like a subroutine",
                          ofl_procedure_text(modules, found->procedure));
        found = NULL;
    }
    action->call = found;
    action->why = found == NULL ? why : NULL;
}

const struct ofl_action *ofl_action_of(struct ofl_modules *modules, struct ofl_scope *scope, struct ofl_stmt *stmt)
{
    if (stmt->action != NULL && (stmt->action->why == NULL || stmt->action->why->generation == modules->generation)) {
        return stmt->action;
    }
    struct ofl_action *action = OFL_NEW(modules->arena, struct ofl_action);
    if (stmt->kind == OFL_STMT_CALL) {
        call(modules, scope, stmt, action);
    } else if (stmt->kind == OFL_STMT_ASSIGN) {
        assignment(modules, scope, stmt, action);
    }
    if (action->why != NULL && action->why->generation == 0) {
        ((struct ofl_meaning *)action->why)->generation = modules->generation;
    }
    stmt->action = action;
    return action;
}
