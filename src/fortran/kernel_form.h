/* The kernel form: what a loop's body is between the Fortran tree and CUDA C.
 *
 *     function    parameters, variables, a block; a kernel is one of them
 *     block       statements
 *     statement   set a variable, store, copy bytes, call, if, loop, leave or go on with a loop, label, go to, return
 *     expression  a tree of typed operations over scalars; without side effects
 *
 * There are no arrays, strings, derived types, subscripts or Fortran names here, only scalars (enum ofl_k_type),
 * addresses and bytes: lowering (lower.h) has made loops and address arithmetic of all that.  Conversions are explicit,
 * and each operation is the one of its type, in two's complement or IEEE 754 as gfortran has it.
 *
 * Every function ends in ofl_k_validate after each pass that made or changed it; the printer (kernel_print.c) takes
 * only validated ones.  Nodes are in the arena, and expressions may be shared: nothing changes one in place. */
#ifndef OFL_FORTRAN_KERNEL_FORM_H
#define OFL_FORTRAN_KERNEL_FORM_H

#include "fortran/rewrite.h"

enum ofl_k_type {
    OFL_K_VOID, /* of calls that give nothing */
    OFL_K_I1,
    OFL_K_I2,
    OFL_K_I4,
    OFL_K_I8,
    OFL_K_R4,
    OFL_K_R8,
    OFL_K_C4,
    OFL_K_C8,
    OFL_K_BOOL,   /* not in memory: a logical in memory is an integer of its kind */
    OFL_K_ADDRESS /* of bytes */
};

enum ofl_k_op {
#define OFL_K_OP(name, text, operands, rule) OFL_K_##name,
#include "fortran/kernel_ops.def"
#undef OFL_K_OP
    OFL_K_OP_COUNT
};

enum { OFL_K_MAX_OPERANDS = 3 };

enum ofl_k_storage {
    OFL_K_LOCAL,     /* of its function */
    OFL_K_PARAMETER, /* of its function */
    OFL_K_GLOBAL,    /* a parameter of the kernel: functions reach it through the thread's record */
    OFL_K_TABLE      /* constant data */
};

/* A scalar; or with `bytes`, memory of its own, whose value is only its address. */
struct ofl_k_var {
    const char *name; /* in C; unique in its function */
    enum ofl_k_type type;
    enum ofl_k_storage storage;
    int64_t bytes;       /* 0: a scalar.  Memory: `type` is the element's type for readers, VOID if it is mixed */
    const char *initial; /* TABLE: the C initializer */
    struct ofl_k_var *next;
};

struct ofl_k_function;

struct ofl_k_args {
    struct ofl_k_expr *value;
    struct ofl_k_args *next;
};

struct ofl_k_expr {
    enum ofl_k_op op;
    enum ofl_k_type type;
    struct ofl_k_expr *operand[OFL_K_MAX_OPERANDS];
    int64_t integer;                       /* CONST of integer, bool and address (0) types */
    double real;                           /* CONST of real types */
    struct ofl_k_var *var;                 /* VAR, ADDRESS_OF */
    const struct ofl_k_function *function; /* CALL of the program's */
    const char *support;                   /* CALL of a support function (kernel_support.c) */
    struct ofl_k_args *args;               /* CALL */
};

enum ofl_k_stmt_kind {
    OFL_K_SET,    /* var = value */
    OFL_K_STORE,  /* *(type of value) address = value */
    OFL_K_COPY,   /* `bytes` from value to address; they do not overlap, or are the same */
    OFL_K_DO,     /* evaluates a call that gives nothing */
    OFL_K_IF,     /* value, body, other */
    OFL_K_LOOP,   /* while (value or for ever) { body; step } */
    OFL_K_BREAK,  /* leaves `loop`; also an if or plain block that has a label of its own */
    OFL_K_NEXT,   /* goes on with the step of `loop` */
    OFL_K_BLOCK,  /* a body that BREAK can leave */
    OFL_K_LABEL,  /* `number` */
    OFL_K_GOTO,   /* `number` */
    OFL_K_RETURN, /* value, or NULL */
    OFL_K_EXIT,   /* ends this thread */
    OFL_K_COMMENT /* `text`: FILE:LINE: and the user's statement */
};

struct ofl_k_block {
    struct ofl_k_stmt *first, *last;
};

struct ofl_k_stmt {
    enum ofl_k_stmt_kind kind;
    struct ofl_k_var *var;
    struct ofl_k_expr *address, *value, *bytes;
    struct ofl_k_block body, other, step;
    struct ofl_k_stmt *loop; /* BREAK, NEXT: a LOOP or BLOCK around it */
    unsigned number;         /* LABEL, GOTO; LOOP, BLOCK: of the labels the printer makes */
    const char *text;
    struct ofl_k_stmt *next;
};

