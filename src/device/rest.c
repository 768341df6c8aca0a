/* Waiting for what another thread will do soon; see rest.h. */
#include "device/rest.h"
#include "base/clock.h"

#include <time.h>

enum { looks = 16 };
/* Seconds. */
static const double awake = 20e-6, shortest_nap = 30e-6;

void ofl_relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void ofl_rest_begin(struct ofl_rest *rest)
{
    rest->since = ofl_clock();
}

double ofl_rest_a_little(const struct ofl_rest *rest, double longest_nap)
{
    double waited = ofl_clock() - rest->since;
    if (waited < awake) {
        for (int i = 0; i < looks; i++) {
            ofl_relax();
        }
        return waited;
    }
    double nap = waited / 8;
    nap = nap < longest_nap ? nap : longest_nap;
    nap = nap > shortest_nap ? nap : shortest_nap;
    struct timespec time = {0, (long)(1e9 * nap)};
    nanosleep(&time, NULL);
    return waited + nap;
}
