/* Writes the wrappers: build-time program, `generate wrappers|symbols FILE`.
 *
 * From operations.def (routines), arguments.def (argument words) and names.def (naming schemes) it
 * makes plain C: for each operation a `describe_OP` that turns column-major arguments into a
 * struct ofl_call, and for each routine and name an exported wrapper.  What a wrapper does is in
 * intercept/wrapper.h; here is only its shape.  The second output is the table of symbols.
 *
 * A row that the tables do not explain ends the build with a message. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum class { FLAG, SIZE, LEADING, SCALAR, REAL, MATRIX };
enum interface { FORTRAN, CBLAS };
enum { MAX_ARGUMENTS = 24, MAX_OPERANDS = 4, MAX_WORD = 32 };

static const struct word {
    const char *name;
    enum class class;
    const char *letters, *field;
} words[] = {
#define OFL_ARGUMENT(word, class, letters, field) {#word, class, letters, field},
#include "arguments.def"
};

static const struct scheme {
    enum interface interface;
    const char *prefix, *suffix;
    int integer_bytes;
} schemes[] = {
#define OFL_NAME(interface, prefix, suffix, integer_bytes) {interface, prefix, suffix, integer_bytes},
#include "names.def"
};

static const struct operation {
    const char *name, *precisions, *kind, *arguments, *row_major, *flops;
    struct {
        const char *name, *access, *region, *rows, *columns;
    } operands[MAX_OPERANDS];
} operations[] = {
#define OFL_OPERAND(name, access, region, rows, columns)                                                               \
    {                                                                                                                  \
#name, #access, #region, #rows, #columns                                                                       \
    }
#define OFL_OPERATION(name, precisions, kind, arguments, row_major, flops, ...)                                        \
    {#name, precisions, #kind, arguments, row_major, #flops, {__VA_ARGS__}},
#include <gpu-offload/operations.def>
};

struct argument {
    char name[MAX_WORD];
    char letters[8];
    const struct word *word;
};

struct signature {
    struct argument arguments[MAX_ARGUMENTS];
    int count;
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static _Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    fputs("generate: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static const struct word *find_word(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strlen(words[i].name) == length && memcmp(words[i].name, name, length) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

static struct signature parse_arguments(const struct operation *operation)
{
    struct signature signature = {.count = 0};
    for (const char *p = operation->arguments; *p != '\0';) {
        size_t token = strcspn(p, " ");
        size_t length = strcspn(p, " :");
        const struct word *word = find_word(p, length);
        if (word == NULL || signature.count == MAX_ARGUMENTS) {
            fail("%s: argument '%.*s' is not in arguments.def", operation->name, (int)token, p);
        }
        struct argument *argument = &signature.arguments[signature.count++];
        argument->word = word;
        snprintf(argument->name, sizeof argument->name, "%s", word->name);
        if (length < token) {
            snprintf(argument->letters, sizeof argument->letters, "%.*s", (int)(token - length - 1), p + length + 1);
        } else {
            snprintf(argument->letters, sizeof argument->letters, "%s", word->letters);
        }
        if (word->class == FLAG && argument->letters[0] == '\0') {
            fail("%s: '%s' needs its letters, as in %s:NTC", operation->name, word->name, word->name);
        }
        p += token + strspn(p + token, " ");
    }
    return signature;
}

static bool is_complex(char precision)
{
    return precision == 'c' || precision == 'z';
}

static bool has(const struct signature *signature, const char *name)
{
    for (int i = 0; i < signature->count; i++) {
        if (strcmp(signature->arguments[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- describe_OP ---- */

static const char *describe_type(const struct argument *argument)
{
    switch (argument->word->class) {
    case FLAG:
        return "char ";
    case SIZE:
    case LEADING:
        return "int64_t ";
    case SCALAR:
    case REAL:
    case MATRIX:
        return "const void *";
    }
    return NULL;
}

