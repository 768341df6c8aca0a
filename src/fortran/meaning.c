/* The meaning of expressions: the entry points, what is remembered, names and literals; see meaning.h.
 *
 * Each node of the tree keeps its meaning.  What must hold:
 *  - an unknown meaning counts for the generation in which it was found: another file, or the end of building the
 * scopes of this one, may make it known;
 *  - while the index of an implied do has a value (modules->binding), meanings without a value are worked out again,
 * and what is found then counts for that iteration only;
 *  - a node whose meaning is being worked out has the meaning `busy`: it depends on itself;
 *  - the stack stays shallow: the deep branch of a deep tree is worked out from below (resolve_spine), and questions
 *    inside questions (a constant's value, an associate name's selector) are counted. */
#include "fortran/meaning_private.h"
#include "fortran/module_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SPINE = 100 }; /* deeper trees are worked out from below */

static const struct ofl_meaning busy = {.kind = OFL_MEANS_UNKNOWN};

/* ---- Making meanings -------------------------------------------------------------------------------------------- */

struct ofl_meaning *ofl_meaning_new(struct ofl_modules *modules, enum ofl_meaning_kind kind)
{
    struct ofl_meaning *meaning = OFL_NEW(modules->arena, struct ofl_meaning);
    meaning->kind = kind;
    return meaning;
}

static struct ofl_meaning *unknown(struct ofl_modules *modules, struct ofl_span place, const char *format,
                                   va_list arguments)
{
    char text[500];
    vsnprintf(text, sizeof text, format, arguments);
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_UNKNOWN);
    meaning->reason = ofl_arena_text(modules->arena, text, strlen(text));
    meaning->place = place;
    return meaning;
}

struct ofl_meaning *ofl_unknown(struct ofl_modules *modules, struct ofl_span place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct ofl_meaning *meaning = unknown(modules, place, format, arguments);
    va_end(arguments);
    return meaning;
}

struct ofl_meaning *ofl_unknown_yet(struct ofl_modules *modules, struct ofl_span place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct ofl_meaning *meaning = unknown(modules, place, format, arguments);
    va_end(arguments);
    meaning->unsupported = true;
    return meaning;
}

void ofl_meaning_report(struct ofl_diagnostics *diagnostics, const struct ofl_meaning *meaning)
{
    if (meaning->unsupported) {
        ofl_diag_unsupported(diagnostics, meaning->place, "%s", meaning->reason);
    } else {
        ofl_diag_error(diagnostics, meaning->place, "%s", meaning->reason);
    }
    if (meaning->other.begin != 0) {
        ofl_diag_note(diagnostics, meaning->other, "it is declared here");
    }
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

struct ofl_symbol *ofl_symbol_here(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name)
{
    struct ofl_symbol *symbol = ofl_scope_find(scope, name);
    for (; symbol == NULL && scope != NULL; scope = scope->parent) {
        const struct ofl_unit *unit = scope->unit;
        bool procedure = unit != NULL && (unit->kind == OFL_UNIT_FUNCTION || unit->kind == OFL_UNIT_SUBROUTINE);
        if (procedure && unit->parent == NULL && unit->name.name == name && modules->global != NULL) {
            symbol = ofl_scope_own(modules->global, name);
        }
    }
    return symbol;
}

const struct ofl_intrinsic *ofl_intrinsic_here(struct ofl_scope *scope, const struct ofl_name *name)
{
    static const char *const of_modules[] = {"c_", "ieee_", "compiler_"};
    for (size_t i = 0; i < sizeof of_modules / sizeof *of_modules; i++) {
        if (strncmp(name->text, of_modules[i], strlen(of_modules[i])) == 0) {
            return NULL;
        }
    }
    const struct ofl_intrinsic *intrinsic = ofl_intrinsic_find(name->text);
    return intrinsic != NULL && ofl_missing_module(scope, name) == NULL ? intrinsic : NULL;
}

struct ofl_meaning *ofl_unknown_name(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name,
                                     struct ofl_span place)
{
    const struct ofl_stmt *use = ofl_missing_module(scope, name);
    if (use != NULL) {
        const char *problem = ofl_module_files_problem(modules, use->as.use.module.name);
        return ofl_unknown(
            modules, place, "'%s' is not declared here and may come from module '%s', which is not at hand%s%s",
            name->text, use->as.use.module.name->text, problem != NULL ? ": " : "", problem != NULL ? problem : "");
    }
    return ofl_unknown(modules, place, "'%s' is not declared", name->text);
}

/* An associate name: its selector under another name.  F2018 11.1.3.3. */
static const struct ofl_meaning *associate(struct ofl_modules *modules, struct ofl_symbol *symbol,
                                           struct ofl_span place)
{
    if (symbol->busy || symbol->value == NULL) {
        return ofl_unknown(modules, place, "'%s' depends on itself", symbol->name->text);
    }
    symbol->busy = true;
    const struct ofl_meaning *selector = ofl_meaning_of(modules, symbol->scope->parent, symbol->value), *why = NULL;
    symbol->busy = false;
    if (selector->kind == OFL_MEANS_UNKNOWN) {
        return selector;
    }
    if (selector->kind >= OFL_MEANS_PROCEDURE) {
        return ofl_unknown(modules, place, "'%s' stands for something without a value", symbol->name->text);
    }
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_VARIABLE);
    meaning->symbol = symbol;
    meaning->designator = selector->designator;
    meaning->definable = selector->definable;
    meaning->type = selector->type;
    meaning->rank = selector->rank;
    if (symbol->narrowed && symbol->typed) {
        if (!ofl_symbol_type(modules, symbol, &meaning->type, &why)) {
            return why;
        }
    } else if (symbol->narrowed) {
        meaning->rank = symbol->rank;
    }
    return meaning;
}

