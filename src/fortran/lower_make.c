/* Making statements and variables of the kernel form at the place where lowering stands; see lower.h. */
#include "fortran/lower.h"

#include <string.h>

enum { LOCAL_BYTES = 1024 }; /* larger temporaries are workspace */

/* ---- Names and variables ---- */

/* Words that a variable of the program may be called and a variable of the kernel may not. */
static const char *const reserved[] = {
    "alignas",  "alignof",  "and",     "asm",     "atomic",   "auto",        "bool",     "break",     "case",
    "catch",    "char",     "class",   "compl",   "complex",  "concept",     "const",    "consteval", "constexpr",
    "continue", "decltype", "default", "delete",  "do",       "double",      "else",     "enum",      "explicit",
    "export",   "extern",   "false",   "float",   "for",      "friend",      "goto",     "if",        "inline",
    "int",      "long",     "main",    "mutable", "new",      "namespace",   "noexcept", "not",       "nullptr",
    "operator", "or",       "private", "public",  "register", "protected",   "requires", "restrict",  "return",
    "short",    "signed",   "sizeof",  "static",  "struct",   "switch",      "template", "this",      "thread",
    "throw",    "true",     "try",     "typedef", "typeid",   "typename",    "typeof",   "union",     "unix",
    "linux",    "unsigned", "using",   "virtual", "void",     "volatile",    "wchar_t",  "while",     "xor",
    "short",    "signed",   "isnan",   "isinf",   "signbit",  "thread_local"};

static bool has_variable(const struct ofl_k_var *var, const char *name)
{
    while (var != NULL && strcmp(var->name, name) != 0) {
        var = var->next;
    }
    return var != NULL;
}

const char *ofl_c_name(struct ofl_lower *l, const char *name)
{
    bool taken = strncmp(name, "ofl", 3) == 0;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved && !taken; i++) {
        taken = strcmp(reserved[i], name) == 0;
    }
    for (const struct ofl_object *object = l->objects; object != NULL && !taken; object = object->next) {
        taken = strcmp(object->public.c_name, name) == 0;
    }
    for (const struct ofl_value_parameter *scalar = l->scalars; scalar != NULL && !taken; scalar = scalar->next) {
        taken = strcmp(scalar->public.c_name, name) == 0;
    }
    for (const struct ofl_k_var *var = l->tables; var != NULL && !taken; var = var->next) {
        taken = strcmp(var->name, name) == 0;
    }
    /* A function may find a parameter of the kernel, which has variables by then. */
    for (const struct ofl_frame *frame = l->frame; frame != NULL && !taken; frame = frame->outer) {
        taken = has_variable(frame->function->variables, name) || has_variable(frame->function->parameters, name);
    }
    return taken ? ofl_arena_format(l->arena, "%s__%u", name, ++l->names) : name;
}

static struct ofl_k_var *make_var(struct ofl_lower *l, const char *name, enum ofl_k_type type,
                                  enum ofl_k_storage storage)
{
    struct ofl_k_var *var = OFL_NEW(l->arena, struct ofl_k_var);
    var->name = ofl_c_name(l, name);
    var->type = type;
    var->storage = storage;
    return var;
}

static void append(struct ofl_k_var **first, struct ofl_k_var **last, struct ofl_k_var *var)
{
    if (*last == NULL) {
        *first = var;
    } else {
        (*last)->next = var;
    }
    *last = var;
}

struct ofl_k_var *ofl_new_var(struct ofl_lower *l, const char *name, enum ofl_k_type type)
{
    struct ofl_k_var *var = make_var(l, name, type, OFL_K_LOCAL);
    append(&l->frame->function->variables, &l->frame->function->last_variable, var);
    return var;
}

struct ofl_k_var *ofl_new_memory(struct ofl_lower *l, const char *name, enum ofl_k_type type, int64_t bytes)
{
    struct ofl_k_var *var = ofl_new_var(l, name, type);
    var->bytes = bytes > 0 ? bytes : 1;
    if (bytes <= 0) {
        var->type = OFL_K_VOID;
    }
    return var;
}

struct ofl_k_var *ofl_new_parameter(struct ofl_lower *l, const char *name, enum ofl_k_type type)
{
    struct ofl_k_var *var = make_var(l, name, type, OFL_K_PARAMETER);
    append(&l->frame->function->parameters, &l->frame->function->last_parameter, var);
    return var;
}

