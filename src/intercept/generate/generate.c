/* Writes the wrappers: build-time program, `generate wrappers|symbols FILE`.
 *
 * From operations.def (routines), arguments.def (argument words) and names.def (naming schemes) it
 * makes plain C: for each operation a `describe_OP` that turns column-major arguments into a
 * struct ofl_call, and for each routine and name an exported wrapper.  What a wrapper does is in
 * intercept/wrapper.h; here is only its shape.  The second output is the table of symbols.
 *
 * A row that the tables do not explain ends the build with a message. */
#include "table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- describe_OP ---- */

static const char *describe_type(const struct argument *argument)
{
    switch (argument->word->class) {
    case FLAG:
        return "char ";
    case SIZE:
    case LEADING:
    case LWORK:
        return "int64_t ";
    case SCALAR:
    case REAL:
    case MATRIX:
    case VECTOR:
    case PIVOTS:
        return "const void *";
    case INCREMENT:
    case WORK:
    case INFO:
        break;
    }
    return NULL;
}

/* Whether describe_OP takes the argument: of a measured operation only flags and sizes are looked at. */
static bool is_described(const struct operation *operation, const struct argument *argument)
{
    if (ofl_table_measured(operation)) {
        return argument->word->class == FLAG || argument->word->class == SIZE;
    }
    return describe_type(argument) != NULL;
}

/* Checks what the CPU library would report as an error. */
static void print_legality(const struct argument *argument)
{
    const char *name = argument->name, *bound = argument->letters;
    switch (argument->word->class) {
    case FLAG:
        printf("    %s = ofl_flag(%s, \"%s\", precision, &legal);\n", name, name, bound);
        break;
    case SIZE:
        printf("    legal &= %s >= 0", name);
        printf(bound[0] != '\0' ? " && %s <= (%s);\n" : ";\n", name, bound);
        break;
    case LWORK:
        printf("    legal &= %s >= (%s);\n", name, bound);
        break;
    default:
        break;
    }
}

static void print_operand(const struct operation *operation, const struct signature *signature, int index)
{
    const char *name = operation->operands[index].name, *region = operation->operands[index].region;
    const char *rows = operation->operands[index].rows, *access = operation->operands[index].access;
    char leading[4] = {'l', 'd', (char)tolower((unsigned char)name[0]), '\0'};
    if (!ofl_table_has(signature, name)) {
        ofl_table_fail("%s: operand %s is not an argument", operation->name, name);
    }
    if (strcmp(region, "OFL_PIVOTS") == 0) {
        printf("    ofl_pivots(call, %s, integer_bytes, %s, %s);\n", name, access, rows);
        return;
    }
    printf("    ofl_operand(call, %s, ", name);
    if (isupper((unsigned char)name[0]) && ofl_table_has(signature, leading)) {
        printf("%s", leading);
    } else if (islower((unsigned char)name[0])) {
        printf("MAX(1, %s)", rows); /* a vector */
    } else {
        ofl_table_fail("%s: the leading dimension of operand %s is not an argument", operation->name, name);
    }
    printf(", %s, %s, %s, %s, &legal);\n", access, strcmp(region, "OFL_TRIANGLE") == 0 ? "ofl_triangle(uplo)" : region,
           rows, operation->operands[index].columns);
}

static void print_describe(const struct operation *operation)
{
    struct signature signature = ofl_table_parse(operation);
    printf("/* Fills `call` from column-major arguments.  OFL_OK, or why the CPU library must have the call. */\n"
           "static enum ofl_reason describe_%s(struct ofl_call *call, enum ofl_precision precision",
           operation->name);
    for (int i = 0; i < signature.count; i++) {
        if (is_described(operation, &signature.arguments[i])) {
            printf(", %s%s", describe_type(&signature.arguments[i]), signature.arguments[i].name);
        }
    }
    printf("%s)\n{\n    bool legal = true;\n",
           ofl_table_has_class(&signature, PIVOTS) ? ", unsigned integer_bytes" : "");
    for (int i = 0; i < signature.count; i++) {
        print_legality(&signature.arguments[i]);
    }
    printf("    *call = (struct ofl_call){.operation = OFL_OP_%s, .precision = precision", operation->name);
    for (int i = 0; i < signature.count; i++) {
        const struct argument *argument = &signature.arguments[i];
        if (argument->word->class == FLAG || argument->word->class == SIZE) {
            printf(", .%s = %s", argument->name, argument->name);
        }
    }
    printf("};\n");
    if (ofl_table_measured(operation)) {
        printf("    return legal ? OFL_NOT_OFFLOADED : OFL_INVALID_ARGUMENT;\n}\n\n");
        return;
    }
    if (ofl_table_has_class(&signature, LWORK)) {
        printf("    if (lwork == -1) {\n        return OFL_WORKSPACE_QUERY;\n    }\n");
    }
    for (int i = 0; i < signature.count; i++) {
        const struct argument *argument = &signature.arguments[i];
        if (argument->word->class == SCALAR || argument->word->class == REAL) {
            printf("    ofl_scalar_read(&call->%s, %s, %s);\n", argument->word->field,
                   argument->word->class == REAL ? "ofl_real_precision(precision)" : "precision", argument->name);
        }
    }
    for (int i = 0; i < MAX_OPERANDS && operation->operands[i].name != NULL; i++) {
        print_operand(operation, &signature, i);
    }
    const char *alpha = ofl_table_has(&signature, "alpha")        ? "precision"
                        : ofl_table_has(&signature, "real_alpha") ? "ofl_real_precision(precision)"
                                                                  : NULL;
    if (alpha != NULL) {
        printf("    if (legal && ofl_scalar_is_zero(&call->alpha, %s)) {\n        return OFL_NOTHING_TO_DO;\n    }\n",
               alpha);
    }
    printf("    enum ofl_reason reason = ofl_describe_end(call, legal);\n");
    for (int i = 0; i < signature.count; i++) {
        const struct argument *argument = &signature.arguments[i];
        if (argument->word->class == SCALAR || argument->word->class == REAL) {
            printf(
                "    if (reason == OFL_OK && ofl_scalar_overlaps(call, %s)) {\n        reason = OFL_OVERLAP;\n    }\n",
                argument->name);
        }
    }
    printf("    return reason;\n}\n\n");
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
        return interface == FORTRAN || ofl_table_complex(precision) ? "const void *" : real_type(precision);
    case INCREMENT:
        return interface == FORTRAN ? "const void *" : "int64_t ";
    case MATRIX:
    case VECTOR:
    case LWORK:
        return "const void *";
    case PIVOTS:
    case WORK:
    case INFO:
        return "void *";
    }
    ofl_table_fail("arguments.def: the class of %s has no C type", argument->name);
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

