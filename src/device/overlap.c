/* Whether two rectangles of memory share a byte. */
#include "device/device.h"

/* Byte addresses as wide integers: a leading dimension times a number of columns may exceed 64 bits. */
typedef __int128 wide;

struct strip {
    wide begin;        /* address of the first byte */
    wide width, pitch; /* bytes of a column; from one column to the next */
    int64_t columns;
};

static struct strip strip_of(const struct ofl_buffer *buffer)
{
    struct strip strip = {(wide)(uintptr_t)buffer->address, (wide)buffer->rows * buffer->element_size,
                          (wide)buffer->ld * buffer->element_size, buffer->columns};
    if (strip.pitch == strip.width || strip.columns == 1) { /* contiguous: one long column */
        strip.width *= strip.columns;
        strip.pitch = strip.width;
        strip.columns = 1;
    }
    return strip;
}

static wide end_of(const struct strip *strip)
{
    return strip->begin + (strip->columns - 1) * strip->pitch + strip->width;
}

/* A run of bytes against columns: only the columns around its begin can meet it first. */
static bool run_meets(const struct strip *run, const struct strip *columns)
{
    wide first = run->begin > columns->begin ? (run->begin - columns->begin) / columns->pitch : 0;
    for (wide column = first; column <= first + 1 && column < columns->columns; column++) {
        wide begin = columns->begin + column * columns->pitch;
        if (begin < end_of(run) && run->begin < begin + columns->width) {
            return true;
        }
    }
    return false;
}

/* Equal pitch: `later` begins at or after `earlier`, `skip` columns and `offset` bytes further.  Its
 * columns may reach over the end of the pitch into the next column's begin. */
static bool interleaved_meet(const struct strip *earlier, const struct strip *later)
{
    wide distance = later->begin - earlier->begin;
    wide skip = distance / earlier->pitch, offset = distance % earlier->pitch;
    if (offset < earlier->width && skip < earlier->columns) {
        return true;
    }
    return offset + later->width > earlier->pitch && skip + 1 < earlier->columns;
}

bool ofl_buffers_overlap(const struct ofl_buffer *a, const struct ofl_buffer *b)
{
    if (a->rows < 1 || a->columns < 1 || b->rows < 1 || b->columns < 1) {
        return false;
    }
    struct strip first = strip_of(a), second = strip_of(b);
    if (first.begin >= end_of(&second) || second.begin >= end_of(&first)) {
        return false;
    }
    if (first.columns == 1) {
        return run_meets(&first, &second);
    }
    if (second.columns == 1) {
        return run_meets(&second, &first);
    }
    if (first.pitch != second.pitch) {
        return true;
    }
    return first.begin <= second.begin ? interleaved_meet(&first, &second) : interleaved_meet(&second, &first);
}
