/* Token-level mutation of Fortran texts; see mutate.c. */
#ifndef OFL_FUZZ_MUTATE_H
#define OFL_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Changes the text in place; returns its new size, at most `most`. */
size_t ofl_mutate_tokens(char *text, size_t size, size_t most, unsigned seed);
#endif
