/* Action statements other than input and output: assignments, calls, jumps, stops, allocation, image control. */
#include "fortran/parser.h"

/* ---- Assignments ------------------------------------------------------------------------------------------------ */

/* Does the statement read designator = or designator =>, with nothing between?  Then it is an assignment, whatever
 * keyword the designator's name looks like: keywords are not reserved. */
static bool is_assignment(const struct ofl_parser *p)
{
    uint32_t sign = p->outline.equals < p->outline.arrow ? p->outline.equals : p->outline.arrow;
    if (sign == p->item.length || p->outline.comma < sign || p->token.kind != OFL_TOKEN_NAME) {
        return false;
    }
    if (sign == p->outline.equals && p->outline.comma_after_equals != p->item.length) {
        return false; /* do i = 1, n */
    }
    struct ofl_token token = ofl_peek(p);
    for (;;) {
        switch (token.kind) {
        case OFL_TOKEN_EQUALS:
        case OFL_TOKEN_ARROW:
            return true;
        case OFL_TOKEN_LPAREN:
        case OFL_TOKEN_LBRACKET: {
            uint32_t end = ofl_lex_matching(&p->item, token.begin);
            if (end == 0) {
                return false;
            }
            token = ofl_lex(&p->item, end);
            break;
        }
        case OFL_TOKEN_PERCENT:
        case OFL_TOKEN_DOT:
            token = ofl_lex(&p->item, token.end);
            if (token.kind != OFL_TOKEN_NAME) {
                return false;
            }
            token = ofl_lex(&p->item, token.end);
            break;
        case OFL_TOKEN_DOT_NAME: /* DEC: a.b.c = 1 */
            if (!p->dec) {
                return false;
            }
            token = ofl_lex(&p->item, token.end);
            if (token.kind != OFL_TOKEN_NAME) {
                return false;
            }
            token = ofl_lex(&p->item, token.end);
            break;
        default:
            return false;
        }
    }
}

/* R1032 assignment-stmt is variable = expr
 * R1033 pointer-assignment-stmt is variable [ ( bounds ) ] => target */
bool ofl_parse_assignment(struct ofl_parser *p)
{
    if (!is_assignment(p)) {
        return false;
    }
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_ASSIGN);
    stmt->as.assign.target = ofl_parse_designator(p);
    if (ofl_accept(p, OFL_TOKEN_ARROW)) {
        stmt->kind = OFL_STMT_POINTER_ASSIGN;
    } else {
        ofl_expect(p, OFL_TOKEN_EQUALS);
    }
    stmt->as.assign.value = ofl_parse_expr(p);
    ofl_append(p, stmt);
    return true;
}

/* ---- Calls and jumps -------------------------------------------------------------------------------------------- */

/* R1521 call-stmt is CALL procedure-designator [ ( [ actual-arg-spec-list ] ) ] */
bool ofl_parse_call(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_CALL);
    struct ofl_expr *designator = ofl_parse_designator(p);
    if (designator->kind == OFL_EXPR_CALL) { /* the last parentheses are the arguments */
        stmt->as.call.args = designator->as.call.args;
        stmt->as.call.parentheses = true;
        designator = designator->as.call.base;
    }
    stmt->as.call.designator = designator;
    ofl_append(p, stmt);
    return true;
}

/* R1157 goto-stmt, R1158 computed-goto-stmt; GO TO i [[,] (labels)] of Fortran 77 */
bool ofl_parse_goto(struct ofl_parser *p)
{
    struct ofl_label label;
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_GOTO);
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        stmt->kind = OFL_STMT_COMPUTED_GOTO;
        stmt->as.jump.labels = ofl_parse_labels(p);
        ofl_expect(p, OFL_TOKEN_RPAREN);
        ofl_accept(p, OFL_TOKEN_COMMA);
        stmt->as.jump.selector = ofl_parse_expr(p);
    } else if (ofl_accept_label(p, &label)) {
        stmt->as.jump.labels = OFL_NEW(p->arena, struct ofl_label_list);
        stmt->as.jump.labels->label = label;
    } else {
        stmt->kind = OFL_STMT_ASSIGNED_GOTO;
        stmt->as.jump.selector = ofl_name_expr(p, ofl_expect_ident(p, "a label or a variable"));
        ofl_accept(p, OFL_TOKEN_COMMA);
        if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
            stmt->as.jump.labels = ofl_parse_labels(p);
            ofl_expect(p, OFL_TOKEN_RPAREN);
        }
    }
    ofl_append(p, stmt);
    return true;
}

