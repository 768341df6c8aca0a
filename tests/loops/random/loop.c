/* Random loops: header, body and the procedures that they call.
 *
 * What must hold: an iteration writes only its own elements of the targets (each index once in the subscripts), its
 * private variables, which it defines first, and reduce variables; of a target it reads only these elements. */
#include "generate.h"

#include <stdarg.h>
#include <string.h>

enum { body_size = 1 << 16 };

struct reduction {
    const char *name, *op;
    enum type type;
    int kind;
};

static const struct reduction reductions[] = {
    {"si8", "+", INTEGER, 8},      {"ti4", "max", INTEGER, 4},  {"si2", "min", INTEGER, 2},
    {"ti4", "ieor", INTEGER, 4},   {"si8", "iand", INTEGER, 8}, {"si8", "ior", INTEGER, 8},
    {"sl4", ".and.", LOGICAL, 4},  {"sl4", ".or.", LOGICAL, 4}, {"sl4", ".eqv.", LOGICAL, 4},
    {"sl4", ".neqv.", LOGICAL, 4}, {"tr8", "max", REAL, 8},     {"sr4", "min", REAL, 4},
    {"si8", "*", INTEGER, 8},
};

struct loop {
    struct place place;
    int features, step[most_indices];
    char first[most_indices][48], last[most_indices][48];
    bool typed;
    char mask[text_size];
    const struct reduction *reduce[2];
    int reduce_count;
    char body[body_size];
    int used, level, statements, blocks;
};

static void add(struct loop *loop, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct loop *loop, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int room = body_size - loop->used, length = vsnprintf(loop->body + loop->used, (size_t)room, format, arguments);
    va_end(arguments);
    loop->used += length < room ? length : room - 1;
}

/* ---- Header ---- */

/* A value as a constant or from a variable. */
static void limit_text(char *out, size_t size, int value)
{
    if (chance(60)) {
        snprintf(out, size, "%d", value);
    } else {
        bool four = chance(50);
        snprintf(out, size, "%s + (%d)", four ? "si4" : "int(si8)", value - (four ? 3 : 5));
    }
}

static void make_indices(struct loop *loop)
{
    static const char *const names[] = {"i", "j", "k", "m"};
    static const int kinds[] = {4, 4, 4, 8, 2, 8};
    bool used[classes] = {false};
    int wanted = 1 + below(chance(70) ? 2 : most_indices);
    loop->typed = chance(30);
    int kind = kinds[below(6)];
    for (int n = 0; n < wanted; n++) {
        /* Classes of few arrays need those of many. */
        int class = n == 0 && wanted < 3 ? 0 : below(wanted);
        for (; used[class]; class = (class + 1) % wanted) {
        }
        used[class] = true;
        struct index *index = &loop->place.index[loop->place.index_count++];
        snprintf(index->name, sizeof index->name, "%s", names[n]);
        index->class = class;
        index->kind = loop->typed ? kind : kinds[below(6)];
        int low = lower[class] + 1, high = upper[class] - 1, extent = high - low + 1;
        int first = low + below(extent), last = low + below(extent);
        if (first > last && !chance(8)) {
            int other = first;
            first = last, last = other;
        }
        loop->step[n] = chance(70) ? 1 : 2 + below(2);
        if (chance(25)) {
            int other = first;
            first = last, last = other;
            loop->step[n] = -loop->step[n];
        }
        limit_text(loop->first[n], sizeof loop->first[n], first);
        limit_text(loop->last[n], sizeof loop->last[n], last);
    }
}

/* The element that belongs to an iteration, or false. */
static bool make_own(const struct place *place, const struct array *array, char *out, size_t size)
{
    int found = 0, used = snprintf(out, size, "%s(", array->name);
    for (int d = 0; d < array->rank; d++) {
        const struct index *index = NULL;
        for (int i = 0; i < place->index_count; i++) {
            index = place->index[i].class == array->dims[d] ? &place->index[i] : index;
        }
        const char *comma = d == 0 ? "" : ", ";
        if (index == NULL) {
            int class = array->dims[d];
            used += snprintf(out + used, size - (size_t)used, "%s%d", comma,
                             lower[class] + below(upper[class] - lower[class] + 1));
        } else {
            static const char *const offsets[] = {"", "", " + 1", " - 1"};
            used += snprintf(out + used, size - (size_t)used, "%s%s%s", comma, index->name, offsets[below(4)]);
            found++;
        }
    }
    snprintf(out + used, size - (size_t)used, ")");
    return found == place->index_count;
}