static void print_describe(const struct operation *operation)
{
    struct signature signature = parse_arguments(operation);
    printf("/* Fills `call` from column-major arguments.  OFL_OK, or why the CPU library must have the call. */\n"
           "static enum ofl_reason describe_%s(struct ofl_call *call, enum ofl_precision precision",
           operation->name);
    for (int i = 0; i < signature.count; i++) {
        printf(", %s%s", describe_type(&signature.arguments[i]), signature.arguments[i].name);
    }
    printf(")\n{\n    bool legal = true;\n");
    for (int i = 0; i < signature.count; i++) {
        const struct argument *argument = &signature.arguments[i];
        if (argument->word->class == FLAG) {
            printf("    %s = ofl_flag(%s, \"%s\", precision, &legal);\n", argument->name, argument->name,
                   argument->letters);
        } else if (argument->word->class == SIZE) {
            printf("    legal &= %s >= 0;\n", argument->name);
        }
    }
    printf("    *call = (struct ofl_call){.operation = OFL_OP_%s, .precision = precision", operation->name);
    for (int i = 0; i < signature.count; i++) {
        const struct argument *argument = &signature.arguments[i];
        if (argument->word->class == FLAG || argument->word->class == SIZE) {
            printf(", .%s = %s", argument->name, argument->name);
        }
    }
    printf("};\n");
    for (int i = 0; i < signature.count; i++) {
        const struct argument *argument = &signature.arguments[i];
        if (argument->word->class == SCALAR || argument->word->class == REAL) {
            printf("    ofl_scalar_read(&call->%s, %s, %s);\n", argument->word->field,
                   argument->word->class == REAL ? "ofl_real_precision(precision)" : "precision", argument->name);
        }
    }
    for (int i = 0; i < MAX_OPERANDS && operation->operands[i].name != NULL; i++) {
        const char *name = operation->operands[i].name;
        char leading[4] = {'l', 'd', (char)tolower((unsigned char)name[0]), '\0'};
        if (!has(&signature, name) || !has(&signature, leading)) {
            fail("%s: operand %s or its leading dimension is not an argument", operation->name, name);
        }
        printf("    ofl_operand(call, %s, %s, %s, %s, %s, %s, &legal);\n", name, leading, operation->operands[i].access,
               strcmp(operation->operands[i].region, "OFL_TRIANGLE") == 0 ? "ofl_triangle(uplo)"
                                                                          : operation->operands[i].region,
               operation->operands[i].rows, operation->operands[i].columns);
    }
    printf("    return ofl_describe_end(call, legal, ");
    bool scalars = has(&signature, "alpha");
    printf("%s);\n}\n\n", scalars ? "precision" : "ofl_real_precision(precision)");
}

/* ---- wrappers ---- */

static void routine_name(char *out, size_t size, const struct scheme *scheme, const struct operation *operation,
                         char precision)
{
    snprintf(out, size, "%s%c%s%s", scheme->prefix, precision, operation->name, scheme->suffix);
}

static const char *real_type(char precision)
{
    return precision == 's' || precision == 'c' ? "float" : "double";
}

/* The C type with which a wrapper takes an argument. */
static const char *wrapper_type(const struct argument *argument, enum interface interface, char precision)
{
    switch (argument->word->class) {
    case FLAG:
        return interface == FORTRAN ? "const char *" : "int ";
    case SIZE:
    case LEADING:
        return interface == FORTRAN ? "const void *" : "int64_t ";
    case REAL:
        return interface == FORTRAN ? "const void *" : real_type(precision);
    case SCALAR:
        return interface == FORTRAN || is_complex(precision) ? "const void *" : real_type(precision);
    case MATRIX:
        return "const void *";
    }
    return NULL;
}

static void print_parameters(const struct signature *signature, enum interface interface, char precision)
{
    const char *separator = "";
    if (interface == CBLAS) {
        printf("int layout");
        separator = ", ";
    }
    for (int i = 0; i < signature->count; i++) {
        const char *type = wrapper_type(&signature->arguments[i], interface, precision);
        printf("%s%s%s%s", separator, type, type[strlen(type) - 1] == '*' || type[strlen(type) - 1] == ' ' ? "" : " ",
               signature->arguments[i].name);
        separator = ", ";
    }
    for (int i = 0; interface == FORTRAN && i < signature->count; i++) {
        if (signature->arguments[i].word->class == FLAG) {
            printf(", size_t %s_length", signature->arguments[i].name);
        }
    }
}

static void print_forwarded(const struct signature *signature, enum interface interface)
{
    const char *separator = "";
    if (interface == CBLAS) {
        printf("layout");
        separator = ", ";
    }
    for (int i = 0; i < signature->count; i++) {
        printf("%s%s", separator, signature->arguments[i].name);
        separator = ", ";
    }
    for (int i = 0; interface == FORTRAN && i < signature->count; i++) {
        if (signature->arguments[i].word->class == FLAG) {
            printf(", %s_length", signature->arguments[i].name);
        }
    }
}

/* The expression that gives describe_OP an argument of the wrapper's. */
static void print_described(const struct argument *argument, const char *name, enum interface interface, char precision)
{
    switch (argument->word->class) {
    case FLAG:
        if (interface == FORTRAN) {
            printf("*%s", name);
        } else {
            printf("ofl_cblas_flag(%s)", name);
        }
        break;
    case SIZE:
        printf("%s_", name);
        break;
    case LEADING:
        if (interface == FORTRAN) {
            printf("ofl_integer(%s, integer_bytes)", name);
        } else {
            printf("ofl_integer_value(%s, integer_bytes)", name);
        }
        break;
    case REAL:
        printf("%s%s", interface == CBLAS ? "&" : "", name);
        break;
    case SCALAR:
        printf("%s%s", interface == CBLAS && !is_complex(precision) ? "&" : "", name);
        break;
    case MATRIX:
        printf("%s", name);
        break;
    }
}

