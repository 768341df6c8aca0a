/* Folders of measurements; see measurements.h. */
#include "cli/calibrate/measurements.h"
#include "trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- Folders ---- */

bool ofl_measurements_prepare(struct ofl_measurements *measurements, const char *folder, char *explanation, size_t size)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        snprintf(explanation, size, "cannot make the folder %s: %s", folder, strerror(errno));
        return false;
    }
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        struct ofl_calibration_pass *pass = &measurements->pass[place];
        int length = snprintf(pass->folder, sizeof pass->folder, "%s/%s", folder, ofl_place_name(place));
        if (length < 0 || (size_t)length >= sizeof pass->folder || mkdir(pass->folder, 0777) != 0) {
            int error = (size_t)length >= sizeof pass->folder ? ENAMETOOLONG : errno;
            pass->folder[0] = '\0'; /* not ours to remove */
            snprintf(explanation, size, "cannot make the folder %s/%s: %s", folder, ofl_place_name(place),
                     error == EEXIST ? "it is there already, with other measurements" : strerror(error));
            return false;
        }
    }
    return true;
}

static void remove_folder(const char *folder)
{
    DIR *entries = folder[0] != '\0' ? opendir(folder) : NULL;
    if (entries == NULL) {
        return;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
    rmdir(folder);
}

void ofl_measurements_remove(struct ofl_measurements *measurements, const char *folder)
{
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        remove_folder(measurements->pass[place].folder);
    }
    rmdir(folder);
}

/* Size and hash of a file; false if it cannot be read. */
static bool hash_file(const char *path, uint64_t *bytes, uint64_t *hash)
{
    static char block[1 << 16];
    XXH3_state_t state;
    FILE *file = fopen(path, "re");
    *bytes = 0;
    XXH3_64bits_reset(&state);
    for (size_t n; file != NULL && (n = fread(block, 1, sizeof block, file)) > 0; *bytes += n) {
        XXH3_64bits_update(&state, block, n);
    }
    bool read = file != NULL && !ferror(file);
    *hash = XXH3_64bits_digest(&state);
    if (file != NULL) {
        fclose(file);
    }
    return read;
}

/* ---- Writing ---- */

static void print_points(FILE *file, const char *place, const struct ofl_calibration_pass *pass)
{
    for (size_t i = 0; i < pass->points; i++) {
        const struct ofl_calibration_point *point = &pass->point[i];
        fprintf(file, "point %s %c%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %d\n", place,
                ofl_precision_letter(point->precision), ofl_operation_name(point->operation), point->m, point->n,
                point->k, point->begin, point->end, point->quiet);
    }
}

static bool print_traces(FILE *file, const char *place, const struct ofl_calibration_pass *pass, char *explanation,
                         size_t size)
{
    size_t count;
    uint64_t bytes, hash;
    char **paths = ofl_trace_list(pass->folder, &count, explanation, size);
    bool read = paths != NULL;
    for (size_t i = 0; i < count && read; i++) {
        read = hash_file(paths[i], &bytes, &hash);
        if (read) {
            fprintf(file, "trace %s %" PRIu64 " %016" PRIx64 " %s\n", place, bytes, hash, strrchr(paths[i], '/') + 1);
        } else {
            snprintf(explanation, size, "%s cannot be read: %s", paths[i], strerror(errno));
        }
    }
    ofl_trace_free_list(paths, count);
    return read;
}

static void print_facts(FILE *file, const struct ofl_measurements *m)
{
    fprintf(file, "gpu-offload measurements %d\nkind %s\ncpu %s\ncores %d\ndevice %s\ndriver %s\n",
            OFL_MEASUREMENTS_VERSION, m->kind, m->key.cpu, m->key.cores, m->key.device, m->key.driver);
    fprintf(file, "library %s\ndate %s\neffort %s\n", m->key.library, m->date, m->quick ? "quick" : "full");
    for (int d = 0; d < OFL_DIRECTION_COUNT; d++) {
        for (size_t i = 0; i < m->copies.count[d]; i++) {
            const struct ofl_copy_sample *sample = &m->copies.sample[d][i];
            fprintf(file, "copy %s %.0f %.9g\n", ofl_direction_name((enum ofl_direction)d), sample->bytes,
                    sample->seconds);
        }
    }
}

