/* Which variables of the program an iteration has for itself; see lower.h.
 *
 * Entry point: ofl_find_usage.  F2018 11.1.7.5: a variable without a locality may be defined by several iterations if
 * each of them defines it before it refers to it; it then has no value after the loop.  On a device the iterations run
 * at the same time, so that such a variable has to be a copy of the iteration's own.  A copy is right for every scalar
 * that is written: it begins with the variable's value where the iteration may read it first (`exposed`), and goes back
 * to the variable where not every iteration defines it (not `certain`), since then a single one may have.  Both answers
 * may be wrong on the side that costs time only.
 *
 * An array is such a copy if it is read and no subscript of what the iteration writes depends on the loop's indices, so
 * that iterations may write the same elements; else it is shared.  Here too a copy is always right, as only what an
 * iteration changed goes back. */
#include "fortran/lower.h"

#include <string.h>

struct flow {
    struct ofl_lower *l;
    struct ofl_scope *scope;
    struct ofl_usage **all; /* by number */
    unsigned count, capacity;
    bool *defined; /* by number, at this place of the walk */
    bool *certain; /* at all ends of the iteration so far */
    bool changed;  /* a variable was found to vary */
};

bool ofl_is_private(const struct ofl_usage *usage)
{
    if (usage->listed) {
        return usage->locality != OFL_LOCALITY_SHARED;
    }
    if (!usage->written || usage->symbol == NULL) {
        return false;
    }
    return usage->rank == 0 || (usage->read && !usage->scattered);
}

/* ---- Variables ---- */

static bool is_inner(const struct flow *flow, const struct ofl_symbol *symbol)
{
    for (const struct ofl_scope *scope = symbol->scope; scope != NULL; scope = scope->parent) {
        if (scope == flow->l->loop->as.loop.scope) {
            return true;
        }
    }
    return false;
}

/* The variable that an associate name of the body stands for, or is part of. */
static struct ofl_symbol *root_of(struct flow *flow, struct ofl_symbol *symbol, bool *part)
{
    while (symbol != NULL && symbol->class == OFL_SYMBOL_ASSOCIATE && is_inner(flow, symbol) && symbol->value != NULL) {
        const struct ofl_expr *expr = symbol->value;
        struct ofl_scope *outer = symbol->scope->parent;
        while (expr->kind == OFL_EXPR_CALL || expr->kind == OFL_EXPR_COMPONENT) {
            *part = true;
            expr = expr->kind == OFL_EXPR_CALL ? expr->as.call.base : expr->as.component.base;
        }
        if (expr->kind != OFL_EXPR_NAME) {
            return symbol;
        }
        struct ofl_symbol *next = ofl_scope_find(outer, expr->as.name.name);
        if (next == NULL || next == symbol) {
            return symbol;
        }
        symbol = next;
    }
    return symbol;
}

static struct ofl_usage *usage_of(struct flow *flow, struct ofl_symbol *symbol)
{
    struct ofl_usage *usage = ofl_usage_of(flow->l, symbol);
    if (usage != NULL) {
        return usage;
    }
    usage = OFL_NEW(flow->l->arena, struct ofl_usage);
    usage->symbol = symbol;
    usage->number = flow->count;
    usage->inner = is_inner(flow, symbol);
    usage->rank = ofl_symbol_rank(flow->l->modules, symbol);
    usage->varies = (symbol->class == OFL_SYMBOL_INDEX && symbol->scope == flow->l->loop->as.loop.scope) ||
                    (symbol->class == OFL_SYMBOL_ASSOCIATE && usage->inner);
    usage->next = flow->l->usage;
    flow->l->usage = usage;
    if (flow->count == flow->capacity) {
        unsigned capacity = flow->capacity == 0 ? 64 : 2 * flow->capacity;
        bool *defined = ofl_arena_alloc(flow->l->arena, capacity), *certain = ofl_arena_alloc(flow->l->arena, capacity);
        struct ofl_usage **all = ofl_arena_alloc(flow->l->arena, capacity * sizeof(struct ofl_usage *));
        if (flow->count > 0) {
            memcpy(defined, flow->defined, flow->count);
            memcpy(certain, flow->certain, flow->count);
            memcpy(all, flow->all, flow->count * sizeof(struct ofl_usage *));
        }
        memset(certain + flow->count, true, capacity - flow->count);
        flow->defined = defined;
        flow->certain = certain;
        flow->all = all;
        flow->capacity = capacity;
    }
    flow->all[flow->count++] = usage;
    return usage;
}

