/* Keeping the program's closed descriptors 0 to 2 from being taken. */
#ifndef OFL_DEVICE_DESCRIPTORS_H
#define OFL_DEVICE_DESCRIPTORS_H
#include <stdbool.h>

struct ofl_descriptors {
    bool filled[3];
};

/* A program started without standard streams may open files that get the numbers 0, 1 and 2.  Fills the
 * closed ones with /dev/null, so that what a driver opens meanwhile gets other numbers... */
void ofl_descriptors_fill(struct ofl_descriptors *descriptors);
/* ... and closes those again that are still ours.  Both keep errno. */
void ofl_descriptors_restore(const struct ofl_descriptors *descriptors);
#endif
