/* What a caller would have reached without us.
 *
 * The dynamic linker looks a name up in the global scope first and then, for an object that came with
 * dlopen, in the scope of what dlopen was asked for.  So:
 *   1. the global scope behind us (lookup.c, RTLD_NEXT): where it has the name, every caller reaches that;
 *   2. else the local scopes of the objects that import the name (importers.c).  An object that calls
 *      directly, or by an address that it took, is recognised by the return address.  A tail call leaves somebody
 *      else's return address; then it was one of the importers that have no lane yet, and those share one scope,
 * because every older importer gets a lane of its own before something new is loaded;
 *   3. else any loaded object that defines it (a pointer that somebody passed on).
 * What was found is kept by return address, by lane, or for everybody, until something is loaded or unloaded.  While
 * a load is under way in any thread (loading.c) nothing is kept by return address, and every importer gets its lane
 * at once, as it would have if it had been there when the load began.
 *
 * A library's integer width is found once, by harmless calls (DESIGN: never guessed from plain names).  Where it
 * cannot be found the function may be anything, and settle.c leads its callers past the wrapper. */
#include "intercept/importers.h"
#include "intercept/loading.h"
#include "intercept/lookup.h"
#include "intercept/wrapper.h"
#include "base/message.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Atomic unsigned ofl_generation = 1, ofl_arrangement = 1;

enum { MOST_IMPORTERS = 64 };

static bool is_ours(const void *function)
{
    Dl_info ours, theirs;
    return dladdr(&ofl_generation, &ours) != 0 && dladdr(function, &theirs) != 0 && ours.dli_fbase == theirs.dli_fbase;
}

static bool holds_us(const void *load_address)
{
    struct ofl_object ours;
    return ofl_lookup_object(&ofl_generation, &ours) && ours.load_address == load_address;
}

/* A name in a held object and, after it, its dependencies.  NULL too where that finds only us, and for the
 * main program, whose scope begins with us. */
static void *find_in_object(const struct ofl_held *held, const char *name)
{
    void *found = held->handle != NULL ? dlsym(held->handle, name) : NULL;
    return found != NULL && !is_ours(found) ? found : NULL;
}

static bool same_object(const void *one, const void *other)
{
    Dl_info here, there;
    return one != NULL && other != NULL && dladdr(one, &here) != 0 && dladdr(other, &there) != 0 &&
           here.dli_fbase == there.dli_fbase;
}

/* A name that the object of `function` itself defines; what it depends on says nothing about it. */
static void *find_beside(void *function, const char *name)
{
    struct link_map *map = NULL;
    Dl_info info;
    bool sure;
    void *found = ofl_lookup_beside(function, name, &sure);
    if (sure) {
        return found;
    }
    found = dlsym(RTLD_NEXT, name);
    if (!same_object(found, function) && dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map != NULL) {
        struct ofl_held held = ofl_hold((const void *)map->l_addr, map->l_ld);
        found = find_in_object(&held, name);
        ofl_let_go(&held);
    }
    return same_object(found, function) ? found : NULL;
}

/* ---- integer width ---- */

/* 1 as a 32-bit integer, negative as a 64-bit one. */
static const int64_t narrow_one = (int64_t)0xFFFFFFFF00000001;

/* Each probe: 4 or 8 from one harmless call of a routine with that name, Fortran or CBLAS. */
static unsigned probe_index_of_largest(void *function)
{
    float one[2] = {1, 1};
    int64_t increment = 1;
    int64_t found = 0;
    /* The result is in the low half either way; 64-bit libraries return 0 for a negative count. */
    found = ((int64_t(*)(const int64_t *, const float *, const int64_t *))function)(&narrow_one, one, &increment);
    return (int32_t)found == 1 ? 4 : 8;
}

static unsigned probe_scale(void *function)
{
    double factor = 2, x[2] = {1, 1};
    int64_t increment = 1;
    ((void (*)(const int64_t *, const double *, double *, const int64_t *))function)(&narrow_one, &factor, x,
                                                                                     &increment);
    return x[0] == 2 ? 4 : 8;
}

static unsigned probe_cblas_scale(void *function)
{
    double x[2] = {1, 1};
    ((void (*)(int64_t, double, double *, int64_t))function)(narrow_one, 2, x, 1);
    return x[0] == 2 ? 4 : 8;
}

static unsigned probe_set(void *function)
{
    double zero = 0, one = 1, x[2] = {5, 5};
    ((void (*)(const char *, const int64_t *, const int64_t *, const double *, const double *, double *,
               const int64_t *, size_t))function)("A", &narrow_one, &narrow_one, &zero, &one, x, &narrow_one, 1);
    return x[0] == 1 ? 4 : 8;
}

