/* Meaning: what every expression, call and assignment of a program is.
 *
 * The tree leaves open what declarations decide; this layer closes it: types, ranks and values of expressions, what a
 * call is, which procedure a reference, an operator or an assignment reaches, and what that procedure is.  It works
 * lazily and remembers: each question is answered once, and answers live as long as the arena.  Ask after
 * ofl_scopes_build.
 *
 * What cannot be told is OFL_MEANS_UNKNOWN with a reason and a place, never a guess: a consumer that needs the answer
 * reports it with ofl_meaning_report and stops there.  A part that is unknown makes the whole unknown, with the part's
 * reason.  A program that the rules of the language forbid may get a meaning all the same where nothing depends on it.
 *
 * Kinds are gfortran's: bytes of an integer, real or logical, bytes of ONE part of a complex number (complex(8) has
 * kind 8), 1 or 4 for characters. */
#ifndef OFL_FORTRAN_MEANING_H
#define OFL_FORTRAN_MEANING_H

#include "fortran/scope.h"

#include "fortran/float128.h"

#define OFL_MAX_RANK 15

struct ofl_intrinsic; /* intrinsics.h */
struct ofl_meaning;
struct ofl_call;

/* ---- Types ------------------------------------------------------------------------------------------------------ */

enum ofl_length {
    OFL_LENGTH_NONE,     /* no character, or not asked for */
    OFL_LENGTH_KNOWN,    /* `characters` */
    OFL_LENGTH_EXPR,     /* the value of `length`, in `length_scope`, when the object came to be */
    OFL_LENGTH_ASSUMED,  /* len=*: the actual argument's */
    OFL_LENGTH_DEFERRED, /* len=: */
    OFL_LENGTH_COMPUTED  /* of an expression: only its evaluation tells */
};

/* A type with its parameters.  `base` is INTEGER, REAL, COMPLEX, LOGICAL, CHARACTER, DERIVED, CLASS, CLASS_STAR,
 * ASSUMED (type(*)); RECORD only for DEC structures, which nothing here looks into. */
struct ofl_value_type {
    enum ofl_type_kind base;
    int kind;                       /* intrinsic types */
    struct ofl_symbol *derived;     /* DERIVED, CLASS: the type's symbol */
    enum ofl_length length_form;    /* CHARACTER */
    int64_t characters;             /* OFL_LENGTH_KNOWN; never negative */
    const struct ofl_expr *length;  /* OFL_LENGTH_EXPR */
    struct ofl_scope *length_scope; /* where to ask for it */
};

/* "real(8)", "character(len=5)", "type(point)", "class(*)". */
const char *ofl_type_text(struct ofl_modules *modules, struct ofl_value_type type);

/* Same type and kind; derived types by definition (a type reached through two modules is one), or by name and contents
 * for sequence and bind(c) types.  Lengths do not count. */
bool ofl_type_same(struct ofl_value_type a, struct ofl_value_type b);

/* The type that a derived type extends, or NULL; whether `type` is `ancestor` or extends it. */
struct ofl_symbol *ofl_type_parent(const struct ofl_symbol *type);
bool ofl_type_extends(const struct ofl_symbol *type, const struct ofl_symbol *ancestor);

/* The components of a derived type in order, the parents' first (F2018 7.5.4.7), the parent component itself not among
 * them.  *count is their number; NULL with a *count of 0 if there are none or the type has none at hand. */
struct ofl_symbol **ofl_type_components(struct ofl_modules *modules, const struct ofl_symbol *type, size_t *count);

/* ---- Values of constant expressions ----------------------------------------------------------------------------- */

typedef ofl_float128 ofl_real; /* holds every value of the kinds 4, 8, 10 and 16 exactly */
typedef __int128 ofl_integer;

/* A value.  Arrays: `elements` in array element order.  Derived types: `elements` are the components, in the order of
 * ofl_type_components; an element that is NULL has no constant value (an absent default, a null pointer). */
