/* Program units and the stack of what is open: opening, contains, end statements.
 *
 * What must hold: the stack holds the open units and constructs, outermost first; a construct's frame stands above its
 * unit's.  An end statement that does not fit closes what it can, with an error at it and a note at what was open. */
#include "fortran/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The stack -------------------------------------------------------------------------------------------------- */

struct ofl_frame *ofl_top(struct ofl_parser *p)
{
    return p->frame_count > 0 ? &p->frames[p->frame_count - 1] : NULL;
}

struct ofl_frame *ofl_unit_frame(struct ofl_parser *p)
{
    for (unsigned i = p->frame_count; i > 0; i--) {
        if (p->frames[i - 1].stmt == NULL) {
            return &p->frames[i - 1];
        }
    }
    return NULL;
}

bool ofl_in(struct ofl_parser *p, enum ofl_stmt_kind kind)
{
    const struct ofl_frame *top = ofl_top(p);
    return top != NULL && top->stmt != NULL && top->stmt->kind == kind;
}

static void push(struct ofl_parser *p, struct ofl_frame frame)
{
    if (p->frame_count == OFL_MAX_NESTING) {
        ofl_fail_at(p, p->item.span, "constructs and procedures are nested too deeply: more than %d deep",
                    OFL_MAX_NESTING);
    }
    if (p->frame_count == p->frame_capacity) {
        p->frame_capacity = p->frame_capacity == 0 ? 32 : 2 * p->frame_capacity;
        struct ofl_frame *frames = realloc(p->frames, p->frame_capacity * sizeof *frames);
        if (frames == NULL) {
            fputs("gpu-offload: error: out of memory\n", stderr);
            exit(1);
        }
        p->frames = frames;
    }
    p->frames[p->frame_count++] = frame;
}

void ofl_push(struct ofl_parser *p, struct ofl_stmt *stmt, struct ofl_block *block)
{
    if (p->holder != NULL) {
        ofl_fail_at(p, stmt->span, "a construct cannot be the action of an if, where or forall statement");
    }
    struct ofl_frame *unit = ofl_unit_frame(p);
    push(p, (struct ofl_frame){.unit = unit->unit, .stmt = stmt, .block = block});
}

void ofl_push_unit(struct ofl_parser *p, struct ofl_unit *unit)
{
    struct ofl_frame *top = ofl_top(p), *host = ofl_unit_frame(p);
    struct ofl_unit **link = host == NULL ? p->next_unit : top->next_unit;
    unit->span = (struct ofl_span){p->item.where[p->start], p->item.span.end};
    unit->whole = unit->span;
    unit->attrs = unit->attrs != NULL ? unit->attrs : p->prefix_attrs;
    if (host != NULL) {
        unit->parent = host->unit;
        unit->interface_body = top->stmt != NULL && top->stmt->kind == OFL_STMT_INTERFACE;
        if (!unit->interface_body && (top->stmt != NULL || !top->contains)) {
            ofl_diag_error(p->diagnostics, unit->span,
                           "a program unit cannot begin here: an 'end' or a 'contains' statement is missing");
            ofl_diag_note(p->diagnostics, top->stmt != NULL ? top->stmt->span : host->unit->span, "inside of this");
            link = host->next_unit;
        }
    }
    push(p, (struct ofl_frame){.unit = unit, .block = &unit->body, .next_unit = &unit->units});
    p->pending = (struct ofl_block){NULL, NULL};
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = unit;
    if (host == NULL) {
        p->next_unit = &unit->next;
    } else if (p->frame_count >= 2) { /* push may have moved the frames */
        struct ofl_frame *below = &p->frames[p->frame_count - 2];
        if (below->next_unit == link) {
            below->next_unit = &unit->next;
        }
    }
}

void ofl_need_unit(struct ofl_parser *p)
{
    if (p->frame_count > 0) {
        return;
    }
    struct ofl_unit *unit = OFL_NEW(p->arena, struct ofl_unit);
    unit->kind = OFL_UNIT_PROGRAM;
    unit->body = p->pending;
    ofl_push_unit(p, unit);
    unit->span.end = unit->span.begin;
}

