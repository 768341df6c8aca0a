/* The tables operations.def, arguments.def and names.def, for the programs that write code and documents from them. */
#ifndef OFL_INTERCEPT_GENERATE_TABLE_H
#define OFL_INTERCEPT_GENERATE_TABLE_H
#include <stdbool.h>
#include <stddef.h>

enum class { FLAG, SIZE, LEADING, SCALAR, REAL, MATRIX, VECTOR, INCREMENT, PIVOTS, WORK, LWORK, INFO };
enum interface { FORTRAN, CBLAS };
enum { MAX_ARGUMENTS = 24, MAX_OPERANDS = 4, MAX_WORD = 32, MAX_AFTER_COLON = 64 };

struct word {
    const char *name;
    enum class class;
    const char *letters, *field;
};

struct scheme {
    enum interface interface;
    const char *prefix, *suffix;
    int integer_bytes;
};

/* A row; the strings are as they stand in the table. */
struct operation {
    const char *name, *precisions, *kind, *arguments, *row_major, *flops;
    struct {
        const char *name, *access, *region, *rows, *columns;
    } operands[MAX_OPERANDS];
};

extern const struct scheme ofl_table_schemes[];
extern const size_t ofl_table_scheme_count;
extern const struct operation ofl_table_operations[];
extern const size_t ofl_table_operation_count;

struct argument {
    char name[MAX_WORD];
    char letters[MAX_AFTER_COLON]; /* or, of a size or a length, the expression that bounds it */
    const struct word *word;
};

struct signature {
    struct argument arguments[MAX_ARGUMENTS];
    int count;
};

/* Ends the program with a message. */
_Noreturn void ofl_table_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct signature ofl_table_parse(const struct operation *operation);
bool ofl_table_has(const struct signature *signature, const char *name);
bool ofl_table_has_class(const struct signature *signature, enum class class);
bool ofl_table_measured(const struct operation *operation);
/* Of a precision's letter. */
bool ofl_table_complex(char precision);
#endif
