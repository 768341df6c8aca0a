/* Reading the command line of `gpu-offload fc`; see driver_command.h. */
#include "fortran/driver_command.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void ofl_fc_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("gpu-offload fc: error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void ofl_words_add(struct ofl_words *words, const char *word)
{
    if (words->count + 2 > words->capacity) {
        size_t capacity = words->capacity == 0 ? 32 : 2 * words->capacity;
        char **items = ofl_arena_alloc(words->arena, capacity * sizeof *items);
        if (words->count > 0) {
            memcpy(items, words->items, words->count * sizeof *items);
        }
        words->items = items;
        words->capacity = capacity;
    }
    words->items[words->count++] = (char *)word;
    words->items[words->count] = NULL;
}

/* ---- Response files ---- */

enum { MAX_RESPONSE_FILES = 2000 };

/* Splits the text of a response file as GCC does: blanks separate words, quotes keep blanks, a backslash keeps the
 * next character. */
static void split_words(struct ofl_words *words, const char *text)
{
    char *word = ofl_arena_alloc(words->arena, strlen(text) + 1);
    while (*text != '\0') {
        while (isspace((unsigned char)*text)) {
            text++;
        }
        if (*text == '\0') {
            break;
        }
        size_t length = 0;
        char quote = '\0';
        for (; *text != '\0' && (quote != '\0' || !isspace((unsigned char)*text)); text++) {
            if (*text == '\\' && text[1] != '\0') {
                word[length++] = *++text;
            } else if (quote == '\0' && (*text == '\'' || *text == '"')) {
                quote = *text;
            } else if (*text == quote && quote != '\0') {
                quote = '\0';
            } else {
                word[length++] = *text;
            }
        }
        ofl_words_add(words, ofl_arena_text(words->arena, word, length));
    }
}

static char *read_text(struct ofl_arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    size_t length = 0, capacity = 4096;
    char *text = malloc(capacity), *result = NULL;
    while (text != NULL) {
        length += fread(text + length, 1, capacity - length, file);
        if (length < capacity) {
            break;
        }
        char *larger = realloc(text, capacity *= 2);
        if (larger == NULL) {
            free(text);
        }
        text = larger;
    }
    if (text != NULL && ferror(file) == 0) {
        result = ofl_arena_text(arena, text, length);
    }
    free(text);
    fclose(file);
    return result;
}

/* Adds a word, or the words of the file it names.  A file that cannot be read stays as it is, like in GCC. */
static bool expand_word(struct ofl_words *words, const char *word, unsigned *files)
{
    char *text = word[0] == '@' ? read_text(words->arena, word + 1) : NULL;
    if (text == NULL) {
        ofl_words_add(words, word);
        return true;
    }
    if (++*files > MAX_RESPONSE_FILES) {
        ofl_fc_error("too many response files; does %s name itself?", word);
        return false;
    }
    struct ofl_words inner = {.arena = words->arena};
    split_words(&inner, text);
    for (size_t i = 0; i < inner.count; i++) {
        if (!expand_word(words, inner.items[i], files)) {
            return false;
        }
    }
    return true;
}

/* ---- Our options ---- */

enum our_kind { FLAG, VALUE };
enum our_id {
#define OFL_FC_OPTION(id, ...) OUR_##id,
#include "fortran/fc_options.def"
#undef OFL_FC_OPTION
    OUR_COUNT
};

static const struct {
    enum our_kind kind;
    const char *name, *argument, *help;
} our_options[OUR_COUNT] = {
#define OFL_FC_OPTION(id, kind, name, argument, help) [OUR_##id] = {kind, name, argument, help},
#include "fortran/fc_options.def"
#undef OFL_FC_OPTION
};

static bool set_device(struct ofl_fc_command *command, const char *value)
{
    if (strcmp(value, "cuda") == 0) {
        command->device = OFL_FC_CUDA;
    } else if (strcmp(value, "cuda_cpu") == 0) {
        command->device = OFL_FC_CUDA_CPU;
    } else if (strcmp(value, "metal") == 0) {
        command->device = OFL_FC_METAL;
    } else {
        ofl_fc_error("'%s' is not a device: --gpu=%s", value, our_options[OUR_GPU].argument);
        return false;
    }
    return true;
}

