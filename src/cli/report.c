/* gpu-offload report: what traced programs did and where their time went, as tables.
 *
 * Entry point: ofl_cli_report.  It reads every trace of a folder once and adds up; nothing here needs the
 * machine on which the traces were written. */
#include "cli/cli.h"
#include "cli/report_loops.h"
#include "base/message.h"
#include "base/reason.h"
#include "model/work.h"
#include "trace/reader.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Calls of one routine in one place. */
struct sum {
    uint64_t calls, nested;
    double seconds, flops, copying, waiting;
    double bytes_in, bytes_out, bytes_repeated, bytes_spared;
    double error; /* sum of |log(observed / predicted)| */
    uint64_t predicted;
};

struct totals {
    struct sum routine[2][OFL_OPERATION_COUNT + 1][OFL_PRECISION_COUNT];
    struct sum all[2];
    uint64_t reasons[OFL_REASON_COUNT];
    double reason_seconds[OFL_REASON_COUNT];
    uint64_t failed, damaged, dropped;
};

/* What an operand's address held when it was seen last: to tell how much copying an unchanged operand would
 * have spared.  A hash table that forgets. */
enum { SEEN = 1 << 16 };
struct seen {
    uint64_t address, bytes, fingerprint;
};

static double repeated_bytes(struct seen *seen, const struct ofl_trace_record *record)
{
    double repeated = 0;
    for (int i = 0; i < record->buffers; i++) {
        const struct ofl_trace_buffer *buffer = &record->buffer[i];
        struct seen *last = &seen[(buffer->address >> 4 ^ buffer->address >> 20) % SEEN];
        bool read = buffer->access != OFL_WRITE, written = buffer->access != OFL_READ;
        if (buffer->fingerprint == 0) {
            continue;
        }
        if (read && last->address == buffer->address && last->bytes == buffer->bytes &&
            last->fingerprint == buffer->fingerprint) {
            repeated += (double)buffer->bytes;
        }
        /* What it holds after the call is not known if the call wrote it. */
        *last = (struct seen){buffer->address, buffer->bytes, written ? 0 : buffer->fingerprint};
    }
    return repeated;
}

/* Bytes that the device read without their being sent: they were there since an earlier call. */
static double spared_bytes(const struct ofl_trace_record *record)
{
    double read = 0;
    for (int i = 0; i < record->buffers; i++) {
        const struct ofl_trace_buffer *buffer = &record->buffer[i];
        bool again = false; /* sent once only */
        for (int j = 0; j < i; j++) {
            again = again || (buffer->access == OFL_READ && record->buffer[j].address == buffer->address);
        }
        read += buffer->access == OFL_READ && !again ? (double)buffer->bytes : 0;
    }
    return record->reason == OFL_OK && read > (double)record->bytes_in ? read - (double)record->bytes_in : 0;
}

static void add(struct sum *sum, const struct ofl_trace_record *record, double repeated)
{
    double seconds = 1e-9 * (double)record->duration;
    bool device = record->reason == OFL_OK;
    double predicted = device ? record->predicted_device : record->predicted_cpu;
    sum->calls++;
    sum->seconds += seconds;
    sum->flops += record->flops;
    sum->copying += record->copy_in + record->copy_out;
    sum->waiting += record->wait;
    sum->bytes_in += (double)record->bytes_in;
    sum->bytes_out += (double)record->bytes_out;
    sum->bytes_repeated += repeated;
    sum->bytes_spared += spared_bytes(record);
    bool failed = (record->flags & OFL_TRACE_FAILED) != 0; /* it ended early */
    if (predicted > 0 && isfinite(predicted) && seconds > 0 && !failed) {
        sum->error += fabs(log(seconds / predicted));
        sum->predicted++;
    }
}

static void add_file(struct totals *totals, struct ofl_trace_reader *reader)
{
    static struct seen seen[SEEN];
    struct ofl_trace_record record;
    memset(seen, 0, sizeof seen);
    ofl_report_next_trace();
    while (ofl_trace_next(reader, &record)) {
        struct ofl_trace_text text;
        if (record.kind == OFL_TRACE_KERNEL && ofl_trace_text_of(&record, &text)) {
            ofl_report_kernel(text.first, text.text);
        } else if (record.kind == OFL_TRACE_LOOP) {
            ofl_report_loop(&record);
        }
        if (record.kind != OFL_TRACE_CALL) {
            continue;
        }
        int place = record.reason == OFL_OK;
        double repeated = repeated_bytes(seen, &record);
        add(&totals->routine[place][record.operation][record.precision], &record, repeated);
        add(&totals->all[place], &record, repeated);
        totals->failed += (record.flags & OFL_TRACE_FAILED) != 0;
        totals->reasons[record.reason]++;
        totals->reason_seconds[record.reason] += 1e-9 * (double)record.duration;
    }
    totals->damaged += ofl_trace_damaged(reader);
    totals->dropped += ofl_trace_reader_header(reader)->dropped;
}

