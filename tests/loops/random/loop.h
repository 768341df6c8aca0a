/* A random loop: made in loop.c, printed in subroutine.c. */
#ifndef RANDOM_LOOP_H
#define RANDOM_LOOP_H
#include "generate.h"

enum { body_size = 1 << 16 };

struct reduction {
    const char *name, *op;
    enum type type;
    int kind;
};

struct loop {
    struct place place;
    int features, step[most_indices];
    char first[most_indices][48], last[most_indices][48];
    bool typed;
    char mask[text_size];
    const struct reduction *reduce[2];
    int reduce_count;
    char body[body_size];
    int used, level, statements, blocks;
    int open[2];                /* the numbers of the inner loops that stand open */
    bool local_init, all_named; /* localities: variables with the values from before; default(none) */
};

void make_loop(struct loop *loop, int features);

#endif
