/* Types in memory: kinds of the kernel form, and derived types as gfortran lays them out; see lower.h.
 *
 * gfortran's layout is that of a C struct: components in order, each at the next multiple of its alignment, the parent
 * type as the first component, the size a multiple of the largest alignment.  An allocatable or pointer array component
 * is a descriptor of 40 + 24 * rank bytes (64 + ... is ISO_Fortran_binding's), a scalar one a pointer; a deferred
 * length adds a hidden component behind all others, which only counts for the size. */
#include "fortran/lower.h"

#include <string.h>

struct ofl_value_type ofl_kind_type(enum ofl_type_kind base, int kind)
{
    return (struct ofl_value_type){.base = base, .kind = kind};
}

bool ofl_is_number(struct ofl_value_type type)
{
    return type.base == OFL_TYPE_INTEGER || type.base == OFL_TYPE_REAL || type.base == OFL_TYPE_COMPLEX ||
           type.base == OFL_TYPE_LOGICAL;
}

const char *ofl_c_type(enum ofl_type_kind type, int kind)
{
    if (type == OFL_TYPE_INTEGER || type == OFL_TYPE_LOGICAL) {
        return kind == 1 ? "signed char" : kind == 2 ? "short" : kind == 4 ? "int" : kind == 8 ? "long long" : NULL;
    }
    if (type == OFL_TYPE_REAL) {
        return kind == 4 ? "float" : kind == 8 ? "double" : NULL;
    }
    if (type == OFL_TYPE_COMPLEX) {
        return kind == 4 ? "ofl_c4" : kind == 8 ? "ofl_c8" : NULL;
    }
    return NULL;
}

enum ofl_k_type ofl_k_of(struct ofl_lower *l, struct ofl_value_type type, struct ofl_span span)
{
    int kind = type.kind;
    switch (type.base) {
    case OFL_TYPE_INTEGER:
    case OFL_TYPE_LOGICAL:
        if (kind == 1 || kind == 2 || kind == 4 || kind == 8) {
            return kind == 1 ? OFL_K_I1 : kind == 2 ? OFL_K_I2 : kind == 4 ? OFL_K_I4 : OFL_K_I8;
        }
        break;
    case OFL_TYPE_REAL:
        if (kind == 4 || kind == 8) {
            return kind == 4 ? OFL_K_R4 : OFL_K_R8;
        }
        break;
    case OFL_TYPE_COMPLEX:
        if (kind == 4 || kind == 8) {
            return kind == 4 ? OFL_K_C4 : OFL_K_C8;
        }
        break;
    case OFL_TYPE_CHARACTER:
        if (kind == 1) {
            return OFL_K_I1;
        }
        break;
    case OFL_TYPE_DERIVED:
    case OFL_TYPE_CLASS:
        if (type.derived != NULL) {
            return OFL_K_VOID;
        }
        break;
    default:
        break;
    }
    ofl_lower_refuse(l, span, "%s", ofl_type_text(l->modules, type));
}

enum ofl_k_type ofl_k_value_of(struct ofl_lower *l, struct ofl_value_type type, struct ofl_span span)
{
    enum ofl_k_type memory = ofl_k_of(l, type, span);
    return type.base == OFL_TYPE_LOGICAL ? OFL_K_BOOL : ofl_is_number(type) ? memory : OFL_K_ADDRESS;
}

struct ofl_k_expr *ofl_element_bytes(struct ofl_lower *l, struct ofl_value_type type, struct ofl_k_expr *length,
                                     struct ofl_span span)
{
    if (type.base == OFL_TYPE_CHARACTER) {
        ofl_k_of(l, type, span);
        return length;
    }
    if (ofl_is_number(type)) {
        return ofl_i8(l, ofl_k_bytes(ofl_k_of(l, type, span)));
    }
    ofl_k_of(l, type, span);
    return ofl_i8(l, ofl_type_bytes(l, type.derived, span));
}

/* ---- Layout ---- */

struct layout {
    int64_t bytes, align;
    bool descriptors, bound;
    const char *leaf; /* a component that the loop may name */
    int64_t leaf_offset;
};

static struct layout layout_of(struct ofl_lower *l, const struct ofl_symbol *type, const struct ofl_symbol *wanted,
                               struct ofl_component *found, struct ofl_span span);

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* The constant bounds of a component. */
static void find_shape(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_component *component,
                       struct ofl_span span)
{
    unsigned d = 0;
    for (const struct ofl_bound *bound = symbol->bounds; bound != NULL; bound = bound->next, d++) {
        int64_t lower = 1, upper = 0;
        bool known = bound->form == OFL_BOUND_EXPLICIT && bound->upper != NULL &&
                     (bound->lower == NULL || ofl_constant_integer(l->modules, symbol->scope, bound->lower, &lower)) &&
                     ofl_constant_integer(l->modules, symbol->scope, bound->upper, &upper);
        if (!known) {
            ofl_lower_refuse(l, span, "the component '%s', whose bounds are not constant,", symbol->name->text);
        }
        component->lower[d] = lower;
        component->extent[d] = upper < lower ? 0 : upper - lower + 1;
    }
}

