/* `gpu-offload fc`: from the command line to the host compiler's; see driver.h. */
#include "fortran/driver.h"
#include "fortran/driver_command.h"
#include "fortran/driver_process.h"
#include "fortran/driver_scan.h"
#include "fortran/locate.h"
#include "fortran/translate.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer commands go to the host compiler in a response file. */
enum { MAX_COMMAND_BYTES = 100000 };

/* An input and what became of it. */
struct job {
    const struct ofl_fc_item *input;
    bool modules; /* it may define some */
    bool bodies;  /* and kernels may have bodies of theirs */
    bool changed;
    bool launches;      /* it calls the run-time library */
    const char *path;   /* what the host compiler reads */
    const char *object; /* in a command that links several sources */
};

struct driver {
    struct ofl_fc_command command;
    struct ofl_arena *arena;
    struct job *jobs; /* one for each Fortran input, in order */
    size_t job_count;
    struct ofl_translator translator;
    bool learns; /* a file without loops is read for its modules */
};

/* ---- Building host commands ---- */

/* Which words of the user's command a host command takes over. */
enum filter {
    WHOLE,      /* all: one command does everything */
    ONE_SOURCE, /* compile one file of several: no other input, no output, nothing for the linker */
    LINK_ALL,   /* all inputs, sources replaced by objects */
    PREPROCESS  /* run the preprocessor on one file */
};

/* `translated`: the file of the command has been translated, and preprocessed before that. */
static bool keeps(enum filter filter, enum ofl_fc_class class, bool translated)
{
    switch (class) {
    case OFL_FC_INPUT:
    case OFL_FC_LANGUAGE:
        return false; /* added by the caller */
    case OFL_FC_OUTPUT:
        return filter == WHOLE || filter == LINK_ALL;
    case OFL_FC_MODE_OBJECT:
    case OFL_FC_MODE_ASSEMBLY:
    case OFL_FC_MODE_PREPROCESS:
    case OFL_FC_MODE_SYNTAX:
    case OFL_FC_SAVE:
    case OFL_FC_NO_MARKERS:
        return filter != PREPROCESS;
    case OFL_FC_LINK:
        return filter == WHOLE || filter == LINK_ALL;
    case OFL_FC_DEPENDENCY:
    case OFL_FC_DEPENDENCY_FILE:
    case OFL_FC_DEPENDENCY_TARGET:
    case OFL_FC_DEPENDENCY_DETAIL:
        return filter == PREPROCESS || (!translated && filter != LINK_ALL); /* the preprocessor writes them */
    default:
        return true;
    }
}

static struct ofl_words host_words(const struct driver *driver)
{
    struct ofl_words words = {.arena = driver->arena};
    for (size_t i = 0; i < driver->command.host.count; i++) {
        ofl_words_add(&words, driver->command.host.items[i]);
    }
    return words;
}

static void add_item(struct ofl_words *words, const struct driver *driver, const struct ofl_fc_item *item)
{
    for (size_t i = 0; i < item->words; i++) {
        ofl_words_add(words, driver->command.all.items[item->first + i]);
    }
}

/* Adds an input with the -x it needs; *language is the one in force. */
static void add_input(struct ofl_words *words, const char *path, const char *wanted, const char **language)
{
    const char *now = *language == NULL ? "none" : *language, *then = wanted == NULL ? "none" : wanted;
    if (strcmp(now, then) != 0) {
        ofl_words_add(words, "-x");
        ofl_words_add(words, then);
        *language = wanted;
    }
    ofl_words_add(words, path);
}

static const struct job *job_of(const struct driver *driver, const struct ofl_fc_item *item)
{
    for (size_t i = 0; i < driver->job_count; i++) {
        if (driver->jobs[i].input == item) {
            return &driver->jobs[i];
        }
    }
    return NULL;
}

/* What the host compiler has to know about a translated file: it is not to be preprocessed, and names itself. */
static void add_translated_options(struct ofl_words *words, const struct driver *driver, bool launches)
{
    if (ofl_fc_host_is_flang(&driver->command)) {
        ofl_words_add(words, "-nocpp");
        if (launches) { /* each loop has its own interface to ofl_loops_launch */
            ofl_words_add(words, "-Wno-external-interface-mismatch");
        }
    } else if (!driver->command.preprocessed) {
        ofl_words_add(words, "-fpreprocessed");
    }
}

