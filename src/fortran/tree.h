/* The syntax tree of a Fortran file: Fortran 2018, `reduce` of Fortran 2023, and what gfortran accepts beyond.
 *
 * file -> units -> blocks of statements -> expressions.  A node's span is in positions of the ORIGINAL text (source.h):
 * from its first character to behind its last, with the comments and continuations between.  Lists are linked through
 * `next` in source order.  Names are interned (arena.h): compare pointers.
 *
 * What the grammar alone cannot tell stays open: `f(i)` is OFL_EXPR_CALL whether f is an array, a function, a
 * structure constructor or (with a range in it) a section or substring; see scope.h for the meaning of names.  A
 * keyword in a tree is always lower case.
 *
 * Bounds that consumers may rely on when they recurse: an expression is at most OFL_MAX_EXPR_DEPTH deep, blocks and
 * units nest at most OFL_MAX_NESTING deep.  Deeper text is refused by the parser. */
#ifndef OFL_FORTRAN_TREE_H
#define OFL_FORTRAN_TREE_H

#include "fortran/arena.h"
#include "fortran/source.h"

#include <stdio.h>

#define OFL_MAX_EXPR_DEPTH 10000 /* of a tree; a long a + b + c + ... is deep on the left */
#define OFL_MAX_PARENS     1000  /* brackets inside brackets */
#define OFL_MAX_NESTING    1000

struct ofl_symbol;  /* scope.h */
struct ofl_scope;   /* scope.h */
struct ofl_meaning; /* meaning.h, as the next two */
struct ofl_action;
struct ofl_procedure;
struct ofl_expr;
struct ofl_stmt;
struct ofl_unit;

/* An occurrence of a name.  name == NULL: absent. */
struct ofl_ident {
    const struct ofl_name *name;
    struct ofl_span span;
};

struct ofl_ident_list {
    struct ofl_ident ident;
    struct ofl_ident_list *next;
};

struct ofl_block {
    struct ofl_stmt *first, *last; /* both NULL if empty */
};

/* ---- Expressions ------------------------------------------------------------------------------------------------ */

enum ofl_expr_kind {
    OFL_EXPR_NAME,       /* x */
    OFL_EXPR_INTEGER,    /* 12, 12_8 */
    OFL_EXPR_REAL,       /* 1.5e3_wp */
    OFL_EXPR_COMPLEX,    /* (1.0, x) */
    OFL_EXPR_LOGICAL,    /* .true._1 */
    OFL_EXPR_CHARACTER,  /* kind_'text' */
    OFL_EXPR_HOLLERITH,  /* 4Habcd */
    OFL_EXPR_BOZ,        /* z'ff' */
    OFL_EXPR_CALL,       /* base(args): element, section, substring, function reference, structure constructor */
    OFL_EXPR_COMPONENT,  /* base%name; also base%re, base%im, base%kind, base%len */
    OFL_EXPR_COINDEX,    /* base[args] */
    OFL_EXPR_UNARY,      /* op right */
    OFL_EXPR_BINARY,     /* left op right */
    OFL_EXPR_PAREN,      /* (right) */
    OFL_EXPR_ARRAY,      /* [type :: items], (/ items /) */
    OFL_EXPR_IMPLIED_DO, /* (items, type :: i = first, last, step) */
    OFL_EXPR_RANGE,      /* lower:upper:step, each may be NULL; also case ranges */
    OFL_EXPR_STAR,       /* * : assumed size, list-directed format, default unit, (*) of a type parameter */
    OFL_EXPR_DEFERRED,   /* : of a type parameter or allocate shape */
    OFL_EXPR_LABEL,      /* *10 or &10 as an actual argument; the label is `value` of literal */
    OFL_EXPR_PERCENT,    /* %val(x), %loc(x), %ref(x) */
    OFL_EXPR_REPEAT,     /* left * right in a DATA value list (repeat count and value) */
    OFL_EXPR_DOTDOT      /* .. assumed rank */
};

