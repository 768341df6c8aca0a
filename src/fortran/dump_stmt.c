/* The tree as S-expressions, second part: statements and units.  See dump.c for expressions. */
#include "fortran/dump.h"

#include <inttypes.h>

static void dump_block(const struct ofl_block *block, int depth, FILE *stream);
static void dump_units(const struct ofl_unit *units, int depth, FILE *stream);

static const char *text_of(const struct ofl_name *name)
{
    return name != NULL ? name->text : "";
}

static void indent(int depth, FILE *stream)
{
    fprintf(stream, "%*s", 2 * depth, "");
}

static void dump_names(const struct ofl_ident_list *names, FILE *stream)
{
    for (; names != NULL; names = names->next) {
        fprintf(stream, " %s", text_of(names->ident.name));
    }
}

static void dump_expr_if(const char *before, const struct ofl_expr *expr, FILE *stream)
{
    if (expr != NULL) {
        fputs(before, stream);
        ofl_dump_expr(expr, stream);
    }
}

static void dump_labels(const struct ofl_label_list *labels, FILE *stream)
{
    for (; labels != NULL; labels = labels->next) {
        fprintf(stream, " %" PRIu32, labels->label.value);
    }
}

/* ---- Constructs ------------------------------------------------------------------------------------------------- */

static void dump_arms(const struct ofl_stmt *stmt, int depth, FILE *stream)
{
    static const char *const guards[] = {
        [OFL_GUARD_CONDITION] = "when",  [OFL_GUARD_ELSE] = "else",         [OFL_GUARD_CASE] = "case",
        [OFL_GUARD_TYPE_IS] = "type-is", [OFL_GUARD_CLASS_IS] = "class-is", [OFL_GUARD_RANK] = "rank",
        [OFL_GUARD_MAP] = "map",
    };
    if (stmt->as.arms.selector.selector != NULL) {
        fprintf(stream, " %s%s", text_of(stmt->as.arms.selector.name.name),
                stmt->as.arms.selector.name.name != NULL ? "=>" : "");
        ofl_dump_expr(stmt->as.arms.selector.selector, stream);
    }
    for (const struct ofl_arm *arm = stmt->as.arms.arms; arm != NULL; arm = arm->next) {
        fputc('\n', stream);
        indent(depth, stream);
        fprintf(stream, "(%s", guards[arm->kind]);
        dump_expr_if(" ", arm->condition, stream);
        if (arm->values != NULL) {
            ofl_dump_args(arm->values, stream);
        }
        if (arm->type != NULL) {
            ofl_dump_type(arm->type, stream);
        }
        dump_block(&arm->body, depth + 1, stream);
        fputc(')', stream);
    }
}

static void dump_localities(const struct ofl_locality *localities, FILE *stream)
{
    static const char *const names[] = {"local", "local_init", "shared", "default-none", "reduce"};
    for (; localities != NULL; localities = localities->next) {
        fprintf(stream, " (%s", names[localities->kind]);
        if (localities->kind == OFL_LOCALITY_REDUCE) {
            fprintf(stream, " %s",
                    localities->reduce_by_name ? text_of(localities->reduce_name)
                                               : ofl_operator_text(localities->reduce_op));
        }
        dump_names(localities->names, stream);
        fputc(')', stream);
    }
}

static void dump_loop(const struct ofl_loop *loop, int depth, FILE *stream)
{
    if (loop->terminal.value != 0) {
        fprintf(stream, " %" PRIu32 "%s", loop->terminal.value, loop->shared_terminal ? "+" : "");
    }
    switch (loop->form) {
    case OFL_LOOP_FOREVER:
        break;
    case OFL_LOOP_COUNT:
        dump_expr_if(" ", loop->variable, stream);
        dump_expr_if("=", loop->first, stream);
        dump_expr_if(" ", loop->last, stream);
        dump_expr_if(" ", loop->step, stream);
        break;
    case OFL_LOOP_WHILE:
        dump_expr_if(" while ", loop->condition, stream);
        break;
    case OFL_LOOP_CONCURRENT:
        fputs(" concurrent", stream);
        if (loop->index_type != NULL) {
            fputc(' ', stream);
            ofl_dump_type(loop->index_type, stream);
        }
        for (const struct ofl_index *index = loop->indices; index != NULL; index = index->next) {
            fprintf(stream, " (%s=", text_of(index->ident.name));
            ofl_dump_expr(index->lower, stream);
            dump_expr_if(" ", index->upper, stream);
            dump_expr_if(" ", index->step, stream);
            fputc(')', stream);
        }
        dump_expr_if(" mask ", loop->condition, stream);
        dump_localities(loop->localities, stream);
        break;
    }
    dump_block(&loop->body, depth, stream);
}