struct ofl_constant {
    enum ofl_type_kind base; /* INTEGER REAL COMPLEX LOGICAL CHARACTER DERIVED */
    int kind;
    unsigned rank;
    const int64_t *extent;                /* arrays: `rank` of them */
    size_t count;                         /* of elements; a scalar of an intrinsic type: 0 */
    const struct ofl_constant **elements; /* arrays, derived types */
    const struct ofl_symbol *derived;     /* DERIVED: the type */
    union {
        ofl_integer integer; /* INTEGER; LOGICAL: 0 or 1 */
        struct {
            ofl_real re, im; /* REAL: re; COMPLEX; rounded to the kind */
        };
        struct {
            const char *text; /* CHARACTER: `length` bytes */
            size_t length;
        };
    };
};

/* The bit pattern of a real value in its kind 4 or 8 (kind 10 and 16: of the nearest real(8)). */
uint64_t ofl_constant_bits(ofl_real value, int kind);

/* ---- Procedures ------------------------------------------------------------------------------------------------- */

enum ofl_procedure_kind {
    OFL_PROCEDURE_INTRINSIC, /* `intrinsic` */
    OFL_PROCEDURE_EXTERNAL,  /* also with an interface body only */
    OFL_PROCEDURE_MODULE,    /* of a module or submodule, separate module procedures included */
    OFL_PROCEDURE_INTERNAL,
    OFL_PROCEDURE_STATEMENT, /* a statement function: symbol->definition */
    OFL_PROCEDURE_DUMMY,     /* a dummy procedure: the target is known at run time only */
    OFL_PROCEDURE_POINTER,   /* a procedure pointer, components included */
    OFL_PROCEDURE_DEFERRED   /* a deferred binding */
};

enum ofl_intent { OFL_INTENT_NONE, OFL_INTENT_IN, OFL_INTENT_OUT, OFL_INTENT_INOUT };

struct ofl_dummy {
    const struct ofl_name *name; /* "*" for an alternate return */
    struct ofl_symbol *symbol;   /* in the interface's scope; NULL for intrinsics and alternate returns */
    enum ofl_intent intent;
    bool optional, value;
    bool procedure; /* a dummy procedure */
    bool alternate; /* an alternate return */
};

/* A procedure, once per procedure: compare pointers. */
struct ofl_procedure {
    enum ofl_procedure_kind kind;
    const struct ofl_name *name;
    struct ofl_symbol *symbol;             /* of its declaration; NULL: intrinsic, or never declared */
    const struct ofl_intrinsic *intrinsic; /* INTRINSIC */
    const struct ofl_unit *interface;      /* that declares the dummies; NULL if implicit or intrinsic */
    const struct ofl_unit *body;           /* with statements; NULL if it is not at hand */
    bool function;
    bool is_pure;        /* declared pure or simple, elemental without impure, or an intrinsic that is pure */
    bool is_impure;      /* declared impure */
    bool is_elemental;   /* also impure elemental */
    bool is_recursive;   /* declared recursive */
    bool has_interface;  /* an explicit interface; else only name and result type are known */
    const char *binding; /* its name for bind(c); NULL without */
    struct ofl_dummy *dummies;
    unsigned dummy_count;
    struct ofl_symbol *result; /* a function's result variable; NULL: intrinsic, or without explicit interface */

    struct ofl_reference *references; /* private to meaning_reach.c, as the next two */
    bool walked;
    unsigned mark;
};

/* The procedure that a symbol stands for (FUNCTION, SUBROUTINE, PROCEDURE; a procedure pointer's or a dummy
 * procedure's interface).  NULL if the symbol is no procedure. */
const struct ofl_procedure *ofl_procedure_of(struct ofl_modules *modules, struct ofl_symbol *symbol);

/* The procedure of a unit that is a function or subroutine.  NULL for other units. */
const struct ofl_procedure *ofl_procedure_of_unit(struct ofl_modules *modules, const struct ofl_unit *unit);

/* "function 'f'", "subroutine 's' of module 'm'", "intrinsic function 'sin'". */
const char *ofl_procedure_text(struct ofl_modules *modules, const struct ofl_procedure *procedure);

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* A reference to a procedure, by function reference, call statement, defined operator or defined assignment. */
struct ofl_call {
    const struct ofl_procedure *procedure; /* the specific one, generics resolved */
    struct ofl_symbol *generic;            /* the generic name it was reached by, or NULL */
    struct ofl_symbol *binding;            /* the type-bound procedure it was reached by, or NULL */
    bool dynamic;   /* the passed object is polymorphic and the binding can be overridden: `procedure` is the one of the
                       declared type */
    bool elemental; /* applied to each element: some actual argument is an array where the dummy is a scalar */
    unsigned rank;  /* of an elemental one */
    const struct ofl_expr *passed; /* the passed object, NULL if there is none; it is also in `args` */
    const struct ofl_expr *target; /* a procedure pointer component: the designator called; else NULL */
    /* By position of the dummies; NULL: an optional argument that is absent.  Without an explicit interface, and for
     * max, min and the like, the actual arguments as they are written. */
    const struct ofl_expr **args;
    unsigned arg_count;
};

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