/* What row_major says of one argument: its partner in an exchange (NULL: none), flipped, conjugated. */
struct row_major_rule {
    char partner[MAX_WORD];
    bool flipped, conjugated;
};

static struct row_major_rule find_rule(const struct operation *operation, const char *name)
{
    struct row_major_rule rule = {.partner = ""};
    for (const char *p = operation->row_major; *p != '\0';) {
        char token[2 * MAX_WORD];
        size_t length = strcspn(p, " ");
        snprintf(token, sizeof token, "%.*s", (int)length, p);
        char *arrow = strstr(token, "<>");
        if (arrow != NULL) {
            *arrow = '\0';
            if (strcmp(token, name) == 0) {
                snprintf(rule.partner, sizeof rule.partner, "%.*s", MAX_WORD - 1, arrow + 2);
            } else if (strcmp(arrow + 2, name) == 0) {
                snprintf(rule.partner, sizeof rule.partner, "%.*s", MAX_WORD - 1, token);
            }
        } else if (strcmp(token + 1, name) == 0) {
            rule.flipped |= token[0] == '~';
            rule.conjugated |= token[0] == '*';
        }
        p += length + strspn(p + length, " ");
    }
    return rule;
}

static void print_describe_call(const struct operation *operation, const struct signature *signature,
                                enum interface interface, char precision, bool row_major)
{
    printf("describe_%s(&ofl_thread.visit.call, OFL_%c", operation->name, toupper((unsigned char)precision));
    for (int i = 0; i < signature->count; i++) {
        const struct argument *argument = &signature->arguments[i];
        struct row_major_rule rule = {.partner = ""};
        if (row_major) {
            rule = find_rule(operation, argument->name);
        }
        const char *name = rule.partner[0] != '\0' ? rule.partner : argument->name;
        printf(", ");
        if (rule.flipped) {
            printf("ofl_flip(");
        } else if (rule.conjugated) {
            printf("ofl_conjugate(&conjugated_%s, OFL_%c, ", argument->word->field, toupper((unsigned char)precision));
        }
        print_described(argument, name, interface, precision);
        if (rule.flipped) {
            printf(", \"%s\", OFL_%c)", argument->letters, toupper((unsigned char)precision));
        } else if (rule.conjugated) {
            printf(")");
        }
    }
    printf(")");
}

static void print_conjugates(const struct operation *operation, const struct signature *signature)
{
    for (int i = 0; i < signature->count; i++) {
        if (find_rule(operation, signature->arguments[i].name).conjugated) {
            printf("            union ofl_scalar conjugated_%s;\n", signature->arguments[i].word->field);
        }
    }
}

static void print_wrapper(const struct operation *operation, const struct scheme *scheme, char precision, int symbol)
{
    struct signature signature = parse_arguments(operation);
    char name[64];
    routine_name(name, sizeof name, scheme, operation, precision);
    bool entry = scheme->integer_bytes == 0; /* see OFL_ENTRY */
    printf("%s void %s%s(", entry ? "OFL_BODY" : "OFL_EXPORT", entry ? "ofl_wrap_" : "", name);
    print_parameters(&signature, scheme->interface, precision);
    printf(");\n");
    if (entry) {
        printf("OFL_ENTRY(%s, %d)\n", name, symbol);
    }
    printf("OFL_LANES(%s, %d)\nvoid %s%s(", name, symbol, entry ? "ofl_wrap_" : "", name);
    print_parameters(&signature, scheme->interface, precision);
    printf(")\n{\n"
           "    const struct ofl_target *target = ofl_target(&ofl_symbols[%d], __builtin_return_address(0));\n"
           "    volatile uintptr_t mark;\n"
           "    bool outermost = ofl_enter(&mark);\n"
           "    if (outermost) {\n",
           symbol);
    if (scheme->integer_bytes != 0) {
        printf("        const unsigned integer_bytes = %d;\n", scheme->integer_bytes);
    } else {
        printf("        const unsigned integer_bytes = target->integer_bytes;\n");
    }
    for (int i = 0; i < signature.count; i++) {
        const char *argument = signature.arguments[i].name;
        if (signature.arguments[i].word->class == SIZE) {
            printf("        int64_t %s_ = ofl_integer%s(%s, integer_bytes);\n", argument,
                   scheme->interface == FORTRAN ? "" : "_value", argument);
        }
    }
    printf("        if (flops_%s(", operation->name);
    const char *separator = "";
    for (int i = 0; i < signature.count; i++) {
        enum class class = signature.arguments[i].word->class;
        if (class == SIZE || (class == FLAG && strcmp(signature.arguments[i].name, "side") == 0)) {
            printf("%s", separator);
            print_described(&signature.arguments[i], signature.arguments[i].name, scheme->interface, precision);
            separator = ", ";
        }
    }
    printf(")%s >= ofl_flops_floor) {\n", is_complex(precision) ? " * 4" : "");
    if (scheme->interface == CBLAS) {
        print_conjugates(operation, &signature);
    }
    printf("            enum ofl_reason reason = ");
    if (scheme->interface == CBLAS) {
        printf("layout == OFL_ROW_MAJOR\n                ? ");
        print_describe_call(operation, &signature, CBLAS, precision, true);
        printf("\n                : layout == OFL_COLUMN_MAJOR\n                ? ");
        print_describe_call(operation, &signature, CBLAS, precision, false);
        printf("\n                : OFL_INVALID_ARGUMENT;\n");
    } else {
        print_describe_call(operation, &signature, FORTRAN, precision, false);
        printf(";\n");
    }
    printf("            if (ofl_consider(&ofl_symbols[%d], target, __builtin_return_address(0), reason)) {\n           "
           "     return;\n            }\n"
           "        }\n    }\n    ((void (*)(",
           symbol);
    print_parameters(&signature, scheme->interface, precision);
    printf(")) target->function)(");
    print_forwarded(&signature, scheme->interface);
    printf(");\n    OFL_TELL_UNWINDING();\n    ofl_leave(&ofl_symbols[%d], outermost);\n}\n\n", symbol);
}

