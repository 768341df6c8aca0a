/* The kernel of a parallel loop; see kernel.h. */
#include "fortran/kernel.h"

#include <string.h>

/* ---- Names ---- */

/* Words that a variable of the program may be called and a variable of the kernel may not. */
static const char *const reserved[] = {
    "alignas",  "alignof",  "and",     "asm",       "atomic",    "auto",     "bool",     "break",     "case",
    "catch",    "char",     "class",   "compl",     "complex",   "concept",  "const",    "consteval", "constexpr",
    "continue", "decltype", "default", "delete",    "do",        "double",   "else",     "enum",      "explicit",
    "export",   "extern",   "false",   "float",     "for",       "friend",   "goto",     "if",        "inline",
    "int",      "long",     "main",    "mutable",   "namespace", "new",      "noexcept", "not",       "nullptr",
    "operator", "or",       "private", "protected", "public",    "register", "requires", "restrict",  "return",
    "short",    "signed",   "sizeof",  "static",    "struct",    "switch",   "template", "this",      "thread_local",
    "throw",    "true",     "try",     "typedef",   "typeid",    "typename", "typeof",   "union",     "unix",
    "linux",    "unsigned", "using",   "virtual",   "void",      "volatile", "wchar_t",  "while",     "xor",
#define OFL_INTRINSIC(name, arguments, integer, real4, real8) name, real4, real8,
#include "fortran/kernel_intrinsics.def"
#undef OFL_INTRINSIC
    "floor",    "floorf",   "ceil",    "ceilf",     "trunc",     "truncf",   "round",    "roundf",    "pow",
    "powf"};

const char *ofl_kernel_c_name(struct ofl_arena *arena, const char *name)
{
    bool taken = strncmp(name, "ofl", 3) == 0;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved && !taken; i++) {
        taken = reserved[i] != NULL && strcmp(reserved[i], name) == 0;
    }
    return taken ? ofl_arena_format(arena, "%s__v", name) : name;
}

/* ---- The source around the kernels ---- */

static const char prelude[] = "#ifndef __CUDACC__\n"
                              "#include <gpu-offload/host_kernel.h>\n"
                              "#else\n"
                              "#define OFL_KERNEL extern \"C\" __global__\n"
                              "#endif\n";

/* Functions of one type T with the suffix S; % and the bit operations for integers only. */
static const char integer_functions[] =
    "__device__ __forceinline__ T ofl_abs##S(T a) { return (T) (a < 0 ? -a : a); }\n"
    "__device__ __forceinline__ T ofl_mod##S(T a, T b) { return (T) (a % b); }\n"
    "__device__ __forceinline__ T ofl_modulo##S(T a, T b) { T r = (T) (a % b); return (T) (r != 0 && (r < 0) != (b < "
    "0) ? "
    "r + b : r); }\n"
    "__device__ __forceinline__ T ofl_sign##S(T a, T b) { T m = (T) (a < 0 ? -a : a); return (T) (b < 0 ? -m : m); }\n"
    "__device__ __forceinline__ T ofl_min##S(T a, T b) { return a < b ? a : b; }\n"
    "__device__ __forceinline__ T ofl_max##S(T a, T b) { return a > b ? a : b; }\n"
    "__device__ __forceinline__ T ofl_and##S(T a, T b) { return (T) (a & b); }\n"
    "__device__ __forceinline__ T ofl_or##S(T a, T b) { return (T) (a | b); }\n"
    "__device__ __forceinline__ T ofl_xor##S(T a, T b) { return (T) (a ^ b); }\n"
    "__device__ __forceinline__ T ofl_not##S(T a) { return (T) ~a; }\n"
    "__device__ __forceinline__ T ofl_power##S(T x, long long n) {\n"
    "    if (n < 0) { return (T) (x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0); }\n"
    "    T y = 1;\n"
    "    for (; n > 0; n >>= 1) { if (n & 1) { y = (T) (y * x); } x = (T) (x * x); }\n"
    "    return y;\n"
    "}\n";

