/* What the parser's files share; private to them.
 *
 * A statement is parsed by recursive descent over tokens that are lexed on demand.  A function that finds something it
 * cannot accept calls ofl_fail, which reports and leaves the statement (longjmp to the one setjmp in
 * parse_statement.c): no function returns an error.  What has been built lies in the arena and is simply not used.
 *
 * The rule a function parses stands above it with its number in Fortran 2018 (J3/18-007r1). */
#ifndef OFL_FORTRAN_PARSER_H
#define OFL_FORTRAN_PARSER_H

#include "fortran/lexer.h"
#include "fortran/parse.h"
#include "fortran/statement.h"

#include <setjmp.h>

enum {
    OFL_MAX_RECURSION = 2 * OFL_MAX_PARENS /* of expressions: an operand and its brackets count one each */
};

/* A unit or construct that is open. */
struct ofl_frame {
    struct ofl_unit *unit;       /* the unit, or the innermost one around a construct */
    struct ofl_stmt *stmt;       /* the construct; NULL: the frame is the unit's */
    struct ofl_block *block;     /* where its next statement goes */
    struct ofl_arm *arm;         /* the last arm of if, select, where, union */
    struct ofl_unit **next_unit; /* where the next procedure is linked: units after contains, interface bodies */
    bool contains;               /* behind the contains statement */
    bool executable;             /* an executable statement has been seen in this unit */
};

struct ofl_parser {
    struct ofl_arena *arena;
    struct ofl_sources *sources;
    struct ofl_diagnostics *diagnostics;
    const struct ofl_parse_options *options;
    struct ofl_reader reader;
    struct ofl_file *file;

    /* The statement at hand. */
    struct ofl_item item;
    struct ofl_token token;        /* the current one, not yet taken */
    uint32_t behind;               /* end of the last one that was taken */
    struct ofl_outline outline;    /* from behind the construct name */
    struct ofl_ident construct;    /* its construct name */
    uint32_t start;                /* where the statement begins, construct name included */
    uint32_t keyword;              /* where its keyword begins */
    uint32_t first_keyword;        /* and, of a statement in a statement, that of the outer one */
    int value;                     /* of the row of keywords.def */
    struct ofl_attr *prefix_attrs; /* prefixes of the procedure statement at hand */
    struct ofl_type_spec *prefix_type;
    struct ofl_stmt *holder; /* the logical if, where or forall statement whose action is being parsed */
    unsigned recursion;
    bool has_double_colon; /* anywhere: a type spec in an array constructor is possible */
    bool dec;              /* -fdec, or a structure has been seen */
    jmp_buf recovery;

    struct ofl_frame *frames; /* malloc'ed stack */
    unsigned frame_count, frame_capacity;
    struct ofl_unit **next_unit; /* where the next unit of the file is linked */
    struct ofl_block
        pending; /* directives and include lines before a unit: of a main program without program statement */
};

/* ---- Tokens (parser.c) ------------------------------------------------------------------------------------------ */

void ofl_next(struct ofl_parser *p);                   /* takes the current token */
void ofl_goto(struct ofl_parser *p, uint32_t offset);  /* continues behind `offset` of the statement */
struct ofl_token ofl_peek(const struct ofl_parser *p); /* the token behind the current one */
bool ofl_at(const struct ofl_parser *p, enum ofl_token_kind kind);
bool ofl_accept(struct ofl_parser *p, enum ofl_token_kind kind); /* takes it if it is there */
void ofl_expect(struct ofl_parser *p, enum ofl_token_kind kind);
void ofl_expect_end(struct ofl_parser *p); /* of the statement */

/* Is the keyword (pattern of ofl_lex_keyword) next?  ofl_keyword takes it if so. */
bool ofl_at_keyword(const struct ofl_parser *p, const char *pattern);
bool ofl_keyword(struct ofl_parser *p, const char *pattern);
void ofl_expect_keyword(struct ofl_parser *p, const char *pattern);
char ofl_char(const struct ofl_parser *p, uint32_t offset); /* of the statement's text */

struct ofl_span ofl_span_at(const struct ofl_parser *p, uint32_t begin, uint32_t end); /* offsets to positions */
struct ofl_span ofl_token_span(const struct ofl_parser *p);
struct ofl_span ofl_since(const struct ofl_parser *p, uint32_t begin); /* from an offset to the last token taken */

