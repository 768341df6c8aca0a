/* The registry of importers.
 *
 * ofl_importers_scan walks the loaded objects (dl_iterate_phdr gives them in the order of loading) beside
 * the list of the last scan: what is missing was unloaded, what is new was loaded by dlopen, one mostly,
 * since a scan is made before each (loading.c), several where threads load at once.  Each dlopen adds a
 * root, the object that it was asked for, and then the root's dependencies, which share its scope.
 *
 * An object imports a name if its relocations refer to it; they also say where its table holds
 * the address, which is how calls are led through a lane.
 *
 * The lock is held for short bookkeeping only and never while the dynamic linker is called for a
 * lookup, not even dladdr: a constructor inside dlopen holds the linker's lock and may be waiting for this one.
 * dl_iterate_phdr takes another, which nobody holds while he waits. */
#include "intercept/importers.h"
#include "intercept/loading.h"
#include "intercept/wrapper.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A relocation of an object that refers to one of our names. */
struct import {
    struct ofl_symbol *symbol;
    void **slot;   /* where the object holds the address */
    unsigned lane; /* 0: none */
    bool jump;     /* a jump slot, which may not be bound yet */
    bool weak;     /* the object can do without */
};

struct object {
    const void *address; /* load address, unique among what is loaded */
    const void *dynamic;
    unsigned name; /* a hash: another library may be loaded at the place of one that was closed */
    const void *root, *root_dynamic;
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
    const ElfW(Dyn) * entry;
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
    struct dynamic d = {.entry = entry};
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

/* The lane that a slot leads to already: a child of fork that forgot what its parent knew finds it so. */
static unsigned lane_in(const struct ofl_symbol *symbol, void **slot)
{
    uintptr_t value = (uintptr_t)__atomic_load_n(slot, __ATOMIC_ACQUIRE), lanes = (uintptr_t)symbol->lanes;
    bool within =
        symbol->lanes != NULL && value >= lanes && value - lanes < (size_t)OFL_LANES_PER_SYMBOL * OFL_LANE_BYTES;
    return within ? (unsigned)((value - lanes) / OFL_LANE_BYTES) + 1 : 0;
}

static bool add_import(struct object *object, struct ofl_symbol *symbol, void **slot, bool jump, bool weak)
{
    struct import *more = realloc(object->imports, (object->count + 1) * sizeof *more);
    if (more == NULL) {
        return false;
    }
    object->imports = more;
    more[object->count++] =
        (struct import){.symbol = symbol, .slot = slot, .lane = lane_in(symbol, slot), .jump = jump, .weak = weak};
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
                bool weak =
                    ELF64_ST_BIND(d->symbols[index].st_info) == STB_WEAK && d->symbols[index].st_shndx == SHN_UNDEF;
                add_import(object, symbol, (void **)(base + rela[i].r_offset), jump, weak);
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
    unsigned first;                  /* the root's number; after it come its dependencies */
};

/* Whether the object is the one that a DT_NEEDED entry names.  `name` is where it was found, which ends in what was
 * asked for. */
static bool is_needed(const char *needed, const char *name)
{
    size_t length = strlen(needed), whole = strlen(name);
    return length <= whole && strcmp(name + whole - length, needed) == 0 &&
           (length == whole || needed[0] == '/' || name[whole - length - 1] == '/');
}

/* Whether one of the objects from `first` on needs an object of that name. */
static bool is_dependency(unsigned first, const char *name)
{
    for (unsigned i = first; i < object_count; i++) {
        struct dynamic d = read_dynamic((ElfW(Addr))objects[i].address, objects[i].dynamic);
        for (const ElfW(Dyn) *entry = d.entry; d.strings != NULL && entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_NEEDED && is_needed(d.strings + entry->d_un.d_val, name)) {
                return true;
            }
        }
    }
    return false;
}

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

