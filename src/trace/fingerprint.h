/* A cheap fingerprint of an operand's content: a hash of a few sampled elements.
 *
 * Equal content gives equal fingerprints; different content nearly always different ones, if a sampled
 * element changed.  So it can suggest that an operand repeats and never prove it. */
#ifndef OFL_TRACE_FINGERPRINT_H
#define OFL_TRACE_FINGERPRINT_H
#include <gpu-offload/device.h>

enum { OFL_FINGERPRINT_SAMPLES = 8 };

/* Reads at most OFL_FINGERPRINT_SAMPLES elements, stored ones only, among them the first and the last.  0 for
 * an empty buffer, never 0 otherwise. */
uint64_t ofl_fingerprint(const struct ofl_buffer *buffer);
#endif