static bool set_ours(struct ofl_fc_command *command, enum our_id id, const char *value)
{
    switch (id) {
    case OUR_GPU:
        return set_device(command, value);
    case OUR_FALLBACK:
        command->fallback = true;
        return true;
    case OUR_OMP_LOOPS:
        command->omp_loops = true;
        return true;
    case OUR_SHOW_KERNELS:
        command->show_kernels = true;
        return true;
    case OUR_REPORT:
        command->report = true;
        return true;
    case OUR_REALLOC:
        command->realloc_lhs = true;
        return true;
    case OUR_FAST:
        command->fast = true;
        return true;
    case OUR_HOST_COMPILER:
        command->host.count = 0;
        split_words(&command->host, value);
        if (command->host.count == 0) {
            ofl_fc_error("--host-compiler= needs the name of a compiler");
            return false;
        }
        return true;
    case OUR_COUNT:
        break;
    }
    return false;
}

/* Takes a word that is ours.  *ours says whether it was. */
static bool read_ours(struct ofl_fc_command *command, const char *word, bool *ours)
{
    size_t name = strcspn(word, "=");
    *ours = false;
    for (enum our_id id = 0; id < OUR_COUNT; id++) {
        if (strlen(our_options[id].name) != name || strncmp(our_options[id].name, word, name) != 0) {
            continue;
        }
        *ours = true;
        if (our_options[id].kind == FLAG && word[name] == '=') {
            ofl_fc_error("%s takes no argument", our_options[id].name);
            return false;
        }
        if (our_options[id].kind == VALUE && word[name] != '=') {
            ofl_fc_error("%s needs an argument: %s=%s", our_options[id].name, our_options[id].name,
                         our_options[id].argument);
            return false;
        }
        return set_ours(command, id, word + name + (word[name] == '='));
    }
    if (strncmp(word, "--gpu", 5) == 0) {
        *ours = true;
        ofl_fc_error("unknown option '%s'; 'gpu-offload fc --help' lists the options", word);
        return false;
    }
    return true;
}

void ofl_fc_print_help(void)
{
    puts("usage: gpu-offload fc [OPTION...] FILE...\n\n"
         "Compiles Fortran like gfortran, with gfortran's options, and runs the parallel loops (do concurrent)\n"
         "on a GPU where --gpu says so.  Options besides the Fortran compiler's:\n");
    for (enum our_id id = 0; id < OUR_COUNT; id++) {
        printf("  %s%s%s\n", our_options[id].name, our_options[id].kind == VALUE ? "=" : "",
               our_options[id].kind == VALUE ? our_options[id].argument : "");
        const char *text = our_options[id].help;
        while (*text != '\0') {
            size_t length = strlen(text), width = 92;
            if (length > width) {
                for (length = width; length > 0 && text[length] != ' '; length--) {
                }
            }
            printf("      %.*s\n", (int)length, text);
            text += length + (text[length] == ' ');
        }
    }
}

/* ---- The host compiler's options ---- */

enum argument_form { NONE, SEPARATE, EITHER, JOINED };

static const struct {
    const char *name;
    enum argument_form argument;
    enum ofl_fc_class class;
} host_options[] = {
#define OFL_HOST_OPTION(name, argument, class) {name, argument, OFL_FC_##class},
#include "fortran/fc_host_options.def"
#undef OFL_HOST_OPTION
};

/* Classifies the option at words[0]; words[1] is the next word, or NULL. */
static struct ofl_fc_item classify_option(char *const *words)
{
    struct ofl_fc_item item = {.class = OFL_FC_PLAIN, .words = 1};
    for (size_t i = 0; i < sizeof host_options / sizeof *host_options; i++) {
        size_t length = strlen(host_options[i].name);
        enum argument_form form = host_options[i].argument;
        if (strncmp(words[0], host_options[i].name, length) != 0) {
            continue;
        }
        bool whole = words[0][length] == '\0';
        if ((form == NONE || form == SEPARATE) && !whole) {
            continue;
        }
        item.class = host_options[i].class;
        if (form == SEPARATE || (form == EITHER && whole)) {
            item.argument = words[1];
            item.words = words[1] != NULL ? 2 : 1;
        } else if (form != NONE) {
            item.argument = words[0] + length;
        }
        return item;
    }
    return item;
}

static unsigned line_length(const char *text, unsigned otherwise)
{
    char *end;
    if (text == NULL) {
        return otherwise;
    }
    unsigned long value = strtoul(text, &end, 10);
    if (strcmp(text, "none") == 0) {
        return 0;
    }
    return *text == '\0' || *end != '\0' || value > UINT_MAX ? otherwise : (unsigned)value;
}