/* ---- Reads ---- */

static bool note_read(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                      void *context)
{
    struct flow *flow = context;
    bool part = false;
    (void)expr;
    (void)scope;
    if (meaning->kind == OFL_MEANS_VARIABLE && meaning->symbol != NULL) {
        struct ofl_usage *usage = usage_of(flow, root_of(flow, meaning->symbol, &part));
        usage->read = true;
        usage->exposed |= !flow->defined[usage->number];
    }
    return true;
}

static void read_expr(struct flow *flow, const struct ofl_expr *expr)
{
    const struct ofl_visitor visitor = {.expr = note_read, .context = flow};
    if (expr != NULL) {
        ofl_visit_expr(flow->l->modules, flow->scope, expr, &visitor);
    }
}

static void read_args(struct flow *flow, const struct ofl_arg *args)
{
    for (; args != NULL; args = args->next) {
        if (args->value != NULL && args->value->kind == OFL_EXPR_RANGE) {
            read_expr(flow, args->value->as.range.lower);
            read_expr(flow, args->value->as.range.upper);
            read_expr(flow, args->value->as.range.step);
        } else {
            read_expr(flow, args->value);
        }
    }
}

/* Whether an expression has the same value in every iteration: `*context` becomes false if not. */
struct invariance {
    struct flow *flow;
    bool holds;
};

static bool note_varying(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                         void *context)
{
    struct invariance *invariance = context;
    bool part = false;
    (void)expr;
    (void)scope;
    if (meaning->kind == OFL_MEANS_VARIABLE && meaning->symbol != NULL) {
        const struct ofl_usage *usage = usage_of(invariance->flow, root_of(invariance->flow, meaning->symbol, &part));
        invariance->holds &= !usage->varies && !part && !(usage->rank > 0 && usage->written);
    }
    if (meaning->call != NULL && meaning->call->procedure->intrinsic == NULL) {
        invariance->holds = false;
    }
    return invariance->holds;
}

static bool is_invariant(struct flow *flow, const struct ofl_expr *expr)
{
    struct invariance invariance = {flow, true};
    const struct ofl_visitor visitor = {.expr = note_varying, .context = &invariance};
    if (expr != NULL) {
        ofl_visit_expr(flow->l->modules, flow->scope, expr, &visitor);
    }
    return invariance.holds;
}

/* ---- Writes ---- */

static void set_varies(struct flow *flow, struct ofl_usage *usage, bool varies)
{
    flow->changed |= varies && !usage->varies;
    usage->varies |= varies;
}

/* Whether an allocatable or pointer component's memory is meant, which is not the variable's own. */
static bool is_elsewhere(struct flow *flow, const struct ofl_expr *expr)
{
    if (expr->kind != OFL_EXPR_COMPONENT) {
        return false;
    }
    const struct ofl_meaning *meaning = ofl_meaning_of(flow->l->modules, flow->scope, expr);
    return meaning->allocatable || meaning->pointer;
}

