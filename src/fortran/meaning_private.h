/* What the files of the meaning layer share; see meaning.h for what they do together.
 *
 *   meaning.c            questions, memory, names, literals
 *   meaning_type.c       types of symbols, comparing types, derived types
 *   meaning_designator.c elements, sections, substrings, components
 *   meaning_operator.c   operations, intrinsic assignment
 *   meaning_call.c       references: what a call is
 *   meaning_associate.c  arguments and dummies
 *   meaning_generic.c    the specific procedures of a generic, and the choice among them
 *   meaning_bound.c      type-bound procedures and generics
 *   meaning_procedure.c  procedures
 *   meaning_intrinsic.c  references to intrinsic procedures
 *   meaning_constructor.c  structure and array constructors
 *   meaning_value.c, meaning_arith.c, meaning_part.c, meaning_shape.c, meaning_fold.c, meaning_fold_array.c
 *                        values of constant expressions
 *   meaning_visit.c      statements, and what code reaches */
#ifndef OFL_FORTRAN_MEANING_PRIVATE_H
#define OFL_FORTRAN_MEANING_PRIVATE_H

#include "fortran/intrinsics.h"
#include "fortran/meaning.h"
#include "fortran/scope_private.h"

/* ---- meaning.c ---- */

struct ofl_meaning *ofl_meaning_new(struct ofl_modules *modules, enum ofl_meaning_kind kind);

