/* Statements; see lower.h.
 *
 * Entry points: ofl_lower_block, ofl_lower_stmt.  Each statement gets a comment with its place and text.  Loops and the
 * like are in lower_control.c. */
#include "fortran/lower.h"

#include <string.h>

void ofl_add_comment(struct ofl_lower *l, struct ofl_span span)
{
    struct ofl_place place = ofl_place_of(l->rewriter->sources, span.begin);
    const char *slash = strrchr(place.file, '/');
    ofl_add_stmt(l, OFL_K_COMMENT)->text = ofl_arena_format(
        l->arena, "%s:%u: %s", slash == NULL ? place.file : slash + 1, place.line, ofl_rewrite_flat(l->rewriter, span));
}

/* ---- If and select ---- */

/* A condition whose temporaries have been given back. */
static struct ofl_k_expr *condition_of(struct ofl_lower *l, const struct ofl_expr *expr)
{
    struct ofl_mark mark = ofl_mark_workspace(l);
    struct ofl_k_expr *condition = ofl_lower_condition(l, expr);
    if (l->allocations != mark.allocations) {
        condition = ofl_keep(l, condition, "c");
        ofl_release_workspace(l, &mark);
    }
    return condition;
}

static void lower_if(struct ofl_lower *l, const struct ofl_arm *arm)
{
    if (arm == NULL) {
        return;
    }
    if (arm->kind != OFL_GUARD_CONDITION) {
        ofl_lower_block(l, &arm->body);
        return;
    }
    struct ofl_k_block *outer = ofl_begin_if(l, condition_of(l, arm->condition));
    ofl_lower_block(l, &arm->body);
    if (arm->next != NULL) {
        ofl_begin_else(l, outer);
        lower_if(l, arm->next);
    }
    ofl_end(l, outer);
}

/* Whether the selector is in one of the ranges of a case. */
static struct ofl_k_expr *is_selected(struct ofl_lower *l, struct ofl_value selector, const struct ofl_arg *values)
{
    struct ofl_k_expr *any = NULL;
    for (const struct ofl_arg *arg = values; arg != NULL; arg = arg->next) {
        const struct ofl_expr *expr = arg->value;
        struct ofl_k_expr *here = NULL;
        if (expr->kind != OFL_EXPR_RANGE) {
            struct ofl_value value = ofl_lower_value(l, expr);
            here = selector.x->type == OFL_K_BOOL
                       ? ofl_op(l, OFL_K_EQ, ofl_to(l, OFL_K_I4, selector.x), ofl_to(l, OFL_K_I4, value.x))
                       : ofl_equal(l, OFL_OPERATOR_EQ, selector, value, expr->span);
        }
        if (expr->kind == OFL_EXPR_RANGE && expr->as.range.lower != NULL) {
            here = ofl_equal(l, OFL_OPERATOR_GE, selector, ofl_lower_value(l, expr->as.range.lower), expr->span);
        }
        if (expr->kind == OFL_EXPR_RANGE && expr->as.range.upper != NULL) {
            struct ofl_k_expr *below =
                ofl_equal(l, OFL_OPERATOR_LE, selector, ofl_lower_value(l, expr->as.range.upper), expr->span);
            here = here == NULL ? below : ofl_op(l, OFL_K_AND, here, below);
        }
        here = here == NULL ? ofl_k_integer(l->arena, OFL_K_BOOL, 1) : here;
        any = any == NULL ? here : ofl_op(l, OFL_K_OR, any, here);
    }
    return any == NULL ? ofl_k_integer(l->arena, OFL_K_BOOL, 0) : any;
}

void ofl_lower_select(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    struct ofl_value selector = ofl_lower_value(l, stmt->as.arms.selector.selector);
    const struct ofl_arm *otherwise = NULL;
    struct ofl_k_block *outer = l->block;
    selector.x = ofl_keep(l, selector.x, "select");
    for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
        if (arm->kind == OFL_GUARD_ELSE) {
            otherwise = arm;
            continue;
        }
        struct ofl_k_block *around = ofl_begin_if(l, is_selected(l, selector, arm->values));
        ofl_lower_block(l, &arm->body);
        ofl_begin_else(l, around);
    }
    if (otherwise != NULL) {
        ofl_lower_block(l, &otherwise->body);
    }
    ofl_end(l, outer);
}

/* ---- Block and associate ---- */

static void lower_associate(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    for (const struct ofl_association *item = stmt->as.block.associations; item != NULL; item = item->next) {
        const struct ofl_meaning *meaning = ofl_lower_meaning(l, item->selector);
        struct ofl_symbol *symbol = ofl_scope_find(stmt->as.block.scope, item->name.name);
        struct ofl_view view;
        if (meaning->designator && !meaning->allocatable && meaning->value == NULL) {
            view = ofl_lower_view(l, item->selector);
            view.address = ofl_keep(l, view.address, "p");
        } else {
            struct ofl_array *array = ofl_lower_array(l, item->selector);
            view = ofl_materialize(l, array, item->selector->span);
            view.root = NULL;
        }
        struct ofl_binding *binding = ofl_bind(l, symbol);
        binding->view = view;
        binding->private = view.root == NULL;
        binding->view.root = view.root == NULL ? binding : view.root;
    }
    ofl_lower_block(l, &stmt->as.block.body);
}