static const char real_functions[] =
    "__device__ __forceinline__ T ofl_min##S(T a, T b) { return a < b ? a : b; }\n"
    "__device__ __forceinline__ T ofl_max##S(T a, T b) { return a >= b ? a : b; }\n"
    "__device__ __forceinline__ T ofl_modulo##K(T a, T b) {\n"
    "    T r = fmod##F(a, b);\n"
    "    return r == 0 ? copysign##F((T) 0, b) : (r < 0) != (b < 0) ? r + b : r;\n"
    "}\n"
    "__device__ __forceinline__ T ofl_power##K##_int(T x, int m) {\n"
    "    unsigned n = m < 0 ? 0u - (unsigned) m : (unsigned) m;\n"
    "    T y = n % 2 ? x : (T) 1;\n"
    "    while (n >>= 1) { x = x * x; if (n % 2) { y = y * x; } }\n"
    "    return m < 0 ? (T) 1 / y : y;\n"
    "}\n"
    "__device__ __forceinline__ T ofl_power##K##_long(T x, long long m) {\n"
    "    unsigned long long n = m < 0 ? 0ull - (unsigned long long) m : (unsigned long long) m;\n"
    "    T y = (T) 1;\n"
    "    if (m < 0) { x = y / x; }\n"
    "    for (; n > 0; n >>= 1) { if (n & 1) { y = y * x; } x = x * x; }\n"
    "    return y;\n"
    "}\n";

/* Adds `text` with each `##S`, `##K`, `##F` and the word T replaced. */
static void add_functions(struct ofl_text *out, const char *text, const char *type, const char *suffix,
                          const char *kind, const char *letter)
{
    for (const char *c = text; *c != '\0';) {
        if (strncmp(c, "##", 2) == 0 && strchr("SKF", c[2]) != NULL && c[2] != '\0') {
            const char *to = c[2] == 'S' ? suffix : c[2] == 'K' ? kind : letter;
            ofl_text_add(out, to, strlen(to));
            c += 3;
        } else if (strncmp(c, "##", 2) == 0) {
            c += 2;
        } else if (*c == 'T') {
            ofl_text_add(out, type, strlen(type));
            c++;
        } else {
            ofl_text_add(out, c++, 1);
        }
    }
}

static void add_all_functions(struct ofl_text *out)
{
    add_functions(out, integer_functions, "signed char", "_i1", "", "");
    add_functions(out, integer_functions, "short", "_i2", "", "");
    add_functions(out, integer_functions, "int", "_i4", "", "");
    add_functions(out, integer_functions, "long long", "_i8", "", "");
    add_functions(out, real_functions, "float", "_r4", "4", "f");
    add_functions(out, real_functions, "double", "_r8", "8", "");
    ofl_kernel_power_functions(out);
}

static bool uses_functions(const struct ofl_kernel *kernels)
{
    static const char *const parts[] = {"ofl_abs", "ofl_mod", "ofl_sign", "ofl_min", "ofl_max",
                                        "ofl_and", "ofl_or",  "ofl_xor",  "ofl_not", "ofl_power"};
    for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            if (strstr(kernel->text, parts[i]) != NULL) {
                return true;
            }
        }
    }
    return false;
}

/* What calls the kernel on the CPU: its parameters out of a list of pointers. */
static void add_entry(struct ofl_text *out, const struct ofl_kernel *kernel)
{
    unsigned number = 0;
    ofl_text_print(out, "OFL_HOST_ENTRY(%s, %s(", kernel->name, kernel->name);
    for (; number < 1 + 3 * kernel->index_count; number++) {
        ofl_text_print(out, "%sOFL_ARGUMENT(%u, long long)", number == 0 ? "" : ", ", number);
    }
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        ofl_text_print(out, ", OFL_ARGUMENT(%u, void *)", number++);
        for (unsigned dimension = 0; dimension < object->rank; dimension++) {
            ofl_text_print(out, ", OFL_ARGUMENT(%u, long long)", number++);
        }
    }
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        ofl_text_print(out, ", OFL_ARGUMENT(%u, %s)", number++, ofl_c_type(scalar->type, scalar->kind));
    }
    ofl_text_print(out, "))\n");
}

const char *ofl_kernel_source(const struct ofl_kernel *kernels, struct ofl_arena *arena)
{
    struct ofl_text out = {.arena = arena};
    ofl_text_print(&out, "%s", prelude);
    if (uses_functions(kernels)) {
        add_all_functions(&out);
    }
    for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        ofl_text_print(&out, "\n%s", kernel->text);
    }
    ofl_text_print(&out, "#ifndef __CUDACC__\n");
    for (const struct ofl_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next) {
        add_entry(&out, kernel);
    }
    ofl_text_print(&out, "#endif\n");
    return out.bytes;
}

/* ---- The kernel ---- */

static void add_comment(struct ofl_kernel_builder *builder, struct ofl_text *out, ofl_pos position)
{
    struct ofl_place place = ofl_place_of(builder->rewriter->sources, position);
    const char *slash = strrchr(place.file, '/');
    ofl_text_print(out, "        /* %s:%u */\n", slash == NULL ? place.file : slash + 1, place.line);
}

