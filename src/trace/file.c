/* Trace files: see file.h.
 *
 * Descriptors live only inside these functions and are never 0, 1 or 2: the program may close all
 * descriptors between two calls and open its own files under their numbers. */
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_apart(const char *path, int flags)
{
    int file = open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file >= 0 && file <= STDERR_FILENO) {
        int higher = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(file);
        file = higher;
    }
    return file;
}

/* 0 or an errno. */
static int write_at(int file, uint64_t offset, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = pwrite(file, data, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        data += written;
        offset += (uint64_t)written;
        bytes -= (size_t)written;
    }
    return 0;
}

/* Beyond the limit the kernel would send SIGXFSZ, which ends programs. */
static bool within_limit(uint64_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

/* 0 or an errno.  Afterwards every byte of the range has its place on the disk, so that no access to its
 * mapping can fail; where the file system cannot allocate, zeros are written instead. */
static int allocate(int file, uint64_t offset, size_t bytes)
{
    static const char zeros[OFL_TRACE_BLOCK_SIZE];
    int result;
    if (!within_limit(offset + bytes)) {
        return EFBIG;
    }
    do {
        result = fallocate(file, 0, (off_t)offset, (off_t)bytes) == 0 ? 0 : errno;
    } while (result == EINTR);
    return result == EOPNOTSUPP || result == ENOSYS ? write_at(file, offset, zeros, bytes) : result;
}

static void *allocate_and_map(int file, uint64_t offset, size_t bytes)
{
    int failure = allocate(file, offset, bytes);
    if (failure != 0) {
        errno = failure;
        return NULL;
    }
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
    return map != MAP_FAILED ? map : NULL;
}

struct ofl_trace_header *ofl_trace_file_create(const char *folder, const char *name, char *path, size_t path_size,
                                               char *explanation, size_t size)
{
    char absolute[PATH_MAX];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        snprintf(explanation, size, "the folder %s cannot be made: %s", folder, strerror(errno));
        return NULL;
    }
    if (realpath(folder, absolute) == NULL) {
        snprintf(explanation, size, "the folder %s cannot be used: %s", folder, strerror(errno));
        return NULL;
    }
    /* A process number comes again, and a process that executes another program keeps its own. */
    int file = -1;
    for (int number = 0; file < 0 && number < 1000; number++) {
        char again[16] = "";
        if (number > 0) {
            snprintf(again, sizeof again, ".%d", number + 1);
        }
        int length = snprintf(path, path_size, "%s/%s-%ld%s.trace", absolute, name, (long)getpid(), again);
        if (length < 0 || (size_t)length >= path_size) {
            snprintf(explanation, size, "the path of the folder %s is too long", folder);
            return NULL;
        }
        file = open_apart(path, O_CREAT | O_EXCL);
        if (file < 0 && errno != EEXIST) {
            break;
        }
    }
    void *header = file >= 0 ? allocate_and_map(file, 0, OFL_TRACE_HEADER_SIZE) : NULL;
    if (header == NULL) {
        snprintf(explanation, size, "%s cannot be written: %s", path, strerror(errno));
        if (file >= 0) {
            unlink(path);
        }
    }
    if (file >= 0) {
        close(file);
    }
    return header;
}

bool ofl_trace_file_identify(const char *path, struct ofl_trace_file_id *out)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return false;
    }
    *out = (struct ofl_trace_file_id){status.st_dev, status.st_ino};
    return true;
}

/* Opens the file again if it is still the same; -1 with an explanation. */
static int open_again(const char *path, const struct ofl_trace_file_id *id, char *explanation, size_t size)
{
    struct stat status;
    int file = open_apart(path, 0);
    if (file < 0 || fstat(file, &status) != 0) {
        snprintf(explanation, size, "%s cannot be opened again: %s", path, strerror(errno));
    } else if (status.st_dev != id->device || status.st_ino != id->inode) {
        snprintf(explanation, size, "%s was replaced by another file", path);
    } else {
        return file;
    }
    if (file >= 0) {
        close(file);
    }
    return -1;
}

void *ofl_trace_file_map(const char *path, const struct ofl_trace_file_id *id, uint64_t offset, char *explanation,
                         size_t size)
{
    int file = open_again(path, id, explanation, size);
    if (file < 0) {
        return NULL;
    }
    void *map = allocate_and_map(file, offset, OFL_TRACE_BLOCK_SIZE);
    if (map == NULL) {
        snprintf(explanation, size, "%s cannot grow: %s", path, strerror(errno));
    }
    close(file);
    return map;
}

bool ofl_trace_file_write(const char *path, const struct ofl_trace_file_id *id, uint64_t offset, const void *block,
                          char *explanation, size_t size)
{
    int file = open_again(path, id, explanation, size);
    if (file < 0) {
        return false;
    }
    int failure =
        within_limit(offset + OFL_TRACE_BLOCK_SIZE) ? write_at(file, offset, block, OFL_TRACE_BLOCK_SIZE) : EFBIG;
    if (failure != 0) {
        snprintf(explanation, size, "%s cannot grow: %s", path, strerror(failure));
    }
    close(file);
    return failure == 0;
}
