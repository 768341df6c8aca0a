/* The text of kernels: tables, the thread's record, functions, kernels, entries for the CPU; see lower.h. */
#include "fortran/lower.h"

static void print_field(struct ofl_text *out, const struct ofl_k_var *var)
{
    ofl_text_print(out, "    %s%s%s;\n", ofl_k_type_text(var->type), var->type == OFL_K_ADDRESS ? "" : " ", var->name);
}

/* What calls a kernel on the CPU: its parameters out of a list of pointers. */
static void print_entry(struct ofl_text *out, const struct ofl_k_function *kernel)
{
    unsigned number = 0;
    ofl_text_print(out, "OFL_HOST_ENTRY(%s, %s(", kernel->name, kernel->name);
    for (const struct ofl_k_var *var = kernel->parameters; var != NULL; var = var->next, number++) {
        ofl_text_print(out, "%sOFL_ARGUMENT(%u, %s)", number == 0 ? "" : ", ", number, ofl_k_type_text(var->type));
    }
    ofl_text_print(out, "))\n");
}

void ofl_kernel_text(struct ofl_lower *l, struct ofl_k_function *const *kernels, unsigned count,
                     struct ofl_k_function *combine, bool record)
{
    struct ofl_text out = {.arena = l->arena}, entries = {.arena = l->arena};
    struct ofl_place place = ofl_place_of(l->rewriter->sources, l->loop->span.begin);
    const char *name = record ? ofl_arena_format(l->arena, "%s_record", l->kernel->name) : NULL;
    ofl_text_print(&out, "// %s:%u: %s\n", place.file, place.line, ofl_rewrite_flat(l->rewriter, l->loop->span));
    for (const struct ofl_k_var *table = l->tables; table != NULL; table = table->next) {
        ofl_text_print(&out, "__constant__ %s %s[%lld] = %s;\n", ofl_k_type_text(table->type), table->name,
                       (long long)(table->bytes / ofl_k_bytes(table->type)), table->initial);
    }
    if (record) {
        ofl_text_print(&out, "struct %s {\n    struct ofl_thread thread;\n", name);
        for (const struct ofl_k_var *var = kernels[0]->parameters; var != NULL; var = var->next) {
            print_field(&out, var);
        }
        ofl_text_print(&out, "};\n");
    }
    for (const struct ofl_k_function *function = l->functions; function != NULL; function = function->next) {
        ofl_k_print_head(function, name, &out);
        ofl_text_print(&out, ";\n");
    }
    for (const struct ofl_k_function *function = l->functions; function != NULL; function = function->next) {
        ofl_k_print(function, name, &out);
    }
    for (unsigned i = 0; i < count; i++) {
        ofl_k_print(kernels[i], name, &out);
        print_entry(&entries, kernels[i]);
    }
    if (combine != NULL) {
        ofl_k_print(combine, NULL, &out);
        print_entry(&entries, combine);
    }
    l->kernel->text = out.bytes;
    l->kernel->entries = entries.bytes;
}

const char *ofl_lowered_source(const struct ofl_kernel *kernels, const struct ofl_kernel *end, struct ofl_arena *arena)
{
    struct ofl_text all = {.arena = arena}, out = {.arena = arena};
    for (const struct ofl_kernel *kernel = kernels; kernel != end; kernel = kernel->next) {
        ofl_text_print(&all, "\n%s", kernel->text);
    }
    ofl_k_print_support(all.bytes, &out);
    ofl_text_add(&out, all.bytes, all.length);
    ofl_text_print(&out, "#ifndef __CUDACC__\n");
    for (const struct ofl_kernel *kernel = kernels; kernel != end; kernel = kernel->next) {
        ofl_text_print(&out, "%s", kernel->entries);
    }
    ofl_text_print(&out, "#endif\n");
    return out.bytes;
}
