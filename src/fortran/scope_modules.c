/* The intrinsic modules, as far as their constants and types decide what a declaration means.
 *
 * Entry point: ofl_intrinsic_module.  Values are gfortran's on x86-64.  A module that is given in part only
 * (ieee_arithmetic, omp_lib) is `open`: a name that is not found in it may exist. */
#include "fortran/meaning_private.h"

#include <string.h>

struct entry {
    const char *name;
    enum ofl_symbol_class class;
    int value;
};

#define CONSTANT(name, value)                                                                                          \
    {                                                                                                                  \
        name, OFL_SYMBOL_CONSTANT, value                                                                               \
    }
#define TYPE(name)                                                                                                     \
    {                                                                                                                  \
        name, OFL_SYMBOL_TYPE, 0                                                                                       \
    }
#define FUNCTION(name)                                                                                                 \
    {                                                                                                                  \
        name, OFL_SYMBOL_FUNCTION, 0                                                                                   \
    }
#define SUBROUTINE(name)                                                                                               \
    {                                                                                                                  \
        name, OFL_SYMBOL_SUBROUTINE, 0                                                                                 \
    }

static const struct entry iso_fortran_env[] = {
    CONSTANT("int8", 1),
    CONSTANT("int16", 2),
    CONSTANT("int32", 4),
    CONSTANT("int64", 8),
    CONSTANT("real32", 4),
    CONSTANT("real64", 8),
    CONSTANT("real128", 16),
    CONSTANT("logical8", 1),
    CONSTANT("logical16", 2),
    CONSTANT("logical32", 4),
    CONSTANT("logical64", 8),
    CONSTANT("input_unit", 5),
    CONSTANT("output_unit", 6),
    CONSTANT("error_unit", 0),
    CONSTANT("iostat_end", -1),
    CONSTANT("iostat_eor", -2),
    CONSTANT("numeric_storage_size", 32),
    CONSTANT("character_storage_size", 8),
    CONSTANT("file_storage_size", 8),
    CONSTANT("atomic_int_kind", 4),
    CONSTANT("atomic_logical_kind", 4),
    CONSTANT("stat_failed_image", 6001),
    CONSTANT("stat_stopped_image", 6000),
    CONSTANT("stat_locked", 1),
    CONSTANT("stat_unlocked", 2),
    CONSTANT("stat_locked_other_image", 3),
    CONSTANT("iostat_inquire_internal_unit", 5018),
    TYPE("lock_type"),
    TYPE("event_type"),
    TYPE("team_type"),
    FUNCTION("compiler_version"),
    FUNCTION("compiler_options"),
};

static const struct entry iso_c_binding[] = {
    CONSTANT("c_int", 4),
    CONSTANT("c_short", 2),
    CONSTANT("c_long", 8),
    CONSTANT("c_long_long", 8),
    CONSTANT("c_signed_char", 1),
    CONSTANT("c_size_t", 8),
    CONSTANT("c_int8_t", 1),
    CONSTANT("c_int16_t", 2),
    CONSTANT("c_int32_t", 4),
    CONSTANT("c_int64_t", 8),
    CONSTANT("c_int128_t", 16),
    CONSTANT("c_int_least8_t", 1),
    CONSTANT("c_int_least16_t", 2),
    CONSTANT("c_int_least32_t", 4),
    CONSTANT("c_int_least64_t", 8),
    CONSTANT("c_int_fast8_t", 1),
    CONSTANT("c_int_fast16_t", 8),
    CONSTANT("c_int_fast32_t", 8),
    CONSTANT("c_int_fast64_t", 8),
    CONSTANT("c_intmax_t", 8),
    CONSTANT("c_intptr_t", 8),
    CONSTANT("c_ptrdiff_t", 8),
    CONSTANT("c_float", 4),
    CONSTANT("c_double", 8),
    CONSTANT("c_long_double", 10),
    CONSTANT("c_float128", 16),
    CONSTANT("c_float_complex", 4),
    CONSTANT("c_double_complex", 8),
    CONSTANT("c_long_double_complex", 10),
    CONSTANT("c_float128_complex", 16),
    CONSTANT("c_bool", 1),
    CONSTANT("c_char", 1),
    TYPE("c_ptr"),
    TYPE("c_funptr"),
    FUNCTION("c_loc"),
    FUNCTION("c_funloc"),
    FUNCTION("c_associated"),
    FUNCTION("c_sizeof"),
    SUBROUTINE("c_f_pointer"),
    SUBROUTINE("c_f_procpointer"),
};

