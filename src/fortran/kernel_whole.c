/* What a loop is seen to write as a whole.
 *
 * An array is filled where a statement directly in the loop's body, which every iteration executes, assigns to its
 * element x(i + 1, j, 3): each index once, plus or minus a constant, and constants.  Then all iterations together write
 * a section whose elements are known before the loop runs, so that it can be copied back without being compared with
 * what it was.  Where the array is not read, it need not be copied to the device either.
 *
 * The answer "no" is always safe.  What is not looked into, and answers no: masks, calls, associate names, pointers
 * and targets that other names may reach within the loop, and statements after which an iteration may end early. */
#include "fortran/launch.h"

#include <inttypes.h>
#include <string.h>

struct search {
    const struct ofl_rewriter *rewriter;
    const struct ofl_kernel *kernel;
    const struct ofl_name *name;
    struct ofl_scope *scope;
    const struct ofl_expr *filled; /* the element that is assigned; NULL before one is found */
    bool given_up;                 /* it is written in another way, or that cannot be told */
    bool read;
    unsigned depth;
};

/* ---- Subscripts ---- */

struct subscript {
    unsigned index; /* from 1; 0: a constant */
    int64_t offset;
};

static bool is_constant(const struct search *search, const struct ofl_expr *expr, int64_t *value)
{
    return ofl_constant_integer(search->rewriter->modules, search->scope, expr, value);
}

static unsigned index_of(const struct search *search, const struct ofl_expr *expr)
{
    for (unsigned i = 0; i < search->kernel->index_count && expr->kind == OFL_EXPR_NAME; i++) {
        if (search->kernel->indices[i].index->ident.name == expr->as.name.name) {
            return i + 1;
        }
    }
    return 0;
}

/* subscript = index | index ("+" | "-") constant | constant "+" index | constant */
static bool read_subscript(const struct search *search, const struct ofl_expr *expr, struct subscript *out)
{
    *out = (struct subscript){index_of(search, expr), 0};
    if (out->index != 0) {
        return true;
    }
    if (expr->kind == OFL_EXPR_BINARY &&
        (expr->as.operation.op == OFL_OPERATOR_ADD || expr->as.operation.op == OFL_OPERATOR_SUB)) {
        const struct ofl_expr *left = expr->as.operation.left, *right = expr->as.operation.right;
        bool minus = expr->as.operation.op == OFL_OPERATOR_SUB;
        if ((out->index = index_of(search, left)) != 0) {
            bool known = is_constant(search, right, &out->offset) && out->offset > INT32_MIN;
            out->offset = minus ? -out->offset : out->offset;
            return known;
        }
        if (!minus && (out->index = index_of(search, right)) != 0) {
            return is_constant(search, left, &out->offset);
        }
    }
    return is_constant(search, expr, &out->offset);
}

/* Whether an element is another one in each iteration: then its subscripts, as ofl_loops_whole takes them. */
static const char *own_element(const struct search *search, const struct ofl_expr *element)
{
    struct ofl_text text = {.arena = search->rewriter->arena};
    unsigned seen = 0, dimensions = 0;
    for (const struct ofl_arg *arg = element->as.call.args; arg != NULL; arg = arg->next) {
        struct subscript subscript;
        if (arg->value == NULL || arg->keyword.name != NULL || !read_subscript(search, arg->value, &subscript) ||
            (subscript.index != 0 && (seen >> subscript.index & 1) != 0)) {
            return NULL;
        }
        seen |= subscript.index != 0 ? 1u << subscript.index : 0;
        ofl_text_print(&text, "%s%u,%" PRId64, dimensions++ == 0 ? "" : ",", subscript.index, subscript.offset);
    }
    return dimensions > 0 && seen == (1u << (search->kernel->index_count + 1)) - 2 ? text.bytes : NULL;
}

/* ---- Where the array is read ---- */

static void look_at(struct search *search, const struct ofl_expr *expr);

static void look_at_arguments(struct search *search, const struct ofl_arg *arg)
{
    for (; arg != NULL; arg = arg->next) {
        look_at(search, arg->value);
    }
}

static bool is_intrinsic_type(const struct ofl_symbol *symbol)
{
    return symbol != NULL && symbol->typed &&
           (symbol->type.kind_of == OFL_TYPE_INTEGER || symbol->type.kind_of == OFL_TYPE_REAL ||
            symbol->type.kind_of == OFL_TYPE_COMPLEX || symbol->type.kind_of == OFL_TYPE_LOGICAL ||
            symbol->type.kind_of == OFL_TYPE_CHARACTER);
}

