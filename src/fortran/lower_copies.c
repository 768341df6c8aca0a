/* The copies that an iteration has of private variables; see lower.h and lower_private.c.
 *
 * A copy that goes back writes only what the iteration changed: the elements of an array, the bytes of a structure or
 * text that differ from what they were.  So iterations that define different elements of one variable do not undo each
 * other's. */
#include "fortran/lower.h"

struct ofl_writeback {
    struct ofl_view from, to;
    struct ofl_view before; /* what is no number: as it was when the iteration began */
    struct ofl_k_var *touched;
    const struct ofl_symbol *symbol;
    struct ofl_writeback *next;
};

/* A copy of the program's variable for this iteration. */
static struct ofl_writeback *bind_private(struct ofl_lower *l, const struct ofl_usage *usage,
                                          struct ofl_binding *outside)
{
    struct ofl_span span = l->loop->span;
    struct ofl_view from = ofl_view_of_binding(l, outside, span), copy = from;
    struct ofl_k_expr *extent[OFL_MAX_RANK];
    bool init = usage->listed ? usage->locality == OFL_LOCALITY_LOCAL_INIT : usage->exposed;
    bool back = !usage->listed && !usage->certain, whole = from.rank == 0 && ofl_is_number(from.type);
    init |= back && !whole;
    if (whole) {
        copy.address =
            ofl_k_address_of(l->arena, ofl_new_var(l, usage->symbol->name->text, ofl_k_of(l, from.type, span)));
    } else {
        for (unsigned d = 0; d < from.rank; d++) {
            extent[d] = from.dim[d].extent;
            if (extent[d] == NULL) {
                ofl_lower_refuse(l, span, "'%s', an assumed-size array that is private,", usage->symbol->name->text);
            }
        }
        copy = ofl_temporary_view(l, from.type, from.length, from.rank, extent, span);
        for (unsigned d = 0; d < from.rank; d++) {
            copy.dim[d].lower = from.dim[d].lower;
        }
    }
    struct ofl_binding *binding = ofl_bind(l, usage->symbol);
    binding->view = copy;
    binding->view.root = binding;
    binding->private = true;
    if (init) {
        ofl_assign_array(l, &binding->view, ofl_array_of_view(l, &from), span);
    } else if (from.type.base == OFL_TYPE_DERIVED && usage->listed) {
        ofl_initialize(l, &binding->view, span);
    }
    if (!back) {
        return NULL;
    }
    struct ofl_writeback *entry = OFL_NEW(l->arena, struct ofl_writeback);
    binding->touched = ofl_new_var(l, ofl_arena_format(l->arena, "%s_set", usage->symbol->name->text), OFL_K_BOOL);
    ofl_set(l, binding->touched, ofl_k_integer(l->arena, OFL_K_BOOL, 0));
    outside->object->public.written = true;
    if (!whole) {
        entry->before = ofl_materialize(l, ofl_array_of_view(l, &from), span);
    }
    entry->from = binding->view;
    entry->to = from;
    entry->touched = binding->touched;
    entry->symbol = usage->symbol;
    return entry;
}

struct ofl_writeback *ofl_bind_privates(struct ofl_lower *l)
{
    struct ofl_writeback *list = NULL;
    for (const struct ofl_usage *usage = l->usage; usage != NULL; usage = usage->next) {
        if (usage->inner || !ofl_is_private(usage) || (usage->listed && usage->locality == OFL_LOCALITY_REDUCE)) {
            continue;
        }
        if (usage->called) {
            ofl_lower_refuse(l, l->loop->span,
                             "'%s', which each iteration has for itself and a called procedure reads,",
                             usage->symbol->name->text);
        }
        bool outside_needed = !usage->listed ? usage->exposed || !usage->certain || usage->rank > 0
                                             : usage->locality == OFL_LOCALITY_LOCAL_INIT || usage->rank > 0;
        struct ofl_value_type type;
        bool number =
            ofl_symbol_type(l->modules, (struct ofl_symbol *)usage->symbol, &type, NULL) && ofl_is_number(type);
        if (!outside_needed && number) {
            ofl_declare_local(l, usage->symbol, l->loop->span);
            continue;
        }
        struct ofl_binding *outside = ofl_binding_of(l, usage->symbol, l->loop->span);
        struct ofl_writeback *entry = bind_private(l, usage, outside);
        if (entry != NULL) {
            entry->next = list;
            list = entry;
        }
    }
    return list;
}

static void write_changes(struct ofl_lower *l, const struct ofl_writeback *entry)
{
    struct ofl_span span = l->loop->span;
    struct ofl_k_expr *extent[OFL_MAX_RANK];
    for (unsigned d = 0; d < entry->to.rank; d++) {
        extent[d] = entry->to.dim[d].extent;
    }
    struct ofl_element_loops loops = ofl_begin_elements(l, entry->to.rank, extent);
    struct ofl_view to = ofl_element_view(l, &entry->to, loops.subscript);
    struct ofl_view now = ofl_element_view(l, &entry->from, loops.subscript);
    struct ofl_view before = ofl_element_view(l, &entry->before, loops.subscript);
    ofl_do(l, ofl_k_support(l->arena, OFL_K_VOID, "ofl_copy_changes", to.address, now.address, before.address,
                            ofl_element_bytes(l, to.type, to.length, span), NULL));
    ofl_end_elements(l, &loops);
}

void ofl_write_back(struct ofl_lower *l, const struct ofl_writeback *list)
{
    for (; list != NULL; list = list->next) {
        struct ofl_k_block *outer = ofl_begin_if(l, ofl_get(l, list->touched));
        if (list->before.address != NULL) {
            write_changes(l, list);
        } else {
            ofl_assign_array(l, &list->to, ofl_array_of_view(l, &list->from), l->loop->span);
        }
        ofl_end(l, outer);
    }
}
