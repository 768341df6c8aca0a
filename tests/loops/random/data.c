/* The data that random loops work on: a module with arrays of all types and forms, the same initial values for each
 * loop, and the comparison of what two loops made of them, bit by bit. */
#include "generate.h"

const int lower[classes] = {-1, 1, 0, 2}, upper[classes] = {14, 7, 4, 4};

const struct array arrays[] = {
    {"i4a", INTEGER, 4, 1, {0}, ""},
    {"i4b", INTEGER, 4, 2, {0, 1}, "allocatable"},
    {"i4c", INTEGER, 4, 2, {1, 0}, "pointer"},
    {"i4d", INTEGER, 4, 3, {0, 1, 2}, ""},
    {"i8a", INTEGER, 8, 1, {0}, "allocatable"},
    {"i8b", INTEGER, 8, 2, {0, 1}, ""},
    {"i1a", INTEGER, 1, 1, {0}, ""},
    {"i1b", INTEGER, 1, 2, {1, 0}, "allocatable"},
    {"i2a", INTEGER, 2, 1, {0}, "pointer"},
    {"i2b", INTEGER, 2, 2, {0, 1}, ""},
    {"r4a", REAL, 4, 1, {0}, ""},
    {"r4b", REAL, 4, 2, {0, 1}, "allocatable"},
    {"r4c", REAL, 4, 3, {2, 1, 0}, ""},
    {"r8a", REAL, 8, 1, {0}, "allocatable"},
    {"r8b", REAL, 8, 2, {0, 1}, ""},
    {"r8c", REAL, 8, 2, {1, 0}, "pointer"},
    {"r8d", REAL, 8, 3, {0, 1, 2}, ""},
    {"r8e", REAL, 8, 4, {0, 1, 2, 3}, "allocatable"},
    {"c4a", COMPLEX, 4, 1, {0}, ""},
    {"c8a", COMPLEX, 8, 1, {0}, "allocatable"},
    {"c8b", COMPLEX, 8, 2, {1, 0}, ""},
    {"l4a", LOGICAL, 4, 1, {0}, ""},
    {"l4b", LOGICAL, 4, 2, {0, 1}, ""},
    {"l1a", LOGICAL, 1, 1, {0}, "allocatable"},
};
const int array_count = sizeof arrays / sizeof *arrays;

const struct scalar scalars[] = {
    {"si4", INTEGER, 4, "3"},      {"ti4", INTEGER, 4, "-7"},   {"si8", INTEGER, 8, "5"},
    {"si2", INTEGER, 2, "2"},      {"si1", INTEGER, 1, "-1"},   {"sr4", REAL, 4, "1.25"},
    {"sr8", REAL, 8, "0.3d0"},     {"tr8", REAL, 8, "-2.75d0"}, {"sc8", COMPLEX, 8, "(0.5d0,-1d0)"},
    {"sl4", LOGICAL, 4, ".true."},
};
const int scalar_count = sizeof scalars / sizeof *scalars;

static const char *type_word(enum type type)
{
    static const char *const words[] = {"integer", "real", "complex", "logical"};
    return words[type];
}

static void print_bounds(FILE *out, const struct array *array)
{
    for (int d = 0; d < array->rank; d++) {
        fprintf(out, "%s%d:%d", d == 0 ? "(" : ",", lower[array->dims[d]], upper[array->dims[d]]);
    }
    fputs(")", out);
}

static void print_declarations(FILE *out)
{
    for (const struct array *a = arrays; a < arrays + array_count; a++) {
        fprintf(out, "%s(%d)", type_word(a->type), a->kind);
        if (a->form[0] == '\0') {
            fprintf(out, " :: %s", a->name);
            print_bounds(out, a);
            fputs("\n", out);
            continue;
        }
        fprintf(out, ", %s :: %s", a->form, a->name);
        for (int d = 0; d < a->rank; d++) {
            fputs(d == 0 ? "(:" : ",:", out);
        }
        fputs(")\n", out);
        if (a->form[0] == 'p') { /* every second or third element of something larger */
            fprintf(out, "%s(%d), target :: %s_t(%d", type_word(a->type), a->kind, a->name,
                    2 * (upper[a->dims[0]] - lower[a->dims[0]] + 1));
            for (int d = 1; d < a->rank; d++) {
                fprintf(out, ",%d", 3 * (upper[a->dims[d]] - lower[a->dims[d]] + 1));
            }
            fputs(")\n", out);
        }
    }
    for (const struct scalar *s = scalars; s < scalars + scalar_count; s++) {
        fprintf(out, "%s(%d) :: %s = %s\n", type_word(s->type), s->kind, s->name, s->value);
    }
}

