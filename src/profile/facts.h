/* What machine this is: the key of its profile and the properties behind the built-in estimate.
 *
 * Read from /proc and /sys with plain system calls; nothing here loads a driver or a library, so it may
 * run inside somebody else's program before any device is started.  What cannot be read stays
 * unknown. */
#ifndef OFL_PROFILE_FACTS_H
#define OFL_PROFILE_FACTS_H
#include "model/estimate.h"
#include "model/profile.h"

/* CPU model and the number of cores that are online.  With `gpu`, also the name of the first NVIDIA GPU and
 * the driver's version, as the kernel driver tells them.  The library stays empty: the caller knows it. */
void ofl_facts_key(bool gpu, struct ofl_profile_key *out);

/* Cores that this process may use, frequency, vector width. */
void ofl_facts_cpu(struct ofl_cpu_properties *out);
#endif
