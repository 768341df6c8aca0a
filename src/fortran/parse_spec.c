/* Specification statements other than definitions (parse_define.c): use, import, implicit, parameter, attributes,
 * common, namelist, equivalence, data, format, and type declarations. */
#include "fortran/parser.h"

#include <string.h>

/* R801 type-declaration-stmt is declaration-type-spec [ [ , attr-spec ]... :: ] entity-decl-list; `type` has been read.
 */
static void type_declaration(struct ofl_parser *p, struct ofl_type_spec *type)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_TYPE_DECL);
    stmt->as.decl.type = type;
    if (p->outline.double_colon != p->item.length && p->outline.double_colon >= p->token.begin) {
        stmt->as.decl.attrs = ofl_parse_attrs(p);
        ofl_expect(p, OFL_TOKEN_DOUBLE_COLON);
    } else {
        ofl_accept(p, OFL_TOKEN_COMMA); /* CHARACTER*8, A */
    }
    if (!ofl_at(p, OFL_TOKEN_END)) {
        stmt->as.decl.entities = ofl_parse_entities(p, false);
    } else if (stmt->as.decl.type->kind != OFL_TYPE_RECORD) {
        ofl_fail_expected(p, "a name");
    }
    ofl_append(p, stmt);
}

/* May a function or subroutine statement stand here? */
static bool procedure_may_begin(struct ofl_parser *p)
{
    const struct ofl_frame *top = ofl_top(p);
    return top == NULL || (top->stmt == NULL && top->contains) ||
           (top->stmt != NULL && top->stmt->kind == OFL_STMT_INTERFACE);
}

static const struct {
    const char *pattern;
    enum ofl_attr_kind kind;
} prefixes[] = {
    {"pure", OFL_ATTR_PURE},     {"elemental", OFL_ATTR_ELEMENTAL},         {"recursive", OFL_ATTR_RECURSIVE},
    {"impure", OFL_ATTR_IMPURE}, {"non_recursive", OFL_ATTR_NON_RECURSIVE}, {"module", OFL_ATTR_MODULE},
};

/* R1527 prefix-spec other than a type; appends to *link. */
static bool accept_prefix(struct ofl_parser *p, struct ofl_attr ***link)
{
    uint32_t begin = p->token.begin;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (ofl_keyword(p, prefixes[i].pattern)) {
            **link = ofl_new_attr(p, prefixes[i].kind, begin);
            *link = &(**link)->next;
            return true;
        }
    }
    return false;
}

/* Is `function name (` or `subroutine name` next? */
static bool at_procedure(const struct ofl_parser *p, bool *function)
{
    uint32_t end = ofl_lex_keyword(&p->item, p->token.begin, "function");
    *function = end != 0;
    if (end == 0) {
        end = ofl_lex_keyword(&p->item, p->token.begin, "subroutine");
    }
    return end != 0 && ofl_lex(&p->item, end).kind == OFL_TOKEN_NAME;
}

/* R1526 prefix in front of FUNCTION or SUBROUTINE, or else a type declaration.  False if the statement is neither, with
 * the token where it was. */
bool ofl_accept_declaration(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    bool function = false;
    struct ofl_attr *attrs = NULL, **link = &attrs;
    struct ofl_type_spec *type = NULL;
    while (accept_prefix(p, &link)) {
    }
    bool has_prefix = attrs != NULL;
    uint32_t type_begin = p->token.begin;
    type = ofl_accept_type_spec(p);
    uint32_t after_type = p->behind;
    if (type != NULL || has_prefix) {
        while (accept_prefix(p, &link)) {
        }
        if (at_procedure(p, &function) && (has_prefix || !p->item.glued || procedure_may_begin(p))) {
            ofl_keyword(p, function ? "function" : "subroutine");
            p->prefix_attrs = attrs;
            p->prefix_type = type;
            return function ? ofl_parse_function(p) : ofl_parse_subroutine(p);
        }
    }
    if (type == NULL || has_prefix || type_begin != begin) {
        ofl_goto(p, begin);
        return false;
    }
    ofl_goto(p, after_type);
    type_declaration(p, type);
    return true;
}

/* ---- Attribute statements --------------------------------------------------------------------------------------- */

static void attribute_statement(struct ofl_parser *p, struct ofl_attr *attr, bool any)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_ATTRIBUTE);
    stmt->as.decl.attrs = attr;
    ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
    if (!ofl_at(p, OFL_TOKEN_END)) {
        stmt->as.decl.entities = ofl_parse_entities(p, any);
    }
    ofl_append(p, stmt);
}

