/* Random expressions.  Each has a bound of its absolute value; integers stay within their kind, reals far from
 * overflow, divisors and arguments of sqrt in their domain.  Functions are those that every machine rounds the same. */
#include "generate.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { initial_bound = 31, written_bound = 1000, written_bound_1 = 100 };

static void print(struct expr *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(struct expr *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->text, sizeof out->text, format, arguments);
    va_end(arguments);
}

static double largest(int kind)
{
    return kind == 1 ? 127 : kind == 2 ? 32767 : kind == 4 ? 2147483647 : 9e18;
}

static double bound_of(enum type type, int kind, bool written)
{
    if (type == LOGICAL) {
        return 1;
    }
    return !written ? initial_bound : type == INTEGER && kind == 1 ? written_bound_1 : written_bound;
}

/* ---- Subscripts ---- */

void make_subscript(const struct place *place, char *out, size_t size, int class)
{
    const struct index *fits[most_indices + 2], *any = NULL;
    int count = 0, extent = upper[class] - lower[class] + 1;
    for (int i = 0; i < place->index_count; i++) {
        any = &place->index[i];
        if (any->class == class) {
            fits[count++] = any;
        }
    }
    int form = below(10);
    if (count > 0 && form < 5) {
        snprintf(out, size, "%s", fits[below(count)]->name);
    } else if (any != NULL && form < 8) {
        any = &place->index[below(place->index_count)];
        snprintf(out, size, "%d + modulo(%d*%s %+d, %d)", lower[class], 1 + below(3), any->name, below(9) - 4, extent);
    } else {
        snprintf(out, size, "%d", lower[class] + below(extent));
    }
}

static void make_element(const struct place *place, const struct array *array, char *out, size_t size)
{
    char subscript[96];
    int used = snprintf(out, size, "%s(", array->name);
    for (int d = 0; d < array->rank; d++) {
        make_subscript(place, subscript, sizeof subscript, array->dims[d]);
        used += snprintf(out + used, size - (size_t)used, "%s%s", d == 0 ? "" : ", ", subscript);
    }
    snprintf(out + used, size - (size_t)used, ")");
}

static int target_of(const struct place *place, const struct array *array)
{
    int target = -1;
    for (int t = 0; t < place->target_count; t++) {
        target = place->target[t] == array ? t : target;
    }
    return target;
}

const struct array *make_section(const struct place *place, char *out, size_t size, enum type type, int class)
{
    for (int attempt = 0; attempt < 60; attempt++) {
        const struct array *array = &arrays[below(array_count)];
        char subscript[96];
        bool found = false;
        if (array->type != type || target_of(place, array) >= 0) {
            continue;
        }
        int used = snprintf(out, size, "%s(", array->name);
        for (int d = 0; d < array->rank; d++) {
            if (array->dims[d] == class) {
                found = true;
                if (chance(60)) {
                    snprintf(subscript, sizeof subscript, ":");
                } else if (chance(50)) {
                    snprintf(subscript, sizeof subscript, "%d:%d:-1", upper[class], lower[class]);
                } else {
                    snprintf(subscript, sizeof subscript, "%d:", lower[class]);
                }
            } else {
                make_subscript(place, subscript, sizeof subscript, array->dims[d]);
            }
            used += snprintf(out + used, size - (size_t)used, "%s%s", d == 0 ? "" : ", ", subscript);
        }
        snprintf(out + used, size - (size_t)used, ")");
        if (found) {
            return array;
        }
    }
    return NULL;
}