static void make_targets(struct loop *loop)
{
    struct place *place = &loop->place;
    int wanted = 1 + below(most_targets);
    for (int attempt = 0; attempt < 200 && place->target_count < wanted; attempt++) {
        const struct array *array = &arrays[below(array_count)];
        bool taken = false;
        for (int t = 0; t < place->target_count; t++) {
            taken |= place->target[t] == array;
        }
        if (!taken && make_own(place, array, place->own[place->target_count], sizeof place->own[0])) {
            place->target[place->target_count++] = array;
        }
    }
}

static void make_mask(struct loop *loop)
{
    static struct expr mask;
    struct place before = loop->place;
    if (chance(70)) {
        return;
    }
    if (chance(40)) {
        before.target_count = 0; /* any element, as it was before the loop */
    }
    before.local_count = 0;
    before.calls = false;
    make_logical(&before, &mask, 3);
    snprintf(loop->mask, sizeof loop->mask, "%s", mask.text);
}

/* ---- Body ---- */

static void add_block(struct loop *loop, int depth);

static void assign(struct loop *loop, const char *name, enum type type, int kind, int depth)
{
    static struct expr value;
    make_value(&loop->place, &value, type, kind, depth);
    add(loop, "%s = %s\n", name, value.text);
}

static void add_target(struct loop *loop)
{
    int t = below(loop->place.target_count);
    const struct array *array = loop->place.target[t];
    assign(loop, loop->place.own[t], array->type, array->kind, 1 + below(4));
}

/* The target's section along a dimension that no index names; its class, or -1. */
static int target_section(const struct loop *loop, int t, char *out, size_t size)
{
    const struct array *array = loop->place.target[t];
    int used = snprintf(out, size, "%s(", array->name), class = -1;
    const char *own = loop->place.own[t] + used;
    for (int d = 0; d < array->rank; d++) {
        bool indexed = false;
        int length = (int)strcspn(own, ",)");
        for (int i = 0; i < loop->place.index_count; i++) {
            indexed |= !loop->place.index[i].inner && loop->place.index[i].class == array->dims[d];
        }
        if (!indexed && class < 0) {
            class = array->dims[d];
            used += snprintf(out + used, size - (size_t)used, "%s:", d == 0 ? "" : ", ");
        } else {
            used += snprintf(out + used, size - (size_t)used, "%s%.*s", d == 0 ? "" : ", ", length, own);
        }
        own += length + (own[length] == ',' ? 2 : 0);
    }
    snprintf(out + used, size - (size_t)used, ")");
    return class;
}

/* An assignment to a section: of a scalar, of another section, of an operation on both. */
static void add_section(struct loop *loop)
{
    static struct expr value;
    char target[128], one[512];
    int t = below(loop->place.target_count), class = target_section(loop, t, target, sizeof target);
    const struct array *array = loop->place.target[t];
    if (class < 0 || array->type == LOGICAL || array->type == COMPLEX) {
        add_target(loop);
        return;
    }
    make_value(&loop->place, &value, array->type, array->kind, 2);
    const struct array *other = make_section(&loop->place, one, sizeof one, array->type, class);
    if (other == NULL || chance(15)) {
        add(loop, "%s = %s\n", target, value.text);
        return;
    }
    tame(&value, 60);
    static const char *const signs[] = {"+", "-", "*"};
    if (array->type == INTEGER) {
        add(loop, "%s = mod(int(%s, 8) %s int(%s, 8), 61_8)\n", target, chance(50) ? one : target, signs[below(3)],
            value.text);
    } else if (chance(50)) {
        add(loop, "%s = mod(real(%s, 8) %s real(%s, 8), 31.5_8)\n", target, one, signs[below(3)], value.text);
    } else {
        add(loop, "%s = mod(%s %s real(%s, %d), 31.5_%d)\n", target, target, signs[below(3)], one, array->kind,
            array->kind);
    }
}