/* ASSIGN label TO variable (Fortran 77) */
bool ofl_parse_label_assign(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_LABEL_ASSIGN);
    stmt->as.label_assign.label = ofl_expect_label(p);
    ofl_expect_keyword(p, "to");
    stmt->as.label_assign.variable = ofl_parse_designator(p);
    ofl_append(p, stmt);
    return true;
}

/* R1160 stop-stmt, R1161 error-stop-stmt: [ stop-code ] [ , QUIET = expr ]; R1542 return-stmt; PAUSE of Fortran 77 */
bool ofl_parse_stop(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    if (!ofl_at(p, OFL_TOKEN_END) && !ofl_at(p, OFL_TOKEN_COMMA)) {
        stmt->as.stop.code = ofl_parse_expr(p);
    }
    if (stmt->kind != OFL_STMT_RETURN && ofl_accept(p, OFL_TOKEN_COMMA)) {
        ofl_expect_keyword(p, "quiet =");
        stmt->as.stop.quiet = ofl_parse_expr(p);
    }
    ofl_append(p, stmt);
    return true;
}

/* R1133 cycle-stmt, R1156 exit-stmt */
bool ofl_parse_exit(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    stmt->as.exit.name = ofl_accept_ident(p);
    ofl_append(p, stmt);
    return true;
}

/* R1159 continue-stmt, R1163 fail-image-stmt, R731 sequence-stmt: a statement of one keyword. */
bool ofl_parse_word(struct ofl_parser *p)
{
    ofl_expect_end(p);
    ofl_append(p, ofl_new_stmt(p, (enum ofl_stmt_kind)p->value));
    return true;
}

/* ---- Allocation and image control ------------------------------------------------------------------------------- */

/* Moves the items with one of the keywords that are options (stat=, errmsg=, source=, mold=, ...) behind each other
 * into `controls`; the others stay. */
static void split_options(struct ofl_stmt *stmt, struct ofl_arg *list)
{
    struct ofl_arg **items = &stmt->as.args.items, **controls = &stmt->as.args.controls;
    for (struct ofl_arg *next; list != NULL; list = next) {
        next = list->next;
        list->next = NULL;
        if (list->keyword.name != NULL) {
            *controls = list;
            controls = &list->next;
        } else {
            *items = list;
            items = &list->next;
        }
    }
}

/* R927 allocate-stmt is ALLOCATE ( [ type-spec :: ] allocation-list [, alloc-opt-list ] )
 * R941 deallocate-stmt, R939 nullify-stmt; from behind the parenthesis.  An allocation's shape has the form of
 * arguments. */
bool ofl_parse_allocate(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    if (p->has_double_colon && stmt->kind == OFL_STMT_ALLOCATE) {
        stmt->as.args.type = ofl_accept_allocate_type(p);
    }
    split_options(stmt, ofl_parse_args(p));
    ofl_append(p, stmt);
    return true;
}

/* R1164 sync-all-stmt, R1166 sync-images-stmt, R1168 sync-memory-stmt, R1169 sync-team-stmt, R1170 event-post-stmt,
 * R1172 event-wait-stmt, R1175 form-team-stmt, R1179 lock-stmt, R1181 unlock-stmt */
bool ofl_parse_image_control(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        split_options(stmt, ofl_parse_args(p));
    }
    ofl_append(p, stmt);
    return true;
}