/* The user's command for the host compiler.  `only` is the source of ONE_SOURCE and PREPROCESS. */
static struct ofl_words build_words(const struct driver *driver, enum filter filter, const struct job *only)
{
    struct ofl_words words = host_words(driver);
    const char *language = NULL;
    bool changed = false;
    const struct job *source = only != NULL ? only : driver->job_count > 0 ? &driver->jobs[0] : NULL;
    bool launches = source != NULL && source->launches, translated = source != NULL && source->changed;
    for (size_t i = 0; i < driver->command.item_count; i++) {
        const struct ofl_fc_item *item = &driver->command.items[i];
        const struct job *job = job_of(driver, item);
        if (item->class == OFL_FC_INPUT && filter != PREPROCESS) {
            if (filter == ONE_SOURCE && job != only) {
                continue;
            }
            bool replaced = job != NULL && (filter == LINK_ALL || job->changed);
            add_input(&words,
                      replaced && filter == LINK_ALL ? job->object
                      : job != NULL                  ? job->path
                                                     : item->argument,
                      replaced ? NULL : item->language, &language);
            changed |= replaced && filter != LINK_ALL;
        } else if (item->class == OFL_FC_CPP_ON || item->class == OFL_FC_PREPROCESSED) {
            continue; /* below */
        } else if (ofl_fc_is_old_standard(&driver->command, item) && launches) {
            ofl_words_add(&words, "-std=f2018"); /* type(*), dimension(..) */
        } else if (keeps(filter, item->class, translated)) {
            add_item(&words, driver, item);
        }
    }
    if (changed) {
        add_translated_options(&words, driver, launches);
    } else if (driver->command.cpp > 0 && filter != LINK_ALL) {
        ofl_words_add(&words, "-cpp");
    }
    if (driver->command.preprocessed && filter != LINK_ALL) {
        ofl_words_add(&words, "-fpreprocessed");
    }
    return words;
}

/* A program with kernels needs the run-time library. */
static bool add_library(const struct driver *driver, struct ofl_words *words)
{
    if (driver->command.device == OFL_FC_NO_DEVICE || driver->command.mode != OFL_FC_LINK ||
        driver->command.inputs == 0) {
        return true;
    }
    const char *option = ofl_fc_static_option(&driver->command);
    if (option != NULL) {
        ofl_fc_error(
            "%s cannot stand with --gpu: a program with loops for a device loads libgpuoffload-loops.so; leave %s "
            "out (-static-libgfortran may stay)",
            option, option);
        return false;
    }
    const char *folder = ofl_locate_libraries(driver->arena);
    if (folder == NULL) {
        return false;
    }
    ofl_words_add(words, ofl_arena_format(driver->arena, "%s/libgpuoffload-loops.so", folder));
    ofl_words_add(words, ofl_arena_format(driver->arena, "-Wl,-rpath,%s", folder));
    return true;
}

/* Puts the arguments of a very long command into a response file. */
static bool shorten(const struct driver *driver, struct ofl_words *words)
{
    size_t bytes = 0;
    for (size_t i = 0; i < words->count; i++) {
        bytes += strlen(words->items[i]) + 1;
    }
    if (bytes <= MAX_COMMAND_BYTES) {
        return true;
    }
    char *text = ofl_arena_alloc(driver->arena, 2 * bytes + words->count + 1);
    size_t length = 0, kept = driver->command.host.count;
    for (size_t i = kept; i < words->count; i++) {
        for (const char *from = words->items[i]; *from != '\0'; from++) {
            if (strchr(" \t\n\r\\\"'", *from) != NULL) {
                text[length++] = '\\';
            }
            text[length++] = *from;
        }
        text[length++] = '\n';
    }
    const char *folder = ofl_scratch_open();
    if (folder == NULL) {
        return false;
    }
    const char *path = ofl_arena_format(driver->arena, "%s/arguments", folder);
    words->count = kept;
    ofl_words_add(words, ofl_arena_format(driver->arena, "@%s", path));
    return ofl_file_write(path, text, length);
}

static int run_host(const struct driver *driver, struct ofl_words *words)
{
    return shorten(driver, words) ? ofl_run(words) : 1;
}

/* The command as the user gave it; false after an error, which has been printed. */
static bool untouched_words(const struct driver *driver, struct ofl_words *words)
{
    *words = host_words(driver);
    for (size_t i = 0; i < driver->command.all.count; i++) {
        ofl_words_add(words, driver->command.all.items[i]);
    }
    return add_library(driver, words);
}

/* The user's command in place of this process where no temporary file is in use and nothing is to be done behind it. */
static int pass_on(const struct driver *driver)
{
    struct ofl_words words;
    size_t given;
    if (!untouched_words(driver, &words)) {
        return 1;
    }
    given = words.count;
    if (!shorten(driver, &words)) {
        return 1;
    }
    return words.count < given || driver->translator.files.notes != NULL ? ofl_run(&words) : ofl_exec(&words);
}

