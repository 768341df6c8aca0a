/* The unsupported-construct check; see unsupported.h. */
#include "fortran/unsupported.h"
#include "fortran/intrinsics.h"
#include "fortran/type_list.h"

#include <string.h>

enum unsupported {
#define OFL_UNSUPPORTED(id, construct, devices, why, plan) id,
#include "fortran/unsupported.def"
#undef OFL_UNSUPPORTED
};

static const struct {
    const char *construct;
    unsigned devices;
    const char *why;
} rows[] = {
#define OFL_UNSUPPORTED(id, construct, devices, why, plan) [id] = {construct, OFL_UNSUPPORTED_##devices, why},
#include "fortran/unsupported.def"
#undef OFL_UNSUPPORTED
};

/* One look at a loop. */
struct check {
    struct ofl_modules *modules;
    unsigned device;
    const struct ofl_reached *within; /* the procedure that is looked at; NULL: the loop */
    const struct ofl_unit *unit;      /* of the statements that are looked at */
    const struct ofl_stmt *stmt;      /* the one that is looked at */
    bool openmp;                      /* the loop is one of OpenMP's: `stop` is no error of the language */
    struct ofl_type_list *types;      /* that were looked into */
    struct ofl_finding listed, unknown;
};

/* What a type is judged for: the words behind the construct, and where. */
struct subject {
    const char *text; /* "'pressure'", or NULL */
    struct ofl_span span, declared;
};

/* ---- Findings ---- */

static void list(struct check *check, enum unsupported row, const char *construct, const struct subject *subject)
{
    if ((rows[row].devices & check->device) == 0 || check->listed.verdict != OFL_VERDICT_DEVICE) {
        return;
    }
    struct ofl_arena *arena = check->modules->arena;
    check->listed = (struct ofl_finding){
        .verdict = OFL_VERDICT_LISTED,
        .what = subject->text == NULL ? construct : ofl_arena_format(arena, "%s (%s)", construct, subject->text),
        .why = rows[row].why,
        .span = subject->span,
        .declared = subject->declared,
        .within = check->within,
    };
}

static bool nothing_unknown(const struct check *check)
{
    return check->unknown.verdict == OFL_VERDICT_DEVICE;
}

static void not_understood(struct check *check, const struct ofl_meaning *meaning)
{
    if (nothing_unknown(check)) {
        check->unknown = (struct ofl_finding){.verdict = OFL_VERDICT_UNKNOWN,
                                              .what = meaning->reason,
                                              .span = meaning->place,
                                              .declared = meaning->other,
                                              .within = check->within,
                                              .not_yet = meaning->unsupported};
    }
}

static void not_resolved(struct check *check, struct ofl_span span, struct ofl_span declared, bool not_yet,
                         const char *message)
{
    if (nothing_unknown(check)) {
        check->unknown = (struct ofl_finding){.verdict = OFL_VERDICT_UNKNOWN,
                                              .what = message,
                                              .span = span,
                                              .declared = declared,
                                              .within = check->within,
                                              .not_yet = not_yet};
    }
}

/* ---- Types ---- */

static void judge_intrinsic(struct check *check, struct ofl_value_type type, const struct subject *subject)
{
    static const struct {
        int kind;
        enum unsupported row;
    } kinds[] = {{8, REAL_8}, {10, REAL_10}, {16, REAL_16}};
    bool complex = type.base == OFL_TYPE_COMPLEX;
    struct subject parts = *subject;
    if (complex && subject->text != NULL) {
        parts.text = ofl_arena_format(check->modules->arena, "%s, complex(%d)", subject->text, type.kind);
    } else if (complex) {
        parts.text = ofl_arena_format(check->modules->arena, "a value of type complex(%d)", type.kind);
    }
    for (size_t i = 0; (complex || type.base == OFL_TYPE_REAL) && i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].kind == type.kind) {
            list(check, kinds[i].row, rows[kinds[i].row].construct, &parts);
        }
    }
}

static void judge_type(struct check *check, struct ofl_value_type type, const struct subject *subject);

/* A type that was looked into before had nothing, or the check is over. */
static void judge_components(struct check *check, struct ofl_symbol *type, const struct subject *subject)
{
    struct ofl_arena *arena = check->modules->arena;
    size_t count = 0;
    struct ofl_symbol **components = NULL;
    if (ofl_type_list_add(arena, &check->types, type)) {
        components = ofl_type_components(check->modules, type, &count);
    }
    for (size_t i = 0; i < count; i++) {
        struct ofl_value_type component;
        const struct ofl_meaning *why = NULL;
        bool data = components[i]->class == OFL_SYMBOL_VARIABLE;
        if (data && ofl_symbol_type(check->modules, components[i], &component, &why)) {
            const char *name = components[i]->name->text;
            struct subject part = {.span = subject->span, .declared = components[i]->declared};
            part.text = subject->text == NULL
                            ? ofl_arena_format(arena, "the component '%s' of type '%s'", name, type->name->text)
                            : ofl_arena_format(arena, "%s, by its component '%s'", subject->text, name);
            judge_type(check, component, &part);
        } else if (data && why != NULL) {
            not_understood(check, why);
        }
    }
}

