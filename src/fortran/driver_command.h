/* The command line of `gpu-offload fc`: which words are ours, which are inputs, what is to be made.
 *
 * Entry point: ofl_fc_command_read.  Response files (@file) are expanded first, by the rules of GCC.  Everything that
 * is not an option of ours (fc_options.def) is kept, in order, for the host compiler; the options that change what
 * the driver has to do are also understood (fc_host_options.def).  A word that the table does not know is passed on:
 * whether it is right is the host compiler's to say.
 *
 * All memory is the arena's. */
#ifndef OFL_FORTRAN_DRIVER_COMMAND_H
#define OFL_FORTRAN_DRIVER_COMMAND_H

#include "fortran/arena.h"
#include "fortran/parse.h"

#include <stdbool.h>

/* A list of words that ends with NULL, as execv wants it. */
struct ofl_words {
    struct ofl_arena *arena;
    char **items;
    size_t count, capacity;
};

void ofl_words_add(struct ofl_words *words, const char *word);

enum ofl_fc_class {
    OFL_FC_PLAIN,             /* for the host compiler only */
    OFL_FC_INPUT,             /* a file */
    OFL_FC_OUTPUT,            /* -o */
    OFL_FC_LANGUAGE,          /* -x */
    OFL_FC_MODE_OBJECT,       /* -c */
    OFL_FC_MODE_ASSEMBLY,     /* -S */
    OFL_FC_MODE_PREPROCESS,   /* -E, -M, -MM */
    OFL_FC_MODE_SYNTAX,       /* -fsyntax-only */
    OFL_FC_SHOW_ONLY,         /* -###: nothing is run */
    OFL_FC_DEPENDENCY,        /* -MD, -MMD */
    OFL_FC_DEPENDENCY_FILE,   /* -MF */
    OFL_FC_DEPENDENCY_TARGET, /* -MT, -MQ */
    OFL_FC_DEPENDENCY_DETAIL, /* -MP, -MG */
    OFL_FC_INCLUDE_PATH,
    OFL_FC_MODULE_PATH,
    OFL_FC_DEFINE,
    OFL_FC_LINK,       /* means something to the linker only */
    OFL_FC_NO_MARKERS, /* -P */
    OFL_FC_SAVE,       /* -save-temps */
    OFL_FC_CPP_ON,
    OFL_FC_CPP_OFF,
    OFL_FC_PREPROCESSED,
    OFL_FC_FREE_FORM,
    OFL_FC_FIXED_FORM,
    OFL_FC_FREE_LENGTH,
    OFL_FC_FIXED_LENGTH,
    OFL_FC_D_LINES,
    OFL_FC_BACKSLASH,
    OFL_FC_DEC,
    OFL_FC_OPENMP,
    OFL_FC_CUT_LINES,       /* gfortran cuts long lines off, instead of an error */
    OFL_FC_DEFAULT_INTEGER, /* -fdefault-integer-8: also logical */
    OFL_FC_DEFAULT_REAL,    /* -fdefault-real-N: also double precision, */
    OFL_FC_DEFAULT_DOUBLE,  /* unless -fdefault-double-8 */
    OFL_FC_OTHER_KINDS      /* changes what real(4) or integer(4) mean */
};

/* One option or input with its words (one or two). */
struct ofl_fc_item {
    enum ofl_fc_class class;
    size_t first, words;  /* in `all` */
    const char *argument; /* of the option; an input's path */
    /* Inputs only. */
    bool fortran;
    const char *name; /* of the text in messages: the path, or "<stdin>" */
    bool preprocess;  /* the host compiler would preprocess it */
    enum ofl_form form;
    const char *language; /* of -x; NULL: by suffix */
};

enum ofl_fc_device { OFL_FC_NO_DEVICE, OFL_FC_CUDA, OFL_FC_CUDA_CPU, OFL_FC_METAL };

struct ofl_fc_command {
    struct ofl_arena *arena;
    struct ofl_words all;      /* for the host compiler, in order, response files expanded */
    struct ofl_fc_item *items; /* covers `all` */
    size_t item_count, item_capacity;

    const char *output;     /* of -o; NULL if not given */
    enum ofl_fc_class mode; /* OFL_FC_MODE_..., or OFL_FC_LINK */
    bool show_only, dependencies, preprocessed, save;
    const char *other_kinds;                           /* an option of this class, NULL if there is none */
    int default_integer, default_real, default_double; /* kinds */
    bool double_8;                                     /* private */
    int cpp;                                           /* -cpp 1, -nocpp -1, neither 0 */
    struct ofl_parse_options parse;                    /* form is per input */
    size_t inputs, fortran_inputs;

    enum ofl_fc_device device;
    bool fallback, omp_loops, show_kernels, report, realloc_lhs, fast, help;
    struct ofl_words host; /* the host compiler: a program, and words that come first */
};

/* Reads the words behind `gpu-offload fc`.  False after an error, which it has printed. */
bool ofl_fc_command_read(struct ofl_fc_command *command, struct ofl_arena *arena, int argc, char **argv);

/* Where .mod files are written: the argument of the last -J; NULL without. */
const char *ofl_fc_module_folder(const struct ofl_fc_command *command);

bool ofl_fc_host_is_flang(const struct ofl_fc_command *command);

/* The driver's own options, on standard output. */
void ofl_fc_print_help(void);

/* A line `gpu-offload fc: error: ...` on standard error. */
void ofl_fc_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether the item asks for a standard that does not have what a launch is written in. */
bool ofl_fc_is_old_standard(const struct ofl_fc_command *command, const struct ofl_fc_item *item);

/* The option by which the program is to be one file that loads no libraries; NULL if there is none. */
const char *ofl_fc_static_option(const struct ofl_fc_command *command);
#endif