static void add_local(struct loop *loop)
{
    if (loop->place.local_count > 0) {
        const struct variable *local = &loop->place.local[below(loop->place.local_count)];
        assign(loop, local->name, local->type, local->kind, 1 + below(3));
    }
}

static void add_condition(struct loop *loop, const char *format)
{
    static struct expr condition;
    make_logical(&loop->place, &condition, 1 + below(3));
    add(loop, format, condition.text);
}

static void add_if(struct loop *loop, int depth)
{
    add_condition(loop, "if (%s) then\n");
    add_block(loop, depth - 1);
    if (chance(40)) {
        add_condition(loop, "else if (%s) then\n");
        add_block(loop, depth - 1);
    }
    if (chance(60)) {
        add(loop, "else\n");
        add_block(loop, depth - 1);
    }
    add(loop, "end if\n");
}

static void add_select(struct loop *loop, int depth)
{
    static struct expr selector;
    make_number(&loop->place, &selector, INTEGER, 2);
    add(loop, "select case (%s)\n", selector.text);
    add(loop, "case (:%d)\n", -5 - below(5));
    add_block(loop, depth - 1);
    add(loop, "case (%d, %d:%d)\n", -4 + below(3), 0, 3 + below(9));
    add_block(loop, depth - 1);
    if (chance(70)) {
        add(loop, "case default\n");
        add_block(loop, depth - 1);
    }
    add(loop, "end select\n");
}

static void add_inner_loop(struct loop *loop, int depth)
{
    struct place *place = &loop->place;
    if (place->index_count >= most_indices + 2 || loop->level >= 2) {
        add_target(loop);
        return;
    }
    struct index *index = &place->index[place->index_count];
    int class = below(classes), low = lower[class] + below(3), high = upper[class] - below(2);
    snprintf(index->name, sizeof index->name, "n%d", loop->level + 1);
    index->class = class;
    index->kind = 4;
    index->inner = true;
    if (chance(75)) {
        add(loop, "inner%d: do n%d = %d, %d\n", ++loop->blocks, loop->level + 1, low, high);
    } else {
        add(loop, "inner%d: do n%d = %d, %d, %d\n", ++loop->blocks, loop->level + 1, high, low, -1 - below(3));
    }
    int number = loop->blocks;
    loop->level++;
    place->index_count++;
    if (chance(30)) {
        add_condition(loop, chance(50) ? "if (%s) exit\n" : "if (%s) cycle\n");
    }
    add_block(loop, depth - 1);
    add_local(loop);
    place->index_count--;
    loop->level--;
    add(loop, "end do inner%d\n", number);
}

static void add_block_construct(struct loop *loop, int depth)
{
    struct place *place = &loop->place;
    if (place->local_count >= most_locals) {
        add_target(loop);
        return;
    }
    struct variable *local = &place->local[place->local_count];
    local->type = REAL;
    local->kind = 8;
    snprintf(local->name, sizeof local->name, "b%d", ++loop->blocks);
    add(loop, "block\nreal(8) :: %s\n", local->name);
    assign(loop, local->name, REAL, 8, 2);
    place->local_count++;
    add_block(loop, depth - 1);
    place->local_count--;
    add(loop, "end block\n");
}

static void add_call(struct loop *loop)
{
    static struct expr first, second;
    for (int t = 0; t < loop->place.target_count; t++) {
        const struct array *array = loop->place.target[t];
        if (array->type == REAL && array->kind == 8) {
            make_value(&loop->place, &first, REAL, 8, 2);
            make_value(&loop->place, &second, INTEGER, 4, 2);
            add(loop, "call bump(%s, real(%s, 8), int(%s, 4))\n", loop->place.own[t], first.text, second.text);
            return;
        }
    }
    add_target(loop);
}

static void add_reduction(struct loop *loop)
{
    static struct expr value;
    const struct reduction *item = loop->reduce[below(loop->reduce_count)];
    if (item->type == LOGICAL) {
        make_logical(&loop->place, &value, 2);
        add(loop, "%s = %s %s %s\n", item->name, item->name, item->op, value.text);
        return;
    }
    make_value(&loop->place, &value, item->type, item->kind, 2);
    const char *convert = item->type == REAL ? "real" : "int";
    if (item->op[0] == '+') {
        add(loop, "%s = %s + %s(%s, %d)\n", item->name, item->name, convert, value.text, item->kind);
    } else if (item->op[0] == '*') {
        add(loop, "%s = %s*sign(1_%d, int(%s, %d))\n", item->name, item->name, item->kind, value.text, item->kind);
    } else {
        add(loop, "%s = %s(%s, %s(%s, %d))\n", item->name, item->op, item->name, convert, value.text, item->kind);
    }
}