static const struct ofl_meaning *data_object(struct ofl_modules *modules, struct ofl_symbol *symbol,
                                             struct ofl_span place)
{
    const struct ofl_meaning *why = NULL;
    struct ofl_meaning *meaning =
        ofl_meaning_new(modules, symbol->class == OFL_SYMBOL_CONSTANT ? OFL_MEANS_CONSTANT : OFL_MEANS_VARIABLE);
    meaning->symbol = symbol;
    meaning->rank = symbol->rank;
    if (!ofl_symbol_type(modules, symbol, &meaning->type, &why)) {
        struct ofl_meaning *here = ofl_unknown(modules, place, "%s", why->reason);
        here->unsupported = why->unsupported;
        here->other = why->place;
        return here;
    }
    if (symbol->class == OFL_SYMBOL_CONSTANT) {
        meaning->constant = true;
        meaning->value = ofl_value_of_symbol(modules, symbol);
        if (meaning->value != NULL && meaning->type.base == OFL_TYPE_CHARACTER) {
            const struct ofl_constant *first = meaning->value;
            first = first->rank > 0 ? first->count > 0 ? first->elements[0] : NULL : first;
            if (first != NULL) {
                meaning->type.length_form = OFL_LENGTH_KNOWN;
                meaning->type.characters = (int64_t)first->length;
            }
        }
        return meaning;
    }
    if (symbol->class == OFL_SYMBOL_INDEX && symbol->has_integer) {
        meaning->constant = true;
        meaning->value = ofl_value_integer(modules, meaning->type.kind, symbol->integer);
        return meaning;
    }
    meaning->designator = true;
    meaning->definable = symbol->class != OFL_SYMBOL_INDEX && !OFL_HAS(symbol, INTENT_IN);
    meaning->allocatable = OFL_HAS(symbol, ALLOCATABLE);
    meaning->pointer = OFL_HAS(symbol, POINTER);
    return meaning;
}

static const struct ofl_meaning *procedure_symbol(struct ofl_modules *modules, struct ofl_symbol *symbol,
                                                  struct ofl_span place)
{
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_PROCEDURE);
    meaning->symbol = symbol;
    if (symbol->class != OFL_SYMBOL_GENERIC) {
        meaning->procedure = ofl_procedure_of(modules, symbol);
        if (meaning->procedure == NULL) {
            return ofl_unknown(modules, place, "procedure '%s' is not at hand", symbol->name->text);
        }
        meaning->pointer = meaning->procedure->kind == OFL_PROCEDURE_POINTER;
        meaning->designator = meaning->pointer;
        meaning->definable = meaning->pointer;
        if (meaning->procedure->function) {
            ofl_symbol_type(modules, symbol, &meaning->type, NULL);
            meaning->rank = ofl_symbol_rank(modules, symbol);
        }
    }
    return meaning;
}

