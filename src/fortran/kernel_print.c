/* The kernel form in CUDA C, which is also C with <gpu-offload/host_kernel.h>; see kernel_form.h.
 *
 * Entry points: ofl_k_print for one function, ofl_k_print_head for its declaration.  The form has been validated.
 *
 * Every operation on small integers is cast back to its type, since C computes in int; every operation is in brackets.
 * Variables are declared at the top, so that no go to crosses an initialization, which C++ forbids. */
#include "fortran/kernel_form.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct printer {
    struct ofl_text *out;
    const struct ofl_k_function *function;
    const char *record;
    unsigned depth;
    const struct ofl_k_stmt *innermost; /* the C loop that break and continue mean */
};

static const char *const op_texts[] = {
#define OFL_K_OP(name, text, operands, rule) [OFL_K_##name] = text,
#include "fortran/kernel_ops.def"
#undef OFL_K_OP
};

static void add(struct printer *printer, const char *text)
{
    ofl_text_add(printer->out, text, strlen(text));
}

/* ---- Expressions ---- */

static void print_expr(struct printer *printer, const struct ofl_k_expr *expr);

static void print_integer(struct printer *printer, enum ofl_k_type type, int64_t value)
{
    switch (type) {
    case OFL_K_BOOL:
        add(printer, value != 0 ? "true" : "false");
        break;
    case OFL_K_ADDRESS:
        add(printer, "((char *) 0)");
        break;
    case OFL_K_I8:
        ofl_text_print(printer->out,
                       value == INT64_MIN ? "(-9223372036854775807LL - 1)"
                       : value < 0        ? "(%" PRId64 "LL)"
                                          : "%" PRId64 "LL",
                       value);
        break;
    case OFL_K_I4:
        ofl_text_print(printer->out,
                       value == INT32_MIN ? "(-2147483647 - 1)"
                       : value < 0        ? "(%" PRId64 ")"
                                          : "%" PRId64,
                       value);
        break;
    default:
        ofl_text_print(printer->out, "((%s) %" PRId64 ")", ofl_k_type_text(type), value);
        break;
    }
}

/* With as many digits as bring back the same value. */
static void print_real(struct printer *printer, enum ofl_k_type type, double value)
{
    char decimal[64];
    if (!isfinite(value)) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        ofl_text_print(printer->out, "((%s) ofl_bits_r8(%" PRIu64 "ULL))", ofl_k_type_text(type), bits);
        return;
    }
    snprintf(decimal, sizeof decimal, type == OFL_K_R8 ? "%.17g" : "%.9g", value);
    for (int digits = 1; digits < 17; digits++) { /* the shortest that does */
        char shorter[64];
        double back;
        snprintf(shorter, sizeof shorter, "%.*g", digits, value);
        sscanf(shorter, "%lf", &back);
        if (type == OFL_K_R8 ? back == value : (float)back == (float)value) {
            memcpy(decimal, shorter, strlen(shorter) + 1);
            break;
        }
    }
    ofl_text_print(printer->out, "%s%s%s%s%s", signbit(value) ? "(" : "", decimal,
                   strpbrk(decimal, ".e") == NULL ? ".0" : "", type == OFL_K_R8 ? "" : "f", signbit(value) ? ")" : "");
}

static void print_name(struct printer *printer, const struct ofl_k_var *var)
{
    bool reached = var->storage == OFL_K_GLOBAL && !printer->function->kernel;
    ofl_text_print(printer->out, "%s%s", reached ? "ofl->" : "", var->name);
}

static void print_call(struct printer *printer, const struct ofl_k_expr *expr)
{
    bool first = true;
    if (expr->function != NULL) {
        ofl_text_print(printer->out, "%s(ofl", expr->function->name);
        first = false;
    } else if (strncmp(expr->support, "ofl_thread_", 11) == 0) {
        ofl_text_print(printer->out, "%s(&ofl->thread", expr->support);
        first = false;
    } else {
        ofl_text_print(printer->out, "%s(", expr->support);
    }
    for (const struct ofl_k_args *arg = expr->args; arg != NULL; arg = arg->next) {
        add(printer, first ? "" : ", ");
        print_expr(printer, arg->value);
        first = false;
    }
    add(printer, ")");
}