static const struct {
    const char *name;
    unsigned (*probe)(void *function);
} probes[] = {
    {"isamax_", probe_index_of_largest}, {"dscal_", probe_scale},
    {"isamax", probe_index_of_largest},  {"dscal", probe_scale},
    {"cblas_dscal", probe_cblas_scale},  {"dlaset_", probe_set},
};

/* Names without an underscore are also those of C interfaces that take values (ACML's, Sun's, anybody's own dgemm).
 * Fortran's are the same function as the one with the underscore, or lie in a library whose helpers are named
 * without it too. */
static bool takes_pointers(const struct ofl_symbol *symbol, void *function)
{
    char name[64];
    size_t length = strlen(symbol->name);
    if (symbol->cblas || symbol->name[length - 1] == '_') {
        return true;
    }
    snprintf(name, sizeof name, "%s_", symbol->name);
    void *fortran = find_beside(function, name);
    return fortran == function ||
           (fortran == NULL && find_beside(function, "lsame") != NULL && find_beside(function, "xerbla") != NULL);
}

/* Of the library that holds `function`; 0 where it offers nothing to ask: then the function may be anything. */
static unsigned find_integer_bytes(const struct ofl_symbol *symbol, void *function)
{
    for (size_t i = 0; takes_pointers(symbol, function) && i < sizeof probes / sizeof *probes; i++) {
        void *found = find_beside(function, probes[i].name);
        if (found != NULL) {
            return probes[i].probe(found);
        }
    }
    return 0;
}

/* ---- lookup ---- */

static void *find_in_scope(const struct ofl_symbol *symbol, const struct ofl_importer *importer)
{
    struct ofl_held root = ofl_hold(importer->root, importer->root_dynamic);
    void *found = find_in_object(&root, symbol->name);
    ofl_let_go(&root);
    return found;
}

static void *find_anywhere(const struct ofl_symbol *symbol)
{
    const void *address, *dynamic, *root;
    void *found = NULL;
    for (unsigned i = 0; found == NULL && ofl_importers_object(i, &address, &dynamic, &root); i++) {
        struct ofl_held object = ofl_hold(address, dynamic);
        found = find_in_object(&object, symbol->name);
        ofl_let_go(&object);
    }
    return found;
}

static const void *object_of(const void *address)
{
    struct ofl_object object;
    return ofl_lookup_object(address, &object) ? object.load_address : NULL;
}

/* *several: importers without a lane reach different functions, so that a tail call may be of any of them. */
static void *find_local(const struct ofl_symbol *symbol, const void *caller, bool *several)
{
    struct ofl_importer importers[MOST_IMPORTERS];
    ofl_importers_scan();
    unsigned count = ofl_importers_of(symbol, importers, MOST_IMPORTERS);
    const void *object = object_of(caller);
    void *found = NULL, *first = NULL;
    bool caller_found = false;
    for (unsigned i = 0; i < count; i++) {
        bool caller_is_it = importers[i].object == object;
        if (importers[i].has_lane && !(caller_is_it && importers[i].takes_address)) {
            continue; /* its calls do not come this way */
        }
        void *reached = find_in_scope(symbol, &importers[i]);
        if (reached == NULL) {
            continue;
        }
        first = first != NULL ? first : reached;
        *several |= !importers[i].has_lane && reached != first;
        if (!caller_found) {
            found = reached;
            caller_found = caller_is_it;
        }
    }
    return found;
}

