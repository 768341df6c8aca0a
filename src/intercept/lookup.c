/* Names and addresses of loaded objects, from their own tables.
 *
 * dlopen holds the dynamic linker's lock while constructors run, and dlsym and dladdr wait for it.  A constructor may
 * start threads that call BLAS, and wait for them: without us, such a call takes no lock, so it must take none
 * with us.  dl_iterate_phdr's lock is another, which is not held while constructors run.
 *
 * What everybody reaches is in most programs found among the objects that it started with, in the order of their
 * list; they are never unloaded.  What these tables cannot tell (indirect functions, which have to be called for
 * their address) is left to dlsym. */
#include "intercept/lookup.h"
#include "intercept/symbols.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

static unsigned started; /* objects at the start, ours among them; written before main */

struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash, *hash;
};

static const ElfW(Phdr) * find_dynamic(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            return &info->dlpi_phdr[i];
        }
    }
    return NULL;
}

/* glibc has added the base already, except where the section is read-only. */
static const void *dynamic_pointer(ElfW(Addr) base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value);
}

static bool read_tables(const struct dl_phdr_info *info, struct tables *out)
{
    const ElfW(Phdr) *segment = find_dynamic(info);
    *out = (struct tables){NULL, NULL, NULL, NULL};
    if (segment == NULL) {
        return false;
    }
    const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + segment->p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *pointer = dynamic_pointer(info->dlpi_addr, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            out->symbols = pointer;
            break;
        case DT_STRTAB:
            out->strings = pointer;
            break;
        case DT_GNU_HASH:
            out->gnu_hash = pointer;
            break;
        case DT_HASH:
            out->hash = pointer;
            break;
        default:
            break;
        }
    }
    return out->symbols != NULL && out->strings != NULL && (out->gnu_hash != NULL || out->hash != NULL);
}

static bool defines(const struct tables *tables, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &tables->symbols[index];
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC) &&
           strcmp(tables->strings + symbol->st_name, name) == 0;
}

/* The table of DT_GNU_HASH: sizes, a filter (one word of bits for several names), buckets, hashes. */
static const ElfW(Sym) * find_by_gnu_hash(const struct tables *tables, const char *name)
{
    const uint32_t *table = tables->gnu_hash;
    uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3], hash = 5381;
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(table + 4);
    const uint32_t *bucket = (const uint32_t *)(filter + words), *hashes = bucket + buckets;
    enum { BITS = 8 * sizeof *filter };
    for (const char *at = name; *at != '\0'; at++) {
        hash = hash * 33 + (unsigned char)*at;
    }
    if (buckets == 0 || words == 0) {
        return NULL;
    }
    ElfW(Addr) word = filter[hash / BITS % words],
               bits = (ElfW(Addr))1 << hash % BITS | (ElfW(Addr))1 << (hash >> shift) % BITS;
    if ((word & bits) != bits) {
        return NULL;
    }
    for (uint32_t index = bucket[hash % buckets]; index >= first; index++) {
        uint32_t other = hashes[index - first];
        if ((other | 1) == (hash | 1) && defines(tables, index, name)) {
            return &tables->symbols[index];
        }
        if ((other & 1) != 0) { /* the end of the chain */
            break;
        }
    }
    return NULL;
}

static const ElfW(Sym) * find_by_hash(const struct tables *tables, const char *name)
{
    uint32_t buckets = tables->hash[0], hash = 0;
    const uint32_t *bucket = tables->hash + 2, *chain = bucket + buckets;
    for (const char *at = name; *at != '\0'; at++) {
        hash = (hash << 4) + (unsigned char)*at;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    for (uint32_t index = buckets > 0 ? bucket[hash % buckets] : 0; index != 0; index = chain[index]) {
        if (defines(tables, index, name)) {
            return &tables->symbols[index];
        }
    }
    return NULL;
}

/* *sure: as ofl_lookup_beside's. */
static void *find_in(const struct dl_phdr_info *info, const char *name, bool *sure)
{
    struct tables tables;
    *sure = read_tables(info, &tables);
    if (!*sure) {
        return NULL;
    }
    const ElfW(Sym) *symbol = tables.gnu_hash != NULL ? find_by_gnu_hash(&tables, name) : find_by_hash(&tables, name);
    *sure = symbol == NULL || ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC;
    return symbol != NULL && *sure ? (void *)(info->dlpi_addr + symbol->st_value) : NULL;
}

static bool holds(const struct dl_phdr_info *info, const void *address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (uintptr_t)address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
            return true;
        }
    }
    return false;
}

