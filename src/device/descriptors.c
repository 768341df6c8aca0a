/* Keeping the program's closed descriptors 0 to 2 from being taken. */
#include "device/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void ofl_descriptors_fill(struct ofl_descriptors *descriptors)
{
    int saved = errno;
    *descriptors = (struct ofl_descriptors){{false}};
    for (int number = 0; number < 3; number++) {
        if (fcntl(number, F_GETFD) != -1 || errno != EBADF) {
            continue;
        }
        int opened;
        do {
            opened = open("/dev/null", O_RDWR | O_CLOEXEC);
        } while (opened < 0 && errno == EINTR);
        if (opened == number) {
            descriptors->filled[number] = true;
        } else if (opened >= 0) {
            close(opened); /* another thread took the number meanwhile */
        }
    }
    errno = saved;
}

void ofl_descriptors_restore(const struct ofl_descriptors *descriptors)
{
    int saved = errno;
    struct stat null, now;
    for (int number = 0; number < 3; number++) {
        if (descriptors->filled[number] && stat("/dev/null", &null) == 0 && fstat(number, &now) == 0 &&
            null.st_dev == now.st_dev && null.st_ino == now.st_ino && (fcntl(number, F_GETFD) & FD_CLOEXEC) != 0) {
            close(number);
        }
    }
    errno = saved;
}
