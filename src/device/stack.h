/* Running the device's work with enough stack. */
#ifndef OFL_DEVICE_STACK_H
#define OFL_DEVICE_STACK_H

/* Calls function(argument) and returns when it has returned: in this thread if its stack has room
 * for a driver, else in a thread made for it, with the mark of ofl_device_on_thread. */
void ofl_with_large_stack(void (*function)(void *), void *argument);

/* For ofl_device_on_thread. */
void ofl_stack_set_mark(void (*mark)(void));

/* Gives this thread, which the device made, the mark. */
void ofl_stack_mark_thread(void);
#endif
