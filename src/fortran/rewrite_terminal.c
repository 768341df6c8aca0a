/* Loops that end at one labelled statement (a feature that Fortran 2018 deleted and compilers keep):
 *
 *        do 10 i = 1, n                      do i = 1, n
 *        do 10 concurrent (j = 1:m)          (the parallel loop's replacement, with an end of its own)
 *     10 a(j, i) = 0                      10 a(j, i) = 0
 *                                            (the end of the replacement)
 *                                            end do
 *
 * The replacement of a parallel loop has statements behind the terminal one, so each loop of such a nest gets an end of
 * its own.  Entry points: ofl_rewrite_terminal_inside, for the ordinary loops between a parallel loop and the
 * statement, and ofl_rewrite_terminal_around, for those around it; edits at one place keep their order, so the caller
 * edits the end of the parallel loop between the two calls. */
#include "fortran/rewrite.h"

static bool is_parallel(const struct ofl_stmt *stmt)
{
    return stmt->as.loop.form == OFL_LOOP_CONCURRENT;
}

/* The loop around or inside `stmt` that ends at the same statement, or NULL. */
static const struct ofl_stmt *loop_around(const struct ofl_stmt *stmt)
{
    const struct ofl_stmt *outer = stmt->parent;
    uint32_t label = stmt->as.loop.terminal.value;
    bool shared = label != 0 && outer != NULL && outer->kind == OFL_STMT_DO && outer->as.loop.shared_terminal &&
                  outer->as.loop.terminal.value == label;
    return shared ? outer : NULL;
}

static const struct ofl_stmt *loop_inside(const struct ofl_stmt *stmt)
{
    const struct ofl_stmt *inner = stmt->as.loop.body.last;
    return stmt->as.loop.shared_terminal && inner != NULL && inner->kind == OFL_STMT_DO ? inner : NULL;
}

/* Takes the label out of an ordinary loop's first statement and gives the loop an `end do`. */
static void give_end(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt)
{
    struct ofl_span label = stmt->as.loop.terminal.span;
    struct ofl_lines head = {.arena = rewriter->arena, .at = stmt->span.begin};
    struct ofl_lines end = {.arena = rewriter->arena, .at = stmt->end.begin};
    const char *before = ofl_rewrite_flat(rewriter, (struct ofl_span){stmt->span.begin, label.begin});
    const char *behind = ofl_rewrite_flat(rewriter, (struct ofl_span){label.end, stmt->span.end});
    if (stmt->label.value != 0) {
        ofl_line_add(&head, "%u %s %s", stmt->label.value, before, behind);
    } else {
        ofl_line_add(&head, "%s %s", before, behind);
    }
    ofl_rewrite_edit(rewriter, ofl_stmt_begin(stmt), stmt->span.end, &head);
    ofl_line_add(&end, "end do");
    ofl_rewrite_edit(rewriter, stmt->end.end, stmt->end.end, &end);
}

void ofl_rewrite_terminal_inside(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt)
{
    const struct ofl_stmt *last = stmt;
    for (const struct ofl_stmt *inner = loop_inside(stmt); inner != NULL && !is_parallel(inner);
         inner = loop_inside(inner)) {
        last = inner;
    }
    for (; last != NULL && last != stmt; last = loop_around(last)) {
        give_end(rewriter, last);
    }
}

void ofl_rewrite_terminal_around(struct ofl_rewriter *rewriter, const struct ofl_stmt *stmt)
{
    for (const struct ofl_stmt *outer = loop_around(stmt); outer != NULL; outer = loop_around(outer)) {
        if (is_parallel(outer)) {
            return; /* its replacement takes care of the loops inside it */
        }
    }
    for (const struct ofl_stmt *outer = loop_around(stmt); outer != NULL; outer = loop_around(outer)) {
        give_end(rewriter, outer);
    }
}
