/* The trace reader; see reader.h. */
#include "trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_OPERATIONS = 1024 };

struct ofl_trace_reader {
    FILE *stream;
    struct ofl_trace_header header;
    uint64_t damaged;
    uint16_t operation[MAX_OPERATIONS]; /* the file's numbers in this version's */
    unsigned operations;
    struct ofl_trace_record block[OFL_TRACE_BLOCK_SLOTS], copy[OFL_TRACE_BLOCK_SLOTS];
    size_t at, filled;
    uint64_t next_block; /* file offset */
};

static const char *const operation_names[] = {
#define OFL_OPERATION(name, ...) #name,
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

static uint16_t find_operation(const char *name)
{
    for (uint16_t i = 0; i < OFL_OPERATION_COUNT; i++) {
        if (strcmp(operation_names[i], name) == 0) {
            return i;
        }
    }
    return OFL_OPERATION_COUNT;
}

static bool check_header(const struct ofl_trace_header *header, size_t length, char *explanation, size_t size)
{
    if (length < sizeof header->magic || memcmp(header->magic, OFL_TRACE_MAGIC, sizeof header->magic) != 0) {
        snprintf(explanation, size, "it is not a gpu-offload trace");
    } else if (length < sizeof *header) {
        snprintf(explanation, size, "its header is cut off");
    } else if (header->byte_order != OFL_TRACE_BYTE_ORDER) {
        snprintf(explanation, size, "it was written on a machine of the other byte order");
    } else if (header->version != OFL_TRACE_VERSION) {
        snprintf(explanation, size, "it has format version %u, this program reads version %d", header->version,
                 OFL_TRACE_VERSION);
    } else if (header->record_size != sizeof(struct ofl_trace_record) || header->header_size != OFL_TRACE_HEADER_SIZE) {
        snprintf(explanation, size, "its header is damaged");
    } else {
        return true;
    }
    return false;
}

/* Terminates the header's texts, which may be damaged, and maps its operations to ours. */
static void use_header(struct ofl_trace_reader *reader)
{
    struct ofl_trace_header *header = &reader->header;
    header->cpu[sizeof header->cpu - 1] = '\0';
    header->program[sizeof header->program - 1] = '\0';
    header->command[sizeof header->command - 1] = '\0';
    header->operations[sizeof header->operations - 1] = '\0';
    char names[sizeof header->operations], *save = NULL;
    memcpy(names, header->operations, sizeof names);
    for (char *name = strtok_r(names, " ", &save); name != NULL && reader->operations < MAX_OPERATIONS;
         name = strtok_r(NULL, " ", &save)) {
        reader->operation[reader->operations++] = find_operation(name);
    }
}

struct ofl_trace_reader *ofl_trace_open_stream(FILE *stream, char *explanation, size_t size)
{
    struct ofl_trace_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        snprintf(explanation, size, "no memory to read it");
        fclose(stream);
        return NULL;
    }
    reader->stream = stream;
    size_t length = fread(&reader->header, 1, sizeof reader->header, stream);
    if (!check_header(&reader->header, length, explanation, size)) {
        ofl_trace_close(reader);
        return NULL;
    }
    use_header(reader);
    reader->next_block = OFL_TRACE_HEADER_SIZE;
    return reader;
}

struct ofl_trace_reader *ofl_trace_open(const char *path, char *explanation, size_t size)
{
    char why[256];
    struct stat status;
    FILE *stream = NULL;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(explanation, size, "%s is not read: it is not a file", path);
        return NULL;
    }
    stream = fopen(path, "rbe");
    if (stream == NULL) {
        snprintf(explanation, size, "%s is not read: %s", path, strerror(errno));
        return NULL;
    }
    struct ofl_trace_reader *reader = ofl_trace_open_stream(stream, why, sizeof why);
    if (reader == NULL) {
        snprintf(explanation, size, "%s is not read: %s", path, why);
    }
    return reader;
}

void ofl_trace_close(struct ofl_trace_reader *reader)
{
    if (reader != NULL) {
        fclose(reader->stream);
        free(reader);
    }
}

const struct ofl_trace_header *ofl_trace_reader_header(const struct ofl_trace_reader *reader)
{
    return &reader->header;
}

uint64_t ofl_trace_damaged(const struct ofl_trace_reader *reader)
{
    return reader->damaged;
}

static bool is_text(const struct ofl_trace_record *record)
{
    return record->kind == OFL_TRACE_MODULE || record->kind == OFL_TRACE_DEVICE || record->kind == OFL_TRACE_KERNEL ||
           record->kind == OFL_TRACE_BLOCK;
}

bool ofl_trace_text_of(const struct ofl_trace_record *record, struct ofl_trace_text *out)
{
    if (!is_text(record)) {
        return false;
    }
    memcpy(out, record, sizeof *out);
    out->text[sizeof out->text - 1] = '\0';
    return true;
}

static bool is_flag(char c)
{
    return c == 0 || (c >= 'A' && c <= 'Z');
}

static bool is_time(float seconds)
{
    return isfinite(seconds) && seconds >= 0;
}