/* Size and alignment of one component. */
static struct layout measure(struct ofl_lower *l, const struct ofl_symbol *symbol, struct ofl_component *component,
                             struct ofl_span span)
{
    struct layout inner = {0};
    const struct ofl_meaning *why = NULL;
    component->rank = symbol->rank;
    component->plain = !OFL_HAS(symbol, ALLOCATABLE) && !OFL_HAS(symbol, POINTER);
    if (symbol->class != OFL_SYMBOL_VARIABLE) { /* a procedure pointer */
        component->plain = false;
        component->bytes = component->align = 8;
        inner.descriptors = true;
        return inner;
    }
    if (!ofl_symbol_type(l->modules, (struct ofl_symbol *)symbol, &component->type, &why)) {
        ofl_lower_refuse(l, span, "the component '%s', whose type is not known,", symbol->name->text);
    }
    bool polymorphic = component->type.base == OFL_TYPE_CLASS || component->type.base == OFL_TYPE_CLASS_STAR;
    if (!component->plain || polymorphic) {
        inner.descriptors = true;
        component->plain = false;
        component->align = 8;
        component->bytes = symbol->rank > 0 ? 40 + 24 * (int64_t)symbol->rank : 8;
        component->bytes += polymorphic ? 8 : 0;
        if (component->type.base == OFL_TYPE_CLASS_STAR) {
            component->bytes += 8;
        }
        return inner;
    }
    if (component->type.base == OFL_TYPE_CHARACTER) {
        int64_t length = component->type.characters;
        bool known = component->type.length_form == OFL_LENGTH_KNOWN ||
                     (component->type.length_form == OFL_LENGTH_EXPR &&
                      ofl_constant_integer(l->modules, component->type.length_scope, component->type.length, &length));
        if (!known) {
            ofl_lower_refuse(l, span, "the component '%s', whose length is not constant,", symbol->name->text);
        }
        component->bytes = length < 0 ? 0 : length * component->type.kind;
        component->align = component->type.kind;
    } else if (ofl_is_number(component->type)) {
        int part = component->type.kind;
        component->bytes = component->type.base == OFL_TYPE_COMPLEX ? 2 * part : part == 10 ? 16 : part;
        component->align = part == 10 ? 16 : part;
    } else {
        if (component->type.derived == NULL) {
            ofl_lower_refuse(l, span, "the component '%s', whose type is not known,", symbol->name->text);
        }
        inner = layout_of(l, component->type.derived, NULL, NULL, span);
        component->bytes = inner.bytes;
        component->align = inner.align;
    }
    find_shape(l, symbol, component, span);
    for (unsigned d = 0; d < symbol->rank; d++) {
        component->bytes *= component->extent[d];
    }
    return inner;
}

/* `n`, or `sub%n`, or `v(1)`: the component of an intrinsic type that stands for the element. */
static void note_leaf(struct ofl_lower *l, struct layout *layout, const struct ofl_symbol *symbol,
                      const struct ofl_component *component, const struct layout *inner)
{
    if (layout->leaf != NULL || !component->plain || component->bytes == 0 || !ofl_component_visible(symbol, l->unit)) {
        return;
    }
    struct ofl_text name = {.arena = l->arena};
    ofl_text_print(&name, "%s", symbol->name->text);
    for (unsigned d = 0; d < component->rank; d++) {
        ofl_text_print(&name, "%s%lld%s", d == 0 ? "(" : ",", (long long)component->lower[d],
                       d + 1 == component->rank ? ")" : "");
    }
    if (ofl_is_number(component->type) || component->type.base == OFL_TYPE_CHARACTER) {
        layout->leaf = name.bytes;
        layout->leaf_offset = component->offset;
    } else if (inner->leaf != NULL) {
        layout->leaf = ofl_arena_format(l->arena, "%s%%%s", name.bytes, inner->leaf);
        layout->leaf_offset = component->offset + inner->leaf_offset;
    }
}

static void place(struct layout *layout, struct ofl_component *component)
{
    layout->bytes = round_up(layout->bytes, component->align);
    component->offset = layout->bytes;
    layout->bytes += component->bytes;
    layout->align = component->align > layout->align ? component->align : layout->align;
}

