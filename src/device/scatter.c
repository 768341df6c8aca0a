/* Copies within host memory by several threads: results that have arrived in the staging area go to their place.
 *
 * Plain memory copies, which cannot fail; what is not stored is not touched.  Entry point: ofl_host_scatter. */
#include "base/settings.h"
#include "device/pieces.h"
#include "device/pipeline.h"
#include "device/pool.h"

#include <stdatomic.h>

struct scatter {
    const struct ofl_buffer *to;
    const char *from;
    size_t pitch;
    struct ofl_cut cut;
    _Atomic int64_t next;
};

static bool scatter_piece(void *argument)
{
    struct scatter *scatter = argument;
    const struct ofl_buffer *to = scatter->to;
    int64_t index = atomic_fetch_add(&scatter->next, 1);
    if (index >= scatter->cut.count) {
        return false;
    }
    struct ofl_piece piece = ofl_piece_at(to, &scatter->cut, index);
    if (piece.rows > 0) {
        ofl_piece_scatter(to, &piece,
                          scatter->from + (size_t)piece.column * scatter->pitch + (size_t)piece.row * to->element_size,
                          scatter->pitch);
    }
    return true;
}

void ofl_host_scatter(const struct ofl_buffer *to, const void *from, size_t pitch)
{
    double bytes = (double)to->rows * (double)to->columns * (double)to->element_size;
    int helpers = ofl_pool_helpers_for(bytes < 1e18 ? (size_t)bytes : (size_t)1e18);
    struct scatter scatter = {
        .to = to,
        .from = from,
        .pitch = pitch,
        .cut = ofl_cut_buffer(to, ofl_settings()->small_pieces ? OFL_TEST_PIECE_BYTES : OFL_BIT_BYTES)};
    ofl_pool_share(scatter_piece, &scatter, helpers);
}
