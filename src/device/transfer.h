/* Copying operands between the program's memory and the device. */
#ifndef OFL_DEVICE_TRANSFER_H
#define OFL_DEVICE_TRANSFER_H
#include "device/internal.h"

#include <stddef.h>

/* Device copies of operands are compact: their leading dimension is the number of rows. */

/* Room in host memory that packing needs, see ofl_operand_is_packed. */
enum { OFL_PACK_BYTES = 4 << 20 };

/* Columns so short and far apart that a device's strided copy would be slow: they go through a packed copy
 * in host memory. */
bool ofl_operand_is_packed(const struct ofl_buffer *operand);

/* Copies what the operand stores, and of the other triangle at most what lies beside it in small blocks, to
 * compact device memory.  `pack` has OFL_PACK_BYTES if the operand is packed.  Adds to *bytes. */
enum ofl_reason ofl_copy_operand_in(const struct ofl_started *started, const struct ofl_buffer *operand, void *device,
                                    void *pack, uint64_t *bytes);

/* Copies a compact device copy to compact host memory, the staging area... */
enum ofl_reason ofl_copy_operand_out_staged(const struct ofl_started *started, const struct ofl_buffer *operand,
                                            const void *device, void *staging, uint64_t *bytes);
/* ... and that to the operand's own place: exactly the elements that it stores, a triangle's diagonal only where
 * it is not a unit one.  Cannot fail. */
void ofl_commit_operand(const struct ofl_buffer *operand, bool unit_diagonal, const void *staging);

/* Copies a compact device copy to the operand's own place at once.  Region OFL_GENERAL only. */
enum ofl_reason ofl_copy_operand_out(const struct ofl_started *started, const struct ofl_buffer *operand,
                                     const void *device, uint64_t *bytes);
#endif