enum ofl_meaning_kind {
    OFL_MEANS_UNKNOWN,   /* `reason`, `place` */
    OFL_MEANS_LITERAL,   /* has a value */
    OFL_MEANS_TYPELESS,  /* a BOZ or Hollerith constant, null() without mold: takes its type from where it stands */
    OFL_MEANS_VARIABLE,  /* a named data object: `symbol` (variable, dummy, result, index, associate name) */
    OFL_MEANS_CONSTANT,  /* a named constant: `symbol`; `value` unless it is too large */
    OFL_MEANS_ELEMENT,   /* an array element: base, `subscripts` */
    OFL_MEANS_SECTION,   /* an array section: base, `subscripts` (ranges, vectors and scalars) */
    OFL_MEANS_SUBSTRING, /* base, `range` */
    OFL_MEANS_COMPONENT, /* base%name: `symbol` is the component; base may be the parent component (symbol NULL) */
    OFL_MEANS_PART,      /* %re or %im of a complex: `imaginary` */
    OFL_MEANS_PARAMETER, /* %kind or %len: a value of default integer type */
    OFL_MEANS_FUNCTION,  /* a function reference: `call` */
    OFL_MEANS_STRUCTURE, /* a structure constructor: `type`, `components` */
    OFL_MEANS_OPERATION, /* an intrinsic operation or parentheses */
    OFL_MEANS_DEFINED,   /* a defined operation: `call` */
    OFL_MEANS_ARRAY,     /* an array constructor */
    OFL_MEANS_COMPLEX,   /* (re, im) */
    OFL_MEANS_PROCEDURE, /* a procedure as such (actual argument, procedure pointer): `procedure`, or `symbol` if
                            generic */
    OFL_MEANS_ARRAYS,    /* arr%component where both are arrays: only the base of subscripts, as in arr%component(i) */
    OFL_MEANS_TYPE,      /* the name of a type: only the base of a structure constructor */
    OFL_MEANS_RANGE,     /* lower:upper:step as a subscript */
    OFL_MEANS_OTHER      /* what has no value: *, :, a label, an implied do */
};

/* What a structure constructor gives a component.  Inherited components come first; a parent component that is given
 * as a whole has its components' expressions NULL and `whole` set to the expression of the parent. */
struct ofl_component_value {
    struct ofl_symbol *component;
    const struct ofl_expr *value; /* NULL: by default initialization, or from `whole` */
    const struct ofl_expr *whole; /* the parent component's expression that has this component, or NULL */
};

struct ofl_meaning {
    enum ofl_meaning_kind kind;
    struct ofl_value_type type;       /* of VARIABLE ... COMPLEX; PROCEDURE of a function: its result's */
    unsigned rank;                    /* OFL_ASSUMED_RANK is possible */
    bool designator;                  /* a variable or part of one: it has an address */
    bool definable;                   /* a designator that may be assigned as far as its declaration says */
    bool allocatable, pointer;        /* the thing itself (a whole variable, a component), not what it is part of */
    bool constant;                    /* a constant expression in the sense of F2018 10.1.12 */
    const struct ofl_constant *value; /* its value; NULL if not constant or not worked out (see ofl_value_why) */
    struct ofl_symbol *symbol;
    const struct ofl_procedure *procedure;        /* PROCEDURE */
    const struct ofl_call *call;                  /* FUNCTION, DEFINED */
    const struct ofl_expr *base;                  /* ELEMENT SECTION SUBSTRING COMPONENT PART PARAMETER */
    const struct ofl_arg *subscripts;             /* ELEMENT, SECTION */
    const struct ofl_expr *range;                 /* SUBSTRING: an OFL_EXPR_RANGE */
    const struct ofl_component_value *components; /* STRUCTURE, in the order of ofl_type_components */
    size_t component_count;
    bool imaginary;        /* PART */
    const char *reason;    /* UNKNOWN */
    bool unsupported;      /* UNKNOWN: right, but not yet implemented */
    struct ofl_span place; /* UNKNOWN: what the reason is about */
    struct ofl_span other; /* UNKNOWN: where something is declared that the reason speaks of; begin 0 if nowhere */
    unsigned generation;   /* private */
};

