/* Executable constructs: if, select, where, block, associate, critical, change team.  Loops are in parse_loop.c.
 *
 * An opening statement appends the construct and pushes a frame; a middle statement (else, case) starts another arm in
 * the frame on top; the end statement pops it (parse_unit.c). */
#include "fortran/parser.h"

/* Starts an arm of the construct on top of the stack. */
static struct ofl_arm *new_arm(struct ofl_parser *p, enum ofl_guard_kind kind)
{
    struct ofl_frame *top = ofl_top(p);
    struct ofl_arm *arm = OFL_NEW(p->arena, struct ofl_arm);
    arm->kind = kind;
    arm->label = p->item.label;
    arm->guard = ofl_since(p, p->keyword);
    if (top->arm == NULL) {
        top->stmt->as.arms.arms = arm;
    } else {
        top->arm->next = arm;
    }
    top->arm = arm;
    top->block = &arm->body;
    return arm;
}

/* Opens a construct whose first arm is its opening statement. */
static struct ofl_arm *open_arms(struct ofl_parser *p, enum ofl_stmt_kind kind, struct ofl_expr *condition)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, kind);
    ofl_append(p, stmt);
    ofl_push(p, stmt, NULL);
    struct ofl_arm *arm = new_arm(p, OFL_GUARD_CONDITION);
    arm->condition = condition;
    return arm;
}

void ofl_open_if(struct ofl_parser *p, struct ofl_expr *condition)
{
    open_arms(p, OFL_STMT_IF, condition);
}

static void need_construct(struct ofl_parser *p, enum ofl_stmt_kind kind, const char *what)
{
    if (!ofl_in(p, kind)) {
        ofl_fail_at(p, ofl_since(p, p->keyword), "'%s' stands outside of a construct that it can belong to", what);
    }
}

/* The construct name that may end a middle statement. */
static void end_guard(struct ofl_parser *p, struct ofl_arm *arm)
{
    ofl_accept_ident(p);
    ofl_expect_end(p);
    arm->guard = ofl_since(p, p->keyword);
}

/* Parses the action of a logical if, where or forall statement into `stmt`. */
static void action_of(struct ofl_parser *p, struct ofl_stmt *stmt)
{
    struct ofl_stmt *outer = p->holder;
    p->holder = stmt;
    ofl_parse_action(p);
    p->holder = outer;
}

/* ---- IF --------------------------------------------------------------------------------------------------------- */

/* R1135 if-then-stmt is IF ( expr ) THEN; R1139 if-stmt is IF ( expr ) action-stmt;
 * IF ( expr ) label, label, label of Fortran 77 */
bool ofl_parse_if(struct ofl_parser *p)
{
    struct ofl_expr *condition = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    uint32_t then = ofl_lex_keyword(&p->item, p->token.begin, "then");
    if (then != 0 && ofl_lex(&p->item, then).kind == OFL_TOKEN_END && p->holder == NULL) {
        ofl_goto(p, then);
        ofl_open_if(p, condition);
        return true;
    }
    if (ofl_at(p, OFL_TOKEN_INTEGER) || ofl_is_digit(ofl_char(p, p->token.begin))) {
        struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_ARITHMETIC_IF);
        stmt->as.jump.selector = condition;
        stmt->as.jump.labels = ofl_parse_labels(p);
        ofl_append(p, stmt);
        return true;
    }
    if (p->holder != NULL) {
        ofl_fail_at(p, ofl_since(p, p->keyword), "an if statement cannot be the action of another statement");
    }
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_IF_STMT);
    stmt->as.guarded.condition = condition;
    ofl_append(p, stmt);
    action_of(p, stmt);
    return true;
}

/* R1136 else-if-stmt is ELSE IF ( expr ) THEN [ name ] */
bool ofl_parse_else_if(struct ofl_parser *p)
{
    struct ofl_expr *condition = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    ofl_expect_keyword(p, "then");
    need_construct(p, OFL_STMT_IF, "else if");
    struct ofl_arm *arm = new_arm(p, OFL_GUARD_CONDITION);
    arm->condition = condition;
    end_guard(p, arm);
    return true;
}

/* R1137 else-stmt is ELSE [ name ] */
bool ofl_parse_else(struct ofl_parser *p)
{
    need_construct(p, OFL_STMT_IF, "else");
    end_guard(p, new_arm(p, OFL_GUARD_ELSE));
    return true;
}

/* ---- SELECT ----------------------------------------------------------------------------------------------------- */

/* R1141 select-case-stmt, R1153 select-type-stmt, R1149 select-rank-stmt: [ name => ] selector ) */
bool ofl_parse_select(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, (enum ofl_stmt_kind)p->value);
    if (ofl_at(p, OFL_TOKEN_NAME) && ofl_peek(p).kind == OFL_TOKEN_ARROW) {
        stmt->as.arms.selector.name = ofl_accept_ident(p);
        ofl_next(p);
    }
    stmt->as.arms.selector.selector = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    ofl_append(p, stmt);
    ofl_push(p, stmt, NULL);
    return true;
}

/* R1145 case-value-range, R1143 case-selector: like subscripts */
bool ofl_parse_case(struct ofl_parser *p)
{
    struct ofl_arg *values = ofl_parse_args(p);
    need_construct(p, OFL_STMT_SELECT_CASE, "case");
    struct ofl_arm *arm = new_arm(p, OFL_GUARD_CASE);
    arm->values = values;
    end_guard(p, arm);
    return true;
}

