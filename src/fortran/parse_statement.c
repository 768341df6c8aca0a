/* The parser's entry point: reads statement after statement, finds out what each one is, and has it parsed.
 *
 * Fortran has no reserved words.  A statement is an assignment if it has the shape of one; otherwise a declaration if
 * it begins with a type or a prefix; otherwise its first keyword says (keywords.def).  An error ends the statement
 * only. */
#include "fortran/parser.h"

#include <stdlib.h>
#include <string.h>

struct keyword {
    const char *pattern;
    bool (*function)(struct ofl_parser *p);
    int value;
    bool action;
};

static const struct keyword keywords[] = {
#define OFL_KEYWORD(pattern, function, value) {pattern, function, value, false},
#define OFL_ACTION(pattern, function, value)  {pattern, function, value, true},
#include "fortran/keywords.def"
#undef OFL_KEYWORD
};

struct ofl_stmt *ofl_new_stmt(struct ofl_parser *p, enum ofl_stmt_kind kind)
{
    struct ofl_stmt *stmt = OFL_NEW(p->arena, struct ofl_stmt);
    stmt->kind = kind;
    stmt->span = (struct ofl_span){p->item.where[p->start], p->item.span.end};
    stmt->whole = stmt->span;
    stmt->construct = p->construct;
    if (p->holder == NULL) {
        stmt->label = p->item.label;
    }
    return stmt;
}

void ofl_append(struct ofl_parser *p, struct ofl_stmt *stmt)
{
    if (p->holder != NULL) {
        stmt->parent = p->holder;
        if (p->holder->kind == OFL_STMT_FORALL_STMT) {
            p->holder->as.loop.body.first = p->holder->as.loop.body.last = stmt;
        } else {
            p->holder->as.guarded.body = stmt;
        }
        return;
    }
    ofl_need_unit(p);
    struct ofl_frame *top = ofl_top(p);
    ofl_unit_frame(p)->executable |= ofl_stmt_is_executable(stmt->kind);
    struct ofl_block *block = top->block;
    if (block == NULL) {
        if (stmt->kind == OFL_STMT_DIRECTIVE || stmt->kind == OFL_STMT_INCLUDE || stmt->kind == OFL_STMT_ERROR) {
            return;
        }
        ofl_fail_at(p, stmt->span, "a statement cannot stand here, before the first %s",
                    top->stmt->kind == OFL_STMT_UNION ? "map" : "case");
        return;
    }
    stmt->parent = top->stmt;
    if (block->last == NULL) {
        block->first = stmt;
    } else {
        block->last->next = stmt;
    }
    block->last = stmt;
}

/* The statement behind its construct name or, in an if statement, behind the condition. */
static bool parse_by_keyword(struct ofl_parser *p)
{
    uint32_t begin = p->token.begin;
    char first = (char)(ofl_char(p, begin) | 0x20);
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        const struct keyword *keyword = &keywords[i];
        if (keyword->pattern[0] != first || (p->holder != NULL && !keyword->action)) {
            continue;
        }
        uint32_t end = ofl_lex_keyword(&p->item, begin, keyword->pattern);
        if (end == 0) {
            continue;
        }
        p->value = keyword->value;
        p->keyword = begin;
        ofl_goto(p, end);
        if (keyword->function(p)) {
            return true;
        }
        ofl_goto(p, begin);
    }
    return false;
}

static _Noreturn void fail_unknown(struct ofl_parser *p)
{
    if (p->token.kind == OFL_TOKEN_NAME) {
        ofl_fail_at(p, ofl_token_span(p), "this is not the beginning of a statement");
    }
    ofl_fail_expected(p, "a statement");
}

void ofl_parse_action(struct ofl_parser *p)
{
    p->start = p->keyword = p->token.begin;
    p->outline = ofl_lex_outline(&p->item, p->token.begin);
    if (!ofl_parse_assignment(p) && !parse_by_keyword(p)) {
        fail_unknown(p);
    }
}