/* A number made of all elements of a section. */
static bool section_leaf(const struct place *place, struct expr *out, enum type type)
{
    static const char *const names[] = {"sum", "maxval", "minval"};
    char one[512], other[512];
    int class = below(2);
    if (!place->sections || type == COMPLEX || type == LOGICAL || chance(80)) {
        return false;
    }
    enum type of = type == INTEGER && chance(30) ? LOGICAL : type;
    const struct array *array = make_section(place, one, sizeof one, of, class);
    if (array == NULL || (of == INTEGER && array->kind < 4)) {
        return false;
    }
    int extent = upper[class] - lower[class] + 1;
    out->kind = of == LOGICAL ? 4 : array->kind;
    out->bound = of == LOGICAL ? extent : (double)extent * initial_bound;
    if (of == LOGICAL) {
        print(out, "count(%s)", one);
        return true;
    }
    const struct array *second =
        type == REAL && chance(40) ? make_section(place, other, sizeof other, REAL, class) : NULL;
    if (second != NULL && second->kind == array->kind) {
        print(out, "dot_product(%s, %s)", one, other);
        out->bound *= initial_bound;
    } else {
        print(out, "%s(%s)", names[below(3)], one);
    }
    return true;
}

/* ---- Leaves ---- */

static bool element_leaf(const struct place *place, struct expr *out, enum type type)
{
    for (int attempt = 0; attempt < 20; attempt++) {
        const struct array *array = &arrays[below(array_count)];
        int target = target_of(place, array);
        if (array->type != type) {
            continue;
        }
        out->kind = array->kind;
        out->bound = bound_of(type, array->kind, target >= 0);
        if (target >= 0) {
            print(out, "%s", place->own[target]);
        } else {
            make_element(place, array, out->text, sizeof out->text);
        }
        return true;
    }
    return false;
}

static const char *excluded = "";

void exclude(const char *name)
{
    excluded = name;
}

static bool named_leaf(const struct place *place, struct expr *out, enum type type)
{
    for (int attempt = 0; attempt < 20; attempt++) {
        int i = below(place->local_count + scalar_count);
        if (i < place->local_count && place->local[i].type == type) {
            out->kind = place->local[i].kind;
            out->bound = bound_of(type, out->kind, true);
            print(out, "%s", place->local[i].name);
            return true;
        }
        if (i >= place->local_count && scalars[i - place->local_count].type == type &&
            strcmp(scalars[i - place->local_count].name, excluded) != 0) {
            out->kind = scalars[i - place->local_count].kind;
            out->bound = 10;
            print(out, "%s", scalars[i - place->local_count].name);
            return true;
        }
    }
    return false;
}

static void literal_leaf(struct expr *out, enum type type)
{
    static const int kinds[] = {4, 4, 4, 8, 8, 2, 1};
    static const char *const reals[] = {"0.5", "1.25", "-3.0", "0.1", "7.0e-1", "2.0"};
    out->bound = 20;
    if (type == INTEGER) {
        out->kind = kinds[below(7)];
        int value = below(19) - 9;
        print(out, value < 0 ? "(%d_%d)" : "%d_%d", value, out->kind);
    } else if (type == REAL) {
        out->kind = chance(50) ? 8 : 4;
        const char *text = reals[below(6)];
        print(out, text[0] == '-' ? "(%s_%d)" : "%s_%d", text, out->kind);
    } else if (type == COMPLEX) {
        out->kind = chance(50) ? 8 : 4;
        print(out, "(%d.5_%d, %d.0_%d)", below(5), out->kind, below(9) - 4, out->kind);
    } else {
        out->kind = 4;
        print(out, chance(50) ? ".true." : ".false.");
    }
}

static void leaf(const struct place *place, struct expr *out, enum type type)
{
    out->type = type;
    if (type == INTEGER && place->index_count > 0 && chance(25)) {
        const struct index *index = &place->index[below(place->index_count)];
        out->kind = index->kind;
        out->bound = 20;
        print(out, "%s", index->name);
    } else if (!section_leaf(place, out, type) && !(chance(60) && element_leaf(place, out, type)) &&
               !(chance(60) && named_leaf(place, out, type))) {
        literal_leaf(out, type);
    }
}

/* ---- Integers ---- */

static void make_integer(const struct place *place, struct expr *out, int depth);

