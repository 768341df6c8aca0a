/* Runs another program and reads what it prints. */
#ifndef OFL_CLI_CAPTURE_H
#define OFL_CLI_CAPTURE_H
#include <signal.h>

/* Set by a command's handler of signals that end it: what runs is then ended, soon, and NULL returned. */
extern volatile sig_atomic_t ofl_cli_interrupted;

/* Standard output of argv (found along PATH), at most 4 MiB of it, as one string that the caller frees; NULL if it
 * could not be started, ran longer than `seconds` (it is then killed), or ended with a status other
 * than 0.  Standard input and error are /dev/null; LD_PRELOAD is not passed on. */
char *ofl_cli_capture(char *const argv[], int seconds);

/* Calls `work` in a child process, so that neither a crash nor what a library does to its process
 * reaches us, and returns what it wrote to the file descriptor that it gets; else as above. */
char *ofl_cli_capture_call(void (*work)(int output, void *context), void *context, int seconds);
#endif