static const struct entry ieee_arithmetic[] = {
    TYPE("ieee_class_type"),
    TYPE("ieee_round_type"),
    TYPE("ieee_flag_type"),
    TYPE("ieee_status_type"),
    TYPE("ieee_features_type"),
    FUNCTION("ieee_class"),
    FUNCTION("ieee_copy_sign"),
    FUNCTION("ieee_is_finite"),
    FUNCTION("ieee_is_nan"),
    FUNCTION("ieee_is_negative"),
    FUNCTION("ieee_is_normal"),
    FUNCTION("ieee_logb"),
    FUNCTION("ieee_next_after"),
    FUNCTION("ieee_rem"),
    FUNCTION("ieee_rint"),
    FUNCTION("ieee_scalb"),
    FUNCTION("ieee_unordered"),
    FUNCTION("ieee_value"),
    FUNCTION("ieee_support_datatype"),
    FUNCTION("ieee_support_denormal"),
    FUNCTION("ieee_support_divide"),
    FUNCTION("ieee_support_inf"),
    FUNCTION("ieee_support_nan"),
    FUNCTION("ieee_support_sqrt"),
    FUNCTION("ieee_support_standard"),
    FUNCTION("ieee_selected_real_kind"),
    SUBROUTINE("ieee_get_flag"),
    SUBROUTINE("ieee_set_flag"),
    SUBROUTINE("ieee_get_halting_mode"),
    SUBROUTINE("ieee_set_halting_mode"),
    SUBROUTINE("ieee_get_rounding_mode"),
    SUBROUTINE("ieee_set_rounding_mode"),
    SUBROUTINE("ieee_get_status"),
    SUBROUTINE("ieee_set_status"),
};