/* The arguments as they came; `query` replaces those that make a call ask for its workspace. */
static void print_forwarded(const struct signature *signature, enum interface interface, bool query)
{
    const char *separator = "";
    if (interface == CBLAS) {
        printf("layout");
        separator = ", ";
    }
    for (int i = 0; i < signature->count; i++) {
        enum class class = signature->arguments[i].word->class;
        bool replaced = query && (class == WORK || class == LWORK || class == INFO);
        printf(replaced ? "%s&query.%s" : "%s%s", separator, signature->arguments[i].name);
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
        printf("%s%s", interface == CBLAS && !ofl_table_complex(precision) ? "&" : "", name);
        break;
    case LWORK:
        printf("ofl_integer(%s, integer_bytes)", name);
        break;
    case MATRIX:
    case VECTOR:
    case PIVOTS:
        printf("%s", name);
        break;
    case INCREMENT:
    case WORK:
    case INFO:
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
        if (!is_described(operation, argument)) {
            continue;
        }
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
    printf(ofl_table_has_class(signature, PIVOTS) ? ", integer_bytes)" : ")");
}

static void print_conjugates(const struct operation *operation, const struct signature *signature)
{
    for (int i = 0; i < signature->count; i++) {
        if (find_rule(operation, signature->arguments[i].name).conjugated) {
            printf("            union ofl_scalar conjugated_%s;\n", signature->arguments[i].word->field);
        }
    }
}

/* What is left to do when the device has done a call of LAPACK: info, and work(1), of which only the CPU library
 * knows what it would be. */
static void print_verdict(const struct signature *signature, char precision)
{
    if (ofl_table_has_class(signature, LWORK)) {
        printf("                struct ofl_query query;\n"
               "                ofl_query_begin(&query);\n"
               "                ((void (*)(");
        print_parameters(signature, FORTRAN, precision);
        printf(")) target->function)(");
        print_forwarded(signature, FORTRAN, true);
        printf(");\n                ofl_query_end(&query, OFL_%c, work);\n", toupper((unsigned char)precision));
    }
    printf("                ofl_integer_write(info, ofl_thread.visit.info, integer_bytes);\n");
}

static void print_wrapper(const struct operation *operation, const struct scheme *scheme, char precision, int symbol)
{
    struct signature signature = ofl_table_parse(operation);
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
    printf(")%s >= ofl_flops_floor) {\n", ofl_table_complex(precision) ? " * 4" : "");
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
    printf("            if (ofl_consider(&ofl_symbols[%d], target, __builtin_return_address(0), reason)) {\n", symbol);
    if (ofl_table_has_class(&signature, INFO)) {
        print_verdict(&signature, precision);
    }
    printf("                return;\n            }\n        }\n    }\n    ((void (*)(");
    print_parameters(&signature, scheme->interface, precision);
    printf(")) target->function)(");
    print_forwarded(&signature, scheme->interface, false);
    printf(");\n    OFL_TELL_UNWINDING();\n");
    if (ofl_table_has_class(&signature, INFO)) {
        const char *width = scheme->integer_bytes == 8   ? "8"
                            : scheme->integer_bytes == 4 ? "4"
                                                         : "target->integer_bytes";
        printf("    ofl_note_verdict(outermost, info, %s);\n", width);
    }
    printf("    ofl_leave(&ofl_symbols[%d], outermost);\n}\n\n", symbol);
}

static void print_flops(const struct operation *operation)
{
    struct signature signature = ofl_table_parse(operation);
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
    for (size_t i = 0; i < ofl_table_operation_count; i++) {
        struct signature signature = ofl_table_parse(&ofl_table_operations[i]);
        for (const char *precision = ofl_table_operations[i].precisions; *precision != '\0'; precision++) {
            for (size_t j = 0; j < ofl_table_scheme_count; j++) {
                if (ofl_table_schemes[j].interface == FORTRAN || !ofl_table_has_class(&signature, INFO)) {
                    print(&ofl_table_operations[i], &ofl_table_schemes[j], *precision, symbol++);
                }
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
        ofl_table_fail("%s cannot be written", argv[2]);
    }
    if (strcmp(what, "wrappers") == 0) {
        printf("/* Generated by src/intercept/generate; do not edit. */\n#include \"intercept/wrapper.h\"\n\n");
        for (size_t i = 0; i < ofl_table_operation_count; i++) {
            print_flops(&ofl_table_operations[i]);
            print_describe(&ofl_table_operations[i]);
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
        ofl_table_fail("usage: generate wrappers|symbols FILE");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