static void print_operation(struct printer *printer, const struct ofl_k_expr *expr)
{
    bool narrow = expr->type == OFL_K_I1 || expr->type == OFL_K_I2;
    if (ofl_k_is_complex(expr->operand[0]->type)) { /* ofl_add_c4: C++ and C have different complex types */
        static const char *const names[] = {
            [OFL_K_NEG] = "neg", [OFL_K_ADD] = "add", [OFL_K_SUB] = "sub", [OFL_K_MUL] = "mul",
            [OFL_K_DIV] = "div", [OFL_K_EQ] = "eq",   [OFL_K_NE] = "ne"};
        /* What the validator refuses is printed in its message. */
        bool known = (size_t)expr->op < sizeof names / sizeof *names && names[expr->op] != NULL;
        ofl_text_print(printer->out, "ofl_%s_%s(", known ? names[expr->op] : "unknown",
                       ofl_k_suffix(expr->operand[0]->type));
        print_expr(printer, expr->operand[0]);
        if (expr->operand[1] != NULL) {
            add(printer, ", ");
            print_expr(printer, expr->operand[1]);
        }
        add(printer, ")");
        return;
    }
    if (narrow) {
        ofl_text_print(printer->out, "((%s) ", ofl_k_type_text(expr->type));
    }
    add(printer, "(");
    if (expr->operand[1] == NULL) {
        add(printer, op_texts[expr->op]);
        print_expr(printer, expr->operand[0]);
    } else {
        print_expr(printer, expr->operand[0]);
        ofl_text_print(printer->out, " %s ", op_texts[expr->op]);
        print_expr(printer, expr->operand[1]);
    }
    add(printer, narrow ? "))" : ")");
}

static void print_expr(struct printer *printer, const struct ofl_k_expr *expr)
{
    switch (expr->op) {
    case OFL_K_CONST:
        if (ofl_k_is_real(expr->type)) {
            print_real(printer, expr->type, expr->real);
        } else {
            print_integer(printer, expr->type, expr->integer);
        }
        break;
    case OFL_K_VAR:
        print_name(printer, expr->var);
        break;
    case OFL_K_ADDRESS_OF:
        add(printer, expr->var->bytes > 0 ? "((char *) " : "((char *) &");
        print_name(printer, expr->var);
        add(printer, ")");
        break;
    case OFL_K_LOAD:
        ofl_text_print(printer->out, "*(%s *) ", ofl_k_type_text(expr->type));
        print_expr(printer, expr->operand[0]);
        break;
    case OFL_K_CONVERT:
        if (expr->type == OFL_K_BOOL && expr->operand[0]->type != OFL_K_BOOL) {
            add(printer, "(");
            print_expr(printer, expr->operand[0]);
            add(printer, " != 0)");
        } else {
            ofl_text_print(printer->out, "((%s) ", ofl_k_type_text(expr->type));
            print_expr(printer, expr->operand[0]);
            add(printer, ")");
        }
        break;
    case OFL_K_SELECT:
        add(printer, "(");
        print_expr(printer, expr->operand[0]);
        add(printer, " ? ");
        print_expr(printer, expr->operand[1]);
        add(printer, " : ");
        print_expr(printer, expr->operand[2]);
        add(printer, ")");
        break;
    case OFL_K_CALL:
        print_call(printer, expr);
        break;
    case OFL_K_COMPLEX:
        ofl_text_print(printer->out, "ofl_complex_%s(", ofl_k_suffix(expr->type));
        print_expr(printer, expr->operand[0]);
        add(printer, ", ");
        print_expr(printer, expr->operand[1]);
        add(printer, ")");
        break;
    case OFL_K_RE:
    case OFL_K_IM:
        add(printer, "(");
        print_expr(printer, expr->operand[0]);
        ofl_text_print(printer->out, ")%s", op_texts[expr->op]);
        break;
    default:
        print_operation(printer, expr);
        break;
    }
}

/* Without the brackets around the whole. */
static void print_bare(struct printer *printer, const struct ofl_k_expr *expr)
{
    size_t begin = printer->out->length;
    print_expr(printer, expr);
    char *text = printer->out->bytes + begin;
    size_t length = printer->out->length - begin;
    int depth = 0;
    if (text[0] != '(') {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0 && i + 1 < length) {
            return; /* the first bracket closes before the end */
        }
    }
    memmove(text, text + 1, length - 2);
    printer->out->length -= 2;
    printer->out->bytes[printer->out->length] = '\0';
}

const char *ofl_k_expr_text(const struct ofl_k_expr *expr, struct ofl_arena *arena)
{
    static const struct ofl_k_function anywhere = {.kernel = true};
    struct ofl_text text = {.arena = arena};
    struct printer printer = {.out = &text, .function = &anywhere};
    print_expr(&printer, expr);
    return text.bytes;
}

