/* The settings of a process, from options.def. */
#ifndef OFL_BASE_SETTINGS_H
#define OFL_BASE_SETTINGS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ofl_settings {
#define OFL_FLAG                      bool
#define OFL_NUMBER                    int64_t
#define OFL_TEXT                      const char *
#define OFL_SETTING(field, type, ...) OFL_##type field;
#include "base/options.def"
#undef OFL_SETTING
#undef OFL_FLAG
#undef OFL_NUMBER
#undef OFL_TEXT
};

enum ofl_setting_type { OFL_SETTING_FLAG, OFL_SETTING_NUMBER, OFL_SETTING_TEXT };

struct ofl_setting_info {
    const char *field, *option, *variable, *argument, *help, *default_text;
    enum ofl_setting_type type;
    size_t offset;
};

/* What `gpu-offload run` tells the library in the program, beside the settings.  The process that it started, which
 * writes the summary file itself; and 1 where it has said already that the device cannot work. */
#define OFL_ROOT_VARIABLE "GPU_OFFLOAD_ROOT_PID"
#define OFL_TOLD_VARIABLE "GPU_OFFLOAD_DEVICE_TOLD"

/* All rows of options.def, in its order. */
extern const struct ofl_setting_info ofl_setting_table[];
extern const size_t ofl_setting_count;

/* The settings that the environment gives this process; read once, at the first call.  A value that is
 * not valid counts as not given, and a message says so.  Allocates nothing: texts point into a copy
 * that the settings hold. */
const struct ofl_settings *ofl_settings(void);

/* Checks `value` for a setting.  Returns true, or false with a message that names the setting and
 * what it takes in `explanation`. */
bool ofl_setting_check(const struct ofl_setting_info *setting, const char *value, char *explanation, size_t size);
#endif
