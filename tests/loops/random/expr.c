/* Random expressions.  Each has a bound of its absolute value; integers stay within their kind, reals far from
 * overflow, divisors and arguments of sqrt in their domain.  Functions are those that every machine rounds the same. */
#include "generate.h"

#include <stdarg.h>
#include <string.h>

enum { initial_bound = 31, written_bound = 1000, written_bound_1 = 100 };

void print(struct expr *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->text, sizeof out->text, format, arguments);
    va_end(arguments);
}

double largest(int kind)
{
    return kind == 1 ? 127 : kind == 2 ? 32767 : kind == 4 ? 2147483647 : 9e18;
}

static double bound_of(enum type type, int kind, bool written)
{
    if (type == LOGICAL || type == CHARACTER) {
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
    snprintf(out + used, size - (size_t)used, ")%s", array->part);
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
        snprintf(out + used, size - (size_t)used, ")%s", array->part);
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
    if (!place->sections || type == COMPLEX || type == LOGICAL || type == CHARACTER || chance(80)) {
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

static void literal_leaf(const struct place *place, struct expr *out, enum type type)
{
    static const int kinds[] = {4, 4, 4, 8, 8, 2, 1};
    static const char *const reals[] = {"0.5", "1.25", "-3.0", "0.1", "7.0e-1", "2.0", "-0.0", "-1.5"};
    out->bound = 20;
    if (type == INTEGER) {
        out->kind = kinds[below(7)];
        int value = below(19) - 9;
        if (chance(10)) { /* an end of the kind */
            print(out, chance(50) ? "huge(1_%d)" : "(-huge(1_%d) - 1_%d)", out->kind, out->kind);
            out->bound = 2 * largest(out->kind); /* more than fits: nothing may be added */
            return;
        }
        print(out, value < 0 ? "(%d_%d)" : "%d_%d", value, out->kind);
    } else if (type == REAL) {
        out->kind = chance(50) ? 8 : 4;
        const char *text =
            reals[below(place->constant ? 8 : 6)]; /* min and max of variables leave signs of zeros open */
        print(out, text[0] == '-' ? "(%s_%d)" : "%s_%d", text, out->kind);
    } else if (type == COMPLEX) {
        out->kind = chance(50) ? 8 : 4;
        print(out, "(%d.5_%d, %d.0_%d)", below(5), out->kind, below(9) - 4, out->kind);
    } else if (type == CHARACTER) {
        static const char *const texts[] = {"'a'", "'abc'", "' b '", "''", "'bca  '", "'c'"};
        out->kind = 5;
        print(out, "%s", texts[below(6)]);
    } else {
        out->kind = 4;
        print(out, chance(50) ? ".true." : ".false.");
    }
}

/* Levels of constants have numbers of their own above those of other expressions. */
void make_constant(struct expr *out, enum type type, int depth)
{
    static const struct place nowhere = {.constant = true, .floor = constant_floor};
    if (type == LOGICAL) {
        make_logical(&nowhere, out, constant_floor + depth);
    } else {
        make_number(&nowhere, out, type, constant_floor + depth);
    }
}

void leaf(const struct place *place, struct expr *out, enum type type)
{
    out->type = type;
    if (place->constant) {
        literal_leaf(place, out, type);
    } else if (type != CHARACTER && chance(4)) {
        make_constant(out, type, 2);
    } else if (type == INTEGER && place->index_count > 0 && chance(25)) {
        const struct index *index = &place->index[below(place->index_count)];
        out->kind = index->kind;
        out->bound = 20;
        print(out, "%s", index->name);
    } else if (!section_leaf(place, out, type) && !(chance(60) && element_leaf(place, out, type)) &&
               !(chance(60) && named_leaf(place, out, type))) {
        literal_leaf(place, out, type);
    }
}

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

/* ---- Logicals, values ---- */

void make_logical(const struct place *place, struct expr *out, int depth)
{
    static struct expr pool[most_depth + 1][2];
    static const char *const relations[] = {"<", "<=", ">", ">=", "==", "/="};
    static const char *const operators[] = {".and.", ".or.", ".eqv.", ".neqv."};
    out->type = LOGICAL;
    out->bound = 1;
    int form = depth <= place->floor || depth > most_depth ? 9 : below(11);
    struct expr *a = &pool[depth > 0 && depth <= most_depth ? depth : 0][0], *b = a + 1;
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
    } else if (form == 10 && place->texts) {
        logical_of_text(place, out);
    } else if (form == 10) {
        make_logical(place, a, depth - 1);
        make_logical(place, b, depth - 1);
        print(out, "merge(%s, .not. %s, %s)", a->text, a->text, b->text);
        out->kind = a->kind;
        return;
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
    if (type == CHARACTER) {
        make_text(place, out, 2);
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
