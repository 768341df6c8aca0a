/* The data that random loops work on: a module with arrays of all types and forms, the same initial values for each
 * loop, and the comparison of what two loops made of them, bit by bit. */
#include "generate.h"

#include <string.h>

const int lower[classes] = {-1, 1, 0, 2}, upper[classes] = {14, 7, 4, 4};

const struct array arrays[] = {
    {"i4a", INTEGER, 4, 1, {0}, "", "", NULL},
    {"i4b", INTEGER, 4, 2, {0, 1}, "allocatable", "", NULL},
    {"i4c", INTEGER, 4, 2, {1, 0}, "pointer", "", NULL},
    {"i4d", INTEGER, 4, 3, {0, 1, 2}, "", "", NULL},
    {"i8a", INTEGER, 8, 1, {0}, "allocatable", "", NULL},
    {"i8b", INTEGER, 8, 2, {0, 1}, "", "", NULL},
    {"i1a", INTEGER, 1, 1, {0}, "", "", NULL},
    {"i1b", INTEGER, 1, 2, {1, 0}, "allocatable", "", NULL},
    {"i2a", INTEGER, 2, 1, {0}, "pointer", "", NULL},
    {"i2b", INTEGER, 2, 2, {0, 1}, "", "", NULL},
    {"r4a", REAL, 4, 1, {0}, "", "", NULL},
    {"r4b", REAL, 4, 2, {0, 1}, "allocatable", "", NULL},
    {"r4c", REAL, 4, 3, {2, 1, 0}, "", "", NULL},
    {"r8a", REAL, 8, 1, {0}, "allocatable", "", NULL},
    {"r8b", REAL, 8, 2, {0, 1}, "", "", NULL},
    {"r8c", REAL, 8, 2, {1, 0}, "pointer", "", NULL},
    {"r8d", REAL, 8, 3, {0, 1, 2}, "", "", NULL},
    {"r8e", REAL, 8, 4, {0, 1, 2, 3}, "allocatable", "", NULL},
    {"c4a", COMPLEX, 4, 1, {0}, "", "", NULL},
    {"c8a", COMPLEX, 8, 1, {0}, "allocatable", "", NULL},
    {"c8b", COMPLEX, 8, 2, {1, 0}, "", "", NULL},
    {"l4a", LOGICAL, 4, 1, {0}, "", "", NULL},
    {"l4b", LOGICAL, 4, 2, {0, 1}, "", "", NULL},
    {"l1a", LOGICAL, 1, 1, {0}, "allocatable", "", NULL},
    {"l2a", LOGICAL, 2, 2, {1, 0}, "pointer", "", NULL},
    {"l8a", LOGICAL, 8, 1, {0}, "", "", NULL},
    {"da", INTEGER, 1, 1, {0}, "", "%b", "outer"},
    {"da", REAL, 8, 1, {0}, "", "%x", "outer"},
    {"da", REAL, 4, 1, {0}, "", "%v(4)", "outer"},
    {"da", INTEGER, 2, 1, {0}, "", "%in%k", "outer"},
    {"da", COMPLEX, 4, 1, {0}, "", "%in%z", "outer"},
    {"da", CHARACTER, 3, 1, {0}, "", "%in%c", "outer"},
    {"db", INTEGER, 2, 2, {0, 1}, "allocatable", "%k", "inner"},
    {"db", COMPLEX, 4, 2, {0, 1}, "allocatable", "%z", "inner"},
    {"db", CHARACTER, 3, 2, {0, 1}, "allocatable", "%c", "inner"},
    {"dp", REAL, 8, 1, {0}, "pointer", "%x", "outer"},
    {"dp", LOGICAL, 1, 1, {0}, "pointer", "%f", "outer"},
    {"dp", REAL, 4, 1, {0}, "pointer", "%v(3)", "outer"},
    {"dp", INTEGER, 2, 1, {0}, "pointer", "%in%k", "outer"},
    {"ka", CHARACTER, 5, 1, {0}, "", "", NULL},
    {"kb", CHARACTER, 3, 2, {0, 1}, "allocatable", "", NULL},
    {"kc", CHARACTER, 6, 2, {1, 0}, "pointer", "", NULL},
};
const int array_count = sizeof arrays / sizeof *arrays;

const struct scalar scalars[] = {
    {"si4", INTEGER, 4, "3"},      {"ti4", INTEGER, 4, "-7"},      {"si8", INTEGER, 8, "5"},
    {"si2", INTEGER, 2, "2"},      {"si1", INTEGER, 1, "-1"},      {"sr4", REAL, 4, "1.25"},
    {"sr8", REAL, 8, "0.3d0"},     {"tr8", REAL, 8, "-2.75d0"},    {"sc8", COMPLEX, 8, "(0.5d0,-1d0)"},
    {"sl4", LOGICAL, 4, ".true."}, {"sl1", LOGICAL, 1, ".false."}, {"sk", CHARACTER, 4, "'ab'"},
};
const int scalar_count = sizeof scalars / sizeof *scalars;

