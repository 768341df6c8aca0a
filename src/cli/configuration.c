/* The configuration file: lines `setting = value`, with the names that the options of `run` have.
 *
 * Entry point: ofl_cli_read_configuration.  It is read by the command only, never inside the user's
 * program: what it says reaches the program as environment variables.  Blank lines and lines that
 * begin with # mean nothing; everything else that is not a valid setting is an error, so
 * that a misspelt name is never silently without effect.  The last line for a setting wins. */
#include "cli/cli.h"
#include "base/message.h"
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ofl_cli_configuration_file(char *path, size_t size)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int needed;
    if (folder != NULL && folder[0] == '/') {
        needed = snprintf(path, size, "%s/gpu-offload/config", folder);
    } else if (home != NULL && home[0] == '/') {
        needed = snprintf(path, size, "%s/.config/gpu-offload/config", home);
    } else {
        return false;
    }
    return needed >= 0 && (size_t)needed < size;
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

static size_t find_setting(const char *option)
{
    size_t i = 0;
    while (i < ofl_setting_count && strcmp(ofl_setting_table[i].option, option) != 0) {
        i++;
    }
    return i;
}

/* line = "" | "#" anything | option "=" value */
static bool read_line(char *line, const char *path, int number, char **values)
{
    line = trim(line);
    if (*line == '\0' || *line == '#') {
        return true;
    }
    char *equals = strchr(line, '=');
    if (equals == NULL) {
        ofl_message("%s:%d: '%s' is not of the form 'setting = value'", path, number, line);
        return false;
    }
    *equals = '\0';
    char *option = trim(line), *value = trim(equals + 1);
    size_t i = find_setting(option);
    if (i == ofl_setting_count) {
        ofl_message("%s:%d: there is no setting '%s'; 'gpu-offload run --help' lists them", path, number, option);
        return false;
    }
    char explanation[256];
    if (!ofl_setting_check(&ofl_setting_table[i], value, explanation, sizeof explanation)) {
        ofl_message("%s:%d: %s", path, number, explanation);
        return false;
    }
    char *copy = strdup(value);
    if (copy == NULL) {
        ofl_message("%s:%d: out of memory", path, number);
        return false;
    }
    free(values[i]);
    values[i] = copy;
    return true;
}

bool ofl_cli_read_configuration(char **values)
{
    char path[PATH_MAX];
    if (!ofl_cli_configuration_file(path, sizeof path)) {
        return true;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return true;
        }
        ofl_message("cannot read the configuration file %s: %s", path, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t capacity = 0;
    bool good = true;
    errno = 0;
    for (int number = 1; good && getline(&line, &capacity, file) >= 0; number++) {
        good = read_line(line, path, number, values);
    }
    if (good && ferror(file)) {
        ofl_message("cannot read the configuration file %s: %s", path, strerror(errno));
        good = false;
    }
    free(line);
    fclose(file);
    return good;
}
