/* Feeds damaged input to readers of files: fuzz TARGET SECONDS SEED-FILE...
 *
 * Each round takes one of the seeds, damages it in a few places, and gives it to the reader.  A reader may refuse; it
 * must not crash, hang, or touch what is not its own (the sanitizers of `make fuzz` see that).  Traces are damaged
 * by their own tests.
 *
 * The rounds of one start are the same each time, so a finding can be had again. */
#include "cli/cli.h"
#include "cli/elf_file.h"
#include "base/settings.h"
#include "model/profile.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INPUT_MAX = 1 << 18, HANG_SECONDS = 20 };

struct input {
    unsigned char *data;
    size_t size;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return below > 0 ? random_state % below : 0;
}

/* ---- Targets ---- */

static const char *input_file; /* holds the input, for readers of files */

static void read_elf(const struct input *input)
{
    struct ofl_elf elf;
    (void)input;
    if (!ofl_elf_open(&elf, input_file)) {
        return;
    }
    for (size_t i = 0; i < 64 && ofl_elf_needed(&elf, i) != NULL; i++) {
    }
    const struct ofl_elf_symbols *tables[] = {&elf.exported, &elf.all};
    size_t length = 0;
    for (int t = 0; t < 2; t++) {
        for (size_t i = 0; i < tables[t]->count && i < 4096; i++) {
            length += strlen(ofl_elf_symbol_name(tables[t], i));
        }
    }
    const char *texts[] = {elf.interpreter, elf.soname, elf.rpath, elf.runpath};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        length += texts[i] != NULL ? strlen(texts[i]) : 0;
    }
    if (length == SIZE_MAX) {
        abort(); /* the lengths are used, so the reads happen */
    }
    ofl_elf_close(&elf);
}

static void read_configuration(const struct input *input)
{
    char *values[OFL_CLI_SETTINGS] = {0};
    (void)input;
    ofl_cli_read_configuration(values);
    for (size_t i = 0; i < OFL_CLI_SETTINGS; i++) {
        free(values[i]);
    }
}

static void read_profile(const struct input *input)
{
    static struct ofl_profile profile;
    static char text[1 << 16];
    char explanation[512];
    if (ofl_profile_parse((const char *)input->data, input->size, &profile, explanation, sizeof explanation)) {
        ofl_profile_print(&profile, text, sizeof text);
    }
}

static const struct target {
    const char *name;
    void (*read)(const struct input *input);
    const char *file; /* where the reader expects it, under the temporary folder */
} targets[] = {
    {"elf", read_elf, "program"},
    {"configuration", read_configuration, "gpu-offload/config"},
    {"profile", read_profile, "profile"},
};

/* ---- Rounds ---- */

static struct input load(const char *path)
{
    struct input input = {malloc(INPUT_MAX), 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL || input.data == NULL) {
        fprintf(stderr, "fuzz: cannot read %s: %s\n", path, strerror(errno));
        exit(2);
    }
    input.size = fread(input.data, 1, INPUT_MAX, file);
    fclose(file);
    return input;
}

/* Changes a few places: bytes, words that are often limits, runs copied elsewhere, the length. */
static void damage(struct input *input)
{
    static const uint64_t limits[] = {0,      1,          0x7f,       0x80,      0xff,      0x7fff,
                                      0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX};
    for (uint64_t places = 1 + random_number(8); places > 0 && input->size > 0; places--) {
        size_t at = random_number(input->size);
        size_t room = input->size - at;
        switch (random_number(5)) {
        case 0:
            input->data[at] ^= (unsigned char)(1u << random_number(8));
            break;
        case 1:
            input->data[at] = (unsigned char)random_number(256);
            break;
        case 2: {
            uint64_t value = limits[random_number(sizeof limits / sizeof *limits)];
            memcpy(input->data + at, &value, room < sizeof value ? room : sizeof value);
            break;
        }
        case 3: {
            size_t from = random_number(input->size), length = random_number(64);
            length = length < room ? length : room;
            length = length < input->size - from ? length : input->size - from;
            memmove(input->data + at, input->data + from, length);
            break;
        }
        default:
            /* The head of a file has most of what matters: cut there rarely. */
            input->size = random_number(8) == 0 ? at : input->size;
        }
    }
}

static void keep(const struct input *input)
{
    FILE *file = fopen(input_file, "wb");
    if (file == NULL || fwrite(input->data, 1, input->size, file) != input->size || fclose(file) != 0) {
        fprintf(stderr, "fuzz: cannot write %s\n", input_file);
        exit(2);
    }
}

static void run(const struct target *target, int seconds, const struct input *seeds, size_t count)
{
    struct input damaged = {malloc(INPUT_MAX), 0};
    time_t end = time(NULL) + seconds;
    unsigned long rounds = 0;
    if (damaged.data == NULL) {
        fprintf(stderr, "fuzz: no memory\n");
        exit(2);
    }
    do {
        const struct input *seed = &seeds[random_number(count)];
        memcpy(damaged.data, seed->data, seed->size);
        damaged.size = seed->size;
        damage(&damaged);
        keep(&damaged);
        alarm(HANG_SECONDS);
        target->read(&damaged);
        alarm(0);
        rounds++;
    } while (time(NULL) < end);
    free(damaged.data);
    printf("%s: %lu rounds\n", target->name, rounds);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/fuzz.XXXXXX", path[128];
    int seconds = argc > 2 ? atoi(argv[2]) : 0;
    const struct target *target = NULL;
    for (size_t i = 0; argc > 1 && i < sizeof targets / sizeof *targets; i++) {
        target = strcmp(argv[1], targets[i].name) == 0 ? &targets[i] : target;
    }
    if (target == NULL || seconds < 1 || argc < 4 || mkdtemp(folder) == NULL) {
        fprintf(stderr, "usage: fuzz elf|configuration|profile SECONDS SEED-FILE...\n");
        return 2;
    }
    size_t count = (size_t)(argc - 3);
    struct input *seeds = calloc(count, sizeof *seeds);
    for (size_t i = 0; seeds != NULL && i < count; i++) {
        seeds[i] = load(argv[3 + i]);
    }
    /* Without ofl_message_start the readers' complaints, which are many, are not printed. */
    setenv("XDG_CONFIG_HOME", folder, 1);
    snprintf(path, sizeof path, "%s/gpu-offload", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s", folder, target->file);
    input_file = path;
    fprintf(stderr, "fuzz: the last input is in %s if this ends early\n", path);
    run(target, seconds, seeds, count);
    unlink(path);
    snprintf(path, sizeof path, "%s/gpu-offload", folder);
    rmdir(path);
    rmdir(folder);
    for (size_t i = 0; i < count; i++) {
        free(seeds[i].data);
    }
    free(seeds);
    return 0;
}