/* CASE DEFAULT, CLASS DEFAULT, RANK DEFAULT */
bool ofl_parse_default(struct ofl_parser *p)
{
    need_construct(p, (enum ofl_stmt_kind)p->value, "default");
    end_guard(p, new_arm(p, OFL_GUARD_ELSE));
    return true;
}

/* R1154 type-guard-stmt is TYPE IS ( type-spec ) [ name ] or CLASS IS ( derived-type-spec ) [ name ] */
bool ofl_parse_type_guard(struct ofl_parser *p)
{
    enum ofl_guard_kind kind = (enum ofl_guard_kind)p->value;
    if (!ofl_in(p, OFL_STMT_SELECT_TYPE)) {
        return false;
    }
    struct ofl_type_spec *type = ofl_parse_guard_type(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    struct ofl_arm *arm = new_arm(p, kind);
    arm->type = type;
    end_guard(p, arm);
    return true;
}

/* R1150 select-rank-case-stmt is RANK ( expr ) or RANK ( * ) */
bool ofl_parse_rank(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_expr *rank =
        ofl_accept(p, OFL_TOKEN_STAR) ? ofl_new_expr(p, OFL_EXPR_STAR, ofl_since(p, begin)) : ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    need_construct(p, OFL_STMT_SELECT_RANK, "rank");
    struct ofl_arm *arm = new_arm(p, OFL_GUARD_RANK);
    arm->condition = rank;
    end_guard(p, arm);
    return true;
}

/* ---- WHERE ------------------------------------------------------------------------------------------------------ */

/* R1043 where-construct-stmt is WHERE ( mask ); R1041 where-stmt is WHERE ( mask ) assignment */
bool ofl_parse_where(struct ofl_parser *p)
{
    struct ofl_expr *mask = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_RPAREN);
    if (ofl_at(p, OFL_TOKEN_END)) {
        open_arms(p, OFL_STMT_WHERE, mask);
        return true;
    }
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_WHERE_STMT);
    stmt->as.guarded.condition = mask;
    ofl_append(p, stmt);
    action_of(p, stmt);
    return true;
}

/* R1046 masked-elsewhere-stmt is ELSEWHERE ( mask ) [ name ]; R1047 elsewhere-stmt */
bool ofl_parse_elsewhere(struct ofl_parser *p)
{
    struct ofl_expr *mask = NULL;
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        mask = ofl_parse_expr(p);
        ofl_expect(p, OFL_TOKEN_RPAREN);
    }
    if (mask == NULL && ofl_in(p, OFL_STMT_IF)) { /* an if construct named "where" */
        return false;
    }
    need_construct(p, OFL_STMT_WHERE, "elsewhere");
    struct ofl_arm *arm = new_arm(p, mask != NULL ? OFL_GUARD_CONDITION : OFL_GUARD_ELSE);
    arm->condition = mask;
    end_guard(p, arm);
    return true;
}

/* ---- BLOCK, ASSOCIATE, CRITICAL, CHANGE TEAM -------------------------------------------------------------------- */

/* R1108 block-stmt is BLOCK */
bool ofl_parse_block(struct ofl_parser *p)
{
    ofl_expect_end(p);
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_BLOCK);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.block.body);
    return true;
}

/* R1104 association is associate-name => selector */
static struct ofl_association *association(struct ofl_parser *p)
{
    struct ofl_association *item = OFL_NEW(p->arena, struct ofl_association);
    item->name = ofl_expect_ident(p, "an associate name");
    if (ofl_accept(p, OFL_TOKEN_LBRACKET)) {
        item->cobounds = ofl_parse_bounds(p, OFL_TOKEN_RBRACKET);
    }
    ofl_expect(p, OFL_TOKEN_ARROW);
    item->selector = ofl_parse_expr(p);
    return item;
}

/* R1103 associate-stmt is ASSOCIATE ( association-list ) */
bool ofl_parse_associate(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_ASSOCIATE);
    struct ofl_association **link = &stmt->as.block.associations;
    do {
        *link = association(p);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.block.body);
    return true;
}

/* R1117 critical-stmt is CRITICAL [ ( [ sync-stat-list ] ) ] */
bool ofl_parse_critical(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_CRITICAL);
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        stmt->as.block.controls = ofl_parse_args(p);
    }
    ofl_expect_end(p);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.block.body);
    return true;
}

/* R1112 change-team-stmt is CHANGE TEAM ( team-value [, coarray-association-list ] [, sync-stat-list ] ) */
bool ofl_parse_change_team(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_CHANGE_TEAM);
    struct ofl_association **association_link = &stmt->as.block.associations;
    struct ofl_arg **link = &stmt->as.block.controls;
    stmt->as.block.team = ofl_parse_expr(p);
    while (ofl_accept(p, OFL_TOKEN_COMMA)) {
        uint32_t begin = p->token.begin;
        struct ofl_ident keyword = ofl_accept_arg_keyword(p);
        if (keyword.name != NULL) {
            struct ofl_expr *value = ofl_parse_expr(p);
            *link = ofl_new_arg(p, keyword, value, begin);
            link = &(*link)->next;
        } else {
            *association_link = association(p);
            association_link = &(*association_link)->next;
        }
    }
    ofl_expect(p, OFL_TOKEN_RPAREN);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.block.body);
    return true;
}
