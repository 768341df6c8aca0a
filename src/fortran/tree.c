/* Helpers on the tree: names of kinds, a walk over statements, the text of character constants. */
#include "fortran/tree.h"

#include <string.h>

const char *ofl_stmt_text(enum ofl_stmt_kind kind)
{
    static const char *const texts[] = {
#define OFL_STATEMENT(kind, payload, class, text) text,
#include "fortran/statements.def"
#undef OFL_STATEMENT
    };
    return texts[kind];
}

bool ofl_stmt_is_executable(enum ofl_stmt_kind kind)
{
    enum { SPEC, EXEC, BOTH };
    static const unsigned char classes[] = {
#define OFL_STATEMENT(kind, payload, class, text) class,
#include "fortran/statements.def"
#undef OFL_STATEMENT
    };
    return classes[kind] == EXEC;
}

const char *ofl_attr_text(enum ofl_attr_kind kind)
{
    static const char *const texts[OFL_ATTR_COUNT] = {
#define OFL_ATTRIBUTE(kind, text) text,
#include "fortran/attributes.def"
#undef OFL_ATTRIBUTE
    };
    return texts[kind];
}

void ofl_walk_stmt(struct ofl_stmt *stmt, bool (*visit)(struct ofl_stmt *stmt, void *context), void *context)
{
    if (!visit(stmt, context)) {
        return;
    }
    switch (stmt->kind) {
    case OFL_STMT_IF:
    case OFL_STMT_SELECT_CASE:
    case OFL_STMT_SELECT_TYPE:
    case OFL_STMT_SELECT_RANK:
    case OFL_STMT_WHERE:
    case OFL_STMT_UNION:
        for (struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
            ofl_walk_stmts(&arm->body, visit, context);
        }
        break;
    case OFL_STMT_IF_STMT:
    case OFL_STMT_WHERE_STMT:
        if (stmt->as.guarded.body != NULL) {
            ofl_walk_stmt(stmt->as.guarded.body, visit, context);
        }
        break;
    case OFL_STMT_DO:
    case OFL_STMT_FORALL:
    case OFL_STMT_FORALL_STMT:
        ofl_walk_stmts(&stmt->as.loop.body, visit, context);
        break;
    case OFL_STMT_BLOCK:
    case OFL_STMT_ASSOCIATE:
    case OFL_STMT_CRITICAL:
    case OFL_STMT_CHANGE_TEAM:
        ofl_walk_stmts(&stmt->as.block.body, visit, context);
        break;
    case OFL_STMT_DERIVED_TYPE:
    case OFL_STMT_STRUCTURE:
        ofl_walk_stmts(&stmt->as.type_def.components, visit, context);
        ofl_walk_stmts(&stmt->as.type_def.bindings, visit, context);
        break;
    case OFL_STMT_ENUM:
        ofl_walk_stmts(&stmt->as.enumeration.enumerators, visit, context);
        break;
    case OFL_STMT_INTERFACE:
        ofl_walk_stmts(&stmt->as.interface.names, visit, context);
        break;
    default:
        break;
    }
}

void ofl_walk_stmts(const struct ofl_block *block, bool (*visit)(struct ofl_stmt *stmt, void *context), void *context)
{
    for (struct ofl_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        ofl_walk_stmt(stmt, visit, context);
    }
}

/* The value of up to `most` hexadecimal digits at *at, which moves behind them. */
static unsigned hex(const char **at, unsigned most)
{
    unsigned value = 0;
    for (; most > 0; most--, (*at)++) {
        char c = (char)(**at | 0x20);
        if (**at >= '0' && **at <= '9') {
            value = value * 16 + (unsigned)(**at - '0');
        } else if (c >= 'a' && c <= 'f') {
            value = value * 16 + (unsigned)(c - 'a' + 10);
        } else {
            break;
        }
    }
    return value;
}

/* One escape of -fbackslash, behind the backslash; false if it is none. */
static bool escape(const char **at, char *value)
{
    static const char letters[] = "abfnrtv0\\'\"", values[] = "\a\b\f\n\r\t\v\0\\'\"";
    char c = **at;
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    if (found != NULL) {
        *value = values[found - letters];
        (*at)++;
        return true;
    }
    if (c == 'x' || c == 'u' || c == 'U') {
        (*at)++;
        *value = (char)hex(at, c == 'x' ? 2 : c == 'u' ? 4 : 8);
        return true;
    }
    return false;
}

char *ofl_literal_text(struct ofl_arena *arena, const struct ofl_expr *literal, bool backslash, size_t *length)
{
    const char *text = literal->as.literal.text;
    if (literal->kind == OFL_EXPR_HOLLERITH) {
        const char *begin = strpbrk(text, "hH") + 1;
        *length = literal->as.literal.length - (size_t)(begin - text);
        return ofl_arena_text(arena, begin, *length);
    }
    const char *end = text + literal->as.literal.length - 1;
    char quote = *text;
    char *value = ofl_arena_alloc(arena, literal->as.literal.length);
    size_t count = 0;
    for (const char *at = text + 1; at < end;) {
        if (backslash && *at == '\\') {
            at++;
            if (!escape(&at, &value[count])) {
                value[count] = '\\';
            }
            count++;
            continue;
        }
        value[count++] = *at;
        at += *at == quote ? 2 : 1;
    }
    *length = count;
    return value;
}

const struct ofl_unit *ofl_unit_outermost(const struct ofl_unit *unit)
{
    while (unit->parent != NULL) {
        unit = unit->parent;
    }
    return unit;
}

const struct ofl_name *ofl_module_of(const struct ofl_unit *unit)
{
    unit = ofl_unit_outermost(unit);
    return unit->kind == OFL_UNIT_SUBMODULE ? unit->ancestor.name
           : unit->kind == OFL_UNIT_MODULE  ? unit->name.name
                                            : NULL;
}