/* ---- Translating ---- */

static const char *stem_of(const struct driver *driver, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');
    return ofl_arena_text(driver->arena, name, dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name));
}

static const char *with_suffix(const struct driver *driver, const char *path, const char *suffix)
{
    const char *dot = strrchr(path, '.');
    size_t length = dot != NULL && strchr(dot, '/') == NULL ? (size_t)(dot - path) : strlen(path);
    return ofl_arena_format(driver->arena, "%.*s%s", (int)length, path, suffix);
}

/* A file of this job in the private folder; NULL after an error, which has been printed. */
static const char *job_file(const struct driver *driver, const struct job *job, const char *suffix)
{
    const char *folder = ofl_scratch_open();
    if (folder == NULL) {
        return NULL;
    }
    const char *own = ofl_arena_format(driver->arena, "%s/%zu", folder, (size_t)(job - driver->jobs));
    mkdir(own, 0700);
    return ofl_arena_format(driver->arena, "%s/%s%s", own, stem_of(driver, job->input->argument), suffix);
}

/* -MD and friends: the target and the file that the host compiler would take. */
static void add_dependency_names(const struct driver *driver, const struct job *job, struct ofl_words *words)
{
    bool file = false, target = false;
    for (size_t i = 0; i < driver->command.item_count; i++) {
        file |= driver->command.items[i].class == OFL_FC_DEPENDENCY_FILE;
        target |= driver->command.items[i].class == OFL_FC_DEPENDENCY_TARGET;
    }
    const char *output = driver->command.output;
    if (output == NULL || driver->command.mode == OFL_FC_LINK) {
        output = ofl_arena_format(driver->arena, "%s%s", stem_of(driver, job->input->argument),
                                  driver->command.mode == OFL_FC_MODE_ASSEMBLY ? ".s" : ".o");
    }
    if (!target) {
        ofl_words_add(words, "-MT");
        ofl_words_add(words, output);
    }
    if (!file) {
        ofl_words_add(words, "-MF");
        ofl_words_add(words, with_suffix(driver, output, ".d"));
    }
}

/* Runs the host compiler's preprocessor; the path of its output, or NULL after an error, which has been printed. */
static const char *preprocess(const struct driver *driver, const struct job *job, int *status)
{
    const char *output = job_file(driver, job, ".i");
    if (output == NULL) {
        *status = 1;
        return NULL;
    }
    struct ofl_words words = build_words(driver, PREPROCESS, job);
    if (driver->command.dependencies) {
        add_dependency_names(driver, job, &words);
    }
    if (driver->command.cpp <= 0) {
        ofl_words_add(&words, "-cpp");
    }
    ofl_words_add(&words, "-E");
    const char *language = NULL;
    add_input(&words, job->input->argument, job->input->language, &language);
    ofl_words_add(&words, "-o");
    ofl_words_add(&words, output);
    *status = run_host(driver, &words);
    return *status == 0 ? output : NULL;
}

static bool save_translated(const struct driver *driver, struct job *job, const struct ofl_translation *translation)
{
    const char *suffix = job->input->form == OFL_FORM_FREE ? ".f90" : ".f";
    job->path = job_file(driver, job, suffix);
    job->object = job_file(driver, job, ".o");
    job->changed = true;
    job->launches = translation->launches;
    if (job->path == NULL || !ofl_file_write(job->path, translation->text, translation->length)) {
        return false;
    }
    const char *saved =
        ofl_arena_format(driver->arena, "%s.rewritten%s", stem_of(driver, job->input->argument), suffix);
    return !driver->command.save || ofl_file_write(saved, translation->text, translation->length);
}

/* gfortran finds the include files of its own, omp_lib.h among them, wherever it is installed. */
static void add_host_includes(struct driver *driver)
{
    struct ofl_parse_options *parse = &driver->command.parse;
    const char *folder = ofl_scratch_open();
    struct ofl_words words = host_words(driver);
    size_t length = 0;
    if (!parse->openmp || folder == NULL || ofl_fc_host_is_flang(&driver->command)) {
        return;
    }
    const char *log = ofl_arena_format(driver->arena, "%s/finclude", folder);
    ofl_words_add(&words, "-print-file-name=finclude");
    char *path = ofl_run_logged(&words, log) == 0 ? ofl_file_read(driver->arena, log, &length) : NULL;
    if (path != NULL && path[0] == '/') {
        const char **paths = ofl_arena_alloc(driver->arena, (parse->include_path_count + 1) * sizeof *paths);
        for (size_t i = 0; i < parse->include_path_count; i++) {
            paths[i] = parse->include_paths[i];
        }
        path[strcspn(path, "\n")] = '\0';
        paths[parse->include_path_count++] = path;
        parse->include_paths = paths;
    }
}