/* Operations on derived types may be procedures, which may read anything. */
static void look_at_name(struct search *search, const struct ofl_name *name)
{
    const struct ofl_symbol *symbol = ofl_scope_find(search->scope, name);
    bool plain = symbol == NULL || symbol->class == OFL_SYMBOL_INDEX || symbol->class == OFL_SYMBOL_NAMELIST ||
                 is_intrinsic_type(symbol);
    search->read |= name == search->name || !plain;
}

/* An array, or a function that might be anything: only intrinsic ones are known not to read it by themselves. */
static void look_at_call(struct search *search, const struct ofl_expr *expr)
{
    const struct ofl_expr *base = expr->as.call.base;
    if (base->kind == OFL_EXPR_NAME && base->as.name.name != search->name) {
        const struct ofl_symbol *symbol = ofl_scope_find(search->scope, base->as.name.name);
        bool variable = symbol != NULL && symbol->class == OFL_SYMBOL_VARIABLE;
        bool intrinsic = symbol == NULL ? !search->scope->open : OFL_HAS(symbol, INTRINSIC);
        search->read |= !intrinsic && !(variable && is_intrinsic_type(symbol));
    } else {
        search->read |= base->kind != OFL_EXPR_NAME;
        look_at(search, base);
    }
    look_at_arguments(search, expr->as.call.args);
}

static void look_at(struct search *search, const struct ofl_expr *expr)
{
    if (expr == NULL || search->given_up) {
        return;
    }
    if (++search->depth > 200) {
        search->given_up = true;
        return;
    }
    switch (expr->kind) {
    case OFL_EXPR_NAME:
        look_at_name(search, expr->as.name.name);
        break;
    case OFL_EXPR_INTEGER:
    case OFL_EXPR_REAL:
    case OFL_EXPR_LOGICAL:
    case OFL_EXPR_CHARACTER:
    case OFL_EXPR_BOZ:
        break;
    case OFL_EXPR_CALL:
        look_at_call(search, expr);
        break;
    case OFL_EXPR_COMPONENT:
        look_at(search, expr->as.component.base);
        break;
    case OFL_EXPR_COMPLEX:
        look_at(search, expr->as.complex.re);
        look_at(search, expr->as.complex.im);
        break;
    case OFL_EXPR_UNARY:
    case OFL_EXPR_BINARY:
    case OFL_EXPR_PAREN:
        search->read |= expr->kind != OFL_EXPR_PAREN && expr->as.operation.op == OFL_OPERATOR_DEFINED;
        look_at(search, expr->kind == OFL_EXPR_BINARY ? expr->as.operation.left : NULL);
        look_at(search, expr->as.operation.right);
        break;
    case OFL_EXPR_RANGE:
        look_at(search, expr->as.range.lower);
        look_at(search, expr->as.range.upper);
        look_at(search, expr->as.range.step);
        break;
    default:
        search->read = true;
        break;
    }
    search->depth--;
}

/* ---- Where it is written ---- */

static const struct ofl_name *base_name(const struct ofl_expr *target)
{
    while (target->kind == OFL_EXPR_CALL || target->kind == OFL_EXPR_COMPONENT) {
        target = target->kind == OFL_EXPR_CALL ? target->as.call.base : target->as.component.base;
    }
    return target->kind == OFL_EXPR_NAME ? target->as.name.name : NULL;
}

static void look_at_assignment(struct search *search, const struct ofl_stmt *stmt)
{
    const struct ofl_expr *target = stmt->as.assign.target;
    look_at(search, stmt->as.assign.value);
    if (target->kind == OFL_EXPR_CALL) {
        look_at_arguments(search, target->as.call.args);
    }
    if (base_name(target) != search->name) {
        search->given_up |= base_name(target) == NULL;
        return;
    }
    bool element = target->kind == OFL_EXPR_CALL && target->as.call.base->kind == OFL_EXPR_NAME;
    bool always = stmt->parent == search->kernel->stmt;
    if (!element || !always || own_element(search, target) == NULL) {
        search->given_up = true;
    } else if (search->filled == NULL) {
        search->filled = target;
    } else {
        search->given_up |= own_element(search, target) == NULL ||
                            strcmp(own_element(search, target), own_element(search, search->filled)) != 0;
    }
}

