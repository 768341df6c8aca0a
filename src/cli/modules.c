/* Which of a program's files define and import BLAS and LAPACK routines.
 *
 * Entry points: ofl_modules_add for each file, then ofl_modules_classify.  The names that can be intercepted are
 * the ones that libgpuoffload.so exports.  A file that exports one of them is a provider, and whatever else a
 * provider exports and another file imports is a call that stays on the CPU.  What happens at run time
 * (dlsym, RTLD_DEEPBIND) is not to be seen in files. */
#include "cli/modules.h"
#include "cli/cli.h"

#include <gpu-offload/device.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sorted set of names that belong to somebody else. */
struct names {
    const char **name;
    size_t count, capacity;
};

static bool names_add(struct names *names, const char *name)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity == 0 ? 1024 : 2 * names->capacity;
        const char **grown = realloc(names->name, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        names->name = grown;
        names->capacity = capacity;
    }
    names->name[names->count++] = name;
    return true;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void names_sort(struct names *names)
{
    if (names->count > 0) {
        qsort(names->name, names->count, sizeof *names->name, compare_names);
    }
}

static bool names_have(const struct names *names, const char *name)
{
    return names->count > 0 && bsearch(&name, names->name, names->count, sizeof *names->name, compare_names) != NULL;
}

/* libgpuoffload.so also exports names of the C library that it must see; those are no operations. */
static bool names_an_operation(const char *name)
{
    static const char *const operations[] = {
#define OFL_OPERATION(operation, ...) #operation,
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strstr(name, operations[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_defined(const ElfW(Sym) * symbol)
{
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0;
}

/* The functions that a file exports; `only_operations`: those that may be one of ours. */
static void add_exports(struct names *names, const struct ofl_elf *elf, bool only_operations)
{
    for (size_t i = 0; i < elf->exported.count; i++) {
        const char *name = ofl_elf_symbol_name(&elf->exported, i);
        if (is_defined(&elf->exported.symbol[i]) && *name != '\0' && (!only_operations || names_an_operation(name))) {
            names_add(names, name);
        }
    }
}

void ofl_modules_add(struct ofl_modules *modules, const char *path)
{
    char real[PATH_MAX];
    if (modules->item == NULL) {
        modules->item = calloc(OFL_MODULES_MAX, sizeof *modules->item);
        modules->count = 0;
    }
    if (modules->item == NULL || modules->count == OFL_MODULES_MAX || realpath(path, real) == NULL) {
        return;
    }
    for (size_t i = 0; i < modules->count; i++) {
        if (strcmp(modules->item[i].path, real) == 0) {
            return;
        }
    }
    struct ofl_module *module = &modules->item[modules->count];
    if (!ofl_elf_open(&module->elf, real)) {
        return;
    }
    module->path = strdup(real);
    if (module->elf.kind != OFL_ELF_NATIVE || module->path == NULL) {
        ofl_elf_close(&module->elf);
        free(module->path);
        *module = (struct ofl_module){0};
        return;
    }
    modules->count++;
}

static void find_provider(struct ofl_module *module, const struct names *ours)
{
    const struct ofl_elf_symbols *exported = &module->elf.exported, *all = &module->elf.all;
    for (size_t i = 0; !module->provider && i < exported->count; i++) {
        module->provider = is_defined(&exported->symbol[i]) && names_have(ours, ofl_elf_symbol_name(exported, i));
    }
    for (size_t i = 0; !module->provider && module->built_in == NULL && i < all->count; i++) {
        const char *name = ofl_elf_symbol_name(all, i);
        /* A bare "dgemm" may be anybody's; with the underscore or cblas_ it is the routine. */
        bool telling = strchr(name, '_') != NULL;
        if (telling && is_defined(&all->symbol[i]) && ELF64_ST_TYPE(all->symbol[i].st_info) == STT_FUNC &&
            names_have(ours, name)) {
            module->built_in = name;
        }
    }
}

static void count_imports(struct ofl_module *module, const struct names *ours, const struct names *provided)
{
    const struct ofl_elf_symbols *exported = &module->elf.exported;
    for (size_t i = 0; i < exported->count; i++) {
        const char *name = ofl_elf_symbol_name(exported, i);
        if (exported->symbol[i].st_shndx != SHN_UNDEF || *name == '\0') {
            continue;
        }
        if (names_have(ours, name)) {
            module->intercepted++;
            size_t used = strlen(module->examples);
            if (used + strlen(name) + 3 < sizeof module->examples) {
                snprintf(module->examples + used, sizeof module->examples - used, "%s%s", used > 0 ? ", " : "", name);
            } else {
                module->more_examples = true;
            }
        } else if (names_have(provided, name)) {
            module->others++;
        }
    }
}

bool ofl_modules_classify(struct ofl_modules *modules)
{
    char path[PATH_MAX];
    struct ofl_elf library;
    struct names ours = {0}, provided = {0};
    if (!ofl_cli_library("libgpuoffload.so", path, sizeof path) || !ofl_elf_open(&library, path)) {
        return false;
    }
    add_exports(&ours, &library, true);
    names_sort(&ours);
    for (size_t i = 0; i < modules->count; i++) {
        find_provider(&modules->item[i], &ours);
        if (modules->item[i].provider) {
            add_exports(&provided, &modules->item[i].elf, false);
        }
    }
    names_sort(&provided);
    for (size_t i = 0; i < modules->count; i++) {
        if (!modules->item[i].provider) {
            count_imports(&modules->item[i], &ours, &provided);
        }
    }
    free(ours.name);
    free(provided.name);
    ofl_elf_close(&library);
    return true;
}

void ofl_modules_free(struct ofl_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        ofl_elf_close(&modules->item[i].elf);
        free(modules->item[i].path);
    }
    free(modules->item);
    *modules = (struct ofl_modules){0};
}