static void dump_construct_block(const struct ofl_stmt *stmt, int depth, FILE *stream)
{
    dump_expr_if(" ", stmt->as.block.team, stream);
    for (const struct ofl_association *item = stmt->as.block.associations; item != NULL; item = item->next) {
        fprintf(stream, " %s=>", text_of(item->name.name));
        ofl_dump_expr(item->selector, stream);
    }
    if (stmt->as.block.controls != NULL) {
        fputc(' ', stream);
        ofl_dump_args(stmt->as.block.controls, stream);
    }
    dump_block(&stmt->as.block.body, depth, stream);
}

/* ---- Specifications --------------------------------------------------------------------------------------------- */

static void dump_use(const struct ofl_stmt *stmt, FILE *stream)
{
    fprintf(stream, " %s", text_of(stmt->as.use.module.name));
    if (stmt->as.use.nature.name != NULL) {
        fprintf(stream, " (%s)", stmt->as.use.nature.name->text);
    }
    fputs(stmt->as.use.only ? " only" : "", stream);
    for (const struct ofl_rename *item = stmt->as.use.names; item != NULL; item = item->next) {
        fputc(' ', stream);
        if (item->local != NULL) {
            ofl_dump_generic(item->local, stream);
            fputs("=>", stream);
        }
        ofl_dump_generic(item->used, stream);
    }
}

static void dump_groups(const struct ofl_group *groups, FILE *stream)
{
    for (; groups != NULL; groups = groups->next) {
        fprintf(stream, " (/%s/", text_of(groups->name.name));
        ofl_dump_entities(groups->entities, stream);
        if (groups->items != NULL) {
            fputc(' ', stream);
            ofl_dump_args(groups->items, stream);
        }
        fputc(')', stream);
    }
}

static void dump_implicit(const struct ofl_stmt *stmt, FILE *stream)
{
    if (stmt->as.implicit.none) {
        fprintf(stream, " none%s%s", stmt->as.implicit.none_type ? " type" : "",
                stmt->as.implicit.none_external ? " external" : "");
    }
    for (const struct ofl_implicit *range = stmt->as.implicit.ranges; range != NULL; range = range->next) {
        fputc(' ', stream);
        if (range->type != NULL) {
            ofl_dump_type(range->type, stream);
        }
        fprintf(stream, "%c-%c", range->first, range->last);
    }
}

static void dump_type_def(const struct ofl_stmt *stmt, int depth, FILE *stream)
{
    fprintf(stream, " %s", text_of(stmt->as.type_def.name.name));
    dump_names(stmt->as.type_def.parameters, stream);
    ofl_dump_attrs(stmt->as.type_def.attrs, stream);
    ofl_dump_entities(stmt->as.type_def.entities, stream);
    dump_block(&stmt->as.type_def.components, depth, stream);
    if (stmt->as.type_def.contains.begin != 0) {
        fputc('\n', stream);
        indent(depth, stream);
        fputs("contains", stream);
    }
    dump_block(&stmt->as.type_def.bindings, depth, stream);
}

static void dump_data(const struct ofl_stmt *stmt, FILE *stream)
{
    for (const struct ofl_data_set *set = stmt->as.data.sets; set != NULL; set = set->next) {
        fputc(' ', stream);
        ofl_dump_args(set->objects, stream);
        fputc('/', stream);
        ofl_dump_args(set->values, stream);
        fputc('/', stream);
    }
}

static void dump_procedure(const struct ofl_stmt *stmt, FILE *stream)
{
    if (stmt->as.procedure.interface.name != NULL) {
        fprintf(stream, " (%s)", stmt->as.procedure.interface.name->text);
    }
    if (stmt->as.procedure.type != NULL) {
        fputc(' ', stream);
        ofl_dump_type(stmt->as.procedure.type, stream);
    }
    ofl_dump_attrs(stmt->as.procedure.attrs, stream);
    ofl_dump_entities(stmt->as.procedure.entities, stream);
}

static void dump_args_payload(const struct ofl_stmt *stmt, FILE *stream)
{
    if (stmt->as.args.type != NULL) {
        fputc(' ', stream);
        ofl_dump_type(stmt->as.args.type, stream);
    }
    if (stmt->as.args.controls != NULL) {
        fputs(" ", stream);
        ofl_dump_args(stmt->as.args.controls, stream);
    }
    if (stmt->as.args.items != NULL) {
        fputs(" items ", stream);
        ofl_dump_args(stmt->as.args.items, stream);
    }
}

/* ---- The switch over statements --------------------------------------------------------------------------------- */