/* Pops the frame on top; `end` is the span of the statement that closes it. */
static void pop(struct ofl_parser *p, struct ofl_span end, struct ofl_label label)
{
    struct ofl_frame *top = ofl_top(p);
    if (top->stmt != NULL) {
        top->stmt->end = end;
        top->stmt->end_label = label;
        top->stmt->whole.end = end.end;
    } else {
        top->unit->end = end;
        top->unit->end_label = label;
        top->unit->whole.end = end.end;
    }
    p->frame_count--;
}

void ofl_close_labelled(struct ofl_parser *p, struct ofl_label label, struct ofl_span end)
{
    bool outer = false;
    for (;;) {
        struct ofl_frame *top = ofl_top(p);
        if (top == NULL || top->stmt == NULL || top->stmt->kind != OFL_STMT_DO ||
            top->stmt->as.loop.terminal.value != label.value) {
            return;
        }
        top->stmt->as.loop.shared_terminal = outer;
        outer = true;
        pop(p, end, label);
    }
}

static const char *unit_text(enum ofl_unit_kind kind)
{
    static const char *const texts[] = {"program",    "module",   "submodule",       "block data",
                                        "subroutine", "function", "module procedure"};
    return texts[kind];
}

static const char *frame_text(const struct ofl_frame *frame)
{
    return frame->stmt != NULL ? ofl_stmt_text(frame->stmt->kind) : unit_text(frame->unit->kind);
}

void ofl_close_all(struct ofl_parser *p)
{
    if (p->frame_count == 0) {
        return;
    }
    struct ofl_frame *top = ofl_top(p);
    ofl_pos behind = p->reader.source->base + p->reader.source->length;
    struct ofl_span end = {behind, behind};
    if (top->stmt == NULL && top->unit->name.name == NULL) {
        ofl_diag_error(p->diagnostics, end, "the text ends before an 'end' statement");
    } else {
        ofl_diag_error(p->diagnostics, top->stmt != NULL ? top->stmt->span : top->unit->span,
                       "the text ends before the end of this %s", frame_text(top));
    }
    while (p->frame_count > 0) {
        pop(p, end, (struct ofl_label){0, {0, 0}});
    }
}

/* ---- End statements --------------------------------------------------------------------------------------------- */

static bool closes(const struct ofl_frame *frame, enum ofl_stmt_kind kind)
{
    if (frame->stmt == NULL) {
        return false;
    }
    enum ofl_stmt_kind open = frame->stmt->kind;
    return open == kind ||
           (kind == OFL_STMT_SELECT_CASE && (open == OFL_STMT_SELECT_TYPE || open == OFL_STMT_SELECT_RANK));
}

/* Pops frames until `count` are left; each one that is closed without its own end statement is an error. */
static void close_down_to(struct ofl_parser *p, unsigned count, struct ofl_span end)
{
    if (p->frame_count > count) {
        struct ofl_frame *top = ofl_top(p);
        ofl_diag_error(p->diagnostics, end, "the %s that is open here has not ended", frame_text(top));
        ofl_diag_note(p->diagnostics, top->stmt != NULL ? top->stmt->span : top->unit->span, "it begins here");
    }
    while (p->frame_count > count) {
        pop(p, end, (struct ofl_label){0, {0, 0}});
    }
}

/* What may stand behind the keywords of an end statement: a name, for interfaces a generic-spec, for teams a list. */
static void end_name(struct ofl_parser *p, enum ofl_stmt_kind kind)
{
    if (ofl_at(p, OFL_TOKEN_END)) {
        return;
    }
    if (kind == OFL_STMT_INTERFACE) {
        ofl_parse_generic_spec(p);
    } else if (ofl_accept(p, OFL_TOKEN_LPAREN)) {
        ofl_parse_args(p);
        ofl_accept_ident(p);
    } else {
        ofl_expect_ident(p, "a construct's name");
    }
    ofl_expect_end(p);
}

/* R1138 end-if-stmt, R1131 end-do-stmt, R1144 end-select-stmt, R1048 end-where-stmt, R1054 end-forall-stmt, R1109
 * end-block-stmt, R1106 end-associate-stmt, R1118 end-critical-stmt, R1113 end-change-team-stmt, R730 end-type-stmt,
 * R763 end-enum-stmt, R1504 end-interface-stmt */
