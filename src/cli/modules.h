/* The files of a program that the dynamic linker maps, and which BLAS names they define and import. */
#ifndef OFL_CLI_MODULES_H
#define OFL_CLI_MODULES_H
#include "cli/elf_file.h"

enum { OFL_MODULES_MAX = 512 };

struct ofl_module {
    char *path;
    struct ofl_elf elf;
    bool provider;        /* exports BLAS or LAPACK routines */
    size_t intercepted;   /* names it imports that libgpuoffload.so has too */
    size_t others;        /* names it imports that a provider exports and libgpuoffload.so has not */
    char examples[100];   /* the first of the intercepted ones: "cblas_dgemm64_, cblas_dsyrk64_" */
    bool more_examples;   /* there are others */
    const char *built_in; /* a routine that it holds itself and does not export, or NULL; tells of static linking
                           * only where it imports none */
};

struct ofl_modules {
    struct ofl_module *item; /* OFL_MODULES_MAX of them */
    size_t count;
};

/* Adds a file; one that cannot be read, is no ELF file of this machine or is there already changes nothing. */
void ofl_modules_add(struct ofl_modules *modules, const char *path);

/* Fills in what each module defines and imports.  Names come from the preload library itself, so
 * that the answer is what it really has.  Returns false if that file cannot be read. */
bool ofl_modules_classify(struct ofl_modules *modules);

void ofl_modules_free(struct ofl_modules *modules);
#endif
