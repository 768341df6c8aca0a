/* Looking for what no kernel will do; see unsupported.h. */
#include "fortran/unsupported.h"
#include "fortran/names.h"

enum unsupported {
#define OFL_UNSUPPORTED(id, name, why) id,
#include "fortran/unsupported.def"
#undef OFL_UNSUPPORTED
};

static const struct {
    const char *name, *why;
} rows[] = {
#define OFL_UNSUPPORTED(id, name, why) [id] = {name, why},
#include "fortran/unsupported.def"
#undef OFL_UNSUPPORTED
};

struct search {
    const struct ofl_unit *unit;
    struct ofl_arena *arena;
    struct ofl_scope *scope; /* of the statement that is looked at */
    struct ofl_blocker found;
};

static void found(struct search *search, enum unsupported what, struct ofl_span span, const char *name)
{
    if (search->found.what == NULL) {
        const char *text =
            name == NULL ? rows[what].name : ofl_arena_format(search->arena, "%s ('%s')", rows[what].name, name);
        search->found = (struct ofl_blocker){text, rows[what].why, span};
    }
}

static void look_at_name(const struct ofl_expr *expr, void *context)
{
    struct search *search = context;
    const struct ofl_symbol *symbol = ofl_scope_find(search->scope, expr->as.name.name);
    bool real = symbol != NULL && symbol->typed &&
                (symbol->type.kind_of == OFL_TYPE_REAL || symbol->type.kind_of == OFL_TYPE_COMPLEX);
    if (real && (symbol->type.kind == 10 || symbol->type.kind == 16)) {
        found(search, symbol->type.kind == 10 ? REAL_10 : REAL_16, expr->span, symbol->name->text);
    }
}

static bool look_at_statement(struct ofl_stmt *stmt, void *context)
{
    struct search *search = context;
    search->scope = ofl_scope_of(stmt, search->unit);
    switch (stmt->kind) {
    case OFL_STMT_READ:
    case OFL_STMT_WRITE:
    case OFL_STMT_PRINT:
    case OFL_STMT_TYPE_OUTPUT:
    case OFL_STMT_ACCEPT:
    case OFL_STMT_OPEN:
    case OFL_STMT_CLOSE:
    case OFL_STMT_INQUIRE:
    case OFL_STMT_BACKSPACE:
    case OFL_STMT_REWIND:
    case OFL_STMT_ENDFILE:
    case OFL_STMT_FLUSH:
    case OFL_STMT_WAIT:
        found(search, INPUT_OUTPUT, stmt->span, ofl_stmt_text(stmt->kind));
        break;
    default:
        ofl_stmt_names(stmt, look_at_name, search);
        break;
    }
    return search->found.what == NULL;
}

struct ofl_blocker ofl_unsupported_find(const struct ofl_stmt *loop, const struct ofl_unit *unit,
                                        struct ofl_arena *arena)
{
    struct search search = {.unit = unit, .arena = arena};
    ofl_walk_stmts(&loop->as.loop.body, look_at_statement, &search);
    return search.found;
}
