/* Scopes: what a name means where it stands.
 *
 * ofl_scopes_build goes once over a file's tree and makes a scope for each unit, derived type, block and associate
 * construct, with a symbol for each name declared in it: class, type, kind, rank, bounds, attributes, where it lives.
 * It also settles what the grammar leaves open and declarations decide: statement functions among the assignments.
 * Modules of the same compilation are found by `use` (also in another file, if that file's scopes were built with the
 * same struct ofl_modules before); the intrinsic modules are built in.  A name from a module that is not at hand makes
 * the scope `open`: a lookup that fails there does not mean that the name is undeclared.
 *
 * Wrong programs are the host compiler's to diagnose: contradicting declarations give the first one's meaning,
 * silently. What this does not do: types of expressions, generic resolution, checks. */
#ifndef OFL_FORTRAN_SCOPE_H
#define OFL_FORTRAN_SCOPE_H

#include "fortran/diagnostic.h"
#include "fortran/tree.h"

struct ofl_constant; /* meaning.h */
struct ofl_intrinsic_procedure;

enum ofl_symbol_class {
    OFL_SYMBOL_VARIABLE,
    OFL_SYMBOL_CONSTANT, /* named constant or enumerator: `value` */
    OFL_SYMBOL_FUNCTION, /* external, module, internal, dummy, intrinsic or statement function, also with pointer */
    OFL_SYMBOL_SUBROUTINE,
    OFL_SYMBOL_PROCEDURE, /* external or procedure(...) of which it is not known whether it is a function */
    OFL_SYMBOL_GENERIC,   /* a generic interface: `generic` */
    OFL_SYMBOL_TYPE,      /* `definition` */
    OFL_SYMBOL_MODULE,
    OFL_SYMBOL_NAMELIST,
    OFL_SYMBOL_ASSOCIATE, /* an associate name: `value` is its selector */
    OFL_SYMBOL_INDEX      /* an index of do concurrent, forall or implied-do with a scope of its own */
};

enum ofl_storage {
    OFL_STORAGE_LOCAL, /* of a procedure, block or main program */
    OFL_STORAGE_DUMMY,
    OFL_STORAGE_RESULT, /* the result variable of a function */
    OFL_STORAGE_MODULE,
    OFL_STORAGE_COMMON,
    OFL_STORAGE_COMPONENT,
    OFL_STORAGE_NONE /* not a data object */
};

/* A declared type. kind: bytes of the kind (complex(8): 8), 0 if it is not an intrinsic type or cannot be worked out
 * (then `spec` has the expression). */
struct ofl_type {
    enum ofl_type_kind kind_of; /* DOUBLE_PRECISION, DOUBLE_COMPLEX and BYTE become REAL, COMPLEX and INTEGER */
    int kind;
    const struct ofl_expr *length;    /* character; NULL is 1 */
    const struct ofl_type_spec *spec; /* NULL if implicit or intrinsic */
    struct ofl_symbol *derived;       /* DERIVED and CLASS: the type's symbol, NULL if it is not at hand */
};

/* A generic interface in a scope: of an interface block or a generic statement. */
struct ofl_generic_block {
    const struct ofl_generic *generic;
    const struct ofl_stmt *stmt;
    struct ofl_generic_block *next;
};

/* public or private for an operator or assignment. */
struct ofl_generic_access {
    const struct ofl_generic *generic;
    bool hidden;
    struct ofl_generic_access *next;
};

struct ofl_symbol {
    const struct ofl_name *name;
    enum ofl_symbol_class class;
    enum ofl_storage storage;
    struct ofl_span declared; /* where it is first declared; begin 0: not in a text (implicit: its first use) */
    struct ofl_scope *scope;  /* that declares it (for a used name: the module's) */
    bool typed;               /* `type` is known */
    bool implicit;            /* typed by the implicit rules */
    struct ofl_type type;
    unsigned rank; /* 0 scalar; assumed rank: OFL_ASSUMED_RANK */
    const struct ofl_bound *bounds;
    const struct ofl_bound *cobounds;
    uint64_t attrs;               /* OFL_HAS(symbol, ALLOCATABLE) */
    const struct ofl_expr *value; /* constant or initial value, associate selector */
    int64_t integer;              /* an intrinsic module's constant: its value (then value is NULL) */
    bool has_integer;
    struct ofl_unit *unit;           /* a procedure's body or interface body, a module's unit; NULL if not at hand */
    struct ofl_stmt *definition;     /* TYPE: its definition; statement function: itself */
    struct ofl_unit *interface;      /* the interface body of this name, also where `unit` is a body */
    struct ofl_stmt *procedure_stmt; /* procedure(...) :: name, or the type-bound procedure statement */
    struct ofl_stmt *generic;        /* the first interface block of this name; a TYPE may have one too */
    bool equivalenced;
    const struct ofl_name *cray_pointer; /* Cray pointee: a symbol that has no storage of its own */
    unsigned visited;                    /* private to walks over types: the walk that was here last */
    struct ofl_symbol *next_type;        /* of all derived types: modules->types */
    struct ofl_symbol *next;             /* in the scope, in order of declaration */
    struct ofl_symbol *chain;            /* private: hash chain */
    bool narrowed;   /* associate name in an arm of select type or rank: type or rank is the arm's */
    bool busy;       /* private to meaning.c: its value or type is being worked out */
    unsigned valued; /* private to meaning.c: the generation in which `constant` was worked out */
    const struct ofl_constant *constant;   /* private to meaning.c */
    const struct ofl_procedure *procedure; /* private to meaning.c */
};

