/* Random loops as text: the subroutine around a loop, as do concurrent and as do loops, and the procedures that they
 * call. */
#include "loop.h"

#include <string.h>

static void print_declarations(FILE *out, const struct loop *loop, bool concurrent)
{
    for (int i = 0; i < loop->place.index_count; i++) {
        fprintf(out, "integer(%d) :: %s\n", loop->place.index[i].kind, loop->place.index[i].name);
    }
    fputs("integer :: n1, n2\n", out);
    for (int i = 0; i < loop->place.local_count; i++) {
        const struct variable *local = &loop->place.local[i];
        fprintf(out, "%s(%d) :: %s\n", type_word(local->type), local->kind, local->name);
    }
    if (!concurrent) {
        fprintf(out, "integer :: first(%d), last(%d)\n", loop->place.index_count, loop->place.index_count);
    }
    if (!concurrent && loop->mask[0] != '\0') {
        fputs("logical :: selected(2000)\ninteger :: trip\n", out);
    }
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether the body has the name. */
static bool mentions(const struct loop *loop, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = loop->body; (at = strstr(at, name)) != NULL; at++) {
        if ((at == loop->body || !in_word(at[-1])) && !in_word(at[length])) {
            return true;
        }
    }
    return false;
}

/* default(none), and all that the body names. */
static void print_all_named(FILE *out, const struct loop *loop)
{
    const char *before = " default(none) shared(";
    for (int i = 0; i < array_count; i++) {
        bool again = i > 0 && strcmp(arrays[i].name, arrays[i - 1].name) == 0;
        if (!again && mentions(loop, arrays[i].name)) {
            fprintf(out, "%s%s", before, arrays[i].name);
            before = ", ";
        }
    }
    for (int i = 0; i < scalar_count; i++) {
        bool reduced = false;
        for (int r = 0; r < loop->reduce_count; r++) {
            reduced |= strcmp(loop->reduce[r]->name, scalars[i].name) == 0;
        }
        if (!reduced && mentions(loop, scalars[i].name)) {
            fprintf(out, "%s%s", before, scalars[i].name);
            before = ", ";
        }
    }
    fputs(")", out); /* there is a target at least */
    if (mentions(loop, "n1") || mentions(loop, "n2")) {
        fprintf(out, " local(n1%s)", mentions(loop, "n2") ? ", n2" : "");
    }
}

static void print_concurrent(FILE *out, const struct loop *loop)
{
    fputs("work: do concurrent (", out);
    if (loop->typed) {
        fprintf(out, "integer(%d) :: ", loop->place.index[0].kind);
    }
    for (int i = 0; i < loop->place.index_count; i++) {
        fprintf(out, "%s%s = %s : %s", i == 0 ? "" : ", &\n ", loop->place.index[i].name, loop->first[i],
                loop->last[i]);
        if (loop->step[i] != 1) {
            fprintf(out, " : %d", loop->step[i]);
        }
    }
    if (loop->mask[0] != '\0') {
        fprintf(out, ", &\n %s", loop->mask);
    }
    fputs(")", out);
    bool named = (loop->features & FEATURE_LOCALITY) != 0 && loop->place.local_count % 2 == 0;
    if (loop->place.local_count > 0 && (named || loop->local_init || loop->all_named)) {
        for (int i = 0; i < loop->place.local_count; i++) {
            fprintf(out, "%s%s",
                    i > 0              ? ", "
                    : loop->local_init ? " local_init("
                                       : " local(",
                    loop->place.local[i].name);
        }
        fputs(")", out);
    }
    if (loop->all_named) {
        print_all_named(out, loop);
    }
    for (int i = 0; i < loop->reduce_count; i++) {
        fprintf(out, " reduce(%s: %s)", loop->reduce[i]->op, loop->reduce[i]->name);
    }
    fprintf(out, "\n%send do work\n", loop->body);
}

/* What variables of local_init have at the start of each iteration. */
static void print_first_values(FILE *out, const struct loop *loop)
{
    static const char *const values[] = {"-7", "2.75", "(1.5, -0.25)", ".true.", "'ab c'"};
    for (int i = 0; i < loop->place.local_count && loop->local_init; i++) {
        fprintf(out, "%s = %s\n", loop->place.local[i].name, values[loop->place.local[i].type]);
    }
}

static void print_nest(FILE *out, const struct loop *loop, bool named)
{
    for (int i = loop->place.index_count - 1; i >= 0; i--) {
        fprintf(out, "%sdo %s = first(%d), last(%d), %d\n", i == 0 && named ? "work: " : "", loop->place.index[i].name,
                i + 1, i + 1, loop->step[i]);
    }
}

static void print_reference(FILE *out, const struct loop *loop)
{
    for (int i = 0; i < loop->place.index_count; i++) { /* once, before the body may change what they read */
        fprintf(out, "first(%d) = %s\nlast(%d) = %s\n", i + 1, loop->first[i], i + 1, loop->last[i]);
    }
    if (loop->mask[0] != '\0') {
        fputs("trip = 0\n", out);
        print_nest(out, loop, false);
        fprintf(out, "trip = trip + 1\nselected(trip) = &\n %s\n", loop->mask);
        for (int i = 0; i < loop->place.index_count; i++) {
            fputs("end do\n", out);
        }
        fputs("trip = 0\n", out);
    }
    print_nest(out, loop, true);
    if (loop->mask[0] != '\0') {
        fputs("trip = trip + 1\nif (.not. selected(trip)) cycle\n", out);
    }
    print_first_values(out, loop);
    fputs(loop->body, out);
    fputs("end do work\n", out);
    for (int i = 1; i < loop->place.index_count; i++) {
        fputs("end do\n", out);
    }
}

void print_loop(FILE *out, const char *prefix, int number, bool concurrent, int features)
{
    static struct loop loop;
    make_loop(&loop, features);
    fprintf(out, "subroutine %s_%d()\n", prefix, number);
    print_declarations(out, &loop, concurrent);
    if (concurrent) {
        print_first_values(out, &loop);
    }
    (concurrent ? print_concurrent : print_reference)(out, &loop);
    fputs("end subroutine\n", out);
}

void print_procedures(FILE *out)
{
    fputs("pure real(8) function blend(x, n)\n"
          "real(8), intent(in) :: x\ninteger, intent(in) :: n\ninteger :: k\nreal(8) :: w(3)\n"
          "w = [x, 0.5d0*x, -x]\nblend = n\n"
          "do k = 1, 3\n"
          "if (w(k) > 2*n) cycle\n"
          "blend = blend + w(k)/k\n"
          "end do\n"
          "end function\n"
          "pure subroutine bump(x, y, n)\n"
          "real(8), intent(inout) :: x\nreal(8), intent(in) :: y\ninteger, intent(in) :: n\n"
          "if (y < 0) return\n"
          "x = mod(x + y*mod(n, 7), 100d0)\n"
          "end subroutine\n",
          out);
}