struct ofl_k_var *ofl_new_table(struct ofl_lower *l, const char *name, enum ofl_k_type type, int64_t bytes,
                                const char *initial)
{
    /* Tables stand outside of functions, those of all loops of the file beside each other. */
    struct ofl_k_var *var =
        make_var(l, ofl_arena_format(l->arena, "%s_%u", name, l->kernel->number), type, OFL_K_TABLE);
    var->bytes = bytes;
    var->initial = initial;
    append(&l->tables, &l->last_table, var);
    return var;
}

/* ---- Expressions ---- */

struct ofl_k_expr *ofl_i8(struct ofl_lower *l, int64_t value)
{
    return ofl_k_integer(l->arena, OFL_K_I8, value);
}

struct ofl_k_expr *ofl_get(struct ofl_lower *l, struct ofl_k_var *var)
{
    return ofl_k_var_value(l->arena, var);
}

struct ofl_k_expr *ofl_op(struct ofl_lower *l, enum ofl_k_op op, struct ofl_k_expr *a, struct ofl_k_expr *b)
{
    return ofl_k_binary(l->arena, op, a, b);
}

struct ofl_k_expr *ofl_not(struct ofl_lower *l, struct ofl_k_expr *a)
{
    return ofl_k_unary(l->arena, OFL_K_NOT, a);
}

struct ofl_k_expr *ofl_to(struct ofl_lower *l, enum ofl_k_type type, struct ofl_k_expr *value)
{
    return ofl_k_convert(l->arena, type, value);
}

struct ofl_k_expr *ofl_keep(struct ofl_lower *l, struct ofl_k_expr *value, const char *name)
{
    if (value->op == OFL_K_CONST || value->op == OFL_K_ADDRESS_OF ||
        (value->op == OFL_K_VAR && value->var->storage != OFL_K_LOCAL && value->var->storage != OFL_K_PARAMETER)) {
        return value;
    }
    if (value->op == OFL_K_VAR && strncmp(value->var->name, "ofl_", 4) == 0) {
        return value; /* one of ours is set once */
    }
    struct ofl_k_var *var = ofl_new_var(l, ofl_arena_format(l->arena, "ofl_%s%u", name, ++l->names), value->type);
    /* ofl_c_name takes the prefix for a clash: give the plain name back. */
    var->name = ofl_arena_format(l->arena, "ofl_%s%u", name, l->names);
    ofl_set(l, var, value);
    return ofl_get(l, var);
}

/* ---- Statements ---- */

struct ofl_k_stmt *ofl_add_stmt(struct ofl_lower *l, enum ofl_k_stmt_kind kind)
{
    struct ofl_k_stmt *stmt = ofl_k_add(l->arena, l->block, kind);
    if (kind == OFL_K_LOOP || kind == OFL_K_BLOCK) {
        stmt->number = ++l->labels;
    }
    return stmt;
}

void ofl_set(struct ofl_lower *l, struct ofl_k_var *var, struct ofl_k_expr *value)
{
    struct ofl_k_stmt *stmt = ofl_add_stmt(l, OFL_K_SET);
    stmt->var = var;
    stmt->value = value;
}

void ofl_store(struct ofl_lower *l, struct ofl_k_expr *address, struct ofl_k_expr *value)
{
    struct ofl_k_var *var = address->op == OFL_K_ADDRESS_OF ? address->var : NULL;
    bool plain = var != NULL && var->bytes == 0 && var->type == value->type;
    if (plain && (var->storage == OFL_K_LOCAL || var->storage == OFL_K_PARAMETER)) {
        ofl_set(l, var, value);
        return;
    }
    struct ofl_k_stmt *stmt = ofl_add_stmt(l, OFL_K_STORE);
    stmt->address = address;
    stmt->value = value;
}

void ofl_copy(struct ofl_lower *l, struct ofl_k_expr *to, struct ofl_k_expr *from, struct ofl_k_expr *bytes)
{
    struct ofl_k_stmt *stmt = ofl_add_stmt(l, OFL_K_COPY);
    stmt->address = to;
    stmt->value = from;
    stmt->bytes = bytes;
}

void ofl_do(struct ofl_lower *l, struct ofl_k_expr *call)
{
    ofl_add_stmt(l, OFL_K_DO)->value = call;
}