static struct layout layout_of(struct ofl_lower *l, const struct ofl_symbol *type, const struct ofl_symbol *wanted,
                               struct ofl_component *found, struct ofl_span span)
{
    struct layout layout = {.align = 1};
    const struct ofl_stmt *definition = type->definition;
    if (definition == NULL || definition->as.type_def.scope == NULL || definition->as.type_def.parameters != NULL) {
        ofl_lower_refuse(l, span, "the type '%s', whose definition is not at hand or has parameters,",
                         type->name->text);
    }
    layout.bound = definition->as.type_def.bindings.first != NULL;
    struct ofl_symbol *parent = ofl_type_parent(type);
    if (parent != NULL) {
        layout = layout_of(l, parent, wanted, found, span);
        layout.bound |= definition->as.type_def.bindings.first != NULL;
    }
    for (const struct ofl_symbol *symbol = definition->as.type_def.scope->first; symbol != NULL;
         symbol = symbol->next) {
        bool data = symbol->class == OFL_SYMBOL_VARIABLE || OFL_HAS(symbol, POINTER);
        if (symbol->storage != OFL_STORAGE_COMPONENT || !data) {
            continue;
        }
        struct ofl_component component = {0};
        struct layout inner = measure(l, symbol, &component, span);
        place(&layout, &component);
        note_leaf(l, &layout, symbol, &component, &inner);
        layout.descriptors |= inner.descriptors;
        layout.bound |= inner.bound;
        if (found != NULL && symbol == wanted) {
            *found = component;
        }
    }
    layout.bytes = round_up(layout.bytes, layout.align);
    return layout;
}

int64_t ofl_type_bytes(struct ofl_lower *l, const struct ofl_symbol *type, struct ofl_span span)
{
    return layout_of(l, type, NULL, NULL, span).bytes;
}

bool ofl_has_descriptors(struct ofl_lower *l, const struct ofl_symbol *type, struct ofl_span span)
{
    return layout_of(l, type, NULL, NULL, span).descriptors;
}

struct ofl_component ofl_component_place(struct ofl_lower *l, const struct ofl_symbol *type,
                                         const struct ofl_symbol *component, struct ofl_span span)
{
    struct ofl_component found = {.align = 0};
    layout_of(l, type, component, &found, span);
    if (found.align == 0) {
        ofl_lower_refuse(l, span, "the component '%s'", component->name->text);
    }
    return found;
}

const char *ofl_leaf_of(struct ofl_lower *l, const struct ofl_symbol *type, int64_t *offset, struct ofl_span span)
{
    struct layout layout = layout_of(l, type, NULL, NULL, span);
    *offset = 0;
    if (!layout.bound) {
        return NULL;
    }
    if (layout.leaf == NULL) {
        ofl_lower_refuse(
            l, span,
            "a value of type '%s', which has bound procedures and no component of an intrinsic type that is public,",
            type->name->text);
    }
    *offset = layout.leaf_offset;
    return layout.leaf;
}

/* ---- Components whose memory lies elsewhere ---- */

static void find_components(struct ofl_lower *l, const struct ofl_symbol *type, int64_t base, struct ofl_span span,
                            struct ofl_kernel_component **list)
{
    size_t count;
    struct ofl_symbol **components = ofl_type_components(l->modules, type, &count);
    for (size_t i = 0; i < count; i++) {
        struct ofl_component part = ofl_component_place(l, type, components[i], span);
        const struct ofl_used_component *used = l->components;
        while (used != NULL && used->symbol != components[i]) {
            used = used->next;
        }
        if (used != NULL) {
            struct ofl_k_expr *length = part.type.base == OFL_TYPE_CHARACTER ? ofl_i8(l, part.type.characters) : NULL;
            struct ofl_kernel_component *found = OFL_NEW(l->arena, struct ofl_kernel_component);
            found->offset = base + part.offset;
            found->bytes = ofl_element_bytes(l, part.type, length, span)->integer;
            found->rank = part.rank;
            found->written = used->written;
            found->next = *list;
            *list = found;
        } else if (part.plain && part.type.derived != NULL) {
            int64_t elements = 1;
            for (unsigned d = 0; d < part.rank; d++) {
                elements *= part.extent[d];
            }
            for (int64_t e = 0; e < elements; e++) {
                find_components(l, part.type.derived, base + part.offset + e * (part.bytes / elements), span, list);
            }
        }
    }
}

struct ofl_kernel_component *ofl_components_in(struct ofl_lower *l, const struct ofl_symbol *type, struct ofl_span span)
{
    struct ofl_kernel_component *list = NULL;
    if (l->components != NULL) {
        find_components(l, type, 0, span, &list);
    }
    return list;
}
