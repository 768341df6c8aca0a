/* References to intrinsic procedures: arguments against the table, and the result's type and rank. */
#include "fortran/meaning_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- The procedure ---------------------------------------------------------------------------------------------- */

const struct ofl_procedure *ofl_procedure_of_intrinsic(struct ofl_modules *modules,
                                                       const struct ofl_intrinsic *intrinsic)
{
    for (const struct ofl_intrinsic_procedure *old = modules->intrinsics; old != NULL; old = old->next) {
        if (old->procedure.intrinsic == intrinsic) {
            return &old->procedure;
        }
    }
    struct ofl_intrinsic_procedure *item = OFL_NEW(modules->arena, struct ofl_intrinsic_procedure);
    struct ofl_procedure *procedure = &item->procedure;
    struct ofl_formal formals[OFL_MAX_FORMALS];
    procedure->kind = OFL_PROCEDURE_INTRINSIC;
    procedure->name = ofl_name_of(modules->arena, intrinsic->name, strlen(intrinsic->name));
    procedure->intrinsic = intrinsic;
    procedure->function = ofl_intrinsic_is_function(intrinsic);
    procedure->is_pure = ofl_intrinsic_is_pure(intrinsic);
    procedure->is_impure = !procedure->is_pure;
    procedure->is_elemental = ofl_intrinsic_is_elemental(intrinsic);
    procedure->has_interface = true;
    procedure->dummy_count = ofl_intrinsic_formals(intrinsic, formals);
    procedure->dummies = ofl_arena_alloc(modules->arena, (procedure->dummy_count + 1) * sizeof *procedure->dummies);
    for (unsigned i = 0; i < procedure->dummy_count; i++) {
        procedure->dummies[i].name = ofl_name_of(modules->arena, formals[i].name, formals[i].name_length);
        procedure->dummies[i].optional = formals[i].optional;
        procedure->dummies[i].intent = procedure->function ? OFL_INTENT_IN : OFL_INTENT_NONE;
    }
    item->next = modules->intrinsics;
    modules->intrinsics = item;
    return procedure;
}

/* ---- Arguments -------------------------------------------------------------------------------------------------- */

struct reference {
    struct ofl_modules *modules;
    const struct ofl_intrinsic *intrinsic;
    const struct ofl_actuals *actuals;
    const struct ofl_meaning **why;
    struct ofl_formal formals[OFL_MAX_FORMALS];
    unsigned formal_count;
    const struct ofl_expr **args;
    unsigned arg_count;
};

