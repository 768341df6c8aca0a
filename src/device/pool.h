/* Threads that help with copies. */
#ifndef OFL_DEVICE_POOL_H
#define OFL_DEVICE_POOL_H
#include <stdbool.h>
#include <stddef.h>

enum { OFL_MOST_HELPERS = 16 };

/* How many helpers there can be: the setting staging_threads, or a choice from the number of processors. */
int ofl_pool_helpers(void);

/* Less than OFL_ALONE_BYTES is copied as fast alone; threads take OFL_BIT_BYTES at a time.  With the setting
 * small_pieces pieces have OFL_TEST_PIECE_BYTES, and everybody helps. */
enum { OFL_ALONE_BYTES = 1 << 20, OFL_BIT_BYTES = 128 << 10, OFL_TEST_PIECE_BYTES = 2 << 10 };

/* So many helpers that each has that much to copy. */
int ofl_pool_helpers_for(size_t bytes);

/* Calls lead(argument) in this thread and meanwhile help(argument) in at most `helpers` others, as they wake up, again
 * and again: it returns whether there was anything to do.  Returns when all have returned.  A helper that
 * wakes too late does not come any more, so `lead` must be able to do everything alone.  Any thread; helpers work for
 * several callers at the same time. */
void ofl_pool_run(void (*lead)(void *argument), bool (*help)(void *argument), void *argument, int helpers);

/* The same where everybody does the same, help(argument), until nothing is left. */
void ofl_pool_share(bool (*help)(void *argument), void *argument, int helpers);

/* In a forked child: there are no helpers and no lock is held. */
void ofl_pool_after_fork(void);
#endif