enum ofl_operator {
    OFL_OPERATOR_POWER,
    OFL_OPERATOR_MUL,
    OFL_OPERATOR_DIV,
    OFL_OPERATOR_ADD, /* also unary */
    OFL_OPERATOR_SUB, /* also unary */
    OFL_OPERATOR_CONCAT,
    OFL_OPERATOR_EQ,
    OFL_OPERATOR_NE,
    OFL_OPERATOR_LT,
    OFL_OPERATOR_LE,
    OFL_OPERATOR_GT,
    OFL_OPERATOR_GE,
    OFL_OPERATOR_NOT,
    OFL_OPERATOR_AND,
    OFL_OPERATOR_OR,
    OFL_OPERATOR_XOR, /* DEC .xor. */
    OFL_OPERATOR_EQV,
    OFL_OPERATOR_NEQV,
    OFL_OPERATOR_DEFINED, /* .myop. */
    OFL_OPERATOR_COUNT
};

/* "+", ".and.", ...; for OFL_OPERATOR_DEFINED ".". */
const char *ofl_operator_text(enum ofl_operator op);

/* An item with an optional keyword: actual arguments, subscripts, I/O and allocate items, control lists. */
struct ofl_arg {
    struct ofl_ident keyword; /* absent if none */
    struct ofl_expr *value;   /* NULL: an empty alternative, e.g. in inquire lists that ended early */
    struct ofl_span span;
    struct ofl_arg *next;
};

/* A literal as it was written; text of the digits or of the content is taken with ofl_literal_text. */
struct ofl_literal {
    const char *text; /* joined over continuations, NUL-terminated, kind not included; character: with quotes */
    uint32_t length;
    struct ofl_ident kind_name; /* _wp or the prefix of a character constant */
    int32_t kind;               /* _8; 0 if none is given by a number */
    uint64_t value;             /* INTEGER and LABEL: the value, saturated; LOGICAL: 0 or 1 */
};

struct ofl_expr {
    enum ofl_expr_kind kind;
    uint32_t depth; /* of the tree below, itself included */
    struct ofl_span span;
    const struct ofl_meaning *meaning; /* private to meaning.c: what is known already */
    union {
        struct {
            const struct ofl_name *name;
            struct ofl_symbol *symbol; /* NULL before resolution */
        } name;
        struct ofl_literal literal; /* INTEGER REAL LOGICAL CHARACTER HOLLERITH BOZ LABEL */
        struct {
            struct ofl_expr *re, *im;
        } complex;
        struct {
            struct ofl_expr *base;
            struct ofl_arg *args;
        } call; /* CALL and COINDEX */
        struct {
            struct ofl_expr *base;
            struct ofl_ident name;
        } component;
        struct {
            enum ofl_operator op;
            const struct ofl_name *defined; /* name between the dots */
            struct ofl_span op_span;
            struct ofl_expr *left, *right; /* UNARY and PAREN: right only */
        } operation;
        struct {
            struct ofl_type_spec *type; /* or NULL */
            struct ofl_arg *items;
        } array;
        struct {
            struct ofl_arg *items;
            struct ofl_type_spec *type; /* of the index, or NULL */
            struct ofl_ident index;
            struct ofl_expr *first, *last, *step; /* step may be NULL */
            struct ofl_scope *scope;              /* of the index; made by meaning.c */
        } implied_do;
        struct {
            struct ofl_expr *lower, *upper, *step;
            bool has_step; /* a second colon was there */
        } range;
        struct {
            const struct ofl_name *function; /* val, loc, ref */
            struct ofl_expr *value;
        } percent;
    } as;
};

/* ---- Types and declarations ------------------------------------------------------------------------------------- */

enum ofl_type_kind {
    OFL_TYPE_INTEGER,
    OFL_TYPE_REAL,
    OFL_TYPE_DOUBLE_PRECISION,
    OFL_TYPE_COMPLEX,
    OFL_TYPE_DOUBLE_COMPLEX,
    OFL_TYPE_LOGICAL,
    OFL_TYPE_CHARACTER,
    OFL_TYPE_BYTE,       /* DEC: integer(1) */
    OFL_TYPE_DERIVED,    /* type(t); also an intrinsic type in type(integer(4)): then `kind` is that type's */
    OFL_TYPE_CLASS,      /* class(t) */
    OFL_TYPE_CLASS_STAR, /* class(*) */
    OFL_TYPE_ASSUMED,    /* type(*) */
    OFL_TYPE_RECORD,     /* DEC: record /s/ */
    OFL_TYPE_VECTOR      /* PowerPC: vector(real(8)), __vector_pair, __vector_quad */
};