const struct ofl_meaning *ofl_meaning_of_symbol(struct ofl_modules *modules, struct ofl_symbol *symbol,
                                                struct ofl_span place)
{
    switch (symbol->class) {
    case OFL_SYMBOL_VARIABLE:
    case OFL_SYMBOL_CONSTANT:
    case OFL_SYMBOL_INDEX:
        return data_object(modules, symbol, place);
    case OFL_SYMBOL_ASSOCIATE:
        return associate(modules, symbol, place);
    case OFL_SYMBOL_FUNCTION:
    case OFL_SYMBOL_SUBROUTINE:
    case OFL_SYMBOL_PROCEDURE:
    case OFL_SYMBOL_GENERIC:
        return procedure_symbol(modules, symbol, place);
    case OFL_SYMBOL_TYPE:
        return ofl_meaning_new(modules, OFL_MEANS_TYPE);
    case OFL_SYMBOL_MODULE:
    case OFL_SYMBOL_NAMELIST:
        break;
    }
    return ofl_meaning_new(modules, OFL_MEANS_OTHER);
}

static const struct ofl_meaning *name(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    const struct ofl_ident ident = {expr->as.name.name, expr->span};
    struct ofl_symbol *symbol = ofl_symbol_here(modules, scope, ident.name);
    if (symbol == NULL) {
        if (ofl_missing_module(scope, ident.name) == NULL) {
            symbol = ofl_scope_find_or_implicit(modules, scope, &ident);
        }
        if (symbol == NULL) {
            return ofl_unknown_name(modules, scope, ident.name, expr->span);
        }
    }
    return ofl_meaning_of_symbol(modules, symbol, expr->span);
}

/* ---- Literals --------------------------------------------------------------------------------------------------- */

static bool literal_kind(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_literal *literal,
                         int standard, int *kind)
{
    int64_t value = literal->kind != 0 ? literal->kind : standard;
    if (literal->kind_name.name != NULL) {
        struct ofl_symbol *symbol = ofl_scope_find(scope, literal->kind_name.name);
        if (symbol == NULL || symbol->class != OFL_SYMBOL_CONSTANT ||
            !ofl_value_int64(ofl_value_of_symbol(modules, symbol), &value)) {
            return false;
        }
    }
    *kind = (int)value;
    return value > 0 && value <= 16;
}

static int real_kind(const struct ofl_modules *modules, const struct ofl_literal *literal)
{
    return strpbrk(literal->text, "dD") != NULL   ? modules->default_double
           : strpbrk(literal->text, "qQ") != NULL ? 16
                                                  : modules->default_real;
}

static const struct ofl_meaning *literal(struct ofl_modules *modules, struct ofl_scope *scope,
                                         const struct ofl_expr *expr)
{
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_LITERAL);
    int kind = 1;
    meaning->constant = true;
    switch (expr->kind) {
    case OFL_EXPR_INTEGER:
        meaning->type.base = OFL_TYPE_INTEGER;
        kind = modules->default_integer;
        break;
    case OFL_EXPR_REAL:
        meaning->type.base = OFL_TYPE_REAL;
        kind = real_kind(modules, &expr->as.literal);
        break;
    case OFL_EXPR_LOGICAL:
        meaning->type.base = OFL_TYPE_LOGICAL;
        kind = modules->default_logical;
        break;
    case OFL_EXPR_CHARACTER:
        meaning->type.base = OFL_TYPE_CHARACTER;
        break;
    default: /* BOZ, HOLLERITH */
        meaning->kind = OFL_MEANS_TYPELESS;
        meaning->type = ofl_type_of_kind(OFL_TYPE_INTEGER, 16);
        meaning->value = expr->kind == OFL_EXPR_BOZ ? ofl_value_literal(modules, expr, meaning->type) : NULL;
        return meaning;
    }
    if (!literal_kind(modules, scope, &expr->as.literal, kind, &meaning->type.kind)) {
        return ofl_unknown(modules, expr->span, "the kind of this constant is not known");
    }
    meaning->value = ofl_value_literal(modules, expr, meaning->type);
    if (meaning->type.base == OFL_TYPE_CHARACTER && meaning->value != NULL) {
        meaning->type.length_form = OFL_LENGTH_KNOWN;
        meaning->type.characters = (int64_t)meaning->value->length;
    }
    return meaning;
}