/* A designator that is assigned a value; `value` NULL: one that is not known. */
static void write_designator(struct flow *flow, const struct ofl_expr *target, const struct ofl_expr *value,
                             bool partly)
{
    bool part = partly, same = true, elsewhere = false;
    const struct ofl_expr *expr = target;
    while (expr->kind == OFL_EXPR_CALL || expr->kind == OFL_EXPR_COMPONENT) {
        part = true;
        elsewhere |= is_elsewhere(flow, expr);
        if (expr->kind == OFL_EXPR_CALL) {
            read_args(flow, expr->as.call.args);
            for (const struct ofl_arg *arg = expr->as.call.args; arg != NULL; arg = arg->next) {
                const struct ofl_expr *range =
                    arg->value != NULL && arg->value->kind == OFL_EXPR_RANGE ? arg->value : NULL;
                same &= range == NULL
                            ? is_invariant(flow, arg->value)
                            : is_invariant(flow, range->as.range.lower) && is_invariant(flow, range->as.range.upper) &&
                                  is_invariant(flow, range->as.range.step);
            }
        }
        expr = expr->kind == OFL_EXPR_CALL ? expr->as.call.base : expr->as.component.base;
    }
    if (expr->kind != OFL_EXPR_NAME) {
        return;
    }
    const struct ofl_meaning *meaning = ofl_meaning_of(flow->l->modules, flow->scope, expr);
    if (meaning->kind != OFL_MEANS_VARIABLE || meaning->symbol == NULL) {
        return;
    }
    bool associated = false;
    struct ofl_usage *usage = usage_of(flow, root_of(flow, meaning->symbol, &associated));
    part |= associated;
    if (elsewhere && usage->rank == 0) { /* the variable itself only leads there */
        usage->read = true;
        usage->exposed |= !flow->defined[usage->number];
        return;
    }
    usage->written = true;
    usage->scattered |=
        !same || (associated && usage->rank > 0) || OFL_HAS(usage->symbol, POINTER) || OFL_HAS(usage->symbol, TARGET);
    if (part) {
        usage->exposed |= !flow->defined[usage->number];
    } else {
        flow->defined[usage->number] = true;
    }
    set_varies(flow, usage, value == NULL || !is_invariant(flow, value));
}

static void pass_arguments(struct flow *flow, const struct ofl_call *call)
{
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < call->arg_count; i++) {
            const struct ofl_procedure *procedure = call->procedure;
            enum ofl_intent intent = i < procedure->dummy_count ? procedure->dummies[i].intent : OFL_INTENT_INOUT;
            if (call->args[i] == NULL) {
                continue;
            }
            const struct ofl_meaning *meaning = ofl_meaning_of(flow->l->modules, flow->scope, call->args[i]);
            if (pass == 0 && intent != OFL_INTENT_OUT) {
                read_expr(flow, call->args[i]);
            } else if (pass == 1 && intent != OFL_INTENT_IN && meaning->designator) {
                /* A derived type may keep components, and an array elements, that the procedure does not define. */
                bool whole = intent == OFL_INTENT_OUT && meaning->rank == 0 && meaning->type.derived == NULL;
                write_designator(flow, call->args[i], NULL, !whole);
            }
        }
    }
}

/* ---- Statements ---- */

static void walk_block(struct flow *flow, const struct ofl_block *block);

static bool *save(struct flow *flow)
{
    bool *copy = ofl_arena_alloc(flow->l->arena, flow->capacity + 1);
    if (flow->count > 0) {
        memcpy(copy, flow->defined, flow->count);
    }
    return copy;
}

/* Variables met first after `state` was saved are not defined in it. */
static void restore(struct flow *flow, const bool *state, unsigned count)
{
    if (flow->count > 0) {
        memset(flow->defined, 0, flow->count);
    }
    if (count > 0) {
        memcpy(flow->defined, state, count);
    }
}

static void meet(bool *into, const bool *other, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        into[i] = into[i] && other[i];
    }
}

static void walk_arms(struct flow *flow, const struct ofl_stmt *stmt)
{
    unsigned count = flow->count;
    bool *entry = save(flow), *joined = NULL, complete = false;
    for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
        restore(flow, entry, count);
        read_expr(flow, arm->condition);
        read_args(flow, arm->values);
        walk_block(flow, &arm->body);
        complete |= arm->kind == OFL_GUARD_ELSE;
        if (joined == NULL) {
            joined = save(flow);
        } else {
            meet(joined, flow->defined, count);
        }
    }
    if (joined == NULL || !complete || stmt->construct.name != NULL) {
        joined = entry;
    }
    restore(flow, joined, count);
}

