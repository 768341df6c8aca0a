/* gpu-offload estimate: what a device would have done for a traced program.
 *
 * Entry point: ofl_cli_estimate.  It replays the calls of each trace, in the order of time, through the very
 * decision and learning that a running program uses.  A call that ran on the CPU took there what the
 * trace says, and that is learned from; what it would take on the device is the prediction.  What the device
 * keeps between calls, other programs and waiting are not part of it. */
#include "cli/cli.h"
#include "cli/estimate.h"
#include "base/message.h"
#include "base/reason.h"
#include "model/decide.h"
#include "model/estimate.h"
#include "profile/facts.h"
#include "profile/store.h"
#include "trace/reader.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *folder, *profile, *device;
    int level;
    bool check, calls;
};

struct replay {
    struct ofl_learning learning;
    struct ofl_situation situation;
    double cpu_seconds; /* all calls, as they would be without a device */
    double seconds;     /* the same with it, without starting */
    double started;     /* seconds to start what was needed */
    uint64_t calls, offloaded, reasons[OFL_REASON_COUNT];
};

static void print_help(void)
{
    puts("usage: gpu-offload estimate [options] DIR\n\n"
         "Says what a GPU would have done for the programs traced in DIR\n"
         "(gpu-offload run --device none --trace DIR -- PROGRAM).\n\n"
         "  --level N       as for gpu-offload run, 1..10 (default: 5)\n"
         "  --profile FILE  the machine to estimate for (default: this one's profile, else an\n"
         "                  estimate from its hardware)\n"
         "  --device KIND   cuda or host: whose profile (default: cuda)\n"
         "  --check         instead, compare the predictions with what the trace has\n"
         "  --calls         the same, with a line for each call\n"
         "  --help          print this");
}

/* Work as the record tells it. */
void ofl_estimate_work(const struct ofl_trace_record *record, struct ofl_work *out)
{
    struct ofl_call call = {.operation = (enum ofl_operation)record->operation,
                            .precision = (enum ofl_precision)record->precision,
                            .side = record->side,
                            .uplo = record->uplo,
                            .transa = record->transa,
                            .transb = record->transb,
                            .diag = record->diag,
                            .m = record->m,
                            .n = record->n,
                            .k = record->k};
    if (ofl_operation_takes(call.operation, "nrhs")) {
        call.nrhs = call.k;
        call.k = 0;
    }
    if (record->buffers > 0) {
        call.operand[0].access = (enum ofl_access)record->buffer[0].access;
    }
    ofl_work_from_call(&call, out);
    out->flops = record->flops;
    for (int i = 0; i < record->buffers; i++) {
        const struct ofl_trace_buffer *buffer = &record->buffer[i];
        if (ofl_trace_repeats(record, i)) {
            continue;
        }
        out->bytes_in += buffer->access != OFL_WRITE ? (double)buffer->bytes : 0;
        out->bytes_out += buffer->access != OFL_READ ? (double)buffer->bytes : 0;
        out->bytes_staged += (record->staged >> i & 1) != 0 ? (double)buffer->bytes : 0;
        out->device_bytes += (double)buffer->bytes;
    }
    bool shares = record->shared > 0 && record->shared <= record->buffers;
    ofl_work_cut(out, record->pieces, shares ? (double)record->buffer[record->shared - 1].bytes : 0);
}

/* Reasons that no decision makes: those calls stay on the CPU whatever the machine. */
static bool is_candidate(const struct ofl_trace_record *record)
{
    switch ((enum ofl_reason)record->reason) {
    case OFL_NESTED:
    case OFL_NOT_OFFLOADED:
    case OFL_INVALID_ARGUMENT:
    case OFL_NOTHING_TO_DO:
    case OFL_INTEGER_WIDTH:
    case OFL_OVERLAP:
    case OFL_UNSUPPORTED:
    case OFL_TOO_LARGE:
        return false;
    default:
        return record->operation < OFL_OPERATION_COUNT;
    }
}

static void replay_call(struct replay *replay, const struct ofl_trace_record *record, const struct ofl_machine *machine,
                        int level)
{
    double seconds = 1e-9 * (double)record->duration;
    struct ofl_prediction prediction;
    struct ofl_work work;
    replay->calls++;
    if (!is_candidate(record)) {
        replay->cpu_seconds += seconds;
        replay->seconds += seconds;
        replay->reasons[record->reason]++;
        return;
    }
    ofl_estimate_work(record, &work);
    enum ofl_reason reason = ofl_decide(&work, machine, &replay->learning, &replay->situation, level, &prediction);
    /* What the call takes on the CPU: seen if it ran there, else predicted. */
    double cpu = record->reason != OFL_OK ? seconds : prediction.cpu;
    replay->cpu_seconds += cpu;
    replay->reasons[reason]++;
    if (reason == OFL_OK) {
        replay->started += ofl_start_seconds(&work, machine, &replay->learning, &replay->situation);
        replay->situation.state = OFL_OK;
        replay->situation.library_loaded[ofl_library_of(work.operation)] = true;
        replay->offloaded++;
        /* A recorded call that loaded a library has that in its time; here starting is counted apart. */
        bool seen = record->reason == OFL_OK && (record->flags & OFL_TRACE_FIRST) == 0;
        double device = seen ? seconds - record->wait : prediction.device;
        replay->seconds += device;
        ofl_learn(&replay->learning, &work, &prediction, reason, device);
    } else {
        replay->seconds += cpu;
        if (reason != OFL_BELOW_FLOOR) {
            ofl_learn(&replay->learning, &work, &prediction, reason, record->reason != OFL_OK ? seconds : 0);
        }
    }
}