void tame(struct expr *e, double limit)
{
    struct expr old = *e;
    if (e->bound <= limit) {
        return;
    }
    if (e->type == INTEGER) {
        print(e, "mod(%s, %d_%d)", old.text, limit < 61 ? 5 : 61, e->kind);
        e->bound = limit < 61 ? 4 : 60;
    } else if (e->type == REAL) {
        print(e, "mod(%s, 31.5_%d)", old.text, e->kind);
        e->bound = 31.5;
    } else {
        print(e, "cmplx(mod(real(%s), 15.5_%d), 0.25_%d, %d)", old.text, e->kind, e->kind, e->kind);
        e->bound = 16;
    }
}

static void combine_integers(struct expr *out, struct expr *a, struct expr *b)
{
    int kind = out->kind = a->kind > b->kind ? a->kind : b->kind;
    double limit = largest(kind);
    switch (below(12)) {
    case 0:
    case 1:
        tame(a, limit / 2), tame(b, limit / 2);
        print(out, "(%s + %s)", a->text, b->text);
        out->bound = a->bound + b->bound;
        break;
    case 2:
        tame(a, limit / 2), tame(b, limit / 2);
        print(out, "(%s - %s)", a->text, b->text);
        out->bound = a->bound + b->bound;
        break;
    case 3:
    case 4:
        tame(a, sqrt(limit)), tame(b, sqrt(limit));
        print(out, "(%s*%s)", a->text, b->text);
        out->bound = a->bound * b->bound;
        break;
    case 5:
        tame(b, limit - 1);
        print(out, "(%s/(abs(%s) + 1_%d))", a->text, b->text, kind);
        out->bound = a->bound;
        break;
    case 6:
        print(out, "%s(%s, %d_%d)", chance(50) ? "mod" : "modulo", a->text, 1 + below(17), a->kind);
        out->kind = a->kind;
        out->bound = 17;
        break;
    case 7:
        print(out, "%s(int(%s, %d), int(%s, %d))", chance(50) ? "min" : "max", a->text, kind, b->text, kind);
        out->bound = a->bound > b->bound ? a->bound : b->bound;
        break;
    case 8: {
        static const char *const names[] = {"iand", "ior", "ieor"};
        print(out, "%s(int(%s, %d), int(%s, %d))", names[below(3)], a->text, kind, b->text, kind);
        out->bound = 2 * (a->bound > b->bound ? a->bound : b->bound) + 1;
        out->bound = out->bound < limit ? out->bound : limit;
        break;
    }
    case 9:
        out->kind = a->kind;
        tame(a, sqrt(largest(a->kind)));
        print(out, "(%s)**2", a->text);
        out->bound = a->bound * a->bound;
        break;
    case 10:
        print(out, "sign(int(%s, %d), int(%s, %d))", a->text, kind, b->text, kind);
        out->bound = a->bound;
        break;
    default:
        tame(a, largest(a->kind) / 9);
        print(out, "ishft(abs(%s), %d)", a->text, below(6) - 2);
        out->kind = a->kind;
        out->bound = a->bound * 8;
        break;
    }
}

static void make_integer(const struct place *place, struct expr *out, int depth)
{
    static struct expr pool[16][2];
    out->type = INTEGER;
    if (depth <= 0 || depth > 15) {
        leaf(place, out, INTEGER);
        return;
    }
    struct expr *a = &pool[depth][0], *b = &pool[depth][1];
    int form = below(10);
    if (form == 0) {
        static const char *const names[] = {"int", "nint", "floor", "ceiling"};
        make_number(place, a, REAL, depth - 1);
        out->kind = chance(60) ? 4 : 8;
        tame(a, 1e6);
        print(out, "%s(%s, kind=%d)", names[below(4)], a->text, out->kind);
        out->bound = a->bound + 1;
    } else if (form == 1) {
        make_integer(place, a, depth - 1);
        tame(a, 60);
        out->kind = chance(50) ? 8 : 4;
        print(out, "int(%s, %d)", a->text, out->kind);
        out->bound = a->bound;
    } else if (form == 2) {
        make_integer(place, a, depth - 1);
        struct expr condition;
        make_logical(place, &condition, depth - 1);
        make_integer(place, b, depth - 1);
        out->kind = a->kind > b->kind ? a->kind : b->kind;
        print(out, "merge(int(%s, %d), int(%s, %d), %s)", a->text, out->kind, b->text, out->kind, condition.text);
        out->bound = a->bound > b->bound ? a->bound : b->bound;
    } else {
        make_integer(place, a, depth - 1);
        make_integer(place, b, depth - 1);
        combine_integers(out, a, b);
    }
}

