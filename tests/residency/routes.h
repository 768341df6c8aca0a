/* The ways by which memory of a program changes, for the test that nothing stale is ever used. */
#ifndef OFL_TESTS_RESIDENCY_ROUTES_H
#define OFL_TESTS_RESIDENCY_ROUTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
    KIND_PRIVATE,      /* anonymous mapping */
    KIND_HUGE,         /* the same, of huge pages where there are any */
    KIND_HEAP,         /* malloc */
    KIND_MEMFD,        /* shared mapping of a memfd, with a second mapping */
    KIND_FILE_PRIVATE, /* private mapping of a file */
    KIND_FILE_SHARED,
    KIND_PROCESSES, /* anonymous, shared with the helper process */
    KIND_COUNT
};

/* An area of memory in which operands lie. */
struct area {
    enum kind kind;
    unsigned char *memory; /* all of it readable and writable */
    size_t bytes;          /* whole pages */
    unsigned char *alias;  /* the same memory at another address, or NULL */
    int file;              /* behind it, or -1 */
};

struct random {
    uint64_t state;
};

uint64_t draw(struct random *random, uint64_t below);

/* Ends the test where the machine lacks something that it must have. */
void check(bool condition, const char *what);

void area_make(struct area *area, enum kind kind, struct random *random);
void area_free(struct area *area);

/* Writes small whole numbers into a stretch of doubles of the area, by some route; `route` names it.  The area may lie
 * elsewhere afterwards. */
void change(struct area *area, struct random *random, const char **route);

/* Starts the process that writes into this one's memory; before any thread, with the areas made. */
void helper_start(void);
void helper_end(void);

/* How often each route was taken, on standard output. */
void routes_print(void);
#endif