static int count_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size;
    ++*(unsigned *)data;
    return 0;
}

void ofl_lookup_start(void)
{
    unsigned count = 0;
    dl_iterate_phdr(count_object, &count);
    started = count;
}

/* Undefined names come before those in the hash table. */
static int search_weak(struct dl_phdr_info *info, size_t size, void *data)
{
    struct tables tables;
    (void)size, (void)data;
    if (!read_tables(info, &tables) || tables.gnu_hash == NULL || holds(info, &ofl_generation)) {
        return 0;
    }
    for (uint32_t i = 1; i < tables.gnu_hash[1]; i++) {
        const ElfW(Sym) *symbol = &tables.symbols[i];
        if (ELF64_ST_BIND(symbol->st_info) == STB_WEAK && symbol->st_shndx == SHN_UNDEF &&
            ofl_symbol_find(tables.strings + symbol->st_name) != NULL) {
            return 1;
        }
    }
    return 0;
}

bool ofl_lookup_has_weak(void)
{
    return dl_iterate_phdr(search_weak, NULL) != 0;
}

struct search {
    const char *name;
    const void *address, *dynamic;
    unsigned met;
    bool behind; /* us */
    bool sure;
    void *found;
    struct ofl_object *object;
};

static int search_started(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    if (search->met++ == started) {
        return 1;
    }
    if (!search->behind) {
        search->behind = holds(info, &ofl_generation);
        return 0;
    }
    bool sure;
    search->found = find_in(info, search->name, &sure);
    /* An object without tables of names has none (the kernel's, say, has them). */
    return search->found != NULL || !sure;
}

void *ofl_lookup_started(const char *name)
{
    struct search search = {.name = name};
    dl_iterate_phdr(search_started, &search);
    return search.found;
}

static int search_beside(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    if (!holds(info, search->address)) {
        return 0;
    }
    search->found = find_in(info, search->name, &search->sure);
    return 1;
}

void *ofl_lookup_beside(const void *function, const char *name, bool *sure)
{
    struct search search = {.name = name, .address = function};
    dl_iterate_phdr(search_beside, &search);
    *sure = search.sure;
    return search.found;
}

static int search_in(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    const ElfW(Phdr) *segment = find_dynamic(info);
    (void)size;
    if ((const void *)info->dlpi_addr != search->address || segment == NULL ||
        (const void *)(info->dlpi_addr + segment->p_vaddr) != search->dynamic) {
        return 0;
    }
    search->found = find_in(info, search->name, &search->sure);
    return 1;
}

void *ofl_lookup_in(const void *load_address, const void *dynamic, const char *name)
{
    struct search search = {.name = name, .address = load_address, .dynamic = dynamic};
    dl_iterate_phdr(search_in, &search);
    return search.found;
}

static int search_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    if (!holds(info, search->address)) {
        return 0;
    }
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t first = info->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
            begin = first < begin ? first : begin;
            end = last > end ? last : end;
        }
    }
    search->object->load_address = (const void *)info->dlpi_addr;
    search->object->base = (const void *)begin;
    search->object->end = (const void *)end;
    search->object->path = info->dlpi_name;
    return 1;
}

bool ofl_lookup_object(const void *address, struct ofl_object *out)
{
    struct search search = {.address = address, .object = out};
    return dl_iterate_phdr(search_object, &search) != 0;
}