static void judge_type(struct check *check, struct ofl_value_type type, const struct subject *subject)
{
    if ((type.base == OFL_TYPE_DERIVED || type.base == OFL_TYPE_CLASS) && type.derived != NULL) {
        judge_components(check, type.derived, subject);
    } else {
        judge_intrinsic(check, type, subject);
    }
}

/* A variable that a reached procedure, a block or a locality clause declares. */
static void judge_symbol(struct check *check, struct ofl_symbol *symbol, struct ofl_span span)
{
    struct ofl_value_type type;
    const struct ofl_meaning *why = NULL;
    if (symbol->class != OFL_SYMBOL_VARIABLE) {
        return;
    }
    if (ofl_symbol_type(check->modules, symbol, &type, &why)) {
        const struct subject subject = {.text = ofl_arena_format(check->modules->arena, "'%s'", symbol->name->text),
                                        .span = span};
        judge_type(check, type, &subject);
    } else if (why != NULL) {
        not_understood(check, why);
    }
}

/* ---- Expressions ---- */

static bool look_at_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                         void *context);
static void look_at_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context);

static void look_below(struct check *check, struct ofl_scope *scope, const struct ofl_expr *expr)
{
    const struct ofl_visitor visitor = {.expr = look_at_expr, .call = look_at_call, .context = check};
    if (expr != NULL) {
        ofl_visit_expr(check->modules, scope, expr, &visitor);
    }
}

/* What a designator is called in messages: its name, or its last component's. */
static const char *designator_text(struct check *check, const struct ofl_meaning *meaning, struct ofl_scope *scope)
{
    while (meaning->symbol == NULL && meaning->base != NULL) {
        meaning = ofl_meaning_of(check->modules, scope, meaning->base);
    }
    return meaning->symbol == NULL ? NULL
                                   : ofl_arena_format(check->modules->arena, "'%s'", meaning->symbol->name->text);
}

/* Of a designator only the whole is judged, and what is evaluated to find it: subscripts, substring ranges. */
static void look_at_subscripts(struct check *check, struct ofl_scope *scope, const struct ofl_meaning *meaning)
{
    for (;;) {
        for (const struct ofl_arg *arg = meaning->subscripts; arg != NULL; arg = arg->next) {
            look_below(check, scope, arg->value);
        }
        if (meaning->range != NULL) {
            look_below(check, scope, meaning->range);
        }
        if (meaning->base == NULL) {
            return;
        }
        const struct ofl_expr *base = meaning->base;
        meaning = ofl_meaning_of(check->modules, scope, base);
        if (meaning->kind == OFL_MEANS_UNKNOWN) {
            not_understood(check, meaning);
            return;
        }
        if (!meaning->designator) { /* a function's result, a constant */
            look_below(check, scope, base);
            return;
        }
    }
}

/* The arguments of an inquiry function are not evaluated. */
static bool is_inquiry(const struct ofl_meaning *meaning)
{
    return meaning->kind == OFL_MEANS_FUNCTION && meaning->call->procedure->kind == OFL_PROCEDURE_INTRINSIC &&
           meaning->call->procedure->intrinsic != NULL &&
           meaning->call->procedure->intrinsic->class == OFL_INTRINSIC_INQUIRY;
}

static void look_at_inquiry(struct check *check, struct ofl_scope *scope, const struct ofl_call *call)
{
    for (unsigned i = 0; i < call->arg_count; i++) {
        if (call->args[i] == NULL) {
            continue;
        }
        const struct ofl_meaning *meaning = ofl_meaning_of(check->modules, scope, call->args[i]);
        if (meaning->designator) {
            look_at_subscripts(check, scope, meaning);
        } else {
            look_below(check, scope, call->args[i]);
        }
    }
}

/* Whether it is the selector of an associate or select construct: a second name for it, whose uses count. */
static bool is_selector(const struct ofl_stmt *stmt, const struct ofl_expr *expr)
{
    if (stmt == NULL) {
        return false;
    }
    if (stmt->kind == OFL_STMT_SELECT_TYPE || stmt->kind == OFL_STMT_SELECT_RANK) {
        return stmt->as.arms.selector.selector == expr;
    }
    const struct ofl_association *item = stmt->kind == OFL_STMT_ASSOCIATE ? stmt->as.block.associations : NULL;
    while (item != NULL && item->selector != expr) {
        item = item->next;
    }
    return item != NULL;
}