/* `cycle` of a loop inside the body. */
static bool is_inner_cycle(const struct search *search, const struct ofl_stmt *stmt)
{
    if (stmt->as.exit.name.name != NULL) {
        return stmt->as.exit.name.name != search->kernel->stmt->construct.name;
    }
    for (const struct ofl_stmt *around = stmt->parent; around != NULL && around != search->kernel->stmt;
         around = around->parent) {
        if (around->kind == OFL_STMT_DO) {
            return true;
        }
    }
    return false;
}

static void look_at_arms(struct search *search, const struct ofl_stmt *stmt)
{
    look_at(search, stmt->as.arms.selector.selector);
    for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
        look_at(search, arm->condition);
        look_at_arguments(search, arm->values);
    }
}

static void look_at_loop(struct search *search, const struct ofl_loop *loop)
{
    if (loop->form == OFL_LOOP_CONCURRENT) {
        search->given_up = true;
        return;
    }
    look_at(search, loop->first);
    look_at(search, loop->last);
    look_at(search, loop->step);
    look_at(search, loop->condition);
    search->given_up |= loop->variable != NULL && base_name(loop->variable) == search->name;
}

static bool look_at_stmt(struct ofl_stmt *stmt, void *context)
{
    struct search *search = context;
    switch (stmt->kind) {
    case OFL_STMT_ASSIGN:
        look_at_assignment(search, stmt);
        break;
    case OFL_STMT_IF:
    case OFL_STMT_SELECT_CASE:
        look_at_arms(search, stmt);
        break;
    case OFL_STMT_IF_STMT:
        look_at(search, stmt->as.guarded.condition);
        break;
    case OFL_STMT_DO:
        look_at_loop(search, &stmt->as.loop);
        break;
    case OFL_STMT_CYCLE:
        search->given_up |= !is_inner_cycle(search, stmt);
        break;
    case OFL_STMT_ERROR_STOP:
        look_at(search, stmt->as.stop.code);
        break;
    case OFL_STMT_EXIT:
    case OFL_STMT_CONTINUE:
    case OFL_STMT_DIRECTIVE:
    case OFL_STMT_INCLUDE:
    case OFL_STMT_FORMAT:
        break;
    default:
        search->given_up = true;
        break;
    }
    return !search->given_up;
}

static bool is_reduced(const struct ofl_kernel *kernel, const struct ofl_kernel_object *object)
{
    const struct ofl_kernel_reduction *item = kernel->reductions;
    while (item != NULL && item->object != object) {
        item = item->next;
    }
    return item != NULL;
}

struct ofl_coverage ofl_kernel_coverage(const struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel,
                                        const struct ofl_kernel_object *object)
{
    struct ofl_coverage coverage = {.whole = false};
    const struct ofl_loop *loop = &kernel->stmt->as.loop;
    const struct ofl_symbol *symbol = object->symbol;
    if (!object->written || object->rank == 0 || object->host == NULL || object->leaf != NULL ||
        symbol->type.kind_of == OFL_TYPE_CHARACTER || is_reduced(kernel, object) || loop->condition != NULL ||
        !is_intrinsic_type(symbol) || kernel->index_count > 15 || loop->body.first == NULL) {
        return coverage;
    }
    struct search search = {.rewriter = rewriter,
                            .kernel = kernel,
                            .name = symbol->name,
                            .scope = ofl_scope_of(loop->body.first, kernel->unit)};
    ofl_walk_stmts(&loop->body, look_at_stmt, &search);
    if (!search.given_up && search.filled != NULL) {
        coverage.whole = true;
        coverage.subscripts = own_element(&search, search.filled);
        coverage.unread = !search.read;
    }
    return coverage;
}

const char *ofl_launch_report(const struct ofl_rewriter *rewriter, const struct ofl_kernel *kernel)
{
    struct ofl_text text = {.arena = rewriter->arena};
    bool any = false;
    ofl_text_print(&text, "offloaded: kernel %s", kernel->name);
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        if (object->written) {
            struct ofl_coverage coverage = ofl_kernel_coverage(rewriter, kernel, object);
            ofl_text_print(&text, "%s%s %s", any ? ", " : "; copies back ",
                           object->host != NULL ? object->host : object->c_name,
                           coverage.whole ? "as a whole" : "where it changed");
            any = true;
        }
    }
    return text.bytes;
}