/* A block, associate or if construct: `exit` may leave it. */
static void lower_construct(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    struct ofl_k_block *outer = l->block;
    struct ofl_mark mark = ofl_mark_workspace(l);
    struct ofl_around around = {.stmt = stmt, .outer = l->around};
    if (stmt->construct.name != NULL) {
        around.leave = ofl_add_stmt(l, OFL_K_BLOCK);
        l->block = &around.leave->body;
    }
    l->around = &around; /* cppcheck-suppress autoVariables ; set back at the end */
    switch (stmt->kind) {
    case OFL_STMT_IF:
        lower_if(l, stmt->as.arms.arms);
        break;
    case OFL_STMT_SELECT_CASE:
        ofl_lower_select(l, stmt);
        break;
    case OFL_STMT_BLOCK:
        ofl_declare_scope(l, stmt->as.block.scope, stmt->span);
        ofl_lower_block(l, &stmt->as.block.body);
        break;
    default:
        lower_associate(l, stmt);
        break;
    }
    l->around = around.outer;
    l->block = outer;
    ofl_release_workspace(l, &mark);
}

/* ---- Leaving ---- */

static void lower_leave(struct ofl_lower *l, const struct ofl_stmt *stmt)
{
    const struct ofl_name *name = stmt->as.exit.name.name;
    const struct ofl_around *around = l->around;
    for (; around != NULL; around = around->outer) {
        bool loop = around->stmt != NULL && around->stmt->kind == OFL_STMT_DO;
        if (around->stmt != NULL && (name != NULL ? around->stmt->construct.name == name : loop)) {
            break;
        }
    }
    bool cycle = stmt->kind == OFL_STMT_CYCLE;
    if (around == NULL || (cycle ? around->next_pass == NULL && around->leave == NULL : around->leave == NULL)) {
        ofl_lower_refuse(l, stmt->span, "'%s' of this construct", ofl_stmt_text(stmt->kind));
    }
    if (cycle && around->next_pass != NULL && around->next_pass->kind == OFL_K_LOOP) {
        ofl_add_stmt(l, OFL_K_NEXT)->loop = around->next_pass;
    } else if (cycle) {
        ofl_leave(l, around->next_pass);
    } else {
        ofl_leave(l, around->leave);
    }
}

static void lower_stop(struct ofl_lower *l, const struct ofl_stmt *stmt)
{
    struct ofl_k_expr *none = ofl_k_integer(l->arena, OFL_K_ADDRESS, 0), *text = none, *length = ofl_i8(l, 0);
    struct ofl_k_expr *code = ofl_i8(l, 1), *quiet = ofl_k_integer(l->arena, OFL_K_BOOL, 0);
    int kind = 0;
    if (stmt->as.stop.code != NULL) {
        struct ofl_value value = ofl_lower_value(l, stmt->as.stop.code);
        if (value.type.base == OFL_TYPE_CHARACTER) {
            kind = 2;
            text = value.x;
            length = value.length;
        } else {
            kind = 1;
            code = ofl_to(l, OFL_K_I8, value.x);
        }
    }
    if (stmt->as.stop.quiet != NULL) {
        quiet = ofl_lower_condition(l, stmt->as.stop.quiet);
    }
    l->kernel->status = true;
    ofl_do(l, ofl_k_support(l->arena, OFL_K_VOID, "ofl_thread_stop", ofl_k_integer(l->arena, OFL_K_I4, kind), code,
                            text, length, quiet, NULL));
    ofl_add_stmt(l, OFL_K_EXIT);
}

/* ---- Jumps ---- */

static void jump_if(struct ofl_lower *l, struct ofl_k_expr *condition, unsigned label)
{
    struct ofl_k_block *outer = ofl_begin_if(l, condition);
    ofl_add_stmt(l, OFL_K_GOTO)->number = label;
    ofl_end(l, outer);
}

