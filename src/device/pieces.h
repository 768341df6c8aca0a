/* Cutting rectangles into pieces, and copying pieces between host memory and compact memory. */
#ifndef OFL_DEVICE_PIECES_H
#define OFL_DEVICE_PIECES_H
#include <gpu-offload/device.h>

#include <stddef.h>

/* Rows row..row+rows-1 of columns column..column+columns-1 of a buffer. */
struct ofl_piece {
    int64_t row, column, rows, columns;
};

/* How a buffer is cut: into pieces of so many rows and columns, `down` of them below each other. */
struct ofl_cut {
    int64_t rows, columns, down, count;
};

/* Cuts into pieces of at most `bytes` bytes (at least one element). */
struct ofl_cut ofl_cut_buffer(const struct ofl_buffer *buffer, size_t bytes);

/* Piece number `index`, without rows where its region stores nothing; there may be no rows left. */
struct ofl_piece ofl_piece_at(const struct ofl_buffer *buffer, const struct ofl_cut *cut, int64_t index);

/* Some of a buffer: pieces of at most OFL_SELECTED_BYTES (or one element) each. */
enum { OFL_SELECTED_BYTES = 256 << 10 };
struct ofl_selection {
    struct ofl_buffer view; /* what the pieces are pieces of: the buffer, or all its bytes as one column */
    struct ofl_piece *piece;
    int64_t count, most;
};

/* Adds the elements of which a byte lies from `begin` to `end` - 1, and perhaps others of their columns.  Runs are
 * given in ascending order.  False for want of memory. */
bool ofl_selection_add(struct ofl_selection *selection, uintptr_t begin, uintptr_t end);

/* An empty selection; ofl_selection_free gives its memory back. */
struct ofl_selection ofl_selection_of(const struct ofl_buffer *buffer);
void ofl_selection_free(struct ofl_selection *selection);

size_t ofl_piece_bytes(const struct ofl_buffer *buffer, const struct ofl_piece *piece);

/* Element (row, column) of a buffer. */
char *ofl_element(const struct ofl_buffer *buffer, int64_t row, int64_t column);

/* The rows of a column of a piece that its region stores: *first to *end - 1. */
void ofl_stored_rows(const struct ofl_buffer *buffer, const struct ofl_piece *piece, int64_t column, int64_t *first,
                     int64_t *end);

/* Copies what is stored of a piece to compact memory with `pitch` bytes from one column to the next, and back; `pack`
 * where the device is next to read it.  Nothing else is read or written on the buffer's side. */
void ofl_piece_gather(const struct ofl_buffer *buffer, const struct ofl_piece *piece, char *to, size_t pitch);
void ofl_piece_pack(const struct ofl_buffer *buffer, const struct ofl_piece *piece, char *to, size_t pitch);
void ofl_piece_scatter(const struct ofl_buffer *buffer, const struct ofl_piece *piece, const char *from, size_t pitch);

/* Makes the pages behind a piece that is about to be written exist: at once, which costs less than a fault each. */
void ofl_piece_populate(const struct ofl_buffer *buffer, const struct ofl_piece *piece);
#endif
