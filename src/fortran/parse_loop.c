/* Loops: do in all its forms, do concurrent with its localities, forall. */
#include "fortran/parser.h"

/* ---- Concurrent header ------------------------------------------------------------------------------------------ */

/* R1126 concurrent-control is index-name = concurrent-limit : concurrent-limit [ : concurrent-step ] */
static struct ofl_index *index_control(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_index *index = OFL_NEW(p->arena, struct ofl_index);
    index->ident = ofl_expect_ident(p, "an index");
    ofl_expect(p, OFL_TOKEN_EQUALS);
    index->lower = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_COLON);
    index->upper = ofl_parse_expr(p);
    if (ofl_accept(p, OFL_TOKEN_COLON)) {
        index->step = ofl_parse_expr(p);
    }
    index->span = ofl_since(p, begin);
    return index;
}

/* R1125 concurrent-header is ( [ integer-type-spec :: ] concurrent-control-list [, scalar-mask-expr ] ) */
static void concurrent_header(struct ofl_parser *p, struct ofl_loop *loop)
{
    uint32_t begin = p->token.begin;
    struct ofl_index **link = &loop->indices;
    loop->form = OFL_LOOP_CONCURRENT;
    ofl_expect(p, OFL_TOKEN_LPAREN);
    if (p->has_double_colon) {
        loop->index_type = ofl_accept_allocate_type(p);
    }
    do {
        if (loop->indices != NULL && !(ofl_at(p, OFL_TOKEN_NAME) && ofl_peek(p).kind == OFL_TOKEN_EQUALS)) {
            loop->condition = ofl_parse_expr(p);
            break;
        }
        *link = index_control(p);
        link = &(*link)->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
    loop->header = ofl_since(p, begin);
}

/* R1132 (Fortran 2023) reduce-operation is binary-reduce-op or function-reduction-name; then a colon. */
static void reduce_operation(struct ofl_parser *p, struct ofl_locality *locality)
{
    static const char *const names[] = {"max", "min", "iand", "ior", "ieor"};
    unsigned precedence;
    if (ofl_at(p, OFL_TOKEN_NAME)) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            uint32_t end = ofl_lex_keyword(&p->item, p->token.begin, names[i]);
            if (end == p->token.end) {
                locality->reduce_by_name = true;
                locality->reduce_name = ofl_accept_ident(p).name;
                return;
            }
        }
    } else if (ofl_at_operator(p, &locality->reduce_op, &precedence)) {
        switch (locality->reduce_op) {
        case OFL_OPERATOR_ADD:
        case OFL_OPERATOR_MUL:
        case OFL_OPERATOR_AND:
        case OFL_OPERATOR_OR:
        case OFL_OPERATOR_EQV:
        case OFL_OPERATOR_NEQV:
            ofl_next(p);
            return;
        default:
            break;
        }
    }
    ofl_fail_expected(p, "+, *, .and., .or., .eqv., .neqv., max, min, iand, ior or ieor");
}

/* R1130 locality-spec is LOCAL ( names ) or LOCAL_INIT ( names ) or SHARED ( names ) or DEFAULT ( NONE )
 * or (Fortran 2023) REDUCE ( reduce-operation : names ) */
static struct ofl_locality *locality_spec(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    struct ofl_locality *locality = OFL_NEW(p->arena, struct ofl_locality);
    if (ofl_keyword(p, "default ( none )")) {
        locality->kind = OFL_LOCALITY_DEFAULT_NONE;
        locality->span = ofl_since(p, begin);
        return locality;
    }
    if (ofl_keyword(p, "local_init (")) {
        locality->kind = OFL_LOCALITY_LOCAL_INIT;
    } else if (ofl_keyword(p, "local (")) {
        locality->kind = OFL_LOCALITY_LOCAL;
    } else if (ofl_keyword(p, "shared (")) {
        locality->kind = OFL_LOCALITY_SHARED;
    } else if (ofl_keyword(p, "reduce (")) {
        locality->kind = OFL_LOCALITY_REDUCE;
        reduce_operation(p, locality);
        ofl_expect(p, OFL_TOKEN_COLON);
    } else {
        ofl_fail_expected(p, "local, local_init, shared, default(none) or reduce");
    }
    locality->names = ofl_parse_ident_list(p, "a variable's name");
    ofl_expect(p, OFL_TOKEN_RPAREN);
    locality->span = ofl_since(p, begin);
    return locality;
}

/* ---- DO --------------------------------------------------------------------------------------------------------- */

/* do-variable = first, last [, step] */
static void counted(struct ofl_parser *p, struct ofl_loop *loop)
{
    loop->form = OFL_LOOP_COUNT;
    loop->variable = ofl_parse_designator(p);
    ofl_expect(p, OFL_TOKEN_EQUALS);
    loop->first = ofl_parse_expr(p);
    ofl_expect(p, OFL_TOKEN_COMMA);
    loop->last = ofl_parse_expr(p);
    if (ofl_accept(p, OFL_TOKEN_COMMA)) {
        loop->step = ofl_parse_expr(p);
    }
}

/* R1123 loop-control is [ , ] do-variable = expr, expr [, expr] or [ , ] WHILE ( expr )
 * or [ , ] CONCURRENT concurrent-header concurrent-locality */
static void loop_control(struct ofl_parser *p, struct ofl_loop *loop)
{
    ofl_accept(p, OFL_TOKEN_COMMA);
    if (ofl_at_keyword(p, "concurrent (")) {
        ofl_keyword(p, "concurrent");
        concurrent_header(p, loop);
        struct ofl_locality **link = &loop->localities;
        while (!ofl_at(p, OFL_TOKEN_END)) {
            *link = locality_spec(p);
            link = &(*link)->next;
        }
    } else if (ofl_keyword(p, "while (")) {
        loop->form = OFL_LOOP_WHILE;
        loop->condition = ofl_parse_expr(p);
        ofl_expect(p, OFL_TOKEN_RPAREN);
    } else {
        counted(p, loop);
    }
}

/* R1121 label-do-stmt is DO label [ loop-control ]; R1122 nonlabel-do-stmt is DO [ loop-control ] */
bool ofl_parse_do(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_DO);
    ofl_accept_label(p, &stmt->as.loop.terminal);
    if (!ofl_at(p, OFL_TOKEN_END)) {
        loop_control(p, &stmt->as.loop);
    }
    ofl_expect_end(p);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.loop.body);
    return true;
}

/* ---- FORALL ----------------------------------------------------------------------------------------------------- */

/* R1050 forall-construct-stmt is FORALL concurrent-header; R1055 forall-stmt is FORALL concurrent-header assignment */
bool ofl_parse_forall(struct ofl_parser *p)
{
    struct ofl_stmt *outer = p->holder, *stmt = ofl_new_stmt(p, OFL_STMT_FORALL);
    concurrent_header(p, &stmt->as.loop);
    ofl_append(p, stmt);
    if (ofl_at(p, OFL_TOKEN_END)) {
        ofl_push(p, stmt, &stmt->as.loop.body);
        return true;
    }
    stmt->kind = OFL_STMT_FORALL_STMT;
    p->holder = stmt;
    ofl_parse_action(p);
    p->holder = outer;
    return true;
}