static void parse_statement(struct ofl_parser *p)
{
    p->start = p->token.begin;
    if (p->token.kind == OFL_TOKEN_NAME && ofl_peek(p).kind == OFL_TOKEN_COLON) {
        p->construct = ofl_accept_ident(p);
        ofl_next(p);
    }
    p->keyword = p->first_keyword = p->token.begin;
    p->outline = ofl_lex_outline(&p->item, p->token.begin);
    if (!ofl_parse_assignment(p) && !ofl_accept_declaration(p) && !parse_by_keyword(p)) {
        p->item.glued = true; /* gfortran lets GOTO10, SAVEX and others pass in free form too */
        if (!ofl_accept_declaration(p) && !parse_by_keyword(p)) {
            fail_unknown(p);
        }
    }
    ofl_expect_end(p);
}

/* Opens the construct that a statement with an error seems to begin, so that its end statement finds it.  A loop gets
 * no control, an if construct no condition. */
static bool open_anyway(struct ofl_parser *p)
{
    ofl_goto(p, p->first_keyword);
    const char *text = p->item.text;
    if (ofl_at_keyword(p, "if (")) {
        uint32_t length = p->item.length;
        if (length < 4 || ofl_lex_keyword(&p->item, length - 4, "then") != length) {
            return false;
        }
        p->keyword = p->first_keyword;
        ofl_open_if(p, NULL);
        return true;
    }
    uint32_t end = ofl_lex_keyword(&p->item, p->first_keyword, "do");
    if (end == 0 || text[end] == '=') {
        return false;
    }
    struct ofl_stmt *stmt = ofl_new_stmt(p, OFL_STMT_DO);
    ofl_goto(p, end);
    ofl_accept_label(p, &stmt->as.loop.terminal);
    ofl_append(p, stmt);
    ofl_push(p, stmt, &stmt->as.loop.body);
    return true;
}

/* Behind an error: the statement becomes OFL_STMT_ERROR, or a construct without content. */
static void recover(struct ofl_parser *p)
{
    p->holder = NULL;
    p->start = 0;
    unsigned errors = p->diagnostics->errors;
    if (setjmp(p->recovery) == 0 && open_anyway(p)) {
        return;
    }
    if (p->diagnostics->errors == errors && p->frame_count > 0) {
        ofl_append(p, ofl_new_stmt(p, OFL_STMT_ERROR));
    }
}

/* Parses the statement at hand; false after an error. */
static bool attempt(struct ofl_parser *p)
{
    p->first_keyword = 0;
    p->construct = (struct ofl_ident){NULL, {0, 0}};
    p->holder = NULL;
    p->prefix_attrs = NULL;
    p->prefix_type = NULL;
    p->recursion = 0;
    p->has_double_colon = strstr(p->item.text, "::") != NULL;
    if (setjmp(p->recovery) != 0) {
        return false;
    }
    ofl_goto(p, 0);
    parse_statement(p);
    return true;
}

/* One statement, with recovery. */
static void statement(struct ofl_parser *p)
{
    if (!(p->item.split ? ofl_parse_split(p, attempt) : attempt(p))) {
        recover(p);
    }
    if (p->item.label.value != 0) {
        ofl_close_labelled(p, p->item.label, p->item.span);
    }
}

/* Directives and include lines go into the open block; outside of all units they wait for a main program that may begin
 * with them. */
static void mark(struct ofl_parser *p)
{
    bool directive = p->item.kind == OFL_ITEM_DIRECTIVE;
    struct ofl_stmt *stmt = OFL_NEW(p->arena, struct ofl_stmt);
    stmt->kind = directive ? OFL_STMT_DIRECTIVE : OFL_STMT_INCLUDE;
    stmt->span = stmt->whole = p->item.span;
    if (directive) {
        stmt->as.directive.text = ofl_arena_text(p->arena, p->item.text, p->item.length);
        stmt->as.directive.length = p->item.length;
        stmt->as.directive.sentinel = p->item.sentinel;
    } else {
        stmt->as.include.source = p->item.included;
    }
    p->holder = NULL;
    if (p->frame_count > 0) {
        ofl_append(p, stmt);
    } else if (p->pending.last == NULL) {
        p->pending.first = p->pending.last = stmt;
    } else {
        p->pending.last->next = stmt;
        p->pending.last = stmt;
    }
}