static void lower_jump(struct ofl_lower *l, const struct ofl_stmt *stmt)
{
    const struct ofl_label_list *labels = stmt->as.jump.labels;
    if (stmt->kind == OFL_STMT_GOTO) {
        ofl_add_stmt(l, OFL_K_GOTO)->number = labels->label.value;
        return;
    }
    struct ofl_value selector = ofl_lower_value(l, stmt->as.jump.selector);
    selector.x = ofl_keep(l, selector.x, "select");
    if (stmt->kind == OFL_STMT_COMPUTED_GOTO) {
        for (int64_t i = 1; labels != NULL; labels = labels->next, i++) {
            jump_if(l, ofl_op(l, OFL_K_EQ, ofl_to(l, OFL_K_I8, selector.x), ofl_i8(l, i)), labels->label.value);
        }
        return;
    }
    struct ofl_value zero = {.type = ofl_kind_type(OFL_TYPE_INTEGER, 4), .x = ofl_k_integer(l->arena, OFL_K_I4, 0)};
    jump_if(l, ofl_equal(l, OFL_OPERATOR_LT, selector, zero, stmt->span), labels->label.value);
    jump_if(l, ofl_equal(l, OFL_OPERATOR_EQ, selector, zero, stmt->span), labels->next->label.value);
    ofl_add_stmt(l, OFL_K_GOTO)->number = labels->next->next->label.value;
}

/* ---- All statements ---- */

static void lower_one(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
        ofl_lower_assignment(l, stmt);
        break;
    case OFL_STMT_CALL:
        ofl_lower_call_stmt(l, stmt);
        break;
    case OFL_STMT_IF_STMT: {
        struct ofl_k_block *outer = ofl_begin_if(l, condition_of(l, stmt->as.guarded.condition));
        ofl_lower_stmt(l, stmt->as.guarded.body);
        ofl_end(l, outer);
        break;
    }
    case OFL_STMT_IF:
    case OFL_STMT_SELECT_CASE:
    case OFL_STMT_BLOCK:
    case OFL_STMT_ASSOCIATE:
        lower_construct(l, stmt);
        break;
    case OFL_STMT_DO:
        if (stmt->as.loop.form == OFL_LOOP_CONCURRENT) {
            ofl_lower_concurrent(l, stmt);
        } else {
            ofl_lower_do(l, stmt);
        }
        break;
    case OFL_STMT_WHERE:
    case OFL_STMT_WHERE_STMT:
        ofl_lower_where(l, stmt);
        break;
    case OFL_STMT_FORALL:
    case OFL_STMT_FORALL_STMT:
        ofl_lower_forall(l, stmt);
        break;
    case OFL_STMT_CYCLE:
    case OFL_STMT_EXIT:
        lower_leave(l, stmt);
        break;
    case OFL_STMT_RETURN:
        if (l->frame->body == NULL || stmt->as.stop.code != NULL) {
            ofl_lower_refuse(l, stmt->span, "this '%s'", ofl_stmt_text(stmt->kind));
        }
        ofl_leave(l, l->frame->body);
        break;
    case OFL_STMT_ERROR_STOP:
        lower_stop(l, stmt);
        break;
    case OFL_STMT_GOTO:
    case OFL_STMT_COMPUTED_GOTO:
    case OFL_STMT_ARITHMETIC_IF:
        lower_jump(l, stmt);
        break;
    case OFL_STMT_CONTINUE:
        break;
    default:
        ofl_lower_refuse(l, stmt->span, "'%s'", ofl_stmt_text(stmt->kind));
    }
}

static bool is_construct(enum ofl_stmt_kind kind)
{
    return kind == OFL_STMT_IF || kind == OFL_STMT_DO || kind == OFL_STMT_SELECT_CASE || kind == OFL_STMT_BLOCK ||
           kind == OFL_STMT_ASSOCIATE || kind == OFL_STMT_WHERE || kind == OFL_STMT_FORALL;
}

void ofl_lower_stmt(struct ofl_lower *l, struct ofl_stmt *stmt)
{
    struct ofl_scope *scope = l->scope;
    bool silent = stmt->kind == OFL_STMT_CONTINUE || stmt->kind == OFL_STMT_BLOCK;
    if (!ofl_stmt_is_executable(stmt->kind)) {
        if (stmt->kind == OFL_STMT_DATA || stmt->kind == OFL_STMT_ENTRY || stmt->kind == OFL_STMT_EQUIVALENCE) {
            ofl_lower_refuse(l, stmt->span, "'%s'", ofl_stmt_text(stmt->kind));
        }
        return;
    }
    l->scope = ofl_scope_of(stmt, l->frame->unit);
    if (stmt->label.value != 0) {
        ofl_add_stmt(l, OFL_K_LABEL)->number = stmt->label.value;
    }
    if (!silent) {
        ofl_add_comment(l, stmt->span);
    }
    struct ofl_mark mark = ofl_mark_workspace(l);
    lower_one(l, stmt);
    if (!is_construct(stmt->kind)) {
        ofl_release_workspace(l, &mark);
    }
    if (is_construct(stmt->kind) && stmt->kind != OFL_STMT_DO && stmt->end_label.value != 0) {
        ofl_add_stmt(l, OFL_K_LABEL)->number = stmt->end_label.value;
    }
    l->scope = scope;
}

void ofl_lower_block(struct ofl_lower *l, const struct ofl_block *block)
{
    for (struct ofl_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        ofl_lower_stmt(l, stmt);
    }
}
