/* Reads what the dynamic linker would read of an ELF file of this machine's kind. */
#ifndef OFL_CLI_ELF_FILE_H
#define OFL_CLI_ELF_FILE_H
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

enum ofl_elf_kind {
    OFL_ELF_NONE,    /* not an ELF file */
    OFL_ELF_FOREIGN, /* another architecture, word size or byte order */
    OFL_ELF_NATIVE
};

/* A table of symbols; `count` is 0 where there is none.  Names that are not valid read as "". */
struct ofl_elf_symbols {
    const ElfW(Sym) * symbol;
    size_t count;
    const char *strings;
    size_t strings_size;
};

/* An open file.  Pointers go into its mapping and are valid until ofl_elf_close. */
struct ofl_elf {
    const unsigned char *data;
    size_t size;
    enum ofl_elf_kind kind;
    const char *interpreter; /* the dynamic linker it names; NULL for static programs and most libraries */
    const char *soname;      /* NULL if none */
    const char *rpath, *runpath;
    const ElfW(Dyn) * dynamic;
    size_t dynamic_count;
    struct ofl_elf_symbols exported; /* .dynsym: imports and exports */
    struct ofl_elf_symbols all;      /* .symtab, if the file was not stripped */
};

/* Maps the file.  false with errno if it cannot be read; a file that is not ELF or not native is
 * no failure (see kind).  A damaged file reads as one that has less in it. */
bool ofl_elf_open(struct ofl_elf *elf, const char *path);
void ofl_elf_close(struct ofl_elf *elf);

/* The index-th library that the file needs, or NULL after the last. */
const char *ofl_elf_needed(const struct ofl_elf *elf, size_t index);

const char *ofl_elf_symbol_name(const struct ofl_elf_symbols *symbols, size_t index);
#endif
