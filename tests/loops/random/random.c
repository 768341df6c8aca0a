/* Random numbers: a stream for each loop, so that a loop is the same whichever others are in its program. */
#include "generate.h"

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void seed_with(uint64_t seed, uint64_t stream)
{
    state = seed;
    state = next() ^ stream; /* neighbouring streams must not be neighbours in the sequence */
    state = next();
}

int below(int limit)
{
    return (int)(next() % (uint64_t)limit);
}

bool chance(int percent)
{
    return below(100) < percent;
}