/* A statement that needs a feature falls back to an assignment without it. */
static void add_statement(struct loop *loop, int depth)
{
    bool control = (loop->features & FEATURE_CONTROL) != 0 && depth > 0 && loop->statements < 14;
    int form = below(100);
    loop->statements++;
    if (form < 12 && control) {
        add_if(loop, depth);
    } else if (form < 18 && control) {
        add_select(loop, depth);
    } else if (form < 30 && control) {
        add_inner_loop(loop, depth);
    } else if (form < 34 && control) {
        add_block_construct(loop, depth);
    } else if (form < 38 && control && loop->level == 0) {
        add_condition(loop, "if (%s) cycle work\n");
    } else if (form < 46 && (loop->features & FEATURE_CALLS) != 0) {
        add_call(loop);
    } else if (form < 52 && (loop->features & FEATURE_SECTIONS) != 0) {
        add_section(loop);
    } else if (form < 60 && loop->reduce_count > 0) {
        add_reduction(loop);
    } else if (form < 68) {
        add_local(loop);
    } else {
        add_target(loop);
    }
}

static void add_block(struct loop *loop, int depth)
{
    for (int count = 1 + below(2); count > 0; count--) {
        add_statement(loop, depth);
    }
}

static void make_body(struct loop *loop)
{
    static const struct variable kinds[] = {{"r", REAL, 8},    {"s", REAL, 4},    {"n", INTEGER, 4},
                                            {"l", INTEGER, 8}, {"b", LOGICAL, 4}, {"c", COMPLEX, 8}};
    int wanted = below(4);
    for (int i = 0; i < wanted; i++) {
        struct variable local = kinds[below(6)];
        snprintf(local.name, sizeof local.name, "t%d", i + 1);
        assign(loop, local.name, local.type, local.kind, 2);
        loop->place.local[loop->place.local_count++] = local;
    }
    for (int count = 1 + below(4); count > 0; count--) {
        add_statement(loop, 3);
    }
    if (loop->reduce_count > 0) {
        add_reduction(loop);
    }
    add_target(loop);
}

/* ---- The subroutine ---- */

static const char *type_word(enum type type)
{
    static const char *const words[] = {"integer", "real", "complex", "logical"};
    return words[type];
}

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
    if ((loop->features & FEATURE_LOCALITY) != 0 && loop->place.local_count > 0 && loop->place.local_count % 2 == 0) {
        for (int i = 0; i < loop->place.local_count; i++) {
            fprintf(out, "%s%s", i == 0 ? " local(" : ", ", loop->place.local[i].name);
        }
        fputs(")", out);
    }
    for (int i = 0; i < loop->reduce_count; i++) {
        fprintf(out, " reduce(%s: %s)", loop->reduce[i]->op, loop->reduce[i]->name);
    }
    fprintf(out, "\n%send do work\n", loop->body);
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
    fputs(loop->body, out);
    fputs("end do work\n", out);
    for (int i = 1; i < loop->place.index_count; i++) {
        fputs("end do\n", out);
    }
}

void print_loop(FILE *out, const char *prefix, int number, bool concurrent, int features)
{
    static struct loop loop;
    memset(&loop, 0, sizeof loop);
    loop.features = features;
    make_indices(&loop);
    make_targets(&loop);
    loop.place.calls = (features & FEATURE_CALLS) != 0;
    loop.place.sections = (features & FEATURE_SECTIONS) != 0;
    make_mask(&loop);
    if ((features & FEATURE_LOCALITY) != 0 && chance(25)) {
        loop.reduce[loop.reduce_count++] = &reductions[below(sizeof reductions / sizeof *reductions)];
        exclude(loop.reduce[0]->name);
    }
    make_body(&loop);
    exclude("");
    fprintf(out, "subroutine %s_%d()\n", prefix, number);
    print_declarations(out, &loop, concurrent);
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