struct ofl_k_block *ofl_begin_if(struct ofl_lower *l, struct ofl_k_expr *condition)
{
    struct ofl_k_block *outer = l->block;
    struct ofl_k_stmt *stmt = ofl_add_stmt(l, OFL_K_IF);
    stmt->value = condition;
    l->block = &stmt->body;
    return outer;
}

/* The other branch of the last if of `outer`. */
struct ofl_k_block *ofl_begin_else(struct ofl_lower *l, struct ofl_k_block *outer)
{
    l->block = &outer->last->other;
    return outer;
}

void ofl_end(struct ofl_lower *l, struct ofl_k_block *outer)
{
    l->block = outer;
}

void ofl_leave(struct ofl_lower *l, struct ofl_k_stmt *loop)
{
    ofl_add_stmt(l, OFL_K_BREAK)->loop = loop;
}

struct ofl_element_loops ofl_begin_elements(struct ofl_lower *l, unsigned rank, struct ofl_k_expr *const *extent)
{
    struct ofl_element_loops loops = {.outer = l->block};
    for (unsigned d = rank; d-- > 0;) {
        struct ofl_k_var *var = ofl_new_var(l, "ofl_k", OFL_K_I8);
        var->name = ofl_arena_format(l->arena, "ofl_k%u", ++l->names);
        ofl_set(l, var, ofl_i8(l, 0));
        struct ofl_k_stmt *loop = ofl_add_stmt(l, OFL_K_LOOP);
        loop->value = ofl_op(l, OFL_K_LT, ofl_get(l, var), extent[d]);
        struct ofl_k_stmt *step = ofl_k_add(l->arena, &loop->step, OFL_K_SET);
        step->var = var;
        step->value = ofl_op(l, OFL_K_ADD, ofl_get(l, var), ofl_i8(l, 1));
        loops.subscript[d] = ofl_get(l, var);
        loops.outermost = loops.outermost == NULL ? loop : loops.outermost;
        l->block = &loop->body;
    }
    return loops;
}

void ofl_end_elements(struct ofl_lower *l, const struct ofl_element_loops *loops)
{
    l->block = loops->outer;
}

struct ofl_k_expr *ofl_count(struct ofl_lower *l, unsigned rank, struct ofl_k_expr *const *extent)
{
    struct ofl_k_expr *count = ofl_i8(l, 1);
    for (unsigned d = 0; d < rank; d++) {
        count = ofl_op(l, OFL_K_MUL, count, extent[d]);
    }
    return count;
}

/* ---- Memory ---- */

struct ofl_k_expr *ofl_temporary(struct ofl_lower *l, struct ofl_k_expr *bytes, enum ofl_k_type type)
{
    int64_t size;
    if (ofl_k_is_constant(bytes, &size) && size <= LOCAL_BYTES) {
        struct ofl_k_var *var = ofl_new_memory(l, "ofl_t", type, size);
        var->name = ofl_arena_format(l->arena, "ofl_t%u", ++l->names);
        return ofl_k_address_of(l->arena, var);
    }
    l->allocations++;
    l->kernel->workspace = l->kernel->status = true;
    return ofl_keep(l, ofl_k_support(l->arena, OFL_K_ADDRESS, "ofl_thread_allocate", bytes, NULL), "t");
}

struct ofl_mark ofl_mark_workspace(struct ofl_lower *l)
{
    return (struct ofl_mark){l->block, l->block->last, l->allocations};
}

void ofl_release_workspace(struct ofl_lower *l, const struct ofl_mark *mark)
{
    if (l->allocations == mark->allocations) {
        return;
    }
    struct ofl_k_var *var = ofl_new_var(l, "ofl_mark", OFL_K_ADDRESS);
    var->name = ofl_arena_format(l->arena, "ofl_mark%u", ++l->names);
    struct ofl_k_stmt *take = OFL_NEW(l->arena, struct ofl_k_stmt);
    take->kind = OFL_K_SET;
    take->var = var;
    take->value = ofl_k_support(l->arena, OFL_K_ADDRESS, "ofl_thread_mark", NULL);
    struct ofl_k_stmt **place = mark->before == NULL ? &mark->block->first : &mark->before->next;
    take->next = *place;
    *place = take;
    mark->block->last = take->next == NULL ? take : mark->block->last;
    ofl_do(l, ofl_k_support(l->arena, OFL_K_VOID, "ofl_thread_release", ofl_get(l, var), NULL));
}