#define OFL_ASSUMED_RANK      99u
#define OFL_ATTR_BIT(kind)    ((uint64_t)1 << OFL_ATTR_##kind)
#define OFL_HAS(symbol, kind) (((symbol)->attrs & OFL_ATTR_BIT(kind)) != 0)

enum ofl_scope_kind { OFL_SCOPE_UNIT, OFL_SCOPE_TYPE, OFL_SCOPE_BLOCK, OFL_SCOPE_ASSOCIATE, OFL_SCOPE_INDEX };

struct ofl_scope {
    enum ofl_scope_kind kind;
    struct ofl_scope *parent; /* whose names are visible; NULL for an interface body without import */
    struct ofl_unit *unit;    /* the unit it is in, or is */
    struct ofl_symbol *first, *last;
    struct ofl_symbol **table; /* private: hash table by name */
    unsigned count, capacity;
    struct ofl_use *uses; /* private */
    struct ofl_generic_block *generics, *last_generic;
    struct ofl_generic_access *access;
    unsigned gathered; /* private to meaning_generic.c, as the next */
    const struct ofl_name *gathered_name;
    bool default_private;            /* of a module, or a type's components */
    const struct ofl_name *visiting; /* private: the name that a search through modules looks for here */
    const struct ofl_name *absent;   /* private: the last name that the modules used here do not have */
    const struct ofl_name *complete; /* private: the last name that no missing module can bring here */
    bool open;                       /* uses a module that is not at hand without `only` */
    bool implicit_none;
    struct ofl_type implicit[26];
    bool implicit_set; /* it has an implicit statement; else the host's rules hold */
};

/* The modules known to a compilation: those of the files built so far, by name. */
struct ofl_modules {
    struct ofl_arena *arena;
    struct ofl_symbol *first;
    struct ofl_symbol *intrinsic;                                       /* intrinsic modules, made when first used */
    int default_integer, default_real, default_double, default_logical; /* kinds: -fdefault-integer-8 and the like */
    bool backslash;                                                     /* -fbackslash */
    struct ofl_symbol *types;       /* all derived types, linked through next_type */
    struct ofl_module_files *files; /* where modules are looked for that are not here; NULL: nowhere */
    struct ofl_scope *global;       /* external procedures whose bodies are at hand; NULL if there are none */

    /* Private to meaning.c. */
    unsigned generation; /* grows when something becomes known: what was unknown before is asked again */
    unsigned depth;      /* of questions inside questions */
    unsigned binding;    /* of implied do loops whose index has a value */
    unsigned iterations; /* of implied do loops, counted down from the top so that they are no generation's number */
    struct ofl_intrinsic_procedure *intrinsics;
    size_t elements;    /* of constant arrays that were made */
    unsigned marking;   /* number of the last search for what is reached */
    unsigned gathering; /* number of the last search for generics */
};

void ofl_modules_start(struct ofl_modules *modules, struct ofl_arena *arena);
void ofl_scopes_build(struct ofl_file *file, struct ofl_modules *modules, struct ofl_diagnostics *diagnostics);

/* The component or type-bound procedure of a derived type, its parents' included; NULL if there is none or a parent is
 * not at hand. */
struct ofl_symbol *ofl_component_find(const struct ofl_symbol *type, const struct ofl_name *name);

/* Whether a unit may name a component: a private one is known in the type's module, its submodules included. */
bool ofl_component_visible(const struct ofl_symbol *component, const struct ofl_unit *unit);

/* The symbol a name means in a scope: declared there, used, or from its hosts.  NULL if nowhere declared. */
struct ofl_symbol *ofl_scope_find(struct ofl_scope *scope, const struct ofl_name *name);

/* Whether the scope itself, not one of its hosts, declares the name or uses it from a module. */
bool ofl_scope_brings(struct ofl_scope *scope, const struct ofl_name *name);

/* ofl_scope_find; a name that nothing declares gets a variable by the implicit rules, in the unit's scope.
 * NULL under implicit none, or where the scope is open. */
struct ofl_symbol *ofl_scope_find_or_implicit(struct ofl_modules *modules, struct ofl_scope *scope,
                                              const struct ofl_ident *ident);

/* The innermost scope around a statement: that of the block, associate, do concurrent or forall construct that holds
 * it, or of its unit.  A construct's own header belongs to the scope around it. */
struct ofl_scope *ofl_scope_of(const struct ofl_stmt *stmt, const struct ofl_unit *unit);

/* The value of a constant integer expression: literals, named constants, kind(), selected_..._kind(), arithmetic and
 * the like.  False if it is not constant, not integer, overflows, or uses what is not at hand. */
bool ofl_constant_integer(const struct ofl_modules *modules, struct ofl_scope *scope, const struct ofl_expr *expr,
                          int64_t *value);
#endif