/* What the global scope behind us has. */
static void *find_common(const char *name)
{
    void *found = ofl_lookup_started(name);
    return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

struct finding {
    void *function;
    bool common;  /* every caller reaches it */
    bool several; /* see find_local */
};

/* What is defined by an object that came with the one at `root`; by any, if `root` is NULL. */
static void *find_beside_root(const struct ofl_symbol *symbol, const void *root)
{
    const void *address, *dynamic, *its_root;
    void *found = NULL;
    for (unsigned i = 0; found == NULL && ofl_importers_object(i, &address, &dynamic, &its_root); i++) {
        if (root == NULL || its_root == root) {
            found = ofl_lookup_in(address, dynamic, symbol->name);
            found = found != NULL && !holds_us(address) ? found : NULL;
        }
    }
    return found;
}

/* Without waiting for the thread that is in a dlopen: it may be waiting for this one, in a constructor.  Of a local
 * scope only what was loaded with it is looked at; nothing of this is kept. */
static struct finding find_at_once(const struct ofl_symbol *symbol, const void *caller)
{
    struct ofl_importer importers[MOST_IMPORTERS];
    struct finding finding = {.function = ofl_lookup_started(symbol->name)};
    finding.common = finding.function != NULL;
    if (!finding.common) {
        ofl_importers_scan();
        unsigned count = ofl_importers_of(symbol, importers, MOST_IMPORTERS);
        const void *object = object_of(caller);
        for (unsigned i = 0; i < count; i++) {
            if (importers[i].object == object || (finding.function == NULL && !importers[i].has_lane)) {
                void *found = find_beside_root(symbol, importers[i].root);
                finding.function = found != NULL ? found : finding.function;
            }
        }
    }
    finding.function = finding.function != NULL ? finding.function : find_beside_root(symbol, NULL);
    return finding;
}

static struct finding find_function(const struct ofl_symbol *symbol, const void *caller)
{
    if (ofl_loading_elsewhere()) {
        return find_at_once(symbol, caller);
    }
    struct finding finding = {.function = find_common(symbol->name)};
    finding.common = finding.function != NULL;
    if (finding.function == NULL) {
        finding.function = find_local(symbol, caller, &finding.several);
    }
    if (finding.function == NULL) {
        finding.function = find_anywhere(symbol);
    }
    return finding;
}

/* ---- targets ---- */

/* What is loaded, as of when a lookup began. */
struct moment {
    unsigned generation, arrangement;
    unsigned long long loads; /* as a target's */
};

static struct ofl_target *make_target(struct ofl_symbol *symbol, const void *caller, void *function,
                                      unsigned integer_bytes)
{
    struct ofl_target *target = calloc(1, sizeof *target);
    if (target == NULL) {
        ofl_message("out of memory while looking up %s", symbol->name);
        abort();
    }
    target->caller = caller;
    target->function = function;
    target->integer_bytes = integer_bytes;
    target->next = atomic_load(&symbol->targets);
    while (!atomic_compare_exchange_weak(&symbol->targets, &target->next, target)) {
    }
    return target;
}

static struct ofl_target *find_target(struct ofl_symbol *symbol, const void *caller, void *function,
                                      unsigned integer_bytes)
{
    for (struct ofl_target *target = atomic_load(&symbol->targets); target != NULL; target = target->next) {
        if (target->caller == caller && target->function == function && target->integer_bytes == integer_bytes) {
            return target;
        }
    }
    return make_target(symbol, caller, function, integer_bytes);
}

/* The width of a library that was asked in this generation need not be asked again. */
static unsigned integer_bytes_of(const struct ofl_symbol *symbol, void *function, unsigned generation)
{
    if (symbol->integer_bytes != 0) {
        return symbol->integer_bytes;
    }
    for (struct ofl_target *target = atomic_load(&symbol->targets); target != NULL; target = target->next) {
        if (target->function == function && atomic_load(&target->generation) == generation) {
            return target->integer_bytes;
        }
    }
    return find_integer_bytes(symbol, function);
}

/* The target of this caller, where it was confirmed already and only fell out of the cache, or could not be there
 * while a load was under way: then if nothing has been loaded since. */
static struct ofl_target *known_target(const struct ofl_symbol *symbol, const void *caller, const struct moment *now)
{
    for (struct ofl_target *target = atomic_load(&symbol->targets); target != NULL; target = target->next) {
        if (target->caller == caller && atomic_load(&target->arrangement) == now->arrangement &&
            atomic_load(&target->loads) == now->loads && atomic_load(&target->arrangement) == now->arrangement) {
            return target;
        }
    }
    return NULL;
}

static void confirm(struct ofl_target *target, const struct moment *now)
{
    atomic_store(&target->arrangement, 0);
    atomic_store(&target->loads, now->loads);
    atomic_store(&target->generation, now->generation);
    atomic_store(&target->arrangement, now->arrangement);
}

/* The slow way. */
static struct ofl_target *look_up(struct ofl_symbol *symbol, const void *caller, const struct moment *now,
                                  struct finding *finding)
{
    int saved = errno;
    *finding = find_function(symbol, caller);
    if (finding->function == NULL) {
        /* Without us the dynamic linker would have ended the process here, in these words. */
        ofl_message("symbol lookup error: undefined symbol: %s", symbol->name);
        _exit(127);
    }
    struct ofl_target *target = find_target(symbol, finding->common ? NULL : caller, finding->function,
                                            integer_bytes_of(symbol, finding->function, now->generation));
    confirm(target, now);
    dlerror(); /* a failed lookup of ours is not the program's news */
    errno = saved;
    return target;
}

const struct ofl_target *ofl_resolve(struct ofl_symbol *symbol, const void *caller)
{
    struct finding finding = {0};
    struct moment now = {atomic_load(&ofl_generation), atomic_load(&ofl_arrangement), 0};
    bool loading = ofl_loading_under_way(__builtin_frame_address(0)); /* after these were read */
    now.loads = loading ? ofl_importers_scan() : 0;
    struct ofl_target *target = known_target(symbol, caller, &now);
    if (target == NULL) {
        target = look_up(symbol, caller, &now, &finding);
        if (!finding.common && (loading || finding.several) && !ofl_loading_elsewhere()) {
            int saved = errno;
            ofl_before_loading();
            errno = saved;
        }
    }
    if (finding.common) {
        atomic_store(&symbol->common, target);
    } else if (!loading) {
        uintptr_t address = (uintptr_t)caller;
        atomic_store(&symbol->cache[(address ^ address >> 4) % OFL_TARGET_CACHE], target);
    }
    return target;
}

/* ---- lanes ---- */

static unsigned lane_for(struct ofl_symbol *symbol, struct ofl_target *target)
{
    for (unsigned lane = 1; lane <= OFL_LANES_PER_SYMBOL; lane++) {
        struct ofl_target *holder = NULL;
        if (atomic_compare_exchange_strong(&symbol->lane_targets[lane - 1], &holder, target) || holder == target) {
            return lane;
        }
        Dl_info info;
        if (dladdr(holder->function, &info) == 0) { /* its library is gone, and so is whoever used the lane */
            atomic_store(&symbol->lane_targets[lane - 1], target);
            return lane;
        }
    }
    return 0;
}

static void give_lane(struct ofl_symbol *symbol, const struct ofl_importer *importer)
{
    /* What is asked for its width must not be unloaded meanwhile. */
    struct ofl_held root = ofl_hold(importer->root, importer->root_dynamic);
    void *function = find_in_object(&root, symbol->name);
    if (function != NULL) {
        struct moment now = {atomic_load(&ofl_generation), atomic_load(&ofl_arrangement), 0};
        struct ofl_target *target =
            find_target(symbol, NULL, function, integer_bytes_of(symbol, function, now.generation));
        confirm(target, &now);
        unsigned lane = lane_for(symbol, target);
        if (lane != 0) {
            ofl_importer_use_lane(symbol, importer->object, lane);
            atomic_fetch_add(&ofl_arrangement, 1); /* by return address it may be somebody else's next time */
        }
    }
    ofl_let_go(&root);
    if (function == NULL && importer->weak && (root.handle != NULL || root.program)) {
        ofl_importer_leads_nowhere(symbol, importer->object);
    }
}

static void give_lanes(struct ofl_symbol *symbol)
{
    struct ofl_importer importers[MOST_IMPORTERS];
    if (find_common(symbol->name) != NULL) {
        return; /* one answer for everybody */
    }
    unsigned count = ofl_importers_of(symbol, importers, MOST_IMPORTERS);
    for (unsigned i = 0; i < count; i++) {
        if (!importers[i].has_lane) {
            give_lane(symbol, &importers[i]);
        }
    }
}

/* Of what was there at the start.  References that are not weak are an error there, or are never called. */
void ofl_weak_start(void)
{
    if (ofl_lookup_has_weak()) {
        ofl_before_loading();
    }
}

void ofl_before_loading(void)
{
    struct ofl_symbol *symbol;
    ofl_importers_scan();
    while ((symbol = ofl_importers_next_new()) != NULL) {
        give_lanes(symbol);
    }
    dlerror();
}

unsigned ofl_name_hash(const char *name) /* FNV-1a */
{
    uint32_t hash = 2166136261u;
    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash;
}

struct ofl_symbol *ofl_symbol_find(const char *name)
{
    /* A closed hash of all names; filled at the first use, every writer with the same values. */
    enum { SLOTS = 4096 };
    static _Atomic uint16_t slots[SLOTS];
    static _Atomic bool filled;
    if (!atomic_load_explicit(&filled, memory_order_acquire)) {
        for (unsigned i = 0; i < ofl_symbol_count; i++) {
            unsigned slot = ofl_name_hash(ofl_symbols[i].name) % SLOTS;
            while (atomic_load(&slots[slot]) != 0 && atomic_load(&slots[slot]) != i + 1) {
                slot = (slot + 1) % SLOTS;
            }
            atomic_store(&slots[slot], (uint16_t)(i + 1));
        }
        atomic_store_explicit(&filled, true, memory_order_release);
    }
    for (unsigned slot = ofl_name_hash(name) % SLOTS; atomic_load(&slots[slot]) != 0; slot = (slot + 1) % SLOTS) {
        struct ofl_symbol *symbol = &ofl_symbols[slots[slot] - 1];
        if (strcmp(symbol->name, name) == 0) {
            return symbol;
        }
    }
    return NULL;
}