/* Whether a file without loops is read for its modules' information files.  Without a device, not if that takes a run
 * of the preprocessor. */
static bool learns(const struct driver *driver, const struct job *job)
{
    return job->modules && (driver->command.device != OFL_FC_NO_DEVICE || !job->input->preprocess);
}

/* Reads a file that may hold parallel loops (`wanted`) or that others need; NULL if it is none, or after an error. */
static struct ofl_translating *read_one(struct driver *driver, const struct job *job, bool wanted, bool any,
                                        int *status)
{
    bool others = any && driver->command.device != OFL_FC_NO_DEVICE && driver->job_count > 1;
    bool named = job->input->name == job->input->argument;
    if (!wanted && ((!others && !learns(driver, job)) || (named && access(job->input->argument, R_OK) != 0))) {
        return NULL;
    }
    const char *preprocessed = NULL;
    if (job->input->preprocess && (preprocessed = preprocess(driver, job, status)) == NULL) {
        return NULL;
    }
    struct ofl_translating *translating = ofl_translate_read(&driver->translator, job->input, preprocessed);
    if (translating == NULL && wanted) {
        *status = 1;
    }
    return translating;
}

/* Translates the inputs that need it; the status of the command so far. */
static int translate_all(struct driver *driver, const bool *wanted, bool any)
{
    struct ofl_translating **read =
        ofl_arena_alloc(driver->arena, driver->job_count * sizeof(struct ofl_translating *));
    int status = 0;
    if (any) {
        add_host_includes(driver);
    }
    ofl_translator_start(&driver->translator, &driver->command, driver->arena);
    for (size_t i = 0; i < driver->job_count; i++) {
        read[i] = read_one(driver, &driver->jobs[i], wanted[i], any, &status);
    }
    for (size_t i = 0; i < driver->job_count; i++) {
        struct ofl_translation translation = {.result = OFL_TRANSLATE_UNCHANGED};
        if (read[i] != NULL) {
            translation = ofl_translate(read[i]);
        }
        if (translation.result == OFL_TRANSLATE_FAILED ||
            (translation.result == OFL_TRANSLATE_CHANGED && !save_translated(driver, &driver->jobs[i], &translation))) {
            status = 1;
        }
    }
    return status;
}

/* ---- Compiling ---- */

/* Several sources: each has a command of its own, since what a translated file needs would harm another. */
static int compile_separately(struct driver *driver)
{
    bool links = driver->command.mode == OFL_FC_LINK;
    int status = 0;
    for (size_t i = 0; i < driver->job_count; i++) {
        struct job *job = &driver->jobs[i];
        struct ofl_words words = build_words(driver, ONE_SOURCE, job);
        if (links) {
            job->object = job_file(driver, job, ".o");
            if (job->object == NULL) {
                return 1;
            }
            ofl_words_add(&words, "-c");
            ofl_words_add(&words, "-o");
            ofl_words_add(&words, job->object);
        } else if (driver->command.output != NULL) {
            ofl_words_add(&words, "-o");
            ofl_words_add(&words, driver->command.output);
        }
        int step = run_host(driver, &words);
        status = step > status ? step : status; /* as in GCC: the others are compiled all the same */
    }
    if (links && status == 0) {
        struct ofl_words words = build_words(driver, LINK_ALL, NULL);
        return add_library(driver, &words) ? run_host(driver, &words) : 1;
    }
    return status;
}

static int compile(struct driver *driver)
{
    bool changed = false;
    for (size_t i = 0; i < driver->job_count; i++) {
        changed |= driver->jobs[i].changed;
    }
    if (!changed) {
        ofl_scratch_close();
        return pass_on(driver);
    }
    if (driver->job_count > 1) {
        return compile_separately(driver);
    }
    struct ofl_words words = build_words(driver, WHOLE, NULL);
    return add_library(driver, &words) ? run_host(driver, &words) : 1;
}

static int translate_and_compile(struct driver *driver, const bool *wanted, bool any)
{
    int status = translate_all(driver, wanted, any);
    return status == 0 ? compile(driver) : status;
}

/* Files without loops, whose modules have nothing for kernels: the host compiler does not wait until they have been
 * read.  Where the words deceived, it has to do it again. */
static int compile_and_learn(struct driver *driver, const bool *wanted)
{
    struct ofl_words words;
    if (!untouched_words(driver, &words) || !shorten(driver, &words) || !ofl_start(&words)) {
        return 1;
    }
    translate_all(driver, wanted, false);
    int status = ofl_finish(&words);
    for (size_t i = 0; i < driver->job_count; i++) {
        if (driver->jobs[i].changed && status == 0) {
            return compile(driver);
        }
    }
    return status;
}

