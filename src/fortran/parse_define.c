/* Definitions: derived types with their components and bindings, DEC structures, enumerations, interfaces, procedure
 * declarations.
 *
 * Each opening statement pushes a frame; the statements inside come through the dispatcher like all others. */
#include "fortran/parser.h"

/* R727 derived-type-stmt is TYPE [ [ , type-attr-spec-list ] :: ] type-name [ ( type-param-name-list ) ]
 * Declarations with TYPE( have been recognised before; TYPE fmt, items is DEC's output statement. */
bool ofl_parse_derived_type(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    if (p->dec && ofl_unit_frame(p) != NULL && ofl_unit_frame(p)->executable) {
        return false; /* TYPE name prints a namelist */
    }
    bool plain = ofl_at(p, OFL_TOKEN_NAME) && ofl_peek(p).kind != OFL_TOKEN_COMMA;
    if (!plain && !ofl_at(p, OFL_TOKEN_DOUBLE_COLON) &&
        !(ofl_at(p, OFL_TOKEN_COMMA) && p->outline.double_colon != p->item.length)) {
        return false;
    }
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_DERIVED_TYPE);
    stmt->as.type_def.attrs = ofl_parse_attrs(p);
    if (stmt->as.type_def.attrs != NULL || begin != p->token.begin) {
        ofl_expect(p, OFL_TOKEN_DOUBLE_COLON);
    } else {
        ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
    }
    stmt->as.type_def.name = ofl_expect_ident(p, "a type's name");
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        stmt->as.type_def.parameters = ofl_parse_ident_list(p, "a type parameter's name");
        ofl_expect(p, OFL_TOKEN_RPAREN);
    }
    ofl_expect_end(p);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.type_def.components);
    return true;
}

/* DEC: STRUCTURE [/name/] [fields] */
bool ofl_parse_structure(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_STRUCTURE);
    p->dec = true; /* its fields are referred to with dots */
    if (ofl_accept(p, OFL_TOKEN_SLASH)) {
        stmt->as.type_def.name = ofl_expect_ident(p, "a structure's name");
        ofl_expect(p, OFL_TOKEN_SLASH);
    }
    if (!ofl_at(p, OFL_TOKEN_END)) {
        stmt->as.type_def.entities = ofl_parse_entities(p, false);
    }
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.type_def.components);
    return true;
}

/* DEC: UNION, holding maps */
bool ofl_parse_union(struct ofl_parser *p)
{
    ofl_expect_end(p);
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_UNION);
    ofl_append(p, stmt);
    ofl_push(p, stmt, NULL);
    return true;
}

/* DEC: MAP */
bool ofl_parse_map(struct ofl_parser *p)
{
    struct ofl_frame *top = ofl_top(p);
    ofl_expect_end(p);
    if (!ofl_in(p, OFL_STMT_UNION)) {
        ofl_fail_at(p, ofl_since(p, p->keyword), "'map' stands outside of a union");
    }
    struct ofl_arm *arm = OFL_NEW(p->arena, struct ofl_arm);
    arm->kind = OFL_GUARD_MAP;
    arm->guard = ofl_since(p, p->keyword);
    if (top->arm == NULL) {
        top->stmt->as.arms.arms = arm;
    } else {
        top->arm->next = arm;
    }
    top->arm = arm;
    top->block = &arm->body;
    return true;
}

bool ofl_parse_end_map(struct ofl_parser *p)
{
    ofl_expect_end(p);
    if (!ofl_in(p, OFL_STMT_UNION) || ofl_top(p)->block == NULL) {
        ofl_fail_at(p, ofl_since(p, p->keyword), "there is no map to end here");
    }
    ofl_top(p)->block = NULL;
    return true;
}

/* R760 enum-def-stmt is ENUM, BIND(C) */
bool ofl_parse_enum(struct ofl_parser *p)
{
    ofl_expect_keyword(p, "c )");
    ofl_expect_end(p);
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_ENUM);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.enumeration.enumerators);
    return true;
}

/* R761 enumerator-def-stmt is ENUMERATOR [ :: ] enumerator-list */
bool ofl_parse_enumerator(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_ENUMERATOR);
    ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
    stmt->as.decl.entities = ofl_parse_entities(p, false);
    ofl_append(p, stmt);
    return true;
}

/* R1503 interface-stmt is INTERFACE [ generic-spec ] or ABSTRACT INTERFACE */
bool ofl_parse_interface(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_INTERFACE);
    stmt->as.interface.abstract = p->value != 0;
    if (!ofl_at(p, OFL_TOKEN_END)) {
        stmt->as.interface.generic = ofl_parse_generic_spec(p);
    }
    ofl_expect_end(p);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.interface.names);
    ofl_top(p)->next_unit = &stmt->as.interface.bodies;
    return true;
}