/* Is it no text at all?  More than one control character in 32 among the first bytes. */
static bool is_binary(const struct ofl_source *source)
{
    enum { LOOK = 4096 };
    uint32_t length = source->length < LOOK ? source->length : LOOK, control = 0;
    bool wide = length > 4 && ((unsigned char)source->text[0] >= 0xFE || (unsigned char)source->text[2] >= 0xFE);
    for (uint32_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)source->text[i];
        control += c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && (c != '\0' || !wide);
    }
    return control > length / 32;
}

struct ofl_file *ofl_parse(const struct ofl_source *source, const struct ofl_parse_options *options,
                           struct ofl_sources *sources, struct ofl_diagnostics *diagnostics)
{
    struct ofl_file *file = OFL_NEW(sources->arena, struct ofl_file);
    file->source = source;
    if (is_binary(source)) {
        ofl_diag_error(diagnostics, (struct ofl_span){source->base, source->base},
                       "this is not a Fortran text: it consists of control characters to a great part");
        return file;
    }
    struct ofl_parser parser = {.arena = sources->arena,
                                .sources = sources,
                                .diagnostics = diagnostics,
                                .options = options,
                                .file = file,
                                .dec = options->dec,
                                .next_unit = &file->units};
    ofl_reader_start(&parser.reader, source, options, sources, diagnostics);
    for (;;) {
        ofl_reader_next(&parser.reader, &parser.item);
        if (parser.item.kind == OFL_ITEM_END) {
            break;
        }
        if (parser.item.kind == OFL_ITEM_STATEMENT) {
            statement(&parser);
        } else {
            mark(&parser);
        }
    }
    ofl_close_all(&parser);
    ofl_reader_finish(&parser.reader);
    free(parser.frames);
    return file;
}

struct ofl_parse_options ofl_parse_defaults(enum ofl_form form)
{
    enum { FREE_COLUMNS = 132, FIXED_COLUMNS = 72 };
    return (struct ofl_parse_options){
        .form = form, .free_line_length = FREE_COLUMNS, .fixed_line_length = FIXED_COLUMNS};
}

enum ofl_form ofl_form_of_path(const char *path, bool *preprocess)
{
    static const struct {
        const char *suffix;
        enum ofl_form form;
        bool preprocess;
    } suffixes[] = {
        {"f", OFL_FORM_FIXED, false},  {"for", OFL_FORM_FIXED, false}, {"ftn", OFL_FORM_FIXED, false},
        {"F", OFL_FORM_FIXED, true},   {"FOR", OFL_FORM_FIXED, true},  {"FTN", OFL_FORM_FIXED, true},
        {"fpp", OFL_FORM_FIXED, true}, {"FPP", OFL_FORM_FIXED, true},  {"f90", OFL_FORM_FREE, false},
        {"f95", OFL_FORM_FREE, false}, {"f03", OFL_FORM_FREE, false},  {"f08", OFL_FORM_FREE, false},
        {"f18", OFL_FORM_FREE, false}, {"F90", OFL_FORM_FREE, true},   {"F95", OFL_FORM_FREE, true},
        {"F03", OFL_FORM_FREE, true},  {"F08", OFL_FORM_FREE, true},   {"F18", OFL_FORM_FREE, true},
    };
    const char *dot = strrchr(path, '.');
    *preprocess = false;
    for (size_t i = 0; dot != NULL && i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(dot + 1, suffixes[i].suffix) == 0) {
            *preprocess = suffixes[i].preprocess;
            return suffixes[i].form;
        }
    }
    return OFL_FORM_FREE;
}