static void walk_where(struct flow *flow, const struct ofl_stmt *stmt)
{
    if (stmt->kind == OFL_STMT_WHERE_STMT) {
        read_expr(flow, stmt->as.guarded.condition);
        read_expr(flow, stmt->as.guarded.body->as.assign.value);
        write_designator(flow, stmt->as.guarded.body->as.assign.target, NULL, true);
    } else {
        for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
            read_expr(flow, arm->condition);
            for (struct ofl_stmt *inner = arm->body.first; inner != NULL; inner = inner->next) {
                if (inner->kind == OFL_STMT_ASSIGN) {
                    read_expr(flow, inner->as.assign.value);
                    write_designator(flow, inner->as.assign.target, NULL, true);
                } else if (inner->kind == OFL_STMT_WHERE || inner->kind == OFL_STMT_WHERE_STMT) {
                    walk_where(flow, inner);
                }
            }
        }
    }
}

static void walk_loop(struct flow *flow, const struct ofl_stmt *stmt)
{
    const struct ofl_loop *loop = &stmt->as.loop;
    bool constant = true;
    struct ofl_scope *scope = flow->scope;
    const struct ofl_expr *limits[3] = {loop->first, loop->last, loop->step};
    for (int i = 0; i < 3; i++) {
        read_expr(flow, limits[i]);
        constant &= i == 1 || is_invariant(flow, limits[i]); /* all that run begin alike */
    }
    for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
        read_expr(flow, index->lower);
        read_expr(flow, index->upper);
        read_expr(flow, index->step);
        bool same =
            is_invariant(flow, index->lower) && is_invariant(flow, index->upper) && is_invariant(flow, index->step);
        struct ofl_usage *usage = usage_of(flow, ofl_scope_find(loop->scope, index->ident.name));
        set_varies(flow, usage, !same);
        if (usage->number < flow->count) {
            flow->defined[usage->number] = true;
        }
    }
    flow->scope = loop->scope != NULL ? loop->scope : scope;
    if (loop->form == OFL_LOOP_COUNT) {
        write_designator(flow, loop->variable, constant ? loop->first : NULL, false);
    }
    read_expr(flow, loop->condition);
    unsigned count = flow->count;
    bool *entry = save(flow);
    walk_block(flow, &loop->body);
    restore(flow, entry, count);
    flow->scope = scope;
}

/* Whether `cycle` means the loop itself. */
static bool ends_iteration(const struct flow *flow, const struct ofl_stmt *stmt)
{
    const struct ofl_name *name = stmt->as.exit.name.name;
    const struct ofl_stmt *outer = stmt->parent;
    while (outer != NULL && !(name != NULL ? outer->construct.name == name : outer->kind == OFL_STMT_DO)) {
        outer = outer->parent;
    }
    return outer == flow->l->loop;
}

static void walk_call(struct flow *flow, struct ofl_stmt *stmt)
{
    const struct ofl_action *action = ofl_action_of(flow->l->modules, flow->scope, stmt);
    if (action->call != NULL) {
        pass_arguments(flow, action->call);
    } else if (stmt->kind == OFL_STMT_ASSIGN) {
        read_expr(flow, stmt->as.assign.value);
        write_designator(flow, stmt->as.assign.target, stmt->as.assign.value, false);
    }
}

