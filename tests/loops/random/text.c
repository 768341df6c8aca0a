/* Random expressions of characters, and numbers and logicals made of them.  An expression's kind is no less than its
 * length. */
#include "generate.h"

/* A part of a variable. */
static void substring(const struct place *place, struct expr *out)
{
    static struct expr whole;
    leaf(place, &whole, CHARACTER);
    if (whole.text[0] == '\'') {
        *out = whole;
        return;
    }
    int first = 1 + below(whole.kind), last = first + below(whole.kind - first + 1);
    print(out, "%s(%d:%d)", whole.text, first, last);
    out->kind = last - first + 1;
}

void make_text(const struct place *place, struct expr *out, int depth)
{
    static struct expr pool[4];
    struct expr *a = &pool[depth > 0 && depth < 4 ? depth : 0];
    static const char *const names[] = {"trim", "adjustl", "adjustr"};
    int form = depth <= 0 ? 4 + below(2) : below(6);
    out->type = CHARACTER;
    out->bound = 1;
    if (form == 4) {
        leaf(place, out, CHARACTER);
        return;
    }
    if (form == 5) {
        substring(place, out);
        return;
    }
    make_text(place, a, depth - 1);
    out->kind = a->kind;
    if (form == 0) {
        struct expr right;
        make_text(place, &right, depth - 1);
        print(out, "(%s//%s)", a->text, right.text);
        out->kind = a->kind + right.kind;
    } else if (form == 1) {
        print(out, "%s(%s)", names[below(3)], a->text);
    } else if (form == 2) {
        int times = below(3);
        print(out, "repeat(%s, %d)", a->text, times);
        out->kind = times * a->kind;
    } else if (place->index_count > 0) {
        print(out, "(achar(97 + modulo(int(%s, 4), 4))//%s)", place->index[below(place->index_count)].name, a->text);
        out->kind = a->kind + 1;
    } else {
        print(out, "%s", a->text);
    }
}

bool integer_of_text(const struct place *place, struct expr *out)
{
    static struct expr a, b;
    static const char *const names[] = {"index", "scan", "verify"};
    int form = below(6);
    make_text(place, &a, 2);
    out->kind = 4;
    out->bound = 200;
    if (form < 3) {
        make_text(place, &b, 1);
        print(out, "%s(%s, %s%s)", names[form], a.text, b.text, chance(30) ? ", .true." : "");
    } else if (form == 3) {
        print(out, "len_trim(%s)", a.text);
    } else if (form == 4) {
        print(out, "iachar(sk(2:2))");
    } else {
        print(out, "len(%s)", a.text);
    }
    return true;
}

void logical_of_text(const struct place *place, struct expr *out)
{
    static struct expr a, b;
    static const char *const relations[] = {"<", "<=", ">", ">=", "==", "/="};
    make_text(place, &a, 2);
    make_text(place, &b, 1);
    print(out, "(%s %s %s)", a.text, relations[below(6)], b.text);
    out->kind = 4;
}
