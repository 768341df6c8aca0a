/* The iteration space: how many iterations, and how many partial results of reductions; see internal.h. */
#include "internal.h"

/* Enough threads for every device there is; each sums what is left of its residue class. */
static const int64_t most_partials = (int64_t)1 << 18;
static const uint64_t most_bytes = (uint64_t)256 << 20;

int64_t ofl_loop_count(int64_t first, int64_t last, int64_t step)
{
    __int128 count = ((__int128)last - first + step) / step;
    return count > INT64_MAX ? -1 : count < 0 ? 0 : (int64_t)count;
}

int64_t ofl_loop_partials(int64_t trips, uint64_t bytes)
{
    int64_t most = bytes == 0 ? most_partials : (int64_t)(most_bytes / bytes);
    most = most < 1 ? 1 : most < most_partials ? most : most_partials;
    return trips < most ? trips : most;
}

int64_t ofl_loop_fewer_partials(int64_t count)
{
    enum { at_once = 64 };
    return (count + at_once - 1) / at_once;
}
