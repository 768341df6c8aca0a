/* The summary: lines for programs in a file, a table for people on standard error.
 *
 * The file has a line `operation device calls` for each routine and device ("cpu" for the CPU library), and one for
 * each kernel of a compiled loop; nested calls are the CPU library's own and are not in it.  The process that
 * `gpu-offload run` started writes FILE, every other one that made calls FILE.PID.  Written at the end of a process,
 * which may be in a signal handler: no memory is taken, no lock, and little of the stack. */
#include "intercept/summary.h"
#include "intercept/wrapper.h"
#include "base/message.h"
#include "base/reason.h"
#include "base/settings.h"
#include "base/signals.h"
#include "device/device.h"
#include "device/launches.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_root;

void ofl_summary_start(void)
{
    const char *root = getenv(OFL_ROOT_VARIABLE);
    is_root = root == NULL || strtol(root, NULL, 10) == (long)getpid();
    ofl_launches_claim();
}

void ofl_summary_forked(void)
{
    is_root = false;
}

static uint64_t calls_on_cpu(const uint64_t calls[OFL_COUNT_KINDS])
{
    return calls[OFL_COUNT_CPU] + calls[OFL_COUNT_SMALL];
}

struct sums {
    uint64_t calls[OFL_OPERATION_COUNT][OFL_PRECISION_COUNT][OFL_COUNT_KINDS];
    uint64_t reasons[OFL_REASON_COUNT];
    uint64_t total[OFL_COUNT_KINDS];
};

static void take_sums(struct sums *sums)
{
    static struct ofl_counters counters; /* too large for a small stack; the process is ending */
    ofl_counters_sum(&counters);
    *sums = (struct sums){0};
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int precision = 0; precision < OFL_PRECISION_COUNT; precision++) {
            for (int kind = 0; kind < OFL_COUNT_KINDS; kind++) {
                uint64_t calls = counters.calls[operation][precision][kind];
                sums->calls[operation][precision][kind] = calls;
                sums->total[kind] += calls;
            }
        }
    }
    for (int reason = 0; reason < OFL_REASON_COUNT; reason++) {
        sums->reasons[reason] = counters.reasons[reason];
    }
}

/* ---- the file ---- */

/* Gathered here and written piece by piece: the process may be ending in a signal handler, where stdio's memory
 * cannot be had. */
struct output {
    int descriptor, failure; /* an errno */
    size_t length;
    char text[4096];
};

static void flush_output(struct output *output)
{
    size_t done = 0;
    while (output->failure == 0 && done < output->length) {
        ssize_t written = write(output->descriptor, output->text + done, output->length - done);
        if (written < 0 && errno != EINTR) {
            output->failure = errno;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    output->length = 0;
}

static void add_calls(struct output *output, const char *name, char letter, const char *device, uint64_t calls)
{
    enum { LONGEST = 256 };
    if (calls > 0) {
        if (output->length > sizeof output->text - LONGEST) {
            flush_output(output);
        }
        output->length += (size_t)snprintf(output->text + output->length, LONGEST, "%c%.120s %.60s %" PRIu64 "\n",
                                           letter, name, device, calls);
    }
}

static void write_file(const struct sums *sums, const char *path)
{
    static struct output output;
    /* A pipe that nobody reads must not keep the program from ending. */
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (descriptor < 0) {
        ofl_message("cannot write the summary to %s: %s", path, strerror(errno));
        return;
    }
    fcntl(descriptor, F_SETFL, 0);
    output.descriptor = descriptor;
    output.failure = 0;
    const char *device = ofl_device_name();
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int precision = 0; precision < OFL_PRECISION_COUNT; precision++) {
            const uint64_t *calls = sums->calls[operation][precision];
            char letter = ofl_precision_letter((enum ofl_precision)precision);
            const char *name = ofl_operation_name((enum ofl_operation)operation);
            add_calls(&output, name, letter, device != NULL ? device : "device", calls[OFL_COUNT_DEVICE]);
            add_calls(&output, name, letter, "cpu", calls_on_cpu(calls));
        }
    }
    for (const struct ofl_launches *item = ofl_launches(); item != NULL; item = item->next) {
        add_calls(&output, item->kernel + 1, item->kernel[0], item->device, item->count);
    }
    flush_output(&output);
    if (close(descriptor) != 0 && output.failure == 0 && errno != EINTR) {
        output.failure = errno;
    }
    if (output.failure != 0) {
        ofl_message("cannot write the summary to %s: %s", path, strerror(output.failure));
    }
}

