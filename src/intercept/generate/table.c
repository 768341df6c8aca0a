/* The tables as data, and the reading of argument lists.  A row that they do not explain ends the program. */
#include "table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct word words[] = {
#define OFL_ARGUMENT(word, class, letters, field) {#word, class, letters, field},
#include "arguments.def"
};

const struct scheme ofl_table_schemes[] = {
#define OFL_NAME(interface, prefix, suffix, integer_bytes) {interface, prefix, suffix, integer_bytes},
#include "names.def"
};
const size_t ofl_table_scheme_count = COUNT(ofl_table_schemes);

const struct operation ofl_table_operations[] = {
#define OFL_OPERAND(name, access, region, rows, columns)                                                               \
    {                                                                                                                  \
#name, #access, #region, #rows, #columns                                                                       \
    }
#define OFL_OPERATION(name, precisions, kind, arguments, row_major, flops, ...)                                        \
    {#name, precisions, #kind, arguments, row_major, #flops, {__VA_ARGS__}},
#include <gpu-offload/operations.def>
};
const size_t ofl_table_operation_count = COUNT(ofl_table_operations);

_Noreturn void ofl_table_fail(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see that va_start has been there
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "tables: %s\n", text);
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

struct signature ofl_table_parse(const struct operation *operation)
{
    struct signature signature = {.count = 0};
    for (const char *p = operation->arguments; *p != '\0';) {
        size_t token = strcspn(p, " ");
        size_t length = strcspn(p, " :");
        const struct word *word = find_word(p, length);
        if (word == NULL || signature.count == MAX_ARGUMENTS) {
            ofl_table_fail("%s: argument '%.*s' is not in arguments.def", operation->name, (int)token, p);
        }
        struct argument *argument = &signature.arguments[signature.count++];
        argument->word = word;
        snprintf(argument->name, sizeof argument->name, "%s", word->name);
        if (length < token) {
            if (token - length > sizeof argument->letters) {
                ofl_table_fail("%s: too much after the colon of '%s'", operation->name, word->name);
            }
            snprintf(argument->letters, sizeof argument->letters, "%.*s", (int)(token - length - 1), p + length + 1);
        } else {
            snprintf(argument->letters, sizeof argument->letters, "%s", word->letters);
        }
        if (word->class == FLAG && argument->letters[0] == '\0') {
            ofl_table_fail("%s: '%s' needs its letters, as in %s:NTC", operation->name, word->name, word->name);
        }
        p += token + strspn(p + token, " ");
    }
    return signature;
}

bool ofl_table_complex(char precision)
{
    return precision == 'c' || precision == 'z';
}

bool ofl_table_has(const struct signature *signature, const char *name)
{
    for (int i = 0; i < signature->count; i++) {
        if (strcmp(signature->arguments[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool ofl_table_has_class(const struct signature *signature, enum class class)
{
    for (int i = 0; i < signature->count; i++) {
        if (signature->arguments[i].word->class == class) {
            return true;
        }
    }
    return false;
}

bool ofl_table_measured(const struct operation *operation)
{
    return strcmp(operation->kind, "OFL_MEASURED") == 0;
}