bool ofl_parse_end_construct(struct ofl_parser *p)
{
    enum ofl_stmt_kind kind = (enum ofl_stmt_kind)p->value;
    end_name(p, kind);
    struct ofl_span end = ofl_since(p, p->keyword);
    unsigned at = p->frame_count;
    while (at > 0 && p->frames[at - 1].stmt != NULL && !closes(&p->frames[at - 1], kind)) {
        at--;
    }
    if (at == 0 || p->frames[at - 1].stmt == NULL) {
        ofl_fail_at(p, end, "there is no %s to end here",
                    kind == OFL_STMT_SELECT_CASE ? "select" : ofl_stmt_text(kind));
    }
    close_down_to(p, at, end);
    pop(p, end, p->item.label);
    return true;
}

/* R1404 end-program-stmt, R1406 end-module-stmt, R1419 end-submodule-stmt, R1422 end-block-data-stmt, R1537
 * end-subroutine-stmt, R1533 end-function-stmt, R1540 end-mp-subprogram-stmt: END [ kind [ name ] ] */
bool ofl_parse_end_unit(struct ofl_parser *p)
{
    int kind = p->value;
    if (kind < 0 && !ofl_at(p, OFL_TOKEN_END)) {
        return false;
    }
    ofl_accept_ident(p);
    ofl_expect_end(p);
    struct ofl_span end = ofl_since(p, p->keyword);
    if (p->frame_count == 0) {
        if (kind >= 0 && kind != OFL_UNIT_PROGRAM) {
            ofl_fail_at(p, end, "there is no %s to end here", unit_text((enum ofl_unit_kind)kind));
        }
        ofl_need_unit(p);
    }
    unsigned nearest = 0, match = 0; /* number of frames with the unit on top */
    for (unsigned i = p->frame_count; i > 0; i--) {
        const struct ofl_frame *frame = &p->frames[i - 1];
        if (frame->stmt == NULL) {
            nearest = nearest == 0 ? i : nearest;
            match = match == 0 && (kind < 0 || (int)frame->unit->kind == kind) ? i : match;
        }
    }
    if (match == 0) {
        ofl_diag_error(p->diagnostics, end, "expected the end of a %s", unit_text(p->frames[nearest - 1].unit->kind));
        ofl_diag_note(p->diagnostics, p->frames[nearest - 1].unit->span, "it begins here");
        match = nearest;
    }
    close_down_to(p, match, end);
    pop(p, end, p->item.label);
    return true;
}

/* R1543 contains-stmt, also in a type definition (R746). */
bool ofl_parse_contains(struct ofl_parser *p)
{
    ofl_expect_end(p);
    ofl_need_unit(p);
    struct ofl_frame *top = ofl_top(p);
    if (ofl_in(p, OFL_STMT_DERIVED_TYPE)) {
        top->stmt->as.type_def.contains = ofl_since(p, p->keyword);
        top->block = &top->stmt->as.type_def.bindings;
    } else {
        unsigned count = p->frame_count;
        while (p->frames[count - 1].stmt != NULL) {
            count--;
        }
        close_down_to(p, count, ofl_since(p, p->keyword));
        top = ofl_top(p);
        top->unit->contains = ofl_since(p, p->keyword);
    }
    top->contains = true;
    return true;
}

/* ---- Opening statements ----------------------------------------------------------------------------------------- */

static struct ofl_unit *new_unit(struct ofl_parser *p, enum ofl_unit_kind kind)
{
    struct ofl_unit *unit = OFL_NEW(p->arena, struct ofl_unit);
    unit->kind = kind;
    return unit;
}

/* R1402 program-stmt */
bool ofl_parse_program(struct ofl_parser *p)
{
    struct ofl_unit *unit = new_unit(p, OFL_UNIT_PROGRAM);
    unit->name = ofl_expect_ident(p, "the program's name");
    if (ofl_accept(p, OFL_TOKEN_LPAREN)) { /* PROGRAM main(input, output): CDC */
        ofl_parse_args(p);
    }
    ofl_expect_end(p);
    ofl_push_unit(p, unit);
    return true;
}

/* R1405 module-stmt */
bool ofl_parse_module(struct ofl_parser *p)
{
    struct ofl_unit *unit = new_unit(p, OFL_UNIT_MODULE);
    unit->name = ofl_expect_ident(p, "the module's name");
    ofl_expect_end(p);
    ofl_push_unit(p, unit);
    return true;
}