/* Whether the record's values are possible; maps its operation. */
static bool check_record(const struct ofl_trace_reader *reader, struct ofl_trace_record *record)
{
    if (record->kind >= OFL_TRACE_KIND_COUNT) {
        return false;
    }
    if (is_text(record)) {
        return true;
    }
    if (record->precision >= OFL_PRECISION_COUNT || record->reason >= OFL_REASON_COUNT ||
        record->buffers > OFL_TRACE_BUFFERS || !isfinite(record->flops) || record->flops < 0) {
        return false;
    }
    for (int i = 0; i < record->buffers; i++) {
        if (record->buffer[i].access > OFL_WRITE || record->buffer[i].region > OFL_PIVOTS) {
            return false;
        }
    }
    record->operation =
        record->operation < reader->operations ? reader->operation[record->operation] : OFL_OPERATION_COUNT;
    return is_flag(record->side) && is_flag(record->uplo) && is_flag(record->transa) && is_flag(record->transb) &&
           is_flag(record->diag) && is_time(record->wait) && is_time(record->copy_in) && is_time(record->compute) &&
           is_time(record->copy_out) && !isnan(record->predicted_cpu) && !isnan(record->predicted_device);
}

static size_t read_block(struct ofl_trace_reader *reader, uint64_t offset, struct ofl_trace_record *out)
{
    if (offset > INT64_MAX || fseeko(reader->stream, (off_t)offset, SEEK_SET) != 0) {
        return 0;
    }
    return fread(out, sizeof *out, OFL_TRACE_BLOCK_SLOTS, reader->stream);
}

/* Reads the next block.  Of a window that was being copied, what its copy has already is dropped. */
static bool next_block(struct ofl_trace_reader *reader)
{
    struct ofl_trace_text first;
    uint64_t offset = reader->next_block;
    reader->filled = read_block(reader, offset, reader->block);
    reader->at = 0;
    reader->next_block += OFL_TRACE_BLOCK_SIZE;
    if (reader->filled == 0) {
        return false;
    }
    if (ofl_trace_text_of(&reader->block[0], &first) && first.kind == OFL_TRACE_BLOCK && first.first > offset) {
        size_t copied = read_block(reader, first.first, reader->copy);
        for (size_t i = 1; i < reader->filled && i < copied; i++) {
            if (memcmp((const char *)&reader->block[i], (const char *)&reader->copy[i], sizeof *reader->block) == 0) {
                reader->block[i].kind = OFL_TRACE_EMPTY;
            }
        }
    }
    return true;
}

bool ofl_trace_next(struct ofl_trace_reader *reader, struct ofl_trace_record *out)
{
    for (;;) {
        if (reader->at == reader->filled && !next_block(reader)) {
            return false;
        }
        struct ofl_trace_record *record = &reader->block[reader->at++];
        if (record->kind == OFL_TRACE_EMPTY || record->kind == OFL_TRACE_BLOCK) {
            continue;
        }
        if (check_record(reader, record)) {
            *out = *record;
            return true;
        }
        reader->damaged++;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct ofl_trace_record *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->kind > y->kind) - (x->kind < y->kind); /* continuations after their work */
}

struct ofl_trace_record *ofl_trace_read_all(struct ofl_trace_reader *reader, size_t *count)
{
    size_t room = 1024;
    struct ofl_trace_record *records = malloc(room * sizeof *records);
    *count = 0;
    while (records != NULL && ofl_trace_next(reader, &records[*count])) {
        if (++*count == room) {
            struct ofl_trace_record *more = realloc(records, 2 * room * sizeof *records);
            if (more == NULL) {
                free(records);
            }
            records = more;
            room *= 2;
        }
    }
    if (records != NULL) {
        qsort(records, *count, sizeof *records, by_start);
    }
    return records;
}

static bool is_trace_name(const char *name)
{
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, ".trace") == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool append(char ***paths, size_t *count, const char *folder, const char *name)
{
    char *path = NULL;
    if (name == NULL) {
        path = strdup(folder);
    } else if (asprintf(&path, "%s/%s", folder, name) < 0) {
        path = NULL;
    }
    char **more = path != NULL ? realloc(*paths, (*count + 1) * sizeof **paths) : NULL;
    if (more == NULL) {
        free(path);
        return false;
    }
    more[(*count)++] = path;
    *paths = more;
    return true;
}

char **ofl_trace_list(const char *folder, size_t *count, char *explanation, size_t size)
{
    char **paths = NULL;
    struct stat status;
    *count = 0;
    if (stat(folder, &status) == 0 && S_ISREG(status.st_mode)) {
        append(&paths, count, folder, NULL);
        return paths;
    }
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        snprintf(explanation, size, "%s cannot be read: %s", folder, strerror(errno));
        return NULL;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (is_trace_name(entry->d_name) && !append(&paths, count, folder, entry->d_name)) {
            break;
        }
    }
    closedir(entries);
    if (paths == NULL || *count == 0) {
        snprintf(explanation, size, "%s holds no traces (files that end in .trace)", folder);
        free(paths);
        return NULL;
    }
    qsort(paths, *count, sizeof *paths, by_name);
    return paths;
}

void ofl_trace_free_list(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(paths[i]);
    }
    free(paths);
}
