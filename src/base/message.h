/* Messages for people, on standard error.
 *
 * Inside the user's process descriptor 2 may have been closed and reused for a
 * file of the program's, so ofl_message_start remembers what it was and later
 * messages are dropped when it is something else. */
#ifndef OFL_BASE_MESSAGE_H
#define OFL_BASE_MESSAGE_H

/* Remembers what descriptor 2 is now.  Call once, early; before it nothing is printed. */
void ofl_message_start(void);

/* Prints "gpu-offload: TEXT\n" in one write; keeps errno.  Lines over 1000 bytes are cut.
 * Safe in any thread; does not allocate. */
void ofl_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same without the prefix and the newline, for tables. */
void ofl_message_text(const char *text);
#endif
