/* What a PROGRAM is and whether a preload reaches it.
 *
 * Entry point: ofl_program_examine.  It decides nothing and prints nothing: `run` uses it to leave alone what
 * a preload would only disturb, `doctor` to explain.  A program that cannot be read counts as
 * one that is reached; the kernel and the dynamic linker have the last word. */
#include "cli/program.h"
#include "cli/elf_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const struct {
    const char *text, *advice;
} reaches[] = {
#define OFL_REACH(id, text, advice) [OFL_REACH_##id] = {text, advice},
#include "cli/reach.def"
#undef OFL_REACH
};

const char *ofl_reach_text(enum ofl_reach reach)
{
    return reaches[reach].text;
}

const char *ofl_reach_advice(enum ofl_reach reach)
{
    return reaches[reach].advice;
}

/* 0 if the file can be executed, else why not. */
static int executable_error(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? ENOENT : EACCES;
    }
    return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

int ofl_program_find(const char *name, char *path)
{
    if (strchr(name, '/') != NULL) {
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? executable_error(path) : ENOENT;
    }
    const char *folders = getenv("PATH");
    if (folders == NULL) {
        folders = "/bin:/usr/bin"; /* as execvp */
    }
    int worst = ENOENT;
    for (const char *folder = folders; *name != '\0'; folder++) {
        int length = (int)strcspn(folder, ":");
        int needed = snprintf(path, PATH_MAX, "%.*s%s%s", length, folder, length > 0 ? "/" : "", name);
        int error = needed < PATH_MAX ? executable_error(path) : ENOENT;
        if (error == 0) {
            return 0;
        }
        worst = error == EACCES ? EACCES : worst;
        folder += length;
        if (*folder == '\0') {
            break;
        }
    }
    return worst;
}

/* "#!" blanks INTERPRETER [blanks ARGUMENT].  Returns false where the file is no script of this form. */
static bool read_interpreter_line(const char *path, char *interpreter, char *argument, size_t argument_size)
{
    char line[PATH_MAX + 256];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t length = descriptor < 0 ? -1 : read(descriptor, line, sizeof line - 1);
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (length < 3 || line[0] != '#' || line[1] != '!') {
        return false;
    }
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    const char *start = line + 2 + strspn(line + 2, " \t");
    size_t size = strcspn(start, " \t");
    if (size == 0 || size >= PATH_MAX) {
        return false;
    }
    memcpy(interpreter, start, size);
    interpreter[size] = '\0';
    const char *rest = start + size + strspn(start + size, " \t");
    snprintf(argument, argument_size, "%s", rest);
    for (size_t end = strlen(argument); end > 0 && isspace((unsigned char)argument[end - 1]);) {
        argument[--end] = '\0';
    }
    return true;
}

/* "env [OPTION...] [NAME=VALUE...] PROGRAM": the program that a script's line means by way of env. */
static void follow_env(struct ofl_program *program)
{
    const char *slash = strrchr(program->executable, '/');
    if (strcmp(slash != NULL ? slash + 1 : program->executable, "env") != 0) {
        return;
    }
    char words[sizeof program->argument], *rest = words, *word, path[PATH_MAX];
    memcpy(words, program->argument, sizeof words);
    while ((word = strsep(&rest, " \t")) != NULL) {
        if (*word != '\0' && *word != '-' && strchr(word, '=') == NULL) {
            if (ofl_program_find(word, path) == 0) {
                memcpy(program->executable, path, sizeof path);
                program->argument[0] = '\0';
            }
            return;
        }
    }
}

static bool privileged(const char *path)
{
    struct stat status;
    char capability[64];
    if (stat(path, &status) != 0) {
        return false;
    }
    return ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", capability, sizeof capability) > 0);
}

static enum ofl_reach reach_of(const char *executable)
{
    if (privileged(executable)) {
        return OFL_REACH_SETUID;
    }
    struct ofl_elf elf;
    enum ofl_reach reach = OFL_REACH_OK;
    if (!ofl_elf_open(&elf, executable)) {
        return OFL_REACH_OK;
    }
    if (elf.kind == OFL_ELF_FOREIGN) {
        reach = OFL_REACH_FOREIGN;
    } else if (elf.kind == OFL_ELF_NATIVE && elf.interpreter == NULL) {
        reach = OFL_REACH_STATIC;
    } else if (elf.kind == OFL_ELF_NATIVE) {
        const char *slash = strrchr(elf.interpreter, '/');
        const char *linker = slash != NULL ? slash + 1 : elf.interpreter;
        /* ld-linux-x86-64.so.2, ld-linux-aarch64.so.1; ld64.so.2 on POWER. */
        reach = strncmp(linker, "ld-linux", 8) == 0 || strncmp(linker, "ld64.so", 7) == 0 ? OFL_REACH_OK
                                                                                          : OFL_REACH_OTHER_LIBC;
    }
    ofl_elf_close(&elf);
    return reach;
}

int ofl_program_examine(const char *name, struct ofl_program *out)
{
    *out = (struct ofl_program){.reach = OFL_REACH_OK};
    int error = ofl_program_find(name, out->file);
    if (error != 0) {
        return error;
    }
    memcpy(out->executable, out->file, sizeof out->executable);
    /* Linux follows four interpreters of interpreters; a script without the line runs under /bin/sh. */
    char interpreter[PATH_MAX];
    for (int level = 0; level < 5; level++) {
        if (!read_interpreter_line(out->executable, interpreter, out->argument, sizeof out->argument)) {
            break;
        }
        out->script = true;
        memcpy(out->executable, interpreter, sizeof out->executable);
        follow_env(out);
    }
    out->reach = reach_of(out->executable);
    return 0;
}
