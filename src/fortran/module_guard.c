/* Guards of modules; see module_guard.h. */
#include "fortran/module_guard.h"

#include <inttypes.h>

/* At most 126 letters: what gfortran takes for a binding label. */
enum { MAX_NAME = 40 };

static uint64_t combine(uint64_t hash, uint64_t other)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        hash = (hash ^ (other >> shift & 0xff)) * 1099511628211u; /* FNV-1a */
    }
    return hash;
}

static bool is_module(const struct ofl_unit *unit)
{
    return (unit->kind == OFL_UNIT_MODULE || unit->kind == OFL_UNIT_SUBMODULE) && unit->name.name != NULL;
}

static struct ofl_module_guard *add(struct ofl_module_files *files, const struct ofl_unit *unit)
{
    struct ofl_module_guard *guard = OFL_NEW(files->arena, struct ofl_module_guard);
    *guard = (struct ofl_module_guard){.unit = unit, .next = files->guards};
    files->guards = guard;
    return guard;
}

/* The hash of a module that another one is made with; 0 where nothing is known of it. */
static uint64_t hash_of(struct ofl_module_files *files, const struct ofl_name *ancestor, const struct ofl_name *name)
{
    for (const struct ofl_module_guard *guard = files->guards; guard != NULL; guard = guard->next) {
        bool same = ancestor == NULL ? guard->unit->kind == OFL_UNIT_MODULE : guard->unit->ancestor.name == ancestor;
        if (same && guard->unit->name.name == name) {
            return guard->hash;
        }
    }
    return ofl_module_files_hash(files, ancestor, name);
}

struct hashing {
    struct ofl_module_files *files;
    uint64_t hash;
};

static bool add_use(struct ofl_stmt *stmt, void *context)
{
    struct hashing *hashing = context;
    if (stmt->kind == OFL_STMT_USE && stmt->as.use.module.name != NULL) {
        hashing->hash = combine(hashing->hash, hash_of(hashing->files, NULL, stmt->as.use.module.name));
    }
    return true;
}

static void add_uses(struct hashing *hashing, const struct ofl_unit *unit)
{
    ofl_walk_stmts(&unit->body, add_use, hashing);
    for (const struct ofl_unit *inner = unit->units; inner != NULL; inner = inner->next) {
        add_uses(hashing, inner);
    }
}

static bool has_attr(const struct ofl_unit *unit, enum ofl_attr_kind kind)
{
    const struct ofl_attr *attr = unit->attrs;
    while (attr != NULL && attr->kind != kind) {
        attr = attr->next;
    }
    return attr != NULL;
}

/* Whether a kernel may have bodies of the module in it: they are pure.  A separate procedure does not say what it is.
 */
static bool has_bodies_for_kernels(const struct ofl_unit *module)
{
    for (const struct ofl_unit *unit = module->units; unit != NULL; unit = unit->next) {
        bool pure = has_attr(unit, OFL_ATTR_PURE) || has_attr(unit, OFL_ATTR_ELEMENTAL);
        if (unit->kind == OFL_UNIT_MODULE_PROCEDURE || (pure && !has_attr(unit, OFL_ATTR_IMPURE))) {
            return true;
        }
    }
    return false;
}

/* The names: a standard that does not have bind(c) gets a short one, decorated by the host compiler. */
static void name_it(struct ofl_module_files *files, struct ofl_module_guard *guard)
{
    const struct ofl_unit *unit = guard->unit;
    struct ofl_arena *arena = files->arena;
    if (!has_bodies_for_kernels(unit)) {
        return;
    }
    guard->name = ofl_arena_format(arena, "ofl_guard_%016" PRIx64, guard->hash);
    if (files->plain_suffix != NULL) {
        guard->symbol = ofl_arena_format(arena, "%s%s", guard->name, files->plain_suffix);
    } else {
        guard->symbol =
            ofl_arena_format(arena, "ofl_module_%.*s_is_not_the_one_of_this_kernel__compile_both_again__%016" PRIx64,
                             MAX_NAME, unit->name.name->text, guard->hash);
    }
}

const struct ofl_module_guard *ofl_module_guard_of(struct ofl_module_files *files, const struct ofl_unit *unit)
{
    for (const struct ofl_module_guard *guard = files->guards; guard != NULL; guard = guard->next) {
        if (guard->unit == unit) {
            return guard;
        }
    }
    if (!is_module(unit)) {
        return NULL;
    }
    struct ofl_module_guard *guard = add(files, unit); /* first: a module that uses itself is the host compiler's */
    struct hashing hashing = {files, ofl_body_hash(files->modules, unit)};
    add_uses(&hashing, unit);
    if (unit->kind == OFL_UNIT_SUBMODULE) {
        hashing.hash = combine(hashing.hash, hash_of(files, NULL, unit->ancestor.name));
        if (unit->parent_submodule.name != NULL) {
            hashing.hash = combine(hashing.hash, hash_of(files, unit->ancestor.name, unit->parent_submodule.name));
        }
    }
    guard->hash = hashing.hash;
    name_it(files, guard);
    return guard;
}

void ofl_module_guard_note(struct ofl_module_files *files, const struct ofl_unit *unit, uint64_t hash,
                           const char *symbol)
{
    struct ofl_module_guard *guard = add(files, unit);
    guard->hash = hash;
    guard->symbol = symbol;
}
