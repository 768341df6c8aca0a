/* Statements about storage and initial values: common, namelist, equivalence, data, Cray pointers; and format. */
#include "fortran/parser.h"

/* /name/ or // or nothing: R873 common-stmt.  True if there is a group. */
static bool block_name(struct ofl_parser *p, struct ofl_ident *name)
{
    if (ofl_accept(p, OFL_TOKEN_CONCAT)) {
        return true;
    }
    if (!ofl_accept(p, OFL_TOKEN_SLASH)) {
        return false;
    }
    *name = ofl_accept_ident(p);
    ofl_expect(p, OFL_TOKEN_SLASH);
    return true;
}

/* name [ ( array-spec ) ] [, ...] up to the next slash; a comma may stand before that too. */
static struct ofl_entity *group_entities(struct ofl_parser *p)
{
    struct ofl_entity *first = NULL, **link = &first;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_entity *item = OFL_NEW(p->arena, struct ofl_entity);
        item->ident = ofl_expect_ident(p, "a name");
        if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
            item->bounds = ofl_parse_bounds(p, OFL_TOKEN_RPAREN);
        }
        item->span = ofl_since(p, begin);
        *link = item;
        link = &item->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA) && !ofl_at(p, OFL_TOKEN_SLASH) && !ofl_at(p, OFL_TOKEN_CONCAT));
    return first;
}

static bool groups(struct ofl_parser *p, enum ofl_stmt_kind kind)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, kind);
    struct ofl_group **link = &stmt->as.groups.groups;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_group *group = OFL_NEW(p->arena, struct ofl_group);
        if (!block_name(p, &group->name) && (kind == OFL_STMT_NAMELIST || link != &stmt->as.groups.groups)) {
            ofl_fail_expected(p, "'/'");
        }
        if (kind == OFL_STMT_NAMELIST && group->name.name == NULL) {
            ofl_fail_at(p, ofl_since(p, begin), "a namelist group needs a name");
        }
        group->entities = group_entities(p);
        group->span = ofl_since(p, begin);
        *link = group;
        link = &group->next;
    } while (!ofl_at(p, OFL_TOKEN_END));
    ofl_append(p, stmt);
    return true;
}

/* R873 common-stmt */
bool ofl_parse_common(struct ofl_parser *p)
{
    return groups(p, OFL_STMT_COMMON);
}

/* R868 namelist-stmt */
bool ofl_parse_namelist(struct ofl_parser *p)
{
    return groups(p, OFL_STMT_NAMELIST);
}

/* R870 equivalence-stmt */
bool ofl_parse_equivalence(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_EQUIVALENCE);
    struct ofl_group **link = &stmt->as.groups.groups;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_group *group = OFL_NEW(p->arena, struct ofl_group);
        ofl_expect(p, OFL_TOKEN_LPAREN);
        group->items = ofl_parse_args(p);
        group->span = ofl_since(p, begin);
        *link = group;
        link = &group->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_append(p, stmt);
    return true;
}

/* R839 data-stmt-object: a variable or an implied do. */
static struct ofl_arg *data_objects(struct ofl_parser *p)
{
    static const struct ofl_ident no_keyword;
    struct ofl_arg *first = NULL, **link = &first;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_expr *object = ofl_parse_primary(p, true);
        *link = ofl_new_arg(p, no_keyword, object, begin);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    return first;
}

/* R837 data-stmt is DATA data-stmt-set [ [ , ] data-stmt-set ]... */
bool ofl_parse_data(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_DATA);
    struct ofl_data_set **link = &stmt->as.data.sets;
    do {
        struct ofl_data_set *set = OFL_NEW(p->arena, struct ofl_data_set);
        set->objects = data_objects(p);
        ofl_expect(p, OFL_TOKEN_SLASH);
        set->values = ofl_parse_data_values(p);
        *link = set;
        link = &set->next;
        ofl_accept(p, OFL_TOKEN_COMMA);
    } while (!ofl_at(p, OFL_TOKEN_END));
    ofl_append(p, stmt);
    return true;
}

/* POINTER (p, x(10)), ... (Cray) */
bool ofl_parse_cray_pointer(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_CRAY_POINTER);
    struct ofl_pair **link = &stmt->as.pairs.pairs;
    for (;;) {
        struct ofl_pair *pair = OFL_NEW(p->arena, struct ofl_pair);
        pair->pointer = ofl_expect_ident(p, "a pointer's name");
        ofl_expect(p, OFL_TOKEN_COMMA);
        uint32_t begin = p->token.begin;
        pair->pointee = OFL_NEW(p->arena, struct ofl_entity);
        pair->pointee->ident = ofl_expect_ident(p, "a pointee's name");
        if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
            pair->pointee->bounds = ofl_parse_bounds(p, OFL_TOKEN_RPAREN);
        }
        pair->pointee->span = ofl_since(p, begin);
        ofl_expect(p, OFL_TOKEN_RPAREN);
        *link = pair;
        link = &pair->next;
        if (!ofl_accept(p, OFL_TOKEN_COMMA)) {
            break;
        }
        ofl_expect(p, OFL_TOKEN_LPAREN);
    }
    ofl_append(p, stmt);
    return true;
}

/* Behind the closing quote of a constant in a format, or the text's end. */
static uint32_t skip_quoted(const struct ofl_parser *p, uint32_t at)
{
    char quote = ofl_char(p, at++);
    while (at < p->item.length && p->item.text[at] != quote) {
        at++;
    }
    return at + 1;
}

/* The offset of the parenthesis that closes a format which begins at `at`; strings and Hollerith constants are skipped.
 */
static uint32_t format_end(const struct ofl_parser *p, uint32_t at)
{
    unsigned depth = 0;
    uint32_t count = 0;
    while (at < p->item.length) {
        char c = p->item.text[at];
        if (c == '\'' || c == '"') {
            at = skip_quoted(p, at);
            count = 0;
            continue;
        }
        if ((c | 0x20) == 'h' && count > 0 && count < p->item.length - at) {
            at += count + 1;
            count = 0;
            continue;
        }
        count = ofl_is_digit(c) && count < 100000000 ? count * 10 + (uint32_t)(c - '0') : 0;
        if (c == '(') {
            depth++;
        } else if (c == ')' && --depth == 0) {
            return at;
        }
        at++;
    }
    return p->item.length;
}

/* R1301 format-stmt is FORMAT format-specification.  The host compiler checks what is in it: formats never reach a
 * kernel. */
bool ofl_parse_format(struct ofl_parser *p)
{
    uint32_t begin = p->behind - 1;
    if (p->item.label.value == 0 || p->holder != NULL) {
        ofl_fail_at(p, ofl_span_at(p, p->keyword, begin), "a format statement needs a label");
    }
    uint32_t end = format_end(p, begin);
    if (end == p->item.length) {
        ofl_fail_at(p, ofl_span_at(p, begin, begin + 1), "the format that begins here has no closing ')'");
    }
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_FORMAT);
    stmt->as.text.length = end + 1 - begin;
    stmt->as.text.text = ofl_arena_text(p->arena, p->item.text + begin, stmt->as.text.length);
    ofl_goto(p, end + 1);
    ofl_append(p, stmt);
    return true;
}
