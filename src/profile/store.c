/* Files of profiles; see store.h. */
#include "profile/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A profile of all routines with all points is below a megabyte. */
enum { LARGEST_PROFILE = 4 << 20 };

/* FNV-1a; the value is part of file names, so it must not change. */
static uint32_t hash(uint32_t seed, const void *data, size_t length)
{
    for (const unsigned char *at = data; length > 0; at++, length--) {
        seed = (seed ^ *at) * 16777619u;
    }
    return seed;
}

/* FOLDER/gpu-offload/NAME-HASH-KIND; folder: the variable's, else ~/fallback. */
static bool machine_path(const struct ofl_profile_key *here, const char *variable, const char *fallback,
                         const char *name, const char *kind, char *path, size_t size)
{
    uint32_t machine = hash(2166136261u, here->cpu, strlen(here->cpu));
    machine = hash(machine, &here->cores, sizeof here->cores);
    machine = hash(machine, here->device, strlen(here->device));
    const char *folder = getenv(variable), *home = getenv("HOME");
    int length;
    if (folder != NULL && folder[0] == '/') {
        length = snprintf(path, size, "%s/gpu-offload/%s-%08x-%s", folder, name, machine, kind);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(path, size, "%s/%s/gpu-offload/%s-%08x-%s", home, fallback, name, machine, kind);
    } else {
        return false;
    }
    return length > 0 && (size_t)length < size;
}

bool ofl_profile_path(const struct ofl_profile_key *here, const char *kind, char *path, size_t size)
{
    return machine_path(here, "XDG_CONFIG_HOME", ".config", "profile", kind, path, size);
}

/* Reads a whole regular file into new memory.  Returns OFL_PROFILE_USED, or what is wrong. */
static enum ofl_profile_found read_file(const char *path, char **text, size_t *length, char *explanation, size_t size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return OFL_PROFILE_NONE;
    }
    *text = NULL;
    *length = 0;
    if (file < 0 || fstat(file, &status) != 0) {
        snprintf(explanation, size, "it cannot be read: %s", strerror(errno));
    } else if (!S_ISREG(status.st_mode) || status.st_size > LARGEST_PROFILE) {
        snprintf(explanation, size, "it is not a file of a profile's size");
    } else if ((*text = malloc((size_t)status.st_size + 1)) == NULL) {
        snprintf(explanation, size, "no memory to read it");
    } else {
        ssize_t more = 1;
        while (more > 0 && *length < (size_t)status.st_size) {
            more = read(file, *text + *length, (size_t)status.st_size - *length);
            *length += more > 0 ? (size_t)more : 0;
        }
        if (more < 0) {
            snprintf(explanation, size, "it cannot be read: %s", strerror(errno));
            free(*text);
            *text = NULL;
        }
    }
    if (file >= 0) {
        close(file);
    }
    return *text != NULL ? OFL_PROFILE_USED : OFL_PROFILE_REFUSED;
}

enum ofl_profile_found ofl_profile_load(const char *path, const struct ofl_profile_key *here, struct ofl_profile *out,
                                        char *explanation, size_t size)
{
    char *text, why[256] = "";
    size_t length;
    enum ofl_profile_found found = read_file(path, &text, &length, why, sizeof why);
    if (found == OFL_PROFILE_USED) {
        bool fits =
            ofl_profile_parse(text, length, out, why, sizeof why) && ofl_profile_matches(out, here, why, sizeof why);
        found = fits ? OFL_PROFILE_USED : OFL_PROFILE_REFUSED;
        free(text);
    }
    if (found == OFL_PROFILE_REFUSED) {
        snprintf(explanation, size, "the profile %s is not used: %s", path, why);
    }
    return found;
}

/* Makes all folders above `path`. */
static void make_folders(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0777);
        *slash = '/';
    }
}

static bool write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text += written;
        length -= (size_t)written;
    }
    return fsync(file) == 0;
}

/* The name of the file beside `path` that becomes it. */
static bool temporary_name(const char *path, char *out, size_t size)
{
    int length = snprintf(out, size, "%s.%ld", path, (long)getpid());
    return length > 0 && (size_t)length < size;
}

static int open_temporary(const char *name)
{
    return open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

bool ofl_profile_can_save(const char *path, char *explanation, size_t size)
{
    char temporary[PATH_MAX];
    struct stat status;
    errno = ENAMETOOLONG;
    bool can = temporary_name(path, temporary, sizeof temporary);
    if (can) {
        make_folders(path);
        bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
        int file = folder ? -1 : open_temporary(temporary);
        can = file >= 0;
        errno = folder ? EISDIR : errno;
        if (can) {
            close(file);
            unlink(temporary);
        }
    }
    if (!can) {
        snprintf(explanation, size, "cannot write %s: %s", path, strerror(errno));
    }
    return can;
}

bool ofl_profile_save(const char *path, const struct ofl_profile *profile, char *explanation, size_t size)
{
    char temporary[PATH_MAX];
    size_t length = ofl_profile_print(profile, NULL, 0);
    char *text = malloc(length + 1);
    bool saved = false;
    if (text == NULL || !temporary_name(path, temporary, sizeof temporary)) {
        snprintf(explanation, size, "cannot write %s: %s", path, text == NULL ? "no memory" : "the path is too long");
        free(text);
        return false;
    }
    ofl_profile_print(profile, text, length + 1);
    make_folders(path);
    int file = open_temporary(temporary);
    if (file >= 0) {
        saved = write_all(file, text, length);
        saved = close(file) == 0 && saved && rename(temporary, path) == 0;
    }
    if (!saved) {
        snprintf(explanation, size, "cannot write %s: %s", path, strerror(errno));
        if (file >= 0) {
            unlink(temporary);
        }
    }
    free(text);
    return saved;
}

bool ofl_profile_recommend_once(const struct ofl_profile_key *here, const char *kind)
{
    char path[PATH_MAX];
    if (!machine_path(here, "XDG_CACHE_HOME", ".cache", "recommended", kind, path, sizeof path)) {
        return false;
    }
    if (access(path, F_OK) == 0) {
        return false;
    }
    make_folders(path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        return false;
    }
    close(file);
    return true;
}
