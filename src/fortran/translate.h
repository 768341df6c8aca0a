/* One source file: from the user's text to the text for the host compiler.
 *
 * The steps: preprocess (with the host compiler's own preprocessor, where it would), parse, resolve names, decide for
 * each parallel loop where it runs, make kernels, rewrite.  Every parallel loop is rewritten, also those that stay on
 * the CPU: see rewrite.h. */
#ifndef OFL_FORTRAN_TRANSLATE_H
#define OFL_FORTRAN_TRANSLATE_H

#include "fortran/driver_command.h"
#include "fortran/module_file.h"
#include "fortran/source.h"

enum ofl_translate_result {
    OFL_TRANSLATE_UNCHANGED, /* no parallel loop, no guard: the host compiler gets the file itself */
    OFL_TRANSLATE_CHANGED,   /* `text` is for the host compiler, with -fpreprocessed */
    OFL_TRANSLATE_FAILED     /* errors have been printed */
};

struct ofl_translation {
    enum ofl_translate_result result;
    const char *text;
    size_t length;
    bool launches; /* it calls the run-time library */
};

/* What has to hold for a whole command: modules seen in earlier files, external procedures of all. */
struct ofl_translator {
    const struct ofl_fc_command *command;
    struct ofl_arena *arena;
    struct ofl_sources sources;
    struct ofl_modules *modules;
    struct ofl_module_files files; /* what it read is noted there */
};

void ofl_translator_start(struct ofl_translator *translator, const struct ofl_fc_command *command,
                          struct ofl_arena *arena);

struct ofl_translating; /* a file that has been read */

/* Reads a file; files of a command are read in its order, all before the first is translated.  `preprocessed` is the
 * path of the preprocessor's output, or NULL where the file is read itself.  NULL after an error, which has been
 * printed. */
struct ofl_translating *ofl_translate_read(struct ofl_translator *translator, const struct ofl_fc_item *input,
                                           const char *preprocessed);

/* A file without loops that the parser cannot read is left to the host compiler. */
struct ofl_translation ofl_translate(struct ofl_translating *translation);
#endif
