/* Lowering: from the tree and its meaning to the kernel form; what its files share.
 *
 * Entry point: ofl_lower_loop (lowered.h), in lower.c.  The steps for a loop:
 *
 *     lower_private.c    which variables are private to an iteration; lower_copies.c makes the copies
 *     lower.c            header, mask, iterations, reductions
 *     lower_stmt.c, lower_control.c, lower_assign.c
 *     lower_expr.c, lower_character.c, lower_intrinsic.c
 *     lower_view.c       designators: where data lies
 *     lower_array.c, lower_transform.c
 *     lower_call.c       procedures become functions of the kernel
 *     lower_symbol.c     what a variable is in the function that is made
 *     lower_type.c       layout of derived types, as gfortran lays them out
 *     lower_source.c     the text of all kernels
 *
 * Three notions carry everything.  A *value* is a scalar that has been computed: an expression of the form, for a
 * character an address and a length, for a derived type an address.  A *view* is data in memory: the address of the
 * first element, and for each dimension extent and stride; a scalar is a view of rank 0.  An *array* is an array value
 * whose elements are computed when they are asked for: a view, or an operation over arrays.
 *
 * What is not lowered is refused with ofl_lower_refuse, which does not return: it gives up the loop (lower.c has the
 * setjmp).  Everything is in the arena, so nothing is lost. */
#ifndef OFL_FORTRAN_LOWER_H
#define OFL_FORTRAN_LOWER_H

#include "fortran/intrinsics.h"
#include "fortran/kernel_form.h"
#include "fortran/lowered.h"
#include "fortran/meaning.h"

#include <setjmp.h>

struct ofl_value {
    struct ofl_value_type type;
    struct ofl_k_expr *x;      /* numbers; bool for logicals; else an address */
    struct ofl_k_expr *length; /* characters: integer(8) */
};

struct ofl_array;

/* One dimension of a view; the expressions are simple (ofl_k_is_simple) and integer(8). */
struct ofl_view_dim {
    struct ofl_k_expr *extent, *stride; /* bytes */
    struct ofl_k_expr *lower;           /* of a whole array; else 1 */
    const struct ofl_array *vector;     /* a vector subscript: element k lies at (vector(k) - origin) * stride */
    struct ofl_k_expr *origin;
};

struct ofl_view {
    struct ofl_value_type type;
    struct ofl_k_expr *address;
    struct ofl_k_expr *length; /* characters */
    unsigned rank;
    unsigned outer; /* the last dimensions that belong to what the component is of: t(:)%v has v's and then t's */
    struct ofl_view_dim dim[OFL_MAX_RANK];
    const struct ofl_binding *root;       /* the variable it is part of, or NULL */
    bool contiguous;                      /* known to be */
    struct ofl_used_component *component; /* the allocatable or pointer component that its memory belongs to */
};

enum ofl_array_kind { OFL_ARRAY_SCALAR, OFL_ARRAY_VIEW, OFL_ARRAY_OPERATION };

struct ofl_array {
    enum ofl_array_kind kind;
    struct ofl_value_type type;
    unsigned rank;
    struct ofl_k_expr *extent[OFL_MAX_RANK]; /* simple */
    struct ofl_value scalar;                 /* SCALAR: for every element */
    struct ofl_view view;
    bool may_be_absent; /* VIEW, also of a scalar: an optional argument that is passed on; then its address is 0 */
    const struct ofl_expr *expr; /* OPERATION: elementwise over the operands */
    const struct ofl_meaning *meaning;
    struct ofl_array **operands; /* NULL: an absent argument */
    unsigned count;
};

/* An allocatable or pointer component that the loop reaches, of whatever variables. */
struct ofl_used_component {
    const struct ofl_symbol *symbol;
    bool written;
    struct ofl_used_component *next;
};

/* What a variable is in the function that is being made. */
struct ofl_binding {
    const struct ofl_symbol *symbol;
    struct ofl_view view; /* `rank` dimensions with lower bounds */
    bool based_on_zero;   /* view.address is that of the element with all subscripts 0 */
    bool optional;        /* may be absent: then its address is 0 */
    bool host_present;    /* a scalar says whether it is there: `present` */
    struct ofl_k_var *present;
    bool private;              /* a copy of this iteration's or this procedure's own */
    struct ofl_k_var *touched; /* set where it is assigned, if it goes back to the program's variable */
    struct ofl_object *object; /* of the kernel's parameters, or NULL */
    struct ofl_binding *next;
};

