/* What the files of src/device/beyond*.c share. */
#ifndef OFL_DEVICE_BEYOND_PRIVATE_H
#define OFL_DEVICE_BEYOND_PRIVATE_H
#include "device/beyond.h"

enum { OFL_BEYOND_PLACES = 2 }; /* for panels that pass by */

/* Rows or columns begin to end - 1. */
struct ofl_range {
    int64_t begin, end;
};

struct ofl_beyond_work {
    const struct ofl_beyond *beyond;
    const struct ofl_call *call;
    const struct ofl_buffer *matrix;
    bool lu, upper; /* upper: panels are block rows */
    int64_t length; /* of a panel, and the longer side of what is stored */
    int64_t side;   /* what the panels cut */
    int64_t steps;  /* pivots in all, LU */
    int64_t width;
    /* Device memory. */
    char *panel, *place[OFL_BEYOND_PLACES], *scratch;
    int64_t *device_pivots;
    int32_t *device_info;
    size_t scratch_bytes, host_scratch_bytes;
    /* Host memory. */
    struct ofl_buffer factor;
    int64_t *pivots, *rows; /* rows: where the rows of the matrix, as they are now, came from */
    int32_t *info;
    void *host_scratch;
    struct ofl_sight sight;
    bool looks;
    uint64_t bytes_in, bytes_out; /* that were moved */
};

static inline int64_t ofl_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The rows or columns of a panel. */
struct ofl_range ofl_beyond_panel(const struct ofl_beyond_work *work, int index);

/* Fills the steps of a panel; their number.  `work` has addresses, which need not be there yet when only sizes matter.
 */
int ofl_beyond_steps(struct ofl_beyond_work *work, int index);
#endif