static bool look_at_expr(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                         void *context)
{
    struct check *check = context;
    struct subject subject = {.span = expr->span};
    if (check->listed.verdict != OFL_VERDICT_DEVICE || meaning->constant) {
        return false;
    }
    if (meaning->designator && is_selector(check->stmt, expr)) {
        look_at_subscripts(check, scope, meaning);
        return false;
    }
    switch (meaning->kind) {
    case OFL_MEANS_UNKNOWN:
        not_understood(check, meaning);
        return false;
    case OFL_MEANS_CONSTANT:
    case OFL_MEANS_LITERAL:
    case OFL_MEANS_TYPELESS:
    case OFL_MEANS_PROCEDURE:
    case OFL_MEANS_TYPE:
        return false;
    case OFL_MEANS_PARAMETER:
    case OFL_MEANS_RANGE:
    case OFL_MEANS_OTHER:
        return true;
    default:
        break;
    }
    if (meaning->kind == OFL_MEANS_FUNCTION || meaning->kind == OFL_MEANS_DEFINED) {
        subject.text =
            ofl_arena_format(check->modules->arena, "the result of '%s'", meaning->call->procedure->name->text);
    } else if (meaning->base != NULL || meaning->kind == OFL_MEANS_VARIABLE) {
        subject.text = designator_text(check, meaning, scope);
    }
    judge_type(check, meaning->type, &subject);
    if (is_inquiry(meaning)) {
        look_at_inquiry(check, scope, meaning->call);
        return false;
    }
    if (meaning->base != NULL) {
        look_at_subscripts(check, scope, meaning);
        return false;
    }
    return true;
}

/* ---- Calls ---- */

/* Functions of C's library that devices have too, so that an interface to them needs no body. */
static bool is_device_function(const struct ofl_procedure *procedure)
{
    static const char *const names[] = {
        "acos",  "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",  "cosh",  "erf",
        "erfc",  "exp",   "exp2", "expm1", "fabs", "fdim",  "floor", "fma",  "fmax", "fmin",     "fmod", "hypot", "log",
        "log10", "log1p", "log2", "pow",   "rint", "round", "sin",   "sinh", "sqrt", "tan",      "tanh", "trunc"};
    for (size_t i = 0; procedure->binding != NULL && i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(procedure->binding, names[i], length) == 0 &&
            (procedure->binding[length] == '\0' || strcmp(procedure->binding + length, "f") == 0)) {
            return true;
        }
    }
    return false;
}

static void look_at_call(const struct ofl_call *call, struct ofl_span span, struct ofl_scope *scope, void *context)
{
    struct check *check = context;
    struct ofl_arena *arena = check->modules->arena;
    const struct ofl_procedure *procedure = call->procedure;
    struct ofl_span declared = procedure->symbol != NULL ? procedure->symbol->declared : (struct ofl_span){0, 0};
    const char *name = procedure->name->text;
    (void)scope;
    switch (procedure->kind) {
    case OFL_PROCEDURE_INTRINSIC:
    case OFL_PROCEDURE_STATEMENT:
        return;
    case OFL_PROCEDURE_DEFERRED: /* where the object's type is known, its binding is called, which is reached too */
        if (call->dynamic) {
            return;
        }
        /* fallthrough */
    case OFL_PROCEDURE_DUMMY:
    case OFL_PROCEDURE_POINTER:
        not_resolved(
            check, span, declared, true,
            ofl_arena_format(arena,
                             "a call through '%s' on the device; which procedure it means is known at run time "
                             "only",
                             name));
        return;
    default:
        if (procedure->body == NULL && !is_device_function(procedure)) {
            not_resolved(
                check, span, declared, false,
                ofl_arena_format(arena,
                                 "'%s' cannot be called on the device: its body is not in this file, nor known "
                                 "from a module's information",
                                 name));
        }
        return;
    }
}

/* ---- Statements ---- */