/* R829 allocatable-stmt, R830 asynchronous-stmt, R847 codimension-stmt, R848 contiguous-stmt, R850 dimension-stmt,
 * R1511 external-stmt, R1519 intrinsic-stmt, R851 optional-stmt, R854 pointer-stmt, R827 access-stmt, R855
 * protected-stmt, R856 save-stmt, R859 target-stmt, R861 value-stmt, R862 volatile-stmt; R745 private-components-stmt
 */
bool ofl_parse_attribute(struct ofl_parser *p)
{
    enum ofl_attr_kind kind = (enum ofl_attr_kind)p->value;
    bool any = kind == OFL_ATTR_SAVE || kind == OFL_ATTR_PUBLIC || kind == OFL_ATTR_PRIVATE;
    if (kind == OFL_ATTR_PRIVATE && ofl_in(p, OFL_STMT_DERIVED_TYPE) && ofl_at(p, OFL_TOKEN_END)) {
        ofl_append(p, ofl_new_stmt(p, OFL_STMT_PRIVATE_COMPONENTS));
        return true;
    }
    if (!any && ofl_at(p, OFL_TOKEN_END) && kind != OFL_ATTR_AUTOMATIC && kind != OFL_ATTR_STATIC) {
        ofl_fail_expected(p, "a name");
    }
    attribute_statement(p, ofl_new_attr(p, kind, p->keyword), any);
    return true;
}

/* R849 intent-stmt */
bool ofl_parse_intent(struct ofl_parser *p)
{
    enum ofl_attr_kind kind;
    ofl_goto(p, p->keyword);
    if (!ofl_accept_intent(p, &kind)) {
        ofl_fail_expected(p, "intent(in), intent(out) or intent(inout)");
    }
    attribute_statement(p, ofl_new_attr(p, kind, p->keyword), false);
    return true;
}

/* R831 bind-stmt */
bool ofl_parse_bind_statement(struct ofl_parser *p)
{
    ofl_goto(p, ofl_lex_keyword(&p->item, p->keyword, "bind"));
    struct ofl_attr *attr = ofl_parse_bind(p);
    attribute_statement(p, attr, true);
    return true;
}

/* ---- USE, IMPORT, IMPLICIT, PARAMETER --------------------------------------------------------------------------- */

/* R1411 rename, R1412 only */
static struct ofl_rename *rename_item(struct ofl_parser *p)
{
    struct ofl_rename *item = OFL_NEW(p->arena, struct ofl_rename);
    item->used = ofl_parse_generic_spec(p);
    if (ofl_accept(p, OFL_TOKEN_ARROW)) {
        item->local = item->used;
        item->used = ofl_parse_generic_spec(p);
    }
    return item;
}

/* R1409 use-stmt is USE [ [ , module-nature ] :: ] module-name [ , rename-list ]
 *                or USE [ [ , module-nature ] :: ] module-name , ONLY : [ only-list ] */
bool ofl_parse_use(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_USE);
    if (ofl_accept(p, OFL_TOKEN_COMMA)) {
        stmt->as.use.nature = ofl_expect_ident(p, "intrinsic or non_intrinsic");
        ofl_expect(p, OFL_TOKEN_DOUBLE_COLON);
    } else {
        ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
    }
    stmt->as.use.module = ofl_expect_ident(p, "a module's name");
    if (ofl_accept(p, OFL_TOKEN_COMMA)) {
        stmt->as.use.only = ofl_keyword(p, "only :");
        struct ofl_rename **link = &stmt->as.use.names;
        if (!stmt->as.use.only || !ofl_at(p, OFL_TOKEN_END)) {
            do {
                *link = rename_item(p);
                link = &(*link)->next;
            } while (ofl_accept(p, OFL_TOKEN_COMMA));
        }
    }
    ofl_append(p, stmt);
    return true;
}

/* R867 import-stmt */
bool ofl_parse_import(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_IMPORT);
    if (ofl_keyword(p, ", none")) {
        stmt->as.import.form = OFL_IMPORT_NONE;
    } else if (ofl_keyword(p, ", all")) {
        stmt->as.import.form = OFL_IMPORT_ALL;
    } else if (ofl_keyword(p, ", only :")) {
        stmt->as.import.form = OFL_IMPORT_ONLY;
        stmt->as.import.names = ofl_parse_ident_list(p, "a name");
    } else {
        ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
        if (!ofl_at(p, OFL_TOKEN_END)) {
            stmt->as.import.names = ofl_parse_ident_list(p, "a name");
        }
    }
    ofl_append(p, stmt);
    return true;
}