/* The same library, closed and loaded again at its old place, has its table of addresses as new. */
static void check_lanes(struct object *object)
{
    for (unsigned i = 0; i < object->count; i++) {
        struct import *import = &object->imports[i];
        if (import->lane != 0 && lane_in(import->symbol, import->slot) != import->lane) {
            import->lane = 0;
            object->visited = 0;
        }
    }
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
    const ElfW(Phdr) *segment = find_segment(info, PT_DYNAMIC);
    if (segment == NULL) {
        return 0;
    }
    const void *dynamic = (const void *)(info->dlpi_addr + segment->p_vaddr);
    const void *address = (const void *)info->dlpi_addr;
    unsigned name = ofl_name_hash(info->dlpi_name);
    for (unsigned i = scan->next; i < object_count; i++) {
        if (objects[i].dynamic == dynamic && objects[i].address == address && objects[i].name == name) {
            check_lanes(&objects[i]);
            objects[i].seen = true;
            scan->next = i + 1;
            return 0;
        }
    }
    if (!make_room()) {
        return 0;
    }
    if (scan->root_dynamic == NULL || !is_dependency(scan->first, info->dlpi_name)) {
        scan->first = object_count;
        scan->root = address;
        scan->root_dynamic = dynamic;
    }
    struct object *object = &objects[object_count++];
    *object = (struct object){.address = address,
                              .dynamic = dynamic,
                              .name = name,
                              .root = scan->root,
                              .root_dynamic = scan->root_dynamic,
                              .seen = true};
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

unsigned long long ofl_importers_scan(void)
{
    struct scan scan = {0};
    pthread_mutex_lock(&lock);
    if (dl_iterate_phdr(visit_object, &scan) == 0) {
        drop_unloaded();
    }
    unsigned long long count = loads;
    pthread_mutex_unlock(&lock);
    return count != 0 ? count : 1;
}

unsigned ofl_importers_of(const struct ofl_symbol *symbol, struct ofl_importer *out, unsigned most)
{
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < object_count && count < most; i++) {
        bool imports = false, has_lane = true, takes_address = false, weak = false;
        for (unsigned j = 0; j < objects[i].count; j++) {
            if (objects[i].imports[j].symbol == symbol) {
                imports = true;
                has_lane &= objects[i].imports[j].lane != 0;
                takes_address |= !objects[i].imports[j].jump;
                weak |= objects[i].imports[j].weak;
            }
        }
        if (imports) {
            out[count++] = (struct ofl_importer){.object = objects[i].address,
                                                 .root = objects[i].root,
                                                 .root_dynamic = objects[i].root_dynamic,
                                                 .has_lane = has_lane,
                                                 .takes_address = takes_address,
                                                 .weak = weak};
        }
    }
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- lanes ---- */

static bool is_within(const struct dl_phdr_info *info, const ElfW(Phdr) * segment, const void *address)
{
    uintptr_t offset = (uintptr_t)address - info->dlpi_addr - segment->p_vaddr;
    return offset < segment->p_memsz;
}

static const ElfW(Phdr) * find_loaded(const struct dl_phdr_info *info, const void *address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD && is_within(info, &info->dlpi_phdr[i], address)) {
            return &info->dlpi_phdr[i];
        }
    }
    return NULL;
}

/* Whether the slot leads, or when bound would lead, to our wrapper: the program and others write such tables too.
 * A jump slot that is not bound yet has the object's own stub. */
static bool leads_to_us(const struct dl_phdr_info *info, const struct import *import, const void *value)
{
    return value == import->symbol->wrapper || (import->jump && find_loaded(info, value) != NULL);
}

/* Whole pages of the table of addresses may have been made read-only after relocation (RELRO). */
static bool is_protected(const struct dl_phdr_info *info, const void *slot, uintptr_t page_size)
{
    const ElfW(Phdr) *relro = find_segment(info, PT_GNU_RELRO);
    uintptr_t begin = relro != NULL ? info->dlpi_addr + relro->p_vaddr : 0;
    uintptr_t end = relro != NULL ? begin + relro->p_memsz : 0;
    return (uintptr_t)slot >= (begin & ~(page_size - 1)) && (uintptr_t)slot < (end & ~(page_size - 1));
}