/* R718 complex-literal-constant: the kind is that of the part with the greater precision; an integer part has the other
 * one's. */
static const struct ofl_meaning *complex_literal(struct ofl_modules *modules, struct ofl_scope *scope,
                                                 const struct ofl_expr *expr)
{
    const struct ofl_meaning *re = ofl_meaning_of(modules, scope, expr->as.complex.re);
    const struct ofl_meaning *im = ofl_meaning_of(modules, scope, expr->as.complex.im);
    if (re->kind == OFL_MEANS_UNKNOWN || im->kind == OFL_MEANS_UNKNOWN) {
        return re->kind == OFL_MEANS_UNKNOWN ? re : im;
    }
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_COMPLEX);
    int a = re->type.base == OFL_TYPE_REAL ? re->type.kind : 0, b = im->type.base == OFL_TYPE_REAL ? im->type.kind : 0;
    meaning->type = ofl_type_of_kind(OFL_TYPE_COMPLEX, a > b ? a : b > 0 ? b : modules->default_real);
    meaning->constant = re->constant && im->constant;
    if (re->value != NULL && im->value != NULL && re->value->rank == 0 && im->value->rank == 0) {
        struct ofl_value_type part = ofl_type_of_kind(OFL_TYPE_REAL, meaning->type.kind);
        const struct ofl_constant *x = ofl_value_convert(modules, re->value, part);
        const struct ofl_constant *y = ofl_value_convert(modules, im->value, part);
        if (x != NULL && y != NULL) {
            struct ofl_constant *value = ofl_constant_new(modules, OFL_TYPE_COMPLEX, meaning->type.kind);
            value->re = x->re;
            value->im = y->re;
            meaning->value = value;
        }
    }
    return meaning;
}

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

static const struct ofl_meaning *range(struct ofl_modules *modules, struct ofl_scope *scope,
                                       const struct ofl_expr *expr)
{
    const struct ofl_expr *parts[] = {expr->as.range.lower, expr->as.range.upper, expr->as.range.step};
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_RANGE);
    meaning->constant = true;
    for (size_t i = 0; i < 3; i++) {
        const struct ofl_meaning *part = parts[i] != NULL ? ofl_meaning_of(modules, scope, parts[i]) : NULL;
        if (part != NULL && part->kind == OFL_MEANS_UNKNOWN) {
            return part;
        }
        meaning->constant &= part == NULL || part->constant;
    }
    return meaning;
}

/* (expr): the value, no longer a variable.  R1001 primary. */
static const struct ofl_meaning *parentheses(struct ofl_modules *modules, struct ofl_scope *scope,
                                             const struct ofl_expr *expr)
{
    const struct ofl_meaning *inner = ofl_meaning_of(modules, scope, expr->as.operation.right);
    if (inner->kind == OFL_MEANS_UNKNOWN) {
        return inner;
    }
    if (inner->kind >= OFL_MEANS_PROCEDURE) {
        return ofl_unknown(modules, expr->span, "a value is needed in parentheses");
    }
    struct ofl_meaning *meaning = ofl_meaning_new(modules, OFL_MEANS_OPERATION);
    meaning->type = inner->type;
    meaning->rank = inner->rank;
    meaning->constant = inner->constant;
    meaning->value = inner->value;
    return meaning;
}

static const struct ofl_meaning *resolve(struct ofl_modules *modules, struct ofl_scope *scope,
                                         const struct ofl_expr *expr)
{
    switch (expr->kind) {
    case OFL_EXPR_NAME:
        return name(modules, scope, expr);
    case OFL_EXPR_INTEGER:
    case OFL_EXPR_REAL:
    case OFL_EXPR_LOGICAL:
    case OFL_EXPR_CHARACTER:
    case OFL_EXPR_BOZ:
    case OFL_EXPR_HOLLERITH:
        return literal(modules, scope, expr);
    case OFL_EXPR_COMPLEX:
        return complex_literal(modules, scope, expr);
    case OFL_EXPR_CALL:
        return ofl_meaning_call(modules, scope, expr);
    case OFL_EXPR_COMPONENT:
        return ofl_meaning_component(modules, scope, expr);
    case OFL_EXPR_UNARY:
    case OFL_EXPR_BINARY:
        return ofl_meaning_operation(modules, scope, expr);
    case OFL_EXPR_PAREN:
        return parentheses(modules, scope, expr);
    case OFL_EXPR_ARRAY:
        return ofl_meaning_array(modules, scope, expr);
    case OFL_EXPR_RANGE:
        return range(modules, scope, expr);
    case OFL_EXPR_PERCENT:
        return ofl_meaning_of(modules, scope, expr->as.percent.value);
    case OFL_EXPR_COINDEX:
        return ofl_unknown_yet(modules, expr->span, "an object of another image");
    case OFL_EXPR_IMPLIED_DO:
    case OFL_EXPR_STAR:
    case OFL_EXPR_DEFERRED:
    case OFL_EXPR_LABEL:
    case OFL_EXPR_REPEAT:
    case OFL_EXPR_DOTDOT:
        break;
    }
    return ofl_meaning_new(modules, OFL_MEANS_OTHER);
}

