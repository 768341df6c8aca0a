/* Packing bytes that repeat themselves, such as programs' texts.
 *
 * The packed form is a header of OFL_PACK_HEADER bytes (a mark, and the size of what was packed) and a block in the
 * format of LZ4: sequences of literal bytes and copies of bytes up to 64 KB before. */
#ifndef OFL_BASE_PACK_H
#define OFL_BASE_PACK_H
#include <stdbool.h>
#include <stddef.h>

enum { OFL_PACK_HEADER = 16 };

/* Room that ofl_pack needs for so many bytes. */
size_t ofl_pack_room(size_t bytes);

/* Packs; returns the packed size. */
size_t ofl_pack(const void *from, size_t bytes, void *to);

/* Whether the bytes begin with the header of something packed; then *size is that of what was packed. */
bool ofl_is_packed(const void *packed, size_t bytes, size_t *size);

/* Unpacks into `size` bytes.  False if what is packed is damaged; nothing outside of `to` is written even then. */
bool ofl_unpack(const void *packed, size_t bytes, void *to, size_t size);

/* Bytes as a text of letters, digits, + and /, six bits each.  `to` has room for (4*bytes + 2)/3 characters; returns
 * their number. */
size_t ofl_encode64(const void *from, size_t bytes, char *to);

/* The bytes of a text of `length` characters: 3*length/4 of them.  False if it has other characters. */
bool ofl_decode64(const char *from, size_t length, void *to);
#endif
