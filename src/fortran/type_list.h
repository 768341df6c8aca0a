/* Derived types that were looked into, so that none is twice: they may contain each other in many ways. */
#ifndef OFL_FORTRAN_TYPE_LIST_H
#define OFL_FORTRAN_TYPE_LIST_H

#include "fortran/scope.h"

struct ofl_type_list {
    const struct ofl_symbol *type;
    struct ofl_type_list *next;
};

/* Adds a type; false if it is in the list already. */
static inline bool ofl_type_list_add(struct ofl_arena *arena, struct ofl_type_list **list,
                                     const struct ofl_symbol *type)
{
    for (const struct ofl_type_list *item = *list; item != NULL; item = item->next) {
        if (item->type == type) {
            return false;
        }
    }
    struct ofl_type_list *item = OFL_NEW(arena, struct ofl_type_list);
    *item = (struct ofl_type_list){type, *list};
    *list = item;
    return true;
}
#endif