/* Options that say what is to be made. */
static void note_mode(struct ofl_fc_command *command, enum ofl_fc_class class)
{
    /* As in GCC: the earliest stage at which to stop counts, whatever the order. */
    static const enum ofl_fc_class order[] = {OFL_FC_MODE_PREPROCESS, OFL_FC_MODE_SYNTAX, OFL_FC_MODE_ASSEMBLY,
                                              OFL_FC_MODE_OBJECT, OFL_FC_LINK};
    for (size_t i = 0; order[i] != command->mode; i++) {
        if (order[i] == class) {
            command->mode = class;
            return;
        }
    }
}

/* Notes what an option means to the driver.  Form and language are noted by classify_input. */
static void note_option(struct ofl_fc_command *command, const struct ofl_fc_item *item)
{
    switch (item->class) {
    case OFL_FC_OUTPUT:
        command->output = item->argument;
        break;
    case OFL_FC_MODE_OBJECT:
    case OFL_FC_MODE_ASSEMBLY:
    case OFL_FC_MODE_PREPROCESS:
    case OFL_FC_MODE_SYNTAX:
        note_mode(command, item->class);
        break;
    case OFL_FC_SHOW_ONLY:
        command->show_only = true;
        break;
    case OFL_FC_SAVE:
        command->save = true;
        break;
    case OFL_FC_DEPENDENCY:
        command->dependencies = true;
        break;
    case OFL_FC_PREPROCESSED:
        command->preprocessed = true;
        break;
    case OFL_FC_CPP_ON:
        command->cpp = 1;
        break;
    case OFL_FC_CPP_OFF:
        command->cpp = -1;
        break;
    case OFL_FC_FREE_LENGTH:
        command->parse.free_line_length = line_length(item->argument, command->parse.free_line_length);
        break;
    case OFL_FC_FIXED_LENGTH:
        command->parse.fixed_line_length = line_length(item->argument, command->parse.fixed_line_length);
        break;
    case OFL_FC_D_LINES:
        command->parse.d_lines_are_code = true;
        break;
    case OFL_FC_BACKSLASH:
        command->parse.backslash = true;
        break;
    case OFL_FC_DEC:
        command->parse.dec = command->parse.d_lines_are_code = true;
        break;
    case OFL_FC_CUT_LINES:
        command->parse.cut_long_lines = true;
        break;
    case OFL_FC_DEFAULT_INTEGER:
        command->default_integer = 8;
        break;
    case OFL_FC_DEFAULT_REAL:
        command->default_real = item->argument == NULL ? 0 : (int)strtol(item->argument, NULL, 10);
        break;
    case OFL_FC_DEFAULT_DOUBLE:
        command->double_8 = true;
        break;
    case OFL_FC_OTHER_KINDS:
        command->other_kinds = command->all.items[item->first];
        break;
    case OFL_FC_OPENMP:
        command->parse.openmp = true;
        break;
    default:
        break;
    }
}