/* One assignment. */
static void add_assignment(struct ofl_kernel_builder *builder, struct ofl_text *out, const struct ofl_stmt *stmt)
{
    struct ofl_c_value target = ofl_kernel_target(builder, stmt->as.assign.target);
    struct ofl_c_value value = ofl_kernel_expr(builder, stmt->as.assign.value);
    if (builder->failed) {
        return;
    }
    value = ofl_kernel_convert(builder, value, target.type, target.kind);
    add_comment(builder, out, stmt->span.begin);
    ofl_text_print(out, "        %s = %s;\n", target.text, value.text);
}

static void add_body(struct ofl_kernel_builder *builder, struct ofl_text *out)
{
    for (const struct ofl_stmt *stmt = builder->loop->body.first; stmt != NULL && !builder->failed; stmt = stmt->next) {
        switch (stmt->kind) {
        case OFL_STMT_ASSIGN:
            add_assignment(builder, out, stmt);
            break;
        case OFL_STMT_CONTINUE:
        case OFL_STMT_DIRECTIVE:
        case OFL_STMT_INCLUDE:
        case OFL_STMT_FORMAT:
            break;
        default:
            ofl_kernel_refuse(builder, stmt->span, "'%s'", ofl_stmt_text(stmt->kind));
            break;
        }
    }
}

/* The indices of iteration ofl_trip; the first one is the fastest. */
static void add_indices(struct ofl_kernel_builder *builder, struct ofl_text *out)
{
    const struct ofl_kernel *kernel = builder->kernel;
    ofl_text_print(out, "        long long ofl_rest = ofl_trip;\n");
    for (unsigned i = 0; i < kernel->index_count; i++) {
        const char *type = ofl_c_type(OFL_TYPE_INTEGER, kernel->indices[i].kind);
        const char *name = ofl_kernel_c_name(builder->arena, kernel->indices[i].index->ident.name->text);
        ofl_text_print(out,
                       "        const %s %s = (%s) (ofl_first%u + ofl_rest %% ofl_count%u * ofl_step%u);\n"
                       "        ofl_rest /= ofl_count%u;\n"
                       "        (void) %s;\n",
                       type, name, type, i + 1, i + 1, i + 1, i + 1, name);
    }
}

/* The function around the body, when its variables are known. */
static const char *function_text(struct ofl_kernel_builder *builder, const char *body)
{
    const struct ofl_kernel *kernel = builder->kernel;
    struct ofl_text out = {.arena = builder->arena};
    struct ofl_place place = ofl_place_of(builder->rewriter->sources, kernel->stmt->span.begin);
    ofl_text_print(&out, "/* %s:%u: %s */\n", place.file, place.line,
                   ofl_rewrite_flat(builder->rewriter, kernel->stmt->span));
    ofl_text_print(&out, "OFL_KERNEL void %s(long long ofl_trips", kernel->name);
    for (unsigned i = 1; i <= kernel->index_count; i++) {
        ofl_text_print(&out, ", long long ofl_first%u, long long ofl_step%u, long long ofl_count%u", i, i, i);
    }
    for (const struct ofl_kernel_object *object = kernel->objects; object != NULL; object = object->next) {
        ofl_text_print(&out, ",\n    void *%s", object->c_name);
        for (unsigned dimension = 1; dimension <= object->rank; dimension++) {
            ofl_text_print(&out, ", long long ofl_%s_%u", object->c_name, dimension);
        }
    }
    for (const struct ofl_kernel_scalar *scalar = kernel->scalars; scalar != NULL; scalar = scalar->next) {
        ofl_text_print(&out, ",\n    %s %s", ofl_c_type(scalar->type, scalar->kind), scalar->c_name);
    }
    ofl_text_print(
        &out, ")\n{\n"
              "    for (long long ofl_trip = (long long) blockIdx.x * blockDim.x + threadIdx.x; ofl_trip < ofl_trips;\n"
              "         ofl_trip += (long long) gridDim.x * blockDim.x) {\n");
    add_indices(builder, &out);
    ofl_text_print(&out, "%s    }\n}\n", body);
    return out.bytes;
}

/* What the narrow loop does not have, before its body is looked at. */
static void check_header(struct ofl_kernel_builder *builder)
{
    const struct ofl_loop *loop = builder->loop;
    if (loop->condition != NULL) {
        ofl_kernel_refuse(builder, loop->condition->span, "a mask");
    }
    for (const struct ofl_locality *clause = loop->localities; clause != NULL; clause = clause->next) {
        if (clause->kind != OFL_LOCALITY_SHARED && clause->kind != OFL_LOCALITY_DEFAULT_NONE) {
            ofl_kernel_refuse(builder, clause->span, "this locality");
        }
    }
}