/* An object with its variables in the form. */
struct ofl_object {
    struct ofl_kernel_object public;
    struct ofl_k_var *base, *stride[OFL_MAX_RANK], *lower[OFL_MAX_RANK], *extent[OFL_MAX_RANK], *length;
    bool touched_by_calls;
    struct ofl_object *next;
};

struct ofl_value_parameter {
    struct ofl_kernel_scalar public;
    struct ofl_k_var *var;
    struct ofl_value_parameter *next;
};

/* A procedure that became a function, for given dynamic types of its polymorphic arguments. */
struct ofl_lowered_procedure {
    const struct ofl_procedure *procedure;
    struct ofl_symbol **dynamic; /* by dummy: the type of a class dummy's actual argument; NULL */
    struct ofl_k_function *function;
    bool reads_objects; /* it or what it calls reads what is not an argument */
    struct ofl_lowered_procedure *next;
};

/* What is around the statement that is being lowered: for exit, cycle and return. */
struct ofl_around {
    const struct ofl_stmt *stmt; /* a construct, or NULL: the procedure's body */
    struct ofl_k_stmt *leave, *next_pass;
    const struct ofl_around *outer;
};

/* A function that is being made. */
struct ofl_frame {
    struct ofl_k_function *function;
    const struct ofl_unit *unit;
    struct ofl_binding *bindings;
    struct ofl_lowered_procedure *procedure; /* NULL: the kernel */
    struct ofl_k_stmt *body;                 /* what `return` leaves */
    struct ofl_frame *outer;
};

/* What is known of a variable of the program that the loop's body names (lower_private.c). */
struct ofl_usage {
    const struct ofl_symbol *symbol;
    unsigned number, rank;
    bool inner; /* declared inside the loop */
    bool written, read;
    bool exposed;   /* read, or written in part, before the iteration has defined it */
    bool called;    /* a called procedure reaches it other than as an argument */
    bool certain;   /* every iteration defines it */
    bool varies;    /* its value depends on the loop's indices */
    bool scattered; /* an array whose elements that are written depend on them */
    enum ofl_locality_kind locality;
    const struct ofl_locality *clause; /* NULL if no clause lists it */
    bool listed;
    struct ofl_usage *next;
};

struct ofl_lower {
    struct ofl_rewriter *rewriter;
    struct ofl_arena *arena;
    struct ofl_modules *modules;
    const struct ofl_stmt *loop;
    const struct ofl_unit *unit;
    struct ofl_scope *loop_scope; /* around the loop */
    struct ofl_kernel *kernel;
    struct ofl_usage *usage;
    struct ofl_object *objects, *last_object;
    struct ofl_value_parameter *scalars, *last_scalar;
    struct ofl_used_component *components;
    struct ofl_reduction *reductions; /* lower_combine.c */
    struct ofl_lowered_procedure *procedures;
    struct ofl_k_function *functions, *last_function; /* made, in the order of their making */
    struct ofl_k_var *tables, *last_table;
    struct ofl_frame *frame;
    const struct ofl_around *around;
    struct ofl_scope *scope;   /* of the statement */
    struct ofl_k_block *block; /* statements go here */
    struct ofl_k_var *trip;
    unsigned names, labels;
    unsigned allocations; /* of workspace so far */
    bool reads_objects;   /* of the function that is being made */
    jmp_buf refused;
};

/* ---- Refusing (lower.c) ---- */

