/* The registry of importers.
 *
 * ofl_importers_scan walks the loaded objects (dl_iterate_phdr gives them in the order of loading) beside
 * the list of the last scan: what is missing was unloaded, what is new was loaded by one dlopen, since
 * a scan is made before each (process.c).  Of the new ones the first is the root, the object that dlopen
 * was asked for; the others are its dependencies and share its scope.
 *
 * An object imports a name if its relocations refer to it; they also say where its table holds
 * the address, which is how calls are led through a lane.
 *
 * The lock is held for short bookkeeping only and never while the dynamic linker is called for a
 * lookup: a constructor inside dlopen may be waiting for it. */
#include "intercept/importers.h"
#include "intercept/wrapper.h"

#include <pthread.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A relocation of an object that refers to one of our names. */
struct import {
    struct ofl_symbol *symbol;
    void **slot;   /* where the object holds the address */
    unsigned lane; /* 0: none */
    bool jump;     /* a jump slot, which may not be bound yet */
};

struct object {
    const void *address; /* load address, unique among what is loaded */
    const void *dynamic;
    const void *root, *root_dynamic;
    const char *relro, *relro_end; /* read-only after relocation */
    struct import *imports;
    unsigned count, visited; /* visited: by ofl_importers_next_new */
    bool seen;
};

static struct object *objects; /* in the order of loading; under lock */
static unsigned object_count, object_space;
static unsigned long long loads, unloads; /* the linker's counters at the last scan */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- relocations ---- */

struct dynamic {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * rela, *plt;
    size_t rela_count, relative_count, plt_count;
};

static const void *dynamic_pointer(ElfW(Addr) base, ElfW(Addr) value)
{
    /* glibc has added the base already, except where the section is read-only. */
    return (const void *)(value < base ? base + value : value);
}

static struct dynamic read_dynamic(ElfW(Addr) base, const ElfW(Dyn) * entry)
{
    struct dynamic d = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            d.symbols = dynamic_pointer(base, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            d.strings = dynamic_pointer(base, entry->d_un.d_ptr);
            break;
        case DT_RELA:
            d.rela = dynamic_pointer(base, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            d.rela_count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELACOUNT:
            d.relative_count = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            d.plt = dynamic_pointer(base, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            d.plt_count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
    return d;
}

/* Most names in an object are not ours: three letters tell. */
static bool may_be_ours(const char *name)
{
    if (strncmp(name, "scipy_", 6) == 0) {
        name += 6;
    }
    if (strncmp(name, "cblas_", 6) == 0) {
        name += 6;
    }
    return (name[0] == 's' || name[0] == 'd' || name[0] == 'c' || name[0] == 'z') && name[1] != '\0' &&
           strchr("gshtpo", name[1]) != NULL;
}

static bool add_import(struct object *object, struct ofl_symbol *symbol, void **slot, bool jump)
{
    struct import *more = realloc(object->imports, (object->count + 1) * sizeof *more);
    if (more == NULL) {
        return false;
    }
    object->imports = more;
    more[object->count++] = (struct import){.symbol = symbol, .slot = slot, .jump = jump};
    return true;
}

static void read_relocations(struct object *object, ElfW(Addr) base, const struct dynamic *d, const ElfW(Rela) * rela,
                             size_t count, bool jump)
{
    for (size_t i = 0; i < count; i++) {
        size_t index = ELF64_R_SYM(rela[i].r_info);
        if (index == 0) {
            continue;
        }
        const char *name = d->strings + d->symbols[index].st_name;
        if (may_be_ours(name)) {
            struct ofl_symbol *symbol = ofl_symbol_find(name);
            if (symbol != NULL) {
                add_import(object, symbol, (void **)(base + rela[i].r_offset), jump);
            }
        }
    }
}

static void read_object(struct object *object, ElfW(Addr) base)
{
    struct dynamic d = read_dynamic(base, object->dynamic);
    if (d.symbols == NULL || d.strings == NULL) {
        return;
    }
    if (d.rela != NULL && d.relative_count <= d.rela_count) {
        read_relocations(object, base, &d, d.rela + d.relative_count, d.rela_count - d.relative_count, false);
    }
    if (d.plt != NULL) {
        read_relocations(object, base, &d, d.plt, d.plt_count, true);
    }
}

/* ---- scanning ---- */

struct scan {
    unsigned next;                   /* objects before it have been met */
    const void *root, *root_dynamic; /* of what is new */
};

static const ElfW(Phdr) * find_segment(const struct dl_phdr_info *info, ElfW(Word) type)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == type) {
            return &info->dlpi_phdr[i];
        }
    }
    return NULL;
}