static bool refuse(struct reference *reference, struct ofl_span place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(struct reference *reference, struct ofl_span place, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *reference->why = ofl_unknown(reference->modules, place, "%s", text);
    return false;
}

/* The formal that an argument is for: by keyword, or by position (further ones of max and min are like the last). */
static bool formal_of(struct reference *reference, const struct ofl_arg *arg, unsigned position, unsigned *formal)
{
    const struct ofl_name *keyword = arg->keyword.name;
    bool variadic = reference->formal_count > 0 && reference->formals[reference->formal_count - 1].variadic;
    *formal = position;
    if (keyword == NULL) {
        return *formal < reference->formal_count || variadic ||
               refuse(reference, arg->span, "intrinsic '%s' takes no more than %u argument%s",
                      reference->intrinsic->name, reference->formal_count, reference->formal_count == 1 ? "" : "s");
    }
    for (unsigned i = 0; i < reference->formal_count; i++) {
        if (strlen(keyword->text) == reference->formals[i].name_length &&
            memcmp(keyword->text, reference->formals[i].name, reference->formals[i].name_length) == 0) {
            *formal = i;
            return true;
        }
    }
    unsigned number = 0;
    if (variadic && sscanf(keyword->text, "a%u", &number) == 1 && number > 2 && number < 1000) {
        *formal = number - 1;
        return true;
    }
    return refuse(reference, arg->keyword.span, "intrinsic '%s' has no argument named '%s'", reference->intrinsic->name,
                  keyword->text);
}

/* all(mask, dim), maxval(array, mask): without keywords, a logical in the place of `dim` is the mask. */
static bool is_mask(struct reference *reference, const struct ofl_expr *expr, unsigned formal)
{
    const struct ofl_formal *at = &reference->formals[formal], *next = at + 1;
    if (formal + 1 >= reference->formal_count || at->name_length != 3 || memcmp(at->name, "dim", 3) != 0 ||
        next->name_length != 4 || memcmp(next->name, "mask", 4) != 0) {
        return false;
    }
    return ofl_meaning_of(reference->modules, reference->actuals->scope, expr)->type.base == OFL_TYPE_LOGICAL;
}

static bool place_args(struct reference *reference)
{
    unsigned count = 0, position = 0, formal;
    for (const struct ofl_arg *arg = reference->actuals->list; arg != NULL; arg = arg->next) {
        count++;
    }
    unsigned most = (count > reference->formal_count ? count : reference->formal_count) + 1;
    reference->args = ofl_arena_alloc(reference->modules->arena, most * sizeof(void *));
    for (const struct ofl_arg *arg = reference->actuals->list; arg != NULL; arg = arg->next) {
        if (arg->value == NULL || !formal_of(reference, arg, position, &formal)) {
            return arg->value != NULL ? false : refuse(reference, arg->span, "an argument is missing here");
        }
        if (arg->keyword.name == NULL) {
            formal += formal < reference->formal_count && is_mask(reference, arg->value, formal);
            position = formal + 1;
        }
        if (formal >= most - 1 || reference->args[formal] != NULL) {
            return refuse(reference, arg->span, "this argument of intrinsic '%s' is given twice",
                          reference->intrinsic->name);
        }
        reference->args[formal] = arg->value;
        reference->arg_count = formal + 1 > reference->arg_count ? formal + 1 : reference->arg_count;
    }
    for (unsigned i = 0; i < reference->formal_count; i++) {
        if (reference->args[i] == NULL && !reference->formals[i].optional) {
            return refuse(reference, reference->actuals->place, "argument '%.*s' of intrinsic '%s' is missing",
                          (int)reference->formals[i].name_length, reference->formals[i].name,
                          reference->intrinsic->name);
        }
    }
    if (reference->arg_count < reference->formal_count) {
        reference->arg_count = reference->formal_count;
    }
    return true;
}

static bool letter_fits(char letter, const struct ofl_meaning *actual)
{
    bool typeless = actual->kind == OFL_MEANS_TYPELESS;
    switch (letter) {
    case 'i':
        return !typeless && actual->type.base == OFL_TYPE_INTEGER;
    case 'r':
        return !typeless && actual->type.base == OFL_TYPE_REAL;
    case 'c':
        return actual->type.base == OFL_TYPE_COMPLEX;
    case 'l':
        return actual->type.base == OFL_TYPE_LOGICAL;
    case 's':
        return actual->type.base == OFL_TYPE_CHARACTER;
    case 'b':
        return typeless;
    case 'd':
        return actual->type.base == OFL_TYPE_DERIVED || actual->type.base == OFL_TYPE_CLASS ||
               actual->type.base == OFL_TYPE_CLASS_STAR;
    default: /* * and p */
        return letter == '*' ? !typeless : letter == 'p';
    }
}

static bool types_fit(const struct ofl_formal *formal, const struct ofl_meaning *actual)
{
    for (const char *letter = formal->types; *letter != '\0' && strchr("[=.,", *letter) == NULL; letter++) {
        bool procedure = actual->kind >= OFL_MEANS_PROCEDURE;
        if (procedure ? *letter == 'p' : letter_fits(*letter, actual)) {
            return true;
        }
    }
    return false;
}

/* A specific name's argument types. */
static bool specific_fits(struct reference *reference, const struct ofl_meaning *actual)
{
    const struct ofl_intrinsic *intrinsic = reference->intrinsic;
    int kind = intrinsic->argument_kind == OFL_KIND_DOUBLE
                   ? reference->modules->default_double
                   : ofl_type_default(reference->modules, intrinsic->argument).kind;
    bool exact = actual->type.base == intrinsic->argument &&
                 (intrinsic->argument_kind == OFL_KIND_ANY || actual->type.kind == kind);
    bool wide =
        intrinsic->argument == OFL_TYPE_INTEGER && actual->type.base == OFL_TYPE_INTEGER; /* gfortran takes it */
    return exact || wide;
}

static bool check_arg(struct reference *reference, unsigned number)
{
    unsigned last = reference->formal_count - 1;
    const struct ofl_formal *formal = &reference->formals[number < reference->formal_count ? number : last];
    const struct ofl_expr *expr = reference->args[number];
    const struct ofl_meaning *actual = ofl_meaning_of(reference->modules, reference->actuals->scope, expr);
    if (actual->kind == OFL_MEANS_UNKNOWN) {
        *reference->why = actual;
        return false;
    }
    bool fits = types_fit(formal, actual) && (!reference->intrinsic->specific || specific_fits(reference, actual) ||
                                              actual->kind >= OFL_MEANS_PROCEDURE);
    if (!fits) {
        return refuse(reference, expr->span, "argument '%.*s' of intrinsic '%s' cannot be %s", (int)formal->name_length,
                      formal->name, reference->intrinsic->name,
                      actual->kind >= OFL_MEANS_PROCEDURE  ? "this"
                      : actual->kind == OFL_MEANS_TYPELESS ? "a typeless constant"
                                                           : ofl_type_text(reference->modules, actual->type));
    }
    if (formal->array && actual->rank == 0 && actual->kind < OFL_MEANS_PROCEDURE) {
        return refuse(reference, expr->span, "argument '%.*s' of intrinsic '%s' must be an array",
                      (int)formal->name_length, formal->name, reference->intrinsic->name);
    }
    if (formal->same != 0 && reference->args[formal->same - 1] != NULL) {
        const struct ofl_meaning *other =
            ofl_meaning_of(reference->modules, reference->actuals->scope, reference->args[formal->same - 1]);
        bool boz = actual->kind == OFL_MEANS_TYPELESS || other->kind == OFL_MEANS_TYPELESS;
        if (!boz && other->type.base != actual->type.base &&
            !(ofl_type_is_numeric(other->type) && reference->intrinsic->result == OFL_RESULT_PROMOTED) &&
            !(actual->type.base == OFL_TYPE_CLASS || other->type.base == OFL_TYPE_CLASS)) {
            return refuse(reference, expr->span, "argument '%.*s' of intrinsic '%s' is %s, and '%.*s' is %s",
                          (int)formal->name_length, formal->name, reference->intrinsic->name,
                          ofl_type_text(reference->modules, actual->type),
                          (int)reference->formals[formal->same - 1].name_length,
                          reference->formals[formal->same - 1].name, ofl_type_text(reference->modules, other->type));
        }
    }
    return true;
}

/* The rank of an elemental reference; false if the arguments' shapes do not agree. */
static bool elemental_rank(struct reference *reference, unsigned *rank)
{
    *rank = 0;
    for (unsigned i = 0; i < reference->arg_count; i++) {
        const struct ofl_expr *expr = reference->args[i];
        unsigned other = expr != NULL ? ofl_meaning_of(reference->modules, reference->actuals->scope, expr)->rank : 0;
        if (other > 0 && *rank > 0 && other != *rank) {
            return refuse(reference, expr->span, "this argument of intrinsic '%s' has rank %u, another one rank %u",
                          reference->intrinsic->name, other, *rank);
        }
        *rank = other > *rank ? other : *rank;
    }
    return true;
}

struct ofl_call *ofl_call_intrinsic(struct ofl_modules *modules, const struct ofl_intrinsic *intrinsic,
                                    const struct ofl_actuals *actuals, const struct ofl_meaning **why)
{
    struct reference reference = {.modules = modules, .intrinsic = intrinsic, .actuals = actuals, .why = why};
    unsigned rank = 0;
    reference.formal_count = ofl_intrinsic_formals(intrinsic, reference.formals);
    if (!place_args(&reference)) {
        return NULL;
    }
    for (unsigned i = 0; i < reference.arg_count; i++) {
        if (reference.args[i] != NULL && !check_arg(&reference, i)) {
            return NULL;
        }
    }
    if (ofl_intrinsic_is_elemental(intrinsic) && intrinsic->shape == OFL_SHAPE_ARGUMENTS &&
        !elemental_rank(&reference, &rank)) {
        return NULL;
    }
    struct ofl_call *call = OFL_NEW(modules->arena, struct ofl_call);
    call->procedure = ofl_procedure_of_intrinsic(modules, intrinsic);
    call->args = reference.args;
    call->arg_count = reference.arg_count;
    call->elemental = rank > 0;
    call->rank = rank;
    return call;
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

struct result {
    struct ofl_modules *modules;
    const struct ofl_call *call;
    const struct ofl_intrinsic *row; /* the generic one's */
    struct ofl_scope *scope;
    struct ofl_span place;
};

/* The argument of a name; NULL if it is absent. */
const struct ofl_expr *ofl_call_arg(const struct ofl_call *call, const char *name)
{
    for (unsigned i = 0; i < call->procedure->dummy_count && i < call->arg_count; i++) {
        if (strcmp(call->procedure->dummies[i].name->text, name) == 0) {
            return call->args[i];
        }
    }
    return NULL;
}

static const struct ofl_meaning *argument(const struct result *result, unsigned number)
{
    const struct ofl_expr *expr = number < result->call->arg_count ? result->call->args[number] : NULL;
    return expr != NULL ? ofl_meaning_of(result->modules, result->scope, expr) : NULL;
}

static struct ofl_value_type type_at(const struct result *result, unsigned number)
{
    const struct ofl_meaning *meaning = argument(result, number);
    return meaning != NULL ? meaning->type : ofl_type_default(result->modules, OFL_TYPE_REAL);
}

static unsigned rank_at(const struct result *result, unsigned number)
{
    const struct ofl_meaning *meaning = argument(result, number);
    return meaning != NULL ? meaning->rank : 0;
}

/* A type of the kind that the argument `kind` says, else of the default kind given. */
static const struct ofl_meaning *with_kind(const struct result *result, struct ofl_value_type *type)
{
    const struct ofl_expr *expr = ofl_call_arg(result->call, "kind");
    int64_t kind;
    if (expr == NULL) {
        return NULL;
    }
    if (!ofl_value_int64(ofl_meaning_of(result->modules, result->scope, expr)->value, &kind) || kind < 1 || kind > 16) {
        return ofl_unknown(result->modules, expr->span, "the kind must be a constant that is known here");
    }
    type->kind = (int)kind;
    return NULL;
}

static struct ofl_value_type promoted(const struct result *result)
{
    struct ofl_value_type type = type_at(result, 0);
    const struct ofl_meaning *leading = argument(result, 0);
    bool typeless = leading != NULL && leading->kind == OFL_MEANS_TYPELESS;
    for (unsigned i = 1; i < result->call->arg_count; i++) {
        const struct ofl_meaning *other = argument(result, i);
        if (other == NULL || other->kind == OFL_MEANS_TYPELESS ||
            (other->type.base == OFL_TYPE_INTEGER && i > 1 && strncmp(result->row->name, "dshift", 6) == 0)) {
            continue;
        }
        if (typeless) {
            type = other->type;
            typeless = false;
        } else if (ofl_type_is_numeric(type) && ofl_type_is_numeric(other->type)) {
            type = ofl_type_promoted(type, other->type);
        } else if (type.base == OFL_TYPE_LOGICAL && other->type.kind > type.kind) {
            type.kind = other->type.kind;
        } else if (type.base == OFL_TYPE_CHARACTER) {
            bool known = type.length_form == OFL_LENGTH_KNOWN && other->type.length_form == OFL_LENGTH_KNOWN;
            type.length_form = known ? OFL_LENGTH_KNOWN : OFL_LENGTH_COMPUTED;
            type.characters = other->type.characters > type.characters ? other->type.characters : type.characters;
        }
    }
    return typeless ? ofl_type_default(result->modules, OFL_TYPE_INTEGER) : type;
}

static struct ofl_value_type product(const struct result *result)
{
    struct ofl_value_type a = type_at(result, 0), b = type_at(result, 1);
    return a.base == OFL_TYPE_LOGICAL ? (b.kind > a.kind ? b : a) : ofl_type_promoted(a, b);
}

static struct ofl_value_type of_module(const struct result *result, const char *module, const char *name)
{
    const struct ofl_name *module_name = ofl_name_of(result->modules->arena, module, strlen(module));
    struct ofl_symbol *symbol = ofl_intrinsic_module(result->modules, module_name);
    struct ofl_value_type type = {.base = OFL_TYPE_DERIVED};
    if (symbol != NULL) {
        type.derived = ofl_scope_own(symbol->unit->scope, ofl_name_of(result->modules->arena, name, strlen(name)));
    }
    return type;
}

static const struct ofl_meaning *mold(const struct result *result, struct ofl_value_type *type)
{
    const struct ofl_expr *expr = ofl_call_arg(result->call, "mold");
    if (expr != NULL) {
        *type = ofl_meaning_of(result->modules, result->scope, expr)->type;
    }
    return NULL;
}

/* NULL, or the reason why the type cannot be told. */
// NOLINTNEXTLINE(readability-function-size): a flat switch
static const struct ofl_meaning *type_of(const struct result *result, struct ofl_value_type *type)
{
    struct ofl_modules *modules = result->modules;
    struct ofl_value_type first = type_at(result, 0);
    int double_kind = modules->default_double;
    *type = first;
    switch (result->row->result) {
    case OFL_RESULT_NONE:
    case OFL_RESULT_SAME:
        return NULL;
    case OFL_RESULT_PROMOTED:
        *type = promoted(result);
        return NULL;
    case OFL_RESULT_PRODUCT:
        *type = product(result);
        return NULL;
    case OFL_RESULT_INTEGER:
        *type = ofl_type_default(modules, OFL_TYPE_INTEGER);
        return NULL;
    case OFL_RESULT_INTEGER_2:
        *type = ofl_type_of_kind(OFL_TYPE_INTEGER, 2);
        return NULL;
    case OFL_RESULT_INTEGER_8:
        *type = ofl_type_of_kind(OFL_TYPE_INTEGER, 8);
        return NULL;
    case OFL_RESULT_INTEGER_KIND:
        *type = ofl_type_default(modules, OFL_TYPE_INTEGER);
        return with_kind(result, type);
    case OFL_RESULT_REAL:
        *type = ofl_type_default(modules, OFL_TYPE_REAL);
        return NULL;
    case OFL_RESULT_REAL_OF:
        type->base = first.base == OFL_TYPE_COMPLEX ? OFL_TYPE_REAL : first.base;
        return NULL;
    case OFL_RESULT_REAL_KIND:
        return with_kind(result, type);
    case OFL_RESULT_REAL_KIND_OR_PART:
        *type = ofl_type_default(modules, OFL_TYPE_REAL);
        type->kind = first.base == OFL_TYPE_COMPLEX ? first.kind : type->kind;
        return with_kind(result, type);
    case OFL_RESULT_DOUBLE:
        *type = ofl_type_of_kind(OFL_TYPE_REAL, double_kind);
        return NULL;
    case OFL_RESULT_DOUBLE_COMPLEX:
        *type = ofl_type_of_kind(OFL_TYPE_COMPLEX, double_kind);
        return NULL;
    case OFL_RESULT_COMPLEX_KIND:
        *type = ofl_type_default(modules, OFL_TYPE_COMPLEX);
        return with_kind(result, type);
    case OFL_RESULT_COMPLEX_OF: {
        struct ofl_value_type wide = ofl_type_promoted(first, type_at(result, 1));
        *type = ofl_type_of_kind(OFL_TYPE_COMPLEX, wide.base == OFL_TYPE_REAL ? wide.kind : modules->default_real);
        return NULL;
    }
    case OFL_RESULT_LOGICAL:
        *type = ofl_type_default(modules, OFL_TYPE_LOGICAL);
        return NULL;
    case OFL_RESULT_LOGICAL_KIND:
        *type = ofl_type_default(modules, OFL_TYPE_LOGICAL);
        return with_kind(result, type);
    case OFL_RESULT_CHARACTER_KIND:
    case OFL_RESULT_CHARACTER_OF:
        *type = ofl_type_of_kind(OFL_TYPE_CHARACTER, result->row->result == OFL_RESULT_CHARACTER_OF ? first.kind : 1);
        type->length_form = OFL_LENGTH_KNOWN;
        type->characters = 1;
        return with_kind(result, type);
    case OFL_RESULT_TEXT:
    case OFL_RESULT_TEXT_DEFAULT:
        *type = ofl_type_of_kind(OFL_TYPE_CHARACTER, result->row->result == OFL_RESULT_TEXT ? first.kind : 1);
        type->length_form = OFL_LENGTH_COMPUTED;
        return NULL;
    case OFL_RESULT_MOLD:
    case OFL_RESULT_NULL:
        return mold(result, type);
    case OFL_RESULT_BESSEL:
        *type = type_at(result, argument(result, 2) != NULL ? 2 : 1);
        return NULL;
    case OFL_RESULT_C_PTR:
        *type = of_module(result, "iso_c_binding", "c_ptr");
        return NULL;
    case OFL_RESULT_C_FUNPTR:
        *type = of_module(result, "iso_c_binding", "c_funptr");
        return NULL;
    case OFL_RESULT_IEEE_CLASS:
        *type = of_module(result, "ieee_arithmetic", "ieee_class_type");
        return NULL;
    }
    return NULL;
}

/* The number of elements of a vector that is known here. */
static bool vector_size(const struct result *result, const struct ofl_expr *expr, unsigned *size)
{
    int64_t extents[OFL_MAX_RANK];
    if (expr == NULL || !ofl_constant_shape(result->modules, result->scope, expr, extents) || extents[0] < 0 ||
        extents[0] > OFL_MAX_RANK) {
        return false;
    }
    *size = (unsigned)extents[0];
    return true;
}

static const struct ofl_meaning *rank_of(const struct result *result, unsigned *rank)
{
    bool dim = ofl_call_arg(result->call, "dim") != NULL;
    unsigned of_first = rank_at(result, 0), of_second = rank_at(result, 1);
    *rank = 0;
    switch (result->row->shape) {
    case OFL_SHAPE_SCALAR:
        return NULL;
    case OFL_SHAPE_ARGUMENTS:
        *rank = result->call->rank;
        return NULL;
    case OFL_SHAPE_FIRST:
        *rank = of_first;
        return NULL;
    case OFL_SHAPE_VECTOR:
        *rank = 1;
        return NULL;
    case OFL_SHAPE_REDUCED:
        *rank = dim && of_first > 0 ? of_first - 1 : 0;
        return NULL;
    case OFL_SHAPE_LOCATION:
        *rank = dim ? of_first - 1 : 1;
        return NULL;
    case OFL_SHAPE_BOUNDS:
        *rank = dim ? 0 : 1;
        return NULL;
    case OFL_SHAPE_MATMUL:
        *rank = of_first == 2 && of_second == 2 ? 2 : 1;
        return NULL;
    case OFL_SHAPE_RESHAPE:
        return vector_size(result, result->call->args[1], rank)
                   ? NULL
                   : ofl_unknown(result->modules, result->place,
                                 "the size of the argument 'shape' of intrinsic 'reshape' is not known here");
    case OFL_SHAPE_SPREAD:
        *rank = of_first + 1;
        return NULL;
    case OFL_SHAPE_TRANSFER:
        *rank = ofl_call_arg(result->call, "size") != NULL || of_second > 0;
        return NULL;
    case OFL_SHAPE_MASK: {
        const struct ofl_expr *mask = ofl_call_arg(result->call, "mask");
        *rank = mask != NULL ? ofl_meaning_of(result->modules, result->scope, mask)->rank : 0;
        return NULL;
    }
    case OFL_SHAPE_BESSEL:
        *rank = argument(result, 2) != NULL ? 1 : of_first > of_second ? of_first : of_second;
        return NULL;
    case OFL_SHAPE_NULL:
        *rank = of_first;
        return NULL;
    }
    return NULL;
}

/* A constant expression: constant arguments, or a question that the declarations answer.  F2018 10.1.12. */
static bool is_constant(const struct result *result, const struct ofl_meaning *meaning)
{
    if (!ofl_intrinsic_is_pure(result->row) || meaning->value != NULL) {
        return meaning->value != NULL;
    }
    if (result->row->class == OFL_INTRINSIC_INQUIRY || result->call->arg_count == 0) {
        return false;
    }
    for (unsigned i = 0; i < result->call->arg_count; i++) {
        const struct ofl_meaning *actual = argument(result, i);
        if (actual != NULL && !actual->constant) {
            return false;
        }
    }
    return true;
}

const struct ofl_meaning *ofl_meaning_intrinsic(struct ofl_modules *modules, const struct ofl_call *call,
                                                struct ofl_scope *scope, struct ofl_span place)
{
    const struct ofl_intrinsic *intrinsic = call->procedure->intrinsic;
    const struct result result = {modules, call, ofl_intrinsic_row(intrinsic->id), scope, place};
    if (!ofl_intrinsic_is_function(intrinsic)) {
        return ofl_unknown(modules, place, "%s is no function", ofl_procedure_text(modules, call->procedure));
    }
    bool null = intrinsic->id == OFL_INTRINSIC_NULL;
    struct ofl_meaning *meaning =
        ofl_meaning_new(modules, null && call->args[0] == NULL ? OFL_MEANS_TYPELESS : OFL_MEANS_FUNCTION);
    meaning->call = call;
    const struct ofl_meaning *why = type_of(&result, &meaning->type);
    why = why == NULL ? rank_of(&result, &meaning->rank) : why;
    if (why != NULL) {
        return why;
    }
    if (intrinsic->specific && intrinsic->argument_kind != OFL_KIND_ANY) {
        meaning->type = ofl_type_default(modules, intrinsic->result_type);
        meaning->type.kind = intrinsic->result_kind == OFL_KIND_DOUBLE ? modules->default_double : meaning->type.kind;
    }
    if (meaning->kind == OFL_MEANS_TYPELESS) {
        meaning->type = ofl_type_of_kind(OFL_TYPE_ASSUMED, 0);
        meaning->pointer = true;
        return meaning;
    }
    meaning->pointer = null;
    meaning->value = ofl_value_intrinsic(modules, call, scope, meaning);
    meaning->constant = is_constant(&result, meaning);
    if (meaning->value != NULL && meaning->type.base == OFL_TYPE_CHARACTER && meaning->value->rank == 0) {
        meaning->type.length_form = OFL_LENGTH_KNOWN;
        meaning->type.characters = (int64_t)meaning->value->length;
    }
    return meaning;
}