bool ofl_measurements_save(const struct ofl_measurements *measurements, const char *folder, char *explanation,
                           size_t size)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/measurements", folder);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "we") : NULL;
    bool written = file != NULL;
    if (written) {
        print_facts(file, measurements);
    }
    for (int place = 0; place < OFL_PLACE_COUNT && written; place++) {
        const char *name = ofl_place_name((enum ofl_place)place);
        written = print_traces(file, name, &measurements->pass[place], explanation, size);
        print_points(file, name, &measurements->pass[place]);
    }
    if (file == NULL) {
        snprintf(explanation, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    fputs("end\n", file);
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    if (failed) {
        snprintf(explanation, size, "cannot write %s: %s", path, strerror(errno));
    }
    return written && !failed;
}

/* ---- Reading ---- */

struct reader {
    struct ofl_measurements *out;
    const char *folder;
    size_t line, traces[OFL_PLACE_COUNT];
    bool ended;
    char why[PATH_MAX + 128];
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->why, sizeof reader->why, format, arguments);
    va_end(arguments);
    return false;
}

/* The number of the name among `count` names; count for none. */
static int index_of(const char *name, const char *first, const char *second)
{
    return strcmp(name, first) == 0 ? 0 : strcmp(name, second) == 0 ? 1 : 2;
}

static bool read_copy(struct reader *reader, const char *values)
{
    struct ofl_calibration_copies *copies = &reader->out->copies;
    char name[8];
    struct ofl_copy_sample sample;
    int end = 0;
    sscanf(values, "%7s %lf %lf%n", name, &sample.bytes, &sample.seconds, &end);
    int d = end > 0 ? index_of(name, "in", "out") : OFL_DIRECTION_COUNT;
    if (d == OFL_DIRECTION_COUNT || values[end] != '\0' || !(sample.bytes > 0) || !(sample.seconds > 0)) {
        return refuse(reader, "'%s' is not a copy", values);
    }
    if (copies->count[d] == sizeof copies->sample[d] / sizeof *copies->sample[d]) {
        return refuse(reader, "there are too many copies");
    }
    copies->sample[d][copies->count[d]++] = sample;
    return true;
}

static bool read_trace(struct reader *reader, const char *values)
{
    char place_name[8], path[PATH_MAX];
    uint64_t bytes, hash, seen_bytes, seen_hash;
    int end = 0;
    sscanf(values, "%7s %" SCNu64 " %" SCNx64 " %n", place_name, &bytes, &hash, &end);
    int place = end > 0 ? index_of(place_name, "cpu", "device") : OFL_PLACE_COUNT;
    if (place == OFL_PLACE_COUNT || values[end] == '\0' || strchr(values + end, '/') != NULL) {
        return refuse(reader, "'%s' is not a trace", values);
    }
    int length = snprintf(path, sizeof path, "%s/%s", reader->out->pass[place].folder, values + end);
    if (length < 0 || (size_t)length >= sizeof path || !hash_file(path, &seen_bytes, &seen_hash)) {
        return refuse(reader, "%s/%s cannot be read", place_name, values + end);
    }
    if (seen_bytes != bytes || seen_hash != hash) {
        return refuse(reader, "%s/%s is not as it was: %" PRIu64 " bytes of %" PRIu64 "%s", place_name, values + end,
                      seen_bytes, bytes, seen_bytes == bytes ? ", but others" : "");
    }
    reader->traces[place]++;
    return true;
}

static bool read_point(struct reader *reader, const char *values)
{
    char place_name[8];
    int end = 0;
    sscanf(values, "%7s %n", place_name, &end);
    int place = end > 0 ? index_of(place_name, "cpu", "device") : OFL_PLACE_COUNT;
    if (place == OFL_PLACE_COUNT || !ofl_calibration_add_point(&reader->out->pass[place], values + end)) {
        return refuse(reader, "'%s' is not a point, or there is no memory for it", values);
    }
    return true;
}

static bool copy_text(struct reader *reader, const char *value, char *to, size_t size)
{
    int length = snprintf(to, size, "%s", value);
    return (length >= 0 && (size_t)length < size) || refuse(reader, "'%.40s...' is too long", value);
}

static bool read_kind(struct reader *reader, const char *value)
{
    return index_of(value, "cuda", "host") < 2 ? copy_text(reader, value, reader->out->kind, sizeof reader->out->kind)
                                               : refuse(reader, "'%s' is not a kind of device", value);
}