static void look_at_stmt(struct ofl_stmt *stmt, struct ofl_scope *scope, void *context)
{
    struct check *check = context;
    struct subject subject = {.span = stmt->span};
    check->stmt = stmt;
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
    case OFL_STMT_CALL: {
        const struct ofl_action *action = ofl_action_of(check->modules, scope, stmt);
        if (action->why != NULL) {
            not_understood(check, action->why);
        }
        break;
    }
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
        subject.text = ofl_arena_format(check->modules->arena, "'%s'", ofl_stmt_text(stmt->kind));
        list(check, INPUT_OUTPUT, rows[INPUT_OUTPUT].construct, &subject);
        break;
    case OFL_STMT_ERROR_STOP:
        list(check, ERROR_STOP, rows[ERROR_STOP].construct, &subject);
        break;
    case OFL_STMT_STOP:
    case OFL_STMT_PAUSE:
        if (check->openmp) {
            list(check, STOP, rows[STOP].construct, &subject);
        }
        break;
    case OFL_STMT_BLOCK:
        for (struct ofl_symbol *symbol = stmt->as.block.scope == NULL ? NULL : stmt->as.block.scope->first;
             symbol != NULL; symbol = symbol->next) {
            judge_symbol(check, symbol, symbol->declared);
        }
        break;
    case OFL_STMT_DO:
        for (const struct ofl_locality *clause = stmt->as.loop.localities; clause != NULL; clause = clause->next) {
            bool copies = clause->kind != OFL_LOCALITY_SHARED && clause->kind != OFL_LOCALITY_DEFAULT_NONE;
            for (const struct ofl_ident_list *name = clause->names; copies && name != NULL; name = name->next) {
                struct ofl_symbol *symbol = ofl_scope_find(ofl_scope_of(stmt, check->unit), name->ident.name);
                if (symbol != NULL) {
                    judge_symbol(check, symbol, name->ident.span);
                }
            }
        }
        break;
    case OFL_STMT_ERROR:
        not_resolved(check, stmt->span, (struct ofl_span){0, 0}, false, "this statement is not understood");
        break;
    default:
        break;
    }
}

static const struct ofl_visitor *visitor_of(struct check *check, struct ofl_visitor *visitor)
{
    *visitor = (struct ofl_visitor){.expr = look_at_expr, .call = look_at_call, .stmt = look_at_stmt, .context = check};
    return visitor;
}

/* ---- The loop and what it reaches ---- */

/* The loop without its limits, which the host evaluates: what of it reaches the device. */
static struct ofl_stmt on_device(const struct ofl_stmt *loop)
{
    struct ofl_stmt part = *loop;
    part.action = NULL;
    part.as.loop.indices = NULL;
    part.as.loop.first = part.as.loop.last = part.as.loop.step = NULL;
    return part;
}

static void look_at_procedure(struct check *check, const struct ofl_reached *reached)
{
    const struct ofl_unit *body = reached->procedure->body;
    struct ofl_visitor visitor;
    check->within = reached;
    if (reached->procedure->kind == OFL_PROCEDURE_STATEMENT) {
        const struct ofl_symbol *function = reached->procedure->symbol;
        look_below(check, function->scope, function->definition->as.assign.value);
        return;
    }
    if (body == NULL) {
        return; /* its call was looked at */
    }
    check->unit = body;
    for (struct ofl_symbol *symbol = body->scope == NULL ? NULL : body->scope->first; symbol != NULL;
         symbol = symbol->next) {
        if (symbol->storage == OFL_STORAGE_LOCAL || symbol->storage == OFL_STORAGE_DUMMY ||
            symbol->storage == OFL_STORAGE_RESULT) {
            judge_symbol(check, symbol, symbol->declared);
        }
    }
    ofl_visit_block(check->modules, body, &body->body, visitor_of(check, &visitor));
}

struct ofl_finding ofl_unsupported_find(struct ofl_modules *modules, const struct ofl_unit *unit,
                                        const struct ofl_stmt *loop, unsigned device)
{
    struct check check = {.modules = modules, .device = device, .unit = unit};
    check.openmp = loop->as.loop.form != OFL_LOOP_CONCURRENT;
    struct ofl_visitor visitor;
    struct ofl_stmt part = on_device(loop);
    ofl_visit_stmt(modules, unit, &part, visitor_of(&check, &visitor));
    for (const struct ofl_reached *reached = ofl_reached_from(modules, unit, &part); reached != NULL;
         reached = reached->next) {
        look_at_procedure(&check, reached);
    }
    return check.listed.verdict != OFL_VERDICT_DEVICE ? check.listed : check.unknown;
}

void ofl_unsupported_notes(struct ofl_diagnostics *diagnostics, const struct ofl_finding *finding,
                           const struct ofl_stmt *loop)
{
    if (finding->declared.begin != 0) {
        ofl_diag_note(diagnostics, finding->declared, "it is declared here");
    }
    for (const struct ofl_reached *at = finding->within; at != NULL; at = at->caller) {
        ofl_diag_note(diagnostics, at->reference, "'%s' is called here", at->procedure->name->text);
    }
    ofl_diag_note(diagnostics, loop->span, "the loop begins here");
}