static bool write_slot(const struct dl_phdr_info *info, const struct import *import, const void *value)
{
    void *before = __atomic_load_n(import->slot, __ATOMIC_ACQUIRE);
    const ElfW(Phdr) *segment = find_loaded(info, import->slot);
    if (!leads_to_us(info, import, before)) {
        return false; /* nothing to lead, or not relocated yet */
    }
    if (segment == NULL || (segment->p_flags & PF_W) == 0) {
        return false; /* relocations in the program's text */
    }
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)import->slot & ~(page_size - 1));
    bool protected = is_protected(info, import->slot, page_size);
    if (protected && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    /* Not if the program has changed it meanwhile. */
    bool written =
        __atomic_compare_exchange_n(import->slot, &before, (void *)value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (protected) {
        mprotect(page, page_size, PROT_READ);
    }
    return written;
}

struct lane_use {
    const struct ofl_symbol *symbol;
    const void *object;
    unsigned lane; /* 0: none, weak references are to lead nowhere */
    bool done;
};

static bool redirect(const struct dl_phdr_info *info, struct import *import, unsigned lane)
{
    if (lane == 0) {
        return !import->weak || import->jump || write_slot(info, import, NULL);
    }
    if (!write_slot(info, import, import->symbol->lanes + (size_t)(lane - 1) * OFL_LANE_BYTES)) {
        return false;
    }
    import->lane = lane;
    return true;
}

/* In a walk over what is loaded, so that nothing is unloaded meanwhile. */
static int use_lane(struct dl_phdr_info *info, size_t size, void *data)
{
    struct lane_use *use = data;
    (void)size;
    const ElfW(Phdr) *segment = find_segment(info, PT_DYNAMIC);
    if (segment == NULL || (const void *)info->dlpi_addr != use->object) {
        return 0;
    }
    for (unsigned i = 0; i < object_count; i++) {
        if (objects[i].address != use->object ||
            objects[i].dynamic != (const void *)(info->dlpi_addr + segment->p_vaddr)) {
            continue;
        }
        for (unsigned j = 0; j < objects[i].count; j++) {
            struct import *import = &objects[i].imports[j];
            if (import->symbol == use->symbol && import->lane == 0) {
                use->done &= redirect(info, import, use->lane);
            }
        }
    }
    return 0;
}

static bool use_lane_in(const struct ofl_symbol *symbol, const void *object, unsigned lane)
{
    struct lane_use use = {symbol, object, lane, true};
    pthread_mutex_lock(&lock);
    dl_iterate_phdr(use_lane, &use);
    pthread_mutex_unlock(&lock);
    return use.done;
}

bool ofl_importer_use_lane(const struct ofl_symbol *symbol, const void *object, unsigned lane)
{
    return symbol->lanes != NULL && use_lane_in(symbol, object, lane);
}

void ofl_importer_leads_nowhere(const struct ofl_symbol *symbol, const void *object)
{
    use_lane_in(symbol, object, 0);
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

/* ---- holding ---- */

struct search {
    const void *address, *dynamic;
    char name[PATH_MAX];
};

static int find_name(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    const ElfW(Phdr) *segment = find_segment(info, PT_DYNAMIC);
    if (segment == NULL || (const void *)info->dlpi_addr != search->address ||
        (const void *)(info->dlpi_addr + segment->p_vaddr) != search->dynamic) {
        return 0;
    }
    snprintf(search->name, sizeof search->name, "%s", info->dlpi_name);
    return 1;
}

/* The name is copied while nothing can be unloaded; what is then opened by it must still be the same. */
struct ofl_held ofl_hold(const void *address, const void *dynamic)
{
    struct search search = {address, dynamic, ""};
    struct ofl_held held = {NULL, atomic_load(&ofl_generation), false};
    struct link_map *map = NULL;
    bool found = dl_iterate_phdr(find_name, &search) != 0;
    held.program = found && search.name[0] == '\0';
    if (found && !held.program) {
        held.handle = ofl_dlopen_next(search.name, RTLD_LAZY | RTLD_NOLOAD);
    }
    if (held.handle != NULL && (dlinfo(held.handle, RTLD_DI_LINKMAP, &map) != 0 ||
                                (const void *)map->l_addr != address || (const void *)map->l_ld != dynamic)) {
        ofl_let_go(&held);
        held.handle = NULL;
    }
    return held;
}

/* If somebody closed it meanwhile it is unloaded now: as after any dlclose, targets must be looked up again. */
void ofl_let_go(const struct ofl_held *held)
{
    if (held->handle != NULL) {
        ofl_dlclose_next(held->handle);
        if (atomic_load(&ofl_generation) != held->generation) {
            atomic_fetch_add(&ofl_generation, 1);
            atomic_fetch_add(&ofl_arrangement, 1);
        }
    }
}

bool ofl_importers_object(unsigned number, const void **address, const void **dynamic, const void **root)
{
    pthread_mutex_lock(&lock);
    bool found = number < object_count;
    if (found) {
        *address = objects[number].address;
        *dynamic = objects[number].dynamic;
        *root = objects[number].root;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void ofl_importers_reset(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &fresh, sizeof lock);
    objects = NULL;
    object_count = object_space = 0;
    loads = unloads = 0;
}
