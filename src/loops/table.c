/* A launch in one call: ofl_loops_launch; see <gpu-offload/loops.h>.
 *
 * The host compiler calls it by many interfaces, one for each loop; here it takes any number of arguments, all of them
 * addresses.  (The calling conventions of x86-64 and AArch64 on Linux pass such arguments in the same way to both.)
 * The table tells how many there are and what they mean; it comes from our own compiler and is not checked.
 *
 * Images: a compiler may pass a copy of the constant, so the text is kept the first time that a file's image is seen,
 * for as long as the process lives. */
#include "internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Images ---- */

struct image {
    uint64_t identity;
    struct image *next;
    char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images; /* nothing is ever removed */

static const char *keep_image(const struct ofl_loop *loop, const char *text, size_t length, uint64_t identity)
{
    pthread_mutex_lock(&lock);
    struct image *image = images;
    while (image != NULL && image->identity != identity) {
        image = image->next;
    }
    if (image == NULL && (image = malloc(sizeof *image + length)) != NULL) {
        image->identity = identity;
        memcpy(image->text, text, length);
        image->next = images;
        images = image;
    }
    pthread_mutex_unlock(&lock);
    return ((struct image *)ofl_loop_need(loop, image))->text;
}

static struct ofl_loop *loop_of(const int64_t *handle)
{
    return (struct ofl_loop *)(intptr_t)*handle;
}

void ofl_loops_image(int64_t *handle, const int64_t *version, const int64_t *device, const char *image,
                     const int64_t *length, const int64_t *identity)
{
    ofl_loops_begin(handle, version, "gpu-offload", "", device);
    struct ofl_loop *loop = loop_of(handle);
    loop->image = keep_image(loop, image, (size_t)*length, (uint64_t)*identity);
    loop->image_length = (size_t)*length;
    loop->identity = (uint64_t)*identity;
}

/* ---- The table ---- */

/* What the table and the arguments are read from. */
struct reader {
    int64_t *handle;
    const char *at, *names;
    va_list arguments;
    /* What was handed over before, in order. */
    const struct ofl_loop_object *objects;
    const struct ofl_loop_scalar *scalars;
};

/* The next number of a word. */
static int64_t number(struct reader *reader)
{
    char *end;
    int64_t value = strtoll(reader->at, &end, 10);
    reader->at = *end == ',' ? end + 1 : end;
    return value;
}

static void *argument(struct reader *reader)
{
    return va_arg(reader->arguments, void *);
}

static void read_indices(struct reader *reader)
{
    for (int64_t count = number(reader); count > 0; count--) {
        const int64_t *first = argument(reader), *last = argument(reader), *step = argument(reader);
        ofl_loops_index(reader->handle, first, last, step);
    }
}

static void read_object(struct reader *reader, bool written)
{
    static const int64_t none[1];
    int64_t form = number(reader), rank = number(reader), bytes = number(reader), offset = number(reader);
    CFI_cdesc_t *object = argument(reader);
    const int64_t *lower = rank > 0 ? argument(reader) : none, *length = bytes == 0 ? argument(reader) : &bytes;
    const char *name = reader->names;
    reader->names += strlen(name) + 1;
    if (object == NULL) {
        ofl_loops_absent(reader->handle, &rank, &form);
    } else {
        (written ? ofl_loops_write : ofl_loops_read)(reader->handle, object, lower, length, &offset, &form, name);
    }
}

static void read_earlier_object(struct reader *reader)
{
    struct ofl_loop *loop = loop_of(reader->handle);
    loop->objects =
        ofl_loop_grow(loop, loop->objects, loop->object_count, &loop->object_capacity, sizeof *loop->objects);
    loop->objects[loop->object_count++] = *reader->objects++;
}

static void read_whole(struct reader *reader)
{
    int64_t subscripts[2 * CFI_MAX_RANK];
    for (size_t i = 0; i < 2 * CFI_MAX_RANK && *reader->at != ' ' && *reader->at != '\0'; i++) {
        subscripts[i] = number(reader);
    }
    ofl_loops_whole(reader->handle, subscripts);
}

static void read_component(struct reader *reader)
{
    int64_t offset = number(reader), rank = number(reader), bytes = number(reader), written = number(reader);
    ofl_loops_component(reader->handle, &offset, &rank, &bytes, &written);
}

static void read_scalar(struct reader *reader)
{
    const int64_t bytes = number(reader);
    ofl_loops_scalar(reader->handle, argument(reader), &bytes);
}

static void read_earlier_scalar(struct reader *reader)
{
    static const int64_t bytes = sizeof reader->scalars->words;
    ofl_loops_scalar(reader->handle, (reader->scalars++)->words, &bytes);
}

static void read_reduction(struct reader *reader, bool counted)
{
    static const int64_t one = 1;
    int64_t object = number(reader), bytes = number(reader);
    ofl_loops_reduction(reader->handle, &object, &bytes, counted ? argument(reader) : &one);
}

/* Reads all words; returns what the first one says. */
static int64_t read_words(struct reader *reader)
{
    int64_t needs = 0;
    while (*reader->at != '\0') {
        char letter = *reader->at++;
        switch (letter) {
        case 'n':
            needs = number(reader);
            break;
        case 'i':
            read_indices(reader);
            break;
        case 'r':
        case 'w':
            read_object(reader, letter == 'w');
            break;
        case 'o':
            read_earlier_object(reader);
            break;
        case 'h':
            read_whole(reader);
            break;
        case 'c':
            read_component(reader);
            break;
        case 's':
            read_scalar(reader);
            break;
        case 'v':
            read_earlier_scalar(reader);
            break;
        case 'x':
        case 'y':
            read_reduction(reader, letter == 'y');
            break;
        default: /* between words */
            break;
        }
    }
    return needs;
}

/* ---- The launch ---- */

struct end {
    int64_t stop[OFL_LOOPS_STOP_WORDS];
    char text[OFL_LOOPS_STOP_TEXT];
};

/* `where` is for a message. */
static void run(int64_t *handle, int64_t needs, const char *where)
{
    struct ofl_loop *loop = loop_of(handle);
    const int64_t length = (int64_t)loop->image_length, identity = (int64_t)loop->identity;
    struct end end;
    const struct ofl_loop place = {.where = (char *)where};
    ofl_loops_run(handle, &needs, loop->image, &length, &identity, end.stop, end.text);
    if (end.stop[OFL_LOOPS_STOP_KIND] != 0) {
        struct end *kept = ofl_loop_need(&place, malloc(sizeof *kept));
        *kept = end;
        *handle = (int64_t)(intptr_t)kept;
    }
}

void ofl_loops_launch(int64_t *handle, const char *table, ...)
{
    struct ofl_loop *loop = loop_of(handle);
    struct ofl_loop_object *objects = loop->objects;
    struct ofl_loop_scalar *scalars = loop->scalars;
    struct reader reader = {.handle = handle, .objects = objects, .scalars = scalars};
    const char *kernel = table + strlen(table) + 1;
    loop->objects = NULL;
    loop->scalars = NULL;
    loop->object_count = loop->object_capacity = loop->scalar_count = loop->scalar_capacity = 0;
    free(loop->where);
    free(loop->kernel);
    const struct ofl_loop place = {.where = (char *)table};
    loop->where = ofl_loop_need(&place, strdup(table));
    loop->kernel = ofl_loop_need(&place, strdup(kernel));
    reader.at = kernel + strlen(kernel) + 1;
    reader.names = reader.at + strlen(reader.at) + 1;
    va_start(reader.arguments, table);
    int64_t needs = read_words(&reader);
    va_end(reader.arguments);
    free(objects);
    free(scalars);
    run(handle, needs, table);
}

void ofl_loops_end(int64_t *handle, int64_t *stop, char *text)
{
    struct end *end = (struct end *)(intptr_t)*handle;
    memcpy(stop, end->stop, sizeof end->stop);
    memcpy(text, end->text, sizeof end->text);
    free(end);
    *handle = 0;
}
