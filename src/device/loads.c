/* Pieces in page-locked slots; see loads.h.
 *
 * A device copies large pieces at a higher rate than small ones; a thread that copies alone keeps a large
 * piece waiting.  So a piece is cut into bits, which all threads take from it at the same time.  There is no lock:
 * waking a thread that waits for one costs more than a bit. */
#include "device/loads.h"

enum { count_bits = 32 };
static const uint64_t count_mask = ((uint64_t)1 << count_bits) - 1;

void ofl_loads_fail(struct ofl_loads *loads, enum ofl_reason reason)
{
    int none = OFL_OK;
    if (reason != OFL_OK) {
        atomic_compare_exchange_strong(&loads->reason, &none, (int)reason);
    }
}

bool ofl_loads_are_good(const struct ofl_loads *loads)
{
    return atomic_load_explicit(&loads->reason, memory_order_relaxed) == OFL_OK;
}

/* The piece as a rectangle of its own, of which everything is cut. */
static struct ofl_buffer rectangle_of(const struct ofl_part *part, const struct ofl_piece *piece)
{
    struct ofl_buffer rectangle = part->host;
    rectangle.rows = piece->rows;
    rectangle.columns = piece->columns;
    rectangle.region = OFL_GENERAL;
    return rectangle;
}

struct ofl_cut ofl_bits_of(const struct ofl_loads *loads, const struct ofl_part *part, const struct ofl_piece *piece)
{
    struct ofl_buffer rectangle = rectangle_of(part, piece);
    return ofl_cut_buffer(&rectangle, loads->bit_bytes);
}

void ofl_load_open(const struct ofl_loads *loads, struct ofl_load *load)
{
    load->bits = (struct ofl_cut){.count = 0};
    if (load->slot->address != NULL) {
        load->bits = ofl_bits_of(loads, load->errand.part, &load->errand.piece);
    }
    uint64_t times = atomic_load_explicit(&load->left, memory_order_relaxed) >> count_bits;
    atomic_store_explicit(&load->unfinished, load->bits.count, memory_order_relaxed);
    atomic_store_explicit(&load->left, (times + 1) << count_bits | (uint64_t)load->bits.count, memory_order_release);
}

bool ofl_load_is_done(const struct ofl_load *load)
{
    return atomic_load_explicit(&load->unfinished, memory_order_acquire) == 0;
}

/* The number of a bit that is now the caller's, from 0; -1 where there is none. */
static int64_t take(struct ofl_load *load)
{
    uint64_t seen = atomic_load_explicit(&load->left, memory_order_relaxed);
    while ((seen & count_mask) > 0) {
        if (atomic_compare_exchange_weak_explicit(&load->left, &seen, seen - 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
            return load->bits.count - (int64_t)(seen & count_mask);
        }
    }
    return -1;
}

void ofl_loads_keep(struct ofl_loads *loads, const struct ofl_part *part, const struct ofl_piece *piece)
{
    if (part->undo != NULL) {
        struct ofl_committed kept = ofl_part_keep(part, piece);
        loads->committed[atomic_fetch_add(&loads->committed_count, 1)] = kept;
    }
}

static void move(struct ofl_loads *loads, const struct ofl_load *load, int64_t index)
{
    const struct ofl_part *part = load->errand.part;
    const struct ofl_piece *piece = &load->errand.piece;
    struct ofl_buffer rectangle = rectangle_of(part, piece);
    struct ofl_piece bit = ofl_piece_at(&rectangle, &load->bits, index);
    size_t size = part->host.element_size, pitch = (size_t)piece->rows * size;
    char *place = load->slot->address + (size_t)bit.column * pitch + (size_t)bit.row * size;
    bit.row += piece->row;
    bit.column += piece->column;
    ofl_loads_keep(loads, part, &bit);
    if (!load->in) {
        ofl_piece_populate(&part->host, &bit);
        ofl_piece_scatter(&part->host, &bit, place, pitch);
    } else if (!ofl_part_pack(part, &bit, place, pitch, loads->past_caches)) {
        ofl_loads_fail(loads, OFL_EXCEPTIONAL_VALUES);
    }
}

static bool work_on(struct ofl_loads *loads, struct ofl_load *ring, unsigned first)
{
    for (unsigned i = 0; i < OFL_SLOTS; i++) {
        struct ofl_load *load = &ring[(first + i) % OFL_SLOTS];
        int64_t bit = take(load);
        if (bit >= 0) {
            move(loads, load, bit);
            atomic_fetch_sub_explicit(&load->unfinished, 1, memory_order_release);
            return true;
        }
    }
    return false;
}

bool ofl_loads_work(struct ofl_loads *loads)
{
    return ofl_loads_are_good(loads) &&
           (work_on(loads, loads->out, atomic_load_explicit(&loads->first_out, memory_order_relaxed)) ||
            work_on(loads, loads->in, atomic_load_explicit(&loads->first_in, memory_order_relaxed)));
}