/* The meaning of an expression that stands in `scope` (ofl_scope_of a statement).  Never NULL. */
const struct ofl_meaning *ofl_meaning_of(struct ofl_modules *modules, struct ofl_scope *scope,
                                         const struct ofl_expr *expr);

/* Reports an unknown meaning as an error at its place, with a note where the other place is. */
void ofl_meaning_report(struct ofl_diagnostics *diagnostics, const struct ofl_meaning *meaning);

/* ---- Symbols ---------------------------------------------------------------------------------------------------- */

/* A data object's or function result's type; UNKNOWN comes back as false with *why set (NULL is allowed). */
bool ofl_symbol_type(struct ofl_modules *modules, struct ofl_symbol *symbol, struct ofl_value_type *type,
                     const struct ofl_meaning **why);

/* Its rank: declared, or an associate name's selector's. */
unsigned ofl_symbol_rank(struct ofl_modules *modules, struct ofl_symbol *symbol);

/* ---- Statements ------------------------------------------------------------------------------------------------- */

/* What a call statement calls, and a defined assignment.  Exactly one of them is set:
 *   why      it cannot be told (an UNKNOWN meaning)
 *   call     a call statement; a defined assignment (args: target, value)
 *   neither  an intrinsic assignment (also the elementwise one of derived types with defined assignment of
 *            components, F2018 10.2.1.3: see `components`). */
struct ofl_action {
    const struct ofl_meaning *why;
    const struct ofl_call *call;
    bool components; /* intrinsic assignment of a derived type; some component has a type-bound assignment of its own */
};

/* Of an OFL_STMT_CALL or OFL_STMT_ASSIGN.  `scope` is ofl_scope_of(stmt, unit). */
const struct ofl_action *ofl_action_of(struct ofl_modules *modules, struct ofl_scope *scope, struct ofl_stmt *stmt);

/* ---- What code reaches ------------------------------------------------------------------------------------------ */

/* Calls the functions for every expression (outermost first, all subexpressions, only where they are evaluated: what is
 * below a constant is not visited) and every procedure reference of a block's statements and of those below them:
 * limits, subscripts, selectors, specification expressions of block constructs included.  False from `expr` skips what
 * is below.  Either function may be NULL. */
struct ofl_visitor {
    bool (*expr)(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                 void *context);
    void (*call)(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context);
    void (*stmt)(struct ofl_stmt *stmt, struct ofl_scope *scope, void *context); /* before its expressions */
    void *context;
};

void ofl_visit_block(struct ofl_modules *modules, const struct ofl_unit *unit, const struct ofl_block *block,
                     const struct ofl_visitor *visitor);
void ofl_visit_stmt(struct ofl_modules *modules, const struct ofl_unit *unit, struct ofl_stmt *stmt,
                    const struct ofl_visitor *visitor);

/* The same for what a statement evaluates itself, without the statements below it. */
void ofl_visit_own(struct ofl_modules *modules, struct ofl_scope *scope, struct ofl_stmt *stmt,
                   const struct ofl_visitor *visitor);

/* Of one expression and all below it. */
void ofl_visit_expr(struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr,
                    const struct ofl_visitor *visitor);

/* A procedure that a loop reaches, with the way to it: `caller` NULL where the loop itself refers to it. */
struct ofl_reached {
    const struct ofl_procedure *procedure;
    const struct ofl_reached *caller;
    struct ofl_span reference; /* where it is referred to */
    struct ofl_reached *next;
};

/* All procedures that a statement (a loop) refers to, directly or through others, each once, nearest first.  For a
 * dynamic call every override that is at hand counts; finalizers and defined assignments of components are included.
 * What is unknown is not in it: the visitor meets it. */
struct ofl_reached *ofl_reached_from(struct ofl_modules *modules, const struct ofl_unit *unit, struct ofl_stmt *stmt);
#endif