/* The parts of records. */
static const struct part {
    const char *record, *text;
    enum type type;
    int kind;
} parts[] = {
    {"inner", "%k", INTEGER, 2},    {"inner", "%z", COMPLEX, 4},      {"inner", "%c", CHARACTER, 3},
    {"outer", "%b", INTEGER, 1},    {"outer", "%x", REAL, 8},         {"outer", "%v(3)", REAL, 4},
    {"outer", "%v(4)", REAL, 4},    {"outer", "%v(5)", REAL, 4},      {"outer", "%in%k", INTEGER, 2},
    {"outer", "%in%z", COMPLEX, 4}, {"outer", "%in%c", CHARACTER, 3}, {"outer", "%f", LOGICAL, 1},
};

static const char records[] = "type inner\ninteger(2) :: k\ncomplex(4) :: z\ncharacter(3) :: c\nend type\n"
                              "type outer\ninteger(1) :: b\nreal(8) :: x\nreal(4) :: v(3:5)\ntype(inner) :: in\n"
                              "logical(1) :: f\nend type\n";

/* The first row of an array. */
static bool is_first(const struct array *array)
{
    return array == arrays || strcmp(array->name, array[-1].name) != 0;
}

/* Calls f for each array and for each part of arrays of records, whether a row has it or not. */
static void for_all_data(FILE *out, void (*f)(FILE *out, const struct array *array, int number))
{
    int number = 0;
    for (const struct array *a = arrays; a < arrays + array_count; a++) {
        for (const struct part *part = parts; part < parts + sizeof parts / sizeof *parts && is_first(a); part++) {
            if (a->record != NULL && strcmp(a->record, part->record) == 0) {
                struct array copy = *a;
                copy.part = part->text;
                copy.type = part->type;
                copy.kind = part->kind;
                f(out, &copy, number++);
            }
        }
        if (a->record == NULL) {
            f(out, a, number++);
        }
    }
}

const char *type_word(enum type type)
{
    static const char *const words[] = {"integer", "real", "complex", "logical", "character"};
    return words[type];
}

static void print_bounds(FILE *out, const struct array *array)
{
    for (int d = 0; d < array->rank; d++) {
        fprintf(out, "%s%d:%d", d == 0 ? "(" : ",", lower[array->dims[d]], upper[array->dims[d]]);
    }
    fputs(")", out);
}

static int extent_of(const struct array *array, int d)
{
    return upper[array->dims[d]] - lower[array->dims[d]] + 1;
}

static void print_array(FILE *out, const struct array *a)
{
    char type[32];
    if (a->record != NULL) {
        snprintf(type, sizeof type, "type(%s)", a->record);
    } else {
        snprintf(type, sizeof type, "%s(%d)", type_word(a->type), a->kind);
    }
    if (a->form[0] == '\0') {
        fprintf(out, "%s :: %s", type, a->name);
        print_bounds(out, a);
        fputs("\n", out);
        return;
    }
    fprintf(out, "%s, %s :: %s", type, a->form, a->name);
    for (int d = 0; d < a->rank; d++) {
        fputs(d == 0 ? "(:" : ",:", out);
    }
    fputs(")\n", out);
    if (a->form[0] == 'p') { /* every second or third element of something larger */
        fprintf(out, "%s, target :: %s_t(%d", type, a->name, 2 * extent_of(a, 0));
        for (int d = 1; d < a->rank; d++) {
            fprintf(out, ",%d", 3 * extent_of(a, d));
        }
        fputs(")\n", out);
    }
}

static void print_declarations(FILE *out)
{
    for (const struct array *a = arrays; a < arrays + array_count; a++) {
        if (is_first(a)) {
            print_array(out, a);
        }
    }
    for (const struct scalar *s = scalars; s < scalars + scalar_count; s++) {
        fprintf(out, "%s(%d) :: %s = %s\n", type_word(s->type), s->kind, s->name, s->value);
    }
}

static const char *blank(const struct array *array)
{
    return array->record != NULL      ? "outer(0_1, 0d0, 0.0, inner(0_2, (0.0, 0.0), ''), .false.)"
           : array->type == LOGICAL   ? ".false."
           : array->type == CHARACTER ? "''"
                                      : "0";
}

/* Allocates once, and points at strided sections, every other time from the last element to the first. */
static void print_make(FILE *out)
{
    bool backwards = false;
    fputs("subroutine make()\n", out);
    for (const struct array *a = arrays; a < arrays + array_count; a++) {
        if (a->form[0] == 'a' && is_first(a)) {
            fprintf(out, "if (.not. allocated(%s)) allocate(%s", a->name, a->name);
            print_bounds(out, a);
            fputs(")\n", out);
        } else if (a->form[0] == 'p' && is_first(a)) {
            fprintf(out, "%s(", a->name);
            for (int d = 0; d < a->rank; d++) {
                fprintf(out, "%s%d:", d == 0 ? "" : ",", lower[a->dims[d]]);
            }
            if (backwards) {
                fprintf(out, ") => %s_t(%d:1:-2%s)\n", a->name, 2 * extent_of(a, 0), a->rank > 1 ? ",2::3" : "");
            } else {
                fprintf(out, ") => %s_t(1::2%s)\n", a->name, a->rank > 1 ? ",2::3" : "");
            }
            fprintf(out, "%s_t = %s\n", a->name, blank(a));
            backwards = !backwards;
        }
    }
    fputs("end subroutine\n", out);
}