/* Constants that are no integers: characters with their value, and constants of a module's own types without one. */
static const struct {
    const char *module, *name, *type;
    char letter;
} other_constants[] = {
    {"iso_c_binding", "c_null_char", NULL, '\0'},
    {"iso_c_binding", "c_alert", NULL, '\a'},
    {"iso_c_binding", "c_backspace", NULL, '\b'},
    {"iso_c_binding", "c_form_feed", NULL, '\f'},
    {"iso_c_binding", "c_new_line", NULL, '\n'},
    {"iso_c_binding", "c_carriage_return", NULL, '\r'},
    {"iso_c_binding", "c_horizontal_tab", NULL, '\t'},
    {"iso_c_binding", "c_vertical_tab", NULL, '\v'},
    {"iso_c_binding", "c_null_ptr", "c_ptr", 0},
    {"iso_c_binding", "c_null_funptr", "c_funptr", 0},
    {"ieee_arithmetic", "ieee_signaling_nan", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_quiet_nan", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_negative_inf", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_positive_inf", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_negative_normal", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_positive_normal", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_negative_denormal", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_positive_denormal", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_negative_zero", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_positive_zero", "ieee_class_type", 0},
    {"ieee_arithmetic", "ieee_nearest", "ieee_round_type", 0},
    {"ieee_arithmetic", "ieee_to_zero", "ieee_round_type", 0},
    {"ieee_arithmetic", "ieee_up", "ieee_round_type", 0},
    {"ieee_arithmetic", "ieee_down", "ieee_round_type", 0},
    {"ieee_arithmetic", "ieee_overflow", "ieee_flag_type", 0},
    {"ieee_arithmetic", "ieee_underflow", "ieee_flag_type", 0},
    {"ieee_arithmetic", "ieee_divide_by_zero", "ieee_flag_type", 0},
    {"ieee_arithmetic", "ieee_invalid", "ieee_flag_type", 0},
    {"ieee_arithmetic", "ieee_inexact", "ieee_flag_type", 0},
};

static const struct entry omp_lib[] = {
    CONSTANT("omp_integer_kind", 4),   CONSTANT("omp_logical_kind", 4), CONSTANT("omp_lock_kind", 4),
    CONSTANT("omp_nest_lock_kind", 8), CONSTANT("omp_sched_kind", 4),   CONSTANT("omp_proc_bind_kind", 4),
};

static const struct {
    const char *name;
    const struct entry *entries;
    size_t count;
    bool open;
} intrinsic_modules[] = {
#define ROW(table, open)                                                                                               \
    {                                                                                                                  \
#table, table, sizeof table / sizeof table[0], open                                                            \
    }
    ROW(iso_fortran_env, false),
    ROW(iso_c_binding, false),
    ROW(omp_lib, true),
    {"omp_lib_kinds", omp_lib, sizeof omp_lib / sizeof omp_lib[0], true},
    ROW(ieee_arithmetic, true),
    {"ieee_exceptions", ieee_arithmetic, sizeof ieee_arithmetic / sizeof ieee_arithmetic[0], true},
    {"ieee_features", NULL, 0, true},
};

static struct ofl_symbol *add(struct ofl_modules *modules, struct ofl_scope *scope, const char *text,
                              enum ofl_symbol_class class)
{
    const struct ofl_name *name = ofl_name_of(modules->arena, text, strlen(text));
    struct ofl_symbol *symbol = ofl_scope_add(modules->arena, scope, name, (struct ofl_span){0, 0});
    symbol->class = class;
    symbol->storage = OFL_STORAGE_NONE;
    symbol->attrs |= OFL_ATTR_BIT(INTRINSIC);
    return symbol;
}

static void add_other_constants(struct ofl_modules *modules, struct ofl_scope *scope, const struct entry *entries)
{
    for (size_t i = 0; i < sizeof other_constants / sizeof other_constants[0]; i++) {
        const struct entry *wanted = other_constants[i].module[1] == 's' ? iso_c_binding : ieee_arithmetic;
        if (entries != wanted) {
            continue;
        }
        struct ofl_symbol *symbol = add(modules, scope, other_constants[i].name, OFL_SYMBOL_CONSTANT);
        const char *type = other_constants[i].type;
        symbol->typed = true;
        if (type != NULL) {
            symbol->type.kind_of = OFL_TYPE_DERIVED;
            symbol->type.derived = ofl_scope_own(scope, ofl_name_of(modules->arena, type, strlen(type)));
        } else {
            symbol->type = (struct ofl_type){.kind_of = OFL_TYPE_CHARACTER, .kind = 1};
            symbol->constant =
                ofl_value_text(modules, 1, ofl_arena_text(modules->arena, &other_constants[i].letter, 1), 1);
        }
    }
}

/* integer_kinds and the like of iso_fortran_env: arrays. */
static void add_kinds(struct ofl_modules *modules, struct ofl_scope *scope)
{
    static const struct {
        const char *name;
        int kinds[6];
    } rows[] = {{"integer_kinds", {1, 2, 4, 8, 16}},
                {"real_kinds", {4, 8, 10, 16}},
                {"logical_kinds", {1, 2, 4, 8, 16}},
                {"character_kinds", {1, 4}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ofl_symbol *symbol = add(modules, scope, rows[i].name, OFL_SYMBOL_CONSTANT);
        struct ofl_bound *bound = OFL_NEW(modules->arena, struct ofl_bound);
        int64_t count = 0;
        while (rows[i].kinds[count] != 0) {
            count++;
        }
        struct ofl_constant *value =
            ofl_value_array_new(modules, ofl_type_of_kind(OFL_TYPE_INTEGER, 4), 1, &count, (size_t)count);
        if (value == NULL) {
            return;
        }
        bound->form = OFL_BOUND_STAR; /* as many as the value has */
        symbol->typed = true;
        symbol->type = (struct ofl_type){.kind_of = OFL_TYPE_INTEGER, .kind = 4};
        symbol->bounds = bound;
        symbol->rank = 1;
        for (int64_t k = 0; k < count; k++) {
            value->elements[k] = ofl_value_integer(modules, 4, rows[i].kinds[k]);
        }
        symbol->constant = value;
    }
}

struct ofl_symbol *ofl_intrinsic_module(struct ofl_modules *modules, const struct ofl_name *name)
{
    for (struct ofl_symbol *module = modules->intrinsic; module != NULL; module = module->next) {
        if (module->name == name) {
            return module;
        }
    }
    for (size_t i = 0; i < sizeof intrinsic_modules / sizeof intrinsic_modules[0]; i++) {
        if (strcmp(intrinsic_modules[i].name, name->text) != 0) {
            continue;
        }
        struct ofl_unit *unit = OFL_NEW(modules->arena, struct ofl_unit);
        unit->kind = OFL_UNIT_MODULE;
        unit->name.name = name;
        unit->scope = ofl_scope_new(modules->arena, OFL_SCOPE_UNIT, NULL, unit);
        unit->scope->open = intrinsic_modules[i].open;
        for (size_t k = 0; k < intrinsic_modules[i].count; k++) {
            const struct entry *entry = &intrinsic_modules[i].entries[k];
            struct ofl_symbol *symbol = add(modules, unit->scope, entry->name, entry->class);
            if (entry->class == OFL_SYMBOL_CONSTANT) {
                symbol->has_integer = true;
                symbol->integer = entry->value;
                symbol->typed = true;
                symbol->type = (struct ofl_type){.kind_of = OFL_TYPE_INTEGER, .kind = 4};
            }
        }
        add_other_constants(modules, unit->scope, intrinsic_modules[i].entries);
        if (intrinsic_modules[i].entries == iso_fortran_env) {
            add_kinds(modules, unit->scope);
        }
        struct ofl_symbol *module = OFL_NEW(modules->arena, struct ofl_symbol);
        module->name = name;
        module->class = OFL_SYMBOL_MODULE;
        module->storage = OFL_STORAGE_NONE;
        module->unit = unit;
        module->next = modules->intrinsic;
        modules->intrinsic = module;
        return module;
    }
    return NULL;
}