enum payload {
    PAYLOAD_none,
    PAYLOAD_use,
    PAYLOAD_import,
    PAYLOAD_implicit,
    PAYLOAD_args,
    PAYLOAD_decl,
    PAYLOAD_procedure,
    PAYLOAD_groups,
    PAYLOAD_data,
    PAYLOAD_pairs,
    PAYLOAD_assign,
    PAYLOAD_type_def,
    PAYLOAD_arms,
    PAYLOAD_enumeration,
    PAYLOAD_interface,
    PAYLOAD_interface_names,
    PAYLOAD_generic,
    PAYLOAD_text,
    PAYLOAD_entry,
    PAYLOAD_include,
    PAYLOAD_directive,
    PAYLOAD_label_assign,
    PAYLOAD_call,
    PAYLOAD_jump,
    PAYLOAD_stop,
    PAYLOAD_exit,
    PAYLOAD_guarded,
    PAYLOAD_loop,
    PAYLOAD_block
};

static enum payload payload_of(enum ofl_stmt_kind kind)
{
    static const unsigned char payloads[] = {
#define OFL_STATEMENT(kind, payload, class, text) PAYLOAD_##payload,
#include "fortran/statements.def"
#undef OFL_STATEMENT
    };
    return (enum payload)payloads[kind];
}

static void dump_stmt(const struct ofl_stmt *stmt, int depth, FILE *stream);

/* Payloads of specification statements; false if it is another. */
static bool dump_specification(const struct ofl_stmt *stmt, FILE *stream)
{
    switch (payload_of(stmt->kind)) {
    case PAYLOAD_none:
        break;
    case PAYLOAD_use:
        dump_use(stmt, stream);
        break;
    case PAYLOAD_import: {
        static const char *const forms[] = {"", " only", " none", " all"};
        fputs(forms[stmt->as.import.form], stream);
        dump_names(stmt->as.import.names, stream);
        break;
    }
    case PAYLOAD_implicit:
        dump_implicit(stmt, stream);
        break;
    case PAYLOAD_args:
        dump_args_payload(stmt, stream);
        break;
    case PAYLOAD_decl:
        if (stmt->as.decl.type != NULL) {
            fputc(' ', stream);
            ofl_dump_type(stmt->as.decl.type, stream);
        }
        ofl_dump_attrs(stmt->as.decl.attrs, stream);
        ofl_dump_entities(stmt->as.decl.entities, stream);
        break;
    case PAYLOAD_procedure:
        dump_procedure(stmt, stream);
        break;
    case PAYLOAD_groups:
        dump_groups(stmt->as.groups.groups, stream);
        break;
    case PAYLOAD_data:
        dump_data(stmt, stream);
        break;
    case PAYLOAD_pairs:
        for (const struct ofl_pair *pair = stmt->as.pairs.pairs; pair != NULL; pair = pair->next) {
            fprintf(stream, " (%s", text_of(pair->pointer.name));
            ofl_dump_entities(pair->pointee, stream);
            fputc(')', stream);
        }
        break;
    case PAYLOAD_assign:
        dump_expr_if(" ", stmt->as.assign.target, stream);
        dump_expr_if(" ", stmt->as.assign.value, stream);
        break;
    default:
        return false;
    }
    return true;
}

/* Payloads of definitions, and what else may stand among specifications; false if it is another. */
static bool dump_definition(const struct ofl_stmt *stmt, int depth, FILE *stream)
{
    switch (payload_of(stmt->kind)) {
    case PAYLOAD_type_def:
        dump_type_def(stmt, depth, stream);
        break;
    case PAYLOAD_arms:
        dump_arms(stmt, depth, stream);
        break;
    case PAYLOAD_enumeration:
        dump_block(&stmt->as.enumeration.enumerators, depth, stream);
        break;
    case PAYLOAD_interface:
        fputs(stmt->as.interface.abstract ? " abstract" : "", stream);
        if (stmt->as.interface.generic != NULL) {
            fputc(' ', stream);
            ofl_dump_generic(stmt->as.interface.generic, stream);
        }
        dump_units(stmt->as.interface.bodies, depth, stream);
        dump_block(&stmt->as.interface.names, depth, stream);
        break;
    case PAYLOAD_interface_names:
        dump_names(stmt->as.interface_names.names, stream);
        break;
    case PAYLOAD_generic:
        ofl_dump_attrs(stmt->as.generic.attrs, stream);
        if (stmt->as.generic.generic != NULL) {
            fputc(' ', stream);
            ofl_dump_generic(stmt->as.generic.generic, stream);
            fputs(" =>", stream);
        }
        dump_names(stmt->as.generic.names, stream);
        break;
    case PAYLOAD_text:
        fprintf(stream, " %s", stmt->as.text.text);
        break;
    case PAYLOAD_entry:
        fprintf(stream, " %s (", text_of(stmt->as.entry.name.name));
        dump_names(stmt->as.entry.args, stream);
        fprintf(stream, " ) %s", text_of(stmt->as.entry.result.name));
        ofl_dump_attrs(stmt->as.entry.bind, stream);
        break;
    case PAYLOAD_include:
        fprintf(stream, " %s", stmt->as.include.source->path);
        break;
    case PAYLOAD_directive:
        fprintf(stream, " %s: %s", text_of(stmt->as.directive.sentinel), stmt->as.directive.text);
        break;
    default:
        return false;
    }
    return true;
}

