/* Copying operands between the program's memory and the device.
 *
 * The program's side has a leading dimension and perhaps only a triangle; the
 * device's copy is compact (leading dimension = rows), so that gaps, which may be
 * huge address ranges without memory behind them, cost nothing.  A triangle is
 * copied in panels of columns: about half of the bytes of the square, and what is
 * copied besides lies between elements that are stored.  Writing to the program's
 * memory is always exact. */
#include "device/transfer.h"

#include <string.h>

enum { panel_columns = 256, short_column_bytes = 2048 };

/* A rectangle of an operand: rows row..row+rows-1 of columns column..column+columns-1. */
struct panel {
    int64_t row, column, rows, columns;
};

/* The first panel of an operand (column -1 before it), the next one; false after the last. */
static bool next_panel(const struct ofl_buffer *operand, struct panel *panel)
{
    int64_t column = panel->column < 0 ? 0 : panel->column + panel->columns;
    if (column >= operand->columns) {
        return false;
    }
    panel->column = column;
    panel->columns = operand->columns - column;
    panel->row = 0;
    panel->rows = operand->rows;
    if (operand->region != OFL_GENERAL && panel->columns > panel_columns) {
        panel->columns = panel_columns;
    }
    if (operand->region == OFL_UPPER && column + panel->columns < operand->rows) {
        panel->rows = column + panel->columns;
    }
    if (operand->region == OFL_LOWER) {
        panel->row = column < operand->rows ? column : operand->rows;
        panel->rows = operand->rows - panel->row;
    }
    return true;
}

static char *element(const struct ofl_buffer *operand, int64_t row, int64_t column)
{
    return (char *)operand->address + ((size_t)column * (size_t)operand->ld + (size_t)row) * operand->element_size;
}

/* The address of an element of a compact copy. */
static size_t compact_offset(const struct ofl_buffer *operand, int64_t row, int64_t column)
{
    return ((size_t)column * (size_t)operand->rows + (size_t)row) * operand->element_size;
}

static bool is_contiguous(const struct ofl_buffer *operand, const struct panel *panel)
{
    return panel->columns == 1 || (panel->rows == operand->rows && operand->ld == operand->rows);
}

bool ofl_operand_is_packed(const struct ofl_buffer *operand)
{
    return operand->columns > 1 && operand->ld != operand->rows &&
           (uint64_t)operand->rows * operand->element_size < short_column_bytes;
}

/* Packs columns of an operand in chunks, each a contiguous copy. */
static enum ofl_reason pack_in(const struct ofl_started *started, const struct ofl_buffer *operand,
                               const struct panel *panel, char *device, char *pack)
{
    size_t width = (size_t)panel->rows * operand->element_size;
    int64_t chunk = (int64_t)(OFL_PACK_BYTES / width), end = panel->column + panel->columns;
    enum ofl_reason reason = OFL_OK;
    for (int64_t first = panel->column; first < end && reason == OFL_OK; first += chunk) {
        int64_t columns = end - first < chunk ? end - first : chunk;
        for (int64_t j = 0; j < columns; j++) {
            memcpy(pack + (size_t)j * width, element(operand, panel->row, first + j), width);
        }
        reason = started->backend->copy_in(
            started->device, started->stream, device + compact_offset(operand, panel->row, first),
            (size_t)operand->rows * operand->element_size, pack, width, width, (size_t)columns);
        if (reason == OFL_OK) { /* before the chunk is filled again */
            reason = started->backend->stream_wait(started->device, started->stream);
        }
    }
    return reason;
}

enum ofl_reason ofl_copy_operand_in(const struct ofl_started *started, const struct ofl_buffer *operand, void *device,
                                    void *pack, uint64_t *bytes)
{
    const struct ofl_backend *backend = started->backend;
    size_t pitch = (size_t)operand->ld * operand->element_size;
    size_t compact_pitch = (size_t)operand->rows * operand->element_size;
    struct panel panel = {.column = -1};
    enum ofl_reason reason = OFL_OK;
    while (reason == OFL_OK && next_panel(operand, &panel)) {
        size_t width = (size_t)panel.rows * operand->element_size;
        char *to = (char *)device + compact_offset(operand, panel.row, panel.column);
        const char *from = element(operand, panel.row, panel.column);
        if (panel.rows == 0) {
            continue;
        }
        if (is_contiguous(operand, &panel)) {
            size_t length = width * (size_t)panel.columns;
            reason = backend->copy_in(started->device, started->stream, to, length, from, length, length, 1);
        } else if (ofl_operand_is_packed(operand)) {
            reason = pack_in(started, operand, &panel, device, pack);
        } else {
            reason = backend->copy_in(started->device, started->stream, to, compact_pitch, from, pitch, width,
                                      (size_t)panel.columns);
        }
        *bytes += width * (uint64_t)panel.columns;
    }
    return reason;
}

enum ofl_reason ofl_copy_operand_out_staged(const struct ofl_started *started, const struct ofl_buffer *operand,
                                            const void *device, void *staging, uint64_t *bytes)
{
    size_t pitch = (size_t)operand->rows * operand->element_size;
    struct panel panel = {.column = -1};
    enum ofl_reason reason = OFL_OK;
    while (reason == OFL_OK && next_panel(operand, &panel)) {
        size_t offset = compact_offset(operand, panel.row, panel.column);
        size_t width = (size_t)panel.rows * operand->element_size, columns = (size_t)panel.columns;
        if (width == 0) {
            continue;
        }
        *bytes += width * columns;
        if (panel.rows == operand->rows) {
            width *= columns;
            columns = 1;
        }
        reason = started->backend->copy_out(started->device, started->stream, (char *)staging + offset,
                                            columns == 1 ? width : pitch, (const char *)device + offset,
                                            columns == 1 ? width : pitch, width, columns);
    }
    return reason;
}

void ofl_commit_operand(const struct ofl_buffer *operand, bool unit_diagonal, const void *staging)
{
    if (operand->region == OFL_GENERAL && operand->ld == operand->rows) {
        memcpy(operand->address, staging, compact_offset(operand, 0, operand->columns));
        return;
    }
    for (int64_t j = 0; j < operand->columns; j++) {
        int64_t first = operand->region == OFL_LOWER ? j + unit_diagonal : 0;
        int64_t above = j + 1 - unit_diagonal;
        int64_t end = operand->region == OFL_UPPER && above < operand->rows ? above : operand->rows;
        if (first < end) {
            memcpy(element(operand, first, j), (const char *)staging + compact_offset(operand, first, j),
                   (size_t)(end - first) * operand->element_size);
        }
    }
}

enum ofl_reason ofl_copy_operand_out(const struct ofl_started *started, const struct ofl_buffer *operand,
                                     const void *device, uint64_t *bytes)
{
    size_t width = (size_t)operand->rows * operand->element_size, columns = (size_t)operand->columns;
    size_t pitch = (size_t)operand->ld * operand->element_size, compact_pitch = width;
    *bytes += width * columns;
    if (columns == 1 || operand->ld == operand->rows) {
        width *= columns;
        columns = 1;
        pitch = compact_pitch = width;
    }
    return started->backend->copy_out(started->device, started->stream, operand->address, pitch, device, compact_pitch,
                                      width, columns);
}