/* Allocates once, and points at strided sections. */
static void print_make(FILE *out)
{
    fputs("subroutine make()\n", out);
    for (const struct array *a = arrays; a < arrays + array_count; a++) {
        if (a->form[0] == 'a') {
            fprintf(out, "if (.not. allocated(%s)) allocate(%s", a->name, a->name);
            print_bounds(out, a);
            fputs(")\n", out);
        } else if (a->form[0] == 'p') {
            fprintf(out, "%s(", a->name);
            for (int d = 0; d < a->rank; d++) {
                fprintf(out, "%s%d:", d == 0 ? "" : ",", lower[a->dims[d]]);
            }
            fprintf(out, ") => %s_t(%s%s)\n%s_t = 0\n", a->name, "1::2", a->rank > 1 ? ",2::3" : "", a->name);
        }
    }
    fputs("end subroutine\n", out);
}

/* Small values that differ from element to element. */
static void print_fill(FILE *out, const struct array *a, int number)
{
    static const char *const loops = "ijkm";
    char element[32] = "", sum[128] = "";
    int used = 0, length = 0;
    for (int d = a->rank - 1; d >= 0; d--) {
        fprintf(out, "do %c = %d, %d\n", loops[d], lower[a->dims[d]], upper[a->dims[d]]);
    }
    for (int d = 0; d < a->rank; d++) {
        used += snprintf(element + used, sizeof element - (size_t)used, "%s%c", d == 0 ? "" : ",", loops[d]);
        length +=
            snprintf(sum + length, sizeof sum - (size_t)length, "%s%d*%c", d == 0 ? "" : "+", 7 + 4 * d, loops[d]);
    }
    fprintf(out, "h = modulo(%s + %d*modulo(%s, 11), 61) - 30\n", sum, 3 + number, sum);
    switch (a->type) {
    case INTEGER:
        fprintf(out, "%s(%s) = int(h/%d, %d)\n", a->name, element, a->kind == 1 ? 3 : 1, a->kind);
        break;
    case REAL:
        fprintf(out, "%s(%s) = real(h, %d)/7\n", a->name, element, a->kind);
        break;
    case COMPLEX:
        fprintf(out, "%s(%s) = cmplx(h, 3 - h, %d)/9\n", a->name, element, a->kind);
        break;
    case LOGICAL:
        fprintf(out, "%s(%s) = modulo(h, 3) == 0\n", a->name, element);
        break;
    }
    for (int d = 0; d < a->rank; d++) {
        fputs("end do\n", out);
    }
}

static void print_initialise(FILE *out)
{
    fputs("subroutine initialise()\ninteger :: i, j, k, m, h\n", out);
    for (int i = 0; i < array_count; i++) {
        print_fill(out, &arrays[i], i);
    }
    for (const struct scalar *s = scalars; s < scalars + scalar_count; s++) {
        fprintf(out, "%s = %s\n", s->name, s->value);
    }
    fputs("end subroutine\n", out);
}

/* keep: remembers all bits; compare: names what differs. */
static void print_compare(FILE *out)
{
    fputs("subroutine keep()\n", out);
    for (int i = 0; i < array_count + scalar_count; i++) {
        const char *name = i < array_count ? arrays[i].name : scalars[i - array_count].name;
        const char *target = i < array_count && arrays[i].form[0] == 'p' ? "_t" : "";
        fprintf(out, "kept(%d)%%bits = transfer(%s%s, [0_1])\n", i + 1, name, target);
    }
    fputs("end subroutine\nsubroutine compare(loop)\ninteger, intent(in) :: loop\n", out);
    for (int i = 0; i < array_count + scalar_count; i++) {
        const char *name = i < array_count ? arrays[i].name : scalars[i - array_count].name;
        const char *target = i < array_count && arrays[i].form[0] == 'p' ? "_t" : "";
        fprintf(out, "call same(loop, '%s', kept(%d)%%bits, transfer(%s%s, [0_1]))\n", name, i + 1, name, target);
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
    fprintf(out, "type(bytes) :: kept(%d)\n", array_count + scalar_count);
    print_declarations(out);
    fputs("contains\n", out);
    print_make(out);
    print_initialise(out);
    print_compare(out);
    fputs("end module\n", out);
}