/* "not yet implemented: ... in a loop on the device".  Does not return. */
void ofl_lower_refuse(struct ofl_lower *l, struct ofl_span span, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* The meaning of an expression; one that is unknown is reported, and the loop given up. */
const struct ofl_meaning *ofl_lower_meaning(struct ofl_lower *l, const struct ofl_expr *expr);

/* ---- Making the form (lower_make.c): into l->block ---- */

struct ofl_k_var *ofl_new_var(struct ofl_lower *l, const char *name, enum ofl_k_type type);
struct ofl_k_var *ofl_new_memory(struct ofl_lower *l, const char *name, enum ofl_k_type type, int64_t bytes);
struct ofl_k_var *ofl_new_parameter(struct ofl_lower *l, const char *name, enum ofl_k_type type);
struct ofl_k_var *ofl_new_table(struct ofl_lower *l, const char *name, enum ofl_k_type type, int64_t bytes,
                                const char *initial);
const char *ofl_c_name(struct ofl_lower *l, const char *name); /* unique in the kernel */

struct ofl_k_expr *ofl_i8(struct ofl_lower *l, int64_t value);
struct ofl_k_expr *ofl_get(struct ofl_lower *l, struct ofl_k_var *var);
struct ofl_k_expr *ofl_op(struct ofl_lower *l, enum ofl_k_op op, struct ofl_k_expr *a, struct ofl_k_expr *b);
struct ofl_k_expr *ofl_not(struct ofl_lower *l, struct ofl_k_expr *a);
struct ofl_k_expr *ofl_to(struct ofl_lower *l, enum ofl_k_type type, struct ofl_k_expr *value);

void ofl_set(struct ofl_lower *l, struct ofl_k_var *var, struct ofl_k_expr *value);
void ofl_store(struct ofl_lower *l, struct ofl_k_expr *address, struct ofl_k_expr *value);
void ofl_copy(struct ofl_lower *l, struct ofl_k_expr *to, struct ofl_k_expr *from, struct ofl_k_expr *bytes);
void ofl_do(struct ofl_lower *l, struct ofl_k_expr *call);

/* The value in a variable of its own, or itself if it is simple: what may be used twice. */
struct ofl_k_expr *ofl_keep(struct ofl_lower *l, struct ofl_k_expr *value, const char *name);

/* Statements go into the body of what is begun until it is ended. */
struct ofl_k_block *ofl_begin_if(struct ofl_lower *l, struct ofl_k_expr *condition);
struct ofl_k_block *ofl_begin_else(struct ofl_lower *l, struct ofl_k_block *outer);
void ofl_end(struct ofl_lower *l, struct ofl_k_block *outer);
struct ofl_k_stmt *ofl_add_stmt(struct ofl_lower *l, enum ofl_k_stmt_kind kind);
void ofl_leave(struct ofl_lower *l, struct ofl_k_stmt *loop);

/* Loops over all elements of a shape, the first subscript (from 0) fastest. */
struct ofl_element_loops {
    struct ofl_k_block *outer;
    struct ofl_k_expr *subscript[OFL_MAX_RANK];
    struct ofl_k_stmt *outermost;
};
struct ofl_element_loops ofl_begin_elements(struct ofl_lower *l, unsigned rank, struct ofl_k_expr *const *extent);
void ofl_end_elements(struct ofl_lower *l, const struct ofl_element_loops *loops);
struct ofl_k_expr *ofl_count(struct ofl_lower *l, unsigned rank, struct ofl_k_expr *const *extent);

/* Memory for this statement: small and of constant size in a variable, else workspace. */
struct ofl_k_expr *ofl_temporary(struct ofl_lower *l, struct ofl_k_expr *bytes, enum ofl_k_type type);

/* Workspace taken between these two is given back. */
struct ofl_mark {
    struct ofl_k_block *block;
    struct ofl_k_stmt *before;
    unsigned allocations;
};
struct ofl_mark ofl_mark_workspace(struct ofl_lower *l);
void ofl_release_workspace(struct ofl_lower *l, const struct ofl_mark *mark);

/* ---- Types (lower_type.c) ---- */

enum ofl_k_type ofl_k_of(struct ofl_lower *l, struct ofl_value_type type, struct ofl_span span); /* in memory */
enum ofl_k_type ofl_k_value_of(struct ofl_lower *l, struct ofl_value_type type, struct ofl_span span);
bool ofl_is_number(struct ofl_value_type type); /* integer, real, complex, logical: not in memory only */
struct ofl_value_type ofl_kind_type(enum ofl_type_kind base, int kind);

/* Bytes of an element; characters: `length` times 1. */
struct ofl_k_expr *ofl_element_bytes(struct ofl_lower *l, struct ofl_value_type type, struct ofl_k_expr *length,
                                     struct ofl_span span);
int64_t ofl_type_bytes(struct ofl_lower *l, const struct ofl_symbol *type, struct ofl_span span);

/* Where a component lies; its type and constant shape.  Allocatable and pointer components are not plain. */
struct ofl_component {
    int64_t offset, bytes, align;
    struct ofl_value_type type;
    unsigned rank;
    int64_t lower[OFL_MAX_RANK], extent[OFL_MAX_RANK];
    bool plain;
};
struct ofl_component ofl_component_place(struct ofl_lower *l, const struct ofl_symbol *type,
                                         const struct ofl_symbol *component, struct ofl_span span);

/* The components among `used` that lie in an element, in inner types too; `bytes` of derived types included. */
struct ofl_kernel_component *ofl_components_in(struct ofl_lower *l, const struct ofl_symbol *type,
                                               struct ofl_span span);

/* A component that can stand for an element where the element cannot be passed; NULL if none is needed. */
const char *ofl_leaf_of(struct ofl_lower *l, const struct ofl_symbol *type, int64_t *offset, struct ofl_span span);
bool ofl_has_descriptors(struct ofl_lower *l, const struct ofl_symbol *type, struct ofl_span span);

/* ---- Symbols (lower_symbol.c) ---- */

struct ofl_binding *ofl_binding_of(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span);
struct ofl_binding *ofl_bind(struct ofl_lower *l, const struct ofl_symbol *symbol);
struct ofl_usage *ofl_usage_of(struct ofl_lower *l, const struct ofl_symbol *symbol);

/* A variable of a procedure, block or iteration: memory of its own.  `scope` is where its bounds are evaluated. */
struct ofl_binding *ofl_declare_local(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span);
void ofl_declare_scope(struct ofl_lower *l, struct ofl_scope *scope, struct ofl_span span);
void ofl_initialize(struct ofl_lower *l, const struct ofl_view *view, struct ofl_span span); /* by default */

/* The bounds and length that the declaration of a symbol gives, evaluated in its scope. */
void ofl_declared_shape(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_view *view,
                        struct ofl_span span);
void ofl_pack_strides(struct ofl_lower *l, struct ofl_view *view, struct ofl_span span);

/* A value that the host evaluates: an expression where the loop stands. */
struct ofl_k_expr *ofl_host_value(struct ofl_lower *l, const char *text, const struct ofl_symbol *symbol,
                                  enum ofl_type_kind type, int kind);
struct ofl_object *ofl_object_of(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_span span);

/* ---- Analysis (lower_private.c) ---- */

void ofl_find_usage(struct ofl_lower *l);
bool ofl_is_private(const struct ofl_usage *usage);

/* The iteration's own copies (lower_copies.c), and what of them goes back to the program's variables. */
struct ofl_writeback *ofl_bind_privates(struct ofl_lower *l);
void ofl_write_back(struct ofl_lower *l, const struct ofl_writeback *list);

/* ---- Reductions over the iterations (lower_combine.c) ---- */

void ofl_find_reductions(struct ofl_lower *l);
void ofl_begin_partials(struct ofl_lower *l, struct ofl_k_var *partial);
void ofl_end_partials(struct ofl_lower *l);
void ofl_add_partial_parameters(struct ofl_lower *l, struct ofl_k_function *function);
struct ofl_k_function *ofl_combine_kernel(struct ofl_lower *l);
void ofl_add_combine_parameters(struct ofl_lower *l, struct ofl_k_function *function);
void ofl_publish_reductions(struct ofl_lower *l);

/* ---- The text (lower_source.c) ---- */

/* Gives the kernel its text. */
void ofl_kernel_text(struct ofl_lower *l, struct ofl_k_function *const *kernels, unsigned count,
                     struct ofl_k_function *combine, bool record);

/* ---- Expressions ---- */

struct ofl_value ofl_lower_value(struct ofl_lower *l, const struct ofl_expr *expr);
struct ofl_k_expr *ofl_lower_integer(struct ofl_lower *l, const struct ofl_expr *expr); /* as integer(8) */
struct ofl_k_expr *ofl_lower_condition(struct ofl_lower *l, const struct ofl_expr *expr);
struct ofl_value ofl_value_as(struct ofl_lower *l, struct ofl_value value, struct ofl_value_type type,
                              struct ofl_span span);
struct ofl_value ofl_constant_value(struct ofl_lower *l, const struct ofl_constant *constant,
                                    struct ofl_value_type type, struct ofl_span span);
struct ofl_array *ofl_array_constant(struct ofl_lower *l, const struct ofl_constant *constant,
                                     struct ofl_value_type type, const char *name, struct ofl_span span);
struct ofl_value ofl_apply_operation(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning, struct ofl_value a, struct ofl_value b);
struct ofl_value ofl_apply_power(struct ofl_lower *l, const struct ofl_expr *expr, struct ofl_value_type type,
                                 struct ofl_value base, struct ofl_value exponent);
struct ofl_value ofl_apply_intrinsic(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning, struct ofl_value *args, unsigned count);
struct ofl_k_expr *ofl_equal(struct ofl_lower *l, enum ofl_operator op, struct ofl_value a, struct ofl_value b,
                             struct ofl_span span);
struct ofl_k_expr *ofl_smaller(struct ofl_lower *l, struct ofl_k_expr *a, struct ofl_k_expr *b, bool larger);

/* An inquiry: its arguments are not evaluated. */
struct ofl_value ofl_lower_inquiry(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning);
struct ofl_array *ofl_lower_inquiry_array(struct ofl_lower *l, const struct ofl_expr *expr,
                                          const struct ofl_meaning *meaning);

/* ---- Characters ---- */

struct ofl_value ofl_concatenate(struct ofl_lower *l, struct ofl_value a, struct ofl_value b);
struct ofl_k_expr *ofl_compare_text(struct ofl_lower *l, struct ofl_value a, struct ofl_value b);
struct ofl_value ofl_text_intrinsic(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                    struct ofl_value *args, unsigned count, bool *done);
struct ofl_value ofl_constant_text(struct ofl_lower *l, const char *text, size_t length);

/* ---- Views and arrays ---- */

struct ofl_view ofl_lower_view(struct ofl_lower *l, const struct ofl_expr *expr);
struct ofl_view ofl_view_of_binding(struct ofl_lower *l, const struct ofl_binding *binding, struct ofl_span span);
/* A plain component of what lies at `base` (a scalar, or the first element). */
struct ofl_view ofl_component_view(struct ofl_lower *l, const struct ofl_view *base, const struct ofl_component *part,
                                   struct ofl_span span);
struct ofl_view ofl_element_view(struct ofl_lower *l, const struct ofl_view *view, struct ofl_k_expr *const *subscript);
struct ofl_value ofl_load_view(struct ofl_lower *l, const struct ofl_view *view, struct ofl_span span);
struct ofl_array *ofl_lower_array(struct ofl_lower *l, const struct ofl_expr *expr);
struct ofl_array *ofl_array_of_view(struct ofl_lower *l, const struct ofl_view *view);
struct ofl_array *ofl_array_of_value(struct ofl_lower *l, struct ofl_value value);
struct ofl_value ofl_array_element(struct ofl_lower *l, const struct ofl_array *array,
                                   struct ofl_k_expr *const *subscript, struct ofl_span span);
struct ofl_view ofl_materialize(struct ofl_lower *l, const struct ofl_array *array, struct ofl_span span);
struct ofl_view ofl_temporary_view(struct ofl_lower *l, struct ofl_value_type type, struct ofl_k_expr *length,
                                   unsigned rank, struct ofl_k_expr *const *extent, struct ofl_span span);
struct ofl_value ofl_lower_transformational(struct ofl_lower *l, const struct ofl_expr *expr,
                                            const struct ofl_meaning *meaning);
struct ofl_array *ofl_lower_transformational_array(struct ofl_lower *l, const struct ofl_expr *expr,
                                                   const struct ofl_meaning *meaning);
struct ofl_array *ofl_reduce_dimension(struct ofl_lower *l, const struct ofl_expr *expr,
                                       const struct ofl_meaning *meaning);
struct ofl_array *ofl_reduce_places(struct ofl_lower *l, const struct ofl_expr *expr,
                                    const struct ofl_meaning *meaning);
/* sum + a * b as dot_product and matmul add it. */
struct ofl_k_expr *ofl_add_product(struct ofl_lower *l, struct ofl_k_expr *sum, struct ofl_value a, struct ofl_value b,
                                   struct ofl_value_type type, struct ofl_span span);
struct ofl_array *ofl_lower_constructor(struct ofl_lower *l, const struct ofl_expr *expr,
                                        const struct ofl_meaning *meaning);
void ofl_lower_items(struct ofl_lower *l, const struct ofl_arg *items, const struct ofl_view *to,
                     struct ofl_k_var *position);
struct ofl_value ofl_lower_structure(struct ofl_lower *l, const struct ofl_expr *expr,
                                     const struct ofl_meaning *meaning);

/* ---- Assignments ---- */

void ofl_lower_assignment(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_assign_value(struct ofl_lower *l, const struct ofl_view *target, struct ofl_value value, struct ofl_span span);
void ofl_assign_array(struct ofl_lower *l, const struct ofl_view *target, const struct ofl_array *value,
                      struct ofl_span span);
void ofl_note_assigned(struct ofl_lower *l, const struct ofl_view *target, struct ofl_span span);
bool ofl_may_overlap(struct ofl_lower *l, const struct ofl_view *target, const struct ofl_expr *value);

/* ---- Calls ---- */

/* `designator` is what is called as it is written (a name, an object's component), or NULL for an operator. */
struct ofl_value ofl_lower_call(struct ofl_lower *l, const struct ofl_call *call, const struct ofl_expr *designator,
                                struct ofl_span span);
struct ofl_view ofl_lower_call_array(struct ofl_lower *l, const struct ofl_call *call,
                                     const struct ofl_expr *designator, struct ofl_span span);
/* An actual argument of an elemental procedure; where it may be absent, the argument itself, not its value. */
struct ofl_array *ofl_elemental_argument(struct ofl_lower *l, const struct ofl_call *call, unsigned index);
struct ofl_value ofl_apply_procedure(struct ofl_lower *l, const struct ofl_call *call, struct ofl_array **args,
                                     struct ofl_k_expr *const *subscript, struct ofl_span span);

/* What is passed for one dummy argument, at either side of a call: in the caller the actual argument's expressions, in
 * the function its parameters. */
struct ofl_passed {
    bool absent;
    struct ofl_k_expr *value;   /* by value (in the type in memory); else NULL */
    struct ofl_k_expr *address; /* of the first element */
    struct ofl_k_expr *length;  /* characters */
    struct ofl_k_expr *extent[OFL_MAX_RANK], *stride[OFL_MAX_RANK], *lower[OFL_MAX_RANK];
    struct ofl_symbol *dynamic; /* the derived type of the actual argument */
};

enum ofl_passing { OFL_BY_VALUE, OFL_BY_ADDRESS, OFL_BY_DESCRIPTOR, OFL_BY_PACKED_ADDRESS };
enum ofl_passing ofl_passing_of(const struct ofl_dummy *dummy, const struct ofl_symbol *symbol);

/* The dummy's symbol in the scope of the procedure's body. */
struct ofl_symbol *ofl_dummy_symbol(const struct ofl_procedure *procedure, unsigned index);
struct ofl_symbol *ofl_result_symbol(const struct ofl_procedure *procedure);
void ofl_bind_dummies(struct ofl_lower *l, const struct ofl_procedure *procedure, const struct ofl_passed *passed,
                      struct ofl_span span);
/* The procedure that a type-bound name means for a type, overriding included; NULL if it has none. */
const struct ofl_procedure *ofl_procedure_of_binding(struct ofl_modules *modules, const struct ofl_symbol *type,
                                                     const struct ofl_name *name);
struct ofl_lowered_procedure *ofl_procedure_function(struct ofl_lower *l, const struct ofl_procedure *procedure,
                                                     const struct ofl_passed *passed, struct ofl_span span);
void ofl_lower_call_stmt(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_lower_subroutine(struct ofl_lower *l, const struct ofl_call *call, const struct ofl_expr *designator,
                          struct ofl_span span);

/* ---- Statements ---- */

void ofl_lower_block(struct ofl_lower *l, const struct ofl_block *block);
void ofl_lower_stmt(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_lower_do(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_lower_concurrent(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_lower_select(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_lower_where(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_lower_forall(struct ofl_lower *l, struct ofl_stmt *stmt);
void ofl_add_comment(struct ofl_lower *l, struct ofl_span span);
#endif