static void print_replay(const struct ofl_trace_header *header, const struct replay *replay)
{
    double with = replay->seconds + replay->started;
    printf("%s\n  %" PRIu64 " calls took %.4f s on the CPU library\n", header->command, replay->calls,
           replay->cpu_seconds);
    if (replay->offloaded == 0) {
        puts("  the device would not have been started");
    } else {
        printf("  %" PRIu64
               " of them would run on the device: %.4f s, %.4f s of it to start the device; %.2f times as fast\n",
               replay->offloaded, with, replay->started, with > 0 ? replay->cpu_seconds / with : 0);
    }
    for (int reason = 0; reason < OFL_REASON_COUNT; reason++) {
        if (reason != OFL_OK && replay->reasons[reason] > 0) {
            printf("  %9" PRIu64 " on the CPU because %s\n", replay->reasons[reason],
                   ofl_reason_text((enum ofl_reason)reason));
        }
    }
}

static bool replay_file(const char *path, const struct ofl_machine *machine, int level)
{
    static struct replay replay;
    char explanation[512];
    size_t count = 0;
    struct ofl_trace_reader *reader = ofl_trace_open(path, explanation, sizeof explanation);
    if (reader == NULL) {
        ofl_message("estimate: %s", explanation);
        return false;
    }
    struct ofl_trace_record *records = ofl_trace_read_all(reader, &count);
    memset(&replay, 0, sizeof replay);
    replay.situation.state = OFL_NOT_STARTED;
    replay.situation.utilisation = -1;
    for (size_t i = 0; i < count && records != NULL; i++) {
        if (records[i].kind == OFL_TRACE_CALL) {
            replay_call(&replay, &records[i], machine, level);
        }
    }
    if (records == NULL) {
        ofl_message("estimate: no memory to read %s", path);
    } else {
        print_replay(ofl_trace_reader_header(reader), &replay);
    }
    free(records);
    ofl_trace_close(reader);
    return records != NULL;
}

/* The machine to estimate for, and a line that says which. */
static bool find_machine(const struct options *options, struct ofl_machine *out)
{
    static struct ofl_profile profile;
    struct ofl_profile_key here, anywhere = {.cores = 0};
    struct ofl_cpu_properties cpu;
    char path[PATH_MAX], explanation[512] = "";
    ofl_facts_key(strcmp(options->device, "cuda") == 0, &here);
    enum ofl_profile_found found = OFL_PROFILE_NONE;
    if (options->profile != NULL) {
        found = ofl_profile_load(options->profile, &anywhere, &profile, explanation, sizeof explanation);
        if (found != OFL_PROFILE_USED) {
            ofl_message("estimate: %s", found == OFL_PROFILE_NONE ? "there is no such profile" : explanation);
            return false;
        }
        printf("for the machine of %s\n", options->profile);
    } else if (ofl_profile_path(&here, options->device, path, sizeof path)) {
        found = ofl_profile_load(path, &here, &profile, explanation, sizeof explanation);
        if (found == OFL_PROFILE_REFUSED) {
            ofl_message("estimate: %s", explanation);
        } else if (found == OFL_PROFILE_USED) {
            printf("for this machine, by its profile %s\n", path);
        }
    }
    if (found == OFL_PROFILE_USED) {
        *out = profile.machine;
        ofl_machine_complete(out);
    } else {
        ofl_facts_cpu(&cpu);
        ofl_machine_estimate(&cpu, NULL, out);
        puts("for this machine and a modest GPU: there is no profile; 'gpu-offload calibrate' makes one");
    }
    return true;
}

static int estimate(const struct options *options)
{
    static struct ofl_machine machine;
    char explanation[512];
    size_t count;
    char **paths = ofl_trace_list(options->folder, &count, explanation, sizeof explanation);
    if (paths == NULL) {
        ofl_message("estimate: %s", explanation);
        return OFL_EXIT_FAILED;
    }
    bool done = find_machine(options, &machine);
    if (done && options->check) {
        done = ofl_estimate_check(paths, count, &machine, options->calls);
    } else if (done) {
        done = false;
        for (size_t i = 0; i < count; i++) {
            done = replay_file(paths[i], &machine, options->level) || done;
        }
    }
    ofl_trace_free_list(paths, count);
    return done ? 0 : OFL_EXIT_FAILED;
}

int ofl_cli_estimate(int argc, char **argv)
{
    static const struct option table[] = {{"level", required_argument, NULL, 'l'},
                                          {"profile", required_argument, NULL, 'p'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"calls", no_argument, NULL, 'a'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct options options = {.level = OFL_LEVEL_DEFAULT, .device = "cuda"};
    char *end = NULL;
    optind = 1;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", table, NULL)) != -1;) {
        switch (option) {
        case 'l':
            options.level = (int)strtol(optarg, &end, 10);
            if (*optarg == '\0' || *end != '\0' || options.level < OFL_LEVEL_MIN || options.level > OFL_LEVEL_MAX) {
                ofl_message("estimate: '%s' is not a level; levels are 1 to 10", optarg);
                return OFL_EXIT_USAGE;
            }
            break;
        case 'p':
            options.profile = optarg;
            break;
        case 'd':
            options.device = optarg;
            break;
        case 'c':
            options.check = true;
            break;
        case 'a':
            options.check = options.calls = true;
            break;
        case 'h':
            print_help();
            return 0;
        default:
            ofl_message("estimate: '%s' is not an option or needs a value; 'gpu-offload estimate --help' explains",
                        argv[optind - 1]);
            return OFL_EXIT_USAGE;
        }
    }
    if (argc - optind != 1 || (strcmp(options.device, "cuda") != 0 && strcmp(options.device, "host") != 0)) {
        ofl_message("estimate: it takes one folder; usage: gpu-offload estimate [options] DIR");
        return OFL_EXIT_USAGE;
    }
    options.folder = argv[optind];
    return estimate(&options);
}
