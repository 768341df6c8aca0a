/* Type specifications, bounds, attributes, generic specifications: what declarations are made of. */
#include "fortran/parser.h"

#include <string.h>

static const struct {
    const char *pattern;
    enum ofl_type_kind kind;
} intrinsic_types[] = {
    {"integer", OFL_TYPE_INTEGER},
    {"real", OFL_TYPE_REAL},
    {"double precision", OFL_TYPE_DOUBLE_PRECISION},
    {"double complex", OFL_TYPE_DOUBLE_COMPLEX},
    {"complex", OFL_TYPE_COMPLEX},
    {"logical", OFL_TYPE_LOGICAL},
    {"character", OFL_TYPE_CHARACTER},
    {"byte", OFL_TYPE_BYTE},
};
enum { INTRINSIC_TYPES = sizeof intrinsic_types / sizeof intrinsic_types[0] };

/* ---- Kind and length -------------------------------------------------------------------------------------------- */

/* R701 type-param-value is expr or * or : */
static struct ofl_expr *type_parameter_value(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    if (ofl_accept(p, OFL_TOKEN_STAR)) {
        return ofl_new_expr(p, OFL_EXPR_STAR, ofl_since(p, begin));
    }
    if (ofl_accept(p, OFL_TOKEN_COLON)) {
        return ofl_new_expr(p, OFL_EXPR_DEFERRED, ofl_since(p, begin));
    }
    return ofl_parse_expr(p);
}

/* Digits only, whatever follows them: 8 of REAL*8E5. */
static struct ofl_expr *plain_digits(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin, end = begin;
    uint64_t value = 0;
    while (ofl_is_digit(ofl_char(p, end))) {
        value = value < UINT32_MAX ? value * 10 + (uint64_t)(p->item.text[end] - '0') : value;
        end++;
    }
    if (end == begin) {
        ofl_fail_expected(p, "a number");
    }
    struct ofl_expr *expr = ofl_new_expr(p, OFL_EXPR_INTEGER, ofl_span_at(p, begin, end));
    expr->as.literal.text = ofl_arena_text(p->arena, p->item.text + begin, end - begin);
    expr->as.literal.length = end - begin;
    expr->as.literal.value = value;
    ofl_goto(p, end);
    return expr;
}

/* R723 char-length is ( type-param-value ) or digit-string, behind the asterisk. */
static struct ofl_expr *char_length(struct ofl_parser *p)
{
    if (!ofl_accept(p, OFL_TOKEN_LPAREN)) {
        return plain_digits(p);
    }
    struct ofl_expr *length = type_parameter_value(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    return length;
}

/* R706 kind-selector is ( [ KIND = ] expr ); or * digits. */
static void kind_selector(struct ofl_parser *p, struct ofl_type_spec *type)
{
    if (ofl_accept(p, OFL_TOKEN_STAR)) {
        type->kind_value = plain_digits(p);
        type->by_bytes = true;
    } else if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        struct ofl_ident keyword = ofl_accept_arg_keyword(p);
        if (keyword.name != NULL && !ofl_name_is(keyword.name, "kind")) {
            ofl_fail_at(p, keyword.span, "expected 'kind'");
        }
        type->kind_value = type_parameter_value(p);
        ofl_expect(p, OFL_TOKEN_RPAREN);
    }
}