/* Whether files without loops are to be read before they are compiled: a module that kernels may have bodies of gets a
 * guard, and one that is learned from the preprocessor's output has written dependency files by then. */
static bool reads_first(const struct driver *driver)
{
    for (size_t i = 0; i < driver->job_count; i++) {
        const struct job *job = &driver->jobs[i];
        if (learns(driver, job) && (job->bodies || job->input->preprocess)) {
            return true;
        }
    }
    return false;
}

/* Whether the file could hold a parallel loop; false in *readable after an error, which has been printed. */
static bool may_have_loops(struct ofl_scan *scan, const struct ofl_fc_item *input, bool *readable)
{
    struct stat status;
    if (strcmp(input->argument, "-") == 0) {
        size_t length = 0;
        const char *text = ofl_stdin_keep(scan->arena, &length);
        *readable &= text != NULL;
        return text != NULL && ofl_scan_text(scan, "", text, length);
    }
    if (stat(input->argument, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        ofl_fc_error("%s can only be read once: give a file, or the text on standard input (-x f95 -), since parallel "
                     "loops are looked for before it is compiled",
                     input->argument);
        *readable = false;
        return false;
    }
    return ofl_scan_file(scan, input->argument);
}

static bool make_jobs(struct driver *driver, bool **wanted, bool *any)
{
    struct ofl_scan scan = {.arena = driver->arena,
                            .include_paths = driver->command.parse.include_paths,
                            .include_path_count = driver->command.parse.include_path_count,
                            .omp = driver->command.omp_loops && driver->command.device != OFL_FC_NO_DEVICE};
    bool defined = false, readable = true;
    for (size_t i = 0; i < driver->command.item_count; i++) {
        const struct ofl_fc_item *item = &driver->command.items[i];
        if (item->class == OFL_FC_DEFINE && item->argument != NULL) {
            defined |= ofl_scan_text(&scan, "", item->argument, strlen(item->argument));
        }
    }
    driver->jobs = ofl_arena_alloc(driver->arena, driver->command.fortran_inputs * sizeof *driver->jobs);
    *wanted = ofl_arena_alloc(driver->arena, driver->command.fortran_inputs * sizeof **wanted);
    for (size_t i = 0; i < driver->command.item_count; i++) {
        const struct ofl_fc_item *item = &driver->command.items[i];
        if (item->class != OFL_FC_INPUT || !item->fortran) {
            continue;
        }
        driver->jobs[driver->job_count] = (struct job){.input = item, .path = item->argument};
        scan.seen_count = 0;
        (*wanted)[driver->job_count] = may_have_loops(&scan, item, &readable) || (defined && item->preprocess);
        struct job *job = &driver->jobs[driver->job_count];
        job->modules =
            strcmp(item->argument, "-") != 0 && ofl_scan_modules(driver->arena, item->argument, &job->bodies);
        driver->learns |= learns(driver, job);
        *any |= (*wanted)[driver->job_count++];
    }
    return readable;
}

int ofl_fortran_main(int argc, char **argv)
{
    struct driver driver = {.arena = ofl_arena_new()};
    bool *wanted, any = false;
    int status = 1;
    if (!ofl_fc_command_read(&driver.command, driver.arena, argc, argv)) {
        goto out;
    }
    if (driver.command.help) {
        ofl_fc_print_help();
        fputs("\nThe Fortran compiler's own:\n\n", stdout);
        fflush(stdout);
    }
    bool compiles = driver.command.mode != OFL_FC_MODE_PREPROCESS && !driver.command.show_only &&
                    driver.command.fortran_inputs > 0 && !driver.command.help;
    /* One output for several files: the host compiler says that this cannot be. */
    bool contradiction =
        driver.command.output != NULL && driver.command.mode != OFL_FC_LINK && driver.command.inputs > 1;
    if (!compiles || contradiction) {
        status = pass_on(&driver);
        goto out;
    }
    if (!make_jobs(&driver, &wanted, &any)) {
        goto out;
    }
    if (!any && !driver.learns) {
        status = pass_on(&driver);
        goto out;
    }
    status =
        any || reads_first(&driver) ? translate_and_compile(&driver, wanted, any) : compile_and_learn(&driver, wanted);
    if (status == 0 && !ofl_module_files_write(&driver.translator.files)) {
        status = 1;
    }
out:
    ofl_scratch_close();
    ofl_arena_free(driver.arena);
    return status;
}
