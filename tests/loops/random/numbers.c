/* Random expressions of integers, reals and complex numbers; see expr.c. */
#include "generate.h"

#include <math.h>
#include <string.h>

/* ---- Integers ---- */

static void make_integer(const struct place *place, struct expr *out, int depth);

/* Bits moved or picked: any number of the kind may come out. */
static void shift(struct expr *out, const struct expr *a)
{
    static const char *const names[] = {"shiftl", "shiftr", "shifta", "ishftc", "ibset", "ibclr", "ishft", "not"};
    int form = below(9), bits = 8 * a->kind;
    out->kind = a->kind;
    out->bound = 2 * largest(a->kind);
    if (form == 8) {
        print(out, "ibits(%s, %d, %d)", a->text, below(bits / 2), 1 + below(bits / 2));
    } else if (form == 7) {
        print(out, "not(%s)", a->text);
    } else {
        int by = form == 3 || form == 6 ? below(2 * bits - 1) - bits + 1 : below(bits);
        print(out, "%s(%s, %d)", names[form], a->text, by);
    }
}

static void combine_integers(struct expr *out, struct expr *a, struct expr *b)
{
    int kind = out->kind = a->kind > b->kind ? a->kind : b->kind;
    double limit = largest(kind);
    switch (below(16)) {
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
        tame(b, largest(b->kind) - 1);
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
        out->bound = out->bound < limit ? out->bound : 2 * limit;
        break;
    }
    case 9:
        out->kind = a->kind;
        tame(a, sqrt(largest(a->kind)));
        print(out, "(%s)**2", a->text);
        out->bound = a->bound * a->bound;
        break;
    case 10:
        tame(a, limit);
        print(out, "sign(int(%s, %d), int(%s, %d))", a->text, kind, b->text, kind);
        out->bound = a->bound;
        break;
    case 11:
        tame(a, limit / 2), tame(b, limit / 2);
        print(out, "dim(int(%s, %d), int(%s, %d))", a->text, kind, b->text, kind);
        out->bound = a->bound + b->bound;
        break;
    case 12:
        shift(out, a);
        break;
    case 13:
        print(out, "merge_bits(int(%s, %d), int(%s, %d), %d_%d)", a->text, kind, b->text, kind, below(128), kind);
        out->bound = 2 * limit;
        break;
    case 14: {
        static const char *const names[] = {"popcnt", "poppar", "leadz", "trailz"};
        print(out, "%s(%s)", names[below(4)], a->text);
        out->kind = 4;
        out->bound = 64;
        break;
    }
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
    static struct expr pool[most_depth + 1][2];
    out->type = INTEGER;
    if (depth <= place->floor || depth > most_depth) {
        leaf(place, out, INTEGER);
        return;
    }
    struct expr *a = &pool[depth][0], *b = &pool[depth][1];
    int form = below(11);
    if (form == 10 && place->texts && integer_of_text(place, out)) {
        return;
    }
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

/* The functions of the model of numbers.  Not set_exponent: gfortran 12 loses the sign of its constants. */
static void parts_of_number(struct expr *out, const struct expr *a)
{
    static const char *const names[] = {"fraction", "spacing", "rrspacing"};
    int form = below(5);
    out->kind = a->kind;
    if (form < 3) {
        print(out, "%s(%s)", names[form], a->text);
        out->bound = form == 2 ? 1e16 : a->bound + 1;
    } else if (form == 3) {
        print(out, "scale(%s, %d)", a->text, below(9) - 4);
        out->bound = 16 * a->bound;
    } else {
        print(out, "nearest(%s, %d.0_%d)", a->text, chance(50) ? 1 : -1, a->kind);
        out->bound = a->bound + 1;
    }
}

static void combine_reals(struct expr *out, struct expr *a, struct expr *b)
{
    int kind = out->kind = a->kind > b->kind ? a->kind : b->kind;
    bool real_b = b->type == REAL;
    if (!real_b) {
        kind = out->kind = a->kind;
    }
    tame(a, 1e9), tame(b, real_b ? 1e9 : fmin(1e9, largest(b->kind) - 1));
    switch (below(14)) {
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
    case 10: {
        static const char *const names[] = {"mod", "modulo"};
        print(out, "%s(real(%s, %d), real(abs(%s), %d) + 0.5_%d)", names[below(2)], a->text, kind, b->text, kind, kind);
        out->bound = a->bound + b->bound + 1;
        break;
    }
    case 11:
        print(out, "dim(real(%s, %d), real(%s, %d))", a->text, kind, b->text, kind);
        out->bound = a->bound + b->bound;
        break;
    case 12:
        parts_of_number(out, a);
        break;
    default:
        print(out, "sign(real(%s, %d), real(%s, %d))", a->text, kind, b->text, kind);
        out->bound = a->bound;
        break;
    }
}

static void make_real(const struct place *place, struct expr *out, int depth)
{
    static struct expr pool[most_depth + 1][2];
    out->type = REAL;
    if (depth <= place->floor || depth > most_depth) {
        leaf(place, out, REAL);
        return;
    }
    struct expr *a = &pool[depth][0], *b = &pool[depth][1];
    int form = below(13);
    make_number(place, a, REAL, depth - 1);
    if (form == 12) {
        struct expr condition;
        make_logical(place, &condition, depth - 1);
        make_number(place, b, REAL, depth - 1);
        out->kind = a->kind > b->kind ? a->kind : b->kind;
        print(out, "merge(real(%s, %d), real(%s, %d), %s)", a->text, out->kind, b->text, out->kind, condition.text);
        out->bound = a->bound > b->bound ? a->bound : b->bound;
        return;
    }
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
    static struct expr pool[most_depth + 1][2];
    out->type = COMPLEX;
    if (depth <= place->floor || depth > most_depth) {
        leaf(place, out, COMPLEX);
        return;
    }
    struct expr *a = &pool[depth][0], *b = &pool[depth][1];
    int form = below(8);
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
    if (form == 2) {
        tame(a, 1e3);
        out->kind = a->kind;
        print(out, "(%s)**%d", a->text, 2 + below(3));
        out->bound = 16 * pow(a->bound, 4);
        return;
    }
    make_number(place, b, chance(30) ? REAL : COMPLEX, depth - 1);
    out->kind = a->kind > b->kind ? a->kind : b->kind;
    tame(a, 1e5), tame(b, 1e5);
    if (form == 3) {
        print(out, "(%s/(abs(real(%s)) + cmplx(1.5, 0.25, %d)))", a->text, b->text, b->kind);
        out->bound = 2 * a->bound;
        return;
    }
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