_Noreturn void ofl_fail(struct ofl_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void ofl_fail_at(struct ofl_parser *p, struct ofl_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "expected X, found Y" */
_Noreturn void ofl_fail_expected(struct ofl_parser *p, const char *what);

bool ofl_name_is(const struct ofl_name *name, const char *text);
struct ofl_ident ofl_expect_ident(struct ofl_parser *p, const char *what);
struct ofl_ident ofl_accept_ident(struct ofl_parser *p);
struct ofl_ident_list *ofl_parse_ident_list(struct ofl_parser *p, const char *what); /* name [, name]... */
bool ofl_accept_label(struct ofl_parser *p, struct ofl_label *label);
struct ofl_label ofl_expect_label(struct ofl_parser *p);
struct ofl_label_list *ofl_parse_labels(struct ofl_parser *p); /* label [, label]... */

/* ---- Expressions (parse_expr.c, parse_primary.c) ---------------------------------------------------------------- */

struct ofl_expr *ofl_new_expr(struct ofl_parser *p, enum ofl_expr_kind kind, struct ofl_span span);
void ofl_set_depth(struct ofl_parser *p, struct ofl_expr *expr, const struct ofl_expr *child);
struct ofl_expr *ofl_parse_expr(struct ofl_parser *p);
struct ofl_expr *ofl_parse_operand(struct ofl_parser *p); /* level-1 expression: no operator but defined unary */
struct ofl_expr *ofl_parse_primary(struct ofl_parser *p, bool item); /* item: an implied do may stand here */
struct ofl_expr *ofl_parse_item(struct ofl_parser *p);               /* I/O item, array constructor item */
struct ofl_expr *ofl_parse_designator(struct ofl_parser *p);         /* variable, function reference */
struct ofl_expr *ofl_parse_constant(struct ofl_parser *p);           /* literal, signed number, named constant, f(x) */
struct ofl_expr *ofl_name_expr(struct ofl_parser *p, struct ofl_ident ident);
struct ofl_arg *ofl_parse_args(struct ofl_parser *p);  /* behind ( up to and with ) */
struct ofl_arg *ofl_parse_items(struct ofl_parser *p); /* item [, item]... */
struct ofl_arg *ofl_new_arg(struct ofl_parser *p, struct ofl_ident keyword, struct ofl_expr *value, uint32_t begin);
struct ofl_ident ofl_accept_arg_keyword(struct ofl_parser *p); /* name = */
bool ofl_at_operator(const struct ofl_parser *p, enum ofl_operator *op, unsigned *precedence);
bool ofl_at_range_end(const struct ofl_parser *p);
void ofl_descend(struct ofl_parser *p);
void ofl_ascend(struct ofl_parser *p);

/* ---- Types and declarations (parse_type.c, parse_entity.c) ------------------------------------------------------ */

struct ofl_type_spec *ofl_accept_type_spec(struct ofl_parser *p);     /* R703 declaration-type-spec, or NULL */
struct ofl_type_spec *ofl_accept_allocate_type(struct ofl_parser *p); /* R702 type-spec before ::, or NULL */
bool ofl_at_intrinsic_type(const struct ofl_parser *p);               /* its keyword and then no longer name */
struct ofl_type_spec *ofl_parse_guard_type(struct ofl_parser *p);     /* R702 type-spec in type is (...) */
struct ofl_bound *ofl_parse_bounds(struct ofl_parser *p, enum ofl_token_kind close);
struct ofl_attr *ofl_new_attr(struct ofl_parser *p, enum ofl_attr_kind kind, uint32_t begin);
struct ofl_attr *ofl_parse_bind(struct ofl_parser *p);  /* R808, behind the word bind */
struct ofl_attr *ofl_parse_attrs(struct ofl_parser *p); /* [, attr]... */
bool ofl_accept_intent(struct ofl_parser *p, enum ofl_attr_kind *kind);
struct ofl_entity *ofl_parse_entities(struct ofl_parser *p, bool any);
struct ofl_generic *ofl_parse_generic_spec(struct ofl_parser *p);
struct ofl_arg *ofl_parse_data_values(struct ofl_parser *p); /* behind the first slash, to and with the last */

/* ---- Statements ------------------------------------------------------------------------------------------------- */

struct ofl_stmt *ofl_new_stmt(struct ofl_parser *p, enum ofl_stmt_kind kind);
void ofl_append(struct ofl_parser *p, struct ofl_stmt *stmt); /* to the open block */
void ofl_parse_action(struct ofl_parser *p);                  /* the action of if (...) and the like */
bool ofl_parse_assignment(struct ofl_parser *p);              /* if the statement is one */

/* The open units and constructs (parse_unit.c). */
struct ofl_frame *ofl_top(struct ofl_parser *p); /* NULL outside of all units */
struct ofl_frame *ofl_unit_frame(struct ofl_parser *p);
void ofl_push(struct ofl_parser *p, struct ofl_stmt *stmt, struct ofl_block *block);
void ofl_push_unit(struct ofl_parser *p, struct ofl_unit *unit);
void ofl_need_unit(struct ofl_parser *p); /* opens a main program without program statement */
void ofl_close_labelled(struct ofl_parser *p, struct ofl_label label, struct ofl_span end);
void ofl_close_all(struct ofl_parser *p);
bool ofl_in(struct ofl_parser *p, enum ofl_stmt_kind kind); /* is the innermost construct of this kind? */

/* Has `attempt` parse the statement; parse_split.c says how.  False: it has reported what is wrong. */
bool ofl_parse_split(struct ofl_parser *p, bool (*attempt)(struct ofl_parser *p));

bool ofl_accept_declaration(struct ofl_parser *p); /* type declaration, or a procedure statement with prefixes */
void ofl_open_if(struct ofl_parser *p, struct ofl_expr *condition); /* of `if (condition) then` */

/* Parsers of single statements, from behind their keyword.  Each is a row of keywords.def. */
#define OFL_KEYWORD(pattern, function, value) bool function(struct ofl_parser *p);
#include "fortran/keywords.def"
#undef OFL_KEYWORD
#endif
