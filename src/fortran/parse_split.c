/* Statements with a word that is split over two lines without an `&` on the second:
 *
 *     x = si&
 *     n(1.0)
 *
 * For gfortran a blank stands between the lines.  flang joins them if the second begins in column 1, as the standard
 * has it (6.3.2.4), and takes keywords without blanks.  Both kinds of program are read: such a statement is tried with
 * the blanks, and without them if it is none then.
 *
 * Entry point: ofl_parse_split.  An attempt that fails must leave no trace, so what it may have changed of the parser,
 * the tree and the messages is put back as it was: statements appended to the open block, constructs opened, a main
 * program begun.  Units with a name begin only when their statement has been understood. */
#include "fortran/arena.h"
#include "fortran/parser.h"

#include <string.h>

/* What an attempt changes. */
struct before {
    struct ofl_frame *frames;
    unsigned frame_count;
    struct ofl_stmt *last; /* of the open block */
    struct ofl_block pending;
    struct ofl_unit **next_unit;
    struct ofl_diagnostics diagnostics;
    bool dec, glued;
};

static void remember(struct ofl_parser *p, struct before *before)
{
    size_t bytes = p->frame_count * sizeof *p->frames;
    const struct ofl_frame *top = ofl_top(p);
    *before = (struct before){.frames = ofl_arena_alloc(p->arena, bytes + 1),
                              .frame_count = p->frame_count,
                              .last = top != NULL && top->block != NULL ? top->block->last : NULL,
                              .pending = p->pending,
                              .next_unit = p->next_unit,
                              .diagnostics = *p->diagnostics,
                              .dec = p->dec,
                              .glued = p->item.glued};
    if (bytes > 0) {
        memcpy(before->frames, p->frames, bytes);
    }
}

static void end_block(struct ofl_block *block, struct ofl_stmt *last)
{
    block->last = last;
    if (last == NULL) {
        block->first = NULL;
    } else {
        last->next = NULL;
    }
}

static void put_back(struct ofl_parser *p, const struct before *before)
{
    p->frame_count = before->frame_count;
    if (p->frame_count > 0) {
        memcpy(p->frames, before->frames, p->frame_count * sizeof *p->frames);
        if (ofl_top(p)->block != NULL) {
            end_block(ofl_top(p)->block, before->last);
        }
    }
    p->pending = before->pending;
    end_block(&p->pending, p->pending.last);
    p->next_unit = before->next_unit;
    *p->next_unit = NULL;
    *p->diagnostics = before->diagnostics;
    if (p->diagnostics->last != NULL) {
        p->diagnostics->last->next = NULL;
    }
    p->dec = before->dec;
    p->item.glued = before->glued;
}

/* Takes out the blanks that stand for line ends: they have the position of the character behind them. */
static void join(struct ofl_parser *p)
{
    struct ofl_item *item = &p->item;
    char *text = ofl_arena_alloc(p->arena, item->length + 1);
    ofl_pos *where = ofl_arena_alloc(p->arena, (item->length + 1) * sizeof *where);
    uint32_t length = 0;
    for (uint32_t i = 0; i < item->length; i++) {
        if (item->text[i] != ' ' || item->where[i] != item->where[i + 1]) {
            text[length] = item->text[i];
            where[length++] = item->where[i];
        }
    }
    text[length] = '\0';
    where[length] = item->where[item->length];
    item->text = text;
    item->where = where;
    item->length = length;
}

bool ofl_parse_split(struct ofl_parser *p, bool (*attempt)(struct ofl_parser *p))
{
    struct before before;
    remember(p, &before);
    if (attempt(p)) {
        return true;
    }
    put_back(p, &before);
    const struct ofl_item with_blanks = p->item;
    join(p);
    if (attempt(p)) {
        return true;
    }
    put_back(p, &before);
    p->item = with_blanks;
    return attempt(p); /* for its message */
}