static bool make_room(void)
{
    if (object_count < object_space) {
        return true;
    }
    unsigned space = object_space == 0 ? 64 : 2 * object_space;
    struct object *more = realloc(objects, space * sizeof *more);
    if (more == NULL) {
        return false;
    }
    objects = more;
    object_space = space;
    return true;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct scan *scan = data;
    if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid) && scan->next == 0 && object_count > 0) {
        if (info->dlpi_adds == loads && info->dlpi_subs == unloads) {
            return 1; /* nothing has changed */
        }
    }
    loads = info->dlpi_adds;
    unloads = info->dlpi_subs;
    const ElfW(Phdr) *segment = find_segment(info, PT_DYNAMIC), *relro = find_segment(info, PT_GNU_RELRO);
    if (segment == NULL) {
        return 0;
    }
    const void *dynamic = (const void *)(info->dlpi_addr + segment->p_vaddr);
    const void *address = (const void *)info->dlpi_addr;
    for (unsigned i = scan->next; i < object_count; i++) {
        if (objects[i].dynamic == dynamic && objects[i].address == address) {
            objects[i].seen = true;
            scan->next = i + 1;
            return 0;
        }
    }
    if (!make_room()) {
        return 0;
    }
    if (scan->root_dynamic == NULL) {
        scan->root = address;
        scan->root_dynamic = dynamic;
    }
    struct object *object = &objects[object_count++];
    *object = (struct object){
        .address = address, .dynamic = dynamic, .root = scan->root, .root_dynamic = scan->root_dynamic, .seen = true};
    if (relro != NULL) {
        object->relro = (const char *)(info->dlpi_addr + relro->p_vaddr);
        object->relro_end = object->relro + relro->p_memsz;
    }
    scan->next = object_count;
    read_object(object, info->dlpi_addr);
    return 0;
}

static const struct object *find_object(const void *address, const void *dynamic)
{
    for (unsigned i = 0; i < object_count; i++) {
        if (objects[i].address == address && objects[i].dynamic == dynamic) {
            return &objects[i];
        }
    }
    return NULL;
}

static void drop_unloaded(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < object_count; i++) {
        if (objects[i].seen) {
            objects[kept++] = objects[i];
        } else {
            free(objects[i].imports);
        }
    }
    object_count = kept;
    for (unsigned i = 0; i < object_count; i++) {
        objects[i].seen = false;
        if (find_object(objects[i].root, objects[i].root_dynamic) == NULL) {
            /* Its root was closed while others still need it. */
            objects[i].root = objects[i].address;
            objects[i].root_dynamic = objects[i].dynamic;
        }
    }
}

void ofl_importers_scan(void)
{
    struct scan scan = {0};
    pthread_mutex_lock(&lock);
    if (dl_iterate_phdr(visit_object, &scan) == 0) {
        drop_unloaded();
    }
    pthread_mutex_unlock(&lock);
}

unsigned ofl_importers_of(const struct ofl_symbol *symbol, struct ofl_importer *out, unsigned most)
{
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < object_count && count < most; i++) {
        bool imports = false, has_lane = true;
        for (unsigned j = 0; j < objects[i].count; j++) {
            if (objects[i].imports[j].symbol == symbol) {
                imports = true;
                has_lane &= objects[i].imports[j].lane != 0;
            }
        }
        if (imports) {
            out[count++] = (struct ofl_importer){.object = objects[i].address,
                                                 .root = objects[i].root,
                                                 .root_dynamic = objects[i].root_dynamic,
                                                 .has_lane = has_lane};
        }
    }
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- lanes ---- */

/* Whether the slot leads, or when bound would lead, to our wrapper: others write such tables too. */
static bool leads_to_us(const struct import *import)
{
    const void *value = __atomic_load_n(import->slot, __ATOMIC_ACQUIRE);
    if (value == import->symbol->wrapper) {
        return true;
    }
    Dl_info slot, target;
    return import->jump && dladdr(import->slot, &slot) != 0 && dladdr(value, &target) != 0 &&
           slot.dli_fbase == target.dli_fbase; /* not bound yet: still the object's own stub */
}

/* The table of addresses may have been made read-only after relocation (RELRO). */
static bool write_slot(const struct object *object, void **slot, const void *value)
{
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(page_size - 1));
    bool protected = (const char *)slot >= object->relro && (const char *)slot < object->relro_end;
    if (protected && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    __atomic_store_n(slot, (void *)value, __ATOMIC_RELEASE);
    if (protected) {
        mprotect(page, page_size, PROT_READ);
    }
    return true;
}

bool ofl_importer_use_lane(const struct ofl_symbol *symbol, const void *object, unsigned lane)
{
    bool done = true;
    if (symbol->lanes == NULL) {
        return false;
    }
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < object_count; i++) {
        for (unsigned j = 0; objects[i].address == object && j < objects[i].count; j++) {
            struct import *import = &objects[i].imports[j];
            if (import->symbol == symbol && import->lane == 0 && leads_to_us(import)) {
                if (write_slot(&objects[i], import->slot, symbol->lanes + (size_t)(lane - 1) * OFL_LANE_BYTES)) {
                    import->lane = lane;
                } else {
                    done = false;
                }
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return done;
}

struct ofl_symbol *ofl_importers_next_new(void)
{
    struct ofl_symbol *symbol = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < object_count && symbol == NULL; i++) {
        if (objects[i].visited < objects[i].count) {
            symbol = objects[i].imports[objects[i].visited++].symbol;
        }
    }
    pthread_mutex_unlock(&lock);
    return symbol;
}

struct link_map *ofl_importers_link_map(const void *object, const void *dynamic)
{
    struct link_map *map = NULL;
    Dl_info info;
    if (dladdr1(dynamic, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL ||
        (const void *)map->l_addr != object) {
        return NULL;
    }
    return map;
}

void ofl_importers_reset(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &fresh, sizeof lock);
    objects = NULL;
    object_count = object_space = 0;
    loads = unloads = 0;
}
