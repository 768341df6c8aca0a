/* One arena per compilation, and interned names.
 *
 * What the front end allocates lives until the compilation ends and is freed at once.  Memory from the arena is zeroed
 * and aligned for any object.  There is no failure to handle: without memory the compiler cannot go on, so the process
 * ends with a message and exit code 1.
 *
 * A name is interned once per arena in lower case: two occurrences are the same name if and only if their pointers
 * are equal. */
#ifndef OFL_FORTRAN_ARENA_H
#define OFL_FORTRAN_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct ofl_arena;

struct ofl_name {
    uint32_t hash;
    uint32_t length;
    char text[]; /* lower case, NUL-terminated */
};

struct ofl_arena *ofl_arena_new(void);
void ofl_arena_free(struct ofl_arena *arena);
void *ofl_arena_alloc(struct ofl_arena *arena, size_t size);
char *ofl_arena_text(struct ofl_arena *arena, const char *text, size_t length); /* a NUL-terminated copy */
char *ofl_arena_format(struct ofl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t ofl_arena_bytes(const struct ofl_arena *arena); /* what it holds, for bounds and figures */

#define OFL_NEW(arena, type) ((type *)ofl_arena_alloc((arena), sizeof(type)))

/* The name spelled by `length` bytes in any case. */
const struct ofl_name *ofl_name_of(struct ofl_arena *arena, const char *text, size_t length);
#endif
