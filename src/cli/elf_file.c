/* A small reader of ELF files: interpreter, needed libraries, symbols.
 *
 * Entry point: ofl_elf_open.  The file is mapped and every offset in it is checked against its size
 * before use, since doctor reads whatever it is pointed at.  It reads files of this machine's word
 * size and architecture; for others it only says that they are others.  It finds no files: search paths are
 * program.c's and doctor's business. */
#include "cli/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __x86_64__
#define NATIVE_MACHINE EM_X86_64
#elif defined __aarch64__
#define NATIVE_MACHINE EM_AARCH64
#elif defined __powerpc64__
#define NATIVE_MACHINE EM_PPC64
#elif defined __riscv
#define NATIVE_MACHINE EM_RISCV
#else
#error "name this machine's ELF machine number here"
#endif
#define NATIVE_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define NATIVE_DATA  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

/* `count` items of `item` bytes at `offset`, or NULL if they are not all in the file or not aligned. */
static const void *part(const struct ofl_elf *elf, uint64_t offset, uint64_t count, size_t item, size_t alignment)
{
    if (offset > elf->size || count > (elf->size - offset) / item || offset % alignment != 0) {
        return NULL;
    }
    return elf->data + offset;
}

/* A string that ends within the table. */
static const char *string_in(const char *strings, size_t size, uint64_t offset)
{
    if (strings == NULL || offset >= size || memchr(strings + offset, '\0', size - offset) == NULL) {
        return NULL;
    }
    return strings + offset;
}

static const ElfW(Ehdr) * header_of(const struct ofl_elf *elf)
{
    return (const ElfW(Ehdr) *)elf->data;
}

static const ElfW(Phdr) * segments(const struct ofl_elf *elf, size_t *count)
{
    const ElfW(Ehdr) *header = header_of(elf);
    *count = header->e_phnum;
    const void *table = part(elf, header->e_phoff, *count, sizeof(ElfW(Phdr)), _Alignof(ElfW(Phdr)));
    if (table == NULL || header->e_phentsize != sizeof(ElfW(Phdr))) {
        *count = 0;
    }
    return table;
}

/* Where the bytes that are loaded at an address are in the file; 0 bytes available if nowhere. */
static uint64_t file_offset(const struct ofl_elf *elf, uint64_t address, uint64_t *available)
{
    size_t count;
    const ElfW(Phdr) *segment = segments(elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (segment[i].p_type == PT_LOAD && address >= segment[i].p_vaddr &&
            address - segment[i].p_vaddr < segment[i].p_filesz) {
            *available = segment[i].p_filesz - (address - segment[i].p_vaddr);
            return segment[i].p_offset + (address - segment[i].p_vaddr);
        }
    }
    *available = 0;
    return 0;
}

/* Symbols and strings of one section.  Programs that were stripped of section headers have none: then
 * nothing is known of their symbols. */
static void read_symbols(const struct ofl_elf *elf, uint32_t type, struct ofl_elf_symbols *symbols)
{
    const ElfW(Ehdr) *header = header_of(elf);
    const ElfW(Shdr) *section = part(elf, header->e_shoff, header->e_shnum, sizeof *section, _Alignof(ElfW(Shdr)));
    if (section == NULL || header->e_shentsize != sizeof *section) {
        return;
    }
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (section[i].sh_type != type || section[i].sh_link >= header->e_shnum) {
            continue;
        }
        const ElfW(Shdr) *strings = &section[section[i].sh_link];
        size_t count = section[i].sh_size / sizeof(ElfW(Sym));
        const void *table = part(elf, section[i].sh_offset, count, sizeof(ElfW(Sym)), _Alignof(ElfW(Sym)));
        const void *names = part(elf, strings->sh_offset, strings->sh_size, 1, 1);
        if (table != NULL && names != NULL) {
            *symbols = (struct ofl_elf_symbols){table, count, names, strings->sh_size};
        }
        return;
    }
}

