/* Threads that help with copies. */
#ifndef OFL_DEVICE_POOL_H
#define OFL_DEVICE_POOL_H
#include <stddef.h>

enum { OFL_MOST_HELPERS = 16 };

/* How many helpers there can be: the setting staging_threads, or a choice from the number of processors. */
int ofl_pool_helpers(void);

/* Waking threads costs as much as copying OFL_ALONE_BYTES.  With the setting small_pieces pieces have
 * OFL_TEST_PIECE_BYTES, and everybody helps. */
enum { OFL_ALONE_BYTES = 1 << 20, OFL_TEST_PIECE_BYTES = 2 << 10 };

/* So many helpers that each has that much to copy; none where other calls' threads copy too. */
int ofl_pool_helpers_for(size_t bytes);

/* Calls function(argument, 0) in this thread, and function(argument, 1), ..., in at most `helpers` others as they
 * wake up; returns when all calls have returned.  A helper that wakes too late does not come any
 * more, so the function must be able to do everything alone.  Any thread; who comes while another caller has the
 * helpers works alone. */
void ofl_pool_run(void (*function)(void *argument, int participant), void *argument, int helpers);

/* In a forked child: there are no helpers and no lock is held. */
void ofl_pool_after_fork(void);
#endif