/* Small values that differ from element to element. */
static void print_fill(FILE *out, const struct array *a, int number)
{
    static const char *const loops = "ijkm";
    char subscripts[32] = "", sum[128] = "", element[64];
    int used = 0, length = 0;
    for (int d = a->rank - 1; d >= 0; d--) {
        fprintf(out, "do %c = %d, %d\n", loops[d], lower[a->dims[d]], upper[a->dims[d]]);
    }
    for (int d = 0; d < a->rank; d++) {
        used += snprintf(subscripts + used, sizeof subscripts - (size_t)used, "%s%c", d == 0 ? "" : ",", loops[d]);
        length +=
            snprintf(sum + length, sizeof sum - (size_t)length, "%s%d*%c", d == 0 ? "" : "+", 7 + 4 * d, loops[d]);
    }
    snprintf(element, sizeof element, "%s(%s)%s", a->name, subscripts, a->part);
    fprintf(out, "h = modulo(%s + %d*modulo(%s, 11), 61) - 30\n", sum, 3 + number, sum);
    switch (a->type) {
    case INTEGER:
        fprintf(out, "%s = int(h/%d, %d)\n", element, a->kind == 1 ? 3 : 1, a->kind);
        break;
    case REAL:
        fprintf(out, "%s = real(h, %d)/7\n", element, a->kind);
        break;
    case COMPLEX:
        fprintf(out, "%s = cmplx(h, 3 - h, %d)/9\n", element, a->kind);
        break;
    case LOGICAL:
        fprintf(out, "%s = modulo(h, 3) == 0\n", element);
        break;
    case CHARACTER: /* a letter or more, blanks */
        fprintf(out, "%s = repeat(achar(97 + modulo(h, 3)), modulo(h, %d))//achar(97 + modulo(h, 5))\n", element,
                a->kind);
        break;
    }
    for (int d = 0; d < a->rank; d++) {
        fputs("end do\n", out);
    }
}

static void print_initialise(FILE *out)
{
    fputs("subroutine initialise()\ninteger :: i, j, k, m, h\n", out);
    for_all_data(out, print_fill);
    for (const struct scalar *s = scalars; s < scalars + scalar_count; s++) {
        fprintf(out, "%s = %s\n", s->name, s->value);
    }
    fputs("end subroutine\n", out);
}

static void print_keep(FILE *out, const struct array *a, int number)
{
    fprintf(out, "kept(%d)%%bits = transfer(%s%s%s, [0_1])\n", number + 1, a->name, a->form[0] == 'p' ? "_t" : "",
            a->part);
}

static void print_same(FILE *out, const struct array *a, int number)
{
    fprintf(out, "call same(loop, '%s%s', kept(%d)%%bits, transfer(%s%s%s, [0_1]))\n", a->name, a->part, number + 1,
            a->name, a->form[0] == 'p' ? "_t" : "", a->part);
}

/* keep: remembers all bits; compare: names what differs. */
static void print_compare(FILE *out)
{
    fputs("subroutine keep()\n", out);
    for_all_data(out, print_keep);
    for (int i = 0; i < scalar_count; i++) {
        fprintf(out, "kept_scalar(%d)%%bits = transfer(%s, [0_1])\n", i + 1, scalars[i].name);
    }
    fputs("end subroutine\nsubroutine compare(loop)\ninteger, intent(in) :: loop\n", out);
    for_all_data(out, print_same);
    for (int i = 0; i < scalar_count; i++) {
        fprintf(out, "call same(loop, '%s', kept_scalar(%d)%%bits, transfer(%s, [0_1]))\n", scalars[i].name, i + 1,
                scalars[i].name);
    }
    fputs("end subroutine\n"
          "subroutine same(loop, name, a, b)\n"
          "integer, intent(in) :: loop\n"
          "character(*), intent(in) :: name\n"
          "integer(1), intent(in) :: a(:), b(:)\n"
          "if (all(a == b)) return\n"
          "print '(a, i0, 3a, i0)', 'loop ', loop, ': ', name, ' differs at byte ', findloc(a == b, .false., 1) - 1\n"
          "wrong = wrong + 1\n"
          "end subroutine\n",
          out);
}

void print_data(FILE *out)
{
    fputs("module data\nimplicit none\n"
          "type bytes\ninteger(1), allocatable :: bits(:)\nend type\n"
          "integer :: wrong = 0\n",
          out);
    /* as many as if each row had all parts */
    fprintf(out, "type(bytes) :: kept(%d), kept_scalar(%d)\n", array_count * (int)(sizeof parts / sizeof *parts),
            scalar_count);
    fputs(records, out);
    print_declarations(out);
    fputs("contains\n", out);
    print_make(out);
    print_initialise(out);
    print_compare(out);
    fputs("end module\n", out);
}
