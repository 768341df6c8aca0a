/* The table of the intrinsic procedures, intrinsics.def, as data.
 *
 * Names are found by ofl_intrinsic_find.  Specific names (dsqrt) are rows of their own that point to the generic one's
 * id, so that a switch over ids handles both; `argument` and `result_type` say what types they demand and give. */
#ifndef OFL_FORTRAN_INTRINSICS_H
#define OFL_FORTRAN_INTRINSICS_H

#include "fortran/tree.h"

enum ofl_intrinsic_id {
#define OFL_INTRINSIC(id, name, class, result, shape, arguments) OFL_INTRINSIC_##id,
#define OFL_SPECIFIC(name, id, argument, kind, result, result_kind)
#include "fortran/intrinsics.def"
#undef OFL_INTRINSIC
#undef OFL_SPECIFIC
    OFL_INTRINSICS
};

enum ofl_intrinsic_class {
    OFL_INTRINSIC_ELEMENTAL,
    OFL_INTRINSIC_TRANSFORMATIONAL,
    OFL_INTRINSIC_INQUIRY,
    OFL_INTRINSIC_IMPURE_FUNCTION,
    OFL_INTRINSIC_ELEMENTAL_SUBROUTINE,
    OFL_INTRINSIC_PURE_SUBROUTINE,
    OFL_INTRINSIC_IMPURE_SUBROUTINE
};

/* The type of a function's result. */
enum ofl_intrinsic_result {
    OFL_RESULT_NONE,              /* a subroutine */
    OFL_RESULT_SAME,              /* as the first argument */
    OFL_RESULT_PROMOTED,          /* the wider one of the arguments (gfortran's -std=gnu allows mixed kinds) */
    OFL_RESULT_PRODUCT,           /* of the first times the second argument; logical for logical */
    OFL_RESULT_INTEGER,           /* default integer */
    OFL_RESULT_INTEGER_2,         /* integer(2) */
    OFL_RESULT_INTEGER_8,         /* integer(8) */
    OFL_RESULT_INTEGER_KIND,      /* integer of the argument `kind`, else default */
    OFL_RESULT_REAL,              /* default real */
    OFL_RESULT_REAL_OF,           /* as the first argument, for a complex one real of its kind */
    OFL_RESULT_REAL_KIND,         /* real of the argument `kind`, else of the first argument's */
    OFL_RESULT_REAL_KIND_OR_PART, /* real of the argument `kind`; else for complex its kind, else default */
    OFL_RESULT_DOUBLE,            /* double precision */
    OFL_RESULT_DOUBLE_COMPLEX,
    OFL_RESULT_COMPLEX_KIND, /* complex of the argument `kind`, else default */
    OFL_RESULT_COMPLEX_OF,   /* complex of the widest real argument; default for integers */
    OFL_RESULT_LOGICAL,      /* default logical */
    OFL_RESULT_LOGICAL_KIND,
    OFL_RESULT_CHARACTER_KIND, /* one character of the argument `kind` */
    OFL_RESULT_CHARACTER_OF,   /* one character of the first argument's kind */
    OFL_RESULT_TEXT,           /* characters of the first argument's kind, as many as the values say */
    OFL_RESULT_TEXT_DEFAULT,   /* default characters */
    OFL_RESULT_MOLD,           /* as the argument `mold` */
    OFL_RESULT_BESSEL,         /* as the last argument */
    OFL_RESULT_NULL,           /* as the argument `mold`, else typeless */
    OFL_RESULT_C_PTR,
    OFL_RESULT_C_FUNPTR,
    OFL_RESULT_IEEE_CLASS
};

/* Its rank. */
enum ofl_intrinsic_shape {
    OFL_SHAPE_SCALAR,
    OFL_SHAPE_ARGUMENTS, /* elemental: of the arguments */
    OFL_SHAPE_FIRST,     /* of the first argument */
    OFL_SHAPE_VECTOR,    /* 1 */
    OFL_SHAPE_REDUCED,   /* one less with `dim`, else scalar */
    OFL_SHAPE_LOCATION,  /* one less with `dim`, else 1 */
    OFL_SHAPE_BOUNDS,    /* scalar with `dim`, else 1 */
    OFL_SHAPE_MATMUL,
    OFL_SHAPE_RESHAPE, /* the size of the argument `shape` */
    OFL_SHAPE_SPREAD,  /* one more than the first argument */
    OFL_SHAPE_TRANSFER,
    OFL_SHAPE_MASK, /* of the argument `mask` */
    OFL_SHAPE_BESSEL,
    OFL_SHAPE_NULL
};

struct ofl_intrinsic {
    const char *name;
    enum ofl_intrinsic_id id;
    enum ofl_intrinsic_class class;
    enum ofl_intrinsic_result result;
    enum ofl_intrinsic_shape shape;
    const char *arguments;
    bool specific;
    enum ofl_type_kind argument, result_type; /* a specific name's types */
    int argument_kind, result_kind;           /* 0: default; OFL_KIND_DOUBLE; OFL_KIND_ANY */
};

#define OFL_KIND_DOUBLE (-1)
#define OFL_KIND_ANY    (-2)

const struct ofl_intrinsic *ofl_intrinsic_find(const char *name); /* lower case; NULL if there is none */

/* Whether gfortran has an intrinsic procedure of this name that the table leaves out; none of them is pure. */
bool ofl_intrinsic_is_other(const char *name);

/* The row of an id (not of a specific name). */
const struct ofl_intrinsic *ofl_intrinsic_row(enum ofl_intrinsic_id id);

/* One formal argument, from the table's text. */
struct ofl_formal {
    const char *name;
    uint32_t name_length;
    const char *types; /* letters, up to ',' or the end */
    bool optional;
    bool array;    /* `[]` */
    unsigned same; /* `=N`: 1, 2, ...; 0 without */
    bool variadic; /* `...` */
};

enum { OFL_MAX_FORMALS = 8 };

/* The formals of an intrinsic procedure in order; returns their number. */
unsigned ofl_intrinsic_formals(const struct ofl_intrinsic *intrinsic, struct ofl_formal formals[OFL_MAX_FORMALS]);

static inline bool ofl_intrinsic_is_pure(const struct ofl_intrinsic *intrinsic)
{
    return intrinsic->class != OFL_INTRINSIC_IMPURE_FUNCTION && intrinsic->class != OFL_INTRINSIC_IMPURE_SUBROUTINE;
}

static inline bool ofl_intrinsic_is_function(const struct ofl_intrinsic *intrinsic)
{
    return intrinsic->class <= OFL_INTRINSIC_IMPURE_FUNCTION;
}

static inline bool ofl_intrinsic_is_elemental(const struct ofl_intrinsic *intrinsic)
{
    return intrinsic->class == OFL_INTRINSIC_ELEMENTAL || intrinsic->class == OFL_INTRINSIC_ELEMENTAL_SUBROUTINE;
}
#endif