static bool read_cores(struct reader *reader, const char *value)
{
    char *end;
    long cores = strtol(value, &end, 10);
    reader->out->key.cores = (int)cores;
    return (*value != '\0' && *end == '\0' && cores >= 0 && cores <= INT_MAX) ||
           refuse(reader, "'%s' is not a number of cores", value);
}

static bool read_effort(struct reader *reader, const char *value)
{
    reader->out->quick = strcmp(value, "quick") == 0;
    return index_of(value, "quick", "full") < 2 || refuse(reader, "'%s' is not an effort", value);
}

static bool read_line(struct reader *reader, char *line)
{
    struct ofl_measurements *out = reader->out;
    const struct {
        const char *word;
        char *text; /* where the rest of the line goes, or ... */
        size_t size;
        bool (*read)(struct reader *, const char *); /* ... what takes it */
    } facts[] = {
        {"kind", NULL, 0, read_kind},
        {"cpu", out->key.cpu, sizeof out->key.cpu, NULL},
        {"cores", NULL, 0, read_cores},
        {"device", out->key.device, sizeof out->key.device, NULL},
        {"driver", out->key.driver, sizeof out->key.driver, NULL},
        {"library", out->key.library, sizeof out->key.library, NULL},
        {"date", out->date, sizeof out->date, NULL},
        {"effort", NULL, 0, read_effort},
        {"copy", NULL, 0, read_copy},
        {"trace", NULL, 0, read_trace},
        {"point", NULL, 0, read_point},
    };
    int version;
    if (reader->line == 1) {
        return sscanf(line, "gpu-offload measurements %d", &version) == 1 && version == OFL_MEASUREMENTS_VERSION
                   ? true
                   : refuse(reader, "this version reads 'gpu-offload measurements %d'", OFL_MEASUREMENTS_VERSION);
    }
    if (reader->ended) {
        return refuse(reader, "there is something behind the end");
    }
    reader->ended = strcmp(line, "end") == 0;
    size_t length = strcspn(line, " ");
    const char *value = line + length + (line[length] == ' ');
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (strlen(facts[i].word) == length && memcmp(line, facts[i].word, length) == 0) {
            return facts[i].read != NULL ? facts[i].read(reader, value)
                                         : copy_text(reader, value, facts[i].text, facts[i].size);
        }
    }
    return reader->ended || refuse(reader, "'%.*s' is not known", (int)length, line);
}

/* Whether everything is there that a fit needs. */
static bool is_complete(struct reader *reader)
{
    if (!reader->ended) {
        return refuse(reader, "it was cut off");
    }
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        if (reader->traces[place] == 0 || reader->out->pass[place].points == 0) {
            return refuse(reader, "it has no traces or no points of the pass '%s'",
                          ofl_place_name((enum ofl_place)place));
        }
    }
    return reader->out->kind[0] != '\0' || refuse(reader, "it does not say for which kind of device");
}

bool ofl_measurements_load(const char *folder, struct ofl_measurements *out, char *explanation, size_t size)
{
    struct reader reader = {.out = out, .folder = folder};
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    memset(out, 0, sizeof *out);
    int length = snprintf(path, sizeof path, "%s/measurements", folder);
    FILE *file = length > 0 && (size_t)length < sizeof path - 16 ? fopen(path, "re") : NULL;
    if (file == NULL) {
        snprintf(explanation, size, "%s holds no measurements of 'gpu-offload calibrate --keep'", folder);
        return false;
    }
    for (int place = 0; place < OFL_PLACE_COUNT; place++) {
        snprintf(out->pass[place].folder, sizeof out->pass[place].folder, "%s/%s", folder,
                 ofl_place_name((enum ofl_place)place));
    }
    bool read = true;
    for (ssize_t n; read && (n = getline(&line, &room, file)) > 0;) {
        bool whole = line[n - 1] == '\n';
        line[n - whole] = '\0';
        reader.line++;
        read = (whole || refuse(&reader, "it was cut off")) && read_line(&reader, line);
    }
    if (read) {
        read = is_complete(&reader);
    }
    free(line);
    fclose(file);
    if (!read) {
        snprintf(explanation, size, "%s is not used: line %zu: %s", path, reader.line, reader.why);
        for (int place = 0; place < OFL_PLACE_COUNT; place++) {
            free(out->pass[place].point);
            out->pass[place].point = NULL;
        }
        return false;
    }
    snprintf(out->pass[OFL_ON_CPU].library, sizeof out->pass[OFL_ON_CPU].library, "%s", out->key.library);
    return true;
}
