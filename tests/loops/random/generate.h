/* Random loops: what the generator's files share.
 *
 * One program's loops work on the same data, tables of arrays and scalars of all types (data.c).  Expressions (expr.c)
 * carry a bound of their absolute value, so that nothing overflows and no value is a NaN: then a loop has one result,
 * to the last bit.  Loops (loop.c, subroutine.c) are written twice, from the same random numbers: as do concurrent, and
 * as do loops for the reference. */
#ifndef RANDOM_GENERATE_H
#define RANDOM_GENERATE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { most_indices = 4, classes = 4, most_locals = 6, most_targets = 3, text_size = 4096 };

/* Expressions of depth d hold their operands while those of smaller depths are made; constants have depths of their
 * own. */
enum { most_depth = 15, constant_floor = 11 };

enum type { INTEGER, REAL, COMPLEX, LOGICAL, CHARACTER }; /* a character's kind is its length */

/* An array: `dims` are classes of dimensions, each with its bounds.  Arrays of records have a row for each part. */
struct array {
    const char *name;
    enum type type;
    int kind, rank;
    int dims[most_indices];
    const char *form;   /* "", "allocatable", "pointer" */
    const char *part;   /* what stands behind the subscripts: "", "%x", ... */
    const char *record; /* the type of the elements, or NULL */
};

extern const struct array arrays[];
extern const int array_count;

/* lower[c] to upper[c]. */
extern const int lower[classes], upper[classes];

struct scalar {
    const char *name;
    enum type type;
    int kind;
    const char *value;
};

extern const struct scalar scalars[];
extern const int scalar_count;

/* A value that expressions may use. */
struct variable {
    char name[16];
    enum type type;
    int kind;
};

/* An expression: its text, type, and a bound of its absolute value. */
struct expr {
    char text[text_size];
    enum type type;
    int kind;
    double bound;
};

struct index {
    char name[16];
    int class, kind;
    bool inner; /* of a loop in the body */
};

/* What is in reach where an expression stands. */
struct place {
    struct index index[most_indices + 2];
    int index_count;
    struct variable local[most_locals];
    int local_count;
    const struct array *target[most_targets]; /* written in this loop: only an iteration's own elements may be read */
    char own[most_targets][64];               /* these */
    int target_count;
    bool calls;    /* whether functions may be called */
    bool sections; /* whether array expressions may stand */
    bool texts;    /* whether characters may stand */
    bool constant; /* nothing but constants */
    int floor;     /* the depth of expressions at which leaves stand */
};

/* random.c */
void seed_with(uint64_t seed, uint64_t stream);
int below(int limit); /* 0 to limit - 1 */
bool chance(int percent);

/* data.c */
void print_data(FILE *out);
const char *type_word(enum type type);

/* expr.c */
void print(struct expr *out, const char *format, ...) __attribute__((format(printf, 2, 3))); /* sets the text */
double largest(int kind);
/* An element, a variable, a constant. */
void leaf(const struct place *place, struct expr *out, enum type type);
/* An expression of constants only. */
void make_constant(struct expr *out, enum type type, int depth);
void make_logical(const struct place *place, struct expr *out, int depth);
/* A value that fits a variable of the type, in Fortran's conversion by assignment. */
void make_value(const struct place *place, struct expr *out, enum type type, int kind, int depth);
/* A section along a dimension of the class, of an array of the type that the loop does not write; its array, or NULL.
 */
const struct array *make_section(const struct place *place, char *out, size_t size, enum type type, int class);
/* Brings a number below a bound. */
void tame(struct expr *e, double limit);
/* The scalar `name` must not be used from now on; "" for none. */
void exclude(const char *name);
/* A subscript within a class of dimensions. */
void make_subscript(const struct place *place, char *out, size_t size, int class);

/* numbers.c */
void make_number(const struct place *place, struct expr *out, enum type type, int depth); /* INTEGER, REAL, COMPLEX */

/* text.c */
void make_text(const struct place *place, struct expr *out, int depth); /* CHARACTER */
bool integer_of_text(const struct place *place, struct expr *out);
void logical_of_text(const struct place *place, struct expr *out);

/* subroutine.c: PREFIX_NUMBER. */
enum {
    FEATURE_BASIC = 0,
    FEATURE_CONTROL = 1,
    FEATURE_CALLS = 2,
    FEATURE_LOCALITY = 4,
    FEATURE_SECTIONS = 8,
    FEATURE_TEXTS = 16,
    FEATURE_ALL = 31
};
void print_loop(FILE *out, const char *prefix, int number, bool concurrent, int features);
void print_procedures(FILE *out);
#endif