/* R1506 procedure-stmt is [ MODULE ] PROCEDURE [ :: ] specific-procedure-list */
static bool procedure_names(struct ofl_parser *p, bool module)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_MODULE_PROCEDURE_NAMES);
    stmt->as.interface_names.module = module;
    ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
    stmt->as.interface_names.names = ofl_parse_ident_list(p, "a procedure's name");
    ofl_append(p, stmt);
    return true;
}

/* R1506 in an interface block; R1538 mp-subprogram-stmt is MODULE PROCEDURE procedure-name elsewhere. */
bool ofl_parse_module_procedure(struct ofl_parser *p)
{
    if (ofl_in(p, OFL_STMT_INTERFACE)) {
        return procedure_names(p, true);
    }
    struct ofl_unit *unit = OFL_NEW(p->arena, struct ofl_unit);
    unit->kind = OFL_UNIT_MODULE_PROCEDURE;
    unit->name = ofl_expect_ident(p, "a procedure's name");
    ofl_expect_end(p);
    ofl_push_unit(p, unit);
    return true;
}

/* R749 type-bound-procedure-stmt: the names behind ::, each with the procedure it is bound to. */
static void bindings(struct ofl_parser *p, struct ofl_stmt *stmt)
{
    struct ofl_entity **link = &stmt->as.procedure.entities;
    do {
        uint32_t begin = p->token.begin;
        struct ofl_entity *item = OFL_NEW(p->arena, struct ofl_entity);
        item->ident = ofl_expect_ident(p, "a binding's name");
        if (ofl_accept(p, OFL_TOKEN_ARROW)) {
            item->value = ofl_name_expr(p, ofl_expect_ident(p, "a procedure's name"));
            item->pointer_value = true;
        }
        item->span = ofl_since(p, begin);
        *link = item;
        link = &item->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
}

static bool behind_contains(struct ofl_parser *p)
{
    return ofl_in(p, OFL_STMT_DERIVED_TYPE) && ofl_top(p)->contains;
}

/* R1512 procedure-declaration-stmt, R741 proc-component-def-stmt:
 * PROCEDURE ( [ proc-interface ] ) [ [ , attr ]... :: ] proc-decl-list;
 * R749 type-bound-procedure-stmt; R1506 procedure-stmt */
bool ofl_parse_procedure(struct ofl_parser *p)
{
    if (ofl_in(p, OFL_STMT_INTERFACE)) {
        return procedure_names(p, false);
    }
    bool bound = behind_contains(p);
    struct ofl_stmt *stmt = ofl_new_stmt(p, bound ? OFL_STMT_TYPE_BOUND_PROCEDURE : OFL_STMT_PROCEDURE_DECL);
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        if (ofl_at(p, OFL_TOKEN_NAME) && ofl_peek(p).kind == OFL_TOKEN_RPAREN && !ofl_at_intrinsic_type(p)) {
            stmt->as.procedure.interface = ofl_accept_ident(p);
        } else if (!ofl_at(p, OFL_TOKEN_RPAREN)) {
            stmt->as.procedure.type = ofl_accept_type_spec(p);
            if (stmt->as.procedure.type == NULL) {
                ofl_fail_expected(p, "an interface's name or a type");
            }
        }
        ofl_expect(p, OFL_TOKEN_RPAREN);
    } else if (!bound) {
        ofl_fail_expected(p, "'('");
    }
    stmt->as.procedure.attrs = ofl_parse_attrs(p);
    ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
    if (bound) {
        bindings(p, stmt);
    } else {
        stmt->as.procedure.entities = ofl_parse_entities(p, false);
    }
    ofl_append(p, stmt);
    return true;
}

/* R751 type-bound-generic-stmt, R1510 generic-stmt: GENERIC [ , access-spec ] :: generic-spec => name-list */
bool ofl_parse_generic(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, behind_contains(p) ? OFL_STMT_TYPE_BOUND_GENERIC : OFL_STMT_GENERIC);
    stmt->as.generic.attrs = ofl_parse_attrs(p);
    ofl_expect(p, OFL_TOKEN_DOUBLE_COLON);
    stmt->as.generic.generic = ofl_parse_generic_spec(p);
    ofl_expect(p, OFL_TOKEN_ARROW);
    stmt->as.generic.names = ofl_parse_ident_list(p, "a procedure's name");
    ofl_append(p, stmt);
    return true;
}

/* R753 final-procedure-stmt is FINAL [ :: ] final-subroutine-name-list */
bool ofl_parse_final(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_FINAL);
    ofl_accept(p, OFL_TOKEN_DOUBLE_COLON);
    stmt->as.generic.names = ofl_parse_ident_list(p, "a subroutine's name");
    ofl_append(p, stmt);
    return true;
}