/* ---- Statements ---- */

static void print_block(struct printer *printer, const struct ofl_k_block *block);

static void indent(struct printer *printer)
{
    for (unsigned i = 0; i < printer->depth; i++) {
        add(printer, "    ");
    }
}

/* Whether a statement below leaves (or goes on with) `loop` from inside another C loop, so that it needs a label. */
static bool needs_label(const struct ofl_k_block *block, const struct ofl_k_stmt *loop, enum ofl_k_stmt_kind kind,
                        bool inner)
{
    for (const struct ofl_k_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        bool below = inner || stmt->kind == OFL_K_LOOP;
        if (stmt->kind == kind && stmt->loop == loop && inner) {
            return true;
        }
        if (needs_label(&stmt->body, loop, kind, below) || needs_label(&stmt->other, loop, kind, below)) {
            return true;
        }
    }
    return false;
}

static void print_if(struct printer *printer, const struct ofl_k_stmt *stmt)
{
    add(printer, "if (");
    print_bare(printer, stmt->value);
    add(printer, ") {\n");
    print_block(printer, &stmt->body);
    while (stmt->other.first != NULL) {
        const struct ofl_k_stmt *next = stmt->other.first;
        indent(printer);
        if (next->kind != OFL_K_IF || next->next != NULL) {
            add(printer, "} else {\n");
            print_block(printer, &stmt->other);
            break;
        }
        add(printer, "} else if (");
        print_bare(printer, next->value);
        add(printer, ") {\n");
        print_block(printer, &next->body);
        stmt = next;
    }
    indent(printer);
    add(printer, "}\n");
}

static void print_loop(struct printer *printer, const struct ofl_k_stmt *stmt)
{
    const struct ofl_k_stmt *outer = printer->innermost;
    printer->innermost = stmt;
    if (stmt->step.first == NULL && stmt->value != NULL) {
        add(printer, "while (");
        print_bare(printer, stmt->value);
    } else {
        add(printer, "for (; ");
        if (stmt->value != NULL) {
            print_bare(printer, stmt->value);
        }
        add(printer, ";");
        for (const struct ofl_k_stmt *step = stmt->step.first; step != NULL; step = step->next) {
            ofl_text_print(printer->out, "%s%s = ", step == stmt->step.first ? " " : ", ", step->var->name);
            print_bare(printer, step->value);
        }
    }
    add(printer, ") {\n");
    print_block(printer, &stmt->body);
    if (needs_label(&stmt->body, stmt, OFL_K_NEXT, false)) {
        indent(printer);
        ofl_text_print(printer->out, "ofl_next_%u:;\n", stmt->number);
    }
    indent(printer);
    add(printer, "}\n");
    printer->innermost = outer;
    if (needs_label(&stmt->body, stmt, OFL_K_BREAK, false)) {
        indent(printer);
        ofl_text_print(printer->out, "ofl_end_%u:;\n", stmt->number);
    }
}

/* A comment must not go on in the next line. */
static void print_comment(struct printer *printer, const char *text)
{
    size_t length = strlen(text);
    ofl_text_print(printer->out, "// %s%s\n", text, length > 0 && text[length - 1] == '\\' ? "." : "");
}

/* Its statements, and the label behind them if anything leaves it. */
static void print_plain_block(struct printer *printer, const struct ofl_k_stmt *stmt)
{
    printer->depth--;
    print_block(printer, &stmt->body);
    printer->depth++;
    if (needs_label(&stmt->body, stmt, OFL_K_BREAK, true)) {
        indent(printer);
        ofl_text_print(printer->out, "ofl_end_%u:;\n", stmt->number);
    }
}