struct ofl_type_spec {
    enum ofl_type_kind kind;
    struct ofl_span span;
    struct ofl_expr *kind_value;   /* kind=, or real*8's 8 with by_bytes; NULL: default */
    bool by_bytes;                 /* the form with an asterisk: complex*16 is kind 8 */
    struct ofl_expr *length;       /* character: NULL, an expression, OFL_EXPR_STAR or OFL_EXPR_DEFERRED */
    struct ofl_ident name;         /* derived types */
    struct ofl_arg *parameters;    /* of a parameterised derived type */
    struct ofl_type_spec *element; /* of vector(...) */
};

/* Bounds of one dimension (array-spec or coarray-spec), and what form they have. */
enum ofl_bound_form {
    OFL_BOUND_EXPLICIT, /* [lower:]upper */
    OFL_BOUND_SHAPE,    /* [lower]: in a dummy (assumed shape), allocatable or pointer (deferred) */
    OFL_BOUND_STAR,     /* [lower:]* assumed size, implied shape, last codimension */
    OFL_BOUND_RANK      /* .. */
};

struct ofl_bound {
    enum ofl_bound_form form;
    struct ofl_expr *lower, *upper; /* NULL where absent */
    struct ofl_span span;
    struct ofl_bound *next;
};

enum ofl_attr_kind {
#define OFL_ATTRIBUTE(kind, text) OFL_ATTR_##kind,
#include "fortran/attributes.def"
#undef OFL_ATTRIBUTE
    OFL_ATTR_COUNT
};

const char *ofl_attr_text(enum ofl_attr_kind kind); /* "allocatable", "intent(in)", ... */

struct ofl_attr {
    enum ofl_attr_kind kind;
    struct ofl_span span;
    struct ofl_bound *bounds; /* dimension, codimension */
    struct ofl_ident name;    /* extends, pass */
    struct ofl_arg *args;     /* bind: first (c), then name= */
    struct ofl_attr *next;
};

/* One declared thing in a list: `a(10)[*]*8 = 3`, `p => null()`, `x /1.0/`, `/block/` in save and bind, operator(+) in
 * public. */
struct ofl_entity {
    struct ofl_ident ident;
    bool common_block;           /* written /name/ */
    struct ofl_generic *generic; /* operator(+), assignment(=), read(formatted); else NULL */
    struct ofl_bound *bounds;
    struct ofl_bound *cobounds;
    struct ofl_expr *length;    /* *8 behind the name */
    struct ofl_expr *value;     /* initial value or target */
    bool pointer_value;         /* => rather than = */
    struct ofl_arg *old_values; /* the values of x /1.0, 2*0.0/ */
    struct ofl_span span;
    struct ofl_entity *next;
};

enum ofl_generic_kind { OFL_GENERIC_NAME, OFL_GENERIC_OPERATOR, OFL_GENERIC_ASSIGNMENT, OFL_GENERIC_IO };

/* A generic-spec.  OPERATOR: op, and `ident` for a defined operator; IO: ident is read or write, io_form formatted or
 * unformatted. */
struct ofl_generic {
    enum ofl_generic_kind kind;
    enum ofl_operator op;
    struct ofl_ident ident;
    struct ofl_ident io_form;
    struct ofl_span span;
};

/* A use association: [local =>] name, where either may be an operator. */
struct ofl_rename {
    struct ofl_generic *local; /* NULL if not renamed */
    struct ofl_generic *used;
    struct ofl_rename *next;
};

/* common /name/ entities; namelist /name/ entities; equivalence (items). */
struct ofl_group {
    struct ofl_ident name; /* absent: blank common, equivalence */
    struct ofl_entity *entities;
    struct ofl_arg *items;
    struct ofl_span span;
    struct ofl_group *next;
};

/* data objects /values/ */
struct ofl_data_set {
    struct ofl_arg *objects; /* variables and implied-dos */
    struct ofl_arg *values;
    struct ofl_data_set *next;
};

struct ofl_pair {
    struct ofl_ident pointer;
    struct ofl_entity *pointee;
    struct ofl_pair *next;
};

struct ofl_implicit {
    struct ofl_type_spec *type;
    char first, last; /* one letter range; a type with several ranges has several of these */
    struct ofl_implicit *next;
};