/* R865 letter-spec-list, behind its parenthesis; appends to *link. */
static void letter_specs(struct ofl_parser *p, struct ofl_type_spec *type, struct ofl_implicit ***link)
{
    do {
        struct ofl_implicit *range = OFL_NEW(p->arena, struct ofl_implicit);
        range->type = type;
        struct ofl_ident first = ofl_expect_ident(p, "a letter"), last = first;
        if (ofl_accept(p, OFL_TOKEN_MINUS)) {
            last = ofl_expect_ident(p, "a letter");
        }
        if (first.name->length != 1 || last.name->length != 1 || last.name->text[0] < first.name->text[0]) {
            ofl_fail_at(p, ofl_span_join(first.span, last.span), "expected a letter or a range of letters");
        }
        range->first = first.name->text[0];
        range->last = last.name->text[0];
        **link = range;
        *link = &range->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
}

/* R864 declaration-type-spec in IMPLICIT.  What stands in parentheses behind an intrinsic type is its kind only if the
 * letters follow in parentheses of their own. */
static struct ofl_type_spec *implicit_type(struct ofl_parser *p)
{
    static const struct {
        const char *pattern;
        enum ofl_type_kind kind;
    } words[] = {{"integer", OFL_TYPE_INTEGER},
                 {"real", OFL_TYPE_REAL},
                 {"double precision", OFL_TYPE_DOUBLE_PRECISION},
                 {"double complex", OFL_TYPE_DOUBLE_COMPLEX},
                 {"complex", OFL_TYPE_COMPLEX},
                 {"logical", OFL_TYPE_LOGICAL},
                 {"character", OFL_TYPE_CHARACTER},
                 {"byte", OFL_TYPE_BYTE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        uint32_t end = ofl_lex_keyword(&p->item, p->token.begin, words[i].pattern);
        if (end == 0) {
            continue;
        }
        struct ofl_token open = ofl_lex(&p->item, end);
        uint32_t close = open.kind == OFL_TOKEN_LPAREN ? ofl_lex_matching(&p->item, open.begin) : 0;
        if (close == 0 || ofl_lex(&p->item, close).kind == OFL_TOKEN_LPAREN) {
            break;
        }
        struct ofl_type_spec *type = OFL_NEW(p->arena, struct ofl_type_spec);
        type->kind = words[i].kind;
        type->span = ofl_span_at(p, p->token.begin, end);
        ofl_goto(p, end);
        return type;
    }
    return ofl_accept_type_spec(p);
}

/* R863 implicit-stmt is IMPLICIT implicit-spec-list or IMPLICIT NONE [ ( [ implicit-none-spec-list ] ) ] */
bool ofl_parse_implicit(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_IMPLICIT);
    if (ofl_keyword(p, "none")) {
        stmt->as.implicit.none = true;
        if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
            while (!ofl_accept(p, OFL_TOKEN_RPAREN)) {
                bool type = ofl_keyword(p, "type");
                if (!type) {
                    ofl_expect_keyword(p, "external");
                }
                *(type ? &stmt->as.implicit.none_type : &stmt->as.implicit.none_external) = true;
                ofl_accept(p, OFL_TOKEN_COMMA);
            }
        }
        stmt->as.implicit.none_type |= !stmt->as.implicit.none_external;
    } else {
        struct ofl_implicit **link = &stmt->as.implicit.ranges;
        do {
            struct ofl_type_spec *type = NULL;
            if (ofl_keyword(p, "static") || ofl_keyword(p, "automatic")) { /* DEC */
            } else if ((type = implicit_type(p)) == NULL) {
                ofl_fail_expected(p, "a type or 'none'");
            }
            ofl_expect(p, OFL_TOKEN_LPAREN);
            letter_specs(p, type, &link);
        } while (ofl_accept(p, OFL_TOKEN_COMMA));
    }
    ofl_append(p, stmt);
    return true;
}

/* R852 parameter-stmt is PARAMETER ( named-constant-def-list ); DEC leaves the parentheses out. */
bool ofl_parse_parameter(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_PARAMETER);
    bool parentheses = ofl_accept(p, OFL_TOKEN_LPAREN);
    struct ofl_arg **link = &stmt->as.args.items;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_ident name = ofl_expect_ident(p, "a name");
        ofl_expect(p, OFL_TOKEN_EQUALS);
        struct ofl_expr *value = ofl_parse_expr(p);
        *link = ofl_new_arg(p, name, value, begin);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    if (parentheses) {
        ofl_expect(p, OFL_TOKEN_RPAREN);
    }
    ofl_append(p, stmt);
    return true;
}