static void print_stmt(struct printer *printer, const struct ofl_k_stmt *stmt)
{
    if (stmt->kind != OFL_K_BLOCK) {
        indent(printer);
    }
    switch (stmt->kind) {
    case OFL_K_SET:
        print_name(printer, stmt->var);
        add(printer, " = ");
        print_bare(printer, stmt->value);
        add(printer, ";\n");
        break;
    case OFL_K_STORE:
        ofl_text_print(printer->out, "*(%s *) ", ofl_k_type_text(stmt->value->type));
        print_expr(printer, stmt->address);
        add(printer, " = ");
        print_bare(printer, stmt->value);
        add(printer, ";\n");
        break;
    case OFL_K_COPY:
        add(printer, "ofl_copy(");
        print_expr(printer, stmt->address);
        add(printer, ", ");
        print_expr(printer, stmt->value);
        add(printer, ", ");
        print_bare(printer, stmt->bytes);
        add(printer, ");\n");
        break;
    case OFL_K_DO:
        print_expr(printer, stmt->value);
        add(printer, ";\n");
        break;
    case OFL_K_IF:
        print_if(printer, stmt);
        break;
    case OFL_K_LOOP:
        print_loop(printer, stmt);
        break;
    case OFL_K_BLOCK:
        print_plain_block(printer, stmt);
        break;
    case OFL_K_BREAK:
        if (stmt->loop == printer->innermost) {
            add(printer, "break;\n");
        } else {
            ofl_text_print(printer->out, "goto ofl_end_%u;\n", stmt->loop->number);
        }
        break;
    case OFL_K_NEXT:
        if (stmt->loop == printer->innermost) {
            add(printer, "continue;\n");
        } else {
            ofl_text_print(printer->out, "goto ofl_next_%u;\n", stmt->loop->number);
        }
        break;
    case OFL_K_LABEL:
        ofl_text_print(printer->out, "label_%u:;\n", stmt->number);
        break;
    case OFL_K_GOTO:
        ofl_text_print(printer->out, "goto label_%u;\n", stmt->number);
        break;
    case OFL_K_RETURN:
        add(printer, "return");
        if (stmt->value != NULL) {
            add(printer, " ");
            print_bare(printer, stmt->value);
        }
        add(printer, ";\n");
        break;
    case OFL_K_EXIT:
        add(printer, "ofl_exit_thread();\n");
        break;
    case OFL_K_COMMENT:
        print_comment(printer, stmt->text);
        break;
    }
}

static void print_block(struct printer *printer, const struct ofl_k_block *block)
{
    printer->depth++;
    for (const struct ofl_k_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        print_stmt(printer, stmt);
    }
    printer->depth--;
}

/* ---- Functions ---- */

static void print_declaration(struct printer *printer, const struct ofl_k_var *var)
{
    const char *type = ofl_k_type_text(var->type);
    if (var->bytes == 0) {
        ofl_text_print(printer->out, "%s%s%s", type, var->type == OFL_K_ADDRESS ? "" : " ", var->name);
    } else if (var->type == OFL_K_VOID) {
        ofl_text_print(printer->out, "OFL_ALIGNED(16) char %s[%lld]", var->name, (long long)var->bytes);
    } else {
        ofl_text_print(printer->out, "%s %s[%lld]", type, var->name, (long long)(var->bytes / ofl_k_bytes(var->type)));
    }
}

void ofl_k_print_head(const struct ofl_k_function *function, const char *record, struct ofl_text *out)
{
    struct printer printer = {.out = out, .function = function, .record = record};
    if (function->kernel) {
        ofl_text_print(out, "OFL_KERNEL void %s(", function->name);
    } else {
        ofl_text_print(out, "__device__ %s %s(struct %s *ofl", ofl_k_type_text(function->result), function->name,
                       record);
    }
    for (const struct ofl_k_var *var = function->parameters; var != NULL; var = var->next) {
        add(&printer, function->kernel && var == function->parameters ? "" : ", ");
        print_declaration(&printer, var);
    }
    add(&printer, ")");
}

/* The thread's record, which carries the kernel's parameters to the functions it calls. */
static void print_record(struct printer *printer)
{
    ofl_text_print(printer->out, "    struct %s ofl_record, *ofl = &ofl_record;\n    ofl_thread_start(&ofl->thread);\n",
                   printer->record);
    for (const struct ofl_k_var *var = printer->function->parameters; var != NULL; var = var->next) {
        ofl_text_print(printer->out, "    ofl->%s = %s;\n", var->name, var->name);
    }
}

void ofl_k_print(const struct ofl_k_function *function, const char *record, struct ofl_text *out)
{
    struct printer printer = {.out = out, .function = function, .record = record};
    if (function->comment != NULL) {
        print_comment(&printer, function->comment);
    }
    ofl_k_print_head(function, record, out);
    add(&printer, "\n{\n");
    for (const struct ofl_k_var *var = function->variables; var != NULL; var = var->next) {
        add(&printer, "    ");
        print_declaration(&printer, var);
        add(&printer, ";\n");
    }
    if (function->kernel && record != NULL) {
        print_record(&printer);
    }
    print_block(&printer, &function->body);
    add(&printer, "}\n");
}
