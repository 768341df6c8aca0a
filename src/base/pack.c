/* Packing, and bytes as texts; see pack.h.
 *
 * The search for repetitions is the simplest one: the last place where the next four bytes were seen, from a table by
 * their hash. */
#include "base/pack.h"

#include <stdint.h>
#include <string.h>

enum { shortest = 4, farthest = 65535, table_bits = 15, tail = 12 };

static const unsigned char mark[8] = {'O', 'F', 'L', 'P', 'A', 'C', 'K', '1'};

struct writer {
    unsigned char *at;
};

size_t ofl_pack_room(size_t bytes)
{
    return OFL_PACK_HEADER + bytes + bytes / 255 + 16;
}

/* The part of a length that does not fit into its four bits. */
static void put_length(struct writer *writer, size_t length)
{
    for (; length >= 255; length -= 255) {
        *writer->at++ = 255;
    }
    *writer->at++ = (unsigned char)length;
}

/* Literals, and a copy of `length` bytes from `distance` before; none if `length` is 0. */
static void put_sequence(struct writer *writer, const unsigned char *literals, size_t count, size_t distance,
                         size_t length)
{
    size_t more = length == 0 ? 0 : length - shortest;
    *writer->at++ = (unsigned char)((count < 15 ? count : 15) << 4 | (more < 15 ? more : 15));
    if (count >= 15) {
        put_length(writer, count - 15);
    }
    memcpy(writer->at, literals, count);
    writer->at += count;
    if (length == 0) {
        return;
    }
    *writer->at++ = (unsigned char)(distance & 255);
    *writer->at++ = (unsigned char)(distance >> 8);
    if (more >= 15) {
        put_length(writer, more - 15);
    }
}

static uint32_t four_bytes(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

size_t ofl_pack(const void *source, size_t bytes, void *to)
{
    const unsigned char *from = source;
    static const uint32_t factor = 2654435761u;
    uint32_t table[1 << table_bits]; /* place + 1; 0: none */
    struct writer writer = {(unsigned char *)to + OFL_PACK_HEADER};
    uint64_t size = bytes;
    size_t place = 0, literals = 0;
    memset(table, 0, sizeof table);
    memcpy(to, mark, sizeof mark);
    memcpy((unsigned char *)to + sizeof mark, &size, sizeof size);
    while (bytes > tail && place < bytes - tail && place < UINT32_MAX) {
        uint32_t *entry = &table[four_bytes(from + place) * factor >> (32 - table_bits)];
        size_t before = *entry;
        *entry = (uint32_t)place + 1;
        if (before == 0 || place - (before - 1) > farthest ||
            four_bytes(from + before - 1) != four_bytes(from + place)) {
            place++;
            continue;
        }
        size_t length = shortest;
        while (place + length < bytes - tail / 2 && from[before - 1 + length] == from[place + length]) {
            length++;
        }
        put_sequence(&writer, from + literals, place - literals, place - (before - 1), length);
        place += length;
        literals = place;
    }
    put_sequence(&writer, from + literals, bytes - literals, 0, 0);
    return (size_t)(writer.at - (unsigned char *)to);
}

bool ofl_is_packed(const void *packed, size_t bytes, size_t *size)
{
    uint64_t stored;
    if (bytes < OFL_PACK_HEADER || memcmp(packed, mark, sizeof mark) != 0) {
        return false;
    }
    memcpy(&stored, (const unsigned char *)packed + sizeof mark, sizeof stored);
    *size = (size_t)stored;
    return true;
}

struct reader {
    const unsigned char *at, *end;
};

/* A length of which four bits were read.  False at the end of the bytes. */
static bool get_length(struct reader *reader, size_t *length)
{
    if (*length < 15) {
        return true;
    }
    unsigned char byte;
    do {
        if (reader->at == reader->end) {
            return false;
        }
        byte = *reader->at++;
        *length += byte;
    } while (byte == 255);
    return true;
}

bool ofl_unpack(const void *packed, size_t bytes, void *target, size_t size)
{
    struct reader reader = {(const unsigned char *)packed + OFL_PACK_HEADER, (const unsigned char *)packed + bytes};
    unsigned char *to = target;
    size_t used = 0;
    while (reader.at < reader.end) {
        size_t count = *reader.at >> 4, length = *reader.at & 15;
        reader.at++;
        if (!get_length(&reader, &count) || count > (size_t)(reader.end - reader.at) || count > size - used) {
            return false;
        }
        memcpy(to + used, reader.at, count);
        reader.at += count;
        used += count;
        if (reader.at == reader.end) {
            break; /* the last sequence has no copy */
        }
        if (reader.end - reader.at < 2) {
            return false;
        }
        size_t distance = (size_t)reader.at[0] | (size_t)reader.at[1] << 8;
        reader.at += 2;
        if (!get_length(&reader, &length) || distance == 0 || distance > used || length + shortest > size - used) {
            return false;
        }
        for (size_t i = 0; i < length + shortest; i++, used++) { /* it may overlap what it makes */
            to[used] = to[used - distance];
        }
    }
    return used == size;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t ofl_encode64(const void *source, size_t bytes, char *to)
{
    const unsigned char *from = source;
    uint32_t bits = 0;
    int held = 0;
    size_t length = 0;
    for (size_t i = 0; i < bytes; i++) {
        bits = (bits << 8 | from[i]) & 0xffffff;
        for (held += 8; held >= 6; held -= 6) {
            to[length++] = digits[bits >> (held - 6) & 63];
        }
    }
    if (held > 0) {
        to[length++] = digits[bits << (6 - held) & 63];
    }
    return length;
}

bool ofl_decode64(const char *from, size_t length, void *target)
{
    unsigned char values[256], *to = target;
    uint32_t bits = 0;
    int held = 0;
    memset(values, 255, sizeof values);
    for (unsigned char i = 0; i < 64; i++) {
        values[(unsigned char)digits[i]] = i;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char value = values[(unsigned char)from[i]];
        if (value == 255) {
            return false;
        }
        bits = (bits << 6 | value) & 0xffffff;
        held += 6;
        if (held >= 8) {
            held -= 8;
            *to++ = (unsigned char)(bits >> held);
        }
    }
    return true;
}