/* R721 char-selector, R722 length-selector */
static void char_selector(struct ofl_parser *p, struct ofl_type_spec *type)
{
    if (ofl_accept(p, OFL_TOKEN_STAR)) {
        type->length = char_length(p);
        return;
    }
    if (!ofl_accept(p, OFL_TOKEN_LPAREN)) {
        return;
    }
    unsigned position = 0;
    do {
        struct ofl_ident keyword = ofl_accept_arg_keyword(p);
        bool kind = keyword.name != NULL ? ofl_name_is(keyword.name, "kind") : position == 1;
        if (keyword.name != NULL && !kind && !ofl_name_is(keyword.name, "len")) {
            ofl_fail_at(p, keyword.span, "expected 'len' or 'kind'");
        }
        *(kind ? &type->kind_value : &type->length) = type_parameter_value(p);
        position++;
    } while (position < 2 && ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
}

/* ---- Type specifications ---------------------------------------------------------------------------------------- */

/* R704 intrinsic-type-spec, or NULL. */
static struct ofl_type_spec *accept_intrinsic(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    for (size_t i = 0; i < INTRINSIC_TYPES; i++) {
        if (!ofl_keyword(p, intrinsic_types[i].pattern)) {
            continue;
        }
        struct ofl_type_spec *type = OFL_NEW(p->arena, struct ofl_type_spec);
        type->kind = intrinsic_types[i].kind;
        if (type->kind == OFL_TYPE_CHARACTER) {
            char_selector(p, type);
        } else if (type->kind != OFL_TYPE_BYTE) { /* gfortran takes DOUBLE PRECISION*8 with a complaint */
            kind_selector(p, type);
        }
        type->span = ofl_since(p, begin);
        return type;
    }
    return NULL;
}

/* R754 derived-type-spec is type-name [ ( type-param-spec-list ) ] */
static void derived_type_spec(struct ofl_parser *p, struct ofl_type_spec *type)
{
    type->name = ofl_expect_ident(p, "a type's name");
    if (!ofl_accept(p, OFL_TOKEN_LPAREN)) {
        return;
    }
    struct ofl_arg **link = &type->parameters;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_ident keyword = ofl_accept_arg_keyword(p);
        struct ofl_expr *value = type_parameter_value(p);
        *link = ofl_new_arg(p, keyword, value, begin);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
}

/* Is an intrinsic type's keyword next, and then nothing but its selector and `)`?  In type(...) and class is (...). */
bool ofl_at_intrinsic_type(const struct ofl_parser *p)
{
    for (size_t i = 0; i < INTRINSIC_TYPES; i++) {
        uint32_t end = ofl_lex_keyword(&p->item, p->token.begin, intrinsic_types[i].pattern);
        char next = end == 0 ? 'x' : ofl_char(p, end);
        if (end != 0 && !ofl_is_name_character(next)) {
            return true;
        }
    }
    return false;
}

/* R703 declaration-type-spec: TYPE ( ... ) and CLASS ( ... ), from behind the opening parenthesis. */
static void type_in_parentheses(struct ofl_parser *p, struct ofl_type_spec *type, bool class)
{
    if (ofl_accept(p, OFL_TOKEN_STAR)) {
        type->kind = class ? OFL_TYPE_CLASS_STAR : OFL_TYPE_ASSUMED;
    } else if (!class && ofl_at_intrinsic_type(p)) {
        struct ofl_type_spec *inner = accept_intrinsic(p);
        struct ofl_span span = type->span;
        *type = *inner;
        type->span = span;
    } else {
        type->kind = class ? OFL_TYPE_CLASS : OFL_TYPE_DERIVED;
        derived_type_spec(p, type);
    }
    ofl_expect(p, OFL_TOKEN_RPAREN);
}

/* The vector types of compilers for PowerPC, which flang reads: vector(real(8)), __vector_pair, __vector_quad. */
static struct ofl_type_spec *accept_vector(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_type_spec *element = NULL;
    if (ofl_keyword(p, "vector (")) {
        if (ofl_keyword(p, "unsigned")) {
            element = OFL_NEW(p->arena, struct ofl_type_spec);
            kind_selector(p, element);
        } else if ((element = accept_intrinsic(p)) == NULL) {
            ofl_goto(p, begin);
            return NULL;
        }
        ofl_expect(p, OFL_TOKEN_RPAREN);
    } else if (!ofl_keyword(p, "__vector_pair") && !ofl_keyword(p, "__vector_quad")) {
        return NULL;
    }
    struct ofl_type_spec *type = OFL_NEW(p->arena, struct ofl_type_spec);
    *type = (struct ofl_type_spec){.kind = OFL_TYPE_VECTOR, .element = element, .span = ofl_since(p, begin)};
    return type;
}

struct ofl_type_spec *ofl_accept_type_spec(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_type_spec *type = accept_intrinsic(p);
    if (type == NULL) {
        type = accept_vector(p);
    }
    if (type != NULL) {
        return type;
    }
    bool class = ofl_at_keyword(p, "class (");
    if (!class && !ofl_at_keyword(p, "type (") && !ofl_at_keyword(p, "record /")) {
        return NULL;
    }
    type = OFL_NEW(p->arena, struct ofl_type_spec);
    if (ofl_keyword(p, "record /")) { /* DEC */
        type->kind = OFL_TYPE_RECORD;
        type->name = ofl_expect_ident(p, "a structure's name");
        ofl_expect(p, OFL_TOKEN_SLASH);
    } else {
        ofl_keyword(p, class ? "class (" : "type (");
        type_in_parentheses(p, type, class);
    }
    type->span = ofl_since(p, begin);
    return type;
}

/* Do `name`, `name (...)`, `name * n` or `double precision` and then `::` follow? */
static bool at_type_and_colons(const struct ofl_parser *p)
{
    struct ofl_token token = p->token;
    if (token.kind != OFL_TOKEN_NAME) {
        return false;
    }
    uint32_t words = ofl_lex_keyword(&p->item, token.begin, "double precision");
    token = words != 0 ? ofl_lex(&p->item, words) : ofl_lex(&p->item, token.end);
    if (token.kind == OFL_TOKEN_STAR) {
        token = ofl_lex(&p->item, token.end);
        if (token.kind == OFL_TOKEN_INTEGER) {
            token = ofl_lex(&p->item, token.end);
        }
    }
    if (token.kind == OFL_TOKEN_LPAREN) {
        uint32_t end = ofl_lex_matching(&p->item, token.begin);
        token = ofl_lex(&p->item, end != 0 ? end : p->item.length);
    }
    return token.kind == OFL_TOKEN_DOUBLE_COLON;
}

struct ofl_type_spec *ofl_parse_guard_type(struct ofl_parser *p)
{
    if (ofl_at_intrinsic_type(p)) {
        return accept_intrinsic(p);
    }
    uint32_t begin = p->token.begin;
    struct ofl_type_spec *type = OFL_NEW(p->arena, struct ofl_type_spec);
    type->kind = OFL_TYPE_DERIVED;
    derived_type_spec(p, type);
    type->span = ofl_since(p, begin);
    return type;
}

struct ofl_type_spec *ofl_accept_allocate_type(struct ofl_parser *p)
{
    if (!at_type_and_colons(p)) {
        return NULL;
    }
    struct ofl_type_spec *type = ofl_parse_guard_type(p);
    ofl_expect(p, OFL_TOKEN_DOUBLE_COLON);
    return type;
}

/* ---- Bounds ----------------------------------------------------------------------------------------------------- */

/* One dimension: R816 explicit-shape-spec, R819 assumed-shape-spec, R820 deferred-shape-spec, R822 assumed-size-spec,
 * R823 implied-shape-spec, R825 assumed-rank-spec; also R809 coarray-spec. */
static struct ofl_bound *bound(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_bound *item = OFL_NEW(p->arena, struct ofl_bound);
    if (ofl_at(p, OFL_TOKEN_DOT) && ofl_char(p, p->token.end) == '.') {
        ofl_goto(p, p->token.end + 1);
        item->form = OFL_BOUND_RANK;
    } else if (ofl_accept(p, OFL_TOKEN_STAR)) {
        item->form = OFL_BOUND_STAR;
    } else {
        item->form = OFL_BOUND_SHAPE;
        struct ofl_expr *first = ofl_at(p, OFL_TOKEN_COLON) ? NULL : ofl_parse_expr(p);
        if (!ofl_accept(p, OFL_TOKEN_COLON)) {
            item->form = OFL_BOUND_EXPLICIT;
            item->upper = first;
        } else {
            item->lower = first;
            if (ofl_accept(p, OFL_TOKEN_STAR)) {
                item->form = OFL_BOUND_STAR;
            } else if (!ofl_at_range_end(p)) {
                item->form = OFL_BOUND_EXPLICIT;
                item->upper = ofl_parse_expr(p);
            }
        }
    }
    item->span = ofl_since(p, begin);
    return item;
}

/* R815 array-spec, R809 coarray-spec, from behind the opening bracket to and with the closing one. */
struct ofl_bound *ofl_parse_bounds(struct ofl_parser *p, enum ofl_token_kind close)
{
    struct ofl_bound *first = NULL, **link = &first;
    do {
        *link = bound(p);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, close);
    return first;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

struct ofl_attr *ofl_new_attr(struct ofl_parser *p, enum ofl_attr_kind kind, uint32_t begin)
{
    struct ofl_attr *attr = OFL_NEW(p->arena, struct ofl_attr);
    attr->kind = kind;
    attr->span = ofl_since(p, begin);
    return attr;
}

/* R826 intent-spec, with INTENT and the parentheses. */
bool ofl_accept_intent(struct ofl_parser *p, enum ofl_attr_kind *kind)
{
    if (ofl_keyword(p, "intent ( in out )")) {
        *kind = OFL_ATTR_INTENT_INOUT;
    } else if (ofl_keyword(p, "intent ( in )")) {
        *kind = OFL_ATTR_INTENT_IN;
    } else if (ofl_keyword(p, "intent ( out )")) {
        *kind = OFL_ATTR_INTENT_OUT;
    } else {
        return false;
    }
    return true;
}

/* R808 language-binding-spec is BIND ( C [, NAME = expr ] ), from behind BIND. */
struct ofl_attr *ofl_parse_bind(struct ofl_parser *p)
{
    struct ofl_attr *attr = ofl_new_attr(p, OFL_ATTR_BIND, p->behind);
    ofl_expect(p, OFL_TOKEN_LPAREN);
    attr->args = ofl_parse_args(p);
    return attr;
}

static const struct {
    const char *pattern;
    enum ofl_attr_kind kind;
} plain_attrs[] = {
    {"abstract", OFL_ATTR_ABSTRACT},
    {"allocatable", OFL_ATTR_ALLOCATABLE},
    {"asynchronous", OFL_ATTR_ASYNCHRONOUS},
    {"automatic", OFL_ATTR_AUTOMATIC},
    {"contiguous", OFL_ATTR_CONTIGUOUS},
    {"deferred", OFL_ATTR_DEFERRED},
    {"external", OFL_ATTR_EXTERNAL},
    {"intrinsic", OFL_ATTR_INTRINSIC},
    {"kind", OFL_ATTR_KIND},
    {"len", OFL_ATTR_LEN},
    {"non_overridable", OFL_ATTR_NON_OVERRIDABLE},
    {"nopass", OFL_ATTR_NOPASS},
    {"optional", OFL_ATTR_OPTIONAL},
    {"parameter", OFL_ATTR_PARAMETER},
    {"pointer", OFL_ATTR_POINTER},
    {"private", OFL_ATTR_PRIVATE},
    {"protected", OFL_ATTR_PROTECTED},
    {"public", OFL_ATTR_PUBLIC},
    {"save", OFL_ATTR_SAVE},
    {"static", OFL_ATTR_STATIC},
    {"target", OFL_ATTR_TARGET},
    {"value", OFL_ATTR_VALUE},
    {"volatile", OFL_ATTR_VOLATILE},
};

/* An attribute with something in brackets behind it, or NULL. */
static struct ofl_attr *bracketed_attr(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    enum ofl_attr_kind kind;
    struct ofl_attr *attr = NULL;
    if (ofl_keyword(p, "dimension (")) {
        attr = ofl_new_attr(p, OFL_ATTR_DIMENSION, begin);
        attr->bounds = ofl_parse_bounds(p, OFL_TOKEN_RPAREN);
    } else if (ofl_keyword(p, "codimension [")) {
        attr = ofl_new_attr(p, OFL_ATTR_CODIMENSION, begin);
        attr->bounds = ofl_parse_bounds(p, OFL_TOKEN_RBRACKET);
    } else if (ofl_accept_intent(p, &kind)) {
        attr = ofl_new_attr(p, kind, begin);
    } else if (ofl_keyword(p, "bind")) {
        attr = ofl_parse_bind(p);
    } else if (ofl_keyword(p, "extends (")) {
        attr = ofl_new_attr(p, OFL_ATTR_EXTENDS, begin);
        attr->name = ofl_expect_ident(p, "the parent type's name");
        ofl_expect(p, OFL_TOKEN_RPAREN);
    } else if (ofl_keyword(p, "pass")) {
        attr = ofl_new_attr(p, OFL_ATTR_PASS, begin);
        if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
            attr->name = ofl_expect_ident(p, "the passed argument's name");
            ofl_expect(p, OFL_TOKEN_RPAREN);
        }
    }
    if (attr != NULL) {
        attr->span = ofl_since(p, begin);
    }
    return attr;
}

/* R802 attr-spec, R728 type-attr-spec, R742 proc-component-attr-spec, R751 binding-attr, each behind a comma. */
struct ofl_attr *ofl_parse_attrs(struct ofl_parser *p)
{
    struct ofl_attr *first = NULL, **link = &first;
    while (ofl_accept(p, OFL_TOKEN_COMMA)) {
        uint32_t begin = p->token.begin;
        struct ofl_attr *attr = bracketed_attr(p);
        for (size_t i = 0; attr == NULL && i < sizeof plain_attrs / sizeof plain_attrs[0]; i++) {
            if (ofl_keyword(p, plain_attrs[i].pattern)) {
                attr = ofl_new_attr(p, plain_attrs[i].kind, begin);
            }
        }
        if (attr == NULL) {
            ofl_fail_expected(p, "an attribute");
        }
        *link = attr;
        link = &attr->next;
    }
    return first;
}
