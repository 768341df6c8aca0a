/* Settings from the environment, by the table options.def.
 *
 * The command line and the configuration file are the command's business: it turns them into
 * the environment variables of the program that it starts, so that one reader serves all. */
#include "base/settings.h"
#include "base/message.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFL_DEFAULT_TEXT(value) #value

const struct ofl_setting_info ofl_setting_table[] = {
#define OFL_SETTING(field, type, option, variable, value, argument, help)                                              \
    {#field,                                                                                                           \
     option,                                                                                                           \
     variable,                                                                                                         \
     argument,                                                                                                         \
     help,                                                                                                             \
     OFL_DEFAULT_TEXT(value),                                                                                          \
     OFL_SETTING_##type,                                                                                               \
     offsetof(struct ofl_settings, field)},
#include "base/options.def"
#undef OFL_SETTING
};
const size_t ofl_setting_count = sizeof ofl_setting_table / sizeof *ofl_setting_table;

static struct ofl_settings settings = {
#define OFL_SETTING(field, type, option, variable, value, argument, help) .field = value,
#include "base/options.def"
#undef OFL_SETTING
};
static pthread_once_t settings_once = PTHREAD_ONCE_INIT;

static bool parse_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

static bool one_of(const char *value, const char *choices)
{
    size_t length = strlen(value);
    for (const char *choice = choices; *choice != '\0';) {
        size_t n = strcspn(choice, "|");
        if (n == length && memcmp(choice, value, n) == 0) {
            return true;
        }
        choice += n + (choice[n] == '|');
    }
    return false;
}

static bool in_range(int64_t number, const char *range)
{
    long long low, high;
    return sscanf(range, "%lld..%lld", &low, &high) != 2 ? number >= 0 : number >= low && number <= high;
}

bool ofl_setting_check(const struct ofl_setting_info *setting, const char *value, char *explanation, size_t size)
{
    int64_t number;
    bool valid = false;
    switch (setting->type) {
    case OFL_SETTING_FLAG:
        valid = strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
        break;
    case OFL_SETTING_NUMBER:
        valid = parse_number(value, &number) && in_range(number, setting->argument);
        break;
    case OFL_SETTING_TEXT:
        valid = strchr(setting->argument, '|') == NULL || one_of(value, setting->argument);
        break;
    }
    if (!valid) {
        snprintf(explanation, size, "'%s' is not a value for %s (--%s takes %s)", value, setting->variable,
                 setting->option, setting->argument != NULL ? setting->argument : "0 or 1");
    }
    return valid;
}

static void read_setting(const struct ofl_setting_info *setting, const char *value)
{
    void *field = (char *)&settings + setting->offset;
    switch (setting->type) {
    case OFL_SETTING_FLAG:
        *(bool *)field = value[0] == '1';
        break;
    case OFL_SETTING_NUMBER:
        parse_number(value, field);
        break;
    case OFL_SETTING_TEXT:
        *(const char **)field = value;
        break;
    }
}

/* A program may change its environment later: texts are copied. */
static char texts[4096];

static void read_environment(void)
{
    size_t used = 0;
    for (size_t i = 0; i < ofl_setting_count; i++) {
        const struct ofl_setting_info *setting = &ofl_setting_table[i];
        const char *value = getenv(setting->variable);
        char explanation[256];
        if (value == NULL || *value == '\0') {
            continue;
        }
        if (!ofl_setting_check(setting, value, explanation, sizeof explanation)) {
            ofl_message("%s; using the default, %s", explanation, setting->default_text);
            continue;
        }
        if (setting->type == OFL_SETTING_TEXT) {
            size_t length = strlen(value) + 1;
            if (length > sizeof texts - used) {
                ofl_message("%s is too long; using the default, %s", setting->variable, setting->default_text);
                continue;
            }
            value = memcpy(texts + used, value, length);
            used += length;
        }
        read_setting(setting, value);
    }
}

const struct ofl_settings *ofl_settings(void)
{
    pthread_once(&settings_once, read_environment);
    return &settings;
}