/* ---- the table ---- */

static void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print_line(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ofl_message_text(line);
}

static void print_residency(void)
{
    struct ofl_residency_counts counts;
    if (ofl_device_state() != OFL_OK) {
        return;
    }
    ofl_device_residency_counts(&counts);
    if (counts.works) {
        double checked = (double)counts.bytes_checked / (1 << 30);
        print_line("  residency: %" PRIu64 " operands stayed on the device and were used %" PRIu64
                   " times; %.3f GB were not copied again; checks took %.2f ms a GiB\n",
                   counts.kept, counts.uses, 1e-9 * (double)counts.bytes_spared,
                   checked > 0 ? 1e3 * counts.check_seconds / checked : 0);
    } else {
        print_line("  residency: %s\n", strcmp(ofl_settings()->residency, "off") == 0
                                            ? "off"
                                            : "none, this kernel cannot tell what was written (Linux 6.13 can)");
    }
}

static void print_operations(const struct sums *sums)
{
    const char *device = ofl_device_name();
    print_line("  %-10s %12s %12s %12s\n", "operation", device != NULL ? device : "device", "cpu", "nested");
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (int precision = 0; precision < OFL_PRECISION_COUNT; precision++) {
            const uint64_t *calls = sums->calls[operation][precision];
            if (calls[OFL_COUNT_DEVICE] + calls_on_cpu(calls) + calls[OFL_COUNT_NESTED] > 0) {
                print_line("  %c%-9s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
                           ofl_precision_letter((enum ofl_precision)precision),
                           ofl_operation_name((enum ofl_operation)operation), calls[OFL_COUNT_DEVICE],
                           calls_on_cpu(calls), calls[OFL_COUNT_NESTED]);
            }
        }
    }
}

/* Loops always run on the device that they were compiled for. */
static void print_launches(void)
{
    if (ofl_launches() != NULL) {
        print_line("  %-36s %12s  %s\n", "parallel loop", "launches", "device");
    }
    for (const struct ofl_launches *item = ofl_launches(); item != NULL; item = item->next) {
        print_line("  %-36.120s %12" PRIu64 "  %.60s\n", item->kernel, item->count, item->device);
    }
}

static void print_table(const struct sums *sums)
{
    uint64_t calls = 0;
    for (int kind = 0; kind < OFL_COUNT_KINDS; kind++) {
        calls += sums->total[kind];
    }
    print_line("gpu-offload: %s, process %ld\n", program_invocation_short_name, (long)getpid());
    if (calls > 0 || ofl_launches() == NULL) {
        print_operations(sums);
    }
    print_launches();
    if (sums->total[OFL_COUNT_SMALL] > 0) {
        print_line("  %" PRIu64 " on the CPU because %s\n", sums->total[OFL_COUNT_SMALL],
                   ofl_reason_text(OFL_BELOW_FLOOR));
    }
    for (int reason = 0; reason < OFL_REASON_COUNT; reason++) {
        if (sums->reasons[reason] > 0) {
            print_line("  %" PRIu64 " on the CPU because %s\n", sums->reasons[reason],
                       ofl_reason_text((enum ofl_reason)reason));
        }
    }
    print_residency();
    if (ofl_device_explanation()[0] != '\0') {
        print_line("  device: %.200s\n", ofl_device_explanation());
    }
}

void ofl_summary_write(void)
{
    const struct ofl_settings *settings = ofl_settings();
    static struct sums sums;
    if (settings->summary_file[0] == '\0' && !settings->summary_table) {
        return;
    }
    take_sums(&sums);
    bool called = sums.total[OFL_COUNT_DEVICE] + sums.total[OFL_COUNT_CPU] + sums.total[OFL_COUNT_SMALL] > 0 ||
                  ofl_launches() != NULL;
    if (!is_root && !called) {
        return;
    }
    if (settings->summary_file[0] != '\0') {
        static char path[4200];
        if (is_root) {
            snprintf(path, sizeof path, "%s", settings->summary_file);
        } else {
            snprintf(path, sizeof path, "%s.%ld", settings->summary_file, (long)getpid());
        }
        struct ofl_quiet_writes quiet;
        ofl_quiet_writes_begin(&quiet);
        write_file(&sums, path);
        ofl_quiet_writes_end(&quiet);
    }
    if (settings->summary_table && called) {
        print_table(&sums);
    }
}