static void walk_stmt(struct flow *flow, struct ofl_stmt *stmt)
{
    struct ofl_scope *scope = flow->scope;
    flow->scope = ofl_scope_of(stmt, flow->l->unit);
    if (stmt->label.value != 0 && flow->count > 0) { /* where a jump may lead to */
        memset(flow->defined, 0, flow->count);
    }
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
    case OFL_STMT_CALL:
        walk_call(flow, stmt);
        break;
    case OFL_STMT_IF_STMT: {
        read_expr(flow, stmt->as.guarded.condition);
        unsigned count = flow->count;
        bool *entry = save(flow);
        walk_stmt(flow, stmt->as.guarded.body);
        restore(flow, entry, count);
        break;
    }
    case OFL_STMT_IF:
    case OFL_STMT_SELECT_CASE:
    case OFL_STMT_SELECT_TYPE:
    case OFL_STMT_SELECT_RANK:
        read_expr(flow, stmt->as.arms.selector.selector);
        walk_arms(flow, stmt);
        break;
    case OFL_STMT_WHERE:
    case OFL_STMT_WHERE_STMT:
        walk_where(flow, stmt);
        break;
    case OFL_STMT_DO:
    case OFL_STMT_FORALL:
    case OFL_STMT_FORALL_STMT:
        walk_loop(flow, stmt);
        break;
    case OFL_STMT_BLOCK:
    case OFL_STMT_ASSOCIATE: {
        unsigned count = flow->count;
        bool *entry = save(flow);
        for (const struct ofl_association *item = stmt->as.block.associations; item != NULL; item = item->next) {
            read_expr(flow, item->selector);
        }
        walk_block(flow, &stmt->as.block.body);
        if (stmt->construct.name != NULL) {
            restore(flow, entry, count);
        }
        break;
    }
    case OFL_STMT_CYCLE:
        if (ends_iteration(flow, stmt)) {
            meet(flow->certain, flow->defined, flow->count);
        }
        break;
    case OFL_STMT_ERROR_STOP:
        read_expr(flow, stmt->as.stop.code);
        break;
    case OFL_STMT_COMPUTED_GOTO:
    case OFL_STMT_ARITHMETIC_IF:
        read_expr(flow, stmt->as.jump.selector);
        break;
    default:
        break;
    }
    flow->scope = scope;
}

static void walk_block(struct flow *flow, const struct ofl_block *block)
{
    for (struct ofl_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        walk_stmt(flow, stmt);
    }
}

/* ---- Clauses and called procedures ---- */

static void note_localities(struct flow *flow)
{
    const struct ofl_loop *loop = &flow->l->loop->as.loop;
    for (const struct ofl_locality *clause = loop->localities; clause != NULL; clause = clause->next) {
        for (const struct ofl_ident_list *name = clause->names; name != NULL; name = name->next) {
            struct ofl_symbol *symbol = ofl_scope_find_or_implicit(flow->l->modules, flow->l->loop_scope, &name->ident);
            if (symbol == NULL) {
                continue;
            }
            struct ofl_usage *usage = usage_of(flow, symbol);
            usage->listed = true;
            usage->locality = clause->kind;
            usage->clause = clause;
        }
    }
}

static bool note_called(const struct ofl_expr *expr, const struct ofl_meaning *meaning, struct ofl_scope *scope,
                        void *context)
{
    struct flow *flow = context;
    (void)expr;
    (void)scope;
    struct ofl_usage *usage =
        meaning->kind == OFL_MEANS_VARIABLE && meaning->symbol != NULL ? ofl_usage_of(flow->l, meaning->symbol) : NULL;
    if (usage != NULL) {
        usage->called = true;
    }
    return true;
}

static void note_reached(struct flow *flow)
{
    const struct ofl_visitor visitor = {.expr = note_called, .context = flow};
    const struct ofl_reached *reached =
        ofl_reached_from(flow->l->modules, flow->l->unit, (struct ofl_stmt *)flow->l->loop);
    for (; reached != NULL; reached = reached->next) {
        if (reached->procedure->body != NULL) {
            ofl_visit_block(flow->l->modules, reached->procedure->body, &reached->procedure->body->body, &visitor);
        }
    }
}

void ofl_find_usage(struct ofl_lower *l)
{
    struct flow flow = {.l = l, .scope = l->loop->as.loop.scope};
    note_localities(&flow);
    do { /* until nothing more varies */
        flow.changed = false;
        for (unsigned i = 0; i < flow.count; i++) {
            flow.defined[i] = false;
            flow.certain[i] = true;
        }
        walk_block(&flow, &l->loop->as.loop.body);
        meet(flow.certain, flow.defined, flow.count);
    } while (flow.changed);
    for (unsigned i = 0; i < flow.count; i++) {
        flow.all[i]->certain = flow.certain[i];
    }
    note_reached(&flow);
}
