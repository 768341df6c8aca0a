/* Messages on standard error, if it is still the one the process was started with. */
#include "base/message.h"
#include "base/signals.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Written once by ofl_message_start, before other threads print. */
static struct stat error_stream;
static bool error_stream_known;

void ofl_message_start(void)
{
    error_stream_known = fstat(STDERR_FILENO, &error_stream) == 0;
}

static bool error_stream_unchanged(void)
{
    struct stat now;
    return error_stream_known && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == error_stream.st_dev &&
           now.st_ino == error_stream.st_ino;
}

static void print(const char *text, size_t length)
{
    struct ofl_quiet_writes quiet;
    int saved = errno;
    ofl_quiet_writes_begin(&quiet);
    while (length > 0 && error_stream_unchanged()) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            break;
        }
        text += written;
        length -= (size_t)written;
    }
    ofl_quiet_writes_end(&quiet);
    errno = saved;
}

void ofl_message(const char *format, ...)
{
    static const char prefix[] = "gpu-offload: ";
    char line[1024];
    size_t length = sizeof prefix - 1;
    memcpy(line, prefix, length);
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(line + length, sizeof line - length - 1, format, arguments);
    va_end(arguments);
    if (more < 0) {
        return;
    }
    length += (size_t)more < sizeof line - length - 1 ? (size_t)more : sizeof line - length - 2;
    line[length++] = '\n';
    print(line, length);
}

void ofl_message_text(const char *text)
{
    print(text, strlen(text));
}
