/* What the pipeline does with a part on the host's side; see parts.h. */
#include "device/parts.h"

#include <stdlib.h>

struct ofl_cut ofl_part_cut(const struct ofl_part *part, size_t bytes)
{
    struct ofl_cut cut = {.rows = 0};
    if (part->only == NULL) {
        return ofl_cut_buffer(&part->host, bytes);
    }
    cut.count = part->only->count;
    return cut;
}

size_t ofl_part_piece_bytes(const struct ofl_part *part, size_t bytes)
{
    return part->locked && part->host.region == OFL_GENERAL ? (size_t)INT64_MAX : bytes;
}

struct ofl_piece ofl_part_piece(const struct ofl_part *part, const struct ofl_cut *cut, int64_t index)
{
    return part->only != NULL ? part->only->piece[index] : ofl_piece_at(&part->host, cut, index);
}

double ofl_part_bytes(const struct ofl_part *part)
{
    const struct ofl_buffer *host = &part->host;
    double bytes = 0;
    for (int64_t i = 0; part->only != NULL && i < part->only->count; i++) {
        bytes += (double)ofl_piece_bytes(host, &part->only->piece[i]);
    }
    return part->only != NULL ? bytes : (double)host->rows * (double)host->columns * (double)host->element_size;
}

size_t ofl_pipeline_bytes(const struct ofl_pipeline *pipeline)
{
    double bytes = 0;
    for (int i = 0; i < pipeline->steps; i++) {
        const struct ofl_step *step = &pipeline->step[i];
        for (int j = 0; j < step->ins; j++) {
            bytes += ofl_part_bytes(&step->in[j]);
        }
        for (int j = 0; j < step->outs; j++) {
            bytes += step->out[j].locked ? 0 : ofl_part_bytes(&step->out[j]);
        }
    }
    return bytes < 1e18 ? (size_t)bytes : (size_t)1e18;
}

int64_t ofl_part_count(const struct ofl_part *part, size_t piece_bytes, uint64_t *bytes)
{
    struct ofl_cut cut = ofl_part_cut(part, ofl_part_piece_bytes(part, piece_bytes));
    int64_t count = 0;
    for (int64_t at = 0; at < cut.count; at++) {
        struct ofl_piece piece = ofl_part_piece(part, &cut, at);
        *bytes += ofl_piece_bytes(&part->host, &piece);
        count += piece.rows > 0;
    }
    return count;
}

bool ofl_part_pack(const struct ofl_part *part, const struct ofl_piece *piece, char *to, size_t pitch, bool past_caches)
{
    if (past_caches) {
        ofl_piece_pack(&part->host, piece, to, pitch);
    } else {
        ofl_piece_gather(&part->host, piece, to, pitch);
    }
    return ofl_part_look(part, piece); /* the processor still has it at hand */
}

bool ofl_part_look(const struct ofl_part *part, const struct ofl_piece *piece)
{
    const struct ofl_buffer *host = &part->host;
    return part->sight == NULL ||
           ofl_sight_take(part->sight, ofl_element(host, piece->row, piece->column),
                          (size_t)host->ld * host->element_size, piece->row, piece->rows, piece->columns);
}

struct ofl_committed ofl_part_keep(const struct ofl_part *part, const struct ofl_piece *piece)
{
    char *kept = part->undo + (size_t)piece->column * part->undo_pitch + (size_t)piece->row * part->host.element_size;
    ofl_piece_pack(&part->host, piece, kept, part->undo_pitch); /* mostly nobody looks at it again */
    return (struct ofl_committed){part->host, *piece, kept, part->undo_pitch};
}

void ofl_pipeline_end(struct ofl_pipeline *pipeline, bool success)
{
    for (int64_t i = 0; !success && i < pipeline->committed_count; i++) {
        const struct ofl_committed *done = &pipeline->committed[i];
        ofl_piece_scatter(&done->host, &done->piece, done->kept, done->pitch);
    }
    free(pipeline->committed);
    pipeline->committed = NULL;
    pipeline->committed_count = 0;
}
