/* Characters: addresses and lengths; see lower.h.
 *
 * Texts that are made (concatenation, adjustl, ...) are put into temporary memory; those that are parts of another one
 * (trim, substrings) point into it. */
#include "fortran/lower.h"

static const struct ofl_value_type text_type = {.base = OFL_TYPE_CHARACTER, .kind = 1};

static struct ofl_value new_text(struct ofl_lower *l, struct ofl_k_expr *length)
{
    struct ofl_value value = {.type = text_type, .length = ofl_keep(l, length, "len")};
    value.x = ofl_temporary(l, value.length, OFL_K_I1);
    return value;
}

struct ofl_value ofl_concatenate(struct ofl_lower *l, struct ofl_value a, struct ofl_value b)
{
    struct ofl_value value = new_text(l, ofl_op(l, OFL_K_ADD, a.length, b.length));
    ofl_copy(l, value.x, a.x, a.length);
    ofl_copy(l, ofl_k_offset(l->arena, value.x, a.length), b.x, b.length);
    return value;
}

struct ofl_k_expr *ofl_compare_text(struct ofl_lower *l, struct ofl_value a, struct ofl_value b)
{
    return ofl_k_support(l->arena, OFL_K_I4, "ofl_text_compare", a.x, a.length, b.x, b.length, NULL);
}

/* One character whose code is an integer. */
static struct ofl_value one_character(struct ofl_lower *l, struct ofl_k_expr *code)
{
    struct ofl_value value = new_text(l, ofl_i8(l, 1));
    ofl_store(l, value.x, ofl_to(l, OFL_K_I1, code));
    return value;
}

static struct ofl_k_expr *code_of(struct ofl_lower *l, struct ofl_value text)
{
    struct ofl_k_expr *code = ofl_to(l, OFL_K_I4, ofl_k_load(l->arena, OFL_K_I1, text.x));
    return ofl_op(l, OFL_K_BIT_AND, code, ofl_k_integer(l->arena, OFL_K_I4, 255));
}

static struct ofl_value adjusted(struct ofl_lower *l, const char *function, struct ofl_value text)
{
    struct ofl_value value = new_text(l, text.length);
    ofl_do(l, ofl_k_support(l->arena, OFL_K_VOID, function, value.x, text.x, value.length, NULL));
    return value;
}

static struct ofl_value repeated(struct ofl_lower *l, struct ofl_value text, struct ofl_k_expr *copies)
{
    struct ofl_k_expr *count = ofl_keep(l, ofl_to(l, OFL_K_I8, copies), "n");
    count = ofl_keep(l, ofl_k_select(l->arena, ofl_op(l, OFL_K_GT, count, ofl_i8(l, 0)), count, ofl_i8(l, 0)), "n");
    struct ofl_value value = new_text(l, ofl_op(l, OFL_K_MUL, count, text.length));
    struct ofl_element_loops loops = ofl_begin_elements(l, 1, &count);
    ofl_copy(l, ofl_k_offset(l->arena, value.x, ofl_op(l, OFL_K_MUL, loops.subscript[0], text.length)), text.x,
             text.length);
    ofl_end_elements(l, &loops);
    return value;
}

/* Intrinsic functions on characters; *done is false if `expr` is none of them. */
struct ofl_value ofl_text_intrinsic(struct ofl_lower *l, const struct ofl_expr *expr, const struct ofl_meaning *meaning,
                                    struct ofl_value *args, unsigned count, bool *done)
{
    static const enum ofl_operator comparisons[] = {OFL_OPERATOR_GE, OFL_OPERATOR_GT, OFL_OPERATOR_LE, OFL_OPERATOR_LT};
    enum ofl_intrinsic_id id = meaning->call->procedure->intrinsic->id;
    struct ofl_value value = {.type = meaning->type};
    enum ofl_k_type result = ofl_is_number(meaning->type) ? ofl_k_value_of(l, meaning->type, expr->span) : OFL_K_VOID;
    const char *search = NULL;
    *done = true;
    for (unsigned i = 0; i < count; i++) {
        if (args[i].x != NULL && args[i].type.base == OFL_TYPE_CHARACTER) {
            ofl_k_of(l, args[i].type, expr->span);
        }
    }
    switch (id) {
    case OFL_INTRINSIC_ACHAR:
    case OFL_INTRINSIC_CHAR:
        ofl_k_of(l, meaning->type, expr->span);
        return one_character(l, args[0].x);
    case OFL_INTRINSIC_IACHAR:
    case OFL_INTRINSIC_ICHAR:
        value.x = ofl_to(l, result, code_of(l, args[0]));
        return value;
    case OFL_INTRINSIC_LEN_TRIM:
        value.x =
            ofl_to(l, result, ofl_k_support(l->arena, OFL_K_I8, "ofl_text_trimmed", args[0].x, args[0].length, NULL));
        return value;
    case OFL_INTRINSIC_TRIM:
        value = args[0];
        value.type = meaning->type;
        value.length =
            ofl_keep(l, ofl_k_support(l->arena, OFL_K_I8, "ofl_text_trimmed", value.x, value.length, NULL), "len");
        return value;
    case OFL_INTRINSIC_ADJUSTL:
        return adjusted(l, "ofl_text_left", args[0]);
    case OFL_INTRINSIC_ADJUSTR:
        return adjusted(l, "ofl_text_right", args[0]);
    case OFL_INTRINSIC_REPEAT:
        return repeated(l, args[0], args[1].x);
    case OFL_INTRINSIC_INDEX:
        search = "ofl_text_index";
        break;
    case OFL_INTRINSIC_SCAN:
        search = "ofl_text_scan";
        break;
    case OFL_INTRINSIC_VERIFY:
        search = "ofl_text_verify";
        break;
    case OFL_INTRINSIC_LGE:
    case OFL_INTRINSIC_LGT:
    case OFL_INTRINSIC_LLE:
    case OFL_INTRINSIC_LLT:
        value.x = ofl_equal(l, comparisons[id - OFL_INTRINSIC_LGE], args[0], args[1], expr->span);
        return value;
    default:
        *done = false;
        return value;
    }
    struct ofl_k_expr *back = count > 2 && args[2].x != NULL ? args[2].x : ofl_k_integer(l->arena, OFL_K_BOOL, 0);
    value.x = ofl_to(
        l, result,
        ofl_k_support(l->arena, OFL_K_I8, search, args[0].x, args[0].length, args[1].x, args[1].length, back, NULL));
    return value;
}