static uint64_t dynamic_value(const struct ofl_elf *elf, ElfW(Sxword) tag, bool *found)
{
    *found = false;
    for (size_t i = 0; i < elf->dynamic_count && elf->dynamic[i].d_tag != DT_NULL; i++) {
        if (elf->dynamic[i].d_tag == tag) {
            *found = true;
            return elf->dynamic[i].d_un.d_val;
        }
    }
    return 0;
}

static const char *dynamic_string_at(const struct ofl_elf *elf, uint64_t offset)
{
    bool found;
    uint64_t available, address = dynamic_value(elf, DT_STRTAB, &found);
    if (!found) {
        return NULL;
    }
    uint64_t start = file_offset(elf, address, &available);
    if (start > elf->size || available > elf->size - start) {
        return NULL;
    }
    return string_in((const char *)elf->data + start, available, offset);
}

static const char *dynamic_string(const struct ofl_elf *elf, ElfW(Sxword) tag)
{
    bool found;
    uint64_t offset = dynamic_value(elf, tag, &found);
    return found ? dynamic_string_at(elf, offset) : NULL;
}

static void read_segments(struct ofl_elf *elf)
{
    size_t count;
    const ElfW(Phdr) *segment = segments(elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (segment[i].p_type == PT_INTERP) {
            const char *text = part(elf, segment[i].p_offset, segment[i].p_filesz, 1, 1);
            elf->interpreter = string_in(text, segment[i].p_filesz, 0);
        } else if (segment[i].p_type == PT_DYNAMIC) {
            size_t entries = segment[i].p_filesz / sizeof(ElfW(Dyn));
            elf->dynamic = part(elf, segment[i].p_offset, entries, sizeof(ElfW(Dyn)), _Alignof(ElfW(Dyn)));
            elf->dynamic_count = elf->dynamic != NULL ? entries : 0;
        }
    }
}

static bool is_native(const struct ofl_elf *elf)
{
    const ElfW(Ehdr) *header = header_of(elf);
    return elf->size >= sizeof *header && header->e_ident[EI_CLASS] == NATIVE_CLASS &&
           header->e_ident[EI_DATA] == NATIVE_DATA && header->e_machine == NATIVE_MACHINE;
}

bool ofl_elf_open(struct ofl_elf *elf, const char *path)
{
    *elf = (struct ofl_elf){0};
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return false;
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(descriptor);
        return true; /* nothing that could be ELF */
    }
    void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    int error = errno;
    close(descriptor);
    if (data == MAP_FAILED) {
        errno = error;
        return false;
    }
    elf->data = data;
    elf->size = (size_t)status.st_size;
    if (elf->size < EI_NIDENT || memcmp(elf->data, ELFMAG, SELFMAG) != 0) {
        return true;
    }
    elf->kind = is_native(elf) ? OFL_ELF_NATIVE : OFL_ELF_FOREIGN;
    if (elf->kind == OFL_ELF_NATIVE) {
        read_segments(elf);
        elf->soname = dynamic_string(elf, DT_SONAME);
        elf->rpath = dynamic_string(elf, DT_RPATH);
        elf->runpath = dynamic_string(elf, DT_RUNPATH);
        read_symbols(elf, SHT_DYNSYM, &elf->exported);
        read_symbols(elf, SHT_SYMTAB, &elf->all);
    }
    return true;
}

void ofl_elf_close(struct ofl_elf *elf)
{
    if (elf->data != NULL) {
        munmap((void *)elf->data, elf->size);
    }
    *elf = (struct ofl_elf){0};
}

const char *ofl_elf_needed(const struct ofl_elf *elf, size_t index)
{
    for (size_t i = 0; i < elf->dynamic_count && elf->dynamic[i].d_tag != DT_NULL; i++) {
        if (elf->dynamic[i].d_tag == DT_NEEDED && index-- == 0) {
            const char *name = dynamic_string_at(elf, elf->dynamic[i].d_un.d_val);
            return name != NULL ? name : "";
        }
    }
    return NULL;
}

const char *ofl_elf_symbol_name(const struct ofl_elf_symbols *symbols, size_t index)
{
    const char *name = NULL;
    if (index < symbols->count) {
        name = string_in(symbols->strings, symbols->strings_size, symbols->symbol[index].st_name);
    }
    return name != NULL ? name : "";
}