/* ---- Statements ------------------------------------------------------------------------------------------------- */

enum ofl_stmt_kind {
#define OFL_STATEMENT(kind, payload, class, text) OFL_STMT_##kind,
#include "fortran/statements.def"
#undef OFL_STATEMENT
    OFL_STMT_COUNT
};

const char *ofl_stmt_text(enum ofl_stmt_kind kind); /* "do", "if construct", ... */
bool ofl_stmt_is_executable(enum ofl_stmt_kind kind);

/* A statement label of 1 to 5 digits; value 0: absent. */
struct ofl_label {
    uint32_t value;
    struct ofl_span span;
};

struct ofl_label_list {
    struct ofl_label label;
    struct ofl_label_list *next;
};

enum ofl_guard_kind {
    OFL_GUARD_CONDITION, /* if, else if, where, elsewhere(mask) */
    OFL_GUARD_ELSE,      /* else, elsewhere, case default, class default, rank default */
    OFL_GUARD_CASE,      /* values: expressions and ranges */
    OFL_GUARD_TYPE_IS,
    OFL_GUARD_CLASS_IS,
    OFL_GUARD_RANK, /* rank (n) or rank (*) */
    OFL_GUARD_MAP   /* DEC */
};

/* One branch of if, select or where: `guard` is the span of its statement. */
struct ofl_arm {
    enum ofl_guard_kind kind;
    struct ofl_span guard;
    struct ofl_label label;
    struct ofl_expr *condition; /* CONDITION, RANK */
    struct ofl_arg *values;     /* CASE */
    struct ofl_type_spec *type; /* TYPE_IS, CLASS_IS */
    struct ofl_block body;
    struct ofl_scope *scope; /* select type and rank: of the associate name; made by scope.c */
    struct ofl_arm *next;
};

enum ofl_loop_form {
    OFL_LOOP_FOREVER,
    OFL_LOOP_COUNT, /* do i = first, last, step */
    OFL_LOOP_WHILE,
    OFL_LOOP_CONCURRENT /* also forall */
};

/* One index of do concurrent or forall. */
struct ofl_index {
    struct ofl_ident ident;
    struct ofl_expr *lower, *upper, *step; /* step may be NULL */
    struct ofl_span span;
    struct ofl_index *next;
};

enum ofl_locality_kind {
    OFL_LOCALITY_LOCAL,
    OFL_LOCALITY_LOCAL_INIT,
    OFL_LOCALITY_SHARED,
    OFL_LOCALITY_DEFAULT_NONE,
    OFL_LOCALITY_REDUCE
};

struct ofl_locality {
    enum ofl_locality_kind kind;
    bool reduce_by_name;         /* max, min, iand, ior, ieor: reduce_name; else reduce_op */
    enum ofl_operator reduce_op; /* ADD MUL AND OR EQV NEQV */
    const struct ofl_name *reduce_name;
    struct ofl_ident_list *names;
    struct ofl_span span;
    struct ofl_locality *next;
};

struct ofl_loop {
    enum ofl_loop_form form;
    struct ofl_label terminal;            /* do 10 ...; absent for do ... end do */
    struct ofl_expr *variable;            /* COUNT: a name (gfortran accepts nothing else) */
    struct ofl_expr *first, *last, *step; /* COUNT */
    struct ofl_expr *condition;           /* WHILE; CONCURRENT: the mask or NULL */
    struct ofl_type_spec *index_type;     /* CONCURRENT: integer :: or NULL */
    struct ofl_index *indices;            /* CONCURRENT */
    struct ofl_locality *localities;      /* CONCURRENT */
    struct ofl_span header;               /* CONCURRENT: from ( to ) of the header, localities not included */
    struct ofl_block body;                /* FORALL_STMT: the one assignment */
    struct ofl_scope *scope;              /* CONCURRENT: of its indices; made by scope.c */
    bool shared_terminal;                 /* the terminal statement belongs to an inner loop too and is in its body */
};

/* associate and select: name => selector */
struct ofl_association {
    struct ofl_ident name;      /* absent in select type (x) */
    struct ofl_bound *cobounds; /* change team */
    struct ofl_expr *selector;
    struct ofl_association *next;
};

