/* The arena: blocks of growing size, handed out from the front; and the table of interned names.
 *
 * What must hold: memory is zeroed (blocks come from calloc and are never reused), aligned to 16 bytes.  A failed
 * allocation ends the process: a compiler without memory has nothing to fall back to. */
#include "fortran/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4 * 1024, LARGEST_BLOCK = 4 * 1024 * 1024, ALIGNMENT = 16, FIRST_TABLE = 1024 };

struct block {
    struct block *previous;
    char *bytes;
};

struct ofl_arena {
    struct block *blocks;
    char *next, *limit;
    size_t block_size;
    size_t total;
    const struct ofl_name **names; /* open addressing; a power of two; none before the first name */
    size_t name_count, name_capacity;
};

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("gpu-offload: error: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

struct ofl_arena *ofl_arena_new(void)
{
    struct ofl_arena *arena = checked(calloc(1, sizeof *arena));
    arena->block_size = FIRST_BLOCK;
    return arena;
}

void ofl_arena_free(struct ofl_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    for (struct block *block = arena->blocks, *previous; block != NULL; block = previous) {
        previous = block->previous;
        free(block->bytes);
        free(block);
    }
    free(arena->names);
    free(arena);
}

static char *new_block(struct ofl_arena *arena, size_t size)
{
    struct block *block = checked(malloc(sizeof *block));
    block->bytes = checked(calloc(1, size));
    block->previous = arena->blocks;
    arena->blocks = block;
    arena->total += size;
    return block->bytes;
}

void *ofl_arena_alloc(struct ofl_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) {
        checked(NULL);
    }
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > (size_t)(arena->limit - arena->next)) {
        if (size > LARGEST_BLOCK / 4) { /* a block of its own; the current one stays in use */
            return new_block(arena, size);
        }
        arena->next = new_block(arena, arena->block_size);
        arena->limit = arena->next + arena->block_size;
        if (arena->block_size < LARGEST_BLOCK) {
            arena->block_size *= 2;
        }
        if (size > (size_t)(arena->limit - arena->next)) {
            return new_block(arena, size);
        }
    }
    void *memory = arena->next;
    arena->next += size;
    return memory;
}

char *ofl_arena_text(struct ofl_arena *arena, const char *text, size_t length)
{
    char *copy = ofl_arena_alloc(arena, length + 1);
    if (length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *ofl_arena_format(struct ofl_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        checked(NULL);
    }
    char *copy = ofl_arena_text(arena, text, (size_t)length);
    free(text);
    return copy;
}

size_t ofl_arena_bytes(const struct ofl_arena *arena)
{
    return arena->total + arena->name_capacity * sizeof(void *);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)lower(text[i])) * 16777619u;
    }
    return hash;
}

static void grow_names(struct ofl_arena *arena)
{
    size_t capacity = arena->name_capacity == 0 ? FIRST_TABLE : arena->name_capacity * 2;
    const struct ofl_name **names = checked(calloc(capacity, sizeof(void *)));
    for (size_t i = 0; i < arena->name_capacity; i++) {
        if (arena->names[i] != NULL) {
            size_t at = arena->names[i]->hash & (capacity - 1);
            while (names[at] != NULL) {
                at = (at + 1) & (capacity - 1);
            }
            names[at] = arena->names[i];
        }
    }
    free(arena->names);
    arena->names = names;
    arena->name_capacity = capacity;
}

static int spells(const struct ofl_name *name, const char *text, size_t length)
{
    if (name->length != length) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        if (name->text[i] != lower(text[i])) {
            return 0;
        }
    }
    return 1;
}

const struct ofl_name *ofl_name_of(struct ofl_arena *arena, const char *text, size_t length)
{
    if (arena->name_count * 2 >= arena->name_capacity) {
        grow_names(arena);
    }
    uint32_t hash = hash_of(text, length);
    size_t at = hash & (arena->name_capacity - 1);
    while (arena->names[at] != NULL) {
        if (arena->names[at]->hash == hash && spells(arena->names[at], text, length)) {
            return arena->names[at];
        }
        at = (at + 1) & (arena->name_capacity - 1);
    }
    struct ofl_name *name = ofl_arena_alloc(arena, sizeof *name + length + 1);
    name->hash = hash;
    name->length = (uint32_t)length;
    for (size_t i = 0; i < length; i++) {
        name->text[i] = lower(text[i]);
    }
    arena->names[at] = name;
    arena->name_count++;
    return name;
}
