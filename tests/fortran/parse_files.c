/* parse_files: parses Fortran files and says which ones the front end cannot read, and how fast it reads.
 *
 *     parse_files [-q] [-d] [OPTION]... [FILE]... [--list LIST]
 *
 * OPTION is one of gfortran's that change what a text means: -ffree-form, -ffixed-form, -ffree-line-length-N,
 * -ffixed-line-length-N, -fopenmp, -fdec, -fd-lines-as-code, -I DIR.  A line of LIST is `FILE OPTION...`, the options
 * being for this file.  Without a form the suffix decides.  Files are not preprocessed: give it the preprocessor's
 * output.
 *
 * For each file with an error its first one is printed, with -q only the name; -d prints the tree instead, -s builds
 * scopes too. The last line has the figures.  Exit status 1 if a file had errors.  Time is that of parsing, reading the
 * file not included. */
#include "fortran/arena.h"
#include "fortran/parse.h"
#include "fortran/scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_INCLUDES = 64 };

struct options {
    struct ofl_parse_options parse;
    bool form_given;
    const char *includes[MAX_INCLUDES];
    bool quiet, dump, scopes;
};

static struct {
    unsigned files, failed;
    double bytes, seconds;
} total;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static unsigned line_length(const char *text)
{
    return strcmp(text, "none") == 0 ? 0 : (unsigned)strtoul(text, NULL, 10);
}

/* False if it is not an option.  `-I DIR` must have been joined to -IDIR. */
static bool take_option(struct options *options, const char *word)
{
    struct ofl_parse_options *parse = &options->parse;
    if (strcmp(word, "-ffree-form") == 0 || strcmp(word, "-ffixed-form") == 0) {
        parse->form = word[3] == 'r' ? OFL_FORM_FREE : OFL_FORM_FIXED;
        options->form_given = true;
    } else if (strncmp(word, "-ffree-line-length-", 19) == 0) {
        parse->free_line_length = line_length(word + 19);
    } else if (strncmp(word, "-ffixed-line-length-", 20) == 0) {
        parse->fixed_line_length = line_length(word + 20);
    } else if (strcmp(word, "-fopenmp") == 0) {
        parse->openmp = true;
    } else if (strcmp(word, "-fdec") == 0 || strcmp(word, "-fdec-structure") == 0) {
        parse->dec = true;
    } else if (strcmp(word, "-fd-lines-as-code") == 0) {
        parse->d_lines_are_code = true;
    } else if (strcmp(word, "-w") == 0 || strcmp(word, "-Wall") == 0 || strcmp(word, "-Wno-all") == 0 ||
               strcmp(word, "-Wno-error") == 0 || strcmp(word, "-Wno-line-truncation") == 0) {
        parse->cut_long_lines = true; /* each makes gfortran's error a warning at most */
    } else if (strcmp(word, "-q") == 0) {
        options->quiet = true;
    } else if (strcmp(word, "-d") == 0) {
        options->dump = true;
    } else if (strcmp(word, "-s") == 0) {
        options->scopes = true;
    } else if (strncmp(word, "-I", 2) == 0 && word[2] != '\0' && parse->include_path_count < MAX_INCLUDES) {
        options->includes[parse->include_path_count++] = word + 2;
    } else {
        return word[0] == '-' && word[1] != '\0';
    }
    return true;
}

static void parse_file(const char *path, const struct options *given)
{
    struct options options = *given;
    options.parse.include_paths = options.includes;
    if (!options.form_given) {
        bool preprocess;
        options.parse.form = ofl_form_of_path(path, &preprocess);
    }
    struct ofl_arena *arena = ofl_arena_new();
    struct ofl_sources sources;
    struct ofl_diagnostics diagnostics;
    enum ofl_load_error error = OFL_LOAD_OK;
    ofl_sources_start(&sources, arena);
    ofl_diag_start(&diagnostics, &sources, arena);
    const struct ofl_source *source = ofl_source_load(&sources, path, &error);
    total.files++;
    if (source == NULL) {
        printf("%s: cannot be read: %s\n", path, strerror(errno));
        total.failed++;
        goto out;
    }
    double start = now();
    struct ofl_file *file = ofl_parse(source, &options.parse, &sources, &diagnostics);
    total.seconds += now() - start;
    for (size_t i = 0; i < sources.count; i++) {
        total.bytes += sources.items[i]->length;
    }
    if (options.scopes) {
        struct ofl_modules modules;
        ofl_modules_start(&modules, arena);
        ofl_scopes_build(file, &modules, &diagnostics);
    }
    if (options.dump) {
        ofl_dump_file(file, stdout);
    }
    if (diagnostics.errors > 0) {
        total.failed++;
        if (options.quiet) {
            printf("%s\n", path);
        } else {
            if (!options.dump) {
                diagnostics.first->next = NULL;
                diagnostics.errors = 1;
            }
            ofl_diag_print(&diagnostics, stdout, false);
        }
    }
out:
    ofl_arena_free(arena);
}

static bool parse_list(const char *path, const struct options *given)
{
    FILE *list = fopen(path, "r");
    if (list == NULL) {
        fprintf(stderr, "parse_files: %s: %s\n", path, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, list) >= 0) {
        struct options options = *given;
        char *rest = NULL, *file = strtok_r(line, " \n", &rest);
        for (char *word; file != NULL && (word = strtok_r(NULL, " \n", &rest)) != NULL;) {
            take_option(&options, word);
        }
        if (file != NULL) {
            parse_file(file, &options);
        }
    }
    free(line);
    fclose(list);
    return true;
}

int main(int count, char **words)
{
    struct options options = {.parse = ofl_parse_defaults(OFL_FORM_FREE)};
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--list") == 0 && i + 1 < count) {
            if (!parse_list(words[++i], &options)) {
                return 2;
            }
        } else if (strcmp(words[i], "-I") == 0 && i + 1 < count) {
            options.includes[options.parse.include_path_count++ % MAX_INCLUDES] = words[++i];
        } else if (!take_option(&options, words[i])) {
            parse_file(words[i], &options);
        }
    }
    printf("%u files, %u with errors, %.1f MB at %.1f MB/s\n", total.files, total.failed, total.bytes / 1e6,
           total.seconds > 0 ? total.bytes / 1e6 / total.seconds : 0.0);
    return total.failed > 0;
}