struct ofl_stmt {
    enum ofl_stmt_kind kind;
    struct ofl_span span;  /* the statement; for a construct its opening statement; label not included */
    struct ofl_span whole; /* a construct: to the end of its last statement; else the same as span */
    struct ofl_label label;
    struct ofl_ident construct; /* construct name */
    struct ofl_span end;        /* a construct's end statement (a labelled do: its terminal statement) */
    struct ofl_label end_label;
    struct ofl_stmt *parent; /* the construct around it, NULL directly in a unit */
    struct ofl_stmt *next;
    struct ofl_scope *scope;         /* in which it stands; set by scope.c, see ofl_scope_of */
    const struct ofl_action *action; /* private to meaning.c */
    union {
        struct {
            struct ofl_expr *target, *value;
        } assign;
        struct {
            struct ofl_label label;
            struct ofl_expr *variable;
        } label_assign;
        struct {
            struct ofl_expr *designator; /* name or component reference */
            struct ofl_arg *args;
            bool parentheses;
        } call;
        /* I/O, allocation, image control: read (controls) items; allocate (type :: items, stat=...): the options are
         * `controls`.  read fmt, items and print fmt, items: one control without keyword. */
        struct {
            struct ofl_type_spec *type; /* allocate */
            struct ofl_arg *controls;
            struct ofl_arg *items;
        } args;
        struct {
            struct ofl_expr *selector; /* computed go to, arithmetic if, the variable of assigned go to */
            struct ofl_label_list *labels;
        } jump;
        struct {
            struct ofl_expr *code; /* stop code, return's number */
            struct ofl_expr *quiet;
        } stop;
        struct {
            struct ofl_ident name; /* of the construct, absent if none is given */
        } exit;
        struct {
            struct ofl_expr *condition; /* WHERE_STMT: the mask */
            struct ofl_stmt *body;
        } guarded;
        struct {
            struct ofl_association selector; /* select: selector.selector, and its associate name */
            struct ofl_arm *arms;
        } arms;
        struct ofl_loop loop;
        struct {
            struct ofl_association *associations; /* associate, change team */
            struct ofl_expr *team;                /* change team */
            struct ofl_arg *controls;             /* stat=, errmsg= */
            struct ofl_block body;
            struct ofl_scope *scope; /* block and associate; made by scope.c */
        } block;
        struct {
            struct ofl_type_spec *type; /* TYPE_DECL; ENUMERATOR and ATTRIBUTE: NULL */
            struct ofl_attr *attrs;
            struct ofl_entity *entities; /* ATTRIBUTE: may be empty (save, public, private) */
        } decl;
        struct {
            struct ofl_ident interface; /* procedure(name); absent if none or a type */
            struct ofl_type_spec *type; /* procedure(real(8)) */
            struct ofl_attr *attrs;
            struct ofl_entity *entities; /* type-bound: value is the bound procedure's name */
        } procedure;
        struct {
            struct ofl_ident module;
            struct ofl_ident nature; /* intrinsic, non_intrinsic */
            bool only;
            struct ofl_rename *names;
        } use;
        struct {
            enum { OFL_IMPORT_LIST, OFL_IMPORT_ONLY, OFL_IMPORT_NONE, OFL_IMPORT_ALL } form; /* LIST: may be empty */
            struct ofl_ident_list *names;
        } import;
        struct {
            bool none;
            bool none_type, none_external; /* implicit none (type, external); plain `none` is none_type */
            struct ofl_implicit *ranges;
        } implicit;
        struct {
            struct ofl_group *groups;
        } groups;
        struct {
            struct ofl_data_set *sets;
        } data;
        struct {
            struct ofl_pair *pairs;
        } pairs;
        struct {
            struct ofl_ident name;
            struct ofl_attr *attrs;
            struct ofl_ident_list *parameters;
            struct ofl_entity *entities; /* STRUCTURE: fields of this type declared at its start */
            struct ofl_block components;
            struct ofl_span contains; /* the contains statement, begin 0 if none */
            struct ofl_block bindings;
            struct ofl_scope *scope;
        } type_def;
        struct {
            struct ofl_block enumerators;
        } enumeration;
        struct {
            struct ofl_generic *generic; /* NULL: unnamed */
            bool abstract;
            struct ofl_unit *bodies; /* interface bodies */
            struct ofl_block names;  /* MODULE_PROCEDURE_NAMES, directives, includes */
        } interface;
        struct {
            bool module; /* module procedure rather than procedure */
            struct ofl_ident_list *names;
        } interface_names;
        struct {
            struct ofl_generic *generic;
            struct ofl_attr *attrs;
            struct ofl_ident_list *names;
        } generic;
        struct {
            const char *text; /* format: with its parentheses, joined over continuations */
            uint32_t length;
        } text;
        struct {
            struct ofl_ident name;
            struct ofl_ident_list *args; /* a `*` argument has the name "*" */
            struct ofl_ident result;
            struct ofl_attr *bind;
        } entry;
        struct {
            const struct ofl_source *source; /* what was included */
        } include;
        struct {
            const char *text; /* behind the sentinel, continuations joined, lower case outside of quotes */
            uint32_t length;
            const struct ofl_name *sentinel; /* "omp", "acc", "dir", ... */
        } directive;
    } as;
};