/* UNKNOWN, at a place. */
struct ofl_meaning *ofl_unknown(struct ofl_modules *modules, struct ofl_span place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for what is right but not done. */
struct ofl_meaning *ofl_unknown_yet(struct ofl_modules *modules, struct ofl_span place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a name that nothing declares means here: a reason that fits (a module that is not at hand, implicit none). */
struct ofl_meaning *ofl_unknown_name(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name,
                                     struct ofl_span place);

/* The meaning of a symbol as a whole at a place. */
const struct ofl_meaning *ofl_meaning_of_symbol(struct ofl_modules *modules, struct ofl_symbol *symbol,
                                                struct ofl_span place);

/* Whether a name is an intrinsic procedure where it stands: nothing else has it. */
const struct ofl_intrinsic *ofl_intrinsic_here(struct ofl_scope *scope, const struct ofl_name *name);

/* The symbol of a name, that of the unit around it included; NULL if nothing declares it. */
struct ofl_symbol *ofl_symbol_here(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name);

/* ---- meaning_type.c ---- */

/* Walks over types go into each type once, whatever refers to it: a number for a walk, and whether a type is new to it.
 */
unsigned ofl_type_walk(void);
bool ofl_type_first(struct ofl_symbol *type, unsigned walk);

struct ofl_value_type ofl_type_default(const struct ofl_modules *modules, enum ofl_type_kind base);
static inline struct ofl_value_type ofl_type_of_kind(enum ofl_type_kind base, int kind)
{
    return (struct ofl_value_type){.base = base, .kind = kind};
}
bool ofl_type_is_numeric(struct ofl_value_type type);

/* The value type of a type-spec in a scope; false with *why. */
bool ofl_type_of_spec(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_type_spec *spec,
                      struct ofl_value_type *type, const struct ofl_meaning **why);
/* The result variable of a function's unit, or NULL. */
struct ofl_symbol *ofl_result_of(const struct ofl_unit *unit);
struct ofl_symbol *ofl_type_find(struct ofl_scope *scope, const struct ofl_name *name);

/* The component, or the parent component (then *parent is the parent's type and the result NULL), of a name. */
struct ofl_symbol *ofl_component_of(const struct ofl_symbol *type, const struct ofl_name *name,
                                    struct ofl_symbol **parent);

/* ---- meaning_designator.c, meaning_operator.c, meaning_constructor.c ---- */

const struct ofl_meaning *ofl_meaning_component(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr);
/* base(args) where base is data. */
const struct ofl_meaning *ofl_meaning_subscripted(struct ofl_modules *modules, struct ofl_scope *scope,
                                                  const struct ofl_expr *expr, const struct ofl_meaning *base);
const struct ofl_meaning *ofl_meaning_operation(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr);
const struct ofl_meaning *ofl_meaning_array(struct ofl_modules *modules, struct ofl_scope *scope,
                                            const struct ofl_expr *expr);
const struct ofl_meaning *ofl_meaning_structure(struct ofl_modules *modules, struct ofl_scope *scope,
                                                const struct ofl_expr *expr, struct ofl_symbol *type);
struct ofl_scope *ofl_implied_do_scope(struct ofl_modules *modules, struct ofl_scope *scope,
                                       const struct ofl_expr *expr);
/* The type of a numeric operation. */
struct ofl_value_type ofl_type_promoted(struct ofl_value_type a, struct ofl_value_type b);

/* ---- Calls ---- */

/* A way to name a generic. */
struct ofl_generic_key {
    enum ofl_generic_kind kind;
    enum ofl_operator op;
    const struct ofl_name *name; /* of a generic name or a defined operator */
};

/* A list of procedures. */
struct ofl_specific {
    const struct ofl_procedure *procedure; /* NULL: `why` */
    struct ofl_symbol *binding;            /* type-bound */
    const struct ofl_meaning *why;         /* a specific that cannot be told */
    struct ofl_specific *next;
};

struct ofl_specifics {
    struct ofl_specific *first, *last;
    bool open; /* a module that is not at hand may have more: `missing` */
    const struct ofl_stmt *missing;
};

/* The actual arguments of a reference. */
struct ofl_actuals {
    struct ofl_scope *scope;
    const struct ofl_arg *list;    /* as written */
    const struct ofl_expr *passed; /* the passed object, not in the list; NULL without */
    unsigned passed_at;            /* the dummy it goes to */
    struct ofl_span place;         /* of the reference */
};

void ofl_gather(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_generic_key *key,
                struct ofl_specifics *specifics);
/* Those of a type-bound generic; the bindings are those that `type` has. */
void ofl_gather_bound(struct ofl_modules *modules, const struct ofl_symbol *type, const struct ofl_generic_key *key,
                      struct ofl_specifics *specifics);

/* The specific that fits; NULL if none does (then *why may say something better than that, else NULL). */
struct ofl_call *ofl_choose(struct ofl_modules *modules, const struct ofl_specifics *specifics,
                            const struct ofl_actuals *actuals, const struct ofl_meaning **why);

/* The passed object is put at its dummy's place. */
bool ofl_passed_at(const struct ofl_symbol *binding, const struct ofl_procedure *procedure, unsigned *position);

/* A call of a procedure with these arguments.  NULL with *why if they do not fit; `generic` demands that ranks agree
 * and leaves *why alone. */
struct ofl_call *ofl_associate(struct ofl_modules *modules, const struct ofl_procedure *procedure,
                               const struct ofl_actuals *actuals, bool generic, const struct ofl_meaning **why);

/* The meaning of a function reference by a call: the result's type and rank. */
const struct ofl_meaning *ofl_meaning_result(struct ofl_modules *modules, enum ofl_meaning_kind kind,
                                             const struct ofl_call *call, struct ofl_scope *scope,
                                             struct ofl_span place);

/* OFL_EXPR_CALL in an expression. */
const struct ofl_meaning *ofl_meaning_call(struct ofl_modules *modules, struct ofl_scope *scope,
                                           const struct ofl_expr *expr);

/* A reference to a named procedure or generic by a symbol, or an intrinsic (symbol NULL). NULL with *why. */
struct ofl_call *ofl_call_named(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_name *name,
                                struct ofl_symbol *symbol, const struct ofl_actuals *actuals, bool function,
                                const struct ofl_meaning **why);

/* A reference to base%name(args).  NULL with *why. */
struct ofl_call *ofl_call_component(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *base,
                                    const struct ofl_actuals *actuals, const struct ofl_meaning **why);

/* The types of the actual arguments, for messages: "real(8), integer(4)". */
const char *ofl_actuals_text(struct ofl_modules *modules, const struct ofl_actuals *actuals);

/* The procedure that a type-bound procedure's symbol is bound to; a deferred one has its interface. */
const struct ofl_procedure *ofl_binding_procedure(struct ofl_modules *modules, struct ofl_symbol *binding);

/* ---- Intrinsic procedures ---- */

const struct ofl_procedure *ofl_procedure_of_intrinsic(struct ofl_modules *modules,
                                                       const struct ofl_intrinsic *intrinsic);
struct ofl_call *ofl_call_intrinsic(struct ofl_modules *modules, const struct ofl_intrinsic *intrinsic,
                                    const struct ofl_actuals *actuals, const struct ofl_meaning **why);
const struct ofl_meaning *ofl_meaning_intrinsic(struct ofl_modules *modules, const struct ofl_call *call,
                                                struct ofl_scope *scope, struct ofl_span place);

/* An intrinsic procedure that a compilation refers to. */
struct ofl_intrinsic_procedure {
    struct ofl_procedure procedure;
    struct ofl_intrinsic_procedure *next;
};

/* The argument of a dummy's name; NULL if it is absent. */
const struct ofl_expr *ofl_call_arg(const struct ofl_call *call, const char *name);
/* The extents of an array expression that are known here; false if they are not. */
bool ofl_constant_shape(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr,
                        int64_t *extents);

/* ---- Values ---- */

struct ofl_constant *ofl_constant_new(struct ofl_modules *modules, enum ofl_type_kind base, int kind);
/* An array to be filled; NULL if so many elements are too many, or too many have been made already. */
struct ofl_constant *ofl_value_array_new(struct ofl_modules *modules, struct ofl_value_type type, unsigned rank,
                                         const int64_t *extents, size_t count);
const struct ofl_constant *ofl_value_integer(struct ofl_modules *modules, int kind, ofl_integer value);
const struct ofl_constant *ofl_value_logical(struct ofl_modules *modules, int kind, bool value);
const struct ofl_constant *ofl_value_real(struct ofl_modules *modules, int kind, ofl_real value);
const struct ofl_constant *ofl_value_text(struct ofl_modules *modules, int kind, const char *text, size_t length);
bool ofl_integer_fits(ofl_integer number, int kind);
/* The bounds of a declared array, if they are constant; an extent of -1 is what the value or caller says (`*`). */
bool ofl_symbol_bounds(struct ofl_modules *modules, const struct ofl_symbol *symbol, int64_t *lowers, int64_t *extents);
ofl_real ofl_real_round(ofl_real value, int kind);
const struct ofl_constant *ofl_value_literal(struct ofl_modules *modules, const struct ofl_expr *expr,
                                             struct ofl_value_type type);
/* Converts a value as assignment does; NULL if it does not fit. */
const struct ofl_constant *ofl_value_convert(struct ofl_modules *modules, const struct ofl_constant *value,
                                             struct ofl_value_type type);
int ofl_text_compare(const struct ofl_constant *a, const struct ofl_constant *b); /* -1, 0 or 1 */
const struct ofl_constant *ofl_value_unary(struct ofl_modules *modules, enum ofl_operator op,
                                           const struct ofl_constant *value, struct ofl_value_type type);
const struct ofl_constant *ofl_value_binary(struct ofl_modules *modules, enum ofl_operator op,
                                            const struct ofl_constant *left, const struct ofl_constant *right,
                                            struct ofl_value_type type);
/* A value as an object of this symbol's declaration holds it: converted, a scalar given to all elements.  NULL if that
 * cannot be worked out. */
const struct ofl_constant *ofl_value_shaped(struct ofl_modules *modules, struct ofl_symbol *symbol,
                                            struct ofl_value_type type, const struct ofl_constant *value);
/* Of a named constant. */
const struct ofl_constant *ofl_value_of_symbol(struct ofl_modules *modules, struct ofl_symbol *symbol);
/* The value of an intrinsic function; NULL if it is not worked out. */
const struct ofl_constant *ofl_value_intrinsic(struct ofl_modules *modules, const struct ofl_call *call,
                                               struct ofl_scope *scope, const struct ofl_meaning *meaning);
/* meaning_fold_array.c: the parts of ofl_value_intrinsic. */
const struct ofl_constant *ofl_value_boz(struct ofl_modules *modules, const struct ofl_constant *value,
                                         struct ofl_value_type type);
const struct ofl_constant *ofl_value_text_function(struct ofl_modules *modules, enum ofl_intrinsic_id id,
                                                   const struct ofl_constant *const *args, unsigned count,
                                                   struct ofl_value_type type);
const struct ofl_constant *ofl_value_array_inquiry(struct ofl_modules *modules, const struct ofl_call *call,
                                                   struct ofl_scope *scope, struct ofl_value_type type);
const struct ofl_constant *ofl_value_transformed(struct ofl_modules *modules, const struct ofl_call *call,
                                                 const struct ofl_constant *const *values, struct ofl_value_type type);
/* Of a section, element, substring, component or part. */
const struct ofl_constant *ofl_value_part(struct ofl_modules *modules, struct ofl_scope *scope,
                                          const struct ofl_meaning *meaning);
/* Of an array constructor: its elements one after the other, NULL if they are not constant or too many. */
const struct ofl_constant *ofl_value_array(struct ofl_modules *modules, struct ofl_scope *scope,
                                           const struct ofl_expr *expr, struct ofl_value_type type);
/* A constant integer that fits 64 bits. */
bool ofl_value_int64(const struct ofl_constant *value, int64_t *number);

/* Calls `f` elementwise on one or two values, broadcasting scalars. */
typedef const struct ofl_constant *ofl_elementwise(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                                   unsigned count, const void *context);
const struct ofl_constant *ofl_value_map(struct ofl_modules *modules, const struct ofl_constant *const *args,
                                         unsigned count, struct ofl_value_type type, ofl_elementwise *f,
                                         const void *context);

/* What asks about a type only. */
bool ofl_is_type_inquiry(enum ofl_intrinsic_id id);

enum { OFL_MAX_FOLDED = 1 << 16, OFL_MAX_ELEMENTS = 1 << 22, OFL_MAX_QUESTIONS = 2500 };

#endif