static int index_kind(struct ofl_kernel_builder *builder, const struct ofl_index *index)
{
    const struct ofl_type_spec *type = builder->loop->index_type;
    int64_t kind = 0;
    if (type != NULL) {
        bool known = type->kind_value == NULL;
        kind = 4;
        if (!known) {
            known = ofl_constant_integer(builder->rewriter->modules, builder->scope, type->kind_value, &kind);
        }
        kind = known ? kind : 0;
    } else {
        const struct ofl_symbol *symbol =
            ofl_scope_find_or_implicit(builder->rewriter->modules, builder->scope, &index->ident);
        bool integer = symbol != NULL && symbol->typed && symbol->type.kind_of == OFL_TYPE_INTEGER;
        kind = integer ? symbol->type.kind : 0;
    }
    if (ofl_c_type(OFL_TYPE_INTEGER, (int)kind) == NULL) {
        ofl_kernel_refuse(builder, index->span, "an index whose kind is not known in this file");
        kind = 4;
    }
    return (int)kind;
}

static void find_indices(struct ofl_kernel_builder *builder)
{
    struct ofl_kernel *kernel = builder->kernel;
    for (const struct ofl_index *index = builder->loop->indices; index != NULL; index = index->next) {
        kernel->index_count++;
    }
    kernel->indices = ofl_arena_alloc(builder->arena, kernel->index_count * sizeof *kernel->indices);
    unsigned number = 0;
    for (const struct ofl_index *index = builder->loop->indices; index != NULL; index = index->next) {
        kernel->indices[number++] = (struct ofl_kernel_index){index, NULL, index_kind(builder, index)};
    }
}

/* The variables as lowered.h has them. */
static void give_parameters(struct ofl_kernel_builder *builder)
{
    struct ofl_kernel_object **object = &builder->kernel->objects;
    struct ofl_kernel_scalar **scalar = &builder->kernel->scalars;
    for (const struct ofl_kernel_variable *item = builder->arrays; item != NULL; item = item->next) {
        *object = OFL_NEW(builder->arena, struct ofl_kernel_object);
        **object = (struct ofl_kernel_object){.symbol = item->symbol,
                                              .c_name = item->c_name,
                                              .host = item->name->text,
                                              .rank = item->symbol->rank,
                                              .written = item->written,
                                              .element_bytes = item->kind};
        object = &(*object)->next;
    }
    for (const struct ofl_kernel_variable *item = builder->scalars; item != NULL; item = item->next) {
        *scalar = OFL_NEW(builder->arena, struct ofl_kernel_scalar);
        **scalar = (struct ofl_kernel_scalar){.symbol = item->symbol,
                                              .c_name = item->c_name,
                                              .host = item->name->text,
                                              .type = item->type,
                                              .kind = item->kind};
        scalar = &(*scalar)->next;
    }
}

/* `solve_line12`: where the loop is. */
static const char *kernel_name(struct ofl_kernel_builder *builder)
{
    const struct ofl_unit *unit = builder->kernel->unit;
    struct ofl_place place = ofl_place_of(builder->rewriter->sources, builder->kernel->stmt->span.begin);
    unsigned number = builder->kernel->number = ++builder->rewriter->loops;
    return ofl_arena_format(builder->arena, "%s_line%u_%u", unit->name.name == NULL ? "main" : unit->name.name->text,
                            place.line, number);
}

struct ofl_kernel *ofl_kernel_make(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt,
                                   const struct ofl_unit *unit)
{
    struct ofl_kernel_builder builder = {
        .rewriter = rewriter, .arena = rewriter->arena, .scope = ofl_scope_of(stmt, unit), .loop = &stmt->as.loop};
    struct ofl_text body = {.arena = rewriter->arena};
    builder.kernel = OFL_NEW(rewriter->arena, struct ofl_kernel);
    builder.kernel->stmt = stmt;
    builder.kernel->unit = unit;
    builder.kernel->name = kernel_name(&builder);
    ofl_text_add(&body, "", 0);
    check_header(&builder);
    find_indices(&builder);
    if (!builder.failed) {
        add_body(&builder, &body);
    }
    if (builder.failed) {
        return NULL;
    }
    give_parameters(&builder);
    builder.kernel->text = function_text(&builder, body.bytes);
    return builder.kernel;
}
