/* Running the device's work with enough stack. */
#ifndef OFL_DEVICE_STACK_H
#define OFL_DEVICE_STACK_H
#include <stdbool.h>

/* Calls function(argument) in this thread, on its own stack if that has room for a driver, else on one that is lent for
 * the call.  False: there is none to lend, and nothing was called. */
bool ofl_with_large_stack(void (*function)(void *), void *argument);

/* For ofl_device_on_thread. */
void ofl_stack_set_mark(void (*mark)(void));

/* Gives this thread, which the device made, the mark. */
void ofl_stack_mark_thread(void);
#endif