static void dump_payload(const struct ofl_stmt *stmt, int depth, FILE *stream)
{
    if (dump_specification(stmt, stream) || dump_definition(stmt, depth, stream)) {
        return;
    }
    switch (payload_of(stmt->kind)) {
    case PAYLOAD_label_assign:
        fprintf(stream, " %" PRIu32, stmt->as.label_assign.label.value);
        dump_expr_if(" ", stmt->as.label_assign.variable, stream);
        break;
    case PAYLOAD_call:
        dump_expr_if(" ", stmt->as.call.designator, stream);
        if (stmt->as.call.parentheses) {
            ofl_dump_args(stmt->as.call.args, stream);
        }
        break;
    case PAYLOAD_jump:
        dump_expr_if(" ", stmt->as.jump.selector, stream);
        dump_labels(stmt->as.jump.labels, stream);
        break;
    case PAYLOAD_stop:
        dump_expr_if(" ", stmt->as.stop.code, stream);
        dump_expr_if(" quiet=", stmt->as.stop.quiet, stream);
        break;
    case PAYLOAD_exit:
        fprintf(stream, "%s%s", stmt->as.exit.name.name != NULL ? " " : "", text_of(stmt->as.exit.name.name));
        break;
    case PAYLOAD_guarded:
        dump_expr_if(" ", stmt->as.guarded.condition, stream);
        if (stmt->as.guarded.body != NULL) {
            fputc(' ', stream);
            dump_stmt(stmt->as.guarded.body, depth, stream);
        }
        break;
    case PAYLOAD_loop:
        dump_loop(&stmt->as.loop, depth, stream);
        break;
    case PAYLOAD_block:
        dump_construct_block(stmt, depth, stream);
        break;
    default:
        break;
    }
}

static void dump_stmt(const struct ofl_stmt *stmt, int depth, FILE *stream)
{
    if (stmt->label.value != 0) {
        fprintf(stream, "%" PRIu32 ": ", stmt->label.value);
    }
    fprintf(stream, "(%s", ofl_stmt_text(stmt->kind));
    if (stmt->construct.name != NULL) {
        fprintf(stream, " %s:", stmt->construct.name->text);
    }
    dump_payload(stmt, depth + 1, stream);
    fputc(')', stream);
}

static void dump_block(const struct ofl_block *block, int depth, FILE *stream)
{
    for (const struct ofl_stmt *stmt = block->first; stmt != NULL; stmt = stmt->next) {
        fputc('\n', stream);
        indent(depth, stream);
        dump_stmt(stmt, depth, stream);
    }
}

static void dump_units(const struct ofl_unit *units, int depth, FILE *stream)
{
    static const char *const kinds[] = {"program",    "module",   "submodule",       "block data",
                                        "subroutine", "function", "module procedure"};
    for (const struct ofl_unit *unit = units; unit != NULL; unit = unit->next) {
        if (depth > 0) {
            fputc('\n', stream);
        }
        indent(depth, stream);
        fprintf(stream, "(%s %s", kinds[unit->kind], unit->name.name != NULL ? unit->name.name->text : "-");
        if (unit->ancestor.name != NULL) {
            fprintf(stream, " of %s:%s", unit->ancestor.name->text, text_of(unit->parent_submodule.name));
        }
        if (unit->args != NULL) {
            fputs(" (", stream);
            dump_names(unit->args, stream);
            fputs(" )", stream);
        }
        if (unit->type != NULL) {
            fputc(' ', stream);
            ofl_dump_type(unit->type, stream);
        }
        if (unit->result.name != NULL) {
            fprintf(stream, " result(%s)", unit->result.name->text);
        }
        ofl_dump_attrs(unit->attrs, stream);
        dump_block(&unit->body, depth + 1, stream);
        if (unit->contains.begin != 0) {
            fputc('\n', stream);
            indent(depth, stream);
            fputs("contains", stream);
        }
        dump_units(unit->units, depth + 1, stream);
        fputs(depth > 0 ? ")" : ")\n", stream);
    }
}

void ofl_dump_unit(const struct ofl_unit *unit, FILE *stream)
{
    struct ofl_unit alone = *unit;
    alone.next = NULL;
    dump_units(&alone, 0, stream);
}

void ofl_dump_file(const struct ofl_file *file, FILE *stream)
{
    dump_units(file->units, 0, stream);
}