static void print_header(const char *path, const struct ofl_trace_header *header)
{
    char date[64] = "";
    time_t seconds = (time_t)(header->realtime / 1000000000u);
    struct tm local;
    if (localtime_r(&seconds, &local) != NULL) {
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    }
    printf("%s\n  %s\n  process %u, %s, %u cores of %s, level %u%s\n", path, header->command, header->process, date,
           header->cores, header->cpu[0] != '\0' ? header->cpu : "an unknown CPU", header->level,
           header->finished == 1   ? ""
           : header->finished == 2 ? "; tracing stopped before the program did"
                                   : "; the program ended without saying so, or is still running");
}

static void print_row(const char *name, const char *place, const struct sum *sum)
{
    char error[16] = "";
    if (sum->predicted > 0) {
        snprintf(error, sizeof error, "%.0f%%", 100 * (exp(sum->error / (double)sum->predicted) - 1));
    }
    printf("  %-10s %-6s %9" PRIu64 " %11.4f %10.2f %10.4f %10.3f %8s\n", name, place, sum->calls, sum->seconds,
           sum->seconds > 0 ? 1e-9 * sum->flops / sum->seconds : 0, sum->copying,
           1e-9 * (sum->bytes_in + sum->bytes_out), error);
}

static void print_totals(const struct totals *totals)
{
    printf("\n  %-10s %-6s %9s %11s %10s %10s %10s %8s\n", "routine", "where", "calls", "seconds", "GFLOP/s",
           "copying, s", "moved, GB", "error");
    for (int operation = 0; operation <= OFL_OPERATION_COUNT; operation++) {
        for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
            for (int place = 0; place < 2; place++) {
                const struct sum *sum = &totals->routine[place][operation][p];
                char name[32];
                snprintf(name, sizeof name, "%c%s", ofl_precision_letter((enum ofl_precision)p),
                         operation < OFL_OPERATION_COUNT ? ofl_operation_name((enum ofl_operation)operation)
                                                         : "(other)");
                if (sum->calls > 0) {
                    print_row(name, place ? "device" : "CPU", sum);
                }
            }
        }
    }
    print_row("all", "CPU", &totals->all[0]);
    print_row("", "device", &totals->all[1]);
    puts("\n  (error: how far predictions were off, on the average)\n\n  on the CPU because");
    for (int reason = 0; reason < OFL_REASON_COUNT; reason++) {
        if (totals->reasons[reason] > 0 && reason != OFL_OK) {
            printf("  %9" PRIu64 " calls %11.4f s  %s\n", totals->reasons[reason], totals->reason_seconds[reason],
                   ofl_reason_text((enum ofl_reason)reason));
        }
    }
    if (totals->failed > 0) {
        printf("\n  %" PRIu64 " calls of LAPACK failed (info was not 0).\n", totals->failed);
    }
    if (totals->all[1].bytes_spared > 0) {
        printf("\n  Operands of %.3f GB were on the device already and not sent again.\n",
               1e-9 * totals->all[1].bytes_spared);
    }
    double repeated = totals->all[0].bytes_repeated + totals->all[1].bytes_repeated;
    if (repeated > 0) {
        printf("\n  Operands of %.3f GB looked as they did in the call before that used them: data that a device\n"
               "  which keeps it need not be sent again.\n",
               1e-9 * repeated);
    }
    if (totals->damaged > 0 || totals->dropped > 0) {
        printf("\n  %" PRIu64 " records are damaged and left out; %" PRIu64 " could not be written.\n", totals->damaged,
               totals->dropped);
    }
}

static int report(const char *folder)
{
    static struct totals totals;
    char explanation[512];
    size_t count, read = 0;
    char **paths = ofl_trace_list(folder, &count, explanation, sizeof explanation);
    if (paths == NULL) {
        ofl_message("report: %s", explanation);
        return OFL_EXIT_FAILED;
    }
    for (size_t i = 0; i < count; i++) {
        struct ofl_trace_reader *reader = ofl_trace_open(paths[i], explanation, sizeof explanation);
        if (reader == NULL) {
            ofl_message("report: %s", explanation);
            continue;
        }
        print_header(paths[i], ofl_trace_reader_header(reader));
        add_file(&totals, reader);
        ofl_trace_close(reader);
        read++;
    }
    ofl_trace_free_list(paths, count);
    if (read == 0) {
        return OFL_EXIT_FAILED;
    }
    print_totals(&totals);
    ofl_report_print_loops();
    return 0;
}

int ofl_cli_report(int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    optind = 1;
    opterr = 0;
    int option = getopt_long(argc, argv, "h", options, NULL);
    if (option == 'h') {
        puts("usage: gpu-offload report DIR\n\n"
             "Shows what the programs traced in DIR (gpu-offload run --trace DIR) called, where\n"
             "it ran, how long it took and why it did not run on the device.  DIR may also be\n"
             "one trace.");
        return 0;
    }
    if (option != -1 || argc - optind != 1) {
        ofl_message("report: it takes one folder; usage: gpu-offload report DIR");
        return OFL_EXIT_USAGE;
    }
    return report(argv[optind]);
}
