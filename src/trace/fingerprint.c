/* Fingerprints of operands, with xxHash. */
#include "trace/fingerprint.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { LARGEST_ELEMENT = 16 };

uint64_t ofl_fingerprint(const struct ofl_buffer *buffer)
{
    char sample[OFL_FINGERPRINT_SAMPLES * LARGEST_ELEMENT];
    size_t element = buffer->element_size, used = 0;
    if (buffer->address == NULL || buffer->rows <= 0 || buffer->columns <= 0 || element == 0 ||
        element > LARGEST_ELEMENT) {
        return 0;
    }
    int64_t rows = buffer->rows, columns = buffer->columns;
    /* A triangle of a wide or tall rectangle ends where one of its sides does. */
    if (buffer->region == OFL_LOWER && columns > rows) {
        columns = rows;
    }
    for (int i = 0; i < OFL_FINGERPRINT_SAMPLES; i++) {
        /* Along a diagonal of the rectangle, so that no row or column is sampled twice. */
        int64_t column = (int64_t)((double)(columns - 1) * i / (OFL_FINGERPRINT_SAMPLES - 1));
        int64_t row =
            (int64_t)((double)(rows - 1) * ((i * 3) % OFL_FINGERPRINT_SAMPLES) / (OFL_FINGERPRINT_SAMPLES - 1));
        if (i == OFL_FINGERPRINT_SAMPLES - 1) {
            row = buffer->region == OFL_UPPER && columns - 1 < rows - 1 ? columns - 1 : rows - 1;
        } else if (buffer->region == OFL_UPPER && row > column) {
            row = row % (column + 1);
        } else if (buffer->region == OFL_LOWER && row < column) {
            row = column + row % (rows - column);
        }
        const char *at = (const char *)buffer->address + (size_t)(row + column * buffer->ld) * element;
        memcpy(sample + used, at, element);
        used += element;
    }
    uint64_t hash = XXH3_64bits(sample, used);
    return hash != 0 ? hash : 1;
}
