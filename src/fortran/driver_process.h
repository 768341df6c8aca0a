/* Running other programs, and the private folder for files that only live as long as the command.
 *
 * The folder is made by ofl_scratch_open with mode 0700 below $TMPDIR (or /tmp) and removed, with all that is in it, by
 * ofl_scratch_close, by exit() and when SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGPIPE ends the command (running
 * children get the signal too, and the command then dies of it, as callers such as make expect). */
#ifndef OFL_FORTRAN_DRIVER_PROCESS_H
#define OFL_FORTRAN_DRIVER_PROCESS_H

#include "fortran/driver_command.h"

/* The folder's path; made at the first call.  NULL after an error, which has been printed. */
const char *ofl_scratch_open(void);
void ofl_scratch_close(void);

/* Writes a file; false after an error, which has been printed. */
bool ofl_file_write(const char *path, const char *text, size_t length);

/* Reads a whole file into the arena; NULL if that fails (errno says why). */
char *ofl_file_read(struct ofl_arena *arena, const char *path, size_t *length);

/* Reads standard input to its end and keeps it: each program that is started from now on finds it again from its
 * beginning.  NULL after an error, which has been printed.  At a later call the same text. */
const char *ofl_stdin_keep(struct ofl_arena *arena, size_t *length);

/* Replaces this process; returns 1 after an error, which has been printed. */
int ofl_exec(const struct ofl_words *words);

/* Runs a program and waits; its exit status, or 1 after an error, which has been printed. */
int ofl_run(const struct ofl_words *words);

/* The same in two steps, for one program at a time: false after an error, which has been printed; and its exit status.
 * Others may run in between. */
bool ofl_start(const struct ofl_words *words);
int ofl_finish(const struct ofl_words *words);

/* As ofl_run; what it writes to standard output and error goes to a file. */
int ofl_run_logged(const struct ofl_words *words, const char *log);

/* Programs that run side by side, at most OFL_MOST_JOBS: as by ofl_run_logged. */
enum { OFL_MOST_JOBS = 8 };
struct ofl_job {
    struct ofl_words words;
    const char *log;
    bool started; /* false after an error, which has been printed */
    int status;   /* afterwards; 1 if it was not started */
};
void ofl_run_together(struct ofl_job *jobs, size_t count);
#endif
