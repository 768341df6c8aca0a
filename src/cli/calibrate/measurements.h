/* Everything that a calibration measures, and keeping it in a folder.
 *
 *   FOLDER/measurements      a text, below
 *   FOLDER/cpu, device       the traces of both passes
 *
 * The text, a fact a line:
 *
 *   gpu-offload measurements 1       the version of the format
 *   kind cuda                        what --device was
 *   cpu, cores, device, driver, library, date, effort: as in a profile, model/profile.h
 *   copy in 4096 1.2e-05             a copy between the device and page-locked memory: bytes, seconds
 *   trace cpu 132096 8f0a.. NAME     a file of a pass: its size and its XXH3 hash
 *   point cpu dgemm 48 48 48 BEGIN END 1
 *                                    what the workload says of a point (calibrate/client.c)
 *   end
 *
 * A folder that anything is missing from, or that was changed, is refused: a profile made from half of the
 * measurements would look like a whole one. */
#ifndef OFL_CLI_CALIBRATE_MEASUREMENTS_H
#define OFL_CLI_CALIBRATE_MEASUREMENTS_H
#include "cli/calibrate/calibrate.h"

enum { OFL_MEASUREMENTS_VERSION = 1 };

struct ofl_measurements {
    char kind[8]; /* cuda or host */
    struct ofl_profile_key key;
    char date[OFL_PROFILE_KEY_SIZE];
    bool quick;
    struct ofl_calibration_copies copies;
    struct ofl_calibration_pass pass[OFL_PLACE_COUNT];
};

/* Makes FOLDER, if it is not there, and in it the folders of the passes, which must not be there.  False with an
 * explanation. */
bool ofl_measurements_prepare(struct ofl_measurements *measurements, const char *folder, char *explanation,
                              size_t size);

/* Writes the text beside the traces, which are complete. */
bool ofl_measurements_save(const struct ofl_measurements *measurements, const char *folder, char *explanation,
                           size_t size);

/* Reads a folder.  On success the caller frees the points of the passes. */
bool ofl_measurements_load(const char *folder, struct ofl_measurements *out, char *explanation, size_t size);

/* Removes the folders of the passes with all that is in them; FOLDER too, if nothing else is there. */
void ofl_measurements_remove(struct ofl_measurements *measurements, const char *folder);
#endif