struct ofl_k_function {
    const char *name;
    const char *comment; /* what it is of the program's, or NULL */
    enum ofl_k_type result;
    struct ofl_k_var *parameters, *last_parameter;
    struct ofl_k_var *variables, *last_variable;
    struct ofl_k_block body;
    bool kernel; /* its parameters are GLOBAL */
    struct ofl_k_function *next;
};

/* ---- Types ---- */

bool ofl_k_is_integer(enum ofl_k_type type);
bool ofl_k_is_real(enum ofl_k_type type);
bool ofl_k_is_complex(enum ofl_k_type type);
int ofl_k_bytes(enum ofl_k_type type);               /* in memory; bool and void: 0 */
const char *ofl_k_type_text(enum ofl_k_type type);   /* in C */
const char *ofl_k_suffix(enum ofl_k_type type);      /* "i4", "r8": the end of support functions' names */
enum ofl_k_type ofl_k_part(enum ofl_k_type complex); /* the type of its parts */

/* ---- Expressions (kernel_form.c) ---- */

struct ofl_k_expr *ofl_k_integer(struct ofl_arena *arena, enum ofl_k_type type, int64_t value);
struct ofl_k_expr *ofl_k_real(struct ofl_arena *arena, enum ofl_k_type type, double value);
struct ofl_k_expr *ofl_k_var_value(struct ofl_arena *arena, struct ofl_k_var *var);
struct ofl_k_expr *ofl_k_address_of(struct ofl_arena *arena, struct ofl_k_var *var);
struct ofl_k_expr *ofl_k_load(struct ofl_arena *arena, enum ofl_k_type type, struct ofl_k_expr *address);
struct ofl_k_expr *ofl_k_convert(struct ofl_arena *arena, enum ofl_k_type type, struct ofl_k_expr *value);
struct ofl_k_expr *ofl_k_unary(struct ofl_arena *arena, enum ofl_k_op op, struct ofl_k_expr *a);

/* Folds integer(8) constants, so that addresses stay readable: x + 0, x * 1, 3 * 4. */
struct ofl_k_expr *ofl_k_binary(struct ofl_arena *arena, enum ofl_k_op op, struct ofl_k_expr *a, struct ofl_k_expr *b);
struct ofl_k_expr *ofl_k_offset(struct ofl_arena *arena, struct ofl_k_expr *address, struct ofl_k_expr *bytes);
struct ofl_k_expr *ofl_k_select(struct ofl_arena *arena, struct ofl_k_expr *condition, struct ofl_k_expr *a,
                                struct ofl_k_expr *b);
struct ofl_k_expr *ofl_k_complex(struct ofl_arena *arena, struct ofl_k_expr *re, struct ofl_k_expr *im);

/* A support function with up to four arguments; the list ends with NULL. */
struct ofl_k_expr *ofl_k_support(struct ofl_arena *arena, enum ofl_k_type result, const char *name, ...)
    __attribute__((sentinel));
struct ofl_k_expr *ofl_k_call(struct ofl_arena *arena, const struct ofl_k_function *function);
void ofl_k_add_arg(struct ofl_arena *arena, struct ofl_k_expr *call, struct ofl_k_expr *value);

/* Whether evaluating it twice costs nothing: constants and variables. */
bool ofl_k_is_simple(const struct ofl_k_expr *expr);
bool ofl_k_is_constant(const struct ofl_k_expr *expr, int64_t *value); /* of an integer type */

/* ---- Statements ---- */

struct ofl_k_stmt *ofl_k_add(struct ofl_arena *arena, struct ofl_k_block *block, enum ofl_k_stmt_kind kind);

/* ---- Passes ---- */

/* Whether everything that this header says holds; else false and the reason, a compiler bug. */
bool ofl_k_validate(const struct ofl_k_function *function, struct ofl_arena *arena, const char **why);

/* The function in CUDA C; `record`: the name of the struct that carries the kernel's parameters to functions, or NULL
 * if there is none. */
void ofl_k_print(const struct ofl_k_function *function, const char *record, struct ofl_text *out);
void ofl_k_print_head(const struct ofl_k_function *function, const char *record, struct ofl_text *out);
const char *ofl_k_expr_text(const struct ofl_k_expr *expr, struct ofl_arena *arena);

/* The support functions that a source uses (kernel_support.c). */
void ofl_k_print_support(const char *source, struct ofl_text *out);

/* The template of exp, log, ... of complex numbers (kernel_complex.c). */
extern const char ofl_k_complex_mathematics[];
#endif
