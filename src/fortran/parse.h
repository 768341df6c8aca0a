/* From a source text to its tree.
 *
 * Entry point: ofl_parse.  It always returns a tree, whatever the bytes; diagnostics->errors says whether every
 * statement was understood.  A statement that was not is in the tree as OFL_STMT_ERROR, and reading went on with the
 * next one.  Time and memory are linear in the size of the text and of what it includes.
 *
 * The parser knows no types: what the grammar leaves open (array element or function reference) is left open in the
 * tree; scope.h closes some of it. */
#ifndef OFL_FORTRAN_PARSE_H
#define OFL_FORTRAN_PARSE_H

#include "fortran/diagnostic.h"
#include "fortran/source.h"
#include "fortran/tree.h"

enum ofl_form { OFL_FORM_FREE, OFL_FORM_FIXED };

struct ofl_parse_options {
    enum ofl_form form;
    unsigned free_line_length;  /* -ffree-line-length-N; 0: no limit; 132 is gfortran's default */
    unsigned fixed_line_length; /* -ffixed-line-length-N; 0: no limit; 72 is the default */
    bool cut_long_lines;        /* what is behind the limit of a free-form line is left out; otherwise it is an error */
    bool openmp;                /* `!$ ` lines are statements (-fopenmp, -fopenmp-simd) */
    bool d_lines_are_code;      /* -fd-lines-as-code (fixed form) */
    bool backslash;             /* -fbackslash: \n and friends in character constants (for ofl_literal_text) */
    bool dec; /* -fdec: `.field` component references and other syntax that changes what a text means */
    const char *const *include_paths; /* -I, in order; the folder of the including file comes first */
    size_t include_path_count;
};

/* gfortran's defaults for a form. */
struct ofl_parse_options ofl_parse_defaults(enum ofl_form form);

/* The form that gfortran takes for a file name's suffix, and whether it preprocesses such a file (upper case suffix,
 * .fpp, .FTN). */
enum ofl_form ofl_form_of_path(const char *path, bool *preprocess);

struct ofl_file *ofl_parse(const struct ofl_source *source, const struct ofl_parse_options *options,
                           struct ofl_sources *sources, struct ofl_diagnostics *diagnostics);
#endif