/* R1417 submodule-stmt is SUBMODULE ( ancestor [ : parent ] ) name */
bool ofl_parse_submodule(struct ofl_parser *p)
{
    struct ofl_unit *unit = new_unit(p, OFL_UNIT_SUBMODULE);
    unit->ancestor = ofl_expect_ident(p, "the ancestor module's name");
    if (ofl_accept(p, OFL_TOKEN_COLON)) {
        unit->parent_submodule = ofl_expect_ident(p, "the parent submodule's name");
    }
    ofl_expect(p, OFL_TOKEN_RPAREN);
    unit->name = ofl_expect_ident(p, "the submodule's name");
    ofl_expect_end(p);
    ofl_push_unit(p, unit);
    return true;
}

/* R1421 block-data-stmt */
bool ofl_parse_block_data(struct ofl_parser *p)
{
    struct ofl_unit *unit = new_unit(p, OFL_UNIT_BLOCK_DATA);
    unit->name = ofl_accept_ident(p);
    ofl_expect_end(p);
    ofl_push_unit(p, unit);
    return true;
}

/* R1536 dummy-arg-list in parentheses, if it is there; a dummy is a name or *. */
static struct ofl_ident_list *dummies(struct ofl_parser *p)
{
    struct ofl_ident_list *first = NULL, **link = &first;
    if (!ofl_accept(p, OFL_TOKEN_LPAREN) || ofl_accept(p, OFL_TOKEN_RPAREN)) {
        return NULL;
    }
    do {
        struct ofl_ident_list *item = OFL_NEW(p->arena, struct ofl_ident_list);
        if (ofl_at(p, OFL_TOKEN_STAR)) {
            item->ident = (struct ofl_ident){ofl_name_of(p->arena, "*", 1), ofl_token_span(p)};
            ofl_next(p);
        } else {
            item->ident = ofl_expect_ident(p, "a dummy argument");
        }
        *link = item;
        link = &item->next;
    } while (ofl_accept(p, OFL_TOKEN_COMMA));
    ofl_expect(p, OFL_TOKEN_RPAREN);
    return first;
}

/* R1532 suffix is proc-language-binding-spec [ RESULT ( name ) ] or RESULT ( name ) [ proc-language-binding-spec ] */
static struct ofl_attr *suffix(struct ofl_parser *p, struct ofl_ident *result)
{
    struct ofl_attr *bind = NULL;
    for (;;) {
        if (result != NULL && ofl_keyword(p, "result (")) {
            *result = ofl_expect_ident(p, "the result's name");
            ofl_expect(p, OFL_TOKEN_RPAREN);
        } else if (ofl_keyword(p, "bind")) {
            bind = ofl_parse_bind(p);
        } else {
            ofl_expect_end(p);
            return bind;
        }
    }
}

static bool procedure(struct ofl_parser *p, struct ofl_unit *unit)
{
    unit->name = ofl_expect_ident(p, "the procedure's name");
    unit->type = p->prefix_type;
    unit->args = dummies(p);
    struct ofl_attr *bind = suffix(p, &unit->result);
    struct ofl_attr **link = &p->prefix_attrs;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = bind;
    unit->attrs = p->prefix_attrs;
    ofl_push_unit(p, unit);
    return true;
}

/* R1535 subroutine-stmt is [ prefix ] SUBROUTINE name [ ( [ dummy-arg-list ] ) [ binding ] ] */
bool ofl_parse_subroutine(struct ofl_parser *p)
{
    return procedure(p, new_unit(p, OFL_UNIT_SUBROUTINE));
}

/* R1530 function-stmt is [ prefix ] FUNCTION name ( [ dummy-arg-name-list ] ) [ suffix ] */
bool ofl_parse_function(struct ofl_parser *p)
{
    return procedure(p, new_unit(p, OFL_UNIT_FUNCTION));
}

/* R1541 entry-stmt is ENTRY name [ ( [ dummy-arg-list ] ) [ suffix ] ] */
bool ofl_parse_entry(struct ofl_parser *p)
{
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_ENTRY);
    stmt->as.entry.name = ofl_expect_ident(p, "the entry's name");
    stmt->as.entry.args = dummies(p);
    stmt->as.entry.bind = suffix(p, &stmt->as.entry.result);
    ofl_append(p, stmt);
    return true;
}