/* ---- Reals and complex numbers ---- */

static void combine_reals(struct expr *out, struct expr *a, struct expr *b)
{
    int kind = out->kind = a->kind > b->kind ? a->kind : b->kind;
    bool real_b = b->type == REAL;
    if (!real_b) {
        kind = out->kind = a->kind;
    }
    tame(a, 1e9), tame(b, 1e9);
    switch (below(11)) {
    case 0:
    case 1:
        print(out, "(%s + %s)", a->text, b->text);
        out->bound = a->bound + b->bound;
        break;
    case 2:
        print(out, "(%s - %s)", b->text, a->text);
        out->bound = a->bound + b->bound;
        break;
    case 3:
    case 4:
        tame(a, 1e5), tame(b, 1e5);
        print(out, "(%s*%s)", a->text, b->text);
        out->bound = a->bound * b->bound;
        break;
    case 5:
        print(out, "(%s/(abs(%s) + 1))", a->text, b->text);
        out->bound = a->bound;
        break;
    case 6:
        print(out, "sqrt(abs(%s))", a->text);
        out->kind = a->kind;
        out->bound = a->bound + 1;
        break;
    case 7:
        print(out, "%s(real(%s, %d), real(%s, %d))", chance(50) ? "min" : "max", a->text, kind, b->text, kind);
        out->bound = a->bound > b->bound ? a->bound : b->bound;
        break;
    case 8:
        print(out, "%s(%s, %d.5_%d)", chance(50) ? "mod" : "modulo", a->text, 1 + below(9), a->kind);
        out->kind = a->kind;
        out->bound = 10;
        break;
    case 9:
        tame(a, 100);
        print(out, "(%s)**%d", a->text, 2 + below(4));
        out->kind = a->kind;
        out->bound = pow(a->bound, 5);
        break;
    default:
        print(out, "sign(real(%s, %d), real(%s, %d))", a->text, kind, b->text, kind);
        out->bound = a->bound;
        break;
    }
}

static void make_real(const struct place *place, struct expr *out, int depth)
{
    static struct expr pool[16][2];
    out->type = REAL;
    if (depth <= 0 || depth > 15) {
        leaf(place, out, REAL);
        return;
    }
    struct expr *a = &pool[depth][0], *b = &pool[depth][1];
    int form = below(12);
    make_number(place, a, REAL, depth - 1);
    if (form == 0) {
        make_number(place, b, INTEGER, depth - 1);
        out->kind = chance(50) ? 4 : 8;
        print(out, "real(%s, %d)", b->text, out->kind);
        out->bound = b->bound;
    } else if (form == 1) {
        static const char *const names[] = {"aint", "anint", "abs"};
        tame(a, 1e6);
        print(out, "%s(%s)", names[below(3)], a->text);
        out->kind = a->kind;
        out->bound = a->bound + 1;
    } else if (form == 2) {
        make_number(place, b, COMPLEX, depth - 1);
        print(out, "%s(%s)", chance(50) ? "real" : "aimag", b->text);
        out->kind = b->kind;
        out->bound = b->bound;
    } else if (form == 3 && place->calls) {
        out->kind = 8;
        make_number(place, b, INTEGER, depth - 1);
        tame(a, 1e4), tame(b, 1e4);
        print(out, "blend(real(%s, 8), int(%s, 4))", a->text, b->text);
        out->bound = 4 * a->bound + 4 * b->bound + 10;
    } else {
        make_number(place, b, chance(25) ? INTEGER : REAL, depth - 1);
        combine_reals(out, a, b);
    }
}

