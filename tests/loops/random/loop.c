/* Random loops: header, body and the procedures that they call.
 *
 * What must hold: an iteration writes only its own elements of the targets (each index once in the subscripts), its
 * private variables, which it defines first, and reduce variables; of a target it reads only these elements. */
#include "loop.h"

#include <stdarg.h>
#include <string.h>

static const struct reduction reductions[] = {
    {"si8", "+", INTEGER, 8},      {"ti4", "max", INTEGER, 4},  {"si2", "min", INTEGER, 2},
    {"ti4", "ieor", INTEGER, 4},   {"si8", "iand", INTEGER, 8}, {"si8", "ior", INTEGER, 8},
    {"sl4", ".and.", LOGICAL, 4},  {"sl4", ".or.", LOGICAL, 4}, {"sl4", ".eqv.", LOGICAL, 4},
    {"sl4", ".neqv.", LOGICAL, 4}, {"tr8", "max", REAL, 8},     {"sr4", "min", REAL, 4},
    {"si8", "*", INTEGER, 8},      {"si4", "+", INTEGER, 4},    {"si1", "max", INTEGER, 1},
    {"si1", "ieor", INTEGER, 1},   {"si2", "ior", INTEGER, 2},  {"si2", "iand", INTEGER, 2},
    {"si4", "*", INTEGER, 4},      {"tr8", "min", REAL, 8},     {"sr4", "max", REAL, 4},
    {"sl1", ".and.", LOGICAL, 1},  {"sl1", ".or.", LOGICAL, 1}, {"sl1", ".neqv.", LOGICAL, 1},
    {"si8", "min", INTEGER, 8},    {"si1", "min", INTEGER, 1},
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
    snprintf(out + used, size - (size_t)used, ")%s", array->part);
    return found == place->index_count;
}

static void make_targets(struct loop *loop)
{
    struct place *place = &loop->place;
    int wanted = 1 + below(most_targets);
    for (int attempt = 0; attempt < 4000 && place->target_count < wanted; attempt++) {
        const struct array *array = &arrays[below(array_count)];
        bool taken = array->type == CHARACTER && !place->texts;
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
    snprintf(out + used, size - (size_t)used, ")%s", array->part);
    return class;
}

/* An assignment to a section: of a scalar, of another section, of an operation on both. */
static void add_section(struct loop *loop)
{
    static struct expr value;
    char target[128], one[512];
    int t = below(loop->place.target_count), class = target_section(loop, t, target, sizeof target);
    const struct array *array = loop->place.target[t];
    if (class < 0 || array->type == LOGICAL || array->type == COMPLEX || array->type == CHARACTER) {
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
    loop->open[loop->level++] = number;
    place->index_count++;
    if (chance(30)) {
        add_condition(loop, chance(50) ? "if (%s) exit\n" : "if (%s) cycle\n");
    } else if (chance(30)) {
        add_condition(loop, "if (%s) ");
        add(loop, "%s inner%d\n", chance(50) ? "exit" : "cycle", loop->open[below(loop->level)]);
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
        add(loop, "%s = %s %s logical(%s, %d)\n", item->name, item->name, item->op, value.text, item->kind);
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
    } else if (form < 38 && control) {
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
                                            {"l", INTEGER, 8}, {"b", LOGICAL, 4}, {"c", COMPLEX, 8},
                                            {"i", INTEGER, 1}, {"m", LOGICAL, 1}, {"k", CHARACTER, 4}};
    int wanted = below(4);
    loop->local_init = (loop->features & FEATURE_LOCALITY) != 0 && chance(25);
    loop->all_named = (loop->features & FEATURE_LOCALITY) != 0 && chance(20);
    for (int i = 0; i < wanted; i++) {
        struct variable local = kinds[below(loop->place.texts ? 9 : 8)];
        snprintf(local.name, sizeof local.name, "t%d", i + 1);
        if (!loop->local_init) {
            assign(loop, local.name, local.type, local.kind, 2);
        }
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

void make_loop(struct loop *loop, int features)
{
    memset(loop, 0, sizeof *loop);
    loop->features = features;
    loop->place.texts = (features & FEATURE_TEXTS) != 0;
    make_indices(loop);
    make_targets(loop);
    loop->place.calls = (features & FEATURE_CALLS) != 0;
    loop->place.sections = (features & FEATURE_SECTIONS) != 0;
    make_mask(loop);
    if ((features & FEATURE_LOCALITY) != 0 && chance(25)) {
        loop->reduce[loop->reduce_count++] = &reductions[below(sizeof reductions / sizeof *reductions)];
        exclude(loop->reduce[0]->name);
    }
    make_body(loop);
    exclude("");
}