/* ---- Program units ---------------------------------------------------------------------------------------------- */

enum ofl_unit_kind {
    OFL_UNIT_PROGRAM, /* name absent without a program statement */
    OFL_UNIT_MODULE,
    OFL_UNIT_SUBMODULE,
    OFL_UNIT_BLOCK_DATA,
    OFL_UNIT_SUBROUTINE,
    OFL_UNIT_FUNCTION,
    OFL_UNIT_MODULE_PROCEDURE /* module procedure name: a separate module procedure with an inherited interface */
};

struct ofl_unit {
    enum ofl_unit_kind kind;
    struct ofl_span span;  /* the opening statement; for a program without one, an empty span at its start */
    struct ofl_span whole; /* to the end of the end statement */
    struct ofl_span end;   /* the end statement */
    struct ofl_label end_label;
    struct ofl_ident name;
    struct ofl_ident ancestor, parent_submodule; /* submodule (ancestor:parent) name */
    struct ofl_attr *attrs;                      /* prefixes (pure, elemental, recursive, impure, module) and bind */
    struct ofl_type_spec *type;                  /* a function's type in its prefix, or NULL */
    struct ofl_ident_list *args;                 /* a `*` argument has the name "*" */
    struct ofl_ident result;
    struct ofl_block body;    /* specifications, then executable statements */
    struct ofl_span contains; /* begin 0 if none */
    struct ofl_unit *units;   /* internal or module procedures */
    struct ofl_unit *parent;  /* host, or NULL (an interface body: the unit with the interface block) */
    bool interface_body;
    struct ofl_scope *scope;   /* made by scope.c */
    struct ofl_unit *separate; /* the interface body of a separate module procedure, and back; set by scope.c */
    const struct ofl_procedure *procedure; /* private to meaning.c */
    struct ofl_unit *next;
};

struct ofl_file {
    const struct ofl_source *source;
    struct ofl_unit *units;
};

/* ---- Helpers (tree.c, dump.c) ----------------------------------------------------------------------------------- */

/* The module, submodule, main program or external procedure that a unit is in or is; the name of the module that it
 * belongs to, also as part of a submodule, NULL if there is none. */
const struct ofl_unit *ofl_unit_outermost(const struct ofl_unit *unit);
const struct ofl_name *ofl_module_of(const struct ofl_unit *unit);

/* Calls `visit` for a block's statements and all below, in source order; false from it skips what is below. */
void ofl_walk_stmt(struct ofl_stmt *stmt, bool (*visit)(struct ofl_stmt *stmt, void *context), void *context);
void ofl_walk_stmts(const struct ofl_block *block, bool (*visit)(struct ofl_stmt *stmt, void *context), void *context);

/* The value of a character literal: quotes removed, doubled quotes halved, escapes of -fbackslash replaced.
 * *length is its length; the result is NUL-terminated and in the arena. */
char *ofl_literal_text(struct ofl_arena *arena, const struct ofl_expr *literal, bool backslash, size_t *length);

/* A compact S-expression of the tree: one statement a line, indented; for tests and debugging. */
void ofl_dump_unit(const struct ofl_unit *unit, FILE *stream);
void ofl_dump_file(const struct ofl_file *file, FILE *stream);
void ofl_dump_expr(const struct ofl_expr *expr, FILE *stream);
#endif
