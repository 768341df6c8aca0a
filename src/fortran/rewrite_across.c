/* Edits that go from one source into another.
 *
 * `include` may bring the head of a loop without its end, or its end without its head:
 *
 *     include 'head.inc'            the file that begins it: the lines, and nothing of its rest
 *       a(i) = i                    the file that includes: nothing between the two include lines
 *     include 'tail.inc'            the file that ends it: nothing of its beginning
 *
 * An edit belongs to one source, so the construct is cut where sources change; the first piece has the lines.  Include
 * lines at the cuts stay, since the files behind them have edits; those within a piece go with it. */
#include "fortran/rewrite.h"
#include "fortran/source.h"

/* The file on the way from `outer` to `inner`, included by `outer`; NULL if there is no such way. */
static const struct ofl_source *way_in(const struct ofl_source *outer, const struct ofl_source *inner)
{
    while (inner != NULL && inner->parent != outer) {
        inner = inner->parent;
    }
    return inner;
}

void ofl_rewrite_across(struct ofl_rewriter *rewriter, ofl_pos begin, ofl_pos end, const struct ofl_lines *lines)
{
    const struct ofl_source *source = ofl_source_at(rewriter->sources, begin);
    const struct ofl_source *last = ofl_source_at(rewriter->sources, end), *inner;
    const struct ofl_lines none = {.arena = rewriter->arena};
    while (source != last && way_in(source, last) == NULL) { /* out of included files */
        ofl_rewrite_edit(rewriter, begin, source->base + source->length, lines);
        lines = &none;
        begin = source->include_line.end;
        source = source->parent;
    }
    for (; source != last; source = inner) { /* into others */
        inner = way_in(source, last);
        ofl_rewrite_until(rewriter, begin, inner->include_line.begin, lines);
        lines = &none;
        begin = inner->base;
    }
    ofl_rewrite_edit(rewriter, begin, end, lines);
}
