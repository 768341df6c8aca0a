/* What the kernel proves about the program's memory: pages that were not written since they were protected. */
#ifndef OFL_DEVICE_WATCH_H
#define OFL_DEVICE_WATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses of whole pages: begin to end - 1. */
struct ofl_pages {
    uintptr_t begin, end;
};

/* The whole pages within `bytes` bytes at `address`; none: begin == end. */
struct ofl_pages ofl_pages_within(const void *address, size_t bytes);

/* Whether the kernel can prove anything (Linux 6.13 and later, not forbidden).  Opens what is needed, once. */
bool ofl_watch_start(void);

/* From now on the kernel notes writes to the pages, by whatever route.  False where the pages are not all private
 * anonymous memory of this process that nobody else can write to unseen; then nothing is noted. */
bool ofl_watch_protect(struct ofl_pages pages);

/* Protects a few of them only, to see whether they are written to: a hint, no proof.  And whether they were not. */
bool ofl_watch_try(struct ofl_pages pages);
bool ofl_watch_tried_unchanged(struct ofl_pages pages);

/* ofl_watch_protect for pages that were protected before and written since. */
bool ofl_watch_protect_again(struct ofl_pages pages);

/* Whether they are in private anonymous memory still; for pages that were written. */
bool ofl_watch_trusts(struct ofl_pages pages);

/* What of the pages, which were protected, is not proven to be as it was then.  At most `most` runs go to `runs`, in
 * ascending order; returns their number, or -1 where nothing is proven or there are more runs. */
int ofl_watch_changed(struct ofl_pages pages, struct ofl_pages *runs, int most);

/* Writes cost nothing again, and are not noted any more. */
void ofl_watch_stop(struct ofl_pages pages);

/* Whether somebody may hold pages of this process pinned (RDMA, io_uring): writes through them are not noted. */
bool ofl_watch_somebody_pins(void);

/* In a forked child: what is open belongs to the parent's memory. */
void ofl_watch_after_fork(void);
#endif