static void make_complex(const struct place *place, struct expr *out, int depth)
{
    static struct expr pool[16][2];
    out->type = COMPLEX;
    if (depth <= 0 || depth > 15) {
        leaf(place, out, COMPLEX);
        return;
    }
    struct expr *a = &pool[depth][0], *b = &pool[depth][1];
    int form = below(6);
    make_number(place, a, form == 0 ? REAL : COMPLEX, depth - 1);
    if (form == 0) {
        make_number(place, b, REAL, depth - 1);
        out->kind = chance(50) ? 4 : 8;
        print(out, "cmplx(%s, %s, %d)", a->text, b->text, out->kind);
        out->bound = a->bound + b->bound;
        return;
    }
    if (form == 1) {
        print(out, "conjg(%s)", a->text);
        out->kind = a->kind;
        out->bound = a->bound;
        return;
    }
    make_number(place, b, chance(30) ? REAL : COMPLEX, depth - 1);
    out->kind = a->kind > b->kind ? a->kind : b->kind;
    tame(a, 1e5), tame(b, 1e5);
    static const char *const signs[] = {"+", "-", "*", "*"};
    int sign = below(4);
    print(out, "(%s %s %s)", a->text, signs[sign], b->text);
    out->bound = sign < 2 ? a->bound + b->bound : 2 * a->bound * b->bound;
}

void make_number(const struct place *place, struct expr *out, enum type type, int depth)
{
    if (type == INTEGER) {
        make_integer(place, out, depth);
    } else if (type == REAL) {
        make_real(place, out, depth);
    } else {
        make_complex(place, out, depth);
    }
    if (strlen(out->text) > 600) { /* lines stay readable */
        leaf(place, out, type);
    }
}

/* ---- Logicals, values ---- */

void make_logical(const struct place *place, struct expr *out, int depth)
{
    static struct expr pool[16][2];
    static const char *const relations[] = {"<", "<=", ">", ">=", "==", "/="};
    static const char *const operators[] = {".and.", ".or.", ".eqv.", ".neqv."};
    out->type = LOGICAL;
    out->bound = 1;
    int form = depth <= 0 || depth > 15 ? 9 : below(10);
    struct expr *a = &pool[depth > 0 && depth < 16 ? depth : 0][0], *b = a + 1;
    out->kind = 4;
    if (form < 5) {
        enum type type = chance(50) ? INTEGER : REAL;
        make_number(place, a, type, depth - 1);
        make_number(place, b, type, depth - 1);
        print(out, "(%s %s %s)", a->text, relations[below(type == REAL ? 4 : 6)], b->text);
    } else if (form < 7) {
        make_logical(place, a, depth - 1);
        make_logical(place, b, depth - 1);
        print(out, "(%s %s %s)", a->text, operators[below(4)], b->text);
    } else if (form == 7) {
        make_logical(place, a, depth - 1);
        print(out, "(.not. %s)", a->text);
    } else if (form == 8) {
        make_number(place, a, INTEGER, depth - 1);
        print(out, "btest(%s, %d)", a->text, below(7));
    } else {
        leaf(place, out, LOGICAL);
    }
    if (strlen(out->text) > 600) {
        leaf(place, out, LOGICAL);
    }
    if (form < 9 && out->kind != 4) {
        out->kind = 4;
    }
}

void make_value(const struct place *place, struct expr *out, enum type type, int kind, int depth)
{
    if (type == LOGICAL) {
        make_logical(place, out, depth);
        return;
    }
    enum type from = type == COMPLEX && chance(70) ? COMPLEX : chance(75) && type != COMPLEX ? type : REAL;
    if (type == INTEGER) {
        from = chance(80) ? INTEGER : REAL;
    } else if (type == REAL) {
        from = chance(80) ? REAL : INTEGER;
    }
    make_number(place, out, from, depth);
    tame(out, bound_of(type, kind, true));
}