/* Whether what is remembered is the answer still. */
static bool holds(const struct ofl_modules *modules, const struct ofl_meaning *meaning)
{
    if (meaning == NULL) {
        return false;
    }
    if (meaning->generation == 0) {
        return modules->binding == 0 || meaning->value != NULL;
    }
    return meaning->generation == modules->generation;
}

static const struct ofl_meaning *ask(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    struct ofl_expr *node = (struct ofl_expr *)expr; /* what is remembered is no part of the tree's value */
    if (node->meaning == &busy) {
        return ofl_unknown(modules, expr->span, "the expression depends on itself");
    }
    if (holds(modules, node->meaning)) {
        return node->meaning;
    }
    if (modules->depth >= OFL_MAX_QUESTIONS) {
        return ofl_unknown_yet(modules, expr->span, "an expression that depends on so many others");
    }
    modules->depth++;
    node->meaning = &busy;
    const struct ofl_meaning *meaning = resolve(modules, scope, expr);
    node->meaning = meaning;
    modules->depth--;
    if (meaning->generation == 0 && (meaning->kind == OFL_MEANS_UNKNOWN || modules->binding > 0)) {
        ((struct ofl_meaning *)meaning)->generation = modules->generation;
    }
    return meaning;
}

static const struct ofl_expr *deeper(const struct ofl_expr *a, const struct ofl_expr *b)
{
    return a == NULL || (b != NULL && b->depth > a->depth) ? b : a;
}

/* The operand below which a tree is deepest.  The items of an implied do stand in another scope. */
static const struct ofl_expr *deepest(const struct ofl_expr *expr)
{
    const struct ofl_expr *found = NULL;
    switch (expr->kind) {
    case OFL_EXPR_UNARY:
    case OFL_EXPR_PAREN:
    case OFL_EXPR_BINARY:
        return deeper(expr->kind == OFL_EXPR_BINARY ? expr->as.operation.left : NULL, expr->as.operation.right);
    case OFL_EXPR_COMPONENT:
        return expr->as.component.base;
    case OFL_EXPR_RANGE:
        return deeper(deeper(expr->as.range.lower, expr->as.range.upper), expr->as.range.step);
    case OFL_EXPR_CALL:
        found = expr->as.call.base;
        for (const struct ofl_arg *arg = expr->as.call.args; arg != NULL; arg = arg->next) {
            found = deeper(found, arg->value);
        }
        return found;
    case OFL_EXPR_ARRAY:
        for (const struct ofl_arg *item = expr->as.array.items; item != NULL; item = item->next) {
            found = deeper(found, item->value);
        }
        return found;
    default:
        return NULL;
    }
}

static void resolve_spine(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    size_t count = 0;
    const struct ofl_expr **spine = ofl_arena_alloc(modules->arena, expr->depth * sizeof(const struct ofl_expr *));
    for (expr = deepest(expr); expr != NULL && expr->depth > SPINE; expr = deepest(expr)) {
        if (expr->meaning == &busy || holds(modules, expr->meaning)) {
            break;
        }
        spine[count++] = expr;
    }
    while (count > 0) {
        ask(modules, scope, spine[--count]);
    }
}

const struct ofl_meaning *ofl_meaning_of(struct ofl_modules *modules, struct ofl_scope *scope,
                                         const struct ofl_expr *expr)
{
    if (expr->depth > SPINE && expr->meaning != &busy && !holds(modules, expr->meaning)) {
        resolve_spine(modules, scope, expr);
    }
    return ask(modules, scope, expr);
}