static bool fortran_suffix(const char *path)
{
    static const char *const suffixes[] = {"f90", "f95", "f03", "f08", "f", "for", "ftn", "fpp"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && strchr(dot, '/') == NULL && i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strcasecmp(dot + 1, suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void classify_input(struct ofl_fc_item *item, const char *language)
{
    item->name = strcmp(item->argument, "-") == 0 ? "<stdin>" : item->argument;
    item->language = language == NULL || strcmp(language, "none") == 0 ? NULL : language;
    if (item->language == NULL) {
        item->fortran = fortran_suffix(item->argument);
        if (item->fortran) {
            item->form = ofl_form_of_path(item->argument, &item->preprocess);
        }
    } else {
        bool free_form = strncmp(language, "f95", 3) == 0;
        item->fortran = free_form || strncmp(language, "f77", 3) == 0;
        item->form = free_form ? OFL_FORM_FREE : OFL_FORM_FIXED;
        item->preprocess = strcmp(language + 3, "-cpp-input") == 0;
    }
}

static struct ofl_fc_item *add_item(struct ofl_fc_command *command, struct ofl_fc_item item)
{
    if (command->item_count == command->item_capacity) {
        size_t capacity = command->item_capacity == 0 ? 32 : 2 * command->item_capacity;
        struct ofl_fc_item *items = ofl_arena_alloc(command->arena, capacity * sizeof *items);
        if (command->item_count > 0) {
            memcpy(items, command->items, command->item_count * sizeof *items);
        }
        command->items = items;
        command->item_capacity = capacity;
    }
    command->items[command->item_count] = item;
    return &command->items[command->item_count++];
}

/* Goes over the host compiler's words and makes the items. */
static void read_host_words(struct ofl_fc_command *command)
{
    const char *language = NULL;
    for (size_t i = 0; i < command->all.count;) {
        char **words = &command->all.items[i];
        struct ofl_fc_item item = {.class = OFL_FC_INPUT, .words = 1, .argument = words[0]};
        if (words[0][0] == '-' && words[0][1] != '\0') {
            item = classify_option(words);
            item.first = i;
            note_option(command, &item);
            if (item.class == OFL_FC_LANGUAGE) {
                language = item.argument;
            }
        } else {
            classify_input(&item, language);
            command->inputs++;
            command->fortran_inputs += item.fortran;
        }
        item.first = i;
        i += item.words;
        add_item(command, item);
    }
    /* -ffree-form and -cpp hold for all files, also for those before them. */
    for (size_t i = 0; i < command->item_count; i++) {
        enum ofl_fc_class class = command->items[i].class;
        for (size_t k = 0; k < command->item_count; k++) {
            if (class == OFL_FC_FREE_FORM || class == OFL_FC_FIXED_FORM) {
                command->items[k].form = class == OFL_FC_FREE_FORM ? OFL_FORM_FREE : OFL_FORM_FIXED;
            }
            if (command->cpp != 0) {
                command->items[k].preprocess = command->cpp > 0;
            }
        }
    }
}

const char *ofl_fc_module_folder(const struct ofl_fc_command *command)
{
    const char *folder = NULL;
    for (size_t i = 0; i < command->item_count; i++) {
        folder = command->items[i].class == OFL_FC_MODULE_PATH ? command->items[i].argument : folder;
    }
    return folder;
}

bool ofl_fc_host_is_flang(const struct ofl_fc_command *command)
{
    const char *slash = strrchr(command->host.items[0], '/');
    return strstr(slash == NULL ? command->host.items[0] : slash + 1, "flang") != NULL;
}

static void collect_include_paths(struct ofl_fc_command *command)
{
    struct ofl_words paths = {.arena = command->arena};
    for (size_t i = 0; i < command->item_count; i++) {
        if (command->items[i].class == OFL_FC_INCLUDE_PATH && command->items[i].argument != NULL) {
            ofl_words_add(&paths, command->items[i].argument);
        }
    }
    command->parse.include_paths = (const char *const *)paths.items;
    command->parse.include_path_count = paths.count;
}

bool ofl_fc_command_read(struct ofl_fc_command *command, struct ofl_arena *arena, int argc, char **argv)
{
    *command = (struct ofl_fc_command){
        .arena = arena,
        .all.arena = arena,
        .host.arena = arena,
        .mode = OFL_FC_LINK,
        .default_integer = 4,
        .default_real = 4,
        .parse = ofl_parse_defaults(OFL_FORM_FREE),
    };
    ofl_words_add(&command->host, "gfortran");
    struct ofl_words words = {.arena = arena};
    unsigned files = 0;
    for (int i = 0; i < argc; i++) {
        if (!expand_word(&words, argv[i], &files)) {
            return false;
        }
    }
    for (size_t i = 0; i < words.count; i++) {
        bool ours;
        if (!read_ours(command, words.items[i], &ours)) {
            return false;
        }
        if (!ours) {
            command->help |= strcmp(words.items[i], "--help") == 0;
            ofl_words_add(&command->all, words.items[i]);
        }
    }
    if (command->omp_loops) {
        ofl_words_add(&command->all, "-fopenmp"); /* what stays on the CPU means what OpenMP says */
    }
    if (ofl_fc_host_is_flang(command)) {
        command->parse.free_line_length = 0; /* it knows no limit */
    }
    read_host_words(command);
    command->default_double = command->default_real > 4 && !command->double_8 ? 16 : 8;
    collect_include_paths(command);
    return true;
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool ofl_fc_is_old_standard(const struct ofl_fc_command *command, const struct ofl_fc_item *item)
{
    static const char *const words[] = {"-std=f95", "-std=f2003", "-std=f2008", "-std=f2008ts"};
    return item->class == OFL_FC_PLAIN &&
           is_one_of(command->all.items[item->first], words, sizeof words / sizeof *words);
}

const char *ofl_fc_static_option(const struct ofl_fc_command *command)
{
    static const char *const words[] = {"-static", "--static", "-static-pie"};
    for (size_t i = 0; i < command->all.count; i++) {
        if (is_one_of(command->all.items[i], words, sizeof words / sizeof *words)) {
            return command->all.items[i];
        }
    }
    return NULL;
}
