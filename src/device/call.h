/* What a call says of itself, before anybody looks for memory or a device. */
#ifndef OFL_DEVICE_CALL_H
#define OFL_DEVICE_CALL_H
#include "device/internal.h"

/* Whether the operation is one of LAPACK, with an info. */
bool ofl_call_is_lapack(const struct ofl_call *call);

/* Whether there are no elements, or alpha is zero. */
bool ofl_call_is_empty(const struct ofl_call *call);

/* What happens to operand `i`: whether it is copied in, is a result, and goes through a staging area; *copy_of is an
 * earlier operand with the same content, or -1. */
void ofl_call_transfers(const struct ofl_call *call, int i, bool *read, bool *written, bool *staged, int *copy_of);
#endif
