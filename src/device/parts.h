/* What the pipeline does with a part on the host's side: cutting, packing, keeping what was there. */
#ifndef OFL_DEVICE_PARTS_H
#define OFL_DEVICE_PARTS_H
#include "device/pipeline.h"

/* A piece whose numbers in host memory are kept. */
struct ofl_committed {
    struct ofl_buffer host;
    struct ofl_piece piece;
    const char *kept; /* the piece's */
    size_t pitch;
};

/* How the part is cut into pieces of so many bytes: where only some of it is copied these are its pieces; and
 * rectangles that the device copies to page-locked memory are not cut. */
struct ofl_cut ofl_part_cut(const struct ofl_part *part, size_t bytes);
size_t ofl_part_piece_bytes(const struct ofl_part *part, size_t bytes);
struct ofl_piece ofl_part_piece(const struct ofl_part *part, const struct ofl_cut *cut, int64_t index);

/* What has to be copied of it; triangles count as their rectangles. */
double ofl_part_bytes(const struct ofl_part *part);

/* The number of its pieces that store something; adds their bytes to *bytes. */
int64_t ofl_part_count(const struct ofl_part *part, size_t piece_bytes, uint64_t *bytes);

/* Bytes that threads copy in a run, roughly. */
size_t ofl_pipeline_bytes(const struct ofl_pipeline *pipeline);

/* Packs a piece to columns `pitch` bytes apart, past the processor's caches or not, and looks at it where that is
 * wanted. False where a number is too large. */
bool ofl_part_pack(const struct ofl_part *part, const struct ofl_piece *piece, char *to, size_t pitch,
                   bool past_caches);
/* Looks alone, where a piece is not packed. */
bool ofl_part_look(const struct ofl_part *part, const struct ofl_piece *piece);

/* Keeps what a piece has in host memory. */
struct ofl_committed ofl_part_keep(const struct ofl_part *part, const struct ofl_piece *piece);
#endif
