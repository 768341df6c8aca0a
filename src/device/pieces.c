/* Cutting rectangles into pieces, and copying pieces between host memory and compact memory.
 *
 * Pure functions on memory; no device, no state.  A piece of a triangle is the
 * rectangle around what is stored in its columns; what is copied is exactly what is
 * stored, column by column, since the rest may belong to another thread. */
#include "device/pieces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

char *ofl_element(const struct ofl_buffer *buffer, int64_t row, int64_t column)
{
    return (char *)buffer->address + ((size_t)column * (size_t)buffer->ld + (size_t)row) * buffer->element_size;
}

struct ofl_cut ofl_cut_buffer(const struct ofl_buffer *buffer, size_t bytes)
{
    int64_t elements = (int64_t)(bytes / buffer->element_size);
    struct ofl_cut cut = {buffer->rows, 1, 1, 0};
    if (buffer->rows < 1 || buffer->columns < 1) {
        return cut;
    }
    elements = elements < 1 ? 1 : elements;
    if (buffer->rows <= elements) {
        cut.columns = elements / buffer->rows;
    } else {
        cut.rows = elements;
        cut.down = (buffer->rows - 1) / elements + 1;
    }
    cut.count = cut.down * ((buffer->columns - 1) / cut.columns + 1);
    return cut;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct ofl_piece ofl_piece_at(const struct ofl_buffer *buffer, const struct ofl_cut *cut, int64_t index)
{
    struct ofl_piece piece = {.row = index % cut->down * cut->rows, .column = index / cut->down * cut->columns};
    int64_t end = smaller(piece.row + cut->rows, buffer->rows);
    piece.columns = smaller(cut->columns, buffer->columns - piece.column);
    if (buffer->region == OFL_UPPER) {
        end = smaller(end, piece.column + piece.columns);
    }
    if (buffer->region == OFL_LOWER) {
        piece.row = larger(piece.row, piece.column);
    }
    piece.rows = larger(end - piece.row, 0);
    return piece;
}

struct ofl_selection ofl_selection_of(const struct ofl_buffer *buffer)
{
    struct ofl_selection selection = {.view = *buffer};
    if (buffer->region == OFL_GENERAL && (buffer->ld == buffer->rows || buffer->columns == 1)) {
        selection.view.rows = selection.view.ld = buffer->rows * buffer->columns;
        selection.view.columns = 1;
    }
    return selection;
}

void ofl_selection_free(struct ofl_selection *selection)
{
    free(selection->piece);
    selection->piece = NULL;
    selection->count = selection->most = 0;
}

static bool add_piece(struct ofl_selection *selection, struct ofl_piece piece)
{
    if (selection->piece == NULL || selection->count == selection->most) {
        int64_t most = selection->most > 0 ? 2 * selection->most : 16;
        struct ofl_piece *more = realloc(selection->piece, (size_t)most * sizeof *more);
        if (more == NULL) {
            return false;
        }
        selection->piece = more;
        selection->most = most;
    }
    selection->piece[selection->count++] = piece;
    return true;
}

/* Adds a rectangle, cut into pieces. */
static bool add_rectangle(struct ofl_selection *selection, const struct ofl_piece *rectangle)
{
    int64_t elements = OFL_SELECTED_BYTES / selection->view.element_size;
    int64_t rows = smaller(rectangle->rows, elements), columns = smaller(rectangle->columns, elements / rows);
    bool added = true;
    for (int64_t j = 0; j < rectangle->columns && added; j += columns) {
        for (int64_t i = 0; i < rectangle->rows && added; i += rows) {
            struct ofl_piece piece = {rectangle->row + i, rectangle->column + j, smaller(rows, rectangle->rows - i),
                                      smaller(columns, rectangle->columns - j)};
            added = add_piece(selection, piece);
        }
    }
    return added;
}

bool ofl_selection_add(struct ofl_selection *selection, uintptr_t begin, uintptr_t end)
{
    const struct ofl_buffer *view = &selection->view;
    uintptr_t start = (uintptr_t)view->address;
    begin = begin > start ? begin - start : 0;
    end = end > start ? end - start : 0;
    if (begin >= end) {
        return true;
    }
    int64_t first = (int64_t)(begin / view->element_size), last = (int64_t)((end - 1) / view->element_size);
    struct ofl_piece rectangle = {0, 0, view->rows, 1};
    if (view->columns == 1) {
        rectangle.row = first;
        rectangle.rows = smaller(last + 1, view->rows) - first;
    } else { /* whole columns, each once */
        const struct ofl_piece *before = selection->count > 0 ? &selection->piece[selection->count - 1] : NULL;
        rectangle.column = larger(first / view->ld, before != NULL ? before->column + before->columns : 0);
        rectangle.columns = smaller(last / view->ld + 1, view->columns) - rectangle.column;
    }
    return rectangle.rows < 1 || rectangle.columns < 1 || add_rectangle(selection, &rectangle);
}

size_t ofl_piece_bytes(const struct ofl_buffer *buffer, const struct ofl_piece *piece)
{
    return (size_t)piece->rows * (size_t)piece->columns * buffer->element_size;
}

void ofl_stored_rows(const struct ofl_buffer *buffer, const struct ofl_piece *piece, int64_t column, int64_t *first,
                     int64_t *end)
{
    *first = piece->row;
    *end = piece->row + piece->rows;
    if (buffer->region == OFL_UPPER) {
        *end = smaller(*end, column + 1);
    }
    if (buffer->region == OFL_LOWER) {
        *first = larger(*first, column);
    }
}

/* Stores that pass the caches. */
static void put(char *to, const char *from, size_t bytes)
{
#ifdef __SSE2__
    enum { worth_bytes = 1024, line = 64 };
    if (bytes >= worth_bytes) {
        size_t head = -(uintptr_t)to & (line - 1);
        memcpy(to, from, head);
        to += head;
        from += head;
        bytes -= head;
        for (; bytes >= line; bytes -= line, to += line, from += line) {
            for (int i = 0; i < line; i += 16) {
                _mm_stream_si128((__m128i *)(void *)(to + i),
                                 _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
            }
        }
    }
#endif
    memcpy(to, from, bytes);
}

/* Makes what was put visible to threads that are told of it, and to devices. */
static void finish_putting(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static void gather(char *stored, char *compact, size_t bytes)
{
    memcpy(compact, stored, bytes);
}

/* What a device is to copy must not lie in the caches of several processors: from there it gets it at half the rate of
 * memory, or less (bench/transfers). */
static void pack(char *stored, char *compact, size_t bytes)
{
    put(compact, stored, bytes);
}

/* Results go where nobody has looked since: this spares reading the lines first, a third of the traffic. */
static void scatter(char *stored, char *compact, size_t bytes)
{
    put(stored, compact, bytes);
}

/* Everything that is stored of a piece, and its place in compact memory. */
static void for_stored(const struct ofl_buffer *buffer, const struct ofl_piece *piece, char *compact, size_t pitch,
                       void (*copy)(char *stored, char *compact, size_t bytes))
{
    if (buffer->region == OFL_GENERAL && piece->rows == buffer->ld &&
        pitch == (size_t)piece->rows * buffer->element_size) { /* the columns touch on both sides */
        copy(ofl_element(buffer, piece->row, piece->column), compact, ofl_piece_bytes(buffer, piece));
        return;
    }
    for (int64_t j = piece->column; j < piece->column + piece->columns; j++, compact += pitch) {
        int64_t first, end;
        ofl_stored_rows(buffer, piece, j, &first, &end);
        if (first < end) {
            copy(ofl_element(buffer, first, j), compact + (size_t)(first - piece->row) * buffer->element_size,
                 (size_t)(end - first) * buffer->element_size);
        }
    }
}

void ofl_piece_gather(const struct ofl_buffer *buffer, const struct ofl_piece *piece, char *to, size_t pitch)
{
    for_stored(buffer, piece, to, pitch, gather);
}

void ofl_piece_pack(const struct ofl_buffer *buffer, const struct ofl_piece *piece, char *to, size_t pitch)
{
    for_stored(buffer, piece, to, pitch, pack);
    finish_putting();
}

void ofl_piece_scatter(const struct ofl_buffer *buffer, const struct ofl_piece *piece, const char *from, size_t pitch)
{
    for_stored(buffer, piece, (char *)from, pitch, scatter);
    finish_putting();
}

void ofl_piece_populate(const struct ofl_buffer *buffer, const struct ofl_piece *piece)
{
#ifdef MADV_POPULATE_WRITE
    enum { worth_bytes = 64 << 10 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = ofl_piece_bytes(buffer, piece);
    if (buffer->region != OFL_GENERAL || (piece->columns > 1 && piece->rows != buffer->ld) || bytes < worth_bytes) {
        return;
    }
    /* Whole pages of the piece only: what lies beside it is not ours to touch. */
    uintptr_t begin = ((uintptr_t)ofl_element(buffer, piece->row, piece->column) + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)ofl_element(buffer, piece->row, piece->column) + bytes) & ~(page - 1);
    unsigned char there = 1;
    if (mincore((void *)begin, page, &there) == 0 && (there & 1) == 0) {
        madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
    }
#else
    (void)buffer, (void)piece;
#endif
}