static void print_flops(const struct operation *operation)
{
    struct signature signature = parse_arguments(operation);
    printf("static inline double flops_%s(", operation->name);
    const char *separator = "";
    for (int i = 0; i < signature.count; i++) {
        const char *name = signature.arguments[i].name;
        if (signature.arguments[i].word->class == SIZE) {
            printf("%sint64_t %s", separator, name);
            separator = ", ";
        } else if (strcmp(name, "side") == 0) {
            printf("%schar side", separator);
            separator = ", ";
        }
    }
    printf(")\n{\n    return %s;\n}\n\n", operation->flops);
}

static void for_each_routine(void (*print)(const struct operation *, const struct scheme *, char, int))
{
    int symbol = 0;
    for (size_t i = 0; i < COUNT(operations); i++) {
        for (const char *precision = operations[i].precisions; *precision != '\0'; precision++) {
            for (size_t j = 0; j < COUNT(schemes); j++) {
                print(&operations[i], &schemes[j], *precision, symbol++);
            }
        }
    }
}

static void print_symbol(const struct operation *operation, const struct scheme *scheme, char precision, int symbol)
{
    char name[64];
    routine_name(name, sizeof name, scheme, operation, precision);
    printf("    {.name = \"%s\", .operation = OFL_OP_%s, .precision = OFL_%c, .integer_bytes = %d, .cblas = %s,\n"
           "     .wrapper = %s, .body = %s%s, .lanes = ofl_lanes_%d},\n",
           name, operation->name, toupper((unsigned char)precision), scheme->integer_bytes,
           scheme->interface == CBLAS ? "true" : "false", name, scheme->integer_bytes == 0 ? "ofl_wrap_" : "", name,
           symbol);
}

static void print_declarations(const struct operation *operation, const struct scheme *scheme, char precision,
                               int symbol)
{
    char name[64];
    routine_name(name, sizeof name, scheme, operation, precision);
    printf("extern const char %s[];\nextern const char ofl_lanes_%d[] __attribute__((visibility(\"hidden\")));\n", name,
           symbol);
    if (scheme->integer_bytes == 0) {
        printf("extern const char ofl_wrap_%s[] __attribute__((visibility(\"hidden\")));\n", name);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";
    if (argc == 3 && freopen(argv[2], "w", stdout) == NULL) {
        fail("%s cannot be written", argv[2]);
    }
    if (strcmp(what, "wrappers") == 0) {
        printf("/* Generated by src/intercept/generate; do not edit. */\n#include \"intercept/wrapper.h\"\n\n");
        for (size_t i = 0; i < COUNT(operations); i++) {
            print_flops(&operations[i]);
            print_describe(&operations[i]);
        }
        for_each_routine(print_wrapper);
    } else if (strcmp(what, "symbols") == 0) {
        printf("/* Generated by src/intercept/generate; do not edit. */\n#include \"intercept/symbols.h\"\n\n"
               "/* Only their addresses are used. */\n");
        for_each_routine(print_declarations);
        printf("\nstruct ofl_symbol ofl_symbols[] = {\n");
        for_each_routine(print_symbol);
        printf("};\nconst unsigned ofl_symbol_count = sizeof ofl_symbols / sizeof *ofl_symbols;\n"
               "_Atomic unsigned ofl_settled[sizeof ofl_symbols / sizeof *ofl_symbols];\n");
    } else {
        fail("usage: generate wrappers|symbols FILE");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
